//! Planted bugs in the conversion: the comparison catches each of them.

use std::time::Duration;

use smallstep::compile::wgsl::Options;
use smallstep::compile::wgsl::planted::{BUGS, Change};
use smallstep::generate::spirv::{Limits, case};
use smallstep::theorem::compilers::Compiler;
use smallstep::theorem::dispatches::optimised::optimised;
use smallstep::verdict::Verdict;

/// Planted bugs that separate tests in `breadth` catch.
const ELSEWHERE: &[Change] =
    &[Change::Descriptors, Change::Killed, Change::Components, Change::Targets, Change::Indices, Change::Elements, Change::Nothing];

/// The maximum number of modules to try for one planted bug.
const TRIES: u64 = 100;

#[test]
fn every_planted_bug_is_caught() {
    let limits = Limits { executed: 40, shared_percent: 50, ..Limits::default() };
    let mut missed = Vec::new();
    for bug in BUGS.iter().filter(|bug| !ELSEWHERE.contains(&bug.change)) {
        let options = Options { planted: Some(bug.change), ..Options::default() };
        let optimiser = Compiler::wgsl(options, Duration::from_secs(60));
        let by_generated = || (1..=TRIES).any(|seed| matches!(optimised(&case(seed, &limits), &optimiser), Verdict::Disagree(_)));
        if !crate::sections::catches(bug.change) && !by_generated() {
            missed.push(bug.name);
        }
    }
    assert!(missed.is_empty(), "not caught: {missed:#?}");
    assert!(BUGS.len() >= 40);
}
