//! WSL's relation: steps per second of one thread, on loops, calls and arrays.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::call::{Prepared, Shown, prepare};
use smallstep_semantics::wsl::open::Possible;

const LOOP_ARRAY: &str = include_str!("wsl_programs/loop_array.wsl");
const MANDEL: &str = include_str!("wsl_programs/mandel.wsl");
const CALLS: &str = "
    struct Pair { int a; int b; }
    Pair next(Pair p) { Pair q; q.a = p.b; q.b = p.a + p.b; return q; }
    bool below(int n, int m) { if (n < m) { return true; } return false; }
    int fib(int n) { Pair p; p.b = 1; int i = 0; while (below(i, n)) { p = next(p); i++; } return p.a; }";

fn shown(prepared: &Prepared) -> Shown {
    match prepared.evaluate(&Settings::default(), &mut |_, _| {}) {
        Outcome::Observed(shown) => shown,
        other => panic!("{other:?}"),
    }
}

fn relation(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("wsl_relation");
    group.sample_size(20);
    for (name, text, expression, expected) in [
        ("loops", MANDEL, "mandel(10, 10, 40)", 1525u32),
        ("calls", CALLS, "fib(300)", 3_007_196_688),
        ("arrays", LOOP_ARRAY, "loopArray(2000)", 21_827_840),
    ] {
        let prepared = prepare(text, expression).expect("the program is valid");
        let first = shown(&prepared);
        assert_eq!(first.words, [Possible::Values(vec![expected])], "{name}");
        group.throughput(Throughput::Elements(first.steps));
        group.bench_function(name, |b| b.iter(|| shown(&prepared)));
    }
    group.finish();
}

criterion_group!(benches, relation);
criterion_main!(benches);
