//! The code that a program is compiled to: linear, over the words of one flat memory per thread.
//!
//! There is no recursion and every store identifier is static (ERRATA WSL-C18). So every variable,
//! parameter, result, constant and intermediate value of every function has its own words in a
//! thread's memory. An operand is given by the index of its first word (a [`Slot`]), whatever its
//! type. A pointer is two words: the object that it points into, and the word index in that
//! object. An array reference is these two words, its length and a zero. The constants below
//! number the objects.

use crate::text::Span;
use crate::wsl::layout::Layout;
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::types::{TypeId, Types};
use rustc_hash::FxHashMap;

/// The index of an operand's first word in a thread's memory.
pub(super) type Slot = u32;

/// The object of the thread's own memory.
pub(super) const OWN: u32 = 0;
/// The object of the threadgroup's memory.
pub(super) const GROUP: u32 = 1;
/// The object of the first buffer. The other buffers follow.
pub(super) const BUFFERS: u32 = 2;

/// How an atomic operation computes the new value from the old value and the operand.
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

/// An operation on two words.
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
    /// The test that holds exactly when this one does not. The flag is true if its operands
    /// are swapped.
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

/// An instruction. `to`, `from` and similar fields are slots. `n` counts words, `count` counts
/// elements, and `target` is the index of an instruction.
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
    /// The start of an iteration of a loop.
    Iterate,
    /// The start of an iteration of a loop in which threads may wait. The iterations are numbered.
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
    /// A place that no valid program reaches.
    Unreachable,
    /// `to` = the index times the stride. An index out of bounds becomes an unspecified one
    /// within bounds.
    Scale {
        to: Slot,
        index: Slot,
        count: u32,
        stride: u32,
    },
    /// `to` = the array reference's word plus the index times the stride. An index that is not
    /// below the length becomes an unspecified one within bounds.
    Element {
        to: Slot,
        reference: Slot,
        index: Slot,
        stride: u32,
    },
    /// Loads from the thread's own memory, at `base` plus the contents of `offset`.
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
    /// Loads from the object whose number `object` holds, `plus` words after the contents
    /// of `offset`.
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
    /// Replaces the word with an unspecified value of the enum, unless it is a value of the enum.
    Sanitize {
        at: Slot,
        enumeration: u32,
    },
    /// `to` = the number of a vector's element or of a matrix's column. An index out of bounds
    /// becomes any of them, or `count` for none.
    Lane {
        to: Slot,
        index: Slot,
        count: u32,
    },
    /// `to` = the part of `from` that `lane` selects, or zeros if it selects none. `shape` is the
    /// number and the size of the parts.
    PickLane {
        to: Slot,
        from: Slot,
        lane: Slot,
        shape: Shape,
    },
    /// Replaces the part of `into` that `lane` selects, unless it selects none.
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
    /// Stores the second of the two words at `values` if memory holds the first.
    CompareExchange {
        to: Slot,
        pointer: Slot,
        values: Slot,
    },
    /// A built-in function that has no instructions of its own.
    Library {
        call: u32,
    },
    /// A function of textures.
    Texture {
        call: u32,
    },
    /// Waits for the quad. Once it goes on, the operands of its threads are in the slots of
    /// the meeting.
    Quad {
        meeting: u32,
    },
    /// A derivative of these operands.
    Derivative {
        meeting: u32,
        to: Slot,
    },
}

/// The number of parts of a value, and the number of words of each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub count: u8,
    pub words: u8,
}

impl Instruction {
    /// The instruction that it may jump to.
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

/// The cases of a switch: the values with their targets, in ascending order.
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

/// A loop in which threads may wait: the slot of its iteration number, and the loop around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loop {
    pub counter: Slot,
    pub outer: Option<u32>,
    /// The place of the loop in the program.
    pub place: Span,
}

/// The words of a value or of a variable: the first slot, and their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub at: Slot,
    pub n: u32,
}

/// A parameter of the compiled function.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub at: Words,
    /// The references to outside objects in it, each with the index of its first word in
    /// the parameter.
    pub references: Vec<(u32, Reference)>,
}

/// A reference to an outside object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// An array reference, with the size of an element in words.
    Elements(u32),
    /// A texture or sampler.
    Opaque,
}

impl Reference {
    /// Its size in words.
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
    /// The place of each instruction in the program.
    pub spans: Vec<Span>,
    /// The number of expressions that each instruction evaluates.
    pub nodes: Vec<u32>,
    /// The initial contents of a thread's memory, where they are not zero.
    pub image: Vec<(Slot, u32)>,
    /// The size of a thread's memory in words.
    pub words: u32,
    /// The size of the threadgroup's memory in words.
    pub group: u32,
    pub cases: Vec<Cases>,
    pub enums: Vec<Values>,
    pub calls: Vec<LibraryCall>,
    pub textures: Vec<TextureCall>,
    pub meetings: Vec<Meeting>,
    /// The types, if there are library or texture calls.
    pub types: Types,
    /// The loops in which threads may wait.
    pub loops: Vec<Loop>,
    /// By call or barrier instruction, the innermost loop around it.
    pub innermost_loop: FxHashMap<u32, u32>,
    pub entry: u32,
    pub parameters: Vec<Parameter>,
    pub result: Words,
}

/// A call of a built-in function that has no instructions of its own.
#[derive(Clone, Debug)]
pub(super) struct LibraryCall {
    pub function: LibraryFunction,
    pub parameters: Vec<TypeId>,
    /// The arguments. Pointers among them are not read.
    pub arguments: Vec<Words>,
    pub ty: TypeId,
    pub result: Words,
    /// The words to store through each pointer.
    pub stored: Vec<Words>,
}

/// A call of a function of textures.
#[derive(Clone, Debug)]
pub(super) struct TextureCall {
    pub meaning: Meaning,
    /// The slot of the texture's number.
    pub texture: Slot,
    /// The number of components of its texels' type.
    pub components: usize,
    /// The slot of the sampler's number, if there is a sampler.
    pub sampler: Option<Slot>,
    /// The other arguments. Pointers among them are not read.
    pub arguments: Vec<(TypeId, Words)>,
    pub ty: TypeId,
    pub result: Words,
    /// The words to store through each pointer, with the pointee type.
    pub stored: Vec<(TypeId, Words)>,
    /// The meeting before it, if it needs the quad.
    pub meeting: Option<u32>,
}

/// An operation over a quad.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub meaning: Meaning,
    /// The operand of this thread.
    pub operand: Words,
    /// The slot for the operands of the four threads, one after the other.
    pub gathered: Slot,
    /// The slot for the choices of the quad, which are at most two words.
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

/// The size of a layout in words. `None` if it does not fit in a `u32`.
pub(super) fn words(layout: Layout) -> Option<u32> {
    u32::try_from(layout.size / 4).ok()
}
