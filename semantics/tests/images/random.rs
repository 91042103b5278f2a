//! Random numbers from a range, and random items of a list.

#[path = "../common/random.rs"]
mod common;

pub use common::Random;

impl Random {
    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + ((self.next() >> 20) % (high - low + 1) as u64) as i64
    }

    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
