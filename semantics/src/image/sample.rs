//! Sampling and gathering: Vulkan, Normalized and Unnormalized Texel Coordinate Operations, Texel Filtering, Texel Gathering, Depth Compare
//! Operation.

use smallvec::{SmallVec, smallvec};

use super::level::{self, Levels, Lod};
use super::sampler::{Filter, Precision, Sampler, SamplerError};
use super::texel::{self, Texel, shader_bits};
use super::{Image, Rules};
use crate::number::{Inexact, Interval};
use crate::undefined::Unspecified;

/// More alternatives than this are joined to one.
const MAX_BOXES: usize = 64;

/// More integer coordinates than this along one axis are not told apart: any value is allowed.
const MAX_CANDIDATES: f64 = 6.0;

/// What a device may show instead of four components: a union of boxes, each an interval for each component.
#[derive(Clone, Debug, PartialEq)]
pub struct Allowed(pub SmallVec<[[Interval; 4]; 2]>);

impl Allowed {
    /// Anything.
    pub fn any() -> Allowed {
        Allowed(smallvec![[Interval::ANY; 4]])
    }

    /// Whether a device may show these, given as numbers.
    pub fn admits(&self, components: [f64; 4]) -> bool {
        self.0.iter().any(|one| one.iter().zip(components).all(|(interval, x)| interval.contains(x)))
    }

    /// The least interval of a component over all alternatives.
    pub fn hull(&self, component: usize) -> Interval {
        self.0.iter().map(|one| one[component]).reduce(Interval::hull).unwrap_or(Interval::ANY)
    }

    /// Whether every device shows the same.
    pub fn is_exact(&self) -> bool {
        self.0.len() == 1 && self.0[0].iter().all(|interval| interval.low == interval.high)
    }

    fn push(&mut self, alternative: [Interval; 4]) {
        if self.0.contains(&alternative) {
            return;
        }
        if self.0.len() < MAX_BOXES {
            self.0.push(alternative);
        } else {
            let hull = |c: usize| self.hull(c).hull(alternative[c]);
            self.0 = smallvec![[hull(0), hull(1), hull(2), hull(3)]];
        }
    }
}

/// What an instruction gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// The components by their bits: 32-bit floats, or integers. Meaningless where undefined. With a depth reference, the first one counts.
    pub bits: [u32; 4],
    /// Which components are undefined values, and why.
    pub undefined: [Option<Unspecified>; 4],
    /// What a device may show instead.
    pub allowed: Allowed,
}

/// An image with a sampler, and how precise a device is.
#[derive(Clone, Copy, Debug)]
pub struct Sampling<'a> {
    /// The image.
    pub image: &'a Image,
    /// The sampler.
    pub sampler: &'a Sampler,
    /// How precise a device is.
    pub precision: Precision,
    /// What definite values are computed by.
    pub rules: &'a Rules,
    /// The operands ConstOffset and Offset.
    pub offset: [i32; 2],
}

/// The definite value: numbers, and which are undefined.
#[derive(Clone, Copy)]
struct Definite {
    numbers: [f64; 4],
    undefined: [Option<Unspecified>; 4],
}

/// Integer coordinates along one axis, each with the range of the weight of the next one.
type Candidates = SmallVec<[(i64, [f64; 2]); 4]>;

/// Unnormalized coordinates along one axis of a level.
#[derive(Clone, Copy)]
struct Axis {
    /// The definite one, without the offset.
    value: f64,
    /// What a device may have, without the offset; `None` where it may be anything.
    range: Option<[f64; 2]>,
}

impl Axis {
    /// The first integer coordinates that a device may have; `None` where they are too many.
    fn candidates(self, filter: Filter) -> Option<Candidates> {
        let shift = if filter == Filter::Linear { 0.5 } else { 0.0 };
        let [low, high] = self.range.map(|range| range.map(|u| u - shift))?;
        if high.floor() - low.floor() >= MAX_CANDIDATES || low.abs().max(high.abs()) > 1e15 {
            return None;
        }
        let weight = |i: i64| [low, high].map(|u| (u - i as f64).clamp(0.0, 1.0));
        Some((low.floor() as i64..=high.floor() as i64).map(|i| (i, weight(i))).collect())
    }
}

impl Sampling<'_> {
    /// OpImageSampleImplicitLod, OpImageSampleExplicitLod and with Dref: at (s, t), a level of detail, and with a reference where the sampler
    /// compares.
    ///
    /// # Errors
    /// For a sampler that is not valid for the image or the instruction.
    pub fn sample(&self, at: [Inexact; 2], lod: Lod, reference: Option<Inexact>) -> Result<Sampled, SamplerError> {
        self.sampler.check(self.image.format(), reference.is_some())?;
        let base = self.image.size(0).unwrap_or([1, 1]);
        let lambda = level::lambda(self.rules, self.sampler, base, lod, self.precision)?;
        if lambda.undefined {
            return Ok(Sampled { bits: [0; 4], undefined: [Some(Unspecified::LodBounds); 4], allowed: Allowed::any() });
        }
        let levels = Levels::at(self.rules, self.sampler, lambda.lambda, self.image.levels());
        let filter = if levels.minified { self.sampler.min } else { self.sampler.mag };
        let mut definite = self.filtered(levels.level, filter, at, reference);
        if levels.weight > 0.0 {
            definite = between_levels(definite, self.filtered(self.next(levels.level), filter, at, reference), levels.weight);
        }
        let mut allowed = Allowed(SmallVec::new());
        for filter in levels.filters.into_iter().flatten() {
            for &(level, weight) in &levels.allowed {
                let first = self.allowed(level, filter, at, reference);
                let second = if weight[1] > 0.0 { self.allowed(self.next(level), filter, at, reference) } else { first.clone() };
                for a in &first.0 {
                    for b in &second.0 {
                        allowed.push([0, 1, 2, 3].map(|c| self.sum(mixed(a[c], b[c], weight), [a[c], b[c]], weight)));
                    }
                    if weight[1] == 0.0 {
                        allowed.push(*a);
                    }
                }
            }
        }
        // A nearest texel is converted and nothing else.
        let sums = levels.filters.contains(&Some(Filter::Linear)) || levels.allowed.iter().any(|(_, weight)| weight[1] > 0.0);
        if sums {
            self.widen_normalized(&mut allowed, reference.is_some());
        }
        Ok(self.finished(definite, allowed))
    }

    /// What sums lose even where no weight but one counts, of components that the format has; they stay within its numbers.
    fn widen_normalized(&self, allowed: &mut Allowed, compared: bool) {
        let format = self.image.format();
        let least = match format.numeric() {
            super::Numeric::Unorm => 0.0,
            super::Numeric::Snorm => -1.0,
            _ => return,
        };
        let channels = format.channels().len();
        for component in allowed.0.iter_mut().flat_map(|one| &mut one[..channels]) {
            if !compared && !component.is_any() {
                *component = component.widened(texel::NORMALIZED_ERROR).clamped(least, 1.0);
            }
        }
    }

    /// OpImageGather and OpImageDrefGather: a component of the four texels that a linear filter would read at level 0.
    ///
    /// # Errors
    /// For a sampler that is not valid for the image or the instruction.
    pub fn gather(&self, at: [Inexact; 2], component: usize, reference: Option<Inexact>) -> Result<Sampled, SamplerError> {
        self.sampler.check(self.image.format(), reference.is_some())?;
        let component = if reference.is_some() { 0 } else { component & 3 };
        let axes = self.axes(0, at);
        let numeric = self.image.format().numeric();
        let [(i, _), (j, _)] = axes.map(|axis| (self.rules.linear)(axis.value));
        let texels = self.footprint(0, integer(i), integer(j), reference, true);
        let order = self.rules.gather;
        let definite = Definite {
            numbers: order.map(|n| texels[n].number(numeric, component)),
            undefined: order.map(|n| texels[n].undefined[component]),
        };
        let mut allowed = Allowed(SmallVec::new());
        match (axes[0].candidates(Filter::Linear), axes[1].candidates(Filter::Linear)) {
            (Some(columns), Some(rows)) => {
                for (i, j) in pairs(&columns, &rows).map(|((i, _), (j, _))| (i, j)) {
                    let texels = self.footprint(0, i, j, reference, false);
                    allowed.push([2, 3, 1, 0].map(|n: usize| texels[n].allowed[component]));
                }
            }
            _ => allowed = Allowed::any(),
        }
        Ok(self.finished(definite, allowed))
    }

    fn next(&self, level: u32) -> u32 {
        (level + 1).min(self.image.levels() - 1)
    }

    fn finished(&self, definite: Definite, mut allowed: Allowed) -> Sampled {
        let numeric = self.image.format().numeric();
        if !numeric.is_integer() {
            for one in &mut allowed.0 {
                *one = one.map(Interval::of_f32);
            }
        }
        Sampled { bits: definite.numbers.map(|x| shader_bits(numeric, x)), undefined: definite.undefined, allowed }
    }

    /// The unnormalized coordinates in a level, to `sub_texel_bits` and what a product of 32-bit floats is rounded by.
    fn axes(&self, level: u32, at: [Inexact; 2]) -> [Axis; 2] {
        let size = self.image.size(level).unwrap_or([1, 1]);
        let step = (-f64::from(self.precision.sub_texel_bits.min(52))).exp2();
        [0, 1].map(|axis| {
            let (factor, value) = match self.sampler.unnormalized {
                true => (1.0, at[axis].value),
                false => (f64::from(size[axis]), (self.rules.unnormalize)(at[axis].value, size[axis])),
            };
            let range = at[axis].allowed.times(factor);
            let range = range.widened(step + range.magnitude() / f64::from(1 << 22));
            Axis { value, range: range.is_finite().then_some([range.low, range.high]) }
        })
    }

    /// The texel or border texel at integer coordinates, offset and wrapped; compared with the reference.
    fn texel(&self, level: u32, i: i64, j: i64, reference: Option<Inexact>, definite: bool) -> Texel {
        let default = Rules::default();
        let rules = if definite { self.rules } else { &default };
        let format = self.image.format();
        let size = self.image.size(level).unwrap_or([1, 1]);
        let wrapped = |axis: usize, at: i64| {
            let moved = at.saturating_add(self.offset[axis].into());
            (rules.wrap)(self.sampler.address[axis], moved, size[axis].into())
        };
        let texel = self.image.texel(rules, level, wrapped(0, i), wrapped(1, j)).unwrap_or_else(|| {
            let mut colour = rules.missing;
            let channels = format.channels().len();
            colour[..channels].copy_from_slice(&self.sampler.border.colour()[..channels]);
            Texel::of_numbers(format.numeric(), colour)
        });
        match (self.sampler.compare, reference) {
            (Some(compare), Some(reference)) => {
                let fixed = format.numeric() == super::Numeric::Unorm;
                let clamp = |x: f64| if fixed { x.clamp(0.0, 1.0) } else { x };
                let range = if fixed { reference.allowed.clamped(0.0, 1.0) } else { reference.allowed };
                let passes = (rules.compare)(compare, clamp(reference.value), texel.number(format.numeric(), 0));
                let mut result = Texel::of_numbers(super::Numeric::Float, [f64::from(u8::from(passes)), 0.0, 0.0, 1.0]);
                result.undefined[0] = texel.undefined[0];
                result.allowed[0] = match compare.decided(range, texel.allowed[0]) {
                    Some(passes) => Interval::point(f64::from(u8::from(passes))),
                    None => Interval::between(0.0, 1.0),
                };
                result
            }
            _ => texel,
        }
    }

    /// The texels i0j0, i1j0, i0j1 and i1j1.
    fn footprint(&self, level: u32, i: i64, j: i64, reference: Option<Inexact>, definite: bool) -> [Texel; 4] {
        [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(di, dj)| self.texel(level, i.saturating_add(di), j.saturating_add(dj), reference, definite))
    }

    /// The definite value of a filter within a level. A texel of weight zero does not matter.
    fn filtered(&self, level: u32, filter: Filter, at: [Inexact; 2], reference: Option<Inexact>) -> Definite {
        let numeric = self.image.format().numeric();
        let axes = self.axes(level, at);
        let (texels, weights) = match filter {
            Filter::Nearest => {
                let [i, j] = axes.map(|axis| integer((self.rules.nearest)(axis.value)));
                (smallvec![self.texel(level, i, j, reference, true)], [1.0, 0.0, 0.0, 0.0])
            }
            Filter::Linear => {
                let [(i, a), (j, b)] = axes.map(|axis| (self.rules.linear)(axis.value));
                (SmallVec::<[Texel; 4]>::from(self.footprint(level, integer(i), integer(j), reference, true)), (self.rules.weights)(a, b))
            }
        };
        let mut definite = Definite { numbers: [0.0; 4], undefined: [None; 4] };
        for (texel, weight) in texels.iter().zip(weights).filter(|(_, weight)| *weight != 0.0) {
            for c in 0..4 {
                definite.numbers[c] += weight * texel.number(numeric, c);
                definite.undefined[c] = definite.undefined[c].or(texel.undefined[c]);
            }
        }
        definite
    }

    /// What a device may have of a filter within a level.
    fn allowed(&self, level: u32, filter: Filter, at: [Inexact; 2], reference: Option<Inexact>) -> Allowed {
        let axes = self.axes(level, at);
        let (Some(columns), Some(rows)) = (axes[0].candidates(filter), axes[1].candidates(filter)) else { return Allowed::any() };
        let mut allowed = Allowed(SmallVec::new());
        for ((i, a), (j, b)) in pairs(&columns, &rows) {
            let alternative = match filter {
                Filter::Nearest => self.texel(level, i, j, reference, false).allowed,
                Filter::Linear => {
                    let texels = self.footprint(level, i, j, reference, false);
                    [0, 1, 2, 3].map(|c| {
                        let of = |n: usize| texels[n].allowed[c];
                        let rows =
                            [self.sum(mixed(of(0), of(1), a), [of(0), of(1)], a), self.sum(mixed(of(2), of(3), a), [of(2), of(3)], a)];
                        self.sum(mixed(rows[0], rows[1], b), rows, b)
                    })
                }
            };
            allowed.push(alternative);
        }
        allowed
    }

    /// What a weighted sum may come out as: nothing is rounded if a device's weight is 0 or if both are equal.
    fn sum(&self, exact: Interval, parts: [Interval; 2], weight: [f64; 2]) -> Interval {
        let same = parts[0] == parts[1] && parts[0].low == parts[0].high && (parts[0].low == 0.0 || parts[0].low.abs() == 1.0);
        if weight[1] == 0.0 || same || exact.is_any() {
            return exact;
        }
        let greatest = match self.image.format().numeric() {
            super::Numeric::Float => parts[0].magnitude().max(parts[1].magnitude()),
            _ => 1.0,
        };
        exact.widened(greatest * (-f64::from(self.precision.filter_bits)).exp2())
    }
}

/// (1 - t)·a + t·b over all numbers of the intervals and a range of weights within 0 and 1. What is not finite may be multiplied by zero.
fn mixed(a: Interval, b: Interval, t: [f64; 2]) -> Interval {
    if t[1] == 0.0 {
        return a;
    }
    if t[0] == 1.0 {
        return b;
    }
    if !a.is_finite() || !b.is_finite() {
        return Interval::ANY;
    }
    if a == b && a.low == a.high {
        return a;
    }
    let at = |x: f64, y: f64, t: f64| (1.0 - t) * x + t * y;
    let (low, high) = (at(a.low, b.low, t[0]).min(at(a.low, b.low, t[1])), at(a.high, b.high, t[0]).max(at(a.high, b.high, t[1])));
    // What rounding to 64 bits may have lost.
    Interval::between(low, high).widened(4.0 * f64::EPSILON * a.magnitude().max(b.magnitude()))
}

fn between_levels(a: Definite, b: Definite, weight: f64) -> Definite {
    Definite {
        numbers: [0, 1, 2, 3].map(|c: usize| (1.0 - weight) * a.numbers[c] + weight * b.numbers[c]),
        undefined: [0, 1, 2, 3].map(|c: usize| a.undefined[c].or(b.undefined[c])),
    }
}

/// The integer; far out, any.
fn integer(x: f64) -> i64 {
    x as i64
}

fn pairs<'a, T: Copy>(columns: &'a [T], rows: &'a [T]) -> impl Iterator<Item = (T, T)> + 'a {
    rows.iter().flat_map(move |&row| columns.iter().map(move |&column| (column, row)))
}
