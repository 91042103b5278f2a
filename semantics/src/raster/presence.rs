//! Which devices have a fragment, and how that changes with each test.

use std::convert::Infallible;

use super::{Doubt, Lane, TestResult};

/// The devices that have a fragment. `None` in its place says that no device has it: the invocation
/// is a helper.
///
/// `O` is the origin of an undefined value, for languages whose undefined values can decide whether
/// a fragment exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence<O = Infallible> {
    /// All devices have it.
    Sure,
    /// The definite run has it. A device may lack it.
    Here,
    /// The definite run lacks it. A device may have it.
    Elsewhere,
    /// Any device may have it or lack it: it depends on an undefined value.
    Open(O),
}

impl<O: Copy> Presence<O> {
    /// The presence by rasterisation. `None` if no device has the fragment.
    pub fn of(lane: Lane) -> Option<Presence<O>> {
        match (lane.covered, lane.doubt) {
            (false, Doubt::None) => None,
            (true, Doubt::None) => Some(Presence::Sure),
            (true, _) => Some(Presence::Here),
            (false, _) => Some(Presence::Elsewhere),
        }
    }

    /// The presence after a test, for a fragment that was there before it. `None` if no device has
    /// it any more.
    pub fn after(self, TestResult { passed, certain }: TestResult) -> Option<Presence<O>> {
        match (self, passed, certain) {
            (_, false, true) => None,
            (_, true, true) => Some(self),
            (Presence::Open(_), true, false) => Some(self),
            (Presence::Elsewhere, ..) | (_, false, false) => Some(Presence::Elsewhere),
            (_, true, false) => Some(Presence::Here),
        }
    }

    /// Whether the definite run has it.
    pub fn is_definite(self) -> bool {
        matches!(self, Presence::Sure | Presence::Here)
    }

    /// Whether its invocation is a helper in the definite run.
    pub fn is_helper(presence: Option<Presence<O>>) -> bool {
        matches!(presence, None | Some(Presence::Elsewhere))
    }

    /// The presence of a fragment that has several samples: it is there if any of them is.
    pub fn of_samples(samples: &[Option<Presence<O>>]) -> Option<Presence<O>> {
        let rank = |presence: &Presence<O>| match presence {
            Presence::Sure => 3,
            Presence::Here => 2,
            Presence::Open(_) => 1,
            Presence::Elsewhere => 0,
        };
        samples.iter().copied().flatten().max_by_key(rank)
    }
}
