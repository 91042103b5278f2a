//! The range of a function's infinitely precise result, for operands that range over real
//! numbers. It comes from the [reference](crate::number::reference) at the ends, and from the
//! extremes between.

use super::bounds::Bounds;
use crate::number::Instruction;
use crate::number::reference::{Enclosure, Exact, enclose, enclose_tightly};
use rspirv::spirv::{self, GlslStd450Op as Glsl};
use std::f64::consts::{FRAC_PI_2, PI};

/// The result at one point. `None` if it is undefined or infinite.
pub(super) fn at(function: Glsl, args: &[f64]) -> Option<Enclosure> {
    of(Instruction::Glsl(function as u32), args)
}

/// The result of a core instruction at one point. `None` if it is undefined or infinite.
pub(super) fn core_at(opcode: spirv::Op, args: &[f64]) -> Option<Enclosure> {
    of(Instruction::Core(opcode as u16), args)
}

fn of(instruction: Instruction, args: &[f64]) -> Option<Enclosure> {
    let exact = match enclose(instruction, args)? {
        // The unit in the last place changes at powers of two, so it must be known on which side of
        // one the result is.
        Exact::Within(Enclosure { low, high }) if low.to_bits() >> 52 != high.to_bits() >> 52 => enclose_tightly(instruction, args)?,
        exact => exact,
    };
    match exact {
        Exact::Within(enclosure) if enclosure.low.is_finite() && enclosure.high.is_finite() => Some(enclosure),
        Exact::Within(_) | Exact::Undefined => None,
    }
}

/// The range of a function of one number. `None` if the function is undefined or infinite within
/// the bounds, or if the range is not known.
pub(super) fn of_one(function: Glsl, x: Bounds) -> Option<Bounds> {
    let [low, high] = [at(function, &[x.low])?, at(function, &[x.high])?];
    match function {
        // Rising. The caller takes care of poles.
        Glsl::Exp
        | Glsl::Exp2
        | Glsl::Log
        | Glsl::Log2
        | Glsl::Sqrt
        | Glsl::Asin
        | Glsl::Atan
        | Glsl::Sinh
        | Glsl::Tanh
        | Glsl::Asinh
        | Glsl::Acosh
        | Glsl::Atanh
        | Glsl::Radians
        | Glsl::Degrees
        | Glsl::Floor
        | Glsl::Tan => Bounds::of(low, high),
        Glsl::InverseSqrt | Glsl::Acos => Bounds::of(high, low),
        Glsl::Cosh => {
            let ends = Bounds::of(low, low)?.hull(Bounds::of(high, high)?);
            Some(if x.contains(0.0) { Bounds { low: 1.0, ..ends } } else { ends })
        }
        // Within [-π, π], where no float lies between an extreme and the 64-bit float that stands
        // for it.
        Glsl::Sin | Glsl::Cos if x.low >= -PI && x.high <= PI => {
            let mut ends = Bounds::of(low, low)?.hull(Bounds::of(high, high)?);
            let (greatest, least) = if function == Glsl::Sin { (FRAC_PI_2, -FRAC_PI_2) } else { (0.0, PI) };
            if x.contains(greatest) {
                ends.high = 1.0;
            }
            if x.contains(least) {
                ends.low = -1.0;
            }
            Some(ends)
        }
        _ => None,
    }
}

/// The range of Atan2 (y, x) over a box. The box lies on one side of zero in y, or to the right of
/// zero in x. The signs of zeros tell the side. `None` if the box contains the origin.
///
/// Along each edge the angle is monotonic, and within the box it has no extreme. So the corners
/// have the extremes.
pub(super) fn atan2(y: Bounds, x: Bounds) -> Option<Bounds> {
    if y.contains(0.0) && x.contains(0.0) {
        return None;
    }
    corners(Glsl::Atan2, y, x)
}

/// The range of Pow (x, y) for a positive x: monotonic in each operand alone.
pub(super) fn pow(x: Bounds, y: Bounds) -> Option<Bounds> {
    if x.low > 0.0 { corners(Glsl::Pow, x, y) } else { None }
}

fn corners(function: Glsl, x: Bounds, y: Bounds) -> Option<Bounds> {
    let mut hull: Option<Bounds> = None;
    for a in [x.low, x.high] {
        for b in [y.low, y.high] {
            let corner = at(function, &[a, b])?;
            let corner = Bounds::of(corner, corner)?;
            hull = Some(hull.map_or(corner, |hull| hull.hull(corner)));
        }
    }
    hull
}

/// The greatest steepness of a function over bounds. Infinite if it is not known here.
pub(super) fn steepness(function: Glsl, x: Bounds) -> f64 {
    // Generous by a part in a million, for the rounding here.
    let margin = 1.0 + 1e-6;
    margin
        * match function {
            Glsl::Exp => libm::exp(x.high),
            Glsl::Exp2 => libm::exp2(x.high),
            Glsl::Log if x.low > 0.0 => 1.0 / x.low,
            Glsl::Log2 if x.low > 0.0 => 1.5 / x.low,
            Glsl::Sqrt if x.low > 0.0 => 0.5 / x.low.sqrt(),
            Glsl::InverseSqrt if x.low > 0.0 => 0.5 / (x.low * x.low.sqrt()),
            Glsl::Sin | Glsl::Cos | Glsl::Atan => 1.0,
            _ => f64::INFINITY,
        }
}
