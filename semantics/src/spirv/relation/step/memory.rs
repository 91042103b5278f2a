//! SPIR-V §3.3.8, Memory Instructions.
//!
//! The invocation's own memory is in M. Memory that invocations share is read through the
//! environment and written by the grid. Instructions of other sections (atomics, Modf, Frexp)
//! access memory too and may break the same clauses, so the rules for undefined behaviour also
//! apply to them.
//!
//! There is no rule for an access outside of its object, or for a store to read-only memory. Chains
//! are in bounds, buffers are as long as their blocks, and load refuses modules that could store to
//! read-only memory. Robustness may let a chain go beyond the end of a buffer. An access there
//! touches no memory. A pointer that is chosen at run time may point to nothing, or to read-only
//! memory: [`super::pointer`].

use super::pointer::PTR_CHAINS;
use super::{Action, Actions, Config, Env, Next, Row, atomic, operation_of, row};
use crate::rule::Rule;
use crate::spirv::check::is_image;
use crate::spirv::environment::Robustness;
use crate::spirv::grammar::{Op, alignments};
use crate::spirv::memory::{Pointer, Value};
use crate::spirv::object::{Fault, Operation};
use crate::spirv::report;
use crate::spirv::shared::{Extent, runtime_length};
use crate::spirv::types::Type;
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::Ub;

pub(super) const CHAINS: &[Op] = &[Op::AccessChain, Op::InBoundsAccessChain];
/// The instructions that access memory.
pub(super) const ACCESSES: &[Op] = &{
    let mut ops = [Op::Load; 4 + atomic::OPS.len()];
    (ops[1], ops[2], ops[3]) = (Op::Store, Op::CopyMemory, Op::ExtInst);
    let mut at = 0;
    while at < atomic::OPS.len() {
        ops[4 + at] = atomic::OPS[at];
        at += 1;
    }
    ops
};

pub(super) const RULES: &[Row] = &[
    row(Rule::SpirvVariable, &[Op::Variable], variable),
    row(Rule::SpirvAccessChain, CHAINS, access_chain),
    row(Rule::SpirvAccessChainOutOfBounds, CHAINS, access_chain_out_of_bounds),
    row(Rule::SpirvAccessChainUndefined, &[Op::AccessChain, Op::InBoundsAccessChain, Op::PtrAccessChain], access_chain_undefined),
    row(Rule::SpirvLoad, &[Op::Load], load),
    row(Rule::SpirvStore, &[Op::Store], store),
    row(Rule::SpirvCopyMemory, &[Op::CopyMemory], copy_memory),
    row(Rule::SpirvCopyMemoryOverlapping, &[Op::CopyMemory], copy_memory_overlapping),
    row(Rule::SpirvArrayLength, &[Op::ArrayLength], array_length),
    row(Rule::SpirvMisaligned, ACCESSES, misaligned_access),
];

/// M, (r = OpVariable τ Function (v), I), c, p → M[r ↦ a pointer to what holds M(v), or any value],
/// I, c, p
///                                                              [spirv/variable, SPIR-V §3.3.8]
pub fn variable<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, _) = config.next_if(Op::Variable)?;
    let variable = config.module.variable(head.result)?;
    let mut next = config.defining(head.result, Value::Pointer(Pointer::to(config.module, variable)));
    next.memory.activate(config.module, variable);
    Some(Next::Config(next))
}

/// The result of following an access chain.
pub(super) struct ChainResult<'m> {
    /// The id of the chain's result.
    result: u32,
    /// The ids of its element operand, if it has one, and of its indices.
    indices: &'m [u32],
    at: ChainEnd,
}

enum ChainEnd {
    Pointer(Pointer),
    /// Index `id` has the value `index`, but there are only `count` parts.
    OutOfBounds {
        id: u32,
        index: i64,
        count: u64,
    },
    /// OpPtrAccessChain goes to `element` by its operand `id`, but the array has only
    /// `count` elements.
    Beyond {
        id: u32,
        element: i64,
        count: u64,
    },
    /// The index `id` is undefined.
    Undefined {
        id: u32,
        origin: Origin,
    },
}

impl ChainResult<'_> {
    /// M[r ↦ the pointer], if the chain ends at one.
    pub(super) fn define_pointer<'m>(&self, config: &Config<'m>) -> Option<Next<'m>> {
        let ChainEnd::Pointer(pointer) = self.at else { return None };
        let mut next = config.defining(self.result, Value::Pointer(pointer));
        // A device may have another pointer, so anything may follow.
        for &id in self.indices {
            next.control = next.control.after(config.scalar(id)?.trust);
        }
        Some(Next::Config(next))
    }

    pub(super) fn out_of_bounds<'m>(&self, config: &Config<'m>) -> Option<Next<'m>> {
        let what = match self.at {
            ChainEnd::OutOfBounds { id, index, count } => report::index_out_of_bounds(config.module, config.index(), id, index, count),
            ChainEnd::Beyond { id, element, count } => report::element_out_of_bounds(config.module, config.index(), id, element, count),
            ChainEnd::Pointer(_) | ChainEnd::Undefined { .. } => return None,
        };
        Some(config.undefined(Ub::AccessOutOfBounds, what))
    }
}

/// The value of an index. Indices are signed.
fn index(config: &Config<'_>, id: u32, scalar: Scalar) -> Option<i64> {
    let width = config.module.types().get(config.module.type_of(id)?)?.width()?;
    let unused = 64 - u32::from(width);
    Some(((scalar.bits << unused) as i64) >> unused)
}

/// Follows the next instruction, an access chain. `None` if its base does not point to anything.
pub(super) fn follow<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<ChainResult<'m>> {
    let (head, operands) = config.next_of(CHAINS).or_else(|| config.next_of(PTR_CHAINS))?;
    let indices = &operands[1..];
    let arrival = |at: ChainEnd| Some(ChainResult { result: head.result, indices, at });
    let mut pointer = config.pointer(operands[0])?;
    let mut remaining = indices;
    if head.is(Op::PtrAccessChain) {
        let id = operands[1];
        let scalar = config.scalar(id)?;
        if let Some(origin) = scalar.undefined {
            return arrival(ChainEnd::Undefined { id, origin });
        }
        let element = pointer.element;
        let target = (element.index as i64).saturating_add(index(config, id, scalar)?);
        let is_there = target >= 0 && (target as u64) < element.count;
        let is_past = target >= 0 && target as u64 == element.count && operands.len() == 2;
        if !is_there && !is_past {
            return arrival(ChainEnd::Beyond { id, element: target, count: element.count });
        }
        pointer = pointer.moved(config.module, config.module.type_of(operands[0])?, target as u64);
        remaining = &operands[2..];
    } else if pointer.element.is_past() && !remaining.is_empty() {
        return None;
    }
    for &id in remaining {
        let scalar = config.scalar(id)?;
        if let Some(origin) = scalar.undefined {
            return arrival(ChainEnd::Undefined { id, origin });
        }
        let index = index(config, id, scalar)?;
        let type_ = config.module.types().get(pointer.address.type_)?;
        let to_descriptors = pointer.is_to_descriptors(config.module);
        let count = match type_ {
            _ if to_descriptors => match config.module.types().parts(pointer.address.type_) {
                Some(count) => count,
                None => env.shared.descriptors(config.module, pointer.variable),
            },
            Type::RuntimeArray { .. } if env.shared.robustness() != Robustness::None && index >= 0 => u64::MAX,
            Type::RuntimeArray { .. } => runtime_length(config.module, &pointer.address, env.shared.length(&pointer)?)?,
            _ => config.module.types().parts(pointer.address.type_)?,
        };
        if index < 0 || index as u64 >= count {
            return arrival(ChainEnd::OutOfBounds { id, index, count });
        }
        pointer = match type_ {
            Type::Array { element, .. } | Type::RuntimeArray { element, .. } if to_descriptors => {
                pointer.of_descriptor(element, index as u64, count)?
            }
            Type::Array { .. } | Type::RuntimeArray { .. } => pointer.element(config.module, index as u64, count)?,
            _ => pointer.part(config.module, index as u64)?,
        };
    }
    arrival(ChainEnd::Pointer(pointer))
}

/// M, (r = OpAccessChain τ b i…, I), c, p → M[r ↦ M(b).M(i)…], I, c, p, each M(i) in bounds
/// [spirv/access-chain, SPIR-V §3.3.8]
pub fn access_chain<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_of(CHAINS)?;
    follow(env, config)?.define_pointer(config)
}

/// M, (r = OpAccessChain τ b i…, I), c, p is undefined behaviour where some M(i) is out of bounds
///                                                              [spirv/access-chain-out-of-bounds,
///                                                              SPIR-V §3.3.8]
pub fn access_chain_out_of_bounds<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_of(CHAINS)?;
    follow(env, config)?.out_of_bounds(config)
}

/// M, (r = OpAccessChain τ b i…, I), c, p is undefined behaviour where some M(i) is undefined,
/// and OpPtrAccessChain
///                                                              [spirv/access-chain-undefined,
///                                                              SPIR-V 1.6 revision 7, Poison]
pub fn access_chain_undefined<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let ChainEnd::Undefined { id, origin } = follow(env, config)?.at else { return None };
    let what = report::index_undefined(config.module, config.index(), id, origin);
    Some(config.undefined(Ub::AddressOnUndefined, what))
}

/// The memory that an access touches, or the clause that it breaks. `Ok(None)` for the invocation's
/// own memory. `None` if the pointer does not point into memory.
pub(super) fn reach(
    env: &Env<'_>,
    config: &Config<'_>,
    pointer: &Pointer,
    operation: Operation,
    aligned: u32,
) -> Option<Result<Option<Extent>, Fault>> {
    if pointer.element.is_past() {
        return Some(Err(Fault::PastTheEnd));
    }
    match env.shared.extent(config.module, env.workgroup, pointer, operation, aligned) {
        Some(extent) => Some(extent.map(Some)),
        None if operation != Operation::Load && !pointer.writable => Some(Err(Fault::ReadOnly { offset: pointer.address.offset })),
        None => Some(Ok(None)),
    }
}

/// Loads the scalars that an access touches.
fn scalars_at(env: &Env<'_>, config: &Config<'_>, pointer: &Pointer, extent: &Option<Extent>) -> Option<Scalars> {
    match extent {
        None => config.memory.load_own(config.module, pointer, config.index(), env.invocation),
        Some(extent) => Some(env.shared.load(config.module, extent, pointer.address.type_, config.index(), env.invocation)),
    }
}

fn with_actions<'m>(next: Config<'m>, actions: Actions) -> Next<'m> {
    if actions.is_empty() { Next::Config(next) } else { Next::Acts(next, actions) }
}

/// M, (r = OpLoad τ a, I), c, p → M[r ↦ M(M(a))], I, c, p        [spirv/load, SPIR-V §3.3.8]
pub fn load<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::Load)?;
    let pointer = config.pointer(operands[0])?;
    if config.module.pointer_type(head.result_type).is_some() {
        let mut next = config.advanced(1);
        next.memory.share(config.module, head.result, config.memory.held(pointer.variable, config.index(), env.invocation));
        return Some(Next::Config(next));
    }
    let extent = reach(env, config, &pointer, Operation::Load, alignments(&operands[1..])[0])?.ok()?;
    let scalars = scalars_at(env, config, &pointer, &extent)?;
    let next = config.defining(head.result, Value::Scalars(scalars));
    Some(with_actions(next, extent.into_iter().map(Action::Load).collect()))
}

/// M, (OpStore a v, I), c, p → M[M(a) ↦ M(v)], I, c, p           [spirv/store, SPIR-V §3.3.8]
pub fn store<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::Store)?;
    let pointer = config.pointer(operands[0])?;
    if config.module.pointer_type(config.module.type_of(operands[1])?).is_some() {
        let mut next = config.advanced(1);
        next.memory.hold(pointer.variable, config.memory.value(config.module, operands[1])?);
        return Some(Next::Config(next));
    }
    let extent = reach(env, config, &pointer, Operation::Store, alignments(&operands[2..])[0])?.ok()?;
    let mut scalars = config.scalars(operands[1])?;
    config.control.mark_scalars(&mut scalars);
    Some(after_store(config.advanced(1), &pointer, extent, scalars, Actions::new()))
}

/// The configuration after a store: into M, or as an action after `actions`. Helper invocations
/// write nothing to shared memory.
fn after_store<'m>(mut next: Config<'m>, pointer: &Pointer, extent: Option<Extent>, scalars: Scalars, mut actions: Actions) -> Next<'m> {
    match extent {
        None => next.memory.store_own(pointer, &scalars),
        Some(extent) if !next.helper => actions.push(Action::Store(extent, scalars)),
        Some(_) => {}
    }
    with_actions(next, actions)
}

/// The pointers of target and source of OpCopyMemory, with the memory that each touches.
type CopyOperands = [(Pointer, Option<Extent>); 2];

fn copy_operands(env: &Env<'_>, config: &Config<'_>) -> Option<Result<CopyOperands, Fault>> {
    let (_, operands) = config.next_if(Op::CopyMemory)?;
    let [target, source] = [config.pointer(operands[0])?, config.pointer(operands[1])?];
    let [to, from] = alignments(&operands[2..]);
    let source_extent = reach(env, config, &source, Operation::Load, from)?;
    let target_extent = reach(env, config, &target, Operation::Store, to)?;
    Some(source_extent.and_then(|from| target_extent.map(|to| [(target, to), (source, from)])))
}

/// Whether target and source overlap without being equal.
fn overlaps(config: &Config<'_>, [(target, to), (source, from)]: &CopyOperands) -> bool {
    match (to, from) {
        (Some(to), Some(from)) => to.cells != from.cells && to.overlaps(from),
        (None, None) if target.variable == source.variable => {
            let count = |p: &Pointer| config.module.types().scalars(p.address.type_);
            let (a, b) = (target.address.offset, source.address.offset);
            a != b && a < b + count(source) && b < a + count(target)
        }
        _ => false,
    }
}

/// M, (OpCopyMemory a b, I), c, p → M[M(a) ↦ M(M(b))], I, c, p   [spirv/copy-memory, SPIR-V §3.3.8]
pub fn copy_memory<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let copied = copy_operands(env, config)?.ok()?;
    if overlaps(config, &copied) {
        return None;
    }
    let [(target, to), (source, from)] = copied;
    let mut scalars = scalars_at(env, config, &source, &from)?;
    config.control.mark_scalars(&mut scalars);
    let actions = from.into_iter().map(Action::Load).collect();
    Some(after_store(config.advanced(1), &target, to, scalars, actions))
}

/// M, (OpCopyMemory a b, I), c, p is undefined behaviour where M(a) and M(b) overlap in part
///                                                   [spirv/copy-memory-overlapping, SPIR-V §3.3.8]
pub fn copy_memory_overlapping<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let copied = copy_operands(env, config)?.ok()?;
    let what = || report::overlapping_copy(config.module, config.index());
    overlaps(config, &copied).then(|| config.undefined(Ub::OverlappingCopy, what()))
}

/// M, (r = OpArrayLength τ a m, I), c, p → M[r ↦ how many elements member m of M(M(a)) has], I, c,
/// p
///                                                              [spirv/array-length, SPIR-V §3.3.8]
pub fn array_length<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::ArrayLength)?;
    let pointer = config.pointer(operands[0])?.part(config.module, operands[1].into())?;
    let length = runtime_length(config.module, &pointer.address, env.shared.length(&pointer)?)?;
    let scalar = Scalar { bits: length, trust: crate::number::Trust::CERTAIN, undefined: None };
    Some(Next::Config(config.defining(head.result, Value::Scalars(Scalars::from_slice(&[scalar])))))
}

/// The ids of the operands through which an instruction accesses buffers, other memory or images.
pub(in crate::spirv) fn accessed<'m>(config: &Config<'m>) -> Option<&'m [u32]> {
    let head = config.head()?;
    let operands = config.operands(head);
    let count = match head.op {
        // These only name a descriptor.
        Op::Load if config.module.types().get(head.result_type)?.is_opaque() => return None,
        Op::SampledImage | Op::Image => return None,
        Op::ExtInst if config.module.is_non_semantic(head) => return None,
        Op::ExtInst => {
            let position = 2 + operation_of(head, operands)?.signature.written_through()?;
            return operands.get(position..=position);
        }
        Op::CopyMemory => 2,
        op if ACCESSES.contains(&op) || is_image(op) => 1,
        _ => return None,
    };
    operands.get(..count)
}

/// The clause that the next instruction breaks by an access, with the operation and the id of the
/// pointer. `None` if it breaks none.
pub(super) fn fault(env: &Env<'_>, config: &Config<'_>) -> Option<(Fault, Operation, u32)> {
    let (head, operands) = config.next_of(ACCESSES)?;
    let fault_of_access = |id: u32, operation: Operation, aligned: u32| {
        let access = reach(env, config, &config.pointer(id)?, operation, aligned)?;
        access.err().map(|fault| (fault, operation, id))
    };
    match head.op {
        Op::Load => fault_of_access(operands[0], Operation::Load, alignments(&operands[1..])[0]),
        Op::Store => fault_of_access(operands[0], Operation::Store, alignments(&operands[2..])[0]),
        Op::CopyMemory => {
            let [to, from] = alignments(&operands[2..]);
            fault_of_access(operands[1], Operation::Load, from).or_else(|| fault_of_access(operands[0], Operation::Store, to))
        }
        Op::ExtInst if config.module.is_non_semantic(head) => None,
        Op::ExtInst => {
            let position = operation_of(head, operands)?.signature.written_through()?;
            fault_of_access(*operands.get(2 + position)?, Operation::Store, 1)
        }
        Op::AtomicLoad => fault_of_access(operands[0], Operation::Load, 1),
        _ => fault_of_access(operands[0], Operation::Atomic, 1),
    }
}

fn faulty_access<'m>(config: &Config<'m>, ub: Ub, fault: &Fault, pointer: u32) -> Next<'m> {
    config.undefined(ub, report::access(config.module, config.index(), pointer, fault))
}

/// M, (r = OpLoad τ a, I), c, p is undefined behaviour where M(a) is no multiple of its alignment,
/// and whatever else accesses memory                      [spirv/misaligned-access, SPIR-V §3.2.27]
pub fn misaligned_access<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    match fault(env, config)? {
        (fault @ Fault::Misaligned { .. }, _, id) => Some(faulty_access(config, Ub::Misaligned, &fault, id)),
        _ => None,
    }
}
