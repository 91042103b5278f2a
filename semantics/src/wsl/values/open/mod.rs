//! Unspecified values: words that are symbols (seed 004: "unspecified value", "unspecified
//! in-bounds value"; frozen, ERRATA WSL-D16).
//!
//! A [`Word`] is bits, an address, or a term over *leaves*. A leaf is an unspecified value that was
//! met once. A term has the same value at every use. Equal terms over deterministic operations are
//! one term. If the leaves of a term have few values, the term's values are found by giving the
//! leaves every value. Otherwise they are found by bounds, which hold every value that an execution
//! may show, and perhaps others. If a term decides something (a branch, a case), a [`Ways`]
//! decides. The term then keeps that value for the rest of the run.
//!
//! | module | contents |
//! |---|---|
//! | `possible` | the possible values of a term: from its leaves, or from its parts |
//! | `integers`, `transfer` | known bits and ends of integers; operations on them, both ways |
//! | `linear` | sums of multiples of terms: equal ones are one term, and differences are known |
//! | `canonical` | canonical forms: `a > b` is `b < a`, `a >= b` is `!(a < b)` |
//! | `floats` | operations on floats within sets |
//! | `rewritten` | operations on floats that a profile lets a device rewrite together |
//! | `narrowed` | what decisions say about the terms below |
//! | `ways` | the ways of a run |

mod canonical;
mod floats;
mod integers;
mod linear;
mod narrowed;
mod possible;
mod rewritten;
mod transfer;
mod ways;

pub use integers::Integers;
pub use possible::Possible;
pub use transfer::Replacement as BoundReplacement;
pub use ways::{Ways, explore};

use crate::number::sets::Set;
use crate::number::{Inexact, Interval, Profile};
use crate::wsl::choice::Strategy;
use crate::wsl::meaning::{Evaluator, Op, OpResult, Replacement, Unspecified, scalar};
use crate::wsl::memory::Address;
use crate::wsl::types::Scalar;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The index of a term in [`OpenTerms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpenId(pub u32);

/// 4 bytes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// Definite bits.
    Bits(u32),
    /// An unspecified value, or a value that was computed from unspecified values.
    Open(OpenId),
    /// The first word of a pointer or array reference.
    Address(Address),
}

impl Word {
    /// The bits, if the word has definite ones.
    pub fn definite(self) -> Option<u32> {
        match self {
            Word::Bits(bits) => Some(bits),
            _ => None,
        }
    }
}

/// A term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::wsl) enum Term {
    /// An unspecified value: one of these, or any of the type. The number makes each
    /// leaf different.
    Leaf(Option<SmallVec<[u32; 4]>>, Scalar, u32),
    /// A float within the bounds of the term. The number makes each such term different.
    Within(u32),
    /// An operation that is deterministic for all values of its operands.
    Apply(Op, SmallVec<[Word; 3]>),
    /// The word that is listed for the value of the other term.
    Select(OpenId, Box<[(u32, Word)]>),
}

/// The most terms of a run.
pub const MAX_TERMS: usize = 1 << 20;
/// The most values that the bounds of all terms list together.
const MAX_LISTED: usize = 1 << 24;
/// The most visits to terms in a run, to find the possible values of terms.
const MAX_WORK: u64 = 1 << 28;
/// So many visits to terms take as long as a step of a thread.
const WORK_PER_STEP: u64 = 64;
/// The most values of a leaf or of an index that are listed one by one.
pub const MAX_VALUES: usize = 4096;

/// The unspecified values of a run, and the decisions about them.
#[derive(Clone, Debug)]
pub struct OpenTerms {
    /// The treatment of unspecified values.
    pub strategy: Strategy,
    /// The thread that runs. The choices of each thread are numbered separately.
    pub thread: u32,
    /// The precision profile under which floats are sets. Without one, floats are the correctly
    /// rounded results.
    pub precision: Option<Profile>,
    /// The decisions at branches.
    pub ways: Ways,
    /// The function that replaces [`scalar`], if a bug is planted.
    pub planted: Option<Replacement>,
    /// The function that replaces the bounds of integers, if a bug is planted.
    pub planted_bound: Option<BoundReplacement>,
    terms: Vec<Term>,
    /// The possible values of each term, from those of its parts.
    bounds: Vec<Possible>,
    /// The bounds of each term as an integer. They hold every word if it is no integer.
    integers: Vec<Integers>,
    /// The terms that are sums of others. `by_linear` has the first term for each sum.
    linear: FxHashMap<OpenId, linear::Linear>,
    by_linear: FxHashMap<linear::Linear, OpenId>,
    /// The number of values that the bounds list.
    listed: usize,
    index: FxHashMap<Term, OpenId>,
    decided: FxHashMap<OpenId, u32>,
    /// The values that a term was decided not to have.
    excluded: FxHashMap<OpenId, SmallVec<[u32; 4]>>,
    /// What decided comparisons left of a term's values.
    narrowed: FxHashMap<OpenId, narrowed::Narrowed>,
    /// The possible values of computed terms that a device may rewrite together.
    rewriting: Option<Box<rewritten::Rewriting>>,
    /// The decided terms, in order.
    decisions: Vec<OpenId>,
    choices: FxHashMap<u32, u64>,
    /// Whether an unspecified value was chosen or met.
    met_unspecified: bool,
    full: bool,
    /// The number of visits to terms, to find the possible values of terms.
    work: std::cell::Cell<u64>,
    /// The possible values of terms under the current decisions, with the work to find them.
    found: std::cell::RefCell<FxHashMap<OpenId, (Possible, u64)>>,
    /// The variables that decided terms are functions of, under the current decisions.
    dependencies: std::cell::RefCell<FxHashMap<OpenId, possible::Dependencies>>,
    /// Memory for variables, to be used again.
    spare_variables: std::cell::RefCell<Vec<possible::Variables>>,
}

impl OpenTerms {
    /// A run that has met no unspecified value.
    pub fn new(strategy: Strategy, ways: Ways) -> OpenTerms {
        OpenTerms {
            strategy,
            thread: 0,
            precision: None,
            ways,
            planted: None,
            planted_bound: None,
            terms: Vec::new(),
            bounds: Vec::new(),
            integers: Vec::new(),
            linear: FxHashMap::default(),
            by_linear: FxHashMap::default(),
            listed: 0,
            index: FxHashMap::default(),
            decided: FxHashMap::default(),
            excluded: FxHashMap::default(),
            narrowed: FxHashMap::default(),
            rewriting: None,
            decisions: Vec::new(),
            choices: FxHashMap::default(),
            met_unspecified: false,
            full: false,
            work: std::cell::Cell::new(0),
            found: std::cell::RefCell::default(),
            dependencies: std::cell::RefCell::default(),
            spare_variables: std::cell::RefCell::default(),
        }
    }

    /// Whether an unspecified value was met, whether chosen or carried.
    pub fn met_unspecified(&self) -> bool {
        self.met_unspecified
    }

    /// Whether there were more terms than [`MAX_TERMS`], or it took too much work to find their
    /// possible values. Computed words then mean nothing.
    pub fn full(&self) -> bool {
        self.full || self.work.get() > MAX_WORK
    }

    /// The work to find the possible values of terms, in steps of threads. Fuel bounds it too.
    pub fn steps_of_work(&self) -> u64 {
        self.work.get() / WORK_PER_STEP
    }

    fn count_work(&self, terms: usize) {
        self.work.set(self.work.get().saturating_add(terms as u64));
    }

    /// The number of choices that a thread has made.
    pub fn chosen_by(&self, thread: u32) -> u64 {
        self.choices.get(&thread).copied().unwrap_or(0)
    }

    fn number(&mut self) -> u64 {
        let number = self.choices.entry(self.thread).or_default();
        *number += 1;
        *number - 1
    }

    /// A new unspecified value: one of these, or any of the type. A definite run takes the first,
    /// or `first`.
    pub fn leaf(&mut self, values: Option<&[u32]>, of: Scalar, first: u32) -> Word {
        self.met_unspecified = true;
        if self.strategy != Strategy::Carry {
            let number = self.number();
            return Word::Bits(self.strategy.one_of(self.thread, number, values, of, first).unwrap_or(first));
        }
        if let Some([only]) = values {
            return Word::Bits(*only);
        }
        let values = if of == Scalar::Bool && values.is_none() { Some(&[0, 1][..]) } else { values };
        let term = Term::Leaf(values.map(SmallVec::from_slice), of, self.terms.len() as u32);
        self.push(term)
    }

    /// A new float within a set. It is definite if the set has only one float.
    pub fn within(&mut self, set: Set) -> Word {
        match set.only() {
            Some(x) => Word::Bits((x as f32).to_bits()),
            None if set.is_any() => self.leaf(None, Scalar::Float, 0),
            None => {
                let term = Term::Within(self.terms.len() as u32);
                self.bounded(term, Possible::Floats(set), Integers::ANY)
            }
        }
    }

    fn push(&mut self, term: Term) -> Word {
        self.push_sum(term, None)
    }

    /// Adds a term that is a sum.
    fn push_sum(&mut self, term: Term, sum: Option<&linear::Linear>) -> Word {
        if let Some(&id) = self.index.get(&term) {
            return self.read(Word::Open(id));
        }
        let (bound, mut integers) = possible::bound(self, &term);
        if let Some(sum) = sum {
            integers = integers.or_both(self.sum_within(sum));
        }
        self.bounded(term, bound, integers)
    }

    /// Adds a term with these possible values and bounds.
    fn bounded(&mut self, term: Term, bound: Possible, integers: Integers) -> Word {
        if self.terms.len() >= MAX_TERMS || self.listed >= MAX_LISTED {
            self.full = true;
            return Word::Bits(0);
        }
        let id = OpenId(self.terms.len() as u32);
        if let Possible::Values(values) = &bound {
            self.listed += values.len();
        }
        self.bounds.push(bound);
        self.integers.push(integers);
        self.index.insert(term.clone(), id);
        self.terms.push(term);
        Word::Open(id)
    }

    /// The word under the current decisions. A decided term becomes definite bits.
    pub fn read(&self, word: Word) -> Word {
        match word {
            Word::Open(id) => self.decided.get(&id).map_or(word, |&bits| Word::Bits(bits)),
            other => other,
        }
    }

    fn term(&self, id: OpenId) -> &Term {
        &self.terms[id.0 as usize]
    }

    /// The values that a word may have, in no order. `None` if they are more than [`MAX_VALUES`].
    pub fn values(&self, word: Word) -> Option<Vec<u32>> {
        match possible::possible(self, word) {
            Possible::Values(values) => Some(values),
            Possible::Floats(_) | Possible::Any => None,
        }
    }

    /// The possible values of a word under the current decisions.
    pub fn possible(&self, word: Word) -> Possible {
        possible::possible(self, word)
    }

    /// Decides for the rest of the run which of `options` the word is. `None` if the decision is
    /// that the word is something else.
    pub fn decide(&mut self, word: Word, options: &[u32]) -> Option<u32> {
        let word = self.read(word);
        let Word::Open(id) = word else { return word.definite().filter(|bits| options.contains(bits)) };
        let (possible_options, other): (Vec<u32>, bool) = match self.values(word) {
            Some(values) => {
                let other = values.iter().any(|v| !options.contains(v));
                (options.iter().copied().filter(|o| values.contains(o)).collect(), other)
            }
            None => {
                let integers = self.integers(word);
                (options.iter().copied().filter(|&o| !self.excludes(id, o) && integers.contains(o)).collect(), true)
            }
        };
        let count = possible_options.len() + usize::from(other);
        let taken = if count <= 1 { 0 } else { self.ways.next(self.thread, count as u32) as usize };
        let Some(&bits) = possible_options.get(taken) else {
            self.excluded.entry(id).or_default().extend(possible_options);
            self.forget_found_values();
            return None;
        };
        self.decide_value(id, bits);
        Some(bits)
    }

    /// Whether it was decided that the term does not have this value.
    fn excludes(&self, id: OpenId, bits: u32) -> bool {
        self.excluded.get(&id).is_some_and(|all| all.contains(&bits))
    }

    /// Forgets the possible values that were found, because the decisions change.
    fn forget_found_values(&mut self) {
        self.found.get_mut().clear();
        self.dependencies.get_mut().clear();
    }

    fn settle(&mut self, id: OpenId, bits: u32) {
        self.forget_found_values();
        if self.decided.insert(id, bits).is_none() {
            self.decisions.push(id);
        }
    }

    /// The word that `cases` lists for the value of `which`. That value is one of the
    /// listed values.
    pub fn select(&mut self, selector: Word, cases: &[(u32, Word)]) -> Word {
        let first = match cases {
            [] => return Word::Bits(0),
            [(_, first), ..] => self.read(*first),
        };
        match self.read(selector) {
            Word::Bits(bits) => cases.iter().find(|c| c.0 == bits).map_or(first, |c| self.read(c.1)),
            Word::Open(id) => {
                let cases: Box<[(u32, Word)]> = cases.iter().map(|&(v, w)| (v, self.assuming(id, v, w))).collect();
                match cases.iter().all(|c| c.1 == cases[0].1) {
                    true => cases[0].1,
                    false => self.push(Term::Select(id, cases)),
                }
            }
            Word::Address(_) => first,
        }
    }

    /// The word under the condition that the term `selector` has that value.
    fn assuming(&self, selector: OpenId, value: u32, word: Word) -> Word {
        match self.read(word) {
            Word::Open(id) if id == selector => Word::Bits(value),
            Word::Open(id) => match self.term(id) {
                Term::Select(same, cases) if *same == selector => {
                    cases.iter().find(|c| c.0 == value).map_or(Word::Open(id), |c| self.assuming(selector, value, c.1))
                }
                _ => Word::Open(id),
            },
            known => known,
        }
    }

    fn op_result(&self, op: Op, operands: &[u32]) -> OpResult {
        let result = scalar(op, operands);
        match self.planted {
            Some(planted) => planted(op, operands, result),
            None => result,
        }
    }

    fn word_of_result(&mut self, result: OpResult, to: Scalar) -> Word {
        match result {
            OpResult::Exactly(bits) => Word::Bits(bits),
            OpResult::OneOf(values) => self.leaf(Some(&values), to, values.first().copied().unwrap_or(0)),
            OpResult::Any(first) => self.leaf(None, to, first),
        }
    }

    /// The result of a comparison of integers, if it was decided that the operand does not have the
    /// other's value.
    fn known_unequal(&self, op: Op, operands: &[Word]) -> Option<bool> {
        use crate::wsl::library::Meaning as M;
        let ([Word::Open(id), Word::Bits(bits)] | [Word::Bits(bits), Word::Open(id)]) = operands else { return None };
        match op.meaning {
            M::Equal | M::NotEqual if op.of != Scalar::Float && self.excludes(*id, *bits) => Some(op.meaning == M::NotEqual),
            _ => None,
        }
    }

    /// The result of an operation with an open operand.
    fn apply_to_open(&mut self, op: Op, operands: &[Word]) -> Word {
        let identity = |opens: &OpenTerms| possible::identity(op, operands).filter(|_| !opens.may_vary(op, operands));
        if let Some(known) = self.canonical(op, operands).or_else(|| identity(self)) {
            return known;
        }
        let operands = &self.ordered(op, operands)[..];
        if let Some(known) = self.known_unequal(op, operands).or_else(|| self.compared(op, operands)).or_else(|| self.related(op, operands))
        {
            return Word::Bits(u32::from(known));
        }
        if let Some(word) = self.apply_to_sums(op, operands) {
            return word;
        }
        if let Some(word) = self.apply_to_sets(op, operands) {
            return word;
        }
        match possible::results(self, op, operands) {
            // There is one result for all values of the operands.
            possible::Results::Exactly(values) if values.len() == 1 => Word::Bits(values[0]),
            possible::Results::Exactly(_) | possible::Results::Deterministic => self.push(Term::Apply(op, SmallVec::from_slice(operands))),
            // The result is unspecified for some operands. So it is a new value, and only its
            // possible values are known.
            possible::Results::OneOf(values) => self.leaf(Some(&values), op.to, values.first().copied().unwrap_or(0)),
            possible::Results::Any => self.leaf(None, op.to, 0),
        }
    }
}

impl Evaluator for OpenTerms {
    type Word = Word;

    fn bits(&mut self, bits: u32) -> Word {
        Word::Bits(bits)
    }

    fn scalar(&mut self, op: Op, operands: &[Word]) -> Word {
        let (mut known, mut bits): (SmallVec<[Word; 3]>, SmallVec<[u32; 3]>) = (SmallVec::new(), SmallVec::new());
        for &word in operands {
            let word = self.read(word);
            known.push(word);
            if let Word::Bits(definite) = word {
                bits.push(definite);
            }
        }
        if bits.len() < known.len() {
            return self.apply_to_open(op, &known);
        }
        let result = self.op_result(op, &bits);
        if let (OpResult::Exactly(_) | OpResult::OneOf(_), Some(_)) = (&result, self.precision)
            && let Some(word) = self.apply_to_sets(op, &known)
        {
            return word;
        }
        self.word_of_result(result, op.to)
    }

    fn below(&mut self, index: Word, bound: u32, otherwise: u32) -> Word {
        let index = self.read(index);
        if index.definite().is_some_and(|bits| bits < bound) {
            return index;
        }
        match self.possible(index) {
            Possible::Values(values) if values.iter().all(|&v| v < bound) => index,
            possible => {
                // A value out of bounds stands for any value in bounds, and so does an index that
                // is not known. Of a listed index, the values in bounds stand for themselves.
                let all = match possible {
                    Possible::Values(values) if values.iter().any(|&v| v < bound) && index.definite().is_none() => {
                        let fallback = self.unspecified_below(otherwise);
                        let cases: Vec<(u32, Word)> =
                            values.iter().map(|&v| (v, if v < bound { Word::Bits(v) } else { fallback })).collect();
                        return self.select(index, &cases);
                    }
                    _ => otherwise,
                };
                self.unspecified_below(all)
            }
        }
    }

    fn pick(&mut self, index: Word, words: &[Word]) -> Word {
        match self.read(index) {
            Word::Bits(bits) => words.get(bits as usize).map_or(Word::Bits(0), |&w| self.read(w)),
            index => {
                let cases: Vec<(u32, Word)> = words.iter().enumerate().map(|(i, &w)| (i as u32, w)).collect();
                self.select(index, &cases)
            }
        }
    }
}

impl Unspecified for OpenTerms {
    fn definite(&self, word: Word) -> Option<u32> {
        self.read(word).definite()
    }

    fn bounds(&self, word: Word) -> Option<Inexact> {
        match self.read(word) {
            Word::Bits(bits) => Some(Inexact::exact(f64::from(f32::from_bits(bits)))).filter(|x| x.value.is_finite()),
            word => {
                let set = self.possible(word).floats();
                let hull = set.hull().filter(|hull| set.is_bounded() && hull.low.is_finite() && hull.high.is_finite())?;
                Some(Inexact { value: hull.low, allowed: Interval::between(hull.low, hull.high) })
            }
        }
    }

    fn unspecified(&mut self, values: Option<&[u32]>, of: Scalar, first: u32) -> Word {
        self.leaf(values, of, first)
    }

    fn undefined(&mut self, what: [u32; 2], values: Option<&[u32]>, of: Scalar, first: u32) -> Word {
        match self.strategy.undefined(what, values, of, first) {
            Some(bits) => {
                self.met_unspecified = true;
                Word::Bits(bits)
            }
            None => self.leaf(values, of, first),
        }
    }

    fn within(&mut self, set: Set) -> Word {
        self.by_itself(set)
    }

    fn takes_formula(&self, definite: bool) -> bool {
        definite && self.precision.is_none() || self.strategy != Strategy::Carry
    }
}

impl OpenTerms {
    /// A new unspecified `uint` below the bound.
    fn unspecified_below(&mut self, bound: u32) -> Word {
        if self.strategy != Strategy::Carry {
            self.met_unspecified = true;
            let number = self.number();
            return Word::Bits(self.strategy.choose(self.thread, number, u64::from(bound)).unwrap_or(0) as u32);
        }
        if bound as usize > MAX_VALUES {
            self.full = true;
            return Word::Bits(0);
        }
        let values: Vec<u32> = (0..bound).collect();
        self.leaf(Some(&values), Scalar::Uint, 0)
    }
}
