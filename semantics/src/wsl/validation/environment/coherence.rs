//! Comparison of functions with each other: seed 004 "Checking the coherence of operators
//! and functions".

use super::access::Part;
use super::operators::Role;
use super::{Builder, Environment, FunctionId, Key};
use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::core::FunctionKind;
use crate::wsl::error::Error;
use crate::wsl::library;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{Type, TypeId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

impl Builder<'_> {
    /// Makes all checks of the section.
    pub(super) fn check_coherence(&mut self) {
        let fields: Vec<Symbol> = self.env.accessors.keys().copied().collect();
        for field in fields {
            for id in self.env.accessors[&field].setters.clone() {
                v_setter_getter(self, field, id);
            }
        }
        for id in self.env.indexers.setters.clone() {
            v_index_setter_getter(self, id);
        }
        let mut seen: FxHashMap<(Key, SmallVec<[TypeId; 4]>), FunctionId> = FxHashMap::default();
        for i in 0..self.env.functions.len() {
            let id = FunctionId(i as u32);
            let f = self.env.function(id);
            let first = *seen.entry((f.key, f.types())).or_insert(id);
            v_function_duplicate(self, id, first);
        }
    }
}

fn missing_getter(rule: Rule, env: &Environment, id: FunctionId, getter: &str, value: TypeId, found: Option<TypeId>) -> Error {
    let f = env.function(id);
    let parameter_types: Vec<String> = f.parameters[..f.parameters.len() - 1].iter().map(|p| env.type_name(p.ty)).collect();
    let needed = format!("{} {getter}({})", env.type_name(value), parameter_types.join(", "));
    let message = match found {
        None => format!("`{}` has no getter; the rule needs `{needed}`", env.signature(id)),
        Some(ty) => format!("the getter of `{}` returns {}; the rule needs `{needed}`", env.signature(id), env.type_name(ty)),
    };
    Error::new(rule, f.name.span, message)
}

/// operator.f= of T1, T2 needs operator.f from T1 to T2
///                     [wsl/v-setter-getter, 004 Checking the coherence of operators and functions]
pub fn v_setter_getter(b: &mut Builder, field: Symbol, id: FunctionId) {
    let (of, value) = (b.env.function(id).parameters[0].ty, b.env.function(id).parameters[1].ty);
    let getter = b.env.getter(of, Part::Field(field)).map(|g| g.ty);
    b.require(Rule::WslVSetterGetter, getter == Some(value), |env| {
        let name = format!("operator.{}", env.names.name(field));
        missing_getter(Rule::WslVSetterGetter, env, id, &name, value, getter)
    });
}

/// operator\[\]= of T1, T2, T3 needs operator\[\] from T1, T2 to T3
///               [wsl/v-index-setter-getter, 004 Checking the coherence of operators and functions]
pub fn v_index_setter_getter(b: &mut Builder, id: FunctionId) {
    let types = b.env.function(id).types();
    let name = b.env.names.intern("operator[]");
    let declared = b.env.by_types.get(&(Key::Name(name), types[..2].into())).map(|g| b.env.function(*g).result);
    let getter = match declared {
        Some(ty) => Some(ty),
        None if types[1] == TypeId::UINT => b.env.getter(types[0], Part::Element).map(|g| g.ty),
        None => None,
    };
    b.require(Rule::WslVIndexSetterGetter, getter == Some(types[2]), |env| {
        missing_getter(Rule::WslVIndexSetterGetter, env, id, "operator[]", types[2], getter)
    });
}

/// no two functions have the same name and the same types of parameters, generated ones and the
/// library's included
///                [wsl/v-function-duplicate, 004 Checking the coherence of operators and functions]
///
/// `first` is the first declared function of that name and those types. The functions of the
/// library and the generated functions count as declarations too.
pub fn v_function_duplicate(b: &mut Builder, id: FunctionId, first: FunctionId) {
    let clash = if first != id { Some(Clash::Declared(first)) } else { other_clash(b, id) };
    b.require(Rule::WslVFunctionDuplicate, clash.is_none(), |env| {
        let error = Error::new(
            Rule::WslVFunctionDuplicate,
            env.function(id).name.span,
            format!("there is already a function `{}`; the rule needs another name or other types of parameters", env.signature(id)),
        );
        match clash {
            Some(Clash::Declared(first)) => error.note(Some(env.function(first).name.span), "the first one is declared here"),
            Some(Clash::Generated(span, of)) => error.note(Some(span), format!("{of} is generated for this")),
            Some(Clash::Library(of)) => error.note(None, format!("the standard library declares {of}")),
            None => error,
        }
    });
}

enum Clash {
    Declared(FunctionId),
    Generated(Span, String),
    Library(String),
}

/// The clash of a declared function with a function of the library, or with a generated function.
/// `None` if there is none.
fn other_clash(b: &mut Builder, id: FunctionId) -> Option<Clash> {
    let f = b.env.function(id).clone();
    let types = f.types();
    let text = b.env.names.name(f.name.name).to_string();
    let key = match f.key {
        Key::Cast(ty) => library::Key::Cast(ty),
        Key::Name(_) => library::Key::Name(&text),
    };
    if library::declares(&b.env.types, key, &types) {
        return Some(Clash::Library("it".into()));
    }
    if matches!(f.kind, FunctionKind::Cast) {
        return None;
    }
    let role = Role::of(&text);
    let field = |b: &mut Builder, name: &str| Part::Field(b.env.names.intern(name));
    let (part, generated) = match role {
        Role::Getter(name) => {
            let part = field(b, name);
            (part, b.env.generated_getter(types[0], part))
        }
        Role::Setter(name) => {
            let part = field(b, name);
            (part, b.env.generated_setter(types[0], part).filter(|g| g.ty == types[1]))
        }
        Role::IndexGetter if types[1] == TypeId::UINT => (Part::Element, b.env.generated_getter(types[0], Part::Element)),
        Role::IndexSetter if types[1] == TypeId::UINT => {
            (Part::Element, b.env.generated_setter(types[0], Part::Element).filter(|g| g.ty == types[2]))
        }
        Role::AddressTaker(name) => {
            let part = field(b, name);
            return address_taker_clash(b, &f, part, name);
        }
        Role::IndexAddressTaker if types[1] == TypeId::UINT => return address_taker_clash(b, &f, Part::Element, "[]"),
        _ => return None,
    };
    generated?;
    let from = b.env.declared_address_taker(types[0], AddressSpace::Thread, part).map(|(id, _)| b.name_span(id));
    let span = from.or_else(|| field_span(b, types[0], part))?;
    Some(Clash::Generated(span, "it".into()))
}

/// The clash of an address-taker. A field has the same address-taker, or the accessors that are
/// generated for this address-taker are in the library.
fn address_taker_clash(b: &mut Builder, f: &super::Function, part: Part, name: &str) -> Option<Clash> {
    let Type::Pointer(space, of) = b.env.types.get(f.parameters[0].ty) else { return None };
    if let Some(span) = field_span(b, of, part) {
        return Some(Clash::Generated(span, "it".into()));
    }
    let library = space == AddressSpace::Thread && b.env.built_in_accessor(of, part, false).is_some();
    library.then(|| {
        let dot = if part == Part::Element { "" } else { "." };
        Clash::Library(format!("`operator{dot}{name}` of {}, which is generated for it too", b.env.type_name(of)))
    })
}

/// Where the field is declared, if the type is a structure that has it.
fn field_span(b: &Builder, ty: TypeId, part: Part) -> Option<Span> {
    let (Type::Struct(s), Part::Field(name)) = (b.env.types.get(ty), part) else { return None };
    let s = b.env.structure(s);
    s.index.get(&name).map(|i| s.fields[*i as usize].span)
}
