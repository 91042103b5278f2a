//! The tree of a generated module: structured statements over typed expressions. It is generated at
//! random, shrunk and lowered.
//!
//! A tree is well formed if its types fit, locals are in scope, and each exit stands inside of the
//! construct that it leaves. Every well-formed tree lowers to a module without undefined behaviour
//! and without undefined values. Lowering adds the guards of divisors, counts and indices. They are
//! no part of the tree, so no change to a tree can lose them. The only exception is
//! [`Stmt::Plant`], the defect of a twin.

mod expr;
mod types;
mod visit;

pub use expr::{Binary, Builtin, Compare, Expr, Op, Unary, Wide};
pub use types::{INT, Scalar, Step, Type, UINT};
pub use visit::each_expr_in;

use super::twin::Plant;

/// A value that is computed once (a result id). Numbers are unique in a module.
pub type Local = u32;

/// The base of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// A variable of [`Module::variables`].
    Variable(u32),
    /// A parameter of the enclosing function, by its index. The parameter is a pointer.
    Parameter(u32),
}

/// A memory location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The variable or pointer that the access chain starts from.
    pub root: Root,
    /// The steps of the access chain.
    pub path: Vec<Step>,
    /// The operands of the [`Step::Index`] steps, in order.
    pub indices: Vec<Expr>,
}

/// One branch of a selection, with the values that the phis of the merge block take from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Arm {
    /// The statements of the branch.
    pub body: Vec<Stmt>,
    /// A value for each phi, computed at the end of the body.
    pub values: Vec<Expr>,
}

/// One target of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Case {
    /// The literals that select this target, at least one.
    pub literals: Vec<u64>,
    /// The body, and the values for the phis.
    pub arm: Arm,
    /// Whether the end of the body falls through to the next case.
    pub falls: bool,
}

/// A phi of a merge block: its local and its type.
pub type Phi = (Local, Type);

/// The block in which a loop decides whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// The header.
    Header,
    /// A block after the header.
    Block,
    /// The continue target. The body runs at least once.
    Bottom,
}

/// The number of iterations of a loop, unless an exit ends it earlier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Trip {
    /// The same number in each invocation.
    Fixed(u32),
    /// The value of a 32-bit unsigned expression, after a bitwise AND with the mask.
    Masked(Expr, u32),
}

/// A value that a loop carries from one iteration to the next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoopValue {
    /// The value inside of the loop: the phi of the header.
    pub inside: Local,
    /// The value after the loop.
    pub after: Local,
    /// The value in the first iteration.
    pub first: Expr,
    /// The value for the next iteration, computed at the end of the body.
    pub next: Expr,
}

/// A counted loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loop {
    /// The block that decides whether to go on.
    pub style: Style,
    /// The number of iterations.
    pub trip: Trip,
    /// The index of the iteration, from 0: a 32-bit unsigned integer.
    pub counter: Local,
    /// The values that the loop carries.
    pub carried: Vec<LoopValue>,
    /// The statements of the body.
    pub body: Vec<Stmt>,
}

/// A jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// To the merge block of the innermost loop. It must not leave a switch inside of that loop.
    Break,
    /// To the continue target of the innermost loop.
    Continue,
    /// To the merge block of the innermost switch.
    Leave,
}

/// An atomic operation that commutes with itself: the final contents do not depend on the order.
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

/// An atomic operation on a word that belongs to one invocation. Its old value may be used.
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
    /// Computes a value and names it. Calls stand only here.
    Let(Local, Expr),
    /// Writes a memory location.
    Store(Place, Expr),
    /// OpCopyMemory to the first root from the second. Both are whole variables of one type.
    Copy(Root, Root),
    /// A selection by a Boolean. The first arm is for true.
    If(Expr, Box<[Arm; 2]>, Vec<Phi>),
    /// A selection by an integer. The arm after the cases is the default.
    Switch(Expr, Vec<Case>, Arm, Vec<Phi>),
    /// A loop.
    Loop(Box<Loop>),
    /// A jump, with a value for each local that the loop carries or each phi of the switch's
    /// merge block.
    Exit(Exit, Vec<Expr>),
    /// A return, with the result if the function has one.
    Return(Option<Expr>),
    /// Writes a word of this invocation's own part of the output buffer. Only in the entry point.
    /// The first expression is the index in that part, which lowering brings into bounds. The
    /// second is the value.
    Output(Expr, Expr),
    /// Each invocation of a workgroup writes its own element of a shared array, waits, reads the
    /// element at the index, and waits again. Only in uniform control flow of the entry point.
    Exchange {
        /// Index in [`Module::shared`].
        array: u32,
        /// The value to write. It has the array's element type.
        value: Expr,
        /// The index of the element to read.
        index: Expr,
        /// The local for the value that was read.
        result: Local,
    },
    /// An atomic operation on an element of a counter.
    Count {
        /// Index in [`Module::counters`].
        counter: u32,
        /// The index of the element. Lowering brings it into bounds.
        index: Expr,
        /// The operand, a 32-bit unsigned integer.
        value: Expr,
    },
    /// Waits, reads an element of a counter in Workgroup memory, and waits again. Only in uniform
    /// control flow of the entry point.
    ReadCounter {
        /// Index in [`Module::counters`].
        counter: u32,
        /// The index of the element. Lowering brings it into bounds.
        index: Expr,
        /// The local for the value that was read.
        result: Local,
    },
    /// An atomic operation on a word of this invocation's own part of the output buffer. Only in
    /// the entry point.
    Own {
        /// The operation.
        atomic: OwnAtomic,
        /// The index of the word. Lowering brings it into bounds.
        slot: Expr,
        /// The operand, and the comparator of a compare-exchange.
        values: [Expr; 2],
        /// The local for the old value.
        result: Local,
    },
    /// Waits for the workgroup. Only the modules of [`mod@super::barriers`] have it. There it may
    /// stand anywhere.
    Barrier,
    /// A defect: see [`mod@super::twin`].
    Plant(Box<Plant>),
}

/// The storage class of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Function, in the function of this index ([`ENTRY`] for the entry point).
    Function(u32),
    /// Private.
    Private,
}

/// The function index of the entry point.
pub const ENTRY: u32 = u32::MAX;

/// A variable with an initial value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// The type of its contents.
    pub ty: Type,
    /// The storage class.
    pub class: Class,
    /// The initial contents, scalar by scalar.
    pub first: Vec<u64>,
    /// Whether a store at the start of the function writes the initial contents, rather than the
    /// initializer of the declaration. Only for Function variables.
    pub stored: bool,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// A value, and the local that names it.
    Value(Local, Type),
    /// A pointer to a whole variable. True for Private, false for Function.
    Pointer(Type, bool),
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The statements.
    pub body: Vec<Stmt>,
    /// The value that the function returns at its end. `None` only for the entry point.
    pub result: Option<Expr>,
}

/// An array of words that many invocations change by one operation. Every element starts as the
/// neutral element of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counter {
    /// Whether it is in Workgroup memory, rather than in the counters' buffer.
    pub workgroup: bool,
    /// The only operation on its elements.
    pub atomic: Atomic,
    /// The number of elements.
    pub length: u32,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Module {
    /// The minor version of SPIR-V 1.x: 3 to 6.
    pub minor: u8,
    /// The LocalSize execution mode.
    pub local_size: [u32; 3],
    /// The number of workgroups in x, y and z.
    pub groups: [u32; 3],
    /// The functions. Each calls only functions before it.
    pub functions: Vec<Function>,
    /// The entry point.
    pub main: Function,
    /// The variables.
    pub variables: Vec<Variable>,
    /// The element types of the shared arrays. Each array has one element for each invocation of
    /// a workgroup.
    pub shared: Vec<Type>,
    /// The counters.
    pub counters: Vec<Counter>,
    /// The type of the table buffer: a structure without Booleans, all integers of 32 bits.
    pub table: Type,
    /// The contents of the table, in the order of its scalars.
    pub table_words: Vec<u32>,
    /// The contents of the input buffer, at least one word.
    pub input: Vec<u32>,
    /// The number of words that each invocation has in the output buffer, at least 1. An observed
    /// plant adds one more.
    pub output_words: u32,
    /// The type of each local, by its number.
    pub locals: Vec<Type>,
}

impl Module {
    /// The number of invocations in one workgroup.
    pub fn local_count(&self) -> u32 {
        self.local_size.iter().product()
    }

    /// The number of invocations in the dispatch.
    pub fn invocations(&self) -> u32 {
        self.local_count() * self.groups.iter().product::<u32>()
    }

    /// The function with this index.
    pub fn function(&self, index: u32) -> Option<&Function> {
        if index == ENTRY { Some(&self.main) } else { self.functions.get(index as usize) }
    }

    /// The pointee type of a root, in the function with this index.
    pub fn root_type(&self, function: u32, root: Root) -> Option<&Type> {
        match root {
            Root::Variable(i) => self.variables.get(i as usize).map(|v| &v.ty),
            Root::Parameter(i) => match self.function(function)?.parameters.get(i as usize)? {
                Parameter::Pointer(ty, _) => Some(ty),
                Parameter::Value(..) => None,
            },
        }
    }

    /// Whether a root points to Private memory rather than Function memory, in the function with
    /// this index.
    pub fn root_private(&self, function: u32, root: Root) -> Option<bool> {
        match root {
            Root::Variable(i) => self.variables.get(i as usize).map(|v| v.class == Class::Private),
            Root::Parameter(i) => match self.function(function)?.parameters.get(i as usize)? {
                Parameter::Pointer(_, private) => Some(*private),
                Parameter::Value(..) => None,
            },
        }
    }

    /// Adds a local of this type.
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
