//! Operations on floats within sets. Under a precision profile, the results are those that a
//! conforming device may give. Without one, they are the numbers of IEEE 754.

use super::possible::{self, Possible};
use super::{Integers, OpenTerms, Term, Word};
use crate::number::Profile;
use crate::number::sets::{Set, Span, Truth};
use crate::wsl::library::Meaning;
use crate::wsl::meaning::{Op, allowed, truth};
use crate::wsl::types::Scalar;
use smallvec::SmallVec;

impl OpenTerms {
    /// Whether an operation may give another result for the same operands: a comparison of floats
    /// that a device may answer either way.
    pub(super) fn may_vary(&self, op: Op, operands: &[Word]) -> bool {
        let (Some(profile), Scalar::Float, Scalar::Bool) = (self.precision, op.of, op.to) else { return false };
        varies(op, &operands.iter().map(|&w| self.possible(w).floats()).collect::<SmallVec<[Set; 3]>>(), profile)
    }

    /// The result of an operation on floats under a precision profile, or with a bounded operand.
    /// `None` for other operations.
    pub(super) fn apply_to_sets(&mut self, op: Op, operands: &[Word]) -> Option<Word> {
        if op.of != Scalar::Float {
            return None;
        }
        if let Some(word) = self.rewritten(op, operands) {
            return Some(word);
        }
        let parts: SmallVec<[Possible; 3]> = operands.iter().map(|&w| self.possible(w)).collect();
        let bounded = parts.iter().any(|p| matches!(p, Possible::Floats(_)));
        let sets: SmallVec<[Set; 3]> = parts.iter().map(Possible::floats).collect();
        if self.precision.is_none()
            && op.to == Scalar::Bool
            && let refined = operands.iter().zip(&sets).map(|(&word, &set)| self.converted(word, set)).collect::<SmallVec<[Set; 3]>>()
            && let Some(known) = exactly(op, &refined).and_then(certain)
        {
            return Some(Word::Bits(u32::from(known)));
        }
        let profile = match self.precision {
            Some(profile) => profile,
            None if bounded => Profile::Strict,
            None => return None,
        };
        match op.to {
            Scalar::Float => Some(match allowed(op, &sets, profile) {
                // A correctly rounded result is the same for the same operands.
                Some(set) if self.precision.is_none() && possible::is_total(op) && set.only().is_none() => {
                    let term = Term::Apply(op, SmallVec::from_slice(operands));
                    match self.index.get(&term) {
                        Some(&id) => self.read(Word::Open(id)),
                        None if set.is_any() => self.push(term),
                        None => self.bounded(term, Possible::Floats(set), Integers::ANY),
                    }
                }
                Some(set) => self.within(set),
                None => self.leaf(None, Scalar::Float, 0),
            }),
            Scalar::Bool => {
                let truth = match self.precision {
                    None => exactly(op, &sets).unwrap_or(Truth::BOTH),
                    Some(_) => truth(op, &sets, profile)?,
                };
                let varies = self.precision.is_some_and(|profile| varies(op, &sets, profile));
                if let ([a, b], Some(reflexive)) = (operands, possible::reflexive(op))
                    && a == b
                    && !sets[0].has_nan()
                    && !varies
                {
                    return Some(Word::Bits(u32::from(reflexive)));
                }
                match certain(truth) {
                    // The result is the same for the same operands.
                    None if !varies && operands.iter().any(|w| w.definite().is_none()) => {
                        Some(self.push(Term::Apply(op, SmallVec::from_slice(operands))))
                    }
                    None => Some(self.leaf(None, Scalar::Bool, 0)),
                    Some(known) => Some(Word::Bits(u32::from(known))),
                }
            }
            Scalar::Int | Scalar::Uint if bounded => Some(match sets.first().and_then(|set| possible::whole_numbers(set, op.to)) {
                // Truncation gives the same result for the same float.
                Some(whole) if self.precision.is_none() && op.meaning == Meaning::Convert => {
                    let term = Term::Apply(op, SmallVec::from_slice(operands));
                    match (self.index.get(&term), whole.single()) {
                        (Some(&id), _) => self.read(Word::Open(id)),
                        (None, Some(only)) => Word::Bits(only),
                        (None, None) => self.bounded(term, Possible::Any, whole),
                    }
                }
                Some(whole) => match whole.listed() {
                    Some(values) => self.leaf(Some(&values), op.to, values[0]),
                    None => self.leaf(None, op.to, 0),
                },
                None => self.leaf(None, op.to, 0),
            }),
            Scalar::Int | Scalar::Uint => None,
        }
    }

    /// The set of a word, narrowed if the word was converted from an integer.
    fn converted(&self, word: Word, set: Set) -> Set {
        let Word::Open(id) = word else { return set };
        match self.term(id) {
            Term::Apply(op, operands) if operands.len() == 1 && op.of != Scalar::Float => {
                of_integers(*op, self.integers(operands[0])).map(|of| set.meet(of)).filter(|narrower| !narrower.is_none()).unwrap_or(set)
            }
            _ => set,
        }
    }
}

/// Whether a device under a profile may answer differently for the same numbers of these sets. It
/// may take zero for a subnormal, each time that it reads it. Nothing keeps infinities and NaN.
/// Some profiles say nothing about any comparison.
fn varies(op: Op, operands: &[Set], profile: Profile) -> bool {
    let (least, most) = (f64::from(f32::from_bits(1)), f64::from(f32::MIN_POSITIVE.next_down()));
    let subnormal = |x: &Set| [(least, most), (-most, -least)].iter().any(|&(low, high)| !x.meet(Set::of(Span { low, high })).is_none());
    let special = |x: &Set| x.has_nan() || x.contains(f64::INFINITY) || x.contains(f64::NEG_INFINITY);
    let one = [Set::point(1.0), Set::point(2.0)];
    operands.iter().any(|x| subnormal(x) || special(x))
        || one.get(..operands.len()).and_then(|one| truth(op, one, profile)).and_then(certain).is_none()
}

/// The result, if only one is possible.
fn certain(truth: Truth) -> Option<bool> {
    (truth.may_hold != truth.may_fail).then_some(truth.may_hold)
}

/// The possible results of a comparison or classification of floats, for all floats of their sets,
/// by IEEE 754. Subnormal numbers are kept, and zeros are equal.
fn exactly(op: Op, operands: &[Set]) -> Option<Truth> {
    let nan = operands.iter().any(Set::has_nan);
    let infinite = |x: &Set| x.contains(f64::INFINITY) || x.contains(f64::NEG_INFINITY);
    let finite = |x: &Set| x.spans().iter().any(|s| s.low.is_finite() || s.high.is_finite() || s.low != s.high);
    let opposite = |Truth { may_hold, may_fail }| Truth { may_hold: may_fail, may_fail: may_hold };
    let ordered = |a: &Set, b: &Set, holds: fn(&f64, &f64) -> bool| match (a.hull(), b.hull()) {
        (Some(a), Some(b)) => Truth { may_hold: holds(&a.low, &b.high), may_fail: nan || !holds(&a.high, &b.low) },
        _ => Truth { may_hold: false, may_fail: nan },
    };
    let equal = |a: &Set, b: &Set| {
        let meets = |x: &Span| b.spans().iter().any(|y| x.low <= y.high && y.low <= x.high);
        let one = a.hull().zip(b.hull()).is_some_and(|(a, b)| a.low == a.high && b.low == b.high && a.low == b.low);
        Truth { may_hold: a.spans().iter().any(meets), may_fail: nan || !one }
    };
    Some(match (op.meaning, operands) {
        (Meaning::Less, [a, b]) => ordered(a, b, f64::lt),
        (Meaning::LessEqual, [a, b]) => ordered(a, b, f64::le),
        (Meaning::Greater, [a, b]) => ordered(b, a, f64::lt),
        (Meaning::GreaterEqual, [a, b]) => ordered(b, a, f64::le),
        (Meaning::Equal, [a, b]) => equal(a, b),
        (Meaning::NotEqual, [a, b]) => opposite(equal(a, b)),
        (Meaning::IsNan, [x]) => Truth { may_hold: nan, may_fail: x.hull().is_some() },
        (Meaning::IsInf, [x]) => Truth { may_hold: infinite(x), may_fail: nan || finite(x) },
        (Meaning::IsFinite, [x]) => Truth { may_hold: finite(x), may_fail: nan || infinite(x) },
        _ => return None,
    })
}

/// The floats that integers are converted to. Rounding keeps their order.
pub(super) fn of_integers(op: Op, integers: Integers) -> Option<Set> {
    let low_high = match (op.meaning, op.of, op.to) {
        (Meaning::Convert, Scalar::Uint, Scalar::Float) => [integers.unsigned.0 as f32, integers.unsigned.1 as f32],
        (Meaning::Convert, Scalar::Int, Scalar::Float) => [integers.signed.0 as f32, integers.signed.1 as f32],
        _ => return None,
    };
    Some(Set::of(Span::between(low_high[0].into(), low_high[1].into())))
}
