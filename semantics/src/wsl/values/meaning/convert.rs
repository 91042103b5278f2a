//! From one scalar type to another: seed 004 "Cast operators", and `all` and `any` of one element
//! ("Bit manipulation").

use super::{Op, OpResult};
use crate::number::{Computed, float};
use crate::wsl::library::Meaning;
use crate::wsl::types::Scalar;

/// A conversion, a reinterpretation, or whether an element is true. `None` for other operations.
pub(super) fn of(op: Op, operands: &[u32]) -> Option<OpResult> {
    let &[x] = operands else { return None };
    match op.meaning {
        Meaning::Reinterpret => Some(OpResult::Exactly(x)),
        Meaning::All | Meaning::Any => Some(is_true(op.of, x).into()),
        Meaning::Convert => Some(converted(op.of, op.to, x)),
        _ => None,
    }
}

/// Whether it is true, or not zero. A float is not zero if it is neither +0 nor -0, so NaN is true.
fn is_true(of: Scalar, bits: u32) -> bool {
    match of {
        Scalar::Float => f32::from_bits(bits) != 0.0,
        Scalar::Bool | Scalar::Uint | Scalar::Int => bits != 0,
    }
}

fn converted(of: Scalar, to: Scalar, bits: u32) -> OpResult {
    match (of, to) {
        (_, Scalar::Bool) => is_true(of, bits).into(),
        (Scalar::Bool, Scalar::Uint | Scalar::Int) => OpResult::Exactly((bits != 0).into()),
        (Scalar::Bool, Scalar::Float) => OpResult::Exactly(f32::from(bits != 0).to_bits()),
        (Scalar::Uint | Scalar::Int, Scalar::Uint | Scalar::Int) | (Scalar::Float, Scalar::Float) => OpResult::Exactly(bits),
        (Scalar::Uint | Scalar::Int, Scalar::Float) => {
            OpResult::Exactly(float::of_integer::<f32>(bits.into(), 32, of == Scalar::Int).to_bits())
        }
        // Truncated towards zero. NaN and floats out of range have no value of the type.
        (Scalar::Float, Scalar::Uint | Scalar::Int) => match float::to_integer(f32::from_bits(bits), 32, to == Scalar::Int) {
            Computed::Value(bits) => OpResult::Exactly(bits as u32),
            Computed::Undefined(_) | Computed::Behaviour(_) => OpResult::ANY,
        },
    }
}
