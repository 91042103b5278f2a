//! Translated WSL programs on a device.

use super::both_routes;
use smallstep::compile::wsl::Options;
use smallstep::gpu::Route;
use smallstep::theorem::wsl::{Programs, device_campaign};
use smallstep_semantics::number::Profile;

#[test]
fn a_device_shows_what_programs_allow() {
    both_routes(|device| {
        // naga takes no float controls.
        let profile = if device.route() == Route::Naga { Profile::Wgsl } else { Profile::Strict };
        let options = Options { profile, ..Options::default() };
        for (programs, count) in [(Programs::Dispatches, 12), (Programs::Functions, 12)] {
            let found = device_campaign(programs, 1, count, device, &options);
            assert!(found.wrong.is_empty(), "{} on {}: {:#?}", device.adapter().name, device.route(), found.wrong);
            assert!(found.count("agree") >= count * 3 / 4, "{:?}, {:?}", found.verdicts, found.unchecked);
        }
    });
}
