//! How the relation runs a call, a dispatch or a draw, and how such a run ends.

use super::execution::{Planted, Shared, Thread};
use super::group::{Divergence, Schedule};
use crate::number::Profile;
use crate::outcome::{Outcome, TimeLimit};
use crate::text::Span;
use crate::wsl::choice::Strategy;
use crate::wsl::error::Error;
use crate::wsl::memory::Memory;

/// Receives what all threads share, the memory and a thread, after each step of that thread.
pub type Watch = fn(&Shared, &Memory, &Thread);

/// How a program is run. A call has a single thread, so `schedule`, `races` and `until_race` do not
/// change it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What becomes of unspecified values.
    pub strategy: Strategy,
    /// The profile of precision under which floats are sets; `None`: correctly rounded values.
    pub precision: Option<Profile>,
    /// The order in which threads step. `None`: every order of a dispatch, one for each class of
    /// orders that no thread can distinguish ([`crate::interleavings`]). A draw needs an order.
    pub schedule: Option<Schedule>,
    /// The most steps of all threads together, on all ways. Rasterisation and the bounds of open
    /// terms cost steps too. If the first way has ended, further ways are left out once the fuel is
    /// used up.
    pub fuel: u64,
    /// When the run ends at the latest.
    pub time: Option<TimeLimit>,
    /// The most ways that are followed, through branches on unspecified values and schedules.
    pub ways: usize,
    /// Whether races are looked for. If not, a load sees the last store of the schedule.
    pub races: bool,
    /// Whether the run ends once a race is found. Only the races mean something then.
    pub until_race: bool,
    /// Planted bugs.
    pub planted: Planted,
    /// Called after each step.
    pub watch: Option<Watch>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            strategy: Strategy::Carry,
            precision: None,
            schedule: Some(Schedule::InOrder),
            fuel: 200_000_000,
            time: None,
            ways: 256,
            races: true,
            until_race: false,
            planted: Planted::default(),
            watch: None,
        }
    }
}

/// Where a run ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The thread that was to step. In a draw vertices come first, then the threads of quads.
    pub thread: u32,
    /// The place of its next step, or of the last step of any thread.
    pub at: Span,
}

/// How a dispatch or a draw ended. `S` is what it shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending<S> {
    /// Every thread ended.
    Shown(Box<S>),
    /// The parts of a draw do not fit together; nothing has run.
    Refused(Box<Error>),
    /// Not every thread of a group reaches a barrier: the seed has no rule for that.
    Diverged(Divergence),
    /// The fuel is used up.
    OutOfFuel(At),
    /// The machine met an unspecified value, and the strategy chooses none.
    Open(At),
    /// Stuck, over a limit, or not modeled.
    Other(Outcome<()>),
}
