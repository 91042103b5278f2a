//! λV reduction: e → e', report §4 corrected, every applicable reduct with its rule and place.
//!
//! let and func are by name. The arguments of a rec-func are values before it unfolds (LV-5). The
//! engine below is the reference, for reading and for judging [`super::machine`]. It makes one new
//! term per step.
//!
//! Absent on purpose: reduction under binders. Only closed terms reduce, so a substituted argument
//! is closed and nothing can be captured.

use super::builtin::Builtin;
use super::resolve::Program;
use super::syntax::Span;
use super::terms::{Extension, Node, Range, Replacement, Substitute, TermId, Terms};
use super::types::Value;
use crate::number::sets::{Exploration, Observation, Sets, Unsettled, observe};
use crate::number::{Arithmetic, Lane};
use crate::outcome::{Limit, Outcome, Stuck, TimeLimit};
use crate::random::Random;
use crate::rule::Rule;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// The terms that only reduction makes: a value, by its number (see [`Reduction::value`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueId(pub u32);

impl Extension for ValueId {}

/// Which theorem's reduction is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Theorem {
    /// Arguments of rec-func and rec reduce to values first (LV-5).
    #[default]
    Corrected,
    /// As §4 prints it: rec-func unfolds by name. The gaps of LV-3 are filled all the same, or no
    /// condition could ever be decided.
    Printed,
}

/// The place of a redex: the index of the item at each list on the way down.
pub type Path = SmallVec<[u32; 8]>;

/// One way in which a term reduces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduct {
    /// The rule that rewrites the redex.
    pub rule: Rule,
    /// The redex.
    pub at: Path,
    /// The congruence rules that lead to the redex, outermost first.
    pub within: SmallVec<[Rule; 8]>,
    /// The redex before.
    pub redex: TermId,
    /// The whole term after.
    pub next: TermId,
}

/// Which reduct a run follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The leftmost.
    First,
    /// Drawn from this seed.
    Random(u64),
}

/// A rule's function: the reducts of `e` by that rule. `all` asks for every one, otherwise the
/// first will do.
type Apply = fn(&mut Reduction, TermId, bool) -> Result<Vec<Reduct>, Limit>;

/// The rules in the report's order, then the corrections.
const RULES: [(Rule, Apply); 10] = [
    (Rule::LvELet, Reduction::e_let),
    (Rule::LvEIfTrue, Reduction::e_if_true),
    (Rule::LvEIfFalse, Reduction::e_if_false),
    (Rule::LvEIfCond, Reduction::e_if_cond),
    (Rule::LvEFunc, Reduction::e_func),
    (Rule::LvERecArg, Reduction::e_rec_arg),
    (Rule::LvERecFunc, Reduction::e_rec_func),
    (Rule::LvEArg, Reduction::e_arg),
    (Rule::LvEBuiltin, Reduction::e_builtin),
    (Rule::LvEApp, Reduction::e_app),
];

/// Where tests plant bugs: beside the rules, never in them.
#[derive(Clone, Copy, Default)]
pub struct Planted {
    /// Sees a rule's reducts of a term and may change, drop or add some.
    pub reducts: Option<Decorate>,
    /// Replaces the substitution.
    pub substitute: Option<Substitute<ValueId>>,
}

/// A replacement for a rule's reducts of a term.
pub type Decorate = fn(&mut Reduction, Rule, TermId, Vec<Reduct>) -> Result<Vec<Reduct>, Limit>;

/// The setting of a reduction: the pixel, the arithmetic, the theorem.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The fragment's coordinate.
    pub frag_coord: [Lane; 4],
    /// The arithmetic of δ.
    pub arithmetic: Arithmetic,
    /// The rules.
    pub theorem: Theorem,
    /// Planted bugs.
    pub planted: Planted,
    /// The most terms of one run.
    pub max_terms: usize,
}

impl Setting {
    /// The pixel (x, y), counted from the top left: its coordinate is (x + 0.5, y + 0.5, 0, 1).
    pub fn at_pixel(x: u32, y: u32) -> Setting {
        Setting {
            frag_coord: frag_coord(x, y),
            arithmetic: Arithmetic::default(),
            theorem: Theorem::default(),
            planted: Planted::default(),
            max_terms: 4 << 20,
        }
    }
}

/// The fragment coordinate of a pixel: x + 0.5, y + 0.5, depth 0, 1/w = 1.
pub fn frag_coord(x: u32, y: u32) -> [Lane; 4] {
    [x as f32 + 0.5, y as f32 + 0.5, 0.0, 1.0].map(Lane::fragment_input)
}

/// A run of the relation: its terms and values.
pub struct Reduction {
    /// The terms made so far; source terms keep their indices.
    pub terms: Terms<ValueId>,
    values: Vec<Value>,
    value_index: FxHashMap<u64, Vec<u32>>,
    setting: Setting,
    substitute: Substitute<ValueId>,
    /// The sets, in a run over sets.
    sets: Option<Sets>,
    /// Why a run over sets cannot go on, if it cannot.
    unsettled: Option<Unsettled>,
    time: Option<TimeLimit>,
}

/// What a device must show of a term whose definite value is `value`, component by component. If
/// components are not decided, this follows every way that the term may reduce.
pub fn explore(program: &Program, e: TermId, value: &Value, setting: &Setting, fuel: u64, exploration: Exploration) -> Observation {
    observe(exploration, &value.lanes, |sets| {
        let mut reduction = Reduction::new(program, *setting);
        reduction.sets = Some(sets.clone());
        let outcome = reduction.run(e, Strategy::First, fuel, &mut |_, _, _| {});
        if let Some(after) = reduction.sets.take() {
            *sets = after;
        }
        match (reduction.unsettled, outcome) {
            (Some(unsettled), _) => Err(unsettled),
            (None, Outcome::Observed(value)) => Ok(value.lanes),
            (None, other) => Err(Unsettled::ended(&other)),
        }
    })
}

impl Reduction {
    /// Begins with the terms of a program.
    pub fn new(program: &Program, setting: Setting) -> Reduction {
        Reduction {
            terms: Terms::from_source(&program.terms, setting.max_terms),
            values: Vec::new(),
            value_index: FxHashMap::default(),
            setting,
            substitute: setting.planted.substitute.unwrap_or(Terms::substitute),
            sets: None,
            unsettled: None,
            time: None,
        }
    }

    /// The same reduction with a time limit.
    pub fn until(self, time: Option<TimeLimit>) -> Reduction {
        Reduction { time, ..self }
    }

    /// Every reduct of `e`, leftmost redex first. Empty if `e` is a value or stuck.
    pub fn step(&mut self, e: TermId) -> Result<Vec<Reduct>, Limit> {
        self.reducts(e, true)
    }

    fn reducts(&mut self, e: TermId, all: bool) -> Result<Vec<Reduct>, Limit> {
        super::terms::deep(|| {
            let mut found = Vec::new();
            for (rule, apply) in RULES {
                let mut by_rule = apply(self, e, all)?;
                if let Some(planted) = self.setting.planted.reducts {
                    by_rule = planted(self, rule, e, by_rule)?;
                }
                found.append(&mut by_rule);
                if !all && !found.is_empty() {
                    break;
                }
            }
            Ok(found)
        })
    }

    /// (let ((id1 e1) … (idn en)) e) → e[e1/id1, …, en/idn] [lv/e-let, 000 §4; LV-4: printed one
    /// after the other]
    fn e_let(&mut self, e: TermId, _: bool) -> Result<Vec<Reduct>, Limit> {
        let Node::Let { values, body, .. } = self.terms.node(e) else { return Ok(Vec::new()) };
        let args = self.items(values);
        let next = (self.substitute)(&mut self.terms, body, Replacement { args: &args, rec: None })?;
        Ok(axiom(Rule::LvELet, e, next))
    }

    /// (if true e2 e3) → e2 [lv/e-if-true, 000 §4]
    fn e_if_true(&mut self, e: TermId, _: bool) -> Result<Vec<Reduct>, Limit> {
        match self.conditional(e) {
            Some([e1, e2, _]) if self.truth(e1, e) == Some(true) => Ok(axiom(Rule::LvEIfTrue, e, e2)),
            _ => Ok(Vec::new()),
        }
    }

    /// (if false e2 e3) → e3 [lv/e-if-false, 000 §4; LV-3: no rule in print]
    fn e_if_false(&mut self, e: TermId, _: bool) -> Result<Vec<Reduct>, Limit> {
        match self.conditional(e) {
            Some([e1, _, e3]) if self.truth(e1, e) == Some(false) => Ok(axiom(Rule::LvEIfFalse, e, e3)),
            _ => Ok(Vec::new()),
        }
    }

    /// e1 → e1'
    /// ────────────────────────────────
    /// (if e1 e2 e3) → (if e1' e2 e3) [lv/e-if-cond, 000 §4; LV-3: no rule in print]
    fn e_if_cond(&mut self, e: TermId, all: bool) -> Result<Vec<Reduct>, Limit> {
        match self.conditional(e) {
            Some(_) => self.congruence(Rule::LvEIfCond, e, 1, all),
            None => Ok(Vec::new()),
        }
    }

    /// ((func (id1 … idn) e) e1 … en) → e[e1/id1, …, en/idn] [lv/e-func, 000 §4; LV-4: printed one
    /// after the other]
    fn e_func(&mut self, e: TermId, _: bool) -> Result<Vec<Reduct>, Limit> {
        let Some((Node::Func { names, body }, args)) = self.application(e) else { return Ok(Vec::new()) };
        if names.len() != args.len() {
            return Ok(Vec::new());
        }
        let next = (self.substitute)(&mut self.terms, body, Replacement { args: &args, rec: None })?;
        Ok(axiom(Rule::LvEFunc, e, next))
    }

    /// ei → ei'
    /// ───────────────────────────────────────────────────────────────────────────────────────────
    /// ((rec-func (id1 … idn) e) … ei …) → ((rec-func (id1 … idn) e) … ei' …) [lv/e-rec-arg, 000
    /// §4; LV-5: no rule in print]
    fn e_rec_arg(&mut self, e: TermId, all: bool) -> Result<Vec<Reduct>, Limit> {
        match self.application(e) {
            Some((Node::RecFunc { .. }, args)) if self.setting.theorem == Theorem::Corrected => {
                self.argument_congruence(Rule::LvERecArg, e, args.len(), all)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// ((rec-func (id1 … idn) e) v1 … vn) → e[v1/id1, …, vn/idn, (rec-func (id1 … idn) e)/rec]
    ///                                                        [lv/e-rec-func, 000 §4; LV-4, LV-5:
    ///                                                        printed with ei for vi]
    fn e_rec_func(&mut self, e: TermId, _: bool) -> Result<Vec<Reduct>, Limit> {
        let Some((Node::RecFunc { names, body }, args)) = self.application(e) else { return Ok(Vec::new()) };
        let ready = self.setting.theorem == Theorem::Printed || args.iter().all(|&arg| self.is_value(arg));
        if names.len() != args.len() || !ready {
            return Ok(Vec::new());
        }
        let rec = Some(self.head(e));
        let next = (self.substitute)(&mut self.terms, body, Replacement { args: &args, rec })?;
        Ok(axiom(Rule::LvERecFunc, e, next))
    }

    /// ei → ei'
    /// ─────────────────────────────────────────
    /// (builtin … ei …) → (builtin … ei' …) [lv/e-arg, 000 §4; LV-3: no rule in print]
    fn e_arg(&mut self, e: TermId, all: bool) -> Result<Vec<Reduct>, Limit> {
        match self.application(e) {
            Some((Node::Builtin(_), args)) => self.argument_congruence(Rule::LvEArg, e, args.len(), all),
            _ => Ok(Vec::new()),
        }
    }

    /// (builtin v1 … vn) → δ(builtin, v1, …, vn) [lv/e-builtin, 000 §4]
    fn e_builtin(&mut self, e: TermId, _: bool) -> Result<Vec<Reduct>, Limit> {
        let Some((Node::Builtin(builtin), args)) = self.application(e) else { return Ok(Vec::new()) };
        let values: Option<SmallVec<[Value; 4]>> = args.iter().map(|&arg| self.value(arg)).collect();
        match values.and_then(|values| self.delta(builtin, &values, e)) {
            Some(value) => {
                let span = self.terms.span(e);
                let next = self.add_value(value, span)?;
                Ok(axiom(Rule::LvEBuiltin, e, next))
            }
            None => Ok(Vec::new()),
        }
    }

    /// e0 → e0'
    /// ──────────────────────────────────
    /// (e0 e1 … en) → (e0' e1 … en) [lv/e-app, 000 §4]
    fn e_app(&mut self, e: TermId, all: bool) -> Result<Vec<Reduct>, Limit> {
        match self.application(e) {
            Some((Node::List(_) | Node::Let { .. }, _)) => self.congruence(Rule::LvEApp, e, 0, all),
            _ => Ok(Vec::new()),
        }
    }

    /// δ of the redex `e`; in a run over sets, with cells.
    fn delta(&mut self, builtin: Builtin, values: &[Value], e: TermId) -> Option<Value> {
        let operands: SmallVec<[&Value; 4]> = values.iter().collect();
        let Setting { frag_coord, arithmetic, .. } = &self.setting;
        let Some(sets) = &mut self.sets else { return builtin.apply(&operands, frag_coord, arithmetic) };
        sets.stand_at(self.terms.span(e).start);
        let value = builtin.apply_over(sets, &operands, frag_coord, arithmetic);
        self.record_unsettled(value).flatten()
    }

    /// The result, if the run over sets can go on. Otherwise records why not, and no rule applies.
    fn record_unsettled<T>(&mut self, result: Result<T, Unsettled>) -> Option<T> {
        result.map_err(|unsettled| self.unsettled = Some(unsettled)).ok()
    }

    /// The reducts of the list `e` in which its item `i` is reduced.
    fn congruence(&mut self, rule: Rule, e: TermId, i: usize, all: bool) -> Result<Vec<Reduct>, Limit> {
        let Node::List(range) = self.terms.node(e) else { return Ok(Vec::new()) };
        let mut items = self.items(range);
        let mut reducts = self.reducts(items[i], all)?;
        for reduct in &mut reducts {
            items[i] = reduct.next;
            let span = self.terms.span(e);
            reduct.next = self.terms.add_list(&items, span)?;
            reduct.at.insert(0, i as u32);
            reduct.within.insert(0, rule);
        }
        Ok(reducts)
    }

    fn argument_congruence(&mut self, rule: Rule, e: TermId, args: usize, all: bool) -> Result<Vec<Reduct>, Limit> {
        let mut found = Vec::new();
        for i in 1..=args {
            found.append(&mut self.congruence(rule, e, i, all)?);
            if !all && !found.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    fn items(&self, range: Range) -> SmallVec<[TermId; 6]> {
        SmallVec::from_slice(self.terms.items(range))
    }

    /// The head of `(e0 e1 … en)` and its arguments.
    fn application(&self, e: TermId) -> Option<(Node<ValueId>, SmallVec<[TermId; 6]>)> {
        let Node::List(range) = self.terms.node(e) else { return None };
        let (&head, args) = self.terms.items(range).split_first()?;
        Some((self.terms.node(head), SmallVec::from_slice(args)))
    }

    fn head(&self, list: TermId) -> TermId {
        match self.terms.node(list) {
            Node::List(range) => self.terms.items(range)[0],
            other => unreachable!("an application is a list, not {other:?}"),
        }
    }

    fn conditional(&self, e: TermId) -> Option<[TermId; 3]> {
        match self.application(e)? {
            (Node::If, operands) => operands.as_slice().try_into().ok(),
            _ => None,
        }
    }

    /// The truth value of the redex's condition `e`. In a run over sets this is the decision for
    /// it, which stays the same for every call.
    fn truth(&mut self, e: TermId, redex: TermId) -> Option<bool> {
        let value = self.value(e).filter(|value| value.ty == super::types::Ground::BOOL)?;
        let Some(sets) = &mut self.sets else { return Some(value.lanes[0].is_true()) };
        sets.stand_at(self.terms.span(redex).start);
        let holds = sets.decide(value.lanes[0]);
        self.record_unsettled(holds)
    }

    /// Whether `e` is a value.
    pub fn is_value(&self, e: TermId) -> bool {
        matches!(self.terms.node(e), Node::Num(_) | Node::Bool(_) | Node::Ext(_))
    }

    /// The value of `e`. `None` if `e` is no value.
    pub fn value(&self, e: TermId) -> Option<Value> {
        match self.terms.node(e) {
            Node::Num(bits) => Some(Value::num(f32::from_bits(bits))),
            Node::Bool(b) => Some(Value::bool(b)),
            Node::Ext(ValueId(i)) => Some(self.values[i as usize].clone()),
            _ => None,
        }
    }

    /// The value with this number.
    pub fn value_of(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }

    /// Adds a value as a term with this span.
    pub fn add_value(&mut self, value: Value, span: Span) -> Result<TermId, Limit> {
        let mut hasher = FxHasher::default();
        value.bits().for_each(|b| b.hash(&mut hasher));
        let bucket = self.value_index.entry(hasher.finish()).or_default();
        let id = match bucket.iter().find(|&&i| self.values[i as usize] == value) {
            Some(&i) => i,
            None => {
                let i = self.values.len() as u32;
                self.values.push(value);
                bucket.push(i);
                i
            }
        };
        self.terms.add(Node::Ext(ValueId(id)), span)
    }

    /// Reduces `e` until it is a value, at most `fuel` steps; `sink` sees each step with the term
    /// before it.
    ///
    /// A tail call that comes back to its own frame with bit-identical arguments never ends: that
    /// is [`Outcome::Diverges`].
    pub fn run(&mut self, e: TermId, strategy: Strategy, fuel: u64, sink: &mut dyn FnMut(&Reduction, TermId, &Reduct)) -> Outcome<Value> {
        let mut random = match strategy {
            Strategy::First => Random::new(0),
            Strategy::Random(seed) => Random::new(seed),
        };
        let mut frames = Frames::default();
        let mut term = e;
        for step in 0..=fuel {
            if let Some(value) = self.value(term) {
                return Outcome::Observed(value);
            }
            if step == fuel {
                break;
            }
            if let Some(limit) = TimeLimit::passed(self.time) {
                return Outcome::Limit(limit);
            }
            let mut reducts = match self.reducts(term, strategy != Strategy::First) {
                Ok(reducts) => reducts,
                Err(limit) => return Outcome::Limit(limit),
            };
            if reducts.is_empty() {
                return Outcome::Stuck(self.stuck(term));
            }
            let chosen = match strategy {
                Strategy::First => 0,
                Strategy::Random(_) => (random.bits() % reducts.len() as u64) as usize,
            };
            let reduct = reducts.swap_remove(chosen);
            sink(self, term, &reduct);
            if frames.comes_back(self, &reduct) {
                return Outcome::Diverges("a rec-func is entered again with bit-identical arguments".into());
            }
            term = reduct.next;
        }
        Outcome::OutOfFuel
    }

    /// Whether two calls `((rec-func …) v1 … vn)` are of one rec-func with bit-identical values.
    fn same_call(&self, a: TermId, b: TermId) -> bool {
        if a == b {
            return true;
        }
        let (Some((_, xs)), Some((_, ys))) = (self.application(a), self.application(b)) else { return false };
        let same_bits = |(&x, &y): (&TermId, &TermId)| match (self.value(x), self.value(y)) {
            (Some(x), Some(y)) => x.same_bits(&y) && (self.sets.is_none() || x == y),
            _ => false,
        };
        self.head(a) == self.head(b) && xs.len() == ys.len() && xs.iter().zip(&ys).all(same_bits)
    }

    /// The outcomes that some order of reduction reaches. `None` if there are more than `limit`
    /// terms to look at.
    pub fn explore(&mut self, e: TermId, limit: usize) -> Option<Vec<Outcome<Value>>> {
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut todo = vec![e];
        let mut endings: Vec<Outcome<Value>> = Vec::new();
        while let Some(term) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            if seen.len() > limit {
                return None;
            }
            let ending = match self.step(term) {
                Ok(reducts) if !reducts.is_empty() => {
                    todo.extend(reducts.iter().map(|r| r.next));
                    continue;
                }
                Ok(_) => self.value(term).map_or_else(|| Outcome::Stuck(self.stuck(term)), Outcome::Observed),
                Err(limit) => Outcome::Limit(limit),
            };
            if !endings.contains(&ending) {
                endings.push(ending);
            }
        }
        Some(endings)
    }

    /// Why no rule applies: the innermost culprit, and what the nearest rule needs.
    pub fn stuck(&self, e: TermId) -> Stuck {
        let span = self.terms.span(e);
        let at = format!("bytes {}..{}", span.start, span.end);
        let inner = |e: TermId| (!self.is_value(e)).then(|| self.stuck(e));
        let why = match self.terms.node(e) {
            Node::List(range) => match self.terms.items(range).split_first() {
                None => "the empty list does not reduce".into(),
                Some((&head, args)) => match self.terms.node(head) {
                    Node::List(_) | Node::Let { .. } => return self.stuck(head),
                    Node::If if args.len() == 3 => match inner(args[0]) {
                        Some(stuck) => return stuck,
                        None => format!("{} and {} need a Boolean condition", Rule::LvEIfTrue, Rule::LvEIfFalse),
                    },
                    Node::If => format!("{} needs a condition and two branches", Rule::LvEIfTrue),
                    Node::Func { names, .. } => format!("{} needs {} arguments", Rule::LvEFunc, names.len()),
                    Node::RecFunc { names, .. } => match args.iter().find_map(|&arg| inner(arg)) {
                        Some(stuck) => return stuck,
                        None => format!("{} needs {} arguments", Rule::LvERecFunc, names.len()),
                    },
                    Node::Builtin(builtin) => match args.iter().find_map(|&arg| inner(arg)) {
                        Some(stuck) => return stuck,
                        None => format!("{}: `{}` is not defined on these values", Rule::LvEBuiltin, builtin.name()),
                    },
                    _ => format!("{} needs a function, and a value stands there", Rule::LvEApp),
                },
            },
            Node::Func { .. } | Node::RecFunc { .. } | Node::Builtin(_) | Node::If => {
                "a function that is not applied does not reduce".into()
            }
            _ => "no rule applies to this term".into(),
        };
        Stuck { why, at }
    }
}

fn axiom(rule: Rule, redex: TermId, next: TermId) -> Vec<Reduct> {
    vec![Reduct { rule, at: Path::new(), within: SmallVec::new(), redex, next }]
}

/// The unfoldings in progress, outermost first. Each has its path, a kept redex, the number of
/// redexes since then, and the number after which the kept redex is replaced.
///
/// A redex `((rec-func …) v1 … vn)` that reduces, in place, to itself never ends. One redex is
/// kept, and replaced after 1, 2, 4, … others (Brent's cycle search).
#[derive(Default)]
struct Frames {
    open: Vec<(Path, TermId, u64, u64)>,
}

impl Frames {
    fn comes_back(&mut self, reduction: &Reduction, reduct: &Reduct) -> bool {
        while self.open.last().is_some_and(|(path, ..)| !reduct.at.starts_with(path)) {
            self.open.pop();
        }
        if reduct.rule != Rule::LvERecFunc {
            return false;
        }
        match self.open.last_mut() {
            Some((path, kept, seen, replace_at)) if *path == reduct.at => {
                if reduction.same_call(*kept, reduct.redex) {
                    return true;
                }
                *seen += 1;
                if *seen == *replace_at {
                    (*kept, *seen, *replace_at) = (reduct.redex, 0, *replace_at * 2);
                }
                false
            }
            _ => {
                self.open.push((reduct.at.clone(), reduct.redex, 0, 1));
                false
            }
        }
    }
}
