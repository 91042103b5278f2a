//! How many instructions a second the lockstep machine executes, on whole dispatches: a Mandelbrot set and a sieve, each as a compiler wrote
//! it and after an optimiser, on one thread and on two.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::spirv::environment::{Dispatch, Limits, Resources};
use smallstep_semantics::spirv::{Buffer, Module, Options, assemble, lockstep};

/// Name, text, workgroups, words of the buffer, instructions, and FNV-1a of the words that the dispatch leaves.
type Workload = (&'static str, &'static str, [u32; 3], usize, u64, u32);

const PROGRAMS: [Workload; 4] = [
    ("mandel", include_str!("programs/mandel.spvasm"), [32, 32, 1], 65_536, 125_481_169, 0x02fd_c58f),
    ("mandel.opt", include_str!("programs/mandel.opt.spvasm"), [32, 32, 1], 65_536, 64_308_293, 0x02fd_c58f),
    ("sieve", include_str!("programs/sieve.spvasm"), [16, 1, 1], 1_024, 85_614_712, 0x9c8c_f35f),
    ("sieve.opt", include_str!("programs/sieve.opt.spvasm"), [16, 1, 1], 1_024, 54_481_324, 0x9c8c_f35f),
];

fn dispatches(c: &mut Criterion) {
    for (name, text, groups, words, instructions, checksum) in PROGRAMS {
        let module = Module::load(&assemble(text, Options::default()).expect("the bench's text")).expect("the bench's module");
        let program = lockstep::Program::compile(&module, "main").expect("the bench's program");
        let buffers = [Buffer { set: 0, binding: 0, bytes: vec![0; 4 * words] }];
        let limits = Limits::default();
        let dispatch = Dispatch { entry: "main", groups, resources: Resources::of_buffers(&buffers), limits };
        let mut group = c.benchmark_group("lockstep");
        group.throughput(Throughput::Elements(instructions)).sample_size(10);
        for threads in [1, 2] {
            let Outcome::Observed(observed) = program.run(&dispatch, threads) else { panic!("{name} has no observation") };
            assert_eq!(observed.instructions, instructions, "{name}");
            let fnv = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
            let by_bytes = observed.buffers[0].bytes.iter().fold(0x811c_9dc5, fnv);
            let by_words = observed.buffers[0].bytes.chunks_exact(4).fold(0x811c_9dc5u32, |hash, word| {
                (hash ^ u32::from_le_bytes(word.try_into().expect("four bytes"))).wrapping_mul(0x0100_0193)
            });
            assert!([by_bytes, by_words].contains(&checksum), "{name}: {by_bytes:08x} {by_words:08x}");
            group.bench_function(format!("{name}, {threads} threads"), |b| b.iter(|| black_box(program.run(&dispatch, threads))));
        }
    }
}

criterion_group!(benches, dispatches);
criterion_main!(benches);
