//! SPIR-V §3.3.20, Barrier Instructions, from the view of one invocation: it arrives. A rule of
//! the grid lets all invocations leave together.

use super::{Action, Arrived, Config, Env, Next, Row, atomic, row};
use crate::concurrency::Scope;
use crate::rule::Rule;
use crate::spirv::grammar::Op;

pub(super) const RULES: &[Row] = &[
    row(Rule::SpirvMemoryBarrier, &[Op::MemoryBarrier], memory_barrier),
    row(Rule::SpirvControlBarrier, &[Op::ControlBarrier], control_barrier),
];

/// M, (OpMemoryBarrier s m, I), c, p → M, I, c, p, ordering what is before and after
/// [spirv/memory-barrier, SPIR-V §3.3.20]
pub fn memory_barrier<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::MemoryBarrier)?;
    let (scope, semantics) = atomic::ordering(config, operands[0], operands[1])?;
    Some(Next::Acts(config.advanced(1), vec![Action::Fence { scope, semantics }]))
}

/// M, (OpControlBarrier e s m, I), c, p → M, I, c, p once all invocations of the scope e have
/// arrived
///                                                              [spirv/control-barrier, SPIR-V
///                                                              §3.3.20]
pub fn control_barrier<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::ControlBarrier)?;
    let (memory, semantics) = atomic::ordering(config, operands[1], operands[2])?;
    let execution = Scope::decode(config.scalar(operands[0])?.bits as u32).ok()?;
    Some(Next::Waits(config.advanced(1), Arrived { instruction: config.index(), execution, memory, semantics }))
}
