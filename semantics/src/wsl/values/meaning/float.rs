//! Operations on `float`: seed 004 "Floating point arithmetic", "Comparison operators", as
//! `LIBRARY.md` completes it. Correctly rounded results are those of [`crate::number`].

use super::OpResult;
use crate::number::reference::{Direction, Rounded, log10};
use crate::number::{Computed, Instruction, Op as Number, Real, float};
use crate::wsl::library::Meaning;
use rspirv::spirv::GlslStd450Op as Glsl;
use smallvec::SmallVec;

/// The result of an operation on `float`. `None` if there is no such operation.
pub(super) fn of(meaning: Meaning, operands: &[u32]) -> Option<OpResult> {
    match *operands {
        [x] => of_one(meaning, f32::from_bits(x)),
        [x, y] => of_two(meaning, f32::from_bits(x), f32::from_bits(y)),
        [x, y, z] => of_three(meaning, f32::from_bits(x), f32::from_bits(y), f32::from_bits(z)),
        _ => None,
    }
}

/// The float, with a NaN replaced by the one without payload and sign.
fn exactly(x: f32) -> OpResult {
    OpResult::Exactly(x.canonical().to_bits())
}

/// The correctly rounded result of a function that is defined for these arguments.
fn rounded(function: Number, args: &[f32]) -> f32 {
    match float::component(function, args) {
        Some(Computed::Value(bits)) => f32::from_bits(bits as u32),
        other => unreachable!("{function:?} of {args:?} is defined: {other:?}"),
    }
}

fn of_one(meaning: Meaning, x: f32) -> Option<OpResult> {
    use Meaning::*;
    let function = match meaning {
        // "It returns an undefined value if its argument is greater than 1 or smaller than -1."
        Acos | Asin if x.abs() > 1.0 => return Some(OpResult::ANY),
        // "An unspecified value if its argument is smaller or equal to 0", of rsqrt "non-positive".
        Log | Log2 | Log10 | Rsqrt if x <= 0.0 => return Some(OpResult::ANY),
        // "An unspecified value if its argument is negative": -0 is not.
        Sqrt if x < 0.0 => return Some(OpResult::ANY),
        Rcp if x == 0.0 => return Some(OpResult::ANY),
        Sign if x.is_nan() => return Some(OpResult::ANY),
        Saturate => return Some(clamp(x, 0.0, 1.0)),
        Round => return Some(round(x)),
        Rcp => return Some(exactly(1.0 / x)),
        Log10 => return Some(exactly(log_10(x))),
        Modf => return Some(exactly(float::modf(x)[0])),
        IsFinite => return Some(x.is_finite().into()),
        IsInf => return Some(x.is_infinite().into()),
        IsNan => return Some(x.is_nan().into()),
        Negate => Number::Negate,
        Abs => Number::Abs,
        Sign => Number::Sign,
        Cos => Number::Cos,
        Sin => Number::Sin,
        Tan => Number::Tan,
        Acos => Number::Acos,
        Asin => Number::Asin,
        Atan => Number::Atan,
        Cosh => Number::Cosh,
        Sinh => Number::Sinh,
        Tanh => Number::Tanh,
        Ceil => Number::Ceil,
        Floor => Number::Floor,
        Trunc => Number::Trunc,
        Frac => Number::Fract,
        Exp => Number::Exp,
        Exp2 => Number::Exp2,
        Log => Number::Log,
        Log2 => Number::Log2,
        Sqrt => Number::Sqrt,
        Rsqrt => Number::InverseSqrt,
        Degrees => Number::Degrees,
        Radians => Number::Radians,
        _ => return None,
    };
    Some(exactly(rounded(function, &[x])))
}

/// "If there are two equally distant possible integer values (e.g. for 0.5), which one
/// is picked is undefined."
fn round(x: f32) -> OpResult {
    let even = x.round_ties_even();
    if (x - x.trunc()).abs() == 0.5 {
        // Halves are below 2²³, so this is exact.
        OpResult::one_of([even.to_bits(), (x + (x - even)).to_bits()])
    } else {
        exactly(even)
    }
}

/// The logarithm to base 10 of a positive number, or NaN.
fn log_10(x: f32) -> f32 {
    match log10(x, Direction::NearestEven) {
        Rounded::Value(value) => value,
        Rounded::Undefined => f32::NAN,
    }
}

fn of_two(meaning: Meaning, x: f32, y: f32) -> Option<OpResult> {
    use Meaning::*;
    Some(match meaning {
        Add => exactly(x + y),
        Subtract => exactly(x - y),
        Multiply => exactly(x * y),
        // "An undefined value if its second argument is either +0.0 or -0.0."
        Divide | Fmod if y == 0.0 => OpResult::ANY,
        Divide => exactly(x / y),
        Fmod => exactly(x.remainder(y)),
        Min => OpResult::one_of(extreme(x, y, false)),
        Max => OpResult::one_of(extreme(x, y, true)),
        Pow => match pow(x, y) {
            Some(power) => exactly(power),
            None => OpResult::ANY,
        },
        // "x * pow(2.0, y)": both operations are rounded.
        Ldexp => exactly(x * pow(2.0, y).unwrap_or(f32::NAN)),
        // "(x >= y) ? 1 : 0" (ERRATA WSL-E3).
        Step => exactly(f32::from(x >= y)),
        Atan2 => atan2(x, y),
        Equal => (x == y).into(),
        NotEqual => (x != y).into(),
        Less => (x < y).into(),
        LessEqual => (x <= y).into(),
        Greater => (x > y).into(),
        GreaterEqual => (x >= y).into(),
        _ => return None,
    })
}

/// The lesser or the greater of two floats. For a NaN and anything, and for zeros of both signs, it
/// is "one of its arguments, but which one is unspecified".
fn extreme(x: f32, y: f32, greater: bool) -> SmallVec<[u32; 2]> {
    let (a, b) = (x.canonical().to_bits(), y.canonical().to_bits());
    if x.is_nan() || y.is_nan() || x == y {
        SmallVec::from_slice(&[a, b])
    } else {
        SmallVec::from_slice(&[if (y < x) != greater { b } else { a }])
    }
}

/// The power. "If its first argument is less than zero", or is zero "and its second argument is
/// equal or less than 0", nothing is specified, and this is `None`.
fn pow(x: f32, y: f32) -> Option<f32> {
    let defined = !(x < 0.0 || x == 0.0 && y <= 0.0);
    defined.then(|| rounded(Number::Pow, &[x, y]))
}

/// The angle of the point (x, y), in the interval that the table gives for its quadrant (ERRATA
/// WSL-E2). The table is silent on the axes. There the angle is the limit of both neighbouring
/// quadrants, so for y = ±0 and x < 0 it is π or -π. For the origin it is an unspecified value.
fn atan2(y: f32, x: f32) -> OpResult {
    if x == 0.0 && y == 0.0 {
        return OpResult::ANY;
    }
    let angle = rounded(Number::Atan2, &[y, x]);
    if y == 0.0 && x < 0.0 { OpResult::one_of([angle.to_bits(), (-angle).to_bits()]) } else { exactly(angle) }
}

fn of_three(meaning: Meaning, x: f32, y: f32, z: f32) -> Option<OpResult> {
    use Meaning::*;
    Some(match meaning {
        Clamp => clamp(x, y, z),
        Smoothstep => smoothstep(x, y, z),
        Lerp => exactly(x * (1.0 - z) + y * z),
        // "a*b + c, but with potentially different precision": with one rounding or two.
        Mad => OpResult::one_of([(x * y + z).canonical().to_bits(), fused(x, y, z).to_bits()]),
        _ => return None,
    })
}

fn fused(x: f32, y: f32, z: f32) -> f32 {
    match float::other::<f32>(Instruction::Glsl(Glsl::Fma as u32), &[x, y, z]) {
        Some(Computed::Value(bits)) => f32::from_bits(bits as u32),
        other => unreachable!("Fma is defined everywhere: {other:?}"),
    }
}

/// "min(max(x, min), max)". Each of the two operations may leave the sign of a zero open.
fn clamp(x: f32, low: f32, high: f32) -> OpResult {
    if high < low || x.is_nan() || low.is_nan() || high.is_nan() {
        return OpResult::ANY;
    }
    let raised = extreme(x, low, true);
    OpResult::one_of(raised.into_iter().flat_map(|bits| extreme(f32::from_bits(bits), high, false)))
}

/// "A smooth Hermite interpolation between 0 and 1", each operation of its formula rounded.
fn smoothstep(low: f32, high: f32, x: f32) -> OpResult {
    if high < low || low.is_nan() || high.is_nan() || x.is_nan() {
        OpResult::ANY
    } else if x <= low {
        exactly(0.0)
    } else if x >= high {
        exactly(1.0)
    } else {
        let t = (x - low) / (high - low);
        exactly(t * t * (3.0 - 2.0 * t))
    }
}
