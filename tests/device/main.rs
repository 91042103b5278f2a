//! Draws and dispatches on a real device, and the fate of programs when it fails.
//!
//! Without a device, these tests say that they did not run. With `SMALLSTEP_REQUIRE_DEVICE=1` they
//! fail instead.

mod blame;
mod campaign;
#[path = "../common/mod.rs"]
mod common;
mod compare;
mod computing;
mod dispatches;
mod drawing;
mod failing;
mod floats;
mod modules;
mod not_run;
mod quirks;
mod rendering;
mod vectors;
mod wsl;

use common::device::{open, options};
use smallstep::dispatch::{ComputeResult, Dispatch, DrawResult, Frame};
use smallstep::gpu::{Device, DeviceOutcome, Route};

#[track_caller]
fn drawn(outcome: DeviceOutcome) -> Frame {
    match outcome {
        DeviceOutcome::Drawn(frame) => frame,
        other => panic!("it was not drawn: {other}"),
    }
}

#[track_caller]
fn rendered(outcome: DeviceOutcome) -> DrawResult {
    match outcome {
        DeviceOutcome::Rendered(result) => result,
        other => panic!("it was not rendered: {other}"),
    }
}

#[track_caller]
fn computed(outcome: DeviceOutcome) -> ComputeResult {
    match outcome {
        DeviceOutcome::Computed(result) => result,
        other => panic!("it was not computed: {other}"),
    }
}

/// Runs a program that must not reach the device, for a reason with these words.
#[track_caller]
fn unchecked(device: &mut Device, dispatch: impl Into<Dispatch>, expected: &str) {
    let outcome = device.run(dispatch).outcome;
    assert!(matches!(&outcome, DeviceOutcome::Unchecked(why) if why.contains(expected)), "{expected}: {outcome}");
}

/// Runs the test on the routes passthrough and naga, if there is a device.
fn both_routes(test: impl Fn(&mut Device)) {
    on_routes(&[Route::Passthrough, Route::Naga], test);
}

/// Runs the test on these routes, if there is a device.
fn on_routes(routes: &[Route], test: impl Fn(&mut Device)) {
    for &route in routes {
        let Some(mut device) = open(Some(route), options()) else {
            return;
        };
        assert_eq!(device.route(), route);
        test(&mut device);
    }
}
