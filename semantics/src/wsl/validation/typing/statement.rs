//! Statements other than blocks and switches: seed 004 "Typing statements".

use super::behaviour::{Behaviour, Behaviours};
use super::program::{StmtForm, StmtId};
use super::{Checker, Judged};
use crate::rule::Rule;
use crate::text::{Span, deep};
use crate::wsl::core::{self, Stmt};
use crate::wsl::error::Error;
use crate::wsl::types::{TypeId, ValueType};

impl Checker<'_> {
    /// Γ ⊢ s : B
    pub fn stmt(&mut self, id: core::StmtId) -> (Option<StmtId>, Behaviours) {
        deep(|| self.stmt_of(id))
    }

    fn stmt_of(&mut self, id: core::StmtId) -> (Option<StmtId>, Behaviours) {
        let core = self.core();
        let span = core.stmt_span(id);
        match core.stmt(id) {
            Stmt::Block(stmts) => self.block(stmts, span),
            // After desugaring, declarations occur only in blocks.
            Stmt::Declaration(_) => self.block(&[id], span),
            Stmt::If(e, s, otherwise) => t_if(self, *e, *s, *otherwise, span),
            Stmt::DoWhile(s, e) => self.do_while(*s, *e, span),
            Stmt::For(e, e2, s) => self.for_loop(*e, *e2, *s, span),
            Stmt::Switch(e, cases) => self.switch(*e, cases, span),
            Stmt::Break => t_break(self, span),
            Stmt::Continue => t_continue(self, span),
            Stmt::Discard => t_discard(self, span),
            Stmt::Fallthrough => t_fallthrough(self, span),
            Stmt::Return(None) => t_return_void(self, span),
            Stmt::Return(Some(e)) => t_return(self, *e, span),
            Stmt::Expr(e) => t_expr(self, *e, span),
        }
    }

    fn simple(&mut self, rule: Rule, form: StmtForm, b: Behaviour, span: Span) -> (Option<StmtId>, Behaviours) {
        let behaviours = Behaviours::of(b);
        (Some(self.push_stmt(rule, form, behaviours, span)), behaviours)
    }

    /// Requires that no pointer and no array reference is returned from inside another statement.
    pub(super) fn no_inner_return(&mut self, b: Behaviours, rule: Rule, what: &str, span: Span) {
        // Reported once for each function, since the statements around it would repeat it.
        if b.has(Behaviour::Return) && self.builder.env.types.is_reference(self.result) && !std::mem::replace(&mut self.inner_return, true)
        {
            let ty = self.name(self.result);
            self.error(Error::new(
                rule,
                span,
                format!("{what} returns a value of type {ty}; a pointer or an array reference is returned only at the end of a function"),
            ));
        }
    }

    fn loop_body(&mut self, body: Behaviours, rule: Rule, span: Span) -> Behaviours {
        self.no_inner_return(body, rule, "the body of a loop", span);
        if body.has(Behaviour::Fallthrough) {
            self.error(Error::new(rule, span, "the body of this loop may fall through; fallthrough ends a case, and no loop inside one"));
        }
        (self.premises.loop_behaviours)(body)
    }

    fn do_while(&mut self, s: core::StmtId, e: core::ExprId, span: Span) -> (Option<StmtId>, Behaviours) {
        let (body, b) = self.stmt(s);
        let parts = DoWhile { condition: e, body, place: self.core().stmt_span(s) };
        if b.has(Behaviour::Break) { t_do_while_break(self, parts, b, span) } else { t_do_while_no_break(self, parts, b, span) }
    }

    fn do_while_of(&mut self, rule: Rule, parts: DoWhile, b: Behaviours, span: Span) -> (Option<StmtId>, Behaviours) {
        let condition = self.condition(parts.condition, rule, "the condition");
        let behaviours = self.loop_body(b, rule, parts.place);
        let (Some(condition), Some(body)) = (condition, parts.body) else { return (None, behaviours) };
        (Some(self.push_stmt(rule, StmtForm::DoWhile(body, condition), behaviours, span)), behaviours)
    }

    fn for_loop(&mut self, e: core::ExprId, e2: core::ExprId, s: core::StmtId, span: Span) -> (Option<StmtId>, Behaviours) {
        let condition = self.expr(e);
        let increment = self.expr(e2);
        let increment = self.right(increment);
        let place = self.core().stmt_span(s);
        let (body, b) = self.stmt(s);
        let parts = For { condition, increment, body, place };
        if b.has(Behaviour::Break) { t_for_break(self, parts, b, span) } else { t_for_no_break(self, parts, b, span) }
    }

    fn for_of(&mut self, rule: Rule, parts: For, b: Behaviours, span: Span) -> (Option<StmtId>, Behaviours) {
        let condition = self.expect(parts.condition, TypeId::BOOL, rule, "the condition");
        let behaviours = self.loop_body(b, rule, parts.place);
        let (Some(condition), Some(increment), Some(body)) = (condition, parts.increment, parts.body) else { return (None, behaviours) };
        (Some(self.push_stmt(rule, StmtForm::For(condition, increment, body), behaviours, span)), behaviours)
    }
}

/// The parts of a `do`. The body is typed, the condition is not yet.
pub struct DoWhile {
    condition: core::ExprId,
    body: Option<StmtId>,
    place: Span,
}

/// The typed parts of a `for`.
pub struct For {
    condition: Judged,
    increment: Option<super::program::ExprId>,
    body: Option<StmtId>,
    place: Span,
}

/// Γ ⊢ e : bool, Γ ⊢ s : B and Γ ⊢ s' : B', none of them returning a pointer or an array reference,
/// give Γ ⊢ if (e) s else s' : B ∪ B'                    [wsl/t-if, 004 Typing statements; WSL-C15]
pub fn t_if(c: &mut Checker, e: core::ExprId, s: core::StmtId, otherwise: core::StmtId, span: Span) -> (Option<StmtId>, Behaviours) {
    let condition = c.condition(e, Rule::WslTIf, "the condition");
    let (then, b1) = c.stmt(s);
    let (otherwise, b2) = c.stmt(otherwise);
    let behaviours = b1.union(b2);
    c.no_inner_return(behaviours, Rule::WslTIf, "a branch of an if", span);
    let (Some(condition), Some(then), Some(otherwise)) = (condition, then, otherwise) else { return (None, behaviours) };
    (Some(c.push_stmt(Rule::WslTIf, StmtForm::If(condition, then, otherwise), behaviours, span)), behaviours)
}

/// Γ ⊢ e : bool and Γ ⊢ s : B with Break in B give Γ ⊢ do s while (e); : B - {Break, Continue} ∪
/// {Nothing}                                  [wsl/t-do-while-break, 004 Typing statements; WSL-C1]
pub fn t_do_while_break(c: &mut Checker, parts: DoWhile, b: Behaviours, span: Span) -> (Option<StmtId>, Behaviours) {
    c.do_while_of(Rule::WslTDoWhileBreak, parts, b, span)
}

/// Γ ⊢ e : bool and Γ ⊢ s : B without Break in B give Γ ⊢ do s while (e); : B - {Continue} ∪
/// {Nothing}                               [wsl/t-do-while-no-break, 004 Typing statements; WSL-C1]
pub fn t_do_while_no_break(c: &mut Checker, parts: DoWhile, b: Behaviours, span: Span) -> (Option<StmtId>, Behaviours) {
    c.do_while_of(Rule::WslTDoWhileNoBreak, parts, b, span)
}

/// Γ ⊢ e : bool, Γ ⊢ e' : τ and Γ ⊢ s : B with Break in B give Γ ⊢ for (; e; e') s : B - {Break,
/// Continue} ∪ {Nothing}                           [wsl/t-for-break, 004 Typing statements; WSL-C1]
pub fn t_for_break(c: &mut Checker, parts: For, b: Behaviours, span: Span) -> (Option<StmtId>, Behaviours) {
    c.for_of(Rule::WslTForBreak, parts, b, span)
}

/// Γ ⊢ e : bool, Γ ⊢ e' : τ and Γ ⊢ s : B without Break in B give Γ ⊢ for (; e; e') s : B -
/// {Continue} ∪ {Nothing}                       [wsl/t-for-no-break, 004 Typing statements; WSL-C1]
pub fn t_for_no_break(c: &mut Checker, parts: For, b: Behaviours, span: Span) -> (Option<StmtId>, Behaviours) {
    c.for_of(Rule::WslTForNoBreak, parts, b, span)
}

/// Γ ⊢ break; : {Break} [wsl/t-break, 004 Typing statements]
pub fn t_break(c: &mut Checker, span: Span) -> (Option<StmtId>, Behaviours) {
    c.simple(Rule::WslTBreak, StmtForm::Break, Behaviour::Break, span)
}

/// Γ ⊢ continue; : {Continue} [wsl/t-continue, 004 Typing statements]
pub fn t_continue(c: &mut Checker, span: Span) -> (Option<StmtId>, Behaviours) {
    c.simple(Rule::WslTContinue, StmtForm::Continue, Behaviour::Continue, span)
}

/// Γ ⊢ discard; : {Discard} [wsl/t-discard, 004 Typing statements; WSL-C5]
pub fn t_discard(c: &mut Checker, span: Span) -> (Option<StmtId>, Behaviours) {
    c.simple(Rule::WslTDiscard, StmtForm::Discard, Behaviour::Discard, span)
}

/// Γ ⊢ fallthrough; : {Fallthrough} [wsl/t-fallthrough, 004 Typing statements]
pub fn t_fallthrough(c: &mut Checker, span: Span) -> (Option<StmtId>, Behaviours) {
    c.simple(Rule::WslTFallthrough, StmtForm::Fallthrough, Behaviour::Fallthrough, span)
}

/// Γ ⊢ return; : {Return void} [wsl/t-return-void, 004 Typing statements]
pub fn t_return_void(c: &mut Checker, span: Span) -> (Option<StmtId>, Behaviours) {
    super::function::v_function_return(c, TypeId::VOID, span);
    c.simple(Rule::WslTReturnVoid, StmtForm::Return(None), Behaviour::Return, span)
}

/// Γ ⊢ e : τ gives Γ ⊢ return e; : {Return τ} [wsl/t-return, 004 Typing statements; WSL-C5,
/// WSL-C16]
pub fn t_return(c: &mut Checker, e: core::ExprId, span: Span) -> (Option<StmtId>, Behaviours) {
    let judged = c.expr(e);
    let behaviours = Behaviours::of(Behaviour::Return);
    let e = match judged {
        Judged::Wrong => return (None, behaviours),
        Judged::Integer(id, literal, _) if (c.premises.representable)(&literal, c.result) => {
            let result = c.result;
            c.give(id, &literal, result);
            id
        }
        _ => match c.right(judged) {
            Some(id) => id,
            None => return (None, behaviours),
        },
    };
    let ValueType::Right(ty) = c.value_type(e) else { return (None, behaviours) };
    super::function::v_function_return(c, ty, span);
    (Some(c.push_stmt(Rule::WslTReturn, StmtForm::Return(Some(e)), behaviours, span)), behaviours)
}

/// Γ ⊢ e : τ gives Γ ⊢ e; : {Nothing} [wsl/t-expr, 004 Typing statements]
pub fn t_expr(c: &mut Checker, e: core::ExprId, span: Span) -> (Option<StmtId>, Behaviours) {
    let judged = c.expr(e);
    let behaviours = Behaviours::of(Behaviour::Nothing);
    let Some(e) = c.right(judged) else { return (None, behaviours) };
    (Some(c.push_stmt(Rule::WslTExpr, StmtForm::Expr(e), behaviours, span)), behaviours)
}
