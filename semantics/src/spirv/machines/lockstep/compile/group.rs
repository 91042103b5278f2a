//! Group instructions of a fragment stage.

use rspirv::spirv::GroupOperation;

use super::super::program::{Group, NONE, Op, Slots};
use super::{Compiled, Compiler};
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

/// How two votes are joined, if it is a vote.
fn vote(op: Core) -> Option<Operation> {
    match op {
        Core::GroupNonUniformAll | Core::GroupNonUniformAllEqual => operation::core(Core::LogicalAnd),
        Core::GroupNonUniformAny => operation::core(Core::LogicalOr),
        _ => None,
    }
}

impl Compiler<'_> {
    pub(super) fn group(&mut self, i: &Instruction) -> Compiled {
        if !self.is_fragment {
            return self.unsupported(format!("{} in the lockstep machine", i.name()));
        }
        let operands = self.operands(i);
        let combines = operation::combination(i.op, 32).is_some();
        let (over, rest) = if combines { (GroupOperation::from_u32(operands[1]), &operands[2..]) } else { (None, &operands[1..]) };
        let is_half = |id: u32| self.module.shape(id).scalar.width() == 16;
        if over == Some(GroupOperation::ClusteredReduce) || rest.first().is_some_and(|&id| is_half(id)) {
            return self.unsupported(format!("{} of clusters or of 16 bits in the lockstep machine", i.name()));
        }
        let names_one = matches!(i.op, Core::GroupNonUniformBroadcast | Core::GroupNonUniformQuadBroadcast);
        if names_one && self.module.constant_value(rest[1]).is_none() {
            return self.unsupported(format!("{} of a lane that is no constant in the lockstep machine", i.name()));
        }
        let value = rest.first().map_or(Ok(Slots::new()), |&id| self.value(id))?;
        let chosen = rest.get(1).map_or(Ok(Slots::new()), |&id| self.value(id))?;
        let shape = self.module.shape(rest.first().copied().unwrap_or(i.result));
        let (joins, identity) = match operation::combination(i.op, shape.scalar.width()) {
            Some((operation, identity)) => (Some(operation), identity),
            None => (vote(i.op), 0),
        };
        let to = self.slots(i.result_type)?;
        let instruction = self.at as u32;
        self.program.groups.push(Group { op: i.op, instruction, value, chosen, shape, joins, identity, over, to: to.clone() });
        self.emit(Op::Group, NONE, NONE, NONE, self.program.groups.len() as u32 - 1);
        self.bind(i.result, to)
    }
}
