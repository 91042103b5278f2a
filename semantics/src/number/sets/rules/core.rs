//! The parts of all rules (Vulkan, "Precision and Operation of SPIR-V Instructions"): rounding,
//! units in the last place, subnormals, zeros and infinities; and the core instructions that keep
//! signs of zeros, infinities and NaN.
//!
//! An exact result has bounds that are real numbers. They become floats at the very end.

use super::super::{Format, Set, Span};
use super::bounds::{self, Bounds};
use crate::number::reference::{Direction, Enclosure};
use crate::number::{Controls, Denormals, Rounding};

/// How an instruction computes, as far as the environment says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The format of the floats.
    pub(super) format: Format,
    /// How correctly rounded results are rounded.
    pub(super) rounding: Rounding,
    /// Whether subnormal operands and results may be flushed to zero.
    pub(super) may_flush: bool,
    /// Whether subnormal results must be flushed to zero.
    pub(super) must_flush: bool,
    /// Whether signs of zeros, infinities and NaN are kept.
    pub(super) keeps_special: bool,
    /// Whether WGSL's bounds replace Vulkan's.
    pub(super) wgsl: bool,
    /// Whether operands with one id are one value under every rewriting: with NoContraction.
    pub(super) identity: bool,
}

/// A set of operands, split into parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// The finite floats.
    pub(super) finite: Set,
    /// Whether -∞ and +∞ are members.
    pub(super) infinite: [bool; 2],
    /// Whether NaN is a member.
    pub(super) nan: bool,
}

/// Whether a subnormal float is a member.
fn has_subnormal(format: Format, span: &Span) -> bool {
    let within = |low: f64, high: f64| span.low <= high && low <= span.high;
    let (least, greatest) = (format.spacing(), format.max_subnormal());
    within(least, greatest) || within(-greatest, -least)
}

/// Whether a subnormal float is a member.
pub(super) fn has_subnormals(format: Format, set: &Set) -> bool {
    set.spans().iter().any(|span| has_subnormal(format, span))
}

/// Whether a zero is a member.
pub(super) fn has_zero(set: &Set) -> bool {
    set.spans().iter().any(|span| span.low <= 0.0 && 0.0 <= span.high)
}

/// Whether an infinity or NaN is a member.
pub(super) fn has_special(set: &Set) -> bool {
    set.has_nan() || set.spans().iter().any(|span| span.low == f64::NEG_INFINITY || span.high == f64::INFINITY)
}

/// The finite floats of a set.
pub(super) fn finite(format: Format, set: &Set) -> Set {
    set.meet(Set::of(Span { low: -format.max(), high: format.max() }))
}

/// The subnormal floats and zeros of a set.
pub(super) fn subnormals(format: Format, set: &Set) -> Set {
    set.meet(Set::of(Span { low: -format.max_subnormal(), high: format.max_subnormal() }))
}

/// The negations of all members.
fn negated(set: &Set) -> Set {
    let negated_set = set.spans().iter().fold(Set::NONE, |negated_set, span| negated_set.with(Span { low: -span.high, high: -span.low }));
    if set.has_nan() { negated_set.or_nan() } else { negated_set }
}

/// The set with zeros of both signs.
fn with_zeros(set: Set) -> Set {
    set.with(Span { low: -0.0, high: 0.0 })
}

/// The least x - n·ulp(x) over the bounds. Just above a power of two the unit is twice that at the
/// power itself, so the least may be there.
fn least_below(format: Format, exact: Bounds, n: f64) -> Enclosure {
    // Units are powers of two: n of them are exact.
    let least = bounds::sum(exact.low, -n * format.ulp(exact.low));
    if exact.low < 0.0 || exact.high <= 2.0 * format.min() {
        return least;
    }
    let from = exact.low.clamp(2.0 * format.min(), format.max());
    let power_below = f64::from_bits(from.to_bits() & !((1 << 52) - 1));
    let power = if power_below < from { 2.0 * power_below } else { power_below };
    let at_power = bounds::sum(power, -n * 2.0 * format.ulp(power));
    if power < exact.high && power < format.max() && at_power.low < least.low { at_power } else { least }
}

impl Rules {
    /// For OpFNegate, OpFAdd, OpFSub, OpFMul and OpTranspose, which SignedZeroInfNanPreserve and
    /// the denorm modes name.
    pub(super) fn listed(format: Format, controls: Controls) -> Rules {
        Rules {
            may_flush: controls.denormals != Denormals::Preserve,
            must_flush: controls.denormals == Denormals::Flush,
            keeps_special: controls.keeps_special,
            ..Rules::unlisted(format, controls)
        }
    }

    /// For every other instruction: no declaration keeps its subnormals, signs of zeros, infinities
    /// and NaN.
    pub(super) fn unlisted(format: Format, controls: Controls) -> Rules {
        Rules {
            format,
            rounding: controls.rounding,
            may_flush: true,
            must_flush: false,
            keeps_special: false,
            wgsl: controls.wgsl,
            identity: controls.no_contraction,
        }
    }

    /// An operand as the instruction may take it. `None` if it may be infinite or NaN and these are
    /// not kept, so that the result may be any value.
    pub(super) fn operand(&self, set: &Set) -> Option<Parts> {
        if !self.keeps_special && has_special(set) {
            return None;
        }
        let spans = set.spans();
        let infinite =
            [spans.first().is_some_and(|span| span.low == f64::NEG_INFINITY), spans.last().is_some_and(|span| span.high == f64::INFINITY)];
        let set_of_finite = finite(self.format, set);
        let zeros = self.may_flush && has_subnormals(self.format, &set_of_finite) || !self.keeps_special && has_zero(&set_of_finite);
        let finite = if zeros { with_zeros(set_of_finite) } else { set_of_finite };
        Some(Parts { finite, infinite, nan: set.has_nan() })
    }

    /// The part of a result that is required. If signs of zeros, infinities and NaN are kept, this
    /// is the set itself. Otherwise a result that may be infinite or NaN may be any value, and a
    /// zero has either sign.
    pub(super) fn result(&self, set: Set) -> Set {
        if self.keeps_special {
            set
        } else if has_special(&set) {
            Set::ANY
        } else if has_zero(&set) {
            with_zeros(set)
        } else {
            set
        }
    }

    /// The set of a result after flushing. Its exact value is within `low` and `high`. Tininess may
    /// be judged before rounding, and a flushed zero may have either sign.
    fn flushed(&self, set: Set, low: f64, high: f64) -> Set {
        let min = self.format.min();
        let is_tiny = low < min && high > -min && !(low == 0.0 && high == 0.0);
        if !self.may_flush || !is_tiny {
            return set;
        }
        if !self.must_flush {
            return with_zeros(set);
        }
        let normal = [Span { low: f64::NEG_INFINITY, high: -min }, Span { low: min, high: f64::INFINITY }];
        let normal_part = normal.iter().fold(Set::NONE, |normal_part, &span| normal_part.union(set.meet(Set::of(span))));
        with_zeros(if set.has_nan() { normal_part.or_nan() } else { normal_part })
    }

    /// CR: correctly rounded, for the numbers between two. Beyond the greatest finite float, both
    /// that float and the infinity are accepted.
    pub(super) fn rounded(&self, low: Enclosure, high: Enclosure) -> Set {
        let (down, up) = match self.rounding {
            Rounding::Either => (Direction::Down, Direction::Up),
            Rounding::NearestEven => (Direction::NearestEven, Direction::NearestEven),
            Rounding::TowardZero => (Direction::TowardZero, Direction::TowardZero),
        };
        let round = |direction: Direction, exact: Enclosure, outer: f64| {
            self.format.rounded(direction, exact).unwrap_or_else(|| self.format.round(direction, outer))
        };
        let mut span = Span { low: round(down, low, low.low), high: round(up, high, high.high) };
        let max = self.format.max();
        if high.high > max {
            span = Span { low: span.low.min(max), high: f64::INFINITY };
        }
        if low.low < -max {
            span = Span { low: f64::NEG_INFINITY, high: span.high.max(-max) };
        }
        self.result(self.flushed(Set::of(span), low.low, high.high))
    }

    /// The floats between two real numbers, after the rules for subnormals, zeros and overflow.
    fn floats(&self, low: Enclosure, high: Enclosure) -> Set {
        let round = |direction: Direction, exact: Enclosure, outer: f64| {
            self.format.rounded(direction, exact).unwrap_or_else(|| self.format.round(direction, outer))
        };
        let mut span = Span { low: round(Direction::Up, low, low.low), high: round(Direction::Down, high, high.high) };
        if span.low > span.high {
            // The numbers lie between two neighbours. No rule accepts so little; outward is sound.
            span = Span { low: round(Direction::Down, low, low.low), high: round(Direction::Up, high, high.high) };
        }
        if high.high > self.format.max() {
            span.high = f64::INFINITY;
        }
        if low.low < -self.format.max() {
            span.low = f64::NEG_INFINITY;
        }
        self.result(self.flushed(Set::of(span), low.low, high.high))
    }

    /// n ULP: x ± n·ulp(x) for each number of the bounds.
    pub(super) fn within_ulps(&self, n: f64, exact: Bounds) -> Set {
        let Enclosure { low, high } = least_below(self.format, exact.negated(), n);
        self.floats(least_below(self.format, exact, n), Enclosure { low: -high, high: -low })
    }

    /// ABS and INH: x ± error for each number of the bounds.
    pub(super) fn within_absolute(&self, error: f64, exact: Bounds) -> Set {
        self.floats(bounds::sum(exact.low, -error), bounds::sum(exact.high, error))
    }

    /// OpFNegate and, without the negation, OpTranspose: exact, but a subnormal may be flushed.
    /// DenormFlushToZero does not require that.
    ///
    /// OpFNegate of ∞ is -∞, and NaN stays NaN: the instructions are on the list
    /// of SignedZeroInfNanPreserve.
    pub(super) fn copied(&self, set: &Set, negate: bool) -> Set {
        let Some(Parts { finite, infinite, nan }) = self.operand(set) else { return Set::ANY };
        let mut result = if nan { Set::NAN } else { Set::NONE };
        result = result.union(finite);
        for (is_member, infinity) in infinite.into_iter().zip([f64::NEG_INFINITY, f64::INFINITY]) {
            if is_member {
                result = result.with(Span::point(infinity));
            }
        }
        self.result(if negate { negated(&result) } else { result })
    }

    /// OpFAdd: CR. The result is -0 for two negative zeros only, unless results may be rounded
    /// down: then x - x may be -0.
    pub(super) fn sum(&self, x: &Set, y: &Set) -> Set {
        let (Some(x), Some(y)) = (self.operand(x), self.operand(y)) else { return Set::ANY };
        let mut result = Set::NONE;
        for a in x.finite.spans() {
            for b in y.finite.spans() {
                let set = self.rounded(bounds::sum(a.low, b.low), bounds::sum(a.high, b.high));
                result = result.union(set);
            }
        }
        if self.rounding == Rounding::Either && has_zero(&result) {
            result = with_zeros(result);
        }
        for (side, infinity) in [f64::NEG_INFINITY, f64::INFINITY].into_iter().enumerate() {
            let can_meet = |other: &Parts| !other.finite.is_none() || other.infinite[side];
            if x.infinite[side] && can_meet(&y) || y.infinite[side] && can_meet(&x) {
                result = result.with(Span::point(infinity));
            }
            if x.infinite[side] && y.infinite[1 - side] {
                result = result.or_nan();
            }
        }
        if x.nan || y.nan {
            result = result.or_nan();
        }
        self.result(result)
    }

    /// OpFSub: x + -y, and negation is exact.
    pub(super) fn difference(&self, x: &Set, y: &Set) -> Set {
        self.sum(x, &negated(y))
    }

    /// OpFSub of a value and itself: +0, or either zero if results may be rounded down. A subnormal
    /// may be flushed on one side alone.
    pub(super) fn difference_of_one(&self, x: &Set) -> Set {
        let Some(Parts { infinite, nan, .. }) = self.operand(x) else { return Set::ANY };
        let finite = finite(self.format, x);
        let mut result = if nan || infinite[0] || infinite[1] { Set::NAN } else { Set::NONE };
        if !finite.is_none() {
            result = result.with(Span { low: if self.rounding == Rounding::Either { -0.0 } else { 0.0 }, high: 0.0 });
        }
        if self.may_flush && has_subnormals(self.format, &finite) {
            let greatest = subnormals(self.format, &finite).hull().map_or(0.0, |hull| hull.high.max(-hull.low));
            result = self.flushed(result.with(Span { low: -greatest, high: greatest }), -greatest, greatest);
        }
        self.result(result)
    }

    /// OpFMul of a value and itself: a positive number, an infinity, or +0. A tiny square may be a
    /// zero of either sign.
    pub(super) fn square_of_one(&self, x: &Set) -> Set {
        let Some(Parts { finite, infinite, nan }) = self.operand(x) else { return Set::ANY };
        let mut result = if nan { Set::NAN } else { Set::NONE };
        for span in finite.spans() {
            let square = Bounds::from(*span).squared();
            result = result.union(self.rounded(Enclosure::point(square.low), Enclosure::point(square.high)));
        }
        if infinite[0] || infinite[1] {
            result = result.with(Span::point(f64::INFINITY));
        }
        self.result(result)
    }

    /// OpFDiv of a value and itself: 2.5 ULP of 1.
    pub(super) fn quotient_of_one(&self, x: &Set) -> Set {
        let in_range = |span: &Span| {
            let x = Bounds::from(*span);
            x.least_magnitude() >= self.format.min() && x.magnitude() <= 1.0 / self.format.min()
        };
        if x.has_nan() || !x.spans().iter().all(in_range) { Set::ANY } else { self.within_ulps(2.5, Bounds::point(1.0)) }
    }

    /// OpFMul, OpVectorTimesScalar, OpMatrixTimesScalar and OpOuterProduct: CR.
    pub(super) fn product(&self, x: &Set, y: &Set) -> Set {
        let (Some(x), Some(y)) = (self.operand(x), self.operand(y)) else { return Set::ANY };
        let mut result = Set::NONE;
        for a in x.finite.spans() {
            for b in y.finite.spans() {
                // Exact in 64 bits, including the signs of zeros. The product is monotonic in each
                // factor, with -0 before +0: the extremes are at corners.
                let hull = Span::between(a.low * b.low, a.low * b.high).hull(Span::between(a.high * b.low, a.high * b.high));
                result = result.union(self.rounded(Enclosure::point(hull.low), Enclosure::point(hull.high)));
            }
        }
        for (a, b) in [(&x, &y), (&y, &x)] {
            for (side, infinity) in [f64::NEG_INFINITY, f64::INFINITY].into_iter().enumerate() {
                if !a.infinite[side] {
                    continue;
                }
                let has = |positive: bool| {
                    let finite = |span: &Span| if positive { span.high > 0.0 } else { span.low < 0.0 };
                    b.infinite[usize::from(positive)] || b.finite.spans().iter().any(finite)
                };
                if has(true) {
                    result = result.with(Span::point(infinity));
                }
                if has(false) {
                    result = result.with(Span::point(-infinity));
                }
                if has_zero(&b.finite) {
                    result = result.or_nan();
                }
            }
        }
        if x.nan || y.nan {
            result = result.or_nan();
        }
        self.result(result)
    }

    /// OpFDiv: 2.5 ULP for |y| in [2^-126, 2^126] ([2^-14, 2^14] in 16 bits). Nothing is stated for
    /// other divisors. The rule includes zero, but its quotients are infinite or NaN, and OpFDiv is
    /// not on the list of SignedZeroInfNanPreserve. A subnormal y may be flushed to zero. `None`:
    /// any value.
    pub(super) fn quotient(&self, x: Bounds, y: Bounds) -> Option<Set> {
        if y.contains(0.0) || y.least_magnitude() < self.format.min() || y.magnitude() > 1.0 / self.format.min() {
            return None;
        }
        Some(self.within_ulps(2.5, x.over(y)?))
    }
}
