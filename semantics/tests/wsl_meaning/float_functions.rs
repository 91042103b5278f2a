//! A second implementation of operations on `float`. Arithmetic is in 64 bits, whose rounding to 32
//! bits is innocuous. Functions are in 320 bits of another library. Remainders are in integers.

use crate::common::{Checks, NAN};
use crate::nearest::nearest;
use crate::random::Random;
use astro_float::{BigFloat, Consts, RoundingMode};
use smallstep_semantics::wsl::library::Meaning::{self, *};
use smallstep_semantics::wsl::meaning::{Op, OpResult, Planted};
use smallstep_semantics::wsl::types::Scalar;

const P: usize = 320;
const RM: RoundingMode = RoundingMode::ToEven;

/// The exact number of a float.
fn big(x: f64) -> BigFloat {
    BigFloat::from_f64(x, 1600)
}

fn float(x: &BigFloat) -> f32 {
    nearest(x, 24, -126, 128) as f32
}

fn bits(x: f32) -> u32 {
    if x.is_nan() { NAN } else { x.to_bits() }
}

pub fn corners() -> Vec<f32> {
    let mut all = vec![f32::INFINITY, f32::NAN];
    let positive = [
        0.0,
        f32::from_bits(1),
        f32::from_bits(2),
        f32::from_bits(0x007f_ffff),
        f32::MIN_POSITIVE,
        1e-20,
        1e-4,
        0.1,
        0.25,
        0.49999997,
        0.5,
        0.75,
        0.99999994,
        1.0,
        1.0000001,
        1.5,
        2.0,
        2.5,
        3.0,
        std::f32::consts::PI,
        7.0,
        10.0,
        88.7,
        150.0,
        1000.0,
        8388607.5,
        16777216.0,
        1e10,
        1e30,
        f32::MAX,
    ];
    all.extend(positive);
    all.iter().flat_map(|&x| [x, -x]).collect()
}

/// The correctly rounded result of a single operation, from its 64-bit result.
fn narrow(x: f64) -> f32 {
    x as f32
}

fn add(x: f32, y: f32) -> f32 {
    narrow(f64::from(x) + f64::from(y))
}

fn subtract(x: f32, y: f32) -> f32 {
    narrow(f64::from(x) - f64::from(y))
}

fn multiply(x: f32, y: f32) -> f32 {
    narrow(f64::from(x) * f64::from(y))
}

fn divide(x: f32, y: f32) -> f32 {
    narrow(f64::from(x) / f64::from(y))
}

/// |x| as an integer m and an exponent k: m·2^k units of 2^-149.
fn units(x: f32) -> (u128, u32) {
    let bits = x.to_bits() & 0x7fff_ffff;
    match bits >> 23 {
        0 => (bits.into(), 0),
        exponent => ((bits & 0x7f_ffff | 0x80_0000).into(), exponent - 1),
    }
}

/// The remainder of |x| by |y|, with the sign of x. Both are finite, and y is not zero.
fn remainder(x: f32, y: f32) -> f32 {
    let ((mut left, shift), (significand, places)) = (units(x), units(y));
    let divisor = significand << places.min(64);
    // If the divisor is larger, either x is not larger, or both can be scaled down.
    let (base, scale) = if places > 64 { (significand, places) } else { (divisor, 0) };
    if scale == 0 {
        for _ in 0..shift {
            left = left % base * 2;
        }
        left %= base;
        return (left as f64 * 2f64.powi(-149)) as f32 * 1f32.copysign(x);
    }
    if shift < scale {
        return if x.abs() < y.abs() { x } else { (x.abs() - y.abs()).copysign(x) };
    }
    for _ in scale..shift {
        left = left % base * 2;
    }
    ((left % base) as f64 * 2f64.powi(scale as i32 - 149)) as f32 * 1f32.copysign(x)
}

/// The results that the seed allows for arithmetic, after its wording. `None` for functions.
fn exact(meaning: Meaning, x: &[f32]) -> Option<OpResult> {
    let is = |x: f32| Some(OpResult::Exactly(bits(x)));
    let any = Some(OpResult::Any(0));
    let of = |all: &[f32]| {
        let mut found: Vec<u32> = Vec::new();
        for x in all {
            if !found.contains(&bits(*x)) {
                found.push(bits(*x));
            }
        }
        Some(if found.len() == 1 { OpResult::Exactly(found[0]) } else { OpResult::OneOf(found.into_iter().collect()) })
    };
    let extreme = |x: f32, y: f32, greater: bool| -> Vec<f32> {
        let zeros = x == 0.0 && y == 0.0;
        if x.is_nan() || y.is_nan() || zeros {
            vec![x, y]
        } else if greater {
            vec![if f64::from(x) > f64::from(y) { x } else { y }]
        } else {
            vec![if f64::from(x) < f64::from(y) { x } else { y }]
        }
    };
    let clamp = |x: f32, low: f32, high: f32| {
        if high < low || x.is_nan() || low.is_nan() || high.is_nan() {
            return any.clone();
        }
        let all: Vec<f32> = extreme(x, low, true).into_iter().flat_map(|raised| extreme(raised, high, false)).collect();
        of(&all)
    };
    let whole = |x: f32, f: fn(f64) -> f64| is(narrow(f(f64::from(x))));
    let smooth = |low: f32, high: f32, x: f32| {
        if high < low || x.is_nan() || low.is_nan() || high.is_nan() {
            any.clone()
        } else if x <= low {
            is(0.0)
        } else if x >= high {
            is(1.0)
        } else {
            let t = divide(subtract(x, low), subtract(high, low));
            is(multiply(multiply(t, t), subtract(3.0, multiply(2.0, t))))
        }
    };
    match (meaning, x) {
        (Add, &[x, y]) => is(add(x, y)),
        (Subtract, &[x, y]) => is(subtract(x, y)),
        (Multiply, &[x, y]) => is(multiply(x, y)),
        (Divide | Fmod, &[_, 0.0]) => any,
        (Divide, &[x, y]) => is(divide(x, y)),
        (Fmod, &[x, y]) if x.is_nan() || y.is_nan() || x.is_infinite() => is(f32::NAN),
        (Fmod, &[x, y]) => is(if y.is_infinite() { x } else { remainder(x, y) }),
        (Negate, &[x]) => is(narrow(-f64::from(x))),
        (Abs, &[x]) => is(if x.is_sign_negative() { -x } else { x }),
        (Sign | Saturate, &[x]) if x.is_nan() => any,
        (Sign, &[x]) => is(if x > 0.0 {
            1.0
        } else if x < 0.0 {
            -1.0
        } else {
            0.0
        }),
        (Min, &[x, y]) => of(&extreme(x, y, false)),
        (Max, &[x, y]) => of(&extreme(x, y, true)),
        (Clamp, &[x, low, high]) => clamp(x, low, high),
        (Saturate, &[x]) => clamp(x, 0.0, 1.0),
        (Ceil, &[x]) => whole(x, f64::ceil),
        (Floor, &[x]) => whole(x, f64::floor),
        (Trunc, &[x]) => whole(x, f64::trunc),
        (Round, &[x]) => {
            let (low, high) = (f64::from(x).floor(), f64::from(x).ceil());
            let (below, above) = (f64::from(x) - low, high - f64::from(x));
            let sign = |y: f64| narrow(y.copysign(f64::from(x)));
            match below.partial_cmp(&above) {
                Some(std::cmp::Ordering::Less) => is(sign(low)),
                Some(std::cmp::Ordering::Greater) => is(sign(high)),
                _ if below != 0.5 => is(x),
                _ if low % 2.0 == 0.0 => of(&[sign(low), sign(high)]),
                _ => of(&[sign(high), sign(low)]),
            }
        }
        (Frac, &[0.0]) => is(0.0),
        (Frac, &[x]) => is(narrow(f64::from(x) - f64::from(x).floor())),
        (Modf, &[x]) if x.is_infinite() => is(0f32.copysign(x)),
        (Modf, &[x]) => is(narrow((f64::from(x) - f64::from(x).trunc()).copysign(f64::from(x)))),
        (Sqrt, &[x]) if x < 0.0 => any,
        (Sqrt, &[x]) => is(narrow(f64::from(x).sqrt())),
        (Rcp, &[0.0]) => any,
        (Rcp, &[x]) => is(divide(1.0, x)),
        (Step, &[x, y]) => is(if x >= y { 1.0 } else { 0.0 }),
        (Lerp, &[x, y, s]) => is(add(multiply(x, subtract(1.0, s)), multiply(y, s))),
        (Smoothstep, &[low, high, x]) => smooth(low, high, x),
        (Mad, &[a, b, c]) => {
            let twice = add(multiply(a, b), c);
            let finite = a.is_finite() && b.is_finite() && c.is_finite();
            let product = f64::from(a) * f64::from(b);
            // The product is exact; so is the sum in many digits.
            let once = match finite {
                false => narrow(product + f64::from(c)),
                true if product + f64::from(c) == 0.0 => narrow(product + f64::from(c)),
                true => float(&big(product).add(&big(c.into()), 1600, RM)),
            };
            of(&[twice, once])
        }
        _ => None,
    }
}

pub const ARITHMETIC: [Meaning; 24] = [
    Add, Subtract, Multiply, Divide, Fmod, Negate, Abs, Sign, Min, Max, Clamp, Saturate, Ceil, Floor, Trunc, Round, Frac, Modf, Sqrt, Rcp,
    Step, Lerp, Smoothstep, Mad,
];

/// Checks arithmetic at corners and at `random` other operands.
pub fn arithmetic(checks: &mut Checks, random: usize) {
    let corners = corners();
    let mut source = Random(11);
    for meaning in ARITHMETIC {
        let op = Op { meaning, of: Scalar::Float, to: Scalar::Float };
        let arity = op.arity().expect("an operation");
        let mut check = |operands: &[f32]| {
            let words: Vec<u32> = operands.iter().map(|x| x.to_bits()).collect();
            checks.scalar(op, &words, exact(meaning, operands).unwrap_or_else(|| panic!("{op:?} of {operands:?}")));
        };
        // All pairs. With three operands, each pair with a few third operands.
        for i in 0..corners.len().pow(arity.min(2) as u32) {
            let mut operands = vec![corners[i % corners.len()]];
            if arity > 1 {
                operands.push(corners[i / corners.len()]);
            }
            match arity {
                3 => [0.0, -0.0, 0.3, 1.0, -2.0, 1e30]
                    .into_iter()
                    .chain([corners[i % 7]])
                    .for_each(|z| check(&[operands[0], operands[1], z])),
                _ => check(&operands),
            }
        }
        for _ in 0..random {
            let near = source.below(2) == 0;
            let operands: Vec<f32> = (0..arity)
                .map(|_| {
                    let bits = source.next() as u32;
                    f32::from_bits(if near { bits & 0x83ff_ffff | 0x3c00_0000 } else { bits })
                })
                .collect();
            check(&operands);
        }
    }
}

/// The function in many digits. `None` where it is undefined, infinite or a simple fraction.
fn function(meaning: Meaning, x: f32, c: &mut Consts) -> Option<BigFloat> {
    let a = big(x.into());
    let pi = |c: &mut Consts| c.pi(P, RM);
    Some(match meaning {
        Cos => a.cos(P, RM, c),
        Sin => a.sin(P, RM, c),
        Tan => a.tan(P, RM, c),
        Acos | Asin if x.abs() >= 1.0 => return None,
        Acos => a.acos(P, RM, c),
        Asin => a.asin(P, RM, c),
        Atan => a.atan(P, RM, c),
        Cosh => a.cosh(P, RM, c),
        Sinh => a.sinh(P, RM, c),
        Tanh => a.tanh(P, RM, c),
        Exp => a.exp(P, RM, c),
        Exp2 => big(2.0).pow(&a, P, RM, c),
        Log | Log2 | Log10 | Rsqrt if x <= 0.0 || x == 1.0 => return None,
        Log => a.ln(P, RM, c),
        Log2 => a.log2(P, RM, c),
        Log10 => a.log10(P, RM, c),
        Rsqrt => a.sqrt(P, RM).reciprocal(P, RM),
        Degrees => a.mul(&big(180.0), P, RM).div(&pi(c), P, RM),
        Radians => a.mul(&pi(c), P, RM).div(&big(180.0), P, RM),
        _ => return None,
    })
}

pub const FUNCTIONS: [Meaning; 17] =
    [Cos, Sin, Tan, Acos, Asin, Atan, Cosh, Sinh, Tanh, Exp, Exp2, Log, Log2, Log10, Rsqrt, Degrees, Radians];

/// Checks functions where they are most interesting: between 2^-12 and 2^7.
pub fn functions(checks: &mut Checks, count: usize) {
    let mut c = Consts::new().expect("constants");
    let mut source = Random(13);
    for meaning in FUNCTIONS {
        let op = Op { meaning, of: Scalar::Float, to: Scalar::Float };
        for i in 0..count {
            let bits = source.next() as u32;
            let exponent = 127 - 12 + source.below(if matches!(meaning, Acos | Asin) { 12 } else { 19 }) as u32;
            let positive = matches!(meaning, Log | Log2 | Log10 | Rsqrt);
            let x = f32::from_bits(bits & if positive { 0x7f_ffff } else { 0x807f_ffff } | exponent << 23);
            // Whole numbers too.
            let x = if i % 8 == 0 { x.round() } else { x };
            let Some(exact) = function(meaning, x, &mut c).filter(|_| x != 0.0) else { continue };
            checks.scalar(op, &[x.to_bits()], OpResult::Exactly(bits_of(&exact)));
        }
    }
    // Functions of two operands.
    for _ in 0..count {
        let x = f32::from_bits(source.next() as u32 & 0x07ff_ffff | 0x3c00_0000);
        let y = f32::from_bits(source.next() as u32 & 0x83ff_ffff | 0x3e00_0000);
        let power = |base: f64, c: &mut Consts| float(&big(base).pow(&big(y.into()), P, RM, c));
        let op = |meaning| Op { meaning, of: Scalar::Float, to: Scalar::Float };
        let words = [x.to_bits(), y.to_bits()];
        checks.scalar(op(Pow), &words, OpResult::Exactly(bits(power(x.into(), &mut c))));
        checks.scalar(op(Ldexp), &words, OpResult::Exactly(bits(multiply(x, power(2.0, &mut c)))));
        let angle = big(y.into()).div(&big(x.into()), P, RM).atan(P, RM, &mut c);
        checks.scalar(op(Atan2), &[words[1], words[0]], OpResult::Exactly(bits_of(&angle)));
        let opposite = c.pi(P, RM).sub(&angle, P, RM);
        let opposite = if y > 0.0 { opposite } else { opposite.sub(&c.pi(P, RM).mul(&big(2.0), P, RM), P, RM) };
        checks.scalar(op(Atan2), &[words[1], (-x).to_bits()], OpResult::Exactly(bits_of(&opposite)));
    }
}

fn bits_of(x: &BigFloat) -> u32 {
    bits(float(x))
}

#[test]
fn arithmetic_on_64_bits() {
    let mut checks = Checks::of(Planted::NONE);
    arithmetic(&mut checks, 2000);
    checks.assert();
}

#[test]
fn functions_in_many_digits() {
    let mut checks = Checks::of(Planted::NONE);
    functions(&mut checks, 400);
    checks.assert();
}

/// The result of log10 may be so near a halfway point of floats that libm's 64 bits leave the
/// rounding open: at powers of ten, and at floats around them.
#[test]
fn logarithms_to_base_10_in_every_direction() {
    use smallstep_semantics::number::reference::{Direction, Rounded, log10};
    let mut c = Consts::new().expect("constants");
    let mut source = Random(17);
    for _ in 0..500 {
        let x = f32::from_bits(source.next() as u32 & 0x7fff_ffff);
        if !x.is_finite() || x == 0.0 {
            continue;
        }
        let nearest = float(&big(x.into()).log10(P, RM, &mut c));
        assert_eq!(log10(x, Direction::NearestEven), Rounded::Value(nearest), "{x}");
        let [down, up] = [Direction::Down, Direction::Up].map(|direction| match log10(x, direction) {
            Rounded::Value(value) => value,
            Rounded::Undefined => panic!("{x}"),
        });
        assert!(down.next_up() == up && (nearest == down || nearest == up), "{x}: {down} {nearest} {up}");
    }
    for power in 0..=10 {
        let x = 10f32.powi(power);
        for direction in Direction::ALL {
            assert_eq!(log10(x, direction), Rounded::Value(power as f32), "{x}");
        }
    }
    assert_eq!(log10(-1.0, Direction::Down), Rounded::Undefined);
    assert_eq!(log10(f32::NAN, Direction::Down), Rounded::Undefined);
    assert_eq!(log10(-0.0, Direction::Up), Rounded::Value(f32::NEG_INFINITY));
}
