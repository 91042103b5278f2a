//! A second implementation of sampling, as simple as possible and in exact fractions. Coordinates
//! are moved into the level step by step, and weights are integers.

use smallstep_semantics::image::{AddressMode, Border, Filter, Sampler};

/// A number n/d.
#[derive(Clone, Copy, Debug)]
pub struct Fraction {
    pub n: i128,
    pub d: i128,
}

impl Fraction {
    pub fn value(self) -> f64 {
        self.n as f64 / self.d as f64
    }
}

/// Levels of one-component texels in units of 1/255.
pub struct Levels {
    pub sizes: Vec<[i128; 2]>,
    pub texels: Vec<Vec<u8>>,
}

/// The number of parts of 1. Coordinates and levels of detail are counted in parts.
pub const PARTS: i128 = 1 << 24;

/// The coordinate within the level, found step by step. `None` for the border.
pub fn walk(mode: AddressMode, mut i: i128, size: i128) -> Option<i128> {
    loop {
        if (0..size).contains(&i) {
            return Some(i);
        }
        i = match mode {
            AddressMode::Repeat if i < 0 => i + size,
            AddressMode::Repeat => i - size,
            // Mirrored at the edge beyond which the coordinate lies.
            AddressMode::MirroredRepeat if i < 0 => -1 - i,
            AddressMode::MirroredRepeat => 2 * size - 1 - i,
            AddressMode::ClampToEdge if i < 0 => 0,
            AddressMode::ClampToEdge => size - 1,
            AddressMode::ClampToBorder => return None,
        };
    }
}

fn floor(a: i128, b: i128) -> i128 {
    a.div_euclid(b)
}

impl Levels {
    fn texel(&self, sampler: &Sampler, level: usize, i: i128, j: i128) -> i128 {
        let [width, height] = self.sizes[level];
        let place = walk(sampler.address[0], i, width).zip(walk(sampler.address[1], j, height));
        match (place, sampler.border) {
            (Some((i, j)), _) => i128::from(self.texels[level][(j * width + i) as usize]),
            (None, Border::OpaqueWhite) => 255,
            (None, _) => 0,
        }
    }

    /// A sample of one level, at unnormalized coordinates in parts. The weights are products of the
    /// fractions of the coordinates.
    fn level(&self, sampler: &Sampler, level: usize, [u, v]: [i128; 2], offset: [i32; 2], filter: Filter) -> Fraction {
        let [di, dj] = offset.map(i128::from);
        if filter == Filter::Nearest {
            return Fraction { n: self.texel(sampler, level, floor(u, PARTS) + di, floor(v, PARTS) + dj), d: 255 };
        }
        let (i, j) = (floor(u - PARTS / 2, PARTS), floor(v - PARTS / 2, PARTS));
        let (a, b) = (u - PARTS / 2 - i * PARTS, v - PARTS / 2 - j * PARTS);
        let mut n = 0;
        for (x, y, weight) in [(0, 0, (PARTS - a) * (PARTS - b)), (1, 0, a * (PARTS - b)), (0, 1, (PARTS - a) * b), (1, 1, a * b)] {
            n += weight * self.texel(sampler, level, i + x + di, j + y + dj);
        }
        Fraction { n, d: 255 * PARTS * PARTS }
    }

    /// A sample at coordinates s, t and a level of detail, all in parts. `snap` is a device's
    /// rounding of unnormalized coordinates.
    pub fn sample(&self, sampler: &Sampler, at: [i128; 2], lambda: i128, offset: [i32; 2], snap: impl Fn(i128) -> i128) -> f64 {
        let clamp = |x: f32, y: i128| ((f64::from(x) * PARTS as f64) as i128).max(y);
        let lambda = clamp(sampler.lod_min, lambda).min((f64::from(sampler.lod_max) * PARTS as f64) as i128);
        let filter = if lambda > 0 { sampler.min } else { sampler.mag };
        let last = self.sizes.len() as i128 - 1;
        let d = lambda.clamp(0, last * PARTS);
        let at_level = |level: i128| {
            let size = self.sizes[level as usize];
            let factor = |axis: usize| if sampler.unnormalized { 1 } else { size[axis] };
            self.level(sampler, level as usize, [snap(at[0] * factor(0)), snap(at[1] * factor(1))], offset, filter).value()
        };
        match sampler.mip {
            // ceil(d + 1/2) - 1.
            Filter::Nearest => at_level(-floor(-(d + PARTS / 2), PARTS) - 1),
            Filter::Linear => {
                let first = floor(d, PARTS);
                let part = (d - first * PARTS) as f64 / PARTS as f64;
                (1.0 - part) * at_level(first) + part * at_level((first + 1).min(last))
            }
        }
    }

    /// The four texels of a gather at level 0 as numbers, in the order of the result.
    pub fn gather(&self, sampler: &Sampler, at: [i128; 2]) -> [f64; 4] {
        let [u, v] = [at[0] * self.sizes[0][0], at[1] * self.sizes[0][1]];
        let (i, j) = (floor(u - PARTS / 2, PARTS), floor(v - PARTS / 2, PARTS));
        [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(x, y)| self.texel(sampler, 0, i + x, j + y) as f64 / 255.0)
    }
}
