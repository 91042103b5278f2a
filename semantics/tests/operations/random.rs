//! Random integers and floats of all widths.

#[path = "../common/random.rs"]
mod common;

pub use common::Random;

impl Random {
    /// Bits of an integer of that width: any, of few digits, or near a power of two.
    pub fn integer(&mut self, width: u8) -> u64 {
        let mask = u64::MAX >> (64 - width);
        let bits = match self.below(4) {
            0 => self.next(),
            1 => self.next() >> (63 - self.below(64)),
            2 => (1u64 << self.below(64)).wrapping_add(self.below(5) as u64).wrapping_sub(2),
            _ => (self.below(9) as u64).wrapping_sub(4),
        };
        bits & mask
    }

    /// Bits of a float of that width: any, or a small number.
    pub fn float(&mut self, width: u8) -> u64 {
        if self.below(2) == 0 {
            return self.next() >> (64 - width);
        }
        let x = (self.below(65) as f64 - 32.0) / 8.0;
        match width {
            16 => super::vectors::half_bits(x),
            32 => u64::from((x as f32).to_bits()),
            _ => x.to_bits(),
        }
    }
}
