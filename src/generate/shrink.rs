//! Shrinking: from a program that shows something to a small one that still does, through proptest's protocol.
//!
//! Each proposal is one change to the smallest program known to show it: an expression gives way to a part of itself or to a constant
//! of its type, or to the shortest expression of its type that no compiler knows the value of; a vector that is shown gives way to one of its
//! components; a binding, parameter, define or output goes; a number becomes rounder; of names and orders that do as well, the first is taken, so
//! that different programs that show one thing come down to the same. Only programs that stay valid ([`Keep`]) and are
//! smaller are proposed.

use super::descent::{Descent, Shrinks};
use super::edit::{Binders, COMPONENTS, Form, Sketch, form, head, items, lay_out, parts};
use super::mix::Limits;
use super::well_typed;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallstep_semantics::lambda_v::machine;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::Setting;
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Span, Symbol, Tree, print_number};
use smallstep_semantics::lambda_v::types::{Ground, Type};
use smallstep_semantics::lambda_v::typing::{self, StackId, infer};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The part of a program that makes one component of one output; `None` if there is no such part, or it is the whole program.
pub fn slice(tree: &Tree, location: u32, component: u32) -> Option<Tree> {
    let types = Keep::WellTyped.types(tree);
    let is_output = |root: ExprId| head(tree, root) == Some("output");
    let is_this = |root: ExprId| items(tree, root).get(1).is_some_and(|&at| *tree.expr(at) == Expr::Num(location as f32));
    let mut part = tree.clone();
    part.roots.retain(|&root| !is_output(root) || is_this(root));
    let shown = match *part.roots.iter().find(|&&root| head(tree, root) != Some("define"))? {
        root if is_output(root) => *items(tree, root).get(2)?,
        root => root,
    };
    let component = *COMPONENTS.get(component as usize)?;
    let slices = match types.get(&tree.span(shown)) {
        // The component of what it is made of; if that is not well typed, the component of the whole.
        Some(Type::Ground(Ground::Vec(n @ 2.., _))) => [vectors(tree, &types, *n), FxHashSet::default()]
            .map(|vectors| {
                let mut sketch = Sketch::of(&part);
                let projected = sketch.project(shown, component, &vectors, true);
                sketch.put(shown, projected);
                sketch.finish()
            })
            .to_vec(),
        _ => vec![Sketch::of(&part).finish()],
    };
    slices.into_iter().find(|slice| Keep::WellTyped.holds(slice)).filter(|slice| !slice.same(tree))
}

/// The expressions that are vectors of so many components, and the names that may be.
fn vectors(tree: &Tree, types: &FxHashMap<Span, Type>, components: u8) -> FxHashSet<ExprId> {
    let may_be = |&e: &ExprId| match types.get(&tree.span(e)) {
        Some(ty) => matches!(ty, Type::Ground(Ground::Vec(n, _)) if *n == components),
        None => matches!(tree.expr(e), Expr::Ident(_)),
    };
    (0..tree.nodes.len() as u32).map(ExprId).filter(may_be).collect()
}

/// A program that shows itself as text.
#[derive(Clone)]
pub struct Printed(pub Tree);

impl std::fmt::Debug for Printed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.print().trim_end())
    }
}

impl std::ops::Deref for Printed {
    type Target = Tree;

    fn deref(&self) -> &Tree {
        &self.0
    }
}

/// What proposals must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Well typed.
    WellTyped,
    /// Programs whose names and forms are in order: for programs that have no type.
    Resolved,
}

/// The bounds of typing a proposal; one that takes more is not proposed.
const TYPING: typing::Limits = typing::Limits { nodes: 1 << 16, terms: 1 << 18, path: 5_000 };

/// How many parts deep an expression is looked into for one to put in its place.
const HOIST_DEPTH: u32 = 3;
/// The same for what a program shows.
const SHOW_DEPTH: u32 = 6;

/// A program on its way to a smaller one.
#[derive(Clone)]
pub struct Shrinking(Descent<Tree>);

impl std::fmt::Debug for Shrinking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.best().print().trim_end())
    }
}

/// What shrinking makes less: first the nodes, then what is written in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Size {
    nodes: u32,
    text: u32,
    /// Commutative operations with their one number last.
    disorder: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Edit {
    /// The part at the end in the place of the expression, with what is bound on the way put in, innermost first.
    Hoist(ExprId, ExprId, Vec<Binders>),
    /// What a program shows replaced by a part of another type (the last), made into something that can be shown.
    Show(ExprId, ExprId, Vec<Binders>, Ground),
    /// All vectors and matrices of the first size made as if of the second.
    Narrow(u8, u8),
    /// A constant of the type.
    Constant(ExprId, Type, bool),
    /// What an expression without free names comes to on the first pixel, if that is a number.
    Value(ExprId),
    /// A component of the pixel's coordinate, by its name.
    Varying(ExprId, &'static str),
    /// The simplest comparison of numbers that has this value: a condition that is no literal.
    Compare(ExprId, bool),
    /// A vector that is shown replaced by this component of it; the vectors of as many components; whether the pixel's coordinate stays.
    Project(ExprId, &'static str, Arc<FxHashSet<ExprId>>, bool),
    /// The operands of a commutative operation exchanged.
    Swap(ExprId),
    /// A number.
    Number(ExprId, f32),
    /// All numbers without their fractions.
    Whole,
    /// A let without its binding of this number, whose name is replaced by what it was bound to, or by a constant.
    Unbind(ExprId, usize, Option<Type>),
    /// An application of a func or rec-func without this parameter, whose name is replaced likewise.
    Unparam(ExprId, usize, Option<Type>),
    /// A let whose binding of the first number is a func, without this parameter of it.
    UnparamNamed(ExprId, usize, usize),
    /// A program without this top-level form.
    DropRoot(usize),
    /// A program of one output as the bare expression.
    Unwrap,
}

impl Shrinking {
    /// The program, to be shrunk.
    pub fn new(tree: &Tree, keep: Keep) -> Shrinking {
        Shrinking(Descent::new(lay_out(tree), keep))
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

    fn changes(&self, keep: Keep, most: u32) -> Vec<(u32, Edit)> {
        let mut search = Search { tree: self, sizes: sizes(self), types: keep.types(self), changes: Vec::new() };
        search.program();
        let mut changes = search.changes;
        changes.retain(|(removed, _)| *removed <= most);
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

impl ValueTree for Shrinking {
    type Value = Printed;

    fn current(&self) -> Printed {
        Printed(self.0.shown().clone())
    }

    fn simplify(&mut self) -> bool {
        self.0.simplify()
    }

    fn complicate(&mut self) -> bool {
        self.0.complicate()
    }
}

/// The smallest well-typed program found that `fails`, as `tree` does, with at most so many questions. If `tree` does not fail, it is given
/// back as it is.
pub fn minimal(tree: &Tree, fails: &mut dyn FnMut(&Tree) -> bool, questions: u32) -> Tree {
    minimal_that_keeps(Keep::WellTyped, tree, fails, questions)
}

/// [`minimal`], among programs of which less is asked.
pub fn minimal_that_keeps(keep: Keep, tree: &Tree, fails: &mut dyn FnMut(&Tree) -> bool, questions: u32) -> Tree {
    if questions == 0 || !fails(tree) {
        return tree.clone();
    }
    Shrinking::new(tree, keep).0.minimal(fails, questions)
}

/// Well-typed programs within the limits as a strategy, for property tests: failing ones shrink.
pub fn programs(limits: Limits) -> Programs {
    Programs { limits }
}

/// See [`programs`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Programs {
    limits: Limits,
}

impl Strategy for Programs {
    type Tree = Shrinking;
    type Value = Printed;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Programs> {
        let seed = proptest::prelude::Rng::next_u64(runner.rng());
        Ok(Shrinking::new(&well_typed(seed, &self.limits), Keep::WellTyped))
    }
}

impl Keep {
    fn holds(self, tree: &Tree) -> bool {
        let Ok(program) = Program::resolve(tree) else { return false };
        self == Keep::Resolved || infer(&program, TYPING).is_ok()
    }

    /// The types of expressions by place, where they are typed as operands are.
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

/// Of names that often do as well as each other, which comes first.
fn rank(name: &str) -> u32 {
    let place = |names: &[&str]| names.iter().position(|n| *n == name).map(|place| place as u32);
    place(&COMPONENTS).or_else(|| place(&["less-than", "less-equal", "greater-than", "greater-equal", "eq", "neq"])).unwrap_or(0)
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

/// The number of nodes of each expression. Children stand before their list.
fn sizes(tree: &Tree) -> Vec<u32> {
    let mut sizes: Vec<u32> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let inside: u32 = match node {
            Expr::List(items) => items.iter().map(|item| sizes[item.0 as usize]).sum(),
            _ => 0,
        };
        sizes.push(1 + inside);
    }
    sizes
}

/// The search for changes.
struct Search<'a> {
    tree: &'a Tree,
    sizes: Vec<u32>,
    types: FxHashMap<Span, Type>,
    changes: Vec<(u32, Edit)>,
}

impl Search<'_> {
    fn size(&self, id: ExprId) -> u32 {
        self.sizes[id.0 as usize]
    }

    fn ty(&self, id: ExprId) -> Option<Type> {
        self.types.get(&self.tree.span(id)).copied()
    }

    fn add(&mut self, removed: u32, edit: Edit) {
        self.changes.push((removed, edit));
    }

    fn program(&mut self) {
        let tree = self.tree;
        for (i, &root) in tree.roots.iter().enumerate() {
            if tree.roots.len() > 1 {
                self.add(self.size(root), Edit::DropRoot(i));
            }
            match (head(tree, root), items(tree, root)) {
                (Some("output"), &[_, at, value]) => {
                    if tree.roots.len() == 1 {
                        self.add(3, Edit::Unwrap);
                    }
                    self.number(at);
                    self.expr(value, true);
                }
                (Some("define"), &[_, _, value]) => self.expr(value, false),
                _ => self.expr(root, true),
            }
        }
        self.add(0, Edit::Whole);
        for (from, to) in [(4, 1), (3, 1), (2, 1), (4, 2), (3, 2), (4, 3)] {
            self.add(u32::from(from - to), Edit::Narrow(from, to));
        }
    }

    /// The changes to an expression and to those inside it; `output`: what a program shows, which may become another type.
    fn expr(&mut self, root: ExprId, output: bool) {
        let mut todo = vec![(root, output)];
        while let Some((id, output)) = todo.pop() {
            self.constants(id);
            self.opaque(id);
            if output {
                self.components(id);
            }
            if is_disordered(self.tree, id) {
                self.add(0, Edit::Swap(id));
            }
            self.hoists(id, output);
            match form(self.tree, id) {
                Form::Other => self.number(id),
                Form::Let(pairs, _) => self.bindings(id, &pairs),
                Form::Function { .. } => {}
                Form::Call(all) => {
                    self.parameters(id, &all);
                    self.rounds(id, &all);
                }
            }
            // A body shown as a part of its application comes up again as one of its function.
            let direct = match form(self.tree, id) {
                Form::Call(all) => all.to_vec(),
                _ => parts(self.tree, id).iter().map(|part| part.id).collect(),
            };
            todo.extend(direct.into_iter().map(|part| (part, false)));
        }
    }

    fn constants(&mut self, id: ExprId) {
        let known = match self.ty(id) {
            Some(Type::Ground(ty) | Type::Rec(ty)) => Some(Type::Ground(ty)),
            Some(Type::PureRec) => return,
            None => None,
        };
        // What has no type of its own is a function, a variable, or never typed: a number may do.
        let ty = known.unwrap_or(Type::Ground(Ground::NUM));
        let Type::Ground(ground) = ty else { return };
        let smallest = match ground.components() as u32 {
            1 => 1,
            4 if ground.is_observation() => 2,
            _ => super::catalog::literal_size(ground),
        };
        let removed = self.size(id).saturating_sub(smallest);
        if removed == 0 && matches!(self.tree.expr(id), Expr::Num(_) | Expr::List(_)) {
            return;
        }
        self.add(removed, Edit::Constant(id, ty, false));
        let as_small = smallest == super::catalog::literal_size(ground);
        let other = if as_small { removed } else { self.size(id).saturating_sub(super::catalog::literal_size(ground)) };
        self.add(other, Edit::Constant(id, ty, true));
    }

    /// What has a value that a compiler does not fold, where a constant would not do.
    fn opaque(&mut self, id: ExprId) {
        if !matches!(self.tree.expr(id), Expr::List(_)) {
            return;
        }
        // Both have four nodes.
        let removed = self.size(id).saturating_sub(4);
        match self.ty(id) {
            Some(Type::Ground(Ground::NUM)) => {
                // Not only 0 and 1 are constants.
                self.add(self.size(id) - 1, Edit::Value(id));
                [-1.0, -0.0].into_iter().for_each(|x| self.add(self.size(id) - 1, Edit::Number(id, x)));
                ["x", "z"].into_iter().for_each(|name| self.add(removed, Edit::Varying(id, name)));
            }
            Some(Type::Ground(Ground::BOOL)) => {
                [true, false].into_iter().for_each(|truth| self.add(removed, Edit::Compare(id, truth)));
            }
            _ => {}
        }
    }

    fn components(&mut self, id: ExprId) {
        let Some(Type::Ground(Ground::Vec(n @ 2.., _))) = self.ty(id) else { return };
        let vectors = Arc::new(vectors(self.tree, &self.types, n));
        for name in &COMPONENTS[..usize::from(n)] {
            // At least a constructor gives way to what it is made of.
            for varying in [true, false] {
                self.add(u32::from(n), Edit::Project(id, name, vectors.clone(), varying));
            }
        }
    }

    fn hoists(&mut self, id: ExprId, output: bool) {
        let wanted = self.ty(id);
        let mut todo = vec![(id, Vec::<Binders>::new(), 0)];
        while let Some((from, binders, depth)) = todo.pop() {
            if depth == if output { SHOW_DEPTH } else { HOIST_DEPTH } {
                continue;
            }
            for part in parts(self.tree, from) {
                let mut inner = binders.clone();
                if !part.binders.is_empty() {
                    inner.insert(0, part.binders);
                }
                // What is put in has a size too, but often only there.
                let removed = self.size(id).saturating_sub(self.size(part.id));
                let fits = match (wanted, self.ty(part.id)) {
                    (Some(Type::Ground(_)), Some(Type::Ground(y))) if output && !y.is_observation() => {
                        self.add(removed.saturating_sub(3), Edit::Show(id, part.id, inner.clone(), y));
                        false
                    }
                    (Some(Type::Ground(x)), Some(Type::Ground(y))) => x == y || output,
                    _ => true,
                };
                if fits {
                    self.add(removed, Edit::Hoist(id, part.id, inner.clone()));
                }
                todo.push((part.id, inner, depth + 1));
            }
        }
    }

    /// What a loop hands to its third round, in place of the loop.
    fn rounds(&mut self, id: ExprId, all: &[ExprId]) {
        let Some(&first) = all.first() else { return };
        let Form::Function { rec: true, params, body } = form(self.tree, first) else { return };
        if params.len() + 1 != all.len() {
            return;
        }
        let bind = |arguments: &[ExprId]| -> Binders { params.iter().copied().zip(arguments.iter().map(|&a| Some(a))).collect() };
        let mut todo = vec![body];
        while let Some(inside) = todo.pop() {
            let inner = items(self.tree, inside);
            if head(self.tree, inside) == Some("rec") && inner.len() == all.len() {
                for &argument in &inner[1..] {
                    let removed = self.size(id).saturating_sub(self.size(argument));
                    self.add(removed, Edit::Hoist(id, argument, vec![bind(&inner[1..]), bind(&all[1..])]));
                }
            }
            todo.extend(inner);
        }
    }

    fn number(&mut self, id: ExprId) {
        let Expr::Num(x) = *self.tree.expr(id) else { return };
        let mut simpler = vec![0.0, 1.0, 2.0, x.trunc(), (x / 2.0).trunc(), x - 1.0, -x];
        simpler.retain(|&y| y != x && y.abs() <= x.abs().max(1.0));
        for y in simpler {
            self.add(0, Edit::Number(id, y));
        }
    }

    fn bindings(&mut self, id: ExprId, pairs: &[(Symbol, ExprId)]) {
        for (i, &(_, value)) in pairs.iter().enumerate() {
            let removed = self.size(value) + 2;
            self.add(removed, Edit::Unbind(id, i, None));
            if let Some(ty) = self.ty(value) {
                self.add(removed, Edit::Unbind(id, i, Some(ty)));
            }
            if let Form::Function { params, .. } = form(self.tree, value) {
                for j in 0..params.len() {
                    self.add(2, Edit::UnparamNamed(id, i, j));
                }
            }
        }
    }

    fn parameters(&mut self, id: ExprId, all: &[ExprId]) {
        let Some(&first) = all.first() else { return };
        let Form::Function { params, .. } = form(self.tree, first) else { return };
        if params.len() + 1 != all.len() {
            return;
        }
        for (i, &argument) in all[1..].iter().enumerate() {
            let removed = self.size(argument) + 1;
            self.add(removed, Edit::Unparam(id, i, None));
            if let Some(ty) = self.ty(argument) {
                self.add(removed, Edit::Unparam(id, i, Some(ty)));
            }
        }
    }
}

impl Edit {
    /// The changed tree; `None` if the change does not apply.
    fn apply(&self, tree: &Tree) -> Option<Tree> {
        let mut sketch = Sketch::of(tree);
        match self {
            Edit::Hoist(at, from, binders) => {
                let mut id = *from;
                for bound in binders {
                    id = sketch.substitute(id, bound);
                }
                sketch.put(*at, id);
            }
            Edit::Show(at, from, binders, ty) => {
                let mut id = *from;
                for bound in binders {
                    id = sketch.substitute(id, bound);
                }
                let shown = sketch.show(id, *ty);
                sketch.tree.nodes[at.0 as usize] = shown;
            }
            Edit::Narrow(from, to) => sketch.narrow(*from, *to),
            Edit::Constant(at, ty, one) => {
                let constant = constant(&mut sketch, *ty, *one)?;
                sketch.tree.nodes[at.0 as usize] = constant;
            }
            Edit::Value(at) => {
                let value = value(tree, *at)?;
                sketch.tree.nodes[at.0 as usize] = Expr::Num(value);
            }
            Edit::Varying(at, component) => {
                let varying = sketch.varying(component);
                sketch.tree.nodes[at.0 as usize] = varying;
            }
            Edit::Compare(at, truth) => {
                let comparison = sketch.comparison(*truth);
                sketch.tree.nodes[at.0 as usize] = comparison;
            }
            Edit::Project(at, component, vectors, varying) => {
                let projected = sketch.project(*at, component, vectors, *varying);
                sketch.put(*at, projected);
            }
            Edit::Swap(at) => {
                if let Expr::List(all) = &mut sketch.tree.nodes[at.0 as usize] {
                    all.swap(1, 2);
                }
            }
            Edit::Number(at, x) => sketch.tree.nodes[at.0 as usize] = Expr::Num(*x),
            Edit::Whole => {
                for node in &mut sketch.tree.nodes {
                    if let Expr::Num(x) = node {
                        *x = x.trunc();
                    }
                }
            }
            Edit::Unbind(at, i, ty) => {
                let Form::Let(pairs, body) = form(tree, *at) else { return None };
                let (symbol, value) = pairs[*i];
                let by = instead(&mut sketch, value, *ty)?;
                let body = sketch.substitute(body, &[(symbol, Some(by))]);
                let all = items(tree, *at).to_vec();
                let list = sketch.without(all[1], *i);
                let new = if pairs.len() == 1 { body } else { sketch.push(Expr::List(vec![all[0], list, body])) };
                sketch.put(*at, new);
            }
            Edit::Unparam(at, i, ty) => {
                let all = items(tree, *at).to_vec();
                let Form::Function { rec, params, body } = form(tree, all[0]) else { return None };
                let by = instead(&mut sketch, all[i + 1], *ty)?;
                let mut body = sketch.substitute(body, &[(params[*i], Some(by))]);
                if rec {
                    let rec = sketch.tree.symbols.intern("rec");
                    body = sketch.drop_argument(body, rec, params.len(), *i);
                }
                let function = items(tree, all[0]).to_vec();
                let list = sketch.without(function[1], *i);
                let new = match params.len() == 1 && !rec {
                    true => body,
                    false => {
                        let function = sketch.push(Expr::List(vec![function[0], list, body]));
                        let rest = all.iter().enumerate().filter(|(k, _)| *k != 0 && *k != i + 1).map(|(_, &item)| item);
                        sketch.push(Expr::List([function].into_iter().chain(rest).collect()))
                    }
                };
                sketch.put(*at, new);
            }
            Edit::UnparamNamed(at, i, j) => {
                let Form::Let(pairs, body) = form(tree, *at) else { return None };
                let (symbol, value) = pairs[*i];
                let Form::Function { params, body: inner, .. } = form(tree, value) else { return None };
                let zero = sketch.push(Expr::Num(0.0));
                let inner = sketch.substitute(inner, &[(params[*j], Some(zero))]);
                let function = items(tree, value).to_vec();
                let list = sketch.without(function[1], *j);
                sketch.tree.nodes[value.0 as usize] = Expr::List(vec![function[0], list, inner]);
                let body = sketch.drop_argument(body, symbol, params.len(), *j);
                let all = items(tree, *at).to_vec();
                sketch.tree.nodes[at.0 as usize] = Expr::List(vec![all[0], all[1], body]);
            }
            Edit::DropRoot(i) => {
                let root = sketch.tree.roots.remove(*i);
                if let (Some("define"), &[_, bound, value]) = (head(tree, root), items(tree, root))
                    && let Expr::Ident(symbol) = *tree.expr(bound)
                {
                    for k in *i..sketch.tree.roots.len() {
                        sketch.tree.roots[k] = sketch.substitute(sketch.tree.roots[k], &[(symbol, Some(value))]);
                    }
                }
            }
            Edit::Unwrap => {
                let value = *items(tree, tree.roots[0]).get(2)?;
                sketch.tree.roots[0] = value;
            }
        }
        Some(sketch.finish())
    }
}

/// The most steps for the value of a part of a program.
const VALUE_FUEL: u64 = 2_000;

fn value(tree: &Tree, id: ExprId) -> Option<f32> {
    let mut alone = Sketch::of(tree);
    alone.tree.roots = vec![id];
    let program = Program::resolve(&alone.finish()).ok()?;
    let bounds = machine::Bounds { fuel: VALUE_FUEL, ..machine::Bounds::default() };
    let (outcome, _) = machine::run(&program, program.outputs.first()?.term, &Setting::at_pixel(0, 0), bounds);
    match outcome.observed()?.bits().collect::<Vec<_>>().as_slice() {
        &[bits] => Some(f32::from_bits(bits)).filter(|x| x.is_finite()),
        _ => None,
    }
}

fn constant(sketch: &mut Sketch, ty: Type, one: bool) -> Option<Expr> {
    match ty {
        Type::Ground(ty) | Type::Rec(ty) => Some(sketch.constant(ty, one)),
        Type::PureRec => None,
    }
}

/// What a name is replaced by: the value, or a constant of the type.
fn instead(sketch: &mut Sketch, value: ExprId, ty: Option<Type>) -> Option<ExprId> {
    match ty {
        None => Some(value),
        Some(ty) => {
            let constant = constant(sketch, ty, false)?;
            Some(sketch.push(constant))
        }
    }
}
