//! The commands that do nothing without a device, in a program that was built without devices.

use super::exit::{self, Ended};
use clap::Args;
use smallstep::gpu;

/// Says that there are no devices
#[derive(Args)]
pub(crate) struct NeedsDevices {
    /// What is not read
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _options: Vec<String>,
}

impl NeedsDevices {
    pub(crate) fn run(self) -> Ended {
        Err((exit::UNCHECKED, format!("error: {}", gpu::WITHOUT_DEVICES)))
    }
}
