//! The limits of the interpreters.

use super::compute::{Failure, invalid};
use clap::Args;
use smallstep_semantics::outcome::TimeLimit;
use smallstep_semantics::spirv::environment::Limits;
use std::time::Duration;

/// How long the interpreters may take.
#[derive(Args, Clone, Copy)]
pub(crate) struct TimeArgs {
    /// How long the interpreters may take for one script, dispatch, draw or file, as 90s, 10m or
    /// 2h. What takes longer ends with a limit; where, is not the same each time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) time_limit: Option<Duration>,
}

impl TimeArgs {
    /// The limits of a run that begins now. `fuel` is in the unit of the engine.
    pub(crate) fn budget(self, fuel: Option<u64>) -> Budget {
        Budget { fuel, time: self.time_limit.and_then(TimeLimit::from_now) }
    }
}

/// The limits of one run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Budget {
    /// The most steps, instructions or iterations, if given.
    pub(crate) fuel: Option<u64>,
    /// The time limit, if given.
    pub(crate) time: Option<TimeLimit>,
}

impl Budget {
    /// This amount of fuel, without a time limit.
    pub(crate) fn of_fuel(fuel: Option<u64>) -> Budget {
        Budget { fuel, time: None }
    }

    /// The limits for a SPIR-V module.
    pub(crate) fn limits(self) -> Limits {
        Limits { time: self.time, ..self.fuel.map_or(Limits::default(), Limits::of_fuel) }
    }

    /// The limits of the interpreter that looks for undefined behaviour while a device runs
    /// the program.
    ///
    /// # Errors
    /// If fuel was given, since a device has no such limit.
    pub(crate) fn beside_device(self) -> Result<Budget, Failure> {
        match self.fuel {
            None => Ok(self),
            Some(_) => Err(invalid("--fuel is for the interpreters; a device has its own")),
        }
    }
}

/// Reads a time as 90s, 10m or 2h. A number alone is in seconds.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let invalid = || format!("\"{text}\" is no time; write it as 90s, 10m or 2h, 1s at least");
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let in_unit = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)));
    let (number, seconds) = in_unit.unwrap_or((text, 1));
    let number: u64 = number.parse().map_err(|_| invalid())?;
    // With no time at all, nothing would run, and so nothing would be wrong.
    number.checked_mul(seconds).filter(|&seconds| seconds > 0).map(Duration::from_secs).ok_or_else(invalid)
}
