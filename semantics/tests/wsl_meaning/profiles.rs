//! Under a profile, the definite result of an operation on definite operands is among the
//! allowed results.

use crate::float_functions::{ARITHMETIC, FUNCTIONS, corners};
use crate::random::Random;
use smallstep_semantics::number::sets::{Set, Span, Truth};
use smallstep_semantics::number::{Controls, Denormals, Profile, Rounding};
use smallstep_semantics::wsl::library::Meaning::{self, *};
use smallstep_semantics::wsl::meaning::{Op, OpResult, allowed, scalar, truth};
use smallstep_semantics::wsl::types::Scalar;

const OTHERS: [Meaning; 3] = [Pow, Ldexp, Atan2];
const COMPARISONS: [Meaning; 9] = [Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, IsFinite, IsInf, IsNan];

/// The profiles whose allowed results include the definite ones. They neither round toward zero nor
/// require a flush.
fn profiles() -> Vec<Profile> {
    let base = Controls { no_contraction: true, ..Controls::NOTHING };
    vec![
        Profile::Strict,
        Profile::VulkanDefault,
        Profile::Wgsl,
        Profile::of(base),
        Profile::of(Controls { rounding: Rounding::NearestEven, ..base }),
        Profile::of(Controls { rounding: Rounding::NearestEven, denormals: Denormals::Preserve, keeps_special: true, ..base }),
        Profile::of(Controls { wgsl: true, ..base }),
    ]
}

fn op(meaning: Meaning) -> Op {
    Op { meaning, of: Scalar::Float, to: Scalar::Float }
}

fn operands(arity: usize) -> Vec<Vec<f32>> {
    let corners = corners();
    let mut source = Random(29);
    let mut all: Vec<Vec<f32>> = Vec::new();
    match arity {
        1 => all.extend(corners.iter().map(|&x| vec![x])),
        2 => all.extend(corners.iter().flat_map(|&x| corners.iter().map(move |&y| vec![x, y]))),
        _ => {
            for _ in 0..3000 {
                all.push((0..3).map(|_| corners[source.below(corners.len())]).collect());
            }
        }
    }
    for _ in 0..1500 {
        let mut any = || f32::from_bits(source.next() as u32 & 0x83ff_ffff | 0x3d00_0000);
        all.push((0..arity).map(|_| any()).collect());
    }
    all
}

/// The definite results that are not allowed, as text.
fn outside(given: impl Fn(Op, &[u32]) -> OpResult) -> Vec<String> {
    let mut found = Vec::new();
    for meaning in ARITHMETIC.into_iter().chain(FUNCTIONS).chain(OTHERS) {
        let arity = op(meaning).arity().expect("an operation");
        for x in operands(arity) {
            let bits: Vec<u32> = x.iter().map(|x| x.to_bits()).collect();
            let sets: Vec<Set> = x.iter().map(|&x| Set::point(x.into())).collect();
            let given = given(op(meaning), &bits);
            for profile in profiles() {
                let Some(set) = allowed(op(meaning), &sets, profile) else { continue };
                let is_in = |bits: u32| set.contains(f32::from_bits(bits).into());
                let within = match &given {
                    OpResult::Exactly(bits) => is_in(*bits),
                    OpResult::OneOf(all) => all.iter().all(|&bits| is_in(bits)),
                    OpResult::Any(_) => set.is_any(),
                };
                if !within {
                    found.push(format!("{meaning:?}{x:?} under {profile}: {given:x?} is not within {set}"));
                }
            }
        }
    }
    found
}

#[test]
fn definite_results_are_allowed_under_every_profile() {
    let found = outside(scalar);
    assert!(found.is_empty(), "{} are not:\n{}", found.len(), found[..found.len().min(40)].join("\n"));
}

#[test]
fn a_result_that_is_not_allowed_is_seen() {
    // A sum that is one float off, a step with its results exchanged, a sine that is always 1, and
    // a logarithm with the wrong sign.
    type Wrong = fn(OpResult) -> OpResult;
    let wrong: [(Meaning, Wrong); 4] = [
        (Add, |given| OpResult::Exactly(given.first().wrapping_add(1))),
        (Step, |given| OpResult::Exactly(given.first() ^ 0x3f80_0000)),
        (Sin, |_| OpResult::Exactly(0x3f80_0000)),
        (Log10, |given| OpResult::Exactly(given.first() ^ 0x8000_0000)),
    ];
    for (meaning, replace) in wrong {
        let found = outside(|op, operands| if op.meaning == meaning { replace(scalar(op, operands)) } else { scalar(op, operands) });
        assert!(!found.is_empty(), "{meaning:?}");
    }
}

#[test]
fn without_no_contraction_nothing_is_bounded() {
    let one = Set::point(1.0);
    assert_eq!(allowed(op(Add), &[one, one], Profile::Strict), Some(Set::point(2.0)));
    assert_eq!(allowed(op(Add), &[one, one], Profile::VulkanDefault), None);
    assert_eq!(allowed(op(Add), &[one, one], Profile::Wgsl), None);
    // No operation from floats to floats.
    assert_eq!(allowed(Op { meaning: Add, of: Scalar::Int, to: Scalar::Int }, &[one, one], Profile::Strict), None);
    assert_eq!(allowed(op(Dot), &[one, one], Profile::Strict), None);
    assert_eq!(allowed(op(Add), &[one], Profile::Strict), None);
}

#[test]
fn some_sets_by_hand() {
    let point = Set::point;
    let strict = |meaning: Meaning, of: &[Set]| allowed(op(meaning), of, Profile::Strict).expect("bounded");
    // The edge of step is its second operand.
    assert_eq!(strict(Step, &[point(2.0), point(1.0)]), point(1.0));
    assert_eq!(strict(Step, &[point(1.0), point(2.0)]), Set::ZERO);
    assert!(strict(Step, &[Set::of(Span::between(0.0, 3.0)), point(2.0)]).contains(1.0));
    // A half may be rounded either way. The reciprocal of 3 may be slightly off.
    let half = strict(Round, &[point(2.5)]);
    assert!(half.contains(2.0) && half.contains(3.0) && !half.contains(4.0));
    let third = strict(Rcp, &[point(3.0)]);
    assert!(third.contains(f64::from(1f32 / 3.0)) && third.contains(f64::from((1f32 / 3.0).next_up())) && !third.contains(0.34));
    assert!(strict(Rcp, &[point(0.0)]).is_any());
    // Rounded once or twice.
    let mad = strict(Mad, &[point(1.000244140625), point(1.000244140625), point(-1.0)]);
    assert!(mad.contains(4.8828125e-4) && mad.contains(4.883408546447754e-4));
    let fmod = strict(Fmod, &[point(-5.5), point(2.0)]);
    assert!(fmod.contains(-1.5) && !fmod.contains(0.5));
    let log = strict(Log10, &[point(1000.0)]);
    assert!(log.contains(3.0) && log.contains(f64::from(3f32.next_up())) && !log.contains(2.999) && !log.contains(3.001));
    let ldexp = strict(Ldexp, &[point(3.0), point(2.0)]);
    assert!(ldexp.contains(12.0) && !ldexp.contains(12.1));
    assert_eq!(strict(Saturate, &[Set::of(Span::between(0.5, 7.0))]), Set::of(Span::between(0.5, 1.0)));
}

#[test]
fn truth_values_are_allowed_under_every_profile() {
    for meaning in COMPARISONS.into_iter().chain([Convert, All]) {
        let op = Op { meaning, of: Scalar::Float, to: Scalar::Bool };
        for x in operands(op.arity().expect("an operation")) {
            let bits: Vec<u32> = x.iter().map(|x| x.to_bits()).collect();
            let sets: Vec<Set> = x.iter().map(|&x| Set::point(x.into())).collect();
            let holds = scalar(op, &bits).first() == 1;
            for profile in profiles() {
                let Truth { may_hold, may_fail } = truth(op, &sets, profile).expect("a comparison");
                assert!(if holds { may_hold } else { may_fail }, "{meaning:?}{x:?} under {profile}");
            }
        }
    }
    let [one, two] = [1.0, 2.0].map(Set::point);
    let less = Op { meaning: Less, of: Scalar::Float, to: Scalar::Bool };
    assert_eq!(truth(less, &[one, two], Profile::Strict), Some(Truth { may_hold: true, may_fail: false }));
    assert_eq!(truth(less, &[one, one], Profile::Strict), Some(Truth { may_hold: false, may_fail: true }));
    assert_eq!(truth(op(Add), &[one, one], Profile::Strict), None);
    let finite = Op { meaning: IsFinite, of: Scalar::Float, to: Scalar::Bool };
    assert_eq!(truth(finite, &[one], Profile::Strict), Some(Truth { may_hold: true, may_fail: false }));
    assert_eq!(truth(finite, &[Set::ANY], Profile::Strict), Some(Truth::BOTH));
}
