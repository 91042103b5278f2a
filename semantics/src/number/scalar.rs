//! Functions of floats: GLSL.std.450 and the core instructions, each result one definite float.
//!
//! - Results that IEEE 754 defines (+ - · / and square root) are rounded to nearest with ties to
//!   even. Results that need no rounding are exact.
//! - Everything is written once for the three formats of [`Real`]; λV's numbers have 32 bits.
//! - Radians to logarithm, powers and inverse roots are computed in 64 bits by the crate `libm`,
//!   which is the same on every platform, and rounded once. In 16 and 32 bits the result is the
//!   correctly rounded one: if libm's error leaves a doubt about it, high precision decides
//!   (`reference`). In 64 bits it is libm's, whose error is below 3 units in the last place.
//! - Outside a function's domain the result is that of `libm`: NaN for the square root and
//!   logarithm of a negative number, infinity at poles, IEEE 754's `pow` for a negative base or an
//!   exponent of zero.
//! - A NaN result is the quiet one, 0x7fc00000 in 32 bits. No function panics.

use super::reference::correctly_rounded;
use super::{Op, Real};

/// x - y·floor(x/y), with floor and quotient as real numbers. Let r be the exact remainder, which
/// has the sign of x. If r has the sign of y or is zero, the result is r. Otherwise it is r + y,
/// rounded once. (So a tiny negative x gives y itself.) A zero has the sign of y. The result is NaN
/// for an infinite x, a zero y or a NaN. For an infinite y it is x if x has y's sign or is zero,
/// and y otherwise.
#[inline(always)]
pub(super) fn modulo<R: Real>(x: R, y: R) -> R {
    let remainder = x.remainder(y);
    if remainder == R::zero() {
        R::zero().copysign(y)
    } else if remainder.is_negative() != y.is_negative() {
        remainder + y
    } else {
        remainder
    }
}

/// 1, -1, or +0 for a zero of either sign.
#[inline(always)]
fn sign<R: Real>(x: R) -> R {
    let zero = R::zero();
    if x > zero {
        R::one()
    } else if x < zero {
        -R::one()
    } else if x == zero {
        zero
    } else {
        x
    }
}

/// y < x ? y : x, as GLSL words it: x if either is NaN or both are zeros.
#[inline]
pub(super) fn min<R: Real>(x: R, y: R) -> R {
    if y < x { y } else { x }
}

/// x < y ? y : x, as GLSL words it: x if either is NaN or both are zeros.
#[inline]
pub(super) fn max<R: Real>(x: R, y: R) -> R {
    if x < y { y } else { x }
}

/// min(max(x, low), high).
#[inline(always)]
pub(super) fn clamp<R: Real>(x: R, low: R, high: R) -> R {
    min(max(x, low), high)
}

/// t·t·(3 - 2·t) with t = clamp((x - edge0) / (edge1 - edge0), 0, 1), each operation rounded, the
/// product from the left.
#[inline(always)]
fn smooth_step<R: Real>(edge0: R, edge1: R, x: R) -> R {
    let t = clamp((x - edge0) / (edge1 - edge0), R::zero(), R::one());
    t * t * (R::of(3.0) - R::of(2.0) * t)
}

/// A function of one float. Round takes ties to even; Fract is x - floor(x) rounded, so 1 for a
/// tiny negative x.
#[inline(always)]
pub(super) fn of_one<R: Real>(op: Op, x: R) -> R {
    let wide = x.wide();
    let result = match op {
        Op::Negate => -x,
        Op::Round | Op::RoundEven => x.round_ties_even(),
        Op::Trunc => x.trunc(),
        Op::Abs => x.abs(),
        Op::Sign => sign(x),
        Op::Floor => x.floor(),
        Op::Ceil => x.ceil(),
        Op::Fract => x - x.floor(),
        Op::Radians => correctly_rounded(op, wide * (std::f64::consts::PI / 180.0), &[wide]),
        Op::Degrees => correctly_rounded(op, wide * (180.0 / std::f64::consts::PI), &[wide]),
        Op::Sin => correctly_rounded(op, libm::sin(wide), &[wide]),
        Op::Cos => correctly_rounded(op, libm::cos(wide), &[wide]),
        Op::Tan => correctly_rounded(op, libm::tan(wide), &[wide]),
        Op::Asin => correctly_rounded(op, libm::asin(wide), &[wide]),
        Op::Acos => correctly_rounded(op, libm::acos(wide), &[wide]),
        Op::Atan => correctly_rounded(op, libm::atan(wide), &[wide]),
        Op::Sinh => correctly_rounded(op, libm::sinh(wide), &[wide]),
        Op::Cosh => correctly_rounded(op, libm::cosh(wide), &[wide]),
        Op::Tanh => correctly_rounded(op, libm::tanh(wide), &[wide]),
        Op::Asinh => correctly_rounded(op, libm::asinh(wide), &[wide]),
        Op::Acosh => correctly_rounded(op, libm::acosh(wide), &[wide]),
        Op::Atanh => correctly_rounded(op, libm::atanh(wide), &[wide]),
        Op::Exp => correctly_rounded(op, libm::exp(wide), &[wide]),
        Op::Log => correctly_rounded(op, libm::log(wide), &[wide]),
        Op::Exp2 => correctly_rounded(op, libm::exp2(wide), &[wide]),
        Op::Log2 => correctly_rounded(op, libm::log2(wide), &[wide]),
        Op::Sqrt => x.sqrt(),
        Op::InverseSqrt => correctly_rounded(op, 1.0 / wide.sqrt(), &[wide]),
        _ => unreachable!("{op:?} is no function of one float"),
    };
    result.canonical()
}

/// A function of two floats.
#[inline(always)]
pub(super) fn of_two<R: Real>(op: Op, x: R, y: R) -> R {
    let result = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::Div => x / y,
        Op::Mod => modulo(x, y),
        Op::Atan2 => correctly_rounded(op, libm::atan2(x.wide(), y.wide()), &[x.wide(), y.wide()]),
        Op::Pow => correctly_rounded(op, libm::pow(x.wide(), y.wide()), &[x.wide(), y.wide()]),
        Op::Min => min(x, y),
        Op::Max => max(x, y),
        // (edge, x): 0 if x < edge, otherwise 1, which a NaN gives too.
        Op::Step => {
            if y < x {
                R::zero()
            } else {
                R::one()
            }
        }
        _ => unreachable!("{op:?} is no function of two floats"),
    };
    result.canonical()
}

/// A function of three floats.
#[inline(always)]
pub(super) fn of_three<R: Real>(op: Op, x: R, y: R, z: R) -> R {
    let result = match op {
        Op::Clamp => clamp(x, y, z),
        Op::SmoothStep => smooth_step(x, y, z),
        _ => unreachable!("{op:?} is no function of three floats"),
    };
    result.canonical()
}

/// A comparison. For a NaN it is false, except `NotEqual`, which is true.
#[inline]
pub(super) fn comparison<R: Real>(op: Op, x: R, y: R) -> bool {
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

/// Whether the function is defined at the operand. Only for functions that are not required to be
/// correctly rounded.
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

/// Whether the function is defined at the operands. Pow is not for a negative base, nor for a zero
/// base without a positive exponent.
pub(super) fn in_domain_of_two(op: Op, x: f32, y: f32) -> bool {
    match op {
        Op::Div | Op::Mod => y != 0.0,
        Op::Atan2 => x != 0.0 || y != 0.0,
        Op::Pow => x > 0.0 || x == 0.0 && y > 0.0,
        _ => true,
    }
}

/// Whether the function is defined: Clamp if low ≤ high, SmoothStep if edge0 < edge1.
pub(super) fn in_domain_of_three(op: Op, x: f32, y: f32, z: f32) -> bool {
    match op {
        Op::Clamp => y <= z,
        Op::SmoothStep => x < y,
        _ => true,
    }
}
