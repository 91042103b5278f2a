//! Terms as text: distances become names again.
//!
//! A binder keeps its name unless that name is predefined or bound outside, then it gets a number:
//! `x_1`. The text of a term without engine-made parts reads back to the same term.

use super::resolve::is_predefined;
use super::syntax::{Symbol, Symbols, print_number};
use super::terms::{Extension, Node, REC, Range, TermId, Terms, deep};
use super::typing::Typed;
use std::fmt::Write;

/// Prints terms; `ext` prints terms that only an engine makes.
pub struct Printer<'a, X> {
    /// The arena.
    pub terms: &'a Terms<X>,
    /// The identifiers.
    pub symbols: &'a Symbols,
    /// Writes an extension.
    pub ext: &'a dyn Fn(X) -> String,
    /// The longest text in bytes; the rest is cut and ends in `…`.
    pub limit: usize,
}

impl<X: Extension> Printer<'_, X> {
    /// The term as text.
    pub fn print(&self, e: TermId) -> String {
        let mut out = String::new();
        self.term(e, &mut Vec::new(), &mut out);
        if out.len() > self.limit {
            let mut end = self.limit;
            while !out.is_char_boundary(end) {
                end -= 1;
            }
            out.truncate(end);
            out.push('…');
        }
        out
    }

    fn term(&self, e: TermId, scope: &mut Vec<Vec<String>>, out: &mut String) {
        if out.len() > self.limit {
            return;
        }
        deep(|| match self.terms.node(e) {
            Node::Num(bits) => print_number(f32::from_bits(bits), out),
            Node::Bool(b) => {
                let _ = write!(out, "{b}");
            }
            Node::Builtin(builtin) => out.push_str(builtin.name()),
            Node::If => out.push_str("if"),
            Node::Ext(x) => out.push_str(&(self.ext)(x)),
            Node::Var { slot: REC, .. } => out.push_str("rec"),
            Node::Var { group, slot } => {
                let list = scope.len().checked_sub(1 + group as usize).map(|i| &scope[i]);
                match list.and_then(|names| names.get(slot as usize)) {
                    Some(name) => out.push_str(name),
                    // Free in an open term: its distance beyond the outermost list.
                    None => {
                        let _ = write!(out, "free{}.{slot}", group as usize - scope.len());
                    }
                }
            }
            Node::List(items) => {
                out.push('(');
                for (i, &item) in self.terms.items(items).iter().enumerate() {
                    if i > 0 {
                        out.push(' ');
                    }
                    self.term(item, scope, out);
                }
                out.push(')');
            }
            Node::Let { names, values, body } => {
                let fresh = self.fresh(names, scope);
                out.push_str("(let (");
                for (i, (name, &value)) in fresh.iter().zip(self.terms.items(values)).enumerate() {
                    let _ = write!(out, "{}({name} ", if i > 0 { " " } else { "" });
                    self.term(value, scope, out);
                    out.push(')');
                }
                out.push_str(") ");
                self.body(body, fresh, scope, out);
            }
            Node::Func { names, body } => self.function("func", names, body, scope, out),
            Node::RecFunc { names, body } => self.function("rec-func", names, body, scope, out),
        })
    }

    fn function(&self, form: &str, names: Range, body: TermId, scope: &mut Vec<Vec<String>>, out: &mut String) {
        let fresh = self.fresh(names, scope);
        let _ = write!(out, "({form} ({}) ", fresh.join(" "));
        self.body(body, fresh, scope, out);
    }

    fn body(&self, body: TermId, fresh: Vec<String>, scope: &mut Vec<Vec<String>>, out: &mut String) {
        scope.push(fresh);
        self.term(body, scope, out);
        scope.pop();
        out.push(')');
    }

    fn fresh(&self, names: Range, scope: &[Vec<String>]) -> Vec<String> {
        let mut fresh: Vec<String> = Vec::new();
        for &Symbol(s) in self.terms.names(names) {
            let name = self.symbols.name(Symbol(s));
            let taken = |n: &str, fresh: &[String]| {
                is_predefined(n) || fresh.iter().any(|f| f == n) || scope.iter().any(|list| list.iter().any(|f| f == n))
            };
            let mut candidate = name.to_string();
            let mut number = 1;
            while taken(&candidate, &fresh) {
                candidate = format!("{name}_{number}");
                number += 1;
            }
            fresh.push(candidate);
        }
        fresh
    }
}

/// The text of typing's own terms: `[τ]` for a parameter, `rec#k` for the rec of frame k.
pub fn print_typed(x: Typed) -> String {
    match x {
        Typed::Param(ty) => format!("[{ty}]"),
        Typed::Rec(frame) => format!("rec#{frame}"),
    }
}
