//! Results that need no computation: NaN, infinities, domains, poles, exact values, and arguments
//! so small or so large that the result is certainly between two neighbouring floats.

use super::function::Function;
use super::{Enclosure, Exact};
use crate::number::scalar;
use std::f64::consts::{FRAC_PI_2, PI};

/// If |x| ≤ 2^-28, then |f(x) - x| < |x|³ for the odd functions. That is under half the spacing
/// of floats at x, so f(x) is between x and a neighbour of x.
const TINY: f64 = 1.0 / (1u64 << 28) as f64;
/// If |x| ≤ 2^-55, then exp(x) and 2^x are between 1 and a neighbour of 1, whose distance is
/// 2^-53 or 2^-52.
const TINIEST: f64 = 1.0 / (1u64 << 55) as f64;

/// The numbers strictly between 0 and the least positive float.
const UNDERFLOW: Enclosure = Enclosure { low: 0.0, high: f64::from_bits(1) };
/// The finite numbers beyond the largest float.
const OVERFLOW: Enclosure = Enclosure { low: f64::MAX, high: f64::INFINITY };

fn point(x: f64) -> Option<Exact> {
    Some(Enclosure::point(x).into())
}

fn within(enclosure: Enclosure) -> Option<Exact> {
    Some(enclosure.into())
}

/// The enclosure with the sign of another number.
fn signed(enclosure: Enclosure, sign: f64) -> Option<Exact> {
    let Enclosure { low, high } = enclosure;
    within(if sign.is_sign_negative() { Enclosure { low: -high, high: -low } } else { enclosure })
}

/// π/2 = 1.5707963267948966192…, and the float below it 1.57079632679489655800.
const HALF_PI: Enclosure = Enclosure { low: FRAC_PI_2, high: FRAC_PI_2.next_up() };
/// π = 3.1415926535897932384…, and the float below it 3.14159265358979311600.
const WHOLE_PI: Enclosure = Enclosure { low: PI, high: PI.next_up() };

const UNDEFINED: Option<Exact> = Some(Exact::Undefined);

/// The result, if it is known without computing. `None` if it has to be computed. Then all operands
/// are finite and within the domain.
#[inline]
pub(super) fn known(function: Function, args: &[f64]) -> Option<Exact> {
    match *args {
        [x] => of_one(function, x),
        [x, y] => of_two(function, x, y),
        [x, y, z] => of_three(function, x, y, z),
        _ => UNDEFINED,
    }
}

/// Whether a positive, finite float is a power of two.
pub(super) fn is_power_of_two(x: f64) -> bool {
    let bits = x.to_bits();
    let fraction = bits << 12;
    if bits >> 52 == 0 { fraction.is_power_of_two() } else { fraction == 0 }
}

/// The exponent of a power of two.
pub(super) fn exponent_of_power(x: f64) -> i32 {
    let bits = x.to_bits();
    match (bits >> 52) as i32 {
        0 => bits.trailing_zeros() as i32 - 1074,
        biased => biased - 1023,
    }
}

/// 2^exponent for an exponent from -1074 to 1023.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(if exponent < -1022 { 1 << (exponent + 1074) } else { ((exponent + 1023) as u64) << 52 })
}

fn of_one(function: Function, x: f64) -> Option<Exact> {
    use Function::*;
    if x.is_nan() {
        return UNDEFINED;
    }
    let magnitude = x.abs();
    let infinite = magnitude == f64::INFINITY;
    match function {
        FNegate => point(-x),
        Round | RoundEven => point(x.round_ties_even()),
        Trunc => point(x.trunc()),
        FAbs => point(magnitude),
        FSign => point(if x == 0.0 { 0.0 } else { 1f64.copysign(x) }),
        Floor => point(x.floor()),
        Ceil => point(x.ceil()),
        Fract if infinite => UNDEFINED,
        Fract if x >= 0.0 => point(x - x.floor()),
        Radians | Degrees if x == 0.0 || infinite => point(x),
        Sin | Cos | Tan if infinite => UNDEFINED,
        Asin | Acos | Atanh if magnitude > 1.0 => UNDEFINED,
        Acosh if x < 1.0 => UNDEFINED,
        Log | Log2 | Sqrt | InverseSqrt if x < 0.0 => UNDEFINED,
        Sin | Tan | Asin | Atan | Sinh | Tanh | Asinh | Atanh if x == 0.0 => point(x),
        Sin | Atan | Tanh | Asinh if magnitude <= TINY => within(Enclosure::before(x)),
        Tan | Asin | Sinh | Atanh if magnitude <= TINY => within(Enclosure::beyond(x)),
        Cos | Cosh | Exp | Exp2 if x == 0.0 => point(1.0),
        Cos if magnitude <= TINY => within(Enclosure::before(1.0)),
        Cosh if magnitude <= TINY => within(Enclosure::beyond(1.0)),
        Exp | Exp2 if magnitude <= TINIEST => within(if x > 0.0 { Enclosure::beyond(1.0) } else { Enclosure::before(1.0) }),
        Acos if x == 1.0 => point(0.0),
        // 1/|x| is below 2^-60. The distance of π/2 from the float below it is more.
        Atan if magnitude >= (1u64 << 60) as f64 => signed(HALF_PI, x),
        Sinh | Asinh if infinite => point(x),
        Cosh if infinite => point(magnitude),
        // e^711 / 2 = 2^1024.7.
        Sinh if magnitude >= 711.0 => signed(OVERFLOW, x),
        Cosh if magnitude >= 711.0 => within(OVERFLOW),
        Tanh if infinite => point(1f64.copysign(x)),
        // 1 - tanh(20) < 2·e^-40 < 2^-53.
        Tanh if magnitude >= 20.0 => within(Enclosure::before(1f64.copysign(x))),
        Acosh | Log if x == 1.0 => point(0.0),
        Acosh | Log | Log2 | Sqrt if infinite => point(x),
        Atanh if magnitude == 1.0 => point(f64::INFINITY.copysign(x)),
        Exp | Exp2 if infinite => point(if x > 0.0 { x } else { 0.0 }),
        // e^710 = 2^1024.3, e^-746 = 2^-1076.2.
        Exp if x >= 710.0 => within(OVERFLOW),
        Exp if x <= -746.0 => within(UNDERFLOW),
        Exp2 if x >= 1024.0 => within(OVERFLOW),
        Exp2 if x < -1074.0 => within(UNDERFLOW),
        Exp2 if x == x.trunc() => point(power_of_two(x as i32)),
        Log | Log2 if x == 0.0 => point(f64::NEG_INFINITY),
        Log2 if is_power_of_two(x) => point(f64::from(exponent_of_power(x))),
        Sqrt if x == 0.0 => point(x),
        InverseSqrt if x == 0.0 => point(f64::INFINITY.copysign(x)),
        InverseSqrt if infinite => point(0.0),
        InverseSqrt if is_power_of_two(x) && exponent_of_power(x) % 2 == 0 => point(power_of_two(-exponent_of_power(x) / 2)),
        _ => None,
    }
}

fn of_two(function: Function, x: f64, y: f64) -> Option<Exact> {
    use Function::*;
    match function {
        NMin | NMax if x.is_nan() && !y.is_nan() => return point(y),
        NMin | NMax if y.is_nan() && !x.is_nan() => return point(x),
        _ if x.is_nan() || y.is_nan() => return UNDEFINED,
        _ => {}
    }
    let infinite = !(x.is_finite() && y.is_finite());
    // IEEE 754's result for infinities is the limit, or NaN if there is none.
    let limit = |value: f64| if value.is_nan() { UNDEFINED } else { point(value) };
    match function {
        FAdd if infinite => limit(x + y),
        FSub if infinite => limit(x - y),
        FMul if infinite || x == 0.0 || y == 0.0 => limit(x * y),
        FDiv if infinite || x == 0.0 || y == 0.0 => limit(x / y),
        FRem | FMod if x.is_infinite() || y == 0.0 => UNDEFINED,
        FRem => point(libm::fmod(x, y)),
        // For x of the other sign, x - y·(-1) grows with y.
        FMod if infinite => point(if x == 0.0 {
            0f64.copysign(y)
        } else if (x < 0.0) == (y < 0.0) {
            x
        } else {
            y
        }),
        FMin | NMin => point(scalar::min(x, y)),
        FMax | NMax => point(scalar::max(x, y)),
        Step => point(if y < x { 0.0 } else { 1.0 }),
        Atan2 => angle(x, y),
        Pow => power(x, y),
        Ldexp if y != y.trunc() => UNDEFINED,
        Ldexp if x == 0.0 || x.is_infinite() => point(x),
        Ldexp => scaled(x, y),
        _ => None,
    }
}

fn of_three(function: Function, x: f64, y: f64, z: f64) -> Option<Exact> {
    use Function::*;
    if function == NClamp && !y.is_nan() && !z.is_nan() && y <= z {
        return point(if x.is_nan() { y } else { scalar::clamp(x, y, z) });
    }
    if x.is_nan() || y.is_nan() || z.is_nan() {
        return UNDEFINED;
    }
    let infinite = !(x.is_finite() && y.is_finite() && z.is_finite());
    let limit = |value: f64| if value.is_nan() { UNDEFINED } else { point(value) };
    match function {
        FClamp | NClamp if y > z => UNDEFINED,
        FClamp => point(scalar::clamp(x, y, z)),
        SmoothStep if x >= y || x.is_infinite() || y.is_infinite() => UNDEFINED,
        SmoothStep if z <= x => point(0.0),
        SmoothStep if z >= y => point(1.0),
        FMix if infinite => limit(x * (1.0 - z) + y * z),
        Fma if infinite => {
            let product = x * y;
            // A finite product, however large, is no infinity.
            if x.is_finite() && y.is_finite() { point(z) } else { limit(product + z) }
        }
        _ => None,
    }
}

/// atan2(y, x) on the axes and at infinity.
fn angle(y: f64, x: f64) -> Option<Exact> {
    if y.is_infinite() && x.is_infinite() || x == 0.0 && y == 0.0 {
        UNDEFINED
    } else if y == 0.0 || x.is_infinite() {
        if x > 0.0 { point(0f64.copysign(y)) } else { signed(WHOLE_PI, y) }
    } else if x == 0.0 || y.is_infinite() {
        signed(HALF_PI, y)
    } else {
        None
    }
}

/// x^y if a factor is trivial, or if y·log2(x) is far enough from the range of floats, or so near
/// to zero that x^y is next to 1.
fn power(x: f64, y: f64) -> Option<Exact> {
    let zero_or_infinity = |grows: bool| point(if grows { f64::INFINITY } else { 0.0 });
    if x < 0.0 || x == 0.0 && y <= 0.0 {
        UNDEFINED
    } else if x == 0.0 {
        point(0.0)
    } else if y.is_infinite() {
        if x == 1.0 { UNDEFINED } else { zero_or_infinity((x > 1.0) == (y > 0.0)) }
    } else if x.is_infinite() {
        if y == 0.0 { UNDEFINED } else { zero_or_infinity(y > 0.0) }
    } else if x == 1.0 || y == 0.0 {
        point(1.0)
    } else if y == 1.0 {
        point(x)
    } else {
        // Off by at most two units in the last place.
        let exponent = y * libm::log2(x);
        if exponent > 1025.0 {
            within(OVERFLOW)
        } else if exponent < -1076.0 {
            within(UNDERFLOW)
        } else if exponent.abs() <= TINIEST {
            within(if (x > 1.0) == (y > 0.0) { Enclosure::beyond(1.0) } else { Enclosure::before(1.0) })
        } else {
            None
        }
    }
}

/// The exponent of a power of two that takes subnormal floats to normal ones.
const LIFT: i32 = 200;

/// x·2^exponent for an x that is neither zero nor infinite.
fn scaled(x: f64, exponent: f64) -> Option<Exact> {
    // Beyond these exponents the result is out of range in any case.
    let exponent = exponent.clamp(-2200.0, 2200.0) as i32;
    let result = libm::scalbn(x, exponent);
    if result.is_infinite() {
        signed(OVERFLOW, x)
    } else if libm::scalbn(result, -exponent) == x {
        point(result)
    } else if libm::scalbn(result, LIFT).abs() > libm::scalbn(x, exponent + LIFT).abs() {
        // Rounded up among the subnormal floats. With LIFT both sides are exact, unless the result
        // is zero.
        within(Enclosure::before(result))
    } else {
        within(Enclosure::beyond(result))
    }
}
