//! Generated programs per second through the whole theorem without a device, on one thread, one
//! pixel each: generate, resolve, type, translate, load, run both semantics, compare.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep::generate::Limits;
use smallstep::theorem::campaign::{Plan, Tally, judge};
use smallstep::theorem::case::Settings;
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

criterion_group!(benches, campaign);
criterion_main!(benches);
