//! [`Certain`] makes claims about results without their set. The claims never exceed the set, and
//! most results that devices show are certain.

use super::inputs::{Random, corners};
use super::subjects::{SUBJECTS, Shape, Subject};
use super::{PROFILES, inputs, over, points, rules};
use smallstep_semantics::number::Profile;
use smallstep_semantics::number::reference::{Direction, Exact, Rounded, enclose_tightly, rounded};
use smallstep_semantics::number::sets::{Certain, Certainty, Set};

/// Numbers floats in their order, by integers. -0 is below +0.
fn key(x: f32) -> i64 {
    let bits = x.to_bits() as i32;
    i64::from(bits ^ ((bits >> 31) as u32 >> 1) as i32)
}

fn of_key(key: i64) -> f32 {
    let bits = key as i32;
    f32::from_bits((bits ^ ((bits >> 31) as u32 >> 1) as i32) as u32)
}

/// A function in the place of [`Certain::of`].
type Answer<'a> = &'a (dyn Fn(&Certain, f32, f32) -> Certainty + Sync);

fn functions() -> Vec<&'static Subject> {
    let is_one = |subject: &&Subject| subject.shape == Shape::Scalars(1) && Certain::new(Profile::Strict, subject.instruction).is_some();
    SUBJECTS.iter().filter(is_one).collect()
}

/// An operand: drawn as for the sets, of any bits, or at a place where a function's rule changes.
fn operand(subject: &Subject, random: &mut Random, corners: &[f32]) -> f32 {
    const PLACES: [f32; 20] = [
        0.5,
        1.0,
        2.0,
        0.25,
        4.0,
        std::f32::consts::LN_2,
        0.999,
        1.001,
        std::f32::consts::PI,
        std::f32::consts::FRAC_PI_2,
        80.0,
        88.7,
        89.0,
        128.0,
        256.0,
        4096.0,
        9e18,
        1.8e19,
        1.1754944e-38,
        103.9,
    ];
    match random.below(16) {
        0 => f32::from_bits(random.below(1 << 23) as u32 | (random.below(2) as u32) << 31),
        1..4 => f32::from_bits(random.below(1 << 16) as u32 | (random.below(1 << 16) as u32) << 16),
        4..8 => {
            let near = PLACES[random.below(PLACES.len())];
            let spread = 1i64 << random.below(20);
            let x = of_key(key(near) + random.below(2 * spread as usize) as i64 - spread);
            if random.below(2) == 0 { x } else { -x }
        }
        _ => subject.draw(random, corners)[0].0[0],
    }
}

/// How much is certain.
#[derive(Default)]
struct Share {
    /// For operands that are normal numbers: how often the correctly rounded result is open, and
    /// how often it is certain.
    rounded: [u64; 2],
    /// For normal operands whose set is bounded, on its upper side: the sum of the certain shares
    /// of the distance to the end, in floats, and the number of summands.
    reached: [f64; 2],
}

/// The first claim that the set refutes, in words.
fn refuted(subject: &Subject, answer: Answer<'_>, count: u64, seed: u64, share: &mut Share) -> Option<String> {
    let (mut random, corners) = (Random(seed), corners());
    for n in 0..count {
        let x = operand(subject, &mut random, &corners);
        let profile = PROFILES[n as usize % PROFILES.len()];
        let certain = Certain::new(profile, subject.instruction).expect("a function of one float");
        let set = rules(profile, subject, &points(&[(vec![x], 1)]))[0];
        let nearest = match rounded(subject.instruction, &[x], Direction::NearestEven) {
            Some(Rounded::Value(nearest)) => nearest,
            _ => f32::NAN,
        };
        let is_wrong = |result: f32| match answer(&certain, x, result) {
            Certainty::Open => None,
            Certainty::Anything if set.is_any() => None,
            Certainty::Allowed(exact) if !set.is_any() && set.contains(result.into()) => {
                let Some(Exact::Within(tight)) = (n % 16 == 0).then(|| enclose_tightly(subject.instruction, &[x.into()])).flatten() else {
                    return None;
                };
                (exact.low > tight.high || exact.high < tight.low).then(|| format!("{} of {x:?} is said to be in {exact:?}", subject.name))
            }
            claimed => Some(format!("{} under {profile:?} of {x:?}: {result:?} is {claimed:?}, allowed is {set}", subject.name)),
        };
        // OpFNegate of NaN is only NaN.
        let Some(hull) = set.hull() else { continue };
        let (low, high) = (hull.low as f32, hull.high as f32);
        let other = of_key(key(nearest.clamp(-f32::MAX, f32::MAX)) + random.below(64) as i64 - 32);
        let any = f32::from_bits(random.below(1 << 16) as u32 | (random.below(1 << 16) as u32) << 16);
        let shown = [nearest, low, high, low.next_down(), high.next_up(), -nearest, 0.0, -0.0, f32::NAN, f32::INFINITY, other, any];
        if let Some(wrong) = shown.into_iter().find_map(is_wrong) {
            return Some(wrong);
        }
        if !x.is_normal() || set.is_any() || nearest.is_nan() {
            continue;
        }
        share.rounded[usize::from(answer(&certain, x, nearest) != Certainty::Open)] += 1;
        // Finds the last float that is certain on each side. It must be allowed.
        for (end, sign) in [(low, -1), (high, 1)] {
            let is_certain = |off: i64| answer(&certain, x, of_key(key(nearest) + sign * off)) != Certainty::Open;
            let allowed = (key(end) - key(nearest)) * sign;
            let (mut least, mut most) = (0, allowed + 2);
            while least + 1 < most {
                let middle = least + (most - least) / 2;
                *(if is_certain(middle) { &mut least } else { &mut most }) = middle;
            }
            if let Some(wrong) = is_wrong(of_key(key(nearest) + sign * least)) {
                return Some(wrong);
            }
            if sign > 0 && allowed > 0 {
                share.reached[0] += least as f64 / allowed as f64;
                share.reached[1] += 1.0;
            }
        }
    }
    None
}

#[test]
fn what_is_certain_is_what_the_sets_say() {
    let lines = std::sync::Mutex::new(Vec::new());
    let faults = over(&functions(), |subject| {
        let mut share = Share::default();
        let fault = refuted(subject, &|certain, x, result| certain.of(x, result), inputs() * 10, 17, &mut share);
        let ([open, certain], [reached, all]) = (share.rounded, share.reached);
        let percent = 100.0 * certain as f64 / (open + certain).max(1) as f64;
        let line =
            format!("{:12} {percent:.2} % of rounded results certain; {:.2} of the way to the end", subject.name, reached / all.max(1.0));
        lines.lock().expect("no panic").push(line);
        fault.or_else(|| (percent < 90.0).then(|| format!("{}: only {percent} % of rounded results are certain", subject.name)))
    });
    let mut lines = lines.into_inner().expect("no panic");
    lines.sort();
    println!("{}", lines.join("\n"));
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Planted claims go a little too far.
#[test]
fn claims_that_go_too_far_are_refuted() {
    let beyond = |certain: &Certain, x: f32, result: f32, inward: i64| match certain.of(x, result) {
        Certainty::Open if result.is_finite() => [-inward, inward]
            .map(|by| certain.of(x, of_key(key(result) + by)))
            .into_iter()
            .find(|c| *c != Certainty::Open)
            .unwrap_or(Certainty::Open),
        known => known,
    };
    let planted: [(&str, &[&str], Answer<'_>); 5] = [
        (
            "a float further than is certain",
            &["Exp", "Exp2", "InverseSqrt", "Atan", "Floor", "FAbs", "Sin", "Log2"],
            &|certain, x, result| beyond(certain, x, result, 1),
        ),
        ("a part in fifty further", &["Sin", "Cos", "Tan"], &|certain, x, result| {
            let off = (f64::from(result) * 0.98) as f32;
            if certain.of(x, off) != Certainty::Open { certain.of(x, off) } else { certain.of(x, result) }
        }),
        (
            "sixteen floats further",
            &["Sqrt", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Tanh", "Radians", "Degrees"],
            &|certain, x, result| beyond(certain, x, result, 16),
        ),
        ("anything from 3 on", &["Sin", "Cos", "Tan"], &|certain, x, result| {
            if x > 3.0 { Certainty::Anything } else { certain.of(x, result) }
        }),
        ("rounded to nearest, whatever the rounding", &["Fract"], &|certain, x, result| {
            let nearest = Certain::new(Profile::Strict, functions()[8].instruction).expect("a function");
            if certain.of(x, result) == Certainty::Open { nearest.of(x, result) } else { certain.of(x, result) }
        }),
    ];
    assert_eq!(functions()[8].name, "Fract");
    for (what, names, answer) in planted {
        for name in names {
            let found = refuted(super::subjects::subject(name), answer, 60_000, 19, &mut Share::default());
            println!("{name}, {what}: {found:?}");
            assert!(found.is_some(), "{name}: {what}");
        }
    }
}

/// If the set holds one float, this float is certain and its neighbours are not.
#[test]
fn an_exact_result_is_certain_and_its_neighbours_are_not() {
    let floor = Certain::new(Profile::Strict, super::subjects::subject("Floor").instruction).expect("a function");
    assert!(matches!(floor.of(2.5, 2.0), Certainty::Allowed(_)));
    assert_eq!(floor.of(2.5, 2f32.next_up()), Certainty::Open);
    assert_eq!(floor.of(f32::INFINITY, 0.0), Certainty::Anything);
    assert_eq!(rules(Profile::Strict, super::subjects::subject("Floor"), &points(&[(vec![2.5], 1)]))[0], Set::point(2.0));
}
