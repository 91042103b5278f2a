//! The values that a term can have.

use super::narrowed::Facts;
use super::{Integers, MAX_VALUES, OpenId, OpenTerms, Term, Word, floats, transfer};
use crate::number::sets::Set;
use crate::text::deep;
use crate::wsl::library::Meaning;
use crate::wsl::meaning::{Op, OpResult};
use crate::wsl::types::Scalar;
use smallvec::SmallVec;

/// The possible values of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Possible {
    /// One of these, in ascending order.
    Values(Vec<u32>),
    /// A float of this set.
    Floats(Set),
    /// No bound is known.
    Any,
}

impl Possible {
    /// The union of both.
    pub fn or(self, other: Possible) -> Possible {
        match (self, other) {
            (Possible::Values(mut values), Possible::Values(more)) => {
                values.extend(more);
                values.sort_unstable();
                values.dedup();
                Possible::Values(values)
            }
            (Possible::Any, _) | (_, Possible::Any) => Possible::Any,
            (a, b) => Possible::Floats(a.floats().union(b.floats())),
        }
    }

    /// The possible values as a set of floats.
    pub fn floats(&self) -> Set {
        match self {
            Possible::Values(values) => values.iter().fold(Set::NONE, |set, &bits| set.union(Set::point(f64::from(f32::from_bits(bits))))),
            Possible::Floats(set) => *set,
            Possible::Any => Set::ANY,
        }
    }

    /// The only possible value, if there is one.
    pub fn only(&self) -> Option<u32> {
        match self {
            Possible::Values(values) if values.len() == 1 => Some(values[0]),
            _ => None,
        }
    }
}

/// The possible results of an operation.
pub(super) enum Results {
    /// One of these values. The same operands always have the same result.
    Exactly(Vec<u32>),
    /// Too many values to list. The same operands always have the same result.
    Deterministic,
    /// One of these values. For some operands it is unspecified which.
    OneOf(Vec<u32>),
    /// No bound is known.
    Any,
}

/// The most assignments of values to leaves that are tried.
const MAX_TRIED: usize = 4096;
/// The most assignments that are checked for contradictions.
const MAX_RELATED: usize = 256;
/// The most terms that are followed to their leaves.
const MAX_FOLLOWED: usize = 512;
/// The most terms whose possible values are kept.
const MAX_FOUND: usize = 4096;
/// The most decisions that are compared with an assignment. They are the last ones.
const MAX_DECISIONS: usize = 64;
/// The most combinations of operands that are tried.
const MAX_COMBINATIONS: usize = 4096;

/// The possible values of a word under the current decisions. Every value is given to the leaves
/// below the word, and assignments that contradict decisions are dropped. If there are too many
/// assignments, the possible values of the word's parts are combined.
pub(super) fn possible(opens: &OpenTerms, word: Word) -> Possible {
    match opens.read(word) {
        Word::Bits(bits) => Possible::Values(vec![bits]),
        Word::Address(_) => Possible::Any,
        Word::Open(id) => {
            if let Some((possible, work)) = opens.found.borrow().get(&id) {
                // The work counts as if they were found again. Programs stop by the amount of work,
                // so it must not depend on what is kept.
                opens.count_work(*work as usize);
                return possible.clone();
            }
            let before = opens.work.get();
            let found = values_by_leaves(opens, id).map_or_else(|| possible_by_parts(opens, Word::Open(id)), Possible::Values);
            let mut possible = opens.narrowed_values(id, found);
            if let (Possible::Values(values), Some(excluded)) = (&mut possible, opens.excluded.get(&id)) {
                values.retain(|v| !excluded.contains(v));
            }
            let mut all = opens.found.borrow_mut();
            if all.len() >= MAX_FOUND {
                all.clear();
            }
            all.insert(id, (possible.clone(), opens.work.get() - before));
            possible
        }
    }
}

/// Words of terms, indexed by the terms' numbers, so that nothing is hashed.
#[derive(Clone, Debug, Default)]
struct Slots {
    /// The current round. A slot that was filled in another round is empty.
    round: u32,
    all: Vec<(u32, u32)>,
    /// The slots that were filled in this round, in order.
    filled: Vec<OpenId>,
}

impl Slots {
    /// Empties all slots.
    fn clear(&mut self, terms: usize) {
        self.filled.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.all.clear();
            self.round = 1;
        }
        if self.all.len() < terms {
            self.all.resize(terms, (0, 0));
        }
    }

    fn get(&self, id: OpenId) -> Option<u32> {
        let (round, bits) = self.all[id.0 as usize];
        (round == self.round).then_some(bits)
    }

    fn insert(&mut self, id: OpenId, bits: u32) {
        self.all[id.0 as usize] = (self.round, bits);
        self.filled.push(id);
    }

    /// Empties all but the first `filled` slots that were filled.
    fn truncate(&mut self, filled: usize) {
        for id in self.filled.drain(filled..) {
            self.all[id.0 as usize] = (0, 0);
        }
    }
}

/// The variables that a term is a function of: its undecided leaves. Leaves that may have any value
/// are replaced with terms above them that have few values.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    /// Each variable with its values.
    all: Vec<(OpenId, Vec<u32>)>,
    /// The terms that were followed, and the terms that are variables.
    seen: Slots,
    /// The number of followed terms.
    followed: usize,
    /// The number of copied values.
    copied: usize,
    /// The values of terms for one assignment of values to the variables.
    assigned: Slots,
}

/// The variables that a decided term is a function of, under the decisions about other terms.
#[derive(Clone, Debug)]
pub(super) struct Dependencies {
    /// `None` if one of them may have any value, or if there are too many.
    variables: Option<Box<[OpenId]>>,
    /// The work to find them, in visits to terms.
    work: usize,
}

impl Dependencies {
    fn of(opens: &OpenTerms, term: OpenId) -> Dependencies {
        let mut variables = Variables::of(opens);
        let bounded = parts(opens.term(term)).into_iter().all(|part| variables.add(opens, part));
        let dependencies = Dependencies { variables: bounded.then(|| variables.all.iter().map(|v| v.0).collect()), work: variables.work() };
        variables.end(opens);
        dependencies
    }
}

fn parts(term: &Term) -> SmallVec<[OpenId; 4]> {
    let below = |w: &Word| match w {
        Word::Open(id) => Some(*id),
        _ => None,
    };
    match term {
        Term::Leaf(..) | Term::Within(_) => SmallVec::new(),
        Term::Apply(_, operands) => operands.iter().filter_map(below).collect(),
        Term::Select(selector, cases) => std::iter::once(*selector).chain(cases.iter().filter_map(|c| below(&c.1))).collect(),
    }
}

impl Variables {
    /// No variables, in memory that earlier ones have left.
    fn of(opens: &OpenTerms) -> Variables {
        let mut variables = opens.spare_variables.borrow_mut().pop().unwrap_or_default();
        variables.all.clear();
        variables.seen.clear(opens.terms.len());
        (variables.followed, variables.copied) = (0, 0);
        variables
    }

    /// Leaves its memory for later variables.
    fn end(self, opens: &OpenTerms) {
        opens.spare_variables.borrow_mut().push(self);
    }

    /// The work so far, in visits to terms.
    fn work(&self) -> usize {
        self.followed + self.copied / 16
    }

    /// Whether the variables include all of these.
    fn includes(&self, others: &[OpenId]) -> bool {
        others.iter().all(|other| self.all.iter().any(|(id, _)| id == other))
    }

    /// Adds the variables of a term. False if one of them may have any value, or if too many terms
    /// were followed.
    fn add(&mut self, opens: &OpenTerms, id: OpenId) -> bool {
        if opens.decided.contains_key(&id) || self.seen.get(id).is_some() {
            return true;
        }
        self.followed += 1;
        if self.followed > MAX_FOLLOWED {
            return false;
        }
        if let Term::Within(_) = opens.term(id) {
            return false;
        }
        if let Term::Leaf(values, ..) = opens.term(id) {
            let all = values.as_ref().map_or(Possible::Any, |values| Possible::Values(values.to_vec()));
            let Possible::Values(values) = opens.narrowed_values(id, all) else { return false };
            self.add_variable(id, values);
            return true;
        }
        // A term is followed to its leaves, if it can be. Otherwise the innermost terms with few
        // values are the variables.
        let (variables, seen) = (self.all.len(), self.seen.filled.len());
        self.seen.insert(id, 0);
        if deep(|| parts(opens.term(id)).into_iter().all(|part| self.add(opens, part))) {
            return true;
        }
        self.all.truncate(variables);
        self.seen.truncate(seen);
        match possible_by_parts(opens, Word::Open(id)) {
            Possible::Values(values) => {
                self.add_variable(id, values);
                true
            }
            Possible::Floats(_) | Possible::Any => false,
        }
    }

    fn add_variable(&mut self, id: OpenId, values: Vec<u32>) {
        self.copied += values.len();
        self.seen.insert(id, 0);
        self.all.push((id, values));
    }

    /// The values of the term that has these variables, in ascending order. `None` if there are too
    /// many assignments.
    fn values(&mut self, opens: &OpenTerms, id: OpenId) -> Option<Vec<u32>> {
        // Decisions about terms over the same variables rule out assignments.
        let mut decided: SmallVec<[(OpenId, u32); 8]> = SmallVec::new();
        for &term in opens.decisions.iter().rev().take(MAX_DECISIONS) {
            let mut dependencies = opens.dependencies.borrow_mut();
            let Dependencies { variables, work } = dependencies.entry(term).or_insert_with(|| Dependencies::of(opens, term));
            // The work counts as if they were found again.
            opens.count_work(*work);
            if variables.as_ref().is_some_and(|variables| !variables.is_empty() && self.includes(variables)) {
                decided.push((term, opens.decided[&term]));
            }
        }
        let Variables { all, followed, assigned, .. } = self;
        all.sort_unstable();
        let mut count = 1usize;
        for (_, values) in &*all {
            count = count.checked_mul(values.len()).filter(|&n| n <= MAX_TRIED)?;
        }
        // Variables that are terms may share an unlisted leaf below them.
        let terms = all.iter().filter(|(id, _)| matches!(opens.term(*id), Term::Apply(..))).count();
        let related = terms > 1 && count <= MAX_RELATED;
        let mut found = Vec::new();
        opens.count_work(count * (*followed + decided.len()));
        for n in 0..count {
            let mut remaining = n;
            assigned.clear(opens.terms.len());
            for (variable, values) in &*all {
                assigned.insert(*variable, values[remaining % values.len()]);
                remaining /= values.len();
            }
            if decided.iter().all(|&(term, bits)| compute(opens, term, assigned) == Some(bits)) && (!related || agree(opens, assigned)) {
                found.push(value(opens, id, assigned)?);
            }
        }
        found.sort_unstable();
        found.dedup();
        (!found.is_empty()).then_some(found)
    }
}

/// Whether terms may have these values at once. It is false only if they certainly cannot.
fn agree(opens: &OpenTerms, assigned: &Slots) -> bool {
    let values = assigned.filled.iter().filter_map(|&id| Some((id, assigned.get(id)?)));
    Facts::agree(opens, &values.collect())
}

fn values_by_leaves(opens: &OpenTerms, id: OpenId) -> Option<Vec<u32>> {
    let mut variables = Variables::of(opens);
    let bounded = variables.add(opens, id);
    opens.count_work(variables.work());
    let found = if bounded { variables.values(opens, id) } else { None };
    variables.end(opens);
    found
}

/// The value of a term for definite leaves.
fn value(opens: &OpenTerms, id: OpenId, known: &mut Slots) -> Option<u32> {
    if let Some(bits) = known.get(id).or_else(|| opens.decided.get(&id).copied()) {
        return Some(bits);
    }
    let bits = compute(opens, id, known)?;
    known.insert(id, bits);
    Some(bits)
}

/// The value of a term from its parts, whatever was decided about it.
fn compute(opens: &OpenTerms, id: OpenId, known: &mut Slots) -> Option<u32> {
    let of = |w: Word, known: &mut Slots| match w {
        Word::Bits(bits) => Some(bits),
        Word::Open(id) => deep(|| value(opens, id, known)),
        Word::Address(_) => None,
    };
    match opens.term(id) {
        Term::Leaf(..) | Term::Within(_) => None,
        Term::Apply(op, operands) => {
            let mut definite: SmallVec<[u32; 3]> = SmallVec::new();
            for &word in operands {
                definite.push(of(word, known)?);
            }
            match opens.op_result(*op, &definite) {
                OpResult::Exactly(bits) => Some(bits),
                _ => None,
            }
        }
        Term::Select(selector, cases) => {
            let selector = of(Word::Open(*selector), known)?;
            let word = cases.iter().find(|c| c.0 == selector)?.1;
            of(word, known)
        }
    }
}

/// The possible values of a new term from those of its parts, and its bounds as an integer.
pub(super) fn bound(opens: &OpenTerms, term: &Term) -> (Possible, Integers) {
    let possible = match term {
        Term::Leaf(Some(values), ..) => {
            let mut values = values.to_vec();
            values.sort_unstable();
            Possible::Values(values)
        }
        Term::Leaf(None, ..) | Term::Within(_) => Possible::Any,
        Term::Apply(op, operands) => {
            let parts: Vec<Possible> = operands.iter().map(|&w| possible_by_parts(opens, w)).collect();
            match results_of_combinations(opens, *op, &parts) {
                Some(Results::Exactly(values) | Results::OneOf(values)) => Possible::Values(values),
                _ if op.to == Scalar::Bool => Possible::Values(vec![0, 1]),
                Some(_) => Possible::Any,
                None => {
                    let integers = opens.forward(*op, operands);
                    // If the operand may be any integer, the result may be nearly any float. That
                    // says too little to be shown.
                    let converted =
                        operands.first().map(|&w| opens.integers(w)).filter(|&from| operands.len() == 1 && from != Integers::ANY);
                    return match converted.and_then(|from| floats::of_integers(*op, from)) {
                        Some(set) => (Possible::Floats(set), Integers::ANY),
                        None => (Possible::Any, integers),
                    };
                }
            }
        }
        Term::Select(selector, cases) => {
            let selector = possible_by_parts(opens, Word::Open(*selector));
            let taken = || cases.iter().filter(|(value, _)| !matches!(&selector, Possible::Values(values) if !values.contains(value)));
            match taken().map(|(_, word)| possible_by_parts(opens, *word)).reduce(Possible::or) {
                Some(Possible::Values(values)) if values.len() <= MAX_VALUES => Possible::Values(values),
                Some(Possible::Floats(set)) => Possible::Floats(set),
                _ => {
                    let integers = taken().map(|&(_, word)| opens.integers(word)).reduce(Integers::join);
                    return (Possible::Any, integers.unwrap_or(Integers::ANY));
                }
            }
        }
    };
    let integers = match &possible {
        Possible::Values(values) => Integers::of(values.iter().copied()).unwrap_or(Integers::ANY),
        Possible::Floats(_) | Possible::Any => Integers::ANY,
    };
    (possible, integers)
}

/// The possible values of a word from those of its parts.
fn possible_by_parts(opens: &OpenTerms, word: Word) -> Possible {
    match opens.read(word) {
        Word::Bits(bits) => Possible::Values(vec![bits]),
        Word::Open(id) => opens.narrowed_values(id, opens.bounds[id.0 as usize].clone()),
        Word::Address(_) => Possible::Any,
    }
}

/// The possible results of an operation with an open operand.
pub(super) fn results(opens: &OpenTerms, op: Op, operands: &[Word]) -> Results {
    let parts: Vec<Possible> = operands.iter().map(|&w| possible(opens, w)).collect();
    if let Some(results) = results_of_combinations(opens, op, &parts) {
        return results;
    }
    let integers: SmallVec<[Integers; 3]> = operands.iter().map(|&w| opens.integers(w)).collect();
    if !is_total(op) && !transfer::is_defined(op, &integers) {
        return Results::Any;
    }
    match opens.forward(op, operands).listed() {
        Some(values) => Results::Exactly(values),
        None => Results::Deterministic,
    }
}

/// The results of an operation for each combination of its operands' values, if there are few.
fn results_of_combinations(opens: &OpenTerms, op: Op, parts: &[Possible]) -> Option<Results> {
    let all: Option<Vec<&Vec<u32>>> = parts
        .iter()
        .map(|p| match p {
            Possible::Values(values) => Some(values),
            Possible::Floats(_) | Possible::Any => None,
        })
        .collect();
    let all = all?;
    let count = all.iter().try_fold(1usize, |n, v| n.checked_mul(v.len())).filter(|&n| n <= MAX_COMBINATIONS)?;
    opens.count_work(count);
    let (mut found, mut exact) = (Vec::with_capacity(count), true);
    for n in 0..count {
        let mut remaining = n;
        let operands: SmallVec<[u32; 3]> = all
            .iter()
            .map(|values| {
                let value = values[remaining % values.len()];
                remaining /= values.len();
                value
            })
            .collect();
        match opens.op_result(op, &operands) {
            OpResult::Exactly(bits) => found.push(bits),
            OpResult::OneOf(values) => {
                exact = false;
                found.extend(values);
            }
            OpResult::Any(_) => return Some(Results::Any),
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(if exact { Results::Exactly(found) } else { Results::OneOf(found) })
}

/// The integers that the floats of a set are truncated to, if all of them are values of the type.
pub(super) fn whole_numbers(set: &Set, to: Scalar) -> Option<Integers> {
    let hull = set.hull().filter(|_| set.is_bounded())?;
    let (low, high) = (hull.low.trunc(), hull.high.trunc());
    let (least, greatest) = if to == Scalar::Int { (f64::from(i32::MIN), f64::from(i32::MAX)) } else { (0.0, f64::from(u32::MAX)) };
    if low < least || high > greatest {
        return None;
    }
    Some(Integers::wrapped(low as i128, high as i128))
}

/// Whether the operation has exactly one result for all operands.
pub(super) fn is_total(op: Op) -> bool {
    use Meaning as M;
    let integer = matches!(op.of, Scalar::Int | Scalar::Uint | Scalar::Bool);
    match op.meaning {
        M::Divide | M::Remainder | M::Clamp => false,
        M::Convert => integer || op.to == Scalar::Bool || op.to == Scalar::Float,
        M::Add
        | M::Subtract
        | M::Multiply
        | M::Negate
        | M::Equal
        | M::NotEqual
        | M::Less
        | M::LessEqual
        | M::Greater
        | M::GreaterEqual
        | M::Reinterpret
        | M::IsFinite
        | M::IsInf
        | M::IsNan
        | M::Abs
        | M::Floor
        | M::Ceil
        | M::Trunc
        | M::Frac
        | M::Identity
        | M::Plus => true,
        _ => integer,
    }
}

/// The result of comparing a number with itself.
pub(super) fn reflexive(op: Op) -> Option<bool> {
    match op.meaning {
        Meaning::Equal | Meaning::LessEqual | Meaning::GreaterEqual => Some(true),
        Meaning::NotEqual | Meaning::Less | Meaning::Greater => Some(false),
        _ => None,
    }
}

/// The result of an operation that is known because two of its operands are the same value, or
/// because one of them decides alone.
pub(super) fn identity(op: Op, operands: &[Word]) -> Option<Word> {
    use Meaning as M;
    let integer = op.of != Scalar::Float;
    match operands {
        [a] => match op.meaning {
            M::Identity | M::Plus => Some(*a),
            M::Convert | M::Reinterpret if matches!((op.of, op.to), (Scalar::Int | Scalar::Uint, Scalar::Int | Scalar::Uint)) => Some(*a),
            M::Reinterpret => Some(*a),
            _ => None,
        },
        [a, b] if a == b => match op.meaning {
            M::Subtract | M::Xor if integer => Some(Word::Bits(0)),
            M::Equal | M::LessEqual | M::GreaterEqual if integer => Some(Word::Bits(1)),
            M::NotEqual if integer => Some(Word::Bits(0)),
            M::Less | M::Greater => Some(Word::Bits(0)),
            M::And | M::Or => Some(*a),
            M::Min | M::Max if integer => Some(*a),
            _ => None,
        },
        [a, b] if integer => {
            let (word, bits, right) = match (a, b) {
                (Word::Bits(bits), word) => (*word, *bits, false),
                (word, Word::Bits(bits)) => (*word, *bits, true),
                _ => return None,
            };
            match (op.meaning, bits) {
                (M::Multiply | M::And, 0) => Some(Word::Bits(0)),
                (M::Multiply, 1) | (M::Add | M::Or | M::Xor, 0) => Some(word),
                (M::Subtract | M::ShiftLeft | M::ShiftRight, 0) | (M::Divide, 1) if right => Some(word),
                (M::Remainder, 1) if right => Some(Word::Bits(0)),
                (M::Or, u32::MAX) if op.of != Scalar::Bool => Some(Word::Bits(u32::MAX)),
                (M::And, u32::MAX) if op.of != Scalar::Bool => Some(word),
                (M::Or, 1) if op.of == Scalar::Bool => Some(Word::Bits(1)),
                (M::And, 1) if op.of == Scalar::Bool => Some(word),
                _ => None,
            }
        }
        _ => None,
    }
}
