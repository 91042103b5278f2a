//! The driver of threads that take turns, for any language and any schedule.
//!
//! A language implements [`Threads`]: what a thread does in its turn, what a group does when none
//! of its threads can step (a *meeting*), and which groups there are. This module decides who has
//! the next turn, when a group meets, and when it has ended. [`Topology`] numbers the threads. The
//! run ends when no thread can step or the language says that it is over. Groups remain if threads
//! wait and nothing releases them ([`Turns::all_ended`]).

use crate::outcome::InvalidInput;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::schedule::{Picker, Ready, Schedule};
use super::scope::{Agent, Scope, Topology};
use crate::interleavings::Turn;

/// Whether another group can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It has begun.
    Begins,
    /// It can begin once others have ended.
    NotYet,
    /// There is no other group.
    NoMore,
}

/// Threads in groups. `W` observes what they do.
pub trait Threads<W: ?Sized = ()> {
    /// The driver's record of who can step.
    fn turns(&mut self) -> &mut Turns;
    /// How the threads form groups.
    fn topology(&self) -> Topology;
    /// The state of a thread. Its group has begun and not ended.
    fn state(&self, thread: u32) -> Turn;
    /// Takes a turn of a thread that can step. Returns its new state.
    fn act(&mut self, thread: u32, watch: &mut W) -> Turn;
    /// Does what a thread does outside of its turns, when it begins and after a meeting. Returns
    /// its new state.
    fn settle(&mut self, thread: u32, _watch: &mut W) -> Turn {
        self.state(thread)
    }
    /// The part of the group that the thread belongs to. A part may meet while other threads of the
    /// group can step.
    fn part(&self, thread: u32) -> Range<u32> {
        thread..thread + 1
    }
    /// Lets the part of a thread meet, if none of its threads can step. Returns the threads that
    /// the meeting released. Each of them can step now, or has ended.
    fn meet_in_part(&mut self, _thread: u32, _watch: &mut W) -> Vec<u32> {
        Vec::new()
    }
    /// Lets a group meet, of which no thread can step and some wait. A released thread can step
    /// afterwards, even if only to wait again or to end. If none is released, none has ended and
    /// the run goes on, the group waits for ever.
    fn meet(&mut self, group: u32, watch: &mut W);
    /// Begins the group of that number, which is the next. `running` groups have not ended.
    fn begin(&mut self, group: u32, running: u32) -> Begin;
    /// Ends a group whose threads have all ended.
    fn end(&mut self, _group: u32) {}
    /// Whether the run is over, although threads may be able to step.
    fn is_over(&self) -> bool;
}

/// The driver's record of who can step.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    ready: Ready,
    /// By running group: the number of threads that can step, and of those that have not ended.
    groups: FxHashMap<u32, (u32, u32)>,
    /// The next group to begin.
    next: u32,
    /// Whether there is no such group.
    complete: bool,
}

impl Turns {
    /// A run that begins with the group of that number.
    pub fn from(group: u32) -> Turns {
        Turns { next: group, ..Turns::default() }
    }

    /// The threads that can step.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// Whether every thread of every group has ended.
    pub fn all_ended(&self) -> bool {
        self.groups.is_empty() && self.complete
    }
}

fn members(topology: Topology, group: u32) -> Range<u32> {
    topology.instance(topology.number(Agent { workgroup: group, local: 0 }), Scope::Workgroup)
}

/// Counts the threads of a group that can step, and those that have not ended. Returns the former.
fn count<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, group: u32) -> Vec<u32> {
    let (mut ready, mut live) = (Vec::new(), 0);
    for thread in members(threads.topology(), group) {
        let state = threads.state(thread);
        live += u32::from(state != Turn::Ended);
        if matches!(state, Turn::Ready(_)) {
            threads.turns().ready.insert(thread);
            ready.push(thread);
        }
    }
    threads.turns().groups.insert(group, (ready.len() as u32, live));
    ready
}

/// Records the state of a thread that could step. Returns its group if it no longer can.
fn record_state<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, thread: u32, state: Turn) -> Option<u32> {
    if let Turn::Ready(_) = state {
        return None;
    }
    let group = threads.topology().agent(thread).workgroup;
    let turns = threads.turns();
    turns.ready.remove(thread);
    if let Some((ready, live)) = turns.groups.get_mut(&group) {
        *ready -= 1;
        *live -= u32::from(state == Turn::Ended);
    }
    Some(group)
}

/// Lets a group meet while none of its threads can step, and ends it when all have ended. Returns
/// the threads of a group if a meeting released some.
fn meetings<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, group: u32, watch: &mut W) -> Vec<u32> {
    let mut released = Vec::new();
    while !threads.is_over() {
        match threads.turns().groups.get(&group) {
            Some((0, 0)) => {
                threads.turns().groups.remove(&group);
                threads.end(group);
            }
            Some(&(0, waiting)) => {
                threads.meet(group, watch);
                let ready = count(threads, group);
                if ready.is_empty() && threads.turns().groups.get(&group) == Some(&(0, waiting)) {
                    break;
                }
                let halted = settle(threads, &ready, watch);
                released.extend(members(threads.topology(), group));
                released.extend(parts(threads, halted, watch));
            }
            _ => break,
        }
    }
    released
}

/// Lets threads do what they do outside of their turns. Returns those that cannot step afterwards.
fn settle<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, ready: &[u32], watch: &mut W) -> Vec<u32> {
    let mut halted = Vec::new();
    for &thread in ready {
        if !threads.is_over() {
            let state = threads.settle(thread, watch);
            halted.extend(record_state(threads, thread, state).map(|_| thread));
        }
    }
    halted
}

/// Lets the parts of these threads meet as often as they can. Returns the threads of the parts that
/// met.
fn parts<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, mut halted: Vec<u32>, watch: &mut W) -> Vec<u32> {
    let mut released = Vec::new();
    while let Some(thread) = halted.pop()
        && !threads.is_over()
    {
        let met = threads.meet_in_part(thread, watch);
        let mut can_step = Vec::new();
        for &thread in &met {
            let (state, group) = (threads.state(thread), threads.topology().agent(thread).workgroup);
            let turns = threads.turns();
            if let Some((ready, live)) = turns.groups.get_mut(&group) {
                *ready += u32::from(matches!(state, Turn::Ready(_)));
                *live -= u32::from(state == Turn::Ended);
            }
            if matches!(state, Turn::Ready(_)) {
                turns.ready.insert(thread);
                can_step.push(thread);
            }
        }
        // Others of the part may have waited for those that have ended now.
        halted.extend(met.iter().find(|thread| !can_step.contains(thread)));
        halted.extend(settle(threads, &can_step, watch));
        if !met.is_empty() {
            released.extend(threads.part(thread));
        }
    }
    released
}

/// Begins groups while there is room.
pub fn admit<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, watch: &mut W) {
    while !threads.is_over() && !threads.turns().complete {
        let Turns { next: group, groups, .. } = threads.turns();
        let (group, running) = (*group, groups.len() as u32);
        match threads.begin(group, running) {
            Begin::Begins => threads.turns().next += 1,
            Begin::NotYet => return,
            Begin::NoMore => {
                threads.turns().complete = true;
                return;
            }
        }
        let ready = count(threads, group);
        settle(threads, &ready, watch);
        // Some threads may wait from the start.
        let waits = |thread: &u32| threads.state(*thread) == Turn::Waiting;
        let halted = members(threads.topology(), group).filter(waits).collect();
        parts(threads, halted, watch);
        meetings(threads, group, watch);
    }
}

/// Takes a turn of a thread that can step, with the meetings that follow. Returns the threads of
/// the groups and parts that met. Whatever such a thread does next happens after all that each of
/// the others has done.
pub fn take<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, thread: u32, watch: &mut W) -> Vec<u32> {
    let state = threads.act(thread, watch);
    finish_turn(threads, thread, state, watch)
}

/// Does what follows from a turn of a thread, which now has that state.
fn finish_turn<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, thread: u32, state: Turn, watch: &mut W) -> Vec<u32> {
    let Some(group) = record_state(threads, thread, state) else { return Vec::new() };
    let mut released = parts(threads, vec![thread], watch);
    released.extend(meetings(threads, group, watch));
    released
}

/// All threads take turns as a schedule says.
///
/// # Errors
/// A replay names a thread that cannot step, or ends while one can.
pub fn run<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, schedule: &Schedule, watch: &mut W) -> Result<(), InvalidInput> {
    let mut picker = Picker::new(schedule.clone());
    admit(threads, watch);
    while !threads.is_over() && !threads.turns().ready.is_empty() {
        let running = threads.turns().groups.len();
        let thread = picker.pick(&threads.turns().ready)?;
        let mut state = threads.act(thread, watch);
        // In order, the thread keeps its turn while it can step.
        while let (Schedule::InOrder, Turn::Ready(_), false) = (schedule, state, threads.is_over()) {
            state = threads.act(thread, watch);
        }
        finish_turn(threads, thread, state, watch);
        if threads.turns().groups.len() < running {
            admit(threads, watch);
        }
    }
    Ok(())
}
