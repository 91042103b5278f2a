//! Threads of a draw, taking their steps: vertices alone, fragments in quads.

use super::quad::{self, Apart};
use super::{At, Ending, Settings};
use crate::outcome::{Limit, Outcome, Stuck};
use crate::rule::Rule;
use crate::text::{Span, line_column};
use crate::wsl::entry::EntryPoint;
use crate::wsl::execution::term::Value;
use crate::wsl::execution::{InDraw, Instance, Shared, Stop, Thread, call_of, step};
use crate::wsl::group::{Threads, take_turns};
use crate::wsl::memory::{Memory, Object, ObjectId, Words};
use crate::wsl::open::Opens;
use crate::wsl::syntax::AddressSpace;
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

/// A thread that is to run.
#[derive(Debug)]
pub(super) struct Start {
    /// Its number among all threads of the draw.
    pub(super) number: u32,
    /// Its arguments.
    pub(super) values: Vec<Value>,
    /// What it is.
    pub(super) stage: InDraw,
}

/// Threads that are to run together: a vertex, or the four threads of a quad in the order of lanes.
#[derive(Debug)]
pub(super) struct Starts {
    /// The group's number among all groups of its stage.
    pub(super) number: u32,
    /// The threads.
    pub(super) threads: Vec<Start>,
}

/// What each thread of each group left: the words of what it returned, none if it was discarded.
pub(super) type Left = Vec<Vec<Option<Words>>>;

/// What runs the threads of a draw.
pub(super) trait Engine<'a> {
    /// How the draw is run.
    fn settings(&self) -> &'a Settings;

    /// What is unspecified, and the rules that were applied.
    fn parts(&mut self) -> (&mut Opens, &mut FxHashSet<Rule>);

    /// Takes the cost of something from the fuel.
    ///
    /// # Errors
    /// There is not so much of it. The thread is the one that was to go on.
    fn spend(&mut self, work: u64, thread: u32) -> Result<(), Ending>;

    /// Runs threads of an entry point to their ends.
    ///
    /// # Errors
    /// How the draw ends where one of them neither returns nor is discarded.
    fn run(&mut self, shared: &Shared, entry: &EntryPoint, groups: Vec<Starts>) -> Result<Left, Ending>;

    /// Notes that a rule was applied.
    fn fire(&mut self, rule: Rule) {
        self.parts().1.insert(rule);
    }
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
    /// The group that threads are in: without variables, for the threads of a draw have none together.
    group: ObjectId,
}

impl<'a> Engine<'a> for World<'a> {
    fn settings(&self) -> &'a Settings {
        self.settings
    }

    fn parts(&mut self) -> (&mut Opens, &mut FxHashSet<Rule>) {
        (&mut self.opens, &mut self.fired)
    }

    fn spend(&mut self, work: u64, thread: u32) -> Result<(), Ending> {
        match self.fuel.checked_sub(work) {
            Some(left) => self.fuel = left,
            None => return Err(Ending::OutOfFuel(At { thread, at: self.last })),
        }
        Ok(())
    }

    fn run(&mut self, shared: &Shared, entry: &EntryPoint, groups: Vec<Starts>) -> Result<Left, Ending> {
        let mark = self.memory.objects.len();
        let mut running = Vec::with_capacity(groups.len());
        for Starts { number, threads } in groups {
            let begin = |start: Start| {
                let program = call_of(shared.program, entry.function, start.values);
                let mut thread = Thread::new(shared, &mut self.memory, start.number, self.group, program);
                thread.stage = Some(start.stage);
                (thread, State::Running)
            };
            running.push(Group { number, threads: threads.into_iter().map(begin).collect() });
        }
        take_turns(self.settings.schedule, &mut Stage { world: self, shared, groups: &mut running })?;
        // What threads had of their own is gone with them; nothing can point there.
        self.memory.objects.truncate(mark);
        let left = |(thread, state): &(Thread, State)| match state {
            State::Discarded => None,
            _ => Some(thread.value().map(|v| v.words).unwrap_or_default()),
        };
        Ok(running.iter().map(|group| group.threads.iter().map(left).collect()).collect())
    }
}

impl<'a> World<'a> {
    pub(super) fn new(text: &'a str, settings: &'a Settings, mut memory: Memory, opens: Opens) -> World<'a> {
        let (fired, apart) = (FxHashSet::default(), Vec::new());
        let name = "no threadgroup variables".into();
        let group = memory.push(Object { space: AddressSpace::Threadgroup, name, words: Vec::new() });
        World { text, settings, memory, opens, fuel: settings.fuel, steps: 0, fired, apart, last: Span::default(), group }
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
