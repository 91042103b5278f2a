//! Mistakes in the mapping, planted to see them caught. A mistake is data: what becomes of the
//! instructions of one row. No function of the mapping knows of it.

use super::row::Row;
use rspirv::spirv::{GlslStd450Op as Glsl, Op};

/// What becomes of instructions of a row. Operands are counted after result type and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// This opcode becomes that one.
    Opcode(Op, Op),
    /// This function of GLSL.std.450 becomes that one.
    Glsl(Glsl, Glsl),
    /// Two operands change places.
    Swap(Op, usize, usize),
    /// The result is this operand.
    Forward(Op, usize),
    /// The result of this function of GLSL.std.450 is this one of its arguments.
    ForwardGlsl(Glsl, usize),
    /// A literal operand is so much more.
    Add(Op, usize, u32),
    /// An instruction without result is left out.
    Drop(Op),
}

/// A mistake: its name, the row, and what becomes of the row's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planted {
    /// What is wrong, in words.
    pub name: &'static str,
    /// The row.
    pub row: Row,
    /// What becomes of its instructions.
    pub change: Change,
}

const fn bug(name: &'static str, row: Row, change: Change) -> Planted {
    Planted { name, row, change }
}

/// The mistakes.
pub const BUGS: &[Planted] = &[
    bug("an index of an array is not clamped", Row::IndexClamp, Change::ForwardGlsl(Glsl::UMin, 0)),
    bug("an index of an array is the bound", Row::IndexClamp, Change::ForwardGlsl(Glsl::UMin, 1)),
    bug("an index of a vector is not clamped", Row::VectorIndex, Change::ForwardGlsl(Glsl::UMin, 0)),
    bug("a column is taken where the index is another", Row::MatrixIndex, Change::Opcode(Op::IEqual, Op::INotEqual)),
    bug("+ subtracts", Row::Arithmetic, Change::Opcode(Op::IAdd, Op::ISub)),
    bug("- of ints adds", Row::Arithmetic, Change::Opcode(Op::ISub, Op::IAdd)),
    bug("- of ints takes its operands the other way round", Row::Arithmetic, Change::Swap(Op::ISub, 0, 1)),
    bug("* of ints adds", Row::Arithmetic, Change::Opcode(Op::IMul, Op::IAdd)),
    bug("+ of floats subtracts", Row::Arithmetic, Change::Opcode(Op::FAdd, Op::FSub)),
    bug("- of floats takes its operands the other way round", Row::Arithmetic, Change::Swap(Op::FSub, 0, 1)),
    bug("* of floats adds", Row::Arithmetic, Change::Opcode(Op::FMul, Op::FAdd)),
    bug("/ of floats multiplies", Row::Arithmetic, Change::Opcode(Op::FDiv, Op::FMul)),
    bug("/ of ints is that of uints", Row::Arithmetic, Change::Opcode(Op::SDiv, Op::UDiv)),
    bug("/ of uints is that of ints", Row::Arithmetic, Change::Opcode(Op::UDiv, Op::SDiv)),
    bug("% of uints divides", Row::Arithmetic, Change::Opcode(Op::UMod, Op::UDiv)),
    bug("a divisor is not guarded", Row::DivideGuard, Change::Forward(Op::Select, 2)),
    bug("every divisor is 1", Row::DivideGuard, Change::Forward(Op::Select, 1)),
    bug("% adds what it must subtract", Row::Remainder, Change::Opcode(Op::ISub, Op::IAdd)),
    bug("% divides without sign", Row::Remainder, Change::Opcode(Op::SDiv, Op::UDiv)),
    bug("& is |", Row::Bitwise, Change::Opcode(Op::BitwiseAnd, Op::BitwiseOr)),
    bug("| is ^", Row::Bitwise, Change::Opcode(Op::BitwiseOr, Op::BitwiseXor)),
    bug("^ is |", Row::Bitwise, Change::Opcode(Op::BitwiseXor, Op::BitwiseOr)),
    bug("<< goes to the right", Row::Bitwise, Change::Opcode(Op::ShiftLeftLogical, Op::ShiftRightLogical)),
    bug(">> of ints fills with zeros", Row::Bitwise, Change::Opcode(Op::ShiftRightArithmetic, Op::ShiftRightLogical)),
    bug(">> of uints fills with the sign", Row::Bitwise, Change::Opcode(Op::ShiftRightLogical, Op::ShiftRightArithmetic)),
    bug("the amount of a shift is not taken modulo 32", Row::ShiftAmount, Change::Forward(Op::BitwiseAnd, 0)),
    bug("< of uints is that of ints", Row::Comparison, Change::Opcode(Op::ULessThan, Op::SLessThan)),
    bug("< of ints is that of uints", Row::Comparison, Change::Opcode(Op::SLessThan, Op::ULessThan)),
    bug("<= of uints is <", Row::Comparison, Change::Opcode(Op::ULessThanEqual, Op::ULessThan)),
    bug("> of uints is >=", Row::Comparison, Change::Opcode(Op::UGreaterThan, Op::UGreaterThanEqual)),
    bug(">= of ints is >", Row::Comparison, Change::Opcode(Op::SGreaterThanEqual, Op::SGreaterThan)),
    bug("== of ints is !=", Row::Comparison, Change::Opcode(Op::IEqual, Op::INotEqual)),
    bug("!= of ints is ==", Row::Comparison, Change::Opcode(Op::INotEqual, Op::IEqual)),
    bug("< of floats is <=", Row::Comparison, Change::Opcode(Op::FOrdLessThan, Op::FOrdLessThanEqual)),
    bug("> of floats is true of NaN", Row::Comparison, Change::Opcode(Op::FOrdGreaterThan, Op::FUnordGreaterThan)),
    bug("!= of floats is false of NaN", Row::Comparison, Change::Opcode(Op::FUnordNotEqual, Op::FOrdNotEqual)),
    bug("== of floats is true of NaN", Row::Comparison, Change::Opcode(Op::FOrdEqual, Op::FUnordEqual)),
    bug("&& and || evaluate the right side where it does not decide", Row::Logic, Change::Swap(Op::BranchConditional, 1, 2)),
    bug("?: takes the other side", Row::Conditional, Change::Swap(Op::BranchConditional, 1, 2)),
    bug("! is nothing", Row::Unary, Change::Forward(Op::LogicalNot, 0)),
    bug("~ is nothing", Row::Unary, Change::Forward(Op::Not, 0)),
    bug("- of ints is ~", Row::Unary, Change::Opcode(Op::SNegate, Op::Not)),
    bug("- of floats is nothing", Row::Unary, Change::Forward(Op::FNegate, 0)),
    bug("an int becomes a float without its sign", Row::Cast, Change::Opcode(Op::ConvertSToF, Op::ConvertUToF)),
    bug("a uint becomes a float with a sign", Row::Cast, Change::Opcode(Op::ConvertUToF, Op::ConvertSToF)),
    bug("the cast to float keeps the bits", Row::Cast, Change::Opcode(Op::ConvertUToF, Op::Bitcast)),
    bug("true is cast to 0", Row::Cast, Change::Swap(Op::Select, 1, 2)),
    bug("0 is cast to true", Row::Cast, Change::Opcode(Op::INotEqual, Op::IEqual)),
    bug("a float out of range is converted", Row::CastGuard, Change::Forward(Op::Select, 1)),
    bug("a number that is no element stays", Row::EnumValid, Change::Forward(Op::Select, 2)),
    bug("locals keep what they held", Row::LocalDefault, Change::Drop(Op::Store)),
    bug("initialisers are not stored", Row::LocalInitial, Change::Drop(Op::Store)),
    bug("assignments are not stored", Row::Store, Change::Drop(Op::Store)),
    bug("arguments are not stored", Row::Call, Change::Drop(Op::Store)),
    bug("threadgroup variables begin with nothing", Row::ThreadgroupZero, Change::Drop(Op::Store)),
    bug("the group does not wait for its default values", Row::ThreadgroupZero, Change::Drop(Op::ControlBarrier)),
    bug("threadgroup variables are set by the other invocations", Row::ThreadgroupZero, Change::Opcode(Op::IEqual, Op::INotEqual)),
    bug("barriers are left out", Row::Barrier, Change::Drop(Op::ControlBarrier)),
    bug("InterlockedAdd is InterlockedOr", Row::Atomic, Change::Opcode(Op::AtomicIAdd, Op::AtomicOr)),
    bug("InterlockedAnd is InterlockedOr", Row::Atomic, Change::Opcode(Op::AtomicAnd, Op::AtomicOr)),
    bug("InterlockedXor is InterlockedOr", Row::Atomic, Change::Opcode(Op::AtomicXor, Op::AtomicOr)),
    bug("InterlockedMin of ints is that of uints", Row::Atomic, Change::Opcode(Op::AtomicSMin, Op::AtomicUMin)),
    bug("InterlockedMax of uints is that of ints", Row::Atomic, Change::Opcode(Op::AtomicUMax, Op::AtomicSMax)),
    bug("InterlockedExchange adds", Row::Atomic, Change::Opcode(Op::AtomicExchange, Op::AtomicIAdd)),
    bug("the old value of an atomic is not stored", Row::Atomic, Change::Drop(Op::Store)),
    bug("InterlockedCompareExchange compares with the new value", Row::Atomic, Change::Swap(Op::AtomicCompareExchange, 4, 5)),
    bug("min of ints is max", Row::Extreme, Change::Glsl(Glsl::SMin, Glsl::SMax)),
    bug("max of uints is that of ints", Row::Extreme, Change::Glsl(Glsl::UMax, Glsl::SMax)),
    bug("firstbithigh counts from the other end", Row::Bits, Change::Glsl(Glsl::FindUMsb, Glsl::FindILsb)),
    bug("firstbitlow counts from the other end", Row::Bits, Change::Glsl(Glsl::FindILsb, Glsl::FindUMsb)),
    bug("countbits reverses", Row::Bits, Change::Opcode(Op::BitCount, Op::BitReverse)),
    bug("floor is ceil", Row::FloatFunction, Change::Glsl(Glsl::Floor, Glsl::Ceil)),
    bug("trunc is floor", Row::FloatFunction, Change::Glsl(Glsl::Trunc, Glsl::Floor)),
    bug("frac is floor", Row::FloatFunction, Change::Glsl(Glsl::Fract, Glsl::Floor)),
    bug("the root of a negative number is taken", Row::FloatGuard, Change::Forward(Op::Select, 2)),
    bug("if takes the other branch", Row::If, Change::Swap(Op::BranchConditional, 1, 2)),
    bug("loops go on while the condition is false", Row::Loop, Change::Swap(Op::BranchConditional, 1, 2)),
    bug("what is in a buffer is 4 bytes further", Row::BufferLayout, Change::Add(Op::MemberDecorate, 3, 4)),
    bug("GroupID is the thread's place in its group", Row::BuiltIn, Change::Add(Op::Decorate, 2, 1)),
    bug("a letter is the next one", Row::Swizzle, Change::Add(Op::CompositeExtract, 1, 1)),
    bug("the next letter is assigned to", Row::SwizzleSet, Change::Add(Op::CompositeInsert, 2, 1)),
    bug("fallthrough from inside an if ends the switch", Row::Fallthrough, Change::Drop(Op::Store)),
    bug("abs of ints negates what is positive", Row::Magnitude, Change::Swap(Op::Select, 1, 2)),
    bug("all is any", Row::AllAny, Change::Opcode(Op::All, Op::Any)),
    bug("any is all", Row::AllAny, Change::Opcode(Op::Any, Op::All)),
    bug("step has its sides the other way round", Row::FloatFormula, Change::Opcode(Op::FOrdGreaterThanEqual, Op::FOrdLessThan)),
    bug("isnan is isinf", Row::FloatTest, Change::Opcode(Op::IsNan, Op::IsInf)),
    bug("sincos stores the cosine as the sine", Row::StoredResult, Change::Glsl(Glsl::Sin, Glsl::Cos)),
    bug("false is stored in a buffer as 1", Row::BufferBool, Change::Swap(Op::Select, 1, 2)),
    bug("a bool in a buffer is true where it is 0", Row::BufferBool, Change::Opcode(Op::INotEqual, Op::IEqual)),
    bug("the last index of a buffer is its length", Row::IndexClamp, Change::Forward(Op::ISub, 0)),
    bug("a layout has strides of 4 bytes more", Row::BufferLayout, Change::Add(Op::Decorate, 2, 4)),
    bug("bindings are one more", Row::BufferBinding, Change::Add(Op::Decorate, 2, 1)),
    bug("two members of what is loaded of a buffer change places", Row::BufferLoad, Change::Swap(Op::CompositeConstruct, 0, 1)),
    bug("two members of what is stored in a buffer change places", Row::BufferStore, Change::Swap(Op::CompositeConstruct, 0, 1)),
    bug("a constructor's first two arguments change places", Row::Construct, Change::Swap(Op::CompositeConstruct, 0, 1)),
    bug("an element that has no address is not changed", Row::ValueIndex, Change::Drop(Op::Store)),
    bug("the first case and the default change places", Row::Switch, Change::Swap(Op::Switch, 1, 3)),
    bug("the first two arguments of a call change places", Row::Call, Change::Swap(Op::FunctionCall, 1, 2)),
    bug("asfloat converts", Row::Reinterpret, Change::Opcode(Op::Bitcast, Op::ConvertUToF)),
    bug("log10 is of the natural logarithm", Row::Approximate, Change::Glsl(Glsl::Log2, Glsl::Log)),
    bug("mul takes the transposed matrix", Row::Product, Change::Swap(Op::CompositeExtract, 1, 2)),
    bug("transpose gives its argument", Row::Transpose, Change::Swap(Op::CompositeExtract, 1, 2)),
    bug("faceforward, refract and lit take the other side", Row::Geometry, Change::Swap(Op::Select, 1, 2)),
    bug("the coordinates of a sample of one dimension change places", Row::Sample, Change::Swap(Op::CompositeConstruct, 0, 1)),
    bug("offsets have their axes the other way round", Row::TexelOffset, Change::Swap(Op::ConstantComposite, 0, 1)),
    bug("the axes of an offset that is not known overlap", Row::TexelOffset, Change::Forward(Op::ShiftLeftLogical, 0)),
    bug("a comparison is a level's", Row::SampleCompare, Change::Swap(Op::ImageSampleDrefExplicitLod, 2, 4)),
    bug("the first component is the second", Row::TexelComponents, Change::Add(Op::CompositeExtract, 1, 1)),
    bug("the coordinates of a load are not clamped", Row::TexelClamp, Change::ForwardGlsl(Glsl::UMin, 0)),
    bug("a load is of the last texel", Row::TexelClamp, Change::ForwardGlsl(Glsl::UMin, 1)),
    bug("an offset of a load is subtracted", Row::TexelClamp, Change::Opcode(Op::IAdd, Op::ISub)),
    bug("stores are left out", Row::TexelStore, Change::Drop(Op::ImageWrite)),
    bug("stores are where no texel is", Row::TexelStore, Change::Swap(Op::BranchConditional, 1, 2)),
    bug("a store has its coordinates the other way round", Row::TexelStore, Change::Swap(Op::CompositeConstruct, 0, 1)),
    bug("a NaN is stored as it is", Row::TexelConvert, Change::Forward(Op::Select, 2)),
    bug("an integer is stored that the format does not hold", Row::TexelConvert, Change::ForwardGlsl(Glsl::SClamp, 0)),
    bug("the sides of a level that is not there are those of the first", Row::Dimensions, Change::Forward(Op::Select, 1)),
    bug("the sides are not stored", Row::Dimensions, Change::Drop(Op::Store)),
    bug("a field of a value is the next one", Row::Field, Change::Add(Op::CompositeExtract, 1, 1)),
];
