//! The rules of a group: seed 004 "Definitions", "Barriers and discard".

use super::Divergence;
use crate::concurrency::{Arrival, Wait, arrival};
use crate::text::Span;
use crate::wsl::execution::{Instance, Shared, Step, Stop, Thread, fence, step};
use crate::wsl::memory::Memory;
use crate::wsl::open::OpenTerms;
use crate::wsl::typing::program::Program;

/// The state of a thread.
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
    /// Each thread with its state.
    pub threads: Vec<(Thread, State)>,
    /// How many barriers the group has passed: with a fence of threadgroup memory, and with a fence
    /// of device memory.
    pub epochs: (u32, u32),
}

/// The environment that threads step in.
#[derive(Debug)]
pub struct World<'a, 'p> {
    /// The program and its layout.
    pub shared: &'a Shared<'p>,
    /// Memory.
    pub memory: Memory,
    /// The terms over unspecified values.
    pub opens: OpenTerms,
}

/// A thread's step. Or else why and where there is none.
pub type Stepped = Result<Step, (Stop, Instance)>;

/// A planted function that replaces that of a rule.
#[derive(Clone, Copy, Debug)]
pub enum Replacement {
    /// For [`g_thread`].
    Thread(fn(&mut World, &mut Group, usize) -> Stepped),
    /// For [`g_barrier`].
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
/// None of the threads is running, and at least one waits.
///
/// # Errors
/// If the threads do not all wait at the same instance.
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
