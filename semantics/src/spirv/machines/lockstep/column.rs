//! Columns of words for 64 lanes, and sets of lanes as bits.
//!
//! The code is written so that the compiler vectorises it. It knows nothing of SPIR-V.

/// The number of invocations that run side by side.
pub const LANES: usize = 64;

/// One 32-bit word of each lane.
pub type Column = [u32; LANES];

/// A set of lanes: bit i is lane i.
pub type Lanes = u64;

/// The lanes of the set, ascending.
#[inline]
pub fn lanes(set: Lanes) -> impl Iterator<Item = usize> {
    let mut remaining = set;
    std::iter::from_fn(move || {
        let lane = remaining.trailing_zeros() as usize;
        (remaining != 0).then(|| {
            remaining &= remaining - 1;
            lane
        })
    })
}

/// The set of the lanes whose byte is 1. Every byte must be 0 or 1.
#[inline]
pub fn set_of(bytes: &[u8; LANES]) -> Lanes {
    let mut set = 0;
    for (i, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        // The product moves bit 0 of byte k to bit 56 + k.
        set |= (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    set
}

/// The lanes in which the relation holds between the words of two columns.
#[inline]
pub fn compare(a: &Column, b: &Column, holds: impl Fn(u32, u32) -> bool) -> Lanes {
    let mut bytes = [0u8; LANES];
    for ((byte, &a), &b) in bytes.iter_mut().zip(a).zip(b) {
        *byte = u8::from(holds(a, b));
    }
    set_of(&bytes)
}

/// For each byte, its bits as eight words: all ones or zero.
static SPREAD: [[u32; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte][bit] = if byte >> bit & 1 == 1 { u32::MAX } else { 0 };
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// All ones in the lanes of the set, zero in the others.
#[inline]
pub fn spread(set: Lanes) -> Column {
    let mut column = [0; LANES];
    for (eight, byte) in column.as_chunks_mut::<8>().0.iter_mut().zip(set.to_le_bytes()) {
        *eight = SPREAD[byte as usize];
    }
    column
}

/// The word that all lanes of the set share. `None` if they differ or the set is empty.
#[inline]
pub fn uniform(column: &Column, set: Lanes, spread: &Column) -> Option<u32> {
    let first = column[(set.trailing_zeros() as usize).min(LANES - 1)];
    let mut different = 0;
    for (&word, &mask) in column.iter().zip(spread) {
        different |= (word ^ first) & mask;
    }
    (different == 0 && set != 0).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_and_columns_are_the_same_lanes() {
        let mut set = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..100 {
            set = set.wrapping_mul(0x94d0_49bb_1331_11eb) ^ set >> 29;
            let column = spread(set);
            for (i, &word) in column.iter().enumerate() {
                assert_eq!(word, if set >> i & 1 == 1 { u32::MAX } else { 0 });
            }
            assert_eq!(lanes(set).fold(0, |s, lane| s | 1 << lane), set);
            assert_eq!(compare(&column, &[0; LANES], |a, b| a != b), set);
        }
    }

    #[test]
    fn a_word_is_uniform_over_the_lanes_of_the_set_only() {
        let mut column = [7; LANES];
        column[3] = 8;
        let set = !(1 << 3);
        assert_eq!(uniform(&column, set, &spread(set)), Some(7));
        assert_eq!(uniform(&column, !0, &spread(!0)), None);
        assert_eq!(uniform(&column, 1 << 3, &spread(1 << 3)), Some(8));
        assert_eq!(uniform(&column, 0, &spread(0)), None);
    }
}
