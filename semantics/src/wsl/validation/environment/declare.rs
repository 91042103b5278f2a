//! Type declarations: seed 004 "Building the global typing environment", steps 2 to 4.

use super::resolve::Place;
use super::{Builder, Enum, Struct, TypeDefinition, Typedef};
use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::core::{self, Decl, Ident};
use crate::wsl::error::Error;
use crate::wsl::library;
use crate::wsl::syntax::Literal;
use crate::wsl::types::{EnumId, StructId, Type, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};

impl Builder<'_> {
    /// Gathers every type name.
    pub(super) fn declare_types(&mut self) {
        let mut places: FxHashMap<Symbol, Span> = FxHashMap::default();
        for decl in &self.core.decls {
            match decl {
                Decl::Typedef(name, ty) => {
                    if env_typedef_duplicate(self, *name, &places) {
                        places.insert(name.name, name.span);
                        env_typedef(self, *name, *ty);
                    }
                }
                Decl::Struct(name, fields) => {
                    env_struct_fields(self, fields);
                    if env_struct_duplicate(self, *name, &places) {
                        places.insert(name.name, name.span);
                        env_struct(self, *name);
                    }
                }
                Decl::Enum(e) => {
                    if env_enum_duplicate(self, e.name, &places) {
                        places.insert(e.name.name, e.name.span);
                        env_enum(self, e.name);
                    }
                }
                Decl::Function(_) => {}
            }
        }
    }

    /// Sets the base type of each enum and the values of its elements.
    pub(super) fn declare_enums(&mut self) {
        let core = self.core;
        let mut done: FxHashSet<EnumId> = FxHashSet::default();
        for decl in &core.decls {
            let Decl::Enum(written) = decl else { continue };
            let Some(TypeDefinition::Enum(id)) = self.env.type_names.get(&written.name.name).copied() else { continue };
            // A second enum of the name has been reported. Its elements do not belong to the first.
            if !done.insert(id) {
                continue;
            }
            let base = match written.base {
                Some(ty) => env_enum_base(self, ty),
                None => env_enum_default_base(self),
            };
            let elements = values(self, written, base);
            env_enum_elements(self, &elements);
            env_enum_zero(self, written, &elements);
            env_enum_distinct(self, written, &elements);
            let e = &mut self.env.enums[id.0 as usize];
            e.base = base;
            for (ident, value) in elements {
                let next = e.elements.len() as u32;
                e.index.entry(ident.name).or_insert(next);
                e.elements.push((ident.name, value as u32));
            }
            self.env.types.enum_bases[id.0 as usize] = base;
        }
    }
}

fn no_other_type(b: &mut Builder, rule: Rule, name: Ident, places: &FxHashMap<Symbol, Span>) -> bool {
    let text = b.env.names.name(name.name).to_string();
    let first = places.get(&name.name).copied();
    let free = first.is_none() && !library::is_type_name(&text);
    b.require(rule, free, |_| {
        let error = Error::new(rule, name.span, format!("there is already a type `{text}`; the rule needs another name"));
        match first {
            Some(span) => error.note(Some(span), "the first one is declared here"),
            None => error.note(None, "the standard library declares it"),
        }
    })
}

/// no other type has the name of a typedef
///                      [wsl/env-typedef-duplicate, 004 Building the global typing environment 2.1]
pub fn env_typedef_duplicate(b: &mut Builder, name: Ident, places: &FxHashMap<Symbol, Span>) -> bool {
    no_other_type(b, Rule::WslEnvTypedefDuplicate, name, places)
}

/// a typedef is a type, with its definition
///                                [wsl/env-typedef, 004 Building the global typing environment 2.2]
pub fn env_typedef(b: &mut Builder, name: Ident, written: core::TypeExprId) {
    b.fired.note(Rule::WslEnvTypedef);
    b.env.type_names.insert(name.name, TypeDefinition::Typedef(b.env.typedefs.len() as u32));
    b.env.typedefs.push(Typedef { name, written, ty: None });
}

/// no other type has the name of a structure
///                       [wsl/env-struct-duplicate, 004 Building the global typing environment 3.1]
pub fn env_struct_duplicate(b: &mut Builder, name: Ident, places: &FxHashMap<Symbol, Span>) -> bool {
    no_other_type(b, Rule::WslEnvStructDuplicate, name, places)
}

/// no two fields of a structure have the same name
///                          [wsl/env-struct-fields, 004 Building the global typing environment 3.2]
pub fn env_struct_fields(b: &mut Builder, fields: &[core::Slot]) {
    let mut seen: FxHashMap<Symbol, Span> = FxHashMap::default();
    for field in fields {
        let first = seen.insert(field.name.name, field.name.span);
        b.require(Rule::WslEnvStructFields, first.is_none(), |env| {
            let text = env.names.name(field.name.name);
            Error::new(
                Rule::WslEnvStructFields,
                field.name.span,
                format!("there is already a field `{text}`; the rule needs distinct names"),
            )
            .note(first, "the first one is declared here")
        });
    }
}

/// a structure is a new type       [wsl/env-struct, 004 Building the global typing environment 3.3]
pub fn env_struct(b: &mut Builder, name: Ident) {
    b.fired.note(Rule::WslEnvStruct);
    let id = StructId(b.env.structs.len() as u32);
    b.env.type_names.insert(name.name, TypeDefinition::Struct(id));
    b.env.structs.push(Struct { name: name.name, span: name.span, fields: Vec::new(), index: FxHashMap::default() });
    b.env.types.intern(Type::Struct(id));
}

/// no other type has the name of an enum
///                         [wsl/env-enum-duplicate, 004 Building the global typing environment 4.1]
pub fn env_enum_duplicate(b: &mut Builder, name: Ident, places: &FxHashMap<Symbol, Span>) -> bool {
    no_other_type(b, Rule::WslEnvEnumDuplicate, name, places)
}

/// an explicit base type of an enum is uint or int
///                              [wsl/env-enum-base, 004 Building the global typing environment 4.2]
pub fn env_enum_base(b: &mut Builder, written: core::TypeExprId) -> TypeId {
    let span = b.core.ty_span(written);
    let Some(ty) = b.resolve(written, Place::EnumBase) else { return TypeId::INT };
    let holds = b.require(Rule::WslEnvEnumBase, ty == TypeId::UINT || ty == TypeId::INT, |env| {
        Error::new(Rule::WslEnvEnumBase, span, format!("the base type of this enum is {}; the rule needs uint or int", env.type_name(ty)))
    });
    if holds { ty } else { TypeId::INT }
}

/// an enum without a base type has the base type int
///                      [wsl/env-enum-default-base, 004 Building the global typing environment 4.3]
pub fn env_enum_default_base(b: &mut Builder) -> TypeId {
    b.fired.note(Rule::WslEnvEnumDefaultBase);
    TypeId::INT
}

/// The elements with their values. An element whose value is wrong is left out.
fn values(b: &mut Builder, written: &core::Enum, base: TypeId) -> Vec<(Ident, i64)> {
    let mut elements: Vec<(Ident, i64)> = Vec::new();
    // The value of the element before. `None` after an element whose value is not known.
    let mut preceding = None;
    for (i, (ident, value)) in written.elements.iter().enumerate() {
        let value = match (value, preceding) {
            (Some(e), _) => env_enum_value_explicit(b, *e),
            (None, _) if i == 0 => Some(env_enum_value_first(b)),
            (None, Some(before)) => Some(env_enum_value_next(b, before)),
            (None, None) => None,
        };
        preceding = value.filter(|&v| env_enum_range(b, *ident, base, v));
        if let Some(v) = preceding {
            elements.push((*ident, v));
        } else if let Some(v) = value {
            preceding = Some(v);
        }
    }
    elements
}

/// an element with an explicit value, an integer literal, has that value
///                  [wsl/env-enum-value-explicit, 004 Building the global typing environment 4.4.1]
pub fn env_enum_value_explicit(b: &mut Builder, written: core::ExprId) -> Option<i64> {
    let span = b.core.expr_span(written);
    let literal = match b.core.expr(written) {
        core::Expr::Literal(Literal::Int(n)) => Some(*n),
        _ => None,
    };
    let holds = b.require(Rule::WslEnvEnumValueExplicit, literal.is_some(), |_| {
        Error::new(Rule::WslEnvEnumValueExplicit, span, "the value of an enum's element is no integer literal; the rule needs one")
    });
    // A clamped literal is outside the range of every base type, and stays outside when it
    // is increased.
    holds.then(|| literal.and_then(|n| n.value()).map_or(i64::MAX / 2, |v| v.clamp(i64::MIN as i128 / 2, i64::MAX as i128 / 2) as i64))
}

/// the first element without a value has the value 0
///                     [wsl/env-enum-value-first, 004 Building the global typing environment 4.4.2]
pub fn env_enum_value_first(b: &mut Builder) -> i64 {
    b.fired.note(Rule::WslEnvEnumValueFirst);
    0
}

/// another element without a value has the preceding one's increased by one
///                      [wsl/env-enum-value-next, 004 Building the global typing environment 4.4.3]
pub fn env_enum_value_next(b: &mut Builder, preceding: i64) -> i64 {
    b.fired.note(Rule::WslEnvEnumValueNext);
    preceding + 1
}

/// an element of an enum has the value 0
///                              [wsl/env-enum-zero, 004 Building the global typing environment 4.5]
pub fn env_enum_zero(b: &mut Builder, written: &core::Enum, elements: &[(Ident, i64)]) {
    let name = written.name;
    // If an element's value is wrong, 0 may have been meant.
    let holds = elements.iter().any(|(_, v)| *v == 0) || elements.len() < written.elements.len();
    b.require(Rule::WslEnvEnumZero, holds, |env| {
        let text = env.names.name(name.name);
        Error::new(
            Rule::WslEnvEnumZero,
            name.span,
            format!("no element of the enum `{text}` has the value 0; the rule needs one, as default value"),
        )
    });
}

/// no two elements of an enum have the same value
///                          [wsl/env-enum-distinct, 004 Building the global typing environment 4.6]
pub fn env_enum_distinct(b: &mut Builder, _: &core::Enum, elements: &[(Ident, i64)]) {
    let mut seen: FxHashMap<i64, Ident> = FxHashMap::default();
    for (ident, value) in elements {
        let first = seen.insert(*value, *ident);
        b.require(Rule::WslEnvEnumDistinct, first.is_none(), |env| {
            let text = env.names.name(ident.name);
            let error = Error::new(
                Rule::WslEnvEnumDistinct,
                ident.span,
                format!("`{text}` has the value {value} of another element; the rule needs distinct values"),
            );
            match first {
                Some(other) => error.note(Some(other.span), format!("`{}` has it", env.names.name(other.name))),
                None => error,
            }
        });
    }
}

/// the values of an enum are representable in its base type
///                             [wsl/env-enum-range, 004 Building the global typing environment 4.7]
pub fn env_enum_range(b: &mut Builder, ident: Ident, base: TypeId, value: i64) -> bool {
    let fits = if base == TypeId::UINT { u32::try_from(value).is_ok() } else { i32::try_from(value).is_ok() };
    b.require(Rule::WslEnvEnumRange, fits, |env| {
        let (text, base) = (env.names.name(ident.name), env.type_name(base));
        Error::new(
            Rule::WslEnvEnumRange,
            ident.span,
            format!("the value {value} of `{text}` is not representable in the enum's base type {base}"),
        )
    })
}

/// no two elements of an enum have the same name                   [wsl/env-enum-elements, WSL-C23]
pub fn env_enum_elements(b: &mut Builder, elements: &[(Ident, i64)]) {
    let mut seen: FxHashMap<Symbol, Span> = FxHashMap::default();
    for (ident, _) in elements {
        let first = seen.insert(ident.name, ident.span);
        b.require(Rule::WslEnvEnumElements, first.is_none(), |env| {
            let text = env.names.name(ident.name);
            Error::new(Rule::WslEnvEnumElements, ident.span, format!("there is already an element `{text}`; the rule needs distinct names"))
                .note(first, "the first one is declared here")
        });
    }
}

/// an enum is a new type, with the values of its elements
///                                   [wsl/env-enum, 004 Building the global typing environment 4.8]
pub fn env_enum(b: &mut Builder, name: Ident) {
    b.fired.note(Rule::WslEnvEnum);
    let id = EnumId(b.env.enums.len() as u32);
    b.env.type_names.insert(name.name, TypeDefinition::Enum(id));
    b.env.enums.push(Enum { name: name.name, span: name.span, base: TypeId::INT, elements: Vec::new(), index: FxHashMap::default() });
    b.env.types.enum_bases.push(TypeId::INT);
    b.env.types.intern(Type::Enum(id));
}
