//! The typed program: every function with its derivation and with what execution needs (seed 004
//! "Typing of functions", "Annotations for execution").
//!
//! A node *is* the conclusion of a rule: its form names the rule's subject, `rule` the rule, its
//! children the premises. Where a value is used as another kind of value, a [`Form::Coerce`] stands
//! between, so that a load (an lvalue reduced to what it holds) has a place of its own. Nodes of a
//! function stand together, children before parents. `recheck` checks a program node by node
//! without the code that made it.

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

/// A literal's value, of its type.
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
    /// An element of an enum, by its place.
    Element(u32),
}

/// How a value is used as another kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coercion {
    /// A left-value as what it holds: a load.
    LeftToRight,
    /// A left-value as something to assign to.
    LeftToAbstract,
    /// Something to assign to as what a getter gives.
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
    /// `@e`, of an array of so many elements if that is known, of one element otherwise.
    MakeReference(ExprId, Option<u32>),
    /// `e.f` by a getter, a setter (and the getter, if its value is used) or an address-taker.
    Dot(ExprId, Symbol, Access),
    /// `e1[e2]` by one of these.
    Index(ExprId, ExprId, Access),
    /// `e1[e2]` of an array reference.
    Element(ExprId, ExprId),
    /// `e.length` of an array of so many elements; a left-value is not loaded for it.
    ArrayLength(ExprId, u32),
    /// `e.length` of an array reference.
    ReferenceLength(ExprId),
    /// `++e`, `e--`, by that operator; a postfix one keeps the old value in the store.
    Step(Step, Fix, ExprId, Callee, Option<StoreId>),
    /// `e1 += e2`, by that operator. What the operator is given are `e1` used as a right-value and
    /// the third expression.
    CompoundAssign(Callee, ExprId, ExprId),
    /// `f(e1, …)`
    Call(Callee, Range<u32>),
}

/// The accessors that a `.f` or `[e]` may use at runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// An address-taker: the whole is a left-value.
    AddressTaker(Callee),
    /// A setter: the whole can be assigned to; and the getter that gives its value.
    Setter(Callee, Callee),
    /// A getter.
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
    /// Whether it may discard.
    pub discards: bool,
    /// Where it stands.
    pub span: Span,
}

/// The form of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtForm {
    /// `{ … }`: the statements, in [`Program::bodies`].
    Block(Range<u32>),
    /// `T x = e;` The type and address space are the store's; without an initialising expression
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
    /// Its value; `default` has none.
    pub value: Option<Constant>,
    /// Its body, a block.
    pub body: StmtId,
    /// Where it stands.
    pub span: Span,
}

/// A statement: the conclusion of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Its form.
    pub form: StmtForm,
    /// Its behaviours.
    pub behaviours: Behaviours,
    /// The rule; of a block, the one of its first statement and rest.
    pub rule: Rule,
    /// Where it stands.
    pub span: Span,
}

/// Storage of a variable, a parameter or a postfix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// The type of what it holds.
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
    /// Its expressions.
    pub exprs: Range<u32>,
    /// Its statements.
    pub stmts: Range<u32>,
    /// Its stores.
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
    /// Lists of arguments.
    pub arguments: Vec<ExprId>,
    /// Lists of statements.
    pub blocks: Vec<StmtId>,
    /// The store identifiers.
    pub stores: Vec<Store>,
    /// The body of each function of the environment.
    pub bodies: Vec<Body>,
    /// The calls of barriers, in order: each one's place here is its barrier identifier.
    pub barriers: Vec<ExprId>,
    /// Each function before those that call it.
    pub order: Vec<FunctionId>,
    /// The entry points.
    pub entry_points: Vec<EntryPoint>,
}

impl Program {
    /// The expression.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    /// The statement.
    pub fn stmt(&self, id: StmtId) -> &Stmt {
        &self.stmts[id.0 as usize]
    }

    /// The store.
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

    /// The expressions and operands that an expression is made of, in the order in
    /// which they are evaluated.
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

    /// The functions that evaluating an expression calls, its operands apart. What can only be
    /// assigned to calls nothing by itself: reading it calls its getters, assigning to it its
    /// setter and what that reads (seed 004 "Reduction to an abstract left-value", "Assignment").
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

    /// The accessors that are called to read or to assign to an abstract left-value; assigning to a
    /// part of one reads and assigns to the whole.
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
