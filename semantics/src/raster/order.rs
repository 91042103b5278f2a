//! Rasterization order: Vulkan, Rasterization Order. Quads run side by side and end in any order.
//! Their fragments reach the attachments by primitive, then by quad.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// An entry of the queue to the attachments.
#[derive(Clone, Copy, Debug)]
enum Queued {
    /// The quad of that number.
    Quad(u32),
    /// A primitive of unknown shape.
    Unknown,
}

/// The next entry for the attachments.
#[derive(Clone, Debug)]
pub enum Next<Q, L> {
    /// A quad that has ended, and its outputs.
    Quad(Q, L),
    /// A primitive of unknown shape: a device may have any fragment of it.
    Unknown,
}

/// The quads that have started and did not reach the attachments yet. `Q` is the data of a quad,
/// `L` the outputs of a quad that has ended.
#[derive(Clone, Debug)]
pub struct RasterOrder<Q, L> {
    queue: VecDeque<Queued>,
    quads: FxHashMap<u32, Q>,
    ended: FxHashMap<u32, L>,
}

impl<Q, L> Default for RasterOrder<Q, L> {
    fn default() -> RasterOrder<Q, L> {
        RasterOrder { queue: VecDeque::new(), quads: FxHashMap::default(), ended: FxHashMap::default() }
    }
}

impl<Q, L> RasterOrder<Q, L> {
    /// Starts a quad, with a number that no waiting quad has.
    pub fn start(&mut self, number: u32, quad: Q) {
        self.quads.insert(number, quad);
        self.queue.push_back(Queued::Quad(number));
    }

    /// Adds a primitive of unknown shape.
    pub fn unknown(&mut self) {
        self.queue.push_back(Queued::Unknown);
    }

    /// The number of entries that wait.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// The quad that is the first to wait. `None` if nothing waits. The inner `None` says that a
    /// primitive of unknown shape is the first.
    pub fn first(&self) -> Option<Option<&Q>> {
        self.queue.front().map(|queued| match queued {
            Queued::Quad(number) => self.quads.get(number),
            Queued::Unknown => None,
        })
    }

    /// A quad that waits.
    pub fn quad(&self, number: u32) -> Option<&Q> {
        self.quads.get(&number)
    }

    /// Records the outputs of a quad that has ended. Returns those that were recorded before.
    pub fn end(&mut self, number: u32, outputs: L) -> Option<L> {
        self.ended.insert(number, outputs)
    }

    /// The outputs of a quad that has ended and waits.
    pub fn outputs(&self, number: u32) -> Option<&L> {
        self.ended.get(&number)
    }

    /// The same, to be changed.
    pub fn outputs_mut(&mut self, number: u32) -> Option<&mut L> {
        self.ended.get_mut(&number)
    }

    /// Takes the outputs of a quad, which then has not ended.
    pub fn take_outputs(&mut self, number: u32) -> Option<L> {
        self.ended.remove(&number)
    }

    /// Removes and returns the first entry. `None` if nothing waits, or if the first is a quad that
    /// has not ended.
    pub fn pop(&mut self) -> Option<Next<Q, L>> {
        let next = match *self.queue.front()? {
            Queued::Unknown => Next::Unknown,
            Queued::Quad(number) => {
                let outputs = self.ended.remove(&number)?;
                Next::Quad(self.quads.remove(&number)?, outputs)
            }
        };
        self.queue.pop_front();
        Some(next)
    }
}
