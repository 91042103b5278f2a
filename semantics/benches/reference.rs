//! The time of the mathematical reference. For each function: 512 enclosures, 512 correctly rounded
//! results, and 512 tight enclosures.
//!
//! `cargo bench -p smallstep-semantics --bench reference -- enclose/` runs one group.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep_semantics::number::reference::{Direction, FUNCTIONS, enclose, enclose_tightly, rounded};
use std::hint::black_box;
use std::time::Duration;

/// The number of operands of a measurement.
const OPERANDS: usize = 512;

/// Operands for which every function is defined, from a linear congruential generator. The first is
/// in (0, 1), the second in (1, 5), the third in (0, 1). Hyperbolic arc cosines take the second.
fn operands(name: &str, arity: usize) -> Vec<[f32; 3]> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 + 2f32.powi(-25)
    };
    (0..OPERANDS)
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
    for group_name in ["enclose", "rounded", "enclose_tightly"] {
        let mut group = criterion.benchmark_group(group_name);
        group.warm_up_time(Duration::from_millis(50)).measurement_time(Duration::from_millis(200)).sample_size(10);
        group.throughput(Throughput::Elements(OPERANDS as u64));
        for &(function, name, arity) in FUNCTIONS {
            let narrow = operands(name, arity);
            let wide: Vec<[f64; 3]> = narrow.iter().map(|args| args.map(f64::from)).collect();
            group.bench_function(name, |bencher| match group_name {
                "enclose" => bencher.iter(|| {
                    for args in &wide {
                        black_box(enclose(function, &args[..arity]));
                    }
                }),
                "rounded" => bencher.iter(|| {
                    for args in &narrow {
                        black_box(rounded(function, &args[..arity], Direction::NearestEven));
                    }
                }),
                _ => bencher.iter(|| {
                    for args in &wide {
                        black_box(enclose_tightly(function, &args[..arity]));
                    }
                }),
            });
        }
    }
}

criterion_group!(benches, functions);
criterion_main!(benches);
