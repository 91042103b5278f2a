//! The search for the changes of a program.

use super::super::edit::{Binders, COMPONENTS, Form, form, head, items, parts};
use super::change::Edit;
use super::{is_disordered, vectors};
use rustc_hash::FxHashMap;
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Span, Symbol, Tree};
use smallstep_semantics::lambda_v::types::{Elem, Ground, Type};
use std::sync::Arc;

/// The depth to which an expression is searched for parts that may replace it.
const HOIST_DEPTH: u32 = 3;
/// The depth for outputs of the program.
const SHOW_DEPTH: u32 = 6;

/// The changes of a tree, each with the number of nodes that it removes. `types` has the types of
/// the expressions that are typed.
pub(super) fn changes(tree: &Tree, types: FxHashMap<Span, Type>) -> Vec<(u32, Edit)> {
    let mut search = Search { tree, sizes: sizes(tree), types, changes: Vec::new() };
    search.program();
    search.changes
}

/// The number of nodes of each expression. Items stand before their list.
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

/// A search for the changes of a tree.
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
        self.add(0, Edit::TruncateNumbers);
        for (from, to) in [(4, 1), (3, 1), (2, 1), (4, 2), (3, 2), (4, 3)] {
            self.add(u32::from(from - to), Edit::Narrow(from, to));
        }
    }

    /// Adds the changes to an expression and the expressions inside it. `output` says whether it is
    /// an output of the program, which may get another type.
    fn expr(&mut self, root: ExprId, output: bool) {
        let mut todo = vec![(root, output)];
        while let Some((id, output)) = todo.pop() {
            self.constants(id);
            self.unfoldable(id);
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
                    self.recursive_arguments(id, &all);
                }
            }
            // The body of a function that is applied where it stands is visited as a part of the
            // application too.
            let visited = match form(self.tree, id) {
                Form::Call(all) => all.to_vec(),
                _ => parts(self.tree, id).iter().map(|part| part.id).collect(),
            };
            todo.extend(visited.into_iter().map(|part| (part, false)));
        }
    }

    fn constants(&mut self, id: ExprId) {
        let known = match self.ty(id) {
            Some(Type::Ground(ty) | Type::Rec(ty)) => Some(Type::Ground(ty)),
            Some(Type::PureRec) => return,
            None => None,
        };
        // An expression without a type is a function, a variable, or never typed. A number may fit
        // in its place.
        let ty = known.unwrap_or(Type::Ground(Ground::NUM));
        let Type::Ground(ground) = ty else { return };
        let smallest = match ground.components() as u32 {
            1 => 1,
            4 if ground.is_observation() => 2,
            _ => super::super::catalog::literal_size(ground),
        };
        let removed = self.size(id).saturating_sub(smallest);
        if removed == 0 && matches!(self.tree.expr(id), Expr::Num(_)) {
            return;
        }
        self.add(removed, Edit::Constant(id, ty, false));
        let as_small = smallest == super::super::catalog::literal_size(ground);
        let removed_for_one = if as_small { removed } else { self.size(id).saturating_sub(super::super::catalog::literal_size(ground)) };
        self.add(removed_for_one, Edit::Constant(id, ty, true));
    }

    /// Adds expressions whose value a compiler does not fold, for cases where a constant is
    /// not enough.
    fn unfoldable(&mut self, id: ExprId) {
        if !matches!(self.tree.expr(id), Expr::List(_)) {
            return;
        }
        // Both replacements have four nodes.
        let removed = self.size(id).saturating_sub(4);
        match self.ty(id) {
            Some(Type::Ground(Ground::NUM)) => {
                // Constants other than 0 and 1.
                self.add(self.size(id) - 1, Edit::Value(id));
                [-1.0, -0.0].into_iter().for_each(|x| self.add(self.size(id) - 1, Edit::Number(id, x)));
                ["x", "z"].into_iter().for_each(|name| self.add(removed, Edit::Varying(id, name)));
            }
            Some(Type::Ground(Ground::BOOL)) => {
                [true, false].into_iter().for_each(|truth| self.add(removed, Edit::Compare(id, truth)));
                if let &[_, vector] = items(self.tree, id)
                    && matches!(self.ty(vector), Some(Type::Ground(Ground::Vec(2.., Elem::B))))
                {
                    self.add(0, Edit::AnyOf(id));
                }
            }
            _ => {}
        }
    }

    fn components(&mut self, id: ExprId) {
        let Some(Type::Ground(Ground::Vec(n @ 2.., _))) = self.ty(id) else { return };
        let vectors = Arc::new(vectors(self.tree, &self.types, n));
        for name in &COMPONENTS[..usize::from(n)] {
            // At least a constructor is replaced by one of its operands.
            for varying in [true, false] {
                self.add(u32::from(n), Edit::Project(id, name, vectors.clone(), varying));
            }
        }
    }

    fn hoists(&mut self, id: ExprId, output: bool) {
        let expected_type = self.ty(id);
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
                // A substituted expression has a size too, but it often occurs only there.
                let removed = self.size(id).saturating_sub(self.size(part.id));
                let fits = match (expected_type, self.ty(part.id)) {
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

    /// Replaces a loop by an argument that it passes to its third iteration.
    fn recursive_arguments(&mut self, id: ExprId, all: &[ExprId]) {
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
            self.add(removed, Edit::RemoveBinding(id, i, None));
            if let Some(ty) = self.ty(value) {
                self.add(removed, Edit::RemoveBinding(id, i, Some(ty)));
            }
            if let Form::Function { params, .. } = form(self.tree, value) {
                for j in 0..params.len() {
                    self.add(2, Edit::RemoveNamedParameter(id, i, j));
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
            self.add(removed, Edit::RemoveParameter(id, i, None));
            if let Some(ty) = self.ty(argument) {
                self.add(removed, Edit::RemoveParameter(id, i, Some(ty)));
            }
        }
    }
}
