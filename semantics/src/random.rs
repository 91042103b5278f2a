//! Random numbers: the same from a seed on every platform, whatever other crates do. SplitMix64, of
//! Steele, Lea and Flood.

/// What the state of a stream grows by: 2^64 divided by the golden ratio.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A mixing of 64 bits that is one to one.
pub fn mix(bits: u64) -> u64 {
    let mut z = bits.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random(u64);

impl Random {
    /// The stream that begins with this state.
    pub fn new(state: u64) -> Random {
        Random(state)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let bits = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers that the authors' program gives for the seed 1234567.
    #[test]
    fn the_stream_is_splitmix64() {
        let mut random = Random::new(1_234_567);
        assert_eq!([random.bits(), random.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }
}
