//! Image instructions, lane by lane: SPIR-V §3.3.10, by the definite values of [`crate::image`].
//!
//! For an implicit level of detail the rule of derivatives holds: the lanes of a quad that reach a
//! dynamic instance are active there at once.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::super::column::{self, Lanes};
use super::super::program::{Choice, Code, ImageAccess, Program, Slot, Slots};
use super::codes::Done;
use super::detect::Footprint;
use super::quads::{DIFFERENCES, whole};
use super::races::{AccessKind, Accessor, RECORDS_PER_WORD, touch_granule, zeros};
use super::warp::{RegisterOrLocal, Warp};
use super::{Failure, Group, Shared, codes};
use crate::concurrency::{Class, Kind};
use crate::image::{Image, Location, Lod, Precision, Robustness, SampledValue, Sampler, SamplerError, Sampling, Shape};
use crate::number::Inexact;
use crate::spirv::descriptors::{DeclaredImage, Descriptors, observed};
use crate::spirv::environment::{Dispatch, ObservedImage};
use crate::spirv::grammar::Op as Core;
use crate::spirv::image_operands::{is_unfit, projects};
use crate::spirv::memory::Descriptor;
use crate::spirv::module::Variable;
use crate::spirv::report;
use crate::spirv::value::Origin;
use crate::undefined::{Ub, Unspecified};

/// A component of a result: its bits, or its origin if it is undefined.
type Component = Result<u32, Origin>;

/// The components of a result. It may have fewer than four.
type Components = SmallVec<[Component; 4]>;

/// A storage image that is written.
pub(super) struct Written {
    image: Image,
    /// By the index of a texel in level 0 and by component: the origin of an undefined component.
    origins: FxHashMap<(u64, u8), Origin>,
}

/// An image that a variable of the program names.
pub(super) struct NamedImage<'r> {
    pub(super) declared: DeclaredImage<'r>,
    /// The current contents, if something may write it.
    pub(super) written: Option<Mutex<Written>>,
    /// [`RECORDS_PER_WORD`] records for each texel of level 0, if something may write it.
    shadow: Vec<AtomicU64>,
}

/// The images and samplers of a dispatch.
pub(in super::super) struct Images<'r> {
    images: Vec<NamedImage<'r>>,
    samplers: Vec<Sampler>,
    /// By index of `Program::opaque`: the image and the sampler.
    descriptors: Vec<Descriptor>,
    pub(super) precision: Option<Precision>,
    pub(super) robustness: Robustness,
}

impl Program {
    /// The images and samplers that the program's variables are bound to.
    ///
    /// # Errors
    /// A sentence, if something is missing or does not fit.
    pub(super) fn descriptors<'r>(&self, dispatch: &Dispatch<'r>) -> Result<Descriptors<'r>, String> {
        if self.opaque.is_empty() {
            return Ok(Descriptors::default());
        }
        let used: Vec<&Variable> = self.opaque.iter().filter_map(|&id| self.module.variable(id)).collect();
        Descriptors::new(&self.module, &used, &dispatch.resources)
    }
}

impl<'r> Images<'r> {
    /// The images of a dispatch that was not refused.
    pub(super) fn new(program: &Program, dispatch: &Dispatch<'r>) -> Images<'r> {
        let Descriptors { images, samplers, by_variable } = program.descriptors(dispatch).unwrap_or_default();
        let named_image = |declared: DeclaredImage<'r>| {
            let texels = declared.image.sides(0).unwrap_or_default().into_iter().map(|side| side as usize).product::<usize>();
            let written = declared.written.then(|| Mutex::new(Written { image: declared.image.clone(), origins: FxHashMap::default() }));
            NamedImage { declared, written, shadow: if declared.written { zeros(RECORDS_PER_WORD * texels) } else { Vec::new() } }
        };
        Images {
            images: images.into_iter().map(named_image).collect(),
            samplers,
            descriptors: program.opaque.iter().map(|id| by_variable.get(&(*id, 0)).copied().unwrap_or_default()).collect(),
            precision: dispatch.resources.precision,
            robustness: dispatch.resources.image_robustness,
        }
    }

    /// The image of an instruction, with its number.
    pub(super) fn image(&self, access: &ImageAccess) -> Option<(usize, &NamedImage<'r>)> {
        let number = self.descriptors.get(access.image as usize)?.image? as usize;
        Some((number, self.images.get(number)?))
    }

    pub(super) fn sampler(&self, access: &ImageAccess) -> Option<&Sampler> {
        self.samplers.get(self.descriptors.get(access.sampler as usize)?.sampler? as usize)
    }

    /// The storage images at the end of the run.
    pub(super) fn observed(&self, program: &Program) -> Vec<ObservedImage> {
        let storage = self.images.iter().filter(|named_image| named_image.declared.storage);
        let observation = |named_image: &NamedImage<'r>| {
            let contents = |origins: Option<&FxHashMap<(u64, u8), Origin>>, image: &Image| {
                observed(image, (named_image.declared.set, named_image.declared.binding), |at, component| {
                    let (_, undefined) = image.raw_of(0, at as usize)?;
                    let origin = origins.and_then(|origins| origins.get(&(at, component)));
                    let made_by = origin.map(|origin| (origin.instruction, program.invocation(origin.invocation)));
                    let kind = origin.map_or(Unspecified::Uninitialised, |origin| origin.kind);
                    (undefined >> component & 1 == 1).then_some((made_by, kind))
                })
            };
            match named_image.lock() {
                Some(written) => contents(Some(&written.origins), &written.image),
                None => contents(None, named_image.declared.image),
            }
        };
        storage.map(observation).collect()
    }
}

impl NamedImage<'_> {
    fn lock(&self) -> Option<MutexGuard<'_, Written>> {
        self.written.as_ref().map(|written| written.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The word of a slot in a lane. `None` if there is no such slot.
fn word(warp: &Warp, slots: &Slots, at: usize, lane: usize) -> Option<u32> {
    match slots.get(at) {
        Some(&Slot::Word(column)) => Some(warp.columns[column as usize][lane]),
        _ => None,
    }
}

fn float(bits: u32) -> Inexact {
    Inexact::exact(f64::from(f32::from_bits(bits)))
}

fn integer(bits: u32, signed: bool) -> i64 {
    if signed { i64::from(bits as i32) } else { i64::from(bits) }
}

impl Warp {
    pub(super) fn image(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group) -> Done {
        let program = shared.program;
        let access = &program.images[code.c as usize];
        self.check_selecting_operands(code, access, shared)?;
        let Some((number, named_image)) = shared.images.image(access) else { return Err(nothing_bound(code, shared)) };
        let incomplete = if is_implicit(access.op) { self.active & !whole(self.active) } else { 0 };
        for lane in column::lanes(self.active) {
            let invocation = self.number + lane as u32;
            let origin_of = |kind| Origin { kind, instruction: code.at, invocation };
            let components: Components = match access.op {
                Core::ImageQueryLevels => SmallVec::from_slice(&[Ok(named_image.declared.image.levels())]),
                Core::ImageQuerySize | Core::ImageQuerySizeLod => self.queried(access, named_image, lane, code.at, origin_of),
                Core::ImageFetch | Core::ImageRead => {
                    let (at, level) = self.texel_place(access, named_image, lane);
                    if access.op == Core::ImageRead {
                        self.touch_image(code, shared, group, lane, (number, named_image, at), AccessKind::Read)?;
                    }
                    self.read(shared, named_image, (at, level), origin_of)
                }
                Core::ImageWrite => {
                    let (at, _) = self.texel_place(access, named_image, lane);
                    if self.helpers >> lane & 1 == 0 {
                        self.touch_image(code, shared, group, lane, (number, named_image, at), AccessKind::Write)?;
                        self.store_texel(access, named_image, at, lane, code.at, origin_of);
                    }
                    Components::new()
                }
                _ if incomplete >> lane & 1 == 1 => self.undefined_result(access, origin_of(Unspecified::DivergentDerivative)),
                _ => {
                    let Some(sampler) = shared.images.sampler(access) else { return Err(nothing_bound(code, shared)) };
                    self.sampled(shared, access, (named_image.declared.image, sampler), lane, code.at, origin_of)
                }
            };
            for (&slot, component) in access.results.iter().zip(components) {
                match component {
                    Ok(bits) => self.put(slot, lane, bits.into()),
                    Err(origin) => self.put_undefined(slot, lane, origin),
                }
            }
        }
        Ok(())
    }

    /// Checks that no operand which selects texels is undefined in an active lane.
    pub(super) fn check_selecting_operands(&self, code: &Code, access: &ImageAccess, shared: &Shared<'_>) -> Done {
        let undefined_lanes = |slots: &Slots| -> Lanes { slots.iter().fold(0, |set, slot| set | self.undefined_lanes(slot)) & self.active };
        let undefined_in_any = access.choosing.iter().fold(0, |set, (_, slots)| set | undefined_lanes(slots));
        if undefined_in_any == 0 {
            return Ok(());
        }
        let lane = undefined_in_any.trailing_zeros() as usize;
        let undefined = |slots: &Slots| slots.iter().find(|slot| self.undefined_lanes(slot) >> lane & 1 == 1).copied();
        let first_undefined = access.choosing.iter().enumerate().find_map(|(k, (id, slots))| Some((k, *id, undefined(slots)?)));
        let Some((k, id, Slot::Word(column))) = first_undefined else { return Ok(()) };
        let origin = self.origin(RegisterOrLocal::Column(column), lane, code.at);
        let operand = if k == 0 { "a coordinate" } else { "an image operand" };
        let what = report::operand_undefined(&shared.program.module, code.at, operand, id, origin);
        Err(self.failure(shared, Ub::AddressOnUndefined, what, code.at, undefined_in_any))
    }

    fn undefined_lanes(&self, slot: &Slot) -> Lanes {
        match *slot {
            Slot::Word(column) => self.undefined[column as usize],
            _ => 0,
        }
    }

    /// The origin of a slot's scalar in a lane, if it is undefined.
    pub(super) fn operand_origin(&self, slots: &Slots, at: usize, lane: usize, instruction: u32) -> Option<Origin> {
        let &Slot::Word(column) = slots.get(at)? else { return None };
        (self.undefined[column as usize] >> lane & 1 == 1).then(|| self.origin(RegisterOrLocal::Column(column), lane, instruction))
    }

    /// A result with all components undefined.
    fn undefined_result(&self, access: &ImageAccess, origin: Origin) -> Components {
        access.results.iter().map(|_| Err(origin)).collect()
    }

    /// The texel and the level of a fetch, a read or a write.
    pub(super) fn texel_place(&self, access: &ImageAccess, named_image: &NamedImage<'_>, lane: usize) -> ([i64; 3], i64) {
        let shape = named_image.declared.image.shape();
        let coordinate = &access.choosing[0].1;
        let integers: SmallVec<[i64; 3]> =
            (0..shape.integers()).filter_map(|k| Some(integer(word(self, coordinate, k, lane)?, access.signed[0]))).collect();
        let mut at = shape.place(&integers);
        for (x, offset) in at.iter_mut().zip(self.offset(access, shape, lane)).take(shape.axes()) {
            *x += i64::from(offset);
        }
        let level = access.choice(Choice::Lod).and_then(|slots| word(self, slots, 0, lane));
        (at, level.map_or(0, |level| integer(level, access.signed[1])))
    }

    /// The operand ConstOffset or Offset.
    pub(super) fn offset(&self, access: &ImageAccess, shape: Shape, lane: usize) -> [i32; 3] {
        let slots = access.choice(Choice::ConstOffset).or_else(|| access.choice(Choice::Offset));
        slots.map_or([0; 3], |slots| self.offset_of(slots, 0, shape, lane))
    }

    /// One of several offsets in the slots of an operand.
    pub(super) fn offset_of(&self, slots: &Slots, index: usize, shape: Shape, lane: usize) -> [i32; 3] {
        let axes = shape.axes();
        [0, 1, 2].map(|axis| if axis < axes { word(self, slots, index * axes + axis, lane).map_or(0, |w| w as i32) } else { 0 })
    }

    fn queried(
        &self,
        access: &ImageAccess,
        named_image: &NamedImage<'_>,
        lane: usize,
        at: u32,
        origin_of: impl Fn(Unspecified) -> Origin,
    ) -> Components {
        if let Some(origin) = self.operand_origin(&access.value, 0, lane, at) {
            return self.undefined_result(access, origin);
        }
        let level = word(self, &access.value, 0, lane).map_or(0, |level| integer(level, access.signed[1]));
        match named_image.declared.image.query_size(level) {
            Ok(sides) => sides.into_iter().map(Ok).collect(),
            Err(kind) => self.undefined_result(access, origin_of(kind)),
        }
    }

    fn read(
        &self,
        shared: &Shared<'_>,
        named_image: &NamedImage<'_>,
        (at, level): ([i64; 3], i64),
        origin_of: impl Fn(Unspecified) -> Origin,
    ) -> Components {
        let written = named_image.lock();
        let image = written.as_ref().map_or(named_image.declared.image, |written| &written.image);
        let texel = image.fetch_by(&self.calculator.images, at, level, shared.images.robustness);
        let recorded_origin = |c: usize| {
            let index = image.index_at(0, at).filter(|_| level == 0)?;
            written.as_ref()?.origins.get(&(index as u64, c as u8)).copied()
        };
        let component = |c: usize| match texel.undefined[c] {
            None => Ok(texel.bits[c]),
            Some(kind) => Err(recorded_origin(c).unwrap_or_else(|| origin_of(kind))),
        };
        (0..4).map(component).collect()
    }

    fn store_texel(
        &self,
        access: &ImageAccess,
        named_image: &NamedImage<'_>,
        at: [i64; 3],
        lane: usize,
        instruction: u32,
        origin_of: impl Fn(Unspecified) -> Origin,
    ) {
        let Some(mut written) = named_image.lock() else { return };
        let Written { image, origins } = &mut *written;
        let Some(index) = image.index_at(0, at) else { return };
        let bits = [0, 1, 2, 3].map(|c| word(self, &access.value, c, lane).unwrap_or(0));
        let missing = |c: usize| access.value.get(c).is_none().then(|| origin_of(Unspecified::ImageConversion));
        let new_origins = [0, 1, 2, 3].map(|c| self.operand_origin(&access.value, c, lane, instruction).or_else(|| missing(c)));
        let undefined = (0..4u8).filter(|&c| new_origins[usize::from(c)].is_some()).fold(0, |mask, c| mask | 1 << c);
        let Some(codes) = image.write_of(index, bits, undefined) else { return };
        for (c, codes) in codes.iter().enumerate() {
            match new_origins[c].or_else(|| codes.any.map(&origin_of)) {
                Some(origin) => drop(origins.insert((index as u64, c as u8), origin)),
                None => drop(origins.remove(&(index as u64, c as u8))),
            }
        }
    }

    /// The result of an instruction that samples or gathers.
    fn sampled(
        &self,
        shared: &Shared<'_>,
        access: &ImageAccess,
        (image, sampler): (&Image, &Sampler),
        lane: usize,
        instruction: u32,
        origin_of: impl Fn(Unspecified) -> Origin,
    ) -> Components {
        let (shape, coordinate) = (image.shape(), &access.choosing[0].1);
        let coordinate_at = |k: usize| word(self, coordinate, k, lane).map_or(Inexact::exact(0.0), float);
        let directions = shape.directions();
        let mut at = [0, 1, 2].map(|k| if k < directions { coordinate_at(k) } else { Inexact::exact(0.0) });
        let layer = if shape.is_layered() { coordinate_at(directions) } else { Inexact::exact(0.0) };
        let compares = !access.value.is_empty();
        let mut reference = word(self, &access.value, 0, lane).map(float);
        if projects(access.op) {
            let q = coordinate_at(2).value;
            at = at.map(|x| Inexact::exact(x.value / q));
            reference = reference.map(|x| Inexact::exact(x.value / q));
        }
        let offset = self.offset(access, shape, lane);
        let four_offsets = access.choice(Choice::ConstOffsets);
        if let Some(origin) = self.operand_origin(&access.value, 0, lane, instruction).filter(|_| compares) {
            return self.undefined_result(access, origin);
        }
        if is_unfit(access.op, image, sampler, offset != [0; 3] || four_offsets.is_some()) {
            return self.undefined_result(access, origin_of(Unspecified::ImageSampler));
        }
        let precision = shared.images.precision.unwrap_or_else(|| Precision::least(image.format()));
        let sampling = Sampling { image, sampler, precision, rules: &self.calculator.images, offset };
        let at = Location { at, layer };
        let components = |found: Result<SampledValue, SamplerError>| -> Components {
            let SampledValue { bits, undefined } = found.unwrap_or(SampledValue::undefined(Unspecified::ImageSampler));
            (0..access.results.len().min(4)).map(|c| undefined[c].map_or(Ok(bits[c]), |kind| Err(origin_of(kind)))).collect()
        };
        if !matches!(access.op, Core::ImageGather | Core::ImageDrefGather) {
            return components(sampling.sample_value(at, self.level(access, shape, lane), reference));
        }
        let component = usize::from(access.component);
        match four_offsets {
            None => components(sampling.gather_value(at, component, reference)),
            Some(slots) => {
                let gather_one = |index: usize| {
                    let offset = self.offset_of(slots, index, shape, lane);
                    components(Sampling { offset, ..sampling }.gather_value(at, component, reference))[FIRST]
                };
                (0..4).map(gather_one).collect()
            }
        }
    }

    /// The level of detail: from the operands, or from the derivatives of the coordinate in the
    /// quad. All lanes of the quad are active.
    fn level(&self, access: &ImageAccess, shape: Shape, lane: usize) -> Lod {
        let zero = Inexact::exact(0.0);
        if let Some(bits) = access.choice(Choice::Lod).and_then(|slots| word(self, slots, 0, lane)) {
            return Lod::Explicit(float(bits));
        }
        if let Some([dx, dy]) = access.gradients() {
            let gradient = |slots: &Slots| [0, 1, 2].map(|axis| word(self, slots, axis, lane).map_or(zero, float));
            return Lod::Derivatives { dx: gradient(dx), dy: gradient(dy), bias: 0.0 };
        }
        let (directions, coordinate) = (shape.directions(), &access.choosing[0].1);
        // The differences of the lane's row and column for these kinds are those of the first row
        // and of the first column.
        let difference = |kind: usize| {
            let [to, from] = DIFFERENCES[kind][lane % 4].map(|index| lane / 4 * 4 + index);
            [0, 1, 2].map(|axis| {
                let at = |lane: usize| word(self, coordinate, axis, lane).map_or(0.0, f32::from_bits);
                if axis < directions { float(codes::bits(at(to) - at(from))) } else { zero }
            })
        };
        let bias = access.choice(Choice::Bias).and_then(|slots| word(self, slots, 0, lane)).map_or(0.0, f32::from_bits);
        Lod::Derivatives { dx: difference(0), dy: difference(1), bias }
    }

    /// Records an access to a texel, if something may write the image.
    fn touch_image(
        &self,
        code: &Code,
        shared: &Shared<'_>,
        group: &mut Group,
        lane: usize,
        (number, named_image, at): (usize, &NamedImage<'_>, [i64; 3]),
        touch: AccessKind,
    ) -> Done {
        let image = named_image.declared.image;
        let Some(index) = image.index_at(0, at).filter(|_| named_image.written.is_some()) else { return Ok(()) };
        let mut race = None;
        if group.detector.is_some() {
            let bytes = image.format().bytes() as u64;
            let object = (shared.buffers.count() + number) as u32;
            let kind = if touch == AccessKind::Write { Kind::Store } else { Kind::Load };
            let footprint = Footprint { object, offset: index as u64 * bytes, bytes, class: Class::Image };
            race = self.detect(code, shared, group, lane, footprint, kind);
        }
        let is_race = match shared.program.synchronises {
            true => race.is_some(),
            false => {
                let accessor: Accessor = self.accessor(shared, group, lane, group.phases.images);
                touch_granule(&named_image.shadow, index, accessor, touch, shared.in_order)
            }
        };
        if !is_race {
            return Ok(());
        }
        let place = report::texel(image, (named_image.declared.set, named_image.declared.binding), index as u64);
        Err(self.race_failure(code, shared, lane, race, &place))
    }
}

/// The index of the footprint's first texel, i0j0, among the gathered texels (Vulkan,
/// Texel Gathering).
pub(super) const FIRST: usize = 3;

/// Whether the instruction takes its level of detail from the quad.
pub(super) fn is_implicit(op: Core) -> bool {
    crate::spirv::check::is_implicit(op)
}

/// The fault of an image or a sampler that is not bound, although the dispatch was not refused.
#[cold]
pub(super) fn nothing_bound(code: &Code, shared: &Shared<'_>) -> Failure {
    Failure::Stuck(format!("{} has an image or a sampler that is not bound", report::name(&shared.program.module, code.at)))
}
