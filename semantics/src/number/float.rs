//! Floats of 16, 32 and 64 bits beyond [`Op`]: the rest of SPIR-V §3.3.13 and §3.3.15, conversions
//! of §3.3.11, and the rest of GLSL.std.450.

use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};
use smallvec::SmallVec;

use super::integer::{Words, each, mask, of_each, signed};
use super::{Computed, Half, Instruction, Op, Real, composite, scalar};
use crate::undefined::{Ub, Unspecified};

/// Floats of a vector or matrix, column after column.
pub type Reals<R> = SmallVec<[R; 16]>;

/// Why the operation's result for these operands, on one component, is an undefined value. `None`
/// if it is defined.
#[inline(always)]
pub fn unspecified<R: Real>(op: Op, args: &[R]) -> Option<Unspecified> {
    let (zero, one) = (R::zero(), R::one());
    let x = args[0];
    let second = || args[1];
    let (is_undefined, reason) = match op {
        Op::Mod => (second() == zero, Unspecified::FloatRemainderByZero),
        Op::Asin | Op::Acos => (x.abs() > one, Unspecified::Domain),
        Op::Acosh => (x < one, Unspecified::Domain),
        Op::Atanh => (x.abs() >= one, Unspecified::Domain),
        Op::Log | Op::Log2 | Op::Sqrt | Op::InverseSqrt => (x < zero, Unspecified::Domain),
        Op::Atan2 => (x == zero && second() == zero, Unspecified::Atan2Zeros),
        Op::Pow => (x < zero || x == zero && second() <= zero, Unspecified::PowDomain),
        Op::Clamp => (second() > args[2], Unspecified::ClampBounds),
        Op::SmoothStep => (x >= second(), Unspecified::SmoothStepEdges),
        _ => return None,
    };
    is_undefined.then_some(reason)
}

/// Why the result of an operation on a whole vector or matrix is undefined in all components.
/// `None` if it is defined.
pub fn unspecified_whole<R: Real>(op: Op, arg: &[R], columns: usize) -> Option<Unspecified> {
    match op {
        Op::Normalize if arg.iter().all(|&x| x == R::zero()) => Some(Unspecified::NormalizeZero),
        Op::MatrixInverse => {
            let determinant = composite::determinant_of(arg, columns);
            (determinant == R::zero() || determinant.is_nan()).then_some(Unspecified::SingularInverse)
        }
        _ => None,
    }
}

/// The result of an [`Op`] on one component. `None` if the operation does not work on components
/// of floats.
#[inline(always)]
pub fn component<R: Real>(op: Op, args: &[R]) -> Option<Computed> {
    if let Some(why) = unspecified(op, args) {
        return Some(Computed::Undefined(why));
    }
    let value = match (op, args) {
        (Op::LessThan | Op::LessThanEqual | Op::GreaterThan | Op::GreaterThanEqual | Op::Equal | Op::NotEqual, &[x, y]) => {
            return Some(scalar::comparison(op, x, y).into());
        }
        (Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Mod | Op::Atan2 | Op::Pow | Op::Min | Op::Max | Op::Step, &[x, y]) => {
            scalar::of_two(op, x, y)
        }
        (Op::Clamp | Op::SmoothStep, &[x, y, z]) => scalar::of_three(op, x, y, z),
        (Op::Normalize | Op::Length | Op::Determinant | Op::MatrixInverse | Op::Transpose | Op::Not | Op::Any | Op::All, _) => return None,
        (_, &[x]) => scalar::of_one(op, x),
        _ => return None,
    };
    Some(Computed::Value(value.bits()))
}

/// The result of an [`Op`] on vectors and matrices. Each operand has its components and its number
/// of columns. `None` if the operation works by components.
pub fn whole<R: Real>(op: Op, args: &[(&[R], usize)]) -> Option<SmallVec<[Computed; 4]>> {
    let values = composite::value(op, args)?;
    let why = unspecified_whole(op, args[0].0, args[0].1);
    Some(values.iter().map(|value| why.map_or(Computed::Value(value.bits()), Computed::Undefined)).collect())
}

/// x - y·trunc(x/y), of x's sign.
fn remainder<R: Real>(x: R, y: R) -> Computed {
    match y == R::zero() {
        true => Computed::Undefined(Unspecified::FloatRemainderByZero),
        false => Computed::Value(x.remainder(y).canonical().bits()),
    }
}

/// The lesser operand. If one is a NaN, the other.
fn number_min<R: Real>(x: R, y: R) -> R {
    if x.is_nan() { y } else { scalar::min(x, y) }
}

/// The greater operand. If one is a NaN, the other.
fn number_max<R: Real>(x: R, y: R) -> R {
    if x.is_nan() { y } else { scalar::max(x, y) }
}

/// The result, on one component, of an instruction that is no [`Op`]. `None` if it is not one
/// of these.
#[inline(always)]
pub fn other<R: Real>(instruction: Instruction, args: &[R]) -> Option<Computed> {
    let x = *args.first()?;
    let (y, z) = (args.get(1).copied().unwrap_or(x), args.get(2).copied().unwrap_or(x));
    let unordered = x.is_nan() || y.is_nan();
    let value = |r: R| Computed::Value(r.canonical().bits());
    let result = match instruction {
        Instruction::Core(opcode) => match Core::from_u32(opcode.into())? {
            Core::FRem => remainder(x, y),
            Core::FOrdNotEqual => (!unordered && x != y).into(),
            Core::FUnordEqual => (unordered || x == y).into(),
            Core::FUnordLessThan => (unordered || x < y).into(),
            Core::FUnordGreaterThan => (unordered || x > y).into(),
            Core::FUnordLessThanEqual => (unordered || x <= y).into(),
            Core::FUnordGreaterThanEqual => (unordered || x >= y).into(),
            Core::IsNan => x.is_nan().into(),
            Core::IsInf => (!x.is_nan() && !x.is_finite()).into(),
            Core::QuantizeToF16 => value(R::of(Half::of(x.wide()).wide())),
            _ => return None,
        },
        Instruction::Glsl(number) => match Glsl::from_u32(number)? {
            Glsl::Fma => value(x.fused(y, z)),
            Glsl::NMin => value(number_min(x, y)),
            Glsl::NMax => value(number_max(x, y)),
            Glsl::NClamp if y > z => Computed::Undefined(Unspecified::ClampBounds),
            Glsl::NClamp => value(number_min(number_max(x, y), z)),
            _ => return None,
        },
    };
    Some(result)
}

/// The values of [`component`] or [`other`] for 32-bit floats in each execution. `None` if there is
/// no value in an execution of the set `requested` (bit i is execution i), or if the operation is
/// not listed here.
pub(crate) fn side_by_side(op: Option<Op>, instruction: Instruction, args: &[Words], requested: u64) -> Option<Words> {
    let floats = |bits: &[u64; 4]| bits.map(f32::of_bits);
    match (op, args.len()) {
        (Some(op), 1) => of_each!(op, Op, [Round RoundEven Trunc Sign Floor Ceil Fract Radians Degrees Sqrt InverseSqrt], |op| {
            each(args, requested, |bits| component(op, &floats(bits)[..1]))
        }),
        (Some(op), 2) => of_each!(op, Op, [Mod Min Max Step], |op| each(args, requested, |bits| component(op, &floats(bits)[..2]))),
        (Some(op), 3) => of_each!(op, Op, [Clamp SmoothStep], |op| each(args, requested, |bits| component(op, &floats(bits)[..3]))),
        (None, 1..=3) => match instruction {
            Instruction::Core(opcode) => of_each!(Core::from_u32(opcode.into())?, Core, [FRem], |op: Core| {
                let instruction = Instruction::Core(op as u16);
                each(args, requested, |bits| other(instruction, &floats(bits)[..2]))
            }),
            Instruction::Glsl(number) => of_each!(Glsl::from_u32(number)?, Glsl, [Fma NMin NMax NClamp], |op: Glsl| {
                each(args, requested, |bits| other(Instruction::Glsl(op as u32), &floats(bits)[..3]))
            }),
        },
        _ => None,
    }
}

/// Modf: the fraction and the whole part, both with x's sign. The fraction of an infinity is zero.
pub fn modf<R: Real>(x: R) -> [R; 2] {
    let whole = x.trunc();
    let fraction = if x.is_finite() { x - whole } else { R::zero() };
    if x.is_nan() { [x.canonical(); 2] } else { [fraction.copysign(x), whole] }
}

/// Frexp: a significand in ±[0.5, 1) and the exponent of 2, or a zero and 0. `None` for an
/// infinity or NaN.
pub fn frexp<R: Real>(x: R) -> Option<(R, i32)> {
    if !x.is_finite() {
        return None;
    }
    if x == R::zero() {
        return Some((x, 0));
    }
    // A subnormal of 64 bits becomes normal.
    let (wide, below) = if x.wide().abs() < f64::MIN_POSITIVE { (x.wide() * 2f64.powi(64), 64) } else { (x.wide(), 0) };
    let bits = wide.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1022;
    let significand = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
    Some((R::of(significand), exponent - below))
}

/// Ldexp: x·2^exponent, rounded once. `None` if that is undefined.
pub fn ldexp<R: Real>(x: R, exponent: i64) -> Option<R> {
    if exponent > i64::from(R::MAX_EXPONENT) {
        return None;
    }
    // Anything lower gives zero in any format.
    let exponent = exponent.max(-3000) as i32;
    let result = match R::WIDTH {
        64 => R::of(libm::ldexp(x.wide(), exponent)),
        // Exact in 64 bits, or far below the least float.
        _ => R::of(x.wide() * 2f64.powi(exponent.max(-1022))),
    };
    (result.is_finite() || !x.is_finite()).then_some(result.canonical())
}

/// FaceForward: N if dot(Nref, I) is negative, otherwise -N.
pub fn face_forward<R: Real>(n: &[R], i: &[R], reference: &[R]) -> Reals<R> {
    let dot = dot(reference, i);
    n.iter().map(|&n| if dot < R::zero() { n.canonical() } else { (-n).canonical() }).collect()
}

/// Refract: 0 if k = 1 - eta·eta·(1 - d·d) is negative, otherwise eta·I - (eta·d + √k)·N, where d =
/// dot(N, I); each operation rounded.
pub fn refract<R: Real>(i: &[R], n: &[R], eta: R) -> Reals<R> {
    let one = R::one();
    let d = dot(n, i);
    let k = one - eta * eta * (one - d * d);
    let component = |(&i, &n): (&R, &R)| if k < R::zero() { R::zero() } else { (eta * i - (eta * d + k.sqrt()) * n).canonical() };
    i.iter().zip(n).map(component).collect()
}

fn dot<R: Real>(x: &[R], y: &[R]) -> R {
    composite::value(Op::Dot, &[(x, 1), (y, 1)]).map_or(R::zero(), |dot| dot[0])
}

/// OpConvertFToU, or OpConvertFToS if `to_signed`, to `width` bits: rounded toward zero.
pub fn to_integer<R: Real>(x: R, width: u8, to_signed: bool) -> Computed {
    let whole = x.wide().trunc();
    let power = |exponent: u8| f64::from_bits((1023 + u64::from(exponent)) << 52);
    let (least, beyond) = if to_signed { (-power(width - 1), power(width - 1)) } else { (0.0, power(width)) };
    if !(whole >= least && whole < beyond) {
        return Computed::Behaviour(Ub::ConversionRange);
    }
    Computed::Value(if whole < 0.0 { whole as i64 as u64 } else { whole as u64 } & mask(width))
}

/// OpConvertUToF, or OpConvertSToF if `from_signed`: rounded once.
pub fn of_integer<R: Real>(bits: u64, width: u8, from_signed: bool) -> R {
    // By way of 64-bit floats, a 64-bit integer would be rounded twice to a 32-bit float. 16-bit
    // floats have no such problem, since integers that are inexact there overflow.
    match (R::WIDTH, from_signed) {
        (32, true) => R::of_bits(u64::from((signed(width, bits) as f32).to_bits())),
        (32, false) => R::of_bits(u64::from((bits as f32).to_bits())),
        (_, true) => R::of(signed(width, bits) as f64),
        (_, false) => R::of(bits as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Wide;
    use super::*;
    use crate::random::Random;

    /// Each of 64 executions gives the bits that it gives alone. There is no result if a requested
    /// execution is undefined.
    #[test]
    fn side_by_side_is_as_alone() {
        const SPECIAL: [f32; 8] = [0.0, -0.0, 1.0, -1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40];
        let mut source = Random::new(1);
        let mut random = || {
            let bits = source.bits();
            if bits.is_multiple_of(3) { SPECIAL[(bits >> 8) as usize % 8].to_bits() } else { (bits >> 32) as u32 }
        };
        let cores = (0..=u16::MAX).filter(|&n| Core::from_u32(n.into()).is_some()).map(Instruction::Core);
        let glsls = (0..128).filter(|&n| Glsl::from_u32(n).is_some()).map(Instruction::Glsl);
        let others = cores.chain(glsls).map(|instruction| (None, instruction));
        let (mut listed, mut refused) = (0, 0);
        for (op, instruction) in Op::ALL.iter().map(|&op| (Some(op), op.instruction())).chain(others) {
            for arity in 1..=3 {
                let mut args = || -> Vec<Words> { (0..arity).map(|_| std::array::from_fn(|_| random())).collect() };
                let is_listed = side_by_side(op, instruction, &args(), 0).is_some() && (op.is_some() || arity == 3);
                listed += u64::from(is_listed);
                for args in (0..20).filter(|_| is_listed).map(|_| args()) {
                    let single = |lane: usize| {
                        let floats: Vec<f32> = args.iter().map(|words| f32::from_bits(words[lane])).collect();
                        op.map_or_else(|| other(instruction, &floats), |op| component(op, &floats))
                    };
                    let expected: Vec<Option<Computed>> = (0..Wide::LANES).map(single).collect();
                    let has_value = |lane: &usize| matches!(expected[*lane], Some(Computed::Value(_)));
                    let requested = (0..Wide::LANES).filter(has_value).fold(0u64, |set, lane| set | 1 << lane);
                    let found = side_by_side(op, instruction, &args, requested).expect("each of these has a value");
                    for lane in (0..Wide::LANES).filter(has_value) {
                        assert_eq!(Some(Computed::Value(found[lane].into())), expected[lane], "{instruction:?} in execution {lane}");
                    }
                    if requested != u64::MAX {
                        refused += 1;
                        assert_eq!(side_by_side(op, instruction, &args, u64::MAX), None, "{instruction:?}");
                    }
                }
            }
        }
        assert!(listed == 22 && refused >= 100, "{listed} told, {refused} of which are not where all are asked for");
    }
}
