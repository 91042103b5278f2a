//! The bindings of a compute program or draw: checks against the device, layouts, bind groups, and
//! the readback of results.

use std::collections::{BTreeMap, HashMap};
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::{Arc, Mutex, PoisonError};

use smallstep_semantics::image::{AddressMode, Border, Compare, Filter, Format, Sampler, Shape};
use smallstep_semantics::spirv::Buffer;

use super::capabilities;
use super::open::OpenDevice;
use super::texture::{self, Rows};
use crate::compile::naga::Handle;
use crate::dispatch::resources::{Descriptor, Needs, ResourceKind, Texels};
use crate::dispatch::{Bound, BufferBinding, BufferKind, ImageBinding, ImageKind};

/// The size of a buffer in a copy must be a multiple of this.
pub(super) const WORD: u64 = wgpu::COPY_BUFFER_ALIGNMENT;
/// The most layouts that are kept at once.
const KEPT_LAYOUTS: usize = 1 << 10;

/// The layouts that exist so far, by signature.
#[derive(Default)]
pub(super) struct Layouts(Mutex<HashMap<Signature, Arc<Layout>>>);

impl Layouts {
    /// Drops all layouts, after an error that may have invalidated some.
    pub(super) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The key of a layout: the bindings in ascending order, and the bytes of push constants.
type Signature = (Vec<Slot>, u32);

/// A binding of a layout.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Slot {
    set: u32,
    binding: u32,
    stages: wgpu::ShaderStages,
    ty: wgpu::BindingType,
    /// The number of descriptors, if it is an array of them.
    count: Option<NonZeroU32>,
}

pub(super) struct Layout {
    /// By set. None if the set is empty.
    groups: Vec<Option<wgpu::BindGroupLayout>>,
    pub(super) pipeline: wgpu::PipelineLayout,
}

impl Layout {
    fn new(device: &wgpu::Device, (slots, push_constants): &Signature) -> Layout {
        let sets = slots.last().map_or(0, |slot| slot.set + 1);
        let entry =
            |slot: &Slot| wgpu::BindGroupLayoutEntry { binding: slot.binding, visibility: slot.stages, ty: slot.ty, count: slot.count };
        let group = |set: u32| {
            let entries: Vec<wgpu::BindGroupLayoutEntry> = slots.iter().filter(|slot| slot.set == set).map(entry).collect();
            let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
            (!entries.is_empty()).then(|| device.create_bind_group_layout(&descriptor))
        };
        let groups: Vec<Option<wgpu::BindGroupLayout>> = (0..sets).map(group).collect();
        let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &groups.iter().map(Option::as_ref).collect::<Vec<_>>(),
            immediate_size: *push_constants,
        });
        Layout { groups, pipeline }
    }
}

fn buffer_type(kind: BufferKind) -> wgpu::BindingType {
    let ty = match kind {
        BufferKind::Uniform => wgpu::BufferBindingType::Uniform,
        BufferKind::ReadOnly => wgpu::BufferBindingType::Storage { read_only: true },
        BufferKind::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
    };
    wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None }
}

/// The binding type of an image. `handle` is the kind that naga infers, if naga reads the module.
/// wgpu then needs to know whether a sampled image may be filtered.
fn image_type(image: &ImageBinding, handle: Option<Handle>, filterable: bool) -> wgpu::BindingType {
    let (format, view_dimension) = (image.image.format(), texture::view_dimension(image.image.shape()));
    match image.kind {
        ImageKind::Storage => {
            let access = match handle {
                Some(Handle::Storage { reads: true, writes: false }) => wgpu::StorageTextureAccess::ReadOnly,
                Some(Handle::Storage { reads: false, writes: true }) => wgpu::StorageTextureAccess::WriteOnly,
                _ => wgpu::StorageTextureAccess::ReadWrite,
            };
            wgpu::BindingType::StorageTexture { access, format: texture::format(format), view_dimension }
        }
        ImageKind::Sampled => {
            let sample_type = match () {
                () if format.is_depth() && handle != Some(Handle::Sampled) => wgpu::TextureSampleType::Depth,
                () if Texels::Uint.are_of(format) => wgpu::TextureSampleType::Uint,
                () if Texels::Sint.are_of(format) => wgpu::TextureSampleType::Sint,
                // An image with a depth format that is no depth texture in WGSL gives
                // unfilterable floats.
                () => wgpu::TextureSampleType::Float { filterable: filterable && !format.is_depth() },
            };
            wgpu::BindingType::Texture { sample_type, view_dimension, multisampled: false }
        }
    }
}

fn sampler_type(sampler: &Sampler) -> wgpu::BindingType {
    wgpu::BindingType::Sampler(match sampler.compare {
        Some(_) => wgpu::SamplerBindingType::Comparison,
        None if filters(sampler) => wgpu::SamplerBindingType::Filtering,
        None => wgpu::SamplerBindingType::NonFiltering,
    })
}

fn filters(sampler: &Sampler) -> bool {
    [sampler.mag, sampler.min, sampler.mip].contains(&Filter::Linear)
}

/// The union of the kinds that naga infers for textures and samplers in two stages.
pub(super) fn merged_handles(vertex: &[((u32, u32), Handle)], fragment: &[((u32, u32), Handle)]) -> Vec<((u32, u32), Handle)> {
    let mut merged = vertex.to_vec();
    for &(place, handle) in fragment {
        match merged.iter_mut().find(|(at, _)| *at == place) {
            None => merged.push((place, handle)),
            Some((_, Handle::Storage { reads, writes })) => {
                if let Handle::Storage { reads: fragment_reads, writes: fragment_writes } = handle {
                    (*reads, *writes) = (*reads || fragment_reads, *writes || fragment_writes);
                }
            }
            Some(_) => {}
        }
    }
    merged
}

/// Whether the bindings can have the kinds that naga infers. WGSL has types for depth textures and
/// comparing samplers. In Vulkan, that depends on the format and on the sampler object.
pub(super) fn check_handles(bound: Bound<'_>, handles: &[((u32, u32), Handle)]) -> Result<(), String> {
    // It is not known which sampler an image is sampled with.
    let filtering = bound.samplers.iter().any(|sampler| {
        let handle = handles.iter().find(|(at, _)| *at == (sampler.set, sampler.binding)).map(|(_, handle)| *handle);
        handle == Some(Handle::Sampler) && filters(&sampler.sampler)
    });
    for &((set, binding), handle) in handles {
        let image = bound.images.iter().find(|i| (i.set, i.binding) == (set, binding));
        let sampler = bound.samplers.iter().find(|s| (s.set, s.binding) == (set, binding));
        let place_text = format!("at set {set}, binding {binding}");
        match (handle, image, sampler) {
            (Handle::Depth, Some(image), _) if !image.image.format().is_depth() => {
                let format = image.image.format().name();
                return Err(format!("naga takes the image {place_text} for a depth texture, and its format is {format}"));
            }
            (Handle::Sampled, Some(image), _) if image.image.format().is_depth() && filtering => {
                return Err(format!(
                    "the image {place_text} has depths, naga takes it for a texture of floats, and WebGPU lets no sampler filter that"
                ));
            }
            (Handle::Sampler, _, Some(sampler)) if sampler.sampler.compare.is_some() => {
                return Err(format!("the sampler {place_text} compares, and naga takes it for one that does not"));
            }
            (Handle::Comparison, _, Some(sampler)) if sampler.sampler.compare.is_none() => {
                return Err(format!("the sampler {place_text} does not compare, and naga takes it for one that does"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The bytes of a buffer in a copy.
pub(super) fn padded(buffer: &BufferBinding) -> u64 {
    (buffer.bytes.len() as u64).next_multiple_of(WORD)
}

/// The bytes of readback memory for the shown images and buffers.
pub(super) fn readback_bytes(bound: Bound<'_>) -> u64 {
    let images: u64 = bound.shown_images().map(|i| Rows::of(&i.image).bytes()).sum();
    images + bound.shown_buffers().map(padded).sum::<u64>()
}

/// Copies the shown images and then the shown buffers to the readback, from an offset that is
/// aligned for texel rows. `textures` and `buffers` belong to all bound images and buffers.
pub(super) fn copy_back(
    encoder: &mut wgpu::CommandEncoder,
    bound: Bound<'_>,
    (textures, buffers): (&[wgpu::Texture], &[wgpu::Buffer]),
    readback: &wgpu::Buffer,
    mut offset: u64,
) {
    for (image, texture) in bound.images.iter().zip(textures).filter(|(image, _)| image.kind == ImageKind::Storage) {
        Rows::of(&image.image).copy(encoder, texture, readback, &mut offset);
    }
    for (binding, buffer) in bound.buffers.iter().zip(buffers).filter(|(binding, _)| binding.kind == BufferKind::ReadWrite) {
        encoder.copy_buffer_to_buffer(buffer, 0, readback, offset, padded(binding));
        offset += padded(binding);
    }
}

/// The images and the buffers in the bytes that were read back.
pub(super) fn shown(bound: Bound<'_>, mut bytes: &[u8]) -> (Vec<Buffer>, Vec<Buffer>) {
    let (mut images, mut buffers) = (Vec::new(), Vec::new());
    for image in bound.shown_images() {
        images.push(Buffer { set: image.set, binding: image.binding, bytes: Rows::of(&image.image).take(&mut bytes) });
    }
    for buffer in bound.shown_buffers() {
        let (buffer_bytes, after) = bytes.split_at(padded(buffer) as usize);
        bytes = after;
        buffers.push(Buffer { set: buffer.set, binding: buffer.binding, bytes: buffer_bytes[..buffer.bytes.len()].to_vec() });
    }
    (images, buffers)
}

impl OpenDevice {
    /// Whether the bindings are within the device's limits, and wgpu can express them.
    pub(super) fn within_bound_limits(&self, bound: Bound<'_>) -> Result<(), String> {
        let (limits, all) = (&self.record.compute, self.device.limits());
        let sets = bound.places().map(|(set, _)| u64::from(set) + 1).max().unwrap_or(0);
        self.within("descriptor sets", sets, "maxBoundDescriptorSets", u64::from(limits.max_descriptor_sets))?;
        let buffers = |uniform: bool| bound.buffers.iter().filter(move |buffer| (buffer.kind == BufferKind::Uniform) == uniform);
        let images = |kind: ImageKind| bound.images.iter().filter(move |image| image.kind == kind).count() as u64;
        let has = u64::from(limits.max_storage_buffers);
        self.within("storage buffers", buffers(false).count() as u64, "maxPerStageDescriptorStorageBuffers", has)?;
        let has = u64::from(limits.max_uniform_buffers);
        self.within("uniform buffers", buffers(true).count() as u64, "maxPerStageDescriptorUniformBuffers", has)?;
        let has = u64::from(all.max_sampled_textures_per_shader_stage);
        self.within("sampled images", images(ImageKind::Sampled), "maxPerStageDescriptorSampledImages", has)?;
        let has = u64::from(all.max_storage_textures_per_shader_stage);
        self.within("storage images", images(ImageKind::Storage), "maxPerStageDescriptorStorageImages", has)?;
        let has = u64::from(all.max_samplers_per_shader_stage);
        self.within("samplers", bound.samplers.len() as u64, "maxPerStageDescriptorSamplers", has)?;
        for buffer in buffers(false) {
            let bytes = buffer.bytes.len() as u64;
            self.within("bytes in a storage buffer", bytes, "maxStorageBufferRange", self.record.max_storage_buffer_binding_size)?;
            if !bytes.is_multiple_of(WORD) {
                let (set, binding) = (buffer.set, buffer.binding);
                return Err(format!(
                    "the storage buffer at set {set}, binding {binding} has {bytes} bytes; wgpu binds multiples of {WORD}"
                ));
            }
        }
        for buffer in buffers(true) {
            let bytes = buffer.bytes.len() as u64;
            self.within("bytes in a uniform buffer", bytes, "maxUniformBufferRange", limits.max_uniform_buffer_binding_size)?;
        }
        self.within("bytes of buffers", bound.buffers.iter().map(padded).sum(), "max_buffer_size", limits.max_buffer_size)?;
        let bytes = bound.push_constants.len() as u64;
        self.within("bytes of push constants", bytes, "maxPushConstantsSize", u64::from(limits.max_push_constants_size))?;
        for image in bound.images {
            let (usage, what) = match image.kind {
                ImageKind::Sampled => (wgpu::TextureUsages::TEXTURE_BINDING, "sampled images"),
                ImageKind::Storage => (wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::COPY_SRC, "storage images"),
            };
            self.can_use(image.image.format(), usage, what)?;
            self.can_hold(&image.image)?;
            if image.kind == ImageKind::Storage && image.image.shape().is_cube() {
                return Err("a storage image is a cube, which wgpu has not".into());
            }
        }
        bound.samplers.iter().try_for_each(|sampler| self.can_sample(bound, &sampler.sampler))
    }

    /// Whether wgpu can express the sampler, and every sampled image may be used with it. The
    /// module is not searched for the images that it uses with the sampler.
    fn can_sample(&self, bound: Bound<'_>, sampler: &Sampler) -> Result<(), String> {
        let sampled = || bound.images.iter().filter(|image| image.kind == ImageKind::Sampled).map(|image| image.image.format());
        if sampler.unnormalized {
            return Err("a sampler has unnormalized coordinates, which wgpu has not".into());
        }
        if sampler.lod_bias != 0.0 {
            return Err(format!("a sampler has the bias {} of the level of detail; wgpu has none", sampler.lod_bias));
        }
        if !(0.0 <= sampler.lod_min && sampler.lod_min <= sampler.lod_max) {
            let (min, max) = (sampler.lod_min, sampler.lod_max);
            return Err(format!("a sampler has levels of detail from {min} to {max}; wgpu has them ascending from 0"));
        }
        if sampler.address.contains(&AddressMode::ClampToBorder) {
            if !self.device.features().contains(wgpu::Features::ADDRESS_MODE_CLAMP_TO_BORDER) {
                return Err("a sampler clamps to its border, which the device does not enable".into());
            }
            if sampled().any(|format| format.numeric().is_integer()) {
                return Err("a sampler clamps to its border and an image has integers; wgpu's borders are of floats".into());
            }
        }
        if filters(sampler)
            && let Some(format) = sampled().find(|format| !self.can_filter(*format))
        {
            return Err(format!("a sampler filters linearly, and the device does not filter the format {}", format.name()));
        }
        Ok(())
    }

    /// Whether every resource that an entry point uses is bound, with the right kind and size.
    pub(super) fn check_resources(&self, bound: Bound<'_>, needs: &Needs) -> Result<(), String> {
        let (needed, pushed) = (needs.push_constant_bytes, bound.push_constants.len());
        if needed > pushed as u64 {
            return Err(format!("the program uses {needed} bytes of push constants, and is given {pushed}"));
        }
        needs.descriptors.iter().try_for_each(|descriptor| {
            check_resource(bound, descriptor)?;
            self.check_array(bound, descriptor)
        })
    }

    /// Whether a descriptor has as many resources as its variable, and wgpu can bind them.
    fn check_array(&self, bound: Bound<'_>, descriptor: &Descriptor) -> Result<(), String> {
        let (Some(set), Some(binding)) = (descriptor.set, descriptor.binding) else { return Ok(()) };
        let of_place = |at: (u32, u32)| at == (set, binding);
        let buffers = bound.buffers.iter().filter(|b| of_place((b.set, b.binding))).count();
        let images = || bound.images.iter().filter(|i| of_place((i.set, i.binding))).map(|i| i.image.format());
        let samplers = || bound.samplers.iter().filter(|s| of_place((s.set, s.binding))).map(|s| s.sampler.compare.is_some());
        let given = buffers.max(images().count()).max(samplers().count()) as u64;
        let place = format!("%{} at set {set}, binding {binding}", descriptor.id);
        match descriptor.count {
            Some(1) if given <= 1 => return Ok(()),
            Some(1) => return Err(format!("{place} is one resource, and is given {given}")),
            Some(count) if count != given => return Err(format!("{place} is an array of {count} descriptors, and is given {given}")),
            None => return Err(format!("{place} is an array of descriptors without a length, which wgpu does not enable")),
            Some(_) => {}
        }
        if self.route.re_emits() {
            return Err(format!("{place} is an array of descriptors, which is bound only where the words pass through"));
        }
        let (what, needed) = match descriptor.kind {
            ResourceKind::Storage => ("storage buffers", capabilities::STORAGE_BUFFER_ARRAYS),
            ResourceKind::StorageImage(..) => ("storage images", capabilities::STORAGE_IMAGE_ARRAYS),
            ResourceKind::SampledImage(..) | ResourceKind::Sampler => ("images or samplers", capabilities::TEXTURE_ARRAYS),
            _ => return Err(format!("{place} is an array of uniform buffers, which wgpu does not bind")),
        };
        if bound.buffers.iter().any(|b| b.set == set && b.kind == BufferKind::Uniform) {
            return Err(format!("{place} is an array of descriptors in a set with a uniform buffer, which wgpu does not bind"));
        }
        if !self.device.features().contains(needed) {
            return Err(format!("{place} is an array of {what}, which the device does not enable"));
        }
        let is_depth = |format: Format| format.is_depth();
        let differ = match descriptor.kind {
            ResourceKind::StorageImage(..) => images().any(|format| Some(format) != images().next()),
            _ => images().any(|format| Some(is_depth(format)) != images().next().map(is_depth)),
        };
        if differ || samplers().any(|compares| Some(compares) != samplers().next()) {
            return Err(format!("{place} is an array of descriptors of several kinds, which wgpu does not bind"));
        }
        let limits = self.device.limits();
        let (name, most) = match descriptor.kind {
            ResourceKind::Sampler => {
                ("maxPerStageDescriptorUpdateAfterBindSamplers", limits.max_binding_array_sampler_elements_per_shader_stage)
            }
            _ => ("maxPerStageUpdateAfterBindResources", limits.max_binding_array_elements_per_shader_stage),
        };
        self.within("descriptors of an array", given, name, u64::from(most))
    }

    /// Whether wgpu keeps all binding numbers.
    pub(super) fn is_dense(&self, bound: Bound<'_>) -> Result<(), String> {
        let mut places: Vec<(u32, u32)> = bound.places().collect();
        places.sort_unstable();
        places.dedup();
        for (i, &(set, binding)) in places.iter().enumerate() {
            let below = places[..i].iter().filter(|place| place.0 == set).count();
            if below as u64 != u64::from(binding) {
                return Err(format!(
                    "set {set}, binding {binding} has {below} bindings below it, and wgpu would give it to the driver as binding {below}; the pass `bindings` closes gaps"
                ));
            }
        }
        Ok(())
    }

    /// The layout of the bindings, each visible to the stages that use it. If naga reads the
    /// modules, each binding has the kind that naga infers. Storage buffers in `read` are read-only
    /// in the layout, whatever their own kind is.
    pub(super) fn layout(
        &self,
        bound: Bound<'_>,
        stages: impl Fn((u32, u32)) -> wgpu::ShaderStages,
        handles: &[((u32, u32), Handle)],
        read_only: &[(u32, u32)],
    ) -> Arc<Layout> {
        let handle = |place| handles.iter().find(|(at, _)| *at == place).map(|(_, handle)| *handle);
        // Vulkan has no such property of a binding.
        let filterable = |image: &ImageBinding| self.route.re_emits() && self.can_filter(image.image.format());
        let kind = |b: &BufferBinding| match b.kind {
            BufferKind::ReadWrite if read_only.contains(&(b.set, b.binding)) => BufferKind::ReadOnly,
            kind => kind,
        };
        let slot = |set, binding, ty| Slot { set, binding, stages: stages((set, binding)), ty, count: None };
        let mut slots: Vec<Slot> = bound.buffers.iter().map(|b| slot(b.set, b.binding, buffer_type(kind(b)))).collect();
        slots.extend(bound.images.iter().map(|i| slot(i.set, i.binding, image_type(i, handle((i.set, i.binding)), filterable(i)))));
        slots.extend(bound.samplers.iter().map(|s| slot(s.set, s.binding, sampler_type(&s.sampler))));
        slots.sort_by_key(|slot| (slot.set, slot.binding));
        let chunks = slots.chunk_by(|a, b| (a.set, a.binding) == (b.set, b.binding));
        // The samplers of an array have one type, the one that allows the most.
        let filtering = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        let counted = |chunk: &[Slot]| {
            let count = if chunk.len() > 1 { NonZeroU32::new(chunk.len() as u32) } else { None };
            let ty = if chunk.iter().any(|slot| slot.ty == filtering) { filtering } else { chunk[0].ty };
            Slot { count, ty, ..chunk[0].clone() }
        };
        let slots: Vec<Slot> = chunks.map(counted).collect();
        let signature = (slots, bound.push_constants.len() as u32);
        let mut cache = self.layouts.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layout) = cache.get(&signature) {
            return layout.clone();
        }
        if cache.len() >= KEPT_LAYOUTS {
            cache.clear();
        }
        let layout = Arc::new(Layout::new(&self.device, &signature));
        cache.insert(signature, layout.clone());
        layout
    }

    /// Makes textures with the contents of the images.
    pub(super) fn textures(&self, encoder: &mut wgpu::CommandEncoder, bound: Bound<'_>) -> Vec<wgpu::Texture> {
        let usage = |kind: ImageKind| match kind {
            ImageKind::Sampled => wgpu::TextureUsages::TEXTURE_BINDING,
            ImageKind::Storage => wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::COPY_SRC,
        };
        bound.images.iter().map(|image| self.texture(encoder, &image.image, usage(image.kind))).collect()
    }

    fn sampler(&self, sampler: &Sampler) -> wgpu::Sampler {
        let filter = |filter: Filter| [wgpu::FilterMode::Nearest, wgpu::FilterMode::Linear][usize::from(filter == Filter::Linear)];
        let address = |mode: AddressMode| match mode {
            AddressMode::Repeat => wgpu::AddressMode::Repeat,
            AddressMode::MirroredRepeat => wgpu::AddressMode::MirrorRepeat,
            AddressMode::ClampToEdge => wgpu::AddressMode::ClampToEdge,
            AddressMode::ClampToBorder => wgpu::AddressMode::ClampToBorder,
        };
        let border = match sampler.border {
            Border::TransparentBlack => wgpu::SamplerBorderColor::TransparentBlack,
            Border::OpaqueBlack => wgpu::SamplerBorderColor::OpaqueBlack,
            Border::OpaqueWhite => wgpu::SamplerBorderColor::OpaqueWhite,
        };
        let [u, v, w] = sampler.address.map(address);
        self.device.create_sampler(&wgpu::SamplerDescriptor {
            label: None,
            address_mode_u: u,
            address_mode_v: v,
            address_mode_w: w,
            mag_filter: filter(sampler.mag),
            min_filter: filter(sampler.min),
            mipmap_filter: match sampler.mip {
                Filter::Nearest => wgpu::MipmapFilterMode::Nearest,
                Filter::Linear => wgpu::MipmapFilterMode::Linear,
            },
            lod_min_clamp: sampler.lod_min,
            lod_max_clamp: sampler.lod_max,
            compare: sampler.compare.map(compare),
            anisotropy_clamp: 1,
            border_color: sampler.address.contains(&AddressMode::ClampToBorder).then_some(border),
        })
    }

    /// The bind groups of these buffers and textures, with their sets.
    pub(super) fn bind(
        &self,
        layout: &Layout,
        bound: Bound<'_>,
        textures: &[wgpu::Texture],
        buffers: &[wgpu::Buffer],
    ) -> Vec<(u32, wgpu::BindGroup)> {
        let view = |(binding, texture): (&ImageBinding, &wgpu::Texture)| {
            let dimension = Some(texture::view_dimension(binding.image.shape()));
            texture.create_view(&wgpu::TextureViewDescriptor { dimension, ..Default::default() })
        };
        let views: Vec<wgpu::TextureView> = bound.images.iter().zip(textures).map(view).collect();
        let samplers: Vec<wgpu::Sampler> = bound.samplers.iter().map(|s| self.sampler(&s.sampler)).collect();
        let mut groups = Vec::new();
        for (set, layout) in (0u32..).zip(&layout.groups) {
            let Some(layout) = layout else { continue };
            // By binding: an element for each descriptor.
            let (mut of_buffers, mut of_images, mut of_samplers) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
            for (binding, buffer) in bound.buffers.iter().zip(buffers).filter(|(binding, _)| binding.set == set) {
                let size = NonZeroU64::new(binding.bytes.len() as u64);
                of_buffers.entry(binding.binding).or_insert_with(Vec::new).push(wgpu::BufferBinding { buffer, offset: 0, size });
            }
            for (binding, view) in bound.images.iter().zip(&views).filter(|(binding, _)| binding.set == set) {
                of_images.entry(binding.binding).or_insert_with(Vec::new).push(view);
            }
            for (binding, sampler) in bound.samplers.iter().zip(&samplers).filter(|(binding, _)| binding.set == set) {
                of_samplers.entry(binding.binding).or_insert_with(Vec::new).push(sampler);
            }
            let of_buffers = of_buffers.iter().map(|(&binding, buffers)| match &buffers[..] {
                [buffer] => (binding, wgpu::BindingResource::Buffer(buffer.clone())),
                several => (binding, wgpu::BindingResource::BufferArray(several)),
            });
            let of_images = of_images.iter().map(|(&binding, views)| match &views[..] {
                [view] => (binding, wgpu::BindingResource::TextureView(view)),
                several => (binding, wgpu::BindingResource::TextureViewArray(several)),
            });
            let of_samplers = of_samplers.iter().map(|(&binding, samplers)| match &samplers[..] {
                [sampler] => (binding, wgpu::BindingResource::Sampler(sampler)),
                several => (binding, wgpu::BindingResource::SamplerArray(several)),
            });
            let all = of_buffers.chain(of_images).chain(of_samplers);
            let entries: Vec<_> = all.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
            groups.push((set, self.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })));
        }
        groups
    }
}

/// The comparison function of wgpu.
pub(super) fn compare(compare: Compare) -> wgpu::CompareFunction {
    match compare {
        Compare::Never => wgpu::CompareFunction::Never,
        Compare::Less => wgpu::CompareFunction::Less,
        Compare::Equal => wgpu::CompareFunction::Equal,
        Compare::LessOrEqual => wgpu::CompareFunction::LessEqual,
        Compare::Greater => wgpu::CompareFunction::Greater,
        Compare::NotEqual => wgpu::CompareFunction::NotEqual,
        Compare::GreaterOrEqual => wgpu::CompareFunction::GreaterEqual,
        Compare::Always => wgpu::CompareFunction::Always,
    }
}

/// Whether the resource of a variable is bound and of the right kind.
fn check_resource(bound: Bound<'_>, descriptor: &Descriptor) -> Result<(), String> {
    let id = descriptor.id;
    let (Some(set), Some(binding)) = (descriptor.set, descriptor.binding) else {
        return Err(format!("%{id} has no descriptor set, or no binding"));
    };
    let buffer = bound.buffers.iter().find(|b| (b.set, b.binding) == (set, binding));
    let image = bound.images.iter().find(|i| (i.set, i.binding) == (set, binding));
    let sampler = bound.samplers.iter().any(|s| (s.set, s.binding) == (set, binding));
    let missing = |what: &str| Err(format!("the program uses %{id} at set {set}, binding {binding}, and is given no {what} there"));
    let place = format!("%{id} at set {set}, binding {binding}");
    let check_format = |image: &ImageBinding, texels: Texels| {
        let (format, texels_name) = (image.image.format(), texels.name());
        if texels.are_of(format) {
            return Ok(());
        }
        Err(format!("{place} is an image of {texels_name}, and is given one of the format {}", format.name()))
    };
    let check_shape = |image: &ImageBinding, shape: Shape| {
        let found = image.image.shape();
        if found == shape { Ok(()) } else { Err(format!("{place} is an image {}, and is given one {}", shape.name(), found.name())) }
    };
    let check_kind = |image: &ImageBinding, kind: ImageKind| {
        if image.kind == kind {
            return Ok(());
        }
        Err(format!("{place} is a {} image, and is given a {} image", kind.name(), image.kind.name()))
    };
    match (descriptor.kind, buffer, image) {
        (ResourceKind::Uniform | ResourceKind::Storage, None, _) => missing("buffer"),
        (ResourceKind::Uniform, Some(buffer), _) if buffer.kind == BufferKind::Uniform => Ok(()),
        (ResourceKind::Storage, Some(buffer), _) if buffer.kind != BufferKind::Uniform => Ok(()),
        (ResourceKind::Uniform | ResourceKind::Storage, Some(buffer), _) => {
            let other = if buffer.kind == BufferKind::Uniform { "storage" } else { "uniform" };
            Err(format!("{place} is a {other} buffer, and is given a {} buffer", buffer.kind.name()))
        }
        (ResourceKind::SampledImage(shape, texels), _, Some(image)) => {
            check_kind(image, ImageKind::Sampled)?;
            check_shape(image, shape)?;
            check_format(image, texels)
        }
        (ResourceKind::StorageImage(shape, format, texels), _, Some(image)) => {
            check_kind(image, ImageKind::Storage)?;
            check_shape(image, shape)?;
            check_format(image, texels)?;
            match format {
                Some(format) if format == image.image.format() => Ok(()),
                Some(format) => {
                    let found = image.image.format().name();
                    Err(format!("{place} is a storage image of the format {}, and is given one of {found}", format.name()))
                }
                None => Err(format!("{place} is a storage image without a format, and wgpu enables no access to such")),
            }
        }
        (ResourceKind::SampledImage(..) | ResourceKind::StorageImage(..), _, None) => missing("image"),
        (ResourceKind::Sampler, ..) if sampler => Ok(()),
        (ResourceKind::Sampler, ..) => missing("sampler"),
        (ResourceKind::CombinedImageSampler(..), ..) => {
            Err(format!("{place} is a combined image sampler, of which wgpu has none; the pass `split_samplers` makes two of it"))
        }
        (ResourceKind::TexelBuffer { .. }, ..) => Err(format!("{place} is a texel buffer, of which wgpu has none")),
        (ResourceKind::Opaque, ..) => Err(format!("{place} is neither a buffer, a sampler nor an image of one sample that is modeled")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::SamplerBinding;
    use smallstep_semantics::image::Image;

    /// A texture of floats in WGSL reads depths unfiltered, even if the adapter can filter the
    /// format. wgpu binds depth formats to no filterable texture.
    #[test]
    fn depths_that_are_bound_to_a_texture_of_floats_are_not_filtered() {
        let sample_type = |format: Format, handle: Handle| {
            let image = Image::new(format, 2, 2, 1).expect("an image");
            match image_type(&ImageBinding { set: 0, binding: 1, kind: ImageKind::Sampled, image }, Some(handle), true) {
                wgpu::BindingType::Texture { sample_type, .. } => sample_type,
                other => panic!("{other:?}"),
            }
        };
        let float = |filterable| wgpu::TextureSampleType::Float { filterable };
        assert_eq!(sample_type(Format::D32Sfloat, Handle::Sampled), float(false));
        assert_eq!(sample_type(Format::D32Sfloat, Handle::Depth), wgpu::TextureSampleType::Depth);
        assert_eq!(sample_type(Format::R32Sfloat, Handle::Sampled), float(true));
    }

    /// A depth image that is a texture of floats in WGSL cannot be bound beside a sampler that
    /// filters. Beside a sampler that does not filter, it can.
    #[test]
    fn depths_beside_a_sampler_that_filters_do_not_fit() {
        let image = Image::new(Format::D32Sfloat, 2, 2, 1).expect("an image");
        let images = [ImageBinding { set: 0, binding: 1, kind: ImageKind::Sampled, image }];
        let handles = [((0, 1), Handle::Sampled), ((0, 2), Handle::Sampler)];
        let fits_with = |mag: Filter| {
            let samplers = [SamplerBinding { set: 0, binding: 2, sampler: Sampler { mag, ..Sampler::default() } }];
            check_handles(Bound { buffers: &[], images: &images, samplers: &samplers, push_constants: &[] }, &handles)
        };
        assert!(fits_with(Filter::Linear).expect_err("it filters").contains("WebGPU lets no sampler filter that"));
        assert_eq!(fits_with(Filter::Nearest), Ok(()));
    }
}
