//! Runs a program to see whether its threads stay together.
//!
//! Every run has different contents of the constant buffer `c` and of the device buffer `data`. In
//! every second run the last thread of a group runs first, so that threads see different stores of
//! other threads. An unspecified value is chosen as its first possible value.

use crate::generate::uniformity::contents;
use smallstep_semantics::outcome::InvalidInput;
use smallstep_semantics::text::line_column;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::entry::EntryPoint;
use smallstep_semantics::wsl::group::Resource;
use smallstep_semantics::wsl::machine::{Traced, Waiting};
use smallstep_semantics::wsl::traces::{TraceSettings, Traces};
use smallstep_semantics::wsl::typing::program::Program;

/// The settings of a program's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executions {
    /// The number of runs, each with different contents of buffers.
    pub runs: u32,
    /// The most iterations and calls of each thread.
    pub fuel: u64,
}

impl Default for Executions {
    fn default() -> Executions {
        Executions { runs: 8, fuel: 4_000 }
    }
}

/// The results of a program's runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// In one run two threads of a group are apart.
    Apart {
        /// The index of the run, from 0.
        run: u32,
        /// The place where one thread waits, and the place of the other.
        what: String,
    },
    /// In no run threads are apart.
    Together {
        /// The number of barriers, derivatives and samples that threads passed together, over
        /// all runs.
        met: u64,
        /// Whether some thread did not end.
        cut: bool,
    },
    /// The runs ended too early to decide, for this reason.
    Unjudged(String),
}

/// The resources of an entry point in a run. The buffers `c` and `data` are filled by name. All
/// other resources are filled like `data`.
///
/// # Errors
/// The entry point needs a resource that dispatches do not bind.
pub(super) fn resources(program: &Program, entry: &EntryPoint, seed: u64, run: u32) -> Result<Vec<Resource>, InvalidInput> {
    let [c, data] = contents(seed, run);
    let mut resources = Resource::of(program, entry)?;
    for resource in &mut resources {
        resource.fill(if resource.is_called("c") { &c } else { &data });
    }
    Ok(resources)
}

/// The strategy, fuel and thread order of a run.
pub(super) fn trace_settings(executions: &Executions, run: u32) -> TraceSettings {
    TraceSettings { strategy: Strategy::First, fuel: executions.fuel, reversed: run % 2 == 1 }
}

/// Runs a program's only entry point over these groups. `seed` determines the contents of buffers.
/// `text` is used for places in messages.
pub fn observe(text: &str, program: &Program, groups: [u32; 3], seed: u64, executions: &Executions) -> Observed {
    let [entry] = &program.entry_points[..] else { return Observed::Unjudged("it has not one entry point".into()) };
    let traces = match Traces::new(program, entry) {
        Ok(traces) => traces,
        Err(invalid) => return Observed::Unjudged(invalid.what),
    };
    let (mut all, mut any_cut) = (0, false);
    for run in 0..executions.runs {
        let traced = resources(program, entry, seed, run).and_then(|bound| traces.run(groups, bound, &trace_settings(executions, run)));
        match traced {
            Ok(Traced::Same { met, cut }) => {
                all += met;
                any_cut |= cut;
            }
            Ok(Traced::Apart(first, other)) => return Observed::Apart { run, what: shown(text, [first, other]) },
            Ok(Traced::Stopped { ending, .. }) => return Observed::Unjudged(format!("{ending:?}")),
            Err(invalid) => return Observed::Unjudged(invalid.what),
        }
    }
    Observed::Together { met: all, cut: any_cut }
}

/// The places of two threads, in words.
fn shown(text: &str, threads: [Waiting; 2]) -> String {
    let describe = |w: Waiting| match w.place {
        None => format!("thread {} has ended", w.thread),
        Some(place) => {
            let (line, column) = line_column(text, place.start);
            format!("thread {} waits at {line}:{column}", w.thread)
        }
    };
    let instance = if threads[0].place == threads[1].place { ", of different iterations or calls" } else { "" };
    format!("{} and {}{instance}", describe(threads[0]), describe(threads[1]))
}
