//! Closed intervals of real numbers: the values that a conforming device may have where the
//! specification bounds a result but does not fix it.
//!
//! Ends are rounded outwards. So a result on intervals contains the results on all of
//! their numbers.

/// The numbers from `low` to `high`, which may be infinite, and perhaps NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The least number. Above `high` if the interval has no number.
    pub low: f64,
    /// The greatest number.
    pub high: f64,
    /// Whether a NaN is allowed too.
    pub nan: bool,
}

// No end is NaN.
impl Eq for Interval {}

/// A definite value, and the values that a conforming device may have instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inexact {
    /// The value of the specification's formula.
    pub value: f64,
    /// The allowed values. They include `value`.
    pub allowed: Interval,
}

impl Interval {
    /// Every number and NaN.
    pub const ANY: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

    /// One number, or NaN alone.
    pub fn point(x: f64) -> Interval {
        if x.is_nan() {
            Interval { low: f64::INFINITY, high: f64::NEG_INFINITY, nan: true }
        } else {
            Interval { low: x, high: x, nan: false }
        }
    }

    /// The numbers between two, given in any order; [`Interval::ANY`] if either is NaN.
    pub fn between(a: f64, b: f64) -> Interval {
        if a.is_nan() || b.is_nan() { Interval::ANY } else { Interval { low: a.min(b), high: a.max(b), nan: false } }
    }

    /// Whether a device may have this value.
    pub fn contains(self, x: f64) -> bool {
        if x.is_nan() { self.nan } else { self.low <= x && x <= self.high }
    }

    /// Whether every number is allowed.
    pub fn is_any(self) -> bool {
        self == Interval::ANY
    }

    /// Whether there are numbers, all finite, and no NaN.
    pub fn is_finite(self) -> bool {
        !self.nan && self.low.is_finite() && self.high.is_finite()
    }

    /// The least interval that holds both.
    #[must_use]
    pub fn hull(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high), nan: self.nan || other.nan }
    }

    /// The intersection. `self` if the two do not meet.
    #[must_use]
    pub fn narrowed_to(self, other: Interval) -> Interval {
        let intersection = Interval { low: self.low.max(other.low), high: self.high.min(other.high), nan: self.nan && other.nan };
        if intersection.low <= intersection.high { intersection } else { self }
    }

    /// The interval with its ends moved outwards by `error`, which is not negative, and by one
    /// float more for the rounding of that. [`Interval::ANY`] if an end becomes NaN.
    #[must_use]
    pub fn widened(self, error: f64) -> Interval {
        if error == 0.0 || self.low > self.high {
            return self;
        }
        let (low, high) = ((self.low - error).next_down(), (self.high + error).next_up());
        if low.is_nan() || high.is_nan() { Interval::ANY } else { Interval { low, high, nan: self.nan } }
    }

    /// Every number times `factor`, which is finite.
    #[must_use]
    pub fn times(self, factor: f64) -> Interval {
        if self.low > self.high {
            return self;
        }
        let exact = |x: f64| x.mul_add(factor, -(x * factor)) == 0.0;
        let hull = Interval::between(self.low * factor, self.high * factor);
        let hull = if exact(self.low) && exact(self.high) {
            hull
        } else {
            Interval { low: hull.low.next_down(), high: hull.high.next_up(), ..hull }
        };
        Interval { nan: hull.nan || self.nan, ..hull }
    }

    /// The magnitudes of the numbers.
    #[must_use]
    pub fn abs(self) -> Interval {
        if self.low >= 0.0 || self.low > self.high {
            self
        } else if self.high <= 0.0 {
            Interval { low: -self.high, high: -self.low, ..self }
        } else {
            Interval { low: 0.0, high: self.high.max(-self.low), ..self }
        }
    }

    /// The numbers moved into a range.
    #[must_use]
    pub fn clamped(self, low: f64, high: f64) -> Interval {
        Interval { low: self.low.max(low).min(high), high: self.high.min(high).max(low), nan: self.nan }
    }

    /// The 32-bit floats to which the numbers may be rounded, in either direction.
    #[must_use]
    pub fn of_f32(self) -> Interval {
        if self.low > self.high {
            return self;
        }
        let (low, high) = (self.low as f32, self.high as f32);
        let low = if f64::from(low) > self.low { low.next_down() } else { low };
        let high = if f64::from(high) < self.high { high.next_up() } else { high };
        Interval { low: low.into(), high: high.into(), nan: self.nan }
    }

    /// The greatest magnitude; infinite if a NaN is allowed.
    pub fn magnitude(self) -> f64 {
        if self.nan { f64::INFINITY } else { self.low.abs().max(self.high.abs()) }
    }
}

impl Inexact {
    /// A value that every device has.
    pub fn exact(value: f64) -> Inexact {
        Inexact { value, allowed: Interval::point(value) }
    }
}

impl From<f32> for Inexact {
    fn from(value: f32) -> Inexact {
        Inexact::exact(value.into())
    }
}
