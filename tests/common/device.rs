//! The device under test: the adapter that `SMALLSTEP_ADAPTER` selects, or the first. Without a
//! device, tests say that they did not run, and how many. With `SMALLSTEP_REQUIRE_DEVICE=1` they
//! fail instead.

use smallstep::gpu::{Device, NoDevice, Options, Route, Selection};
use smallstep_spec_tests::tools;

pub fn selection() -> Selection {
    let text = std::env::var("SMALLSTEP_ADAPTER").unwrap_or_default();
    text.parse().expect("every text is a selection")
}

/// The options of a device whose workers are the program under test.
pub fn options() -> Options {
    Options { executable: Some(env!("CARGO_BIN_EXE_smallstep").into()), ..Options::default() }
}

/// Opens the device. `None` if there is no device and none is required.
pub fn open(route: Option<Route>, options: Options) -> Option<Device> {
    Device::open(&selection(), route, options).map_err(|none: NoDevice| missing(&none.0)).ok()
}

/// Says that the calling test did not run for lack of a device. Fails if a device is required.
pub fn missing(why: &str) {
    tools::missing(&format!("there is no device: {why}"), "SMALLSTEP_REQUIRE_DEVICE");
}
