//! Data races: seed 004 "Memory model", filled in for sequential consistency (ERRATA WSL-D20).
//!
//! Two accesses of one word by different threads race if one of them is a store, they are not both atomic, and neither *happens before* the other. Only a barrier
//! orders threads: those of one group, for the memory that its fence is of. Atomics order nothing. A load that races gives an unspecified value, and so does
//! memory after stores that race.

use super::memory::ObjectId;
use super::syntax::AddressSpace;
use crate::text::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most racing pairs that are reported.
pub const MAX_RACES: usize = 1000;

/// One access of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The thread.
    pub thread: u32,
    /// Which of its accesses of shared memory, counted from 0.
    pub number: u64,
    /// Its group.
    group: u32,
    /// The barriers that the group has passed whose fence is of this memory.
    epoch: u32,
    /// Whether it stores.
    pub stores: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// Where it stands in the program.
    pub place: Span,
}

/// A pair of accesses that race, and the first word that both access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Race {
    /// The object.
    pub object: ObjectId,
    /// The word.
    pub word: u32,
    /// The access that came first in the schedule.
    pub first: Access,
    /// The other.
    pub second: Access,
}

#[derive(Clone, Debug, Default)]
struct Shadow {
    store: Option<Access>,
    loads: Vec<Access>,
}

/// What was accessed, and what of it races.
#[derive(Clone, Debug, Default)]
pub struct Races {
    /// The racing pairs, each pair of places once for each word.
    pub found: Vec<Race>,
    /// Loads that are known to race with a later store: by thread and number.
    pub known: FxHashSet<(u32, u64)>,
    /// The thread that runs, its group, and the barriers passed by it: of threadgroup and of device memory.
    pub thread: u32,
    /// Its group.
    pub group: u32,
    /// The barriers that its group has passed: with a fence of threadgroup memory, and of device memory.
    pub epochs: (u32, u32),
    /// Where the step stands.
    pub place: Span,
    shadow: FxHashMap<(ObjectId, u32), Shadow>,
    counts: FxHashMap<u32, u64>,
    pairs: FxHashSet<(Span, Span, bool)>,
}

impl Access {
    fn before(&self, later: &Access) -> bool {
        self.thread == later.thread || (self.group == later.group && self.epoch < later.epoch)
    }
}

impl Races {
    /// The next access of the thread that runs; its words are then given to [`Races::word`].
    pub fn access(&mut self, space: AddressSpace, stores: bool, atomic: bool) -> Access {
        let count = self.counts.entry(self.thread).or_default();
        let number = *count;
        *count += 1;
        let epoch = if space == AddressSpace::Threadgroup { self.epochs.0 } else { self.epochs.1 };
        Access { thread: self.thread, number, group: self.group, epoch, stores, atomic, place: self.place }
    }

    /// One word of an access. Whether it races with an earlier access, or is known to race with a later one.
    pub fn word(&mut self, object: ObjectId, word: u32, access: Access) -> bool {
        let shadow = self.shadow.entry((object, word)).or_default();
        let races = |earlier: &Access| !(earlier.before(&access) || earlier.atomic && access.atomic);
        let mut racing: Vec<Access> = shadow.store.iter().copied().filter(races).collect();
        if access.stores {
            racing.extend(shadow.loads.iter().copied().filter(races));
            shadow.store = Some(access);
            shadow.loads.clear();
        } else {
            shadow.loads.retain(|l| !l.before(&access));
            shadow.loads.push(access);
        }
        let mut racy = false;
        for first in racing {
            racy |= first.stores;
            if self.pairs.insert((first.place, access.place, first.stores)) && self.found.len() < MAX_RACES {
                self.found.push(Race { object, word, first, second: access });
            }
            if !first.stores {
                self.known.insert((first.thread, first.number));
            }
        }
        racy || (!access.stores && self.known.contains(&(access.thread, access.number)))
    }
}
