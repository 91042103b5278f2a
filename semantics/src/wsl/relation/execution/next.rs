//! What a rule makes of a configuration: a reduct, and where in the term it happens.
//!
//! A rule changes nothing. It says what the redex becomes ([`Becomes`]) and what memory sees of it
//! ([`Effect`](super::Effect)), or that the thread waits or ends; a rule of a context adds the part
//! of the term that it applies in. The driver of the parent module does what is said.

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
    /// Whether it surely steps no more by itself.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Becomes::Expr(e) => matches!(e.form, Form::Value(_) | Form::Left(_)),
            Becomes::Stmt(s) => s.is_empty() || s.is_terminator(),
            Becomes::Block(_) | Becomes::Part(_) => false,
        }
    }
}

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Change {
    /// The rule.
    pub rule: Option<Rule>,
    /// What the redex becomes.
    pub becomes: Becomes,
    /// What memory sees.
    pub effects: Effects,
}

/// The one thing that a configuration does, or several under assumptions.
#[derive(Clone, Debug)]
pub enum Does {
    /// A change.
    Becomes(Change),
    /// A change for each value that an unspecified word is assumed to have; without a value, for
    /// those that no other change is for.
    Either(Word, Vec<(Option<u32>, Change)>),
    /// The thread is discarded.
    Discards(Option<Rule>),
    /// The thread waits or cannot go on.
    Stops(Stop),
}

/// A context: its rule, if it has one, and the part of the term; without a part, the term itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    rule: Option<Rule>,
    part: u32,
    /// By which judgement the part steps, if that is how the rule has it whenever it applies.
    judged: Option<Judged>,
}

/// No part of a term.
const HERE: u32 = u32::MAX;

/// The judgement that an expression steps by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    /// As any expression, or a statement.
    Step,
    /// To an abstract left-value.
    Left,
}

type Contexts = SmallVec<[Context; 8]>;

/// A reduct, and where it is.
#[derive(Clone, Debug)]
pub(super) struct Reduct {
    pub(super) does: Does,
    /// What it was applied to; nothing before the rule's row is known.
    pub(super) at: Option<ExprId>,
    /// Where that stands, if it is no expression.
    pub(super) place: Option<Span>,
    /// The contexts that it is applied in, innermost first: the rule, if it has one, and the part
    /// of the term.
    pub(super) contexts: Contexts,
    judged: Option<Judged>,
    /// The calls and iterations around a thread that stops, innermost first.
    pub(super) around: Vec<Around>,
}

/// What a configuration becomes.
#[derive(Clone, Debug)]
pub struct Next(pub(super) Box<Reduct>);

/// A part of a term that may be changed.
pub(super) enum Node<'t> {
    Expr(&'t mut Expr),
    Stmt(&'t mut Stmt),
}

impl From<Stop> for Next {
    fn from(stop: Stop) -> Next {
        Next::new(Does::Stops(stop))
    }
}

/// What a rule concludes whose premises hold, though the thread may have to stop instead.
pub(super) fn conclude(conclusion: impl FnOnce() -> Result<Next, Stop>) -> Option<Next> {
    Some(conclusion().unwrap_or_else(Next::from))
}

thread_local! {
    /// The last reduct that was done: the next one takes its memory, for each step has one.
    static DONE: Cell<Option<Box<Reduct>>> = const { Cell::new(None) };
}

impl Next {
    #[inline]
    fn new(does: Does) -> Next {
        match DONE.take() {
            Some(mut reduct) => {
                reduct.does = does;
                Next(reduct)
            }
            None => Next(Box::new(Reduct { does, at: None, place: None, contexts: SmallVec::new(), judged: None, around: Vec::new() })),
        }
    }

    /// It is done.
    pub(super) fn end(mut self) {
        let Reduct { does, at, place, contexts, judged, around } = &mut *self.0;
        *does = Does::Discards(None);
        (*at, *place, *judged) = (None, None, None);
        contexts.clear();
        around.clear();
        DONE.set(Some(self.0));
    }

    #[inline]
    fn becomes(becomes: Becomes) -> Next {
        Next::new(Does::Becomes(Change { rule: None, becomes, effects: Effects::new() }))
    }

    /// The redex becomes this expression.
    #[inline]
    pub fn expr(e: Expr) -> Next {
        Next::becomes(Becomes::Expr(e))
    }

    /// Likewise, of the redex's type.
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

    /// The redex, a block, becomes this one.
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
        Next::new(Does::Discards(None))
    }

    /// With these effects.
    #[inline]
    pub fn with(mut self, added: Effects) -> Next {
        if let Does::Becomes(change) = &mut self.0.does {
            match change.effects.is_empty() {
                true => change.effects = added,
                false => change.effects.extend(added),
            }
        }
        self
    }

    /// At a place of its own.
    pub fn placed(mut self, place: Span) -> Next {
        self.0.place = Some(place);
        self
    }

    /// Under the assumption that an unspecified word is one of these.
    pub fn under(mut self, word: Word, assumed: &[Option<u32>]) -> Next {
        self.0.does = match self.0.does {
            Does::Becomes(change) => Does::Either(word, assumed.iter().map(|&a| (a, change.clone())).collect()),
            does => does,
        };
        self
    }

    /// Either this or another, under assumptions about the same word.
    pub(super) fn or(mut self, other: Next) -> Next {
        if let (Does::Either(word, all), Does::Either(same, more)) = (&mut self.0.does, other.0.does)
            && *word == same
        {
            all.extend(more);
        }
        self
    }

    /// In the context of a rule, as that part of the term.
    #[inline]
    pub fn inside(mut self, rule: Rule, part: u32) -> Option<Next> {
        self.0.contexts.push(Context { rule: Some(rule), part, judged: self.0.judged });
        Some(self)
    }

    /// In the context of a rule that is about the term itself.
    #[inline]
    pub fn within(mut self, rule: Rule) -> Option<Next> {
        self.0.contexts.push(Context { rule: Some(rule), part: HERE, judged: self.0.judged });
        Some(self)
    }

    /// As that part of the term.
    #[inline]
    pub fn at_part(mut self, part: u32) -> Option<Next> {
        self.0.contexts.push(Context { rule: None, part, judged: self.0.judged });
        Some(self)
    }

    /// As a step by that judgement.
    pub(super) fn judged(mut self, judged: Judged) -> Next {
        self.0.judged = Some(judged);
        self
    }

    /// In a call or an iteration.
    pub(super) fn around(mut self, around: Option<Around>) -> Next {
        if let Does::Stops(_) = self.0.does {
            self.0.around.extend(around);
        }
        self
    }

    /// By a rule, if it is not known yet by which, applied to that.
    #[inline]
    pub fn by(mut self, rule: Rule, at: ExprId) -> Next {
        match &mut self.0.does {
            Does::Becomes(Change { rule: by, .. }) | Does::Discards(by) => _ = by.get_or_insert(rule),
            Does::Either(_, all) => all.iter_mut().for_each(|(_, change)| _ = change.rule.get_or_insert(rule)),
            Does::Stops(_) => {}
        }
        self.0.at.get_or_insert(at);
        self
    }

    /// What is done.
    pub fn does(&self) -> &Does {
        &self.0.does
    }

    /// Each change that it may be.
    pub fn changes(&mut self) -> impl Iterator<Item = &mut Change> {
        let (one, several) = match &mut self.0.does {
            Does::Becomes(change) => (Some(change), None),
            Does::Either(_, all) => (None, Some(all)),
            Does::Discards(_) | Does::Stops(_) => (None, None),
        };
        one.into_iter().chain(several.into_iter().flatten().map(|(_, change)| change))
    }

    /// Whether the thread goes on.
    pub(super) fn changes_term(&self) -> bool {
        matches!(self.0.does, Does::Becomes(_) | Does::Either(..))
    }

    /// Whether it depends on an unspecified word.
    pub fn is_open(&self) -> bool {
        matches!(self.0.does, Does::Either(..))
    }

    /// Whether it is the term itself that is reduced, not a part of it.
    pub fn is_here(&self) -> bool {
        self.0.contexts.iter().all(|context| context.part == HERE)
    }

    /// The same, of a term that is not in place yet: the whole term is what it becomes.
    pub fn plugged(mut self, e: Expr) -> Next {
        let Reduct { does, contexts, .. } = &mut *self.0;
        match does {
            Does::Becomes(change) => change.plug(e, contexts),
            Does::Either(_, all) => all.iter_mut().for_each(|(_, change)| change.plug(e.clone(), contexts)),
            Does::Discards(_) | Does::Stops(_) => {}
        }
        self.stays()
    }

    /// The same, of a statement.
    pub fn plugged_stmt(mut self, s: &Stmt) -> Next {
        let contexts = std::mem::take(&mut self.0.contexts);
        for change in self.changes() {
            let mut whole = s.clone();
            put(Node::Stmt(&mut whole), &contexts, change.take());
            change.becomes = Becomes::Stmt(whole);
        }
        self.0.contexts = contexts;
        self.stays()
    }

    /// The contexts apply still, but the term is one.
    fn stays(mut self) -> Next {
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

    /// The expression that it makes a value of, and the value.
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

/// Where a thread made its last step: contexts, outermost first.
///
/// A context applies as long as its part steps, so the next step is made there as well, or in as
/// many of the contexts as have a part that steps. So it is asked for from the inside.
#[derive(Clone, Debug, Default)]
pub(super) struct Focus(Vec<Context>);

impl Focus {
    pub(super) fn is_whole(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The focus is where a step was made within it.
    pub(super) fn enter(&mut self, contexts: &[Context]) {
        self.0.extend(contexts.iter().rev().take_while(|context| context.judged.is_some()));
        self.end();
    }

    /// A rule about the term itself may not be about what it becomes.
    fn end(&mut self) {
        while self.0.last().is_some_and(|context| context.part == HERE) {
            self.0.pop();
        }
    }

    /// The part of a program in focus, and the expression and the environment that it stands in;
    /// nothing if the program has no such part.
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

    /// What the part in focus does, which was got by [`Focus::part`].
    pub(super) fn next(&self, cx: &mut Cx, part: &Node) -> Option<Next> {
        match (part, self.0.last().and_then(|context| context.judged)) {
            (Node::Stmt(s), _) => cx.stmt(s),
            (Node::Expr(e), Some(Judged::Left)) => cx.left(e),
            (Node::Expr(e), _) => cx.expr(e),
        }
    }

    /// The focus is what is around the part in focus.
    pub(super) fn leave(&mut self) {
        self.0.pop();
        self.end();
    }
}

/// The rules of contexts, outermost first; if not all are told, those that are not in focus yet.
#[inline]
pub(super) fn within(shared: &Shared, focus: &Focus, contexts: &[Context]) -> SmallVec<[Rule; 8]> {
    let mut within = SmallVec::new();
    if contexts.is_empty() && !shared.tells_all {
        return within;
    }
    let before = if shared.tells_all { &focus.0[..] } else { &[] };
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

/// Puts what a redex becomes in its place. None if the term has no such place, or nothing of that
/// sort there.
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
