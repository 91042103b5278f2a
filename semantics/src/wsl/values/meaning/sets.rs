//! The possible results of float operations on a conforming device, under a precision profile. Each
//! operation has the bounds of the SPIR-V or GLSL.std.450 instruction that it is translated to
//! ([`crate::number::sets`]). If no instruction is the same, the sets go through the instructions
//! of a formula.

use super::Op;
use crate::number::sets::{self, Operand, Set, Span, Truth};
use crate::number::{Instruction, Op as Number, Profile};
use crate::wsl::library::Meaning;
use crate::wsl::types::Scalar;
use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};
use smallvec::SmallVec;
use std::f64::consts::{LOG10_2, LOG10_E};

/// The possible results of an operation from floats to a float, for operands that may be any of
/// these sets. `None` if the operation is not from floats to a float, or if the profile does not
/// bound it. Then any result is possible. Without NoContraction no single operation is bounded
/// ([`sets::allowed`]).
///
/// The set contains the results of [`super::scalar()`] if the profile rounds to nearest or either
/// way and keeps subnormal results.
pub fn allowed(op: Op, operands: &[Set], profile: Profile) -> Option<Set> {
    use Meaning::*;
    if op.of != Scalar::Float || op.to != Scalar::Float || op.arity() != Some(operands.len()) {
        return None;
    }
    let of = |function: Number, operands: &[Set]| apply_instruction(function.instruction(), operands, profile);
    let glsl = |function: Glsl, operands: &[Set]| apply_instruction(Instruction::Glsl(function as u32), operands, profile);
    let (zero, one) = (Set::point(0.0), Set::point(1.0));
    match (op.meaning, operands) {
        (Saturate, &[x]) => of(Number::Clamp, &[x, zero, one]),
        (Rcp, &[x]) => of(Number::Div, &[one, x]),
        (Modf, _) => glsl(Glsl::Modf, operands),
        // By either of the two logarithms that have instructions.
        (Log10, _) => {
            let [by_two, by_e] = [(Number::Log2, LOG10_2), (Number::Log, LOG10_E)]
                .map(|(logarithm, factor)| after(of(logarithm, operands)?, |logarithm| of(Number::Mul, &[logarithm, around(factor)])));
            Some(by_two?.union(by_e?))
        }
        // The result is 1 if the second operand is not below the first, which is the edge.
        (Step, &[x, edge]) => of(Number::Step, &[edge, x]),
        (Ldexp, &[x, y]) => after(of(Number::Pow, &[Set::point(2.0), y])?, |power| of(Number::Mul, &[x, power])),
        (Fmod, _) => apply_instruction(Instruction::Core(Core::FRem as u16), operands, profile),
        (Lerp, _) => of(Number::Mix, operands),
        (Mad, _) => glsl(Glsl::Fma, operands),
        (meaning, _) => of(same(meaning)?, operands),
    }
}

/// The instruction with the same meaning, as an operation.
fn same(meaning: Meaning) -> Option<Number> {
    use Meaning::*;
    Some(match meaning {
        Add => Number::Add,
        Subtract => Number::Sub,
        Multiply => Number::Mul,
        Divide => Number::Div,
        Negate => Number::Negate,
        Abs => Number::Abs,
        Sign => Number::Sign,
        Min => Number::Min,
        Max => Number::Max,
        Clamp => Number::Clamp,
        Cos => Number::Cos,
        Sin => Number::Sin,
        Tan => Number::Tan,
        Acos => Number::Acos,
        Asin => Number::Asin,
        Atan => Number::Atan,
        Cosh => Number::Cosh,
        Sinh => Number::Sinh,
        Tanh => Number::Tanh,
        Ceil => Number::Ceil,
        Floor => Number::Floor,
        Round => Number::Round,
        Trunc => Number::Trunc,
        Frac => Number::Fract,
        Exp => Number::Exp,
        Exp2 => Number::Exp2,
        Log => Number::Log,
        Log2 => Number::Log2,
        Sqrt => Number::Sqrt,
        Rsqrt => Number::InverseSqrt,
        Degrees => Number::Degrees,
        Radians => Number::Radians,
        Pow => Number::Pow,
        Atan2 => Number::Atan2,
        Smoothstep => Number::SmoothStep,
        Less => Number::LessThan,
        LessEqual => Number::LessThanEqual,
        Greater => Number::GreaterThan,
        GreaterEqual => Number::GreaterThanEqual,
        Equal => Number::Equal,
        NotEqual => Number::NotEqual,
        _ => return None,
    })
}

/// The set of a formula's next step after a step with this set. If the first may be anything, so
/// may the whole, because it may be undefined.
fn after(set: Set, next: impl Fn(Set) -> Option<Set>) -> Option<Set> {
    if set.is_any() { Some(Set::ANY) } else { next(set) }
}

/// The two floats around a number that is not a float.
fn around(x: f64) -> Set {
    let near = x as f32;
    let far = if f64::from(near) < x { near.next_up() } else { near.next_down() };
    Set::of(Span::between(near.into(), far.into()))
}

fn operand(set: Set) -> Operand {
    Operand { set, id: None }
}

fn apply_instruction(instruction: Instruction, operands: &[Set], profile: Profile) -> Option<Set> {
    let components: SmallVec<[[Operand; 1]; 3]> = operands.iter().map(|&set| [operand(set)]).collect();
    let args: SmallVec<[(&[Operand], usize); 3]> = components.iter().map(|component| (&component[..], 1)).collect();
    sets::allowed(profile, instruction, &args)?.first().copied()
}

/// The possible results of an operation from floats to `bool`, for operands that may be any of
/// these sets. `None` for other operations.
pub fn truth(op: Op, operands: &[Set], profile: Profile) -> Option<Truth> {
    use Meaning::*;
    if op.of != Scalar::Float || op.to != Scalar::Bool || op.arity() != Some(operands.len()) {
        return None;
    }
    let compared = |instruction: Instruction, x: Set, y: Set| sets::compared(profile, instruction, &operand(x), &operand(y));
    let x = operands[0];
    let core = |opcode: Core| compared(Instruction::Core(opcode as u16), x, x);
    Some(match op.meaning {
        IsNan => core(Core::IsNan),
        IsInf => core(Core::IsInf),
        IsFinite => {
            let (nan, infinite) = (core(Core::IsNan), core(Core::IsInf));
            Truth { may_hold: nan.may_fail && infinite.may_fail, may_fail: nan.may_hold || infinite.may_hold }
        }
        // The result is whether the operand is not zero.
        All | Any | Convert => compared(Number::NotEqual.instruction(), x, Set::point(0.0)),
        meaning => compared(same(meaning)?.instruction(), x, *operands.get(1)?),
    })
}
