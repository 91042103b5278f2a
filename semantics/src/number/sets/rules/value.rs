//! A value in a formula whose accuracy an instruction inherits.
//!
//! INH(F): let Fmin and Fmax be the extremes over every value allowed when F, or a rewriting of it,
//! is computed under these same rules. Let E be the greater of |x - Fmin| and |x - Fmax|. Then [x -
//! E, x + E] is accepted. If operands are intervals, x and F range over them, and E over their
//! difference. So a value has three parts: the bounds of the exact value, the bounds of a device's
//! value, and their greatest distance for the same operand. For operands that are points, the
//! distance adds nothing to the bounds.
//!
//! Nothing keeps infinities and NaN in formulas. If they may arise, any value is allowed (`None`).

use super::super::{Format, Set, Span};
use super::bounds::{self, Bounds};
use super::core::Rules;
use super::{glsl, range};
use crate::number::Rounding;
use crate::number::reference::{Direction, Enclosure};
use rspirv::spirv::GlslStd450Op as Glsl;

/// A value in a formula.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// The bounds of the exact value.
    pub(super) exact: Bounds,
    /// The floats between which a device's value lies.
    pub(super) device: Bounds,
    /// The greatest distance between the two for the same operand.
    pub(super) distance: f64,
}

/// A sum for an error bound, rounded upward with room to spare.
fn round_up(x: f64) -> f64 {
    x * (1.0 + 1e-12)
}

impl Value {
    /// The number of pieces into which a value is split.
    const PIECES: u32 = 8;

    /// A constant that is a float, and not a subnormal one.
    pub(super) fn constant(x: f64) -> Value {
        let exact = Bounds::point(x);
        Value { exact, device: exact, distance: 0.0 }
    }

    /// A result: the bounds of the exact and of a device's value, and another bound of their
    /// distance. `None` if a value may be infinite.
    pub(super) fn new(exact: Bounds, device: Bounds, distance: f64) -> Option<Value> {
        let distance = round_up(distance).min(device.distance(exact));
        Some(Value { exact: exact.finite()?, device: device.finite()?, distance })
    }

    /// -x.
    #[must_use]
    pub(super) fn negated(self) -> Value {
        Value { exact: self.exact.negated(), device: self.device.negated(), ..self }
    }

    /// Bounds of a formula that may be written in either of two ways.
    #[must_use]
    pub(super) fn either(self, other: Value) -> Value {
        Value { exact: self.exact.meet(other.exact), device: self.device.hull(other.device), distance: self.distance.max(other.distance) }
    }

    /// The value moved into a range, as FClamp does.
    #[must_use]
    pub(super) fn clamped(self, low: f64, high: f64) -> Value {
        Value { exact: self.exact.clamped(low, high), device: self.device.clamped(low, high), ..self }
    }

    /// Bounds for the operands of both values, which may be different operands.
    #[must_use]
    pub(super) fn hull_with(self, other: Value) -> Value {
        Value { exact: self.exact.hull(other.exact), device: self.device.hull(other.device), distance: self.distance.max(other.distance) }
    }

    /// Splits the value into pieces by the device's value. Together they cover all of it. A formula
    /// that uses the value more than once has tighter bounds on each piece.
    pub(super) fn pieces(self, format: Format) -> impl Iterator<Item = Value> {
        let Bounds { low, high } = self.device;
        let count = if low < high { Value::PIECES } else { 1 };
        let at = move |i: u32| format.round(Direction::NearestEven, low + (high - low) * f64::from(i) / f64::from(count)).clamp(low, high);
        (0..count).map(move |i| {
            // Neighbouring pieces share an end.
            let device = Bounds { low: at(i), high: if i + 1 == count { high } else { at(i + 1) } };
            let nearby = Bounds { low: bounds::sum(device.low, -self.distance).low, high: bounds::sum(device.high, self.distance).high };
            Value { exact: self.exact.meet(nearby), device, ..self }
        })
    }

    /// Bounds of both the exact and the device's value, for any operand.
    fn hull(self) -> Bounds {
        self.exact.hull(self.device)
    }
}

/// Bounds of a formula that may be written in any of several ways. `None` if one has no bound.
pub(super) fn any_way<const N: usize>(versions: [Option<Value>; N]) -> Option<Value> {
    let mut result = None;
    for version in versions {
        let version = version?;
        result = Some(result.map_or(version, |result: Value| result.either(version)));
    }
    result
}

impl Rules {
    /// An operand of an instruction.
    pub(super) fn leaf(&self, span: Span) -> Value {
        self.start_from(span.into())
    }

    /// Numbers with which a formula starts. A device may have zero for a subnormal.
    pub(super) fn start_from(&self, exact: Bounds) -> Value {
        let (Bounds { low, high }, min) = (exact, self.format.min());
        if low < min && high > -min && (low, high) != (0.0, 0.0) {
            return Value { exact, device: exact.hull(Bounds::point(0.0)), distance: round_up(min) };
        }
        Value { exact, device: exact, distance: 0.0 }
    }

    /// The bounds of a set's floats in a formula. `None` if one of them is infinite or NaN.
    pub(super) fn finite_bounds(set: &Set) -> Option<Bounds> {
        let hull = set.hull().filter(|_| !set.has_nan())?;
        Bounds { low: hull.low, high: hull.high }.finite()
    }

    /// A result that a device rounds. `low` and `high` enclose the ends of its unrounded results.
    fn rounded_value(&self, exact: Bounds, low: Enclosure, high: Enclosure, distance: f64) -> Option<Value> {
        let device = Rules::finite_bounds(&self.rounded(low, high))?;
        // The exact number may be just above a power of two to which it is rounded.
        let unit = self.format.ulp(device.magnitude().next_up()) * if self.rounding == Rounding::NearestEven { 0.5 } else { 1.0 };
        // A single number that is a float loses nothing when it is rounded.
        let lost = if low.low == high.high && device.low == device.high && low.low == device.low { 0.0 } else { unit };
        let flushed = if device.contains(0.0) { self.format.min() } else { 0.0 };
        Value::new(exact, device, distance + lost + flushed)
    }

    /// x + y.
    pub(super) fn add(&self, x: Value, y: Value) -> Option<Value> {
        let (low, high) = (bounds::sum(x.device.low, y.device.low), bounds::sum(x.device.high, y.device.high));
        self.rounded_value(x.exact.plus(y.exact), low, high, x.distance + y.distance)
    }

    /// x - y.
    pub(super) fn subtract(&self, x: Value, y: Value) -> Option<Value> {
        self.add(x, y.negated())
    }

    /// x·y.
    pub(super) fn multiply(&self, x: Value, y: Value) -> Option<Value> {
        let device = x.device.times(y.device);
        let (low, high) = (Enclosure::point(device.low), Enclosure::point(device.high));
        self.rounded_value(x.exact.times(y.exact), low, high, product_distance(x, y))
    }

    /// x·x, where both factors are one value. A device may flush a subnormal on one side alone.
    /// That makes no more than a zero of the square.
    pub(super) fn square(&self, x: Value) -> Option<Value> {
        let device = x.device.squared();
        let (low, high) = (Enclosure::point(device.low), Enclosure::point(device.high));
        self.rounded_value(x.exact.squared(), low, high, product_distance(x, x))
    }

    /// x·y + z, rounded once; `same` if x and y are one value.
    pub(super) fn fused(&self, x: Value, y: Value, z: Value, same: bool) -> Option<Value> {
        let times = |x: Bounds, y: Bounds| if same { x.squared() } else { x.times(y) };
        let device = times(x.device, y.device);
        let (low, high) = (bounds::sum(device.low, z.device.low), bounds::sum(device.high, z.device.high));
        self.rounded_value(times(x.exact, y.exact).plus(z.exact), low, high, product_distance(x, y) + z.distance)
    }

    /// x/y under the rule of OpFDiv.
    pub(super) fn divide(&self, x: Value, y: Value) -> Option<Value> {
        let device = Rules::finite_bounds(&self.quotient(x.device, y.device)?)?;
        let exact = x.exact.over(y.exact)?;
        let inherited = (x.distance + exact.magnitude() * y.distance) / y.device.least_magnitude();
        let flushed = if device.contains(0.0) { self.format.min() } else { 0.0 };
        Value::new(exact, device, round_up(inherited) + 2.5 * self.format.ulp(device.magnitude()) + flushed)
    }

    /// trunc(x) if `toward_zero`, otherwise floor(x).
    pub(super) fn whole(&self, x: Value, toward_zero: bool) -> Option<Value> {
        let whole = |x: f64| if toward_zero { x.trunc() } else { x.floor() };
        let of = |x: Bounds| Bounds { low: whole(x.low), high: whole(x.high) };
        Value::new(of(x.exact), of(x.device), f64::INFINITY)
    }

    /// A function of one float, under its own rule.
    pub(super) fn apply_function(&self, function: Glsl, x: Value) -> Option<Value> {
        let span = Span { low: x.device.low, high: x.device.high };
        let device = Rules::finite_bounds(&glsl::of_one(self, function, span)?)?;
        let exact = range::of_one(function, x.exact)?;
        // The device's own error: the distance of its result from the exact result at the operand
        // that it has.
        let exact_at_device = range::of_one(function, x.device)?;
        let own_error = if exact_at_device.low == exact_at_device.high {
            device.distance(exact_at_device)
        } else {
            self.own_error(function, x.device, exact_at_device)
        };
        let inherited = if x.distance == 0.0 { 0.0 } else { range::steepness(function, x.hull()) * x.distance };
        let flushed = if device.contains(0.0) { self.format.min() } else { 0.0 };
        Value::new(exact, device, inherited + own_error + flushed)
    }

    /// The greatest distance of a device's result from the exact one at the operand that it has.
    /// Infinite if it is not known here.
    fn own_error(&self, function: Glsl, x: Bounds, result: Bounds) -> f64 {
        let unit = self.format.ulp(result.magnitude());
        match function {
            Glsl::Exp | Glsl::Exp2 => (glsl::least_exponential_ulps(self.format) + 2.0 * x.magnitude()) * unit,
            Glsl::Log | Glsl::Log2 => glsl::logarithmic_error(self.format).max(3.0 * unit),
            Glsl::InverseSqrt => 2.0 * unit,
            // 2 and 2.5 ULP are at most 2 and 2.5 times 2^-23 of a result (2^-10 in 16 bits). That
            // is two units where the significand is greatest: 9, and some room.
            Glsl::Sqrt => 12.0 * unit,
            Glsl::Sin | Glsl::Cos => glsl::trigonometric_error(self.format),
            _ => f64::INFINITY,
        }
    }

    /// INH: the floats in [x - E, x + E]. x is within `exact` and within the bounds of the
    /// formula's exact value.
    pub(super) fn inherited(&self, exact: Option<Bounds>, formula: Value) -> Set {
        let exact = exact.map_or(formula.exact, |exact| exact.meet(formula.exact));
        let error = formula.distance.min(formula.device.distance(exact));
        if formula.device.magnitude() > self.format.max() { Set::ANY } else { self.within_absolute(error, exact) }
    }
}

/// The greatest distance of x·y from the product of the exact values:
/// |x'|·|y' - y| + |y|·|x' - x|.
pub(super) fn product_distance(x: Value, y: Value) -> f64 {
    round_up(round_up(x.device.magnitude() * y.distance) + round_up(y.exact.magnitude() * x.distance))
}
