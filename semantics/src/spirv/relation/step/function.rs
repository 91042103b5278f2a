//! SPIR-V §3.3.9, Function Instructions: calls, and the returns of §3.3.17.
//!
//! Load refuses recursion, so an id has one value at a time. The parameters, results and variables
//! of a call go into the one M.

use std::rc::Rc;

use smallvec::SmallVec;

use super::{Config, Env, Frame, Next, Row, row};
use crate::rule::Rule;
use crate::spirv::grammar::Op;
use crate::spirv::memory::Value;

pub(super) const RULES: &[Row] = &[
    row(Rule::SpirvFunctionCall, &[Op::FunctionCall], function_call),
    row(Rule::SpirvReturn, &[Op::Return], return_),
    row(Rule::SpirvReturnToCaller, &[Op::Return], return_to_caller),
    row(Rule::SpirvReturnValue, &[Op::ReturnValue], return_value),
];

/// M, (r = OpFunctionCall τ f a…, I), c, p → M[x ↦ M(a) for each parameter x of f], M(t), t, 0 in a
/// call, t the first block of f
///                                                              [spirv/function-call, SPIR-V
///                                                              §3.3.9]
pub fn function_call<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::FunctionCall)?;
    let function = config.module.function(operands[0])?;
    let arguments: Option<SmallVec<[Rc<Value>; 4]>> = operands[1..].iter().map(|&a| config.memory.value(config.module, a)).collect();
    let label = config.module.function_blocks(function).first()?.label;
    let outer = config.calls.clone();
    let frame = Frame { code: &config.code[1..], c: config.c, p: config.p, result: head.result, loops: config.loops.clone(), outer };
    let mut next = config.entering(label)?;
    for (parameter, value) in config.module.parameters(function).iter().zip(arguments?) {
        next.memory.share(config.module, parameter.id, value);
    }
    (next.p, next.loops, next.calls) = (0, None, Some(Rc::new(frame)));
    Some(Next::Config(next))
}

/// M, (OpReturn), c, p in no call ends the invocation; M holds the observation [spirv/return,
/// SPIR-V §3.3.17]
pub fn return_<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_if(Op::Return)?;
    config.calls.is_none().then(|| Next::Ends(config.clone()))
}

/// The configuration after the call that the invocation is in.
fn returning<'m>(config: &Config<'m>) -> Option<(Config<'m>, u32)> {
    let frame = config.calls.as_deref()?;
    let (loops, calls) = (frame.loops.clone(), frame.outer.clone());
    let next = Config { code: frame.code, c: frame.c, p: frame.p, calls, loops, ..config.clone() };
    Some((next, frame.result))
}

/// M, (OpReturn), c, p in a call from I', c', p' → M, I', c',
/// p' [spirv/return-to-caller, SPIR-V §3.3.17]
pub fn return_to_caller<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_if(Op::Return)?;
    returning(config).map(|(next, _)| Next::Config(next))
}

/// M, (OpReturnValue v), c, p in a call (r = OpFunctionCall …) from I', c', p' → M[r ↦ M(v)], I',
/// c', p'
///                                                              [spirv/return-value, SPIR-V
///                                                              §3.3.17]
pub fn return_value<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (_, operands) = config.next_if(Op::ReturnValue)?;
    let (mut next, result) = returning(config)?;
    next.memory.share(config.module, result, config.memory.value(config.module, operands[0])?);
    Some(Next::Config(next))
}
