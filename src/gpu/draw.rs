//! Fragment programs: a full-screen triangle for each, and attachments that are reused.
//!
//! The triangle has z = 0 and w = 1 and covers the grid, so `FragCoord` is (x + 0.5, y + 0.5, 0,
//! 1). There is no blending, no multisampling and no depth.

use std::collections::HashMap;

use super::enumerate::TARGET_FORMAT;
use super::open::{Code, OpenDevice};
use crate::dispatch::resources::Needs;
use crate::dispatch::{FragmentDispatch, Frame};

/// The alignment in bytes of rows in a copy from a texture to a buffer, which wgpu requires.
const ROW: u64 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as u64;
/// The bytes of a pixel in a target.
const PIXEL: u64 = 16;
/// The most bytes of all attachments that are kept for later draws of the same size.
const KEPT_TEXTURES: u64 = 256 << 20;

/// The vertex stage of every pipeline. The three vertices make a triangle that covers the
/// whole viewport.
const VERTEX: &str = "
@vertex fn main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(select(-1.0, 3.0, i == 1u), select(-1.0, 3.0, i == 2u), 0.0, 1.0);
}";

/// Objects that all draws on a device share.
pub(super) struct DrawState {
    vertex: wgpu::ShaderModule,
    constants_layout: wgpu::BindGroupLayout,
    /// The layouts without and with the constants buffer.
    layouts: [wgpu::PipelineLayout; 2],
}

impl DrawState {
    pub(super) fn new(device: &wgpu::Device) -> DrawState {
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
        DrawState { vertex, constants_layout, layouts }
    }
}

/// A compiled fragment program, ready to draw.
#[derive(Clone)]
pub(crate) struct Drawable {
    pipeline: wgpu::RenderPipeline,
    constants: Option<wgpu::BindGroup>,
    width: u32,
    height: u32,
    locations: Vec<u32>,
    pub(super) words_hash: u64,
}

impl Drawable {
    fn row_bytes(&self) -> u64 {
        (u64::from(self.width) * PIXEL).next_multiple_of(ROW)
    }

    fn image_bytes(&self) -> u64 {
        self.row_bytes() * u64::from(self.height)
    }

    /// The bytes of readback memory that a draw takes.
    pub(super) fn readback_bytes(&self) -> u64 {
        self.image_bytes() * self.locations.len() as u64
    }

    /// The frame in the bytes that were read back.
    pub(super) fn frame(&self, bytes: &[u8]) -> Frame {
        let images = bytes.chunks_exact(self.image_bytes() as usize).take(self.locations.len());
        Frame { words_hash: self.words_hash, images: images.map(|image| self.unpadded(image)).collect() }
    }

    /// The pixels of an image whose rows are padded to [`ROW`].
    fn unpadded(&self, bytes: &[u8]) -> Vec<[u32; 4]> {
        let (width, height) = (self.width as usize, self.height as usize);
        let mut image = vec![[0u32; 4]; width * height];
        for (row, pixels) in bytes.chunks_exact(self.row_bytes() as usize).zip(image.chunks_exact_mut(width)) {
            bytemuck::cast_slice_mut::<[u32; 4], u8>(pixels).copy_from_slice(&row[..width * PIXEL as usize]);
        }
        image
    }
}

impl OpenDevice {
    pub(super) fn within_draw_limits(&self, dispatch: &FragmentDispatch) -> Result<(), String> {
        let record = &self.record;
        let width = u64::from(dispatch.width.max(dispatch.height));
        self.within("pixels in a row or column", width, "maxImageDimension2D", u64::from(record.max_texture_dimension_2d))?;
        let attachments = dispatch.outputs.iter().map(|t| u64::from(t.location) + 1).max().unwrap_or(0);
        self.within("colour attachments", attachments, "maxColorAttachments", u64::from(record.max_color_attachments))?;
        let bytes = dispatch.outputs.len() as u64 * PIXEL;
        let has = u64::from(record.max_color_attachment_bytes_per_sample);
        self.within("bytes of colour attachments per sample", bytes, "max_color_attachment_bytes_per_sample", has)?;
        let bytes = dispatch.constants.len() as u64 * 4;
        self.within("bytes of constants", bytes, "maxStorageBufferRange", record.max_storage_buffer_binding_size)
    }

    /// Whether every resource that the entry point uses is bound. Only the constants can be.
    pub(super) fn can_draw(&self, dispatch: &FragmentDispatch, needs: &Needs) -> Result<(), String> {
        let bound = (!dispatch.constants.is_empty()).then_some((Some(0), Some(0)));
        match needs.descriptors.iter().find(|d| Some((d.set, d.binding)) != bound) {
            None => Ok(()),
            Some(d) => {
                Err(format!("%{} uses a descriptor, and the program binds nothing there; it can have constants at set 0, binding 0", d.id))
            }
        }
    }

    pub(super) fn drawable(&self, dispatch: &FragmentDispatch, code: &Code) -> Drawable {
        let module = self.module(&dispatch.words, &dispatch.entry, code);
        let locations: Vec<u32> = dispatch.outputs.iter().map(|t| t.location).collect();
        let last = locations.iter().copied().max().unwrap_or(0);
        let targets: Vec<Option<wgpu::ColorTargetState>> =
            (0..=last).map(|at| locations.contains(&at).then_some(wgpu::ColorTargetState::from(TARGET_FORMAT))).collect();
        let pipeline = self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: Some(&self.drawing.layouts[usize::from(!dispatch.constants.is_empty())]),
            vertex: wgpu::VertexState {
                module: &self.drawing.vertex,
                entry_point: None,
                compilation_options: Default::default(),
                buffers: &[],
            },
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
        // If memory runs out there is no mapping, and the error scope has the error.
        if let Ok(mut view) = buffer.get_mapped_range_mut(..) {
            view.slice(..).copy_from_slice(bytemuck::cast_slice(words));
        }
        buffer.unmap();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.drawing.constants_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
        })
    }
}

/// An attachment that draws reuse.
struct Attachment {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
}

/// Attachments that are kept for later batches.
#[derive(Default)]
pub(super) struct Attachments {
    by_size: HashMap<(u32, u32), Vec<Attachment>>,
    bytes: u64,
}

impl Attachments {
    /// Draws, and copies the images to the buffer from the offset.
    pub(super) fn encode(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        drawable: &Drawable,
        buffer: &wgpu::Buffer,
        mut offset: u64,
    ) {
        let attachments = self.of_size(device, drawable);
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
                    layout: wgpu::TexelCopyBufferLayout { offset, bytes_per_row: Some(drawable.row_bytes() as u32), rows_per_image: None },
                },
                wgpu::Extent3d { width: drawable.width, height: drawable.height, depth_or_array_layers: 1 },
            );
            offset += drawable.image_bytes();
        }
    }

    /// Attachments of the drawable's size, one for each output. Draws of one size share them. wgpu
    /// inserts barriers, so the copy after one draw is ordered before the next draw.
    fn of_size(&mut self, device: &wgpu::Device, drawable: &Drawable) -> &[Attachment] {
        let size = (drawable.width, drawable.height);
        let bytes = u64::from(drawable.width) * u64::from(drawable.height) * PIXEL;
        let needed = drawable.locations.len();
        let kept_count = self.by_size.get(&size).map_or(0, Vec::len);
        let new_bytes = bytes * needed.saturating_sub(kept_count) as u64;
        if self.bytes + new_bytes > KEPT_TEXTURES {
            self.by_size.clear();
            self.bytes = 0;
        }
        let kept = self.by_size.entry(size).or_default();
        while kept.len() < needed {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
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
            self.bytes += bytes;
        }
        kept
    }
}
