//! AFTER on a device: what it shows there must be what BEFORE allows.

use std::fmt;
use std::sync::Arc;

use smallstep_semantics::outcome::{InputFault, InvalidInput};

use super::Unchecked;
use super::observe::Judged;
use crate::gpu::{Device, DeviceOutcome};

/// A device that runs the exact words of AFTER. Comparisons on several threads share it.
#[derive(Clone)]
pub struct OnDevice {
    device: Arc<Device>,
    name: Arc<str>,
}

impl fmt::Debug for OnDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Why AFTER shows nothing on a device.
pub(super) enum NotShown {
    /// The device did not run it, so nothing is known. This is the verdict.
    Judged(Judged),
    /// The device fails on AFTER. The text says how.
    Fails(String),
}

impl OnDevice {
    /// A device for a comparison.
    ///
    /// # Errors
    /// The device's route goes over naga, which changes the words.
    pub fn new(device: Device) -> Result<OnDevice, InvalidInput> {
        let route = device.route();
        if route.re_emits() {
            let what =
                format!("by the route {route} a device runs other words than AFTER's; use --route passthrough, and --via for compilers");
            return Err(InvalidInput::new(InputFault::Unsupported, what));
        }
        let name = device.adapter().name.as_str().into();
        Ok(OnDevice { device: Arc::new(device), name })
    }

    /// The name in reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The result of `run` on the device.
    pub(super) fn shown<T>(&self, run: impl FnOnce(&Device) -> Result<T, DeviceOutcome>) -> Result<T, NotShown> {
        run(&self.device).map_err(|outcome| match outcome {
            DeviceOutcome::Unchecked(_) | DeviceOutcome::Outage(_) => {
                NotShown::Judged(Judged::Unchecked(Unchecked::Unsupported(format!("{}: {outcome}", self.name))))
            }
            other => NotShown::Fails(format!("on {}: {other}", self.name)),
        })
    }
}
