//! Every operation's value, compared with a second method that shares nothing with the first. The
//! methods are 64-bit arithmetic where one more rounding is known to be correct, integers, and
//! 160-bit floats for transcendental functions.

#[path = "number_values/composite.rs"]
mod composite;
#[path = "common/nearest.rs"]
mod nearest;
#[path = "common/random.rs"]
mod random;
#[path = "number_values/transcendental.rs"]
mod transcendental;

use random::Random;
use smallstep_semantics::number::{Instruction, Lane, Lanes, Op, Profile, Tuple, Why, apply, bits_of_any, bits_of_vectors};

const NAN: u32 = 0x7fc0_0000;

impl Random {
    /// Any bits.
    fn any(&mut self) -> f32 {
        f32::from_bits((self.next() >> 32) as u32)
    }

    /// A finite float. Half of them are within 2^±12.
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

/// Zeros, subnormals, powers of two and their neighbours, integers and halves, the ends of the
/// range, infinities and NaNs. All are in both signs.
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
        // Of similar magnitude, so that digits cancel.
        let (x, y) = (random.finite(), random.finite());
        check(x, y);
        check(x, f32::from_bits(x.to_bits().wrapping_add(random.below(9) as u32).wrapping_sub(4)));
    }
}

#[test]
fn arithmetic_is_rounded_to_nearest_even() {
    // 53 bits are more than twice 24 plus 2. So rounding the 64-bit result once more is correct,
    // also for subnormal results.
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

/// Orders all floats except NaN as integers. Both zeros are the same integer.
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
        // The first operand if the order does not decide.
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

/// Floor, ceil, trunc, round to even and fraction, with integers.
fn integral(op: Op, x: f32) -> f32 {
    if x.is_nan() || x.abs() >= 8_388_608.0 {
        return x;
    }
    // In units of 2^-24. `rest` says whether there is more, between 0 and 1 unit.
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

/// Operands of fitting shapes for an operation. `float` makes the lanes that are no Booleans.
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

/// A computation on bits alone has the bits of a computation on lanes. The other components of its
/// operands may be anything.
#[test]
fn bits_alone_are_those_of_the_lanes() {
    let corners = corners();
    let mut random = Random(31);
    for &op in Op::ALL {
        let mut by_vectors = 0;
        for round in 0..3_000 {
            let float = || {
                let float = if random.below(2) == 0 { corners[random.below(corners.len())] } else { random.any() };
                if float.is_nan() { f32::from_bits(NAN) } else { float }
            };
            let operands = operands(op, 1 + round % 4, 2 + round % 3, float);
            let tuples: Vec<Tuple<'_>> = operands.iter().map(|(lanes, columns)| Tuple { lanes, columns: *columns }).collect();
            let expected: Vec<u32> = apply(op, &tuples).iter().map(|lane| lane.bits).collect();
            let bits: Vec<Vec<u32>> = operands.iter().map(|(lanes, _)| lanes.iter().map(|lane| lane.bits).collect()).collect();
            let four = |i: usize| {
                let given = bits.get(i).into_iter().flatten().copied();
                let mut four = [0; 4];
                four.iter_mut().zip(given.chain(std::iter::repeat(0x7f80_0001))).for_each(|(four, given)| *four = given);
                four
            };
            let found = match bits_of_vectors(op, bits[0].len().min(4), [&four(0), &four(1), &four(2)]) {
                Some(four) => {
                    by_vectors += 1;
                    four[..expected.len()].to_vec()
                }
                None => {
                    let args: Vec<(&[u32], usize)> = bits.iter().zip(&operands).map(|(bits, (_, columns))| (&bits[..], *columns)).collect();
                    bits_of_any(op, &args).to_vec()
                }
            };
            assert_eq!(found, expected, "{op:?} {operands:?}");
        }
        assert!(by_vectors == 0 || by_vectors == 3_000, "{op:?}");
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

/// The doubt of the only lane of a result, and whether the lane is decided under `Wgsl`.
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
