//! Transcendental functions compared with 160-bit floats, modulo compared with the exact remainder,
//! and the results of all these outside of their domains.

use astro_float::{BigFloat, Consts, RoundingMode, Sign};
use smallstep_semantics::number::Op;

use super::*;

const P: usize = 160;
const RM: RoundingMode = RoundingMode::ToEven;

fn big(x: f32) -> BigFloat {
    BigFloat::from_f32(x, P)
}

/// The nearest 32-bit float, ties to even.
fn nearest(x: &BigFloat) -> f32 {
    super::nearest::nearest(x, 24, -126, 128) as f32
}

/// A finite x as a 64-bit float, truncated.
fn wide(x: &BigFloat) -> f64 {
    match x.as_raw_parts() {
        None => f64::NAN,
        Some(_) if x.is_zero() => 0.0,
        Some((words, _, sign, exponent, _)) => {
            let magnitude = (words[words.len() - 1] >> 11) as f64 * 2f64.powi(exponent - 53);
            if sign == Sign::Pos { magnitude } else { -magnitude }
        }
    }
}

/// The function in 160-bit floats, where it is defined.
fn precise(op: Op, x: f32, y: f32, consts: &mut Consts) -> BigFloat {
    let (a, b) = (big(x), big(y));
    let pi = |consts: &mut Consts| consts.pi(P, RM);
    match op {
        Op::Radians => a.mul(&pi(consts), P, RM).div(&big(180.0), P, RM),
        Op::Degrees => a.mul(&big(180.0), P, RM).div(&pi(consts), P, RM),
        Op::Sin => a.sin(P, RM, consts),
        Op::Cos => a.cos(P, RM, consts),
        Op::Tan => a.tan(P, RM, consts),
        Op::Asin => a.asin(P, RM, consts),
        Op::Acos => a.acos(P, RM, consts),
        Op::Atan => a.atan(P, RM, consts),
        Op::Sinh => a.sinh(P, RM, consts),
        Op::Cosh => a.cosh(P, RM, consts),
        Op::Tanh => a.tanh(P, RM, consts),
        Op::Asinh => a.asinh(P, RM, consts),
        Op::Acosh => a.acosh(P, RM, consts),
        Op::Atanh => a.atanh(P, RM, consts),
        Op::Exp => a.exp(P, RM, consts),
        Op::Exp2 => big(2.0).pow(&a, P, RM, consts),
        Op::Log => a.ln(P, RM, consts),
        Op::Log2 => a.log2(P, RM, consts),
        Op::Sqrt => a.sqrt(P, RM),
        Op::InverseSqrt => a.sqrt(P, RM).reciprocal(P, RM),
        Op::Pow => a.pow(&b, P, RM, consts),
        Op::Atan2 => {
            // x is the ordinate, y the abscissa.
            let angle = a.div(&b, P, RM).atan(P, RM, consts);
            match (y < 0.0, x < 0.0) {
                (false, _) => angle,
                (true, false) => angle.add(&pi(consts), P, RM),
                (true, true) => angle.sub(&pi(consts), P, RM),
            }
        }
        _ => unreachable!("{op:?} is not transcendental"),
    }
}

/// Operands for which the function is defined, finite and not zero. They cover the whole domain,
/// but most are where the function is interesting.
fn in_domain(op: Op, random: &mut Random) -> (f32, f32) {
    let unit = |random: &mut Random| (random.next() >> 40) as f32 / 16_777_216.0;
    let any = random.finite();
    let x = match op {
        Op::Asin | Op::Acos | Op::Atanh => match random.below(3) {
            0 => unit(random) * if random.below(2) == 0 { 1.0 } else { -1.0 },
            1 => 1.0 - 2f32.powi(-(random.below(24) as i32) - 1),
            _ => f32::from_bits(any.to_bits() & 0x83ff_ffff | 0x2000_0000),
        },
        Op::Acosh => any.abs() + 1.0,
        Op::Log | Op::Log2 | Op::Sqrt | Op::InverseSqrt | Op::Pow => match random.below(3) {
            0 => 1.0 + (unit(random) - 0.5) * 2f32.powi(-(random.below(22) as i32)),
            _ => any.abs(),
        },
        Op::Exp | Op::Exp2 | Op::Sinh | Op::Cosh => match random.below(3) {
            0 => f32::from_bits(any.to_bits() & 0x83ff_ffff | 0x3000_0000),
            _ => (unit(random) - 0.5) * 260.0,
        },
        _ => any,
    };
    let y = match op {
        Op::Pow => (unit(random) - 0.5) * 200.0 / (x.log2().abs() + 0.1),
        _ => random.finite(),
    };
    let bad = |x: f32| x == 0.0 || !x.is_finite();
    if bad(x) || bad(y) || op == Op::Acosh && x <= 1.0 || op == Op::Atanh && x.abs() >= 1.0 { in_domain(op, random) } else { (x, y) }
}

const TRANSCENDENTAL: [Op; 22] = [
    Op::Radians,
    Op::Degrees,
    Op::Sin,
    Op::Cos,
    Op::Tan,
    Op::Asin,
    Op::Acos,
    Op::Atan,
    Op::Sinh,
    Op::Cosh,
    Op::Tanh,
    Op::Asinh,
    Op::Acosh,
    Op::Atanh,
    Op::Exp,
    Op::Exp2,
    Op::Log,
    Op::Log2,
    Op::Sqrt,
    Op::InverseSqrt,
    Op::Pow,
    Op::Atan2,
];

#[test]
fn transcendental_functions_are_within_half_a_unit_in_the_last_place() {
    const SAMPLES: usize = 2_000;
    let mut consts = Consts::new().expect("memory");
    let mut random = Random(13);
    for op in TRANSCENDENTAL {
        let mut not_nearest = 0;
        let mut worst = 0f64;
        for _ in 0..SAMPLES {
            let (x, y) = in_domain(op, &mut random);
            let args = &[x, y][..op.arity()];
            let found = scalar(op, args);
            let exact = precise(op, x, y, &mut consts);
            let expected = nearest(&exact);
            if found.to_bits() == expected.to_bits() {
                continue;
            }
            not_nearest += 1;
            assert!(found.is_finite() && expected.is_finite(), "{op:?} {args:?}: found {found:?}, due {expected:?}");
            let unit = f64::from(found.abs().next_up()) - f64::from(found.abs());
            let error = wide(&exact.sub(&big(found), P, RM)).abs() / unit;
            worst = worst.max(error);
            // A 64-bit function with an error of a few units in its last place shifts the error by
            // no more than this.
            assert!(error < 0.5 + 1e-7, "{op:?} {args:?}: found {found:?}, due {expected:?}, off by {error} units");
        }
        println!("{op:?}: {not_nearest} of {SAMPLES} are not the nearest float; the worst of these is off by {worst:.9} units");
    }
}

#[test]
fn modulo_is_the_exact_remainder_rounded_once() {
    const WIDE: usize = 768;
    let check = |x: f32, y: f32| {
        if !x.is_finite() || !y.is_finite() || y == 0.0 {
            if y.is_nan() || x.is_nan() || x.is_infinite() || y == 0.0 {
                assert_same(Op::Mod, &[x, y], f32::NAN);
            }
            return;
        }
        let (a, b) = (BigFloat::from_f32(x, WIDE), BigFloat::from_f32(y, WIDE));
        let quotient = a.div(&b, WIDE, RM).floor();
        let remainder = a.sub(&b.mul(&quotient, WIDE, RM), WIDE, RM);
        let expected = nearest(&remainder);
        assert_same(Op::Mod, &[x, y], if remainder.is_zero() { 0f32.copysign(y) } else { expected });
    };
    let corners = corners();
    for &x in &corners {
        for &y in &corners {
            check(x, y);
        }
    }
    let mut random = Random(17);
    for _ in 0..10_000 {
        check(random.finite(), random.finite());
    }
    assert_same(Op::Mod, &[-1.0, f32::INFINITY], f32::INFINITY);
    assert_same(Op::Mod, &[1.0, f32::INFINITY], 1.0);
    assert_same(Op::Mod, &[1.0, f32::NEG_INFINITY], f32::NEG_INFINITY);
}

#[test]
fn outside_their_domains_functions_have_the_documented_values() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let half_pi = std::f32::consts::FRAC_PI_2;
    for (op, x, expected) in [
        (Op::Sqrt, -1.0, nan),
        (Op::Sqrt, -0.0, -0.0),
        (Op::Sqrt, inf, inf),
        (Op::InverseSqrt, 0.0, inf),
        (Op::InverseSqrt, -1.0, nan),
        (Op::InverseSqrt, inf, 0.0),
        (Op::Log, 0.0, -inf),
        (Op::Log, -1.0, nan),
        (Op::Log2, 0.0, -inf),
        (Op::Log2, -1.0, nan),
        (Op::Log2, inf, inf),
        (Op::Exp, -inf, 0.0),
        (Op::Exp, 1000.0, inf),
        (Op::Exp2, -150.0, 0.0),
        (Op::Exp2, -149.0, f32::from_bits(1)),
        (Op::Exp2, 128.0, inf),
        (Op::Asin, 1.5, nan),
        (Op::Acos, -1.5, nan),
        (Op::Acos, 1.0, 0.0),
        (Op::Acosh, 0.5, nan),
        (Op::Acosh, 1.0, 0.0),
        (Op::Atanh, 1.0, inf),
        (Op::Atanh, -2.0, nan),
        (Op::Atan, inf, half_pi),
        (Op::Sin, inf, nan),
        (Op::Cos, -inf, nan),
        (Op::Tan, inf, nan),
        (Op::Tanh, inf, 1.0),
        (Op::Sinh, -inf, -inf),
        (Op::Cosh, -inf, inf),
        (Op::Asinh, -inf, -inf),
        (Op::Sin, -0.0, -0.0),
        (Op::Cos, 0.0, 1.0),
        (Op::Exp, 0.0, 1.0),
        (Op::Exp2, 0.0, 1.0),
        (Op::Log, 1.0, 0.0),
        (Op::Log2, 1.0, 0.0),
        (Op::Radians, -0.0, -0.0),
        (Op::Degrees, 0.0, 0.0),
        (Op::Asin, -0.0, -0.0),
        (Op::Atan, -0.0, -0.0),
        (Op::Sinh, -0.0, -0.0),
        (Op::Tanh, -0.0, -0.0),
        (Op::Asinh, -0.0, -0.0),
        (Op::Atanh, -0.0, -0.0),
        (Op::Tan, -0.0, -0.0),
        (Op::Cosh, 0.0, 1.0),
        (Op::Sqrt, nan, nan),
        (Op::Sin, nan, nan),
    ] {
        assert_same(op, &[x], expected);
    }
    for (op, x, y, expected) in [
        (Op::Pow, -2.0, 3.0, -8.0),
        (Op::Pow, -2.0, 0.5, nan),
        (Op::Pow, 0.0, 0.0, 1.0),
        (Op::Pow, 0.0, -1.0, inf),
        (Op::Pow, 2.0, 200.0, inf),
        (Op::Atan2, 0.0, 0.0, 0.0),
        (Op::Atan2, 0.0, -1.0, std::f32::consts::PI),
        (Op::Atan2, 1.0, 0.0, half_pi),
        (Op::Atan2, -1.0, 0.0, -half_pi),
        (Op::Div, 0.0, 0.0, nan),
        (Op::Div, -1.0, 0.0, -inf),
    ] {
        assert_same(op, &[x, y], expected);
    }
}
