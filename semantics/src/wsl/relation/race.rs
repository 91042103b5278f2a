//! Data races: seed 004 "Memory model", filled in for sequential consistency (ERRATA WSL-D20).
//!
//! Two accesses of one word by different threads race if one of them is a store, they are not both
//! atomic, and neither *happens before* the other. Only a barrier orders threads: those of one
//! group, for the memory that its fence is of. Atomics order nothing. A load that races gives an
//! unspecified value, and so does memory after stores that race.
//!
//! So whether a load races depends on the stores of its word by others, not on the order of the
//! run: the stores that race are learnt ([`Races::learnt`]) and given to the next run, in which
//! what reads before such a store races as what reads after it does.

use crate::text::Span;
use crate::wsl::memory::ObjectId;
use crate::wsl::syntax::AddressSpace;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most racing pairs that are reported.
pub const MAX_RACES: usize = 1000;

/// One access of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The thread.
    pub thread: u32,
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

/// Accesses of one word: of those from one place as many as tell whether a later one races with any
/// of them.
#[derive(Clone, Debug, Default)]
struct Accesses(Vec<Access>);

/// Two numbers are enough to tell whether there is another one than a given one.
type Two = [Option<u32>; 2];

fn add(two: &mut Two, number: u32) -> bool {
    match two.iter().position(|n| n.is_none_or(|n| n == number)) {
        Some(at) => two[at].replace(number).is_none(),
        None => false,
    }
}

fn another(two: &Two, number: u32) -> bool {
    two.iter().flatten().any(|&n| n != number)
}

/// Stores of one word that race.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stores {
    groups: Two,
    /// The threads, by group and epoch.
    threads: FxHashMap<(u32, u32), Two>,
}

/// The stores that race, by object and word, and by whether they are atomic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known(FxHashMap<(ObjectId, u32, bool), Stores>);

#[derive(Clone, Debug, Default)]
struct Shadow {
    stores: Accesses,
    loads: Accesses,
}

/// What was accessed, and what of it races.
#[derive(Clone, Debug, Default)]
pub struct Races {
    /// The racing pairs, each pair of places once.
    pub found: Vec<Race>,
    /// The stores that are known to race, from other runs.
    pub known: Known,
    /// The stores that race in this run.
    pub learnt: Known,
    /// The thread that runs.
    pub thread: u32,
    /// Its group.
    pub group: u32,
    /// The barriers that its group has passed: with a fence of threadgroup memory,
    /// and of device memory.
    pub epochs: (u32, u32),
    /// Where the step stands.
    pub place: Span,
    shadow: FxHashMap<(ObjectId, u32), Shadow>,
    pairs: FxHashSet<(Span, Span, bool)>,
}

impl Access {
    /// Whether two accesses of one word race.
    fn races(&self, other: &Access) -> bool {
        let ordered = self.thread == other.thread || (self.group == other.group && self.epoch != other.epoch);
        (self.stores || other.stores) && !ordered && !(self.atomic && other.atomic)
    }
}

impl Accesses {
    /// Whatever comes later and races with the access then races with one of these from its place:
    /// of one group those since its last barrier, of them two threads; and of two other groups.
    fn add(&mut self, access: Access) {
        let alike = |a: &Access| a.place == access.place && a.stores == access.stores && a.atomic == access.atomic;
        self.0.retain(|a| !(alike(a) && a.group == access.group && a.epoch != access.epoch));
        let (mut groups, mut threads) = (Two::default(), Two::default());
        for other in self.0.iter().filter(|a| alike(a)) {
            if other.group == access.group {
                add(&mut threads, other.thread);
            } else {
                add(&mut groups, other.group);
            }
        }
        if groups[1].is_none() && add(&mut threads, access.thread) {
            self.0.push(access);
        }
    }
}

impl Known {
    fn add(&mut self, object: ObjectId, word: u32, store: &Access) {
        let stores = self.0.entry((object, word, store.atomic)).or_default();
        add(&mut stores.groups, store.group);
        add(stores.threads.entry((store.group, store.epoch)).or_default(), store.thread);
    }

    /// Whether an access that reads races with one of these.
    fn races(&self, object: ObjectId, word: u32, access: &Access) -> bool {
        let kinds: &[bool] = if access.atomic { &[false] } else { &[false, true] };
        kinds.iter().filter_map(|&atomic| self.0.get(&(object, word, atomic))).any(|stores| {
            let beside = stores.threads.get(&(access.group, access.epoch));
            another(&stores.groups, access.group) || beside.is_some_and(|threads| another(threads, access.thread))
        })
    }

    /// Adds what others know; whether that is more than was known.
    pub fn merge(&mut self, others: &Known) -> bool {
        let mut more = false;
        for (word, others) in &others.0 {
            let stores = self.0.entry(*word).or_default();
            for &group in others.groups.iter().flatten() {
                more |= add(&mut stores.groups, group);
            }
            for (place, threads) in &others.threads {
                for &thread in threads.iter().flatten() {
                    more |= add(stores.threads.entry(*place).or_default(), thread);
                }
            }
        }
        more
    }
}

impl Races {
    /// An access by the thread that runs; its words are then given to [`Races::word`].
    pub fn access(&self, space: AddressSpace, stores: bool, atomic: bool) -> Access {
        let epoch = if space == AddressSpace::Threadgroup { self.epochs.0 } else { self.epochs.1 };
        Access { thread: self.thread, group: self.group, epoch, stores, atomic, place: self.place }
    }

    /// Whether a word of an access that is not made yet would race with a store.
    pub fn races_with(&self, object: ObjectId, word: u32, access: Access) -> bool {
        let racy = self.shadow.get(&(object, word)).is_some_and(|shadow| shadow.stores.0.iter().any(|earlier| earlier.races(&access)));
        racy || self.reads_what_races(object, word, access)
    }

    /// Whether an access reads what is known to race. What a store leaves is told
    /// from what was there.
    fn reads_what_races(&self, object: ObjectId, word: u32, access: Access) -> bool {
        (!access.stores || access.atomic) && self.known.races(object, word, &access)
    }

    /// One word of an access. Whether it races with a store.
    pub fn word(&mut self, object: ObjectId, word: u32, access: Access) -> bool {
        let shadow = self.shadow.entry((object, word)).or_default();
        let mut racy = false;
        for first in shadow.stores.0.iter().chain(&shadow.loads.0).filter(|earlier| earlier.races(&access)) {
            racy |= first.stores;
            for store in [first, &access].into_iter().filter(|a| a.stores) {
                self.learnt.add(object, word, store);
            }
            if self.pairs.insert((first.place, access.place, first.stores)) && self.found.len() < MAX_RACES {
                self.found.push(Race { object, word, first: *first, second: access });
            }
        }
        let alike = if access.stores { &mut shadow.stores } else { &mut shadow.loads };
        alike.add(access);
        racy || self.reads_what_races(object, word, access)
    }
}
