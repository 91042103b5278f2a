//! Operators and casts on scalars and vectors: seed 003 "Arithmetic operators", "Bitwise
//! operators", "Comparison operators", "Unary operators", "Casts", and the functions of "Intrinsic
//! functions" that work element by element.
//!
//! These operators differ from the seed, because WSL's meaning does:
//!
//! - `/` and `%` never divide by 0, and never divide the least int by -1.
//! - `%` of ints is a - (a / b) * b, because OpSRem with negative operands is undefined in Vulkan.
//! - The shift amount is taken modulo 32.
//! - `!=` of floats is OpFUnordNotEqual, because NaN differs from every float.
//! - A float that is out of range is not converted.

use super::emit::Id;
use super::{Compiler, Construct, Done};
use rspirv::spirv::{GlslStd450Op as Glsl, Op};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::types::Scalar;

/// An operator with one opcode: the operator, its operand type, its rule and its opcode.
type Cell = (Meaning, Scalar, Rule, Op);

/// The operators that are one instruction.
const CELLS: &[Cell] = &{
    use Meaning::*;
    use Scalar::{Bool, Float, Int, Uint};
    [
        (Add, Int, Rule::CodegenAddInteger, Op::IAdd),
        (Add, Uint, Rule::CodegenAddInteger, Op::IAdd),
        (Add, Float, Rule::CodegenAddFloat, Op::FAdd),
        (Subtract, Int, Rule::CodegenSubtractInteger, Op::ISub),
        (Subtract, Uint, Rule::CodegenSubtractInteger, Op::ISub),
        (Subtract, Float, Rule::CodegenSubtractFloat, Op::FSub),
        (Multiply, Int, Rule::CodegenMultiplyInteger, Op::IMul),
        (Multiply, Uint, Rule::CodegenMultiplyInteger, Op::IMul),
        (Multiply, Float, Rule::CodegenMultiplyFloat, Op::FMul),
        (Divide, Float, Rule::CodegenDivideFloat, Op::FDiv),
        (And, Int, Rule::CodegenBitAnd, Op::BitwiseAnd),
        (And, Uint, Rule::CodegenBitAnd, Op::BitwiseAnd),
        (And, Bool, Rule::CodegenBitBool, Op::LogicalAnd),
        (Or, Int, Rule::CodegenBitOr, Op::BitwiseOr),
        (Or, Uint, Rule::CodegenBitOr, Op::BitwiseOr),
        (Or, Bool, Rule::CodegenBitBool, Op::LogicalOr),
        (Xor, Int, Rule::CodegenBitXor, Op::BitwiseXor),
        (Xor, Uint, Rule::CodegenBitXor, Op::BitwiseXor),
        (Xor, Bool, Rule::CodegenBitBool, Op::LogicalNotEqual),
        (Less, Int, Rule::CodegenLessInt, Op::SLessThan),
        (Less, Uint, Rule::CodegenLessUint, Op::ULessThan),
        (Less, Float, Rule::CodegenLessFloat, Op::FOrdLessThan),
        (LessEqual, Int, Rule::CodegenLessEqualInt, Op::SLessThanEqual),
        (LessEqual, Uint, Rule::CodegenLessEqualUint, Op::ULessThanEqual),
        (LessEqual, Float, Rule::CodegenLessEqualFloat, Op::FOrdLessThanEqual),
        (Greater, Int, Rule::CodegenGreaterInt, Op::SGreaterThan),
        (Greater, Uint, Rule::CodegenGreaterUint, Op::UGreaterThan),
        (Greater, Float, Rule::CodegenGreaterFloat, Op::FOrdGreaterThan),
        (GreaterEqual, Int, Rule::CodegenGreaterEqualInt, Op::SGreaterThanEqual),
        (GreaterEqual, Uint, Rule::CodegenGreaterEqualUint, Op::UGreaterThanEqual),
        (GreaterEqual, Float, Rule::CodegenGreaterEqualFloat, Op::FOrdGreaterThanEqual),
        (Equal, Int, Rule::CodegenEqualInteger, Op::IEqual),
        (Equal, Uint, Rule::CodegenEqualInteger, Op::IEqual),
        (Equal, Float, Rule::CodegenEqualFloat, Op::FOrdEqual),
        (Equal, Bool, Rule::CodegenEqualBool, Op::LogicalEqual),
        (NotEqual, Int, Rule::CodegenNotEqualInteger, Op::INotEqual),
        (NotEqual, Uint, Rule::CodegenNotEqualInteger, Op::INotEqual),
        (NotEqual, Float, Rule::CodegenNotEqualFloat, Op::FUnordNotEqual),
        (NotEqual, Bool, Rule::CodegenEqualBool, Op::LogicalNotEqual),
        (Negate, Int, Rule::CodegenNegateInteger, Op::SNegate),
        (Negate, Float, Rule::CodegenNegateFloat, Op::FNegate),
        (Complement, Int, Rule::CodegenComplement, Op::Not),
        (Complement, Uint, Rule::CodegenComplement, Op::Not),
        (Complement, Bool, Rule::CodegenBitBool, Op::LogicalNot),
        (Not, Bool, Rule::CodegenLogicalNot, Op::LogicalNot),
        (CountBits, Uint, Rule::CodegenBits, Op::BitCount),
        (ReverseBits, Uint, Rule::CodegenBits, Op::BitReverse),
        (Ddx, Float, Rule::CodegenDerivative, Op::DPdx),
        (Ddy, Float, Rule::CodegenDerivative, Op::DPdy),
        (DdxCoarse, Float, Rule::CodegenDerivative, Op::DPdxCoarse),
        (DdyCoarse, Float, Rule::CodegenDerivative, Op::DPdyCoarse),
        (DdxFine, Float, Rule::CodegenDerivative, Op::DPdxFine),
        (DdyFine, Float, Rule::CodegenDerivative, Op::DPdyFine),
        (Fwidth, Float, Rule::CodegenDerivative, Op::Fwidth),
        (FwidthCoarse, Float, Rule::CodegenDerivative, Op::FwidthCoarse),
        (FwidthFine, Float, Rule::CodegenDerivative, Op::FwidthFine),
        (IsNan, Float, Rule::CodegenFloatTest, Op::IsNan),
        (IsInf, Float, Rule::CodegenFloatTest, Op::IsInf),
    ]
};

/// The functions that are one function of GLSL.std.450. Float arguments are guarded where the
/// function is undefined.
const FUNCTIONS: &[(Meaning, Scalar, Rule, Glsl)] = &{
    use Meaning::*;
    use Scalar::{Float, Int, Uint};
    [
        (Min, Int, Rule::CodegenExtreme, Glsl::SMin),
        (Min, Uint, Rule::CodegenExtreme, Glsl::UMin),
        (Min, Float, Rule::CodegenExtreme, Glsl::NMin),
        (Max, Int, Rule::CodegenExtreme, Glsl::SMax),
        (Max, Uint, Rule::CodegenExtreme, Glsl::UMax),
        (Max, Float, Rule::CodegenExtreme, Glsl::NMax),
        (Abs, Float, Rule::CodegenMagnitude, Glsl::FAbs),
        (Sign, Int, Rule::CodegenMagnitude, Glsl::SSign),
        (FirstBitHigh, Uint, Rule::CodegenBits, Glsl::FindUMsb),
        (FirstBitLow, Uint, Rule::CodegenBits, Glsl::FindILsb),
        (Cos, Float, Rule::CodegenFloatFunction, Glsl::Cos),
        (Sin, Float, Rule::CodegenFloatFunction, Glsl::Sin),
        (Tan, Float, Rule::CodegenFloatFunction, Glsl::Tan),
        (Acos, Float, Rule::CodegenFloatFunction, Glsl::Acos),
        (Asin, Float, Rule::CodegenFloatFunction, Glsl::Asin),
        (Atan, Float, Rule::CodegenFloatFunction, Glsl::Atan),
        (Cosh, Float, Rule::CodegenFloatFunction, Glsl::Cosh),
        (Sinh, Float, Rule::CodegenFloatFunction, Glsl::Sinh),
        (Tanh, Float, Rule::CodegenFloatFunction, Glsl::Tanh),
        (Ceil, Float, Rule::CodegenFloatFunction, Glsl::Ceil),
        (Floor, Float, Rule::CodegenFloatFunction, Glsl::Floor),
        (Round, Float, Rule::CodegenFloatFunction, Glsl::RoundEven),
        (Trunc, Float, Rule::CodegenFloatFunction, Glsl::Trunc),
        (Frac, Float, Rule::CodegenFloatFunction, Glsl::Fract),
        (Exp, Float, Rule::CodegenFloatFunction, Glsl::Exp),
        (Exp2, Float, Rule::CodegenFloatFunction, Glsl::Exp2),
        (Log, Float, Rule::CodegenFloatFunction, Glsl::Log),
        (Log2, Float, Rule::CodegenFloatFunction, Glsl::Log2),
        (Sqrt, Float, Rule::CodegenFloatFunction, Glsl::Sqrt),
        (Rsqrt, Float, Rule::CodegenFloatFunction, Glsl::InverseSqrt),
        (Degrees, Float, Rule::CodegenFloatFunction, Glsl::Degrees),
        (Radians, Float, Rule::CodegenFloatFunction, Glsl::Radians),
        (Sign, Float, Rule::CodegenFloatFunction, Glsl::FSign),
        (Pow, Float, Rule::CodegenFloatFunction, Glsl::Pow),
        (Atan2, Float, Rule::CodegenFloatFunction, Glsl::Atan2),
    ]
};

const ONE: u32 = 0x3f80_0000;
const LEAST: u32 = 0x8000_0000;

impl Compiler<'_> {
    /// Emits an instruction of a rule on vectors of `n` elements, or on scalars if `n` is 1.
    fn plain(&mut self, rule: Rule, op: Op, to: Scalar, n: u8, operands: &[Id]) -> Id {
        let ty = self.vector(to, n);
        let saved = self.e.enter(rule);
        let id = self.e.op(op, ty, operands);
        self.e.rule = saved;
        id
    }

    fn function_of(&mut self, rule: Rule, function: Glsl, to: Scalar, n: u8, operands: &[Id]) -> Id {
        let ty = self.vector(to, n);
        let saved = self.e.enter(rule);
        let id = self.e.glsl(function, ty, operands);
        self.e.rule = saved;
        id
    }

    /// Selects by element: the second operand where the first is true, else the third.
    pub(super) fn select(&mut self, rule: Rule, of: Scalar, n: u8, operands: [Id; 3]) -> Id {
        self.plain(rule, Op::Select, of, n, &operands)
    }

    /// An operation on each element of vectors of `n` elements, or on scalars if `n` is 1. `None`
    /// if the operation is not defined on scalars.
    pub(super) fn operation(&mut self, meaning: Meaning, of: Scalar, to: Scalar, n: u8, args: &[Id]) -> Done<Option<Id>> {
        use Meaning as M;
        use Scalar::{Float, Int, Uint};
        if let Some(&(_, _, rule, op)) = CELLS.iter().find(|c| (c.0, c.1) == (meaning, of)) {
            if rule == Rule::CodegenDerivative && !self.stage.is_fragment {
                return self.refuse(Construct::Derivative, "a derivative in a function that is not called by a fragment stage");
            }
            return Ok(Some(self.plain(rule, op, to, n, args)));
        }
        let k = |c: &mut Self, scalar, bits| c.splat_constant(scalar, n, bits);
        Ok(Some(match (meaning, of, args) {
            (M::Divide, Int, &[a, b]) => {
                let b = self.divisor(of, n, a, b);
                self.plain(Rule::CodegenDivideInt, Op::SDiv, to, n, &[a, b])
            }
            (M::Divide, Uint, &[a, b]) => {
                let b = self.divisor(of, n, a, b);
                self.plain(Rule::CodegenDivideUint, Op::UDiv, to, n, &[a, b])
            }
            (M::Remainder, Uint, &[a, b]) => {
                let b = self.divisor(of, n, a, b);
                self.plain(Rule::CodegenRemainderUint, Op::UMod, to, n, &[a, b])
            }
            (M::Remainder, Int, &[a, b]) => {
                let b = self.divisor(of, n, a, b);
                if self.e.is_letter(Rule::CodegenRemainderInt) {
                    return Ok(Some(self.plain(Rule::CodegenRemainderInt, Op::SRem, to, n, &[a, b])));
                }
                let quotient = self.plain(Rule::CodegenRemainderInt, Op::SDiv, to, n, &[a, b]);
                let product = self.plain(Rule::CodegenRemainderInt, Op::IMul, to, n, &[quotient, b]);
                self.plain(Rule::CodegenRemainderInt, Op::ISub, to, n, &[a, product])
            }
            (M::ShiftLeft | M::ShiftRight, Int | Uint, &[a, by]) => {
                let most = k(self, Uint, 31);
                let by = self.plain(Rule::CodegenShiftAmount, Op::BitwiseAnd, Uint, n, &[by, most]);
                let (rule, op) = match (meaning, of) {
                    (M::ShiftLeft, _) => (Rule::CodegenShiftLeft, Op::ShiftLeftLogical),
                    (_, Int) => (Rule::CodegenShiftRightInt, Op::ShiftRightArithmetic),
                    _ => (Rule::CodegenShiftRightUint, Op::ShiftRightLogical),
                };
                self.plain(rule, op, to, n, &[a, by])
            }
            (M::Increment | M::Decrement, Int | Uint, &[a]) => {
                let one = k(self, of, 1);
                self.plain(Rule::CodegenStep, if meaning == M::Increment { Op::IAdd } else { Op::ISub }, to, n, &[a, one])
            }
            (M::Abs, Uint, &[a]) => a,
            (M::Abs, Int, &[a]) => {
                let zero = k(self, Int, 0);
                let negative = self.plain(Rule::CodegenMagnitude, Op::SLessThan, Scalar::Bool, n, &[a, zero]);
                let opposite = self.plain(Rule::CodegenMagnitude, Op::SNegate, Int, n, &[a]);
                self.select(Rule::CodegenMagnitude, Int, n, [negative, opposite, a])
            }
            (M::Sign, Uint, &[a]) => {
                let (zero, none, one) = (k(self, Uint, 0), k(self, Int, 0), k(self, Int, 1));
                let some = self.plain(Rule::CodegenMagnitude, Op::INotEqual, Scalar::Bool, n, &[a, zero]);
                self.select(Rule::CodegenMagnitude, Int, n, [some, one, none])
            }
            (M::Clamp, _, &[x, low, high]) => {
                let (max, min) = match of {
                    Int => (Glsl::SMax, Glsl::SMin),
                    Float => (Glsl::NMax, Glsl::NMin),
                    _ => (Glsl::UMax, Glsl::UMin),
                };
                let raised = self.function_of(Rule::CodegenExtreme, max, to, n, &[x, low]);
                self.function_of(Rule::CodegenExtreme, min, to, n, &[raised, high])
            }
            (M::Saturate, Float, &[x]) => {
                let (zero, one) = (k(self, Float, 0), k(self, Float, ONE));
                let raised = self.function_of(Rule::CodegenExtreme, Glsl::NMax, to, n, &[x, zero]);
                self.function_of(Rule::CodegenExtreme, Glsl::NMin, to, n, &[raised, one])
            }
            (M::Convert, ..) => return self.cast(of, to, n, args),
            (M::Reinterpret, _, &[a]) if of == to => a,
            (M::Reinterpret, _, &[a]) => self.plain(Rule::CodegenReinterpret, Op::Bitcast, to, n, &[a]),
            (_, Float, _) => return self.float_operation(meaning, n, args),
            _ => match FUNCTIONS.iter().find(|c| (c.0, c.1) == (meaning, of)) {
                Some(&(_, _, rule, function)) => self.function_of(rule, function, to, n, args),
                None => return Ok(None),
            },
        }))
    }

    /// The divisor, or 1 where the division is undefined. The least int divided by -1 is itself, as
    /// divided by 1.
    fn divisor(&mut self, of: Scalar, n: u8, a: Id, b: Id) -> Id {
        let rule = Rule::CodegenDivideGuard;
        if let Some(bits) = self.e.bits(b)
            && bits != 0
            && !(of == Scalar::Int && bits == u32::MAX)
        {
            return b;
        }
        let (zero, one) = (self.splat_constant(of, n, 0), self.splat_constant(of, n, 1));
        let mut bad = self.plain(rule, Op::IEqual, Scalar::Bool, n, &[b, zero]);
        if of == Scalar::Int {
            let (least, minus) = (self.splat_constant(of, n, LEAST), self.splat_constant(of, n, u32::MAX));
            let is_least = self.plain(rule, Op::IEqual, Scalar::Bool, n, &[a, least]);
            let is_minus = self.plain(rule, Op::IEqual, Scalar::Bool, n, &[b, minus]);
            let overflows = self.plain(rule, Op::LogicalAnd, Scalar::Bool, n, &[is_least, is_minus]);
            bad = self.plain(rule, Op::LogicalOr, Scalar::Bool, n, &[bad, overflows]);
        }
        self.select(rule, of, n, [bad, one, b])
    }

    /// A conversion between scalar types.
    fn cast(&mut self, of: Scalar, to: Scalar, n: u8, args: &[Id]) -> Done<Option<Id>> {
        use Scalar::{Bool, Float, Int, Uint};
        let &[a] = args else { return Ok(None) };
        Ok(Some(match (of, to) {
            (from, to) if from == to => a,
            (Bool, _) => {
                let one = if to == Float { ONE } else { 1 };
                let (one, zero) = (self.splat_constant(to, n, one), self.splat_constant(to, n, 0));
                self.select(Rule::CodegenCastFromBool, to, n, [a, one, zero])
            }
            (_, Bool) => {
                let zero = self.splat_constant(of, n, 0);
                let (rule, op) = match of {
                    Float => (Rule::CodegenCastFloatToBool, Op::FUnordNotEqual),
                    Int => (Rule::CodegenCastIntToBool, Op::INotEqual),
                    _ => (Rule::CodegenCastUintToBool, Op::INotEqual),
                };
                self.plain(rule, op, Bool, n, &[a, zero])
            }
            (Int, Uint) => self.plain(Rule::CodegenCastIntToUint, Op::Bitcast, to, n, &[a]),
            (Uint, Int) => self.plain(Rule::CodegenCastUintToInt, Op::Bitcast, to, n, &[a]),
            (Int, Float) => self.plain(Rule::CodegenCastIntToFloat, Op::ConvertSToF, to, n, &[a]),
            (Uint, Float) => self.plain(Rule::CodegenCastUintToFloat, Op::ConvertUToF, to, n, &[a]),
            (Float, Int) => {
                let a = self.in_range(n, a, (-2_147_483_648.0, Op::FOrdGreaterThanEqual), 2_147_483_648.0);
                self.plain(Rule::CodegenCastFloatToInt, Op::ConvertFToS, to, n, &[a])
            }
            (Float, Uint) => {
                let a = self.in_range(n, a, (-1.0, Op::FOrdGreaterThan), 4_294_967_296.0);
                self.plain(Rule::CodegenCastFloatToUint, Op::ConvertFToU, to, n, &[a])
            }
            _ => return Ok(None),
        }))
    }

    /// The float, or 0 if it is out of range or NaN.
    fn in_range(&mut self, n: u8, a: Id, (low, above): (f32, Op), high: f32) -> Id {
        let rule = Rule::CodegenCastGuard;
        let bound = |c: &mut Self, bits: f32| c.splat_constant(Scalar::Float, n, bits.to_bits());
        let (low, high, zero) = (bound(self, low), bound(self, high), bound(self, 0.0));
        let is_above = self.plain(rule, above, Scalar::Bool, n, &[a, low]);
        let is_below = self.plain(rule, Op::FOrdLessThan, Scalar::Bool, n, &[a, high]);
        let is_inside = self.plain(rule, Op::LogicalAnd, Scalar::Bool, n, &[is_above, is_below]);
        self.select(rule, Scalar::Float, n, [is_inside, a, zero])
    }

    /// The argument, or `other` where its comparison with a constant holds.
    fn guarded(&mut self, n: u8, a: Id, (op, than): (Op, f32), other: f32) -> Id {
        let rule = Rule::CodegenFloatGuard;
        let (than, other) = (self.splat_constant(Scalar::Float, n, than.to_bits()), self.splat_constant(Scalar::Float, n, other.to_bits()));
        let bad = self.plain(rule, op, Scalar::Bool, n, &[a, than]);
        self.select(rule, Scalar::Float, n, [bad, other, a])
    }

    /// A function of floats, element by element.
    fn float_operation(&mut self, meaning: Meaning, n: u8, args: &[Id]) -> Done<Option<Id>> {
        use Meaning as M;
        use Scalar::{Bool, Float};
        let rule = Rule::CodegenFloatFormula;
        let k = |c: &mut Self, value: f32| c.splat_constant(Float, n, value.to_bits());
        let mut args: smallvec::SmallVec<[Id; 3]> = args.into();
        match (meaning, &mut args[..]) {
            (M::Acos | M::Asin, [x]) => {
                let magnitude = self.function_of(Rule::CodegenFloatGuard, Glsl::FAbs, Float, n, &[*x]);
                let (one, zero) = (k(self, 1.0), k(self, 0.0));
                let bad = self.plain(Rule::CodegenFloatGuard, Op::FOrdGreaterThan, Bool, n, &[magnitude, one]);
                *x = self.select(Rule::CodegenFloatGuard, Float, n, [bad, zero, *x]);
            }
            (M::Log | M::Log2 | M::Log10 | M::Rsqrt, [x]) => *x = self.guarded(n, *x, (Op::FOrdLessThanEqual, 0.0), 1.0),
            (M::Sqrt, [x]) => *x = self.guarded(n, *x, (Op::FOrdLessThan, 0.0), 0.0),
            (M::Sign, [x]) => {
                let zero = k(self, 0.0);
                let bad = self.plain(Rule::CodegenFloatGuard, Op::IsNan, Bool, n, &[*x]);
                *x = self.select(Rule::CodegenFloatGuard, Float, n, [bad, zero, *x]);
            }
            // The power of a negative base, and of 0 to no positive exponent, is unspecified. Base
            // 1 is used.
            (M::Pow, [x, y]) => {
                let (zero, one) = (k(self, 0.0), k(self, 1.0));
                let negative = self.plain(Rule::CodegenFloatGuard, Op::FOrdLessThan, Bool, n, &[*x, zero]);
                let is_zero = self.plain(Rule::CodegenFloatGuard, Op::FOrdEqual, Bool, n, &[*x, zero]);
                let not_positive = self.plain(Rule::CodegenFloatGuard, Op::FOrdLessThanEqual, Bool, n, &[*y, zero]);
                let both = self.plain(Rule::CodegenFloatGuard, Op::LogicalAnd, Bool, n, &[is_zero, not_positive]);
                let bad = self.plain(Rule::CodegenFloatGuard, Op::LogicalOr, Bool, n, &[negative, both]);
                *x = self.select(Rule::CodegenFloatGuard, Float, n, [bad, one, *x]);
            }
            // The angle of the origin is unspecified. The point (1, 0) is used.
            (M::Atan2, [y, x]) => {
                let (zero, one) = (k(self, 0.0), k(self, 1.0));
                let first = self.plain(Rule::CodegenFloatGuard, Op::FOrdEqual, Bool, n, &[*x, zero]);
                let second = self.plain(Rule::CodegenFloatGuard, Op::FOrdEqual, Bool, n, &[*y, zero]);
                let bad = self.plain(Rule::CodegenFloatGuard, Op::LogicalAnd, Bool, n, &[first, second]);
                *x = self.select(Rule::CodegenFloatGuard, Float, n, [bad, one, *x]);
            }
            (M::Fmod, [_, y]) => *y = self.guarded(n, *y, (Op::FOrdEqual, 0.0), 1.0),
            _ => {}
        }
        if let Some(&(_, _, rule, function)) = FUNCTIONS.iter().find(|c| (c.0, c.1) == (meaning, Float)) {
            return Ok(Some(self.function_of(rule, function, Float, n, &args)));
        }
        Ok(Some(match (meaning, &args[..]) {
            (M::Rcp, &[x]) => {
                let one = k(self, 1.0);
                self.plain(rule, Op::FDiv, Float, n, &[one, x])
            }
            (M::Log10, &[x]) => {
                let factor = k(self, std::f32::consts::LOG10_2);
                let log = self.function_of(Rule::CodegenApproximate, Glsl::Log2, Float, n, &[x]);
                self.plain(Rule::CodegenApproximate, Op::FMul, Float, n, &[log, factor])
            }
            (M::Ldexp, &[x, y]) => {
                let two = k(self, 2.0);
                let power = self.function_of(rule, Glsl::Pow, Float, n, &[two, y]);
                self.plain(rule, Op::FMul, Float, n, &[x, power])
            }
            (M::Step, &[x, y]) => {
                let (zero, one) = (k(self, 0.0), k(self, 1.0));
                let is_above = self.plain(rule, Op::FOrdGreaterThanEqual, Bool, n, &[x, y]);
                self.select(rule, Float, n, [is_above, one, zero])
            }
            (M::Fmod, &[x, y]) => self.plain(Rule::CodegenFloatFunction, Op::FRem, Float, n, &[x, y]),
            // x * (1 - z) + y * z
            (M::Lerp, &[x, y, z]) => {
                let one = k(self, 1.0);
                let rest = self.plain(rule, Op::FSub, Float, n, &[one, z]);
                let (a, b) = (self.plain(rule, Op::FMul, Float, n, &[x, rest]), self.plain(rule, Op::FMul, Float, n, &[y, z]));
                self.plain(rule, Op::FAdd, Float, n, &[a, b])
            }
            (M::Mad, &[x, y, z]) => {
                let product = self.plain(rule, Op::FMul, Float, n, &[x, y]);
                self.plain(rule, Op::FAdd, Float, n, &[product, z])
            }
            (M::Smoothstep, &[low, high, x]) => {
                let [zero, one, two, three] = [0.0, 1.0, 2.0, 3.0].map(|value| k(self, value));
                let (from, width) = (self.plain(rule, Op::FSub, Float, n, &[x, low]), self.plain(rule, Op::FSub, Float, n, &[high, low]));
                let t = self.plain(rule, Op::FDiv, Float, n, &[from, width]);
                let (square, twice) = (self.plain(rule, Op::FMul, Float, n, &[t, t]), self.plain(rule, Op::FMul, Float, n, &[two, t]));
                let rest = self.plain(rule, Op::FSub, Float, n, &[three, twice]);
                let between = self.plain(rule, Op::FMul, Float, n, &[square, rest]);
                let is_above = self.plain(rule, Op::FOrdGreaterThanEqual, Bool, n, &[x, high]);
                let between = self.select(rule, Float, n, [is_above, one, between]);
                let is_below = self.plain(rule, Op::FOrdLessThanEqual, Bool, n, &[x, low]);
                self.select(rule, Float, n, [is_below, zero, between])
            }
            (M::IsFinite, &[x]) => {
                let (nan, inf) = (
                    self.plain(Rule::CodegenFloatTest, Op::IsNan, Bool, n, &[x]),
                    self.plain(Rule::CodegenFloatTest, Op::IsInf, Bool, n, &[x]),
                );
                let either = self.plain(Rule::CodegenFloatTest, Op::LogicalOr, Bool, n, &[nan, inf]);
                self.plain(Rule::CodegenFloatTest, Op::LogicalNot, Bool, n, &[either])
            }
            _ => return Ok(None),
        }))
    }
}
