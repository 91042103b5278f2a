//! A machine with the meaning of [`super::step`]: environments instead of substitution, arguments
//! evaluated once and shared.
//!
//! It never calls the relation. Tests hold it to the relation in two ways: [`Sharing::ByName`]
//! evaluates an argument at each use, as the relation does, and must then fire the same rules at
//! the same places in the same order; [`Sharing::ByNeed`] must end the same. Steps are those of the
//! relation either way: a shared value costs again, at each use, what it cost to make.
//!
//! A run over sets ([`explore`]) is by name: each use of a bound expression is an evaluation of its
//! own, which may give another value that is allowed; the parameters of a rec-func
//! are values, and shared.
//!
//! Tail calls take no room: the bindings of one round of a rec-func are gone in the next, since
//! what it passes on are values.

use super::builtin::Builtin;
use super::resolve::Program;
use super::step::Setting;
use super::syntax::Span;
use super::terms::{Never, Node, REC, Range, TermId, Terms, deep};
use super::types::{Ground, Value};
use crate::number::sets::{Exploration, Observation, Sets, Unsettled, observe};
use crate::number::{Lane, Trust};
use crate::outcome::{Limit, Outcome, Stuck};
use crate::rule::Rule;
use smallvec::SmallVec;

/// Whether the value of a bound expression is kept.
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
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { fuel: 1_000_000, bindings: 4 << 20, depth: 100_000 }
    }
}

/// A rule firing, as the relation would report it: the rule, the place of the redex, and the value
/// if the rule made one.
pub type Firing<'a> = (Rule, Span, Option<&'a Value>);

/// Evaluates a closed term of the program. Gives the ending and the steps taken.
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
    let mut machine = Machine::new(program, setting, bounds, sharing);
    machine.sink = sink;
    let outcome = match machine.eval(e, Env::NONE) {
        Ok(value) => Outcome::Observed(value),
        Err(End::Outcome(end)) => *end,
        // Without sets nothing is unsettled.
        Err(End::Unsettled(why)) => Outcome::Unsupported(why.to_string()),
    };
    (outcome, machine.steps)
}

/// What a device must show of a term whose definite value is `value`, component by component, over
/// every way that it may reduce where components are not decided.
pub fn explore(program: &Program, e: TermId, value: &Value, setting: &Setting, bounds: Bounds, exploration: Exploration) -> Observation {
    observe(exploration, &value.lanes, |sets| {
        let mut machine = Machine::new(program, setting, bounds, Sharing::ByName);
        machine.sets = Some(sets);
        match machine.eval(e, Env::NONE) {
            Ok(value) => Ok(value.lanes),
            Err(End::Outcome(end)) => Err(Unsettled::ended(&end)),
            Err(End::Unsettled(unsettled)) => Err(*unsettled),
        }
    })
}

/// A chain of binder lists, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Env(u32);

impl Env {
    const NONE: Env = Env(u32::MAX);
}

/// The bindings of one list.
#[derive(Clone, Copy)]
struct Group {
    parent: Env,
    first: u32,
    /// The rec-func and its environment, if the list is a rec-func's.
    rec: Option<(TermId, Env)>,
}

#[derive(Clone)]
enum Entry {
    /// Not evaluated: the expression in its environment.
    Delayed(TermId, Env),
    /// Evaluated, and what that cost in steps.
    Known(Value, u64),
}

/// A list whose items after the first are arguments, in their environment.
#[derive(Clone, Copy)]
struct Arguments {
    list: TermId,
    items: Range,
    env: Env,
}

/// The rec-func that a run of tail calls is in.
struct Loop {
    rec: (TermId, Env),
    /// The arena's extent at the first entry: what lies beyond belongs to the last round.
    groups: usize,
    entries: usize,
    /// Brent's cycle search over the arguments: those kept, how many rounds ago, and after how many
    /// they are replaced.
    kept: SmallVec<[Value; 4]>,
    rounds: u64,
    replace_at: u64,
}

/// Why there is no value.
enum End {
    Outcome(Box<Outcome<Value>>),
    /// A run over sets cannot go on.
    Unsettled(Box<Unsettled>),
}

impl From<Outcome<Value>> for End {
    fn from(outcome: Outcome<Value>) -> End {
        End::Outcome(Box::new(outcome))
    }
}

impl From<Unsettled> for End {
    fn from(unsettled: Unsettled) -> End {
        End::Unsettled(Box::new(unsettled))
    }
}

struct Machine<'a, 's> {
    terms: &'a Terms<Never>,
    setting: &'a Setting,
    bounds: Bounds,
    sharing: Sharing,
    sink: Option<&'s mut dyn FnMut(Firing<'_>)>,
    /// In a run over sets, these.
    sets: Option<&'s mut Sets>,
    steps: u64,
    depth: usize,
    groups: Vec<Group>,
    entries: Vec<Entry>,
}

impl<'a> Machine<'a, '_> {
    fn new(program: &'a Program, setting: &'a Setting, bounds: Bounds, sharing: Sharing) -> Self {
        let terms = &program.terms;
        let (groups, entries) = (Vec::new(), Vec::new());
        Machine { terms, setting, bounds, sharing, sink: None, sets: None, steps: 0, depth: 0, groups, entries }
    }

    /// The value of `e`.
    fn eval(&mut self, e: TermId, env: Env) -> Result<Value, End> {
        if self.depth >= self.bounds.depth {
            return Err(Outcome::Limit(Limit { what: "nested evaluations", bound: self.bounds.depth as u64 }).into());
        }
        self.depth += 1;
        let result = deep(|| self.eval_here(e, env));
        self.depth -= 1;
        result
    }

    fn eval_here(&mut self, mut e: TermId, mut env: Env) -> Result<Value, End> {
        let mut stack: SmallVec<[Arguments; 4]> = SmallVec::new();
        let mut current: Option<Loop> = None;
        // What the conditions decided so far are known to be: the value is known no better.
        let mut control = Trust::CERTAIN;
        loop {
            match self.terms.node(e) {
                Node::Num(bits) => return self.finish(Value::num(f32::from_bits(bits)), e, &stack, control),
                Node::Bool(b) => return self.finish(Value::bool(b), e, &stack, control),
                Node::Var { group, slot } => {
                    let list = self.list(env, group);
                    if slot == REC {
                        let Some(rec) = list.rec else { return Err(self.stuck(e, "rec has no rec-func here")) };
                        (e, env) = rec;
                        continue;
                    }
                    let at = (list.first + slot) as usize;
                    match self.entries[at] {
                        Entry::Known(ref value, cost) => {
                            let value = value.clone();
                            self.spend(cost)?;
                            return self.finish(value, e, &stack, control);
                        }
                        // An expression in a function's place goes on here; only values are shared.
                        Entry::Delayed(term, at_env) if !stack.is_empty() || self.sharing == Sharing::ByName => (e, env) = (term, at_env),
                        Entry::Delayed(term, at_env) => {
                            let before = self.steps;
                            let value = self.eval(term, at_env)?;
                            self.entries[at] = Entry::Known(value.clone(), self.steps - before);
                            return self.finish(value, e, &stack, control);
                        }
                    }
                }
                Node::List(items) => match self.terms.items(items).first() {
                    Some(&head) => {
                        stack.push(Arguments { list: e, items, env });
                        e = head;
                    }
                    None => return Err(self.stuck(e, "the empty list does not reduce")),
                },
                Node::Let { values, body, .. } => {
                    self.fire(Rule::LvELet, e, None)?;
                    env = self.bind(env, None, self.terms.items(values), env)?;
                    e = body;
                }
                Node::Func { names, body } => {
                    let Some(args) = stack.pop() else { return Err(self.stuck(e, "a function that is not applied does not reduce")) };
                    let given = &self.terms.items(args.items)[1..];
                    if given.len() != names.len() {
                        return Err(self.stuck(args.list, &format!("{} needs {} arguments", Rule::LvEFunc, names.len())));
                    }
                    self.fire(Rule::LvEFunc, args.list, None)?;
                    env = self.bind(env, None, given, args.env)?;
                    e = body;
                }
                Node::RecFunc { names, body } => {
                    let Some(args) = stack.pop() else { return Err(self.stuck(e, "a function that is not applied does not reduce")) };
                    let given = &self.terms.items(args.items)[1..];
                    if given.len() != names.len() {
                        return Err(self.stuck(args.list, &format!("{} needs {} arguments", Rule::LvERecFunc, names.len())));
                    }
                    let values = self.eval_all(given, args.env)?;
                    self.fire(Rule::LvERecFunc, args.list, None)?;
                    env = self.enter((e, env), values, &mut current)?;
                    e = body;
                }
                Node::If => {
                    let Some(args) = stack.pop() else { return Err(self.stuck(e, "`if` that is not applied does not reduce")) };
                    let &[_, condition, yes, no] = self.terms.items(args.items) else {
                        return Err(self.stuck(args.list, &format!("{} needs a condition and two branches", Rule::LvEIfTrue)));
                    };
                    let condition = self.eval(condition, args.env)?;
                    if condition.ty != Ground::BOOL {
                        let why = format!("{} and {} need a Boolean condition", Rule::LvEIfTrue, Rule::LvEIfFalse);
                        return Err(self.stuck(args.list, &why));
                    }
                    let holds = self.decide(condition.lanes[0], args.list, &mut control)?;
                    let (rule, branch) = if holds { (Rule::LvEIfTrue, yes) } else { (Rule::LvEIfFalse, no) };
                    self.fire(rule, args.list, None)?;
                    (e, env) = (branch, args.env);
                }
                Node::Builtin(builtin) => {
                    let Some(args) = stack.pop() else { return Err(self.stuck(e, "a builtin that is not applied does not reduce")) };
                    let values = self.eval_all(&self.terms.items(args.items)[1..], args.env)?;
                    let value = self.delta(builtin, &values, args.list)?;
                    self.fire(Rule::LvEBuiltin, args.list, Some(&value))?;
                    return self.finish(value, args.list, &stack, control);
                }
                Node::Ext(never) => match never {},
            }
        }
    }

    fn finish(&self, mut value: Value, e: TermId, stack: &[Arguments], control: Trust) -> Result<Value, End> {
        if !stack.is_empty() {
            return Err(self.stuck(e, &format!("{} needs a function, and a value stands there", Rule::LvEApp)));
        }
        if self.sets.is_none() {
            for lane in &mut value.lanes {
                lane.trust = lane.trust.controlled_by(control);
            }
        }
        Ok(value)
    }

    fn eval_all(&mut self, terms: &[TermId], env: Env) -> Result<SmallVec<[Value; 4]>, End> {
        let mut values = SmallVec::new();
        for &term in terms {
            values.push(self.eval(term, env)?);
        }
        Ok(values)
    }

    fn delta(&mut self, builtin: Builtin, values: &[Value], list: TermId) -> Result<Value, End> {
        let operands: SmallVec<[&Value; 4]> = values.iter().collect();
        let value = match &mut self.sets {
            None => builtin.apply(&operands, &self.setting.frag_coord, &self.setting.arithmetic),
            Some(sets) => {
                sets.stand_at(self.terms.span(list).start);
                builtin.apply_over(sets, &operands, &self.setting.frag_coord, &self.setting.arithmetic).map_err(End::from)?
            }
        };
        value.ok_or_else(|| self.stuck(list, &format!("{}: `{}` is not defined on these values", Rule::LvEBuiltin, builtin.name())))
    }

    /// Which way an `if` on the condition goes. What is definite is known no better than the
    /// conditions that it depends on, in `control`; in a run over sets the way is known.
    fn decide(&mut self, condition: Lane, list: TermId, control: &mut Trust) -> Result<bool, End> {
        match &mut self.sets {
            None => {
                *control = control.controlled_by(condition.trust);
                Ok(condition.is_true())
            }
            Some(sets) => {
                sets.stand_at(self.terms.span(list).start);
                sets.decide(condition).map_err(End::from)
            }
        }
    }

    /// Binds delayed expressions.
    fn bind(&mut self, parent: Env, rec: Option<(TermId, Env)>, args: &[TermId], env: Env) -> Result<Env, End> {
        self.room(args.len())?;
        let first = self.entries.len() as u32;
        self.entries.extend(args.iter().map(|&arg| Entry::Delayed(arg, env)));
        self.groups.push(Group { parent, first, rec });
        Ok(Env(self.groups.len() as u32 - 1))
    }

    /// Binds the arguments of a rec-func: of its next round, if the run of tail calls
    /// is in it already.
    fn enter(&mut self, rec: (TermId, Env), values: SmallVec<[Value; 4]>, current: &mut Option<Loop>) -> Result<Env, End> {
        match current {
            Some(inside) if inside.rec == rec => {
                let same_cells = |a: &Value, b: &Value| a.lanes.iter().zip(&b.lanes).all(|(a, b)| a.trust.cell == b.trust.cell);
                let same = |(a, b): (&Value, &Value)| a.same_bits(b) && (self.sets.is_none() || same_cells(a, b));
                if inside.kept.iter().zip(&values).all(same) {
                    return Err(Outcome::Diverges("a rec-func is entered again with bit-identical arguments".into()).into());
                }
                inside.rounds += 1;
                if inside.rounds == inside.replace_at {
                    (inside.kept, inside.rounds, inside.replace_at) = (values.clone(), 0, inside.replace_at * 2);
                }
                // Nothing older than the loop holds a reference past its mark: delayed expressions
                // refer outward only, and kept ones are values.
                self.groups.truncate(inside.groups);
                self.entries.truncate(inside.entries);
            }
            _ => {
                let (groups, entries) = (self.groups.len(), self.entries.len());
                *current = Some(Loop { rec, groups, entries, kept: values.clone(), rounds: 0, replace_at: 1 });
            }
        }
        self.room(values.len())?;
        let first = self.entries.len() as u32;
        self.entries.extend(values.into_iter().map(|v| Entry::Known(v, 0)));
        self.groups.push(Group { parent: rec.1, first, rec: Some(rec) });
        Ok(Env(self.groups.len() as u32 - 1))
    }

    fn room(&self, more: usize) -> Result<(), End> {
        match self.entries.len() + self.groups.len() + more < self.bounds.bindings {
            true => Ok(()),
            false => Err(Outcome::Limit(Limit { what: "bindings alive", bound: self.bounds.bindings as u64 }).into()),
        }
    }

    fn list(&self, mut env: Env, group: u32) -> Group {
        for _ in 0..group {
            env = self.groups[env.0 as usize].parent;
        }
        self.groups[env.0 as usize]
    }

    fn fire(&mut self, rule: Rule, redex: TermId, value: Option<&Value>) -> Result<(), End> {
        if let Some(sink) = &mut self.sink {
            sink((rule, self.terms.span(redex), value));
        }
        self.spend(1)
    }

    fn spend(&mut self, steps: u64) -> Result<(), End> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.bounds.fuel { Err(Outcome::OutOfFuel.into()) } else { Ok(()) }
    }

    fn stuck(&self, at: TermId, why: &str) -> End {
        let span = self.terms.span(at);
        Outcome::Stuck(Stuck { why: why.into(), at: format!("bytes {}..{}", span.start, span.end) }).into()
    }
}
