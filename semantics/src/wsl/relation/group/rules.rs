//! The rules of a group: seed 004 "Definitions", "Barriers and discard".

use super::Divergence;
use crate::text::Span;
use crate::wsl::execution::{Instance, Shared, Step, Stop, Thread, fence, step};
use crate::wsl::memory::Memory;
use crate::wsl::open::Opens;
use crate::wsl::typing::program::Program;

/// What a thread is doing.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It can step.
    Running,
    /// It stands at a barrier.
    Waiting(Instance),
    /// It has a value, or was discarded.
    Ended,
}

/// The threads of a group.
#[derive(Clone, Debug)]
pub struct Group {
    /// Each with what it is doing.
    pub threads: Vec<(Thread, State)>,
    /// The barriers passed whose fence is of threadgroup memory, and of device memory.
    pub epochs: (u32, u32),
}

/// What threads step in.
#[derive(Debug)]
pub struct World<'a, 'p> {
    /// The program and its layout.
    pub shared: &'a Shared<'p>,
    /// Memory.
    pub memory: Memory,
    /// What is unspecified.
    pub opens: Opens,
}

/// A thread's step, or why and where there is none.
pub type Stepped = Result<Step, (Stop, Instance)>;

/// A rule's function that a planted bug replaces.
#[derive(Clone, Copy, Debug)]
pub enum Replacement {
    /// Of [`g_thread`].
    Thread(fn(&mut World, &mut Group, usize) -> Stepped),
    /// Of [`g_barrier`].
    Barrier(fn(&Program, &mut Group) -> Result<(), Divergence>),
}

/// t → t' gives G → G', t a thread of G [wsl/g-thread, 004 Definitions]
///
/// # Errors
/// Why the thread makes no step.
pub fn g_thread(world: &mut World, group: &mut Group, t: usize) -> Stepped {
    step(world.shared, &mut world.memory, &mut world.opens, &mut group.threads[t].0)
}

/// All threads of a group at the same instance of the same barrier go on [wsl/g-barrier, 004
/// Barriers and discard; WSL-D12]
///
/// None of them runs, and one waits at least.
///
/// # Errors
/// If they do not all wait, or not at the same instance.
pub fn g_barrier(program: &Program, group: &mut Group) -> Result<(), Divergence> {
    if let Some(divergence) = diverged(program, group) {
        return Err(divergence);
    }
    let barrier = group.threads.iter().find_map(|(_, state)| match state {
        State::Waiting(instance) => instance.barrier,
        _ => None,
    });
    let (threadgroup, device) = barrier.map_or((true, true), |barrier| fence(program, barrier));
    group.epochs.0 += u32::from(threadgroup);
    group.epochs.1 += u32::from(device);
    for (thread, state) in &mut group.threads {
        thread.released = true;
        *state = State::Running;
    }
    Ok(())
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
