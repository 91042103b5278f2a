//! Calls: the types of a callee, and that no other function is meant (seed 004 "Typing
//! expressions", "To check that a function call is well-typed").

use super::{Check, Recheck, refuse};
use crate::rule::Rule;
use crate::wsl::environment::access::Callee;
use crate::wsl::environment::{FunctionId, Key};
use crate::wsl::library::pattern::Pattern;
use crate::wsl::library::{LibraryFunction, Meaning, Name, Row, Signature, TABLE};
use crate::wsl::types::{BUILT_IN, Type, TypeId, Types};
use crate::wsl::typing::program::{Constant, Expr, ExprId};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// An argument: an expression of a type, or an integer literal. A literal can have some of the
/// types `int`, `uint` and `float`. An expression that ends in a literal counts as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ArgumentTypes {
    Typed(TypeId),
    Integer {
        int: bool,
        uint: bool,
    },
    /// A literal near a bound. It is not known which types its text can have.
    Unknown,
}

impl ArgumentTypes {
    fn can_be(self, ty: TypeId) -> bool {
        match self {
            ArgumentTypes::Typed(of) => of == ty,
            ArgumentTypes::Integer { int, uint, .. } => ty == TypeId::FLOAT || int && ty == TypeId::INT || uint && ty == TypeId::UINT,
            ArgumentTypes::Unknown => [TypeId::INT, TypeId::UINT, TypeId::FLOAT].contains(&ty),
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
        let variable = self.signature.variable_range.map(|_| self.t);
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
pub(super) fn library_calls(types: &Types, name: &str, cast: Option<TypeId>, operands: &[TypeId]) -> Vec<Library> {
    let operands: Vec<ArgumentTypes> = operands.iter().map(|ty| ArgumentTypes::Typed(*ty)).collect();
    fitting(types, name, cast, &operands)
}

fn rows(name: &str) -> &'static [(&'static Row, &'static Signature)] {
    NAMED.get(name).map_or(&[], Vec::as_slice)
}

fn fitting(types: &Types, name: &str, cast: Option<TypeId>, operands: &[ArgumentTypes]) -> Vec<Library> {
    let mut out = Vec::new();
    match cast {
        Some(_) => instances(types, rows(""), cast, operands, &[], &mut out),
        None => {
            instances(types, rows(name), None, operands, &[], &mut out);
            let accessor = name.strip_prefix("operator.").unwrap_or("");
            let (word, set) = accessor.strip_suffix('=').map_or((accessor, false), |w| (w, true));
            if let Some(word) = swizzle(word) {
                let distinct = (0..word.len()).all(|i| !word[..i].contains(&word[i]));
                if !set || distinct {
                    instances(types, rows(if set { ".=" } else { "." }), None, operands, &word, &mut out);
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
    operands: &[ArgumentTypes],
    word: &[u8],
    out: &mut Vec<Library>,
) {
    let letters = word.len();
    for &(row, signature) in rows.iter().filter(|(_, s)| s.parameters.len() == operands.len()) {
        let mut ts: Vec<TypeId> = match &signature.variable_range {
            None => vec![TypeId::VOID],
            Some(range) => {
                let mut ts: Vec<TypeId> = range.fixed.iter().collect();
                let argument_types = operands.iter().filter_map(|g| if let ArgumentTypes::Typed(ty) = g { Some(*ty) } else { None });
                for ty in argument_types.chain(cast).filter(|ty| ty.0 >= BUILT_IN && range.has(types, *ty)) {
                    if !ts.contains(&ty) {
                        ts.push(ty);
                    }
                }
                ts
            }
        };
        ts.retain(|&t| {
            let has_letters = letters == 0 || matches!(types.get(t), Type::Vector(_, n) if word.iter().all(|i| *i < n));
            has_letters
                && cast.is_none_or(|to| signature.result.of(types, t, letters) == Some(to))
                && signature.parameters.iter().zip(operands).all(|(p, g)| match (p, g) {
                    (_, ArgumentTypes::Typed(ty)) => p.matches(types, t, letters, *ty),
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
    pub(super) fn argument_types(&self, e: ExprId) -> ArgumentTypes {
        let crate::wsl::types::ValueType::Right(ty) = self.value_type(e) else { return ArgumentTypes::Typed(TypeId::VOID) };
        let Some(constant) = self.literal(e, true) else { return ArgumentTypes::Typed(ty) };
        match constant {
            Constant::Int(v) => ArgumentTypes::Integer { int: true, uint: v >= 0 },
            Constant::Uint(v) => ArgumentTypes::Integer { int: i32::try_from(v).is_ok(), uint: true },
            Constant::Float(bits) => {
                let x = f64::from(f32::from_bits(bits));
                // The integers that round to such a float are on both sides of a bound.
                if [2147483648.0, -2147483648.0, 4294967296.0].contains(&x) {
                    return ArgumentTypes::Unknown;
                }
                let within = |low: f64, high: f64| low <= x && x < high;
                ArgumentTypes::Integer { int: within(-2147483648.0, 2147483648.0), uint: within(0.0, 4294967296.0) }
            }
            _ => ArgumentTypes::Typed(ty),
        }
    }

    pub(super) fn call(&self, node: &Expr, callee: Callee, arguments: &[ExprId]) -> Check {
        let mut types = Vec::with_capacity(arguments.len());
        for e in arguments {
            types.push(self.right(node, *e, "an argument")?);
        }
        let operands: Vec<ArgumentTypes> = arguments.iter().map(|e| self.argument_types(*e)).collect();
        let crate::wsl::types::ValueType::Right(result) = node.ty else {
            return refuse(Some(node.rule), node.span, "a call gives a right-value");
        };
        self.resolves(node, callee, None, &operands, &types, result)
    }

    /// Checks that the callee takes arguments of these types and gives the result. Also checks
    /// that name and arguments mean this function. `name` is the operator's function, if the node
    /// is an operator.
    pub(super) fn resolves(
        &self,
        node: &Expr,
        callee: Callee,
        name: Option<&str>,
        operands: &[ArgumentTypes],
        arguments: &[TypeId],
        result: TypeId,
    ) -> Check {
        let refuse = |message: String| refuse(Some(node.rule), node.span, message);
        let (key, text): (Option<Key>, String) = match callee {
            Callee::Declared(id) => {
                let f = self.program.env.function(id);
                let text = self.program.env.names.name(f.name.name);
                if f.kind.is_entry_point() {
                    return refuse(format!("`{text}` is an entry point"));
                }
                if !f.parameters.iter().map(|p| p.ty).eq(arguments.iter().copied()) || f.result != result {
                    return refuse(format!(
                        "`{}` does not take these arguments or does not give this result",
                        self.program.env.signature(id)
                    ));
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
        if operands.contains(&ArgumentTypes::Unknown) {
            return Ok(());
        }
        let candidates = self.candidates(key, &text, operands);
        if !candidates.iter().any(|c| c.is(callee)) {
            return refuse("what is called is none of the functions that fit the arguments".into());
        }
        let is_second_round = candidates.len() > 1;
        match node.rule {
            Rule::WslTCall if is_second_round => return refuse("several functions fit the arguments".into()),
            Rule::WslTCallLiterals if !is_second_round => return refuse("one function fits the arguments already".into()),
            _ => {}
        }
        if is_second_round {
            let takes_int = |c: &&Candidate| {
                operands.iter().enumerate().all(|(i, g)| !matches!(g, ArgumentTypes::Integer { .. }) || self.takes_int(c, i))
            };
            let remaining: Vec<&Candidate> = candidates.iter().filter(takes_int).collect();
            if remaining.len() != 1 || !remaining[0].is(callee) {
                return refuse("of the functions that fit the arguments, this one is not the only one that takes int for literals".into());
            }
        }
        Ok(())
    }

    /// The key of a name. `None` if the program declares no function of that name.
    fn name_key(&self, name: &str) -> Option<Key> {
        self.by_name.get(name).and_then(|ids| ids.first()).map(|id| self.program.env.function(*id).key)
    }

    fn takes_int(&self, c: &Candidate, parameter: usize) -> bool {
        match c {
            Candidate::Declared(id) => self.program.env.function(*id).parameters[parameter].ty == TypeId::INT,
            Candidate::Library(l) => l.signature.parameters[parameter].of(&self.program.env.types, l.t, l.letters) == Some(TypeId::INT),
        }
    }

    fn candidates(&self, key: Option<Key>, text: &str, operands: &[ArgumentTypes]) -> Vec<Candidate> {
        let mut out = Vec::new();
        for id in key.and_then(|key| self.by_key.get(&key)).into_iter().flatten() {
            let f = self.program.env.function(*id);
            if f.parameters.len() == operands.len()
                && !f.kind.is_entry_point()
                && operands.iter().zip(&f.parameters).all(|(g, p)| g.can_be(p.ty))
            {
                out.push(Candidate::Declared(*id));
            }
        }
        let cast = if let Some(Key::Cast(ty)) = key { Some(ty) } else { None };
        out.extend(fitting(&self.program.env.types, text, cast, operands).into_iter().map(Candidate::Library));
        out
    }

    /// Checks that the function's own signature gives these types.
    fn built_in_types(&self, node: &Expr, f: LibraryFunction, arguments: &[TypeId], result: TypeId) -> Check {
        let types = &self.program.env.types;
        if f.meaning() == Meaning::Default && self.is_opaque(result) {
            return refuse(Some(node.rule), node.span, format!("a {} has no default value", self.show(result)));
        }
        let signature = f.signature();
        let t = f.variable().unwrap_or(TypeId::VOID);
        let letters = f.word().len();
        let in_range = signature.variable_range.is_none_or(|range| range.has(types, t));
        let parameters = signature.parameters.len() == arguments.len()
            && signature.parameters.iter().zip(arguments).enumerate().all(|(i, (p, a))| {
                let same_space = match (p, types.get(*a)) {
                    (Pattern::Pointer(..), Type::Pointer(space, _)) => f.space(i) == Some(space),
                    _ => true,
                };
                same_space && p.matches(types, t, letters, *a)
            });
        if in_range && parameters && signature.result.of(types, t, letters) == Some(result) {
            return Ok(());
        }
        refuse(Some(node.rule), node.span, "the library's function does not take these arguments or does not give this result")
    }

    /// Checks that the callee is one of the operators that can stand before `=`.
    pub(super) fn is_compound(&self, node: &Expr, callee: Callee) -> Check {
        const OPERATORS: [&str; 10] = ["+", "-", "*", "/", "%", "^", "&", "|", ">>", "<<"];
        let text = match callee {
            Callee::Declared(id) => self.program.env.names.name(self.program.env.function(id).name.name).to_string(),
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
        Recheck::function_run_by(callee).is_some_and(|id| self.program.behaviours(id).has(Behaviour::Discard))
    }
}
