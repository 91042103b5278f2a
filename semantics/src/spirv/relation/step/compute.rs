//! SPIR-V §3.3.11 Conversion, §3.3.13 Arithmetic, §3.3.14 Bit, §3.3.15 Relational and Logical, and
//! GLSL.std.450. One rule computes, by the table of operations. There is one rule for each reason
//! of undefined behaviour.

use rspirv::spirv::Decoration;
use smallvec::SmallVec;

use super::{Action, Config, Env, Next, Ops, Row, memory, operation_of, over, row};
use crate::number::Instruction;
use crate::number::{Lanes, Tuple};
use crate::rule::Rule;
use crate::spirv::grammar::Op;
use crate::spirv::memory::Value;
use crate::spirv::module::WHOLE;
use crate::spirv::object;
use crate::spirv::operation::{self, Operation, Shape, Signature};
use crate::spirv::operation::{Occurrence, Operand};
use crate::spirv::report;
use crate::spirv::types::Type;
use crate::spirv::value::Scalars;
use crate::undefined::Ub;

const DIVISIONS: &[Op] = &[Op::UDiv, Op::SDiv, Op::UMod, Op::SRem, Op::SMod];
const SIGNED_DIVISIONS: &[Op] = &[Op::SDiv, Op::SRem, Op::SMod];
const TO_INTEGER: &[Op] = &[Op::ConvertFToU, Op::ConvertFToS];
const WRAPPING: &[Op] = &[Op::IAdd, Op::ISub, Op::IMul, Op::SNegate, Op::ShiftLeftLogical, Op::ExtInst];
const PARTIAL: &[Op] = &[
    Op::UDiv,
    Op::SDiv,
    Op::UMod,
    Op::SRem,
    Op::SMod,
    Op::ConvertFToU,
    Op::ConvertFToS,
    Op::IAdd,
    Op::ISub,
    Op::IMul,
    Op::SNegate,
    Op::ShiftLeftLogical,
    Op::ExtInst,
];

pub(super) const RULES: &[Row] = &[
    Row { rule: Rule::SpirvCompute, ops: Ops::Computing, function: compute },
    row(Rule::SpirvExtInst, &[Op::ExtInst], ext_inst),
    row(Rule::SpirvExtInstStore, &[Op::ExtInst], ext_inst_store),
    row(Rule::SpirvNonSemantic, &[Op::ExtInst], non_semantic),
    row(Rule::SpirvDivisionByZero, DIVISIONS, division_by_zero),
    row(Rule::SpirvDivisionOverflow, SIGNED_DIVISIONS, division_overflow),
    row(Rule::SpirvConversionRange, TO_INTEGER, conversion_range),
    row(Rule::SpirvWrap, WRAPPING, wrap),
    row(Rule::SpirvUndefinedOperand, PARTIAL, undefined_operand),
];

/// The core instructions in the table of operations.
pub(super) fn ops() -> Vec<Op> {
    let core = |operation: Operation| match operation.instruction {
        Instruction::Core(opcode) => Op::from_u32(opcode.into()),
        Instruction::Glsl(_) => None,
    };
    operation::all().filter_map(core).collect()
}

/// op(M(a)…) of the next instruction, if it computes values.
fn result(env: &Env<'_>, config: &Config<'_>) -> Option<Result<Scalars, Ub>> {
    let head = config.head()?;
    let operands = config.operands(head);
    let ids = if head.is(Op::ExtInst) { operands.get(2..)? } else { operands };
    if head.is(Op::ExtInst) && config.module.is_non_semantic(head) {
        return None;
    }
    let operation = operation_of(head, operands)?;
    let ids = match operation.signature.written_through() {
        None => operation.ids(ids),
        Some(_) => &ids[..1],
    };
    let mut values: SmallVec<[(Scalars, Shape); 3]> = SmallVec::new();
    for &id in ids {
        values.push((config.scalars(id)?, config.module.shape(id)));
    }
    if let (Some(op), true) = (operation.op, env.judged) {
        let lanes: SmallVec<[Lanes; 3]> = values.iter().map(|(scalars, _)| scalars.iter().map(|s| s.lane()).collect()).collect();
        let tuples: SmallVec<[Tuple<'_>; 3]> =
            lanes.iter().zip(&values).map(|(lanes, (_, shape))| Tuple { lanes, columns: shape.columns.into() }).collect();
        return Some(Ok(env.calculator.arithmetic.apply(op, &tuples).into_iter().map(Into::into).collect()));
    }
    let args: SmallVec<[Operand<'_>; 3]> = values.iter().map(|(scalars, shape)| Operand { shape: *shape, scalars }).collect();
    let decorated = |decoration| config.module.decoration(head.result, WHOLE, decoration).is_some();
    let occurrence = Occurrence {
        instruction: config.index(),
        invocation: env.invocation,
        no_signed_wrap: decorated(Decoration::NoSignedWrap),
        no_unsigned_wrap: decorated(Decoration::NoUnsignedWrap),
    };
    Some(env.calculator.compute(operation, &args, &result_shapes(config, operation)?, occurrence))
}

/// The shapes of the results of the next instruction: its result, the two members of its result, or
/// its result and the stored value.
fn result_shapes(config: &Config<'_>, operation: Operation) -> Option<SmallVec<[Shape; 2]>> {
    let (head, module) = (config.head()?, config.module);
    if let Some(position) = operation.signature.written_through() {
        let pointer = config.operands(head).get(2 + position)?;
        let (_, pointee) = module.pointer_type(module.type_of(*pointer)?)?;
        return Some(SmallVec::from_slice(&[module.shape(head.result), module.shape(pointee)]));
    }
    match module.types().get(head.result_type)? {
        Type::Struct { .. } => Some(module.types().members(head.result_type).iter().map(|m| module.shape(m.type_)).collect()),
        _ => Some(SmallVec::from_slice(&[module.shape(head.result)])),
    }
}

/// M, (r = Op τ a…, I), c, p → M[r ↦ op(M(a)…)], I, c, p         [spirv/compute, 000 §3.2]
pub fn compute<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let head = config.head().filter(|i| !i.is(Op::ExtInst))?;
    let scalars = result(env, config)?.ok()?;
    Some(Next::Config(config.defining(head.result, Value::Scalars(scalars))))
}

/// The rule that computes an operation of GLSL.std.450.
pub(in crate::spirv) fn extended_rule(operation: Operation) -> Rule {
    match operation.signature.written_through() {
        None => Rule::SpirvExtInst,
        Some(_) => Rule::SpirvExtInstStore,
    }
}

/// M, (r = OpExtInst τ set f a…, I), c, p → M[r ↦ f(M(a)…)], I, c, p
/// [spirv/ext-inst, 000 §3.2; GLSL.std.450]
pub fn ext_inst<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::ExtInst)?;
    let operation = operation_of(head, operands)?;
    if extended_rule(operation) != Rule::SpirvExtInst {
        return None;
    }
    let mut scalars = result(env, config)?.ok()?;
    if matches!(operation.signature, Signature::Pair(..) | Signature::FrexpStruct) {
        over::pair(env, config, operation, &mut scalars);
    }
    Some(Next::Config(config.defining(head.result, Value::Scalars(scalars))))
}

/// M, (r = OpExtInst τ set f a b, I), c, p → M[r ↦ x, M(b) ↦ y], I, c, p, x and y the results of
/// f(M(a)), f one of Modf and Frexp
///                                                              [spirv/ext-inst-store,
///                                                              GLSL.std.450]
pub fn ext_inst_store<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::ExtInst)?;
    let operation = operation_of(head, operands).filter(|_| !config.module.is_non_semantic(head))?;
    let position = operation.signature.written_through()?;
    let mut scalars = result(env, config)?.ok()?;
    over::pair(env, config, operation, &mut scalars);
    let mut stored = Scalars::from_slice(scalars.get(config.module.shape(head.result).lanes()..)?);
    scalars.truncate(config.module.shape(head.result).lanes());
    config.control.mark_scalars(&mut stored);
    let pointer = config.pointer(*operands.get(2 + position)?)?;
    let mut next = config.defining(head.result, Value::Scalars(scalars));
    match memory::reach(env, config, &pointer, object::Operation::Store, 1)? {
        Err(_) => None,
        Ok(None) => {
            next.memory.store_own(&pointer, &stored);
            Some(Next::Config(next))
        }
        Ok(Some(_)) if config.helper => Some(Next::Config(next)),
        Ok(Some(extent)) => Some(Next::Acts(next, vec![Action::Store(extent, stored)])),
    }
}

/// M, (r = OpExtInst τ set f a…, I), c, p → M, I, c, p, the set one that says nothing about meaning
///                                                              [spirv/non-semantic,
///                                                              SPV_KHR_non_semantic_info]
pub fn non_semantic<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, _) = config.next_if(Op::ExtInst)?;
    config.module.is_non_semantic(head).then(|| Next::Config(config.advanced(1)))
}

/// Undefined behaviour of the next instruction, if it computes and its operands cause this
/// undefined behaviour.
fn undefined_behaviour<'m>(env: &Env<'_>, config: &Config<'m>, ub: Ub) -> Option<Next<'m>> {
    if result(env, config)?.err()? != ub {
        return None;
    }
    let found = |&id: &u32| Some((id, config.scalars(id)?.iter().find_map(|s| s.undefined)?));
    let undefined = report::computed_from(config.module, config.head()?).iter().find_map(found);
    Some(config.undefined(ub, report::computation(config.module, config.index(), ub, undefined)))
}

/// M, (r = Op τ a b, I), c, p is undefined behaviour where M(b) has a 0, Op a division or remainder
/// of integers                                             [spirv/division-by-zero, SPIR-V §3.3.13]
pub fn division_by_zero<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_of(DIVISIONS)?;
    undefined_behaviour(env, config, Ub::DivisionByZero)
}

/// M, (r = Op τ a b, I), c, p is undefined behaviour for the least integer and -1, Op a signed
/// division or remainder                                  [spirv/division-overflow, SPIR-V §3.3.13]
pub fn division_overflow<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_of(SIGNED_DIVISIONS)?;
    undefined_behaviour(env, config, Ub::DivisionOverflow)
}

/// M, (r = OpConvertFToS τ a, I), c, p is undefined behaviour where τ does not hold M(a), and
/// OpConvertFToU                                           [spirv/conversion-range, SPIR-V §3.3.11]
pub fn conversion_range<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_of(TO_INTEGER)?;
    undefined_behaviour(env, config, Ub::ConversionRange)
}

/// M, (r = Op τ a…, I), c, p is undefined behaviour where r is decorated NoSignedWrap or
/// NoUnsignedWrap and overflows                                        [spirv/wrap, SPIR-V §3.2.20]
pub fn wrap<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_of(WRAPPING)?;
    undefined_behaviour(env, config, Ub::Wrap)
}

/// M, (r = Op τ a…, I), c, p is undefined behaviour where it is so for one value of an undefined
/// operand                               [spirv/undefined-operand, SPIR-V §3.3.1, §3.3.11, §3.3.13]
pub fn undefined_operand<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_of(PARTIAL)?;
    undefined_behaviour(env, config, Ub::UndefinedOperand)
}
