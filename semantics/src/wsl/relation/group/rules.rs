//! The rules of a group: seed 004 "Definitions", "Barriers and discard".

use super::Divergence;
use crate::concurrency::{Arrival, Wait, arrival};
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
    let waits: Vec<Wait<&Instance>> = group.threads.iter().map(|(_, state)| wait(state)).collect();
    let barrier = match arrival(&waits) {
        Arrival::Divergent { waiting, other } => {
            let number = |t: usize| group.threads[t].0.number;
            let place = |t: usize| match waits[t] {
                Wait::Barrier(instance) => Some(instance.barrier.map_or(Span::default(), |e| program.expr(e).span)),
                Wait::Ready | Wait::Ended => None,
            };
            let barrier = place(waiting).unwrap_or_default();
            return Err(Divergence { waiting: number(waiting), barrier, other: number(other), at: place(other) });
        }
        _ => waits.iter().find_map(|wait| if let Wait::Barrier(instance) = wait { instance.barrier } else { None }),
    };
    let (threadgroup, device) = barrier.map_or((true, true), |barrier| fence(program, barrier));
    group.epochs.0 += u32::from(threadgroup);
    group.epochs.1 += u32::from(device);
    for (thread, state) in &mut group.threads {
        thread.released = true;
        *state = State::Running;
    }
    Ok(())
}

fn wait(state: &State) -> Wait<&Instance> {
    match state {
        State::Running => Wait::Ready,
        State::Waiting(instance) => Wait::Barrier(instance),
        State::Ended => Wait::Ended,
    }
}
