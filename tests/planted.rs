//! The test of the oracle: the check that a planted bug names catches the bug.

use smallstep::theorem::planted::{Check, Fate, Hunt, ILL_TYPED, known_modules, line, median_nodes, table};
use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::typing;
use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::spirv::Relation;
use smallstep_spec_tests::tools::missing;
use std::collections::BTreeSet;

#[test]
fn every_rule_has_a_planted_bug_and_every_bug_its_name() {
    let bugs = table();
    // Some rules are no part of the theorem: SPIR-V rules that λV does not need, WSL's rules and
    // the rules of the uniformity analysis. The cases of `spec-tests` have near-misses for these.
    let beyond = |rule: &Rule| {
        matches!(rule.judgement(), Judgement::Invocation | Judgement::Grid | Judgement::Uniformity | Judgement::Codegen)
            || rule.name().starts_with("wsl/")
    };
    let rules: Vec<Rule> = Rule::ALL.iter().copied().filter(|rule| !beyond(rule)).collect();
    for &rule in &rules {
        let is_bug = |check: Check| !matches!(check, Check::Equivalent(_));
        assert!(bugs.iter().any(|bug| bug.rule == Some(rule) && is_bug(bug.check)), "{rule} has no planted bug");
    }
    let names: BTreeSet<&str> = bugs.iter().map(|bug| bug.name).collect();
    assert_eq!(names.len(), bugs.len(), "two planted bugs have one name");
    // The bugs beyond one for each rule are written by hand.
    assert!(bugs.len() >= rules.len() + 30, "{} bugs for {} rules", bugs.len(), rules.len());
}

#[test]
fn every_planted_bug_is_caught() {
    let bugs = table();
    let hunt = Hunt::default();
    let fates = hunt.all(&bugs, &|bug, fate| println!("{}", line(bug, fate)));
    let (mut failures, mut unchecked) = (Vec::new(), Vec::new());
    for (bug, fate) in bugs.iter().zip(&fates) {
        match fate {
            Fate::Caught(_) | Fate::Equivalent => {}
            Fate::Unchecked(why) => unchecked.push(format!("{}: {why}", bug.name)),
            Fate::Survived => failures.push(format!("{} survived: {}", bug.name, bug.what)),
            Fate::NotEquivalent(caught) => failures.push(format!("{} is no equivalent: {}: {}", bug.name, caught.by, caught.what)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    if !unchecked.is_empty() {
        missing(&unchecked.join("; "), "SMALLSTEP_REQUIRE_SPIRV_TOOLS");
    }
    let median = median_nodes(&fates).expect("some bug is caught by a program");
    println!("the median of the minimal programs has {median} nodes");
    assert!(median <= 15, "the median of the minimal programs has {median} nodes");
}

#[test]
fn without_a_planted_bug_every_check_is_content() {
    let relation = Relation::default();
    for known in known_modules() {
        assert_eq!(known.differs(&relation), None);
    }
    for (text, code) in ILL_TYPED {
        let program = Program::resolve(&parse(text).expect("parses")).expect("resolves");
        let error = typing::infer(&program, typing::Limits::default()).expect_err(text);
        assert_eq!(error.code(), *code, "{text}");
    }
    for rule in Rule::ALL.iter().filter(|r| r.judgement() == Judgement::Typing) {
        assert!(ILL_TYPED.iter().any(|(_, code)| *code == rule.name() || *rule == Rule::LvTLet), "{rule} has no near-miss");
    }
}
