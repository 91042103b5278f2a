//! Threads of a draw, taking their steps: vertices alone, fragments in quads.

use super::quad::{self, Apart};
use super::{Ending, OutOfFuel, Settings};
use crate::outcome::{Limit, Outcome, Stuck};
use crate::rule::Rule;
use crate::text::{Span, line_column};
use crate::wsl::execution::{Instance, Shared, Stop, Thread, step};
use crate::wsl::group::{Threads, take_turns};
use crate::wsl::memory::{Memory, Words};
use crate::wsl::open::Opens;
use rustc_hash::FxHashSet;

/// What a thread is doing.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It steps.
    Running,
    /// It stands at an operation over its quad, with that operand.
    AtQuad(Instance, Words),
    /// Its entry point has returned.
    Ended,
    /// It was discarded.
    Discarded,
}

/// A vertex, or the four threads of a quad in the order of lanes.
#[derive(Debug)]
pub struct Group {
    /// Its number among all groups of its stage.
    pub number: u32,
    /// The threads.
    pub threads: Vec<(Thread, State)>,
}

/// What all threads of a draw have in common.
#[derive(Debug)]
pub struct World<'a> {
    pub(super) text: &'a str,
    pub(super) settings: &'a Settings,
    /// Memory.
    pub memory: Memory,
    /// What is unspecified.
    pub opens: Opens,
    /// Steps of threads, and places that rasterisation looks at, that are left.
    pub(super) fuel: u64,
    pub(super) steps: u64,
    pub(super) fired: FxHashSet<Rule>,
    /// The operations over quads that not all threads of a quad came to.
    pub apart: Vec<Apart>,
    /// Where a step was last made.
    last: Span,
}

impl<'a> World<'a> {
    pub(super) fn new(text: &'a str, settings: &'a Settings, memory: Memory, opens: Opens) -> World<'a> {
        let (fired, apart) = (FxHashSet::default(), Vec::new());
        World { text, settings, memory, opens, fuel: settings.fuel, steps: 0, fired, apart, last: Span::default() }
    }

    /// Takes the cost of something from the fuel.
    pub(super) fn spend(&mut self, work: u64, thread: u32) -> Result<(), Ending> {
        match self.fuel.checked_sub(work) {
            Some(left) => self.fuel = left,
            None => return Err(Ending::OutOfFuel(OutOfFuel { thread, at: self.last })),
        }
        Ok(())
    }

    /// Steps until every thread of these groups has ended, as the schedule says.
    pub(super) fn all(&mut self, shared: &Shared, groups: &mut [Group]) -> Result<(), Ending> {
        take_turns(self.settings.schedule, &mut Stage { world: self, shared, groups })
    }

    /// A step of a thread that runs.
    fn step(&mut self, shared: &Shared, group: &mut Group, t: usize) -> Result<(), Ending> {
        let number = group.number;
        let (thread, state) = &mut group.threads[t];
        if thread.value().is_some() {
            *state = State::Ended;
            return Ok(());
        }
        self.spend(1, thread.number)?;
        self.steps += 1;
        if let Some(races) = &mut self.memory.races {
            (races.thread, races.group, races.epochs) = (thread.number, number, (0, 0));
        }
        let other = |outcome| Err(Ending::Other(outcome));
        let at = |text: &str, span: Span| {
            let (line, column) = line_column(text, span.start);
            format!("{line}:{column}")
        };
        match step(shared, &mut self.memory, &mut self.opens, thread) {
            Ok(step) => {
                self.fired.insert(step.rule);
                self.fired.extend(&step.within);
                self.fired.insert(Rule::WslGThread);
                self.last = step.at;
                if let Some(watch) = self.settings.watch {
                    watch(shared, &self.memory, thread);
                }
            }
            Err((Stop::Quad(operand), instance)) => *state = State::AtQuad(instance, operand),
            Err((Stop::Discarded(step), _)) => {
                self.fired.insert(step.rule);
                *state = State::Discarded;
            }
            Err((Stop::Stuck(why, span), _)) => return other(Outcome::Stuck(Stuck { why, at: at(self.text, span) })),
            Err((Stop::Limit(limit), _)) => return other(Outcome::Limit(limit)),
            Err((Stop::Unsupported(what, span), _)) => return other(Outcome::Unsupported(format!("{what} (at {})", at(self.text, span)))),
            // There are no barriers but in compute shaders.
            Err(_) => return other(Outcome::Deadlock),
        }
        Ok(())
    }

    /// What a quad does together once none of its threads runs.
    fn meet(&mut self, shared: &Shared, group: &mut Group) {
        let waits = |t: &(Thread, State)| matches!(t.1, State::AtQuad(..));
        if !group.threads.iter().any(waits) {
            return;
        }
        let (rule, goes_on) = match quad::together(shared.program, group) {
            Some(_) => (Rule::WslGQuad, self.settings.rules.quad),
            None => (Rule::WslGQuadApart, self.settings.rules.quad_apart),
        };
        goes_on(self, shared.program, group);
        self.fired.insert(rule);
    }
}

/// The threads of a stage.
struct Stage<'s, 'w, 'p> {
    world: &'s mut World<'w>,
    shared: &'s Shared<'p>,
    groups: &'s mut [Group],
}

impl Threads for Stage<'_, '_, '_> {
    type Ending = Ending;

    fn groups(&self) -> usize {
        self.groups.len()
    }

    fn threads(&self, g: usize) -> usize {
        self.groups[g].threads.len()
    }

    fn runs(&self, g: usize, t: usize) -> bool {
        self.groups[g].threads[t].1 == State::Running
    }

    fn step(&mut self, g: usize, t: usize) -> Result<(), Ending> {
        self.world.step(self.shared, &mut self.groups[g], t)
    }

    fn meet(&mut self, g: usize) -> Result<(), Ending> {
        self.world.meet(self.shared, &mut self.groups[g]);
        Ok(())
    }
}

/// A limit that was passed.
pub(super) fn limit(what: &'static str, bound: u64) -> Ending {
    Ending::Other(Outcome::Limit(Limit { what, bound }))
}
