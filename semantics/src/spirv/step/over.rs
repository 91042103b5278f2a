//! A run over sets, by rules that know nothing of sets: before a rule applies, what the run takes for granted is put into M; after it, what is not
//! decided in its result gets a cell.

use smallvec::SmallVec;

use super::{Config, operation_of};
use crate::number;
use crate::number::sets::{Sets, Unsettled};
use crate::number::{Lane, Lanes};
use crate::spirv::grammar::Op;
use crate::spirv::memory::Value;
use crate::spirv::value::{Scalar, Scalars};

/// M[x ↦ the way that is taken], where the next instruction branches or selects by x, and x is not decided.
pub(super) fn decide(sets: &mut Sets, config: &mut Config<'_>) -> Result<(), Unsettled> {
    let Some((head, operands)) = config.next_of(&[Op::BranchConditional, Op::Select]) else { return Ok(()) };
    let x = operands[0];
    let Some(mut conditions) = config.scalars(x) else { return Ok(()) };
    if conditions.iter().all(|condition| condition.trust.is_decided(sets.profile())) {
        return Ok(());
    }
    sets.stand_at(if head.is(Op::Select) { head.result } else { x });
    for condition in &mut conditions {
        *condition = Scalar::from(Lane::truth(sets.decide(condition.lane())?));
    }
    config.memory.define(config.module, x, Value::Scalars(conditions));
    Ok(())
}

/// M[r ↦ its components, with cells], where the instruction that was applied computes r and r is not decided.
pub(super) fn widen(sets: &mut Sets, before: &Config<'_>, after: &mut Config<'_>) -> Result<(), Unsettled> {
    let Some(head) = before.head() else { return Ok(()) };
    let operands = before.operands(head);
    let ids = if head.is(Op::ExtInst) { operands.get(2..).unwrap_or_default() } else { operands };
    // What is selected keeps the cell that it has.
    let Some(op) = operation_of(head, operands).and_then(|operation| operation.op).filter(|op| *op != number::Op::Select) else {
        return Ok(());
    };
    let Some(mut results) = after.lanes(head.result) else { return Ok(()) };
    if results.iter().all(|lane| lane.trust.is_decided(sets.profile())) {
        return Ok(());
    }
    let lanes: Option<SmallVec<[Lanes; 3]>> = ids.iter().map(|&id| before.lanes(id)).collect();
    let Some(lanes) = lanes else { return Ok(()) };
    let columns = ids.iter().map(|&id| usize::from(before.module.shape(id).columns));
    let args: SmallVec<[(&[Lane], usize); 3]> = lanes.iter().map(|lanes| lanes.as_slice()).zip(columns).collect();
    sets.stand_at(head.result);
    sets.widen(op.instruction(), &args, &mut results)?;
    let scalars: Scalars = results.into_iter().map(Scalar::from).collect();
    after.memory.define(after.module, head.result, Value::Scalars(scalars));
    Ok(())
}
