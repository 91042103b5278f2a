//! The choices of the memory model, one function each, as data: tests plant bugs beside them.

use super::race::AtomicOp;
use super::scope::{Class, Classes, Scope, Semantics};

/// Where an event stands in the modification order of its location: the write that it reads, and
/// its own. 0 is the initial value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// What it reads.
    pub read: Option<usize>,
    /// What it writes.
    pub write: Option<usize>,
}

/// The rules that [`super::Order`], [`super::Detector`] and [`super::Execution`] ask.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whether a race is undefined behaviour, so that the first one is enough.
    pub settles: bool,
    /// Two operations are in each other's scope instance exactly if they are in one instance of
    /// this scope.
    pub common: fn(Scope, Scope) -> Scope,
    /// Whether two accesses of which these write conflict where they overlap.
    pub conflict: fn(bool, bool) -> bool,
    /// Whether two overlapping, aligned atomic accesses of these sizes access the
    /// same set of locations.
    pub same_locations: fn(u8, u8) -> bool,
    /// Whether an atomic write goes on with the release sequences before it.
    pub continues: fn(AtomicOp) -> bool,
    /// Whether an operation acquires, by its semantics and whether it reads.
    pub acquires: fn(&Semantics, bool) -> bool,
    /// Whether an operation releases, by its semantics and whether it writes.
    pub releases: fn(&Semantics, bool) -> bool,
    /// The storage classes that semantics order.
    pub ordered: fn(&Semantics) -> Classes,
    /// The storage classes in which a release and an acquire with these classes order anything.
    pub shared: fn(Classes, Classes) -> Classes,
    /// Whether a fence with these classes pairs with an atomic access of this class.
    pub fence_covers: fn(Classes, Class) -> bool,
    /// Whether a location whose value another write replaced still heads release
    /// sequences for its readers.
    pub survives: fn() -> bool,
    /// The epoch that follows a release in this epoch.
    pub next_epoch: fn(u32) -> u32,
    /// The classes, besides the location's own, whose order counts between two atomics with these.
    pub between_atomics: fn(Classes, Classes) -> Classes,
    /// Whether two accesses to one location, the first location-ordered before the second, may
    /// stand so in its modification order.
    pub coherent: fn(Ends, Ends) -> bool,
    /// Whether a read-modify-write that reads the first may write the second.
    pub adjacent: fn(usize, usize) -> bool,
}

impl Rules {
    /// The memory model.
    pub const MODEL: Rules = Rules {
        settles: true,
        common: narrower,
        conflict,
        same_locations: same,
        continues,
        acquires,
        releases,
        ordered,
        shared: Classes::and,
        fence_covers: Classes::contains,
        survives: hidden,
        next_epoch: next,
        between_atomics: Classes::and,
        coherent,
        adjacent,
    };
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::MODEL
    }
}

/// Vulkan memory model, "Atomic Operation" and "Synchronizes-With": each is in the instance of the
/// other's scope. Scopes nest, so the narrower of the two decides.
fn narrower(a: Scope, b: Scope) -> Scope {
    a.min(b)
}

/// "Data Race": at least one of the two is a write.
fn conflict(a: bool, b: bool) -> bool {
    a || b
}

/// "Atomic Operation": mutually ordered atomics access the same set of memory locations.
fn same(a: u8, b: u8) -> bool {
    a == b
}

/// "Release Sequence": read-modify-writes by any agent; not stores, not even by
/// the agent that released.
fn continues(op: AtomicOp) -> bool {
    op == AtomicOp::ReadModifyWrite
}

/// "Memory Semantics": a read with Acquire, a barrier with Acquire.
fn acquires(semantics: &Semantics, reads: bool) -> bool {
    reads && semantics.acquires()
}

/// "Memory Semantics": a write with Release, a barrier with Release.
fn releases(semantics: &Semantics, writes: bool) -> bool {
    writes && semantics.releases()
}

/// "Inter-Thread-Happens-Before": what has all of a set of classes in its semantics. Relaxed
/// semantics have none.
fn ordered(semantics: &Semantics) -> Classes {
    semantics.ordered_classes()
}

/// "Synchronizes-With": a reader of another write's value reads from no release sequence.
fn hidden() -> bool {
    false
}

/// A release covers what is before it and nothing after it.
fn next(epoch: u32) -> u32 {
    epoch.saturating_add(1)
}

/// "Acyclicity": no cycle in location-ordered, modification order, reads-from and from-reads. As
/// the modification order of a location is total, two accesses at a time are enough.
fn coherent(first: Ends, second: Ends) -> bool {
    let last = first.write.max(first.read).unwrap_or(0);
    second.read.is_none_or(|read| last <= read) && second.write.is_none_or(|write| last < write)
}

/// "Scoped Modification Order Coherence": nothing comes between what it reads and what it writes.
fn adjacent(read: usize, write: usize) -> bool {
    write == read + 1
}
