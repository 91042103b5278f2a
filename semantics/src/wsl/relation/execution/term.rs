//! Programs being executed: seed 004 "Execution of statements", "Execution of expressions".
//!
//! What no program can write has types of its own here: blocks that know their environment,
//! `Cases`, `Loop`, `Call`, values and left-values. A part of the source that was not reached yet
//! is its number in the typed program; the rules open it some levels at a time.

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

/// What names are bound to: the innermost binding last.
pub type Env = Rc<Vec<(Symbol, StoreId)>>;

/// An expression being executed.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The expression of the source that it is, or that made it.
    pub at: ExprId,
    /// The type of its value; of a left-value, of what it holds.
    pub ty: TypeId,
    /// Its form.
    pub form: Form,
}

/// The form of an expression being executed. The operands stand in the order in
/// which they are evaluated.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// The source's, not reached yet.
    Source(ExprId),
    /// A value.
    Value(Words),
    /// A left-value.
    Left(Address),
    /// A name.
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
    /// `@e`, with that many elements.
    MakeReference(Box<Expr>, u32),
    /// `e.f`
    Dot(Box<Expr>, Access),
    /// `e1[e2]` by an accessor.
    Index(Box<[Expr; 2]>, Access),
    /// `e1[e2]` of an array reference.
    Element(Box<[Expr; 2]>),
    /// `e.length` of an array of so many elements.
    ArrayLength(Box<Expr>, u32),
    /// `e.length` of an array reference.
    ReferenceLength(Box<Expr>),
    /// `++e` or `e++`, by that operator; a postfix one has a store.
    Step(Box<Expr>, Callee, Option<StoreId>),
    /// `e1 += e2`, by that operator.
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
    /// `do s while (e);` or `for (; e; e') s`, entered so many times before by its own iterations.
    Iterate(StmtId, u32),
    /// `switch (e) { … }`
    Switch(Expr, StmtId),
    /// `Cases(s, …)`: the first argument, and from which case of the switch the others are.
    Cases(Box<Stmt>, StmtId, u32),
    /// `Loop(s, s', s'')`, and its iteration, counted from 0.
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
    /// The environment that annotates it, if any.
    pub env: Option<Env>,
    /// Its first statement, if that is reached.
    pub first: Option<Stmt>,
    /// The statements after it, in the typed program's blocks.
    pub rest: Range<u32>,
    /// Statements that a rule made, before those; the last comes first.
    pub made: Vec<Stmt>,
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
    /// What it is, for people.
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
    /// What it is, for people.
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
        matches!(self, Stmt::Block(block) if block.first.is_none() && block.rest.is_empty() && block.made.is_empty())
    }

    /// Whether it is a terminator that cannot be reduced: a `return` of nothing or of a value
    /// (ERRATA WSL-D1), `discard` too (WSL-C5).
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
