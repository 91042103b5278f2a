//! The cases of `spec-tests/`, with their parts on a device.
//!
//! Without a device those parts are counted as not run; with `SMALLSTEP_REQUIRE_DEVICE=1` that is a failure. `SMALLSTEP_ADAPTER` selects the
//! device. Each case runs by every route that the device offers.

use smallstep::gpu::{Device, Options, Route, Selection};
use smallstep_spec_tests::run::Engines;
use smallstep_spec_tests::run_all;

/// The device, or why there is none.
fn open(route: Route) -> Result<Device, String> {
    let text = std::env::var("SMALLSTEP_ADAPTER").unwrap_or_default();
    let selection: Selection = text.parse().expect("every text is a selection");
    let options = Options { executable: Some(env!("CARGO_BIN_EXE_smallstep").into()), ..Options::default() };
    Device::open(&selection, Some(route), options).map_err(|none| none.to_string())
}

fn every_case_by(route: Route) {
    let required = std::env::var_os("SMALLSTEP_REQUIRE_DEVICE").is_some_and(|v| v == "1");
    let device = match open(route) {
        Ok(device) => Some(device),
        Err(none) if required => panic!("SMALLSTEP_REQUIRE_DEVICE is set, and there is no device: {none}"),
        Err(none) => {
            eprintln!("there is no device: {none}");
            None
        }
    };
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
