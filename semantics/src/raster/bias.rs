//! The depth bias of a triangle's fragments: Vulkan, Depth Bias.
//!
//! The offset is m·(slope factor) + r·(constant factor), bounded by a clamp. m is the triangle's
//! slope. r is the least difference of depths that the attachment resolves. The specification
//! leaves both open. m is the length of the depth's gradient, or the greater of its two
//! components. In an integer format of n bits, r depends on the device and is at most 2·2^-n. In a
//! float format with n bits of fraction, r is 2^(e-n), where e is the greatest exponent of the
//! triangle's depths.

use super::{DepthBias, Rules};
use crate::image::Format;
use crate::number::{Inexact, Interval};

/// The slope of a triangle's depth over the screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
    /// The slope m, per pixel.
    steepest: Inexact,
    /// The greatest depth of the three vertices.
    greatest: Inexact,
}

/// An approximate number: the value, and the greatest distance of a device's value from it.
#[derive(Clone, Copy)]
struct Near(f64, f64);

impl Near {
    fn minus(self, other: Near) -> Near {
        Near(self.0 - other.0, self.1 + other.1)
    }

    fn times(self, other: Near) -> Near {
        Near(self.0 * other.0, self.0.abs() * other.1 + other.0.abs() * self.1 + self.1 * other.1)
    }

    /// The magnitude of the quotient. `None` if the divisor may be zero.
    fn over(self, other: Near) -> Option<Inexact> {
        let least = other.0.abs() - other.1;
        if least.is_nan() || least <= 0.0 {
            return None;
        }
        let ends = [self.0 - self.1, self.0 + self.1].map(|n| [n / least, n / (other.0.abs() + other.1)]);
        let allowed = ends.into_iter().flatten().map(Interval::point).reduce(Interval::hull)?;
        Some(Inexact { value: (self.0 / other.0).abs(), allowed: allowed.widened(f64::EPSILON * allowed.magnitude()).abs() })
    }
}

impl Slope {
    /// `at` are the places of the vertices in pixels, and `error` is their error. `lost` is the
    /// relative error of arithmetic. `None` if the triangle may have no area.
    pub(super) fn of(depths: [Inexact; 3], at: [[f64; 2]; 3], error: f64, lost: f64) -> Option<Slope> {
        let error_of = |d: Inexact| (d.allowed.high - d.value).max(d.value - d.allowed.low);
        let [z0, z1, z2] = depths.map(|d| Near(d.value, error_of(d)));
        let [[x0, y0], [x1, y1], [x2, y2]] = at.map(|corner| corner.map(|c| Near(c, error)));
        let (dz1, dz2) = (z1.minus(z0), z2.minus(z0));
        let (dx1, dx2, dy1, dy2) = (x1.minus(x0), x2.minus(x0), y1.minus(y0), y2.minus(y0));
        let determinant = |a: Near, b: Near, c: Near, d: Near| {
            let (ad, bc) = (a.times(d), b.times(c));
            let Near(value, off) = ad.minus(bc);
            Near(value, off + lost * (ad.0.abs() + bc.0.abs()))
        };
        let area = determinant(dx1, dx2, dy1, dy2);
        let along_x = determinant(dz1, dz2, dy1, dy2).over(area)?;
        let along_y = determinant(dx1, dx2, dz1, dz2).over(area)?;
        let low = along_x.allowed.low.max(along_y.allowed.low);
        let high = along_x.allowed.high.hypot(along_y.allowed.high);
        let steepest =
            Inexact { value: along_x.value.max(along_y.value), allowed: Interval::between(low, high).widened(f64::EPSILON * high) };
        let greatest = depths.into_iter().reduce(|a, b| {
            let allowed = Interval { low: a.allowed.low.max(b.allowed.low), high: a.allowed.high.max(b.allowed.high), nan: false };
            Inexact { value: a.value.max(b.value), allowed }
        })?;
        Some(Slope { steepest, greatest })
    }
}

/// The offset of a triangle with that slope. It may be any number if the slope is not known.
pub(super) fn offset(rules: &Rules, bias: DepthBias, slope: Option<Slope>, format: Format) -> Inexact {
    let [factor, constant, clamp] = [bias.slope, bias.constant, bias.clamp].map(f64::from);
    let Some(Slope { steepest, greatest }) = slope else {
        // No clause says whether slope and depths of a clipped triangle are those before
        // clipping or after.
        return Inexact { value: (rules.depth_bias)(0.0, 0.0, clamp), allowed: Interval::ANY };
    };
    let resolved = resolved(format, greatest);
    let value = (rules.depth_bias)(steepest.value * factor, resolved.value * constant, clamp);
    let (sloped, constant) = (steepest.allowed.times(factor), resolved.allowed.times(constant));
    let ends = [(sloped.low, constant.low), (sloped.high, constant.high)].map(|(a, b)| (rules.depth_bias)(a, b, clamp));
    let allowed = Interval::between(ends[0], ends[1]).hull(Interval::point(value));
    // 32-bit floats round each product and the sum.
    let lost = f64::from(f32::EPSILON) * (sloped.magnitude() + constant.magnitude());
    Inexact { value, allowed: allowed.widened(lost) }
}

/// The r of a format, for a triangle with that greatest depth.
fn resolved(format: Format, greatest: Inexact) -> Inexact {
    let bits = i32::from(format.channels()[0].width);
    if bits < 32 {
        let step = f64::from(-bits).exp2();
        return Inexact { value: step, allowed: Interval::between(0.0, 2.0 * step) };
    }
    let of = |depth: f64| match depth.abs() {
        depth if depth < f64::from(f32::MIN_POSITIVE) => 0.0,
        // The greatest power of two that is not above the depth, times 2^-23.
        depth => f64::from_bits(depth.to_bits() >> 52 << 52) * (-23f64).exp2(),
    };
    let Interval { low, high, .. } = greatest.allowed;
    Inexact { value: of(greatest.value), allowed: Interval::between(of(low.max(0.0)), of(high.abs().max(f64::from(f32::MIN_POSITIVE)))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64, y: f64) -> Inexact {
        Inexact::exact(0.25 + x / 32.0 + y / 64.0)
    }

    fn offset_of(bias: DepthBias, format: Format) -> Inexact {
        let places = [[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]];
        let slope = Slope::of(places.map(|[x, y]| at(x, y)), places, 0.0, 0.0).expect("it has an area");
        offset(&Rules::default(), bias, Some(slope), format)
    }

    #[track_caller]
    fn near(found: Inexact, value: f64, low: f64, high: f64) {
        // 32-bit arithmetic loses some 2^-23 of the greatest term.
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * found.allowed.magnitude();
        let Interval { low: least, high: greatest, nan } = found.allowed;
        assert!(close(found.value, value) && close(least, low) && close(greatest, high) && !nan, "{found:?}");
        assert!(found.allowed.contains(found.value), "{found:?}");
    }

    #[test]
    fn a_slope_is_a_length_or_its_greater_part() {
        let (slope, length) = (1.0 / 32.0, (1.0f64 / 32.0).hypot(1.0 / 64.0));
        let only = |factor| DepthBias { constant: 0.0, clamp: 0.0, slope: factor };
        near(offset_of(only(2.0), Format::D32Sfloat), 2.0 * slope, 2.0 * slope, 2.0 * length);
        near(offset_of(only(-2.0), Format::D32Sfloat), -2.0 * slope, -2.0 * length, -2.0 * slope);
        let clamped = DepthBias { clamp: 0.065, ..only(2.0) };
        near(offset_of(clamped, Format::D32Sfloat), 2.0 * slope, 2.0 * slope, 0.065);
    }

    #[test]
    fn a_unit_is_what_the_format_resolves() {
        let only = DepthBias { constant: 1.0, clamp: 0.0, slope: 0.0 };
        // The greatest depth is 0.5, whose exponent is -1.
        near(offset_of(only, Format::D32Sfloat), (-24f64).exp2(), (-24f64).exp2(), (-24f64).exp2());
        near(offset_of(only, Format::D16Unorm), (-16f64).exp2(), 0.0, (-15f64).exp2());
        for (depth, exponent) in [(0.9999, -1), (1.0, 0), (0.25, -2), (0.249, -3)] {
            assert_eq!(resolved(Format::D32Sfloat, Inexact::exact(depth)).value, f64::from(exponent - 23).exp2(), "{depth}");
        }
        let across = Inexact { value: 0.5, allowed: Interval::between(0.499, 0.501) };
        assert_eq!(resolved(Format::D32Sfloat, across).allowed, Interval::between((-25f64).exp2(), (-24f64).exp2()));
        assert_eq!(resolved(Format::D32Sfloat, Inexact::exact(0.0)).value, 0.0);
    }

    #[test]
    fn vertices_elsewhere_give_other_slopes_and_no_area_gives_none() {
        let places = [[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]];
        let depths = places.map(|[x, y]| at(x, y));
        let slope = Slope::of(depths, places, 1.0 / 256.0, 0.0).expect("it has an area");
        // A device's triangle, whose vertices moved by the error.
        let moved = Slope::of(depths, [[1.0 / 256.0, 0.0], [8.0 - 1.0 / 256.0, 0.0], [0.0, 8.0]], 0.0, 0.0).expect("it has an area");
        assert!(slope.steepest.allowed.low < moved.steepest.value && moved.steepest.value < slope.steepest.allowed.high);
        assert!(moved.steepest.value > 1.0 / 32.0);
        assert!(Slope::of(depths, [[0.0, 0.0], [4.0, 4.0], [8.0, 8.0]], 0.0, 0.0).is_none());
        let unknown = offset(&Rules::default(), DepthBias { constant: 1.0, clamp: 0.0, slope: 0.0 }, None, Format::D32Sfloat);
        assert!(unknown.allowed.is_any());
    }
}
