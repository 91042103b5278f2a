//! Types as written: seed 004 "Types".

use super::{Parser, Result};
use crate::rule::Rule;
use crate::wsl::syntax::{AddressSpace, TypeArgument, TypeExpr, TypeExprId, TypeSuffix};
use crate::wsl::token::TokenKind as T;

/// ```text
/// type ::= addressSpace Identifier typeArguments typeSuffixAbbreviated+
///        | Identifier typeArguments typeSuffixNonAbbreviated*        [wsl/g-type]
/// ```
pub(super) fn ty(p: &mut Parser<'_>) -> Result<TypeExprId> {
    let start = p.start();
    let written = type_as_written(p)?;
    if written.prefix.is_some() && written.suffixes.is_empty() {
        return Err(p.error(Rule::WslGType, "a type that begins with an address space needs `*`, `[]` or `[n]` here"));
    }
    p.push_type(written, p.since(start))
}

/// A type, or the address space and the type of variables. A leading address space is that of the
/// variables if no pointer or array reference takes it (ERRATA WSL-B8).
pub(super) fn variables_type(p: &mut Parser<'_>) -> Result<(Option<AddressSpace>, TypeExprId)> {
    let start = p.start();
    let mut written = type_as_written(p)?;
    let prefix_is_used = written.suffixes.iter().any(|s| !matches!(s, TypeSuffix::Array(_)));
    let space = if prefix_is_used { None } else { written.prefix.take() };
    Ok((space, p.push_type(written, p.since(start))?))
}

/// A type by the production of [`ty`], except for the number of suffixes after an address space.
fn type_as_written(p: &mut Parser<'_>) -> Result<TypeExpr> {
    p.fire(Rule::WslGType);
    let prefix = if matches!(p.peek(), T::AddressSpace(_)) { Some(address_space(p, "a type")?) } else { None };
    let name = p.identifier(Rule::WslGType, "a type", "its name")?;
    let arguments = type_arguments(p)?;
    let mut suffixes = Vec::new();
    while matches!(p.peek(), T::Star | T::LeftBracket) {
        suffixes.push(if prefix.is_some() { type_suffix_abbreviated(p)? } else { type_suffix_non_abbreviated(p)? });
    }
    Ok(TypeExpr { prefix, name, arguments, suffixes })
}

/// ```text
/// addressSpace ::= "constant" | "device" | "threadgroup" | "thread"        [wsl/g-address-space]
/// ```
fn address_space(p: &mut Parser<'_>, owner: &str) -> Result<AddressSpace> {
    p.fire(Rule::WslGAddressSpace);
    match p.peek() {
        T::AddressSpace(space) => {
            p.bump();
            Ok(space)
        }
        _ => Err(p.error(Rule::WslGAddressSpace, &format!("{owner} needs an address space here, or before the type"))),
    }
}

/// ```text
/// typeSuffixAbbreviated ::= "*" | "[" "]" | "[" IntLiteral "]"     [wsl/g-type-suffix-abbreviated]
/// ```
fn type_suffix_abbreviated(p: &mut Parser<'_>) -> Result<TypeSuffix> {
    p.fire(Rule::WslGTypeSuffixAbbreviated);
    if p.eat(T::Star) {
        return Ok(TypeSuffix::Pointer(None));
    }
    brackets(p, Rule::WslGTypeSuffixAbbreviated)
}

/// ```text
/// typeSuffixNonAbbreviated ::= "*" addressSpace | "[" "]" addressSpace | "[" IntLiteral "]"
///                                                              [wsl/g-type-suffix-non-abbreviated]
/// ```
fn type_suffix_non_abbreviated(p: &mut Parser<'_>) -> Result<TypeSuffix> {
    p.fire(Rule::WslGTypeSuffixNonAbbreviated);
    if p.eat(T::Star) {
        return Ok(TypeSuffix::Pointer(Some(address_space(p, "a pointer")?)));
    }
    match brackets(p, Rule::WslGTypeSuffixNonAbbreviated)? {
        TypeSuffix::ArrayReference(_) => Ok(TypeSuffix::ArrayReference(Some(address_space(p, "an array reference")?))),
        suffix => Ok(suffix),
    }
}

/// `[]` or `[n]`.
fn brackets(p: &mut Parser<'_>, rule: Rule) -> Result<TypeSuffix> {
    p.expect(rule, T::LeftBracket, "a type")?;
    if p.eat(T::RightBracket) {
        return Ok(TypeSuffix::ArrayReference(None));
    }
    let size = p.int_literal(rule, "an array", "an integer without sign or `]`")?;
    p.expect(rule, T::RightBracket, "an array's size")?;
    Ok(TypeSuffix::Array(size))
}

/// ```text
/// typeArguments ::= ("<" (typeArgument ("," typeArgument)*)? ">")?
///                                                  [wsl/g-type-arguments; WSL-B4: ">>" is two ">"]
/// ```
fn type_arguments(p: &mut Parser<'_>) -> Result<Option<Vec<TypeArgument>>> {
    if !p.eat(T::Less) {
        return Ok(None);
    }
    p.fire(Rule::WslGTypeArguments);
    let mut arguments = Vec::new();
    if close_angle(p) {
        return Ok(Some(arguments));
    }
    loop {
        arguments.push(p.nested(type_argument)?);
        if close_angle(p) {
            return Ok(Some(arguments));
        }
        if !p.eat(T::Comma) {
            return Err(p.error(Rule::WslGTypeArguments, "a type needs `,` or `>` behind an argument"));
        }
    }
}

/// Takes a `>`, or the first half of a `>>`.
fn close_angle(p: &mut Parser<'_>) -> bool {
    if p.peek() == T::ShiftRight {
        let token = &mut p.tokens[p.at];
        token.kind = T::Greater;
        token.span.start += 1;
        p.end = token.span.start;
        return true;
    }
    p.eat(T::Greater)
}

/// ```text
/// typeArgument ::= constexpr | type        [wsl/g-type-argument; WSL-B4]
/// ```
fn type_argument(p: &mut Parser<'_>) -> Result<TypeArgument> {
    p.fire(Rule::WslGTypeArgument);
    match p.peek() {
        T::Identifier if p.nth(1) != T::Dot => ty(p).map(TypeArgument::Type),
        T::AddressSpace(_) => ty(p).map(TypeArgument::Type),
        T::Identifier | T::IntLiteral | T::UintLiteral | T::FloatLiteral | T::True | T::False | T::Minus => {
            super::expr::constexpr(p).map(TypeArgument::Constant)
        }
        _ => Err(p.error(Rule::WslGTypeArgument, "an argument of a type is a type, a literal or an element of an enum")),
    }
}
