//! Group instructions of a fragment stage.

use rspirv::spirv::{GlslStd450Op as Glsl, GroupOperation};

use super::super::program::{Group, NONE, Op, Slots};
use super::{Compiled, Compiler};
use crate::number::integer;
use crate::spirv::declare::is_group;
use crate::spirv::grammar::Op as Core;
use crate::spirv::operation::{self, Operation};
use crate::spirv::words::Instruction;

/// Whether the machine compiles group instructions of that opcode: not those that read ballots,
/// which depend on the size of subgroups.
pub(super) fn compiles(op: Core) -> bool {
    let of_ballots = matches!(
        op,
        Core::GroupNonUniformInverseBallot
            | Core::GroupNonUniformBallotBitExtract
            | Core::GroupNonUniformBallotBitCount
            | Core::GroupNonUniformBallotFindLSB
            | Core::GroupNonUniformBallotFindMSB
    );
    is_group(op) && !of_ballots
}

/// How two values are joined, and what joining with changes nothing of numbers of that width.
fn joined(op: Core, width: u8) -> (Option<Operation>, u64) {
    let (core, glsl) = (operation::core, |function: Glsl| operation::glsl(function as u32));
    let (all, sign) = (integer::mask(width), 1u64 << (width.max(1) - 1));
    let float = |value: f64| match width {
        32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    };
    match op {
        Core::GroupNonUniformAll | Core::GroupNonUniformAllEqual => (core(Core::LogicalAnd), 1),
        Core::GroupNonUniformAny => (core(Core::LogicalOr), 0),
        Core::GroupNonUniformIAdd => (core(Core::IAdd), 0),
        Core::GroupNonUniformIMul => (core(Core::IMul), 1),
        Core::GroupNonUniformFAdd => (core(Core::FAdd), 0),
        Core::GroupNonUniformFMul => (core(Core::FMul), float(1.0)),
        Core::GroupNonUniformSMin => (glsl(Glsl::SMin), sign - 1),
        Core::GroupNonUniformSMax => (glsl(Glsl::SMax), sign),
        Core::GroupNonUniformUMin => (glsl(Glsl::UMin), all),
        Core::GroupNonUniformUMax => (glsl(Glsl::UMax), 0),
        Core::GroupNonUniformFMin => (glsl(Glsl::NMin), float(f64::INFINITY)),
        Core::GroupNonUniformFMax => (glsl(Glsl::NMax), float(f64::NEG_INFINITY)),
        Core::GroupNonUniformBitwiseAnd => (core(Core::BitwiseAnd), all),
        Core::GroupNonUniformBitwiseOr => (core(Core::BitwiseOr), 0),
        Core::GroupNonUniformBitwiseXor => (core(Core::BitwiseXor), 0),
        Core::GroupNonUniformLogicalAnd => (core(Core::LogicalAnd), 1),
        Core::GroupNonUniformLogicalOr => (core(Core::LogicalOr), 0),
        Core::GroupNonUniformLogicalXor => (core(Core::LogicalNotEqual), 0),
        _ => (None, 0),
    }
}

impl Compiler<'_> {
    pub(super) fn group(&mut self, i: &Instruction) -> Compiled {
        if !self.is_fragment {
            return self.unsupported(format!("{} in the lockstep machine", i.name()));
        }
        let operands = self.operands(i);
        let combines = joined(i.op, 32).0.is_some()
            && !matches!(i.op, Core::GroupNonUniformAll | Core::GroupNonUniformAny | Core::GroupNonUniformAllEqual);
        let (over, rest) = if combines { (GroupOperation::from_u32(operands[1]), &operands[2..]) } else { (None, &operands[1..]) };
        let wide = |id: u32| self.module.shape(id).scalar.width() == 16;
        if over == Some(GroupOperation::ClusteredReduce) || rest.first().is_some_and(|&id| wide(id)) {
            return self.unsupported(format!("{} of clusters or of 16 bits in the lockstep machine", i.name()));
        }
        let names_one = matches!(i.op, Core::GroupNonUniformBroadcast | Core::GroupNonUniformQuadBroadcast);
        if names_one && self.module.constant_value(rest[1]).is_none() {
            return self.unsupported(format!("{} of a lane that is no constant in the lockstep machine", i.name()));
        }
        let value = rest.first().map_or(Ok(Slots::new()), |&id| self.value(id))?;
        let chosen = rest.get(1).map_or(Ok(Slots::new()), |&id| self.value(id))?;
        let shape = self.module.shape(rest.first().copied().unwrap_or(i.result));
        let (joins, identity) = joined(i.op, shape.scalar.width());
        let to = self.slots(i.result_type)?;
        let instruction = self.at as u32;
        self.program.groups.push(Group { op: i.op, instruction, value, chosen, shape, joins, identity, over, to: to.clone() });
        self.emit(Op::Group, NONE, NONE, NONE, self.program.groups.len() as u32 - 1);
        self.bind(i.result, to)
    }
}
