//! Five fragment shaders of the tests' scripts, 256 by 256 pixels, on one core, in instructions per
//! second. The lockstep machine runs them by definite values, and over sets beside samples by
//! the relation.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep_semantics::concurrency::Schedule;
use smallstep_semantics::image::{Format, Image};
use smallstep_semantics::number::sets;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster::{self, State, Topology};
use smallstep_semantics::spirv::draw::{By, picture, run_with};
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Draw, Limits, Rate, Resources, Vertices};
use smallstep_semantics::spirv::lockstep::FragmentProgram;
use smallstep_semantics::spirv::{self, Buffer, Module, Relation, assemble};

/// A sort, a search, nested loops over integers, and two shaders with loops that end at
/// different times.
const SHADERS: [&str; 5] = ["sort_bubble", "queens", "hue_wheel", "mandelbrot", "march_plane_box"];

const SIDE: u32 = 256;

const CORNERS: &str = "OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint Vertex %main \"main\" %at %position
    OpDecorate %at Location 0 OpDecorate %position BuiltIn Position
    %void = OpTypeVoid %fn = OpTypeFunction %void %float = OpTypeFloat 32 %v4 = OpTypeVector %float 4
    %in = OpTypePointer Input %v4 %out = OpTypePointer Output %v4 %at = OpVariable %in Input %position = OpVariable %out Output
    %main = OpFunction %void None %fn %entry = OpLabel %x = OpLoad %v4 %at OpStore %position %x OpReturn OpFunctionEnd";

fn load(text: &str) -> Module {
    Module::load(&assemble(text, spirv::Options::default()).expect("the bench's text")).expect("the bench's module")
}

/// The fragment shader of a script.
fn shader(name: &str) -> Module {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/amber_run/shaders").join(name).with_extension("amber");
    let script = std::fs::read_to_string(path).expect("the script");
    let (_, rest) = script.split_once("SHADER fragment shade SPIRV-ASM\n").expect("its shader");
    load(rest.split_once("\nEND").expect("the end of its shader").0)
}

fn draws(c: &mut Criterion) {
    let vertex = load(CORNERS);
    let corners: [[f32; 4]; 3] = [[-1.0, -1.0, 0.0, 1.0], [3.0, -1.0, 0.0, 1.0], [-1.0, 3.0, 0.0, 1.0]];
    let bytes = corners.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    let attributes = [Attribute { location: 0, format: Format::Rgba32Sfloat, rate: Rate::Vertex, offset: 0, stride: 16, bytes }];
    let resolution = [SIDE as f32; 2].iter().flat_map(|x| x.to_le_bytes()).collect();
    let buffers = [Buffer { set: 0, binding: 0, bytes: resolution }];
    let mut image = Image::new(Format::Rgba8Unorm, SIDE, SIDE, 1).expect("an image");
    image.clear(0, [0; 4]).expect("a level");
    let targets = [ColourTarget { location: 0, image }];
    for name in SHADERS {
        let fragment = shader(name);
        let program = FragmentProgram::compile(&fragment, "main").expect("a shader that the machine takes");
        let draw = Draw {
            vertex: "main",
            fragment: "main",
            vertices: Vertices {
                topology: Topology::List,
                indices: None,
                first: 0,
                count: 3,
                vertex_offset: 0,
                first_instance: 0,
                instances: 1,
                attributes: &attributes,
            },
            resources: Resources::of_buffers(&buffers),
            state: State::of_size(SIDE, SIDE),
            targets: &targets,
            depth: None,
            limits: Limits::default(),
        };
        let (relation, rules, schedule) = (Relation::default(), raster::Rules::default(), Schedule::default());
        let by =
            By { relation: &relation, rules: &rules, schedule: &schedule, sets: Some(sets::Rules::default()), machine: Some(&program) };
        let definite = || picture(&vertex, &program, &draw, &rules).expect("the entry points");
        let over_sets = || run_with(&vertex, &fragment, &draw, &by, &mut ()).expect("the entry points");
        let Outcome::Observed(shown) = definite() else { panic!("{name} has no picture") };
        assert!(matches!(over_sets(), Outcome::Observed(_)), "{name}");
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(shown.instructions)).sample_size(10);
        group.bench_function("definite", |b| b.iter(|| black_box(definite())));
        group.bench_function("over sets", |b| b.iter(|| black_box(over_sets())));
    }
}

criterion_group!(benches, draws);
criterion_main!(benches);
