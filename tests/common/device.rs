//! The device under test: the adapter that `SMALLSTEP_ADAPTER` selects, or the first. Without one, tests say that they were skipped; with
//! `SMALLSTEP_REQUIRE_DEVICE=1` they fail instead.

use smallstep::gpu::{Device, Options, Route, Selection};

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
