//! Compute programs: buffers that are filled, bound and read back, and reused, and images.
//!
//! All programs of a batch are in one compute pass. Each has its own buffers and images, so no
//! order between them is needed. The contents of the buffers come from one upload before the pass,
//! and go to the batch's readback after it. A buffer of the pool may be longer than the part that
//! is bound.

use std::collections::HashMap;
use std::sync::Arc;

use super::bound::{self, Layout, WORD, padded};
use super::open::{Code, OpenDevice};
use crate::dispatch::resources::Needs;
use crate::dispatch::{ComputeDispatch, ComputeResult};

/// The least size of a buffer in the pool.
const SMALLEST: u64 = 256;
/// The most bytes that the pool keeps.
const KEPT_BYTES: u64 = 256 << 20;

/// A compiled compute program, ready to run.
#[derive(Clone)]
pub(crate) struct Computation {
    pipeline: wgpu::ComputePipeline,
    layout: Arc<Layout>,
    dispatch: Arc<ComputeDispatch>,
    pub(super) words_hash: u64,
}

impl Computation {
    /// The bytes of memory to upload the buffers.
    pub(super) fn upload_bytes(&self) -> u64 {
        self.dispatch.buffers.iter().map(padded).sum()
    }

    /// The bytes of memory to upload buffers and images.
    pub(super) fn given_bytes(&self) -> u64 {
        self.dispatch.bound().given_bytes()
    }

    /// The bytes of readback memory that a run takes.
    pub(super) fn readback_bytes(&self) -> u64 {
        bound::readback_bytes(self.dispatch.bound())
    }

    /// The result in the bytes that were read back.
    pub(super) fn result(&self, bytes: &[u8]) -> ComputeResult {
        let (images, buffers) = bound::shown(self.dispatch.bound(), bytes);
        ComputeResult { words_hash: self.words_hash, buffers, images }
    }
}

impl OpenDevice {
    pub(super) fn within_compute_limits(&self, dispatch: &ComputeDispatch) -> Result<(), String> {
        let limits = &self.record.compute;
        for groups in dispatch.groups {
            let has = u64::from(limits.max_workgroups_per_dimension);
            self.within("workgroups in one dimension", u64::from(groups), "maxComputeWorkGroupCount", has)?;
        }
        self.within_bound_limits(dispatch.bound())
    }

    /// Whether every resource that the entry point uses is bound, with the right kind and size, and
    /// at the place where wgpu will put it.
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
        self.check_resources(dispatch.bound(), needs)?;
        self.is_dense(dispatch.bound())
    }

    pub(super) fn computation(&self, dispatch: &Arc<ComputeDispatch>, code: &Code) -> Computation {
        let layout = self.layout(dispatch.bound(), |_| wgpu::ShaderStages::COMPUTE, &code.handles, &code.read_only);
        let module = self.module(&dispatch.words, &dispatch.entry, code);
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout.pipeline),
            module: &module,
            entry_point: code.entry(&dispatch.entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Workgroup memory is undefined until it is written, and a device may show that. By
                // default, wgpu makes naga clear it.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        Computation { pipeline, layout, dispatch: dispatch.clone(), words_hash: dispatch.words_hash() }
    }
}

/// A pool of buffers for the programs of batches, by size.
#[derive(Default)]
pub(super) struct Storage {
    kept: HashMap<u64, Vec<wgpu::Buffer>>,
    bytes: u64,
}

/// The buffers of a batch that is running.
pub(super) struct BatchBuffers(Vec<wgpu::Buffer>);

impl Storage {
    /// Runs the programs in one pass, and copies the result of each to its offset in the readback.
    pub(super) fn encode(
        &mut self,
        open: &OpenDevice,
        encoder: &mut wgpu::CommandEncoder,
        computations: &[(&Computation, u64)],
        readback: &wgpu::Buffer,
    ) -> BatchBuffers {
        if computations.is_empty() {
            return BatchBuffers(Vec::new());
        }
        let buffers = self.upload(&open.device, encoder, computations);
        let textures: Vec<_> = computations.iter().map(|(computation, _)| open.textures(encoder, computation.dispatch.bound())).collect();
        let program_buffers: Vec<_> = computations
            .iter()
            .scan(&buffers[..], |rest, (computation, _)| {
                let (buffers, after) = rest.split_at(computation.dispatch.buffers.len());
                *rest = after;
                Some(buffers)
            })
            .collect();
        let groups: Vec<_> = (computations.iter().zip(&program_buffers).zip(&textures))
            .map(|(((computation, _), buffers), textures)| open.bind(&computation.layout, computation.dispatch.bound(), textures, buffers))
            .collect();
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
        for (((computation, offset), buffers), textures) in computations.iter().zip(&program_buffers).zip(&textures) {
            bound::copy_back(encoder, computation.dispatch.bound(), (textures, buffers), readback, *offset);
        }
        BatchBuffers(buffers)
    }

    /// The buffers of all programs, in order, filled from one upload.
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
        let bindings = || computations.iter().flat_map(|(computation, _)| &computation.dispatch.buffers);
        // If memory runs out there is no mapping, and the error scope has the error.
        if let Ok(mut view) = upload.get_mapped_range_mut(..) {
            let mut offset = 0;
            for buffer in bindings() {
                view.slice(offset..offset + buffer.bytes.len()).copy_from_slice(&buffer.bytes);
                offset += padded(buffer) as usize;
            }
        }
        upload.unmap();
        let mut buffers = Vec::new();
        let mut offset = 0;
        for buffer in bindings() {
            let device_buffer = self.take_buffer(device, padded(buffer));
            encoder.copy_buffer_to_buffer(&upload, offset, &device_buffer, 0, padded(buffer));
            offset += padded(buffer);
            buffers.push(device_buffer);
        }
        buffers
    }

    fn take_buffer(&mut self, device: &wgpu::Device, bytes: u64) -> wgpu::Buffer {
        // Sizes above a mebibyte are not rounded up to a power of two, so that they stay below
        // the limit.
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

    /// Returns the buffers of a finished batch to the pool.
    pub(super) fn take_back(&mut self, BatchBuffers(buffers): BatchBuffers) {
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
