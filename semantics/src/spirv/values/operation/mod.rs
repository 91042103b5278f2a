//! The operations on numbers, by instruction, and the shapes that they require.
//!
//! The checks at load, the reference engine and the machines share one table. Each row is tested
//! against values computed by hand.

mod compute;
mod group;
mod pure;
mod signature;
mod trust;

use std::sync::LazyLock;

use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};

pub use compute::{Calculator, Occurrence, Operand};
pub use group::combination;
pub use pure::{Bits, Components, component, pair, pure};
pub use signature::{Class, Scalar, Shape, Signature, Signs};

use crate::number::{Instruction, Op};

/// An operation and its signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The instruction.
    pub instruction: Instruction,
    /// The operation on 32-bit floats and Booleans with trust. `None` if the instruction has
    /// no such form.
    pub op: Option<Op>,
    /// The shapes of its operands and its result.
    pub signature: Signature,
    /// The instruction as an enum value, so that computing needs no lookup.
    opcode: Opcode,
}

/// An instruction as an enum value of its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opcode {
    Core(Core),
    Glsl(Glsl),
}

/// The operations by opcode, and by number within GLSL.std.450.
struct Operations {
    core: Vec<Option<Operation>>,
    glsl: Vec<Option<Operation>>,
}

static OPERATIONS: LazyLock<Operations> = LazyLock::new(|| {
    let mut tables = Operations { core: Vec::new(), glsl: Vec::new() };
    let core = CORE.iter().map(|&(op, signature)| (Opcode::Core(op), signature));
    let glsl = GLSL.iter().map(|&(op, signature)| (Opcode::Glsl(op), signature));
    for (opcode, signature) in core.chain(glsl) {
        let (table, instruction, number) = match opcode {
            Opcode::Core(op) => (&mut tables.core, Instruction::Core(op as u16), op as usize),
            Opcode::Glsl(op) => (&mut tables.glsl, Instruction::Glsl(op as u32), op as usize),
        };
        if table.len() <= number {
            table.resize(number + 1, None);
        }
        table[number] = Some(Operation { instruction, op: Op::of(instruction), signature, opcode });
    }
    tables
});

/// The operation of a core instruction.
#[inline]
pub fn core(op: Core) -> Option<Operation> {
    OPERATIONS.core.get(op as usize).copied().flatten()
}

/// The operation of an instruction of GLSL.std.450.
#[inline]
pub fn glsl(number: u32) -> Option<Operation> {
    OPERATIONS.glsl.get(number as usize).copied().flatten()
}

/// All operations, core instructions first.
pub fn all() -> impl Iterator<Item = Operation> {
    OPERATIONS.core.iter().chain(&OPERATIONS.glsl).copied().flatten()
}

impl Operation {
    /// The operands of an instruction that are ids: all except the format of packed vectors.
    pub fn ids(self, operands: &[u32]) -> &[u32] {
        match self.signature {
            Signature::IntegerDot(..) => &operands[..operands.len().min(self.signature.arity())],
            _ => operands,
        }
    }

    /// Whether each component of the result depends on one component of each operand. Then
    /// [`component`] computes it.
    pub fn is_componentwise(self) -> bool {
        let depends_on_all = [Glsl::Normalize, Glsl::FaceForward, Glsl::Reflect].map(|op| Instruction::Glsl(op as u32));
        match self.signature {
            Signature::Componentwise(..) => !depends_on_all.contains(&self.instruction),
            Signature::SameWidth(..)
            | Signature::Comparison(_)
            | Signature::FloatTest
            | Signature::Convert(..)
            | Signature::ConvertWidth(..)
            | Signature::Shift
            | Signature::BitFieldInsert
            | Signature::BitFieldExtract
            | Signature::BitCount
            | Signature::Ldexp => true,
            _ => false,
        }
    }

    /// The instruction's name in SPIR-V text, such as `OpIAdd` or `SMin`.
    pub fn name(self) -> String {
        match self.opcode {
            Opcode::Core(op) => format!("Op{op:?}"),
            Opcode::Glsl(op) => format!("{op:?}"),
        }
    }
}

/// SPIR-V §3.3.11 Conversion, §3.3.13 Arithmetic, §3.3.14 Bit, §3.3.15 Relational and Logical,
/// and OpTranspose of §3.3.12 Composite. Products of integer vectors belong to §3.3.13 from 1.6
/// on, and to SPV_KHR_integer_dot_product before.
const CORE: &[(Core, Signature)] = {
    use Class::{Bool, Float, Float32, Int, Unsigned};
    use Signature::*;
    &[
        (Core::ConvertFToU, Convert(Float, Unsigned)),
        (Core::ConvertFToS, Convert(Float, Int)),
        (Core::ConvertSToF, Convert(Int, Float)),
        (Core::ConvertUToF, Convert(Int, Float)),
        (Core::UConvert, ConvertWidth(Int, Unsigned)),
        (Core::SConvert, ConvertWidth(Int, Int)),
        (Core::FConvert, ConvertWidth(Float, Float)),
        (Core::QuantizeToF16, Componentwise(1, Float32)),
        (Core::Bitcast, Bitcast),
        (Core::Transpose, Transpose),
        (Core::SNegate, SameWidth(1, Int)),
        (Core::FNegate, Componentwise(1, Float)),
        (Core::IAdd, SameWidth(2, Int)),
        (Core::FAdd, Componentwise(2, Float)),
        (Core::ISub, SameWidth(2, Int)),
        (Core::FSub, Componentwise(2, Float)),
        (Core::IMul, SameWidth(2, Int)),
        (Core::FMul, Componentwise(2, Float)),
        (Core::UDiv, Componentwise(2, Unsigned)),
        (Core::SDiv, SameWidth(2, Int)),
        (Core::FDiv, Componentwise(2, Float)),
        (Core::UMod, Componentwise(2, Unsigned)),
        (Core::SRem, SameWidth(2, Int)),
        (Core::SMod, SameWidth(2, Int)),
        (Core::FRem, Componentwise(2, Float)),
        (Core::FMod, Componentwise(2, Float)),
        (Core::VectorTimesScalar, VectorTimesScalar),
        (Core::MatrixTimesScalar, MatrixTimesScalar),
        (Core::VectorTimesMatrix, VectorTimesMatrix),
        (Core::MatrixTimesVector, MatrixTimesVector),
        (Core::MatrixTimesMatrix, MatrixTimesMatrix),
        (Core::OuterProduct, OuterProduct),
        (Core::Dot, Scalar2(false)),
        (Core::IAddCarry, Pair(2, Unsigned)),
        (Core::ISubBorrow, Pair(2, Unsigned)),
        (Core::UMulExtended, Pair(2, Unsigned)),
        (Core::SMulExtended, Pair(2, Int)),
        (Core::ShiftRightLogical, Shift),
        (Core::ShiftRightArithmetic, Shift),
        (Core::ShiftLeftLogical, Shift),
        (Core::BitwiseOr, SameWidth(2, Int)),
        (Core::BitwiseXor, SameWidth(2, Int)),
        (Core::BitwiseAnd, SameWidth(2, Int)),
        (Core::Not, SameWidth(1, Int)),
        (Core::BitFieldInsert, BitFieldInsert),
        (Core::BitFieldSExtract, BitFieldExtract),
        (Core::BitFieldUExtract, BitFieldExtract),
        (Core::BitReverse, Componentwise(1, Int)),
        (Core::BitCount, BitCount),
        (Core::Any, Reduction),
        (Core::All, Reduction),
        (Core::IsNan, FloatTest),
        (Core::IsInf, FloatTest),
        (Core::LogicalEqual, Comparison(Bool)),
        (Core::LogicalNotEqual, Comparison(Bool)),
        (Core::LogicalOr, Componentwise(2, Bool)),
        (Core::LogicalAnd, Componentwise(2, Bool)),
        (Core::LogicalNot, Componentwise(1, Bool)),
        (Core::Select, Select),
        (Core::IEqual, Comparison(Int)),
        (Core::INotEqual, Comparison(Int)),
        (Core::UGreaterThan, Comparison(Int)),
        (Core::SGreaterThan, Comparison(Int)),
        (Core::UGreaterThanEqual, Comparison(Int)),
        (Core::SGreaterThanEqual, Comparison(Int)),
        (Core::ULessThan, Comparison(Int)),
        (Core::SLessThan, Comparison(Int)),
        (Core::ULessThanEqual, Comparison(Int)),
        (Core::SLessThanEqual, Comparison(Int)),
        (Core::FOrdEqual, Comparison(Float)),
        (Core::FUnordEqual, Comparison(Float)),
        (Core::FOrdNotEqual, Comparison(Float)),
        (Core::FUnordNotEqual, Comparison(Float)),
        (Core::FOrdLessThan, Comparison(Float)),
        (Core::FUnordLessThan, Comparison(Float)),
        (Core::FOrdGreaterThan, Comparison(Float)),
        (Core::FUnordGreaterThan, Comparison(Float)),
        (Core::FOrdLessThanEqual, Comparison(Float)),
        (Core::FUnordLessThanEqual, Comparison(Float)),
        (Core::FOrdGreaterThanEqual, Comparison(Float)),
        (Core::FUnordGreaterThanEqual, Comparison(Float)),
        (Core::SDot, IntegerDot(Signs::Signed, false)),
        (Core::UDot, IntegerDot(Signs::Unsigned, false)),
        (Core::SUDot, IntegerDot(Signs::Mixed, false)),
        (Core::SDotAccSat, IntegerDot(Signs::Signed, true)),
        (Core::UDotAccSat, IntegerDot(Signs::Unsigned, true)),
        (Core::SUDotAccSat, IntegerDot(Signs::Mixed, true)),
    ]
};

/// GLSL.std.450, except InterpolateAtCentroid, InterpolateAtSample and InterpolateAtOffset, which
/// read the environment.
const GLSL: &[(Glsl, Signature)] = {
    use Class::{Float, Float16Or32, Int, Int32};
    use Signature::*;
    const WORD: Shape = Shape::vector(Scalar::U32, 1);
    const WORDS: Shape = Shape::vector(Scalar::U32, 2);
    const DOUBLE: Shape = Shape::vector(Scalar::F64, 1);
    const VEC2: Shape = Shape::vector(Scalar::F32, 2);
    const VEC4: Shape = Shape::vector(Scalar::F32, 4);
    &[
        (Glsl::Round, Componentwise(1, Float)),
        (Glsl::RoundEven, Componentwise(1, Float)),
        (Glsl::Trunc, Componentwise(1, Float)),
        (Glsl::FAbs, Componentwise(1, Float)),
        (Glsl::SAbs, SameWidth(1, Int)),
        (Glsl::FSign, Componentwise(1, Float)),
        (Glsl::SSign, SameWidth(1, Int)),
        (Glsl::Floor, Componentwise(1, Float)),
        (Glsl::Ceil, Componentwise(1, Float)),
        (Glsl::Fract, Componentwise(1, Float)),
        (Glsl::Radians, Componentwise(1, Float16Or32)),
        (Glsl::Degrees, Componentwise(1, Float16Or32)),
        (Glsl::Sin, Componentwise(1, Float16Or32)),
        (Glsl::Cos, Componentwise(1, Float16Or32)),
        (Glsl::Tan, Componentwise(1, Float16Or32)),
        (Glsl::Asin, Componentwise(1, Float16Or32)),
        (Glsl::Acos, Componentwise(1, Float16Or32)),
        (Glsl::Atan, Componentwise(1, Float16Or32)),
        (Glsl::Sinh, Componentwise(1, Float16Or32)),
        (Glsl::Cosh, Componentwise(1, Float16Or32)),
        (Glsl::Tanh, Componentwise(1, Float16Or32)),
        (Glsl::Asinh, Componentwise(1, Float16Or32)),
        (Glsl::Acosh, Componentwise(1, Float16Or32)),
        (Glsl::Atanh, Componentwise(1, Float16Or32)),
        (Glsl::Atan2, Componentwise(2, Float16Or32)),
        (Glsl::Pow, Componentwise(2, Float16Or32)),
        (Glsl::Exp, Componentwise(1, Float16Or32)),
        (Glsl::Log, Componentwise(1, Float16Or32)),
        (Glsl::Exp2, Componentwise(1, Float16Or32)),
        (Glsl::Log2, Componentwise(1, Float16Or32)),
        (Glsl::Sqrt, Componentwise(1, Float)),
        (Glsl::InverseSqrt, Componentwise(1, Float)),
        (Glsl::Determinant, Determinant),
        (Glsl::MatrixInverse, Inverse),
        (Glsl::Modf, Modf),
        (Glsl::ModfStruct, Pair(1, Float)),
        (Glsl::FMin, Componentwise(2, Float)),
        (Glsl::UMin, SameWidth(2, Int)),
        (Glsl::SMin, SameWidth(2, Int)),
        (Glsl::FMax, Componentwise(2, Float)),
        (Glsl::UMax, SameWidth(2, Int)),
        (Glsl::SMax, SameWidth(2, Int)),
        (Glsl::FClamp, Componentwise(3, Float)),
        (Glsl::UClamp, SameWidth(3, Int)),
        (Glsl::SClamp, SameWidth(3, Int)),
        (Glsl::FMix, Componentwise(3, Float)),
        (Glsl::Step, Componentwise(2, Float)),
        (Glsl::SmoothStep, Componentwise(3, Float)),
        (Glsl::Fma, Componentwise(3, Float)),
        (Glsl::Frexp, Frexp),
        (Glsl::FrexpStruct, FrexpStruct),
        (Glsl::Ldexp, Ldexp),
        (Glsl::PackSnorm4x8, Reshape(VEC4, WORD)),
        (Glsl::PackUnorm4x8, Reshape(VEC4, WORD)),
        (Glsl::PackSnorm2x16, Reshape(VEC2, WORD)),
        (Glsl::PackUnorm2x16, Reshape(VEC2, WORD)),
        (Glsl::PackHalf2x16, Reshape(VEC2, WORD)),
        (Glsl::PackDouble2x32, Reshape(WORDS, DOUBLE)),
        (Glsl::UnpackSnorm2x16, Reshape(WORD, VEC2)),
        (Glsl::UnpackUnorm2x16, Reshape(WORD, VEC2)),
        (Glsl::UnpackHalf2x16, Reshape(WORD, VEC2)),
        (Glsl::UnpackSnorm4x8, Reshape(WORD, VEC4)),
        (Glsl::UnpackUnorm4x8, Reshape(WORD, VEC4)),
        (Glsl::UnpackDouble2x32, Reshape(DOUBLE, WORDS)),
        (Glsl::Length, Scalar1),
        (Glsl::Distance, Scalar2(true)),
        (Glsl::Cross, Cross),
        (Glsl::Normalize, Componentwise(1, Float)),
        (Glsl::FaceForward, Componentwise(3, Float)),
        (Glsl::Reflect, Componentwise(2, Float)),
        (Glsl::Refract, Refract),
        (Glsl::FindILsb, SameWidth(1, Int32)),
        (Glsl::FindSMsb, SameWidth(1, Int32)),
        (Glsl::FindUMsb, SameWidth(1, Int32)),
        (Glsl::NMin, Componentwise(2, Float)),
        (Glsl::NMax, Componentwise(2, Float)),
        (Glsl::NClamp, Componentwise(3, Float)),
    ]
};
