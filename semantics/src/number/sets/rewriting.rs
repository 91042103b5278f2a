//! Bounds for polynomials whose operations an implementation may rewrite: in environments
//! without NoContraction.
//!
//! A value made from leaves (constants, inputs, results of other operations) by + - · is a
//! polynomial in these leaves. Take it as a sum of N monomials, each a product of at most d leaves,
//! without merging any. An implementation may evaluate any expression that follows from the written
//! one by associativity, commutativity and distributivity:
//! - It may multiply out, or take out common factors. A monomial that is nothing but the factor
//!   leaves a 1 behind.
//! - It may omit terms that cancel each other.
//! - It may fuse additions into multiplications.
//! - It may compute 2·P as P + P. For this reason a leaf 2 counts as 1 + 1.
//!
//! No rewriting adds terms that cancel, or splits other constants. No rewriting replaces a value by
//! another because a comparison that was itself rewritten found them equal. A product of two sums
//! is multiplied out over at most one of them: the other sum is one value, evaluated once.
//!
//! # Roundings
//! Each result is rounded to a neighbour. So it is the exact result times 1 + δ with |δ| ≤ u =
//! 2^-23, or it is subnormal (see below). So each monomial is multiplied by one 1 + δ for each
//! operation on its way from its leaves to the root. In an expression that makes the N monomials, a
//! monomial passes
//! - at most N - 1 additions. In a sum N1 + N2 these are the additions of its own summand and one
//!   more. In a product N1·N2 these are the additions of both factors, and (N1 - 1) + (N2 - 1) ≤
//!   N1·N2 - 1;
//! - one multiplication less than it has leaves in the expression. These leaves are at most d, and
//!   some ones. A 1 that is no summand is multiplied without an error. A 1 that is a summand has an
//!   addition of its own on the monomial's way, so there are at most N - 1 of these.
//!
//! That is R = 2·(N - 1) + (d - 1) operations in all. The product of R factors 1 + δ is within γ
//! = R·u/(1 - R·u) of 1. So the result is within γ·M of the exact one, where M is the sum of
//! the magnitudes of all monomials. A result that inherits its accuracy (INH) is as far from the
//! exact result as some evaluation. That evaluation is such a change of its monomials too.
//!
//! # Products of sums
//! Let P·Q be a product of two sums. Let p and q bound the errors of the evaluations of P and of
//! Q, each by itself. Suppose that P is evaluated once, as P + δ with |δ| ≤ p, and multiplied
//! into the terms of Q. Then each term passes at most 2·R operations, where R is that of Q. So the
//! whole is within |P + δ|·2·q of (P + δ)·Q. The same holds with P and Q exchanged. So each
//! factor counts as a leaf that is known only within 2·p or 2·q. The magnitude of this leaf is
//! that of the factor's value, not of its monomials ([`Polynomial::factor_of`]). The second half of
//! 2·p is room for what is merged with a factor, as e is in P·Q + P·e = P·(Q + e).
//!
//! # Subnormal results
//! An operation whose result is subnormal may lose it, at once or where the result is used. The
//! loss is less than 2^-126. On its way it is multiplied by a product Q of other factors. Let p be
//! any monomial of the lost result. For each monomial q of Q, p·q is a monomial of the whole. For
//! each monomial of the whole, take the product of its leaves' magnitudes, each taken as 1 if
//! smaller. Let H be the sum of these products. The share of the monomials p·q in H is no less
//! than Q. Each monomial passes at most R operations. So all operations together lose at most
//! R·H·2^-126. Later roundings multiply this by at most (1 + γ) ≤ 4/3. What is lost of Q
//! itself adds a little. 2·R·H·2^-126 is more than all of this.
//!
//! # Overflow
//! By the same argument no intermediate result has a magnitude above H·(1 + γ) plus the loss. If
//! this is below 2^127, no intermediate result is infinite.
//!
//! # Quotients
//! P/Q is a polynomial too, if all evaluations of Q have one sign and are within ρ of Q, relative
//! to Q: each monomial of P is divided by Q. An implementation may divide a sum or its parts, or
//! multiply by a reciprocal. A quotient is within 2.5 ULP, which is at most 2.5·u of it. A product
//! with a reciprocal of that accuracy is within 3.5·u. Divisors may be multiplied with each other
//! first. A divisor that is a product may be taken factor by factor. So a monomial passes five more
//! operations for each leaf of Q. Each monomial may be divided by another evaluation of Q. This
//! adds ρ/(1 - ρ) of the monomial's magnitude to the spread (see below). A loss, or a high
//! intermediate result, may be multiplied by 1/|Q| on the way. No rewriting adds terms that cancel,
//! so none brings sums to a common divisor.
//!
//! # Leaves known within bounds
//! A leaf may be known only within a distance: an interpolated input, or the result of a function.
//! `spread` is the sum of the changes that these distances make to the monomials. The exact value
//! is within `spread` of the polynomial of the leaves' middles. No monomial's magnitude is greater
//! than that of the middles plus the spread.
//!
//! # Comparisons
//! An implementation may move terms from one side to the other. So P - Q is compared with 0,
//! without the rounding of that difference itself. Both sides may also be multiplied or divided by
//! the divisors of a monomial. `factor` is the product of the divisors' magnitudes, or of their
//! reciprocals where those are greater. There is no bound if a divisor is a sum, or if all
//! divisors together are so great that a side may overflow. Then `moving` decides, which
//! multiplies by the last divisor alone. Two things are assumed. No implementation multiplies a
//! finite side by divisors until it is infinite. None multiplies by several divisors that are
//! sums, one after the other.

use super::{Set, Span};
use crate::number::composite::{self, Ring};
use crate::number::reference::Direction;
use crate::number::{Grid, Instruction, Op};
use rspirv::spirv::{self, GlslStd450Op as Glsl};
use smallvec::SmallVec;
use std::ops::{Add, Mul, Neg, Sub};

/// A polynomial in leaves, reduced to the numbers that bound its evaluations. The module
/// documentation has the proofs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polynomial {
    /// The value of the written expression, computed in 64 bits.
    pub value: f64,
    /// The greatest distance of the exact value from `value`, due to leaves known within bounds.
    pub spread: f64,
    /// The sum of its monomials' magnitudes.
    pub magnitude: f64,
    /// H: the sum over the monomials of the product of their leaves' magnitudes, each taken as 1
    /// if smaller.
    pub high: f64,
    /// N, the number of monomials. [`u16::MAX`] stands for that many or more.
    pub terms: u16,
    /// d, the most leaves of a monomial. A divisor counts as the operations that it adds.
    /// [`u16::MAX`] stands for that many or more.
    pub degree: u16,
    /// The greatest number by which a comparison may multiply its sides: 1 without divisors,
    /// infinite without a bound.
    pub factor: f64,
}

/// The set of a polynomial: [`Polynomial::set`], or what a test plants for it.
pub type Bound = fn(&Polynomial) -> Set;

/// Vectors and matrices of polynomials.
pub type Polynomials = SmallVec<[Polynomial; 4]>;

/// u with a margin: 2^-23, and room for the errors of 64-bit arithmetic in `value`, `magnitude`,
/// `high` and the bound itself.
pub(super) const UNIT: f64 = f32::EPSILON as f64 * (1.0 + 1.0 / (1 << 20) as f64);

/// The bound of what an operation may lose of a subnormal result: 2^-126.
pub(super) const LOST: f64 = f32::MIN_POSITIVE as f64;

/// 2^127: if the bound of intermediate results is below it, none is infinite.
pub(super) const TOO_HIGH: f64 = f32::from_bits(0x7f00_0000) as f64;

impl Polynomial {
    /// A float as a leaf. Unbounded if arithmetic on the float may give any value.
    pub fn leaf(value: f32) -> Polynomial {
        const UNBOUNDED: Polynomial = Polynomial { high: f64::INFINITY, ..Polynomial::monomial(0.0, 1) };
        Grid::of(value).map_or(UNBOUNDED, |grid| Polynomial::certified(value, grid))
    }

    /// One monomial with this magnitude and this number of leaves. Its value is a placeholder.
    pub(super) const fn monomial(magnitude: f64, degree: u16) -> Polynomial {
        Polynomial { value: 0.0, spread: 0.0, magnitude, high: magnitude.max(1.0), terms: 1, degree, factor: 1.0 }
    }

    /// A leaf whose value is in this set. `None` if the set has no bounds.
    pub fn within(set: &Set) -> Option<Polynomial> {
        let Span { low, high } = set.hull().filter(|_| set.is_bounded())?;
        let value = low / 2.0 + high / 2.0;
        let magnitude = low.abs().max(high.abs());
        // A point is exact; what 64 bits lose of another middle is less than a unit of its ends.
        let spread = if low == high { 0.0 } else { (high - low) / 2.0 + magnitude * f64::EPSILON };
        let high = magnitude.max(1.0);
        Some(Polynomial { value, spread, high, ..Polynomial::monomial(value.abs(), 1) })
    }

    /// Bounds for a value that is one of two polynomials, if it is not known which.
    #[must_use]
    pub fn either(self, other: Polynomial) -> Polynomial {
        let low = (self.value - self.spread).min(other.value - other.spread);
        let high = (self.value + self.spread).max(other.value + other.spread);
        let greatest = greatest(self, other);
        let room = (low.abs() + high.abs()) * f64::EPSILON;
        Polynomial { value: low / 2.0 + high / 2.0, spread: (high - low) / 2.0 + room, ..greatest }
    }

    /// The quotient by a divisor whose evaluations are all within `evaluations`. `None` if zero may
    /// be among them, if they are too small or too great, or if they differ from the divisor's
    /// value by more than a quarter of it.
    pub fn over(self, divisor: &Polynomial, evaluations: Span) -> Option<Polynomial> {
        let is_in_range = |x: f64| (LOST..=1.0 / LOST).contains(&x);
        let (low, high) = (evaluations.low.abs().min(evaluations.high.abs()), evaluations.low.abs().max(evaluations.high.abs()));
        if (evaluations.low < 0.0) != (evaluations.high < 0.0) || !is_in_range(low) || !is_in_range(high) {
            return None;
        }
        let size = divisor.value.abs();
        let rho = (evaluations.low - divisor.value).abs().max((evaluations.high - divisor.value).abs()) / size;
        if rho > 0.25 {
            return None;
        }
        // The dividend may be divided by one leaf of the divisor after the other.
        let (scale, factor) = (1.0 / (size * (1.0 - rho)), divisor.high.max(high).max(divisor.high / low).max(1.0 / low));
        if !is_in_range(factor) {
            return None;
        }
        let is_monomial = divisor.terms == 1 || divisor.is_leaf();
        Some(Polynomial {
            value: self.value / divisor.value,
            spread: (self.spread + rho * self.max_magnitude()) * scale * (1.0 + f64::EPSILON),
            magnitude: self.magnitude * scale,
            high: self.high * factor,
            terms: self.terms,
            degree: self.degree.saturating_add(divisor.degree.max(1).saturating_mul(5)),
            factor: if is_monomial { self.factor * divisor.factor * factor } else { f64::INFINITY },
        })
    }

    /// Adds room for the operations that may be merged with it under a function: twice the
    /// operations, and more.
    #[must_use]
    pub fn loosened(self) -> Polynomial {
        if self.operations() == 0.0 {
            return self;
        }
        let (terms, degree) = (self.terms.saturating_mul(2).saturating_add(2), self.degree.saturating_mul(2).saturating_add(8));
        Polynomial { terms, degree, ..self }
    }

    /// The difference of two polynomials, for a comparison with zero.
    #[must_use]
    #[inline]
    pub fn compared_with(self, other: Polynomial) -> Polynomial {
        let difference = self - other;
        if difference.factor == 1.0 {
            return difference;
        }
        // A multiplication by a divisor 2 may turn each monomial into two.
        let terms = difference.terms.saturating_mul(2);
        Polynomial { high: difference.high * difference.factor, terms, degree: difference.degree.saturating_add(2), ..difference }
    }

    /// A value that is exact by its certificate.
    #[inline(always)]
    pub fn certified(value: f32, grid: Grid) -> Polynomial {
        let Grid { bound, high, terms, degree, .. } = grid;
        let degree = if degree == u8::MAX { u16::MAX } else { degree.into() };
        let one = Polynomial::monomial(bound.into(), degree);
        Polynomial { value: value.into(), high: high.into(), terms, ..one }
    }

    /// Whether this is a single exact value. The value 2 is one, although it counts as 1 + 1.
    pub(super) fn is_leaf(&self) -> bool {
        self.spread == 0.0 && (self.operations() == 0.0 || self.value.abs() == 2.0 && (self.terms, self.degree) == (2, 1))
    }

    /// The greatest possible sum of the monomials' magnitudes.
    #[inline(always)]
    pub(super) fn max_magnitude(&self) -> f64 {
        self.magnitude + self.spread
    }

    /// R, the most operations on a monomial's way.
    #[inline(always)]
    pub(super) fn operations(&self) -> f64 {
        f64::from(2 * (u32::from(self.terms) - 1) + (u32::from(self.degree) - 1))
    }

    /// The greatest distance of an evaluation from `value`. `None` if there is no bound.
    pub fn error(&self) -> Option<f64> {
        if self.terms == u16::MAX || self.degree == u16::MAX {
            return None;
        }
        // `all` is at most 1/16: there are fewer than 2^17 + 2^16 operations.
        let all = self.operations() * UNIT;
        let gamma = all / (1.0 - all);
        let lost = 2.0 * self.operations() * LOST * self.high;
        let high = self.high + self.spread;
        (high * (1.0 + gamma) + lost < TOO_HIGH).then_some(gamma * self.max_magnitude() + self.spread + lost)
    }

    /// Whether [`Polynomial::error`] gives a bound.
    #[inline(always)]
    pub(super) fn is_bounded(&self) -> bool {
        let plainly = self.terms < u16::MAX && self.degree < u16::MAX && self.high < TOO_HIGH / 16.0 && self.spread < TOO_HIGH / 16.0;
        plainly || self.error().is_some()
    }

    /// An upper bound of [`Polynomial::error`] without its division. `None` if there may be
    /// no bound.
    #[inline(always)]
    pub(super) fn plain_error(&self) -> Option<f64> {
        if self.terms == u16::MAX || self.degree == u16::MAX {
            return None;
        }
        // 1/(1 - x) is no more than 1 + 16/15·x up to 1/16.
        let all = self.operations() * UNIT;
        let gamma = all * (1.0 + 1.125 * all);
        let lost = 2.0 * self.operations() * LOST * self.high;
        let is_small = (self.high + self.spread) * 2.0 + lost < TOO_HIGH;
        is_small.then_some(gamma * self.max_magnitude() + self.spread + lost)
    }

    /// Whether all evaluations are negative (`true`) or all are positive (`false`). `None` if
    /// [`Polynomial::plain_error`] does not decide it, or if a subnormal result is near.
    #[inline(always)]
    pub(super) fn is_plainly_negative(&self) -> Option<bool> {
        let error = self.plain_error()?;
        (self.value.abs() > error + 4.0 * LOST).then_some(self.value < 0.0)
    }

    /// Whether evaluations of both signs are certainly allowed. `false` if that takes a
    /// closer look.
    #[inline(always)]
    pub(super) fn is_plainly_open(&self) -> bool {
        let least = self.operations() * UNIT * self.max_magnitude() + self.spread;
        self.is_bounded() && self.value.abs() + 4.0 * LOST < least * (1.0 - f64::from(f32::EPSILON))
    }

    /// The floats that a device may have. Any value if there is no bound.
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

    #[inline(always)]
    fn neg(self) -> Polynomial {
        Polynomial { value: -self.value, ..self }
    }
}

impl Add for Polynomial {
    type Output = Polynomial;

    #[inline(always)]
    fn add(self, other: Polynomial) -> Polynomial {
        Polynomial {
            value: self.value + other.value,
            spread: self.spread + other.spread,
            magnitude: self.magnitude + other.magnitude,
            high: self.high + other.high,
            terms: self.terms.saturating_add(other.terms),
            degree: self.degree.max(other.degree),
            factor: self.factor.max(other.factor),
        }
    }
}

impl Sub for Polynomial {
    type Output = Polynomial;

    #[inline(always)]
    fn sub(self, other: Polynomial) -> Polynomial {
        self + -other
    }
}

impl Mul for Polynomial {
    type Output = Polynomial;

    #[inline]
    fn mul(self, other: Polynomial) -> Polynomial {
        match (self.terms, other.terms) {
            (1, _) | (_, 1) => self.multiplied_out(other),
            (2, _) if self.is_leaf() => self.twice(other),
            (_, 2) if other.is_leaf() => other.twice(self),
            _ => {
                let (x, y) = (self.factor_of(), other.factor_of());
                // Each may be multiplied into the terms of the other.
                Polynomial { high: (x.high * other.high).max(self.high * y.high), ..x.multiplied_out(y) }
            }
        }
    }
}

impl Polynomial {
    /// The product, multiplied out: each monomial of one with each of the other.
    #[inline(always)]
    pub(super) fn multiplied_out(self, other: Polynomial) -> Polynomial {
        Polynomial {
            value: self.value * other.value,
            spread: self.spread * other.max_magnitude() + other.spread * self.magnitude,
            magnitude: self.magnitude * other.magnitude,
            high: self.high * other.high,
            terms: self.terms.saturating_mul(other.terms),
            degree: self.degree.saturating_add(other.degree),
            factor: self.factor * other.factor,
        }
    }

    /// The product of the leaf ±2 and a sum. An implementation may add the sum to itself instead.
    fn twice(self, sum: Polynomial) -> Polynomial {
        let product = Polynomial { terms: 1, ..self }.multiplied_out(sum);
        Polynomial { terms: sum.terms.saturating_add(1), ..product }
    }

    /// This polynomial as a factor in a product of sums: one value, known within about twice
    /// its error. A sum of few monomials that do not cancel stays as it is. Its own numbers
    /// bound it too.
    fn factor_of(self) -> Polynomial {
        if self.terms <= FEW && self.magnitude <= 2.0 * self.value.abs() {
            return self;
        }
        let (terms, degree) = (self.terms.saturating_mul(2), self.degree.saturating_mul(2));
        match (Polynomial { terms, degree, ..self }).error() {
            Some(error) => {
                let magnitude = self.value.abs();
                Polynomial {
                    spread: error,
                    high: (magnitude + error).max(1.0),
                    factor: self.factor,
                    value: self.value,
                    ..Polynomial::monomial(magnitude, 1)
                }
            }
            None => Polynomial { high: f64::INFINITY, ..self },
        }
    }
}

/// The most monomials of a factor that may stay as they are.
const FEW: u16 = 8;

/// The greater of each bound of two polynomials. The value is a placeholder.
pub(super) fn greatest(x: Polynomial, y: Polynomial) -> Polynomial {
    Polynomial {
        value: 0.0,
        spread: x.spread.max(y.spread),
        magnitude: x.magnitude.max(y.magnitude),
        high: x.high.max(y.high),
        terms: x.terms.max(y.terms),
        degree: x.degree.max(y.degree),
        factor: x.factor.max(y.factor),
    }
}

impl Ring for Polynomial {
    fn integer(value: u8) -> Polynomial {
        Polynomial::leaf(value.into())
    }
}

/// The polynomials of the components of an instruction's result. `None` unless the
/// instruction consists of + - ·. Each operand has its components, column after column, and
/// its number of columns.
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
            op => composite::polynomial(op, args).map(|made| made.into_iter().collect()),
        },
    }
}

/// [`polynomials`] for one component of a sum, a difference, a product, or a negation (of x).
#[inline(always)]
pub(super) fn simple(op: Op, x: Polynomial, y: Polynomial) -> Polynomial {
    match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        _ => -x,
    }
}

/// The operation on single components, for an instruction that works on each component by itself.
/// `None` for other instructions.
pub(super) fn by_component(instruction: Instruction) -> Option<Instruction> {
    use Glsl::*;
    let is_by_component = match (Op::of(instruction), instruction) {
        (Some(Op::VectorTimesScalar | Op::MatrixTimesScalar), _) => return Some(Op::Mul.instruction()),
        (Some(Op::Negate | Op::Add | Op::Sub | Op::Mul | Op::Div), _) => true,
        (_, Instruction::Core(opcode)) => [spirv::Op::FRem as u16, spirv::Op::FMod as u16].contains(&opcode),
        (_, Instruction::Glsl(number)) => {
            let function = Glsl::from_u32(number)?;
            let rounds = matches!(function, Round | RoundEven | Trunc | Floor | Ceil | Fract | FAbs | FSign);
            let turns = matches!(function, Radians | Degrees | Sin | Cos | Tan | Asin | Acos | Atan | Atan2);
            let hyperbolic = matches!(function, Sinh | Cosh | Tanh | Asinh | Acosh | Atanh);
            let exponential = matches!(function, Sqrt | InverseSqrt | Pow | Exp | Log | Exp2 | Log2);
            let chooses = matches!(function, FMin | FMax | FClamp | NMin | NMax | NClamp | Step);
            rounds || turns || hyperbolic || exponential || chooses || matches!(function, FMix | SmoothStep | Fma)
        }
    };
    is_by_component.then_some(instruction)
}

/// Whether the instruction is one operation and no formula. Then there is no other way to write the
/// instruction by itself.
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
        let of = |value: f64, magnitude: f64, high: f64| Polynomial { value, high, ..Polynomial::monomial(magnitude, 1) };
        assert_eq!(sum, Polynomial { terms: 2, ..of(-2.5, 3.5, 4.0) });
        let product = sum * sum - leaf(2.0);
        assert_eq!(product, Polynomial { terms: 6, degree: 2, ..of(4.25, 14.25, 18.0) });
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
        // (1 + 2^24) - 2^24, of magnitude 2^25 + 1: four roundings of 2^-23 each make 4 · 4.
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
    fn a_quotient_is_within_its_roundings_and_those_of_its_divisor() {
        let over = |x: Polynomial, y: Polynomial| x.over(&y, y.set().hull()?);
        let third = over(leaf(1.0), leaf(3.0)).expect("a divisor away from zero");
        let sum = (third + third + third).set();
        assert!(sum.contains(1.0) && !sum.contains(0.99999) && !sum.contains(1.00001), "{sum}");
        // Divisors that may be zero, or of which nothing is known.
        assert_eq!(over(leaf(1.0), leaf(1.0) + leaf(1e-7) - leaf(1.0)), None);
        assert_eq!(over(leaf(1.0), leaf(0.0)), None);
        assert_eq!(over(leaf(1.0), leaf(f32::NAN)), None);
        // A divisor within 1 ± 1/8.
        let near = Polynomial::within(&Set::of(Span::between(0.875, 1.125))).expect("bounded");
        let wide = over(leaf(1.0), near).expect("away from zero").set();
        assert!(wide.contains(0.889) && wide.contains(1.142) && !wide.contains(0.8) && !wide.contains(1.2), "{wide}");
    }

    #[test]
    fn what_is_known_within_bounds_spreads() {
        let about = Polynomial::within(&Set::of(Span::between(0.5, 1.5))).expect("bounded");
        assert_eq!(about.set(), Set::of(Span::between(0.5, 1.5)));
        let square = (about * about).set();
        assert!(square.contains(0.25) && square.contains(2.25) && !square.contains(2.5), "{square}");
        let either = about.either(leaf(3.0)).set();
        assert!(either.contains(0.5) && either.contains(3.0) && !either.contains(0.4) && !either.contains(3.1), "{either}");
        assert_eq!(Polynomial::within(&Set::ANY), None);
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
