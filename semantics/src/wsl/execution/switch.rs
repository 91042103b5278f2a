//! `switch` and `Cases`: seed 004 "Branches and Switches".

use super::term::Stmt;
use super::{Cx, Done};
use crate::rule::Rule;
use crate::wsl::open::Word;
use crate::wsl::typing::program::{Case, StmtForm, StmtId};

impl Cx<'_, '_> {
    fn case_list(&self, id: StmtId) -> &[Case] {
        match &self.program().stmt(id).form {
            StmtForm::Switch(_, cases) => cases,
            _ => &[],
        }
    }

    /// The bits of a case's value.
    fn case_bits(&self, case: &Case, ty: crate::wsl::types::TypeId) -> Option<u32> {
        case.value.map(|v| super::constant(self.program(), v, ty))
    }

    pub(super) fn switch(&mut self, s: &mut Stmt) -> Done {
        let Stmt::Switch(e, id) = s else { return self.stuck("no switch") };
        let Some(words) = e.words() else { return self.apply_stmt(Rule::WslESwitchReduce, e_switch_reduce, s) };
        let Some(&word) = words.first() else { return self.stuck("a switch over no value") };
        let values: Vec<u32> = self.case_list(*id).iter().filter_map(|c| self.case_bits(c, e.ty)).collect();
        // What is open is decided: one of the cases' values, or none.
        match self.opens.decide(word, &values) {
            Some(bits) => {
                if let Some(words) = e.form.words_mut() {
                    words[0] = Word::Bits(bits);
                }
                self.apply_stmt(Rule::WslESwitchCaseFound, e_switch_case_found, s)
            }
            None => self.apply_stmt(Rule::WslESwitchDefault, e_switch_default, s),
        }
    }

    fn enter(&self, s: &mut Stmt, id: StmtId, first: Option<usize>) -> Done {
        let Some(first) = first else { return self.stuck("no case of the switch fits, and it has no default") };
        let body = self.case_list(id)[first].body;
        *s = Stmt::Cases(Box::new(self.open_stmt(body)), id, first as u32 + 1);
        Ok(())
    }

    pub(super) fn cases(&mut self, s: &mut Stmt) -> Done {
        let Stmt::Cases(first, ..) = s else { return self.stuck("no cases") };
        match **first {
            Stmt::Fallthrough => self.apply_stmt(Rule::WslECasesFallthrough, e_cases_fallthrough, s),
            Stmt::Break => self.apply_stmt(Rule::WslECasesBreak, e_cases_break, s),
            _ if first.is_terminator() => self.apply_stmt(Rule::WslECasesOtherTerminator, e_cases_other_terminator, s),
            // Validation: no case ends without a terminator.
            _ if first.is_empty() => self.stuck("the end of a case is reached"),
            _ => self.apply_stmt(Rule::WslECasesReduce, e_cases_reduce, s),
        }
    }
}

/// e → e' gives switch (e) {…} → switch (e') {…} [wsl/e-switch-reduce, 004 Branches and Switches,
/// switch 1]
pub fn e_switch_reduce(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::Switch(e, _) = s else { return cx.stuck("no switch") };
    cx.within(Rule::WslESwitchReduce, |cx| cx.expr(e))
}

/// switch (v) {… case v: s0 … sn} → Cases({s0}, …, {sn}) [wsl/e-switch-case-found, 004 Branches and
/// Switches, switch 2]
pub fn e_switch_case_found(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::Switch(e, id) = s else { return cx.stuck("no switch") };
    let (id, ty) = (*id, e.ty);
    let bits = e.words().and_then(|w| w.first()).and_then(|w| w.definite());
    let first = cx.case_list(id).iter().position(|c| c.value.is_some() && cx.case_bits(c, ty) == bits);
    cx.enter(s, id, first)
}

/// switch (v) {… default: s0 … sn} → Cases({s0}, …, {sn}), no case being v [wsl/e-switch-default,
/// 004 Branches and Switches, switch 3]
pub fn e_switch_default(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::Switch(_, id) = s else { return cx.stuck("no switch") };
    let id = *id;
    let first = cx.case_list(id).iter().position(|c| c.value.is_none());
    cx.enter(s, id, first)
}

/// Cases(fallthrough;, s, …) → Cases(s, …) [wsl/e-cases-fallthrough, 004 Branches and Switches,
/// Cases 2]
pub fn e_cases_fallthrough(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::Cases(_, id, next) = s else { return cx.stuck("no cases") };
    let (id, next) = (*id, *next as usize);
    let next = (next < cx.case_list(id).len()).then_some(next);
    cx.enter(s, id, next)
}

/// Cases(break;, s…) → {} [wsl/e-cases-break, 004 Branches and Switches, Cases 3]
pub fn e_cases_break(_: &mut Cx, s: &mut Stmt) -> Done {
    *s = Stmt::empty();
    Ok(())
}

/// Cases(t, s…) → t, t another terminator [wsl/e-cases-other-terminator, 004 Branches and Switches,
/// Cases 4; WSL-C5]
pub fn e_cases_other_terminator(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::Cases(first, ..) = s else { return cx.stuck("no cases") };
    *s = first.take();
    Ok(())
}

/// s → s' gives Cases(s, s''…) → Cases(s', s''…) [wsl/e-cases-reduce, 004 Branches and Switches,
/// Cases 5]
pub fn e_cases_reduce(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::Cases(first, ..) = s else { return cx.stuck("no cases") };
    cx.within(Rule::WslECasesReduce, |cx| cx.stmt(first))
}
