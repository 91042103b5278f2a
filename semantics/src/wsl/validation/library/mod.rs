//! WSL's standard library: seed 004 "Standard library".
//!
//! One table ([`TABLE`]) lists every built-in function: its name, its signatures, its meaning and
//! its stages. Typing matches calls with it. Execution and code generation ask for the [`Meaning`]
//! of the instance that a call resolved to. `LIBRARY.md` is printed from it ([`page()`]). A
//! signature has at most one type variable, and no list of overloads is ever expanded. A name and a
//! number of parameters lead to a few signatures. The arguments lead to the few types that the
//! variable of a signature can be. The built-in types are in [`types`].

mod access;
mod atomic;
mod bits;
mod cast;
mod comparison;
mod composite;
mod float;
mod integer;
mod meaning;
mod page;
pub mod pattern;
mod table;
mod text;
pub(crate) mod texture;
pub mod types;

pub use meaning::Meaning;
pub use page::page;
pub use table::{Name, Row, Section, Signature, Stages, TABLE};
pub use text::all_named;
pub use texture::Coordinates;
pub use types::{TypeArgumentValue, TypeNameError, UserNames, is_type_name, type_name, type_named};

use crate::rule::Rule;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{BUILT_IN, Type, TypeId, Types};
use pattern::{Pattern, TypeSet};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::LazyLock;

/// The name by which a call finds a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// A function of that name. `operator+`, `operator[]=`, `operator.xy` and `operator.xy=` are
    /// names too.
    Name(&'a str),
    /// The cast or constructor of that type.
    Cast(TypeId),
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// An expression of that right-value type.
    Typed(TypeId),
    /// An integer literal without `u`. It can have the type `float`. It can have the types below if
    /// they represent its value.
    Integer {
        /// Whether it can have the type `int`.
        int: bool,
        /// Whether it can have the type `uint`.
        uint: bool,
    },
}

impl Argument {
    /// The types with fixed ids that the argument can have.
    fn set(self) -> TypeSet {
        match self {
            Argument::Typed(id) => TypeSet::one(id),
            Argument::Integer { int, uint } => TypeSet::one(TypeId::FLOAT)
                .or(if int { TypeSet::one(TypeId::INT) } else { TypeSet::EMPTY })
                .or(if uint { TypeSet::one(TypeId::UINT) } else { TypeSet::EMPTY }),
        }
    }

    /// Whether the argument can have the type that the pattern stands for, given that `T`.
    fn fits(self, types: &Types, pattern: Pattern, t: TypeId, letters: usize) -> bool {
        match self {
            Argument::Typed(id) => pattern.matches(types, t, letters, id),
            Argument::Integer { .. } => pattern.of(types, t, letters).is_some_and(|id| self.set().has(id)),
        }
    }
}

/// The letters of an accessor's name, as 0 to 3 for `x` to `w`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Word {
    length: u8,
    letters: [u8; 4],
}

impl Word {
    /// The word without letters. Functions that are no accessors have it.
    const NONE: Word = Word { length: 0, letters: [0; 4] };

    /// Reads one to four of the letters `x`, `y`, `z` and `w`. `None` for any other name.
    fn of(name: &str) -> Option<Word> {
        let mut word = Word::NONE;
        for letter in name.bytes() {
            let at = b"xyzw".iter().position(|&l| l == letter)?;
            *word.letters.get_mut(word.length as usize)? = at as u8;
            word.length += 1;
        }
        (word.length > 0).then_some(word)
    }

    /// The indices of the elements that the letters name, in the order of the letters.
    pub fn indices(&self) -> &[u8] {
        &self.letters[..self.length as usize]
    }

    fn distinct(self) -> bool {
        self.indices().iter().enumerate().all(|(i, a)| !self.indices()[..i].contains(a))
    }

    /// Whether a vector of that type has all these elements. Other types fit only without letters.
    fn fits(self, types: &Types, id: TypeId) -> bool {
        match types.get(id) {
            Type::Vector(_, n) => self.indices().iter().all(|&i| i < n),
            _ => self.length == 0,
        }
    }
}

/// An instance of a built-in function: a signature and the type of its `T`. Equal instances are the
/// same function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LibraryFunction {
    section: u8,
    row: u8,
    signature: u8,
    /// The address spaces of the parameters whose pattern is a pointer. Each parameter has two
    /// bits, the first parameter the lowest two.
    spaces: u16,
    word: Word,
    /// The type of `T`, or `void` if the signature has no variable.
    t: TypeId,
}

impl LibraryFunction {
    /// What the function does.
    pub fn meaning(self) -> Meaning {
        self.row().meaning
    }

    /// The stages in which the function may be called.
    pub fn stages(self) -> Stages {
        self.row().stages
    }

    /// Its row of the table.
    pub fn row(self) -> &'static Row {
        &TABLE[self.section as usize].rows[self.row as usize]
    }

    /// The rule that declares it.
    pub fn rule(self) -> Rule {
        TABLE[self.section as usize].rule
    }

    /// Its signature in that row.
    pub fn signature(self) -> &'static Signature {
        &self.row().signatures[self.signature as usize]
    }

    /// The type that the signature's variable stands for. `None` if it has no variable.
    pub fn variable(self) -> Option<TypeId> {
        self.signature().variable_range.map(|_| self.t)
    }

    /// The address space of the parameter at that index. `None` if its pattern is no pointer.
    pub fn space(self, parameter: usize) -> Option<AddressSpace> {
        match self.signature().parameters.get(parameter) {
            Some(Pattern::Pointer(..)) => Some(AddressSpace::ALL[usize::from(self.spaces >> (2 * parameter) & 3)]),
            _ => None,
        }
    }

    /// The letters of an accessor's name, as 0 to 3 for `x` to `w`. Empty for other functions.
    pub fn word(&self) -> &[u8] {
        self.word.indices()
    }
}

/// A built-in function that a call can resolve to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overload {
    /// The function, with the type of its variable.
    pub function: LibraryFunction,
    /// The types of its parameters.
    pub parameters: SmallVec<[TypeId; 4]>,
    /// The type of its result.
    pub result: TypeId,
}

/// The place of a signature in the table, by indices.
#[derive(Clone, Copy, Debug)]
struct Entry {
    section: u8,
    row: u8,
    signature: u8,
}

impl Entry {
    fn signature(self) -> &'static Signature {
        &TABLE[self.section as usize].rows[self.row as usize].signatures[self.signature as usize]
    }
}

/// The signatures by name and number of parameters.
#[derive(Default)]
struct Index {
    functions: FxHashMap<(&'static str, usize), Vec<Entry>>,
    casts: FxHashMap<usize, Vec<Entry>>,
    getters: Vec<Entry>,
    setters: Vec<Entry>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index::default();
    for (section, contents) in TABLE.iter().enumerate() {
        for (row, function) in contents.rows.iter().enumerate() {
            for (signature, s) in function.signatures.iter().enumerate() {
                let entry = Entry { section: section as u8, row: row as u8, signature: signature as u8 };
                let list = match function.name {
                    Name::Function(name) => index.functions.entry((name, s.parameters.len())).or_default(),
                    Name::Cast => index.casts.entry(s.parameters.len()).or_default(),
                    Name::Getter => &mut index.getters,
                    Name::Setter => &mut index.setters,
                };
                list.push(entry);
            }
        }
    }
    index
});

/// For a vector accessor with that name and `count` parameters: the letters of the name, and
/// the signatures of such accessors. A getter has one parameter, a setter two. `None` for any
/// other name.
fn accessor(index: &'static Index, name: &str, count: usize) -> Option<(Word, &'static [Entry])> {
    let rest = name.strip_prefix("operator.")?;
    match (rest.strip_suffix('='), count) {
        (None, 1) => Some((Word::of(rest)?, &index.getters)),
        (Some(letters), 2) => Word::of(letters).filter(|word| word.distinct()).map(|word| (word, &index.setters[..])),
        _ => None,
    }
}

/// The signatures of that name and number of parameters. Those of accessors come with the letters
/// of the name.
fn entries(key: Key, count: usize) -> impl Iterator<Item = (Entry, Word)> {
    let index: &'static Index = &INDEX;
    let (list, accessors) = match key {
        Key::Cast(_) => (index.casts.get(&count), None),
        Key::Name(name) => {
            let functions: &FxHashMap<(&str, usize), Vec<Entry>> = &index.functions;
            (functions.get(&(name, count)), accessor(index, name, count))
        }
    };
    let (word, accessors) = accessors.unwrap_or((Word::NONE, &[]));
    list.into_iter().flatten().map(|&e| (e, Word::NONE)).chain(accessors.iter().map(move |&e| (e, word)))
}

/// Passes to `found` each type of the signature's variable with which every argument can have its
/// parameter's type. For a cast, the result must also be the type that names the cast. For a
/// signature without variable, `void` is passed.
fn instances(types: &Types, key: Key, signature: &Signature, word: Word, arguments: &[Argument], mut found: impl FnMut(TypeId)) {
    let letters = word.length as usize;
    let fits = |t: TypeId| {
        word.fits(types, t)
            && match key {
                Key::Cast(id) => signature.result.matches(types, t, letters, id),
                Key::Name(_) => true,
            }
            && signature.parameters.iter().zip(arguments).all(|(p, a)| a.fits(types, *p, t, letters))
    };
    let Some(range) = &signature.variable_range else {
        if fits(TypeId::VOID) {
            found(TypeId::VOID);
        }
        return;
    };
    if let (Key::Cast(id), Pattern::Fixed(result)) = (key, signature.result)
        && id != result
    {
        return;
    }
    // An argument whose parameter is `T` itself, or a cast whose result is, restricts `T`.
    let (mut fixed, mut other) = (range.fixed, None);
    let cast = match key {
        Key::Cast(id) => Some((&signature.result, Argument::Typed(id))),
        Key::Name(_) => None,
    };
    for (pattern, argument) in signature.parameters.iter().zip(arguments.iter().copied()).chain(cast) {
        if let Pattern::T = pattern {
            fixed = fixed.and(argument.set());
            match argument {
                Argument::Typed(id) if id.0 >= BUILT_IN => other = Some(id),
                _ => {}
            }
        }
    }
    if let Some(t) = other {
        if range.has(types, t) && fits(t) {
            found(t);
        }
        return;
    }
    for t in fixed.iter() {
        if fits(t) {
            found(t);
        }
    }
}

/// Appends the built-in functions of that name that these arguments can call: seed 004 "Typing
/// expressions", function call, steps 2 and 4. Their number of parameters is that of the arguments,
/// and each argument can have its parameter's type. All types of the arguments must be in `types`.
pub fn overloads(types: &mut Types, key: Key, arguments: &[Argument], out: &mut Vec<Overload>) {
    let mut ts: SmallVec<[TypeId; 8]> = SmallVec::new();
    for (entry, word) in entries(key, arguments.len()) {
        let signature = entry.signature();
        let letters = word.length as usize;
        instances(types, key, signature, word, arguments, |t| ts.push(t));
        for t in ts.drain(..) {
            signature.result.ensure(types, t);
            let types = &*types;
            let (mut spaces, mut parameters) = (0, SmallVec::with_capacity(arguments.len()));
            for (i, (argument, pattern)) in arguments.iter().zip(signature.parameters).enumerate() {
                parameters.push(match *argument {
                    Argument::Typed(id) => {
                        if let (Pattern::Pointer(..), Type::Pointer(space, _)) = (pattern, types.get(id)) {
                            spaces |= (space as u16) << (2 * i);
                        }
                        id
                    }
                    Argument::Integer { .. } => pattern.of(types, t, letters).expect("the argument fits the pattern"),
                });
            }
            let result = signature.result.of(types, t, letters).expect("a signature has a result for each type of its range");
            let function = LibraryFunction { section: entry.section, row: entry.row, signature: entry.signature, spaces, word, t };
            out.push(Overload { function, parameters, result });
        }
    }
}

/// Whether a built-in function of that name has exactly these parameter types: seed 004 "Checking
/// the coherence of operators and functions", last step.
pub fn declares(types: &Types, key: Key, parameters: &[TypeId]) -> bool {
    let arguments: SmallVec<[Argument; 4]> = parameters.iter().map(|&id| Argument::Typed(id)).collect();
    let mut declared = false;
    for (entry, word) in entries(key, parameters.len()) {
        instances(types, key, entry.signature(), word, &arguments, |_| declared = true);
    }
    declared
}
