//! Shrinking: from a program that shows something to a smaller one that still shows it.
//!
//! Each proposal is one change to the smallest program that is known to show it. A change
//! replaces an expression by a part of itself, by a constant of its type, or by the shortest
//! expression of its type whose value no compiler knows. It may also replace an output vector by
//! one of its components, remove a binding, parameter, define or output, or make a number
//! rounder. Some names and orders are equally good. Then the first is taken, so that different
//! programs that show one thing shrink to the same program. Only programs that stay valid
//! ([`Keep`]) and are smaller are proposed.

mod change;
mod part;
mod search;

pub use part::{alone, mended};

use super::edit::{COMPONENTS, Sketch, head, items, lay_out};
use crate::descent::{Descent, Shrinks};
use change::Edit;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Span, Tree, print_number};
use smallstep_semantics::lambda_v::types::{Ground, Type};
use smallstep_semantics::lambda_v::typing::{self, StackId, infer};
use std::hash::{Hash, Hasher};

/// The part of a program that computes one component of one output. `None` if there is no such
/// part, or it is the whole program.
pub fn slice(tree: &Tree, location: u32, component: u32) -> Option<Tree> {
    let types = Keep::WellTyped.types(tree);
    let is_output = |root: ExprId| head(tree, root) == Some("output");
    let is_at_location = |root: ExprId| items(tree, root).get(1).is_some_and(|&at| *tree.expr(at) == Expr::Num(location as f32));
    let mut part = tree.clone();
    part.roots.retain(|&root| !is_output(root) || is_at_location(root));
    let output = match *part.roots.iter().find(|&&root| head(tree, root) != Some("define"))? {
        root if is_output(root) => *items(tree, root).get(2)?,
        root => root,
    };
    let component = *COMPONENTS.get(component as usize)?;
    let slices = match types.get(&tree.span(output)) {
        // First the component of the operands. If that is not well typed, the component of the
        // whole expression.
        Some(Type::Ground(Ground::Vec(n @ 2.., _))) => [vectors(tree, &types, *n), FxHashSet::default()]
            .map(|vectors| {
                let mut sketch = Sketch::of(&part);
                let projected = sketch.project(output, component, &vectors, true);
                sketch.put(output, projected);
                sketch.finish()
            })
            .to_vec(),
        _ => vec![Sketch::of(&part).finish()],
    };
    slices.into_iter().find(|slice| Keep::WellTyped.holds(slice)).filter(|slice| !slice.same(tree))
}

/// The expressions that are vectors of this many components, and the names that may be.
fn vectors(tree: &Tree, types: &FxHashMap<Span, Type>, components: u8) -> FxHashSet<ExprId> {
    let may_be = |&e: &ExprId| match types.get(&tree.span(e)) {
        Some(ty) => matches!(ty, Type::Ground(Ground::Vec(n, _)) if *n == components),
        None => matches!(tree.expr(e), Expr::Ident(_)),
    };
    (0..tree.nodes.len() as u32).map(ExprId).filter(may_be).collect()
}

/// The condition that all proposals must meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Proposals are well typed.
    WellTyped,
    /// Names and forms are correct. For programs that have no type.
    Resolved,
}

/// The limits for typing a proposal. A proposal that exceeds them is dropped.
const TYPING: typing::Limits = typing::Limits { nodes: 1 << 16, terms: 1 << 18, path: 5_000 };

/// A search for a smaller program.
#[derive(Clone)]
pub struct Shrinking(Descent<Tree>);

/// The size that shrinking reduces. Nodes are compared first, then the text in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Size {
    nodes: u32,
    text: u32,
    /// The number of commutative operations with a number as the last operand only.
    disorder: u32,
}

impl Shrinking {
    /// A search that starts with this program.
    pub fn new(tree: &Tree, keep: Keep) -> Shrinking {
        Shrinking(Descent::new(lay_out(tree), keep))
    }

    /// The proposed program, or else the smallest known one.
    pub fn shown(&self) -> &Tree {
        self.0.shown()
    }

    /// Says that the proposed program shows it, or starts the search. Returns whether there is
    /// another proposal.
    pub fn simplify(&mut self) -> bool {
        self.0.simplify()
    }

    /// Says that the proposed program does not show it. Returns whether there is another proposal.
    pub fn complicate(&mut self) -> bool {
        self.0.complicate()
    }
}

impl Shrinks for Tree {
    type Keep = Keep;
    type Edit = Edit;
    type Size = Size;

    fn size(&self) -> Size {
        size(self)
    }

    fn nodes(size: Size) -> u32 {
        size.nodes
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.print().hash(&mut hasher);
        hasher.finish()
    }

    fn changes(&self, keep: Keep, limit: u32) -> Vec<(u32, Edit)> {
        let mut changes = search::changes(self, keep.types(self));
        changes.retain(|(removed, _)| *removed <= limit);
        changes.sort_by_key(|(removed, _)| std::cmp::Reverse(*removed));
        changes
    }

    fn changed(&self, edit: &Edit) -> Option<Tree> {
        edit.apply(self)
    }

    fn holds(&self, keep: Keep) -> bool {
        keep.holds(self)
    }
}

/// The smallest well-typed program found that `fails`, with at most `questions` calls of it.
/// Returns `tree` itself if that does not fail.
pub fn minimal(tree: &Tree, fails: &mut dyn FnMut(&Tree) -> bool, questions: u32) -> Tree {
    minimal_that_keeps(Keep::WellTyped, tree, fails, questions)
}

/// Like [`minimal`], but with another condition for the proposals.
pub fn minimal_that_keeps(keep: Keep, tree: &Tree, fails: &mut dyn FnMut(&Tree) -> bool, questions: u32) -> Tree {
    if questions == 0 || !fails(tree) {
        return tree.clone();
    }
    Shrinking::new(tree, keep).0.minimal(fails, questions)
}

impl Keep {
    fn holds(self, tree: &Tree) -> bool {
        let Ok(program) = Program::resolve(tree) else { return false };
        self == Keep::Resolved || infer(&program, TYPING).is_ok()
    }

    /// The types of expressions by span, for expressions that are typed in the way of operands.
    fn types(self, tree: &Tree) -> FxHashMap<Span, Type> {
        let mut types = FxHashMap::default();
        let derivation = Program::resolve(tree).ok().and_then(|program| infer(&program, TYPING).ok());
        if let Some(d) = derivation {
            for step in d.nodes.iter().filter(|step| step.goal.a == StackId::EMPTY) {
                types.entry(d.terms.span(step.goal.e)).or_insert(step.ty);
            }
        }
        types
    }
}

fn size(tree: &Tree) -> Size {
    let (mut text, mut disorder) = (0, 0);
    let mut number = String::new();
    for (i, node) in tree.nodes.iter().enumerate() {
        disorder += u32::from(is_disordered(tree, ExprId(i as u32)));
        text += match node {
            Expr::Num(0.0) => 0,
            Expr::Num(1.0) => 1,
            Expr::Num(x) => {
                number.clear();
                print_number(*x, &mut number);
                1 + number.len() as u32
            }
            Expr::Bool(b) => u32::from(*b),
            Expr::Ident(symbol) => 20 + rank(tree.symbols.name(*symbol)),
            Expr::List(_) => 0,
        };
    }
    Size { nodes: tree.nodes.len() as u32, text, disorder }
}

/// The rank of a name among names that are often interchangeable. The smallest is preferred.
fn rank(name: &str) -> u32 {
    let place = |names: &[&str]| names.iter().position(|n| *n == name).map(|place| place as u32);
    let comparisons = ["less-than", "less-equal", "greater-than", "greater-equal", "eq", "neq"];
    // A single Boolean of a vector comes after `any-of` and `all-of`.
    place(&["any-of", "all-of"]).or_else(|| Some(2 + place(&COMPONENTS)?)).or_else(|| place(&comparisons)).unwrap_or(0)
}

/// Operations whose operands may be exchanged.
const COMMUTATIVE: [&str; 9] = ["+", "*", "min", "max", "dot", "eq", "neq", "and", "or"];

/// Whether it is a commutative operation on something and a number, in this order.
fn is_disordered(tree: &Tree, id: ExprId) -> bool {
    let is_number = |id: ExprId| matches!(tree.expr(id), Expr::Num(_));
    match *items(tree, id) {
        [_, a, b] => is_number(b) && !is_number(a) && head(tree, id).is_some_and(|head| COMMUTATIVE.contains(&head)),
        _ => false,
    }
}
