//! Data races: seed 004 "Memory model", filled in for sequential consistency (ERRATA WSL-D20).
//!
//! Two accesses of one word by different threads race if one of them is a store, they are not both
//! atomic, and neither *happens before* the other. Only a barrier orders threads: those of one
//! group, for the memory that its fence is of. Atomics order nothing. A load that races gives an
//! unspecified value, and so does memory after stores that race. So all races are looked for
//! ([`crate::concurrency::race`]): a barrier is one of its group, which releases and acquires the
//! classes of its fence, and atomics are relaxed.
//!
//! So whether a load races depends on the stores of its word by others, not on the order of the
//! run: the stores that race are learnt ([`Races::learnt`]) and given to the next run, in which
//! what reads before such a store races as what reads after it does.

use crate::concurrency::{self, Agent, AtomicOp, Class, Detector, Kind, Ordering, Rules, Scope, Semantics, Topology};
use crate::text::Span;
use crate::wsl::memory::ObjectId;
use crate::wsl::syntax::AddressSpace;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most racing pairs that are reported.
pub const MAX_RACES: usize = 1000;

/// How an atomic operation accesses its word.
pub const ATOMIC: Kind = Kind::Atomic { op: AtomicOp::ReadModifyWrite, scope: Scope::Device, semantics: Semantics::RELAXED };

/// The choices of the memory model.
pub const RULES: Rules = Rules { settles: false, ..Rules::MODEL };

/// A pair of accesses that race, by where they stand. Objects have the numbers of
/// [`crate::wsl::memory::Memory`]; a thread of a draw is a group of its own.
pub type Race = concurrency::Race<Span>;

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

/// What was accessed, and what of it races.
#[derive(Clone, Debug)]
pub struct Races {
    /// The racing pairs, each pair of places once.
    pub found: Vec<Race>,
    /// The stores that are known to race, from other runs.
    known: Known,
    /// The stores that race in this run with what came before them.
    pub learnt: Known,
    /// The thread that runs.
    pub agent: Agent,
    /// The barriers that its group has passed: with a fence of threadgroup memory,
    /// and of device memory.
    pub epochs: (u32, u32),
    /// Where the step stands.
    pub place: Span,
    detector: Detector<Span>,
    pairs: FxHashSet<(Span, Span, bool)>,
}

impl Known {
    fn add(&mut self, word: (ObjectId, u32), atomic: bool, by: Agent, epoch: u32) {
        let stores = self.0.entry((word.0, word.1, atomic)).or_default();
        add(&mut stores.groups, by.workgroup);
        add(stores.threads.entry((by.workgroup, epoch)).or_default(), by.local);
    }

    /// Whether an access that reads races with one of these.
    fn races(&self, word: (ObjectId, u32), atomic: bool, by: Agent, epoch: u32) -> bool {
        let kinds: &[bool] = if atomic { &[false] } else { &[false, true] };
        kinds.iter().filter_map(|&atomic| self.0.get(&(word.0, word.1, atomic))).any(|stores| {
            let beside = stores.threads.get(&(by.workgroup, epoch));
            another(&stores.groups, by.workgroup) || beside.is_some_and(|threads| another(threads, by.local))
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
    /// Nothing was accessed; these stores are known to race.
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

    /// All threads of a group pass a barrier with a fence of this memory.
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

    /// Whether an access of a word that is not made yet would race with a store.
    pub fn races_with(&self, word: (ObjectId, u32), space: AddressSpace, kind: Kind) -> bool {
        self.detector.races_with_a_write(&self.access(word, space, kind)) || self.reads_what_races(word, space, kind)
    }

    /// Whether an access reads what is known to race. What a store leaves is told
    /// from what was there.
    fn reads_what_races(&self, word: (ObjectId, u32), space: AddressSpace, kind: Kind) -> bool {
        kind != Kind::Store && self.known.races(word, kind == ATOMIC, self.agent, self.epoch(space))
    }

    /// An access of a word by the thread that runs. Whether it races with a store.
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
