//! Enclosures from 64-bit arithmetic.
//!
//! Sums and products of 32-bit floats come from error-free transformations. These give a rounded
//! result and its rounding error, both exact. So the enclosure is a point or two neighbours. If the
//! operands have more digits or larger exponents than the proofs cover, or if digits cancel,
//! `tight` answers.

use super::function::Function;
use super::known::known;
use super::{Enclosure, Exact, tight};

/// The number of 64-bit floats that the enclosure reaches to either side of the result of the
/// crate `libm`.
pub const STEPS: u64 = 8;

/// π/180 and 180/π, with relative errors of at most 2·2^-53: those of π and of the division.
const DEGREE: f64 = std::f64::consts::PI / 180.0;
const RADIAN: f64 = 180.0 / std::f64::consts::PI;

/// The magnitudes of operands for which no product, quotient or square, and none of their rounding
/// errors, leaves the normal range.
const SAFE: std::ops::Range<f64> = 1e-90..1e90;

fn is_safe(x: f64) -> bool {
    x == 0.0 || SAFE.contains(&x.abs())
}

/// The float `steps` floats further from zero, infinity at most.
fn outward(magnitude: f64, steps: u64) -> f64 {
    f64::from_bits((magnitude.to_bits() + steps).min(f64::INFINITY.to_bits()))
}

/// The float `steps` floats nearer to zero, zero at most.
fn inward(magnitude: f64, steps: u64) -> f64 {
    f64::from_bits(magnitude.to_bits().saturating_sub(steps))
}

/// The enclosure of [`STEPS`] floats to either side, but not across zero.
#[inline]
pub(super) fn around(x: f64) -> Enclosure {
    let magnitude = x.abs();
    let (nearer, farther) = (inward(magnitude.min(f64::MAX), STEPS), outward(magnitude, STEPS));
    if x.is_sign_negative() { Enclosure { low: -farther, high: -nearer } } else { Enclosure { low: nearer, high: farther } }
}

/// The enclosure of an exact result, from the rounded result and the sign of the rounding error
/// (exact less rounded): a point, or two neighbours.
#[inline]
fn corrected(rounded: f64, error: f64) -> Enclosure {
    if error == 0.0 {
        Enclosure::point(rounded)
    } else if error > 0.0 {
        Enclosure { low: rounded, high: rounded.next_up() }
    } else {
        Enclosure { low: rounded.next_down(), high: rounded }
    }
}

/// x + y rounded, and its exact rounding error: Knuth's sum of two.
#[inline]
fn sum(x: f64, y: f64) -> (f64, f64) {
    let sum = x + y;
    let part = sum - x;
    (sum, (x - (sum - part)) + (y - part))
}

/// x·y rounded, and its exact rounding error, for safe operands.
#[inline]
fn product(x: f64, y: f64) -> (f64, f64) {
    let product = x * y;
    // Two significands of 24 digits make one of 48.
    let is_short = (x.to_bits() | y.to_bits()) & 0x1fff_ffff == 0;
    (product, if is_short { 0.0 } else { libm::fma(x, y, -product) })
}

/// The enclosure of x + y + z. `None` if digits cancel.
fn sum_of_three(x: f64, y: f64, z: f64) -> Option<Enclosure> {
    let (first, first_error) = sum(x, y);
    let (total, error) = sum(first, z);
    let (rest, rest_error) = sum(first_error, error);
    // The exact sum is total + rest + lost_rest.
    let (total, rest) = sum(total, rest);
    if rest == 0.0 {
        return Some(corrected(total, rest_error))
            .filter(|_| rest_error == 0.0 || rest_error.abs() < total.abs() * f64::EPSILON * f64::EPSILON);
    }
    // Then |rest| is at most half a unit in the last place of the total. A tiny addition does not
    // change its sign, nor make it more than one unit.
    (rest_error.abs() <= rest.abs() * 0.25).then(|| corrected(total, rest))
}

pub(super) fn enclose(function: Function, args: &[f64]) -> Exact {
    if let Some(exact) = known(function, args) {
        return exact;
    }
    match computed(function, args) {
        Some(enclosure) => enclosure.into(),
        None => tight::enclose(function, args),
    }
}

fn computed(function: Function, args: &[f64]) -> Option<Enclosure> {
    match *args {
        [x] => of_one(function, x),
        _ if !args.iter().all(|&x| is_safe(x)) && !matches!(function, Function::Atan2 | Function::Pow) => None,
        [x, y] => of_two(function, x, y),
        [x, y, z] => of_three(function, x, y, z),
        _ => None,
    }
}

fn of_one(function: Function, x: f64) -> Option<Enclosure> {
    use Function::*;
    // No sine or cosine is beyond 1 in magnitude.
    let bounded = |x: f64| {
        let Enclosure { low, high } = around(x);
        Enclosure { low: low.max(-1.0), high: high.min(1.0) }
    };
    Some(match function {
        Fract => {
            let (difference, error) = sum(x, -x.floor());
            corrected(difference, error)
        }
        // With the product's rounding the error is 3·2^-53, which is 3 floats at most.
        Radians => around(x * DEGREE),
        Degrees => around(x * RADIAN),
        Sin => bounded(libm::sin(x)),
        Cos => bounded(libm::cos(x)),
        Tan => around(libm::tan(x)),
        Asin => around(libm::asin(x)),
        Acos => around(libm::acos(x)),
        Atan => around(libm::atan(x)),
        Sinh => around(libm::sinh(x)),
        Cosh => around(libm::cosh(x)),
        Tanh => around(libm::tanh(x)),
        Asinh => around(libm::asinh(x)),
        Acosh => around(libm::acosh(x)),
        Atanh => around(libm::atanh(x)),
        Exp => around(libm::exp(x)),
        Log => around(libm::log(x)),
        Exp2 => around(libm::exp2(x)),
        Log2 => around(libm::log2(x)),
        Sqrt if is_safe(x) => {
            let root = x.sqrt();
            corrected(root, libm::fma(-root, root, x))
        }
        // Root and quotient are rounded: at most 1.5 units in the last place.
        InverseSqrt => around(1.0 / x.sqrt()),
        _ => return None,
    })
}

fn of_two(function: Function, x: f64, y: f64) -> Option<Enclosure> {
    use Function::*;
    Some(match function {
        FAdd | FSub => {
            let (total, error) = sum(x, if function == FSub { -y } else { y });
            corrected(total, error)
        }
        FMul => {
            let (total, error) = product(x, y);
            corrected(total, error)
        }
        FDiv => {
            let quotient = x / y;
            let rest = libm::fma(-quotient, y, x);
            corrected(quotient, if y < 0.0 { -rest } else { rest })
        }
        FMod => {
            let remainder = libm::fmod(x, y);
            if remainder == 0.0 {
                Enclosure::point(0f64.copysign(y))
            } else if (remainder < 0.0) == (y < 0.0) {
                Enclosure::point(remainder)
            } else {
                let (total, error) = sum(remainder, y);
                corrected(total, error)
            }
        }
        Atan2 => around(libm::atan2(x, y)),
        Pow => {
            let power = libm::pow(x, y);
            // An exact result must be found here: a power of a short number.
            tight::exact_power(x, y).unwrap_or_else(|| around(power))
        }
        _ => return None,
    })
}

fn of_three(function: Function, x: f64, y: f64, z: f64) -> Option<Enclosure> {
    use Function::*;
    match function {
        Fma => {
            let (product, error) = product(x, y);
            sum_of_three(product, z, error)
        }
        // x - x·z + y·z.
        FMix => {
            let ((left, left_error), (right, right_error)) = (product(x, -z), product(y, z));
            (left_error == 0.0 && right_error == 0.0).then(|| sum_of_three(left, right, x)).flatten()
        }
        // Each difference is rounded once, and so is each operation after it. 3 - 2t is at least 1.
        // It has at most twice t's relative error, which is 3 units of 2^-53. In all there are 3 +
        // 3 + 7 + 3 units, and products of these: 17·2^-53 is at most 17 floats.
        SmoothStep => {
            let t = (z - x) / (y - x);
            let result = t * t * (3.0 - 2.0 * t);
            (result > 1e-250).then(|| {
                let Enclosure { low, high } = around(result);
                Enclosure { low: inward(low, 2 * STEPS), high: outward(high, 2 * STEPS).min(1.0) }
            })
        }
        _ => None,
    }
}
