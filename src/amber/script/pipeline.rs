//! Pipelines: shaders, bindings and state.

use std::sync::Arc;

use super::{BufferId, Line, SamplerId, ShaderId, Stage, View};
use crate::amber::format::Format;
use crate::amber::scalar::Scalar;

named! {
    /// The kind of a pipeline.
    PipelineKind { Compute "compute", Graphics "graphics", }
}
named! {
    /// The faces that are culled.
    CullMode { None "none", Front "front", Back "back", FrontAndBack "front_and_back", }
}
named! {
    /// The orientation of a front face.
    FrontFace { CounterClockwise "counter_clockwise", Clockwise "clockwise", }
}
named! {
    /// Whether vertex data advances with each vertex or each instance.
    Rate { Vertex "vertex", Instance "instance", }
}

named! {
    /// The comparison of a depth with the stored depth.
    Compare { Never "never", Less "less", Equal "equal", LessOrEqual "less_or_equal", Greater "greater", NotEqual "not_equal",
        GreaterOrEqual "greater_or_equal", Always "always", }
}

named! {
    /// The factor of a colour component in blending.
    BlendFactor { Zero "zero", One "one", SrcColour "src_color", OneMinusSrcColour "one_minus_src_color", DstColour "dst_color",
        OneMinusDstColour "one_minus_dst_color", SrcAlpha "src_alpha", OneMinusSrcAlpha "one_minus_src_alpha", DstAlpha "dst_alpha",
        OneMinusDstAlpha "one_minus_dst_alpha", SrcAlphaSaturate "src_alpha_saturate", }
}

named! {
    /// The combination of the two products in blending. The spelling is Amber's.
    BlendOp { Add "add", Subtract "substract", ReverseSubtract "reverse_substract", Min "min", Max "max", }
}

/// The blending of colours or of alphas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlendEquation {
    /// The factor of the fragment's value. The default is one.
    pub source: BlendFactor,
    /// The factor of the attachment's value. The default is zero.
    pub destination: BlendFactor,
    /// The combination of the products. The default is their sum.
    pub op: BlendOp,
}

impl Default for BlendEquation {
    fn default() -> BlendEquation {
        BlendEquation { source: BlendFactor::One, destination: BlendFactor::Zero, op: BlendOp::Add }
    }
}

named! {
    /// The change of a stencil value.
    StencilOp { Keep "keep", Zero "zero", Replace "replace", IncrementAndClamp "increment_and_clamp",
        DecrementAndClamp "decrement_and_clamp", Invert "invert", IncrementAndWrap "increment_and_wrap",
        DecrementAndWrap "decrement_and_wrap", }
}

/// The stencil test of front faces or of back faces, as STENCIL blocks declare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilFace {
    /// The change if the test fails. The default is none.
    pub fail: StencilOp,
    /// The change if both tests pass. The default is none.
    pub pass: StencilOp,
    /// The change if only the depth test fails. The default is none.
    pub depth_fail: StencilOp,
    /// The comparison with the reference. The default is always.
    pub compare: Compare,
    /// The mask of the compared bits. The default is all.
    pub compare_mask: u32,
    /// The mask of the written bits. The default is all.
    pub write_mask: u32,
    /// The reference value. The default is 0.
    pub reference: u32,
}

impl Default for StencilFace {
    fn default() -> StencilFace {
        let (fail, pass, depth_fail) = (StencilOp::Keep, StencilOp::Keep, StencilOp::Keep);
        StencilFace { fail, pass, depth_fail, compare: Compare::Always, compare_mask: u32::MAX, write_mask: u32::MAX, reference: 0 }
    }
}

/// The stencil test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StencilState {
    /// Whether the test is on. The default is off.
    pub test: bool,
    /// The test of front faces.
    pub front: StencilFace,
    /// The test of back faces.
    pub back: StencilFace,
}

/// The blending, as a BLEND block declares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlendState {
    /// The blending of red, green and blue.
    pub colour: BlendEquation,
    /// The blending of alpha.
    pub alpha: BlendEquation,
}

/// The depth test, as a DEPTH block declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthState {
    /// Whether depths are compared. The default is off.
    pub test: bool,
    /// Whether depths that pass are stored. The default is off.
    pub write: bool,
    /// The comparison. The default is less.
    pub compare: Compare,
    /// Whether depths are clamped to the viewport's range instead of clipped. The default is off.
    pub clamp: bool,
    /// The least and the greatest stored depth for which fragments pass, as bits of 32-bit floats.
    /// By default any depth.
    pub bounds: Option<[u32; 2]>,
    /// The additions to depths, as bits of 32-bit floats: the constant factor, the clamp and the
    /// slope factor. `None` if nothing is added.
    pub bias: Option<[u32; 3]>,
}

impl Default for DepthState {
    fn default() -> DepthState {
        DepthState { test: false, write: false, compare: Compare::Less, clamp: false, bounds: None, bias: None }
    }
}

/// A pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// The kind of pipeline.
    pub kind: PipelineKind,
    /// The shaders, at most one for each stage.
    pub shaders: Vec<Attachment>,
    /// The resources of descriptors. Each set and binding occurs once.
    pub bindings: Vec<Binding>,
    /// The buffer with the push constants.
    pub push_constants: Option<BufferId>,
    /// The colour attachments by location, each location once. If there is none, a graphics
    /// pipeline draws to an invisible attachment, B8G8R8A8_UNORM at location 0.
    pub colours: Vec<(u32, View)>,
    /// The resolve targets of the colour attachments, in their order, if these have
    /// several samples.
    pub resolves: Vec<BufferId>,
    /// The depth or stencil attachment.
    pub depth_stencil: Option<BufferId>,
    /// The vertex attributes. Each location occurs once.
    pub vertex_data: Vec<VertexData>,
    /// The buffer with the indices.
    pub index_data: Option<BufferId>,
    /// The required number of invocations in a subgroup, if the script declares one.
    pub subgroup_size: Option<u32>,
    /// The width and height of the framebuffer in pixels. The default is 250 by 250.
    pub framebuffer: (u32, u32),
    /// The viewport. The default is the whole framebuffer, with depths 0 to 1.
    pub viewport: Option<Viewport>,
    /// The faces that are culled. The default is none.
    pub cull_mode: CullMode,
    /// The orientation of front faces. The default is counter-clockwise.
    pub front_face: FrontFace,
    /// The depth test.
    pub depth: DepthState,
    /// The stencil test.
    pub stencil: StencilState,
    /// The blending. `None` if it is off.
    pub blend: Option<BlendState>,
    /// The line of its declaration.
    pub line: Line,
}

/// The size of a framebuffer if the pipeline declares none.
pub const DEFAULT_FRAMEBUFFER: (u32, u32) = (250, 250);

impl Pipeline {
    /// A pipeline with all defaults.
    pub fn new(name: String, kind: PipelineKind, line: Line) -> Pipeline {
        Pipeline {
            name,
            kind,
            shaders: Vec::new(),
            bindings: Vec::new(),
            push_constants: None,
            colours: Vec::new(),
            resolves: Vec::new(),
            depth_stencil: None,
            vertex_data: Vec::new(),
            index_data: None,
            subgroup_size: None,
            framebuffer: DEFAULT_FRAMEBUFFER,
            viewport: None,
            cull_mode: CullMode::None,
            front_face: FrontFace::CounterClockwise,
            depth: DepthState::default(),
            stencil: StencilState::default(),
            blend: None,
            line,
        }
    }

    /// The shader of a stage.
    pub fn shader(&self, stage: Stage) -> Option<&Attachment> {
        self.shaders.iter().find(|s| s.stage == stage)
    }
}

/// A shader that is attached to a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The shader.
    pub shader: ShaderId,
    /// The stage in which it runs.
    pub stage: Stage,
    /// The entry point's name.
    pub entry: Arc<str>,
    /// The values of specialization constants. Each id occurs once.
    pub specializations: Vec<Specialization>,
    /// The line of the ATTACH.
    pub line: Line,
}

/// The value of a specialization constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specialization {
    /// The constant's SpecId.
    pub id: u32,
    /// The type, which has 32 bits.
    pub scalar: Scalar,
    /// The value's bits.
    pub bits: u32,
}

/// A descriptor of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The descriptor set.
    pub set: u32,
    /// The binding number in the set.
    pub binding: u32,
    /// The resource.
    pub resource: Resource,
    /// The line of the BIND.
    pub line: Line,
}

/// The resource of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A uniform buffer.
    Uniform(BufferRange),
    /// A storage buffer.
    Storage(BufferRange),
    /// An image and a sampler.
    CombinedImageSampler(View, SamplerId),
    /// An image to sample or fetch from.
    SampledImage(View),
    /// An image to load from and store to.
    StorageImage(View),
    /// A buffer whose items are texels, to fetch from.
    UniformTexelBuffer(BufferId),
    /// A buffer whose items are texels, to load from and store to.
    StorageTexelBuffer(BufferId),
    /// A sampler.
    Sampler(SamplerId),
}

impl Resource {
    /// What a buffer is bound as, in the words of AmberScript. `None` for a sampler alone.
    pub fn role(self) -> Option<&'static str> {
        match self {
            Resource::Uniform(_) => Some("uniform"),
            Resource::Storage(_) => Some("storage"),
            Resource::CombinedImageSampler(..) => Some("combined_image_sampler"),
            Resource::SampledImage(_) => Some("sampled_image"),
            Resource::StorageImage(_) => Some("storage_image"),
            Resource::UniformTexelBuffer(_) => Some("uniform_texel_buffer"),
            Resource::StorageTexelBuffer(_) => Some("storage_texel_buffer"),
            Resource::Sampler(_) => None,
        }
    }

    /// The buffer, unless it is a sampler alone.
    pub fn buffer(self) -> Option<BufferId> {
        match self {
            Resource::Uniform(range) | Resource::Storage(range) => Some(range.buffer),
            Resource::CombinedImageSampler(view, _) | Resource::SampledImage(view) | Resource::StorageImage(view) => Some(view.buffer),
            Resource::UniformTexelBuffer(buffer) | Resource::StorageTexelBuffer(buffer) => Some(buffer),
            Resource::Sampler(_) => None,
        }
    }

    /// The sampler, if there is one.
    pub fn sampler(self) -> Option<SamplerId> {
        match self {
            Resource::CombinedImageSampler(_, sampler) | Resource::Sampler(sampler) => Some(sampler),
            _ => None,
        }
    }

    /// The bytes of a uniform or storage buffer.
    pub fn range(self) -> Option<BufferRange> {
        match self {
            Resource::Uniform(range) | Resource::Storage(range) => Some(range),
            _ => None,
        }
    }

    /// The levels of an image.
    pub fn view(self) -> Option<View> {
        match self {
            Resource::CombinedImageSampler(view, _) | Resource::SampledImage(view) | Resource::StorageImage(view) => Some(view),
            _ => None,
        }
    }
}

/// A range of bytes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferRange {
    /// The buffer that contains the range.
    pub buffer: BufferId,
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes. By default to the buffer's end.
    pub range: Option<u64>,
}

/// A vertex attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexData {
    /// The buffer with the values.
    pub buffer: BufferId,
    /// The location of the input variable.
    pub location: u32,
    /// The rate at which the attribute advances.
    pub rate: Rate,
    /// The format of a value. The default is that of the buffer's type.
    pub format: Option<Format>,
    /// The offset of the first byte.
    pub offset: u32,
    /// The distance in bytes from one value to the next. The default is the buffer's stride.
    pub stride: Option<u32>,
    /// The line of its declaration.
    pub line: Line,
}

/// A viewport (Vulkan §Controlling the Viewport), with floats as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewport {
    /// Left, top, width and height in pixels, least and greatest depth: 32-bit floats.
    pub bits: [u32; 6],
}
