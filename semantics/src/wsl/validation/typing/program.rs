//! The typed program: every function with its derivation and with the data for execution (seed 004
//! "Typing of functions", "Annotations for execution").
//!
//! A node *is* the conclusion of a rule. Its form is the subject of the rule, `rule` is the rule,
//! and its children are the premises. Where a value is used as another kind of value, a
//! [`Form::Coerce`] stands between. So a load (a left-value reduced to the value that it holds) has
//! its own node. The nodes of a function are contiguous, children before parents. `recheck` checks
//! a program node by node, without the code that made it.

use super::behaviour::Behaviours;
use crate::rule::Rule;
use crate::text::{Span, Symbol};
use crate::wsl::entry::EntryPoint;
use crate::wsl::environment::access::Callee;
use crate::wsl::environment::{Environment, FunctionId};
use crate::wsl::syntax::{AddressSpace, Fix, Step};
use crate::wsl::types::{TypeId, ValueType};
use std::ops::Range;

/// The number of an expression in its [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);
/// The number of a statement in its [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StmtId(pub u32);
/// A store identifier: of a declaration, a parameter, or a postfix increment or decrement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoreId(pub u32);

/// The value of a literal or of an enum's element, with its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// A `bool`.
    Bool(bool),
    /// An `int`.
    Int(i32),
    /// A `uint`.
    Uint(u32),
    /// A `float`, by its bits.
    Float(u32),
    /// An element of an enum, by its index.
    Element(u32),
}

/// A use of a value as another kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coercion {
    /// A left-value, used as the value that it holds: a load.
    LeftToRight,
    /// A left-value, used as an abstract left-value: it can be assigned to.
    LeftToAbstract,
    /// An abstract left-value, used as the value that its getter returns.
    AbstractToRight,
}

/// The form of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A literal, or an element of an enum.
    Constant(Constant),
    /// A variable or parameter.
    Variable(StoreId),
    /// The expression, used as another kind of value.
    Coerce(Coercion, ExprId),
    /// `(e)`
    Parens(ExprId),
    /// `e1, e2`
    Comma(ExprId, ExprId),
    /// `e1 || e2`
    Or(ExprId, ExprId),
    /// `e1 && e2`
    And(ExprId, ExprId),
    /// `e1 ? e2 : e3`
    Ternary(ExprId, ExprId, ExprId),
    /// `e1 = e2`
    Assign(ExprId, ExprId),
    /// `&e`
    AddressOf(ExprId),
    /// `*e`
    Dereference(ExprId),
    /// `@e`. If `e` is an array, the number is that of its elements. Otherwise the reference has
    /// one element.
    MakeReference(ExprId, Option<u32>),
    /// `e.f`, by a getter, by a setter (with the getter that reads its value), or by
    /// an address-taker.
    Dot(ExprId, Symbol, Access),
    /// `e1[e2]`, by the same kinds of accessors.
    Index(ExprId, ExprId, Access),
    /// `e1[e2]` of an array reference.
    Element(ExprId, ExprId),
    /// `e.length` of an array with that many elements. It does not load a left-value.
    ArrayLength(ExprId, u32),
    /// `e.length` of an array reference.
    ReferenceLength(ExprId),
    /// `++e` or `e--`, by the function of that operator. A postfix operator keeps the old value in
    /// the store.
    Step(Step, Fix, ExprId, Callee, Option<StoreId>),
    /// `e1 += e2`, by the function of that operator. Its arguments are `e1` used as a right-value,
    /// and `e2`.
    CompoundAssign(Callee, ExprId, ExprId),
    /// `f(e1, …)`. The range is that of its arguments in [`Program::arguments`].
    Call(Callee, Range<u32>),
}

/// The accessors that a `.f` or `[e]` may use at runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// An address-taker. The access is a left-value.
    AddressTaker(Callee),
    /// A setter, and the getter that reads the value. The access is an abstract left-value.
    Setter(Callee, Callee),
    /// A getter. The access is a right-value.
    Getter(Callee),
}

/// An expression: the conclusion of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Its form.
    pub form: Form,
    /// Its type.
    pub ty: ValueType,
    /// The rule.
    pub rule: Rule,
    /// Whether its evaluation may discard.
    pub discards: bool,
    /// Its place in the source.
    pub span: Span,
}

/// The form of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtForm {
    /// `{ … }`. The range is that of its statements in [`Program::blocks`].
    Block(Range<u32>),
    /// `T x = e;` The store has the type and the address space. Without an initialising expression,
    /// the default value is stored.
    Declaration(Symbol, StoreId, Option<ExprId>),
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

/// A case of a `switch`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// Its value. `None` for `default`.
    pub value: Option<Constant>,
    /// Its body, a block.
    pub body: StmtId,
    /// Its place in the source.
    pub span: Span,
}

/// A statement: the conclusion of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Its form.
    pub form: StmtForm,
    /// Its behaviours.
    pub behaviours: Behaviours,
    /// The rule. For a block, the rule for its first statement and the rest.
    pub rule: Rule,
    /// Its place in the source.
    pub span: Span,
}

/// Storage of a variable, a parameter or a postfix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// The type of the value that it holds.
    pub ty: TypeId,
    /// Its address space.
    pub space: AddressSpace,
    /// Where it is declared.
    pub span: Span,
}

/// A function's body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// The block.
    pub block: StmtId,
    /// The stores of its parameters in order.
    pub parameters: Vec<StoreId>,
    /// Its expressions, as a range of [`Program::exprs`].
    pub exprs: Range<u32>,
    /// Its statements, as a range of [`Program::stmts`].
    pub stmts: Range<u32>,
    /// Its stores, as a range of [`Program::stores`].
    pub stores: Range<u32>,
}

/// A typed program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The global environment.
    pub env: Environment,
    /// The expressions.
    pub exprs: Vec<Expr>,
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// The arguments of the calls, one list after the other.
    pub arguments: Vec<ExprId>,
    /// The statements of the blocks, one list after the other.
    pub blocks: Vec<StmtId>,
    /// The stores, by store identifier.
    pub stores: Vec<Store>,
    /// The body of each function of the environment.
    pub bodies: Vec<Body>,
    /// The calls of barriers, in order. The index of a call is its barrier identifier.
    pub barriers: Vec<ExprId>,
    /// All functions, each before those that call it.
    pub order: Vec<FunctionId>,
    /// The entry points.
    pub entry_points: Vec<EntryPoint>,
}

impl Program {
    /// The expression of that number.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    /// The statement of that number.
    pub fn stmt(&self, id: StmtId) -> &Stmt {
        &self.stmts[id.0 as usize]
    }

    /// The store of that number.
    pub fn store(&self, id: StoreId) -> &Store {
        &self.stores[id.0 as usize]
    }

    /// The body of a function.
    pub fn body(&self, id: FunctionId) -> &Body {
        &self.bodies[id.0 as usize]
    }

    /// The statements of a block.
    pub fn block(&self, range: &Range<u32>) -> &[StmtId] {
        &self.blocks[range.start as usize..range.end as usize]
    }

    /// The arguments of a call.
    pub fn arguments(&self, range: &Range<u32>) -> &[ExprId] {
        &self.arguments[range.start as usize..range.end as usize]
    }

    /// The behaviours of a function's body.
    pub fn behaviours(&self, id: FunctionId) -> Behaviours {
        self.stmt(self.body(id).block).behaviours
    }

    /// The operands of an expression, in the order in which they are evaluated.
    pub fn children(&self, id: ExprId) -> smallvec::SmallVec<[ExprId; 4]> {
        match &self.expr(id).form {
            Form::Constant(_) | Form::Variable(_) => smallvec::SmallVec::new(),
            Form::Coerce(_, e)
            | Form::Parens(e)
            | Form::AddressOf(e)
            | Form::Dereference(e)
            | Form::MakeReference(e, _)
            | Form::Dot(e, ..)
            | Form::ArrayLength(e, _)
            | Form::ReferenceLength(e)
            | Form::Step(_, _, e, ..) => smallvec::smallvec![*e],
            Form::Comma(a, b)
            | Form::Or(a, b)
            | Form::And(a, b)
            | Form::Assign(a, b)
            | Form::Index(a, b, _)
            | Form::Element(a, b)
            | Form::CompoundAssign(_, a, b) => smallvec::smallvec![*a, *b],
            Form::Ternary(a, b, c) => smallvec::smallvec![*a, *b, *c],
            Form::Call(_, range) => self.arguments(range).iter().copied().collect(),
        }
    }

    /// The functions that the evaluation of an expression calls, without those of its operands. An
    /// abstract left-value calls nothing by itself. To read it is to call its getters. To assign to
    /// it is to call its setter, and the getters that the setter needs (seed 004 "Reduction to an
    /// abstract left-value", "Assignment").
    #[inline]
    pub fn callees(&self, id: ExprId) -> smallvec::SmallVec<[Callee; 4]> {
        let mut out = smallvec::SmallVec::new();
        match &self.expr(id).form {
            Form::Dot(_, _, Access::AddressTaker(c) | Access::Getter(c))
            | Form::Index(_, _, Access::AddressTaker(c) | Access::Getter(c)) => out.push(*c),
            Form::Call(c, _) => out.push(*c),
            Form::Coerce(Coercion::AbstractToRight, e) | Form::ArrayLength(e, _) => self.accessors(*e, true, false, &mut out),
            Form::Assign(e, _) => self.accessors(*e, false, true, &mut out),
            Form::Step(_, _, e, c, _) | Form::CompoundAssign(c, e, _) => {
                out.push(*c);
                self.accessors(*e, true, true, &mut out);
            }
            _ => {}
        }
        out
    }

    /// Appends the accessors that are called to read an abstract left-value (`read`) or to assign
    /// to it (`write`). To assign to a part is to read the whole and to assign to it.
    fn accessors(&self, mut at: ExprId, mut read: bool, write: bool, out: &mut smallvec::SmallVec<[Callee; 4]>) {
        loop {
            at = match &self.expr(at).form {
                Form::Parens(e) => *e,
                Form::Dot(e, _, Access::Setter(setter, getter)) | Form::Index(e, _, Access::Setter(setter, getter)) => {
                    out.extend(Some(*getter).filter(|_| read));
                    out.extend(Some(*setter).filter(|_| write));
                    read |= write;
                    *e
                }
                _ => return,
            };
        }
    }
}
