//! A compiled entry point: registers, codes, blocks in structural order, memory.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::concurrency::{Scope, Semantics};
use crate::number::{Instruction, integer};
use crate::spirv::grammar::Op as Core;
use crate::spirv::module::Module;
use crate::spirv::operation::{Calculator, Operation, Scalar as Component, Shape, Signature};

/// No register.
pub const NONE: u32 = u32::MAX;

/// Where one scalar of a value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A column: a number of up to 32 bits, zero-extended.
    Word(u32),
    /// Two columns, the low and the high word: a number of 64 bits.
    Wide(u32, u32),
    /// A set: a Boolean.
    Truth(u32),
}

/// The scalars of a value.
pub type Slots = SmallVec<[Slot; 4]>;

/// What a code does with columns d, a, b, c, or with sets where it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the comment above each group says what its names do")]
#[rustfmt::skip]
pub enum Op {
    // d := a ∘ b, or d := ∘ a, 32-bit integers.
    Add, Sub, Mul, And, Or, Xor, Not, Negate, ShiftLeft, ShiftRight, ShiftRightSigned,
    DivideUnsigned, ModUnsigned, DivideSigned, ModSigned, MinUnsigned, MaxUnsigned, MinSigned, MaxSigned,
    // d := a ∘ b, 32-bit floats.
    AddFloat, SubFloat, MulFloat, DivideFloat, NegateFloat, AbsFloat, MinFloat, MaxFloat,
    FloatOfSigned, FloatOfUnsigned, SignedOfFloat, UnsignedOfFloat,
    // Set d := a ∘ b.
    Equal, NotEqual, LessUnsigned, LessEqualUnsigned, LessSigned, LessEqualSigned,
    EqualFloat, NotEqualFloat, LessFloat, LessEqualFloat,
    UnorderedEqualFloat, UnorderedNotEqualFloat, UnorderedLessFloat, UnorderedLessEqualFloat,
    // Set d := set a ∘ set b.
    AndSet, OrSet, EqualSet, NotEqualSet, NotSet,
    // d := a where set c, else b; the same of sets.
    Select, SelectSet,
    // d := a, with its undefined lanes; the same of sets, and of what OpBitcast gives.
    Copy, CopySet, Bitcast,
    // d := a + b·c words, as addresses are computed; c is a number, a may be none.
    Index,
    // Undefined behaviour where a is not below the number c, or not below the length of array c of
    // the run; b is the fault.
    Bound, BoundRuntime,
    // d := a narrowed to 32 bits, the most that these hold where it is more; c is its high word.
    // Undefined behaviour by fault b, if there is one.
    BoundWide,
    // Undefined behaviour where pointer c of `Program::follows` is to nothing.
    Follow,
    // d := a + b, an element that must be among those of advance c of `Program::advances`.
    Advance,
    // d := how many elements array c of the run has, the greatest number where buffers are robust.
    Elements,
    // Set d := whether pair c of `Program::pairs` is one pointer; d := how many elements apart it
    // is.
    PtrSame, PtrApart,
    // Set d := where the access that ends at byte a + the number c of the buffer is within it. Only
    // of use where buffers are robust.
    Reach,
    // Undefined behaviour where a + the number c is no multiple of b, of a buffer.
    Align,
    // Undefined behaviour where copy c of the program is between places that overlap in part.
    Overlap,
    // Only the active lanes go on where a is the number c, until Widen: then those before Narrow.
    Narrow, Widen,
    // d := memory at a + the number c; a may be none. The name says the memory and what d is. Of
    // buffers, b is none or the set of what reaches.
    LoadLocal, LoadLocalSet, LoadShared, LoadSharedSet, LoadBuffer, LoadBuffer16, LoadBuffer8,
    // memory at a + the number c := d.
    StoreLocal, StoreLocalSet, StoreShared, StoreSharedSet, StoreBuffer, StoreBuffer16, StoreBuffer8,
    // Local memory from the number c on, b scalars, becomes undefined; registers d… d+b become
    // undefined; sets d… d+b too.
    ForgetLocal, Forget, ForgetSets,
    // d becomes undefined in every active lane, or in those of set a if there is one; the same of a
    // set. The origin is code's instruction with the kind of fault b.
    Undefine, UndefineSet,
    // The length of array c of the run.
    Length,
    // An atomic of `Program::atomics`; a fence of `Program::fences`, c.
    Atomic, Fence,
    // An operation of `Program::sites`, lane by lane.
    Compute,
    // d := the difference of a in each quad, b none and c saying which: of rows or, with bit 0, of
    // columns; of each lane's own with bit 1, or of the first one's. Undefined in a quad of which a
    // lane is not active.
    Derivative,
    // The active lanes become helpers; set d := the helpers.
    Demote, IsHelper,
    // The image instruction c of `Program::images`.
    Image,
    // The group instruction c of `Program::groups`, in each subgroup, or in each quad of fragments.
    Group,
}

/// One step of a block.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// What is done.
    pub op: Op,
    /// Whether lanes that are not active must keep what d has.
    pub masked: bool,
    /// The buffer, of accesses to buffers.
    pub buffer: u8,
    /// What is written, or stored.
    pub d: u32,
    /// An operand.
    pub a: u32,
    /// An operand.
    pub b: u32,
    /// An operand.
    pub c: u32,
    /// The index of the instruction, or for computing codes of the site that repeats
    /// it lane by lane.
    pub at: u32,
}

/// A computing instruction, or one component of it, for running lane by lane.
#[derive(Clone, Debug)]
pub struct Site {
    /// The index of the instruction.
    pub instruction: u32,
    /// What is computed.
    pub operation: Operation,
    /// The operands.
    pub args: SmallVec<[(Shape, Slots); 3]>,
    /// The shapes of the result.
    pub results: SmallVec<[Shape; 2]>,
    /// Where the result goes.
    pub to: Slots,
    /// Decorated NoSignedWrap.
    pub no_signed_wrap: bool,
    /// Decorated NoUnsignedWrap.
    pub no_unsigned_wrap: bool,
}

impl Site {
    /// Whether it computes one component of the bits of its operands: of scalars, or by OpAny and
    /// OpAll of a vector's components.
    pub(super) fn is_single(&self) -> bool {
        let of_scalars = || self.operation.is_componentwise() && self.args.iter().all(|(_, slots)| slots.len() == 1);
        self.to.len() == 1 && (self.operation.signature == Signature::Reduction || of_scalars())
    }

    /// Whether the result may wrap, of operands with these bits, although a decoration says that it
    /// does not.
    pub(super) fn may_wrap(&self, bits: &[u64]) -> bool {
        if !self.no_signed_wrap && !self.no_unsigned_wrap {
            return false;
        }
        let (Instruction::Core(opcode), &[a, ref rest @ ..], true) = (self.operation.instruction, bits, self.is_single()) else {
            return true;
        };
        let (b, width) = (rest.first().copied().unwrap_or(0), self.args[0].0.scalar.width());
        let wraps = |op, is_signed| integer::wraps(op, width, is_signed, a, b);
        Core::from_u32(opcode.into()).is_none_or(|op| self.no_signed_wrap && wraps(op, true) || self.no_unsigned_wrap && wraps(op, false))
    }
}

/// What an index must be below.
#[derive(Clone, Copy, Debug)]
pub enum Count {
    /// This number.
    Fixed(u64),
    /// The length of that array of the run.
    Array(u32),
}

/// An index that an access chain must have in bounds.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The id of the index.
    pub id: u32,
    /// What it must be below.
    pub count: Count,
}

/// The columns of a pointer that is chosen at run time: where element 0 of its array is, the number
/// of its element, how many there are, none of the null pointer; and the number of its buffer.
pub type Chosen = [u32; 4];

/// A pointer that must be to something.
#[derive(Clone, Copy, Debug)]
pub struct Follow {
    /// Its columns.
    pub pointer: Chosen,
    /// Its id.
    pub id: u32,
    /// Whether one past the end of an array is nothing.
    pub past_too: bool,
}

/// An OpPtrAccessChain.
#[derive(Clone, Copy, Debug)]
pub struct Advance {
    /// The column of how many elements the array has.
    pub count: u32,
    /// The id of the element.
    pub id: u32,
    /// Whether it may go to one past the end.
    pub past: bool,
}

/// The operands of OpPtrEqual, OpPtrNotEqual or OpPtrDiff.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The columns of the two pointers, in the order of the operands.
    pub pointers: [Chosen; 2],
    /// From one element to the next.
    pub stride: u32,
    /// Whether memory has no layout.
    pub is_shared: bool,
    /// Whether OpPtrNotEqual asks.
    pub negates: bool,
    /// The width of what OpPtrDiff gives.
    pub width: u32,
}

/// One end of an OpCopyMemory.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The memory.
    pub space: Space,
    /// The column of its address, or `NONE`.
    pub address: u32,
    /// What is added to the address.
    pub offset: u32,
}

/// An OpCopyMemory between places that may overlap.
#[derive(Clone, Debug)]
pub struct Copied {
    /// Where to, and where from.
    pub ends: [Place; 2],
    /// The scalars of each, from its address on: first word or byte, and how many.
    pub cells: [Vec<(u32, u32)>; 2],
}

/// Which memory an atomic works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Memory of each lane: registers' overflow, so to say.
    Local,
    /// Workgroup memory.
    Shared,
    /// A buffer.
    Buffer(u8),
}

/// An atomic on an integer of 32 bits, or of 64: then with columns of high words.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// The instruction.
    pub op: crate::spirv::grammar::Op,
    /// The memory.
    pub space: Space,
    /// The column of its address, or `NONE`.
    pub address: u32,
    /// What is added to the address.
    pub offset: u32,
    /// How many bits it has.
    pub width: u8,
    /// The operand's columns, low and high, or `NONE`; of OpAtomicCompareExchange the new value's.
    pub value: [u32; 2],
    /// The comparator's, likewise.
    pub comparator: [u32; 2],
    /// The column of the result's high word, or `NONE`.
    pub high: u32,
    /// Its scope.
    pub scope: Scope,
    /// Its semantics; of OpAtomicCompareExchange, those where it exchanges.
    pub semantics: Semantics,
    /// Of OpAtomicCompareExchange, those where it does not.
    pub unequal: Semantics,
}

/// An image instruction, which runs lane by lane.
#[derive(Clone, Debug)]
pub struct ImageAccess {
    /// The instruction.
    pub op: crate::spirv::grammar::Op,
    /// The variable that names the image, among the program's opaque ones.
    pub image: u32,
    /// The variable that names the sampler, likewise, or `NONE`.
    pub sampler: u32,
    /// The operands that choose texels, by id: the coordinate, as far as it counts, then the image
    /// operands.
    pub choosing: SmallVec<[(u32, Slots); 3]>,
    /// Which of these each image operand is, as [`Choice`] numbers them; 0 where there is none.
    pub places: [u8; 6],
    /// Whether the integers of the coordinate are signed, and those of a level.
    pub signed: [bool; 2],
    /// The depth reference, the texel that is written, or the level of a query.
    pub value: Slots,
    /// The component that is gathered.
    pub component: u8,
    /// Where the result goes.
    pub results: Slots,
}

/// A group instruction.
#[derive(Clone, Debug)]
pub struct Group {
    /// The instruction.
    pub op: crate::spirv::grammar::Op,
    /// The index of the instruction.
    pub instruction: u32,
    /// What is voted on, combined or handed on.
    pub value: Slots,
    /// The lane, distance or direction that is named, if one is.
    pub chosen: Slots,
    /// The shape of the value.
    pub shape: Shape,
    /// How two votes or values are joined.
    pub joins: Option<Operation>,
    /// What joining with changes nothing.
    pub identity: u64,
    /// Over which lanes values are combined, or bits counted, if they are.
    pub over: Option<rspirv::spirv::GroupOperation>,
    /// How many lanes a cluster has, if values are combined in clusters.
    pub cluster: Option<u32>,
    /// The operand that must be the same in all lanes that execute it together, if one must: the
    /// value or what is chosen, by its id.
    pub same: Option<u32>,
    /// Where the result goes.
    pub to: Slots,
}

/// An image operand (SPIR-V §3.2.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are named as SPIR-V names them")]
pub enum Choice {
    Bias,
    Lod,
    Grad,
    ConstOffset,
    Offset,
    ConstOffsets,
}

impl ImageAccess {
    /// The scalars of both ids of Grad.
    pub fn gradients(&self) -> Option<[&Slots; 2]> {
        let at = usize::from(self.places[Choice::Grad as usize]);
        let slots = |at: usize| self.choosing.get(at).map(|(_, slots)| slots);
        if at == 0 { None } else { Some([slots(at)?, slots(at + 1)?]) }
    }

    /// The scalars of an image operand.
    pub fn choice(&self, of: Choice) -> Option<&Slots> {
        match self.places[of as usize] {
            0 => None,
            at => self.choosing.get(usize::from(at)).map(|(_, slots)| slots),
        }
    }
}

/// A copy of one scalar.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// Where to.
    pub to: Slot,
    /// Where from.
    pub from: Slot,
}

/// A way from a block to another, with the copies that the OpPhi there are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Edge {
    /// The block.
    pub target: u32,
    /// The first copy.
    pub first: u32,
    /// One past the last copy.
    pub end: u32,
    /// Whether a copy writes what a later one reads.
    pub overlaps: bool,
}

/// How a block ends.
#[derive(Clone, Debug)]
pub enum End {
    /// OpBranch.
    Branch(Edge),
    /// OpBranchConditional on a set.
    Conditional {
        /// The set.
        condition: u32,
        /// Where its lanes go.
        taken: Edge,
        /// Where the others go.
        otherwise: Edge,
    },
    /// OpSwitch.
    Switch {
        /// The selector.
        selector: Slot,
        /// Literals, ascending, and edges.
        cases: Vec<(u64, Edge)>,
        /// For every other value.
        default: Edge,
    },
    /// OpFunctionCall: the copies of the edge are the arguments.
    Call {
        /// To the function's first block.
        edge: Edge,
        /// The column that holds where the function returns to.
        link: u32,
        /// The block that goes on.
        then: u32,
    },
    /// OpReturn or OpReturnValue: the copies are the result.
    Return {
        /// The column that holds the block that goes on; `NONE` in the entry point.
        link: u32,
        /// The copies; the target means nothing.
        edge: Edge,
    },
    /// OpControlBarrier, then a block.
    Barrier {
        /// The block that goes on.
        then: u32,
        /// Whether Workgroup memory is ordered by it.
        orders_shared: bool,
        /// Whether buffers are.
        orders_buffers: bool,
        /// Whether images are.
        orders_images: bool,
        /// The same in full.
        scope: Scope,
        /// The same in full.
        semantics: Semantics,
    },
    /// OpControlBarrier of the scope Subgroup, then a block.
    SubgroupBarrier {
        /// The block that goes on.
        then: u32,
        /// The scope of what it orders.
        scope: Scope,
        /// What it orders.
        semantics: Semantics,
    },
    /// OpKill or OpTerminateInvocation.
    Discard,
    /// OpUnreachable.
    Unreachable,
}

/// A block, or a part of one.
#[derive(Clone, Debug)]
pub struct Block {
    /// The first code.
    pub first: u32,
    /// One past the last.
    pub end: u32,
    /// The instructions of the module that it stands for.
    pub count: u32,
    /// The rules that the relation applies for them: lines count, the OpPhi of a block are one.
    pub rules: u32,
    /// The index of the instruction that ends it.
    pub at: u32,
    /// How it ends.
    pub ends: End,
}

/// A buffer variable.
#[derive(Clone, Copy, Debug)]
pub struct BufferVariable {
    /// Its id.
    pub id: u32,
    /// Descriptor set and binding; `None` for push constants.
    pub descriptor: Option<(u32, u32)>,
    /// The bytes of the fixed part of its layout.
    pub needed: u64,
    /// Whether the module may write it.
    pub writable: bool,
    /// Whether it is decorated Aliased.
    pub aliased: bool,
    /// Whether it is a storage buffer, so that its contents are observed.
    pub is_storage: bool,
}

/// A runtime array within a buffer.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeArray {
    /// The buffer.
    pub buffer: u8,
    /// Where it begins.
    pub offset: u64,
    /// Bytes from one element to the next.
    pub stride: u32,
}

/// A variable in Workgroup memory.
#[derive(Clone, Debug)]
pub struct SharedVariable {
    /// Its first word.
    pub first: u32,
    /// By word, the number of its scalar; none where every scalar is one word.
    pub scalars: Option<Vec<u32>>,
}

/// What tells the dynamic instances of a block's instructions apart.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The columns that count how often the loops around the block have come back.
    pub counts: Vec<u32>,
    /// The column that holds where its function returns to; `NONE` in the entry point.
    pub link: u32,
}

/// A register that holds an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// WorkgroupId.
    Workgroup(u8),
    /// LocalInvocationId.
    Local(u8),
    /// GlobalInvocationId.
    Global(u8),
    /// NumWorkgroups.
    Groups(u8),
    /// LocalInvocationIndex.
    LocalIndex,
    /// WorkgroupSize.
    Size(u8),
    /// SubgroupSize.
    SubgroupSize,
    /// NumSubgroups.
    Subgroups,
    /// SubgroupId.
    Subgroup,
    /// SubgroupLocalInvocationId.
    Lane,
    /// SubgroupEqMask and its like, component by component.
    Lanes(Mask, u8),
}

impl Input {
    /// Whether it depends on which invocations are a subgroup.
    pub(super) fn is_of_subgroups(self) -> bool {
        matches!(self, Input::SubgroupSize | Input::Subgroups | Input::Subgroup | Input::Lane | Input::Lanes(..))
    }
}

/// Lanes of a subgroup by how their numbers compare with an invocation's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
}

/// Where a scalar of an interface variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A column.
    Word(u32),
    /// A set.
    Truth(u32),
    /// A word of local memory.
    Local(u32),
}

/// An Input or Output variable of a fragment stage.
#[derive(Clone, Debug)]
pub struct InterfaceVariable {
    /// Its id.
    pub id: u32,
    /// Its scalars in order.
    pub cells: Vec<Cell>,
    /// The types of its scalars, in the same order.
    pub types: Vec<Component>,
    /// By scalar: whether anything is made of it. A load alone, or a copy that nothing reads, makes
    /// nothing of it.
    pub read: Vec<bool>,
}

/// A compiled entry point: of compute, or within a [`FragmentProgram`] or [`VertexProgram`] of a
/// stage of a draw.
#[derive(Clone, Debug)]
pub struct Program {
    /// The module, for reports.
    pub(super) module: Arc<Module>,
    /// Of a workgroup; of a fragment stage, that of a quad.
    pub(super) size: [u32; 3],
    pub(super) entry: u32,
    pub(super) blocks: Vec<Block>,
    pub(super) codes: Vec<Code>,
    pub(super) moves: Vec<Move>,
    pub(super) sites: Vec<Site>,
    pub(super) faults: Vec<Fault>,
    pub(super) atomics: Vec<Atomic>,
    pub(super) images: Vec<ImageAccess>,
    pub(super) groups: Vec<Group>,
    /// The ids of the variables of images and samplers.
    pub(super) opaque: Vec<u32>,
    /// Columns, sets, scalars of local and of shared memory.
    pub(super) columns: u32,
    pub(super) sets: u32,
    pub(super) local: u32,
    pub(super) shared: u32,
    /// Constants and what each column or set holds before the run.
    pub(super) constants: Vec<(Slot, u64)>,
    /// Constants that are undefined, with the OpUndef.
    pub(super) undefined: Vec<(Slot, u32)>,
    pub(super) inputs: Vec<(u32, Input)>,
    /// The inputs and outputs of a fragment stage.
    pub(super) interface: Vec<InterfaceVariable>,
    /// Private variables with initializers in local memory: scalar and bits.
    pub(super) initial_local: Vec<(u32, u32)>,
    pub(super) initial_shared: Vec<(u32, u32)>,
    pub(super) buffers: Vec<BufferVariable>,
    pub(super) arrays: Vec<RuntimeArray>,
    pub(super) fences: Vec<(Scope, Semantics)>,
    pub(super) copies: Vec<Copied>,
    pub(super) follows: Vec<Follow>,
    pub(super) advances: Vec<Advance>,
    pub(super) pairs: Vec<Pair>,
    pub(super) shared_variables: Vec<SharedVariable>,
    /// Whether Workgroup memory has an explicit layout: all variables begin at its first word.
    pub(super) laid_out: bool,
    /// By block that ends with a barrier, or that a call returns to and from which a
    /// barrier may be reached.
    pub(super) instances: FxHashMap<u32, Instance>,
    /// The bytes that a record of the race shadow stands for: 4, or fewer where buffers are
    /// accessed by less.
    pub(super) granule: u32,
    /// Whether workgroups must run in order.
    pub(super) in_order: bool,
    /// Whether atomics, fences or barriers of subgroups acquire or release, so that happens-before
    /// is more than barriers of workgroups.
    pub(super) synchronises: bool,
    /// Whether a compute stage depends on which invocations are a subgroup.
    pub(super) subgroups: bool,
    /// What sites compute with.
    pub(super) calculator: Calculator,
}

/// The parts of a program that a bug may be planted in.
pub struct Parts<'p> {
    /// The codes of all blocks.
    pub codes: &'p mut [Code],
    /// The blocks.
    pub blocks: &'p mut [Block],
    /// The copies of edges, in order.
    pub moves: &'p mut [Move],
    /// What is computed lane by lane.
    pub sites: &'p mut [Site],
    /// The atomics.
    pub atomics: &'p mut [Atomic],
    /// The OpPtrAccessChain.
    pub advances: &'p mut [Advance],
    /// What compares pointers.
    pub pairs: &'p mut [Pair],
    /// The image instructions.
    pub images: &'p mut [ImageAccess],
    /// The group instructions.
    pub groups: &'p mut [Group],
    /// The inputs and outputs of a fragment stage.
    pub interface: &'p mut [InterfaceVariable],
    /// What sites compute with.
    pub calculator: &'p mut Calculator,
}

/// A compiled fragment entry point: 16 quads run side by side.
#[derive(Clone, Debug)]
pub struct FragmentProgram {
    pub(super) program: Program,
    /// The entry point's function.
    pub(super) function: u32,
}

/// A compiled vertex entry point: 64 vertices run side by side, each a lane.
#[derive(Clone, Debug)]
pub struct VertexProgram(pub(super) FragmentProgram);

impl Code {
    /// Makes it a code that does nothing.
    pub fn drop_it(&mut self) {
        (self.op, self.b, self.c) = (Op::ForgetLocal, 0, 0);
    }
}
