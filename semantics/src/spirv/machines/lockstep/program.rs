//! A compiled entry point: registers, codes, blocks in structural order, and memory.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::concurrency::{Scope, Semantics};
use crate::number::{Instruction, integer};
use crate::spirv::grammar::Op as Core;
use crate::spirv::module::Module;
use crate::spirv::operation::{Calculator, Operation, Scalar as Component, Shape, Signature};

/// Stands for the absence of a register.
pub const NONE: u32 = u32::MAX;

/// The place of one scalar of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A column: a number of at most 32 bits, zero-extended.
    Word(u32),
    /// Two columns, for the low and the high word of a 64-bit number.
    Wide(u32, u32),
    /// A set, for a Boolean.
    Truth(u32),
}

/// The slots of a value's scalars.
pub type Slots = SmallVec<[Slot; 4]>;

/// The operation of a code on columns d, a, b, c, or on sets if the comment says so.
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
    // d := a in the lanes of set c, and b in the others. SelectSet does it for sets.
    Select, SelectSet,
    // d := a, with the undefined lanes, for columns and for sets. Bitcast is the same
    // for OpBitcast.
    Copy, CopySet, Bitcast,
    // d := a + b·c, for addresses. c is a number; a may be none.
    Index,
    // Undefined behaviour in lanes where a is not less than the number c, or than the length of the
    // run's array c. b is the fault.
    Bound, BoundRuntime,
    // d := the 64-bit index with low word a and high word c. If it does not fit in 32 bits:
    // the greatest 32-bit number. If b is a fault, undefined behaviour where the index is out
    // of its bounds.
    BoundWide,
    // Undefined behaviour in lanes where pointer c of `Program::follows` points to nothing.
    Follow,
    // d := a + b, which must be the index of an element for advance c of `Program::advances`.
    Advance,
    // d := the length of the run's array c, or the greatest number if buffers are robust.
    Elements,
    // For pair c of `Program::pairs`: set d := whether the pointers are equal, or d := their
    // distance in elements.
    PtrSame, PtrApart,
    // Set d := the lanes in which byte a + the number c, the end of an access, is within the
    // buffer. Only used if buffers are robust.
    Reach,
    // Undefined behaviour in lanes where a + the number c, in a buffer, is not a multiple of
    // the number b.
    Align,
    // Undefined behaviour in lanes where the places of copy c of the program overlap in part.
    Overlap,
    // Narrow leaves only the lanes active where a is the number c. Widen restores the active lanes.
    Narrow, Widen,
    // d := memory at a + the number c; a may be none. The name says which memory, and whether d is
    // a set. For buffers, b is none or the set of lanes whose access is within the buffer.
    LoadLocal, LoadLocalSet, LoadShared, LoadSharedSet, LoadBuffer, LoadBuffer16, LoadBuffer8,
    // Memory at a + the number c := d.
    StoreLocal, StoreLocalSet, StoreShared, StoreSharedSet, StoreBuffer, StoreBuffer16, StoreBuffer8,
    // In the active lanes become undefined: b words of local memory from the number c on;
    // column d; set d.
    ForgetLocal, Forget, ForgetSets,
    // d becomes undefined in every active lane, or in the active lanes of set a if there is one.
    // UndefineSet does it for a set. The origin is the code's instruction, with number b as the
    // kind of undefined value.
    Undefine, UndefineSet,
    // d := the length of the run's array c.
    Length,
    // Atomic c of `Program::atomics`; fence c of `Program::fences`.
    Atomic, Fence,
    // The site with number `at` of `Program::sites`, lane by lane.
    Compute,
    // d := the difference of a in each quad. Bit 0 of c selects the direction: along a row, or
    // along a column if set. Bit 1 selects the lane's own row or column; otherwise it is the first
    // one. b is none. The result is undefined in a quad with an inactive lane.
    Derivative,
    // Demote makes the active lanes helpers. Set d := the helpers.
    Demote, IsHelper,
    // Image instruction c of `Program::images`.
    Image,
    // Group instruction c of `Program::groups`, in each subgroup, or in each quad of a
    // fragment stage.
    Group,
}

/// One step of a block.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// The operation.
    pub op: Op,
    /// Whether inactive lanes must keep their value in d.
    pub masked: bool,
    /// The number of the buffer, for accesses to buffers.
    pub buffer: u8,
    /// The register that is written, or stored to memory.
    pub d: u32,
    /// The first operand: a column, a set or a number, as the comment on the operation says. `NONE`
    /// if there is none.
    pub a: u32,
    /// The second operand, in the same way.
    pub b: u32,
    /// The third operand, in the same way. It is often an index of a table of the program.
    pub c: u32,
    /// The index of the instruction in the module. For a computing code it is the number of the
    /// site that repeats it lane by lane.
    pub at: u32,
}

/// A computing instruction, or one component of it, in the form that runs lane by lane.
#[derive(Clone, Debug)]
pub struct ComputeSite {
    /// The index of the instruction in the module.
    pub instruction: u32,
    /// The operation.
    pub operation: Operation,
    /// The operands, as shapes and slots.
    pub args: SmallVec<[(Shape, Slots); 3]>,
    /// The shapes of the result.
    pub results: SmallVec<[Shape; 2]>,
    /// The slots of the result.
    pub to: Slots,
    /// Whether the instruction is decorated NoSignedWrap.
    pub no_signed_wrap: bool,
    /// Whether the instruction is decorated NoUnsignedWrap.
    pub no_unsigned_wrap: bool,
}

impl ComputeSite {
    /// Whether it computes one component from the bits of its operands: from scalars, or from the
    /// components of a vector by OpAny or OpAll.
    pub(super) fn is_single(&self) -> bool {
        let of_scalars = || self.operation.is_componentwise() && self.args.iter().all(|(_, slots)| slots.len() == 1);
        self.to.len() == 1 && (self.operation.signature == Signature::Reduction || of_scalars())
    }

    /// Whether the result may wrap for operands with these bits, although a decoration
    /// excludes that.
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

/// The exclusive upper bound of an index.
#[derive(Clone, Copy, Debug)]
pub enum Count {
    /// A constant.
    Fixed(u64),
    /// The length of the run's array with that number.
    Array(u32),
}

/// The bound of an access chain's index, for the check and its report.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The id of the index.
    pub id: u32,
    /// The exclusive upper bound.
    pub count: Count,
}

/// The columns of a pointer that is chosen at run time: the address of element 0 of its array,
/// the index of its element, the number of elements (0 for the null pointer), and the number
/// of its buffer.
pub type DynamicPointer = [u32; 4];

/// A check that a pointer points to something.
#[derive(Clone, Copy, Debug)]
pub struct Follow {
    /// The columns of the pointer.
    pub pointer: DynamicPointer,
    /// The id of the pointer.
    pub id: u32,
    /// Whether the check also fails for one past the end of an array.
    pub past_too: bool,
}

/// An OpPtrAccessChain.
#[derive(Clone, Copy, Debug)]
pub struct Advance {
    /// The column of the array's number of elements.
    pub count: u32,
    /// The id of the Element operand.
    pub id: u32,
    /// Whether the result may be one past the end.
    pub past: bool,
}

/// The operands of OpPtrEqual, OpPtrNotEqual or OpPtrDiff.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The columns of both pointers, in the order of the operands.
    pub pointers: [DynamicPointer; 2],
    /// The distance between elements, in bytes, or in words without layout.
    pub stride: u32,
    /// Whether the pointers point to Workgroup memory without layout.
    pub is_shared: bool,
    /// Whether the instruction is OpPtrNotEqual.
    pub negates: bool,
    /// The width of the result of OpPtrDiff.
    pub width: u32,
}

/// One end of an OpCopyMemory.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The memory.
    pub space: Space,
    /// The column of the address, or `NONE`.
    pub address: u32,
    /// The number that is added to the address.
    pub offset: u32,
}

/// An OpCopyMemory between places that may overlap.
#[derive(Clone, Debug)]
pub struct Copied {
    /// The target and the source.
    pub ends: [Place; 2],
    /// The scalars of each, relative to its address: the first word or byte, and the
    /// number of these.
    pub cells: [Vec<(u32, u32)>; 2],
}

/// The memory of an atomic or of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Each lane's own memory, for variables that are not in registers.
    Local,
    /// Workgroup memory.
    Shared,
    /// A buffer.
    Buffer(u8),
}

/// An atomic on an integer of 32 or 64 bits. 64 bits have columns for high words.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// The instruction.
    pub op: crate::spirv::grammar::Op,
    /// The memory.
    pub space: Space,
    /// The column of the address, or `NONE`.
    pub address: u32,
    /// The number that is added to the address.
    pub offset: u32,
    /// The width in bits.
    pub width: u8,
    /// The operand's columns, low and high, or `NONE`. For OpAtomicCompareExchange: the new value.
    pub value: [u32; 2],
    /// The comparator's columns, low and high, or `NONE`.
    pub comparator: [u32; 2],
    /// The column of the result's high word, or `NONE`.
    pub high: u32,
    /// The memory scope.
    pub scope: Scope,
    /// The semantics. For OpAtomicCompareExchange: those of an exchange.
    pub semantics: Semantics,
    /// For OpAtomicCompareExchange: the semantics if it compares unequal.
    pub unequal: Semantics,
}

/// An image instruction, which runs lane by lane.
#[derive(Clone, Debug)]
pub struct ImageAccess {
    /// The instruction.
    pub op: crate::spirv::grammar::Op,
    /// The variable that names the image, as an index of `Program::opaque`.
    pub image: u32,
    /// The variable that names the sampler, as an index of `Program::opaque`, or `NONE`.
    pub sampler: u32,
    /// The operands that select texels, with their ids. The first is the coordinate, without unused
    /// components. The image operands follow.
    pub choosing: SmallVec<[(u32, Slots); 3]>,
    /// By [`Choice`]: the index of the image operand in `choosing`, or 0 if it is absent.
    pub places: [u8; 6],
    /// Whether an integer coordinate is signed, and whether a level is.
    pub signed: [bool; 2],
    /// The depth reference, the texel to write, or the level of a query.
    pub value: Slots,
    /// The component to gather.
    pub component: u8,
    /// The slots of the result.
    pub results: Slots,
}

/// A group instruction.
#[derive(Clone, Debug)]
pub struct Group {
    /// The instruction.
    pub op: crate::spirv::grammar::Op,
    /// The index of the instruction in the module.
    pub instruction: u32,
    /// The value to vote on, combine or pass to other lanes.
    pub value: Slots,
    /// The operand that selects a lane, a distance or a direction, if there is one.
    pub selector: Slots,
    /// The shape of the value.
    pub shape: Shape,
    /// The operation that combines two votes or values.
    pub combine: Option<Operation>,
    /// The identity element of that operation.
    pub identity: u64,
    /// The group operation: over which lanes values are combined, or bits are counted.
    pub operation: Option<rspirv::spirv::GroupOperation>,
    /// The number of lanes of a cluster, if values are combined in clusters.
    pub cluster: Option<u32>,
    /// The id of the operand that must be the same in all lanes which execute the instruction
    /// together, if there is one. It is the value or the selecting operand.
    pub uniform_operand: Option<u32>,
    /// The slots of the result.
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
    /// The slots of both operands of Grad.
    pub fn gradients(&self) -> Option<[&Slots; 2]> {
        let at = usize::from(self.places[Choice::Grad as usize]);
        let slots = |at: usize| self.choosing.get(at).map(|(_, slots)| slots);
        if at == 0 { None } else { Some([slots(at)?, slots(at + 1)?]) }
    }

    /// The slots of an image operand.
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
    /// The target.
    pub to: Slot,
    /// The source.
    pub from: Slot,
}

/// An edge from a block to another, with the copies of the OpPhi there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Edge {
    /// The target block.
    pub target: u32,
    /// The first copy.
    pub first: u32,
    /// One past the last copy.
    pub end: u32,
    /// Whether a copy writes what a later one reads.
    pub overlaps: bool,
}

/// The end of a block.
#[derive(Clone, Debug)]
pub enum End {
    /// OpBranch.
    Branch(Edge),
    /// OpBranchConditional on a set.
    Conditional {
        /// The set.
        condition: u32,
        /// The edge of the lanes in the set.
        taken: Edge,
        /// The edge of the other lanes.
        otherwise: Edge,
    },
    /// OpSwitch.
    Switch {
        /// The selector.
        selector: Slot,
        /// The literals, ascending, with their edges.
        cases: Vec<(u64, Edge)>,
        /// The edge for all other values.
        default: Edge,
    },
    /// OpFunctionCall. The copies of the edge are the arguments.
    Call {
        /// The edge to the function's first block.
        edge: Edge,
        /// The column for the block that the function returns to.
        link: u32,
        /// The block after the call.
        then: u32,
    },
    /// OpReturn or OpReturnValue. The copies are the result.
    Return {
        /// The column with the block to return to. `NONE` in the entry point.
        link: u32,
        /// The copies. The target has no meaning.
        edge: Edge,
    },
    /// OpControlBarrier, then a block.
    Barrier {
        /// The block after the barrier.
        then: u32,
        /// Whether it orders Workgroup memory, as a release and an acquire of the workgroup.
        orders_shared: bool,
        /// Whether it orders buffers in the same way.
        orders_buffers: bool,
        /// Whether it orders images in the same way.
        orders_images: bool,
        /// The memory scope, for the full detector.
        scope: Scope,
        /// The semantics, for the full detector.
        semantics: Semantics,
    },
    /// OpControlBarrier of the scope Subgroup, then a block.
    SubgroupBarrier {
        /// The block after the barrier.
        then: u32,
        /// The memory scope.
        scope: Scope,
        /// The semantics.
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
    /// The number of the module's instructions in it.
    pub count: u32,
    /// The number of rules that the relation applies for these. OpLine counts. All OpPhi of a block
    /// count as one rule.
    pub rules: u32,
    /// The index of the last instruction.
    pub at: u32,
    /// The end of the block.
    pub ends: End,
}

/// A buffer variable.
#[derive(Clone, Copy, Debug)]
pub struct BufferVariable {
    /// Its id.
    pub id: u32,
    /// Descriptor set and binding; `None` for push constants.
    pub descriptor: Option<(u32, u32)>,
    /// The size in bytes of the fixed part of its layout.
    pub needed: u64,
    /// Whether the module may write it.
    pub writable: bool,
    /// Whether it is decorated Aliased.
    pub aliased: bool,
    /// Whether it is a storage buffer. Then its contents are observed.
    pub is_storage: bool,
}

/// A runtime array within a buffer.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeArray {
    /// The number of the buffer.
    pub buffer: u8,
    /// The offset of the array in bytes.
    pub offset: u64,
    /// The distance between elements in bytes.
    pub stride: u32,
}

/// A variable in Workgroup memory.
#[derive(Clone, Debug)]
pub struct SharedVariable {
    /// The first word.
    pub first: u32,
    /// By word: the index of its scalar. `None` if every scalar is one word.
    pub scalars: Option<Vec<u32>>,
}

/// The columns that distinguish the dynamic instances of a block's instructions.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The columns that count the iterations of the loops around the block.
    pub counts: Vec<u32>,
    /// The column with the block that its function returns to. `NONE` in the entry point.
    pub link: u32,
}

/// The built-in input that a column holds, with its component.
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
    /// SubgroupEqMask and similar masks, by component.
    Lanes(Mask, u8),
}

impl Input {
    /// Whether the input depends on how invocations form subgroups.
    pub(super) fn is_of_subgroups(self) -> bool {
        matches!(self, Input::SubgroupSize | Input::Subgroups | Input::Subgroup | Input::Lane | Input::Lanes(..))
    }
}

/// A mask of the lanes of a subgroup, by the comparison of their numbers with an invocation's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
}

/// The place of a scalar of an interface variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A column.
    Word(u32),
    /// A set.
    Truth(u32),
    /// A word of local memory.
    Local(u32),
}

/// An Input or Output variable of a stage of a draw.
#[derive(Clone, Debug)]
pub struct InterfaceVariable {
    /// Its id.
    pub id: u32,
    /// The places of its scalars, in order.
    pub cells: Vec<Cell>,
    /// The types of its scalars, in the same order.
    pub types: Vec<Component>,
    /// By scalar: whether the program uses it. A load alone, or a copy that is not read,
    /// does not count.
    pub read: Vec<bool>,
}

/// A compiled entry point: of compute, or of a stage of a draw as a part of a [`FragmentProgram`]
/// or [`VertexProgram`].
#[derive(Clone, Debug)]
pub struct Program {
    /// The module, for reports.
    pub(super) module: Arc<Module>,
    /// The size of a workgroup. In a stage of a draw: the size of a quad.
    pub(super) size: [u32; 3],
    pub(super) entry: u32,
    pub(super) blocks: Vec<Block>,
    pub(super) codes: Vec<Code>,
    pub(super) moves: Vec<Move>,
    pub(super) sites: Vec<ComputeSite>,
    pub(super) faults: Vec<Fault>,
    pub(super) atomics: Vec<Atomic>,
    pub(super) images: Vec<ImageAccess>,
    pub(super) groups: Vec<Group>,
    /// The ids of the variables that name images and samplers.
    pub(super) opaque: Vec<u32>,
    /// The numbers of columns and of sets, and the numbers of words of local and of shared memory.
    pub(super) columns: u32,
    pub(super) sets: u32,
    pub(super) local: u32,
    pub(super) shared: u32,
    /// The initial values of columns and sets, constants included.
    pub(super) constants: Vec<(Slot, u64)>,
    /// Slots that are undefined before the run, each with the index of its OpUndef. `u32::MAX`
    /// stands for a variable without an initializer.
    pub(super) undefined: Vec<(Slot, u32)>,
    pub(super) inputs: Vec<(u32, Input)>,
    /// The inputs and outputs of a stage of a draw.
    pub(super) interface: Vec<InterfaceVariable>,
    /// Initialized words of local memory: the word and its bits.
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
    /// Whether Workgroup memory has an explicit layout. Then all variables begin at its first word.
    pub(super) laid_out: bool,
    /// By block: the columns of its dynamic instances. The blocks are those that end with a
    /// barrier, and those that a call returns to, if the callee may reach a barrier.
    pub(super) instances: FxHashMap<u32, Instance>,
    /// The number of bytes for which the race shadow has a record: 4, or fewer if an access to a
    /// buffer is narrower.
    pub(super) granule: u32,
    /// Whether workgroups must run in order.
    pub(super) in_order: bool,
    /// Whether atomics, fences or subgroup barriers acquire or release. Then happens-before depends
    /// on more than workgroup barriers.
    pub(super) synchronises: bool,
    /// Whether a compute stage depends on how invocations form subgroups.
    pub(super) subgroups: bool,
    /// The rules that sites compute with.
    pub(super) calculator: Calculator,
}

/// The parts of a program that a test may plant a bug in.
pub struct Parts<'p> {
    /// The codes of all blocks.
    pub codes: &'p mut [Code],
    /// The blocks.
    pub blocks: &'p mut [Block],
    /// The copies of edges, in order.
    pub moves: &'p mut [Move],
    /// The instructions that are computed lane by lane.
    pub sites: &'p mut [ComputeSite],
    /// The atomics.
    pub atomics: &'p mut [Atomic],
    /// The OpPtrAccessChain.
    pub advances: &'p mut [Advance],
    /// The comparisons of pointers.
    pub pairs: &'p mut [Pair],
    /// The image instructions.
    pub images: &'p mut [ImageAccess],
    /// The group instructions.
    pub groups: &'p mut [Group],
    /// The inputs and outputs of a stage of a draw.
    pub interface: &'p mut [InterfaceVariable],
    /// The rules that sites compute with.
    pub calculator: &'p mut Calculator,
}

/// A compiled fragment entry point. 16 quads run side by side.
#[derive(Clone, Debug)]
pub struct FragmentProgram {
    pub(super) program: Program,
    /// The entry point's function.
    pub(super) function: u32,
}

/// A compiled vertex entry point. 64 vertices run side by side, one in each lane.
#[derive(Clone, Debug)]
pub struct VertexProgram(pub(super) FragmentProgram);

impl Code {
    /// Turns the code into one that does nothing.
    pub fn drop_it(&mut self) {
        (self.op, self.b, self.c) = (Op::ForgetLocal, 0, 0);
    }
}
