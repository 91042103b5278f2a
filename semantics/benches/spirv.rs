//! The cost of a program on its way through SPIR-V: decode, load, compile and run, for a module of
//! about 60 instructions. Also the speed of the machine in a loop.

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep_semantics::number::Arithmetic;
use smallstep_semantics::spirv::{Inputs, Module, Options, Program, Registers, Relation, assemble, decode, step};

/// A module like the translation of a λV program of about 40 nodes: a loop, a selection, vectors
/// and a few builtins. Its function has 60 instructions.
fn sixty() -> Vec<u32> {
    let mut text = String::from(
        "; Version: 1.3
        OpCapability Shader %glsl = OpExtInstImport \"GLSL.std.450\" OpMemoryModel Logical GLSL450
        OpEntryPoint Fragment %main \"main\" %out %coord OpExecutionMode %main OriginUpperLeft
        OpDecorate %out Location 0 OpDecorate %coord BuiltIn FragCoord
        %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %float = OpTypeFloat 32 %v4 = OpTypeVector %float 4
        %f0 = OpConstant %float 0 %f1 = OpConstant %float 1 %f3 = OpConstant %float 3 %half = OpConstant %float 0.5
        %p_in = OpTypePointer Input %v4 %coord = OpVariable %p_in Input
        %p_out = OpTypePointer Output %v4 %out = OpVariable %p_out Output
        %main = OpFunction %void None %fn %entry = OpLabel
        %xy = OpLoad %v4 %coord %x = OpCompositeExtract %float %xy 0
        OpBranch %head %head = OpLabel
        %i = OpPhi %float %f0 %entry %j %continue %s = OpPhi %v4 %xy %entry %t %continue
        OpLoopMerge %done %continue None OpBranch %test %test = OpLabel
        %more = OpFOrdLessThan %bool %i %f3 OpSelectionMerge %join None OpBranchConditional %more %yes %no
        %yes = OpLabel %a = OpVectorTimesScalar %v4 %s %half OpBranch %continue
        %no = OpLabel OpBranch %join
        %continue = OpLabel %j = OpFAdd %float %i %f1 %t = OpFAdd %v4 %a %xy OpBranch %head
        %join = OpLabel OpBranch %done
        %done = OpLabel %r0 = OpFMul %v4 %s %s\n",
    );
    for i in 0..26 {
        let operation = ["OpFAdd %v4 %r{} %s", "OpExtInst %v4 %glsl FMin %r{} %xy", "OpFMul %v4 %r{} %s", "OpExtInst %v4 %glsl Floor %r{}"];
        let _ = writeln!(text, "%r{} = {}", i + 1, operation[i % 4].replace("{}", &i.to_string()));
    }
    text.push_str("OpStore %out %r26 OpReturn OpFunctionEnd");
    assemble(&text, Options::default()).expect("the bench's module")
}

/// A loop that swaps two phis, multiplies and counts.
fn long_loop(iterations: u32) -> Vec<u32> {
    let text = format!(
        "OpCapability Shader OpMemoryModel Logical GLSL450
        OpEntryPoint Fragment %main \"main\" %out OpExecutionMode %main OriginUpperLeft OpDecorate %out Location 0
        %void = OpTypeVoid %fn = OpTypeFunction %void %bool = OpTypeBool %float = OpTypeFloat 32
        %f0 = OpConstant %float 0 %f1 = OpConstant %float 1 %n = OpConstant %float {iterations}
        %p_out = OpTypePointer Output %float %out = OpVariable %p_out Output
        %main = OpFunction %void None %fn %entry = OpLabel OpBranch %head
        %head = OpLabel %i = OpPhi %float %f0 %entry %j %continue
        %a = OpPhi %float %f0 %entry %b %continue %b = OpPhi %float %f1 %entry %a %continue
        OpLoopMerge %done %continue None OpBranch %test
        %test = OpLabel %more = OpFOrdLessThan %bool %i %n OpBranchConditional %more %body %done
        %body = OpLabel %c = OpFMul %float %a %b OpBranch %continue
        %continue = OpLabel %j = OpFAdd %float %i %f1 OpBranch %head
        %done = OpLabel OpStore %out %a OpReturn OpFunctionEnd"
    );
    assemble(&text, Options::default()).expect("the bench's loop")
}

fn bench(c: &mut Criterion) {
    let words = sixty();
    let arithmetic = Arithmetic::default();
    let inputs = Inputs { frag_coord: [3.5, 4.5, 0.0, 1.0], buffers: &[] };
    let module = Module::load(&words).expect("the bench's module loads");
    let program = Program::compile(&module, "main").expect("the bench's module compiles");
    let body = module.blocks().iter().map(|b| 1 + b.end - b.start).sum::<u32>();
    let steps = program.run(&inputs, 10_000, &arithmetic).observed().map_or(0, |o| o.steps);
    eprintln!("the module has {} instructions, {body} of them in blocks; a run takes {steps} steps", module.instructions().len());

    let mut group = c.benchmark_group("spirv");
    group.bench_function("decode", |b| b.iter(|| decode(black_box(&words)).map(|d| d.instructions.len())));
    group.bench_function("load", |b| b.iter(|| Module::load(black_box(&words)).map(|m| m.blocks().len())));
    group.bench_function("compile", |b| b.iter(|| Program::compile(black_box(&module), "main")));
    let mut registers = Registers::default();
    group.bench_function("run", |b| b.iter(|| program.run_in(&mut registers, black_box(&inputs), &10_000.into(), &arithmetic)));
    group.bench_function("decode, load, compile and run", |b| {
        b.iter(|| {
            let module = Module::load(black_box(&words)).expect("loads");
            Program::compile(&module, "main").expect("compiles").run_in(&mut registers, &inputs, &10_000.into(), &arithmetic)
        });
    });
    let relation = Relation::default();
    group.bench_function("run by the reference", |b| {
        b.iter(|| step::run(&module, "main", black_box(&inputs), 10_000, &relation, &mut ()));
    });

    let words = long_loop(10_000);
    let module = Module::load(&words).expect("the loop loads");
    let program = Program::compile(&module, "main").expect("the loop compiles");
    let steps = program.run(&inputs, 10_000_000, &arithmetic).observed().map_or(0, |o| o.steps);
    group.throughput(Throughput::Elements(steps));
    group.bench_function("machine, steps in a loop", |b| {
        b.iter(|| program.run_in(&mut registers, black_box(&inputs), &10_000_000.into(), &arithmetic));
    });
    group.bench_function("reference, steps in a loop", |b| {
        b.iter(|| step::run(&module, "main", black_box(&inputs), 10_000_000, &relation, &mut ()));
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
