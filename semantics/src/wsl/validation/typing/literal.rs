//! Literals: seed 004 "Typing expressions".

use super::program::{Constant, Form};
use super::{Checker, Judged};
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::error::Error;
use crate::wsl::syntax::{IntLiteral, Literal};
use crate::wsl::types::{TypeId, ValueType};

/// Whether the type can represent an integer literal.
pub fn representable(literal: &IntLiteral, ty: TypeId) -> bool {
    match ty {
        TypeId::INT => literal.as_int().is_some(),
        TypeId::UINT => literal.as_uint().is_some(),
        _ => ty == TypeId::FLOAT,
    }
}

/// The type of an integer literal where no type is expected.
pub fn default_type(literal: &IntLiteral) -> TypeId {
    [TypeId::INT, TypeId::UINT].into_iter().find(|ty| representable(literal, *ty)).unwrap_or(TypeId::FLOAT)
}

/// The literal's value in a type that can represent it.
pub fn constant(literal: &IntLiteral, ty: TypeId) -> Constant {
    match ty {
        TypeId::INT => Constant::Int(literal.as_int().unwrap_or(0)),
        TypeId::UINT => Constant::Uint(literal.as_uint().unwrap_or(0)),
        _ => Constant::Float(literal.as_float().to_bits()),
    }
}

impl Checker<'_> {
    pub(super) fn literal(&mut self, literal: Literal, span: Span) -> Judged {
        match literal {
            Literal::Bool(true) => t_literal_true(self, span),
            Literal::Bool(false) => t_literal_false(self, span),
            Literal::Float(x) => t_literal_float(self, x, span),
            Literal::Int(n) if n.unsigned => t_literal_uint(self, n, span),
            Literal::Int(n) => t_literal_int(self, n, span),
        }
    }
}

/// Γ ⊢ true : bool                                     [wsl/t-literal-true, 004 Typing expressions]
pub fn t_literal_true(c: &mut Checker, span: Span) -> Judged {
    c.conclude(Rule::WslTLiteralTrue, Form::Constant(Constant::Bool(true)), ValueType::Right(TypeId::BOOL), span)
}

/// Γ ⊢ false : bool                                   [wsl/t-literal-false, 004 Typing expressions]
pub fn t_literal_false(c: &mut Checker, span: Span) -> Judged {
    c.conclude(Rule::WslTLiteralFalse, Form::Constant(Constant::Bool(false)), ValueType::Right(TypeId::BOOL), span)
}

/// a float literal is a float                         [wsl/t-literal-float, 004 Typing expressions]
pub fn t_literal_float(c: &mut Checker, value: f32, span: Span) -> Judged {
    c.conclude(Rule::WslTLiteralFloat, Form::Constant(Constant::Float(value.to_bits())), ValueType::Right(TypeId::FLOAT), span)
}

/// an unsigned literal that fits in 32 bits is a uint
///                                                     [wsl/t-literal-uint, 004 Typing expressions]
pub fn t_literal_uint(c: &mut Checker, literal: IntLiteral, span: Span) -> Judged {
    let Some(value) = literal.as_uint() else {
        c.error(Error::new(Rule::WslTLiteralUint, span, "this unsigned literal does not fit in 32 bits"));
        return Judged::Wrong;
    };
    c.conclude(Rule::WslTLiteralUint, Form::Constant(Constant::Uint(value)), ValueType::Right(TypeId::UINT), span)
}

/// an integer literal is a float, and an int or a uint if it is representable as one
///                                     [wsl/t-literal-int, 004 Typing expressions; WSL-C9, WSL-C10]
pub fn t_literal_int(c: &mut Checker, literal: IntLiteral, span: Span) -> Judged {
    let ty = default_type(&literal);
    let id = c.push(Rule::WslTLiteralInt, Form::Constant(constant(&literal, ty)), ValueType::Right(ty), span);
    Judged::Integer(id, literal, true)
}
