//! The same question to the reference interpreter, which shares no rule of execution with the
//! machine: whether threads are apart in a run.

use super::execution::{Executions, how, resources};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::draw::{self, Draw, Given, Vertices};
use smallstep_semantics::wsl::entry::Stage;
use smallstep_semantics::wsl::execution::Planted;
use smallstep_semantics::wsl::group::{self, Dispatch};
use smallstep_semantics::wsl::machine::Traced;
use smallstep_semantics::wsl::traces::Traces;
use smallstep_semantics::wsl::typing::program::Program;

/// Steps that the reference interpreter makes at most.
const STEPS: u64 = 2_000_000;

/// Whether both interpreters agree that threads are apart, or are not, in the runs in which the
/// first thread runs first. What the reference says against the machine, if it does; none also
/// where one of them was not done.
pub fn disagreement(text: &str, program: &Program, groups: [u32; 3], seed: u64, executions: &Executions) -> Option<String> {
    disagreement_with(text, program, groups, seed, executions, Planted::default())
}

/// [`disagreement`] with a reference interpreter that has a bug, to see it caught.
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
        let machine = match traces.run(groups, bound.clone(), &how(executions, run)) {
            Ok(Traced::Same { cut: false, .. }) => None,
            Ok(Traced::Apart(first, other)) => Some(format!("{first:?} and {other:?}")),
            _ => continue,
        };
        let reference = if entry.stage == Stage::Fragment {
            let vertices = Vertices::Screen(vec![(0, Given::Place)]);
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
            let settings = draw::Settings { strategy: Strategy::First, fuel: STEPS, races: false, planted, ..draw::Settings::default() };
            match draw.run(&settings) {
                draw::Ending::Shown(shown) => shown.apart.first().map(|apart| format!("{apart:?}")),
                draw::Ending::OutOfFuel(_) => continue,
                other => return Some(format!("run {run}: the reference ends with {other:?}")),
            }
        } else {
            let dispatch = Dispatch { program, text, entry, groups, resources: bound };
            let settings = group::Settings { strategy: Strategy::First, fuel: STEPS, races: false, planted, ..group::Settings::default() };
            match dispatch.run(&settings) {
                group::Ending::Shown(_) => None,
                group::Ending::Diverged(divergence) => Some(format!("{divergence:?}")),
                group::Ending::OutOfFuel(_) => continue,
                group::Ending::Other(other) => return Some(format!("run {run}: the reference ends with {other:?}")),
            }
        };
        if machine.is_some() != reference.is_some() {
            let said = |what: Option<String>| what.unwrap_or_else(|| "together".into());
            return Some(format!("run {run}: machine: {}; reference: {}", said(machine), said(reference)));
        }
    }
    None
}
