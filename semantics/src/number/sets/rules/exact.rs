//! Functions of GLSL.std.450 with at most one rounding: EXACT and CR (Vulkan, "Precision of
//! GLSL.std.450 Instructions"). `None`: any value.

use super::super::{Format, Set, Span};
use super::bounds::Bounds;
use super::core::Rules;
use super::range;
use crate::number::reference::{Direction, Enclosure};
use rspirv::spirv::GlslStd450Op as Glsl;

/// The whole numbers from one to another, as separate points if they are few.
fn whole_numbers(low: f64, high: f64) -> Set {
    if high - low > 2.0 {
        return Set::of(Span::between(low, high));
    }
    let mut set = Set::point(low).with(Span::point(high));
    if high - low == 2.0 {
        set = set.with(Span::point(low + 1.0));
    }
    set
}

/// A function of one float that is exact, over a span of finite floats. `None` also if the function
/// is not one of these.
pub(super) fn of_one(rules: &Rules, function: Glsl, x: Span) -> Option<Set> {
    let Span { low, high } = x;
    let set = match function {
        Glsl::Trunc => whole_numbers(low.trunc(), high.trunc()),
        Glsl::Floor => whole_numbers(low.floor(), high.floor()),
        Glsl::Ceil => whole_numbers(low.ceil(), high.ceil()),
        Glsl::RoundEven => whole_numbers(low.round_ties_even(), high.round_ties_even()),
        Glsl::Round => return Some(round(rules, x)),
        Glsl::FSign => whole_numbers(sign(low), sign(high)),
        Glsl::FAbs if low >= 0.0 && high >= 0.0 => Set::of(x),
        Glsl::FAbs if low <= 0.0 && high <= 0.0 => Set::of(Span { low: -high, high: -low }),
        Glsl::FAbs => Set::of(Span { low: 0.0, high: high.max(-low) }),
        Glsl::Fract if rules.wgsl => return inherited_fract(rules, x),
        Glsl::Fract => return fract(rules, x),
        _ => return None,
    };
    Some(rules.result(set))
}

fn sign(x: f64) -> f64 {
    if x == 0.0 { x } else { 1f64.copysign(x) }
}

/// Round: the nearest whole number; of two equally near, either.
fn round(rules: &Rules, x: Span) -> Set {
    let is_tie = |x: f64| (x - x.trunc()).abs() == 0.5;
    let low = if is_tie(x.low) { x.low.floor() } else { x.low.round_ties_even() };
    let high = if is_tie(x.high) { x.high.ceil() } else { x.high.round_ties_even() };
    rules.result(whole_numbers(low, high))
}

/// Fract: x - floor(x), correctly rounded. So a tiny negative number may give 1.
fn fract(rules: &Rules, x: Span) -> Option<Set> {
    let at = |x: f64| range::at(Glsl::Fract, &[x]);
    let (zero, one) = (Enclosure::point(0.0), Enclosure::point(1.0));
    match x.high.floor() - x.low.floor() {
        0.0 => Some(rules.rounded(at(x.low)?, at(x.high)?)),
        1.0 => Some(rules.rounded(at(x.low)?, one).union(rules.rounded(zero, at(x.high)?))),
        _ => Some(rules.rounded(zero, one)),
    }
}

/// Modf's fraction: x - trunc(x), with x's sign. CR, and exact: nothing but flushing can change it.
/// The whole part is Trunc's.
pub(super) fn fraction(rules: &Rules, x: Span) -> Option<Set> {
    let below_one = 1.0 - rules.format.ulp(0.75);
    let rounded = |low: f64, high: f64| rules.rounded(Enclosure::point(low), Enclosure::point(high));
    // For numbers of one sign.
    let fraction_of_part = |part: Span| match part.low.trunc() == part.high.trunc() {
        true => rounded(part.low - part.low.trunc(), part.high - part.high.trunc()),
        false if part.high > 0.0 => rounded(0.0, below_one),
        false => rounded(-below_one, -0.0),
    };
    let (negative, positive) = (Span { low: f64::NEG_INFINITY, high: -0.0 }, Span { low: 0.0, high: f64::INFINITY });
    let parts = [negative, positive].into_iter().filter_map(|sign| x.meet(sign));
    Some(parts.fold(Set::NONE, |set, part| set.union(fraction_of_part(part))))
}

/// The significand and the exponent of 2 that Frexp gives for a finite number: x =
/// significand·2^exponent. The exponent of a zero is 0. Every finite float of a format is a normal
/// number of 64 bits.
fn split(x: f64) -> (f64, f64) {
    if x == 0.0 {
        return (x, 0.0);
    }
    let exponent = (x.to_bits() >> 52 & 0x7ff) as i32 - 1022;
    (x * 2f64.powi(-exponent), f64::from(exponent))
}

/// The zeros of a span, and its other numbers by sign. The first end of each pair is nearer
/// to zero.
fn by_sign(x: Span) -> (Option<Span>, impl Iterator<Item = [f64; 2]>) {
    let tiny = f64::MIN_POSITIVE;
    let negative = x.meet(Span { low: f64::NEG_INFINITY, high: -tiny }).map(|part| [part.high, part.low]);
    let positive = x.meet(Span { low: tiny, high: f64::INFINITY }).map(|part| [part.low, part.high]);
    (x.meet(Span { low: -0.0, high: 0.0 }), negative.into_iter().chain(positive))
}

/// Frexp's significand: EXACT, in ±[0.5, 1), or a zero for a zero.
pub(super) fn significand(rules: &Rules, x: Span) -> Set {
    let (zeros, parts) = by_sign(x);
    let below_one = 1.0 - rules.format.ulp(0.75);
    let set = parts.fold(zeros.map_or(Set::NONE, Set::of), |set, [near, far]| {
        let ((first, from), (last, to)) = (split(near), split(far));
        let whole = Span::between(0.5f64.copysign(near), below_one.copysign(near));
        set.with(if from == to { Span::between(first, last) } else { whole })
    });
    rules.result(set)
}

/// Frexp's exponent, as a number: EXACT. A flushed operand has the exponent of zero.
pub(super) fn exponent(x: Span) -> Set {
    let (zeros, parts) = by_sign(x);
    // If the span meets zero, its numbers go down to the least of the format. A set greater than
    // that of its floats does no harm.
    let least = |near: f64| if near.abs() <= f64::MIN_POSITIVE { -148.0 } else { split(near).1 };
    let of_zero = if zeros.is_some() { Set::point(0.0) } else { Set::NONE };
    parts.fold(of_zero, |set, [near, far]| set.union(whole_numbers(least(near), split(far).1)))
}

/// Fract in WGSL: INH(x - floor(x)).
fn inherited_fract(rules: &Rules, x: Span) -> Option<Set> {
    let operand = rules.leaf(x);
    let formula = rules.subtract(operand, rules.whole(operand, false)?)?;
    let exact = if x.low.floor() == x.high.floor() {
        Bounds::of(range::at(Glsl::Fract, &[x.low])?, range::at(Glsl::Fract, &[x.high])?)?
    } else {
        Bounds { low: 0.0, high: 1.0 }
    };
    Some(rules.inherited(Some(exact), formula))
}

/// FMin and NMin, FMax and NMax, of numbers: exact. Of zeros of different signs, either.
pub(super) fn extreme(rules: &Rules, x: Span, y: Span, greater: bool) -> Set {
    let choose = |a: f64, b: f64| {
        let Span { low, high } = Span::between(a, b);
        if greater { high } else { low }
    };
    let set = Set::of(Span { low: choose(x.low, y.low), high: choose(x.high, y.high) });
    rules.result(set.union(indistinguishable(rules.format, x, y)))
}

/// The values that a comparison that flushes its operands cannot tell apart: zeros and subnormals
/// of both, if both have some. The chosen operand need not be flushed.
fn indistinguishable(format: Format, x: Span, y: Span) -> Set {
    let greatest = format.max_subnormal();
    let tiny = Span { low: -greatest, high: greatest };
    match (x.meet(tiny), y.meet(tiny)) {
        (Some(x), Some(y)) => Set::of(x).with(y),
        _ => Set::NONE,
    }
}

/// FClamp and NClamp (x, low, high): undefined if low > high. Otherwise WGSL's two ways of writing
/// it agree.
pub(super) fn clamp(rules: &Rules, x: Span, low: Span, high: Span) -> Option<Set> {
    if low.high > high.low {
        return None;
    }
    let bound = |x: f64, low: f64, high: f64| Span::between(Span::between(x, low).high, high).low;
    let set = Set::of(Span { low: bound(x.low, low.low, high.low), high: bound(x.high, low.high, high.high) });
    let set = [(x, low), (x, high), (low, high)].into_iter().fold(set, |set, (a, b)| set.union(indistinguishable(rules.format, a, b)));
    Some(rules.result(set))
}

/// Step (edge, x): 0 if x < edge, otherwise 1.
pub(super) fn step(rules: &Rules, edge: Span, x: Span) -> Set {
    let mut set = Set::NONE;
    if x.low < edge.high {
        set = set.with(Span::point(0.0));
    }
    if x.high >= edge.low {
        set = set.with(Span::point(1.0));
    }
    rules.result(set)
}

/// Ldexp (x, exponent): x·2^exponent, correctly rounded. Undefined above an exponent of 128. Below
/// -126 the result may be flushed. GLSL.std.450 states no such limits for 16 bits, so these have
/// no rule.
pub(super) fn ldexp(rules: &Rules, x: Span, exponent: f64) -> Option<Set> {
    if rules.format != Format::Single || exponent > 128.0 || exponent != exponent.trunc() {
        return None;
    }
    // Anything lower gives less than half the least float.
    let power = 2f64.powi(exponent.max(-400.0) as i32);
    let set = rules.rounded(Enclosure::point(x.low * power), Enclosure::point(x.high * power));
    Some(if exponent < -126.0 { set.union(Set::ZERO) } else { set })
}

/// OpQuantizeToF16: to either neighbour of 16 bits (CR-any). A result below the least normal float
/// may become zero. `None` if it may become infinite.
pub(super) fn quantize(rules: &Rules, x: Span) -> Option<Set> {
    let half = Format::Half;
    if rules.format != Format::Single || x.low < -half.max() || x.high > half.max() {
        return None;
    }
    let (low, high) = (half.round(Direction::Down, x.low), half.round(Direction::Up, x.high));
    let set = rules.result(Set::of(Span { low, high }));
    Some(if x.low < half.min() && x.high > -half.min() { set.union(Set::ZERO) } else { set })
}
