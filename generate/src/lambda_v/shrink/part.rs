//! A part of a program alone, and the program with a value instead of that part. They show whether
//! a fault lies in the part or outside of it.

use super::super::edit::{Binders, Sketch, head, items, parts};
use super::Keep;
use smallstep_semantics::lambda_v::machine;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::Setting;
use smallstep_semantics::lambda_v::syntax::{Expr, ExprId, Span, Tree};
use smallstep_semantics::lambda_v::types::{Elem, Ground, Type, Value};

/// The program that outputs only the list at `span`, with the enclosing bindings substituted.
/// `None` if there is no such list, if nothing encloses it, or if it has no meaning alone.
pub fn alone(tree: &Tree, span: Span) -> Option<Tree> {
    let (mut id, binders) = find(tree, span)?;
    let ty = Keep::WellTyped.types(tree).get(&span).copied();
    let mut sketch = Sketch::of(tree);
    for bound in &binders {
        id = sketch.substitute(id, bound);
    }
    if let Some(Type::Ground(ty)) = ty
        && !ty.is_observation()
    {
        let output_expr = sketch.show(id, ty);
        id = sketch.push(output_expr);
    }
    sketch.tree.roots.retain(|&root| head(tree, root) == Some("define"));
    sketch.tree.roots.push(id);
    Some(sketch.finish()).filter(|alone| Keep::WellTyped.holds(alone) && !alone.same(tree))
}

/// The program in which the list at `span` is replaced by the value that `alone` outputs on the
/// first pixel. `None` if that value cannot be written as an expression.
pub fn mended(tree: &Tree, span: Span, alone: &Tree) -> Option<Tree> {
    let (id, _) = find(tree, span)?;
    let program = Program::resolve(alone).ok()?;
    let bounds = machine::Bounds { fuel: super::change::VALUE_FUEL, ..machine::Bounds::default() };
    let (outcome, _) = machine::run(&program, program.outputs.first()?.term, &Setting::at_pixel(0, 0), bounds);
    let mut sketch = Sketch::of(tree);
    let literal = literal(&mut sketch, outcome.observed()?)?;
    sketch.tree.nodes[id.0 as usize] = literal;
    Some(sketch.finish()).filter(|mended| Keep::WellTyped.holds(mended))
}

/// An expression for a vector of finite numbers. `None` for other values.
fn literal(sketch: &mut Sketch, value: &Value) -> Option<Expr> {
    let Ground::Vec(n, Elem::F) = value.ty else { return None };
    let numbers: Option<Vec<Expr>> = value.bits().map(f32::from_bits).map(|x| x.is_finite().then_some(Expr::Num(x))).collect();
    match (n, numbers?.as_slice()) {
        (1, [number]) => Some(number.clone()),
        (_, numbers) => {
            let components: Vec<ExprId> = numbers.iter().map(|number| sketch.push(number.clone())).collect();
            Some(sketch.call(&format!("vec{n}"), components))
        }
    }
}

/// The list at `span`, with the bindings between it and the top, innermost first.
fn find(tree: &Tree, span: Span) -> Option<(ExprId, Vec<Binders>)> {
    for &root in &tree.roots {
        let value_expr = match (head(tree, root), items(tree, root)) {
            (Some("output" | "define"), &[_, _, value]) => value,
            _ => root,
        };
        let mut todo = vec![(value_expr, Vec::<Binders>::new())];
        while let Some((id, binders)) = todo.pop() {
            if tree.span(id) == span && matches!(tree.expr(id), Expr::List(_)) {
                return Some((id, binders));
            }
            for part in parts(tree, id) {
                let inside = tree.span(part.id);
                if inside.start <= span.start && span.end <= inside.end {
                    let mut inner = binders.clone();
                    if !part.binders.is_empty() {
                        inner.insert(0, part.binders);
                    }
                    todo.push((part.id, inner));
                }
            }
        }
    }
    None
}
