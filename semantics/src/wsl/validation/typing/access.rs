//! `e.f` and `e1[e2]`: seed 004 "Typing expressions".

use super::program::{Access, Constant, ExprId, Form};
use super::{Checker, Judged};
use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::core::{self, Expr, Ident};
use crate::wsl::environment::access::{Found, Part};
use crate::wsl::environment::{Key, TypeDefinition};
use crate::wsl::error::Error;
use crate::wsl::types::{EnumId, Type, TypeId, ValueType};

impl Checker<'_> {
    pub(super) fn dot(&mut self, e: core::ExprId, field: Ident, span: Span) -> Judged {
        if let Expr::Name(name) = self.core().expr(e)
            && self.scope.find(*name).is_none()
            && let Some(id) = self.enum_named(*name)
        {
            return t_dot_enum(self, id, field, span);
        }
        let judged = self.expr(e);
        let whole = match judged {
            Judged::Wrong => return Judged::Wrong,
            Judged::Typed(id) => id,
            Judged::Integer(..) => match self.right(judged) {
                Some(id) => id,
                None => return Judged::Wrong,
            },
        };
        let ty = self.value_type(whole).right();
        let part = Part::Field(field.name);
        if self.builder.env.names.name(field.name) == "length" {
            match self.ty(ty) {
                Type::Array(_, n) => return t_length_array(self, whole, n, span),
                Type::ArrayReference(..) => return t_length_reference(self, whole, span),
                _ => {}
            }
        }
        if let Some(judged) = t_dot_address_taker(self, whole, part, span) {
            return judged;
        }
        if let Some(judged) = t_dot_setter(self, whole, part, span) {
            return judged;
        }
        if let Some(judged) = t_dot_getter(self, whole, part, span) {
            return judged;
        }
        let (found, text) = (self.name(ty), self.builder.env.names.name(field.name).to_string());
        let help = if matches!(self.ty(ty), Type::Pointer(..)) { format!("; `->{text}` goes through the pointer") } else { String::new() };
        self.error(Error::new(
            Rule::WslTDotGetter,
            field.span,
            format!("a value of type {found} has no field and no accessor `{text}`{help}"),
        ));
        Judged::Wrong
    }

    /// The enum of that name. The name may be that of a typedef.
    fn enum_named(&mut self, name: Symbol) -> Option<EnumId> {
        match self.builder.env.type_names.get(&name)? {
            TypeDefinition::Enum(id) => Some(*id),
            TypeDefinition::Typedef(_) => match self.key(name) {
                Key::Cast(ty) => match self.ty(ty) {
                    Type::Enum(id) => Some(id),
                    _ => None,
                },
                Key::Name(_) => None,
            },
            _ => None,
        }
    }

    pub(super) fn index(&mut self, e1: core::ExprId, e2: core::ExprId, span: Span) -> Judged {
        let first = self.expr(e1);
        let index = self.expr(e2);
        let index = self.expect(index, TypeId::UINT, Rule::WslTArrayRefIndex, "the index");
        let whole = match first {
            Judged::Wrong => return Judged::Wrong,
            Judged::Typed(id) => id,
            Judged::Integer(..) => match self.right(first) {
                Some(id) => id,
                None => return Judged::Wrong,
            },
        };
        let Some(index) = index else { return Judged::Wrong };
        if let Some(judged) = t_array_ref_index(self, whole, index, span) {
            return judged;
        }
        if let Some(judged) = t_index_address_taker(self, whole, index, span) {
            return judged;
        }
        if let Some(judged) = t_index_setter(self, whole, index, span) {
            return judged;
        }
        if let Some(judged) = t_index_getter(self, whole, index, span) {
            return judged;
        }
        let ty = self.value_type(whole).right();
        let found = self.name(ty);
        let help = if matches!(self.ty(ty), Type::Pointer(..)) { "; `(*p)[i]` goes through a pointer" } else { "" };
        let place = self.program.expr(whole).span;
        self.error(Error::new(
            Rule::WslTIndexGetter,
            place,
            format!("a value of type {found} has no elements and no `operator[]` with an index of type uint{help}"),
        ));
        Judged::Wrong
    }

    /// The abstract left-value, the setter and the getter of its part. `None` if there is none, or
    /// if the whole contains samplers or textures: to assign to the part is to assign the whole.
    fn by_setter(&mut self, whole: ExprId, part: Part) -> Option<(ExprId, Found, Found)> {
        let ty = (self.premises.assignable)(self.value_type(whole))?;
        if self.builder.contains_opaque(ty) {
            return None;
        }
        let setter = self.builder.env.setter(ty, part)?;
        let getter = self.builder.env.getter(ty, part)?;
        let (whole, _) = self.coerce_abstract(whole)?;
        Some((whole, setter, getter))
    }
}

/// E an enum with the element A, and no variable, gives Γ ⊢ E.A : E
///                                                  [wsl/t-dot-enum, 004 Typing expressions, dot 2]
pub fn t_dot_enum(c: &mut Checker, id: EnumId, element: Ident, span: Span) -> Judged {
    let e = c.builder.env.enumeration(id);
    let Some(&index) = e.index.get(&element.name) else {
        let (name, text) = (c.builder.env.names.name(e.name).to_string(), c.builder.env.names.name(element.name).to_string());
        c.error(Error::new(Rule::WslTDotEnum, element.span, format!("the enum `{name}` has no element `{text}`")));
        return Judged::Wrong;
    };
    let ty = c.builder.env.types.intern(Type::Enum(id));
    c.conclude(Rule::WslTDotEnum, Form::Constant(Constant::Element(index)), ValueType::Right(ty), span)
}

/// Γ ⊢ e : τ\[n\] gives Γ ⊢ e.length : uint [wsl/t-length-array, 004 Typing expressions, call 3.1;
/// WSL-C8]
pub fn t_length_array(c: &mut Checker, e: ExprId, n: u32, span: Span) -> Judged {
    c.fire(Rule::WslLibArrayLength);
    c.conclude(Rule::WslTLengthArray, Form::ArrayLength(e, n), ValueType::Right(TypeId::UINT), span)
}

/// Γ ⊢ e : Ref(τ, a) gives Γ ⊢ e.length : uint [wsl/t-length-reference, 004 Typing expressions,
/// call 3.2; WSL-C8]
pub fn t_length_reference(c: &mut Checker, e: ExprId, span: Span) -> Judged {
    c.fire(Rule::WslLibArrayLength);
    let e = c.coerce_right(e);
    c.conclude(Rule::WslTLengthReference, Form::ReferenceLength(e), ValueType::Right(TypeId::UINT), span)
}

fn field(part: Part) -> Symbol {
    match part {
        Part::Field(name) => name,
        Part::Element => Symbol(u32::MAX),
    }
}

/// Γ ⊢ e : LVal(τ, a) and operator&.f : Ptr(τ, a) → Ptr(τ', a) give Γ ⊢ e.f : LVal(τ', a)
/// [wsl/t-dot-address-taker, 004 Typing expressions, dot 1.1]
pub fn t_dot_address_taker(c: &mut Checker, e: ExprId, part: Part, span: Span) -> Option<Judged> {
    let ValueType::Left(ty, space) = c.value_type(e) else { return None };
    let found = c.builder.env.address_taker(ty, space, part)?;
    Some(c.conclude(
        Rule::WslTDotAddressTaker,
        Form::Dot(e, field(part), Access::AddressTaker(found.callee)),
        ValueType::Left(found.ty, space),
        span,
    ))
}

/// Γ ⊢ e : ALVal(τ) and operator.f= : τ, τ' → τ, τ without samplers and textures, give
/// Γ ⊢ e.f : ALVal(τ') [wsl/t-dot-setter, 004 Typing expressions, dot 1.2; WSL-C26]
pub fn t_dot_setter(c: &mut Checker, e: ExprId, part: Part, span: Span) -> Option<Judged> {
    let (e, setter, getter) = c.by_setter(e, part)?;
    let access = Access::Setter(setter.callee, getter.callee);
    Some(c.conclude(Rule::WslTDotSetter, Form::Dot(e, field(part), access), ValueType::Abstract(setter.ty), span))
}

/// Γ ⊢ e : τ and operator.f : τ → τ' give Γ ⊢ e.f : τ' [wsl/t-dot-getter, 004 Typing expressions,
/// dot 1.3]
pub fn t_dot_getter(c: &mut Checker, e: ExprId, part: Part, span: Span) -> Option<Judged> {
    let ty = c.value_type(e).right();
    let getter = c.builder.env.getter(ty, part)?;
    let e = c.coerce_right(e);
    Some(c.conclude(Rule::WslTDotGetter, Form::Dot(e, field(part), Access::Getter(getter.callee)), ValueType::Right(getter.ty), span))
}

/// Γ ⊢ e1 : Ref(τ, a) and Γ ⊢ e2 : uint give Γ ⊢ e1\[e2\] : LVal(τ, a) [wsl/t-array-ref-index, 004
/// Typing expressions, index 2]
pub fn t_array_ref_index(c: &mut Checker, e1: ExprId, e2: ExprId, span: Span) -> Option<Judged> {
    let Type::ArrayReference(space, of) = c.ty(c.value_type(e1).right()) else { return None };
    let e1 = c.coerce_right(e1);
    Some(c.conclude(Rule::WslTArrayRefIndex, Form::Element(e1, e2), ValueType::Left(of, space), span))
}

/// Γ ⊢ e1 : LVal(τ, a), Γ ⊢ e2 : uint and operator&[] : Ptr(τ, a), uint → Ptr(τ', a) give Γ ⊢
/// e1\[e2\] : LVal(τ', a) [wsl/t-index-address-taker, 004 Typing expressions, index 3; WSL-C7]
pub fn t_index_address_taker(c: &mut Checker, e1: ExprId, e2: ExprId, span: Span) -> Option<Judged> {
    let ValueType::Left(ty, space) = c.value_type(e1) else { return None };
    let found = c.builder.env.address_taker(ty, space, Part::Element)?;
    let form = Form::Index(e1, e2, Access::AddressTaker(found.callee));
    Some(c.conclude(Rule::WslTIndexAddressTaker, form, ValueType::Left(found.ty, space), span))
}

/// Γ ⊢ e1 : ALVal(τ), Γ ⊢ e2 : uint and operator[]= : τ, uint, τ' → τ, τ without samplers
/// and textures, give Γ ⊢ e1\[e2\] : ALVal(τ')
/// [wsl/t-index-setter, 004 Typing expressions, index 4; WSL-C7, WSL-C26]
pub fn t_index_setter(c: &mut Checker, e1: ExprId, e2: ExprId, span: Span) -> Option<Judged> {
    let (e1, setter, getter) = c.by_setter(e1, Part::Element)?;
    let access = Access::Setter(setter.callee, getter.callee);
    Some(c.conclude(Rule::WslTIndexSetter, Form::Index(e1, e2, access), ValueType::Abstract(setter.ty), span))
}

/// Γ ⊢ e1 : τ, Γ ⊢ e2 : uint and operator[] : τ, uint → τ' give Γ ⊢ e1\[e2\] : τ'
/// [wsl/t-index-getter, 004 Typing expressions, index 5; WSL-C7]
pub fn t_index_getter(c: &mut Checker, e1: ExprId, e2: ExprId, span: Span) -> Option<Judged> {
    let ty = c.value_type(e1).right();
    let getter = c.builder.env.getter(ty, Part::Element)?;
    let e1 = c.coerce_right(e1);
    Some(c.conclude(Rule::WslTIndexGetter, Form::Index(e1, e2, Access::Getter(getter.callee)), ValueType::Right(getter.ty), span))
}
