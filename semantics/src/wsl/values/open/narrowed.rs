//! Decisions narrow the terms below them: `i < 3` leaves fewer values of i, and of the terms that i
//! is made from.

use super::integers::Integers;
use super::{OpenId, OpenTerms, Possible, Term, Word, transfer};
use crate::number::Profile;
use crate::number::sets::{Set, Span};
use crate::wsl::library::Meaning;
use crate::wsl::meaning::Op;
use crate::wsl::types::Scalar;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The words that are left, as integers and as floats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Narrowed {
    integers: Integers,
    floats: Set,
}

const ALL: Narrowed = Narrowed { integers: Integers::ANY, floats: Set::ANY };

/// The most terms that one decision narrows.
const MAX_TOLD: usize = 64;

/// A comparison of a float with a definite one. `holds` says for less, equal and greater floats
/// whether the comparison holds.
struct Comparison {
    id: OpenId,
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
            [Word::Open(id), Word::Bits(bits)] => Some(Comparison { id, bits, holds }),
            [Word::Bits(bits), Word::Open(id)] => Some(Comparison { id, bits, holds: [holds[2], holds[1], holds[0]] }),
            _ => None,
        }
    }

    /// The floats for which the comparison holds, or fails if `holds` is false. If operations are
    /// `exact` by IEEE 754, any definite number may be compared with. Otherwise only a normal one
    /// says something.
    fn left(&self, holds: bool, exact: bool) -> Set {
        let x = f32::from_bits(self.bits);
        // Subnormals may be flushed, and then compare like zeros.
        if x.is_nan() || !exact && !x.is_normal() {
            return Set::ANY;
        }
        // The two zeros are equal.
        let (low, high) = if x == 0.0 { (-0.0, 0.0) } else { (x, x) };
        let [less, equal, greater] = self.holds.map(|order| order == holds);
        let mut set = Set::NONE;
        let mut add = |low: f32, high: f32| set = set.with(Span::between(low.into(), high.into()));
        if less && x != f32::NEG_INFINITY {
            add(f32::NEG_INFINITY, low.next_down());
        }
        if equal {
            add(low, high);
        }
        if greater && x != f32::INFINITY {
            add(high.next_up(), f32::INFINITY);
        }
        // For NaN only `!=` holds.
        let unordered = self.holds == [true, false, true];
        if unordered == holds { set.or_nan() } else { set }
    }
}

/// Facts that follow from bounds of terms, in addition to what is known already.
pub(super) struct Facts<'a> {
    opens: &'a OpenTerms,
    integers: FxHashMap<OpenId, Integers>,
    floats: FxHashMap<OpenId, Set>,
    unequal: Vec<(OpenId, u32)>,
    told: usize,
    contradict: bool,
}

impl Facts<'_> {
    fn new(opens: &OpenTerms) -> Facts<'_> {
        Facts { opens, integers: FxHashMap::default(), floats: FxHashMap::default(), unequal: Vec::new(), told: 0, contradict: false }
    }

    /// Whether terms may have these values at once. It is false only if they certainly cannot.
    pub(super) fn agree(opens: &OpenTerms, values: &FxHashMap<OpenId, u32>) -> bool {
        let mut facts = Facts::new(opens);
        for (&id, &bits) in values {
            facts.tell(id, Integers::only(bits));
        }
        opens.worked(facts.told);
        !facts.contradict
    }

    fn integers(&self, word: Word) -> Integers {
        match word {
            Word::Open(id) => self.integers.get(&id).copied().unwrap_or_else(|| self.opens.integers(word)),
            other => self.opens.integers(other),
        }
    }

    /// Narrows a term to these bounds, and its operands to the bounds that follow.
    fn tell(&mut self, id: OpenId, bounds: Integers) {
        let mut left = vec![(id, bounds)];
        let end = self.told + MAX_TOLD;
        while let Some((id, bounds)) = left.pop().filter(|_| self.told < end) {
            self.told += 1;
            let known = self.integers(Word::Open(id));
            let Some(met) = known.meet(bounds) else {
                self.contradict = true;
                continue;
            };
            if met == known {
                continue;
            }
            self.integers.insert(id, met);
            let opens = self.opens;
            let Term::Apply(op, operands) = opens.term(id) else { continue };
            let operands: SmallVec<[Word; 3]> = operands.iter().map(|&w| opens.read(w)).collect();
            let parts: SmallVec<[Integers; 3]> = operands.iter().map(|&w| self.integers(w)).collect();
            let follows: SmallVec<[Integers; 3]> = match (met.single(), op.to, &operands[..], &parts[..]) {
                (Some(bits), Scalar::Bool, &[_], _) if op.of == Scalar::Float => {
                    self.classified(*op, operands[0], bits != 0);
                    continue;
                }
                (Some(bits), Scalar::Bool, &[a, b], &[x, y])
                    if matches!(op.meaning, Meaning::Equal | Meaning::Less) || op.of == Scalar::Float =>
                {
                    if op.of == Scalar::Float {
                        self.compared_floats(*op, &operands, bits != 0);
                        continue;
                    }
                    if let (Meaning::Equal, 0, [Word::Open(id), Word::Bits(other)] | [Word::Bits(other), Word::Open(id)]) =
                        (op.meaning, bits, [a, b])
                    {
                        self.unequal.push((id, other));
                    }
                    match transfer::told(*op, x, y, bits != 0) {
                        Some(told) => SmallVec::from_slice(&told),
                        None => {
                            self.contradict = true;
                            continue;
                        }
                    }
                }
                _ => (0..parts.len()).map(|place| transfer::backward(*op, met, &parts, place)).collect(),
            };
            left.extend(operands.iter().zip(follows).filter_map(|(&word, follows)| match word {
                Word::Open(id) => Some((id, follows)),
                _ => None,
            }));
        }
    }

    fn compared_floats(&mut self, op: Op, operands: &[Word], holds: bool) {
        let exact = self.opens.precision.is_none();
        // Under a profile that lets comparisons with NaN go either way, they say nothing about
        // the float.
        if !matches!(self.opens.precision, None | Some(Profile::Strict)) {
            return;
        }
        let (id, left) = match (Comparison::of(op, operands), operands) {
            (Some(comparison), _) => (comparison.id, comparison.left(holds, exact)),
            // Only NaN is not equal to itself.
            (None, &[Word::Open(id), other]) if other == Word::Open(id) && exact && op.meaning == Meaning::Equal => {
                let numbers = Set::of(Span::between(f64::NEG_INFINITY, f64::INFINITY));
                (id, if holds { numbers } else { Set::NAN })
            }
            _ => return,
        };
        self.tell_floats(id, left);
    }

    /// Narrows a float after it was decided whether it is infinite, or whether it is finite.
    fn classified(&mut self, op: Op, word: Word, holds: bool) {
        let (Word::Open(id), None) = (word, self.opens.precision) else { return };
        let infinite = Set::point(f64::INFINITY).union(Set::point(f64::NEG_INFINITY));
        let finite = Set::of(Span::between(f32::MIN.into(), f32::MAX.into()));
        match (op.meaning, holds) {
            (Meaning::IsInf, true) => self.tell_floats(id, infinite),
            (Meaning::IsInf, false) => self.tell_floats(id, finite.or_nan()),
            (Meaning::IsFinite, true) => self.tell_floats(id, finite),
            (Meaning::IsFinite, false) => self.tell_floats(id, infinite.or_nan()),
            _ => {}
        }
    }

    fn tell_floats(&mut self, id: OpenId, left: Set) {
        let known = self.floats.get(&id).copied().unwrap_or_else(|| self.opens.floats_of(id));
        let met = known.meet(left);
        self.contradict |= met.is_none();
        self.floats.insert(id, met);
    }
}

impl OpenTerms {
    /// The bounds of a word as an integer, from those of its parts and from decisions.
    pub(super) fn integers(&self, word: Word) -> Integers {
        match self.read(word) {
            Word::Bits(bits) => Integers::only(bits),
            Word::Address(_) => Integers::ANY,
            Word::Open(id) => {
                let mut integers = self.integers[id.0 as usize];
                if let Some(narrowed) = self.narrowed.get(&id) {
                    integers = integers.or_both(narrowed.integers);
                }
                let excluded = self.excluded.get(&id).into_iter().flatten();
                excluded.fold(integers, |left, &bits| left.without(bits).unwrap_or(left))
            }
        }
    }

    /// The bounds of a term as a float.
    fn floats_of(&self, id: OpenId) -> Set {
        let set = self.bounds[id.0 as usize].floats();
        let met = self.narrowed.get(&id).map_or(set, |narrowed| set.meet(narrowed.floats));
        if met.is_none() { set } else { met }
    }

    /// Records that a term was decided to have that value, and what follows from it.
    pub(super) fn tell(&mut self, id: OpenId, bits: u32) {
        self.learnt();
        let mut facts = Facts::new(self);
        facts.tell(id, Integers::only(bits));
        let Facts { integers, floats, unequal, .. } = facts;
        let mut integers: Vec<(OpenId, Integers)> = integers.into_iter().collect();
        integers.sort_unstable_by_key(|&(id, _)| id);
        for (id, integers) in integers {
            match integers.single() {
                Some(bits) => self.settle(id, bits),
                None => self.narrowed.entry(id).or_insert(ALL).integers = integers,
            }
        }
        for (id, floats) in floats {
            self.narrowed.entry(id).or_insert(ALL).floats = floats;
        }
        for (id, bits) in unequal {
            self.excluded.entry(id).or_default().push(bits);
        }
        self.settle(id, bits);
    }

    /// The result of a comparison of integers, if it is known.
    pub(super) fn compared(&self, op: Op, operands: &[Word]) -> Option<bool> {
        match *operands {
            [a, b] if op.to == Scalar::Bool => transfer::compared(op, self.integers(a), self.integers(b)),
            _ => None,
        }
    }

    /// The possible values of a term that decisions leave.
    pub(super) fn left_of(&self, id: OpenId, possible: Possible) -> Possible {
        let integers = self.integers(Word::Open(id));
        let floats = self.narrowed.get(&id).map_or(Set::ANY, |narrowed| narrowed.floats);
        let is_left = |bits: u32| integers.contains(bits) && (floats.is_any() || floats.contains(f32::from_bits(bits).into()));
        // If nothing is left, no execution comes here. The values then stay as they are.
        match possible {
            Possible::Values(mut values) => {
                if values.iter().any(|&v| is_left(v)) {
                    values.retain(|&v| is_left(v));
                }
                Possible::Values(values)
            }
            Possible::Floats(set) => {
                let met = set.meet(floats);
                of_floats(if met.is_none() { set } else { met })
            }
            Possible::Any => match integers.listed() {
                Some(values) => Possible::Values(values),
                None if floats.is_any() && floats.has_nan() => Possible::Any,
                None => of_floats(floats),
            },
        }
    }
}

/// The floats of a set, or its only float as a value.
fn of_floats(set: Set) -> Possible {
    match set.only() {
        Some(x) => Possible::Values(vec![(x as f32).to_bits()]),
        None => Possible::Floats(set),
    }
}
