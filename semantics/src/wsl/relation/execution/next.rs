//! The result of a rule: a reduct, and its place in the term.
//!
//! A rule changes nothing. It returns what the redex becomes ([`Becomes`]) with its effects
//! ([`Effect`](super::Effect)), or that the thread waits or ends. A rule of a context adds the part
//! of the term that it applies in. The driver of the parent module carries out the result.

use super::term::{Block, Env, Expr, Form, Stmt, Value};
use super::{Around, Cx, Effects, Shared, Stop};
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::memory::Words;
use crate::wsl::open::Word;
use crate::wsl::typing::program::ExprId;
use smallvec::SmallVec;
use std::cell::Cell;

/// What a redex becomes.
#[derive(Clone, Debug)]
pub enum Becomes {
    /// This expression.
    Expr(Expr),
    /// This statement.
    Stmt(Stmt),
    /// This block.
    Block(Block),
    /// One of its own parts, by its number.
    Part(u32),
}

impl Becomes {
    /// Whether it certainly cannot step any further by itself.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Becomes::Expr(e) => matches!(e.form, Form::Value(_) | Form::Left(_)),
            Becomes::Stmt(s) => s.is_empty() || s.is_terminator(),
            Becomes::Block(_) | Becomes::Part(_) => false,
        }
    }
}

/// A change of the term, with its effects.
#[derive(Clone, Debug)]
pub struct Change {
    /// The rule. `None` until [`Next::set_rule`] sets it.
    pub rule: Option<Rule>,
    /// What the redex becomes.
    pub becomes: Becomes,
    /// The effects on memory and on the thread, in order.
    pub effects: Effects,
}

/// What a configuration does next: one thing, or one of several under assumptions.
#[derive(Clone, Debug)]
pub enum NextAction {
    /// A change.
    Becomes(Change),
    /// One change for each value that an unspecified word is assumed to have. The change without a
    /// value is for all values that have no change of their own.
    Either(Word, Vec<(Option<u32>, Change)>),
    /// The thread is discarded, by that rule.
    Discards(Option<Rule>),
    /// The thread waits or cannot go on.
    Stops(Stop),
}

/// A context: its rule, if it has one, and the number of the part of the term. The part is `HERE`
/// if the context is about the term itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    rule: Option<Rule>,
    part: u32,
    /// The judgement by which the part steps, if the context applies whenever the part steps so.
    /// Otherwise `None`, and the focus does not enter the context.
    judged: Option<Judged>,
}

/// The part number of a context that is about the term itself.
const HERE: u32 = u32::MAX;

/// The judgement that an expression steps by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    /// A step of an expression or of a statement.
    Step,
    /// A reduction of an expression to an abstract left-value.
    Left,
}

type Contexts = SmallVec<[Context; 8]>;

/// A reduct, and its place.
#[derive(Clone, Debug)]
pub(super) struct Reduct {
    pub(super) action: NextAction,
    /// The redex. `None` until [`Next::set_rule`] sets it.
    pub(super) at: Option<ExprId>,
    /// The place in the source, if it is not that of the redex.
    pub(super) place: Option<Span>,
    /// The contexts that it is applied in, innermost first.
    pub(super) contexts: Contexts,
    judged: Option<Judged>,
    /// The calls and iterations around a thread that stops, innermost first.
    pub(super) around: Vec<Around>,
}

/// The result of a rule for a configuration.
#[derive(Clone, Debug)]
pub struct Next(pub(super) Box<Reduct>);

/// A part of a term that may be changed.
pub(super) enum Node<'t> {
    Expr(&'t mut Expr),
    Stmt(&'t mut Stmt),
}

impl From<Stop> for Next {
    fn from(stop: Stop) -> Next {
        Next::new(NextAction::Stops(stop))
    }
}

/// The result of a rule whose premises hold: its conclusion, or the reason why the thread
/// stops instead.
pub(super) fn conclude(conclusion: impl FnOnce() -> Result<Next, Stop>) -> Option<Next> {
    Some(conclusion().unwrap_or_else(Next::from))
}

thread_local! {
    /// The last finished reduct. The next reduct reuses its memory, since every step needs one.
    static DONE: Cell<Option<Box<Reduct>>> = const { Cell::new(None) };
}

impl Next {
    #[inline]
    fn new(action: NextAction) -> Next {
        match DONE.take() {
            Some(mut reduct) => {
                reduct.action = action;
                Next(reduct)
            }
            None => Next(Box::new(Reduct { action, at: None, place: None, contexts: SmallVec::new(), judged: None, around: Vec::new() })),
        }
    }

    /// Keeps the memory of a finished reduct for the next one.
    pub(super) fn end(mut self) {
        let Reduct { action, at, place, contexts, judged, around } = &mut *self.0;
        *action = NextAction::Discards(None);
        (*at, *place, *judged) = (None, None, None);
        contexts.clear();
        around.clear();
        DONE.set(Some(self.0));
    }

    #[inline]
    fn becomes(becomes: Becomes) -> Next {
        Next::new(NextAction::Becomes(Change { rule: None, becomes, effects: Effects::new() }))
    }

    /// The redex becomes this expression.
    #[inline]
    pub fn expr(e: Expr) -> Next {
        Next::becomes(Becomes::Expr(e))
    }

    /// The redex becomes an expression of this form, with the type of the redex.
    #[inline]
    pub fn form(e: &Expr, form: Form) -> Next {
        Next::expr(Expr { at: e.at, ty: e.ty, form })
    }

    /// The redex becomes a value.
    #[inline]
    pub fn value(e: &Expr, words: Words) -> Next {
        Next::form(e, Form::Value(words))
    }

    /// The redex becomes this statement.
    #[inline]
    pub fn stmt(s: Stmt) -> Next {
        Next::becomes(Becomes::Stmt(s))
    }

    /// The redex, which is a block, becomes this block.
    #[inline]
    pub fn block(block: Block) -> Next {
        Next::becomes(Becomes::Block(block))
    }

    /// The redex becomes one of its own parts.
    #[inline]
    pub fn part(part: u32) -> Next {
        Next::becomes(Becomes::Part(part))
    }

    /// The thread is discarded.
    pub fn discards() -> Next {
        Next::new(NextAction::Discards(None))
    }

    /// Adds these effects to a change.
    #[inline]
    pub fn with(mut self, added: Effects) -> Next {
        if let NextAction::Becomes(change) = &mut self.0.action {
            match change.effects.is_empty() {
                true => change.effects = added,
                false => change.effects.extend(added),
            }
        }
        self
    }

    /// Sets a place in the source that is not that of the redex.
    pub fn placed(mut self, place: Span) -> Next {
        self.0.place = Some(place);
        self
    }

    /// Makes the change depend on an assumption: an unspecified word is one of these values
    /// ([`NextAction::Either`]).
    pub fn under(mut self, word: Word, assumed: &[Option<u32>]) -> Next {
        self.0.action = match self.0.action {
            NextAction::Becomes(change) => NextAction::Either(word, assumed.iter().map(|&a| (a, change.clone())).collect()),
            action => action,
        };
        self
    }

    /// Joins two results under assumptions about the same word.
    pub(super) fn or(mut self, other: Next) -> Next {
        if let (NextAction::Either(word, all), NextAction::Either(same, more)) = (&mut self.0.action, other.0.action)
            && *word == same
        {
            all.extend(more);
        }
        self
    }

    /// Adds the context of a rule. The redex is in that part of the term.
    #[inline]
    pub fn inside(mut self, rule: Rule, part: u32) -> Option<Next> {
        self.0.contexts.push(Context { rule: Some(rule), part, judged: self.0.judged });
        Some(self)
    }

    /// Adds the context of a rule that is about the term itself.
    #[inline]
    pub fn within(mut self, rule: Rule) -> Option<Next> {
        self.0.contexts.push(Context { rule: Some(rule), part: HERE, judged: self.0.judged });
        Some(self)
    }

    /// Adds a context without a rule. The redex is in that part of the term.
    #[inline]
    pub fn at_part(mut self, part: u32) -> Option<Next> {
        self.0.contexts.push(Context { rule: None, part, judged: self.0.judged });
        Some(self)
    }

    /// Records the judgement by which the term steps.
    pub(super) fn judged(mut self, judged: Judged) -> Next {
        self.0.judged = Some(judged);
        self
    }

    /// Adds a call or an iteration around a thread that stops.
    pub(super) fn around(mut self, around: Option<Around>) -> Next {
        if let NextAction::Stops(_) = self.0.action {
            self.0.around.extend(around);
        }
        self
    }

    /// Sets the rule and the redex, unless they are set already.
    #[inline]
    pub fn set_rule(mut self, rule: Rule, at: ExprId) -> Next {
        match &mut self.0.action {
            NextAction::Becomes(Change { rule: known, .. }) | NextAction::Discards(known) => _ = known.get_or_insert(rule),
            NextAction::Either(_, all) => all.iter_mut().for_each(|(_, change)| _ = change.rule.get_or_insert(rule)),
            NextAction::Stops(_) => {}
        }
        self.0.at.get_or_insert(at);
        self
    }

    /// What the configuration does next.
    pub fn action(&self) -> &NextAction {
        &self.0.action
    }

    /// The change, or all changes under assumptions.
    pub fn changes(&mut self) -> impl Iterator<Item = &mut Change> {
        let (one, several) = match &mut self.0.action {
            NextAction::Becomes(change) => (Some(change), None),
            NextAction::Either(_, all) => (None, Some(all)),
            NextAction::Discards(_) | NextAction::Stops(_) => (None, None),
        };
        one.into_iter().chain(several.into_iter().flatten().map(|(_, change)| change))
    }

    /// Whether the term changes, so that the thread goes on.
    pub(super) fn changes_term(&self) -> bool {
        matches!(self.0.action, NextAction::Becomes(_) | NextAction::Either(..))
    }

    /// Whether the result depends on an unspecified word.
    pub fn is_open(&self) -> bool {
        matches!(self.0.action, NextAction::Either(..))
    }

    /// Whether the redex is the term itself, not a part of it.
    pub fn is_here(&self) -> bool {
        self.0.contexts.iter().all(|context| context.part == HERE)
    }

    /// Turns a change in a part of `e` into a change of the whole term. The redex then becomes `e`
    /// with the changed part, because `e` is not in place yet.
    pub fn plugged(mut self, e: Expr) -> Next {
        let Reduct { action, contexts, .. } = &mut *self.0;
        match action {
            NextAction::Becomes(change) => change.plug(e, contexts),
            NextAction::Either(_, all) => all.iter_mut().for_each(|(_, change)| change.plug(e.clone(), contexts)),
            NextAction::Discards(_) | NextAction::Stops(_) => {}
        }
        self.keep_context_rules()
    }

    /// [`Next::plugged`] for a statement.
    pub fn plugged_stmt(mut self, s: &Stmt) -> Next {
        let contexts = std::mem::take(&mut self.0.contexts);
        for change in self.changes() {
            let mut whole = s.clone();
            put(Node::Stmt(&mut whole), &contexts, change.take());
            change.becomes = Becomes::Stmt(whole);
        }
        self.0.contexts = contexts;
        self.keep_context_rules()
    }

    /// Keeps the rules of the contexts, now as contexts about the term itself.
    fn keep_context_rules(mut self) -> Next {
        self.0.judged = None;
        self.0.contexts.retain(|context| {
            context.part = HERE;
            context.rule.is_some()
        });
        self
    }
}

impl Change {
    pub(super) fn take(&mut self) -> Becomes {
        std::mem::replace(&mut self.becomes, Becomes::Part(0))
    }

    /// The expression that becomes a value, and the value. `None` if no expression does.
    pub(super) fn value(&self) -> Option<Box<(ExprId, Value)>> {
        match &self.becomes {
            Becomes::Expr(Expr { at, ty, form: Form::Value(words) }) => Some(Box::new((*at, Value { ty: *ty, words: words.clone() }))),
            _ => None,
        }
    }

    fn plug(&mut self, mut e: Expr, contexts: &[Context]) {
        put(Node::Expr(&mut e), contexts, self.take());
        self.becomes = Becomes::Expr(e);
    }
}

/// The contexts of a thread's last step, outermost first.
///
/// A context applies as long as its part steps. So the next step is in the same place, or in the
/// innermost of these contexts whose part still steps. The driver therefore searches from the
/// inside outwards.
#[derive(Clone, Debug, Default)]
pub(super) struct Focus(Vec<Context>);

impl Focus {
    pub(super) fn is_whole(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Moves the focus to the place of a step that was made within it.
    pub(super) fn enter(&mut self, contexts: &[Context]) {
        self.0.extend(contexts.iter().rev().take_while(|context| context.judged.is_some()));
        self.end();
    }

    /// Drops innermost contexts about the term itself. Their rules may not apply to what the
    /// term becomes.
    fn end(&mut self) {
        while self.0.last().is_some_and(|context| context.part == HERE) {
            self.0.pop();
        }
    }

    /// The part of a program in focus, with the enclosing expression and environment. `None` if the
    /// program has no such part.
    pub(super) fn part<'t>(&self, program: &'t mut Expr) -> Option<(Node<'t>, ExprId, Option<Env>)> {
        let (mut at, mut env) = (program.at, None);
        let mut node = Node::Expr(program);
        for context in self.0.iter().filter(|context| context.part != HERE) {
            node = match node {
                Node::Expr(e) => {
                    at = e.at;
                    Node::Expr(e).part(context.part)?
                }
                Node::Stmt(Stmt::Block(block)) => {
                    env = block.env.as_ref();
                    Node::Stmt(block.first.as_mut()?)
                }
                Node::Stmt(s) => Node::Stmt(s).part(context.part)?,
            };
        }
        Some((node, at, env.cloned()))
    }

    /// The next result for the part in focus, which [`Focus::part`] returned.
    pub(super) fn next(&self, cx: &mut Cx, part: &Node) -> Option<Next> {
        match (part, self.0.last().and_then(|context| context.judged)) {
            (Node::Stmt(s), _) => cx.stmt(s),
            (Node::Expr(e), Some(Judged::Left)) => cx.left(e),
            (Node::Expr(e), _) => cx.expr(e),
        }
    }

    /// Moves the focus to the next context outside the part in focus.
    pub(super) fn leave(&mut self) {
        self.0.pop();
        self.end();
    }
}

/// The rules of the contexts, outermost first. Without [`Shared::records_steps`], only the contexts
/// that are not in focus yet.
#[inline]
pub(super) fn context_rules(shared: &Shared, focus: &Focus, contexts: &[Context]) -> SmallVec<[Rule; 8]> {
    let mut within = SmallVec::new();
    if contexts.is_empty() && !shared.records_steps {
        return within;
    }
    let before = if shared.records_steps { &focus.0[..] } else { &[] };
    for context in before.iter().chain(contexts.iter().rev()) {
        if let Some(rule) = context.rule {
            within.push(rule);
        }
    }
    within
}

impl<'t> Node<'t> {
    fn part(self, part: u32) -> Option<Node<'t>> {
        let at = part as usize;
        Some(match self {
            Node::Expr(e) => match &mut e.form {
                Form::Comma(p)
                | Form::Or(p)
                | Form::And(p)
                | Form::Assign(p)
                | Form::Index(p, _)
                | Form::Element(p)
                | Form::CompoundAssign(_, p) => Node::Expr(p.get_mut(at)?),
                Form::Ternary(p) => Node::Expr(p.get_mut(at)?),
                Form::Call(_, p) => Node::Expr(p.get_mut(at)?),
                Form::Coerce(_, p)
                | Form::Parens(p)
                | Form::AddressOf(p)
                | Form::Dereference(p)
                | Form::MakeReference(p, _)
                | Form::Dot(p, _)
                | Form::ArrayLength(p, _)
                | Form::ReferenceLength(p)
                | Form::Step(p, ..) => Node::Expr(p),
                Form::Construct(s) => Node::Stmt(s),
                Form::Source(_) | Form::Value(_) | Form::Left(_) | Form::Variable(_) => return None,
            },
            Node::Stmt(s) => match s {
                Stmt::Block(block) => Node::Stmt(block.first.as_mut()?),
                Stmt::Declaration(_, _, Some(e)) | Stmt::Switch(e, _) | Stmt::Return(Some(e)) | Stmt::Effect(e) => Node::Expr(e),
                Stmt::If(parts) => match part {
                    0 => Node::Expr(&mut parts.0),
                    1 => Node::Stmt(&mut parts.1),
                    _ => Node::Stmt(&mut parts.2),
                },
                Stmt::Cases(first, ..) => Node::Stmt(first),
                Stmt::Loop(parts, _) => Node::Stmt(parts.get_mut(at)?),
                _ => return None,
            },
        })
    }
}

/// Puts what a redex becomes in its place. `None` if the term has no such part, or a part of
/// another kind.
pub(super) fn put(mut node: Node, contexts: &[Context], becomes: Becomes) -> Option<()> {
    for context in contexts.iter().rev() {
        if context.part != HERE {
            node = node.part(context.part)?;
        }
    }
    match (node, becomes) {
        (Node::Expr(e), Becomes::Expr(new)) => *e = new,
        (Node::Stmt(s), Becomes::Stmt(new)) => *s = new,
        (Node::Stmt(Stmt::Block(block)), Becomes::Block(new)) => **block = new,
        (Node::Stmt(s), Becomes::Block(new)) => *s = Stmt::Block(Box::new(new)),
        (Node::Expr(e), Becomes::Part(part)) => match Node::Expr(e).part(part)? {
            Node::Expr(inner) => *e = inner.take(),
            Node::Stmt(_) => return None,
        },
        (Node::Stmt(s), Becomes::Part(part)) => match Node::Stmt(s).part(part)? {
            Node::Stmt(inner) => *s = inner.take(),
            Node::Expr(_) => return None,
        },
        _ => return None,
    }
    Some(())
}
