//! Declarations of types.

use rspirv::spirv::{Capability, Decoration as Decorate, Dim, ImageFormat, StorageClass};
use smallvec::SmallVec;

use super::{Checked, Declare};
use crate::outcome::Limit;
use crate::spirv::error::Check;
use crate::spirv::error::LoadError;
use crate::spirv::grammar::{Op, OperandKind};
use crate::spirv::module::WHOLE;
use crate::spirv::types::{self, Image, MatrixLayout, Type};
use crate::spirv::words::Instruction;

impl Declare<'_> {
    pub(super) fn type_(&mut self, i: &Instruction) -> Checked {
        // A structure may have thousands of members; everything else has few operands.
        let operands: SmallVec<[u32; 8]> = SmallVec::from_slice(i.operands(&self.module.words));
        if !matches!(i.op, Op::TypeArray | Op::TypeRuntimeArray | Op::TypeStruct | Op::TypePointer)
            && !self.declared_once.insert((i.op, SmallVec::from_slice(&operands)))
        {
            let what = format!("{} of %{} is declared again; types without parts of their own are declared once", i.name(), i.result);
            return self.fail(Check::TypeDeclaration, what);
        }
        let type_ = self.type_of(i, &operands)?;
        let block = [Decorate::Block, Decorate::BufferBlock].into_iter().any(|d| self.module.decoration(i.result, WHOLE, d).is_some());
        if self.module.types.declare(i.result, type_, block).is_none() {
            return self.limit("levels of nested types", u64::from(types::MAX_NESTING));
        }
        self.module.shapes[self.index] = types::shape(&self.module.types, i.result);
        Ok(())
    }

    fn type_of(&mut self, i: &Instruction, operands: &[u32]) -> Result<Type, LoadError> {
        let operand = |n: usize| operands.get(n).copied().unwrap_or(0);
        let known = |d: &Self, id: u32| d.part(id);
        Ok(match i.op {
            Op::TypeVoid => Type::Void,
            Op::TypeBool => Type::Bool,
            Op::TypeSampler => Type::Sampler,
            Op::TypeInt => {
                if ![8, 16, 32, 64].contains(&operand(0)) {
                    return self.unsupported(format!("OpTypeInt {}", operand(0)));
                }
                if operand(1) > 1 {
                    return self.fail(Check::TypeDeclaration, format!("the signedness of OpTypeInt is {}; it is 0 or 1", operand(1)));
                }
                self.width(i, operand(0), &INTEGERS)?;
                Type::Int { width: operand(0) as u8, signed: operand(1) == 1 }
            }
            Op::TypeFloat => {
                if ![16, 32, 64].contains(&operand(0)) || operands.len() > 1 {
                    return self.unsupported(format!("OpTypeFloat {}", operand(0)));
                }
                self.width(i, operand(0), &FLOATS)?;
                Type::Float { width: operand(0) as u8 }
            }
            Op::TypeVector => {
                let component = known(self, operand(0))?;
                if !component.is_scalar() || !(2..=4).contains(&operand(1)) {
                    let found = self.module.types.text(operand(0));
                    let what = format!("OpTypeVector of {} components of {found}; it has 2 to 4 numbers or Booleans", operand(1));
                    return self.fail(Check::TypeDeclaration, what);
                }
                Type::Vector { component: operand(0), count: operand(1) as u8 }
            }
            Op::TypeMatrix => {
                let column = known(self, operand(0))?;
                let float = matches!(self.module.types.component(operand(0)), Some(Type::Float { .. }));
                if !float || !matches!(column, Type::Vector { .. }) || !(2..=4).contains(&operand(1)) {
                    let found = self.module.types.text(operand(0));
                    let what = format!("OpTypeMatrix of {} columns of {found}; it has 2 to 4 vectors of floats", operand(1));
                    return self.fail(Check::TypeDeclaration, what);
                }
                Type::Matrix { column: operand(0), count: operand(1) as u8 }
            }
            Op::TypeArray => {
                self.element(operand(0))?;
                self.earlier_definition(operand(1))?;
                let length = self.module.integer(operand(1)).filter(|&length| length > 0);
                let Some(length) = length else {
                    let what = format!("the length of OpTypeArray, %{}, is no positive integer constant", operand(1));
                    return self.fail(Check::TypeDeclaration, what);
                };
                Type::Array { element: operand(0), length: length as u64, stride: self.stride(i.result) }
            }
            Op::TypeRuntimeArray => {
                self.element(operand(0))?;
                let is_of_descriptors = self.module.is_resource(self.module.types.leaf(operand(0)));
                if is_of_descriptors && !self.module.unmodeled && !self.module.has_capability(Capability::RuntimeDescriptorArray) {
                    let what = format!(
                        "%{} is an array of descriptors without a length, which needs the capability RuntimeDescriptorArray",
                        i.result
                    );
                    return self.fail(Check::Capability, what);
                }
                Type::RuntimeArray { element: operand(0), stride: self.stride(i.result) }
            }
            Op::TypeStruct => {
                for (member, &id) in operands.iter().enumerate() {
                    let type_ = known(self, id)?;
                    let runtime = matches!(type_, Type::RuntimeArray { .. });
                    if matches!(type_, Type::Void | Type::Function { .. }) || runtime && member + 1 != operands.len() {
                        let what = format!("member {member} of %{} is {}; it must have a size", i.result, type_.name());
                        return self.fail(Check::TypeDeclaration, what);
                    }
                    if self.module.types.scalars(id) == 0 && !runtime && !self.module.types.has_size(id) {
                        return self.unsupported(format!("a structure without fixed members within another type (%{id})"));
                    }
                    let decoration = |d| self.module.decoration(i.result, member as u32, d);
                    let matrix = MatrixLayout {
                        stride: decoration(Decorate::MatrixStride).unwrap_or(0),
                        row_major: decoration(Decorate::RowMajor).is_some(),
                    };
                    let offset = decoration(Decorate::Offset);
                    self.module.types.push_member(id, offset, matrix);
                }
                self.module.types.last_members(operands.len())
            }
            Op::TypePointer => {
                let accepted = |c: &StorageClass| is_modeled(*c) || self.module.unmodeled && *c == StorageClass::Image;
                let Some(class) = StorageClass::from_u32(operand(0)).filter(accepted) else {
                    return self.unsupported(format!("OpTypePointer {}", self.text(OperandKind::StorageClass, operand(0))));
                };
                known(self, operand(1))?;
                Type::Pointer { class, pointee: operand(1) }
            }
            Op::TypeFunction => {
                known(self, operand(0))?;
                for &parameter in &operands[1..] {
                    if let Type::Void | Type::Function { .. } = known(self, parameter)? {
                        let what = format!("a parameter of %{} is {}", i.result, self.module.types.text(parameter));
                        return self.fail(Check::TypeDeclaration, what);
                    }
                }
                self.module.types.function(operand(0), &operands[1..])
            }
            Op::TypeImage => self.image(i, operands)?,
            _ => {
                if !matches!(known(self, operand(0))?, Type::Image(_)) {
                    let what =
                        format!("%{} = OpTypeSampledImage is of {}; it is of an image", i.result, self.module.types.text(operand(0)));
                    return self.fail(Check::TypeDeclaration, what);
                }
                Type::SampledImage { image: operand(0) }
            }
        })
    }

    /// Checks that one of the capabilities for numbers of this width is declared (SPIR-V §3.31).
    fn width(&self, i: &Instruction, width: u32, rows: &[(u32, &[Capability])]) -> Checked {
        let Some((_, needed)) = rows.iter().find(|row| row.0 == width) else { return Ok(()) };
        if needed.iter().any(|&c| self.module.has_capability(c)) {
            return Ok(());
        }
        let names: Vec<String> = needed.iter().map(|c| format!("{c:?}")).collect();
        self.fail(Check::Capability, format!("{} {width} needs a capability that is not declared: {}", i.name(), names.join(" or ")))
    }

    fn image(&self, i: &Instruction, operands: &[u32]) -> Result<Type, LoadError> {
        let sampled = self.part(operands[0])?;
        if !matches!(sampled, Type::Float { width: 32 } | Type::Int { width: 32, .. }) {
            let found = self.module.types.text(operands[0]);
            return self
                .fail(Check::TypeDeclaration, format!("the texels of %{} = OpTypeImage are {found}; they are 32-bit numbers", i.result));
        }
        let &[_, dim, depth, arrayed, multisampled, usage, _, ..] = operands else {
            return self.fail(Check::TypeDeclaration, "OpTypeImage has too few operands");
        };
        if depth > 2 || arrayed > 1 || multisampled > 1 || usage > 2 {
            return self.fail(Check::TypeDeclaration, format!("%{} = OpTypeImage has an operand beyond its range", i.result));
        }
        let format = ImageFormat::from_u32(operands[6]).unwrap_or(ImageFormat::Unknown);
        if let Some(dim) = Dim::from_u32(dim).filter(|_| self.module.unmodeled) {
            let (arrayed, multisampled) = (arrayed == 1, multisampled == 1);
            return Ok(Type::Image(Image {
                sampled: operands[0],
                dim,
                depth: depth as u8,
                arrayed,
                multisampled,
                usage: usage as u8,
                format,
            }));
        }
        let modeled = [Dim::Dim1D, Dim::Dim2D, Dim::Dim3D, Dim::DimCube, Dim::DimBuffer].into_iter().find(|&of| of as u32 == dim);
        let has_layers = arrayed == 1 && matches!(modeled, Some(Dim::Dim1D | Dim::Dim2D | Dim::DimCube));
        let Some(known) = modeled.filter(|_| has_layers == (arrayed == 1) && multisampled == 0) else {
            let dim = self.text(OperandKind::Dim, dim);
            let kind =
                format!("{dim}{}{}", if arrayed == 1 { " arrayed" } else { "" }, if multisampled == 1 { " multisampled" } else { "" });
            return self.unsupported(format!("OpTypeImage {kind}"));
        };
        let needed = match (known, usage) {
            (Dim::Dim1D, 2) => Some((Capability::Image1D, "1D")),
            (Dim::Dim1D, _) => Some((Capability::Sampled1D, "1D")),
            (Dim::DimCube, 2) if has_layers => Some((Capability::ImageCubeArray, "Cube arrayed")),
            (Dim::DimCube, _) if has_layers => Some((Capability::SampledCubeArray, "Cube arrayed")),
            (Dim::DimBuffer, 2) => Some((Capability::ImageBuffer, "Buffer")),
            (Dim::DimBuffer, _) => Some((Capability::SampledBuffer, "Buffer")),
            _ => None,
        };
        if let Some((needed, dim)) = needed.filter(|(needed, _)| !self.module.has_capability(*needed)) {
            return self.fail(Check::Capability, format!("%{} = OpTypeImage {dim} needs the capability {needed:?}", i.result));
        }
        if usage == 0 || operands.len() > 7 {
            let what = format!("%{} = OpTypeImage does not say whether it is sampled (1) or a storage image (2)", i.result);
            return self.fail(Check::TypeDeclaration, what);
        }
        Ok(Type::Image(Image {
            sampled: operands[0],
            dim: known,
            depth: depth as u8,
            arrayed: has_layers,
            multisampled: false,
            usage: usage as u8,
            format,
        }))
    }

    /// A part of the type that is declared here. It must have been declared before.
    fn part(&self, id: u32) -> Result<Type, LoadError> {
        self.earlier_type(id)?;
        Ok(self.module.types.get(id).expect("a type that is declared before is in the table"))
    }

    fn element(&self, id: u32) -> Checked {
        let element = self.part(id)?;
        if matches!(element, Type::Void | Type::Function { .. } | Type::RuntimeArray { .. }) {
            return self.fail(Check::TypeDeclaration, format!("an array's elements are {}; they must have a size", element.name()));
        }
        // Buffers without a fixed size may form an array of descriptors.
        let is_buffer = self.module.is_resource(self.module.types.leaf(id));
        if self.module.types.scalars(id) == 0 && !self.module.types.has_size(id) && !is_buffer && !self.module.unmodeled {
            return self.unsupported(format!("a structure without fixed members within another type (%{id})"));
        }
        Ok(())
    }

    fn stride(&self, array: u32) -> u32 {
        self.module.decoration(array, WHOLE, Decorate::ArrayStride).unwrap_or(0)
    }

    #[cold]
    pub(super) fn limit<T>(&self, what: &'static str, bound: u64) -> Result<T, LoadError> {
        Err(LoadError::Limit(Limit { what, bound }))
    }
}

/// The capabilities for integers of a width. One of them must be declared.
const INTEGERS: [(u32, &[Capability]); 3] = [
    (
        8,
        &[
            Capability::Int8,
            Capability::StorageBuffer8BitAccess,
            Capability::UniformAndStorageBuffer8BitAccess,
            Capability::StoragePushConstant8,
            Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
        ],
    ),
    (
        16,
        &[
            Capability::Int16,
            Capability::StorageBuffer16BitAccess,
            Capability::UniformAndStorageBuffer16BitAccess,
            Capability::StoragePushConstant16,
            Capability::StorageInputOutput16,
            Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
        ],
    ),
    (64, &[Capability::Int64]),
];

/// The capabilities for floats of a width. One of them must be declared.
const FLOATS: [(u32, &[Capability]); 2] = [
    (
        16,
        &[
            Capability::Float16,
            Capability::StorageBuffer16BitAccess,
            Capability::UniformAndStorageBuffer16BitAccess,
            Capability::StoragePushConstant16,
            Capability::StorageInputOutput16,
            Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
        ],
    ),
    (64, &[Capability::Float64]),
];

/// Whether variables of this storage class are modeled.
fn is_modeled(class: StorageClass) -> bool {
    use StorageClass::*;
    matches!(class, UniformConstant | Input | Uniform | Output | Workgroup | Private | Function | PushConstant | StorageBuffer)
}
