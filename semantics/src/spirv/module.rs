//! A loaded module: sections, types, constants, decorations, entry points, functions, and blocks as instruction vectors (report §3).
//!
//! Everything stays in the decoded words; the module indexes them. [`Module::load`] accepts only what the rules of [`super::step`] model,
//! and only what they can run: after it, no rule meets an id that is undefined, an operand of the wrong type, or a block without an end.

use super::error::{Check, LoadError, Place};
use super::grammar::Op;
use super::operation::{Scalar, Shape};
use super::words::{self, Header, Instruction};
use super::{check, declare};
use crate::number::{Lane, Lanes, Profile};
use rspirv::spirv::{BuiltIn, Capability, Decoration as Decorate, ExecutionMode, StorageClass};

/// No block, where an instruction's block is asked for.
pub const NO_BLOCK: u32 = u32::MAX;
/// The `member` of a decoration that is for the whole target.
pub const WHOLE: u32 = u32::MAX;

/// A basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The id of its OpLabel.
    pub label: u32,
    /// The index of the instruction after its OpLabel.
    pub start: u32,
    /// One past the index of its termination instruction.
    pub end: u32,
    /// The index of its function.
    pub function: u32,
}

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its id.
    pub id: u32,
    /// The index of its first block, where it begins.
    pub first_block: u32,
    /// One past the index of its last block.
    pub end_block: u32,
}

/// An entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Its name.
    pub name: String,
    /// The id of its function.
    pub function: u32,
    /// The index of its OpEntryPoint.
    pub instruction: u32,
}

/// One decoration with one literal operand or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decoration {
    /// What is decorated.
    pub target: u32,
    /// Which member of it, or [`WHOLE`].
    pub member: u32,
    /// The decoration's enumerant.
    pub decoration: u32,
    /// Its literal, or 0.
    pub value: u32,
}

/// A module that can be run.
#[derive(Clone, Debug)]
pub struct Module {
    pub(super) words: Vec<u32>,
    pub(super) header: Header,
    pub(super) instructions: Vec<Instruction>,
    pub(super) definitions: Vec<u32>,
    /// By instruction: of a type, the shape of its values; of a value, its shape.
    pub(super) shapes: Vec<Shape>,
    /// By instruction: of a type, the bytes that a value of it takes in a buffer, as far as known.
    pub(super) sizes: Vec<u64>,
    /// By instruction: of a type, how many types nest in it.
    pub(super) nesting: Vec<u8>,
    /// By instruction: the index of its block.
    pub(super) block_of: Vec<u32>,
    pub(super) decorations: Vec<Decoration>,
    pub(super) entry_points: Vec<EntryPoint>,
    pub(super) functions: Vec<Function>,
    pub(super) blocks: Vec<Block>,
    /// The indices of the module's OpVariable.
    pub(super) variables: Vec<u32>,
}

/// What a variable is to its environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interface {
    /// The fragment's coordinate.
    FragCoord,
    /// The output of that location.
    Output(u32),
    /// The buffer of that descriptor set and binding.
    Buffer(u32, u32),
    /// Nothing: a variable of each invocation's own, with an initializer.
    Private,
}

impl Module {
    /// Loads a module: decodes, indexes and checks it.
    pub fn load(words: &[u32]) -> Result<Module, LoadError> {
        let decoded = words::decode(words)?;
        let count = decoded.instructions.len();
        let mut module = Module {
            words: words.to_vec(),
            header: decoded.header,
            instructions: decoded.instructions,
            definitions: decoded.definitions,
            shapes: vec![Shape::OTHER; count],
            sizes: vec![0; count],
            nesting: vec![0; count],
            block_of: vec![NO_BLOCK; count],
            decorations: Vec::new(),
            entry_points: Vec::new(),
            functions: Vec::new(),
            blocks: Vec::new(),
            variables: Vec::new(),
        };
        declare::declare(&mut module)?;
        check::check(&module)?;
        Ok(module)
    }

    /// The words that were loaded.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The header.
    pub fn header(&self) -> Header {
        self.header
    }

    /// All instructions, in order.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The entry points, in order.
    pub fn entry_points(&self) -> &[EntryPoint] {
        &self.entry_points
    }

    /// The functions, in order.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The blocks of all functions, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The instruction vector of a block: without its OpLabel, its termination instruction last.
    pub fn code(&self, block: &Block) -> &[Instruction] {
        &self.instructions[block.start as usize..block.end as usize]
    }

    /// The index of the instruction that defines an id.
    #[inline]
    pub fn definition(&self, id: u32) -> Option<usize> {
        (*self.definitions.get(id as usize)? as usize).checked_sub(1)
    }

    /// The instruction that defines an id.
    #[inline]
    pub fn instruction(&self, id: u32) -> Option<&Instruction> {
        self.definition(id).map(|i| &self.instructions[i])
    }

    /// The block of that label.
    pub fn block(&self, label: u32) -> Option<&Block> {
        let index = self.definition(label).filter(|&i| self.instructions[i].is(Op::Label))?;
        self.blocks.get(self.block_of[index] as usize)
    }

    /// The shape of a value, or of the values of a type.
    #[inline]
    pub fn shape(&self, id: u32) -> Shape {
        self.definition(id).map_or(Shape::OTHER, |i| self.shapes[i])
    }

    /// The entry point of that name.
    pub fn entry_point(&self, name: &str) -> Result<&EntryPoint, LoadError> {
        self.entry_points.iter().find(|e| e.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.entry_points.iter().map(|e| e.name.as_str()).take(8).collect();
            let what = format!("no entry point is named {name:?}; there are: {}", names.join(", "));
            LoadError::Invalid { check: Check::EntryPoint, what, at: Place::default() }
        })
    }

    /// The first block of an entry point's function.
    pub fn entry_block(&self, entry: &EntryPoint) -> &Block {
        let function = self.functions.iter().find(|f| f.id == entry.function).expect("load has checked that the function is there");
        &self.blocks[function.first_block as usize]
    }

    /// Where an instruction is, given its index.
    pub fn place(&self, index: usize) -> Place {
        let word = self.instructions.get(index).map_or(self.words.len() as u32, |i| i.offset);
        match self.blocks.get(self.block_of.get(index).map_or(NO_BLOCK, |&b| b) as usize) {
            None => Place { function: 0, block: 0, word },
            Some(block) => Place { function: self.functions[block.function as usize].id, block: block.label, word },
        }
    }

    /// The literal of a decoration on a target (or on one of its members), or 0 for one without; `None` where it is not decorated so.
    pub fn decoration(&self, target: u32, member: u32, decoration: Decorate) -> Option<u32> {
        let key = (target, member, decoration as u32);
        let at = self.decorations.partition_point(|d| (d.target, d.member, d.decoration) < key);
        let found = self.decorations.get(at).filter(|d| (d.target, d.member, d.decoration) == key)?;
        Some(found.value)
    }

    /// The storage class and the pointee's type of a pointer type.
    pub(super) fn pointer_type(&self, type_id: u32) -> Option<(u32, u32)> {
        let pointer = self.instruction(type_id).filter(|i| i.is(Op::TypePointer))?;
        let operands = pointer.operands(&self.words);
        Some((operands[0], operands[1]))
    }

    /// What a variable is to its environment; load has checked that it is one of these.
    pub fn interface(&self, variable: u32) -> Option<Interface> {
        let instruction = self.instruction(variable).filter(|i| i.is(Op::Variable))?;
        let class = instruction.operands(&self.words)[0];
        if class == StorageClass::Input as u32 {
            let built_in = self.decoration(variable, WHOLE, Decorate::BuiltIn)?;
            return (built_in == BuiltIn::FragCoord as u32).then_some(Interface::FragCoord);
        }
        if class == StorageClass::Output as u32 {
            return self.decoration(variable, WHOLE, Decorate::Location).map(Interface::Output);
        }
        if class == StorageClass::Private as u32 {
            return Some(Interface::Private);
        }
        let set = self.decoration(variable, WHOLE, Decorate::DescriptorSet)?;
        let binding = self.decoration(variable, WHOLE, Decorate::Binding)?;
        Some(Interface::Buffer(set, binding))
    }

    /// The components that a variable holds when an invocation begins, where it has an initializer.
    pub(super) fn initial_lanes(&self, variable: u32) -> Option<Lanes> {
        let initializer = *self.instruction(variable).filter(|i| i.is(Op::Variable))?.operands(&self.words).get(1)?;
        let mut lanes = Lanes::new();
        self.constant_lanes(self.instruction(initializer)?, &mut lanes);
        Some(lanes)
    }

    /// The fewest bytes that the buffer behind a variable must have.
    pub fn buffer_size(&self, variable: u32) -> u64 {
        let pointee = self.instruction(variable).and_then(|v| self.pointer_type(v.result_type)).map(|(_, pointee)| pointee);
        pointee.and_then(|p| self.definition(p)).map_or(0, |i| self.sizes[i])
    }

    /// The value of an integer constant, by its signedness.
    pub(super) fn integer(&self, id: u32) -> Option<i64> {
        let constant = self.instruction(id).filter(|i| i.is(Op::Constant))?;
        let type_ = self.instruction(constant.result_type).filter(|t| t.is(Op::TypeInt))?;
        let word = constant.operands(&self.words)[0];
        Some(if type_.operands(&self.words)[1] == 1 { i64::from(word as i32) } else { i64::from(word) })
    }

    /// Appends the components of a constant of float or Boolean components.
    pub(super) fn constant_lanes(&self, constant: &Instruction, lanes: &mut Lanes) {
        match constant.op {
            Op::ConstantTrue => lanes.push(Lane::truth(true)),
            Op::ConstantFalse => lanes.push(Lane::truth(false)),
            Op::Constant => lanes.push(Lane::exact(f32::from_bits(constant.operands(&self.words)[0]))),
            Op::ConstantNull => {
                let shape = self.shape(constant.result);
                let zero = if shape.scalar == Scalar::Bool { Lane::truth(false) } else { Lane::exact(0.0) };
                lanes.extend(std::iter::repeat_n(zero, shape.lanes()));
            }
            // A matrix of vectors of scalars: the checked types bound the recursion.
            Op::ConstantComposite => {
                for &id in constant.operands(&self.words) {
                    if let Some(part) = self.instruction(id) {
                        self.constant_lanes(part, lanes);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether the instruction is a constant of float or Boolean components.
    pub(super) fn is_lane_constant(&self, index: usize) -> bool {
        let op = self.instructions[index].op;
        let constant = matches!(op, Op::ConstantTrue | Op::ConstantFalse | Op::Constant | Op::ConstantNull | Op::ConstantComposite);
        constant && self.shapes[index].is_lanes()
    }

    /// The profile that the module itself asks its environment for: [`Profile::Strict`] where the entry point declares RoundingModeRTE and
    /// SignedZeroInfNanPreserve for 32 bits, with the capabilities and the extension that this takes, and every instruction that could be
    /// contracted is decorated NoContraction.
    pub fn profile(&self, entry: &EntryPoint) -> Profile {
        let has = |op: Op, wanted: &[u32]| self.instructions.iter().any(|i| i.is(op) && i.operands(&self.words) == wanted);
        let declares = |mode: ExecutionMode, capability: Capability| {
            has(Op::ExecutionMode, &[entry.function, mode as u32, 32]) && has(Op::Capability, &[capability as u32])
        };
        // From SPIR-V 1.4 on, float controls are no extension.
        let extended = || {
            let mut extensions = self.instructions.iter().filter(|i| i.is(Op::Extension)).map(|i| i.operands(&self.words));
            extensions.any(|name| words::string_at(name).is_ok_and(|(name, _)| name == "SPV_KHR_float_controls"))
        };
        let function = self.functions.iter().find(|f| f.id == entry.function);
        let blocks = function.map_or(&[][..], |f| &self.blocks[f.first_block as usize..f.end_block as usize]);
        let mut contractible = blocks.iter().flat_map(|b| self.code(b)).filter(|i| is_contractible(i.op));
        let strict = declares(ExecutionMode::RoundingModeRTE, Capability::RoundingModeRTE)
            && declares(ExecutionMode::SignedZeroInfNanPreserve, Capability::SignedZeroInfNanPreserve)
            && (self.header.minor >= 4 || extended())
            && contractible.all(|i| self.decoration(i.result, WHOLE, Decorate::NoContraction).is_some());
        if strict { Profile::Strict } else { Profile::Wgsl }
    }

    /// The name that OpName gives an id, for people.
    pub fn name(&self, id: u32) -> Option<String> {
        let mut names = self.instructions.iter().filter(|i| i.is(Op::Name)).map(|i| i.operands(&self.words));
        let operands = names.find(|operands| operands[0] == id)?;
        words::string_at(&operands[1..]).ok().map(|(name, _)| name).filter(|name| !name.is_empty())
    }
}

/// Whether the instruction multiplies or adds, so that a device could fuse it with another.
fn is_contractible(op: Op) -> bool {
    matches!(
        op,
        Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FMod
            | Op::VectorTimesScalar
            | Op::MatrixTimesScalar
            | Op::VectorTimesMatrix
            | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix
            | Op::Dot
    )
}
