//! Compute entry points over a grid: threads in groups, barriers by instance, schedules, races
//! (seed 004 "Barriers and discard", "Fences and atomic operations", "Built-in Variables").
//!
//! Memory is sequentially consistent: threads take turns as a [`Schedule`] says, and each load sees
//! the last store. What races is unspecified ([`crate::wsl::race`]), so for a program without
//! atomics every schedule shows the same.

mod arguments;
mod fast;
mod rules;
mod run;

pub use crate::concurrency::Schedule;
pub use arguments::{Buffer, Held, Resource, Textured};
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
/// How often a dispatch is run again because more stores are known to race.
const MAX_PASSES: usize = 64;

/// What a dispatch shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// What each word of each resource may hold at the end, over all ways; of textures that are not
    /// written, and of samplers, none.
    pub buffers: Vec<Vec<Possible>>,
    /// The races.
    pub races: Vec<Race>,
    /// Whether something unspecified was met.
    pub unspecified: bool,
    /// Whether every way was followed.
    pub complete: bool,
    /// How many ways there were.
    pub ways: usize,
    /// How many steps all of them took.
    pub steps: u64,
    /// The rules that were applied, those of threads too.
    pub fired: Vec<Rule>,
}

/// Threads of a group that do not meet at a barrier: where one waits, and where another is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The thread that waits.
    pub waiting: u32,
    /// The barrier that it waits at.
    pub barrier: Span,
    /// Another thread of its group.
    pub other: u32,
    /// The barrier that that one waits at, another one or another instance; none if it has ended.
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
    /// How many groups there are in each direction.
    pub groups: [u32; 3],
    /// What is bound to the entry point's resources, in the order of its resources.
    pub resources: Vec<Resource>,
}

impl Dispatch<'_> {
    /// Runs the dispatch along every way.
    pub fn run(&self, settings: &Settings) -> Ending {
        let (mut shared, topology) = match self.shared(settings) {
            Ok(shared) => shared,
            Err(limit) => return Ending::Other(Outcome::Limit(limit)),
        };
        shared.tells_all = false;
        let (mut known, mut fuel) = (Known::default(), settings.fuel);
        for _ in 0..MAX_PASSES {
            let mut pass = Pass::new(&known, fuel);
            let complete = explore(settings.ways, |ways| match pass.halted.is_some() || pass.spent || pass.raced(settings) {
                false => pass.way(self, (&shared, topology), settings, ways),
                true => Vec::new(),
            });
            pass.shown.complete = complete && !pass.spent;
            let raced = pass.raced(settings);
            let Pass { mut shown, learnt, fired, every_order, halted, fuel: left, .. } = pass;
            fuel = left;
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

    /// Runs the dispatch along the first way, in one order; of every order, the first. `on` is told
    /// of each step. Loads see the last store: a race is noted once it has happened.
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
        // Where something unspecified was met there may be other ways.
        pass.shown.complete = !pass.shown.unspecified;
        pass.halted.unwrap_or(Ending::Shown(Box::new(pass.shown)))
    }

    /// The program's layout and how its threads are divided, if these and their variables are few
    /// enough.
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

    /// How many threads a group has.
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

/// All ways of a dispatch, with what is known of its races from those before.
struct Pass<'k> {
    shown: Shown,
    known: &'k Known,
    learnt: Known,
    /// Of each rule, by its number: whether it was applied.
    fired: Vec<bool>,
    every_order: bool,
    halted: Option<Ending>,
    /// What is left of the fuel, and whether ways were left out for want of it.
    fuel: u64,
    spent: bool,
}

impl<'k> Pass<'k> {
    fn new(known: &'k Known, fuel: u64) -> Pass<'k> {
        let (learnt, fired) = (Known::default(), vec![false; Rule::ALL.len()]);
        Pass { shown: Shown::default(), known, learnt, fired, every_order: true, halted: None, fuel, spent: false }
    }

    /// Whether no time is left, which ends it.
    fn passed(&mut self, settings: &Settings) -> bool {
        let limit = TimeLimit::passed(settings.time);
        if let Some(limit) = limit {
            self.halted = Some(Ending::Other(Outcome::Limit(limit)));
        }
        limit.is_some()
    }

    /// Whether a race has ended it.
    fn raced(&self, settings: &Settings) -> bool {
        settings.until_race && !self.shown.races.is_empty()
    }

    /// A way, in the order of the schedule or in every order: the ways that these are.
    fn way(&mut self, dispatch: &Dispatch, (shared, topology): (&Shared, Topology), settings: &Settings, ways: Ways) -> Vec<Ways> {
        if self.passed(settings) {
            return Vec::new();
        }
        if settings.schedule.is_some() {
            let mut run = Run::new(dispatch, shared, settings, topology, (ways, self.fuel), self.known);
            run.finish();
            self.add(&run);
            return vec![run.world.opens.ways];
        }
        let (known, fuel) = (self.known, self.fuel);
        let begin = || Run::new(dispatch, shared, settings, topology, (ways.again(), fuel), known).gated();
        let budget = Budget { executions: settings.ways.saturating_sub(self.shown.ways).max(1) as u64, ..Budget::default() };
        let mut gone = Vec::new();
        let done = interleavings::explore(begin, budget, |run: &Run, _| {
            self.add(run);
            gone.push(run.world.opens.ways.clone());
            if self.halted.is_some() || self.spent || self.passed(settings) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.every_order &= done.complete;
        gone
    }

    /// Adds what a run shows that has ended.
    fn add(&mut self, run: &Run) {
        let given = self.fuel;
        let left = || given.saturating_sub(run.steps + run.world.opens.steps_of_work());
        self.fuel = left();
        if matches!(run.halted, Some(Ending::OutOfFuel(_))) && self.shown.ways > 0 {
            self.spent = true;
            return;
        }
        self.shown.ways += 1;
        self.shown.steps += run.steps;
        self.shown.unspecified |= run.world.opens.met();
        self.fired.iter_mut().zip(&run.fired).for_each(|(all, fired)| *all |= fired);
        self.halted = run.halted.clone();
        if self.halted.is_some() {
            return;
        }
        let buffers = run.buffers();
        self.fuel = left();
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
