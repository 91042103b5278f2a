//! The results of the definite semantics, of simulated devices and of members of intervals are
//! within the sets.

use super::device::Device;
use super::inputs::{Random, corners};
use super::subjects::{Arg, SUBJECTS, Subject};
use super::{PROFILES, Rule, inputs, over, points, rules};
use smallstep_semantics::number::sets::{Operand, Set, Span};
use smallstep_semantics::number::{Denormals, Profile, Rounding};

fn shown(subject: &Subject, profile: Profile, args: &[Arg]) -> String {
    format!("{} under {profile:?} of {:?}", subject.name, args.iter().map(|arg| &arg.0).collect::<Vec<_>>())
}

/// The first input at which the definite result is outside of the set, in words.
pub fn definite_outside(subject: &Subject, rule: Rule<'_>, count: u64, seed: u64) -> Option<String> {
    let mut random = Random(seed);
    let corners = corners();
    for n in 0..count {
        let args = subject.draw(&mut random, &corners);
        let profile = PROFILES[n as usize % PROFILES.len()];
        let controls = profile.controls();
        let Some(values) = subject.definite(&args) else { continue };
        let sets = rule(profile, subject, &points(&args));
        if sets.len() != values.len() {
            return Some(format!("{}: {} components, not {}", shown(subject, profile, &args), sets.len(), values.len()));
        }
        for (value, set) in values.iter().zip(sets) {
            // The definite semantics rounds to nearest and keeps subnormals.
            let other = controls.rounding == Rounding::TowardZero || controls.denormals == Denormals::Flush && value.is_subnormal();
            if !other && !set.contains(f64::from(*value)) {
                return Some(format!("{}: the definite {value:?} is not in {set}", shown(subject, profile, &args)));
            }
        }
    }
    None
}

/// The widths of sets, relative to the spread of the simulated devices' results.
#[derive(Default, Debug)]
pub struct Widths {
    ratios: Vec<f64>,
    any: u64,
    all: u64,
}

/// The first input at which a simulated device shows a result outside of the set, in words.
pub fn device_outside(subject: &Subject, rule: Rule<'_>, count: u64, devices: u64, seed: u64, widths: &mut Widths) -> Option<String> {
    let mut random = Random(seed);
    let corners = corners();
    for n in 0..count {
        let args = subject.draw(&mut random, &corners);
        let profile = PROFILES[n as usize % PROFILES.len()];
        let sets = rule(profile, subject, &points(&args));
        let i = random.below(sets.len());
        let set = sets[i];
        widths.all += 1;
        widths.any += set.is_any() as u64;
        let mut spread = Set::NONE;
        for _ in 0..devices {
            let mut device = Device { random: &mut random, controls: profile.controls(), listed: subject.is_listed() };
            match subject.simulated(&mut device, &args, i) {
                None if !set.is_any() => {
                    return Some(format!("{}: component {i} may be anything, not only {set}", shown(subject, profile, &args)));
                }
                None => {}
                Some(value) if !set.contains(value.into()) => {
                    return Some(format!("{}: component {i} is {value:?} on a device, not in {set}", shown(subject, profile, &args)));
                }
                Some(value) => spread = spread.union(Set::point(value.into())),
            }
        }
        if let (Some(set), Some(spread)) = (set.hull().filter(|_| !set.is_any()), spread.hull())
            && spread.high > spread.low
        {
            widths.ratios.push((set.high - set.low) / (spread.high - spread.low));
        }
    }
    None
}

/// A random set that contains the float.
pub fn around(random: &mut Random, x: f32) -> Set {
    let steps = |random: &mut Random| (random.next() >> (34 + random.below(30))) as u32;
    let mut ends = [x, x];
    match random.below(6) {
        0 => {}
        1 => ends = [-x.abs(), x.abs() * 0.5],
        2 => ends = [x - 1.0, x + 1.0],
        _ => {
            for (end, direction) in ends.iter_mut().zip([-1i64, 1]) {
                let key = |x: f32| if x.is_sign_negative() { -i64::from(x.to_bits() & 0x7fff_ffff) } else { i64::from(x.to_bits()) };
                let key = key(x) + direction * i64::from(steps(random));
                *end = f32::from_bits(key.unsigned_abs().min(0x7f80_0000) as u32).copysign(key as f32);
            }
        }
    }
    if x.is_nan() || ends[0].is_nan() || ends[1].is_nan() {
        return Set::point(x.into());
    }
    let set = Set::of(Span::between(ends[0].into(), ends[1].into())).with(Span::point(x.into()));
    match random.below(8) {
        0 => set.with(Span::point(-f64::from(x))),
        1 if random.below(4) == 0 => set.or_nan(),
        _ => set,
    }
}

/// A random member of the set: an end, or a number between the ends.
pub fn member(random: &mut Random, set: &Set) -> f32 {
    let spans = set.spans();
    if spans.is_empty() {
        return f32::NAN;
    }
    let span = spans[random.below(spans.len())];
    let (low, high) = (span.low as f32, span.high as f32);
    let member = match random.below(4) {
        0 => low,
        1 => high,
        2 if low <= 0.0 && 0.0 <= high => [f32::from_bits(1), 0.5, 1e-3, 0.0, 1.0, -1.0, -1e-3][random.below(7)].clamp(low, high),
        _ if !low.is_finite() || !high.is_finite() => [low.max(-f32::MAX), high.min(f32::MAX)][random.below(2)].clamp(low, high),
        _ => ((f64::from(low) + (f64::from(high) - f64::from(low)) * (random.below(1001) as f64 / 1000.0)) as f32).clamp(low, high),
    };
    // A zero of the other sign may not be a member.
    if set.contains(member.into()) { member } else { low }
}

/// Whether the ends of the spans of `part` are in `whole`. Numbers between the ends are not
/// checked, because they may be in `part` only because a set has few spans. With `slack`, the float
/// next to an end is enough. The exact result is known to 50 bits, which may put one float more at
/// an end of a point's set.
fn holds(whole: &Set, part: &Set, slack: bool) -> bool {
    let is_in = |end: f64, inward: f64| whole.contains(end) || slack && whole.contains(inward);
    let ends_are_in = |span: &Span| {
        let (low, high) = (span.low as f32, span.high as f32);
        is_in(span.low, low.next_up().into()) && is_in(span.high, high.next_down().into())
    };
    (whole.has_nan() || !part.has_nan()) && part.spans().iter().all(ends_are_in)
}

/// The first box of operands with a member whose result is outside of the box's result, in words.
pub fn member_outside(subject: &Subject, rule: Rule<'_>, count: u64, seed: u64) -> Option<String> {
    let mut random = Random(seed);
    let corners = corners();
    for n in 0..count {
        let args = subject.draw(&mut random, &corners);
        let profile = PROFILES[n as usize % PROFILES.len()];
        let boxed: Vec<(Vec<Operand>, usize)> = args
            .iter()
            .map(|(x, columns)| (x.iter().map(|&x| Operand { set: around(&mut random, x), id: None }).collect(), *columns))
            .collect();
        let whole = rule(profile, subject, &boxed);
        for _ in 0..4 {
            let members: Vec<Arg> =
                boxed.iter().map(|(x, columns)| (x.iter().map(|x| member(&mut random, &x.set)).collect(), *columns)).collect();
            let sets = rules(profile, subject, &points(&members));
            for (i, (part, whole)) in sets.iter().zip(&whole).enumerate() {
                if !holds(whole, part, !subject.is_exact()) {
                    let boxes: Vec<Vec<Set>> = boxed.iter().map(|(x, _)| x.iter().map(|x| x.set).collect()).collect();
                    return Some(format!(
                        "{}, members of {boxes:?}: component {i} is {part}, not within {whole}",
                        shown(subject, profile, &members)
                    ));
                }
            }
        }
    }
    None
}

#[test]
fn the_definite_semantics_is_within() {
    let faults = over(SUBJECTS, |subject| definite_outside(subject, &rules, inputs(), 1));
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn simulated_devices_are_within() {
    let lines = std::sync::Mutex::new(Vec::new());
    let faults = over(SUBJECTS, |subject| {
        let mut widths = Widths::default();
        let fault = device_outside(subject, &rules, inputs(), 6, 2, &mut widths);
        let Widths { mut ratios, any, all } = widths;
        ratios.sort_by(f64::total_cmp);
        if let (Some(&middle), Some(&most)) = (ratios.get(ratios.len() / 2), ratios.get(ratios.len() * 99 / 100)) {
            let any = 100.0 * any as f64 / all as f64;
            let line = format!("{:20} width / spread of 6 devices: median {middle:.2}, 99th {most:.1}; anything {any:.0} %", subject.name);
            lines.lock().expect("no panic").push(line);
        }
        fault
    });
    let mut lines = lines.into_inner().expect("no panic");
    lines.sort();
    println!("{}", lines.join("\n"));
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn members_of_intervals_are_within() {
    let faults = over(SUBJECTS, |subject| member_outside(subject, &rules, inputs() / 4, 3));
    assert!(faults.is_empty(), "{faults:#?}");
}
