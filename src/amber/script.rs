//! A script: what is run and what is expected of it. Names are resolved; what stands for a thing is its place in the list of its kind.
//!
//! This is the seam between the text and whatever runs it. A reader has checked that every reference exists, that sizes are within
//! [`super::limits`], that values have their types and that a command fits the kind of its pipeline. What a module needs of its pipeline, and
//! what a device offers, it has not.

use super::format::Format;
use super::layout::{DataType, Layout, Standard, StructType};
use super::scalar::{Number, Scalar};
use smallstep_semantics::spirv;
use std::sync::Arc;

/// A line of the text, from 1; 0 for what is not from a text. It is no part of what a script says: all lines compare equal.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Line(pub u32);

impl PartialEq for Line {
    fn eq(&self, _: &Line) -> bool {
        true
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! places {
    ($($name:ident $list:ident $item:ident;)*) => {
        $(
            #[doc = concat!("The place of one in [`Script::", stringify!($list), "`].")]
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(pub usize);

            impl std::ops::Index<$name> for Script {
                type Output = $item;

                fn index(&self, place: $name) -> &$item {
                    &self.$list[place.0]
                }
            }
        )*
    };
}

places! {
    ShaderId shaders Shader;
    BufferId buffers Buffer;
    SamplerId samplers Sampler;
    PipelineId pipelines Pipeline;
}

/// Which text the script was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// AmberScript: the first line is `#!amber`.
    #[default]
    Amber,
    /// The sections of VkRunner: `[test]` and so on.
    VkScript,
}

/// A script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// What it was read from.
    pub dialect: Dialect,
    /// What a device must offer.
    pub requirements: Vec<Requirement>,
    /// How long a fence may take, in milliseconds, where `SET ENGINE_DATA fence_timeout_ms` says so.
    pub fence_timeout_ms: Option<u32>,
    /// Files inside the script. Shaders that name one have its text already.
    pub files: Vec<VirtualFile>,
    /// STRUCT types.
    pub structs: Vec<Arc<StructType>>,
    /// Shaders.
    pub shaders: Vec<Shader>,
    /// Buffers and images.
    pub buffers: Vec<Buffer>,
    /// Samplers.
    pub samplers: Vec<Sampler>,
    /// Pipelines. A derived one is complete by itself.
    pub pipelines: Vec<Pipeline>,
    /// What is done, in order.
    pub commands: Vec<Command>,
}

/// Something that a device must offer for the script to say anything about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// What kind of thing.
    pub kind: RequirementKind,
    /// Its name, as `shaderFloat64` or `VK_KHR_storage_buffer_storage_class`.
    pub name: String,
    /// Where.
    pub line: Line,
}

/// Kinds of requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequirementKind {
    /// A feature of the physical device.
    Feature,
    /// A property that is true of it.
    Property,
    /// A device extension.
    DeviceExtension,
    /// An instance extension.
    InstanceExtension,
}

impl RequirementKind {
    /// Every kind with its command.
    pub const ALL: [(RequirementKind, &'static str); 4] = [
        (RequirementKind::Feature, "DEVICE_FEATURE"),
        (RequirementKind::Property, "DEVICE_PROPERTY"),
        (RequirementKind::DeviceExtension, "DEVICE_EXTENSION"),
        (RequirementKind::InstanceExtension, "INSTANCE_EXTENSION"),
    ];
}

/// A file inside the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualFile {
    /// Its path.
    pub path: String,
    /// Its text.
    pub text: Arc<str>,
    /// Where.
    pub line: Line,
}

/// What a shader is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Stage {
    Vertex,
    Fragment,
    Compute,
}

impl Stage {
    /// Every stage with its name.
    pub const ALL: [(Stage, &'static str); 3] = [(Stage::Vertex, "vertex"), (Stage::Fragment, "fragment"), (Stage::Compute, "compute")];

    /// Its name.
    pub fn name(self) -> &'static str {
        Stage::ALL.iter().find(|s| s.0 == self).map_or("", |s| s.1)
    }
}

/// A shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// Its name.
    pub name: String,
    /// What it is for; none for `multi`, where each ATTACH says.
    pub stage: Option<Stage>,
    /// What it is.
    pub source: Source,
    /// The target environment, as `spv1.3` or `vulkan1.1`.
    pub target_env: Option<String>,
    /// Where.
    pub line: Line,
    /// Where its source begins.
    pub source_line: Line,
}

/// A shader's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// SPIR-V assembly.
    Assembly(Arc<str>),
    /// SPIR-V words.
    Words(Arc<[u32]>),
    /// The vertex shader that passes the vec4 of location 0 on as the position.
    Passthrough,
    /// Another language. It needs a compiler.
    Foreign {
        /// Which.
        language: Language,
        /// The text.
        text: Arc<str>,
    },
}

/// A language that needs a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// OpenGL Shading Language.
    Glsl,
    /// High-Level Shading Language.
    Hlsl,
    /// OpenCL C.
    OpenClC,
}

impl Language {
    /// Every language with its name in AmberScript.
    pub const ALL: [(Language, &'static str); 3] = [(Language::Glsl, "GLSL"), (Language::Hlsl, "HLSL"), (Language::OpenClC, "OPENCL-C")];

    /// Its name.
    pub fn name(self) -> &'static str {
        Language::ALL.iter().find(|l| l.0 == self).map_or("", |l| l.1)
    }
}

/// The words of [`Source::Passthrough`]: entry point `main`, SPIR-V 1.0.
const PASSTHROUGH: &str = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main \"main\" %in %out
OpDecorate %in Location 0
OpDecorate %out BuiltIn Position
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%vec4 = OpTypeVector %float 4
%ptr_in = OpTypePointer Input %vec4
%ptr_out = OpTypePointer Output %vec4
%in = OpVariable %ptr_in Input
%out = OpVariable %ptr_out Output
%main = OpFunction %void None %fn
%entry = OpLabel
%value = OpLoad %vec4 %in
OpStore %out %value
OpReturn
OpFunctionEnd
";

/// The compiler of a shader in a foreign language: its words, or why it gave none.
pub type Compiler<'c> = &'c dyn Fn(&Shader) -> Result<Vec<u32>, String>;

/// Why a shader has no words: one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShaderError {
    /// The language needs a compiler, and none was given.
    Unsupported(String),
    /// Assembler or compiler refused it. Lines are those of the script.
    Invalid(String),
}

impl std::fmt::Display for ShaderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ShaderError::Unsupported(what) => write!(f, "unsupported: {what}"),
            ShaderError::Invalid(what) => write!(f, "error[amber]: {what}"),
        }
    }
}

impl std::error::Error for ShaderError {}

impl Shader {
    /// The SPIR-V version that its target environment stands for; 1.0 where none is named, as in Amber. None for an environment that is not
    /// known.
    pub fn version(&self) -> Option<(u8, u8)> {
        version_of(self.target_env.as_deref().unwrap_or("spv1.0"))
    }

    /// Its SPIR-V words. Without a `compiler`, a foreign language is unsupported.
    pub fn words(&self, compiler: Option<Compiler<'_>>) -> Result<Vec<u32>, ShaderError> {
        let assemble = |text: &str| {
            spirv::assemble(text, spirv::Options { version: self.version() }).map_err(|e| {
                let line = self.source_line.0 + e.line.saturating_sub(1);
                ShaderError::Invalid(format!("{line}:{}: shader {}: {}", e.column, self.name, e.what))
            })
        };
        match &self.source {
            Source::Assembly(text) => assemble(text),
            Source::Words(words) => Ok(words.to_vec()),
            Source::Passthrough => assemble(PASSTHROUGH),
            Source::Foreign { language, .. } => match compiler {
                Some(compile) => compile(self).map_err(|e| ShaderError::Invalid(format!("line {}: shader {}: {e}", self.line, self.name))),
                None => Err(ShaderError::Unsupported(format!(
                    "line {}: shader {} is {}, and no compiler is given for that",
                    self.line,
                    self.name,
                    language.name()
                ))),
            },
        }
    }
}

/// The SPIR-V version that a target environment stands for (Vulkan §Versions and Formats); none for a name that is not known.
pub fn version_of(target_env: &str) -> Option<(u8, u8)> {
    Some(match target_env {
        "spv1.0" | "vulkan1.0" => (1, 0),
        "spv1.1" => (1, 1),
        "spv1.2" => (1, 2),
        "spv1.3" | "vulkan1.1" => (1, 3),
        "spv1.4" | "vulkan1.1spv1.4" => (1, 4),
        "spv1.5" | "vulkan1.2" => (1, 5),
        "spv1.6" | "vulkan1.3" | "vulkan1.4" => (1, 6),
        _ => return None,
    })
}

/// A buffer or an image: items of one type that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// What an item is.
    pub data_type: DataType,
    /// Whether the type is followed by `[]`: then items lie as elements of an array do, else as members of a block.
    pub as_array: bool,
    /// By which rules items lie.
    pub standard: Standard,
    /// An item's layout by those rules.
    pub layout: Arc<Layout>,
    /// Bytes from one item to the next.
    pub stride: u64,
    /// How many items. Where [`Extent::Framebuffer`] says the size, it is that of the pipelines that draw to it, or 0 if none does.
    pub items: u64,
    /// How its items are arranged.
    pub extent: Extent,
    /// What it holds at first.
    pub initial: Initial,
    /// Where.
    pub line: Line,
}

/// How a buffer's items are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// In one row.
    Linear,
    /// An image of so many columns and rows; `declared` by IMAGE DIM_2D, or else by a BUFFER with WIDTH and HEIGHT.
    Image {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Whether IMAGE declared it.
        declared: bool,
    },
    /// An image as large as the framebuffers that it is bound to, or the buffer that it is copied from: columns and rows; zero if none.
    Framebuffer {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
}

impl Extent {
    /// Columns and rows, for an image.
    pub fn image(self) -> Option<(u32, u32)> {
        match self {
            Extent::Linear => None,
            Extent::Image { width, height, .. } | Extent::Framebuffer { width, height } => Some((width, height)),
        }
    }
}

/// What a buffer holds at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// Zeros.
    Zero,
    /// The bits of each scalar in flat order, item after item; what follows is zero.
    Data(Arc<[u64]>),
    /// Each scalar holds this number.
    Fill(Number),
    /// Item i of scalar type holds the i-th partial sum.
    Series {
        /// The first.
        from: Number,
        /// What is added from one to the next.
        by: Number,
    },
}

impl Buffer {
    /// Bytes of all its items.
    pub fn size(&self) -> u64 {
        self.stride * self.items
    }

    /// The image format of its items: theirs, or that of as many scalars that follow each other; none for matrices, arrays, structures, and
    /// vectors with padding between them.
    pub fn format(&self) -> Option<Format> {
        let format = match self.data_type {
            DataType::Texel(format) => Some(format),
            DataType::Scalar(scalar) => Format::of(scalar, 1),
            DataType::Vector(scalar, count) => Format::of(scalar, count),
            _ => None,
        };
        format.filter(|f| u64::from(f.texel_size()) == self.stride)
    }

    /// The scalar at a place in flat order over all items; its offset is from the buffer's start.
    pub fn slot(&self, index: u64) -> Option<super::layout::Slot> {
        let item = index / self.layout.scalars;
        if item >= self.items {
            return None;
        }
        let slot = self.layout.slot(index % self.layout.scalars)?;
        Some(super::layout::Slot { offset: slot.offset + item * self.stride, ..slot })
    }

    /// The place in flat order over all items of the scalar that begins at a byte.
    pub fn index_at(&self, offset: u64) -> Option<u64> {
        let item = offset / self.stride;
        if item >= self.items {
            return None;
        }
        self.layout.index_at(offset % self.stride).map(|i| i + item * self.layout.scalars)
    }

    /// How many scalars it holds.
    pub fn scalars(&self) -> u64 {
        self.items * self.layout.scalars
    }
}

/// A sampler (Vulkan §Samplers).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// Its name.
    pub name: String,
    /// Magnified.
    pub mag: Filter,
    /// Minified.
    pub min: Filter,
    /// Outside the image, along u, v and w.
    pub address: [AddressMode; 3],
    /// For [`AddressMode::ClampToBorder`].
    pub border: BorderColour,
    /// The least and the greatest level of detail, as bits of 32-bit floats; zeros if coordinates are not normalized.
    pub lod: [u32; 2],
    /// Whether coordinates go from 0 to 1 over the image, not by pixels.
    pub normalized: bool,
    /// Where.
    pub line: Line,
}

macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($variant:ident $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $type {
            $($variant,)*
        }

        impl $type {
            /// Every one with its name in a script.
            pub const ALL: &'static [($type, &'static str)] = &[$(($type::$variant, $name),)*];

            /// Its name in a script.
            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)* }
            }

            /// The one of that name.
            pub fn named(name: &str) -> Option<$type> {
                match name { $($name => Some($type::$variant),)* _ => None }
            }
        }
    };
}

named! {
    /// How texels are combined.
    Filter { Nearest "nearest", Linear "linear", }
}
named! {
    /// What stands for coordinates outside the image.
    AddressMode {
        Repeat "repeat",
        MirroredRepeat "mirrored_repeat",
        ClampToEdge "clamp_to_edge",
        ClampToBorder "clamp_to_border",
        MirrorClampToEdge "mirrored_clamp_to_edge",
    }
}
named! {
    /// The colour outside the image.
    BorderColour {
        FloatTransparentBlack "float_transparent_black",
        IntTransparentBlack "int_transparent_black",
        FloatOpaqueBlack "float_opaque_black",
        IntOpaqueBlack "int_opaque_black",
        FloatOpaqueWhite "float_opaque_white",
        IntOpaqueWhite "int_opaque_white",
    }
}
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
    /// How vertices make triangles (Vulkan §Triangle Lists, Strips, Fans).
    Topology { TriangleList "TRIANGLE_LIST", TriangleStrip "TRIANGLE_STRIP", TriangleFan "TRIANGLE_FAN", }
}
named! {
    /// How often vertex data moves on.
    Rate { Vertex "vertex", Instance "instance", }
}
named! {
    /// How two values are compared.
    Comparator { Eq "EQ", Ne "NE", Lt "LT", Le "LE", Gt "GT", Ge "GE", }
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
    /// Colour attachments by location, each location once. If there is none a graphics pipeline draws to an unseen one, B8G8R8A8_UNORM at
    /// location 0.
    pub colours: Vec<(u32, BufferId)>,
    /// The depth or stencil attachment.
    pub depth_stencil: Option<BufferId>,
    /// Vertex attributes, each location once.
    pub vertex_data: Vec<VertexData>,
    /// Indices.
    pub index_data: Option<BufferId>,
    /// Pixels in a row, and rows; 250 by 250 if not said.
    pub framebuffer: (u32, u32),
    /// The viewport; the whole framebuffer and depths 0 to 1 if not said.
    pub viewport: Option<Viewport>,
    /// Which faces are not drawn; none if not said.
    pub cull_mode: CullMode,
    /// Which faces are front; counter-clockwise ones if not said.
    pub front_face: FrontFace,
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
            depth_stencil: None,
            vertex_data: Vec::new(),
            index_data: None,
            framebuffer: DEFAULT_FRAMEBUFFER,
            viewport: None,
            cull_mode: CullMode::None,
            front_face: FrontFace::CounterClockwise,
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
    CombinedImageSampler(BufferId, SamplerId),
    /// An image.
    SampledImage(BufferId),
    /// An image to load from and store to.
    StorageImage(BufferId),
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

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What.
    pub action: Action,
    /// Where.
    pub line: Line,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Dispatch or draw.
    Run(Run),
    /// Fill the attachments with the clear values, which are zeros, and 1.0 for depth, if not set before.
    Clear(PipelineId),
    /// Set the clear colour: red, green, blue and alpha, bits of 32-bit floats.
    ClearColour(PipelineId, [u32; 4]),
    /// Set the clear depth: bits of a 32-bit float.
    ClearDepth(PipelineId, u32),
    /// Set the clear stencil.
    ClearStencil(PipelineId, u8),
    /// Copy all of a buffer.
    Copy {
        /// From.
        from: BufferId,
        /// To.
        to: BufferId,
    },
    /// Judge a buffer.
    Expect(Expect),
    /// Do these so many times.
    Repeat {
        /// How often.
        count: u32,
        /// What; no repetition in it.
        body: Vec<Command>,
    },
    /// Set some of a buffer, as VkScript can between two runs.
    Write {
        /// Which buffer.
        buffer: BufferId,
        /// What and where.
        lanes: Vec<Lane>,
    },
}

/// A dispatch or draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// By which pipeline.
    pub pipeline: PipelineId,
    /// Of what.
    pub what: RunKind,
}

/// What is dispatched or drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// So many workgroups.
    Compute([u32; 3]),
    /// A rectangle: left, top, width and height in pixels. Two triangles; location 0 gets their corners in place of vertex data.
    DrawRect([u32; 4]),
    /// Such a rectangle for each cell of a grid.
    DrawGrid {
        /// The whole grid: left, top, width and height in pixels.
        rect: [u32; 4],
        /// Cells in a row.
        columns: u32,
        /// Rows.
        rows: u32,
    },
    /// Triangles from vertex data.
    DrawArray {
        /// How vertices make triangles.
        topology: Topology,
        /// Whether the indices say which vertices.
        indexed: bool,
        /// The first vertex or index.
        first: u32,
        /// How many vertices or indices; to the end of the data if not said.
        count: Option<u32>,
        /// The first instance's number.
        first_instance: u32,
        /// How many instances.
        instances: u32,
    },
}

/// What a buffer must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// Which buffer.
    pub buffer: BufferId,
    /// What of it.
    pub check: Check,
    /// Where.
    pub line: Line,
}

/// What is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// Scalars, each with a value.
    Values {
        /// Found against expected.
        comparator: Comparator,
        /// With [`Comparator::Eq`] only: how far off a value may be. One holds for all; with more, each holds for its component of a vector or
        /// column, and components past them must be equal.
        tolerance: Vec<Tolerance>,
        /// Where and what.
        lanes: Vec<Lane>,
    },
    /// The texels of a rectangle all have a colour.
    Colour {
        /// Left, top, width and height in pixels.
        rect: [u32; 4],
        /// Red, green, blue and alpha from 0 to 255, which stand for 0 to 1.
        colour: [u8; 4],
        /// Whether alpha counts.
        alpha: bool,
        /// How far off a component may be, in units of 1; one for all, or one each for as many components as there are. If there is none, 0.002.
        tolerance: Vec<Tolerance>,
    },
    /// The same bytes as another buffer.
    EqBuffer(BufferId),
    /// The root mean square of the differences of all scalars is at most the tolerance.
    RmseBuffer(BufferId, Bits64),
    /// The greatest earth mover's distance over the four channels is at most the tolerance.
    HistogramEmdBuffer(BufferId, Bits64),
}

/// A double by its bits, so that scripts can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bits64(pub u64);

impl Bits64 {
    /// The double.
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<f64> for Bits64 {
    fn from(value: f64) -> Bits64 {
        Bits64(value.to_bits())
    }
}

impl std::fmt::Debug for Bits64 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.value())
    }
}

/// How far off a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// How far.
    pub amount: Bits64,
    /// Whether that is in hundredths of the expected value.
    pub percent: bool,
}

/// One scalar of a buffer and a value for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Bytes from the buffer's start.
    pub offset: u64,
    /// Its type.
    pub scalar: Scalar,
    /// Its place in its vector or column.
    pub component: u32,
    /// The value's bits.
    pub bits: u64,
}
