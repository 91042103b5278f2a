//! Switches: seed 004 "Typing statements", "To check a switch statement".

use super::Checker;
use super::behaviour::{Behaviour, Behaviours};
use super::program::{Case, Constant, ExprId, Form, StmtForm, StmtId};
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::core;
use crate::wsl::error::Error;
use crate::wsl::types::{Type, TypeId};
use rustc_hash::FxHashMap;

/// A case or default after typing. `case` is `None` if it is wrong.
struct TypedCase {
    case: Option<Case>,
    behaviours: Behaviours,
    span: Span,
}

impl Checker<'_> {
    pub(super) fn switch(&mut self, e: core::ExprId, cases: &[core::Case], span: Span) -> (Option<StmtId>, Behaviours) {
        let judged = self.expr(e);
        let value = self.right(judged).and_then(|id| self.require_switchable(id));
        let ty = value.map(|id| self.value_type(id).right());
        let mut seen: FxHashMap<Constant, Span> = FxHashMap::default();
        let mut default: Option<Span> = None;
        let mut typed: Vec<TypedCase> = Vec::new();
        let mut labelled = true;
        for case in cases {
            let value = match case.value {
                Some(value) => t_case(self, value, ty, &mut seen).map(Some),
                None => t_default(self, case.span, &mut default).then_some(None),
            };
            labelled &= value.is_some();
            let (body, behaviours) = self.block(&case.body, case.span);
            let case_of = |value, body| Case { value, body, span: case.span };
            typed.push(TypedCase { case: value.zip(body).map(|(v, b)| case_of(v, b)), behaviours, span: case.span });
        }
        // If a label is wrong, it is not known which values are covered.
        let covered = !labelled || ty.is_none_or(|ty| self.covers(ty, seen.len() as u64, default, span));
        let b = t_switch_block(self, &typed, span);
        let (rule, behaviours) = if b.has(Behaviour::Break) { t_switch_break(self, b) } else { t_switch_no_break(self, b) };
        let cases: Option<Vec<Case>> = typed.into_iter().map(|t| t.case).collect();
        let (Some(value), Some(cases), true) = (value, cases, covered) else { return (None, behaviours) };
        (Some(self.push_stmt(rule, StmtForm::Switch(value, cases), behaviours, span)), behaviours)
    }

    /// Requires that the value that is switched on is an integer or an element of an enum.
    fn require_switchable(&mut self, id: ExprId) -> Option<ExprId> {
        let ty = self.value_type(id).right();
        let right = matches!(ty, TypeId::INT | TypeId::UINT) || matches!(self.ty(ty), Type::Enum(_));
        if !right {
            let (found, span) = (self.name(ty), self.program.expr(id).span);
            self.error(Error::new(
                Rule::WslTSwitchBlock,
                span,
                format!("the value that is switched on has the type {found}; the rule needs int, uint or an enum"),
            ));
        }
        right.then_some(id)
    }

    /// Requires that every value has a case if there is no default, and that some value has none if
    /// there is one.
    fn covers(&mut self, ty: TypeId, cases: u64, default: Option<Span>, span: Span) -> bool {
        let values = match self.ty(ty) {
            Type::Enum(id) => self.builder.env.enumeration(id).elements.len() as u64,
            _ => 1 << 32,
        };
        match default {
            Some(place) if cases >= values => {
                self.error(Error::new(
                    Rule::WslTDefault,
                    place,
                    "every value has a case; the rule needs that some value is left to the default",
                ));
                false
            }
            None if cases < values => {
                let name = self.name(ty);
                let uncovered = values - cases;
                self.error(Error::new(
                    Rule::WslTDefault,
                    span,
                    format!("{uncovered} of the {values} values of {name} have no case; the rule needs a case for each, or a default"),
                ));
                false
            }
            _ => true,
        }
    }
}

/// a case has a value of the switch's type, integer or enum, that no other case has, and a body
/// that is well-typed as a block and does not reach its end
///                                            [wsl/t-case, 004 Typing statements; WSL-C10, WSL-C11]
pub fn t_case(c: &mut Checker, value: core::ExprId, ty: Option<TypeId>, seen: &mut FxHashMap<Constant, Span>) -> Option<Constant> {
    let rule = Rule::WslTCase;
    let span = c.core().expr_span(value);
    let judged = c.expr(value);
    let id = c.expect(judged, ty?, rule, "the value of this case")?;
    let Form::Constant(constant) = c.program.expr(id).form else {
        c.error(Error::new(rule, span, "the value of this case is no literal and no element of an enum"));
        return None;
    };
    if let Some(first) = seen.insert(constant, span) {
        c.error(
            Error::new(rule, span, "another case has this value; the rule needs distinct values")
                .note(Some(first), "the first one stands here"),
        );
        return None;
    }
    c.fire(rule);
    Some(constant)
}

/// a switch has one default if some value is in no case, and none otherwise; its body is as a
/// case's                                           [wsl/t-default, 004 Typing statements; WSL-C11]
pub fn t_default(c: &mut Checker, span: Span, default: &mut Option<Span>) -> bool {
    if let Some(first) = default.replace(span) {
        c.error(Error::new(Rule::WslTDefault, span, "this switch has a default already").note(Some(first), "the first one stands here"));
        return false;
    }
    c.fire(Rule::WslTDefault);
    true
}

/// the bodies' behaviours together, the last one's without Fallthrough, none reaching its end or
/// returning a pointer or an array reference            [wsl/t-switch-block, 004 Typing statements]
fn t_switch_block(c: &mut Checker, typed: &[TypedCase], span: Span) -> Behaviours {
    let rule = Rule::WslTSwitchBlock;
    let mut all = Behaviours::default();
    for (i, case) in typed.iter().enumerate() {
        if i + 1 == typed.len() && case.behaviours.has(Behaviour::Fallthrough) {
            c.error(Error::new(rule, case.span, "the last case falls through; the rule needs a case after it"));
        }
        if case.behaviours.has(Behaviour::Nothing) && case.case.is_some() {
            c.error(Error::new(
                rule,
                case.span,
                "the end of this case is reached; the rule needs that it ends with break, fallthrough, return, continue or discard",
            ));
        }
        all = all.union(case.behaviours.without(Behaviour::Nothing));
    }
    c.no_inner_return(all, rule, "a case", span);
    c.fire(rule);
    all
}

/// a switch whose cases' behaviours B include Break: B - {Break, Fallthrough} ∪ {Nothing}
///                                                      [wsl/t-switch-break, 004 Typing statements]
fn t_switch_break(c: &Checker, b: Behaviours) -> (Rule, Behaviours) {
    (Rule::WslTSwitchBreak, (c.premises.switch_behaviours)(b))
}

/// a switch whose cases' behaviours B do not include Break: B - {Fallthrough}
///                                                   [wsl/t-switch-no-break, 004 Typing statements]
fn t_switch_no_break(c: &Checker, b: Behaviours) -> (Rule, Behaviours) {
    (Rule::WslTSwitchNoBreak, (c.premises.switch_behaviours)(b))
}
