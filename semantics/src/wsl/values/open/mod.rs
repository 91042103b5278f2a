//! Unspecified values: words that are symbols (seed 004: "unspecified value", "unspecified
//! in-bounds value"; frozen, ERRATA WSL-D16).
//!
//! A [`Word`] is bits, an address, or a term over *leaves*, each an unspecified value that was met
//! once. A term is the same value at every use; equal terms over deterministic operations are one
//! term. What values a term can have is found by giving its leaves every value, where those are
//! few, and otherwise by bounds that hold every value that an execution may show, and perhaps
//! others. Where a term decides something (a branch, a case), a [`Ways`] decides, and the term
//! keeps that value for the rest of the run.
//!
//! | module | what it holds |
//! |---|---|
//! | `possible` | what a term may be: by its leaves, or by its parts |
//! | `integers`, `transfer` | known bits and ends of integers; operations on them, both ways |
//! | `linear` | sums of multiples of terms: equal ones are one term, and differences are known |
//! | `canonical` | operations that are others: `a > b` is `b < a`, `a >= b` is `!(a < b)` |
//! | `floats` | operations on floats within sets |
//! | `rewritten` | the same where a profile lets a device rewrite operations together |
//! | `narrowed` | what decisions say of the terms below |
//! | `ways` | the ways that a run may go |

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
use crate::wsl::meaning::{Given, Lanes, Op, Replacement, Unspecified, scalar};
use crate::wsl::memory::Address;
use crate::wsl::types::Scalar;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The number of a term in [`Opens`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpenId(pub u32);

/// 4 bytes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// Definite bits.
    Bits(u32),
    /// An unspecified value, or what was computed from some.
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
    /// An unspecified value: one of these, or any of the type. No two leaves are the same.
    Leaf(Option<SmallVec<[u32; 4]>>, Scalar, u32),
    /// A float within bounds, which are the term's. No two are the same.
    Within(u32),
    /// An operation that is deterministic for all values of its operands.
    Apply(Op, SmallVec<[Word; 3]>),
    /// The word beside the value that the term has.
    Among(OpenId, Box<[(u32, Word)]>),
}

/// The most terms of a run.
pub const MAX_TERMS: usize = 1 << 20;
/// The most values that the bounds of all terms list.
const MAX_LISTED: usize = 1 << 24;
/// The most terms of a run that are looked at to find out what others may be, each as
/// often as it is.
const MAX_WORK: u64 = 1 << 28;
/// To look at so many terms takes as long as a step of a thread.
const WORK_PER_STEP: u64 = 64;
/// The most values that a leaf or an index is given one by one.
pub const MAX_VALUES: usize = 4096;

/// What is unspecified in a run, and what was decided of it.
#[derive(Clone, Debug)]
pub struct Opens {
    /// How unspecified values are met.
    pub strategy: Strategy,
    /// Which thread runs; its choices are numbered apart.
    pub thread: u32,
    /// Under which profile of precision floats are sets; without one they are
    /// the correctly rounded results.
    pub precision: Option<Profile>,
    /// How the decisions go.
    pub ways: Ways,
    /// What does arithmetic instead of [`scalar`], if a bug is planted.
    pub planted: Option<Replacement>,
    /// What gives the bounds of integers instead, if a bug is planted.
    pub planted_bound: Option<BoundReplacement>,
    terms: Vec<Term>,
    /// What each term may be, by what its parts may be.
    bounds: Vec<Possible>,
    /// What each term, taken for an integer, is within; every word if it is no integer.
    integers: Vec<Integers>,
    /// The terms that are sums of others, and the first of those that are the same sum.
    linear: FxHashMap<OpenId, linear::Linear>,
    by_linear: FxHashMap<linear::Linear, OpenId>,
    /// How many values the bounds list.
    listed: usize,
    index: FxHashMap<Term, OpenId>,
    decided: FxHashMap<OpenId, u32>,
    /// What a term was decided not to be.
    excluded: FxHashMap<OpenId, SmallVec<[u32; 4]>>,
    /// What comparisons that were decided left of a term.
    narrowed: FxHashMap<OpenId, narrowed::Narrowed>,
    /// What computed terms may come out as where they may be rewritten together.
    rewriting: Option<Box<rewritten::Rewriting>>,
    /// What was decided, in order.
    decisions: Vec<OpenId>,
    choices: FxHashMap<u32, u64>,
    /// Whether something was chosen or met that the specification leaves open.
    met: bool,
    full: bool,
    /// How many terms were looked at to find out what others may be.
    work: std::cell::Cell<u64>,
    /// What terms may be by what is decided now, and how much work that was to find out.
    found: std::cell::RefCell<FxHashMap<OpenId, (Possible, u64)>>,
    /// What decided terms are functions of, by what is decided now.
    over: std::cell::RefCell<FxHashMap<OpenId, possible::Over>>,
    /// Memory for what terms are functions of.
    spare: std::cell::RefCell<Vec<possible::Variables>>,
}

impl Opens {
    /// With nothing met so far.
    pub fn new(strategy: Strategy, ways: Ways) -> Opens {
        Opens {
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
            met: false,
            full: false,
            work: std::cell::Cell::new(0),
            found: std::cell::RefCell::default(),
            over: std::cell::RefCell::default(),
            spare: std::cell::RefCell::default(),
        }
    }

    /// Whether an unspecified value was met, whether chosen or carried.
    pub fn met(&self) -> bool {
        self.met
    }

    /// Whether there were more terms than [`MAX_TERMS`], or too much was tried to find out what
    /// they may be; what is computed then means nothing.
    pub fn full(&self) -> bool {
        self.full || self.work.get() > MAX_WORK
    }

    /// What was done to find out what terms may be, in steps of threads: fuel bounds it too.
    pub fn steps_of_work(&self) -> u64 {
        self.work.get() / WORK_PER_STEP
    }

    fn worked(&self, terms: usize) {
        self.work.set(self.work.get().saturating_add(terms as u64));
    }

    /// How many choices a thread has made.
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
        self.met = true;
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

    /// A new float within a set; a definite one if the set has no other.
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

    /// The term, which is a sum.
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

    /// A new term that may be this.
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

    /// The word as it is known by now: what was decided is definite.
    pub fn read(&self, word: Word) -> Word {
        match word {
            Word::Open(id) => self.decided.get(&id).map_or(word, |&bits| Word::Bits(bits)),
            other => other,
        }
    }

    fn term(&self, id: OpenId) -> &Term {
        &self.terms[id.0 as usize]
    }

    /// The values that a word may have, in no order; none if they are more than [`MAX_VALUES`].
    pub fn values(&self, word: Word) -> Option<Vec<u32>> {
        match possible::possible(self, word) {
            Possible::Values(values) => Some(values),
            Possible::Floats(_) | Possible::Any => None,
        }
    }

    /// What a word may be, with what was decided so far.
    pub fn possible(&self, word: Word) -> Possible {
        possible::possible(self, word)
    }

    /// Which of `options` the word is, decided for the rest of the run; none if it may be something
    /// else, and that is what was decided.
    pub fn decide(&mut self, word: Word, options: &[u32]) -> Option<u32> {
        let word = self.read(word);
        let Word::Open(id) = word else { return word.definite().filter(|bits| options.contains(bits)) };
        let (left, other): (Vec<u32>, bool) = match self.values(word) {
            Some(values) => {
                let other = values.iter().any(|v| !options.contains(v));
                (options.iter().copied().filter(|o| values.contains(o)).collect(), other)
            }
            None => {
                let integers = self.integers(word);
                (options.iter().copied().filter(|&o| !self.excludes(id, o) && integers.contains(o)).collect(), true)
            }
        };
        let count = left.len() + usize::from(other);
        let taken = if count <= 1 { 0 } else { self.ways.next(self.thread, count as u32) as usize };
        let Some(&bits) = left.get(taken) else {
            self.excluded.entry(id).or_default().extend(left);
            self.learnt();
            return None;
        };
        self.tell(id, bits);
        Some(bits)
    }

    /// Whether the term was decided not to be this.
    fn excludes(&self, id: OpenId, bits: u32) -> bool {
        self.excluded.get(&id).is_some_and(|all| all.contains(&bits))
    }

    /// What is decided changes: what terms may be is to be found anew.
    fn learnt(&mut self) {
        self.found.get_mut().clear();
        self.over.get_mut().clear();
    }

    fn settle(&mut self, id: OpenId, bits: u32) {
        self.learnt();
        if self.decided.insert(id, bits).is_none() {
            self.decisions.push(id);
        }
    }

    /// The word beside the value that `which` has, one of the cases'.
    pub fn among(&mut self, which: Word, cases: &[(u32, Word)]) -> Word {
        let first = match cases {
            [] => return Word::Bits(0),
            [(_, first), ..] => self.read(*first),
        };
        match self.read(which) {
            Word::Bits(bits) => cases.iter().find(|c| c.0 == bits).map_or(first, |c| self.read(c.1)),
            Word::Open(id) => {
                let cases: Box<[(u32, Word)]> = cases.iter().map(|&(v, w)| (v, self.beside(id, v, w))).collect();
                match cases.iter().all(|c| c.1 == cases[0].1) {
                    true => cases[0].1,
                    false => self.push(Term::Among(id, cases)),
                }
            }
            Word::Address(_) => first,
        }
    }

    /// What the word is where the term `which` has that value.
    fn beside(&self, which: OpenId, value: u32, word: Word) -> Word {
        match self.read(word) {
            Word::Open(id) if id == which => Word::Bits(value),
            Word::Open(id) => match self.term(id) {
                Term::Among(same, cases) if *same == which => {
                    cases.iter().find(|c| c.0 == value).map_or(Word::Open(id), |c| self.beside(which, value, c.1))
                }
                _ => Word::Open(id),
            },
            known => known,
        }
    }

    fn given(&self, op: Op, operands: &[u32]) -> Given {
        let given = scalar(op, operands);
        match self.planted {
            Some(planted) => planted(op, operands, given),
            None => given,
        }
    }

    fn of_given(&mut self, given: Given, to: Scalar) -> Word {
        match given {
            Given::Exactly(bits) => Word::Bits(bits),
            Given::OneOf(values) => self.leaf(Some(&values), to, values.first().copied().unwrap_or(0)),
            Given::Any(first) => self.leaf(None, to, first),
        }
    }

    /// What a comparison of integers gives because the operand was decided not to be the other.
    fn known_unequal(&self, op: Op, operands: &[Word]) -> Option<bool> {
        use crate::wsl::library::Meaning as M;
        let ([Word::Open(id), Word::Bits(bits)] | [Word::Bits(bits), Word::Open(id)]) = operands else { return None };
        match op.meaning {
            M::Equal | M::NotEqual if op.of != Scalar::Float && self.excludes(*id, *bits) => Some(op.meaning == M::NotEqual),
            _ => None,
        }
    }

    /// An operation one of whose operands is open.
    fn over_open(&mut self, op: Op, operands: &[Word]) -> Word {
        let identity = |opens: &Opens| possible::identity(op, operands).filter(|_| !opens.may_vary(op, operands));
        if let Some(known) = self.canonical(op, operands).or_else(|| identity(self)) {
            return known;
        }
        let operands = &self.ordered(op, operands)[..];
        if let Some(known) = self.known_unequal(op, operands).or_else(|| self.compared(op, operands)).or_else(|| self.related(op, operands))
        {
            return Word::Bits(u32::from(known));
        }
        if let Some(word) = self.by_sums(op, operands) {
            return word;
        }
        if let Some(word) = self.over_sets(op, operands) {
            return word;
        }
        match possible::results(self, op, operands) {
            // One result, whatever the operands are.
            possible::Results::Exactly(values) if values.len() == 1 => Word::Bits(values[0]),
            possible::Results::Exactly(_) | possible::Results::Deterministic => self.push(Term::Apply(op, SmallVec::from_slice(operands))),
            // Unspecified for some operands: a new value, of which no more is known than what it
            // may be.
            possible::Results::OneOf(values) => self.leaf(Some(&values), op.to, values.first().copied().unwrap_or(0)),
            possible::Results::Any => self.leaf(None, op.to, 0),
        }
    }
}

impl Lanes for Opens {
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
            return self.over_open(op, &known);
        }
        let given = self.given(op, &bits);
        if let (Given::Exactly(_) | Given::OneOf(_), Some(_)) = (&given, self.precision)
            && let Some(word) = self.over_sets(op, &known)
        {
            return word;
        }
        self.of_given(given, op.to)
    }

    fn below(&mut self, index: Word, bound: u32, otherwise: u32) -> Word {
        let index = self.read(index);
        if index.definite().is_some_and(|bits| bits < bound) {
            return index;
        }
        match self.possible(index) {
            Possible::Values(values) if values.iter().all(|&v| v < bound) => index,
            possible => {
                // Each value out of bounds stands for any in bounds, and so does an index that is
                // not known: the values in bounds are its own.
                let all = match possible {
                    Possible::Values(values) if values.iter().any(|&v| v < bound) && index.definite().is_none() => {
                        let fallback = self.unspecified_below(otherwise);
                        let cases: Vec<(u32, Word)> =
                            values.iter().map(|&v| (v, if v < bound { Word::Bits(v) } else { fallback })).collect();
                        return self.among(index, &cases);
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
                self.among(index, &cases)
            }
        }
    }
}

impl Unspecified for Opens {
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
                self.met = true;
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

impl Opens {
    /// A new unspecified `uint` below the bound.
    fn unspecified_below(&mut self, bound: u32) -> Word {
        if self.strategy != Strategy::Carry {
            self.met = true;
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
