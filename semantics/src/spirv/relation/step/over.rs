//! A run over sets, by rules that do not know sets. Before a rule applies, the decision at an open
//! branch is put into M. After it, the undecided components of its result get cells.

use rspirv::spirv::Decoration;
use smallvec::SmallVec;

use super::{Config, Env, Next, operation_of};
use crate::number;
use crate::number::sets::{Sets, Unsettled};
use crate::number::{Lane, Lanes, Trust, Why};
use crate::spirv::grammar::Op;
use crate::spirv::memory::Value;
use crate::spirv::module::WHOLE;
use crate::spirv::operation::{Operation, Signature};
use crate::spirv::types::Type;
use crate::spirv::value::{Scalar, Scalars};

/// The id of a branch's condition, and its value before the run decided it.
pub(in crate::spirv) type DecidedCondition = Option<(u32, Scalars)>;

/// M[x ↦ the decision], if the next instruction branches on x and x is open. Returns x and its
/// value before.
pub(in crate::spirv) fn decide(sets: &mut Sets, config: &mut Config<'_>) -> Result<DecidedCondition, Unsettled> {
    let Some((_, operands)) = config.next_of(&[Op::BranchConditional]) else { return Ok(None) };
    let x = operands[0];
    let open = |condition: &Scalar| condition.undefined.is_none() && !condition.trust.is_decided(sets.profile());
    let Some(condition) = config.scalar(x).filter(open) else { return Ok(None) };
    sets.stand_at(x);
    let way = Scalar::from(Lane::truth(sets.decide(condition.lane())?));
    config.memory.define(config.module, x, Value::Scalars(Scalars::from_slice(&[way])));
    Ok(Some((x, Scalars::from_slice(&[condition]))))
}

/// Finishes a step. The undecided components of the result get cells. If the step branched on x, x
/// gets its value before the decision. If a device may compute x again at each use, a decision says
/// nothing of the next branch. If not, the run remembers it.
pub(in crate::spirv) fn finish_step(
    sets: &mut Sets,
    before: &Config<'_>,
    next: &mut Next<'_>,
    decision: DecidedCondition,
) -> Result<(), Unsettled> {
    faults(sets, before)?;
    let (Next::Config(after) | Next::Acts(after, _) | Next::Waits(after, _) | Next::Ends(after) | Next::Discards(after)) = next else {
        return Ok(());
    };
    widen(sets, before, after)?;
    if let Some((x, value_before)) = decision {
        after.memory.define(after.module, x, Value::Scalars(value_before));
    }
    if after.control.is_doubtful(sets.profile()) {
        let name = before.head().map_or_else(String::new, |head| head.name());
        return Err(Unsettled::Reached(format!("{name} by a value that may be several")));
    }
    Ok(())
}

/// A component as an operand. An undefined value may be anything.
fn lane(scalar: &Scalar) -> Lane {
    match scalar.undefined {
        None => scalar.lane(),
        Some(_) => Lane { bits: 0, trust: scalar.trust.in_doubt(Why::Domain) },
    }
}

fn lanes(config: &Config<'_>, id: u32) -> Option<Lanes> {
    config.scalars(id).map(|scalars| scalars.iter().map(lane).collect())
}

/// The operand ids of the next instruction and its name, if it computes.
fn ids<'m>(config: &Config<'m>) -> Option<(&'m [u32], number::Instruction)> {
    let head = config.head()?;
    let operands = config.operands(head);
    if head.is(Op::ExtInst) && config.module.is_non_semantic(head) {
        return None;
    }
    let operation = operation_of(head, operands)?;
    Some((if head.is(Op::ExtInst) { operands.get(2..)? } else { operands }, operation.instruction))
}

/// Gives cells to the undecided components that the applied instruction has computed.
fn widen(sets: &mut Sets, before: &Config<'_>, after: &mut Config<'_>) -> Result<(), Unsettled> {
    let (Some(head), Some((ids, instruction))) = (before.head(), ids(before)) else { return Ok(()) };
    let profile = sets.profile();
    if head.is(Op::Select) {
        return select(sets, ids, head.result, before, after);
    }
    if head.is(Op::ConvertFToS) || head.is(Op::ConvertFToU) {
        decide_converted(sets, ids[0], head.result, before, after);
        return Ok(());
    }
    let is_lanes = |id: u32| before.module.shape(id).is_lanes();
    if !is_lanes(head.result) || !ids.iter().all(|&id| is_lanes(id)) {
        return Ok(());
    }
    let Some(mut scalars) = after.scalars(head.result) else { return Ok(()) };
    let mut results: Lanes = scalars.iter().map(lane).collect();
    if results.iter().all(|lane| lane.trust.is_decided(profile)) {
        return Ok(());
    }
    let operands: Option<SmallVec<[Lanes; 3]>> = ids.iter().map(|&id| lanes(before, id)).collect();
    let Some(operands) = operands else { return Ok(()) };
    let columns = ids.iter().map(|&id| usize::from(before.module.shape(id).columns));
    let args: SmallVec<[(&[Lane], usize); 3]> = operands.iter().map(|lanes| lanes.as_slice()).zip(columns).collect();
    sets.stand_at(head.result);
    sets.widen(instruction, &args, &mut results)?;
    for (scalar, result) in scalars.iter_mut().zip(results).filter(|(scalar, _)| scalar.undefined.is_none()) {
        scalar.trust = result.trust;
    }
    after.memory.define(after.module, head.result, Value::Scalars(scalars));
    Ok(())
}

/// Decides an integer that is converted from a float, if all floats of the set have the same
/// whole part.
fn decide_converted(sets: &Sets, operand: u32, result: u32, before: &Config<'_>, after: &mut Config<'_>) {
    if !before.module.shape(operand).is_lanes() {
        return;
    }
    let (Some(operands), Some(mut scalars)) = (lanes(before, operand), after.scalars(result)) else { return };
    let width = before.module.shape(result).scalar.width();
    let open = |lane: &Lane| !lane.trust.is_decided(sets.profile());
    let pairs = scalars.iter_mut().zip(operands).filter(|(scalar, lane)| scalar.undefined.is_none() && open(lane));
    let mut is_known = false;
    for (scalar, lane) in pairs {
        let set = sets.operand(lane).set;
        // `faults` has checked that it is in range.
        let hull = set.hull().filter(|hull| set.is_bounded() && hull.low.trunc() == hull.high.trunc() && hull.low.abs() < 9e18);
        if let Some(hull) = hull {
            let bits = hull.low.trunc() as i64 as u64 & number::integer::mask(width);
            *scalar = Scalar { bits, trust: Trust::CERTAIN, undefined: None };
            is_known = true;
        }
    }
    if is_known {
        after.memory.define(after.module, result, Value::Scalars(scalars));
    }
}

/// Gives cells to both results of Modf, Frexp and their Struct forms. `results` has the components
/// of the first result, then those of the second. An exponent is an integer, which has no cell. It
/// is decided if all significands have the same exponent.
pub(super) fn pair(env: &Env<'_>, config: &Config<'_>, operation: Operation, results: &mut Scalars) -> Option<()> {
    let sets = &mut *env.over?.borrow_mut();
    let (head, operands) = config.next_if(Op::ExtInst)?;
    let operand = *operands.get(2)?;
    let shape = config.module.shape(operand);
    let args = lanes(config, operand).filter(|_| shape.is_lanes())?;
    let whole_part = matches!(operation.signature, Signature::Modf | Signature::Pair(..));
    let floats = if whole_part { results.len() } else { args.len() };
    let mut open: Lanes = results.iter().take(floats).map(lane).collect();
    sets.stand_at(head.result);
    sets.widen(operation.instruction, &[(&args, 1)], &mut open).ok()?;
    for (scalar, open) in results.iter_mut().zip(open).filter(|(scalar, _)| scalar.undefined.is_none()) {
        scalar.trust = open.trust;
    }
    let operands: SmallVec<[number::sets::Operand; 4]> = args.iter().map(|&lane| sets.operand(lane)).collect();
    let allowed = number::sets::allowed(sets.profile(), operation.instruction, &[(&operands, 1)])?;
    for (scalar, set) in results.iter_mut().zip(allowed).skip(floats).filter(|(scalar, _)| scalar.undefined.is_none()) {
        if let Some(exponent) = set.only() {
            *scalar = Scalar { bits: u64::from(exponent as i32 as u32), trust: Trust::CERTAIN, undefined: None };
        }
    }
    Some(())
}

/// OpSelect of any objects. If a condition is decided, the selected component keeps its cell. An
/// undefined condition selects an undefined value.
fn select(sets: &mut Sets, ids: &[u32], result: u32, before: &Config<'_>, after: &mut Config<'_>) -> Result<(), Unsettled> {
    let [Some(conditions), Some(on_true), Some(on_false)] = [0, 1, 2].map(|k| before.scalars(ids[k])) else { return Ok(()) };
    let Some(mut selected) = after.scalars(result) else { return Ok(()) };
    let is_open = |scalar: &Scalar| scalar.undefined.is_none() && !scalar.trust.is_decided(sets.profile());
    if !conditions.iter().any(is_open) {
        return Ok(());
    }
    sets.stand_at(result);
    let components_each = if conditions.len() == 1 { selected.len() } else { 1 };
    let mut first = 0;
    for condition in &conditions {
        let components = first..first + components_each;
        first += components_each;
        if condition.undefined.is_some() {
            continue;
        }
        for (i, holds) in components.zip(sets.choose(&[lane(condition)], components_each)?) {
            selected[i] = if holds { on_true[i] } else { on_false[i] };
        }
    }
    after.memory.define(after.module, result, Value::Scalars(selected));
    Ok(())
}

fn may_not_wrap(config: &Config<'_>, result: u32) -> bool {
    let decorated = |decoration| config.module.decoration(result, WHOLE, decoration).is_some();
    decorated(Decoration::NoSignedWrap) || decorated(Decoration::NoUnsignedWrap)
}

/// An error if the next instruction may be undefined behaviour for some possible value of an
/// operand. Then a device may do anything.
fn faults(sets: &Sets, before: &Config<'_>) -> Result<(), Unsettled> {
    const DIVISIONS: &[Op] = &[Op::UDiv, Op::SDiv, Op::UMod, Op::SRem, Op::SMod];
    const WRAPPING: &[Op] = &[Op::IAdd, Op::ISub, Op::IMul, Op::SNegate, Op::ShiftLeftLogical];
    let Some(head) = before.head() else { return Ok(()) };
    let converts = head.is(Op::ConvertFToU) || head.is(Op::ConvertFToS);
    let may_fail = converts || DIVISIONS.contains(&head.op) || WRAPPING.contains(&head.op) && may_not_wrap(before, head.result);
    if !may_fail {
        return Ok(());
    }
    let profile = sets.profile();
    let bounded = |lane: Lane| {
        let limit = match before.module.types().component(head.result_type) {
            Some(Type::Int { width, .. }) if converts && before.module.shape(before.operands(head)[0]).is_lanes() => f64::from(width),
            _ => return false,
        };
        let (low, high) = if head.is(Op::ConvertFToU) { (-1.0, limit.exp2()) } else { (-(limit - 1.0).exp2(), (limit - 1.0).exp2()) };
        let set = sets.operand(lane).set;
        set.is_bounded() && set.hull().is_some_and(|hull| low < hull.low && hull.high < high)
    };
    let open = |lane: &Lane| !lane.trust.is_decided(profile) && !bounded(*lane);
    match before.operands(head).iter().any(|&id| lanes(before, id).is_some_and(|lanes| lanes.iter().any(open))) {
        true => Err(Unsettled::Reached(format!("{} of a value that may be several", head.name()))),
        false => Ok(()),
    }
}
