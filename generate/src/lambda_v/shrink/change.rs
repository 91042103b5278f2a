//! One change of a program, and the program that it makes.

use super::super::edit::{Binders, Form, Sketch, form, head, items};
use rustc_hash::FxHashSet;
use smallstep_semantics::lambda_v::machine;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::Setting;
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Tree};
use smallstep_semantics::lambda_v::types::{Ground, Type};
use std::sync::Arc;

/// A change; expressions are those of the program that is changed.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// The part at the end in the place of the expression, with what is bound on the way put in,
    /// innermost first.
    Hoist(ExprId, ExprId, Vec<Binders>),
    /// What a program shows replaced by a part of another type (the last), made into something that
    /// can be shown.
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
    /// A vector that is shown replaced by this component of it; the vectors of as many components;
    /// whether the pixel's coordinate stays.
    Project(ExprId, &'static str, Arc<FxHashSet<ExprId>>, bool),
    /// Whether any of a vector's Booleans is true, for another question about them.
    AnyOf(ExprId),
    /// The operands of a commutative operation exchanged.
    Swap(ExprId),
    /// A number.
    Number(ExprId, f32),
    /// All numbers without their fractions.
    Whole,
    /// A let without its binding of this number, whose name is replaced by what it was bound to, or
    /// by a constant.
    Unbind(ExprId, usize, Option<Type>),
    /// An application of a func or rec-func without this parameter, whose
    /// name is replaced likewise.
    Unparam(ExprId, usize, Option<Type>),
    /// A let whose binding of the first number is a func, without this parameter of it.
    UnparamNamed(ExprId, usize, usize),
    /// A program without this top-level form.
    DropRoot(usize),
    /// A program of one output as the bare expression.
    Unwrap,
}

impl Edit {
    /// The changed tree; `None` if the change does not apply.
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
                if let Expr::List(all) = &mut sketch.tree.nodes[at.0 as usize] {
                    all[0] = head;
                }
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
pub(super) const VALUE_FUEL: u64 = 2_000;

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
