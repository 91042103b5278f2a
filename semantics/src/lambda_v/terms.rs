//! Terms: λV expressions with resolved names, shared in an arena. Typing, reduction and
//! translation use the one substitution of this module.
//!
//! A variable is written as a distance (the number of binder lists between) and a position in its
//! list. So renaming never matters, equal terms have equal indices, and substitution cannot capture
//! (LV-4). Some terms stand in no program: values of several components, typed parameters,
//! translated expressions. They are the extension `X` of the engine that makes them. `Terms<Never>`
//! is source.

use super::builtin::Builtin;
use super::syntax::{Span, Symbol};
use crate::outcome::Limit;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// The index of a term in its arena. Two terms with equal structure and spans have equal indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(pub u32);

/// A range of the arena's children or binders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    start: u32,
    len: u32,
}

impl Range {
    /// The number of elements.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether the range is empty.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// The extension without terms, for source programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Never {}

/// The position of `rec` in the binder list of a rec-func.
pub const REC: u32 = u32::MAX;

/// A term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node<X> {
    /// A number, by its bits.
    Num(u32),
    /// `true` or `false`.
    Bool(bool),
    /// The variable at `slot` of the binder list that stands `group` lists outward; [`REC`] is the
    /// rec-func itself.
    Var {
        /// The number of binder lists between.
        group: u32,
        /// The position in the list.
        slot: u32,
    },
    /// A builtin.
    Builtin(Builtin),
    /// The predefined identifier `if`.
    If,
    /// `(e0 e1 … en)`, or `()`.
    List(Range),
    /// `(let ((id1 e1) … (idn en)) e)`.
    Let {
        /// The identifiers.
        names: Range,
        /// The expressions, outside the binders' scope.
        values: Range,
        /// The body, under one binder list.
        body: TermId,
    },
    /// `(func (id1 … idn) e)`.
    Func {
        /// The identifiers.
        names: Range,
        /// The body, under one binder list.
        body: TermId,
    },
    /// `(rec-func (id1 … idn) e)`.
    RecFunc {
        /// The identifiers.
        names: Range,
        /// The body, under one binder list, to which `rec` belongs.
        body: TermId,
    },
    /// A term that only an engine makes.
    Ext(X),
}

/// The interface of an extension.
pub trait Extension: Copy + Eq + Hash + std::fmt::Debug {
    /// 1 + the greatest open recursive frame that the term mentions, 0 for none. See
    /// [`Terms::frames`].
    fn frames(self) -> u32 {
        0
    }
}

impl Extension for Never {}

/// An arena of terms.
#[derive(Clone, Debug)]
pub struct Terms<X> {
    nodes: Vec<Node<X>>,
    meta: Vec<Meta>,
    children: Vec<TermId>,
    binders: Vec<Symbol>,
    index: FxHashMap<u64, TermId>,
    limit: usize,
}

#[derive(Clone, Copy, Debug)]
struct Meta {
    span: Span,
    /// Bit g: a variable of the binder list g levels outward is free; bit 63 stands for all levels
    /// from 63.
    free: u64,
    frames: u32,
    /// The levels of nesting, at most [`MAX_DEPTH`].
    depth: u32,
}

/// The deepest nesting of a term. It bounds the cost of recursion over terms.
pub const MAX_DEPTH: u32 = 40_000;

/// What replaces the variables of one binder list.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    /// One term per identifier.
    pub args: &'a [TermId],
    /// The term for `rec`, if the list is a rec-func's.
    pub rec: Option<TermId>,
}

/// A substitution: [`Terms::substitute`] unless a test plants another.
pub type Substitute<X> = fn(&mut Terms<X>, TermId, Replacement<'_>) -> Result<TermId, Limit>;

impl<X: Extension> Terms<X> {
    /// An empty arena that holds at most `limit` terms.
    pub fn new(limit: usize) -> Terms<X> {
        Terms { nodes: Vec::new(), meta: Vec::new(), children: Vec::new(), binders: Vec::new(), index: FxHashMap::default(), limit }
    }

    /// The arena of a source program as an engine's arena; the indices stay the same.
    pub fn from_source(source: &Terms<Never>, limit: usize) -> Terms<X> {
        let lift = |node: &Node<Never>| match *node {
            Node::Num(b) => Node::Num(b),
            Node::Bool(b) => Node::Bool(b),
            Node::Var { group, slot } => Node::Var { group, slot },
            Node::Builtin(b) => Node::Builtin(b),
            Node::If => Node::If,
            Node::List(r) => Node::List(r),
            Node::Let { names, values, body } => Node::Let { names, values, body },
            Node::Func { names, body } => Node::Func { names, body },
            Node::RecFunc { names, body } => Node::RecFunc { names, body },
            Node::Ext(never) => match never {},
        };
        Terms {
            nodes: source.nodes.iter().map(lift).collect(),
            meta: source.meta.clone(),
            children: source.children.clone(),
            binders: source.binders.clone(),
            index: FxHashMap::default(),
            limit: limit.max(source.nodes.len()),
        }
    }

    /// The node of a term.
    pub fn node(&self, id: TermId) -> Node<X> {
        self.nodes[id.0 as usize]
    }

    /// The place of a term in the source. A term made by substitution keeps the place where it
    /// was written.
    pub fn span(&self, id: TermId) -> Span {
        self.meta[id.0 as usize].span
    }

    /// 1 + the greatest open recursive frame (see [`Extension::frames`]) that the term mentions, 0
    /// for none.
    pub fn frames(&self, id: TermId) -> u32 {
        self.meta[id.0 as usize].frames
    }

    /// Whether no variable is free in the term.
    pub fn is_closed(&self, id: TermId) -> bool {
        self.meta[id.0 as usize].free == 0
    }

    /// The items of a list or the values of a let.
    pub fn items(&self, range: Range) -> &[TermId] {
        &self.children[range.start as usize..(range.start + range.len) as usize]
    }

    /// The identifiers of a binder list.
    pub fn names(&self, range: Range) -> &[Symbol] {
        &self.binders[range.start as usize..(range.start + range.len) as usize]
    }

    /// The number of terms in the arena.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the arena is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds a binder list.
    pub fn add_names(&mut self, names: &[Symbol]) -> Range {
        let start = self.binders.len() as u32;
        self.binders.extend_from_slice(names);
        Range { start, len: names.len() as u32 }
    }

    /// Adds a term without children, or finds it.
    pub fn add(&mut self, node: Node<X>, span: Span) -> Result<TermId, Limit> {
        debug_assert!(!matches!(node, Node::List(_) | Node::Let { .. }), "terms with items are added with their items");
        self.intern(node, &[], span)
    }

    /// Adds a list, or finds it.
    pub fn add_list(&mut self, items: &[TermId], span: Span) -> Result<TermId, Limit> {
        self.intern(Node::List(Range { start: 0, len: items.len() as u32 }), items, span)
    }

    /// Adds a let, or finds it.
    pub fn add_let(&mut self, names: Range, values: &[TermId], body: TermId, span: Span) -> Result<TermId, Limit> {
        self.intern(Node::Let { names, values: Range { start: 0, len: values.len() as u32 }, body }, values, span)
    }

    /// Adds a term, or finds it. `items` are its items, and the range of items in `node` is
    /// a placeholder.
    fn intern(&mut self, mut node: Node<X>, items: &[TermId], span: Span) -> Result<TermId, Limit> {
        let mut hasher = FxHasher::default();
        node.hash(&mut hasher);
        items.hash(&mut hasher);
        span.hash(&mut hasher);
        let hash = hasher.finish();
        if let Some(&found) = self.index.get(&hash)
            && self.is_same(found, node, items, span)
        {
            return Ok(found);
        }
        if self.nodes.len() >= self.limit {
            return Err(Limit { what: "terms", bound: self.limit as u64 });
        }
        let free_of = |id: &TermId| self.meta[id.0 as usize].free;
        let frames_of = |id: &TermId| self.meta[id.0 as usize].frames;
        let mut free = items.iter().map(free_of).fold(0, |a, b| a | b);
        let mut frames = items.iter().map(frames_of).max().unwrap_or(0);
        let mut depth = items.iter().map(|id| self.meta[id.0 as usize].depth).max().unwrap_or(0);
        match node {
            Node::Var { group, .. } => free = 1 << group.min(63),
            Node::Let { body, .. } | Node::Func { body, .. } | Node::RecFunc { body, .. } => {
                let body = self.meta[body.0 as usize];
                // The top bit stands for every level from 63 on, so it stays when
                // the others move down.
                free |= body.free >> 1 | body.free & 1 << 63;
                frames = frames.max(body.frames);
                depth = depth.max(body.depth);
            }
            Node::Ext(x) => frames = x.frames(),
            _ => {}
        }
        depth += 1;
        if depth > MAX_DEPTH {
            return Err(Limit { what: "levels of nesting", bound: MAX_DEPTH as u64 });
        }
        if let Node::List(range) | Node::Let { values: range, .. } = &mut node {
            range.start = self.children.len() as u32;
            self.children.extend_from_slice(items);
        }
        let id = TermId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.meta.push(Meta { span, free, frames, depth });
        self.index.insert(hash, id);
        Ok(id)
    }

    fn is_same(&self, found: TermId, node: Node<X>, items: &[TermId], span: Span) -> bool {
        self.span(found) == span
            && match (self.node(found), node) {
                (Node::List(r), Node::List(_)) => self.items(r) == items,
                (Node::Let { names: n, values, body: b }, Node::Let { names, body, .. }) => {
                    n == names && b == body && self.items(values) == items
                }
                (a, b) => a == b,
            }
    }

    /// `body[args/ids, rec/rec]`, for a `body` under one binder list: simultaneous and
    /// capture-avoiding (LV-4). The substitution removes the list, so variables of outer lists are
    /// one level nearer. Nesting costs heap, not stack.
    pub fn substitute(&mut self, body: TermId, with: Replacement<'_>) -> Result<TermId, Limit> {
        self.substitute_at(body, 0, with)
    }

    fn substitute_at(&mut self, id: TermId, depth: u32, with: Replacement<'_>) -> Result<TermId, Limit> {
        let free = self.meta[id.0 as usize].free;
        // No variable of this list or an outer one is free: the term stays as it is.
        if free >> depth.min(63) == 0 {
            return Ok(id);
        }
        let span = self.span(id);
        match self.node(id) {
            Node::Var { group, slot } if group == depth => {
                let arg = if slot == REC { with.rec.unwrap_or(id) } else { with.args[slot as usize] };
                self.shift(arg, depth, 0)
            }
            Node::Var { group, slot } => self.add(Node::Var { group: group - 1, slot }, span),
            node => self.rebuild(node, span, &mut |terms, child, binders| terms.substitute_at(child, depth + binders, with)),
        }
    }

    /// The term with its free variables `levels` levels further out. `depth` is the number of lists
    /// passed so far.
    fn shift(&mut self, id: TermId, levels: u32, depth: u32) -> Result<TermId, Limit> {
        if levels == 0 || self.meta[id.0 as usize].free >> depth.min(63) == 0 {
            return Ok(id);
        }
        let span = self.span(id);
        match self.node(id) {
            Node::Var { group, slot } if group >= depth => self.add(Node::Var { group: group + levels, slot }, span),
            Node::Var { .. } => Ok(id),
            node => self.rebuild(node, span, &mut |terms, child, binders| terms.shift(child, levels, depth + binders)),
        }
    }

    /// The same term with its children mapped by `f`. The last argument of `f` is 1 if the child is
    /// under one more binder list, otherwise 0.
    pub fn rebuild<E: From<Limit>>(
        &mut self,
        node: Node<X>,
        span: Span,
        f: &mut dyn FnMut(&mut Self, TermId, u32) -> Result<TermId, E>,
    ) -> Result<TermId, E> {
        deep(|| {
            Ok(match node {
                Node::List(range) => {
                    let items = self.map_items(range, f)?;
                    self.add_list(&items, span)?
                }
                Node::Let { names, values, body } => {
                    let values = self.map_items(values, f)?;
                    let body = f(self, body, 1)?;
                    self.add_let(names, &values, body, span)?
                }
                Node::Func { names, body } => {
                    let body = f(self, body, 1)?;
                    self.add(Node::Func { names, body }, span)?
                }
                Node::RecFunc { names, body } => {
                    let body = f(self, body, 1)?;
                    self.add(Node::RecFunc { names, body }, span)?
                }
                leaf => self.add(leaf, span)?,
            })
        })
    }

    /// Copies a term of another arena. `ext` replaces terms that only the other engine makes.
    pub fn import<Y: Extension>(
        &mut self,
        from: &Terms<Y>,
        id: TermId,
        ext: &mut dyn FnMut(&mut Self, Y, Span) -> Result<TermId, Limit>,
    ) -> Result<TermId, Limit> {
        deep(|| {
            let span = from.span(id);
            let mut items = |terms: &mut Self, range: Range| -> Result<Vec<TermId>, Limit> {
                from.items(range).iter().map(|&item| terms.import(from, item, ext)).collect()
            };
            match from.node(id) {
                Node::Num(bits) => self.add(Node::Num(bits), span),
                Node::Bool(b) => self.add(Node::Bool(b), span),
                Node::Var { group, slot } => self.add(Node::Var { group, slot }, span),
                Node::Builtin(builtin) => self.add(Node::Builtin(builtin), span),
                Node::If => self.add(Node::If, span),
                Node::List(range) => {
                    let items = items(self, range)?;
                    self.add_list(&items, span)
                }
                Node::Let { names, values, body } => {
                    let values = items(self, values)?;
                    let body = self.import(from, body, ext)?;
                    let names = self.add_names(from.names(names));
                    self.add_let(names, &values, body, span)
                }
                Node::Func { names, body } => {
                    let body = self.import(from, body, ext)?;
                    let names = self.add_names(from.names(names));
                    self.add(Node::Func { names, body }, span)
                }
                Node::RecFunc { names, body } => {
                    let body = self.import(from, body, ext)?;
                    let names = self.add_names(from.names(names));
                    self.add(Node::RecFunc { names, body }, span)
                }
                Node::Ext(x) => ext(self, x, span),
            }
        })
    }

    fn map_items<E>(
        &mut self,
        range: Range,
        f: &mut dyn FnMut(&mut Self, TermId, u32) -> Result<TermId, E>,
    ) -> Result<smallvec::SmallVec<[TermId; 6]>, E> {
        let mut items = smallvec::SmallVec::new();
        for i in 0..range.len {
            let item = self.children[(range.start + i) as usize];
            items.push(f(self, item, 0)?);
        }
        Ok(items)
    }
}

pub use crate::text::deep;
