//! Integers of 8, 16, 32 and 64 bits: SPIR-V §3.3.13 and §3.3.14, the comparisons
//! of §3.3.15, and GLSL.std.450.
//!
//! A component is its bits, zero-extended to 64. The instruction, not the type, decides whether it
//! counts as signed. A result is the low bits of the exact one.

use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};

use super::{Computed, Environment, Instruction, Wide};
use crate::undefined::{Ub, Unspecified};

/// A mask of the low `width` bits; 1 ≤ width ≤ 64.
#[inline]
pub fn mask(width: u8) -> u64 {
    u64::MAX >> (64 - width)
}

/// The bits as a signed integer of that width.
#[inline]
pub fn signed(width: u8, bits: u64) -> i64 {
    let unused = 64 - u32::from(width);
    ((bits << unused) as i64) >> unused
}

/// An instruction on integer components of `width` bits. Operands have that width, except shifts,
/// offsets and counts, which are unsigned and of any width. `None` if the instruction is not one
/// of these.
#[inline(always)]
pub fn core(op: Core, width: u8, args: &[u64], environment: Environment) -> Option<Computed> {
    let operand = |i: usize| args.get(i).copied().unwrap_or(0);
    let (a, b) = (operand(0), operand(1));
    let (x, y) = (signed(width, a), signed(width, b));
    let value = |bits: u64| Computed::Value(bits & mask(width));
    let result = match op {
        Core::SNegate => value(a.wrapping_neg()),
        Core::IAdd => value(a.wrapping_add(b)),
        Core::ISub => value(a.wrapping_sub(b)),
        Core::IMul => value(a.wrapping_mul(b)),
        Core::UDiv => a.checked_div(b).map_or(Computed::Behaviour(Ub::DivisionByZero), value),
        Core::UMod => a.checked_rem(b).map_or(Computed::Behaviour(Ub::DivisionByZero), value),
        Core::SDiv => divided(width, x, y).unwrap_or_else(|| value(x.wrapping_div(y) as u64)),
        Core::SRem | Core::SMod => divided(width, x, y).or(negative(x, y, environment)).unwrap_or_else(|| {
            let remainder = x.wrapping_rem(y);
            // The sign of a remainder of OpSMod is the divisor's.
            let floored = op == Core::SMod && remainder != 0 && (remainder < 0) != (y < 0);
            value(if floored { remainder.wrapping_add(y) } else { remainder } as u64)
        }),
        Core::ShiftLeftLogical | Core::ShiftRightLogical | Core::ShiftRightArithmetic if b >= u64::from(width) => {
            Computed::Undefined(Unspecified::ShiftWidth)
        }
        Core::ShiftLeftLogical => value(a << b),
        Core::ShiftRightLogical => value(a >> b),
        Core::ShiftRightArithmetic => value((x >> b) as u64),
        Core::BitwiseOr => value(a | b),
        Core::BitwiseXor => value(a ^ b),
        Core::BitwiseAnd => value(a & b),
        Core::Not => value(!a),
        Core::BitFieldInsert => match field(width, operand(2), operand(3)) {
            Some(field) => value(a & !field | b.checked_shl(operand(2) as u32).unwrap_or(0) & field),
            None => Computed::Undefined(Unspecified::BitFieldRange),
        },
        Core::BitFieldUExtract | Core::BitFieldSExtract => match field(width, b, operand(2)) {
            Some(0) => value(0),
            Some(field) => {
                let extracted = (a & field) >> b;
                value(if op == Core::BitFieldSExtract { signed(operand(2) as u8, extracted) as u64 } else { extracted })
            }
            None => Computed::Undefined(Unspecified::BitFieldRange),
        },
        Core::BitReverse => value(a.reverse_bits() >> (64 - width)),
        Core::BitCount => Computed::Value(u64::from(a.count_ones())),
        Core::IEqual => (a == b).into(),
        Core::INotEqual => (a != b).into(),
        Core::UGreaterThan => (a > b).into(),
        Core::SGreaterThan => (x > y).into(),
        Core::UGreaterThanEqual => (a >= b).into(),
        Core::SGreaterThanEqual => (x >= y).into(),
        Core::ULessThan => (a < b).into(),
        Core::SLessThan => (x < y).into(),
        Core::ULessThanEqual => (a <= b).into(),
        Core::SLessThanEqual => (x <= y).into(),
        _ => return None,
    };
    Some(result)
}

/// Why dividing x by y is undefined behaviour. `None` if it is defined.
fn divided(width: u8, x: i64, y: i64) -> Option<Computed> {
    let least = signed(width, 1 << (width - 1));
    match y {
        0 => Some(Computed::Behaviour(Ub::DivisionByZero)),
        -1 if x == least => Some(Computed::Behaviour(Ub::DivisionOverflow)),
        _ => None,
    }
}

/// The undefined remainder of negative operands, if the environment does not define it.
fn negative(x: i64, y: i64, environment: Environment) -> Option<Computed> {
    let undefined = (x < 0 || y < 0) && !environment.maintenance8;
    undefined.then_some(Computed::Undefined(Unspecified::NegativeRemainder))
}

/// A mask of a field's bits. `None` if offset, count or their sum is more than the width.
fn field(width: u8, offset: u64, count: u64) -> Option<u64> {
    let end = offset.checked_add(count)?;
    match count {
        _ if end > u64::from(width) => None,
        0 => Some(0),
        _ => Some(mask(count as u8) << offset),
    }
}

/// OpIAddCarry, OpISubBorrow, OpUMulExtended and OpSMulExtended: the low bits, then the carry, the
/// borrow or the high bits.
#[inline(always)]
pub fn pair(op: Core, width: u8, a: u64, b: u64) -> Option<[u64; 2]> {
    let low_and_high = |wide: u128| [wide as u64 & mask(width), (wide >> width) as u64 & mask(width)];
    Some(match op {
        Core::IAddCarry => low_and_high(u128::from(a) + u128::from(b)),
        Core::ISubBorrow => [a.wrapping_sub(b) & mask(width), u64::from(a < b)],
        Core::UMulExtended => low_and_high(u128::from(a) * u128::from(b)),
        Core::SMulExtended => low_and_high((i128::from(signed(width, a)) * i128::from(signed(width, b))) as u128),
        _ => return None,
    })
}

/// The sum of the products of two lists of integers, to `width` bits: its low bits. With an
/// accumulator of that width, the accumulator is added and the sum saturates. In this case the
/// result is undefined if a product or a sum of products does not fit the width, as a signed or
/// unsigned integer. The order of the sum is not specified, so any order may be used.
pub fn dot(width: u8, is_signed: bool, a: &[i128], b: &[i128], accumulator: Option<u64>) -> Computed {
    // Only a product of unsigned 64-bit integers exceeds 127 bits, and none exceeds 128. So low
    // bits are right.
    let products = || a.iter().zip(b).map(|(x, y)| x.wrapping_mul(*y));
    let sum = products().fold(0i128, i128::wrapping_add);
    let Some(accumulator) = accumulator else { return Computed::Value(sum as u64 & mask(width)) };
    let (least, most) = match is_signed {
        true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        false => (0, mask(width).into()),
    };
    // A partial sum in any order lies between the sum of the products below 0 and that of
    // the others.
    let range = least..=most;
    let of_sign = |below: bool| products().filter(move |product| (*product < 0) == below).try_fold(0i128, i128::checked_add);
    let holds = |sum: Option<i128>| sum.is_some_and(|sum| range.contains(&sum));
    // An unsigned 64-bit product that exceeds 127 bits is below 0 here, which is out of range too.
    if !holds(of_sign(true)) || !holds(of_sign(false)) {
        return Computed::Undefined(Unspecified::DotOverflow);
    }
    let accumulator = if is_signed { signed(width, accumulator).into() } else { i128::from(accumulator) };
    Computed::Value((sum + accumulator).clamp(least, most) as u64 & mask(width))
}

/// A function of GLSL.std.450 on integer components of `width` bits. `None` if the function is not
/// one of these.
#[inline(always)]
pub fn glsl(op: Glsl, width: u8, args: &[u64]) -> Option<Computed> {
    let operand = |i: usize| args.get(i).copied().unwrap_or(0);
    let [a, b, c] = [operand(0), operand(1), operand(2)];
    let [x, y, z] = [a, b, c].map(|bits| signed(width, bits));
    let value = |bits: u64| Computed::Value(bits & mask(width));
    let bit = |number: Option<u32>| value(number.map_or(u64::MAX, u64::from));
    let result = match op {
        Glsl::SAbs => value(x.wrapping_abs() as u64),
        Glsl::SSign => value(x.signum() as u64),
        Glsl::UMin => value(a.min(b)),
        Glsl::SMin => value(x.min(y) as u64),
        Glsl::UMax => value(a.max(b)),
        Glsl::SMax => value(x.max(y) as u64),
        Glsl::UClamp if b > c => Computed::Undefined(Unspecified::ClampBounds),
        Glsl::SClamp if y > z => Computed::Undefined(Unspecified::ClampBounds),
        Glsl::UClamp => value(a.clamp(b, c)),
        Glsl::SClamp => value(x.clamp(y, z) as u64),
        Glsl::FindILsb => bit((a != 0).then(|| a.trailing_zeros())),
        Glsl::FindUMsb => bit(a.checked_ilog2()),
        Glsl::FindSMsb => bit((if x < 0 { !x } else { x } as u64).checked_ilog2()),
        _ => return None,
    };
    Some(result)
}

/// One 32-bit word for each of [`Wide::LANES`] executions of an instruction.
pub(crate) type Words = [u32; Wide::LANES];

/// A function's value in each execution. `None` if it has no value in an execution of the
/// set `requested`.
#[inline(always)]
pub(super) fn each(args: &[Words], requested: u64, of: impl Fn(&[u64; 4]) -> Option<Computed>) -> Option<Words> {
    const ZEROS: Words = [0; Wide::LANES];
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| args.get(k).unwrap_or(&ZEROS));
    let (mut values, mut has_value) = (ZEROS, 0u64);
    for lane in 0..Wide::LANES {
        if let Some(Computed::Value(bits)) = of(&[a[lane].into(), b[lane].into(), c[lane].into(), d[lane].into()]) {
            values[lane] = bits as u32;
            has_value |= 1 << lane;
        }
    }
    (requested & !has_value == 0).then_some(values)
}

/// Chooses the instruction once for all executions, not in each of them.
macro_rules! of_each {
    ($op:expr, $all:ident, [$($name:ident)*], $each:expr) => {
        match $op {
            $($all::$name => $each($all::$name),)*
            _ => None,
        }
    };
}
pub(super) use of_each;

/// The values of [`core`] or [`glsl`] for 32-bit integers in each execution. `None` if there is no
/// value in an execution of the set `requested` (bit i is execution i), or if the instruction is
/// not listed here.
pub(crate) fn side_by_side(instruction: Instruction, args: &[Words], requested: u64, environment: Environment) -> Option<Words> {
    match instruction {
        Instruction::Core(opcode) => of_each!(
            Core::from_u32(opcode.into())?,
            Core,
            [UDiv UMod SDiv SRem SMod BitFieldInsert BitFieldUExtract BitFieldSExtract BitReverse BitCount],
            |op| each(args, requested, |bits| core(op, 32, bits, environment))
        ),
        Instruction::Glsl(number) => of_each!(
            Glsl::from_u32(number)?,
            Glsl,
            [SAbs SSign UMin SMin UMax SMax UClamp SClamp FindILsb FindUMsb FindSMsb],
            |op| each(args, requested, |bits| glsl(op, 32, bits))
        ),
    }
}

/// The results of [`pair`] for 32-bit integers in each execution: all low words, then all
/// high words.
pub(crate) fn pairs_side_by_side(instruction: Instruction, a: &Words, b: &Words) -> Option<[Words; 2]> {
    let Instruction::Core(opcode) = instruction else { return None };
    of_each!(Core::from_u32(opcode.into())?, Core, [IAddCarry ISubBorrow UMulExtended SMulExtended], |op| {
        let mut values = [[0; Wide::LANES]; 2];
        for lane in 0..Wide::LANES {
            let [low, high] = pair(op, 32, a[lane].into(), b[lane].into())?;
            (values[0][lane], values[1][lane]) = (low as u32, high as u32);
        }
        Some(values)
    })
}

/// Whether an instruction decorated NoSignedWrap (`signed_wrap`) or NoUnsignedWrap overflows on
/// components of `width` bits.
pub fn wraps(op: Core, width: u8, signed_wrap: bool, a: u64, b: u64) -> bool {
    let (x, y) = (i128::from(signed(width, a)), i128::from(signed(width, b)));
    let (u, v) = (a as i128, b as i128);
    let exact = match (op, signed_wrap) {
        (Core::IAdd, true) => x + y,
        (Core::IAdd, false) => u + v,
        (Core::ISub, true) => x - y,
        (Core::ISub, false) => u - v,
        (Core::IMul, true) => x * y,
        // Below 2^128, but perhaps not below 2^127.
        (Core::IMul, false) => return u128::from(a) * u128::from(b) > u128::from(mask(width)),
        (Core::SNegate, true) => -x,
        (Core::SNegate, false) => -u,
        (Core::ShiftLeftLogical, _) if b >= u64::from(width) => return false,
        (Core::ShiftLeftLogical, true) => x << b,
        (Core::ShiftLeftLogical, false) => u << b,
        _ => return false,
    };
    let (least, greatest) = if signed_wrap { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, i128::from(mask(width))) };
    exact < least || exact > greatest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Each of 64 executions gives the bits that it gives alone. There is no result if a requested
    /// execution is undefined.
    #[test]
    fn side_by_side_is_as_alone() {
        let mut source = Random::new(1);
        let mut random = || {
            let bits = source.bits() as u32;
            if bits.is_multiple_of(4) { bits >> 2 } else { [0, 1, 7, 31, u32::MAX, 1 << 31][(bits >> 4) as usize % 6] }
        };
        let (mut listed, mut refused) = (0, 0);
        let cores = (0..=u16::MAX).filter(|&n| Core::from_u32(n.into()).is_some()).map(Instruction::Core);
        let glsls = (0..128).filter(|&n| Glsl::from_u32(n).is_some()).map(Instruction::Glsl);
        for instruction in cores.chain(glsls) {
            let single = |bits: &[u64]| match instruction {
                Instruction::Core(n) => core(Core::from_u32(n.into())?, 32, bits, Environment::default()),
                Instruction::Glsl(n) => glsl(Glsl::from_u32(n)?, 32, bits),
            };
            for _ in 0..20 {
                let args: [Words; 4] = [0; 4].map(|_| std::array::from_fn(|_| random()));
                let expected: Vec<Option<Computed>> = (0..Wide::LANES).map(|lane| single(&args.map(|a| a[lane].into()))).collect();
                let requested = (0..Wide::LANES)
                    .filter(|&lane| matches!(expected[lane], Some(Computed::Value(_))))
                    .fold(0u64, |set, lane| set | 1 << lane);
                if let Some(found) = side_by_side(instruction, &args, requested, Environment::default()) {
                    listed += 1;
                    for lane in (0..Wide::LANES).filter(|lane| requested >> lane & 1 == 1) {
                        assert_eq!(Some(Computed::Value(found[lane].into())), expected[lane], "{instruction:?} in execution {lane}");
                    }
                    if requested != u64::MAX {
                        refused += 1;
                        assert_eq!(side_by_side(instruction, &args, u64::MAX, Environment::default()), None, "{instruction:?}");
                    }
                }
                if let Some(pairs) = pairs_side_by_side(instruction, &args[0], &args[1]) {
                    let Instruction::Core(n) = instruction else { panic!("{instruction:?} has two results") };
                    let op = Core::from_u32(n.into()).expect("an opcode");
                    for lane in 0..Wide::LANES {
                        let single = pair(op, 32, args[0][lane].into(), args[1][lane].into()).expect("two results");
                        assert_eq!(pairs.map(|words| u64::from(words[lane])), single, "{op:?} in execution {lane}");
                    }
                    listed += 1;
                }
            }
        }
        assert!(listed >= 500 && refused >= 100, "{listed} told, {refused} of which are not where all are asked for");
    }
}
