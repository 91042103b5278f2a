//! In which order threads take their steps.

use crate::wsl::choice::Strategy;

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
    /// Every order, one of each class of orders that no thread can tell apart ([`crate::interleavings`]).
    All,
}

/// Whose turn it is, in one order.
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
    pub(super) fn next(&mut self, running: &[(usize, usize)]) -> usize {
        self.count += 1;
        let next = match self.schedule {
            Schedule::InOrder | Schedule::All => 0,
            Schedule::RoundRobin => {
                let last = self.last;
                running.iter().position(|t| last.is_none_or(|last| *t > last)).unwrap_or(0)
            }
            Schedule::Random(seed) => Strategy::Random(seed).choose(u32::MAX, self.count, running.len() as u64).unwrap_or(0) as usize,
        };
        self.last = Some(running[next]);
        next
    }

    /// Whether a turn ends after a step.
    pub(super) fn ends(&self) -> bool {
        matches!(self.schedule, Schedule::RoundRobin | Schedule::Random(_))
    }
}
