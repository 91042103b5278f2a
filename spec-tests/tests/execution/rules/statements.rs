//! Wrong rules for statements.

use super::{Bug, bug, ended, scalar, zeroed, zeros};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::execution::Replacement::Stmt as S;
use smallstep_semantics::wsl::execution::term::Stmt;
use smallstep_semantics::wsl::execution::{Cx, Done, iteration, statement, switch};
use smallstep_semantics::wsl::typing::program::{Constant, StmtForm};
use std::rc::Rc;

pub fn blocks() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslEBlockAnnotate,
            "an inner block sees no variables",
            S(|_, s| {
                if let Stmt::Block(block) = s {
                    block.env = Some(Rc::default());
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEBlockNextStmt,
            "the statement after an empty block is lost",
            S(|cx, s| {
                statement::e_block_next_stmt(cx, s)?;
                if let Stmt::Block(block) = s {
                    block.rest.next();
                }
                Ok(())
            }),
        ),
        bug(R::WslEBlockTerminator, "a terminator ends its block only", S(|_, s| ended(s))),
        bug(
            R::WslEBlockTerminator,
            "what follows a terminator is executed",
            S(|_, s| {
                if let Stmt::Block(block) = s {
                    block.first = None;
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEBlockVdeclReduce,
            "an initialiser sees no variables",
            S(|cx, s| match s {
                Stmt::Block(block) => match &mut block.first {
                    Some(Stmt::Declaration(_, _, Some(e))) => {
                        cx.within(R::WslEBlockVdeclReduce, |cx| cx.in_env(Rc::default(), |cx| cx.expr(e)))
                    }
                    _ => Ok(()),
                },
                _ => Ok(()),
            }),
        ),
        bug(
            R::WslEBlockVdeclComplete,
            "the default value is stored",
            S(|cx, s| {
                if let Stmt::Block(block) = s
                    && let Some(Stmt::Declaration(_, _, Some(e))) = &mut block.first
                {
                    zeroed(e)?;
                }
                statement::e_block_vdecl_complete(cx, s)
            }),
        ),
        bug(
            R::WslEBlockVdeclComplete,
            "an initialised variable is not bound",
            S(|_, s| {
                if let Stmt::Block(block) = s {
                    block.first = None;
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEBlockVdecl,
            "no default value is stored",
            S(|cx, s| {
                let before = cx.memory.clone();
                statement::e_block_vdecl(cx, s)?;
                *cx.memory = before;
                Ok(())
            }),
        ),
        bug(
            R::WslEBlockReduce,
            "a statement sees no variables",
            S(|cx, s| match s {
                Stmt::Block(block) => match &mut block.first {
                    Some(first) => cx.within(R::WslEBlockReduce, |cx| cx.in_env(Rc::default(), |cx| cx.stmt(first))),
                    None => Ok(()),
                },
                _ => Ok(()),
            }),
        ),
        bug(R::WslEIfTrue, "the second branch is taken", S(statement::e_if_false)),
        bug(R::WslEIfFalse, "the first branch is taken", S(statement::e_if_true)),
        bug(R::WslEIfFalse, "nothing is executed", S(|_, s| ended(s))),
        bug(
            R::WslEIfReduce,
            "the condition holds",
            S(|_, s| {
                if let Stmt::If(parts) = s {
                    parts.0.form = scalar(1);
                }
                Ok(())
            }),
        ),
        bug(R::WslEEffectfulExprReduce, "an expression is not evaluated for what it does", S(|_, s| ended(s))),
        bug(
            R::WslEEffectfulExprElim,
            "a value ends the function",
            S(|_, s| {
                *s = Stmt::Return(None);
                Ok(())
            }),
        ),
        bug(
            R::WslEReturnReduce,
            "what is returned is not evaluated",
            S(|cx, s| match s {
                Stmt::Return(Some(e)) => zeros(cx, e),
                _ => Ok(()),
            }),
        ),
    ]
}

/// The first case is entered.
fn first_case(cx: &mut Cx, s: &mut Stmt) -> Done {
    if let Stmt::Switch(e, id) = s
        && let StmtForm::Switch(_, cases) = &cx.shared.program.stmt(*id).form
        && let Some(Constant::Int(first)) = cases.iter().find_map(|c| c.value)
    {
        e.form = scalar(first as u32);
    }
    switch::e_switch_case_found(cx, s)
}

pub fn switches() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslESwitchReduce,
            "the operand is 0",
            S(|cx, s| match s {
                Stmt::Switch(e, _) => zeros(cx, e),
                _ => Ok(()),
            }),
        ),
        bug(R::WslESwitchCaseFound, "the first case is entered", S(first_case)),
        bug(R::WslESwitchCaseFound, "default is entered", S(switch::e_switch_default)),
        bug(R::WslESwitchDefault, "the first case is entered", S(first_case)),
        bug(R::WslESwitchDefault, "a switch without the value's case does nothing", S(|_, s| ended(s))),
        bug(R::WslECasesFallthrough, "fallthrough ends the switch", S(|_, s| ended(s))),
        bug(
            R::WslECasesFallthrough,
            "fallthrough leaves a case out",
            S(|cx, s| {
                if let Stmt::Cases(_, _, next) = s {
                    *next += 1;
                }
                switch::e_cases_fallthrough(cx, s)
            }),
        ),
        bug(R::WslECasesBreak, "break falls through", S(switch::e_cases_fallthrough)),
        bug(R::WslECasesBreak, "break leaves what is around the switch too", S(switch::e_cases_other_terminator)),
        bug(R::WslECasesOtherTerminator, "return ends the switch only", S(|_, s| ended(s))),
        bug(
            R::WslECasesReduce,
            "the statements of a case are not executed",
            S(|_, s| {
                if let Stmt::Cases(first, ..) = s {
                    **first = Stmt::Break;
                }
                Ok(())
            }),
        ),
    ]
}

pub fn loops() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslEDoWhileLoop,
            "a do loop asks its condition first",
            S(|cx, s| {
                iteration::e_do_while_loop(cx, s)?;
                let condition = match s {
                    Stmt::Loop(parts, _) => match &parts[2] {
                        Stmt::If(parts) => Some(parts.0.clone()),
                        _ => None,
                    },
                    _ => None,
                };
                if let Some(condition) = condition {
                    let body = s.take();
                    *s = Stmt::If(Box::new((condition, body, Stmt::empty())));
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEForLoop,
            "a for loop does not ask its condition",
            S(|cx, s| {
                iteration::e_for_loop(cx, s)?;
                if let Stmt::If(parts) = s {
                    *s = parts.1.take();
                }
                Ok(())
            }),
        ),
        bug(
            R::WslELoopBreak,
            "break continues",
            S(|_, s| {
                if let Stmt::Loop(parts, _) = s {
                    parts[0] = Stmt::Continue;
                }
                Ok(())
            }),
        ),
        bug(R::WslELoopBreak, "break ends all loops", S(iteration::e_loop_other_terminator)),
        bug(R::WslELoopNextIteration, "a loop ends after an iteration", S(|_, s| ended(s))),
        bug(
            R::WslELoopIncrement,
            "the third expression is not evaluated",
            S(|_, s| {
                if let Stmt::Loop(parts, _) = s {
                    parts[1] = Stmt::empty();
                }
                Ok(())
            }),
        ),
        bug(R::WslELoopOtherTerminator, "return ends the loop only", S(|_, s| ended(s))),
        bug(
            R::WslELoopReduce,
            "the body is not executed",
            S(|_, s| {
                if let Stmt::Loop(parts, _) = s {
                    parts[0] = Stmt::empty();
                }
                Ok(())
            }),
        ),
    ]
}
