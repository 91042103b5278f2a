//! The lockstep machine and a device, on the same dispatches in one run. For the machine:
//! instructions per second, on one thread and on two, with all checks. For the device of
//! `SMALLSTEP_BENCH_DEVICE` (default: `llvmpipe`): the time from words to bytes, for the whole
//! dispatch and for one workgroup. The difference of the two is roughly the run time
//! without compilation.

#[path = "../semantics/benches/programs/mod.rs"]
mod programs;

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use smallstep::dispatch::{BufferBinding, BufferKind, ComputeDispatch};
use smallstep::gpu::{Device, DeviceOutcome, Options, Route, Selection};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Resources};
use smallstep_semantics::spirv::{self, Module, assemble, lockstep};

fn dispatches(c: &mut Criterion) {
    let wanted = std::env::var("SMALLSTEP_BENCH_DEVICE").unwrap_or_else(|_| "llvmpipe".into());
    let selection: Selection = wanted.parse().unwrap_or_default();
    let options = Options { executable: Some(env!("CARGO_BIN_EXE_smallstep").into()), ..Options::default() };
    let mut device = match Device::open(&selection, Some(Route::Passthrough), options) {
        Ok(device) => Some(device),
        Err(e) => {
            eprintln!("no device beside the machine: {e}");
            None
        }
    };
    for workload in programs::PROGRAMS {
        let words = assemble(workload.text, spirv::Options::default()).expect("the bench's text");
        let program = lockstep::Program::compile(&Module::load(&words).expect("the bench's module"), "main").expect("the bench's program");
        let bytes = vec![0; 4 * workload.words];
        let buffers = [spirv::Buffer { set: 0, binding: 0, bytes: bytes.clone() }];
        let dispatch =
            Dispatch { entry: "main", groups: workload.groups, resources: Resources::of_buffers(&buffers), limits: Limits::default() };
        let mut group = c.benchmark_group(workload.name);
        group.throughput(Throughput::Elements(workload.instructions)).sample_size(10);
        for threads in [1, 2] {
            let Outcome::Observed(observed) = program.run(&dispatch, threads) else { panic!("{} has no observation", workload.name) };
            workload.check(&observed.buffers[0].bytes);
            group.bench_function(BenchmarkId::new("machine, threads", threads), |b| b.iter(|| black_box(program.run(&dispatch, threads))));
        }
        let Some(device) = &mut device else { continue };
        let buffer = BufferBinding { set: 0, binding: 0, kind: BufferKind::ReadWrite, bytes };
        let of = |groups: [u32; 3]| ComputeDispatch {
            words: Arc::from(words.as_slice()),
            entry: "main".into(),
            groups,
            buffers: vec![buffer.clone()],
            ..ComputeDispatch::default()
        };
        match device.run(of(workload.groups)).outcome {
            DeviceOutcome::Computed(result) => workload.check(&result.buffers[0].bytes),
            other => panic!("{}: {other}", workload.name),
        }
        let name = device.adapter().name.clone();
        group.bench_function(format!("{name}, whole dispatch"), |b| b.iter(|| black_box(device.run(of(workload.groups)))));
        group.bench_function(format!("{name}, one workgroup"), |b| b.iter(|| black_box(device.run(of([1; 3])))));
    }
}

criterion_group!(benches, dispatches);
criterion_main!(benches);
