//! Every planted bug is caught, by a case or by generated programs.

use crate::cases::{CALLS, DISPATCHES, calls, dispatched};
use crate::{stages, texture_cases};
use smallstep::compile::wsl::planted::{BUGS, Planted};
use smallstep::compile::wsl::{Options, rules};
use smallstep::theorem::Verdict;
use smallstep::theorem::wsl::{Programs, Tally, check, judge};
use smallstep_semantics::rule::Rule;
use smallstep_spec_tests::file::CaseFile;
use smallstep_spec_tests::run::{self, Engines};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The test that catches a bug, with the difference. `None` if none does.
fn caught(bug: &Planted) -> Option<String> {
    let options = Options { planted: Some(bug), ..Options::default() };
    let wrong = |verdict: Verdict| matches!(verdict, Verdict::Disagree(_)).then(|| verdict.why());
    for case in CALLS {
        if let Some(why) = calls(case, &options).find_map(wrong) {
            return Some(format!("{why}, by a case: {}", case.text));
        }
    }
    if seen_by_a_spec_test(bug) {
        return Some("by a spec-test of its rule".into());
    }
    for (text, buffers) in DISPATCHES {
        if let Some(why) = wrong(dispatched(text, buffers, &options)) {
            return Some(format!("{why}, by a dispatch: {text}"));
        }
    }
    for case in stages::CASES {
        if let Some(why) = wrong(stages::drawn(case, &options)) {
            return Some(format!("{why}, by a draw: {}", case.text));
        }
    }
    for case in texture_cases::CASES {
        if let Some(why) = case.with(|_, dispatch| wrong(check(dispatch, &options))) {
            return Some(format!("{why}, by a texture: {}", case.text()));
        }
    }
    let mut found = Tally::default();
    for seed in 0..200 {
        for programs in [Programs::Dispatches, Programs::Functions] {
            judge(programs, seed, &options, &mut found);
        }
        if !found.findings.is_empty() {
            return Some(format!("{}, by seed {seed}", found.findings[0].what));
        }
    }
    None
}

/// Whether a case of `spec-tests/codegen` that fires the rule fails.
fn seen_by_a_spec_test(bug: &Planted) -> bool {
    let root = smallstep_spec_tests::root();
    let paths = run::collect(&root, "codegen/").expect("the folder can be read");
    let files = paths.iter().map(|path| CaseFile::read(&root, path).unwrap_or_else(|e| panic!("{e}")));
    let mut of_rule = files.filter(|file| file.rules.iter().any(|(_, rule)| *rule == bug.rule));
    of_rule.any(|file| !run::run(&file, &mut Engines { codegen: Some(*bug), ..Engines::default() }).failures.is_empty())
}

#[test]
fn every_planted_bug_is_caught() {
    let (next, missed, invalid) = (AtomicUsize::new(0), Mutex::new(Vec::new()), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(bug) = BUGS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match caught(bug) {
                        Some(how) => {
                            invalid.fetch_add(usize::from(how.contains("is not valid")), Ordering::Relaxed);
                            println!("{}: {}", bug.name, how.lines().next().unwrap_or_default());
                        }
                        None => missed.lock().expect("no panic").push(bug.name),
                    }
                }
            });
        }
    });
    let missed = missed.into_inner().expect("no panic");
    // A bug that makes modules invalid says little about the comparison.
    assert!(invalid.load(Ordering::Relaxed) * 10 <= BUGS.len(), "{invalid:?} of {} make modules that are not valid", BUGS.len());
    assert!(missed.is_empty(), "{} of {} are missed: {missed:#?}", missed.len(), BUGS.len());
}

/// The rules without a planted bug, and why: any change of their instructions makes the module
/// invalid, or has no effect.
const WITHOUT: &[(Rule, &str)] = &[
    (Rule::CodegenHeader, "it is no instruction of a function"),
    (Rule::CodegenTypeBool, "another type is not valid"),
    (Rule::CodegenTypeInt, "another type is not valid"),
    (Rule::CodegenTypeUint, "another type is not valid"),
    (Rule::CodegenTypeFloat, "another type is not valid"),
    (Rule::CodegenTypeVector, "another type is not valid"),
    (Rule::CodegenTypeMatrix, "another type is not valid"),
    (Rule::CodegenTypeBoolMatrix, "another type is not valid"),
    (Rule::CodegenTypeStruct, "another type is not valid"),
    (Rule::CodegenTypeEnum, "it emits nothing"),
    (Rule::CodegenTypeArray, "another type is not valid"),
    (Rule::CodegenTypeBuffer, "another type is not valid"),
    (Rule::CodegenBufferReadOnly, "only a device may tell that a buffer is not written"),
    (Rule::CodegenBufferAlias, "only a device may tell that two variables are not Aliased"),
    (Rule::CodegenThreadgroup, "another storage class is not valid"),
    (Rule::CodegenLocal, "another storage class is not valid"),
    (Rule::CodegenLocalPrivate, "another storage class is not valid"),
    (Rule::CodegenLoad, "there is one instruction and one operand"),
    (Rule::CodegenConstant, "indices of types are constants too, and become invalid"),
    (Rule::CodegenBroadcast, "all operands are the same"),
    (Rule::CodegenCastNone, "it emits nothing"),
    (Rule::CodegenPlus, "it emits nothing"),
    (Rule::CodegenReferenceLength, "there is one instruction and one operand"),
    (Rule::CodegenAccess, "other operands are not valid"),
    (Rule::CodegenTypeTexture, "another type is not valid"),
    (Rule::CodegenStorageFormat, "another format is not that of what is bound"),
    (Rule::CodegenSamplerBinding, "there is one type of samplers"),
    (Rule::CodegenTexelLoad, "other operands are not valid; the coordinates are made in another rule"),
    (Rule::CodegenGather, "other operands are not valid; the component is a constant"),
    (Rule::CodegenGatherCompare, "other operands are not valid"),
    (Rule::CodegenJump, "a branch to elsewhere is not valid"),
    (Rule::CodegenReturn, "there is one instruction and one operand"),
    (Rule::CodegenFunction, "a function is declared as it is called"),
    (Rule::CodegenCallInPlace, "its instructions are those of what is called"),
    (Rule::CodegenSpecialization, "another number is not that of what is given"),
];

/// Every rule has a planted bug, or a reason for having none.
#[test]
fn every_rule_has_a_planted_bug() {
    let has: BTreeSet<Rule> = BUGS.iter().map(|bug| bug.rule).collect();
    let without: BTreeSet<Rule> = WITHOUT.iter().map(|(rule, _)| *rule).collect();
    let missing: Vec<Rule> = rules().filter(|rule| has.contains(rule) == without.contains(rule)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn bugs_have_names_of_their_own() {
    let names: BTreeSet<&str> = BUGS.iter().map(|bug| bug.name).collect();
    assert_eq!(names.len(), BUGS.len());
    assert!(BUGS.len() >= 60);
}
