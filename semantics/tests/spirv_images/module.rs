//! Modules whose `main` does something with images and writes `%r` to a buffer, and the resources
//! that are bound for them.

use std::fmt::Write;

use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::image::{AddressMode, Border, Compare, Filter, Format, Image, Precision, Robustness, Sampler, Shape};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{BoundImage, BoundSampler, Dispatch, Limits, Observation, Resources};
use smallstep_semantics::spirv::grid::Report;
use smallstep_semantics::spirv::step::{Relation, Sink};
use smallstep_semantics::spirv::{Buffer, Module, Options, assemble, grid, lockstep};

/// Turns the constants of a body, such as `f(0.5)`, `i(1,-1)` and `u(2)`, into declarations
/// and ids.
fn constants(body: &str) -> (String, String) {
    let (mut declarations, mut out) = (String::new(), String::new());
    let mut rest = body;
    let mut number = 0;
    while let Some((kind, at)) =
        [("f", " f("), ("i", " i("), ("u", " u(")].iter().filter_map(|(k, s)| Some((*k, rest.find(s)? + 1))).min_by_key(|x| x.1)
    {
        let end = at + rest[at..].find(')').expect("constants end in a parenthesis");
        let values: Vec<&str> = rest[at + 2..end].split(',').collect();
        let (scalar, vector) = match kind {
            "f" => ("float", "v"),
            "i" => ("int", "i"),
            _ => ("uint", "u"),
        };
        number += 1;
        for (c, value) in values.iter().enumerate() {
            let _ = write!(declarations, "%k{number}_{c} = OpConstant %{scalar} {value} ");
        }
        let parts: Vec<String> = (0..values.len()).map(|c| format!("%k{number}_{c}")).collect();
        if parts.len() > 1 {
            let _ = write!(declarations, "%k{number} = OpConstantComposite %{vector}{} {} ", parts.len(), parts.join(" "));
        }
        let id = if parts.len() > 1 { format!("%k{number}") } else { parts[0].clone() };
        out.push_str(&rest[..at]);
        out.push_str(&id);
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    (declarations, out)
}

/// The number of components of a result type.
fn count(type_: &str) -> usize {
    match type_ {
        "v4" | "u4" | "i4" => 4,
        "i3" => 3,
        "v2" | "u2" | "i2" => 2,
        _ => 1,
    }
}

/// A module that declares all float controls. Its `main` has that body, with workgroups of `size`
/// invocations, and writes `%r` of that type to the buffer. An empty type writes nothing. `%lix` is
/// the local index, `%buf` the buffer and `%pword` a pointer to a word of it.
pub fn text(type_: &str, body: &str, size: u32, functions: &str) -> String {
    let mut body = body.to_string();
    match count(type_) {
        _ if type_.is_empty() => {}
        1 => {
            let cast = if type_ == "uint" { "OpCopyObject" } else { "OpBitcast" };
            let _ = write!(body, " %r_ = {cast} %uint %r %r_0 = OpAccessChain %pword %buf u(0) u(0) OpStore %r_0 %r_");
        }
        n => {
            let cast = if type_.starts_with('u') { "OpCopyObject" } else { "OpBitcast" };
            let _ = write!(body, " %r_ = {cast} %u{n} %r");
            for c in 0..n {
                let _ = write!(
                    body,
                    " %r_{c} = OpCompositeExtract %uint %r_ {c} %r_p{c} = OpAccessChain %pword %buf u(0) u({c}) OpStore %r_p{c} %r_{c}"
                );
            }
        }
    }
    let (constants, body) = constants(&body);
    let (more, functions) = self::constants(functions);
    let more = more.replace("%k", "%m");
    let functions = functions.replace("%k", "%m");
    let variables = [
        ("tex", 1, "img"),
        ("near", 2, "smp"),
        ("lin", 3, "smp"),
        ("depth", 4, "img"),
        ("cmp", 5, "smp"),
        ("utex", 6, "uimg"),
        ("itex", 7, "iimg"),
        ("st", 8, "stimg"),
        ("su", 9, "suimg"),
        ("both", 10, "simg"),
        ("blank", 11, "img"),
        ("mirror", 12, "smp"),
        ("border", 13, "smp"),
        ("unnormal", 14, "smp"),
        ("less", 15, "smp"),
        ("any", 16, "anyimg"),
        ("wide", 17, "img"),
        ("split", 18, "smp"),
        ("cubes", 19, "cubimg"),
        ("stcubes", 20, "stcubimg"),
    ];
    let (mut decorations, mut declared) = (String::new(), String::new());
    if body.contains("%x = OpExtInst") {
        decorations.push_str("OpDecorate %x NoContraction ");
    }
    for (name, binding, of) in variables {
        let _ = write!(decorations, "OpDecorate %{name} DescriptorSet 0 OpDecorate %{name} Binding {binding} ");
        let _ = write!(declared, "%p_{name} = OpTypePointer UniformConstant %{of} %{name} = OpVariable %p_{name} UniformConstant ");
    }
    format!(
        "OpCapability Shader OpCapability ImageQuery OpCapability ImageGatherExtended OpCapability StorageImageExtendedFormats
        OpCapability ImageCubeArray
        OpCapability StorageImageReadWithoutFormat OpCapability StorageImageWriteWithoutFormat
        OpCapability RoundingModeRTE OpCapability SignedZeroInfNanPreserve OpExtension \"SPV_KHR_float_controls\"
        OpExtension \"SPV_KHR_storage_buffer_storage_class\" %glsl = OpExtInstImport \"GLSL.std.450\" OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %lix OpExecutionMode %main LocalSize {size} 1 1
        OpExecutionMode %main RoundingModeRTE 32 OpExecutionMode %main SignedZeroInfNanPreserve 32
        OpDecorate %lix BuiltIn LocalInvocationIndex OpDecorate %words ArrayStride 4 OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0 OpDecorate %buf DescriptorSet 0 OpDecorate %buf Binding 0 {decorations}
        %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %uint = OpTypeInt 32 0 %int = OpTypeInt 32 1 %float = OpTypeFloat 32
        %v2 = OpTypeVector %float 2 %v3 = OpTypeVector %float 3 %v4 = OpTypeVector %float 4
        %u2 = OpTypeVector %uint 2 %u3 = OpTypeVector %uint 3 %u4 = OpTypeVector %uint 4 %i2 = OpTypeVector %int 2 %i3 = OpTypeVector %int 3 %i4 = OpTypeVector %int 4
        %smp = OpTypeSampler %img = OpTypeImage %float 2D 0 0 0 1 Unknown %simg = OpTypeSampledImage %img
        %uimg = OpTypeImage %uint 2D 0 0 0 1 Unknown %suimg_ = OpTypeSampledImage %uimg %iimg = OpTypeImage %int 2D 0 0 0 1 Unknown
        %stimg = OpTypeImage %float 2D 0 0 0 2 Rgba8 %suimg = OpTypeImage %uint 2D 0 0 0 2 R32ui
        %anyimg = OpTypeImage %uint 2D 0 0 0 2 Unknown
        %cubimg = OpTypeImage %float Cube 0 1 0 1 Unknown %scubimg = OpTypeSampledImage %cubimg
        %stcubimg = OpTypeImage %uint Cube 0 1 0 2 R32ui
        %pin = OpTypePointer Input %uint %lix = OpVariable %pin Input %words = OpTypeRuntimeArray %uint %block = OpTypeStruct %words
        %pblock = OpTypePointer StorageBuffer %block %buf = OpVariable %pblock StorageBuffer %pword = OpTypePointer StorageBuffer %uint
        {declared} {constants} {more}
        %zero_ = OpConstant %int 0 %one_ = OpConstant %int 1 %len4 = OpConstant %uint 4 %arr4 = OpTypeArray %i2 %len4
        %off0 = OpConstantComposite %i2 %zero_ %zero_ %off1 = OpConstantComposite %i2 %one_ %zero_ %off2 = OpConstantComposite %i2 %zero_ %one_
        %off3 = OpConstantComposite %i2 %one_ %one_ %four = OpConstantComposite %arr4 %off0 %off1 %off2 %off3
        {functions}
        %main = OpFunction %void None %fn %entry = OpLabel
        {body}
        OpReturn OpFunctionEnd"
    )
    .replace("OpSampledImage %suimg ", "OpSampledImage %suimg_ ")
}

pub fn load(text: &str) -> Module {
    let words = assemble(text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Module::load(&words).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The images and samplers that are bound beside a buffer of 16 words of 77, and the robustness and
/// precision of the environment.
#[derive(Clone)]
pub struct Bound {
    pub images: Vec<BoundImage>,
    pub samplers: Vec<BoundSampler>,
    pub robustness: Robustness,
    pub precision: Option<Precision>,
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn image(binding: u32, format: Format, [width, height]: [u32; 2], levels: &[Vec<u8>]) -> BoundImage {
    let mut image = Image::new(format, width, height, levels.len().max(1) as u32).expect("an image with that many levels");
    for (level, bytes) in levels.iter().enumerate() {
        image.fill(level as u32, bytes).expect("as many bytes as the level has");
    }
    BoundImage { set: 0, binding, image }
}

/// The texels of two cubes with one texel a face.
const FACES: [f32; 12] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0];

fn cubes(binding: u32, format: Format, texels: &[u8]) -> BoundImage {
    let mut image = Image::of_shape(format, Shape::CubeArray, [1, 1, 12], 1).expect("two cubes");
    image.fill(0, texels).expect("as many bytes as they have");
    BoundImage { set: 0, binding, image }
}

/// The buffer that modules write to.
pub fn fresh() -> [Buffer; 1] {
    [Buffer { set: 0, binding: 0, bytes: words(&[77; 16]) }]
}

impl Bound {
    /// Images and samplers by the names that [`text`] gives them.
    pub fn new() -> Bound {
        let levels = [floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), floats(&[10.0, 20.0]), floats(&[30.0])];
        let images = vec![
            image(1, Format::R32Sfloat, [4, 2], &levels),
            image(4, Format::D32Sfloat, [2, 2], &[floats(&[0.25, 0.75, 0.5, 1.0])]),
            image(6, Format::R32Uint, [2, 2], &[words(&[10, 20, 30, 4_000_000_000])]),
            image(7, Format::R8Sint, [2, 1], &[vec![0xff, 100]]),
            image(8, Format::Rgba8Unorm, [2, 2], &[words(&[0xff00_00ff, 0x0000_ff00, 0x8000_0000, 0])]),
            image(9, Format::R32Uint, [4, 1], &[words(&[7, 8, 9, 10])]),
            image(10, Format::R8Unorm, [2, 1], &[vec![0, 255]]),
            image(11, Format::R32Sfloat, [1, 1], &[]),
            image(16, Format::Rg16Uint, [2, 1], &[words(&[0x0002_0001, 0x0004_0003])]),
            image(17, Format::Rgba32Sfloat, [1, 1], &[floats(&[0.5, -2.0, 0.0, 8.0])]),
            cubes(19, Format::R32Sfloat, &floats(&FACES)),
            cubes(20, Format::R32Uint, &words(&FACES.map(|x| x as u32))),
        ];
        let linear = Sampler {
            mag: Filter::Linear,
            min: Filter::Linear,
            mip: Filter::Linear,
            address: [AddressMode::ClampToEdge; 3],
            ..Sampler::default()
        };
        let all = |mode| Sampler { address: [mode; 3], ..Sampler::default() };
        let compare = |compare| Sampler { compare: Some(compare), ..all(AddressMode::ClampToEdge) };
        let samplers = [
            (2, Sampler::default()),
            (3, linear),
            (5, compare(Compare::LessOrEqual)),
            (10, Sampler { mip: Filter::Nearest, ..linear }),
            (12, all(AddressMode::MirroredRepeat)),
            (13, Sampler { border: Border::OpaqueWhite, ..all(AddressMode::ClampToBorder) }),
            (14, Sampler { unnormalized: true, lod_max: 0.0, ..all(AddressMode::ClampToEdge) }),
            (15, compare(Compare::Less)),
            (18, Sampler { min: Filter::Linear, ..Sampler::default() }),
        ];
        let samplers = samplers.into_iter().map(|(binding, sampler)| BoundSampler { set: 0, binding, sampler }).collect();
        Bound { images, samplers, robustness: Robustness::None, precision: None }
    }

    /// A dispatch of that many workgroups with these images and that buffer.
    pub fn dispatch<'d>(&'d self, groups: u32, buffers: &'d [Buffer]) -> Dispatch<'d> {
        let resources = Resources {
            images: &self.images,
            samplers: &self.samplers,
            image_robustness: self.robustness,
            precision: self.precision,
            ..Resources::of_buffers(buffers)
        };
        Dispatch { entry: "main", groups: [groups, 1, 1], resources, limits: Limits { instructions: 100_000, ..Limits::default() } }
    }

    /// Runs a module.
    pub fn run(&self, module: &Module, groups: u32, sink: &mut dyn Sink) -> Report {
        self.run_by(module, groups, &Relation::default(), sink)
    }

    /// Runs a module by another relation.
    pub fn run_by(&self, module: &Module, groups: u32, relation: &Relation, sink: &mut dyn Sink) -> Report {
        let buffers = fresh();
        let dispatch = self.dispatch(groups, &buffers);
        grid::report(module, &dispatch, &Schedule::default(), relation, false, sink).expect("main is there")
    }
}

/// How the lockstep machine, with this bug, differs from the outcome by the relation. `None` if it
/// does not.
pub fn difference(
    module: &Module,
    dispatch: &Dispatch<'_>,
    outcome: &Outcome<Observation>,
    bug: impl FnOnce(lockstep::Parts<'_>),
) -> Option<String> {
    let program = match lockstep::Program::compile(module, dispatch.entry) {
        Ok(program) => program.planted(bug),
        Err(error) => return Some(error.to_string()),
    };
    let shown = program.run(dispatch, 1);
    (shown != *outcome).then(|| format!("the lockstep machine shows {shown:?}, not {outcome:?}"))
}

/// Runs one workgroup by the relation. The lockstep machine must show the same.
pub fn report(module: &Module, bound: &Bound, relation: &Relation) -> Report {
    let report = bound.run_by(module, 1, relation, &mut ());
    let buffers = fresh();
    if let Some(difference) = difference(module, &bound.dispatch(1, &buffers), &report.outcome, |_| {}) {
        panic!("{difference}");
    }
    report
}

/// Runs a body in one invocation.
pub fn outcome(type_: &str, body: &str, bound: &Bound, relation: &Relation) -> Report {
    report(&load(&text(type_, body, 1, "")), bound, relation)
}

/// The components of `%r` in the buffer: a number, with `~` if a device may have another one, or
/// `any(kind)` if it is undefined. If the run shows nothing: what went wrong.
pub fn shown(type_: &str, report: &Report) -> String {
    let observation = match &report.outcome {
        Outcome::Observed(observation) => observation,
        Outcome::Undefined(undefined) => return format!("{}: {}", undefined.ub.id(), undefined.what),
        other => return format!("{other:?}"),
    };
    let buffer = &observation.buffers[0];
    let component = |c: usize| {
        let (start, end) = (4 * c as u64, 4 * c as u64 + 4);
        if let Some(undefined) = buffer.undefined.iter().find(|u| u.start < end && start < u.end) {
            return format!("any({})", undefined.kind);
        }
        let bits = u32::from_le_bytes(buffer.bytes[4 * c..4 * c + 4].try_into().expect("4 bytes"));
        let number = match type_.as_bytes()[0] {
            b'v' | b'f' => f32::from_bits(bits).to_string(),
            b'i' => (bits as i32).to_string(),
            _ => bits.to_string(),
        };
        let doubt = report.doubtful.iter().any(|d| d.start < end && start < d.end);
        format!("{number}{}", if doubt { "~" } else { "" })
    };
    (0..count(type_)).map(component).collect::<Vec<_>>().join(" ")
}
