//! SPIR-V §3.3.18, Atomic Instructions. Read, computation and write are one step. The grid orders
//! these steps.

use rspirv::spirv::GlslStd450Op as Glsl;

use super::{Action, Config, Env, Next, Row, memory, row};
use crate::concurrency::{AtomicOp, Scope, Semantics};
use crate::number::{Trust, Why};
use crate::rule::Rule;
use crate::spirv::grammar::Op;
use crate::spirv::memory::Value;
use crate::spirv::object::Operation;
use crate::spirv::operation::{self, Shape};
use crate::spirv::operation::{Occurrence, Operand};
use crate::spirv::shared::Extent;
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::Unspecified;

/// The atomic instructions.
pub(super) const OPS: &[Op] = &[
    Op::AtomicLoad,
    Op::AtomicStore,
    Op::AtomicCompareExchange,
    Op::AtomicExchange,
    Op::AtomicIIncrement,
    Op::AtomicIDecrement,
    Op::AtomicIAdd,
    Op::AtomicISub,
    Op::AtomicSMin,
    Op::AtomicUMin,
    Op::AtomicSMax,
    Op::AtomicUMax,
    Op::AtomicAnd,
    Op::AtomicOr,
    Op::AtomicXor,
];

const MODIFYING: &[Op] = &[
    Op::AtomicIIncrement,
    Op::AtomicIDecrement,
    Op::AtomicIAdd,
    Op::AtomicISub,
    Op::AtomicSMin,
    Op::AtomicUMin,
    Op::AtomicSMax,
    Op::AtomicUMax,
    Op::AtomicAnd,
    Op::AtomicOr,
    Op::AtomicXor,
];

pub(super) const RULES: &[Row] = &[
    row(Rule::SpirvAtomicLoad, &[Op::AtomicLoad], atomic_load),
    row(Rule::SpirvAtomicStore, &[Op::AtomicStore], atomic_store),
    row(Rule::SpirvAtomicExchange, &[Op::AtomicExchange], atomic_exchange),
    row(Rule::SpirvAtomicModify, MODIFYING, atomic_modify),
    row(Rule::SpirvAtomicCompareExchangeEqual, &[Op::AtomicCompareExchange], atomic_compare_exchange_equal),
    row(Rule::SpirvAtomicCompareExchangeUnequal, &[Op::AtomicCompareExchange], atomic_compare_exchange_unequal),
    row(Rule::SpirvAtomicCompareExchangeUndefined, &[Op::AtomicCompareExchange], atomic_compare_exchange_undefined),
];

/// An atomic access that is being executed.
struct Atomic {
    extent: Extent,
    scope: Scope,
    semantics: Semantics,
    /// The value before the access.
    old: Scalar,
}

/// The scope and the memory semantics of two ids.
pub(super) fn ordering(config: &Config<'_>, scope: u32, semantics: u32) -> Option<(Scope, Semantics)> {
    let word = |id: u32| config.scalar(id).filter(|s| s.undefined.is_none()).map(|s| s.bits as u32);
    Some((Scope::decode(word(scope)?).ok()?, Semantics::decode(word(semantics)?).ok()?))
}

/// The access of the next instruction, whose first operands are a pointer and a scope. `None` if
/// the access is undefined behaviour.
fn access_of(env: &Env<'_>, config: &Config<'_>, operands: &[u32], semantics: u32, operation: Operation) -> Option<Atomic> {
    let pointer = config.pointer(operands[0])?;
    let extent = memory::reach(env, config, &pointer, operation, 1)?.ok()??;
    let (scope, semantics) = ordering(config, operands[1], semantics)?;
    let mut old = *env.shared.load(config.module, &extent, pointer.address.type_, config.index(), env.invocation).first()?;
    if config.helper {
        let (kind, invocation) = (Unspecified::HelperResult, env.invocation);
        old = Scalar::undefined(Origin { kind, instruction: config.index(), invocation });
    } else if extent.cells.is_empty() {
        // Robustness does not define the result of an atomic out of bounds.
        old.trust = old.trust.in_doubt(Why::Domain);
    }
    Some(Atomic { extent, scope, semantics, old })
}

impl Atomic {
    /// The configuration after the access, where r is the value before it, and the action.
    fn into_next<'m>(self, config: &Config<'m>, op: AtomicOp, store: Option<Scalar>) -> Next<'m> {
        let Atomic { extent, scope, semantics, old } = self;
        let next = match config.head().map_or(0, |i| i.result) {
            0 => config.advanced(1),
            r => config.defining(r, Value::Scalars(Scalars::from_slice(&[old]))),
        };
        if config.helper && op != AtomicOp::Load {
            return Next::Config(next);
        }
        let store = store.map(|mut scalar| {
            config.control.mark_scalars(std::slice::from_mut(&mut scalar));
            scalar
        });
        Next::Acts(next, vec![Action::Atomic { extent, op, scope, semantics, store }])
    }
}

/// M, (r = OpAtomicLoad τ a s m, I), c, p → M[r ↦ M(M(a))], I, c,
/// p [spirv/atomic-load, SPIR-V §3.3.18]
pub fn atomic_load<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::AtomicLoad)?;
    Some(access_of(env, config, operands, operands[2], Operation::Load)?.into_next(config, AtomicOp::Load, None))
}

/// M, (OpAtomicStore a s m v, I), c, p → M[M(a) ↦ M(v)], I, c,
/// p [spirv/atomic-store, SPIR-V §3.3.18]
pub fn atomic_store<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::AtomicStore)?;
    let value = config.scalar(operands[3])?;
    Some(access_of(env, config, operands, operands[2], Operation::Atomic)?.into_next(config, AtomicOp::Store, Some(value)))
}

/// M, (r = OpAtomicExchange τ a s m v, I), c, p → M[r ↦ M(M(a)), M(a) ↦ M(v)], I, c, p
/// [spirv/atomic-exchange, SPIR-V §3.3.18]
pub fn atomic_exchange<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::AtomicExchange)?;
    let value = config.scalar(operands[3])?;
    Some(access_of(env, config, operands, operands[2], Operation::Atomic)?.into_next(config, AtomicOp::ReadModifyWrite, Some(value)))
}

/// The operation that an atomic instruction applies to the value before it and its operand.
fn modification(op: Op) -> Option<operation::Operation> {
    match op {
        Op::AtomicIIncrement | Op::AtomicIAdd => operation::core(Op::IAdd),
        Op::AtomicIDecrement | Op::AtomicISub => operation::core(Op::ISub),
        Op::AtomicAnd => operation::core(Op::BitwiseAnd),
        Op::AtomicOr => operation::core(Op::BitwiseOr),
        Op::AtomicXor => operation::core(Op::BitwiseXor),
        Op::AtomicSMin => operation::glsl(Glsl::SMin as u32),
        Op::AtomicUMin => operation::glsl(Glsl::UMin as u32),
        Op::AtomicSMax => operation::glsl(Glsl::SMax as u32),
        Op::AtomicUMax => operation::glsl(Glsl::UMax as u32),
        _ => None,
    }
}

/// M, (r = OpAtomicOp τ a s m (v), I), c, p → M[r ↦ M(M(a)), M(a) ↦ op(M(M(a)), M(v))], I, c, p,
/// with v = 1 for increment and decrement
///                                                              [spirv/atomic-modify, SPIR-V
///                                                              §3.3.18]
pub fn atomic_modify<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_of(MODIFYING)?;
    let operand = match head.op {
        Op::AtomicIIncrement | Op::AtomicIDecrement => Scalar { bits: 1, trust: Trust::CERTAIN, undefined: None },
        _ => config.scalar(operands[3])?,
    };
    let atomic = access_of(env, config, operands, operands[2], Operation::Atomic)?;
    let shape: Shape = config.module.shape(head.result);
    let [old, operand] = [[atomic.old], [operand]];
    let args = [Operand { shape, scalars: &old }, Operand { shape, scalars: &operand }];
    let occurrence = Occurrence { instruction: config.index(), invocation: env.invocation, ..Occurrence::default() };
    let new = *env.calculator.compute(modification(head.op)?, &args, &[shape], occurrence).ok()?.first()?;
    Some(atomic.into_next(config, AtomicOp::ReadModifyWrite, Some(new)))
}

/// The access of OpAtomicCompareExchange, the value that it stores if equal, and the comparator.
fn compare_exchange_operands(env: &Env<'_>, config: &Config<'_>, semantics: usize) -> Option<(Atomic, Scalar, Scalar)> {
    let (_, operands) = config.next_if(Op::AtomicCompareExchange)?;
    let (value, comparator) = (config.scalar(operands[4])?, config.scalar(operands[5])?);
    Some((access_of(env, config, operands, operands[semantics], Operation::Atomic)?, value, comparator))
}

/// M(M(a)) = M(w) gives M, (r = OpAtomicCompareExchange τ a s m n v w, I), c, p → M[r ↦ M(M(a)),
/// M(a) ↦ M(v)], I, c, p, with the semantics m
///                                            [spirv/atomic-compare-exchange-equal, SPIR-V §3.3.18]
pub fn atomic_compare_exchange_equal<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (atomic, value, comparator) = compare_exchange_operands(env, config, 2)?;
    if atomic.old.undefined.or(comparator.undefined).is_some() || atomic.old.bits != comparator.bits {
        return None;
    }
    let trust = value.trust.controlled_by(atomic.old.trust).controlled_by(comparator.trust);
    Some(atomic.into_next(config, AtomicOp::ReadModifyWrite, Some(Scalar { trust, ..value })))
}

/// M(M(a)) ≠ M(w) gives M, (r = OpAtomicCompareExchange τ a s m n v w, I), c, p → M[r ↦ M(M(a))],
/// I, c, p, with the semantics n            [spirv/atomic-compare-exchange-unequal, SPIR-V §3.3.18]
pub fn atomic_compare_exchange_unequal<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (atomic, _, comparator) = compare_exchange_operands(env, config, 3)?;
    if atomic.old.undefined.or(comparator.undefined).is_some() || atomic.old.bits == comparator.bits {
        return None;
    }
    Some(atomic.into_next(config, AtomicOp::Load, None))
}

/// M(M(a)) or M(w) undefined gives M, (r = OpAtomicCompareExchange τ a s m n v w, I), c, p → M[r ↦
/// M(M(a)), M(a) ↦ any value], I, c, p
///                                [spirv/atomic-compare-exchange-undefined, SPIR-V §3.3.18, §3.3.1]
pub fn atomic_compare_exchange_undefined<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (atomic, _, comparator) = compare_exchange_operands(env, config, 2)?;
    let origin = atomic.old.undefined.or(comparator.undefined)?;
    Some(atomic.into_next(config, AtomicOp::ReadModifyWrite, Some(Scalar::undefined(origin))))
}
