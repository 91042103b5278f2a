//! WSL as text. A tree is printed as source that reads back to the same tree. A program without
//! sugar is printed in the same form, with operators as calls.

use crate::text::{Span, Symbol, deep};
use crate::wsl::core;
use crate::wsl::syntax::{
    AddressSpace, BinaryOp, Case, Decl, Declarations, EnumDef, EnumElement, Expr, ExprId, Fix, ForInit, FuncDef, FunctionKind, Ident,
    IntLiteral, Literal, Magnitude, Semantic, SemanticKind, Slot, Step, Stmt, StmtId, StructDef, Tree, TypeArgument, TypeExpr, TypeExprId,
    TypeSuffix, Typedef, Variable,
};

/// The number of columns of an indentation.
const INDENT: usize = 4;
/// The most indentations of a line. Deeper statements are not indented further, so that the text
/// stays linear in the tree.
const MAX_INDENTS: usize = 20;

/// The tree as source text. If the tree was read from text, the result reads back to it.
pub fn print(tree: &Tree) -> String {
    let mut printer = Printer { tree, out: String::new(), indents: 0 };
    for (i, decl) in tree.decls.iter().enumerate() {
        if i > 0 {
            printer.out.push('\n');
        }
        printer.decl(decl);
        printer.out.push('\n');
    }
    printer.out
}

/// The program without sugar, with operators as calls: `operator+(a, b)`. This is no source text,
/// since the syntax has no calls of this form.
pub fn print_core(program: &core::Program) -> String {
    print(&sugared(program))
}

struct Printer<'a> {
    tree: &'a Tree,
    out: String,
    indents: usize,
}

impl Printer<'_> {
    fn name(&mut self, name: Symbol) {
        self.out.push_str(self.tree.names.name(name));
    }

    /// Writes a sign before its operand. A space separates it from an equal sign before it.
    fn prefix(&mut self, sign: &str) {
        if self.out.ends_with(['+', '-', '&']) && self.out.ends_with(&sign[..1]) {
            self.out.push(' ');
        }
        self.out.push_str(sign);
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', INDENT * self.indents.min(MAX_INDENTS)));
    }

    fn separated<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            each(self, item);
        }
    }

    fn decl(&mut self, decl: &Decl) {
        match decl {
            Decl::Empty => self.out.push(';'),
            Decl::Typedef(Typedef { name, ty }) => {
                self.out.push_str("typedef ");
                self.name(name.name);
                self.out.push_str(" = ");
                self.ty(*ty);
                self.out.push(';');
            }
            Decl::Struct(StructDef { name, fields }) => {
                self.out.push_str("struct ");
                self.name(name.name);
                self.out.push_str(" {");
                self.indents += 1;
                for field in fields {
                    self.line();
                    self.slot(field);
                    self.out.push(';');
                }
                self.indents -= 1;
                self.line();
                self.out.push('}');
            }
            Decl::Enum(EnumDef { name, base, elements }) => {
                self.out.push_str("enum ");
                self.name(name.name);
                if let Some(base) = base {
                    self.out.push_str(" : ");
                    self.ty(*base);
                }
                self.out.push_str(" {");
                self.indents += 1;
                for (i, element) in elements.iter().enumerate() {
                    if i > 0 {
                        self.out.push(',');
                    }
                    self.line();
                    self.name(element.name.name);
                    if let Some(value) = element.value {
                        self.out.push_str(" = ");
                        self.expr(value);
                    }
                }
                self.indents -= 1;
                self.line();
                self.out.push('}');
            }
            Decl::Function(function) => self.function(function),
        }
    }

    fn function(&mut self, function: &FuncDef) {
        match &function.kind {
            FunctionKind::Normal | FunctionKind::Cast => {}
            FunctionKind::Vertex => self.out.push_str("vertex "),
            FunctionKind::Fragment => self.out.push_str("fragment "),
            FunctionKind::Compute(size, _) => {
                self.out.push_str("[numthreads(");
                self.separated(size, |p, n| p.int(n));
                self.out.push_str(")]\ncompute ");
            }
        }
        if function.kind == FunctionKind::Cast {
            self.out.push_str("operator ");
            self.ty(function.result);
        } else {
            self.ty(function.result);
            self.out.push(' ');
            self.name(function.name.name);
        }
        self.out.push('(');
        self.separated(&function.parameters, Self::slot);
        self.out.push(')');
        self.semantic(function.semantic);
        self.out.push(' ');
        self.stmt(function.body);
    }

    fn slot(&mut self, slot: &Slot) {
        for (qualifier, _) in &slot.qualifiers {
            self.out.push_str(qualifier.keyword());
            self.out.push(' ');
        }
        self.ty(slot.ty);
        self.out.push(' ');
        self.name(slot.name.name);
        self.semantic(slot.semantic);
    }

    fn semantic(&mut self, semantic: Option<Semantic>) {
        let Some(semantic) = semantic else { return };
        self.out.push_str(" : ");
        match semantic.kind {
            SemanticKind::Builtin(builtin) => self.out.push_str(builtin.keyword()),
            SemanticKind::Target(n) => {
                self.out.push_str("SV_Target ");
                self.int(&n);
            }
            SemanticKind::Attribute(n) => {
                self.out.push_str("attribute(");
                self.int(&n);
                self.out.push(')');
            }
            SemanticKind::Register(register, space) => {
                self.out.push_str("register(");
                self.name(register.name);
                if let Some(space) = space {
                    self.out.push_str(", ");
                    self.name(space.name);
                }
                self.out.push(')');
            }
            SemanticKind::Specialized => self.out.push_str("specialized"),
        }
    }

    fn ty(&mut self, id: TypeExprId) {
        deep(|| {
            let tree = self.tree;
            let TypeExpr { prefix, name, arguments, suffixes } = tree.ty(id);
            if let Some(space) = prefix {
                self.out.push_str(space.keyword());
                self.out.push(' ');
            }
            self.name(name.name);
            if let Some(arguments) = arguments {
                self.out.push('<');
                self.separated(arguments, |p, argument| match *argument {
                    TypeArgument::Constant(e) => p.expr(e),
                    TypeArgument::Type(t) => p.ty(t),
                });
                self.out.push('>');
            }
            for suffix in suffixes {
                let space = match suffix {
                    TypeSuffix::Pointer(space) => {
                        self.out.push('*');
                        space
                    }
                    TypeSuffix::ArrayReference(space) => {
                        self.out.push_str("[]");
                        space
                    }
                    TypeSuffix::Array(size) => {
                        self.out.push('[');
                        self.int(size);
                        self.out.push(']');
                        &None
                    }
                };
                if let Some(space) = space {
                    self.out.push(' ');
                    self.out.push_str(space.keyword());
                }
            }
        });
    }

    fn int(&mut self, literal: &IntLiteral) {
        if literal.negative {
            self.prefix("-");
        }
        self.out.push_str(&match (literal.magnitude, literal.hexadecimal) {
            (Magnitude::Exact(m), false) => m.to_string(),
            (Magnitude::Exact(m), true) => format!("{m:#x}"),
            // An infinite literal is written as 2^128, which no float holds. All others are
            // integers below that.
            (Magnitude::Large(x), false) if x.is_infinite() => "340282366920938463463374607431768211456".into(),
            (Magnitude::Large(x), true) if x.is_infinite() => format!("{:#x}0", 1u128 << 124),
            (Magnitude::Large(x), false) => (x as u128).to_string(),
            (Magnitude::Large(x), true) => format!("{:#x}", x as u128),
        });
        if literal.unsigned {
            self.out.push('u');
        }
    }

    fn float(&mut self, x: f32) {
        if x.is_sign_negative() {
            self.prefix("-");
        }
        if x.is_infinite() {
            // The least power of two that no float holds.
            self.out.push_str("340282366920938463463374607431768211456.0");
            return;
        }
        let digits = x.abs().to_string();
        self.out.push_str(&digits);
        if !digits.contains('.') {
            self.out.push_str(".0");
        }
    }

    fn pair(&mut self, left: ExprId, sign: &str, right: ExprId) {
        self.expr(left);
        self.out.push_str(sign);
        self.expr(right);
    }

    fn signed(&mut self, sign: &str, operand: ExprId) {
        self.prefix(sign);
        self.expr(operand);
    }

    fn field(&mut self, base: ExprId, sign: &str, field: Ident) {
        self.expr(base);
        // A `.` directly after decimal digits would make them a float.
        if matches!(self.tree.expr(base), Expr::Literal(Literal::Int(_))) {
            self.out.push(' ');
        }
        self.out.push_str(sign);
        self.name(field.name);
    }

    fn expr(&mut self, id: ExprId) {
        deep(|| match self.tree.expr(id) {
            Expr::Literal(Literal::Bool(b)) => self.out.push_str(if *b { "true" } else { "false" }),
            Expr::Literal(Literal::Int(i)) => self.int(i),
            Expr::Literal(Literal::Float(x)) => self.float(*x),
            Expr::Name(name) => self.name(*name),
            Expr::Parens(e) => {
                self.out.push('(');
                self.expr(*e);
                self.out.push(')');
            }
            Expr::Comma(a, b) => self.pair(*a, ", ", *b),
            Expr::Ternary(a, b, c) => {
                self.pair(*a, " ? ", *b);
                self.out.push_str(" : ");
                self.expr(*c);
            }
            Expr::Assign(op, a, b) => {
                self.expr(*a);
                self.out.push(' ');
                self.out.push_str(op.map_or("", BinaryOp::sign));
                self.out.push_str("= ");
                self.expr(*b);
            }
            Expr::Or(a, b) => self.pair(*a, " || ", *b),
            Expr::And(a, b) => self.pair(*a, " && ", *b),
            Expr::Binary(op, a, b) => {
                self.expr(*a);
                self.out.push(' ');
                self.out.push_str(op.sign());
                self.out.push(' ');
                self.expr(*b);
            }
            Expr::Unary(op, e) => self.signed(op.sign(), *e),
            Expr::Dereference(e) => self.signed("*", *e),
            Expr::AddressOf(e) => self.signed("&", *e),
            Expr::MakeReference(e) => self.signed("@", *e),
            Expr::Step(step, Fix::Prefix, e) => self.signed(sign(*step), *e),
            Expr::Step(step, Fix::Postfix, e) => {
                self.expr(*e);
                self.out.push_str(sign(*step));
            }
            Expr::Dot(e, field) => self.field(*e, ".", *field),
            Expr::Arrow(e, field) => self.field(*e, "->", *field),
            Expr::Index(a, b) => {
                self.expr(*a);
                self.out.push('[');
                self.expr(*b);
                self.out.push(']');
            }
            Expr::Call(callee, arguments) => {
                self.name(callee.name);
                self.out.push('(');
                self.separated(arguments, |p, e| p.expr(*e));
                self.out.push(')');
            }
        });
    }

    fn declarations(&mut self, declarations: &Declarations) {
        if let Some(space) = declarations.space {
            self.out.push_str(space.keyword());
            self.out.push(' ');
        }
        self.ty(declarations.ty);
        self.out.push(' ');
        self.separated(&declarations.variables, |p, variable| {
            p.name(variable.name.name);
            if let Some(e) = variable.initializer {
                p.out.push_str(" = ");
                p.expr(e);
            }
        });
    }

    /// `keyword (e)`
    fn head(&mut self, keyword: &str, e: ExprId) {
        self.out.push_str(keyword);
        self.out.push_str(" (");
        self.expr(e);
        self.out.push(')');
    }

    /// Writes the body of a statement: a block in the same line, any other statement in the next.
    fn body(&mut self, id: StmtId) {
        if let Stmt::Block(_) = self.tree.stmt(id) {
            self.out.push(' ');
            self.stmt(id);
        } else {
            self.indents += 1;
            self.line();
            self.stmt(id);
            self.indents -= 1;
        }
    }

    /// Writes the separator after the body of a statement: a space after the `}` of a block, or
    /// else a new line.
    fn after(&mut self, body: StmtId) {
        if let Stmt::Block(_) = self.tree.stmt(body) {
            self.out.push(' ');
        } else {
            self.line();
        }
    }

    fn list(&mut self, stmts: &[StmtId]) {
        self.indents += 1;
        for &s in stmts {
            self.line();
            self.stmt(s);
        }
        self.indents -= 1;
    }

    fn stmt(&mut self, id: StmtId) {
        deep(|| match self.tree.stmt(id) {
            Stmt::Block(stmts) if stmts.is_empty() => self.out.push_str("{}"),
            Stmt::Block(stmts) => {
                self.out.push('{');
                self.list(stmts);
                self.line();
                self.out.push('}');
            }
            Stmt::Declarations(declarations) => {
                self.declarations(declarations);
                self.out.push(';');
            }
            Stmt::If(e, then, other) => {
                self.head("if", *e);
                self.body(*then);
                let Some(other) = other else { return };
                self.after(*then);
                self.out.push_str("else");
                if let Stmt::If(..) = self.tree.stmt(*other) {
                    self.out.push(' ');
                    self.stmt(*other);
                } else {
                    self.body(*other);
                }
            }
            Stmt::While(e, body) => {
                self.head("while", *e);
                self.body(*body);
            }
            Stmt::DoWhile(body, e) => {
                self.out.push_str("do");
                self.body(*body);
                self.after(*body);
                self.head("while", *e);
                self.out.push(';');
            }
            Stmt::For(init, condition, iteration, body) => {
                self.out.push_str("for (");
                match init {
                    ForInit::Empty => {}
                    ForInit::Expr(e) => self.expr(*e),
                    ForInit::Declarations(declarations) => self.declarations(declarations),
                }
                for part in [condition, iteration] {
                    self.out.push(';');
                    if let Some(e) = part {
                        self.out.push(' ');
                        self.expr(*e);
                    }
                }
                self.out.push(')');
                self.body(*body);
            }
            Stmt::Switch(e, cases) => {
                self.head("switch", *e);
                self.out.push_str(" {");
                for case in cases {
                    self.line();
                    match case.value {
                        Some(e) => {
                            self.out.push_str("case ");
                            self.expr(e);
                        }
                        None => self.out.push_str("default"),
                    }
                    self.out.push(':');
                    self.list(&case.body);
                }
                self.line();
                self.out.push('}');
            }
            Stmt::Break => self.out.push_str("break;"),
            Stmt::Continue => self.out.push_str("continue;"),
            Stmt::Discard => self.out.push_str("discard;"),
            Stmt::Fallthrough => self.out.push_str("fallthrough;"),
            Stmt::Return(None) => self.out.push_str("return;"),
            Stmt::Return(Some(e)) => {
                self.out.push_str("return ");
                self.expr(*e);
                self.out.push(';');
            }
            Stmt::Expr(e) => {
                self.expr(*e);
                self.out.push(';');
            }
            Stmt::Empty => self.out.push(';'),
        });
    }
}

fn sign(step: Step) -> &'static str {
    &step.function()["operator".len()..]
}

/// The tree that looks like the program. It has no sugar, and calls whose callees no text can name.
fn sugared(program: &core::Program) -> Tree {
    let operator = |name: Symbol| BinaryOp::ALL.into_iter().find(|op| op.function() == program.names.name(name));
    let e = |e: core::ExprId| ExprId(e.0);
    let s = |s: core::StmtId| StmtId(s.0);
    let t = |t: core::TypeExprId| TypeExprId(t.0);
    let list = |stmts: &[core::StmtId]| stmts.iter().map(|stmt| StmtId(stmt.0)).collect();
    let expr = |expr: &core::Expr| match expr {
        core::Expr::Literal(literal) => Expr::Literal(*literal),
        core::Expr::Name(name) => Expr::Name(*name),
        core::Expr::Parens(a) => Expr::Parens(e(*a)),
        core::Expr::Comma(a, b) => Expr::Comma(e(*a), e(*b)),
        core::Expr::Ternary(a, b, c) => Expr::Ternary(e(*a), e(*b), e(*c)),
        core::Expr::Assign(a, b) => Expr::Assign(None, e(*a), e(*b)),
        core::Expr::CompoundAssign(op, a, b) => Expr::Assign(operator(*op), e(*a), e(*b)),
        core::Expr::Or(a, b) => Expr::Or(e(*a), e(*b)),
        core::Expr::And(a, b) => Expr::And(e(*a), e(*b)),
        core::Expr::Dereference(a) => Expr::Dereference(e(*a)),
        core::Expr::AddressOf(a) => Expr::AddressOf(e(*a)),
        core::Expr::MakeReference(a) => Expr::MakeReference(e(*a)),
        core::Expr::Step(step, fix, a) => Expr::Step(*step, *fix, e(*a)),
        core::Expr::Dot(a, field) => Expr::Dot(e(*a), *field),
        core::Expr::Index(a, b) => Expr::Index(e(*a), e(*b)),
        core::Expr::Call(callee, arguments) => Expr::Call(*callee, arguments.iter().map(|a| e(*a)).collect()),
    };
    let stmt = |stmt: &core::Stmt| match stmt {
        core::Stmt::Block(stmts) => Stmt::Block(list(stmts)),
        core::Stmt::Declaration(core::Declaration { space, ty, name, initializer }) => Stmt::Declarations(Declarations {
            space: *space,
            ty: t(*ty),
            variables: vec![Variable { name: *name, initializer: initializer.map(e) }],
        }),
        core::Stmt::If(a, then, other) => Stmt::If(e(*a), s(*then), Some(s(*other))),
        core::Stmt::DoWhile(body, a) => Stmt::DoWhile(s(*body), e(*a)),
        core::Stmt::For(a, b, body) => Stmt::For(ForInit::Empty, Some(e(*a)), Some(e(*b)), s(*body)),
        core::Stmt::Switch(a, cases) => {
            Stmt::Switch(e(*a), cases.iter().map(|c| Case { value: c.value.map(e), span: c.span, body: list(&c.body) }).collect())
        }
        core::Stmt::Break => Stmt::Break,
        core::Stmt::Continue => Stmt::Continue,
        core::Stmt::Discard => Stmt::Discard,
        core::Stmt::Fallthrough => Stmt::Fallthrough,
        core::Stmt::Return(a) => Stmt::Return(a.map(e)),
        core::Stmt::Expr(a) => Stmt::Expr(e(*a)),
    };
    let ty = |ty: &core::TypeExpr| {
        let argument = |a: &core::TypeArgument| match a {
            core::TypeArgument::Constant(a) => TypeArgument::Constant(e(*a)),
            core::TypeArgument::Type(a) => TypeArgument::Type(t(*a)),
        };
        let suffix = |suffix: &core::TypeSuffix| match suffix {
            core::TypeSuffix::Pointer(space) => TypeSuffix::Pointer(Some(*space)),
            core::TypeSuffix::ArrayReference(space) => TypeSuffix::ArrayReference(Some(*space)),
            core::TypeSuffix::Array(size) => TypeSuffix::Array(*size),
        };
        let arguments = ty.arguments.as_ref().map(|arguments| arguments.iter().map(argument).collect());
        TypeExpr { prefix: None::<AddressSpace>, name: ty.name, arguments, suffixes: ty.suffixes.iter().map(suffix).collect() }
    };
    let slots = |slots: &[core::Slot]| {
        let each =
            slots.iter().map(|slot| Slot { qualifiers: slot.qualifiers.clone(), ty: t(slot.ty), name: slot.name, semantic: slot.semantic });
        each.collect()
    };
    let decl = |decl: &core::Decl| match decl {
        core::Decl::Typedef(name, ty) => Decl::Typedef(Typedef { name: *name, ty: t(*ty) }),
        core::Decl::Struct(name, fields) => Decl::Struct(StructDef { name: *name, fields: slots(fields) }),
        core::Decl::Enum(def) => {
            let elements = def.elements.iter().map(|(name, value)| EnumElement { name: *name, value: value.map(e) }).collect();
            Decl::Enum(EnumDef { name: def.name, base: def.base.map(t), elements })
        }
        core::Decl::Function(f) => Decl::Function(Box::new(FuncDef {
            kind: f.kind,
            result: t(f.result),
            name: f.name,
            parameters: slots(&f.parameters),
            semantic: f.semantic,
            body: s(f.body),
            span: f.span,
        })),
    };
    fn each<A, B>(arena: &[(A, Span)], node: impl Fn(&A) -> B) -> Vec<(B, Span)> {
        arena.iter().map(|(a, span)| (node(a), *span)).collect()
    }
    Tree {
        names: program.names.clone(),
        decls: program.decls.iter().map(decl).collect(),
        types: each(&program.types, ty),
        exprs: each(&program.exprs, expr),
        stmts: each(&program.stmts, stmt),
        signs: Vec::new(),
    }
}
