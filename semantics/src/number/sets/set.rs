//! A set of floats of one format: what a conforming device may have in one component.

use crate::number::Interval;
use std::fmt;

/// The floats from `low` to `high`, both included, in the order that puts -0 before +0. Never
/// empty; neither end is NaN.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The least float, of the set's format.
    pub low: f64,
    /// The greatest float, of the set's format.
    pub high: f64,
}

/// A union of at most [`Set::SPANS`] spans, with or without NaN (any NaN: no profile says which).
///
/// Ends are floats of the format, held in 64 bits. Numbers between two neighbours of the format
/// belong to no set. A zero that may have either sign is the span from -0 to +0. Spans are
/// ascending and do not touch.
#[derive(Clone, Copy)]
pub struct Set {
    spans: [Span; Set::SPANS],
    count: u8,
    nan: bool,
}

/// An integer that orders floats: -0 before +0, and all numbers as usual.
fn key(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

fn less(a: f64, b: f64) -> bool {
    key(a) < key(b)
}

fn least(a: f64, b: f64) -> f64 {
    if less(b, a) { b } else { a }
}

fn greatest(a: f64, b: f64) -> f64 {
    if less(a, b) { b } else { a }
}

impl Span {
    /// One float.
    pub fn point(x: f64) -> Span {
        Span { low: x, high: x }
    }

    /// The span between two floats, given in any order.
    pub fn between(a: f64, b: f64) -> Span {
        Span { low: least(a, b), high: greatest(a, b) }
    }

    /// Whether the float is within.
    pub fn contains(self, x: f64) -> bool {
        key(self.low) <= key(x) && key(x) <= key(self.high)
    }

    /// The intersection. `None` if it is empty.
    pub fn meet(self, other: Span) -> Option<Span> {
        let (low, high) = (greatest(self.low, other.low), least(self.high, other.high));
        (key(low) <= key(high)).then_some(Span { low, high })
    }

    /// The least span that holds both.
    #[must_use]
    pub fn hull(self, other: Span) -> Span {
        Span { low: least(self.low, other.low), high: greatest(self.high, other.high) }
    }
}

impl PartialEq for Span {
    fn eq(&self, other: &Span) -> bool {
        self.low.to_bits() == other.low.to_bits() && self.high.to_bits() == other.high.to_bits()
    }
}

impl Eq for Span {}

impl Set {
    /// The most spans of a set. If there are more, the two with the fewest floats between them
    /// become one.
    pub const SPANS: usize = 3;

    /// The empty set, which operands have that contradict each other.
    pub const NONE: Set = Set { spans: [Span { low: 0.0, high: 0.0 }; Set::SPANS], count: 0, nan: false };

    /// Every float and NaN.
    pub const ANY: Set = {
        let mut set = Set::NONE;
        set.spans[0] = Span { low: f64::NEG_INFINITY, high: f64::INFINITY };
        set.count = 1;
        set.nan = true;
        set
    };

    /// NaN alone.
    pub const NAN: Set = Set { nan: true, ..Set::NONE };

    /// A zero of either sign.
    pub const ZERO: Set = {
        let mut set = Set::NONE;
        set.spans[0] = Span { low: -0.0, high: 0.0 };
        set.count = 1;
        set
    };

    /// The 32-bit floats to which the numbers of an interval may be rounded, in either direction. A
    /// number too small to be normal may become zero.
    pub fn of_f32(allowed: Interval) -> Set {
        let Interval { low, high, .. } = allowed.of_f32();
        if !allowed.is_finite() || !low.is_finite() || !high.is_finite() || low > high {
            return Set::ANY;
        }
        let least = f64::from(f32::MIN_POSITIVE);
        let set = Set::of(Span::between(low, high));
        if low < least && high > -least { set.union(Set::ZERO) } else { set }
    }

    /// One float, or NaN.
    pub fn point(x: f64) -> Set {
        if x.is_nan() { Set::NAN } else { Set::of(Span::point(x)) }
    }

    /// One span.
    pub fn of(span: Span) -> Set {
        let mut set = Set::NONE;
        set.spans[0] = span;
        set.count = 1;
        set
    }

    /// The spans, ascending.
    pub fn spans(&self) -> &[Span] {
        &self.spans[..self.count as usize]
    }

    /// Whether NaN is a member.
    pub fn has_nan(&self) -> bool {
        self.nan
    }

    /// Whether a float or NaN is a member.
    pub fn contains(&self, x: f64) -> bool {
        if x.is_nan() { self.nan } else { self.spans().iter().any(|span| span.contains(x)) }
    }

    /// Whether every member of `other` is a member.
    pub fn holds(&self, other: &Set) -> bool {
        let covered = |span: &Span| self.spans().iter().any(|s| key(s.low) <= key(span.low) && key(span.high) <= key(s.high));
        (self.nan || !other.nan) && other.spans().iter().all(covered)
    }

    /// Whether the set is empty.
    pub fn is_none(&self) -> bool {
        self.count == 0 && !self.nan
    }

    /// Whether every float is a member, so that the set says nothing.
    pub fn is_any(&self) -> bool {
        self.count == 1 && self.spans[0].low == f64::NEG_INFINITY && self.spans[0].high == f64::INFINITY
    }

    /// The only member. `None` if there is none, if there are several, or if NaN is a member.
    pub fn only(&self) -> Option<f64> {
        self.only_span().filter(|span| span.low.to_bits() == span.high.to_bits()).map(|span| span.low)
    }

    /// The span, if the set consists of one span without NaN.
    pub(crate) fn only_span(&self) -> Option<&Span> {
        match self.spans() {
            [span] if !self.nan => Some(span),
            _ => None,
        }
    }

    /// Whether the set is bounded: no infinity, no NaN, and not empty.
    pub fn is_bounded(&self) -> bool {
        let finite = |span: &Span| span.low.is_finite() && span.high.is_finite();
        !self.nan && self.count > 0 && self.spans().iter().all(finite)
    }

    /// Whether two sets may stand for the same floats. A full set merges spans, and which ones
    /// depends on the order in which they came.
    pub fn is_alike(&self, other: &Set) -> bool {
        let full = |set: &Set| set.spans().len() == Set::SPANS;
        self == other || full(self) && full(other) && self.nan == other.nan && self.hull() == other.hull()
    }

    /// The distance in 32-bit floats from the least to the greatest float of each span, summed over
    /// all spans: 0 for a point, 1 for a float and its neighbour.
    pub fn width_in_floats(&self) -> u32 {
        let at = |x: f64| {
            let bits = (x as f32).to_bits() as i32;
            i64::from(bits ^ ((bits >> 31) as u32 >> 1) as i32)
        };
        let all: i64 = self.spans().iter().map(|span| at(span.high) - at(span.low)).sum();
        all as u32
    }

    /// The member nearest to a number, or the least member for NaN. `None` if no number is
    /// a member.
    pub fn nearest(&self, x: f64) -> Option<f64> {
        if x.is_nan() {
            return self.hull().map(|hull| hull.low);
        }
        let to = |span: &Span| greatest(span.low, least(span.high, x));
        self.spans().iter().map(to).min_by(|a, b| (a - x).abs().total_cmp(&(b - x).abs()))
    }

    /// The span from the least to the greatest float, if there is any.
    pub fn hull(&self) -> Option<Span> {
        let spans = self.spans();
        Some(Span { low: spans.first()?.low, high: spans.last()?.high })
    }

    /// The set with another span.
    #[must_use]
    pub fn with(self, span: Span) -> Set {
        let mut all: [Span; Set::SPANS + 1] = [span; Set::SPANS + 1];
        let count = self.count as usize;
        all[..count].copy_from_slice(self.spans());
        all[..=count].sort_by_key(|s| key(s.low));
        let mut merged = 0;
        for i in 1..=count {
            if key(all[i].low) <= key(all[merged].high).saturating_add(1) {
                all[merged] = all[merged].hull(all[i]);
            } else {
                merged += 1;
                all[merged] = all[i];
            }
        }
        let mut spans = merged + 1;
        if spans > Set::SPANS {
            let gap = |i: &usize| key(all[i + 1].low).wrapping_sub(key(all[*i].high)) as u64;
            let at = (0..Set::SPANS).min_by_key(gap).unwrap_or(0);
            all[at] = all[at].hull(all[at + 1]);
            all.copy_within(at + 2..spans, at + 1);
            spans -= 1;
        }
        let mut set = Set { nan: self.nan, ..Set::NONE };
        set.spans[..spans].copy_from_slice(&all[..spans]);
        set.count = spans as u8;
        set
    }

    /// The set with NaN.
    #[must_use]
    pub fn or_nan(self) -> Set {
        Set { nan: true, ..self }
    }

    /// The least set that contains both, up to the number of spans.
    #[must_use]
    pub fn union(self, other: Set) -> Set {
        let set = other.spans().iter().fold(self, |set, &span| set.with(span));
        Set { nan: self.nan || other.nan, ..set }
    }

    /// The intersection.
    #[must_use]
    pub fn meet(self, other: Set) -> Set {
        let pairs = self.spans().iter().flat_map(|a| other.spans().iter().filter_map(|b| a.meet(*b)));
        let intersection = pairs.fold(Set::NONE, Set::with);
        Set { nan: self.nan && other.nan, ..intersection }
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        self.nan == other.nan && self.spans() == other.spans()
    }
}

impl Eq for Set {}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A number, displayed with the fewest digits that name it among the 32-bit floats, if it is one.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let narrow = self.0 as f32;
        match f64::from(narrow).to_bits() == self.0.to_bits() {
            true => write!(f, "{narrow:?}"),
            false => write!(f, "{:?}", self.0),
        }
    }
}

/// `0.5`, `[0.49, 0.51]`, `[-0, 0] or [1e-38, 2e-38] or NaN`, `any value`.
impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_any() {
            return f.write_str("any value");
        }
        if self.is_none() {
            return f.write_str("no value");
        }
        for (i, span) in self.spans().iter().enumerate() {
            let or = if i == 0 { "" } else { " or " };
            match span.low.to_bits() == span.high.to_bits() {
                true => write!(f, "{or}{}", Number(span.low))?,
                false => write!(f, "{or}[{}, {}]", Number(span.low), Number(span.high))?,
            }
        }
        match (self.nan, self.count) {
            (true, 0) => f.write_str("NaN"),
            (true, _) => f.write_str(" or NaN"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Set, Span};

    #[test]
    fn a_zero_of_one_sign_is_not_the_other() {
        assert!(Set::point(0.0).contains(0.0) && !Set::point(0.0).contains(-0.0));
        assert!(Set::ZERO.contains(-0.0) && Set::ZERO.contains(0.0) && !Set::ZERO.contains(1e-300));
        assert_eq!(Set::point(-0.0).with(Span::point(0.0)), Set::ZERO);
    }

    /// The same floats in several orders, and sets that only look like that.
    #[test]
    fn full_sets_are_alike_by_their_ends() {
        let of = |floats: &[f64]| floats.iter().fold(Set::NONE, |set, &x| set.with(Span::point(x)));
        let forward = of(&[1.1875, 1.4375, 1.6875, 1.9375, 2.6875]);
        let other = of(&[1.1875, 1.9375, 2.6875, 1.6875, 1.4375]);
        assert!(forward != other && forward.is_alike(&other), "{forward} {other}");
        // Another end, room for more, or a NaN.
        assert!(!forward.is_alike(&forward.with(Span::point(4.0))));
        assert!(!of(&[1.0, 2.0]).is_alike(&Set::of(Span { low: 1.0, high: 2.0 })));
        assert!(!forward.is_alike(&Set { nan: true, ..other }));
    }

    #[test]
    fn more_spans_than_there_is_room_for_close_the_least_gap() {
        let set = [4.0, 1.0, 2.0].iter().fold(Set::NONE, |set, &x| set.with(Span::point(x)));
        assert_eq!(set.spans().len(), 3);
        // Counted in floats between them, 4 and 4.5 are nearest.
        let set = set.with(Span::point(4.5));
        assert_eq!(set.spans(), [Span::point(1.0), Span::point(2.0), Span { low: 4.0, high: 4.5 }]);
        assert!(!set.contains(3.0) && set.contains(4.25));
    }

    #[test]
    fn the_nearest_member_and_the_width() {
        let set = Set::of(Span::between(1.0, 2.0)).with(Span::point(4.0));
        assert_eq!([0.0, 1.5, 2.5, 3.5, f64::NAN].map(|x| set.nearest(x)), [1.0, 1.5, 2.0, 4.0, 1.0].map(Some));
        assert_eq!((Set::NAN.nearest(1.0), Set::point(3.0).width_in_floats(), Set::ZERO.width_in_floats()), (None, 0, 1));
        assert_eq!(set.width_in_floats(), 1 << 23);
        assert_eq!(Set::of(Span::between(-f64::from(f32::from_bits(1)), 0.0)).width_in_floats(), 2);
    }

    #[test]
    fn sets_meet_and_hold() {
        let set = Set::of(Span::between(1.0, -1.0)).or_nan();
        assert!(set.holds(&Set::ZERO) && set.holds(&Set::NAN) && !set.holds(&Set::point(1.5)));
        assert_eq!(set.meet(Set::of(Span::between(0.5, 9.0))), Set::of(Span::between(0.5, 1.0)));
        assert!(set.meet(Set::point(2.0)).is_none());
        assert!(Set::ANY.holds(&set) && Set::ANY.is_any() && !set.is_any() && !set.is_bounded());
    }
}
