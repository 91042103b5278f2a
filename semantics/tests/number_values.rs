//! Every operation's value against a second way to get it, which shares nothing with the first: 64-bit arithmetic where one rounding of it is
//! known to be right, integers, and 128-bit floats for what is transcendental.

use astro_float::{BigFloat, Consts, RoundingMode, Sign};
use smallstep_semantics::number::{Instruction, Lane, Lanes, Op, Profile, Tuple, Why, apply};

const NAN: u32 = 0x7fc0_0000;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }

    /// Any bits.
    fn any(&mut self) -> f32 {
        f32::from_bits((self.next() >> 32) as u32)
    }

    /// A finite float; half of them within 2^±12.
    fn finite(&mut self) -> f32 {
        loop {
            let x = match self.below(2) {
                0 => self.any(),
                _ => f32::from_bits((self.next() >> 32) as u32 & 0x807f_ffff | (self.below(24) as u32 + 115) << 23),
            };
            if x.is_finite() {
                return x;
            }
        }
    }

    fn integer(&mut self, reach: i64) -> i64 {
        self.below(2 * reach as usize + 1) as i64 - reach
    }
}

/// Zeros, subnormals, powers of two and their neighbours, integers and halves, the ends, infinities and NaNs; of both signs.
fn corners() -> Vec<f32> {
    let mut corners = vec![0.0, f32::INFINITY, f32::NAN, f32::from_bits(0x7f80_0001), f32::MAX, f32::MAX.next_down()];
    corners.extend([1, 2, 0x40_0000, 0x7f_ffff, 0x7f_fffe].map(f32::from_bits));
    for exponent in [-126, -125, -75, -64, -25, -24, -23, -2, -1, 0, 1, 2, 10, 22, 23, 24, 31, 63, 64, 126, 127] {
        let power = 2f32.powi(exponent);
        corners.extend([power.next_down(), power, power.next_up(), power * 1.5]);
    }
    corners.extend([0.1, 2.5, 3.5, 7.0, 10.0, 100.25, 8_388_607.5, std::f32::consts::PI, std::f32::consts::FRAC_PI_2]);
    let negative: Vec<f32> = corners.iter().map(|x| -x).collect();
    corners.extend(negative);
    corners
}

fn floats(values: &[f32]) -> Lanes {
    values.iter().map(|&x| Lane::exact(x)).collect()
}

/// The operation on scalars.
fn scalar(op: Op, args: &[f32]) -> f32 {
    let lanes = floats(args);
    let tuples: Vec<Tuple<'_>> = lanes.chunks(1).map(Tuple::vector).collect();
    let result = apply(op, &tuples);
    assert_eq!(result.len(), 1, "{op:?}");
    result[0].float()
}

fn assert_same(op: Op, args: &[f32], expected: f32) {
    let found = scalar(op, args);
    let expected = if expected.is_nan() { NAN } else { expected.to_bits() };
    assert!(
        found.to_bits() == expected,
        "{op:?} {args:?}: found {found:?} ({:#010x}), the second way gives {:?} ({expected:#010x})",
        found.to_bits(),
        f32::from_bits(expected)
    );
}

/// All pairs of corners, and random ones.
fn for_pairs(random_pairs: usize, mut check: impl FnMut(f32, f32)) {
    let corners = corners();
    for &x in &corners {
        for &y in &corners {
            check(x, y);
        }
    }
    let mut random = Random(11);
    for _ in 0..random_pairs {
        let (x, y) = (random.any(), random.any());
        check(x, y);
        // Of like magnitude, so that digits cancel.
        let (x, y) = (random.finite(), random.finite());
        check(x, y);
        check(x, f32::from_bits(x.to_bits().wrapping_add(random.below(9) as u32).wrapping_sub(4)));
    }
}

#[test]
fn arithmetic_is_rounded_to_nearest_even() {
    // 53 bits are more than twice 24 and 2, so rounding the 64-bit result once more is right, for subnormal results too.
    for_pairs(200_000, |x, y| {
        let (a, b) = (f64::from(x), f64::from(y));
        assert_same(Op::Add, &[x, y], (a + b) as f32);
        assert_same(Op::Sub, &[x, y], (a - b) as f32);
        assert_same(Op::Mul, &[x, y], (a * b) as f32);
        assert_same(Op::VectorTimesScalar, &[x, y], (a * b) as f32);
        assert_same(Op::Div, &[x, y], (a / b) as f32);
        assert_same(Op::Sqrt, &[x], a.sqrt() as f32);
        let negated = if x.is_nan() { x } else { f32::from_bits(x.to_bits() ^ 0x8000_0000) };
        assert_same(Op::Negate, &[x], negated);
    });
}

/// Orders all floats but NaN as integers, the zeros as one.
fn key(x: f32) -> Option<i64> {
    let bits = i64::from(x.to_bits() & 0x7fff_ffff);
    (bits <= 0x7f80_0000).then_some(if x.is_sign_negative() { -bits } else { bits })
}

#[test]
fn comparisons_and_choices_follow_the_order() {
    for_pairs(100_000, |x, y| {
        let keys = key(x).zip(key(y));
        let test = |op: Op, expected: bool| {
            let (x, y) = ([Lane::exact(x)], [Lane::exact(y)]);
            let found = apply(op, &[Tuple::vector(&x), Tuple::vector(&y)])[0];
            assert_eq!(found.bits, expected as u32, "{op:?} {x:?} {y:?}");
        };
        test(Op::LessThan, keys.is_some_and(|(a, b)| a < b));
        test(Op::LessThanEqual, keys.is_some_and(|(a, b)| a <= b));
        test(Op::GreaterThan, keys.is_some_and(|(a, b)| a > b));
        test(Op::GreaterThanEqual, keys.is_some_and(|(a, b)| a >= b));
        test(Op::Equal, keys.is_some_and(|(a, b)| a == b));
        test(Op::NotEqual, keys.is_none_or(|(a, b)| a != b));
        // The first operand where the order does not say.
        assert_same(Op::Min, &[x, y], if keys.is_some_and(|(a, b)| b < a) { y } else { x });
        assert_same(Op::Max, &[x, y], if keys.is_some_and(|(a, b)| b > a) { y } else { x });
        assert_same(Op::Step, &[x, y], if keys.is_some_and(|(a, b)| b < a) { 0.0 } else { 1.0 });
        let sign = match key(x) {
            None => f32::NAN,
            Some(key) => key.signum() as f32,
        };
        assert_same(Op::Sign, &[x], sign);
        assert_same(Op::Abs, &[x], f32::from_bits(x.to_bits() & 0x7fff_ffff));
        if let (Some((a, b)), false) = (keys, y.is_nan()) {
            let (low, high) = if a < b { (x, y) } else { (y, x) };
            for z in [0.0, 1.0, -3.0, low, high, f32::MAX] {
                let z_key = key(z).expect("not NaN");
                let expected = if z_key < a.min(b) {
                    low
                } else if z_key > a.max(b) {
                    high
                } else {
                    z
                };
                assert_eq!(key(scalar(Op::Clamp, &[z, low, high])), key(expected), "clamp {z} {low} {high}");
            }
        }
    });
}

/// Floor, ceil, trunc, round to even and fraction by integers.
fn integral(op: Op, x: f32) -> f32 {
    if x.is_nan() || x.abs() >= 8_388_608.0 {
        return x;
    }
    // In units of 2^-24; what is below has been kept as being between 0 and 1 unit.
    let scaled = f64::from(x.abs()) * 16_777_216.0;
    let units = scaled as i64;
    let rest = scaled != units as f64;
    let (whole, part) = (units >> 24, units & 0xff_ffff);
    let (up_if_positive, up_if_negative) = match op {
        Op::Trunc => (false, false),
        Op::Floor => (false, part != 0 || rest),
        Op::Ceil => (part != 0 || rest, false),
        _ => {
            let half = 0x80_0000;
            let up = part > half || part == half && (rest || whole & 1 == 1);
            (up, up)
        }
    };
    let up = if x.is_sign_negative() { up_if_negative } else { up_if_positive };
    ((whole + i64::from(up)) as f32).copysign(x)
}

#[test]
fn rounding_to_integers_is_exact() {
    for_pairs(200_000, |x, _| {
        for op in [Op::Trunc, Op::Floor, Op::Ceil, Op::RoundEven, Op::Round] {
            assert_same(op, &[x], integral(op, x));
        }
        let fract = if x.is_infinite() { f64::NAN } else { f64::from(x) - f64::from(integral(Op::Floor, x)) };
        assert_same(Op::Fract, &[x], fract as f32);
    });
}

#[test]
fn logic_follows_its_tables() {
    let truth = |value: bool| [Lane::truth(value)];
    for a in [false, true] {
        let unary = |op: Op| apply(op, &[Tuple::vector(&truth(a))])[0].is_true();
        assert_eq!(unary(Op::Not), !a);
        for b in [false, true] {
            let binary = |op: Op| apply(op, &[Tuple::vector(&truth(a)), Tuple::vector(&truth(b))])[0].is_true();
            assert_eq!(binary(Op::And), a & b);
            assert_eq!(binary(Op::Or), a | b);
            assert_eq!(binary(Op::LogicalEqual), !(a ^ b));
            assert_eq!(binary(Op::LogicalNotEqual), a ^ b);
            for c in [false, true] {
                let lanes = [Lane::truth(a), Lane::truth(b), Lane::truth(c)];
                assert_eq!(apply(Op::Any, &[Tuple::vector(&lanes)])[0].is_true(), a | b | c);
                assert_eq!(apply(Op::All, &[Tuple::vector(&lanes)])[0].is_true(), a & b & c);
                let (x, y) = (floats(&[1.0, 2.0, 3.0]), floats(&[-1.0, f32::NAN, -0.0]));
                let select = |condition: &[Lane]| -> Vec<u32> {
                    let args = [Tuple::vector(condition), Tuple::vector(&x), Tuple::vector(&y)];
                    apply(Op::Select, &args).iter().map(|lane| lane.bits).collect()
                };
                let pick = |i: usize, condition: bool| if condition { x[i].bits } else { y[i].bits };
                assert_eq!(select(&lanes), [pick(0, a), pick(1, b), pick(2, c)]);
                assert_eq!(select(&lanes[..1]), [pick(0, a), pick(1, a), pick(2, a)]);
            }
        }
    }
}

const P: usize = 160;
const RM: RoundingMode = RoundingMode::ToEven;

fn big(x: f32) -> BigFloat {
    BigFloat::from_f32(x, P)
}

/// The nearest float, ties to even.
fn nearest(x: &BigFloat) -> f32 {
    if x.is_nan() {
        return f32::NAN;
    }
    if x.is_inf() {
        return if x.is_inf_pos() { f32::INFINITY } else { f32::NEG_INFINITY };
    }
    if x.is_zero() {
        return 0.0;
    }
    let (words, _, sign, exponent, inexact) = x.as_raw_parts().expect("finite");
    let (top, below) = words.split_last().expect("a mantissa has words");
    assert!(top >> 63 == 1, "normalized");
    let sticky = inexact || below.iter().any(|&word| word != 0);
    // x = top / 2^64 · 2^exponent, so its leading bit is worth 2^(exponent - 1).
    let leading = i64::from(exponent) - 1;
    if leading >= 128 {
        return if sign == Sign::Pos { f32::INFINITY } else { f32::NEG_INFINITY };
    }
    let keep = if leading >= -126 { 24 } else { 24 + 126 + leading };
    let magnitude = if keep < 0 {
        0.0
    } else {
        let top = u128::from(*top);
        let shift = 64 - keep as u32;
        let (kept, rest) = (top >> shift, top & ((1 << shift) - 1));
        let half = 1u128 << (shift - 1);
        let up = rest > half || rest == half && (sticky || kept & 1 == 1);
        // Exact: 2^(leading - keep + 1) is at least 2^-149.
        ((kept + u128::from(up)) as f64 * 2f64.powi((leading - keep + 1) as i32)) as f32
    };
    if sign == Sign::Pos { magnitude } else { -magnitude }
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

/// The function as 160-bit floats have it, where it is defined.
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

/// A float for which the function is defined, finite and not zero, over the whole domain and mostly where it is interesting.
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
            // A 64-bit function wrong by a few units in its last place moves nothing by more than this.
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

/// One 32-bit operation, as a 64-bit one rounded again.
fn r(x: f64) -> f64 {
    f64::from(x as f32)
}

fn values(op: Op, args: &[(&[f32], usize)]) -> Vec<f32> {
    let lanes: Vec<Lanes> = args.iter().map(|(values, _)| floats(values)).collect();
    let tuples: Vec<Tuple<'_>> = lanes.iter().zip(args).map(|(lanes, &(_, columns))| Tuple { lanes, columns }).collect();
    apply(op, &tuples).iter().map(|lane| lane.float()).collect()
}

fn assert_all(op: Op, args: &[(&[f32], usize)], expected: &[f64]) {
    let found: Vec<u32> = values(op, args).iter().map(|x| x.to_bits()).collect();
    let expected: Vec<u32> = expected.iter().map(|&x| if x.is_nan() { NAN } else { (x as f32).to_bits() }).collect();
    assert_eq!(found, expected, "{op:?} {args:?}");
}

#[test]
fn composite_operations_follow_their_formulas() {
    let mut random = Random(19);
    for round in 0..20_000 {
        let n = 1 + round % 4;
        let vector = |random: &mut Random, n: usize| -> Vec<f32> {
            (0..n).map(|_| if random.below(4) == 0 { random.any() } else { random.finite() }).collect()
        };
        let (x, y, a) = (vector(&mut random, n), vector(&mut random, n), vector(&mut random, n));
        let w = |v: &[f32]| -> Vec<f64> { v.iter().map(|&x| f64::from(x)).collect() };
        let (xw, yw, aw) = (w(&x), w(&y), w(&a));
        let dot = |x: &[f64], y: &[f64]| {
            let mut sum = r(x[0] * y[0]);
            for i in 1..x.len() {
                sum = r(sum + r(x[i] * y[i]));
            }
            sum
        };
        assert_all(Op::Dot, &[(&x, 1), (&y, 1)], &[dot(&xw, &yw)]);
        let mix: Vec<f64> = (0..n).map(|i| r(r(xw[i] * r(1.0 - aw[i])) + r(yw[i] * aw[i]))).collect();
        assert_all(Op::Mix, &[(&x, 1), (&y, 1), (&a, 1)], &mix);
        let twice = r(2.0 * dot(&yw, &xw));
        let reflect: Vec<f64> = (0..n).map(|i| r(xw[i] - r(twice * yw[i]))).collect();
        assert_all(Op::Reflect, &[(&x, 1), (&y, 1)], &reflect);
        let length = r(dot(&xw, &xw).sqrt());
        assert_all(Op::Length, &[(&x, 1)], &[length]);
        let normal: Vec<f64> = xw.iter().map(|x| r(x / length)).collect();
        assert_all(Op::Normalize, &[(&x, 1)], &normal);
        let difference: Vec<f64> = xw.iter().zip(&yw).map(|(x, y)| r(x - y)).collect();
        assert_all(Op::Distance, &[(&x, 1), (&y, 1)], &[r(dot(&difference, &difference).sqrt())]);
        let smooth: Vec<f64> = (0..n)
            .map(|i| {
                let t = r(r(aw[i] - xw[i]) / r(yw[i] - xw[i]));
                let t = t.clamp(0.0, 1.0);
                r(r(t * t) * r(3.0 - r(2.0 * t)))
            })
            .collect();
        assert_all(Op::SmoothStep, &[(&x, 1), (&y, 1), (&a, 1)], &smooth);

        let (u, v) = (vector(&mut random, 3), vector(&mut random, 3));
        let (uw, vw) = (w(&u), w(&v));
        let minor = |i: usize, j: usize| r(r(uw[i] * vw[j]) - r(vw[i] * uw[j]));
        assert_all(Op::Cross, &[(&u, 1), (&v, 1)], &[minor(1, 2), minor(2, 0), minor(0, 1)]);

        let n = 2 + round % 3;
        let (m, k, v) = (vector(&mut random, n * n), vector(&mut random, n * n), vector(&mut random, n));
        let (mw, kw, vw) = (w(&m), w(&k), w(&v));
        let row = |m: &[f64], i: usize| -> Vec<f64> { (0..n).map(|c| m[c * n + i]).collect() };
        let right: Vec<f64> = (0..n).map(|i| dot(&row(&mw, i), &vw)).collect();
        assert_all(Op::MatrixTimesVector, &[(&m, n), (&v, 1)], &right);
        let left: Vec<f64> = (0..n).map(|c| dot(&vw, &mw[c * n..(c + 1) * n])).collect();
        assert_all(Op::VectorTimesMatrix, &[(&v, 1), (&m, n)], &left);
        let product: Vec<f64> = (0..n * n).map(|i| dot(&row(&mw, i % n), &kw[i / n * n..(i / n + 1) * n])).collect();
        assert_all(Op::MatrixTimesMatrix, &[(&m, n), (&k, n)], &product);
        let scaled: Vec<f64> = mw.iter().map(|x| r(x * vw[0])).collect();
        assert_all(Op::MatrixTimesScalar, &[(&m, n), (&v[..1], 1)], &scaled);
        let turned: Vec<u32> = (0..n * n).map(|i| m[i % n * n + i / n].to_bits()).collect();
        let found: Vec<u32> = values(Op::Transpose, &[(&m, n)]).iter().map(|x| x.to_bits()).collect();
        assert_eq!(found, turned);
    }
}

/// The sum over all permutations.
fn determinant(m: &[Vec<i64>]) -> i64 {
    fn sum(m: &[Vec<i64>], row: usize, used: &mut Vec<usize>) -> i64 {
        if row == m.len() {
            let inversions = (0..row).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| used[j] > used[i]);
            return if inversions.count() % 2 == 0 { 1 } else { -1 };
        }
        let mut total = 0;
        for c in 0..m.len() {
            if !used.contains(&c) {
                used.push(c);
                total += m[row][c] * sum(m, row + 1, used);
                used.pop();
            }
        }
        total
    }
    sum(m, 0, &mut Vec::new())
}

#[test]
fn determinants_and_inverses_of_integers_are_right() {
    let mut random = Random(23);
    for round in 0..5_000 {
        let n = 2 + round % 3;
        // m[c][r]
        let m: Vec<Vec<i64>> = (0..n).map(|_| (0..n).map(|_| random.integer(7)).collect()).collect();
        let lanes: Vec<f32> = m.iter().flatten().map(|&x| x as f32).collect();
        let whole = determinant(&m);
        assert_eq!(values(Op::Determinant, &[(&lanes, n)])[0], whole as f32, "{m:?}");
        if whole == 0 {
            continue;
        }
        let inverse = values(Op::MatrixInverse, &[(&lanes, n)]);
        for c in 0..n {
            for r in 0..n {
                let without = |k: usize, skip: usize| (0..n).filter(move |&i| i != skip).nth(k).expect("n - 1 are left");
                let minor: Vec<Vec<i64>> = (0..n - 1).map(|i| (0..n - 1).map(|j| m[without(i, r)][without(j, c)]).collect()).collect();
                let cofactor = determinant(&minor) * if (c + r) % 2 == 0 { 1 } else { -1 };
                assert_eq!(inverse[c * n + r], (cofactor as f64 / whole as f64) as f32, "{m:?} [{c}][{r}]");
            }
        }
    }
}

/// Operands of fitting shapes for an operation, all lanes made by `float` or Booleans.
fn operands(op: Op, n: usize, m: usize, mut float: impl FnMut() -> f32) -> Vec<(Lanes, usize)> {
    let mut vector = |n: usize| ((0..n).map(|_| Lane::exact(float())).collect::<Lanes>(), 1);
    let booleans = |n: usize| ((0..n).map(|i| Lane::truth(i % 2 == 0)).collect::<Lanes>(), 1);
    let mut matrix = |n: usize| (vector(n * n).0, n);
    match op {
        Op::VectorTimesScalar => vec![vector(n), vector(1)],
        Op::MatrixTimesScalar => vec![matrix(m), matrix(1)],
        Op::VectorTimesMatrix => vec![(matrix(m).0[..m].into(), 1), matrix(m)],
        Op::MatrixTimesVector => vec![matrix(m), (matrix(m).0[..m].into(), 1)],
        Op::MatrixTimesMatrix => vec![matrix(m), matrix(m)],
        Op::Transpose | Op::Determinant | Op::MatrixInverse => vec![matrix(m)],
        Op::Cross => vec![vector(3), vector(3)],
        Op::LogicalEqual | Op::LogicalNotEqual | Op::And | Op::Or => vec![booleans(n), booleans(n)],
        Op::Not | Op::Any | Op::All => vec![booleans(n)],
        Op::Select => vec![booleans(n), vector(n), vector(n)],
        _ => (0..op.arity()).map(|_| vector(n)).collect(),
    }
}

#[test]
fn no_operand_makes_an_operation_panic_and_nan_is_always_the_same() {
    let corners = corners();
    let mut random = Random(29);
    for &op in Op::ALL {
        for round in 0..3_000 {
            let float = || {
                if random.below(2) == 0 { corners[random.below(corners.len())] } else { random.any() }
            };
            let operands = operands(op, 1 + round % 4, 2 + round % 3, float);
            let tuples: Vec<Tuple<'_>> = operands.iter().map(|(lanes, columns)| Tuple { lanes, columns: *columns }).collect();
            for lane in apply(op, &tuples) {
                let moves_bits = matches!(op, Op::Select | Op::Transpose);
                assert!(moves_bits || !lane.float().is_nan() || lane.bits == NAN, "{op:?} {lane:?}");
            }
        }
    }
}

#[test]
fn names_and_numbers_are_those_of_the_grammar() {
    use rspirv::grammar::{GLSL_STD_450_INSTRUCTION_TABLE, INSTRUCTION_TABLE};
    for &op in Op::ALL {
        let name = match op.instruction() {
            Instruction::Core(opcode) => {
                let found = INSTRUCTION_TABLE.lookup_opcode(u32::from(opcode)).expect("the grammar has it");
                assert_eq!(Op::of_core(opcode), Some(op));
                format!("Op{}", found.opname)
            }
            Instruction::Glsl(number) => {
                let found = GLSL_STD_450_INSTRUCTION_TABLE.lookup_opcode(number).expect("the grammar has it");
                assert_eq!(Op::of_glsl(number), Some(op));
                found.opname.to_string()
            }
        };
        assert_eq!(op.name(), name);
        assert_eq!(Op::named(&name), Some(op));
        assert_eq!(Op::of(op.instruction()), Some(op));
    }
    assert_eq!((Op::of_core(127), Op::of_core(0), Op::of_glsl(1), Op::of_glsl(0)), (Some(Op::Negate), None, Some(Op::Round), None));
}

/// What is known of the only lane of a result.
fn known(op: Op, args: &[&[f32]]) -> (Option<Why>, bool) {
    let lanes: Vec<Lanes> = args.iter().map(|values| floats(values)).collect();
    let tuples: Vec<Tuple<'_>> = lanes.iter().map(|lanes| Tuple::vector(lanes)).collect();
    let lane = apply(op, &tuples)[0];
    (lane.trust.doubt, lane.trust.is_decided(Profile::Wgsl))
}

#[test]
fn what_is_decided_and_why_not() {
    let decided = (None, true);
    let strict_only = (None, false);
    let because = |why: Why| (Some(why), false);
    for (op, args, expected) in [
        (Op::Add, &[&[1.5][..], &[2.25]][..], decided),
        (Op::Add, &[&[0.1], &[0.2]], strict_only),
        (Op::Mul, &[&[0.1], &[0.3]], strict_only),
        (Op::Mul, &[&[1e-30], &[1e-10]], because(Why::Subnormal)),
        (Op::Mul, &[&[1e-30], &[1e-30]], because(Why::Subnormal)),
        (Op::Mul, &[&[1.0 - f32::EPSILON / 2.0], &[f32::MIN_POSITIVE]], because(Why::Subnormal)),
        (Op::Add, &[&[1e-40], &[1.0]], because(Why::Subnormal)),
        (Op::Negate, &[&[1e-40]], because(Why::Subnormal)),
        (Op::Mul, &[&[1e30], &[1e30]], because(Why::Infinite)),
        (Op::Add, &[&[f32::INFINITY], &[1.0]], because(Why::Infinite)),
        (Op::Abs, &[&[f32::NAN]], because(Why::NaN)),
        (Op::Div, &[&[6.0], &[3.0]], because(Why::Approximate)),
        (Op::Div, &[&[6.0], &[0.0]], because(Why::Domain)),
        (Op::Mod, &[&[6.0], &[4.0]], because(Why::Approximate)),
        (Op::Sqrt, &[&[4.0]], because(Why::Approximate)),
        (Op::Sqrt, &[&[-4.0]], because(Why::Domain)),
        (Op::Log, &[&[0.0]], because(Why::Domain)),
        (Op::Pow, &[&[-2.0], &[2.0]], because(Why::Domain)),
        (Op::Pow, &[&[0.0], &[0.0]], because(Why::Domain)),
        (Op::Asin, &[&[1.5]], because(Why::Domain)),
        (Op::Acosh, &[&[0.5]], because(Why::Domain)),
        (Op::Atanh, &[&[1.0]], because(Why::Domain)),
        (Op::Atan2, &[&[0.0], &[0.0]], because(Why::Domain)),
        (Op::Normalize, &[&[0.0, 0.0]], because(Why::Domain)),
        (Op::Clamp, &[&[0.5], &[1.0], &[0.0]], because(Why::Domain)),
        (Op::Clamp, &[&[0.5], &[0.0], &[1.0]], decided),
        (Op::SmoothStep, &[&[1.0], &[1.0], &[0.5]], because(Why::Domain)),
        (Op::Round, &[&[2.5]], because(Why::Tie)),
        (Op::RoundEven, &[&[2.5]], decided),
        (Op::Round, &[&[2.25]], decided),
        (Op::Fract, &[&[2.25]], decided),
        (Op::Fract, &[&[-1e-10]], because(Why::Approximate)),
        (Op::Dot, &[&[1.0, 2.0, 3.0], &[4.0, -5.0, 6.0]], decided),
        (Op::Dot, &[&[0.1, 0.2], &[0.3, 0.4]], because(Why::Approximate)),
        // A unit vector picks a component whatever the others are.
        (Op::Dot, &[&[0.1, 1e20, 1e-20], &[0.0, 1.0, 0.0]], decided),
        (Op::Mix, &[&[1.0], &[3.0], &[0.25]], decided),
        (Op::Mix, &[&[0.1], &[0.3], &[0.7]], because(Why::Approximate)),
        (Op::LessThan, &[&[0.1], &[1e6]], decided),
        (Op::LessThan, &[&[1e-40], &[1.0]], because(Why::Subnormal)),
    ] {
        assert_eq!(known(op, args), expected, "{op:?} {args:?}");
    }
}
