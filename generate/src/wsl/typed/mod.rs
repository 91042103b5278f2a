//! Well-typed WSL programs by construction, and programs that break one rule: text from a seed.
//!
//! The generator chooses types first and then makes expressions of these types. It uses the rules
//! of seed 004 from conclusion to premises, and never asks the validator. It chooses the flavour of
//! a function before the body: whether it may discard, refer to threadgroup memory, or call a
//! stage's functions. It tracks the behaviours of statements while it writes them. Functions call
//! only functions that were generated before them, whatever the final order of the text. Calls of
//! the library use its table. If a call has integer literals, the generator finds its overload by
//! counting the instances that fit, as the seed defines it.
//!
//! A near miss is such a program with one [`Fault`]. At one place the generator writes something
//! that a rule forbids, and it reports the rule.
//!
//! A program for execution ([`executed`]) is restricted to constructs whose execution can be
//! compared. Each program reports the restrictions that changed it ([`Executed::restricted`]).

mod broken;
mod declarations;
mod effects;
mod entry;
mod expressions;
mod faults;
mod library;
mod places;
mod restricted;
mod statements;
mod text;
mod variables;

pub use faults::Fault;
pub use restricted::{Executed, Purpose, Restriction, VERSION, executed, short, textured};

use smallstep_semantics::random::Random;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{Scalar, StructId, Type, TypeId, Types};
use std::rc::Rc;

/// The text of a well-typed program.
pub fn program(seed: u64) -> String {
    let mut g = Generator::new(seed, None, Purpose::Validation);
    g.declarations();
    g.decls.join("\n")
}

/// A program with this fault, and the rule that it breaks. `None` if the program of this seed has
/// no place for the fault.
pub fn near_miss(seed: u64, fault: Fault) -> Option<(String, Rule)> {
    let mut g = Generator::new(seed, Some(fault), Purpose::Validation);
    g.declarations();
    let rule = g.broken_rule?;
    Some((g.decls.join("\n"), rule))
}

/// A property of functions that restricts the entry points that may reach them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flavour {
    /// Every entry point may reach it.
    Any,
    /// It may discard, and call functions of the fragment stage.
    Fragment,
    /// It may refer to threadgroup memory, and call functions of the compute stage.
    Compute,
}

impl Flavour {
    /// Whether a function of this flavour may call a function of the other flavour.
    fn calls(self, other: Flavour) -> bool {
        other == Flavour::Any || other == self
    }
}

/// A structure.
struct Structure {
    name: String,
    fields: Vec<(Rc<str>, TypeId)>,
}

/// An enum.
struct Enumeration {
    name: String,
    elements: Vec<(String, i64)>,
}

/// The accessors that the program declares for `e.field`, or for `e[i]` if there is no field, on
/// values of type `owner`.
#[derive(Clone)]
struct Accessor {
    owner: TypeId,
    field: Option<Rc<str>>,
    ty: TypeId,
    getter: bool,
    setter: bool,
    /// The address spaces with an address-taker, as bits.
    takers: u8,
    flavour: Flavour,
}

/// A callable function. Its name is an identifier, an operator's sign, or for casts the type.
#[derive(Clone)]
struct Function {
    name: String,
    cast: bool,
    parameters: Vec<TypeId>,
    result: TypeId,
    flavour: Flavour,
    /// Whether its body is written. Functions without a body may not be called yet.
    has_body: bool,
}

/// A variable or parameter.
#[derive(Clone)]
struct Variable {
    name: Rc<str>,
    ty: TypeId,
    space: AddressSpace,
}

/// The variables of a block, or of the parameters around it.
#[derive(Default)]
struct Frame {
    variables: Vec<Variable>,
    /// Declarations that go before the current statement. Only blocks have them.
    pending: Option<Vec<String>>,
}

/// The value category of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Left(AddressSpace),
    Abstract,
    Right,
}

/// The precedence of an expression, as the grammar production that it begins with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    Comma,
    Ternary,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Relational,
    Shift,
    Add,
    Mult,
    Prefix,
    /// A call, or an access to its result. It cannot be followed by `++`.
    Call,
    Suffix,
}

/// An expression.
#[derive(Clone)]
struct Expression {
    text: String,
    level: Level,
    kind: Kind,
    ty: TypeId,
    /// Whether it can be a statement without parentheses: it assigns, steps, calls, or has
    /// parentheses already.
    is_statement: bool,
}

impl Expression {
    fn new(text: impl Into<String>, level: Level, kind: Kind, ty: TypeId) -> Expression {
        Expression { text: text.into(), level, kind, ty, is_statement: false }
    }

    /// An expression with an effect, which can be a statement.
    fn effect(text: impl Into<String>, level: Level, ty: TypeId) -> Expression {
        Expression { is_statement: true, ..Expression::new(text, level, Kind::Right, ty) }
    }

    /// The text for a place that needs at least this level, with parentheses if necessary.
    fn at(&self, level: Level) -> String {
        self.clone().into_text(level)
    }

    /// The text as in [`Expression::at`], without a copy.
    fn into_text(self, level: Level) -> String {
        if self.level >= level { self.text } else { format!("({})", self.text) }
    }
}

struct Generator {
    random: Random,
    types: Types,
    structs: Vec<Structure>,
    enums: Vec<Enumeration>,
    typedefs: Vec<(String, TypeId)>,
    accessors: Vec<Accessor>,
    functions: Vec<Function>,
    decls: Vec<String>,
    /// The names and parameter types of declared functions. No program text may declare them again.
    declared: rustc_hash::FxHashSet<(String, Vec<TypeId>)>,
    /// The number of nodes that the current function may still get before every choice becomes
    /// the smallest.
    fuel: isize,
    next: u32,
    frames: Vec<Frame>,
    /// The number of frames whose variables are visible.
    limit: usize,
    flavour: Flavour,
    result: TypeId,
    fault: Option<Fault>,
    broken_rule: Option<Rule>,
    purpose: Purpose,
    /// Whether the program has about 30 statements.
    short: bool,
    /// Whether each entry point has textures and calls their functions often.
    textured: bool,
    /// Whether several threads run, so that accesses could race.
    has_several_threads: bool,
    /// The element of a buffer that belongs to the current thread alone, as text, and its type.
    own_element: Option<(String, TypeId)>,
    /// Whether the entry point has stored in that element.
    has_stored: bool,
    restricted: std::collections::BTreeSet<Restriction>,
}

impl Generator {
    fn new(seed: u64, fault: Option<Fault>, purpose: Purpose) -> Generator {
        Generator {
            random: Random::new(seed ^ 0x5751_a5c3_9e37_79b9),
            types: Types::default(),
            structs: Vec::new(),
            enums: Vec::new(),
            typedefs: Vec::new(),
            accessors: Vec::new(),
            functions: Vec::new(),
            decls: Vec::new(),
            declared: Default::default(),
            fuel: 0,
            next: 0,
            frames: Vec::new(),
            limit: usize::MAX,
            flavour: Flavour::Any,
            result: TypeId::VOID,
            fault,
            broken_rule: None,
            purpose,
            short: false,
            textured: false,
            has_several_threads: false,
            own_element: None,
            has_stored: false,
            restricted: Default::default(),
        }
    }

    fn bits(&mut self) -> u64 {
        self.random.bits()
    }

    fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 33) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// Whether to make the fault here, where it would break `rule`. It is made only once, and not
    /// always at the first possible place.
    fn makes_fault(&mut self, fault: Fault, rule: Rule) -> bool {
        if self.fault != Some(fault) || self.broken_rule.is_some() || self.one_in(3) {
            return false;
        }
        self.broken_rule = Some(rule);
        true
    }

    /// Makes something, or nothing. If nothing is made, a fault inside of it does not count
    /// as made.
    fn attempt<T>(&mut self, make: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.broken_rule;
        let result = make(self);
        if result.is_none() {
            self.broken_rule = before;
        }
        result
    }

    fn ty(&self, id: TypeId) -> Type {
        self.types.get(id)
    }

    fn pointer(&mut self, space: AddressSpace, to: TypeId) -> TypeId {
        self.types.intern(Type::Pointer(space, to))
    }

    fn reference_to(&mut self, space: AddressSpace, element: TypeId) -> TypeId {
        self.types.intern(Type::ArrayReference(space, element))
    }

    fn array(&mut self, element: TypeId, n: u32) -> TypeId {
        self.types.intern(Type::Array(element, n))
    }

    fn structure(&mut self, i: usize) -> TypeId {
        self.types.intern(Type::Struct(StructId(i as u32)))
    }

    fn is_reference(&self, id: TypeId) -> bool {
        matches!(self.ty(id), Type::Pointer(..) | Type::ArrayReference(..))
    }

    /// Whether it is a sampler, a texture, or a structure that contains one.
    fn is_opaque(&self, id: TypeId) -> bool {
        match self.ty(id) {
            Type::Sampler | Type::Texture(..) => true,
            Type::Struct(s) => self.structs[s.0 as usize].fields.iter().any(|f| self.is_opaque(f.1)),
            _ => false,
        }
    }

    fn scalar(&mut self) -> TypeId {
        TypeId::scalar(self.pick(&Scalar::ALL))
    }

    /// A type of values, which fields may have.
    fn value_type(&mut self, depth: usize) -> TypeId {
        let ty = self.drawn_type(depth);
        if self.is_too_large(ty) { self.scalar() } else { ty }
    }

    fn drawn_type(&mut self, depth: usize) -> TypeId {
        match self.below(if depth == 0 { 7 } else { 12 }) {
            0..=3 => self.scalar(),
            4 | 5 => {
                let (s, n) = (self.pick(&Scalar::ALL), 2 + self.below(3) as u8);
                TypeId::vector(s, n)
            }
            6 => {
                let (s, c, r) =
                    (self.pick(&[Scalar::Float, Scalar::Float, Scalar::Bool]), 2 + self.below(3) as u8, 2 + self.below(3) as u8);
                TypeId::matrix(s, c, r)
            }
            7 | 8 if !self.structs.is_empty() => {
                let i = self.below(self.structs.len());
                let ty = self.structure(i);
                if self.is_opaque(ty) { TypeId::INT } else { ty }
            }
            9 if !self.enums.is_empty() => {
                let i = self.below(self.enums.len());
                self.types.intern(Type::Enum(smallstep_semantics::wsl::types::EnumId(i as u32)))
            }
            10 | 11 => {
                let element = self.drawn_type(depth - 1);
                let n = 1 + self.below(5) as u32;
                self.array(element, n)
            }
            _ => self.scalar(),
        }
    }
}
