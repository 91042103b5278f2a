//! Levels of detail: Vulkan, Scale Factor Operation, LOD Operation and Image Level(s) Selection.

use super::sampler::{Filter, MAX_LOD_BIAS, Precision, Sampler};
use super::{Rules, SamplerError};
use crate::number::{Inexact, Interval};

/// How an instruction specifies the level of detail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lod {
    /// Explicitly: the operand Lod.
    Explicit(Inexact),
    /// By the derivatives of the coordinates (s, t, r) in x and in y, of the quad or the operand
    /// Grad, and a bias. Derivatives that the image's shape does not use are ignored. A cube uses
    /// all three.
    Derivatives {
        /// ∂s/∂x, ∂t/∂x and ∂r/∂x.
        dx: [Inexact; 3],
        /// ∂s/∂y, ∂t/∂y and ∂r/∂y.
        dy: [Inexact; 3],
        /// The operand Bias.
        bias: f32,
    },
}

impl Lod {
    /// By the derivatives of two coordinates.
    pub fn flat([dsdx, dtdx]: [Inexact; 2], [dsdy, dtdy]: [Inexact; 2], bias: f32) -> Lod {
        let none = Inexact::exact(0.0);
        Lod::Derivatives { dx: [dsdx, dtdx, none], dy: [dsdy, dtdy, none], bias }
    }
}

/// A level of detail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lambda {
    /// λ, and the values that a device may have instead.
    pub lambda: Inexact,
    /// Whether λ is undefined, because lodmin > lodmax.
    pub undefined: bool,
}

/// Slightly more than √2.
const SQRT_2: f64 = 1.414_213_562_373_096;

/// λ for an image whose level 0 has that size in each dimension with derivatives.
///
/// With magnitudes m = |derivative|·size, a device may take any ρx with max(mux, mvx, mwx) ≤ ρx ≤
/// √2·(mux + mvx + mwx). The definite value is the Euclidean length. The level of detail is
/// accurate to 2^-`mipmap_bits`. An explicit level without a finer part is exact.
///
/// # Errors
/// If a level of detail of the sampler is NaN.
pub fn lambda(rules: &Rules, sampler: &Sampler, size: [u32; 3], lod: Lod, precision: Precision) -> Result<Lambda, SamplerError> {
    if sampler.lod_bias.is_nan() || sampler.lod_min.is_nan() || sampler.lod_max.is_nan() {
        return Err(SamplerError::NaN);
    }
    let (low, high) = (f64::from(sampler.lod_min), f64::from(sampler.lod_max));
    if low > high {
        return Ok(Lambda { lambda: Inexact { value: low, allowed: Interval::ANY }, undefined: true });
    }
    let step = (-f64::from(precision.mipmap_bits.min(52))).exp2();
    let (base, bias, exact) = match lod {
        Lod::Explicit(lod) => (lod, 0.0, true),
        Lod::Derivatives { dx, dy, bias } => (scale_factor(rules, size, dx, dy), f64::from(bias), false),
    };
    let value = base.value + (rules.bias)(sampler.lod_bias.into(), bias);
    let added = (f64::from(sampler.lod_bias) + bias).clamp(-MAX_LOD_BIAS, MAX_LOD_BIAS);
    let mut allowed = base.allowed;
    if added != 0.0 {
        allowed = Interval { low: allowed.low + added, high: allowed.high + added, ..allowed };
    }
    if !(exact && allowed.low == allowed.high && (allowed.low / step).fract() == 0.0) {
        allowed = allowed.widened(step);
    }
    let clamp = |x: f64| if x.is_nan() { low } else { x.clamp(low, high) };
    if allowed.nan {
        allowed = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: false };
    }
    Ok(Lambda { lambda: Inexact { value: clamp(value), allowed: allowed.clamped(low, high) }, undefined: false })
}

/// log2 of ρmax.
fn scale_factor(rules: &Rules, size: [u32; 3], dx: [Inexact; 3], dy: [Inexact; 3]) -> Inexact {
    let magnitude = |d: [Inexact; 3]| {
        [0, 1, 2].map(|axis| (d[axis].value.abs() * f64::from(size[axis]), d[axis].allowed.abs().times(size[axis].into())))
    };
    let (x, y) = (magnitude(dx), magnitude(dy));
    let value = (rules.scale_factor)([x, y].map(|of| of.map(|m| m.0))).log2();
    let least = [x, y].iter().flatten().map(|m| m.1.low).fold(0.0, f64::max);
    let most = [x, y].iter().map(|m| SQRT_2 * (m[0].1.high + m[1].1.high + m[2].1.high)).fold(0.0, f64::max);
    let nan = [x, y].iter().flatten().any(|m| m.1.nan || m.1.low > m.1.high);
    // Derivatives are 32-bit floats with an error of their own. The logarithm has one too.
    let allowed = if nan { Interval::ANY } else { Interval::between(least.log2(), most.log2()).widened(1e-5) };
    Inexact { value, allowed }
}

/// The levels that are read at a level of detail: the definite level and the weight of the next
/// one, and all levels and weights that a device may use.
pub(super) struct Levels {
    /// Whether the definite value uses the minifying filter.
    pub minified: bool,
    /// The filters that a device may use: the magnifying one, then the minifying one if it differs.
    pub filters: [Option<Filter>; 2],
    /// The definite level.
    pub level: u32,
    /// The weight of the next level.
    pub weight: f64,
    /// The levels that a device may use, with the least and the greatest weight of the next level.
    pub allowed: Vec<(u32, [f64; 2])>,
}

impl Levels {
    /// Image Level(s) Selection among this number of levels.
    pub(super) fn at(rules: &Rules, sampler: &Sampler, lambda: Inexact, levels: u32) -> Levels {
        let last = f64::from(levels - 1);
        let clamp = |x: f64| x.clamp(0.0, last);
        let (value, low, high) = (clamp(lambda.value), clamp(lambda.allowed.low), clamp(lambda.allowed.high));
        let may_magnify = lambda.allowed.low <= 0.0;
        let may_minify = lambda.allowed.high > 0.0;
        let filters = [may_magnify.then_some(sampler.mag), may_minify.then_some(sampler.min).filter(|&f| !may_magnify || f != sampler.mag)];
        let minified = (rules.minified)(lambda.value);
        let (level, weight, allowed) = match sampler.mip {
            Filter::Nearest => {
                let (first, end) = ((low + 0.5).ceil() - 1.0, (high + 0.5).floor());
                let levels = (clamp(first) as u32..=clamp(end) as u32).map(|level| (level, [0.0; 2])).collect();
                (clamp((rules.nearest_level)(value)) as u32, 0.0, levels)
            }
            Filter::Linear => {
                let part = |level: u32| [low, high].map(|x| (x - f64::from(level)).clamp(0.0, 1.0));
                let levels = (low.floor() as u32..=high.floor() as u32).map(|level| (level, part(level))).collect();
                (value.floor() as u32, value - value.floor(), levels)
            }
        };
        Levels { minified, filters, level, weight, allowed }
    }
}
