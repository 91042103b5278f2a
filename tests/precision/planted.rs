//! Devices with one planted bug each: all are caught.

use super::{declared, definite, described, function, measured};
use smallstep::precision::Verdict;
use smallstep_semantics::number::reference::Direction;
use smallstep_semantics::number::{Denormals, Profile, Rounding};

/// A planted bug: it changes the definite results, given the operands.
type Wrong = fn(&[f32], &mut [f32]);

struct Planted {
    name: &'static str,
    functions: &'static [&'static str],
    profile: Profile,
    wrong: Wrong,
}

/// Moves a normal number that many floats away from zero.
fn off(x: &mut f32, floats: u32) {
    if x.is_normal() {
        *x = f32::from_bits((x.to_bits() + floats).min(x.to_bits() & 0x8000_0000 | f32::MAX.to_bits()));
    }
}

fn toward_zero(exact: f64) -> f32 {
    Direction::TowardZero.round(exact)
}

fn strict(name: &'static str, functions: &'static [&'static str], wrong: Wrong) -> Planted {
    Planted { name, functions, profile: Profile::Strict, wrong }
}

fn of(profile: Profile, name: &'static str, functions: &'static [&'static str], wrong: Wrong) -> Planted {
    Planted { name, functions, profile, wrong }
}

fn all() -> Vec<Planted> {
    let preserve = declared(Rounding::NearestEven, Denormals::Preserve);
    let flush = declared(Rounding::NearestEven, Denormals::Flush);
    let either = declared(Rounding::Either, Denormals::MayFlush);
    let truncating = declared(Rounding::TowardZero, Denormals::MayFlush);
    vec![
        // Functions that are rounded correctly.
        strict("rounds toward zero under RTE", &["FAdd"], |x, r| r[0] = toward_zero(f64::from(x[0]) + f64::from(x[1]))),
        strict("rounds products toward zero under RTE", &["FMul"], |x, r| r[0] = toward_zero(f64::from(x[0]) * f64::from(x[1]))),
        strict("the next float", &["FAdd", "FSub", "FMul", "VectorTimesScalar3"], |_, r| off(&mut r[0], 1)),
        of(truncating, "rounds to the nearest under RTZ", &["FAdd"], |x, r| r[0] = (f64::from(x[0]) + f64::from(x[1])) as f32),
        of(either, "two floats away where either neighbour will do", &["FAdd", "FMul"], |_, r| off(&mut r[0], 2)),
        of(Profile::VulkanDefault, "two floats away with nothing declared", &["FMul"], |_, r| off(&mut r[0], 2)),
        strict("NaN where a number is due", &["FAdd", "FDiv", "Exp", "Sqrt", "FMin"], |_, r| {
            if r[0].abs() > 1e10 {
                r[0] = f32::NAN;
            }
        }),
        strict("an infinity where a number is due", &["FMul"], |_, r| {
            if r[0].abs() > 1e30 {
                r[0] = f32::INFINITY.copysign(r[0]);
            }
        }),
        strict("overflow gives zero", &["FAdd"], |_, r| {
            if r[0].is_infinite() {
                r[0] = 0.0;
            }
        }),
        // Subnormal numbers and zeros.
        of(preserve, "flushes results that are to be kept", &["FAdd", "FMul", "FSub"], |_, r| {
            if r[0].is_subnormal() {
                r[0] = 0.0f32.copysign(r[0]);
            }
        }),
        of(flush, "keeps results that are to be flushed", &["FMul"], |x, r| {
            let product = x[0] * x[1];
            if product.is_subnormal() {
                r[0] = product;
            }
        }),
        strict("flushes the least normal numbers", &["FAdd"], |_, r| {
            if r[0].abs() < 2f32.powi(-120) {
                r[0] = 0.0;
            }
        }),
        strict("loses the sign of zero", &["FNegate", "FMul"], |_, r| {
            if r[0] == 0.0 {
                r[0] = 0.0;
            }
        }),
        // Functions with an error in units in the last place.
        strict("quotients four floats away", &["FDiv"], |_, r| off(&mut r[0], 4)),
        strict("three floats away", &["InverseSqrt"], |_, r| off(&mut r[0], 3)),
        strict("eight floats away", &["Sqrt"], |_, r| off(&mut r[0], 8)),
        strict("five floats away where arguments are small", &["Exp", "Exp2"], |x, r| {
            if x[0].abs() < 0.4 {
                off(&mut r[0], 5);
            }
        }),
        strict("an error that grows twice as fast", &["Exp", "Exp2"], |x, r| off(&mut r[0], 3 + 4 * x[0].abs().min(100.0) as u32)),
        strict("five floats away beyond 2", &["Log", "Log2"], |x, r| {
            if x[0] > 2.0 {
                off(&mut r[0], 5);
            }
        }),
        strict("an absolute error of 2^-20 about 1", &["Log", "Log2"], |x, r| {
            if (0.5..=2.0).contains(&x[0]) {
                r[0] += 2f32.powi(-20);
            }
        }),
        strict("5000 floats away", &["Atan", "Atan2"], |_, r| off(&mut r[0], 5000)),
        // Trigonometry.
        strict("an absolute error of 2^-10", &["Sin", "Cos"], |_, r| r[0] += 2f32.powi(-10)),
        strict("a short series instead of a reduction", &["Sin"], |x, r| {
            let x = x[0];
            if x.abs() <= 3.15 {
                r[0] = x - x.powi(3) / 6.0 + x.powi(5) / 120.0;
            }
        }),
        strict("the quadrant is lost", &["Atan2"], |x, r| r[0] = (x[0] / x[1]).atan()),
        strict("operands exchanged", &["Atan2"], |x, r| r[0] = x[1].atan2(x[0])),
        strict(
            "one percent off",
            &["Tan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Pow", "Normalize3", "Length3", "Distance2", "Fma"],
            |_, r| r[0] *= 1.01,
        ),
        strict("a tenth off", &["Asin", "Acos", "Atanh"], |_, r| r[0] *= 1.1),
        strict("π is 3.13", &["Radians"], |x, r| r[0] = x[0] * (3.13 / 180.0)),
        strict("180/π is 57.3", &["Degrees"], |x, r| r[0] = x[0] * 57.3),
        // Parts of numbers.
        strict("toward zero", &["Floor", "Ceil"], |x, r| r[0] = x[0].trunc()),
        strict("one half added, then floor", &["Round", "RoundEven"], |x, r| r[0] = (x[0] + 0.5).floor()),
        strict("halves go up", &["RoundEven"], |x, r| {
            if x[0].fract() == 0.5 {
                r[0] = x[0].ceil();
            }
        }),
        strict("rounds", &["Trunc"], |x, r| r[0] = x[0].round_ties_even()),
        strict("negative parts", &["Fract"], |x, r| r[0] = x[0] - x[0].trunc()),
        strict("the remainder's sign", &["FMod"], |x, r| r[0] = x[0] % x[1]),
        strict("the modulus's sign", &["FRem"], |x, r| r[0] = x[0] - x[1] * (x[0] / x[1]).floor()),
        strict("an exponent too many", &["Ldexp"], |_, r| r[0] *= 2.0),
        strict("no negative numbers", &["FSign", "FNegate"], |_, r| r[0] = r[0].abs()),
        strict("the sign is kept", &["FAbs"], |x, r| r[0] = x[0]),
        // Choices. The result for a NaN is open in all of GLSL.std.450, NMin and NMax included.
        strict("the greater", &["FMin", "NMin"], |x, r| r[0] = x[0].max(x[1])),
        strict("the lesser", &["FMax", "NMax"], |x, r| r[0] = x[0].min(x[1])),
        strict("not above the upper bound only", &["FClamp", "NClamp"], |x, r| r[0] = x[0].max(x[1])),
        strict("the edge is exchanged", &["Step"], |x, r| r[0] = if x[0] < x[1] { 0.0 } else { 1.0 }),
        strict("ends exchanged", &["FMix"], |x, r| r[0] = x[1] * (1.0 - x[2]) + x[0] * x[2]),
        strict("no curve", &["SmoothStep"], |x, r| r[0] = ((x[2] - x[0]) / (x[1] - x[0])).clamp(0.0, 1.0)),
        // Vectors.
        strict("the last component is left out", &["Dot3"], |x, r| r[0] = x[0] * x[3] + x[1] * x[4]),
        strict("the sum of magnitudes", &["Length2"], |x, r| r[0] = x[0].abs() + x[1].abs()),
        strict("the middle component's sign", &["Cross3"], |_, r| r[1] = -r[1]),
        strict("divided by the square of the length", &["Normalize2"], |x, r| {
            let square = x[0] * x[0] + x[1] * x[1];
            (r[0], r[1]) = (x[0] / square, x[1] / square);
        }),
        strict("to the surface only", &["Reflect2"], |x, r| {
            let dot = x[2] * x[0] + x[3] * x[1];
            (r[0], r[1]) = (x[0] - dot * x[2], x[1] - dot * x[3]);
        }),
        strict("the last component is not scaled", &["VectorTimesScalar2"], |x, r| r[1] = x[1]),
        of(Profile::Wgsl, "three floats away", &["InverseSqrt"], |_, r| off(&mut r[0], 3)),
        of(Profile::Wgsl, "an absolute error of 2^-10", &["Cos"], |_, r| r[0] += 2f32.powi(-10)),
    ]
}

#[test]
fn wrong_devices_are_caught() {
    let mut caught = 0;
    let mut missed = Vec::new();
    for planted in all() {
        for label in planted.functions {
            let function = function(label);
            let profile = planted.profile;
            let right = measured(|f, words| definite(f, profile, words), &function, profile, 4000);
            assert_eq!(right.verdict(), Verdict::Agree, "{}", described(&right));
            let wrong = |f: &smallstep::precision::Function, words: &[u32]| {
                let operands: Vec<f32> = words.iter().map(|&bits| f32::from_bits(bits)).collect();
                let mut results: Vec<f32> = definite(f, profile, words).into_iter().map(f32::from_bits).collect();
                (planted.wrong)(&operands, &mut results);
                results.into_iter().map(f32::to_bits).collect()
            };
            let measured = measured(wrong, &function, profile, 4000);
            match measured.tally.reproducer {
                Some(outside) => {
                    // The reproducer is right: its result is not allowed.
                    assert!(!outside.allowed.contains(f64::from(f32::from_bits(outside.result))), "{}: {outside:?}", planted.name);
                    caught += 1;
                }
                None => missed.push(format!("{label}, {profile}: {}", planted.name)),
            }
        }
    }
    assert_eq!(missed, Vec::<String>::new(), "{caught} were caught");
    assert!(caught >= 80, "{caught}");
}
