//! The speed of judging results of functions of one number, on one thread. The inputs are spread
//! evenly over all 2^32: 256 runs of 256 consecutive inputs. There are two devices. One rounds
//! correctly. The other computes GLSL's formulas in 32 bits, with zero as the sine of
//! small numbers.
//!
//! If one input takes t microseconds, 2^32 inputs on 16 cores take 268·t seconds.
//!
//! `cargo bench --bench precision -- Tan` measures one function.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use smallstep::precision::{Function, Judge, Tally};
use smallstep_semantics::number::Profile;
use smallstep_semantics::number::reference::{Direction, Rounded, rounded};

/// The number of runs of consecutive inputs, and the number of inputs in a run.
const RUNS: u32 = 256;
const RUN: u32 = 256;

fn correctly_rounded(function: &Function, x: f32) -> f32 {
    match rounded(function.instruction, &[x], Direction::NearestEven) {
        Some(Rounded::Value(value)) => value,
        _ => f32::NAN,
    }
}

/// The result of a device that computes a formula in 32 bits.
fn by_formula(function: &Function, x: f32) -> f32 {
    let sine = |x: f32| if x.abs() < 2f32.powi(-24) { 0.0 } else { x.sin() };
    let root = |x: f32| 1.0 / (1.0 / x.sqrt());
    match function.instruction_name {
        "Sin" => sine(x),
        "Tan" => sine(x) / x.cos(),
        "Asin" => x.atan2(root(1.0 - x * x)),
        "Acos" => root(1.0 - x * x).atan2(x),
        "Sinh" => (x.exp() - (-x).exp()) * 0.5,
        "Cosh" => (x.exp() + (-x).exp()) * 0.5,
        "Tanh" => (x.exp() - (-x).exp()) / (x.exp() + (-x).exp()),
        "Asinh" => (x + root(x * x + 1.0)).ln(),
        "Acosh" => (x + root(x * x - 1.0)).ln(),
        "Atanh" => ((1.0 + x) / (1.0 - x)).ln() * 0.5,
        "Exp" => (x * std::f32::consts::LOG2_E).exp2(),
        "Log" => x.log2() * std::f32::consts::LN_2,
        "Sqrt" => root(x),
        "Fract" => x - x.floor(),
        _ => correctly_rounded(function, x),
    }
}

fn judged(c: &mut Criterion) {
    let mut group = c.benchmark_group("judge");
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(400)).sample_size(10);
    group.throughput(Throughput::Elements(u64::from(RUNS * RUN)));
    type Device = fn(&Function, f32) -> f32;
    let devices: [(&str, Device); 2] = [("rounded", correctly_rounded), ("formula", by_formula)];
    for function in Function::all().iter().filter(|function| function.is_unary()) {
        let judge = Judge::new(function, Profile::Strict);
        for (name, device) in devices {
            let starts = (0..RUNS).map(|run| run * (u32::MAX / RUNS + 1) + run * 65_521);
            let runs: Vec<(u32, Vec<u32>)> =
                starts.map(|first| (first, (0..RUN).map(|i| device(function, f32::from_bits(first + i)).to_bits()).collect())).collect();
            group.bench_with_input(BenchmarkId::new(function.label(), name), &runs, |b, runs| {
                b.iter(|| {
                    let mut tally = Tally::default();
                    runs.iter().for_each(|(first, results)| judge.judge_range(*first, results, &mut tally));
                    tally
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, judged);
criterion_main!(benches);
