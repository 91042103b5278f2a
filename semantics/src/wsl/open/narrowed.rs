//! What comparisons with definite numbers, once they are decided, say of the other side: `i < 3` leaves fewer values of i.

use super::{MAX_VALUES, OpenId, Opens, Possible, Word};
use crate::number::Profile;
use crate::number::sets::{Set, Span};
use crate::wsl::library::Meaning;
use crate::wsl::meaning::Op;
use crate::wsl::types::Scalar;
use std::cmp::Ordering;

/// What is left of all words: numbers within these ends, both belonging to them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Narrowed {
    signed: (i32, i32),
    unsigned: (u32, u32),
    floats: Set,
}

const ALL: Narrowed = Narrowed { signed: (i32::MIN, i32::MAX), unsigned: (0, u32::MAX), floats: Set::ANY };

/// A comparison of a term with a definite number: which orders of the term and the number hold.
struct Comparison {
    id: OpenId,
    of: Scalar,
    bits: u32,
    holds: [bool; 3],
}

impl Comparison {
    fn of(op: Op, operands: &[Word]) -> Option<Comparison> {
        let holds = match op.meaning {
            Meaning::Less => [true, false, false],
            Meaning::LessEqual => [true, true, false],
            Meaning::Equal => [false, true, false],
            Meaning::NotEqual => [true, false, true],
            Meaning::GreaterEqual => [false, true, true],
            Meaning::Greater => [false, false, true],
            _ => return None,
        };
        match *operands {
            [Word::Open(id), Word::Bits(bits)] => Some(Comparison { id, of: op.of, bits, holds }),
            [Word::Bits(bits), Word::Open(id)] => Some(Comparison { id, of: op.of, bits, holds: [holds[2], holds[1], holds[0]] }),
            _ => None,
        }
    }

    /// What the comparison gives of all numbers from `low` to `high`, if that is one.
    fn over<T: Ord>(&self, (low, high): (T, T), number: T) -> Option<bool> {
        let holds = |order: Ordering| self.holds[(order as i8 + 1) as usize];
        let (first, last) = (low.cmp(&number), high.cmp(&number));
        let between = first == Ordering::Less && last == Ordering::Greater;
        let known = holds(first) == holds(last) && (!between || holds(Ordering::Equal) == holds(first));
        known.then(|| holds(first))
    }

    /// The ends of what is left of `low` to `high` where one of the orders `left` holds.
    fn within<T: Ord + Copy>(left: [bool; 3], (low, high): (T, T), number: T, before: Option<T>, after: Option<T>) -> (T, T) {
        let low = match left {
            [true, ..] => Some(low),
            [_, true, _] => Some(low.max(number)),
            _ => after.map(|after| low.max(after)),
        };
        let high_end = match left {
            [.., true] => Some(high),
            [_, true, _] => Some(high.min(number)),
            _ => before.map(|before| high.min(before)),
        };
        (low.unwrap_or(number), high_end.unwrap_or(number))
    }

    fn narrow(&self, narrowed: &mut Narrowed, holds: bool) {
        let left = self.holds.map(|order| order == holds);
        match self.of {
            Scalar::Int => {
                let n = self.bits as i32;
                narrowed.signed = Comparison::within(left, narrowed.signed, n, n.checked_sub(1), n.checked_add(1));
            }
            Scalar::Uint => {
                let n = self.bits;
                narrowed.unsigned = Comparison::within(left, narrowed.unsigned, n, n.checked_sub(1), n.checked_add(1));
            }
            Scalar::Float => {
                let x = f32::from_bits(self.bits);
                // Subnormals may be flushed, and then compare as zeros do.
                if !x.is_normal() {
                    return;
                }
                let mut set = Set::NONE;
                let mut add = |low: f32, high: f32| set = set.with(Span::between(f64::from(low), f64::from(high)));
                if left[0] {
                    add(f32::NEG_INFINITY, x.next_down());
                }
                if left[1] {
                    add(x, x);
                }
                if left[2] {
                    add(x.next_up(), f32::INFINITY);
                }
                // What does not hold of NaN is true of it, and `!=` holds.
                let unordered = self.holds == [true, false, true];
                narrowed.floats = narrowed.floats.meet(if unordered == holds { set.or_nan() } else { set });
            }
            Scalar::Bool => {}
        }
    }
}

impl Narrowed {
    /// What either kind of integers says of the other: numbers of one sign are in the same order as both.
    fn agree(&mut self) {
        let (least, most) = self.signed;
        if least >= 0 || most < 0 {
            self.unsigned = (self.unsigned.0.max(least as u32), self.unsigned.1.min(most as u32));
        }
        let (low, high) = self.unsigned;
        if (low as i32 >= 0) == (high as i32 >= 0) {
            self.signed = (self.signed.0.max(low as i32), self.signed.1.min(high as i32));
        }
    }
}

impl Opens {
    /// Notes what a comparison says that was decided.
    pub(super) fn narrow(&mut self, op: Op, operands: &[Word], holds: bool) {
        // Where a profile lets comparisons with NaN go either way, they say nothing of the float.
        let rewritten = op.of == Scalar::Float && !matches!(self.precision, None | Some(Profile::Strict));
        if let (Some(comparison), false) = (Comparison::of(op, operands), rewritten) {
            let narrowed = self.narrowed.entry(comparison.id).or_insert(ALL);
            comparison.narrow(narrowed, holds);
            narrowed.agree();
        }
    }

    /// What a comparison of integers gives by what was decided before.
    pub(super) fn compared(&self, op: Op, operands: &[Word]) -> Option<bool> {
        let comparison = Comparison::of(op, operands)?;
        let narrowed = self.narrowed.get(&comparison.id)?;
        match comparison.of {
            Scalar::Int => comparison.over(narrowed.signed, comparison.bits as i32),
            Scalar::Uint => comparison.over(narrowed.unsigned, comparison.bits),
            Scalar::Float | Scalar::Bool => None,
        }
    }

    /// What is left of what a term may be.
    pub(super) fn left_of(&self, id: OpenId, possible: Possible) -> Possible {
        let Some(narrowed) = self.narrowed.get(&id) else { return possible };
        let Narrowed { signed: (least, most), unsigned: (low, high), floats } = *narrowed;
        match possible {
            Possible::Values(mut values) => {
                let all = values.clone();
                values.retain(|&v| (low..=high).contains(&v) && (least..=most).contains(&(v as i32)));
                // Where nothing is left, nobody comes here.
                Possible::Values(if values.is_empty() { all } else { values })
            }
            Possible::Floats(set) => Possible::Floats(set.meet(floats)),
            Possible::Any => {
                let few = |least: i64, most: i64| most - least < MAX_VALUES as i64;
                if few(low.into(), high.into()) {
                    return self.left_of(id, Possible::Values((low..=high).collect()));
                }
                if few(least.into(), most.into()) {
                    let mut values: Vec<u32> = (least..=most).map(|n| n as u32).collect();
                    values.sort_unstable();
                    return self.left_of(id, Possible::Values(values));
                }
                if floats.is_any() { Possible::Any } else { Possible::Floats(floats) }
            }
        }
    }
}
