//! [`apply`](super::apply()) by bits alone: the same results, without what is known about them.

use super::{Op, Real, composite, scalar};
use smallvec::SmallVec;

/// The components of a scalar or a vector. Elements beyond its size are meaningless.
pub type Four = [u32; 4];

/// The bits of [`apply`](super::apply())'s result, for an operation on scalars and vectors. The
/// first operand has `n` components. Operands that the operation does not take are ignored. `None`
/// for an operation that only [`bits_of_any`] computes.
#[inline]
pub fn bits_of_vectors(op: Op, n: usize, [x, y, z]: [&Four; 3]) -> Option<Four> {
    let float = |bits: &Four, i: usize| f32::from_bits(bits[i]);
    let one = |value: f32| [value.canonical().to_bits(), 0, 0, 0];
    let truth = |value: bool| [u32::from(value), 0, 0, 0];
    Some(match op {
        // Computes all four at once, which takes no longer than one.
        Op::Add => four(|i| float(x, i) + float(y, i)),
        Op::Sub => four(|i| float(x, i) - float(y, i)),
        Op::Mul => four(|i| float(x, i) * float(y, i)),
        Op::VectorTimesScalar => four(|i| float(x, i) * float(y, 0)),
        Op::Div => four(|i| float(x, i) / float(y, i)),
        Op::Negate => four(|i| -float(x, i)),
        Op::Abs => four(|i| float(x, i).abs()),
        Op::Min => four(|i| scalar::min(float(x, i), float(y, i))),
        Op::Max => four(|i| scalar::max(float(x, i), float(y, i))),
        Op::Clamp => four(|i| scalar::clamp(float(x, i), float(y, i), float(z, i))),
        Op::Mix => four(|i| composite::mix_of(float(x, i), float(y, i), float(z, i))),
        Op::LessThan | Op::LessThanEqual | Op::GreaterThan | Op::GreaterThanEqual | Op::Equal | Op::NotEqual => {
            each(n, |i| scalar::comparison(op, float(x, i), float(y, i)).into())
        }
        Op::Step | Op::Mod | Op::Atan2 | Op::Pow => each(n, |i| scalar::of_two(op, float(x, i), float(y, i)).to_bits()),
        Op::SmoothStep => each(n, |i| scalar::of_three(op, float(x, i), float(y, i), float(z, i)).to_bits()),
        Op::LogicalEqual => each(n, |i| ((x[i] != 0) == (y[i] != 0)).into()),
        Op::LogicalNotEqual => each(n, |i| ((x[i] != 0) != (y[i] != 0)).into()),
        Op::And => each(n, |i| (x[i] != 0 && y[i] != 0).into()),
        Op::Or => each(n, |i| (x[i] != 0 || y[i] != 0).into()),
        Op::Not => each(n, |i| (x[i] == 0).into()),
        Op::Any => truth(x[..n].iter().any(|&x| x != 0)),
        Op::All => truth(x[..n].iter().all(|&x| x != 0)),
        Op::Dot => one(composite::sum_of_products((0..n).map(|i| (float(x, i), float(y, i))))),
        Op::Length => one(composite::length_of((0..n).map(|i| float(x, i)))),
        Op::Distance => one(composite::length_of((0..n).map(|i| float(x, i) - float(y, i)))),
        Op::Normalize => {
            let length = composite::length_of((0..n).map(|i| float(x, i)));
            four(|i| float(x, i) / length)
        }
        Op::Select
        | Op::Cross
        | Op::Reflect
        | Op::MatrixTimesScalar
        | Op::VectorTimesMatrix
        | Op::MatrixTimesVector
        | Op::MatrixTimesMatrix
        | Op::Transpose
        | Op::Determinant
        | Op::MatrixInverse => return None,
        _ => each(n, |i| scalar::of_one(op, float(x, i)).to_bits()),
    })
}

#[inline]
fn four(component: impl Fn(usize) -> f32) -> Four {
    let bits = |i| component(i).canonical().to_bits();
    [bits(0), bits(1), bits(2), bits(3)]
}

#[inline]
fn each(n: usize, component: impl Fn(usize) -> u32) -> Four {
    let mut result = [0; 4];
    for (i, bits) in result.iter_mut().enumerate().take(n) {
        *bits = component(i);
    }
    result
}

/// The bits of [`apply`](super::apply())'s result, for an operation that [`bits_of_vectors`] does
/// not compute. Each operand has its components and its number of columns.
pub fn bits_of_any(op: Op, args: &[(&[u32], usize)]) -> SmallVec<[u32; 16]> {
    if op == Op::Select {
        let [(conditions, _), (on_true, _), (on_false, _)] = *args else { unreachable!("Select takes three operands") };
        let chosen = |(i, (&on_true, &on_false)): (usize, (&u32, &u32))| {
            if conditions[i.min(conditions.len() - 1)] != 0 { on_true } else { on_false }
        };
        return on_true.iter().zip(on_false).enumerate().map(chosen).collect();
    }
    let floats: SmallVec<[SmallVec<[f32; 16]>; 3]> =
        args.iter().map(|(bits, _)| bits.iter().map(|&bits| f32::from_bits(bits)).collect()).collect();
    let shaped: SmallVec<[(&[f32], usize); 3]> = floats.iter().zip(args).map(|(floats, &(_, columns))| (&floats[..], columns)).collect();
    let values = composite::value(op, &shaped).unwrap_or_else(|| unreachable!("{op:?} works by components"));
    values.iter().map(|value| value.to_bits()).collect()
}
