//! The meaning of a program's names: from the tree as written to terms (report §2 and its
//! footnote 2).
//!
//! `let`, `func`, `rec-func`, `if`, `rec` and the builtins are predefined identifiers, not syntax:
//! a binder of the same name hides them. The three binding forms, `define` and `output` have a
//! meaning only as the first item of a list. `if`, `rec` and the builtins may stand anywhere an
//! expression may, so `(let ((plus +)) (plus 1 2))` is a program.

use super::builtin::{Builtin, TABLE};
use super::parse::{SyntaxError, parse};
use super::syntax::{Expr, ExprId, Lines, Span, Symbol, Symbols, Tree};
use super::terms::{Never, Node, REC, TermId, Terms, deep};
use crate::outcome::Limit;
use rustc_hash::FxHashMap;

/// The most terms of one source program.
pub const MAX_TERMS: usize = 4 << 20;

/// One `(output n e)`.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// n: the location of the colour attachment.
    pub location: u32,
    /// e, inside lets of the defines that stand before it.
    pub term: TermId,
    /// The span of the whole form.
    pub span: Span,
}

/// A program: outputs that are closed terms.
#[derive(Clone, Debug)]
pub struct Program {
    /// The terms.
    pub terms: Terms<Never>,
    /// The outputs by location, ascending; at least one.
    pub outputs: Vec<Output>,
    /// The identifiers.
    pub symbols: Symbols,
    /// The lines of its text.
    pub lines: Lines,
    /// The number of nodes of the program as written.
    pub size: usize,
}

/// Locations are below this.
pub const MAX_LOCATION: u32 = 8;

/// The most defines of one program: each is a let around the outputs that follow.
pub const MAX_DEFINES: usize = 10_000;

impl Program {
    /// Reads and resolves a program.
    ///
    /// Errors: those of [`parse`], and names without meaning, malformed forms, no output, two
    /// outputs at one location.
    pub fn read(text: &str) -> Result<Program, SyntaxError> {
        Program::resolve(&parse(text)?)
    }

    /// Resolves a tree.
    pub fn resolve(tree: &Tree) -> Result<Program, SyntaxError> {
        let mut resolver = Resolver::new(tree);
        let outputs = resolver.program()?;
        let size = tree.roots.iter().map(|&r| tree.size(r)).sum();
        Ok(Program { terms: resolver.terms, outputs, symbols: tree.symbols.clone(), lines: tree.lines.clone(), size })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Predefined {
    Builtin(Builtin),
    If,
    Rec,
    Let,
    Func,
    RecFunc,
    Define,
    Output,
}

fn predefined(name: &str) -> Option<Predefined> {
    static INDEX: std::sync::OnceLock<FxHashMap<&'static str, Predefined>> = std::sync::OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let forms = [
            ("if", Predefined::If),
            ("rec", Predefined::Rec),
            ("let", Predefined::Let),
            ("func", Predefined::Func),
            ("rec-func", Predefined::RecFunc),
            ("define", Predefined::Define),
            ("output", Predefined::Output),
        ];
        let builtins = TABLE.iter().enumerate().map(|(i, row)| (row.name, Predefined::Builtin(Builtin(i as u8))));
        forms.into_iter().chain(builtins).collect()
    });
    index.get(name).copied()
}

/// Whether the name is predefined.
pub fn is_predefined(name: &str) -> bool {
    predefined(name).is_some()
}

struct Resolver<'a> {
    tree: &'a Tree,
    terms: Terms<Never>,
    /// The predefined meaning of each symbol.
    meaning: Vec<Option<Predefined>>,
    /// The symbol `rec`, if the program mentions it.
    rec: Option<Symbol>,
    /// The binders in scope of each symbol, innermost last: the list's number from outside and the
    /// position in it.
    bound: Vec<Vec<(u32, u32)>>,
    /// The symbols bound, in order, so that a scope's end can undo them.
    scope: Vec<Symbol>,
    /// The number of binder lists in scope.
    groups: u32,
}

impl<'a> Resolver<'a> {
    fn new(tree: &'a Tree) -> Resolver<'a> {
        let meaning: Vec<_> = (0..tree.symbols.len() as u32).map(|s| predefined(tree.symbols.name(Symbol(s)))).collect();
        let rec = meaning.iter().position(|m| *m == Some(Predefined::Rec)).map(|i| Symbol(i as u32));
        let bound = vec![Vec::new(); meaning.len()];
        Resolver { tree, terms: Terms::new(MAX_TERMS), meaning, rec, bound, scope: Vec::new(), groups: 0 }
    }

    fn program(&mut self) -> Result<Vec<Output>, SyntaxError> {
        let mut outputs: Vec<Output> = Vec::new();
        let mut defines: Vec<(Symbol, TermId, Span)> = Vec::new();
        let tree = self.tree;
        let is_expression = match tree.roots.as_slice() {
            [] => return Err(error("lv/program-empty", Span { start: 0, end: 0 }, "the program is empty; write an expression")),
            [one] => self.form(*one).is_none(),
            _ => false,
        };
        if is_expression {
            let term = self.expr(tree.roots[0])?;
            return Ok(vec![Output { location: 0, term, span: tree.span(tree.roots[0]) }]);
        }
        for &root in &tree.roots {
            let span = tree.span(root);
            match self.form(root) {
                Some((Predefined::Define, [_, name, value])) => {
                    let Expr::Ident(symbol) = *tree.expr(*name) else {
                        return Err(error("lv/define", tree.span(*name), "define needs an identifier here"));
                    };
                    if defines.len() == MAX_DEFINES {
                        return Err(error("lv/define", span, format!("more than {MAX_DEFINES} defines in one program")));
                    }
                    let value = self.expr(*value)?;
                    defines.push((symbol, value, span));
                    self.bind(&[symbol]);
                }
                Some((Predefined::Output, [_, n, value])) => {
                    let location = match *tree.expr(*n) {
                        Expr::Num(x) if x.fract() == 0.0 && (0.0..MAX_LOCATION as f32).contains(&x) => x as u32,
                        _ => {
                            let message = format!("output needs a location from 0 to {} here, written as a number", MAX_LOCATION - 1);
                            return Err(error("lv/output-location", tree.span(*n), message));
                        }
                    };
                    if outputs.iter().any(|o| o.location == location) {
                        return Err(error("lv/output-duplicate", span, format!("a second output at location {location}")));
                    }
                    let mut term = self.expr(*value)?;
                    for &(symbol, value, at) in defines.iter().rev() {
                        let names = self.terms.add_names(&[symbol]);
                        term = self.terms.add_let(names, &[value], term, at).map_err(|l| limit(l, at))?;
                    }
                    outputs.push(Output { location, term, span });
                }
                Some((Predefined::Define, _)) => return Err(error("lv/define", span, "define takes an identifier and an expression")),
                Some(_) => return Err(error("lv/output", span, "output takes a location and an expression")),
                None => {
                    let message = "a program is one expression, or a sequence of (define id e) and (output n e)";
                    return Err(error("lv/program-form", span, message));
                }
            }
        }
        if outputs.is_empty() {
            let span = tree.span(tree.roots[tree.roots.len() - 1]);
            return Err(error("lv/program-output", span, "the program has no output; add (output 0 e)"));
        }
        outputs.sort_by_key(|o| o.location);
        Ok(outputs)
    }

    /// A top-level `(define …)` or `(output …)` whose head is not hidden by an earlier define.
    fn form(&self, root: ExprId) -> Option<(Predefined, &'a [ExprId])> {
        let Expr::List(items) = self.tree.expr(root) else { return None };
        let meaning = self.head(items)?;
        matches!(meaning, Predefined::Define | Predefined::Output).then_some((meaning, items.as_slice()))
    }

    /// The predefined meaning of a list's first item, if it is an identifier that no binder hides.
    fn head(&self, items: &[ExprId]) -> Option<Predefined> {
        let Expr::Ident(symbol) = *self.tree.expr(*items.first()?) else { return None };
        match self.bound[symbol.0 as usize].is_empty() {
            true => self.meaning[symbol.0 as usize],
            false => None,
        }
    }

    fn bind(&mut self, names: &[Symbol]) {
        for (slot, &symbol) in names.iter().enumerate() {
            self.bind_one(symbol, slot as u32);
        }
        self.groups += 1;
    }

    fn bind_one(&mut self, symbol: Symbol, slot: u32) {
        self.bound[symbol.0 as usize].push((self.groups, slot));
        self.scope.push(symbol);
    }

    /// Resolves `body` under one more binder list.
    fn with_binders(&mut self, names: &[Symbol], rec: bool, body: ExprId) -> Result<TermId, SyntaxError> {
        let depth = self.scope.len();
        if rec && let Some(symbol) = self.rec {
            // `rec` is bound with the parameters; a parameter named `rec` hides it, since it is
            // found first.
            self.bind_one(symbol, REC);
        }
        self.bind(names);
        let body = self.expr(body);
        for symbol in self.scope.drain(depth..) {
            self.bound[symbol.0 as usize].pop();
        }
        self.groups -= 1;
        body
    }

    fn expr(&mut self, id: ExprId) -> Result<TermId, SyntaxError> {
        let span = self.tree.span(id);
        let node = match self.tree.expr(id) {
            Expr::Num(x) => Node::Num(x.to_bits()),
            Expr::Bool(b) => Node::Bool(*b),
            Expr::Ident(symbol) => self.identifier(*symbol, span)?,
            Expr::List(items) => return deep(|| self.list(items, span)),
        };
        self.terms.add(node, span).map_err(|l| limit(l, span))
    }

    fn identifier(&mut self, symbol: Symbol, span: Span) -> Result<Node<Never>, SyntaxError> {
        if let Some(&(group, slot)) = self.bound[symbol.0 as usize].last() {
            return Ok(Node::Var { group: self.groups - 1 - group, slot });
        }
        let name = self.tree.symbols.name(symbol);
        match self.meaning[symbol.0 as usize] {
            Some(Predefined::Builtin(b)) => Ok(Node::Builtin(b)),
            Some(Predefined::If) => Ok(Node::If),
            Some(Predefined::Rec) => Err(error("lv/rec-outside", span, "`rec` stands outside every rec-func")),
            Some(Predefined::Define | Predefined::Output) => {
                Err(error("lv/form-place", span, format!("`{name}` stands only at the head of a top-level form")))
            }
            Some(_) => Err(error("lv/form-place", span, format!("`{name}` is a binding form: it stands only as the first item of a list"))),
            None => Err(error("lv/unknown-identifier", span, format!("`{name}` is not bound here, and no builtin has that name"))),
        }
    }

    fn list(&mut self, items: &'a [ExprId], span: Span) -> Result<TermId, SyntaxError> {
        let tree = self.tree;
        match self.head(items) {
            Some(Predefined::Let) => {
                let [_, bindings, body] = items else {
                    return Err(error("lv/let", span, "let takes a list of (identifier expression) and a body"));
                };
                let Expr::List(bindings) = tree.expr(*bindings) else {
                    return Err(error("lv/let", tree.span(*bindings), "let needs a list of (identifier expression) here"));
                };
                let mut names = Vec::with_capacity(bindings.len());
                let mut values = Vec::with_capacity(bindings.len());
                for &binding in bindings {
                    let Expr::List(pair) = tree.expr(binding) else {
                        return Err(error("lv/let", tree.span(binding), "let needs (identifier expression) here"));
                    };
                    let [name, value] = pair.as_slice() else {
                        return Err(error("lv/let", tree.span(binding), "let needs (identifier expression) here"));
                    };
                    self.binder(*name, &mut names)?;
                    values.push(self.expr(*value)?);
                }
                let body = self.with_binders(&names, false, *body)?;
                let names = self.terms.add_names(&names);
                self.terms.add_let(names, &values, body, span).map_err(|l| limit(l, span))
            }
            Some(form @ (Predefined::Func | Predefined::RecFunc)) => {
                let rec = form == Predefined::RecFunc;
                let (code, name) = if rec { ("lv/rec-func", "rec-func") } else { ("lv/func", "func") };
                let [_, params, body] = items else {
                    return Err(error(code, span, format!("{name} takes a list of identifiers and a body")));
                };
                let Expr::List(params) = tree.expr(*params) else {
                    return Err(error(code, tree.span(*params), format!("{name} needs a list of identifiers here")));
                };
                let mut names = Vec::with_capacity(params.len());
                for &param in params {
                    self.binder(param, &mut names)?;
                }
                let body = self.with_binders(&names, rec, *body)?;
                let names = self.terms.add_names(&names);
                let node = if rec { Node::RecFunc { names, body } } else { Node::Func { names, body } };
                self.terms.add(node, span).map_err(|l| limit(l, span))
            }
            _ => {
                let mut terms = Vec::with_capacity(items.len());
                for &item in items {
                    terms.push(self.expr(item)?);
                }
                self.terms.add_list(&terms, span).map_err(|l| limit(l, span))
            }
        }
    }

    fn binder(&self, id: ExprId, names: &mut Vec<Symbol>) -> Result<(), SyntaxError> {
        let span = self.tree.span(id);
        let Expr::Ident(symbol) = *self.tree.expr(id) else {
            return Err(error("lv/binder", span, "an identifier to bind is needed here"));
        };
        if names.contains(&symbol) {
            let message = format!("`{}` is bound twice in one list", self.tree.symbols.name(symbol));
            return Err(error("lv/binder-duplicate", span, message));
        }
        names.push(symbol);
        Ok(())
    }
}

fn error(code: &'static str, span: Span, message: impl Into<String>) -> SyntaxError {
    SyntaxError::new(code, span, message)
}

fn limit(limit: Limit, span: Span) -> SyntaxError {
    error("lv/syntax-size", span, limit.to_string())
}
