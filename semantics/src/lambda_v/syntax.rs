//! λV syntax: report §2, `e ::= num | true | false | identifier | (l)`.
//!
//! This module has the program as written, before any name has a meaning: nodes in an arena
//! (nesting costs no stack), each with its span. Its printer's text reads back to the same tree.
//! `resolve` gives the names their meaning.

pub use crate::text::{Span, Symbol, Symbols, line_column};

/// The index of an expression in its [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExprId(pub u32);

/// An expression of report §2.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number: a 32-bit float. Never infinite or NaN when read from text.
    Num(f32),
    /// `true` or `false`.
    Bool(bool),
    /// An identifier, predefined or not.
    Ident(Symbol),
    /// `(e0 … en)`, or `()`.
    List(Vec<ExprId>),
}

/// A sequence of top-level expressions with their spans.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The nodes; children stand before their list.
    pub nodes: Vec<Expr>,
    /// The span of each node.
    pub spans: Vec<Span>,
    /// The top-level expressions in order.
    pub roots: Vec<ExprId>,
    /// The identifiers.
    pub symbols: Symbols,
    /// The lines of the text to which the spans refer.
    pub lines: Lines,
}

/// Where the lines of a text begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(Vec<u32>);

impl Lines {
    /// The lines of `text`.
    pub fn of(text: &str) -> Lines {
        Lines(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1).collect())
    }

    /// Adds a line after all others. It begins at this byte.
    pub fn push(&mut self, start: u32) {
        self.0.push(start);
    }

    /// The line and column of a byte of the program, both from 1. Outside of comments, which end
    /// with their line, characters are bytes.
    pub fn at(&self, offset: u32) -> (usize, usize) {
        let line = self.0.partition_point(|&start| start <= offset);
        let start = line.checked_sub(1).map_or(0, |i| self.0[i]);
        (line + 1, (offset - start) as usize + 1)
    }
}

impl Tree {
    /// The expression.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.nodes[id.0 as usize]
    }

    /// The place of an expression in the text.
    pub fn span(&self, id: ExprId) -> Span {
        self.spans[id.0 as usize]
    }

    /// Adds a node.
    pub fn push(&mut self, expr: Expr, span: Span) -> ExprId {
        let id = ExprId(self.nodes.len() as u32);
        self.nodes.push(expr);
        self.spans.push(span);
        id
    }

    /// The number of nodes reachable from `root`, lists counted as one each.
    pub fn size(&self, root: ExprId) -> usize {
        let mut n = 0;
        let mut todo = vec![root];
        while let Some(id) = todo.pop() {
            n += 1;
            if let Expr::List(items) = self.expr(id) {
                todo.extend(items);
            }
        }
        n
    }

    /// The program as text, one top-level expression a line; parsing it gives the same tree.
    pub fn print(&self) -> String {
        let mut out = String::new();
        for &root in &self.roots {
            self.print_into(root, &mut out);
            out.push('\n');
        }
        out
    }

    /// One expression as text.
    pub fn print_expr(&self, root: ExprId) -> String {
        let mut out = String::new();
        self.print_into(root, &mut out);
        out
    }

    fn print_into(&self, root: ExprId, out: &mut String) {
        enum Todo {
            Node(ExprId),
            Text(&'static str),
        }
        let mut todo = vec![Todo::Node(root)];
        while let Some(next) = todo.pop() {
            let id = match next {
                Todo::Text(t) => {
                    out.push_str(t);
                    continue;
                }
                Todo::Node(id) => id,
            };
            match self.expr(id) {
                Expr::Num(x) => print_number(*x, out),
                Expr::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
                Expr::Ident(s) => out.push_str(self.symbols.name(*s)),
                Expr::List(items) => {
                    out.push('(');
                    todo.push(Todo::Text(")"));
                    for (i, &item) in items.iter().enumerate().rev() {
                        todo.push(Todo::Node(item));
                        if i > 0 {
                            todo.push(Todo::Text(" "));
                        }
                    }
                }
            }
        }
    }

    /// Whether two trees are the same but for spans and the numbering of symbols.
    pub fn same(&self, other: &Tree) -> bool {
        if self.roots.len() != other.roots.len() {
            return false;
        }
        let mut todo: Vec<(ExprId, ExprId)> = self.roots.iter().copied().zip(other.roots.iter().copied()).collect();
        while let Some((a, b)) = todo.pop() {
            match (self.expr(a), other.expr(b)) {
                (Expr::Num(x), Expr::Num(y)) if x.to_bits() == y.to_bits() => {}
                (Expr::Bool(x), Expr::Bool(y)) if x == y => {}
                (Expr::Ident(x), Expr::Ident(y)) if self.symbols.name(*x) == other.symbols.name(*y) => {}
                (Expr::List(x), Expr::List(y)) if x.len() == y.len() => todo.extend(x.iter().copied().zip(y.iter().copied())),
                _ => return false,
            }
        }
        true
    }
}

/// Writes a finite float so that reading it gives the same bits: plain decimals where they are
/// short, an exponent otherwise.
pub fn print_number(x: f32, out: &mut String) {
    use std::fmt::Write;
    let magnitude = x.abs();
    // Display of floats never uses an exponent, so very large and very small numbers would be long
    // rows of zeros.
    let _ = if magnitude != 0.0 && !(1e-5..1e9).contains(&magnitude) && x.is_finite() { write!(out, "{x:e}") } else { write!(out, "{x}") };
}
