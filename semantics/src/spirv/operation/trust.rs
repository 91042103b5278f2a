//! What is known about components that [`Arithmetic`](crate::number::Arithmetic) does not compute: coarse rules, sound for both profiles.
//!
//! | result | decided |
//! |---|---|
//! | integers and Booleans of integers | as the operands |
//! | correctly rounded and exact operations, conversions | unless an operand or the result is subnormal, infinite or NaN, or the greatest float |
//! | everything else | never, but where every permitted way gives the same |
//!
//! Without float controls only integers, Booleans of these, and floats that are exact conversions or bits of these are decided.

use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};

use super::compute::{Operand, feeds};
use super::pure::in_format;
use super::{Operation, Scalar, Shape, Signature};
use crate::number::{Arithmetic, Computed, Grid, Half, Instruction, Lane, Op, Real, Trust, Tuple, Why, pack};

/// How near a result is to the exact one on every device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nearness {
    /// Bits are moved.
    Moved,
    /// No rounding, or to nearest even.
    Rounded,
    /// Not required to be correctly rounded.
    Approximate,
    /// Either neighbour that rounding chooses from: decided if that was not needed.
    Either,
}

/// The trust of component i of a result.
pub(super) fn of(operation: Operation, args: &[Operand<'_>], results: &[Shape], i: usize, component: Computed) -> Trust {
    let Computed::Value(bits) = component else { return Trust::CERTAIN };
    let result = results.iter().flat_map(|r| std::iter::repeat_n(r.scalar, r.lanes())).nth(i).unwrap_or(Scalar::Other);
    if operation.signature == Signature::Select {
        let condition = args[0].scalars[if args[0].scalars.len() == 1 { 0 } else { i }];
        let (a, b) = (args[1].scalars[i], args[2].scalars[i]);
        return Trust::selected(condition.trust, condition.is_true(), a.trust, b.trust, a.bits == b.bits);
    }
    if let Some(trust) = comparison(operation, args, i) {
        return trust;
    }
    let nearness = nearness(operation, args, i, bits);
    let (mut doubt, mut certified, mut zero_sign, mut from_floats) = (None, true, true, false);
    let operation_moves = nearness == Nearness::Moved;
    feeds(operation, args, results, i, &mut |a, c| {
        let (scalar, kind) = (args[a].scalars[c], args[a].shape.scalar);
        let special = if operation_moves { None } else { special(kind, scalar.bits) };
        doubt = doubt.or(scalar.trust.doubt).or(special);
        certified &= scalar.trust.grid.is_some();
        zero_sign &= scalar.trust.zero_sign;
        from_floats |= kind.is_float();
    });
    if operation_moves {
        return moved(result, bits, doubt, certified, zero_sign);
    }
    doubt = doubt.or(match nearness {
        Nearness::Approximate => Some(special(result, bits).unwrap_or(Why::Approximate)),
        _ if result.is_float() => at_the_edge(result, bits),
        _ => None,
    });
    let zero_sign = !result.is_float() || bits << 1 & crate::number::integer::mask(result.width().max(1)) != 0;
    let grid = match result {
        _ if doubt.is_some() || !certified => None,
        Scalar::Float { width: 32 } if !from_floats && is_exact(operation, args, i, bits) => Grid::of(f32::from_bits(bits as u32)),
        Scalar::Float { .. } => None,
        _ if !from_floats || is_conversion_to_integer(operation) => Trust::CERTAIN.grid,
        _ => None,
    };
    Trust { doubt, zero_sign, grid, cell: None }
}

/// Bits that go from one type to another, or to where another component was.
fn moved(result: Scalar, bits: u64, doubt: Option<Why>, certified: bool, zero_sign: bool) -> Trust {
    // A zero of unknown sign is not one pattern of bits.
    let doubt = if result.is_float() || zero_sign { doubt } else { doubt.or(Some(Why::Approximate)) };
    let certified = certified && doubt.is_none();
    match result {
        Scalar::Float { width: 32 } => {
            let exact = Trust::of_exact(f32::from_bits(bits as u32));
            Trust { doubt, zero_sign, grid: exact.grid.filter(|_| certified), cell: None }
        }
        Scalar::Float { .. } => Trust { doubt, zero_sign, grid: None, cell: None },
        // A float zero may lose its sign where no control keeps it.
        _ => Trust { doubt, zero_sign: true, grid: Trust::CERTAIN.grid.filter(|_| certified && bits != 0), cell: None },
    }
}

/// The trust of comparisons of 32-bit floats that are no [`Op`]: as that of equality.
fn comparison(operation: Operation, args: &[Operand<'_>], i: usize) -> Option<Trust> {
    let Instruction::Core(opcode) = operation.instruction else { return None };
    let compares = matches!(
        Core::from_u32(opcode.into())?,
        Core::FOrdNotEqual
            | Core::FUnordEqual
            | Core::FUnordLessThan
            | Core::FUnordGreaterThan
            | Core::FUnordLessThanEqual
            | Core::FUnordGreaterThanEqual
    );
    if !compares || args[0].shape.scalar != Scalar::F32 {
        return None;
    }
    let lanes: [Lane; 2] = [0, 1].map(|a| args[a].scalars[i].lane());
    let equal = Arithmetic::default().apply(Op::Equal, &[Tuple::vector(&lanes[..1]), Tuple::vector(&lanes[1..])]);
    Some(equal[0].trust)
}

fn nearness(operation: Operation, args: &[Operand<'_>], i: usize, bits: u64) -> Nearness {
    let operand = |a: usize, c: usize| args.get(a).and_then(|a| a.scalars.get(c)).map_or(0, |s| s.bits);
    let from = args[0].shape.scalar;
    let either = |exact: bool| if exact { Nearness::Rounded } else { Nearness::Either };
    let nearness = match operation.instruction {
        Instruction::Core(opcode) => match Core::from_u32(opcode.into()) {
            Some(Core::Bitcast) => Nearness::Moved,
            Some(Core::QuantizeToF16) => either(operand(0, i) == bits),
            Some(Core::FDiv | Core::FRem | Core::FMod | Core::Dot) => Nearness::Approximate,
            Some(Core::VectorTimesMatrix | Core::MatrixTimesVector | Core::MatrixTimesMatrix) => Nearness::Approximate,
            _ => Nearness::Rounded,
        },
        Instruction::Glsl(number) => match Glsl::from_u32(number) {
            Some(Glsl::PackDouble2x32 | Glsl::UnpackDouble2x32) => Nearness::Moved,
            Some(op @ (Glsl::PackSnorm4x8 | Glsl::PackUnorm4x8 | Glsl::PackSnorm2x16 | Glsl::PackUnorm2x16)) => {
                let exact = |s: &super::super::value::Scalar| pack::normalized(op, f32::from_bits(s.bits as u32)).is_some_and(|n| n.1);
                either(args[0].scalars.iter().all(exact))
            }
            Some(Glsl::PackHalf2x16) => either(args[0].scalars.iter().all(|s| {
                let x = f32::from_bits(s.bits as u32);
                Half::of(x.wide()).wide() == x.wide()
            })),
            Some(Glsl::UnpackHalf2x16) => {
                // Subnormals of 16 bits may be flushed.
                let part = operand(0, 0) >> (16 * i) & 0xffff;
                either(special(Scalar::F16, part).is_none())
            }
            Some(Glsl::UnpackSnorm4x8 | Glsl::UnpackUnorm4x8 | Glsl::UnpackSnorm2x16 | Glsl::UnpackUnorm2x16) => {
                either([0.0, 1.0, -1.0].contains(&f32::from_bits(bits as u32)))
            }
            Some(Glsl::Fma) => in_format!(from.width(), R => {
                let [x, y, z] = [0, 1, 2].map(|a| R::of_bits(operand(a, i)));
                either((x * y + z).bits() == bits)
            }),
            Some(Glsl::Round) => in_format!(from.width(), R => {
                let x = R::of_bits(operand(0, i)).wide();
                if (x - x.trunc()).abs() == 0.5 { Nearness::Either } else { Nearness::Rounded }
            }),
            Some(
                Glsl::RoundEven
                | Glsl::Trunc
                | Glsl::FAbs
                | Glsl::FSign
                | Glsl::Floor
                | Glsl::Ceil
                | Glsl::Fract
                | Glsl::Modf
                | Glsl::ModfStruct
                | Glsl::FMin
                | Glsl::FMax
                | Glsl::FClamp
                | Glsl::NMin
                | Glsl::NMax
                | Glsl::NClamp
                | Glsl::Step
                | Glsl::Frexp
                | Glsl::FrexpStruct
                | Glsl::Ldexp,
            ) => Nearness::Rounded,
            _ if from.is_int() => Nearness::Rounded,
            _ => Nearness::Approximate,
        },
    };
    // Either neighbour is as undecided as an approximation.
    if nearness == Nearness::Either { Nearness::Approximate } else { nearness }
}

/// Whether a float result is exactly the integer that it was converted from.
fn is_exact(operation: Operation, args: &[Operand<'_>], i: usize, bits: u64) -> bool {
    let Instruction::Core(opcode) = operation.instruction else { return false };
    let (width, operand) = (args[0].shape.scalar.width(), args[0].scalars.get(i).map_or(0, |s| s.bits));
    let integer = match Core::from_u32(opcode.into()) {
        Some(Core::ConvertSToF) => i128::from(crate::number::integer::signed(width, operand)),
        Some(Core::ConvertUToF) => i128::from(operand),
        _ => return false,
    };
    f32::from_bits(bits as u32) as i128 == integer
}

fn is_conversion_to_integer(operation: Operation) -> bool {
    [Core::ConvertFToS, Core::ConvertFToU].iter().any(|&op| operation.instruction == Instruction::Core(op as u16))
}

/// The reason that a float itself gives for doubting arithmetic on it.
fn special(kind: Scalar, bits: u64) -> Option<Why> {
    let Scalar::Float { width } = kind else { return None };
    in_format!(width, R => {
        let x = R::of_bits(bits);
        if x.is_nan() {
            Some(Why::NaN)
        } else if !x.is_finite() {
            Some(Why::Infinite)
        } else {
            (x != R::zero() && x.wide().abs() < least_normal::<R>()).then_some(Why::Subnormal)
        }
    })
}

/// The same of a rounded result, whose exact value may be beyond the greatest float, or below the least normal one.
fn at_the_edge(kind: Scalar, bits: u64) -> Option<Why> {
    let Scalar::Float { width } = kind else { return None };
    let edge = in_format!(width, R => {
        let magnitude = R::of_bits(bits).wide().abs();
        let greatest = R::of_bits(u64::from(R::MAX_EXPONENT.unsigned_abs() * 2 - 1) << (R::PRECISION - 1)).wide();
        let below_infinity = R::of_bits((u64::from(R::MAX_EXPONENT.unsigned_abs() * 2 - 1) << (R::PRECISION - 1)) - 1).wide();
        debug_assert!(greatest.is_infinite());
        if magnitude == below_infinity {
            Some(Why::Infinite)
        } else {
            (magnitude == least_normal::<R>()).then_some(Why::Subnormal)
        }
    });
    special(kind, bits).or(edge)
}

/// 2^-14, 2^-126 or 2^-1022.
fn least_normal<R: Real>() -> f64 {
    R::of_bits(1 << (R::PRECISION - 1)).wide()
}
