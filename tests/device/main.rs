//! What is drawn and computed on a real device, and what becomes of programs when it fails.
//!
//! Without a device these tests say that they were skipped; with `SMALLSTEP_REQUIRE_DEVICE=1` they fail instead.

mod blame;
mod campaign;
mod computing;
mod drawing;
mod failing;
mod modules;
mod quirks;
mod rendering;
mod vectors;

use smallstep::dispatch::Frame;
use smallstep::gpu::{Device, DeviceOutcome, Options, Route, Selection};

/// The adapter under test: `SMALLSTEP_ADAPTER`, or the first.
fn selection() -> Selection {
    let text = std::env::var("SMALLSTEP_ADAPTER").unwrap_or_default();
    text.parse().expect("every text is a selection")
}

fn options() -> Options {
    Options { executable: Some(env!("CARGO_BIN_EXE_smallstep").into()), ..Options::default() }
}

/// The device, or None where there is none and none is required.
fn open(route: Option<Route>, options: Options) -> Option<Device> {
    match Device::open(&selection(), route, options) {
        Ok(device) => Some(device),
        Err(none) if std::env::var_os("SMALLSTEP_REQUIRE_DEVICE").is_some_and(|v| v == "1") => {
            panic!("SMALLSTEP_REQUIRE_DEVICE is set, and there is no device: {none}")
        }
        Err(none) => {
            eprintln!("SKIPPED: there is no device: {none}");
            None
        }
    }
}

#[track_caller]
fn drawn(outcome: DeviceOutcome) -> Frame {
    match outcome {
        DeviceOutcome::Drawn(frame) => frame,
        other => panic!("it was not drawn: {other}"),
    }
}

/// Runs the test on each route, where there is a device.
fn both_routes(test: impl Fn(&mut Device)) {
    for route in [Route::Passthrough, Route::Naga] {
        let Some(mut device) = open(Some(route), options()) else {
            return;
        };
        assert_eq!(device.route(), route);
        test(&mut device);
    }
}
