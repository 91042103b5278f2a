//! Checks by the reference interpreter whether threads are apart in a run. The interpreter shares
//! no rule of execution with the machine.

use super::execution::{Executions, resources, trace_settings};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::draw::{Draw, StageInSource, Vertices};
use smallstep_semantics::wsl::entry::Stage;
use smallstep_semantics::wsl::execution::Planted;
use smallstep_semantics::wsl::group::Dispatch;
use smallstep_semantics::wsl::machine::Traced;
use smallstep_semantics::wsl::traces::Traces;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::{Ending, Settings};

/// The most steps of the reference interpreter.
const STEPS: u64 = 2_000_000;

/// The difference between the interpreters: one finds threads apart in a run, and the other does
/// not. Only runs in which the first thread runs first are compared. `None` if they agree, or one
/// of them did not finish.
pub fn disagreement(text: &str, program: &Program, groups: [u32; 3], seed: u64, executions: &Executions) -> Option<String> {
    disagreement_with(text, program, groups, seed, executions, Planted::default())
}

/// As [`disagreement`], with a planted mistake in the reference interpreter that must be caught.
pub fn disagreement_with(
    text: &str,
    program: &Program,
    groups: [u32; 3],
    seed: u64,
    executions: &Executions,
    planted: Planted,
) -> Option<String> {
    let [entry] = &program.entry_points[..] else { return None };
    let traces = Traces::new(program, entry).ok()?;
    for run in (0..executions.runs).step_by(2) {
        let bound = resources(program, entry, seed, run).ok()?;
        let machine = match traces.run(groups, bound.clone(), &trace_settings(executions, run)) {
            Ok(Traced::Same { cut: false, .. }) => None,
            Ok(Traced::Apart(first, other)) => Some(format!("{first:?} and {other:?}")),
            _ => continue,
        };
        let reference = if entry.stage == Stage::Fragment {
            let vertices = Vertices::Screen(vec![(0, StageInSource::Place)]);
            let draw = Draw {
                program,
                text,
                vertices,
                fragment: entry,
                size: [2, 2],
                depth: None,
                resources: bound,
                specialization: Default::default(),
            };
            let settings = Settings { strategy: Strategy::First, fuel: STEPS, races: false, planted, ..Settings::default() };
            match draw.run(&settings) {
                Ending::Shown(shown) => shown.apart.first().map(|apart| format!("{apart:?}")),
                Ending::OutOfFuel(_) => continue,
                other => return Some(format!("run {run}: the reference ends with {other:?}")),
            }
        } else {
            let dispatch = Dispatch { program, text, entry, groups, resources: bound };
            let settings = Settings { strategy: Strategy::First, fuel: STEPS, races: false, planted, ..Settings::default() };
            match dispatch.run(&settings) {
                Ending::Shown(_) => None,
                Ending::Diverged(divergence) => Some(format!("{divergence:?}")),
                Ending::OutOfFuel(_) => continue,
                other => return Some(format!("run {run}: the reference ends with {other:?}")),
            }
        };
        if machine.is_some() != reference.is_some() {
            let result_text = |what: Option<String>| what.unwrap_or_else(|| "together".into());
            return Some(format!("run {run}: machine: {}; reference: {}", result_text(machine), result_text(reference)));
        }
    }
    None
}
