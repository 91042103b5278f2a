//! Functions of GLSL.std.450 in 16 and 64 bits, and fused multiplication, compared with floats of
//! 256 bits and more.

use super::nearest::nearest;
use super::random::Random;
use super::vectors::named;
use astro_float::{BigFloat, Consts, RoundingMode};
use smallstep_semantics::number::{Computed, Environment, Half, Real};
use smallstep_semantics::spirv::operation::{Bits, Scalar as Type, Shape, pure};

const P: usize = 256;
const RM: RoundingMode = RoundingMode::ToEven;

fn run(name: &str, of: Type, args: &[u64]) -> Computed {
    let operands: Vec<Bits<'_>> = args.chunks(1).map(|bits| Bits { shape: Shape::vector(of, 1), bits }).collect();
    pure(named(name), &operands, &[Shape::vector(of, 1)], Environment::default()).expect("an operation")[0]
}

fn half(x: &BigFloat) -> u64 {
    Half::of(nearest(x, 11, -14, 16)).bits()
}

/// The result is the nearest float for every 37th 16-bit float where the function is defined, and
/// for all of them near 1.
#[test]
fn functions_of_halves_are_correctly_rounded() {
    let mut consts = Consts::new().expect("constants");
    let all: Vec<u64> = (0..0x1_0000u64).filter(|bits| bits % 37 == 0 || (0x3bf0..0x3c10).contains(&(bits & 0x7fff))).collect();
    type Function = fn(&BigFloat, &mut Consts) -> BigFloat;
    let functions: &[(&str, Function)] = &[
        ("Sin", |x, c| x.sin(P, RM, c)),
        ("Cos", |x, c| x.cos(P, RM, c)),
        ("Tan", |x, c| x.tan(P, RM, c)),
        ("Asin", |x, c| x.asin(P, RM, c)),
        ("Acos", |x, c| x.acos(P, RM, c)),
        ("Atan", |x, c| x.atan(P, RM, c)),
        ("Sinh", |x, c| x.sinh(P, RM, c)),
        ("Cosh", |x, c| x.cosh(P, RM, c)),
        ("Tanh", |x, c| x.tanh(P, RM, c)),
        ("Asinh", |x, c| x.asinh(P, RM, c)),
        ("Acosh", |x, c| x.acosh(P, RM, c)),
        ("Atanh", |x, c| x.atanh(P, RM, c)),
        ("Exp", |x, c| x.exp(P, RM, c)),
        ("Log", |x, c| x.ln(P, RM, c)),
        ("Log2", |x, c| x.log2(P, RM, c)),
        ("Exp2", |x, c| BigFloat::from_f64(2.0, P).pow(x, P, RM, c)),
        ("InverseSqrt", |x, _| BigFloat::from_f64(1.0, P).div(&x.sqrt(P, RM), P, RM)),
        ("Radians", |x, c| x.mul(&c.pi(P, RM), P, RM).div(&BigFloat::from_f64(180.0, P), P, RM)),
        ("Degrees", |x, c| x.mul(&BigFloat::from_f64(180.0, P), P, RM).div(&c.pi(P, RM), P, RM)),
    ];
    for (name, function) in functions {
        let mut compared = 0;
        for &bits in &all {
            let x = Half::of_bits(bits).wide();
            if !x.is_finite() || x == 0.0 {
                continue;
            }
            let Computed::Value(found) = run(name, Type::F16, &[bits]) else { continue };
            if found & 0x7fff > 0x7c00 {
                panic!("{name} of {x}: NaN within the domain");
            }
            let expected = half(&function(&BigFloat::from_f64(x, P), &mut consts));
            let same = found == expected || found & 0x7fff == 0 && expected & 0x7fff == 0;
            assert!(same, "{name} of {x} ({bits:#06x}): found {found:#06x}, exactly {expected:#06x}");
            compared += 1;
        }
        assert!(compared > 400, "{name}: {compared}");
    }
}

/// A 64-bit float as an exact `BigFloat`. A subnormal is scaled to a normal number first, since
/// `BigFloat::from_f64` only reads normal numbers correctly.
fn big(x: f64) -> BigFloat {
    let up = BigFloat::from_f64(x * 2f64.powi(600), 64);
    if x.abs() < f64::MIN_POSITIVE { up.mul(&BigFloat::from_f64(2f64.powi(-600), 64), 64, RM) } else { BigFloat::from_f64(x, 64) }
}

fn fused(of: Type, args: [f64; 3], bits: [u64; 3], digits: (i64, i64, i64)) -> (Computed, f64) {
    let [a, b, c] = args.map(big);
    // Enough bits for any such sum.
    let wide = 4400;
    let exact = a.mul(&b, wide, RM).add(&c, wide, RM);
    (run("Fma", of, &bits), nearest(&exact, digits.0, digits.1, digits.2))
}

#[test]
fn fused_products_are_rounded_once() {
    let mut random = Random(64);
    for n in 0..4000 {
        let any = |random: &mut Random| {
            f64::from_bits(0x3ff0_0000_0000_0000 ^ random.next() >> 1 & 0x800f_ffff_ffff_ffff | (random.next() % 2) << 63)
        };
        let scale = |x: f64, random: &mut Random| {
            x * 2f64.powi(random.below(if n % 3 == 0 { 1000 } else { 60 }) as i32 - if n % 3 == 0 { 700 } else { 30 })
        };
        let (a, b) = (scale(any(&mut random), &mut random), scale(any(&mut random), &mut random));
        let c = if n % 2 == 0 { -(a * b) * (1.0 + 2f64.powi(-(random.below(60) as i32))) } else { scale(any(&mut random), &mut random) };
        if !(a * b).is_finite() || !c.is_finite() {
            continue;
        }
        let (found, expected) = fused(Type::F64, [a, b, c], [a, b, c].map(f64::to_bits), (53, -1022, 1024));
        let Computed::Value(found) = found else { panic!("no value") };
        assert!(
            found == expected.to_bits() || expected == 0.0 && found << 1 == 0,
            "Fma {a:e} {b:e} {c:e}: {found:#x}, exactly {expected:e}"
        );
        let singles = [a, b, c].map(|x| x as f32);
        if singles.iter().all(|x| x.is_finite()) {
            let (found, expected) = fused(Type::F32, singles.map(f64::from), singles.map(|x| u64::from(x.to_bits())), (24, -126, 128));
            let expected = u64::from((expected as f32).to_bits());
            assert!(
                found == Computed::Value(expected) || expected << 33 == 0 && matches!(found, Computed::Value(0 | 0x8000_0000)),
                "Fma {singles:?}: {found:?}, exactly {expected:#x}"
            );
        }
    }
}

#[test]
fn doubles_add_multiply_and_divide_as_the_processor_does() {
    let mut random = Random(53);
    for _ in 0..20_000 {
        let (a, b) = (random.float(64), random.float(64));
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        for (name, expected) in [("FAdd", x + y), ("FSub", x - y), ("FMul", x * y), ("FDiv", x / y)] {
            let expected = if expected.is_nan() { 0x7ff8_0000_0000_0000 } else { expected.to_bits() };
            assert_eq!(run(name, Type::F64, &[a, b]), Computed::Value(expected), "{name} {x:e} {y:e}");
        }
        if y != 0.0 {
            let expected = x % y;
            let expected = if expected.is_nan() { 0x7ff8_0000_0000_0000 } else { expected.to_bits() };
            assert_eq!(run("FRem", Type::F64, &[a, b]), Computed::Value(expected), "FRem {x:e} {y:e}");
        }
    }
}
