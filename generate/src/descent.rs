//! The search from an item that shows a fault to a small item that still shows it. [`Shrinks`]
//! defines the possible changes of an item. The protocol is proptest's: [`Descent::simplify`] after
//! a proposal that shows the fault, [`Descent::complicate`] after a proposal that does not.
//!
//! Each proposal is one change to the smallest item that is known to show the fault, and is smaller
//! than it. The greatest cuts come first. After a success, the search continues among cuts of about
//! that size. If these are used up, it starts again with the greatest cuts. It ends when nothing
//! can be removed.

use rustc_hash::FxHashSet;

/// The most nodes of changed items, in total. They take some seconds. Only items with thousands of
/// nodes come near this number.
const MAX_EFFORT: u64 = 1 << 24;

/// Items that can be shrunk.
pub(super) trait Shrinks: Clone {
    /// A condition that all proposals must meet.
    type Keep: Copy;
    /// A change of an item.
    type Edit: Clone;
    /// The size of an item, which shrinking reduces.
    type Size: Copy + Ord;

    /// The size of the item.
    fn size(&self) -> Self::Size;

    /// The number of nodes in a size.
    fn nodes(size: Self::Size) -> u32;

    /// A hash that identifies the item.
    fn fingerprint(&self) -> u64;

    /// The changes that remove at most `limit` nodes, the greatest first. Each has an estimate of
    /// the nodes that it removes.
    fn changes(&self, keep: Self::Keep, limit: u32) -> Vec<(u32, Self::Edit)>;

    /// The changed item. `None` if the change does not apply.
    fn changed(&self, edit: &Self::Edit) -> Option<Self>;

    /// Whether the item meets the condition.
    fn holds(&self, keep: Self::Keep) -> bool;
}

/// A search.
#[derive(Clone)]
pub(super) struct Descent<T: Shrinks> {
    keep: T::Keep,
    /// The smallest item that is known to show the fault. At first the original.
    best: T,
    size: T::Size,
    /// The proposed item if it is not `best`, with its size and an estimate of the nodes that the
    /// change removes.
    proposed: Option<(T, T::Size, u32)>,
    changes: Vec<(u32, T::Edit)>,
    next: usize,
    /// Whether `changes` are all changes, not only those up to some size.
    has_all_changes: bool,
    /// The fingerprints of all proposals so far.
    seen: FxHashSet<u64>,
    /// The total nodes of all changed items so far, whether they were proposed or not.
    effort: u64,
}

impl<T: Shrinks> Descent<T> {
    /// A search that starts with `best`.
    pub(super) fn new(best: T, keep: T::Keep) -> Descent<T> {
        let (size, changes) = (best.size(), best.changes(keep, u32::MAX));
        Descent { keep, best, size, proposed: None, changes, next: 0, has_all_changes: true, seen: FxHashSet::default(), effort: 0 }
    }

    /// The smallest item that is known to show the fault.
    pub(super) fn best(&self) -> &T {
        &self.best
    }

    /// The proposed item, or else the smallest known one.
    pub(super) fn shown(&self) -> &T {
        self.proposed.as_ref().map_or(&self.best, |proposed| &proposed.0)
    }

    /// Says that the proposal shows the fault, or starts the search. Returns whether there is
    /// another proposal. If not, `best` is final.
    pub(super) fn simplify(&mut self) -> bool {
        if let Some((best, size, removed)) = self.proposed.take() {
            (self.best, self.size) = (best, size);
            // Much greater cuts failed before this cut. They are tried again at the end.
            self.restart(removed.saturating_mul(2).max(4));
        }
        self.propose()
    }

    /// Says that the proposal does not show the fault. Returns whether there is another proposal.
    pub(super) fn complicate(&mut self) -> bool {
        self.proposed = None;
        self.propose()
    }

    /// The smallest item found that `fails`, with fewer than `questions` calls of it.
    pub(super) fn minimal(mut self, fails: &mut dyn FnMut(&T) -> bool, questions: u32) -> T {
        let mut has_proposal = self.simplify();
        for _ in 1..questions {
            if !has_proposal {
                break;
            }
            has_proposal = if fails(self.shown()) { self.simplify() } else { self.complicate() };
        }
        self.best
    }

    fn propose(&mut self) -> bool {
        loop {
            while self.next < self.changes.len() {
                if self.effort > MAX_EFFORT {
                    return false;
                }
                self.effort += u64::from(T::nodes(self.size));
                let edit = &self.changes[self.next].1;
                self.next += 1;
                let Some(changed) = self.best.changed(edit) else { continue };
                let size = changed.size();
                if size >= self.size || !self.seen.insert(changed.fingerprint()) || !changed.holds(self.keep) {
                    continue;
                }
                let removed = T::nodes(self.size) - T::nodes(size);
                self.proposed = Some((changed, size, removed));
                return true;
            }
            if self.has_all_changes {
                return false;
            }
            self.restart(u32::MAX);
        }
    }

    /// Starts again with the changes that remove at most `limit` nodes.
    fn restart(&mut self, limit: u32) {
        self.changes = self.best.changes(self.keep, limit);
        self.next = 0;
        self.has_all_changes = limit == u32::MAX;
    }
}
