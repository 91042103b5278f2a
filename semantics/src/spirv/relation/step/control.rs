//! SPIR-V §3.3.17, Control-Flow Instructions: branches, phis, the end of invocations. Calls and
//! returns are in [`super::function`].

use std::rc::Rc;

use smallvec::SmallVec;

use super::{Config, Env, Next, Row, row};
use crate::rule::Rule;
use crate::spirv::grammar::Op;
use crate::spirv::memory::Value;
use crate::spirv::report;
use crate::spirv::types::Type;
use crate::spirv::value::{Scalar, Scalars};
use crate::spirv::words::Instruction;
use crate::undefined::Ub;

pub(super) const RULES: &[Row] = &[
    row(Rule::SpirvBranch, &[Op::Branch], branch),
    row(Rule::SpirvBranchConditionalTrue, &[Op::BranchConditional], branch_conditional_true),
    row(Rule::SpirvBranchConditionalFalse, &[Op::BranchConditional], branch_conditional_false),
    row(Rule::SpirvBranchConditionalUndefined, &[Op::BranchConditional], branch_conditional_undefined),
    row(Rule::SpirvSwitchCase, &[Op::Switch], switch_case),
    row(Rule::SpirvSwitchDefault, &[Op::Switch], switch_default),
    row(Rule::SpirvSwitchUndefined, &[Op::Switch], switch_undefined),
    row(Rule::SpirvPhi, &[Op::Phi], phi),
    row(Rule::SpirvKill, &[Op::Kill], kill),
    row(Rule::SpirvTerminateInvocation, &[Op::TerminateInvocation], terminate_invocation),
    row(Rule::SpirvDemote, &[Op::DemoteToHelperInvocation], demote),
    row(Rule::SpirvIsHelper, &[Op::IsHelperInvocationEXT], is_helper),
    row(Rule::SpirvUnreachable, &[Op::Unreachable], unreachable),
];

/// M, (OpBranch t), c, p → M, M(t), t, c                       [spirv/branch, 000 §3.1; LV-1]
pub fn branch<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::Branch)?;
    config.entering(operands[0]).map(Next::Config)
}

fn branch_conditional<'m>(config: &Config<'m>, taken: bool) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::BranchConditional)?;
    let condition = config.scalar(operands[0])?;
    if condition.undefined.is_some() || condition.is_true() != taken {
        return None;
    }
    let mut next = config.entering(operands[if taken { 1 } else { 2 }])?;
    next.control = next.control.after(condition.trust);
    Some(Next::Config(next))
}

/// M(x) = true gives M, (OpBranchConditional x t f), c, p → M, M(t), t, c
///                                                        [spirv/branch-conditional-true, 000 §3.1]
pub fn branch_conditional_true<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    branch_conditional(config, true)
}

/// M(x) = false gives M, (OpBranchConditional x t f), c, p → M, M(f), f, c
///                                                       [spirv/branch-conditional-false, 000 §3.1]
pub fn branch_conditional_false<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    branch_conditional(config, false)
}

fn branch_on_undefined<'m>(config: &Config<'m>, x: u32) -> Option<Next<'m>> {
    let origin = config.scalar(x)?.undefined?;
    Some(config.undefined(Ub::BranchOnUndefined, report::branch_on_undefined(config.module, config.index(), origin)))
}

/// M, (OpBranchConditional x t f), c, p is undefined behaviour where M(x) is undefined
///                              [spirv/branch-conditional-undefined, SPIR-V 1.6 revision 7, Poison]
pub fn branch_conditional_undefined<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::BranchConditional)?;
    branch_on_undefined(config, operands[0])
}

/// The target of OpSwitch for its selector, if that is one of the cases, and the selector.
fn switch_target(config: &Config<'_>) -> Option<(Option<u32>, Scalar)> {
    let (_, operands) = config.next_if(Op::Switch)?;
    let selector = config.scalar(operands[0]).filter(|s| s.undefined.is_none())?;
    let width = config.module.type_of(operands[0]).and_then(|t| config.module.types().get(t)).and_then(Type::width)?;
    // Literals narrower than a word are sign-extended if the type is signed. Only the low bits of
    // literal and selector are compared.
    let mask = u64::MAX >> (64 - u32::from(width));
    let case = if width > 32 { 3 } else { 2 };
    let target = operands[2..].chunks_exact(case).find(|case| {
        let high = if case.len() == 3 { u64::from(case[1]) << 32 } else { 0 };
        (u64::from(case[0]) | high) & mask == selector.bits
    });
    Some((target.map(|case| case[case.len() - 1]), selector))
}

/// M(x) = n_i gives M, (OpSwitch x d n_1 t_1 …), c, p → M, M(t_i), t_i, c
///                                                              [spirv/switch-case, SPIR-V §3.3.17]
pub fn switch_case<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (Some(target), selector) = switch_target(config)? else { return None };
    let mut next = config.entering(target)?;
    next.control = next.control.after(selector.trust);
    Some(Next::Config(next))
}

/// M(x) no n_i gives M, (OpSwitch x d n_1 t_1 …), c, p → M, M(d), d, c
///                                                           [spirv/switch-default, SPIR-V §3.3.17]
pub fn switch_default<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (None, selector) = switch_target(config)? else { return None };
    let (_, operands) = config.next_if(Op::Switch)?;
    let mut next = config.entering(operands[1])?;
    next.control = next.control.after(selector.trust);
    Some(Next::Config(next))
}

/// M, (OpSwitch x …), c, p is undefined behaviour where M(x) is undefined
///                                          [spirv/switch-undefined, SPIR-V 1.6 revision 7, Poison]
pub fn switch_undefined<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::Switch)?;
    branch_on_undefined(config, operands[0])
}

/// The number of instructions up to the last OpPhi at the start of a block, including lines
/// between them.
pub(in crate::spirv) fn phi_group(code: &[Instruction]) -> usize {
    let group = code.iter().take_while(|i| matches!(i.op, Op::Phi | Op::Line | Op::NoLine)).count();
    code[..group].iter().rposition(|i| i.is(Op::Phi)).map_or(0, |last| last + 1)
}

/// p = parent_i(r) gives M, (r = OpPhi τ var_1 parent_1 …, I), c, p → M[r ↦ M(var_i(r)) for all r
/// together], I, c, p                                             [spirv/phi, 000 §3.1; LV-1, LV-2]
pub fn phi<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_if(Op::Phi)?;
    let group = phi_group(config.code);
    let mut values: SmallVec<[(u32, Rc<Value>); 4]> = SmallVec::new();
    for i in config.code[..group].iter().filter(|i| i.is(Op::Phi)) {
        let pair = config.operands(i).chunks_exact(2).find(|pair| pair[1] == config.p)?;
        values.push((i.result, config.memory.value(config.module, pair[0])?));
    }
    let mut next = config.advanced(group);
    for (r, value) in values {
        next.define(r, value.as_ref().clone());
    }
    Some(Next::Config(next))
}

/// M, (OpKill), c, p discards the invocation                     [spirv/kill, SPIR-V §3.3.17]
pub fn kill<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_if(Op::Kill)?;
    Some(Next::Discards(config.clone()))
}

/// M, (OpTerminateInvocation), c, p discards
/// the invocation [spirv/terminate-invocation, SPV_KHR_terminate_invocation]
pub fn terminate_invocation<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_if(Op::TerminateInvocation)?;
    Some(Next::Discards(config.clone()))
}

/// M, (OpDemoteToHelperInvocation, I), c, p → M, I, c, p as a helper invocation
///                                                              [spirv/demote,
///                                                             SPV_EXT_demote_to_helper_invocation]
pub fn demote<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_if(Op::DemoteToHelperInvocation)?;
    Some(Next::Config(Config { helper: true, ..config.advanced(1) }))
}

/// M, (r = OpIsHelperInvocationEXT τ, I), c, p → M[r ↦ whether it is one], I, c, p
///                                                              [spirv/is-helper,
///                                                             SPV_EXT_demote_to_helper_invocation]
pub fn is_helper<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, _) = config.next_if(Op::IsHelperInvocationEXT)?;
    let truth = Scalar::from(crate::number::Lane::truth(config.helper));
    Some(Next::Config(config.defining(head.result, Value::Scalars(Scalars::from_slice(&[truth])))))
}

/// M, (OpUnreachable), c, p is undefined behaviour [spirv/unreachable, SPIR-V §3.3.17]
pub fn unreachable<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_if(Op::Unreachable)?;
    Some(config.undefined(Ub::Unreachable, report::UNREACHABLE.to_string()))
}
