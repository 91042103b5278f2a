//! Draws: both stages of the dispatch with their inputs, and attachments whose contents are
//! uploaded before and read back after.
//!
//! Vulkan's conventions hold, not wgpu's. wgpu mirrors every viewport: it gives the driver the
//! negated height of its rectangle, and the lower end as the origin. So it can express a Vulkan
//! viewport of negative height exactly. Facing agrees too, since it is decided in framebuffer
//! coordinates. A viewport of positive height cannot be expressed and is unchecked. The pass
//! [`crate::compile::viewport`] turns such a draw into one with a negative height and a vertex
//! stage that negates `Position.y`.
//!
//! wgpu restarts indexed strips, has no fans, and requires strides of whole words. So indexed
//! strips and fans become lists with the same provoking vertices, and attributes are packed anew.
//! The numbers of vertices and instances that the stages see stay the same.

use std::sync::Arc;

use rspirv::spirv::ExecutionMode;
use smallstep_semantics::raster::{self, Cull, FrontFace, Topology};
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Rate};
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::{Instruction, decode};

use super::Route;
use super::bound::{self, Layout};
use super::open::{Code, OpenDevice};
use super::texture::{self, Rows};
use crate::dispatch::resources::Needs;
use crate::dispatch::{DrawDispatch, DrawResult, Geometry, MAX_BUFFER_BYTES};

/// A compiled draw, ready to run.
#[derive(Clone)]
pub(crate) struct Rendering {
    pipeline: wgpu::RenderPipeline,
    layout: Arc<Layout>,
    dispatch: Arc<DrawDispatch>,
    assembled: Arc<Assembled>,
    /// Whether it has a depth attachment that is not read back, in which every fragment passes.
    scratch_depth: bool,
    pub(super) words_hash: u64,
}

/// Vertices in the form of wgpu.
struct Assembled {
    /// The index of each vertex. None for consecutive vertices from the first on.
    indices: Option<Vec<u32>>,
    /// For each attribute, its items from number 0, padded to whole words, and the bytes of
    /// each item.
    attributes: Vec<(Vec<u8>, u64)>,
}

impl Assembled {
    fn of(geometry: &Geometry) -> Result<Assembled, String> {
        let indices = match (&geometry.indices, geometry.topology) {
            (None, Topology::List | Topology::Strip | Topology::Points | Topology::Lines | Topology::LineStrip) => None,
            (Some(_), Topology::List | Topology::Points | Topology::Lines) => Some(geometry.vertex_numbers().map_err(|e| e.0)?),
            (_, topology) => {
                let numbers = geometry.vertex_numbers().map_err(|e| e.0)?;
                let triangles = 0..topology.triangles(numbers.len());
                let corners = triangles.flat_map(|i| topology.triangle(i).into_iter().take(topology.corners()));
                Some(corners.map(|vertex| numbers[vertex]).collect())
            }
        };
        let packed = |attribute| items(geometry, attribute);
        Ok(Assembled { indices, attributes: geometry.attributes.iter().map(packed).collect::<Result<_, _>>()? })
    }
}

/// The items of an attribute that the draw may read, each padded to whole words.
fn items(geometry: &Geometry, attribute: &Attribute) -> Result<(Vec<u8>, u64), String> {
    let (location, count) = (attribute.location, geometry.items(attribute.rate).map_err(|e| e.0)?);
    let size = attribute.format.bytes() as u64;
    let stride = size.next_multiple_of(wgpu::VERTEX_ALIGNMENT);
    let last = count.checked_sub(1);
    let end = last.map(|last| last.checked_mul(attribute.stride)?.checked_add(attribute.offset)?.checked_add(size));
    if end.is_some_and(|end| end.is_none_or(|end| end > attribute.bytes.len() as u64)) {
        let bytes = attribute.bytes.len();
        return Err(format!("the draw takes {count} items of the attribute at location {location}, which has {bytes} bytes for them"));
    }
    if count * stride > MAX_BUFFER_BYTES {
        return Err(format!("the draw takes {count} items of the attribute at location {location}; {MAX_BUFFER_BYTES} bytes are packed"));
    }
    let mut packed = vec![0; (count * stride) as usize];
    for (i, item) in packed.chunks_exact_mut(stride as usize).enumerate() {
        let start = (attribute.offset + i as u64 * attribute.stride) as usize;
        item[..size as usize].copy_from_slice(&attribute.bytes[start..start + size as usize]);
    }
    Ok((packed, stride))
}

impl Rendering {
    /// The bytes of memory to upload all inputs.
    pub(super) fn upload_bytes(&self) -> u64 {
        self.dispatch.bytes()
    }

    /// The bytes of readback memory that a run takes.
    pub(super) fn readback_bytes(&self) -> u64 {
        let attachments: u64 = self.dispatch.attachments().map(|image| Rows::of(image).bytes()).sum();
        attachments + bound::readback_bytes(self.dispatch.bound())
    }

    /// The result in the bytes that were read back.
    pub(super) fn result(&self, mut bytes: &[u8]) -> DrawResult {
        let targets = self.dispatch.targets.iter().map(|target| Rows::of(&target.image).take(&mut bytes)).collect();
        let depth = self.dispatch.depth.as_ref().map(|depth| Rows::of(&depth.image).take(&mut bytes));
        let (images, buffers) = bound::shown(self.dispatch.bound(), bytes);
        DrawResult { words_hash: self.words_hash, targets, depth, buffers, images }
    }

    /// Draws, and copies the results to the readback from the offset.
    pub(super) fn encode(&self, open: &OpenDevice, encoder: &mut wgpu::CommandEncoder, readback: &wgpu::Buffer, mut offset: u64) {
        let (dispatch, bound) = (&*self.dispatch, self.dispatch.bound());
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
        let targets: Vec<wgpu::Texture> = dispatch.targets.iter().map(|target| open.texture(encoder, &target.image, usage)).collect();
        let depth = match (&dispatch.depth, dispatch.size()) {
            (Some(depth), _) => Some(open.texture(encoder, &depth.image, usage)),
            (None, Some(size)) if self.scratch_depth => Some(open.scratch_depth(size)),
            (None, _) => None,
        };
        let textures = open.textures(encoder, bound);
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_SRC;
        let buffers: Vec<wgpu::Buffer> = bound.buffers.iter().map(|buffer| open.filled(&buffer.bytes, usage)).collect();
        let groups = open.bind(&self.layout, bound, &textures, &buffers);
        self.draw(open, encoder, &targets, depth.as_ref(), &groups);
        for (target, texture) in dispatch.targets.iter().zip(&targets) {
            Rows::of(&target.image).copy(encoder, texture, readback, &mut offset);
        }
        if let (Some(depth), Some(texture)) = (&dispatch.depth, &depth) {
            Rows::of(&depth.image).copy(encoder, texture, readback, &mut offset);
        }
        bound::copy_back(encoder, bound, (&textures, &buffers), readback, offset);
    }

    fn draw(
        &self,
        open: &OpenDevice,
        encoder: &mut wgpu::CommandEncoder,
        targets: &[wgpu::Texture],
        depth: Option<&wgpu::Texture>,
        groups: &[(u32, wgpu::BindGroup)],
    ) {
        let (dispatch, geometry, state) = (&*self.dispatch, &self.dispatch.geometry, &self.dispatch.state);
        let view = |texture: &wgpu::Texture| texture.create_view(&Default::default());
        let (views, depth_view): (Vec<wgpu::TextureView>, _) = (targets.iter().map(view).collect(), depth.map(view));
        let ops = wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store };
        let attachments =
            by_location(dispatch, |at| wgpu::RenderPassColorAttachment { view: &views[at], depth_slice: None, resolve_target: None, ops });
        let ops = wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store };
        let depth_stencil_attachment =
            depth_view.as_ref().map(|view| wgpu::RenderPassDepthStencilAttachment { view, depth_ops: Some(ops), stencil_ops: None });
        let vertex_buffers: Vec<wgpu::Buffer> =
            self.assembled.attributes.iter().map(|(bytes, _)| open.filled(bytes, wgpu::BufferUsages::VERTEX)).collect();
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &attachments,
            depth_stencil_attachment,
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        for (set, group) in groups {
            pass.set_bind_group(*set, group, &[]);
        }
        if !dispatch.push_constants.is_empty() {
            pass.set_immediates(0, &dispatch.push_constants);
        }
        for (slot, buffer) in (0u32..).zip(&vertex_buffers) {
            pass.set_vertex_buffer(slot, buffer.slice(..));
        }
        let (v, a) = (&state.viewport, &state.area);
        pass.set_viewport(v.x, v.y + v.height, v.width, -v.height, v.min_depth, v.max_depth);
        pass.set_scissor_rect(a.x, a.y, a.end_x - a.x, a.end_y - a.y);
        let instances = geometry.first_instance..geometry.first_instance + geometry.instances;
        match &self.assembled.indices {
            None => pass.draw(geometry.first..geometry.first + geometry.count, instances),
            Some(indices) => {
                let buffer = open.filled(bytemuck::cast_slice(indices), wgpu::BufferUsages::INDEX);
                pass.set_index_buffer(buffer.slice(..), wgpu::IndexFormat::Uint32);
                pass.draw_indexed(0..indices.len() as u32, 0, instances);
            }
        }
    }
}

/// Whether the fragment stage writes a depth without a depth attachment. WebGPU refuses that, and
/// Vulkan does not.
fn writes_lost_depth(dispatch: &DrawDispatch) -> bool {
    let Ok(decoded) = decode(&dispatch.fragment.words) else { return false };
    let replacing = ExecutionMode::DepthReplacing as u32;
    let replaces = |i: &Instruction| i.is(Op::ExecutionMode) && i.operands(decoded.words).get(1) == Some(&replacing);
    dispatch.depth.is_none() && decoded.instructions.iter().any(replaces)
}

/// A list of colour attachments by location, with `of` applied to the index of each target.
fn by_location<T>(dispatch: &DrawDispatch, of: impl Fn(usize) -> T) -> Vec<Option<T>> {
    let end = dispatch.targets.iter().map(|target| target.location + 1).max().unwrap_or(0);
    (0..end).map(|location| dispatch.targets.iter().position(|target| target.location == location).map(&of)).collect()
}

impl OpenDevice {
    /// Whether the draw is within the device's limits, and wgpu can express it.
    pub(super) fn within_render_limits(&self, dispatch: &DrawDispatch) -> Result<(), String> {
        let (record, limits) = (&self.record, self.device.limits());
        self.within_bound_limits(dispatch.bound())?;
        let attachments = dispatch.targets.iter().map(|target| u64::from(target.location) + 1).max().unwrap_or(0);
        self.within("colour attachments", attachments, "maxColorAttachments", u64::from(record.max_color_attachments))?;
        let mut bytes = 0u64;
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
        for target in &dispatch.targets {
            let format = texture::format(target.image.format());
            self.can_use(target.image.format(), usage, "colour attachments")?;
            let align = u64::from(format.target_component_alignment().unwrap_or(1));
            bytes = bytes.next_multiple_of(align) + u64::from(format.target_pixel_byte_cost().unwrap_or(0));
        }
        let has = u64::from(record.max_color_attachment_bytes_per_sample);
        self.within("bytes of colour attachments per sample", bytes, "max_color_attachment_bytes_per_sample", has)?;
        if let Some(depth) = &dispatch.depth {
            self.can_use(depth.image.format(), usage, "a depth attachment")?;
        }
        dispatch.attachments().try_for_each(|image| self.can_hold(image))?;
        let attributes = &dispatch.geometry.attributes;
        self.within("vertex attributes", attributes.len() as u64, "maxVertexInputAttributes", u64::from(limits.max_vertex_attributes))?;
        self.within("vertex buffers", attributes.len() as u64, "maxVertexInputBindings", u64::from(limits.max_vertex_buffers))?;
        for attribute in attributes {
            let (location, has) = (u64::from(attribute.location) + 1, u64::from(limits.max_vertex_attributes));
            self.within("locations of vertex attributes", location, "maxVertexInputAttributes", has)?;
            if texture::vertex_format(attribute.format).is_none() {
                return Err(format!("wgpu has no vertex attributes of the format {}", attribute.format.name()));
            }
        }
        self.can_rasterize(dispatch)
    }

    fn can_rasterize(&self, dispatch: &DrawDispatch) -> Result<(), String> {
        let (state, v) = (&dispatch.state, &dispatch.state.viewport);
        if v.height > 0.0 {
            return Err(
                "the viewport has a positive height, and wgpu gives a driver negative ones; the pass `viewport` turns it round".into()
            );
        }
        if v.y + v.height - v.height != v.y {
            return Err(format!("the viewport's lower end {} and height {} cannot be said exactly to wgpu", v.y, v.height));
        }
        let side = u64::from(self.record.max_texture_dimension_2d);
        self.within("pixels in the viewport's side", v.width.max(-v.height).ceil() as u64, "maxViewportDimensions", side)?;
        if v.min_depth > v.max_depth {
            return Err(format!("the viewport's depths go from {} down to {}; wgpu has them ascending", v.min_depth, v.max_depth));
        }
        if state.cull == Cull::Both {
            return Err("all triangles are culled, for which wgpu has no name".into());
        }
        self.can_bias(dispatch)?;
        if dispatch.geometry.topology == Topology::Points && self.route.re_emits() {
            return Err("the draw has points, whose size WGSL does not tell".into());
        }
        let is_wide = |target: &ColourTarget| target.image.format().channels().iter().any(|channel| channel.width == 32);
        if state.blend.is_some()
            && dispatch.targets.iter().any(is_wide)
            && !self.device.features().contains(wgpu::Features::FLOAT32_BLENDABLE)
        {
            return Err("the device does not enable the blending of 32-bit floats".into());
        }
        if state.depth_clamp && !self.device.features().contains(wgpu::Features::DEPTH_CLIP_CONTROL) {
            return Err("the device does not enable the clamping of depths".into());
        }
        Ok(())
    }

    /// Whether wgpu can express the depth bias and bounds. Its depth bias has an integer constant
    /// factor and belongs to a depth attachment. Its depth test has no bounds.
    fn can_bias(&self, dispatch: &DrawDispatch) -> Result<(), String> {
        if dispatch.state.depth_bounds.is_some() {
            return Err("the draw has depth bounds, which wgpu has none of".into());
        }
        let Some(bias) = dispatch.state.depth_bias else { return Ok(()) };
        if dispatch.depth.is_none() {
            return Err("the draw has a depth bias and no depth attachment, to which wgpu's belongs".into());
        }
        if f64::from(bias.constant as i32) != f64::from(bias.constant) {
            return Err(format!("the constant factor of the depth bias is {}; wgpu's is an integer", bias.constant));
        }
        let flags = self.adapter.get_downlevel_capabilities().flags;
        if bias.clamp != 0.0 && !flags.contains(wgpu::DownlevelFlags::DEPTH_BIAS_CLAMP) {
            return Err("the device does not offer the clamp of a depth bias".into());
        }
        Ok(())
    }

    /// Whether every resource that both entry points use is bound, at the place where wgpu will
    /// put it.
    pub(super) fn can_render(&self, dispatch: &DrawDispatch, needs: &[Needs; 2]) -> Result<(), String> {
        needs.iter().try_for_each(|needs| self.check_resources(dispatch.bound(), needs))?;
        let writes = |place: (u32, u32)| {
            let mut shown = dispatch.bound().shown_buffers().map(|b| (b.set, b.binding));
            shown.any(|at| at == place) || dispatch.bound().shown_images().any(|i| (i.set, i.binding) == place)
        };
        if !self.device.features().contains(wgpu::Features::VERTEX_WRITABLE_STORAGE)
            && let Some(d) = needs[0].descriptors.iter().find(|d| d.set.zip(d.binding).is_some_and(writes))
        {
            return Err(format!("the vertex stage uses %{}, which may be written; the device does not enable that", d.id));
        }
        match self.route {
            Route::Passthrough => self.is_dense(dispatch.bound()),
            // wgpu tells naga the binding numbers.
            Route::Naga | Route::Wgsl => Ok(()),
        }
    }

    pub(super) fn rendering(&self, dispatch: &Arc<DrawDispatch>, needs: &[Needs; 2], codes: &[Code; 2]) -> Result<Rendering, String> {
        let uses = |needs: &Needs, place: (u32, u32)| needs.descriptors.iter().any(|d| d.set.zip(d.binding) == Some(place));
        let stages = |place| {
            let stage = |needs: &Needs, stage| if uses(needs, place) { stage } else { wgpu::ShaderStages::NONE };
            stage(&needs[0], wgpu::ShaderStages::VERTEX) | stage(&needs[1], wgpu::ShaderStages::FRAGMENT)
        };
        let handles = bound::merged_handles(&codes[0].handles, &codes[1].handles);
        let layout = self.layout(dispatch.bound(), stages, &handles, &[]);
        let assembled = Arc::new(Assembled::of(&dispatch.geometry)?);
        let scratch_depth = self.route.re_emits() && writes_lost_depth(dispatch);
        let pipeline = self.render_pipeline(dispatch, &layout, &assembled, codes, scratch_depth);
        Ok(Rendering { pipeline, layout, dispatch: dispatch.clone(), assembled, scratch_depth, words_hash: dispatch.words_hash() })
    }

    /// A depth attachment that is not read back.
    fn scratch_depth(&self, [width, height]: [u32; 2]) -> wgpu::Texture {
        self.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Depth32Float,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        })
    }

    fn render_pipeline(
        &self,
        dispatch: &DrawDispatch,
        layout: &Layout,
        assembled: &Assembled,
        codes: &[Code; 2],
        scratch_depth: bool,
    ) -> wgpu::RenderPipeline {
        let vertex = self.module(&dispatch.vertex.words, &dispatch.vertex.entry, &codes[0]);
        let fragment = self.module(&dispatch.fragment.words, &dispatch.fragment.entry, &codes[1]);
        let attributes: Vec<[wgpu::VertexAttribute; 1]> = (dispatch.geometry.attributes.iter())
            .filter_map(|a| {
                Some([wgpu::VertexAttribute { format: texture::vertex_format(a.format)?, offset: 0, shader_location: a.location }])
            })
            .collect();
        let buffers: Vec<Option<wgpu::VertexBufferLayout<'_>>> = (dispatch.geometry.attributes.iter())
            .zip(&assembled.attributes)
            .zip(&attributes)
            .map(|((attribute, (_, stride)), attributes)| {
                let step_mode = match attribute.rate {
                    Rate::Vertex => wgpu::VertexStepMode::Vertex,
                    Rate::Instance => wgpu::VertexStepMode::Instance,
                };
                Some(wgpu::VertexBufferLayout { array_stride: *stride, step_mode, attributes })
            })
            .collect();
        let targets = by_location(dispatch, |at| wgpu::ColorTargetState {
            blend: dispatch.state.blend.map(|blend| wgpu::BlendState { color: equation(blend.colour), alpha: equation(blend.alpha) }),
            ..wgpu::ColorTargetState::from(texture::format(dispatch.targets[at].image.format()))
        });
        let topology = match dispatch.geometry.topology {
            Topology::Strip if assembled.indices.is_none() => wgpu::PrimitiveTopology::TriangleStrip,
            Topology::Points => wgpu::PrimitiveTopology::PointList,
            Topology::LineStrip if assembled.indices.is_none() => wgpu::PrimitiveTopology::LineStrip,
            Topology::Lines | Topology::LineStrip => wgpu::PrimitiveTopology::LineList,
            _ => wgpu::PrimitiveTopology::TriangleList,
        };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: Some(&layout.pipeline),
            vertex: wgpu::VertexState {
                module: &vertex,
                entry_point: codes[0].entry(&dispatch.vertex.entry),
                compilation_options: Default::default(),
                buffers: &buffers,
            },
            primitive: wgpu::PrimitiveState {
                topology,
                strip_index_format: None,
                front_face: match dispatch.state.front {
                    FrontFace::CounterClockwise => wgpu::FrontFace::Ccw,
                    FrontFace::Clockwise => wgpu::FrontFace::Cw,
                },
                cull_mode: match dispatch.state.cull {
                    Cull::None | Cull::Both => None,
                    Cull::Front => Some(wgpu::Face::Front),
                    Cull::Back => Some(wgpu::Face::Back),
                },
                unclipped_depth: dispatch.state.depth_clamp,
                polygon_mode: wgpu::PolygonMode::Fill,
                conservative: false,
            },
            depth_stencil: dispatch
                .depth
                .as_ref()
                .map(|depth| wgpu::DepthStencilState {
                    format: texture::format(depth.image.format()),
                    depth_write_enabled: Some(depth.writes),
                    depth_compare: Some(bound::compare(depth.compare)),
                    stencil: wgpu::StencilState::default(),
                    bias: dispatch.state.depth_bias.map_or_else(wgpu::DepthBiasState::default, |bias| wgpu::DepthBiasState {
                        constant: bias.constant as i32,
                        slope_scale: bias.slope,
                        clamp: bias.clamp,
                    }),
                })
                .or_else(|| {
                    scratch_depth.then(|| wgpu::DepthStencilState {
                        format: wgpu::TextureFormat::Depth32Float,
                        depth_write_enabled: Some(false),
                        depth_compare: Some(wgpu::CompareFunction::Always),
                        stencil: wgpu::StencilState::default(),
                        bias: wgpu::DepthBiasState::default(),
                    })
                }),
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &fragment,
                entry_point: codes[1].entry(&dispatch.fragment.entry),
                compilation_options: Default::default(),
                targets: &targets,
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

fn equation(equation: raster::Equation) -> wgpu::BlendComponent {
    use raster::{Factor, Operation};
    use wgpu::{BlendFactor, BlendOperation};
    let factor = |factor| match factor {
        // wgpu requires this for operations that ignore the factors.
        _ if matches!(equation.operation, Operation::Min | Operation::Max) => BlendFactor::One,
        Factor::Zero => BlendFactor::Zero,
        Factor::One => BlendFactor::One,
        Factor::Source => BlendFactor::Src,
        Factor::OneMinusSource => BlendFactor::OneMinusSrc,
        Factor::Destination => BlendFactor::Dst,
        Factor::OneMinusDestination => BlendFactor::OneMinusDst,
        Factor::SourceAlpha => BlendFactor::SrcAlpha,
        Factor::OneMinusSourceAlpha => BlendFactor::OneMinusSrcAlpha,
        Factor::DestinationAlpha => BlendFactor::DstAlpha,
        Factor::OneMinusDestinationAlpha => BlendFactor::OneMinusDstAlpha,
        Factor::SourceAlphaSaturate => BlendFactor::SrcAlphaSaturated,
    };
    let operation = match equation.operation {
        Operation::Add => BlendOperation::Add,
        Operation::Subtract => BlendOperation::Subtract,
        Operation::ReverseSubtract => BlendOperation::ReverseSubtract,
        Operation::Min => BlendOperation::Min,
        Operation::Max => BlendOperation::Max,
    };
    wgpu::BlendComponent { src_factor: factor(equation.source), dst_factor: factor(equation.destination), operation }
}

#[cfg(test)]
mod tests {
    use smallstep_semantics::image::Format;

    use super::*;

    #[test]
    fn strips_with_indices_and_fans_become_lists() {
        let indices = |topology, indices: Option<Vec<u32>>| {
            let geometry = Geometry { indices, first: 1, ..Geometry::of_count(topology, 4) };
            Assembled::of(&geometry).expect("it has no attributes").indices
        };
        assert_eq!(indices(Topology::List, None), None);
        assert_eq!(indices(Topology::Strip, None), None);
        assert_eq!(indices(Topology::Fan, None), Some(vec![2, 3, 1, 3, 4, 1]));
        let list = || Some(vec![0, 9, 8, 7, u32::MAX]);
        assert_eq!(indices(Topology::List, list()), Some(vec![9, 8, 7, u32::MAX]));
        assert_eq!(indices(Topology::Strip, list()), Some(vec![9, 8, 7, 8, u32::MAX, 7]));
    }

    #[test]
    fn attributes_are_packed_in_whole_words() {
        let attribute =
            Attribute { location: 3, format: Format::Rg8Unorm, rate: Rate::Vertex, offset: 1, stride: 3, bytes: (0..9).collect() };
        let geometry = |count, rate| {
            let attributes = vec![Attribute { rate, ..attribute.clone() }];
            Geometry { attributes, first: 1, ..Geometry::of_count(Topology::List, count) }
        };
        let packed = Assembled::of(&geometry(2, Rate::Vertex)).expect("three items are there");
        assert_eq!(packed.attributes, [(vec![1, 2, 0, 0, 4, 5, 0, 0, 7, 8, 0, 0], 4)]);
        let error = Assembled::of(&geometry(3, Rate::Vertex)).err().expect("the fourth item is not there");
        assert!(error.contains("4 items of the attribute at location 3"), "{error}");
        let one = Assembled::of(&geometry(9, Rate::Instance)).expect("there is one instance");
        assert_eq!(one.attributes, [(vec![1, 2, 0, 0], 4)]);
    }
}
