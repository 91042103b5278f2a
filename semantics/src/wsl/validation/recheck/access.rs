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
enum Accessor {
    Callee(Callee),
    Library(Library),
}

impl Accessor {
    fn is(&self, callee: Callee) -> bool {
        match (self, callee) {
            (Accessor::Callee(accessor), _) => *accessor == callee,
            (Accessor::Library(accessor), Callee::Library(f)) => accessor.is(f),
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
        let s: &Struct = self.program.env.structure(id);
        let i = s.fields.iter().position(|f| self.program.env.names.name(f.name) == name)?;
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
            let p = &self.program.env.function(**id).parameters;
            p.len() == count && first(self.ty(p[0].ty), p[0].ty) && (!matches!(part, Part::Element) || p[1].ty == TypeId::UINT)
        };
        self.by_name.get(name).into_iter().flatten().filter(fits).copied().collect()
    }

    fn pointee(&self, ty: TypeId) -> TypeId {
        match self.ty(ty) {
            Type::Pointer(_, to) => to,
            _ => TypeId::VOID,
        }
    }

    fn takers(&self, ty: TypeId, space: AddressSpace, part: Part) -> Vec<(Accessor, TypeId)> {
        let count = if matches!(part, Part::Element) { 2 } else { 1 };
        let declared = self.declared(&part.name(true, false), |t, _| t == Type::Pointer(space, ty), part, count);
        let mut out: Vec<(Accessor, TypeId)> = declared
            .into_iter()
            .map(|id| (Accessor::Callee(Callee::Declared(id)), self.pointee(self.program.env.function(id).result)))
            .collect();
        if let Some((s, i, of)) = self.field(ty, part) {
            out.push((Accessor::Callee(Callee::Generated(Generated::FieldAddress(s, i, space))), of));
        }
        if let Some(of) = self.element(ty, part) {
            out.push((Accessor::Callee(Callee::Generated(Generated::ElementAddress(ty, space))), of));
        }
        out
    }

    fn getters(&self, ty: TypeId, part: Part) -> Vec<(Accessor, TypeId)> {
        let count = if matches!(part, Part::Element) { 2 } else { 1 };
        let declared = self.declared(&part.name(false, false), |_, id| id == ty, part, count);
        let mut out: Vec<(Accessor, TypeId)> =
            declared.into_iter().map(|id| (Accessor::Callee(Callee::Declared(id)), self.program.env.function(id).result)).collect();
        if let Some((s, i, of)) = self.field(ty, part) {
            out.push((Accessor::Callee(Callee::Generated(Generated::FieldGetter(s, i))), of));
        }
        if let Some(of) = self.element(ty, part) {
            out.push((Accessor::Callee(Callee::Generated(Generated::ElementGetter(ty))), of));
        }
        out.extend(self.generated_from_takers(ty, part, Generated::Getter));
        out.extend(self.built_in(ty, part, false));
        out
    }

    fn setters(&self, ty: TypeId, part: Part) -> Vec<(Accessor, TypeId)> {
        let count = if matches!(part, Part::Element) { 3 } else { 2 };
        let declared = self.declared(&part.name(false, true), |_, id| id == ty, part, count);
        let value = |id: FunctionId| self.program.env.function(id).parameters[count - 1].ty;
        let mut out: Vec<(Accessor, TypeId)> = declared.into_iter().map(|id| (Accessor::Callee(Callee::Declared(id)), value(id))).collect();
        if let Some((s, i, of)) = self.field(ty, part) {
            out.push((Accessor::Callee(Callee::Generated(Generated::FieldSetter(s, i))), of));
        }
        if let Some(of) = self.element(ty, part) {
            out.push((Accessor::Callee(Callee::Generated(Generated::ElementSetter(ty))), of));
        }
        out.extend(self.generated_from_takers(ty, part, Generated::Setter));
        out.extend(self.built_in(ty, part, true));
        out
    }

    fn generated_from_takers(&self, ty: TypeId, part: Part, make: fn(FunctionId) -> Generated) -> Vec<(Accessor, TypeId)> {
        let declared = |(accessor, to): (Accessor, TypeId)| match accessor {
            Accessor::Callee(Callee::Declared(id)) => Some((Accessor::Callee(Callee::Generated(make(id))), to)),
            _ => None,
        };
        self.takers(ty, AddressSpace::Thread, part).into_iter().filter_map(declared).collect()
    }

    /// The library's accessors. Those of arrays are the generated ones.
    fn built_in(&self, ty: TypeId, part: Part, set: bool) -> Vec<(Accessor, TypeId)> {
        if matches!(self.ty(ty), Type::Array(..) | Type::ArrayReference(..) | Type::Struct(_) | Type::Pointer(..)) {
            return Vec::new();
        }
        let types = &self.program.env.types;
        let mut argument_types = vec![ty];
        if matches!(part, Part::Element) {
            argument_types.push(TypeId::UINT);
        }
        let getters = library_calls(types, &part.name(false, false), None, &argument_types);
        if !set {
            return getters.into_iter().map(|l| (Accessor::Library(l), l.result)).collect();
        }
        let mut out = Vec::new();
        for getter in getters {
            argument_types.push(getter.result);
            out.extend(
                library_calls(types, &part.name(false, true), None, &argument_types)
                    .into_iter()
                    .map(|l| (Accessor::Library(l), getter.result)),
            );
            argument_types.pop();
        }
        out
    }

    /// The kind of value that an operand was before its coercion, if it has one.
    fn before_coercion(&self, e: ExprId) -> ValueType {
        match &self.program.expr(e).form {
            Form::Coerce(Coercion::LeftToRight | Coercion::LeftToAbstract | Coercion::AbstractToRight, inner) => self.value_type(*inner),
            _ => self.value_type(e),
        }
    }

    pub(super) fn dot(&self, node: &Expr, e: ExprId, field: Symbol, access: Access) -> Check {
        if field.0 as usize >= self.program.env.names.len() {
            return refuse(Some(node.rule), node.span, "the field has no name");
        }
        let name = self.program.env.names.name(field);
        let (ValueType::Left(ty, _) | ValueType::Abstract(ty) | ValueType::Right(ty)) = self.value_type(e);
        if name == "length" && matches!(self.ty(ty), Type::Array(..) | Type::ArrayReference(..)) {
            return refuse(Some(node.rule), node.span, "the length of an array has its own rules");
        }
        self.check_access(node, e, Part::Field(name), access)
    }

    pub(super) fn index(&self, node: &Expr, e: ExprId, index: ExprId, access: Access) -> Check {
        self.right_of(node, index, TypeId::UINT, "the index")?;
        let (ValueType::Left(ty, _) | ValueType::Abstract(ty) | ValueType::Right(ty)) = self.value_type(e);
        if matches!(self.ty(ty), Type::ArrayReference(..)) {
            return refuse(Some(node.rule), node.span, "an element of an array reference has its own rule");
        }
        self.check_access(node, e, Part::Element, access)
    }

    fn check_access(&self, node: &Expr, e: ExprId, part: Part, access: Access) -> Check {
        let refuse = |message: &str| refuse(Some(node.rule), node.span, message);
        let accessed_type = |list: Vec<(Accessor, TypeId)>, callee: Callee| list.into_iter().find(|(k, _)| k.is(callee)).map(|(_, ty)| ty);
        let before_coercion = self.before_coercion(e);
        let has_taker = |ty, space| !self.takers(ty, space, part).is_empty();
        match (node.rule, access) {
            (Rule::WslTDotAddressTaker | Rule::WslTIndexAddressTaker, Access::AddressTaker(callee)) => {
                let (ty, space) = self.left(node, e)?;
                match accessed_type(self.takers(ty, space, part), callee) {
                    Some(to) => self.concludes(node, ValueType::Left(to, space)),
                    None => refuse("there is no such address-taker"),
                }
            }
            (Rule::WslTDotSetter | Rule::WslTIndexSetter, Access::Setter(setter, getter)) => {
                let ty = self.target(node, e)?;
                self.assigns_values(node, ty)?;
                if let ValueType::Left(ty, space) = before_coercion
                    && has_taker(ty, space)
                {
                    return refuse("the address-taker is used before the setter");
                }
                let (Some(value), Some(getter_type)) =
                    (accessed_type(self.setters(ty, part), setter), accessed_type(self.getters(ty, part), getter))
                else {
                    return refuse("there is no such setter or no such getter");
                };
                if value != getter_type {
                    return refuse("the setter and the getter are of different types");
                }
                self.concludes(node, ValueType::Abstract(value))
            }
            (Rule::WslTDotGetter | Rule::WslTIndexGetter, Access::Getter(getter)) => {
                let ty = self.right(node, e, "the operand")?;
                let assignable = match before_coercion {
                    ValueType::Left(ty, space) => {
                        if has_taker(ty, space) {
                            return refuse("the address-taker is used before the getter");
                        }
                        space != AddressSpace::Constant
                    }
                    ValueType::Abstract(_) => true,
                    ValueType::Right(_) => false,
                };
                if assignable && !self.is_opaque(ty) && !self.setters(ty, part).is_empty() {
                    return refuse("the setter is used before the getter");
                }
                match accessed_type(self.getters(ty, part), getter) {
                    Some(getter_type) => self.concludes(node, ValueType::Right(getter_type)),
                    None => refuse("there is no such getter"),
                }
            }
            _ => refuse("the accessor is not of the kind that the rule speaks of"),
        }
    }
}
