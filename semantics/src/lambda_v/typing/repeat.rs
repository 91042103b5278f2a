//! Whether a path of goals can go on for ever. This is the difference between "no finite
//! derivation" and "limit exceeded".
//!
//! Self-application (report §5: sumup) does not repeat the very same goal, since an argument
//! grows: (- 10 1), (- (- 10 1) 1), and so on. But the typing of a goal depends on such an argument
//! only through its type. So goals are compared after every closed subterm with a type of values is
//! replaced by that type. Suppose that an outer and an inner goal of one path are then equal. A
//! derivation of the outer goal would contain one of the inner goal with as many nodes (those
//! inside the replaced arguments not counted). So it would have no end.

use super::super::terms::{Node, TermId, Terms};
use super::super::types::Type;
use super::{FrameId, Goal, StackId, State, TypeError, Typed, Typer};
use crate::outcome::Limit;
use rustc_hash::{FxHashMap, FxHashSet};

/// The path length of the first search for a repetition. Each further search is at four times
/// the length.
pub(super) const FIRST_LOOK: usize = 200;
/// The longest path of the trial that determines whether an argument has a type.
const TRIAL_PATH: usize = 100;

/// A goal with arguments replaced by their types: R, the lists of A, e.
type Shape = (FrameId, Vec<TermId>, TermId);

impl Typer {
    /// A goal of the path that repeats an earlier one, except for the terms of arguments that have
    /// a type of values.
    pub(super) fn repeated_goal(&mut self) -> Option<Goal> {
        let mut seen: FxHashSet<Shape> = FxHashSet::default();
        let mut shapes = FxHashMap::default();
        for i in 0..self.path.len() {
            let goal = self.path[i];
            let mut lists = Vec::new();
            let mut a = goal.a;
            while let Some(stack) = self.d.stack(a) {
                lists.push(self.shape(stack.list, false, &mut shapes)?);
                a = stack.below;
            }
            let e = self.shape(goal.e, false, &mut shapes)?;
            if !seen.insert((goal.r, lists, e)) {
                return Some(goal);
            }
        }
        None
    }

    /// The term with its closed subterms of a type of values replaced by typed parameters. If
    /// `whole`, the term itself may be replaced too. `None` at a limit.
    fn shape(&mut self, e: TermId, whole: bool, shapes: &mut FxHashMap<(TermId, bool), TermId>) -> Option<TermId> {
        if let Some(&shape) = shapes.get(&(e, whole)) {
            return Some(shape);
        }
        let node = self.d.terms.node(e);
        let span = self.d.terms.span(e);
        let replaceable = whole && self.d.terms.is_closed(e) && matches!(node, Node::List(_) | Node::Let { .. });
        let shape = match replaceable.then(|| self.trial(e)).flatten() {
            Some(Type::Ground(ty)) => self.d.terms.add(Node::Ext(Typed::Param(ty)), super::Span { start: 0, end: 0 }).ok()?,
            _ => {
                let children = children(&self.d.terms, e);
                let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
                for child in children {
                    let shape = super::deep(|| self.shape(child, true, shapes))?;
                    map.insert(child, shape);
                }
                let mut replace = |_: &mut Terms<Typed>, child: TermId, _: u32| -> Result<TermId, Limit> { Ok(map[&child]) };
                self.d.terms.rebuild(node, span, &mut replace).ok()?
            }
        };
        shapes.insert((e, whole), shape);
        Some(shape)
    }

    /// The type under R = ∅ and A = ∅, if a short path finds it. A failure leaves no trace.
    fn trial(&mut self, e: TermId) -> Option<Type> {
        let goal = Goal { r: FrameId::NONE, a: StackId::EMPTY, e };
        if let Some(State::Done(node)) = self.known.get(&goal) {
            return Some(self.ty(*node));
        }
        let (depth, look_at, limits) = (self.path.len(), self.look_at, self.limits);
        self.look_at = usize::MAX;
        self.limits.path = depth + TRIAL_PATH;
        let result: Result<_, TypeError> = self.derive(goal);
        self.limits = limits;
        self.look_at = look_at;
        for open in self.path.drain(depth..) {
            self.known.remove(&open);
        }
        result.ok().map(|node| self.ty(node))
    }
}

/// The direct subterms.
fn children(terms: &Terms<Typed>, e: TermId) -> Vec<TermId> {
    match terms.node(e) {
        Node::List(items) => terms.items(items).to_vec(),
        Node::Let { values, body, .. } => terms.items(values).iter().copied().chain([body]).collect(),
        Node::Func { body, .. } | Node::RecFunc { body, .. } => vec![body],
        _ => Vec::new(),
    }
}
