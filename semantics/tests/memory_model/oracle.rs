//! The memory model taken literally: all events of an execution, and relations as matrices that are
//! closed by brute force. It shares only the types of events with the detector.

#![expect(clippy::needless_range_loop, reason = "relations are matrices over events by index")]

use smallstep_semantics::concurrency::{Access, AtomicOp, Class, Kind, Ordering, Scope, Semantics, Topology};

/// The action of an event.
#[derive(Clone, Debug)]
pub enum Action {
    /// An access to memory.
    Access(Access),
    /// OpMemoryBarrier.
    Fence(Scope, Semantics),
    /// The agent's part in the control barrier of that number.
    Barrier(u32, Scope, Semantics),
}

/// An event. Events are listed in the order of the execution.
#[derive(Clone, Debug)]
pub struct Event {
    pub agent: u32,
    pub action: Action,
}

fn atomic(event: &Event) -> Option<(&Access, AtomicOp, Scope, Semantics)> {
    match &event.action {
        Action::Access(access) => match access.kind {
            Kind::Atomic { op, scope, semantics } => Some((access, op, scope, semantics)),
            _ => None,
        },
        _ => None,
    }
}

fn barrier(event: &Event) -> Option<(Scope, Semantics)> {
    match &event.action {
        Action::Fence(scope, semantics) | Action::Barrier(_, scope, semantics) => Some((*scope, *semantics)),
        Action::Access(_) => None,
    }
}

fn overlap(a: &Access, b: &Access) -> bool {
    a.object == b.object && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes
}

fn class_set(semantics: &Semantics) -> u32 {
    if semantics.ordering == Ordering::Relaxed {
        return 0;
    }
    Class::ALL.iter().filter(|class| semantics.classes.contains(**class)).map(|class| 1 << *class as u32).sum()
}

fn reads(op: AtomicOp) -> bool {
    matches!(op, AtomicOp::Load | AtomicOp::ReadModifyWrite)
}

fn writes(op: AtomicOp) -> bool {
    matches!(op, AtomicOp::Store | AtomicOp::ReadModifyWrite)
}

fn same_instance(topology: &Topology, a: u32, b: u32, scope: Scope) -> bool {
    let size = topology.workgroup_size();
    match scope {
        Scope::Invocation => a == b,
        Scope::Subgroup => topology.instance(a, Scope::Subgroup).contains(&b),
        Scope::Workgroup => a / size == b / size,
        Scope::QueueFamily | Scope::Device | Scope::CrossDevice => true,
    }
}

fn program_ordered(events: &[Event], a: usize, b: usize) -> bool {
    a < b && events[a].agent == events[b].agent
}

fn mutual(topology: &Topology, events: &[Event], a: usize, b: usize) -> bool {
    let (Some((x, _, sx, _)), Some((y, _, sy, _))) = (atomic(&events[a]), atomic(&events[b])) else { return false };
    let in_scope = |scope| same_instance(topology, events[a].agent, events[b].agent, scope);
    a != b && (x.object, x.offset, x.bytes) == (y.object, y.offset, y.bytes) && in_scope(sx) && in_scope(sy)
}

/// Whether two events, neither of which happens before the other, race.
pub fn conflict(topology: &Topology, events: &[Event], x: usize, y: usize) -> bool {
    match (&events[x].action, &events[y].action) {
        (Action::Access(a), Action::Access(b)) => {
            overlap(a, b)
                && (a.kind.writes() || b.kind.writes())
                && !mutual(topology, events, x, y)
                && !program_ordered(events, x, y)
                && !program_ordered(events, y, x)
        }
        _ => false,
    }
}

/// The races of an execution: for each event, the earlier events that race with it.
pub fn races(topology: &Topology, events: &[Event]) -> Vec<Vec<usize>> {
    let n = events.len();
    let is_write = |e: usize| match &events[e].action {
        Action::Access(access) => access.kind.writes(),
        _ => false,
    };
    // Reads-from: the last write to each byte, if one write wrote all of the bytes.
    let reads_from: Vec<Option<usize>> = (0..n)
        .map(|b| {
            let (access, op, ..) = atomic(&events[b])?;
            if !reads(op) {
                return None;
            }
            let last = |byte: u64| {
                (0..b).rev().find(|&e| {
                    is_write(e)
                        && matches!(&events[e].action, Action::Access(w) if w.object == access.object && (w.offset..w.offset + w.bytes).contains(&byte))
                })
            };
            let first = last(access.offset)?;
            (access.offset..access.offset + access.bytes).all(|byte| last(byte) == Some(first)).then_some(first)
        })
        .collect();
    let happens = happens(topology, events, &reads_from, &|head| (head + 1..n).collect());
    (0..n).map(|y| (0..y).filter(|&x| conflict(topology, events, x, y) && !happens[x][y] && !happens[y][x]).collect()).collect()
}

/// Inter-thread-happens-before. `reads_from` gives the write that each atomic reads. `behind` gives
/// the events that follow an atomic write in modification order, without events of other locations.
pub fn happens(
    topology: &Topology,
    events: &[Event],
    reads_from: &[Option<usize>],
    behind: &dyn Fn(usize) -> Vec<usize>,
) -> Vec<Vec<bool>> {
    let n = events.len();
    let program_ordered = |a: usize, b: usize| program_ordered(events, a, b);
    let mutual = |a: usize, b: usize| mutual(topology, events, a, b);
    let same_instance = |a: u32, b: u32, scope: Scope| same_instance(topology, a, b, scope);
    // The release sequence headed by an atomic write: its scoped modification order, up to the
    // first store.
    let sequence = |head: usize| -> Vec<usize> {
        let mut sequence = vec![head];
        for x in behind(head) {
            if !mutual(head, x) {
                continue;
            }
            match atomic(&events[x]).map(|(_, op, ..)| op) {
                Some(AtomicOp::ReadModifyWrite) => sequence.push(x),
                Some(AtomicOp::Store) => break,
                _ => {}
            }
        }
        sequence
    };
    let from_sequence = |head: usize, reader: usize| reads_from[reader].is_some_and(|w| sequence(head).contains(&w));
    let atomic_releases = |e: usize| {
        atomic(&events[e]).is_some_and(|(_, op, _, s)| writes(op) && matches!(s.ordering, Ordering::Release | Ordering::AcquireRelease))
    };
    let atomic_acquires = |e: usize| {
        atomic(&events[e]).is_some_and(|(_, op, _, s)| reads(op) && matches!(s.ordering, Ordering::Acquire | Ordering::AcquireRelease))
    };
    let release_barrier =
        |e: usize| barrier(&events[e]).is_some_and(|(_, s)| matches!(s.ordering, Ordering::Release | Ordering::AcquireRelease));
    let acquire_barrier =
        |e: usize| barrier(&events[e]).is_some_and(|(_, s)| matches!(s.ordering, Ordering::Acquire | Ordering::AcquireRelease));
    let scope_of = |e: usize| barrier(&events[e]).map(|b| b.0).or(atomic(&events[e]).map(|a| a.2)).unwrap();
    let semantics_of = |e: usize| barrier(&events[e]).map(|b| b.1).or(atomic(&events[e]).map(|a| a.3)).unwrap_or_default();
    let each_other = |a: usize, b: usize| {
        same_instance(events[a].agent, events[b].agent, scope_of(a)) && same_instance(events[a].agent, events[b].agent, scope_of(b))
    };
    let class_in = |x: usize, e: usize| atomic(&events[x]).is_some_and(|(access, ..)| semantics_of(e).classes.contains(access.class));
    let atomic_write = |x: usize| atomic(&events[x]).is_some_and(|(_, op, ..)| writes(op));
    let atomic_read = |x: usize| atomic(&events[x]).is_some_and(|(_, op, ..)| reads(op));

    let mut synchronizes = vec![vec![false; n]; n];
    for a in 0..n {
        for b in 0..n {
            if a == b {
                continue;
            }
            let mut yes = false;
            if atomic_releases(a) && atomic_acquires(b) {
                yes |= mutual(a, b) && from_sequence(a, b);
            }
            if release_barrier(a) && atomic_acquires(b) {
                yes |= (0..n).any(|x| {
                    atomic_write(x) && program_ordered(a, x) && mutual(x, b) && from_sequence(x, b) && each_other(a, b) && class_in(x, a)
                });
            }
            if atomic_releases(a) && acquire_barrier(b) {
                yes |= (0..n).any(|x| {
                    atomic_read(x) && program_ordered(x, b) && mutual(x, a) && from_sequence(a, x) && each_other(a, b) && class_in(x, b)
                });
            }
            if release_barrier(a) && acquire_barrier(b) {
                yes |= (0..n).any(|x| {
                    atomic_write(x)
                        && program_ordered(a, x)
                        && class_in(x, a)
                        && (0..n).any(|y| {
                            atomic_read(y)
                                && program_ordered(y, b)
                                && mutual(x, y)
                                && from_sequence(x, y)
                                && each_other(a, b)
                                && class_in(y, b)
                        })
                });
                // A control barrier. The parts of its participants are events with one number.
                yes |= (0..n).any(|c| {
                    let Action::Barrier(number, ..) = events[c].action else { return false };
                    (a == c || program_ordered(a, c))
                        && (0..n).any(|d| {
                            matches!(events[d].action, Action::Barrier(other, ..) if other == number)
                                && (d == b || program_ordered(d, b))
                                && events[c].agent != events[d].agent
                                && each_other(a, b)
                        })
                });
            }
            synchronizes[a][b] = yes;
        }
    }

    // Inter-thread-happens-before for each non-empty set of classes, closed under transitivity.
    let class_of = |e: usize| match &events[e].action {
        Action::Access(access) => 1u32 << access.class as u32,
        _ => 0,
    };
    let mut happens = vec![vec![false; n]; n];
    for set in 1u32..16 {
        let has_all = |e: usize| class_set(&semantics_of(e)) & set == set;
        let about = |e: usize| class_of(e) & set != 0 || has_all(e);
        let mut before = vec![vec![false; n]; n];
        for a in 0..n {
            for b in 0..n {
                before[a][b] = synchronizes[a][b] && has_all(a) && has_all(b)
                    || about(a) && (release_barrier(b) || atomic_releases(b)) && has_all(b) && program_ordered(a, b)
                    || (acquire_barrier(a) || atomic_acquires(a)) && has_all(a) && about(b) && program_ordered(a, b);
            }
        }
        for k in 0..n {
            for i in 0..n {
                if before[i][k] {
                    for j in 0..n {
                        before[i][j] |= before[k][j];
                    }
                }
            }
        }
        for i in 0..n {
            for j in 0..n {
                happens[i][j] |= before[i][j];
            }
        }
    }
    happens
}
