//! The second pass of loading: control flow, dominance, and the type of every operand in
//! function bodies.
//!
//! Functions are checked one by one ([`Pass`]). Then [`calls`] follows the calls from every
//! entry point.

mod calls;
mod composite;
mod flow;
mod group;
mod image;
mod memory;
mod pointers;
mod shared;
mod structure;

pub(in crate::spirv) use image::is_image;
pub use image::{compares, is_implicit, samples};
pub use shared::is_atomic;

use rspirv::spirv::{Capability, StorageClass};
use smallvec::SmallVec;

use crate::outcome::Limit;
use crate::spirv::cfg::ControlFlow;
use crate::spirv::declare;
use crate::spirv::error::{Check, LoadError, Place};
use crate::spirv::grammar::{self, Op};
use crate::spirv::module::{Block, Function, Module, NO_BLOCK};
use crate::spirv::operation::{self, Operation, Scalar, Shape, Signature};
use crate::spirv::pointers::Roots;
use crate::spirv::types::Type;
use crate::spirv::words::Instruction;

type Checked<T = ()> = Result<T, LoadError>;

/// Checks the bodies of all functions, and what entry points reach. Returns the control flow of
/// each function.
pub(in crate::spirv) fn check(module: &Module) -> Checked<Vec<ControlFlow>> {
    let mut flows = Vec::with_capacity(module.functions.len());
    let mut origins = memory::Origins::default();
    let roots = Roots::of(module);
    for function in &module.functions {
        let mut pass =
            Pass { module, function, index: 0, flow: ControlFlow::default(), block_marks: Vec::new(), block: 0, origins, roots: &roots };
        pass.control_flow()?;
        pass.bodies()?;
        pass.chosen_pointers()?;
        origins = pass.origins;
        flows.push(pass.flow);
    }
    calls::check(module)?;
    Ok(flows)
}

struct Pass<'m> {
    module: &'m Module,
    function: &'m Function,
    index: usize,
    flow: ControlFlow,
    /// By block: the header of which it is the merge block, or the index of the last OpPhi with it
    /// as a parent. `u32::MAX` if there is none.
    block_marks: Vec<u32>,
    block: u32,
    origins: memory::Origins,
    roots: &'m Roots,
}

impl<'m> Pass<'m> {
    #[cold]
    fn fail<T>(&self, check: Check, what: impl Into<String>) -> Checked<T> {
        Err(LoadError::Invalid { check, what: what.into(), at: self.place() })
    }

    #[cold]
    fn unsupported<T>(&self, what: impl Into<String>) -> Checked<T> {
        Err(LoadError::Unsupported { what: what.into(), at: self.place() })
    }

    #[cold]
    fn limit<T>(&self, what: &'static str, bound: u64) -> Checked<T> {
        Err(LoadError::Limit(Limit { what, bound }))
    }

    fn place(&self) -> Place {
        self.module.place(self.index)
    }

    fn blocks(&self) -> &'m [Block] {
        self.module.function_blocks(self.function)
    }

    fn operands(&self, i: &Instruction) -> &'m [u32] {
        i.operands(&self.module.words)
    }

    fn instruction(&self) -> Instruction {
        self.module.instructions[self.index]
    }

    fn text(&self, type_: u32) -> String {
        self.module.types.text(type_)
    }

    fn bodies(&mut self) -> Checked {
        self.block_marks.clear();
        self.block_marks.resize(self.blocks().len(), u32::MAX);
        for (node, block) in self.blocks().iter().enumerate() {
            self.block = node as u32;
            let mut phis = true;
            for index in block.start..block.end {
                self.index = index as usize;
                let i = self.instruction();
                match i.op {
                    Op::Phi if !phis => {
                        return self.fail(Check::PhiPlace, format!("%{} = OpPhi stands after another instruction of its block", i.result));
                    }
                    Op::Phi => self.phi(&i)?,
                    Op::Line | Op::NoLine => {}
                    _ => {
                        phis = false;
                        self.body(&i)?;
                        self.track_origin(&i);
                    }
                }
            }
        }
        Ok(())
    }

    /// The index and the shape of an operand. It must be a value whose definition dominates
    /// block `at`.
    fn value_at(&self, id: u32, at: u32) -> Checked<(usize, Shape)> {
        let Some(index) = self.module.definition(id) else {
            return self.fail(Check::UndefinedId, format!("%{id} is used but no instruction defines it"));
        };
        let definition = &self.module.instructions[index];
        if definition.result_type == 0 || definition.is(Op::Function) {
            return self.fail(Check::KindOfId, format!("%{id} must be a value, but it is the result of {}", definition.name()));
        }
        let block = self.module.block_of[index];
        if block != NO_BLOCK {
            let range = self.function.first_block..self.function.end_block;
            if !range.contains(&block) || block - range.start != at && !self.flow.graph().dominates(block - range.start, at) {
                return self.fail(Check::Dominance, format!("the definition of %{id} does not dominate its use"));
            }
        } else if definition.is(Op::FunctionParameter) && !self.is_own_parameter(index) {
            return self.fail(Check::Dominance, format!("%{id} is a parameter of another function"));
        }
        Ok((index, self.module.shapes[index]))
    }

    /// Whether the OpFunctionParameter at this index belongs to the function: it stands between its
    /// OpFunction and its first block.
    fn is_own_parameter(&self, index: usize) -> bool {
        let start = self.module.definition(self.function.id).unwrap_or(0);
        (start..self.blocks()[0].start as usize).contains(&index)
    }

    fn value(&self, id: u32) -> Checked<Shape> {
        let (index, shape) = self.value_at(id, self.block)?;
        if index >= self.index {
            return self.fail(Check::DefinedBeforeUse, format!("%{id} is used before the instruction that defines it"));
        }
        Ok(shape)
    }

    /// The type id of an operand, which must be a value.
    fn value_type(&self, id: u32) -> Checked<u32> {
        self.value(id)?;
        Ok(self.module.type_of(id).unwrap_or(0))
    }

    /// Checks that an operand is a value of this type.
    fn value_of(&self, i: &Instruction, id: u32, type_: u32, what: &str) -> Checked {
        let found = self.value_type(id)?;
        if found == type_ {
            return Ok(());
        }
        let subject = if i.result == 0 { i.name() } else { format!("%{} = {}", i.result, i.name()) };
        self.fail(Check::Type, format!("{what} of {subject}, %{id}, is {}; it must be {}", self.text(found), self.text(type_)))
    }

    /// Checks that an operand is an integer scalar.
    fn integer_scalar(&self, i: &Instruction, id: u32, what: &str) -> Checked {
        let shape = self.value(id)?;
        if shape.lanes() == 1 && shape.scalar.is_int() {
            return Ok(());
        }
        self.fail(Check::Type, format!("{what} of {}, %{id}, is {shape}; it must be an integer", i.name()))
    }

    fn capability(&self, i: &Instruction) -> Checked {
        if self.module.unmodeled || !declare::needs_capability(i.op) {
            return Ok(());
        }
        let needed = grammar::instruction(i.op as u16).map_or(&[][..], |g| g.capabilities);
        if needed.is_empty() || needed.iter().any(|&c| self.module.has_capability(c)) {
            return Ok(());
        }
        let names: Vec<String> = needed.iter().map(|c| format!("{c:?}")).collect();
        self.fail(Check::Capability, format!("{} needs a capability that is not declared: {}", i.name(), names.join(" or ")))
    }

    fn body(&mut self, i: &Instruction) -> Checked {
        let operands = self.operands(i);
        self.capability(i)?;
        match i.op {
            Op::Nop | Op::Branch | Op::Unreachable | Op::SelectionMerge | Op::LoopMerge | Op::Kill | Op::TerminateInvocation => Ok(()),
            Op::DemoteToHelperInvocation => Ok(()),
            Op::IsHelperInvocationEXT => match self.module.shapes[self.index] {
                shape if shape == Shape::vector(Scalar::Bool, 1) => Ok(()),
                shape => self.fail(Check::Type, format!("%{} = {} has result {shape}; it must be bool", i.result, i.name())),
            },
            Op::Return => match self.module.types.get(self.function.result_type) {
                Some(Type::Void) => Ok(()),
                _ => {
                    let what = format!("OpReturn ends a function whose result is {}", self.text(self.function.result_type));
                    self.fail(Check::Type, what)
                }
            },
            Op::ReturnValue => self.value_of(i, operands[0], self.function.result_type, "the value"),
            Op::BranchConditional => {
                let condition = self.value(operands[0])?;
                if condition != Shape::vector(Scalar::Bool, 1) {
                    return self.fail(Check::Type, format!("the condition of OpBranchConditional is {condition}; it must be bool"));
                }
                Ok(())
            }
            Op::Switch => self.integer_scalar(i, operands[0], "the selector"),
            Op::Undef => self.undefined(i),
            Op::Variable => Ok(()),
            Op::ExtInst => self.extended(i, operands),
            Op::FunctionCall => self.call(i, operands),
            Op::CompositeConstruct => self.construct(i, operands),
            Op::CompositeExtract => self.extract(i, operands),
            Op::CompositeInsert => self.insert(i, operands),
            Op::VectorShuffle => self.shuffle(i, operands),
            Op::VectorExtractDynamic => self.extract_dynamic(i, operands),
            Op::VectorInsertDynamic => self.insert_dynamic(i, operands),
            Op::CopyObject => self.value_of(i, operands[0], i.result_type, "the operand"),
            Op::CopyLogical => self.copy_logical(i, operands),
            Op::Select => self.select(i, operands),
            Op::AccessChain | Op::InBoundsAccessChain => self.access_chain(i, operands, 1),
            Op::PtrAccessChain if !self.module.unmodeled => self.ptr_access_chain(i, operands),
            Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff if !self.module.unmodeled => self.compare_pointers(i, operands),
            Op::Load => self.load(i, operands),
            Op::Store => self.store(i, operands),
            Op::CopyMemory => self.copy_memory(i, operands),
            Op::ArrayLength => self.array_length(i, operands),
            Op::ControlBarrier | Op::MemoryBarrier => self.barrier(i, operands),
            op if shared::is_atomic(op) => self.atomic(i, operands),
            op if declare::is_group(op) => self.group(i, operands),
            op if image::is_image(op) => self.image(i, operands),
            op if declare::is_derivative(op) => self.derivative(i, operands),
            op => match operation::core(op) {
                Some(operation) => self.operation(i, operation, operands),
                None if self.module.unmodeled => Ok(()),
                None => self.unsupported(i.name()),
            },
        }
    }

    fn undefined(&self, i: &Instruction) -> Checked {
        let contents = self.module.types.contents(i.result_type);
        if !self.module.types.has_size(i.result_type) || contents.opaque || contents.pointer {
            return self.unsupported(format!("OpUndef of {}", self.text(i.result_type)));
        }
        Ok(())
    }

    fn extended(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let (set, number) = (operands[0], operands[1]);
        if !self.module.instruction(set).is_some_and(|s| s.is(Op::ExtInstImport)) {
            return self.fail(Check::KindOfId, format!("OpExtInst names %{set} as its set, which is no OpExtInstImport"));
        }
        // Load has refused all other sets.
        if self.module.is_non_semantic(i) {
            return Ok(());
        }
        if let Some(operation) = operation::glsl(number) {
            return self.operation(i, operation, &operands[2..]);
        }
        let instruction = grammar::set("GLSL.std.450").and_then(|s| s.by_number(number));
        match instruction.map_or("?", |e| e.opname) {
            name @ ("InterpolateAtCentroid" | "InterpolateAtSample" | "InterpolateAtOffset") => self.interpolate(i, name, &operands[2..]),
            _ if self.module.unmodeled => Ok(()),
            name => self.unsupported(format!("OpExtInst GLSL.std.450 {name}")),
        }
    }

    /// Checks GLSL.std.450 InterpolateAt… of an input of 32-bit floats.
    fn interpolate(&self, i: &Instruction, name: &str, operands: &[u32]) -> Checked {
        if !self.module.has_capability(Capability::InterpolationFunction) {
            return self.fail(Check::Capability, format!("{name} needs the capability InterpolationFunction"));
        }
        let (class, pointee) = self.pointer(operands[0])?;
        let result = self.module.shapes[self.index];
        let float = result.scalar == Scalar::F32 && result.columns == 1;
        let position = match operands.get(1) {
            Some(&id) => Some(self.value(id)?),
            None => None,
        };
        let fits = match name {
            "InterpolateAtCentroid" => position.is_none(),
            "InterpolateAtSample" => position.is_some_and(|s| s.lanes() == 1 && s.scalar.is_int()),
            _ => position == Some(Shape::vector(Scalar::F32, 2)),
        };
        if class != StorageClass::Input || pointee != i.result_type || !float || !fits {
            let what = format!("%{} = {name} takes a pointer into Input to 32-bit floats that are its result", i.result);
            return self.fail(Check::Type, what);
        }
        Ok(())
    }

    fn derivative(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let (operand, result) = (self.value(operands[0])?, self.module.shapes[self.index]);
        if operand == result && result.scalar == Scalar::F32 && result.columns == 1 {
            return Ok(());
        }
        let what = format!("%{} = {} has operand {operand} and result {result}; it takes 32-bit floats of one type", i.result, i.name());
        self.fail(Check::Type, what)
    }

    fn operation(&self, i: &Instruction, operation: Operation, operands: &[u32]) -> Checked {
        let signature = operation.signature;
        let format = operands.len() > operation.ids(operands).len();
        let operands = operation.ids(operands);
        let mut shapes: SmallVec<[Shape; 4]> = SmallVec::new();
        for (number, &id) in operands.iter().take(5).enumerate() {
            if signature.written_through() == Some(number) {
                let (class, pointee) = self.pointer(id)?;
                self.writable(i, id, class)?;
                shapes.push(self.module.shape(pointee));
            } else {
                shapes.push(self.value(id)?);
            }
        }
        let result = self.module.shapes[self.index];
        let members: SmallVec<[Shape; 2]> = match signature.members() {
            0 => SmallVec::new(),
            _ => self.module.types.members(i.result_type).iter().take(3).map(|m| self.module.shape(m.type_)).collect(),
        };
        let fits = match signature.members() {
            0 => signature.fits(&shapes, result, self.module.header.minor >= 4),
            _ => signature.fits_members(&shapes, &members),
        };
        if fits {
            self.integer_dot(i, operation, &shapes, format)?;
            return self.arithmetic_width(i, shapes.iter().chain([&result]));
        }
        let found: Vec<String> = shapes.iter().map(|s| s.to_string()).collect();
        let result = if members.is_empty() { result.to_string() } else { self.text(i.result_type) };
        let what = format!(
            "%{} = {} has operands {} and result {result}; it takes {}",
            i.result,
            i.name(),
            found.join(", "),
            signature.requirement()
        );
        self.fail(Check::Type, what)
    }

    /// Checks that an integer dot product of packed vectors has a format, and that the capability
    /// of its kind of input is declared (SPIR-V §3.31, DotProductInputAll and the others).
    fn integer_dot(&self, i: &Instruction, operation: Operation, shapes: &[Shape], format: bool) -> Checked {
        let Signature::IntegerDot(..) = operation.signature else { return Ok(()) };
        let packed = Signature::is_packed(shapes[0]);
        if packed && !format {
            return self.fail(Check::Type, format!("%{} = {} has two integers and no packed vector format", i.result, i.name()));
        }
        let bytes = shapes[0].rows == 4 && shapes[0].scalar.width() == 8;
        let needed: &[Capability] = match (packed, bytes) {
            (true, _) => &[Capability::DotProductInput4x8BitPacked],
            (false, true) => &[Capability::DotProductInput4x8Bit, Capability::DotProductInputAll],
            (false, false) => &[Capability::DotProductInputAll],
        };
        if self.module.unmodeled || needed.iter().any(|&c| self.module.has_capability(c)) {
            return Ok(());
        }
        let names: Vec<String> = needed.iter().map(|c| format!("{c:?}")).collect();
        self.fail(
            Check::Capability,
            format!("{} of {} needs a capability that is not declared: {}", i.name(), shapes[0], names.join(" or ")),
        )
    }

    /// Checks that numbers of a width that may only be stored are not computed on, except by
    /// conversions of width (SPIR-V §3.31, 8- and 16-bit storage).
    fn arithmetic_width<'s>(&self, i: &Instruction, shapes: impl Iterator<Item = &'s Shape>) -> Checked {
        if matches!(i.op, Op::FConvert | Op::SConvert | Op::UConvert) {
            return Ok(());
        }
        for shape in shapes {
            let needed = match shape.scalar {
                Scalar::Int { width: 8, .. } => Capability::Int8,
                Scalar::Int { width: 16, .. } => Capability::Int16,
                Scalar::Float { width: 16 } => Capability::Float16,
                _ => continue,
            };
            if !self.module.has_capability(needed) {
                return self.fail(Check::Capability, format!("{} computes on {shape}, which needs the capability {needed:?}", i.name()));
            }
        }
        Ok(())
    }
}
