//! A run of a dispatch on one way and in one order.

use super::rules::{Group, Replacement, State, World, g_barrier, g_thread};
use super::{Dispatch, Ending, OnStep, Schedule, push};
use crate::concurrency::turns::{self, Threads, Turns};
use crate::concurrency::{Agent, Begin, Topology};
use crate::interleavings::{Explored, Footprint, Stepped, Turn};
use crate::outcome::{Outcome, Stuck, TimeLimit};
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::execution::{Gate, Shared, Stop, Thread, call_of};
use crate::wsl::memory::{Memory, Object, ObjectId};
use crate::wsl::open::{OpenTerms, Possible, Ways, Word};
use crate::wsl::race::{Known, Races};
use crate::wsl::syntax::AddressSpace;
use crate::wsl::{At, Settings};

/// A run with all of its threads.
pub(super) struct Run<'a, 'p> {
    pub(super) world: World<'a, 'p>,
    groups: Vec<Group>,
    topology: Topology,
    turns: Turns,
    /// Whether every order is tried. Threads then wait for their turn before accesses whose order
    /// others may observe.
    in_every_order: bool,
    dispatch: &'a Dispatch<'p>,
    settings: &'a Settings,
    /// By thread number, the footprint of its next access, if every order is tried.
    next: Vec<Footprint>,
    /// By thread number, the place of its last step.
    last: Vec<Span>,
    /// The most steps of the run.
    fuel: u64,
    pub(super) steps: u64,
    /// By rule number, whether the rule was applied.
    pub(super) fired: Vec<bool>,
    /// The ending, if it is not that all threads have ended.
    pub(super) halted: Option<Ending>,
    /// The function to call for each step.
    pub(super) on: Option<OnStep<'a>>,
}

/// The points of a box, with x fastest.
fn places(size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..size[2]).flat_map(move |z| (0..size[1]).flat_map(move |y| (0..size[0]).map(move |x| [x, y, z])))
}

impl<'a, 'p> Run<'a, 'p> {
    /// A run before its first step.
    pub(super) fn new(
        dispatch: &'a Dispatch<'p>,
        shared: &'a Shared<'p>,
        settings: &'a Settings,
        topology: Topology,
        (ways, fuel): (Ways, u64),
        known: &Known,
    ) -> Run<'a, 'p> {
        let mut memory = Memory::default();
        let mut opens = OpenTerms::new(settings.strategy, ways);
        opens.precision = settings.precision;
        push(&dispatch.resources, &mut memory, &mut opens);
        let size = dispatch.size();
        let mut groups = Vec::new();
        let mut number = 0;
        for at in places(dispatch.groups) {
            let words = vec![Word::Bits(0); shared.group_words];
            let object = memory.push(Object { space: AddressSpace::Threadgroup, name: "threadgroup variables".into(), words });
            let mut threads = Vec::new();
            for (index, position) in places(size).enumerate() {
                let arguments = dispatch.arguments(shared, at, position, index as u32);
                let program = call_of(dispatch.program, dispatch.entry.function, arguments);
                threads.push((Thread::new(shared, &mut memory, number, object, program), State::Running));
                number += 1;
            }
            groups.push(Group { threads, epochs: (0, 0) });
        }
        if settings.races {
            memory.races = Some(Box::new(Races::new(topology, known.clone())));
        }
        let world = World { shared, memory, opens };
        let next = vec![Footprint::Local; number as usize];
        let last = vec![dispatch.program.env.function(dispatch.entry.function).name.span; number as usize];
        Run {
            world,
            groups,
            topology,
            turns: Turns::default(),
            in_every_order: false,
            dispatch,
            settings,
            next,
            last,
            fuel,
            steps: 0,
            fired: vec![false; Rule::ALL.len()],
            halted: None,
            on: None,
        }
    }

    /// The possible values of the resources' words.
    pub(super) fn buffers(&self) -> Vec<Vec<Possible>> {
        let object = |k: usize| self.world.memory.object(ObjectId(k as u32));
        let words = |k: usize| object(k).words.iter().map(|&w| self.world.opens.possible(w)).collect();
        (0..self.dispatch.resources.len()).map(words).collect()
    }

    /// Steps in the order of the schedule until every thread has ended, or the run is halted.
    pub(super) fn finish(&mut self) {
        let schedule = self.settings.schedule.clone().unwrap_or(Schedule::InOrder);
        if let Err(invalid) = turns::run(self, &schedule, &mut ()) {
            self.halted = Some(Ending::Other(Outcome::Unsupported(invalid.what)));
        }
    }

    /// Prepares the run to try every order. Each thread advances to its first access whose order
    /// others may observe.
    pub(super) fn in_every_order(mut self) -> Self {
        self.in_every_order = true;
        let gate = if self.settings.races { Gate::Atomics } else { Gate::Shared };
        self.groups.iter_mut().flat_map(|group| &mut group.threads).for_each(|(thread, _)| thread.gate = gate);
        turns::admit(&mut self, &mut ());
        self
    }

    /// Makes a step of a running thread. Returns the footprint of an access, if the thread waits
    /// for its turn before it.
    fn step_once(&mut self, g: usize, t: usize) -> Option<Footprint> {
        let group = &mut self.groups[g];
        let (thread, state) = &mut group.threads[t];
        if thread.has_ended() {
            *state = State::Ended;
            return None;
        }
        if self.steps + self.world.opens.steps_of_work() >= self.fuel {
            let thread = thread.number;
            self.halted = Some(Ending::OutOfFuel(At { thread, at: self.last[thread as usize] }));
            return None;
        }
        if let Some(limit) = TimeLimit::passed_between(self.settings.time, self.steps, self.steps + 1) {
            self.halted = Some(Ending::Other(Outcome::Limit(limit)));
            return None;
        }
        self.steps += 1;
        if let Some(races) = &mut self.world.memory.races {
            (races.agent, races.epochs) = (self.topology.agent(thread.number), group.epochs);
        }
        let rule = match self.settings.planted.group {
            Some(Replacement::Thread(planted)) => planted,
            _ => g_thread,
        };
        match rule(&mut self.world, group, t) {
            Ok(step) => {
                self.fired[Rule::WslGThread as usize] = true;
                for rule in step.within.iter().copied().chain([step.rule]) {
                    self.fired[rule as usize] = true;
                }
                self.last[group.threads[t].0.number as usize] = step.at;
                if let Some(watch) = self.settings.watch {
                    watch(self.world.shared, &self.world.memory, &group.threads[t].0);
                }
                if let Some(on) = &mut self.on {
                    on(&group.threads[t].0, &step);
                }
            }
            Err((Stop::Barrier, instance)) => group.threads[t].1 = State::Waiting(instance),
            Err((Stop::Turn(footprint), _)) => {
                self.steps -= 1;
                return Some(footprint);
            }
            Err((Stop::Discarded(step), _)) => {
                group.threads[t].1 = State::Ended;
                if let Some(on) = &mut self.on {
                    on(&group.threads[t].0, &step);
                }
            }
            Err((stop, _)) => self.halted = Some(Ending::Other(self.outcome(stop))),
        }
        None
    }

    fn outcome(&self, stop: Stop) -> Outcome<()> {
        let place = |span: Span| self.dispatch.place(span);
        match stop {
            Stop::Stuck(why, span) => Outcome::Stuck(Stuck { why, at: place(span) }),
            Stop::Limit(limit) => Outcome::Limit(limit),
            Stop::Unsupported(what, span) => Outcome::Unsupported(format!("{what} (at {})", place(span))),
            Stop::Barrier | Stop::Discarded(_) | Stop::Turn(_) | Stop::Quad(_) => Outcome::Deadlock,
        }
    }

    /// Whether the run ends because of a race.
    fn ended_by_race(&self) -> bool {
        self.settings.until_race && self.world.memory.races.as_ref().is_some_and(|races| !races.found.is_empty())
    }

    /// Advances a thread to its next access whose order others may observe.
    fn advance_to_access(&mut self, g: usize, t: usize) {
        while !self.is_over() && self.groups[g].threads[t].1 == State::Running {
            if let Some(footprint) = self.step_once(g, t) {
                let number = self.groups[g].threads[t].0.number;
                self.next[number as usize] = footprint;
                return;
            }
        }
    }

    fn state_at(&self, g: usize, t: usize) -> Turn {
        let (thread, state) = &self.groups[g].threads[t];
        match state {
            State::Running => Turn::Ready(self.next[thread.number as usize]),
            State::Waiting(_) => Turn::Waiting,
            State::Ended => Turn::Ended,
        }
    }

    fn place_of(&self, number: u32) -> (usize, usize) {
        let Agent { workgroup, local } = self.topology.agent(number);
        (workgroup as usize, local as usize)
    }
}

/// A turn is a step. If every order is tried, a turn is one access whose order others may observe,
/// and all that the thread does up to the next. Such an access is an atomic operation, because
/// other unordered accesses race and are unspecified in every order. If races are not looked for,
/// it is every access of shared memory.
impl Threads for Run<'_, '_> {
    fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }

    fn topology(&self) -> Topology {
        self.topology
    }

    fn state(&self, number: u32) -> Turn {
        let (g, t) = self.place_of(number);
        self.state_at(g, t)
    }

    fn act(&mut self, number: u32, (): &mut ()) -> Turn {
        let (g, t) = self.place_of(number);
        if self.in_every_order {
            self.groups[g].threads[t].0.has_turn = true;
            self.advance_to_access(g, t);
        } else {
            self.step_once(g, t);
        }
        self.state_at(g, t)
    }

    fn settle(&mut self, number: u32, (): &mut ()) -> Turn {
        let (g, t) = self.place_of(number);
        if self.in_every_order {
            self.advance_to_access(g, t);
        }
        self.state_at(g, t)
    }

    fn meet(&mut self, g: u32, (): &mut ()) {
        let rule = match self.settings.planted.group {
            Some(Replacement::Barrier(planted)) => planted,
            _ => g_barrier,
        };
        let group = &mut self.groups[g as usize];
        let before = group.epochs;
        match rule(self.dispatch.program, group) {
            Err(divergence) => self.halted = Some(Ending::Diverged(divergence)),
            Ok(()) => self.fired[Rule::WslGBarrier as usize] = true,
        }
        if let Some(races) = &mut self.world.memory.races {
            races.barrier(g, group.epochs.0 != before.0, group.epochs.1 != before.1);
        }
    }

    fn begin(&mut self, g: u32, _: u32) -> Begin {
        if (g as usize) < self.groups.len() { Begin::Begins } else { Begin::NoMore }
    }

    fn is_over(&self) -> bool {
        self.halted.is_some() || self.ended_by_race()
    }
}

impl Explored for Run<'_, '_> {
    fn invocations(&self) -> usize {
        self.next.len()
    }

    fn turn(&self, number: usize) -> Turn {
        if self.halted.is_some() { Turn::Ended } else { self.state(number as u32) }
    }

    fn step(&mut self, number: usize) -> Stepped {
        let released = turns::take(self, number as u32, &mut ());
        Stepped { released: released.into_iter().map(|thread| thread as usize).collect(), stop: self.is_over() }
    }
}
