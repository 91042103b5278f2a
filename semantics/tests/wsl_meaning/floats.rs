//! Operations on `float`, with values worked out by hand, most of them at corners.

use crate::common::{Checks, NAN};
use smallstep_semantics::wsl::library::Meaning::{self, *};
use smallstep_semantics::wsl::meaning::{Op, OpResult, Planted};
use smallstep_semantics::wsl::types::Scalar;

const ANY: OpResult = OpResult::Any(0);
const INF: f32 = f32::INFINITY;
/// The least positive float.
const TINY: f32 = f32::from_bits(1);
/// The floats nearest to π, π/2, π/4 and 3π/4.
const PI: f32 = f32::from_bits(0x4049_0fdb);
const HALF_PI: f32 = f32::from_bits(0x3fc9_0fdb);
const QUARTER_PI: f32 = f32::from_bits(0x3f49_0fdb);
const THREE_QUARTERS: f32 = f32::from_bits(0x4016_cbe4);

fn bits(x: f32) -> u32 {
    if x.is_nan() { NAN } else { x.to_bits() }
}

fn is(x: f32) -> OpResult {
    OpResult::Exactly(bits(x))
}

fn either(x: f32, y: f32) -> OpResult {
    OpResult::OneOf([bits(x), bits(y)].into_iter().collect())
}

pub fn by_hand(checks: &mut Checks) {
    let mut floats = |of: &[f32], meaning: Meaning, to: Scalar, expected: OpResult| {
        let operands: Vec<u32> = of.iter().map(|x| x.to_bits()).collect();
        checks.scalar(Op { meaning, of: Scalar::Float, to }, &operands, expected);
    };
    for (meaning, x, expected) in unary() {
        floats(&[x], meaning, Scalar::Float, expected);
    }
    for (meaning, x, y, expected) in binary() {
        floats(&[x, y], meaning, Scalar::Float, expected);
    }
    for (meaning, x, y, z, expected) in ternary() {
        floats(&[x, y, z], meaning, Scalar::Float, expected);
    }
    for (x, finite, infinite, nan) in
        [(0.0, 1, 0, 0), (TINY, 1, 0, 0), (f32::MAX, 1, 0, 0), (INF, 0, 1, 0), (-INF, 0, 1, 0), (f32::NAN, 0, 0, 1)]
    {
        for (meaning, expected) in [(IsFinite, finite), (IsInf, infinite), (IsNan, nan)] {
            floats(&[x], meaning, Scalar::Bool, OpResult::Exactly(expected));
        }
    }
    // The results of ==, !=, <, <=, > and >=.
    let compared = [
        (1.0, 2.0, [0, 1, 1, 1, 0, 0]),
        (2.0, 2.0, [1, 0, 0, 1, 0, 1]),
        (0.0, -0.0, [1, 0, 0, 1, 0, 1]),
        (-0.0, TINY, [0, 1, 1, 1, 0, 0]),
        (INF, f32::MAX, [0, 1, 0, 0, 1, 1]),
        (-INF, -INF, [1, 0, 0, 1, 0, 1]),
        (f32::NAN, f32::NAN, [0, 1, 0, 0, 0, 0]),
        (1.0, f32::NAN, [0, 1, 0, 0, 0, 0]),
        (f32::NAN, -INF, [0, 1, 0, 0, 0, 0]),
    ];
    for (x, y, expected) in compared {
        for (meaning, expected) in [Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual].into_iter().zip(expected) {
            floats(&[x, y], meaning, Scalar::Bool, OpResult::Exactly(expected));
        }
    }
}

fn unary() -> Vec<(Meaning, f32, OpResult)> {
    let nan = f32::NAN;
    let mut cases = vec![
        (Negate, 1.0, is(-1.0)),
        (Negate, 0.0, is(-0.0)),
        (Negate, -INF, is(INF)),
        (Negate, -TINY, is(TINY)),
        (Abs, -0.0, is(0.0)),
        (Abs, -INF, is(INF)),
        (Abs, -1.5, is(1.5)),
        (Sign, 3.0, is(1.0)),
        (Sign, -TINY, is(-1.0)),
        (Sign, -0.0, is(0.0)),
        (Sign, 0.0, is(0.0)),
        (Sign, INF, is(1.0)),
        (Ceil, -0.5, is(-0.0)),
        (Ceil, 0.5, is(1.0)),
        (Ceil, TINY, is(1.0)),
        (Ceil, 8388609.0, is(8388609.0)),
        (Floor, -0.5, is(-1.0)),
        (Floor, 0.5, is(0.0)),
        (Floor, -TINY, is(-1.0)),
        (Round, 0.5, either(0.0, 1.0)),
        (Round, -0.5, either(-0.0, -1.0)),
        (Round, 1.5, either(2.0, 1.0)),
        (Round, 2.5, either(2.0, 3.0)),
        (Round, -2.5, either(-2.0, -3.0)),
        (Round, -3.5, either(-4.0, -3.0)),
        (Round, 0.49999997, is(0.0)),
        (Round, 0.50000006, is(1.0)),
        (Round, -0.25, is(-0.0)),
        (Round, 8388607.5, either(8388608.0, 8388607.0)),
        (Round, 8388609.0, is(8388609.0)),
        (Trunc, -0.5, is(-0.0)),
        (Trunc, 1.75, is(1.0)),
        (Trunc, -1.75, is(-1.0)),
        // 3.7f32 is 3.7000000477. This minus 3, and -3.7f32 minus -4, are floats.
        (Frac, 3.7, is(0.70000005)),
        (Frac, -3.7, is(0.29999995)),
        (Frac, 0.0, is(0.0)),
        (Frac, -0.0, is(0.0)),
        (Frac, -5.0, is(0.0)),
        (Frac, INF, is(nan)),
        (Frac, -INF, is(nan)),
        // 1 - 2^-149 is rounded to 1.
        (Frac, -TINY, is(1.0)),
        (Exp, 0.0, is(1.0)),
        (Exp, 1.0, is(f32::from_bits(0x402d_f854))),
        (Exp, INF, is(INF)),
        (Exp, -INF, is(0.0)),
        (Exp, 89.0, is(INF)),
        (Exp, -104.0, is(0.0)),
        (Exp2, 10.0, is(1024.0)),
        (Exp2, -149.0, is(TINY)),
        (Exp2, -150.0, is(0.0)),
        (Exp2, 128.0, is(INF)),
        (Exp2, 0.5, is(f32::from_bits(0x3fb5_04f3))),
        (Log, 1.0, is(0.0)),
        (Log, 0.0, ANY),
        (Log, -0.0, ANY),
        (Log, -1.0, ANY),
        (Log, INF, is(INF)),
        (Log2, 8.0, is(3.0)),
        (Log2, TINY, is(-149.0)),
        (Log2, 0.0, ANY),
        (Log2, -INF, ANY),
        (Log10, 1.0, is(0.0)),
        (Log10, 1000.0, is(3.0)),
        (Log10, 1e10, is(10.0)),
        // 0.1f32 exceeds a tenth by too little to change the logarithm.
        (Log10, 0.1, is(-1.0)),
        (Log10, 2.0, is(f32::from_bits(0x3e9a_209b))),
        // log(50) * log10(e), with both factors rounded, is the next float.
        (Log10, 50.0, is(f32::from_bits(0x3fd9_77d9))),
        (Log10, 0.0, ANY),
        (Log10, -TINY, ANY),
        (Log10, INF, is(INF)),
        (Sqrt, 4.0, is(2.0)),
        (Sqrt, 2.0, is(f32::from_bits(0x3fb5_04f3))),
        (Sqrt, 0.0, is(0.0)),
        (Sqrt, -0.0, is(-0.0)),
        (Sqrt, -TINY, ANY),
        (Sqrt, -INF, ANY),
        (Sqrt, INF, is(INF)),
        (Rsqrt, 4.0, is(0.5)),
        (Rsqrt, 2.0, is(f32::from_bits(0x3f35_04f3))),
        (Rsqrt, INF, is(0.0)),
        (Rsqrt, 0.0, ANY),
        (Rsqrt, -0.0, ANY),
        (Rsqrt, -1.0, ANY),
        (Rcp, 4.0, is(0.25)),
        (Rcp, 3.0, is(f32::from_bits(0x3eaa_aaab))),
        (Rcp, 0.0, ANY),
        (Rcp, -0.0, ANY),
        (Rcp, -INF, is(-0.0)),
        (Rcp, TINY, is(INF)),
        (Degrees, PI, is(180.0)),
        (Degrees, 1.0, is(f32::from_bits(0x4265_2ee1))),
        (Degrees, -0.0, is(-0.0)),
        (Degrees, 1e38, is(INF)),
        (Radians, 180.0, is(PI)),
        (Radians, 90.0, is(HALF_PI)),
        (Radians, -INF, is(-INF)),
        (Saturate, 2.0, is(1.0)),
        (Saturate, -1.0, is(0.0)),
        (Saturate, 0.5, is(0.5)),
        (Saturate, 0.0, is(0.0)),
        // max(-0, 0) may be either zero.
        (Saturate, -0.0, either(-0.0, 0.0)),
        (Saturate, INF, is(1.0)),
        (Saturate, -INF, is(0.0)),
        (Cos, 0.0, is(1.0)),
        (Cos, INF, is(nan)),
        (Sin, -0.0, is(-0.0)),
        (Sin, TINY, is(TINY)),
        (Sin, -INF, is(nan)),
        (Tan, 0.0, is(0.0)),
        (Tan, INF, is(nan)),
        (Acos, 1.0, is(0.0)),
        (Acos, -1.0, is(PI)),
        (Acos, 0.0, is(HALF_PI)),
        (Acos, 1.0000001, ANY),
        (Acos, -INF, ANY),
        (Asin, 1.0, is(HALF_PI)),
        (Asin, -0.0, is(-0.0)),
        (Asin, -1.0, is(-HALF_PI)),
        (Asin, -1.0000001, ANY),
        (Atan, INF, is(HALF_PI)),
        (Atan, 1.0, is(QUARTER_PI)),
        (Atan, -INF, is(-HALF_PI)),
        (Atan, -0.0, is(-0.0)),
        (Cosh, 0.0, is(1.0)),
        (Cosh, -INF, is(INF)),
        (Sinh, -0.0, is(-0.0)),
        (Sinh, 90.0, is(INF)),
        (Tanh, INF, is(1.0)),
        (Tanh, -20.0, is(-1.0)),
        (Tanh, -0.0, is(-0.0)),
        // The fraction has the sign of the argument.
        (Modf, 1.75, is(0.75)),
        (Modf, -1.75, is(-0.75)),
        (Modf, -3.0, is(-0.0)),
        (Modf, 0.0, is(0.0)),
        (Modf, INF, is(0.0)),
        (Modf, -INF, is(-0.0)),
    ];
    for meaning in [Ceil, Floor, Round, Trunc] {
        cases.extend([0.0, -0.0, INF, -INF].map(|x| (meaning, x, is(x))));
    }
    // A NaN with a payload and a sign becomes the quiet NaN.
    for meaning in UNARY {
        let expected = if matches!(meaning, Sign | Saturate) { ANY } else { is(nan) };
        cases.push((meaning, f32::from_bits(0xff80_0123), expected));
    }
    cases
}

/// Every operation from a float to a float.
pub const UNARY: [Meaning; 29] = [
    Negate, Abs, Sign, Cos, Sin, Tan, Acos, Asin, Atan, Cosh, Sinh, Tanh, Ceil, Floor, Round, Trunc, Frac, Exp, Exp2, Log, Log2, Log10,
    Sqrt, Rsqrt, Rcp, Degrees, Radians, Saturate, Modf,
];

fn binary() -> Vec<(Meaning, f32, f32, OpResult)> {
    let nan = f32::NAN;
    let max = f32::MAX;
    vec![
        (Add, 1.0, 2.0, is(3.0)),
        (Add, 0.0, -0.0, is(0.0)),
        (Add, -0.0, -0.0, is(-0.0)),
        (Add, INF, -INF, is(nan)),
        (Add, max, max, is(INF)),
        // 2^-24 is half a unit in the last place at 1, and at 1 + 2^-23.
        (Add, 1.0, 5.9604645e-8, is(1.0)),
        (Add, 1.0000001, 5.9604645e-8, is(1.0000002)),
        (Add, TINY, TINY, is(f32::from_bits(2))),
        (Subtract, 1.0, 1.0, is(0.0)),
        (Subtract, INF, INF, is(nan)),
        (Subtract, -0.0, 0.0, is(-0.0)),
        (Multiply, INF, 0.0, is(nan)),
        (Multiply, -2.0, 0.0, is(-0.0)),
        (Multiply, TINY, 0.5, is(0.0)),
        (Multiply, TINY, 0.75, is(TINY)),
        (Multiply, 1e30, 1e30, is(INF)),
        (Divide, 1.0, 3.0, is(f32::from_bits(0x3eaa_aaab))),
        (Divide, 1.0, 0.0, ANY),
        (Divide, 1.0, -0.0, ANY),
        (Divide, 0.0, 0.0, ANY),
        (Divide, nan, 0.0, ANY),
        (Divide, 1.0, INF, is(0.0)),
        (Divide, INF, INF, is(nan)),
        (Divide, 1.0, TINY, is(INF)),
        (Min, 1.0, 2.0, is(1.0)),
        (Min, -INF, max, is(-INF)),
        (Min, nan, 1.0, either(nan, 1.0)),
        (Min, 1.0, nan, either(1.0, nan)),
        (Min, nan, nan, is(nan)),
        (Min, 0.0, -0.0, either(0.0, -0.0)),
        (Min, -0.0, -0.0, is(-0.0)),
        (Max, 1.0, 2.0, is(2.0)),
        (Max, -0.0, 0.0, either(-0.0, 0.0)),
        (Max, nan, INF, either(nan, INF)),
        (Max, -TINY, 0.0, is(0.0)),
        (Pow, 2.0, 10.0, is(1024.0)),
        (Pow, 4.0, -0.5, is(0.5)),
        (Pow, 0.0, 1.0, is(0.0)),
        (Pow, -0.0, 2.0, is(0.0)),
        (Pow, 0.0, 0.0, ANY),
        (Pow, -0.0, 0.0, ANY),
        (Pow, 0.0, -1.0, ANY),
        (Pow, -1.0, 2.0, ANY),
        (Pow, -INF, 1.0, ANY),
        (Pow, INF, -1.0, is(0.0)),
        (Pow, 5.0, 0.0, is(1.0)),
        (Pow, 2.0, nan, is(nan)),
        (Step, 1.0, 2.0, is(0.0)),
        (Step, 2.0, 1.0, is(1.0)),
        (Step, 1.0, 1.0, is(1.0)),
        (Step, -0.0, 0.0, is(1.0)),
        (Step, nan, 0.0, is(0.0)),
        (Step, 0.0, nan, is(0.0)),
        (Ldexp, 3.0, 2.0, is(12.0)),
        (Ldexp, 1.0, 0.5, is(f32::from_bits(0x3fb5_04f3))),
        (Ldexp, 1.0, -149.0, is(TINY)),
        // pow(2, 130) is no finite float.
        (Ldexp, 1e-40, 130.0, is(INF)),
        (Ldexp, 0.0, 130.0, is(nan)),
        (Fmod, 5.5, 2.0, is(1.5)),
        (Fmod, -5.5, 2.0, is(-1.5)),
        (Fmod, 5.5, -2.0, is(1.5)),
        (Fmod, -4.0, 2.0, is(-0.0)),
        (Fmod, 4.0, -2.0, is(0.0)),
        // 1 - 9 · 0.1f32, although the rounded quotient is 10.
        (Fmod, 1.0, 0.1, is(0.09999999)),
        (Fmod, 1.0, 0.0, ANY),
        (Fmod, 1.0, -0.0, ANY),
        (Fmod, INF, 2.0, is(nan)),
        (Fmod, -5.0, INF, is(-5.0)),
        (Fmod, 3e38, TINY, is(0.0)),
        (Atan2, 1.0, 1.0, is(QUARTER_PI)),
        (Atan2, 1.0, -1.0, is(THREE_QUARTERS)),
        (Atan2, -1.0, 1.0, is(-QUARTER_PI)),
        (Atan2, -1.0, -1.0, is(-THREE_QUARTERS)),
        (Atan2, 0.0, 1.0, is(0.0)),
        (Atan2, -0.0, 1.0, is(-0.0)),
        (Atan2, 0.0, -1.0, either(PI, -PI)),
        (Atan2, -0.0, -1.0, either(-PI, PI)),
        (Atan2, 2.0, 0.0, is(HALF_PI)),
        (Atan2, 2.0, -0.0, is(HALF_PI)),
        (Atan2, -2.0, 0.0, is(-HALF_PI)),
        (Atan2, 0.0, 0.0, ANY),
        (Atan2, -0.0, -0.0, ANY),
        (Atan2, nan, 1.0, is(nan)),
    ]
}

fn ternary() -> Vec<(Meaning, f32, f32, f32, OpResult)> {
    let nan = f32::NAN;
    vec![
        (Clamp, 5.0, 0.0, 1.0, is(1.0)),
        (Clamp, -5.0, 0.0, 1.0, is(0.0)),
        (Clamp, 0.5, 0.0, 1.0, is(0.5)),
        (Clamp, 0.5, 2.0, 2.0, is(2.0)),
        (Clamp, 0.5, 1.0, 0.0, ANY),
        (Clamp, nan, 0.0, 1.0, ANY),
        (Clamp, 0.0, nan, 1.0, ANY),
        (Clamp, 0.0, 0.0, nan, ANY),
        (Clamp, INF, -INF, 3.0, is(3.0)),
        (Clamp, -0.0, 0.0, 1.0, either(-0.0, 0.0)),
        // min(max(-1, -0), 0) is min(-0, 0).
        (Clamp, -1.0, -0.0, 0.0, either(-0.0, 0.0)),
        (Clamp, 1.0, -0.0, 0.0, is(0.0)),
        (Smoothstep, 0.0, 1.0, 0.5, is(0.5)),
        (Smoothstep, 0.0, 1.0, 0.25, is(0.15625)),
        (Smoothstep, 0.0, 1.0, -1.0, is(0.0)),
        (Smoothstep, 0.0, 1.0, 0.0, is(0.0)),
        (Smoothstep, 0.0, 1.0, 1.0, is(1.0)),
        (Smoothstep, 0.0, 1.0, INF, is(1.0)),
        (Smoothstep, 1.0, 1.0, 1.0, is(0.0)),
        (Smoothstep, 1.0, 1.0, 2.0, is(1.0)),
        (Smoothstep, 1.0, 0.0, 0.5, ANY),
        (Smoothstep, nan, 1.0, 0.5, ANY),
        (Smoothstep, 0.0, nan, 0.5, ANY),
        (Smoothstep, 0.0, 1.0, nan, ANY),
        (Lerp, 1.0, 3.0, 0.25, is(1.5)),
        (Lerp, 1.0, 3.0, 0.0, is(1.0)),
        (Lerp, 1.0, 3.0, 1.0, is(3.0)),
        (Lerp, 1.0, 3.0, 2.0, is(5.0)),
        (Lerp, INF, 1.0, 1.0, is(nan)),
        // With x + (y - x) * s, the large number would absorb the other.
        (Lerp, 1e30, 1.0, 1.0, is(1.0)),
        (Mad, 2.0, 3.0, 4.0, is(10.0)),
        (Mad, INF, 0.0, 1.0, is(nan)),
        // (1 + 2^-12)² is 1 + 2^-11 + 2^-24. Rounding drops the last term.
        (Mad, 1.0002441, 1.0002441, -1.0, either(4.8828125e-4, 4.8834085e-4)),
        (Mad, 1e30, 1e30, -INF, either(nan, -INF)),
    ]
}

#[test]
fn floats_by_hand() {
    let mut checks = Checks::of(Planted::NONE);
    by_hand(&mut checks);
    checks.assert();
}
