//! Sampling and gathering: Vulkan, Normalized and Unnormalized Texel Coordinate Operations, Texel
//! Filtering, Texel Gathering, Depth Compare Operation.

use smallvec::{SmallVec, smallvec};

use super::level::{self, Levels, Lod};
use super::sampler::{Filter, Precision, Sampler, SamplerError};
use super::texel::{self, Texel, shader_bits};
use super::{Image, Location, Numeric, Rules, Shape, cube};
use crate::number::{Inexact, Interval};
use crate::undefined::Unspecified;

/// The most boxes of an [`Allowed`]. Beyond that, all are joined to one.
const MAX_BOXES: usize = 64;

/// The most integer coordinates along one axis that are distinguished. Beyond that, any value
/// is allowed.
const MAX_CANDIDATES: f64 = 6.0;

/// The values that a device may show for four components: a union of boxes. Each box has an
/// interval for each component.
#[derive(Clone, Debug, PartialEq)]
pub struct Allowed(pub SmallVec<[[Interval; 4]; 2]>);

impl Allowed {
    /// Any values.
    pub fn any() -> Allowed {
        Allowed(smallvec![[Interval::ANY; 4]])
    }

    /// Whether a device may show these components, given as numbers.
    pub fn admits(&self, components: [f64; 4]) -> bool {
        self.0.iter().any(|one| one.iter().zip(components).all(|(interval, x)| interval.contains(x)))
    }

    /// The least interval of a component over all alternatives.
    pub fn hull(&self, component: usize) -> Interval {
        self.0.iter().map(|alternative| alternative[component]).reduce(Interval::hull).unwrap_or(Interval::ANY)
    }

    /// Whether every device shows the same values.
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

/// The result of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// The components by their bits: 32-bit floats, or integers. Meaningless where undefined. With
    /// a depth reference, only the first component counts.
    pub bits: [u32; 4],
    /// The undefined components, and why they are.
    pub undefined: [Option<Unspecified>; 4],
    /// The values that a device may show instead.
    pub allowed: Allowed,
}

/// The result of an instruction, without the values that a device may show instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledValue {
    /// The components, as in [`Sampled`].
    pub bits: [u32; 4],
    /// The undefined components, and why they are.
    pub undefined: [Option<Unspecified>; 4],
}

impl SampledValue {
    /// An undefined value in each component.
    pub fn undefined(why: Unspecified) -> SampledValue {
        SampledValue { bits: [0; 4], undefined: [Some(why); 4] }
    }
}

/// An image with a sampler, and the precision of a device.
#[derive(Clone, Copy, Debug)]
pub struct Sampling<'a> {
    /// The image.
    pub image: &'a Image,
    /// The sampler.
    pub sampler: &'a Sampler,
    /// The precision of the device.
    pub precision: Precision,
    /// The functions that compute definite values.
    pub rules: &'a Rules,
    /// The operands ConstOffset and Offset. Cubes have none, and ignore them.
    pub offset: [i32; 3],
}

/// A slice of an image, and the coordinates in it.
#[derive(Clone, Copy)]
struct Spot {
    /// The layer, the face, or the slice of several cubes. 0 if there are none.
    slice: i64,
    at: [Inexact; 3],
}

/// The definite spot of a location, and all spots that a device may use. `None` if it may use any.
struct Spots {
    definite: Spot,
    allowed: Option<SmallVec<[Spot; 1]>>,
}

impl Spots {
    fn one(spot: Spot) -> Spots {
        Spots { definite: spot, allowed: Some(smallvec![spot]) }
    }
}

/// A definite value: its numbers, and the undefined components.
#[derive(Clone, Copy)]
struct Definite {
    numbers: [f64; 4],
    undefined: [Option<Unspecified>; 4],
}

/// Integer coordinates along one axis, each with the range of the weight of its successor.
type Candidates = SmallVec<[(i64, [f64; 2]); 4]>;

/// Unnormalized coordinates along one axis of a level.
#[derive(Clone, Copy)]
struct Axis {
    /// The definite coordinate, without the offset.
    value: f64,
    /// The range for a device, without the offset. `None` if any coordinate is allowed.
    range: Option<[f64; 2]>,
}

impl Axis {
    /// The first integer coordinates that a device may use. `None` if they are too many.
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
    /// OpImageSampleImplicitLod, OpImageSampleExplicitLod and their Dref forms: samples at a
    /// location and a level of detail, with a reference if the sampler compares.
    ///
    /// # Errors
    /// If the sampler is not valid for the image or the instruction.
    pub fn sample(&self, at: impl Into<Location>, lod: Lod, reference: Option<Inexact>) -> Result<Sampled, SamplerError> {
        let at = at.into();
        let Some(levels) = self.levels(at, lod, reference)? else {
            let SampledValue { bits, undefined } = SampledValue::undefined(Unspecified::LodBounds);
            return Ok(Sampled { bits, undefined, allowed: Allowed::any() });
        };
        let spots = self.spots(at);
        let definite = self.definite(&levels, spots.definite, reference);
        let mut allowed = Allowed(SmallVec::new());
        for filter in levels.filters.into_iter().flatten() {
            for &(level, weight) in &levels.allowed {
                let first = self.allowed(level, filter, &spots, reference);
                let second = if weight[1] > 0.0 { self.allowed(self.next(level), filter, &spots, reference) } else { first.clone() };
                for a in &first.0 {
                    for b in &second.0 {
                        allowed.push([0, 1, 2, 3].map(|c| self.sum(interpolated(a[c], b[c], weight), [a[c], b[c]], weight)));
                    }
                    if weight[1] == 0.0 {
                        allowed.push(*a);
                    }
                }
            }
        }
        // A nearest texel is only converted.
        let has_sums = levels.filters.contains(&Some(Filter::Linear)) || levels.allowed.iter().any(|(_, weight)| weight[1] > 0.0);
        if has_sums {
            self.widen_normalized(&mut allowed, reference.is_some());
        }
        Ok(self.sampled(definite, allowed))
    }

    /// [`Sampling::sample`] without the values that a device may show instead. Definite values
    /// depend on the definite values of location, level and reference alone.
    ///
    /// # Errors
    /// As [`Sampling::sample`].
    pub fn sample_value(&self, at: impl Into<Location>, lod: Lod, reference: Option<Inexact>) -> Result<SampledValue, SamplerError> {
        let at = at.into();
        Ok(match self.levels(at, lod, reference)? {
            None => SampledValue::undefined(Unspecified::LodBounds),
            Some(levels) => self.value(self.definite(&levels, self.spots(at).definite, reference)),
        })
    }

    /// The levels that are read at a location. `None` if the level of detail is undefined.
    fn levels(&self, at: Location, lod: Lod, reference: Option<Inexact>) -> Result<Option<Levels>, SamplerError> {
        self.sampler.check(self.image.format(), reference.is_some())?;
        let base = self.image.sides(0).unwrap_or([1; 3]);
        let lambda = level::lambda(self.rules, self.sampler, base, self.filter_derivatives(at, lod), self.precision)?;
        Ok((!lambda.undefined).then(|| Levels::at(self.rules, self.sampler, lambda.lambda, self.image.levels())))
    }

    /// The definite value of the filter within the levels that are read.
    fn definite(&self, levels: &Levels, spot: Spot, reference: Option<Inexact>) -> Definite {
        let filter = if levels.minified { self.sampler.min } else { self.sampler.mag };
        let definite = self.filtered(levels.level, filter, spot, reference);
        if levels.weight > 0.0 {
            return between_levels(definite, self.filtered(self.next(levels.level), filter, spot, reference), levels.weight);
        }
        definite
    }

    /// The derivatives that determine the level of detail: those of the filtered coordinates, and
    /// for a cube those on the face.
    fn filter_derivatives(&self, at: Location, lod: Lod) -> Lod {
        let shape = self.image.shape();
        let Lod::Derivatives { dx, dy, bias } = lod else { return lod };
        if shape.is_cube() {
            let [dx, dy] = [dx, dy].map(|derivatives| cube::derivatives(self.rules, at.at, derivatives));
            return Lod::flat(dx, dy, bias);
        }
        let filtered_axes =
            |derivatives: [Inexact; 3]| [0, 1, 2].map(|axis| if axis < shape.axes() { derivatives[axis] } else { Inexact::exact(0.0) });
        Lod::Derivatives { dx: filtered_axes(dx), dy: filtered_axes(dy), bias }
    }

    /// The spots of a location: the layer or face, and the coordinates there.
    fn spots(&self, Location { at, layer }: Location) -> Spots {
        let shape = self.image.shape();
        let spots = if shape.is_cube() {
            let (definite, all) = cube::faces(self.rules, at);
            let spot = |on: &cube::OnFace| Spot { slice: on.face as i64, at: [on.at[0], on.at[1], Inexact::exact(0.0)] };
            Spots { definite: spot(&definite), allowed: all.map(|all| all.iter().map(spot).collect()) }
        } else {
            Spots::one(Spot { slice: 0, at })
        };
        if shape.is_layered() { self.in_layers(spots, layer) } else { spots }
    }

    /// The same spots in the layer, and in all layers that a device may use.
    fn in_layers(&self, spots: Spots, layer: Inexact) -> Spots {
        let faces = i64::from(self.image.shape().faces());
        let last = self.image.sides(0).map_or(0, |sides| i64::from(sides[2]) / faces - 1);
        let layer_index = |layer: f64| integer(layer).clamp(0, last);
        let in_layer = |rules: &Rules, spot: Spot, layer: i64| {
            let slice = if faces == 1 { layer } else { (rules.slice)(layer, spot.slice) };
            Spot { slice, ..spot }
        };
        let definite = in_layer(self.rules, spots.definite, layer_index((self.rules.layer)(layer.value)));
        let Interval { low, high, .. } = layer.allowed;
        // Rounding to the nearest, ties to even, is preferred. ⌊a + ½⌋ is permitted too.
        let (first, end) =
            (layer_index(low.round_ties_even().min((low + 0.5).floor())), layer_index(high.round_ties_even().max((high + 0.5).floor())));
        let has_few_layers = layer.allowed.is_finite() && end - first < MAX_CANDIDATES as i64;
        let rules = Rules::default();
        let in_all_layers = |&spot: &Spot| (first..=end).map(|layer| in_layer(&rules, spot, layer)).collect::<SmallVec<[Spot; 1]>>();
        let all = |spots: SmallVec<[Spot; 1]>| spots.iter().flat_map(in_all_layers).collect();
        Spots { definite, allowed: spots.allowed.filter(|_| has_few_layers).map(all) }
    }

    /// Widens the components that the format has by the error of sums. Sums have it even if only
    /// one weight counts. The components stay within the format's numbers.
    fn widen_normalized(&self, allowed: &mut Allowed, compared: bool) {
        let format = self.image.format();
        let least = match format.numeric() {
            Numeric::Unorm => 0.0,
            Numeric::Snorm => -1.0,
            _ => return,
        };
        let channels = format.channels().len();
        for component in allowed.0.iter_mut().flat_map(|one| &mut one[..channels]) {
            if !compared && !component.is_any() {
                *component = component.widened(texel::NORMALIZED_ERROR).clamped(least, 1.0);
            }
        }
    }

    /// OpImageGather and OpImageDrefGather: one component of each of the four texels that a linear
    /// filter would read at level 0, of two dimensions or a cube.
    ///
    /// # Errors
    /// If the sampler is not valid for the image or the instruction.
    pub fn gather(&self, at: impl Into<Location>, component: usize, reference: Option<Inexact>) -> Result<Sampled, SamplerError> {
        self.sampler.check(self.image.format(), reference.is_some())?;
        let component = if reference.is_some() { 0 } else { component & 3 };
        let spots = self.spots(at.into());
        let definite = self.gathered(spots.definite, component, reference);
        let mut allowed = Allowed(SmallVec::new());
        for spot in spots.allowed.iter().flatten() {
            let [columns, rows, _] = self.axes(0, spot.at).map(|axis| axis.candidates(Filter::Linear));
            let (Some(columns), Some(rows)) = (columns, rows) else { return Ok(self.sampled(definite, Allowed::any())) };
            for (j, _) in rows {
                for &(i, _) in &columns {
                    let texels = self.footprint(0, spot.slice, [i, j, 0], 2, reference, false);
                    allowed.push([2, 3, 1, 0].map(|n: usize| texels[n].allowed[component]));
                }
            }
        }
        if spots.allowed.is_none() {
            allowed = Allowed::any();
        }
        Ok(self.sampled(definite, allowed))
    }

    /// [`Sampling::gather`] without the values that a device may show instead.
    ///
    /// # Errors
    /// As [`Sampling::gather`].
    pub fn gather_value(
        &self,
        at: impl Into<Location>,
        component: usize,
        reference: Option<Inexact>,
    ) -> Result<SampledValue, SamplerError> {
        self.sampler.check(self.image.format(), reference.is_some())?;
        let component = if reference.is_some() { 0 } else { component & 3 };
        Ok(self.value(self.gathered(self.spots(at.into()).definite, component, reference)))
    }

    /// The definite value of one component of the four texels around a spot.
    fn gathered(&self, spot: Spot, component: usize, reference: Option<Inexact>) -> Definite {
        let numeric = self.image.format().numeric();
        let [(i, _), (j, _), _] = self.axes(0, spot.at).map(|axis| (self.rules.linear)(axis.value));
        let texels = self.footprint(0, spot.slice, [integer(i), integer(j), 0], 2, reference, true);
        let order = self.rules.gather;
        Definite { numbers: order.map(|n| texels[n].number(numeric, component)), undefined: order.map(|n| texels[n].undefined[component]) }
    }

    fn next(&self, level: u32) -> u32 {
        (level + 1).min(self.image.levels() - 1)
    }

    fn sampled(&self, definite: Definite, mut allowed: Allowed) -> Sampled {
        let numeric = self.image.format().numeric();
        if !numeric.is_integer() {
            for one in &mut allowed.0 {
                *one = one.map(Interval::of_f32);
            }
        }
        let SampledValue { bits, undefined } = self.value(definite);
        Sampled { bits, undefined, allowed }
    }

    /// A definite value as a shader gets it.
    fn value(&self, definite: Definite) -> SampledValue {
        let numeric = self.image.format().numeric();
        SampledValue { bits: definite.numbers.map(|x| shader_bits(numeric, x)), undefined: definite.undefined }
    }

    /// The unnormalized coordinates in a level, accurate to `sub_texel_bits` and to the rounding of
    /// a product of 32-bit floats.
    fn axes(&self, level: u32, at: [Inexact; 3]) -> [Axis; 3] {
        let size = self.image.sides(level).unwrap_or([1; 3]);
        let step = (-f64::from(self.precision.sub_texel_bits.min(52))).exp2();
        let count = self.image.shape().axes();
        [0, 1, 2].map(|axis| {
            if axis >= count {
                return Axis { value: 0.0, range: Some([0.0; 2]) };
            }
            let (factor, value) = match self.sampler.unnormalized {
                true => (1.0, at[axis].value),
                false => (f64::from(size[axis]), (self.rules.unnormalize)(at[axis].value, size[axis])),
            };
            let range = at[axis].allowed.times(factor);
            let range = range.widened(step + range.magnitude() / f64::from(1 << 22));
            Axis { value, range: range.is_finite().then_some([range.low, range.high]) }
        })
    }

    /// The texel or border texel at integer coordinates of a slice, after offset and wrapping. It
    /// is compared with the reference, if there is one.
    fn texel(&self, level: u32, slice: i64, at: [i64; 3], reference: Option<Inexact>, definite: bool) -> Texel {
        let default = Rules::default();
        let rules = if definite { self.rules } else { &default };
        let size = self.image.sides(level).unwrap_or([1; 3]).map(i64::from);
        let wrapped = |axis: usize| {
            let shifted = at[axis].saturating_add(self.offset[axis].into());
            (rules.wrap)(self.sampler.address[axis], shifted, size[axis])
        };
        let place = match self.image.shape() {
            Shape::D1 | Shape::D1Array => [wrapped(0), 0, slice],
            Shape::D2 | Shape::D2Array => [wrapped(0), wrapped(1), slice],
            Shape::D3 => [wrapped(0), wrapped(1), wrapped(2)],
            Shape::Cube | Shape::CubeArray => return self.on_cube(rules, level, slice, [at[0], at[1]], reference),
        };
        self.stored(rules, level, place, reference)
    }

    /// The texel of a cube at integer coordinates of a slice, which may lie beyond an edge or a
    /// corner of the face.
    fn on_cube(&self, rules: &Rules, level: u32, slice: i64, at: [i64; 2], reference: Option<Inexact>) -> Texel {
        let size = self.image.sides(level).map_or(1, |sides| i64::from(sides[0]));
        let on_face = at.map(|x| x.clamp(0, size - 1));
        let [i, j] = at.map(|x| x.clamp(-1, size));
        let (face, first) = (slice % 6, slice - slice % 6);
        let texel_of_face = |[i, j]: [i64; 2], face: i64| self.stored(rules, level, [i, j, first + face], reference);
        let beyond = |at: [i64; 2]| {
            let (face, at) = (rules.beside)(face as usize, at, size);
            texel_of_face(at, face as i64)
        };
        match (i != on_face[0], j != on_face[1]) {
            (false, false) => texel_of_face([i, j], face),
            (true, true) => {
                self.corner(rules, [texel_of_face(on_face, face), beyond([i, on_face[1]]), beyond([on_face[0], j])], reference.is_some())
            }
            _ => beyond([i, j]),
        }
    }

    /// The texel beyond a corner of a cube's face: by preference the average of the three texels
    /// that meet there. A device may have anything there, except if all three are equal.
    fn corner(&self, rules: &Rules, [a, b, c]: [Texel; 3], compared: bool) -> Texel {
        let numeric = if compared { Numeric::Float } else { self.image.format().numeric() };
        let range = match self.image.format().numeric() {
            _ if compared => Interval::between(0.0, 1.0),
            Numeric::Unorm => Interval::between(0.0, 1.0),
            Numeric::Snorm => Interval::between(-1.0, 1.0),
            _ => Interval::ANY,
        };
        let mut texel = a;
        for n in 0..4 {
            texel.bits[n] = shader_bits(numeric, (rules.corner)([a, b, c].map(|texel| texel.number(numeric, n))));
            texel.undefined[n] = a.undefined[n].or(b.undefined[n]).or(c.undefined[n]);
            let same = a.allowed[n] == b.allowed[n] && b.allowed[n] == c.allowed[n] && a.allowed[n].low == a.allowed[n].high;
            texel.allowed[n] =
                if same || texel.undefined[n].is_some() { a.allowed[n].hull(b.allowed[n]).hull(c.allowed[n]) } else { range };
        }
        texel
    }

    /// The texel at a place of a level, or the border texel if there is none. It is compared with
    /// the reference, if there is one.
    fn stored(&self, rules: &Rules, level: u32, place: [i64; 3], reference: Option<Inexact>) -> Texel {
        let format = self.image.format();
        let texel = self.image.texel(rules, level, place).unwrap_or_else(|| {
            let mut colour = rules.missing;
            let channels = format.channels().len();
            colour[..channels].copy_from_slice(&self.sampler.border.colour()[..channels]);
            Texel::of_numbers(format.numeric(), colour)
        });
        match (self.sampler.compare, reference) {
            (Some(compare), Some(reference)) => {
                let fixed = format.numeric() == Numeric::Unorm;
                let clamp = |x: f64| if fixed { x.clamp(0.0, 1.0) } else { x };
                let range = if fixed { reference.allowed.clamped(0.0, 1.0) } else { reference.allowed };
                let passes = (rules.compare)(compare, clamp(reference.value), texel.number(format.numeric(), 0));
                let mut result = Texel::of_numbers(Numeric::Float, [f64::from(u8::from(passes)), 0.0, 0.0, 1.0]);
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

    /// The texels at i and i + 1 along this number of axes, the first axis fastest: i0j0, i1j0,
    /// i0j1, i1j1 and so on.
    fn footprint(
        &self,
        level: u32,
        slice: i64,
        at: [i64; 3],
        axes: usize,
        reference: Option<Inexact>,
        definite: bool,
    ) -> SmallVec<[Texel; 4]> {
        let one = |n: usize| [0, 1, 2].map(|axis: usize| at[axis].saturating_add((n >> axis & 1) as i64));
        (0..1 << axes).map(|n| self.texel(level, slice, one(n), reference, definite)).collect()
    }

    /// The integer coordinates of the nearest texel. Those of a cube stay on the face.
    fn nearest(&self, level: u32, at: [i64; 3]) -> [i64; 3] {
        match self.image.shape() {
            Shape::Cube | Shape::CubeArray => {
                let last = self.image.sides(level).map_or(0, |sides| i64::from(sides[0]) - 1);
                at.map(|x| x.clamp(0, last))
            }
            _ => at,
        }
    }

    /// The definite value of a filter within a level. A texel of weight zero does not matter.
    fn filtered(&self, level: u32, filter: Filter, spot: Spot, reference: Option<Inexact>) -> Definite {
        let numeric = self.image.format().numeric();
        let axes = self.axes(level, spot.at);
        let mut definite = Definite { numbers: [0.0; 4], undefined: [None; 4] };
        let mut add = |texel: &Texel, weight: f64| {
            for c in 0..4 {
                definite.numbers[c] += weight * texel.number(numeric, c);
                definite.undefined[c] = definite.undefined[c].or(texel.undefined[c]);
            }
        };
        match filter {
            Filter::Nearest => {
                let at = self.nearest(level, axes.map(|axis| integer((self.rules.nearest)(axis.value))));
                add(&self.texel(level, spot.slice, at, reference, true), 1.0);
            }
            Filter::Linear => {
                let count = self.image.shape().axes();
                let linear = |n: usize| if n < count { (self.rules.linear)(axes[n].value) } else { (0.0, 0.0) };
                let [(i, a), (j, b), (k, c)] = [0, 1, 2].map(linear);
                let (flat, depth) = ((self.rules.weights)(a, b), if count == 3 { (self.rules.depth)(c) } else { [1.0, 0.0] });
                let texels = self.footprint(level, spot.slice, [i, j, k].map(integer), count, reference, true);
                for (n, texel) in texels.iter().enumerate() {
                    let weight = flat[n & 3] * depth[n >> 2];
                    if weight != 0.0 {
                        add(texel, weight);
                    }
                }
            }
        }
        definite
    }

    /// The values that a device may have for a filter within a level.
    fn allowed(&self, level: u32, filter: Filter, spots: &Spots, reference: Option<Inexact>) -> Allowed {
        let Some(spots) = &spots.allowed else { return Allowed::any() };
        let mut allowed = Allowed(SmallVec::new());
        let count = self.image.shape().axes();
        let no_choice: Candidates = smallvec![(0, [0.0; 2])];
        for spot in spots {
            let axes = self.axes(level, spot.at);
            let axis_candidates = |n: usize| if n < count { axes[n].candidates(filter) } else { Some(no_choice.clone()) };
            let (Some(columns), Some(rows), Some(slices)) = (axis_candidates(0), axis_candidates(1), axis_candidates(2)) else {
                return Allowed::any();
            };
            for &(k, c) in &slices {
                for &(j, b) in &rows {
                    for &(i, a) in &columns {
                        allowed.push(match filter {
                            Filter::Nearest => {
                                let at = self.nearest(level, [i, j, k]);
                                self.texel(level, spot.slice, at, reference, false).allowed
                            }
                            Filter::Linear => {
                                let texels = self.footprint(level, spot.slice, [i, j, k], count, reference, false);
                                self.combined(&texels, &[a, b, c][..count])
                            }
                        });
                    }
                }
            }
        }
        allowed
    }

    /// Sums the texels of a footprint along one axis after the other, with the ranges of
    /// the weights.
    fn combined(&self, texels: &[Texel], weights: &[[f64; 2]]) -> [Interval; 4] {
        let mut parts: SmallVec<[[Interval; 4]; 4]> = texels.iter().map(|texel| texel.allowed).collect();
        for &weight in weights {
            for n in 0..parts.len() / 2 {
                let (first, second) = (parts[2 * n], parts[2 * n + 1]);
                parts[n] = [0, 1, 2, 3].map(|c: usize| self.sum(interpolated(first[c], second[c], weight), [first[c], second[c]], weight));
            }
            parts.truncate(parts.len() / 2);
        }
        parts[0]
    }

    /// The range of a weighted sum. Nothing is rounded if the second weight is 0, or if both parts
    /// are the same 0, 1 or -1.
    fn sum(&self, exact: Interval, parts: [Interval; 2], weight: [f64; 2]) -> Interval {
        let same = parts[0] == parts[1] && parts[0].low == parts[0].high && (parts[0].low == 0.0 || parts[0].low.abs() == 1.0);
        if weight[1] == 0.0 || same || exact.is_any() {
            return exact;
        }
        let greatest = match self.image.format().numeric() {
            Numeric::Float => parts[0].magnitude().max(parts[1].magnitude()),
            _ => 1.0,
        };
        exact.widened(greatest * (-f64::from(self.precision.filter_bits)).exp2())
    }
}

/// (1 - t)·a + t·b over all numbers of the intervals and a range of weights within 0 and 1. Any
/// number if one is not finite, since it may be multiplied by zero.
fn interpolated(a: Interval, b: Interval, t: [f64; 2]) -> Interval {
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
    // This covers the rounding errors of 64 bits.
    Interval::between(low, high).widened(4.0 * f64::EPSILON * a.magnitude().max(b.magnitude()))
}

fn between_levels(a: Definite, b: Definite, weight: f64) -> Definite {
    Definite {
        numbers: [0, 1, 2, 3].map(|c: usize| (1.0 - weight) * a.numbers[c] + weight * b.numbers[c]),
        undefined: [0, 1, 2, 3].map(|c: usize| a.undefined[c].or(b.undefined[c])),
    }
}

/// The number as an integer. Far out, any integer.
fn integer(x: f64) -> i64 {
    x as i64
}
