//! Resolution of types as written: seed 004 "Void type", "Validating types", "Resolving typedefs",
//! "No pointers or array references in structs and arrays".

use super::{Builder, TypeDefinition};
use crate::rule::Rule;
use crate::text::{Span, deep};
use crate::wsl::core::{self, Decl, TypeArgument, TypeSuffix};
use crate::wsl::error::Error;
use crate::wsl::library::{self, TypeArgumentValue, TypeNameError};
use crate::wsl::syntax::{IntLiteral, Literal};
use crate::wsl::types::{StructId, Type, TypeId};
use rustc_hash::FxHashSet;

/// Where a type is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The type that a function returns.
    Result,
    /// The type of a variable.
    Variable,
    /// The type of a parameter.
    Parameter,
    /// The type of a field.
    Field,
    /// The definition of a typedef.
    Typedef,
    /// The base type of an enum.
    EnumBase,
    /// An argument of another type.
    Argument,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Result => "the result of a function",
            Place::Variable => "the type of a variable",
            Place::Parameter => "the type of a parameter",
            Place::Field => "the type of a field",
            Place::Typedef => "the definition of a typedef",
            Place::EnumBase => "the base type of an enum",
            Place::Argument => "an argument of a type",
        }
    }
}

impl Builder<'_> {
    /// Resolves the fields of every structure.
    pub(super) fn resolve_structs(&mut self) {
        let core = self.core;
        let mut done = FxHashSet::default();
        for decl in &core.decls {
            let Decl::Struct(name, fields) = decl else { continue };
            // The fields of structures in a cycle are resolved too, for their other errors.
            let id = match self.env.type_names.get(&name.name) {
                Some(TypeDefinition::Struct(id)) if done.insert(*id) => Some(*id),
                _ => None,
            };
            for written in fields {
                let ty = self.resolve(written.ty, Place::Field);
                let ty = ty.filter(|&ty| v_field_reference(self, ty, self.core.ty_span(written.ty)));
                let field = self.slot(written, ty.unwrap_or(TypeId::VOID));
                if let (Some(id), Some(_)) = (id, ty) {
                    let s = &mut self.env.structs[id.0 as usize];
                    let next = s.fields.len() as u32;
                    s.index.entry(field.name).or_insert(next);
                    s.fields.push(field);
                }
            }
        }
        self.fields_known = true;
        for id in (0..self.env.structs.len() as u32).map(StructId) {
            let fields: Vec<TypeId> = self.env.structure(id).fields.iter().map(|f| f.ty).collect();
            if fields.into_iter().any(|f| self.contains_opaque(f)) {
                self.env.types.opaque_structs.insert(id);
            }
        }
        for (array, span) in std::mem::take(&mut self.arrays) {
            v_element_opaque(self, array, span);
        }
    }

    /// The type that is written, if it is right. Each error is reported once.
    pub fn resolve(&mut self, written: core::TypeExprId, place: Place) -> Option<TypeId> {
        let span = self.core.ty_span(written);
        let ty = match self.resolved[written.0 as usize] {
            Some(known) => known,
            None => {
                let ty = deep(|| self.resolve_new(written));
                self.resolved[written.0 as usize] = Some(ty);
                ty
            }
        };
        ty.filter(|&ty| v_void(self, ty, place, span))
    }

    fn resolve_new(&mut self, written: core::TypeExprId) -> Option<TypeId> {
        let core = self.core;
        let expr = core.ty(written);
        let span = core.ty_span(written);
        let mut ty = v_type_defined(self, expr, span)?;
        for suffix in &expr.suffixes {
            v_void_composite(self, ty, span).then_some(())?;
            ty = match suffix {
                TypeSuffix::Pointer(space) => self.env.types.intern(Type::Pointer(*space, ty)),
                TypeSuffix::ArrayReference(space) => self.env.types.intern(Type::ArrayReference(*space, ty)),
                TypeSuffix::Array(n) => {
                    let size = v_array_size(self, n, span)?;
                    v_element_reference(self, ty, span).then_some(())?;
                    let array = self.env.types.intern(Type::Array(ty, size));
                    if self.fields_known {
                        v_element_opaque(self, array, span)
                    } else {
                        self.arrays.push((array, span))
                    }
                    array
                }
            };
        }
        Some(ty)
    }

    /// The first type within `ty` that the elements of a resource may not contain. They may contain
    /// scalars, atomics, vectors, matrices and structures of them. `None` if all is allowed.
    pub fn forbidden_element(&mut self, ty: TypeId) -> Option<TypeId> {
        if let Some(&known) = self.forbidden_elements.get(&ty) {
            return known;
        }
        let forbidden = match self.env.types.get(ty) {
            Type::Scalar(_) | Type::Atomic(_) | Type::Vector(..) | Type::Matrix(..) => None,
            Type::Struct(id) => {
                let fields: Vec<TypeId> = self.env.structure(id).fields.iter().map(|f| f.ty).collect();
                fields.into_iter().find_map(|f| deep(|| self.forbidden_element(f)))
            }
            _ => Some(ty),
        };
        self.forbidden_elements.insert(ty, forbidden);
        forbidden
    }

    /// Whether the type is a sampler or a texture, or contains one.
    pub fn contains_opaque(&mut self, ty: TypeId) -> bool {
        if let Some(&known) = self.opaque.get(&ty) {
            return known;
        }
        let found = match self.env.types.get(ty) {
            Type::Sampler | Type::Texture(..) => true,
            Type::Array(of, _) => deep(|| self.contains_opaque(of)),
            Type::Struct(id) => {
                // Structures of a cycle are not in the environment. Even so, a structure counts as
                // free of samplers and textures while its fields are examined, so that the
                // recursion ends.
                self.opaque.insert(ty, false);
                let fields: Vec<TypeId> = self.env.structure(id).fields.iter().map(|f| f.ty).collect();
                fields.into_iter().any(|f| deep(|| self.contains_opaque(f)))
            }
            _ => false,
        };
        self.opaque.insert(ty, found);
        found
    }
}

/// every type name is defined, and has the arguments that its type takes
///                                                       [wsl/v-type-defined, 004 Validating types]
pub fn v_type_defined(b: &mut Builder, expr: &core::TypeExpr, span: Span) -> Option<TypeId> {
    let name = expr.name;
    let definition = b.env.type_names.get(&name.name).copied();
    let found = match definition {
        // A wrong definition has been reported where it is written.
        Some(TypeDefinition::Wrong) => return None,
        Some(_) if expr.arguments.as_ref().is_some_and(|a| !a.is_empty()) => {
            Err(format!("the type `{}` takes no arguments", b.env.names.name(name.name)))
        }
        Some(TypeDefinition::Struct(id)) => Ok(b.env.types.intern(Type::Struct(id))),
        Some(TypeDefinition::Enum(id)) => Ok(b.env.types.intern(Type::Enum(id))),
        Some(TypeDefinition::Typedef(i)) => Ok(v_typedef_resolved(b, i)?),
        None => built_in(b, expr)?,
    };
    b.require(Rule::WslVTypeDefined, found.is_ok(), |_| {
        let message = found.as_ref().err().cloned().unwrap_or_default();
        Error::new(Rule::WslVTypeDefined, span, message)
    });
    found.ok()
}

/// A type of the standard library, or a message that says why it is none. `None` if one of its
/// arguments is wrong, which has been reported.
fn built_in(b: &mut Builder, expr: &core::TypeExpr) -> Option<Result<TypeId, String>> {
    let text = b.env.names.name(expr.name.name).to_string();
    let mut values = Vec::new();
    for argument in expr.arguments.iter().flatten() {
        values.push(match argument {
            TypeArgument::Type(ty) => TypeArgumentValue::Type(b.resolve(*ty, Place::Argument)?),
            TypeArgument::Constant(e) => match b.core.expr(*e) {
                core::Expr::Literal(Literal::Int(n)) => n.value().map_or(TypeArgumentValue::Other, TypeArgumentValue::Integer),
                _ => TypeArgumentValue::Other,
            },
        });
    }
    let arguments = expr.arguments.as_ref().filter(|a| !a.is_empty()).map(|_| values.as_slice());
    let found = library::type_named(&mut b.env.types, &text, arguments);
    if let Ok(id) = found {
        library::types::rules(&b.env.types, id, arguments.is_some()).for_each(|rule| b.fired.note(rule));
    }
    Some(found.map_err(|e| match e {
        TypeNameError::Unknown => format!("there is no type `{text}`"),
        TypeNameError::Arguments(_, message) => message,
    }))
}

/// a typedef is its definition wherever it is mentioned
///                                                 [wsl/v-typedef-resolved, 004 Resolving typedefs]
pub fn v_typedef_resolved(b: &mut Builder, typedef: u32) -> Option<TypeId> {
    b.fired.note(Rule::WslVTypedefResolved);
    b.env.typedefs[typedef as usize].ty
}

/// void is only what a function returns: not the type of a variable, field or parameter, nor a
/// typedef's definition                                                 [wsl/v-void, 004 Void type]
pub fn v_void(b: &mut Builder, ty: TypeId, place: Place, span: Span) -> bool {
    b.require(Rule::WslVVoid, ty != TypeId::VOID || place == Place::Result, |_| {
        Error::new(Rule::WslVVoid, span, format!("{} is void; the rule needs a type that has values", place.name()))
    })
}

/// no pointer, array reference or array is made of void       [wsl/v-void-composite, 004 Void type]
pub fn v_void_composite(b: &mut Builder, ty: TypeId, span: Span) -> bool {
    b.require(Rule::WslVVoidComposite, ty != TypeId::VOID, |_| {
        Error::new(
            Rule::WslVVoidComposite,
            span,
            "this is a pointer, array reference or array of void; the rule needs a type that has values",
        )
    })
}

/// no field of a structure is a pointer or an array reference
///               [wsl/v-field-reference, 004 No pointers or array references in structs and arrays]
pub fn v_field_reference(b: &mut Builder, ty: TypeId, span: Span) -> bool {
    let reference = b.env.types.is_reference(ty);
    b.require(Rule::WslVFieldReference, !reference, |env| {
        Error::new(
            Rule::WslVFieldReference,
            span,
            format!("this field has the type {}; a field may be no pointer and no array reference", env.type_name(ty)),
        )
    })
}

/// no element of an array is a pointer or an array reference
///             [wsl/v-element-reference, 004 No pointers or array references in structs and arrays]
pub fn v_element_reference(b: &mut Builder, ty: TypeId, span: Span) -> bool {
    let reference = b.env.types.is_reference(ty);
    b.require(Rule::WslVElementReference, !reference, |env| {
        let name = env.type_name(ty);
        Error::new(
            Rule::WslVElementReference,
            span,
            format!("this array's elements have the type {name}; an element may be no pointer and no array reference"),
        )
    })
}

/// the size of an array is a positive integer that fits in 32 bits
///                                                      [wsl/v-array-size, 004 Typing of functions]
pub fn v_array_size(b: &mut Builder, n: &IntLiteral, span: Span) -> Option<u32> {
    let size = n.as_uint().filter(|&n| n > 0);
    b.require(Rule::WslVArraySize, size.is_some(), |_| {
        let found = n.value().map_or("more than 64 bits".to_string(), |v| v.to_string());
        Error::new(
            Rule::WslVArraySize,
            span,
            format!("the size of this array is {found}; the rule needs a positive integer that fits in 32 bits"),
        )
    });
    size
}

/// no array contains a sampler or a texture          [wsl/v-element-opaque, 004 Samplers, Textures]
pub fn v_element_opaque(b: &mut Builder, array: TypeId, span: Span) {
    let opaque = b.contains_opaque(array);
    b.require(Rule::WslVElementOpaque, !opaque, |env| {
        Error::new(Rule::WslVElementOpaque, span, format!("{} contains a sampler or a texture; an array may not", env.type_name(array)))
    });
}
