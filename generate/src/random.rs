//! Random choices of the generators.

use smallstep_semantics::random;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(random::Random);

impl Random {
    /// The stream of a seed. Neighbouring seeds give unrelated streams.
    pub fn new(seed: u64) -> Random {
        let mut random = Random(random::Random::new(seed ^ 0x6c61_6d62_6461_5f76));
        random.bits();
        random
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// A number from `low` to `high`, both included; `low` if `high` is less.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True with a probability of `percent` in 100.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// True with a probability of `permille` in 1000.
    pub fn permille(&mut self, permille: u32) -> bool {
        self.below(1000) < permille
    }

    /// One of the items, with equal probability. There must be at least one.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }

    /// The index of a weight, with a probability in proportion to the weight. 0 if all weights
    /// are 0.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut at = self.below(weights.iter().sum());
        for (i, &weight) in weights.iter().enumerate() {
            if at < weight {
                return i;
            }
            at -= weight;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut random = Random::new(1);
        assert_eq!([random.bits(), random.bits()], [0xb5e701a17f1db16f, 0xa8b239dd7f8d0933]);
    }

    #[test]
    fn numbers_stay_in_range_and_reach_both_ends() {
        let mut random = Random::new(7);
        let drawn: Vec<u32> = (0..1000).map(|_| random.between(3, 6)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&3), Some(&6)));
        assert_eq!(random.below(0), 0);
        let counts = (0..1000).fold([0; 3], |mut counts, _| {
            counts[random.weighted(&[1, 0, 3])] += 1;
            counts
        });
        assert!(counts[1] == 0 && (200..300).contains(&counts[0]), "{counts:?}");
    }
}
