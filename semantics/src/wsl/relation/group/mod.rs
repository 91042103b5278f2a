//! Compute entry points over a grid: threads in groups, barriers by instance, schedules, races
//! (seed 004 "Barriers and discard", "Fences and atomic operations", "Built-in Variables").
//!
//! Memory is sequentially consistent. Threads take turns as a [`Schedule`] says, and each load
//! returns the last store. Results of races are unspecified ([`crate::wsl::race`]). So a program
//! without atomics shows the same under every schedule.

mod arguments;
mod fast;
mod rules;
mod run;

pub use crate::concurrency::Schedule;
pub use arguments::{Buffer, Resource, ResourceContents, Textured};
pub(in crate::wsl) use arguments::{bound, offset, push};
pub use fast::Fast;
pub(in crate::wsl) use fast::{Outside, flat_words, possible};
pub use rules::{Group, Replacement, State, World, g_barrier, g_thread};

use crate::concurrency::Topology;
use crate::interleavings::{self, Budget};
use crate::outcome::{Limit, Outcome, TimeLimit};
use crate::rule::Rule;
use crate::text::{Span, line_column};
use crate::wsl::entry::{EntryPoint, Stage};
use crate::wsl::execution::{Shared, Step, Thread};
use crate::wsl::open::{Possible, Ways, explore};
use crate::wsl::race::{Known, Race};
use crate::wsl::typing::program::Program;
use crate::wsl::{self, Settings};
use run::Run;
use std::ops::ControlFlow;

/// The most threads of a dispatch that the relation runs.
pub const MAX_THREADS: u64 = 1 << 16;
/// The most runs of a dispatch. It runs again when more stores are found to race.
const MAX_PASSES: usize = 64;

/// What a dispatch shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// The possible values of each word of each resource at the end, over all ways. Samplers and
    /// textures that are not written have none.
    pub buffers: Vec<Vec<Possible>>,
    /// The races.
    pub races: Vec<Race>,
    /// Whether the dispatch met an unspecified value.
    pub unspecified: bool,
    /// Whether every way was followed.
    pub complete: bool,
    /// The number of ways.
    pub ways: usize,
    /// The number of steps on all ways.
    pub steps: u64,
    /// The rules that were applied, including those of threads.
    pub fired: Vec<Rule>,
}

/// Two threads of a group that do not meet at a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The thread that waits.
    pub waiting: u32,
    /// The barrier that it waits at.
    pub barrier: Span,
    /// Another thread of its group.
    pub other: u32,
    /// The barrier at which the other thread waits: another barrier, or another instance. `None` if
    /// it has ended.
    pub at: Option<Span>,
}

/// Is told of a thread and a step that it has made.
pub type OnStep<'a> = &'a mut dyn FnMut(&Thread, &Step);

/// How a dispatch ended.
pub type Ending = wsl::Ending<Shown>;

/// A dispatch of a compute entry point.
#[derive(Clone, Debug)]
pub struct Dispatch<'p> {
    /// The program.
    pub program: &'p Program,
    /// The program's text, for places.
    pub text: &'p str,
    /// The entry point.
    pub entry: &'p EntryPoint,
    /// The number of groups in each direction.
    pub groups: [u32; 3],
    /// The contents of the entry point's resources, in the order of its resources.
    pub resources: Vec<Resource>,
}

impl Dispatch<'_> {
    /// Runs the dispatch on every way.
    pub fn run(&self, settings: &Settings) -> Ending {
        let (mut shared, topology) = match self.shared(settings) {
            Ok(shared) => shared,
            Err(limit) => return Ending::Other(Outcome::Limit(limit)),
        };
        shared.records_steps = false;
        let (mut known, mut fuel) = (Known::default(), settings.fuel);
        for _ in 0..MAX_PASSES {
            let mut pass = Pass::new(&known, fuel);
            let complete = explore(settings.ways, |ways| match pass.halted.is_some() || pass.out_of_fuel || pass.raced(settings) {
                false => pass.follow_way(self, (&shared, topology), settings, ways),
                true => Vec::new(),
            });
            pass.shown.complete = complete && !pass.out_of_fuel;
            let raced = pass.raced(settings);
            let Pass { mut shown, learnt, fired, every_order, halted, fuel: remaining, .. } = pass;
            fuel = remaining;
            if let Some(ending) = halted {
                return ending;
            }
            if raced || !known.merge(&learnt) {
                shown.complete &= every_order;
                shown.fired = Rule::ALL.iter().copied().filter(|&rule| fired[rule as usize]).collect();
                return Ending::Shown(Box::new(shown));
            }
        }
        Ending::Other(Outcome::Limit(Limit { what: "runs to find the stores that race", bound: MAX_PASSES as u64 }))
    }

    /// Runs the dispatch on the first way, in one order. If every order is to be tried, it is the
    /// first. `on` is called for each step. Loads return the last store. A race is recorded once it
    /// has happened.
    pub fn trace(&self, settings: &Settings, on: OnStep) -> Ending {
        let (shared, topology) = match self.shared(settings) {
            Ok(shared) => shared,
            Err(limit) => return Ending::Other(Outcome::Limit(limit)),
        };
        let known = Known::default();
        let mut pass = Pass::new(&known, settings.fuel);
        let mut run = Run::new(self, &shared, settings, topology, (Ways::default(), pass.fuel), &known);
        run.on = Some(on);
        run.finish();
        pass.add(&run);
        // If it met an unspecified value, there may be other ways.
        pass.shown.complete = !pass.shown.unspecified;
        pass.halted.unwrap_or(Ending::Shown(Box::new(pass.shown)))
    }

    /// The shared data and the topology of the threads, if there are not too many threads
    /// or variables.
    fn shared(&self, settings: &Settings) -> Result<(Shared<'_>, Topology), Limit> {
        let threads = self.threads();
        if threads > MAX_THREADS {
            return Err(Limit { what: "threads", bound: MAX_THREADS });
        }
        let shared = Shared::new(self.program, self.entry.function, settings.planted)?;
        let bytes = threads * shared.thread_words as u64 * 16 + self.group_count() * shared.group_words as u64 * 16;
        if bytes > crate::wsl::execution::MAX_STORES * 16 {
            return Err(Limit { what: "bytes of variables of all threads", bound: crate::wsl::execution::MAX_STORES });
        }
        let (groups, size) = (self.group_count() as u32, self.group_size());
        Ok((shared, Topology::new(groups, size, size)?))
    }

    pub(in crate::wsl) fn size(&self) -> [u32; 3] {
        match self.entry.stage {
            Stage::Compute(size) => size,
            Stage::Vertex | Stage::Fragment => [1; 3],
        }
    }

    /// The number of threads of a group.
    pub fn group_size(&self) -> u32 {
        self.size().iter().fold(1, |n, &side| n.saturating_mul(side))
    }

    fn group_count(&self) -> u64 {
        self.groups.iter().fold(1u64, |n, &g| n.saturating_mul(u64::from(g)))
    }

    fn threads(&self) -> u64 {
        self.size().iter().fold(self.group_count(), |n, &g| n.saturating_mul(u64::from(g)))
    }

    fn place(&self, span: Span) -> String {
        let (line, column) = line_column(self.text, span.start);
        format!("{line}:{column}")
    }
}

/// All ways of a dispatch, with the races that earlier passes found.
struct Pass<'k> {
    shown: Shown,
    known: &'k Known,
    learnt: Known,
    /// By rule number, whether the rule was applied.
    fired: Vec<bool>,
    every_order: bool,
    halted: Option<Ending>,
    /// The fuel that is left, and whether ways were left out because it ran out.
    fuel: u64,
    out_of_fuel: bool,
}

impl<'k> Pass<'k> {
    fn new(known: &'k Known, fuel: u64) -> Pass<'k> {
        let (learnt, fired) = (Known::default(), vec![false; Rule::ALL.len()]);
        Pass { shown: Shown::default(), known, learnt, fired, every_order: true, halted: None, fuel, out_of_fuel: false }
    }

    /// Whether the time limit has passed. This ends the pass.
    fn time_passed(&mut self, settings: &Settings) -> bool {
        let limit = TimeLimit::passed(settings.time);
        if let Some(limit) = limit {
            self.halted = Some(Ending::Other(Outcome::Limit(limit)));
        }
        limit.is_some()
    }

    /// Whether a race has ended the pass.
    fn raced(&self, settings: &Settings) -> bool {
        settings.until_race && !self.shown.races.is_empty()
    }

    /// Follows a way, in the order of the schedule or in every order. Returns the ways that
    /// were followed.
    fn follow_way(&mut self, dispatch: &Dispatch, (shared, topology): (&Shared, Topology), settings: &Settings, ways: Ways) -> Vec<Ways> {
        if self.time_passed(settings) {
            return Vec::new();
        }
        if settings.schedule.is_some() {
            let mut run = Run::new(dispatch, shared, settings, topology, (ways, self.fuel), self.known);
            run.finish();
            self.add(&run);
            return vec![run.world.opens.ways];
        }
        let (known, fuel) = (self.known, self.fuel);
        let begin = || Run::new(dispatch, shared, settings, topology, (ways.again(), fuel), known).in_every_order();
        let budget = Budget { executions: settings.ways.saturating_sub(self.shown.ways).max(1) as u64, ..Budget::default() };
        let mut followed = Vec::new();
        let explored = interleavings::explore(begin, budget, |run: &Run, _| {
            self.add(run);
            followed.push(run.world.opens.ways.clone());
            if self.halted.is_some() || self.out_of_fuel || self.time_passed(settings) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        self.every_order &= explored.complete;
        followed
    }

    /// Adds the results of a finished run.
    fn add(&mut self, run: &Run) {
        let fuel_before = self.fuel;
        let remaining = || fuel_before.saturating_sub(run.steps + run.world.opens.steps_of_work());
        self.fuel = remaining();
        if matches!(run.halted, Some(Ending::OutOfFuel(_))) && self.shown.ways > 0 {
            self.out_of_fuel = true;
            return;
        }
        self.shown.ways += 1;
        self.shown.steps += run.steps;
        self.shown.unspecified |= run.world.opens.met_unspecified();
        self.fired.iter_mut().zip(&run.fired).for_each(|(all, fired)| *all |= fired);
        self.halted = run.halted.clone();
        if self.halted.is_some() {
            return;
        }
        let buffers = run.buffers();
        self.fuel = remaining();
        match self.shown.buffers.is_empty() {
            true => self.shown.buffers = buffers,
            false => {
                for (all, more) in self.shown.buffers.iter_mut().flatten().zip(buffers.into_iter().flatten()) {
                    *all = std::mem::replace(all, Possible::Any).or(more);
                }
            }
        }
        let Some(races) = &run.world.memory.races else { return };
        self.learnt.merge(&races.learnt);
        for race in &races.found {
            let pair = |r: &Race| {
                let (a, b) = (r.first.instruction, r.second.instruction);
                (a.min(b), a.max(b))
            };
            if !self.shown.races.iter().any(|r| pair(r) == pair(race)) {
                self.shown.races.push(*race);
            }
        }
    }
}
