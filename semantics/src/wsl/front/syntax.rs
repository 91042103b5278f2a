//! WSL syntax: seed 004 "Parsing", the program as written, before desugaring and before any name
//! has a meaning.
//!
//! Nodes stand in arenas, children before their parents, each with its span; nesting is bounded by
//! [`MAX_NESTING`]. `print` writes a tree that reads back to the same tree, `desugar` turns it into
//! [`crate::wsl::core`].

mod literal;
mod operator;

pub use literal::{IntLiteral, Literal, Magnitude};
pub use operator::{BinaryOp, Fix, Step, UnaryOp};

use crate::text::{Span, Symbol, Symbols};
use crate::wsl::arena::nodes;

/// The deepest nesting of expressions, statements and types that is read; a chain of operators, as
/// `a + b + c`, is one level.
pub const MAX_NESTING: u32 = 10_000;
/// The most nodes from the top of a tree to its bottom, where each operator of a chain counts.
pub const MAX_HEIGHT: u32 = 1 << 18;
/// The longest program text, in bytes.
pub const MAX_TEXT: usize = 16 << 20;

/// The index of an expression in its [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);
/// The index of a statement in its [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StmtId(pub u32);
/// The index of a type as written in its [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeExprId(pub u32);

/// A name and where it stands. Operator names are whole: `operator+`, `operator&.x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: Symbol,
    /// Where.
    pub span: Span,
}

/// An address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AddressSpace {
    /// Read only, shared by all threads.
    Constant,
    /// Shared by all threads.
    Device,
    /// Shared by the threads of a group.
    Threadgroup,
    /// A thread's own.
    Thread,
}

impl AddressSpace {
    /// Every address space.
    pub const ALL: [AddressSpace; 4] = [AddressSpace::Constant, AddressSpace::Device, AddressSpace::Threadgroup, AddressSpace::Thread];

    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            AddressSpace::Constant => "constant",
            AddressSpace::Device => "device",
            AddressSpace::Threadgroup => "threadgroup",
            AddressSpace::Thread => "thread",
        }
    }
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// The address space before the name: sugar for the same one on every suffix without its own.
    pub prefix: Option<AddressSpace>,
    /// The name.
    pub name: Ident,
    /// What stands between `<` and `>`; absent if they are.
    pub arguments: Option<Vec<TypeArgument>>,
    /// What stands after it, applied from left to right.
    pub suffixes: Vec<TypeSuffix>,
}

/// An argument of a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TypeArgument {
    /// A literal, or an element of an enum.
    Constant(ExprId),
    /// A type.
    Type(TypeExprId),
}

/// What makes another type of a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TypeSuffix {
    /// `*`; the address space is absent where the type has a prefix.
    Pointer(Option<AddressSpace>),
    /// `[]`, likewise.
    ArrayReference(Option<AddressSpace>),
    /// `[n]`.
    Array(IntLiteral),
}

/// An expression. Parentheses are kept: a parenthesised literal is a literal, and
/// the printer adds none.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A literal.
    Literal(Literal),
    /// A name.
    Name(Symbol),
    /// `(e)`
    Parens(ExprId),
    /// `e1, e2`
    Comma(ExprId, ExprId),
    /// `e1 ? e2 : e3`
    Ternary(ExprId, ExprId, ExprId),
    /// `e1 = e2`, or `e1 += e2` with the operator.
    Assign(Option<BinaryOp>, ExprId, ExprId),
    /// `e1 || e2`
    Or(ExprId, ExprId),
    /// `e1 && e2`
    And(ExprId, ExprId),
    /// `e1 + e2`
    Binary(BinaryOp, ExprId, ExprId),
    /// `-e`
    Unary(UnaryOp, ExprId),
    /// `*e`
    Dereference(ExprId),
    /// `&e`
    AddressOf(ExprId),
    /// `@e`
    MakeReference(ExprId),
    /// `++e`, `e--`
    Step(Step, Fix, ExprId),
    /// `e.foo`
    Dot(ExprId, Ident),
    /// `e->foo`
    Arrow(ExprId, Ident),
    /// `e1[e2]`
    Index(ExprId, ExprId),
    /// `f(e1, …)`
    Call(Ident, Vec<ExprId>),
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `{ … }`
    Block(Vec<StmtId>),
    /// `T x = e, y;`
    Declarations(Declarations),
    /// `if (e) s else s'`
    If(ExprId, StmtId, Option<StmtId>),
    /// `while (e) s`
    While(ExprId, StmtId),
    /// `do s while (e);`
    DoWhile(StmtId, ExprId),
    /// `for (init; e; e') s`
    For(ForInit, Option<ExprId>, Option<ExprId>, StmtId),
    /// `switch (e) { … }`
    Switch(ExprId, Vec<Case>),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `discard;`
    Discard,
    /// `fallthrough;`
    Fallthrough,
    /// `return e;`
    Return(Option<ExprId>),
    /// `e;`
    Expr(ExprId),
    /// `;`: the empty `maybeEffectfulExpr`.
    Empty,
}

/// What stands first between the parentheses of a `for`.
#[derive(Clone, Debug, PartialEq)]
pub enum ForInit {
    /// Nothing.
    Empty,
    /// An expression.
    Expr(ExprId),
    /// Declarations.
    Declarations(Declarations),
}

/// `T x = e, y`, with the address space of the variables if one is written (ERRATA WSL-B8).
#[derive(Clone, Debug, PartialEq)]
pub struct Declarations {
    /// The address space of the variables: written before a type without pointer or array reference
    /// suffixes, as in `threadgroup int[4] x`.
    pub space: Option<AddressSpace>,
    /// Their type. Its `prefix` is absent if `space` is present.
    pub ty: TypeExprId,
    /// The variables, at least one.
    pub variables: Vec<Variable>,
}

/// A variable of a declaration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: Ident,
    /// Its initialising expression.
    pub initializer: Option<ExprId>,
}

/// A case of a `switch`.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The value; `default` has none.
    pub value: Option<ExprId>,
    /// From `case` to the end of the body.
    pub span: Span,
    /// The statements.
    pub body: Vec<StmtId>,
}

/// A declaration at the top level.
#[derive(Clone, Debug, PartialEq)]
pub enum Decl {
    /// `;`
    Empty,
    /// `typedef A = T;`
    Typedef(Typedef),
    /// `struct S { … }`
    Struct(StructDef),
    /// `enum E : T { … }`
    Enum(EnumDef),
    /// A function.
    Function(Box<FuncDef>),
}

/// `typedef A = T;`
#[derive(Clone, Debug, PartialEq)]
pub struct Typedef {
    /// Its name.
    pub name: Ident,
    /// What it stands for.
    pub ty: TypeExprId,
}

/// `struct S { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct StructDef {
    /// Its name.
    pub name: Ident,
    /// Its fields.
    pub fields: Vec<Slot>,
}

/// A field of a struct or a parameter of a function: what may carry a semantic and qualifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// Its interpolation qualifiers in order.
    pub qualifiers: Vec<(Qualifier, Span)>,
    /// Its type.
    pub ty: TypeExprId,
    /// Its name.
    pub name: Ident,
    /// Its semantic.
    pub semantic: Option<Semantic>,
}

/// An interpolation qualifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is its keyword")]
pub enum Qualifier {
    Nointerpolation,
    Noperspective,
    Centroid,
    Sample,
}

impl Qualifier {
    /// Every qualifier.
    pub const ALL: [Qualifier; 4] = [Qualifier::Nointerpolation, Qualifier::Noperspective, Qualifier::Centroid, Qualifier::Sample];

    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Qualifier::Nointerpolation => "nointerpolation",
            Qualifier::Noperspective => "noperspective",
            Qualifier::Centroid => "centroid",
            Qualifier::Sample => "sample",
        }
    }
}

/// What follows a `:`, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Semantic {
    /// What it says.
    pub kind: SemanticKind,
    /// Where.
    pub span: Span,
}

/// What a semantic says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SemanticKind {
    /// A built-in without a number.
    Builtin(BuiltinSemantic),
    /// `SV_Target n`
    Target(IntLiteral),
    /// `attribute(n)`
    Attribute(IntLiteral),
    /// `register(r)`, `register(r, space)`
    Register(Ident, Option<Ident>),
    /// `specialized`
    Specialized,
}

/// A built-in variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is its keyword")]
pub enum BuiltinSemantic {
    InstanceId,
    VertexId,
    PointSize,
    Position,
    IsFrontFace,
    SampleIndex,
    InnerCoverage,
    Depth,
    Coverage,
    DispatchThreadId,
    GroupId,
    GroupIndex,
    GroupThreadId,
}

impl BuiltinSemantic {
    /// Every one.
    pub const ALL: [BuiltinSemantic; 13] = [
        BuiltinSemantic::InstanceId,
        BuiltinSemantic::VertexId,
        BuiltinSemantic::PointSize,
        BuiltinSemantic::Position,
        BuiltinSemantic::IsFrontFace,
        BuiltinSemantic::SampleIndex,
        BuiltinSemantic::InnerCoverage,
        BuiltinSemantic::Depth,
        BuiltinSemantic::Coverage,
        BuiltinSemantic::DispatchThreadId,
        BuiltinSemantic::GroupId,
        BuiltinSemantic::GroupIndex,
        BuiltinSemantic::GroupThreadId,
    ];

    /// The keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            BuiltinSemantic::InstanceId => "SV_InstanceID",
            BuiltinSemantic::VertexId => "SV_VertexID",
            BuiltinSemantic::PointSize => "PSIZE",
            BuiltinSemantic::Position => "SV_Position",
            BuiltinSemantic::IsFrontFace => "SV_IsFrontFace",
            BuiltinSemantic::SampleIndex => "SV_SampleIndex",
            BuiltinSemantic::InnerCoverage => "SV_InnerCoverage",
            BuiltinSemantic::Depth => "SV_Depth",
            BuiltinSemantic::Coverage => "SV_Coverage",
            BuiltinSemantic::DispatchThreadId => "SV_DispatchThreadID",
            BuiltinSemantic::GroupId => "SV_GroupID",
            BuiltinSemantic::GroupIndex => "SV_GroupIndex",
            BuiltinSemantic::GroupThreadId => "SV_GroupThreadID",
        }
    }
}

/// `enum E : T { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct EnumDef {
    /// Its name.
    pub name: Ident,
    /// Its base type, if written.
    pub base: Option<TypeExprId>,
    /// Its elements, at least one.
    pub elements: Vec<EnumElement>,
}

/// An element of an enum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnumElement {
    /// Its name.
    pub name: Ident,
    /// Its value, if written: a literal or `E.A`.
    pub value: Option<ExprId>,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct FuncDef {
    /// What kind of function it is.
    pub kind: FunctionKind,
    /// What it returns; of a cast this is its name too.
    pub result: TypeExprId,
    /// Its name; of a cast, the keyword's place and the symbol `operator`.
    pub name: Ident,
    /// Its parameters.
    pub parameters: Vec<Slot>,
    /// The semantic of what it returns.
    pub semantic: Option<Semantic>,
    /// Its body, a [`Stmt::Block`].
    pub body: StmtId,
    /// From the first token to the `}`.
    pub span: Span,
}

/// The kinds of functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FunctionKind {
    /// A function by a name or an operator name.
    Normal,
    /// `operator T(…)`
    Cast,
    /// The entry point of a vertex stage.
    Vertex,
    /// The entry point of a fragment stage.
    Fragment,
    /// The entry point of a compute stage, with the size of its threadgroups and
    /// where that is written.
    Compute([IntLiteral; 3], Span),
}

impl FunctionKind {
    /// Whether it is an entry point.
    pub fn is_entry_point(&self) -> bool {
        matches!(self, FunctionKind::Vertex | FunctionKind::Fragment | FunctionKind::Compute(..))
    }
}

/// A program as written.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The identifiers.
    pub names: Symbols,
    /// The declarations in order.
    pub decls: Vec<Decl>,
    /// The types.
    pub types: Vec<(TypeExpr, Span)>,
    /// The expressions.
    pub exprs: Vec<(Expr, Span)>,
    /// The statements.
    pub stmts: Vec<(Stmt, Span)>,
    /// Where the sign of each binary operator stands, in the order of the expressions; a tree that
    /// was never text has none.
    pub signs: Vec<(ExprId, Span)>,
}

nodes!(Tree: Expr ExprId, Stmt StmtId, TypeExpr TypeExprId);

impl Tree {
    /// Adds an expression.
    pub fn push_expr(&mut self, expr: Expr, span: Span) -> ExprId {
        self.exprs.push((expr, span));
        ExprId(self.exprs.len() as u32 - 1)
    }

    /// Adds a statement.
    pub fn push_stmt(&mut self, stmt: Stmt, span: Span) -> StmtId {
        self.stmts.push((stmt, span));
        StmtId(self.stmts.len() as u32 - 1)
    }

    /// Adds a type.
    pub fn push_type(&mut self, ty: TypeExpr, span: Span) -> TypeExprId {
        self.types.push((ty, span));
        TypeExprId(self.types.len() as u32 - 1)
    }
}
