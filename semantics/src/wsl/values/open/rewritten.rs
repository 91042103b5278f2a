//! Operations on floats under a profile that lets a device rewrite them together.
//!
//! Such a profile does not bound a single operation. The bound is the polynomial that the
//! operations compute from their leaves ([`crate::number::sets`]). So a computed term has a lane of
//! a run over [`Sets`]. The lane holds the term's polynomial, or a certificate that the term is
//! exact however it is rewritten. The lane's possible values are the bounds of the term. Constants,
//! inputs, interpolated values, texels and converted integers are leaves.
//!
//! A comparison that may go either way is a new unspecified value each time, because two
//! evaluations of one expression may differ.
//!
//! Each operation is treated as its translation to SPIR-V: one instruction, or the formula that is
//! here. An operation without either is unbounded.

use super::{Integers, OpenId, OpenTerms, Possible, Term, Word};
use crate::number::sets::{Exploration, Set, Sets, Span, Truth};
use crate::number::{Arithmetic, Lane, Op as Number, Profile, Tuple, Why};
use crate::wsl::library::Meaning;
use crate::wsl::meaning::Op;
use crate::wsl::types::Scalar;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The most cases of a term whose lanes are examined, and the deepest nesting of such terms.
const MAX_CASES: usize = 8;
const MAX_CHOICES: u32 = 8;

/// The run over sets, and the lanes of terms.
#[derive(Clone, Debug)]
pub(super) struct Rewriting {
    sets: Sets,
    lanes: FxHashMap<OpenId, Lane>,
}

impl Rewriting {
    fn under(profile: Profile) -> Rewriting {
        Rewriting { sets: Sets::before(Exploration::under(profile)), lanes: FxHashMap::default() }
    }

    fn apply(&mut self, op: Number, lanes: &[Lane]) -> Option<Lane> {
        let operands: SmallVec<[[Lane; 1]; 3]> = lanes.iter().map(|&lane| [lane]).collect();
        let tuples: SmallVec<[Tuple<'_>; 3]> = operands.iter().map(|lanes| Tuple { lanes, columns: 1 }).collect();
        self.sets.apply(&Arithmetic::default(), op, &tuples).ok()?.first().copied()
    }

    /// The lane of an operation's result.
    fn computed(&mut self, meaning: Meaning, operands: &[Lane]) -> Option<Lane> {
        use Meaning as M;
        let (zero, one) = (Lane::exact(0.0), Lane::exact(1.0));
        match (meaning, operands) {
            (M::Clamp, &[x, low, high]) => {
                let raised = self.apply(Number::Max, &[x, low])?;
                self.apply(Number::Min, &[raised, high])
            }
            (M::Saturate, &[_]) => self.computed(M::Clamp, &[operands[0], zero, one]),
            (M::Rcp, &[x]) => self.apply(Number::Div, &[one, x]),
            (M::Mad, &[x, y, z]) => {
                let product = self.apply(Number::Mul, &[x, y])?;
                self.apply(Number::Add, &[product, z])
            }
            (M::Lerp, &[x, y, z]) => {
                let rest = self.apply(Number::Sub, &[one, z])?;
                let (a, b) = (self.apply(Number::Mul, &[x, rest])?, self.apply(Number::Mul, &[y, z])?);
                self.apply(Number::Add, &[a, b])
            }
            // The result is whether the operand is not zero.
            (M::Convert, &[x]) => self.apply(Number::NotEqual, &[x, zero]),
            _ => self.apply(instruction(meaning)?, operands),
        }
    }
}

/// The instruction of an operation that is only one instruction.
fn instruction(meaning: Meaning) -> Option<Number> {
    use Meaning as M;
    Some(match meaning {
        M::Add => Number::Add,
        M::Subtract => Number::Sub,
        M::Multiply => Number::Mul,
        M::Divide => Number::Div,
        M::Negate => Number::Negate,
        M::Abs => Number::Abs,
        M::Min => Number::Min,
        M::Max => Number::Max,
        M::Floor => Number::Floor,
        M::Ceil => Number::Ceil,
        M::Trunc => Number::Trunc,
        M::Frac => Number::Fract,
        M::Sqrt => Number::Sqrt,
        M::Sin => Number::Sin,
        M::Cos => Number::Cos,
        M::Exp => Number::Exp,
        M::Exp2 => Number::Exp2,
        M::Less => Number::LessThan,
        M::LessEqual => Number::LessThanEqual,
        M::Greater => Number::GreaterThan,
        M::GreaterEqual => Number::GreaterThanEqual,
        M::Equal => Number::Equal,
        M::NotEqual => Number::NotEqual,
        _ => return None,
    })
}

impl OpenTerms {
    /// The profile, if it lets operations be rewritten together.
    fn rewriting_profile(&self) -> Option<Profile> {
        self.precision.filter(|profile| !profile.controls().no_contraction)
    }

    /// A new float within a set that no operation computed: an interpolated value, or a texel.
    pub fn by_itself(&mut self, set: Set) -> Word {
        let word = self.within(set);
        if let (Word::Open(id), Some(profile)) = (word, self.rewriting_profile()) {
            self.leaf_of(profile, id, set);
        }
        word
    }

    fn leaf_of(&mut self, profile: Profile, id: OpenId, set: Set) -> Option<Lane> {
        let hull = set.hull().filter(|_| set.is_bounded())?;
        let Rewriting { sets, lanes } = &mut **self.rewriting.get_or_insert_with(|| Box::new(Rewriting::under(profile)));
        let lane = sets.any_of(hull.low as f32, set, Why::Approximate).ok()?;
        lanes.insert(id, lane);
        Some(lane)
    }

    /// The lane of a word. `None` if arithmetic on the word is unbounded. Terms with cases are
    /// examined up to a nesting of `choices`.
    fn lane_of(&mut self, profile: Profile, word: Word, choices: u32) -> Option<Lane> {
        let id = match self.read(word) {
            Word::Bits(bits) => return self.lane_of_number(profile, f32::from_bits(bits)),
            Word::Address(_) => return None,
            Word::Open(id) => id,
        };
        if let Some(&lane) = self.rewriting.as_ref().and_then(|rewriting| rewriting.lanes.get(&id)) {
            return Some(lane);
        }
        // An unspecified float and a converted integer are leaves.
        let is_leaf = match self.term(id) {
            Term::Leaf(values, of, _) => values.is_some() && *of == Scalar::Float,
            Term::Apply(op, _) => op.meaning == Meaning::Convert && op.of != Scalar::Float && op.to == Scalar::Float,
            Term::Select(_, cases) if cases.len() <= MAX_CASES => {
                let words: SmallVec<[Word; MAX_CASES]> = cases.iter().map(|case| case.1).collect();
                return self.chosen_lane(profile, id, &words, choices.checked_sub(1)?);
            }
            Term::Within(_) | Term::Select(..) => false,
        };
        if !is_leaf {
            return None;
        }
        let set = self.possible(Word::Open(id)).floats();
        self.leaf_of(profile, id, set)
    }

    /// The lane of a constant. A device may take a subnormal constant for zero, each time that it
    /// reads it.
    fn lane_of_number(&mut self, profile: Profile, value: f32) -> Option<Lane> {
        if !value.is_subnormal() {
            return Some(Lane::exact(value));
        }
        let set = Set::of(Span::between(0.0, value.into())).union(Set::ZERO);
        let rewriting = self.rewriting.get_or_insert_with(|| Box::new(Rewriting::under(profile)));
        rewriting.sets.any_of(value, set, Why::Subnormal).ok()
    }

    /// The lane of a term that is one of these words.
    fn chosen_lane(&mut self, profile: Profile, id: OpenId, words: &[Word], choices: u32) -> Option<Lane> {
        let mut all: Option<Lane> = None;
        for &word in words {
            let lane = self.lane_of(profile, word, choices)?;
            let rewriting = self.rewriting.get_or_insert_with(|| Box::new(Rewriting::under(profile)));
            all = Some(match all {
                None => lane,
                Some(so_far) => rewriting.sets.either(so_far, lane)?,
            });
        }
        let (lane, rewriting) = (all?, self.rewriting.as_mut()?);
        rewriting.lanes.insert(id, lane);
        Some(lane)
    }

    /// The result of an operation on floats that a device may rewrite together with others. `None`
    /// if the profile does not allow that, or if nothing bounds the result.
    pub(super) fn rewritten(&mut self, op: Op, operands: &[Word]) -> Option<Word> {
        let profile = self.rewriting_profile()?;
        if op.of != Scalar::Float || !matches!(op.to, Scalar::Float | Scalar::Bool) || op.arity() != Some(operands.len()) {
            return None;
        }
        if op.meaning == Meaning::Convert && op.to != Scalar::Bool {
            return None;
        }
        let mut lanes: SmallVec<[Lane; 3]> = SmallVec::new();
        for &word in operands {
            lanes.push(self.lane_of(profile, word, MAX_CHOICES)?);
        }
        let rewriting = self.rewriting.get_or_insert_with(|| Box::new(Rewriting::under(profile)));
        let lane = rewriting.computed(op.meaning, &lanes)?;
        let is_decided = lane.trust.is_decided(profile);
        if op.to == Scalar::Bool {
            let truth = if is_decided { Truth::from(lane.is_true()) } else { rewriting.sets.truth(lane) };
            return (truth != Truth::BOTH).then_some(Word::Bits(u32::from(truth.may_hold)));
        }
        let (bound, integers) = match lane.float() {
            value if is_decided && value != 0.0 => (Possible::Values(vec![lane.bits]), Integers::only(lane.bits)),
            _ if is_decided => (Possible::Floats(Set::ZERO), Integers::ANY),
            _ => match rewriting.sets.operand(lane).set {
                set if set.is_any() || set.is_none() => return None,
                set => (Possible::Floats(set), Integers::ANY),
            },
        };
        let word = self.bounded(Term::Within(self.terms.len() as u32), bound, integers);
        if let (Word::Open(id), Some(rewriting)) = (word, &mut self.rewriting) {
            rewriting.lanes.insert(id, lane);
        }
        Some(word)
    }
}
