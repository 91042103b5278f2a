//! Functions of scalars whose accuracy is inherited from a formula, each with the ways of writing
//! it that count. `None`: any value.
//!
//! A product that is added may be fused with the sum, as Fma may be. Factors commute, and so
//! do terms.

use super::super::{Set, Span};
use super::bounds::Bounds;
use super::core::Rules;
use super::range;
use super::value::{Value, any_way};
use crate::number::Rounding;
use crate::number::reference::{Direction, Enclosure};
use rspirv::spirv::{self, GlslStd450Op as Glsl};

/// π/180 and 180/π. Each lies between two 64-bit floats. The float here has a relative error of
/// less than 2^-52.
pub(super) const DEGREE: f64 = std::f64::consts::PI / 180.0;
pub(super) const RADIAN: f64 = 180.0 / std::f64::consts::PI;

/// A function of one float, over a span of finite floats.
pub(super) fn of_one(rules: &Rules, function: Glsl, x: Span) -> Option<Set> {
    let operand = rules.leaf(x);
    let one = Value::constant(1.0);
    let half = Value::constant(0.5);
    let formula = match function {
        // 1/inversesqrt(x).
        Glsl::Sqrt => rules.divide(one, rules.apply_function(Glsl::InverseSqrt, operand)?)?,
        // x·C, C correctly rounded.
        Glsl::Radians => rules.multiply(operand, constant(rules, DEGREE)?)?,
        Glsl::Degrees => rules.multiply(operand, constant(rules, RADIAN)?)?,
        // sin(x)/cos(x).
        Glsl::Tan => rules.divide(rules.apply_function(Glsl::Sin, operand)?, rules.apply_function(Glsl::Cos, operand)?)?,
        // atan2(x, √(1 - x·x)) and atan2(√(1 - x·x), x).
        Glsl::Asin | Glsl::Acos => {
            let square = rules.square(operand)?;
            let rest = any_way([rules.subtract(one, square), rules.fused(operand.negated(), operand, one, false)])?;
            // x·x is at least 0, which the fused way does not use for bounds around 0.
            let rest = Value { exact: rest.exact.clamped(-f64::MAX, 1.0), device: rest.device.clamped(-f64::MAX, 1.0), ..rest };
            let root = rules.apply_function(Glsl::Sqrt, rest)?;
            let (y, x) = if function == Glsl::Asin { (operand, root) } else { (root, operand) };
            rules.angle(y, x)?
        }
        // (exp(x) ∓ exp(-x))·0.5.
        Glsl::Sinh => rules.multiply(hyperbolic(rules, operand, false)?, half)?,
        Glsl::Cosh => rules.multiply(hyperbolic(rules, operand, true)?, half)?,
        // sinh(x)/cosh(x).
        Glsl::Tanh => {
            let sinh = rules.apply_function(Glsl::Sinh, operand)?;
            rules.divide(sinh, rules.apply_function(Glsl::Cosh, operand)?)?
        }
        // log(x + √(x·x ± 1)).
        Glsl::Asinh | Glsl::Acosh => {
            let unit = if function == Glsl::Asinh { one } else { one.negated() };
            let square = rules.square(operand)?;
            let radicand = any_way([rules.add(square, unit), rules.fused(operand, operand, unit, true)])?;
            let root = rules.apply_function(Glsl::Sqrt, radicand)?;
            rules.apply_function(Glsl::Log, rules.add(operand, root)?)?
        }
        // log((1 + x)/(1 - x))·0.5.
        Glsl::Atanh => {
            let quotient = rules.divide(rules.add(one, operand)?, rules.subtract(one, operand)?)?;
            rules.multiply(rules.apply_function(Glsl::Log, quotient)?, half)?
        }
        _ => return None,
    };
    Some(rules.inherited(range::of_one(function, x.into()), formula))
}

/// A constant of a formula: the bounds of its exact value, and the floats to which it may
/// be rounded.
fn constant(rules: &Rules, near: f64) -> Option<Value> {
    let exact = Bounds { low: near.next_down(), high: near.next_up() };
    let (down, up) = match rules.rounding {
        Rounding::Either => (Direction::Down, Direction::Up),
        Rounding::NearestEven => (Direction::NearestEven, Direction::NearestEven),
        Rounding::TowardZero => (Direction::TowardZero, Direction::TowardZero),
    };
    let device = Bounds { low: rules.format.round(down, near), high: rules.format.round(up, near) };
    Value::new(exact, device, f64::INFINITY)
}

/// exp(x) ± exp(-x).
fn hyperbolic(rules: &Rules, x: Value, plus: bool) -> Option<Value> {
    let (rising, falling) = (rules.apply_function(Glsl::Exp, x)?, rules.apply_function(Glsl::Exp, x.negated())?);
    if plus { rules.add(rising, falling) } else { rules.subtract(rising, falling) }
}

impl Rules {
    /// Atan2 within a formula, where y or x is positive.
    fn angle(&self, y: Value, x: Value) -> Option<Value> {
        let device = Span { low: y.device.low, high: y.device.high };
        let set = super::glsl::atan2(self, device, Span { low: x.device.low, high: x.device.high })?;
        let hull = set.hull()?;
        let exact = range::atan2(y.exact, x.exact)?;
        Value::new(exact, Bounds { low: hull.low, high: hull.high }, f64::INFINITY)
    }
}

/// OpFRem (toward zero) and OpFMod: INH(x - y·trunc(x/y)) and INH(x - y·floor(x/y)).
pub(super) fn remainder(rules: &Rules, toward_zero: bool, x: Span, y: Span) -> Option<Set> {
    let (a, b) = (rules.leaf(x), rules.leaf(y));
    let whole = rules.whole(rules.divide(a, b)?, toward_zero)?;
    let multiple = rules.multiply(b, whole)?;
    let formula = any_way([rules.subtract(a, multiple), rules.fused(b.negated(), whole, a, false)])?;
    // Over an interval: the sign is that of x or y, and the magnitude is less than y's.
    let opcode = if toward_zero { spirv::Op::FRem } else { spirv::Op::FMod };
    let exact = if x.low == x.high && y.low == y.high {
        let at = range::core_at(opcode, &[x.low, y.low])?;
        Bounds::of(at, at)?
    } else {
        let y = b.exact.hull(Bounds::point(0.0));
        if toward_zero {
            let most = y.magnitude().min(a.exact.magnitude());
            Bounds { low: if a.exact.low < 0.0 { -most } else { 0.0 }, high: if a.exact.high > 0.0 { most } else { 0.0 } }
        } else {
            y
        }
    };
    Some(rules.inherited(Some(exact), formula))
}

/// Fma (a, b, c): INH(a·b + c), fused or not.
pub(super) fn fma(rules: &Rules, a: Span, b: Span, c: Span) -> Option<Set> {
    let [a, b, c] = [a, b, c].map(|span| rules.leaf(span));
    let formula = any_way([rules.add(rules.multiply(a, b)?, c), rules.fused(a, b, c, false)])?;
    Some(rules.inherited(None, formula))
}

/// FMix (x, y, a): INH(x·(1 - a) + y·a), also as x + (y - x)·a and x - x·a + y·a.
pub(super) fn mix(rules: &Rules, x: Span, y: Span, a: Span) -> Option<Set> {
    let [x, y, a] = [x, y, a].map(|span| rules.leaf(span));
    let one = Value::constant(1.0);
    let rest = rules.subtract(one, a)?;
    let (left, right) = (rules.multiply(x, rest)?, rules.multiply(y, a)?);
    let difference = rules.subtract(y, x)?;
    let formula = any_way([
        rules.add(left, right),
        rules.fused(x, rest, right, false),
        rules.fused(y, a, left, false),
        rules.add(x, rules.multiply(difference, a)?),
        rules.fused(difference, a, x, false),
        rules.sum_any_way(&[x.into(), rules.term(x.negated(), a, false)?, rules.term(y, a, false)?]),
    ])?;
    Some(rules.inherited(exact_mix(x.exact, y.exact, a.exact), formula))
}

/// x·(1 - a) + y·a is linear in each operand alone: the corners hold its extremes.
fn exact_mix(x: Bounds, y: Bounds, a: Bounds) -> Option<Bounds> {
    let mut hull: Option<Bounds> = None;
    for x in [x.low, x.high] {
        for y in [y.low, y.high] {
            for a in [a.low, a.high] {
                let corner: Enclosure = range::at(Glsl::FMix, &[x, y, a])?;
                let corner = Bounds::of(corner, corner)?;
                hull = Some(hull.map_or(corner, |hull| hull.hull(corner)));
            }
        }
    }
    hull
}

/// SmoothStep (edge0, edge1, x): INH(t·t·(3 - 2·t)), also as 3·t·t - 2·t·t·t, where t = clamp((x -
/// edge0)/(edge1 - edge0), 0, 1). Undefined unless edge0 < edge1.
pub(super) fn smooth_step(rules: &Rules, edge0: Span, edge1: Span, x: Span) -> Option<Set> {
    if edge0.high >= edge1.low {
        return None;
    }
    // Monotonic in each operand alone: falling with the edges, rising with x.
    let low = range::at(Glsl::SmoothStep, &[edge0.high, edge1.high, x.low])?;
    let high = range::at(Glsl::SmoothStep, &[edge0.low, edge1.low, x.high])?;
    let [edge0, edge1, x] = [edge0, edge1, x].map(|span| rules.leaf(span));
    let t = rules.divide(rules.subtract(x, edge0)?, rules.subtract(edge1, edge0)?)?.clamped(0.0, 1.0);
    let formula = t.pieces(rules.format).map(|t| hermite(rules, t)).reduce(|all, piece| Some(all?.hull_with(piece?)))??;
    Some(rules.inherited(Bounds::of(low, high), formula))
}

/// t·t·(3 - 2·t) and 3·t·t - 2·t·t·t.
fn hermite(rules: &Rules, t: Value) -> Option<Value> {
    let [two, three] = [2.0, 3.0].map(Value::constant);
    // 2·t is exact, so it does not matter whether it is fused.
    let twice = rules.multiply(two, t)?;
    let rest = rules.subtract(three, twice)?;
    let square = rules.square(t)?;
    let thrice = any_way([rules.multiply(three, square), rules.multiply(rules.multiply(three, t)?, t)])?;
    let cube = rules.multiply(square, twice)?;
    any_way([
        rules.multiply(square, rest),
        rules.multiply(t, rules.multiply(t, rest)?),
        rules.subtract(thrice, cube),
        rules.fused(three, square, cube.negated(), false),
        rules.fused(rules.multiply(three, t)?, t, cube.negated(), false),
        rules.fused(twice.negated(), square, thrice, false),
    ])
}
