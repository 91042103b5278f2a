//! SPIR-V compute modules whose invocations meet at control barriers.
//!
//! A module runs on the lockstep machine, which reports the first barrier that is divergent by its
//! dynamic instance ([`Ub::DivergentBarrier`]). Every run has different contents in the input
//! buffer. The relation runs on the same inputs as a check.

use super::execution::{Executions, Observed};
use super::language::Language;
use crate::generate::spirv::barriers::{self, contents};
use crate::generate::spirv::tree;
use crate::generate::spirv::{BufferContents, ComputeCase, shrink};
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::outcome::{InvalidInput, Outcome};
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Observation, Resources};
use smallstep_semantics::spirv::{Buffer, Module, Relation, disassemble, grid, lockstep};
use smallstep_semantics::undefined::Ub;

/// SPIR-V: compute entry points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spirv;

/// The result of a run, with respect to barriers.
enum Run {
    Together,
    Apart(String),
    Cut,
    Other(String),
}

impl Run {
    fn of(outcome: &Outcome<Observation>) -> Run {
        match outcome {
            Outcome::Observed(_) => Run::Together,
            Outcome::Undefined(undefined) if undefined.ub == Ub::DivergentBarrier => Run::Apart(undefined.to_string()),
            Outcome::Undefined(undefined) => Run::Other(undefined.to_string()),
            Outcome::OutOfFuel => Run::Cut,
            Outcome::Unsupported(what) => Run::Other(format!("unsupported: {what}")),
            other => Run::Other(other.name().to_string()),
        }
    }
}

fn bound(buffers: &[BufferContents]) -> Vec<Buffer> {
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    buffers.iter().map(|b| Buffer { set: b.set, binding: b.binding, bytes: bytes(&b.words) }).collect()
}

fn dispatched<T>(case: &ComputeCase, seed: u64, run: u32, run_dispatch: impl FnOnce(&Dispatch) -> T) -> T {
    let buffers = bound(&contents(case, seed, run));
    let resources = Resources::of_buffers(&buffers);
    run_dispatch(&Dispatch { entry: &case.entry, groups: case.groups, resources, limits: Limits::default() })
}

/// Runs the case of a module. `seed` determines the contents of its buffers.
pub fn observe(case: &ComputeCase, module: &Module, seed: u64, executions: &Executions) -> Observed {
    let program = match lockstep::Program::compile(module, &case.entry) {
        Ok(program) => program,
        Err(why) => return Observed::Unjudged(why.to_string()),
    };
    let (mut all, mut any_cut) = (0, false);
    for run in 0..executions.runs {
        let (outcome, watched) = dispatched(case, seed, run, |dispatch| program.run_watched(dispatch, lockstep::Watch::default()));
        match Run::of(&outcome) {
            Run::Together => all += watched.barriers,
            Run::Apart(what) => return Observed::Apart { run, what },
            Run::Cut => any_cut = true,
            Run::Other(why) => return Observed::Unjudged(why),
        }
    }
    Observed::Together { met: all, cut: any_cut }
}

/// The difference between the relation and the machine, if there is one.
pub fn disagreement(case: &ComputeCase, module: &Module, seed: u64, executions: &Executions, relation: &Relation) -> Option<String> {
    let program = lockstep::Program::compile(module, &case.entry).ok()?;
    for run in 0..executions.runs {
        let (machine, reference) = dispatched(case, seed, run, |dispatch| {
            (
                program.run_watched(dispatch, lockstep::Watch::default()).0,
                grid::run(module, dispatch, &Schedule::default(), relation, &mut ()),
            )
        });
        let reference = match reference {
            Ok(outcome) => outcome,
            Err(why) => return Some(why.to_string()),
        };
        match (Run::of(&machine), Run::of(&reference)) {
            (Run::Together, Run::Together) | (Run::Apart(_), Run::Apart(_)) | (Run::Cut, _) | (_, Run::Cut) => {}
            _ => return Some(format!("run {run}: machine: {}; reference: {}", machine.name(), reference.name())),
        }
    }
    None
}

impl Language for Spirv {
    type Tree = tree::Module;
    type Program = Module;

    fn generated(seed: u64) -> tree::Module {
        barriers::module(seed)
    }

    fn text(tree: &tree::Module) -> String {
        disassemble(&tree.case().words).unwrap_or_default()
    }

    fn program(tree: &tree::Module) -> Result<Module, InvalidInput> {
        Ok(Module::load(&tree.case().words)?)
    }

    fn observed(tree: &tree::Module, program: &Module, seed: u64, executions: &Executions) -> Observed {
        observe(&tree.case(), program, seed, executions)
    }

    fn disagreement(tree: &tree::Module, program: &Module, seed: u64, executions: &Executions) -> Option<String> {
        disagreement(&tree.case(), program, seed, executions, &Relation::default())
    }

    fn shrunk(tree: &tree::Module, most: usize, keeps: &mut dyn FnMut(&tree::Module) -> bool) -> tree::Module {
        shrink::minimal(tree, keeps, most as u32)
    }
}
