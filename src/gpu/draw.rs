//! Drawing with wgpu, in this process: a module becomes a pipeline, a batch of pipelines one submission, a submission frames.
//!
//! One full-screen triangle with z = 0 and w = 1 covers the grid, so `FragCoord` is (x + 0.5, y + 0.5, 0, 1); no blending, no multisampling, no
//! depth. wgpu's robustness stays on, for it does not let go of it. Nothing here guards against a driver that crashes or hangs: the worker process
//! does. The worker and the bare half of the bench both draw with this.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock, mpsc};

use super::Route;
use super::adapters::{self, AdapterRecord, NoDevice, Selection, TARGET_FORMAT};
use super::capabilities;
use crate::dispatch::{FragmentDispatch, Frame};

/// wgpu asks for rows of this many bytes in a copy to a buffer.
const ROW: u64 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as u64;
/// Bytes of one pixel of one target.
const PIXEL: u64 = 16;
/// Attachments kept for the next draws of the same size, in bytes all together.
const KEPT_TEXTURES: u64 = 256 << 20;
/// Readback buffers kept for the next batches.
const KEPT_BUFFERS: usize = 4;

/// The vertex stage of every pipeline. The three vertices make one triangle that covers the whole viewport.
const VERTEX: &str = "
@vertex fn main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(select(-1.0, 3.0, i == 1u), select(-1.0, 3.0, i == 2u), 0.0, 1.0);
}";

/// Why a program was not drawn, with the device in good health.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Declined {
    /// wgpu, naga or the driver refused the module or its pipeline.
    Refused(String),
    /// The device cannot be asked: a limit or a capability, by name.
    Unchecked(String),
}

/// Why a batch has no frames.
#[derive(Debug)]
pub(crate) enum BatchError {
    /// wgpu refused the batch; one of its programs may be to blame.
    Refused(String),
    /// Memory ran out.
    OutOfMemory(String),
    /// The device is lost.
    Lost(String),
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (BatchError::Refused(text) | BatchError::OutOfMemory(text) | BatchError::Lost(text)) = self;
        f.write_str(text)
    }
}

/// An open device.
pub(crate) struct DrawDevice {
    pub(crate) record: AdapterRecord,
    pub(crate) route: Route,
    device: wgpu::Device,
    queue: wgpu::Queue,
    features: wgpu::Features,
    vertex: wgpu::ShaderModule,
    constants_layout: wgpu::BindGroupLayout,
    /// Without and with the constants buffer.
    layouts: [wgpu::PipelineLayout; 2],
    lost: Arc<OnceLock<String>>,
}

/// A compiled program, ready to be drawn.
#[derive(Clone)]
pub(crate) struct Drawable {
    pipeline: wgpu::RenderPipeline,
    constants: Option<wgpu::BindGroup>,
    width: u32,
    height: u32,
    locations: Vec<u32>,
    words_hash: u64,
}

impl Drawable {
    fn row_bytes(&self) -> u64 {
        (u64::from(self.width) * PIXEL).next_multiple_of(ROW)
    }

    fn image_bytes(&self) -> u64 {
        self.row_bytes() * u64::from(self.height)
    }

    /// The hash of the words that this was compiled from.
    pub(crate) fn words_hash(&self) -> u64 {
        self.words_hash
    }

    /// Bytes of readback memory that drawing this takes.
    pub(crate) fn readback_bytes(&self) -> u64 {
        self.image_bytes() * self.locations.len() as u64
    }
}

impl DrawDevice {
    /// Opens the selected adapter with everything that it offers of what programs may need: its own limits, and passthrough unless `route` is naga.
    /// Without a `route`, passthrough where it is offered, else naga.
    pub(crate) fn open(selection: &Selection, route: Option<Route>) -> Result<DrawDevice, NoDevice> {
        let mut adapters = adapters::enumerate();
        let records: Vec<AdapterRecord> = adapters.iter().map(|(record, _)| record.clone()).collect();
        let (record, adapter) = adapters.swap_remove(selection.choose(&records)?);
        if !record.float_targets {
            return Err(NoDevice(format!("{record} cannot draw to 32-bit float targets; nothing can be read from it bit for bit")));
        }
        let route = match route {
            Some(Route::Passthrough) if !record.passthrough => {
                return Err(NoDevice(format!("{record} offers no SPIR-V passthrough; the naga route remains")));
            }
            Some(route) => route,
            None if record.passthrough => Route::Passthrough,
            None => Route::Naga,
        };
        let mut features = adapter.features() & capabilities::OPTIONAL_FEATURES;
        if route == Route::Passthrough {
            features |= wgpu::Features::PASSTHROUGH_SHADERS;
        }
        #[allow(unsafe_code)]
        let experimental_features = if route == Route::Passthrough {
            // SAFETY: passthrough is asked for in order to give drivers modules that no validator of wgpu's has seen. The process that does so is
            // a worker that may crash, and holds nothing that a crash or a wild write could harm.
            unsafe { wgpu::ExperimentalFeatures::enabled() }
        } else {
            wgpu::ExperimentalFeatures::disabled()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: None,
            required_features: features,
            required_limits: adapter.limits(),
            experimental_features,
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        }))
        .map_err(|error| NoDevice(format!("{record} could not be opened: {}", sentence(&error))))?;
        let lost = Arc::new(OnceLock::new());
        device.set_device_lost_callback({
            let lost = lost.clone();
            move |reason, text| {
                let _ = lost.set(format!("{reason:?}: {text}"));
            }
        });
        let vertex =
            device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Wgsl(VERTEX.into()) });
        let constants_layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::FRAGMENT,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only: true },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        let layout = |groups: &[Option<&wgpu::BindGroupLayout>]| {
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor { label: None, bind_group_layouts: groups, immediate_size: 0 })
        };
        let layouts = [layout(&[]), layout(&[Some(&constants_layout)])];
        Ok(DrawDevice { record, route, features, vertex, constants_layout, layouts, lost, device, queue })
    }

    /// Makes the program's pipeline. May be called from many threads at once.
    pub(crate) fn compile(&self, dispatch: &FragmentDispatch) -> Result<Drawable, Declined> {
        dispatch.check().map_err(|malformed| Declined::Unchecked(malformed.0))?;
        self.within_limits(dispatch).map_err(Declined::Unchecked)?;
        if self.route == Route::Passthrough {
            capabilities::missing(&dispatch.words, &self.record, self.features).map_err(Declined::Unchecked)?;
        }
        let scopes = Scopes::push(&self.device);
        let made = self.pipeline(dispatch);
        match scopes.pop() {
            None => Ok(made),
            Some(wgpu::Error::OutOfMemory { source }) => {
                Err(Declined::Unchecked(format!("the device ran out of memory: {}", sentence(&*source))))
            }
            Some(wgpu::Error::Validation { source, .. } | wgpu::Error::Internal { source, .. }) => {
                Err(Declined::Refused(sentence(&*source)))
            }
        }
    }

    fn within_limits(&self, dispatch: &FragmentDispatch) -> Result<(), String> {
        let record = &self.record;
        let exceeds = |what: &str, needed: u64, limit: &str, has: u64| {
            if needed <= has { Ok(()) } else { Err(format!("the program needs {needed} {what}; the device's {limit} is {has}")) }
        };
        let width = u64::from(dispatch.width.max(dispatch.height));
        exceeds("pixels in a row or column", width, "maxImageDimension2D", u64::from(record.max_texture_dimension_2d))?;
        let attachments = dispatch.outputs.iter().map(|t| u64::from(t.location) + 1).max().unwrap_or(0);
        exceeds("colour attachments", attachments, "maxColorAttachments", u64::from(record.max_color_attachments))?;
        let bytes = dispatch.outputs.len() as u64 * PIXEL;
        let has = u64::from(record.max_color_attachment_bytes_per_sample);
        exceeds("bytes of colour attachments per sample", bytes, "max_color_attachment_bytes_per_sample", has)?;
        let bytes = dispatch.constants.len() as u64 * 4;
        exceeds("bytes of constants", bytes, "maxStorageBufferRange", record.max_storage_buffer_binding_size)
    }

    fn pipeline(&self, dispatch: &FragmentDispatch) -> Drawable {
        let module = match self.route {
            #[allow(unsafe_code)]
            // SAFETY: the framing, the version and the capabilities were checked by the caller. What else may be wrong with the words can crash or
            // corrupt this process, and this process is a worker that is there to be lost.
            Route::Passthrough => unsafe {
                self.device.create_shader_module_passthrough(wgpu::ShaderModuleDescriptorPassthrough {
                    label: None,
                    entry_points: Cow::Owned(vec![wgpu::PassthroughShaderEntryPoint {
                        name: Cow::Borrowed(&dispatch.entry),
                        workgroup_size: (0, 0, 0),
                    }]),
                    spirv: Some(Cow::Borrowed(&dispatch.words)),
                    ..Default::default()
                })
            },
            Route::Naga => self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: None,
                source: wgpu::ShaderSource::SpirV(Cow::Borrowed(&dispatch.words)),
            }),
        };
        let locations: Vec<u32> = dispatch.outputs.iter().map(|t| t.location).collect();
        let last = locations.iter().copied().max().unwrap_or(0);
        let targets: Vec<Option<wgpu::ColorTargetState>> =
            (0..=last).map(|at| locations.contains(&at).then_some(wgpu::ColorTargetState::from(TARGET_FORMAT))).collect();
        let pipeline = self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: Some(&self.layouts[usize::from(!dispatch.constants.is_empty())]),
            vertex: wgpu::VertexState { module: &self.vertex, entry_point: None, compilation_options: Default::default(), buffers: &[] },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some(&dispatch.entry),
                compilation_options: Default::default(),
                targets: &targets,
            }),
            multiview_mask: None,
            cache: None,
        });
        let constants = (!dispatch.constants.is_empty()).then(|| self.bind_constants(&dispatch.constants));
        Drawable { pipeline, constants, width: dispatch.width, height: dispatch.height, locations, words_hash: dispatch.words_hash() }
    }

    fn bind_constants(&self, words: &[u32]) -> wgpu::BindGroup {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: words.len() as u64 * 4,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: true,
        });
        // Without memory there is no mapping, and the error scope has the error.
        if let Ok(mut view) = buffer.get_mapped_range_mut(..) {
            view.slice(..).copy_from_slice(bytemuck::cast_slice(words));
        }
        buffer.unmap();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.constants_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
        })
    }

    /// What the driver said when the device was lost, if it was.
    pub(crate) fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }
}

/// An attachment that is drawn to again and again.
struct Attachment {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
}

/// Draws batches of programs with one device. Attachments and readback buffers are kept from batch to batch.
pub(crate) struct Painter<'d> {
    device: &'d DrawDevice,
    attachments: HashMap<(u32, u32), Vec<Attachment>>,
    attachment_bytes: u64,
    buffers: Vec<wgpu::Buffer>,
}

/// A batch that the device has been given.
pub(crate) struct Submitted {
    batch: Vec<Drawable>,
    buffer: wgpu::Buffer,
    submission: wgpu::SubmissionIndex,
    mapped: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
}

impl<'d> Painter<'d> {
    pub(crate) fn new(device: &'d DrawDevice) -> Painter<'d> {
        Painter { device, attachments: HashMap::new(), attachment_bytes: 0, buffers: Vec::new() }
    }

    /// Gives the device the whole batch in one submission and does not wait for it.
    pub(crate) fn submit(&mut self, batch: Vec<Drawable>) -> Result<Submitted, BatchError> {
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

    fn encode(&mut self, batch: Vec<Drawable>) -> Submitted {
        let device = &self.device.device;
        let bytes: u64 = batch.iter().map(Drawable::readback_bytes).sum();
        let buffer = self.readback_buffer(bytes);
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut offset = 0;
        for drawable in &batch {
            self.draw(&mut encoder, drawable, &buffer, &mut offset);
        }
        let submission = self.device.queue.submit([encoder.finish()]);
        let (done, mapped) = mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            let _ = done.send(result);
        });
        Submitted { batch, buffer, submission, mapped }
    }

    fn draw(&mut self, encoder: &mut wgpu::CommandEncoder, drawable: &Drawable, buffer: &wgpu::Buffer, offset: &mut u64) {
        let attachments = self.attachments(drawable);
        let last = drawable.locations.iter().copied().max().unwrap_or(0);
        let views: Vec<Option<wgpu::RenderPassColorAttachment<'_>>> = (0..=last)
            .map(|location| {
                let at = drawable.locations.iter().position(|l| *l == location)?;
                Some(wgpu::RenderPassColorAttachment {
                    view: &attachments[at].view,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT), store: wgpu::StoreOp::Store },
                })
            })
            .collect();
        {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor { color_attachments: &views, ..Default::default() });
            pass.set_pipeline(&drawable.pipeline);
            if let Some(constants) = &drawable.constants {
                pass.set_bind_group(0, constants, &[]);
            }
            pass.draw(0..3, 0..1);
        }
        for attachment in &attachments[..drawable.locations.len()] {
            encoder.copy_texture_to_buffer(
                attachment.texture.as_image_copy(),
                wgpu::TexelCopyBufferInfo {
                    buffer,
                    layout: wgpu::TexelCopyBufferLayout {
                        offset: *offset,
                        bytes_per_row: Some(drawable.row_bytes() as u32),
                        rows_per_image: None,
                    },
                },
                wgpu::Extent3d { width: drawable.width, height: drawable.height, depth_or_array_layers: 1 },
            );
            *offset += drawable.image_bytes();
        }
    }

    /// As many attachments of the drawable's size as it has outputs. Draws of one size share them: the copy out of one draw is ordered before the
    /// next draw by the barriers that wgpu puts there.
    fn attachments(&mut self, drawable: &Drawable) -> &[Attachment] {
        let size = (drawable.width, drawable.height);
        let bytes = u64::from(drawable.width) * u64::from(drawable.height) * PIXEL;
        let needed = drawable.locations.len();
        let have = self.attachments.get(&size).map_or(0, Vec::len);
        let more = bytes * needed.saturating_sub(have) as u64;
        if self.attachment_bytes + more > KEPT_TEXTURES {
            self.attachments.clear();
            self.attachment_bytes = 0;
        }
        let kept = self.attachments.entry(size).or_default();
        while kept.len() < needed {
            let texture = self.device.device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width: size.0, height: size.1, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: TARGET_FORMAT,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
                view_formats: &[],
            });
            let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
            kept.push(Attachment { texture, view });
            self.attachment_bytes += bytes;
        }
        kept
    }

    fn readback_buffer(&mut self, bytes: u64) -> wgpu::Buffer {
        if let Some(at) = self.buffers.iter().position(|b| b.size() >= bytes) {
            return self.buffers.swap_remove(at);
        }
        self.device.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes.next_power_of_two().max(1 << 16),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    /// Waits for a batch and gives its frames, in the batch's order.
    pub(crate) fn finish(&mut self, submitted: Submitted) -> Result<Vec<Frame>, BatchError> {
        let device = self.device;
        let lost = |text: String| BatchError::Lost(device.lost().map_or(text, str::to_owned));
        device
            .device
            .poll(wgpu::PollType::Wait { submission_index: Some(submitted.submission), timeout: None })
            .map_err(|error| lost(format!("waiting for the device failed: {error}")))?;
        match submitted.mapped.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                return Err(lost(format!("the drawn pixels could not be mapped: {error}")));
            }
            Err(_) => return Err(lost("the drawn pixels were never mapped".into())),
        }
        if device.lost().is_some() {
            return Err(lost(String::new()));
        }
        let view = submitted.buffer.get_mapped_range(..).map_err(|error| lost(format!("the drawn pixels could not be read: {error}")))?;
        let mut rest: &[u8] = &view;
        let mut frames = Vec::with_capacity(submitted.batch.len());
        for drawable in &submitted.batch {
            let mut images = Vec::with_capacity(drawable.locations.len());
            for _ in &drawable.locations {
                let (bytes, after) = rest.split_at(drawable.image_bytes() as usize);
                rest = after;
                images.push(unpadded(bytes, drawable));
            }
            frames.push(Frame { words_hash: drawable.words_hash, images });
        }
        drop(view);
        submitted.buffer.unmap();
        if self.buffers.len() < KEPT_BUFFERS {
            self.buffers.push(submitted.buffer);
        }
        Ok(frames)
    }
}

/// The pixels of an image whose rows are padded to what wgpu asks for.
fn unpadded(bytes: &[u8], drawable: &Drawable) -> Vec<[u32; 4]> {
    let (width, height) = (drawable.width as usize, drawable.height as usize);
    let mut image = vec![[0u32; 4]; width * height];
    for (row, pixels) in bytes.chunks_exact(drawable.row_bytes() as usize).zip(image.chunks_exact_mut(width)) {
        bytemuck::cast_slice_mut::<[u32; 4], u8>(pixels).copy_from_slice(&row[..width * PIXEL as usize]);
    }
    image
}

/// Error scopes for everything that wgpu reports. They belong to the thread.
struct Scopes([wgpu::ErrorScopeGuard; 3]);

impl Scopes {
    fn push(device: &wgpu::Device) -> Scopes {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        Scopes([Validation, Internal, OutOfMemory].map(|filter| device.push_error_scope(filter)))
    }

    fn pop(self) -> Option<wgpu::Error> {
        let [validation, internal, memory] = self.0;
        // Popped in reverse; the one that explains most is given.
        let memory = pollster::block_on(memory.pop());
        let internal = pollster::block_on(internal.pop());
        let validation = pollster::block_on(validation.pop());
        memory.or(internal).or(validation)
    }
}

/// An error and its causes in one line.
fn sentence(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
