//! Expressions other than literals, accesses and calls: seed 004 "Typing expressions".

use super::program::{Coercion, ExprId, Form};
use super::{Checker, Judged};
use crate::rule::Rule;
use crate::text::{Span, Symbol, deep};
use crate::wsl::core::{self, Expr};
use crate::wsl::error::Error;
use crate::wsl::library::Argument;
use crate::wsl::syntax::{AddressSpace, Fix, Step};
use crate::wsl::types::{Type, TypeId, ValueType};
use smallvec::smallvec;

impl Checker<'_> {
    /// Γ ⊢ e : τ
    pub fn expr(&mut self, id: core::ExprId) -> Judged {
        deep(|| self.expr_of(id))
    }

    fn expr_of(&mut self, id: core::ExprId) -> Judged {
        let core = self.core();
        let span = core.expr_span(id);
        match core.expr(id) {
            Expr::Literal(literal) => self.literal(*literal, span),
            Expr::Name(name) => t_variable_name(self, *name, span),
            Expr::Parens(e) => t_parens(self, *e, span),
            Expr::Comma(a, b) => t_comma(self, *a, *b, span),
            Expr::Ternary(a, b, c) => self.ternary(*a, *b, *c, span),
            Expr::Assign(a, b) => t_assignment(self, *a, *b, span),
            Expr::CompoundAssign(operator, a, b) => t_operator_plus_equal(self, *operator, *a, *b, span),
            Expr::Or(a, b) => t_or(self, *a, *b, span),
            Expr::And(a, b) => t_and(self, *a, *b, span),
            Expr::Dereference(e) => t_ptr_deref(self, *e, span),
            Expr::AddressOf(e) => t_address_taking(self, *e, span),
            Expr::MakeReference(e) => t_take_ref_lval(self, *e, span),
            Expr::Step(step, Fix::Postfix, e) => t_postfix_incr(self, *step, *e, span),
            Expr::Step(step, Fix::Prefix, e) => t_prefix_incr(self, *step, *e, span),
            Expr::Dot(e, field) => self.dot(*e, *field, span),
            Expr::Index(a, b) => self.index(*a, *b, span),
            Expr::Call(name, arguments) => self.call(*name, arguments, span),
        }
    }

    /// Types an expression that must be a `bool`.
    pub(super) fn condition(&mut self, e: core::ExprId, rule: Rule, what: &str) -> Option<ExprId> {
        let judged = self.expr(e);
        self.expect(judged, TypeId::BOOL, rule, what)
    }

    fn ternary(&mut self, e1: core::ExprId, e2: core::ExprId, e3: core::ExprId, span: Span) -> Judged {
        // Literals decide which rule applies. Both rules have the same first premise.
        let rule = if self.is_literal(e2) && self.is_literal(e3) { Rule::WslTTernaryIntLiterals } else { Rule::WslTTernaryNoIntLiterals };
        let condition = self.condition(e1, rule, "the condition");
        let (then, otherwise) = (self.expr(e2), self.expr(e3));
        let Some(condition) = condition else { return Judged::Wrong };
        match (then, otherwise) {
            (Judged::Integer(_, _, true), Judged::Integer(_, _, true)) => t_ternary_int_literals(self, condition, then, otherwise, span),
            _ => t_ternary_no_int_literals(self, condition, then, otherwise, span),
        }
    }

    /// Whether the expression is an integer literal without suffix, perhaps in parentheses.
    fn is_literal(&self, mut e: core::ExprId) -> bool {
        let core = self.core();
        while let Expr::Parens(inner) = core.expr(e) {
            e = *inner;
        }
        matches!(core.expr(e), Expr::Literal(crate::wsl::syntax::Literal::Int(n)) if !n.unsigned)
    }

    /// Requires that what the operator `sign` assigns has no samplers and no textures. Reports an
    /// error otherwise.
    fn assigns_values(&mut self, ty: TypeId, rule: Rule, span: Span, sign: &str) -> bool {
        let refused = self.builder.contains_opaque(ty);
        if refused {
            let name = self.name(ty);
            self.error(Error::new(
                rule,
                span,
                format!("what {sign} assigns has the type {name}; it may be or contain no sampler or texture"),
            ));
        }
        !refused
    }

    /// Requires that a type can be assigned or chosen by `?:`. Pointers, array references, samplers
    /// and textures cannot.
    fn copyable(&mut self, ty: TypeId, rule: Rule, span: Span, what: &str) -> bool {
        let refused = self.builder.env.types.is_reference(ty) || self.builder.contains_opaque(ty);
        if refused {
            let name = self.name(ty);
            self.error(Error::new(
                rule,
                span,
                format!("{what} has the type {name}; it may be no pointer, array reference, sampler or texture"),
            ));
        }
        !refused
    }
}

/// Γ(x) = τ gives Γ ⊢ x : τ [wsl/t-variable-name, 004 Typing expressions]
pub fn t_variable_name(c: &mut Checker, name: Symbol, span: Span) -> Judged {
    let Some(binding) = c.scope.find(name) else {
        let text = c.builder.env.names.name(name).to_string();
        c.error(Error::new(Rule::WslTVariableName, span, format!("there is no variable `{text}` here")));
        return Judged::Wrong;
    };
    let Some(store) = binding.store else { return Judged::Wrong };
    let variable = *c.program.store(store);
    c.conclude(Rule::WslTVariableName, Form::Variable(store), (c.premises.variable)(variable.ty, variable.space), span)
}

/// Γ ⊢ e : τ gives Γ ⊢ (e) : τ [wsl/t-parens, 004 Typing expressions]
pub fn t_parens(c: &mut Checker, e: core::ExprId, span: Span) -> Judged {
    match c.expr(e) {
        Judged::Wrong => Judged::Wrong,
        Judged::Typed(e) => {
            let ty = c.value_type(e);
            c.conclude(Rule::WslTParens, Form::Parens(e), ty, span)
        }
        Judged::Integer(e, literal, is_literal) => {
            let ty = c.value_type(e);
            Judged::Integer(c.push(Rule::WslTParens, Form::Parens(e), ty, span), literal, is_literal)
        }
    }
}

/// Γ ⊢ e1 : τ1 and Γ ⊢ e2 : τ2 give Γ ⊢ e1, e2 : τ2, a right-value
///                                                            [wsl/t-comma, 004 Typing expressions]
pub fn t_comma(c: &mut Checker, e1: core::ExprId, e2: core::ExprId, span: Span) -> Judged {
    let first = c.expr(e1);
    let first = c.right(first);
    let second = c.expr(e2);
    let Some(first) = first else { return Judged::Wrong };
    match second {
        Judged::Wrong => Judged::Wrong,
        Judged::Typed(second) => {
            let second = c.coerce_right(second);
            let ty = c.value_type(second);
            c.conclude(Rule::WslTComma, Form::Comma(first, second), ty, span)
        }
        // The second operand can have several types, so the whole can. But the whole is no literal.
        Judged::Integer(second, literal, _) => {
            let ty = c.value_type(second);
            Judged::Integer(c.push(Rule::WslTComma, Form::Comma(first, second), ty, span), literal, false)
        }
    }
}

/// Γ ⊢ e1 : bool and Γ ⊢ e2 : bool give Γ ⊢ e1 || e2 : bool [wsl/t-or, 004 Typing expressions]
pub fn t_or(c: &mut Checker, e1: core::ExprId, e2: core::ExprId, span: Span) -> Judged {
    let a = c.condition(e1, Rule::WslTOr, "the left operand of ||");
    let b = c.condition(e2, Rule::WslTOr, "the right operand of ||");
    let (Some(a), Some(b)) = (a, b) else { return Judged::Wrong };
    c.conclude(Rule::WslTOr, Form::Or(a, b), ValueType::Right(TypeId::BOOL), span)
}

/// Γ ⊢ e1 : bool and Γ ⊢ e2 : bool give Γ ⊢ e1 && e2 : bool [wsl/t-and, 004 Typing expressions]
pub fn t_and(c: &mut Checker, e1: core::ExprId, e2: core::ExprId, span: Span) -> Judged {
    let a = c.condition(e1, Rule::WslTAnd, "the left operand of &&");
    let b = c.condition(e2, Rule::WslTAnd, "the right operand of &&");
    let (Some(a), Some(b)) = (a, b) else { return Judged::Wrong };
    c.conclude(Rule::WslTAnd, Form::And(a, b), ValueType::Right(TypeId::BOOL), span)
}

/// Γ ⊢ e1 : bool gives Γ ⊢ e1 ? n2 : n3 : int, for integer literals n2 and n3
///                                     [wsl/t-ternary-int-literals, 004 Typing expressions; WSL-C9]
pub fn t_ternary_int_literals(c: &mut Checker, condition: ExprId, then: Judged, otherwise: Judged, span: Span) -> Judged {
    let rule = Rule::WslTTernaryIntLiterals;
    let then = c.expect(then, TypeId::INT, rule, "the second operand of ?:");
    let otherwise = c.expect(otherwise, TypeId::INT, rule, "the third operand of ?:");
    let (Some(then), Some(otherwise)) = (then, otherwise) else { return Judged::Wrong };
    c.conclude(rule, Form::Ternary(condition, then, otherwise), ValueType::Right(TypeId::INT), span)
}

/// Γ ⊢ e1 : bool, Γ ⊢ e2 : τ and Γ ⊢ e3 : τ, τ no pointer, array reference, sampler or texture,
/// give Γ ⊢ e1 ? e2 : e3 : τ                [wsl/t-ternary-no-int-literals, 004 Typing expressions]
pub fn t_ternary_no_int_literals(c: &mut Checker, condition: ExprId, then: Judged, otherwise: Judged, span: Span) -> Judged {
    let rule = Rule::WslTTernaryNoIntLiterals;
    // A literal takes the type of the other operand.
    let (then, otherwise) = match (then, otherwise) {
        (Judged::Typed(a), Judged::Integer(..)) => {
            let ty = c.value_type(a).right();
            (c.right(then), c.expect(otherwise, ty, rule, "the third operand of ?:"))
        }
        (Judged::Integer(..), Judged::Typed(b)) => {
            let ty = c.value_type(b).right();
            (c.expect(then, ty, rule, "the second operand of ?:"), c.right(otherwise))
        }
        _ => (c.right(then), c.right(otherwise)),
    };
    let (Some(then), Some(otherwise)) = (then, otherwise) else { return Judged::Wrong };
    let (a, b) = (c.value_type(then).right(), c.value_type(otherwise).right());
    if a != b {
        let (a, b) = (c.name(a), c.name(b));
        c.error(Error::new(rule, span, format!("the operands of ?: have the types {a} and {b}; the rule needs the same type")));
        return Judged::Wrong;
    }
    if !c.copyable(a, rule, span, "what ?: gives") {
        return Judged::Wrong;
    }
    c.conclude(rule, Form::Ternary(condition, then, otherwise), ValueType::Right(a), span)
}

/// Γ ⊢ e1 : ALVal(τ) and Γ ⊢ e2 : τ, τ no pointer, array reference, sampler or texture, give Γ ⊢ e1
/// = e2 : τ                                     [wsl/t-assignment, 004 Typing expressions; WSL-C10]
pub fn t_assignment(c: &mut Checker, e1: core::ExprId, e2: core::ExprId, span: Span) -> Judged {
    let rule = Rule::WslTAssignment;
    let left = c.expr(e1);
    let right = c.expr(e2);
    let Some((left, ty)) = c.target(left, rule, "the left side of =") else { return Judged::Wrong };
    if !c.copyable(ty, rule, span, "what is assigned") {
        return Judged::Wrong;
    }
    let Some(right) = c.expect(right, ty, rule, "the right side of =") else { return Judged::Wrong };
    c.conclude(rule, Form::Assign(left, right), ValueType::Right(ty), span)
}

impl Checker<'_> {
    /// The expression as an abstract left-value, and the type that can be assigned to it. Reports
    /// an error if nothing can be assigned.
    fn target(&mut self, judged: Judged, rule: Rule, what: &str) -> Option<(ExprId, TypeId)> {
        let id = match judged {
            Judged::Wrong => return None,
            Judged::Typed(id) | Judged::Integer(id, ..) => id,
        };
        let target = match judged {
            Judged::Typed(id) => self.coerce_abstract(id),
            _ => None,
        };
        if target.is_none() {
            let span = self.program.expr(id).span;
            let reason = match self.value_type(id) {
                ValueType::Left(..) => "is in the constant address space",
                _ => "is only a value",
            };
            self.error(Error::new(rule, span, format!("{what} {reason}; the rule needs something that can be assigned to")));
        }
        target
    }
}

/// Γ ⊢ e : ALVal(τ) gives Γ ⊢ e : τ [wsl/t-alval-to-rval, 004 Typing expressions]
pub fn t_alval_to_rval(c: &mut Checker, e: ExprId, ty: TypeId, span: Span) -> ExprId {
    c.push(Rule::WslTAlvalToRval, Form::Coerce(Coercion::AbstractToRight, e), ValueType::Right(ty), span)
}

/// Γ ⊢ e : LVal(τ, a), a not constant, gives Γ ⊢ e : ALVal(τ)
/// [wsl/t-lval-to-alval, 004 Typing expressions]
pub fn t_lval_to_alval(c: &mut Checker, e: ExprId, ty: TypeId, span: Span) -> ExprId {
    c.push(Rule::WslTLvalToAlval, Form::Coerce(Coercion::LeftToAbstract, e), ValueType::Abstract(ty), span)
}

/// Γ ⊢ e : LVal(τ, a) gives Γ ⊢ e : τ [wsl/t-lval-to-rval, 004 Typing expressions]
pub fn t_lval_to_rval(c: &mut Checker, e: ExprId, ty: TypeId, span: Span) -> ExprId {
    c.push(Rule::WslTLvalToRval, Form::Coerce(Coercion::LeftToRight, e), ValueType::Right(ty), span)
}

/// Γ ⊢ e : LVal(τ, a) gives Γ ⊢ &e : Ptr(τ, a) [wsl/t-address-taking, 004 Typing expressions]
pub fn t_address_taking(c: &mut Checker, e: core::ExprId, span: Span) -> Judged {
    let judged = c.expr(e);
    let Some((e, ty, space)) = c.left(judged, Rule::WslTAddressTaking, "&") else { return Judged::Wrong };
    let pointer = c.builder.env.types.intern(Type::Pointer(space, ty));
    c.conclude(Rule::WslTAddressTaking, Form::AddressOf(e), ValueType::Right(pointer), span)
}

/// Γ ⊢ e : Ptr(τ, a) gives Γ ⊢ *e : LVal(τ, a) [wsl/t-ptr-deref, 004 Typing expressions]
pub fn t_ptr_deref(c: &mut Checker, e: core::ExprId, span: Span) -> Judged {
    let judged = c.expr(e);
    let Some(e) = c.right(judged) else { return Judged::Wrong };
    let found = c.value_type(e).right();
    let Type::Pointer(space, ty) = c.ty(found) else {
        let found = c.name(found);
        c.error(Error::new(Rule::WslTPtrDeref, span, format!("the operand of * has the type {found}; the rule needs a pointer")));
        return Judged::Wrong;
    };
    c.conclude(Rule::WslTPtrDeref, Form::Dereference(e), ValueType::Left(ty, space), span)
}

/// Γ ⊢ e : LVal(τ, a) gives Γ ⊢ @e : Ref(τ', a), τ' the elements' type if τ is an array and τ
/// otherwise                                  [wsl/t-take-ref-lval, 004 Typing expressions; WSL-C3]
///
/// τ' is the elements' type if τ is an array, and τ otherwise.
pub fn t_take_ref_lval(c: &mut Checker, e: core::ExprId, span: Span) -> Judged {
    let judged = c.expr(e);
    let Some((e, ty, space)) = c.left(judged, Rule::WslTTakeRefLval, "@") else { return Judged::Wrong };
    let (element, size) = (c.premises.reference)(&c.builder.env.types, ty);
    let reference = c.builder.env.types.intern(Type::ArrayReference(space, element));
    c.conclude(Rule::WslTTakeRefLval, Form::MakeReference(e, size), ValueType::Right(reference), span)
}

impl Checker<'_> {
    fn left(&mut self, judged: Judged, rule: Rule, operator: &str) -> Option<(ExprId, TypeId, AddressSpace)> {
        let id = match judged {
            Judged::Wrong => return None,
            Judged::Typed(id) | Judged::Integer(id, ..) => id,
        };
        if let ValueType::Left(ty, space) = self.value_type(id) {
            return Some((id, ty, space));
        }
        let span = self.program.expr(id).span;
        self.error(Error::new(rule, span, format!("the operand of {operator} has no address; the rule needs a left-value")));
        None
    }

    /// Checks the premises that `e++` and `++e` share.
    fn step(
        &mut self,
        step: Step,
        e: core::ExprId,
        rule: Rule,
        span: Span,
    ) -> Option<(ExprId, TypeId, crate::wsl::environment::access::Callee)> {
        let judged = self.expr(e);
        let sign = &step.function()["operator".len()..];
        let (target, ty) = self.target(judged, rule, &format!("the operand of {sign}"))?;
        if !self.assigns_values(ty, rule, span, sign) {
            return None;
        }
        let operator = self.builder.env.names.intern(step.function());
        let operands = smallvec![super::call::Operand { argument: Argument::Typed(ty), literal: false }];
        let resolution = self.resolve_call(operator, operands, rule, span)?;
        if resolution.result != ty {
            let (found, needed) = (self.name(resolution.result), self.name(ty));
            self.error(Error::new(
                rule,
                span,
                format!("`{}` gives {found}; the rule needs {needed}, the type of its operand", step.function()),
            ));
            return None;
        }
        Some((target, ty, resolution.callee))
    }
}

/// Γ ⊢ e : ALVal(τ) and operator++ : τ → τ, τ without samplers and textures, give
/// Γ ⊢ e++ : τ; likewise --                   [wsl/t-postfix-incr, 004 Typing expressions; WSL-C26]
pub fn t_postfix_incr(c: &mut Checker, step: Step, e: core::ExprId, span: Span) -> Judged {
    let rule = Rule::WslTPostfixIncr;
    let Some((target, ty, callee)) = c.step(step, e, rule, span) else { return Judged::Wrong };
    let store = c.store(ty, AddressSpace::Thread, span);
    c.conclude(rule, Form::Step(step, Fix::Postfix, target, callee, Some(store)), ValueType::Right(ty), span)
}

/// Γ ⊢ e++ : τ gives Γ ⊢ ++e : τ; likewise --           [wsl/t-prefix-incr, 004 Typing expressions]
pub fn t_prefix_incr(c: &mut Checker, step: Step, e: core::ExprId, span: Span) -> Judged {
    let rule = Rule::WslTPrefixIncr;
    let Some((target, ty, callee)) = c.step(step, e, rule, span) else { return Judged::Wrong };
    c.conclude(rule, Form::Step(step, Fix::Prefix, target, callee, None), ValueType::Right(ty), span)
}

/// Γ ⊢ e1 : ALVal(τ), Γ ⊢ e2 : τ' and operator+ : τ, τ' → τ, τ without samplers and
/// textures, give Γ ⊢ e1 += e2 : τ; likewise the other operators
///                                     [wsl/t-operator-plus-equal, 004 Typing expressions; WSL-C26]
pub fn t_operator_plus_equal(c: &mut Checker, operator: Symbol, e1: core::ExprId, e2: core::ExprId, span: Span) -> Judged {
    let rule = Rule::WslTOperatorPlusEqual;
    let left = c.expr(e1);
    let right = c.expr(e2);
    let sign = format!("{}=", &c.builder.env.names.name(operator)["operator".len()..]);
    let Some((target, ty)) = c.target(left, rule, &format!("the left side of {sign}")) else { return Judged::Wrong };
    if !c.assigns_values(ty, rule, span, &sign) {
        return Judged::Wrong;
    }
    let Some(second) = c.argument(right) else { return Judged::Wrong };
    let operands = smallvec![super::call::Operand { argument: Argument::Typed(ty), literal: false }, second];
    let Some(resolution) = c.resolve_call(operator, operands, rule, span) else { return Judged::Wrong };
    if resolution.result != ty {
        let (found, needed) = (c.name(resolution.result), c.name(ty));
        c.error(Error::new(
            rule,
            span,
            format!("what {sign} assigns has the type {found}; the rule needs {needed}, the type of its left side"),
        ));
        return Judged::Wrong;
    }
    let Some(right) = c.expect(right, resolution.parameters[1], rule, "the right side") else { return Judged::Wrong };
    c.conclude(rule, Form::CompoundAssign(resolution.callee, target, right), ValueType::Right(ty), span)
}
