//! Compute programs: layouts for their buffers, buffers that are filled, bound, and read back again and again.
//!
//! All programs of a batch are in one compute pass. Each has buffers of its own, so nothing orders them among each other: their contents come from one
//! upload before the pass, and go to the batch's readback after it. A buffer of the pool may be longer than what is bound of it.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};

use smallstep_semantics::spirv::Buffer;

use super::open::OpenDevice;
use crate::dispatch::resources::{Behind, Needs};
use crate::dispatch::{BufferBinding, BufferKind, ComputeDispatch, ComputeResult};

/// What a buffer's size is a multiple of, in a copy.
const WORD: u64 = wgpu::COPY_BUFFER_ALIGNMENT;
/// The smallest buffer of the pool.
const SMALLEST: u64 = 256;
/// The most bytes that the pool keeps.
const KEPT_BYTES: u64 = 256 << 20;
/// The most layouts kept at once.
const KEPT_LAYOUTS: usize = 1 << 10;

/// The layouts made so far, by what they are layouts of.
#[derive(Default)]
pub(super) struct Layouts(Mutex<HashMap<Signature, Arc<Layout>>>);

impl Layouts {
    /// After an error that may have been one of theirs.
    pub(super) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// What two programs have in common that can share a layout: places and kinds, ascending, and bytes of push constants.
type Signature = (Vec<(u32, u32, BufferKind)>, u32);

struct Layout {
    /// By set; None for a set without buffers.
    groups: Vec<Option<wgpu::BindGroupLayout>>,
    pipeline: wgpu::PipelineLayout,
}

impl Layout {
    fn new(device: &wgpu::Device, (places, push_constants): &Signature) -> Layout {
        let sets = places.last().map_or(0, |(set, ..)| set + 1);
        let group = |set: u32| {
            let entries: Vec<wgpu::BindGroupLayoutEntry> = places.iter().filter(|(s, ..)| *s == set).map(entry).collect();
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

fn entry(&(_, binding, kind): &(u32, u32, BufferKind)) -> wgpu::BindGroupLayoutEntry {
    let ty = match kind {
        BufferKind::Uniform => wgpu::BufferBindingType::Uniform,
        BufferKind::ReadOnly => wgpu::BufferBindingType::Storage { read_only: true },
        BufferKind::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
    };
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}

/// A compiled compute program, ready to be run.
#[derive(Clone)]
pub(crate) struct Computation {
    pipeline: wgpu::ComputePipeline,
    layout: Arc<Layout>,
    dispatch: Arc<ComputeDispatch>,
    pub(super) words_hash: u64,
}

impl Computation {
    /// Bytes of memory that giving the buffers to the device takes.
    pub(super) fn upload_bytes(&self) -> u64 {
        self.dispatch.buffers.iter().map(padded).sum()
    }

    /// Bytes of readback memory that running this takes.
    pub(super) fn readback_bytes(&self) -> u64 {
        self.dispatch.shown().map(padded).sum()
    }

    /// The result in what was read back.
    pub(super) fn result(&self, mut bytes: &[u8]) -> ComputeResult {
        let mut buffers = Vec::new();
        for buffer in self.dispatch.shown() {
            let (own, after) = bytes.split_at(padded(buffer) as usize);
            bytes = after;
            buffers.push(Buffer { set: buffer.set, binding: buffer.binding, bytes: own[..buffer.bytes.len()].to_vec() });
        }
        ComputeResult { words_hash: self.words_hash, buffers }
    }
}

fn padded(buffer: &BufferBinding) -> u64 {
    (buffer.bytes.len() as u64).next_multiple_of(WORD)
}

impl OpenDevice {
    pub(super) fn within_compute_limits(&self, dispatch: &ComputeDispatch) -> Result<(), String> {
        let limits = &self.record.compute;
        for groups in dispatch.groups {
            let has = u64::from(limits.max_workgroups_per_dimension);
            self.within("workgroups in one dimension", u64::from(groups), "maxComputeWorkGroupCount", has)?;
        }
        let sets = dispatch.buffers.iter().map(|buffer| u64::from(buffer.set) + 1).max().unwrap_or(0);
        self.within("descriptor sets", sets, "maxBoundDescriptorSets", u64::from(limits.max_descriptor_sets))?;
        let of_kind = |uniform: bool| dispatch.buffers.iter().filter(move |buffer| (buffer.kind == BufferKind::Uniform) == uniform);
        let count = of_kind(false).count() as u64;
        self.within("storage buffers", count, "maxPerStageDescriptorStorageBuffers", u64::from(limits.max_storage_buffers))?;
        let count = of_kind(true).count() as u64;
        self.within("uniform buffers", count, "maxPerStageDescriptorUniformBuffers", u64::from(limits.max_uniform_buffers))?;
        for buffer in of_kind(false) {
            let bytes = buffer.bytes.len() as u64;
            self.within("bytes in a storage buffer", bytes, "maxStorageBufferRange", self.record.max_storage_buffer_binding_size)?;
            if !bytes.is_multiple_of(WORD) {
                let (set, binding) = (buffer.set, buffer.binding);
                return Err(format!(
                    "the storage buffer at set {set}, binding {binding} has {bytes} bytes; wgpu binds multiples of {WORD}"
                ));
            }
        }
        for buffer in of_kind(true) {
            let bytes = buffer.bytes.len() as u64;
            self.within("bytes in a uniform buffer", bytes, "maxUniformBufferRange", limits.max_uniform_buffer_binding_size)?;
        }
        self.within("bytes of buffers", dispatch.buffers.iter().map(padded).sum(), "max_buffer_size", limits.max_buffer_size)?;
        let bytes = dispatch.push_constants.len() as u64;
        self.within("bytes of push constants", bytes, "maxPushConstantsSize", u64::from(limits.max_push_constants_size))
    }

    /// Whether everything that the entry point uses is there, of the right kind and size, and where wgpu will put it.
    pub(super) fn can_compute(&self, dispatch: &ComputeDispatch, needs: &Needs) -> Result<(), String> {
        let limits = &self.record.compute;
        if let Some(size) = needs.local_size {
            for (size, has) in size.into_iter().zip(limits.max_workgroup_size) {
                self.within("invocations in one dimension of a workgroup", u64::from(size), "maxComputeWorkGroupSize", u64::from(has))?;
            }
            let product = size.into_iter().map(u64::from).fold(1, u64::saturating_mul);
            let has = u64::from(limits.max_invocations_per_workgroup);
            self.within("invocations in a workgroup", product, "maxComputeWorkGroupInvocations", has)?;
        }
        let has = u64::from(limits.max_workgroup_storage_size);
        self.within("bytes of workgroup memory", needs.workgroup_bytes, "maxComputeSharedMemorySize", has)?;
        let (needed, given) = (needs.push_constant_bytes, dispatch.push_constants.len());
        if needed > given as u64 {
            return Err(format!("the program uses {needed} bytes of push constants, and is given {given}"));
        }
        for descriptor in &needs.descriptors {
            let id = descriptor.id;
            let (Some(set), Some(binding)) = (descriptor.set, descriptor.binding) else {
                return Err(format!("%{id} has no descriptor set, or no binding"));
            };
            let Some(buffer) = dispatch.buffers.iter().find(|b| (b.set, b.binding) == (set, binding)) else {
                return Err(format!("the program uses %{id} at set {set}, binding {binding}, and is given no buffer there"));
            };
            match (descriptor.behind, buffer.kind) {
                (Behind::Uniform, BufferKind::Uniform) | (Behind::Storage, BufferKind::ReadOnly | BufferKind::ReadWrite) => {}
                (Behind::Uniform | Behind::Storage, kind) => {
                    let other = if kind == BufferKind::Uniform { "storage" } else { "uniform" };
                    let kind = kind.name();
                    return Err(format!("%{id} at set {set}, binding {binding} is a {other} buffer, and is given a {kind} buffer"));
                }
                (Behind::Opaque, _) => {
                    return Err(format!("%{id} at set {set}, binding {binding} is an image or a sampler; a program is given buffers"));
                }
                (Behind::Array, _) => {
                    return Err(format!("%{id} at set {set}, binding {binding} is an array of descriptors, of which none are made"));
                }
            }
        }
        for buffer in &dispatch.buffers {
            let (set, binding) = (buffer.set, buffer.binding);
            let below = dispatch.buffers.iter().filter(|b| b.set == set && b.binding < binding).count();
            if below as u64 != u64::from(binding) {
                return Err(format!(
                    "set {set}, binding {binding} has {below} buffers below it, and wgpu would give it to the driver as binding {below}; the pass `bindings` closes gaps"
                ));
            }
        }
        Ok(())
    }

    pub(super) fn computation(&self, dispatch: &Arc<ComputeDispatch>) -> Computation {
        let layout = self.layout(dispatch);
        let module = self.module(&dispatch.words, &dispatch.entry);
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout.pipeline),
            module: &module,
            entry_point: Some(&dispatch.entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Workgroup memory is undefined until it is written, and a device may show so; wgpu would have naga clear it.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        Computation { pipeline, layout, dispatch: dispatch.clone(), words_hash: dispatch.words_hash() }
    }

    fn layout(&self, dispatch: &ComputeDispatch) -> Arc<Layout> {
        let mut places: Vec<_> = dispatch.buffers.iter().map(|b| (b.set, b.binding, b.kind)).collect();
        places.sort_unstable();
        let signature = (places, dispatch.push_constants.len() as u32);
        let mut made = self.layouts.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layout) = made.get(&signature) {
            return layout.clone();
        }
        if made.len() >= KEPT_LAYOUTS {
            made.clear();
        }
        let layout = Arc::new(Layout::new(&self.device, &signature));
        made.insert(signature, layout.clone());
        layout
    }
}

/// Buffers for the programs of batches, kept by size.
#[derive(Default)]
pub(super) struct Storage {
    kept: HashMap<u64, Vec<wgpu::Buffer>>,
    bytes: u64,
}

/// The buffers of a batch that is under way.
pub(super) struct Lent(Vec<wgpu::Buffer>);

impl Storage {
    /// Runs the programs in one pass, and copies what they show to the readback, from the offset of each.
    pub(super) fn encode(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        computations: &[(&Computation, u64)],
        readback: &wgpu::Buffer,
    ) -> Lent {
        if computations.is_empty() {
            return Lent(Vec::new());
        }
        let lent = self.upload(device, encoder, computations);
        let bound: Vec<_> = computations
            .iter()
            .scan(&lent[..], |rest, (computation, _)| {
                let (own, after) = rest.split_at(computation.dispatch.buffers.len());
                *rest = after;
                Some(own)
            })
            .collect();
        let groups: Vec<_> = computations.iter().zip(&bound).map(|((computation, _), own)| bind(device, computation, own)).collect();
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for ((computation, _), groups) in computations.iter().zip(&groups) {
                pass.set_pipeline(&computation.pipeline);
                for (set, group) in groups {
                    pass.set_bind_group(*set, group, &[]);
                }
                if !computation.dispatch.push_constants.is_empty() {
                    pass.set_immediates(0, &computation.dispatch.push_constants);
                }
                let [x, y, z] = computation.dispatch.groups;
                pass.dispatch_workgroups(x, y, z);
            }
        }
        for ((computation, offset), own) in computations.iter().zip(&bound) {
            let mut offset = *offset;
            for (given, buffer) in computation.dispatch.buffers.iter().zip(*own) {
                if given.kind == BufferKind::ReadWrite {
                    encoder.copy_buffer_to_buffer(buffer, 0, readback, offset, padded(given));
                    offset += padded(given);
                }
            }
        }
        Lent(lent)
    }

    /// The buffers of all the programs, in order, filled from one upload.
    fn upload(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        computations: &[(&Computation, u64)],
    ) -> Vec<wgpu::Buffer> {
        let size: u64 = computations.iter().map(|(computation, _)| computation.upload_bytes()).sum();
        let upload = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: size.max(WORD),
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        let given = || computations.iter().flat_map(|(computation, _)| &computation.dispatch.buffers);
        // Without memory there is no mapping, and the error scope has the error.
        if let Ok(mut view) = upload.get_mapped_range_mut(..) {
            let mut offset = 0;
            for buffer in given() {
                view.slice(offset..offset + buffer.bytes.len()).copy_from_slice(&buffer.bytes);
                offset += padded(buffer) as usize;
            }
        }
        upload.unmap();
        let mut lent = Vec::new();
        let mut offset = 0;
        for buffer in given() {
            let own = self.lend(device, padded(buffer));
            encoder.copy_buffer_to_buffer(&upload, offset, &own, 0, padded(buffer));
            offset += padded(buffer);
            lent.push(own);
        }
        lent
    }

    fn lend(&mut self, device: &wgpu::Device, bytes: u64) -> wgpu::Buffer {
        // Sizes beyond a mebibyte are rounded up less, so that no more than the limit is asked for.
        let size = if bytes <= 1 << 20 { bytes.next_power_of_two().max(SMALLEST) } else { bytes };
        if let Some(buffer) = self.kept.get_mut(&size).and_then(Vec::pop) {
            self.bytes -= size;
            return buffer;
        }
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    /// Keeps the buffers of a batch that is done for the next ones.
    pub(super) fn take_back(&mut self, Lent(buffers): Lent) {
        for buffer in buffers {
            if self.bytes + buffer.size() > KEPT_BYTES {
                self.kept.clear();
                self.bytes = 0;
            }
            if buffer.size() <= KEPT_BYTES {
                self.bytes += buffer.size();
                self.kept.entry(buffer.size()).or_default().push(buffer);
            }
        }
    }
}

/// The bind groups of a program whose buffers are these, by set.
fn bind(device: &wgpu::Device, computation: &Computation, own: &[wgpu::Buffer]) -> Vec<(u32, wgpu::BindGroup)> {
    let mut groups = Vec::new();
    for (set, layout) in (0u32..).zip(&computation.layout.groups) {
        let Some(layout) = layout else { continue };
        let given = computation.dispatch.buffers.iter().zip(own).filter(|(given, _)| given.set == set);
        let entries: Vec<wgpu::BindGroupEntry<'_>> = given
            .map(|(given, buffer)| wgpu::BindGroupEntry {
                binding: given.binding,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset: 0,
                    size: NonZeroU64::new(given.bytes.len() as u64),
                }),
            })
            .collect();
        groups.push((set, device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })));
    }
    groups
}
