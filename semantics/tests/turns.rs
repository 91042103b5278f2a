//! The driver of threads against a second driver. Both run random programs of reads, writes,
//! additions, barriers and meetings of some threads, in groups of which few run at a time. The
//! second driver keeps no record of who can step, but works it out anew at every step. Both log all
//! actions in order. Planted bugs in the second driver must be found.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use smallstep_semantics::concurrency::turns::{run, take};
use smallstep_semantics::concurrency::{Arrival, Begin, Schedule, Threads, Topology, Turns, Wait, arrival};
use smallstep_semantics::interleavings::{Budget, Explored, Footprint, Stepped, Turn, explore};
use smallstep_semantics::random::Random;

/// An action of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Read(u32),
    Write(u32),
    Add(u32),
    /// An action that other threads do not see.
    Local,
    /// Waits for its group, at the barrier of that number.
    Barrier(u32),
    /// Waits for other threads of its group. A meeting releases the threads with the least number.
    Some(u32),
    /// As `Some`, within the thread's part of the group: two neighbours.
    Part(u32),
}

/// The actions of each thread, by group and thread.
type Program = Vec<Vec<Vec<Act>>>;

/// An entry of the log: a thread and the number of its action, a group that begins or ends, or a
/// waiting thread and another one that make their group diverge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Did {
    Act(usize, usize),
    Begins(usize),
    Ends(usize),
    Diverges(usize, usize),
}

/// The state of a program. Both drivers run it.
#[derive(Clone, Debug)]
struct Language<'p> {
    program: &'p Program,
    size: usize,
    /// By thread: the number of its actions that are done.
    at: Vec<usize>,
    memory: [u32; 2],
    /// By thread: the values that it has read.
    seen: Vec<Vec<u32>>,
    did: Vec<Did>,
    over: bool,
}

/// How a run ends: whether it diverges, memory, and the values that each thread has read.
type Ending = (bool, [u32; 2], Vec<Vec<u32>>);

impl<'p> Language<'p> {
    fn new(program: &'p Program) -> Language<'p> {
        let size = program[0].len();
        let all = size * program.len();
        Language { program, size, at: vec![0; all], memory: [0; 2], seen: vec![Vec::new(); all], did: Vec::new(), over: false }
    }

    fn next(&self, thread: usize) -> Option<Act> {
        self.program[thread / self.size][thread % self.size].get(self.at[thread]).copied()
    }

    fn act(&mut self, thread: usize) {
        match self.next(thread) {
            Some(Act::Read(v)) => self.seen[thread].push(self.memory[v as usize]),
            Some(Act::Write(v)) => self.memory[v as usize] = 100 + 10 * thread as u32 + self.at[thread] as u32,
            Some(Act::Add(v)) => {
                self.seen[thread].push(self.memory[v as usize]);
                self.memory[v as usize] += 1;
            }
            _ => {}
        }
        self.did.push(Did::Act(thread, self.at[thread]));
        self.at[thread] += 1;
    }

    fn settle(&mut self, thread: usize) {
        while self.next(thread) == Some(Act::Local) {
            self.act(thread);
        }
    }

    /// The threads of a part that wait for the part with the least number.
    fn least_of(&self, members: std::ops::Range<usize>) -> Vec<usize> {
        let at = |t: usize| if let Some(Act::Part(k)) = self.next(t) { Some(k) } else { None };
        let least = members.clone().filter_map(at).min();
        members.filter(|&t| least.is_some() && at(t) == least).collect()
    }

    fn ending(&self) -> Ending {
        (self.over, self.memory, self.seen.clone())
    }
}

/// The threads of the part that a thread belongs to, in groups of that size.
fn part_of(thread: usize, size: usize) -> std::ops::Range<usize> {
    let (group, local) = (thread / size, thread % size);
    let first = group * size + local / 2 * 2;
    first..(first + 2).min(group * size + size)
}

/// The language under the driver that is tested.
#[derive(Clone, Debug)]
struct Driven<'p> {
    language: Language<'p>,
    turns: Turns,
    /// By thread: whether it has left a meeting and not gone on yet.
    left: Vec<bool>,
    /// The most groups that run at a time.
    room: u32,
}

impl Threads for Driven<'_> {
    fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }

    fn topology(&self) -> Topology {
        Topology::new(self.language.program.len() as u32, self.language.size as u32, 1).unwrap()
    }

    fn state(&self, thread: u32) -> Turn {
        let memory = |v: u32, writes| Turn::Ready(Footprint::Memory { object: v, offset: 0, bytes: 1, writes });
        match self.language.next(thread as usize) {
            _ if self.left[thread as usize] => Turn::Ready(Footprint::Local),
            Some(Act::Read(v)) => memory(v, false),
            Some(Act::Write(v) | Act::Add(v)) => memory(v, true),
            Some(Act::Local) => Turn::Ready(Footprint::Local),
            Some(Act::Barrier(_) | Act::Some(_) | Act::Part(_)) => Turn::Waiting,
            None => Turn::Ended,
        }
    }

    fn act(&mut self, thread: u32, (): &mut ()) -> Turn {
        self.language.act(thread as usize);
        self.settle(thread, &mut ())
    }

    fn settle(&mut self, thread: u32, (): &mut ()) -> Turn {
        self.left[thread as usize] = false;
        self.language.settle(thread as usize);
        self.state(thread)
    }

    fn part(&self, thread: u32) -> std::ops::Range<u32> {
        let part = part_of(thread as usize, self.language.size);
        part.start as u32..part.end as u32
    }

    fn meet_in_part(&mut self, thread: u32, (): &mut ()) -> Vec<u32> {
        let members = part_of(thread as usize, self.language.size);
        if members.clone().any(|t| matches!(self.state(t as u32), Turn::Ready(_))) {
            return Vec::new();
        }
        let on = self.language.least_of(members);
        for &t in &on {
            self.language.act(t);
            self.left[t] = true;
        }
        on.into_iter().map(|t| t as u32).collect()
    }

    fn meet(&mut self, group: u32, (): &mut ()) {
        let Driven { language, left, .. } = self;
        let members: Vec<usize> = (0..language.size).map(|t| group as usize * language.size + t).collect();
        let some = |language: &Language, t: usize| if let Some(Act::Some(k)) = language.next(t) { Some(k) } else { None };
        if let Some(least) = members.iter().filter_map(|&t| some(language, t)).min() {
            for &t in &members {
                if some(language, t) == Some(least) {
                    language.act(t);
                    left[t] = true;
                }
            }
            return;
        }
        let waits: Vec<Wait<u32>> = members
            .iter()
            .map(|&t| match language.next(t) {
                Some(Act::Barrier(k)) => Wait::Barrier(k),
                None => Wait::Ended,
                Some(_) => Wait::Ready,
            })
            .collect();
        match arrival(&waits) {
            Arrival::Complete => members.iter().for_each(|&t| {
                language.act(t);
                left[t] = true;
            }),
            Arrival::Divergent { waiting, other } => {
                language.did.push(Did::Diverges(members[waiting], members[other]));
                language.over = true;
            }
            Arrival::Open => panic!("a group meets of which a thread can step, or none waits"),
        }
    }

    fn begin(&mut self, group: u32, running: u32) -> Begin {
        if group as usize == self.language.program.len() {
            return Begin::NoMore;
        }
        if running >= self.room {
            return Begin::NotYet;
        }
        self.language.did.push(Did::Begins(group as usize));
        Begin::Begins
    }

    fn end(&mut self, group: u32) {
        self.language.did.push(Did::Ends(group as usize));
    }

    fn is_over(&self) -> bool {
        self.language.over
    }
}

impl Explored for Driven<'_> {
    fn invocations(&self) -> usize {
        self.language.at.len()
    }

    fn turn(&self, thread: usize) -> Turn {
        if self.language.over { Turn::Ended } else { self.state(thread as u32) }
    }

    fn step(&mut self, thread: usize) -> Stepped {
        let released = take(self, thread as u32, &mut ());
        Stepped { released: released.into_iter().map(|thread| thread as usize).collect(), stop: self.language.over }
    }
}

impl<'p> Driven<'p> {
    fn new(program: &'p Program, room: u32) -> Driven<'p> {
        let language = Language::new(program);
        Driven { left: vec![false; language.at.len()], language, turns: Turns::default(), room }
    }
}

/// A planted bug of the second driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// A group meets although one of its threads can step.
    MeetsEarly,
    /// Barriers do not wait for threads that have ended.
    ForgetsTheEnded,
    /// Groups wait for each other's threads.
    OneGroup,
    /// The threads that leave a meeting go on in reverse order.
    OtherOrder,
    /// The actions that a thread does by itself after a meeting wait for its next turn.
    NoSettling,
    /// A group does not meet again, although none of its threads can step after a meeting.
    MeetsOnce,
    /// A meeting of some threads releases all of them, not only those with the least number.
    AllOfSome,
    /// A part meets only if no thread of its group can step.
    PartsWait,
    /// A part meets although one of its threads can step.
    PartsMeetEarly,
    /// One group more than allowed runs at a time.
    MoreRoom,
    /// A group begins only when all others have ended.
    NoRoom,
    /// Round-robin begins again at the thread that had the last turn.
    Stays,
    /// The schedule in order is round-robin.
    Fair,
    /// The random schedule skips its first draw.
    Late,
    /// The random schedule never draws the last of the threads that can step.
    NeverLast,
}

const BUGS: [Bug; 15] = [
    Bug::MeetsEarly,
    Bug::ForgetsTheEnded,
    Bug::OneGroup,
    Bug::OtherOrder,
    Bug::NoSettling,
    Bug::MeetsOnce,
    Bug::AllOfSome,
    Bug::PartsWait,
    Bug::PartsMeetEarly,
    Bug::MoreRoom,
    Bug::NoRoom,
    Bug::Stays,
    Bug::Fair,
    Bug::Late,
    Bug::NeverLast,
];

/// The second driver. It works out who can step anew at every step.
#[derive(Clone, Debug)]
struct NaiveDriver<'p> {
    language: Language<'p>,
    begun: usize,
    ended: Vec<bool>,
    room: usize,
    bug: Bug,
}

impl<'p> NaiveDriver<'p> {
    fn new(program: &'p Program, room: usize, bug: Bug) -> NaiveDriver<'p> {
        let mut second = NaiveDriver { language: Language::new(program), begun: 0, ended: vec![false; program.len()], room, bug };
        second.admit();
        second
    }

    fn members(&self, group: usize) -> Vec<usize> {
        let size = self.language.size;
        (group * size..group * size + size).collect()
    }

    /// The threads that can step, in order.
    fn able(&self) -> Vec<usize> {
        let begun = 0..self.begun * self.language.size;
        begun
            .filter(|&t| {
                !self.language.over && matches!(self.language.next(t), Some(Act::Read(_) | Act::Write(_) | Act::Add(_) | Act::Local))
            })
            .collect()
    }

    fn admit(&mut self) {
        let running = |s: &NaiveDriver| (0..s.begun).filter(|&g| !s.ended[g]).count();
        let room = match self.bug {
            Bug::MoreRoom => self.room + 1,
            Bug::NoRoom => 1,
            _ => self.room,
        };
        while !self.language.over && self.begun < self.ended.len() && running(self) < room {
            let group = self.begun;
            self.begun += 1;
            self.language.did.push(Did::Begins(group));
            self.members(group).into_iter().for_each(|t| self.language.settle(t));
            self.parts(&self.members(group));
            self.meetings(group);
        }
    }

    fn meetings(&mut self, group: usize) {
        let members = self.members(group);
        let mut met = 0;
        while !self.language.over && !self.ended[group] {
            let able = self.able().into_iter().filter(|t| members.contains(t) || self.bug == Bug::OneGroup).count();
            if able > usize::from(self.bug == Bug::MeetsEarly) || self.bug == Bug::MeetsOnce && met > 0 {
                return;
            }
            if members.iter().all(|&t| self.language.next(t).is_none()) {
                self.ended[group] = true;
                self.language.did.push(Did::Ends(group));
                return;
            }
            met += 1;
            if !self.meet(&members) {
                return;
            }
        }
    }

    /// Lets the parts of these threads meet, from the last thread to the first, each part as often
    /// as it can.
    fn parts(&mut self, of: &[usize]) {
        for &thread in of.iter().rev() {
            let part = part_of(thread, self.language.size);
            loop {
                let of_part = |t: &usize| part.contains(t);
                let of_group = |t: &usize| t / self.language.size == thread / self.language.size;
                let able = self.able();
                let waits = match self.bug {
                    Bug::PartsWait => able.iter().any(of_group),
                    Bug::PartsMeetEarly => false,
                    _ => able.iter().any(of_part),
                };
                let on = if waits || self.language.over { Vec::new() } else { self.language.least_of(part.clone()) };
                if on.is_empty() {
                    break;
                }
                on.iter().for_each(|&t| self.language.act(t));
                on.iter().for_each(|&t| self.language.settle(t));
            }
        }
    }

    /// Lets a group meet. Returns whether threads go on.
    fn meet(&mut self, members: &[usize]) -> bool {
        let next = |s: &NaiveDriver, t: usize| s.language.next(t);
        let some: Vec<u32> = members.iter().filter_map(|&t| if let Some(Act::Some(k)) = next(self, t) { Some(k) } else { None }).collect();
        let mut go: Vec<usize> = match some.iter().min() {
            Some(least) if self.bug != Bug::AllOfSome => {
                members.iter().copied().filter(|&t| next(self, t) == Some(Act::Some(*least))).collect()
            }
            Some(_) => members.iter().copied().filter(|&t| matches!(next(self, t), Some(Act::Some(_)))).collect(),
            None => {
                let barrier = |t: usize| matches!(next(self, t), Some(Act::Barrier(_)));
                let Some(&waiting) = members.iter().find(|&&t| barrier(t)) else { return false };
                let counts = |t: usize| self.bug != Bug::ForgetsTheEnded || next(self, t).is_some();
                let other = members.iter().copied().find(|&t| counts(t) && next(self, t) != next(self, waiting));
                if let Some(other) = other {
                    self.language.did.push(Did::Diverges(waiting, other));
                    self.language.over = true;
                    return false;
                }
                members.iter().copied().filter(|&t| barrier(t)).collect()
            }
        };
        go.iter().for_each(|&t| self.language.act(t));
        if self.bug == Bug::OtherOrder {
            go.reverse();
        }
        if self.bug != Bug::NoSettling {
            go.iter().for_each(|&t| self.language.settle(t));
        }
        if self.bug != Bug::PartsWait {
            self.parts(&go);
        }
        true
    }

    fn turn(&mut self, thread: usize) {
        self.language.act(thread);
        self.language.settle(thread);
        self.parts(&[thread]);
        self.meetings(thread / self.language.size);
        self.admit();
    }

    fn run(&mut self, schedule: &Schedule) {
        let (mut last, mut left, mut turns) = (None, 0, 0u64);
        let seed = if let Schedule::Random { seed } = *schedule { seed } else { 0 };
        let mut random = Random::new(seed);
        if self.bug == Bug::Late {
            random.bits();
        }
        loop {
            let able = self.able();
            if able.is_empty() || turns > 1000 {
                return;
            }
            turns += 1;
            let after = |last: Option<usize>| able.iter().copied().find(|&t| last.is_none_or(|last| t > last)).unwrap_or(able[0]);
            let thread = match *schedule {
                Schedule::InOrder if self.bug != Bug::Fair => able[0],
                Schedule::InOrder => after(last),
                Schedule::RoundRobin { .. } if left > 0 && last.is_some_and(|last| able.contains(&last)) => {
                    left -= 1;
                    last.unwrap_or(0)
                }
                Schedule::RoundRobin { quantum } => {
                    left = quantum - 1;
                    let last = if self.bug == Bug::Stays { last.map(|last| last.saturating_sub(1)) } else { last };
                    after(last)
                }
                _ => {
                    let among = if self.bug == Bug::NeverLast { (able.len() - 1).max(1) } else { able.len() };
                    able[((u128::from(random.bits()) * among as u128) >> 64) as usize]
                }
            };
            last = Some(thread);
            self.turn(thread);
        }
    }

    /// Collects the endings of all orders of turns, and counts the orders.
    fn all(&self, into: &mut BTreeSet<Ending>, orders: &mut u64) {
        let able = self.able();
        if able.is_empty() {
            into.insert(self.language.ending());
            *orders += 1;
        }
        for thread in able {
            let mut next = self.clone();
            next.turn(thread);
            next.all(into, orders);
        }
    }
}

/// A random program. Most threads of a group come to the same barriers.
fn program(seed: u64, small: bool) -> Program {
    let mut random = Random::new(seed);
    let mut below = |n: u64| ((u128::from(random.bits()) * u128::from(n)) >> 64) as u32;
    let (groups, size) = if small { (1 + below(2), 1 + below(2)) } else { (1 + below(4), 1 + below(4)) };
    let phases = if small { 2 } else { 3 };
    let one = |below: &mut dyn FnMut(u64) -> u32| match below(8) {
        0 | 1 => Act::Read(below(2)),
        2 | 3 => Act::Write(below(2)),
        4 | 5 => Act::Add(below(2)),
        _ => Act::Local,
    };
    let thread = |below: &mut dyn FnMut(u64) -> u32| {
        let mut acts = Vec::new();
        for phase in 0..phases {
            for _ in 0..below(if small { 2 } else { 3 }) {
                acts.push(one(below));
            }
            match below(24) {
                0 => acts.push(Act::Barrier(7)),
                1 => {}
                2..=4 => acts.push(Act::Some(phase)),
                5..=7 => acts.push(Act::Part(phase)),
                _ if phase + 1 < phases => acts.push(Act::Barrier(phase)),
                _ => {}
            }
        }
        acts
    };
    (0..groups).map(|_| (0..size).map(|_| thread(&mut below)).collect()).collect()
}

fn schedules(seed: u64) -> [Schedule; 4] {
    let quantum = 1 + seed % 3;
    [Schedule::InOrder, Schedule::RoundRobin { quantum: 1 }, Schedule::RoundRobin { quantum }, Schedule::Random { seed }]
}

/// Compares both drivers on a program by every schedule. Returns whether the program diverges, or
/// the difference between the drivers.
fn same(seed: u64, bug: Bug) -> Result<bool, String> {
    let program = program(seed, false);
    let mut diverges = false;
    for schedule in schedules(seed) {
        let room = 1 + (seed % 4) as u32;
        let mut driven = Driven::new(&program, room);
        run(&mut driven, &schedule, &mut ()).expect("no replay");
        let mut second = NaiveDriver::new(&program, room as usize, bug);
        second.run(&schedule);
        let (first, second) = (driven.language, second.language);
        if (first.ending(), &first.did) != (second.ending(), &second.did) {
            return Err(format!("seed {seed}, {schedule}: {:?}, not {:?}\n{program:?}", first.did, second.did));
        }
        let all_ended = driven.turns.all_ended();
        if !first.over && all_ended != (0..first.at.len()).all(|t| first.next(t).is_none()) {
            return Err(format!("seed {seed}, {schedule}: all have ended: {all_ended}\n{program:?}"));
        }
        diverges |= first.over;
    }
    Ok(diverges)
}

#[test]
fn both_drivers_do_the_same() {
    let diverge = (0..20_000).filter(|&seed| same(seed, Bug::None).unwrap_or_else(|wrong| panic!("{wrong}"))).count();
    println!("20000 programs by 4 schedules each, {diverge} diverge");
    assert!(diverge > 4_000 && diverge < 16_000, "{diverge} diverge");
}

#[test]
fn every_wrong_driver_is_told_apart() {
    let told: Vec<(Bug, Option<u64>)> = BUGS.map(|bug| (bug, (0..2_000).find(|&seed| same(seed, bug).is_err()))).to_vec();
    println!("{told:?}");
    assert!(told.iter().all(|(_, seed)| seed.is_some()), "{told:?}");
}

#[test]
fn every_order_ends_as_by_brute_force() {
    let (mut orders, mut executions) = (0, 0);
    for seed in 0..3_000 {
        let program = program(seed, true);
        let room = program.len();
        let mut expected = BTreeSet::new();
        NaiveDriver::new(&program, room, Bug::None).all(&mut expected, &mut orders);
        let start = || {
            let mut driven = Driven::new(&program, room as u32);
            smallstep_semantics::concurrency::turns::admit(&mut driven, &mut ());
            driven
        };
        let mut found = BTreeSet::new();
        let done = explore(start, Budget::default(), |driven, _| {
            found.insert(driven.language.ending());
            ControlFlow::Continue(())
        });
        assert!(done.complete);
        executions += done.executions;
        // A run that stops may hide actions that other threads would have done meanwhile.
        let go_on = |endings: &BTreeSet<Ending>| endings.iter().filter(|ending| !ending.0).cloned().collect::<BTreeSet<_>>();
        let stop = |endings: &BTreeSet<Ending>| endings.iter().any(|ending| ending.0);
        assert!(found.is_subset(&expected), "seed {seed}: {program:?}");
        assert_eq!((go_on(&found), stop(&found)), (go_on(&expected), stop(&expected)), "seed {seed}: {program:?}");
    }
    println!("{orders} orders, {executions} of them explored");
    assert!(executions < orders * 2 / 3);
}
