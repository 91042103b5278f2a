//! Sets with a bound in ULP or an absolute error end where the specification says. The ends are
//! found in another way: the exact result to 200 bits comes from a second library, and floats
//! from bisection.

use super::inputs::{Random, corners};
use super::subjects::{Arg, subject};
use super::{Rule, inputs, over, points, rules};
use astro_float::{BigFloat, Consts, RoundingMode};
use smallstep_semantics::number::Profile;
use smallstep_semantics::number::sets::Set;

const P: usize = 256;
const RM: RoundingMode = RoundingMode::ToEven;

fn big(x: f64) -> BigFloat {
    BigFloat::from_f64(x, P)
}

/// Numbers floats in their order, by integers. Both zeros are 0.
fn key(x: f32) -> i64 {
    let magnitude = i64::from(x.to_bits() & 0x7fff_ffff);
    if x.is_sign_negative() { -magnitude } else { magnitude }
}

fn of_key(key: i64) -> f32 {
    let magnitude = f32::from_bits(key.unsigned_abs() as u32);
    if key < 0 { -magnitude } else { magnitude }
}

/// The greatest finite float that is not above the number. `None` if all floats are above it.
fn floor(x: &BigFloat) -> Option<f32> {
    let is_above = |key: i64| x.cmp(&big(of_key(key).into())).is_some_and(|order| order >= 0);
    let (mut low, mut high) = (-key(f32::MAX), key(f32::MAX));
    if !is_above(low) {
        return None;
    }
    while low < high {
        let middle = low + (high - low + 1) / 2;
        if is_above(middle) { low = middle } else { high = middle - 1 }
    }
    Some(of_key(low))
}

/// The least finite float that is not below the number. `None` if all floats are below it.
fn ceiling(x: &BigFloat) -> Option<f32> {
    floor(&x.neg()).map(|x| -x)
}

/// The least b - a of finite floats a ≤ x ≤ b.
fn ulp(x: &BigFloat) -> f64 {
    let Some((below, above)) = floor(x).zip(ceiling(x)) else { return 2f64.powi(104) };
    let gap = |a: f32, b: f32| f64::from(b) - f64::from(a);
    if below < above { gap(below, above) } else { gap(below.next_down(), below).min(gap(above, above.next_up())) }
}

/// The functions for which precision.md gives an error in ULP or an absolute error.
pub const FUNCTIONS: [&str; 10] = ["FDiv", "Exp", "Exp2", "Log", "Log2", "InverseSqrt", "Sin", "Cos", "Atan", "Atan2"];

/// The exact result and its greatest error. `None` if no bound is stated.
fn bound(name: &str, x: f32, y: f32, wgsl: bool, c: &mut Consts) -> Option<(BigFloat, BigFloat)> {
    let wide = big(x.into());
    let in_range = |x: f32| (f32::MIN_POSITIVE..=2f32.powi(126)).contains(&x.abs());
    let ulps = |value: BigFloat, n: f64| {
        let error = big(ulp(&value)).mul(&big(n), P, RM);
        Some((value, error))
    };
    // No 32-bit float is near e^2000.
    let exponent = big(f64::from(x).clamp(-2000.0, 2000.0));
    match name {
        "FDiv" if in_range(y) => ulps(wide.div(&big(y.into()), P, RM), 2.5),
        "Exp" => ulps(exponent.exp(P, RM, c), 3.0 + 2.0 * f64::from(x).abs()),
        "Exp2" => ulps(big(2.0).pow(&exponent, P, RM, c), 3.0 + 2.0 * f64::from(x).abs()),
        "Log" | "Log2" if x > 0.0 => {
            let value = if name == "Log" { wide.ln(P, RM, c) } else { wide.log2(P, RM, c) };
            if (0.5..=2.0).contains(&x) { Some((value, big(2f64.powi(-21)))) } else { ulps(value, 3.0) }
        }
        "InverseSqrt" if x > 0.0 => ulps(big(1.0).div(&wide.sqrt(P, RM), P, RM), 2.0),
        "Sin" if wide.abs().cmp(&c.pi(P, RM))? <= 0 => Some((wide.sin(P, RM, c), big(2f64.powi(-11)))),
        "Cos" if wide.abs().cmp(&c.pi(P, RM))? <= 0 => Some((wide.cos(P, RM, c), big(2f64.powi(-11)))),
        "Atan" => ulps(wide.atan(P, RM, c), 4096.0),
        "Atan2" if wgsl && !(in_range(y) && x.abs() >= f32::MIN_POSITIVE) => None,
        // Here x is the ordinate and y the abscissa.
        "Atan2" if x != 0.0 && y != 0.0 => {
            let angle = wide.div(&big(y.into()), P, RM).atan(P, RM, c);
            let half_turn = if x > 0.0 { c.pi(P, RM) } else { c.pi(P, RM).neg() };
            ulps(if y > 0.0 { angle } else { angle.add(&half_turn, P, RM) }, 4096.0)
        }
        _ => None,
    }
}

/// The first input at which an end of the set is more than one float off, in words. Also how many
/// inputs have exact ends, and how many have ends that are one float off.
pub fn end_astray(name: &str, rule: Rule<'_>, count: u64, seed: u64) -> (Option<String>, [u64; 2]) {
    let (subject, corners) = (subject(name), corners());
    let mut random = Random(seed);
    let mut consts = Consts::new().expect("constants");
    let mut tally = [0; 2];
    for n in 0..count {
        let args: Vec<Arg> = subject.draw(&mut random, &corners);
        let (x, y) = (args[0].0[0], args.get(1).map_or(1.0, |y| y.0[0]));
        // Flushed operands have bounds of their own, and atan2 of zeros depends on their signs.
        if !x.is_normal() && x != 0.0 || !y.is_normal() || name == "Atan2" && x == 0.0 {
            continue;
        }
        let profile = if n % 2 == 0 { Profile::Strict } else { Profile::Wgsl };
        let set = rule(profile, subject, &points(&args))[0];
        let fault =
            |expected: &dyn std::fmt::Display| Some(format!("{name} under {profile:?} of {x:?}, {y:?}: {set}, expected {expected}"));
        let Some((value, error)) = bound(name, x, y, profile == Profile::Wgsl, &mut consts) else {
            if !set.is_any() {
                return (fault(&"any value"), tally);
            }
            continue;
        };
        let (least, greatest) = (value.sub(&error, P, RM), value.add(&error, P, RM));
        let max = big(f32::MAX.into());
        if greatest.cmp(&max).is_some_and(|order| order > 0) || least.cmp(&max.neg()).is_some_and(|order| order < 0) {
            if !set.is_any() {
                return (fault(&"any value, since infinity is among it"), tally);
            }
            continue;
        }
        let (Some(low), Some(high)) = (ceiling(&least), floor(&greatest)) else { return (fault(&"finite bounds"), tally) };
        let tiny = big(f32::MIN_POSITIVE.into());
        let is_tiny = least.cmp(&tiny).is_some_and(|order| order < 0) && greatest.cmp(&tiny.neg()).is_some_and(|order| order > 0);
        let (low, high) = if is_tiny { (low.min(0.0), high.max(0.0)) } else { (low, high) };
        let Some(hull) = set.hull().filter(|_| !set.has_nan()) else { return (fault(&"numbers"), tally) };
        let astray = (key(hull.low as f32) - key(low)).abs().max((key(hull.high as f32) - key(high)).abs());
        if astray > 1 {
            return (fault(&format!("[{low:?}, {high:?}]")), tally);
        }
        tally[astray as usize] += 1;
    }
    (None, tally)
}

#[test]
fn stated_bounds_are_neither_tighter_nor_wider() {
    let faults = over(&FUNCTIONS, |name| {
        let (fault, [exact, near]) = end_astray(name, &rules, inputs(), 4);
        println!("{name:12} {exact} inputs end exactly where they must, {near} within one float");
        fault.or_else(|| (exact < near * 5).then(|| format!("{name}: only {exact} ends are exact, and {near} near")))
    });
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A correctly rounded operation leaves one float, or two neighbours if the rounding is open.
#[test]
fn correct_rounding_leaves_one_float_or_two() {
    let mut random = Random(5);
    let corners = corners();
    for name in ["FAdd", "FSub", "FMul"] {
        let subject = subject(name);
        for _ in 0..inputs() {
            let args = subject.draw(&mut random, &corners);
            let (x, y) = (args[0].0[0], args[1].0[0]);
            let value = subject.definite(&args).expect("a value")[0];
            // Only operands and results that no device flushes to zero, and that do not overflow.
            let plain = |x: f32| x == 0.0 || x.is_normal();
            if !plain(x) || !plain(y) || value.abs() <= f32::MIN_POSITIVE || value.abs() >= f32::MAX {
                continue;
            }
            let strict = rules(Profile::Strict, subject, &points(&args))[0];
            assert_eq!(strict, Set::point(value.into()), "{name} of {x:?}, {y:?}");
            let either = rules(Profile::VulkanDefault, subject, &points(&args))[0].hull().expect("numbers");
            let (low, high) = (either.low as f32, either.high as f32);
            assert!(key(high) - key(low) <= 1 && low <= value && value <= high, "{name} of {x:?}, {y:?}: {either:?}");
            let wide = f64::from(x) + f64::from(y);
            let exact = match name {
                "FMul" => f64::from(x) * f64::from(y),
                // If neither operand is lost in the 64-bit sum, the sum is exact.
                "FAdd" if wide - f64::from(x) == f64::from(y) && wide - f64::from(y) == f64::from(x) => wide,
                _ => continue,
            };
            assert_eq!(low == high, exact == f64::from(value), "{name} of {x:?}, {y:?}: {either:?}");
        }
    }
}
