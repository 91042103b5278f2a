//! The draw of a RUN of a graphics pipeline. It is a function of the script and the contents of
//! its buffers.
//!
//! DRAW_RECT is a triangle strip with the corners bottom left, top left, bottom right, top right (y
//! downwards). DRAW_GRID is a list of two triangles for each cell, row by row. In both, location 0
//! is the corner's x and y in normalized device coordinates, z = 0 and w = 1, instead of all vertex
//! data. Both triangles of a rectangle have the same winding: triangle 1 of a strip has the
//! vertices 1, 3, 2 (Vulkan, Triangle Strips). With this order of corners, the winding is clockwise
//! in framebuffer coordinates (Vulkan, Basic Polygon Rasterization). So it is for all triangles of
//! DRAW_GRID. Under the default FRONT_FACE they are back faces, and a CULL_MODE of back draws
//! nothing of them. The documentation of AmberScript does not state the order, and culling depends
//! on it.
//!
//! Without a DEPTH block with TEST on, a depth attachment keeps the contents that CLEAR left.
//! BOUNDS apply to these contents, whether TEST is on or not.

use smallstep_semantics::outcome::{InputFault, InvalidInput};
use std::ops::Range;

use smallstep_semantics::image::{self, Image};
use smallstep_semantics::raster::{self, Area, Cull, DepthBuffer, State};
use smallstep_semantics::spirv::Buffer;
use smallstep_semantics::spirv::environment::{
    Attribute, BoundImage, BoundSampler, ColourTarget, DepthTarget, Draw, Limits, Rate, Resources, StencilTarget, Vertices,
};

use crate::amber::format::{Channel, Numeric};
use crate::amber::{
    self, AddressMode, BlendEquation, BlendFactor, BlendOp, BorderColour, BufferId, BufferRange, Buffers, Certainty, Compare, CullMode,
    Extent, Filter, Format, FrontFace, Pipeline, PipelineId, Resource, RunKind, Sampler, Scalar, Script, StencilFace, StencilOp, Topology,
    VertexData, View,
};
use crate::dispatch::MAX_BUFFER_BYTES;

/// The vertices of a draw: [`Vertices`] that own their data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// How vertices form primitives.
    pub topology: raster::Topology,
    /// The indices, if the draw is indexed.
    pub indices: Option<Vec<u32>>,
    /// The index of the first vertex, or the position of the first index.
    pub first: u32,
    /// The number of vertices or indices.
    pub count: u32,
    /// The number of the first instance.
    pub first_instance: u32,
    /// The number of instances.
    pub instances: u32,
    /// The vertex attributes.
    pub attributes: Vec<Attribute>,
}

/// A depth and stencil attachment, with its tests.
#[derive(Clone, Debug)]
pub struct Depth {
    /// The buffer of the attachment.
    pub buffer: BufferId,
    /// The depths as a texture. If the attachment has no depths, every fragment passes these.
    pub image: Image,
    /// The attachment in the form for engines.
    pub target: DepthTarget,
    /// Whether the depths belong to the attachment.
    pub has_depths: bool,
}

/// The stencil test of a face, in the form for engines.
fn face_of(face: StencilFace) -> raster::StencilFace {
    let op = |op| match op {
        StencilOp::Keep => raster::StencilOp::Keep,
        StencilOp::Zero => raster::StencilOp::Zero,
        StencilOp::Replace => raster::StencilOp::Replace,
        StencilOp::IncrementAndClamp => raster::StencilOp::IncrementAndClamp,
        StencilOp::DecrementAndClamp => raster::StencilOp::DecrementAndClamp,
        StencilOp::Invert => raster::StencilOp::Invert,
        StencilOp::IncrementAndWrap => raster::StencilOp::IncrementAndWrap,
        StencilOp::DecrementAndWrap => raster::StencilOp::DecrementAndWrap,
    };
    // A stencil has eight bits.
    raster::StencilFace {
        fail: op(face.fail),
        pass: op(face.pass),
        depth_fail: op(face.depth_fail),
        compare: compare_of(face.compare),
        compare_mask: face.compare_mask as u8,
        write_mask: face.write_mask as u8,
        reference: face.reference as u8,
    }
}

/// A draw that owns its inputs.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The entry points of the vertex stage and of the fragment stage.
    pub entries: [String; 2],
    /// The vertices.
    pub assembled: Assembled,
    /// The bytes behind descriptors.
    pub buffers: Vec<Buffer>,
    /// The images behind descriptors.
    pub images: Vec<BoundImage>,
    /// The samplers behind descriptors.
    pub samplers: Vec<BoundSampler>,
    /// The push constants.
    pub push_constants: Vec<u8>,
    /// The viewport, the area and culling.
    pub state: State,
    /// The colour attachments.
    pub targets: Vec<ColourTarget>,
    /// The buffer of each colour attachment with the range of its bytes, in the same order. `None`
    /// for the attachment that no script declares.
    pub shown: Vec<Option<(BufferId, Range<usize>)>>,
    /// The depth attachment and its test, if there is one.
    pub depth: Option<Depth>,
    /// The first undecided byte of vertex data, indices or push constants: its buffer, its offset,
    /// and how much is known of it.
    pub open: Option<(BufferId, usize, Certainty)>,
}

impl Drawing {
    /// The draw in the form for engines.
    pub fn draw(&self, limits: Limits) -> Draw<'_> {
        Draw {
            vertex: &self.entries[0],
            fragment: &self.entries[1],
            vertices: Vertices {
                topology: self.assembled.topology,
                indices: self.assembled.indices.as_deref(),
                first: self.assembled.first,
                count: self.assembled.count,
                vertex_offset: 0,
                first_instance: self.assembled.first_instance,
                instances: self.assembled.instances,
                attributes: &self.assembled.attributes,
            },
            resources: Resources {
                buffers: &self.buffers,
                images: &self.images,
                samplers: &self.samplers,
                push_constants: &self.push_constants,
                ..Resources::default()
            },
            state: self.state,
            targets: &self.targets,
            depth: self.depth.as_ref().map(|depth| &depth.target),
            limits,
        }
    }
}

/// The draw of a RUN.
///
/// # Errors
/// If a format, an address mode or an extent is not supported by any engine.
pub fn drawing(
    script: &Script,
    buffers: &Buffers,
    pipeline: PipelineId,
    what: &RunKind,
    entries: [&str; 2],
) -> Result<Drawing, InvalidInput> {
    let unsupported = |what: String| InvalidInput::new(InputFault::Unsupported, what);
    let pipeline = &script[pipeline];
    let mut reader = InputReader { script, buffers, open: None };
    let of_corners = |corners: Corners| Assembled {
        topology: corners.topology,
        indices: None,
        first: 0,
        count: (corners.bytes.len() / CORNER) as u32,
        first_instance: 0,
        instances: 1,
        attributes: vec![Attribute {
            location: 0,
            format: image::Format::Rg32Sfloat,
            rate: Rate::Vertex,
            offset: 0,
            stride: CORNER as u64,
            bytes: corners.bytes,
        }],
    };
    let assembled = match what {
        RunKind::Compute(_) => return Err(unsupported(format!("the pipeline {} draws, and is to dispatch", pipeline.name))),
        RunKind::DrawRect(rect) => of_corners(Corners::of_rect(pipeline.framebuffer, *rect)),
        RunKind::DrawGrid { rect, columns, rows } => of_corners(Corners::of_grid(pipeline.framebuffer, *rect, *columns, *rows)),
        RunKind::DrawArray { topology, indexed, first, count, first_instance, instances } => {
            let indices = if *indexed { Some(reader.indices(pipeline).map_err(unsupported)?) } else { None };
            let all = match &indices {
                Some(indices) => indices.len() as u64,
                None => reader.vertices(pipeline).map_err(unsupported)?,
            };
            let rest = u32::try_from(all).unwrap_or(u32::MAX).saturating_sub(*first);
            let attributes =
                pipeline.vertex_data.iter().map(|data| reader.attribute(data)).collect::<Result<Vec<_>, _>>().map_err(unsupported)?;
            Assembled {
                topology: topology_of(*topology),
                indices,
                first: *first,
                count: count.unwrap_or(rest),
                first_instance: *first_instance,
                instances: *instances,
                attributes,
            }
        }
    };
    let (buffers, images, samplers) = reader.resources(pipeline).map_err(unsupported)?;
    let push_constants = pipeline.push_constants.map_or_else(Vec::new, |buffer| reader.bytes(buffer).to_vec());
    let (targets, shown) = reader.targets(pipeline).map_err(unsupported)?;
    let depth = reader.depth(pipeline).map_err(unsupported)?;
    let mut state = state_of(pipeline);
    let attached = pipeline.colours.first().map(|(_, view)| view.buffer).or(pipeline.depth_stencil);
    state.samples = attached.map_or(1, |buffer| script[buffer].samples);
    state.check().map_err(|e| unsupported(format!("pipeline {}: {e}", pipeline.name)))?;
    Ok(Drawing {
        entries: entries.map(str::to_string),
        assembled,
        buffers,
        images,
        samplers,
        push_constants,
        state,
        targets,
        shown,
        depth,
        open: reader.open,
    })
}

/// The size of a corner in bytes: x and y as 32-bit floats.
const CORNER: usize = 8;

/// The vertices of rectangles.
struct Corners {
    topology: raster::Topology,
    bytes: Vec<u8>,
}

impl Corners {
    fn push(&mut self, framebuffer: (u32, u32), corners: &[[f64; 2]]) {
        for [x, y] in corners {
            let normalized = |at: f64, side: u32| (2.0 * at / f64::from(side) - 1.0) as f32;
            self.bytes.extend(normalized(*x, framebuffer.0).to_le_bytes());
            self.bytes.extend(normalized(*y, framebuffer.1).to_le_bytes());
        }
    }

    fn of_rect(framebuffer: (u32, u32), rect: [u32; 4]) -> Corners {
        let [left, top, width, height] = rect.map(f64::from);
        let (right, bottom) = (left + width, top + height);
        let mut corners = Corners { topology: raster::Topology::Strip, bytes: Vec::new() };
        corners.push(framebuffer, &[[left, bottom], [left, top], [right, bottom], [right, top]]);
        corners
    }

    fn of_grid(framebuffer: (u32, u32), rect: [u32; 4], columns: u32, rows: u32) -> Corners {
        let [left, top, width, height] = rect.map(f64::from);
        let (width, height) = (width / f64::from(columns), height / f64::from(rows));
        let mut corners = Corners { topology: raster::Topology::List, bytes: Vec::new() };
        for row in 0..rows {
            for column in 0..columns {
                let (x, y) = (left + width * f64::from(column), top + height * f64::from(row));
                let (right, bottom) = (x + width, y + height);
                corners.push(framebuffer, &[[right, bottom], [x, bottom], [x, y], [right, bottom], [x, y], [right, y]]);
            }
        }
        corners
    }
}

/// The byte range of a buffer for a descriptor.
pub(super) fn bytes_of(bytes: &[u8], range: BufferRange) -> Range<usize> {
    let whole = bytes.len();
    let start = usize::try_from(range.offset).unwrap_or(whole).min(whole);
    let length = range.range.and_then(|n| usize::try_from(n).ok()).unwrap_or(whole - start).min(whole - start);
    start..start + length
}

fn compare_of(compare: Compare) -> image::Compare {
    match compare {
        Compare::Never => image::Compare::Never,
        Compare::Less => image::Compare::Less,
        Compare::Equal => image::Compare::Equal,
        Compare::LessOrEqual => image::Compare::LessOrEqual,
        Compare::Greater => image::Compare::Greater,
        Compare::NotEqual => image::Compare::NotEqual,
        Compare::GreaterOrEqual => image::Compare::GreaterOrEqual,
        Compare::Always => image::Compare::Always,
    }
}

fn topology_of(topology: Topology) -> raster::Topology {
    match topology {
        Topology::TriangleList => raster::Topology::List,
        Topology::TriangleStrip => raster::Topology::Strip,
        Topology::TriangleFan => raster::Topology::Fan,
        Topology::PointList => raster::Topology::Points,
        Topology::LineList => raster::Topology::Lines,
        Topology::LineStrip => raster::Topology::LineStrip,
    }
}

fn equation_of(equation: BlendEquation) -> raster::Equation {
    let factor = |factor| match factor {
        BlendFactor::Zero => raster::Factor::Zero,
        BlendFactor::One => raster::Factor::One,
        BlendFactor::SrcColour => raster::Factor::Source,
        BlendFactor::OneMinusSrcColour => raster::Factor::OneMinusSource,
        BlendFactor::DstColour => raster::Factor::Destination,
        BlendFactor::OneMinusDstColour => raster::Factor::OneMinusDestination,
        BlendFactor::SrcAlpha => raster::Factor::SourceAlpha,
        BlendFactor::OneMinusSrcAlpha => raster::Factor::OneMinusSourceAlpha,
        BlendFactor::DstAlpha => raster::Factor::DestinationAlpha,
        BlendFactor::OneMinusDstAlpha => raster::Factor::OneMinusDestinationAlpha,
        BlendFactor::SrcAlphaSaturate => raster::Factor::SourceAlphaSaturate,
    };
    let operation = match equation.op {
        BlendOp::Add => raster::Operation::Add,
        BlendOp::Subtract => raster::Operation::Subtract,
        BlendOp::ReverseSubtract => raster::Operation::ReverseSubtract,
        BlendOp::Min => raster::Operation::Min,
        BlendOp::Max => raster::Operation::Max,
    };
    raster::Equation { source: factor(equation.source), destination: factor(equation.destination), operation }
}

fn state_of(pipeline: &Pipeline) -> State {
    let (width, height) = pipeline.framebuffer;
    let mut state = State::of_size(width, height);
    if let Some(viewport) = pipeline.viewport {
        let [x, y, width, height, min_depth, max_depth] = viewport.bits.map(f32::from_bits);
        state.viewport = raster::Viewport { x, y, width, height, min_depth, max_depth };
    }
    state.depth_clamp = pipeline.depth.clamp;
    state.depth_bounds = pipeline.depth.bounds.map(|bounds| bounds.map(f32::from_bits));
    state.depth_bias = pipeline.depth.bias.map(|bits| {
        let [constant, clamp, slope] = bits.map(f32::from_bits);
        raster::DepthBias { constant, clamp, slope }
    });
    state.blend = pipeline.blend.map(|blend| raster::Blend { colour: equation_of(blend.colour), alpha: equation_of(blend.alpha) });
    state.area = Area::of_size(width, height);
    state.cull = match pipeline.cull_mode {
        CullMode::None => Cull::None,
        CullMode::Front => Cull::Front,
        CullMode::Back => Cull::Back,
        CullMode::FrontAndBack => Cull::Both,
    };
    state.front = match pipeline.front_face {
        FrontFace::CounterClockwise => raster::FrontFace::CounterClockwise,
        FrontFace::Clockwise => raster::FrontFace::Clockwise,
    };
    state
}

/// A sampler in the form for engines.
pub(super) fn sampler_of(sampler: &Sampler) -> Result<image::Sampler, String> {
    let filter = |filter| match filter {
        Filter::Nearest => image::Filter::Nearest,
        Filter::Linear => image::Filter::Linear,
    };
    let address = |mode| match mode {
        AddressMode::Repeat => Ok(image::AddressMode::Repeat),
        AddressMode::MirroredRepeat => Ok(image::AddressMode::MirroredRepeat),
        AddressMode::ClampToEdge => Ok(image::AddressMode::ClampToEdge),
        AddressMode::ClampToBorder => Ok(image::AddressMode::ClampToBorder),
        AddressMode::MirrorClampToEdge => Err(format!("the sampler {}: the address mode {}", sampler.name, mode.name())),
    };
    Ok(image::Sampler {
        mag: filter(sampler.mag),
        min: filter(sampler.min),
        mip: filter(sampler.mip),
        address: [address(sampler.address[0])?, address(sampler.address[1])?, address(sampler.address[2])?],
        border: match sampler.border {
            BorderColour::FloatTransparentBlack | BorderColour::IntTransparentBlack => image::Border::TransparentBlack,
            BorderColour::FloatOpaqueBlack | BorderColour::IntOpaqueBlack => image::Border::OpaqueBlack,
            BorderColour::FloatOpaqueWhite | BorderColour::IntOpaqueWhite => image::Border::OpaqueWhite,
        },
        unnormalized: !sampler.normalized,
        lod_bias: 0.0,
        lod_min: f32::from_bits(sampler.lod[0]),
        lod_max: f32::from_bits(sampler.lod[1]),
        compare: sampler.compare.map(compare_of),
    })
}

fn format_of(format: Format) -> Result<image::Format, String> {
    let name = format.name();
    // This packed format has the byte order of the plain format.
    let name = match name.strip_prefix("A8B8G8R8_").and_then(|rest| rest.strip_suffix("_PACK32")) {
        Some(numeric) => format!("R8G8B8A8_{numeric}"),
        None => name,
    };
    image::Format::of_name(&name).ok_or_else(|| format!("the image format {name}"))
}

/// A number of levels of a buffer as an image, starting with a level. Also their byte range.
///
/// The error is a sentence: there is no image format or size, or one that is not modeled.
pub(super) fn image_of(script: &Script, buffers: &Buffers, view: View, levels: u32) -> Result<(Image, Range<usize>), String> {
    let buffer = &script[view.buffer];
    let named = |what: String| format!("the image {}: {what}", buffer.name);
    let format = buffer.format().ok_or_else(|| named("a type that is no image format".into()))?;
    let shape = match buffer.extent {
        Extent::Linear => return Err(named("a buffer without WIDTH and HEIGHT".into())),
        Extent::Row { .. } => image::Shape::D1,
        Extent::Image { .. } | Extent::Framebuffer { .. } => image::Shape::D2,
        Extent::Box { .. } => image::Shape::D3,
    };
    let sides = buffer.extent.level(view.level).unwrap_or([0; 3]);
    let mut image = Image::of_shape(format_of(format)?, shape, sides, levels).map_err(|e| named(e.to_string()))?;
    let mut whole: Option<Range<usize>> = None;
    for level in 0..levels {
        let range = buffer.level(view.level + level).ok_or_else(|| named(format!("it has no level {}", view.level + level)))?;
        let bytes = buffers[view.buffer].bytes.get(range.clone()).unwrap_or_default();
        image.fill(level, bytes).map_err(|e| named(e.to_string()))?;
        whole = Some(whole.map_or(range.start, |whole| whole.start)..range.end);
    }
    Ok((image, whole.unwrap_or(0..0)))
}

/// The items of a buffer as a row of texels, with their byte range.
///
/// The error is a sentence: there is no format that is modeled, or no items.
pub(super) fn texels_of(script: &Script, buffers: &Buffers, id: BufferId) -> Result<(Image, Range<usize>), String> {
    let buffer = &script[id];
    let named = |what: &str| format!("the texel buffer {}: {what}", buffer.name);
    let format = buffer.format().ok_or_else(|| named("a type that is no image format"))?;
    let width = u32::try_from(buffer.items).map_err(|_| named("more than 2^32 - 1 texels"))?;
    let mut image = Image::of_shape(format_of(format)?, image::Shape::D1, [width, 1, 1], 1).map_err(|e| named(&e.to_string()))?;
    let bytes = &buffers[id].bytes;
    image.fill(0, bytes).map_err(|e| named(&e.to_string()))?;
    Ok((image, 0..bytes.len()))
}

/// One sample of all texels of a buffer as an image, with its byte range.
///
/// The error is a sentence: there is no image format or size, or one that is not modeled.
fn sample_of(script: &Script, buffers: &Buffers, id: BufferId, sample: u32) -> Result<(Image, Range<usize>), String> {
    let buffer = &script[id];
    let named = |what: &str| format!("the image {}: {what}", buffer.name);
    let format = buffer.format().ok_or_else(|| named("a type that is no image format"))?;
    let [width, height, _] = buffer.extent.sides().ok_or_else(|| named("a buffer without WIDTH and HEIGHT"))?;
    let range = buffer.sample(sample).ok_or_else(|| named("it has no such sample"))?;
    let mut image = Image::new(format_of(format)?, width, height, 1).map_err(|e| named(&e.to_string()))?;
    image.fill(0, buffers[id].bytes.get(range.clone()).unwrap_or_default()).map_err(|e| named(&e.to_string()))?;
    Ok((image, range))
}

/// The number of levels of an image in a view. A sampled image has all levels from the first on, a
/// written image one.
pub(super) fn levels_of(script: &Script, view: View, is_sampled: bool) -> u32 {
    if is_sampled { script[view.buffer].levels.saturating_sub(view.level) } else { 1 }
}

/// Reads the inputs of a draw, and records the first undecided byte.
struct InputReader<'s> {
    script: &'s Script,
    buffers: &'s Buffers,
    open: Option<(BufferId, usize, Certainty)>,
}

impl<'s> InputReader<'s> {
    fn bytes(&mut self, id: BufferId) -> &'s [u8] {
        let contents = &self.buffers[id];
        if let (None, Some((at, known))) = (self.open, contents.open(0, contents.bytes.len())) {
            self.open = Some((id, at, known));
        }
        &contents.bytes
    }

    /// The depth and stencil attachment, if one of its tests is on or depths are biased. Without
    /// the depth test, every depth passes and none is stored.
    fn depth(&mut self, pipeline: &Pipeline) -> Result<Option<Depth>, String> {
        let Some(id) = pipeline.depth_stencil else { return Ok(None) };
        let (Some(format), (width, height)) = (self.script[id].format(), pipeline.framebuffer) else { return Ok(None) };
        let (depth, stencil) = (format.field(Channel::Depth), format.field(Channel::Stencil));
        let (state, tests) = (&pipeline.depth, &pipeline.stencil);
        let depth = depth.filter(|_| state.test || state.bounds.is_some() || state.bias.is_some());
        let stencil = stencil.filter(|_| tests.test);
        if depth.is_none() && stencil.is_none() {
            return Ok(None);
        }
        let name = &self.script[id].name;
        let texels = || self.buffers[id].bytes.chunks_exact(format.texel_size() as usize);
        if self.script[id].extent.image() != Some((width, height)) {
            return Err(format!("the attachment {name} has another size than the framebuffer of {width} by {height}"));
        }
        // Without a depth test, these depths have no effect.
        let depth_format = match depth.map_or(32, |depth| depth.bits) {
            16 => image::Format::D16Unorm,
            24 => image::Format::X8D24Unorm,
            _ => image::Format::D32Sfloat,
        };
        // The depths of the samples are stored one below the other.
        let (bytes, height) = (depth_format.bytes(), height * self.script[id].samples);
        let depths = match depth {
            Some(depth) => texels().flat_map(|texel| format.bits_of(depth, texel).to_le_bytes().into_iter().take(bytes)).collect(),
            None => vec![0; width as usize * height as usize * bytes],
        };
        let named = |what: String| format!("the attachment {name}: {what}");
        let mut image = Image::new(depth_format, width, height, 1).map_err(|e| named(e.to_string()))?;
        image.fill(0, &depths).map_err(|e| named(e.to_string()))?;
        let buffer = DepthBuffer::holding(&image).ok_or_else(|| named(format!("the depth format {}", depth_format.name())))?;
        let stencil = match stencil {
            None => None,
            Some(stencil) => {
                let values = texels().map(|texel| format.bits_of(stencil, texel) as u8).collect();
                let buffer = raster::StencilBuffer::holding(width, values).ok_or_else(|| named("no texels".into()))?;
                Some(StencilTarget { buffer, front: face_of(tests.front), back: face_of(tests.back) })
            }
        };
        let is_tested = depth.is_some() && state.test;
        let compare = if is_tested { compare_of(state.compare) } else { image::Compare::Always };
        let target = DepthTarget { buffer, compare, writes: is_tested && state.write, stencil };
        Ok(Some(Depth { buffer: id, image, target, has_depths: depth.is_some() }))
    }

    /// A colour attachment, with the size of the framebuffer. Its contents are no input of a stage,
    /// so open bytes are not recorded.
    fn attachment(&self, pipeline: &Pipeline, view: View, sample: u32) -> Result<(Image, Range<usize>), String> {
        let ((width, height), name) = (pipeline.framebuffer, &self.script[view.buffer].name);
        let (image, bytes) = match self.script[view.buffer].samples {
            1 => image_of(self.script, self.buffers, view, 1)?,
            _ => sample_of(self.script, self.buffers, view.buffer, sample)?,
        };
        match image.size(0) {
            Some(size) if size == [width, height] => Ok((image, bytes)),
            _ => Err(format!("the attachment {name} has another size than the framebuffer of {width} by {height}")),
        }
    }

    fn indices(&mut self, pipeline: &Pipeline) -> Result<Vec<u32>, String> {
        let id = pipeline.index_data.ok_or_else(|| format!("the pipeline {} has no INDEX_DATA", pipeline.name))?;
        let scalar = self.script[id].slot(0).map(|slot| slot.scalar);
        let bytes = self.bytes(id);
        match scalar {
            Some(Scalar::Uint8) => Ok(bytes.iter().map(|b| u32::from(*b)).collect()),
            Some(Scalar::Uint16) => Ok(bytes.chunks_exact(2).map(|b| u32::from(u16::from_le_bytes([b[0], b[1]]))).collect()),
            Some(Scalar::Uint32) => Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()),
            _ => Err(format!("indices of the type {}", self.script[id].data_type.name())),
        }
    }

    /// The number of vertices in the vertex data.
    fn vertices(&self, pipeline: &Pipeline) -> Result<u64, String> {
        let of_vertices = pipeline.vertex_data.iter().filter(|d| d.rate == amber::Rate::Vertex);
        let items = of_vertices.map(|data| {
            let buffer = &self.script[data.buffer];
            match data.stride {
                Some(stride) => (buffer.size().saturating_sub(data.offset.into())) / u64::from(stride.max(1)),
                None => buffer.items,
            }
        });
        items.min().ok_or_else(|| format!("the pipeline {} has no vertex data that says how many vertices there are", pipeline.name))
    }

    /// A vertex attribute. A format of three components gets a fourth with the value one, as Vulkan
    /// requires for missing components (Conversion to RGBA).
    fn attribute(&mut self, data: &VertexData) -> Result<Attribute, String> {
        let buffer = &self.script[data.buffer];
        let declared = data.format.or_else(|| buffer.item_format());
        let format = declared.ok_or_else(|| format!("vertex data of the type {}", buffer.data_type.name()))?;
        let bytes = self.bytes(data.buffer);
        let (offset, stride) = (u64::from(data.offset), data.stride.map_or(buffer.stride, u64::from));
        let rate = match data.rate {
            amber::Rate::Vertex => Rate::Vertex,
            amber::Rate::Instance => Rate::Instance,
        };
        let location = data.location;
        if format.channels().len() != 3 {
            return Ok(Attribute { location, format: format_of(format)?, rate, offset, stride, bytes: bytes.to_vec() });
        }
        let (texel_size, scalar) = (format.texel_size() as usize, format.scalar());
        let wide = Format::named(&format.name().replacen("_", &format!("A{}_", 8 * scalar.size()), 1));
        let wide = wide.map_err(|_| format!("vertex data of the format {}", format.name()))?;
        let one = match format.numeric() {
            Numeric::Uint | Numeric::Sint => 1,
            _ => wide.written(Channel::Alpha, 1.0).nearest,
        };
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let step = usize::try_from(stride).unwrap_or(usize::MAX).max(1);
        let items = bytes.get(start..).unwrap_or_default();
        let mut widened = Vec::new();
        let mut at = 0usize;
        while let Some(item) = items.get(at..).and_then(|rest| rest.get(..texel_size)) {
            widened.extend(item);
            let end = widened.len();
            widened.resize(end + scalar.size() as usize, 0);
            scalar.store(one, &mut widened[end..]);
            if stride == 0 {
                break;
            }
            at = at.saturating_add(step);
        }
        let stride = if stride == 0 { 0 } else { u64::from(wide.texel_size()) };
        Ok(Attribute { location, format: format_of(wide)?, rate, offset: 0, stride, bytes: widened })
    }

    #[expect(clippy::type_complexity, reason = "the three kinds of resources")]
    fn resources(&self, pipeline: &Pipeline) -> Result<(Vec<Buffer>, Vec<BoundImage>, Vec<BoundSampler>), String> {
        let image =
            |view, is_sampled| image_of(self.script, self.buffers, view, levels_of(self.script, view, is_sampled)).map(|found| found.0);
        let (mut buffers, mut images, mut samplers) = (Vec::new(), Vec::new(), Vec::new());
        for binding in &pipeline.bindings {
            let (set, binding, resource) = (binding.set, binding.binding, binding.resource);
            match resource {
                Resource::Uniform(range) | Resource::Storage(range) => {
                    let bytes = &self.buffers[range.buffer].bytes;
                    buffers.push(Buffer { set, binding, bytes: bytes[bytes_of(bytes, range)].to_vec() });
                }
                Resource::SampledImage(view) => images.push(BoundImage { set, binding, image: image(view, true)? }),
                Resource::StorageImage(view) => images.push(BoundImage { set, binding, image: image(view, false)? }),
                Resource::CombinedImageSampler(view, sampler) => {
                    images.push(BoundImage { set, binding, image: image(view, true)? });
                    samplers.push(BoundSampler { set, binding, sampler: sampler_of(&self.script[sampler])? });
                }
                Resource::UniformTexelBuffer(id) | Resource::StorageTexelBuffer(id) => {
                    images.push(BoundImage { set, binding, image: texels_of(self.script, self.buffers, id)?.0 });
                }
                Resource::Sampler(sampler) => samplers.push(BoundSampler { set, binding, sampler: sampler_of(&self.script[sampler])? }),
            }
        }
        Ok((buffers, images, samplers))
    }

    #[expect(clippy::type_complexity, reason = "the attachments, and what they are")]
    fn targets(&mut self, pipeline: &Pipeline) -> Result<(Vec<ColourTarget>, Vec<Option<(BufferId, Range<usize>)>>), String> {
        let (width, height) = pipeline.framebuffer;
        if pipeline.colours.is_empty() {
            // This attachment has no buffer, so the limits of a script do not bound it.
            if u64::from(width) * u64::from(height) * 4 > MAX_BUFFER_BYTES {
                return Err(format!("an attachment of {width} by {height} texels; at most {MAX_BUFFER_BYTES} bytes are taken"));
            }
            let mut image = Image::new(image::Format::Bgra8Unorm, width, height, 1).map_err(|e| e.to_string())?;
            image.fill(0, &vec![0; width as usize * height as usize * 4]).map_err(|e| e.to_string())?;
            return Ok((vec![ColourTarget { location: 0, image }], vec![None]));
        }
        let (mut targets, mut shown) = (Vec::new(), Vec::new());
        for &(location, view) in &pipeline.colours {
            for sample in 0..self.script[view.buffer].samples {
                let (image, bytes) = self.attachment(pipeline, view, sample)?;
                targets.push(ColourTarget { location, image });
                shown.push(Some((view.buffer, bytes)));
            }
        }
        Ok((targets, shown))
    }
}
