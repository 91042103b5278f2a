//! Signatures in words, for messages and for `LIBRARY.md`.

use super::pattern::{Family, Pattern, Range, Spaces, TypeSet, kinds};
use super::table::{Signature, TABLE};
use super::types::{UserNames, type_name};
use super::{Key, Word, entries};
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{Scalar, TypeId, Types};

/// Prints signatures. Types that follow from `letters` or `t` are printed in full if these
/// are known.
pub(super) struct Printer<'a> {
    pub(super) types: &'a Types,
    pub(super) names: &'a dyn UserNames,
    /// The number of letters in the accessor's name, if it is known.
    pub(super) letters: Option<usize>,
    /// The type that the variable stands for, if it is known.
    pub(super) t: Option<TypeId>,
}

impl Printer<'_> {
    fn type_name(&self, id: TypeId) -> String {
        type_name(self.types, id, self.names)
    }

    fn pattern(&self, pattern: Pattern) -> String {
        if let Some(id) = self.t.and_then(|t| pattern.of(self.types, t, self.letters.unwrap_or(0))) {
            return self.type_name(id);
        }
        match pattern {
            Pattern::Fixed(id) => self.type_name(id),
            Pattern::T => "T".into(),
            Pattern::Element => "scalar<T>".into(),
            Pattern::WithScalar(scalar) => format!("like<T, {}>", scalar.name()),
            Pattern::VectorOf(n) => format!("vector<scalar<T>, {n}>"),
            Pattern::Letters => match self.letters {
                Some(1) => "scalar<T>".into(),
                Some(n) => format!("vector<scalar<T>, {n}>"),
                None => "letters<T>".into(),
            },
            Pattern::Column => "column<T>".into(),
            Pattern::Row => "row<T>".into(),
            Pattern::Transposed => "transposed<T>".into(),
            Pattern::Multiplier(n) => format!("matrix<scalar<T>, {n}, columns<T>>"),
            Pattern::Product(n) => format!("matrix<scalar<T>, {n}, rows<T>>"),
            Pattern::Base => "base<T>".into(),
            Pattern::ArrayElement => "element<T>".into(),
            Pattern::ArrayElementPointer => "element<T>*".into(),
            Pattern::Atomic => "atomic<T>".into(),
            Pattern::Texel => "texel<T>".into(),
            Pattern::Texels => "vector<scalar<texel<T>>, 4>".into(),
            Pattern::Coordinates(c) => {
                let (layer, level) = (if c.layer { ", layer" } else { "" }, if c.level { ", level" } else { "" });
                format!("coordinates<T, {}{layer}{level}>", c.scalar.name())
            }
            Pattern::Pointer(spaces, to) => format!("{}* {}", self.pattern(*to), spaces_text(spaces)),
        }
    }

    /// The result, the name and the parameters. More than four parameters of one type are printed
    /// once, with their number.
    pub(super) fn head(&self, name: &str, signature: &Signature) -> String {
        let parameters = match signature.parameters {
            // The constructor of a matrix has up to 16 scalars.
            [first, rest @ ..] if rest.len() > 3 && rest.iter().all(|p| p == first) => {
                format!("{} × {}", self.pattern(*first), rest.len() + 1)
            }
            all => all.iter().map(|p| self.pattern(*p)).collect::<Vec<_>>().join(", "),
        };
        let result = self.pattern(signature.result);
        match name {
            "" => format!("{result}({parameters})"),
            _ => format!("{result} {name}({parameters})"),
        }
    }
}

fn spaces_text(spaces: Spaces) -> String {
    AddressSpace::ALL.into_iter().filter(|&s| spaces.has(s)).map(AddressSpace::keyword).collect::<Vec<_>>().join("|")
}

/// The types of the range in words. N and M stand for 2, 3 or 4.
pub(super) fn range_text(range: &Range) -> String {
    let mut parts = Vec::new();
    let all = |set: TypeSet| range.fixed.and(set) == set;
    for s in Scalar::ALL {
        if range.fixed.has(TypeId::scalar(s)) {
            parts.push(s.name().to_string());
        }
    }
    for s in Scalar::ALL {
        if all(TypeSet::vectors(&[s])) {
            parts.push(format!("{}N", s.name()));
        } else {
            parts.extend((2..=4).filter(|&n| range.fixed.has(TypeId::vector(s, n))).map(|n| format!("{}{n}", s.name())));
        }
    }
    for s in [Scalar::Bool, Scalar::Float] {
        if all(TypeSet::matrices(&[s])) {
            parts.push(format!("{}NxM", s.name()));
            continue;
        }
        for n in 2..=4 {
            let rows: Vec<u8> = (2..=4).filter(|&m| range.fixed.has(TypeId::matrix(s, n, m))).collect();
            match *rows {
                [2, 3, 4] => parts.push(format!("{}{n}xM", s.name())),
                _ => parts.extend(rows.iter().map(|m| format!("{}{n}x{m}", s.name()))),
            }
        }
    }
    for (id, name) in [(TypeId::ATOMIC_INT, "atomic_int"), (TypeId::ATOMIC_UINT, "atomic_uint")] {
        if range.fixed.has(id) {
            parts.push(name.into());
        }
    }
    match range.family {
        Family::None => {}
        Family::Textures(set) => parts.extend(kinds(set).map(|kind| kind.name().to_string())),
        Family::Enums => parts.push("an enum".into()),
        Family::EnumsOf(base) => parts.push(format!("an enum of {}", if base == TypeId::INT { "int" } else { "uint" })),
        Family::Structs => parts.push("a struct".into()),
        Family::StructsOfValues => parts.push("a struct without samplers and textures".into()),
        Family::Arrays => parts.push("an array".into()),
        Family::References => parts.push("an array reference".into()),
        Family::ArrayPointers => parts.push("a pointer to an array".into()),
    }
    match parts.pop() {
        Some(last) if parts.is_empty() => last,
        Some(last) => format!("{} or {last}", parts.join(", ")),
        None => "no type".into(),
    }
}

/// The signatures of the built-in functions of that name, for the notes of a message. If `count` is
/// given, only those with that number of parameters. They show `T` and its types. A cast whose
/// result is `T` shows the type that names the cast instead.
pub fn all_named(types: &Types, key: Key, count: Option<usize>, names: &dyn UserNames) -> Vec<String> {
    let most = TABLE.iter().flat_map(|s| s.rows).flat_map(|r| r.signatures).map(|s| s.parameters.len()).max().unwrap_or(0);
    let counts = count.map_or(0..=most, |n| n..=n);
    let found = counts.flat_map(|n| entries(key, n)).filter_map(|(entry, word)| signature_text(types, key, entry.signature(), word, names));
    found.collect()
}

/// The signature under that name. `None` if it has no result of the type that names the cast, or if
/// no type of its variable has the accessor's elements.
fn signature_text(types: &Types, key: Key, signature: &Signature, word: Word, names: &dyn UserNames) -> Option<String> {
    let mut printer = Printer { types, names, letters: Some(word.indices().len()), t: None };
    let over = signature
        .variable_range
        .map(|range| Range { fixed: TypeSet(range.fixed.iter().filter(|&t| word.fits(types, t)).fold(0, |s, t| s | 1 << t.0)), ..range });
    match key {
        Key::Name(name) => {
            let head = printer.head(name, signature);
            match &over {
                Some(range) if range.fixed == TypeSet::EMPTY && range.family == Family::None => None,
                Some(range) => Some(format!("{head}, T: {}", range_text(range))),
                None => Some(head),
            }
        }
        Key::Cast(id) => match signature.result {
            Pattern::T => over?.has(types, id).then(|| {
                printer.t = Some(id);
                printer.head("", signature)
            }),
            Pattern::Fixed(result) => (result == id).then(|| {
                let head = printer.head("", signature);
                over.map_or(head.clone(), |range| format!("{head}, T: {}", range_text(&range)))
            }),
            _ => None,
        },
    }
}
