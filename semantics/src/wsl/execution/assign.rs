//! Assignment, increments and compound assignment: seed 004 "Assignment", "Read-modify-write
//! expressions".

use super::term::{Expr, Form};
use super::{Cx, Done, Stop};
use crate::rule::Rule;
use crate::wsl::environment::access::Callee;
use crate::wsl::typing::program::Access;

impl Cx<'_, '_> {
    pub(super) fn assign(&mut self, e: &mut Expr) -> Done {
        let Form::Assign(parts) = &mut e.form else { return self.stuck("no assignment") };
        if e_assign_left_reduce(self, &mut parts[0])? {
            return Ok(());
        }
        if parts[1].words().is_none() {
            return self.apply(Rule::WslEAssignRightReduce, e_assign_right_reduce, e);
        }
        match parts[0].form {
            Form::Left(_) => self.apply(Rule::WslEAssignExecute, e_assign_execute, e),
            Form::Dot(..) => self.apply(Rule::WslEAssignSetter, e_assign_setter, e),
            _ => self.apply(Rule::WslEAssignIndexedSetter, e_assign_indexed_setter, e),
        }
    }

    pub(super) fn prefix(&mut self, e: &mut Expr) -> Done {
        let Form::Step(target, ..) = &mut e.form else { return self.stuck("no increment") };
        match e_prefix_incr_reduce(self, target)? {
            true => Ok(()),
            false => self.apply(Rule::WslEPrefixIncrElim, e_prefix_incr_elim, e),
        }
    }

    pub(super) fn postfix(&mut self, e: &mut Expr) -> Done {
        let Form::Step(target, ..) = &mut e.form else { return self.stuck("no increment") };
        match e_postfix_incr_reduce(self, target)? {
            true => Ok(()),
            false => self.apply(Rule::WslEPostfixIncrElim, e_postfix_incr_elim, e),
        }
    }

    pub(super) fn compound(&mut self, e: &mut Expr) -> Done {
        let Form::CompoundAssign(_, parts) = &mut e.form else { return self.stuck("no compound assignment") };
        match e_plus_equal_reduce(self, &mut parts[0])? {
            true => Ok(()),
            false => self.apply(Rule::WslEPlusEqualElim, e_plus_equal_elim, e),
        }
    }

    /// `e1 = e2`
    fn assignment(&self, target: Expr, value: Expr) -> Expr {
        Expr { at: target.at, ty: target.ty, form: Form::Assign(Box::new([target, value])) }
    }

    /// `f(e…)` giving a value of the type of `like`.
    fn operator(&self, callee: Callee, like: &Expr, arguments: Vec<Expr>) -> Expr {
        let call = Expr { at: like.at, ty: like.ty, form: Form::Call(callee, arguments) };
        Expr { ty: self.result(callee, &call), ..call }
    }
}

/// e2 → e2' gives a = e2 → a = e2', a an abstract left-value [wsl/e-assign-right-reduce, 004
/// Assignment 2]
pub fn e_assign_right_reduce(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Assign(parts) = &mut e.form else { return cx.stuck("no assignment") };
    cx.within(Rule::WslEAssignRightReduce, |cx| cx.expr(&mut parts[1]))
}

/// LVal(a) = v → v, storing v to a [wsl/e-assign-execute, 004 Assignment 3]
pub fn e_assign_execute(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Assign(parts) = &mut e.form else { return cx.stuck("no assignment") };
    let [target, value] = &mut **parts;
    let (Some(address), Some(words)) = (target.left(), value.words()) else { return cx.stuck("no assignment of a value") };
    cx.store(address, words)?;
    *e = value.take();
    Ok(())
}

/// e3.f = v → e3 = operator.f=(e3, v), v [wsl/e-assign-setter, 004 Assignment 4; WSL-D17]
pub fn e_assign_setter(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Assign(parts) = &mut e.form else { return cx.stuck("no assignment") };
    let [target, value] = &mut **parts;
    let Form::Dot(whole, Access::Setter(setter, _)) = &mut target.form else { return cx.stuck("no setter") };
    let (setter, whole, value) = (*setter, whole.take(), value.take());
    let call = cx.operator(setter, &whole, vec![cx.right(whole.clone()), value.clone()]);
    e.form = Form::Comma(Box::new([cx.assignment(whole, call), value]));
    Ok(())
}

/// e3\[i\] = v → e3 = operator\[\]=(e3, i, v), v [wsl/e-assign-indexed-setter, 004 Assignment 5;
/// WSL-D17]
pub fn e_assign_indexed_setter(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Assign(parts) = &mut e.form else { return cx.stuck("no assignment") };
    let [target, value] = &mut **parts;
    let Form::Index(indexed, Access::Setter(setter, _)) = &mut target.form else { return cx.stuck("no setter") };
    let [whole, index] = &mut **indexed;
    let (setter, whole, index, value) = (*setter, whole.take(), index.take(), value.take());
    let call = cx.operator(setter, &whole, vec![cx.right(whole.clone()), index, value.clone()]);
    e.form = Form::Comma(Box::new([cx.assignment(whole, call), value]));
    Ok(())
}

/// e++ → LVal(id) = e, (e = operator++(e), LVal(id)), e an abstract left-value
/// [wsl/e-postfix-incr-elim, 004 Read-modify-write expressions; WSL-C18, WSL-D8]
pub fn e_postfix_incr_elim(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Step(target, callee, Some(store)) = &mut e.form else { return cx.stuck("no increment") };
    let (callee, store, target) = (*callee, *store, target.take());
    let (at, ty) = (e.at, e.ty);
    let kept = Expr { at, ty, form: Form::Left(cx.address(store)) };
    let keep = cx.assignment(kept.clone(), cx.right(target.clone()));
    let call = cx.operator(callee, &target, vec![cx.right(target.clone())]);
    let change = cx.assignment(target, call);
    let rest = Expr { at, ty, form: Form::Comma(Box::new([change, cx.right(kept)])) };
    e.form = Form::Comma(Box::new([keep, rest]));
    Ok(())
}

/// ++e → e = operator++(e), e an abstract left-value [wsl/e-prefix-incr-elim, 004 Read-modify-write
/// expressions]
pub fn e_prefix_incr_elim(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Step(target, callee, None) = &mut e.form else { return cx.stuck("no increment") };
    let (callee, target) = (*callee, target.take());
    let call = cx.operator(callee, &target, vec![cx.right(target.clone())]);
    *e = cx.assignment(target, call);
    Ok(())
}

/// e1 += e2 → e1 = operator+(e1, e2), e1 an abstract left-value [wsl/e-plus-equal-elim, 004
/// Read-modify-write expressions; WSL-D9]
pub fn e_plus_equal_elim(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::CompoundAssign(callee, parts) = &mut e.form else { return cx.stuck("no compound assignment") };
    let [target, operand] = &mut **parts;
    let (callee, target, operand) = (*callee, target.take(), operand.take());
    let call = cx.operator(callee, &target, vec![cx.right(target.clone()), operand]);
    *e = cx.assignment(target, call);
    Ok(())
}

/// e1 reduced to an abstract left-value, e1', gives e1 = e2 → e1' = e2 [wsl/e-assign-left-reduce,
/// 004 Assignment 1]
pub fn e_assign_left_reduce(cx: &mut Cx, e: &mut Expr) -> Result<bool, Stop> {
    cx.left_within(Rule::WslEAssignLeftReduce, e)
}

/// e reduced to an abstract left-value, e', gives e++ → e'++ [wsl/e-postfix-incr-reduce, 004
/// Read-modify-write expressions]
pub fn e_postfix_incr_reduce(cx: &mut Cx, e: &mut Expr) -> Result<bool, Stop> {
    cx.left_within(Rule::WslEPostfixIncrReduce, e)
}

/// e reduced to an abstract left-value, e', gives ++e → ++e' [wsl/e-prefix-incr-reduce, 004
/// Read-modify-write expressions]
pub fn e_prefix_incr_reduce(cx: &mut Cx, e: &mut Expr) -> Result<bool, Stop> {
    cx.left_within(Rule::WslEPrefixIncrReduce, e)
}

/// e1 reduced to an abstract left-value, e1', gives e1 += e2 → e1' += e2 [wsl/e-plus-equal-reduce,
/// 004 Read-modify-write expressions; WSL-D9]
pub fn e_plus_equal_reduce(cx: &mut Cx, e: &mut Expr) -> Result<bool, Stop> {
    cx.left_within(Rule::WslEPlusEqualReduce, e)
}
