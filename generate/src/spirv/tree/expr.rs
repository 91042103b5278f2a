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

/// An operation on two operands of the result's type. Lowering guards divisors, shift counts
/// and signs.
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

/// An operation on one operand of the result's type.
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

/// An operation on 32-bit integers whose result is a structure of two members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is named as its instruction")]
pub enum Wide {
    IAddCarry,
    ISubBorrow,
    UMulExtended,
    SMulExtended,
}

/// The operation of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant, given by its scalars in order.
    Const(Vec<u64>),
    /// A local in scope.
    Local(Local),
    /// A load through an access chain. It has an operand for each [`Step::Index`].
    Load(Root, Vec<Step>),
    /// A word of the input buffer. The operand is its index.
    Input,
    /// A load of a part of the table buffer, whose type is [`Module::table`](super::Module::table).
    /// It has an operand for each [`Step::Index`].
    Table(Vec<Step>),
    /// A built-in input.
    Builtin(Builtin),
    /// An operation on one operand.
    Unary(Unary),
    /// An operation on two operands.
    Binary(Binary),
    /// A comparison.
    Compare(Compare),
    /// One member, 0 or 1, of a result with two members.
    Wide(Wide, u32),
    /// SClamp or UClamp, by the type's signedness. Lowering puts the smaller limit first.
    Clamp,
    /// OpBitFieldInsert: base, insert, offset, count.
    BitFieldInsert,
    /// OpBitFieldSExtract or OpBitFieldUExtract, by the type's signedness: base, offset, count.
    BitFieldExtract,
    /// OpAny.
    Any,
    /// OpAll.
    All,
    /// OpSelect: condition, value if true, value if false.
    Select,
    /// A conversion to the result's scalar type, component by component.
    Convert,
    /// OpCompositeConstruct of all parts.
    Construct,
    /// The same composite, made by OpCompositeInsert into an OpUndef. All parts are replaced.
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
    /// OpFunctionCall. The operands are for the value parameters, in order. The roots are for the
    /// pointer parameters.
    Call(u32, Vec<Root>),
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expr {
    /// The type of its value.
    pub ty: Type,
    /// Its operation.
    pub op: Op,
    /// Its operands.
    pub args: Vec<Expr>,
    /// Which of two guards lowering uses, for operations that have two.
    pub guard: bool,
}

impl Expr {
    /// An expression with the first of the guards.
    pub fn new(ty: Type, op: Op, args: Vec<Expr>) -> Expr {
        Expr { ty, op, args, guard: false }
    }

    /// The constant of this type whose scalars are all zero.
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

    /// The number of expressions in it, itself included.
    pub fn size(&self) -> u32 {
        1 + self.args.iter().map(Expr::size).sum::<u32>()
    }
}
