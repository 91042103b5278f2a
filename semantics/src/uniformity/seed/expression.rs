//! Right-values: seed 001 "Expressions", `validateExprRVal`.
//!
//! Each function here returns the node that must be uniform for the value to be uniform. `cf` is
//! the control flow before the expression, and is set to the control flow after it.

use super::{Cx, NodeMeaning};
use crate::rule::Rule;
use crate::text::{Span, deep};
use crate::uniformity::graph::Node;
use crate::wsl::environment::access::Callee;
use crate::wsl::syntax::Fix;
use crate::wsl::types::ValueType;
use crate::wsl::typing::program::{Access, Coercion, ExprId, Form};
use std::ops::Range;

impl Cx<'_> {
    /// G, CF ⊢ e : τ, C
    pub(super) fn rvalue(&mut self, e: ExprId, cf: &mut Node) -> Node {
        deep(|| self.rvalue_of(e, cf))
    }

    fn rvalue_of(&mut self, id: ExprId, cf: &mut Node) -> Node {
        let expr = self.program.expr(id);
        let span = expr.span;
        match &expr.form {
            Form::Constant(_) => literal(self, *cf),
            Form::Coerce(Coercion::LeftToRight | Coercion::AbstractToRight, e) => {
                let place = self.place(*e, cf);
                self.read(&place, cf, span)
            }
            Form::Parens(e) => parens(self, *e, cf),
            Form::Comma(a, b) => comma(self, [*a, *b], cf, span),
            Form::Or(a, b) => or(self, [*a, *b], cf),
            Form::And(a, b) => and(self, [*a, *b], cf, span),
            Form::Ternary(a, b, c) => ternary(self, [*a, *b, *c], cf, span),
            Form::Assign(a, b) => assign(self, [*a, *b], cf, span),
            Form::AddressOf(e) => address_of(self, *e, cf, span),
            Form::MakeReference(e, _) => make_reference(self, *e, cf, span),
            Form::Dot(e, _, Access::Getter(c)) => getter(self, *e, None, *c, cf, span),
            Form::Index(e, i, Access::Getter(c)) => getter(self, *e, Some(*i), *c, cf, span),
            Form::ArrayLength(e, _) => length(self, *e, cf),
            Form::ReferenceLength(e) => length(self, *e, cf),
            Form::Step(_, fix, e, c, _) => step(self, *fix, *e, *c, cf, span),
            Form::CompoundAssign(c, a, b) => compound_assign(self, *c, [*a, *b], cf, span),
            Form::Call(c, arguments) => self.arguments(*c, arguments, cf, span),
            Form::Variable(_)
            | Form::Dereference(_)
            | Form::Coerce(Coercion::LeftToAbstract, _)
            | Form::Dot(_, _, Access::AddressTaker(_) | Access::Setter(..))
            | Form::Index(_, _, Access::AddressTaker(_) | Access::Setter(..))
            | Form::Element(..) => {
                let place = self.place(id, cf);
                self.read(&place, cf, span)
            }
        }
    }

    fn arguments(&mut self, callee: Callee, arguments: &Range<u32>, cf: &mut Node, span: Span) -> Node {
        let program = self.program;
        let nodes: Vec<Node> = program.arguments(arguments).iter().map(|e| self.rvalue(*e, cf)).collect();
        self.apply(callee, &nodes, cf, span)
    }

    /// Evaluates the right operand of an operator that may skip it.
    fn operand(&mut self, rule: Rule, [left, right]: [ExprId; 2], cf: &mut Node) -> Node {
        let c1 = self.rvalue(left, cf);
        let inside = self.node(NodeMeaning::Branch, self.program.expr(left).span);
        self.imply(rule, 0, inside, c1);
        self.imply(rule, 1, inside, *cf);
        let mut at = inside;
        let c2 = self.rvalue(right, &mut at);
        self.join_flow(rule, &[(right, at)], cf);
        c2
    }

    /// Joins control flow after operands of which only one is evaluated. If one of them may
    /// discard, it is uniform if it is uniform after each.
    fn join_flow(&mut self, rule: Rule, operands: &[(ExprId, Node)], cf: &mut Node) {
        if operands.iter().any(|(e, _)| self.may_discard(*e)) {
            let after = self.node(NodeMeaning::AfterStatement, self.program.expr(operands[0].0).span);
            for &(_, at) in operands {
                self.imply(rule, 2, after, at);
            }
            *cf = after;
        }
    }
}

/// G, CF ⊢ literal : CF [uniformity/literal, 001 Expressions]
fn literal(cx: &mut Cx, cf: Node) -> Node {
    cx.fire(Rule::UniformityLiteral);
    cf
}

/// G, CF ⊢ e : C gives G, CF ⊢ (e) : C [uniformity/parens, 001 Expressions; U-6]
fn parens(cx: &mut Cx, e: ExprId, cf: &mut Node) -> Node {
    cx.fire(Rule::UniformityParens);
    cx.rvalue(e, cf)
}

/// G, CF ⊢ e1 : C1 and G, CF ⊢ e2 : C2 give G, CF ⊢ e1, e2 : C2 [uniformity/comma, 001
/// Expressions; U-6]
fn comma(cx: &mut Cx, [a, b]: [ExprId; 2], cf: &mut Node, span: Span) -> Node {
    cx.fire(Rule::UniformityComma);
    if cx.letter().u6 {
        cx.stuck(span, "there is no rule for the comma");
    }
    cx.rvalue(a, cf);
    cx.rvalue(b, cf)
}

/// G, CF ⊢ e1 : C1 and CF' ⇒ {CF, C1} and G, CF' ⊢ e2 : C2 give G, CF ⊢ e1 || e2 : C2
/// [uniformity/or, 001 Expressions]
fn or(cx: &mut Cx, operands: [ExprId; 2], cf: &mut Node) -> Node {
    cx.fire(Rule::UniformityOr);
    cx.operand(Rule::UniformityOr, operands, cf)
}

/// G, CF ⊢ e1 : C1 and CF' ⇒ {CF, C1} and G, CF' ⊢ e2 : C2 give G, CF ⊢ e1 && e2 : C2
/// [uniformity/and, 001 Expressions; U-6]
fn and(cx: &mut Cx, operands: [ExprId; 2], cf: &mut Node, span: Span) -> Node {
    cx.fire(Rule::UniformityAnd);
    if cx.letter().u6 {
        cx.stuck(span, "there is no rule for &&");
    }
    cx.operand(Rule::UniformityAnd, operands, cf)
}

/// G, CF ⊢ e1 : C1 and CF' ⇒ {CF, C1} and G, CF' ⊢ e2 : C2 and G, CF' ⊢ e3 : C3 and result ⇒ {C2,
/// C3} give G, CF ⊢ e1 ? e2 : e3 : result [uniformity/ternary, 001 Expressions; U-6]
fn ternary(cx: &mut Cx, [e1, e2, e3]: [ExprId; 3], cf: &mut Node, span: Span) -> Node {
    let rule = Rule::UniformityTernary;
    cx.fire(rule);
    if cx.letter().u6 {
        cx.stuck(span, "there is no rule for ?:");
    }
    let c1 = cx.rvalue(e1, cf);
    let inside = cx.node(NodeMeaning::Branch, cx.program.expr(e1).span);
    cx.imply(rule, 0, inside, c1);
    cx.imply(rule, 1, inside, *cf);
    let (mut at2, mut at3) = (inside, inside);
    let c2 = cx.rvalue(e2, &mut at2);
    let c3 = cx.rvalue(e3, &mut at3);
    cx.join_flow(rule, &[(e2, at2), (e3, at3)], cf);
    let result = cx.node(NodeMeaning::Value, span);
    cx.imply(rule, 3, result, c2);
    cx.imply(rule, 4, result, c3);
    result
}

/// G, CF ⊢ e1 : LVal(τ), x_id and G, CF ⊢ e2 : C2 and x_id ⇒ C2 give G, CF ⊢ e1 = e2 : C2
/// [uniformity/assign, 001 Expressions]
fn assign(cx: &mut Cx, [e1, e2]: [ExprId; 2], cf: &mut Node, span: Span) -> Node {
    let rule = Rule::UniformityAssign;
    cx.fire(rule);
    let place = cx.place(e1, cf);
    let value = cx.rvalue(e2, cf);
    cx.write(rule, &place, value, cf, span);
    value
}

/// G, CF ⊢ e1 : LVal(τ), x_id and G, CF ⊢ operator+(e1, e2) : C and x_id ⇒ C give G, CF ⊢ e1 += e2
/// : C [uniformity/compound-assign, 001 Expressions; U-6]
fn compound_assign(cx: &mut Cx, callee: Callee, [e1, e2]: [ExprId; 2], cf: &mut Node, span: Span) -> Node {
    let rule = Rule::UniformityCompoundAssign;
    cx.fire(rule);
    if cx.letter().u6 {
        cx.stuck(span, "there is no rule for compound assignment");
    }
    let place = cx.place(e1, cf);
    let old_value = cx.read(&place, cf, cx.program.expr(e1).span);
    let operand = cx.rvalue(e2, cf);
    let value = cx.apply(callee, &[old_value, operand], cf, span);
    cx.write(rule, &place, value, cf, span);
    value
}

/// G, CF ⊢ e : LVal(τ), x_id and G, CF ⊢ e : C and G, CF ⊢ operator++(e) : C' and x_id ⇒ C' give G,
/// CF ⊢ ++e : C' and G, CF ⊢ e++ : C [uniformity/step, 001 Expressions; U-6]
fn step(cx: &mut Cx, fix: Fix, e: ExprId, callee: Callee, cf: &mut Node, span: Span) -> Node {
    let rule = Rule::UniformityStep;
    cx.fire(rule);
    if cx.letter().u6 {
        cx.stuck(span, "there is no rule for ++ and --");
    }
    let place = cx.place(e, cf);
    let old_value = cx.read(&place, cf, cx.program.expr(e).span);
    let value = cx.apply(callee, &[old_value], cf, span);
    cx.write(rule, &place, value, cf, span);
    match fix {
        Fix::Prefix => value,
        Fix::Postfix => old_value,
    }
}

/// G, CF ⊢ e : LVal(τ), x_id at the address C and x_id ⇒ cannot and result ⇒ {CF, C} give G, CF ⊢
/// &e : result [uniformity/address-of, 001 Expressions; U-10]
fn address_of(cx: &mut Cx, e: ExprId, cf: &mut Node, span: Span) -> Node {
    cx.fire(Rule::UniformityAddressOf);
    let place = cx.place(e, cf);
    cx.address(Rule::UniformityAddressOf, &place, *cf, span)
}

/// G, CF ⊢ e : LVal(τ), x_id at the address C and x_id ⇒ cannot and result ⇒ {CF, C} give G, CF ⊢
/// @e : result [uniformity/make-reference, 001 Expressions; U-9, U-10]
fn make_reference(cx: &mut Cx, e: ExprId, cf: &mut Node, span: Span) -> Node {
    cx.fire(Rule::UniformityMakeReference);
    let place = cx.place(e, cf);
    cx.address(Rule::UniformityMakeReference, &place, *cf, span)
}

/// G, CF ⊢ operator.f(e) : C gives G, CF ⊢ e.f : C, and operator\[\] likewise [uniformity/getter,
/// 001 Expressions; U-6]
fn getter(cx: &mut Cx, e: ExprId, index: Option<ExprId>, callee: Callee, cf: &mut Node, span: Span) -> Node {
    cx.fire(Rule::UniformityGetter);
    let whole = cx.rvalue(e, cf);
    let arguments: Vec<Node> = std::iter::once(whole).chain(index.map(|i| cx.rvalue(i, cf))).collect();
    cx.apply(callee, &arguments, cf, span)
}

/// G, CF ⊢ e.length : CF of an array in a variable, and C where G, CF ⊢ e : C otherwise
/// [uniformity/length, 001 Expressions; U-6]
fn length(cx: &mut Cx, e: ExprId, cf: &mut Node) -> Node {
    cx.fire(Rule::UniformityLength);
    let expr = cx.program.expr(e);
    match (expr.ty, &expr.form) {
        (ValueType::Left(..), _) => {
            cx.place(e, cf);
            *cf
        }
        (ValueType::Abstract(_), _) => {
            let place = cx.place(e, cf);
            cx.read(&place, cf, expr.span);
            *cf
        }
        (ValueType::Right(_), _) => cx.rvalue(e, cf),
    }
}
