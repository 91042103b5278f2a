//! What comes out of choices, steps and quotients of polynomials that may be rewritten (see
//! `rewriting`).
//!
//! - FAbs, FMin, FMax and FClamp, and of numbers NMin, NMax and NClamp, choose one of their
//!   operands, or its negation. Whatever expression an implementation evaluates for that operand,
//!   here, in the comparison that chooses, and with common terms or factors taken out of the choice
//!   (min(P + R, Q + R) is min(P, Q) + R), it is a way to write that polynomial, so the result is
//!   within the union of the operands' sets. Where the choice is certain by the sign of a
//!   difference, the result is that operand, polynomial and all. Otherwise it is no polynomial:
//!   arithmetic on it could draw either operand into itself, and is anything.
//! - Step and FSign are 0, 1 or -1. FNegate negates.
//! - Floor, Ceil, Trunc, Round and RoundEven do not decrease, and take every evaluation of the
//!   operand to a whole number. Whole numbers may be taken out of them; below 2^22
//!   their sum is exact.
//! - A quotient by a polynomial Q of degree 1, whose evaluations are all within ρ of it, relative
//!   to it: every monomial of the dividend may be divided for itself, by 2.5 ULP, which is at most
//!   5·2^-24 of the quotient, or multiplied by a reciprocal of that accuracy: four roundings more
//!   on its way. What is lost, and what may overflow, is what it would be with each monomial
//!   divided by |Q|, if that is less than 1.
//!
//! All of these pass by where a function is not one of them: exponentials, logarithms, roots and
//! circular functions take sums and products apart by identities of their own (the exponential of a
//! sum is a product), which no bound of a single one survives.

use super::moving::{self, Moved, Side};
use super::rewriting::{LOST, Polynomial, TOO_HIGH, UNIT};
use super::rules::{self, Operand};
use super::{Set, Span};
use crate::number::reference::Direction;
use crate::number::{Instruction, Op, Profile};

/// A component of an operand, or of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// What it may be.
    pub set: Set,
    /// The polynomial that it is; none if it is none, or may be one of several.
    pub polynomial: Option<Polynomial>,
    /// What a comparison may move of it, if that is known. Of a polynomial, its terms.
    pub moved: Option<Moved>,
}

/// What a polynomial may come out as.
pub type Bound = fn(&Polynomial) -> Set;

/// The magnitudes up to which whole numbers are added without rounding.
const WHOLE: f64 = (1 << 22) as f64;

/// The result of an instruction of these operands, component i of each; `None` if anything may come
/// of it.
pub fn passed(profile: Profile, instruction: Instruction, operands: &[Passed], bound: Bound) -> Option<Passed> {
    if operands.iter().any(|operand| !operand.set.is_bounded()) {
        return None;
    }
    // Whole numbers that are not the operand are values by themselves, and constants if alone.
    let of = |set: Set| {
        let set = with_both_zeros(set);
        let constant = if set == Set::ZERO { Some(0.0) } else { set.only() };
        Some(Passed { set, polynomial: constant.map(|x| Polynomial::leaf(x as f32)), moved: Some(Moved::NOTHING) })
    };
    match (Op::of_numbers(instruction)?, operands) {
        (Op::Abs, &[x]) => {
            let hull = x.set.hull()?;
            if hull.low >= 0.0 {
                return Some(x);
            }
            let negated = x.negated();
            if hull.high <= 0.0 { Some(negated) } else { Some(chosen(x, negated, None)) }
        }
        (Op::Negate, &[x]) => Some(x.negated()),
        (Op::Min, &[x, y]) => Some(chosen(x, y, below(x, y, bound))),
        (Op::Max, &[x, y]) => Some(chosen(x, y, below(y, x, bound))),
        (Op::Clamp, &[x, low, high]) => {
            // Where the bounds are not in order, the result is undefined.
            if below(high, low, bound) != Some(false) {
                return None;
            }
            let (is_low, is_high) = (below(x, low, bound), below(high, x, bound));
            match (is_low, is_high) {
                (Some(false), Some(false)) => Some(x),
                (Some(true), _) => Some(low),
                (_, Some(true)) => Some(high),
                _ => {
                    let ends = [(is_low, low), (is_high, high)].into_iter().filter(|(is, _)| is.is_none());
                    Some(ends.fold(x, |either, (_, end)| chosen(either, end, None)))
                }
            }
        }
        (Op::Step, &[edge, x]) => {
            let one = Set::point(1.0);
            of(match below(x, edge, bound) {
                Some(true) => Set::ZERO,
                Some(false) => one,
                None => one.union(Set::ZERO),
            })
        }
        (Op::Sign | Op::Floor | Op::Ceil | Op::Trunc | Op::Round | Op::RoundEven, &[x]) => {
            let hull = x.set.hull()?;
            let operand = [Operand { set: x.set, id: None }];
            let small = -WHOLE <= hull.low && hull.high <= WHOLE;
            let sets = rules::allowed_alone(profile, instruction, &[(&operand, 1)]).filter(|_| small)?;
            let set = *sets.first()?;
            if set.meet(x.set).is_none() {
                return of(set);
            }
            // Where it changes nothing, the operand may be drawn in instead.
            let whole = Side { set, moved: Moved::NOTHING };
            Some(Passed { set: with_both_zeros(set), polynomial: None, moved: x.side().map(|x| Moved::of_either(&x, &whole)) })
        }
        (Op::Div, &[x, y]) => quotient(&x.polynomial?, &y.polynomial?, bound),
        _ => None,
    }
}

impl Passed {
    fn negated(self) -> Passed {
        let negative = self.set.spans().iter().fold(Set::NONE, |set, span| set.with(Span { low: -span.high, high: -span.low }));
        Passed { set: negative, polynomial: self.polynomial.map(|polynomial| -polynomial), ..self }
    }

    /// As a side of a comparison; none if it is not known what may be moved.
    pub(super) fn side(&self) -> Option<Side> {
        Some(Side { set: self.set, moved: self.moved? })
    }
}

/// No rule says which zero it is.
fn with_both_zeros(set: Set) -> Set {
    if set.contains(0.0) || set.contains(-0.0) { set.union(Set::ZERO) } else { set }
}

/// Whether x < y, if every evaluation says the same: by the polynomial of the difference. What is
/// equal may be taken for either where the two are chosen from, so a difference that is never
/// positive, or never negative, is certain.
fn below(x: Passed, y: Passed, bound: Bound) -> Option<bool> {
    let (Some(x), Some(y)) = (x.polynomial, y.polynomial) else { return moving::is_below(&x.side()?, &y.side()?) };
    // Of two leaves no evaluation is wrong, unless it loses their difference.
    if x.operations() + y.operations() == 0.0 && (x.value == y.value || (x.value - y.value).abs() >= 2.0 * LOST) {
        return Some(x.value < y.value);
    }
    let difference = bound(&(x - y)).hull()?;
    match (difference.high < 0.0, difference.low >= 0.0) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// x where that is certain, y where the opposite is.
fn chosen(x: Passed, y: Passed, is_x: Option<bool>) -> Passed {
    match is_x {
        Some(true) => x,
        Some(false) => y,
        None => {
            let moved = x.side().zip(y.side()).map(|(x, y)| Moved::of_either(&x, &y));
            Passed { set: with_both_zeros(x.set.union(y.set)), polynomial: None, moved }
        }
    }
}

/// What a quotient of polynomials may come out as.
fn quotient(x: &Polynomial, y: &Polynomial, bound: Bound) -> Option<Passed> {
    let divisor = y.value.abs();
    let within = |x: f64| (LOST..=1.0 / LOST).contains(&x);
    let of_divisor = bound(y).hull()?;
    if y.degree != 1 || !within(of_divisor.low.abs()) || !within(of_divisor.high.abs()) || (of_divisor.low < 0.0) != (of_divisor.high < 0.0)
    {
        return None;
    }
    let furthest = (of_divisor.low - y.value).abs().max((of_divisor.high - y.value).abs());
    let rho = furthest / divisor + UNIT;
    if rho > 0.25 {
        return None;
    }
    let operations = x.operations() + 4.0;
    let all = operations * UNIT;
    let gamma = all / (1.0 - all);
    let high = x.high * (1.0 / (divisor * (1.0 - rho))).max(1.0);
    let lost = 4.0 * operations * LOST * high;
    if x.error().is_none() || high * (1.0 + gamma) + lost >= TOO_HIGH {
        return None;
    }
    let value = x.value / y.value;
    let error = x.magnitude / divisor * ((1.0 + gamma) / (1.0 - rho) - 1.0) + lost;
    let (low, high) = (Direction::Up.round(value - error), Direction::Down.round(value + error));
    (low <= high).then(|| Passed {
        set: with_both_zeros(Set::of(Span { low: low.into(), high: high.into() })),
        polynomial: None,
        moved: Some(Moved::quotient(x, y, rho)),
    })
}
