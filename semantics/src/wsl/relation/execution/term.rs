//! Programs being executed: seed 004 "Execution of statements", "Execution of expressions".
//!
//! Terms that no program can contain have types of their own here: blocks with an environment,
//! `Cases`, `Loop`, `Call`, values and left-values. A part of the source that is not reached yet is
//! represented by its id in the typed program. The rules open it some levels at a time.

use crate::text::Symbol;
use crate::wsl::environment::access::Callee;
use crate::wsl::memory::{Address, Words};
use crate::wsl::types::TypeId;
use crate::wsl::typing::program::{Access, Coercion, ExprId, StmtId, StoreId};
use std::ops::Range;
use std::rc::Rc;

/// A value. `void` has no words.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its type.
    pub ty: TypeId,
    /// Its words, in the order of memory.
    pub words: Words,
}

/// An environment: the stores that names are bound to, the innermost binding last.
pub type Env = Rc<Vec<(Symbol, StoreId)>>;

/// An expression being executed.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The source expression that it is, or that it was made from.
    pub at: ExprId,
    /// The type of its value. For a left-value, the type of the stored value.
    pub ty: TypeId,
    /// Its form.
    pub form: Form,
}

/// The form of an expression being executed. The operands stand in the order in
/// which they are evaluated.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A source expression that is not reached yet.
    Source(ExprId),
    /// A value.
    Value(Words),
    /// A left-value.
    Left(Address),
    /// A variable.
    Variable(StoreId),
    /// The expression, used as another kind of value.
    Coerce(Coercion, Box<Expr>),
    /// `(e)`
    Parens(Box<Expr>),
    /// `e1, e2`
    Comma(Box<[Expr; 2]>),
    /// `e1 || e2`
    Or(Box<[Expr; 2]>),
    /// `e1 && e2`
    And(Box<[Expr; 2]>),
    /// `e1 ? e2 : e3`
    Ternary(Box<[Expr; 3]>),
    /// `e1 = e2`
    Assign(Box<[Expr; 2]>),
    /// `&e`
    AddressOf(Box<Expr>),
    /// `*e`
    Dereference(Box<Expr>),
    /// `@e`, with the number of elements of the reference.
    MakeReference(Box<Expr>, u32),
    /// `e.f`
    Dot(Box<Expr>, Access),
    /// `e1[e2]` by an accessor.
    Index(Box<[Expr; 2]>, Access),
    /// `e1[e2]` of an array reference.
    Element(Box<[Expr; 2]>),
    /// `e.length` of an array, with the number of its elements.
    ArrayLength(Box<Expr>, u32),
    /// `e.length` of an array reference.
    ReferenceLength(Box<Expr>),
    /// `++e` or `e++`, with its operator. Only a postfix expression has a store.
    Step(Box<Expr>, Callee, Option<StoreId>),
    /// `e1 += e2`, with its operator.
    CompoundAssign(Callee, Box<[Expr; 2]>),
    /// `f(e1, …)`
    Call(Callee, Vec<Expr>),
    /// `Call(s)`
    Construct(Box<Stmt>),
}

/// A statement being executed.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `{ … }`
    Block(Box<Block>),
    /// `T x = e;`, the first statement of its block.
    Declaration(Symbol, StoreId, Option<Expr>),
    /// `if (e) s else s'`
    If(Box<(Expr, Stmt, Stmt)>),
    /// `do s while (e);` or `for (; e; e') s`, and the number of iterations before it.
    Iterate(StmtId, u32),
    /// `switch (e) { … }`
    Switch(Expr, StmtId),
    /// `Cases(s, …)`: the first argument, the switch, and the number of the case with which the
    /// other arguments begin.
    Cases(Box<Stmt>, StmtId, u32),
    /// `Loop(s, s', s'')`, and the number of its iteration, counted from 0.
    Loop(Box<[Stmt; 3]>, u32),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `fallthrough;`
    Fallthrough,
    /// `discard;`
    Discard,
    /// `return e;`
    Return(Option<Expr>),
    /// `e;`
    Effect(Expr),
}

/// A block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Its environment, if it is annotated with one.
    pub env: Option<Env>,
    /// Its first statement, if execution has reached it.
    pub first: Option<Stmt>,
    /// The source statements after it, as indices into the blocks of the typed program.
    pub rest: Range<u32>,
    /// Statements that a rule made, in reverse order. They come before `rest`.
    pub inserted: Vec<Stmt>,
}

impl Expr {
    /// A value.
    pub fn value(at: ExprId, value: Value) -> Expr {
        Expr { at, ty: value.ty, form: Form::Value(value.words) }
    }

    /// The words, if it is a value.
    pub fn words(&self) -> Option<&Words> {
        match &self.form {
            Form::Value(words) => Some(words),
            _ => None,
        }
    }

    /// The address, if it is a left-value.
    pub fn left(&self) -> Option<Address> {
        match self.form {
            Form::Left(address) => Some(address),
            _ => None,
        }
    }

    /// Takes the expression out, to put another in its place.
    pub fn take(&mut self) -> Expr {
        let form = std::mem::replace(&mut self.form, Form::Value(Words::new()));
        Expr { form, ..*self }
    }
}

impl Form {
    /// Its description in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Form::Source(_) => "an expression of the source",
            Form::Value(_) => "a value",
            Form::Left(_) => "a left-value",
            Form::Variable(_) => "a variable",
            Form::Coerce(Coercion::LeftToRight, _) => "a load",
            Form::Coerce(..) => "what is assigned to",
            Form::Parens(_) => "parentheses",
            Form::Comma(_) => "a comma",
            Form::Or(_) => "a disjunction",
            Form::And(_) => "a conjunction",
            Form::Ternary(_) => "a conditional",
            Form::Assign(_) => "an assignment",
            Form::AddressOf(_) => "the address of something",
            Form::Dereference(_) => "a dereference",
            Form::MakeReference(..) => "an array reference to something",
            Form::Dot(..) => "a field",
            Form::Index(..) | Form::Element(_) => "an element",
            Form::ArrayLength(..) | Form::ReferenceLength(_) => "a length",
            Form::Step(..) => "an increment",
            Form::CompoundAssign(..) => "a compound assignment",
            Form::Call(..) => "a call",
            Form::Construct(_) => "the body of a call",
        }
    }
}

impl Stmt {
    /// Its description in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Stmt::Block(_) => "a block",
            Stmt::Declaration(..) => "a declaration",
            Stmt::If(_) => "a branch",
            Stmt::Iterate(..) | Stmt::Loop(..) => "a loop",
            Stmt::Switch(..) => "a switch",
            Stmt::Cases(..) => "the cases of a switch",
            Stmt::Break | Stmt::Continue | Stmt::Fallthrough | Stmt::Discard => "a terminator",
            Stmt::Return(_) => "a return",
            Stmt::Effect(_) => "a statement",
        }
    }

    /// `{}`
    pub fn empty() -> Stmt {
        Stmt::Block(Box::default())
    }

    /// Whether it is the empty block, annotated or not (ERRATA WSL-D6).
    pub fn is_empty(&self) -> bool {
        matches!(self, Stmt::Block(block) if block.first.is_none() && block.rest.is_empty() && block.inserted.is_empty())
    }

    /// Whether it is a terminator that cannot be reduced. This includes a `return` without a value
    /// or with a value (ERRATA WSL-D1), and `discard` (WSL-C5).
    pub fn is_terminator(&self) -> bool {
        match self {
            Stmt::Break | Stmt::Continue | Stmt::Fallthrough | Stmt::Discard | Stmt::Return(None) => true,
            Stmt::Return(Some(e)) => e.words().is_some(),
            _ => false,
        }
    }

    /// Takes the statement out, to put another in its place.
    pub fn take(&mut self) -> Stmt {
        std::mem::replace(self, Stmt::empty())
    }
}
