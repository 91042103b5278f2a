//! The cases of `spec-tests/`, device parts included.
//!
//! Without a device, these parts count as not run. With `SMALLSTEP_REQUIRE_DEVICE=1` that is a
//! failure. `SMALLSTEP_ADAPTER` selects the device. Each case runs by every route that the
//! device offers.

mod common;

use common::device::{open, options};
use smallstep::gpu::Route;
use smallstep_spec_tests::run::Engines;
use smallstep_spec_tests::run_all;

fn every_case_by(route: Route) {
    let device = open(Some(route), options());
    let has_device = device.is_some();
    let mut engines = Engines { device, ..Engines::default() };
    let filter = std::env::var("SPEC_FILTER").unwrap_or_default();
    let report = run_all(&filter, false, &mut engines).expect("the cases can be read");
    println!("{route}: {}", report.text());
    assert!(report.passed(), "\n{}", report.text());
    let not_run = report.files.iter().map(|f| f.not_run.len()).sum::<usize>();
    assert!(!has_device || not_run == 0, "there is a device, and {not_run} parts were not run on it");
}

#[test]
fn every_case_passes_by_passthrough() {
    every_case_by(Route::Passthrough);
}

#[test]
fn every_case_passes_by_naga() {
    every_case_by(Route::Naga);
}

#[test]
fn every_case_passes_by_wgsl() {
    every_case_by(Route::Wgsl);
}
