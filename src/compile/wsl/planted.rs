//! Planted bugs in the mapping, which the tests must catch. A bug is data: a change to the
//! instructions of one rule. The mapping does not look at it, except where the literal rule of seed
//! 003 needs other code ([`Change::Letter`]).

use super::emit::Operands;
use rspirv::spirv::{GlslStd450Op as Glsl, Op};
use smallstep_semantics::rule::Rule;

/// A change to the instructions of a rule. Operands are counted after result type and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The first opcode becomes the second.
    Opcode(Op, Op),
    /// The first function of GLSL.std.450 becomes the second.
    Glsl(Glsl, Glsl),
    /// Two operands of the opcode are swapped.
    Swap(Op, usize, usize),
    /// The result of the opcode is a copy of this operand.
    Forward(Op, usize),
    /// The result of this function of GLSL.std.450 is a copy of this argument.
    ForwardGlsl(Glsl, usize),
    /// The number is added to a literal operand of the opcode.
    Add(Op, usize, u32),
    /// The opcode, which has no result, is left out.
    Drop(Op),
    /// The mapping follows the literal rule of seed 003, or an atomic has no guard for helpers.
    Letter,
}

impl Change {
    /// Applies the change to an instruction of the rule. `None` if it is left out.
    pub(super) fn applied(self, op: Op, operands: &[u32], has_result: bool) -> Option<(Op, Operands)> {
        let (mut op, mut operands) = (op, Operands::from_slice(operands));
        let is = |of: Op| op == of;
        let glsl = |of: Glsl| op == Op::ExtInst && operands.get(1) == Some(&(of as u32));
        match self {
            Change::Opcode(from, to) if is(from) => op = to,
            Change::Glsl(from, to) if glsl(from) => operands[1] = to as u32,
            Change::Swap(of, i, j) if is(of) && operands.len() > i.max(j) => operands.swap(i, j),
            Change::Forward(of, i) if is(of) && operands.len() > i => {
                (op, operands) = (Op::CopyObject, Operands::from_slice(&[operands[i]]));
            }
            Change::ForwardGlsl(of, i) if glsl(of) && operands.len() > i + 2 => {
                (op, operands) = (Op::CopyObject, Operands::from_slice(&[operands[i + 2]]));
            }
            Change::Add(of, i, more) if is(of) && operands.len() > i => operands[i] += more,
            Change::Drop(of) if is(of) && !has_result => return None,
            _ => {}
        }
        Some((op, operands))
    }
}

/// A planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planted {
    /// The bug in words.
    pub name: &'static str,
    /// The rule whose instructions change.
    pub rule: Rule,
    /// The change.
    pub change: Change,
}

const fn bug(name: &'static str, rule: Rule, change: Change) -> Planted {
    Planted { name, rule, change }
}

/// All planted bugs.
pub const BUGS: &[Planted] = &[
    bug("an index of an array is not clamped", Rule::CodegenIndexClamp, Change::ForwardGlsl(Glsl::UMin, 0)),
    bug("an index of an array is the bound", Rule::CodegenIndexClamp, Change::ForwardGlsl(Glsl::UMin, 1)),
    bug("an index of a vector is not clamped", Rule::CodegenVectorIndex, Change::ForwardGlsl(Glsl::UMin, 0)),
    bug("a column is taken where the index is another", Rule::CodegenMatrixIndex, Change::Opcode(Op::IEqual, Op::INotEqual)),
    bug("+ subtracts", Rule::CodegenAddInteger, Change::Opcode(Op::IAdd, Op::ISub)),
    bug("+ of floats subtracts", Rule::CodegenAddFloat, Change::Opcode(Op::FAdd, Op::FSub)),
    bug("- of ints adds", Rule::CodegenSubtractInteger, Change::Opcode(Op::ISub, Op::IAdd)),
    bug("- of ints takes its operands the other way round", Rule::CodegenSubtractInteger, Change::Swap(Op::ISub, 0, 1)),
    bug("- of floats takes its operands the other way round", Rule::CodegenSubtractFloat, Change::Swap(Op::FSub, 0, 1)),
    bug("* of ints adds", Rule::CodegenMultiplyInteger, Change::Opcode(Op::IMul, Op::IAdd)),
    bug("* of floats adds", Rule::CodegenMultiplyFloat, Change::Opcode(Op::FMul, Op::FAdd)),
    bug("/ of floats multiplies", Rule::CodegenDivideFloat, Change::Opcode(Op::FDiv, Op::FMul)),
    bug("/ of ints is that of uints", Rule::CodegenDivideInt, Change::Opcode(Op::SDiv, Op::UDiv)),
    bug("/ of uints is that of ints", Rule::CodegenDivideUint, Change::Opcode(Op::UDiv, Op::SDiv)),
    bug("% of uints divides", Rule::CodegenRemainderUint, Change::Opcode(Op::UMod, Op::UDiv)),
    bug("a divisor is not guarded", Rule::CodegenDivideGuard, Change::Forward(Op::Select, 2)),
    bug("every divisor is 1", Rule::CodegenDivideGuard, Change::Forward(Op::Select, 1)),
    bug("% adds what it must subtract", Rule::CodegenRemainderInt, Change::Opcode(Op::ISub, Op::IAdd)),
    bug("% divides without sign", Rule::CodegenRemainderInt, Change::Opcode(Op::SDiv, Op::UDiv)),
    bug("% of ints is OpSRem", Rule::CodegenRemainderInt, Change::Letter),
    bug("++ subtracts", Rule::CodegenStep, Change::Opcode(Op::IAdd, Op::ISub)),
    bug("& is |", Rule::CodegenBitAnd, Change::Opcode(Op::BitwiseAnd, Op::BitwiseOr)),
    bug("| is ^", Rule::CodegenBitOr, Change::Opcode(Op::BitwiseOr, Op::BitwiseXor)),
    bug("^ is |", Rule::CodegenBitXor, Change::Opcode(Op::BitwiseXor, Op::BitwiseOr)),
    bug("& of bools is |", Rule::CodegenBitBool, Change::Opcode(Op::LogicalAnd, Op::LogicalOr)),
    bug("<< goes to the right", Rule::CodegenShiftLeft, Change::Opcode(Op::ShiftLeftLogical, Op::ShiftRightLogical)),
    bug(">> of ints fills with zeros", Rule::CodegenShiftRightInt, Change::Opcode(Op::ShiftRightArithmetic, Op::ShiftRightLogical)),
    bug(">> of uints fills with the sign", Rule::CodegenShiftRightUint, Change::Opcode(Op::ShiftRightLogical, Op::ShiftRightArithmetic)),
    bug("the amount of a shift is not taken modulo 32", Rule::CodegenShiftAmount, Change::Forward(Op::BitwiseAnd, 0)),
    bug("< of ints is that of uints", Rule::CodegenLessInt, Change::Opcode(Op::SLessThan, Op::ULessThan)),
    bug("< of uints is that of ints", Rule::CodegenLessUint, Change::Opcode(Op::ULessThan, Op::SLessThan)),
    bug("< of floats is <=", Rule::CodegenLessFloat, Change::Opcode(Op::FOrdLessThan, Op::FOrdLessThanEqual)),
    bug("< of floats is true of NaN", Rule::CodegenLessFloat, Change::Opcode(Op::FOrdLessThan, Op::FUnordLessThan)),
    bug("<= of ints is that of uints", Rule::CodegenLessEqualInt, Change::Opcode(Op::SLessThanEqual, Op::ULessThanEqual)),
    bug("<= of uints is that of ints", Rule::CodegenLessEqualUint, Change::Opcode(Op::ULessThanEqual, Op::SLessThanEqual)),
    bug("<= of floats is <", Rule::CodegenLessEqualFloat, Change::Opcode(Op::FOrdLessThanEqual, Op::FOrdLessThan)),
    bug("<= of floats is true of NaN", Rule::CodegenLessEqualFloat, Change::Opcode(Op::FOrdLessThanEqual, Op::FUnordLessThanEqual)),
    bug("> of ints is that of uints", Rule::CodegenGreaterInt, Change::Opcode(Op::SGreaterThan, Op::UGreaterThan)),
    bug("> of uints is that of ints", Rule::CodegenGreaterUint, Change::Opcode(Op::UGreaterThan, Op::SGreaterThan)),
    bug("> of floats is >=", Rule::CodegenGreaterFloat, Change::Opcode(Op::FOrdGreaterThan, Op::FOrdGreaterThanEqual)),
    bug("> of floats is true of NaN", Rule::CodegenGreaterFloat, Change::Opcode(Op::FOrdGreaterThan, Op::FUnordGreaterThan)),
    bug(">= of ints is that of uints", Rule::CodegenGreaterEqualInt, Change::Opcode(Op::SGreaterThanEqual, Op::UGreaterThanEqual)),
    bug(">= of uints is that of ints", Rule::CodegenGreaterEqualUint, Change::Opcode(Op::UGreaterThanEqual, Op::SGreaterThanEqual)),
    bug(">= of floats is >", Rule::CodegenGreaterEqualFloat, Change::Opcode(Op::FOrdGreaterThanEqual, Op::FOrdGreaterThan)),
    bug(
        ">= of floats is true of NaN",
        Rule::CodegenGreaterEqualFloat,
        Change::Opcode(Op::FOrdGreaterThanEqual, Op::FUnordGreaterThanEqual),
    ),
    bug("== of ints is !=", Rule::CodegenEqualInteger, Change::Opcode(Op::IEqual, Op::INotEqual)),
    bug("!= of ints is ==", Rule::CodegenNotEqualInteger, Change::Opcode(Op::INotEqual, Op::IEqual)),
    bug("== of floats is true of NaN", Rule::CodegenEqualFloat, Change::Opcode(Op::FOrdEqual, Op::FUnordEqual)),
    bug("!= of floats is false of NaN", Rule::CodegenNotEqualFloat, Change::Opcode(Op::FUnordNotEqual, Op::FOrdNotEqual)),
    bug("== of bools is !=", Rule::CodegenEqualBool, Change::Opcode(Op::LogicalEqual, Op::LogicalNotEqual)),
    bug("&& evaluates its right side where it does not decide", Rule::CodegenLogicalAnd, Change::Swap(Op::BranchConditional, 1, 2)),
    bug("|| evaluates its right side where it does not decide", Rule::CodegenLogicalOr, Change::Swap(Op::BranchConditional, 1, 2)),
    bug("&& evaluates both sides", Rule::CodegenLogicalAnd, Change::Letter),
    bug("|| evaluates both sides", Rule::CodegenLogicalOr, Change::Letter),
    bug("?: evaluates both sides", Rule::CodegenConditional, Change::Letter),
    bug("?: takes the other side", Rule::CodegenConditional, Change::Swap(Op::BranchConditional, 1, 2)),
    bug("! is nothing", Rule::CodegenLogicalNot, Change::Forward(Op::LogicalNot, 0)),
    bug("~ is nothing", Rule::CodegenComplement, Change::Forward(Op::Not, 0)),
    bug("- of ints is ~", Rule::CodegenNegateInteger, Change::Opcode(Op::SNegate, Op::Not)),
    bug("- of floats is nothing", Rule::CodegenNegateFloat, Change::Forward(Op::FNegate, 0)),
    bug("an int becomes a float without its sign", Rule::CodegenCastIntToFloat, Change::Opcode(Op::ConvertSToF, Op::ConvertUToF)),
    bug("a uint becomes a float with a sign", Rule::CodegenCastUintToFloat, Change::Opcode(Op::ConvertUToF, Op::ConvertSToF)),
    bug("the cast to float keeps the bits", Rule::CodegenCastUintToFloat, Change::Opcode(Op::ConvertUToF, Op::Bitcast)),
    bug("the cast of an int to uint clears its bits", Rule::CodegenCastIntToUint, Change::Opcode(Op::Bitcast, Op::Not)),
    bug("the cast of a uint to int clears its bits", Rule::CodegenCastUintToInt, Change::Opcode(Op::Bitcast, Op::Not)),
    bug("true is cast to 0", Rule::CodegenCastFromBool, Change::Swap(Op::Select, 1, 2)),
    bug("the int 0 is cast to true", Rule::CodegenCastIntToBool, Change::Opcode(Op::INotEqual, Op::IEqual)),
    bug("the uint 0 is cast to true", Rule::CodegenCastUintToBool, Change::Opcode(Op::INotEqual, Op::IEqual)),
    bug("NaN is cast to false", Rule::CodegenCastFloatToBool, Change::Opcode(Op::FUnordNotEqual, Op::FOrdNotEqual)),
    bug("the cast of a float to int is that to uint", Rule::CodegenCastFloatToInt, Change::Opcode(Op::ConvertFToS, Op::ConvertFToU)),
    bug("the cast of a float to uint is that to int", Rule::CodegenCastFloatToUint, Change::Opcode(Op::ConvertFToU, Op::ConvertFToS)),
    bug("a float out of range is converted", Rule::CodegenCastGuard, Change::Forward(Op::Select, 1)),
    bug("a number that is no element stays", Rule::CodegenEnumValid, Change::Forward(Op::Select, 2)),
    bug("locals keep what they held", Rule::CodegenLocalDefault, Change::Drop(Op::Store)),
    bug("initialisers are not stored", Rule::CodegenLocalInitial, Change::Drop(Op::Store)),
    bug("assignments are not stored", Rule::CodegenStore, Change::Drop(Op::Store)),
    bug("arguments are not stored", Rule::CodegenCall, Change::Drop(Op::Store)),
    bug("threadgroup variables begin with nothing", Rule::CodegenThreadgroupZero, Change::Drop(Op::Store)),
    bug("the group does not wait for its default values", Rule::CodegenThreadgroupZero, Change::Drop(Op::ControlBarrier)),
    bug("threadgroup variables are set by the other invocations", Rule::CodegenThreadgroupZero, Change::Opcode(Op::IEqual, Op::INotEqual)),
    bug("barriers are left out", Rule::CodegenBarrier, Change::Drop(Op::ControlBarrier)),
    bug("InterlockedAdd is InterlockedOr", Rule::CodegenAtomic, Change::Opcode(Op::AtomicIAdd, Op::AtomicOr)),
    bug("InterlockedAnd is InterlockedOr", Rule::CodegenAtomic, Change::Opcode(Op::AtomicAnd, Op::AtomicOr)),
    bug("InterlockedXor is InterlockedOr", Rule::CodegenAtomic, Change::Opcode(Op::AtomicXor, Op::AtomicOr)),
    bug("InterlockedMin of ints is that of uints", Rule::CodegenAtomic, Change::Opcode(Op::AtomicSMin, Op::AtomicUMin)),
    bug("InterlockedMax of uints is that of ints", Rule::CodegenAtomic, Change::Opcode(Op::AtomicUMax, Op::AtomicSMax)),
    bug("InterlockedExchange adds", Rule::CodegenAtomic, Change::Opcode(Op::AtomicExchange, Op::AtomicIAdd)),
    bug("the old value of an atomic is not stored", Rule::CodegenAtomic, Change::Drop(Op::Store)),
    bug("InterlockedCompareExchange compares with the new value", Rule::CodegenAtomic, Change::Swap(Op::AtomicCompareExchange, 4, 5)),
    bug("helpers execute atomics, whose results are undefined", Rule::CodegenAtomic, Change::Letter),
    bug("atomics are for helpers alone", Rule::CodegenAtomic, Change::Swap(Op::BranchConditional, 1, 2)),
    bug("min of ints is max", Rule::CodegenExtreme, Change::Glsl(Glsl::SMin, Glsl::SMax)),
    bug("max of uints is that of ints", Rule::CodegenExtreme, Change::Glsl(Glsl::UMax, Glsl::SMax)),
    bug("firstbithigh counts from the other end", Rule::CodegenBits, Change::Glsl(Glsl::FindUMsb, Glsl::FindILsb)),
    bug("firstbitlow counts from the other end", Rule::CodegenBits, Change::Glsl(Glsl::FindILsb, Glsl::FindUMsb)),
    bug("countbits reverses", Rule::CodegenBits, Change::Opcode(Op::BitCount, Op::BitReverse)),
    bug("floor is ceil", Rule::CodegenFloatFunction, Change::Glsl(Glsl::Floor, Glsl::Ceil)),
    bug("trunc is floor", Rule::CodegenFloatFunction, Change::Glsl(Glsl::Trunc, Glsl::Floor)),
    bug("frac is floor", Rule::CodegenFloatFunction, Change::Glsl(Glsl::Fract, Glsl::Floor)),
    bug("the root of a negative number is taken", Rule::CodegenFloatGuard, Change::Forward(Op::Select, 2)),
    bug("if takes the other branch", Rule::CodegenIf, Change::Swap(Op::BranchConditional, 1, 2)),
    bug("loops go on while the condition is false", Rule::CodegenLoop, Change::Swap(Op::BranchConditional, 1, 2)),
    bug("what is in a buffer is 4 bytes further", Rule::CodegenBufferLayout, Change::Add(Op::MemberDecorate, 3, 4)),
    bug("GroupID is the thread's place in its group", Rule::CodegenBuiltIn, Change::Add(Op::Decorate, 2, 1)),
    bug("a letter is the next one", Rule::CodegenSwizzle, Change::Add(Op::CompositeExtract, 1, 1)),
    bug("the next letter is assigned to", Rule::CodegenSwizzleSet, Change::Add(Op::CompositeInsert, 2, 1)),
    bug("fallthrough from inside an if ends the switch", Rule::CodegenFallthrough, Change::Drop(Op::Store)),
    bug("abs of ints negates what is positive", Rule::CodegenMagnitude, Change::Swap(Op::Select, 1, 2)),
    bug("all is any", Rule::CodegenAllAny, Change::Opcode(Op::All, Op::Any)),
    bug("any is all", Rule::CodegenAllAny, Change::Opcode(Op::Any, Op::All)),
    bug("step has its sides the other way round", Rule::CodegenFloatFormula, Change::Opcode(Op::FOrdGreaterThanEqual, Op::FOrdLessThan)),
    bug("isnan is isinf", Rule::CodegenFloatTest, Change::Opcode(Op::IsNan, Op::IsInf)),
    bug("sincos stores the cosine as the sine", Rule::CodegenStoredResult, Change::Glsl(Glsl::Sin, Glsl::Cos)),
    bug("false is stored in a buffer as 1", Rule::CodegenBufferBool, Change::Swap(Op::Select, 1, 2)),
    bug("a bool in a buffer is true where it is 0", Rule::CodegenBufferBool, Change::Opcode(Op::INotEqual, Op::IEqual)),
    bug("the last index of a buffer is its length", Rule::CodegenIndexClamp, Change::Forward(Op::ISub, 0)),
    bug("a layout has strides of 4 bytes more", Rule::CodegenBufferLayout, Change::Add(Op::Decorate, 2, 4)),
    bug("bindings are one more", Rule::CodegenBufferBinding, Change::Add(Op::Decorate, 2, 1)),
    bug("two members of what is loaded of a buffer change places", Rule::CodegenBufferLoad, Change::Swap(Op::CompositeConstruct, 0, 1)),
    bug("two members of what is stored in a buffer change places", Rule::CodegenBufferStore, Change::Swap(Op::CompositeConstruct, 0, 1)),
    bug("a constructor's first two arguments change places", Rule::CodegenConstruct, Change::Swap(Op::CompositeConstruct, 0, 1)),
    bug("an element that has no address is not changed", Rule::CodegenValueIndex, Change::Drop(Op::Store)),
    bug("the first case and the default change places", Rule::CodegenSwitch, Change::Swap(Op::Switch, 1, 3)),
    bug("the first two arguments of a call change places", Rule::CodegenCall, Change::Swap(Op::FunctionCall, 1, 2)),
    bug("asfloat converts", Rule::CodegenReinterpret, Change::Opcode(Op::Bitcast, Op::ConvertUToF)),
    bug("log10 is of the natural logarithm", Rule::CodegenApproximate, Change::Glsl(Glsl::Log2, Glsl::Log)),
    bug("mul takes the transposed matrix", Rule::CodegenProduct, Change::Swap(Op::CompositeExtract, 1, 2)),
    bug("transpose gives its argument", Rule::CodegenTranspose, Change::Swap(Op::CompositeExtract, 1, 2)),
    bug("faceforward, refract and lit take the other side", Rule::CodegenGeometry, Change::Swap(Op::Select, 1, 2)),
    bug("the coordinates of a sample of one dimension change places", Rule::CodegenSample, Change::Swap(Op::CompositeConstruct, 0, 1)),
    bug("offsets have their axes the other way round", Rule::CodegenTexelOffset, Change::Swap(Op::ConstantComposite, 0, 1)),
    bug("the axes of an offset that is not known overlap", Rule::CodegenTexelOffset, Change::Forward(Op::ShiftLeftLogical, 0)),
    bug("a comparison is a level's", Rule::CodegenSampleCompare, Change::Swap(Op::ImageSampleDrefExplicitLod, 2, 4)),
    bug("the first component is the second", Rule::CodegenTexelComponents, Change::Add(Op::CompositeExtract, 1, 1)),
    bug("the coordinates of a load are not clamped", Rule::CodegenTexelClamp, Change::ForwardGlsl(Glsl::UMin, 0)),
    bug("a load is of the last texel", Rule::CodegenTexelClamp, Change::ForwardGlsl(Glsl::UMin, 1)),
    bug("an offset of a load is subtracted", Rule::CodegenTexelClamp, Change::Opcode(Op::IAdd, Op::ISub)),
    bug("stores are left out", Rule::CodegenTexelStore, Change::Drop(Op::ImageWrite)),
    bug("stores are where no texel is", Rule::CodegenTexelStore, Change::Swap(Op::BranchConditional, 1, 2)),
    bug("a store has its coordinates the other way round", Rule::CodegenTexelStore, Change::Swap(Op::CompositeConstruct, 0, 1)),
    bug("a NaN is stored as it is", Rule::CodegenTexelConvert, Change::Forward(Op::Select, 2)),
    bug("an integer is stored that the format does not hold", Rule::CodegenTexelConvert, Change::ForwardGlsl(Glsl::SClamp, 0)),
    bug("the sides of a level that is not there are those of the first", Rule::CodegenDimensions, Change::Forward(Op::Select, 1)),
    bug("the sides are not stored", Rule::CodegenDimensions, Change::Drop(Op::Store)),
    bug("a field of a value is the next one", Rule::CodegenField, Change::Add(Op::CompositeExtract, 1, 1)),
    bug("a vertex stage hands nothing on", Rule::CodegenLocation, Change::Drop(Op::Store)),
    bug("two columns of what is handed on change places", Rule::CodegenLocation, Change::Swap(Op::CompositeConstruct, 0, 1)),
    bug("a bool between stages is true where it is 0", Rule::CodegenInterfaceBool, Change::Opcode(Op::INotEqual, Op::IEqual)),
    bug("false between stages is 1", Rule::CodegenInterfaceBool, Change::Swap(Op::Select, 1, 2)),
    bug("nointerpolation is Centroid", Rule::CodegenInterpolation, Change::Add(Op::Decorate, 1, 2)),
    bug("what no vertex stage gives is undefined", Rule::CodegenLeftOver, Change::Opcode(Op::ConstantNull, Op::Undef)),
    bug("y points down", Rule::CodegenPosition, Change::Forward(Op::FNegate, 0)),
    bug("the depth is z less w", Rule::CodegenPosition, Change::Opcode(Op::FAdd, Op::FSub)),
    bug("a position is not given", Rule::CodegenPosition, Change::Drop(Op::Store)),
    bug("the depth is always the greatest", Rule::CodegenDepth, Change::ForwardGlsl(Glsl::NClamp, 2)),
    bug("the coverage is not given", Rule::CodegenCoverage, Change::Drop(Op::Store)),
    bug("a target is the next one", Rule::CodegenTarget, Change::Add(Op::Decorate, 2, 1)),
    bug("discard is not expected", Rule::CodegenDiscard, Change::Opcode(Op::Kill, Op::Unreachable)),
    bug("ddx is ddy", Rule::CodegenDerivative, Change::Opcode(Op::DPdx, Op::DPdy)),
    bug("ddy_fine is ddx_fine", Rule::CodegenDerivative, Change::Opcode(Op::DPdyFine, Op::DPdxFine)),
    bug("fwidth_coarse is ddx_coarse", Rule::CodegenDerivative, Change::Opcode(Op::FwidthCoarse, Op::DPdxCoarse)),
];
