//! WSL: generated programs per second through the theorem without a device (generate, validate,
//! translate, load, run both sides, compare). The mix of a campaign runs on one thread and on two,
//! and each kind of program on one. Also the compilation of a program of 10,000 lines on
//! one thread.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep::compile::wsl::{Options, translate};
use smallstep::theorem::campaign::{Extent, SourceLanguage, run};
use smallstep::theorem::journal::Journal;
use smallstep::theorem::wsl::{Plan, Programs, SHORT_MIX, Tally};
use smallstep_semantics::number::Profile;
use smallstep_semantics::wsl::validate::validate;
use std::fmt::Write;
use std::hint::black_box;

/// A campaign as `smallstep fuzz-wsl --through spirv --short` runs it, with programs of about 30
/// statements. WSL's machine runs every definite program. Its relation runs every open and every
/// racing program, and one in ten of the others.
fn campaign(c: &mut Criterion) {
    const PROGRAMS: u64 = 2000;
    let mut group = c.benchmark_group("WSL campaign");
    group.throughput(Throughput::Elements(PROGRAMS)).sample_size(10);
    for threads in [1, 2] {
        let extent = Extent { seed: 7, count: Some(PROGRAMS), time: None, shard: (0, 1), threads };
        let plan = Plan { extent, mix: &SHORT_MIX, references: 10, profile: Profile::Strict, planted: None, via: None };
        group.bench_function(format!("about 30 statements, {threads} threads"), |b| {
            b.iter(|| {
                let report = run(&plan, None, Journal::none(), &()).expect("no journal is written");
                assert_eq!(report.tally.findings, []);
            });
        });
    }
    group.finish();
}

fn theorem(c: &mut Criterion) {
    const PROGRAMS: u64 = 100;
    let mut group = c.benchmark_group("WSL theorem");
    group.throughput(Throughput::Elements(PROGRAMS)).sample_size(10);
    // The machine runs every definite program. WSL's relation runs every open program, and one in
    // ten of the others.
    for (references, share) in [(0, "machine"), (10, "relation on one in ten")] {
        for &programs in Programs::ALL.iter().filter(|programs| references > 0 || !programs.race()) {
            let extent = Extent { seed: 1, count: None, time: None, shard: (0, 1), threads: 1 };
            let mix = [programs];
            let plan = Plan { extent, mix: &mix, references, profile: Profile::Strict, planted: None, via: None };
            group.bench_function(format!("{}, {share}", programs.name()), |b| {
                b.iter(|| {
                    let mut tally = Tally::default();
                    for index in 0..PROGRAMS {
                        black_box(plan.judge(index, false, &mut tally));
                    }
                    assert_eq!(tally.findings, []);
                });
            });
        }
    }
    group.finish();
}

/// A program of about that many lines: functions of a hundred lines, which the entry point calls.
fn large(lines: usize) -> String {
    let mut text = String::new();
    let functions = lines / 100;
    for f in 0..functions {
        let _ = writeln!(text, "uint f{f}(uint x, float y) {{\n    uint[16] a;\n    float2 v = float2(y, 1.0);");
        for line in 0..95 {
            let _ = match line % 5 {
                0 => writeln!(text, "    x = x * 3u + a[x % 16u];"),
                1 => writeln!(text, "    a[(x + {line}u) % 16u] += x ^ {f}u;"),
                2 => writeln!(text, "    v = v.yx * 0.5 + float2(float(x), y);"),
                3 => writeln!(text, "    if (x > {line}u && v.x < y) x -= 1u; else v.x = max(v.y, 0.25);"),
                _ => writeln!(text, "    x = clamp(x, {line}u, 4000u) / ((x & 7u) + 1u);"),
            };
        }
        let _ = writeln!(text, "    return x + uint(v.x > 0.0);\n}}");
    }
    let _ = writeln!(text, "[numthreads(1, 1, 1)]\ncompute void main(device uint[] out : register(u0)) {{\n    uint x = out[0];");
    for f in 0..functions {
        let _ = writeln!(text, "    x += f{f}(x, 0.5);");
    }
    let _ = writeln!(text, "    out[0] = x;\n}}");
    text
}

fn compile(c: &mut Criterion) {
    let text = large(10_000);
    println!("{} lines, {} bytes", text.lines().count(), text.len());
    let program = validate(&text).program.expect("valid");
    let mut group = c.benchmark_group("WSL of 10,000 lines");
    group.sample_size(10);
    group.bench_function("validation", |b| b.iter(|| black_box(validate(&text).program.is_some())));
    group.bench_function("translation", |b| {
        b.iter(|| black_box(translate(&program, &program.entry_points[0], &Options::default()).expect("translates")));
    });
    group.bench_function("text to module", |b| {
        b.iter(|| {
            let program = validate(&text).program.expect("valid");
            black_box(translate(&program, &program.entry_points[0], &Options::default()).expect("translates"))
        });
    });
    group.finish();
}

criterion_group!(benches, campaign, theorem, compile);
criterion_main!(benches);
