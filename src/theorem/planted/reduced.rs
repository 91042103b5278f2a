//! Makes near-misses minimal. `generate::shrink` keeps programs well typed, so it cannot shrink
//! ill-typed ones.

use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Tree};

/// A change that makes a program smaller.
#[derive(Clone, Copy)]
enum Cut {
    /// Replaces an expression by a part of it.
    Part(ExprId),
    /// Replaces a list by an atom.
    Atom(&'static str),
    /// Removes the item with this index from a list.
    Without(usize),
    /// Removes the top-level expression with this index.
    WithoutRoot(usize),
}

/// The smallest program found for which `same` holds, after at most `tries` calls of it.
pub(super) fn minimal(tree: &Tree, same: &mut dyn FnMut(&Tree) -> bool, tries: u32) -> Tree {
    let mut smallest = tree.clone();
    let mut remaining = tries;
    'smaller: loop {
        for (at, cut) in cuts(&smallest) {
            let Ok(candidate) = parse(&print(&smallest, at, cut)) else { continue };
            if nodes(&candidate) >= nodes(&smallest) {
                continue;
            }
            if remaining == 0 {
                return smallest;
            }
            remaining -= 1;
            if same(&candidate) {
                smallest = candidate;
                continue 'smaller;
            }
        }
        return smallest;
    }
}

fn nodes(tree: &Tree) -> usize {
    tree.roots.iter().map(|&root| tree.size(root)).sum()
}

/// All cuts, the ones nearest to the root first.
fn cuts(tree: &Tree) -> Vec<(ExprId, Cut)> {
    let mut cuts = Vec::new();
    if tree.roots.len() > 1 {
        cuts.extend(tree.roots.iter().enumerate().map(|(i, &root)| (root, Cut::WithoutRoot(i))));
    }
    let mut level = tree.roots.clone();
    while !level.is_empty() {
        let mut below = Vec::new();
        for id in level {
            let Expr::List(items) = tree.expr(id) else { continue };
            cuts.extend(["1", "true"].map(|atom| (id, Cut::Atom(atom))));
            cuts.extend(items.iter().map(|&item| (id, Cut::Part(item))));
            cuts.extend((0..items.len()).map(|i| (id, Cut::Without(i))));
            below.extend(items.iter().copied());
        }
        level = below;
    }
    cuts
}

/// The text of the program after a cut at `at`.
fn print(tree: &Tree, at: ExprId, cut: Cut) -> String {
    let mut text = String::new();
    for (i, &root) in tree.roots.iter().enumerate() {
        if !matches!(cut, Cut::WithoutRoot(without) if without == i) {
            print_expr(tree, root, at, cut, &mut text);
            text.push('\n');
        }
    }
    text
}

fn print_expr(tree: &Tree, id: ExprId, at: ExprId, cut: Cut, text: &mut String) {
    match (tree.expr(id), cut) {
        (_, Cut::Part(part)) if id == at => *text += &tree.print_expr(part),
        (_, Cut::Atom(atom)) if id == at => *text += atom,
        (Expr::List(items), _) => {
            text.push('(');
            for (i, &item) in items.iter().enumerate() {
                if matches!(cut, Cut::Without(without) if id == at && without == i) {
                    continue;
                }
                if !text.ends_with('(') {
                    text.push(' ');
                }
                smallstep_semantics::lambda_v::terms::deep(|| print_expr(tree, item, at, cut, text));
            }
            text.push(')');
        }
        _ => *text += &tree.print_expr(id),
    }
}
