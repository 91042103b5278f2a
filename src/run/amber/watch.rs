//! A record of which open bytes a dispatch reads, which of them it overwrites, and whether it reads
//! past the ends of its buffers.
//!
//! A run that reads no open byte has the same result for all their values, so its result is known.
//! Open bytes that it does not overwrite stay open.

use smallstep_semantics::spirv::shared::ObjectId;
use smallstep_semantics::spirv::step::Action;
use smallstep_semantics::spirv::{Event, Sink};

use crate::amber::Certainty;

/// Watches a dispatch of the relation.
pub(super) struct Watch<'k> {
    /// The knowledge of the bytes of each buffer in the order of the dispatch, then of the push
    /// constants. Empty if all are decided.
    known: Vec<&'k [Certainty]>,
    /// The number of bound bytes of each.
    bound: Vec<usize>,
    seen: Seen,
}

/// The recorded accesses.
pub(super) struct Seen {
    /// The first open byte that was read: the index of its buffer, and its offset.
    pub read: Option<(usize, usize)>,
    /// The first byte past the end that was read: the index of its buffer, and its offset.
    pub past: Option<(usize, usize)>,
    /// For each buffer with open bytes: whether each byte was written.
    pub written: Vec<Vec<bool>>,
}

impl<'k> Watch<'k> {
    pub fn new(known: Vec<&'k [Certainty]>, bound: Vec<usize>) -> Watch<'k> {
        let written = known.iter().map(|known| vec![false; known.len()]).collect();
        Watch { known, bound, seen: Seen { read: None, past: None, written } }
    }

    /// Records that a word of a buffer was written.
    pub fn writes(&mut self, buffer: usize, at: u64) {
        let written = self.seen.written.get_mut(buffer).into_iter().flatten();
        written.skip(at as usize).take(4).for_each(|written| *written = true);
    }

    pub fn seen(self) -> Seen {
        self.seen
    }
}

impl Sink for Watch<'_> {
    fn event(&mut self, event: &Event<'_, '_>) {
        for action in event.actions {
            let (extent, reads, writes) = match action {
                Action::Load(extent) => (extent, true, false),
                Action::Store(extent, _) => (extent, false, true),
                Action::Atomic { extent, store, .. } => (extent, true, store.is_some()),
                Action::Fence { .. } => continue,
            };
            let ObjectId::Buffer(index) = extent.object else { continue };
            let index = index as usize;
            let end = self.bound.get(index).copied().unwrap_or(usize::MAX);
            if reads && self.seen.past.is_none() {
                let past_end = extent.stretches().into_iter().find(|(first, bytes)| first + bytes > end as u64);
                self.seen.past = past_end.map(|(first, _)| (index, end.max(first as usize)));
            }
            let Some(known) = self.known.get(index).filter(|known| !known.is_empty()) else { continue };
            for (first, bytes) in extent.stretches() {
                let range = first as usize..(first + bytes) as usize;
                if reads && self.seen.read.is_none() {
                    let open = known.iter().enumerate().take(range.end).skip(range.start).find(|(_, known)| **known > Certainty::Decided);
                    self.seen.read = open.map(|(at, _)| (index, at));
                }
                if writes {
                    self.seen.written[index].iter_mut().take(range.end).skip(range.start).for_each(|written| *written = true);
                }
            }
        }
    }
}
