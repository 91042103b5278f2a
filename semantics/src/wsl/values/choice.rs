//! Strategies for values that the specification leaves unspecified.

use crate::random::{STEP, mix};
use crate::wsl::types::Scalar;

/// The treatment of unspecified values in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Strategy {
    /// Each is carried as a symbol, and every way that depends on it is followed.
    #[default]
    Carry,
    /// The first allowed value: the definite bits of an
    /// [`OpResult`](crate::wsl::meaning::OpResult), the index 0.
    First,
    /// An allowed value, drawn with this seed.
    Random(u64),
}

impl Strategy {
    /// A definite choice among `0..options`, which is at least 1. `number` counts the choices of a
    /// thread from 0. `None` if the strategy chooses nothing.
    ///
    /// The choice depends on nothing else, so that every engine and every schedule makes the
    /// same choices.
    pub fn choose(self, thread: u32, number: u64, options: u64) -> Option<u64> {
        match self {
            Strategy::Carry => None,
            Strategy::First => Some(0),
            Strategy::Random(seed) => {
                let random_bits = mix(mix(seed ^ u64::from(thread).wrapping_mul(STEP)).wrapping_add(number));
                Some(((u128::from(random_bits) * u128::from(options)) >> 64) as u64)
            }
        }
    }

    /// Definite bits of a scalar that may have any value: `first`, or drawn bits.
    pub fn any(self, thread: u32, number: u64, first: u32) -> Option<u32> {
        match self {
            Strategy::First => Some(first),
            other => other.choose(thread, number, 1 << 32).map(|bits| bits as u32),
        }
    }

    /// Definite bits of a scalar that is one of these values, or any of its type.
    pub fn one_of(self, thread: u32, number: u64, values: Option<&[u32]>, of: Scalar, first: u32) -> Option<u32> {
        match values {
            Some(values) => self.choose(thread, number, values.len() as u64).and_then(|k| values.get(k as usize).copied()),
            None if of == Scalar::Bool => self.choose(thread, number, 2).map(|k| k as u32),
            None => self.any(thread, number, first),
        }
    }

    /// [`Strategy::one_of`] for a value that is undefined from the start. The choice depends only
    /// on the object and the place in it, not on a thread.
    pub fn undefined(self, [object, place]: [u32; 2], values: Option<&[u32]>, of: Scalar, first: u32) -> Option<u32> {
        self.one_of((u32::MAX - 1).wrapping_sub(object), place.into(), values, of, first)
    }
}
