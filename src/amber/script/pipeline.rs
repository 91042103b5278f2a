//! Pipelines: shaders, what is bound, and state.

use std::sync::Arc;

use super::{BufferId, Line, SamplerId, ShaderId, Stage, View};
use crate::amber::format::Format;
use crate::amber::scalar::Scalar;

named! {
    /// What a pipeline does.
    PipelineKind { Compute "compute", Graphics "graphics", }
}
named! {
    /// Which faces are not drawn.
    CullMode { None "none", Front "front", Back "back", FrontAndBack "front_and_back", }
}
named! {
    /// Which way round the vertices of a front face go.
    FrontFace { CounterClockwise "counter_clockwise", Clockwise "clockwise", }
}
named! {
    /// How often vertex data moves on.
    Rate { Vertex "vertex", Instance "instance", }
}

named! {
    /// How a depth is compared with the one that is stored.
    Compare { Never "never", Less "less", Equal "equal", LessOrEqual "less_or_equal", Greater "greater", NotEqual "not_equal",
        GreaterOrEqual "greater_or_equal", Always "always", }
}

named! {
    /// By what a component is multiplied where it is blended.
    BlendFactor { Zero "zero", One "one", SrcColour "src_color", OneMinusSrcColour "one_minus_src_color", DstColour "dst_color",
        OneMinusDstColour "one_minus_dst_color", SrcAlpha "src_alpha", OneMinusSrcAlpha "one_minus_src_alpha", DstAlpha "dst_alpha",
        OneMinusDstAlpha "one_minus_dst_alpha", SrcAlphaSaturate "src_alpha_saturate", }
}

named! {
    /// What becomes of the two products. Amber's own spelling.
    BlendOp { Add "add", Subtract "substract", ReverseSubtract "reverse_substract", Min "min", Max "max", }
}

/// How colours, or alphas, are blended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlendEquation {
    /// The factor of what a fragment writes; one if not said.
    pub source: BlendFactor,
    /// The factor of what the attachment holds; zero if not said.
    pub destination: BlendFactor,
    /// What becomes of the products; their sum if not said.
    pub op: BlendOp,
}

impl Default for BlendEquation {
    fn default() -> BlendEquation {
        BlendEquation { source: BlendFactor::One, destination: BlendFactor::Zero, op: BlendOp::Add }
    }
}

named! {
    /// What becomes of a stencil value.
    StencilOp { Keep "keep", Zero "zero", Replace "replace", IncrementAndClamp "increment_and_clamp",
        DecrementAndClamp "decrement_and_clamp", Invert "invert", IncrementAndWrap "increment_and_wrap",
        DecrementAndWrap "decrement_and_wrap", }
}

/// The stencil test of front faces or of back faces: what STENCIL blocks say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilFace {
    /// What becomes of the value where the test fails; it is kept if not said.
    pub fail: StencilOp,
    /// Where both tests pass; it is kept if not said.
    pub pass: StencilOp,
    /// Where only the depth test fails; it is kept if not said.
    pub depth_fail: StencilOp,
    /// How the reference is compared; always if not said.
    pub compare: Compare,
    /// The bits that are compared; all if not said.
    pub compare_mask: u32,
    /// The bits that are written; all if not said.
    pub write_mask: u32,
    /// The reference; 0 if not said.
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
    /// Whether stencils are tested; off if not said.
    pub test: bool,
    /// Of front faces.
    pub front: StencilFace,
    /// Of back faces.
    pub back: StencilFace,
}

/// Blending: what a BLEND block says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlendState {
    /// Red, green and blue.
    pub colour: BlendEquation,
    /// Alpha.
    pub alpha: BlendEquation,
}

/// The depth test: what a DEPTH block says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthState {
    /// Whether depths are compared; off if not said.
    pub test: bool,
    /// Whether depths that pass are stored; off if not said.
    pub write: bool,
    /// How they are compared; less if not said.
    pub compare: Compare,
    /// Whether depths are clamped to the viewport's in place of clipping; off if not said.
    pub clamp: bool,
    /// The least and the greatest stored depth that a fragment may meet, bits of 32-bit floats; any
    /// if not said.
    pub bounds: Option<[u32; 2]>,
    /// What is added to depths, bits of 32-bit floats: the constant factor, the clamp and the slope
    /// factor; nothing if not said.
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
    /// What it does.
    pub kind: PipelineKind,
    /// Its shaders, one a stage.
    pub shaders: Vec<Attachment>,
    /// What descriptors stand for, each set and binding once.
    pub bindings: Vec<Binding>,
    /// The bytes of push constants.
    pub push_constants: Option<BufferId>,
    /// Colour attachments by location, each location once. If there is none a graphics pipeline
    /// draws to an unseen one, B8G8R8A8_UNORM at location 0.
    pub colours: Vec<(u32, View)>,
    /// What the colour attachments are resolved to, in their order, if they have several samples.
    pub resolves: Vec<BufferId>,
    /// The depth or stencil attachment.
    pub depth_stencil: Option<BufferId>,
    /// Vertex attributes, each location once.
    pub vertex_data: Vec<VertexData>,
    /// Indices.
    pub index_data: Option<BufferId>,
    /// How many invocations a subgroup must have, if that is said.
    pub subgroup_size: Option<u32>,
    /// Pixels in a row, and rows; 250 by 250 if not said.
    pub framebuffer: (u32, u32),
    /// The viewport; the whole framebuffer and depths 0 to 1 if not said.
    pub viewport: Option<Viewport>,
    /// Which faces are not drawn; none if not said.
    pub cull_mode: CullMode,
    /// Which faces are front; counter-clockwise ones if not said.
    pub front_face: FrontFace,
    /// The depth test.
    pub depth: DepthState,
    /// The stencil test.
    pub stencil: StencilState,
    /// Blending, if it is on.
    pub blend: Option<BlendState>,
    /// Where.
    pub line: Line,
}

/// A framebuffer's size if a pipeline does not say one.
pub const DEFAULT_FRAMEBUFFER: (u32, u32) = (250, 250);

impl Pipeline {
    /// A pipeline of which nothing is said yet.
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

/// A shader of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Which.
    pub shader: ShaderId,
    /// What for.
    pub stage: Stage,
    /// The entry point's name.
    pub entry: Arc<str>,
    /// Values of specialization constants, each id once.
    pub specializations: Vec<Specialization>,
    /// Where.
    pub line: Line,
}

/// The value of a specialization constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specialization {
    /// The constant's SpecId.
    pub id: u32,
    /// A scalar of 32 bits.
    pub scalar: Scalar,
    /// The value's bits.
    pub bits: u32,
}

/// What a descriptor stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The descriptor set.
    pub set: u32,
    /// The binding in it.
    pub binding: u32,
    /// What.
    pub resource: Resource,
    /// Where.
    pub line: Line,
}

/// A descriptor's resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A uniform buffer.
    Uniform(BufferRange),
    /// A storage buffer.
    Storage(BufferRange),
    /// An image and a sampler.
    CombinedImageSampler(View, SamplerId),
    /// An image.
    SampledImage(View),
    /// An image to load from and store to.
    StorageImage(View),
    /// A buffer whose items are texels, to be fetched.
    UniformTexelBuffer(BufferId),
    /// The same, to load from and store to.
    StorageTexelBuffer(BufferId),
    /// A sampler.
    Sampler(SamplerId),
}

/// Bytes of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferRange {
    /// Which buffer.
    pub buffer: BufferId,
    /// The first byte.
    pub offset: u64,
    /// How many; to the buffer's end if not said.
    pub range: Option<u64>,
}

/// A vertex attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexData {
    /// Whose items.
    pub buffer: BufferId,
    /// The location of the input variable.
    pub location: u32,
    /// When the next item is taken.
    pub rate: Rate,
    /// The format of what is read; that of the buffer's type if not said.
    pub format: Option<Format>,
    /// The first byte.
    pub offset: u32,
    /// Bytes from one to the next; the buffer's if not said.
    pub stride: Option<u32>,
    /// Where.
    pub line: Line,
}

/// A viewport (Vulkan §Controlling the Viewport); floats as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewport {
    /// Left, top, width and height in pixels, least and greatest depth: 32-bit floats.
    pub bits: [u32; 6],
}
