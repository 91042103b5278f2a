//! Operators and casts on scalars and vectors: seed 003 "Arithmetic operators", "Bitwise
//! operators", "Comparison operators", "Unary operators", "Casts", and the functions of "Intrinsic
//! functions" that work element by element.
//!
//! What differs from the seed, for WSL's meaning:
//!
//! - `/` and `%` never divide by 0, and never the least int by -1; `%` of ints is a - (a / b) * b,
//!   for OpSRem is undefined of negative operands in Vulkan;
//! - the amount of a shift is taken modulo 32;
//! - `!=` of floats is OpFUnordNotEqual, for NaN differs from everything;
//! - a float that is out of range is not converted.

use super::emit::Id;
use super::row::Row;
use super::{Compiler, Done};
use rspirv::spirv::{GlslStd450Op as Glsl, Op};
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::types::Scalar;

/// A cell of an operator table: the operator, the type of its operands, its row and its opcode.
type Cell = (Meaning, Scalar, Row, Op);

/// The operators that are one instruction.
const CELLS: &[Cell] = &{
    use Meaning::*;
    use Row::{Arithmetic, Bitwise, Comparison, Unary};
    use Scalar::{Bool, Float, Int, Uint};
    [
        (Add, Int, Arithmetic, Op::IAdd),
        (Add, Uint, Arithmetic, Op::IAdd),
        (Add, Float, Arithmetic, Op::FAdd),
        (Subtract, Int, Arithmetic, Op::ISub),
        (Subtract, Uint, Arithmetic, Op::ISub),
        (Subtract, Float, Arithmetic, Op::FSub),
        (Multiply, Int, Arithmetic, Op::IMul),
        (Multiply, Uint, Arithmetic, Op::IMul),
        (Multiply, Float, Arithmetic, Op::FMul),
        (Divide, Float, Arithmetic, Op::FDiv),
        (And, Int, Bitwise, Op::BitwiseAnd),
        (And, Uint, Bitwise, Op::BitwiseAnd),
        (And, Bool, Bitwise, Op::LogicalAnd),
        (Or, Int, Bitwise, Op::BitwiseOr),
        (Or, Uint, Bitwise, Op::BitwiseOr),
        (Or, Bool, Bitwise, Op::LogicalOr),
        (Xor, Int, Bitwise, Op::BitwiseXor),
        (Xor, Uint, Bitwise, Op::BitwiseXor),
        (Xor, Bool, Bitwise, Op::LogicalNotEqual),
        (Less, Int, Comparison, Op::SLessThan),
        (Less, Uint, Comparison, Op::ULessThan),
        (Less, Float, Comparison, Op::FOrdLessThan),
        (LessEqual, Int, Comparison, Op::SLessThanEqual),
        (LessEqual, Uint, Comparison, Op::ULessThanEqual),
        (LessEqual, Float, Comparison, Op::FOrdLessThanEqual),
        (Greater, Int, Comparison, Op::SGreaterThan),
        (Greater, Uint, Comparison, Op::UGreaterThan),
        (Greater, Float, Comparison, Op::FOrdGreaterThan),
        (GreaterEqual, Int, Comparison, Op::SGreaterThanEqual),
        (GreaterEqual, Uint, Comparison, Op::UGreaterThanEqual),
        (GreaterEqual, Float, Comparison, Op::FOrdGreaterThanEqual),
        (Equal, Int, Comparison, Op::IEqual),
        (Equal, Uint, Comparison, Op::IEqual),
        (Equal, Float, Comparison, Op::FOrdEqual),
        (Equal, Bool, Comparison, Op::LogicalEqual),
        (NotEqual, Int, Comparison, Op::INotEqual),
        (NotEqual, Uint, Comparison, Op::INotEqual),
        (NotEqual, Float, Comparison, Op::FUnordNotEqual),
        (NotEqual, Bool, Comparison, Op::LogicalNotEqual),
        (Negate, Int, Unary, Op::SNegate),
        (Negate, Float, Unary, Op::FNegate),
        (Complement, Int, Unary, Op::Not),
        (Complement, Uint, Unary, Op::Not),
        (Complement, Bool, Unary, Op::LogicalNot),
        (Not, Bool, Unary, Op::LogicalNot),
        (CountBits, Uint, Row::Bits, Op::BitCount),
        (ReverseBits, Uint, Row::Bits, Op::BitReverse),
        (Ddx, Float, Row::Derivative, Op::DPdx),
        (Ddy, Float, Row::Derivative, Op::DPdy),
        (DdxCoarse, Float, Row::Derivative, Op::DPdxCoarse),
        (DdyCoarse, Float, Row::Derivative, Op::DPdyCoarse),
        (DdxFine, Float, Row::Derivative, Op::DPdxFine),
        (DdyFine, Float, Row::Derivative, Op::DPdyFine),
        (Fwidth, Float, Row::Derivative, Op::Fwidth),
        (FwidthCoarse, Float, Row::Derivative, Op::FwidthCoarse),
        (FwidthFine, Float, Row::Derivative, Op::FwidthFine),
        (IsNan, Float, Row::FloatTest, Op::IsNan),
        (IsInf, Float, Row::FloatTest, Op::IsInf),
    ]
};

/// The functions that are one function of GLSL.std.450, defined for every argument.
const FUNCTIONS: &[(Meaning, Scalar, Row, Glsl)] = &{
    use Meaning::*;
    use Row::{Bits, Extreme, FloatFunction, Magnitude};
    use Scalar::{Float, Int, Uint};
    [
        (Min, Int, Extreme, Glsl::SMin),
        (Min, Uint, Extreme, Glsl::UMin),
        (Min, Float, Extreme, Glsl::NMin),
        (Max, Int, Extreme, Glsl::SMax),
        (Max, Uint, Extreme, Glsl::UMax),
        (Max, Float, Extreme, Glsl::NMax),
        (Abs, Float, Magnitude, Glsl::FAbs),
        (Sign, Int, Magnitude, Glsl::SSign),
        (FirstBitHigh, Uint, Bits, Glsl::FindUMsb),
        (FirstBitLow, Uint, Bits, Glsl::FindILsb),
        (Cos, Float, FloatFunction, Glsl::Cos),
        (Sin, Float, FloatFunction, Glsl::Sin),
        (Tan, Float, FloatFunction, Glsl::Tan),
        (Acos, Float, FloatFunction, Glsl::Acos),
        (Asin, Float, FloatFunction, Glsl::Asin),
        (Atan, Float, FloatFunction, Glsl::Atan),
        (Cosh, Float, FloatFunction, Glsl::Cosh),
        (Sinh, Float, FloatFunction, Glsl::Sinh),
        (Tanh, Float, FloatFunction, Glsl::Tanh),
        (Ceil, Float, FloatFunction, Glsl::Ceil),
        (Floor, Float, FloatFunction, Glsl::Floor),
        (Round, Float, FloatFunction, Glsl::RoundEven),
        (Trunc, Float, FloatFunction, Glsl::Trunc),
        (Frac, Float, FloatFunction, Glsl::Fract),
        (Exp, Float, FloatFunction, Glsl::Exp),
        (Exp2, Float, FloatFunction, Glsl::Exp2),
        (Log, Float, FloatFunction, Glsl::Log),
        (Log2, Float, FloatFunction, Glsl::Log2),
        (Sqrt, Float, FloatFunction, Glsl::Sqrt),
        (Rsqrt, Float, FloatFunction, Glsl::InverseSqrt),
        (Degrees, Float, FloatFunction, Glsl::Degrees),
        (Radians, Float, FloatFunction, Glsl::Radians),
        (Sign, Float, FloatFunction, Glsl::FSign),
        (Pow, Float, FloatFunction, Glsl::Pow),
        (Atan2, Float, FloatFunction, Glsl::Atan2),
    ]
};

const ONE: u32 = 0x3f80_0000;
const LEAST: u32 = 0x8000_0000;

impl Compiler<'_> {
    /// An instruction of a row on vectors of `n` elements, or scalars.
    fn plain(&mut self, row: Row, op: Op, to: Scalar, n: u8, operands: &[Id]) -> Id {
        let ty = self.vector(to, n);
        let saved = self.e.enter(row);
        let id = self.e.op(op, ty, operands);
        self.e.row = saved;
        id
    }

    fn function_of(&mut self, row: Row, function: Glsl, to: Scalar, n: u8, operands: &[Id]) -> Id {
        let ty = self.vector(to, n);
        let saved = self.e.enter(row);
        let id = self.e.glsl(function, ty, operands);
        self.e.row = saved;
        id
    }

    /// The second operand where the first is true, else the third.
    pub(super) fn select(&mut self, row: Row, of: Scalar, n: u8, operands: [Id; 3]) -> Id {
        self.plain(row, Op::Select, of, n, &operands)
    }

    /// An operation on each element of vectors of `n` elements, or on scalars; none if it is no
    /// operation on scalars.
    pub(super) fn operation(&mut self, meaning: Meaning, of: Scalar, to: Scalar, n: u8, args: &[Id]) -> Done<Option<Id>> {
        use Meaning as M;
        use Scalar::{Float, Int, Uint};
        if let Some(&(_, _, row, op)) = CELLS.iter().find(|c| (c.0, c.1) == (meaning, of)) {
            return Ok(Some(self.plain(row, op, to, n, args)));
        }
        let k = |c: &mut Self, scalar, bits| c.splat_constant(scalar, n, bits);
        Ok(Some(match (meaning, of, args) {
            (M::Divide, Int, &[a, b]) => {
                let b = self.divisor(of, n, a, b);
                self.plain(Row::Arithmetic, Op::SDiv, to, n, &[a, b])
            }
            (M::Divide, Uint, &[a, b]) => {
                let b = self.divisor(of, n, a, b);
                self.plain(Row::Arithmetic, Op::UDiv, to, n, &[a, b])
            }
            (M::Remainder, Uint, &[a, b]) => {
                let b = self.divisor(of, n, a, b);
                self.plain(Row::Arithmetic, Op::UMod, to, n, &[a, b])
            }
            (M::Remainder, Int, &[a, b]) => {
                let b = self.divisor(of, n, a, b);
                let quotient = self.plain(Row::Remainder, Op::SDiv, to, n, &[a, b]);
                let product = self.plain(Row::Remainder, Op::IMul, to, n, &[quotient, b]);
                self.plain(Row::Remainder, Op::ISub, to, n, &[a, product])
            }
            (M::ShiftLeft | M::ShiftRight, Int | Uint, &[a, by]) => {
                let most = k(self, Uint, 31);
                let by = self.plain(Row::ShiftAmount, Op::BitwiseAnd, Uint, n, &[by, most]);
                let op = match (meaning, of) {
                    (M::ShiftLeft, _) => Op::ShiftLeftLogical,
                    (_, Int) => Op::ShiftRightArithmetic,
                    _ => Op::ShiftRightLogical,
                };
                self.plain(Row::Bitwise, op, to, n, &[a, by])
            }
            (M::Increment | M::Decrement, Int | Uint, &[a]) => {
                let one = k(self, of, 1);
                self.plain(Row::Arithmetic, if meaning == M::Increment { Op::IAdd } else { Op::ISub }, to, n, &[a, one])
            }
            (M::Abs, Uint, &[a]) => a,
            (M::Abs, Int, &[a]) => {
                let zero = k(self, Int, 0);
                let negative = self.plain(Row::Magnitude, Op::SLessThan, Scalar::Bool, n, &[a, zero]);
                let opposite = self.plain(Row::Magnitude, Op::SNegate, Int, n, &[a]);
                self.select(Row::Magnitude, Int, n, [negative, opposite, a])
            }
            (M::Sign, Uint, &[a]) => {
                let (zero, none, one) = (k(self, Uint, 0), k(self, Int, 0), k(self, Int, 1));
                let some = self.plain(Row::Magnitude, Op::INotEqual, Scalar::Bool, n, &[a, zero]);
                self.select(Row::Magnitude, Int, n, [some, one, none])
            }
            (M::Clamp, _, &[x, low, high]) => {
                let (max, min) = match of {
                    Int => (Glsl::SMax, Glsl::SMin),
                    Float => (Glsl::NMax, Glsl::NMin),
                    _ => (Glsl::UMax, Glsl::UMin),
                };
                let raised = self.function_of(Row::Extreme, max, to, n, &[x, low]);
                self.function_of(Row::Extreme, min, to, n, &[raised, high])
            }
            (M::Saturate, Float, &[x]) => {
                let (zero, one) = (k(self, Float, 0), k(self, Float, ONE));
                let raised = self.function_of(Row::Extreme, Glsl::NMax, to, n, &[x, zero]);
                self.function_of(Row::Extreme, Glsl::NMin, to, n, &[raised, one])
            }
            (M::Convert, ..) => return self.cast(of, to, n, args),
            (M::Reinterpret, _, &[a]) if of == to => a,
            (M::Reinterpret, _, &[a]) => self.plain(Row::Reinterpret, Op::Bitcast, to, n, &[a]),
            (_, Float, _) => return self.float_operation(meaning, n, args),
            _ => match FUNCTIONS.iter().find(|c| (c.0, c.1) == (meaning, of)) {
                Some(&(_, _, row, function)) => self.function_of(row, function, to, n, args),
                None => return Ok(None),
            },
        }))
    }

    /// The divisor, or 1 where the division has no result; the least int by -1 is itself by 1.
    fn divisor(&mut self, of: Scalar, n: u8, a: Id, b: Id) -> Id {
        let row = Row::DivideGuard;
        if let Some(bits) = self.e.bits(b)
            && bits != 0
            && !(of == Scalar::Int && bits == u32::MAX)
        {
            return b;
        }
        let (zero, one) = (self.splat_constant(of, n, 0), self.splat_constant(of, n, 1));
        let mut bad = self.plain(row, Op::IEqual, Scalar::Bool, n, &[b, zero]);
        if of == Scalar::Int {
            let (least, minus) = (self.splat_constant(of, n, LEAST), self.splat_constant(of, n, u32::MAX));
            let is_least = self.plain(row, Op::IEqual, Scalar::Bool, n, &[a, least]);
            let is_minus = self.plain(row, Op::IEqual, Scalar::Bool, n, &[b, minus]);
            let overflows = self.plain(row, Op::LogicalAnd, Scalar::Bool, n, &[is_least, is_minus]);
            bad = self.plain(row, Op::LogicalOr, Scalar::Bool, n, &[bad, overflows]);
        }
        self.select(row, of, n, [bad, one, b])
    }

    /// A cell of the table of casts.
    fn cast(&mut self, of: Scalar, to: Scalar, n: u8, args: &[Id]) -> Done<Option<Id>> {
        use Scalar::{Bool, Float, Int, Uint};
        let &[a] = args else { return Ok(None) };
        let row = Row::Cast;
        Ok(Some(match (of, to) {
            (from, to) if from == to => a,
            (Bool, _) => {
                let one = if to == Float { ONE } else { 1 };
                let (one, zero) = (self.splat_constant(to, n, one), self.splat_constant(to, n, 0));
                self.select(row, to, n, [a, one, zero])
            }
            (Float, Bool) => {
                let zero = self.splat_constant(Float, n, 0);
                self.plain(row, Op::FUnordNotEqual, Bool, n, &[a, zero])
            }
            (_, Bool) => {
                let zero = self.splat_constant(of, n, 0);
                self.plain(row, Op::INotEqual, Bool, n, &[a, zero])
            }
            (Int, Uint) | (Uint, Int) => self.plain(row, Op::Bitcast, to, n, &[a]),
            (Int, Float) => self.plain(row, Op::ConvertSToF, to, n, &[a]),
            (Uint, Float) => self.plain(row, Op::ConvertUToF, to, n, &[a]),
            (Float, Int) => {
                let a = self.in_range(n, a, (-2_147_483_648.0, Op::FOrdGreaterThanEqual), 2_147_483_648.0);
                self.plain(row, Op::ConvertFToS, to, n, &[a])
            }
            (Float, Uint) => {
                let a = self.in_range(n, a, (-1.0, Op::FOrdGreaterThan), 4_294_967_296.0);
                self.plain(row, Op::ConvertFToU, to, n, &[a])
            }
            _ => return Ok(None),
        }))
    }

    /// The float, or 0 where it is out of range or NaN.
    fn in_range(&mut self, n: u8, a: Id, (low, above): (f32, Op), high: f32) -> Id {
        let row = Row::CastGuard;
        let bound = |c: &mut Self, bits: f32| c.splat_constant(Scalar::Float, n, bits.to_bits());
        let (low, high, zero) = (bound(self, low), bound(self, high), bound(self, 0.0));
        let is_above = self.plain(row, above, Scalar::Bool, n, &[a, low]);
        let is_below = self.plain(row, Op::FOrdLessThan, Scalar::Bool, n, &[a, high]);
        let is_inside = self.plain(row, Op::LogicalAnd, Scalar::Bool, n, &[is_above, is_below]);
        self.select(row, Scalar::Float, n, [is_inside, a, zero])
    }

    /// The argument, or a number where a comparison with a constant holds.
    fn guarded(&mut self, n: u8, a: Id, (op, than): (Op, f32), other: f32) -> Id {
        let row = Row::FloatGuard;
        let (than, other) = (self.splat_constant(Scalar::Float, n, than.to_bits()), self.splat_constant(Scalar::Float, n, other.to_bits()));
        let bad = self.plain(row, op, Scalar::Bool, n, &[a, than]);
        self.select(row, Scalar::Float, n, [bad, other, a])
    }

    /// A function of floats, element by element.
    fn float_operation(&mut self, meaning: Meaning, n: u8, args: &[Id]) -> Done<Option<Id>> {
        use Meaning as M;
        use Scalar::{Bool, Float};
        let row = Row::FloatFormula;
        let k = |c: &mut Self, value: f32| c.splat_constant(Float, n, value.to_bits());
        let mut args: smallvec::SmallVec<[Id; 3]> = args.into();
        match (meaning, &mut args[..]) {
            (M::Acos | M::Asin, [x]) => {
                let magnitude = self.function_of(Row::FloatGuard, Glsl::FAbs, Float, n, &[*x]);
                let (one, zero) = (k(self, 1.0), k(self, 0.0));
                let bad = self.plain(Row::FloatGuard, Op::FOrdGreaterThan, Bool, n, &[magnitude, one]);
                *x = self.select(Row::FloatGuard, Float, n, [bad, zero, *x]);
            }
            (M::Log | M::Log2 | M::Log10 | M::Rsqrt, [x]) => *x = self.guarded(n, *x, (Op::FOrdLessThanEqual, 0.0), 1.0),
            (M::Sqrt, [x]) => *x = self.guarded(n, *x, (Op::FOrdLessThan, 0.0), 0.0),
            (M::Sign, [x]) => {
                let zero = k(self, 0.0);
                let bad = self.plain(Row::FloatGuard, Op::IsNan, Bool, n, &[*x]);
                *x = self.select(Row::FloatGuard, Float, n, [bad, zero, *x]);
            }
            // Of a negative base, and of 0 to no positive power, anything: then of base 1.
            (M::Pow, [x, y]) => {
                let (zero, one) = (k(self, 0.0), k(self, 1.0));
                let negative = self.plain(Row::FloatGuard, Op::FOrdLessThan, Bool, n, &[*x, zero]);
                let is_zero = self.plain(Row::FloatGuard, Op::FOrdEqual, Bool, n, &[*x, zero]);
                let not_positive = self.plain(Row::FloatGuard, Op::FOrdLessThanEqual, Bool, n, &[*y, zero]);
                let both = self.plain(Row::FloatGuard, Op::LogicalAnd, Bool, n, &[is_zero, not_positive]);
                let bad = self.plain(Row::FloatGuard, Op::LogicalOr, Bool, n, &[negative, both]);
                *x = self.select(Row::FloatGuard, Float, n, [bad, one, *x]);
            }
            // Of the origin anything: then of (1, 0).
            (M::Atan2, [y, x]) => {
                let (zero, one) = (k(self, 0.0), k(self, 1.0));
                let first = self.plain(Row::FloatGuard, Op::FOrdEqual, Bool, n, &[*x, zero]);
                let second = self.plain(Row::FloatGuard, Op::FOrdEqual, Bool, n, &[*y, zero]);
                let bad = self.plain(Row::FloatGuard, Op::LogicalAnd, Bool, n, &[first, second]);
                *x = self.select(Row::FloatGuard, Float, n, [bad, one, *x]);
            }
            (M::Fmod, [_, y]) => *y = self.guarded(n, *y, (Op::FOrdEqual, 0.0), 1.0),
            _ => {}
        }
        if let Some(&(_, _, row, function)) = FUNCTIONS.iter().find(|c| (c.0, c.1) == (meaning, Float)) {
            return Ok(Some(self.function_of(row, function, Float, n, &args)));
        }
        Ok(Some(match (meaning, &args[..]) {
            (M::Rcp, &[x]) => {
                let one = k(self, 1.0);
                self.plain(row, Op::FDiv, Float, n, &[one, x])
            }
            (M::Log10, &[x]) => {
                let factor = k(self, std::f32::consts::LOG10_2);
                let log = self.function_of(Row::Approximate, Glsl::Log2, Float, n, &[x]);
                self.plain(Row::Approximate, Op::FMul, Float, n, &[log, factor])
            }
            (M::Ldexp, &[x, y]) => {
                let two = k(self, 2.0);
                let power = self.function_of(row, Glsl::Pow, Float, n, &[two, y]);
                self.plain(row, Op::FMul, Float, n, &[x, power])
            }
            (M::Step, &[x, y]) => {
                let (zero, one) = (k(self, 0.0), k(self, 1.0));
                let over = self.plain(row, Op::FOrdGreaterThanEqual, Bool, n, &[x, y]);
                self.select(row, Float, n, [over, one, zero])
            }
            (M::Fmod, &[x, y]) => self.plain(Row::FloatFunction, Op::FRem, Float, n, &[x, y]),
            // x * (1 - z) + y * z
            (M::Lerp, &[x, y, z]) => {
                let one = k(self, 1.0);
                let rest = self.plain(row, Op::FSub, Float, n, &[one, z]);
                let (a, b) = (self.plain(row, Op::FMul, Float, n, &[x, rest]), self.plain(row, Op::FMul, Float, n, &[y, z]));
                self.plain(row, Op::FAdd, Float, n, &[a, b])
            }
            (M::Mad, &[x, y, z]) => {
                let product = self.plain(row, Op::FMul, Float, n, &[x, y]);
                self.plain(row, Op::FAdd, Float, n, &[product, z])
            }
            (M::Smoothstep, &[low, high, x]) => {
                let [zero, one, two, three] = [0.0, 1.0, 2.0, 3.0].map(|value| k(self, value));
                let (from, width) = (self.plain(row, Op::FSub, Float, n, &[x, low]), self.plain(row, Op::FSub, Float, n, &[high, low]));
                let t = self.plain(row, Op::FDiv, Float, n, &[from, width]);
                let (square, twice) = (self.plain(row, Op::FMul, Float, n, &[t, t]), self.plain(row, Op::FMul, Float, n, &[two, t]));
                let rest = self.plain(row, Op::FSub, Float, n, &[three, twice]);
                let between = self.plain(row, Op::FMul, Float, n, &[square, rest]);
                let over = self.plain(row, Op::FOrdGreaterThanEqual, Bool, n, &[x, high]);
                let between = self.select(row, Float, n, [over, one, between]);
                let under = self.plain(row, Op::FOrdLessThanEqual, Bool, n, &[x, low]);
                self.select(row, Float, n, [under, zero, between])
            }
            (M::IsFinite, &[x]) => {
                let (nan, inf) =
                    (self.plain(Row::FloatTest, Op::IsNan, Bool, n, &[x]), self.plain(Row::FloatTest, Op::IsInf, Bool, n, &[x]));
                let either = self.plain(Row::FloatTest, Op::LogicalOr, Bool, n, &[nan, inf]);
                self.plain(Row::FloatTest, Op::LogicalNot, Bool, n, &[either])
            }
            _ => return Ok(None),
        }))
    }
}
