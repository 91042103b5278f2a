//! Intervals of real numbers, with arithmetic that rounds the ends outward.

use super::super::Span;
use crate::number::reference::Enclosure;

/// The real numbers between two finite ones, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    /// At most the least number.
    pub(super) low: f64,
    /// At least the greatest number.
    pub(super) high: f64,
}

/// The enclosure of an exact result, from the rounded result and the sign of what the rounding
/// lost: the float itself, or the interval between it and a neighbour.
fn corrected(rounded: f64, lost: f64) -> Enclosure {
    if lost == 0.0 {
        Enclosure::point(rounded)
    } else if lost > 0.0 {
        Enclosure { low: rounded, high: rounded.next_up() }
    } else {
        Enclosure { low: rounded.next_down(), high: rounded }
    }
}

/// Whether a product or quotient has all of its rounding error within the normal range.
fn is_safe(x: f64) -> bool {
    (1e-280..1e280).contains(&x.abs())
}

/// x + y: the sum of two, whose error is a float (Knuth).
pub(super) fn sum(x: f64, y: f64) -> Enclosure {
    let sum = x + y;
    let part = sum - x;
    corrected(sum, (x - (sum - part)) + (y - part))
}

/// x·y.
pub(super) fn product(x: f64, y: f64) -> Enclosure {
    let product = x * y;
    // Two significands of 24 digits make one of 48.
    let is_short = (x.to_bits() | y.to_bits()) & 0x1fff_ffff == 0;
    if x == 0.0 || y == 0.0 || is_short && is_safe(product) {
        Enclosure::point(product)
    } else if is_safe(product) {
        corrected(product, libm::fma(x, y, -product))
    } else {
        Enclosure { low: product.next_down(), high: product.next_up() }
    }
}

/// x/y, for a y that is not zero.
pub(super) fn quotient(x: f64, y: f64) -> Enclosure {
    let quotient = x / y;
    if x == 0.0 {
        Enclosure::point(quotient)
    } else if is_safe(quotient) && is_safe(x) && is_safe(y) {
        let rest = libm::fma(-quotient, y, x);
        corrected(quotient, if y < 0.0 { -rest } else { rest })
    } else {
        Enclosure { low: quotient.next_down(), high: quotient.next_up() }
    }
}

/// √x, for an x that is not negative.
fn root(x: f64) -> Enclosure {
    let root = x.sqrt();
    if x == 0.0 {
        Enclosure::point(0.0)
    } else if is_safe(x) {
        corrected(root, libm::fma(-root, root, x))
    } else {
        Enclosure { low: root.next_down(), high: root.next_up() }
    }
}

impl Bounds {
    /// One number.
    pub(super) fn point(x: f64) -> Bounds {
        Bounds { low: x, high: x }
    }

    /// The numbers between two that each lie in an enclosure. `None` if they may be infinite.
    pub(super) fn of(low: Enclosure, high: Enclosure) -> Option<Bounds> {
        Bounds { low: low.low, high: high.high }.finite()
    }

    /// These bounds, if neither end is infinite or NaN.
    pub(super) fn finite(self) -> Option<Bounds> {
        (self.low.is_finite() && self.high.is_finite()).then_some(self)
    }

    /// The least bounds around enclosures of all the extremes.
    fn around(extremes: &[Enclosure]) -> Bounds {
        let low = extremes.iter().map(|e| e.low).fold(f64::INFINITY, f64::min);
        let high = extremes.iter().map(|e| e.high).fold(f64::NEG_INFINITY, f64::max);
        Bounds { low, high }
    }

    /// Whether the number is within the bounds.
    pub(super) fn contains(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// The least bounds around both.
    #[must_use]
    pub(super) fn hull(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The intersection of two bounds of one number. `self` if they contradict each other.
    #[must_use]
    pub(super) fn meet(self, other: Bounds) -> Bounds {
        let intersection = Bounds { low: self.low.max(other.low), high: self.high.min(other.high) };
        if intersection.low <= intersection.high { intersection } else { self }
    }

    /// The greatest magnitude.
    pub(super) fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The least magnitude.
    pub(super) fn least_magnitude(self) -> f64 {
        if self.contains(0.0) { 0.0 } else { self.low.abs().min(self.high.abs()) }
    }

    /// -x.
    #[must_use]
    pub(super) fn negated(self) -> Bounds {
        Bounds { low: -self.high, high: -self.low }
    }

    /// x + y.
    #[must_use]
    pub(super) fn plus(self, other: Bounds) -> Bounds {
        Bounds { low: sum(self.low, other.low).low, high: sum(self.high, other.high).high }
    }

    /// x·y.
    #[must_use]
    pub(super) fn times(self, other: Bounds) -> Bounds {
        let [a, b, c, d] = [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)];
        Bounds::around(&[product(a.0, a.1), product(b.0, b.1), product(c.0, c.1), product(d.0, d.1)])
    }

    /// x·x.
    #[must_use]
    pub(super) fn squared(self) -> Bounds {
        let (least, greatest) = (self.least_magnitude(), self.magnitude());
        Bounds { low: product(least, least).low, high: product(greatest, greatest).high }
    }

    /// x/y. `None` if y may be zero, or if the quotient may be infinite.
    pub(super) fn over(self, other: Bounds) -> Option<Bounds> {
        if other.contains(0.0) {
            return None;
        }
        let [a, b, c, d] = [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)];
        Bounds::around(&[quotient(a.0, a.1), quotient(b.0, b.1), quotient(c.0, c.1), quotient(d.0, d.1)]).finite()
    }

    /// √x. `None` if x may be negative.
    pub(super) fn root(self) -> Option<Bounds> {
        (self.low >= 0.0).then(|| Bounds { low: root(self.low).low.max(0.0), high: root(self.high).high })
    }

    /// The numbers moved into a range.
    #[must_use]
    pub(super) fn clamped(self, low: f64, high: f64) -> Bounds {
        Bounds { low: self.low.clamp(low, high), high: self.high.clamp(low, high) }
    }

    /// The greatest distance between a number of one and a number of the other.
    pub(super) fn distance(self, other: Bounds) -> f64 {
        sum(self.high, -other.low).high.max(sum(other.high, -self.low).high)
    }
}

/// From the least float to the greatest.
impl From<Span> for Bounds {
    fn from(span: Span) -> Bounds {
        Bounds { low: span.low, high: span.high }
    }
}
