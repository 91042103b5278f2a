//! Batches: many programs in one submission, with all their results read back together.

use std::sync::mpsc;

use super::compute::{BatchBuffers, Computation, Storage};
use super::draw::{Attachments, Drawable};
use super::open::{BatchError, OpenDevice, Scopes, sentence};
use super::render::Rendering;
use crate::dispatch::Shown;

/// The number of readback buffers that are kept for later batches.
const KEPT_BUFFERS: usize = 4;
/// The alignment of a program's readback, which a copy from a texture requires.
const READBACK_ALIGNMENT: u64 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as u64;

/// A compiled program, ready to run.
#[derive(Clone)]
pub(crate) enum Program {
    Draw(Drawable),
    Compute(Computation),
    Render(Rendering),
}

impl Program {
    /// The hash of the words that were compiled.
    pub(crate) fn words_hash(&self) -> u64 {
        match self {
            Program::Draw(drawable) => drawable.words_hash,
            Program::Compute(computation) => computation.words_hash,
            Program::Render(rendering) => rendering.words_hash,
        }
    }

    /// The bytes of memory that the program takes in its batch, for upload and readback.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Program::Draw(_) => self.readback_bytes(),
            Program::Compute(computation) => self.readback_bytes() + computation.given_bytes(),
            Program::Render(rendering) => self.readback_bytes() + rendering.upload_bytes(),
        }
    }

    fn readback_bytes(&self) -> u64 {
        let bytes = match self {
            Program::Draw(drawable) => drawable.readback_bytes(),
            Program::Compute(computation) => computation.readback_bytes(),
            Program::Render(rendering) => rendering.readback_bytes(),
        };
        bytes.next_multiple_of(READBACK_ALIGNMENT)
    }

    fn shown(&self, bytes: &[u8]) -> Shown {
        match self {
            Program::Draw(drawable) => Shown::Frame(drawable.frame(bytes)),
            Program::Compute(computation) => Shown::Buffers(computation.result(bytes)),
            Program::Render(rendering) => Shown::Drawn(rendering.result(bytes)),
        }
    }
}

/// Runs batches of programs on one device, from one thread. Attachments and buffers are reused by
/// later batches.
pub(crate) struct Runner<'d> {
    device: &'d OpenDevice,
    attachments: Attachments,
    storage: Storage,
    readback: Vec<wgpu::Buffer>,
}

/// A batch that has been submitted to the device.
pub(crate) struct Submitted {
    batch: Vec<Program>,
    buffer: wgpu::Buffer,
    buffers: BatchBuffers,
    submission: wgpu::SubmissionIndex,
    mapped: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
}

impl<'d> Runner<'d> {
    pub(crate) fn new(device: &'d OpenDevice) -> Runner<'d> {
        Runner { device, attachments: Attachments::default(), storage: Storage::default(), readback: Vec::new() }
    }

    /// Submits the whole batch at once, without waiting for it.
    pub(crate) fn submit(&mut self, batch: Vec<Program>) -> Result<Submitted, BatchError> {
        let device = self.device;
        let scopes = Scopes::push(&device.device);
        let submitted = self.encode(batch);
        match scopes.pop() {
            _ if device.lost().is_some() => Err(BatchError::Lost(device.lost().unwrap_or_default().to_owned())),
            None => Ok(submitted),
            Some(wgpu::Error::OutOfMemory { source }) => Err(BatchError::OutOfMemory(sentence(&*source))),
            Some(wgpu::Error::Validation { source, .. } | wgpu::Error::Internal { source, .. }) => {
                Err(BatchError::Refused(sentence(&*source)))
            }
        }
    }

    fn encode(&mut self, batch: Vec<Program>) -> Submitted {
        let device = &self.device.device;
        let bytes: u64 = batch.iter().map(Program::readback_bytes).sum();
        let buffer = self.readback_buffer(bytes);
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut computations = Vec::new();
        let mut offset = 0;
        for program in &batch {
            match program {
                Program::Draw(drawable) => self.attachments.encode(device, &mut encoder, drawable, &buffer, offset),
                Program::Compute(computation) => computations.push((computation, offset)),
                Program::Render(rendering) => rendering.encode(self.device, &mut encoder, &buffer, offset),
            }
            offset += program.readback_bytes();
        }
        let buffers = self.storage.encode(self.device, &mut encoder, &computations, &buffer);
        let submission = self.device.queue.submit([encoder.finish()]);
        let (done, mapped) = mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            let _ = done.send(result);
        });
        Submitted { batch, buffer, buffers, submission, mapped }
    }

    fn readback_buffer(&mut self, bytes: u64) -> wgpu::Buffer {
        if let Some(at) = self.readback.iter().position(|b| b.size() >= bytes) {
            return self.readback.swap_remove(at);
        }
        self.device.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes.next_power_of_two().max(1 << 16),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    /// Waits for a batch. Returns the results of its programs, in the batch's order.
    pub(crate) fn finish(&mut self, submitted: Submitted) -> Result<Vec<Shown>, BatchError> {
        let device = self.device;
        let lost_error = |text: String| BatchError::Lost(device.lost().map_or(text, str::to_owned));
        device
            .device
            .poll(wgpu::PollType::Wait { submission_index: Some(submitted.submission), timeout: None })
            .map_err(|error| lost_error(format!("waiting for the device failed: {error}")))?;
        match submitted.mapped.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                return Err(lost_error(format!("what the programs show could not be mapped: {error}")));
            }
            Err(_) => return Err(lost_error("what the programs show was never mapped".into())),
        }
        if device.lost().is_some() {
            return Err(lost_error(String::new()));
        }
        let view = submitted
            .buffer
            .get_mapped_range(..)
            .map_err(|error| lost_error(format!("what the programs show could not be read: {error}")))?;
        let mut rest: &[u8] = &view;
        let mut shown = Vec::with_capacity(submitted.batch.len());
        for program in &submitted.batch {
            let (bytes, after) = rest.split_at(program.readback_bytes() as usize);
            rest = after;
            shown.push(program.shown(bytes));
        }
        drop(view);
        submitted.buffer.unmap();
        if self.readback.len() < KEPT_BUFFERS {
            self.readback.push(submitted.buffer);
        }
        self.storage.take_back(submitted.buffers);
        Ok(shown)
    }
}
