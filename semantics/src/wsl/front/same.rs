//! Equality of WSL trees as programs. Places, the numbers of nodes and the numbers of names
//! may differ.

use crate::text::Symbol;
use crate::wsl::syntax::{
    Decl, Declarations, EnumDef, Expr, ExprId, ForInit, FuncDef, FunctionKind, Ident, Semantic, SemanticKind, Slot, Stmt, StmtId,
    StructDef, Tree, TypeArgument, TypeExpr, TypeExprId,
};

/// Two nodes that are still to be compared.
enum Pair {
    Expr(ExprId, ExprId),
    Stmt(StmtId, StmtId),
    Type(TypeExprId, TypeExprId),
}

struct Comparison<'a> {
    left: &'a Tree,
    right: &'a Tree,
    todo: Vec<Pair>,
}

impl Tree {
    /// Whether the trees are equal except for places. Names are compared by their text.
    pub fn same(&self, other: &Tree) -> bool {
        let mut comparison = Comparison { left: self, right: other, todo: Vec::new() };
        self.decls.len() == other.decls.len() && self.decls.iter().zip(&other.decls).all(|(a, b)| comparison.decls(a, b))
    }
}

impl Comparison<'_> {
    /// Compares declarations with everything below them. Nesting uses no stack, since the pairs to
    /// compare are in a list.
    fn decls(&mut self, a: &Decl, b: &Decl) -> bool {
        if !self.heads(a, b) {
            return false;
        }
        while let Some(pair) = self.todo.pop() {
            let same = match pair {
                Pair::Expr(a, b) => self.exprs(a, b),
                Pair::Stmt(a, b) => self.stmts(a, b),
                Pair::Type(a, b) => self.types(a, b),
            };
            if !same {
                return false;
            }
        }
        true
    }

    fn heads(&mut self, a: &Decl, b: &Decl) -> bool {
        match (a, b) {
            (Decl::Empty, Decl::Empty) => true,
            (Decl::Typedef(a), Decl::Typedef(b)) => self.idents(a.name, b.name) && self.queue_types(a.ty, b.ty),
            (Decl::Struct(StructDef { name: a, fields: x }), Decl::Struct(StructDef { name: b, fields: y })) => {
                self.idents(*a, *b) && self.slots(x, y)
            }
            (Decl::Enum(EnumDef { name: a, base: t, elements: x }), Decl::Enum(EnumDef { name: b, base: u, elements: y })) => {
                let bases = match (t, u) {
                    (Some(t), Some(u)) => self.queue_types(*t, *u),
                    (t, u) => t.is_none() && u.is_none(),
                };
                let elements =
                    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| self.idents(x.name, y.name) && self.optional(x.value, y.value));
                self.idents(*a, *b) && bases && elements
            }
            (Decl::Function(a), Decl::Function(b)) => self.functions(a, b),
            _ => false,
        }
    }

    fn functions(&mut self, a: &FuncDef, b: &FuncDef) -> bool {
        let kinds = match (&a.kind, &b.kind) {
            (FunctionKind::Compute(x, _), FunctionKind::Compute(y, _)) => x == y,
            (x, y) => x == y,
        };
        kinds
            && self.idents(a.name, b.name)
            && self.queue_types(a.result, b.result)
            && self.slots(&a.parameters, &b.parameters)
            && self.semantics(a.semantic, b.semantic)
            && self.queue_stmts(a.body, b.body)
    }

    fn slots(&mut self, a: &[Slot], b: &[Slot]) -> bool {
        let each = |c: &mut Self, (a, b): (&Slot, &Slot)| {
            a.qualifiers.iter().map(|q| q.0).eq(b.qualifiers.iter().map(|q| q.0))
                && c.idents(a.name, b.name)
                && c.queue_types(a.ty, b.ty)
                && c.semantics(a.semantic, b.semantic)
        };
        a.len() == b.len() && a.iter().zip(b).all(|pair| each(self, pair))
    }

    fn semantics(&self, a: Option<Semantic>, b: Option<Semantic>) -> bool {
        match (a.map(|s| s.kind), b.map(|s| s.kind)) {
            (Some(SemanticKind::Register(a, x)), Some(SemanticKind::Register(b, y))) => {
                let spaces = match (x, y) {
                    (Some(x), Some(y)) => self.idents(x, y),
                    (x, y) => x.is_none() && y.is_none(),
                };
                self.idents(a, b) && spaces
            }
            (a, b) => a == b,
        }
    }

    fn names(&self, a: Symbol, b: Symbol) -> bool {
        self.left.names.name(a) == self.right.names.name(b)
    }

    fn idents(&self, a: Ident, b: Ident) -> bool {
        self.names(a.name, b.name)
    }

    fn queue_exprs(&mut self, a: ExprId, b: ExprId) -> bool {
        self.todo.push(Pair::Expr(a, b));
        true
    }

    fn queue_stmts(&mut self, a: StmtId, b: StmtId) -> bool {
        self.todo.push(Pair::Stmt(a, b));
        true
    }

    fn queue_types(&mut self, a: TypeExprId, b: TypeExprId) -> bool {
        self.todo.push(Pair::Type(a, b));
        true
    }

    fn optional(&mut self, a: Option<ExprId>, b: Option<ExprId>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => self.queue_exprs(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    fn list(&mut self, a: &[StmtId], b: &[StmtId]) -> bool {
        self.todo.extend(a.iter().zip(b).map(|(&a, &b)| Pair::Stmt(a, b)));
        a.len() == b.len()
    }

    fn types(&mut self, a: TypeExprId, b: TypeExprId) -> bool {
        let (a, b): (&TypeExpr, &TypeExpr) = (self.left.ty(a), self.right.ty(b));
        let (x, y) = (a.arguments.as_deref().unwrap_or_default(), b.arguments.as_deref().unwrap_or_default());
        a.prefix == b.prefix
            && self.idents(a.name, b.name)
            && a.suffixes == b.suffixes
            && a.arguments.is_some() == b.arguments.is_some()
            && x.len() == y.len()
            && x.iter().zip(y).all(|(&x, &y)| match (x, y) {
                (TypeArgument::Constant(x), TypeArgument::Constant(y)) => self.queue_exprs(x, y),
                (TypeArgument::Type(x), TypeArgument::Type(y)) => self.queue_types(x, y),
                _ => false,
            })
    }

    fn exprs(&mut self, a: ExprId, b: ExprId) -> bool {
        match (self.left.expr(a), self.right.expr(b)) {
            (Expr::Literal(a), Expr::Literal(b)) => a == b,
            (Expr::Name(a), Expr::Name(b)) => self.names(*a, *b),
            (Expr::Parens(a), Expr::Parens(b))
            | (Expr::Dereference(a), Expr::Dereference(b))
            | (Expr::AddressOf(a), Expr::AddressOf(b))
            | (Expr::MakeReference(a), Expr::MakeReference(b)) => self.queue_exprs(*a, *b),
            (Expr::Comma(a, x), Expr::Comma(b, y)) | (Expr::Or(a, x), Expr::Or(b, y)) | (Expr::And(a, x), Expr::And(b, y)) => {
                self.queue_exprs(*a, *b) && self.queue_exprs(*x, *y)
            }
            (Expr::Index(a, x), Expr::Index(b, y)) => self.queue_exprs(*a, *b) && self.queue_exprs(*x, *y),
            (Expr::Ternary(a, c, x), Expr::Ternary(b, d, y)) => {
                self.queue_exprs(*a, *b) && self.queue_exprs(*c, *d) && self.queue_exprs(*x, *y)
            }
            (Expr::Assign(o, a, x), Expr::Assign(p, b, y)) => o == p && self.queue_exprs(*a, *b) && self.queue_exprs(*x, *y),
            (Expr::Binary(o, a, x), Expr::Binary(p, b, y)) => o == p && self.queue_exprs(*a, *b) && self.queue_exprs(*x, *y),
            (Expr::Unary(o, a), Expr::Unary(p, b)) => o == p && self.queue_exprs(*a, *b),
            (Expr::Step(o, f, a), Expr::Step(p, g, b)) => o == p && f == g && self.queue_exprs(*a, *b),
            (Expr::Dot(a, x), Expr::Dot(b, y)) | (Expr::Arrow(a, x), Expr::Arrow(b, y)) => self.idents(*x, *y) && self.queue_exprs(*a, *b),
            (Expr::Call(a, x), Expr::Call(b, y)) => {
                self.todo.extend(x.iter().zip(y).map(|(&x, &y)| Pair::Expr(x, y)));
                self.idents(*a, *b) && x.len() == y.len()
            }
            _ => false,
        }
    }

    fn declarations(&mut self, a: &Declarations, b: &Declarations) -> bool {
        let variables = a.variables.iter().zip(&b.variables);
        a.space == b.space
            && self.queue_types(a.ty, b.ty)
            && a.variables.len() == b.variables.len()
            && variables.into_iter().all(|(a, b)| self.idents(a.name, b.name) && self.optional(a.initializer, b.initializer))
    }

    fn stmts(&mut self, a: StmtId, b: StmtId) -> bool {
        match (self.left.stmt(a), self.right.stmt(b)) {
            (Stmt::Block(a), Stmt::Block(b)) => self.list(a, b),
            (Stmt::Declarations(a), Stmt::Declarations(b)) => self.declarations(a, b),
            (Stmt::If(a, s, Some(x)), Stmt::If(b, t, Some(y))) => {
                self.queue_exprs(*a, *b) && self.queue_stmts(*s, *t) && self.queue_stmts(*x, *y)
            }
            (Stmt::If(a, s, None), Stmt::If(b, t, None))
            | (Stmt::While(a, s), Stmt::While(b, t))
            | (Stmt::DoWhile(s, a), Stmt::DoWhile(t, b)) => self.queue_exprs(*a, *b) && self.queue_stmts(*s, *t),
            (Stmt::For(i, a, x, s), Stmt::For(j, b, y, t)) => {
                let inits = match (i, j) {
                    (ForInit::Empty, ForInit::Empty) => true,
                    (ForInit::Expr(a), ForInit::Expr(b)) => self.queue_exprs(*a, *b),
                    (ForInit::Declarations(a), ForInit::Declarations(b)) => self.declarations(a, b),
                    _ => false,
                };
                inits && self.optional(*a, *b) && self.optional(*x, *y) && self.queue_stmts(*s, *t)
            }
            (Stmt::Switch(a, x), Stmt::Switch(b, y)) => {
                self.queue_exprs(*a, *b)
                    && x.len() == y.len()
                    && x.iter().zip(y).all(|(x, y)| self.optional(x.value, y.value) && self.list(&x.body, &y.body))
            }
            (Stmt::Return(a), Stmt::Return(b)) => self.optional(*a, *b),
            (Stmt::Expr(a), Stmt::Expr(b)) => self.queue_exprs(*a, *b),
            (Stmt::Break, Stmt::Break)
            | (Stmt::Continue, Stmt::Continue)
            | (Stmt::Discard, Stmt::Discard)
            | (Stmt::Fallthrough, Stmt::Fallthrough)
            | (Stmt::Empty, Stmt::Empty) => true,
            _ => false,
        }
    }
}
