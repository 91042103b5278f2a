//! One of the two compared modules, ready to run.

use std::collections::BTreeSet;

use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Observation, Resources};
use smallstep_semantics::spirv::grid::{self, Report};
use smallstep_semantics::spirv::{Event, LoadError, Relation, Sink, lockstep};

use super::{Engine, Input, Settings, weak};
use crate::compute::ComputeModule;
use crate::compute::report::AssemblyLines;

/// BEFORE or AFTER.
pub struct Side {
    /// The name in messages: a file.
    pub name: String,
    /// The module and its entry point.
    pub module: ComputeModule,
    /// The places of its instructions in its text, if it has one.
    pub assembly: Option<AssemblyLines>,
    program: Result<lockstep::Program, String>,
    order_may_matter: bool,
    in_subgroups: bool,
}

impl Side {
    /// A module, compiled for the machine if possible.
    pub fn new(name: impl Into<String>, module: ComputeModule, assembly: Option<AssemblyLines>) -> Side {
        let program = lockstep::Program::compile(&module.module, &module.entry).map_err(|e| match e {
            LoadError::Unsupported { what, .. } => what,
            other => other.to_string(),
        });
        let order_may_matter = weak::order_may_matter(&module.module);
        let in_subgroups = grid::uses_subgroups(&module.module);
        Side { name: name.into(), module, assembly, program, order_may_matter, in_subgroups }
    }

    /// Whether its results may depend on the order of its invocations. Without atomics they do not:
    /// without a race, every load sees the one store that happens before it. They do not either if
    /// all atomics commute and their results are not used, as in a histogram.
    pub fn depends_on_schedule(&self) -> bool {
        self.order_may_matter
    }

    /// The dispatch of an input.
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
                subgroup_mapping: settings.subgroup_mapping,
                ..Resources::default()
            },
            limits: Limits { invocations: 1 << 20, memory: 1 << 30, ..Limits::of_fuel(fuel) },
        }
    }

    /// Runs it in the default order of its engine, for so many instructions. The machine records no
    /// doubts, and not which invocations are certainly together in a subgroup. The labels of all
    /// blocks that an invocation reached are added to `blocks`, if given.
    pub fn run(&self, input: &Input, settings: &Settings, fuel: u64, blocks: Option<&mut BTreeSet<u32>>) -> Outcome<Observation> {
        let on_machine = match settings.engine {
            Engine::Any => !self.order_may_matter && !self.in_subgroups,
            Engine::Machine => true,
            Engine::Reference => false,
        };
        self.run_by(on_machine, input, settings, fuel, blocks)
    }

    /// The labels of the blocks that it reaches in one order of its invocations, and the number of
    /// instructions. Empty and 0 if it ends without an observation.
    pub(super) fn blocks(&self, input: &Input, settings: &Settings, fuel: u64) -> (BTreeSet<u32>, u64) {
        let mut blocks = BTreeSet::new();
        let on_machine = match settings.engine {
            Engine::Any => !self.in_subgroups,
            engine => engine == Engine::Machine,
        };
        let ran = self.run_by(on_machine, input, settings, fuel, Some(&mut blocks));
        ran.observed().map(|observation| (blocks, observation.instructions)).unwrap_or_default()
    }

    fn run_by(
        &self,
        machine: bool,
        input: &Input,
        settings: &Settings,
        fuel: u64,
        mut blocks: Option<&mut BTreeSet<u32>>,
    ) -> Outcome<Observation> {
        if machine {
            match &self.program {
                Ok(program) => match on_the_machine(program, &self.dispatch(input, settings, fuel), blocks.as_deref_mut()) {
                    // The machine may not support the bound resources, such as images.
                    Outcome::Unsupported(_) if settings.engine == Engine::Any => {}
                    outcome => return outcome,
                },
                Err(what) if settings.engine == Engine::Machine => return Outcome::Unsupported(what.clone()),
                Err(_) => {}
            }
        }
        let default = Schedule::default();
        match blocks {
            None => self.report(input, settings, fuel, &default, &mut ()).outcome,
            Some(blocks) => {
                let mut note = |event: &Event<'_, '_>| _ = blocks.insert(event.at.block);
                self.report(input, settings, fuel, &default, &mut note).outcome
            }
        }
    }

    /// Runs it on the machine in the requested order, whether or not the order matters, and records
    /// what it did. `None` if the machine cannot run it.
    pub(super) fn on_machine(
        &self,
        input: &Input,
        settings: &Settings,
        fuel: u64,
        watch: lockstep::Watch,
    ) -> Option<(Outcome<Observation>, lockstep::Watched)> {
        let program = self.program.as_ref().ok().filter(|_| settings.engine == Engine::Any && !self.in_subgroups)?;
        let ran = program.run_watched(&self.dispatch(input, settings, fuel), watch);
        (!matches!(ran.0, Outcome::Unsupported(_))).then_some(ran)
    }

    /// Runs it by the relation under a schedule.
    pub(super) fn report(&self, input: &Input, settings: &Settings, fuel: u64, schedule: &Schedule, sink: &mut dyn Sink) -> Report {
        if settings.subgroup_size.is_none() && self.in_subgroups {
            let what = "subgroups without their size; --subgroup-size N gives it";
            return Report::ended(Outcome::Unsupported(what.into()), Vec::new());
        }
        let dispatch = self.dispatch(input, settings, fuel);
        let ran = grid::report(&self.module.module, &dispatch, schedule, &Relation::default(), false, sink);
        // The entry point was checked when the side was made.
        ran.unwrap_or_else(|e| Report::ended(Outcome::Unsupported(e.to_string()), Vec::new()))
    }
}

fn on_the_machine(program: &lockstep::Program, dispatch: &Dispatch<'_>, blocks: Option<&mut BTreeSet<u32>>) -> Outcome<Observation> {
    let Some(blocks) = blocks else { return program.run(dispatch, 1) };
    let (outcome, watched) = program.run_watched(dispatch, lockstep::Watch::default());
    blocks.extend(watched.blocks);
    outcome
}
