//! The result of a test, and the comparison with its expectations.

use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::lambda_v::syntax::{Expr, print_number};
use smallstep_semantics::lambda_v::types::{Elem, Ground};

/// The result of a test.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The ending, verdict or error in a word or two, as `stuck`. Empty if there are values.
    pub word: String,
    /// The reason for the ending, as text.
    pub why: String,
    /// The outputs: the location, type and bits of each.
    pub values: Vec<(u32, Ground, Vec<u32>)>,
    /// The types of the outputs: the location and type of each.
    pub types: Vec<(u32, String)>,
    /// Other facts. An expectation may be the text of one.
    pub notes: Vec<String>,
}

impl Found {
    /// An ending without values.
    pub fn ending(word: impl Into<String>, why: impl Into<String>) -> Found {
        Found { word: word.into(), why: why.into(), ..Found::default() }
    }

    /// Whether an expectation holds. The error says why the expectation is malformed.
    ///
    /// The forms are `[output N:] VALUE`, `[output N:] TYPE`, a note, and `WORD[: part of
    /// the reason]`.
    pub fn meets(&self, expect: &str) -> Result<bool, String> {
        if self.notes.iter().any(|note| note == expect) {
            return Ok(true);
        }
        let (location, rest) = match expect.strip_prefix("output ").and_then(|rest| rest.split_once(':')) {
            Some((n, rest)) => (Some(n.trim().parse::<u32>().map_err(|_| format!("`{n}` is no location"))?), rest.trim()),
            None => (None, expect),
        };
        let wanted = |l: u32| location.map_or(self.values.len().max(self.types.len()) == 1, |n| n == l);
        if let Some((ty, bits)) = value(rest)? {
            return Ok(self.values.iter().any(|(l, t, b)| wanted(*l) && *t == ty && *b == bits));
        }
        if self.types.iter().any(|(l, t)| wanted(*l) && t == rest) {
            return Ok(true);
        }
        let (word, text) = expect.split_once(": ").unwrap_or((expect, ""));
        Ok(!self.word.is_empty() && word == self.word && self.why.contains(text))
    }

    /// The whole result in the form of expectations, each on a line.
    pub fn lines(&self) -> Vec<String> {
        let prefix = |l: u32| if self.values.len().max(self.types.len()) > 1 { format!("output {l}: ") } else { String::new() };
        let mut lines: Vec<String> = self.values.iter().map(|(l, ty, bits)| format!("{}{}", prefix(*l), print(*ty, bits))).collect();
        lines.extend(self.types.iter().map(|(l, ty)| format!("{}{ty}", prefix(*l))));
        match (self.word.is_empty(), self.why.is_empty()) {
            (true, _) => {}
            (false, true) => lines.push(self.word.clone()),
            (false, false) => lines.push(format!("{}: {}", self.word, self.why)),
        }
        lines.extend(self.notes.iter().cloned());
        lines
    }
}

/// The type that a constructor's name stands for.
fn ground(kind: &str) -> Option<Ground> {
    Ground::ALL.into_iter().find(|&ty| constructor(ty) == kind)
}

fn constructor(ty: Ground) -> String {
    match ty {
        Ground::Vec(1, Elem::F) => "num".into(),
        Ground::Vec(1, Elem::B) => "bool".into(),
        Ground::Vec(n, Elem::F) => format!("vec{n}"),
        Ground::Vec(n, Elem::B) => format!("bvec{n}"),
        Ground::Mat(n) => format!("mat{n}"),
    }
}

/// Reads a value, as `vec4 1.0 0x3f800000 0 1`, `mat2 1 0 | 0 1`, `true` or `-2.5`. `None` if the
/// text does not begin like a value.
fn value(text: &str) -> Result<Option<(Ground, Vec<u32>)>, String> {
    let mut words = text.split_whitespace().filter(|w| *w != "|").peekable();
    let Some(first) = words.peek().copied() else { return Ok(None) };
    let ty = match ground(first) {
        Some(ty) => {
            words.next();
            ty
        }
        None => match component(first) {
            Some((_, true)) => Ground::BOOL,
            Some((_, false)) => Ground::NUM,
            None => return Ok(None),
        },
    };
    let is_bool = matches!(ty, Ground::Vec(_, Elem::B));
    let mut bits = Vec::new();
    for word in words {
        match component(word) {
            Some((b, truth)) if truth == is_bool => bits.push(b),
            _ => return Err(format!("`{word}` is no component of a {ty}")),
        }
    }
    if bits.len() != ty.components() {
        return Err(format!("a {ty} has {} components, not {}", ty.components(), bits.len()));
    }
    Ok(Some((ty, bits)))
}

/// The bits of a component, and whether it is a Boolean.
fn component(word: &str) -> Option<(u32, bool)> {
    if let Some(digits) = word.strip_prefix("0x") {
        return Some((u32::from_str_radix(digits, 16).ok()?, false));
    }
    match parse(word).ok()?.nodes.as_slice() {
        [Expr::Num(x)] => Some((x.to_bits(), false)),
        [Expr::Bool(b)] => Some((*b as u32, true)),
        _ => None,
    }
}

/// A value in the form of expectations: finite numbers as decimals, NaN and infinities as bits.
fn print(ty: Ground, bits: &[u32]) -> String {
    let mut out = constructor(ty);
    for &bits in bits {
        out.push(' ');
        match (ty, f32::from_bits(bits)) {
            (Ground::Vec(_, Elem::B), _) => out.push_str(if bits == 0 { "false" } else { "true" }),
            (_, x) if x.is_finite() => print_number(x, &mut out),
            _ => out.push_str(&format!("{bits:#010x}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_by_type_and_bits() {
        let found = |ty, xs: &[f32]| Found { values: vec![(0, ty, xs.iter().map(|x| x.to_bits()).collect())], ..Found::default() };
        let vec2 = found(Ground::Vec(2, Elem::F), &[1.0, -0.0]);
        assert_eq!(vec2.meets("vec2 1.0 -0"), Ok(true));
        assert_eq!(vec2.meets("vec2 0x3f800000 0x80000000"), Ok(true));
        assert_eq!(vec2.meets("output 0: vec2 1 -0"), Ok(true));
        assert_eq!(vec2.meets("vec2 1 0"), Ok(false));
        assert_eq!(vec2.meets("output 1: vec2 1 -0"), Ok(false));
        assert_eq!(vec2.meets("stuck"), Ok(false));
        assert!(vec2.meets("vec2 1").is_err() && vec2.meets("vec2 1 true").is_err());
        assert_eq!(vec2.lines(), ["vec2 1 -0"]);
        assert_eq!(found(Ground::NUM, &[f32::NAN]).meets("num 0x7fc00000"), Ok(true));
        let truth = Found { values: vec![(0, Ground::BOOL, vec![1])], ..Found::default() };
        assert_eq!((truth.meets("true"), truth.meets("1"), truth.meets("bool true")), (Ok(true), Ok(false), Ok(true)));
    }

    #[test]
    fn endings_are_a_word_and_a_part_of_what_is_said() {
        let stuck = Found::ending("stuck", "lv/e-func needs 1 arguments");
        assert_eq!(stuck.meets("stuck"), Ok(true));
        assert_eq!(stuck.meets("stuck: lv/e-func needs"), Ok(true));
        assert_eq!(stuck.meets("stuck: lv/e-rec-func"), Ok(false));
        assert_eq!(stuck.meets("diverges"), Ok(false));
    }
}
