//! WSL desugaring: seed 004 "Parsing", which defines each desugaring beside the production that
//! it rewrites.
//!
//! One pass over the arenas of the tree. Children stand before their parents, so nesting uses no
//! stack. Each desugaring has a function. The result lists every desugaring and its place.

use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::core::{self, Program};
use crate::wsl::syntax::{
    AddressSpace, BinaryOp, Decl, Declarations, Expr, ExprId, ForInit, FuncDef, Ident, Literal, Slot, Stmt, StmtId, Tree, TypeArgument,
    TypeExpr, TypeExprId, TypeSuffix, UnaryOp,
};

/// The program without sugar, and the list of desugarings: each rule with the place that it
/// rewrote, in the order of the tree's nodes.
pub fn desugar(mut tree: Tree) -> (Program, Vec<(Rule, Span)>) {
    let program = Program {
        names: std::mem::take(&mut tree.names),
        exprs: Vec::with_capacity(tree.exprs.len() + tree.stmts.len()),
        stmts: Vec::with_capacity(tree.stmts.len() * 2),
        types: Vec::with_capacity(tree.types.len()),
        decls: Vec::with_capacity(tree.decls.len()),
    };
    let mut d = Desugar {
        program,
        exprs: Vec::with_capacity(tree.exprs.len()),
        stmts: Vec::with_capacity(tree.stmts.len()),
        operators: [None; 26],
        desugarings: Vec::new(),
    };
    let mut signs = std::mem::take(&mut tree.signs).into_iter().peekable();
    let spans: Vec<Span> = tree.exprs.iter().map(|e| e.1).collect();
    for (index, (expr, span)) in std::mem::take(&mut tree.exprs).into_iter().enumerate() {
        let sign = signs.next_if(|(e, _)| e.0 as usize == index).map(|(_, sign)| sign);
        let id = d.expr(expr, span, sign, &spans);
        d.exprs.push(id);
    }
    for (ty, span) in std::mem::take(&mut tree.types) {
        let ty = d.ty(ty, span);
        d.program.types.push((ty, span));
    }
    for (stmt, span) in std::mem::take(&mut tree.stmts) {
        let desugared = d.stmt(stmt, span);
        d.stmts.push((desugared, span));
    }
    for decl in std::mem::take(&mut tree.decls) {
        d.decl(decl);
    }
    (d.program, d.desugarings)
}

/// The desugared form of a statement.
#[derive(Clone, Copy)]
enum DesugaredStmt {
    /// A statement.
    One(core::StmtId),
    /// Declarations with consecutive numbers: the first number, and how many there are.
    Declarations(u32, u32),
}

struct Desugar {
    program: Program,
    /// The desugared form of each expression of the tree. Types keep their numbers.
    exprs: Vec<core::ExprId>,
    /// The desugared form of each statement of the tree, and its place.
    stmts: Vec<(DesugaredStmt, Span)>,
    /// The symbols of the operators that have occurred.
    operators: [Option<Symbol>; 26],
    /// The desugarings so far: the rule, and the place that it rewrote.
    desugarings: Vec<(Rule, Span)>,
}

impl Desugar {
    fn expr_of(&self, e: ExprId) -> core::ExprId {
        self.exprs[e.0 as usize]
    }

    fn push_expr(&mut self, expr: core::Expr, span: Span) -> core::ExprId {
        self.program.exprs.push((expr, span));
        core::ExprId(self.program.exprs.len() as u32 - 1)
    }

    fn push_stmt(&mut self, stmt: core::Stmt, span: Span) -> core::StmtId {
        self.program.stmts.push((stmt, span));
        core::StmtId(self.program.stmts.len() as u32 - 1)
    }

    fn true_at(&mut self, span: Span) -> core::ExprId {
        self.push_expr(core::Expr::Literal(Literal::Bool(true)), span)
    }

    fn binary(&mut self, op: BinaryOp) -> Symbol {
        let names = &mut self.program.names;
        *self.operators[op as usize].get_or_insert_with(|| names.intern(op.function()))
    }

    fn unary(&mut self, op: UnaryOp) -> Symbol {
        let names = &mut self.program.names;
        *self.operators[BinaryOp::ALL.len() + op as usize].get_or_insert_with(|| names.intern(op.function()))
    }

    fn expr(&mut self, expr: Expr, span: Span, sign: Option<Span>, spans: &[Span]) -> core::ExprId {
        let expr = match expr {
            Expr::Literal(literal) => core::Expr::Literal(literal),
            Expr::Name(name) => core::Expr::Name(name),
            Expr::Parens(e) => core::Expr::Parens(self.expr_of(e)),
            Expr::Comma(a, b) => core::Expr::Comma(self.expr_of(a), self.expr_of(b)),
            Expr::Ternary(a, b, c) => core::Expr::Ternary(self.expr_of(a), self.expr_of(b), self.expr_of(c)),
            Expr::Assign(None, a, b) => core::Expr::Assign(self.expr_of(a), self.expr_of(b)),
            Expr::Assign(Some(op), a, b) => core::Expr::CompoundAssign(self.binary(op), self.expr_of(a), self.expr_of(b)),
            Expr::Or(a, b) => core::Expr::Or(self.expr_of(a), self.expr_of(b)),
            Expr::And(a, b) => core::Expr::And(self.expr_of(a), self.expr_of(b)),
            Expr::Binary(op, a, b) => {
                let between = Span { start: spans[a.0 as usize].end, end: spans[b.0 as usize].start };
                let name = Ident { name: self.binary(op), span: sign.unwrap_or(between) };
                d_operator(self, name, vec![self.expr_of(a), self.expr_of(b)], span)
            }
            Expr::Unary(op, e) => {
                let sign = Span { start: span.start, end: span.start + op.sign().len() as u32 };
                let name = Ident { name: self.unary(op), span: sign };
                d_operator(self, name, vec![self.expr_of(e)], span)
            }
            Expr::Dereference(e) => core::Expr::Dereference(self.expr_of(e)),
            Expr::AddressOf(e) => core::Expr::AddressOf(self.expr_of(e)),
            Expr::MakeReference(e) => core::Expr::MakeReference(self.expr_of(e)),
            Expr::Step(step, fix, e) => core::Expr::Step(step, fix, self.expr_of(e)),
            Expr::Dot(e, field) => core::Expr::Dot(self.expr_of(e), field),
            Expr::Arrow(e, field) => d_arrow(self, e, field, spans[e.0 as usize], span),
            Expr::Index(a, b) => core::Expr::Index(self.expr_of(a), self.expr_of(b)),
            Expr::Call(callee, arguments) => core::Expr::Call(callee, arguments.into_iter().map(|e| self.expr_of(e)).collect()),
        };
        self.push_expr(expr, span)
    }

    fn ty(&mut self, ty: TypeExpr, span: Span) -> core::TypeExpr {
        let arguments = ty.arguments.map(|arguments| {
            let each = arguments.into_iter().map(|a| match a {
                TypeArgument::Constant(e) => core::TypeArgument::Constant(self.expr_of(e)),
                TypeArgument::Type(t) => core::TypeArgument::Type(core::TypeExprId(t.0)),
            });
            each.collect()
        });
        core::TypeExpr { name: ty.name, arguments, suffixes: d_address_space(self, ty.prefix, ty.suffixes, span) }
    }

    /// The desugared body of a statement. A program's text never has a declaration there. In a tree
    /// that has one, it becomes a block.
    fn body(&mut self, s: StmtId) -> core::StmtId {
        match self.stmts[s.0 as usize] {
            (DesugaredStmt::One(stmt), _) => stmt,
            (DesugaredStmt::Declarations(first, count), span) => {
                self.push_stmt(core::Stmt::Block((first..first + count).map(core::StmtId).collect()), span)
            }
        }
    }

    /// The desugared statements of a list, declarations among them.
    fn list(&self, stmts: Vec<StmtId>) -> Vec<core::StmtId> {
        let mut list = Vec::with_capacity(stmts.len());
        for s in stmts {
            match self.stmts[s.0 as usize].0 {
                DesugaredStmt::One(stmt) => list.push(stmt),
                DesugaredStmt::Declarations(first, count) => list.extend((first..first + count).map(core::StmtId)),
            }
        }
        list
    }

    fn stmt(&mut self, stmt: Stmt, span: Span) -> DesugaredStmt {
        let stmt = match stmt {
            Stmt::Block(stmts) => core::Stmt::Block(self.list(stmts)),
            Stmt::Declarations(declarations) => {
                let (first, count) = d_declarations(self, &declarations, span);
                return DesugaredStmt::Declarations(first, count);
            }
            Stmt::If(e, then, Some(other)) => core::Stmt::If(self.expr_of(e), self.body(then), self.body(other)),
            Stmt::If(e, then, None) => {
                let (e, then) = (self.expr_of(e), self.body(then));
                d_if(self, e, then, span)
            }
            Stmt::While(e, body) => {
                let (e, body) = (self.expr_of(e), self.body(body));
                d_while(self, e, body, span)
            }
            Stmt::DoWhile(body, e) => core::Stmt::DoWhile(self.body(body), self.expr_of(e)),
            Stmt::For(init, condition, iteration, body) => {
                let condition = match condition {
                    Some(e) => self.expr_of(e),
                    None => d_for_condition(self, span),
                };
                let iteration = match iteration {
                    Some(e) => self.expr_of(e),
                    None => d_for_iteration(self, span),
                };
                let inner = core::Stmt::For(condition, iteration, self.body(body));
                match init {
                    ForInit::Empty => inner,
                    init => d_for_init(self, init, inner, span),
                }
            }
            Stmt::Switch(e, cases) => {
                let each = cases.into_iter();
                let cases = each.map(|c| core::Case { value: c.value.map(|e| self.expr_of(e)), span: c.span, body: self.list(c.body) });
                core::Stmt::Switch(self.expr_of(e), cases.collect())
            }
            Stmt::Break => core::Stmt::Break,
            Stmt::Continue => core::Stmt::Continue,
            Stmt::Discard => core::Stmt::Discard,
            Stmt::Fallthrough => core::Stmt::Fallthrough,
            Stmt::Return(e) => core::Stmt::Return(e.map(|e| self.expr_of(e))),
            Stmt::Expr(e) => core::Stmt::Expr(self.expr_of(e)),
            Stmt::Empty => d_empty(self, span),
        };
        DesugaredStmt::One(self.push_stmt(stmt, span))
    }

    fn decl(&mut self, decl: Decl) {
        let ty = |t: TypeExprId| core::TypeExprId(t.0);
        let decl = match decl {
            Decl::Empty => return,
            Decl::Typedef(typedef) => core::Decl::Typedef(typedef.name, ty(typedef.ty)),
            Decl::Struct(def) => core::Decl::Struct(def.name, def.fields.into_iter().map(slot).collect()),
            Decl::Enum(def) => {
                let elements = def.elements.into_iter().map(|e| (e.name, e.value.map(|v| self.expr_of(v)))).collect();
                core::Decl::Enum(core::Enum { name: def.name, base: def.base.map(ty), elements })
            }
            Decl::Function(function) => {
                let FuncDef { kind, result, name, parameters, semantic, body, span } = *function;
                let parameters = parameters.into_iter().map(slot).collect();
                core::Decl::Function(core::Function { kind, result: ty(result), name, parameters, semantic, body: self.body(body), span })
            }
        };
        self.program.decls.push(decl);
    }
}

fn slot(slot: Slot) -> core::Slot {
    core::Slot { qualifiers: slot.qualifiers, ty: core::TypeExprId(slot.ty.0), name: slot.name, semantic: slot.semantic }
}

/// ```text
/// if (e) s ⇝ if (e) s else {}        [wsl/d-if]
/// ```
fn d_if(d: &mut Desugar, e: core::ExprId, s: core::StmtId, span: Span) -> core::Stmt {
    d.desugarings.push((Rule::WslDIf, span));
    let empty_block = d.push_stmt(core::Stmt::Block(Vec::new()), Span { start: span.end, end: span.end });
    core::Stmt::If(e, s, empty_block)
}

/// ```text
/// while (e) s ⇝ if (e) do s while (e);        [wsl/d-while; WSL-B10: the letter lacks the ;]
/// ```
fn d_while(d: &mut Desugar, e: core::ExprId, s: core::StmtId, span: Span) -> core::Stmt {
    d.desugarings.push((Rule::WslDWhile, span));
    let do_while = d.push_stmt(core::Stmt::DoWhile(s, e), span);
    d_if(d, e, do_while, span)
}

/// ```text
/// for (X; ; e) s ⇝ for (X; true; e) s        [wsl/d-for-condition]
/// ```
fn d_for_condition(d: &mut Desugar, span: Span) -> core::ExprId {
    d.desugarings.push((Rule::WslDForCondition, span));
    d.true_at(span)
}

/// ```text
/// for (X; e; ) s ⇝ for (X; e; true) s        [wsl/d-for-iteration]
/// ```
fn d_for_iteration(d: &mut Desugar, span: Span) -> core::ExprId {
    d.desugarings.push((Rule::WslDForIteration, span));
    d.true_at(span)
}

/// ```text
/// for (X; e; e') s ⇝ { X; for (; e; e') s }        [wsl/d-for-init; WSL-B11: it stays a for]
/// ```
fn d_for_init(d: &mut Desugar, init: ForInit, inner: core::Stmt, span: Span) -> core::Stmt {
    d.desugarings.push((Rule::WslDForInit, span));
    let mut stmts = Vec::new();
    match init {
        ForInit::Empty => {}
        ForInit::Expr(e) => {
            let e = d.expr_of(e);
            let span = d.program.expr_span(e);
            stmts.push(d.push_stmt(core::Stmt::Expr(e), span));
        }
        ForInit::Declarations(declarations) => {
            let start = d.program.types[declarations.ty.0 as usize].1.start;
            let last = declarations
                .variables
                .last()
                .map_or(span.start, |v| v.initializer.map_or(v.name.span.end, |e| d.program.expr_span(d.expr_of(e)).end));
            let (first, count) = d_declarations(d, &declarations, Span { start, end: last });
            stmts.extend((first..first + count).map(core::StmtId));
        }
    }
    stmts.push(d.push_stmt(inner, span));
    core::Stmt::Block(stmts)
}

/// ```text
/// T x = e, y; ⇝ T x = e; T y;        [wsl/d-declarations]
/// ```
fn d_declarations(d: &mut Desugar, declarations: &Declarations, span: Span) -> (u32, u32) {
    if declarations.variables.len() > 1 {
        d.desugarings.push((Rule::WslDDeclarations, span));
    }
    let first = d.program.stmts.len() as u32;
    for variable in &declarations.variables {
        let initializer = variable.initializer.map(|e| d.expr_of(e));
        let (space, ty, name) = (declarations.space, core::TypeExprId(declarations.ty.0), variable.name);
        let end = initializer.map_or(name.span.end, |e| d.program.expr_span(e).end);
        // A single variable has the place of the whole statement.
        let place = if declarations.variables.len() > 1 { Span { start: name.span.start, end } } else { span };
        d.push_stmt(core::Stmt::Declaration(core::Declaration { space, ty, name, initializer }), place);
    }
    (first, declarations.variables.len() as u32)
}

/// ```text
/// ; ⇝ true;        [wsl/d-empty]
/// ```
fn d_empty(d: &mut Desugar, span: Span) -> core::Stmt {
    d.desugarings.push((Rule::WslDEmpty, span));
    core::Stmt::Expr(d.true_at(span))
}

/// ```text
/// e->x ⇝ (*e).x        [wsl/d-arrow]
/// ```
fn d_arrow(d: &mut Desugar, e: ExprId, field: Ident, inner: Span, span: Span) -> core::Expr {
    d.desugarings.push((Rule::WslDArrow, span));
    let e = d.expr_of(e);
    let dereferenced = d.push_expr(core::Expr::Dereference(e), inner);
    core::Expr::Dot(d.push_expr(core::Expr::Parens(dereferenced), inner), field)
}

/// ```text
/// e1 + e2 ⇝ operator+(e1, e2), and -, *, /, %, |, ^, &, <, >, <=, >=, ==, !=, <<, >>
/// -e ⇝ operator-(e), and +, ~, !
///                              [wsl/d-operator; WSL-B5: the letter has the unary & for the binary]
/// ```
fn d_operator(d: &mut Desugar, function: Ident, operands: Vec<core::ExprId>, span: Span) -> core::Expr {
    d.desugarings.push((Rule::WslDOperator, span));
    core::Expr::Call(function, operands)
}

/// ```text
/// thread T*[]*[42] ⇝ T* thread[] thread* thread[42]        [wsl/d-address-space]
/// ```
fn d_address_space(d: &mut Desugar, prefix: Option<AddressSpace>, suffixes: Vec<TypeSuffix>, span: Span) -> Vec<core::TypeSuffix> {
    if prefix.is_some() {
        d.desugarings.push((Rule::WslDAddressSpace, span));
    }
    // A suffix without its own space takes the prefix. A program's text always gives one of both.
    // Otherwise the space is `thread`.
    let space = |own: Option<AddressSpace>| own.or(prefix).unwrap_or(AddressSpace::Thread);
    let each = suffixes.into_iter().map(|suffix| match suffix {
        TypeSuffix::Pointer(own) => core::TypeSuffix::Pointer(space(own)),
        TypeSuffix::ArrayReference(own) => core::TypeSuffix::ArrayReference(space(own)),
        TypeSuffix::Array(size) => core::TypeSuffix::Array(size),
    });
    each.collect()
}
