//! In which order threads take their steps.

use crate::wsl::choice::Strategy;
use crate::wsl::execution::{Event, Step};
use crate::wsl::memory::Memory;
use crate::wsl::open::Ways;
use crate::wsl::syntax::AddressSpace;

/// An order of the steps of all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Schedule {
    /// The first thread until it waits or ends, then the next one.
    #[default]
    InOrder,
    /// A step of each thread in turn.
    RoundRobin,
    /// Each step of a thread drawn by this seed.
    Random(u64),
    /// Every order, by the ways of a run: what threads do to shared memory is interleaved, one access after the other.
    All,
}

/// Whose turn it is.
pub(super) struct Turns {
    schedule: Schedule,
    count: u64,
    last: Option<(usize, usize)>,
}

impl Turns {
    pub(super) fn new(schedule: Schedule) -> Turns {
        Turns { schedule, count: 0, last: None }
    }

    /// Which of the threads that run goes on.
    pub(super) fn next(&mut self, running: &[(usize, usize)], ways: &mut Ways) -> usize {
        self.count += 1;
        let next = match self.schedule {
            Schedule::InOrder => 0,
            Schedule::RoundRobin => {
                let last = self.last;
                running.iter().position(|t| last.is_none_or(|last| *t > last)).unwrap_or(0)
            }
            Schedule::Random(seed) => Strategy::Random(seed).choose(u32::MAX, self.count, running.len() as u64).unwrap_or(0) as usize,
            Schedule::All if running.len() == 1 => 0,
            Schedule::All => ways.next(running.len() as u32) as usize,
        };
        self.last = Some(running[next]);
        next
    }

    /// Whether another thread may go on after this step. A step that leaves shared memory alone commutes with those of all other threads, so where every order is
    /// tried it needs no turn of its own.
    pub(super) fn ends_after(&self, step: &Step, memory: &Memory) -> bool {
        match self.schedule {
            Schedule::InOrder => false,
            Schedule::RoundRobin | Schedule::Random(_) => true,
            Schedule::All => step.events.iter().any(|event| match event {
                Event::Load(at, _) | Event::Store(at, _) | Event::AtomicLoad(at, _) | Event::ReadModifyWrite(at, ..) => {
                    matches!(memory.object(at.object).space, AddressSpace::Device | AddressSpace::Threadgroup)
                }
                Event::Fence { .. } => false,
            }),
        }
    }
}
