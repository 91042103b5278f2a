//! What a polynomial may come out as where its operations may be rewritten:
//! in environments without NoContraction.
//!
//! A value made from leaves (constants, inputs, results of other operations) by + - · is a
//! polynomial in these leaves. Take it as a sum of N monomials, each a product of at most d leaves,
//! without merging any. An implementation may evaluate any expression that associativity,
//! commutativity and distributivity make of the one that is written: multiplied out, or with common
//! factors taken out, where a monomial that is nothing but the factor leaves a 1 behind; without
//! terms that cancel each other; with additions fused into multiplications; and with 2·P as P + P,
//! for which a leaf 2 counts as 1 + 1. No rewriting brings in terms that cancel, parts other
//! constants, or puts a value in the place of another because a comparison that was itself
//! rewritten found them equal.
//!
//! # Roundings
//! Each result is rounded to a neighbour, so it is the exact one times 1 + δ with |δ| ≤ u = 2^-23,
//! or subnormal, for which see below. So every monomial comes out multiplied by 1 + δ for each
//! operation on its way from its leaves to the root. In an expression that makes the
//! N monomials it passes
//! - at most N - 1 additions: those in the summand that it is from and one more where there are
//!   N1 + N2, and those in both factors where there are N1·N2, of which
//!   (N1 - 1) + (N2 - 1) ≤ N1·N2 - 1;
//! - one multiplication less than it has leaves in the expression: d at most, and some that are 1.
//!   A 1 that is no summand is multiplied without an error. One that is a summand has an addition
//!   to itself on the monomial's way, so there are at most N - 1.
//!
//! That is R = 2·(N - 1) + (d - 1) in all, and the product of so many 1 + δ is within γ = R·u/(1 -
//! R·u) of 1. So the result is within γ·M of the exact one, M being the sum of all monomials'
//! magnitudes. A result that inherits its accuracy (INH) is as far from the exact one as some
//! evaluation, which is such a change of its monomials too.
//!
//! # Subnormal results
//! An operation whose result is subnormal may lose it, less than 2^-126, whether it does so at once
//! or where the result is used. What is lost is multiplied by a product of other factors on its
//! way, Q. With any one monomial p of the lost result, all p·q of the monomials q of Q are
//! monomials of the whole, and if H is the sum over all of those of the product of their leaves'
//! magnitudes, each taken as 1 if smaller, then the share of these p·q in it is no less than Q.
//! Each monomial passes at most R operations: what is lost by all of them is at most R·H·2^-126,
//! times (1 + γ) ≤ 4/3 by what is rounded after, and a little more for what is lost of Q itself.
//! 2·R·H·2^-126 is more.
//!
//! # Overflow
//! In the same way no intermediate result has a magnitude of more than H·(1 + γ) and what is lost.
//! Below 2^127 none is infinite.
//!
//! # Comparisons
//! Terms may be moved from one side to the other, so it is P - Q that is compared with 0; without
//! the rounding of that difference itself.

use super::{Set, Span};
use crate::number::composite::{self, Ring};
use crate::number::reference::Direction;
use crate::number::{Grid, Instruction, Op};
use rspirv::spirv::{self, GlslStd450Op as Glsl};
use smallvec::SmallVec;
use std::ops::{Add, Mul, Neg, Sub};

/// A polynomial in leaves, by what bounds its evaluations. See the module for what it proves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polynomial {
    /// Its value, computed in 64 bits as it is written.
    pub value: f64,
    /// The sum of its monomials' magnitudes.
    pub magnitude: f64,
    /// The sum of the products of their leaves' magnitudes, each taken as 1 if smaller.
    pub high: f64,
    /// How many monomials there are; [`u16::MAX`] is that many or more.
    pub terms: u16,
    /// How many leaves a monomial has at most; [`u8::MAX`] is that many or more.
    pub degree: u8,
}

/// Vectors and matrices of polynomials.
pub type Polynomials = SmallVec<[Polynomial; 16]>;

/// More than what a rounding may change, relative to its result: 2^-23, and what 64 bits lose in
/// `value`, `magnitude` and `high` and in the bound itself.
pub(super) const UNIT: f64 = f32::EPSILON as f64 * (1.0 + 1.0 / (1 << 20) as f64);

/// What an operation may lose of a subnormal result, 2^-126.
pub(super) const LOST: f64 = f32::MIN_POSITIVE as f64;

/// 2^127.
pub(super) const TOO_HIGH: f64 = f32::from_bits(0x7f00_0000) as f64;

impl Polynomial {
    /// A float by itself; unbounded if arithmetic on it may be anything.
    pub fn leaf(value: f32) -> Polynomial {
        const UNBOUNDED: Polynomial = Polynomial { value: 0.0, magnitude: 0.0, high: f64::INFINITY, terms: 1, degree: 1 };
        Grid::of(value).map_or(UNBOUNDED, |grid| Polynomial::certified(value, grid))
    }

    /// A value that is exact by its certificate.
    pub fn certified(value: f32, grid: Grid) -> Polynomial {
        let Grid { bound, high, terms, degree, .. } = grid;
        Polynomial { value: value.into(), magnitude: bound.into(), high: high.into(), terms, degree }
    }

    /// R, the most operations on a monomial's way.
    pub(super) fn operations(&self) -> f64 {
        f64::from(2 * (u32::from(self.terms) - 1) + (u32::from(self.degree) - 1))
    }

    /// How far any evaluation may be from the exact value; `None` if there is no bound.
    pub fn error(&self) -> Option<f64> {
        if self.terms == u16::MAX || self.degree == u8::MAX {
            return None;
        }
        // Not above 1/16: there are fewer than 2^17 + 2^8 operations.
        let all = self.operations() * UNIT;
        let gamma = all / (1.0 - all);
        let lost = 2.0 * self.operations() * LOST * self.high;
        (self.high * (1.0 + gamma) + lost < TOO_HIGH).then_some(gamma * self.magnitude + lost)
    }

    /// What a device may have; any value if there is no bound.
    pub fn set(&self) -> Set {
        let Some(error) = self.error() else { return Set::ANY };
        // The least and the greatest float within. A zero has either sign.
        let signed = |x: f32, zero: f64| if x == 0.0 { zero } else { x.into() };
        let low = signed(Direction::Up.round(self.value - error), -0.0);
        let high = signed(Direction::Down.round(self.value + error), 0.0);
        if low <= high { Set::of(Span { low, high }) } else { Set::ANY }
    }
}

impl Neg for Polynomial {
    type Output = Polynomial;

    fn neg(self) -> Polynomial {
        Polynomial { value: -self.value, ..self }
    }
}

impl Add for Polynomial {
    type Output = Polynomial;

    fn add(self, other: Polynomial) -> Polynomial {
        Polynomial {
            value: self.value + other.value,
            magnitude: self.magnitude + other.magnitude,
            high: self.high + other.high,
            terms: self.terms.saturating_add(other.terms),
            degree: self.degree.max(other.degree),
        }
    }
}

impl Sub for Polynomial {
    type Output = Polynomial;

    fn sub(self, other: Polynomial) -> Polynomial {
        self + -other
    }
}

impl Mul for Polynomial {
    type Output = Polynomial;

    fn mul(self, other: Polynomial) -> Polynomial {
        Polynomial {
            value: self.value * other.value,
            magnitude: self.magnitude * other.magnitude,
            high: self.high * other.high,
            terms: self.terms.saturating_mul(other.terms),
            degree: self.degree.saturating_add(other.degree),
        }
    }
}

impl Ring for Polynomial {
    fn integer(value: u8) -> Polynomial {
        Polynomial::leaf(value.into())
    }
}

/// The polynomials of an instruction's components, if it computes such: + - · and what is made of
/// them. Operands are their components, column after column, with how many columns they form.
pub fn polynomials(instruction: Instruction, args: &[(&[Polynomial], usize)]) -> Option<Polynomials> {
    let arg = |k: usize| args.get(k).map_or(&[][..], |arg| arg.0).iter().copied();
    match instruction {
        Instruction::Core(opcode) if opcode == spirv::Op::OuterProduct as u16 => {
            Some(arg(1).flat_map(|y| arg(0).map(move |x| x * y)).collect())
        }
        Instruction::Glsl(number) if number == Glsl::Fma as u32 => {
            Some(arg(0).zip(arg(1)).zip(arg(2)).map(|((x, y), z)| x * y + z).collect())
        }
        _ => match Op::of(instruction)? {
            Op::Negate => Some(arg(0).map(Neg::neg).collect()),
            Op::Add => Some(arg(0).zip(arg(1)).map(|(x, y)| x + y).collect()),
            Op::Sub => Some(arg(0).zip(arg(1)).map(|(x, y)| x - y).collect()),
            Op::Mul => Some(arg(0).zip(arg(1)).map(|(x, y)| x * y).collect()),
            op => composite::polynomial(op, args),
        },
    }
}

/// Whether the instruction is one operation and no formula, so that by itself there is no other way
/// to write it.
pub fn is_one_operation(instruction: Instruction) -> bool {
    matches!(Op::of(instruction), Some(Op::Negate | Op::Add | Op::Sub | Op::Mul | Op::VectorTimesScalar | Op::MatrixTimesScalar))
}

#[cfg(test)]
mod tests {
    use super::Polynomial;
    use crate::number::sets::{Set, Span};

    fn leaf(value: f32) -> Polynomial {
        Polynomial::leaf(value)
    }

    #[test]
    fn what_is_counted_by_hand() {
        let sum = leaf(0.5) + leaf(-3.0);
        assert_eq!(sum, Polynomial { value: -2.5, magnitude: 3.5, high: 4.0, terms: 2, degree: 1 });
        let product = sum * sum - leaf(2.0);
        assert_eq!(product, Polynomial { value: 4.25, magnitude: 14.25, high: 18.0, terms: 6, degree: 2 });
        assert_eq!((product.operations(), leaf(7.0).operations(), (-leaf(7.0)).operations()), (11.0, 0.0, 0.0));
    }

    #[test]
    fn a_leaf_is_itself_and_a_product_has_its_neighbours() {
        assert_eq!((leaf(0.1).set(), (-leaf(0.0)).set()), (Set::point(0.1f32.into()), Set::ZERO));
        // 1 + 2^-22 + 2^-46: one rounding, and the bound is not below its neighbour.
        let (x, unit) = (leaf(1.0 + f32::EPSILON), f64::from(f32::EPSILON));
        assert_eq!((x * x).set(), Set::of(Span::between(1.0 + unit, 1.0 + 3.0 * unit)));
    }

    #[test]
    fn what_cancels_leaves_its_error() {
        // (1 + 2^24) - 2^24, of magnitude 2^25 + 1: four roundings of 2^-23 are of 4 · 4.
        let set = (leaf(1.0) + leaf(16_777_216.0) - leaf(16_777_216.0)).set();
        assert!(set.contains(0.0) && set.contains(-0.0) && set.contains(2.0) && !set.contains(18.0), "{set}");
    }

    #[test]
    fn what_is_tiny_may_vanish() {
        let tiny = leaf(1e-20) * leaf(1e-18);
        assert!(tiny.set().contains(0.0) && tiny.set().contains(-0.0));
        // Multiplied after it has vanished.
        let again = (tiny * leaf(1e15)).set();
        assert!(again.contains(0.0) && again.contains(f64::from(1e-23f32)), "{again}");
        assert!(!(leaf(1e-20) * leaf(1e-10)).set().contains(0.0));
    }

    #[test]
    fn what_may_overflow_or_is_too_long_is_anything() {
        let huge = leaf(1e30);
        assert!((huge * huge).set().is_any() && (huge * huge * leaf(0.0)).set().is_any() && leaf(f32::NAN).set().is_any());
        let long = (0..16).fold(leaf(0.5), |sum, _| sum + sum);
        assert_eq!((long.terms, long.set()), (u16::MAX, Set::ANY));
        assert!((0..15).fold(leaf(0.5), |sum, _| sum + sum).set().is_bounded());
    }
}
