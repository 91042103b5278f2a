//! The results of choices, steps and quotients of polynomials that may be rewritten
//! (see `rewriting`).
//!
//! - FAbs, FMin, FMax and FClamp, and NMin, NMax and NClamp of numbers, choose one of their
//!   operands, or its negation. An implementation may evaluate any expression for that operand:
//!   here, and in the comparison that chooses. It may take common terms or factors out of the
//!   choice (min(P + R, Q + R) is min(P, Q) + R). Each is a way to write that polynomial, so the
//!   result is in the union of the operands' sets. If the sign of a difference makes the choice
//!   certain, the result is that operand with its polynomial. Otherwise arithmetic on the result
//!   may use either operand. Bounds of both polynomials are bounds of the result.
//! - Step and FSign are 0, 1 or -1. FNegate negates.
//! - Floor, Ceil, Trunc, Round and RoundEven are monotonic, and map every evaluation of the operand
//!   to a whole number. Whole numbers may be taken out of them. Below 2^22 the sum of whole numbers
//!   is exact.
//! - A quotient by a polynomial away from zero is a polynomial (see `rewriting`).
//! - Fract and FMod are polynomials if the whole number in them is certain. Otherwise they may be
//!   anything: their formulas use an operand twice, and the two uses may be evaluated differently.
//! - It is assumed that no implementation splits a root, an exponential, a circular or another
//!   function. √P·√Q may become √(P·Q), but not the other way round. So a function is
//!   applied to some evaluation of its operands, with room for what is merged with them
//!   ([`Polynomial::loosened`]). Its rule gives a set for all of these evaluations. `moving` has
//!   the terms that a comparison may move.

use super::moving::{self, MovableTerms, Side};
use super::rewriting::{Bound, LOST, Polynomial, UNIT};
use super::rules::{self, Operand};
use super::{Set, Span};
use crate::number::{Instruction, Op, Profile};

/// A component of an operand, or of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComponentBound {
    /// The possible values.
    pub set: Set,
    /// A polynomial that bounds the value. `None` if none is known.
    pub polynomial: Option<Polynomial>,
    /// The terms that a comparison may move, if they are known. For a polynomial, these are
    /// its terms.
    pub moved: Option<MovableTerms>,
}

/// Whole numbers up to this magnitude are added without rounding.
const WHOLE: f64 = (1 << 22) as f64;

/// Whether this module has a rule for the instruction.
pub(super) fn passes(instruction: Instruction) -> bool {
    use Op::{Abs, Ceil, Clamp, Div, Floor, Fract, Max, Min, Mod, Negate, Round, RoundEven, Sign, Step, Trunc};
    let supported = [Abs, Negate, Min, Max, Clamp, Step, Sign, Floor, Ceil, Trunc, Round, RoundEven, Div, Fract, Mod];
    Op::of_numbers(instruction).is_some_and(|op| supported.contains(&op))
}

/// The result of an instruction, for one component of each operand. `None` if the result may
/// be anything.
pub fn passed(profile: Profile, instruction: Instruction, operands: &[ComponentBound], bound: Bound) -> Option<ComponentBound> {
    if operands.iter().any(|operand| !operand.set.is_bounded()) {
        return None;
    }
    // Whole numbers that differ from the operand are values by themselves. A single one is
    // a constant.
    let by_itself = |set: Set| {
        let set = with_both_zeros(set);
        let constant = if set == Set::ZERO { Some(0.0) } else { set.only() };
        let polynomial = constant.map(|x| Polynomial::leaf(x as f32)).or_else(|| Polynomial::within(&set));
        Some(ComponentBound { set, polynomial, moved: Some(MovableTerms::NOTHING) })
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
                    let ends = [(is_low, low), (is_high, high)].into_iter().filter(|(is_end, _)| is_end.is_none());
                    Some(ends.fold(x, |chosen_so_far, (_, end)| chosen(chosen_so_far, end, None)))
                }
            }
        }
        (Op::Step, &[edge, x]) => {
            let one = Set::point(1.0);
            by_itself(match below(x, edge, bound) {
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
                return by_itself(set);
            }
            // Where rounding changes nothing, an implementation may draw in the operand instead.
            let rounded = Side { set, moved: MovableTerms::NOTHING };
            let polynomial = x.polynomial.zip(Polynomial::within(&set)).map(|(x, whole)| x.either(whole));
            Some(ComponentBound { set: with_both_zeros(set), polynomial, moved: x.side().map(|x| MovableTerms::of_either(&x, &rounded)) })
        }
        (Op::Fract, &[x]) => {
            // x - floor(x), where each may be another evaluation of x.
            let floor = whole(profile, &x.polynomial?, Op::Floor, bound)?;
            of_polynomial(x.polynomial? - Polynomial::leaf(floor), bound)
        }
        (Op::Mod, &[x, y]) => {
            // x - y·floor(x/y), where each may be another evaluation of its operand.
            let (x, y) = (x.polynomial?, y.polynomial?);
            let multiple = whole(profile, &x.over(&y, bound(&y).hull()?)?, Op::Floor, bound)?;
            of_polynomial(x - y * Polynomial::leaf(multiple), bound)
        }
        (Op::Div, &[x, y]) => quotient(&x.polynomial?, &y.polynomial?, bound),
        _ => None,
    }
}

/// A result that is this polynomial. `None` if it has no bound.
fn of_polynomial(polynomial: Polynomial, bound: Bound) -> Option<ComponentBound> {
    let set = bound(&polynomial);
    set.is_bounded().then(|| ComponentBound { set: with_both_zeros(set), polynomial: Some(polynomial), moved: None })
}

/// The whole number that `op` makes of every evaluation of a polynomial. `None` if they may differ.
fn whole(profile: Profile, polynomial: &Polynomial, op: Op, bound: Bound) -> Option<f32> {
    let set = bound(&polynomial.loosened());
    set.hull().filter(|hull| set.is_bounded() && -WHOLE <= hull.low && hull.high <= WHOLE)?;
    let operand = [Operand { set, id: None }];
    let whole = rules::allowed_alone(profile, op.instruction(), &[(&operand, 1)])?;
    let whole = *whole.first()?;
    if whole == Set::ZERO { Some(0.0) } else { whole.only().map(|x| x as f32) }
}

impl ComponentBound {
    /// A value of which nothing is known.
    pub(super) const ANYTHING: ComponentBound = ComponentBound { set: Set::ANY, polynomial: None, moved: None };

    pub(super) fn negated(self) -> ComponentBound {
        let negative = self.set.spans().iter().fold(Set::NONE, |set, span| set.with(Span { low: -span.high, high: -span.low }));
        ComponentBound { set: negative, polynomial: self.polynomial.map(|polynomial| -polynomial), ..self }
    }

    /// This value as a side of a comparison. `None` if the terms that may be moved are not known.
    pub(super) fn side(&self) -> Option<Side> {
        Some(Side { set: self.set, moved: self.moved? })
    }
}

/// The set, with zeros of both signs if it has one: no rule fixes the sign.
fn with_both_zeros(set: Set) -> Set {
    if set.contains(0.0) || set.contains(-0.0) { set.union(Set::ZERO) } else { set }
}

/// Whether x < y, if every evaluation gives the same answer: by the polynomial of the difference.
/// For equal values both answers are right, since the caller chooses one of the two. So a
/// difference that is never positive, or never negative, is certain.
fn below(x: ComponentBound, y: ComponentBound, bound: Bound) -> Option<bool> {
    let by_sets = || moving::is_below(&x.side()?, &y.side()?);
    let (Some(p), Some(q)) = (x.polynomial, y.polynomial) else { return by_sets() };
    // No evaluation compares two leaves wrongly, unless it loses their difference.
    if p.operations() + q.operations() + p.spread + q.spread == 0.0 && (p.value == q.value || (p.value - q.value).abs() >= 2.0 * LOST) {
        return Some(p.value < q.value);
    }
    let difference = bound(&p.compared_with(q)).hull()?;
    match (difference.high < 0.0, difference.low >= 0.0) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => by_sets(),
    }
}

/// x if `is_x` is true, y if it is false, and either of them if it is not known.
pub(super) fn chosen(x: ComponentBound, y: ComponentBound, is_x: Option<bool>) -> ComponentBound {
    match is_x {
        Some(true) => x,
        Some(false) => y,
        None => {
            let moved = x.side().zip(y.side()).map(|(x, y)| MovableTerms::of_either(&x, &y));
            let polynomial = x.polynomial.zip(y.polynomial).map(|(x, y)| x.either(y));
            ComponentBound { set: with_both_zeros(x.set.union(y.set)), polynomial, moved }
        }
    }
}

/// The result of a quotient of polynomials. `None` if there is no bound.
pub(super) fn quotient(x: &Polynomial, y: &Polynomial, bound: Bound) -> Option<ComponentBound> {
    // Each evaluation of a leaf is the leaf.
    let is_point = y.operations() == 0.0 && y.spread == 0.0 && y.value != 0.0;
    let hull = if is_point { Span::point(y.value) } else { bound(y).hull()? };
    let polynomial = x.over(y, hull)?;
    let set = bound(&polynomial);
    let rho = (hull.low - y.value).abs().max((hull.high - y.value).abs()) / y.value.abs() + UNIT;
    set.is_bounded().then(|| ComponentBound {
        set: with_both_zeros(set),
        polynomial: Some(polynomial),
        moved: Some(MovableTerms::quotient(x, y, rho)),
    })
}
