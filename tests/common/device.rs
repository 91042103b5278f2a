//! The device under test: the adapter that `SMALLSTEP_ADAPTER` selects, or the first. Without one,
//! tests say that they did not run, and how many; with
//! `SMALLSTEP_REQUIRE_DEVICE=1` they fail instead.

use smallstep::gpu::{Device, NoDevice, Options, Route, Selection};
use smallstep_spec_tests::tools;

pub fn selection() -> Selection {
    let text = std::env::var("SMALLSTEP_ADAPTER").unwrap_or_default();
    text.parse().expect("every text is a selection")
}

/// With workers of the program that is tested.
pub fn options() -> Options {
    Options { executable: Some(env!("CARGO_BIN_EXE_smallstep").into()), ..Options::default() }
}

/// The device, or None where there is none and none is required.
pub fn open(route: Option<Route>, options: Options) -> Option<Device> {
    Device::open(&selection(), route, options).map_err(|none: NoDevice| missing(&none.0)).ok()
}

/// Says that the test that calls this did not run for want of a device; fails
/// where one is required.
pub fn missing(why: &str) {
    tools::missing(&format!("there is no device: {why}"), "SMALLSTEP_REQUIRE_DEVICE");
}
