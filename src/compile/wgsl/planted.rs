//! Planted bugs in the conversion, which the tests must catch. A bug is data. The table of
//! operations, the writer of lines and the structure consult it.

use std::borrow::Cow;

use rspirv::spirv::{GlslStd450Op as Glsl, Op};

/// The change that a bug makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The first opcode is converted as the second.
    Opcode(Op, Op),
    /// The first function of GLSL.std.450 is converted as the second.
    Glsl(Glsl, Glsl),
    /// Two operands of the opcode are swapped.
    Swap(Op, usize, usize),
    /// The first text is replaced by the second in every line.
    Text(&'static str, &'static str),
    /// An exit through several constructs does not set its flag.
    NoFlag,
    /// The first and the last clause of a switch are swapped.
    Clauses,
    /// Cases that fall through are executed for every selector.
    NoGuard,
    /// The phis of a block are assigned one after the other.
    Sequential,
    /// The phis of a loop's header are also assigned when the loop ends.
    EveryEdge,
    /// The phis of a block keep their old values.
    NoCopies,
    /// The condition at the end of a loop is negated.
    Latch,
    /// Integers have the sign of their type, not of the instruction.
    Signedness,
    /// An access to a word of a buffer accesses the word before it.
    Words,
    /// The index of an element counts words, for every stride.
    Strides,
    /// An access to an array of descriptors always accesses the first.
    Descriptors,
    /// The caller of a function that OpKill has ended goes on.
    Killed,
    /// Every variable begins at the first component of its location.
    Components,
    /// The selector of a switch keeps its value after the switch.
    Selector,
    /// The memory that an OpMemoryBarrier orders is ignored where only some invocations reach it.
    Orders,
    /// A call passes the inputs that a function reads in another order.
    Inputs,
    /// A saved pointer keeps its old target.
    Targets,
    /// A saved pointer keeps its old indices.
    Indices,
    /// The number of elements that OpPtrAccessChain counts is ignored.
    Elements,
    /// Storage buffers that the module writes are declared `read`.
    Read,
    /// A structure without members takes bytes in a buffer.
    Nothing,
}

/// A planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planted {
    /// The bug in words.
    pub name: &'static str,
    /// The change that it makes.
    pub change: Change,
}

const fn bug(name: &'static str, change: Change) -> Planted {
    Planted { name, change }
}

/// All planted bugs except those in [`DRAWN`].
pub const BUGS: &[Planted] = &[
    bug("+ subtracts", Change::Opcode(Op::IAdd, Op::ISub)),
    bug("- takes its operands the other way round", Change::Swap(Op::ISub, 0, 1)),
    bug("* adds", Change::Opcode(Op::IMul, Op::IAdd)),
    bug("/ of unsigned integers is that of signed ones", Change::Opcode(Op::UDiv, Op::SDiv)),
    bug("/ of signed integers is that of unsigned ones", Change::Opcode(Op::SDiv, Op::UDiv)),
    bug("% of unsigned integers is /", Change::Opcode(Op::UMod, Op::UDiv)),
    bug("% of signed integers is /", Change::Opcode(Op::SRem, Op::SDiv)),
    bug("a modulus is /", Change::Opcode(Op::SMod, Op::SDiv)),
    bug("& is |", Change::Opcode(Op::BitwiseAnd, Op::BitwiseOr)),
    bug("| is ^", Change::Opcode(Op::BitwiseOr, Op::BitwiseXor)),
    bug("^ is &", Change::Opcode(Op::BitwiseXor, Op::BitwiseAnd)),
    bug("~ is -", Change::Opcode(Op::Not, Op::SNegate)),
    bug("- of an integer is ~", Change::Opcode(Op::SNegate, Op::Not)),
    bug("<< is >>", Change::Opcode(Op::ShiftLeftLogical, Op::ShiftRightLogical)),
    bug(">> without sign keeps the sign", Change::Opcode(Op::ShiftRightLogical, Op::ShiftRightArithmetic)),
    bug(">> with sign fills with zeros", Change::Opcode(Op::ShiftRightArithmetic, Op::ShiftRightLogical)),
    bug("< of unsigned integers is that of signed ones", Change::Opcode(Op::ULessThan, Op::SLessThan)),
    bug("< of signed integers is <=", Change::Opcode(Op::SLessThan, Op::SLessThanEqual)),
    bug("<= of unsigned integers is <", Change::Opcode(Op::ULessThanEqual, Op::ULessThan)),
    bug("> of signed integers is that of unsigned ones", Change::Opcode(Op::SGreaterThan, Op::UGreaterThan)),
    bug(">= of unsigned integers is >", Change::Opcode(Op::UGreaterThanEqual, Op::UGreaterThan)),
    bug("== is !=", Change::Opcode(Op::IEqual, Op::INotEqual)),
    bug("the two sides of a selection change places", Change::Swap(Op::Select, 1, 2)),
    bug("and is or", Change::Opcode(Op::LogicalAnd, Op::LogicalOr)),
    bug("or is and", Change::Opcode(Op::LogicalOr, Op::LogicalAnd)),
    bug("an integer is converted without its sign", Change::Opcode(Op::ConvertSToF, Op::ConvertUToF)),
    bug("the sum of floats is their difference", Change::Opcode(Op::FAdd, Op::FSub)),
    bug("a product of floats is a sum", Change::Opcode(Op::FMul, Op::FAdd)),
    bug("a field of bits is taken with its sign", Change::Opcode(Op::BitFieldUExtract, Op::BitFieldSExtract)),
    bug("bits are reversed where they are counted", Change::Opcode(Op::BitCount, Op::BitReverse)),
    bug("the least of signed integers is that of unsigned ones", Change::Glsl(Glsl::SMin, Glsl::UMin)),
    bug("the least of unsigned integers is the greatest", Change::Glsl(Glsl::UMin, Glsl::UMax)),
    bug("the absolute value is the sign", Change::Glsl(Glsl::SAbs, Glsl::SSign)),
    bug("the lowest bit is the highest", Change::Glsl(Glsl::FindILsb, Glsl::FindUMsb)),
    bug("floor is ceil", Change::Glsl(Glsl::Floor, Glsl::Ceil)),
    bug("stores are left out", Change::Opcode(Op::Store, Op::Nop)),
    bug("atomic + is atomic |", Change::Opcode(Op::AtomicIAdd, Op::AtomicOr)),
    bug("atomic ^ is atomic |", Change::Opcode(Op::AtomicXor, Op::AtomicOr)),
    bug("the greatest by an atomic is the least", Change::Opcode(Op::AtomicUMax, Op::AtomicUMin)),
    bug("barriers are left out", Change::Opcode(Op::ControlBarrier, Op::Nop)),
    bug("`break` is left out", Change::Text("break;", "")),
    bug("the loop's condition is taken the other way round", Change::Latch),
    bug("an exit through several constructs sets no flag", Change::NoFlag),
    bug("the first and the last clause of a switch change places", Change::Clauses),
    bug("cases that fall through are done whatever is selected", Change::NoGuard),
    bug("phis are assigned one after the other", Change::Sequential),
    bug("phis of a header are assigned though the loop ends", Change::EveryEdge),
    bug("phis keep what they held", Change::NoCopies),
    bug("integers are taken with the sign of their type", Change::Signedness),
    bug("the first component is the second", Change::Text(".x", ".y")),
    bug("a word of a buffer is the one before it", Change::Words),
    bug("the index of an element counts words", Change::Strides),
    bug("of an array of descriptors it is the first", Change::Descriptors),
    bug("a function goes on behind a call that OpKill has ended", Change::Killed),
    bug("a variable begins at the first component of its location", Change::Components),
    bug("the selector of a switch is what it was", Change::Selector),
    bug("what a memory barrier orders is left out", Change::Orders),
    bug("inputs are given in another order", Change::Inputs),
    bug("a saved pointer keeps the target that it had", Change::Targets),
    bug("a saved pointer keeps the indices that it had", Change::Indices),
    bug("elements that are counted from a pointer are not", Change::Elements),
    bug("storage buffers that are written are declared `read`", Change::Read),
    bug("a structure without members takes bytes", Change::Nothing),
];

/// Bugs that only images, stages and draws show.
pub const DRAWN: &[Planted] = &[
    bug("a discarded fragment is drawn", Change::Text("discard;", "")),
    bug("texels are not written", Change::Opcode(Op::ImageWrite, Op::Nop)),
    bug("the sum of floats that is handed on is their difference", Change::Opcode(Op::FAdd, Op::FSub)),
    bug("a position or colour has its first component twice", Change::Text(".y", ".x")),
];

/// The planted bug, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plan(pub(super) Option<Change>);

impl Plan {
    /// The opcode that an instruction is converted as.
    pub(super) fn op(&self, op: Op) -> Op {
        match self.0 {
            Some(Change::Opcode(from, to)) if from == op => to,
            _ => op,
        }
    }

    /// The function of GLSL.std.450 that an instruction is converted as.
    pub(super) fn glsl(&self, number: u32) -> u32 {
        match self.0 {
            Some(Change::Glsl(from, to)) if from as u32 == number => to as u32,
            _ => number,
        }
    }

    /// The operands of an instruction, two of which may be swapped.
    pub(super) fn operands<'m>(&self, op: Op, operands: &'m [u32]) -> Cow<'m, [u32]> {
        let mut operands = Cow::Borrowed(operands);
        if let Some(Change::Swap(of, a, b)) = self.0
            && of == op
            && a.max(b) < operands.len()
        {
            operands.to_mut().swap(a, b);
        }
        operands
    }

    /// Whether the texts of lines change.
    pub(super) fn changes_lines(&self) -> bool {
        matches!(self.0, Some(Change::Text(..)))
    }

    /// The text of a line, with its changes.
    pub(super) fn line(&self, text: String) -> String {
        match self.0 {
            Some(Change::Text(from, to)) => text.replace(from, to),
            _ => text,
        }
    }

    /// Whether flags are not set.
    pub(super) fn forgets_flags(&self) -> bool {
        self.0 == Some(Change::NoFlag)
    }

    /// Whether the clauses of a switch are swapped.
    pub(super) fn swaps_clauses(&self) -> bool {
        self.0 == Some(Change::Clauses)
    }

    /// Whether cases that fall through are executed for every selector.
    pub(super) fn forgets_fallthrough_guard(&self) -> bool {
        self.0 == Some(Change::NoGuard)
    }

    /// Whether phis are assigned one after the other.
    pub(super) fn copies_in_turn(&self) -> bool {
        self.0 == Some(Change::Sequential)
    }

    /// Whether the phis of a header are also assigned when the loop ends.
    pub(super) fn copies_on_every_edge(&self) -> bool {
        self.0 == Some(Change::EveryEdge)
    }

    /// Whether phis are not assigned.
    pub(super) fn forgets_copies(&self) -> bool {
        self.0 == Some(Change::NoCopies)
    }

    /// Whether the condition of a loop is negated.
    pub(super) fn negates_latch(&self) -> bool {
        self.0 == Some(Change::Latch)
    }

    /// Whether integers keep the sign of their type.
    pub(super) fn keeps_signs(&self) -> bool {
        self.0 == Some(Change::Signedness)
    }

    /// Whether accesses to words go to the word before.
    pub(super) fn misplaces_words(&self) -> bool {
        self.0 == Some(Change::Words)
    }

    /// Whether strides are ignored.
    pub(super) fn forgets_strides(&self) -> bool {
        self.0 == Some(Change::Strides)
    }

    /// Whether accesses to arrays of descriptors go to the first one.
    pub(super) fn takes_the_first_descriptor(&self) -> bool {
        self.0 == Some(Change::Descriptors)
    }

    /// Whether callers go on after OpKill in a callee.
    pub(super) fn goes_on_behind_kills(&self) -> bool {
        self.0 == Some(Change::Killed)
    }

    /// Whether variables begin at the first component of their location.
    pub(super) fn forgets_components(&self) -> bool {
        self.0 == Some(Change::Components)
    }

    /// Whether selectors keep their value after the switch.
    pub(super) fn keeps_selectors(&self) -> bool {
        self.0 == Some(Change::Selector)
    }

    /// Whether inputs are passed in another order.
    pub(super) fn mixes_inputs(&self) -> bool {
        self.0 == Some(Change::Inputs)
    }

    /// Whether saved pointers keep their old targets.
    pub(super) fn forgets_targets(&self) -> bool {
        self.0 == Some(Change::Targets)
    }

    /// Whether saved pointers keep their old indices.
    pub(super) fn forgets_indices(&self) -> bool {
        self.0 == Some(Change::Indices)
    }

    /// Whether the element count of OpPtrAccessChain is ignored.
    pub(super) fn counts_no_elements(&self) -> bool {
        self.0 == Some(Change::Elements)
    }

    /// Whether no storage buffer counts as written.
    pub(super) fn takes_all_as_read(&self) -> bool {
        self.0 == Some(Change::Read)
    }

    /// Whether structures without members take bytes in buffers.
    pub(super) fn keeps_nothing(&self) -> bool {
        self.0 == Some(Change::Nothing)
    }

    /// Whether OpMemoryBarrier is ignored where only some invocations reach it.
    pub(super) fn forgets_orders(&self) -> bool {
        self.0 == Some(Change::Orders)
    }
}
