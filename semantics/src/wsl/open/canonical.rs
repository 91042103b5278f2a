//! Operations that are others: equal questions are one term, and opposite ones a term and its negation.
//!
//! Of integers `a > b` is `b < a`, `a >= b` is `!(a < b)` and `a != b` is `!(a == b)`. Of floats the last but one holds where neither may be NaN, and all of it where they
//! are IEEE 754's numbers: under a profile of precision every comparison stands for itself.

use super::{Integers, OpenId, Opens, Term, Word, linear};
use crate::wsl::library::Meaning;
use crate::wsl::meaning::{Lanes, Op};
use crate::wsl::types::Scalar;
use smallvec::SmallVec;

const NOT: Op = Op::new(Meaning::Not, Scalar::Bool, Scalar::Bool);

impl Opens {
    /// What an operation is that is another one.
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
            // Whether it is not zero, of either sign.
            (Meaning::Convert | Meaning::All | Meaning::Any, &[x]) if op.to == Scalar::Bool && op.of != Scalar::Bool => {
                Some(self.negated(Op::new(Meaning::Equal, op.of, op.to), &[x, Word::Bits(0)]))
            }
            (Meaning::Divide, &[x, Word::Bits(by)]) if op.of == Scalar::Uint && by.is_power_of_two() => {
                Some(self.scalar(of(Meaning::ShiftRight), &[x, Word::Bits(by.trailing_zeros())]))
            }
            (Meaning::Remainder, &[x, Word::Bits(by)]) if op.of == Scalar::Uint && by.is_power_of_two() => {
                Some(self.scalar(of(Meaning::And), &[x, Word::Bits(by - 1)]))
            }
            _ if op.of == Scalar::Bool && operands.iter().all(|&w| self.integers(w).unsigned.1 <= 1) => self.of_truths(op, operands),
            _ => None,
        }
    }

    /// Whether the numbers are surely in an order: none is NaN.
    fn are_ordered(&self, op: Op, operands: &[Word]) -> bool {
        op.of != Scalar::Float || !operands.iter().any(|&w| self.possible(w).floats().has_nan())
    }

    fn negated(&mut self, op: Op, operands: &[Word]) -> Word {
        let word = self.scalar(op, operands);
        self.scalar(NOT, &[word])
    }

    /// Of `bool`s that are 0 or 1.
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

    /// What the term negates.
    fn opposite(&self, id: OpenId) -> Option<Word> {
        match self.term(id) {
            Term::Apply(NOT, operands) => operands.first().map(|&w| self.read(w)).filter(|&w| self.integers(w).unsigned.1 <= 1),
            _ => None,
        }
    }

    /// The operands of an operation whose operands may be exchanged, always in the same order: terms before numbers.
    pub(super) fn ordered(&self, op: Op, operands: &[Word]) -> SmallVec<[Word; 3]> {
        use Meaning as M;
        let integer = op.of != Scalar::Float;
        let exchange = match op.meaning {
            M::And | M::Or | M::Xor | M::Min | M::Max => integer,
            M::Add | M::Multiply | M::Equal => integer || self.precision.is_none(),
            _ => false,
        };
        let mut operands = SmallVec::from_slice(operands);
        if exchange && self.planted.is_none() {
            operands.sort_by_key(|w| match w {
                Word::Open(id) => (0, id.0),
                Word::Bits(bits) => (1, *bits),
                Word::Address(_) => (2, 0),
            });
        }
        operands
    }

    /// An operation on integers that is known from what sums its operands are, or an operand and its complement.
    pub(super) fn by_sums(&mut self, op: Op, operands: &[Word]) -> Option<Word> {
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

    /// What results of an operation on integers are within, by what is known of its operands.
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

    /// What a sum is within, by what its terms are.
    pub(super) fn sum_within(&self, sum: &linear::Linear) -> Integers {
        let op = |meaning| Op::new(meaning, Scalar::Uint, Scalar::Uint);
        let two = |meaning, a, b| super::transfer::forward(op(meaning), &[a, b]);
        sum.terms.iter().fold(Integers::only(sum.constant), |all, &(id, by)| {
            let multiple = two(Meaning::Multiply, self.integers(Word::Open(id)), Integers::only(by));
            two(Meaning::Add, all, multiple)
        })
    }
}
