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
use super::detect::Seen;
use super::quads::{DIFFERENCES, whole};
use super::races::{AccessKind, Accessor, EACH, touch_granule, zeros};
use super::warp::{RegisterOrLocal, Warp};
use super::{Failure, Group, Shared, codes};
use crate::concurrency::{Class, Kind};
use crate::image::{Image, Location, Lod, Precision, Robustness, SampledValue, Sampler, SamplerError, Sampling, Shape};
use crate::number::Inexact;
use crate::spirv::descriptors::{Descriptors, Named, observed};
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
    pub(super) named: Named<'r>,
    /// The current contents, if something may write it.
    pub(super) written: Option<Mutex<Written>>,
    /// [`EACH`] records for each texel of level 0, if something may write it.
    shadow: Vec<AtomicU64>,
}

/// The images and samplers of a dispatch.
pub(in super::super) struct Images<'r> {
    held: Vec<NamedImage<'r>>,
    samplers: Vec<Sampler>,
    /// By index of `Program::opaque`: the image and the sampler.
    of: Vec<Descriptor>,
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
        let Descriptors { images, samplers, of_variable } = program.descriptors(dispatch).unwrap_or_default();
        let held = |named: Named<'r>| {
            let texels = named.image.sides(0).unwrap_or_default().into_iter().map(|side| side as usize).product::<usize>();
            let written = named.written.then(|| Mutex::new(Written { image: named.image.clone(), origins: FxHashMap::default() }));
            NamedImage { named, written, shadow: if named.written { zeros(EACH * texels) } else { Vec::new() } }
        };
        Images {
            held: images.into_iter().map(held).collect(),
            samplers,
            of: program.opaque.iter().map(|id| of_variable.get(id).copied().unwrap_or_default()).collect(),
            precision: dispatch.resources.precision,
            robustness: dispatch.resources.image_robustness,
        }
    }

    /// The image of an instruction, with its number.
    pub(super) fn image(&self, access: &ImageAccess) -> Option<(usize, &NamedImage<'r>)> {
        let number = self.of.get(access.image as usize)?.image? as usize;
        Some((number, self.held.get(number)?))
    }

    pub(super) fn sampler(&self, access: &ImageAccess) -> Option<&Sampler> {
        self.samplers.get(self.of.get(access.sampler as usize)?.sampler? as usize)
    }

    /// The storage images at the end of the run.
    pub(super) fn observed(&self, program: &Program) -> Vec<ObservedImage> {
        let storage = self.held.iter().filter(|held| held.named.storage);
        let one = |held: &NamedImage<'r>| {
            let made = |origins: Option<&FxHashMap<(u64, u8), Origin>>, image: &Image| {
                observed(image, (held.named.set, held.named.binding), |at, component| {
                    let (_, undefined) = image.raw_of(0, at as usize)?;
                    let origin = origins.and_then(|origins| origins.get(&(at, component)));
                    let made = origin.map(|origin| (origin.instruction, program.invocation(origin.invocation)));
                    let kind = origin.map_or(Unspecified::Uninitialised, |origin| origin.kind);
                    (undefined >> component & 1 == 1).then_some((made, kind))
                })
            };
            match held.lock() {
                Some(written) => made(Some(&written.origins), &written.image),
                None => made(None, held.named.image),
            }
        };
        storage.map(one).collect()
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
        self.chooses(code, access, shared)?;
        let Some((number, held)) = shared.images.image(access) else { return Err(nothing_bound(code, shared)) };
        let parted = if is_implicit(access.op) { self.active & !whole(self.active) } else { 0 };
        for lane in column::lanes(self.active) {
            let invocation = self.number + lane as u32;
            let made = |kind| Origin { kind, instruction: code.at, invocation };
            let found: Components = match access.op {
                Core::ImageQueryLevels => SmallVec::from_slice(&[Ok(held.named.image.levels())]),
                Core::ImageQuerySize | Core::ImageQuerySizeLod => self.queried(access, held, lane, code.at, made),
                Core::ImageFetch | Core::ImageRead => {
                    let (at, level) = self.texel_place(access, held, lane);
                    if access.op == Core::ImageRead {
                        self.touch_image(code, shared, group, lane, (number, held, at), AccessKind::Read)?;
                    }
                    self.read(shared, held, (at, level), made)
                }
                Core::ImageWrite => {
                    let (at, _) = self.texel_place(access, held, lane);
                    if self.helpers >> lane & 1 == 0 {
                        self.touch_image(code, shared, group, lane, (number, held, at), AccessKind::Write)?;
                        self.store_texel(access, held, at, lane, code.at, made);
                    }
                    Components::new()
                }
                _ if parted >> lane & 1 == 1 => self.all(access, made(Unspecified::DivergentDerivative)),
                _ => {
                    let Some(sampler) = shared.images.sampler(access) else { return Err(nothing_bound(code, shared)) };
                    self.sampled(shared, access, (held.named.image, sampler), lane, code.at, made)
                }
            };
            for (&slot, component) in access.results.iter().zip(found) {
                match component {
                    Ok(bits) => self.put(slot, lane, bits.into()),
                    Err(origin) => self.put_undefined(slot, lane, origin),
                }
            }
        }
        Ok(())
    }

    /// Checks that no operand which selects texels is undefined in an active lane.
    pub(super) fn chooses(&self, code: &Code, access: &ImageAccess, shared: &Shared<'_>) -> Done {
        let doubt = |slots: &Slots| -> Lanes { slots.iter().fold(0, |set, slot| set | self.doubt(slot)) & self.active };
        let any = access.choosing.iter().fold(0, |set, (_, slots)| set | doubt(slots));
        if any == 0 {
            return Ok(());
        }
        let lane = any.trailing_zeros() as usize;
        let undefined = |slots: &Slots| slots.iter().find(|slot| self.doubt(slot) >> lane & 1 == 1).copied();
        let found = access.choosing.iter().enumerate().find_map(|(k, (id, slots))| Some((k, *id, undefined(slots)?)));
        let Some((k, id, Slot::Word(column))) = found else { return Ok(()) };
        let origin = self.origin(RegisterOrLocal::Column(column), lane, code.at);
        let operand = if k == 0 { "a coordinate" } else { "an image operand" };
        let what = report::operand_undefined(&shared.program.module, code.at, operand, id, origin);
        Err(self.broken(shared, Ub::AddressOnUndefined, what, code.at, any))
    }

    fn doubt(&self, slot: &Slot) -> Lanes {
        match *slot {
            Slot::Word(column) => self.undefined[column as usize],
            _ => 0,
        }
    }

    /// The origin of a slot's scalar in a lane, if it is undefined.
    pub(super) fn made_in(&self, slots: &Slots, at: usize, lane: usize, instruction: u32) -> Option<Origin> {
        let &Slot::Word(column) = slots.get(at)? else { return None };
        (self.undefined[column as usize] >> lane & 1 == 1).then(|| self.origin(RegisterOrLocal::Column(column), lane, instruction))
    }

    /// A result with all components undefined.
    fn all(&self, access: &ImageAccess, origin: Origin) -> Components {
        access.results.iter().map(|_| Err(origin)).collect()
    }

    /// The texel and the level of a fetch, a read or a write.
    pub(super) fn texel_place(&self, access: &ImageAccess, held: &NamedImage<'_>, lane: usize) -> ([i64; 3], i64) {
        let shape = held.named.image.shape();
        let coordinate = &access.choosing[0].1;
        let integers: SmallVec<[i64; 3]> =
            (0..shape.integers()).filter_map(|k| Some(integer(word(self, coordinate, k, lane)?, access.signed[0]))).collect();
        let mut at = shape.place(&integers);
        for (x, by) in at.iter_mut().zip(self.offset(access, shape, lane)).take(shape.axes()) {
            *x += i64::from(by);
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
    pub(super) fn offset_of(&self, slots: &Slots, which: usize, shape: Shape, lane: usize) -> [i32; 3] {
        let axes = shape.axes();
        [0, 1, 2].map(|axis| if axis < axes { word(self, slots, which * axes + axis, lane).map_or(0, |w| w as i32) } else { 0 })
    }

    fn queried(
        &self,
        access: &ImageAccess,
        held: &NamedImage<'_>,
        lane: usize,
        at: u32,
        made: impl Fn(Unspecified) -> Origin,
    ) -> Components {
        if let Some(origin) = self.made_in(&access.value, 0, lane, at) {
            return self.all(access, origin);
        }
        let level = word(self, &access.value, 0, lane).map_or(0, |level| integer(level, access.signed[1]));
        match held.named.image.query_size(level) {
            Ok(sides) => sides.into_iter().map(Ok).collect(),
            Err(kind) => self.all(access, made(kind)),
        }
    }

    fn read(
        &self,
        shared: &Shared<'_>,
        held: &NamedImage<'_>,
        (at, level): ([i64; 3], i64),
        made: impl Fn(Unspecified) -> Origin,
    ) -> Components {
        let written = held.lock();
        let image = written.as_ref().map_or(held.named.image, |written| &written.image);
        let texel = image.fetch_by(&self.calculator.images, at, level, shared.images.robustness);
        let known = |c: usize| {
            let index = image.index_at(0, at).filter(|_| level == 0)?;
            written.as_ref()?.origins.get(&(index as u64, c as u8)).copied()
        };
        let component = |c: usize| match texel.undefined[c] {
            None => Ok(texel.bits[c]),
            Some(kind) => Err(known(c).unwrap_or_else(|| made(kind))),
        };
        (0..4).map(component).collect()
    }

    fn store_texel(
        &self,
        access: &ImageAccess,
        held: &NamedImage<'_>,
        at: [i64; 3],
        lane: usize,
        instruction: u32,
        made: impl Fn(Unspecified) -> Origin,
    ) {
        let Some(mut written) = held.lock() else { return };
        let Written { image, origins } = &mut *written;
        let Some(index) = image.index_at(0, at) else { return };
        let bits = [0, 1, 2, 3].map(|c| word(self, &access.value, c, lane).unwrap_or(0));
        let missing = |c: usize| access.value.get(c).is_none().then(|| made(Unspecified::ImageConversion));
        let given = [0, 1, 2, 3].map(|c| self.made_in(&access.value, c, lane, instruction).or_else(|| missing(c)));
        let undefined = (0..4u8).filter(|&c| given[usize::from(c)].is_some()).fold(0, |mask, c| mask | 1 << c);
        let Some(codes) = image.write_of(index, bits, undefined) else { return };
        for (c, codes) in codes.iter().enumerate() {
            match given[c].or_else(|| codes.any.map(&made)) {
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
        made: impl Fn(Unspecified) -> Origin,
    ) -> Components {
        let (shape, coordinate) = (image.shape(), &access.choosing[0].1);
        let number = |k: usize| word(self, coordinate, k, lane).map_or(Inexact::exact(0.0), float);
        let directions = shape.directions();
        let mut at = [0, 1, 2].map(|k| if k < directions { number(k) } else { Inexact::exact(0.0) });
        let layer = if shape.is_layered() { number(directions) } else { Inexact::exact(0.0) };
        let compares = !access.value.is_empty();
        let mut reference = word(self, &access.value, 0, lane).map(float);
        if projects(access.op) {
            let q = number(2).value;
            at = at.map(|x| Inexact::exact(x.value / q));
            reference = reference.map(|x| Inexact::exact(x.value / q));
        }
        let offset = self.offset(access, shape, lane);
        let four = access.choice(Choice::ConstOffsets);
        if let Some(origin) = self.made_in(&access.value, 0, lane, instruction).filter(|_| compares) {
            return self.all(access, origin);
        }
        if is_unfit(access.op, image, sampler, offset != [0; 3] || four.is_some()) {
            return self.all(access, made(Unspecified::ImageSampler));
        }
        let precision = shared.images.precision.unwrap_or_else(|| Precision::least(image.format()));
        let sampling = Sampling { image, sampler, precision, rules: &self.calculator.images, offset };
        let at = Location { at, layer };
        let shown = |found: Result<SampledValue, SamplerError>| -> Components {
            let SampledValue { bits, undefined } = found.unwrap_or(SampledValue::undefined(Unspecified::ImageSampler));
            (0..access.results.len().min(4)).map(|c| undefined[c].map_or(Ok(bits[c]), |kind| Err(made(kind)))).collect()
        };
        if !matches!(access.op, Core::ImageGather | Core::ImageDrefGather) {
            return shown(sampling.sample_value(at, self.level(access, shape, lane), reference));
        }
        let component = usize::from(access.component);
        match four {
            None => shown(sampling.gather_value(at, component, reference)),
            Some(slots) => {
                let one = |which: usize| {
                    let offset = self.offset_of(slots, which, shape, lane);
                    shown(Sampling { offset, ..sampling }.gather_value(at, component, reference))[FIRST]
                };
                (0..4).map(one).collect()
            }
        }
    }

    /// The level of detail: from the operands, or from the derivatives of the coordinate in the
    /// quad. All lanes of the quad are active.
    fn level(&self, access: &ImageAccess, shape: Shape, lane: usize) -> Lod {
        let none = Inexact::exact(0.0);
        if let Some(bits) = access.choice(Choice::Lod).and_then(|slots| word(self, slots, 0, lane)) {
            return Lod::Explicit(float(bits));
        }
        if let Some([dx, dy]) = access.gradients() {
            let of = |slots: &Slots| [0, 1, 2].map(|axis| word(self, slots, axis, lane).map_or(none, float));
            return Lod::Derivatives { dx: of(dx), dy: of(dy), bias: 0.0 };
        }
        let (directions, coordinate) = (shape.directions(), &access.choosing[0].1);
        // The differences of the lane's row and column for these kinds are those of the first row
        // and of the first column.
        let difference = |kind: usize| {
            let [to, from] = DIFFERENCES[kind][lane % 4].map(|of| lane / 4 * 4 + of);
            [0, 1, 2].map(|axis| {
                let at = |lane: usize| word(self, coordinate, axis, lane).map_or(0.0, f32::from_bits);
                if axis < directions { float(codes::bits(at(to) - at(from))) } else { none }
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
        (number, held, at): (usize, &NamedImage<'_>, [i64; 3]),
        touch: AccessKind,
    ) -> Done {
        let image = held.named.image;
        let Some(index) = image.index_at(0, at).filter(|_| held.written.is_some()) else { return Ok(()) };
        let mut found = None;
        if group.detector.is_some() {
            let bytes = image.format().bytes() as u64;
            let object = (shared.buffers.count() + number) as u32;
            let kind = if touch == AccessKind::Write { Kind::Store } else { Kind::Load };
            let seen = Seen { object, offset: index as u64 * bytes, bytes, class: Class::Image };
            found = self.observe(code, shared, group, lane, seen, kind);
        }
        let races = match shared.program.synchronises {
            true => found.is_some(),
            false => {
                let who: Accessor = self.who(shared, group, lane, group.phases.images);
                touch_granule(&held.shadow, index, who, touch, shared.in_order)
            }
        };
        if !races {
            return Ok(());
        }
        let place = report::texel(image, (held.named.set, held.named.binding), index as u64);
        Err(self.races(code, shared, lane, found, &place))
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
