//! WSL syntax: seed 004 "Parsing". The program as written, before desugaring and before names
//! have meanings.
//!
//! Nodes stand in arenas, each with its span, children before their parents. Nesting is bounded by
//! [`MAX_NESTING`]. `print` writes a tree that reads back to the same tree. `desugar` turns a tree
//! into [`crate::wsl::core`].

mod literal;
mod operator;

pub use literal::{IntLiteral, Literal, Magnitude};
pub use operator::{BinaryOp, Fix, Step, UnaryOp};

use crate::text::{Span, Symbol, Symbols};
use crate::wsl::arena::nodes;

/// The deepest nesting of expressions, statements and types that is read. A chain of operators,
/// such as `a + b + c`, is one level.
pub const MAX_NESTING: u32 = 10_000;
/// The most nodes on a path from the top of a tree to its bottom. Each operator of a chain counts.
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

/// A name and its place. An operator name is one name, such as `operator+` or `operator&.x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: Symbol,
    /// The bytes of the text that spell it.
    pub span: Span,
}

/// An address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AddressSpace {
    /// Memory that all threads share and only read.
    Constant,
    /// Memory that all threads share.
    Device,
    /// Memory that the threads of a threadgroup share.
    Threadgroup,
    /// Memory of one thread.
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
    /// The address space before the name. It is sugar for the same space on every suffix that
    /// has none.
    pub prefix: Option<AddressSpace>,
    /// The name.
    pub name: Ident,
    /// The arguments between `<` and `>`. `None` without `<` and `>`.
    pub arguments: Option<Vec<TypeArgument>>,
    /// The suffixes, applied from left to right.
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

/// A suffix that makes another type of a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TypeSuffix {
    /// `*`. The address space is `None` if the type has a prefix.
    Pointer(Option<AddressSpace>),
    /// `[]`. The address space is `None` if the type has a prefix.
    ArrayReference(Option<AddressSpace>),
    /// `[n]`.
    Array(IntLiteral),
}

/// An expression. Parentheses are kept, so the printer adds none. A literal in parentheses still
/// counts as a literal.
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

/// The first part between the parentheses of a `for`.
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
    /// The address space of the variables. It is written before a type without pointer or array
    /// reference suffixes, as in `threadgroup int[4] x`.
    pub space: Option<AddressSpace>,
    /// Their type. Its `prefix` is `None` if `space` is given.
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
    /// The value. `None` for `default`.
    pub value: Option<ExprId>,
    /// Its place, from `case` to the end of the body.
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
    /// The type that it stands for.
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

/// A field of a struct or a parameter of a function. Both may have a semantic and qualifiers.
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

/// A semantic, which follows a `:`, and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Semantic {
    /// The semantic.
    pub kind: SemanticKind,
    /// The bytes of the text that spell it.
    pub span: Span,
}

/// A semantic as written.
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
    /// All built-in variables.
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
    /// The type of its result. For a cast, this is its name too.
    pub result: TypeExprId,
    /// Its name. For a cast, the place of the keyword, and the symbol `operator`.
    pub name: Ident,
    /// Its parameters.
    pub parameters: Vec<Slot>,
    /// The semantic of its result.
    pub semantic: Option<Semantic>,
    /// Its body, a [`Stmt::Block`].
    pub body: StmtId,
    /// Its place, from the first token to the `}`.
    pub span: Span,
}

/// The kinds of functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FunctionKind {
    /// A function with a name or an operator name.
    Normal,
    /// `operator T(…)`
    Cast,
    /// The entry point of a vertex stage.
    Vertex,
    /// The entry point of a fragment stage.
    Fragment,
    /// The entry point of a compute stage, with the size of its threadgroups and the place where
    /// that is written.
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
    /// The place of each binary operator's sign, in the order of the expressions. Empty for a tree
    /// that was not read from text.
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
