//! A compute dispatch by the relation: invocation → workgroup → grid (Vulkan, "Compute Shaders" and
//! "Shader Execution").
//!
//! Every invocation has its own configuration. Their shared state is [`Shared`]. Only the grid
//! writes it, by the actions of rules. A *turn* of an invocation ([`crate::concurrency::turns`]) is
//! one action that others can see, with all that the invocation does by itself up to the next such
//! action. The rules of several invocations are in `barrier`, `race`, `subgroup` and `quad`. The
//! stages of a draw ([`crate::spirv::draw`]) are grids too. Their workgroups are quads of
//! fragments, or single vertices.
//!
//! Workgroups start in order. At a time, as many run as have [`RESIDENT`] invocations together, so
//! that memory use stays in proportion. Runs with equal arguments give equal reports.

mod barrier;
mod descriptor;
mod exhaust;
mod explore;
mod judged;
pub(in crate::spirv) mod observe;
mod path;
pub(in crate::spirv) mod prepare;
mod quad;
mod race;
mod sizes;
mod subgroup;
mod weak;
pub(in crate::spirv) mod work;

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::concurrency::turns::{self, Threads, Turns};
use crate::concurrency::{Agent, Arrival, Begin, Detector, Kind, Schedule, Scope, Topology, arrival};
use crate::interleavings::{Footprint, Turn};
use crate::number::sets::{Sets, Unsettled};
use crate::outcome::{Outcome, Stuck, TimeLimit};
use crate::rule::Rule;
use crate::spirv::check::is_atomic;
use crate::spirv::environment::{Dispatch, InvocationId, Observation};
use crate::spirv::error::LoadError;
use crate::spirv::grammar::Op;
use crate::spirv::memory::Memory;
use crate::spirv::module::Module;
use crate::spirv::report;
use crate::spirv::shared::{Extent, ObjectId, Shared};
use crate::spirv::step::over;
use crate::spirv::step::run::{emit, only_reduct};
use crate::spirv::step::{Action, Arrived, Awaited, Config, Env, Event, Join, Next, Reduct, Relation, Sink, phi_group};
use crate::undefined::{Site, Undefined};
use barrier::{barrier_release, divergent_barrier};
use descriptor::{Choices, descriptor_not_uniform};
use path::Path;
use prepare::{DispatchInvocations, Prepared};
use quad::{divergent_derivatives, quad_derivatives};
use work::{Finished, Work};

pub use exhaust::exhaust;
pub(in crate::spirv) use explore::alone;
pub use explore::{Acceptance, OpenWord, explore};
pub use judged::{Judged, judge};
pub use observe::{Doubtful, DoubtfulTexels, OneOf, Report};
pub(in crate::spirv) use subgroup::subgroup_built_in;
pub use subgroup::{MAX_SIZE, SIZES, uses_subgroups};
pub use weak::{Read, Shown, weakly};

/// The number of invocations whose workgroups run at a time. At least one workgroup runs.
pub const RESIDENT: u32 = 1024;
/// The greatest number of undefined behaviours that one run collects.
pub const MAX_UNDEFINED: usize = 64;

/// Runs a dispatch to its end, or to the first undefined behaviour.
///
/// The only error is a missing entry point. If a feature is not modeled, or a resource is missing
/// or too short, the outcome is `Outcome::Unsupported` before anything runs.
pub fn run(
    module: &Module,
    dispatch: &Dispatch<'_>,
    schedule: &Schedule,
    relation: &Relation,
    sink: &mut dyn Sink,
) -> Result<Outcome<Observation>, LoadError> {
    report(module, dispatch, schedule, relation, false, sink).map(|report| report.outcome)
}

/// Runs a dispatch and reports all that is known of it. If it uses subgroups and their size is not
/// given, it runs with several sizes ([`SIZES`]). Bytes that differ between them are doubtful.
///
/// With `keep_going`, an invocation ends at its undefined behaviour, a race is recorded, a
/// workgroup at a divergent barrier ends, and the others go on.
///
/// Errors as [`run`].
pub fn report(
    module: &Module,
    dispatch: &Dispatch<'_>,
    schedule: &Schedule,
    relation: &Relation,
    keep_going: bool,
    sink: &mut dyn Sink,
) -> Result<Report, LoadError> {
    if dispatch.resources.subgroup_size.is_none() && uses_subgroups(module) {
        return sizes::over_sizes(module, dispatch, |dispatch| report(module, dispatch, schedule, relation, keep_going, sink));
    }
    let mut grid = match Grid::new(module, dispatch, relation)? {
        Ok(grid) => grid,
        Err(outcome) => return Ok(Report::ended(outcome, Vec::new())),
    };
    grid.keep_going = keep_going;
    grid.go(schedule, sink);
    Ok(grid.report())
}

/// The next thing that an invocation does.
#[derive(Clone, Copy, Debug)]
enum State {
    /// It does an action that others can see, with this footprint.
    Acts(Footprint),
    /// It waits at a barrier.
    Waits(Arrived),
    /// It awaits derivatives in its quad, by this rule.
    Awaits(Awaited, Rule),
    /// It waits for others of its subgroup, by this rule.
    Joins(Join, Rule),
    /// It has ended.
    Ended,
}

/// A run over sets of a part of a dispatch.
#[derive(Clone)]
struct SetsRun {
    sets: RefCell<Sets>,
    /// The part: a workgroup, or one of its invocations.
    part: Part,
    /// The accesses to memory that can be written, in order. True for a write.
    accesses: Vec<(Extent, bool)>,
    /// Why the run cannot go on.
    unsettled: Option<Unsettled>,
}

/// A part of a dispatch that runs by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    workgroup: u32,
    /// The one invocation of the workgroup, or `None` for all of them.
    local: Option<u32>,
}

#[derive(Clone)]
struct Invocation<'m> {
    config: Config<'m>,
    state: State,
    /// The number of rules that it has applied.
    step: u64,
    discarded: bool,
    /// The number of branches on undefined values that it has passed, if the relation
    /// follows these.
    undefined: u32,
    /// Its control flow so far, as far as its subgroup needs it.
    path: Path,
}

/// A running dispatch, or a running stage of a draw.
#[derive(Clone)]
pub(in crate::spirv) struct Grid<'m, 'r, W> {
    module: &'m Module,
    relation: &'r Relation,
    prepared: Prepared,
    /// The source of the invocations.
    pub(in crate::spirv) work: W,
    topology: Topology,
    shared: Shared,
    detector: Detector,
    /// The invocations of the running workgroups, by number.
    invocations: FxHashMap<u32, Invocation<'m>>,
    turns: Turns,
    /// M at the start of an invocation, without its inputs.
    memory: Memory<'m>,
    instructions: u64,
    fuel: u64,
    undefined: Vec<Undefined>,
    keep_going: bool,
    /// Whether control of some invocation has depended on values in doubt.
    doubtful: bool,
    ending: Option<Outcome<Observation>>,
    /// The run over sets, if this is one.
    over: Option<Box<SetsRun>>,
    /// The time limit, if there is one.
    time: Option<TimeLimit>,
    /// The log of actions, if executions are enumerated.
    log: Option<Box<weak::Log>>,
    /// Whether a part of a subgroup has gone on while another part waited. A device may let the
    /// other part go first, which no schedule of this grid does.
    split: bool,
    /// The descriptors that invocations have accessed.
    choices: Choices,
}

impl<'m, 'r> Grid<'m, 'r, DispatchInvocations<'m>> {
    /// The grid before the first workgroup. The inner error is the outcome of a refused dispatch.
    fn new(module: &'m Module, dispatch: &Dispatch<'_>, relation: &'r Relation) -> Result<Result<Self, Outcome<Observation>>, LoadError> {
        let entry = module.entry_point(dispatch.entry)?;
        Ok(match prepare::prepare(module, entry, dispatch, &relation.rules) {
            Ok((prepared, work, topology, shared)) => {
                Ok(Grid::of(module, relation, (prepared, shared), work, topology, dispatch.limits.of_relation())
                    .until(dispatch.limits.time))
            }
            Err(refused) => Err(refused.into()),
        })
    }
}

impl<'m, 'r, W: Work<'m>> Grid<'m, 'r, W> {
    /// The grid before the first workgroup.
    pub(in crate::spirv) fn of(
        module: &'m Module,
        relation: &'r Relation,
        (prepared, shared): (Prepared, Shared),
        work: W,
        topology: Topology,
        fuel: u64,
    ) -> Self {
        Grid {
            module,
            relation,
            prepared,
            work,
            topology,
            shared,
            detector: Detector::new(topology),
            invocations: FxHashMap::default(),
            turns: Turns::default(),
            memory: Memory::load(module, 0),
            instructions: 0,
            fuel,
            undefined: Vec::new(),
            keep_going: false,
            doubtful: false,
            ending: None,
            over: None,
            time: None,
            log: None,
            split: false,
            choices: Choices::of(module),
        }
    }

    /// Runs all workgroups under a schedule, until they or the run have ended.
    pub(in crate::spirv) fn go(&mut self, schedule: &Schedule, sink: &mut dyn Sink) {
        if let Err(invalid) = turns::run(self, schedule, sink) {
            self.ending = Some(Outcome::Unsupported(invalid.what));
        }
    }

    /// The initial configuration of an invocation.
    fn start(&self, workgroup: u32, local: u32, number: u32) -> Config<'m> {
        let memory = if self.prepared.undefined_constants { Memory::load(self.module, number) } else { self.memory.clone() };
        let mut config = Config::enter(self.module, self.prepared.label, memory);
        self.work.start(Agent { workgroup, local }, number, &mut config);
        config
    }

    fn set(&mut self, number: u32, state: State) {
        if let Some(invocation) = self.invocations.get_mut(&number) {
            invocation.state = state;
        }
    }

    /// The invocations of a workgroup.
    fn members(&self, workgroup: u32) -> Vec<u32> {
        self.topology.instance(self.topology.number(Agent { workgroup, local: 0 }), Scope::Workgroup).collect()
    }

    /// Applies a rule to an invocation that is ready. If others can see its actions, it does so
    /// only if `visible`. Returns whether the invocation can go on.
    fn apply(&mut self, number: u32, visible: bool, sink: &mut dyn Sink) -> bool {
        let Some(invocation) = self.invocations.get(&number) else { return false };
        if self.doubtful && invocation.config.head().is_some_and(|i| is_atomic(i.op) || i.is(Op::MemoryBarrier)) {
            // On a device, an atomic or a fence may synchronise with anything that another
            // invocation has done.
            self.shared.put_in_doubt(number);
        }
        let decision = match self.decide(number) {
            Ok(decision) => decision,
            Err(why) => return self.unsettle(why),
        };
        let undefined_decision = self.decide_undefined(number);
        let Some(invocation) = self.invocations.get(&number) else { return false };
        let config = &invocation.config;
        let mut reduct = match only_reduct(self.relation.step(&self.env(number), config), config) {
            Ok(reduct) => reduct,
            Err(why) => {
                self.stuck(number, why);
                return false;
            }
        };
        if let Next::Acts(_, actions) = &reduct.next
            && !visible
            && let Some(footprint) = self.footprint(actions)
        {
            if let Some(invocation) = self.invocations.get_mut(&number) {
                invocation.state = State::Acts(footprint);
            }
            return false;
        }
        if let Some(run) = &mut self.over
            && let Some(invocation) = self.invocations.get(&number)
            && let Err(why) = over::finish_step(run.sets.get_mut(), &invocation.config, &mut reduct.next, decision)
        {
            return self.unsettle(why);
        }
        if let (Some((x, value_before)), Next::Config(next)) = (undefined_decision, &mut reduct.next) {
            // The next branch on this value may go another way.
            next.memory.define(next.module, x, crate::spirv::memory::Value::Scalars(value_before));
        }
        self.apply_reduct(number, reduct, sink)
    }

    /// Chooses the way of an invocation if it branches next on an undefined value. `None` if such a
    /// branch is undefined behaviour.
    fn decide_undefined(&mut self, number: u32) -> over::DecidedCondition {
        let (ways, invocation) = (self.relation.ways.as_ref()?, self.invocations.get_mut(&number)?);
        let decision = ways.decide(&mut invocation.config, invocation.undefined)?;
        invocation.undefined += 1;
        Some(decision)
    }

    /// Chooses the way of an invocation if it branches next, in a run over sets.
    fn decide(&mut self, number: u32) -> Result<over::DecidedCondition, Unsettled> {
        match (&mut self.over, self.invocations.get_mut(&number)) {
            (Some(run), Some(invocation)) => over::decide(run.sets.get_mut(), &mut invocation.config),
            _ => Ok(None),
        }
    }

    /// Ends a run over sets that cannot go on.
    fn unsettle(&mut self, why: Unsettled) -> bool {
        self.ending = Some(Outcome::Unsupported(why.to_string()));
        if let Some(run) = &mut self.over {
            run.unsettled.get_or_insert(why);
        }
        false
    }

    /// The input of rules for an invocation.
    fn env(&self, number: u32) -> Env<'_> {
        let workgroup = self.topology.agent(number).workgroup;
        Env {
            calculator: &self.relation.calculator,
            shared: &self.shared,
            invocation: number,
            workgroup,
            judged: false,
            over: self.over.as_ref().map(|run| &run.sets),
        }
    }

    /// Ends the run: no rule applies to an invocation, or several do.
    fn stuck(&mut self, number: u32, why: String) {
        let at = self.work.at(&self.site(number));
        self.ending = Some(Outcome::Stuck(Stuck { why, at }));
    }

    /// Takes an invocation to the reduct of a rule and does its actions. Returns whether the
    /// invocation can go on.
    fn apply_reduct(&mut self, number: u32, reduct: Reduct<'m>, sink: &mut dyn Sink) -> bool {
        if self.choices.has_arrays() {
            descriptor_not_uniform(self, number, sink);
            if let Some(Outcome::Undefined(_)) = self.ending {
                return false;
            }
        }
        let Some(invocation) = self.invocations.get(&number) else { return false };
        let (config, step) = (&invocation.config, invocation.step);
        let agent = self.topology.agent(number);
        let id = InvocationId { workgroup: agent.workgroup, local: agent.local };
        if let Next::Awaits(awaited) = reduct.next {
            self.set(number, State::Awaits(awaited, reduct.rule));
            return false;
        }
        if let Next::Joins(join) = reduct.next {
            self.set(number, State::Joins(join, reduct.rule));
            return false;
        }
        // OpLine and OpNoLine do not execute. The OpPhi of a block are one rule, but
        // several instructions.
        let instruction_count = if reduct.rule == Rule::SpirvPhi { phi_group(config.code) } else { 1 };
        let count = config.code[..instruction_count].iter().filter(|i| !matches!(i.op, Op::Line | Op::NoLine)).count() as u64;
        if self.instructions + count > self.fuel {
            self.ending = Some(Outcome::OutOfFuel);
            return false;
        }
        if let Some(limit) = TimeLimit::passed_between(self.time, self.instructions, self.instructions + count) {
            self.ending = Some(Outcome::Limit(limit));
            return false;
        }
        self.instructions += count;
        let actions: &[Action] = if let Next::Acts(_, actions) = &reduct.next { actions } else { &[] };
        let after = match &reduct.next {
            Next::Config(next) | Next::Acts(next, _) | Next::Waits(next, _) | Next::Ends(next) | Next::Discards(next) => Some(next),
            Next::Undefined(_) | Next::Awaits(_) | Next::Joins(_) => None,
        };
        emit(sink, reduct.rule, id, step, config, after, actions);
        match reduct.next {
            Next::Config(next) => self.continue_with(number, next),
            Next::Acts(next, actions) => {
                let site = self.site(number);
                self.continue_with(number, next);
                actions.iter().all(|action| self.commit(agent, action, &site, sink))
            }
            Next::Waits(next, arrived) => {
                self.continue_with(number, next);
                self.set(number, State::Waits(arrived));
                false
            }
            Next::Awaits(_) | Next::Joins(_) => false,
            Next::Ends(_) => {
                self.set(number, State::Ended);
                false
            }
            Next::Discards(_) => {
                if let Some(invocation) = self.invocations.get_mut(&number) {
                    invocation.discarded = true;
                }
                self.set(number, State::Ended);
                false
            }
            Next::Undefined(undefined) => {
                let site = self.site(number);
                self.record_undefined(Undefined { at: self.work.at(&site), site: Some(Box::new(site)), ..undefined });
                self.set(number, State::Ended);
                false
            }
        }
    }

    fn continue_with(&mut self, number: u32, next: Config<'m>) -> bool {
        if !self.doubtful && next.control.is_doubtful(self.shared.profile()) {
            self.doubtful = true;
            self.work.control_in_doubt(&mut self.shared);
        }
        if let Some(invocation) = self.invocations.get_mut(&number) {
            if self.prepared.subgroups {
                invocation.path.follow(&invocation.config, &next);
            }
            invocation.config = next;
            invocation.step += 1;
        }
        true
    }

    /// The current place and step of an invocation.
    fn site(&self, number: u32) -> Site {
        let global = self.work.global(self.topology.agent(number));
        let invocation = self.invocations.get(&number);
        let instruction = invocation.map_or(0, |i| i.config.index());
        let calls = report::calls(self.module, invocation.map_or(Vec::new(), |i| i.config.calls()));
        Site { step: invocation.map(|i| i.step), calls, ..report::site(self.module, instruction, number, global) }
    }

    /// Records undefined behaviour. Of each kind, records one for each instruction.
    fn record_undefined(&mut self, undefined: Undefined) {
        let instruction = |u: &Undefined| u.site.as_ref().map(|site| site.instruction);
        if self.undefined.iter().any(|u| u.ub == undefined.ub && instruction(u) == instruction(&undefined)) {
            return;
        }
        self.undefined.push(undefined);
        if !self.keep_going || self.undefined.len() >= MAX_UNDEFINED {
            self.ending = self.undefined.first().cloned().map(Outcome::Undefined);
        }
    }

    /// Does an action. Returns whether the invocation can go on.
    fn commit(&mut self, agent: Agent, action: &Action, site: &Site, sink: &mut dyn Sink) -> bool {
        self.log_access(agent, action, site);
        let (extent, kind) = match action {
            Action::Load(extent) => (extent, Kind::Load),
            Action::Store(extent, _) => (extent, Kind::Store),
            &Action::Atomic { ref extent, op, scope, semantics, .. } => (extent, Kind::Atomic { op, scope, semantics }),
            Action::Fence { scope, semantics } => {
                self.detector.fence(agent, *scope, semantics);
                return true;
            }
        };
        self.detect(agent, extent, kind, site, sink);
        if let Some(run) = &mut self.over
            && self.shared.is_written(extent.object)
        {
            run.accesses.push((extent.clone(), !matches!(action, Action::Load(_))));
        }
        match action {
            Action::Store(extent, scalars) => self.shared.store(extent, scalars),
            Action::Atomic { extent, store: Some(scalar), .. } => self.shared.store(extent, std::slice::from_ref(scalar)),
            _ => {}
        }
        self.ending.is_none()
    }

    /// Shows the sink a rule of several invocations: its instruction, and the first of
    /// the invocations.
    fn emit_collective(&self, rule: Rule, instruction: u32, number: u32, step: u64, sink: &mut dyn Sink) {
        let (at, agent) = (self.module.place(instruction as usize), self.topology.agent(number));
        let invocation = InvocationId { workgroup: agent.workgroup, local: agent.local };
        if let Some(instruction) = self.module.instructions().get(instruction as usize)
            && sink.wants_events()
        {
            sink.event(&Event { rule, invocation, step, at, instruction, value: None, actions: &[] });
        }
    }

    /// Sets the time limit.
    pub(in crate::spirv) fn until(self, time: Option<TimeLimit>) -> Self {
        Grid { time, ..self }
    }

    /// The number of executed instructions.
    pub(in crate::spirv) fn instructions(&self) -> u64 {
        self.instructions
    }

    /// The work, and the report of the run.
    pub(in crate::spirv) fn end(self) -> (W, Report) {
        let report = self.report();
        (self.work, report)
    }

    fn report(&self) -> Report {
        let undefined = self.undefined.clone();
        let outcome = match (&self.ending, undefined.first()) {
            (Some(Outcome::Undefined(_)) | None, Some(first)) => Outcome::Undefined(first.clone()),
            (Some(ending), _) => ending.clone(),
            (None, None) if !self.turns.all_ended() => Outcome::Deadlock,
            (None, None) => return self.observed(),
        };
        Report::ended(outcome, undefined)
    }
}

impl<'m, 's, W: Work<'m>> Threads<dyn Sink + 's> for Grid<'m, '_, W> {
    fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }

    fn topology(&self) -> Topology {
        self.topology
    }

    fn state(&self, number: u32) -> Turn {
        match self.invocations.get(&number).map_or(State::Ended, |i| i.state) {
            State::Acts(footprint) => Turn::Ready(footprint),
            State::Waits(_) | State::Awaits(..) | State::Joins(..) => Turn::Waiting,
            State::Ended => Turn::Ended,
        }
    }

    fn act(&mut self, number: u32, sink: &mut (dyn Sink + 's)) -> Turn {
        if self.apply(number, true, sink) { self.settle(number, sink) } else { self.state(number) }
    }

    /// Runs an invocation by itself, up to an action that others can see, a barrier or its end.
    fn settle(&mut self, number: u32, sink: &mut (dyn Sink + 's)) -> Turn {
        while self.ending.is_none() && self.apply(number, false, sink) {}
        self.state(number)
    }

    fn part(&self, number: u32) -> std::ops::Range<u32> {
        self.topology.instance(number, Scope::Subgroup)
    }

    fn meet_in_part(&mut self, number: u32, sink: &mut (dyn Sink + 's)) -> Vec<u32> {
        self.meet_in_subgroup(number, sink)
    }

    fn meet(&mut self, workgroup: u32, sink: &mut (dyn Sink + 's)) {
        let members = self.members(workgroup);
        if let Some(waiting) = self.waiting(&members) {
            let (quad, rule) = match <[u32; 4]>::try_from(waiting.as_slice()) {
                Ok(quad) => (Some(quad), Rule::SpirvQuadDerivatives),
                Err(_) => (None, Rule::SpirvDivergentDerivatives),
            };
            return match quad {
                _ if !self.relation.rules.applies(rule) => self.ending = Some(Outcome::Deadlock),
                Some(quad) => quad_derivatives(self, &quad, sink),
                None => divergent_derivatives(self, &waiting, sink),
            };
        }
        let waits: Vec<_> = members.iter().map(|&member| self.wait_of(member)).collect();
        match arrival(&waits) {
            Arrival::Complete => barrier_release(self, &members, sink),
            Arrival::Divergent { waiting, other } => {
                let (waiting, other) = ((members[waiting], &waits[waiting]), (members[other], &waits[other]));
                divergent_barrier(self, &members, waiting, other, sink);
            }
            Arrival::Open => self.ending = Some(Outcome::Deadlock),
        }
    }

    fn begin(&mut self, workgroup: u32, running: u32) -> Begin {
        let size = self.topology.workgroup_size();
        let part = self.over.as_ref().map(|over| over.part);
        if running > 0 && (running + 1) * size > RESIDENT {
            return Begin::NotYet;
        }
        if part.is_some_and(|part| part.workgroup < workgroup) {
            return Begin::NoMore;
        }
        let mut fuel_left = self.fuel - self.instructions;
        let begins = self.work.begin(workgroup, &mut self.shared, &mut fuel_left);
        self.fuel = self.instructions + fuel_left;
        match begins {
            Ok(Begin::Begins) => {}
            Ok(other) => return other,
            Err(ending) => {
                self.ending = Some(ending);
                return Begin::NotYet;
            }
        }
        self.shared.begin(workgroup);
        for local in part.and_then(|part| part.local).map_or(0..size, |local| local..local + 1) {
            let number = self.topology.number(Agent { workgroup, local });
            let (config, state) = (self.start(workgroup, local, number), State::Acts(Footprint::Local));
            let path = Path::start(&config);
            self.invocations.insert(number, Invocation { config, state, step: 0, discarded: false, undefined: 0, path });
        }
        Begin::Begins
    }

    fn end(&mut self, workgroup: u32) {
        let finished: Vec<_> = self.members(workgroup).iter().filter_map(|member| self.invocations.remove(member)).collect();
        self.work.end(workgroup, finished.into_iter().map(|Invocation { config, discarded, .. }| Finished { config, discarded }).collect());
        self.shared.end(workgroup);
        self.choices.end(self.work.invocation_group(workgroup));
        self.detector.retire(workgroup);
        for index in 0..self.shared.workgroup_variables() {
            self.detector.forget(self.object(ObjectId::Workgroup { workgroup, index }));
        }
    }

    fn is_over(&self) -> bool {
        self.ending.is_some()
    }
}
