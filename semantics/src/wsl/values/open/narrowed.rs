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
const MAX_NARROWED: usize = 64;

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
    fn matching_floats(&self, holds: bool, exact: bool) -> Set {
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
    narrowed_count: usize,
    contradicts: bool,
}

impl Facts<'_> {
    fn new(opens: &OpenTerms) -> Facts<'_> {
        Facts {
            opens,
            integers: FxHashMap::default(),
            floats: FxHashMap::default(),
            unequal: Vec::new(),
            narrowed_count: 0,
            contradicts: false,
        }
    }

    /// Whether terms may have these values at once. It is false only if they certainly cannot.
    pub(super) fn agree(opens: &OpenTerms, values: &FxHashMap<OpenId, u32>) -> bool {
        let mut facts = Facts::new(opens);
        for (&id, &bits) in values {
            facts.narrow(id, Integers::only(bits));
        }
        opens.count_work(facts.narrowed_count);
        !facts.contradicts
    }

    fn integers(&self, word: Word) -> Integers {
        match word {
            Word::Open(id) => self.integers.get(&id).copied().unwrap_or_else(|| self.opens.integers(word)),
            other => self.opens.integers(other),
        }
    }

    /// Narrows a term to these bounds, and its operands to the bounds that follow.
    fn narrow(&mut self, id: OpenId, bounds: Integers) {
        let mut todo = vec![(id, bounds)];
        let end = self.narrowed_count + MAX_NARROWED;
        while let Some((id, bounds)) = todo.pop().filter(|_| self.narrowed_count < end) {
            self.narrowed_count += 1;
            let known = self.integers(Word::Open(id));
            let Some(narrower) = known.meet(bounds) else {
                self.contradicts = true;
                continue;
            };
            if narrower == known {
                continue;
            }
            self.integers.insert(id, narrower);
            let opens = self.opens;
            let Term::Apply(op, operands) = opens.term(id) else { continue };
            let operands: SmallVec<[Word; 3]> = operands.iter().map(|&w| opens.read(w)).collect();
            let parts: SmallVec<[Integers; 3]> = operands.iter().map(|&w| self.integers(w)).collect();
            let implied: SmallVec<[Integers; 3]> = match (narrower.single(), op.to, &operands[..], &parts[..]) {
                (Some(bits), Scalar::Bool, &[_], _) if op.of == Scalar::Float => {
                    self.narrow_classified(*op, operands[0], bits != 0);
                    continue;
                }
                (Some(bits), Scalar::Bool, &[a, b], &[x, y])
                    if matches!(op.meaning, Meaning::Equal | Meaning::Less) || op.of == Scalar::Float =>
                {
                    if op.of == Scalar::Float {
                        self.narrow_compared_floats(*op, &operands, bits != 0);
                        continue;
                    }
                    if let (Meaning::Equal, 0, [Word::Open(id), Word::Bits(other)] | [Word::Bits(other), Word::Open(id)]) =
                        (op.meaning, bits, [a, b])
                    {
                        self.unequal.push((id, other));
                    }
                    match transfer::operands_after_comparison(*op, x, y, bits != 0) {
                        Some(narrowed) => SmallVec::from_slice(&narrowed),
                        None => {
                            self.contradicts = true;
                            continue;
                        }
                    }
                }
                _ => (0..parts.len()).map(|place| transfer::backward(*op, narrower, &parts, place)).collect(),
            };
            todo.extend(operands.iter().zip(implied).filter_map(|(&word, implied)| match word {
                Word::Open(id) => Some((id, implied)),
                _ => None,
            }));
        }
    }

    fn narrow_compared_floats(&mut self, op: Op, operands: &[Word], holds: bool) {
        let exact = self.opens.precision.is_none();
        // Under a profile that lets comparisons with NaN go either way, they say nothing about
        // the float.
        if !matches!(self.opens.precision, None | Some(Profile::Strict)) {
            return;
        }
        let (id, floats) = match (Comparison::of(op, operands), operands) {
            (Some(comparison), _) => (comparison.id, comparison.matching_floats(holds, exact)),
            // Only NaN is not equal to itself.
            (None, &[Word::Open(id), other]) if other == Word::Open(id) && exact && op.meaning == Meaning::Equal => {
                let numbers = Set::of(Span::between(f64::NEG_INFINITY, f64::INFINITY));
                (id, if holds { numbers } else { Set::NAN })
            }
            _ => return,
        };
        self.narrow_floats(id, floats);
    }

    /// Narrows a float after it was decided whether it is infinite, or whether it is finite.
    fn narrow_classified(&mut self, op: Op, word: Word, holds: bool) {
        let (Word::Open(id), None) = (word, self.opens.precision) else { return };
        let infinite = Set::point(f64::INFINITY).union(Set::point(f64::NEG_INFINITY));
        let finite = Set::of(Span::between(f32::MIN.into(), f32::MAX.into()));
        match (op.meaning, holds) {
            (Meaning::IsInf, true) => self.narrow_floats(id, infinite),
            (Meaning::IsInf, false) => self.narrow_floats(id, finite.or_nan()),
            (Meaning::IsFinite, true) => self.narrow_floats(id, finite),
            (Meaning::IsFinite, false) => self.narrow_floats(id, infinite.or_nan()),
            _ => {}
        }
    }

    fn narrow_floats(&mut self, id: OpenId, floats: Set) {
        let known = self.floats.get(&id).copied().unwrap_or_else(|| self.opens.floats_of(id));
        let narrower = known.meet(floats);
        self.contradicts |= narrower.is_none();
        self.floats.insert(id, narrower);
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
        let narrower = self.narrowed.get(&id).map_or(set, |narrowed| set.meet(narrowed.floats));
        if narrower.is_none() { set } else { narrower }
    }

    /// Records that a term was decided to have that value, and what follows from it.
    pub(super) fn decide_value(&mut self, id: OpenId, bits: u32) {
        self.forget_found_values();
        let mut facts = Facts::new(self);
        facts.narrow(id, Integers::only(bits));
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
    pub(super) fn narrowed_values(&self, id: OpenId, possible: Possible) -> Possible {
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
                let narrower = set.meet(floats);
                of_floats(if narrower.is_none() { set } else { narrower })
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
