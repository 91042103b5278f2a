//! The certificate that a polynomial is computed without any rounding, however it is rewritten.
//!
//! A value made from leaves (constants, inputs, results of other operations) by + - · is a
//! polynomial in these leaves. Write it out as a sum of monomials. Let 2^`exponent` divide every
//! monomial that has no zero among its leaves. Let the magnitudes of these monomials sum to at most
//! `bound` < 2^(24 + `exponent`). An implementation may evaluate any expression that follows by
//! associativity, commutativity and distributivity, with any of its additions fused into a
//! multiplication. Take a subexpression P of such an expression, and the product Q of the factors
//! by which it is multiplied on the way to the root.
//! - If Q has a monomial q without a zero leaf, then every p·q is among the monomials of the whole.
//!   |q| is at least the power of two that q's leaves are multiples of. So dividing by it shows the
//!   same inequality for P: P is a multiple of a power of two, and less than 2^24 times as large.
//!   Such a number is a 32-bit float, so the computed result is P. `low` keeps the powers of two of
//!   all parts of monomials above the subnormals, and `high` keeps their magnitudes below overflow.
//! - Otherwise one factor of Q is computed as exactly zero. P is finite by `high`, and does
//!   not matter.

/// A bound on every intermediate result of the polynomial that made a value. The module
/// documentation has the proof.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Every monomial without a zero leaf is a multiple of 2^exponent; [`Grid::NONE_NONZERO`] if
    /// there is no such monomial.
    pub exponent: i16,
    /// The least exponent of any part of such a monomial: the sum of its leaves'
    /// negative exponents.
    pub low: i16,
    /// The sum of these monomials' magnitudes; below 2^(24 + exponent), where it is exact.
    pub bound: f32,
    /// The sum over all monomials of the product of their leaves' magnitudes, each taken as 1 if
    /// smaller; rounded up.
    pub high: f32,
    /// The number of monomials, including those with a zero leaf. [`u16::MAX`] stands for that many
    /// or more.
    pub terms: u16,
    /// The most leaves of a monomial. [`u8::MAX`] stands for that many or more.
    pub degree: u8,
    /// Whether this is a leaf, so that there is nothing to rewrite.
    pub leaf: bool,
}

// Every lane has one, so the size matters.
const _: () = assert!(size_of::<Option<Grid>>() == 16);

/// More than the error of two roundings to nearest, relative to the result.
const ROUND_UP: f32 = 1.0 + 1.0 / (1 << 22) as f32;

/// 2^127.
const TOO_HIGH: f32 = f32::from_bits(0x7f00_0000);

impl Grid {
    /// The exponent of a polynomial in which every monomial has a zero leaf.
    pub const NONE_NONZERO: i16 = i16::MAX;

    /// The certificate of a zero.
    const LEAF: Grid = Grid { exponent: Grid::NONE_NONZERO, low: 0, bound: 0.0, high: 1.0, terms: 1, degree: 1, leaf: true };

    /// The certificate of a value without a magnitude: a Boolean.
    pub const BOOLEAN: Grid = Grid { exponent: 0, low: 0, bound: 1.0, high: 1.0, ..Grid::LEAF };

    /// A float as a leaf. `None` for infinities and NaN, for a magnitude of 2^127 or more, and if
    /// one of its bits is worth less than 2^-126.
    pub fn of(value: f32) -> Option<Grid> {
        let bits = value.to_bits();
        let magnitude = value.abs();
        if magnitude == 0.0 {
            return Some(Grid::LEAF);
        }
        let biased = (bits >> 23 & 0xff) as i16;
        if biased == 0 || biased >= 254 {
            return None;
        }
        let mut exponent = biased - 150 + (bits & 0x7f_ffff | 0x80_0000).trailing_zeros() as i16;
        let mut terms = 1;
        if magnitude == 2.0 {
            // A compiler turns 2·P into P + P, and may then separate the two: count them as
            // two monomials.
            (exponent, terms) = (0, 2);
        }
        let low = exponent.min(0);
        (low >= -126).then_some(Grid { exponent, low, bound: magnitude, high: magnitude.max(1.0), terms, ..Grid::LEAF })
    }

    /// The certificate of a sum or difference, if there is one.
    pub fn sum(self, other: Grid) -> Option<Grid> {
        Grid {
            exponent: self.exponent.min(other.exponent),
            low: self.low.min(other.low),
            bound: self.bound + other.bound,
            high: (self.high + other.high) * ROUND_UP,
            terms: self.terms.saturating_add(other.terms),
            degree: self.degree.max(other.degree),
            leaf: false,
        }
        .checked()
    }

    /// The certificate of a product, if there is one.
    pub fn product(self, other: Grid) -> Option<Grid> {
        let high = self.high * other.high * ROUND_UP;
        let (exponent, low, bound) = if self.vanishes() || other.vanishes() {
            (Grid::NONE_NONZERO, 0, 0.0)
        } else {
            (self.exponent + other.exponent, self.low + other.low, self.bound * other.bound)
        };
        let (terms, degree) = (self.terms.saturating_mul(other.terms), self.degree.saturating_add(other.degree));
        Grid { exponent, low, bound, high, terms, degree, leaf: false }.checked()
    }

    /// The certificate of a value that either polynomial may have made.
    pub fn either(self, other: Grid) -> Option<Grid> {
        Grid {
            exponent: self.exponent.min(other.exponent),
            low: self.low.min(other.low),
            bound: self.bound.max(other.bound),
            high: self.high.max(other.high),
            terms: self.terms.max(other.terms),
            degree: self.degree.max(other.degree),
            leaf: self.leaf && other.leaf,
        }
        .checked()
    }

    /// Whether a comparison of the two has the same result even if terms are moved from one side to
    /// the other.
    pub fn comparable(self, other: Grid) -> bool {
        self.leaf && other.leaf || self.sum(other).is_some()
    }

    /// Whether every monomial has a zero leaf. (A bound alone may be zero by underflow.)
    fn vanishes(self) -> bool {
        self.exponent == Grid::NONE_NONZERO
    }

    /// The bound is compared with <, not ≤: as a multiple of 2^exponent it is exact below 2^(24 +
    /// exponent), and rounding it to nearest cannot bring a greater one below.
    fn checked(self) -> Option<Grid> {
        let exact = self.vanishes() || self.low >= -126 && f64::from(self.bound) < power_of_two(24 + i64::from(self.exponent));
        (exact && self.high < TOO_HIGH).then_some(self)
    }
}

/// 2^exponent, for -1022 ≤ exponent ≤ 1023.
fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(value: f32) -> Grid {
        Grid::of(value).expect("a float well within range")
    }

    #[test]
    fn a_leaf_is_what_can_be_computed_with() {
        assert_eq!((leaf(6.0).exponent, leaf(6.0).bound), (1, 6.0));
        assert_eq!(leaf(-0.75).exponent, -2);
        assert_eq!(leaf(f32::MIN_POSITIVE).exponent, -126);
        let power = |exponent: i32| 2f32.powi(exponent);
        for none in [f32::NAN, f32::INFINITY, f32::MAX, power(127), f32::from_bits(1), 1.5 * f32::MIN_POSITIVE] {
            assert_eq!(Grid::of(none), None, "{none:?}");
        }
    }

    #[test]
    fn a_sum_holds_24_bits_and_stays_below_overflow() {
        let sum = leaf(4_194_304.0).sum(leaf(0.5)).expect("24 bits");
        assert_eq!((sum.exponent, sum.bound), (-1, 4_194_304.5));
        assert_eq!(leaf(4_194_304.0).sum(leaf(0.25)), None);
        // Cancelled terms count: in another order they come first.
        let cancelled = leaf(8_388_608.0).sum(leaf(8_388_607.0)).expect("24 bits");
        assert_eq!(cancelled.sum(leaf(0.5)), None);
        let half = leaf(2f32.powi(126));
        assert_eq!(half.sum(half), None);
        let quarter = leaf(2f32.powi(125));
        assert!(quarter.sum(quarter).is_some());
    }

    #[test]
    fn every_part_of_a_product_stays_in_range() {
        let (tiny, huge) = (leaf(2f32.powi(-100)), leaf(2f32.powi(100)));
        let one = huge.product(tiny).expect("1");
        assert_eq!((one.exponent, one.low, one.bound), (0, -100, 1.0));
        // tiny · tiny may come first.
        assert_eq!(one.product(tiny), None);
        assert_eq!(one.product(leaf(2f32.powi(30))), None);
        // The bound is zero in 32 bits, but the polynomial is not.
        assert_eq!(tiny.product(tiny), None);
    }

    #[test]
    fn a_zero_leaf_takes_its_monomials_away_but_not_their_overflow() {
        let zero = leaf(0.0);
        let gone = zero.product(leaf(16_777_215.0)).expect("zero");
        assert!(gone.sum(leaf(0.125)).is_some_and(|sum| sum.exponent == -3 && sum.bound == 0.125));
        let huge = leaf(2f32.powi(100));
        assert_eq!(zero.product(huge).and_then(|gone| gone.product(huge)), None);
    }

    #[test]
    fn monomials_and_their_leaves_are_counted() {
        let counted = |grid: Option<Grid>| grid.map(|grid| (grid.terms, grid.degree));
        let sum = leaf(1.0).sum(leaf(0.0)).expect("1");
        assert_eq!(counted(Some(sum)), Some((2, 1)));
        let product = sum.product(sum).expect("1");
        assert_eq!(counted(Some(product)), Some((4, 2)));
        assert_eq!(counted(product.sum(leaf(3.0))), Some((5, 2)));
        assert_eq!(counted(leaf(-2.0).product(product)), Some((8, 3)));
        let many = (0..300).try_fold(leaf(1.0), |all, _| all.product(leaf(1.0))).expect("1");
        assert_eq!((many.terms, many.degree), (1, u8::MAX));
        // 0 · 2 · 2 · …
        let many = (0..16).try_fold(leaf(0.0), |all, _| all.product(leaf(2.0))).expect("0");
        assert_eq!((many.terms, many.degree), (u16::MAX, 17));
    }

    #[test]
    fn either_polynomial_is_covered() {
        let (small, large) = (leaf(0.5), leaf(3.0).sum(leaf(-2.5)).expect("exact"));
        for either in [small.either(large), large.either(small)] {
            assert_eq!(either, Some(Grid { exponent: -1, low: -1, bound: 5.5, ..large }));
        }
        assert_eq!(leaf(16_777_215.0).either(small), None);
    }
}
