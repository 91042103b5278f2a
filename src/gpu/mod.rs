//! Running fragment and compute programs and draws on real Vulkan devices, and reading back bit for
//! bit. The only user of wgpu. Without the feature `device` there is no worker, and what opens a
//! device says so ([`WITHOUT_DEVICES`]).
//!
//! ```no_run
//! use smallstep::gpu::{Device, DeviceOutcome, Options, Selection};
//! # fn programs() -> Vec<smallstep::dispatch::FragmentDispatch> { vec![] }
//! let device = Device::open(&Selection::First, None, Options::default())?;
//! for (id, program) in programs().into_iter().enumerate() {
//!     device.submit(id as u64, program);
//! }
//! while let Some(finished) = device.receive() {
//!     if let DeviceOutcome::Drawn(frame) = finished.outcome {
//!         println!("{}: {:08x?}", finished.id, frame.images[0][0]);
//!     }
//! }
//! # Ok::<(), smallstep::gpu::NoDevice>(())
//! ```
//!
//! A driver may crash or hang on what a compiler under test makes. So the device runs in a worker
//! process, and the parent supervises it: a crash, a hang or a lost device costs the verdict of
//! exactly the one program that brought it about. Four invariants hold:
//!
//! - A worker that does not start is tried again, with growing pauses, [`Options::start_attempts`]
//!   times; then the device is gone, and what it has not answered comes back as
//!   [`DeviceOutcome::Outage`].
//! - Every program that is submitted comes back once, with one [`DeviceOutcome`].
//! - [`DeviceOutcome::Crashed`], [`TimedOut`](DeviceOutcome::TimedOut) and
//!   [`Lost`](DeviceOutcome::Lost) are said of a program only when it was the only one in the
//!   worker; programs that were there beside it are run again, one at a time.
//! - The words that the driver (or naga) gets are the words of the dispatch, unchanged, and their
//!   hash is in what it shows. A module whose bindings wgpu would renumber is adapted before, by
//!   [`crate::compile::bindings`], and its own words are then the adapted ones.

use std::fmt;
use std::time::Duration;

use crate::dispatch::{ComputeResult, DrawResult, Frame};

/// What stands before the last words of a driver that ended its process. They differ from run to
/// run, by addresses for example.
pub(crate) const LAST_SAID: &str = "; it last said: ";

mod adapters;
#[cfg(feature = "device")]
mod batch;
#[cfg(feature = "device")]
mod bound;
#[cfg(feature = "device")]
mod capabilities;
mod child;
#[cfg(feature = "device")]
mod compute;
mod device;
#[cfg(feature = "device")]
mod draw;
#[cfg(feature = "device")]
mod enumerate;
#[cfg_attr(not(feature = "device"), allow(dead_code, reason = "the side of the worker"))]
mod float_controls;
#[cfg(feature = "device")]
mod open;
#[cfg(feature = "device")]
mod physical;
#[cfg(feature = "device")]
pub mod rate;
#[cfg(feature = "device")]
mod render;
mod shader_cache;
mod supervisor;
#[cfg(feature = "device")]
mod texture;
#[cfg_attr(not(feature = "device"), allow(dead_code, reason = "the side of the worker"))]
mod wire;
#[cfg(feature = "device")]
pub mod worker;

pub use adapters::{AdapterRecord, ComputeLimits, NO_ADAPTER, NoDevice, Selection, Subgroups, WITHOUT_DEVICES, list};
pub use device::{Device, Options, RunAll};
pub use float_controls::{FloatControls, FloatControlsByWidth};
pub use shader_cache::ShaderCache;

/// How the words reach the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// As they are. Blame falls on the driver.
    Passthrough,
    /// Read, validated and written again by naga: the driver sees other words, and blame falls on
    /// naga or the driver. naga takes no float controls, drops `NoContraction`, and guards
    /// accesses, loops and divisions.
    Naga,
    /// Converted to WGSL by [`crate::compile::wgsl`], which naga reads, validates and writes again.
    /// Blame falls on the converter, naga or the driver.
    Wgsl,
}

impl Route {
    /// Every route.
    pub const ALL: [Route; 3] = [Route::Passthrough, Route::Naga, Route::Wgsl];

    /// "passthrough", "naga" or "wgsl".
    pub fn name(self) -> &'static str {
        match self {
            Route::Passthrough => "passthrough",
            Route::Naga => "naga",
            Route::Wgsl => "wgsl",
        }
    }

    /// Whether naga writes the words again, so that no float controls reach the driver.
    pub fn re_emits(self) -> bool {
        self != Route::Passthrough
    }

    /// On whom blame falls.
    pub fn blamed(self) -> &'static str {
        match self {
            Route::Passthrough => "the driver",
            Route::Naga => "naga or the driver",
            Route::Wgsl => "the converter, naga or the driver",
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a worker process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By this signal (Unix).
    Signal(i32),
    /// With this exit code, of its own accord.
    Code(i32),
    /// It was killed because what it sent was no report; the text says what it was.
    Garbled(String),
    /// It cannot be told.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Signal(number) => {
                let name = match number {
                    4 => " (SIGILL)",
                    6 => " (SIGABRT)",
                    7 => " (SIGBUS)",
                    8 => " (SIGFPE)",
                    9 => " (SIGKILL)",
                    11 => " (SIGSEGV)",
                    15 => " (SIGTERM)",
                    _ => "",
                };
                write!(f, "signal {number}{name}")
            }
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Garbled(what) => f.write_str(what),
            Exit::Unknown => f.write_str("an unknown end"),
        }
    }
}

/// What became of one program on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceOutcome {
    /// The fragment stage was drawn.
    Drawn(Frame),
    /// It was computed.
    Computed(ComputeResult),
    /// The draw of two stages was drawn.
    Rendered(DrawResult),
    /// wgpu, naga or the driver refused the module or its pipeline; the text is theirs.
    Refused(String),
    /// The worker process ended on it.
    Crashed {
        /// How.
        exit: Exit,
        /// The last lines of the worker's standard error.
        stderr: String,
    },
    /// It was not done within this time, alone in its worker.
    TimedOut(Duration),
    /// The device was lost on it; the text says how.
    Lost(String),
    /// No worker could be started any more to run it, and the device is given up; the text says
    /// why. Nothing is known about the program.
    Outage(String),
    /// It was not given to the device: the dispatch describes no run, or needs a limit or a
    /// capability that the device does not have. Nothing is known about it.
    Unchecked(String),
}

impl fmt::Display for DeviceOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceOutcome::Drawn(frame) => write!(f, "drawn: words {:#018x}", frame.words_hash),
            DeviceOutcome::Computed(result) => write!(f, "computed: words {:#018x}", result.words_hash),
            DeviceOutcome::Rendered(result) => write!(f, "rendered: words {:#018x}", result.words_hash),
            DeviceOutcome::Refused(why) => write!(f, "refused: {why}"),
            DeviceOutcome::Crashed { exit, stderr } if stderr.is_empty() => {
                write!(f, "crashed: {exit}")
            }
            DeviceOutcome::Crashed { exit, stderr } => {
                write!(f, "crashed: {exit}{LAST_SAID}{stderr}")
            }
            DeviceOutcome::TimedOut(limit) => {
                write!(f, "timed out: not done in {} s", limit.as_secs_f64())
            }
            DeviceOutcome::Lost(why) => write!(f, "lost: {why}"),
            DeviceOutcome::Outage(why) => write!(f, "not run: the device is gone: {why}"),
            DeviceOutcome::Unchecked(why) => write!(f, "unchecked: {why}"),
        }
    }
}

/// A program that came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The number that it was submitted under.
    pub id: u64,
    /// The route that it took, or would have taken.
    pub route: Route,
    /// What became of it.
    pub outcome: DeviceOutcome,
}
