//! Data races: seed 004 "Memory model", filled in for sequential consistency (ERRATA WSL-D20).
//!
//! Two accesses of one word by different threads race if one of them is a store, they are not both
//! atomic, and neither *happens before* the other. Only a barrier orders threads. It orders the
//! threads of one group, for the memory that its fence is of. Atomics order nothing. A load that
//! races returns an unspecified value. A word is unspecified after stores to it that race. So all
//! races are looked for ([`crate::concurrency::race`]). There, a barrier is a workgroup barrier
//! that releases and acquires the classes of its fence, and atomics are relaxed.
//!
//! Whether a load races depends on the stores of its word by others, not on the order of the run. A
//! run records the stores that race ([`Races::learnt`]), and the next run gets them. In that run, a
//! load before such a store races like a load after it.

use crate::concurrency::{self, Agent, AtomicOp, Class, Detector, Kind, Ordering, Rules, Scope, Semantics, Topology};
use crate::text::Span;
use crate::wsl::memory::ObjectId;
use crate::wsl::syntax::AddressSpace;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most racing pairs that are reported.
pub const MAX_RACES: usize = 1000;

/// How an atomic operation accesses its word.
pub const ATOMIC: Kind = Kind::Atomic { op: AtomicOp::ReadModifyWrite, scope: Scope::Device, semantics: Semantics::RELAXED };

/// The parameters of the memory model.
pub const RULES: Rules = Rules { race_is_undefined: false, ..Rules::MODEL };

/// A pair of accesses that race, by their places. Objects have the numbers of
/// [`crate::wsl::memory::Memory`]. A thread of a draw is a group of its own.
pub type Race = concurrency::Race<Span>;

/// Up to two numbers. Two are enough to tell whether there is a number other than a given one.
type UpToTwo = [Option<u32>; 2];

fn add(two: &mut UpToTwo, number: u32) -> bool {
    match two.iter().position(|n| n.is_none_or(|n| n == number)) {
        Some(at) => two[at].replace(number).is_none(),
        None => false,
    }
}

fn has_other(two: &UpToTwo, number: u32) -> bool {
    two.iter().flatten().any(|&n| n != number)
}

/// The stores of one word that race.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stores {
    groups: UpToTwo,
    /// The threads, by group and epoch.
    threads: FxHashMap<(u32, u32), UpToTwo>,
}

/// The stores that race, by object, word, and whether they are atomic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known(FxHashMap<(ObjectId, u32, bool), Stores>);

/// The accesses of a run, and the races among them.
#[derive(Clone, Debug)]
pub struct Races {
    /// The racing pairs. Each pair of places is listed once.
    pub found: Vec<Race>,
    /// The stores that are known to race, from other runs.
    known: Known,
    /// The stores of this run that race with earlier accesses.
    pub learnt: Known,
    /// The thread that runs.
    pub agent: Agent,
    /// How many barriers its group has passed: with a fence of threadgroup memory, and with a fence
    /// of device memory.
    pub epochs: (u32, u32),
    /// The place of the current step.
    pub place: Span,
    detector: Detector<Span>,
    pairs: FxHashSet<(Span, Span, bool)>,
}

impl Known {
    fn add(&mut self, word: (ObjectId, u32), atomic: bool, agent: Agent, epoch: u32) {
        let stores = self.0.entry((word.0, word.1, atomic)).or_default();
        add(&mut stores.groups, agent.workgroup);
        add(stores.threads.entry((agent.workgroup, epoch)).or_default(), agent.local);
    }

    /// Whether an access that reads races with one of these stores.
    fn races(&self, word: (ObjectId, u32), atomic: bool, agent: Agent, epoch: u32) -> bool {
        let kinds: &[bool] = if atomic { &[false] } else { &[false, true] };
        kinds.iter().filter_map(|&atomic| self.0.get(&(word.0, word.1, atomic))).any(|stores| {
            let threads_of_epoch = stores.threads.get(&(agent.workgroup, epoch));
            has_other(&stores.groups, agent.workgroup) || threads_of_epoch.is_some_and(|threads| has_other(threads, agent.local))
        })
    }

    /// Adds the stores of others. Returns whether some are new.
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
    /// A record without accesses, for a run in which these stores are known to race.
    pub fn new(topology: Topology, known: Known) -> Races {
        Races {
            found: Vec::new(),
            known,
            learnt: Known::default(),
            agent: Agent { workgroup: 0, local: 0 },
            epochs: (0, 0),
            place: Span::default(),
            detector: Detector::with_rules(topology, RULES),
            pairs: FxHashSet::default(),
        }
    }

    /// Records that all threads of a group pass a barrier with a fence of this memory.
    pub fn barrier(&mut self, group: u32, threadgroup: bool, device: bool) {
        let classes = [(threadgroup, Class::Workgroup), (device, Class::Uniform)];
        let classes: Vec<Class> = classes.into_iter().filter(|(fence, _)| *fence).map(|(_, class)| class).collect();
        self.detector.workgroup_barrier(group, Scope::Workgroup, &Semantics::of(Ordering::AcquireRelease, &classes));
    }

    fn access(&self, (object, word): (ObjectId, u32), space: AddressSpace, kind: Kind) -> concurrency::Access<Span> {
        let class = if space == AddressSpace::Threadgroup { Class::Workgroup } else { Class::Uniform };
        let (agent, offset, instruction) = (self.agent, 4 * u64::from(word), self.place);
        concurrency::Access { agent, object: object.0, offset, bytes: 4, class, kind, instruction }
    }

    fn epoch(&self, space: AddressSpace) -> u32 {
        if space == AddressSpace::Threadgroup { self.epochs.0 } else { self.epochs.1 }
    }

    /// Whether an access of a word would race with a store, if it were made now.
    pub fn races_with(&self, word: (ObjectId, u32), space: AddressSpace, kind: Kind) -> bool {
        self.detector.races_with_a_write(&self.access(word, space, kind)) || self.reads_what_races(word, space, kind)
    }

    /// Whether an access reads a word that is known to race. A store is judged by the accesses
    /// before it.
    fn reads_what_races(&self, word: (ObjectId, u32), space: AddressSpace, kind: Kind) -> bool {
        kind != Kind::Store && self.known.races(word, kind == ATOMIC, self.agent, self.epoch(space))
    }

    /// Records an access of a word by the current thread. Returns whether it races with a store.
    pub fn word(&mut self, word: (ObjectId, u32), space: AddressSpace, kind: Kind) -> bool {
        let access = self.access(word, space, kind);
        let (mut races, mut racy) = (false, false);
        self.detector.races(&access, |race| {
            races = true;
            racy |= race.first.kind.writes();
            let pair = (race.first.instruction, race.second.instruction, race.first.kind.writes());
            if self.pairs.insert(pair) && self.found.len() < MAX_RACES {
                self.found.push(race);
            }
        });
        if races && kind.writes() {
            self.learnt.add(word, kind == ATOMIC, self.agent, self.epoch(space));
        }
        racy || self.reads_what_races(word, space, kind)
    }
}
