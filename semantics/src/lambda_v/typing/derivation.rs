//! Derivations of R, A ⊢ e : τ as shared nodes: a goal that many places need is one node, so
//! let-heavy programs stay small.

use super::super::syntax::Span;
use super::super::terms::{Extension, Node, TermId, Terms};
use super::super::types::{Ground, Type};
use crate::rule::Rule;
use smallvec::SmallVec;

/// The terms that only typing makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Typed {
    /// A rec-func's parameter, known by its type (LV-22).
    Param(Ground),
    /// `rec` of the rec-func whose frame has this number. Numbers are chosen fresh for the body, so
    /// `rec` of an outer rec-func that a let or func carried inward is not mistaken for the inner
    /// one's (LV-4).
    Rec(u32),
}

impl Extension for Typed {
    fn frames(self) -> u32 {
        match self {
            Typed::Param(_) => 0,
            Typed::Rec(frame) => frame + 1,
        }
    }
}

/// R: ∅ is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameId(pub u32);

/// A: ∅ is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackId(pub u32);

impl FrameId {
    /// R = ∅.
    pub const NONE: FrameId = FrameId(0);
}

impl StackId {
    /// A = ∅.
    pub const EMPTY: StackId = StackId(0);
}

/// A non-empty R: the recursive frame's number and the types of its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The number that [`Typed::Rec`] refers to.
    pub number: u32,
    /// τ1 … τn.
    pub types: SmallVec<[Ground; 4]>,
}

/// A non-empty A: (below, (e1 … en)), the arguments being the items after the first of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stack {
    /// The rest of the stack.
    pub below: StackId,
    /// The list `(e0 e1 … en)`.
    pub list: TermId,
}

/// R, A ⊢ e, to be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Goal {
    /// R.
    pub r: FrameId,
    /// A.
    pub a: StackId,
    /// e.
    pub e: TermId,
}

/// The index of a node of a derivation.
pub type NodeId = u32;

/// One node: its conclusion R, A ⊢ e : τ, the rule, and the nodes of the premises, which stand
/// before it.
#[derive(Clone, Debug)]
pub struct Step {
    /// The rule.
    pub rule: Rule,
    /// R, A ⊢ e.
    pub goal: Goal,
    /// τ.
    pub ty: Type,
    /// The case of rec-match, for lv/t-if.
    pub rec_match: Option<Rule>,
    /// The premises in the rule's order.
    pub premises: SmallVec<[NodeId; 4]>,
}

/// Derivations of one program's outputs, over shared nodes.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The terms of the conclusions. Source terms keep their indices.
    pub terms: Terms<Typed>,
    /// The nodes; premises before conclusions.
    pub nodes: Vec<Step>,
    /// The last node of each output.
    pub roots: Vec<NodeId>,
    /// The non-empty R. Number i is `FrameId(i + 1)`.
    pub frames: Vec<Frame>,
    /// The non-empty A. Number i is `StackId(i + 1)`.
    pub stacks: Vec<Stack>,
}

impl Derivation {
    /// R, if not ∅.
    pub fn frame(&self, id: FrameId) -> Option<&Frame> {
        (id.0 as usize).checked_sub(1).map(|i| &self.frames[i])
    }

    /// A, if not ∅.
    pub fn stack(&self, id: StackId) -> Option<Stack> {
        (id.0 as usize).checked_sub(1).map(|i| self.stacks[i])
    }

    /// The arguments on top of A.
    pub fn arguments(&self, stack: Stack) -> &[TermId] {
        match self.terms.node(stack.list) {
            Node::List(range) => &self.terms.items(range)[1..],
            other => unreachable!("a stack entry is a list, not {other:?}"),
        }
    }

    /// The type of each output.
    pub fn types(&self) -> impl Iterator<Item = Type> + '_ {
        self.roots.iter().map(|&root| self.nodes[root as usize].ty)
    }

    /// The place of a node's term.
    pub fn span(&self, node: NodeId) -> Span {
        self.terms.span(self.nodes[node as usize].goal.e)
    }

    /// The rules used, each once, in registry order.
    pub fn rules(&self) -> Vec<Rule> {
        let mut rules: Vec<Rule> = self.nodes.iter().flat_map(|n| [Some(n.rule), n.rec_match]).flatten().collect();
        rules.sort();
        rules.dedup();
        rules
    }
}
