//! The cases catch every wrong rule of WSL's execution and of its draws, and every wrong meaning of
//! its library.

mod draws;
mod groups;
mod library;
mod rules;

use smallstep_semantics::rule::{Judgement, Rule};
use smallstep_semantics::wsl::execution::Planted;
use smallstep_semantics::wsl::group::Replacement;
use smallstep_spec_tests::file::{CaseFile, Command, Language, Test};
use smallstep_spec_tests::root;
use smallstep_spec_tests::run::{self, Engines};
use smallstep_spec_tests::wsl::Rules;
use std::collections::BTreeSet;

/// The files with tests that call expressions or draw. Their directives about rules and their tests
/// by the letter are removed. So they check only the values of calls and the results of draws.
fn calls() -> Vec<CaseFile> {
    files(|test| test.command == Command::Call || draws::is_draw(test))
}

/// The files with tests that run compute entry points, without the same parts.
fn grids() -> Vec<CaseFile> {
    files(|test| test.command == Command::Run && !draws::is_draw(test))
}

/// The WSL files with tests for which `keeps` holds, without directives about rules and without
/// tests by the letter.
fn files(keeps: impl Fn(&Test) -> bool) -> Vec<CaseFile> {
    let paths = run::collect(&root(), "wsl/").expect("the folder can be read");
    let files = paths.iter().map(|path| CaseFile::read(&root(), path).unwrap_or_else(|e| panic!("{e}")));
    let keeps = &keeps;
    let calling = files.filter(|f| f.language == Language::Wsl).filter_map(move |mut file| {
        file.tests.retain(|t| keeps(t) && t.option("literal").is_none());
        (file.rules, file.not_rules, file.errors) = Default::default();
        (!file.tests.is_empty()).then_some(file)
    });
    calling.collect()
}

/// The name of the first file that fails with the planted bug.
fn caught(files: &[CaseFile], execution: Planted) -> Option<&str> {
    let mut engines = Engines { wsl: Rules { execution, ..Rules::default() }, ..Engines::default() };
    files.iter().find(|file| !run::run(file, &mut engines).failures.is_empty()).map(|file| file.name.as_str())
}

#[test]
fn every_wrong_rule_of_execution_is_caught() {
    let (calls, runs) = (calls(), grids());
    assert_eq!(caught(&calls, Planted::default()), None, "nothing is planted");
    let mut survived = Vec::new();
    let bugs = rules::bugs();
    for bug in &bugs {
        let planted = Planted { rule: Some((bug.rule, bug.by)), ..Planted::default() };
        // Textures are bound to dispatches, not to calls of expressions.
        let files = if bug.rule.name().starts_with("wsl/e-texture") { &runs } else { &calls };
        if caught(files, planted).is_none() {
            survived.push(format!("{}: {}", bug.rule, bug.what));
        }
    }
    assert!(survived.is_empty(), "no case sees {} of {}:\n{}", survived.len(), bugs.len(), survived.join("\n"));
}

#[test]
fn every_rule_of_execution_has_a_planted_bug() {
    let planted: BTreeSet<Rule> = rules::bugs().iter().map(|bug| bug.rule).collect();
    let of_execution = |r: &&Rule| matches!(r.judgement(), Judgement::StatementExecution | Judgement::ExpressionExecution);
    let without: Vec<&Rule> = Rule::ALL.iter().filter(of_execution).filter(|r| !planted.contains(r)).collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn every_wrong_rule_of_groups_is_caught() {
    let files = grids();
    assert_eq!(caught(&files, Planted::default()), None, "nothing is planted");
    let without = |(_, _, by): &&(Rule, &str, Replacement)| caught(&files, Planted { group: Some(*by), ..Planted::default() }).is_none();
    let survived: Vec<String> = groups::BUGS.iter().filter(without).map(|(rule, what, _)| format!("{rule}: {what}")).collect();
    assert!(survived.is_empty(), "no case sees {} of {}:\n{}", survived.len(), groups::BUGS.len(), survived.join("\n"));
    // The bugs in the rules of quads are in `draws`.
    let of_groups = |r: &&Rule| r.judgement() == Judgement::GroupExecution && !matches!(r, Rule::WslGQuad | Rule::WslGQuadApart);
    let bare: Vec<&Rule> = Rule::ALL.iter().filter(of_groups).filter(|r| groups::BUGS.iter().all(|(rule, ..)| rule != *r)).collect();
    assert!(bare.is_empty(), "{bare:?} has no planted bug");
}

#[test]
fn every_wrong_meaning_of_the_library_is_caught() {
    let files = calls();
    let survived: Vec<&str> = library::BUGS
        .iter()
        .filter(|(_, scalar)| caught(&files, Planted { scalar: Some(*scalar), ..Planted::default() }).is_none())
        .map(|(what, _)| *what)
        .collect();
    assert!(survived.is_empty(), "no case sees {} of {}:\n{}", survived.len(), library::BUGS.len(), survived.join("\n"));
}
