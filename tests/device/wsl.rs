//! Translated WSL programs on a device.

use super::both_routes;
use smallstep::theorem::campaign::{Extent, run};
use smallstep::theorem::device::profile_of;
use smallstep::theorem::journal::Journal;
use smallstep::theorem::wsl::{Plan, Programs};

#[test]
fn a_device_shows_what_programs_allow() {
    both_routes(|device| {
        for (programs, count) in [(Programs::Dispatches, 12), (Programs::Functions, 12)] {
            let extent = Extent { seed: 1, count: Some(count), time: None, shard: (0, 1), threads: 1 };
            let plan = Plan { extent, mix: &[programs], references: 10, profile: profile_of(device.route()), planted: None };
            let tally = run(&plan, Some(&*device), Journal::none(), &()).expect("no journal is written").tally;
            assert_eq!(tally.findings, [], "{} on {}", device.adapter().name, device.route());
            let (agree, asked) = (tally.all_device().of("agree"), tally.all_device().all());
            assert!(asked >= count / 2 && agree * 4 >= asked * 3, "{:?}, {:?}", tally.device, tally.unchecked);
        }
    });
}
