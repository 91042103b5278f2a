//! Numbers to test with, the same in every run.

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }

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
