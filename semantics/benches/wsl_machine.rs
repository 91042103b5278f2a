//! WSL's fast engine: evaluated expressions a second, coercions and parentheses not counted, of a loop over an array and of the Mandelbrot set.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::machine::{Compiled, Ending, Settings};
use smallstep_semantics::wsl::validate::validate;
use std::hint::black_box;

const LOOP_ARRAY: &str = "int loopArray(int n)
{
    int[64] a;
    int s = 0;
    for (int i = 0; i < n; i = i + 1) {
        uint j = uint(i) & 63u;
        a[j] = a[j] + i;
        s = s + a[j];
    }
    return s;
}";

const MANDEL: &str = "int mandel(int w, int h, int maxIter)
{
    int total = 0;
    for (int y = 0; y < h; y = y + 1) {
        for (int x = 0; x < w; x = x + 1) {
            float cr = float(x) * 3.0 / float(w) - 2.0;
            float ci = float(y) * 2.0 / float(h) - 1.0;
            float zr = 0.0;
            float zi = 0.0;
            int i = 0;
            while (zr * zr + zi * zi < 4.0 && i < maxIter) {
                float t = zr * zr - zi * zi + cr;
                zi = 2.0 * zr * zi + ci;
                zr = t;
                i = i + 1;
            }
            total = total + i;
        }
    }
    return total;
}";

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
