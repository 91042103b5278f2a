//! The mathematical reference: nanoseconds for the enclosure of each function, for its correctly rounded result, and for the tight enclosure.
//!
//! `cargo bench -p smallstep-semantics --bench reference -- enclose/` runs one group.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use smallstep_semantics::number::reference::{Direction, FUNCTIONS, enclose, enclose_tightly, rounded};
use std::hint::black_box;
use std::time::Duration;

/// Operands for which every function is defined, from a linear congruence: the first in (0, 1), the second in (1, 5), the third in (0, 1).
/// Hyperbolic arc cosines take the second.
fn operands(name: &str, arity: usize) -> Vec<[f32; 3]> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 + 2f32.powi(-25)
    };
    (0..512)
        .map(|_| {
            let (x, y, z) = (next(), 1.0 + 4.0 * next(), next());
            match name {
                "Acosh" => [y, y, z],
                "Ldexp" => [x, y.trunc(), z],
                // x, least, greatest.
                "FClamp" | "NClamp" => [x, z, y],
                _ if arity == 3 => [x, y, z + x],
                _ => [x, y, z],
            }
        })
        .collect()
}

fn functions(criterion: &mut Criterion) {
    for group in ["enclose", "rounded", "enclose_tightly"] {
        let mut group_of = criterion.benchmark_group(group);
        group_of.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(300)).sample_size(20);
        for &(function, name, arity) in FUNCTIONS {
            let operands = operands(name, arity);
            let mut at = 0;
            let next = || {
                at = (at + 1) % operands.len();
                operands[at]
            };
            group_of.bench_function(name, |bencher| match group {
                "enclose" => {
                    bencher.iter_batched(next, |args| black_box(enclose(function, &args.map(f64::from)[..arity])), BatchSize::SmallInput)
                }
                "rounded" => bencher.iter_batched(
                    next,
                    |args| black_box(rounded(function, &args[..arity], Direction::NearestEven)),
                    BatchSize::SmallInput,
                ),
                _ => bencher.iter_batched(
                    next,
                    |args| black_box(enclose_tightly(function, &args.map(f64::from)[..arity])),
                    BatchSize::SmallInput,
                ),
            });
        }
    }
}

criterion_group!(benches, functions);
criterion_main!(benches);
