//! The context that a rule reads besides its term ([`Cx`]), and the three judgements that premises
//! use: steps of right-values, reductions to left-values, and steps of statements.

use super::next::{Judged, Next};
use super::table::{Shape, StmtShape};
use super::term::{Block, Env, Expr, Form, Stmt};
use super::{Effect, Effects, Gate, InDraw, Shared, Stop};
use crate::interleavings::Footprint;
use crate::rule::Rule;
use crate::text::{Span, deep};
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::memory::{Address, Memory, ObjectId, Words};
use crate::wsl::open::{OpenTerms, Word};
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::TypeId;
use crate::wsl::typing::program::{Access, Coercion, ExprId, Form as Typed, Program, StmtForm, StmtId, StoreId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;

/// The context that a rule reads besides its term. Rules change nothing in it, except that they may
/// add terms over unspecified values.
#[derive(Debug)]
pub struct Cx<'a, 'p> {
    /// The program and its layout.
    pub shared: &'a Shared<'p>,
    /// Memory.
    pub memory: &'a Memory,
    /// The terms over unspecified values.
    pub opens: &'a mut OpenTerms,
    pub(super) own: ObjectId,
    pub(super) group: ObjectId,
    pub(super) number: u32,
    pub(super) generated: &'a FxHashMap<Generated, ObjectId>,
    pub(super) released: bool,
    pub(super) gate: Gate,
    pub(super) stage: Option<&'a InDraw>,
    /// The environment ρ. `None` is the empty environment.
    pub(super) env: Option<Env>,
    /// The source expression of the term being reduced, or, for a statement, of an expression in it
    /// or around it.
    pub(super) at: ExprId,
    /// The current nesting of judgements, in levels of the term.
    pub(super) depth: u32,
    /// The source expression and the name of the innermost term to which no rule applied.
    pub(super) stuck: Option<(ExprId, &'static str)>,
    /// One record for each term, if every rule is tried. `None` in a normal step.
    pub(super) applied_rules: Option<Vec<AppliedRules>>,
}

/// The rules that applied to a term when every rule was tried.
#[derive(Clone, Debug)]
pub struct AppliedRules {
    /// The rules that applied. `None` stands for a coercion whose operand steps in place, which has
    /// no rule of its own.
    pub applied: SmallVec<[Option<Rule>; 2]>,
    /// Whether each of them applies under an assumption about an unspecified value.
    pub alternatives: bool,
    /// Whether the lookup by the term's form finds all of them.
    pub indexed: bool,
    /// Whether the term is the whole program of the thread.
    pub whole: bool,
}

/// The number of levels of a source expression that are opened at once. Nested expressions then
/// need not be put in place level by level.
const LEVELS: u32 = 8;

/// Rules with their functions.
type Rows<T> = [(Rule, fn(&mut Cx, &T) -> Option<Next>)];

/// The truth of a condition: known, or a term over unspecified values.
enum Truth {
    Known(bool),
    Open(Word),
}

impl<'p> Cx<'_, 'p> {
    /// The thread's number in the dispatch.
    pub fn thread(&self) -> u32 {
        self.number
    }

    pub(super) fn program(&self) -> &'p Program {
        self.shared.program
    }

    /// ρ ⊢ e → e', where e is used as a right-value.
    pub fn expr(&mut self, e: &Expr) -> Option<Next> {
        match e.form {
            Form::Value(_) | Form::Left(_) if self.applied_rules.is_none() => None,
            _ => self.below(|cx| cx.expr_of(e)),
        }
    }

    /// ρ ⊢ e → e', where e is reduced to an abstract left-value. `None` if e is a left-value
    /// or a value already (ERRATA WSL-D3, WSL-D4).
    pub fn left(&mut self, e: &Expr) -> Option<Next> {
        match e.form {
            Form::Value(_) | Form::Left(_) if self.applied_rules.is_none() => None,
            _ => self.below(|cx| cx.left_of(e)),
        }
    }

    /// ρ ⊢ s → s'
    pub fn stmt(&mut self, s: &Stmt) -> Option<Next> {
        self.below(|cx| cx.stmt_of(s))
    }

    /// Calls `f` one level further down in the term. Every 8 levels, `deep` makes sure that the
    /// stack has room.
    #[inline]
    fn below<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        self.depth += 1;
        let result = if self.depth.is_multiple_of(8) { deep(|| f(self)) } else { f(self) };
        self.depth -= 1;
        result
    }

    fn expr_of(&mut self, e: &Expr) -> Option<Next> {
        let opened = self.opened(e);
        let term = opened.as_ref().unwrap_or(e);
        let outer = std::mem::replace(&mut self.at, term.at);
        let next = match self.applied_rules {
            None => self.expr_by_form(term),
            Some(_) => {
                self.try_every_rule(|rules| (rules.exprs.all(), rules.exprs.of(Shape::of(term) as usize)), term, |cx| cx.in_coercion(term))
            }
        };
        if next.is_none() && self.stuck.is_none() {
            self.stuck = Some((term.at, term.form.name()));
        }
        self.at = outer;
        Some(
            match opened {
                Some(opened) => next?.plugged(opened),
                None => next?,
            }
            .judged(Judged::Step),
        )
    }

    fn expr_by_form(&mut self, e: &Expr) -> Option<Next> {
        let shared = self.shared;
        self.first(shared.rules.exprs.of(Shape::of(e) as usize), e).or_else(|| self.in_coercion(e))
    }

    /// A coercion is not in the syntax of the specification. Its operand steps in place, without
    /// a rule.
    fn in_coercion(&mut self, e: &Expr) -> Option<Next> {
        match &e.form {
            Form::Coerce(_, inner) => self.expr(inner)?.at_part(0),
            _ => None,
        }
    }

    fn left_of(&mut self, e: &Expr) -> Option<Next> {
        let opened = self.opened(e);
        let term = opened.as_ref().unwrap_or(e);
        let outer = std::mem::replace(&mut self.at, term.at);
        let next = match self.applied_rules {
            None => {
                let shared = self.shared;
                self.first(shared.rules.lefts.of(Shape::of(term) as usize), term)
            }
            Some(_) => self.try_every_rule(|rules| (rules.lefts.all(), rules.lefts.of(Shape::of(term) as usize)), term, |_| None),
        };
        self.at = outer;
        Some(
            match opened {
                Some(opened) => next?.plugged(opened),
                None => next?,
            }
            .judged(Judged::Left),
        )
    }

    fn stmt_of(&mut self, s: &Stmt) -> Option<Next> {
        let outer = self.at;
        match s {
            Stmt::If(parts) => self.at = parts.0.at,
            Stmt::Return(Some(e)) | Stmt::Effect(e) | Stmt::Switch(e, _) => self.at = e.at,
            _ => {}
        }
        let next = match self.applied_rules {
            None => {
                let shared = self.shared;
                self.first(shared.rules.stmts.of(StmtShape::of(s) as usize), s)
            }
            Some(_) => self.try_every_rule(|rules| (rules.stmts.all(), rules.stmts.of(StmtShape::of(s) as usize)), s, |_| None),
        };
        if next.is_none() && self.stuck.is_none() && !s.is_terminator() && !s.is_empty() {
            self.stuck = Some((self.at, s.name()));
        }
        self.at = outer;
        Some(next?.judged(Judged::Step))
    }

    /// The result of the first rule that applies. Rules that apply under assumptions are joined.
    fn first<T>(&mut self, rules: &Rows<T>, term: &T) -> Option<Next> {
        let mut open: Option<Next> = None;
        for &(rule, function) in rules {
            let Some(next) = function(self, term) else { continue };
            let next = next.set_rule(rule, self.at);
            if !next.is_open() {
                return Some(open.unwrap_or(next));
            }
            open = Some(match open {
                Some(first) => first.or(next),
                None => next,
            });
        }
        open
    }

    /// Tries every rule of a judgement and records which apply. `beside` makes the step that has
    /// no rule.
    fn try_every_rule<T>(
        &mut self,
        rules: impl Fn(&super::Rules) -> (&Rows<T>, &Rows<T>),
        term: &T,
        ruleless_step: impl FnOnce(&mut Self) -> Option<Next>,
    ) -> Option<Next> {
        let shared = self.shared;
        let (all, by_form) = rules(&shared.rules);
        let mut applied: SmallVec<[Option<Rule>; 2]> = SmallVec::new();
        let mut joined: Option<Next> = None;
        let mut alternatives = true;
        for &(rule, function) in all {
            let Some(next) = function(self, term) else { continue };
            let next = next.set_rule(rule, self.at);
            applied.push(Some(rule));
            alternatives &= next.is_open();
            joined = Some(match joined {
                Some(first) => first.or(next),
                None => next,
            });
        }
        if let Some(next) = ruleless_step(self) {
            applied.push(None);
            alternatives = false;
            joined = joined.or(Some(next));
        }
        let indexed = applied.iter().flatten().all(|rule| by_form.iter().any(|row| row.0 == *rule));
        if let Some(applied_rules) = &mut self.applied_rules {
            applied_rules.push(AppliedRules { applied, alternatives, indexed, whole: false });
        }
        joined
    }

    /// Calls `f` in another environment.
    pub fn in_env<R>(&mut self, env: Env, f: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.env.replace(env);
        let result = f(self);
        self.env = outer;
        result
    }

    /// Stops the thread as stuck: the premises of a rule hold, but the thread cannot go on.
    pub(super) fn stuck<T>(&self, why: impl Into<String>) -> Result<T, Stop> {
        Err(Stop::Stuck(why.into(), self.span()))
    }

    /// The place in the source of the term being reduced. The call that a thread begins with may
    /// have none. It then has the default span.
    pub(super) fn span(&self) -> Span {
        span(self.program(), self.at)
    }

    /// The address of a store, in the memory of this thread or of its group.
    pub fn address(&self, store: StoreId) -> Address {
        let object = if self.program().store(store).space == AddressSpace::Threadgroup { self.group } else { self.own };
        Address::of(object, self.shared.offsets[store.0 as usize])
    }

    /// Checks that the thread may make an access now.
    ///
    /// # Errors
    /// [`Stop::Turn`] if the thread has to wait for its turn.
    pub(super) fn turn(&self, at: Address, words: usize, atomic: bool) -> Result<(), Stop> {
        turn(self.gate, self.memory, at, words, atomic).map_or(Ok(()), |footprint| Err(Stop::Turn(footprint)))
    }

    /// Loads `words` words, and adds the load to the effects.
    ///
    /// # Errors
    /// If the object does not hold that many words there, or if it is not the thread's turn.
    pub fn load(&mut self, at: Address, words: u32, effects: &mut Effects) -> Result<Words, Stop> {
        self.turn(at, words as usize, false)?;
        match self.memory.loaded(self.opens, at, words) {
            Some(words) => {
                effects.push(Effect::Load(at, Words::from_slice(&words)));
                Ok(words)
            }
            None => self.stuck("a load goes out of its object"),
        }
    }

    /// Whether an access at that address has no effect, because a helper thread makes it to
    /// device memory.
    pub(super) fn has_no_effect(&self, at: Address) -> bool {
        self.stage.is_some_and(|stage| stage.helper) && self.memory.object(at.object).space == AddressSpace::Device
    }

    fn truth(&self, e: &Expr) -> Option<Truth> {
        match self.opens.read(*e.words()?.first()?) {
            Word::Bits(bits) => Some(Truth::Known(bits != 0)),
            word @ Word::Open(_) => Some(Truth::Open(word)),
            Word::Address(_) => None,
        }
    }

    /// The step `next` if a value is true, perhaps under the assumption that it is. A word of a
    /// buffer may be true without being 1.
    pub(super) fn if_true(&self, e: &Expr, next: impl FnOnce() -> Next) -> Option<Next> {
        match self.truth(e)? {
            Truth::Known(true) => Some(next()),
            Truth::Known(false) => None,
            Truth::Open(word) => Some(next().under(word, &[Some(1), None])),
        }
    }

    /// The step `next` if a value is false, perhaps under the assumption that it is.
    pub(super) fn if_false(&self, e: &Expr, next: impl FnOnce() -> Next) -> Option<Next> {
        match self.truth(e)? {
            Truth::Known(false) => Some(next()),
            Truth::Known(true) => None,
            Truth::Open(word) => Some(next().under(word, &[Some(0)])),
        }
    }

    /// An expression that uses `e` as a right-value.
    pub(super) fn right(&self, e: Expr) -> Expr {
        match &e.form {
            Form::Left(_) => Expr { at: e.at, ty: e.ty, form: Form::Coerce(Coercion::LeftToRight, Box::new(e)) },
            Form::Dot(_, Access::Setter(..)) | Form::Index(_, Access::Setter(..)) => {
                Expr { at: e.at, ty: e.ty, form: Form::Coerce(Coercion::AbstractToRight, Box::new(e)) }
            }
            _ => e,
        }
    }

    /// The result type of a function that `e` calls.
    pub(super) fn result(&self, callee: Callee, e: &Expr) -> TypeId {
        match callee {
            Callee::Declared(id) => self.program().env.function(id).result,
            Callee::Library(_) | Callee::Generated(_) => e.ty,
        }
    }

    /// A source expression that is not reached yet. A literal is a value at once.
    pub(super) fn source(&self, id: ExprId) -> Expr {
        super::source(self.program(), id)
    }

    /// The expression with its top levels opened, if it is a source expression. `None` for others.
    fn opened(&self, e: &Expr) -> Option<Expr> {
        match e.form {
            Form::Source(id) => Some(self.open(id, LEVELS)),
            _ => None,
        }
    }

    /// Opens `levels` levels, at least one, of a source expression. Operands that may never be
    /// reached, or that are copied before they are reached, stay closed. A coercion of a left-value
    /// to an abstract left-value is dropped, since a left-value is one.
    fn open(&self, mut id: ExprId, levels: u32) -> Expr {
        let program = self.program();
        while let Typed::Coerce(Coercion::LeftToAbstract, inner) = program.expr(id).form {
            id = inner;
        }
        let unopened = |e: ExprId| self.source(e);
        let below = |e: ExprId| match program.expr(e).form {
            Typed::Constant(_) => unopened(e),
            _ if levels == 1 => unopened(e),
            _ => self.open(e, levels - 1),
        };
        let one = |e: ExprId| Box::new(below(e));
        let two = |a: ExprId, b: ExprId| Box::new([below(a), below(b)]);
        let ty = program.expr(id).ty.right();
        let form = match &program.expr(id).form {
            Typed::Constant(c) => Form::Value(Words::from_slice(&[Word::Bits(super::constant(program, *c, ty))])),
            Typed::Variable(store) => Form::Variable(*store),
            Typed::Coerce(coercion, e) => Form::Coerce(*coercion, one(*e)),
            Typed::Parens(e) => Form::Parens(one(*e)),
            Typed::Comma(a, b) => Form::Comma(two(*a, *b)),
            Typed::Or(a, b) => Form::Or(Box::new([below(*a), unopened(*b)])),
            Typed::And(a, b) => Form::And(Box::new([below(*a), unopened(*b)])),
            Typed::Ternary(a, b, c) => Form::Ternary(Box::new([below(*a), unopened(*b), unopened(*c)])),
            Typed::Assign(a, b) => Form::Assign(two(*a, *b)),
            Typed::AddressOf(e) => Form::AddressOf(one(*e)),
            Typed::Dereference(e) => Form::Dereference(one(*e)),
            Typed::MakeReference(e, n) => Form::MakeReference(one(*e), n.unwrap_or(1)),
            Typed::Dot(e, _, access) => Form::Dot(one(*e), *access),
            Typed::Index(a, b, access) => Form::Index(two(*a, *b), *access),
            Typed::Element(a, b) => Form::Element(two(*a, *b)),
            Typed::ArrayLength(e, n) => Form::ArrayLength(one(*e), *n),
            Typed::ReferenceLength(e) => Form::ReferenceLength(one(*e)),
            Typed::Step(_, _, e, callee, store) => Form::Step(one(*e), *callee, *store),
            // The operator takes the loaded target and `b`.
            Typed::CompoundAssign(callee, a, b) => Form::CompoundAssign(*callee, Box::new([below(*a), unopened(*b)])),
            Typed::Call(callee, range) => Form::Call(*callee, program.arguments(range).iter().map(|&e| below(e)).collect()),
        };
        Expr { at: id, ty, form }
    }

    /// A statement of the source, opened by one level.
    pub(super) fn open_stmt(&self, id: StmtId) -> Stmt {
        let program = self.program();
        match &program.stmt(id).form {
            StmtForm::Block(range) => Stmt::Block(Box::new(Block { rest: range.clone(), ..Block::default() })),
            StmtForm::Declaration(name, store, e) => Stmt::Declaration(*name, *store, e.map(|e| self.source(e))),
            StmtForm::If(e, s, otherwise) => Stmt::If(Box::new((self.source(*e), self.open_stmt(*s), self.open_stmt(*otherwise)))),
            StmtForm::DoWhile(..) | StmtForm::For(..) => Stmt::Iterate(id, 0),
            StmtForm::Switch(e, _) => Stmt::Switch(self.source(*e), id),
            StmtForm::Break => Stmt::Break,
            StmtForm::Continue => Stmt::Continue,
            StmtForm::Discard => Stmt::Discard,
            StmtForm::Fallthrough => Stmt::Fallthrough,
            StmtForm::Return(e) => Stmt::Return(e.map(|e| self.source(e))),
            StmtForm::Expr(e) => Stmt::Effect(self.source(*e)),
        }
    }

    /// The block `{ρ: s…}` of the statements that rules made, in reverse order, and of the
    /// source's statements `rest` after them.
    pub(super) fn block(&self, env: Env, mut inserted: Vec<Stmt>, mut rest: Range<u32>) -> Block {
        let first = inserted.pop().or_else(|| rest.next().map(|at| self.open_stmt(self.program().blocks[at as usize])));
        Block { env: Some(env), first, rest, inserted }
    }
}

/// The place of an expression in the source.
pub(super) fn span(program: &Program, at: ExprId) -> Span {
    program.exprs.get(at.0 as usize).map_or(Span::default(), |e| e.span)
}

/// The footprint of an access for which a thread has to wait. `None` if it need not wait.
pub(super) fn turn(gate: Gate, memory: &Memory, at: Address, words: usize, atomic: bool) -> Option<Footprint> {
    let waits = match gate {
        Gate::Open => false,
        Gate::Atomics => atomic,
        Gate::Shared => true,
    };
    if !waits || !matches!(memory.object(at.object).space, AddressSpace::Device | AddressSpace::Threadgroup) {
        return None;
    }
    // With `Gate::Shared` the same step may access other words too. An open address may be any
    // address of its object.
    Some(match (gate, at.open) {
        (Gate::Atomics, None) => Footprint::Memory { object: at.object.0, offset: at.bytes.into(), bytes: 4 * words as u64, writes: true },
        (Gate::Atomics, Some(_)) => Footprint::Memory { object: at.object.0, offset: 0, bytes: u64::MAX, writes: true },
        _ => Footprint::Everything,
    })
}
