//! WSL without sugar: the program that typing and execution see. Seed 004 "Parsing" defines each
//! desugaring, and `desugar` performs them.
//!
//! The following are gone: `while`, `if` without `else`, the first part of `for`, declarations of
//! several variables, `->`, operators (they are calls), and the address space before a type. An
//! expression may be shared. The condition of a `while`, for example, is a child of both the `if`
//! and the `do` that the `while` becomes.

use crate::text::{Span, Symbol, Symbols};
use crate::wsl::arena::nodes;
use crate::wsl::syntax::IntLiteral;
pub use crate::wsl::syntax::{AddressSpace, Fix, FunctionKind, Ident, Literal, Qualifier, Semantic, SemanticKind, Step};

/// The index of an expression in its [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);
/// The index of a statement in its [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StmtId(pub u32);
/// The index of a type in its [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeExprId(pub u32);

/// A type: a name, its arguments, and suffixes from left to right, each with its address space.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
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
    /// `* space`
    Pointer(AddressSpace),
    /// `[] space`
    ArrayReference(AddressSpace),
    /// `[n]`
    Array(IntLiteral),
}

/// An expression.
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
    /// `e1 = e2`
    Assign(ExprId, ExprId),
    /// `e1 += e2`, with the function that the operator calls, such as `operator+`.
    CompoundAssign(Symbol, ExprId, ExprId),
    /// `e1 || e2`
    Or(ExprId, ExprId),
    /// `e1 && e2`
    And(ExprId, ExprId),
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
    /// `e1[e2]`
    Index(ExprId, ExprId),
    /// `f(e1, …)`. The callee may be an operator: its name is whole, such as `operator+`, and its
    /// place is that of the sign.
    Call(Ident, Vec<ExprId>),
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `{ … }`
    Block(Vec<StmtId>),
    /// `T x = e;`
    Declaration(Declaration),
    /// `if (e) s else s'`
    If(ExprId, StmtId, StmtId),
    /// `do s while (e);`
    DoWhile(StmtId, ExprId),
    /// `for (; e; e') s`
    For(ExprId, ExprId, StmtId),
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
}

/// `T x = e`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Declaration {
    /// The address space that is written for the variable, if there is one (ERRATA WSL-B8).
    pub space: Option<AddressSpace>,
    /// Its type.
    pub ty: TypeExprId,
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

/// A field of a struct or a parameter of a function.
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

/// A declaration at the top level.
#[derive(Clone, Debug, PartialEq)]
pub enum Decl {
    /// `typedef A = T;`
    Typedef(Ident, TypeExprId),
    /// `struct S { … }`
    Struct(Ident, Vec<Slot>),
    /// `enum E : T { … }`
    Enum(Enum),
    /// A function.
    Function(Function),
}

/// `enum E : T { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// Its name.
    pub name: Ident,
    /// Its base type, if written.
    pub base: Option<TypeExprId>,
    /// Its elements with their values, if written.
    pub elements: Vec<(Ident, Option<ExprId>)>,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
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

/// A program without sugar.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The identifiers.
    pub names: Symbols,
    /// The declarations in order.
    pub decls: Vec<Decl>,
    /// The types.
    pub types: Vec<(TypeExpr, Span)>,
    /// The expressions. Children stand before their parents.
    pub exprs: Vec<(Expr, Span)>,
    /// The statements. Children stand before their parents.
    pub stmts: Vec<(Stmt, Span)>,
}

nodes!(Program: Expr ExprId, Stmt StmtId, TypeExpr TypeExprId);
