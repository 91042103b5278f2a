//! Bounds of 32-bit integers that are too many to list: known bits, and ends in signed and
//! unsigned order.

use super::MAX_VALUES;

/// The sign bit. With this bit flipped, signed numbers have their order as unsigned numbers.
const SIGN: u32 = 1 << 31;

/// The words that satisfy all of these bounds. There is at least one. The bounds are known
/// bits, and the ends as unsigned and as signed numbers. Each bound includes what follows from
/// the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integers {
    /// Bits that are 0 in all of them.
    pub zeros: u32,
    /// Bits that are 1 in all of them.
    pub ones: u32,
    /// The least and the greatest, as `uint`.
    pub unsigned: (u32, u32),
    /// The least and the greatest, as `int`.
    pub signed: (i32, i32),
}

/// The least number from `low` on that has these bits. `None` if there is none.
fn least_from(low: u32, zeros: u32, ones: u32) -> Option<u32> {
    let violated = low & zeros | !low & ones;
    if violated == 0 {
        return Some(low);
    }
    let top = 31 - violated.leading_zeros();
    let below = |bit: u32| (1u32 << bit) - 1;
    // The number has to change from the highest wrong bit on. That bit is set if it must be 1.
    // Otherwise the next higher bit that may become 1 is set.
    let raised_bit = match ones >> top & 1 {
        1 => top,
        _ => {
            let settable = !(zeros | low) & !(below(top) | 1 << top);
            (settable != 0).then(|| settable.trailing_zeros())?
        }
    };
    Some(low & !below(raised_bit) | 1 << raised_bit | ones & below(raised_bit))
}

/// The greatest number up to `high` that has these bits. `None` if there is none.
fn greatest_up_to(high: u32, zeros: u32, ones: u32) -> Option<u32> {
    least_from(!high, ones, zeros).map(|found| !found)
}

/// The bits that all numbers between two have: zeros and ones.
fn common_bits(low: u32, high: u32) -> (u32, u32) {
    let free = u32::MAX.checked_shr((low ^ high).leading_zeros()).unwrap_or(0);
    (!(low | free), low & !free)
}

/// Zeros and ones with the sign bit flipped.
fn flipped(zeros: u32, ones: u32) -> (u32, u32) {
    (zeros & !SIGN | ones & SIGN, ones & !SIGN | zeros & SIGN)
}

fn biased((least, most): (i32, i32)) -> (u32, u32) {
    (least as u32 ^ SIGN, most as u32 ^ SIGN)
}

impl Integers {
    /// Every word.
    pub const ANY: Integers = Integers { zeros: 0, ones: 0, unsigned: (0, u32::MAX), signed: (i32::MIN, i32::MAX) };

    /// One word.
    pub fn only(bits: u32) -> Integers {
        Integers { zeros: !bits, ones: bits, unsigned: (bits, bits), signed: (bits as i32, bits as i32) }
    }

    /// The words with these known bits. `None` if they contradict each other.
    pub fn bits(zeros: u32, ones: u32) -> Option<Integers> {
        Integers { zeros, ones, ..Integers::ANY }.tightened()
    }

    /// The unsigned numbers between two, inclusive. `None` if `low` is greater than `high`.
    pub fn between(low: u32, high: u32) -> Option<Integers> {
        Integers { unsigned: (low, high), ..Integers::ANY }.tightened()
    }

    /// The signed numbers between two, inclusive. `None` if `least` is greater than `most`.
    pub fn between_signed(least: i32, most: i32) -> Option<Integers> {
        Integers { signed: (least, most), ..Integers::ANY }.tightened()
    }

    /// The low 32 bits of the exact integers between two, inclusive.
    pub fn wrapped(low: i128, high: i128) -> Integers {
        let high_part = |n: i128| n >> 32;
        let half = 1 << 31;
        let unsigned = (high_part(low) == high_part(high)).then(|| Integers::between(low as u32, high as u32)).flatten();
        let signed = (high_part(low + half) == high_part(high + half)).then(|| Integers::between_signed(low as i32, high as i32)).flatten();
        unsigned.unwrap_or(Integers::ANY).or_both(signed.unwrap_or(Integers::ANY))
    }

    /// Bounds that hold these words. `None` if there are no words.
    pub fn of(words: impl IntoIterator<Item = u32>) -> Option<Integers> {
        words.into_iter().map(Integers::only).reduce(Integers::join)
    }

    /// Tightens each bound by the others, until nothing changes. `None` if no word is left.
    fn tightened(self) -> Option<Integers> {
        let Integers { mut zeros, mut ones, mut unsigned, mut signed } = self;
        loop {
            let before = (zeros, ones, unsigned, signed);
            if zeros & ones != 0 {
                return None;
            }
            unsigned = (least_from(unsigned.0, zeros, ones)?, greatest_up_to(unsigned.1, zeros, ones)?);
            let (low, high) = biased(signed);
            let (biased_zeros, biased_ones) = flipped(zeros, ones);
            let (low, high) = (least_from(low, biased_zeros, biased_ones)?, greatest_up_to(high, biased_zeros, biased_ones)?);
            if unsigned.0 > unsigned.1 || low > high {
                return None;
            }
            let (biased_zeros, biased_ones) = common_bits(low, high);
            let (signed_zeros, signed_ones) = flipped(biased_zeros, biased_ones);
            let (unsigned_zeros, unsigned_ones) = common_bits(unsigned.0, unsigned.1);
            (zeros, ones) = (zeros | signed_zeros | unsigned_zeros, ones | signed_ones | unsigned_ones);
            signed = ((low ^ SIGN) as i32, (high ^ SIGN) as i32);
            // Numbers of one sign have the same order with and without the sign.
            if (signed.0 < 0) == (signed.1 < 0) {
                unsigned = (unsigned.0.max(signed.0 as u32), unsigned.1.min(signed.1 as u32));
            }
            if (unsigned.0 ^ unsigned.1) & SIGN == 0 {
                signed = (signed.0.max(unsigned.0 as i32), signed.1.min(unsigned.1 as i32));
            }
            if before == (zeros, ones, unsigned, signed) {
                return Some(Integers { zeros, ones, unsigned, signed });
            }
        }
    }

    /// The words that are in both. `None` if there are none.
    pub fn meet(self, other: Integers) -> Option<Integers> {
        Integers {
            zeros: self.zeros | other.zeros,
            ones: self.ones | other.ones,
            unsigned: (self.unsigned.0.max(other.unsigned.0), self.unsigned.1.min(other.unsigned.1)),
            signed: (self.signed.0.max(other.signed.0), self.signed.1.min(other.signed.1)),
        }
        .tightened()
    }

    /// The words that are in both. If there are none, as on a way that no execution takes, all
    /// words of `self`.
    #[must_use]
    pub fn or_both(self, other: Integers) -> Integers {
        self.meet(other).unwrap_or(self)
    }

    /// Bounds that hold the words of both.
    #[must_use]
    pub fn join(self, other: Integers) -> Integers {
        Integers {
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            unsigned: (self.unsigned.0.min(other.unsigned.0), self.unsigned.1.max(other.unsigned.1)),
            signed: (self.signed.0.min(other.signed.0), self.signed.1.max(other.signed.1)),
        }
        .tightened()
        .unwrap_or(Integers::ANY)
    }

    /// The words other than this one, as far as the ends can express that. `None` if there are
    /// no others.
    pub fn without(self, bits: u32) -> Option<Integers> {
        let number = bits as i32;
        let mut bounds = self;
        if bounds.single() == Some(bits) {
            return None;
        }
        if bounds.unsigned.0 == bits {
            bounds.unsigned.0 += 1;
        }
        if bounds.unsigned.1 == bits {
            bounds.unsigned.1 -= 1;
        }
        if bounds.signed.0 == number {
            bounds.signed.0 += 1;
        }
        if bounds.signed.1 == number {
            bounds.signed.1 -= 1;
        }
        bounds.tightened()
    }

    /// Whether the word satisfies the bounds.
    pub fn contains(&self, bits: u32) -> bool {
        let number = bits as i32;
        bits & self.zeros == 0
            && !bits & self.ones == 0
            && (self.unsigned.0..=self.unsigned.1).contains(&bits)
            && (self.signed.0..=self.signed.1).contains(&number)
    }

    /// The only word, if there is only one.
    pub fn single(&self) -> Option<u32> {
        (self.unsigned.0 == self.unsigned.1).then_some(self.unsigned.0)
    }

    /// All words in ascending order, if there are certainly no more than [`MAX_VALUES`].
    pub fn listed(&self) -> Option<Vec<u32>> {
        let free = !(self.zeros | self.ones);
        let (low, high) = self.unsigned;
        let (least, most) = biased(self.signed);
        let by_bits = 1u64 << free.count_ones();
        let width = u64::from((high - low).min(most - least)) + 1;
        if by_bits.min(width) > MAX_VALUES as u64 {
            return None;
        }
        let signed = most - least < high - low;
        let ((first, last), (zeros, ones)) =
            if signed { ((least, most), flipped(self.zeros, self.ones)) } else { ((low, high), (self.zeros, self.ones)) };
        let mut values: Vec<u32> = std::iter::successors(least_from(first, zeros, ones), |&v| least_from(v.checked_add(1)?, zeros, ones))
            .take_while(|&v| v <= last)
            .map(|v| if signed { v ^ SIGN } else { v })
            .filter(|&v| self.contains(v))
            .collect();
        values.sort_unstable();
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(integers: Option<Integers>) -> Vec<u32> {
        integers.expect("there is one").listed().expect("they are few")
    }

    #[test]
    fn each_part_says_what_the_others_do() {
        assert_eq!(listed(Integers::bits(!0b1010, 0b10)), [2, 10]);
        assert_eq!(listed(Integers::between(6, 9)), [6, 7, 8, 9]);
        assert_eq!(Integers::between(8, 11).map(|i| (i.zeros, i.ones, i.signed)), Some((!0b1011, 0b1000, (8, 11))));
        assert_eq!(listed(Integers::between_signed(-2, 1)), [0, 1, u32::MAX - 1, u32::MAX]);
        assert_eq!(Integers::between(0x8000_0001, u32::MAX).map(|i| i.signed), Some((i32::MIN + 1, -1)));
        // Odd numbers from 4 to 8.
        let odd = Integers::bits(0, 1).and_then(|odd| odd.meet(Integers::between(4, 8)?));
        assert_eq!(odd.map(|i| i.unsigned), Some((5, 7)));
        assert_eq!(Integers::between(5, 4), None);
        assert_eq!(Integers::bits(1, 1), None);
        assert_eq!(Integers::bits(0, 1).and_then(|odd| odd.meet(Integers::only(4))), None);
    }

    #[test]
    fn exact_numbers_wrap_around() {
        assert_eq!(Integers::wrapped(-3, -2).unsigned, (u32::MAX - 2, u32::MAX - 1));
        assert_eq!(Integers::wrapped(-1, 1).signed, (-1, 1));
        assert_eq!(Integers::wrapped(-1, 1).unsigned, (0, u32::MAX));
        assert_eq!(Integers::wrapped(1 << 31, 1 << 31).signed, (i32::MIN, i32::MIN));
        assert_eq!(Integers::wrapped((1 << 32) + 4, (1 << 32) + 6).unsigned, (4, 6));
        assert_eq!(Integers::wrapped(0, 1 << 32), Integers::ANY);
    }

    #[test]
    fn next_numbers_with_given_bits() {
        // Compared with a search, for 6 bits.
        let has = |v: u32, zeros: u32, ones: u32| v & zeros == 0 && !v & ones == 0;
        for zeros in 0..64u32 {
            for ones in (0..64u32).filter(|ones| ones & zeros == 0) {
                for n in 0..64u32 {
                    let next = (n..64).find(|&v| has(v, zeros | !63, ones));
                    assert_eq!(least_from(n, zeros | !63, ones), next, "{n} {zeros:b} {ones:b}");
                    let last = (0..=n).rev().find(|&v| has(v, zeros | !63, ones));
                    assert_eq!(greatest_up_to(n, zeros | !63, ones), last, "{n} {zeros:b} {ones:b}");
                }
            }
        }
    }
}
