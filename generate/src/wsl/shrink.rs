//! Smaller WSL programs that still show something.
//!
//! Each proposal is one change to the syntax of the smallest program that is known to show it. A
//! change removes a declaration, a statement, a case, an `else`, an initialiser, or a parameter
//! with its arguments. Or it replaces a statement by its contents, or an expression by a part of
//! itself or a literal. Only programs that validate and are smaller are proposed.

use crate::descent::{Descent, Shrinks};
use rustc_hash::FxHasher;
use smallstep_semantics::wsl::parse::parse;
use smallstep_semantics::wsl::print::print;
use smallstep_semantics::wsl::syntax::{
    Case, Decl, Declarations, Expr, ExprId, ForInit, FuncDef, IntLiteral, Literal, Stmt, StmtId, Tree, TypeArgument,
};
use smallstep_semantics::wsl::validate::validate;
use std::hash::Hasher;

/// The smallest valid program found that `fails`, with at most `questions` calls of it. Returns
/// `text` itself if that does not fail.
pub fn minimal(text: &str, fails: &mut dyn FnMut(&str) -> bool, questions: u32) -> String {
    let Some(sketch) = Sketch::of(text) else { return text.into() };
    if questions == 0 || !fails(&sketch.text) {
        return text.into();
    }
    Descent::new(sketch, ()).minimal(&mut |sketch: &Sketch| fails(&sketch.text), questions).text
}

/// A program as a syntax tree and as the printed text.
#[derive(Clone)]
struct Sketch {
    tree: Tree,
    text: String,
    tokens: u32,
}

/// A change.
#[derive(Clone, Debug)]
enum Edit {
    /// Removes a declaration.
    Declaration(usize),
    /// Removes a statement.
    Statement(StmtId),
    /// Replaces a statement by a statement inside of it.
    Inner(StmtId, StmtId),
    /// Replaces a block by its statements.
    Unwrapped(StmtId),
    /// Removes an `else`.
    Else(StmtId),
    /// Removes a case of a `switch`.
    Case(StmtId, usize),
    /// Removes a variable of a declaration.
    Variable(StmtId, usize),
    /// Removes the initialiser of a variable.
    Initializer(StmtId, usize),
    /// Removes a parameter of a declared function, and the argument in every call.
    Parameter(usize, usize),
    /// Replaces an expression by a part of itself.
    Part(ExprId, ExprId),
    /// Replaces an expression by a literal.
    Literal(ExprId, Literal),
}

/// The size that shrinking reduces. Tokens are compared first, then the text in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Size {
    tokens: u32,
    bytes: u32,
    /// The sum of the digits, so that 0 is smaller than 1.
    digits: u32,
}

impl Sketch {
    /// The program of a text, printed in the usual form. `None` if the text does not parse.
    fn of(text: &str) -> Option<Sketch> {
        let (tree, errors) = parse(text);
        if !errors.is_empty() {
            return None;
        }
        let text = print(&tree);
        let tokens = tokens(&text);
        Some(Sketch { tree, text, tokens })
    }
}

/// An estimate of the tokens in a text: words, numbers and signs.
fn tokens(text: &str) -> u32 {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let (mut count, mut inside) = (0, false);
    for c in text.chars() {
        count += u32::from(!(c.is_whitespace() || inside && is_word(c)));
        inside = is_word(c);
    }
    count
}

impl Shrinks for Sketch {
    type Keep = ();
    type Edit = Edit;
    type Size = Size;

    fn size(&self) -> Size {
        let digits = self.text.bytes().filter(u8::is_ascii_digit).map(|digit| u32::from(digit - b'0')).sum();
        Size { tokens: self.tokens, bytes: self.text.len() as u32, digits }
    }

    fn nodes(size: Size) -> u32 {
        size.tokens
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(self.text.as_bytes());
        hasher.finish()
    }

    fn changes(&self, (): (), most: u32) -> Vec<(u32, Edit)> {
        let mut changes = Search::of(&self.tree).changes();
        changes.retain(|(removed, _)| *removed <= most);
        changes.sort_by_key(|(removed, _)| std::cmp::Reverse(*removed));
        changes
    }

    fn changed(&self, edit: &Edit) -> Option<Sketch> {
        let mut tree = self.tree.clone();
        edit.apply(&mut tree)?;
        // The tree is printed and parsed again, so that it fits its text even where
        // parentheses change.
        Sketch::of(&print(&tree))
    }

    fn holds(&self, (): ()) -> bool {
        validate(&self.text).program.is_some()
    }
}

/// The direct parts of an expression.
fn parts(expr: &Expr) -> Vec<ExprId> {
    match expr {
        Expr::Literal(_) | Expr::Name(_) => Vec::new(),
        &Expr::Parens(a)
        | &Expr::Unary(_, a)
        | &Expr::Dereference(a)
        | &Expr::AddressOf(a)
        | &Expr::MakeReference(a)
        | &Expr::Step(_, _, a)
        | &Expr::Dot(a, _)
        | &Expr::Arrow(a, _) => vec![a],
        &Expr::Comma(a, b) | &Expr::Assign(_, a, b) | &Expr::Or(a, b) | &Expr::And(a, b) | &Expr::Binary(_, a, b) | &Expr::Index(a, b) => {
            vec![a, b]
        }
        &Expr::Ternary(a, b, c) => vec![a, b, c],
        Expr::Call(_, arguments) => arguments.clone(),
    }
}

fn initializers(declarations: &Declarations) -> impl Iterator<Item = ExprId> + '_ {
    declarations.variables.iter().filter_map(|variable| variable.initializer)
}

/// The expressions and statements directly inside of a statement.
fn children(stmt: &Stmt) -> (Vec<ExprId>, Vec<StmtId>) {
    match stmt {
        Stmt::Block(body) => (Vec::new(), body.clone()),
        Stmt::Declarations(declarations) => (initializers(declarations).collect(), Vec::new()),
        Stmt::If(e, s, other) => (vec![*e], std::iter::once(*s).chain(*other).collect()),
        Stmt::While(e, s) | Stmt::DoWhile(s, e) => (vec![*e], vec![*s]),
        Stmt::For(init, test, step, s) => {
            let mut exprs: Vec<ExprId> = test.iter().chain(step).copied().collect();
            match init {
                ForInit::Empty => {}
                ForInit::Expr(e) => exprs.push(*e),
                ForInit::Declarations(declarations) => exprs.extend(initializers(declarations)),
            }
            (exprs, vec![*s])
        }
        Stmt::Switch(e, cases) => {
            let values = cases.iter().filter_map(|case| case.value);
            (std::iter::once(*e).chain(values).collect(), cases.iter().flat_map(|case| case.body.iter().copied()).collect())
        }
        Stmt::Return(Some(e)) | Stmt::Expr(e) => (vec![*e], Vec::new()),
        Stmt::Break | Stmt::Continue | Stmt::Discard | Stmt::Fallthrough | Stmt::Return(None) | Stmt::Empty => Default::default(),
    }
}

/// The weights of a tree's nodes, and the changes found so far.
struct Search<'t> {
    tree: &'t Tree,
    exprs: Vec<u32>,
    stmts: Vec<u32>,
    changes: Vec<(u32, Edit)>,
}

impl<'t> Search<'t> {
    /// Children stand before their parents, so one pass finds all weights.
    fn of(tree: &'t Tree) -> Search<'t> {
        let mut search = Search { tree, exprs: Vec::new(), stmts: Vec::new(), changes: Vec::new() };
        for (expr, _) in &tree.exprs {
            let weight = 1 + parts(expr).into_iter().map(|e| search.expr(e)).sum::<u32>();
            search.exprs.push(weight);
        }
        for (stmt, _) in &tree.stmts {
            let (exprs, stmts) = children(stmt);
            let weight = exprs.into_iter().map(|e| search.expr(e)).sum::<u32>() + stmts.into_iter().map(|s| search.stmt(s)).sum::<u32>();
            search.stmts.push(2 + weight);
        }
        search
    }

    fn expr(&self, e: ExprId) -> u32 {
        self.exprs.get(e.0 as usize).copied().unwrap_or(0)
    }

    fn stmt(&self, s: StmtId) -> u32 {
        self.stmts.get(s.0 as usize).copied().unwrap_or(0)
    }

    fn changes(mut self) -> Vec<(u32, Edit)> {
        let tree = self.tree;
        for (i, decl) in tree.decls.iter().enumerate() {
            let weight = match decl {
                Decl::Function(f) => {
                    let parameters = (0..f.parameters.len()).map(|k| (3, Edit::Parameter(i, k)));
                    self.changes.extend(parameters);
                    5 + self.stmt(f.body)
                }
                Decl::Struct(def) => 4 + 3 * def.fields.len() as u32,
                Decl::Enum(def) => 4 + 2 * def.elements.len() as u32,
                Decl::Typedef(_) | Decl::Empty => 3,
            };
            self.changes.push((weight, Edit::Declaration(i)));
        }
        // All nodes belong to the program, because a changed program is parsed again.
        for i in 0..tree.stmts.len() {
            self.statement(StmtId(i as u32));
        }
        for i in 0..tree.exprs.len() {
            self.expression(ExprId(i as u32));
        }
        self.changes
    }

    fn statement(&mut self, id: StmtId) {
        let (tree, weight) = (self.tree, self.stmt(id));
        let stmt = tree.stmt(id);
        self.changes.push((weight, Edit::Statement(id)));
        match stmt {
            Stmt::Block(_) => self.changes.push((1, Edit::Unwrapped(id))),
            Stmt::Declarations(declarations) => {
                for (k, variable) in declarations.variables.iter().enumerate() {
                    if declarations.variables.len() > 1 {
                        self.changes.push((2, Edit::Variable(id, k)));
                    }
                    if let Some(e) = variable.initializer {
                        self.changes.push((self.expr(e), Edit::Initializer(id, k)));
                    }
                }
            }
            Stmt::If(_, _, Some(other)) => self.changes.push((self.stmt(*other), Edit::Else(id))),
            Stmt::Switch(_, cases) => {
                for (k, case) in cases.iter().enumerate() {
                    let weight = 2 + case.body.iter().map(|s| self.stmt(*s)).sum::<u32>();
                    self.changes.push((weight, Edit::Case(id, k)));
                }
            }
            _ => {}
        }
        if !matches!(stmt, Stmt::Block(_)) {
            let inner = children(stmt).1;
            self.changes.extend(inner.into_iter().map(|s| (weight.saturating_sub(self.stmts[s.0 as usize]), Edit::Inner(id, s))));
        }
    }

    fn expression(&mut self, id: ExprId) {
        let (tree, weight) = (self.tree, self.expr(id));
        let expr = tree.expr(id);
        for part in parts(expr) {
            self.changes.push((weight.saturating_sub(self.expr(part)), Edit::Part(id, part)));
            // The parts of a call's arguments often have the call's type.
            for inner in parts(tree.expr(part)) {
                self.changes.push((weight.saturating_sub(self.expr(inner)), Edit::Part(id, inner)));
            }
        }
        let (zero, one) = (IntLiteral::of(0), IntLiteral::of(1));
        let literals = [
            Literal::Int(zero),
            Literal::Bool(false),
            Literal::Int(IntLiteral { unsigned: true, ..zero }),
            Literal::Float(0.0),
            Literal::Int(one),
            Literal::Bool(true),
            Literal::Int(IntLiteral { unsigned: true, ..one }),
            Literal::Float(1.0),
        ];
        self.changes.extend(literals.into_iter().map(|literal| (weight - 1, Edit::Literal(id, literal))));
    }
}

fn remove_at<T>(items: &mut Vec<T>, at: usize) -> Option<T> {
    (at < items.len()).then(|| items.remove(at))
}

impl Edit {
    /// Changes the tree. `None` if the change does not apply.
    fn apply(&self, tree: &mut Tree) -> Option<()> {
        match *self {
            Edit::Declaration(i) => {
                remove_at(&mut tree.decls, i)?;
            }
            Edit::Statement(id) => replace(tree, id, &[])?,
            Edit::Inner(id, inner) => tree.stmts.get_mut(id.0 as usize)?.0 = tree.stmts.get(inner.0 as usize)?.0.clone(),
            Edit::Unwrapped(id) => match tree.stmt(id).clone() {
                Stmt::Block(body) => replace(tree, id, &body)?,
                _ => return None,
            },
            Edit::Else(id) => match &mut tree.stmts.get_mut(id.0 as usize)?.0 {
                Stmt::If(_, _, other) => *other = None,
                _ => return None,
            },
            Edit::Case(id, k) => match &mut tree.stmts.get_mut(id.0 as usize)?.0 {
                Stmt::Switch(_, cases) => {
                    remove_at(cases, k)?;
                }
                _ => return None,
            },
            Edit::Variable(id, k) => match &mut tree.stmts.get_mut(id.0 as usize)?.0 {
                Stmt::Declarations(declarations) => {
                    remove_at(&mut declarations.variables, k)?;
                }
                _ => return None,
            },
            Edit::Initializer(id, k) => match &mut tree.stmts.get_mut(id.0 as usize)?.0 {
                Stmt::Declarations(declarations) => declarations.variables.get_mut(k)?.initializer = None,
                _ => return None,
            },
            Edit::Parameter(decl, k) => {
                let Decl::Function(f) = tree.decls.get_mut(decl)? else { return None };
                let FuncDef { name, parameters, .. } = &mut **f;
                let (name, parameter_count) = (name.name, parameters.len());
                remove_at(parameters, k)?;
                for (expr, _) in &mut tree.exprs {
                    if let Expr::Call(called, arguments) = expr
                        && called.name == name
                        && arguments.len() == parameter_count
                    {
                        remove_at(arguments, k);
                    }
                }
            }
            Edit::Part(id, part) => tree.exprs.get_mut(id.0 as usize)?.0 = tree.exprs.get(part.0 as usize)?.0.clone(),
            Edit::Literal(id, literal) => {
                // A literal inside of a type is not an expression of the program.
                let is_argument = |ty: &smallstep_semantics::wsl::syntax::TypeExpr| {
                    ty.arguments.iter().flatten().any(|a| *a == TypeArgument::Constant(id))
                };
                if tree.types.iter().any(|(ty, _)| is_argument(ty)) {
                    return None;
                }
                tree.exprs.get_mut(id.0 as usize)?.0 = Expr::Literal(literal);
            }
        }
        Some(())
    }
}

/// Replaces a statement by others. In a place for a single statement, no statement becomes `;`.
fn replace(tree: &mut Tree, id: StmtId, replacements: &[StmtId]) -> Option<()> {
    let in_list = |body: &mut Vec<StmtId>| {
        let at = body.iter().position(|&s| s == id)?;
        body.splice(at..=at, replacements.iter().copied());
        Some(())
    };
    for (stmt, _) in &mut tree.stmts {
        let found = match stmt {
            Stmt::Block(body) => in_list(body),
            Stmt::Switch(_, cases) => cases.iter_mut().find_map(|Case { body, .. }| in_list(body)),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    // The body of a function stays a block.
    let is_body = |decl: &Decl| matches!(decl, Decl::Function(f) if f.body == id);
    let replacement = match tree.decls.iter().any(is_body) {
        true => Stmt::Block(replacements.to_vec()),
        false if replacements.is_empty() => Stmt::Empty,
        false => return None,
    };
    tree.stmts.get_mut(id.0 as usize)?.0 = replacement;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shrinking keeps only what shows it: a statement in a loop in a function that is called.
    #[test]
    fn what_does_not_matter_goes() {
        let text = "struct S { int a; int b; } typedef T = S; enum E { A, B }
            int twice(int a, int unused) { S s; s.a = a; return s.a * 2 + unused; }
            int f(int n, bool c) {
                int x = 4, y = 5;
                for (int i = 0; i < n; i = i + 1) { if (c) { x = twice(x + (y * 3), i); } else y = 7; }
                switch (n) { case 1: return x; default: y = 2; break; }
                return x / (y % 9);
            }";
        assert!(validate(text).program.is_some());
        let small = minimal(text, &mut |text| text.contains('%'), 2000);
        // A literal in place of `y` would be no smaller by itself.
        assert_eq!(small.split_whitespace().collect::<Vec<_>>().join(" "), "int f() { int y; return y % 0; }");
        let small = minimal(text, &mut |text| text.contains("twice("), 2000);
        assert!(small.len() < 40 && small.contains("twice"), "{small}");
        assert_eq!(minimal(text, &mut |_| false, 2000), text);
        assert_eq!(minimal("no program", &mut |_| true, 2000), "no program");
    }
}
