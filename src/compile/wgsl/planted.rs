//! Mistakes in the conversion, planted to see them caught. A mistake is data; what consults it is
//! the table of operations, the writer of lines, and the structure.

use std::borrow::Cow;

use rspirv::spirv::{GlslStd450Op as Glsl, Op};

/// What is done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// This instruction is converted as that one.
    Opcode(Op, Op),
    /// This function of GLSL.std.450 is converted as that one.
    Glsl(Glsl, Glsl),
    /// Two operands of an instruction change places.
    Swap(Op, usize, usize),
    /// Wherever a line has the first text, it has the second.
    Text(&'static str, &'static str),
    /// An exit through several constructs does not set its flag.
    NoFlag,
    /// The first and the last clause of a switch change places.
    Clauses,
    /// Cases that fall through are done whatever the selector is.
    NoGuard,
    /// Phis of one block are assigned one after the other.
    Sequential,
    /// The phis of a loop's header are assigned though the loop ends.
    EveryEdge,
    /// The phis of a block keep what they held.
    NoCopies,
    /// A loop's condition at its end is the other way round.
    Latch,
    /// Integers are taken with the sign of their type, not of the instruction.
    Signedness,
    /// A word of a buffer is the one before it.
    Words,
    /// The index of an element counts words, whatever the stride is.
    Strides,
    /// Of an array of descriptors it is always the first.
    Descriptors,
    /// What calls a function that OpKill has ended goes on.
    Killed,
    /// A variable begins at the first component of its location.
    Components,
    /// The selector of a switch is what it was, behind the switch too.
    Selector,
    /// What OpMemoryBarrier orders where only some invocations come is left out.
    Orders,
    /// A function is given the inputs that it reads in another order.
    Inputs,
    /// A pointer that is saved keeps the target that it had.
    Targets,
    /// A pointer that is saved keeps the indices that it had.
    Indices,
    /// Elements that are counted from a pointer are not.
    Elements,
    /// Storage buffers that are written are declared `read`.
    Read,
    /// A structure without members takes the bytes of one in a buffer.
    Nothing,
}

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planted {
    /// What is wrong, in words.
    pub name: &'static str,
    /// What is done.
    pub change: Change,
}

const fn bug(name: &'static str, change: Change) -> Planted {
    Planted { name, change }
}

/// The mistakes.
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

/// Mistakes that only images, stages and draws show.
pub const DRAWN: &[Planted] = &[
    bug("a discarded fragment is drawn", Change::Text("discard;", "")),
    bug("texels are not written", Change::Opcode(Op::ImageWrite, Op::Nop)),
    bug("the sum of floats that is handed on is their difference", Change::Opcode(Op::FAdd, Op::FSub)),
    bug("a position or colour has its first component twice", Change::Text(".y", ".x")),
];

/// What is planted, if anything.
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

    /// The operands of an instruction, of which two may be to change places.
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

    /// Whether lines are written otherwise.
    pub(super) fn changes_lines(&self) -> bool {
        matches!(self.0, Some(Change::Text(..)))
    }

    /// A line as it is written.
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

    /// Whether clauses change places.
    pub(super) fn swaps_clauses(&self) -> bool {
        self.0 == Some(Change::Clauses)
    }

    /// Whether cases that fall through are done whatever is selected.
    pub(super) fn forgets_fallthrough_guard(&self) -> bool {
        self.0 == Some(Change::NoGuard)
    }

    /// Whether phis are assigned in turn.
    pub(super) fn copies_in_turn(&self) -> bool {
        self.0 == Some(Change::Sequential)
    }

    /// Whether the phis of a header are assigned though the loop ends.
    pub(super) fn copies_on_every_edge(&self) -> bool {
        self.0 == Some(Change::EveryEdge)
    }

    /// Whether phis are not assigned.
    pub(super) fn forgets_copies(&self) -> bool {
        self.0 == Some(Change::NoCopies)
    }

    /// Whether the condition of a loop is the other way round.
    pub(super) fn negates_latch(&self) -> bool {
        self.0 == Some(Change::Latch)
    }

    /// Whether integers keep the sign of their type.
    pub(super) fn keeps_signs(&self) -> bool {
        self.0 == Some(Change::Signedness)
    }

    /// Whether words are the ones before them.
    pub(super) fn misplaces_words(&self) -> bool {
        self.0 == Some(Change::Words)
    }

    /// Whether strides are left out.
    pub(super) fn forgets_strides(&self) -> bool {
        self.0 == Some(Change::Strides)
    }

    /// Whether it is always the first descriptor.
    pub(super) fn takes_the_first_descriptor(&self) -> bool {
        self.0 == Some(Change::Descriptors)
    }

    /// Whether callers go on behind OpKill.
    pub(super) fn goes_on_behind_kills(&self) -> bool {
        self.0 == Some(Change::Killed)
    }

    /// Whether variables begin at the first component.
    pub(super) fn forgets_components(&self) -> bool {
        self.0 == Some(Change::Components)
    }

    /// Whether selectors stay what they were.
    pub(super) fn keeps_selectors(&self) -> bool {
        self.0 == Some(Change::Selector)
    }

    /// Whether inputs are given in another order.
    pub(super) fn mixes_inputs(&self) -> bool {
        self.0 == Some(Change::Inputs)
    }

    /// Whether saved pointers keep their targets.
    pub(super) fn forgets_targets(&self) -> bool {
        self.0 == Some(Change::Targets)
    }

    /// Whether saved pointers keep their indices.
    pub(super) fn forgets_indices(&self) -> bool {
        self.0 == Some(Change::Indices)
    }

    /// Whether elements are not counted from a pointer.
    pub(super) fn counts_no_elements(&self) -> bool {
        self.0 == Some(Change::Elements)
    }

    /// Whether no storage buffer is taken as written.
    pub(super) fn takes_all_as_read(&self) -> bool {
        self.0 == Some(Change::Read)
    }

    /// Whether structures without members take bytes in buffers.
    pub(super) fn keeps_nothing(&self) -> bool {
        self.0 == Some(Change::Nothing)
    }

    /// Whether memory barriers are left out.
    pub(super) fn forgets_orders(&self) -> bool {
        self.0 == Some(Change::Orders)
    }
}
