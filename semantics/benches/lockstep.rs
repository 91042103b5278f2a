//! Instructions per second of the lockstep machine, on whole dispatches, with one thread and
//! with two.

mod programs;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Resources};
use smallstep_semantics::spirv::{Buffer, Module, Options, assemble, lockstep};

fn dispatches(c: &mut Criterion) {
    for workload in programs::PROGRAMS {
        let module = Module::load(&assemble(workload.text, Options::default()).expect("the bench's text")).expect("the bench's module");
        let program = lockstep::Program::compile(&module, "main").expect("the bench's program");
        let buffers = [Buffer { set: 0, binding: 0, bytes: vec![0; 4 * workload.words] }];
        let limits = Limits::default();
        let dispatch = Dispatch { entry: "main", groups: workload.groups, resources: Resources::of_buffers(&buffers), limits };
        let mut group = c.benchmark_group("lockstep");
        group.throughput(Throughput::Elements(workload.instructions)).sample_size(10);
        for threads in [1, 2] {
            let name = workload.name;
            let Outcome::Observed(observed) = program.run(&dispatch, threads) else { panic!("{name} has no observation") };
            assert_eq!(observed.instructions, workload.instructions, "{name}");
            workload.check(&observed.buffers[0].bytes);
            group.bench_function(format!("{name}, {threads} threads"), |b| b.iter(|| black_box(program.run(&dispatch, threads))));
        }
    }
}

criterion_group!(benches, dispatches);
criterion_main!(benches);
