//! Accessors: declared, generated, and the library's.
//!
//! Generated accessors (seed 004 "Building the global typing environment" 3.4, "Checking the
//! coherence of operators and functions", "Generated functions") are not listed in the
//! environment. They are found from the structure, the array type or the address-taker that they
//! are generated for.

use super::{Accessors, Environment, FunctionId};
use crate::rule::Rule;
use crate::text::Symbol;
use crate::wsl::library::{self, Argument, LibraryFunction};
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{StructId, Type, TypeId};
use smallvec::{SmallVec, smallvec};

/// The function that a call, an operator or an access calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A function that the program declares.
    Declared(FunctionId),
    /// A function of the library.
    Library(LibraryFunction),
    /// A function that the specification generates.
    Generated(Generated),
}

impl Callee {
    /// The rules by which the function exists. Empty if the program declares it.
    pub fn rules(self, env: &Environment) -> SmallVec<[Rule; 2]> {
        use Generated as G;
        match self {
            Callee::Declared(_) => SmallVec::new(),
            Callee::Library(function) => smallvec![function.rule()],
            Callee::Generated(G::FieldAddress(..)) => smallvec![Rule::WslEnvStructAddressTakers],
            Callee::Generated(G::FieldGetter(..) | G::FieldSetter(..)) => smallvec![Rule::WslVGeneratedAccessors],
            Callee::Generated(G::ElementAddress(..)) => smallvec![Rule::WslLibArrayIndex],
            Callee::Generated(G::ElementGetter(_) | G::ElementSetter(_)) => smallvec![Rule::WslLibArrayIndex, Rule::WslVGeneratedIndexers],
            Callee::Generated(G::Getter(id) | G::Setter(id)) => match env.indexers.address_takers.contains(&id) {
                true => smallvec![Rule::WslVGeneratedIndexers],
                false => smallvec![Rule::WslVGeneratedAccessors],
            },
        }
    }
}

/// A function that the specification generates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Generated {
    /// `operator&.f` of a structure's field, in an address space.
    FieldAddress(StructId, u32, AddressSpace),
    /// `operator.f` of a structure's field.
    FieldGetter(StructId, u32),
    /// `operator.f=` of a structure's field.
    FieldSetter(StructId, u32),
    /// `operator&[]` of an array type, in an address space.
    ElementAddress(TypeId, AddressSpace),
    /// `operator[]` of an array type.
    ElementGetter(TypeId),
    /// `operator[]=` of an array type.
    ElementSetter(TypeId),
    /// `operator.f` or `operator[]`, from the declared address-taker.
    Getter(FunctionId),
    /// `operator.f=` or `operator[]=`, from the declared address-taker.
    Setter(FunctionId),
}

/// An accessor that was found, with the type of the accessed part: the type that an address-taker's
/// result points to, that a setter assigns, or that a getter returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The function.
    pub callee: Callee,
    /// The type of the accessed part.
    pub ty: TypeId,
}

impl Found {
    fn generated(generated: Generated, ty: TypeId) -> Found {
        Found { callee: Callee::Generated(generated), ty }
    }
}

/// The part of a value that is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// `.f`
    Field(Symbol),
    /// `[i]` with an index of type `uint`
    Element,
}

impl Environment {
    fn declared(&self, part: Part) -> Option<&Accessors> {
        match part {
            Part::Field(f) => self.accessors.get(&f),
            Part::Element => Some(&self.indexers),
        }
    }

    /// The field of that name, if the type is a structure that has it.
    fn field(&self, ty: TypeId, part: Part) -> Option<(StructId, u32, TypeId)> {
        let (Type::Struct(s), Part::Field(name)) = (self.types.get(ty), part) else { return None };
        let index = *self.structure(s).index.get(&name)?;
        Some((s, index, self.structure(s).fields[index as usize].ty))
    }

    fn element(&self, ty: TypeId, part: Part) -> Option<TypeId> {
        match (self.types.get(ty), part) {
            (Type::Array(of, _), Part::Element) => Some(of),
            _ => None,
        }
    }

    /// The declared address-taker whose parameter points at `ty` in `space`.
    pub fn declared_address_taker(&self, ty: TypeId, space: AddressSpace, part: Part) -> Option<(FunctionId, TypeId)> {
        let pointer = self.types.find(Type::Pointer(space, ty))?;
        let id = *self.declared(part)?.address_taker_of.get(&pointer)?;
        match self.types.get(self.function(id).result) {
            Type::Pointer(_, to) => Some((id, to)),
            _ => None,
        }
    }

    /// `operator&.f` or `operator&[]` from a pointer to `ty` in `space`.
    pub fn address_taker(&self, ty: TypeId, space: AddressSpace, part: Part) -> Option<Found> {
        if let Some((id, to)) = self.declared_address_taker(ty, space, part) {
            return Some(Found { callee: Callee::Declared(id), ty: to });
        }
        env_struct_address_takers(self, ty, space, part)
            .or_else(|| self.element(ty, part).map(|to| Found::generated(Generated::ElementAddress(ty, space), to)))
    }

    /// `operator.f=` or `operator[]=` whose first parameter is of type `ty`.
    pub fn setter(&mut self, ty: TypeId, part: Part) -> Option<Found> {
        if let Some(&id) = self.declared(part).and_then(|d| d.setter_of.get(&ty)) {
            let value = self.function(id).parameters.last().map_or(TypeId::VOID, |p| p.ty);
            return Some(Found { callee: Callee::Declared(id), ty: value });
        }
        self.generated_setter(ty, part).or_else(|| self.built_in_accessor(ty, part, true))
    }

    /// `operator.f` or `operator[]` whose first parameter is of type `ty`.
    pub fn getter(&mut self, ty: TypeId, part: Part) -> Option<Found> {
        if let Some(&id) = self.declared(part).and_then(|d| d.getter_of.get(&ty)) {
            return Some(Found { callee: Callee::Declared(id), ty: self.function(id).result });
        }
        self.generated_getter(ty, part).or_else(|| self.built_in_accessor(ty, part, false))
    }

    /// The generated getter of the part, if there is one.
    pub fn generated_getter(&self, ty: TypeId, part: Part) -> Option<Found> {
        if let Some((s, index, of)) = self.field(ty, part) {
            return Some(Found::generated(Generated::FieldGetter(s, index), of));
        }
        if let Some(of) = self.element(ty, part) {
            return Some(Found::generated(Generated::ElementGetter(ty), of));
        }
        self.generated_from_taker(ty, part, Generated::Getter)
    }

    /// The generated setter of the part, if there is one.
    pub fn generated_setter(&self, ty: TypeId, part: Part) -> Option<Found> {
        if let Some((s, index, of)) = self.field(ty, part) {
            return Some(Found::generated(Generated::FieldSetter(s, index), of));
        }
        if let Some(of) = self.element(ty, part) {
            return Some(Found::generated(Generated::ElementSetter(ty), of));
        }
        self.generated_from_taker(ty, part, Generated::Setter)
    }

    fn generated_from_taker(&self, ty: TypeId, part: Part, generated: fn(FunctionId) -> Generated) -> Option<Found> {
        match part {
            Part::Field(_) => v_generated_accessors(self, ty, part, generated),
            Part::Element => v_generated_indexers(self, ty, part, generated),
        }
    }

    /// The library's accessor of the part. If `set`, the setter that takes the type of the
    /// getter's result.
    pub fn built_in_accessor(&mut self, ty: TypeId, part: Part, set: bool) -> Option<Found> {
        if matches!(self.types.get(ty), Type::Struct(_) | Type::Array(..) | Type::Pointer(..) | Type::ArrayReference(..)) {
            return None;
        }
        let mut arguments = vec![Argument::Typed(ty)];
        let name = match part {
            Part::Field(f) => format!("operator.{}", self.names.name(f)),
            Part::Element => {
                arguments.push(Argument::Typed(TypeId::UINT));
                "operator[]".to_string()
            }
        };
        let mut found = Vec::new();
        library::overloads(&mut self.types, library::Key::Name(&name), &arguments, &mut found);
        let getter = found.pop()?;
        if !set {
            return Some(Found { callee: Callee::Library(getter.function), ty: getter.result });
        }
        arguments.push(Argument::Typed(getter.result));
        library::overloads(&mut self.types, library::Key::Name(&format!("{name}=")), &arguments, &mut found);
        found.pop().map(|setter| Found { callee: Callee::Library(setter.function), ty: getter.result })
    }
}

/// each field f of type T of a structure S has operator&.f from S* to T* in each address space
///         [wsl/env-struct-address-takers, 004 Building the global typing environment 3.4; WSL-B16]
pub fn env_struct_address_takers(env: &Environment, ty: TypeId, space: AddressSpace, part: Part) -> Option<Found> {
    let (s, index, of) = env.field(ty, part)?;
    Some(Found::generated(Generated::FieldAddress(s, index, space), of))
}

/// operator&.f from thread T1* to thread T2* gives operator.f from T1 to T2 and operator.f= from
/// T1, T2 to T1
///      [wsl/v-generated-accessors, 004 Checking the coherence of operators and functions; WSL-C13]
pub fn v_generated_accessors(env: &Environment, ty: TypeId, part: Part, generated: fn(FunctionId) -> Generated) -> Option<Found> {
    let (id, of) = env.declared_address_taker(ty, AddressSpace::Thread, part)?;
    Some(Found::generated(generated(id), of))
}

/// operator&\[\] from thread T1*, uint to thread T2* gives operator\[\] from T1, uint to T2 and
/// operator\[\]= from T1, uint, T2 to T1
///        [wsl/v-generated-indexers, 004 Checking the coherence of operators and functions; WSL-C7]
pub fn v_generated_indexers(env: &Environment, ty: TypeId, part: Part, generated: fn(FunctionId) -> Generated) -> Option<Found> {
    let (id, of) = env.declared_address_taker(ty, AddressSpace::Thread, part)?;
    Some(Found::generated(generated(id), of))
}

impl Environment {
    /// A generated function as its declaration would be written.
    pub fn generated_name(&self, generated: Generated) -> String {
        let field = |s: StructId, i: u32| {
            let (structure, field) = (self.structure(s), &self.structure(s).fields[i as usize]);
            (self.names.name(structure.name), self.names.name(field.name), self.type_name(field.ty))
        };
        let element = |array: TypeId| match self.types.get(array) {
            Type::Array(of, _) => self.type_name(of),
            _ => String::new(),
        };
        match generated {
            Generated::FieldAddress(s, i, space) => {
                let ((s, f, ty), space) = (field(s, i), space.keyword());
                format!("{ty}* {space} operator&.{f}({s}* {space})")
            }
            Generated::FieldGetter(s, i) => {
                let (s, f, ty) = field(s, i);
                format!("{ty} operator.{f}({s})")
            }
            Generated::FieldSetter(s, i) => {
                let (s, f, ty) = field(s, i);
                format!("{s} operator.{f}=({s}, {ty})")
            }
            Generated::ElementAddress(array, space) => {
                let (of, array, space) = (element(array), self.type_name(array), space.keyword());
                format!("{of}* {space} operator&[]({array}* {space}, uint)")
            }
            Generated::ElementGetter(array) => format!("{} operator[]({}, uint)", element(array), self.type_name(array)),
            Generated::ElementSetter(array) => {
                let (of, array) = (element(array), self.type_name(array));
                format!("{array} operator[]=({array}, uint, {of})")
            }
            Generated::Getter(id) => format!("getter of {}", self.signature(id)),
            Generated::Setter(id) => format!("setter of {}", self.signature(id)),
        }
    }
}
