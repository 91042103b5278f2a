//! A compute dispatch by the relation: invocation → workgroup → grid (Vulkan, "Compute Shaders" and
//! "Shader Execution").
//!
//! Every invocation has its own configuration; what they share is in [`Shared`], and only the grid
//! writes it, by the actions of rules. A *turn* of an invocation ([`crate::concurrency::turns`]) is
//! one action that others can see, with all that the invocation does by itself up to the next one.
//! Rules of several invocations are in `barrier`, `race`, `subgroup` and `quad`: the stages of a
//! draw ([`crate::spirv::draw`]) are grids too, their workgroups quads of fragments or single
//! vertices.
//!
//! Workgroups come to run in their order, as many at a time as have [`RESIDENT`] invocations, so
//! that memory is in proportion to these. A run with equal arguments gives an equal report.

mod barrier;
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
use crate::spirv::step::run::{emit, only};
use crate::spirv::step::{Action, Arrived, Awaited, Config, Env, Event, Join, Next, Reduct, Relation, Sink, phi_group};
use crate::undefined::{Site, Undefined};
use barrier::{barrier_release, divergent_barrier};
use path::Path;
use prepare::{Dispatched, Prepared};
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

/// How many invocations' workgroups run at a time, but at least one workgroup.
pub const RESIDENT: u32 = 1024;
/// The most undefined behaviours that one run collects.
pub const MAX_UNDEFINED: usize = 64;

/// Runs a dispatch to its end, or to the first undefined behaviour.
///
/// The only error is an entry point that is not there. What is not modeled, and resources that are
/// missing or too short, are `Outcome::Unsupported`, before anything runs.
pub fn run(
    module: &Module,
    dispatch: &Dispatch<'_>,
    schedule: &Schedule,
    relation: &Relation,
    sink: &mut dyn Sink,
) -> Result<Outcome<Observation>, LoadError> {
    report(module, dispatch, schedule, relation, false, sink).map(|report| report.outcome)
}

/// Runs a dispatch and says all that is known of it. If something depends on subgroups and their
/// size is not given, it runs with several sizes ([`SIZES`]): what they show differently is
/// doubtful. With `keep_going` an invocation that meets
/// undefined behaviour ends there, a race is noted, a workgroup at a divergent barrier ends, and
/// the others go on.
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

/// What an invocation does next.
#[derive(Clone, Copy, Debug)]
enum State {
    /// An action that others can see, which touches that.
    Acts(Footprint),
    /// It waits at a barrier.
    Waits(Arrived),
    /// It awaits derivatives in its quad, by that rule.
    Awaits(Awaited, Rule),
    /// It waits for its subgroup, by that rule.
    Joins(Join, Rule),
    /// Nothing.
    Ended,
}

/// A run over sets of a part of a dispatch.
#[derive(Clone)]
struct Over {
    sets: RefCell<Sets>,
    /// The part: a workgroup, or one of its invocations.
    part: Part,
    /// What it accesses of memory that can be written, in order.
    accesses: Vec<(Extent, bool)>,
    /// Why it cannot go on.
    unsettled: Option<Unsettled>,
}

/// A part of a dispatch that runs without the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    workgroup: u32,
    /// One of its invocations; all of them without.
    local: Option<u32>,
}

#[derive(Clone)]
struct Invocation<'m> {
    config: Config<'m>,
    state: State,
    /// How many rules it has applied.
    step: u64,
    discarded: bool,
    /// How many branches on undefined values it has come to, where these are followed.
    undefined: u32,
    /// Where it has been, as far as its subgroup must know.
    path: Path,
}

/// A dispatch under way, or a stage of a draw.
#[derive(Clone)]
pub(in crate::spirv) struct Grid<'m, 'r, W> {
    module: &'m Module,
    relation: &'r Relation,
    prepared: Prepared,
    /// Where the invocations come from.
    pub(in crate::spirv) work: W,
    topology: Topology,
    shared: Shared,
    detector: Detector,
    /// Those of the workgroups that run.
    invocations: FxHashMap<u32, Invocation<'m>>,
    turns: Turns,
    /// M at the beginning of an invocation, but for its inputs.
    memory: Memory<'m>,
    instructions: u64,
    fuel: u64,
    undefined: Vec<Undefined>,
    keep_going: bool,
    /// Whether control of some invocation has depended on what is in doubt.
    doubtful: bool,
    ending: Option<Outcome<Observation>>,
    /// Of a run over sets, that.
    over: Option<Box<Over>>,
    /// When it ends at the latest.
    time: Option<TimeLimit>,
    /// Where executions are enumerated, what was done.
    log: Option<Box<weak::Log>>,
    /// Whether a part of a subgroup has gone on while another waited. A device may have the other
    /// go first, which no schedule of this grid does.
    split: bool,
}

impl<'m, 'r> Grid<'m, 'r, Dispatched<'m>> {
    /// Before the first workgroup; the inner error is the outcome of what is refused.
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
    /// Before the first workgroup.
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
        }
    }

    /// Runs all workgroups under a schedule, to their end or to one of the run.
    pub(in crate::spirv) fn go(&mut self, schedule: &Schedule, sink: &mut dyn Sink) {
        if let Err(invalid) = turns::run(self, schedule, sink) {
            self.ending = Some(Outcome::Unsupported(invalid.what));
        }
    }

    /// The configuration that an invocation starts in.
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

    /// Applies a rule to an invocation that is ready, if it is one whose actions others cannot see,
    /// or if `visible`. Whether it can go on.
    fn apply(&mut self, number: u32, visible: bool, sink: &mut dyn Sink) -> bool {
        let Some(invocation) = self.invocations.get(&number) else { return false };
        if self.doubtful && invocation.config.head().is_some_and(|i| is_atomic(i.op) || i.is(Op::MemoryBarrier)) {
            // By atomics and fences it may meet whatever another invocation has done on a device.
            self.shared.put_in_doubt(number);
        }
        let branched = match self.decide(number) {
            Ok(branched) => branched,
            Err(why) => return self.unsettle(why),
        };
        let way = self.way(number);
        let Some(invocation) = self.invocations.get(&number) else { return false };
        let config = &invocation.config;
        let mut reduct = match only(self.relation.step(&self.env(number), config), config) {
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
        if let Some(over) = &mut self.over
            && let Some(invocation) = self.invocations.get(&number)
            && let Err(why) = over::applied(over.sets.get_mut(), &invocation.config, &mut reduct.next, branched)
        {
            return self.unsettle(why);
        }
        if let (Some((x, was)), Next::Config(next)) = (way, &mut reduct.next) {
            // The next branch on it may go another way.
            next.memory.define(next.module, x, crate::spirv::memory::Value::Scalars(was));
        }
        self.take(number, reduct, sink)
    }

    /// The way that an invocation takes if it branches next on an undefined value. None where such
    /// a branch is undefined behaviour.
    fn way(&mut self, number: u32) -> over::Branched {
        let (ways, invocation) = (self.relation.ways.as_ref()?, self.invocations.get_mut(&number)?);
        let branched = ways.decide(&mut invocation.config, invocation.undefined)?;
        invocation.undefined += 1;
        Some(branched)
    }

    /// In a run over sets, the way that an invocation takes where it branches next.
    fn decide(&mut self, number: u32) -> Result<over::Branched, Unsettled> {
        match (&mut self.over, self.invocations.get_mut(&number)) {
            (Some(over), Some(invocation)) => over::decide(over.sets.get_mut(), &mut invocation.config),
            _ => Ok(None),
        }
    }

    /// A run over sets cannot go on.
    fn unsettle(&mut self, why: Unsettled) -> bool {
        self.ending = Some(Outcome::Unsupported(why.to_string()));
        if let Some(over) = &mut self.over {
            over.unsettled.get_or_insert(why);
        }
        false
    }

    /// What rules are given for an invocation.
    fn env(&self, number: u32) -> Env<'_> {
        let workgroup = self.topology.agent(number).workgroup;
        Env {
            calculator: &self.relation.calculator,
            shared: &self.shared,
            invocation: number,
            workgroup,
            judged: false,
            over: self.over.as_ref().map(|over| &over.sets),
        }
    }

    /// No rule applies to an invocation, or more than one.
    fn stuck(&mut self, number: u32, why: String) {
        let at = self.work.at(&self.site(number));
        self.ending = Some(Outcome::Stuck(Stuck { why, at }));
    }

    /// Takes an invocation to the reduct of a rule and does its actions. Whether it can go on.
    fn take(&mut self, number: u32, reduct: Reduct<'m>, sink: &mut dyn Sink) -> bool {
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
        // Lines are no instructions that execute; the OpPhi of a block are one
        // rule and several instructions.
        let taken = if reduct.rule == Rule::SpirvPhi { phi_group(config.code) } else { 1 };
        let count = config.code[..taken].iter().filter(|i| !matches!(i.op, Op::Line | Op::NoLine)).count() as u64;
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
            Next::Config(next) => self.goes_on(number, next),
            Next::Acts(next, actions) => {
                let site = self.site(number);
                self.goes_on(number, next);
                actions.iter().all(|action| self.commit(agent, action, &site, sink))
            }
            Next::Waits(next, arrived) => {
                self.goes_on(number, next);
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
                self.note(Undefined { at: self.work.at(&site), site: Some(Box::new(site)), ..undefined });
                self.set(number, State::Ended);
                false
            }
        }
    }

    fn goes_on(&mut self, number: u32, next: Config<'m>) -> bool {
        if !self.doubtful && next.control.is_doubtful(self.shared.profile()) {
            self.doubtful = true;
            self.work.wanders(&mut self.shared);
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

    /// Where an invocation is, and when.
    fn site(&self, number: u32) -> Site {
        let global = self.work.global(self.topology.agent(number));
        let invocation = self.invocations.get(&number);
        let instruction = invocation.map_or(0, |i| i.config.index());
        let calls = report::calls(self.module, invocation.map_or(Vec::new(), |i| i.config.calls()));
        Site { step: invocation.map(|i| i.step), calls, ..report::site(self.module, instruction, number, global) }
    }

    /// Undefined behaviour was met. Of each kind, one at each instruction is noted.
    fn note(&mut self, undefined: Undefined) {
        let instruction = |u: &Undefined| u.site.as_ref().map(|site| site.instruction);
        if self.undefined.iter().any(|u| u.ub == undefined.ub && instruction(u) == instruction(&undefined)) {
            return;
        }
        self.undefined.push(undefined);
        if !self.keep_going || self.undefined.len() >= MAX_UNDEFINED {
            self.ending = self.undefined.first().cloned().map(Outcome::Undefined);
        }
    }

    /// Does an action. Whether the invocation can go on.
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
        if let Some(over) = &mut self.over
            && self.shared.is_written(extent.object)
        {
            over.accesses.push((extent.clone(), !matches!(action, Action::Load(_))));
        }
        match action {
            Action::Store(extent, scalars) => self.shared.store(extent, scalars),
            Action::Atomic { extent, store: Some(scalar), .. } => self.shared.store(extent, std::slice::from_ref(scalar)),
            _ => {}
        }
        self.ending.is_none()
    }

    /// Shows a rule of several invocations: at which instruction, and the first of them.
    fn show(&self, rule: Rule, instruction: u32, number: u32, step: u64, sink: &mut dyn Sink) {
        let (at, agent) = (self.module.place(instruction as usize), self.topology.agent(number));
        let invocation = InvocationId { workgroup: agent.workgroup, local: agent.local };
        if let Some(instruction) = self.module.instructions().get(instruction as usize)
            && sink.wants_events()
        {
            sink.event(&Event { rule, invocation, step, at, instruction, value: None, actions: &[] });
        }
    }

    /// The same, that ends at the latest at that time.
    pub(in crate::spirv) fn until(self, time: Option<TimeLimit>) -> Self {
        Grid { time, ..self }
    }

    /// What has been executed, counted.
    pub(in crate::spirv) fn instructions(&self) -> u64 {
        self.instructions
    }

    /// The work that was done, and what the run shows beside it.
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

    /// What an invocation does by itself up to an action that others can see, a barrier or its end.
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
        let mut left = self.fuel - self.instructions;
        let begins = self.work.begin(workgroup, &mut self.shared, &mut left);
        self.fuel = self.instructions + left;
        match begins {
            Ok(Begin::Begins) => {}
            Ok(none) => return none,
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
        let left: Vec<_> = self.members(workgroup).iter().filter_map(|member| self.invocations.remove(member)).collect();
        self.work.end(workgroup, left.into_iter().map(|Invocation { config, discarded, .. }| Finished { config, discarded }).collect());
        self.shared.end(workgroup);
        self.detector.retire(workgroup);
        for index in 0..self.shared.workgroup_variables() {
            self.detector.forget(self.object(ObjectId::Workgroup { workgroup, index }));
        }
    }

    fn is_over(&self) -> bool {
        self.ending.is_some()
    }
}
