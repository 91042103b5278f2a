//! Sums of multiples of terms: `x + 1 - x` is 1 for every x, and `2 * x + 2` is `(x + 1) * 2`. All
//! arithmetic is modulo 2^32, so `int` and `uint` are alike.

use super::{Integers, OpenId, OpenTerms, Term, Word, possible, transfer};
use crate::wsl::library::Meaning;
use crate::wsl::meaning::{Evaluator, Op};
use crate::wsl::types::Scalar;
use smallvec::SmallVec;

/// The most terms of a sum.
const MAX_ADDED: usize = 4;

/// A sum: terms that are no sums themselves, in ascending order, each with a factor that is not 0,
/// and a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Linear {
    pub(super) terms: SmallVec<[(OpenId, u32); 2]>,
    pub(super) constant: u32,
}

const fn op(meaning: Meaning) -> Op {
    Op::new(meaning, Scalar::Uint, Scalar::Uint)
}

impl Linear {
    fn constant(constant: u32) -> Linear {
        Linear { terms: SmallVec::new(), constant }
    }

    fn term(id: OpenId) -> Linear {
        Linear { terms: SmallVec::from_slice(&[(id, 1)]), constant: 0 }
    }

    /// This sum plus a multiple of another.
    fn plus(mut self, other: &Linear, factor: u32) -> Linear {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for &(id, coefficient) in &other.terms {
            let coefficient = coefficient.wrapping_mul(factor);
            match self.terms.binary_search_by_key(&id, |t| t.0) {
                Ok(at) => self.terms[at].1 = self.terms[at].1.wrapping_add(coefficient),
                Err(at) => self.terms.insert(at, (id, coefficient)),
            }
        }
        self.terms.retain(|t| t.1 != 0);
        self
    }

    /// A multiple of this sum.
    fn times(&self, factor: u32) -> Linear {
        Linear::constant(0).plus(self, factor)
    }
}

/// The number whose product with an odd number is 1. Each step doubles the number of correct bits.
fn inverse(odd: u32) -> u32 {
    (0..5).fold(odd, |found, _| found.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(found))))
}

impl OpenTerms {
    /// The word as a sum, under the current decisions.
    fn linear_of(&self, word: Word) -> Option<Linear> {
        match self.read(word) {
            Word::Bits(bits) => Some(Linear::constant(bits)),
            Word::Address(_) => None,
            Word::Open(id) => Some(match self.linear.get(&id) {
                None => Linear::term(id),
                Some(form) => {
                    form.terms.iter().fold(Linear::constant(form.constant), |sum, &(id, coefficient)| match self.read(Word::Open(id)) {
                        Word::Bits(bits) => sum.plus(&Linear::constant(bits), coefficient),
                        _ => sum.plus(&Linear::term(id), coefficient),
                    })
                }
            }),
        }
    }

    /// The result of an operation that is a sum of its operands. `None` for other operations.
    pub(super) fn sum(&mut self, op: Op, operands: &[Word]) -> Option<Word> {
        if !matches!(op.of, Scalar::Int | Scalar::Uint) || !matches!(op.to, Scalar::Int | Scalar::Uint) {
            return None;
        }
        let sum_of = |at: usize| self.linear_of(operands[at]);
        let one = Linear::constant(1);
        let minus_one = u32::MAX;
        let sum = match (op.meaning, operands) {
            (Meaning::Add, [_, _]) => sum_of(0)?.plus(&sum_of(1)?, 1),
            (Meaning::Subtract, [_, _]) => sum_of(0)?.plus(&sum_of(1)?, minus_one),
            (Meaning::Increment, [_]) => sum_of(0)?.plus(&one, 1),
            (Meaning::Decrement, [_]) => sum_of(0)?.plus(&one, minus_one),
            (Meaning::Negate, [_]) => sum_of(0)?.times(minus_one),
            (Meaning::Complement, [_]) => sum_of(0)?.times(minus_one).plus(&one, minus_one),
            (Meaning::Multiply, [_, Word::Bits(constant)]) => sum_of(0)?.times(*constant),
            (Meaning::Multiply, [Word::Bits(constant), _]) => sum_of(1)?.times(*constant),
            (Meaning::ShiftLeft, [_, Word::Bits(constant)]) => sum_of(0)?.times(1 << (constant & 31)),
            // x % n is x - x / n * n, and the bits of x below 2^k are x - (x >> k) * 2^k.
            (Meaning::Remainder, &[x, Word::Bits(constant)]) if constant != 0 => {
                let quotient = self.scalar(Op { meaning: Meaning::Divide, ..op }, &[x, Word::Bits(constant)]);
                self.linear_of(x)?.plus(&self.linear_of(quotient)?, constant.wrapping_neg())
            }
            (Meaning::And, &[x, Word::Bits(mask)]) if mask & mask.wrapping_add(1) == 0 => {
                let shift = mask.trailing_ones();
                let above = self.scalar(self::op(Meaning::ShiftRight), &[x, Word::Bits(shift)]);
                self.linear_of(x)?.plus(&self.linear_of(above)?, (1u32 << shift).wrapping_neg())
            }
            (Meaning::And, &[x, Word::Bits(mask)]) if !mask & (!mask).wrapping_add(1) == 0 => {
                let shift = mask.trailing_zeros();
                let above = self.scalar(self::op(Meaning::ShiftRight), &[x, Word::Bits(shift)]);
                self.linear_of(above)?.times(1 << shift)
            }
            // If no bit is 1 in both, there are no carries.
            (Meaning::Or | Meaning::Xor, &[a, b]) if self.integers(a).zeros | self.integers(b).zeros == u32::MAX => {
                sum_of(0)?.plus(&sum_of(1)?, 1)
            }
            _ => return None,
        };
        if sum.terms.len() > MAX_ADDED {
            return None;
        }
        let term = match (&sum.terms[..], sum.constant) {
            ([], constant) => return Some(Word::Bits(constant)),
            (&[(id, 1)], 0) => return Some(self.read(Word::Open(id))),
            (&[(id, 1)], constant) => Term::Apply(self::op(Meaning::Add), SmallVec::from_slice(&[Word::Open(id), Word::Bits(constant)])),
            _ => Term::Apply(op, SmallVec::from_slice(operands)),
        };
        if let Some(&id) = self.by_linear.get(&sum) {
            return Some(self.read(Word::Open(id)));
        }
        if let Term::Apply(op, operands) = &term
            && let possible::Results::Exactly(values) = possible::results(self, *op, operands)
            && let [only] = values[..]
        {
            return Some(Word::Bits(only));
        }
        let word = self.push_sum(term, Some(&sum));
        if let Word::Open(id) = word
            && !self.linear.contains_key(&id)
            && sum.terms.iter().all(|t| t.0 < id)
        {
            self.by_linear.insert(sum.clone(), id);
            self.linear.insert(id, sum);
        }
        Some(word)
    }

    /// Whether two integers are equal, from their difference. `None` if the difference says no more
    /// than the integers themselves.
    pub(super) fn equal_sums(&mut self, a: Word, b: Word) -> Option<Word> {
        let difference = self.linear_of(a)?.plus(&self.linear_of(b)?, u32::MAX);
        let equal = Op::new(Meaning::Equal, Scalar::Uint, Scalar::Bool);
        let right_side = difference.constant.wrapping_neg();
        if difference.terms.len() > 1 {
            let known = self.known_sum(&difference.terms).map(|sum| transfer::compared(equal, sum, Integers::only(right_side)));
            if let Some(Some(known)) = known {
                return Some(Word::Bits(u32::from(known)));
            }
        }
        let sides = match difference.terms[..] {
            [] => return Some(Word::Bits(u32::from(right_side == 0))),
            // The equation is 2^n k x = c, with k odd. It never holds unless c is a multiple of
            // 2^n. If c is one, the low 32 - n bits of x are those of c / 2^n / k.
            [(id, factor)] => {
                let shift = factor.trailing_zeros();
                if right_side & !(u32::MAX << shift) != 0 {
                    return Some(Word::Bits(0));
                }
                let bits = (right_side >> shift).wrapping_mul(inverse(factor >> shift)) & u32::MAX >> shift;
                let low = match shift {
                    0 => self.read(Word::Open(id)),
                    _ => self.scalar(op(Meaning::And), &[Word::Open(id), Word::Bits(u32::MAX >> shift)]),
                };
                [low, Word::Bits(bits)]
            }
            [(x, 1), (y, u32::MAX)] | [(x, u32::MAX), (y, 1)] if right_side == 0 => [Word::Open(x), Word::Open(y)],
            _ if difference.terms.len() > MAX_ADDED => return None,
            // This takes either x - y or y - x, but always the same one.
            _ => {
                let negated = difference.times(u32::MAX);
                let key = |sum: &Linear| (sum.terms.clone(), sum.constant);
                let sum = if key(&negated) < key(&difference) { negated } else { difference };
                [self.word_of_sum(&sum.terms), Word::Bits(sum.constant.wrapping_neg())]
            }
        };
        // The sides are the operands themselves, which are compared as they are.
        if sides == [a, b] || sides == [b, a] {
            return None;
        }
        Some(self.scalar(equal, &sides))
    }

    /// Whether one word is the other with every bit flipped: their sum is 2^32 - 1.
    pub(super) fn are_complements(&self, a: Word, b: Word) -> bool {
        let sum = self.linear_of(a).zip(self.linear_of(b)).map(|(a, b)| a.plus(&b, 1));
        sum.is_some_and(|sum| sum.terms.is_empty() && sum.constant == u32::MAX)
    }

    /// The bounds of the sum of these terms, if there is a term for it or for its negation.
    fn known_sum(&self, terms: &[(OpenId, u32)]) -> Option<Integers> {
        let sum = Linear { terms: SmallVec::from_slice(terms), constant: 0 };
        match self.by_linear.get(&sum) {
            Some(&id) => Some(self.integers(Word::Open(id))),
            None => {
                let negated = self.integers(Word::Open(*self.by_linear.get(&sum.times(u32::MAX))?));
                Some(transfer::forward(Op::new(Meaning::Negate, Scalar::Int, Scalar::Int), &[negated]))
            }
        }
    }

    fn word_of_sum(&mut self, terms: &[(OpenId, u32)]) -> Word {
        terms.iter().fold(Word::Bits(0), |sum, &(id, coefficient)| {
            let multiple = self.scalar(op(Meaning::Multiply), &[Word::Open(id), Word::Bits(coefficient)]);
            self.scalar(op(Meaning::Add), &[sum, multiple])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::inverse;

    #[test]
    fn odd_numbers_have_inverses() {
        for odd in [1u32, 3, 5, 7, 0x8000_0001, 0xdead_beef, u32::MAX] {
            assert_eq!(odd.wrapping_mul(inverse(odd)), 1, "{odd}");
        }
    }
}
