//! Types, constants and module-scope variables.

use rspirv::spirv::{BuiltIn, Decoration as Decorate, StorageClass};
use smallvec::SmallVec;

use super::super::error::{Check, LoadError};
use super::super::grammar::{Op, OperandKind};
use super::super::module::{Interface, WHOLE};
use super::super::operation::{Scalar, Shape};
use super::super::words::Instruction;
use super::{Checked, Declare};

/// The largest number of bytes that the layout of a buffer may span.
const MAX_BUFFER_BYTES: u64 = 1 << 40;

impl Declare<'_> {
    pub(super) fn type_(&mut self, i: &Instruction) -> Checked {
        // A structure may have thousands of members; everything else has few operands.
        let operands: SmallVec<[u32; 8]> = SmallVec::from_slice(i.operands(&self.module.words));
        let operand = |n: usize| operands.get(n).copied().unwrap_or(0);
        let (mut shape, mut size) = (Shape::OTHER, 0);
        match i.op {
            Op::TypeBool => shape = Shape::vector(Scalar::Bool, 1),
            Op::TypeInt => {
                if operand(0) != 32 {
                    return self.unsupported(format!("OpTypeInt {}", operand(0)));
                }
                if operand(1) > 1 {
                    return self.fail(Check::TypeDeclaration, format!("the signedness of OpTypeInt is {}; it is 0 or 1", operand(1)));
                }
                (shape, size) = (Shape::vector(Scalar::int(32, operand(1) == 1), 1), 4);
            }
            Op::TypeFloat => {
                if operand(0) != 32 || operands.len() > 1 {
                    return self.unsupported(format!("OpTypeFloat {}", operand(0)));
                }
                (shape, size) = (Shape::vector(Scalar::F32, 1), 4);
            }
            Op::TypeVector => {
                let component = self.inner_type(operand(0))?;
                let scalar = self.module.shapes[component];
                if scalar.lanes() != 1 || !(2..=4).contains(&operand(1)) {
                    let what = format!("OpTypeVector of {} components of {scalar}; it has 2 to 4 numbers or Booleans", operand(1));
                    return self.fail(Check::TypeDeclaration, what);
                }
                shape = Shape { rows: operand(1) as u8, ..scalar };
                size = 4 * u64::from(operand(1));
            }
            Op::TypeMatrix => {
                let column = self.inner_type(operand(0))?;
                let column = self.module.shapes[column];
                if column.scalar != Scalar::F32 || column.rows < 2 || column.columns != 1 || !(2..=4).contains(&operand(1)) {
                    let what = format!("OpTypeMatrix of {} columns of {column}; it has 2 to 4 vectors of floats", operand(1));
                    return self.fail(Check::TypeDeclaration, what);
                }
                if u32::from(column.rows) != operand(1) {
                    return self.unsupported(format!("OpTypeMatrix of {} columns of {column}, which is not square", operand(1)));
                }
                shape = Shape { columns: operand(1) as u8, ..column };
                size = 4 * shape.lanes() as u64;
            }
            Op::TypeArray => {
                self.element(operand(0))?;
                self.earlier(operand(1))?;
                let length = match self.module.integer(operand(1)) {
                    Some(length) if length > 0 => length as u64,
                    _ => {
                        return self.fail(
                            Check::TypeDeclaration,
                            format!("the length of OpTypeArray, %{}, is no positive integer constant", operand(1)),
                        );
                    }
                };
                let stride = self.module.decoration(i.result, WHOLE, Decorate::ArrayStride).unwrap_or(0);
                size = length * u64::from(stride);
            }
            Op::TypeRuntimeArray => {
                self.element(operand(0))?;
            }
            Op::TypeStruct => {
                for (member, &id) in operands.iter().enumerate() {
                    let index = self.inner_type(id)?;
                    let offset = self.module.decoration(i.result, member as u32, Decorate::Offset).unwrap_or(0);
                    let member_shape = self.module.shapes[index];
                    let bytes = match (member_shape.columns > 1, self.module.decoration(i.result, member as u32, Decorate::MatrixStride)) {
                        (true, Some(stride)) => {
                            u64::from(stride) * (u64::from(member_shape.columns) - 1) + 4 * u64::from(member_shape.rows)
                        }
                        _ => self.module.sizes[index],
                    };
                    size = size.max(u64::from(offset) + bytes);
                }
            }
            Op::TypePointer => {
                self.inner_type(operand(1))?;
                shape = Shape::vector(Scalar::Pointer, 1);
            }
            Op::TypeFunction => {
                let result = self.inner_type(operand(0))?;
                if operands.len() > 1 {
                    return self.unsupported("OpTypeFunction with parameters");
                }
                if !self.module.instructions[result].is(Op::TypeVoid) {
                    return self.unsupported("OpTypeFunction with a result");
                }
            }
            _ => {}
        }
        if size > MAX_BUFFER_BYTES {
            return Err(LoadError::Limit(crate::outcome::Limit { what: "bytes in a type", bound: MAX_BUFFER_BYTES }));
        }
        self.module.shapes[self.index] = shape;
        self.module.sizes[self.index] = size;
        Ok(())
    }

    fn element(&mut self, id: u32) -> Checked {
        let index = self.inner_type(id)?;
        let element = self.module.instructions[index];
        if matches!(element.op, Op::TypeVoid | Op::TypeFunction | Op::TypeRuntimeArray) {
            return self.fail(Check::TypeDeclaration, format!("an array's elements are {}; they must have a size", element.name()));
        }
        Ok(())
    }

    pub(super) fn constant(&mut self, i: &Instruction) -> Checked {
        let type_index = self.earlier_type(i.result_type)?;
        let shape = self.module.shapes[type_index];
        let operands = i.operands(&self.module.words);
        let scalar = shape.lanes() == 1;
        let fits = match i.op {
            Op::ConstantTrue | Op::ConstantFalse => shape.scalar == Scalar::Bool && scalar,
            Op::Constant => (shape.scalar == Scalar::F32 || shape.scalar.is_int()) && scalar,
            Op::ConstantNull => {
                if !shape.is_lanes() {
                    return self.unsupported(format!("OpConstantNull of {}", self.module.instructions[type_index].name()));
                }
                true
            }
            _ => {
                if !shape.is_lanes() || scalar {
                    return self.unsupported(format!("OpConstantComposite of {}", self.module.instructions[type_index].name()));
                }
                let (parts, part) = match shape.columns {
                    1 => (shape.rows, Shape::vector(shape.scalar, 1)),
                    columns => (columns, Shape::vector(shape.scalar, shape.rows)),
                };
                for &id in operands {
                    let index = self.earlier(id)?;
                    if !self.module.is_lane_constant(index) || self.module.shapes[index] != part {
                        return self.fail(Check::Constant, format!("constituent %{id} of %{} is no constant {part}", i.result));
                    }
                }
                operands.len() == parts as usize
            }
        };
        if !fits {
            return self.fail(Check::Constant, format!("{} has result type %{}, which is {shape}", i.name(), i.result_type));
        }
        self.module.shapes[self.index] = shape;
        Ok(())
    }

    pub(super) fn variable(&mut self, i: &Instruction) -> Checked {
        self.earlier_type(i.result_type)?;
        let operands = i.operands(&self.module.words);
        let class = operands[0];
        let text = self.text(OperandKind::StorageClass, class);
        let Some((pointer_class, pointee)) = self.module.pointer_type(i.result_type).filter(|&(c, _)| c == class) else {
            return self.fail(Check::Variable, format!("%{} is a variable in {text}, but its type is no pointer into {text}", i.result));
        };
        let initializer = operands.get(1).copied();
        let shape = self.module.shape(pointee);
        let is = |c: StorageClass| pointer_class == c as u32;
        if initializer.is_some() && !is(StorageClass::Private) {
            return self.unsupported(format!("OpVariable {text} with an initializer"));
        }
        if is(StorageClass::Input) {
            let Some(built_in) = self.module.decoration(i.result, WHOLE, Decorate::BuiltIn) else {
                return self.unsupported(format!("OpVariable Input without a BuiltIn (%{})", i.result));
            };
            if built_in != BuiltIn::FragCoord as u32 {
                return self.unsupported(format!("BuiltIn {}", self.text(OperandKind::BuiltIn, built_in)));
            }
            if shape != Shape::vector(Scalar::F32, 4) {
                return self.fail(Check::Variable, format!("FragCoord is a vec4 of float, but %{} holds {shape}", i.result));
            }
        } else if is(StorageClass::Output) {
            if let Some(built_in) = self.module.decoration(i.result, WHOLE, Decorate::BuiltIn) {
                return self.unsupported(format!("BuiltIn {} as an output", self.text(OperandKind::BuiltIn, built_in)));
            }
            if shape.scalar != Scalar::F32 || shape.columns != 1 {
                return self.unsupported(format!("OpVariable Output that holds {shape}"));
            }
            let Some(location) = self.module.decoration(i.result, WHOLE, Decorate::Location) else {
                return self.fail(Check::Decoration, format!("output %{} has no Location", i.result));
            };
            let twice = |&v: &u32| self.module.interface(self.module.instructions[v as usize].result) == Some(Interface::Output(location));
            if self.module.variables.iter().take(256).any(twice) {
                return self.unsupported(format!("two outputs of location {location}"));
            }
        } else if is(StorageClass::Private) {
            let Some(initializer) = initializer else {
                return self.unsupported("OpVariable Private without an initializer");
            };
            if shape.scalar != Scalar::F32 || shape.columns != 1 {
                return self.unsupported(format!("OpVariable Private that holds {shape}"));
            }
            let index = self.earlier(initializer)?;
            if !self.module.is_lane_constant(index) || self.module.instructions[index].result_type != pointee {
                let what = format!("the initializer of %{}, %{initializer}, is no constant of type %{pointee}", i.result);
                return self.fail(Check::Variable, what);
            }
        } else if is(StorageClass::StorageBuffer) || is(StorageClass::Uniform) {
            self.buffer(i.result, pointee)?;
        } else {
            return self.unsupported(format!("OpVariable {text}"));
        }
        if self.module.variables.len() >= 256 {
            return Err(LoadError::Limit(crate::outcome::Limit { what: "variables", bound: 256 }));
        }
        self.module.variables.push(self.index as u32);
        self.module.shapes[self.index] = Shape::vector(Scalar::Pointer, 1);
        Ok(())
    }

    fn buffer(&self, variable: u32, pointee: u32) -> Checked {
        let decorated = |id, d| self.module.decoration(id, WHOLE, d).is_some();
        if !self.module.instruction(pointee).is_some_and(|s| s.is(Op::TypeStruct)) {
            return self.unsupported(format!("a buffer that is no structure (%{variable})"));
        }
        if !decorated(pointee, Decorate::Block) && !decorated(pointee, Decorate::BufferBlock) {
            return self.fail(Check::Decoration, format!("the structure of buffer %{variable}, %{pointee}, is no Block"));
        }
        for decoration in [Decorate::DescriptorSet, Decorate::Binding] {
            if !decorated(variable, decoration) {
                return self.fail(Check::Decoration, format!("buffer %{variable} has no {decoration:?}"));
            }
        }
        Ok(())
    }
}
