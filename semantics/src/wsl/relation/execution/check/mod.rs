//! The check that terms being executed are well typed. Every step preserves that.
//!
//! An expression has the type that its context needs, by the rules that typed the program (seed 004
//! "Typing expressions"). So has a statement ("Typing statements"). Terms that only execution makes
//! have rules of their own:
//!
//! | term | rule |
//! |---|---|
//! | value | as many words as its type's size; of an enum, an element |
//! | left-value | an object of its address space holds a value of its type there |
//! | block | only one being executed has an environment, which extends the outer one |
//! | `Cases`, `Loop` | the parts are those that the rules make from the source statement |
//! | `Call` | a `return` has its type; names are the function's own |
//!
//! A word of a value is an address only if the type is a pointer or an array reference, or a
//! texture or sampler. The first two point into an object of their address space. The address of a
//! texture or sampler is an object that stands for one.
//!
//! Unopened source terms are typed already, so the check takes time only for the opened part of the
//! term. Of an unspecified address or length, only the definite part must be within bounds. The
//! elements of enums in a structure or array are not checked, because a load makes them valid
//! (ERRATA WSL-D11).
//!
//! Pointer and array reference types that the source never spells have no id. Terms of such a type
//! carry the id of the pointee type. This check compares the types themselves. It accepts the
//! pointee's id for such a type only if the type has no id of its own.

mod statement;

use super::term::{Expr, Form};
use super::{Shared, Thread};
use crate::text::{Symbol, deep};
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::library::LibraryFunction;
use crate::wsl::memory::{Address, Memory};
use crate::wsl::open::Word;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{Scalar, StructId, Type, TypeId, Types, ValueType};
use crate::wsl::typing::program::{Access, Coercion, ExprId, Program, StoreId};
use smallvec::{SmallVec, smallvec};

/// A place of a thread's program that is not well typed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IllTyped {
    /// Its offset in the program's text in bytes. `None` if it corresponds to no text.
    pub at: Option<u32>,
    /// What was found, and what is required.
    pub why: String,
}

impl std::fmt::Display for IllTyped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.at {
            Some(at) => write!(f, "at {at}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for IllTyped {}

/// The result of a check.
type Check<T = ()> = Result<T, IllTyped>;

/// Checks that a thread's program is well typed, against the objects that its addresses are in.
///
/// # Errors
/// The first place that is not well typed, with what was found and what is required.
pub fn well_typed(shared: &Shared, memory: &Memory, thread: &Thread) -> Check {
    let checker = Checker { shared, memory, program: shared.program };
    match checker.kind(&thread.program, &[])? {
        Kind::Right(_) => Ok(()),
        _ => checker.wrong(thread.program.at, "a thread ends with a value, not with an address"),
    }
}

/// The kind of value of an expression. The type of a right-value need not have an id.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Left(TypeId, AddressSpace),
    Abstract(TypeId),
    Right(Type),
}

/// An argument: an expression, or just the type of one.
#[derive(Clone, Copy)]
enum Argument<'e> {
    Expr(&'e Expr),
    Of(Type),
}

/// An environment, the innermost binding last.
type Bound = [(Symbol, StoreId)];

struct Checker<'a, 'p> {
    shared: &'a Shared<'p>,
    memory: &'a Memory,
    program: &'p Program,
}

const UINT: Type = Type::Scalar(Scalar::Uint);
const BOOL: Type = Type::Scalar(Scalar::Bool);

impl Checker<'_, '_> {
    fn wrong<T>(&self, at: ExprId, why: impl std::fmt::Display) -> Check<T> {
        let at = self.program.exprs.get(at.0 as usize).map(|e| e.span.start);
        Err(IllTyped { at, why: why.to_string() })
    }

    fn types(&self) -> &Types {
        &self.program.env.types
    }

    fn ty(&self, id: TypeId) -> Type {
        self.types().get(id)
    }

    fn show(&self, ty: Type) -> String {
        let name = |id: TypeId| self.program.env.type_name(id);
        match (self.types().find(ty), ty) {
            (Some(id), _) => name(id),
            (None, Type::Pointer(space, to)) => format!("{}* {}", name(to), space.keyword()),
            (None, Type::ArrayReference(space, of)) => format!("{}[] {}", name(of), space.keyword()),
            (None, _) => format!("{ty:?}"),
        }
    }

    /// Whether the id that a term carries is that of the type, or stands for it.
    fn carries(&self, id: TypeId, ty: Type) -> bool {
        match ty {
            Type::Pointer(_, to) | Type::ArrayReference(_, to) => self.ty(id) == ty || id == to && self.types().find(ty).is_none(),
            _ => self.ty(id) == ty,
        }
    }

    /// The size of a value of the type, in words.
    fn size(&self, at: ExprId, ty: Type) -> Check<u32> {
        match ty {
            Type::Pointer(..) => Ok(2),
            Type::ArrayReference(..) => Ok(4),
            _ => match self.types().find(ty).and_then(|id| self.shared.words(id).ok()) {
                Some(words) => Ok(words),
                None => self.wrong(at, format!("{} has no size", self.show(ty))),
            },
        }
    }

    /// The address space of an address. Fails unless the object holds `count` values of the
    /// type there.
    fn space_of(&self, at: ExprId, address: Address, ty: TypeId, count: u32) -> Check<AddressSpace> {
        let Some(object) = self.memory.objects.get(address.object.0 as usize) else { return self.wrong(at, "an address is in no object") };
        let words = u64::from(self.size(at, self.ty(ty))?) * u64::from(count);
        let end = u64::from(address.bytes / 4) + words;
        if !address.bytes.is_multiple_of(4) || end > object.words.len() as u64 {
            let (name, found, bytes) = (self.show(self.ty(ty)), address.bytes, object.words.len() * 4);
            return self.wrong(at, format!("{count} of type {name} at byte {found} of \"{}\", which has {bytes} bytes", object.name));
        }
        Ok(object.space)
    }

    /// Checks that words are a value of the type.
    fn value(&self, at: ExprId, words: &[Word], ty: Type) -> Check {
        let size = self.size(at, ty)?;
        if words.len() != size as usize {
            return self.wrong(at, format!("the type {} has {size} words; the value has {}", self.show(ty), words.len()));
        }
        let (space, to, count) = match ty {
            Type::Pointer(space, to) => (space, to, 1),
            // An unspecified length counts as 0.
            Type::ArrayReference(space, of) => (space, of, words[1].definite().unwrap_or(0)),
            Type::Enum(id) => {
                let elements = &self.program.env.enumeration(id).elements;
                return match words[0].definite() {
                    Some(bits) if elements.iter().all(|e| e.1 != bits) => {
                        self.wrong(at, format!("{bits} is no element of {}", self.show(ty)))
                    }
                    _ => self.no_address(at, words, ty),
                };
            }
            Type::Texture(..) | Type::Sampler => return self.opaque(at, words, ty),
            Type::Struct(id) => return self.fields(at, words, id),
            _ => return self.no_address(at, words, ty),
        };
        let Word::Address(address) = words[0] else {
            return self.wrong(at, format!("a value of type {} without an address", self.show(ty)));
        };
        self.no_address(at, &words[1..], ty)?;
        let found = self.space_of(at, address, to, count)?;
        if found != space {
            return self.wrong(at, format!("a value of type {} is to {} memory", self.show(ty), found.keyword()));
        }
        Ok(())
    }

    /// Checks that words are a texture or a sampler: the address of an object that stands for one.
    fn opaque(&self, at: ExprId, words: &[Word], ty: Type) -> Check {
        let opaques = &self.memory.opaques;
        let named = match (words[0], ty) {
            (Word::Address(Address { object, bytes: 0, open: None }), Type::Texture(kind, _)) => {
                opaques.texture(object).is_some_and(|texture| texture.kind == kind)
            }
            (Word::Address(Address { object, bytes: 0, open: None }), _) => opaques.sampler(object).is_some(),
            _ => false,
        };
        match named {
            true => self.no_address(at, &words[1..], ty),
            false => self.wrong(at, format!("a value of type {} is none", self.show(ty))),
        }
    }

    /// Checks the fields of a structure. Only its textures and samplers are addresses.
    fn fields(&self, at: ExprId, words: &[Word], id: StructId) -> Check {
        for (i, field) in self.program.env.structure(id).fields.iter().enumerate() {
            let (ty, from) = (self.ty(field.ty), self.shared.field(id, i as u32) as usize / 4);
            let size = self.size(at, ty)? as usize;
            let Some(part) = words.get(from..from + size) else { return self.wrong(at, "a field is out of its structure") };
            match ty {
                Type::Texture(..) | Type::Sampler => self.opaque(at, part, ty)?,
                Type::Struct(id) => deep(|| self.fields(at, part, id))?,
                _ => self.no_address(at, part, ty)?,
            }
        }
        Ok(())
    }

    fn no_address(&self, at: ExprId, words: &[Word], ty: Type) -> Check {
        match words.iter().any(|w| matches!(w, Word::Address(_))) {
            true => self.wrong(at, format!("an address stands in a value of type {}", self.show(ty))),
            false => Ok(()),
        }
    }

    fn same(&self, at: ExprId, what: &str, found: Type, needed: Type) -> Check {
        match found == needed {
            true => Ok(()),
            false => self.wrong(at, format!("{what} has the type {}; {} is needed", self.show(found), self.show(needed))),
        }
    }

    /// Checks that an expression is a right-value of that type.
    fn right_of(&self, e: &Expr, needed: Type, what: &str, env: &Bound) -> Check {
        match &e.form {
            Form::Value(words) if self.carries(e.ty, needed) => self.value(e.at, words, needed),
            _ => self.right(e, what, env).and_then(|found| self.same(e.at, what, found, needed)),
        }
    }

    /// The type of an expression that has to be a right-value.
    fn right(&self, e: &Expr, what: &str, env: &Bound) -> Check<Type> {
        match self.kind(e, env)? {
            Kind::Right(ty) => Ok(ty),
            _ => self.wrong(e.at, format!("{what} is an address; a value is needed")),
        }
    }

    fn left(&self, e: &Expr, what: &str, env: &Bound) -> Check<(TypeId, AddressSpace)> {
        match self.kind(e, env)? {
            Kind::Left(ty, space) => Ok((ty, space)),
            _ => self.wrong(e.at, format!("{what} is no left-value")),
        }
    }

    /// The type of the target of an assignment.
    fn target(&self, e: &Expr, env: &Bound) -> Check<TypeId> {
        match self.kind(e, env)? {
            Kind::Left(ty, space) if space != AddressSpace::Constant => Ok(ty),
            Kind::Abstract(ty) => Ok(ty),
            _ => self.wrong(e.at, "what is assigned to is no abstract left-value"),
        }
    }

    /// The address space that an operand points to. The context gives the pointee type `to`. If the
    /// operand is a value that carries the id of `to`, its address gives the space.
    fn reference(&self, e: &Expr, to: TypeId, make: fn(AddressSpace, TypeId) -> Type, env: &Bound) -> Check<AddressSpace> {
        if let (Form::Value(words), true) = (&e.form, e.ty == to)
            && let Some(&Word::Address(address)) = words.first()
        {
            let space = self.space_of(e.at, address, to, 0)?;
            return self.right_of(e, make(space, to), "the operand", env).map(|()| space);
        }
        let found = self.right(e, "the operand", env)?;
        match AddressSpace::ALL.into_iter().find(|&space| make(space, to) == found) {
            Some(space) => Ok(space),
            None => {
                let (found, to) = (self.show(found), self.show(self.ty(to)));
                self.wrong(e.at, format!("the operand has the type {found}; one that is to {to} is needed"))
            }
        }
    }

    /// The kind of value of an expression. Fails if the expression carries another type.
    fn kind(&self, e: &Expr, env: &Bound) -> Check<Kind> {
        let kind = deep(|| self.kind_of(e, env))?;
        let carried = match kind {
            Kind::Left(ty, _) | Kind::Abstract(ty) => e.ty == ty,
            Kind::Right(ty) => self.carries(e.ty, ty),
        };
        if !carried {
            let found = match kind {
                Kind::Left(ty, _) | Kind::Abstract(ty) => self.ty(ty),
                Kind::Right(ty) => ty,
            };
            let carried = self.show(self.ty(e.ty));
            return self.wrong(e.at, format!("it carries the type {carried}; from its parts follows {}", self.show(found)));
        }
        Ok(kind)
    }

    fn kind_of(&self, e: &Expr, env: &Bound) -> Check<Kind> {
        use Kind::{Abstract, Left, Right};
        let right = |ty: TypeId| Ok(Right(self.ty(ty)));
        match &e.form {
            Form::Source(id) => match self.program.exprs.get(id.0 as usize).map(|e| e.ty) {
                Some(ValueType::Left(ty, space)) => Ok(Left(ty, space)),
                Some(ValueType::Abstract(ty)) => Ok(Abstract(ty)),
                Some(ValueType::Right(ty)) => right(ty),
                None => self.wrong(e.at, "it is no expression of the source"),
            },
            Form::Value(words) => {
                self.value(e.at, words, self.ty(e.ty))?;
                right(e.ty)
            }
            Form::Left(address) => Ok(Left(e.ty, self.space_of(e.at, *address, e.ty, 1)?)),
            Form::Variable(store) => {
                if !env.iter().any(|(_, bound)| bound == store) {
                    return self.wrong(e.at, "a variable is not bound");
                }
                let store = self.program.store(*store);
                Ok(Left(store.ty, store.space))
            }
            Form::Coerce(Coercion::LeftToRight, inner) => right(self.left(inner, "what is loaded from", env)?.0),
            Form::Coerce(Coercion::LeftToAbstract, inner) => match self.left(inner, "what is assigned to", env)? {
                (_, AddressSpace::Constant) => self.wrong(e.at, "constant memory is assigned to"),
                (ty, _) => Ok(Abstract(ty)),
            },
            Form::Coerce(Coercion::AbstractToRight, inner) => match self.kind(inner, env)? {
                Abstract(ty) => right(ty),
                _ => self.wrong(e.at, "what a getter gives is of no abstract left-value"),
            },
            Form::Parens(inner) => self.kind(inner, env),
            Form::Comma(parts) => {
                self.right(&parts[0], "the first operand", env)?;
                Ok(Right(self.right(&parts[1], "the second operand", env)?))
            }
            Form::Or(parts) | Form::And(parts) => {
                self.right_of(&parts[0], BOOL, "the left operand", env)?;
                self.right_of(&parts[1], BOOL, "the right operand", env)?;
                Ok(Right(BOOL))
            }
            Form::Ternary(parts) => {
                self.right_of(&parts[0], BOOL, "the condition", env)?;
                let ty = self.right(&parts[1], "the second operand", env)?;
                self.right_of(&parts[2], ty, "the third operand", env)?;
                Ok(Right(ty))
            }
            Form::Assign(parts) => {
                let ty = self.target(&parts[0], env)?;
                self.right_of(&parts[1], self.ty(ty), "the right side", env)?;
                right(ty)
            }
            Form::AddressOf(inner) => {
                let (ty, space) = self.left(inner, "what an address is taken of", env)?;
                Ok(Right(Type::Pointer(space, ty)))
            }
            Form::Dereference(inner) => Ok(Left(e.ty, self.reference(inner, e.ty, Type::Pointer, env)?)),
            Form::MakeReference(inner, n) => {
                let (ty, space) = self.left(inner, "what a reference is made to", env)?;
                let (of, known) = match self.ty(ty) {
                    Type::Array(of, n) => (of, n),
                    _ => (ty, 1),
                };
                if known != *n {
                    return self.wrong(e.at, format!("a reference is made to {n} elements; there are {known}"));
                }
                Ok(Right(Type::ArrayReference(space, of)))
            }
            Form::Dot(whole, access) => self.access(e, whole, None, *access, env),
            Form::Index(parts, access) => {
                self.right_of(&parts[1], UINT, "the index", env)?;
                self.access(e, &parts[0], Some(UINT), *access, env)
            }
            Form::Element(parts) => {
                self.right_of(&parts[1], UINT, "the index", env)?;
                Ok(Left(e.ty, self.reference(&parts[0], e.ty, Type::ArrayReference, env)?))
            }
            Form::ArrayLength(inner, n) => {
                let ty = match self.kind(inner, env)? {
                    Left(ty, _) | Abstract(ty) => self.ty(ty),
                    Right(ty) => ty,
                };
                match ty {
                    Type::Array(_, found) if found == *n => Ok(Right(UINT)),
                    _ => self.wrong(e.at, format!("the type {} has no {n} elements", self.show(ty))),
                }
            }
            Form::ReferenceLength(inner) => match self.right(inner, "the operand", env)? {
                Type::ArrayReference(..) => Ok(Right(UINT)),
                ty => self.wrong(e.at, format!("the type {} has no length", self.show(ty))),
            },
            Form::Step(target, callee, store) => {
                let ty = self.target(target, env)?;
                if store.is_some_and(|s| self.program.store(s).ty != ty) {
                    return self.wrong(e.at, "the old value is kept in a store of another type");
                }
                let result = self.call(e.at, *callee, &[Argument::Of(self.ty(ty))], env)?;
                self.same(e.at, "what the operator gives", result, self.ty(ty))?;
                right(ty)
            }
            Form::CompoundAssign(callee, parts) => {
                let ty = self.target(&parts[0], env)?;
                let result = self.call(e.at, *callee, &[Argument::Of(self.ty(ty)), Argument::Expr(&parts[1])], env)?;
                self.same(e.at, "what the operator gives", result, self.ty(ty))?;
                right(ty)
            }
            Form::Call(callee, arguments) => {
                let arguments: SmallVec<[Argument; 4]> = arguments.iter().map(Argument::Expr).collect();
                Ok(Right(self.call(e.at, *callee, &arguments, env)?))
            }
            Form::Construct(s) => {
                self.construct(e, s)?;
                right(e.ty)
            }
        }
    }

    /// `e.f` or `e[i]` by an accessor.
    fn access(&self, e: &Expr, whole: &Expr, index: Option<Type>, access: Access, env: &Bound) -> Check<Kind> {
        let arguments = |first: Type, last: Option<Type>| -> SmallVec<[Argument; 4]> {
            std::iter::once(first).chain(index).chain(last).map(Argument::Of).collect()
        };
        match access {
            Access::AddressTaker(taker) => {
                let (ty, space) = self.left(whole, "what is accessed by an address-taker", env)?;
                match self.call(e.at, taker, &arguments(Type::Pointer(space, ty), None), env)? {
                    Type::Pointer(space, part) => Ok(Kind::Left(part, space)),
                    ty => self.wrong(e.at, format!("an address-taker gives the type {}", self.show(ty))),
                }
            }
            Access::Setter(setter, getter) => {
                let ty = self.ty(self.target(whole, env)?);
                let part = self.call(e.at, getter, &arguments(ty, None), env)?;
                let set = self.call(e.at, setter, &arguments(ty, Some(part)), env)?;
                self.same(e.at, "what the setter gives", set, ty)?;
                self.same(e.at, "what the getter gives", part, self.ty(e.ty))?;
                Ok(Kind::Abstract(e.ty))
            }
            Access::Getter(getter) => {
                let ty = self.right(whole, "what is accessed by a getter", env)?;
                Ok(Kind::Right(self.call(e.at, getter, &arguments(ty, None), env)?))
            }
        }
    }

    /// The result type of a function. The arguments must have the types of its parameters.
    fn call(&self, at: ExprId, callee: Callee, arguments: &[Argument], env: &Bound) -> Check<Type> {
        let (parameters, result) = match callee {
            Callee::Declared(id) => {
                let f = self.program.env.function(id);
                (f.parameters.iter().map(|p| self.ty(p.ty)).collect(), self.ty(f.result))
            }
            Callee::Generated(generated) => match self.generated(generated) {
                Some(signature) => signature,
                None => return self.wrong(at, "no such function is generated"),
            },
            Callee::Library(function) => match self.types_of_library(function, arguments) {
                Some(signature) => signature,
                None => return self.wrong(at, format!("the library's {:?} does not take these arguments", function.meaning())),
            },
        };
        if parameters.len() != arguments.len() {
            return self.wrong(at, format!("{} arguments of {} parameters", arguments.len(), parameters.len()));
        }
        for (argument, &needed) in arguments.iter().zip(&parameters) {
            match *argument {
                Argument::Expr(e) => self.right_of(e, needed, "an argument", env)?,
                Argument::Of(found) => self.same(at, "an argument", found, needed)?,
            }
        }
        Ok(result)
    }

    /// The types of a generated function's parameters and of its result:
    /// seed 004 "Generated functions".
    fn generated(&self, generated: Generated) -> Option<(SmallVec<[Type; 4]>, Type)> {
        use Generated as G;
        let env = &self.program.env;
        let element = |array: TypeId| match self.ty(array) {
            Type::Array(of, _) => Some(of),
            _ => None,
        };
        let field = |s, f: u32| Some(self.ty(env.structure(s).fields.get(f as usize)?.ty));
        let taker_signature = |f| {
            let function = env.function(f);
            let (Type::Pointer(_, whole), Type::Pointer(_, part)) = (self.ty(function.parameters.first()?.ty), self.ty(function.result))
            else {
                return None;
            };
            let index = function.parameters.get(1).map(|p| self.ty(p.ty));
            Some((std::iter::once(self.ty(whole)).chain(index).collect::<SmallVec<[Type; 4]>>(), self.ty(part)))
        };
        Some(match generated {
            G::FieldAddress(s, f, space) => {
                let whole = self.types().find(Type::Struct(s))?;
                (smallvec![Type::Pointer(space, whole)], Type::Pointer(space, env.structure(s).fields.get(f as usize)?.ty))
            }
            G::FieldGetter(s, f) => (smallvec![Type::Struct(s)], field(s, f)?),
            G::FieldSetter(s, f) => (smallvec![Type::Struct(s), field(s, f)?], Type::Struct(s)),
            G::ElementAddress(array, space) => (smallvec![Type::Pointer(space, array), UINT], Type::Pointer(space, element(array)?)),
            G::ElementGetter(array) => (smallvec![self.ty(array), UINT], self.ty(element(array)?)),
            G::ElementSetter(array) => (smallvec![self.ty(array), UINT, self.ty(element(array)?)], self.ty(array)),
            G::Getter(f) => taker_signature(f)?,
            G::Setter(f) => {
                let (mut parameters, part) = taker_signature(f)?;
                let whole = parameters[0];
                parameters.push(part);
                (parameters, whole)
            }
        })
    }

    /// The types of a library function's parameters and of its result. Pointer parameters take
    /// their pointee types from the arguments.
    fn types_of_library(&self, function: LibraryFunction, arguments: &[Argument]) -> Option<(SmallVec<[Type; 4]>, Type)> {
        let (types, signature) = (self.types(), function.signature());
        let (t, letters) = (function.variable().unwrap_or(TypeId::VOID), function.word().len());
        if signature.parameters.len() != arguments.len() || signature.variable_range.is_some_and(|range| !range.has(types, t)) {
            return None;
        }
        let mut parameters = SmallVec::new();
        for (k, (pattern, argument)) in signature.parameters.iter().zip(arguments).enumerate() {
            let found = match argument {
                Argument::Expr(e) => e.ty,
                Argument::Of(ty) => types.find(*ty)?,
            };
            let space = match self.ty(found) {
                Type::Pointer(space, _) => Some(space),
                _ => None,
            };
            if !pattern.matches(types, t, letters, found) || function.space(k).is_some_and(|needed| space != Some(needed)) {
                return None;
            }
            parameters.push(self.ty(found));
        }
        Some((parameters, self.ty(signature.result.of(types, t, letters)?)))
    }
}
