//! Generated programs per second through the whole theorem without a device, on one thread and one
//! pixel each: generate, resolve, type, translate, load, run both semantics, compare. Also steps
//! per second of the λV machine on examples/sphere.lv.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep::generate::Limits;
use smallstep::theorem::campaign::{Plan, Tally, judge};
use smallstep::theorem::case::Settings;
use smallstep_semantics::lambda_v::machine::{self, Bounds, Pixels};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::Setting;
use std::hint::black_box;

fn plan(references: u64) -> Plan {
    Plan {
        seed: 1,
        count: None,
        time: None,
        shard: (0, 1),
        references,
        near_misses: 0,
        settings: Settings { size: (1, 1), ..Settings::default() },
        threads: 1,
        limits: Limits::default(),
    }
}

fn campaign(c: &mut Criterion) {
    const PROGRAMS: u64 = 1000;
    let mut group = c.benchmark_group("theorem");
    group.throughput(Throughput::Elements(PROGRAMS)).sample_size(20);
    for (name, references) in [("machines alone", 0), ("relations on one in ten", 10), ("relations on all", 1)] {
        let plan = plan(references);
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut tally = Tally::default();
                for index in 0..PROGRAMS {
                    let settings = Settings { references: references > 0 && index % references == 0, ..plan.settings.clone() };
                    black_box(judge(&plan.program(index), &settings, &mut tally).verdict);
                }
                assert_eq!(tally.semantics.of("disagree"), 0);
            });
        });
    }
    group.finish();
}

/// Every 16th pixel of every 16th row of 256 by 256.
fn sphere(c: &mut Criterion) {
    let program = Program::read(include_str!("../examples/sphere.lv")).expect("reads");
    let e = program.outputs[0].term;
    let settings: Vec<Setting> = (0..256).map(|i| Setting::at_pixel(16 * (i % 16), 16 * (i / 16))).collect();
    let bounds = Bounds::default();
    let all = |run: &mut dyn FnMut(&Setting) -> u64| settings.iter().map(run).sum::<u64>();
    let by_values = |setting: &Setting| machine::run(&program, e, setting, bounds).1;
    let mut group = c.benchmark_group("machine on sphere.lv");
    group.throughput(Throughput::Elements(all(&mut { by_values })));
    group.bench_function("bits", |b| {
        let mut pixels = Pixels::new(&program, bounds);
        b.iter(|| black_box(all(&mut |setting| pixels.run(e, setting).1)));
    });
    group.bench_function("values", |b| b.iter(|| black_box(all(&mut { by_values }))));
}

criterion_group!(benches, campaign, sphere);
criterion_main!(benches);
