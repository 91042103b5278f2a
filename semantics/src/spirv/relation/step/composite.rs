//! SPIR-V §3.3.12, Composite Instructions. OpTranspose is not here, since it is computed.
//! Components are moved together with their trust.

use std::ops::Range;

use smallvec::SmallVec;

use super::{Config, Env, Next, Row, row};
use crate::rule::Rule;
use crate::spirv::grammar::Op;
use crate::spirv::memory::Value;
use crate::spirv::module::Module;
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::Unspecified;

pub(super) const RULES: &[Row] = &[
    row(Rule::SpirvCompositeConstruct, &[Op::CompositeConstruct], composite_construct),
    row(Rule::SpirvCompositeExtract, &[Op::CompositeExtract], composite_extract),
    row(Rule::SpirvCompositeInsert, &[Op::CompositeInsert], composite_insert),
    row(Rule::SpirvVectorShuffle, &[Op::VectorShuffle], vector_shuffle),
    row(Rule::SpirvVectorExtractDynamic, &[Op::VectorExtractDynamic], vector_extract_dynamic),
    row(Rule::SpirvVectorExtractDynamicOutOfBounds, &[Op::VectorExtractDynamic], vector_extract_dynamic_out_of_bounds),
    row(Rule::SpirvVectorInsertDynamic, &[Op::VectorInsertDynamic], vector_insert_dynamic),
    row(Rule::SpirvVectorInsertDynamicOutOfBounds, &[Op::VectorInsertDynamic], vector_insert_dynamic_out_of_bounds),
    row(Rule::SpirvCopy, &[Op::CopyObject, Op::CopyLogical], copy),
];

/// M, (r = OpCompositeConstruct τ a…, I), c, p → M[r ↦ (M(a)…)], I, c, p
/// [spirv/composite-construct, 000 §6.7]
pub fn composite_construct<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::CompositeConstruct)?;
    let mut scalars = Scalars::new();
    for &id in operands {
        scalars.extend(config.scalars(id)?);
    }
    Some(Next::Config(config.defining(head.result, Value::Scalars(scalars))))
}

/// The range of scalars that literal indices choose in a value of a type.
fn scalar_range(module: &Module, mut type_: u32, indices: &[u32]) -> Option<Range<usize>> {
    let mut first = 0u64;
    for &index in indices {
        let (part, at) = module.types().part(type_, index.into())?;
        (type_, first) = (part, first.checked_add(at)?);
    }
    Some(first as usize..first.checked_add(module.types().scalars(type_))? as usize)
}

/// M, (r = OpCompositeExtract τ a i…, I), c, p → M[r ↦ M(a).i…], I, c, p [spirv/composite-extract,
/// SPIR-V §3.3.12]
pub fn composite_extract<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::CompositeExtract)?;
    let composite = config.scalars(operands[0])?;
    let range = scalar_range(config.module, config.module.type_of(operands[0])?, &operands[1..])?;
    let scalars = Scalars::from_slice(composite.get(range)?);
    Some(Next::Config(config.defining(head.result, Value::Scalars(scalars))))
}

/// M, (r = OpCompositeInsert τ v a i…, I), c, p → M[r ↦ M(a) with M(v) as its part i…], I, c, p
///                                                              [spirv/composite-insert, SPIR-V
///                                                              §3.3.12]
pub fn composite_insert<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::CompositeInsert)?;
    let (object, mut composite) = (config.scalars(operands[0])?, config.scalars(operands[1])?);
    let range = scalar_range(config.module, config.module.type_of(operands[1])?, &operands[2..])?;
    let part = composite.get_mut(range)?;
    if part.len() != object.len() {
        return None;
    }
    part.copy_from_slice(&object);
    Some(Next::Config(config.defining(head.result, Value::Scalars(composite))))
}

/// M, (r = OpVectorShuffle τ a b l…, I), c, p → M[r ↦ for each l, component l of M(a) and M(b) one
/// after the other; where l is 0xFFFFFFFF, any], I, c, p     [spirv/vector-shuffle, SPIR-V §3.3.12]
pub fn vector_shuffle<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::VectorShuffle)?;
    let mut components = config.scalars(operands[0])?;
    components.extend(config.scalars(operands[1])?);
    let component = |&literal: &u32| match literal {
        u32::MAX => {
            let (kind, invocation) = (Unspecified::ShuffleUndefined, env.invocation);
            Some(Scalar::undefined(Origin { kind, instruction: config.index(), invocation }))
        }
        literal => components.get(literal as usize).copied(),
    };
    let scalars: Option<Scalars> = operands[2..].iter().map(component).collect();
    Some(Next::Config(config.defining(head.result, Value::Scalars(scalars?))))
}

/// The component that a dynamic index chooses, and the index. If the result is undefined, its
/// origin.
type ChosenComponent = Result<(usize, Scalar), Origin>;

/// The components of the vector, and the component that the index chooses. If the result is
/// undefined, its origin.
fn dynamic(env: &Env<'_>, config: &Config<'_>, vector: u32, index: u32) -> Option<(Scalars, ChosenComponent)> {
    let (vector, index) = (config.scalars(vector)?, config.scalar(index)?);
    let (kind, invocation) = (Unspecified::VectorIndex, env.invocation);
    let chosen = match index.undefined {
        Some(origin) => Err(origin),
        None if index.bits >= vector.len() as u64 => Err(Origin { kind, instruction: config.index(), invocation }),
        None => Ok((index.bits as usize, index)),
    };
    Some((vector, chosen))
}

fn extracted<'e>(env: &Env<'e>, config: &Config<'_>) -> Option<(u32, Result<Scalar, Origin>)> {
    let (head, operands) = config.next_if(Op::VectorExtractDynamic)?;
    let (vector, at) = dynamic(env, config, operands[0], operands[1])?;
    let component = |(at, index): (usize, Scalar)| Scalar { trust: vector[at].trust.controlled_by(index.trust), ..vector[at] };
    Some((head.result, at.map(component)))
}

/// M, (r = OpVectorExtractDynamic τ a i, I), c, p → M[r ↦ component M(i) of M(a)], I, c, p
///                                                              [spirv/vector-extract-dynamic,
///                                                              SPIR-V §3.3.12]
pub fn vector_extract_dynamic<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (r, scalar) = extracted(env, config)?;
    Some(Next::Config(config.defining(r, Value::Scalars(Scalars::from_slice(&[scalar.ok()?])))))
}

/// M(i) undefined or no component gives M, (r = OpVectorExtractDynamic τ a i, I), c, p → M[r ↦ any
/// τ], I, c, p                         [spirv/vector-extract-dynamic-out-of-bounds, SPIR-V §3.3.12]
pub fn vector_extract_dynamic_out_of_bounds<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (r, scalar) = extracted(env, config)?;
    let any = Scalar::undefined(scalar.err()?);
    Some(Next::Config(config.defining(r, Value::Scalars(Scalars::from_slice(&[any])))))
}

/// M, (r = OpVectorInsertDynamic τ a v i, I), c, p → M[r ↦ M(a) with M(v) as its component M(i)],
/// I, c, p
///                                                              [spirv/vector-insert-dynamic,
///                                                              SPIR-V §3.3.12]
pub fn vector_insert_dynamic<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::VectorInsertDynamic)?;
    let (mut vector, at) = dynamic(env, config, operands[0], operands[2])?;
    let (at, index) = at.ok()?;
    vector[at] = config.scalar(operands[1])?;
    vector.iter_mut().for_each(|scalar| scalar.trust = scalar.trust.controlled_by(index.trust));
    Some(Next::Config(config.defining(head.result, Value::Scalars(vector))))
}

/// M(i) undefined or no component gives M, (r = OpVectorInsertDynamic τ a v i, I), c, p → M[r ↦ any
/// τ], I, c, p                          [spirv/vector-insert-dynamic-out-of-bounds, SPIR-V §3.3.12]
pub fn vector_insert_dynamic_out_of_bounds<'m>(env: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_if(Op::VectorInsertDynamic)?;
    let (vector, at) = dynamic(env, config, operands[0], operands[2])?;
    let any: SmallVec<_> = std::iter::repeat_n(Scalar::undefined(at.err()?), vector.len()).collect();
    Some(Next::Config(config.defining(head.result, Value::Scalars(any))))
}

/// M, (r = OpCopyObject τ a, I), c, p → M[r ↦ M(a)], I, c, p, and
/// OpCopyLogical [spirv/copy, SPIR-V §3.3.12]
pub fn copy<'m>(_: &Env<'_>, config: &Config<'m>) -> Option<Next<'m>> {
    let (head, operands) = config.next_of(&[Op::CopyObject, Op::CopyLogical])?;
    let value = config.memory.value(config.module, operands[0])?;
    Some(Next::Config(config.defining(head.result, value.as_ref().clone())))
}
