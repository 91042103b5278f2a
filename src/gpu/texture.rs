//! Images on a device: their formats in wgpu, the supported uses of each format, and the upload and
//! readback of texels.
//!
//! Texels are uploaded by copies. wgpu does not copy to 32-bit depths, so a full-screen triangle
//! writes those. Texels are read back by copies, whose rows are padded to the alignment of wgpu.

use smallstep_semantics::image::{Format, Image, Shape};

use super::open::OpenDevice;

/// The alignment in bytes of rows in a copy from a texture to a buffer, which wgpu requires.
const ROW: u64 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as u64;

/// The texture format of wgpu.
pub(super) fn format(format: Format) -> wgpu::TextureFormat {
    use wgpu::TextureFormat as T;
    match format {
        Format::R8Unorm => T::R8Unorm,
        Format::R8Snorm => T::R8Snorm,
        Format::R8Uint => T::R8Uint,
        Format::R8Sint => T::R8Sint,
        Format::Rg8Unorm => T::Rg8Unorm,
        Format::Rg8Snorm => T::Rg8Snorm,
        Format::Rg8Uint => T::Rg8Uint,
        Format::Rg8Sint => T::Rg8Sint,
        Format::Rgba8Unorm => T::Rgba8Unorm,
        Format::Rgba8Snorm => T::Rgba8Snorm,
        Format::Rgba8Uint => T::Rgba8Uint,
        Format::Rgba8Sint => T::Rgba8Sint,
        Format::Bgra8Unorm => T::Bgra8Unorm,
        Format::Rgb10A2Unorm => T::Rgb10a2Unorm,
        Format::R16Unorm => T::R16Unorm,
        Format::R16Snorm => T::R16Snorm,
        Format::R16Uint => T::R16Uint,
        Format::R16Sint => T::R16Sint,
        Format::R16Sfloat => T::R16Float,
        Format::Rg16Unorm => T::Rg16Unorm,
        Format::Rg16Snorm => T::Rg16Snorm,
        Format::Rg16Uint => T::Rg16Uint,
        Format::Rg16Sint => T::Rg16Sint,
        Format::Rg16Sfloat => T::Rg16Float,
        Format::Rgba16Unorm => T::Rgba16Unorm,
        Format::Rgba16Snorm => T::Rgba16Snorm,
        Format::Rgba16Uint => T::Rgba16Uint,
        Format::Rgba16Sint => T::Rgba16Sint,
        Format::Rgba16Sfloat => T::Rgba16Float,
        Format::R32Uint => T::R32Uint,
        Format::R32Sint => T::R32Sint,
        Format::R32Sfloat => T::R32Float,
        Format::Rg32Uint => T::Rg32Uint,
        Format::Rg32Sint => T::Rg32Sint,
        Format::Rg32Sfloat => T::Rg32Float,
        // There are no textures with three components, and `can_use` refuses these.
        Format::Rgb32Uint | Format::Rgba32Uint => T::Rgba32Uint,
        Format::Rgb32Sint | Format::Rgba32Sint => T::Rgba32Sint,
        Format::Rgb32Sfloat | Format::Rgba32Sfloat => T::Rgba32Float,
        // There are also no packed formats except Rgb10A2Unorm, and no 24-bit depths of
        // known layout.
        Format::Rgb10A2Snorm | Format::Rgb10A2Uint | Format::Rgb10A2Sint => T::Rgb10a2Unorm,
        Format::Bgr10A2Unorm | Format::Bgr10A2Snorm | Format::Bgr10A2Uint => T::Rgb10a2Unorm,
        Format::Rg4Unorm => T::R8Unorm,
        Format::Rgba4Unorm | Format::Bgra4Unorm | Format::R5G6B5Unorm | Format::B5G6R5Unorm => T::R16Unorm,
        Format::Rgb5A1Unorm | Format::Bgr5A1Unorm | Format::A1Rgb5Unorm => T::R16Unorm,
        Format::X8D24Unorm => T::Depth24Plus,
        Format::D16Unorm => T::Depth16Unorm,
        Format::D32Sfloat => T::Depth32Float,
    }
}

/// The vertex attribute format of wgpu. None if wgpu has no such format.
pub(super) fn vertex_format(format: Format) -> Option<wgpu::VertexFormat> {
    use wgpu::VertexFormat as V;
    Some(match format {
        Format::R8Unorm => V::Unorm8,
        Format::R8Snorm => V::Snorm8,
        Format::R8Uint => V::Uint8,
        Format::R8Sint => V::Sint8,
        Format::Rg8Unorm => V::Unorm8x2,
        Format::Rg8Snorm => V::Snorm8x2,
        Format::Rg8Uint => V::Uint8x2,
        Format::Rg8Sint => V::Sint8x2,
        Format::Rgba8Unorm => V::Unorm8x4,
        Format::Rgba8Snorm => V::Snorm8x4,
        Format::Rgba8Uint => V::Uint8x4,
        Format::Rgba8Sint => V::Sint8x4,
        Format::Bgra8Unorm => V::Unorm8x4Bgra,
        Format::Rgb10A2Unorm => V::Unorm10_10_10_2,
        Format::R16Unorm => V::Unorm16,
        Format::R16Snorm => V::Snorm16,
        Format::R16Uint => V::Uint16,
        Format::R16Sint => V::Sint16,
        Format::R16Sfloat => V::Float16,
        Format::Rg16Unorm => V::Unorm16x2,
        Format::Rg16Snorm => V::Snorm16x2,
        Format::Rg16Uint => V::Uint16x2,
        Format::Rg16Sint => V::Sint16x2,
        Format::Rg16Sfloat => V::Float16x2,
        Format::Rgba16Unorm => V::Unorm16x4,
        Format::Rgba16Snorm => V::Snorm16x4,
        Format::Rgba16Uint => V::Uint16x4,
        Format::Rgba16Sint => V::Sint16x4,
        Format::Rgba16Sfloat => V::Float16x4,
        Format::R32Uint => V::Uint32,
        Format::R32Sint => V::Sint32,
        Format::R32Sfloat => V::Float32,
        Format::Rg32Uint => V::Uint32x2,
        Format::Rg32Sint => V::Sint32x2,
        Format::Rg32Sfloat => V::Float32x2,
        Format::Rgb32Uint => V::Uint32x3,
        Format::Rgb32Sint => V::Sint32x3,
        Format::Rgb32Sfloat => V::Float32x3,
        Format::Rgba32Uint => V::Uint32x4,
        Format::Rgba32Sint => V::Sint32x4,
        Format::Rgba32Sfloat => V::Float32x4,
        Format::Rgb10A2Snorm | Format::Rgb10A2Uint | Format::Rgb10A2Sint => return None,
        Format::Bgr10A2Unorm | Format::Bgr10A2Snorm | Format::Bgr10A2Uint => return None,
        Format::Rg4Unorm | Format::Rgba4Unorm | Format::Bgra4Unorm | Format::R5G6B5Unorm | Format::B5G6R5Unorm => return None,
        Format::Rgb5A1Unorm | Format::Bgr5A1Unorm | Format::A1Rgb5Unorm => return None,
        Format::D16Unorm | Format::X8D24Unorm | Format::D32Sfloat => return None,
    })
}

/// The view dimension of wgpu. wgpu has no layers of 1D images, and [`OpenDevice::can_hold`]
/// refuses these.
pub(super) fn view_dimension(shape: Shape) -> wgpu::TextureViewDimension {
    match shape {
        Shape::D1 => wgpu::TextureViewDimension::D1,
        Shape::D2 => wgpu::TextureViewDimension::D2,
        Shape::D1Array | Shape::D2Array => wgpu::TextureViewDimension::D2Array,
        Shape::D3 => wgpu::TextureViewDimension::D3,
        Shape::Cube => wgpu::TextureViewDimension::Cube,
        Shape::CubeArray => wgpu::TextureViewDimension::CubeArray,
    }
}

fn extent([width, height, depth_or_array_layers]: [u32; 3]) -> wgpu::Extent3d {
    wgpu::Extent3d { width, height, depth_or_array_layers }
}

/// The rows of an image's first level in the readback.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    sides: [u32; 3],
    /// The bytes of a row without padding.
    row_bytes: usize,
}

impl Rows {
    pub(super) fn of(image: &Image) -> Rows {
        let sides = image.sides(0).unwrap_or([1; 3]);
        Rows { sides, row_bytes: sides[0] as usize * image.format().bytes() }
    }

    fn padded(self) -> u64 {
        (self.row_bytes as u64).next_multiple_of(ROW)
    }

    /// The bytes of readback memory for the level.
    pub(super) fn bytes(self) -> u64 {
        self.padded() * u64::from(self.sides[1]) * u64::from(self.sides[2])
    }

    /// Copies the first level of the texture to the readback, and advances the offset.
    pub(super) fn copy(self, encoder: &mut wgpu::CommandEncoder, texture: &wgpu::Texture, readback: &wgpu::Buffer, offset: &mut u64) {
        let bytes_per_row = Some(self.padded() as u32);
        let layout = wgpu::TexelCopyBufferLayout { offset: *offset, bytes_per_row, rows_per_image: Some(self.sides[1]) };
        let to = wgpu::TexelCopyBufferInfo { buffer: readback, layout };
        encoder.copy_texture_to_buffer(texture.as_image_copy(), to, extent(self.sides));
        *offset += self.bytes();
    }

    /// Takes the texels from the start of the bytes that were read back.
    pub(super) fn take(self, bytes: &mut &[u8]) -> Vec<u8> {
        let (level_bytes, after) = bytes.split_at(self.bytes() as usize);
        *bytes = after;
        level_bytes.chunks_exact(self.padded() as usize).flat_map(|row| &row[..self.row_bytes]).copied().collect()
    }
}

/// The shader that writes 32-bit depths. Its buffer holds the width of the level and then
/// its depths.
const FILL: &str = "
@group(0) @binding(0) var<storage, read> given: array<u32>;
@vertex fn triangle(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(select(-1.0, 3.0, i == 1u), select(-1.0, 3.0, i == 2u), 0.0, 1.0);
}
@fragment fn depth(@builtin(position) at: vec4<f32>) -> @builtin(frag_depth) f32 {
    return bitcast<f32>(given[1u + u32(at.y) * given[0] + u32(at.x)]);
}";

impl OpenDevice {
    /// Whether the device supports a usage of the format. The error names the purpose.
    pub(super) fn can_use(&self, of: Format, usage: wgpu::TextureUsages, what: &str) -> Result<(), String> {
        let name = of.name();
        let has_texels = of.channels().len() != 3 && (!of.is_packed() || of == Format::Rgb10A2Unorm) && of != Format::X8D24Unorm;
        let of = format(of);
        let allowed = has_texels
            && self.device.features().contains(of.required_features())
            && self.adapter.get_texture_format_features(of).allowed_usages.contains(usage);
        if allowed { Ok(()) } else { Err(format!("the device does not take the format {name} for {what}")) }
    }

    /// Whether the device can filter the format.
    pub(super) fn can_filter(&self, of: Format) -> bool {
        self.adapter.get_texture_format_features(format(of)).flags.contains(wgpu::TextureFormatFeatureFlags::FILTERABLE)
    }

    /// Whether the device supports the size, shape and format of the image.
    pub(super) fn can_hold(&self, image: &Image) -> Result<(), String> {
        let sides = image.sides(0).unwrap_or_default();
        let limits = self.device.limits();
        let (most, limit) = match image.shape() {
            Shape::CubeArray if !self.record.cube_arrays => return Err("an image is a cube with layers, which the device has not".into()),
            Shape::D1Array => return Err("an image has layers of one dimension, which wgpu has not".into()),
            Shape::D1 if image.levels() > 1 => return Err("an image of one dimension has several levels; wgpu has one".into()),
            Shape::D1 => (limits.max_texture_dimension_1d, "maxImageDimension1D"),
            Shape::D3 => (limits.max_texture_dimension_3d, "maxImageDimension3D"),
            Shape::D2 | Shape::D2Array | Shape::Cube | Shape::CubeArray => (self.record.max_texture_dimension_2d, "maxImageDimension2D"),
        };
        let box_side = if image.shape() == Shape::D3 { sides[2] } else { 1 };
        let side = u64::from(sides[0].max(sides[1]).max(box_side));
        self.within("texels in a row or column", side, limit, u64::from(most))?;
        if image.shape().is_layered() {
            self.within("layers", u64::from(sides[2]), "maxImageArrayLayers", u64::from(limits.max_texture_array_layers))?;
        }
        if image.format() == Format::D32Sfloat {
            let levels = (0..image.levels()).filter_map(|level| image.bytes(level));
            let depths = levels.flat_map(|bytes| bytes.chunks_exact(4)).map(|d| f32::from_le_bytes([d[0], d[1], d[2], d[3]]));
            if let Some(depth) = depths.into_iter().find(|d| !(d.is_sign_positive() && *d <= 1.0)) {
                return Err(format!("the depth {depth} is not within 0 and 1, and wgpu cannot give it to the device"));
            }
        }
        Ok(())
    }

    /// Makes a texture with the contents of the image. The copies precede everything that is
    /// submitted next.
    pub(super) fn texture(&self, encoder: &mut wgpu::CommandEncoder, image: &Image, usage: wgpu::TextureUsages) -> wgpu::Texture {
        let drawn = image.format() == Format::D32Sfloat;
        let to_fill = if drawn { wgpu::TextureUsages::RENDER_ATTACHMENT } else { wgpu::TextureUsages::COPY_DST };
        let texture = self.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: extent(image.sides(0).unwrap_or([1; 3])),
            mip_level_count: image.levels(),
            sample_count: 1,
            dimension: match image.shape() {
                Shape::D1 => wgpu::TextureDimension::D1,
                Shape::D3 => wgpu::TextureDimension::D3,
                Shape::D1Array | Shape::D2 | Shape::D2Array | Shape::Cube | Shape::CubeArray => wgpu::TextureDimension::D2,
            },
            format: format(image.format()),
            usage: usage | to_fill,
            view_formats: &[],
        });
        for level in 0..image.levels() {
            let (Some(sides), Some(bytes)) = (image.sides(level), image.bytes(level)) else { continue };
            let [width, height, _] = sides;
            if drawn {
                let layer_bytes = (width as usize * height as usize * image.format().bytes()).max(1);
                for (layer, bytes) in (0..).zip(bytes.chunks(layer_bytes)) {
                    self.draw_depths(encoder, &texture, (level, layer), width, bytes);
                }
                continue;
            }
            let to = wgpu::TexelCopyTextureInfo { mip_level: level, ..texture.as_image_copy() };
            let row = width * image.format().bytes() as u32;
            let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: Some(height) };
            self.queue.write_texture(to, bytes, layout, extent(sides));
        }
        texture
    }

    fn draw_depths(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        texture: &wgpu::Texture,
        (level, layer): (u32, u32),
        width: u32,
        bytes: &[u8],
    ) {
        let pipeline = self.filling.get_or_init(|| self.fill_pipeline());
        let contents: Vec<u8> = width.to_le_bytes().into_iter().chain(bytes.iter().copied()).collect();
        let buffer = self.filled(&contents, wgpu::BufferUsages::STORAGE);
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
        });
        let descriptor = wgpu::TextureViewDescriptor {
            dimension: Some(wgpu::TextureViewDimension::D2),
            base_mip_level: level,
            mip_level_count: Some(1),
            base_array_layer: layer,
            array_layer_count: Some(1),
            ..Default::default()
        };
        let view = texture.create_view(&descriptor);
        let ops = wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Store };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment { view: &view, depth_ops: Some(ops), stencil_ops: None }),
            ..Default::default()
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
    }

    fn fill_pipeline(&self) -> wgpu::RenderPipeline {
        let module =
            self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Wgsl(FILL.into()) });
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("triangle"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: wgpu::TextureFormat::Depth32Float,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Always),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("depth"),
                compilation_options: Default::default(),
                targets: &[],
            }),
            multiview_mask: None,
            cache: None,
        })
    }

    /// Makes a buffer with the bytes, padded with zeros to a whole number of words.
    pub(super) fn filled(&self, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: (bytes.len() as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT).max(wgpu::COPY_BUFFER_ALIGNMENT),
            usage,
            mapped_at_creation: true,
        });
        // If memory runs out there is no mapping, and the error scope has the error.
        if let Ok(mut view) = buffer.get_mapped_range_mut(..) {
            view.slice(..bytes.len()).copy_from_slice(bytes);
        }
        buffer.unmap();
        buffer
    }
}
