//! Function declarations: step 5 of "Building the global typing environment".

use super::resolve::Place;
use super::{Builder, Field, Function, FunctionId, Key, TypeDefinition};
use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::core::{self, Decl, FunctionKind};
use crate::wsl::error::Error;
use crate::wsl::library;
use crate::wsl::types::{Type, TypeId};

/// The role that a name gives to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role<'a> {
    /// `operator.f`
    Getter(&'a str),
    /// `operator.f=`
    Setter(&'a str),
    /// `operator&.f`
    AddressTaker(&'a str),
    /// `operator[]`
    IndexGetter,
    /// `operator[]=`
    IndexSetter,
    /// `operator&[]`
    IndexAddressTaker,
    /// `operator++`, `operator--`
    Step,
    /// `operator+`, `operator-`
    PlusMinus,
    /// An operator that always has two operands.
    Binary,
    /// `operator~`, `operator!`
    Complement,
    /// Any other name.
    Plain,
}

impl Role<'_> {
    /// The role of a name.
    pub fn of(name: &str) -> Role<'_> {
        let Some(rest) = name.strip_prefix("operator") else { return Role::Plain };
        match rest {
            "[]" => Role::IndexGetter,
            "[]=" => Role::IndexSetter,
            "&[]" => Role::IndexAddressTaker,
            "++" | "--" => Role::Step,
            "+" | "-" => Role::PlusMinus,
            "==" | "!=" | "<" | ">" | "<=" | ">=" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>" => Role::Binary,
            "~" | "!" => Role::Complement,
            _ => {
                if let Some(field) = rest.strip_prefix("&.") {
                    return Role::AddressTaker(field);
                }
                match rest.strip_prefix('.') {
                    Some(field) => field.strip_suffix('=').map_or(Role::Getter(field), Role::Setter),
                    // An identifier that begins with the letters of the keyword.
                    None => Role::Plain,
                }
            }
        }
    }
}

impl Builder<'_> {
    /// Declares every function whose types are right.
    pub(super) fn declare_functions(&mut self) {
        let core = self.core;
        for decl in &core.decls {
            if let Decl::Function(f) = decl {
                self.declare_function(f);
            }
        }
    }

    fn declare_function(&mut self, written: &core::Function) {
        let result = self.resolve(written.result, Place::Result);
        let parameters: Vec<Option<Field>> = written
            .parameters
            .iter()
            .map(|p| {
                let ty = self.resolve(p.ty, Place::Parameter);
                ty.map(|ty| self.slot(p, ty))
            })
            .collect();
        let semantic = self.semantic(written.semantic);
        let parameters: Option<Vec<Field>> = parameters.into_iter().collect();
        let (Some(result), Some(parameters)) = (result, parameters) else {
            self.env.wrong_names.insert(written.name.name);
            return;
        };
        let key = match written.kind {
            FunctionKind::Cast => Key::Cast(result),
            _ => self.key_of(written.name.name),
        };
        let function = Function {
            key,
            name: written.name,
            kind: written.kind,
            parameters,
            result,
            semantic,
            result_span: self.core.ty_span(written.result),
            body: written.body,
            span: written.span,
        };
        let text = self.env.names.name(written.name.name).to_string();
        let role = if matches!(written.kind, FunctionKind::Cast) { Role::Plain } else { Role::of(&text) };
        let right = match role {
            Role::Getter(_) => env_getter(self, &function),
            Role::Setter(_) => env_setter(self, &function),
            Role::AddressTaker(_) => env_address_taker(self, &function),
            Role::IndexGetter => env_index_getter(self, &function),
            Role::IndexSetter => env_index_setter(self, &function),
            Role::IndexAddressTaker => env_index_address_taker(self, &function),
            Role::Step => env_step(self, &function),
            Role::PlusMinus => env_plus_minus(self, &function),
            Role::Binary => env_binary(self, &function),
            Role::Complement => env_complement(self, &function),
            Role::Plain => true,
        };
        if right {
            env_function(self, function, role);
        } else {
            self.env.wrong_names.insert(written.name.name);
        }
    }

    /// The key of a name. If the name is that of a type, the key is the cast to that type.
    pub fn key_of(&mut self, name: Symbol) -> Key {
        let ty = match self.env.type_names.get(&name).copied() {
            Some(TypeDefinition::Struct(id)) => Some(self.env.types.intern(Type::Struct(id))),
            Some(TypeDefinition::Enum(id)) => Some(self.env.types.intern(Type::Enum(id))),
            Some(TypeDefinition::Typedef(i)) => self.env.typedefs[i as usize].ty,
            Some(TypeDefinition::Wrong) => None,
            None => {
                let Builder { env, .. } = self;
                let text = env.names.name(name);
                if library::is_type_name(text) { library::type_named(&mut env.types, text, None).ok() } else { None }
            }
        };
        ty.map_or(Key::Name(name), Key::Cast)
    }

    fn parameters(&mut self, rule: Rule, f: &Function, counts: &[usize], needed: &str) -> bool {
        let found = f.parameters.len();
        self.require(rule, counts.contains(&found), |env| {
            let name = env.names.name(f.name.name);
            let count_text = if found == 1 { "1 parameter".to_string() } else { format!("{found} parameters") };
            Error::new(rule, f.name.span, format!("`{name}` has {count_text}; the rule needs {needed}"))
        })
    }

    /// Requires that the first parameter is no pointer, array reference or array.
    fn plain_first(&mut self, rule: Rule, f: &Function) -> bool {
        let first = &f.parameters[0];
        let plain = !matches!(self.env.types.get(first.ty), Type::Pointer(..) | Type::ArrayReference(..) | Type::Array(..));
        self.require(rule, plain, |env| {
            let (name, ty) = (env.names.name(f.name.name), env.type_name(first.ty));
            Error::new(
                rule,
                first.span,
                format!("the first parameter of `{name}` has the type {ty}; it may be no pointer, array reference or array"),
            )
        })
    }

    /// Requires that the second parameter is `uint` or `int`.
    fn integer_second(&mut self, rule: Rule, f: &Function) -> bool {
        let second = &f.parameters[1];
        self.require(rule, second.ty == TypeId::UINT || second.ty == TypeId::INT, |env| {
            let (name, ty) = (env.names.name(f.name.name), env.type_name(second.ty));
            Error::new(rule, second.span, format!("the second parameter of `{name}` has the type {ty}; the rule needs uint or int"))
        })
    }

    /// Requires that the function returns the type of its first parameter.
    fn returns_first(&mut self, rule: Rule, f: &Function) -> bool {
        self.require(rule, f.result == f.parameters[0].ty, |env| {
            let (name, found, needed) = (env.names.name(f.name.name), env.type_name(f.result), env.type_name(f.parameters[0].ty));
            Error::new(rule, f.result_span, format!("`{name}` returns {found}; the rule needs the type of its first parameter, {needed}"))
        })
    }

    /// Requires that the first parameter and the result are pointers in the same address space.
    /// Returns the type that the parameter points to.
    fn pointers(&mut self, rule: Rule, f: &Function) -> Option<TypeId> {
        let name = |env: &super::Environment| env.names.name(f.name.name).to_string();
        let parameter = match self.env.types.get(f.parameters[0].ty) {
            Type::Pointer(space, ty) => Some((space, ty)),
            _ => None,
        };
        let result = match self.env.types.get(f.result) {
            Type::Pointer(space, _) => Some(space),
            _ => None,
        };
        self.require(rule, result.is_some(), |env| {
            let found = env.type_name(f.result);
            Error::new(rule, f.result_span, format!("`{}` returns {found}; the rule needs a pointer", name(env)))
        });
        self.require(rule, parameter.is_some(), |env| {
            let found = env.type_name(f.parameters[0].ty);
            Error::new(
                rule,
                f.parameters[0].span,
                format!("the first parameter of `{}` has the type {found}; the rule needs a pointer", name(env)),
            )
        });
        let (parameter, result) = (parameter?, result?);
        self.require(rule, parameter.0 == result, |env| {
            let (from, to) = (parameter.0.keyword(), result.keyword());
            Error::new(
                rule,
                f.result_span,
                format!("`{}` takes a pointer to {from} and returns one to {to}; the rule needs the same address space", name(env)),
            )
        })
        .then_some(parameter.1)
    }
}

/// operator.f has one parameter, no pointer, array reference or array
///                                 [wsl/env-getter, 004 Building the global typing environment 5.1]
pub fn env_getter(b: &mut Builder, f: &Function) -> bool {
    let rule = Rule::WslEnvGetter;
    b.parameters(rule, f, &[1], "one") && b.plain_first(rule, f)
}

/// operator.f= has two parameters, the first no pointer, array reference or array, and returns the
/// first's type           [wsl/env-setter, 004 Building the global typing environment 5.2; WSL-C24]
pub fn env_setter(b: &mut Builder, f: &Function) -> bool {
    let rule = Rule::WslEnvSetter;
    b.parameters(rule, f, &[2], "two") && b.plain_first(rule, f) && b.returns_first(rule, f)
}

/// operator&.f has one parameter, a pointer, and returns a pointer in the same address space
///                          [wsl/env-address-taker, 004 Building the global typing environment 5.3]
pub fn env_address_taker(b: &mut Builder, f: &Function) -> bool {
    let rule = Rule::WslEnvAddressTaker;
    b.parameters(rule, f, &[1], "one") && b.pointers(rule, f).is_some()
}

/// operator\[\] has two parameters: no pointer, array reference or array, and uint or int
///                           [wsl/env-index-getter, 004 Building the global typing environment 5.4]
pub fn env_index_getter(b: &mut Builder, f: &Function) -> bool {
    let rule = Rule::WslEnvIndexGetter;
    b.parameters(rule, f, &[2], "two") && b.plain_first(rule, f) && b.integer_second(rule, f)
}

/// operator\[\]= has three parameters: no pointer, array reference or array, uint or int, and a
/// value; it returns the first's type
///                  [wsl/env-index-setter, 004 Building the global typing environment 5.5; WSL-C24]
pub fn env_index_setter(b: &mut Builder, f: &Function) -> bool {
    let rule = Rule::WslEnvIndexSetter;
    b.parameters(rule, f, &[3], "three") && b.plain_first(rule, f) && b.integer_second(rule, f) && b.returns_first(rule, f)
}

/// operator&\[\] has two parameters, a pointer to no pointer, array reference or array, and uint or
/// int, and returns a pointer in the same address space
///                    [wsl/env-index-address-taker, 004 Building the global typing environment 5.6]
pub fn env_index_address_taker(b: &mut Builder, f: &Function) -> bool {
    let rule = Rule::WslEnvIndexAddressTaker;
    if !b.parameters(rule, f, &[2], "two") {
        return false;
    }
    let Some(pointee) = b.pointers(rule, f) else { return false };
    let plain = !matches!(b.env.types.get(pointee), Type::Pointer(..) | Type::ArrayReference(..) | Type::Array(..));
    b.require(rule, plain, |env| {
        let found = env.type_name(pointee);
        Error::new(
            rule,
            f.parameters[0].span,
            format!("`operator&[]` takes a pointer to {found}; it may point at no pointer, array reference or array"),
        )
    }) && b.integer_second(rule, f)
}

/// operator++ and operator-- have one parameter, of the type that they return
///                                   [wsl/env-step, 004 Building the global typing environment 5.7]
pub fn env_step(b: &mut Builder, f: &Function) -> bool {
    let rule = Rule::WslEnvStep;
    b.parameters(rule, f, &[1], "one") && b.returns_first(rule, f)
}

/// operator+ and operator- have one or two parameters
///                             [wsl/env-plus-minus, 004 Building the global typing environment 5.8]
pub fn env_plus_minus(b: &mut Builder, f: &Function) -> bool {
    b.parameters(Rule::WslEnvPlusMinus, f, &[1, 2], "one or two")
}

/// operator==, !=, <, >, <=, >=, *, /, %, &, |, ^, << and >> have two parameters
///                                 [wsl/env-binary, 004 Building the global typing environment 5.9]
pub fn env_binary(b: &mut Builder, f: &Function) -> bool {
    b.parameters(Rule::WslEnvBinary, f, &[2], "two")
}

/// operator~ and operator! have one parameter
///                    [wsl/env-complement, 004 Building the global typing environment 5.10; WSL-A9]
pub fn env_complement(b: &mut Builder, f: &Function) -> bool {
    b.parameters(Rule::WslEnvComplement, f, &[1], "one")
}

/// a function is among the declarations of its name; a cast's name is its type
///                        [wsl/env-function, 004 Building the global typing environment 5.11, 5.12]
pub fn env_function(b: &mut Builder, function: Function, role: Role) {
    b.fired.note(Rule::WslEnvFunction);
    let id = FunctionId(b.env.functions.len() as u32);
    b.env.by_key.entry(function.key).or_default().push(id);
    b.env.by_types.entry((function.key, function.types())).or_insert(id);
    let accessors = match role {
        Role::Getter(field) | Role::Setter(field) | Role::AddressTaker(field) => Some(b.accessors(field)),
        Role::IndexGetter | Role::IndexSetter | Role::IndexAddressTaker => Some(&mut b.env.indexers),
        _ => None,
    };
    if let Some(accessors) = accessors {
        let (list, index) = match role {
            Role::Getter(_) | Role::IndexGetter => (&mut accessors.getters, &mut accessors.getter_of),
            Role::Setter(_) | Role::IndexSetter => (&mut accessors.setters, &mut accessors.setter_of),
            _ => (&mut accessors.address_takers, &mut accessors.address_taker_of),
        };
        list.push(id);
        let indexer = matches!(role, Role::IndexGetter | Role::IndexSetter | Role::IndexAddressTaker);
        if !indexer || function.parameters[1].ty == TypeId::UINT {
            index.entry(function.parameters[0].ty).or_insert(id);
        }
    }
    b.env.functions.push(function);
}

impl Builder<'_> {
    fn accessors(&mut self, field: &str) -> &mut super::Accessors {
        let field = self.env.names.intern(field);
        self.env.accessors.entry(field).or_default()
    }

    /// Where a function's name is written.
    pub fn name_span(&self, id: FunctionId) -> Span {
        self.env.function(id).name.span
    }
}
