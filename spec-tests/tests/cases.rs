//! Runs every case, except its parts on a device. Those run in `tests/spec.rs` of the root package,
//! which has the executable that they need.
//!
//! `SPEC_FILTER=lv/t-if` runs the cases with this text in their names. `SPEC_BLESS=1` rewrites the
//! blessed blocks that differ.

use smallstep_spec_tests::file::CaseFile;
use smallstep_spec_tests::run::{self, Engines};
use smallstep_spec_tests::{root, run_all};

/// A single test checks both, since blessing writes the files that the second part reads.
#[test]
fn every_case_passes_and_blessing_it_changes_nothing() {
    let filter = std::env::var("SPEC_FILTER").unwrap_or_default();
    let bless = std::env::var_os("SPEC_BLESS").is_some_and(|v| v == "1");
    let report = run_all(&filter, bless, &mut Engines::default()).expect("the cases can be read");
    println!("{}", report.text());
    assert!(report.passed(), "\n{}", report.text());
    for path in run::collect(&root(), &filter).expect("the folders can be read") {
        let file = CaseFile::read(&root(), &path).unwrap_or_else(|e| panic!("{e}"));
        let report = run::run(&file, &mut Engines::default());
        let blocks: usize = file.tests.iter().map(|t| t.blocks.len()).sum();
        assert_eq!(report.blocks.len(), blocks, "{}: a blessed part has nothing to be compared with", file.name);
        assert!(file.with_blocks(&report.blocks) == file.text, "{}: blessing would change it", file.name);
    }
}
