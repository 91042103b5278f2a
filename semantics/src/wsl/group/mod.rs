//! Compute entry points over a grid: threads in groups, barriers by instance, schedules, races (seed 004 "Barriers and discard", "Fences and atomic operations",
//! "Built-in Variables").
//!
//! Memory is sequentially consistent: the steps of threads are interleaved as a [`Schedule`] says, and each load sees the last store. What races is found by
//! [`super::race`] and is unspecified, so for a program without atomics every schedule shows the same.

mod arguments;
mod schedule;

pub use arguments::{Buffer, Wrong};
pub(in crate::wsl) use arguments::{bound, offset};
pub use schedule::Schedule;

use super::choice::Strategy;
use super::entry::{EntryPoint, Stage};
use super::execution::{Instance, Planted, Shared, Stop, Thread, call_of, step};
use super::memory::{Memory, Object, ObjectId};
use super::open::{Opens, Possible, Ways, Word, explore};
use super::race::Race;
use super::syntax::AddressSpace;
use super::typing::program::Program;
use crate::number::Profile;
use crate::outcome::{Limit, Outcome, Stuck};
use crate::rule::Rule;
use crate::text::{Span, line_column};
use rustc_hash::FxHashSet;
use schedule::Turns;

/// The most threads of a dispatch that the relation runs.
pub const MAX_THREADS: u64 = 1 << 16;
/// How often a dispatch is run again because more loads are known to race.
const MAX_PASSES: usize = 16;

/// How a dispatch is run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How unspecified values are met.
    pub strategy: Strategy,
    /// Under which profile of precision floats are sets; without one they are the correctly rounded results.
    pub precision: Option<Profile>,
    /// In which order the threads take their steps.
    pub schedule: Schedule,
    /// The most steps of all threads together, in one way.
    pub fuel: u64,
    /// The most ways that are followed, through branches on unspecified values and schedules.
    pub ways: usize,
    /// Whether races are looked for. Without that, loads see the last store of the schedule.
    pub races: bool,
    /// Planted bugs.
    pub planted: Planted,
}

impl Default for Settings {
    fn default() -> Settings {
        let planted = Planted::default();
        Settings {
            strategy: Strategy::Carry,
            precision: None,
            schedule: Schedule::InOrder,
            fuel: 100_000_000,
            ways: 256,
            races: true,
            planted,
        }
    }
}

/// What a dispatch shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// What each word of each buffer may hold at the end, over all ways.
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
    /// The rules of the group that were applied.
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

/// How a dispatch ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// It ended.
    Shown(Box<Shown>),
    /// A barrier is not reached by every thread of a group: the seed has no rule for that.
    Diverged(Divergence),
    /// It ended otherwise: stuck, out of fuel (with the place where a thread stood), over a limit.
    Other(Outcome<()>),
}

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
    pub buffers: Vec<Buffer>,
}

/// What a thread is doing.
#[derive(Clone, Debug, PartialEq)]
enum State {
    Running,
    Waiting(Instance),
    Ended,
}

struct Group {
    threads: Vec<(Thread, State)>,
    /// The barriers passed whose fence is of threadgroup memory, and of device memory.
    epochs: (u32, u32),
}

/// A run of all threads, one way.
struct Run<'a, 'p> {
    shared: &'a Shared<'p>,
    memory: Memory,
    opens: Opens,
    groups: Vec<Group>,
    steps: u64,
    fired: FxHashSet<Rule>,
}

/// Why a run ended before all threads had.
enum Halt {
    Diverged(Divergence),
    Other(Outcome<()>),
}

impl Dispatch<'_> {
    /// Runs the dispatch along every way.
    pub fn run(&self, settings: &Settings) -> Ending {
        let threads = self.threads();
        if threads > MAX_THREADS {
            return Ending::Other(Outcome::Limit(Limit { what: "threads", bound: MAX_THREADS }));
        }
        let shared = match Shared::new(self.program, self.entry.function, settings.planted) {
            Ok(shared) => shared,
            Err(limit) => return Ending::Other(Outcome::Limit(limit)),
        };
        let bytes = threads * shared.thread_words as u64 * 16 + self.group_count() * shared.group_words as u64 * 16;
        if bytes > super::execution::MAX_STORES * 16 {
            return Ending::Other(Outcome::Limit(Limit { what: "bytes of variables of all threads", bound: super::execution::MAX_STORES }));
        }
        let mut shown =
            Shown { buffers: Vec::new(), races: Vec::new(), unspecified: false, complete: true, ways: 0, steps: 0, fired: Vec::new() };
        let mut halted = None;
        let mut fired = FxHashSet::default();
        shown.complete = explore(settings.ways, |ways| {
            if halted.is_some() {
                return ways;
            }
            match self.way(&shared, settings, ways) {
                Ok(run) => {
                    let buffers = run.buffers(self.buffers.len());
                    match shown.buffers.is_empty() {
                        true => shown.buffers = buffers,
                        false => {
                            for (all, more) in shown.buffers.iter_mut().flatten().zip(buffers.into_iter().flatten()) {
                                *all = std::mem::replace(all, Possible::Any).or(more);
                            }
                        }
                    }
                    shown.ways += 1;
                    shown.steps += run.steps;
                    shown.unspecified |= run.opens.met();
                    fired.extend(run.fired);
                    if let Some(races) = run.memory.races {
                        for race in races.found {
                            let pair = |r: &Race| (r.first.place.min(r.second.place), r.first.place.max(r.second.place));
                            let same = |r: &Race| pair(r) == pair(&race);
                            if !shown.races.iter().any(same) {
                                shown.races.push(race);
                            }
                        }
                    }
                    run.opens.ways
                }
                Err((halt, ways)) => {
                    halted = Some(halt);
                    ways
                }
            }
        });
        shown.fired = fired.into_iter().collect();
        shown.fired.sort_unstable();
        match halted {
            None => Ending::Shown(Box::new(shown)),
            Some(Halt::Diverged(divergence)) => Ending::Diverged(divergence),
            Some(Halt::Other(outcome)) => Ending::Other(outcome),
        }
    }

    fn size(&self) -> [u32; 3] {
        match self.entry.stage {
            Stage::Compute(size) => size,
            Stage::Vertex | Stage::Fragment => [1; 3],
        }
    }

    fn group_count(&self) -> u64 {
        self.groups.iter().fold(1u64, |n, &g| n.saturating_mul(u64::from(g)))
    }

    fn threads(&self) -> u64 {
        self.size().iter().fold(self.group_count(), |n, &g| n.saturating_mul(u64::from(g)))
    }

    /// One way, run again until no more loads are known to race.
    fn way<'a>(&'a self, shared: &'a Shared<'a>, settings: &Settings, ways: Ways) -> Result<Run<'a, 'a>, (Halt, Ways)> {
        let mut known = FxHashSet::default();
        for _ in 0..MAX_PASSES {
            let mut run = self.begin(shared, settings, ways.clone());
            if let Some(races) = &mut run.memory.races {
                races.known.clone_from(&known);
            }
            if let Err(halt) = run.all(self, settings) {
                return Err((halt, run.opens.ways));
            }
            match &run.memory.races {
                Some(races) if races.known != known => known.clone_from(&races.known),
                _ => return Ok(run),
            }
        }
        let limit = Limit { what: "runs to find the loads that race", bound: MAX_PASSES as u64 };
        Err((Halt::Other(Outcome::Limit(limit)), ways))
    }

    fn begin<'a>(&'a self, shared: &'a Shared<'a>, settings: &Settings, ways: Ways) -> Run<'a, 'a> {
        let mut memory = Memory::default();
        for buffer in &self.buffers {
            let words = buffer.words.iter().map(|&w| Word::Bits(w)).collect();
            memory.push(Object { space: buffer.space, name: buffer.name.clone(), words });
        }
        let size = self.size();
        let mut groups = Vec::new();
        let mut number = 0;
        for at in places(self.groups) {
            let words = vec![Word::Bits(0); shared.group_words];
            let object = memory.push(Object { space: AddressSpace::Threadgroup, name: "threadgroup variables".into(), words });
            let mut threads = Vec::new();
            for (index, inside) in places(size).enumerate() {
                let arguments = self.arguments(shared, at, inside, index as u32);
                let program = call_of(self.program, self.entry.function, arguments);
                threads.push((Thread::new(shared, &mut memory, number, object, program), State::Running));
                number += 1;
            }
            groups.push(Group { threads, epochs: (0, 0) });
        }
        if settings.races {
            memory.races = Some(Box::default());
        }
        let mut opens = Opens::new(settings.strategy, ways);
        opens.precision = settings.precision;
        Run { shared, memory, opens, groups, steps: 0, fired: FxHashSet::default() }
    }

    fn place(&self, span: Span) -> String {
        let (line, column) = line_column(self.text, span.start);
        format!("{line}:{column}")
    }
}

/// The places of a box, x fastest.
fn places(size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..size[2]).flat_map(move |z| (0..size[1]).flat_map(move |y| (0..size[0]).map(move |x| [x, y, z])))
}

impl Run<'_, '_> {
    fn buffers(&self, count: usize) -> Vec<Vec<Possible>> {
        let object = |k: usize| self.memory.object(ObjectId(k as u32));
        (0..count).map(|k| object(k).words.iter().map(|&w| self.opens.possible(w)).collect()).collect()
    }

    /// Steps until every thread has ended.
    fn all(&mut self, dispatch: &Dispatch, settings: &Settings) -> Result<(), Halt> {
        let mut turns = Turns::new(settings.schedule);
        loop {
            for g in 0..self.groups.len() {
                self.meet(g)?;
            }
            let running: Vec<(usize, usize)> = self.running();
            if running.is_empty() {
                return Ok(());
            }
            let (g, t) = running[turns.next(&running, &mut self.opens.ways)];
            self.turn(dispatch, settings, &turns, g, t)?;
        }
    }

    fn running(&self) -> Vec<(usize, usize)> {
        let of = |(g, group): (usize, &Group)| {
            let running = group.threads.iter().enumerate().filter(|(_, t)| t.1 == State::Running);
            running.map(move |(t, _)| (g, t)).collect::<Vec<_>>()
        };
        self.groups.iter().enumerate().flat_map(of).collect()
    }

    /// Steps a thread until its turn is over.
    fn turn(&mut self, dispatch: &Dispatch, settings: &Settings, turns: &Turns, g: usize, t: usize) -> Result<(), Halt> {
        loop {
            let group = &mut self.groups[g];
            let (thread, state) = &mut group.threads[t];
            if thread.value().is_some() {
                *state = State::Ended;
                return Ok(());
            }
            if self.steps == settings.fuel {
                return Err(Halt::Other(Outcome::OutOfFuel));
            }
            self.steps += 1;
            if let Some(races) = &mut self.memory.races {
                (races.thread, races.group, races.epochs) = (thread.number, g as u32, group.epochs);
            }
            match step(self.shared, &mut self.memory, &mut self.opens, thread) {
                Ok(step) => {
                    self.fired.insert(Rule::WslGThread);
                    if turns.ends_after(&step, &self.memory) {
                        return Ok(());
                    }
                }
                Err((Stop::Barrier, instance)) => {
                    *state = State::Waiting(instance);
                    return Ok(());
                }
                Err((Stop::Discarded(_), _)) => {
                    *state = State::Ended;
                    return Ok(());
                }
                Err((Stop::Stuck(why, span), _)) => {
                    return Err(Halt::Other(Outcome::Stuck(Stuck { why, at: dispatch.place(span) })));
                }
                Err((Stop::Limit(limit), _)) => return Err(Halt::Other(Outcome::Limit(limit))),
                Err((Stop::Unsupported(what, span), _)) => {
                    return Err(Halt::Other(Outcome::Unsupported(format!("{what} (at {})", dispatch.place(span)))));
                }
                // No thread of a dispatch is in a quad.
                Err((Stop::Quad(_), _)) => return Err(Halt::Other(Outcome::Deadlock)),
            }
        }
    }

    /// What a group does together once none of its threads runs.
    fn meet(&mut self, g: usize) -> Result<(), Halt> {
        let group = &self.groups[g];
        if group.threads.iter().any(|t| t.1 == State::Running) || group.threads.iter().all(|t| t.1 == State::Ended) {
            return Ok(());
        }
        match diverged(self.shared.program, group) {
            Some(divergence) => Err(Halt::Diverged(divergence)),
            None => {
                g_barrier(self, g);
                self.fired.insert(Rule::WslGBarrier);
                Ok(())
            }
        }
    }
}

/// A thread that waits and one that does not wait at the same instance of the same barrier.
fn diverged(program: &Program, group: &Group) -> Option<Divergence> {
    let waiting = group.threads.iter().find_map(|(thread, state)| match state {
        State::Waiting(instance) => Some((thread.number, instance)),
        _ => None,
    });
    let (waiting, instance) = waiting?;
    let place = |instance: &Instance| instance.barrier.map_or(Span::default(), |e| program.expr(e).span);
    group.threads.iter().find_map(|(thread, state)| match state {
        State::Waiting(other) if other == instance => None,
        State::Waiting(other) => Some(Divergence { waiting, barrier: place(instance), other: thread.number, at: Some(place(other)) }),
        _ => Some(Divergence { waiting, barrier: place(instance), other: thread.number, at: None }),
    })
}

/// t → t' gives G → G', t a thread of G                                        [wsl/g-thread, 004 Definitions]
///
/// The schedule says which thread; `turn` applies it.
pub fn g_thread() {}

/// All threads of a group at the same instance of the same barrier go on       [wsl/g-barrier, 004 Barriers and discard; WSL-D12]
fn g_barrier(run: &mut Run, g: usize) {
    use super::library::Meaning;
    let program = run.shared.program;
    let group = &mut run.groups[g];
    let barrier = group.threads.iter().find_map(|(_, state)| match state {
        State::Waiting(instance) => instance.barrier,
        _ => None,
    });
    let meaning = barrier.and_then(|e| match &program.expr(e).form {
        super::typing::program::Form::Call(super::environment::access::Callee::Library(f), _) => Some(f.meaning()),
        _ => None,
    });
    if meaning != Some(Meaning::DeviceMemoryBarrierWithGroupSync) {
        group.epochs.0 += 1;
    }
    if meaning != Some(Meaning::GroupMemoryBarrierWithGroupSync) {
        group.epochs.1 += 1;
    }
    for (thread, state) in &mut group.threads {
        thread.released = true;
        *state = State::Running;
    }
}
