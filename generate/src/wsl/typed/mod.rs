//! Well-typed WSL programs by construction, and programs that break one rule: text from a seed.
//!
//! Types are chosen first and expressions are made for them, from the rules of seed 004 read
//! forwards; nothing is made and then looked at by the validator. What a function may do (discard,
//! refer to threadgroup memory, call a stage's functions) is chosen before its body, behaviours of
//! statements are followed while they are written, and functions call only those that were made
//! before them, whatever the order in which they are printed at the end. The library is used
//! through its table; which overload a call with integer literals means is found by counting
//! instances, as the seed says it.
//!
//! A near miss is such a program with one [`Fault`]: at one place the generator writes what a rule
//! forbids, and it says which rule that is.
//!
//! A program that is to be executed ([`executed`]) is restricted in what no execution could tell.
//! Each program names the restrictions that changed something in it ([`Executed::restricted`]).

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

/// A program with the fault, and the rule that it breaks; none if this seed's program has no place
/// for it.
pub fn near_miss(seed: u64, fault: Fault) -> Option<(String, Rule)> {
    let mut g = Generator::new(seed, Some(fault), Purpose::Validation);
    g.declarations();
    let rule = g.broken?;
    Some((g.decls.join("\n"), rule))
}

/// What a function does that not every entry point may reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flavour {
    /// Nothing of the kind.
    Any,
    /// It may discard and call the fragment stage's functions.
    Fragment,
    /// It may refer to threadgroup memory and call the compute stage's functions.
    Compute,
}

impl Flavour {
    /// Whether a function of this flavour may call one of that.
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

/// What the program declares for `e.field`, or `e[i]` if there is no field, of values of a type.
#[derive(Clone)]
struct Accessor {
    of: TypeId,
    field: Option<Rc<str>>,
    ty: TypeId,
    getter: bool,
    setter: bool,
    /// The address spaces of address-takers, a bit each.
    takers: u8,
    flavour: Flavour,
}

/// A function that can be called by its name, an operator's by its sign, a cast's by its type.
#[derive(Clone)]
struct Function {
    name: String,
    cast: bool,
    parameters: Vec<TypeId>,
    result: TypeId,
    flavour: Flavour,
    /// Whether its body is there: those that are made later may not be called yet.
    ready: bool,
}

/// A variable or parameter.
#[derive(Clone)]
struct Variable {
    name: Rc<str>,
    ty: TypeId,
    space: AddressSpace,
}

/// The variables of a block, or of what stands around one.
#[derive(Default)]
struct Frame {
    variables: Vec<Variable>,
    /// Declarations that go before the statement that is being written; only blocks have them.
    pending: Option<Vec<String>>,
}

/// What kind of value an expression is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Left(AddressSpace),
    Abstract,
    Right,
}

/// How tightly an expression is bound, by the production that it begins with.
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
    /// A call, or what is accessed of one: no `++` can stand after it.
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
    /// Whether it can be a statement as it is: it assigns, steps, calls, or stands in parentheses.
    stands: bool,
}

impl Expression {
    fn new(text: impl Into<String>, level: Level, kind: Kind, ty: TypeId) -> Expression {
        Expression { text: text.into(), level, kind, ty, stands: false }
    }

    /// What has an effect, and can be a statement.
    fn effect(text: impl Into<String>, level: Level, ty: TypeId) -> Expression {
        Expression { stands: true, ..Expression::new(text, level, Kind::Right, ty) }
    }

    /// The text where the grammar needs at least that level.
    fn at(&self, level: Level) -> String {
        self.clone().into_text(level)
    }

    /// The same, of an expression that is nothing else.
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
    /// The names of functions that no program text may declare again: name and types of parameters.
    declared: rustc_hash::FxHashSet<(String, Vec<TypeId>)>,
    /// How many more nodes the function that is being written may have before every
    /// choice is the smallest.
    fuel: isize,
    next: u32,
    frames: Vec<Frame>,
    /// How many of the frames are seen.
    limit: usize,
    flavour: Flavour,
    result: TypeId,
    fault: Option<Fault>,
    broken: Option<Rule>,
    purpose: Purpose,
    /// Whether the program has about 30 statements.
    short: bool,
    /// Whether each entry point has textures, and calls their functions often.
    textured: bool,
    /// Whether several threads run, so that what one does can race.
    several: bool,
    /// The element of a buffer that each thread of the entry point has alone, and its type.
    own_element: Option<(String, TypeId)>,
    /// Whether the entry point has stored in it.
    stored: bool,
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
            broken: None,
            purpose,
            short: false,
            textured: false,
            several: false,
            own_element: None,
            stored: false,
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

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// Whether the fault is to be made here, where it breaks that rule. It is made once, and not
    /// always where it first can be.
    fn breaks(&mut self, fault: Fault, rule: Rule) -> bool {
        if self.fault != Some(fault) || self.broken.is_some() || self.one_in(3) {
            return false;
        }
        self.broken = Some(rule);
        true
    }

    /// Makes something, or nothing: then a fault in what was left out was not made.
    fn attempt<T>(&mut self, make: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.broken;
        let made = make(self);
        if made.is_none() {
            self.broken = before;
        }
        made
    }

    fn ty(&self, id: TypeId) -> Type {
        self.types.get(id)
    }

    fn pointer(&mut self, space: AddressSpace, to: TypeId) -> TypeId {
        self.types.intern(Type::Pointer(space, to))
    }

    fn reference_to(&mut self, space: AddressSpace, of: TypeId) -> TypeId {
        self.types.intern(Type::ArrayReference(space, of))
    }

    fn array(&mut self, of: TypeId, n: u32) -> TypeId {
        self.types.intern(Type::Array(of, n))
    }

    fn structure(&mut self, i: usize) -> TypeId {
        self.types.intern(Type::Struct(StructId(i as u32)))
    }

    fn is_reference(&self, id: TypeId) -> bool {
        matches!(self.ty(id), Type::Pointer(..) | Type::ArrayReference(..))
    }

    /// Whether it is a sampler or a texture, or a structure with one.
    fn is_opaque(&self, id: TypeId) -> bool {
        match self.ty(id) {
            Type::Sampler | Type::Texture(..) => true,
            Type::Struct(s) => self.structs[s.0 as usize].fields.iter().any(|f| self.is_opaque(f.1)),
            _ => false,
        }
    }

    fn scalar(&mut self) -> TypeId {
        TypeId::scalar(self.of(&Scalar::ALL))
    }

    /// The type of a value: what a field can have.
    fn value_type(&mut self, depth: usize) -> TypeId {
        let ty = self.drawn_type(depth);
        if self.is_too_large(ty) { self.scalar() } else { ty }
    }

    fn drawn_type(&mut self, depth: usize) -> TypeId {
        match self.below(if depth == 0 { 7 } else { 12 }) {
            0..=3 => self.scalar(),
            4 | 5 => {
                let (s, n) = (self.of(&Scalar::ALL), 2 + self.below(3) as u8);
                TypeId::vector(s, n)
            }
            6 => {
                let (s, c, r) = (self.of(&[Scalar::Float, Scalar::Float, Scalar::Bool]), 2 + self.below(3) as u8, 2 + self.below(3) as u8);
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
                let of = self.drawn_type(depth - 1);
                let n = 1 + self.below(5) as u32;
                self.array(of, n)
            }
            _ => self.scalar(),
        }
    }
}
