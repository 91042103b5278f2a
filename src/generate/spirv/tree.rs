//! The program that is drawn, shrunk and lowered: structured statements over typed expressions.
//!
//! Every tree that is well formed (types fit, locals are in scope, exits are in what they leave) means a module without undefined behaviour
//! and without undefined values: the guards of divisors, counts and indices are no part of the tree but of its lowering, so no change
//! to a tree can lose them. The only exception is [`Stmt::Plant`], which is what twins are made of.

use super::twin::Plant;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// OpTypeBool.
    Bool,
    /// OpTypeInt.
    Int {
        /// Bits: 8, 16, 32 or 64.
        width: u8,
        /// Its signedness.
        signed: bool,
    },
}

/// The 32-bit unsigned integer.
pub const UINT: Scalar = Scalar::Int { width: 32, signed: false };
/// The 32-bit signed integer.
pub const INT: Scalar = Scalar::Int { width: 32, signed: true };

impl Scalar {
    /// Bits of an integer; 1 for a Boolean.
    pub fn width(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::Int { width, .. } => u32::from(width),
        }
    }

    /// Whether it is a signed integer.
    pub fn signed(self) -> bool {
        matches!(self, Scalar::Int { signed: true, .. })
    }

    /// All bits of the type set.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width())
    }
}

/// A type of values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// 2 to 4 scalars.
    Vector(Scalar, u8),
    /// So many of one type.
    Array(Box<Type>, u32),
    /// Members in order.
    Struct(Vec<Type>),
}

impl Type {
    /// The 32-bit unsigned integer.
    pub const UINT: Type = Type::Scalar(UINT);
    /// The Boolean.
    pub const BOOL: Type = Type::Scalar(Scalar::Bool);

    /// A vector of `n` scalars, or the scalar itself if `n` is 1.
    pub fn lanes(scalar: Scalar, n: u8) -> Type {
        if n == 1 { Type::Scalar(scalar) } else { Type::Vector(scalar, n) }
    }

    /// The scalar that a scalar or vector is of, and how many.
    pub fn scalar(&self) -> Option<(Scalar, u8)> {
        match *self {
            Type::Scalar(scalar) => Some((scalar, 1)),
            Type::Vector(scalar, n) => Some((scalar, n)),
            _ => None,
        }
    }

    /// How many scalars a value holds.
    pub fn scalars(&self) -> usize {
        match self {
            Type::Scalar(_) => 1,
            Type::Vector(_, n) => usize::from(*n),
            Type::Array(element, n) => element.scalars() * *n as usize,
            Type::Struct(members) => members.iter().map(Type::scalars).sum(),
        }
    }

    /// The type of a part, if there is one. The index of an array's or vector's element does not matter.
    pub fn part(&self, index: u32) -> Option<Type> {
        match self {
            Type::Scalar(_) => None,
            Type::Vector(scalar, _) => Some(Type::Scalar(*scalar)),
            Type::Array(element, _) => Some((**element).clone()),
            Type::Struct(members) => members.get(index as usize).cloned(),
        }
    }

    /// How many parts a composite has; 0 for a scalar.
    pub fn parts(&self) -> u32 {
        match self {
            Type::Scalar(_) => 0,
            Type::Vector(_, n) => u32::from(*n),
            Type::Array(_, n) => *n,
            Type::Struct(members) => members.len() as u32,
        }
    }

    /// The type at the end of a path, if it leads somewhere.
    pub fn at(&self, path: &[Step]) -> Option<Type> {
        path.iter().try_fold(self.clone(), |ty, step| match step {
            Step::Member(i) => ty.part(*i),
            Step::Index => (!matches!(ty, Type::Struct(_))).then(|| ty.part(0)).flatten(),
        })
    }
}

/// One step of an access chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A constant index, in bounds.
    Member(u32),
    /// An index computed at run time, a 32-bit unsigned integer that lowering brings into bounds.
    Index,
}

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

/// A built-in input that is a 32-bit unsigned integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// LocalInvocationIndex.
    LocalIndex,
    /// A component of GlobalInvocationId.
    Global(u8),
    /// A component of LocalInvocationId.
    Local(u8),
    /// A component of WorkgroupId.
    Group(u8),
    /// A component of NumWorkgroups.
    Groups(u8),
}

/// An operation of two operands of the result's type. Lowering guards the divisor, the count and the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is named as its instruction")]
pub enum Binary {
    IAdd,
    ISub,
    IMul,
    UDiv,
    SDiv,
    UMod,
    SRem,
    SMod,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    ShiftLeftLogical,
    ShiftRightLogical,
    ShiftRightArithmetic,
    LogicalAnd,
    LogicalOr,
    LogicalEqual,
    LogicalNotEqual,
    SMin,
    UMin,
    SMax,
    UMax,
}

/// An operation of one operand of the result's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is named as its instruction")]
pub enum Unary {
    Not,
    SNegate,
    BitReverse,
    BitCount,
    LogicalNot,
    CopyObject,
    SAbs,
    SSign,
    FindILsb,
    FindUMsb,
    FindSMsb,
}

/// A comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is named as its instruction")]
pub enum Compare {
    IEqual,
    INotEqual,
    UGreaterThan,
    SGreaterThan,
    UGreaterThanEqual,
    SGreaterThanEqual,
    ULessThan,
    SLessThan,
    ULessThanEqual,
    SLessThanEqual,
}

/// An operation on 32-bit integers with a result of two members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is named as its instruction")]
pub enum Wide {
    IAddCarry,
    ISubBorrow,
    UMulExtended,
    SMulExtended,
}

/// What an expression does with its operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant, by its scalars in order.
    Const(Vec<u64>),
    /// A value in scope.
    Local(Local),
    /// The contents of a variable; an operand for each [`Step::Index`].
    Load(Root, Vec<Step>),
    /// A word of the input buffer; the operand is its index.
    Input,
    /// A part of the table buffer, which has [`Module::table`] as its type; an operand for each [`Step::Index`].
    Table(Vec<Step>),
    /// A built-in input.
    Builtin(Builtin),
    /// Of one operand.
    Unary(Unary),
    /// Of two.
    Binary(Binary),
    /// A comparison.
    Compare(Compare),
    /// One member of a result of two.
    Wide(Wide, u32),
    /// SClamp or UClamp, by the type's signedness, with the smaller limit first.
    Clamp,
    /// OpBitFieldInsert: base, insert, offset, count.
    BitFieldInsert,
    /// OpBitFieldSExtract or OpBitFieldUExtract, by the type's signedness: base, offset, count.
    BitFieldExtract,
    /// OpAny.
    Any,
    /// OpAll.
    All,
    /// Condition, if true, if false.
    Select,
    /// To the result's scalar type from another, lane by lane.
    Convert,
    /// OpCompositeConstruct of all parts.
    Construct,
    /// The same, by insertions into an OpUndef, all of whose parts are replaced.
    ConstructByInsertion,
    /// OpCompositeExtract.
    Extract(Vec<u32>),
    /// OpCompositeInsert: object, composite.
    Insert(Vec<u32>),
    /// OpVectorShuffle of two vectors.
    Shuffle(Vec<u32>),
    /// OpVectorExtractDynamic: vector, index.
    DynamicExtract,
    /// OpVectorInsertDynamic: vector, component, index.
    DynamicInsert,
    /// OpFunctionCall: operands for value parameters, in order; the variables for pointers.
    Call(u32, Vec<Root>),
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expr {
    /// The type of its value.
    pub ty: Type,
    /// What it does.
    pub op: Op,
    /// Its operands.
    pub args: Vec<Expr>,
    /// Which of two guards lowering uses, where it has two.
    pub guard: bool,
}

impl Expr {
    /// An expression with the first guard.
    pub fn new(ty: Type, op: Op, args: Vec<Expr>) -> Expr {
        Expr { ty, op, args, guard: false }
    }

    /// The constant of the type that is zero in all scalars.
    pub fn zero(ty: Type) -> Expr {
        let scalars = ty.scalars();
        Expr::new(ty, Op::Const(vec![0; scalars]), Vec::new())
    }

    /// A 32-bit unsigned constant.
    pub fn uint(value: u32) -> Expr {
        Expr::new(Type::UINT, Op::Const(vec![u64::from(value)]), Vec::new())
    }

    /// A value in scope.
    pub fn local(local: Local, ty: Type) -> Expr {
        Expr::new(ty, Op::Local(local), Vec::new())
    }

    /// How many expressions it consists of.
    pub fn size(&self) -> u32 {
        1 + self.args.iter().map(Expr::size).sum::<u32>()
    }
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
    /// Writes a word of this invocation's own part of the output buffer; in the entry point only. The first is brought into bounds.
    Output(Expr, Expr),
    /// Each invocation of a workgroup writes its own element of the shared array, waits, reads the element at the index, waits. In uniform control
    /// flow of the entry point only.
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
    /// Waits, reads an element of a counter in Workgroup memory, waits. In uniform control flow of the entry point only.
    ReadCounter {
        /// Index in [`Module::counters`].
        counter: u32,
        /// Which element; brought into bounds.
        index: Expr,
        /// The name of what was read.
        result: Local,
    },
    /// An atomic operation on a word of this invocation's own part of the output buffer; in the entry point only.
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

/// Words that invocations count in together. Every element starts as the neutral element of the operation.
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
    /// The words of each invocation in the output buffer, at least 1. A plant that is observed has one more.
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

    /// Every list of statements, outer before inner, functions before the entry point.
    pub fn each_block(&mut self, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
        for function in self.functions.iter_mut().chain([&mut self.main]) {
            visit_block(&mut function.body, f);
        }
    }

    /// Every expression, operands after what they are operands of.
    pub fn each_expr(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        for function in self.functions.iter_mut().chain([&mut self.main]) {
            each_expr_in(&mut function.body, f);
            function.result.iter_mut().for_each(|e| visit_expr(e, f));
        }
    }
}

fn visit_block(block: &mut Vec<Stmt>, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
    f(block);
    for stmt in block {
        stmt.each_block(&mut |inner| visit_block(inner, f));
    }
}

fn visit_expr(expr: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    f(expr);
    for arg in &mut expr.args {
        visit_expr(arg, f);
    }
}

/// Every expression in the statements, operands after what they are operands of.
pub fn each_expr_in(block: &mut [Stmt], f: &mut dyn FnMut(&mut Expr)) {
    for stmt in block {
        stmt.each_expr(&mut |e| visit_expr(e, f));
        stmt.each_block(&mut |inner| each_expr_in(inner, f));
    }
}

impl Stmt {
    /// The statement's own lists of statements.
    pub fn each_block(&mut self, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
        match self {
            Stmt::If(_, arms, _) => arms.iter_mut().for_each(|arm| f(&mut arm.body)),
            Stmt::Switch(_, cases, default, _) => {
                cases.iter_mut().for_each(|case| f(&mut case.arm.body));
                f(&mut default.body);
            }
            Stmt::Loop(l) => f(&mut l.body),
            _ => {}
        }
    }

    /// The statement's own expressions, not those in its lists of statements.
    pub fn each_expr(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Stmt::Let(_, e) => f(e),
            Stmt::Store(place, e) => {
                place.indices.iter_mut().for_each(&mut *f);
                f(e);
            }
            Stmt::Copy(..) => {}
            Stmt::If(condition, arms, _) => {
                f(condition);
                arms.iter_mut().flat_map(|arm| &mut arm.values).for_each(f);
            }
            Stmt::Switch(selector, cases, default, _) => {
                f(selector);
                cases.iter_mut().flat_map(|case| &mut case.arm.values).chain(&mut default.values).for_each(f);
            }
            Stmt::Loop(l) => {
                if let Trip::Masked(e, _) = &mut l.trip {
                    f(e);
                }
                for carried in &mut l.carried {
                    f(&mut carried.first);
                    f(&mut carried.next);
                }
            }
            Stmt::Exit(_, values) => values.iter_mut().for_each(f),
            Stmt::Return(value) => value.iter_mut().for_each(f),
            Stmt::Output(slot, e) => {
                f(slot);
                f(e);
            }
            Stmt::Exchange { value, index, .. } | Stmt::Count { value, index, .. } => {
                f(value);
                f(index);
            }
            Stmt::ReadCounter { index, .. } => f(index),
            Stmt::Own { slot, values, .. } => {
                f(slot);
                values.iter_mut().for_each(f);
            }
            Stmt::Plant(plant) => f(&mut plant.value),
        }
    }
}
