//! Loops: seed 004 "Loops".

use super::table::{Function::Stmt as S, Row, StmtShape};
use super::term::Stmt;
use super::{Around, Cx, Next};
use crate::rule::Rule;
use crate::wsl::typing::program::{StmtForm, StmtId};

/// The rules of this section.
pub(super) const RULES: &[Row] = &[
    (Rule::WslEDoWhileLoop, S(&[StmtShape::Iterate], e_do_while_loop)),
    (Rule::WslEForLoop, S(&[StmtShape::Iterate], e_for_loop)),
    (Rule::WslELoopReduce, S(&[StmtShape::Loop], e_loop_reduce)),
    (Rule::WslELoopIncrement, S(&[StmtShape::Loop], e_loop_increment)),
    (Rule::WslELoopNextIteration, S(&[StmtShape::Loop], e_loop_next_iteration)),
    (Rule::WslELoopBreak, S(&[StmtShape::Loop], e_loop_break)),
    (Rule::WslELoopOtherTerminator, S(&[StmtShape::Loop], e_loop_other_terminator)),
];

/// do s while (e); → Loop(s, {}, if (e) do s while (e); else {}) [wsl/e-do-while-loop, 004 Loops]
pub fn e_do_while_loop(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Iterate(id, n) = *s else { return None };
    let StmtForm::DoWhile(body, e) = cx.program().stmt(id).form else { return None };
    let next_iteration = Stmt::If(Box::new((cx.source(e), Stmt::Iterate(id, n.wrapping_add(1)), Stmt::empty())));
    let loop_stmt = Stmt::Loop(Box::new([cx.open_stmt(body), Stmt::empty(), next_iteration]), n);
    Some(Next::stmt(loop_stmt).placed(cx.program().stmt(id).span))
}

/// for (; e; e') s → if (e) Loop(s, e';, for (; e; e') s) else {} [wsl/e-for-loop, 004 Loops]
pub fn e_for_loop(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Iterate(id, n) = *s else { return None };
    let StmtForm::For(e, increment, body) = cx.program().stmt(id).form else { return None };
    let next_iteration = Stmt::Iterate(id, n.wrapping_add(1));
    let loop_stmt = Stmt::Loop(Box::new([cx.open_stmt(body), Stmt::Effect(cx.source(increment)), next_iteration]), n);
    Some(Next::stmt(Stmt::If(Box::new((cx.source(e), loop_stmt, Stmt::empty())))).placed(cx.program().stmt(id).span))
}

/// Loop(break;, s', s'') → {} [wsl/e-loop-break, 004 Loops, Loop 1]
pub fn e_loop_break(_: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Loop(parts, _) = s else { return None };
    matches!(parts[0], Stmt::Break).then(|| Next::stmt(Stmt::empty()))
}

/// Whether the body of an iteration has ended and the loop goes on.
fn body_ended(body: &Stmt) -> bool {
    body.is_empty() || matches!(body, Stmt::Continue)
}

/// Loop({}, {}, s'') → s'' and Loop(continue;, {}, s'') → s'' [wsl/e-loop-next-iteration, 004
/// Loops, Loop 2.1; WSL-D6]
pub fn e_loop_next_iteration(_: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Loop(parts, _) = s else { return None };
    (body_ended(&parts[0]) && parts[1].is_empty()).then(|| Next::part(2))
}

/// s' → s1 gives Loop({}, s', s'') → Loop({}, s1, s'') [wsl/e-loop-increment, 004 Loops, Loop 2.2]
pub fn e_loop_increment(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Loop(parts, n) = s else { return None };
    if !body_ended(&parts[0]) {
        return None;
    }
    cx.stmt(&parts[1])?.around(iteration(&parts[2], *n)).inside(Rule::WslELoopIncrement, 1)
}

/// Loop(t, s', s'') → t, t another terminator [wsl/e-loop-other-terminator, 004 Loops, Loop 3;
/// WSL-C5]
pub fn e_loop_other_terminator(_: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Loop(parts, _) = s else { return None };
    let other = parts[0].is_terminator() && !matches!(parts[0], Stmt::Break | Stmt::Continue);
    other.then(|| Next::part(0))
}

/// s → s1 gives Loop(s, s', s'') → Loop(s1, s', s'') [wsl/e-loop-reduce, 004 Loops, Loop 4]
pub fn e_loop_reduce(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Loop(parts, n) = s else { return None };
    cx.stmt(&parts[0])?.around(iteration(&parts[2], *n)).inside(Rule::WslELoopReduce, 0)
}

/// The iteration of a loop, given the statement that comes after it.
fn iteration(after: &Stmt, n: u32) -> Option<Around> {
    loop_after(after).map(|id| Around::Iteration(id, n))
}

/// The loop, given the statement that comes after an iteration of it.
fn loop_after(after: &Stmt) -> Option<StmtId> {
    match after {
        Stmt::Iterate(id, _) => Some(*id),
        Stmt::If(parts) => match parts.1 {
            Stmt::Iterate(id, _) => Some(id),
            _ => None,
        },
        _ => None,
    }
}
