//! SPIR-V §3.3.8, Memory Instructions: variable pointers, which are chosen at run time, and
//! arithmetic on them.
//!
//! A pointer points to an element of the array that an access chain indexed last, or to a single
//! object. A pointer one past the end of an array may only be compared, or moved back. A null or
//! undefined pointer points to nothing.

use super::memory::{ACCESSES, CHAINS, fault, follow};
use super::{Config, Env, Next, Row, row};
use crate::number::{Trust, Why};
use crate::rule::Rule;
use crate::spirv::grammar::Op;
use crate::spirv::memory::{Pointer, Value, exact};
use crate::spirv::object::Fault;
use crate::spirv::report::{self, Nothing};
use crate::spirv::shared::ObjectId;
use crate::spirv::types::Type;
use crate::spirv::value::{Scalar, Scalars};
use crate::undefined::Ub;

/// The instructions that move a pointer from one element of an array to another.
pub(super) const PTR_CHAINS: &[Op] = &[Op::PtrAccessChain];
const EQUALITIES: &[Op] = &[Op::PtrEqual, Op::PtrNotEqual];
/// The instructions that need a pointer to an object.
const FOLLOWING: &[Op] = &{
    let mut ops = [Op::PtrAccessChain; 1 + CHAINS.len() + ACCESSES.len()];
    let mut at = 0;
    while at < CHAINS.len() {
        ops[1 + at] = CHAINS[at];
        at += 1;
    }
    while at < CHAINS.len() + ACCESSES.len() {
        ops[1 + at] = ACCESSES[at - CHAINS.len()];
        at += 1;
    }
    ops
};

pub(super) const RULES: &[Row] = &[
    row(Rule::SpirvPtrAccessChain, PTR_CHAINS, ptr_access_chain),
    row(Rule::SpirvPtrAccessChainOutOfBounds, PTR_CHAINS, ptr_access_chain_out_of_bounds),
    row(Rule::SpirvPtrEqual, EQUALITIES, ptr_equal),
    row(Rule::SpirvPtrDiff, &[Op::PtrDiff], ptr_diff),
    row(Rule::SpirvPtrDiffApart, &[Op::PtrDiff], ptr_diff_apart),
    row(Rule::SpirvSelectPointer, &[Op::Select], select_pointer),
    row(Rule::SpirvPointerToNothing, FOLLOWING, pointer_to_nothing),
    row(Rule::SpirvStoreReadOnly, ACCESSES, store_read_only),
];

/// M, (r = OpPtrAccessChain τ b e i…, I), c, p → M[r ↦ (M(b) + M(e)).M(i)…], I, c, p, M(b) + M(e)
/// an element of the array of M(b) or, without i…, one past its end
///                                                          [spirv/ptr-access-chain, SPIR-V §3.3.8]
pub fn ptr_access_chain<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_of(PTR_CHAINS)?;
    follow(env, config)?.define_pointer(config)
}

/// M, (r = OpPtrAccessChain τ b e i…, I), c, p is undefined behaviour where M(b) + M(e) is no
/// element of the array of M(b), nor one past its end, or some M(i) is out of bounds
///                                            [spirv/ptr-access-chain-out-of-bounds, SPIR-V §3.3.8]
pub fn ptr_access_chain_out_of_bounds<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_of(PTR_CHAINS)?;
    follow(env, config)?.out_of_bounds(config)
}

fn value(config: &Config<'_>, id: u32) -> Option<Value> {
    config.memory.value(config.module, id).map(|value| value.as_ref().clone())
}

/// The object behind a pointer.
fn object(env: &Env<'_>, pointer: &Pointer) -> Option<ObjectId> {
    env.shared.object_of(env.workgroup, pointer)
}

/// Whether two pointers are equal, and whether every device agrees. The device chooses whether
/// a pointer one past the end of an array equals a pointer to memory without layout, or to
/// other memory.
fn compare(env: &Env<'_>, a: &Pointer, b: &Pointer) -> Option<(bool, Trust)> {
    let (object_of_a, object_of_b) = (object(env, a)?, object(env, b)?);
    let of_one_array = object_of_a == object_of_b && (a.explicit || a.element.first == b.element.first);
    let open = !of_one_array && a.element.is_past() != b.element.is_past();
    let is_same = object_of_a == object_of_b && a.address.offset == b.address.offset && !open;
    let trust = if open { Trust::CERTAIN.in_doubt(Why::Domain) } else { Trust::CERTAIN };
    Some((is_same, trust))
}

/// M, (r = OpPtrEqual τ a b, I), c, p → M[r ↦ M(a) = M(b)], I, c, p, and OpPtrNotEqual
///                                                                 [spirv/ptr-equal, SPIR-V §3.3.8]
pub fn ptr_equal<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_of(EQUALITIES)?;
    let scalar = match (value(config, operands[0])?, value(config, operands[1])?) {
        (Value::Nowhere(Some(origin)), _) | (_, Value::Nowhere(Some(origin))) => Scalar::undefined(origin),
        (Value::Pointer(a), Value::Pointer(b)) => {
            let (is_same, trust) = compare(env, &a, &b)?;
            Scalar { trust, ..exact(Type::Bool, u64::from(is_same == head.is(Op::PtrEqual))) }
        }
        (a, b) => exact(Type::Bool, u64::from((a == b) == head.is(Op::PtrEqual))),
    };
    Some(Next::Config(config.defining(head.result, Value::Scalars(Scalars::from_slice(&[scalar])))))
}

/// The number of elements from the second pointer to the first. The inner `None` means that they
/// are not pointers into one array.
fn difference(env: &Env<'_>, config: &Config<'_>) -> Option<Option<i64>> {
    let (_, operands) = config.next_of(&[Op::PtrDiff])?;
    let (a, b) = (value(config, operands[0])?, value(config, operands[1])?);
    let (Value::Pointer(a), Value::Pointer(b)) = (a, b) else { return Some(None) };
    let array = |pointer: &Pointer| Some((object(env, pointer)?, pointer.element.first, pointer.element.count));
    if array(&a)? != array(&b)? {
        return Some(None);
    }
    Some(Some((a.element.index as i64).wrapping_sub(b.element.index as i64)))
}

/// M, (r = OpPtrDiff τ a b, I), c, p → M[r ↦ M(a) - M(b) in elements], I, c, p, both of one array
///                                                                  [spirv/ptr-diff, SPIR-V §3.3.8]
pub fn ptr_diff<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let difference = difference(env, config)??;
    let (head, _) = config.next_of(&[Op::PtrDiff])?;
    let type_ = config.module.types().get(head.result_type)?;
    let bits = difference as u64 & u64::MAX >> (64 - u32::from(type_.width()?));
    Some(Next::Config(config.defining(head.result, Value::Scalars(Scalars::from_slice(&[exact(type_, bits)])))))
}

/// M, (r = OpPtrDiff τ a b, I), c, p is undefined behaviour where M(a) and M(b) are not of one
/// array
///                                                            [spirv/ptr-diff-apart, SPIR-V §3.3.8]
pub fn ptr_diff_apart<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    if difference(env, config)?.is_some() {
        return None;
    }
    Some(config.undefined(Ub::PointersApart, report::pointers_apart(config.module, config.index())))
}

/// M, (r = OpSelect τ x a b, I), c, p → M[r ↦ M(a)], I, c, p where M(x) holds, and otherwise M(b),
/// of pointers
///                                                           [spirv/select-pointer, SPIR-V §3.3.15]
pub fn select_pointer<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::Select)?;
    config.module.pointer_type(head.result_type)?;
    let condition = config.scalar(operands[0])?;
    let selected = match condition.undefined {
        Some(origin) => Value::Nowhere(Some(origin)),
        None => value(config, operands[if condition.is_true() { 1 } else { 2 }])?,
    };
    let mut next = config.defining(head.result, selected);
    // A device may have the other pointer, so anything may follow.
    next.control = next.control.after(condition.trust);
    Some(Next::Config(next))
}

/// Why M(id) does not point to anything, if so. `past_too` includes a pointer one past the end.
fn points_to_nothing(config: &Config<'_>, id: u32, past_too: bool) -> Option<Nothing> {
    match value(config, id)? {
        Value::Nowhere(None) => Some(Nothing::Null),
        Value::Nowhere(Some(origin)) => Some(Nothing::Undefined(origin)),
        Value::Pointer(pointer) if past_too && pointer.element.is_past() => Some(Nothing::PastTheEnd(pointer.element.count)),
        _ => None,
    }
}

/// M, (r = OpLoad τ a, I), c, p is undefined behaviour where M(a) is null, undefined or one past
/// the end of an array, and whatever else accesses memory or a part of it
///                                                        [spirv/pointer-to-nothing, SPIR-V §3.3.8]
pub fn pointer_to_nothing<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_of(FOLLOWING)?;
    let past_too = match head.op {
        Op::PtrAccessChain => false,
        Op::AccessChain | Op::InBoundsAccessChain => operands.len() > 1,
        _ => true,
    };
    let pointers = match head.op {
        // The source is checked first.
        Op::CopyMemory => &[operands[1], operands[0]][..],
        Op::ExtInst => operands.get(operands.len().checked_sub(1)?..)?,
        _ => &operands[..1],
    };
    let (id, why) = pointers.iter().find_map(|&id| Some((id, points_to_nothing(config, id, past_too)?)))?;
    let what = report::pointer_to_nothing(config.module, config.index(), id, why);
    Some(config.undefined(Ub::PointerToNothing, what))
}

/// M, (OpStore a v, I), c, p is undefined behaviour where M(a) is NonWritable, and whatever else
/// writes                                                 [spirv/store-read-only, SPIR-V §3.2.20]
pub fn store_read_only<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    match fault(env, config)? {
        (fault @ Fault::ReadOnly { .. }, _, id) => {
            Some(config.undefined(Ub::StoreReadOnly, report::access(config.module, config.index(), id, &fault)))
        }
        _ => None,
    }
}
