//! The choices of the memory model, one function each, as data: tests plant bugs beside them.

use super::race::AtomicOp;
use super::scope::{Class, Classes, Scope, Semantics};

/// The rules that [`super::Order`] and [`super::Detector`] ask.
#[derive(Clone, Copy)]
pub struct Rules {
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
}

impl Rules {
    /// The memory model.
    pub const MODEL: Rules = Rules {
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
