//! What becomes of what the specification leaves unspecified.

use crate::wsl::types::Scalar;

/// How a run meets an unspecified value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Strategy {
    /// It is carried as a symbol, and every way that depends on it is followed.
    #[default]
    Carry,
    /// The first that is allowed: the definite bits of [`crate::wsl::meaning::Given`], the index 0.
    First,
    /// One that is allowed, drawn by this seed.
    Random(u64),
}

impl Strategy {
    /// A definite choice among `0..options`, which is at least 1: the `number`th of a thread, each
    /// from 0 on. None if nothing is chosen.
    ///
    /// It depends on nothing else, so that every engine and every schedule chooses alike.
    pub fn choose(self, thread: u32, number: u64, options: u64) -> Option<u64> {
        match self {
            Strategy::Carry => None,
            Strategy::First => Some(0),
            Strategy::Random(seed) => {
                let mixed = mix(mix(seed ^ u64::from(thread).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(number));
                Some(((u128::from(mixed) * u128::from(options)) >> 64) as u64)
            }
        }
    }

    /// Definite bits of a scalar that may have any value: `first`, or drawn.
    pub fn any(self, thread: u32, number: u64, first: u32) -> Option<u32> {
        match self {
            Strategy::First => Some(first),
            other => other.choose(thread, number, 1 << 32).map(|bits| bits as u32),
        }
    }

    /// Definite bits of a scalar that is one of these, or any of its type.
    pub fn one_of(self, thread: u32, number: u64, values: Option<&[u32]>, of: Scalar, first: u32) -> Option<u32> {
        match values {
            Some(values) => self.choose(thread, number, values.len() as u64).and_then(|k| values.get(k as usize).copied()),
            None if of == Scalar::Bool => self.choose(thread, number, 2).map(|k| k as u32),
            None => self.any(thread, number, first),
        }
    }

    /// Likewise, of what has no value from the beginning: chosen by what it is
    /// alone, for no thread.
    pub fn undefined(self, [object, place]: [u32; 2], values: Option<&[u32]>, of: Scalar, first: u32) -> Option<u32> {
        self.one_of((u32::MAX - 1).wrapping_sub(object), place.into(), values, of, first)
    }
}

/// A mixing of 64 bits that is one to one (SplitMix64's finaliser).
fn mix(bits: u64) -> u64 {
    let mut z = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
