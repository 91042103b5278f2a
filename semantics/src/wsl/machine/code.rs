//! The code that a program is compiled to: linear, over words of one flat memory a thread.
//!
//! There is no recursion and every store identifier is static (ERRATA WSL-C18), so that every
//! variable, parameter, result, constant and intermediate value of every function has its own words
//! in a thread's memory. An operand is where its first word is (a [`Slot`]), whatever it holds. A
//! pointer is two words: the object that it points into and the word there; an array reference is
//! those, its length and a zero. Objects are numbered by the constants below.

use crate::text::Span;
use crate::wsl::layout::Layout;
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::types::{TypeId, Types};
use rustc_hash::FxHashMap;

/// Where in a thread's memory an operand's first word is.
pub(super) type Slot = u32;

/// The object that the thread's own memory is.
pub(super) const OWN: u32 = 0;
/// The object that the threadgroup's memory is.
pub(super) const GROUP: u32 = 1;
/// The first buffer's object; the others follow.
pub(super) const BUFFERS: u32 = 2;

/// What an atomic operation makes of the old value and the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modify {
    Add,
    And,
    Or,
    Xor,
    MinInt,
    MinUint,
    MaxInt,
    MaxUint,
    Exchange,
}

/// An operation on one word and one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    DivInt,
    DivUint,
    RemInt,
    RemUint,
    And,
    Or,
    Xor,
    AndBool,
    OrBool,
    XorBool,
    ShiftLeft,
    ShiftRightInt,
    ShiftRightUint,
    MinInt,
    MinUint,
    MaxInt,
    MaxUint,
    AddFloat,
    SubFloat,
    MulFloat,
    DivFloat,
    StepFloat,
    MinFloat,
    MaxFloat,
    Test(Test),
}

/// A comparison of two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Equal,
    NotEqual,
    LessInt,
    LessEqualInt,
    LessUint,
    LessEqualUint,
    EqualFloat,
    NotEqualFloat,
    LessFloat,
    LessEqualFloat,
    NotLessFloat,
    NotLessEqualFloat,
    EqualBool,
    NotEqualBool,
}

impl Test {
    /// What holds if and only if this does not, of the same operands; true if
    /// the operands change places.
    pub(super) fn negated(self) -> (Test, bool) {
        match self {
            Test::Equal => (Test::NotEqual, false),
            Test::NotEqual => (Test::Equal, false),
            Test::LessInt => (Test::LessEqualInt, true),
            Test::LessEqualInt => (Test::LessInt, true),
            Test::LessUint => (Test::LessEqualUint, true),
            Test::LessEqualUint => (Test::LessUint, true),
            Test::EqualFloat => (Test::NotEqualFloat, false),
            Test::NotEqualFloat => (Test::EqualFloat, false),
            Test::LessFloat => (Test::NotLessFloat, false),
            Test::LessEqualFloat => (Test::NotLessEqualFloat, false),
            Test::NotLessFloat => (Test::LessFloat, false),
            Test::NotLessEqualFloat => (Test::LessEqualFloat, false),
            Test::EqualBool => (Test::NotEqualBool, false),
            Test::NotEqualBool => (Test::EqualBool, false),
        }
    }
}

/// An operation on one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Complement,
    Not,
    Truth,
    TruthFloat,
    IntToFloat,
    UintToFloat,
    FloatToInt,
    FloatToUint,
    NegateFloat,
    AbsFloat,
    AbsInt,
    SignInt,
    SignUint,
    Floor,
    Ceil,
    Trunc,
    Sqrt,
    CountBits,
    ReverseBits,
    IsNan,
    IsInf,
    IsFinite,
}

/// An instruction. `to`, `from` and the like are slots, `n` and `count` numbers of words and of
/// elements, `target` the place of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instruction {
    Move {
        to: Slot,
        from: Slot,
    },
    Copy {
        to: Slot,
        from: Slot,
        n: u32,
    },
    Zero {
        to: Slot,
        n: u32,
    },
    Binary {
        op: Binary,
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Unary {
        op: Unary,
        to: Slot,
        a: Slot,
    },
    Add {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Sub {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Mul {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    And {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    AddFloat {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    SubFloat {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    MulFloat {
        to: Slot,
        a: Slot,
        b: Slot,
    },
    Jump {
        target: u32,
    },
    JumpIf {
        a: Slot,
        target: u32,
    },
    JumpUnless {
        a: Slot,
        target: u32,
    },
    JumpTest {
        test: Test,
        a: Slot,
        b: Slot,
        target: u32,
    },
    JumpLessInt {
        a: Slot,
        b: Slot,
        target: u32,
    },
    JumpLessEqualInt {
        a: Slot,
        b: Slot,
        target: u32,
    },
    JumpLessFloat {
        a: Slot,
        b: Slot,
        target: u32,
    },
    JumpNotLessFloat {
        a: Slot,
        b: Slot,
        target: u32,
    },
    /// Where an iteration of a loop begins.
    Iterate,
    /// As that, of a loop in which threads may wait: its iterations are numbered.
    Number {
        counter: Slot,
    },
    Switch {
        value: Slot,
        table: u32,
    },
    Call {
        target: u32,
    },
    Return,
    Discard,
    Barrier,
    /// Where validation says that nothing comes.
    Unreachable,
    /// `to` = the index, within bounds, times the stride.
    Scale {
        to: Slot,
        index: Slot,
        count: u32,
        stride: u32,
    },
    /// `to` = the array reference's word plus the index, within its length, times the stride.
    Element {
        to: Slot,
        reference: Slot,
        index: Slot,
        stride: u32,
    },
    /// Of the thread's own memory at `base` plus what `offset` holds.
    LoadAt {
        to: Slot,
        base: u32,
        offset: Slot,
    },
    StoreAt {
        base: u32,
        offset: Slot,
        from: Slot,
    },
    LoadElement {
        to: Slot,
        base: u32,
        count: u32,
        index: Slot,
    },
    StoreElement {
        base: u32,
        count: u32,
        index: Slot,
        from: Slot,
    },
    CopyFrom {
        to: Slot,
        base: u32,
        offset: Slot,
        n: u32,
    },
    CopyTo {
        base: u32,
        offset: Slot,
        from: Slot,
        n: u32,
    },
    /// Of the object that `object` holds, at the word that `offset` holds.
    LoadFar {
        to: Slot,
        object: Slot,
        offset: Slot,
        plus: u32,
    },
    StoreFar {
        object: Slot,
        offset: Slot,
        plus: u32,
        from: Slot,
    },
    CopyFromFar {
        to: Slot,
        object: Slot,
        offset: Slot,
        n: u32,
    },
    CopyToFar {
        object: Slot,
        offset: Slot,
        from: Slot,
        n: u32,
    },
    /// The word, if it is a value of the enum; otherwise one that is.
    Sanitize {
        at: Slot,
        enumeration: u32,
    },
    /// Which element of a vector or column of a matrix the index names: `count` if none.
    Lane {
        to: Slot,
        index: Slot,
        count: u32,
    },
    /// That part of `from`, or zeros if it is none; of so many parts of so many words.
    PickLane {
        to: Slot,
        from: Slot,
        lane: Slot,
        shape: Shape,
    },
    /// Changes that part, unless it is none.
    SetLane {
        into: Slot,
        lane: Slot,
        from: Slot,
        shape: Shape,
    },
    Atomic {
        modify: Modify,
        to: Slot,
        pointer: Slot,
        value: Slot,
    },
    /// Stores the second of the two words at `values` if the first is found.
    CompareExchange {
        to: Slot,
        pointer: Slot,
        values: Slot,
    },
    /// A built-in function that has no code of its own.
    Library {
        call: u32,
    },
    /// A function of textures.
    Texture {
        call: u32,
    },
    /// Waits for the quad: once it goes on, the operands of its threads are in their places.
    Quad {
        meeting: u32,
    },
    /// A derivative by those operands.
    Derivative {
        meeting: u32,
        to: Slot,
    },
}

/// How many parts, and how many words each has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub count: u8,
    pub words: u8,
}

impl Instruction {
    /// The place that it may jump to.
    pub(super) fn target_mut(&mut self) -> Option<&mut u32> {
        match self {
            Instruction::Jump { target }
            | Instruction::JumpIf { target, .. }
            | Instruction::JumpUnless { target, .. }
            | Instruction::JumpTest { target, .. }
            | Instruction::JumpLessInt { target, .. }
            | Instruction::JumpLessEqualInt { target, .. }
            | Instruction::JumpLessFloat { target, .. }
            | Instruction::JumpNotLessFloat { target, .. } => Some(target),
            _ => None,
        }
    }
}

/// The cases of a switch, by value.
#[derive(Clone, Debug, Default)]
pub(super) struct Cases {
    pub values: Vec<(u32, u32)>,
    pub otherwise: u32,
}

/// The values of an enum.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    /// In the order of its elements.
    pub listed: Vec<u32>,
    pub sorted: Vec<u32>,
}

impl Values {
    pub(super) fn new(listed: Vec<u32>) -> Values {
        let mut sorted = listed.clone();
        sorted.sort_unstable();
        Values { listed, sorted }
    }

    /// Whether it is the value of an element.
    pub(super) fn has(&self, bits: u32) -> bool {
        self.listed.get(bits as usize) == Some(&bits) || self.sorted.binary_search(&bits).is_ok()
    }
}

/// A loop in which threads may wait: where the iteration's number is, and the loop around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    pub counter: Slot,
    pub outer: Option<u32>,
    /// Where the loop stands in the program.
    pub place: Span,
}

/// A value or place of a function: its first word, and how many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub at: Slot,
    pub n: u32,
}

/// A parameter of the function that was compiled.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub at: Words,
    /// What in it names something from outside, each by its first word in the parameter.
    pub references: Vec<(u32, Reference)>,
}

/// What names something from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// An array reference to elements of so many words.
    Elements(u32),
    /// A texture or sampler.
    Opaque,
}

impl Reference {
    /// How many words it takes.
    pub(super) fn words(self) -> usize {
        match self {
            Reference::Elements(_) => 4,
            Reference::Opaque => 2,
        }
    }
}

/// A compiled program.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub instructions: Vec<Instruction>,
    /// Where each instruction stands in the program.
    pub spans: Vec<Span>,
    /// How many expressions are evaluated by each.
    pub nodes: Vec<u32>,
    /// What the words of a thread's memory that are not zero hold at the start.
    pub image: Vec<(Slot, u32)>,
    /// How many words a thread's memory has.
    pub words: u32,
    /// How many words the threadgroup's memory has.
    pub group: u32,
    pub cases: Vec<Cases>,
    pub enums: Vec<Values>,
    pub calls: Vec<LibraryCall>,
    pub textures: Vec<TextureCall>,
    pub meetings: Vec<Meeting>,
    /// The types, if there are such calls.
    pub types: Types,
    /// Loops in which threads may wait.
    pub loops: Vec<Loop>,
    /// The innermost loop around a call or a barrier, by instruction.
    pub around: FxHashMap<u32, u32>,
    pub entry: u32,
    pub parameters: Vec<Parameter>,
    pub result: Words,
}

/// A call of a built-in function that has no code of its own.
#[derive(Clone, Debug)]
pub(super) struct LibraryCall {
    pub function: LibraryFunction,
    pub parameters: Vec<TypeId>,
    /// The arguments; of pointers nothing is looked at.
    pub arguments: Vec<Words>,
    pub ty: TypeId,
    pub result: Words,
    /// What is stored through each pointer.
    pub stored: Vec<Words>,
}

/// A call of a function of textures.
#[derive(Clone, Debug)]
pub(super) struct TextureCall {
    pub meaning: Meaning,
    /// Where the texture's number is.
    pub texture: Slot,
    /// How many components the type of its texels has.
    pub components: usize,
    /// Where the sampler's number is, if one is given.
    pub sampler: Option<Slot>,
    /// The other arguments; of pointers nothing is looked at.
    pub arguments: Vec<(TypeId, Words)>,
    pub ty: TypeId,
    pub result: Words,
    /// What is stored through each pointer, with what it points to.
    pub stored: Vec<(TypeId, Words)>,
    /// The meeting before it, if it needs the quad.
    pub meeting: Option<u32>,
}

/// An operation over a quad.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub meaning: Meaning,
    /// What this thread hands on.
    pub operand: Words,
    /// Where what the four threads hand on is put, one after the other.
    pub gathered: Slot,
    /// Where what is chosen for the quad is put: two words at most.
    pub chosen: Slot,
}

impl Meeting {
    /// The operands of the quad, in the order of lanes.
    pub(super) fn operands<'a>(&self, words: &'a [u32]) -> [&'a [u32]; 4] {
        [0, 1, 2, 3].map(|lane: usize| {
            let (n, at) = (self.operand.n as usize, self.gathered as usize);
            &words[at + lane * n..at + (lane + 1) * n]
        })
    }
}

/// How many words a layout has; none if they are too many for a thread.
pub(super) fn words(layout: Layout) -> Option<u32> {
    u32::try_from(layout.size / 4).ok()
}
