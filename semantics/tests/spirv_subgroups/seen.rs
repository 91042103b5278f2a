//! Planted bugs. The second evaluation finds each of them.

use pretty_assertions::assert_eq;
use smallstep_semantics::random::Random;
use smallstep_semantics::rule::Rule;

use super::bugs::{BUGS, Bug};
use super::values::{cases, drawn, module_of};
use super::*;

/// Whether some case shows another word than the second evaluation.
fn is_seen(bug: &Bug) -> bool {
    let mut random = Random::new(5);
    for case in cases() {
        let module = module_of(&case, 16);
        for _ in 0..6 {
            let (words, expected) = drawn(&case, 16, 8, &mut random);
            let rules = Rules::standard().replace(bug.rule, bug.function);
            let report = report(&module, &words, Some(8), &Schedule::default(), rules);
            if !matches!(report.outcome, Outcome::Observed(_)) {
                return true;
            }
            let shown = words_of(&report);
            let differs = expected.iter().zip(shown).any(|(expected, shown)| match expected {
                None => false,
                Some(None) => shown != Word::Any,
                Some(Some(word)) => shown != Word::Is(*word),
            });
            if differs {
                return true;
            }
        }
    }
    false
}

#[test]
fn every_planted_bug_is_seen() {
    for bug in BUGS {
        assert!(is_seen(bug), "{}", bug.name);
    }
}

#[test]
fn every_rule_has_a_planted_bug() {
    for rule in Rules::standard().rules().filter(|rule| rule.name().starts_with("spirv/group-")) {
        assert!(BUGS.iter().any(|bug| bug.rule == rule), "{rule}");
    }
    assert!(Rule::ALL.contains(&Rule::SpirvTangle));
}

#[test]
fn a_subgroup_that_never_meets_is_at_a_deadlock() {
    let module = load(&text(8, "", &format!("{OWN} %r = OpGroupNonUniformIAdd %uint %c3 Reduce %v {STORE}"))).unwrap();
    let rules = Rules::standard().suspend(Rule::SpirvTangle);
    assert_eq!(ending(&report(&module, &[0; 8], Some(4), &Schedule::default(), rules)), "deadlock");
}
