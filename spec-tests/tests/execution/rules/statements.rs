//! Wrong rules for statements.

use super::{Bug, after_it, before_it, bug, ended, instead_of, scalar, unstored, zeroed, zeros};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::execution::Replacement::Stmt as S;
use smallstep_semantics::wsl::execution::term::Stmt;
use smallstep_semantics::wsl::execution::{Cx, Next, StmtRule, iteration, statement, switch};
use smallstep_semantics::wsl::typing::program::{Constant, StmtForm};
use std::rc::Rc;

/// Makes the first statement of a block empty.
fn nothing_first(s: &mut Stmt) {
    if let Stmt::Block(block) = s {
        block.first = Some(Stmt::empty());
    }
}

/// Replaces an if statement with one of its branches.
fn branch(s: &mut Stmt, second: bool) {
    if let Stmt::If(parts) = s {
        *s = if second { parts.2.take() } else { parts.1.take() };
    }
}

pub fn blocks() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslEBlockAnnotate,
            "an inner block sees no variables",
            S(|cx, s| {
                after_it(cx, s, statement::e_block_annotate, |s| {
                    if let Stmt::Block(block) = s {
                        block.env = Some(Rc::default());
                    }
                })
            }),
        ),
        bug(
            R::WslEBlockNextStmt,
            "the statement after an empty block is lost",
            S(|cx, s| {
                before_it(cx, s, [statement::e_block_next_stmt; 2], |s| {
                    if let Stmt::Block(block) = s {
                        block.rest.next();
                    }
                })
            }),
        ),
        bug(R::WslEBlockTerminator, "a terminator ends its block only", S(|cx, s| instead_of(cx, s, statement::e_block_terminator, ended))),
        bug(
            R::WslEBlockTerminator,
            "what follows a terminator is executed",
            S(|cx, s| instead_of(cx, s, statement::e_block_terminator, nothing_first)),
        ),
        bug(
            R::WslEBlockVdeclReduce,
            "an initialiser sees no variables",
            S(|cx, s| match s {
                Stmt::Block(block) => match &block.first {
                    Some(Stmt::Declaration(_, _, Some(e))) => {
                        cx.in_env(Rc::default(), |cx| cx.expr(e))?.at_part(0)?.inside(R::WslEBlockVdeclReduce, 0)
                    }
                    _ => None,
                },
                _ => None,
            }),
        ),
        bug(
            R::WslEBlockVdeclComplete,
            "the default value is stored",
            S(|cx, s| {
                before_it(cx, s, [statement::e_block_vdecl_complete; 2], |s| {
                    if let Stmt::Block(block) = s
                        && let Some(Stmt::Declaration(_, _, Some(e))) = &mut block.first
                    {
                        zeroed(e);
                    }
                })
            }),
        ),
        bug(
            R::WslEBlockVdeclComplete,
            "an initialised variable is not bound",
            S(|cx, s| instead_of(cx, s, statement::e_block_vdecl_complete, nothing_first)),
        ),
        bug(R::WslEBlockVdecl, "no default value is stored", S(|cx, s| unstored(statement::e_block_vdecl(cx, s)))),
        bug(
            R::WslEBlockReduce,
            "a statement sees no variables",
            S(|cx, s| match s {
                Stmt::Block(block) => cx.in_env(Rc::default(), |cx| cx.stmt(block.first.as_ref()?))?.inside(R::WslEBlockReduce, 0),
                _ => None,
            }),
        ),
        bug(R::WslEIfTrue, "the second branch is taken", S(|cx, s| instead_of(cx, s, statement::e_if_true, |s| branch(s, true)))),
        bug(R::WslEIfFalse, "the first branch is taken", S(|cx, s| instead_of(cx, s, statement::e_if_false, |s| branch(s, false)))),
        bug(R::WslEIfFalse, "nothing is executed", S(|cx, s| instead_of(cx, s, statement::e_if_false, ended))),
        bug(
            R::WslEIfReduce,
            "the condition holds",
            S(|cx, s| {
                instead_of(cx, s, statement::e_if_reduce, |s| {
                    if let Stmt::If(parts) = s {
                        parts.0.form = scalar(1);
                    }
                })
            }),
        ),
        bug(
            R::WslEEffectfulExprReduce,
            "an expression is not evaluated for what it does",
            S(|cx, s| instead_of(cx, s, statement::e_effectful_expr_reduce, ended)),
        ),
        bug(
            R::WslEEffectfulExprElim,
            "a value ends the function",
            S(|cx, s| instead_of(cx, s, statement::e_effectful_expr_elim, |s| *s = Stmt::Return(None))),
        ),
        bug(
            R::WslEReturnReduce,
            "what is returned is not evaluated",
            S(|cx, s| {
                let Stmt::Return(Some(returned)) = s else { return None };
                let zeros = zeros(cx, returned);
                instead_of(cx, s, statement::e_return_reduce, |s| {
                    if let Stmt::Return(Some(e)) = s {
                        e.form = zeros;
                    }
                })
            }),
        ),
    ]
}

/// Where the rule applies, the switch enters its first case.
fn first_case(cx: &mut Cx, s: &Stmt, rule: StmtRule) -> Option<Next> {
    let Stmt::Switch(_, id) = s else { return None };
    let StmtForm::Switch(_, cases) = &cx.shared.program.stmt(*id).form else { return None };
    let first = cases.iter().find_map(|c| c.value);
    before_it(cx, s, [rule, switch::e_switch_case_found], |s| {
        if let (Stmt::Switch(e, _), Some(Constant::Int(first))) = (s, first) {
            e.form = scalar(first as u32);
        }
    })
}

/// Replaces the first statement of the cases of a switch.
fn first_is(s: &mut Stmt, is: Stmt) {
    if let Stmt::Cases(first, ..) = s {
        **first = is;
    }
}

pub fn switches() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslESwitchReduce,
            "the operand is 0",
            S(|cx, s| {
                let Stmt::Switch(switched, _) = s else { return None };
                let zeros = zeros(cx, switched);
                instead_of(cx, s, switch::e_switch_reduce, |s| {
                    if let Stmt::Switch(e, _) = s {
                        e.form = zeros;
                    }
                })
            }),
        ),
        bug(R::WslESwitchCaseFound, "the first case is entered", S(|cx, s| first_case(cx, s, switch::e_switch_case_found))),
        bug(
            R::WslESwitchCaseFound,
            "default is entered",
            S(|cx, s| {
                before_it(cx, s, [switch::e_switch_case_found, switch::e_switch_default], |s| {
                    if let Stmt::Switch(e, _) = s {
                        e.form = scalar(0x7fff_fff1);
                    }
                })
            }),
        ),
        bug(R::WslESwitchDefault, "the first case is entered", S(|cx, s| first_case(cx, s, switch::e_switch_default))),
        bug(
            R::WslESwitchDefault,
            "a switch without the value's case does nothing",
            S(|cx, s| instead_of(cx, s, switch::e_switch_default, ended)),
        ),
        bug(R::WslECasesFallthrough, "fallthrough ends the switch", S(|cx, s| instead_of(cx, s, switch::e_cases_fallthrough, ended))),
        bug(
            R::WslECasesFallthrough,
            "fallthrough leaves a case out",
            S(|cx, s| {
                before_it(cx, s, [switch::e_cases_fallthrough; 2], |s| {
                    if let Stmt::Cases(_, _, next) = s {
                        *next += 1;
                    }
                })
            }),
        ),
        bug(
            R::WslECasesBreak,
            "break falls through",
            S(|cx, s| before_it(cx, s, [switch::e_cases_break, switch::e_cases_fallthrough], |s| first_is(s, Stmt::Fallthrough))),
        ),
        bug(
            R::WslECasesBreak,
            "break leaves what is around the switch too",
            S(|cx, s| instead_of(cx, s, switch::e_cases_break, |s| *s = Stmt::Break)),
        ),
        bug(
            R::WslECasesOtherTerminator,
            "return ends the switch only",
            S(|cx, s| instead_of(cx, s, switch::e_cases_other_terminator, ended)),
        ),
        bug(
            R::WslECasesReduce,
            "the statements of a case are not executed",
            S(|cx, s| instead_of(cx, s, switch::e_cases_reduce, |s| first_is(s, Stmt::Break))),
        ),
    ]
}

/// Replaces a part of a loop.
fn round(s: &mut Stmt, part: usize, is: Stmt) {
    if let Stmt::Loop(parts, _) = s {
        parts[part] = is;
    }
}

pub fn loops() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslEDoWhileLoop,
            "a do loop asks its condition first",
            S(|cx, s| {
                after_it(cx, s, iteration::e_do_while_loop, |s| {
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
                })
            }),
        ),
        bug(
            R::WslEForLoop,
            "a for loop does not ask its condition",
            S(|cx, s| after_it(cx, s, iteration::e_for_loop, |s| branch(s, false))),
        ),
        bug(R::WslELoopBreak, "break continues", S(|cx, s| instead_of(cx, s, iteration::e_loop_break, |s| round(s, 0, Stmt::Continue)))),
        bug(R::WslELoopBreak, "break ends all loops", S(|cx, s| instead_of(cx, s, iteration::e_loop_break, |s| *s = Stmt::Break))),
        bug(
            R::WslELoopNextIteration,
            "a loop ends after an iteration",
            S(|cx, s| instead_of(cx, s, iteration::e_loop_next_iteration, ended)),
        ),
        bug(
            R::WslELoopIncrement,
            "the third expression is not evaluated",
            S(|cx, s| instead_of(cx, s, iteration::e_loop_increment, |s| round(s, 1, Stmt::empty()))),
        ),
        bug(
            R::WslELoopOtherTerminator,
            "return ends the loop only",
            S(|cx, s| instead_of(cx, s, iteration::e_loop_other_terminator, ended)),
        ),
        bug(
            R::WslELoopReduce,
            "the body is not executed",
            S(|cx, s| instead_of(cx, s, iteration::e_loop_reduce, |s| round(s, 0, Stmt::empty()))),
        ),
    ]
}
