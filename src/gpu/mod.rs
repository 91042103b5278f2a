//! Runs fragment programs, compute programs and draws on real Vulkan devices, and reads the results
//! back bit for bit. This is the only user of wgpu. Without the feature `device` there is no
//! worker, and opening a device fails with [`WITHOUT_DEVICES`].
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
//! A driver may crash or hang on the output of a compiler under test. So the device runs in a
//! worker process, and the parent supervises it. A crash, a hang or a lost device costs the verdict
//! of exactly one program: the program that caused it. Four invariants hold:
//!
//! - A worker that fails to start is started again, with growing pauses, up to
//!   [`Options::start_attempts`] times. Then the device is given up, and its unanswered programs
//!   come back as [`DeviceOutcome::Outage`].
//! - Every submitted program comes back once, with one [`DeviceOutcome`].
//! - A program gets [`DeviceOutcome::Crashed`], [`TimedOut`](DeviceOutcome::TimedOut) or
//!   [`Lost`](DeviceOutcome::Lost) only if it was alone in the worker. If other programs were in
//!   the worker too, all of them run again, one at a time.
//! - The driver (or naga) gets the words of the dispatch, unchanged, and the result has their hash.
//!   If wgpu would renumber the bindings of a module, [`crate::compile::bindings`] adapts it
//!   before, and the adapted words are the words of the dispatch.

use std::fmt;
use std::time::Duration;

use crate::dispatch::{ComputeResult, DrawResult, Frame};

/// The text before the last output of a driver that ended its process. That output differs between
/// runs, by addresses for example.
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

/// The way in which the words reach the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// The words reach the driver unchanged. A disagreement blames the driver.
    Passthrough,
    /// naga reads, validates and writes the words again, so the driver gets other words. A
    /// disagreement blames naga or the driver. naga accepts no float controls, drops
    /// `NoContraction`, and guards accesses, loops and divisions.
    Naga,
    /// [`crate::compile::wgsl`] converts the words to WGSL, which naga reads, validates and writes
    /// again. A disagreement blames the converter, naga or the driver.
    Wgsl,
}

impl Route {
    /// All routes.
    pub const ALL: [Route; 3] = [Route::Passthrough, Route::Naga, Route::Wgsl];

    /// "passthrough", "naga" or "wgsl".
    pub fn name(self) -> &'static str {
        match self {
            Route::Passthrough => "passthrough",
            Route::Naga => "naga",
            Route::Wgsl => "wgsl",
        }
    }

    /// Whether naga writes the words again. If so, no float controls reach the driver.
    pub fn re_emits(self) -> bool {
        self != Route::Passthrough
    }

    /// The components that a disagreement blames.
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
    /// By this signal (on Unix).
    Signal(i32),
    /// By itself, with this exit code.
    Code(i32),
    /// It was killed because its output was no report. The text describes that output.
    Garbled(String),
    /// In an unknown way.
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

/// The outcome of a program on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceOutcome {
    /// The fragment stage was drawn.
    Drawn(Frame),
    /// The compute program ran.
    Computed(ComputeResult),
    /// The draw with two stages ran.
    Rendered(DrawResult),
    /// wgpu, naga or the driver refused the module or its pipeline. The text is their message.
    Refused(String),
    /// The program ended the worker process.
    Crashed {
        /// How the process ended.
        exit: Exit,
        /// The last lines of the worker's standard error.
        stderr: String,
    },
    /// The program did not finish within this time, alone in its worker.
    TimedOut(Duration),
    /// The program made the device lost. The text says how.
    Lost(String),
    /// No worker could be started for the program, and the device is given up. The text says why.
    /// Nothing is known about the program.
    Outage(String),
    /// The program was not given to the device. Its dispatch is malformed, or needs a limit or a
    /// capability that the device does not have. Nothing is known about the program.
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

/// A finished program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The id that it was submitted with.
    pub id: u64,
    /// The route that it took, or would have taken.
    pub route: Route,
    /// Its outcome.
    pub outcome: DeviceOutcome,
}
