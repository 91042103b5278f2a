//! A change to a program, and its application.

use super::super::edit::{Binders, Form, Sketch, form, head, items};
use rustc_hash::FxHashSet;
use smallstep_semantics::lambda_v::machine;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::Setting;
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Tree};
use smallstep_semantics::lambda_v::types::{Ground, Type};
use std::sync::Arc;

/// A change. Expressions are those of the program before the change.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// Replaces the first expression by the second, which is a part of it. The names that are bound
    /// in between are substituted, the innermost first.
    Hoist(ExprId, ExprId, Vec<Binders>),
    /// Replaces an output of the program by a part of it that has another type, the last item. The
    /// part is turned into an expression that can be an output.
    Show(ExprId, ExprId, Vec<Binders>, Ground),
    /// Turns all vectors and matrices of the first size into those of the second.
    Narrow(u8, u8),
    /// Replaces an expression by a constant of the type. True for ones, false for zeros.
    Constant(ExprId, Type, bool),
    /// Replaces an expression without free names by its value on the first pixel, if that is
    /// a number.
    Value(ExprId),
    /// Replaces an expression by a component of the pixel's coordinate.
    Varying(ExprId, &'static str),
    /// Replaces a condition by the simplest comparison of numbers with this value, which is
    /// no literal.
    Compare(ExprId, bool),
    /// Replaces an output vector by its component of this name. The set has all vectors of the same
    /// size. The flag says whether the pixel's coordinate stays.
    Project(ExprId, &'static str, Arc<FxHashSet<ExprId>>, bool),
    /// Replaces an operation on a vector of Booleans by `any-of`.
    AnyOf(ExprId),
    /// Exchanges the operands of a commutative operation.
    Swap(ExprId),
    /// Replaces a number.
    Number(ExprId, f32),
    /// Removes the fractions of all numbers.
    TruncateNumbers,
    /// Removes binding `i` of a let. Its name is replaced by the bound expression, or by a constant
    /// of the type.
    RemoveBinding(ExprId, usize, Option<Type>),
    /// Removes parameter `i` of a func or rec-func that is applied where it stands. Its name is
    /// replaced in the same way.
    RemoveParameter(ExprId, usize, Option<Type>),
    /// Removes a parameter, the second index, of the func that a let binds at the first index.
    RemoveNamedParameter(ExprId, usize, usize),
    /// Removes a top-level form.
    DropRoot(usize),
    /// Replaces a program with one output by the bare expression.
    Unwrap,
}

impl Edit {
    /// The changed tree. `None` if the change does not apply.
    pub(super) fn apply(&self, tree: &Tree) -> Option<Tree> {
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
            Edit::AnyOf(at) => {
                let any_of = sketch.tree.symbols.intern("any-of");
                let head = sketch.push(Expr::Ident(any_of));
                if let Expr::List(list_items) = &mut sketch.tree.nodes[at.0 as usize] {
                    list_items[0] = head;
                }
            }
            Edit::Swap(at) => {
                if let Expr::List(list_items) = &mut sketch.tree.nodes[at.0 as usize] {
                    list_items.swap(1, 2);
                }
            }
            Edit::Number(at, x) => sketch.tree.nodes[at.0 as usize] = Expr::Num(*x),
            Edit::TruncateNumbers => {
                for node in &mut sketch.tree.nodes {
                    if let Expr::Num(x) = node {
                        *x = x.trunc();
                    }
                }
            }
            Edit::RemoveBinding(at, i, ty) => {
                let Form::Let(pairs, body) = form(tree, *at) else { return None };
                let (symbol, value) = pairs[*i];
                let new_expr = replacement(&mut sketch, value, *ty)?;
                let body = sketch.substitute(body, &[(symbol, Some(new_expr))]);
                let list_items = items(tree, *at).to_vec();
                let list = sketch.without(list_items[1], *i);
                let new = if pairs.len() == 1 { body } else { sketch.push(Expr::List(vec![list_items[0], list, body])) };
                sketch.put(*at, new);
            }
            Edit::RemoveParameter(at, i, ty) => {
                let list_items = items(tree, *at).to_vec();
                let Form::Function { rec, params, body } = form(tree, list_items[0]) else { return None };
                let new_expr = replacement(&mut sketch, list_items[i + 1], *ty)?;
                let mut body = sketch.substitute(body, &[(params[*i], Some(new_expr))]);
                if rec {
                    let rec = sketch.tree.symbols.intern("rec");
                    body = sketch.drop_argument(body, rec, params.len(), *i);
                }
                let function = items(tree, list_items[0]).to_vec();
                let list = sketch.without(function[1], *i);
                let new = match params.len() == 1 && !rec {
                    true => body,
                    false => {
                        let function = sketch.push(Expr::List(vec![function[0], list, body]));
                        let rest = list_items.iter().enumerate().filter(|(k, _)| *k != 0 && *k != i + 1).map(|(_, &item)| item);
                        sketch.push(Expr::List([function].into_iter().chain(rest).collect()))
                    }
                };
                sketch.put(*at, new);
            }
            Edit::RemoveNamedParameter(at, i, j) => {
                let Form::Let(pairs, body) = form(tree, *at) else { return None };
                let (symbol, value) = pairs[*i];
                let Form::Function { params, body: inner, .. } = form(tree, value) else { return None };
                let zero = sketch.push(Expr::Num(0.0));
                let inner = sketch.substitute(inner, &[(params[*j], Some(zero))]);
                let function = items(tree, value).to_vec();
                let list = sketch.without(function[1], *j);
                sketch.tree.nodes[value.0 as usize] = Expr::List(vec![function[0], list, inner]);
                let body = sketch.drop_argument(body, symbol, params.len(), *j);
                let list_items = items(tree, *at).to_vec();
                sketch.tree.nodes[at.0 as usize] = Expr::List(vec![list_items[0], list_items[1], body]);
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

/// The most steps to evaluate a part of a program.
pub(super) const VALUE_FUEL: u64 = 2_000;

fn value(tree: &Tree, id: ExprId) -> Option<f32> {
    let mut part_sketch = Sketch::of(tree);
    part_sketch.tree.roots = vec![id];
    let program = Program::resolve(&part_sketch.finish()).ok()?;
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

/// The expression that replaces a name: the value, or a constant of the type.
fn replacement(sketch: &mut Sketch, value: ExprId, ty: Option<Type>) -> Option<ExprId> {
    match ty {
        None => Some(value),
        Some(ty) => {
            let constant = constant(sketch, ty, false)?;
            Some(sketch.push(constant))
        }
    }
}
