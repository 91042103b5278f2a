//! Generated programs as trees of text, with places for expressions and bodies. Shrinking tries
//! smaller trees.
//!
//! The tree knows only what shrinking needs of the language: the statements, and the expressions
//! with their kinds. A smaller tree may be invalid. The caller of shrinking validates it.

use std::fmt::Write;

/// The kind of an expression. Shrinking may replace an expression by another of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of type `uint`.
    Uint,
    /// Of type `bool`.
    Bool,
    /// Of another type, or a place. Shrinking does not replace it.
    Other,
}

/// A piece of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// An expression.
    Expr(Expr),
    /// Statements between braces.
    Body(Vec<Stmt>),
}

/// An expression. It contains no bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// Its kind.
    pub kind: Kind,
    /// Its pieces.
    pub parts: Vec<Part>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt(pub Vec<Part>);

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The text before its body.
    pub head: String,
    /// Its body.
    pub body: Vec<Stmt>,
}

/// A program. The last function is the entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Declarations that shrinking does not change. Each has a text. The declaration is needed if
    /// that text occurs in the functions.
    pub prelude: Vec<(&'static str, String)>,
    /// The functions. Each stands before its callers.
    pub functions: Vec<Function>,
}

/// The pieces of a template. Each `$` stands for the next expression.
pub(super) fn parts<const N: usize>(template: &str, exprs: [Expr; N]) -> Vec<Part> {
    let mut out = Vec::new();
    let mut exprs = exprs.into_iter();
    for (i, text) in template.split('$').enumerate() {
        if i > 0 {
            out.extend(exprs.next().map(Part::Expr));
        }
        if !text.is_empty() {
            out.push(Part::Text(text.into()));
        }
    }
    out
}

impl Expr {
    pub(super) fn new<const N: usize>(kind: Kind, template: &str, exprs: [Expr; N]) -> Expr {
        Expr { kind, parts: parts(template, exprs) }
    }

    pub(super) fn text(kind: Kind, text: impl Into<String>) -> Expr {
        Expr { kind, parts: vec![Part::Text(text.into())] }
    }

    /// Whether it is one of the literals with which shrinking ends.
    fn is_literal(&self) -> bool {
        matches!(&self.parts[..], [Part::Text(text)] if LITERALS.iter().any(|(_, all)| all.contains(&text.as_str())))
    }

    /// Whether it is a single number.
    pub(super) fn is_number(&self) -> bool {
        matches!(&self.parts[..], [Part::Text(text)] if text.starts_with(|c: char| c.is_ascii_digit()))
    }

    fn subs(&self) -> impl Iterator<Item = &Expr> {
        self.parts.iter().filter_map(|part| match part {
            Part::Expr(e) => Some(e),
            _ => None,
        })
    }

    fn write(&self, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Expr(e) => e.write(out),
                Part::Body(_) => {}
            }
        }
    }
}

const LITERALS: [(Kind, &[&str]); 2] = [(Kind::Uint, &["0u", "1u"]), (Kind::Bool, &["true", "false"])];

fn write_body(body: &[Stmt], indent: usize, out: &mut String) {
    for stmt in body {
        out.extend(std::iter::repeat_n("    ", indent));
        for part in &stmt.0 {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Expr(e) => e.write(out),
                Part::Body(body) => {
                    out.push_str("{\n");
                    write_body(body, indent + 1, out);
                    out.extend(std::iter::repeat_n("    ", indent));
                    out.push('}');
                }
            }
        }
        out.push('\n');
    }
}

impl Tree {
    /// The program's text.
    pub fn text(&self) -> String {
        let mut functions = String::new();
        for function in &self.functions {
            let _ = writeln!(functions, "{} {{", function.head);
            write_body(&function.body, 1, &mut functions);
            functions.push_str("}\n");
        }
        let needed = self.prelude.iter().filter(|(sign, _)| functions.contains(sign));
        needed.map(|(_, text)| text.as_str()).chain([functions.as_str()]).collect()
    }

    /// The number of statements in all functions.
    pub fn statements(&self) -> usize {
        fn count(body: &[Stmt]) -> usize {
            let inner = |stmt: &Stmt| stmt.0.iter().map(|part| if let Part::Body(body) = part { count(body) } else { 0 }).sum::<usize>();
            body.iter().map(|stmt| 1 + inner(stmt)).sum()
        }
        self.functions.iter().map(|f| count(&f.body)).sum()
    }

    /// The smallest tree that `keeps` accepts and that single edits find. At most `limit` trees,
    /// valid or not, are passed to `keeps`.
    pub fn shrunk(&self, limit: usize, keeps: &mut dyn FnMut(&Tree) -> bool) -> Tree {
        let mut tree = self.clone();
        let mut remaining = limit;
        loop {
            let (mut at, mut changed) = (0, false);
            while let Some(smaller) = tree.edited(at) {
                if remaining == 0 {
                    return tree;
                }
                remaining -= 1;
                if keeps(&smaller) {
                    tree = smaller;
                    changed = true;
                } else {
                    at += 1;
                }
            }
            if !changed {
                return tree;
            }
        }
    }

    /// The tree after the edit of this number, which makes it smaller. `None` after the last edit.
    fn edited(&self, number: usize) -> Option<Tree> {
        let mut tree = self.clone();
        let mut to_skip = EditsToSkip(number);
        if number + 1 < tree.functions.len() {
            tree.functions.remove(number);
            return Some(tree);
        }
        to_skip.0 -= tree.functions.len().saturating_sub(1);
        let was_edited = tree.functions.iter_mut().rev().any(|f| to_skip.statements(&mut f.body))
            || tree.functions.iter_mut().rev().any(|f| to_skip.expressions(&mut f.body));
        was_edited.then_some(tree)
    }
}

/// The number of edits to skip before one is made.
struct EditsToSkip(usize);

impl EditsToSkip {
    /// Whether to make this edit.
    fn turn(&mut self) -> bool {
        let turn = self.0 == 0;
        self.0 = self.0.wrapping_sub(1);
        turn
    }

    /// Removes a statement, or replaces it by its contents. Returns whether it made an edit.
    fn statements(&mut self, body: &mut Vec<Stmt>) -> bool {
        for i in 0..body.len() {
            if self.turn() {
                body.remove(i);
                return true;
            }
            let bodies = body[i].0.iter().filter(|part| matches!(part, Part::Body(_))).count();
            for n in 0..bodies {
                if self.turn() {
                    let stmt = body.remove(i);
                    let inner = stmt.0.into_iter().filter_map(|part| if let Part::Body(inner) = part { Some(inner) } else { None }).nth(n);
                    body.splice(i..i, inner.unwrap_or_default());
                    return true;
                }
            }
            // A case of a switch is removed together with its label.
            let is_label = |part: &Part| matches!(part, Part::Text(text) if text.starts_with(" case "));
            for n in 0..body[i].0.len() {
                if is_label(&body[i].0[n]) && self.turn() {
                    body[i].0.drain(n..n + 2);
                    return true;
                }
            }
            // An empty body at the end of an `if` is removed together with its `else`.
            if let [.., Part::Text(text), Part::Body(last)] = &body[i].0[..]
                && text.starts_with(" else")
                && last.is_empty()
                && self.turn()
            {
                let parts = &mut body[i].0;
                parts.truncate(parts.len() - 2);
                return true;
            }
            for part in &mut body[i].0 {
                if let Part::Body(inner) = part
                    && self.statements(inner)
                {
                    return true;
                }
            }
        }
        false
    }

    fn expressions(&mut self, body: &mut [Stmt]) -> bool {
        body.iter_mut().flat_map(|stmt| &mut stmt.0).any(|part| match part {
            Part::Expr(e) => self.expression(e),
            Part::Body(inner) => self.expressions(inner),
            Part::Text(_) => false,
        })
    }

    /// Replaces an expression by a part of it or by a literal. Returns whether it made an edit.
    fn expression(&mut self, e: &mut Expr) -> bool {
        if e.kind != Kind::Other && !e.is_literal() {
            for n in 0..e.subs().filter(|sub| sub.kind == e.kind).count() {
                if self.turn() {
                    let sub = e.subs().filter(|sub| sub.kind == e.kind).nth(n).cloned();
                    *e = sub.unwrap_or_else(|| e.clone());
                    return true;
                }
            }
            for literal in LITERALS.iter().filter(|(kind, _)| *kind == e.kind).flat_map(|(_, all)| *all) {
                if self.turn() {
                    *e = Expr::text(e.kind, *literal);
                    return true;
                }
            }
        }
        e.parts.iter_mut().any(|part| if let Part::Expr(sub) = part { self.expression(sub) } else { false })
    }
}
