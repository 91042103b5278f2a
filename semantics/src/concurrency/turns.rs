//! Threads that take turns: one driver, whatever the language and the schedule.
//!
//! A language says what a thread does in its turn, what the threads of a group do together once
//! none of them can step, and where groups come from ([`Threads`]). Here is who has the next turn,
//! when a group meets, and when it has ended. Threads are numbered as [`Topology`] says. The run
//! ends when no thread can step, or when the language says that it is over; where threads wait that
//! nobody releases, it ends with groups left ([`Turns::all_ended`]).

use crate::outcome::InvalidInput;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::schedule::{Picker, Ready, Schedule};
use super::scope::{Agent, Scope, Topology};
use crate::interleavings::Turn;

/// Whether another group begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It does.
    Begins,
    /// Not before others have ended.
    NotYet,
    /// There is none.
    NoMore,
}

/// Threads in groups. `W` is told of what they do.
pub trait Threads<W: ?Sized = ()> {
    /// Who can step: for the driver to keep.
    fn turns(&mut self) -> &mut Turns;
    /// How the threads are divided.
    fn topology(&self) -> Topology;
    /// What a thread can do: of a group that has begun and not ended.
    fn state(&self, thread: u32) -> Turn;
    /// A turn of a thread that can step; its state then.
    fn act(&mut self, thread: u32, watch: &mut W) -> Turn;
    /// What a thread that can step does outside of its turns, when it begins and after a meeting;
    /// its state then.
    fn settle(&mut self, thread: u32, _watch: &mut W) -> Turn {
        self.state(thread)
    }
    /// The part of its group that a thread is in: it meets by itself, although others of the group
    /// can step.
    fn part(&self, thread: u32) -> Range<u32> {
        thread..thread + 1
    }
    /// What the threads of a part do together, of which this one is one that cannot step any more,
    /// if none of them can. Gives those that go on by that; each of them can step then or has
    /// ended.
    fn meet_in_part(&mut self, _thread: u32, _watch: &mut W) -> Vec<u32> {
        Vec::new()
    }
    /// What the threads of a group do together, of which none can step and some wait. Those that go
    /// on can step afterwards, be it only to wait again or to end; or some have ended, or the run
    /// is over. Otherwise they wait for ever.
    fn meet(&mut self, group: u32, watch: &mut W);
    /// The group of that number begins, the next, beside so many others; its threads can step then.
    fn begin(&mut self, group: u32, running: u32) -> Begin;
    /// All threads of a group have ended.
    fn end(&mut self, _group: u32) {}
    /// Whether the run is over, whoever can still step.
    fn is_over(&self) -> bool;
}

/// Who can step.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    ready: Ready,
    /// By group that runs: how many of its threads can step, and how many have not ended.
    groups: FxHashMap<u32, (u32, u32)>,
    /// The first group that has not begun.
    next: u32,
    /// Whether there is none after it.
    complete: bool,
}

impl Turns {
    /// Before the group of that number begins, and none before it does.
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

/// Counts the threads of a group that can step, and those that have not ended. Gives the former.
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

/// Notes the state of a thread that could step. Gives its group if it cannot any more.
fn note<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, thread: u32, state: Turn) -> Option<u32> {
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

/// A group meets as often as none of its threads can step, and has ended when all have. Gives the
/// threads of a group of which some went on by that.
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
                let on = count(threads, group);
                if on.is_empty() && threads.turns().groups.get(&group) == Some(&(0, waiting)) {
                    break;
                }
                let halted = settle(threads, &on, watch);
                released.extend(members(threads.topology(), group));
                released.extend(parts(threads, halted, watch));
            }
            _ => break,
        }
    }
    released
}

/// What threads do outside of their turns. Gives those that cannot step then.
fn settle<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, on: &[u32], watch: &mut W) -> Vec<u32> {
    let mut halted = Vec::new();
    for &thread in on {
        if !threads.is_over() {
            let state = threads.settle(thread, watch);
            halted.extend(note(threads, thread, state).map(|_| thread));
        }
    }
    halted
}

/// The parts of these threads, which cannot step any more, meet as often as they do. Gives the
/// threads of those that met.
fn parts<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, mut halted: Vec<u32>, watch: &mut W) -> Vec<u32> {
    let mut released = Vec::new();
    while let Some(thread) = halted.pop()
        && !threads.is_over()
    {
        let on = threads.meet_in_part(thread, watch);
        let mut able = Vec::new();
        for &thread in &on {
            let (state, group) = (threads.state(thread), threads.topology().agent(thread).workgroup);
            let turns = threads.turns();
            if let Some((ready, live)) = turns.groups.get_mut(&group) {
                *ready += u32::from(matches!(state, Turn::Ready(_)));
                *live -= u32::from(state == Turn::Ended);
            }
            if matches!(state, Turn::Ready(_)) {
                turns.ready.insert(thread);
                able.push(thread);
            }
        }
        // Those of the part that have ended meanwhile may have been waited for.
        halted.extend(on.iter().find(|thread| !able.contains(thread)));
        halted.extend(settle(threads, &able, watch));
        if !on.is_empty() {
            released.extend(threads.part(thread));
        }
    }
    released
}

/// Groups begin while there is room.
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
        let on = count(threads, group);
        settle(threads, &on, watch);
        // Some may wait from the beginning.
        let waits = |thread: &u32| threads.state(*thread) == Turn::Waiting;
        let halted = members(threads.topology(), group).filter(waits).collect();
        parts(threads, halted, watch);
        meetings(threads, group, watch);
    }
}

/// A turn of a thread that can step, and the meetings that follow from it. Gives the threads of
/// the groups and parts that met: what one of them does from then on comes after what each of them
/// has done, be it only that it waits or has ended.
pub fn take<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, thread: u32, watch: &mut W) -> Vec<u32> {
    let state = threads.act(thread, watch);
    taken(threads, thread, state, watch)
}

/// What follows from a turn of a thread, which has that state then.
fn taken<W: ?Sized, T: Threads<W> + ?Sized>(threads: &mut T, thread: u32, state: Turn, watch: &mut W) -> Vec<u32> {
    let Some(group) = note(threads, thread, state) else { return Vec::new() };
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
        // In order it has the next turn too, as long as it can step: none before it can before it
        // waits or has ended.
        while let (Schedule::InOrder, Turn::Ready(_), false) = (schedule, state, threads.is_over()) {
            state = threads.act(thread, watch);
        }
        taken(threads, thread, state, watch);
        if threads.turns().groups.len() < running {
            admit(threads, watch);
        }
    }
    Ok(())
}
