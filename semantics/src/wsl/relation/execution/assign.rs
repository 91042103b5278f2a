//! Assignment, increments and compound assignment: seed
//! 004 "Assignment", "Read-modify-write expressions".

use super::left::is_abstract;
use super::table::{Function::Expr as E, Row, Shape};
use super::term::{Expr, Form};
use super::{Cx, Effect, Next};
use crate::rule::Rule;
use crate::wsl::environment::access::Callee;
use crate::wsl::memory::Words;
use crate::wsl::typing::program::Access;
use smallvec::smallvec;

/// The rules of this section.
pub(super) const RULES: &[Row] = &[
    (Rule::WslEAssignLeftReduce, E(&[Shape::Assign], e_assign_left_reduce)),
    (Rule::WslEAssignRightReduce, E(&[Shape::Assign], e_assign_right_reduce)),
    (Rule::WslEAssignExecute, E(&[Shape::Assign], e_assign_execute)),
    (Rule::WslEAssignSetter, E(&[Shape::Assign], e_assign_setter)),
    (Rule::WslEAssignIndexedSetter, E(&[Shape::Assign], e_assign_indexed_setter)),
    (Rule::WslEPrefixIncrReduce, E(&[Shape::Step], e_prefix_incr_reduce)),
    (Rule::WslEPrefixIncrElim, E(&[Shape::Step], e_prefix_incr_elim)),
    (Rule::WslEPostfixIncrReduce, E(&[Shape::Step], e_postfix_incr_reduce)),
    (Rule::WslEPostfixIncrElim, E(&[Shape::Step], e_postfix_incr_elim)),
    (Rule::WslEPlusEqualReduce, E(&[Shape::CompoundAssign], e_plus_equal_reduce)),
    (Rule::WslEPlusEqualElim, E(&[Shape::CompoundAssign], e_plus_equal_elim)),
];

impl Cx<'_, '_> {
    /// `e1 = e2`
    fn assignment(&self, target: Expr, value: Expr) -> Expr {
        Expr { at: target.at, ty: target.ty, form: Form::Assign(Box::new([target, value])) }
    }

    /// `f(e…)`, with a value of the type of `like`.
    fn operator(&self, callee: Callee, like: &Expr, arguments: Vec<Expr>) -> Expr {
        let call = Expr { at: like.at, ty: like.ty, form: Form::Call(callee, arguments) };
        Expr { ty: self.result(callee, &call), ..call }
    }
}

/// The sides of an assignment.
fn sides(e: &Expr) -> Option<&[Expr; 2]> {
    match &e.form {
        Form::Assign(parts) => Some(parts),
        _ => None,
    }
}

/// e2 → e2' gives a = e2 → a = e2', a an abstract left-value [wsl/e-assign-right-reduce, 004
/// Assignment 2]
pub fn e_assign_right_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let [target, value] = sides(e)?;
    if !is_abstract(cx.program(), target) {
        return None;
    }
    cx.expr(value)?.inside(Rule::WslEAssignRightReduce, 1)
}

/// LVal(a) = v → v, storing v to a [wsl/e-assign-execute, 004 Assignment 3]
pub fn e_assign_execute(_: &mut Cx, e: &Expr) -> Option<Next> {
    let [target, value] = sides(e)?;
    let (address, words) = (target.left()?, value.words()?);
    Some(Next::part(1).with(smallvec![Effect::Store(address, Words::from_slice(words))]))
}

/// e3.f = v → e3 = operator.f=(e3, v), v [wsl/e-assign-setter, 004 Assignment 4; WSL-D17]
pub fn e_assign_setter(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let [target, value] = sides(e)?;
    let Form::Dot(whole, Access::Setter(setter, _)) = &target.form else { return None };
    if value.words().is_none() || !is_abstract(cx.program(), target) {
        return None;
    }
    let (whole, value) = (Expr::clone(whole), value.clone());
    let call = cx.operator(*setter, &whole, vec![cx.right(whole.clone()), value.clone()]);
    Some(Next::form(e, Form::Comma(Box::new([cx.assignment(whole, call), value]))))
}

/// e3\[i\] = v → e3 = operator\[\]=(e3, i, v), v [wsl/e-assign-indexed-setter, 004 Assignment 5;
/// WSL-D17]
pub fn e_assign_indexed_setter(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let [target, value] = sides(e)?;
    let Form::Index(indexed, Access::Setter(setter, _)) = &target.form else { return None };
    if value.words().is_none() || !is_abstract(cx.program(), target) {
        return None;
    }
    let [whole, index] = *Box::clone(indexed);
    let value = value.clone();
    let call = cx.operator(*setter, &whole, vec![cx.right(whole.clone()), index, value.clone()]);
    Some(Next::form(e, Form::Comma(Box::new([cx.assignment(whole, call), value]))))
}

/// e++ → LVal(id) = e, (e = operator++(e), LVal(id)), e an abstract left-value
/// [wsl/e-postfix-incr-elim, 004 Read-modify-write expressions; WSL-C18, WSL-D8]
pub fn e_postfix_incr_elim(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Step(target, callee, Some(store)) = &e.form else { return None };
    if !is_abstract(cx.program(), target) {
        return None;
    }
    let (at, ty) = (e.at, e.ty);
    let old_value = Expr { at, ty, form: Form::Left(cx.address(*store)) };
    let store_old = cx.assignment(old_value.clone(), cx.right(Expr::clone(target)));
    let call = cx.operator(*callee, target, vec![cx.right(Expr::clone(target))]);
    let change = cx.assignment(Expr::clone(target), call);
    let rest = Expr { at, ty, form: Form::Comma(Box::new([change, cx.right(old_value)])) };
    Some(Next::form(e, Form::Comma(Box::new([store_old, rest]))))
}

/// ++e → e = operator++(e), e an abstract left-value
/// [wsl/e-prefix-incr-elim, 004 Read-modify-write expressions]
pub fn e_prefix_incr_elim(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Step(target, callee, None) = &e.form else { return None };
    if !is_abstract(cx.program(), target) {
        return None;
    }
    let call = cx.operator(*callee, target, vec![cx.right(Expr::clone(target))]);
    Some(Next::expr(cx.assignment(Expr::clone(target), call)))
}

/// e1 += e2 → e1 = operator+(e1, e2), e1 an abstract left-value [wsl/e-plus-equal-elim, 004
/// Read-modify-write expressions; WSL-D9]
pub fn e_plus_equal_elim(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::CompoundAssign(callee, parts) = &e.form else { return None };
    let [target, operand] = &**parts;
    if !is_abstract(cx.program(), target) {
        return None;
    }
    let call = cx.operator(*callee, target, vec![cx.right(target.clone()), operand.clone()]);
    Some(Next::expr(cx.assignment(target.clone(), call)))
}

/// e1 reduced to an abstract left-value, e1', gives e1 = e2 → e1' = e2 [wsl/e-assign-left-reduce,
/// 004 Assignment 1]
pub fn e_assign_left_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    cx.left(&sides(e)?[0])?.inside(Rule::WslEAssignLeftReduce, 0)
}

/// e reduced to an abstract left-value, e', gives e++ → e'++ [wsl/e-postfix-incr-reduce, 004
/// Read-modify-write expressions]
pub fn e_postfix_incr_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Step(target, _, Some(_)) = &e.form else { return None };
    cx.left(target)?.inside(Rule::WslEPostfixIncrReduce, 0)
}

/// e reduced to an abstract left-value, e', gives ++e → ++e' [wsl/e-prefix-incr-reduce, 004
/// Read-modify-write expressions]
pub fn e_prefix_incr_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Step(target, _, None) = &e.form else { return None };
    cx.left(target)?.inside(Rule::WslEPrefixIncrReduce, 0)
}

/// e1 reduced to an abstract left-value, e1', gives e1 += e2 → e1' += e2 [wsl/e-plus-equal-reduce,
/// 004 Read-modify-write expressions; WSL-D9]
pub fn e_plus_equal_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::CompoundAssign(_, parts) = &e.form else { return None };
    cx.left(&parts[0])?.inside(Rule::WslEPlusEqualReduce, 0)
}
