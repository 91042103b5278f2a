//! Functions of floats: GLSL.std.450 and the core instructions, each result one definite float.
//!
//! - What IEEE 754 defines (+ - · / and square root), and what needs no rounding, is that, to nearest with ties to even.
//! - Sine to logarithm are computed in 64 bits by the crate `libm`, which is the same on every platform, and rounded once to 32 bits: nearly
//!   always the correctly rounded result, never further than the wrong neighbour of a point that lies within a 64-bit rounding error of the
//!   middle between two floats.
//! - Outside a function's domain it is what `libm` gives: NaN for the square root and logarithm of a negative number, infinity at poles,
//!   IEEE 754's `pow` for a negative base or an exponent of zero.
//! - A NaN result is 0x7fc00000. No function panics.

use super::Op;

/// The NaN that every operation gives.
pub(super) const NAN: f32 = f32::from_bits(0x7fc0_0000);

/// Replaces any NaN by [`NAN`].
#[inline]
pub(super) fn canonical(x: f32) -> f32 {
    if x.is_nan() { NAN } else { x }
}

/// x - y·floor(x/y), with floor and quotient as real numbers: the exact remainder of the sign of x if that has the sign of y or is zero,
/// otherwise that plus y, rounded once. (So a tiny negative x gives y itself.) A zero has the sign of y. NaN for an infinite x, a zero y or a
/// NaN; for an infinite y it is x if that has y's sign or is zero, and y otherwise.
pub(super) fn modulo(x: f32, y: f32) -> f32 {
    let remainder = libm::fmodf(x, y);
    if remainder == 0.0 {
        0f32.copysign(y)
    } else if remainder.is_sign_negative() != y.is_sign_negative() {
        remainder + y
    } else {
        remainder
    }
}

/// 1, -1, or +0 for a zero of either sign.
fn sign(x: f32) -> f32 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else if x == 0.0 {
        0.0
    } else {
        NAN
    }
}

/// y < x ? y : x, as GLSL words it: x if either is NaN or both are zeros.
#[inline]
pub(super) fn min(x: f32, y: f32) -> f32 {
    if y < x { y } else { x }
}

/// x < y ? y : x, as GLSL words it: x if either is NaN or both are zeros.
#[inline]
pub(super) fn max(x: f32, y: f32) -> f32 {
    if x < y { y } else { x }
}

/// min(max(x, low), high).
pub(super) fn clamp(x: f32, low: f32, high: f32) -> f32 {
    min(max(x, low), high)
}

/// t·t·(3 - 2·t) with t = clamp((x - edge0) / (edge1 - edge0), 0, 1), in 32 bits, the product from the left.
fn smooth_step(edge0: f32, edge1: f32, x: f32) -> f32 {
    let t = clamp((x - edge0) / (edge1 - edge0), 0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A function of one float. Round takes ties to even; Fract is x - floor(x) rounded, so 1 for a tiny negative x.
pub(super) fn of_one(op: Op, x: f32) -> f32 {
    let wide = f64::from(x);
    canonical(match op {
        Op::Negate => -x,
        Op::Round | Op::RoundEven => x.round_ties_even(),
        Op::Trunc => x.trunc(),
        Op::Abs => x.abs(),
        Op::Sign => sign(x),
        Op::Floor => x.floor(),
        Op::Ceil => x.ceil(),
        Op::Fract => x - x.floor(),
        Op::Radians => (wide * (std::f64::consts::PI / 180.0)) as f32,
        Op::Degrees => (wide * (180.0 / std::f64::consts::PI)) as f32,
        Op::Sin => libm::sin(wide) as f32,
        Op::Cos => libm::cos(wide) as f32,
        Op::Tan => libm::tan(wide) as f32,
        Op::Asin => libm::asin(wide) as f32,
        Op::Acos => libm::acos(wide) as f32,
        Op::Atan => libm::atan(wide) as f32,
        Op::Sinh => libm::sinh(wide) as f32,
        Op::Cosh => libm::cosh(wide) as f32,
        Op::Tanh => libm::tanh(wide) as f32,
        Op::Asinh => libm::asinh(wide) as f32,
        Op::Acosh => libm::acosh(wide) as f32,
        Op::Atanh => libm::atanh(wide) as f32,
        Op::Exp => libm::exp(wide) as f32,
        Op::Log => libm::log(wide) as f32,
        Op::Exp2 => libm::exp2(wide) as f32,
        Op::Log2 => libm::log2(wide) as f32,
        Op::Sqrt => x.sqrt(),
        Op::InverseSqrt => (1.0 / wide.sqrt()) as f32,
        _ => unreachable!("{op:?} is no function of one float"),
    })
}

/// A function of two floats.
#[inline]
pub(super) fn of_two(op: Op, x: f32, y: f32) -> f32 {
    canonical(match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::Div => x / y,
        Op::Mod => modulo(x, y),
        Op::Atan2 => libm::atan2(f64::from(x), f64::from(y)) as f32,
        Op::Pow => libm::pow(f64::from(x), f64::from(y)) as f32,
        Op::Min => min(x, y),
        Op::Max => max(x, y),
        // (edge, x): 0 if x < edge, otherwise 1, which a NaN gives too.
        Op::Step => {
            if y < x {
                0.0
            } else {
                1.0
            }
        }
        _ => unreachable!("{op:?} is no function of two floats"),
    })
}

/// A function of three floats.
pub(super) fn of_three(op: Op, x: f32, y: f32, z: f32) -> f32 {
    canonical(match op {
        Op::Clamp => clamp(x, y, z),
        Op::SmoothStep => smooth_step(x, y, z),
        _ => unreachable!("{op:?} is no function of three floats"),
    })
}

/// A comparison; false for a NaN, but true for `NotEqual`.
#[inline]
pub(super) fn comparison(op: Op, x: f32, y: f32) -> bool {
    match op {
        Op::LessThan => x < y,
        Op::LessThanEqual => x <= y,
        Op::GreaterThan => x > y,
        Op::GreaterThanEqual => x >= y,
        Op::Equal => x == y,
        Op::NotEqual => x != y,
        _ => unreachable!("{op:?} is no comparison"),
    }
}

/// Whether the function is defined there, for functions that are not required to be correctly rounded.
pub(super) fn in_domain_of_one(op: Op, x: f32) -> bool {
    match op {
        Op::Sqrt => x >= 0.0,
        Op::InverseSqrt | Op::Log | Op::Log2 => x > 0.0,
        Op::Asin | Op::Acos => x.abs() <= 1.0,
        Op::Acosh => x >= 1.0,
        Op::Atanh => x.abs() < 1.0,
        _ => true,
    }
}

/// Whether the function is defined there. Pow is not for a negative base, nor for a zero base without a positive exponent.
pub(super) fn in_domain_of_two(op: Op, x: f32, y: f32) -> bool {
    match op {
        Op::Div | Op::Mod => y != 0.0,
        Op::Atan2 => x != 0.0 || y != 0.0,
        Op::Pow => x > 0.0 || x == 0.0 && y > 0.0,
        _ => true,
    }
}

/// Whether the function is defined there: Clamp if low ≤ high, SmoothStep if edge0 < edge1.
pub(super) fn in_domain_of_three(op: Op, x: f32, y: f32, z: f32) -> bool {
    match op {
        Op::Clamp => y <= z,
        Op::SmoothStep => x < y,
        _ => true,
    }
}
