//! Inputs of a comparison: the number of workgroups or the vertices, and the contents of all
//! buffers, images, samplers and push constants that BEFORE uses.
//!
//! An input on which BEFORE is undefined tells nothing, so inputs range from *tame* to *wild*. Tame
//! inputs have runtime arrays with room for every invocation. They have small positive integers,
//! which stay in bounds as indices and are not 0 as divisors. Wild inputs have arrays of the least
//! length, extreme values and arbitrary bits. A quarter of the inputs starts at each of the four
//! levels. A vacuous input is replaced by another draft, up to [`DRAFTS`] in all. Drafts first
//! reduce the workgroups to one, then take tamer values. The level does not affect the number of
//! workgroups. Kinds of drafts that were always vacuous are mostly skipped ([`Drafts`]).

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use rspirv::spirv::StorageClass;
use smallstep_semantics::image::Numeric;
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::spirv::environment::{Attribute, BoundImage, BoundSampler};
use smallstep_semantics::spirv::module::{Module, Variable};
use smallstep_semantics::spirv::shared::runtime_length;
use smallstep_semantics::spirv::types::{Address, Type};

use super::interface::{Mismatch, QUAD, least_size};
use super::numbers::Numbers;
use super::pictures::Handle;
use super::stages::{Scene, StageModule};
use super::{Planted, Settings, Side};
use crate::compile::wgsl;
use crate::compute::Uses;
use crate::compute::given::{Place, written};
use crate::compute::{bound, show};
use crate::dispatch::ComputeDispatch;
use crate::dispatch::resources::ResourceKind;
use crate::generate::Random;

/// The most drafts of one input.
pub const DRAFTS: u32 = 7;
/// The wildest level.
const WILD: u32 = 3;
/// The number of values after which those of an array repeat. It is prime, so that no usual stride
/// meets the same value each time.
const PERIOD: usize = 1021;
/// The most bytes of a runtime array.
const MAX_ARRAY: u64 = 1 << 18;

/// The highest level of that draft of an input.
fn level(index: u64, draft: u32) -> u32 {
    ((index % u64::from(WILD + 1)) as u32).saturating_sub(draft / 2)
}

fn has_one_workgroup(draft: u32) -> bool {
    draft % 2 == 1 || draft + 1 == DRAFTS
}

/// The first draft of an input that is only looked at. Three of four have one workgroup, which is
/// faster.
pub fn first_to_look_at(index: u64) -> u32 {
    u32::from(!(index / u64::from(WILD + 1)).is_multiple_of(4))
}

/// How many drafts of each kind were judged, and how many of them were not vacuous. A kind is a
/// level, whether lengths are tight, and whether there is one workgroup.
///
/// What makes BEFORE undefined once is likely to do so again. If its workgroups race, every input
/// with two of them is vacuous.
#[derive(Clone, Debug, Default)]
pub struct Drafts {
    kinds: [Kind; 4 * (WILD as usize + 1)],
}

#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    judged: u32,
    useful: u32,
    skipped: u32,
}

impl Drafts {
    /// The number of drafts of a kind that are judged before others are skipped.
    const ENOUGH: u32 = 6;
    /// One in so many of those is still judged.
    const ONE_IN: u32 = 8;

    fn kind(&mut self, index: u64, draft: u32) -> &mut Kind {
        let at = 4 * level(index, draft) as usize + 2 * usize::from(draft == 0) + usize::from(has_one_workgroup(draft));
        &mut self.kinds[at]
    }

    /// The draft of an input to judge next, from the given one on. Mostly skips kinds that were
    /// always vacuous. The last draft is never skipped.
    pub fn next(&mut self, index: u64, from: u32) -> u32 {
        let mut is_wanted = |&draft: &u32| {
            let kind = self.kind(index, draft);
            if kind.useful > 0 || kind.judged < Drafts::ENOUGH {
                return true;
            }
            kind.skipped += 1;
            kind.skipped.is_multiple_of(Drafts::ONE_IN)
        };
        (from..DRAFTS - 1).find(|draft| is_wanted(draft)).unwrap_or(DRAFTS - 1)
    }

    /// Records whether a draft was vacuous.
    pub fn note(&mut self, index: u64, draft: u32, is_vacuous: bool) {
        let kind = self.kind(index, draft);
        kind.judged += 1;
        kind.useful += u32::from(!is_vacuous);
    }
}

/// The inputs of a dispatch or draw.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Input {
    /// The number of workgroups in x, y and z.
    pub groups: [u32; 3],
    /// The buffers, ordered by set and binding.
    pub buffers: Vec<Buffer>,
    /// The images, ordered by set and binding.
    pub images: Vec<BoundImage>,
    /// The samplers, ordered by set and binding.
    pub samplers: Vec<BoundSampler>,
    /// The bytes of the push constants.
    pub push_constants: Vec<u8>,
    /// In a draw: the vertex attributes.
    pub attributes: Vec<Attribute>,
}

impl Input {
    /// Copies the push constants to a uniform buffer, for a module that has one instead.
    pub fn move_push_constants(&mut self, place: Place) {
        self.buffers.retain(|b| (b.set, b.binding) != (place.set, place.binding));
        let mut bytes = self.push_constants.clone();
        bytes.resize(bytes.len().next_multiple_of(QUAD as usize), 0);
        self.buffers.push(Buffer { set: place.set, binding: place.binding, bytes });
    }

    /// The bytes of the buffer at a descriptor, if there is one.
    pub fn at(&self, place: Place) -> &[u8] {
        place.find(&self.buffers, |b| (b.set, b.binding)).map_or(&[], |b| &b.bytes)
    }
}

impl From<&ComputeDispatch> for Input {
    fn from(dispatch: &ComputeDispatch) -> Input {
        let bound = dispatch.bound();
        Input {
            groups: dispatch.groups,
            buffers: bound.buffer_contents(),
            images: bound.image_contents(),
            samplers: dispatch.samplers.clone(),
            push_constants: dispatch.push_constants.clone(),
            attributes: Vec::new(),
        }
    }
}

/// A scalar in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The offset of its first byte.
    pub offset: u64,
    /// Its type.
    pub type_: Type,
    /// A number for its member or array. The elements of one array share it.
    group: u32,
}

/// A buffer of the inputs.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its set and binding.
    pub place: Place,
    /// The fewest bytes that it may have.
    pub min_bytes: u64,
    /// The stride of its runtime array in bytes, if it has one.
    pub stride: Option<u64>,
    /// Its bytes, if all inputs share them.
    pub pinned: Option<Vec<u8>>,
    variable: Variable,
    /// Its runtime array, and the number of scalars of an element.
    array: Option<(Address, usize)>,
}

/// The common shape of a module's inputs.
#[derive(Clone, Debug)]
pub struct Shape<'m> {
    /// The buffers, ordered by set and binding.
    pub slots: Vec<Slot>,
    /// The images and samplers, ordered by set and binding.
    pub handles: Vec<Handle>,
    /// In a draw: what all inputs share.
    pub scene: Option<Scene>,
    /// The uniform buffer in which AFTER has the push constants of BEFORE, if it has one.
    pub push_constant_place: Option<Place>,
    /// The numbers that values are made of: those of BEFORE and, if known, of AFTER.
    pub numbers: Numbers,
    module: &'m Module,
    /// By slot, the longest buffer so far: its size in bytes, and its scalars.
    longest: RefCell<Vec<(u64, Rc<[Cell]>)>>,
    push: Option<Variable>,
    push_bytes: u64,
    size: [u32; 3],
}

impl<'m> Shape<'m> {
    /// The shape of BEFORE's inputs.
    ///
    /// Errors: a pinned buffer is for no variable, or is too short.
    pub fn of(before: &'m Side, settings: &Settings) -> Result<Shape<'m>, Mismatch> {
        let size = before.module.needs().local_size.unwrap_or([1; 3]);
        Shape::new(&before.module.module, &[before.module.uses()], size, None, settings)
    }

    /// The shape of the inputs of BEFORE's draws.
    ///
    /// Errors: as of [`Shape::of`]. Or the stages have an interface that no draw has.
    pub fn of_stages(before: &'m StageModule, settings: &Settings) -> Result<Shape<'m>, Mismatch> {
        Shape::new(&before.module, &before.uses(), [1; 3], Some(Scene::of(before)?), settings)
    }

    fn new(
        module: &'m Module,
        uses: &[Uses<'m>],
        size: [u32; 3],
        scene: Option<Scene>,
        settings: &Settings,
    ) -> Result<Shape<'m>, Mismatch> {
        let mut slots: Vec<Slot> = Vec::new();
        let mut handles: Vec<Handle> = Vec::new();
        let comparing = wgsl::comparing(module);
        for (place, resource, variable) in uses.iter().flat_map(|uses| uses.bound()) {
            let compares = comparing.contains(&variable.id);
            if !matches!(resource, ResourceKind::Uniform | ResourceKind::Storage) {
                let is_same = |handle: &&mut Handle| handle.place.whole() == place.whole() && handle.resource == resource;
                let mut known = handles.iter_mut().filter(is_same).peekable();
                if known.peek().is_none() {
                    handles.extend(descriptors(module, variable, place, 0)?.map(|place| Handle { place, resource, compares }));
                } else {
                    known.for_each(|handle| handle.compares |= compares);
                }
                continue;
            }
            if slots.iter().any(|slot| slot.place.whole() == place.whole()) {
                continue;
            }
            let mut min_bytes = least_size(uses, place);
            let mut given = settings.pinned.iter().filter(|(at, _)| at.whole() == place.whole()).map(|(_, bytes)| bytes.clone());
            let count = given.clone().count() as u64;
            let name = uses[0].name_of(variable);
            if let Some(bytes) = given.clone().find(|bytes| (bytes.len() as u64) < min_bytes) {
                return Err(Mismatch(format!("the buffer for {name} at {place} has {} bytes; it needs {min_bytes}", bytes.len())));
            }
            if resource == ResourceKind::Uniform && count == 0 {
                min_bytes = min_bytes.next_multiple_of(QUAD);
            }
            let array = runtime_array(module, module.resource_type(variable));
            let stride = array.map(|(_, stride)| stride);
            let array = array.map(|(array, stride)| {
                let [none, one] = [0, stride].map(|more| cells(module, variable, array.offset + more).len());
                (array, one - none)
            });
            let places = descriptors(module, variable, place, count)?;
            slots.extend(places.map(|place| Slot { place, min_bytes, stride, pinned: given.next(), variable: *variable, array }));
            if given.next().is_some() {
                return Err(Mismatch(format!("more buffers are given for {place} than {name} has descriptors")));
            }
        }
        slots.sort_by_key(|slot| slot.place);
        handles.sort_by_key(|handle| handle.place);
        for (place, _) in &settings.pinned {
            if !slots.iter().any(|slot| slot.place.whole() == place.whole()) {
                return Err(Mismatch(format!("a buffer is given for {place}, and BEFORE uses no buffer there")));
            }
        }
        let push_bytes = uses.iter().map(|uses| uses.push_constant_bytes()).max().unwrap_or(0);
        let push = module.globals().iter().find(|v| v.class == StorageClass::PushConstant).copied();
        if let Some(bytes) = &settings.push
            && (bytes.len() as u64) < push_bytes
        {
            return Err(Mismatch(format!("the push constants have {} bytes; BEFORE needs {push_bytes}", bytes.len())));
        }
        let longest = RefCell::new(slots.iter().map(|_| (0, Rc::default())).collect());
        Ok(Shape {
            slots,
            handles,
            scene,
            push_constant_place: None,
            numbers: Numbers::of(&[module]),
            module,
            longest,
            push,
            push_bytes,
            size,
        })
    }

    /// The scalars of a slot's buffer of that size, in order. A scalar that is not whole is left
    /// out.
    pub fn cells(&self, slot: &Slot, bytes: u64) -> Vec<Cell> {
        cells(self.module, &slot.variable, bytes)
    }

    /// The scalars of that slot's buffer, as the start of a longer buffer's scalars and their
    /// number.
    fn first_cells(&self, at: usize, bytes: u64) -> (Rc<[Cell]>, usize) {
        let slot = &self.slots[at];
        let (longest, known) = &mut self.longest.borrow_mut()[at];
        let elements = |bytes| slot.array.map_or(0, |(array, _)| runtime_length(self.module, &array, bytes).unwrap_or(0));
        if *longest < bytes {
            // A longer buffer serves many requests.
            *longest = bytes.max(2 * *longest);
            *known = self.cells_of_elements(slot, *longest, elements(*longest)).into();
        }
        let beyond = slot.array.map_or(0, |(_, per_element)| per_element * (elements(*longest) - elements(bytes)) as usize);
        (known.clone(), known.len() - beyond)
    }

    /// [`Shape::cells`] for a runtime array of so many elements. Each element is like the one
    /// before it.
    fn cells_of_elements(&self, slot: &Slot, bytes: u64, elements: u64) -> Vec<Cell> {
        let (Some((array, per_element)), Some(stride), 3..) = (slot.array, slot.stride, elements) else { return self.cells(slot, bytes) };
        let mut cells = self.cells(slot, array.offset + 2 * stride);
        let [first, second] = [2, 1].map(|back| cells.len().saturating_sub(back * per_element));
        let Some(groups) = cells.get(second).map(|cell| cell.group - cells[first].group) else { return cells };
        let pattern = cells[second..].to_vec();
        for after in 1..elements - 1 {
            cells.extend(pattern.iter().map(|cell| Cell {
                offset: cell.offset + after * stride,
                group: cell.group + after as u32 * groups,
                ..*cell
            }));
        }
        cells
    }

    /// That draft of an input. Later drafts are tamer.
    pub fn draw(&self, settings: &Settings, index: u64, draft: u32) -> Input {
        let mut random = Random::new(settings.seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(draft) << 56);
        let level = if settings.does(Planted::Tame) { 0 } else { level(index, draft) };
        // Lengths become tame before values do, and grow after that.
        let (tight, room) = (if draft == 0 { random.below(level + 1) } else { 0 }, draft / 2);
        let groups = match &self.scene {
            Some(_) => [1; 3],
            None if settings.does(Planted::OneWorkgroup) => [1; 3],
            // Two workgroups may race whatever the values are, so every other draft has one.
            None => settings.groups.unwrap_or_else(|| {
                let drawn = self.groups(&mut random);
                if has_one_workgroup(draft) { [1; 3] } else { drawn }
            }),
        };
        // A draw has about one invocation for each pixel.
        let invocations = match &self.scene {
            Some(_) => 32,
            None => groups.iter().chain(&self.size).map(|&n| u64::from(n)).product::<u64>(),
        };
        let buffers = self.slots.iter().enumerate().map(|(at, slot)| {
            let bytes = slot.pinned.clone().unwrap_or_else(|| {
                let length = length(slot, invocations, tight, room, &mut random);
                let (cells, count) = self.first_cells(at, length);
                filled(length, &cells[..count], level, &self.numbers, &mut random)
            });
            Buffer { set: slot.place.set, binding: slot.place.binding, bytes }
        });
        let buffers = buffers.collect();
        let push_constants = settings.push.clone().unwrap_or_else(|| {
            let cells = self.push.map(|variable| cells(self.module, &variable, self.push_bytes)).unwrap_or_default();
            filled(self.push_bytes, &cells, level, &self.numbers, &mut random)
        });
        let (mut images, mut samplers) = (Vec::new(), Vec::new());
        let filters = !self.handles.iter().any(Handle::has_sampled_integers);
        for handle in &self.handles {
            let (set, binding) = handle.place.whole();
            images.extend(handle.image(level, &self.numbers, &mut random).map(|image| BoundImage { set, binding, image }));
            samplers.extend(handle.sampler(level, filters, &mut random).map(|sampler| BoundSampler { set, binding, sampler }));
        }
        let attributes = self.scene.as_ref().map_or_else(Vec::new, |scene| scene.attributes(level, &self.numbers, &mut random));
        let mut input = Input { groups, buffers, images, samplers, push_constants, attributes };
        if let Some(place) = self.push_constant_place {
            input.move_push_constants(place);
        }
        input
    }

    /// A few workgroups: one, several in x, or several in another direction.
    fn groups(&self, random: &mut Random) -> [u32; 3] {
        let most = 256 / self.size.iter().fold(1u32, |n, &s| n.saturating_mul(s)).clamp(1, 256);
        match random.below(6) {
            1 => [2.min(most.max(1)), 1, 1],
            3 => [random.between(1, most.clamp(1, 4)), 1, 1],
            4 if most >= 6 => random.pick(&[[2, 2, 1], [3, 2, 1]]),
            4 if most >= 4 => [2, 2, 1],
            5 if most >= 2 => random.pick(&[[1, 1, 2], [1, 2, 1]]),
            _ => [1; 3],
        }
    }

    /// The push constants in the notation of the command line.
    pub fn push_text(&self, input: &Input) -> Option<String> {
        let cells = self.push.map(|variable| cells(self.module, &variable, input.push_constants.len() as u64)).unwrap_or_default();
        (!input.push_constants.is_empty()).then(|| written(&input.push_constants, one_type(&cells, input.push_constants.len())))
    }

    /// The vertex attributes of an input, a line for each location.
    pub fn vertices(&self, input: &Input) -> Vec<String> {
        let line = |attribute: &Attribute| {
            let float = matches!(attribute.format.numeric(), Numeric::Float);
            let words = attribute.bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            let words: Vec<String> =
                words.map(|word| if float { format!("{:?}", f32::from_bits(word)) } else { format!("{word}") }).collect();
            format!("vertices at location {}, {}: {}", attribute.location, attribute.format.name(), words.join(" "))
        };
        input.attributes.iter().map(line).collect()
    }

    /// The input as arguments of `smallstep run`.
    pub fn arguments(&self, input: &Input) -> Vec<String> {
        let [x, y, z] = input.groups;
        let mut arguments = Vec::new();
        if input.groups != [1; 3] {
            arguments.extend(["--groups".into(), format!("{x},{y},{z}")]);
        }
        for buffer in &input.buffers {
            let place = Place::new(buffer.set, buffer.binding);
            // A buffer without a slot repeats the push constants.
            let Some(slot) = self.slots.iter().find(|slot| slot.place.whole() == place.whole()) else { continue };
            let type_ = one_type(&self.cells(slot, buffer.bytes.len() as u64), buffer.bytes.len());
            arguments.extend(["--set".into(), format!("{place}={}", written(&buffer.bytes, type_))]);
        }
        for image in &input.images {
            arguments.extend(["--texture".into(), format!("{}.{}={}", image.set, image.binding, bound::image_text(&image.image))]);
        }
        for sampler in &input.samplers {
            arguments
                .extend(["--sampler".into(), format!("{}.{}={}", sampler.set, sampler.binding, bound::sampler_text(&sampler.sampler))]);
        }
        arguments.extend(self.push_text(input).into_iter().flat_map(|text| ["--push".into(), text]));
        arguments
    }
}

/// The most descriptors of an array for which inputs are made.
const MAX_DESCRIPTORS: u64 = 64;
/// The number of descriptors of an array without a length, if no more are given.
const OPEN_DESCRIPTORS: u64 = 4;

/// The place of each descriptor of a variable. If its array has no length, there are as many as are
/// given, and at least [`OPEN_DESCRIPTORS`].
fn descriptors(module: &Module, variable: &Variable, place: Place, given: u64) -> Result<impl Iterator<Item = Place>, Mismatch> {
    let is_array = module.is_descriptor_array(variable.type_);
    let count = module.descriptor_count(variable).unwrap_or(given.max(OPEN_DESCRIPTORS));
    if count > MAX_DESCRIPTORS {
        return Err(Mismatch(format!("{place} is an array of {count} descriptors; inputs are made for at most {MAX_DESCRIPTORS}")));
    }
    let is_element = is_array && count > 1;
    Ok((0..count as u32).map(move |element| Place { element: is_element.then_some(element), ..place }))
}

/// The type of all scalars, if they share one and cover all bytes.
fn one_type(cells: &[Cell], bytes: usize) -> Option<Type> {
    let first = cells.first()?.type_;
    let width = usize::from(first.width()? / 8);
    (cells.iter().all(|cell| cell.type_ == first) && cells.len() * width == bytes).then_some(first)
}

/// The runtime array at the end of a block, and its stride.
fn runtime_array(module: &Module, type_: u32) -> Option<(Address, u64)> {
    let last = module.types().members(type_).len().checked_sub(1)?;
    let array = module.types().address(Address::whole(type_), last as u64)?;
    match module.types().get(array.type_) {
        Some(Type::RuntimeArray { stride, .. }) => Some((array, u64::from(stride.max(1)))),
        _ => None,
    }
}

fn cells(module: &Module, variable: &Variable, bytes: u64) -> Vec<Cell> {
    let types = module.types();
    let mut cells = Vec::new();
    let (mut group, mut last) = (0, String::new());
    let _ = show::places(module, variable, bytes, &mut |path, _, at| {
        if path != last {
            (group, last) = (group + 1, path.to_string());
        }
        if let Some(type_) = types.component(at.type_).or_else(|| types.scalar_at(at.type_, 0)) {
            types.visit_addresses(at, &mut |offset, width| {
                if offset + u64::from(width / 8) <= bytes {
                    cells.push(Cell { offset, type_, group });
                }
            });
        }
        ControlFlow::Continue(())
    });
    cells
}

/// The size of a buffer: with room for every invocation, or among others the least that is allowed
/// if `tight`.
fn length(slot: &Slot, invocations: u64, tight: u32, room: u32, random: &mut Random) -> u64 {
    let Some(stride) = slot.stride else { return slot.min_bytes.max(4) };
    let per_invocation = random.pick(&[1, 2, 4, 8]) << (2 * room.min(3));
    let elements = match (tight, random.below(4)) {
        (0, _) => invocations.max(16) * per_invocation,
        (1, _) => invocations * per_invocation,
        (2, 0) => invocations.saturating_sub(1),
        (2, _) => invocations * random.pick(&[1, 1, 2]),
        (_, 0) => random.pick(&[0, 1, 2]),
        (_, 1) => u64::from(random.between(1, 20)),
        _ => invocations + u64::from(random.below(4)),
    };
    // A buffer has at least one byte, and at least the size of its variable's type.
    let least_elements = u64::from(slot.min_bytes < 4);
    let elements = elements.max(least_elements).min((MAX_ARRAY / stride).max(1));
    slot.min_bytes + elements * stride
}

/// Values by type. Those of one member or array have one level, which is at most the given one. A
/// long array repeats its first values.
fn filled(length: u64, cells: &[Cell], level: u32, numbers: &Numbers, random: &mut Random) -> Vec<u8> {
    let mut bytes = vec![0; length as usize];
    let (mut values, mut at) = (Vec::with_capacity(PERIOD), 0);
    for group in cells.chunk_by(|a, b| a.group == b.group) {
        let group_level = random.below(level + 1).max(random.below(level + 1));
        values.clear();
        for cell in group {
            let Some(width) = cell.type_.width() else { continue };
            if values.len() < PERIOD {
                at = values.len();
                values.push(match cell.type_ {
                    Type::Float { width } => numbers.float(width, group_level, random),
                    _ => numbers.integer(width, group_level, random),
                });
            } else {
                at = if at + 1 == PERIOD { 0 } else { at + 1 };
            }
            let (start, count) = (cell.offset as usize, usize::from(width / 8));
            bytes[start..start + count].copy_from_slice(&values[at].to_le_bytes()[..count]);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::ComputeModule;
    use smallstep_semantics::spirv::{Options, assemble};

    /// Mostly skips drafts with several workgroups if they were always vacuous, until one is not.
    #[test]
    fn drafts_that_are_vacuous_each_time_are_passed_over() {
        let mut drafts = Drafts::default();
        for index in 0..4 * u64::from(Drafts::ENOUGH) {
            assert_eq!(drafts.next(index, 0), 0);
            drafts.note(index, 0, true);
            drafts.note(index, 1, false);
        }
        let first = |drafts: &mut Drafts| -> Vec<u32> { (0..32).map(|n| drafts.next(4 * n, 0)).collect() };
        let chosen = first(&mut drafts);
        assert_eq!(chosen.iter().filter(|&&draft| draft == 0).count(), 32 / Drafts::ONE_IN as usize);
        assert!(chosen.iter().all(|&draft| draft <= 1));
        drafts.note(0, 0, false);
        assert_eq!(first(&mut drafts), [0; 32]);
        // An input that is vacuous in every draft reaches the last.
        let mut drafts = Drafts::default();
        (0..4 * u64::from(Drafts::ENOUGH)).for_each(|index| (0..DRAFTS).for_each(|draft| drafts.note(index, draft, true)));
        assert_eq!(drafts.next(0, 0), DRAFTS - 1);
    }

    /// The scalars of a shorter buffer are the first of a longer one. Also for an array of
    /// structures with members out of order.
    #[test]
    fn scalars_of_a_shorter_buffer_come_first_in_a_longer_one() {
        let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
            OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %buffer DescriptorSet 0\nOpDecorate %buffer Binding 0\n\
            OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 4\nOpMemberDecorate %block 1 Offset 0\n\
            OpMemberDecorate %block 2 Offset 16\nOpMemberDecorate %pair 0 Offset 8\nOpMemberDecorate %pair 1 Offset 0\n\
            OpDecorate %array ArrayStride 16\n\
            %void = OpTypeVoid\n%function = OpTypeFunction %void\n%u = OpTypeInt 32 0\n%f = OpTypeFloat 32\n%v = OpTypeVector %f 2\n\
            %pair = OpTypeStruct %u %v\n%array = OpTypeRuntimeArray %pair\n%block = OpTypeStruct %u %f %array\n\
            %pointer = OpTypePointer StorageBuffer %block\n%buffer = OpVariable %pointer StorageBuffer\n\
            %main = OpFunction %void None %function\n%entry = OpLabel\n%used = OpAccessChain %pointer %buffer\n\
            OpReturn\nOpFunctionEnd\n";
        let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{}:{}: {}", e.line, e.column, e.what));
        let module = Module::load(&words).unwrap_or_else(|e| panic!("{e}"));
        let side = Side::new("module", ComputeModule::new(module, None).unwrap_or_else(|e| panic!("{e}")), None);
        let shape = Shape::of(&side, &Settings::default()).unwrap_or_else(|e| panic!("{e}"));
        let slot = &shape.slots[0];
        let mut counts = Vec::new();
        for elements in [5, 2, 0, 40, 3, 41] {
            let bytes = slot.min_bytes + 16 * elements;
            let (cells, count) = shape.first_cells(0, bytes);
            assert_eq!(cells[..count], shape.cells(slot, bytes), "of {elements} elements");
            counts.push(count);
        }
        assert_eq!(counts, [17, 8, 2, 122, 11, 125]);
    }
}
