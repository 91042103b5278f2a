//! The operations, and the one function that computes them.

use super::{Lanes, Tuple};

/// An operation on floats and Booleans, as one SPIR-V instruction or GLSL.std.450 function names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// OpFNegate.
    Negate,
    /// OpFAdd.
    Add,
    /// OpFSub.
    Sub,
    /// OpFMul.
    Mul,
    /// OpFDiv.
    Div,
    /// OpFMod: x - y·floor(x/y).
    Mod,
    /// OpVectorTimesScalar.
    VectorTimesScalar,
    /// OpMatrixTimesScalar.
    MatrixTimesScalar,
    /// OpVectorTimesMatrix.
    VectorTimesMatrix,
    /// OpMatrixTimesVector.
    MatrixTimesVector,
    /// OpMatrixTimesMatrix.
    MatrixTimesMatrix,
    /// OpTranspose.
    Transpose,
    /// OpDot.
    Dot,
    /// OpFOrdLessThan.
    LessThan,
    /// OpFOrdLessThanEqual.
    LessThanEqual,
    /// OpFOrdGreaterThan.
    GreaterThan,
    /// OpFOrdGreaterThanEqual.
    GreaterThanEqual,
    /// OpFOrdEqual.
    Equal,
    /// OpFUnordNotEqual.
    NotEqual,
    /// OpLogicalEqual.
    LogicalEqual,
    /// OpLogicalNotEqual.
    LogicalNotEqual,
    /// OpLogicalAnd.
    And,
    /// OpLogicalOr.
    Or,
    /// OpLogicalNot.
    Not,
    /// OpAny.
    Any,
    /// OpAll.
    All,
    /// OpSelect.
    Select,
    /// GLSL.std.450 Round.
    Round,
    /// GLSL.std.450 RoundEven.
    RoundEven,
    /// GLSL.std.450 Trunc.
    Trunc,
    /// GLSL.std.450 FAbs.
    Abs,
    /// GLSL.std.450 FSign.
    Sign,
    /// GLSL.std.450 Floor.
    Floor,
    /// GLSL.std.450 Ceil.
    Ceil,
    /// GLSL.std.450 Fract.
    Fract,
    /// GLSL.std.450 Radians.
    Radians,
    /// GLSL.std.450 Degrees.
    Degrees,
    /// GLSL.std.450 Sin.
    Sin,
    /// GLSL.std.450 Cos.
    Cos,
    /// GLSL.std.450 Tan.
    Tan,
    /// GLSL.std.450 Asin.
    Asin,
    /// GLSL.std.450 Acos.
    Acos,
    /// GLSL.std.450 Atan.
    Atan,
    /// GLSL.std.450 Sinh.
    Sinh,
    /// GLSL.std.450 Cosh.
    Cosh,
    /// GLSL.std.450 Tanh.
    Tanh,
    /// GLSL.std.450 Asinh.
    Asinh,
    /// GLSL.std.450 Acosh.
    Acosh,
    /// GLSL.std.450 Atanh.
    Atanh,
    /// GLSL.std.450 Atan2 (y, x).
    Atan2,
    /// GLSL.std.450 Pow.
    Pow,
    /// GLSL.std.450 Exp.
    Exp,
    /// GLSL.std.450 Log.
    Log,
    /// GLSL.std.450 Exp2.
    Exp2,
    /// GLSL.std.450 Log2.
    Log2,
    /// GLSL.std.450 Sqrt.
    Sqrt,
    /// GLSL.std.450 InverseSqrt.
    InverseSqrt,
    /// GLSL.std.450 Determinant.
    Determinant,
    /// GLSL.std.450 MatrixInverse.
    MatrixInverse,
    /// GLSL.std.450 FMin.
    Min,
    /// GLSL.std.450 FMax.
    Max,
    /// GLSL.std.450 FClamp (x, min, max).
    Clamp,
    /// GLSL.std.450 FMix (x, y, a).
    Mix,
    /// GLSL.std.450 Step (edge, x).
    Step,
    /// GLSL.std.450 SmoothStep (edge0, edge1, x).
    SmoothStep,
    /// GLSL.std.450 Length.
    Length,
    /// GLSL.std.450 Distance.
    Distance,
    /// GLSL.std.450 Cross.
    Cross,
    /// GLSL.std.450 Normalize.
    Normalize,
    /// GLSL.std.450 Reflect (I, N).
    Reflect,
}

/// Computes `op` on operands of fitting shapes (the caller has checked them); componentwise operations need equally many lanes.
pub fn apply(_op: Op, _args: &[Tuple<'_>]) -> Lanes {
    Lanes::new()
}

/// The arithmetic that an engine computes with: [`apply`], and a hook that tests use to plant a wrong operation.
#[derive(Clone, Copy, Default)]
pub struct Arithmetic {
    /// Replaces the result of an operation; `None` outside tests of the oracle.
    pub planted: Option<fn(Op, &[Tuple<'_>], Lanes) -> Lanes>,
}

impl Arithmetic {
    /// [`apply`], then the planted replacement if there is one.
    pub fn apply(&self, op: Op, args: &[Tuple<'_>]) -> Lanes {
        let result = apply(op, args);
        match self.planted {
            None => result,
            Some(replace) => replace(op, args, result),
        }
    }
}

/// Placeholder until the operations land.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instruction { /// core
    Core(u16), /// glsl
    Glsl(u32) }
impl Op { 
    /// placeholder
    pub fn instruction(self) -> Instruction { Instruction::Core(0) } 
    /// placeholder
    pub fn name(self) -> &'static str { "" } }
