//! The bindings of a pipeline for the entry points of a RUN.

use std::ops::Range;

use smallstep_semantics::image::{self, Channel, Image, Numeric};
use smallstep_semantics::number::Interval;
use smallstep_semantics::number::sets::Set;
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::spirv::environment::{BoundImage, BoundSampler, BoundedFloat};
use smallstep_semantics::spirv::module::Variable;

use super::draw::{bytes_of, image_of, levels_of, sampler_of, texels_of};
use super::play::End;
use crate::amber::{Binding, BufferId, Buffers, Certainty, Contents, Line, Pipeline, Resource, Script, View};
use crate::compute::Uses;
use crate::compute::given::Place;
use crate::dispatch::resources::ResourceKind;
use crate::dispatch::{BufferBinding, BufferKind, ImageBinding, ImageKind};

/// The floats with a bounded set that are aligned words of a range of a buffer, by the offset of
/// their first byte in the buffer.
pub(super) fn given_sets<'c>(contents: &'c Contents, range: &Range<usize>) -> impl Iterator<Item = (usize, Set)> + use<'c> {
    let range = range.clone();
    contents.sets().filter(move |(at, _)| range.start <= *at && at + 4 <= range.end && (at - range.start).is_multiple_of(4))
}

/// A buffer bound to a descriptor that an entry point uses.
pub(super) struct BufferAt {
    pub place: Place,
    pub buffer: BufferId,
    pub range: Range<usize>,
    /// The number of bytes by which the block exceeds the range. Engines get zeros for them. The
    /// result of a run that reads one of them is dropped.
    pub missing: usize,
    pub kind: BufferKind,
}

/// An image bound to a descriptor that an entry point uses.
pub(super) struct ImageAt {
    pub place: Place,
    pub buffer: BufferId,
    /// The byte range of its levels.
    pub range: Range<usize>,
    pub kind: ImageKind,
    pub image: Image,
}

/// All bindings of a RUN.
#[derive(Default)]
pub(super) struct Bound {
    pub buffers: Vec<BufferAt>,
    pub images: Vec<ImageAt>,
    samplers: Vec<(Place, BoundSampler)>,
    /// The push constants, a whole number of words.
    pub push_constants: Vec<u8>,
    /// The buffer with the push constants.
    pub pushed: Option<BufferId>,
}

impl Bound {
    /// The resources that these entry points use.
    ///
    /// Errors: a resource that is not bound, is bound as another kind, or is too short. A buffer
    /// that is bound twice and written.
    pub fn new(script: &Script, buffers: &Buffers, pipeline: &Pipeline, stages: &[Uses<'_>], line: Line) -> Result<Bound, End> {
        let mut bound = Bound::default();
        for &stage in stages {
            for (place, resource, variable) in stage.bound() {
                let of_variable = of_variable(pipeline, (stage, variable), place, stages);
                for (place, binding) in
                    of_variable.map_err(|what| End::Invalid(format!("line {line}: pipeline {}: {what}", pipeline.name)))?
                {
                    bound.descriptor(script, buffers, (pipeline, binding), stage, (place, resource, variable), line)?;
                }
            }
        }
        bound.check_overlaps(script, line)?;
        let needed = stages.iter().map(|stage| stage.push_constant_bytes()).max().unwrap_or(0);
        let mut bytes = pipeline.push_constants.map_or(&[][..], |buffer| &buffers[buffer].bytes).to_vec();
        if (bytes.len() as u64) < needed {
            let (name, found) = (&pipeline.name, bytes.len());
            return Err(End::Invalid(format!("line {line}: pipeline {name} needs {needed} bytes of push constants, and is given {found}")));
        }
        bytes.truncate(needed as usize);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        (bound.push_constants, bound.pushed) = (bytes, pipeline.push_constants);
        Ok(bound)
    }

    fn descriptor(
        &mut self,
        script: &Script,
        buffers: &Buffers,
        (pipeline, binding): (&Pipeline, &Binding),
        stage: Uses<'_>,
        (place, resource, variable): (Place, ResourceKind, &Variable),
        line: Line,
    ) -> Result<(), End> {
        let name = stage.name_of(variable);
        let invalid = |what: String| End::Invalid(format!("line {line}: pipeline {}: {what}", pipeline.name));
        let unsupported = |what: String| End::Unsupported(format!("line {line}: {what}"));
        let expected_kind = match resource {
            ResourceKind::Uniform => "uniform buffer",
            ResourceKind::Storage => "storage buffer",
            ResourceKind::SampledImage(..) => "sampled image",
            ResourceKind::StorageImage(..) => "storage image",
            ResourceKind::TexelBuffer { written: false, .. } => "uniform texel buffer",
            ResourceKind::TexelBuffer { written: true, .. } => "storage texel buffer",
            ResourceKind::Sampler => "sampler",
            ResourceKind::CombinedImageSampler(..) => "combined image sampler",
            ResourceKind::Opaque => {
                return Err(unsupported(format!("{name}, an image that is not two-dimensional, of one layer and of one sample")));
            }
        };
        let mut sampler = |id| {
            if !self.samplers.iter().any(|s| s.0 == place) {
                let (sampler, (set, binding)) = (sampler_of(&script[id]).map_err(unsupported)?, place.whole());
                self.samplers.push((place, BoundSampler { set, binding, sampler }));
            }
            Ok(())
        };
        let mut texels = |buffer, kind| {
            if !self.images.iter().any(|i| i.place == place) {
                let (image, range) = texels_of(script, buffers, buffer).map_err(unsupported)?;
                self.images.push(ImageAt { place, buffer, range, kind, image });
            }
            Ok(())
        };
        match (binding.resource, resource) {
            (Resource::UniformTexelBuffer(id), ResourceKind::TexelBuffer { written: false, .. }) => return texels(id, ImageKind::Sampled),
            (Resource::StorageTexelBuffer(id), ResourceKind::TexelBuffer { written: true, .. }) => return texels(id, ImageKind::Storage),
            _ => {}
        }
        let mut image = |view: View, kind| {
            if !self.images.iter().any(|i| i.place == place) {
                let levels = levels_of(script, view, kind == ImageKind::Sampled);
                let (image, range) = image_of(script, buffers, view, levels).map_err(unsupported)?;
                self.images.push(ImageAt { place, buffer: view.buffer, range, kind, image });
            }
            Ok(())
        };
        match (binding.resource, resource) {
            (Resource::Uniform(range), ResourceKind::Uniform) | (Resource::Storage(range), ResourceKind::Storage) => {
                let range = (range.buffer, bytes_of(&buffers[range.buffer].bytes, range));
                let (needed, length) = (stage.module().buffer_size(variable.id), range.1.len());
                let missing = needed.saturating_sub(length as u64) as usize;
                if missing > 0 && resource == ResourceKind::Storage {
                    let buffer = &script[range.0].name;
                    return Err(invalid(format!("{name} needs {needed} bytes, and what is bound of {buffer} has {length}")));
                }
                let kind = stage.kind_at(place).unwrap_or(BufferKind::ReadWrite);
                match self.buffers.iter_mut().find(|b| b.place == place) {
                    // Both stages use it.
                    Some(existing) => (existing.kind, existing.missing) = (existing.kind.max(kind), existing.missing.max(missing)),
                    None => self.buffers.push(BufferAt { place, buffer: range.0, range: range.1, missing, kind }),
                }
                Ok(())
            }
            (Resource::SampledImage(id), ResourceKind::SampledImage(..)) => image(id, ImageKind::Sampled),
            (Resource::StorageImage(id), ResourceKind::StorageImage(..)) => image(id, ImageKind::Storage),
            (Resource::CombinedImageSampler(id, with), ResourceKind::CombinedImageSampler(..)) => {
                image(id, ImageKind::Sampled)?;
                sampler(with)
            }
            (Resource::Sampler(with), ResourceKind::Sampler) => sampler(with),
            _ => Err(invalid(format!("{name} is a {expected_kind}, and what line {} binds is none", binding.line))),
        }
    }

    /// Checks that no written bytes are bound twice.
    fn check_overlaps(&self, script: &Script, line: Line) -> Result<(), End> {
        let of_buffers = self.buffers.iter().map(|b| (b.place, b.buffer, b.range.clone(), b.kind == BufferKind::ReadWrite));
        let of_images = self.images.iter().map(|i| (i.place, i.buffer, i.range.clone(), i.kind == ImageKind::Storage));
        let all: Vec<_> = of_buffers.chain(of_images).collect();
        for (i, (place, buffer, range, written)) in all.iter().enumerate() {
            let overlaps = |(_, other, at, other_written): &&(Place, BufferId, Range<usize>, bool)| {
                other == buffer && (*written || *other_written) && range.start < at.end && at.start < range.end
            };
            if let Some((other, ..)) = all[..i].iter().find(overlaps) {
                let name = &script[*buffer].name;
                return Err(End::Unsupported(format!("line {line}: the buffer {name}, bound at {other} and at {place} and written")));
            }
        }
        Ok(())
    }

    /// The bytes behind descriptors, in the form for interpreters.
    pub fn contents(&self, buffers: &Buffers) -> Vec<Buffer> {
        let bytes = |b: &BufferAt| {
            let mut bytes = buffers[b.buffer].bytes[b.range.clone()].to_vec();
            bytes.resize(bytes.len() + b.missing, 0);
            bytes
        };
        self.buffers.iter().map(|b| Buffer { set: b.place.set, binding: b.place.binding, bytes: bytes(b) }).collect()
    }

    /// The samplers, in the form for interpreters and devices.
    pub fn samplers(&self) -> Vec<BoundSampler> {
        self.samplers.iter().map(|(_, sampler)| sampler.clone()).collect()
    }

    /// Whether some block exceeds the range that is bound for it.
    pub fn is_short(&self) -> bool {
        self.buffers.iter().any(|b| b.missing > 0)
    }

    /// The ending of the script if a run has read a byte outside of its range.
    pub fn read_past(&self, script: &Script, past: Option<(usize, usize)>, line: Line) -> Result<(), End> {
        let Some((b, at)) = past.and_then(|(index, at)| Some((self.buffers.get(index)?, at))) else { return Ok(()) };
        let (name, length) = (&script[b.buffer].name, b.range.len());
        Err(End::Invalid(format!(
            "line {line}: the uniform buffer at {} is read at byte {at}, and what is bound of {name} has {length}",
            b.place
        )))
    }

    /// The floats with a bounded set among the bound bytes, in the form for interpreters.
    pub fn bounded(&self, buffers: &Buffers) -> Vec<BoundedFloat> {
        let bounded_floats = |(index, b): (usize, &BufferAt)| {
            let first = b.range.start;
            let bounded_float = move |(at, allowed)| BoundedFloat { buffer: index, offset: (at - first) as u64, allowed };
            given_sets(&buffers[b.buffer], &b.range).map(bounded_float).collect::<Vec<_>>()
        };
        self.buffers.iter().enumerate().flat_map(bounded_floats).collect()
    }

    /// The images, in the form for interpreters. Images that are only sampled include the other
    /// values that devices may have.
    pub fn image_contents(&self, buffers: &Buffers) -> Vec<BoundImage> {
        let bound_image = |i: &ImageAt| {
            let mut image = i.image.clone();
            if i.kind == ImageKind::Sampled {
                allow_open(&mut image, &buffers[i.buffer], i.range.clone());
            }
            BoundImage { set: i.place.set, binding: i.place.binding, image }
        };
        self.images.iter().map(bound_image).collect()
    }

    /// The buffers, in the form for devices.
    pub fn buffer_bindings(&self, buffers: &Buffers) -> Vec<BufferBinding> {
        let contents = self.contents(buffers).into_iter().zip(&self.buffers);
        contents.map(|(b, at)| BufferBinding { set: b.set, binding: b.binding, kind: at.kind, bytes: b.bytes }).collect()
    }

    /// The images, in the form for devices.
    pub fn image_bindings(&self) -> Vec<ImageBinding> {
        let binding = |i: &ImageAt| ImageBinding { set: i.place.set, binding: i.place.binding, kind: i.kind, image: i.image.clone() };
        self.images.iter().map(binding).collect()
    }

    /// The buffers that may be written.
    pub fn written(&self) -> impl Iterator<Item = BufferId> {
        let buffers = self.buffers.iter().filter(|b| b.kind == BufferKind::ReadWrite).map(|b| b.buffer);
        buffers.chain(self.images.iter().filter(|i| i.kind == ImageKind::Storage).map(|i| i.buffer))
    }

    /// The first image with an undecided byte, and the offset of the byte. Images that are only
    /// sampled are included if `with_sampled` is set.
    pub fn open_image(&self, buffers: &Buffers, with_sampled: bool) -> Option<(BufferId, usize)> {
        let mut images = self.images.iter().filter(|i| with_sampled || i.kind != ImageKind::Sampled);
        images.find_map(|i| Some((i.buffer, buffers[i.buffer].open(i.range.start, i.range.len())?.0)))
    }
}

/// The descriptors that a variable names. Several bindings at one place are the elements of an
/// array of descriptors, in order. `stages` are all stages of the pipeline.
///
/// Errors: a sentence: too few are bound.
fn of_variable<'p>(
    pipeline: &'p Pipeline,
    (stage, variable): (Uses<'_>, &Variable),
    place: Place,
    stages: &[Uses<'_>],
) -> Result<Vec<(Place, &'p Binding)>, String> {
    let (set, binding) = place.whole();
    let bound: Vec<&Binding> = pipeline.bindings.iter().filter(|b| (b.set, b.binding) == (set, binding)).collect();
    let count = |stage: Uses<'_>, variable: &Variable| stage.module().descriptor_count(variable).unwrap_or(bound.len() as u64);
    let (needed, name) = (count(stage, variable), stage.name_of(variable));
    if bound.is_empty() {
        return Err(format!("nothing is bound at descriptor set {set}, binding {binding} for {name}"));
    }
    if (bound.len() as u64) < needed {
        let found = bound.len();
        return Err(format!("{name} is an array of {needed} descriptors, and descriptor set {set}, binding {binding} has {found}"));
    }
    let variables = stages.iter().flat_map(|&stage| stage.bound().map(move |(at, _, variable)| (stage, at, variable)));
    let is_array = variables.filter(|(_, at, _)| *at == place).any(|(stage, _, variable)| count(stage, variable) > 1);
    let element = |k| Place { element: is_array.then_some(k), ..place };
    Ok((0..).map(element).zip(bound).take(needed as usize).collect())
}

/// Adds the values that devices may have to each texel of an image with undecided bytes.
fn allow_open(image: &mut Image, contents: &Contents, range: Range<usize>) {
    let format = image.format();
    let (numeric, size) = (format.numeric(), format.bytes());
    if contents.open(range.start, range.len()).is_none() {
        return;
    }
    let component = |first: usize, channel: &Channel| {
        let (from, to) = (first + usize::from(channel.offset) / 8, first + usize::from(channel.offset + channel.width).div_ceil(8));
        let (_, known) = contents.open(from, to - from)?;
        let is_aligned = channel.offset.is_multiple_of(8) && channel.width.is_multiple_of(8);
        let anything = Some(Interval::ANY);
        match known {
            _ if !is_aligned => anything,
            Certainty::OneOf => match contents.choice(from) {
                Some((start, choice)) if (start, choice.size) == (from, to - from) && choice.codes.nan == 0 => {
                    choice.all().map(|code| image::unpack_allowed(numeric, channel.width, code)).reduce(Interval::hull)
                }
                _ => anything,
            },
            _ if channel.width == 32 && numeric == Numeric::Float => match contents.set(from) {
                Some((start, set)) if start == from => {
                    set.hull().filter(|_| set.is_bounded()).map(|hull| Interval::between(hull.low, hull.high))
                }
                _ => anything,
            },
            _ => anything,
        }
        .or(anything)
    };
    let texels = |level| image.bytes(level).map_or(0, <[u8]>::len) / size;
    let places: Vec<(u32, usize)> = (0..image.levels()).flat_map(|level| (0..texels(level)).map(move |index| (level, index))).collect();
    for (first, (level, index)) in range.step_by(size).zip(places) {
        if contents.open(first, size).is_some() {
            let mut components = [None; 4];
            for (allowed, channel) in components.iter_mut().zip(format.channels()) {
                *allowed = component(first, channel);
            }
            // The texel may lie outside of the image.
            let _ = image.allow(level, index, components);
        }
    }
}
