//! Wrong meanings of the library's operations on scalars. `semantics/tests/wsl_meaning` shows that
//! single values catch them. Here calls must catch them.

use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::meaning::{OpResult, Replacement, scalar};
use smallstep_semantics::wsl::types::Scalar;

fn float(x: f32) -> OpResult {
    OpResult::Exactly(x.to_bits())
}

fn int(x: i32) -> OpResult {
    OpResult::Exactly(x as u32)
}

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// Each wrong meaning, with a description.
pub const BUGS: &[(&str, Replacement)] = &[
    ("sums of ints saturate", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Add, Scalar::Int) => int((x[0] as i32).saturating_add(x[1] as i32)),
        _ => given,
    }),
    ("differences change places", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Subtract, Scalar::Int) => int((x[1] as i32).wrapping_sub(x[0] as i32)),
        _ => given,
    }),
    ("products go through doubles", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Multiply, Scalar::Int) => int((f64::from(x[0] as i32) * f64::from(x[1] as i32)) as i64 as i32),
        _ => given,
    }),
    ("a quotient by zero is zero", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Divide, Scalar::Int) if x[1] == 0 => int(0),
        _ => given,
    }),
    ("quotients are rounded down", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Divide, Scalar::Int) if x[1] != 0 => int(i64::from(x[0] as i32).div_euclid(i64::from(x[1] as i32)) as i32),
        _ => given,
    }),
    ("the least int by -1 is the greatest", |op, x, given| match (op.meaning, op.of, x) {
        (Meaning::Divide, Scalar::Int, [0x8000_0000, u32::MAX]) => int(i32::MAX),
        _ => given,
    }),
    ("remainders are not negative", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Remainder, Scalar::Int) if x[1] != 0 => int(i64::from(x[0] as i32).rem_euclid(i64::from(x[1] as i32)) as i32),
        _ => given,
    }),
    ("a remainder by zero is the dividend", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Remainder, Scalar::Uint) if x[1] == 0 => OpResult::Exactly(x[0]),
        _ => given,
    }),
    ("the least int's absolute value is the greatest", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Abs, Scalar::Int) => int((x[0] as i32).saturating_abs()),
        _ => given,
    }),
    ("the sign of 0 is 1", |op, x, given| match op.meaning {
        Meaning::Sign if x[0] == 0 => OpResult::Exactly(1),
        _ => given,
    }),
    ("a shift by 32 gives 0", |op, x, given| match op.meaning {
        Meaning::ShiftLeft | Meaning::ShiftRight if x[1] >= 32 => OpResult::Exactly(0),
        _ => given,
    }),
    ("zeros come into an int from the left", |op, x, given| match (op.meaning, op.of) {
        (Meaning::ShiftRight, Scalar::Int) => OpResult::Exactly(x[0] >> (x[1] & 31)),
        _ => given,
    }),
    ("bounds of ints in the wrong order are kept to", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Clamp, Scalar::Int) => int((x[0] as i32).max(x[1] as i32).min(x[2] as i32)),
        _ => given,
    }),
    ("uints are compared as ints", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Less, Scalar::Uint) => ((x[0] as i32) < x[1] as i32).into(),
        _ => given,
    }),
    ("the highest bit is counted from above", |op, x, given| match op.meaning {
        Meaning::FirstBitHigh if x[0] != 0 => OpResult::Exactly(x[0].leading_zeros()),
        _ => given,
    }),
    ("without a bit the lowest one is 32", |op, x, given| match op.meaning {
        Meaning::FirstBitLow if x[0] == 0 => OpResult::Exactly(32),
        _ => given,
    }),
    ("bits are counted without the sign", |op, x, given| match op.meaning {
        Meaning::CountBits => OpResult::Exactly((x[0] & 0x7fff_ffff).count_ones()),
        _ => given,
    }),
    ("the complement of true is true", |op, _, given| match (op.meaning, op.of) {
        (Meaning::Complement | Meaning::Not, Scalar::Bool) => OpResult::Exactly(1),
        _ => given,
    }),
    ("a quotient by 0.0 is infinite", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Divide, Scalar::Float) => float(f(x[0]) / f(x[1])),
        _ => given,
    }),
    ("the lesser of zeros is the first", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Min, Scalar::Float) if f(x[0]) == f(x[1]) => OpResult::Exactly(x[0]),
        _ => given,
    }),
    ("halves are rounded to even", |op, x, given| match op.meaning {
        Meaning::Round => float(f(x[0]).round_ties_even()),
        _ => given,
    }),
    ("floor truncates", |op, x, given| match op.meaning {
        Meaning::Floor => float(f(x[0]).trunc()),
        _ => given,
    }),
    ("the fraction has the sign of its argument", |op, x, given| match op.meaning {
        Meaning::Frac => float(f(x[0]).fract()),
        _ => given,
    }),
    ("the root of a negative number is NaN", |op, x, given| match op.meaning {
        Meaning::Sqrt => float(f(x[0]).sqrt()),
        _ => given,
    }),
    ("atan2 takes its arguments in reverse", |op, x, given| match op.meaning {
        Meaning::Atan2 => scalar(op, &[x[1], x[0]]),
        _ => given,
    }),
    ("step takes its arguments in reverse", |op, x, given| match op.meaning {
        Meaning::Step => scalar(op, &[x[1], x[0]]),
        _ => given,
    }),
    ("fmod has the sign of its second argument", |op, x, given| match op.meaning {
        Meaning::Fmod if f(x[1]) != 0.0 => float(f(x[0]).rem_euclid(f(x[1]))),
        _ => given,
    }),
    ("the power of a negative number is defined", |op, x, given| match op.meaning {
        Meaning::Pow => float(f(x[0]).powf(f(x[1]))),
        _ => given,
    }),
    ("lerp goes the other way", |op, x, given| match op.meaning {
        Meaning::Lerp => scalar(op, &[x[1], x[0], x[2]]),
        _ => given,
    }),
    ("mad is rounded twice", |op, x, given| match op.meaning {
        Meaning::Mad => float(f(x[0]) * f(x[1]) + f(x[2])),
        _ => given,
    }),
    ("bounds of floats in the wrong order are kept to", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Clamp, Scalar::Float) => float(f(x[0]).max(f(x[1])).min(f(x[2]))),
        _ => given,
    }),
    ("NaN equals itself", |op, x, given| match (op.meaning, op.of) {
        (Meaning::Equal, Scalar::Float) => (x[0] == x[1]).into(),
        _ => given,
    }),
    ("NaN is not unequal", |op, x, given| match (op.meaning, op.of) {
        (Meaning::NotEqual, Scalar::Float) => (f(x[0]) < f(x[1]) || f(x[0]) > f(x[1])).into(),
        _ => given,
    }),
    ("infinities are finite", |op, x, given| match op.meaning {
        Meaning::IsFinite => (!f(x[0]).is_nan()).into(),
        _ => given,
    }),
    ("floats are rounded to the nearest int", |op, x, given| match (op.meaning, op.of, op.to) {
        (Meaning::Convert, Scalar::Float, Scalar::Int) => int(f(x[0]).round() as i32),
        _ => given,
    }),
    ("what is out of an int's range is the greatest", |op, x, given| match (op.meaning, op.of, op.to) {
        (Meaning::Convert, Scalar::Float, Scalar::Int) => int(f(x[0]) as i32),
        _ => given,
    }),
    ("numbers below 1 are false", |op, x, given| match (op.meaning, op.of, op.to) {
        (Meaning::Convert, Scalar::Float, Scalar::Bool) => (f(x[0]).abs() >= 1.0).into(),
        _ => given,
    }),
    ("ints are converted as uints", |op, x, given| match (op.meaning, op.of, op.to) {
        (Meaning::Convert, Scalar::Uint, Scalar::Float) => float(x[0] as i32 as f32),
        _ => given,
    }),
];
