//! Random WSL trees by the grammar: programs that the parser accepts, whatever they mean. They are
//! for tests of code that works on text and trees.
//!
//! Each production with a choice has a function. It makes only trees that the parser makes of the
//! production's text, so a tree is equal to its printed text, parsed again. The generator ignores
//! the meaning: names are usually undefined, and types usually wrong.

pub mod arguments;
pub mod beside;
pub mod bound;
pub mod dispatch;
pub mod draws;
pub mod shrink;
pub mod typed;

use smallstep_semantics::text::Span;
use smallstep_semantics::wsl::syntax::{
    AddressSpace, BinaryOp, BuiltinSemantic, Case, Decl, Declarations, EnumDef, EnumElement, Expr, ExprId, Fix, ForInit, FuncDef,
    FunctionKind, Ident, IntLiteral, Literal, Magnitude, Qualifier, Semantic, SemanticKind, Slot, Step, Stmt, StmtId, StructDef, Tree,
    TypeArgument, TypeExpr, TypeExprId, TypeSuffix, Typedef, UnaryOp, Variable,
};

/// A tree of about `size` nodes for each declaration. `bits` returns 64 bits that decide
/// the choices.
pub fn tree(bits: &mut dyn FnMut() -> u64, size: usize) -> Tree {
    let mut g = Generator { bits, tree: Tree::default(), nodes_left: 0 };
    for _ in 0..g.below(4) + 1 {
        g.nodes_left = size as isize;
        let decl = g.decl();
        g.tree.decls.push(decl);
    }
    g.tree
}

/// The span of generated nodes, which have no place in a text.
const NOWHERE: Span = Span { start: 0, end: 0 };

/// The productions of expressions, from the lowest to the highest precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Comma,
    Ternary,
    Or,
    And,
    BitwiseOr,
    BitwiseXor,
    BitwiseAnd,
    Relational,
    Shift,
    Add,
    Mult,
    Prefix,
    Suffix,
}

struct Generator<'a> {
    bits: &'a mut dyn FnMut() -> u64,
    tree: Tree,
    /// The number of nodes that may be made before every choice becomes the smallest.
    nodes_left: isize,
}

impl Generator<'_> {
    fn below(&mut self, n: usize) -> usize {
        ((self.bits)() >> 33) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn maybe<T>(&mut self, n: usize, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.one_in(n) { Some(make(self)) } else { None }
    }

    fn list<T>(&mut self, least: usize, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let n = if self.nodes_left < 0 { least } else { least + self.below(most - least + 1) };
        (0..n).map(|_| make(self)).collect()
    }

    fn expr(&mut self, expr: Expr) -> ExprId {
        self.nodes_left -= 1;
        self.tree.push_expr(expr, NOWHERE)
    }

    fn stmt(&mut self, stmt: Stmt) -> StmtId {
        self.nodes_left -= 1;
        self.tree.push_stmt(stmt, NOWHERE)
    }

    fn ident(&mut self, name: &str) -> Ident {
        Ident { name: self.tree.names.intern(name), span: NOWHERE }
    }

    fn name(&mut self) -> Ident {
        const NAMES: [&str; 16] =
            ["a", "b", "x", "y", "foo", "u0", "float4", "int", "T", "E", "structure", "_0", "If", "operators", "größe", "f"];
        let name = self.pick(&NAMES);
        self.ident(name)
    }

    fn operator_name(&mut self) -> Ident {
        const SIGNS: [&str; 23] = [
            "<<", ">>", "+", "-", "*", "/", "%", "&", "^", "|", ">=", "<=", "==", "!=", "<", ">", "++", "--", "!", "~", "[]", "[]=", "&[]",
        ];
        let name = match self.below(4) {
            0 => {
                let field = self.name();
                let field = self.tree.names.name(field.name).to_owned();
                self.pick(&["&.X", ".X", ".X="]).replace('X', &field)
            }
            _ => self.pick(&SIGNS).to_owned(),
        };
        self.ident(&format!("operator{name}"))
    }

    fn decl(&mut self) -> Decl {
        match self.below(8) {
            0 => Decl::Empty,
            1 => Decl::Typedef(Typedef { name: self.name(), ty: self.ty() }),
            2 => {
                let name = self.name();
                Decl::Struct(StructDef { name, fields: self.list(0, 4, Self::slot) })
            }
            3 => {
                let (name, base) = (self.name(), self.maybe(2, Self::ty));
                let element = |g: &mut Self| EnumElement { name: g.name(), value: g.maybe(2, Self::constexpr) };
                Decl::Enum(EnumDef { name, base, elements: self.list(1, 4, element) })
            }
            _ => Decl::Function(Box::new(self.function())),
        }
    }

    fn function(&mut self) -> FuncDef {
        let kind = match self.below(6) {
            0 => FunctionKind::Vertex,
            1 => FunctionKind::Fragment,
            2 => FunctionKind::Compute([self.size(), self.size(), self.size()], NOWHERE),
            3 => FunctionKind::Cast,
            _ => FunctionKind::Normal,
        };
        let name = match kind {
            FunctionKind::Cast => self.ident("operator"),
            FunctionKind::Normal if self.one_in(2) => self.operator_name(),
            _ => self.name(),
        };
        let (result, parameters, semantic) = (self.ty(), self.list(0, 3, Self::slot), self.maybe(4, Self::semantic));
        FuncDef { kind, result, name, parameters, semantic, body: self.block(), span: NOWHERE }
    }

    fn slot(&mut self) -> Slot {
        let qualifier = |g: &mut Self| (g.pick(&Qualifier::ALL), NOWHERE);
        let qualifiers = if self.one_in(4) { self.list(1, 3, qualifier) } else { Vec::new() };
        Slot { qualifiers, ty: self.ty(), name: self.name(), semantic: self.maybe(3, Self::semantic) }
    }

    fn semantic(&mut self) -> Semantic {
        let kind = match self.below(5) {
            0 => SemanticKind::Builtin(self.pick(&BuiltinSemantic::ALL)),
            1 => SemanticKind::Target(self.size()),
            2 => SemanticKind::Attribute(self.size()),
            3 => SemanticKind::Register(self.name(), self.maybe(2, Self::name)),
            _ => SemanticKind::Specialized,
        };
        Semantic { kind, span: NOWHERE }
    }

    /// An integer literal without sign.
    fn size(&mut self) -> IntLiteral {
        IntLiteral { negative: false, ..self.int() }
    }

    fn int(&mut self) -> IntLiteral {
        let magnitude = match self.below(8) {
            0 => Magnitude::Exact((self.bits)()),
            1 => Magnitude::Exact(u64::from((self.bits)() as u32)),
            // Numbers from 2^64 on, and numbers beyond every float.
            2 => Magnitude::Large(self.pick(&[18_446_744_073_709_551_616.0, 1e30, f32::MAX, f32::INFINITY])),
            _ => Magnitude::Exact(self.below(10) as u64),
        };
        let (unsigned, negative) = (self.one_in(4), self.one_in(4));
        IntLiteral { negative: negative && !unsigned, unsigned, hexadecimal: self.one_in(4), magnitude }
    }

    fn literal(&mut self) -> Literal {
        match self.below(6) {
            0 => Literal::Bool(true),
            1 => Literal::Bool(false),
            2 => {
                let x = f32::from_bits((self.bits)() as u32);
                Literal::Float(if x.is_nan() { 0.5 } else { x })
            }
            _ => Literal::Int(self.int()),
        }
    }

    fn constexpr(&mut self) -> ExprId {
        if self.one_in(3) {
            let (base, element) = (self.name(), self.name());
            let base = self.expr(Expr::Name(base.name));
            return self.expr(Expr::Dot(base, element));
        }
        let literal = self.literal();
        self.expr(Expr::Literal(literal))
    }

    fn ty(&mut self) -> TypeExprId {
        let prefix = self.maybe(4, |g| g.pick(&AddressSpace::ALL));
        let suffix = |g: &mut Self| match g.below(3) {
            0 => TypeSuffix::Pointer(if prefix.is_some() { None } else { Some(g.pick(&AddressSpace::ALL)) }),
            1 => TypeSuffix::ArrayReference(if prefix.is_some() { None } else { Some(g.pick(&AddressSpace::ALL)) }),
            _ => TypeSuffix::Array(g.size()),
        };
        let suffixes = if prefix.is_some() || self.one_in(3) { self.list(1, 3, suffix) } else { Vec::new() };
        self.named(prefix, suffixes)
    }

    /// A type with its address spaces and suffixes.
    fn named(&mut self, prefix: Option<AddressSpace>, suffixes: Vec<TypeSuffix>) -> TypeExprId {
        let name = self.name();
        self.nodes_left -= 1;
        let argument = |g: &mut Self| match g.below(2) {
            0 => TypeArgument::Constant(g.constexpr()),
            _ => TypeArgument::Type(g.ty()),
        };
        let arguments = if self.one_in(4) { Some(self.list(0, 3, argument)) } else { None };
        self.tree.push_type(TypeExpr { prefix, name, arguments, suffixes }, NOWHERE)
    }

    /// The type of declared variables. An address space before a type without pointers and array
    /// references belongs to the variables.
    fn declarations(&mut self) -> Declarations {
        let (space, ty) = if self.one_in(4) {
            let suffixes = if self.one_in(2) { self.list(0, 2, |g| TypeSuffix::Array(g.size())) } else { Vec::new() };
            (self.maybe(2, |g| g.pick(&AddressSpace::ALL)), self.named(None, suffixes))
        } else {
            let ty = self.ty();
            let has_no_references = self.tree.ty(ty).suffixes.iter().all(|s| matches!(s, TypeSuffix::Array(_)));
            let type_expr = &mut self.tree.types[ty.0 as usize].0;
            (if has_no_references { type_expr.prefix.take() } else { None }, ty)
        };
        let variable = |g: &mut Self| Variable { name: g.name(), initializer: g.maybe(2, |g| g.at_least(Level::Ternary)) };
        Declarations { space, ty, variables: self.list(1, 3, variable) }
    }

    fn block(&mut self) -> StmtId {
        let stmts = self.list(0, 5, Self::statement);
        self.stmt(Stmt::Block(stmts))
    }

    fn statement(&mut self) -> StmtId {
        let stmt = match if self.nodes_left < 0 { 12 + self.below(7) } else { self.below(20) } {
            0 | 1 => return self.block(),
            2 | 3 => {
                let (e, then) = (self.at_least(Level::Comma), self.body());
                let other = self.maybe(2, Self::body);
                // An else belongs to the nearest if.
                let then = if other.is_some() && self.ends_in_if(then) { self.stmt(Stmt::Block(vec![then])) } else { then };
                Stmt::If(e, then, other)
            }
            4 => Stmt::While(self.at_least(Level::Comma), self.body()),
            5 => {
                let body = self.body();
                Stmt::DoWhile(body, self.at_least(Level::Comma))
            }
            6 | 7 => {
                let init = match self.below(3) {
                    0 => ForInit::Empty,
                    1 => ForInit::Expr(self.effectful()),
                    _ => ForInit::Declarations(self.declarations()),
                };
                let part = |g: &mut Self| g.maybe(2, |g| g.at_least(Level::Comma));
                Stmt::For(init, part(self), part(self), self.body())
            }
            8 => {
                let case = |g: &mut Self| Case { value: g.maybe(2, Self::constexpr), span: NOWHERE, body: g.list(0, 3, Self::statement) };
                Stmt::Switch(self.at_least(Level::Comma), self.list(0, 4, case))
            }
            9..=11 => Stmt::Declarations(self.declarations()),
            12 => Stmt::Break,
            13 => Stmt::Continue,
            14 => Stmt::Discard,
            15 => Stmt::Fallthrough,
            16 => Stmt::Empty,
            17 => Stmt::Return(self.maybe(2, |g| g.at_least(Level::Comma))),
            _ => Stmt::Expr(self.effectful()),
        };
        self.stmt(stmt)
    }

    /// The body of another statement. A declaration is put into a block, since it may not be
    /// a body.
    fn body(&mut self) -> StmtId {
        let body = self.statement();
        if matches!(self.tree.stmt(body), Stmt::Declarations(_)) { self.stmt(Stmt::Block(vec![body])) } else { body }
    }

    fn ends_in_if(&self, mut s: StmtId) -> bool {
        loop {
            s = match *self.tree.stmt(s) {
                Stmt::If(_, _, None) => return true,
                Stmt::If(_, _, Some(last)) | Stmt::While(_, last) | Stmt::For(_, _, _, last) => last,
                _ => return false,
            };
        }
    }

    /// A maybeEffectfulExpr that is not empty.
    fn effectful(&mut self) -> ExprId {
        let mut left = self.effect();
        while self.nodes_left > 0 && self.one_in(6) {
            let right = self.effect();
            left = self.expr(Expr::Comma(left, right));
        }
        left
    }

    fn effect(&mut self) -> ExprId {
        match self.below(6) {
            0 | 1 => self.assignment(),
            2 => {
                let (step, operand) = (self.step(), self.at_least(Level::Prefix));
                self.expr(Expr::Step(step, Fix::Prefix, operand))
            }
            3 => {
                let (step, operand) = (self.step(), self.at_least(Level::Suffix));
                self.expr(Expr::Step(step, Fix::Postfix, operand))
            }
            4 => self.call(),
            _ => self.parens(),
        }
    }

    fn step(&mut self) -> Step {
        self.pick(&[Step::Increment, Step::Decrement])
    }

    fn assignment(&mut self) -> ExprId {
        let op = self.maybe(2, |g| g.pick(&ASSIGNMENT_OPERATORS));
        let (left, right) = (self.at_least(Level::Prefix), self.at_least(Level::Ternary));
        self.expr(Expr::Assign(op, left, right))
    }

    fn call(&mut self) -> ExprId {
        let (callee, arguments) = (self.name(), self.list(0, 3, |g| g.at_least(Level::Ternary)));
        self.expr(Expr::Call(callee, arguments))
    }

    fn parens(&mut self) -> ExprId {
        let inner = self.at_least(Level::Comma);
        self.expr(Expr::Parens(inner))
    }

    /// An expression with at least the precedence of `level`.
    fn at_least(&mut self, level: Level) -> ExprId {
        const LEVELS: [Level; 13] = [
            Level::Comma,
            Level::Ternary,
            Level::Or,
            Level::And,
            Level::BitwiseOr,
            Level::BitwiseXor,
            Level::BitwiseAnd,
            Level::Relational,
            Level::Shift,
            Level::Add,
            Level::Mult,
            Level::Prefix,
            Level::Suffix,
        ];
        if self.nodes_left < 0 {
            return self.term();
        }
        let index = level as usize + self.below(LEVELS.len() - level as usize);
        let (chosen_level, next) = (LEVELS[index], LEVELS[(index + 1).min(LEVELS.len() - 1)]);
        match chosen_level {
            Level::Comma => {
                let (left, right) = (self.at_least(Level::Comma), self.at_least(Level::Ternary));
                self.expr(Expr::Comma(left, right))
            }
            Level::Ternary if self.one_in(2) => self.assignment(),
            Level::Ternary => {
                let (condition, then, other) = (self.at_least(Level::Or), self.at_least(Level::Comma), self.at_least(Level::Ternary));
                self.expr(Expr::Ternary(condition, then, other))
            }
            Level::Or | Level::And => {
                let (left, right) = (self.at_least(chosen_level), self.at_least(next));
                self.expr(if chosen_level == Level::Or { Expr::Or(left, right) } else { Expr::And(left, right) })
            }
            Level::Prefix => self.prefix(),
            Level::Suffix => self.suffix(),
            _ => {
                let op = self.pick(operators(chosen_level));
                let left = self.at_least(if chosen_level == Level::Relational { next } else { chosen_level });
                let right = self.at_least(next);
                self.expr(Expr::Binary(op, left, right))
            }
        }
    }

    fn prefix(&mut self) -> ExprId {
        let operand = self.at_least(Level::Prefix);
        let prefixed = match self.below(8) {
            // A sign directly before a literal would become part of the literal.
            0 if self.begins_with_number(operand) => Expr::Unary(UnaryOp::Minus, self.expr(Expr::Parens(operand))),
            0 => Expr::Unary(UnaryOp::Minus, operand),
            1 => Expr::Unary(UnaryOp::Plus, operand),
            2 => Expr::Unary(UnaryOp::Complement, operand),
            3 => Expr::Unary(UnaryOp::Not, operand),
            4 => Expr::Dereference(operand),
            5 => Expr::AddressOf(operand),
            6 => Expr::MakeReference(operand),
            _ => Expr::Step(self.step(), Fix::Prefix, operand),
        };
        self.expr(prefixed)
    }

    /// Whether the text of an exprPrefix begins with a number that would absorb a sign.
    fn begins_with_number(&self, mut e: ExprId) -> bool {
        loop {
            e = match *self.tree.expr(e) {
                Expr::Literal(Literal::Int(i)) => return !i.negative && !i.unsigned,
                Expr::Literal(Literal::Float(x)) => return x.is_sign_positive(),
                Expr::Step(_, Fix::Postfix, base) | Expr::Dot(base, _) | Expr::Arrow(base, _) | Expr::Index(base, _) => base,
                _ => return false,
            };
        }
    }

    fn suffix(&mut self) -> ExprId {
        let call = self.one_in(3);
        let mut base = if call { self.call() } else { self.term() };
        while self.nodes_left > 0 && self.one_in(2) {
            let suffixed = match self.below(if call { 3 } else { 4 }) {
                0 => Expr::Dot(base, self.name()),
                1 => Expr::Arrow(base, self.name()),
                2 => Expr::Index(base, self.at_least(Level::Comma)),
                _ => Expr::Step(self.step(), Fix::Postfix, base),
            };
            base = self.expr(suffixed);
        }
        base
    }

    fn term(&mut self) -> ExprId {
        let term = match self.below(if self.nodes_left < 0 { 4 } else { 5 }) {
            0 | 1 => Expr::Literal(self.literal()),
            2 | 3 => Expr::Name(self.name().name),
            _ => return self.parens(),
        };
        self.expr(term)
    }
}

/// The binary operators with an assigning form.
const ASSIGNMENT_OPERATORS: [BinaryOp; 10] = [
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::Divide,
    BinaryOp::Remainder,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::ShiftLeft,
    BinaryOp::ShiftRight,
];

/// The operators of a level that has binary operators.
fn operators(level: Level) -> &'static [BinaryOp] {
    match level {
        Level::BitwiseOr => &[BinaryOp::Or],
        Level::BitwiseXor => &[BinaryOp::Xor],
        Level::BitwiseAnd => &[BinaryOp::And],
        Level::Relational => {
            &[BinaryOp::Less, BinaryOp::Greater, BinaryOp::LessEqual, BinaryOp::GreaterEqual, BinaryOp::Equal, BinaryOp::NotEqual]
        }
        Level::Shift => &[BinaryOp::ShiftLeft, BinaryOp::ShiftRight],
        Level::Add => &[BinaryOp::Add, BinaryOp::Subtract],
        _ => &[BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Remainder],
    }
}
