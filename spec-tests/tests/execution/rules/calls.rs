//! Wrong rules for assignments, steps and calls.

use super::{Bug, after, assumed, becomes, before, bug, effects, instead, part, shifted, unstored, zeroed, zeros};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::execution::Replacement::Expr as E;
use smallstep_semantics::wsl::execution::next::NextAction;
use smallstep_semantics::wsl::execution::term::{Expr, Form, Stmt};
use smallstep_semantics::wsl::execution::{Cx, Effect, ExprRule, Next, assign, builtin, call, derivative};
use smallstep_semantics::wsl::memory::Words;
use smallstep_semantics::wsl::open::Word;
use smallstep_semantics::wsl::typing::program::Coercion;

pub fn assignments() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(R::WslEAssignLeftReduce, "the left side does not reduce", E(|_, _| None)),
        bug(
            R::WslEAssignRightReduce,
            "the right side is not evaluated",
            E(|cx, e| {
                let zeros = zeros(cx, e);
                instead(cx, e, assign::e_assign_right_reduce, |e| {
                    if let Some(right) = part(e, 1) {
                        right.form = zeros;
                    }
                })
            }),
        ),
        bug(R::WslEAssignExecute, "nothing is stored", E(|cx, e| instead(cx, e, assign::e_assign_execute, |e| becomes(e, 1)))),
        bug(R::WslEAssignExecute, "the value is 0", E(|cx, e| after(cx, e, assign::e_assign_execute, |_, e| zeroed(e)))),
        bug(
            R::WslEAssignExecute,
            "the word behind is written",
            E(|cx, e| {
                before(cx, e, assign::e_assign_execute, |_, e| {
                    if let Some(left) = part(e, 0) {
                        shifted(left);
                    }
                })
            }),
        ),
        bug(R::WslEAssignSetter, "no setter is called", E(|cx, e| instead(cx, e, assign::e_assign_setter, |e| becomes(e, 1)))),
        bug(
            R::WslEAssignSetter,
            "what the setter gives is not assigned",
            E(|cx, e| {
                after(cx, e, assign::e_assign_setter, |_, e| {
                    if let Some(first) = part(e, 0) {
                        becomes(first, 1);
                    }
                })
            }),
        ),
        bug(
            R::WslEAssignIndexedSetter,
            "the index is 0",
            E(|cx, e| {
                before(cx, e, assign::e_assign_indexed_setter, |_, e| {
                    if let Some(target) = part(e, 0) {
                        assumed(target, 1, 0);
                    }
                })
            }),
        ),
        bug(
            R::WslEPostfixIncrElim,
            "the value is the new one",
            E(|cx, e| {
                assign::e_postfix_incr_elim(cx, e)?;
                let mut prefix = e.clone();
                if let Form::Step(_, _, store) = &mut prefix.form {
                    *store = None;
                }
                Some(assign::e_prefix_incr_elim(cx, &prefix)?.plugged(prefix))
            }),
        ),
        bug(
            R::WslEPostfixIncrElim,
            "nothing is increased",
            E(|cx, e| {
                after(cx, e, assign::e_postfix_incr_elim, |_, e| {
                    if let Some(rest) = part(e, 1) {
                        becomes(rest, 1);
                    }
                })
            }),
        ),
        bug(
            R::WslEPostfixIncrElim,
            "the getter is called once (WSL-D8)",
            E(|cx, e| {
                after(cx, e, assign::e_postfix_incr_elim, |_, e| {
                    let kept = part(e, 1).and_then(|e| part(e, 1)).map(|e| e.clone());
                    let operand = part(e, 1).and_then(|e| part(e, 0)).and_then(|e| part(e, 1)).and_then(|e| part(e, 0));
                    if let (Some(kept), Some(operand)) = (kept, operand) {
                        *operand = kept;
                    }
                })
            }),
        ),
        bug(
            R::WslEPrefixIncrElim,
            "the new value is not assigned",
            E(|cx, e| after(cx, e, assign::e_prefix_incr_elim, |_, e| becomes(e, 1))),
        ),
        bug(
            R::WslEPlusEqualElim,
            "the operands change places",
            E(|cx, e| {
                after(cx, e, assign::e_plus_equal_elim, |_, e| {
                    if let Some(Form::Call(_, operands)) = part(e, 1).map(|e| &mut e.form) {
                        operands.reverse();
                    }
                })
            }),
        ),
        bug(
            R::WslEPlusEqualElim,
            "the right side is evaluated before the left is loaded (WSL-D9)",
            E(|cx, e| {
                let next = assign::e_plus_equal_elim(cx, e)?;
                match &e.form {
                    Form::CompoundAssign(_, parts) if parts[1].words().is_none() => cx.expr(&parts[1])?.inside(R::WslEPlusEqualElim, 1),
                    _ => Some(next),
                }
            }),
        ),
        bug(R::WslEPostfixIncrReduce, "the operand of e++ is evaluated at each use", E(unreduced)),
        bug(R::WslEPrefixIncrReduce, "the operand of ++e is evaluated at each use", E(unreduced)),
        bug(R::WslEPlusEqualReduce, "the left side of += is evaluated at each use", E(unreduced)),
    ]
}

/// Makes the assignment of `e++`, `++e` or `e += x` although `e` can still be reduced. The
/// assignment then evaluates `e` twice.
fn unreduced(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let (target, callee, store, operand) = match &e.form {
        Form::Step(target, callee, store) => (&**target, *callee, *store, None),
        Form::CompoundAssign(callee, parts) => (&parts[0], *callee, None, Some(parts[1].clone())),
        _ => return None,
    };
    cx.left(target)?;
    let made = |form| Expr { at: e.at, ty: e.ty, form };
    let right = |e: &Expr| made(Form::Coerce(Coercion::LeftToRight, Box::new(e.clone())));
    let call = made(Form::Call(callee, std::iter::once(right(target)).chain(operand).collect()));
    let change = made(Form::Assign(Box::new([target.clone(), call])));
    Some(Next::expr(match store {
        None => change,
        Some(store) => {
            let kept = made(Form::Left(cx.address(store)));
            let keep = made(Form::Assign(Box::new([kept.clone(), right(target)])));
            made(Form::Comma(Box::new([keep, made(Form::Comma(Box::new([change, right(&kept)])))])))
        }
    }))
}

pub fn calls() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslECallReduce,
            "arguments are evaluated from right to left (WSL-D10)",
            E(|cx, e| {
                let Form::Call(_, arguments) = &e.form else { return None };
                let last = arguments.iter().rposition(|a| a.words().is_none())?;
                cx.expr(&arguments[last])?.inside(R::WslECallReduce, last as u32)
            }),
        ),
        bug(
            R::WslECallResolve,
            "parameters take the arguments in reverse",
            E(|cx, e| {
                before(cx, e, call::e_call_resolve, |_, e| {
                    if let Form::Call(_, arguments) = &mut e.form {
                        arguments.reverse();
                    }
                })
            }),
        ),
        bug(R::WslECallResolve, "no argument is stored", E(|cx, e| unstored(call::e_call_resolve(cx, e)))),
        bug(
            R::WslECallConstructReduce,
            "the body is not executed",
            E(|cx, e| instead(cx, e, call::e_call_construct_reduce, |e| e.form = Form::Construct(Box::new(Stmt::empty())))),
        ),
        bug(R::WslECallReturnVoid, "return ends the thread", E(|cx, e| call::e_call_return_void(cx, e).map(|_| Next::discards()))),
        bug(
            R::WslECallEndFunction,
            "the end of a body ends the thread",
            E(|cx, e| call::e_call_end_function(cx, e).map(|_| Next::discards())),
        ),
        bug(R::WslECallReturn, "the value is 0", E(|cx, e| after(cx, e, call::e_call_return, |_, e| zeroed(e)))),
        bug(R::WslEDiscard, "discard ends the function only", E(|cx, e| call::e_discard(cx, e).map(|_| Next::value(e, Words::new())))),
    ]
}

/// The atomic operation leaves the old value in memory.
fn unwritten(next: Option<Next>) -> Option<Next> {
    effects(next, |effect| {
        if let Effect::ReadModifyWrite(_, read, written) = effect {
            *written = *read;
        }
    })
}

/// The atomic operation stores the new value, not the old one, through its last argument.
fn new_value(next: Option<Next>) -> Option<Next> {
    let mut next = next?;
    for change in next.changes() {
        if let [Effect::ReadModifyWrite(_, _, new), Effect::Store(_, stored)] = &mut change.effects[..] {
            stored[0] = *new;
        }
    }
    Some(next)
}

/// Where the rule applies, the operand to compare with is the value in memory, so that the
/// comparison holds.
fn compared(cx: &mut Cx, e: &Expr, rule: ExprRule) -> Option<Next> {
    let Form::Call(_, arguments) = &e.form else { return None };
    let Word::Address(at) = *arguments.first()?.words()?.first()? else { return None };
    let read = cx.memory.loaded(cx.opens, at, 1)?;
    before(cx, e, rule, |_, e| {
        if let Some(old) = part(e, 1) {
            old.form = Form::Value(read);
        }
    })
}

pub fn built_in() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslECallLibrary,
            "a function gives its first argument",
            E(|cx, e| match &e.form {
                Form::Call(_, arguments) if arguments.first().is_some_and(|a| a.ty == e.ty) => {
                    instead(cx, e, builtin::e_call_library, |e| becomes(e, 0))
                }
                _ => builtin::e_call_library(cx, e),
            }),
        ),
        bug(R::WslEInterlocked, "the atomic is not written", E(|cx, e| unwritten(builtin::e_interlocked(cx, e)))),
        bug(R::WslEInterlocked, "the new value is stored", E(|cx, e| new_value(builtin::e_interlocked(cx, e)))),
        bug(R::WslECompareExchange, "nothing is exchanged", E(|cx, e| unwritten(builtin::e_compare_exchange(cx, e)))),
        bug(R::WslECompareExchange, "the new value is stored", E(|cx, e| new_value(builtin::e_compare_exchange(cx, e)))),
        bug(R::WslECompareExchange, "nothing is compared", E(|cx, e| compared(cx, e, builtin::e_compare_exchange))),
        bug(
            R::WslEBarrier,
            "a barrier ends the thread",
            E(|cx, e| {
                let next = builtin::e_barrier(cx, e)?;
                // The first step of a barrier waits. The thread is discarded only when the barrier
                // has let it pass.
                let passes = matches!(next.action(), NextAction::Becomes(_));
                Some(if passes { Next::discards() } else { next })
            }),
        ),
        bug(
            R::WslEDerivative,
            "a derivative is the negative one",
            E(|cx, e| {
                after(cx, e, derivative::e_derivative, |_, e| {
                    if let Form::Value(words) = &mut e.form {
                        words.iter_mut().for_each(|w| *w = w.definite().map_or(*w, |bits| Word::Bits(bits ^ 1 << 31)));
                    }
                })
            }),
        ),
        bug(
            R::WslEDerivative,
            "a derivative needs no other thread",
            E(|cx, e| {
                let zeros = zeros(cx, e);
                derivative::e_derivative(cx, e).map(|_| Next::form(e, zeros))
            }),
        ),
    ]
}
