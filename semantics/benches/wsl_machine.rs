//! WSL's fast engine: evaluated expressions per second, without coercions and parentheses, for a
//! loop over an array and for the Mandelbrot set.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::machine::{Compiled, Ending, Settings};
use smallstep_semantics::wsl::validate::validate;
use std::hint::black_box;

const LOOP_ARRAY: &str = include_str!("wsl_programs/loop_array.wsl");
const MANDEL: &str = include_str!("wsl_programs/mandel.wsl");

fn machine(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("wsl_machine");
    group.sample_size(10);
    for (name, text, arguments, expected) in [
        ("loopArray(100000)", LOOP_ARRAY, &[100_000][..], -417_036_176i32),
        ("mandel(64, 64, 100)", MANDEL, &[64, 64, 100], 125_474),
        ("mandel(256, 256, 256)", MANDEL, &[256, 256, 256], 4_608_387),
    ] {
        let program = validate(text).program.expect("the program is valid");
        let compiled = Compiled::new(&program, FunctionId(0)).expect("the program compiles");
        let counted = Settings { count: true, ..Settings::default() };
        let (ending, stats) = compiled.call(arguments, &mut [], &counted).expect("the arguments fit");
        assert_eq!(ending, Ending::Returned(vec![expected as u32]));
        group.throughput(Throughput::Elements(stats.nodes));
        group.bench_function(name, |b| b.iter(|| compiled.call(black_box(arguments), &mut [], &Settings::default())));
    }
    group.finish();
}

criterion_group!(benches, machine);
criterion_main!(benches);
