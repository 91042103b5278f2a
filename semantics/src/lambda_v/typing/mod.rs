//! Typing: R, A ⊢ e : τ (report §5), as derivations that [`check`] re-validates node by node.
//!
//! R is the frame of the recursive function in whose tail position e stands. A is the stack of
//! argument lists to which e is applied. Functions are not typed alone. They are typed where they
//! are applied, by substitution, so an ill-typed expression that nothing uses is accepted (LV-10).
//! Each goal is derived once and shared.

mod check;
mod derivation;
pub mod rec_match;
mod repeat;
mod rules;

pub use check::{CheckError, check};
pub use derivation::{Derivation, Frame, FrameId, Goal, NodeId, Stack, StackId, Step, Typed};

use super::resolve::Program;
use super::syntax::Span;
use super::terms::{Node, Substitute, TermId, Terms, deep};
use super::types::{Ground, Type};
use crate::outcome::Limit;
use crate::rule::Rule;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Why a program has no derivation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeError {
    /// A rule's premise fails, or no rule fits.
    IllTyped {
        /// The rule that is broken.
        rule: Rule,
        /// Found against required, one sentence.
        message: String,
        /// The expression at fault.
        span: Span,
    },
    /// Deriving a goal needs the goal itself, so the derivation would be infinite (report
    /// §5, self-application).
    NoFiniteDerivation {
        /// The explanation, one sentence.
        message: String,
        /// The expression of the goal that repeats.
        span: Span,
    },
    /// The derivation was given up at a limit. It is open whether there is one.
    Limit {
        /// The limit.
        limit: Limit,
        /// The expression that was being typed.
        span: Span,
    },
}

impl std::fmt::Display for TypeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}

impl std::error::Error for TypeError {}

impl TypeError {
    /// The place of the error.
    pub fn span(&self) -> Span {
        match self {
            TypeError::IllTyped { span, .. } | TypeError::NoFiniteDerivation { span, .. } | TypeError::Limit { span, .. } => *span,
        }
    }

    /// The code, such as `lv/t-if`, `lv/no-finite-derivation` or `lv/limit`.
    pub fn code(&self) -> &'static str {
        match self {
            TypeError::IllTyped { rule, .. } => rule.name(),
            TypeError::NoFiniteDerivation { .. } => "lv/no-finite-derivation",
            TypeError::Limit { .. } => "lv/limit",
        }
    }

    /// The explanation, one sentence.
    pub fn message(&self) -> String {
        match self {
            TypeError::IllTyped { message, .. } | TypeError::NoFiniteDerivation { message, .. } => message.clone(),
            TypeError::Limit { limit, .. } => limit.to_string(),
        }
    }
}

/// The bounds of a derivation.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most nodes.
    pub nodes: usize,
    /// The most terms, source included.
    pub terms: usize,
    /// The longest path from the root.
    pub path: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { nodes: 1 << 20, terms: 4 << 20, path: 30_000 }
    }
}

/// Where tests plant bugs: beside the rules, never in them.
#[derive(Clone, Copy, Default)]
pub struct Planted {
    /// Sees a rule's decision (the type, or the failed premise) with the premises' types, and may
    /// replace it.
    pub decide: Option<Decide>,
    /// Replaces the substitution.
    pub substitute: Option<Substitute<Typed>>,
}

/// A replacement for a rule's decision.
pub type Decide = fn(Rule, &[Type], Result<Type, TypeError>) -> Result<Type, TypeError>;

/// Types every output of a program.
///
/// Errors: the first failed premise, by rule; no finite derivation; a limit. The type of an output
/// must be an observation, Vec(I, f).
pub fn infer(program: &Program, limits: Limits) -> Result<Derivation, TypeError> {
    infer_planted(program, limits, Planted::default())
}

/// [`infer`] with planted bugs.
pub fn infer_planted(program: &Program, limits: Limits, planted: Planted) -> Result<Derivation, TypeError> {
    let mut typer = Typer::new(Terms::from_source(&program.terms, limits.terms), limits, planted);
    for output in &program.outputs {
        let root = typer.derive(Goal { r: FrameId::NONE, a: StackId::EMPTY, e: output.term })?;
        let ty = typer.d.nodes[root as usize].ty;
        if !matches!(ty, Type::Ground(g) if g.is_observation()) {
            let rule = typer.d.nodes[root as usize].rule;
            let message = format!(
                "output {} has type {ty}; a fragment shader can only write Vec(I,f), that is Num or a vector of floats",
                output.location
            );
            return Err(TypeError::IllTyped { rule, message, span: output.span });
        }
        typer.d.roots.push(root);
    }
    Ok(typer.d)
}

/// The type of one closed term under R = ∅ and A = ∅, in an arena of its own:
/// for tests of preservation.
pub fn infer_term(terms: Terms<Typed>, e: TermId, limits: Limits) -> Result<Type, TypeError> {
    let mut typer = Typer::new(terms, limits, Planted::default());
    let root = typer.derive(Goal { r: FrameId::NONE, a: StackId::EMPTY, e })?;
    Ok(typer.d.nodes[root as usize].ty)
}

/// What is known about a goal.
#[derive(Clone, Copy)]
enum State {
    /// It is being derived.
    Open,
    /// It has been derived: its node.
    Done(NodeId),
}

struct Typer {
    d: Derivation,
    known: FxHashMap<Goal, State>,
    frames: FxHashMap<Frame, FrameId>,
    stacks: FxHashMap<Stack, StackId>,
    /// The goals being derived, outermost first.
    path: Vec<Goal>,
    /// The path length at which the next search for a repetition takes place.
    look_at: usize,
    limits: Limits,
    planted: Planted,
    substitute: Substitute<Typed>,
}

impl Typer {
    fn new(terms: Terms<Typed>, limits: Limits, planted: Planted) -> Typer {
        Typer {
            d: Derivation { terms, nodes: Vec::new(), roots: Vec::new(), frames: Vec::new(), stacks: Vec::new() },
            known: FxHashMap::default(),
            frames: FxHashMap::default(),
            stacks: FxHashMap::default(),
            path: Vec::new(),
            look_at: repeat::FIRST_LOOK,
            limits,
            planted,
            substitute: planted.substitute.unwrap_or(Terms::substitute),
        }
    }

    /// The node that concludes `goal`.
    fn derive(&mut self, goal: Goal) -> Result<NodeId, TypeError> {
        match self.known.get(&goal) {
            Some(State::Done(node)) => return Ok(*node),
            Some(State::Open) => return Err(self.no_finite_derivation(goal)),
            None => {}
        }
        self.known.insert(goal, State::Open);
        self.path.push(goal);
        if self.path.len() >= self.look_at {
            self.look_at *= 4;
            if let Some(goal) = self.repeated_goal() {
                return Err(self.no_finite_derivation(goal));
            }
        }
        if self.path.len() > self.limits.path {
            return Err(self.limit(Limit { what: "steps from the root of a derivation", bound: self.limits.path as u64 }, goal.e));
        }
        if self.d.nodes.len() >= self.limits.nodes {
            return Err(self.limit(Limit { what: "nodes of a derivation", bound: self.limits.nodes as u64 }, goal.e));
        }
        let node = deep(|| self.apply_rule(goal))?;
        self.path.pop();
        self.known.insert(goal, State::Done(node));
        Ok(node)
    }

    /// Applies the rule that fits the goal's shape. At most one does.
    fn apply_rule(&mut self, goal: Goal) -> Result<NodeId, TypeError> {
        match self.d.terms.node(goal.e) {
            Node::Num(_) => self.t_num(goal),
            Node::Bool(true) => self.t_true(goal),
            Node::Bool(false) => self.t_false(goal),
            Node::Ext(Typed::Param(ty)) => self.t_param(goal, ty),
            Node::Ext(Typed::Rec(frame)) => self.t_rec(goal, frame),
            Node::Builtin(builtin) => self.t_builtin(goal, builtin),
            Node::Func { names, body } => self.t_func(goal, names, body),
            Node::RecFunc { names, body } => self.t_rec_func(goal, names, body),
            Node::Let { values, body, .. } => self.t_let(goal, values, body),
            Node::If => self.t_if_applied(goal),
            Node::List(items) => match self.d.terms.items(items).first().map(|&e0| self.d.terms.node(e0)) {
                Some(Node::If) => self.t_if(goal, goal.e, goal.a),
                Some(_) => self.t_app(goal, items),
                None => {
                    Err(self.ill_typed(Rule::LvTApp, goal.e, "the empty list () has no type; an application needs an expression to apply"))
                }
            },
            Node::Var { .. } => unreachable!("typing substitutes before it types, so it meets closed terms only"),
        }
    }

    /// Adds the node of a rule with the rule's decision, or with a planted bug's.
    fn conclude(&mut self, rule: Rule, goal: Goal, premises: &[NodeId], decision: Result<Type, TypeError>) -> Result<NodeId, TypeError> {
        self.conclude_matched(rule, goal, premises, decision.map(|ty| (ty, None)))
    }

    fn conclude_matched(
        &mut self,
        rule: Rule,
        goal: Goal,
        premises: &[NodeId],
        decision: Result<(Type, Option<Rule>), TypeError>,
    ) -> Result<NodeId, TypeError> {
        let (ty, rec_match) = match self.planted.decide {
            None => decision?,
            Some(decide) => {
                let types: SmallVec<[Type; 4]> = premises.iter().map(|&p| self.d.nodes[p as usize].ty).collect();
                let matched = decision.as_ref().ok().and_then(|d| d.1);
                let ty = decide(rule, &types, decision.map(|d| d.0))?;
                // A case of rec-match is a rule of its own, so it can be planted too.
                (matched.map_or(Ok(ty), |case| decide(case, &types, Ok(ty)))?, matched)
            }
        };
        let node = self.d.nodes.len() as NodeId;
        self.d.nodes.push(Step { rule, goal, ty, rec_match, premises: SmallVec::from_slice(premises) });
        Ok(node)
    }

    /// Reports a premise that fails before the rule can conclude. Only a planted bug lets the rule
    /// go on, with the bug's type.
    fn failed(&self, rule: Rule, premises: &[Type], error: TypeError) -> Result<Type, TypeError> {
        match self.planted.decide {
            None => Err(error),
            Some(decide) => decide(rule, premises, Err(error)),
        }
    }

    fn ty(&self, node: NodeId) -> Type {
        self.d.nodes[node as usize].ty
    }

    fn frame(&mut self, frame: Frame) -> FrameId {
        if let Some(&id) = self.frames.get(&frame) {
            return id;
        }
        self.d.frames.push(frame.clone());
        let id = FrameId(self.d.frames.len() as u32);
        self.frames.insert(frame, id);
        id
    }

    fn push(&mut self, below: StackId, list: TermId) -> StackId {
        let stack = Stack { below, list };
        if let Some(&id) = self.stacks.get(&stack) {
            return id;
        }
        self.d.stacks.push(stack);
        let id = StackId(self.d.stacks.len() as u32);
        self.stacks.insert(stack, id);
        id
    }

    fn arguments(&self, stack: Stack) -> SmallVec<[TermId; 6]> {
        SmallVec::from_slice(self.d.arguments(stack))
    }

    fn ill_typed(&self, rule: Rule, at: TermId, message: impl Into<String>) -> TypeError {
        TypeError::IllTyped { rule, message: message.into(), span: self.d.terms.span(at) }
    }

    fn limit(&self, limit: Limit, at: TermId) -> TypeError {
        TypeError::Limit { limit, span: self.d.terms.span(at) }
    }

    fn no_finite_derivation(&self, goal: Goal) -> TypeError {
        let message =
            "typing this needs its own type again, without end, so it has no finite derivation; use rec-func for recursion".to_string();
        TypeError::NoFiniteDerivation { message, span: self.d.terms.span(goal.e) }
    }

    /// The type of values that `node` concludes. `None` for any other type.
    fn ground(&self, node: NodeId) -> Option<Ground> {
        self.ty(node).ground()
    }
}
