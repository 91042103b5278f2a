//! The precision conformance test: definite values and conforming devices pass, wrong devices fail,
//! and a real device is measured.
//!
//! Without a device, its tests say that they did not run. With `SMALLSTEP_REQUIRE_DEVICE=1` they
//! fail instead.

#[path = "../common/mod.rs"]
mod common;
mod device;
mod interpreted;
mod planted;
mod ranges;

use smallstep::precision::{Batch, Computer, Function, Inputs, Judge, Measured, Modules, NotComputed, Plan, Random, Verdict, measure};
use smallstep_semantics::number::reference::{self, Direction, Exact, Rounded};
use smallstep_semantics::number::{Controls, Denormals, Lane, Op, Profile, Rounding, Tuple, apply};

/// A device whose results are a function of the operands' words.
struct Made<F>(F);

impl<F: FnMut(&Function, &[u32]) -> Vec<u32>> Computer for Made<F> {
    fn compute(
        &mut self,
        modules: &Modules,
        batches: &mut dyn Iterator<Item = Batch>,
        take: &mut dyn FnMut(&Batch, &[u32]),
    ) -> Result<(), NotComputed> {
        for batch in batches {
            let Batch::Given(all) = &batch else { panic!("2^32 inputs are too many here") };
            let results: Vec<u32> =
                all.chunks_exact(modules.function().words()).flat_map(|words| (self.0)(modules.function(), words)).collect();
            take(&batch, &results);
        }
        Ok(())
    }
}

/// The profile that declares everything, with this rounding and this treatment of
/// subnormal numbers.
fn declared(rounding: Rounding, denormals: Denormals) -> Profile {
    Profile::Declared(Controls { rounding, denormals, keeps_special: true, no_contraction: true, wgsl: false })
}

fn profiles() -> [Profile; 7] {
    [
        Profile::Strict,
        declared(Rounding::NearestEven, Denormals::Preserve),
        declared(Rounding::NearestEven, Denormals::Flush),
        declared(Rounding::TowardZero, Denormals::MayFlush),
        declared(Rounding::Either, Denormals::MayFlush),
        Profile::VulkanDefault,
        Profile::Wgsl,
    ]
}

fn function(label: &str) -> Function {
    Function::all().into_iter().find(|f| f.label() == label).unwrap_or_else(|| panic!("there is no {label}"))
}

fn plan(inputs: u64) -> Plan {
    Plan { inputs, exhaustive: false, seed: 11 }
}

fn measured(made: impl FnMut(&Function, &[u32]) -> Vec<u32>, function: &Function, profile: Profile, inputs: u64) -> Measured {
    measure(&mut Made(made), function, profile, plan(inputs), &mut |_| {})
}

/// The result, correctly rounded in the profile's direction. Subnormal results are flushed if the
/// profile says so.
fn definite(function: &Function, profile: Profile, words: &[u32]) -> Vec<u32> {
    let controls = profile.controls();
    let direction = if controls.rounding == Rounding::TowardZero { Direction::TowardZero } else { Direction::NearestEven };
    let flushed = |x: f32| if controls.denormals == Denormals::Flush && x.is_subnormal() { 0.0f32.copysign(x) } else { x };
    let floats: Vec<f32> =
        words.iter().enumerate().map(|(i, &w)| if function.is_integer(i) { w as i32 as f32 } else { f32::from_bits(w) }).collect();
    if let Some(rounded) = reference::rounded(function.instruction, &floats, direction) {
        return vec![match rounded {
            Rounded::Value(x) => flushed(x).to_bits(),
            Rounded::Undefined => f32::NAN.to_bits(),
        }];
    }
    if function.instruction_name == "FaceForward" {
        // N if dot(Nref, I) < 0. The sign is that of the computed product. A tiny exact product may
        // have another sign.
        let n = function.results;
        let (normal, rest) = floats.split_at(n);
        let dot = rest[..n].iter().zip(&rest[n..]).fold(0.0f32, |sum, (i, reference)| sum + reference * i);
        return normal.iter().map(|x| flushed(if dot < 0.0 { *x } else { -x }).to_bits()).collect();
    }
    let exact = Judge::new(function, profile).exact(words);
    if exact.contains(&Exact::Undefined)
        && let Some(op) = Op::of(function.instruction)
    {
        // An infinity in one component leaves the other components defined.
        let lanes: Vec<Lane> = floats.iter().map(|&x| Lane::exact(x)).collect();
        let mut rest = lanes.as_slice();
        let mut tuples = Vec::new();
        for &components in &function.operands {
            let (own, after) = rest.split_at(components);
            tuples.push(Tuple::vector(own));
            rest = after;
        }
        return apply(op, &tuples).iter().map(|lane| flushed(lane.float()).to_bits()).collect();
    }
    let bits = |exact: &Exact| match exact {
        Exact::Within(enclosure) => flushed(enclosure.rounded(direction).expect("enclosures of vectors' functions are tight")).to_bits(),
        Exact::Undefined => f32::NAN.to_bits(),
    };
    exact.iter().map(bits).collect()
}

fn described(measured: &Measured) -> String {
    format!("{} {}: {:?}\n{:?}", measured.profile, measured.function.label(), measured.tally.reproducer, measured.answers)
}

#[test]
fn definite_values_conform() {
    for function in &Function::all() {
        for profile in profiles() {
            // If each step of a formula rounds toward zero, the result may differ from the precise
            // result rounded toward zero.
            let is_rounded = matches!(function.instruction_name, "FNegate" | "FAdd" | "FSub" | "FMul");
            if profile.controls().rounding == Rounding::TowardZero && !is_rounded {
                continue;
            }
            let measured = measured(|f, words| definite(f, profile, words), function, profile, 1000);
            assert_eq!(measured.tally.outside, 0, "{}", described(&measured));
            let wrong = measured.answers.iter().find(|answer| !answer.is_allowed());
            assert_eq!(wrong, None, "{profile} {}", function.label());
            assert_eq!(measured.tally.inputs, 1000);
        }
    }
}

#[test]
fn under_strict_controls_every_function_has_bounds() {
    for function in Function::all() {
        let measured = measured(|f, words| definite(f, Profile::Strict, words), &function, Profile::Strict, 3000);
        assert!(
            measured.tally.decided > 300,
            "{}: of {} inputs {} are decided",
            function.label(),
            measured.tally.inputs,
            measured.tally.decided
        );
    }
}

#[test]
fn the_ends_of_the_sets_conform() {
    for function in Function::all() {
        for profile in profiles() {
            let judge = Judge::new(&function, profile);
            let mut random = Random::new(3, 0);
            let legal = |_: &Function, words: &[u32]| -> Vec<u32> {
                let of = |set: &smallstep_semantics::number::sets::Set| {
                    let ends: Vec<f64> =
                        set.spans().iter().flat_map(|span| [span.low, span.high]).chain(set.has_nan().then_some(f64::NAN)).collect();
                    (ends[random.below(ends.len() as u64) as usize] as f32).to_bits()
                };
                judge.allowed(words).iter().map(of).collect()
            };
            let measured = measured(legal, &function, profile, 600);
            assert!(!matches!(measured.verdict(), Verdict::Disagree(_)), "{}", described(&measured));
        }
    }
}

#[test]
fn what_is_not_computed_is_no_agreement() {
    struct Broken;
    impl Computer for Broken {
        fn compute(
            &mut self,
            _: &Modules,
            _: &mut dyn Iterator<Item = Batch>,
            _: &mut dyn FnMut(&Batch, &[u32]),
        ) -> Result<(), NotComputed> {
            Err(NotComputed { failed: true, why: "it burns".into() })
        }
    }
    let measured = measure(&mut Broken, &function("Sin"), Profile::Strict, plan(100), &mut |_| {});
    assert_eq!((measured.word(), measured.tally.inputs), ("unchecked", 0));
    assert_eq!(measured.not_computed.map(|not| not.why).as_deref(), Some("it burns"));
}

#[test]
fn inputs_come_in_batches_and_all_are_judged() {
    let sin = function("Sin");
    let mut told = 0;
    let mut device = Made(|f: &Function, words: &[u32]| definite(f, Profile::Strict, words));
    let measured = measure(&mut device, &sin, Profile::Strict, plan(70_000), &mut |n| told += n);
    assert_eq!((measured.tally.inputs, told), (70_000, 70_000));
    assert_eq!(Inputs::new(&sin, 11, 70_000).count(), 70_000);
}
