//! The time of draws. The relation draws 64 by 64 pixels, with a loop and a derivative after it.
//! The lockstep machine runs a fragment stage on 256 by 256 pixels. Each executes about 500
//! instructions, with a derivative in the loop.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep_semantics::image::{Format, Image};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::raster::{Rules, State, Topology};
use smallstep_semantics::spirv::environment::{Attribute, ColourTarget, Draw, Limits, Rate, Resources, Vertices};
use smallstep_semantics::spirv::lockstep::FragmentProgram;
use smallstep_semantics::spirv::{Module, Options, Relation, assemble, draw};

const TYPES: &str = "
    %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %float = OpTypeFloat 32 %v4 = OpTypeVector %float 4
    %f0 = OpConstant %float 0 %f1 = OpConstant %float 1 %rounds = OpConstant %float ROUNDS
    %pin = OpTypePointer Input %v4 %pout = OpTypePointer Output %v4 %pos = OpVariable %pin Input %out = OpVariable %pout Output
    %v = OpVariable %pout Output
    %main = OpFunction %void None %fn %entry = OpLabel";

fn load(text: &str, rounds: u32) -> Module {
    let text = text.replace("ROUNDS", &rounds.to_string());
    Module::load(&assemble(&text, Options::default()).expect("the bench's text")).expect("the bench's module")
}

/// A fragment stage with a loop. `body` has the instructions of a round, from %s to %t, and `after`
/// those after the loop.
fn looping(rounds: u32, body: &str, after: &str) -> Module {
    let text = format!(
        "OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint Fragment %main \"fs\" %pos %out
        OpExecutionMode %main OriginUpperLeft OpDecorate %pos Location 0 OpDecorate %out Location 0 OpDecorate %v Location 1 {TYPES}
        %p = OpLoad %v4 %pos OpBranch %head %head = OpLabel %i = OpPhi %float %f0 %entry %j %next %s = OpPhi %v4 %p %entry %t %next
        OpLoopMerge %done %next None OpBranch %test %test = OpLabel %more = OpFOrdLessThan %bool %i %rounds
        OpBranchConditional %more %body %done
        %body = OpLabel {body} OpBranch %next %next = OpLabel %j = OpFAdd %float %i %f1 OpBranch %head
        %done = OpLabel {after} OpReturn OpFunctionEnd"
    );
    load(&text, rounds)
}

/// Calls `run` with a draw of one triangle that covers a square. `side` is its side in pixels.
fn with<R>(side: u32, run: impl FnOnce(&Draw<'_>) -> R) -> R {
    let positions = [[-1f32, -1.0, 0.5, 1.0], [4.0, -1.0, 0.5, 1.0], [-1.0, 4.0, 0.5, 1.0]];
    let bytes = positions.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    let attributes = [Attribute { location: 0, format: Format::Rgba32Sfloat, rate: Rate::Vertex, offset: 0, stride: 16, bytes }];
    let mut image = Image::new(Format::Rgba8Unorm, side, side, 1).expect("an image");
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
    run(&Draw {
        vertex: "vs",
        fragment: "fs",
        vertices,
        resources: Resources::default(),
        state: State::of_size(side, side),
        targets: &targets,
        depth: None,
        limits: Limits::default(),
    })
}

fn draws(c: &mut Criterion) {
    let vertex = format!(
        "OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint Vertex %main \"vs\" %pos %out %v
        OpDecorate %pos Location 0 OpDecorate %out BuiltIn Position OpDecorate %v Location 0 {TYPES}
        %p = OpLoad %v4 %pos OpStore %out %p OpStore %v %p OpReturn OpFunctionEnd"
    );
    let vertex = load(&vertex, 0);
    let mut group = c.benchmark_group("draw");
    let fragment = looping(8, "%t = OpFMul %v4 %s %p", "%d = OpDPdx %v4 %s OpStore %out %d");
    with(64, |draw| {
        let run = || {
            let outcome = draw::run(&vertex, &fragment, draw, &Relation::default(), &mut ()).expect("the entry points");
            outcome.observed().expect("a picture").instructions
        };
        group.throughput(Throughput::Elements(run())).sample_size(10);
        group.bench_function("the relation, 64x64", |b| b.iter(|| black_box(run())));
    });
    // 13 instructions a round.
    let round = "%a = OpFMul %v4 %s %p %d = OpFwidth %v4 %a %b = OpFAdd %v4 %a %d %t = OpFSub %v4 %b %p";
    let fragment = FragmentProgram::compile(&looping(38, round, "OpStore %out %s"), "fs").expect("the bench's program");
    with(256, |draw| {
        let run = || match draw::picture(&vertex, &fragment, draw, &Rules::default()).expect("the entry points") {
            Outcome::Observed(picture) => picture.instructions,
            other => panic!("{other:?}"),
        };
        let instructions = run();
        assert!((490..520).contains(&(instructions / (256 * 256))), "{instructions}");
        group.throughput(Throughput::Elements(instructions)).sample_size(10);
        group.bench_function("the lockstep machine, 256x256", |b| b.iter(|| black_box(run())));
    });
    group.finish();
}

criterion_group!(benches, draws);
criterion_main!(benches);
