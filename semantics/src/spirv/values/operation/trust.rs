//! The trust of components that [`Arithmetic`](crate::number::Arithmetic) does not compute. The
//! rules are coarse and sound for every profile.
//!
//! | result | decided |
//! |---|---|
//! | integers and Booleans of integers | if the operands are |
//! | what an [`Op`] computes too: NMin, the parts of Modf, Ldexp, … | if that one's result is |
//! | rounded and exact operations, conversions | if operands and result are ordinary |
//! | everything else | only if every permitted computation has the same result |
//!
//! A float is *ordinary* if it is not subnormal, infinite, NaN or the greatest float.
//!
//! Without float controls, three kinds of results are decided: integers, Booleans of these, and
//! exact results of operands that are exact under every rewriting. Bits that come from a float zero
//! are in doubt, since its sign is. So is a word that a zero is packed into.

use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};
use smallvec::SmallVec;

use super::compute::{Operand, visit_dependencies};
use super::pure::in_format;
use super::{Operation, Scalar, Shape, Signature};
use crate::number::{Arithmetic, Computed, Grid, Half, Instruction, Lane, Lanes, Op, Real, Trust, Tuple, Why, integer, pack};

/// The distance of every device's result from the exact one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nearness {
    /// The operation only moves bits.
    Moved,
    /// There is no rounding, or rounding to nearest even.
    Rounded,
    /// Correct rounding is not required.
    Approximate,
    /// A device may choose either neighbour for rounding. The result is decided if it is exact.
    Either,
}

/// The trust of component i of a result.
pub(super) fn of(operation: Operation, args: &[Operand<'_>], results: &[Shape], i: usize, component: Computed) -> Trust {
    let Computed::Value(bits) = component else { return Trust::CERTAIN };
    let result = results.iter().flat_map(|r| std::iter::repeat_n(r.scalar, r.lanes())).nth(i).unwrap_or(Scalar::Other);
    if operation.signature == Signature::Select {
        let condition = args[0].scalars[if args[0].scalars.len() == 1 { 0 } else { i }];
        let (a, b) = (args[1].scalars[i], args[2].scalars[i]);
        // The bits of an undefined value do not count.
        let same = a.bits == b.bits && a.undefined.or(b.undefined).is_none();
        return Trust::selected(condition.trust, condition.is_true(), a.trust, b.trust, same);
    }
    if let Some(trust) = as_arithmetic(operation, args, results, i) {
        return trust;
    }
    let nearness = nearness(operation, args, i, bits);
    let (mut doubt, mut certified, mut has_zero, mut signed, mut float_operand) = (None, true, false, true, None);
    let operation_moves = nearness == Nearness::Moved;
    visit_dependencies(operation, args, results, i, &mut |a, c| {
        let (scalar, kind) = (args[a].scalars[c], args[a].shape.scalar);
        let special = if operation_moves { None } else { special(kind, scalar.bits) };
        doubt = doubt.or(scalar.trust.doubt).or(special);
        certified &= scalar.trust.grid.is_some();
        signed &= scalar.trust.zero_sign;
        has_zero |= is_zero(kind, scalar.bits);
        float_operand = float_operand.or(kind.is_float().then_some(scalar));
    });
    if operation_moves {
        return moved(result, bits, doubt, float_operand.map(|scalar| scalar.trust), certified, has_zero, signed);
    }
    doubt = doubt.or(match nearness {
        Nearness::Approximate => Some(special(result, bits).unwrap_or(Why::Approximate)),
        _ if result.is_float() => boundary_doubt(result, bits),
        _ => None,
    });
    let zero_sign = !is_zero(result, bits);
    let grid = match result {
        _ if doubt.is_some() || !certified => None,
        Scalar::Float { width: 32 } => certificate(operation, args, i, bits),
        Scalar::Float { .. } => None,
        _ => Trust::CERTAIN.grid,
    };
    Trust { doubt, zero_sign, grid, cell: None }
}

fn is_zero(kind: Scalar, bits: u64) -> bool {
    kind.is_float() && bits << 1 & integer::mask(kind.width()) == 0
}

/// The trust of bits that go from one type to another, or to another component. `of_float` is the
/// trust of the float that they come from, if they do. `zero` says whether such a float is zero,
/// and `signed` whether its sign is required.
fn moved(
    result: Scalar,
    bits: u64,
    doubt: Option<Why>,
    float_operand: Option<Trust>,
    certified: bool,
    has_zero: bool,
    signed: bool,
) -> Trust {
    // A zero of unknown sign has two bit patterns.
    let doubt = if result.is_float() || !has_zero || signed { doubt } else { doubt.or(Some(Why::Approximate)) };
    let certified = certified && doubt.is_none();
    match result {
        Scalar::Float { width: 32 } => {
            // A float that stays a float keeps its polynomial.
            let grid = float_operand.map_or_else(|| Grid::of(f32::from_bits(bits as u32)), |trust| trust.grid);
            Trust { doubt, zero_sign: signed, grid: grid.filter(|_| certified), cell: None }
        }
        Scalar::Float { .. } => Trust { doubt, zero_sign: signed, grid: None, cell: None },
        // Without float controls a float zero may lose its sign, which the integer then shows.
        _ => Trust { doubt, zero_sign: true, grid: Trust::CERTAIN.grid.filter(|_| certified && !has_zero), cell: None },
    }
}

/// The trust of a result that an [`Op`] also computes, from the same 32-bit floats. `None`
/// if none does.
fn as_arithmetic(operation: Operation, args: &[Operand<'_>], results: &[Shape], i: usize) -> Option<Trust> {
    if args[0].shape.scalar != Scalar::F32 {
        return None;
    }
    let lane = |a: usize| args[a].scalars[i].lane();
    let apply = |op: Op, lanes: &[Lane]| of_lanes(op, lanes).trust;
    match operation.instruction {
        Instruction::Core(opcode) => match Core::from_u32(opcode.into())? {
            Core::FOrdNotEqual
            | Core::FUnordEqual
            | Core::FUnordLessThan
            | Core::FUnordGreaterThan
            | Core::FUnordLessThanEqual
            | Core::FUnordGreaterThanEqual => Some(apply(Op::Equal, &[lane(0), lane(1)])),
            _ => None,
        },
        Instruction::Glsl(number) => match Glsl::from_u32(number)? {
            Glsl::NMin | Glsl::NMax | Glsl::NClamp => {
                let lanes: Lanes = (0..args.len()).map(lane).collect();
                Some(apply(Op::of_numbers(operation.instruction)?, &lanes))
            }
            Glsl::Modf | Glsl::ModfStruct => {
                let count = results.first()?.lanes().max(1);
                let x = args[0].scalars[i % count].lane();
                // The fractional part of a number without its sign is the result of Fract.
                Some(if i >= count { apply(Op::Trunc, &[x]) } else { apply(Op::Fract, &[of_lanes(Op::Abs, &[x])]) })
            }
            Glsl::Ldexp => {
                let (scalar, width) = (args[1].scalars[i], args[1].shape.scalar.width());
                let exponent = integer::signed(width, scalar.bits);
                // A power below this may be flushed, whatever it is multiplied with.
                let power = f32::of(2f64.powi(exponent.clamp(-127, 128) as i32));
                let exact = Trust::of_exact(power);
                let trust = Trust { doubt: scalar.trust.doubt, grid: exact.grid.filter(|_| scalar.trust.grid.is_some()), ..exact };
                (exponent <= 127).then(|| apply(Op::VectorTimesScalar, &[lane(0), Lane { bits: power.to_bits(), trust }]))
            }
            _ => None,
        },
    }
}

/// The result of an operation on one component of each operand.
fn of_lanes(op: Op, lanes: &[Lane]) -> Lane {
    let tuples: SmallVec<[Tuple<'_>; 3]> = lanes.chunks(1).map(Tuple::vector).collect();
    Arithmetic::default().apply(op, &tuples)[0]
}

/// The certificate of an exact 32-bit result, if the operands have certificates. `None`
/// if it has none.
fn certificate(operation: Operation, args: &[Operand<'_>], i: usize, bits: u64) -> Option<Grid> {
    let (value, from) = (f32::from_bits(bits as u32), args[0].shape.scalar);
    let lane = |a: usize| args[a].scalars[i].lane();
    match operation.instruction {
        Instruction::Core(opcode) => match Core::from_u32(opcode.into())? {
            Core::ConvertSToF | Core::ConvertUToF if is_exact(operation, args, i, bits) => Grid::of(value),
            // The operation leaves such an operand as it is.
            Core::QuantizeToF16 => lane(0).trust.grid,
            _ => None,
        },
        Instruction::Glsl(number) => match Glsl::from_u32(number)? {
            Glsl::Fma if from == Scalar::F32 => of_lanes(Op::Add, &[of_lanes(Op::Mul, &[lane(0), lane(1)]), lane(2)]).trust.grid,
            // The result is the significand. If the exponent is 0, it is the operand itself.
            Glsl::Frexp | Glsl::FrexpStruct => {
                Some(lane(0)).filter(|x| x.bits == value.to_bits()).map_or_else(|| Grid::of(value), |x| x.trust.grid)
            }
            Glsl::UnpackHalf2x16 => Grid::of(value),
            // WGSL allows an error of 3 ULP for values other than 0.
            Glsl::UnpackSnorm4x8 | Glsl::UnpackUnorm4x8 | Glsl::UnpackSnorm2x16 | Glsl::UnpackUnorm2x16 if value == 0.0 => Grid::of(value),
            _ => None,
        },
    }
}

/// Whether a component is packed as a normalized number without rounding, even if a compiler merges
/// its computation into the product.
fn is_packed_exactly(op: Glsl, x: Lane) -> bool {
    let product = || {
        let [low, high, scale] = pack::factors(op)?.map(Lane::exact);
        of_lanes(Op::Mul, &[of_lanes(Op::Clamp, &[x, low, high]), scale]).trust.grid
    };
    let exact = pack::normalized(op, x.float()).is_some_and(|(_, exact)| exact);
    exact && (x.trust.grid.is_none_or(|grid| grid.leaf) || product().is_some())
}

fn nearness(operation: Operation, args: &[Operand<'_>], i: usize, bits: u64) -> Nearness {
    let operand = |a: usize, c: usize| args.get(a).and_then(|a| a.scalars.get(c)).map_or(0, |s| s.bits);
    let from = args[0].shape.scalar;
    let either = |exact: bool| if exact { Nearness::Rounded } else { Nearness::Either };
    let nearness = match operation.instruction {
        Instruction::Core(opcode) => match Core::from_u32(opcode.into()) {
            Some(Core::Bitcast) => Nearness::Moved,
            // A device may flush a number that is subnormal in 16 bits.
            Some(Core::QuantizeToF16) => {
                either(operand(0, i) == bits && half(f32::from_bits(bits as u32)).is_some_and(|of| special(Scalar::F16, of).is_none()))
            }
            Some(Core::FDiv | Core::FRem | Core::FMod | Core::Dot) => Nearness::Approximate,
            Some(Core::VectorTimesMatrix | Core::MatrixTimesVector | Core::MatrixTimesMatrix) => Nearness::Approximate,
            _ => Nearness::Rounded,
        },
        Instruction::Glsl(number) => match Glsl::from_u32(number) {
            Some(Glsl::PackDouble2x32 | Glsl::UnpackDouble2x32) => Nearness::Moved,
            Some(op @ (Glsl::PackSnorm4x8 | Glsl::PackUnorm4x8 | Glsl::PackSnorm2x16 | Glsl::PackUnorm2x16)) => {
                either(args[0].scalars.iter().all(|s| is_packed_exactly(op, s.lane())))
            }
            // The packed bits include the sign of a zero, which no float control preserves here.
            Some(Glsl::PackHalf2x16) => either(args[0].scalars.iter().all(|s| {
                let of = half(f32::from_bits(s.bits as u32));
                of.is_some_and(|of| special(Scalar::F16, of).is_none() && !is_zero(Scalar::F16, of))
            })),
            Some(Glsl::UnpackHalf2x16) => {
                // A device may flush 16-bit subnormals.
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
            // If the exponent is below that of the least normal float, a device may flush the
            // result, whatever it is.
            Some(Glsl::Ldexp) => in_format!(from.width(), R => {
                either(integer::signed(args[1].shape.scalar.width(), operand(1, i)) >= i64::from(2 - R::MAX_EXPONENT))
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
                | Glsl::FrexpStruct,
            ) => Nearness::Rounded,
            _ if from.is_int() => Nearness::Rounded,
            _ => Nearness::Approximate,
        },
    };
    // A choice of neighbours is as undecided as an approximation.
    if nearness == Nearness::Either { Nearness::Approximate } else { nearness }
}

/// Whether a float result is exactly the integer that it was converted from.
fn is_exact(operation: Operation, args: &[Operand<'_>], i: usize, bits: u64) -> bool {
    let Instruction::Core(opcode) = operation.instruction else { return false };
    let (width, operand) = (args[0].shape.scalar.width(), args[0].scalars.get(i).map_or(0, |s| s.bits));
    let integer = match Core::from_u32(opcode.into()) {
        Some(Core::ConvertSToF) => i128::from(integer::signed(width, operand)),
        Some(Core::ConvertUToF) => i128::from(operand),
        _ => return false,
    };
    f32::from_bits(bits as u32) as i128 == integer
}

/// The 16-bit float with the same value, if there is one.
fn half(x: f32) -> Option<u64> {
    let half = Half::of(x.wide());
    (half.wide() == x.wide()).then(|| half.bits())
}

/// The reason why arithmetic on a float is in doubt, if the float itself gives one.
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

/// The reason why a rounded float result is in doubt. The exact value may be beyond the greatest
/// float or below the least normal one.
fn boundary_doubt(kind: Scalar, bits: u64) -> Option<Why> {
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

/// The least normal number of the format: 2^-14, 2^-126 or 2^-1022.
fn least_normal<R: Real>() -> f64 {
    R::of_bits(1 << (R::PRECISION - 1)).wide()
}
