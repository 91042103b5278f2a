//! Calls: the types of a callee, and that no other function is meant (seed 004 "Typing
//! expressions", "To check that a function call is well-typed").

use super::{Check, Recheck, refuse};
use crate::rule::Rule;
use crate::wsl::environment::access::Callee;
use crate::wsl::environment::{FunctionId, Key};
use crate::wsl::library::pattern::Pattern;
use crate::wsl::library::{LibraryFunction, Name, Row, Signature, TABLE};
use crate::wsl::types::{BUILT_IN, Type, TypeId, Types};
use crate::wsl::typing::program::{Constant, Expr, ExprId};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// An argument: an expression of a type, or an integer literal. A literal can have some of the
/// types `int`, `uint` and `float`. An expression that ends in a literal counts as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Resolved {
    Typed(TypeId),
    Integer {
        int: bool,
        uint: bool,
    },
    /// A literal near a bound. It is not known which types its text can have.
    Unknown,
}

impl Resolved {
    fn can_be(self, ty: TypeId) -> bool {
        match self {
            Resolved::Typed(of) => of == ty,
            Resolved::Integer { int, uint, .. } => ty == TypeId::FLOAT || int && ty == TypeId::INT || uint && ty == TypeId::UINT,
            Resolved::Unknown => [TypeId::INT, TypeId::UINT, TypeId::FLOAT].contains(&ty),
        }
    }
}

/// An instance of a signature of the library.
#[derive(Clone, Copy, Debug)]
pub(super) struct Library {
    row: &'static Row,
    signature: &'static Signature,
    t: TypeId,
    letters: usize,
    pub(super) result: TypeId,
}

impl PartialEq for Library {
    fn eq(&self, other: &Library) -> bool {
        std::ptr::eq(self.signature, other.signature)
            && std::ptr::eq(self.row, other.row)
            && self.t == other.t
            && self.letters == other.letters
    }
}

impl Library {
    pub(super) fn is(&self, f: LibraryFunction) -> bool {
        let variable = self.signature.over.map(|_| self.t);
        std::ptr::eq(self.row, f.row())
            && std::ptr::eq(self.signature, f.signature())
            && f.variable() == variable
            && f.word().len() == self.letters
    }
}

type Rows = Vec<(&'static Row, &'static Signature)>;

/// The signatures by name. Casts are under the empty name, swizzles under `.` and `.=`.
static NAMED: LazyLock<FxHashMap<&'static str, Rows>> = LazyLock::new(|| {
    let mut out: FxHashMap<&str, Rows> = FxHashMap::default();
    for section in TABLE {
        for row in section.rows {
            let name = match row.name {
                Name::Function(name) => name,
                Name::Cast => "",
                Name::Getter => ".",
                Name::Setter => ".=",
            };
            for signature in row.signatures {
                out.entry(name).or_default().push((row, signature));
            }
        }
    }
    out
});

/// The indices that the letters of a swizzle stand for. `None` for any other name.
fn swizzle(name: &str) -> Option<Vec<u8>> {
    let word: Option<Vec<u8>> = name.chars().map(|c| "xyzw".find(c).map(|i| i as u8)).collect();
    word.filter(|w| (1..=4).contains(&w.len()))
}

/// The library's functions of that name, or casts to that type, with these parameter types.
pub(super) fn library_calls(types: &Types, name: &str, cast: Option<TypeId>, given: &[TypeId]) -> Vec<Library> {
    let given: Vec<Resolved> = given.iter().map(|ty| Resolved::Typed(*ty)).collect();
    fitting(types, name, cast, &given)
}

fn rows(name: &str) -> &'static [(&'static Row, &'static Signature)] {
    NAMED.get(name).map_or(&[], Vec::as_slice)
}

fn fitting(types: &Types, name: &str, cast: Option<TypeId>, given: &[Resolved]) -> Vec<Library> {
    let mut out = Vec::new();
    match cast {
        Some(_) => instances(types, rows(""), cast, given, &[], &mut out),
        None => {
            instances(types, rows(name), None, given, &[], &mut out);
            let accessor = name.strip_prefix("operator.").unwrap_or("");
            let (word, set) = accessor.strip_suffix('=').map_or((accessor, false), |w| (w, true));
            if let Some(word) = swizzle(word) {
                let distinct = (0..word.len()).all(|i| !word[..i].contains(&word[i]));
                if !set || distinct {
                    instances(types, rows(if set { ".=" } else { "." }), None, given, &word, &mut out);
                }
            }
        }
    }
    out
}

fn instances(
    types: &Types,
    rows: &[(&'static Row, &'static Signature)],
    cast: Option<TypeId>,
    given: &[Resolved],
    word: &[u8],
    out: &mut Vec<Library>,
) {
    let letters = word.len();
    for &(row, signature) in rows.iter().filter(|(_, s)| s.parameters.len() == given.len()) {
        let mut ts: Vec<TypeId> = match &signature.over {
            None => vec![TypeId::VOID],
            Some(range) => {
                let mut ts: Vec<TypeId> = range.fixed.iter().collect();
                let of = given.iter().filter_map(|g| if let Resolved::Typed(ty) = g { Some(*ty) } else { None });
                for ty in of.chain(cast).filter(|ty| ty.0 >= BUILT_IN && range.has(types, *ty)) {
                    if !ts.contains(&ty) {
                        ts.push(ty);
                    }
                }
                ts
            }
        };
        ts.retain(|&t| {
            let vector = letters == 0 || matches!(types.get(t), Type::Vector(_, n) if word.iter().all(|i| *i < n));
            vector
                && cast.is_none_or(|to| signature.result.of(types, t, letters) == Some(to))
                && signature.parameters.iter().zip(given).all(|(p, g)| match (p, g) {
                    (_, Resolved::Typed(ty)) => p.matches(types, t, letters, *ty),
                    _ => p.of(types, t, letters).is_some_and(|ty| g.can_be(ty)),
                })
        });
        for t in ts {
            if let Some(result) = signature.result.of(types, t, letters) {
                out.push(Library { row, signature, t, letters, result });
            }
        }
    }
}

/// A function that fits the arguments.
#[derive(Clone, Copy)]
enum Candidate {
    Declared(FunctionId),
    Library(Library),
}

impl Candidate {
    fn is(&self, callee: Callee) -> bool {
        match (self, callee) {
            (Candidate::Declared(id), Callee::Declared(other)) => *id == other,
            (Candidate::Library(l), Callee::Library(f)) => l.is(f),
            _ => false,
        }
    }
}

impl Recheck<'_> {
    pub(super) fn given(&self, e: ExprId) -> Resolved {
        let crate::wsl::types::ValueType::Right(ty) = self.of(e) else { return Resolved::Typed(TypeId::VOID) };
        let Some(constant) = self.literal(e, true) else { return Resolved::Typed(ty) };
        match constant {
            Constant::Int(v) => Resolved::Integer { int: true, uint: v >= 0 },
            Constant::Uint(v) => Resolved::Integer { int: i32::try_from(v).is_ok(), uint: true },
            Constant::Float(bits) => {
                let x = f64::from(f32::from_bits(bits));
                // The integers that round to such a float are on both sides of a bound.
                if [2147483648.0, -2147483648.0, 4294967296.0].contains(&x) {
                    return Resolved::Unknown;
                }
                let within = |low: f64, high: f64| low <= x && x < high;
                Resolved::Integer { int: within(-2147483648.0, 2147483648.0), uint: within(0.0, 4294967296.0) }
            }
            _ => Resolved::Typed(ty),
        }
    }

    pub(super) fn call(&self, node: &Expr, callee: Callee, arguments: &[ExprId]) -> Check {
        let mut types = Vec::with_capacity(arguments.len());
        for e in arguments {
            types.push(self.right(node, *e, "an argument")?);
        }
        let given: Vec<Resolved> = arguments.iter().map(|e| self.given(*e)).collect();
        let crate::wsl::types::ValueType::Right(result) = node.ty else {
            return refuse(Some(node.rule), node.span, "a call gives a right-value");
        };
        self.resolves(node, callee, None, &given, &types, result)
    }

    /// Checks that the callee takes arguments of these types and gives the result. Also checks
    /// that name and arguments mean this function. `name` is the operator's function, if the node
    /// is an operator.
    pub(super) fn resolves(
        &self,
        node: &Expr,
        callee: Callee,
        name: Option<&str>,
        given: &[Resolved],
        arguments: &[TypeId],
        result: TypeId,
    ) -> Check {
        let refuse = |message: String| refuse(Some(node.rule), node.span, message);
        let (key, text): (Option<Key>, String) = match callee {
            Callee::Declared(id) => {
                let f = self.p.env.function(id);
                let text = self.p.env.names.name(f.name.name);
                if f.kind.is_entry_point() {
                    return refuse(format!("`{text}` is an entry point"));
                }
                if !f.parameters.iter().map(|p| p.ty).eq(arguments.iter().copied()) || f.result != result {
                    return refuse(format!("`{}` does not take these arguments or does not give this result", self.p.env.signature(id)));
                }
                (Some(f.key), text.to_string())
            }
            Callee::Library(f) => {
                self.built_in_types(node, f, arguments, result)?;
                match f.row().name {
                    Name::Function(name) => (self.name_key(name), name.to_string()),
                    Name::Cast => (Some(Key::Cast(result)), String::new()),
                    _ => return refuse("an accessor of letters is no function that is called".into()),
                }
            }
            Callee::Generated(_) => return refuse("a generated accessor is not called".into()),
        };
        if name.is_some_and(|n| n != text) {
            return refuse(format!("`{text}` is not the operator's function"));
        }
        if given.contains(&Resolved::Unknown) {
            return Ok(());
        }
        let candidates = self.candidates(key, &text, given);
        if !candidates.iter().any(|c| c.is(callee)) {
            return refuse("what is called is none of the functions that fit the arguments".into());
        }
        let second = candidates.len() > 1;
        match node.rule {
            Rule::WslTCall if second => return refuse("several functions fit the arguments".into()),
            Rule::WslTCallLiterals if !second => return refuse("one function fits the arguments already".into()),
            _ => {}
        }
        if second {
            let int =
                |c: &&Candidate| given.iter().enumerate().all(|(i, g)| !matches!(g, Resolved::Integer { .. }) || self.takes_int(c, i));
            let left: Vec<&Candidate> = candidates.iter().filter(int).collect();
            if left.len() != 1 || !left[0].is(callee) {
                return refuse("of the functions that fit the arguments, this one is not the only one that takes int for literals".into());
            }
        }
        Ok(())
    }

    /// The key of a name. `None` if the program declares no function of that name.
    fn name_key(&self, name: &str) -> Option<Key> {
        self.named.get(name).and_then(|ids| ids.first()).map(|id| self.p.env.function(*id).key)
    }

    fn takes_int(&self, c: &Candidate, parameter: usize) -> bool {
        match c {
            Candidate::Declared(id) => self.p.env.function(*id).parameters[parameter].ty == TypeId::INT,
            Candidate::Library(l) => l.signature.parameters[parameter].of(&self.p.env.types, l.t, l.letters) == Some(TypeId::INT),
        }
    }

    fn candidates(&self, key: Option<Key>, text: &str, given: &[Resolved]) -> Vec<Candidate> {
        let mut out = Vec::new();
        for id in key.and_then(|key| self.keyed.get(&key)).into_iter().flatten() {
            let f = self.p.env.function(*id);
            if f.parameters.len() == given.len() && !f.kind.is_entry_point() && given.iter().zip(&f.parameters).all(|(g, p)| g.can_be(p.ty))
            {
                out.push(Candidate::Declared(*id));
            }
        }
        let cast = if let Some(Key::Cast(ty)) = key { Some(ty) } else { None };
        out.extend(fitting(&self.p.env.types, text, cast, given).into_iter().map(Candidate::Library));
        out
    }

    /// Checks that the function's own signature gives these types.
    fn built_in_types(&self, node: &Expr, f: LibraryFunction, arguments: &[TypeId], result: TypeId) -> Check {
        let types = &self.p.env.types;
        let signature = f.signature();
        let t = f.variable().unwrap_or(TypeId::VOID);
        let letters = f.word().len();
        let ranges = signature.over.is_none_or(|range| range.has(types, t));
        let parameters = signature.parameters.len() == arguments.len()
            && signature.parameters.iter().zip(arguments).enumerate().all(|(i, (p, a))| {
                let space = match (p, types.get(*a)) {
                    (Pattern::Pointer(..), Type::Pointer(space, _)) => f.space(i) == Some(space),
                    _ => true,
                };
                space && p.matches(types, t, letters, *a)
            });
        if ranges && parameters && signature.result.of(types, t, letters) == Some(result) {
            return Ok(());
        }
        refuse(Some(node.rule), node.span, "the library's function does not take these arguments or does not give this result")
    }

    /// Checks that the callee is one of the operators that can stand before `=`.
    pub(super) fn is_compound(&self, node: &Expr, callee: Callee) -> Check {
        const OPERATORS: [&str; 10] = ["+", "-", "*", "/", "%", "^", "&", "|", ">>", "<<"];
        let text = match callee {
            Callee::Declared(id) => self.p.env.names.name(self.p.env.function(id).name.name).to_string(),
            Callee::Library(f) => match f.row().name {
                Name::Function(name) => name.to_string(),
                _ => String::new(),
            },
            Callee::Generated(_) => String::new(),
        };
        match text.strip_prefix("operator") {
            Some(sign) if OPERATORS.contains(&sign) => Ok(()),
            _ => refuse(Some(node.rule), node.span, "the callee is no operator that an assignment can be joined with"),
        }
    }

    pub(super) fn discards(&self, callee: Callee) -> bool {
        use crate::wsl::typing::behaviour::Behaviour;
        Recheck::runs(callee).is_some_and(|id| self.p.behaviours(id).has(Behaviour::Discard))
    }
}
