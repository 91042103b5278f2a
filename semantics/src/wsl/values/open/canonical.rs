//! Canonical forms of operations: equal questions are one term, and opposite questions are a term
//! and its negation.
//!
//! For integers, `a > b` is `b < a`, `a >= b` is `!(a < b)` and `a != b` is `!(a == b)`. The same
//! holds for floats without a precision profile, except that `a >= b` is `!(a < b)` only if neither
//! may be NaN. Under a profile every comparison of floats stands for itself.

use super::{Integers, OpenId, OpenTerms, Term, Word, linear};
use crate::wsl::library::Meaning;
use crate::wsl::meaning::{Evaluator, Op};
use crate::wsl::types::Scalar;
use smallvec::SmallVec;

/// The most operations that are followed to find how one number is made from another.
const MAX_MADE: usize = 3;

const NOT: Op = Op::new(Meaning::Not, Scalar::Bool, Scalar::Bool);

impl OpenTerms {
    /// The result of an operation by way of its canonical form, if that is another operation.
    pub(super) fn canonical(&mut self, op: Op, operands: &[Word]) -> Option<Word> {
        let exact = op.of != Scalar::Float || self.precision.is_none();
        if !exact || self.planted.is_some() {
            return None;
        }
        let of = |meaning| Op::new(meaning, op.of, op.to);
        match (op.meaning, operands) {
            (Meaning::NotEqual, [_, _]) => Some(self.negated(of(Meaning::Equal), operands)),
            (Meaning::Greater, &[a, b]) => Some(self.scalar(of(Meaning::Less), &[b, a])),
            (Meaning::GreaterEqual, &[a, b]) if self.are_ordered(op, operands) => Some(self.negated(of(Meaning::Less), &[a, b])),
            (Meaning::LessEqual, &[a, b]) if self.are_ordered(op, operands) => Some(self.negated(of(Meaning::Less), &[b, a])),
            (Meaning::GreaterEqual, &[a, b]) => Some(self.scalar(of(Meaning::LessEqual), &[b, a])),
            (Meaning::IsNan, &[x]) => Some(self.negated(Op::new(Meaning::Equal, op.of, op.to), &[x, x])),
            // The result is whether the operand is not zero, of either sign.
            (Meaning::Convert | Meaning::All | Meaning::Any, &[x]) if op.to == Scalar::Bool && op.of != Scalar::Bool => {
                Some(self.negated(Op::new(Meaning::Equal, op.of, op.to), &[x, Word::Bits(0)]))
            }
            (Meaning::Divide, &[x, Word::Bits(divisor)]) if op.of == Scalar::Uint && divisor.is_power_of_two() => {
                Some(self.scalar(of(Meaning::ShiftRight), &[x, Word::Bits(divisor.trailing_zeros())]))
            }
            (Meaning::Remainder, &[x, Word::Bits(divisor)]) if op.of == Scalar::Uint && divisor.is_power_of_two() => {
                Some(self.scalar(of(Meaning::And), &[x, Word::Bits(divisor - 1)]))
            }
            // These operations do not depend on the sign.
            (Meaning::Equal | Meaning::And | Meaning::Or | Meaning::Xor | Meaning::Multiply | Meaning::ShiftLeft, _)
                if op.of == Scalar::Int =>
            {
                let to = if op.to == Scalar::Int { Scalar::Uint } else { op.to };
                Some(self.scalar(Op::new(op.meaning, Scalar::Uint, to), operands))
            }
            _ if op.of == Scalar::Bool && operands.iter().all(|&w| self.integers(w).unsigned.1 <= 1) => self.of_truths(op, operands),
            _ => None,
        }
    }

    /// Whether the numbers are certainly ordered: none is NaN.
    fn are_ordered(&self, op: Op, operands: &[Word]) -> bool {
        op.of != Scalar::Float || !operands.iter().any(|&w| self.possible(w).floats().has_nan())
    }

    fn negated(&mut self, op: Op, operands: &[Word]) -> Word {
        let word = self.scalar(op, operands);
        self.scalar(NOT, &[word])
    }

    /// The canonical form of operations on `bool`s that are 0 or 1.
    fn of_truths(&mut self, op: Op, operands: &[Word]) -> Option<Word> {
        match (op.meaning, operands) {
            (Meaning::All | Meaning::Any, &[x]) => Some(x),
            (Meaning::Complement, &[x]) => Some(self.scalar(NOT, &[x])),
            (Meaning::Not, &[Word::Open(id)]) => self.opposite(id),
            (Meaning::Xor, [_, _]) => Some(self.negated(Op::new(Meaning::Equal, op.of, op.to), operands)),
            (Meaning::Equal, &[a, Word::Bits(bits)] | &[Word::Bits(bits), a]) => Some(if bits == 1 { a } else { self.scalar(NOT, &[a]) }),
            (Meaning::Equal, &[Word::Open(a), Word::Open(b)]) => {
                let sides = match (self.opposite(a), self.opposite(b)) {
                    (Some(a), None) => [a, Word::Open(b)],
                    (None, Some(b)) => [Word::Open(a), b],
                    (Some(a), Some(b)) => return Some(self.scalar(op, &[a, b])),
                    (None, None) => return None,
                };
                Some(self.negated(op, &sides))
            }
            (Meaning::And | Meaning::Or, &[Word::Open(a), Word::Open(b)])
                if self.opposite(a) == Some(Word::Open(b)) || self.opposite(b) == Some(Word::Open(a)) =>
            {
                Some(Word::Bits(u32::from(op.meaning == Meaning::Or)))
            }
            _ => None,
        }
    }

    /// The operand of a negation. `None` for other terms.
    fn opposite(&self, id: OpenId) -> Option<Word> {
        match self.term(id) {
            Term::Apply(NOT, operands) => operands.first().map(|&w| self.read(w)).filter(|&w| self.integers(w).unsigned.1 <= 1),
            _ => None,
        }
    }

    /// The operands of an operation. If they may be exchanged, they are always in the same order,
    /// with terms before numbers.
    pub(super) fn ordered(&self, op: Op, operands: &[Word]) -> SmallVec<[Word; 3]> {
        use Meaning as M;
        let integer = op.of != Scalar::Float;
        let commutative = match op.meaning {
            M::And | M::Or | M::Xor | M::Min | M::Max => integer,
            M::Add | M::Multiply | M::Equal => integer || self.precision.is_none(),
            _ => false,
        };
        let mut operands = SmallVec::from_slice(operands);
        if commutative && self.planted.is_none() {
            operands.sort_by_key(|w| match w {
                Word::Open(id) => (0, id.0),
                Word::Bits(bits) => (1, *bits),
                Word::Address(_) => (2, 0),
            });
        }
        operands
    }

    /// The result of an operation on integers that follows from its operands as sums, or from an
    /// operand and its complement.
    pub(super) fn apply_to_sums(&mut self, op: Op, operands: &[Word]) -> Option<Word> {
        if self.planted.is_some() || !matches!(op.of, Scalar::Int | Scalar::Uint) {
            return None;
        }
        match (op.meaning, operands) {
            (Meaning::Equal, &[a, b]) => self.equal_sums(a, b),
            (Meaning::And | Meaning::Or | Meaning::Xor, &[a, b]) if self.are_complements(a, b) => {
                Some(Word::Bits(if op.meaning == Meaning::And { 0 } else { u32::MAX }))
            }
            _ => self.sum(op, operands),
        }
    }

    /// The result of a comparison that follows from decided comparisons of the same numbers, or
    /// from how one operand is made from the other.
    pub(super) fn related(&self, op: Op, operands: &[Word]) -> Option<bool> {
        let (&[a, b], Scalar::Bool) = (operands, op.to) else { return None };
        if self.planted.is_some() || op.of == Scalar::Bool || op.of == Scalar::Float && self.precision.is_some() {
            return None;
        }
        let decided = |meaning, of, a, b| {
            let term = Term::Apply(Op::new(meaning, of, Scalar::Bool), self.ordered(Op::new(meaning, of, Scalar::Bool), &[a, b]));
            self.index.get(&term).and_then(|id| self.decided.get(id)).map(|&bits| bits != 0)
        };
        let less = |of, a, b| decided(Meaning::Less, of, a, b);
        // NaN is not ordered.
        let trichotomy = op.of != Scalar::Float;
        match op.meaning {
            Meaning::Less => {
                let equal = decided(Meaning::Equal, if trichotomy { Scalar::Uint } else { op.of }, a, b);
                match (less(op.of, b, a), equal) {
                    (Some(true), _) | (_, Some(true)) => Some(false),
                    (Some(false), Some(false)) if trichotomy => Some(true),
                    _ => (trichotomy && self.is_at_most(op.of, b, a, MAX_MADE)).then_some(false),
                }
            }
            Meaning::Equal => {
                let orders: SmallVec<[Scalar; 2]> =
                    if trichotomy { SmallVec::from_slice(&[Scalar::Int, Scalar::Uint]) } else { SmallVec::from_slice(&[op.of]) };
                orders.into_iter().find_map(|of| match (less(of, a, b), less(of, b, a)) {
                    (Some(true), _) | (_, Some(true)) => Some(false),
                    (Some(false), Some(false)) if trichotomy => Some(true),
                    _ => None,
                })
            }
            _ => None,
        }
    }

    /// Whether a number is never above another. It follows from how either is made from the other,
    /// or from the bounds of both.
    fn is_at_most(&self, of: Scalar, a: Word, b: Word, depth: usize) -> bool {
        use Meaning as M;
        let (a, b) = (self.read(a), self.read(b));
        if a == b || super::transfer::compared(Op::new(M::Less, of, Scalar::Bool), self.integers(b), self.integers(a)) == Some(false) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let operation_of = |w: Word| match w {
            Word::Open(id) => match self.term(id) {
                Term::Apply(op, operands) if matches!(op.to, Scalar::Int | Scalar::Uint) => Some((*op, operands)),
                _ => None,
            },
            _ => None,
        };
        let below = operation_of(a).is_some_and(|(op, parts)| {
            let mut parts_at_most = parts.iter().map(|&part| self.is_at_most(of, part, b, depth));
            match op.meaning {
                M::Min if op.of == of => parts_at_most.any(|holds| holds),
                M::Max if op.of == of => parts_at_most.all(|holds| holds),
                M::Clamp if op.of == of => parts_at_most.nth(2) == Some(true),
                M::And if of == Scalar::Uint => parts_at_most.any(|holds| holds),
                M::ShiftRight | M::Divide | M::Remainder if of == Scalar::Uint && op.of == of => parts_at_most.next() == Some(true),
                _ => false,
            }
        });
        below
            || operation_of(b).is_some_and(|(op, parts)| {
                let mut parts_at_most = parts.iter().map(|&part| self.is_at_most(of, a, part, depth));
                match op.meaning {
                    M::Max if op.of == of => parts_at_most.any(|holds| holds),
                    M::Min if op.of == of => parts_at_most.all(|holds| holds),
                    M::Clamp if op.of == of => parts_at_most.nth(1) == Some(true),
                    M::Or if of == Scalar::Uint => parts_at_most.any(|holds| holds),
                    _ => false,
                }
            })
    }

    /// The bounds of an operation on integers, from what is known about its operands.
    pub(super) fn forward(&self, op: Op, operands: &[Word]) -> Integers {
        let parts: SmallVec<[Integers; 3]> = operands.iter().map(|&w| self.integers(w)).collect();
        let mut within = super::transfer::forward(op, &parts);
        // The second lowest bit of a square is 0.
        if let (Meaning::Multiply, [a, b], Some(square)) = (op.meaning, operands, Integers::bits(2, 0))
            && op.of != Scalar::Float
            && a == b
        {
            within = within.or_both(square);
        }
        match self.planted_bound {
            Some(planted) => planted(op, &parts, within),
            None => within,
        }
    }

    /// The bounds of a sum, from those of its terms.
    pub(super) fn sum_within(&self, sum: &linear::Linear) -> Integers {
        let op = |meaning| Op::new(meaning, Scalar::Uint, Scalar::Uint);
        let result_of = |meaning, a, b| super::transfer::forward(op(meaning), &[a, b]);
        sum.terms.iter().fold(Integers::only(sum.constant), |all, &(id, coefficient)| {
            let multiple = result_of(Meaning::Multiply, self.integers(Word::Open(id)), Integers::only(coefficient));
            result_of(Meaning::Add, all, multiple)
        })
    }
}
