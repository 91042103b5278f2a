//! Wrong meanings are planted one at a time, and each is caught.

use crate::common::Checks;
use crate::{conversions, coverage, float_functions, floats, functions, integers};
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::meaning::{OpResult, Planted, Replacement, scalar};
use smallstep_semantics::wsl::types::Scalar;

/// The number of faults that are found by hand, by the second implementation, and element
/// by element.
fn faults(planted: Planted) -> [usize; 3] {
    let mut hand = Checks::of(planted);
    integers::by_hand(&mut hand);
    floats::by_hand(&mut hand);
    conversions::by_hand(&mut hand);
    functions::by_hand(&mut hand);
    let mut again = Checks::of(planted);
    integers::again(&mut again, 10);
    float_functions::arithmetic(&mut again, 10);
    float_functions::functions(&mut again, 30);
    let mut elements = Checks::of(planted);
    coverage::element_by_element(&mut elements);
    [hand, again, elements].map(|checks| checks.faults.len())
}

fn float(x: f32) -> OpResult {
    OpResult::Exactly(x.to_bits())
}

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// Wrong operations on scalars, and whether the second implementation catches them too.
const SCALARS: &[(&str, bool, Replacement)] = &[
    ("a shift by 32 or more gives zero", true, |op, x, given| match op.meaning {
        Meaning::ShiftLeft | Meaning::ShiftRight if x[1] >= 32 => OpResult::Exactly(0),
        _ => given,
    }),
    ("the sign is not copied by a shift", true, |op, x, given| match (op.meaning, op.of) {
        (Meaning::ShiftRight, Scalar::Int) => OpResult::Exactly(x[0] >> (x[1] & 31)),
        _ => given,
    }),
    ("the least integer by -1 is 0", true, |op, x, given| match (op.meaning, op.of, x) {
        (Meaning::Divide, Scalar::Int, [0x8000_0000, u32::MAX]) => OpResult::Exactly(0),
        _ => given,
    }),
    ("a quotient by zero is zero", true, |op, x, given| match (op.meaning, op.of) {
        (Meaning::Divide | Meaning::Remainder, Scalar::Int | Scalar::Uint) if x[1] == 0 => OpResult::Exactly(0),
        _ => given,
    }),
    ("a remainder has the divisor's sign", true, |op, x, given| match (op.meaning, op.of) {
        (Meaning::Remainder, Scalar::Int) if x[1] != 0 && x[1] != u32::MAX => {
            OpResult::Exactly((i64::from(x[0] as i32).rem_euclid(i64::from(x[1] as i32))) as u32)
        }
        _ => given,
    }),
    ("integers saturate", true, |op, x, given| match (op.meaning, op.of) {
        (Meaning::Add, Scalar::Uint) => OpResult::Exactly(x[0].saturating_add(x[1])),
        _ => given,
    }),
    ("uint is compared as int", true, |op, x, given| match (op.meaning, op.of) {
        (Meaning::Less, Scalar::Uint) => OpResult::Exactly(((x[0] as i32) < x[1] as i32).into()),
        _ => given,
    }),
    ("the highest bit is counted from above", true, |op, x, given| match op.meaning {
        Meaning::FirstBitHigh if x[0] != 0 => OpResult::Exactly(x[0].leading_zeros()),
        _ => given,
    }),
    ("no bit is 32", true, |op, x, given| match op.meaning {
        Meaning::FirstBitLow if x[0] == 0 => OpResult::Exactly(32),
        _ => given,
    }),
    ("bounds in the wrong order are clamped to", true, |op, x, given| match (op.meaning, op.of) {
        (Meaning::Clamp, Scalar::Int) => OpResult::Exactly((x[0] as i32).max(x[1] as i32).min(x[2] as i32) as u32),
        _ => given,
    }),
    ("truth values are bits", false, |op, x, given| match (op.meaning, op.of) {
        (Meaning::And, Scalar::Bool) => OpResult::Exactly(x[0] & x[1]),
        _ => given,
    }),
    ("a half is rounded to the even number", true, |op, _, given| match op.meaning {
        Meaning::Round => OpResult::Exactly(given.first()),
        _ => given,
    }),
    ("rounding is away from zero", true, |op, x, given| match op.meaning {
        Meaning::Round => float(f(x[0]).round()),
        _ => given,
    }),
    ("min of a NaN is the number", true, |op, x, given| match (op.meaning, op.of) {
        (Meaning::Min, Scalar::Float) => float(f(x[0]).min(f(x[1]))),
        _ => given,
    }),
    ("zeros are not two", true, |op, x, given| match (op.meaning, op.of) {
        (Meaning::Max, Scalar::Float) if f(x[0]) == 0.0 && f(x[1]) == 0.0 => float(0.0),
        _ => given,
    }),
    ("a quotient by zero is infinite", true, |op, x, given| match (op.meaning, op.of) {
        (Meaning::Divide, Scalar::Float) => float(f(x[0]) / f(x[1])),
        _ => given,
    }),
    ("step has the edge first", true, |op, x, given| match op.meaning {
        Meaning::Step => scalar(op, &[x[1], x[0]]),
        _ => given,
    }),
    ("atan2 has x first", true, |op, x, given| match op.meaning {
        Meaning::Atan2 => scalar(op, &[x[1], x[0]]),
        _ => given,
    }),
    ("fmod has floor in it", true, |op, x, given| match op.meaning {
        Meaning::Fmod if f(x[1]) != 0.0 && f(x[0]).is_finite() && f(x[1]).is_finite() => {
            float(f(x[0]) - f(x[1]) * (f(x[0]) / f(x[1])).floor())
        }
        _ => given,
    }),
    ("frac of what is below zero is below zero", true, |op, x, given| match op.meaning {
        Meaning::Frac => float(f(x[0]).fract()),
        _ => given,
    }),
    ("lerp is one product", true, |op, x, given| match op.meaning {
        Meaning::Lerp => float(f(x[0]) + (f(x[1]) - f(x[0])) * f(x[2])),
        _ => given,
    }),
    ("mad is rounded once", true, |op, x, given| match op.meaning {
        Meaning::Mad => float(f(x[0]).mul_add(f(x[1]), f(x[2]))),
        _ => given,
    }),
    ("smoothstep does not end", true, |op, x, given| match op.meaning {
        Meaning::Smoothstep if f(x[0]) < f(x[1]) && f(x[2]).is_finite() => {
            let t = (f(x[2]) - f(x[0])) / (f(x[1]) - f(x[0]));
            float(t * t * (3.0 - 2.0 * t))
        }
        _ => given,
    }),
    ("the root of -0 is unspecified", true, |op, x, given| match op.meaning {
        Meaning::Sqrt if x[0] == 0x8000_0000 => OpResult::Any(0),
        _ => given,
    }),
    ("the logarithm of zero is infinite", false, |op, x, given| match op.meaning {
        Meaning::Log2 if f(x[0]) == 0.0 => float(f32::NEG_INFINITY),
        _ => given,
    }),
    ("log10 is a product of two rounded numbers", true, |op, x, given| match op.meaning {
        Meaning::Log10 if f(x[0]) > 0.0 => float(f(x[0]).ln() * std::f32::consts::LOG10_E),
        _ => given,
    }),
    ("pow of a zero is IEEE's", false, |op, x, given| match op.meaning {
        Meaning::Pow if f(x[0]) == 0.0 => float(f(x[0]).powf(f(x[1]))),
        _ => given,
    }),
    ("-0 stays in saturate", true, |op, x, given| match op.meaning {
        Meaning::Saturate if x[0] == 0x8000_0000 => OpResult::Exactly(x[0]),
        _ => given,
    }),
    ("the sign of zero is lost in modf", true, |op, _, given| match op.meaning {
        Meaning::Modf => OpResult::Exactly(if given.first() == 0x8000_0000 { 0 } else { given.first() }),
        _ => given,
    }),
    ("subnormal floats are flushed", true, |op, _, given| match (op.meaning, op.of) {
        (Meaning::Add, Scalar::Float) if f(given.first()).is_subnormal() => float(0.0),
        _ => given,
    }),
    ("NaN is equal to itself", false, |op, x, given| match (op.meaning, op.of) {
        (Meaning::Equal, Scalar::Float) if x[0] == x[1] => OpResult::Exactly(1),
        _ => given,
    }),
    ("-0 is true", false, |op, x, given| match (op.meaning, op.of, op.to) {
        (Meaning::Convert | Meaning::All, Scalar::Float, Scalar::Bool) => OpResult::Exactly((x[0] != 0).into()),
        _ => given,
    }),
    ("a conversion saturates", false, |op, x, given| match (op.meaning, op.of, op.to) {
        (Meaning::Convert, Scalar::Float, Scalar::Int) => OpResult::Exactly(f(x[0]) as i32 as u32),
        _ => given,
    }),
    ("uint becomes float as int does", false, |op, x, given| match (op.meaning, op.of, op.to) {
        (Meaning::Convert, Scalar::Uint, Scalar::Float) => float(x[0] as i32 as f32),
        _ => given,
    }),
    ("NaN keeps its payload", true, |op, x, given| match (op.meaning, op.of) {
        (Meaning::Negate, Scalar::Float) => OpResult::Exactly(x[0] ^ 0x8000_0000),
        _ => given,
    }),
];

/// Functions that take their arguments, or the words of these, in the wrong order.
fn arrangements() -> Vec<(&'static str, Planted)> {
    let arguments = |arguments: fn(Meaning, usize) -> usize| Planted { arguments: Some(arguments), ..Planted::NONE };
    let words = |words: fn(Meaning, usize, usize) -> usize| Planted { words: Some(words), ..Planted::NONE };
    vec![
        (
            "cross and reflect have their arguments exchanged",
            arguments(|meaning, i| if matches!(meaning, Meaning::Cross | Meaning::Reflect) { 1 - i } else { i }),
        ),
        (
            "a product of matrices is its transpose",
            words(|meaning, i, n| if meaning == Meaning::MatrixMultiply && n == 4 { [0, 2, 1, 3][i] } else { i }),
        ),
        (
            "what is set is set from the end",
            words(|meaning, i, n| if matches!(meaning, Meaning::SetIndex | Meaning::SetSwizzle) && n == 4 { 3 - i } else { i }),
        ),
        ("faceforward asks for the first argument", arguments(|meaning, i| if meaning == Meaning::Faceforward { [1, 0, 2][i] } else { i })),
        ("smoothstep has x first", arguments(|meaning, i| if meaning == Meaning::Smoothstep { [2, 0, 1][i] } else { i })),
        ("dst has its arguments exchanged", arguments(|meaning, i| if meaning == Meaning::Dst { 1 - i } else { i })),
        ("lit has its arguments exchanged", arguments(|meaning, i| if meaning == Meaning::Lit { [1, 0, 2][i] } else { i })),
        ("letters are read from the end", words(|meaning, i, n| if meaning == Meaning::Swizzle { n - 1 - i } else { i })),
        ("the cosine is stored first", words(|meaning, i, n| if meaning == Meaning::Sincos { (i + n / 2) % n } else { i })),
        ("modf returns the whole part", words(|meaning, i, n| if meaning == Meaning::Modf { (i + n / 2) % n } else { i })),
        (
            "columns of a matrix are its rows",
            words(|meaning, i, n| if meaning == Meaning::MatrixElements && n == 4 { [0, 2, 1, 3][i] } else { i }),
        ),
        ("elements are moved up by one", words(|meaning, i, n| if meaning == Meaning::Add && n == 4 { [3, 0, 1, 2][i] } else { i })),
        ("padding is the last element", words(|meaning, i, n| if meaning == Meaning::Multiply && n == 4 { i.min(2) } else { i })),
        ("the first column is every column", words(|meaning, i, n| if meaning == Meaning::Transpose { i % (n / 2) } else { i })),
    ]
}

#[test]
fn nothing_is_found_where_nothing_is_planted() {
    assert_eq!(faults(Planted::NONE), [0; 3]);
}

#[test]
fn wrong_operations_are_caught() {
    let mut missed = Vec::new();
    for (name, again, replace) in SCALARS {
        let [by_hand, by_second, _] = faults(Planted { replace: Some(*replace), ..Planted::NONE });
        if by_hand == 0 || (by_second > 0) != *again {
            missed.push(format!("{name}: {by_hand} faults by hand, {by_second} by the second implementation"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    assert!(SCALARS.len() >= 30);
}

#[test]
fn wrong_arrangements_are_caught() {
    let mut missed = Vec::new();
    for (name, planted) in arrangements() {
        let [by_hand, _, by_element] = faults(planted);
        // A bug that moves words between elements must also be caught element by element.
        let moved = name.starts_with("elements") || name.starts_with("padding");
        if by_hand == 0 || moved && by_element == 0 {
            missed.push(format!("{name}: {by_hand} faults by hand, {by_element} element by element"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
