//! Loops: seed 004 "Loops".

use super::term::Stmt;
use super::{Around, Cx, Done};
use crate::rule::Rule;
use crate::wsl::typing::program::{StmtForm, StmtId};

impl Cx<'_, '_> {
    pub(super) fn iteration(&mut self, s: &mut Stmt) -> Done {
        let Stmt::Loop(parts, _) = s else { return self.stuck("no loop") };
        match &parts[0] {
            Stmt::Break => self.apply_stmt(Rule::WslELoopBreak, e_loop_break, s),
            body if body.is_empty() || matches!(body, Stmt::Continue) => match parts[1].is_empty() {
                true => self.apply_stmt(Rule::WslELoopNextIteration, e_loop_next_iteration, s),
                false => self.apply_stmt(Rule::WslELoopIncrement, e_loop_increment, s),
            },
            body if body.is_terminator() => self.apply_stmt(Rule::WslELoopOtherTerminator, e_loop_other_terminator, s),
            _ => self.apply_stmt(Rule::WslELoopReduce, e_loop_reduce, s),
        }
    }
}

/// do s while (e); → Loop(s, {}, if (e) do s while (e); else {}) [wsl/e-do-while-loop, 004 Loops]
pub fn e_do_while_loop(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::Iterate(id, n) = *s else { return cx.stuck("no loop") };
    let StmtForm::DoWhile(body, e) = cx.program().stmt(id).form else { return cx.stuck("no do") };
    cx.place = Some(cx.program().stmt(id).span);
    let again = Stmt::If(Box::new((cx.source(e), Stmt::Iterate(id, n.wrapping_add(1)), Stmt::empty())));
    *s = Stmt::Loop(Box::new([cx.open_stmt(body), Stmt::empty(), again]), n);
    Ok(())
}

/// for (; e; e') s → if (e) Loop(s, e';, for (; e; e') s) else {} [wsl/e-for-loop, 004 Loops]
pub fn e_for_loop(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::Iterate(id, n) = *s else { return cx.stuck("no loop") };
    let StmtForm::For(e, each, body) = cx.program().stmt(id).form else { return cx.stuck("no for") };
    cx.place = Some(cx.program().stmt(id).span);
    let again = Stmt::Iterate(id, n.wrapping_add(1));
    let round = Stmt::Loop(Box::new([cx.open_stmt(body), Stmt::Effect(cx.source(each)), again]), n);
    *s = Stmt::If(Box::new((cx.source(e), round, Stmt::empty())));
    Ok(())
}

/// Loop(break;, s', s'') → {} [wsl/e-loop-break, 004 Loops, Loop 1]
pub fn e_loop_break(_: &mut Cx, s: &mut Stmt) -> Done {
    *s = Stmt::empty();
    Ok(())
}

/// Loop({}, {}, s'') → s'' and Loop(continue;, {}, s'') → s'' [wsl/e-loop-next-iteration, 004
/// Loops, Loop 2.1; WSL-D6]
pub fn e_loop_next_iteration(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::Loop(parts, _) = s else { return cx.stuck("no loop") };
    *s = parts[2].take();
    Ok(())
}

/// s' → s1 gives Loop({}, s', s'') → Loop({}, s1, s'') [wsl/e-loop-increment, 004 Loops, Loop 2.2]
pub fn e_loop_increment(cx: &mut Cx, s: &mut Stmt) -> Done {
    cx.in_loop(s, Rule::WslELoopIncrement, 1)
}

/// Loop(t, s', s'') → t, t another terminator [wsl/e-loop-other-terminator, 004 Loops, Loop 3;
/// WSL-C5]
pub fn e_loop_other_terminator(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::Loop(parts, _) = s else { return cx.stuck("no loop") };
    *s = parts[0].take();
    Ok(())
}

/// s → s1 gives Loop(s, s', s'') → Loop(s1, s', s'') [wsl/e-loop-reduce, 004 Loops, Loop 4]
pub fn e_loop_reduce(cx: &mut Cx, s: &mut Stmt) -> Done {
    cx.in_loop(s, Rule::WslELoopReduce, 0)
}

impl Cx<'_, '_> {
    fn in_loop(&mut self, s: &mut Stmt, rule: Rule, part: usize) -> Done {
        let Stmt::Loop(parts, n) = s else { return self.stuck("no loop") };
        let n = *n;
        let around = next(&parts[2]).map(|id| Around::Iteration(id, n));
        self.instance.around.extend(around);
        let done = self.within(rule, |cx| cx.stmt(&mut parts[part]));
        if done.is_ok() && around.is_some() {
            self.instance.around.pop();
        }
        done
    }
}

/// The loop of which a statement is what comes after an iteration.
fn next(after: &Stmt) -> Option<StmtId> {
    match after {
        Stmt::Iterate(id, _) => Some(*id),
        Stmt::If(parts) => match parts.1 {
            Stmt::Iterate(id, _) => Some(id),
            _ => None,
        },
        _ => None,
    }
}
