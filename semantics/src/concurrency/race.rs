//! Data races: Vulkan memory model, "Data Race". Two accesses to overlapping bytes race if one of
//! them writes, neither happens before the other, and they are not mutually ordered atomics.
//!
//! The detector keeps, for each byte, the earlier accesses that a later access can race with. It
//! keeps them by *site*, which is an instruction and its kind of access: the agents, and the epoch
//! of each agent's last access. Bytes are kept in granules of four. A granule is split if an access
//! covers only a part of it.
//!
//! In a language in which a race is undefined behaviour ([`Rules::race_is_undefined`]), the first
//! race is enough. There a plain write stands for all accesses before it, and a plain read stands
//! for the reads that are ordered before it. Otherwise the detector finds all races: for each
//! access, one race with each site. Then an access stands only for accesses by its own site.
//!
//! Memory is proportional to the number of bytes touched. Accesses of neighbouring agents share a
//! node if they have the same epoch and site.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::clock::Clock;
use super::order::{Order, Place};
use super::rules::Rules;
use super::scope::{Agent, Class, Classes, Scope, Semantics, Topology};

/// The kind of an atomic access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// OpAtomicLoad. Also OpAtomicCompareExchange if it compares unequal, with its semantics
    /// for that case.
    Load,
    /// OpAtomicStore.
    Store,
    /// All other atomics.
    ReadModifyWrite,
}

impl AtomicOp {
    /// Whether the access reads.
    pub fn reads(self) -> bool {
        self != AtomicOp::Store
    }

    /// Whether the access writes.
    pub fn writes(self) -> bool {
        self != AtomicOp::Load
    }
}

/// The kind of an access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A load that is not atomic.
    Load,
    /// A store that is not atomic.
    Store,
    /// An atomic access.
    Atomic {
        /// The kind of atomic access.
        op: AtomicOp,
        /// The memory scope.
        scope: Scope,
        /// The memory semantics.
        semantics: Semantics,
    },
}

impl Kind {
    /// Whether the access writes.
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

/// One access to shared memory. `P` is the caller's type for instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access<P = u32> {
    /// The invocation or thread that accesses.
    pub agent: Agent,
    /// The number of the object.
    pub object: u32,
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The storage class of the object.
    pub class: Class,
    /// Load, store or atomic, with its scope and semantics.
    pub kind: Kind,
    /// The instruction that accesses.
    pub instruction: P,
}

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceSide<P = u32> {
    /// The invocation or thread that accesses.
    pub agent: Agent,
    /// The instruction that accesses.
    pub instruction: P,
    /// Load, store or atomic, with its scope and semantics.
    pub kind: Kind,
}

/// Two conflicting accesses that are not ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race<P = u32> {
    /// The earlier access in this schedule.
    pub first: RaceSide<P>,
    /// The later access in this schedule.
    pub second: RaceSide<P>,
    /// The number of the object.
    pub object: u32,
    /// The first byte that both accesses touch.
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

/// The number of agents above which a tree is better than a list.
const FEW: usize = 8;
const GRANULE: u64 = 4;
const PAGE: u64 = 64;

/// A set of agents, each with the epoch of its last access.
#[derive(Clone, Debug)]
enum Agents {
    One(u32, u32),
    /// At most [`FEW`] agents, as pairs of agent and epoch.
    Few(Box<SmallVec<[(u32, u32); FEW + 1]>>),
    Many(Box<Clock>),
}

/// The properties of an atomic access that decide what it races with.
#[derive(Clone, Copy, Debug)]
struct Atomicity {
    scope: Scope,
    /// The classes that its semantics order.
    classes: Classes,
    /// The number of bytes. 0 if the access is not aligned, so that it is mutually ordered
    /// with nothing.
    size: u8,
}

/// A site: one instruction with one kind of access.
#[derive(Clone, Copy, Debug)]
struct StaticSite<P> {
    instruction: P,
    kind: Kind,
    atomic: Option<Atomicity>,
}

/// The agents that accessed a byte, by site.
type Cell = SmallVec<[(u32, Agents); 2]>;

#[derive(Clone, Debug)]
enum Granule {
    Whole(Cell),
    Bytes(Box<[Cell; GRANULE as usize]>),
}

/// The race detector of one run.
#[derive(Clone, Debug)]
pub struct Detector<P = u32> {
    order: Order,
    rules: Rules,
    zero: Clock,
    /// By object, then by offset / 64: the granules of a page.
    pages: FxHashMap<u32, FxHashMap<u64, Box<[Granule]>>>,
    sites: Vec<StaticSite<P>>,
    /// The index of each site, by instruction, kind, and size if atomic.
    numbers: FxHashMap<(P, Kind, u8), u32>,
}

/// An access, in the form that is compared with cells.
struct Probe<'c, P> {
    agent: u32,
    epoch: u32,
    site: u32,
    static_site: StaticSite<P>,
    class: Class,
    clocks: &'c [Clock; 4],
    topology: Topology,
    rules: Rules,
    sites: &'c [StaticSite<P>],
}

impl Detector {
    /// A detector for one dispatch, under rules in which a race is undefined behaviour.
    pub fn new(topology: Topology) -> Detector {
        Detector::with_rules(topology, Rules::MODEL)
    }
}

impl<P: Copy + Eq + Hash> Detector<P> {
    /// A detector with other rules: those of a language, or with planted bugs.
    pub fn with_rules(topology: Topology, rules: Rules) -> Detector<P> {
        Detector {
            order: Order::new(topology, rules),
            rules,
            zero: Clock::new(topology.invocations()),
            pages: FxHashMap::default(),
            sites: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }

    /// The current state of happens-before.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// Records an access. Returns the first earlier access that it races with. If a race is
    /// undefined behaviour, the run has no meaning after it. The detector then continues as if the
    /// two were ordered, so that callers can collect several.
    pub fn access(&mut self, access: &Access<P>) -> Option<Race<P>> {
        let mut first = None;
        self.races(access, |race| _ = first.get_or_insert(race));
        first
    }

    /// Records an access, and passes its races with earlier accesses to `report`.
    pub fn races(&mut self, access: &Access<P>, mut report: impl FnMut(Race<P>)) {
        let Access { object, offset, bytes, class, kind, .. } = *access;
        if bytes == 0 {
            return;
        }
        let agent = self.order.topology().number(access.agent);
        let static_site = self.static_site(access);
        let place = match static_site.atomic {
            Some(Atomicity { size, .. }) if size != 0 => Some(Place { object, offset, size, class }),
            _ => None,
        };
        // An acquiring read is ordered after the releases that it synchronizes with, so it is
        // recorded before the access is checked.
        if let (Some(place), Kind::Atomic { op, scope, semantics }) = (place, &kind)
            && op.reads()
        {
            self.order.atomic_read(agent, place, *scope, semantics);
        }
        self.check(agent, access, static_site, &mut report);
        match (place, kind) {
            (Some(place), Kind::Atomic { op, scope, semantics }) if op.writes() => {
                self.order.atomic_write(agent, place, op, scope, &semantics);
            }
            (None, _) if kind.writes() => self.order.record_plain_write(object, offset, bytes),
            _ => {}
        }
    }

    /// Whether an access would race with an earlier write. The access is not recorded.
    pub fn races_with_a_write(&self, access: &Access<P>) -> bool {
        let Access { object, offset, bytes, class, .. } = *access;
        let agent = self.order.topology().number(access.agent);
        let (epoch, clocks) = self.order.state(agent);
        let (topology, rules, static_site) = (*self.order.topology(), self.rules, self.static_site(access));
        let probe = Probe { agent, epoch, site: 0, static_site, class, clocks, topology, rules, sites: &self.sites };
        let Some(pages) = self.pages.get(&object) else { return false };
        let races =
            |cell: &Cell| cell.iter().any(|(site, agents)| self.sites[*site as usize].kind.writes() && probe.race(*site, agents).is_some());
        let end = offset.saturating_add(bytes);
        (offset / GRANULE..end.div_ceil(GRANULE)).any(|granule| {
            let page = pages.get(&(granule * GRANULE / PAGE));
            match page.map(|page| &page[(granule % (PAGE / GRANULE)) as usize]) {
                Some(Granule::Whole(cell)) => races(cell),
                Some(Granule::Bytes(cells)) => {
                    (0..).zip(&cells[..]).any(|(k, cell)| (offset..end).contains(&(granule * GRANULE + k)) && races(cell))
                }
                None => false,
            }
        })
    }

    /// Executes an OpMemoryBarrier of one agent.
    pub fn fence(&mut self, agent: Agent, scope: Scope, semantics: &Semantics) {
        let agent = self.order.topology().number(agent);
        self.order.fence(agent, scope, semantics);
    }

    /// Executes an OpControlBarrier at which these agents of one workgroup have arrived.
    pub fn barrier(&mut self, participants: &[Agent], scope: Scope, semantics: &Semantics) {
        let topology = *self.order.topology();
        let numbers: Vec<u32> = participants.iter().map(|agent| topology.number(*agent)).collect();
        self.order.barrier(&numbers, scope, semantics);
    }

    /// Executes an OpControlBarrier at which a whole workgroup has arrived.
    pub fn workgroup_barrier(&mut self, workgroup: u32, scope: Scope, semantics: &Semantics) {
        let topology = *self.order.topology();
        let numbers: Vec<u32> = topology.instance(topology.number(Agent { workgroup, local: 0 }), Scope::Workgroup).collect();
        self.order.barrier(&numbers, scope, semantics);
    }

    /// Ends a workgroup: drops the state that only its running invocations need. Later accesses
    /// still race with its accesses.
    pub fn retire(&mut self, workgroup: u32) {
        self.order.retire(workgroup);
    }

    /// Ends an object, such as the memory of a workgroup that has ended. A later object may have
    /// the same number.
    pub fn forget(&mut self, object: u32) {
        self.pages.remove(&object);
        self.order.forget(object);
    }

    fn static_site(&self, access: &Access<P>) -> StaticSite<P> {
        let Access { offset, bytes, kind, instruction, .. } = *access;
        let atomic = match kind {
            Kind::Atomic { scope, semantics, .. } => {
                let aligned = matches!(bytes, 1 | 2 | 4 | 8) && offset.is_multiple_of(bytes);
                Some(Atomicity { scope, classes: (self.rules.ordered)(&semantics), size: if aligned { bytes as u8 } else { 0 } })
            }
            Kind::Load | Kind::Store => None,
        };
        StaticSite { instruction, kind, atomic }
    }

    /// Checks an access against the earlier accesses, and records it.
    fn check(&mut self, agent: u32, access: &Access<P>, static_site: StaticSite<P>, report: &mut impl FnMut(Race<P>)) {
        let Access { object, offset, bytes, class, .. } = *access;
        let end = offset.saturating_add(bytes);
        let site = *self
            .numbers
            .entry((static_site.instruction, static_site.kind, static_site.atomic.map_or(0, |a| a.size)))
            .or_insert_with(|| {
                self.sites.push(static_site);
                self.sites.len() as u32 - 1
            });
        let (epoch, clocks) = self.order.state(agent);
        let topology = *self.order.topology();
        let probe = Probe { agent, epoch, site, static_site, class, clocks, topology, rules: self.rules, sites: &self.sites };
        let second = RaceSide { agent: access.agent, instruction: static_site.instruction, kind: static_site.kind };
        let mut visit = |cell: &mut Cell, offset: u64| {
            for (site, agents) in cell.iter() {
                if let Some(first) = probe.race(*site, agents) {
                    let StaticSite { instruction, kind, .. } = probe.sites[*site as usize];
                    let first = RaceSide { agent: topology.agent(first), instruction, kind };
                    report(Race { first, second, object, offset });
                    if probe.rules.race_is_undefined {
                        break;
                    }
                }
            }
            probe.record(cell, &self.zero);
        };
        let pages = self.pages.entry(object).or_default();
        for page in offset / PAGE..=(end - 1) / PAGE {
            let granules =
                pages.entry(page).or_insert_with(|| vec![Granule::Whole(Cell::new()); (PAGE / GRANULE) as usize].into_boxed_slice());
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
                    Granule::Whole(cell) => visit(cell, base),
                    Granule::Bytes(cells) => {
                        (from.max(base)..to.min(base + GRANULE)).for_each(|at| visit(&mut cells[(at - base) as usize], at));
                    }
                }
            }
        }
    }

    /// The approximate number of bytes that the detector's state of memory takes, for measurements.
    pub fn footprint(&self) -> usize {
        let agents = |(_, agents): &(u32, Agents)| match agents {
            Agents::One(..) => 0,
            Agents::Few(_) => size_of::<SmallVec<[(u32, u32); FEW + 1]>>(),
            Agents::Many(clock) => size_of::<Clock>() + clock.nodes() * (16 * 16 + 16),
        };
        let cell = |cell: &Cell| {
            let spilled = if cell.spilled() { cell.capacity() * size_of::<(u32, Agents)>() } else { 0 };
            spilled + cell.iter().map(agents).sum::<usize>()
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

impl Agents {
    /// Adds an access, and removes the accesses that it stands for.
    fn add(&mut self, agent: u32, epoch: u32, stands_for: impl Fn(u32, u32) -> bool, zero: &Clock) {
        match self {
            Agents::One(other, other_epoch) if *other == agent || stands_for(*other, *other_epoch) => *self = Agents::One(agent, epoch),
            Agents::One(other, other_epoch) => {
                *self = Agents::Few(Box::new(SmallVec::from_slice(&[(*other, *other_epoch), (agent, epoch)])))
            }
            Agents::Few(few) => {
                few.retain(|(other, other_epoch)| *other != agent && !stands_for(*other, *other_epoch));
                few.push((agent, epoch));
                if few.len() > FEW {
                    let mut many = zero.clone();
                    few.iter().for_each(|(agent, epoch)| many.set(*agent, u64::from(*epoch)));
                    *self = Agents::Many(Box::new(many));
                }
            }
            Agents::Many(many) => many.set(agent, u64::from(epoch)),
        }
    }
}

impl<P> Probe<'_, P> {
    /// Whether an earlier access by another agent happens before this one: in the location's class,
    /// or in one of `other_classes`.
    fn is_ordered_after(&self, agent: u32, epoch: u32, other_classes: Classes) -> bool {
        let is_before = |class: Class| self.clocks[class as usize].get(agent) >= u64::from(epoch);
        is_before(self.class) || other_classes.iter().any(is_before)
    }

    /// An agent whose access by that site races with this one, if there is one.
    fn race(&self, site: u32, agents: &Agents) -> Option<u32> {
        let other = &self.sites[site as usize];
        if !(self.rules.conflict)(other.kind.writes(), self.static_site.kind.writes()) {
            return None;
        }
        let (mut excluded, mut other_classes) = (self.agent..self.agent + 1, Classes::NONE);
        if let (Some(a), Some(b)) = (self.static_site.atomic, other.atomic) {
            if a.size != 0 && b.size != 0 && (self.rules.same_locations)(a.size, b.size) {
                excluded = self.topology.instance(self.agent, (self.rules.common)(a.scope, b.scope));
            }
            other_classes = (self.rules.between_atomics)(a.classes, b.classes);
        }
        let races = |agent: u32, epoch: u32| !excluded.contains(&agent) && !self.is_ordered_after(agent, epoch, other_classes);
        match agents {
            Agents::One(agent, epoch) => races(*agent, *epoch).then_some(*agent),
            Agents::Few(few) => few.iter().find(|(agent, epoch)| races(*agent, *epoch)).map(|(agent, _)| *agent),
            // The class of the location decides most cases, for all agents at once. The classes
            // that both atomics order are checked agent by agent.
            Agents::Many(many) => {
                let clock = &self.clocks[self.class as usize];
                let (first, epoch) = many.search(clock, &excluded, |access, seen| access > seen)?;
                let search_rest =
                    || (first..self.topology.invocations()).find(|agent| many.get(*agent) != 0 && races(*agent, many.get(*agent) as u32));
                if races(first, epoch as u32) { Some(first) } else { search_rest() }
            }
        }
    }

    /// Records this access, and removes the accesses that it stands for.
    fn record(&self, cell: &mut Cell, zero: &Clock) {
        let (agent, epoch, kind) = (self.agent, self.epoch, self.static_site.kind);
        // A plain access stands for the accesses ordered before it. An atomic one does not: it is
        // mutually ordered with other atomics than they are.
        let stands_for =
            |other: u32, other_epoch: u32| self.static_site.atomic.is_none() && self.is_ordered_after(other, other_epoch, Classes::NONE);
        match kind {
            Kind::Store if self.rules.race_is_undefined => cell.clear(),
            Kind::Load if self.rules.race_is_undefined => cell.retain(|(site, agents)| match agents {
                Agents::One(other, other_epoch) => {
                    *site == self.site
                        || self.sites[*site as usize].kind != Kind::Load
                        || !(*other == agent || stands_for(*other, *other_epoch))
                }
                Agents::Few(_) | Agents::Many(_) => true,
            }),
            _ => {}
        }
        match cell.iter_mut().find(|(site, _)| *site == self.site) {
            Some((_, agents)) => agents.add(agent, epoch, stands_for, zero),
            None => {
                let rank = |kind: Kind| match kind {
                    Kind::Store => 0,
                    Kind::Load => 1,
                    Kind::Atomic { .. } => 2,
                };
                let entry = (self.site, Agents::One(agent, epoch));
                match cell.iter().position(|(site, _)| rank(self.sites[*site as usize].kind) > rank(kind)) {
                    Some(after) => cell.insert(after, entry),
                    None => cell.push(entry),
                }
            }
        }
    }
}
