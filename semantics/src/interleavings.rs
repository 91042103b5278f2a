//! All orders of the steps of several threads ("invocations") in a small program, one for each
//! class of equivalent orders. This module is independent of any language.
//!
//! Two schedules are equivalent if swapping neighbouring independent steps leads from one to the
//! other (Mazurkiewicz traces). Equivalent schedules end alike and have the same happens-before, so
//! one of each class suffices. The search is depth first and replays prefixes from the start. It is
//! source-set dynamic partial-order reduction with sleep sets (Abdulla, Aronis, Jonsson and
//! Sagonas, POPL 2014). It tries a step of another invocation earlier only if a reversible race
//! requires it. Sleep sets exclude equivalent schedules.
//!
//! A step is one visible action, with all that the invocation does by itself up to its next one.
//! The memory that a next action would touch must depend on its invocation alone. This holds if
//! addresses are computed in registers.
//!
//! A step that stops the run, by undefined behaviour, hides what other invocations would have done
//! after it, and the races of their steps. So the search backs up before this step and goes on
//! without it. The step's invocation sleeps. It wakes at a step of another invocation that depends
//! on the stopping step.
//!
//! This sleep means more than usual: no execution goes on with this step. It also means less than
//! usual: the executions that go on without it have not been seen yet. So the search looks for the
//! races of the sleeping step at each level where it could be taken. The search sees every
//! execution that does not stop, one for each class. It also sees that a run can stop, if it can.
//! It does not try, for its own sake, what independent invocations did before the stop.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// A schedule: which invocation steps, and how many times in a row.
pub type Steps = Vec<(u32, u64)>;

/// The memory that an invocation's next action touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Footprint {
    /// Nothing that other invocations can see.
    Local,
    /// A stretch of memory.
    Memory {
        /// The object.
        object: u32,
        /// The offset of the first byte.
        offset: u64,
        /// The number of bytes.
        bytes: u64,
        /// Whether it may write.
        writes: bool,
    },
    /// All memory.
    Everything,
}

impl Footprint {
    /// Whether the order of two actions with these footprints can matter.
    pub fn dependent(&self, other: &Footprint) -> bool {
        use Footprint::{Everything, Local, Memory};
        match (self, other) {
            (Local, _) | (_, Local) => false,
            (Everything, _) | (_, Everything) => true,
            (Memory { object: a, offset: x, bytes: m, writes: v }, Memory { object: b, offset: y, bytes: n, writes: w }) => {
                a == b && (*v || *w) && *x < y.saturating_add(*n) && *y < x.saturating_add(*m)
            }
        }
    }
}

/// The state of an invocation, for the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It can step. Its next action has this footprint.
    Ready(Footprint),
    /// It can do nothing until others arrive at its barrier.
    Waiting,
    /// It has ended.
    Ended,
}

/// The effect of a step on other invocations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stepped {
    /// The invocations that met because of the step. Whatever one of them does next happens after
    /// all that each of them has done.
    pub released: Vec<usize>,
    /// Whether the run is over, by undefined behaviour or a limit.
    pub stop: bool,
}

/// A run that is explored. Steps must be deterministic.
pub trait Explored {
    /// The number of invocations.
    fn invocations(&self) -> usize;
    /// The state of an invocation.
    fn turn(&self, invocation: usize) -> Turn;
    /// Takes a step: the next action, and all that follows up to the one after.
    fn step(&mut self, invocation: usize) -> Stepped;
}

/// Bounds of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The greatest number of executions, complete or cut short.
    pub executions: u64,
    /// The greatest number of steps in total, including replayed steps.
    pub steps: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { executions: 100_000, steps: 100_000_000 }
    }
}

/// Statistics of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exploration {
    /// The number of complete executions. No two of them are equivalent.
    pub executions: u64,
    /// The number of executions that were cut short, since they were equivalent to earlier ones.
    pub blocked: u64,
    /// The number of steps in total.
    pub steps: u64,
    /// Whether all classes were seen. False if the budget was used up or the visitor broke off.
    pub complete: bool,
}

struct Event {
    invocation: usize,
    footprint: Footprint,
    /// By invocation, the number of its events that happen before this event, including this event.
    clock: Vec<u32>,
}

/// A sleeping invocation: its next step leads to nothing new.
#[derive(Clone, Copy)]
struct SleepingStep {
    /// The footprint of this step.
    footprint: Footprint,
    /// Whether it stops the run.
    stops: bool,
}

struct Level {
    /// The invocations to try here.
    backtrack: BTreeSet<usize>,
    sleep: BTreeMap<usize, SleepingStep>,
    chosen: usize,
    footprint: Footprint,
    /// Whether the chosen step stops the run.
    stops: bool,
}

struct Search {
    levels: Vec<Level>,
    events: Vec<Event>,
    /// By invocation, the clock of what happens before its next step.
    clocks: Vec<Vec<u32>>,
    progress: Exploration,
    budget: Budget,
}

/// Runs one execution of each class, from states that `start` makes. Passes each final state to
/// `visit`, with the schedule that replays it.
pub fn explore<E: Explored>(start: impl Fn() -> E, budget: Budget, mut visit: impl FnMut(&E, Steps) -> ControlFlow<()>) -> Exploration {
    let mut search = Search { levels: Vec::new(), events: Vec::new(), clocks: Vec::new(), progress: Exploration::default(), budget };
    loop {
        let mut state = start();
        match search.run(&mut state) {
            None => return search.progress,
            Some(false) => search.progress.blocked += 1,
            Some(true) => {
                search.progress.executions += 1;
                if visit(&state, search.schedule()).is_break() {
                    return search.progress;
                }
            }
        }
        if !search.next() {
            search.progress.complete = true;
            return search.progress;
        }
        if search.progress.executions + search.progress.blocked >= budget.executions {
            return search.progress;
        }
    }
}

impl Search {
    fn schedule(&self) -> Steps {
        let mut steps = Steps::new();
        for event in &self.events {
            match steps.last_mut() {
                Some((last, times)) if *last == event.invocation as u32 => *times += 1,
                _ => steps.push((event.invocation as u32, 1)),
            }
        }
        steps
    }

    /// Replays the chosen steps and goes on to the end. True if the execution is complete, false if
    /// it was cut short. `None` if the budget is used up.
    fn run(&mut self, state: &mut impl Explored) -> Option<bool> {
        let count = state.invocations();
        self.events.clear();
        self.clocks = vec![vec![0; count]; count];
        let mut depth = 0;
        loop {
            let ready: BTreeMap<usize, Footprint> = (0..count)
                .filter_map(|i| match state.turn(i) {
                    Turn::Ready(footprint) => Some((i, footprint)),
                    Turn::Waiting | Turn::Ended => None,
                })
                .collect();
            if ready.is_empty() {
                return Some(true);
            }
            if depth == self.levels.len() {
                let sleep: BTreeMap<usize, SleepingStep> = self.levels.last().map_or(BTreeMap::new(), |previous| {
                    let wakes = |sleeping: &SleepingStep| sleeping.footprint.dependent(&previous.footprint);
                    previous.sleep.iter().filter(|(_, sleeping)| !wakes(sleeping)).map(|(i, sleeping)| (*i, *sleeping)).collect()
                });
                for (&i, sleeping) in sleep.iter().filter(|(_, sleeping)| sleeping.stops) {
                    self.races(i, &sleeping.footprint);
                }
                let Some((&chosen, &footprint)) = ready.iter().find(|(i, _)| !sleep.contains_key(i)) else { return Some(false) };
                self.levels.push(Level { backtrack: BTreeSet::from([chosen]), sleep, chosen, footprint, stops: false });
            }
            let chosen = self.levels[depth].chosen;
            // A choice that was made by its number alone has its footprint set here.
            let Some(&footprint) = ready.get(&chosen) else { return Some(false) };
            self.levels[depth].footprint = footprint;
            if self.progress.steps >= self.budget.steps {
                return None;
            }
            self.progress.steps += 1;
            if depth + 1 == self.levels.len() {
                self.races(chosen, &footprint);
            }
            self.record(chosen, footprint);
            let stepped = state.step(chosen);
            if !stepped.released.is_empty() {
                let mut joined = vec![0; count];
                for &i in &stepped.released {
                    merge(&mut joined, &self.clocks[i]);
                }
                for &i in &stepped.released {
                    self.clocks[i].clone_from(&joined);
                }
            }
            depth += 1;
            if stepped.stop {
                self.levels.truncate(depth);
                if let Some(level) = self.levels.last_mut() {
                    level.stops = true;
                    let others = || ready.keys().filter(|i| **i != chosen && !level.sleep.contains_key(i));
                    if !others().any(|i| level.backtrack.contains(i)) {
                        let other = others().next().copied();
                        level.backtrack.extend(other);
                    }
                }
                return Some(true);
            }
        }
    }

    /// The clock of the step that an invocation takes next, including the step.
    fn clock(&self, invocation: usize, footprint: &Footprint) -> Vec<u32> {
        let mut clock = self.clocks[invocation].clone();
        for event in self.events.iter().filter(|event| event.footprint.dependent(footprint)) {
            merge(&mut clock, &event.clock);
        }
        clock[invocation] = self.clocks[invocation][invocation] + 1;
        clock
    }

    /// Makes the search try other orders for the races of a next step.
    fn races(&mut self, invocation: usize, footprint: &Footprint) {
        let (before, clock) = (self.clocks[invocation].clone(), self.clock(invocation, footprint));
        for i in 0..self.events.len() {
            self.reverse(i, invocation, footprint, &before, &clock);
        }
    }

    /// Adds the event of a step.
    fn record(&mut self, invocation: usize, footprint: Footprint) {
        let clock = self.clock(invocation, &footprint);
        self.clocks[invocation].clone_from(&clock);
        self.events.push(Event { invocation, footprint, clock });
    }

    /// If event `i` races with the new step and nothing is between them, makes the search try a
    /// step at `i` that leads to the other order.
    fn reverse(&mut self, i: usize, invocation: usize, footprint: &Footprint, before: &[u32], clock: &[u32]) {
        let events = &self.events;
        let happens = |earlier: &Event, clock: &[u32]| clock[earlier.invocation] >= earlier.clock[earlier.invocation];
        let event = &events[i];
        if event.invocation == invocation || !event.footprint.dependent(footprint) || happens(event, before) {
            return;
        }
        if events[i + 1..].iter().any(|between| between.footprint.dependent(footprint) && happens(event, &between.clock)) {
            return;
        }
        // The events that do not depend on event `i`, with the new step at the end, and the
        // invocations that could begin them.
        let mut seen = BTreeSet::new();
        let mut initials = BTreeSet::new();
        let mut independent: Vec<&Event> = Vec::new();
        for other in events[i + 1..].iter().filter(|other| !happens(event, &other.clock)) {
            if seen.insert(other.invocation) && !independent.iter().any(|earlier| happens(earlier, &other.clock)) {
                initials.insert(other.invocation);
            }
            independent.push(other);
        }
        if !seen.contains(&invocation) && !independent.iter().any(|earlier| happens(earlier, clock)) {
            initials.insert(invocation);
        }
        let level = &mut self.levels[i];
        if level.backtrack.is_disjoint(&initials) {
            let choice = if initials.contains(&invocation) { Some(invocation) } else { initials.first().copied() };
            level.backtrack.extend(choice);
        }
    }

    /// Makes the deepest remaining choice. False if there is none.
    fn next(&mut self) -> bool {
        while let Some(level) = self.levels.last_mut() {
            level.sleep.insert(level.chosen, SleepingStep { footprint: level.footprint, stops: level.stops });
            level.stops = false;
            if let Some(&next) = level.backtrack.iter().find(|i| !level.sleep.contains_key(i)) {
                level.chosen = next;
                return true;
            }
            self.levels.pop();
        }
        false
    }
}

fn merge(into: &mut [u32], other: &[u32]) {
    for (a, b) in into.iter_mut().zip(other) {
        *a = (*a).max(*b);
    }
}
