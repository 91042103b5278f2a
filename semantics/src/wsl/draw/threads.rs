//! Steps of the threads of a draw: vertices alone, fragments in quads.

use super::quad::{self, UnmetOperation};
use super::{Ending, Rules};
use crate::concurrency::turns::{self, Threads, Turns};
use crate::concurrency::{Agent, Begin, Topology};
use crate::interleavings::{Footprint, Turn};
use crate::outcome::{Limit, Outcome, Stuck, TimeLimit};
use crate::rule::Rule;
use crate::text::{Span, line_column};
use crate::wsl::entry::EntryPoint;
use crate::wsl::execution::term::Value;
use crate::wsl::execution::{InDraw, Instance, Shared, Stop, Thread, call_of, step};
use crate::wsl::group::OnStep;
use crate::wsl::memory::{Memory, Object, ObjectId, Words};
use crate::wsl::open::OpenTerms;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::{At, Settings};

/// The state of a thread.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It can step.
    Running,
    /// It stands at an operation over its quad, with that operand.
    AtQuad(Instance, Words),
    /// Its entry point has returned.
    Ended,
    /// It was discarded.
    Discarded,
}

impl State {
    /// What the thread can do, for the driver of turns.
    fn turn(&self) -> Turn {
        match self {
            State::Running => Turn::Ready(Footprint::Everything),
            State::AtQuad(..) => Turn::Waiting,
            State::Ended | State::Discarded => Turn::Ended,
        }
    }
}

/// A vertex, or the four threads of a quad in the order of lanes.
#[derive(Debug)]
pub struct Group {
    /// Its number among all groups of its stage.
    pub number: u32,
    /// The threads.
    pub threads: Vec<(Thread, State)>,
}

/// A thread to be started.
#[derive(Debug)]
pub(super) struct Start {
    /// Its number among all threads of the draw.
    pub(super) number: u32,
    /// Its arguments.
    pub(super) values: Vec<Value>,
    /// Its part in the draw.
    pub(super) stage: InDraw,
}

/// Threads to be started together: a vertex, or the four threads of a quad in the order of lanes.
#[derive(Debug)]
pub(super) struct Starts {
    /// The group's number among all groups of its stage.
    pub(super) number: u32,
    /// The threads.
    pub(super) threads: Vec<Start>,
}

/// The results of all threads, by group and thread: the returned words, or `None` if the thread
/// was discarded.
pub(super) type ThreadResults = Vec<Vec<Option<Words>>>;

/// The rules that were applied.
#[derive(Clone, Debug)]
pub(super) struct Fired(Vec<bool>);

impl Default for Fired {
    fn default() -> Fired {
        Fired(vec![false; Rule::ALL.len()])
    }
}

impl Fired {
    pub(super) fn insert(&mut self, rule: Rule) {
        self.0[rule as usize] = true;
    }

    /// The rules, in the order of the registry.
    pub(super) fn rules(&self) -> impl Iterator<Item = Rule> + '_ {
        Rule::ALL.iter().copied().filter(|&rule| self.0[rule as usize])
    }
}

/// The data of a draw that every engine has.
#[derive(Debug)]
pub struct Common<'a> {
    pub(super) text: &'a str,
    /// The settings of the draw.
    pub(super) settings: &'a Settings,
    /// The rules.
    pub(super) rules: Rules,
    /// What is unspecified.
    pub opens: OpenTerms,
    /// The rules that were applied.
    pub(super) fired: Fired,
    /// The fuel that is left, for the work of threads and for places that rasterisation visits.
    pub(super) fuel: u64,
    /// The operations over quads that not all threads of a quad reached.
    pub apart: Vec<UnmetOperation>,
    /// Whether a triangle may be in several places.
    pub(super) moved: bool,
    /// The place of the last step.
    last: Span,
}

impl<'a> Common<'a> {
    pub(super) fn new(text: &'a str, settings: &'a Settings, opens: OpenTerms, fuel: u64) -> Common<'a> {
        let rules = Rules::with(settings.planted);
        Common { text, settings, rules, opens, fired: Fired::default(), fuel, apart: Vec::new(), moved: false, last: Span::default() }
    }

    /// Subtracts the cost of some work from the fuel.
    ///
    /// # Errors
    /// If there is not enough fuel, or no time is left. `thread` is the thread that had to go on.
    pub(super) fn spend(&mut self, work: u64, thread: u32) -> Result<(), Ending> {
        let Some(left) = self.fuel.checked_sub(work).filter(|&left| left >= self.opens.steps_of_work()) else {
            return Err(Ending::OutOfFuel(At { thread, at: self.last }));
        };
        let passed = TimeLimit::passed_between(self.settings.time, self.fuel, left);
        self.fuel = left;
        passed.map_or(Ok(()), |limit| Err(Ending::Other(Outcome::Limit(limit))))
    }

    /// A place in the program, as line and column.
    pub(super) fn place(&self, span: Span) -> String {
        let (line, column) = line_column(self.text, span.start);
        format!("{line}:{column}")
    }
}

/// An engine that runs the threads of a draw.
pub(super) trait Engine<'a> {
    /// The data that every engine has.
    fn common(&mut self) -> &mut Common<'a>;

    /// Runs threads of an entry point to their ends.
    ///
    /// # Errors
    /// The ending of the draw, if one of the threads neither returns nor is discarded.
    fn run(&mut self, shared: &Shared, entry: &EntryPoint, groups: Vec<Starts>) -> Result<ThreadResults, Ending>;
}

/// The function to call for each step, if there is one.
#[derive(Default)]
pub(super) struct Listener<'a>(pub(super) Option<OnStep<'a>>);

impl std::fmt::Debug for Listener<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Listener").field(&self.0.is_some()).finish()
    }
}

/// The threads of a draw, run by the relation.
#[derive(Debug)]
pub struct World<'a> {
    /// The data that every engine has.
    pub common: Common<'a>,
    /// Memory.
    pub memory: Memory,
    pub(super) steps: u64,
    pub(super) on: Listener<'a>,
    /// Whether helpers need not run, because nothing can observe them: no thread reaches an
    /// operation over its quad, none stores, and no listener watches.
    pub(super) helpers_idle: bool,
    /// The group of all threads. It has no variables, because the threads of a draw share none.
    group: ObjectId,
}

impl<'a> Engine<'a> for World<'a> {
    fn common(&mut self) -> &mut Common<'a> {
        &mut self.common
    }

    fn run(&mut self, shared: &Shared, entry: &EntryPoint, groups: Vec<Starts>) -> Result<ThreadResults, Ending> {
        let mark = self.memory.objects.len();
        let mut running = Vec::with_capacity(groups.len());
        for Starts { number, threads } in groups {
            let begin = |start: Start| {
                let program = call_of(shared.program, entry.function, start.values);
                let mut thread = Thread::new(shared, &mut self.memory, start.number, self.group, program);
                // A helper that may be a fragment on another device runs, to show what the fragment
                // may do.
                let idles = self.helpers_idle && start.stage.helper && !start.stage.doubtful;
                thread.stage = Some(start.stage);
                (thread, if idles { State::Ended } else { State::Running })
            };
            running.push(Group { number, threads: threads.into_iter().map(begin).collect() });
        }
        // All groups of a stage have the same number of threads.
        let each = running.first().map_or(1, |group| group.threads.len()) as u32;
        let topology = Topology::new(running.len() as u32, each, each).map_err(|limit| Ending::Other(Outcome::Limit(limit)))?;
        let Some(schedule) = &self.common.settings.schedule else {
            return Err(Ending::Other(Outcome::Unsupported("a draw in every order of its threads".into())));
        };
        let mut stage = Stage { world: self, shared, groups: &mut running, topology, turns: Turns::default(), ending: None };
        turns::run(&mut stage, schedule, &mut ()).map_err(|invalid| Ending::Other(Outcome::Unsupported(invalid.what)))?;
        stage.ending.map_or(Ok(()), Err)?;
        // The objects of the threads are dropped. Nothing can point to them any more.
        self.memory.objects.truncate(mark);
        let left = |(thread, state): &(Thread, State)| match state {
            State::Discarded => None,
            _ => Some(thread.value().map(|v| v.words).unwrap_or_default()),
        };
        Ok(running.iter().map(|group| group.threads.iter().map(left).collect()).collect())
    }
}

impl<'a> World<'a> {
    pub(super) fn new(common: Common<'a>, mut memory: Memory) -> World<'a> {
        let name = "no threadgroup variables".into();
        let group = memory.push(Object { space: AddressSpace::Threadgroup, name, words: Vec::new() });
        World { common, memory, steps: 0, on: Listener::default(), helpers_idle: false, group }
    }

    /// Makes a step of a running thread.
    fn step(&mut self, shared: &Shared, group: &mut Group, t: usize) -> Result<(), Ending> {
        let (thread, state) = &mut group.threads[t];
        if thread.has_ended() {
            *state = State::Ended;
            return Ok(());
        }
        self.common.spend(1, thread.number)?;
        self.steps += 1;
        if let Some(races) = &mut self.memory.races {
            races.agent = Agent { workgroup: thread.number, local: 0 };
        }
        let other = |outcome| Err(Ending::Other(outcome));
        match step(shared, &mut self.memory, &mut self.common.opens, thread) {
            Ok(step) => {
                self.common.fired.insert(step.rule);
                step.within.iter().for_each(|&rule| self.common.fired.insert(rule));
                self.common.fired.insert(Rule::WslGThread);
                self.common.last = step.at;
                if let Some(watch) = self.common.settings.watch {
                    watch(shared, &self.memory, thread);
                }
                if let Some(on) = &mut self.on.0 {
                    on(thread, &step);
                }
            }
            Err((Stop::Quad(operand), instance)) => *state = State::AtQuad(instance, operand),
            Err((Stop::Discarded(step), _)) => {
                self.common.fired.insert(step.rule);
                if let Some(on) = &mut self.on.0 {
                    on(thread, &step);
                }
                *state = State::Discarded;
            }
            Err((Stop::Stuck(why, span), _)) => return other(Outcome::Stuck(Stuck { why, at: self.common.place(span) })),
            Err((Stop::Limit(limit), _)) => return other(Outcome::Limit(limit)),
            Err((Stop::Unsupported(what, span), _)) => {
                return other(Outcome::Unsupported(format!("{what} (at {})", self.common.place(span))));
            }
            // Barriers occur only in compute shaders.
            Err(_) => return other(Outcome::Deadlock),
        }
        Ok(())
    }

    /// Lets a quad meet once none of its threads can step.
    fn meet(&mut self, shared: &Shared, group: &mut Group) {
        let (rule, goes_on) = match quad::together(shared.program, group) {
            Some(_) => (Rule::WslGQuad, self.common.rules.quad),
            None => (Rule::WslGQuadApart, self.common.rules.quad_apart),
        };
        goes_on(self, shared.program, group);
        self.common.fired.insert(rule);
    }
}

/// The threads of a stage. A turn is a step.
struct Stage<'s, 'w, 'p> {
    world: &'s mut World<'w>,
    shared: &'s Shared<'p>,
    groups: &'s mut [Group],
    topology: Topology,
    turns: Turns,
    ending: Option<Ending>,
}

impl Threads for Stage<'_, '_, '_> {
    fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }

    fn topology(&self) -> Topology {
        self.topology
    }

    fn state(&self, thread: u32) -> Turn {
        let Agent { workgroup, local } = self.topology.agent(thread);
        self.groups[workgroup as usize].threads[local as usize].1.turn()
    }

    fn act(&mut self, thread: u32, (): &mut ()) -> Turn {
        let Agent { workgroup, local } = self.topology.agent(thread);
        let group = &mut self.groups[workgroup as usize];
        if let Err(ending) = self.world.step(self.shared, group, local as usize) {
            self.ending = Some(ending);
        }
        group.threads[local as usize].1.turn()
    }

    fn meet(&mut self, group: u32, (): &mut ()) {
        self.world.meet(self.shared, &mut self.groups[group as usize]);
    }

    fn begin(&mut self, group: u32, _: u32) -> Begin {
        if (group as usize) < self.groups.len() { Begin::Begins } else { Begin::NoMore }
    }

    fn is_over(&self) -> bool {
        self.ending.is_some()
    }
}

/// A limit that was exceeded.
pub(super) fn limit(what: &'static str, bound: u64) -> Ending {
    Ending::Other(Outcome::Limit(Limit { what, bound }))
}
