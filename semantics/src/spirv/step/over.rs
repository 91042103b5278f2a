//! A run over sets, by rules that know nothing of sets: before a rule applies, what the run takes for granted is put into M; after it, what is not
//! decided in its result gets a cell.

use smallvec::SmallVec;

use super::{Config, operation_of};
use crate::number;
use crate::number::sets::{Sets, Unsettled};
use crate::number::{Arithmetic, Lane, Lanes, Tuple};
use crate::spirv::grammar::Op;
use crate::spirv::memory::Value;
use crate::spirv::value::{Scalar, Scalars};

/// M[x ↦ the way that is taken], where the next instruction branches by x, and x is not decided. Gives x and what it was, to be [put back](restore).
pub(super) fn decide(sets: &mut Sets, config: &mut Config<'_>) -> Result<Option<(u32, Scalars)>, Unsettled> {
    let Some((_, operands)) = config.next_of(&[Op::BranchConditional]) else { return Ok(None) };
    let x = operands[0];
    let Some(condition) = config.scalar(x).filter(|condition| !condition.trust.is_decided(sets.profile())) else { return Ok(None) };
    sets.stand_at(x);
    let way = Scalar::from(Lane::truth(sets.decide(condition.lane())?));
    config.memory.define(config.module, x, Value::Scalars(Scalars::from_slice(&[way])));
    Ok(Some((x, Scalars::from_slice(&[condition]))))
}

/// M[x ↦ what it was]: where it may be computed anew at each use, one branch says nothing of the next; where it may not, the run knows.
pub(super) fn restore((x, was): (u32, Scalars), config: &mut Config<'_>) {
    config.memory.define(config.module, x, Value::Scalars(was));
}

/// M[r ↦ its components, with cells], where the instruction that was applied computes r and r is not decided.
pub(super) fn widen(sets: &mut Sets, before: &Config<'_>, after: &mut Config<'_>) -> Result<(), Unsettled> {
    let Some(head) = before.head() else { return Ok(()) };
    let operands = before.operands(head);
    let ids = if head.is(Op::ExtInst) { operands.get(2..).unwrap_or_default() } else { operands };
    let Some(op) = operation_of(head, operands).and_then(|operation| operation.op) else { return Ok(()) };
    let Some(mut results) = after.lanes(head.result) else { return Ok(()) };
    let decided = |lanes: &Lanes| lanes.iter().all(|lane| lane.trust.is_decided(sets.profile()));
    // What is selected by a condition that is decided keeps the cell that it has.
    let selects = op == number::Op::Select;
    if decided(&results) && !selects || selects && before.lanes(ids[0]).is_none_or(|conditions| decided(&conditions)) {
        return Ok(());
    }
    let lanes: Option<SmallVec<[Lanes; 3]>> = ids.iter().map(|&id| before.lanes(id)).collect();
    let Some(lanes) = lanes else { return Ok(()) };
    let columns = ids.iter().map(|&id| usize::from(before.module.shape(id).columns));
    let args: SmallVec<[(&[Lane], usize); 3]> = lanes.iter().map(|lanes| lanes.as_slice()).zip(columns).collect();
    sets.stand_at(head.result);
    if selects {
        let args: SmallVec<[Tuple<'_>; 3]> = args.iter().map(|&(lanes, columns)| Tuple { lanes, columns }).collect();
        results = sets.apply(&Arithmetic::default(), op, &args)?;
    } else {
        sets.widen(op.instruction(), &args, &mut results)?;
    }
    let scalars: Scalars = results.into_iter().map(Scalar::from).collect();
    after.memory.define(after.module, head.result, Value::Scalars(scalars));
    Ok(())
}
