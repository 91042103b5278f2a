//! Comparisons of values that are no polynomials, where an implementation may move terms from one
//! side to the other (see `rewriting`).
//!
//! Two polynomials are compared by the polynomial of their difference. A quotient, a root or a
//! choice is no polynomial. Two things are known of it: its set, and a *fraction* P/Q of
//! polynomials that bounds the effect of moving terms. The sets of both sides, and the error of the
//! difference of their fractions, decide the comparison.
//!
//! - *A value by itself* is an input, a texel, or a function of leaves whose last operation is no
//!   sum. It has no term that could be moved. Its difference from another such value is rounded
//!   once. This keeps the sign unless the difference is subnormal. So the sets decide. A factor may
//!   be moved: x/y > c becomes x > c·y. Its one rounding (2^-23) changes nothing outside of x/y ±
//!   2.5 ULP, which is at least 2.5·2^-24 of it. If c·y - x is subnormal, it may be lost. In the
//!   same way √x > c becomes x > c·c. No rewriting applies the inverse of another function to
//!   both sides.
//! - *A quotient P/Q of polynomials*: P - c·Q is compared with 0, or c with the monomials of P,
//!   each divided by Q. Relative to |Q|, both are within the error of the polynomial P/|Q| -
//!   c·Q/|Q|, where each monomial of P passes four more operations (see `passing`).
//! - *A formula that ends in a sum* (FMod, Sinh, Fract, …): its terms as a polynomial.
//! - *A length* L: L² is compared with c². This loses at most γ·(L² + c²), which is no more
//!   than γ·(L + c) of L - c.
//! - *A choice* (FMin, FAbs, …): an implementation may draw the chosen operand into the
//!   comparison. The fraction of the choice bounds the fractions of all operands that may
//!   be chosen.
//! - *A function of polynomials* has the fraction of the same function of leaves, with the sums of
//!   the monomials' magnitudes in place of the leaves' magnitudes: √P > c is P > c·c, whose
//!   error is that of P.

use super::rewriting::{LOST, Polynomial, TOO_HIGH, greatest};
use super::rules::{self, Truth};
use super::{Set, Span};
use crate::number::Instruction;
use rspirv::spirv::{self, GlslStd450Op as Glsl};
use smallvec::SmallVec;

/// The terms of a value that a comparison may move to its other side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MovableTerms {
    /// No terms: a value by itself. The number is the factor by which a comparison may multiply its
    /// sides: the magnitude of the value's divisor, or 1 if it is no quotient.
    Nothing(f64),
    /// The terms of a fraction, relative to the magnitude of its divisor. The values of both
    /// polynomials are placeholders.
    Terms {
        /// A bound of every expression's dividend: by number, magnitude and degree of
        /// its monomials.
        dividend: Polynomial,
        /// The same bound of the divisor, by which the other side may be multiplied. `None` without
        /// a divisor.
        divisor: Option<Polynomial>,
    },
}

/// A side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// The possible values; bounded.
    pub set: Set,
    /// The terms that may be moved.
    pub moved: MovableTerms,
}

/// The range in which roots and squares of the compared values stay far from the least and the
/// greatest floats.
const SQUARES: (f64, f64) = (1e-15, 1e15);

/// Terms without a divisor: `terms` monomials of at most `degree` leaves, whose magnitudes sum to
/// at most `magnitude`.
fn sum(magnitude: f64, terms: u16, degree: u16) -> MovableTerms {
    MovableTerms::Terms { dividend: Polynomial { terms, ..Polynomial::monomial(magnitude, degree) }, divisor: None }
}

fn magnitude(set: &Set) -> f64 {
    set.hull().map_or(f64::INFINITY, |hull| hull.low.abs().max(hull.high.abs()))
}

impl MovableTerms {
    /// For a value by itself that is no quotient.
    pub const NOTHING: MovableTerms = MovableTerms::Nothing(1.0);

    /// The terms of a polynomial.
    pub fn polynomial(polynomial: Polynomial) -> MovableTerms {
        MovableTerms::Terms { dividend: polynomial, divisor: None }
    }

    /// The terms of P/Q. All evaluations of Q are within `rho` of Q, relative to Q.
    pub(super) fn quotient(dividend: &Polynomial, divisor: &Polynomial, rho: f64) -> MovableTerms {
        let scale = 1.0 / (divisor.value.abs() * (1.0 - rho));
        let scaled = |polynomial: &Polynomial, operations: u16| Polynomial {
            high: polynomial.high * scale.max(1.0),
            terms: polynomial.terms,
            ..Polynomial::monomial(polynomial.max_magnitude() * scale, polynomial.degree.saturating_add(operations))
        };
        MovableTerms::Terms { dividend: scaled(dividend, 4), divisor: Some(scaled(divisor, 0)) }
    }

    /// The terms of a choice between two sides, if it is not known which is chosen.
    pub(super) fn of_either(x: &Side, y: &Side) -> MovableTerms {
        if (x.moved, y.moved) == (MovableTerms::NOTHING, MovableTerms::NOTHING) {
            return MovableTerms::NOTHING;
        }
        let ((a, b), (c, d)) = (x.fraction(), y.fraction());
        let divisor = match (b, d) {
            (None, None) => None,
            (b, d) => Some(greatest(b.unwrap_or(ONE), d.unwrap_or(ONE))),
        };
        MovableTerms::Terms { dividend: greatest(a, c), divisor }
    }

    /// The terms of component i of a function's result for these operands. The result is in `set`.
    /// `None` if the terms are not known here.
    pub fn of_function(instruction: Instruction, operands: &[&[Polynomial]], i: usize, set: &Set) -> Option<MovableTerms> {
        match operands.iter().flat_map(|operand| operand.iter()).all(Polynomial::is_leaf) {
            true => MovableTerms::of_leaves(instruction, operands, i, set),
            false => MovableTerms::of_polynomials(instruction, operands, i, set),
        }
    }

    /// [`MovableTerms::of_function`] of polynomials that are not all leaves.
    fn of_polynomials(instruction: Instruction, operands: &[&[Polynomial]], i: usize, set: &Set) -> Option<MovableTerms> {
        let Instruction::Glsl(number) = instruction else { return None };
        let first = operands.first()?;
        let x = first.get(i).or(first.first())?;
        let root = || set.hull().filter(|hull| hull.low >= SQUARES.0 && hull.high <= SQUARES.1);
        let (terms, degree) = (x.terms.saturating_add(1), x.degree.saturating_add(4));
        // The sum of the squares of all components, or of the components' differences.
        let squares = || {
            let second = operands.get(1).copied();
            let component = |i: usize| second.map_or(Some(first[i]), |second| Some(first[i] - *second.get(i)?));
            (0..first.len()).map(|i| component(i).map(|x| x * x)).reduce(|sum, x| Some(sum? + x?))?
        };
        match Glsl::from_u32(number)? {
            Glsl::Sqrt => Some(sum(x.max_magnitude() / root()?.low, terms, degree)),
            // P^-1/2 changes by half of P's relative change.
            Glsl::InverseSqrt => Some(sum(x.max_magnitude() * root()?.high * root()?.high * root()?.high, terms, degree)),
            Glsl::Length | Glsl::Distance => {
                let squares = squares()?;
                Some(sum(squares.max_magnitude() / root()?.low, squares.terms, squares.degree.saturating_add(4)))
            }
            Glsl::Normalize => {
                let squares = squares()?;
                let least = squares.error().map(|error| squares.value - error).filter(|&least| least >= SQUARES.0 * SQUARES.0)?;
                let terms = squares.terms.saturating_add(x.terms);
                Some(sum(
                    x.max_magnitude() / least.sqrt() * (1.0 + squares.max_magnitude() / least),
                    terms,
                    squares.degree.saturating_add(10),
                ))
            }
            Glsl::Exp | Glsl::Exp2 | Glsl::Log | Glsl::Log2 => Some(MovableTerms::NOTHING),
            Glsl::Sin | Glsl::Cos | Glsl::Tan | Glsl::Asin | Glsl::Acos | Glsl::Atan | Glsl::Atan2 => Some(MovableTerms::NOTHING),
            Glsl::Asinh | Glsl::Acosh | Glsl::Atanh => Some(MovableTerms::NOTHING),
            // e^x is a value by itself.
            Glsl::Sinh | Glsl::Cosh => Some(sum(1.01 * libm::exp(x.max_magnitude()), 2, 2)),
            Glsl::Tanh => Some(sum(2.02, 2, 6)),
            Glsl::Determinant | Glsl::MatrixInverse => of_matrix(number == Glsl::Determinant as u32, first, i),
            Glsl::Radians | Glsl::Degrees => Some(sum(x.max_magnitude() * 60.0, x.terms, x.degree.saturating_add(2))),
            // x·x for a power of 2.
            Glsl::Pow => {
                let (y, set) = (operands.get(1)?.get(i)?, set.hull()?);
                let parts = (x.max_magnitude() / (x.value.abs() - x.spread)).powf(y.max_magnitude());
                (x.value > 0.0 && parts >= 1.0).then(|| sum(set.high * parts, x.terms.saturating_mul(4), x.degree.saturating_mul(4)))
            }
            Glsl::SmoothStep => {
                let ([low, high], x) = ([operands.first()?.get(i)?, operands.get(1)?.get(i)?], operands.get(2)?.get(i)?);
                let edge_distance = (high.value - low.value).abs();
                let edges_are_leaves =
                    low.is_leaf() && high.is_leaf() && edge_distance > (low.max_magnitude() + high.max_magnitude()) / 16.0;
                let t = (x.max_magnitude() + low.max_magnitude()) / edge_distance;
                let degree = x.degree.saturating_mul(3).saturating_add(16);
                let terms = x.terms.saturating_add(1).checked_pow(3).and_then(|terms| terms.checked_mul(2)).unwrap_or(u16::MAX);
                edges_are_leaves.then(|| sum(3.0 * t * t + 2.0 * t * t * t, terms, degree))
            }
            _ => None,
        }
    }

    fn of_leaves(instruction: Instruction, operands: &[&[Polynomial]], i: usize, set: &Set) -> Option<MovableTerms> {
        use spirv::Op;
        // Only component i of each operand matters for a function that works by component.
        let component = |k: usize| operands.get(k).and_then(|x| x.get(i).or(x.first()));
        let magnitude_of = |k: usize| component(k).map_or(0.0, |x| x.value.abs());
        let n = operands.first().map_or(0, |x| x.len()) as u16;
        let of_root = || set.hull().filter(|hull| hull.low >= SQUARES.0 && hull.high <= SQUARES.1);
        let of_length = |degree: u16| Some(sum(of_root()?.high, n, degree));
        match instruction {
            Instruction::Core(opcode) => match Op::from_u32(opcode.into())? {
                Op::FDiv => Some(MovableTerms::Nothing(operands.get(1)?.get(i)?.value.abs())),
                Op::QuantizeToF16 => Some(MovableTerms::NOTHING),
                // x - y·n, where n is a whole number.
                Op::FRem | Op::FMod => Some(sum(2.0 * magnitude_of(0) + magnitude_of(1), 2, 3)),
                _ => None,
            },
            Instruction::Glsl(number) => match Glsl::from_u32(number)? {
                Glsl::Round | Glsl::RoundEven | Glsl::Trunc | Glsl::Floor | Glsl::Ceil | Glsl::FSign | Glsl::FAbs => {
                    Some(MovableTerms::NOTHING)
                }
                Glsl::FMin | Glsl::FMax | Glsl::FClamp | Glsl::NMin | Glsl::NMax | Glsl::NClamp | Glsl::Step => Some(MovableTerms::NOTHING),
                Glsl::Exp | Glsl::Exp2 | Glsl::Log | Glsl::Log2 | Glsl::Pow => Some(MovableTerms::NOTHING),
                Glsl::Sqrt | Glsl::InverseSqrt => of_root().map(|_| MovableTerms::NOTHING),
                Glsl::Sin | Glsl::Cos | Glsl::Tan | Glsl::Asin | Glsl::Acos | Glsl::Atan | Glsl::Atan2 => Some(MovableTerms::NOTHING),
                Glsl::Asinh | Glsl::Acosh | Glsl::Atanh | Glsl::FaceForward => Some(MovableTerms::NOTHING),
                // One product, by a constant that is rounded.
                Glsl::Radians | Glsl::Degrees => Some(sum(magnitude(set), 1, 3)),
                Glsl::Sinh | Glsl::Cosh => Some(sum(1.01 * libm::exp(magnitude_of(0)), 2, 2)),
                Glsl::Tanh => Some(sum(2.02, 2, 6)),
                // x - floor(x).
                Glsl::Fract => Some(sum(2.0 * magnitude_of(0) + 1.0, 2, 1)),
                Glsl::Length => of_length(4),
                Glsl::Distance => of_length(6),
                // x/√(x0·x0 + …): relative to it each square passes as much.
                Glsl::Normalize => Some(sum(magnitude(set), n + 1, 10)),
                Glsl::Determinant | Glsl::MatrixInverse => of_matrix(number == Glsl::Determinant as u32, operands.first()?, i),
                Glsl::SmoothStep => {
                    let (edges, x) = (magnitude_of(0) + magnitude_of(1), magnitude_of(2));
                    // t is a quotient by edge1 - edge0, which must be at least 1/16 of the edges'
                    // magnitudes together.
                    let edge_distance = (component(1)?.value - component(0)?.value).abs();
                    let t = (x + magnitude_of(0)) / edge_distance;
                    (edge_distance > edges / 16.0).then(|| sum(3.0 * t * t + 2.0 * t * t * t, 16, 16))
                }
                _ => None,
            },
        }
    }
}

/// The determinant of a matrix of n columns, as a polynomial of its components. `None` for
/// no columns.
fn determinant(m: &[Polynomial], n: usize) -> Option<Polynomial> {
    if n == 1 {
        return m.first().copied();
    }
    let term = |r: usize| {
        let term = m[r] * determinant(&minor(m, n, 0, r), n - 1)?;
        Some(if r % 2 == 1 { -term } else { term })
    };
    (0..n).map(term).reduce(|sum, term| Some(sum? + term?))?
}

/// The matrix of n columns without column c and row r.
fn minor(m: &[Polynomial], n: usize, c: usize, r: usize) -> SmallVec<[Polynomial; 16]> {
    (0..n * n).filter(|i| i / n != c && i % n != r).map(|i| m[i]).collect()
}

/// The terms of a determinant, or of component i of an inverse. `None` if the matrix has other than
/// two to four columns.
fn of_matrix(is_determinant: bool, m: &[Polynomial], i: usize) -> Option<MovableTerms> {
    match m.len() {
        4 | 9 | 16 if is_determinant => determinant(m, m.len().isqrt()).map(MovableTerms::polynomial),
        4 | 9 | 16 => of_inverse(m, i),
        _ => None,
    }
}

/// The terms of component i of a matrix inverse: a cofactor over the determinant.
fn of_inverse(m: &[Polynomial], i: usize) -> Option<MovableTerms> {
    let n = m.len().isqrt();
    let divisor = determinant(m, n)?;
    let rho = divisor.error()? / divisor.value.abs();
    (rho <= 0.25).then_some(())?;
    Some(MovableTerms::quotient(&determinant(&minor(m, n, i % n, i / n), n - 1)?, &divisor, rho))
}

/// The divisor of a side that has none.
const ONE: Polynomial = Polynomial { value: 1.0, ..Polynomial::monomial(1.0, 0) };

impl Side {
    /// The polynomial with which arithmetic on this side starts: a leaf known within its set, with
    /// the bounds of the terms that may be moved.
    pub(super) fn polynomial(&self) -> Option<Polynomial> {
        let ((dividend, divisor), leaf) = (self.fraction(), Polynomial::within(&self.set)?);
        let factor = match (self.moved, divisor) {
            (_, None) => 1.0,
            (MovableTerms::Nothing(divisor), _) => divisor.max(1.0 / divisor),
            (MovableTerms::Terms { .. }, _) => f64::INFINITY,
        };
        Some(Polynomial { value: leaf.value, spread: leaf.spread, factor, ..greatest(dividend, leaf) })
    }

    /// The dividend and the divisor. A value by itself is one monomial.
    fn fraction(&self) -> (Polynomial, Option<Polynomial>) {
        match self.moved {
            MovableTerms::Terms { dividend, divisor } => (dividend, divisor),
            MovableTerms::Nothing(divisor) => {
                let (magnitude, scale) = (magnitude(&self.set), (1.0 / divisor).max(1.0));
                let monomial = |magnitude: f64, high: f64, degree: u16| Polynomial { high, ..Polynomial::monomial(magnitude, degree) };
                let dividend = monomial(magnitude, (magnitude * divisor).max(1.0) * scale, if divisor == 1.0 { 1 } else { 5 });
                (dividend, (divisor != 1.0).then(|| monomial(1.0, divisor.max(1.0) * scale, 1)))
            }
        }
    }
}

/// Two bounds for the difference of two sides, whatever terms are moved. The first is its greatest
/// distance from the difference of the sets. The second is the magnitude below which it may be lost
/// as subnormal. `None` if nothing is known.
fn error(x: &Side, y: &Side) -> Option<(f64, f64)> {
    if !x.set.is_bounded() || !y.set.is_bounded() {
        return None;
    }
    if let (MovableTerms::Nothing(a), MovableTerms::Nothing(b)) = (x.moved, y.moved) {
        let overflows = magnitude(&x.set).max(magnitude(&y.set)).max(1.0) * a.max(1.0) * b.max(1.0) >= TOO_HIGH;
        return (!overflows).then_some((0.0, 2.0 * LOST * (1.0 / (a * b)).max(1.0)));
    }
    let ((p, q), (r, s)) = (x.fraction(), y.fraction());
    let sum = p.multiplied_out(s.unwrap_or(ONE)) + r.multiplied_out(q.unwrap_or(ONE));
    Some((sum.error()?, 2.0 * LOST))
}

/// The range of x - y for numbers of two spans, widened by the error. Zeros of both signs are one
/// number. Zero is added if the difference may be lost.
fn difference_range(x: &Span, y: &Span, (error, lost): (f64, f64)) -> Set {
    let (low, high) = (x.low - y.high - error, x.high - y.low + error);
    let low = if error == 0.0 && low == 0.0 { -0.0 } else { low.next_down() };
    let high = if error == 0.0 && high == 0.0 { 0.0 } else { high.next_up() };
    let set = Set::of(Span { low, high });
    if low < lost && high > -lost { set.union(Set::ZERO) } else { set }
}

/// Whether x < y, if every evaluation gives the same answer. For equal values both answers are
/// right, since the caller chooses one of the two.
pub(super) fn is_below(x: &Side, y: &Side) -> Option<bool> {
    let hull = difference_range(&x.set.hull()?, &y.set.hull()?, error(x, y)?).hull()?;
    match (hull.low, hull.high) {
        (0.0, 0.0) => Some(false),
        (_, high) if high < 0.0 => Some(true),
        (low, _) if low > 0.0 => Some(false),
        _ => None,
    }
}

/// The possible results of a comparison of two sides that are not both polynomials.
pub fn compared_moved(instruction: Instruction, x: &Side, y: &Side) -> Truth {
    let Some(error) = error(x, y) else { return Truth::BOTH };
    let pairs = x.set.spans().iter().flat_map(|a| y.set.spans().iter().map(move |b| (a, b)));
    let difference = pairs.fold(Set::NONE, |set, (a, b)| set.union(difference_range(a, b, error)));
    rules::compared_by_difference(instruction, &difference)
}
