//! `compare` with 100 inputs, on modules of about 200 instructions that are compared with
//! themselves. As in `smallstep compare`, this includes the search for inputs that reach further
//! blocks. The modules are generated SPIR-V and translations of WSL programs.

use std::hint::black_box;
use std::ops::RangeInclusive;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use smallstep::dispatch::Dispatch;
use smallstep::generate::spirv::{Limits, case};
use smallstep::theorem::campaign::Extent;
use smallstep::theorem::refine::{Runnable, Settings, entries};
use smallstep::theorem::wsl::{Plan, Programs, translated};
use smallstep_semantics::number::Profile;
use smallstep_semantics::spirv::module::Module;

/// The number of modules of each source.
const MODULES: usize = 8;

/// The number of instructions of each module.
const INSTRUCTIONS: RangeInclusive<usize> = 190..=210;

/// A module, and the seed or index of its program.
struct Sample {
    of: u64,
    module: Runnable,
}

/// Adds the module of these words, if its length is right and more samples are wanted.
fn add(samples: &mut Vec<Sample>, of: u64, words: &[u32]) {
    let Ok(module) = Module::load(words) else { return };
    if samples.len() < MODULES && INSTRUCTIONS.contains(&module.instructions().len()) {
        let entry = entries(&module).into_iter().next().flatten();
        samples.extend(Runnable::new("module", module, None, entry.as_deref()).ok().map(|module| Sample { of, module }));
    }
}

/// Generated modules: those in which the order of atomics may show, or all others.
fn generated(order_may_show: bool) -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut seed = 0;
    while samples.len() < MODULES {
        seed += 1;
        add(&mut samples, seed, &case(seed, &Limits::default()).words);
        samples.retain(|sample| matches!(&sample.module, Runnable::Dispatch(side) if side.depends_on_schedule() == order_may_show));
    }
    samples
}

/// The modules of translated WSL programs of one kind.
fn of_wsl(programs: Programs) -> Vec<Sample> {
    let extent = Extent { seed: 1, count: None, time: None, shard: (0, 1), threads: 1 };
    let mix = [programs];
    let plan = Plan { extent, mix: &mix, references: 0, profile: Profile::Strict, planted: None, via: None };
    let mut samples = Vec::new();
    let mut index = 0;
    while samples.len() < MODULES {
        let (programs, seed) = plan.program(index);
        let mut take = |words: &[u32]| add(&mut samples, index, words);
        translated(programs, seed, None, &plan.options(), &mut |_, dispatch| match dispatch {
            Dispatch::Fragment(dispatch) => take(&dispatch.words),
            Dispatch::Compute(dispatch) => take(&dispatch.words),
            Dispatch::Draw(draw) => [&draw.vertex.words, &draw.fragment.words].into_iter().for_each(|words| take(words)),
        });
        index += 1;
    }
    samples
}

fn comparisons(c: &mut Criterion) {
    let settings = Settings { guided: 400, ..Settings::default() };
    let mut group = c.benchmark_group("compare, 100 inputs");
    group.sample_size(10);
    let sources = [
        ("generated", generated(false)),
        ("generated, order may show", generated(true)),
        ("WSL dispatches", of_wsl(Programs::EntryPoints)),
        ("WSL stages", of_wsl(Programs::Stages)),
    ];
    for (source, samples) in &sources {
        for Sample { of, module } in samples {
            group.bench_function(BenchmarkId::new(*source, of), |b| {
                b.iter(|| {
                    let summary = module.refined_by(module, &settings, |_| {}).expect("a module has the interface of itself");
                    assert!(summary.disagreement.is_none() && summary.inputs >= 100);
                    black_box(summary)
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, comparisons);
criterion_main!(benches);
