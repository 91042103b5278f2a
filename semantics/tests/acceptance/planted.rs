//! Wrong rules, and the checks that find them.

use super::bounds::{self, end_astray};
use super::comparisons::{Comparing, contradiction};
use super::soundness::{Widths, definite_outside, device_outside, member_outside};
use super::subjects::{Subject, subject};
use super::{over, rules};
use smallstep_semantics::number::sets::{Operand, Set, Span, Truth, compared, narrowed};
use smallstep_semantics::number::{Profile, Rounding};

/// A replacement of the sets of a rule. It applies if all operands are points, and gets them
/// as floats.
type Replace = fn(Profile, &[f32], Set) -> Set;

fn is_point(set: &Set) -> bool {
    set.only().is_some()
}

/// Takes that many floats from each end of a set, or adds them if the number is negative.
fn trimmed(set: Set, floats: i32) -> Set {
    let Some(Span { low, high }) = set.hull().filter(|_| !set.is_any() && !set.has_nan()) else { return set };
    let (mut low, mut high) = (low as f32, high as f32);
    for _ in 0..floats.abs() {
        (low, high) = if floats > 0 { (low.next_up(), high.next_down()) } else { (low.next_down(), high.next_up()) };
    }
    if low < high { Set::of(Span { low: low.into(), high: high.into() }) } else { set }
}

fn without_zeros(set: Set) -> Set {
    let (least, most) = (f64::from(f32::from_bits(1)), f64::INFINITY);
    set.meet(Set::of(Span { low: least, high: most }).with(Span { low: -most, high: -least }))
}

const PLANTED: &[(&str, &str, Replace)] = &[
    ("FDiv", "a quotient is within 2 ULP", |_, _, set| trimmed(set, 1)),
    ("FDiv", "a quotient is within 4 ULP", |_, _, set| trimmed(set, -3)),
    ("FDiv", "a quotient by a subnormal is bounded", |_, x, set| {
        if x[1].is_subnormal() && set.is_any() { Set::point((x[0] / x[1]).into()) } else { set }
    }),
    ("FMul", "a tiny product is not flushed", |_, x, set| if x[0] * x[1] != 0.0 && !set.is_any() { without_zeros(set) } else { set }),
    ("FMul", "the sign of a flushed product is kept", |_, x, set| {
        let tiny = (x[0] * x[1]).is_subnormal();
        if tiny {
            set.meet(Set::of(Span::between(0f64.copysign((x[0] * x[1]).into()), f64::INFINITY.copysign((x[0] * x[1]).into()))))
        } else {
            set
        }
    }),
    ("FMul", "overflow is infinite", |_, x, set| {
        if (x[0] * x[1]).is_infinite() && x[0].is_finite() && x[1].is_finite() && !set.is_any() {
            Set::point((x[0] * x[1]).into())
        } else {
            set
        }
    }),
    ("FAdd", "a subnormal operand is not flushed", |_, x, set| {
        if x.iter().any(|x| x.is_subnormal()) && (x[0] + x[1]).is_finite() { Set::point((x[0] + x[1]).into()) } else { set }
    }),
    ("FAdd", "rounding is to nearest, whatever is declared", |profile, x, set| {
        let either = profile.controls().rounding == Rounding::Either;
        if either && (x[0] + x[1]).is_normal() && !set.is_any() { Set::point((x[0] + x[1]).into()) } else { set }
    }),
    ("FSub", "infinities are kept without the mode", |_, x, set| {
        if x.iter().any(|x| x.is_infinite()) && set.is_any() { Set::point((x[0] - x[1]).into()) } else { set }
    }),
    ("FNegate", "the sign of zero is kept without the mode", |_, x, set| if x[0] == 0.0 { Set::point((-x[0]).into()) } else { set }),
    ("Transpose", "a matrix in another order", |_, x, set| if is_point(&set) { Set::point(x[0].into()) } else { set }),
    ("FMin", "of zeros the first", |_, x, set| if x[0] == 0.0 && x[1] == 0.0 { Set::point(x[0].into()) } else { set }),
    ("NMax", "the number, of NaN and a number", |_, x, set| if x[0].is_nan() && x[1].is_finite() { Set::point(x[1].into()) } else { set }),
    ("FClamp", "exchanged bounds are the lower one", |_, x, set| if x[1] > x[2] { Set::point(x[2].into()) } else { set }),
    ("Round", "a tie goes to even", |_, x, set| {
        if (x[0] - x[0].trunc()).abs() == 0.5 { Set::point(x[0].round_ties_even().into()).union(set.meet(Set::ZERO)) } else { set }
    }),
    ("Fract", "below 1", |_, _, set| set.meet(Set::of(Span { low: -0.0, high: 1f32.next_down().into() }))),
    ("Step", "a subnormal is above zero", |_, x, set| if x[0] == 0.0 && x[1] < 0.0 { Set::ZERO } else { set }),
    ("Sin", "bounded everywhere", |_, x, set| if x[0].is_finite() && set.is_any() { Set::of(Span { low: -1.1, high: 1.1 }) } else { set }),
    ("Log", "3 ULP between 0.5 and 2", |_, x, set| {
        let value = f64::from(x[0]).ln() as f32;
        if (0.5..=2.0).contains(&x[0]) { trimmed(Set::of(Span { low: value.into(), high: value.into() }), -3) } else { set }
    }),
    ("Exp", "3 ULP", |_, x, set| {
        if is_point(&set) || set.is_any() { set } else { set.meet(trimmed(Set::point(f64::from(x[0]).exp() as f32 as f64), -3)) }
    }),
    ("InverseSqrt", "within 1 ULP", |_, _, set| trimmed(set, 1)),
    ("Atan", "within 4093 ULP", |_, _, set| trimmed(set, 3)),
    ("Sqrt", "correctly rounded", |_, x, set| if set.is_any() { set } else { Set::point(x[0].sqrt().into()) }),
    ("Fma", "fused", |_, x, set| if set.is_any() { set } else { Set::point(x[0].mul_add(x[1], x[2]).into()) }),
    ("FMod", "of y's sign and less than y", |_, x, set| {
        if x[1].is_normal() { set.meet(Set::of(Span::between(0.0, x[1].into())).with(Span { low: -0.0, high: 0.0 })) } else { set }
    }),
    ("Dot", "from the left, unfused", |profile, x, set| {
        let n = x.len() / 2;
        let sum = (0..n).map(|i| x[i] * x[n + i]).reduce(|sum, x| sum + x).unwrap_or(0.0);
        if set.is_any() || profile != Profile::Strict { set } else { Set::point(sum.into()) }
    }),
    ("FMix", "as it is written", |_, x, set| {
        let value = x[0] * (1.0 - x[2]) + x[1] * x[2];
        if set.is_any() || value == 0.0 || value.is_subnormal() { set } else { Set::point(value.into()) }
    }),
    ("Tanh", "16 ULP", |_, x, set| {
        if set.is_any() { set } else { set.meet(trimmed(Set::point(f64::from(x[0]).tanh() as f32 as f64), -16).union(Set::ZERO)) }
    }),
    ("FaceForward", "turned where it is not", |_, _, set| {
        let Some(hull) = set.hull().filter(|_| is_point(&set)) else { return set };
        Set::point(-hull.low)
    }),
];

/// The operands as floats. `None` if one of them is neither a point nor NaN.
fn floats(args: &[(Vec<Operand>, usize)]) -> Option<Vec<f32>> {
    let float = |operand: &Operand| {
        if operand.set == Set::NAN { Some(f32::NAN) } else { operand.set.only().map(|x| x as f32) }
    };
    args.iter().flat_map(|(operands, _)| operands).map(float).collect()
}

fn caught(name: &str, replace: Replace) -> Option<String> {
    let planted = |profile: Profile, of: &Subject, args: &[(Vec<Operand>, usize)]| {
        let sets = rules(profile, of, args);
        let Some(floats) = floats(args) else { return sets };
        sets.into_iter().map(|set| replace(profile, &floats, set)).collect()
    };
    by_checks(name, &planted)
}

/// The fault of a rule that the first successful check finds, in words. `None` if no check
/// finds one.
fn by_checks(name: &str, planted: super::Rule<'_>) -> Option<String> {
    let subject = subject(name);
    let ends = || if bounds::FUNCTIONS.contains(&name) { end_astray(name, planted, 3_000, 13).0 } else { None };
    let devices = || device_outside(subject, planted, 20_000, 8, 12, &mut Widths::default());
    let definite = || definite_outside(subject, planted, 20_000, 11);
    devices().or_else(definite).or_else(ends).or_else(|| member_outside(subject, planted, 3_000, 14))
}

#[test]
fn wrong_rules_are_caught() {
    let survivors = over(PLANTED, |&(name, what, replace)| match caught(name, replace) {
        Some(found) => {
            println!("{name}, {what}: {found}");
            None
        }
        None => Some(format!("{name}: {what}")),
    });
    assert!(survivors.is_empty(), "not caught: {survivors:#?}");
}

/// Planted rules that take an interval for its two ends.
#[test]
fn an_interval_is_more_than_its_ends() {
    for name in ["Sin", "Cos", "Cosh", "Fract", "FAbs", "FSign", "FMul", "FMod", "Exp"] {
        let by_ends = |profile: Profile, of: &Subject, args: &[(Vec<Operand>, usize)]| {
            let end = |high: bool| -> Vec<(Vec<Operand>, usize)> {
                let point = |operand: &Operand| match operand.set.hull().filter(|_| !operand.set.has_nan()) {
                    Some(hull) => Operand { set: Set::point(if high { hull.high } else { hull.low }), id: None },
                    None => *operand,
                };
                args.iter().map(|(operands, columns)| (operands.iter().map(point).collect(), *columns)).collect()
            };
            let (low, high) = (rules(profile, of, &end(false)), rules(profile, of, &end(true)));
            low.into_iter().zip(high).map(|(low, high)| low.union(high)).collect()
        };
        let found = by_checks(name, &by_ends);
        println!("{name}: {found:?}");
        assert!(found.is_some(), "{name}");
    }
}

/// Wrong comparisons and wrong narrowing.
const PLANTED_COMPARISONS: &[(&str, Comparing)] = &[
    (
        "a subnormal is not flushed before a comparison",
        Comparing {
            compared: |profile, instruction, x, y| match (x.set.only(), y.set.only()) {
                (Some(a), Some(b)) if a != b && (a as f32).is_subnormal() && compared(profile, instruction, x, y) == Truth::BOTH => {
                    Truth { may_hold: true, may_fail: false }
                }
                _ => compared(profile, instruction, x, y),
            },
            narrowed,
        },
    ),
    (
        "an ordered comparison of NaN fails",
        Comparing {
            compared: |profile, instruction, x, y| match x.set == Set::NAN || y.set == Set::NAN {
                true => Truth { may_hold: false, may_fail: true },
                false => compared(profile, instruction, x, y),
            },
            narrowed,
        },
    ),
    (
        "narrowing drops the sign of zero",
        Comparing {
            compared,
            narrowed: |profile, instruction, x, y, holds| {
                narrowed(profile, instruction, x, y, holds)
                    .map(|set| if set.contains(-0.0) && set.contains(0.0) { plus_zero(set) } else { set })
            },
        },
    ),
    (
        "narrowing drops subnormals next to zero",
        Comparing {
            compared,
            narrowed: |profile, instruction, x, y, holds| {
                let normal = f64::from(f32::MIN_POSITIVE);
                let most = Set::of(Span { low: f64::NEG_INFINITY, high: -normal }).with(Span { low: -0.0, high: 0.0 });
                let most = most.with(Span { low: normal, high: f64::INFINITY }).or_nan();
                let before = [x.set, y.set];
                let after = narrowed(profile, instruction, x, y, holds);
                [0, 1].map(|i| if after[i] == before[i] { after[i] } else { after[i].meet(most) })
            },
        },
    ),
    (
        "narrowing next to NaN",
        Comparing {
            compared,
            narrowed: |profile, instruction, x, y, holds| {
                let clean = |operand: &Operand| {
                    let set = operand.set.meet(Set::of(Span { low: f64::MIN, high: f64::MAX }));
                    Operand { set: if set.is_none() { operand.set } else { set }, id: operand.id }
                };
                narrowed(profile, instruction, &clean(x), &clean(y), holds)
            },
        },
    ),
    (
        "a bound that is not strict is taken for a strict one",
        Comparing {
            compared,
            narrowed: |profile, instruction, x, y, holds| {
                let after = narrowed(profile, instruction, x, y, holds);
                let narrower = trimmed(after[0], 1);
                [if after[0] == x.set { after[0] } else { narrower }, after[1]]
            },
        },
    ),
];

fn plus_zero(set: Set) -> Set {
    let above = set.meet(Set::of(Span { low: 0.0, high: f64::INFINITY }));
    let below = set.meet(Set::of(Span { low: f64::NEG_INFINITY, high: -f64::from(f32::from_bits(1)) }));
    let all = above.union(below);
    if set.has_nan() { all.or_nan() } else { all }
}

#[test]
fn wrong_comparisons_are_caught() {
    for (what, comparing) in PLANTED_COMPARISONS {
        let found = contradiction(comparing, 200_000, 15);
        println!("{what}: {found:?}");
        assert!(found.is_some(), "not caught: {what}");
    }
}
