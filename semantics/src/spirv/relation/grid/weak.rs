//! All executions of a small dispatch that the memory model allows
//! ([`crate::concurrency::weak`]).
//!
//! The grid runs by its rules. Before each turn, the value that an atomic reads is put into memory.
//! Races are detected in the execution, not in the order of turns.

use super::prepare::DispatchInvocations;
use super::work::Work;
use super::{Grid, RESIDENT, race};
use crate::concurrency::axioms::{Event, EventKind, Execution, Location};
use crate::concurrency::turns;
use crate::concurrency::weak::{Agents, Done, Upcoming, enumerate};
use crate::concurrency::{Access, Agent, Class, Kind, Race, Rules};
use crate::interleavings::{Budget, Exploration};
use crate::outcome::Outcome;
use crate::spirv::environment::{Dispatch, InvocationId, Observation};
use crate::spirv::error::LoadError;
use crate::spirv::module::Module;
use crate::spirv::shared::{Cell, Extent, ObjectId};
use crate::spirv::step::run::only_reduct;
use crate::spirv::step::{Action, Arrived, Next, Relation, Sink};
use crate::spirv::value::Scalar;
use crate::undefined::Site;

/// The actions since the start of the last turn.
#[derive(Clone, Default)]
pub(super) struct Log {
    done: Vec<Done<Scalar>>,
    /// The accesses, with the data for a report.
    accesses: Vec<(Extent, Site)>,
    /// The number of control barriers that were passed.
    barriers: u32,
}

/// A read of an atomic in an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The invocation that reads, and the index of its instruction.
    pub by: (InvocationId, u32),
    /// The invocation that wrote the value, and the index of its instruction. `None` for an
    /// initial value.
    pub from: Option<(InvocationId, u32)>,
}

/// An outcome of a dispatch, and the reads of its contended atomics in an execution with
/// this outcome.
pub type Shown = (Outcome<Observation>, Vec<Read>);

/// Runs a small dispatch in every way that the memory model allows. Returns each outcome once, with
/// an execution that has it.
///
/// Errors as of [`super::run`]. A refused dispatch has no outcome, and is not complete.
pub fn weakly(
    module: &Module,
    dispatch: &Dispatch<'_>,
    relation: &Relation,
    rules: Rules,
    budget: Budget,
) -> Result<(Vec<Shown>, Exploration), LoadError> {
    let mut grid = match Grid::new(module, dispatch, relation)? {
        Ok(grid) if grid.topology.invocations() <= RESIDENT => grid,
        _ => return Ok((Vec::new(), Exploration::default())),
    };
    grid.log = Some(Box::default());
    turns::admit(&mut grid, &mut () as &mut dyn Sink);
    let topology = grid.topology;
    let same = |a: &Outcome<Observation>, b: &Outcome<Observation>| match (a, b) {
        (Outcome::Observed(a), Outcome::Observed(b)) => a.buffers == b.buffers && a.images == b.images,
        _ => a == b,
    };
    let mut split = false;
    let (shown, explored) =
        enumerate(&grid, topology, rules, budget, &mut |shown: &mut Vec<Shown>,
                                                        grid: &Grid<'_, '_, DispatchInvocations<'_>>,
                                                        execution| {
            split |= grid.split;
            let outcome = grid.report().outcome;
            if !shown.iter().any(|(known, _)| same(known, &outcome)) {
                shown.push((outcome, reads(execution)));
            }
        });
    // Parts of a subgroup on several paths may also go on in other orders.
    Ok((shown, Exploration { complete: explored.complete && !split, ..explored }))
}

/// The reads of the atomics of an execution.
fn reads(execution: &Execution<Scalar>) -> Vec<Read> {
    let name = |event: &Event| match &event.kind {
        EventKind::Access(access) => {
            Some((InvocationId { workgroup: access.agent.workgroup, local: access.agent.local }, access.instruction))
        }
        _ => None,
    };
    let events = execution.events().iter().enumerate();
    events.filter_map(|(number, event)| Some(Read { by: name(event)?, from: execution.read_by(number)?.and_then(name) })).collect()
}

impl<'m, W: Work<'m>> Grid<'m, '_, W> {
    /// Records an action, if executions are enumerated.
    pub(super) fn log_access(&mut self, agent: Agent, action: &Action, site: &Site) {
        let Some(mut log) = self.log.take() else { return };
        let number = self.topology.number(agent);
        let (extent, kind, scalars) = match action {
            Action::Load(extent) => (extent, Kind::Load, &[][..]),
            Action::Store(extent, scalars) => (extent, Kind::Store, scalars.as_slice()),
            &Action::Atomic { ref extent, op, scope, semantics, ref store } => {
                (extent, Kind::Atomic { op, scope, semantics }, store.as_slice())
            }
            &Action::Fence { scope, semantics } => {
                log.done.push(Done { event: Event { agent: number, kind: EventKind::Fence(scope, semantics) }, wrote: None });
                self.log = Some(log);
                return;
            }
        };
        let object = self.object(extent.object);
        let cells = extent.cells.iter().filter(|_| self.shared.is_written(extent.object));
        for (index, cell) in cells.enumerate() {
            let Cell { offset, bytes } = *cell;
            let access = Access { agent, object, offset, bytes: bytes.into(), class: extent.class, kind, instruction: site.instruction };
            log.done.push(Done { event: Event { agent: number, kind: EventKind::Access(access) }, wrote: scalars.get(index).copied() });
        }
        log.accesses.push((extent.clone(), site.clone()));
        self.log = Some(log);
    }

    /// Records that these invocations leave a control barrier.
    pub(super) fn log_barrier(&mut self, members: &[u32], arrived: &Arrived) {
        let Some(log) = &mut self.log else { return };
        let kind = EventKind::Barrier(log.barriers, arrived.memory, arrived.semantics);
        log.barriers += 1;
        log.done.extend(members.iter().map(|&agent| Done { event: Event { agent, kind }, wrote: None }));
    }

    /// The object with this number for the race detector.
    fn object_of(&self, number: u32) -> ObjectId {
        let (buffers, objects) = (self.shared.buffers(), self.shared.objects());
        if number < buffers {
            ObjectId::Buffer(number)
        } else if number < objects {
            ObjectId::Image(number - buffers)
        } else {
            let variables = self.shared.workgroup_variables().max(1);
            ObjectId::Workgroup { workgroup: (number - objects) / variables, index: (number - objects) % variables }
        }
    }
}

impl<'m> Agents for Grid<'m, '_, DispatchInvocations<'m>> {
    type Value = Scalar;

    fn ready(&self) -> Vec<u32> {
        let mut agents = Vec::new();
        let ready = self.turns.ready();
        let mut from = if self.ending.is_none() { ready.from(0) } else { None };
        while let Some(invocation) = from {
            agents.push(invocation);
            from = ready.from(invocation + 1);
        }
        agents
    }

    fn upcoming(&self, agent: u32) -> Vec<Upcoming<Scalar>> {
        let Some(invocation) = self.invocations.get(&agent) else { return Vec::new() };
        let config = &invocation.config;
        let Ok(reduct) = only_reduct(self.relation.step(&self.env(agent), config), config) else { return Vec::new() };
        let Next::Acts(_, actions) = &reduct.next else { return Vec::new() };
        let mut accesses = Vec::new();
        for action in actions {
            let (extent, atomic) = match action {
                Action::Load(extent) | Action::Store(extent, _) => (extent, None),
                Action::Atomic { extent, op, .. } => (extent, Some(op.reads())),
                Action::Fence { .. } => continue,
            };
            let object = self.object(extent.object);
            for cell in &extent.cells {
                let current = self.shared.held(extent.object, *cell, (config.index(), agent));
                accesses.push(Upcoming { at: (object, cell.offset, cell.bytes.into()), atomic, current });
            }
        }
        accesses
    }

    fn step(&mut self, agent: u32) -> Vec<Done<Scalar>> {
        if let Some(log) = &mut self.log {
            log.accesses.clear();
        }
        turns::take(self, agent, &mut () as &mut dyn Sink);
        turns::admit(self, &mut () as &mut dyn Sink);
        self.log.as_mut().map(|log| std::mem::take(&mut log.done)).unwrap_or_default()
    }

    fn hold(&mut self, (object, offset, bytes): Location, value: &Scalar) {
        let cells = [Cell { offset, bytes: bytes as u8 }].into_iter().collect();
        let extent = Extent { object: self.object_of(object), variable: 0, class: Class::Uniform, cells };
        self.shared.store(&extent, std::slice::from_ref(value));
    }

    fn race(&mut self, race: &Race) {
        let site = |(_, site): &&(Extent, Site)| site.instruction == race.second.instruction;
        let found = self.log.as_ref().and_then(|log| log.accesses.iter().rev().find(site).cloned());
        if let Some((extent, site)) = found {
            race::data_race(self, race, &extent, &site, &mut ());
        }
    }

    fn stopped(&self) -> Option<bool> {
        self.ending.as_ref().map(|ending| matches!(ending, Outcome::Undefined(_)))
    }
}
