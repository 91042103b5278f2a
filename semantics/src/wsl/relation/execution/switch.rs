//! `switch` and `Cases`: seed 004 "Branches and Switches".

use super::table::{Function::Stmt as S, Row, StmtShape};
use super::term::{Expr, Stmt};
use super::{Cx, Next};
use crate::rule::Rule;
use crate::wsl::open::Word;
use crate::wsl::typing::program::{Case, StmtForm, StmtId};

/// The rules of this section.
pub(super) const RULES: &[Row] = &[
    (Rule::WslESwitchReduce, S(&[StmtShape::Switch], e_switch_reduce)),
    (Rule::WslESwitchCaseFound, S(&[StmtShape::Switch], e_switch_case_found)),
    (Rule::WslESwitchDefault, S(&[StmtShape::Switch], e_switch_default)),
    (Rule::WslECasesReduce, S(&[StmtShape::Cases], e_cases_reduce)),
    (Rule::WslECasesFallthrough, S(&[StmtShape::Cases], e_cases_fallthrough)),
    (Rule::WslECasesBreak, S(&[StmtShape::Cases], e_cases_break)),
    (Rule::WslECasesOtherTerminator, S(&[StmtShape::Cases], e_cases_other_terminator)),
];

impl<'p> Cx<'_, 'p> {
    fn case_list(&self, id: StmtId) -> &'p [Case] {
        match &self.program().stmt(id).form {
            StmtForm::Switch(_, cases) => cases,
            _ => &[],
        }
    }

    /// The bits of a case's value.
    fn case_bits(&self, case: &Case, e: &Expr) -> Option<u32> {
        case.value.map(|v| super::constant(self.program(), v, e.ty))
    }

    /// Enters the switch at a case. `None` if there is no such case.
    fn enter(&self, id: StmtId, first: usize) -> Option<Next> {
        let body = self.case_list(id).get(first)?.body;
        Some(Next::stmt(Stmt::Cases(Box::new(self.open_stmt(body)), id, first as u32 + 1)))
    }
}

/// The word that a switch depends on, once it is a value.
fn switch_word(cx: &Cx, e: &Expr) -> Option<Word> {
    Some(cx.opens.read(*e.words()?.first()?))
}

/// e → e' gives switch (e) {…} → switch (e') {…} [wsl/e-switch-reduce, 004 Branches and Switches,
/// switch 1]
pub fn e_switch_reduce(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Switch(e, _) = s else { return None };
    cx.expr(e)?.inside(Rule::WslESwitchReduce, 0)
}

/// switch (v) {… case v: s0 … sn} → Cases({s0}, …, {sn}) [wsl/e-switch-case-found, 004 Branches and
/// Switches, switch 2]
pub fn e_switch_case_found(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Switch(e, id) = s else { return None };
    let word = switch_word(cx, e)?;
    let mut found = cx.case_list(*id).iter().enumerate().filter_map(|(k, case)| Some((k, cx.case_bits(case, e)?)));
    match word {
        Word::Bits(bits) => cx.enter(*id, found.find(|case| case.1 == bits)?.0),
        Word::Open(_) => {
            let each = found.filter_map(|(k, bits)| Some(cx.enter(*id, k)?.under(word, &[Some(bits)])));
            each.reduce(Next::or)
        }
        Word::Address(_) => None,
    }
}

/// switch (v) {… default: s0 … sn} → Cases({s0}, …, {sn}), no case being v [wsl/e-switch-default,
/// 004 Branches and Switches, switch 3]
pub fn e_switch_default(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Switch(e, id) = s else { return None };
    let word = switch_word(cx, e)?;
    let cases = cx.case_list(*id);
    let default = cases.iter().position(|case| case.value.is_none())?;
    match word {
        Word::Bits(bits) => match cases.iter().all(|case| cx.case_bits(case, e) != Some(bits)) {
            true => cx.enter(*id, default),
            false => None,
        },
        Word::Open(_) => Some(cx.enter(*id, default)?.under(word, &[None])),
        Word::Address(_) => None,
    }
}

/// Cases(fallthrough;, s, …) → Cases(s, …) [wsl/e-cases-fallthrough, 004 Branches and Switches,
/// Cases 2]
pub fn e_cases_fallthrough(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Cases(first, id, next) = s else { return None };
    match **first {
        Stmt::Fallthrough => cx.enter(*id, *next as usize),
        _ => None,
    }
}

/// Cases(break;, s…) → {} [wsl/e-cases-break, 004 Branches and Switches, Cases 3]
pub fn e_cases_break(_: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Cases(first, ..) = s else { return None };
    matches!(**first, Stmt::Break).then(|| Next::stmt(Stmt::empty()))
}

/// Cases(t, s…) → t, t another terminator [wsl/e-cases-other-terminator, 004 Branches and Switches,
/// Cases 4; WSL-C5]
pub fn e_cases_other_terminator(_: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Cases(first, ..) = s else { return None };
    let other = first.is_terminator() && !matches!(**first, Stmt::Fallthrough | Stmt::Break);
    other.then(|| Next::part(0))
}

/// s → s' gives Cases(s, s''…) → Cases(s', s''…) [wsl/e-cases-reduce, 004 Branches and Switches,
/// Cases 5]
pub fn e_cases_reduce(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Cases(first, ..) = s else { return None };
    cx.stmt(first)?.inside(Rule::WslECasesReduce, 0)
}
