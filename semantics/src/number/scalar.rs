//! Functions of floats: GLSL.std.450 and the core instructions, each result one definite float.
//!
//! - What IEEE 754 defines (+ - · / and square root), and what needs no rounding, is that, to nearest with ties to even.
//! - Everything is written once for the three formats of [`Real`]; λV's numbers have 32 bits.
//! - Sine to logarithm are computed in 64 bits by the crate `libm`, which is the same on every platform, and rounded once: nearly
//!   always the correctly rounded result, never further than the wrong neighbour of a point that lies within a 64-bit rounding error of the
//!   middle between two floats.
//! - Outside a function's domain it is what `libm` gives: NaN for the square root and logarithm of a negative number, infinity at poles,
//!   IEEE 754's `pow` for a negative base or an exponent of zero.
//! - A NaN result is the quiet one, 0x7fc00000 in 32 bits. No function panics.

use super::{Op, Real};

/// x - y·floor(x/y), with floor and quotient as real numbers: the exact remainder of the sign of x if that has the sign of y or is zero,
/// otherwise that plus y, rounded once. (So a tiny negative x gives y itself.) A zero has the sign of y. NaN for an infinite x, a zero y or a
/// NaN; for an infinite y it is x if that has y's sign or is zero, and y otherwise.
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
pub(super) fn clamp<R: Real>(x: R, low: R, high: R) -> R {
    min(max(x, low), high)
}

/// t·t·(3 - 2·t) with t = clamp((x - edge0) / (edge1 - edge0), 0, 1), each operation rounded, the product from the left.
fn smooth_step<R: Real>(edge0: R, edge1: R, x: R) -> R {
    let t = clamp((x - edge0) / (edge1 - edge0), R::zero(), R::one());
    t * t * (R::of(3.0) - R::of(2.0) * t)
}

/// A function of one float. Round takes ties to even; Fract is x - floor(x) rounded, so 1 for a tiny negative x.
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
        Op::Radians => R::of(wide * (std::f64::consts::PI / 180.0)),
        Op::Degrees => R::of(wide * (180.0 / std::f64::consts::PI)),
        Op::Sin => R::of(libm::sin(wide)),
        Op::Cos => R::of(libm::cos(wide)),
        Op::Tan => R::of(libm::tan(wide)),
        Op::Asin => R::of(libm::asin(wide)),
        Op::Acos => R::of(libm::acos(wide)),
        Op::Atan => R::of(libm::atan(wide)),
        Op::Sinh => R::of(libm::sinh(wide)),
        Op::Cosh => R::of(libm::cosh(wide)),
        Op::Tanh => R::of(libm::tanh(wide)),
        Op::Asinh => R::of(libm::asinh(wide)),
        Op::Acosh => R::of(libm::acosh(wide)),
        Op::Atanh => R::of(libm::atanh(wide)),
        Op::Exp => R::of(libm::exp(wide)),
        Op::Log => R::of(libm::log(wide)),
        Op::Exp2 => R::of(libm::exp2(wide)),
        Op::Log2 => R::of(libm::log2(wide)),
        Op::Sqrt => x.sqrt(),
        Op::InverseSqrt => R::of(1.0 / wide.sqrt()),
        _ => unreachable!("{op:?} is no function of one float"),
    };
    result.canonical()
}

/// A function of two floats.
#[inline]
pub(super) fn of_two<R: Real>(op: Op, x: R, y: R) -> R {
    let result = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::Div => x / y,
        Op::Mod => modulo(x, y),
        Op::Atan2 => R::of(libm::atan2(x.wide(), y.wide())),
        Op::Pow => R::of(libm::pow(x.wide(), y.wide())),
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
pub(super) fn of_three<R: Real>(op: Op, x: R, y: R, z: R) -> R {
    let result = match op {
        Op::Clamp => clamp(x, y, z),
        Op::SmoothStep => smooth_step(x, y, z),
        _ => unreachable!("{op:?} is no function of three floats"),
    };
    result.canonical()
}

/// A comparison; false for a NaN, but true for `NotEqual`.
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
