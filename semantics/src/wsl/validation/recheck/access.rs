//! `e.f` and `e1[e2]`: the accessors exist, and the first rule that applies was taken (seed 004
//! "Typing expressions", "Generated functions").

use super::overload::{Library, library_calls};
use super::{Check, Recheck, refuse};
use crate::rule::Rule;
use crate::text::Symbol;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::environment::{FunctionId, Struct};
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{StructId, Type, TypeId, ValueType};
use crate::wsl::typing::program::{Access, Coercion, Expr, ExprId, Form};

/// An accessor that exists.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Callee(Callee),
    Library(Library),
}

impl Known {
    fn is(&self, callee: Callee) -> bool {
        match (self, callee) {
            (Known::Callee(known), _) => *known == callee,
            (Known::Library(known), Callee::Library(f)) => known.is(f),
            _ => false,
        }
    }
}

/// The part that is accessed: a field of that name, or an element.
#[derive(Clone, Copy)]
enum Part<'a> {
    Field(&'a str),
    Element,
}

impl Part<'_> {
    fn name(self, address: bool, set: bool) -> String {
        let (amp, eq) = (if address { "&" } else { "" }, if set { "=" } else { "" });
        match self {
            Part::Field(f) => format!("operator{amp}.{f}{eq}"),
            Part::Element => format!("operator{amp}[]{eq}"),
        }
    }
}

impl<'a> Recheck<'a> {
    fn field(&self, ty: TypeId, part: Part) -> Option<(StructId, u32, TypeId)> {
        let (Type::Struct(id), Part::Field(name)) = (self.ty(ty), part) else { return None };
        let s: &Struct = self.p.env.structure(id);
        let i = s.fields.iter().position(|f| self.p.env.names.name(f.name) == name)?;
        Some((id, i as u32, s.fields[i].ty))
    }

    fn element(&self, ty: TypeId, part: Part) -> Option<TypeId> {
        match (self.ty(ty), part) {
            (Type::Array(of, _), Part::Element) => Some(of),
            _ => None,
        }
    }

    /// The declared functions of the name with `count` parameters, the first as `first` requires.
    /// For an element, the second parameter must be a `uint`.
    fn declared(&self, name: &str, first: impl Fn(Type, TypeId) -> bool, part: Part, count: usize) -> Vec<FunctionId> {
        let fits = |id: &&FunctionId| {
            let p = &self.p.env.function(**id).parameters;
            p.len() == count && first(self.ty(p[0].ty), p[0].ty) && (!matches!(part, Part::Element) || p[1].ty == TypeId::UINT)
        };
        self.named.get(name).into_iter().flatten().filter(fits).copied().collect()
    }

    fn pointee(&self, ty: TypeId) -> TypeId {
        match self.ty(ty) {
            Type::Pointer(_, to) => to,
            _ => TypeId::VOID,
        }
    }

    fn takers(&self, ty: TypeId, space: AddressSpace, part: Part) -> Vec<(Known, TypeId)> {
        let count = if matches!(part, Part::Element) { 2 } else { 1 };
        let declared = self.declared(&part.name(true, false), |t, _| t == Type::Pointer(space, ty), part, count);
        let mut out: Vec<(Known, TypeId)> =
            declared.into_iter().map(|id| (Known::Callee(Callee::Declared(id)), self.pointee(self.p.env.function(id).result))).collect();
        if let Some((s, i, of)) = self.field(ty, part) {
            out.push((Known::Callee(Callee::Generated(Generated::FieldAddress(s, i, space))), of));
        }
        if let Some(of) = self.element(ty, part) {
            out.push((Known::Callee(Callee::Generated(Generated::ElementAddress(ty, space))), of));
        }
        out
    }

    fn getters(&self, ty: TypeId, part: Part) -> Vec<(Known, TypeId)> {
        let count = if matches!(part, Part::Element) { 2 } else { 1 };
        let declared = self.declared(&part.name(false, false), |_, id| id == ty, part, count);
        let mut out: Vec<(Known, TypeId)> =
            declared.into_iter().map(|id| (Known::Callee(Callee::Declared(id)), self.p.env.function(id).result)).collect();
        if let Some((s, i, of)) = self.field(ty, part) {
            out.push((Known::Callee(Callee::Generated(Generated::FieldGetter(s, i))), of));
        }
        if let Some(of) = self.element(ty, part) {
            out.push((Known::Callee(Callee::Generated(Generated::ElementGetter(ty))), of));
        }
        out.extend(self.of_takers(ty, part, Generated::Getter));
        out.extend(self.built_in(ty, part, false));
        out
    }

    fn setters(&self, ty: TypeId, part: Part) -> Vec<(Known, TypeId)> {
        let count = if matches!(part, Part::Element) { 3 } else { 2 };
        let declared = self.declared(&part.name(false, true), |_, id| id == ty, part, count);
        let value = |id: FunctionId| self.p.env.function(id).parameters[count - 1].ty;
        let mut out: Vec<(Known, TypeId)> = declared.into_iter().map(|id| (Known::Callee(Callee::Declared(id)), value(id))).collect();
        if let Some((s, i, of)) = self.field(ty, part) {
            out.push((Known::Callee(Callee::Generated(Generated::FieldSetter(s, i))), of));
        }
        if let Some(of) = self.element(ty, part) {
            out.push((Known::Callee(Callee::Generated(Generated::ElementSetter(ty))), of));
        }
        out.extend(self.of_takers(ty, part, Generated::Setter));
        out.extend(self.built_in(ty, part, true));
        out
    }

    fn of_takers(&self, ty: TypeId, part: Part, make: fn(FunctionId) -> Generated) -> Vec<(Known, TypeId)> {
        let declared = |(known, to): (Known, TypeId)| match known {
            Known::Callee(Callee::Declared(id)) => Some((Known::Callee(Callee::Generated(make(id))), to)),
            _ => None,
        };
        self.takers(ty, AddressSpace::Thread, part).into_iter().filter_map(declared).collect()
    }

    /// The library's accessors. Those of arrays are the generated ones.
    fn built_in(&self, ty: TypeId, part: Part, set: bool) -> Vec<(Known, TypeId)> {
        if matches!(self.ty(ty), Type::Array(..) | Type::ArrayReference(..) | Type::Struct(_) | Type::Pointer(..)) {
            return Vec::new();
        }
        let types = &self.p.env.types;
        let mut given = vec![ty];
        if matches!(part, Part::Element) {
            given.push(TypeId::UINT);
        }
        let getters = library_calls(types, &part.name(false, false), None, &given);
        if !set {
            return getters.into_iter().map(|l| (Known::Library(l), l.result)).collect();
        }
        let mut out = Vec::new();
        for getter in getters {
            given.push(getter.result);
            out.extend(library_calls(types, &part.name(false, true), None, &given).into_iter().map(|l| (Known::Library(l), getter.result)));
            given.pop();
        }
        out
    }

    /// The kind of value that an operand was before its coercion, if it has one.
    fn before(&self, e: ExprId) -> ValueType {
        match &self.p.expr(e).form {
            Form::Coerce(Coercion::LeftToRight | Coercion::LeftToAbstract | Coercion::AbstractToRight, inner) => self.of(*inner),
            _ => self.of(e),
        }
    }

    pub(super) fn dot(&self, node: &Expr, e: ExprId, field: Symbol, access: Access) -> Check {
        if field.0 as usize >= self.p.env.names.len() {
            return refuse(Some(node.rule), node.span, "the field has no name");
        }
        let name = self.p.env.names.name(field);
        let (ValueType::Left(ty, _) | ValueType::Abstract(ty) | ValueType::Right(ty)) = self.of(e);
        if name == "length" && matches!(self.ty(ty), Type::Array(..) | Type::ArrayReference(..)) {
            return refuse(Some(node.rule), node.span, "the length of an array has its own rules");
        }
        self.accessed(node, e, Part::Field(name), access)
    }

    pub(super) fn index(&self, node: &Expr, e: ExprId, index: ExprId, access: Access) -> Check {
        self.right_of(node, index, TypeId::UINT, "the index")?;
        let (ValueType::Left(ty, _) | ValueType::Abstract(ty) | ValueType::Right(ty)) = self.of(e);
        if matches!(self.ty(ty), Type::ArrayReference(..)) {
            return refuse(Some(node.rule), node.span, "an element of an array reference has its own rule");
        }
        self.accessed(node, e, Part::Element, access)
    }

    fn accessed(&self, node: &Expr, e: ExprId, part: Part, access: Access) -> Check {
        let refuse = |message: &str| refuse(Some(node.rule), node.span, message);
        let has = |list: Vec<(Known, TypeId)>, callee: Callee| list.into_iter().find(|(k, _)| k.is(callee)).map(|(_, ty)| ty);
        let before = self.before(e);
        let taken = |ty, space| !self.takers(ty, space, part).is_empty();
        match (node.rule, access) {
            (Rule::WslTDotAddressTaker | Rule::WslTIndexAddressTaker, Access::AddressTaker(callee)) => {
                let (ty, space) = self.left(node, e)?;
                match has(self.takers(ty, space, part), callee) {
                    Some(to) => self.concludes(node, ValueType::Left(to, space)),
                    None => refuse("there is no such address-taker"),
                }
            }
            (Rule::WslTDotSetter | Rule::WslTIndexSetter, Access::Setter(setter, getter)) => {
                let ty = self.target(node, e)?;
                if let ValueType::Left(ty, space) = before
                    && taken(ty, space)
                {
                    return refuse("the address-taker is used before the setter");
                }
                let (Some(value), Some(got)) = (has(self.setters(ty, part), setter), has(self.getters(ty, part), getter)) else {
                    return refuse("there is no such setter or no such getter");
                };
                if value != got {
                    return refuse("the setter and the getter are of different types");
                }
                self.concludes(node, ValueType::Abstract(value))
            }
            (Rule::WslTDotGetter | Rule::WslTIndexGetter, Access::Getter(getter)) => {
                let ty = self.right(node, e, "the operand")?;
                let assignable = match before {
                    ValueType::Left(ty, space) => {
                        if taken(ty, space) {
                            return refuse("the address-taker is used before the getter");
                        }
                        space != AddressSpace::Constant
                    }
                    ValueType::Abstract(_) => true,
                    ValueType::Right(_) => false,
                };
                if assignable && !self.setters(ty, part).is_empty() {
                    return refuse("the setter is used before the getter");
                }
                match has(self.getters(ty, part), getter) {
                    Some(got) => self.concludes(node, ValueType::Right(got)),
                    None => refuse("there is no such getter"),
                }
            }
            _ => refuse("the accessor is not of the kind that the rule speaks of"),
        }
    }
}
