//! Wrong rules for assignments, steps and calls.

use super::{Bug, assumed, becomes, bug, part, shifted, unstored, zeroed, zeros};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::execution::Replacement::{Expr as E, Left as L};
use smallstep_semantics::wsl::execution::term::{Expr, Form, Stmt};
use smallstep_semantics::wsl::execution::{Cx, Done, assign, builtin, call, derivative};
use smallstep_semantics::wsl::memory::Address;
use smallstep_semantics::wsl::open::Word;

pub fn assignments() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(R::WslEAssignLeftReduce, "the left side does not reduce", L(|_, _| Ok(false))),
        bug(R::WslEAssignRightReduce, "the right side is not evaluated", E(|cx, e| part(e, 1).map_or(Ok(()), |e| zeros(cx, e)))),
        bug(R::WslEAssignExecute, "nothing is stored", E(|_, e| becomes(e, 1))),
        bug(
            R::WslEAssignExecute,
            "the value is 0",
            E(|cx, e| {
                assign::e_assign_execute(cx, e)?;
                zeroed(e)
            }),
        ),
        bug(
            R::WslEAssignExecute,
            "the word behind is written",
            E(|cx, e| {
                if let Some(left) = part(e, 0) {
                    shifted(left)?;
                }
                assign::e_assign_execute(cx, e)
            }),
        ),
        bug(R::WslEAssignSetter, "no setter is called", E(|_, e| becomes(e, 1))),
        bug(
            R::WslEAssignSetter,
            "what the setter gives is not assigned",
            E(|cx, e| {
                assign::e_assign_setter(cx, e)?;
                let call = part(e, 0).and_then(|e| part(e, 1)).map(Expr::take);
                if let (Some(call), Some(first)) = (call, part(e, 0)) {
                    *first = call;
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEAssignIndexedSetter,
            "the index is 0",
            E(|cx, e| {
                if let Some(target) = part(e, 0) {
                    assumed(target, 1, 0)?;
                }
                assign::e_assign_indexed_setter(cx, e)
            }),
        ),
        bug(
            R::WslEPostfixIncrElim,
            "the value is the new one",
            E(|cx, e| {
                if let Form::Step(_, _, store) = &mut e.form {
                    *store = None;
                }
                assign::e_prefix_incr_elim(cx, e)
            }),
        ),
        bug(
            R::WslEPostfixIncrElim,
            "nothing is increased",
            E(|cx, e| {
                assign::e_postfix_incr_elim(cx, e)?;
                part(e, 1).map_or(Ok(()), |rest| becomes(rest, 1))
            }),
        ),
        bug(
            R::WslEPostfixIncrElim,
            "the getter is called once (WSL-D8)",
            E(|cx, e| {
                assign::e_postfix_incr_elim(cx, e)?;
                let kept = part(e, 1).and_then(|e| part(e, 1)).map(|e| e.clone());
                let operand = part(e, 1).and_then(|e| part(e, 0)).and_then(|e| part(e, 1)).and_then(|e| part(e, 0));
                if let (Some(kept), Some(operand)) = (kept, operand) {
                    *operand = kept;
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEPrefixIncrElim,
            "the new value is not assigned",
            E(|cx, e| {
                assign::e_prefix_incr_elim(cx, e)?;
                becomes(e, 1)
            }),
        ),
        bug(
            R::WslEPlusEqualElim,
            "the operands change places",
            E(|cx, e| {
                assign::e_plus_equal_elim(cx, e)?;
                if let Some(Form::Call(_, operands)) = part(e, 1).map(|e| &mut e.form) {
                    operands.reverse();
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEPlusEqualElim,
            "the right side is evaluated before the left is loaded (WSL-D9)",
            E(|cx, e| match part(e, 1) {
                Some(right) if right.words().is_none() => cx.within(R::WslEPlusEqualElim, |cx| cx.expr(right)),
                _ => assign::e_plus_equal_elim(cx, e),
            }),
        ),
        bug(R::WslEPostfixIncrReduce, "the operand of e++ is evaluated at each use", L(|_, _| Ok(false))),
        bug(R::WslEPrefixIncrReduce, "the operand of ++e is evaluated at each use", L(|_, _| Ok(false))),
        bug(R::WslEPlusEqualReduce, "the left side of += is evaluated at each use", L(|_, _| Ok(false))),
    ]
}

pub fn calls() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslECallReduce,
            "arguments are evaluated from right to left (WSL-D10)",
            E(|cx, e| {
                let Form::Call(_, arguments) = &mut e.form else { return Ok(()) };
                match arguments.iter_mut().rev().find(|a| a.words().is_none()) {
                    Some(argument) => cx.within(R::WslECallReduce, |cx| cx.expr(argument)),
                    None => Ok(()),
                }
            }),
        ),
        bug(
            R::WslECallResolve,
            "parameters take the arguments in reverse",
            E(|cx, e| {
                if let Form::Call(_, arguments) = &mut e.form {
                    arguments.reverse();
                }
                call::e_call_resolve(cx, e)
            }),
        ),
        bug(R::WslECallResolve, "no argument is stored", E(|cx, e| unstored(cx, e, call::e_call_resolve))),
        bug(
            R::WslECallConstructReduce,
            "the body is not executed",
            E(|_, e| {
                e.form = Form::Construct(Box::new(Stmt::empty()));
                Ok(())
            }),
        ),
        bug(R::WslECallReturnVoid, "return ends the thread", E(call::e_discard)),
        bug(R::WslECallEndFunction, "the end of a body ends the thread", E(call::e_discard)),
        bug(
            R::WslECallReturn,
            "the value is 0",
            E(|cx, e| {
                call::e_call_return(cx, e)?;
                zeroed(e)
            }),
        ),
        bug(R::WslEDiscard, "discard ends the function only", E(call::e_call_return_void)),
    ]
}

/// Where the first argument of an atomic operation points, and where the last.
fn atomic(e: &Expr) -> Option<(Address, Address)> {
    let Form::Call(_, arguments) = &e.form else { return None };
    let address = |e: &Expr| match e.words()?.first()? {
        Word::Address(address) => Some(*address),
        _ => None,
    };
    Some((address(arguments.first()?)?, address(arguments.last()?)?))
}

/// The atomic keeps what it holds.
fn unwritten(cx: &mut Cx, e: &mut Expr, rule: fn(&mut Cx, &mut Expr) -> Done) -> Done {
    let Some((at, _)) = atomic(e) else { return Ok(()) };
    let old = cx.memory.load(cx.opens, at, 1);
    rule(cx, e)?;
    if let Some(old) = old {
        cx.memory.store(cx.opens, at, &old);
    }
    Ok(())
}

/// What was written is stored through the last argument.
fn new_value(cx: &mut Cx, e: &mut Expr, rule: fn(&mut Cx, &mut Expr) -> Done) -> Done {
    let Some((at, to)) = atomic(e) else { return Ok(()) };
    rule(cx, e)?;
    if let Some(new) = cx.memory.load(cx.opens, at, 1) {
        cx.memory.store(cx.opens, to, &new);
    }
    Ok(())
}

pub fn built_in() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslECallLibrary,
            "a function gives its first argument",
            E(|cx, e| match &e.form {
                Form::Call(_, arguments) if arguments.first().is_some_and(|a| a.ty == e.ty) => becomes(e, 0),
                _ => builtin::e_call_library(cx, e),
            }),
        ),
        bug(R::WslEInterlocked, "the atomic is not written", E(|cx, e| unwritten(cx, e, builtin::e_interlocked))),
        bug(R::WslEInterlocked, "the new value is stored", E(|cx, e| new_value(cx, e, builtin::e_interlocked))),
        bug(R::WslECompareExchange, "nothing is exchanged", E(|cx, e| unwritten(cx, e, builtin::e_compare_exchange))),
        bug(R::WslECompareExchange, "the new value is stored", E(|cx, e| new_value(cx, e, builtin::e_compare_exchange))),
        bug(
            R::WslECompareExchange,
            "nothing is compared",
            E(|cx, e| {
                let read = atomic(e).and_then(|(at, _)| cx.memory.load(cx.opens, at, 1));
                if let (Some(read), Some(old)) = (read, part(e, 1)) {
                    old.form = Form::Value(read);
                }
                builtin::e_compare_exchange(cx, e)
            }),
        ),
        bug(R::WslEBarrier, "a barrier ends the thread", E(call::e_discard)),
        bug(
            R::WslEDerivative,
            "a derivative is the negative one",
            E(|cx, e| {
                derivative::e_derivative(cx, e)?;
                if let Form::Value(words) = &mut e.form {
                    words.iter_mut().for_each(|w| *w = w.definite().map_or(*w, |bits| Word::Bits(bits ^ 1 << 31)));
                }
                Ok(())
            }),
        ),
        bug(R::WslEDerivative, "a derivative needs no other thread", E(|cx, e| zeros(cx, e))),
    ]
}
