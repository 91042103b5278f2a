//! Program texts in every language: places in them, and the identifiers that occur in them.

use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap};

/// A half-open range of byte offsets into the source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

/// An interned identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symbol(pub u32);

/// The identifiers of a program.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// All identifiers, one after another, so that copying them is cheap. `ends` has the end
    /// of each.
    text: String,
    ends: Vec<u32>,
    /// `index` has the last symbol with each hash. `previous` has, by symbol, the previous symbol
    /// with the same hash.
    index: FxHashMap<u64, Symbol>,
    previous: Vec<Option<Symbol>>,
}

impl Symbols {
    /// The symbol of `name`.
    pub fn intern(&mut self, name: &str) -> Symbol {
        let hash = FxBuildHasher.hash_one(name);
        // In tests, many names share a hash.
        let hash = if cfg!(test) { hash % 4 } else { hash };
        let last = self.index.get(&hash).copied();
        let mut next = last;
        while let Some(s) = next {
            if self.name(s) == name {
                return s;
            }
            next = self.previous[s.0 as usize];
        }
        let s = Symbol(self.ends.len() as u32);
        self.text.push_str(name);
        self.ends.push(self.text.len() as u32);
        self.previous.push(last);
        self.index.insert(hash, s);
        s
    }

    /// The text of the identifier.
    pub fn name(&self, s: Symbol) -> &str {
        let at = s.0 as usize;
        let start = at.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        &self.text[start as usize..self.ends[at] as usize]
    }

    /// The number of identifiers.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no identifiers.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// The line and the column of an offset, both from 1. The column counts characters.
pub fn line_column(text: &str, offset: u32) -> (usize, usize) {
    let offset = (offset as usize).min(text.len());
    let before = &text.as_bytes()[..offset];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    (line, column)
}

/// Runs a recursive step with enough stack. Limits of the parsers and engines bound the nesting,
/// never the thread's stack.
#[inline]
pub fn deep<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(96 << 10, 4 << 20, f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_one_symbol() {
        let (mut symbols, names) = (Symbols::default(), (0..50).map(|n| format!("n{n}")).collect::<Vec<_>>());
        let first: Vec<Symbol> = names.iter().map(|name| symbols.intern(name)).collect();
        let copy = symbols.clone();
        for (n, (name, &symbol)) in names.iter().zip(&first).enumerate() {
            assert_eq!((symbol, symbols.intern(name), copy.name(symbol)), (Symbol(n as u32), symbol, name.as_str()));
        }
        assert_eq!((symbols.len(), symbols.intern(""), symbols.name(Symbol(50))), (50, Symbol(50), ""));
    }
}
