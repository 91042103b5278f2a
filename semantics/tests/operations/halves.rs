//! A second implementation of 16-bit floats, with integers. A finite 16-bit float is a multiple of
//! 2^-24. Comparisons find the nearest one to a fraction.

use super::random::Random;
use super::vectors::named;
use smallstep_semantics::number::{Computed, Environment, Half, Real};
use smallstep_semantics::spirv::operation::{Bits, Scalar as Type, Shape, pure};
use smallstep_semantics::undefined::Ub;

/// The magnitude of a finite float in units of 2^-24.
fn units(bits: u64) -> i128 {
    let (exponent, fraction) = (bits >> 10 & 31, i128::from(bits & 1023));
    assert!(exponent < 31, "finite");
    if exponent == 0 { fraction } else { (1024 + fraction) << (exponent - 1) }
}

fn signed_units(bits: u64) -> i128 {
    if bits >> 15 == 1 { -units(bits) } else { units(bits) }
}

/// The float nearest to numerator/denominator units, ties to even. The numerator is at least 0, and
/// the denominator is greater than 0.
fn nearest(numerator: i128, denominator: i128) -> u64 {
    // `low` becomes the greatest float that is not above the fraction.
    let (mut low, mut high) = (0u64, 0x7c00u64);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if units(middle) * denominator <= numerator { low = middle } else { high = middle }
    }
    // The next number above the greatest float would be 2^16.
    let above = if high == 0x7c00 { 1 << 40 } else { units(high) };
    match (2 * numerator).cmp(&((units(low) + above) * denominator)) {
        std::cmp::Ordering::Less => low,
        std::cmp::Ordering::Greater => high,
        std::cmp::Ordering::Equal => low + low % 2,
    }
}

fn with_sign(negative: bool, magnitude: u64) -> u64 {
    u64::from(negative) << 15 | magnitude
}

fn run(name: &str, args: &[(Type, u64)], result: Type) -> Computed {
    let bits: Vec<[u64; 1]> = args.iter().map(|&(_, bits)| [bits]).collect();
    let operands: Vec<Bits<'_>> = args.iter().zip(&bits).map(|((of, _), bits)| Bits { shape: Shape::vector(*of, 1), bits }).collect();
    pure(named(name), &operands, &[Shape::vector(result, 1)], Environment::default()).expect("an operation")[0]
}

fn is_nan(bits: u64) -> bool {
    bits & 0x7fff > 0x7c00
}

fn is_finite(bits: u64) -> bool {
    bits & 0x7c00 != 0x7c00
}

/// All 65,536 codes, converted to 32 and 64 bits and back.
#[test]
fn every_half_is_its_number() {
    for bits in 0..0x1_0000u64 {
        let (single, double) = (run("FConvert", &[(Type::F16, bits)], Type::F32), run("FConvert", &[(Type::F16, bits)], Type::F64));
        let back = if is_nan(bits) { 0x7e00 } else { bits };
        let (Computed::Value(single), Computed::Value(double)) = (single, double) else { panic!("{bits:#x} converts to no value") };
        let (single, double) = (f32::from_bits(single as u32), f64::from_bits(double));
        if is_finite(bits) {
            assert_eq!(double * 16_777_216.0, signed_units(bits) as f64, "{bits:#x}");
            assert_eq!(f64::from(single), double, "{bits:#x}");
            assert_eq!(single.is_sign_negative(), bits >> 15 == 1, "{bits:#x}");
        } else if is_nan(bits) {
            assert_eq!((single.to_bits(), double.to_bits()), (0x7fc0_0000, 0x7ff8_0000_0000_0000));
        } else {
            assert_eq!(double, if bits >> 15 == 1 { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        assert_eq!(run("FConvert", &[(Type::F32, u64::from(single.to_bits()))], Type::F16), Computed::Value(back), "{bits:#x}");
        assert_eq!(run("FConvert", &[(Type::F64, double.to_bits())], Type::F16), Computed::Value(back), "{bits:#x}");
        assert_eq!(Half::of_bits(bits).bits(), back);
        for (name, of, least, beyond) in [
            ("ConvertFToS", Type::int(8, true), -128, 128),
            ("ConvertFToS", Type::int(16, true), -32768, 32768),
            ("ConvertFToS", Type::int(32, true), -(1 << 31), 1 << 31),
            ("ConvertFToU", Type::int(8, false), 0, 256),
            ("ConvertFToU", Type::int(16, false), 0, 65536),
            ("ConvertFToU", Type::int(64, false), 0, 1i128 << 64),
        ] {
            let expected = if is_finite(bits) {
                let whole = signed_units(bits) / (1 << 24);
                let low = Computed::Value(whole.rem_euclid(1 << of.width()) as u64);
                if whole >= least && whole < beyond { low } else { Computed::Behaviour(Ub::ConversionRange) }
            } else {
                Computed::Behaviour(Ub::ConversionRange)
            };
            assert_eq!(run(name, &[(Type::F16, bits)], of), expected, "{name} {bits:#x}");
        }
    }
}

#[test]
fn wider_floats_are_rounded_to_the_nearest_half() {
    let mut random = Random(16);
    for n in 0..200_000u64 {
        // Numbers halfway between neighbours or one step to either side, and random numbers.
        let x = match n % 4 {
            0 => f64::from(f32::from_bits(random.next() as u32)),
            3 => (random.next() >> 11) as f64 * 2f64.powi(-(random.below(80) as i32)),
            _ => {
                let low = random.below(0x7c00) as u64;
                let above = if low == 0x7bff { 1 << 40 } else { units(low + 1) };
                let middle = (units(low) + above) as f64 / 2f64.powi(25);
                f64::from_bits(middle.to_bits().wrapping_add(random.below(3) as u64).wrapping_sub(1))
            }
        };
        if !x.is_finite() {
            continue;
        }
        // x as a fraction of units.
        let exponent = ((x.abs().to_bits() >> 52) as i64 - 1075).max(-1074);
        let significand = i128::from(x.abs().to_bits() & ((1 << 52) - 1) | if x.abs() >= f64::MIN_POSITIVE { 1 << 52 } else { 0 });
        let scale = exponent + 24;
        let magnitude = if scale > 20 {
            0x7c00
        } else if scale < -70 {
            // Below 2^-17 of a unit.
            0
        } else if scale >= 0 {
            nearest(significand << scale, 1)
        } else {
            nearest(significand, 1 << -scale)
        };
        let expected = Computed::Value(with_sign(x.is_sign_negative(), magnitude));
        assert_eq!(run("FConvert", &[(Type::F64, x.to_bits())], Type::F16), expected, "{x:e}");
        if f64::from(x as f32) == x {
            assert_eq!(run("FConvert", &[(Type::F32, u64::from((x as f32).to_bits()))], Type::F16), expected, "{x:e}");
        }
    }
}

/// Pairs of random floats, of floats with similar magnitudes, and with a subnormal.
fn pair(random: &mut Random) -> (u64, u64) {
    let a = random.next() & 0xffff;
    let b = match random.below(3) {
        0 => random.next() & 0xffff,
        1 => (a ^ (random.next() & 0x8000)).wrapping_add(random.below(33) as u64).wrapping_sub(16) & 0xffff,
        _ => random.next() & 0x83ff,
    };
    (a, b)
}

#[test]
fn arithmetic_on_halves_is_rounded_once() {
    let mut random = Random(1600);
    for _ in 0..300_000 {
        let (a, b) = pair(&mut random);
        if !is_finite(a) || !is_finite(b) {
            continue;
        }
        let (x, y, negative) = (signed_units(a), signed_units(b), a >> 15 != b >> 15);
        let sum = |x: i128, y: i128, zero: u64| match x + y {
            0 => zero,
            sum => with_sign(sum < 0, nearest(sum.abs(), 1)),
        };
        // The sum of two zeros of the same sign has that sign.
        let zero = |negative_y: bool| if x == 0 && a >> 15 == 1 && negative_y { 0x8000 } else { 0 };
        let mut expected = vec![
            ("FAdd", sum(x, y, zero(b >> 15 == 1))),
            ("FSub", sum(x, -y, zero(b >> 15 == 0))),
            ("FMul", with_sign(negative, nearest(x.abs() * y.abs(), 1 << 24))),
        ];
        if y != 0 {
            expected.push(("FDiv", with_sign(negative, nearest(x.abs() << 24, y.abs()))));
            let remainder = x % y;
            expected.push(("FRem", with_sign(a >> 15 == 1, nearest(remainder.abs(), 1))));
        }
        for (name, expected) in expected {
            let found = run(name, &[(Type::F16, a), (Type::F16, b)], Type::F16);
            assert_eq!(found, Computed::Value(expected), "{name} {a:#06x} {b:#06x}");
        }
        let c = match random.below(2) {
            0 => random.next() & 0xffff,
            // Near the negated product, so that digits cancel.
            _ => with_sign(!negative, nearest(x.abs() * y.abs(), 1 << 24)),
        };
        if is_finite(c) {
            let exact = x * y + (signed_units(c) << 24);
            if exact != 0 {
                let expected = with_sign(exact < 0, nearest(exact.abs(), 1 << 24));
                let found = run("Fma", &[(Type::F16, a), (Type::F16, b), (Type::F16, c)], Type::F16);
                assert_eq!(found, Computed::Value(expected), "Fma {a:#06x} {b:#06x} {c:#06x}");
            }
        }
    }
}

/// Every square root is the nearest float, by the squares of the middles between it and
/// its neighbours.
#[test]
fn every_square_root_of_a_half_is_the_nearest() {
    for bits in 1..0x7c00u64 {
        let Computed::Value(root) = run("Sqrt", &[(Type::F16, bits)], Type::F16) else { panic!("{bits:#x} has no root") };
        // In units of 2^-25, a middle is an integer. Its square is in units of 2^-50.
        let exact = units(bits) << 26;
        let (below, above) = (units(root) + units(root - 1), units(root) + units(root + 1));
        assert!(below * below <= exact && exact <= above * above, "{bits:#x}: {root:#x}");
    }
}
