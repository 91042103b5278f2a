//! Happens-before, updated while a run goes on: Vulkan memory model, "Release Sequence",
//! "Synchronizes-With", "Inter-Thread-Happens-Before" and "Happens-Before".
//!
//! Inter-thread-happens-before has a set of storage classes as a parameter. Each class can be
//! ordered by itself: a chain over several classes is a chain over each of them, except for its two
//! ends. Here these ends are accesses to one location. So every invocation has one vector clock for
//! each of the four classes. An invocation's own component of the clock is its *epoch*. It grows
//! after each of its releases. `clock[class][a] ≥ e` means: what a did in epoch e
//! inter-thread-happens-before what follows, in that class. Happens-before is this relation or
//! program order. The two are not chained.
//!
//! The state:
//!
//! - By invocation: the epoch, the clocks, the release fences that later atomic writes or control
//!   barriers may publish, and the messages that later acquire fences may receive from release
//!   sequences that the invocation read.
//! - By atomic location: the release sequences whose last value is in memory or that may still be
//!   continued, grouped by scope, fence and classes. A fence before an atomic write X counts as the
//!   head of a (hypothetical) release sequence at X.
//!
//! Invocation scope never orders two agents, and needs no case of its own. Epochs count to
//! 2^32 - 1, which no run with bounded fuel reaches.
//!
//! Callers must check agents and places: agents belong to the topology, and places lie within
//! their objects.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::clock::Clock;
use super::race::AtomicOp;
use super::rules::Rules;
use super::scope::{Class, Classes, Scope, Semantics, Topology};

/// A clock by class. Classes that the message does not order are zero.
type Message = [Clock; 4];

/// The bytes of an atomic access, naturally aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The memory object; one object stands for one reference.
    pub object: u32,
    /// The first byte.
    pub offset: u64,
    /// The number of bytes: 1, 2, 4 or 8.
    pub size: u8,
    /// The storage class of the object.
    pub class: Class,
}

/// A release fence that later atomic writes and control barriers may publish.
#[derive(Clone, Debug)]
struct Fence {
    scope: Scope,
    classes: Classes,
    message: Message,
}

/// A message that a later acquire fence receives if scopes and classes fit.
#[derive(Clone, Debug)]
struct Pending {
    /// The narrowest scope of a fence whose instance contains the releasing agent.
    level: Scope,
    /// The classes of the release.
    classes: Classes,
    /// The class of the atomic read, which the fence must order. `None` if a control barrier passed
    /// the release on.
    read_class: Option<Class>,
    message: Message,
}

#[derive(Clone, Debug, Default)]
struct Fences {
    released: Vec<Fence>,
    pending: Vec<Pending>,
}

#[derive(Clone, Debug)]
struct Invocation {
    epoch: u32,
    clocks: Message,
    fences: Option<Box<Fences>>,
}

#[derive(Clone, Debug)]
struct Member {
    /// Whether the value in memory was written in this release sequence.
    current: bool,
    message: Message,
}

/// The release sequences at one location whose heads have equal scope, fence and classes, by agent.
#[derive(Clone, Debug)]
struct Group {
    /// The scope of the atomic write at the head.
    head_scope: Scope,
    /// The scope of the release fence before that write. `None` if the write itself releases.
    fence_scope: Option<Scope>,
    classes: Classes,
    members: BTreeMap<u32, Member>,
    /// The number of members that are not current.
    not_current: usize,
    /// The join of all members' messages.
    joined: Message,
}

#[derive(Clone, Debug)]
struct Location {
    offset: u64,
    size: u8,
    groups: Vec<Group>,
}

/// Releases that a control barrier passes on within an instance of a scope.
#[derive(Clone, Debug)]
struct Source {
    instance: std::ops::Range<u32>,
    level: Scope,
    classes: Classes,
    /// Whether this is the release of the barrier itself, which is processed first.
    is_own: bool,
    message: Message,
}

/// Happens-before of one run.
#[derive(Clone, Debug)]
pub struct Order {
    topology: Topology,
    rules: Rules,
    zero: Clock,
    /// The clocks of an invocation that has received nothing.
    fresh: Message,
    /// By workgroup: its invocations. `None` before they synchronize, and after the
    /// workgroup has ended.
    workgroups: Vec<Option<Box<[Invocation]>>>,
    /// By object and offset / 8: the atomic locations there.
    locations: FxHashMap<(u32, u64), SmallVec<[Location; 1]>>,
}

impl Order {
    /// The order at the start of a run.
    pub fn new(topology: Topology, rules: Rules) -> Order {
        let zero = Clock::new(topology.invocations());
        let fresh = std::array::from_fn(|_| zero.clone());
        Order { topology, rules, zero, fresh, workgroups: Vec::new(), locations: FxHashMap::default() }
    }

    /// How the invocations form subgroups and workgroups.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Drops the state that only the workgroup's running invocations need.
    pub fn retire(&mut self, workgroup: u32) {
        if let Some(group) = self.workgroups.get_mut(workgroup as usize) {
            *group = None;
        }
    }

    /// The epoch of an agent, and its clocks by class.
    pub fn state(&self, agent: u32) -> (u32, &[Clock; 4]) {
        let size = self.topology.workgroup_size();
        match self.workgroups.get((agent / size) as usize) {
            Some(Some(group)) => (group[(agent % size) as usize].epoch, &group[(agent % size) as usize].clocks),
            _ => (1, &self.fresh),
        }
    }

    /// Drops the release sequences in an object.
    pub fn forget(&mut self, object: u32) {
        self.locations.retain(|(of, _), _| *of != object);
    }

    fn fences(&self, agent: u32) -> Option<&Fences> {
        let size = self.topology.workgroup_size();
        let group = self.workgroups.get((agent / size) as usize)?.as_ref()?;
        group[(agent % size) as usize].fences.as_deref()
    }

    fn invocation(&mut self, agent: u32) -> &mut Invocation {
        let size = self.topology.workgroup_size();
        let (at, clocks) = ((agent / size) as usize, &self.fresh);
        if at >= self.workgroups.len() {
            self.workgroups.resize(at + 1, None);
        }
        let group = self.workgroups[at].get_or_insert_with(|| {
            let fresh = Invocation { epoch: 1, clocks: clocks.clone(), fences: None };
            vec![fresh; size as usize].into_boxed_slice()
        });
        &mut group[(agent % size) as usize]
    }

    /// The message of a release that the agent makes now, in these classes: its clocks with
    /// its own epoch.
    fn message(&mut self, agent: u32, classes: Classes) -> Message {
        let mut message: Message = std::array::from_fn(|_| self.zero.clone());
        let invocation = self.invocation(agent);
        for class in classes.iter() {
            let clock = &mut message[class as usize];
            *clock = invocation.clocks[class as usize].clone();
            clock.set(agent, u64::from(invocation.epoch));
        }
        message
    }

    fn receive(&mut self, agent: u32, classes: Classes, message: &Message) {
        let clocks = &mut self.invocation(agent).clocks;
        for class in classes.iter() {
            clocks[class as usize].join(&message[class as usize]);
        }
    }

    fn advance(&mut self, agent: u32) {
        let next = self.rules.next_epoch;
        let invocation = self.invocation(agent);
        invocation.epoch = next(invocation.epoch);
    }

    fn add_pending(&mut self, agent: u32, pending: Pending) {
        let fences = self.invocation(agent).fences.get_or_insert_default();
        let same = |p: &&mut Pending| (p.level, p.classes, p.read_class) == (pending.level, pending.classes, pending.read_class);
        match fences.pending.iter_mut().find(same) {
            Some(old) => join(&mut old.message, pending.classes, &pending.message),
            None => fences.pending.push(pending),
        }
    }

    /// Executes the read of an atomic access: "Synchronizes-With" for an acquiring atomic. Also
    /// records the messages that later acquire fences may receive.
    pub fn atomic_read(&mut self, agent: u32, place: Place, scope: Scope, semantics: &Semantics) {
        let rules = self.rules;
        let Some(location) = self.location(place) else { return };
        if location.groups.is_empty() {
            return;
        }
        let acquires = (rules.acquires)(semantics, true);
        let ordered = (rules.ordered)(semantics);
        let topology = self.topology;
        let mut received: Vec<(Classes, Message)> = Vec::new();
        let mut later: Vec<Pending> = Vec::new();
        let Some(location) = self.location(place) else { return };
        for group in &location.groups {
            let common_scope = (rules.common)(group.head_scope, scope);
            let release_scope = group.fence_scope.unwrap_or(group.head_scope);
            let mut take_message = |level: Scope, message: &Message| {
                if level > release_scope {
                    return;
                }
                if acquires && level <= (rules.common)(release_scope, scope) {
                    received.push(((rules.shared)(group.classes, ordered), message.clone()));
                }
                later.push(Pending { level, classes: group.classes, read_class: Some(place.class), message: message.clone() });
            };
            // The joint message of all members needs the narrowest scope that contains all of them.
            // Members in narrower instances are also taken one by one, since narrower fences are
            // enough for these.
            let mut instance_scope = common_scope;
            if let Some([narrower, level]) =
                group.narrowest_levels(&topology, agent).filter(|[_, level]| *level <= common_scope.min(release_scope))
            {
                take_message(level, &group.joined);
                instance_scope = narrower;
            }
            for (&from, member) in group.members.range(topology.instance(agent, instance_scope)) {
                if member.current && from != agent {
                    take_message(topology.between(from, agent), &member.message);
                }
            }
        }
        for (classes, message) in received {
            self.receive(agent, classes, &message);
        }
        for pending in later {
            self.add_pending(agent, pending);
        }
    }

    fn location(&self, place: Place) -> Option<&Location> {
        let block = self.locations.get(&(place.object, place.offset / 8))?;
        block.iter().find(|l| (l.offset, l.size) == (place.offset, place.size))
    }

    /// Executes the write of an atomic access, which continues, ends and begins release sequences.
    pub fn atomic_write(&mut self, agent: u32, place: Place, op: AtomicOp, scope: Scope, semantics: &Semantics) {
        let rules = self.rules;
        let topology = self.topology;
        let mut heads: SmallVec<[(Option<Scope>, Classes, Message); 2]> = SmallVec::new();
        let releases = (rules.releases)(semantics, true);
        if releases {
            let classes = (rules.ordered)(semantics);
            heads.push((None, classes, self.message(agent, classes)));
        }
        if let Some(fences) = self.fences(agent) {
            let covered = fences.released.iter().filter(|f| (rules.fence_covers)(f.classes, place.class));
            heads.extend(covered.map(|f| (Some(f.scope), f.classes, f.message.clone())));
        }
        let zero = &self.zero;
        let key = (place.object, place.offset / 8);
        if heads.is_empty() && !self.locations.contains_key(&key) {
            return;
        }
        let block = self.locations.entry(key).or_default();
        for location in block.iter_mut() {
            if (location.offset, location.size) == (place.offset, place.size) {
                location.groups.retain_mut(|group| {
                    group.record_atomic_write(
                        topology.instance(agent, (rules.common)(group.head_scope, scope)),
                        (rules.continues)(op),
                        zero,
                    )
                });
            } else if location.offset < place.offset + u64::from(place.size) && place.offset < location.offset + u64::from(location.size) {
                location.mark_replaced(&rules);
            }
        }
        if !heads.is_empty() {
            let at = block.iter().position(|l| (l.offset, l.size) == (place.offset, place.size)).unwrap_or_else(|| {
                block.push(Location { offset: place.offset, size: place.size, groups: Vec::new() });
                block.len() - 1
            });
            for (fence, classes, message) in heads {
                block[at].add_head(agent, scope, fence, classes, message, zero);
            }
        }
        if releases {
            self.advance(agent);
        }
    }

    /// Records a plain write. A later read of its bytes reads from no release sequence.
    pub fn record_plain_write(&mut self, object: u32, offset: u64, bytes: u64) {
        if self.locations.is_empty() || bytes == 0 {
            return;
        }
        let end = offset.saturating_add(bytes);
        for block in offset / 8..=(end - 1) / 8 {
            let Some(block) = self.locations.get_mut(&(object, block)) else { continue };
            for location in block.iter_mut().filter(|l| l.offset < end && offset < l.offset + u64::from(l.size)) {
                location.mark_replaced(&self.rules);
            }
        }
    }

    /// Executes an OpMemoryBarrier: "Synchronizes-With" for barriers, both as an acquire and
    /// as a release.
    pub fn fence(&mut self, agent: u32, scope: Scope, semantics: &Semantics) {
        let classes = (self.rules.ordered)(semantics);
        if (self.rules.acquires)(semantics, true) {
            self.acquire_pending(agent, scope, classes);
        }
        if (self.rules.releases)(semantics, true) {
            self.release_later(agent, scope, classes);
            self.advance(agent);
        }
    }

    /// Lets an acquire barrier receive the messages of earlier atomic reads and control barriers.
    fn acquire_pending(&mut self, agent: u32, scope: Scope, classes: Classes) {
        let rules = self.rules;
        let Some(fences) = self.fences(agent) else { return };
        let fits = |p: &&Pending| p.level <= scope && p.read_class.is_none_or(|read_class| (rules.fence_covers)(classes, read_class));
        let received: Vec<Pending> = fences.pending.iter().filter(fits).cloned().collect();
        for p in received {
            self.receive(agent, (rules.shared)(p.classes, classes), &p.message);
        }
    }

    /// Records a release barrier. Later atomic writes and control barriers may publish it.
    fn release_later(&mut self, agent: u32, scope: Scope, classes: Classes) {
        let message = self.message(agent, classes);
        let fences = self.invocation(agent).fences.get_or_insert_default();
        fences.released.retain(|old| !(old.scope <= scope && old.classes.within(classes)));
        fences.released.push(Fence { scope, classes, message });
    }

    /// Executes an OpControlBarrier at which these agents of one workgroup have arrived. Release
    /// barriers up to it synchronize with acquire barriers from it on. It is itself a barrier with
    /// its semantics. Without semantics, and without fences around it, it orders nothing.
    pub fn barrier(&mut self, participants: &[u32], scope: Scope, semantics: &Semantics) {
        let rules = self.rules;
        let classes = (rules.ordered)(semantics);
        let (acquires, releases) = ((rules.acquires)(semantics, true), (rules.releases)(semantics, true));
        if acquires {
            participants.iter().for_each(|&agent| self.acquire_pending(agent, scope, classes));
        }
        // Later fences need not receive again what the barrier receives for the whole workgroup.
        let received_classes = if acquires && scope >= Scope::Workgroup { classes } else { Classes::NONE };
        for source in self.sources(participants, releases.then_some((scope, classes)), received_classes) {
            let receives_now = acquires && source.level <= scope;
            for &agent in participants.iter().filter(|agent| source.instance.contains(agent)) {
                if receives_now && source.is_own {
                    // The message is the join of all participants' clocks, this one's included. So
                    // it replaces the clock.
                    let clocks = &mut self.invocation(agent).clocks;
                    source.classes.iter().for_each(|class| clocks[class as usize].clone_from(&source.message[class as usize]));
                } else if receives_now {
                    self.receive(agent, (rules.shared)(source.classes, classes), &source.message);
                }
                if !(receives_now && source.classes.within(classes)) {
                    let Source { level, classes, message, .. } = &source;
                    self.add_pending(agent, Pending { level: *level, classes: *classes, read_class: None, message: message.clone() });
                }
            }
        }
        if releases {
            let greatest_epoch = participants.iter().map(|&agent| self.invocation(agent).epoch).max().unwrap_or(0);
            for &agent in participants {
                self.invocation(agent).epoch = greatest_epoch;
                self.release_later(agent, scope, classes);
                self.advance(agent);
            }
        }
    }

    /// The releases that a control barrier passes on, its own included. They are joined by scope
    /// and classes, for each scope instance that they reach.
    fn sources(&mut self, participants: &[u32], own: Option<(Scope, Classes)>, received_classes: Classes) -> Vec<Source> {
        let Some(&first) = participants.first() else { return Vec::new() };
        let mut kinds: Vec<(Scope, Classes)> = own.into_iter().collect();
        for &agent in participants {
            for fence in self.invocation(agent).fences.iter().flat_map(|f| &f.released) {
                // The barrier's own release includes those of earlier fences whose scope is no
                // wider and whose classes are among its own.
                let is_covered = own.is_some_and(|(scope, classes)| fence.scope <= scope && fence.classes.within(classes));
                if !is_covered && !kinds.contains(&(fence.scope, fence.classes)) {
                    kinds.push((fence.scope, fence.classes));
                }
            }
        }
        let topology = self.topology;
        let workgroup = topology.instance(first, Scope::Workgroup);
        let is_whole_workgroup = participants.len() == workgroup.len();
        let greatest_epoch = participants.iter().map(|&agent| self.invocation(agent).epoch).max().unwrap_or(0);
        let mut sources: Vec<Source> = Vec::new();
        for (scope, classes) in kinds {
            let is_own = own == Some((scope, classes));
            let mut levels: SmallVec<[Scope; 2]> = SmallVec::new();
            if scope >= Scope::Workgroup {
                levels.push(Scope::Workgroup);
            }
            // Subgroup instances matter only for a narrow acquire: the barrier itself if its scope
            // is narrow, or a later fence.
            if scope == Scope::Subgroup || scope > Scope::Subgroup && !classes.within(received_classes) {
                levels.push(Scope::Subgroup);
            }
            for level in levels {
                let begin = sources.len();
                let mut at = begin;
                for &agent in participants {
                    if !sources.get(at).is_some_and(|source| source.instance.contains(&agent)) {
                        at = sources[begin..].iter().position(|s| s.instance.contains(&agent)).map_or(sources.len(), |i| begin + i);
                    }
                    if at == sources.len() {
                        let message = std::array::from_fn(|_| self.zero.clone());
                        sources.push(Source { instance: topology.instance(agent, level), level, classes, is_own, message });
                    }
                    let message = &mut sources[at].message;
                    let invocation = self.invocation(agent);
                    if is_own {
                        let (epoch, clocks) = (invocation.epoch, &invocation.clocks);
                        for class in classes.iter() {
                            message[class as usize].join(&clocks[class as usize]);
                            if !(is_whole_workgroup && level == Scope::Workgroup) {
                                message[class as usize].set(agent, u64::from(epoch));
                            }
                        }
                    } else {
                        let released = invocation.fences.iter().flat_map(|f| &f.released);
                        for fence in released.filter(|f| (f.scope, f.classes) == (scope, classes)) {
                            join(message, classes, &fence.message);
                        }
                    }
                }
                // After a barrier of a whole workgroup all epochs become the greatest one. Equal
                // epochs are one leaf of the clock.
                if is_own && is_whole_workgroup && level == Scope::Workgroup {
                    for class in classes.iter() {
                        sources[begin].message[class as usize].fill(workgroup.clone(), u64::from(greatest_epoch));
                    }
                }
            }
        }
        sources
    }
}

fn join(message: &mut Message, classes: Classes, other: &Message) {
    for class in classes.iter() {
        message[class as usize].join(&other[class as usize]);
    }
}

impl Location {
    /// Records that another write replaced the value.
    fn mark_replaced(&mut self, rules: &Rules) {
        if !(rules.survives)() {
            for group in &mut self.groups {
                group.members.values_mut().for_each(|member| member.current = false);
                group.not_current = group.members.len();
            }
        }
    }

    fn add_head(&mut self, agent: u32, head_scope: Scope, fence_scope: Option<Scope>, classes: Classes, message: Message, zero: &Clock) {
        let at =
            self.groups.iter().position(|g| (g.head_scope, g.fence_scope, g.classes) == (head_scope, fence_scope, classes)).unwrap_or_else(
                || {
                    let joined = std::array::from_fn(|_| zero.clone());
                    self.groups.push(Group { head_scope, fence_scope, classes, members: BTreeMap::new(), not_current: 0, joined });
                    self.groups.len() - 1
                },
            );
        let group = &mut self.groups[at];
        join(&mut group.joined, classes, &message);
        // The message includes that of an older head of the same agent.
        if group.members.insert(agent, Member { current: true, message }).is_some_and(|old| !old.current) {
            group.not_current -= 1;
        }
    }
}

impl Group {
    /// The narrowest scope whose instance around the agent contains all members, after the next
    /// narrower scope. `None` if a member is not current.
    fn narrowest_levels(&self, topology: &Topology, agent: u32) -> Option<[Scope; 2]> {
        let ends = [self.members.keys().next()?, self.members.keys().next_back()?];
        let levels = [[Scope::Invocation, Scope::Subgroup], [Scope::Subgroup, Scope::Workgroup], [Scope::Workgroup, Scope::QueueFamily]];
        let has_all = |level: Scope| ends.iter().all(|member| topology.instance(agent, level).contains(member));
        levels.into_iter().find(|[_, level]| has_all(*level)).filter(|_| self.not_current == 0)
    }

    /// Records an atomic write to the location, which is mutually ordered with the heads of the
    /// agents in this instance. It continues their sequences or ends them. It replaces the value of
    /// all other sequences. Returns whether a member is left.
    fn record_atomic_write(&mut self, instance: std::ops::Range<u32>, continues: bool, zero: &Clock) -> bool {
        let is_in_instance = |agent: &u32| instance.contains(agent);
        let are_all_in_instance =
            self.members.keys().next().is_none_or(is_in_instance) && self.members.keys().next_back().is_none_or(is_in_instance);
        if are_all_in_instance && (!continues || self.not_current == 0) {
            return continues;
        }
        if continues {
            self.members.iter_mut().for_each(|(agent, member)| member.current = is_in_instance(agent));
        } else {
            self.members.retain(|agent, _| !is_in_instance(agent));
            self.members.values_mut().for_each(|member| member.current = false);
            self.joined = std::array::from_fn(|_| zero.clone());
            for member in self.members.values() {
                join(&mut self.joined, self.classes, &member.message);
            }
        }
        self.not_current = self.members.values().filter(|member| !member.current).count();
        !self.members.is_empty()
    }
}
