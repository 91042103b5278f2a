//! Expressions of the tree: typed operations on operands.

use super::{Local, Root, Step, Type};

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

/// An operation of two operands of the result's type. Lowering guards the divisor, the count and
/// the sign.
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
    /// A part of the table buffer, which has [`Module::table`](super::Module::table) as its type;
    /// an operand for each [`Step::Index`].
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
