//! Modf and Frexp, which have two results, and derivatives: sets by hand, members of intervals,
//! simulated devices that flush where they may, and wrong devices that are caught.

use super::PROFILES;
use super::inputs::Random;
use rspirv::spirv::{GlslStd450Op as Glsl, Op};
use smallstep_semantics::number::sets::{Operand, Set, Span, allowed_alone};
use smallstep_semantics::number::{Instruction, Profile};

const MODF: [Instruction; 2] = [Instruction::Glsl(Glsl::Modf as u32), Instruction::Glsl(Glsl::ModfStruct as u32)];
const FREXP: [Instruction; 2] = [Instruction::Glsl(Glsl::Frexp as u32), Instruction::Glsl(Glsl::FrexpStruct as u32)];
const DERIVATIVES: [Op; 6] = [Op::DPdx, Op::DPdy, Op::DPdxFine, Op::DPdyFine, Op::DPdxCoarse, Op::DPdyCoarse];

fn span(low: f32, high: f32) -> Set {
    Set::of(Span { low: low.into(), high: high.into() })
}

fn point(x: f32) -> Set {
    Set::point(x.into())
}

/// The sets of both results, for an operand with that set.
fn sets(profile: Profile, instruction: Instruction, x: Set) -> [Set; 2] {
    let operand = [Operand { set: x, id: None }];
    let sets = allowed_alone(profile, instruction, &[(&operand, 1)]).expect("a rule");
    [sets[0], sets[1]]
}

fn of_two(profile: Profile, op: Op, x: Set, y: Set) -> Set {
    let [x, y] = [x, y].map(|set| [Operand { set, id: None }]);
    allowed_alone(profile, Instruction::Core(op as u16), &[(&x, 1), (&y, 1)]).expect("a rule")[0]
}

/// The fraction and the whole part, by the bits below the point. Shares nothing with the rules.
fn modf(x: f32) -> [f32; 2] {
    let whole = if x.abs() >= 8_388_608.0 { x } else { (x as i32 as f32).copysign(x) };
    [(x - whole).copysign(x), whole]
}

/// The significand and the exponent, by halving and doubling.
fn frexp(x: f32) -> (f32, i32) {
    let (mut significand, mut exponent) = (x, 0);
    while significand != 0.0 && significand.abs() < 0.5 {
        (significand, exponent) = (significand * 2.0, exponent - 1);
    }
    while significand.abs() >= 1.0 {
        (significand, exponent) = (significand / 2.0, exponent + 1);
    }
    (significand, exponent)
}

#[test]
fn both_results_by_hand() {
    for profile in PROFILES {
        for instruction in MODF {
            assert_eq!(sets(profile, instruction, point(3.25)), [point(0.25), point(3.0)]);
            assert_eq!(sets(profile, instruction, point(-3.25)), [point(-0.25), point(-3.0)]);
            assert_eq!(sets(profile, instruction, span(3.25, 3.5)), [span(0.25, 0.5), point(3.0)]);
            assert_eq!(sets(profile, instruction, point(2.0)), [Set::ZERO, point(2.0)]);
            let [fraction, whole] = sets(profile, instruction, span(1.75, 2.25));
            assert_eq!((fraction.hull(), whole), (Some(Span { low: -0.0, high: 1.0 - 2f64.powi(-24) }), point(1.0).union(point(2.0))));
            assert!(sets(profile, instruction, point(f32::INFINITY)).iter().all(Set::is_any));
        }
        for instruction in FREXP {
            assert_eq!(sets(profile, instruction, point(3.0)), [point(0.75), point(2.0)]);
            assert_eq!(sets(profile, instruction, point(-0.5)), [point(-0.5), point(0.0)]);
            assert_eq!(sets(profile, instruction, span(2.0, 3.0)), [span(0.5, 0.75), point(2.0)]);
            assert_eq!(sets(profile, instruction, point(0.0)), [Set::ZERO, point(0.0)]);
            let [significand, exponent] = sets(profile, instruction, span(3.0, 5.0));
            assert_eq!((significand, exponent), (span(0.5, 1f32.next_down()), point(2.0).union(point(3.0))));
            // A device may take a subnormal number for a zero.
            let [significand, exponent] = sets(profile, instruction, point(2f32.powi(-140)));
            assert!([0.0, -0.0, 0.5].iter().all(|&x| significand.contains(x)) && !significand.contains(0.25), "{significand}");
            assert!([0.0, -139.0].iter().all(|&e| exponent.contains(e)) && !exponent.contains(-140.0), "{exponent}");
        }
        for op in DERIVATIVES {
            assert_eq!(of_two(profile, op, point(3.5), point(1.25)), point(2.25), "{op:?}");
            assert_eq!(of_two(profile, op, span(3.0, 4.0), point(1.0)), span(2.0, 3.0), "{op:?}");
            assert_eq!(of_two(profile, op, point(1.0), point(1.0)), Set::ZERO, "no sign is kept");
            assert!(of_two(profile, op, point(f32::INFINITY), point(1.0)).is_any(), "nor an infinity");
        }
    }
    // If all of a quad has one value, there is no difference.
    let id = smallstep_semantics::number::sets::explore(Profile::Strict, Default::default(), |sets| {
        Ok(sets.any_of(1.0, span(1.0, 2.0), smallstep_semantics::number::Why::Approximate)?.trust.cell)
    });
    let operand = [Operand { set: span(1.0, 2.0), id: id.ways[0] }];
    let same = allowed_alone(Profile::Strict, Instruction::Core(Op::DPdx as u16), &[(&operand, 1), (&operand, 1)]).expect("a rule");
    assert_eq!(same[0], Set::ZERO);
}

/// A finite number of any size. It may be subnormal.
fn number(random: &mut Random) -> f32 {
    loop {
        let x = f32::from_bits(random.next() as u32);
        let x = if random.next().is_multiple_of(2) { x } else { x % 1000.0 };
        if x.is_finite() {
            return x;
        }
    }
}

fn flushed(random: &mut Random, x: f32) -> f32 {
    match x.is_subnormal() && random.next().is_multiple_of(2) {
        true => 0f32.copysign(if random.next().is_multiple_of(2) { 1.0 } else { -1.0 }),
        false => x,
    }
}

#[test]
fn simulated_devices_are_within() {
    let mut random = Random(11);
    for n in 0..super::inputs() {
        let profile = [Profile::Strict, Profile::VulkanDefault][n as usize % 2];
        // The operand is one end of an interval, which is often short.
        let x = number(&mut random);
        let other = if n % 3 == 0 { number(&mut random) } else { x + x.abs() * 0.01 };
        let other = if other.is_finite() { other } else { x };
        let between = span(x.min(other), x.max(other));
        let taken = flushed(&mut random, x);
        let [fraction, whole] = modf(taken).map(|x| flushed(&mut random, x));
        for set in [point(x), between] {
            let [fractions, wholes] = sets(profile, MODF[0], set);
            assert!(fractions.contains(fraction.into()) && wholes.contains(whole.into()), "{x}: {fraction} {whole} {fractions} {wholes}");
        }
        let (significand, exponent) = frexp(taken);
        for set in [point(x), between] {
            let [significands, exponents] = sets(profile, FREXP[0], set);
            assert!(significands.contains(significand.into()) && exponents.contains(exponent.into()), "{x}: {significand} {exponent}");
        }
        let y = number(&mut random);
        let other = flushed(&mut random, y);
        let difference = flushed(&mut random, taken - other);
        for set in [point(x), between] {
            let differences = of_two(profile, Op::DPdx, set, point(y));
            assert!(differences.contains(difference.into()), "{x} - {y}: {difference} {differences}");
        }
    }
}

/// A wrong device: its results of Modf, of Frexp, or of a derivative.
enum Wrong {
    Modf(fn(f32) -> [f32; 2]),
    Frexp(fn(f32) -> (f32, i32)),
    Derivative(fn(f32, f32) -> f32),
}

#[test]
fn wrong_devices_are_caught() {
    let wrong: [(&str, Wrong); 10] = [
        ("a fraction from below", Wrong::Modf(|x| [x - x.floor(), modf(x)[1]])),
        ("a whole part from below", Wrong::Modf(|x| [modf(x)[0], x.floor()])),
        ("the nearest whole number", Wrong::Modf(|x| [modf(x)[0], x.round()])),
        ("a fraction one place off", Wrong::Modf(|x| [modf(x)[0].next_up(), modf(x)[1]])),
        ("a fraction without its sign", Wrong::Modf(|x| [modf(x)[0].abs(), modf(x)[1]])),
        ("a significand from 1 to 2", Wrong::Frexp(|x| (frexp(x).0 * 2.0, frexp(x).1 - 1))),
        ("an exponent one less", Wrong::Frexp(|x| (frexp(x).0, frexp(x).1 - 1))),
        ("a significand one place off", Wrong::Frexp(|x| (frexp(x).0.next_up(), frexp(x).1))),
        ("a difference one place off", Wrong::Derivative(|x, y| (x - y).next_up())),
        ("the difference the other way round", Wrong::Derivative(|x, y| y - x)),
    ];
    let inputs = [0.75, -0.75, 2.625, -2.625, 1e6 + 0.5, -1e-3];
    for (name, wrong) in wrong {
        let caught = inputs.iter().any(|&x| match &wrong {
            Wrong::Modf(modf) => {
                let sets = sets(Profile::Strict, MODF[0], point(x));
                sets.iter().zip(modf(x)).any(|(set, shown)| !set.contains(shown.into()))
            }
            Wrong::Frexp(frexp) => {
                let ([significands, exponents], (significand, exponent)) = (sets(Profile::Strict, FREXP[0], point(x)), frexp(x));
                !significands.contains(significand.into()) || !exponents.contains(exponent.into())
            }
            Wrong::Derivative(minus) => !of_two(Profile::Strict, Op::DPdx, point(x), point(0.375)).contains(minus(x, 0.375).into()),
        });
        assert!(caught, "{name}");
    }
}
