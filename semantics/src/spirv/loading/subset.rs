//! The subset of loaded modules that the engines of λV's translation model. It is checked by name,
//! before anything runs.
//!
//! [`Module::load`] accepts more than [`crate::spirv::step`] and [`crate::spirv::machine`] run.
//! Both call this check first, so that they refuse the same modules by the same names.

use rspirv::spirv::{BuiltIn, Capability, Decoration as Decorate, ExecutionMode, ExecutionModel, StorageClass};

use crate::spirv::error::LoadError;
use crate::spirv::grammar::{self, Op, OperandKind};
use crate::spirv::module::{Interface, Module, NO_BLOCK, Variable, WHOLE};
use crate::spirv::operation::{self, Scalar};
use crate::spirv::types::Type;
use crate::spirv::words::Instruction;

type Modeled = Result<(), LoadError>;

/// Checks that the relation and the machine of λV's translation can run the module: fragment entry
/// points, 32-bit floats and Booleans, constant indices, read-only buffers.
pub fn lambda_v(module: &Module) -> Result<(), LoadError> {
    let subset = Subset { module };
    subset.capabilities()?;
    subset.entry_points()?;
    subset.decorations()?;
    for (id, type_) in module.types.iter() {
        subset.type_(id, type_)?;
    }
    subset.variables()?;
    for (index, i) in module.instructions.iter().enumerate() {
        if module.block_of[index] != NO_BLOCK {
            subset.body(index, i)?;
        } else if matches!(i.op, Op::ConstantNull | Op::ConstantComposite | Op::Undef | Op::FunctionParameter) {
            subset.constant(index, i)?;
        }
    }
    Ok(())
}

struct Subset<'m> {
    module: &'m Module,
}

impl Subset<'_> {
    #[cold]
    fn unsupported(&self, index: usize, what: impl Into<String>) -> Modeled {
        Err(LoadError::Unsupported { what: what.into(), at: self.module.place(index) })
    }

    #[cold]
    fn unsupported_id(&self, id: u32, what: impl Into<String>) -> Modeled {
        self.unsupported(self.module.definition(id).unwrap_or(0), what)
    }

    fn text(&self, kind: OperandKind, value: u32) -> String {
        grammar::enumeration_of(kind).and_then(|e| e.text(value)).unwrap_or_else(|| value.to_string())
    }

    fn capabilities(&self) -> Modeled {
        use Capability::{DenormFlushToZero, DenormPreserve, Matrix, RoundingModeRTE, Shader, SignedZeroInfNanPreserve};
        let modeled = [Matrix, Shader, DenormPreserve, DenormFlushToZero, SignedZeroInfNanPreserve, RoundingModeRTE];
        match self.module.capabilities.iter().find(|c| !modeled.contains(c)) {
            Some(capability) => self.unsupported(0, format!("OpCapability {capability:?}")),
            None => Ok(()),
        }
    }

    fn entry_points(&self) -> Modeled {
        for entry in &self.module.entry_points {
            if entry.model != ExecutionModel::Fragment {
                return self.unsupported(entry.instruction as usize, format!("OpEntryPoint {:?}", entry.model));
            }
        }
        for &at in &self.module.modes {
            let operands = self.module.instructions[at as usize].operands(&self.module.words);
            let modeled = match ExecutionMode::from_u32(operands[1]) {
                Some(ExecutionMode::OriginUpperLeft) => true,
                Some(ExecutionMode::RoundingModeRTZ) => false,
                _ => operands.get(2) == Some(&32),
            };
            if !modeled {
                let text = self.text(OperandKind::ExecutionMode, operands[1]);
                let width = operands.get(2).map_or(String::new(), |w| format!(" {w}"));
                return self.unsupported(at as usize, format!("OpExecutionMode {text}{width}"));
            }
        }
        Ok(())
    }

    fn decorations(&self) -> Modeled {
        use Decorate::*;
        for d in &self.module.decorations {
            let modeled = matches!(
                Decorate::from_u32(d.decoration),
                Some(
                    Block
                        | BufferBlock
                        | ArrayStride
                        | MatrixStride
                        | ColMajor
                        | BuiltIn
                        | Restrict
                        | Aliased
                        | NonWritable
                        | NonReadable
                        | Location
                        | Binding
                        | DescriptorSet
                        | Offset
                        | NoContraction
                )
            );
            if !modeled {
                let op = if d.member == WHOLE { "OpDecorate" } else { "OpMemberDecorate" };
                return self.unsupported_id(d.target, format!("{op} {}", self.text(OperandKind::Decoration, d.decoration)));
            }
        }
        Ok(())
    }

    fn type_(&self, id: u32, type_: Type) -> Modeled {
        let types = &self.module.types;
        let what = match type_ {
            Type::Int { width, .. } if width != 32 => format!("OpTypeInt {width}"),
            Type::Float { width } if width != 32 => format!("OpTypeFloat {width}"),
            Type::Matrix { column, count } if types.scalars(column) != u64::from(count) => {
                format!("OpTypeMatrix of {count} columns of {}, which is not square", types.text(column))
            }
            Type::Function { count, .. } if count > 0 => "OpTypeFunction with parameters".to_string(),
            Type::Function { result, .. } if types.get(result) != Some(Type::Void) => "OpTypeFunction with a result".to_string(),
            opaque if opaque.is_opaque() => opaque.name().to_string(),
            _ => return Ok(()),
        };
        self.unsupported_id(id, what)
    }

    fn constant(&self, index: usize, i: &Instruction) -> Modeled {
        if i.is(Op::Undef) || i.is(Op::FunctionParameter) {
            return self.unsupported(index, i.name());
        }
        match self.module.shapes[index].is_lanes() {
            true => Ok(()),
            false => self.unsupported(index, format!("{} of {}", i.name(), self.type_name(i.result_type))),
        }
    }

    fn type_name(&self, id: u32) -> &'static str {
        self.module.types.get(id).map_or("no type", Type::name)
    }

    fn variables(&self) -> Modeled {
        let mut locations = Vec::new();
        for variable in &self.module.variables {
            let (class, shape) = (variable.class, self.module.shape(variable.type_));
            let vector = shape.scalar == Scalar::F32 && shape.columns == 1;
            let fail = |what: String| self.unsupported(variable.instruction as usize, what);
            if self.module.is_descriptor_array(variable.type_) {
                return fail(format!("an array of descriptors (%{})", variable.id));
            }
            if variable.initializer.is_some() && class != StorageClass::Private {
                return fail(format!("OpVariable {class:?} with an initializer"));
            }
            match class {
                StorageClass::Input => self.input(variable)?,
                StorageClass::Output => {
                    if let Some(built_in) = self.module.built_in(variable.id, WHOLE) {
                        return fail(format!("BuiltIn {built_in:?} as an output"));
                    }
                    if !vector {
                        return fail(format!("OpVariable Output that holds {shape}"));
                    }
                    locations.extend(match self.module.interface(variable.id) {
                        Some(Interface::Output(location)) => Some((location, variable.instruction)),
                        _ => None,
                    });
                }
                StorageClass::Private if variable.initializer.is_none() => {
                    return fail("OpVariable Private without an initializer".to_string());
                }
                StorageClass::Private if !vector => return fail(format!("OpVariable Private that holds {shape}")),
                StorageClass::Private | StorageClass::StorageBuffer | StorageClass::Uniform => {}
                _ => return fail(format!("OpVariable {class:?}")),
            }
        }
        locations.sort_unstable();
        match locations.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => self.unsupported(pair[1].1 as usize, format!("two outputs of location {}", pair[1].0)),
            None => Ok(()),
        }
    }

    fn input(&self, variable: &Variable) -> Modeled {
        match self.module.built_in(variable.id, WHOLE) {
            Some(BuiltIn::FragCoord) => Ok(()),
            Some(other) => self.unsupported(variable.instruction as usize, format!("BuiltIn {other:?}")),
            None => self.unsupported(variable.instruction as usize, format!("OpVariable Input without a BuiltIn (%{})", variable.id)),
        }
    }

    fn body(&self, index: usize, i: &Instruction) -> Modeled {
        let module = self.module;
        let operands = i.operands(&module.words);
        let shape = module.shapes[index];
        match i.op {
            Op::Label
            | Op::Nop
            | Op::Line
            | Op::NoLine
            | Op::Branch
            | Op::BranchConditional
            | Op::Return
            | Op::Unreachable
            | Op::SelectionMerge
            | Op::LoopMerge => Ok(()),
            Op::Phi | Op::CompositeConstruct if !shape.is_lanes() => self.unsupported(index, format!("{} of {shape}", i.name())),
            Op::Phi | Op::CompositeConstruct => Ok(()),
            Op::CompositeExtract => match module.shape(operands[0]) {
                shape if shape.is_lanes() => Ok(()),
                shape => self.unsupported(index, format!("{} of {shape}", i.name())),
            },
            Op::AccessChain | Op::InBoundsAccessChain => self.access_chain(index, i, operands),
            Op::Load => {
                if self.class(operands[0]) == Some(StorageClass::Output) {
                    return self.unsupported(index, "OpLoad from Output");
                }
                match shape.scalar {
                    Scalar::F32 => Ok(()),
                    _ => self.unsupported(index, format!("OpLoad of {shape}")),
                }
            }
            Op::Store => match self.class(operands[0]) {
                Some(StorageClass::Output | StorageClass::Private) => Ok(()),
                Some(class) => self.unsupported(index, format!("OpStore to {class:?}")),
                None => self.unsupported(index, "OpStore"),
            },
            Op::ExtInst => match operation::glsl(operands[1]) {
                Some(operation) if operation.op.is_some() && !module.is_non_semantic(i) => self.lanes(index, i, &operands[2..]),
                _ => {
                    let name = grammar::set("GLSL.std.450").and_then(|s| s.by_number(operands[1])).map_or("?", |e| e.opname);
                    self.unsupported(index, format!("OpExtInst GLSL.std.450 {name}"))
                }
            },
            op if operation::core(op).is_some_and(|o| o.op.is_some()) => self.lanes(index, i, operands),
            _ => self.unsupported(index, i.name()),
        }
    }

    /// Checks that result and operands are 32-bit floats or Booleans.
    fn lanes(&self, index: usize, i: &Instruction, operands: &[u32]) -> Modeled {
        let all = self.module.shapes[index].is_lanes() && operands.iter().all(|&id| self.module.shape(id).is_lanes());
        if all { Ok(()) } else { self.unsupported(index, i.name()) }
    }

    fn class(&self, pointer: u32) -> Option<StorageClass> {
        self.module.type_of(pointer).and_then(|t| self.module.pointer_type(t)).map(|(class, _)| class)
    }

    fn access_chain(&self, index: usize, i: &Instruction, operands: &[u32]) -> Modeled {
        let module = self.module;
        let pointer = module.type_of(operands[0]).and_then(|t| module.pointer_type(t));
        let Some((class, mut type_)) = pointer else { return self.unsupported(index, i.name()) };
        if matches!(class, StorageClass::Output | StorageClass::Private) {
            return self.unsupported(index, format!("{} into {class:?}", i.name()));
        }
        for &id in &operands[1..] {
            let Some(at) = module.integer(id).filter(|_| module.instruction(id).is_some_and(|c| c.is(Op::Constant))) else {
                return self.unsupported(index, format!("{} with an index that is no constant (%{id})", i.name()));
            };
            if let Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) = module.types.get(type_)
                && matches!(module.types.get(element), Some(Type::Matrix { .. }))
            {
                return self.unsupported(index, "an array of matrices in a buffer");
            }
            type_ = match module.types.get(type_) {
                Some(Type::Vector { component: part, .. } | Type::Matrix { column: part, .. }) => part,
                Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) => element,
                _ => module.types.part(type_, at as u64).map_or(0, |(part, _)| part),
            };
        }
        Ok(())
    }
}
