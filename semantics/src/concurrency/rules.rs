//! The choices of the memory model as data: one function each. Tests plant bugs here.

use super::race::AtomicOp;
use super::scope::{Class, Classes, Scope, Semantics};

/// The places of an event in the modification order of its location. Place 0 is the initial value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The place of the write that the event reads from. `None` if it does not read.
    pub read: Option<usize>,
    /// The place of the event's own write. `None` if it does not write.
    pub write: Option<usize>,
}

/// The rules of [`super::Order`], [`super::Detector`] and [`super::Execution`].
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whether a race is undefined behaviour. Then the first race is enough.
    pub race_is_undefined: bool,
    /// Given the scopes of two operations: the scope of which both agents must be in one instance.
    /// Exactly then each operation is in the other's scope instance.
    pub common: fn(Scope, Scope) -> Scope,
    /// Whether two overlapping accesses conflict. The arguments say whether each of them writes.
    pub conflict: fn(bool, bool) -> bool,
    /// Whether two overlapping, aligned atomic accesses of these sizes access the
    /// same set of locations.
    pub same_locations: fn(u8, u8) -> bool,
    /// Whether an atomic write continues the release sequences before it.
    pub continues: fn(AtomicOp) -> bool,
    /// Whether an operation acquires. The arguments are its semantics and whether it reads.
    pub acquires: fn(&Semantics, bool) -> bool,
    /// Whether an operation releases. The arguments are its semantics and whether it writes.
    pub releases: fn(&Semantics, bool) -> bool,
    /// The storage classes that semantics order.
    pub ordered: fn(&Semantics) -> Classes,
    /// The storage classes in which a release synchronizes with an acquire, from the
    /// classes of both.
    pub shared: fn(Classes, Classes) -> Classes,
    /// Whether a fence with these classes pairs with an atomic access of this class.
    pub fence_covers: fn(Classes, Class) -> bool,
    /// Whether release sequences at a location remain readable after another write has
    /// replaced the value.
    pub survives: fn() -> bool,
    /// The epoch after a release in the given epoch.
    pub next_epoch: fn(u32) -> u32,
    /// The classes, other than the location's own, in which an order between two atomics counts.
    pub between_atomics: fn(Classes, Classes) -> Classes,
    /// Whether two accesses to one location may have these places in its modification order. The
    /// first is location-ordered before the second.
    pub coherent: fn(Ends, Ends) -> bool,
    /// Whether a read-modify-write that reads the first place may write at the second.
    pub adjacent: fn(usize, usize) -> bool,
}

impl Rules {
    /// The memory model.
    pub const MODEL: Rules = Rules {
        race_is_undefined: true,
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

/// Vulkan memory model, "Atomic Operation" and "Synchronizes-With": each agent is in the instance
/// of the other's scope. Scopes nest, so the narrower of the two decides.
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

/// "Release Sequence": read-modify-writes by any agent continue it. Stores do not, not even stores
/// of the releasing agent.
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

/// "Inter-Thread-Happens-Before": the operations that have all classes of a set in their semantics.
/// Relaxed semantics have no classes.
fn ordered(semantics: &Semantics) -> Classes {
    semantics.ordered_classes()
}

/// "Synchronizes-With": a read of a value that another write left reads from no release sequence.
fn hidden() -> bool {
    false
}

/// A release covers accesses before it and none after it, so the epoch grows.
fn next(epoch: u32) -> u32 {
    epoch.saturating_add(1)
}

/// "Acyclicity": no cycle in location-ordered, modification order, reads-from and from-reads. As
/// the modification order of a location is total, two accesses at a time are enough.
fn coherent(first: Ends, second: Ends) -> bool {
    let last = first.write.max(first.read).unwrap_or(0);
    second.read.is_none_or(|read| last <= read) && second.write.is_none_or(|write| last < write)
}

/// "Scoped Modification Order Coherence": no write comes between the write that it
/// reads and its own.
fn adjacent(read: usize, write: usize) -> bool {
    write == read + 1
}
