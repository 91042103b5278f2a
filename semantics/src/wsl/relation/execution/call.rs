//! Calls: seed 004 "Calls".

use super::table::{Function::Expr as E, Row, Shape};
use super::term::{Expr, Form, Stmt};
use super::{Around, Cx, Effect, Effects, Next};
use crate::rule::Rule;
use crate::wsl::environment::access::Callee;
use crate::wsl::memory::Words;
use crate::wsl::typing::program::StmtForm;
use std::rc::Rc;

/// The rules of this section.
pub(super) const RULES: &[Row] = &[
    (
        Rule::WslECallReduce,
        E(
            &[
                Shape::CallDeclared,
                Shape::CallAddress,
                Shape::CallAccessor,
                Shape::CallBarrier,
                Shape::CallAtomic,
                Shape::CallDerivative,
                Shape::CallTexture,
                Shape::CallLibrary,
            ],
            e_call_reduce,
        ),
    ),
    (Rule::WslECallResolve, E(&[Shape::CallDeclared], e_call_resolve)),
    (Rule::WslECallConstructReduce, E(&[Shape::Construct], e_call_construct_reduce)),
    (Rule::WslECallReturnVoid, E(&[Shape::Construct], e_call_return_void)),
    (Rule::WslECallEndFunction, E(&[Shape::Construct], e_call_end_function)),
    (Rule::WslECallReturn, E(&[Shape::Construct], e_call_return)),
    (Rule::WslEDiscard, E(&[Shape::Construct], e_discard)),
];

/// ei → ei', the leftmost argument that reduces, gives f(… ei …) → f(… ei' …) [wsl/e-call-reduce,
/// 004 Calls 1; WSL-D10]
pub fn e_call_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Call(_, arguments) = &e.form else { return None };
    let first = arguments.iter().position(|a| a.words().is_none())?;
    cx.expr(&arguments[first])?.inside(Rule::WslECallReduce, first as u32)
}

/// f(v1, …) → Call({ρ0[x1 ↦ id1]…: s}), storing v1 to id1, and so on from left to right
/// [wsl/e-call-resolve, 004 Calls 2; WSL-C2, WSL-D2]
pub fn e_call_resolve(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Call(Callee::Declared(function), arguments) = &e.form else { return None };
    let program = cx.program();
    let body = program.body(*function);
    let StmtForm::Block(rest) = &program.stmt(body.block).form else { return None };
    if arguments.len() != body.parameters.len() {
        return None;
    }
    let mut effects = Effects::new();
    let mut env = Vec::with_capacity(arguments.len());
    for ((argument, &store), parameter) in arguments.iter().zip(&body.parameters).zip(&program.env.function(*function).parameters) {
        effects.push(Effect::Store(cx.address(store), Words::from_slice(argument.words()?)));
        env.push((parameter.name, store));
    }
    let block = cx.block(Rc::new(env), Vec::new(), rest.clone());
    Some(Next::form(e, Form::Construct(Box::new(Stmt::Block(Box::new(block))))).with(effects))
}

/// The statement that a call executes.
fn executed_statement(e: &Expr) -> Option<&Stmt> {
    match &e.form {
        Form::Construct(s) => Some(s),
        _ => None,
    }
}

/// s → s' gives Call(s) → Call(s') [wsl/e-call-construct-reduce, 004 Calls, Call 1]
pub fn e_call_construct_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    cx.stmt(executed_statement(e)?)?.around(Some(Around::Call(e.at))).inside(Rule::WslECallConstructReduce, 0)
}

/// Call(return;) → Void [wsl/e-call-return-void, 004 Calls, Call 2; WSL-D15]
pub fn e_call_return_void(_: &mut Cx, e: &Expr) -> Option<Next> {
    matches!(executed_statement(e)?, Stmt::Return(None)).then(|| Next::value(e, Words::new()))
}

/// Call({}) → Void [wsl/e-call-end-function, 004 Calls, Call 2; WSL-D15]
pub fn e_call_end_function(_: &mut Cx, e: &Expr) -> Option<Next> {
    executed_statement(e)?.is_empty().then(|| Next::value(e, Words::new()))
}

/// Call(return v;) → v [wsl/e-call-return, 004 Calls, Call 3]
pub fn e_call_return(_: &mut Cx, e: &Expr) -> Option<Next> {
    let Stmt::Return(Some(value)) = executed_statement(e)? else { return None };
    Some(Next::value(e, Words::from_slice(value.words()?)))
}

/// Call(discard;) ends the thread [wsl/e-discard, 004 Barriers and discard; WSL-C5]
pub fn e_discard(_: &mut Cx, e: &Expr) -> Option<Next> {
    matches!(executed_statement(e)?, Stmt::Discard).then(Next::discards)
}
