//! Every planted mistake is caught: by a case, or by generated programs.

use crate::cases::{CALLS, DISPATCHES, calls, dispatched};
use crate::texture_cases::CASES;
use smallstep::compile::wsl::Options;
use smallstep::compile::wsl::planted::{BUGS, Planted};
use smallstep::compile::wsl::row::Row;
use smallstep::theorem::Verdict;
use smallstep::theorem::wsl::{Programs, Tally, check, judge};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// By what the bug is caught: what differs.
fn caught(bug: &Planted) -> Option<String> {
    let options = Options { planted: Some(bug), ..Options::default() };
    let wrong = |verdict: Verdict| matches!(verdict, Verdict::Disagree(_)).then(|| verdict.why());
    for case in CALLS {
        if let Some(why) = calls(case, &options).find_map(wrong) {
            return Some(format!("{why}, by a case: {}", case.text));
        }
    }
    for (text, buffers) in DISPATCHES {
        if let Some(why) = wrong(dispatched(text, buffers, &options)) {
            return Some(format!("{why}, by a dispatch: {text}"));
        }
    }
    for case in CASES {
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
    // A mistake that makes modules invalid says little of the comparison.
    assert!(invalid.load(Ordering::Relaxed) * 10 <= BUGS.len(), "{invalid:?} of {} make modules that are not valid", BUGS.len());
    assert!(missed.is_empty(), "{} of {} are missed: {missed:#?}", missed.len(), BUGS.len());
}

/// The rows without a planted mistake, and why: any change of one of their instructions makes the
/// module invalid, or says the same.
const WITHOUT: &[(Row, &str)] = &[
    (Row::Header, "it is no instruction of a function"),
    (Row::ScalarType, "another type is not valid"),
    (Row::VectorType, "another type is not valid"),
    (Row::MatrixType, "another type is not valid"),
    (Row::BoolMatrixType, "another type is not valid"),
    (Row::StructType, "another type is not valid"),
    (Row::ArrayType, "another type is not valid"),
    (Row::BufferType, "another type is not valid"),
    (Row::BufferReadOnly, "only a device may tell that a buffer is not written"),
    (Row::Threadgroup, "another storage class is not valid"),
    (Row::Local, "another storage class is not valid"),
    (Row::Load, "there is one instruction and one operand"),
    (Row::Constant, "indices of types are constants too, and become invalid"),
    (Row::Broadcast, "all operands are the same"),
    (Row::ReferenceLength, "there is one instruction and one operand"),
    (Row::Access, "other operands are not valid"),
    (Row::TextureType, "another type is not valid"),
    (Row::StorageFormat, "another format is not that of what is bound"),
    (Row::SamplerBinding, "there is one type of samplers"),
    (Row::TexelLoad, "other operands are not valid; the coordinates are made in another row"),
    (Row::Gather, "other operands are not valid; the component is a constant"),
    (Row::GatherCompare, "other operands are not valid"),
    (Row::Jump, "a branch to elsewhere is not valid"),
    (Row::Return, "there is one instruction and one operand"),
    (Row::Function, "a function is declared as it is called"),
];

/// Every row has a planted mistake, or a reason why it has none.
#[test]
fn every_row_has_a_planted_bug() {
    let has: BTreeSet<Row> = BUGS.iter().map(|bug| bug.row).collect();
    let without: BTreeSet<Row> = WITHOUT.iter().map(|(row, _)| *row).collect();
    let missing: Vec<&Row> = Row::ALL.iter().filter(|row| has.contains(row) == without.contains(row)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn bugs_have_names_of_their_own() {
    let names: BTreeSet<&str> = BUGS.iter().map(|bug| bug.name).collect();
    assert_eq!(names.len(), BUGS.len());
    assert!(BUGS.len() >= 60);
}
