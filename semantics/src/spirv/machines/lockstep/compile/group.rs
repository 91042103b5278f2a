//! Compiles group instructions, for compute and fragment stages.

use rspirv::spirv::GroupOperation;

use super::super::program::{Group, NONE, Op, Slots};
use super::{Compiled, Compiler};
use crate::spirv::grammar::Op as Core;
use crate::spirv::operation::{self, Operation};
use crate::spirv::words::Instruction;

/// The operation that combines two votes, if the instruction is a vote.
fn vote(op: Core) -> Option<Operation> {
    match op {
        Core::GroupNonUniformAll | Core::GroupNonUniformAllEqual => operation::core(Core::LogicalAnd),
        Core::GroupNonUniformAny => operation::core(Core::LogicalOr),
        _ => None,
    }
}

impl Compiler<'_> {
    pub(super) fn group(&mut self, i: &Instruction) -> Compiled {
        if self.is_stage && !self.is_fragment {
            return self.unsupported(format!("{} in a vertex stage, in the lockstep machine", i.name()));
        }
        self.program.subgroups |= !self.is_stage;
        let operands = self.operands(i);
        let has_operation = operation::combination(i.op, 32).is_some() || i.is(Core::GroupNonUniformBallotBitCount);
        let (group_operation, rest) =
            if has_operation { (GroupOperation::from_u32(operands[1]), &operands[2..]) } else { (None, &operands[1..]) };
        let is_clustered = group_operation == Some(GroupOperation::ClusteredReduce);
        let uniform_operand = match i.op {
            Core::GroupNonUniformBroadcast | Core::GroupNonUniformQuadBroadcast => Some(rest[1]),
            Core::GroupNonUniformInverseBallot => Some(rest[0]),
            _ => None,
        };
        let cluster = rest.get(1).filter(|_| is_clustered).and_then(|&id| self.module.constant_value(id));
        let value = rest.first().map_or(Ok(Slots::new()), |&id| self.value(id))?;
        let selector = rest.get(1).map_or(Ok(Slots::new()), |&id| self.value(id))?;
        let shape = self.module.shape(rest.first().copied().unwrap_or(i.result));
        let (combine, identity) = match operation::combination(i.op, shape.scalar.width()) {
            Some((operation, identity)) => (Some(operation), identity),
            None => (vote(i.op), 0),
        };
        let to = self.slots(i.result_type)?;
        self.program.groups.push(Group {
            op: i.op,
            instruction: self.at as u32,
            value,
            selector,
            shape,
            combine,
            identity,
            operation: group_operation,
            cluster: cluster.map(|cluster| u32::try_from(cluster).unwrap_or(u32::MAX)),
            uniform_operand,
            to: to.clone(),
        });
        self.emit(Op::Group, NONE, NONE, NONE, self.program.groups.len() as u32 - 1);
        self.bind(i.result, to)
    }
}
