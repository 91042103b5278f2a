//! A run of one invocation of a fragment program, as in λV's translation.

use smallvec::SmallVec;

use super::control::phi_group;
use super::{Action, Config, Env, Event, Next, Reduct, Relation, Sink, over};
use crate::number::sets::{Exploration, Observation, Sets, Unsettled, observe};
use crate::outcome::{Outcome, Stuck, TimeLimit};
use crate::rule::Rule;
use crate::spirv::environment::{Dispatch, InvocationId, Limits, Resources};
use crate::spirv::error::{LoadError, Place};
use crate::spirv::grammar::Op;
use crate::spirv::module::{Module, Variable};
use crate::spirv::shared::{NoMemory, Shared};
use crate::spirv::value::{self, Inputs, Outputs};

/// Runs an entry point for one invocation by the relation. The limit of instructions bounds the
/// number of applied rules. The time limit counts too.
///
/// The only error is a missing entry point. If buffers are missing or too short, the outcome is
/// `Outcome::Unsupported`.
pub fn run(
    module: &Module,
    entry: &str,
    inputs: &Inputs<'_>,
    limits: impl Into<Limits>,
    relation: &Relation,
    sink: &mut dyn Sink,
) -> Result<Outcome<Outputs>, LoadError> {
    Ok(run_from(Config::start(module, entry, *inputs)?, entry, limits.into(), relation, sink, None)
        .unwrap_or_else(|why| Outcome::Unsupported(why.to_string())))
}

/// The outputs that a device may show of an invocation whose definite run has the outputs `shown`.
/// These are the written components of its outputs, by ascending location, over every way of the
/// invocation through undecided branches.
///
/// The only error is a missing entry point.
pub fn explore(
    module: &Module,
    entry: &str,
    shown: &Outputs,
    inputs: &Inputs<'_>,
    fuel: u64,
    relation: &Relation,
    exploration: Exploration,
) -> Result<Observation, LoadError> {
    let start = Config::start(module, entry, *inputs)?;
    Ok(observe(exploration, &shown.lanes(), |sets| match run_from(start.clone(), entry, fuel.into(), relation, &mut (), Some(sets))? {
        Outcome::Observed(outputs) => Ok(shown.components_of(&outputs)),
        other => Err(Unsettled::ended(&other)),
    }))
}

/// Runs from a configuration. Without sets there is no error.
fn run_from<'m>(
    mut config: Config<'m>,
    entry: &str,
    limits: Limits,
    relation: &Relation,
    sink: &mut dyn Sink,
    mut sets: Option<&mut Sets>,
) -> Result<Outcome<Outputs>, Unsettled> {
    let (module, inputs) = (config.module, config.inputs);
    if let Some(what) = value::missing_resource(module, &inputs) {
        return Ok(Outcome::Unsupported(what));
    }
    let dispatch = Dispatch { entry, groups: [1; 3], resources: Resources::of_buffers(inputs.buffers), limits };
    let used: Vec<&Variable> = module.globals().iter().collect();
    let shared = match Shared::new(module, &used, &dispatch) {
        Ok(shared) => shared,
        Err(NoMemory::Resource(what)) => return Ok(Outcome::Unsupported(what)),
        Err(NoMemory::Limit(limit)) => return Ok(Outcome::Limit(limit)),
    };
    let env = Env { calculator: &relation.calculator, shared: &shared, invocation: 0, workgroup: 0, judged: true, over: None };
    for steps in 0..limits.instructions {
        if let Some(limit) = TimeLimit::passed_between(limits.time, steps, steps + 1) {
            return Ok(Outcome::Limit(limit));
        }
        let decision = match sets.as_deref_mut() {
            Some(sets) => over::decide(sets, &mut config)?,
            None => None,
        };
        let (rule, at, mut next) = match only_reduct(relation.step(&env, &config), &config) {
            Ok(Reduct { rule, at, next }) => (rule, at, next),
            Err(why) => return Ok(Outcome::Stuck(Stuck { why, at: format!("{at}, step {steps}", at = config.place()) })),
        };
        if let Some(sets) = sets.as_deref_mut() {
            over::finish_step(sets, &config, &mut next, decision)?;
        }
        let after = match next {
            // Memory that this program reads is never written, so the actions do not matter.
            Next::Config(next) | Next::Acts(next, _) | Next::Waits(next, _) => next,
            // There is no quad. Modules with derivatives are refused before.
            Next::Awaits(_) | Next::Joins(_) => return Ok(Outcome::Deadlock),
            Next::Ends(last) | Next::Discards(last) => {
                emit(sink, rule, InvocationId::default(), steps, &config, Some(&last), &[]);
                return Ok(Outcome::Observed(last.memory.outputs(module, last.control, steps + 1)));
            }
            Next::Undefined(mut undefined) => {
                emit(sink, rule, InvocationId::default(), steps, &config, None, &[]);
                undefined.at = format!("{at}, step {steps}");
                return Ok(Outcome::Undefined(undefined));
            }
        };
        emit(sink, rule, InvocationId::default(), steps, &config, Some(&after), &[]);
        config = after;
    }
    Ok(Outcome::OutOfFuel)
}

/// The only reduct. An error if there is none, or more than one.
pub(in crate::spirv) fn only_reduct<'m>(mut reducts: SmallVec<[Reduct<'m>; 1]>, config: &Config<'m>) -> Result<Reduct<'m>, String> {
    let Some(reduct) = reducts.pop() else {
        let head = config.head().map_or("the end of the block".to_string(), |i| i.name());
        return Err(format!("no rule applies to {head}"));
    };
    match reducts.first() {
        None => Ok(reduct),
        Some(other) => Err(format!("{} and {} both apply", reduct.rule, other.rule)),
    }
}

/// Shows the sink one application of a rule. `after` is the next configuration, or `None` at
/// undefined behaviour.
pub(in crate::spirv) fn emit<'m>(
    sink: &mut dyn Sink,
    rule: Rule,
    invocation: InvocationId,
    step: u64,
    before: &Config<'m>,
    after: Option<&Config<'m>>,
    actions: &[Action],
) {
    if !sink.wants_events() {
        return;
    }
    let count = if rule == Rule::SpirvPhi { phi_group(before.code) } else { 1 };
    for instruction in before.code.iter().take(count) {
        if rule == Rule::SpirvPhi && !instruction.is(Op::Phi) {
            continue;
        }
        let defined = |after: &Config<'m>| after.memory.value(after.module, instruction.result);
        let value = if instruction.result == 0 { None } else { after.and_then(defined) };
        let at = Place { word: instruction.offset, ..before.place() };
        sink.event(&Event { rule, invocation, step, at, instruction, value: value.as_deref(), actions });
    }
}
