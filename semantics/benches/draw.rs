//! How many instructions a second the relation executes in a draw of 64 by 64 pixels: a loop, a derivative and interpolated inputs.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep_semantics::image::{Format, Image};
use smallstep_semantics::raster::{State, Topology};
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Draw, Limits, Rate, Resources, Vertices};
use smallstep_semantics::spirv::{Module, Options, Relation, assemble, draw};

const TYPES: &str = "
    %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %float = OpTypeFloat 32 %v4 = OpTypeVector %float 4
    %f0 = OpConstant %float 0 %f1 = OpConstant %float 1 %f8 = OpConstant %float 8
    %pin = OpTypePointer Input %v4 %pout = OpTypePointer Output %v4 %pos = OpVariable %pin Input %out = OpVariable %pout Output
    %v = OpVariable %pout Output
    %main = OpFunction %void None %fn %entry = OpLabel";

fn load(text: &str) -> Module {
    Module::load(&assemble(text, Options::default()).expect("the bench's text")).expect("the bench's module")
}

fn draws(c: &mut Criterion) {
    let vertex = load(&format!(
        "OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint Vertex %main \"vs\" %pos %out %v
        OpDecorate %pos Location 0 OpDecorate %out BuiltIn Position OpDecorate %v Location 0 {TYPES}
        %p = OpLoad %v4 %pos OpStore %out %p OpStore %v %p OpReturn OpFunctionEnd"
    ));
    let fragment = load(&format!(
        "OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint Fragment %main \"fs\" %pos %out
        OpExecutionMode %main OriginUpperLeft OpDecorate %pos Location 0 OpDecorate %out Location 0 OpDecorate %v Location 1 {TYPES}
        %p = OpLoad %v4 %pos OpBranch %head %head = OpLabel %i = OpPhi %float %f0 %entry %j %next %s = OpPhi %v4 %p %entry %t %next
        OpLoopMerge %done %next None OpBranch %test %test = OpLabel %more = OpFOrdLessThan %bool %i %f8 OpBranchConditional %more %body %done
        %body = OpLabel %t = OpFMul %v4 %s %p OpBranch %next %next = OpLabel %j = OpFAdd %float %i %f1 OpBranch %head
        %done = OpLabel %d = OpDPdx %v4 %s OpStore %out %d OpReturn OpFunctionEnd"
    ));
    let positions = [[-1f32, -1.0, 0.5, 1.0], [4.0, -1.0, 0.5, 1.0], [-1.0, 4.0, 0.5, 1.0]];
    let bytes = positions.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    let attributes = [Attribute { location: 0, format: Format::Rgba32Sfloat, rate: Rate::Vertex, offset: 0, stride: 16, bytes }];
    let mut image = Image::new(Format::Rgba8Unorm, 64, 64, 1).expect("an image");
    image.clear(0, [0; 4]).expect("a level");
    let targets = [ColourTarget { location: 0, image }];
    let vertices = Vertices {
        topology: Topology::List,
        indices: None,
        first: 0,
        count: 3,
        vertex_offset: 0,
        first_instance: 0,
        instances: 1,
        attributes: &attributes,
    };
    let draw = Draw {
        vertex: "vs",
        fragment: "fs",
        vertices,
        resources: Resources::default(),
        state: State::of_size(64, 64),
        targets: &targets,
        depth: None,
        limits: Limits::default(),
    };
    let run = || {
        draw::run(&vertex, &fragment, &draw, &Relation::default(), &mut ())
            .expect("the entry points")
            .observed()
            .expect("a picture")
            .instructions
    };
    let mut group = c.benchmark_group("draw");
    group.throughput(Throughput::Elements(run())).sample_size(10);
    group.bench_function("64x64", |b| b.iter(|| black_box(run())));
    group.finish();
}

criterion_group!(benches, draws);
criterion_main!(benches);
