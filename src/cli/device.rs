//! The arguments that select a device for a campaign.

use std::time::Duration;

use clap::Args;
use smallstep::gpu::{self, Device, Route, Selection};
use smallstep::theorem::check::Devices;
use smallstep::theorem::device::NoProfile;

use super::check::devices;
use super::exit;

/// Which device a campaign runs on beside the interpreters.
#[derive(Args)]
pub(crate) struct DeviceArgs {
    /// The device: none, auto (the first), required, or an adapter's name or index.
    #[arg(long, default_value = "none")]
    pub(crate) device: String,
    /// How words reach the device: passthrough or naga.
    #[arg(long, value_parser = super::route)]
    pub(crate) route: Option<Route>,
    /// Worker processes for the device; 0 for as many as suit it: 2 for a software adapter or from
    /// 16 cores on, else 1.
    #[arg(long, default_value_t = 0, value_parser = super::input::threads())]
    workers: usize,
    /// How long the device may take for one program, as 20s.
    #[arg(long, value_parser = super::budget::time, default_value = "20s")]
    program_limit: Duration,
    /// The device is given up when so many workers in a row have not started; the pauses between
    /// them grow from 0.2 s to 10 s.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), default_value_t = 12)]
    start_attempts: u32,
}

impl DeviceArgs {
    pub(crate) fn open(&self) -> Result<Option<Device>, String> {
        let selection = match devices(std::slice::from_ref(&self.device)) {
            Devices::None => return Ok(None),
            Devices::Auto | Devices::Required => Selection::First,
            Devices::Named(names) => names.into_iter().next().unwrap_or_default(),
        };
        let (program_limit, start_attempts, workers) = (self.program_limit, self.start_attempts, self.workers);
        let options = gpu::Options { program_limit, start_attempts, workers, ..gpu::Options::default() };
        match Device::open(&selection, self.route, options) {
            Ok(device) => Ok(Some(device)),
            Err(e) if self.device == "auto" => {
                tell!("unchecked on devices: {e}");
                Ok(None)
            }
            Err(e) => Err(e.to_string()),
        }
    }
}

/// The number of worker processes in words.
pub(crate) fn workers(count: usize) -> String {
    format!("{count} {}", if count == 1 { "worker" } else { "workers" })
}

/// Reports the number of worker failures that no program caused, if there were any.
pub(crate) fn say_unrepeated(failures: Option<u64>) {
    if let Some(n @ 1..) = failures {
        say!("worker failures that passed on a second try, and that no program is to blame for: {n}");
    }
}

/// The ending of a command whose device does not have the requested profile.
pub(crate) fn no_profile(why: &NoProfile) -> (u8, String) {
    match why {
        NoProfile::Route(why) => (exit::INVALID, format!("error: {why}")),
        why => (exit::UNCHECKED, format!("unchecked: {why}")),
    }
}
