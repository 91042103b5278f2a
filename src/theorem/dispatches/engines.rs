//! Compares the engines on one dispatch or draw. The lockstep machine must show what the relation
//! shows, for definite values and over sets. A device must show what runs over sets allow.

use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::number::Profile;
use smallstep_semantics::number::sets::{Exploration, Rules};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster;
use smallstep_semantics::spirv::draw::{self, By};
use smallstep_semantics::spirv::environment::{self, Limits, Resources};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::grid::{self, Report};
use smallstep_semantics::spirv::lockstep::{FragmentProgram, Program, VertexProgram};
use smallstep_semantics::spirv::{Event, LoadError, Module, Relation, Sink};
use smallstep_semantics::undefined::Undefined;

use super::optimised::{Ends, FUEL_OF_PROGRAMS, Wrong, judged, not_loaded};
use super::same;
use crate::compute::MachineBug;
use crate::dispatch::{ComputeDispatch, Dispatch, DrawDispatch};
use crate::generate::spirv::beside::{self, Components};
use crate::theorem::refine::draws::{self, Stages};
use crate::theorem::refine::{OnDevice, Settings};
use crate::verdict::Verdict;

/// The results of the engines for a dispatch or draw.
#[derive(Debug)]
pub struct Compared {
    /// The verdict on the relation and the machine.
    pub interpreters: Verdict<Wrong>,
    /// What was compared over sets, if the machine also runs it over sets.
    pub over_sets: Option<Components>,
    /// The verdict on the device, if there is one and it ran.
    pub device: Option<Verdict<Wrong>>,
}

impl From<Verdict<Wrong>> for Compared {
    fn from(interpreters: Verdict<Wrong>) -> Compared {
        Compared { interpreters, over_sets: None, device: None }
    }
}

fn wrong(what: String) -> Verdict<Wrong> {
    Verdict::Disagree(Wrong { what, ends: Ends::Shown })
}

/// The verdict if the relation ends without an observation. `None` if it has one.
fn nothing_shown<T>(outcome: &Outcome<T>) -> Option<Verdict<Wrong>> {
    Some(match outcome {
        Outcome::Observed(_) => return None,
        Outcome::Undefined(undefined) => Verdict::Vacuous(undefined.ub.id().into()),
        Outcome::Unsupported(what) => Verdict::Unchecked(format!("unsupported: {what}")),
        Outcome::OutOfFuel => Verdict::Limit("out of fuel".into()),
        Outcome::Limit(limit) => Verdict::Limit(limit.to_string()),
        other => wrong(format!("the relation ends with {}", other.name())),
    })
}

/// Compares the engines. `planted` is a mistake in the machine.
pub fn compared(dispatch: &Dispatch, device: Option<&OnDevice>, planted: Option<&MachineBug>) -> Compared {
    match dispatch {
        Dispatch::Compute(dispatch) => computed(dispatch, device, planted),
        Dispatch::Draw(dispatch) => drawn(dispatch, device, planted),
        Dispatch::Fragment(_) => Verdict::Unchecked("a fragment stage without a vertex stage".into()).into(),
    }
}

fn computed(dispatch: &ComputeDispatch, device: Option<&OnDevice>, planted: Option<&MachineBug>) -> Compared {
    let module = match Module::load(&dispatch.words) {
        Ok(module) => module,
        Err(error) => return not_loaded("the module", error).into(),
    };
    let (buffers, bound) = (dispatch.contents(), dispatch.bound());
    let images = bound.image_contents();
    let run = environment::Dispatch {
        entry: &dispatch.entry,
        groups: dispatch.groups,
        resources: Resources {
            images: &images,
            samplers: &dispatch.samplers,
            push_constants: &dispatch.push_constants,
            ..Resources::of_buffers(&buffers)
        },
        limits: Limits::of_fuel(FUEL_OF_PROGRAMS),
    };
    let rules = Relation::default();
    let report = match grid::report(&module, &run, &Schedule::default(), &rules, false, &mut ()) {
        Ok(report) => report,
        Err(error) => return wrong(error.to_string()).into(),
    };
    let relation = &report.outcome;
    let program = match Program::compile(&module, &dispatch.entry) {
        Ok(program) => program,
        Err(LoadError::Unsupported { what, .. }) => {
            return Verdict::Unchecked(format!("not compiled by the lockstep machine: {what}")).into();
        }
        Err(error) => return wrong(error.to_string()).into(),
    };
    let program = match planted {
        Some(bug) => program.planted(|parts| bug(parts)),
        None => program,
    };
    let machine = program.run(&run, 1);
    let mut interpreters = match (relation, &machine) {
        (Outcome::Observed(one), Outcome::Observed(other)) => match same(one, other) {
            Ok(()) => Verdict::Agree,
            Err(what) => wrong(format!("the lockstep machine: {what}")),
        },
        (Outcome::Undefined(one), Outcome::Undefined(other)) if one.ub != other.ub => {
            wrong(format!("the lockstep machine reports {}, the relation {}", other.ub.id(), one.ub.id()))
        }
        (_, Outcome::Unsupported(what)) => Verdict::Unchecked(format!("not run by the lockstep machine: {what}")),
        (one, other) if one.name() != other.name() => {
            wrong(format!("the lockstep machine ends with {}, the relation with {}", other.name(), one.name()))
        }
        (one, _) => nothing_shown(one).unwrap_or(Verdict::Agree),
    };
    let mut over_sets = None;
    if interpreters == Verdict::Agree && relation.observed().is_some() && module.instructions().iter().any(|i| i.is(Op::TypeFloat)) {
        over_sets = computed_over_sets((&module, &program), &run, &report).unwrap_or_else(|difference| {
            interpreters = wrong(format!("over sets the lockstep machine shows {difference}"));
            None
        });
    }
    let on_device = device.filter(|_| interpreters == Verdict::Agree);
    let device = on_device.map(|device| super::optimised::on_device(dispatch, device));
    Compared { interpreters, over_sets, device }
}

/// Compares the runs over sets of a dispatch that ended as `shown`. Returns what was compared, or
/// `None` if the machine does not support it over sets. The error is the difference.
fn computed_over_sets(
    (module, program): (&Module, &Program),
    run: &environment::Dispatch<'_>,
    shown: &Report,
) -> Result<Option<Components>, String> {
    let (rules, exploration) = (Relation::default(), Exploration::under(Profile::Strict));
    let explored = grid::explore(module, run, shown, &rules, exploration).map_err(|error| error.to_string())?;
    let Some(judged) = grid::judge(module, program, run, &rules, exploration).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let mut counts = Components::default();
    match (shown.outcome.observed(), judged.report.outcome.observed()) {
        (Some(one), Some(other)) => match beside::dispatched((one, &explored), (other, &judged.acceptance), &mut counts) {
            Some(difference) => Err(difference),
            None => Ok(Some(counts)),
        },
        _ => Err(format!("{:?}", judged.report.outcome)),
    }
}

/// The number of rules that the relation applied to definite values.
#[derive(Default)]
struct Applied(u64);

impl Sink for Applied {
    fn event(&mut self, _: &Event<'_, '_>) {
        self.0 += 1;
    }
}

fn drawn(dispatch: &DrawDispatch, device: Option<&OnDevice>, planted: Option<&MachineBug>) -> Compared {
    let stages = match Stages::new(dispatch) {
        Ok(stages) => stages,
        Err(error) => return not_loaded("a module", error).into(),
    };
    let (shows, interpreters, over_sets) = match by_interpreters(dispatch, &stages, planted) {
        Ok(all) => all,
        Err(error) => return wrong(error.to_string()).into(),
    };
    // The device is compared even if the machine does not support the draw.
    let on_device = device.filter(|_| shows && !matches!(interpreters, Verdict::Disagree(_)));
    let device = on_device.map(|device| {
        let settings = Settings { fuel: FUEL_OF_PROGRAMS, device: Some(device.clone()), ..Settings::default() };
        judged(draws::judge((&stages, dispatch), (&stages, dispatch), &settings), "the device")
    });
    Compared { interpreters, over_sets, device }
}

/// Whether the relation shows a draw, the verdict on both interpreters, and what was compared
/// over sets.
fn by_interpreters(
    dispatch: &DrawDispatch,
    stages: &Stages,
    planted: Option<&MachineBug>,
) -> Result<(bool, Verdict<Wrong>, Option<Components>), LoadError> {
    let contents = dispatch.contents();
    let lent = contents.lend(dispatch, Limits::of_fuel(FUEL_OF_PROGRAMS));
    let (relation, rules) = (Relation::default(), raster::Rules::default());
    let run = |machine: Option<&FragmentProgram>, sink: &mut Applied| {
        let run_settings = By { relation: &relation, rules: &rules, schedule: &Schedule::default(), sets: Some(Rules::default()), machine };
        draw::run_with(&stages.vertex, &stages.fragment, &lent, &run_settings, sink)
    };
    let (mut without_machine, mut with_machine) = (Applied::default(), Applied::default());
    let outcome = run(None, &mut without_machine)?;
    let nothing = nothing_shown(&outcome);
    let shows = nothing.is_none();
    let program = match FragmentProgram::of(&stages.fragment, &dispatch.fragment.entry) {
        Ok(program) => match planted {
            Some(bug) => program.planted(|parts| bug(parts)),
            None => program,
        },
        Err(LoadError::Unsupported { what, .. }) => {
            let verdict = nothing.unwrap_or_else(|| Verdict::Unchecked(format!("not compiled by the lockstep machine: {what}")));
            return Ok((shows, verdict, None));
        }
        Err(error) => return Err(error),
    };
    let vertices = VertexProgram::of(&stages.vertex, &dispatch.vertex.entry).ok();
    let picture = draw::picture_by((&stages.vertex, vertices.as_ref()), &program, &lent, &rules)?;
    let verdict = match (&outcome, &picture) {
        (Outcome::Undefined(one), Outcome::Undefined(other)) => {
            // If several invocations have undefined behaviour, either engine reports one of them.
            let invocation = |undefined: &Undefined| undefined.site.as_ref().map(|site| site.invocation);
            match one.ub == other.ub || invocation(one) != invocation(other) {
                true => Verdict::Vacuous(one.ub.id().into()),
                false => wrong(format!("the lockstep machine reports {}, the relation {}", other.ub.id(), one.ub.id())),
            }
        }
        (Outcome::Observed(_) | Outcome::Undefined(_), Outcome::Unsupported(what)) => {
            Verdict::Unchecked(format!("not run by the lockstep machine: {what}"))
        }
        _ => match (beside::definite(&outcome, &picture), nothing) {
            (Some(difference), _) => wrong(format!("the lockstep machine shows {difference}")),
            (None, Some(verdict)) => verdict,
            (None, None) => Verdict::Agree,
        },
    };
    if !matches!((&verdict, &outcome), (Verdict::Agree, Outcome::Observed(_))) {
        return Ok((shows, verdict, None));
    }
    let by_machine = run(Some(&program), &mut with_machine)?;
    let mut counts = Components::default();
    let verdict = match (&outcome, by_machine) {
        (Outcome::Observed(one), Outcome::Observed(other)) => match beside::over_sets(one, &other, &mut counts) {
            Some(difference) => wrong(format!("over sets the lockstep machine shows {difference}")),
            None => Verdict::Agree,
        },
        (_, Outcome::Stuck(stuck)) => wrong(format!("over sets: {}: {}", stuck.at, stuck.why)),
        (_, other) => wrong(format!("over sets the lockstep machine ends with {}", other.name())),
    };
    // If the machine runs fragments, the relation applies fewer rules.
    Ok((shows, verdict, (with_machine.0 < without_machine.0).then_some(counts)))
}
