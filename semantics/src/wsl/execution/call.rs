//! Calls: seed 004 "Calls".

use super::term::{Block, Expr, Form, Stmt};
use super::{Around, Cx, Done, Step, Stop};
use crate::rule::Rule;
use crate::wsl::environment::access::Callee;
use crate::wsl::memory::Words;
use crate::wsl::typing::program::StmtForm;
use smallvec::SmallVec;
use std::rc::Rc;

impl Cx<'_, '_> {
    pub(super) fn call(&mut self, e: &mut Expr) -> Done {
        let Form::Call(callee, arguments) = &e.form else { return self.stuck("no call") };
        if arguments.iter().any(|a| a.words().is_none()) {
            return self.apply(Rule::WslECallReduce, e_call_reduce, e);
        }
        match *callee {
            Callee::Declared(_) => self.apply(Rule::WslECallResolve, e_call_resolve, e),
            Callee::Generated(generated) => self.call_generated(generated, e),
            Callee::Library(function) => self.call_library(function, e),
        }
    }

    pub(super) fn construct(&mut self, e: &mut Expr) -> Done {
        let Form::Construct(s) = &e.form else { return self.stuck("no call") };
        match &**s {
            Stmt::Return(None) => self.apply(Rule::WslECallReturnVoid, e_call_return_void, e),
            Stmt::Return(Some(value)) if value.words().is_some() => self.apply(Rule::WslECallReturn, e_call_return, e),
            s if s.is_empty() => self.apply(Rule::WslECallEndFunction, e_call_end_function, e),
            Stmt::Discard => self.apply(Rule::WslEDiscard, e_discard, e),
            _ => self.apply(Rule::WslECallConstructReduce, e_call_construct_reduce, e),
        }
    }
}

/// ei → ei', the leftmost argument that reduces, gives f(… ei …) → f(… ei' …) [wsl/e-call-reduce,
/// 004 Calls 1; WSL-D10]
pub fn e_call_reduce(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Call(_, arguments) = &mut e.form else { return cx.stuck("no call") };
    let Some(argument) = arguments.iter_mut().find(|a| a.words().is_none()) else { return cx.stuck("no argument reduces") };
    cx.within(Rule::WslECallReduce, |cx| cx.expr(argument))
}

/// f(v1, …) → Call({ρ0[x1 ↦ id1]…: s}), storing v1 to id1, and so on from left to right
/// [wsl/e-call-resolve, 004 Calls 2; WSL-C2, WSL-D2]
pub fn e_call_resolve(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Call(Callee::Declared(function), arguments) = &mut e.form else { return cx.stuck("no call") };
    let (function, arguments) = (*function, std::mem::take(arguments));
    let program = cx.shared.program;
    let body = program.body(function);
    if arguments.len() != body.parameters.len() {
        return cx.stuck("the numbers of arguments and parameters differ");
    }
    let mut env = Vec::with_capacity(arguments.len());
    for ((argument, &store), parameter) in arguments.iter().zip(&body.parameters).zip(&program.env.function(function).parameters) {
        let Some(words) = argument.words() else { return cx.stuck("an argument is no value") };
        cx.store(cx.address(store), words)?;
        env.push((parameter.name, store));
    }
    let StmtForm::Block(rest) = &program.stmt(body.block).form else { return cx.stuck("a body is no block") };
    let block = Block { env: Some(Rc::new(env)), rest: rest.clone(), ..Block::default() };
    e.form = Form::Construct(Box::new(Stmt::Block(Box::new(block))));
    Ok(())
}

/// s → s' gives Call(s) → Call(s') [wsl/e-call-construct-reduce, 004 Calls, Call 1]
pub fn e_call_construct_reduce(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Construct(s) = &mut e.form else { return cx.stuck("no call") };
    let at = e.at;
    cx.instance.around.push(Around::Call(at));
    let done = cx.within(Rule::WslECallConstructReduce, |cx| cx.stmt(s));
    if done.is_ok() {
        cx.instance.around.pop();
    }
    done
}

/// Call(return;) → Void [wsl/e-call-return-void, 004 Calls, Call 2; WSL-D15]
pub fn e_call_return_void(_: &mut Cx, e: &mut Expr) -> Done {
    e.form = Form::Value(Words::new());
    Ok(())
}

/// Call({}) → Void [wsl/e-call-end-function, 004 Calls, Call 2; WSL-D15]
pub fn e_call_end_function(_: &mut Cx, e: &mut Expr) -> Done {
    e.form = Form::Value(Words::new());
    Ok(())
}

/// Call(return v;) → v [wsl/e-call-return, 004 Calls, Call 3]
pub fn e_call_return(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Construct(s) = &mut e.form else { return cx.stuck("no call") };
    let Stmt::Return(Some(value)) = &mut **s else { return cx.stuck("no return") };
    let value = value.take();
    e.form = value.form;
    Ok(())
}

/// Call(discard;) ends the thread [wsl/e-discard, 004 Barriers and discard; WSL-C5]
pub fn e_discard(cx: &mut Cx, _: &mut Expr) -> Done {
    let step = Step { rule: Rule::WslEDiscard, within: cx.within.clone(), at: cx.span(), events: SmallVec::new() };
    Err(Stop::Discarded(Box::new(step)))
}
