//! The way from something that shows a fault to a small one that still does; what is shrunk says
//! which changes there are. The protocol is proptest's: [`Descent::simplify`] after a proposal that
//! shows the fault, [`Descent::complicate`] after one that does not.
//!
//! Each proposal is one change to the smallest known to show the fault, and smaller than it. The
//! greatest cuts come first; after a success the search goes on among cuts of about that size, and
//! begins anew from the greatest when there is nothing more, until nothing at all
//! can be taken away.

use rustc_hash::FxHashSet;

/// The most nodes of what is changed that are looked at: some seconds' worth. Only what has
/// thousands of nodes comes near it.
const MOST_EFFORT: u64 = 1 << 24;

/// What can be shrunk.
pub(super) trait Shrinks: Clone {
    /// What proposals must be.
    type Keep: Copy;
    /// A change.
    type Edit: Clone;
    /// What shrinking makes less.
    type Size: Copy + Ord;

    /// Its size.
    fn size(&self) -> Self::Size;

    /// The nodes of that size.
    fn nodes(size: Self::Size) -> u32;

    /// A number that others do not have.
    fn fingerprint(&self) -> u64;

    /// The changes to it that take at most so many nodes away, the greatest first, each with about
    /// how many those are.
    fn changes(&self, keep: Self::Keep, most: u32) -> Vec<(u32, Self::Edit)>;

    /// It, changed; `None` where the change does not apply.
    fn changed(&self, edit: &Self::Edit) -> Option<Self>;

    /// Whether it may be proposed.
    fn holds(&self, keep: Self::Keep) -> bool;
}

/// A search.
#[derive(Clone)]
pub(super) struct Descent<T: Shrinks> {
    keep: T::Keep,
    /// The smallest that is known to show it (or the first).
    best: T,
    size: T::Size,
    /// What is proposed, if it is not `best`, its size, and how many nodes it has less.
    proposed: Option<(T, T::Size, u32)>,
    changes: Vec<(u32, T::Edit)>,
    next: usize,
    /// Whether `changes` are all there are, not only those of some size.
    all: bool,
    /// What was proposed so far.
    seen: FxHashSet<u64>,
    /// The nodes of all that was changed so far, proposed or not.
    effort: u64,
}

impl<T: Shrinks> Descent<T> {
    /// Begins with `best`.
    pub(super) fn new(best: T, keep: T::Keep) -> Descent<T> {
        let (size, changes) = (best.size(), best.changes(keep, u32::MAX));
        Descent { keep, best, size, proposed: None, changes, next: 0, all: true, seen: FxHashSet::default(), effort: 0 }
    }

    /// The smallest that is known to show it.
    pub(super) fn best(&self) -> &T {
        &self.best
    }

    /// What is proposed, or the smallest that is known.
    pub(super) fn shown(&self) -> &T {
        self.proposed.as_ref().map_or(&self.best, |proposed| &proposed.0)
    }

    /// What was proposed shows it. Whether there is another proposal; if not, `best` is as small as
    /// it gets.
    pub(super) fn simplify(&mut self) -> bool {
        if let Some((best, size, removed)) = self.proposed.take() {
            (self.best, self.size) = (best, size);
            // Much greater cuts failed before this one came up, and will be tried again at the end.
            self.look(removed.saturating_mul(2).max(4));
        }
        self.propose()
    }

    /// What was proposed does not show it. Whether there is another proposal.
    pub(super) fn complicate(&mut self) -> bool {
        self.proposed = None;
        self.propose()
    }

    /// The smallest found that `fails`, with fewer than so many questions.
    pub(super) fn minimal(mut self, fails: &mut dyn FnMut(&T) -> bool, questions: u32) -> T {
        let mut more = self.simplify();
        for _ in 1..questions {
            if !more {
                break;
            }
            more = if fails(self.shown()) { self.simplify() } else { self.complicate() };
        }
        self.best
    }

    fn propose(&mut self) -> bool {
        loop {
            while self.next < self.changes.len() {
                if self.effort > MOST_EFFORT {
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
            if self.all {
                return false;
            }
            self.look(u32::MAX);
        }
    }

    /// Begins anew with changes that take at most so many nodes away.
    fn look(&mut self, most: u32) {
        self.changes = self.best.changes(self.keep, most);
        self.next = 0;
        self.all = most == u32::MAX;
    }
}
