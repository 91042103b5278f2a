//! GLSL.std.450's functions of one and two floats whose results are not exact: units in the last
//! place, absolute errors, and which formula the others inherit from (Vulkan, "Precision of
//! GLSL.std.450 Instructions"). `None`: anything.

use super::super::{Format, Set, Span};
use super::bounds::{self, Bounds};
use super::core::Rules;
use super::{inherited, range};
use rspirv::spirv::GlslStd450Op as Glsl;
use std::f64::consts::PI;

/// The absolute error of Sin and Cos within [-π, π]: 2^-11, and 2^-7 in 16 bits.
pub(super) const fn trigonometric_error(format: Format) -> f64 {
    match format {
        Format::Half => 1.0 / 128.0,
        Format::Single => 1.0 / 2048.0,
    }
}

/// The absolute error of Log and Log2 within [0.5, 2]: 2^-21, and 2^-7 in 16 bits.
pub(super) const fn logarithmic_error(format: Format) -> f64 {
    match format {
        Format::Half => 1.0 / 128.0,
        Format::Single => 1.0 / 2_097_152.0,
    }
}

/// The constant part of the error of Exp and Exp2: 3 + 2|x| ULP, or 1 + 2|x| ULP in 16 bits.
pub(super) const fn least_exponential_ulps(format: Format) -> f64 {
    match format {
        Format::Half => 1.0,
        Format::Single => 3.0,
    }
}

/// Atan and Atan2 are within 4096 ULP, 5 in 16 bits.
const fn arc_ulps(format: Format) -> f64 {
    match format {
        Format::Half => 5.0,
        Format::Single => 4096.0,
    }
}

/// A function of one float, over a span of finite floats.
pub(super) fn of_one(rules: &Rules, function: Glsl, x: Span) -> Option<Set> {
    let operand = Bounds::from(x);
    let exact = |function| range::of_one(function, operand);
    match function {
        Glsl::Exp | Glsl::Exp2 => {
            let n = bounds::sum(least_exponential_ulps(rules.format), 2.0 * operand.magnitude()).high;
            Some(rules.within_ulps(n, exact(function)?))
        }
        Glsl::Log | Glsl::Log2 => logarithm(rules, function, x),
        Glsl::InverseSqrt if x.low > 0.0 => Some(rules.within_ulps(2.0, exact(function)?)),
        Glsl::Sin | Glsl::Cos if x.low >= -PI && x.high <= PI => {
            Some(rules.within_absolute(trigonometric_error(rules.format), exact(function)?))
        }
        Glsl::Atan => Some(rules.within_ulps(arc_ulps(rules.format), exact(function)?)),
        Glsl::Asin if rules.wgsl => either(rules, inherited::of_one(rules, function, x), exact(function), 6.81e-5),
        Glsl::Acos if rules.wgsl => either(rules, inherited::of_one(rules, function, x), exact(function), 6.77e-5),
        Glsl::Tanh if rules.wgsl => either(rules, inherited::of_one(rules, function, x), exact(function), 1e-5),
        _ => inherited::of_one(rules, function, x),
    }
}

/// WGSL's "worse of" an inherited and an absolute error.
fn either(rules: &Rules, inherited: Option<Set>, exact: Option<Bounds>, error: f64) -> Option<Set> {
    Some(inherited?.union(rules.within_absolute(error, exact?)))
}

/// Log and Log2: an absolute error within [0.5, 2], elsewhere 3 ULP.
fn logarithm(rules: &Rules, function: Glsl, x: Span) -> Option<Set> {
    if x.low <= 0.0 {
        return None;
    }
    let format = rules.format;
    let (below, above) = (format.below(0.5), -format.below(-2.0));
    let pieces = [(format.min().min(x.low), below, false), (0.5, 2.0, true), (above, x.high.max(above), false)];
    let mut set = Set::NONE;
    for (low, high, absolute) in pieces {
        let piece = Bounds { low: x.low.max(low), high: x.high.min(high) };
        if piece.low <= piece.high {
            let exact = range::of_one(function, piece)?;
            set = set.union(if absolute { rules.within_absolute(logarithmic_error(format), exact) } else { rules.within_ulps(3.0, exact) });
        }
    }
    Some(set)
}

/// Atan2 (y, x): 4096 ULP, 5 in 16 bits. WGSL states this only for |x| in [2^-126, 2^126] and a
/// normal y.
pub(super) fn atan2(rules: &Rules, y: Span, x: Span) -> Option<Set> {
    let min = rules.format.min();
    let bounded =
        Bounds::from(x).least_magnitude() >= min && Bounds::from(x).magnitude() <= 1.0 / min && Bounds::from(y).least_magnitude() >= min;
    if rules.wgsl && !bounded {
        return None;
    }
    // To the left of the origin the angle jumps between -0 and +0.
    let sides = [Span { low: -f64::MAX, high: -0.0 }, Span { low: 0.0, high: f64::MAX }];
    let mut set = Set::NONE;
    for side in sides.into_iter().filter_map(|side| y.meet(side)) {
        set = set.union(rules.within_ulps(arc_ulps(rules.format), range::atan2(side.into(), x.into())?));
    }
    Some(set)
}

/// Pow (x, y): INH(exp2(y·log2(x))).
pub(super) fn pow(rules: &Rules, x: Span, y: Span) -> Option<Set> {
    let logarithm = rules.apply_function(Glsl::Log2, rules.leaf(x))?;
    let power = rules.apply_function(Glsl::Exp2, rules.multiply(rules.leaf(y), logarithm)?)?;
    Some(rules.inherited(range::pow(x.into(), y.into()), power))
}
