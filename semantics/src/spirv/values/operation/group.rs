//! The operations of group instructions.

use rspirv::spirv::{GlslStd450Op as Glsl, Op};

use super::Operation;
use crate::number::integer;

/// The operation by which a group instruction combines two operands (SPIR-V §3.3.24), and the
/// bits of its identity element for components of that width. `None` for instructions that
/// combine nothing.
pub fn combination(op: Op, width: u8) -> Option<(Operation, u64)> {
    let glsl = |op: Glsl| super::glsl(op as u32);
    let (all, top) = (integer::mask(width), 1u64 << (width.max(1) - 1));
    let infinity = match width {
        16 => 0x7c00,
        32 => f32::INFINITY.to_bits().into(),
        _ => f64::INFINITY.to_bits(),
    };
    let one = match width {
        16 => 0x3c00,
        32 => 1f32.to_bits().into(),
        _ => 1f64.to_bits(),
    };
    let (operation, identity) = match op {
        Op::GroupNonUniformIAdd => (super::core(Op::IAdd), 0),
        Op::GroupNonUniformFAdd => (super::core(Op::FAdd), 0),
        Op::GroupNonUniformIMul => (super::core(Op::IMul), 1),
        Op::GroupNonUniformFMul => (super::core(Op::FMul), one),
        Op::GroupNonUniformSMin => (glsl(Glsl::SMin), top - 1),
        Op::GroupNonUniformUMin => (glsl(Glsl::UMin), all),
        // If one operand is a NaN, the result is the other operand.
        Op::GroupNonUniformFMin => (glsl(Glsl::NMin), infinity),
        Op::GroupNonUniformSMax => (glsl(Glsl::SMax), top),
        Op::GroupNonUniformUMax => (glsl(Glsl::UMax), 0),
        Op::GroupNonUniformFMax => (glsl(Glsl::NMax), infinity | top),
        Op::GroupNonUniformBitwiseAnd => (super::core(Op::BitwiseAnd), all),
        Op::GroupNonUniformBitwiseOr => (super::core(Op::BitwiseOr), 0),
        Op::GroupNonUniformBitwiseXor => (super::core(Op::BitwiseXor), 0),
        Op::GroupNonUniformLogicalAnd => (super::core(Op::LogicalAnd), 1),
        Op::GroupNonUniformLogicalOr => (super::core(Op::LogicalOr), 0),
        Op::GroupNonUniformLogicalXor => (super::core(Op::LogicalNotEqual), 0),
        _ => return None,
    };
    Some((operation?, identity))
}
