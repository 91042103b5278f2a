//! A module that is compared, ready to run.

use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Observation, Resources};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::grid::{self, Report};
use smallstep_semantics::spirv::{LoadError, Relation, Sink, lockstep};

use super::{Engine, Input, Settings};
use crate::compute::ComputeModule;
use crate::compute::told::AssemblyLines;

/// BEFORE or AFTER.
pub struct Side {
    /// How messages name it: a file.
    pub name: String,
    /// The module and its entry point.
    pub module: ComputeModule,
    /// Where its instructions stand in its text, if it has one.
    pub assembly: Option<AssemblyLines>,
    program: Result<lockstep::Program, String>,
    atomics: bool,
}

impl Side {
    /// A module, compiled for the machine as far as that goes.
    pub fn new(name: impl Into<String>, module: ComputeModule, assembly: Option<AssemblyLines>) -> Side {
        let program = lockstep::Program::compile(&module.module, &module.entry).map_err(|e| match e {
            LoadError::Unsupported { what, .. } => what,
            other => other.to_string(),
        });
        let is_atomic = |op: Op| Op::AtomicLoad as u32 <= op as u32 && op as u32 <= Op::AtomicXor as u32;
        let atomics = module.module.instructions().iter().any(|i| is_atomic(i.op));
        Side { name: name.into(), module, assembly, program, atomics }
    }

    /// Whether what it shows may depend on the order of its invocations. Where nothing is atomic it
    /// does not: without a race every load sees the one store that happens before it.
    pub fn depends_on_schedule(&self) -> bool {
        self.atomics
    }

    /// A dispatch of it.
    pub(super) fn dispatch<'d>(&'d self, input: &'d Input, settings: &Settings, fuel: u64) -> Dispatch<'d> {
        Dispatch {
            entry: &self.module.entry,
            groups: input.groups,
            resources: Resources {
                buffers: &input.buffers,
                images: &input.images,
                samplers: &input.samplers,
                push_constants: &input.push_constants,
                robustness: settings.robustness,
                subgroup_size: settings.subgroup_size,
                ..Resources::default()
            },
            limits: Limits { invocations: 1 << 20, memory: 1 << 30, ..Limits::of_fuel(fuel) },
        }
    }

    /// Runs it in the order that its engine has by itself, for so many instructions. The machine
    /// knows nothing of doubts.
    pub fn run(&self, input: &Input, settings: &Settings, fuel: u64) -> Outcome<Observation> {
        let on_machine = match settings.engine {
            Engine::Any => !self.atomics,
            Engine::Machine => true,
            Engine::Reference => false,
        };
        if on_machine {
            match &self.program {
                Ok(program) => match program.run(&self.dispatch(input, settings, fuel), 1) {
                    // What is bound may be what the machine has not, as images are.
                    Outcome::Unsupported(_) if settings.engine == Engine::Any => {}
                    outcome => return outcome,
                },
                Err(what) if settings.engine == Engine::Machine => return Outcome::Unsupported(what.clone()),
                Err(_) => {}
            }
        }
        self.report(input, settings, fuel, &Schedule::default(), &mut ()).outcome
    }

    /// Runs it by the relation under a schedule.
    pub(super) fn report(&self, input: &Input, settings: &Settings, fuel: u64, schedule: &Schedule, sink: &mut dyn Sink) -> Report {
        if settings.subgroup_size.is_none() && grid::uses_subgroups(&self.module.module) {
            let what = "subgroups without their size; --subgroup-size N gives it";
            return Report::ended(Outcome::Unsupported(what.into()), Vec::new());
        }
        let dispatch = self.dispatch(input, settings, fuel);
        let ran = grid::report(&self.module.module, &dispatch, schedule, &Relation::default(), false, sink);
        // The entry point was found when the side was made.
        ran.unwrap_or_else(|e| Report::ended(Outcome::Unsupported(e.to_string()), Vec::new()))
    }
}
