//! A machine with the meaning of [`super::step`]. It uses environments instead of substitution, and
//! evaluates arguments once and shares them.
//!
//! The machine never calls the relation. Tests compare it with the relation in two ways. With
//! [`Sharing::ByName`] it evaluates an argument at each use, as the relation does. Then it must
//! fire the same rules at the same places in the same order. With [`Sharing::ByNeed`] it must end
//! the same way. Both count the steps of the relation: at each use, a shared value costs again what
//! its evaluation cost.
//!
//! A run over sets ([`explore`]) is by name. Each use of a bound expression is an evaluation of its
//! own, which may give another allowed value. The parameters of a rec-func are values, and shared.
//!
//! If only the bits of a result are needed, [`Pixels`] runs the same evaluation over bits alone.
//!
//! Tail calls take no room. The bindings of one round of a rec-func are gone in the next, since a
//! round passes on values only.

mod domain;

use self::domain::{Domain, Judged, Plain};
use super::builtin::Builtin;
use super::resolve::Program;
use super::step::Setting;
use super::syntax::Span;
use super::terms::{Never, Node, REC, Range, TermId, Terms, deep};
use super::types::{Ground, Value};
use crate::number::sets::{Exploration, Observation, Unsettled, observe};
use crate::outcome::{Limit, Outcome, Stuck, TimeLimit};
use crate::rule::Rule;
use smallvec::SmallVec;
use std::convert::Infallible;

/// Whether the machine keeps the value of a bound expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sharing {
    /// Evaluated at the first use, and kept.
    #[default]
    ByNeed,
    /// Evaluated at each use.
    ByName,
}

/// The bounds of a run.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most steps, counted as the relation counts them.
    pub fuel: u64,
    /// The most bindings alive.
    pub bindings: usize,
    /// The deepest nesting of evaluations.
    pub depth: usize,
    /// When the run ends at the latest, if at all.
    pub time: Option<TimeLimit>,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { fuel: 1_000_000, bindings: 4 << 20, depth: 100_000, time: None }
    }
}

impl Bounds {
    /// The number of steps at which a run that has taken `steps` next checks its fuel and
    /// the clock.
    fn next_check(&self, steps: u64) -> u64 {
        self.time.map_or(self.fuel, |_| self.fuel.min(steps.saturating_add(TimeLimit::EVERY)))
    }
}

/// A rule firing, as the relation would report it: the rule, the place of the redex, and the value
/// if the rule made one.
pub type Firing<'a> = (Rule, Span, Option<&'a Value>);

/// Evaluates a closed term of the program. Returns the outcome and the number of steps.
pub fn run(program: &Program, e: TermId, setting: &Setting, bounds: Bounds) -> (Outcome<Value>, u64) {
    run_watched(program, e, setting, bounds, Sharing::ByNeed, None)
}

/// [`run`], with a choice of sharing, and a sink that sees each rule fire.
pub fn run_watched(
    program: &Program,
    e: TermId,
    setting: &Setting,
    bounds: Bounds,
    sharing: Sharing,
    sink: Option<&mut dyn FnMut(Firing<'_>)>,
) -> (Outcome<Value>, u64) {
    let mut machine = Machine::new(program, bounds, Judged { setting, sharing, sink, sets: None });
    let result = machine.eval(e, Env::NONE);
    (outcome_of(result), machine.steps)
}

/// What a device must show of a term whose definite value is `value`, component by component. If
/// components are not decided, this follows every way that the term may reduce.
pub fn explore(program: &Program, e: TermId, value: &Value, setting: &Setting, bounds: Bounds, exploration: Exploration) -> Observation {
    observe(exploration, &value.lanes, |sets| {
        let domain = Judged { setting, sharing: Sharing::ByName, sink: None, sets: Some(sets) };
        match Machine::new(program, bounds, domain).eval(e, Env::NONE) {
            Ok(value) => Ok(value.lanes),
            Err(End::Outcome(end)) => Err(Unsettled::ended(&end)),
            Err(End::Unsettled(unsettled)) => Err(*unsettled),
            Err(End::Wide) => unreachable!("these values have room for any matrix"),
        }
    })
}

/// Runs of one program on many pixels that compute nothing but bits. Each run reuses the
/// allocations of the last.
pub struct Pixels<'a> {
    program: &'a Program,
    machine: Machine<'a, Plain>,
    /// Whether a run met a matrix that values of bits alone have no room for. Then [`run`]
    /// takes over.
    has_wide_matrix: bool,
}

impl<'a> Pixels<'a> {
    /// Runs that have these bounds each.
    pub fn new(program: &'a Program, bounds: Bounds) -> Pixels<'a> {
        Pixels { program, machine: Machine::new(program, bounds, Plain::new(program.terms.len())), has_wide_matrix: false }
    }

    /// [`run`], with the bits of the value's components as the result.
    pub fn run(&mut self, e: TermId, setting: &Setting) -> (Outcome<SmallVec<[u32; 4]>>, u64) {
        // A planted operation sees what is known of its operands, which bits alone do not have.
        if !self.has_wide_matrix && setting.arithmetic.planted.is_none() {
            self.machine.domain.frag_coord = setting.frag_coord.map(|lane| lane.bits);
            self.machine.restart();
            match self.machine.eval(e, Env::NONE) {
                Err(End::Wide) => self.has_wide_matrix = true,
                result => {
                    let bits = result.map(|value| SmallVec::from_slice(value.components()));
                    return (outcome_of(bits), self.machine.steps);
                }
            }
        }
        let (outcome, steps) = run(self.program, e, setting, self.machine.bounds);
        (outcome.map(|value| value.bits().collect()), steps)
    }
}

/// The outcome of a run without sets.
fn outcome_of<T>(result: Result<T, End>) -> Outcome<T> {
    match result {
        Ok(value) => Outcome::Observed(value),
        Err(End::Outcome(end)) => end.map(|never| match never {}),
        Err(End::Unsettled(reason)) => Outcome::Unsupported(reason.to_string()),
        Err(End::Wide) => unreachable!("whoever has no room for a matrix has seen to that"),
    }
}

/// A chain of binder lists, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Env(u32);

impl Env {
    const NONE: Env = Env(u32::MAX);
}

/// The bindings of one binder list.
#[derive(Clone, Copy)]
struct Group {
    parent: Env,
    first: u32,
    /// The rec-func and its environment, if the list is a rec-func's.
    rec: Option<(TermId, Env)>,
    /// The number of lists outside of it.
    level: u32,
    /// The number of outermost lists of its chain, itself included, whose index in `groups` is
    /// their level. The lists of a program's defines are among them. They are found without a walk
    /// along the chain.
    indexed_levels: u32,
}

enum Entry<V> {
    /// Not evaluated: the expression in its environment.
    Delayed(TermId, Env),
    /// Evaluated: the value, and the number of steps that the evaluation took.
    Known(V, u64),
}

/// A list whose items after the first are arguments, and the environment of these arguments.
#[derive(Clone, Copy)]
struct Arguments {
    list: TermId,
    items: Range,
    env: Env,
}

/// The rec-func in which a sequence of tail calls runs.
struct Loop<V> {
    rec: (TermId, Env),
    /// The lengths of `groups` and `entries` at the first entry. What lies beyond is the
    /// last round's.
    groups: usize,
    entries: usize,
    /// Brent's cycle search over the arguments: the kept arguments, the number of rounds since
    /// then, and the number of rounds after which they are replaced.
    kept: SmallVec<[V; 4]>,
    rounds: u64,
    replace_at: u64,
}

/// Why there is no value.
enum End {
    Outcome(Box<Outcome<Infallible>>),
    /// A run over sets cannot go on.
    Unsettled(Box<Unsettled>),
    /// A value has more components than this run's values hold.
    Wide,
}

impl From<Outcome<Infallible>> for End {
    fn from(outcome: Outcome<Infallible>) -> End {
        End::Outcome(Box::new(outcome))
    }
}

impl From<Unsettled> for End {
    fn from(unsettled: Unsettled) -> End {
        End::Unsettled(Box::new(unsettled))
    }
}

struct Machine<'a, D: Domain> {
    terms: &'a Terms<Never>,
    bounds: Bounds,
    domain: D,
    steps: u64,
    /// The number of steps at which fuel and time are checked next.
    next_check: u64,
    depth: usize,
    groups: Vec<Group>,
    entries: Vec<Entry<D::Value>>,
    /// The arguments to which the functions under evaluation are applied.
    pending: Vec<Arguments>,
}

/// One in this many nested evaluations checks that the stack has room. The red zone suffices for
/// the evaluations between.
const STACK_CHECK: usize = 4;

impl<'a, D: Domain> Machine<'a, D> {
    fn new(program: &'a Program, bounds: Bounds, domain: D) -> Self {
        Machine {
            terms: &program.terms,
            bounds,
            domain,
            steps: 0,
            next_check: bounds.next_check(0),
            depth: 0,
            groups: Vec::new(),
            entries: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Prepares for another run.
    fn restart(&mut self) {
        (self.steps, self.next_check, self.depth) = (0, self.bounds.next_check(0), 0);
        self.groups.clear();
        self.entries.clear();
        self.pending.clear();
    }

    /// The value of `e`, without an evaluation if it is a number or a known binding.
    #[inline(always)]
    fn operand(&mut self, e: TermId, env: Env) -> Result<D::Value, End> {
        match self.terms.node(e) {
            Node::Num(bits) => return Ok(D::number(bits)),
            Node::Var { group, slot } if slot != REC => {
                if let Entry::Known(value, cost) = &self.entries[self.entry(env, group, slot)] {
                    let (value, cost) = (value.clone(), *cost);
                    self.spend(cost)?;
                    return Ok(value);
                }
            }
            _ => {}
        }
        self.eval(e, env)
    }

    /// The value of `e`.
    fn eval(&mut self, e: TermId, env: Env) -> Result<D::Value, End> {
        if self.depth >= self.bounds.depth {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = if self.depth.is_multiple_of(STACK_CHECK) { self.eval_checked(e, env) } else { self.eval_inline(e, env) };
        self.depth -= 1;
        result
    }

    #[inline(never)]
    fn eval_checked(&mut self, e: TermId, env: Env) -> Result<D::Value, End> {
        deep(|| self.eval_inline(e, env))
    }

    #[inline(always)]
    fn eval_inline(&mut self, e: TermId, env: Env) -> Result<D::Value, End> {
        match self.terms.node(e) {
            Node::List(items) => {
                // A builtin on its operands needs no stack of arguments.
                if let Some(&head) = self.terms.items(items).first()
                    && let Node::Builtin(builtin) = self.terms.node(head)
                {
                    return self.apply_inline(builtin, e, items, env);
                }
            }
            Node::Var { group, slot } if slot != REC && self.domain.sharing() == Sharing::ByNeed => {
                let at = self.entry(env, group, slot);
                if let Entry::Delayed(term, at_env) = self.entries[at] {
                    return self.force(at, term, at_env);
                }
            }
            _ => {}
        }
        self.eval_by_stack(e, env)
    }

    /// Evaluates a delayed expression and keeps its value.
    #[inline(always)]
    fn force(&mut self, at: usize, e: TermId, env: Env) -> Result<D::Value, End> {
        let before = self.steps;
        let value = self.eval(e, env)?;
        self.entries[at] = Entry::Known(value.clone(), self.steps - before);
        Ok(value)
    }

    /// The value of any term, with a stack of the arguments to which it is applied. Tail calls take
    /// no room.
    #[inline(never)]
    fn eval_by_stack(&mut self, mut e: TermId, mut env: Env) -> Result<D::Value, End> {
        let base = self.pending.len();
        let mut current: Option<Box<Loop<D::Value>>> = None;
        // What is known of the conditions decided so far. Nothing better is known of the value.
        let mut control = D::NO_CONDITION;
        loop {
            match self.terms.node(e) {
                Node::Num(bits) => return self.finish(D::number(bits), e, base, control),
                Node::Bool(b) => return self.finish(D::boolean(b), e, base, control),
                Node::Var { group, slot } => {
                    if slot == REC {
                        let Some(rec) = self.list(env, group).rec else { return Err(self.stuck(e, "rec has no rec-func here")) };
                        (e, env) = rec;
                        continue;
                    }
                    let at = self.entry(env, group, slot);
                    match &self.entries[at] {
                        Entry::Known(value, cost) => {
                            let (value, cost) = (value.clone(), *cost);
                            self.spend(cost)?;
                            return self.finish(value, e, base, control);
                        }
                        // An expression in a function's place continues here: only values
                        // are shared.
                        &Entry::Delayed(term, at_env) if self.pending.len() > base || self.domain.sharing() == Sharing::ByName => {
                            (e, env) = (term, at_env);
                        }
                        &Entry::Delayed(term, at_env) => {
                            let value = self.force(at, term, at_env)?;
                            return self.finish(value, e, base, control);
                        }
                    }
                }
                Node::List(items) => match self.terms.items(items).first() {
                    Some(&head) => {
                        let args = Arguments { list: e, items, env };
                        match self.terms.node(head) {
                            Node::Builtin(builtin) => {
                                let value = self.apply(builtin, e, items, env)?;
                                return self.finish(value, e, base, control);
                            }
                            Node::If => e = self.branch(args, &mut control)?,
                            _ => {
                                self.pending.push(args);
                                e = head;
                            }
                        }
                    }
                    None => return Err(self.stuck(e, "the empty list does not reduce")),
                },
                Node::Let { values, body, .. } => {
                    self.fire(Rule::LvELet, e, None)?;
                    env = self.bind(env, self.terms.items(values), env)?;
                    e = body;
                }
                Node::Func { names, body } => {
                    let Some(args) = self.argument(base) else {
                        return Err(self.stuck(e, "a function that is not applied does not reduce"));
                    };
                    let arguments = &self.terms.items(args.items)[1..];
                    if arguments.len() != names.len() {
                        return Err(self.stuck(args.list, &format!("{} needs {} arguments", Rule::LvEFunc, names.len())));
                    }
                    self.fire(Rule::LvEFunc, args.list, None)?;
                    env = self.bind(env, arguments, args.env)?;
                    e = body;
                }
                Node::RecFunc { names, body } => {
                    let Some(args) = self.argument(base) else {
                        return Err(self.stuck(e, "a function that is not applied does not reduce"));
                    };
                    let arguments = &self.terms.items(args.items)[1..];
                    if arguments.len() != names.len() {
                        return Err(self.stuck(args.list, &format!("{} needs {} arguments", Rule::LvERecFunc, names.len())));
                    }
                    let values = self.eval_all(arguments, args.env)?;
                    self.fire(Rule::LvERecFunc, args.list, None)?;
                    env = self.enter((e, env), values, &mut current)?;
                    e = body;
                }
                Node::If => {
                    let Some(args) = self.argument(base) else { return Err(self.stuck(e, "`if` that is not applied does not reduce")) };
                    e = self.branch(args, &mut control)?;
                    env = args.env;
                }
                Node::Builtin(builtin) => {
                    let Some(args) = self.argument(base) else {
                        return Err(self.stuck(e, "a builtin that is not applied does not reduce"));
                    };
                    let value = self.apply(builtin, args.list, args.items, args.env)?;
                    return self.finish(value, args.list, base, control);
                }
                Node::Ext(never) => match never {},
            }
        }
    }

    #[inline(always)]
    fn finish(&self, mut value: D::Value, e: TermId, base: usize, control: D::Control) -> Result<D::Value, End> {
        if self.pending.len() > base {
            return Err(self.stuck(e, &format!("{} needs a function, and a value stands there", Rule::LvEApp)));
        }
        self.domain.controlled(&mut value, control);
        Ok(value)
    }

    /// Takes the innermost arguments to which the term is applied. `None` if there are none
    /// beyond `base`.
    fn argument(&mut self, base: usize) -> Option<Arguments> {
        if self.pending.len() > base { self.pending.pop() } else { None }
    }

    /// The branch of an `if` that its condition chooses.
    fn branch(&mut self, args: Arguments, control: &mut D::Control) -> Result<TermId, End> {
        let &[_, condition, yes, no] = self.terms.items(args.items) else {
            return Err(self.stuck(args.list, &format!("{} needs a condition and two branches", Rule::LvEIfTrue)));
        };
        let condition = self.operand(condition, args.env)?;
        if D::ground(&condition) != Ground::BOOL {
            let reason = format!("{} and {} need a Boolean condition", Rule::LvEIfTrue, Rule::LvEIfFalse);
            return Err(self.stuck(args.list, &reason));
        }
        let holds = self.domain.decide(&condition, args.list, self.terms, control)?;
        let (rule, branch) = if holds { (Rule::LvEIfTrue, yes) } else { (Rule::LvEIfFalse, no) };
        self.fire(rule, args.list, None)?;
        Ok(branch)
    }

    /// δ on the operands of a list.
    #[inline(never)]
    fn apply(&mut self, builtin: Builtin, list: TermId, items: Range, env: Env) -> Result<D::Value, End> {
        self.apply_inline(builtin, list, items, env)
    }

    #[inline(always)]
    fn apply_inline(&mut self, builtin: Builtin, list: TermId, items: Range, env: Env) -> Result<D::Value, End> {
        let value = match *self.terms.items(items) {
            [_, x] => {
                let x = self.operand(x, env)?;
                self.domain.delta(builtin, &[&x], list, self.terms)?
            }
            [_, x, y] => {
                let (x, y) = (self.operand(x, env)?, self.operand(y, env)?);
                self.domain.delta(builtin, &[&x, &y], list, self.terms)?
            }
            ref items => {
                let values = self.eval_all(&items[1..], env)?;
                let operands: SmallVec<[&D::Value; 4]> = values.iter().collect();
                self.domain.delta(builtin, &operands, list, self.terms)?
            }
        };
        let Some(value) = value else {
            return Err(self.stuck(list, &format!("{}: `{}` is not defined on these values", Rule::LvEBuiltin, builtin.name())));
        };
        self.fire(Rule::LvEBuiltin, list, Some(&value))?;
        Ok(value)
    }

    fn eval_all(&mut self, terms: &[TermId], env: Env) -> Result<SmallVec<[D::Value; 4]>, End> {
        let mut values = SmallVec::new();
        for &term in terms {
            values.push(self.operand(term, env)?);
        }
        Ok(values)
    }

    /// Binds delayed expressions.
    fn bind(&mut self, parent: Env, args: &[TermId], env: Env) -> Result<Env, End> {
        self.require_room(args.len())?;
        let first = self.entries.len() as u32;
        for &arg in args {
            let entry = self.delayed(arg, env);
            self.entries.push(entry);
        }
        Ok(self.extend(parent, first, None))
    }

    /// The entry of an expression: delayed, unless it is a value already.
    #[inline(always)]
    fn delayed(&self, e: TermId, env: Env) -> Entry<D::Value> {
        match self.terms.node(e) {
            Node::Num(bits) => Entry::Known(D::number(bits), 0),
            Node::Var { group, slot } if slot != REC => match &self.entries[self.entry(env, group, slot)] {
                Entry::Known(value, cost) => Entry::Known(value.clone(), *cost),
                Entry::Delayed(..) => Entry::Delayed(e, env),
            },
            _ => Entry::Delayed(e, env),
        }
    }

    /// Binds the arguments of a rec-func. If the sequence of tail calls already runs in it, these
    /// are the arguments of its next round.
    fn enter(
        &mut self,
        rec: (TermId, Env),
        values: SmallVec<[D::Value; 4]>,
        current: &mut Option<Box<Loop<D::Value>>>,
    ) -> Result<Env, End> {
        match current {
            Some(running) if running.rec == rec => {
                if running.kept.iter().zip(&values).all(|(a, b)| self.domain.is_same_argument(a, b)) {
                    return Err(Outcome::Diverges("a rec-func is entered again with bit-identical arguments".into()).into());
                }
                running.rounds += 1;
                if running.rounds == running.replace_at {
                    (running.kept, running.rounds, running.replace_at) = (values.clone(), 0, running.replace_at * 2);
                }
                // Nothing older than the loop holds a reference past its mark: delayed expressions
                // refer outward only, and kept ones are values.
                self.groups.truncate(running.groups);
                self.entries.truncate(running.entries);
            }
            _ => {
                let (groups, entries) = (self.groups.len(), self.entries.len());
                *current = Some(Box::new(Loop { rec, groups, entries, kept: values.clone(), rounds: 0, replace_at: 1 }));
            }
        }
        self.require_room(values.len())?;
        let first = self.entries.len() as u32;
        self.entries.extend(values.into_iter().map(|v| Entry::Known(v, 0)));
        Ok(self.extend(rec.1, first, Some(rec)))
    }

    fn extend(&mut self, parent: Env, first: u32, rec: Option<(TermId, Env)>) -> Env {
        let at = self.groups.len() as u32;
        let (level, parent_indexed) = self.groups.get(parent.0 as usize).map_or((0, 0), |outer| (outer.level + 1, outer.indexed_levels));
        let indexed_levels = if at == level && parent_indexed == level { level + 1 } else { parent_indexed };
        self.groups.push(Group { parent, first, rec, level, indexed_levels });
        Env(at)
    }

    fn require_room(&self, more: usize) -> Result<(), End> {
        match self.entries.len() + self.groups.len() + more < self.bounds.bindings {
            true => Ok(()),
            false => Err(Outcome::Limit(Limit { what: "bindings alive", bound: self.bounds.bindings as u64 }).into()),
        }
    }

    #[inline]
    fn list(&self, env: Env, group: u32) -> &Group {
        let mut list = &self.groups[env.0 as usize];
        if group > 0 {
            let level = list.level - group;
            if level < list.indexed_levels {
                return &self.groups[level as usize];
            }
            for _ in 0..group {
                list = &self.groups[list.parent.0 as usize];
            }
        }
        list
    }

    /// The index in `entries` of a variable's binding.
    fn entry(&self, env: Env, group: u32, slot: u32) -> usize {
        (self.list(env, group).first + slot) as usize
    }

    #[inline(always)]
    fn fire(&mut self, rule: Rule, redex: TermId, value: Option<&D::Value>) -> Result<(), End> {
        self.domain.fire(rule, || self.terms.span(redex), value);
        self.spend(1)
    }

    #[inline(always)]
    fn spend(&mut self, steps: u64) -> Result<(), End> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.next_check { self.check_bounds() } else { Ok(()) }
    }

    /// Ends the run if fuel or time is spent.
    #[cold]
    fn check_bounds(&mut self) -> Result<(), End> {
        if self.steps > self.bounds.fuel {
            return Err(Outcome::OutOfFuel.into());
        }
        if let Some(limit) = TimeLimit::passed(self.bounds.time) {
            return Err(Outcome::Limit(limit).into());
        }
        self.next_check = self.bounds.next_check(self.steps);
        Ok(())
    }

    #[cold]
    fn too_deep(&self) -> End {
        Outcome::Limit(Limit { what: "nested evaluations", bound: self.bounds.depth as u64 }).into()
    }

    #[cold]
    fn stuck(&self, at: TermId, reason: &str) -> End {
        let span = self.terms.span(at);
        Outcome::Stuck(Stuck { why: reason.into(), at: format!("bytes {}..{}", span.start, span.end) }).into()
    }
}
