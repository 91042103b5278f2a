//! Executions of the Vulkan memory model: events, the write that each atomic reads, and the
//! modification order of each location. An execution is *consistent* if its relations have no cycle
//! ("Acyclicity"). It has a meaning if it has no race ("Data Race").
//!
//! Events are added in sequence, each after all events that happen before it. So happens-before of
//! an event is known as soon as it is added. A read may see a write that comes later, a *promised*
//! write. A promise has a place in the modification order and a value. A later event must fulfil
//! it. No other relation points backwards.
//!
//! Location-ordered is happens-before here, as in [`super`].

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::race::{Access, AtomicOp, Kind, Race, RaceSide};
use super::rules::{Ends, Rules};
use super::scope::{Classes, Scope, Semantics, Topology};

/// The most events of an execution: the bits of a set.
pub const EVENTS: usize = u128::BITS as usize;
/// The number of non-empty sets of classes, the parameters of inter-thread-happens-before.
const SETS: usize = 15;

/// A range of bytes: the object, the first byte, and the number of bytes.
pub type Location = (u32, u64, u64);

/// An action of an agent that others can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// An access to memory.
    Access(Access),
    /// OpMemoryBarrier.
    Fence(Scope, Semantics),
    /// The agent's part in the control barrier of that number.
    Barrier(u32, Scope, Semantics),
}

/// One event of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The number of the agent.
    pub agent: u32,
    /// The action.
    pub kind: EventKind,
}

impl Event {
    fn atomic(&self) -> Option<(&Access, AtomicOp, Scope, Semantics)> {
        match &self.kind {
            EventKind::Access(access) => match access.kind {
                Kind::Atomic { op, scope, semantics } => Some((access, op, scope, semantics)),
                Kind::Load | Kind::Store => None,
            },
            _ => None,
        }
    }

    fn reads_atomically(&self) -> bool {
        self.atomic().is_some_and(|(_, op, ..)| op.reads())
    }

    fn writes_atomically(&self) -> bool {
        self.atomic().is_some_and(|(_, op, ..)| op.writes())
    }

    fn is_barrier(&self) -> bool {
        !matches!(self.kind, EventKind::Access(_))
    }

    fn scope(&self) -> Scope {
        match self.kind {
            EventKind::Fence(scope, _) | EventKind::Barrier(_, scope, _) => scope,
            EventKind::Access(_) => self.atomic().map_or(Scope::Invocation, |(_, _, scope, _)| scope),
        }
    }

    fn semantics(&self) -> Semantics {
        match self.kind {
            EventKind::Fence(_, semantics) | EventKind::Barrier(_, _, semantics) => semantics,
            EventKind::Access(_) => self.atomic().map_or(Semantics::RELAXED, |(.., semantics)| semantics),
        }
    }
}

/// The location of an access.
pub fn location(access: &Access) -> Location {
    (access.object, access.offset, access.bytes)
}

/// A write in a modification order.
#[derive(Clone, Debug)]
struct Write<V> {
    /// The event that makes the write. `None` while it is only promised.
    event: Option<usize>,
    value: V,
}

/// The modification order of a location.
#[derive(Clone, Debug)]
struct Writes<V> {
    initial: V,
    /// The numbers of the writes, in their order.
    order: Vec<usize>,
}

/// The source of an atomic read: a write by its number, or `None` for the initial value.
type Source = Option<usize>;

/// An execution, to which events are added.
#[derive(Clone)]
pub struct Execution<V> {
    topology: Topology,
    rules: Rules,
    events: Vec<Event>,
    /// By event: its source. `None` if it does not read atomically.
    sources: Vec<Option<Source>>,
    /// By event: the number of its write, if it is an atomic write.
    own_writes: Vec<Option<usize>>,
    writes: Vec<Write<V>>,
    locations: BTreeMap<Location, Writes<V>>,
    /// By event and set of classes: the events that inter-thread-happen-before it, one bit each.
    before: Vec<[u128; SETS]>,
    /// By event: the events that synchronize with it, one bit each.
    synchronized: Vec<u128>,
    /// The number of promised writes.
    promised: usize,
    /// The first race, if there is one.
    race: Option<Race>,
}

impl<V: Clone + PartialEq> Execution<V> {
    /// An execution without events.
    pub fn new(topology: Topology, rules: Rules) -> Execution<V> {
        Execution {
            topology,
            rules,
            events: Vec::new(),
            sources: Vec::new(),
            own_writes: Vec::new(),
            writes: Vec::new(),
            locations: BTreeMap::new(),
            before: Vec::new(),
            synchronized: Vec::new(),
            promised: 0,
            race: None,
        }
    }

    /// The events, in an order that respects happens-before.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The number of writes that are promised and not yet made.
    pub fn promised(&self) -> usize {
        self.promised
    }

    /// The first race.
    pub fn race(&self) -> Option<&Race> {
        self.race.as_ref()
    }

    /// The event that an atomic reads from. The inner `None` is the initial value, the outer one an
    /// event that does not read.
    pub fn read_by(&self, event: usize) -> Option<Option<&Event>> {
        self.sources[event].map(|source| source.and_then(|write| self.writes[write].event).map(|event| &self.events[event]))
    }

    /// Whether all events that order anything order the same classes.
    pub fn is_uniform(&self) -> bool {
        let mut classes = self.events.iter().map(|event| (self.rules.ordered)(&event.semantics())).filter(|classes| !classes.is_empty());
        classes.next().is_none_or(|first| classes.all(|other| other == first))
    }

    /// Adds a location with its initial value.
    pub fn hold(&mut self, at: Location, initial: V) {
        self.locations.entry(at).or_insert(Writes { initial, order: Vec::new() });
    }

    /// The last value in the location's modification order so far.
    pub fn last(&self, at: Location) -> Option<&V> {
        let writes = self.locations.get(&at)?;
        Some(writes.order.last().map_or(&writes.initial, |&write| &self.writes[write].value))
    }

    /// The number of writes to the location.
    pub fn length(&self, at: Location) -> usize {
        self.locations.get(&at).map_or(0, |writes| writes.order.len())
    }

    /// The value at a place of the modification order. Place 0 is the initial value.
    pub fn value(&self, at: Location, place: usize) -> Option<&V> {
        let writes = self.locations.get(&at)?;
        match place.checked_sub(1) {
            None => Some(&writes.initial),
            Some(index) => writes.order.get(index).map(|&write| &self.writes[write].value),
        }
    }

    /// Whether the write at a place is only promised.
    pub fn is_promised(&self, at: Location, place: usize) -> bool {
        let write = place.checked_sub(1).and_then(|index| self.locations.get(&at)?.order.get(index));
        write.is_some_and(|&write| self.writes[write].event.is_none())
    }

    /// The promised writes: their locations and values.
    pub fn promises(&self) -> impl Iterator<Item = (Location, &V)> {
        let of = |(at, writes): (&Location, &Writes<V>)| writes.order.iter().map(|write| (*at, *write)).collect::<SmallVec<[_; 4]>>();
        let all = self.locations.iter().flat_map(of);
        all.filter(|(_, write)| self.writes[*write].event.is_none()).map(|(at, write)| (at, &self.writes[write].value))
    }

    /// The atomic writes: location, agent and value.
    pub fn values(&self) -> impl Iterator<Item = (Location, u32, &V)> {
        self.own_writes.iter().zip(&self.events).filter_map(|(write, event)| {
            let (access, ..) = event.atomic()?;
            Some((location(access), event.agent, &self.writes[(*write)?].value))
        })
    }

    /// The number of events of an agent.
    pub fn count(&self, agent: u32) -> usize {
        self.events.iter().filter(|event| event.agent == agent).count()
    }

    /// The atomic writes: the agent, and the index of the write among the agent's events.
    pub fn last_writes(&self) -> impl Iterator<Item = (u32, usize)> {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        self.events.iter().filter_map(move |event| {
            let count = counts.entry(event.agent).or_default();
            *count += 1;
            event.writes_atomically().then_some((event.agent, *count - 1))
        })
    }

    /// Promises a write at a place. The writes before that place stay. Returns whether the
    /// modification order allows it.
    pub fn promise(&mut self, at: Location, place: usize, value: V) -> bool {
        if !self.insert(at, place, Write { event: None, value }) {
            return false;
        }
        self.promised += 1;
        true
    }

    /// Inserts a write at a place. Returns false if it would separate a read-modify-write from the
    /// write that it reads.
    fn insert(&mut self, at: Location, place: usize, write: Write<V>) -> bool {
        let Some(writes) = self.locations.get_mut(&at) else { return false };
        writes.order.insert(place - 1, self.writes.len());
        self.writes.push(write);
        self.fits(at, place + 1)
    }

    /// Whether the write at a place may be there. Only a read-modify-write may fail to fit.
    fn fits(&self, at: Location, place: usize) -> bool {
        let next = self.locations.get(&at).and_then(|writes| writes.order.get(place - 1));
        let event = next.and_then(|&write| self.writes[write].event);
        event.is_none_or(|event| match self.ends(event) {
            Ends { read: Some(read), write: Some(write) } => (self.rules.adjacent)(read, write),
            _ => true,
        })
    }

    /// Adds an access or a fence. An atomic reads from the place `read`. `wrote` holds the place of
    /// its write, whether the write keeps the promise there, and the value. Returns whether the
    /// execution is still consistent.
    pub fn add(&mut self, event: Event, read: Option<usize>, wrote: Option<(usize, bool, V)>) -> bool {
        let number = self.events.len();
        let at = if let EventKind::Access(access) = &event.kind { location(access) } else { (0, 0, 0) };
        let source = read.map(|place| place.checked_sub(1).map(|index| self.locations[&at].order[index]));
        self.events.push(event);
        self.sources.push(source);
        self.own_writes.push(None);
        self.before.push([0; SETS]);
        self.synchronized.push(0);
        let mut fulfils_promise = false;
        if let Some((place, keeps, value)) = wrote {
            fulfils_promise = keeps;
            let write = if keeps {
                let write = self.locations[&at].order[place - 1];
                self.writes[write] = Write { event: Some(number), value };
                self.promised -= 1;
                write
            } else {
                let write = self.writes.len();
                if !self.insert(at, place, Write { event: Some(number), value }) {
                    return false;
                }
                write
            };
            self.own_writes[number] = Some(write);
            if !self.fits(at, place) {
                return false;
            }
        }
        if fulfils_promise {
            return self.recompute();
        }
        self.order(number);
        self.check(number)
    }

    /// Adds the parts of several agents in one control barrier.
    pub fn meet(&mut self, parts: &[Event]) {
        let first = self.events.len();
        for part in parts {
            self.events.push(*part);
            self.sources.push(None);
            self.own_writes.push(None);
            self.before.push([0; SETS]);
            self.synchronized.push(0);
        }
        self.order(first);
    }

    /// Computes all relations again after a promise was kept, since its readers may now
    /// synchronize. Returns whether the execution is consistent and no relation but the promise
    /// points backwards.
    fn recompute(&mut self) -> bool {
        self.before.iter_mut().for_each(|before| *before = [0; SETS]);
        self.order(0);
        let points_back = |b: usize| {
            let are_of_different_barriers = |a: &usize| match (self.events[*a].kind, self.events[b].kind) {
                (EventKind::Barrier(one, ..), EventKind::Barrier(other, ..)) => one != other,
                _ => true,
            };
            (b + 1..self.events.len()).filter(are_of_different_barriers).any(|a| self.synchronized[b] >> a & 1 != 0)
        };
        let consistent = !(0..self.events.len()).any(points_back);
        self.race = None;
        consistent && (0..self.events.len()).all(|number| self.check(number))
    }

    /// Computes happens-before of the events from `first` on.
    fn order(&mut self, first: usize) {
        for b in first..self.events.len() {
            self.synchronized[b] = self.synchronizing(b);
        }
        // More than one round is needed only if parts of a control barrier order each other.
        let mut changed = true;
        while changed {
            changed = false;
            for b in first..self.events.len() {
                for set in 0..SETS {
                    let mut before = 0u128;
                    for a in (0..self.events.len()).filter(|&a| self.is_directly_ordered(a, b, set)) {
                        before |= 1 << a | self.before[a][set];
                    }
                    changed |= before != self.before[b][set];
                    self.before[b][set] = before;
                }
            }
        }
    }

    /// "Inter-Thread-Happens-Before": the three direct cases, before they are chained.
    fn is_directly_ordered(&self, a: usize, b: usize, set: usize) -> bool {
        let set = Classes::nth(set);
        let (x, y) = (&self.events[a], &self.events[b]);
        let has = |event: &Event| set.within((self.rules.ordered)(&event.semantics()));
        let concerns = |event: &Event| match &event.kind {
            EventKind::Access(access) => set.contains(access.class) || has(event),
            _ => has(event),
        };
        a != b
            && (self.synchronized[b] >> a & 1 != 0 && has(x) && has(y)
                || self.in_program_order(a, b) && (self.releases(y) && has(y) && concerns(x) || self.acquires(x) && has(x) && concerns(y)))
    }

    fn in_program_order(&self, a: usize, b: usize) -> bool {
        a < b && self.events[a].agent == self.events[b].agent
    }

    fn releases(&self, event: &Event) -> bool {
        (event.is_barrier() || event.writes_atomically()) && (self.rules.releases)(&event.semantics(), true)
    }

    fn acquires(&self, event: &Event) -> bool {
        (event.is_barrier() || event.reads_atomically()) && (self.rules.acquires)(&event.semantics(), true)
    }

    fn in_scope(&self, a: &Event, b: &Event) -> bool {
        self.topology.instance(a.agent, (self.rules.common)(a.scope(), b.scope())).contains(&b.agent)
    }

    /// "Atomic Operation": whether two events are mutually ordered.
    fn are_mutually_ordered(&self, a: &Event, b: &Event) -> bool {
        let (Some((x, ..)), Some((y, ..))) = (a.atomic(), b.atomic()) else { return false };
        let same = x.object == y.object && x.offset == y.offset && (self.rules.same_locations)(x.bytes as u8, y.bytes as u8);
        same && self.in_scope(a, b)
    }

    /// Whether an atomic reads from the release sequence that another event heads.
    fn reads_from_sequence(&self, head: usize, reader: usize) -> bool {
        let (Some(first), Some(Some(source))) = (self.own_writes[head], self.sources[reader].flatten().map(Some)) else { return false };
        let Some((access, ..)) = self.events[head].atomic() else { return false };
        let order = &self.locations[&location(access)].order;
        let later_writes = order.iter().skip_while(|write| **write != first).skip(1);
        let next = |write: &usize| self.writes[*write].event.map(|event| &self.events[event]);
        // By the letter, a plain store is in no modification order; see `order`.
        let mutual = later_writes.filter(|write| next(write).is_none_or(|event| self.are_mutually_ordered(&self.events[head], event)));
        let continues = |write: &usize| {
            let op = next(write).and_then(|event| Some(event.atomic()?.1));
            op.is_some_and(self.rules.continues)
        };
        first == source || mutual.copied().take_while(continues).any(|write| write == source)
    }

    /// "Synchronizes-With": the events that synchronize with an event.
    fn synchronizing(&self, b: usize) -> u128 {
        let acquire = &self.events[b];
        if !self.acquires(acquire) {
            return 0;
        }
        let all = 0..self.events.len();
        // The reads that the acquire depends on: its own, or earlier ones of its invocation.
        let readers: SmallVec<[usize; 8]> = match acquire.is_barrier() {
            false => SmallVec::from_slice(&[b]),
            true => {
                let covered = |y: &usize| {
                    let class = self.events[*y].atomic().map(|(access, ..)| access.class);
                    class.is_some_and(|class| (self.rules.fence_covers)((self.rules.ordered)(&acquire.semantics()), class))
                };
                all.clone().filter(|&y| self.in_program_order(y, b) && self.events[y].reads_atomically()).filter(covered).collect()
            }
        };
        let mut synchronized = 0u128;
        for a in all.clone().filter(|&a| a != b && self.releases(&self.events[a])) {
            let release = &self.events[a];
            let writers: SmallVec<[usize; 8]> = match release.is_barrier() {
                false => SmallVec::from_slice(&[a]),
                true => {
                    let covered = |x: &usize| {
                        let class = self.events[*x].atomic().map(|(access, ..)| access.class);
                        class.is_some_and(|class| (self.rules.fence_covers)((self.rules.ordered)(&release.semantics()), class))
                    };
                    all.clone().filter(|&x| self.in_program_order(a, x) && self.events[x].writes_atomically()).filter(covered).collect()
                }
            };
            let synchronizes_through = |x: usize| {
                readers.iter().any(|&y| self.are_mutually_ordered(&self.events[x], &self.events[y]) && self.reads_from_sequence(x, y))
            };
            if self.in_scope(release, acquire) && writers.into_iter().any(synchronizes_through) || self.meet_at_control_barrier(a, b) {
                synchronized |= 1 << a;
            }
        }
        synchronized
    }

    /// Whether a release barrier up to a control barrier synchronizes with an acquire
    /// barrier from it on.
    fn meet_at_control_barrier(&self, a: usize, b: usize) -> bool {
        let (release, acquire) = (&self.events[a], &self.events[b]);
        if !release.is_barrier() || !acquire.is_barrier() || !self.in_scope(release, acquire) {
            return false;
        }
        let parts = |event: &Event| if let EventKind::Barrier(number, ..) = event.kind { Some(number) } else { None };
        let from = (0..self.events.len()).filter(|&c| c == a || self.in_program_order(a, c));
        let mut from = from.filter_map(|c| Some((parts(&self.events[c])?, self.events[c].agent)));
        from.any(|(number, agent)| {
            let to = (0..self.events.len()).filter(|&d| d == b || self.in_program_order(d, b));
            to.into_iter().any(|d| parts(&self.events[d]) == Some(number) && self.events[d].agent != agent)
        })
    }

    /// "Happens-Before": whether event a happens before event b.
    fn happens_before(&self, a: usize, b: usize) -> bool {
        self.in_program_order(a, b) || self.before[b].iter().any(|before| before >> a & 1 != 0)
    }

    /// The places of an event in the modification order of its location.
    fn ends(&self, event: usize) -> Ends {
        let EventKind::Access(access) = &self.events[event].kind else { return Ends::default() };
        let Some(writes) = self.locations.get(&location(access)) else { return Ends::default() };
        let place = |write: usize| writes.order.iter().position(|other| *other == write).map_or(0, |index| index + 1);
        Ends { read: self.sources[event].map(|source| source.map_or(0, place)), write: self.own_writes[event].map(place) }
    }

    /// Checks an event against all earlier events. Returns whether they are coherent, and records
    /// the first race.
    fn check(&mut self, b: usize) -> bool {
        let EventKind::Access(second) = self.events[b].kind else { return true };
        let ends = self.ends(b);
        for a in 0..b {
            let EventKind::Access(first) = self.events[a].kind else { continue };
            let overlap =
                first.object == second.object && first.offset < second.offset + second.bytes && second.offset < first.offset + first.bytes;
            if !overlap {
                continue;
            }
            let ordered = self.happens_before(a, b);
            let is_known = |ends: Ends| ends.read.or(ends.write).is_some();
            let comparable = ordered && location(&first) == location(&second) && is_known(ends) && is_known(self.ends(a));
            if comparable && !(self.rules.coherent)(self.ends(a), ends) {
                return false;
            }
            let conflict = (self.rules.conflict)(first.kind.writes(), second.kind.writes());
            if conflict && !ordered && self.race.is_none() && !self.are_mutually_ordered(&self.events[a], &self.events[b]) {
                let site = |access: &Access| RaceSide { agent: access.agent, instruction: access.instruction, kind: access.kind };
                self.race = Some(Race {
                    first: site(&first),
                    second: site(&second),
                    object: first.object,
                    offset: first.offset.max(second.offset),
                });
            }
        }
        true
    }

    /// The execution as words. Equal executions have equal words, whatever the order of their
    /// events. `number` numbers the values of promises.
    pub fn key(&self, number: impl Fn(Location, &V) -> u32) -> Vec<u32> {
        let mut index = vec![0u32; self.events.len()];
        let mut by_agent: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (event, at) in self.events.iter().zip(0..) {
            let own_events = by_agent.entry(event.agent).or_default();
            index[at] = own_events.len() as u32;
            own_events.push(at);
        }
        let name = |at: Location, write: usize| match self.writes[write].event {
            Some(event) => self.events[event].agent << 8 | index[event],
            None => 1 << 31 | number(at, &self.writes[write].value),
        };
        let mut key = Vec::with_capacity(2 * self.events.len() + 2 * self.writes.len());
        for (agent, own_events) in &by_agent {
            key.extend([u32::MAX, *agent]);
            for &event in own_events {
                let EventKind::Access(access) = &self.events[event].kind else { continue };
                match self.sources[event] {
                    None => {}
                    Some(None) => key.push(1 << 30),
                    Some(Some(write)) => key.extend([name(location(access), write), self.ends(event).read.unwrap_or(0) as u32]),
                }
            }
            key.push(own_events.len() as u32);
        }
        for (at, writes) in &self.locations {
            key.extend([u32::MAX - 1, at.0, at.1 as u32]);
            key.extend(writes.order.iter().map(|&write| name(*at, write)));
        }
        key
    }
}
