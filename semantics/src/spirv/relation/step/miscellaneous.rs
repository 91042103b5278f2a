//! SPIR-V §3.3.1 Miscellaneous and §3.3.3 Debug, and the merge instructions of §3.3.17, which do
//! nothing at run time.

use super::{Config, Env, Next, Row, row};
use crate::rule::Rule;
use crate::spirv::grammar::Op;
use crate::spirv::memory::Value;
use crate::spirv::value::{Origin, Scalar};
use crate::undefined::Unspecified;

const IGNORED: &[Op] = &[Op::Nop, Op::SelectionMerge, Op::LoopMerge, Op::Line, Op::NoLine];

pub(super) const RULES: &[Row] = &[row(Rule::SpirvNop, IGNORED, nop), row(Rule::SpirvUndef, &[Op::Undef], undef)];

/// OpNop, OpSelectionMerge, OpLoopMerge, OpLine, OpNoLine as i: M, (i, I), c, p → M, I, c, p
///                                                                            [spirv/nop, 000 §3.3]
pub fn nop<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    config.next_of(IGNORED)?;
    Some(Next::Config(config.advanced(1)))
}

/// M, (r = OpUndef τ, I), c, p → M[r ↦ any τ], I, c, p           [spirv/undef, SPIR-V §3.3.1]
pub fn undef<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, _) = config.next_if(Op::Undef)?;
    let origin = Origin { kind: Unspecified::Undef, instruction: config.index(), invocation: env.invocation };
    let count = config.module.types().scalars(head.result_type) as usize;
    let scalars = std::iter::repeat_n(Scalar::undefined(origin), count).collect();
    Some(Next::Config(config.defining(head.result, Value::Scalars(scalars))))
}
