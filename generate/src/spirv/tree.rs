//! The program that is drawn, shrunk and lowered: structured statements over typed expressions.
//!
//! Every tree that is well formed (types fit, locals are in scope, exits are in what they leave)
//! means a module without undefined behaviour and without undefined values: the guards of divisors,
//! counts and indices are no part of the tree but of its lowering, so no change to a tree can lose
//! them. The only exception is [`Stmt::Plant`], which is what twins are made of.

mod expr;
mod types;
mod visit;

pub use expr::{Binary, Builtin, Compare, Expr, Op, Unary, Wide};
pub use types::{INT, Scalar, Step, Type, UINT};
pub use visit::each_expr_in;

use super::twin::Plant;

/// A value computed once (a result id), numbered through the whole module.
pub type Local = u32;

/// What a pointer starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// A variable of [`Module::variables`].
    Variable(u32),
    /// A parameter of the function that this stands in, which is a pointer.
    Parameter(u32),
}

/// Where something is stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The variable.
    pub root: Root,
    /// The chain.
    pub path: Vec<Step>,
    /// The index of each [`Step::Index`].
    pub indices: Vec<Expr>,
}

/// One way through a selection: what is done, and the values that the merge's phis take from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Arm {
    /// What is done.
    pub body: Vec<Stmt>,
    /// A value for each phi, computed at the end of the body.
    pub values: Vec<Expr>,
}

/// One target of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Case {
    /// The literals that lead here, at least one.
    pub literals: Vec<u64>,
    /// What is done.
    pub arm: Arm,
    /// Whether the end of the body goes on with the next case.
    pub falls: bool,
}

/// A value at the merge of a selection: its number and type.
pub type Phi = (Local, Type);

/// Where a loop decides to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// In its header.
    Header,
    /// In a block after the header.
    Block,
    /// In its continue target, so that the body is run at least once.
    Bottom,
}

/// How often a loop's body is run, if nothing breaks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Trip {
    /// So often in each invocation.
    Fixed(u32),
    /// So often as the 32-bit unsigned value, of which only the bits of the mask count.
    Masked(Expr, u32),
}

/// A value that a loop carries from turn to turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Carried {
    /// The value in the loop: the phi of the header.
    pub inside: Local,
    /// The value after it.
    pub after: Local,
    /// The first value.
    pub first: Expr,
    /// The next, computed at the end of the body.
    pub next: Expr,
}

/// A counted loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loop {
    /// Where it decides to go on.
    pub style: Style,
    /// How often.
    pub trip: Trip,
    /// The number of the turn, from 0, a 32-bit unsigned integer.
    pub counter: Local,
    /// What it carries.
    pub carried: Vec<Carried>,
    /// What it does.
    pub body: Vec<Stmt>,
}

/// A jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// To the merge block of the innermost loop; not out of a switch in it.
    Break,
    /// To the continue target of the innermost loop.
    Continue,
    /// To the merge block of the innermost switch.
    Leave,
}

/// An atomic operation whose effect does not depend on the order of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is named as its instruction")]
pub enum Atomic {
    IAdd,
    And,
    Or,
    Xor,
    SMin,
    SMax,
    UMin,
    UMax,
}

/// An atomic operation on a word that belongs to one invocation: its old value may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is named as its instruction")]
pub enum OwnAtomic {
    Rmw(Atomic),
    Exchange,
    CompareExchange,
    Increment,
    Decrement,
    ISub,
    Load,
    Store,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stmt {
    /// Gives a value a name; calls stand here.
    Let(Local, Expr),
    /// Writes a variable.
    Store(Place, Expr),
    /// OpCopyMemory from the second to the first, whole variables of one type.
    Copy(Root, Root),
    /// A selection by a Boolean; the first arm is for true.
    If(Expr, Box<[Arm; 2]>, Vec<Phi>),
    /// A selection by an integer; the arm is the default.
    Switch(Expr, Vec<Case>, Arm, Vec<Phi>),
    /// A loop.
    Loop(Box<Loop>),
    /// A jump, with a value for each that the loop carries or that the switch merges.
    Exit(Exit, Vec<Expr>),
    /// A return, with the result if the function has one.
    Return(Option<Expr>),
    /// Writes a word of this invocation's own part of the output buffer; in the entry point only.
    /// The first is brought into bounds.
    Output(Expr, Expr),
    /// Each invocation of a workgroup writes its own element of the shared array, waits, reads the
    /// element at the index, waits. In uniform control flow of the entry point only.
    Exchange {
        /// Index in [`Module::shared`].
        array: u32,
        /// What is written, of the array's type of elements.
        value: Expr,
        /// What is read.
        index: Expr,
        /// The name of what was read.
        result: Local,
    },
    /// An atomic operation on an element of a counter.
    Count {
        /// Index in [`Module::counters`].
        counter: u32,
        /// Which element; brought into bounds.
        index: Expr,
        /// The operand, a 32-bit unsigned integer.
        value: Expr,
    },
    /// Waits, reads an element of a counter in Workgroup memory, waits. In uniform control flow of
    /// the entry point only.
    ReadCounter {
        /// Index in [`Module::counters`].
        counter: u32,
        /// Which element; brought into bounds.
        index: Expr,
        /// The name of what was read.
        result: Local,
    },
    /// An atomic operation on a word of this invocation's own part of the output buffer; in the
    /// entry point only.
    Own {
        /// Which.
        atomic: OwnAtomic,
        /// The word; brought into bounds.
        slot: Expr,
        /// The operand, and the comparator of a compare-exchange.
        values: [Expr; 2],
        /// The name of the old value.
        result: Local,
    },
    /// Waits for the workgroup. Only the modules of [`mod@super::barriers`] have it, and there it
    /// stands anywhere.
    Barrier,
    /// One defect: see [`mod@super::twin`].
    Plant(Box<Plant>),
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Storage class Function, in the function of this index ([`ENTRY`]: the entry point).
    Function(u32),
    /// Storage class Private.
    Private,
}

/// The index that stands for the entry point where functions are numbered.
pub const ENTRY: u32 = u32::MAX;

/// A variable, initialized.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// What it holds.
    pub ty: Type,
    /// Where it lives.
    pub class: Class,
    /// What it holds at first.
    pub first: Vec<u64>,
    /// Whether a store at the start of the function sets it, not the declaration (Function only).
    pub stored: bool,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// A value, under this name.
    Value(Local, Type),
    /// A pointer to a whole variable; true for Private, false for Function.
    Pointer(Type, bool),
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub body: Vec<Stmt>,
    /// What it returns at the end; none for the entry point only.
    pub result: Option<Expr>,
}

/// Words that invocations count in together. Every element starts as the neutral
/// element of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counter {
    /// In Workgroup memory, or else in the counters' buffer.
    pub workgroup: bool,
    /// The one operation.
    pub atomic: Atomic,
    /// How many elements.
    pub length: u32,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Module {
    /// The minor version of SPIR-V: 3 to 6.
    pub minor: u8,
    /// LocalSize.
    pub local_size: [u32; 3],
    /// Workgroups.
    pub groups: [u32; 3],
    /// The functions; each calls only those before it.
    pub functions: Vec<Function>,
    /// The entry point.
    pub main: Function,
    /// The variables.
    pub variables: Vec<Variable>,
    /// The types of the elements of shared arrays, one element for each invocation of a workgroup.
    pub shared: Vec<Type>,
    /// The counters.
    pub counters: Vec<Counter>,
    /// The type of the table buffer: a structure without Booleans, all integers of 32 bits.
    pub table: Type,
    /// The contents of the table, scalar after scalar.
    pub table_words: Vec<u32>,
    /// The contents of the input buffer, at least one word.
    pub input: Vec<u32>,
    /// The words of each invocation in the output buffer, at least 1. A plant that is observed has
    /// one more.
    pub output_words: u32,
    /// The type of each local.
    pub locals: Vec<Type>,
}

impl Module {
    /// The invocations of one workgroup.
    pub fn local_count(&self) -> u32 {
        self.local_size.iter().product()
    }

    /// The invocations of the dispatch.
    pub fn invocations(&self) -> u32 {
        self.local_count() * self.groups.iter().product::<u32>()
    }

    /// The function of an index.
    pub fn function(&self, index: u32) -> Option<&Function> {
        if index == ENTRY { Some(&self.main) } else { self.functions.get(index as usize) }
    }

    /// The type of what a root points to, in the function of an index.
    pub fn root_type(&self, function: u32, root: Root) -> Option<&Type> {
        match root {
            Root::Variable(i) => self.variables.get(i as usize).map(|v| &v.ty),
            Root::Parameter(i) => match self.function(function)?.parameters.get(i as usize)? {
                Parameter::Pointer(ty, _) => Some(ty),
                Parameter::Value(..) => None,
            },
        }
    }

    /// Whether a root points to Private memory, not Function memory, in the function of an index.
    pub fn root_private(&self, function: u32, root: Root) -> Option<bool> {
        match root {
            Root::Variable(i) => self.variables.get(i as usize).map(|v| v.class == Class::Private),
            Root::Parameter(i) => match self.function(function)?.parameters.get(i as usize)? {
                Parameter::Pointer(_, private) => Some(*private),
                Parameter::Value(..) => None,
            },
        }
    }

    /// A new local.
    pub fn local(&mut self, ty: Type) -> Local {
        self.locals.push(ty);
        self.locals.len() as Local - 1
    }

    /// The planted defect, if this is a twin.
    pub fn plant(&self) -> Option<Plant> {
        let mut found = None;
        let mut module = self.clone();
        module.each_block(&mut |block| {
            for stmt in block {
                if let Stmt::Plant(plant) = stmt {
                    found = Some((**plant).clone());
                }
            }
        });
        found
    }
}
