//! Data races: Vulkan memory model, "Data Race". Two accesses to overlapping bytes race if one of
//! them writes, neither happens before the other, and they are not mutually ordered atomics.
//!
//! What is kept for each byte, in granules of four that are split where an access is narrower, is
//! what a later access can race with: the last plain write, the plain reads since, and the atomic
//! accesses since, the latter two by agent. A plain write that races with nothing is ordered after
//! all of them and stands for them from then on. Memory is in proportion to the bytes touched;
//! accesses by neighbouring agents in one epoch by one instruction share a node.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::clock::Clock;
use super::order::{Order, Place};
use super::rules::Rules;
use super::scope::{Agent, Class, Classes, Scope, Semantics, Topology};

/// What an atomic access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// OpAtomicLoad; also OpAtomicCompareExchange where it compares unequal, with its semantics for
    /// that case.
    Load,
    /// OpAtomicStore.
    Store,
    /// All other atomics.
    ReadModifyWrite,
}

impl AtomicOp {
    /// Whether it reads.
    pub fn reads(self) -> bool {
        self != AtomicOp::Store
    }

    /// Whether it writes.
    pub fn writes(self) -> bool {
        self != AtomicOp::Load
    }
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A load that is not atomic.
    Load,
    /// A store that is not atomic.
    Store,
    /// An atomic access.
    Atomic {
        /// What it does.
        op: AtomicOp,
        /// Its memory scope.
        scope: Scope,
        /// Its memory semantics.
        semantics: Semantics,
    },
}

impl Kind {
    /// Whether it writes.
    pub fn writes(self) -> bool {
        match self {
            Kind::Load => false,
            Kind::Store => true,
            Kind::Atomic { op, .. } => op.writes(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Load => "load",
            Kind::Store => "store",
            Kind::Atomic { op: AtomicOp::Load, .. } => "atomic load",
            Kind::Atomic { op: AtomicOp::Store, .. } => "atomic store",
            Kind::Atomic { op: AtomicOp::ReadModifyWrite, .. } => "atomic read-modify-write",
        }
    }
}

/// One access to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// By whom.
    pub agent: Agent,
    /// To which object.
    pub object: u32,
    /// From which byte.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// The object's storage class.
    pub class: Class,
    /// How.
    pub kind: Kind,
    /// By which instruction, as the caller numbers them.
    pub instruction: u32,
}

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// By whom.
    pub agent: Agent,
    /// By which instruction.
    pub instruction: u32,
    /// How.
    pub kind: Kind,
}

/// Two unordered conflicting accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The earlier access in this schedule.
    pub first: Site,
    /// The later one.
    pub second: Site,
    /// The object.
    pub object: u32,
    /// The first byte that both access.
    pub offset: u64,
}

impl std::fmt::Display for Race {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Race { first, second, offset, .. } = self;
        write!(
            f,
            "the {} by {} and the earlier {} by {} both access byte {offset}, and neither happens before the other",
            second.kind.name(),
            second.agent,
            first.kind.name(),
            first.agent
        )?;
        if let (Kind::Atomic { scope: a, .. }, Kind::Atomic { scope: b, .. }) = (first.kind, second.kind) {
            write!(f, "; atomics of scopes {} and {} there, or of other sizes, do not exclude each other", a.name(), b.name())?;
        }
        Ok(())
    }
}

/// From how many readers on a tree is better than a list.
const FEW: usize = 8;
const NOBODY: u32 = u32::MAX;
const GRANULE: u64 = 4;
const PAGE: u64 = 64;

/// Who, when, by what; `agent` is [`NOBODY`] where there is none.
#[derive(Clone, Copy, Debug)]
struct Entry {
    agent: u32,
    epoch: u32,
    site: u32,
}

impl Entry {
    const NONE: Entry = Entry { agent: NOBODY, epoch: 0, site: 0 };

    fn number(self) -> u64 {
        u64::from(self.epoch) << 32 | u64::from(self.site)
    }

    fn of(agent: u32, number: u64) -> Entry {
        Entry { agent, epoch: (number >> 32) as u32, site: number as u32 }
    }
}

#[derive(Clone, Debug)]
enum Reads {
    /// None, or one.
    One(Entry),
    /// Up to [`FEW`], by different agents.
    Few(Box<SmallVec<[Entry; FEW + 1]>>),
    /// By agent.
    Many(Box<Clock>),
}

/// What matters of atomic accesses for what they race with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Atomicity {
    writes: bool,
    scope: Scope,
    /// The classes that its semantics order.
    classes: Classes,
    /// 0 where it is not aligned, so that it is mutually ordered with nothing.
    size: u8,
}

/// The last atomic accesses of each kind, by agent.
type Atomics = SmallVec<[(Atomicity, Clock); 1]>;

#[derive(Clone, Debug)]
struct Cell {
    write: Entry,
    reads: Reads,
    atomics: Option<Box<Atomics>>,
}

impl Cell {
    const NEW: Cell = Cell { write: Entry::NONE, reads: Reads::One(Entry::NONE), atomics: None };
}

#[derive(Clone, Debug)]
enum Granule {
    Whole(Cell),
    Bytes(Box<[Cell; GRANULE as usize]>),
}

/// The race detector of one run.
#[derive(Clone)]
pub struct Detector {
    order: Order,
    rules: Rules,
    zero: Clock,
    /// By object, then by offset / 64.
    pages: FxHashMap<u32, FxHashMap<u64, Box<[Granule]>>>,
    /// Instruction and kind by number; the numbers of accesses begin at 1.
    sites: Vec<(u32, Kind)>,
    numbers: FxHashMap<(u32, Kind), u32>,
}

/// One access as the cells see it.
struct Probe<'c> {
    agent: u32,
    writes: bool,
    atomic: Option<Atomicity>,
    class: Class,
    clocks: &'c [Clock; 4],
    topology: Topology,
    rules: Rules,
    here: Entry,
}

impl Detector {
    /// A detector for one dispatch.
    pub fn new(topology: Topology) -> Detector {
        Detector::with_rules(topology, Rules::MODEL)
    }

    /// A detector under other rules: for planted bugs.
    pub fn with_rules(topology: Topology, rules: Rules) -> Detector {
        Detector {
            order: Order::new(topology, rules),
            rules,
            zero: Clock::new(topology.invocations()),
            pages: FxHashMap::default(),
            sites: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }

    /// Happens-before as it stands.
    pub fn order(&mut self) -> &mut Order {
        &mut self.order
    }

    /// An access, and the earlier access that it races with. After a race the run has no meaning;
    /// the detector goes on as if the two were ordered, for those who collect several.
    pub fn access(&mut self, access: &Access) -> Option<Race> {
        let Access { object, offset, bytes, class, kind, .. } = *access;
        if bytes == 0 {
            return None;
        }
        let topology = *self.order.topology();
        let agent = topology.number(access.agent);
        let mut atomic = None;
        let mut place = None;
        if let Kind::Atomic { op, scope, semantics } = kind {
            let aligned = matches!(bytes, 1 | 2 | 4 | 8) && offset.is_multiple_of(bytes);
            let size = if aligned { bytes as u8 } else { 0 };
            atomic = Some(Atomicity { writes: op.writes(), scope, classes: (self.rules.ordered)(&semantics), size });
            place = aligned.then_some((Place { object, offset, size, class }, op, scope, semantics));
        }
        // An acquire is ordered after what it synchronizes with, so before its access is checked.
        if let Some((place, op, scope, semantics)) = &place
            && op.reads()
        {
            self.order.atomic_read(agent, *place, *scope, semantics);
        }
        let site = self.site(access.instruction, kind);
        let found = self.check(agent, access, atomic, site);
        match place {
            Some((place, op, scope, semantics)) if op.writes() => self.order.atomic_write(agent, place, op, scope, &semantics),
            None if kind.writes() => self.order.written(object, offset, bytes),
            _ => {}
        }
        found.map(|(entry, at)| {
            let (instruction, first) = self.sites[entry.site as usize - 1];
            Race {
                first: Site { agent: topology.agent(entry.agent), instruction, kind: first },
                second: Site { agent: access.agent, instruction: access.instruction, kind },
                object,
                offset: at,
            }
        })
    }

    /// OpMemoryBarrier by one agent.
    pub fn fence(&mut self, agent: Agent, scope: Scope, semantics: &Semantics) {
        let agent = self.order.topology().number(agent);
        self.order.fence(agent, scope, semantics);
    }

    /// OpControlBarrier that these agents, all of one workgroup, arrived at and now leave.
    pub fn barrier(&mut self, participants: &[Agent], scope: Scope, semantics: &Semantics) {
        let topology = *self.order.topology();
        let numbers: Vec<u32> = participants.iter().map(|agent| topology.number(*agent)).collect();
        self.order.barrier(&numbers, scope, semantics);
    }

    /// OpControlBarrier that a whole workgroup arrived at.
    pub fn workgroup_barrier(&mut self, workgroup: u32, scope: Scope, semantics: &Semantics) {
        let topology = *self.order.topology();
        let numbers: Vec<u32> = topology.instance(topology.number(Agent { workgroup, local: 0 }), Scope::Workgroup).collect();
        self.order.barrier(&numbers, scope, semantics);
    }

    /// The workgroup has ended: what only its running invocations need is dropped. Its accesses
    /// still race with others'.
    pub fn retire(&mut self, workgroup: u32) {
        self.order.retire(workgroup);
    }

    /// An object is gone, as a workgroup's memory is when the workgroup ends: later objects may
    /// have its number.
    pub fn forget(&mut self, object: u32) {
        self.pages.remove(&object);
        self.order.forget(object);
    }

    fn site(&mut self, instruction: u32, kind: Kind) -> u32 {
        *self.numbers.entry((instruction, kind)).or_insert_with(|| {
            self.sites.push((instruction, kind));
            self.sites.len() as u32
        })
    }

    /// Checks the access against what is kept, then keeps it.
    fn check(&mut self, agent: u32, access: &Access, atomic: Option<Atomicity>, site: u32) -> Option<(Entry, u64)> {
        let Access { object, offset, bytes, class, .. } = *access;
        let end = offset.saturating_add(bytes);
        let topology = *self.order.topology();
        let (epoch, clocks) = self.order.state(agent);
        let here = Entry { agent, epoch, site };
        let probe = Probe { agent, writes: access.kind.writes(), atomic, class, clocks, topology, rules: self.rules, here };
        let mut found = None;
        let pages = self.pages.entry(object).or_default();
        for page in offset / PAGE..=(end - 1) / PAGE {
            let granules =
                pages.entry(page).or_insert_with(|| vec![Granule::Whole(Cell::NEW); (PAGE / GRANULE) as usize].into_boxed_slice());
            let (from, to) = (offset.max(page * PAGE), end.min((page + 1).saturating_mul(PAGE)));
            let first = (from - page * PAGE) / GRANULE;
            for (index, granule) in granules.iter_mut().enumerate().skip(first as usize) {
                let base = page * PAGE + index as u64 * GRANULE;
                if base >= to {
                    break;
                }
                let partial = from > base || to < base + GRANULE;
                if partial && let Granule::Whole(cell) = granule {
                    *granule = Granule::Bytes(Box::new(std::array::from_fn(|_| cell.clone())));
                }
                match granule {
                    Granule::Whole(cell) => {
                        let race = probe.race(cell);
                        found = found.or(race.map(|entry| (entry, base)));
                        probe.keep(cell, &self.zero);
                    }
                    Granule::Bytes(cells) => {
                        for at in from.max(base)..to.min(base + GRANULE) {
                            let cell = &mut cells[(at - base) as usize];
                            let race = probe.race(cell);
                            found = found.or(race.map(|entry| (entry, at)));
                            probe.keep(cell, &self.zero);
                        }
                    }
                }
            }
        }
        found
    }

    /// How many bytes the detector keeps about memory, roughly: for measurements.
    pub fn footprint(&self) -> usize {
        let many = |clock: &Clock| size_of::<Clock>() + clock.nodes() * (16 * 16 + 16);
        let cell = |cell: &Cell| {
            let reads = match &cell.reads {
                Reads::One(_) => 0,
                Reads::Few(_) => size_of::<SmallVec<[Entry; FEW + 1]>>(),
                Reads::Many(reads) => many(reads),
            };
            let atomics = cell.atomics.iter().flat_map(|a| a.iter()).map(|(_, clock)| size_of::<Atomicity>() + many(clock));
            reads + atomics.sum::<usize>()
        };
        let granule = |granule: &Granule| {
            size_of::<Granule>()
                + match granule {
                    Granule::Whole(whole) => cell(whole),
                    Granule::Bytes(cells) => size_of::<[Cell; 4]>() + cells.iter().map(cell).sum::<usize>(),
                }
        };
        self.pages.values().flat_map(|pages| pages.values()).flat_map(|page| page.iter()).map(granule).sum()
    }
}

impl Probe<'_> {
    /// Whether an earlier plain access happens before this one.
    fn after(&self, entry: Entry) -> bool {
        entry.agent == self.agent || self.clocks[self.class as usize].get(entry.agent) >= u64::from(entry.epoch)
    }

    /// What is kept that this access races with.
    fn race(&self, cell: &Cell) -> Option<Entry> {
        let conflict = self.rules.conflict;
        if cell.write.agent != NOBODY && conflict(true, self.writes) && !self.after(cell.write) {
            return Some(cell.write);
        }
        let clock = &self.clocks[self.class as usize];
        if conflict(false, self.writes) {
            match &cell.reads {
                Reads::One(entry) if entry.agent != NOBODY && !self.after(*entry) => return Some(*entry),
                Reads::One(_) => {}
                Reads::Few(reads) => {
                    if let Some(entry) = reads.iter().find(|entry| !self.after(**entry)) {
                        return Some(*entry);
                    }
                }
                Reads::Many(reads) => {
                    let found = reads.search(clock, &(self.agent..self.agent + 1), |read, seen| read >> 32 > seen);
                    if let Some((agent, number)) = found {
                        return Some(Entry::of(agent, number));
                    }
                }
            }
        }
        cell.atomics.iter().flat_map(|atomics| atomics.iter()).find_map(|(other, accesses)| self.race_with_atomics(other, accesses))
    }

    fn race_with_atomics(&self, other: &Atomicity, accesses: &Clock) -> Option<Entry> {
        if !(self.rules.conflict)(other.writes, self.writes) {
            return None;
        }
        let mut except = self.agent..self.agent + 1;
        let mut also = Classes::NONE;
        if let Some(atomic) = self.atomic {
            if atomic.size != 0 && other.size != 0 && (self.rules.same_locations)(atomic.size, other.size) {
                except = self.topology.instance(self.agent, (self.rules.common)(atomic.scope, other.scope));
            }
            also = (self.rules.between_atomics)(atomic.classes, other.classes);
        }
        // Most often the class of the location decides; classes that both order are asked too,
        // agent by agent.
        let clock = &self.clocks[self.class as usize];
        let found = accesses.search(clock, &except, |access, seen| access >> 32 > seen)?;
        let ordered = |agent: u32, number: u64| also.iter().any(|class| self.clocks[class as usize].get(agent) >= number >> 32);
        if !ordered(found.0, found.1) {
            return Some(Entry::of(found.0, found.1));
        }
        (found.0..self.topology.invocations()).filter(|agent| !except.contains(agent)).find_map(|agent| {
            let number = accesses.get(agent);
            let racing = number != 0 && number >> 32 > clock.get(agent) && !ordered(agent, number);
            racing.then(|| Entry::of(agent, number))
        })
    }

    fn keep(&self, cell: &mut Cell, zero: &Clock) {
        let agent = self.agent;
        match self.atomic {
            Some(atomic) => {
                let atomics = cell.atomics.get_or_insert_default();
                let at = atomics.iter().position(|(other, _)| *other == atomic).unwrap_or_else(|| {
                    atomics.push((atomic, zero.clone()));
                    atomics.len() - 1
                });
                atomics[at].1.set(agent, self.here.number());
            }
            None if self.writes => *cell = Cell { write: self.here, ..Cell::NEW },
            None => match &mut cell.reads {
                Reads::One(entry) if entry.agent == NOBODY || self.after(*entry) => *entry = self.here,
                Reads::One(entry) => cell.reads = Reads::Few(Box::new(SmallVec::from_slice(&[*entry, self.here]))),
                Reads::Few(few) => {
                    // Who is ordered before this access is stood for by it.
                    few.retain(|entry| !self.after(*entry));
                    few.push(self.here);
                    if few.len() > FEW {
                        let mut reads = zero.clone();
                        few.iter().for_each(|entry| reads.set(entry.agent, entry.number()));
                        cell.reads = Reads::Many(Box::new(reads));
                    }
                }
                Reads::Many(reads) => reads.set(agent, self.here.number()),
            },
        }
    }
}
