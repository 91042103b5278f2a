//! Draws by the relation. Coverage, interpolation and attachments are worked out by hand. Other
//! tests cover derivatives in quads with helper invocations, memory that fragments share, refused
//! draws, undefined behaviour and its place, rules that never apply, and planted rasterisation. The
//! lockstep machine runs each of these draws too, and must show the same definite values.

#[path = "spirv_draw/attachments.rs"]
mod attachments;
#[path = "spirv_draw/built_ins.rs"]
mod built_ins;
#[path = "spirv_draw/generated.rs"]
mod generated;
#[path = "spirv_draw/images.rs"]
mod images;
#[path = "spirv_draw/judged.rs"]
mod judged;
#[path = "spirv_draw/machine.rs"]
mod machine;
#[path = "spirv_draw/quads.rs"]
mod quads;
#[path = "spirv_draw/refused.rs"]
mod refused;
#[path = "spirv_draw/sets.rs"]
mod sets;
#[path = "spirv_draw/subgroups.rs"]
mod subgroups;
#[path = "spirv_draw/vertices.rs"]
mod vertices;

use smallstep_generate::spirv::beside;
use smallstep_generate::spirv::quads::Drawn;
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::image::{Compare, Format, Image};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster::{self, DepthBuffer, State, Topology};
use smallstep_semantics::spirv::draw::{self, Component, DrawObservation, ObservedTarget};
use smallstep_semantics::spirv::environment::{
    Attribute, BoundImage, BoundSampler, ColourTarget, DepthTarget, Draw, Limits, Rate, Resources, Robustness, Vertices,
};
use smallstep_semantics::spirv::{Buffer, Module, Options, Relation, assemble};

const TYPES: &str = "
    %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool
    %uint = OpTypeInt 32 0 %int = OpTypeInt 32 1 %float = OpTypeFloat 32
    %v2 = OpTypeVector %float 2 %v4 = OpTypeVector %float 4 %u4 = OpTypeVector %uint 4 %i4 = OpTypeVector %int 4
    %f0 = OpConstant %float 0 %f1 = OpConstant %float 1 %f2 = OpConstant %float 2 %half = OpConstant %float 0.5 %quarter = OpConstant %float 0.25
    %f4 = OpConstant %float 4 %third = OpConstant %float 0.3333
    %c0 = OpConstant %uint 0 %c1 = OpConstant %uint 1 %c2 = OpConstant %uint 2 %c3 = OpConstant %uint 3 %c300 = OpConstant %uint 300
    %i0 = OpConstant %int 0 %i1 = OpConstant %int 1
    %red = OpConstantComposite %v4 %f1 %f0 %f0 %f1 %grey = OpConstantComposite %v4 %half %half %half %half
    %pin_v4 = OpTypePointer Input %v4 %pin_v2 = OpTypePointer Input %v2 %pin_float = OpTypePointer Input %float %pin_bool = OpTypePointer Input %bool
    %pin_uint = OpTypePointer Input %uint %pin_int = OpTypePointer Input %int
    %pout_v4 = OpTypePointer Output %v4 %pout_float = OpTypePointer Output %float %pout_uint = OpTypePointer Output %uint
    %pout_u4 = OpTypePointer Output %u4 %pout_v2 = OpTypePointer Output %v2
";

fn load(text: &str) -> Module {
    let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Module::load(&words).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A vertex stage that stores %pos, of location 0, to Position. Its input %a of location 1 is a
/// vec4, and so is its output %v of location 0.
fn vertex(interface: &str, decorations: &str, declarations: &str, body: &str) -> Module {
    load(&vertex_text(interface, decorations, declarations, body))
}

fn vertex_text(interface: &str, decorations: &str, declarations: &str, body: &str) -> String {
    format!(
        "OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint Vertex %main \"vs\" %pos %a %position %v %vi %ii {interface}
        OpDecorate %pos Location 0 OpDecorate %a Location 1 OpDecorate %v Location 0 OpDecorate %position BuiltIn Position
        OpDecorate %vi BuiltIn VertexIndex OpDecorate %ii BuiltIn InstanceIndex {decorations} {TYPES}
        %pos = OpVariable %pin_v4 Input %a = OpVariable %pin_v4 Input %vi = OpVariable %pin_uint Input %ii = OpVariable %pin_uint Input
        %position = OpVariable %pout_v4 Output %v = OpVariable %pout_v4 Output {declarations}
        %main = OpFunction %void None %fn %entry = OpLabel
        %p = OpLoad %v4 %pos OpStore %position %p {body} OpReturn OpFunctionEnd"
    )
}

/// The vertex stage that passes %a on as %v.
fn passing() -> Module {
    vertex("", "", "", "%x = OpLoad %v4 %a OpStore %v %x")
}

/// A fragment stage with FragCoord %coord, the vec4 input %in of location 0 and the vec4 output
/// %out of location 0. %buf is a buffer of unsigned words.
fn fragment(interface: &str, decorations: &str, declarations: &str, body: &str) -> Module {
    load(&fragment_text(interface, decorations, declarations, body))
}

fn fragment_text(interface: &str, decorations: &str, declarations: &str, body: &str) -> String {
    format!(
        "OpCapability Shader OpCapability DerivativeControl OpCapability DemoteToHelperInvocation
        OpExtension \"SPV_EXT_demote_to_helper_invocation\" OpExtension \"SPV_KHR_terminate_invocation\"
        OpExtension \"SPV_KHR_storage_buffer_storage_class\" OpMemoryModel Logical GLSL450
        OpEntryPoint Fragment %main \"fs\" %coord %in %out {interface} OpExecutionMode %main OriginUpperLeft
        OpDecorate %coord BuiltIn FragCoord OpDecorate %in Location 0 OpDecorate %out Location 0
        OpDecorate %words ArrayStride 4 OpDecorate %block Block OpMemberDecorate %block 0 Offset 0
        OpDecorate %buf DescriptorSet 0 OpDecorate %buf Binding 0 {decorations} {TYPES}
        %words = OpTypeRuntimeArray %uint %block = OpTypeStruct %words %pblock = OpTypePointer StorageBuffer %block
        %buf = OpVariable %pblock StorageBuffer %pword = OpTypePointer StorageBuffer %uint
        %coord = OpVariable %pin_v4 Input %in = OpVariable %pin_v4 Input %out = OpVariable %pout_v4 Output {declarations}
        %main = OpFunction %void None %fn %entry = OpLabel {body} OpReturn OpFunctionEnd"
    )
}

/// The fragment stage that shows one colour.
fn constant(colour: &str) -> Module {
    fragment("", "", "", &format!("OpStore %out %{colour}"))
}

/// Loads FragCoord as %c, and its x and y as %cx and %cy.
const COORDINATES: &str = "%c = OpLoad %v4 %coord %cx = OpCompositeExtract %float %c 0 %cy = OpCompositeExtract %float %c 1 ";

/// A draw with its resources and settings. The framebuffer has 8 by 8 pixels.
struct Scene {
    vertex: Module,
    fragment: Module,
    attributes: Vec<Attribute>,
    topology: Topology,
    indices: Option<Vec<u32>>,
    first: u32,
    count: u32,
    vertex_offset: i32,
    instances: u32,
    first_instance: u32,
    targets: Vec<ColourTarget>,
    depth: Option<DepthTarget>,
    state: State,
    buffers: Vec<Buffer>,
    images: Vec<BoundImage>,
    samplers: Vec<BoundSampler>,
    robustness: Robustness,
    limits: Limits,
    relation: Relation,
    rules: raster::Rules,
    schedule: Schedule,
    /// Whether the lockstep machine runs the draw too and must show the same.
    beside: bool,
}

/// An attribute of vectors of four floats.
fn floats(location: u32, rate: Rate, items: &[[f32; 4]]) -> Attribute {
    let bytes = items.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    Attribute { location, format: Format::Rgba32Sfloat, rate, offset: 0, stride: 16, bytes }
}

/// The clip coordinates of a place in pixels, with depth `z` and this `w`.
fn at(x: f32, y: f32, z: f32, w: f32) -> [f32; 4] {
    [(x - 4.0) / 4.0 * w, (y - 4.0) / 4.0 * w, z * w, w]
}

/// A target of 8 by 8 pixels in that format, cleared to these bits.
fn target(location: u32, format: Format, clear: [u32; 4]) -> ColourTarget {
    let mut image = Image::new(format, 8, 8, 1).expect("an image");
    image.clear(0, clear).expect("a level");
    ColourTarget { location, image }
}

impl Scene {
    fn new(vertex: Module, fragment: Module, positions: &[[f32; 4]]) -> Scene {
        Scene {
            vertex,
            fragment,
            attributes: vec![floats(0, Rate::Vertex, positions)],
            topology: Topology::List,
            indices: None,
            first: 0,
            count: positions.len() as u32,
            vertex_offset: 0,
            instances: 1,
            first_instance: 0,
            targets: vec![target(0, Format::Rgba32Sfloat, [0; 4])],
            depth: None,
            state: State::of_size(8, 8),
            buffers: vec![Buffer { set: 0, binding: 0, bytes: vec![0; 16] }],
            images: Vec::new(),
            samplers: Vec::new(),
            robustness: Robustness::None,
            limits: Limits { instructions: 1_000_000, ..Limits::default() },
            relation: Relation::default(),
            rules: raster::Rules::default(),
            schedule: Schedule::default(),
            beside: true,
        }
    }

    /// A generated draw.
    fn drawn(drawn: &Drawn) -> Scene {
        let load = |words: &[u32]| Module::load(words).unwrap_or_else(|e| panic!("{e}\n{}", drawn.text));
        let mut scene = Scene::new(load(&drawn.vertex), load(&drawn.fragment), &drawn.positions);
        let samples = drawn.mix.samples;
        scene.attributes.push(floats(1, Rate::Vertex, &drawn.given));
        scene.targets = (0..samples).map(|_| target(0, drawn.format, [0; 4])).collect();
        scene.depth = drawn.depth.map(|format| DepthTarget {
            buffer: DepthBuffer::new(format, 8, 8 * samples, 1.0).expect("a depth buffer"),
            compare: Compare::LessOrEqual,
            writes: true,
            stencil: None,
        });
        scene.state.samples = samples;
        scene.buffers = if drawn.mix.sees { vec![Buffer { set: 0, binding: 0, bytes: drawn.buffer.clone() }] } else { Vec::new() };
        scene.images = vec![BoundImage { set: 0, binding: 1, image: drawn.texture.clone() }];
        scene.samplers = vec![BoundSampler { set: 0, binding: 2, sampler: drawn.sampler }];
        scene
    }

    fn run(&self) -> Outcome<DrawObservation> {
        let outcome = self.relation_alone();
        if self.beside {
            machine::agrees(&outcome, &self.with(|draw| machine::run(self, draw)));
        }
        outcome
    }

    fn relation_alone(&self) -> Outcome<DrawObservation> {
        self.with(|draw| {
            let outcome = draw::run_by(&self.vertex, &self.fragment, draw, &self.relation, &self.rules, &self.schedule, &mut ());
            outcome.expect("the entry points are there")
        })
    }

    fn with<R>(&self, run: impl FnOnce(&Draw<'_>) -> R) -> R {
        let resources = Resources {
            images: &self.images,
            samplers: &self.samplers,
            robustness: self.robustness,
            ..Resources::of_buffers(&self.buffers)
        };
        let draw = Draw {
            vertex: "vs",
            fragment: "fs",
            vertices: Vertices {
                topology: self.topology,
                indices: self.indices.as_deref(),
                first: self.first,
                count: self.count,
                vertex_offset: self.vertex_offset,
                first_instance: self.first_instance,
                instances: self.instances,
                attributes: &self.attributes,
            },
            resources,
            state: self.state,
            targets: &self.targets,
            depth: self.depth.as_ref(),
            limits: self.limits,
        };
        run(&draw)
    }

    #[track_caller]
    fn observed(&self) -> DrawObservation {
        match self.run() {
            Outcome::Observed(observation) => observation,
            other => panic!("{other:?}"),
        }
    }
}

/// Whether a component is a zero, of either sign. Constants keep the sign of a zero only if the
/// module asks for it.
fn is_zero(component: &Component) -> bool {
    match component {
        Component::Exactly(code) => *code == 0,
        Component::OneOf(codes) => codes.best == 0 && codes.others.as_slice() == [1 << 31],
        _ => false,
    }
}

/// The first component of each pixel of a target of floats: `.` is a zero, `#` any other exact
/// value, `~` one of several codes, `?` undecided, and `!` undefined.
fn picture(target: &ObservedTarget) -> Vec<String> {
    let letter = |x, y| match target.component(x, y, 0).expect("a pixel") {
        zero if is_zero(&zero) => '.',
        Component::Exactly(_) => '#',
        Component::OneOf(_) => '~',
        Component::Within(_) | Component::Undecided(_) => '?',
        Component::Undefined(_) => '!',
    };
    (0..8).map(|y| (0..8).map(|x| letter(x, y)).collect()).collect()
}

/// The exact float in a component of the first target. Panics if the component is not exact.
#[track_caller]
fn exactly(observation: &DrawObservation, x: u32, y: u32, component: usize) -> f32 {
    match observation.targets[0].component(x, y, component) {
        Some(zero) if is_zero(&zero) => 0.0,
        Some(Component::Exactly(bits)) => f32::from_bits(bits as u32),
        other => panic!("({x}, {y}): {other:?}"),
    }
}

/// The definite float in a component, whatever devices may show.
fn definite(target: &ObservedTarget, x: u32, y: u32, component: usize) -> f32 {
    let (texel, _) = target.image.raw(0, x.into(), y.into()).expect("a pixel");
    f32::from_bits((texel >> (32 * component)) as u32)
}

/// The upper left half of the framebuffer. The long edge passes through the centres of the pixels
/// on the diagonal.
const HALF: [[f32; 4]; 3] = [[-1.0, -1.0, 0.5, 1.0], [1.0, -1.0, 0.5, 1.0], [-1.0, 1.0, 0.5, 1.0]];
/// A triangle over all of the framebuffer, with no edge near a centre.
const ALL: [[f32; 4]; 3] = [[-1.0, -1.0, 0.5, 1.0], [4.0, -1.0, 0.5, 1.0], [-1.0, 4.0, 0.5, 1.0]];
