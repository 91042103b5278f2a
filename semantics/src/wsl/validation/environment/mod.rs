//! The global environment: seed 004 "Building the global typing environment"
//! and "Other validation steps".
//!
//! Type names are gathered first (`declare`). Then the dependencies between types are followed
//! (`depends`), and every type as written is resolved (`resolve`). Functions are declared
//! (`operators`) and compared with each other (`coherence`). Generated accessors are not declared
//! one by one: `access` finds them. A declaration with an error is left out, and the rest is
//! checked all the same.

pub mod access;
pub mod coherence;
pub mod declare;
pub mod depends;
pub mod operators;
pub mod resolve;

use crate::rule::Rule;
use crate::text::{Span, Symbol, Symbols};
use crate::wsl::core;
use crate::wsl::error::{Error, MAX_ERRORS, MAX_NOTES};
use crate::wsl::library;
use crate::wsl::syntax::{AddressSpace, BuiltinSemantic, FunctionKind, IntLiteral, Qualifier};
use crate::wsl::types::{EnumId, StructId, Type, TypeId, Types};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The number of a function that the program declares: its index in [`Environment::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// The name by which a function is found. A cast is found by its type. A function whose name is the
/// name of a type is found by that type too (WSL-B12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A name or operator name.
    Name(Symbol),
    /// A type.
    Cast(TypeId),
}

/// A structure.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Its name.
    pub name: Symbol,
    /// Where it is declared.
    pub span: Span,
    /// Its fields in order.
    pub fields: Vec<Field>,
    /// The index in `fields` of each name.
    pub index: FxHashMap<Symbol, u32>,
}

/// A field of a structure, a parameter of a function, or a function's result. Each can have
/// a semantic.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: Symbol,
    /// Where it is declared.
    pub span: Span,
    /// Its type. After an error it is [`TypeId::VOID`], which no valid field has.
    pub ty: TypeId,
    /// Its interpolation qualifiers, each once, in the order of [`Qualifier`].
    pub qualifiers: SmallVec<[Qualifier; 2]>,
    /// Its semantic, and where it is written.
    pub semantic: Option<(Semantic, Span)>,
}

/// A semantic, with its numbers resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Semantic {
    /// A built-in without a number.
    Builtin(BuiltinSemantic),
    /// `SV_Target n`
    Target(u32),
    /// `attribute(n)`
    Attribute(u32),
    /// `register(r, space)`
    Register(Symbol, Option<Symbol>),
    /// `specialized`
    Specialized,
    /// A semantic whose number does not fit in 32 bits: an error in an entry point, and ignored
    /// elsewhere (WSL-B13).
    OutOfRange,
}

/// An enum.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name.
    pub name: Symbol,
    /// Where it is declared.
    pub span: Span,
    /// Its base type, `int` or `uint`.
    pub base: TypeId,
    /// Its elements with their values, as bits of the base type.
    pub elements: Vec<(Symbol, u32)>,
    /// The index in `elements` of each name.
    pub index: FxHashMap<Symbol, u32>,
}

/// A function that the program declares.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub key: Key,
    /// Its name as written. For a cast, the symbol `operator`.
    pub name: core::Ident,
    /// What kind of function it is.
    pub kind: FunctionKind,
    /// Its parameters.
    pub parameters: Vec<Field>,
    /// The type of its result.
    pub result: TypeId,
    /// The semantic of its result.
    pub semantic: Option<(Semantic, Span)>,
    /// Where the type of its result is written.
    pub result_span: Span,
    /// Its body.
    pub body: core::StmtId,
    /// Where it is declared.
    pub span: Span,
}

impl Function {
    /// The types of its parameters.
    pub fn types(&self) -> SmallVec<[TypeId; 4]> {
        self.parameters.iter().map(|p| p.ty).collect()
    }
}

/// The definition of a type name that the program declares.
#[derive(Clone, Copy, Debug)]
pub enum TypeDefinition {
    /// A typedef, by its index in [`Environment::typedefs`].
    Typedef(u32),
    /// A structure.
    Struct(StructId),
    /// An enum.
    Enum(EnumId),
    /// A wrong definition, whose error has been reported.
    Wrong,
}

/// A typedef.
#[derive(Clone, Debug)]
pub struct Typedef {
    /// Its name.
    pub name: core::Ident,
    /// Its definition as written.
    pub written: core::TypeExprId,
    /// The type that it stands for. `None` until it is resolved, and if it is wrong.
    pub ty: Option<TypeId>,
}

/// The accessors of one field name that the program declares: `operator.f`, `operator.f=` and
/// `operator&.f`, or `operator[]` and so on.
#[derive(Clone, Debug, Default)]
pub struct Accessors {
    /// `operator.f`
    pub getters: Vec<FunctionId>,
    /// `operator.f=`
    pub setters: Vec<FunctionId>,
    /// `operator&.f`
    pub address_takers: Vec<FunctionId>,
    /// The first getter for each type of the first parameter. For `operator[]`, only getters whose
    /// index is a `uint` count (WSL-C7). The same holds for the two maps below.
    pub getter_of: FxHashMap<TypeId, FunctionId>,
    /// The first setter for each type of the first parameter.
    pub setter_of: FxHashMap<TypeId, FunctionId>,
    /// The first address-taker for each type of the first parameter.
    pub address_taker_of: FxHashMap<TypeId, FunctionId>,
}

/// A bug planted in the validation, to test that it is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planted {
    /// No bug.
    #[default]
    None,
    /// Errors of that rule are not reported.
    Unchecked(Rule),
    /// The rule never holds.
    Refused(Rule),
}

/// Which rules fired.
#[derive(Clone, Debug)]
pub struct Fired {
    /// By rule: whether it fired.
    fired: Vec<bool>,
    /// The rule that is planted never to hold.
    refused: Option<Rule>,
}

impl Default for Fired {
    fn default() -> Fired {
        Fired { fired: vec![false; Rule::ALL.len()], refused: None }
    }
}

impl Fired {
    /// Records that a rule fired.
    pub fn note(&mut self, rule: Rule) {
        self.fired[rule as usize] = true;
    }

    /// The rule that is planted never to hold, if it fired.
    pub fn refusal(&self) -> Option<Rule> {
        self.refused.filter(|r| self.fired[*r as usize])
    }

    /// The rules that fired, in registry order.
    pub fn rules(&self) -> impl Iterator<Item = Rule> + '_ {
        Rule::ALL.iter().copied().filter(|r| self.fired[*r as usize])
    }
}

/// The errors found so far. Their number is limited, and each message is reported once for
/// each place.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    /// The errors, in the order in which they were found.
    pub list: Vec<Error>,
    /// The number of notes of these errors.
    notes: usize,
    /// The places and messages of the errors so far.
    seen: FxHashSet<(Span, String)>,
    /// The rule whose errors are not reported, a planted bug.
    unchecked: Option<Rule>,
}

impl Errors {
    /// Whether the limit is reached, so that no more errors are recorded.
    pub fn full(&self) -> bool {
        self.list.len() >= MAX_ERRORS
    }

    /// Adds an error, unless there are [`MAX_ERRORS`] or the same message has been reported for the
    /// same place. (The condition of a while loop is checked twice.)
    ///
    /// If several notes would raise the number of all notes above [`MAX_NOTES`], one note replaces
    /// them and says how many there were.
    pub fn push(&mut self, mut error: Error) {
        if self.unchecked == Some(error.rule) {
            return;
        }
        if self.list.len() < MAX_ERRORS && self.seen.insert((error.span, error.message.clone())) {
            if self.notes + error.notes.len() > MAX_NOTES && error.notes.len() > 1 {
                let left_out = error.notes.len();
                error.notes = vec![(None, format!("{left_out} notes as those above are left out"))];
            }
            self.notes += error.notes.len();
            self.list.push(error);
        }
    }
}

/// The global environment.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// The identifiers.
    pub names: Symbols,
    /// The types.
    pub types: Types,
    /// The type names that the program declares.
    pub type_names: FxHashMap<Symbol, TypeDefinition>,
    /// The typedefs.
    pub typedefs: Vec<Typedef>,
    /// The structures.
    pub structs: Vec<Struct>,
    /// The enums.
    pub enums: Vec<Enum>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The functions of each key, in the order of their declarations.
    pub by_key: FxHashMap<Key, SmallVec<[FunctionId; 2]>>,
    /// The first function for each key and parameter types.
    pub by_types: FxHashMap<(Key, SmallVec<[TypeId; 4]>), FunctionId>,
    /// The accessors of each field name.
    pub accessors: FxHashMap<Symbol, Accessors>,
    /// `operator[]`, `operator[]=` and `operator&[]`.
    pub indexers: Accessors,
    /// The names of functions with wrong declarations. Errors of their calls are not reported.
    pub wrong_names: FxHashSet<Symbol>,
}

impl Environment {
    /// The function of that number.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The structure of that number.
    pub fn structure(&self, id: StructId) -> &Struct {
        &self.structs[id.0 as usize]
    }

    /// The enum of that number.
    pub fn enumeration(&self, id: EnumId) -> &Enum {
        &self.enums[id.0 as usize]
    }

    /// The type as the program would write it: `int* thread`, `float4`, `Foo[3]`.
    pub fn type_name(&self, id: TypeId) -> String {
        library::type_name(&self.types, id, self)
    }

    /// The name of a function as the program would write it: `foo`, `operator+`, `operator float4`.
    pub fn key_name(&self, key: Key) -> String {
        match key {
            Key::Name(name) => self.names.name(name).to_string(),
            Key::Cast(ty) => format!("operator {}", self.type_name(ty)),
        }
    }

    /// The function's declaration in one line: `int foo(float, int* thread)`.
    pub fn signature(&self, id: FunctionId) -> String {
        let f = self.function(id);
        let parameters: Vec<String> = f.parameters.iter().map(|p| self.type_name(p.ty)).collect();
        let parameters = parameters.join(", ");
        match f.kind {
            FunctionKind::Cast => format!("operator {}({parameters})", self.type_name(f.result)),
            // A function may bear a type's name, and is a cast to that type by its name only
            // (ERRATA WSL-B12).
            _ => format!("{} {}({parameters})", self.type_name(f.result), self.names.name(f.name.name)),
        }
    }
}

impl library::UserNames for Environment {
    fn struct_name(&self, id: StructId) -> &str {
        self.names.name(self.structure(id).name)
    }

    fn enum_name(&self, id: EnumId) -> &str {
        self.names.name(self.enumeration(id).name)
    }
}

/// Builds the environment of a program.
pub struct Builder<'a> {
    /// The program.
    pub core: &'a core::Program,
    /// The environment so far.
    pub env: Environment,
    /// The errors so far.
    pub errors: Errors,
    /// Which rules fired.
    pub fired: Fired,
    /// The types as written that have been resolved. A wrong type is `Some(None)`.
    resolved: Vec<Option<Option<TypeId>>>,
    /// Arrays whose elements may turn out to contain samplers or textures, and where they are
    /// written. They wait until the fields of structures are known.
    arrays: Vec<(TypeId, Span)>,
    /// Whether the fields of all structures are resolved.
    fields_known: bool,
    /// The known results of [`Builder::contains_opaque`].
    opaque: FxHashMap<TypeId, bool>,
    /// The known results of [`Builder::forbidden_element`].
    forbidden_elements: FxHashMap<TypeId, Option<TypeId>>,
}

impl<'a> Builder<'a> {
    /// A builder whose environment contains only the standard library.
    pub fn new(core: &'a core::Program) -> Builder<'a> {
        Builder {
            core,
            env: Environment { names: core.names.clone(), ..Environment::default() },
            errors: Errors::default(),
            fired: Fired::default(),
            resolved: vec![None; core.types.len()],
            arrays: Vec::new(),
            fields_known: false,
            opaque: FxHashMap::default(),
            forbidden_elements: FxHashMap::default(),
        }
    }

    /// Plants a bug in the builder.
    pub fn planted(mut self, planted: Planted) -> Self {
        match planted {
            Planted::None => {}
            Planted::Unchecked(rule) => self.errors.unchecked = Some(rule),
            Planted::Refused(rule) => self.fired.refused = Some(rule),
        }
        self
    }

    /// Takes all steps in order.
    pub fn build(&mut self) {
        self.declare_types();
        self.follow_dependencies();
        self.resolve_structs();
        self.declare_enums();
        self.declare_functions();
        self.check_coherence();
    }

    /// Records that a rule fired if it holds, or else the error. Returns whether to go on as if the
    /// rule holds.
    pub fn require(&mut self, rule: Rule, holds: bool, error: impl FnOnce(&Environment) -> Error) -> bool {
        if holds {
            self.fired.note(rule);
        } else {
            let error = error(&self.env);
            self.errors.push(error);
        }
        // A rule that is planted as unchecked counts as holding.
        holds || self.errors.unchecked == Some(rule)
    }

    /// Resolves the numbers of a semantic as written.
    fn semantic(&self, semantic: Option<core::Semantic>) -> Option<(Semantic, Span)> {
        let semantic = semantic?;
        let numbered = |n: IntLiteral, of: fn(u32) -> Semantic| n.as_uint().map_or(Semantic::OutOfRange, of);
        let kind = match semantic.kind {
            core::SemanticKind::Builtin(b) => Semantic::Builtin(b),
            core::SemanticKind::Specialized => Semantic::Specialized,
            core::SemanticKind::Register(r, space) => Semantic::Register(r.name, space.map(|s| s.name)),
            core::SemanticKind::Target(n) => numbered(n, Semantic::Target),
            core::SemanticKind::Attribute(n) => numbered(n, Semantic::Attribute),
        };
        Some((kind, semantic.span))
    }

    fn slot(&mut self, slot: &core::Slot, ty: TypeId) -> Field {
        let mut qualifiers: SmallVec<[Qualifier; 2]> = slot.qualifiers.iter().map(|(q, _)| *q).collect();
        qualifiers.sort_unstable();
        qualifiers.dedup();
        Field { name: slot.name.name, span: slot.name.span, ty, qualifiers, semantic: self.semantic(slot.semantic) }
    }

    /// The type of pointers to `ty` in `space`.
    pub fn pointer(&mut self, space: AddressSpace, ty: TypeId) -> TypeId {
        self.env.types.intern(Type::Pointer(space, ty))
    }
}
