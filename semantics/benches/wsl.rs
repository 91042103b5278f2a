//! WSL: lexing, parsing, desugaring and validation of a program of 10,000 lines, and a small
//! program through all of them.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use smallstep_semantics::wsl::desugar::desugar;
use smallstep_semantics::wsl::lex::lex;
use smallstep_semantics::wsl::parse::parse;
use smallstep_semantics::wsl::validate::{check, validate};
use std::fmt::Write;
use std::hint::black_box;

/// Functions of 20 lines each, as shaders have them.
fn program(lines: usize) -> String {
    let mut text = String::from("struct Light {\n    float4 position;\n    float4 colour;\n    float range;\n}\n");
    for i in 0..(lines - 5) / 20 {
        let _ = write!(
            text,
            "// The light of surface {i}.\n\
             float4 shade{i}(thread Light* light, float4 normal, device float4[] table, uint index) {{\n\
             \x20   float4 sum = float4(0.0, 0.0, 0.0, 1.0);\n\
             \x20   float falloff = light->range * 0.5f - 1.0;\n\
             \x20   for (uint i = 0; i < 16u; ++i) {{\n\
             \x20       float4 texel = table[index * 16u + i];\n\
             \x20       if (texel.x > falloff && texel.y <= light->position.y) {{\n\
             \x20           sum = sum + texel * normal.x + light->colour;\n\
             \x20           sum.w += (texel.z - {i}.25) / (falloff + 0.001);\n\
             \x20       }} else if (texel.w == -1.0 || i % 3 == 0) {{\n\
             \x20           continue;\n\
             \x20       }}\n\
             \x20   }}\n\
             \x20   switch (int(index & 0xff)) {{\n\
             \x20       case 0: sum.x = falloff > 0.0 ? sum.x : -sum.x; break;\n\
             \x20       default: break;\n\
             \x20   }}\n\
             \x20   return sum;\n\
             }}\n\n"
        );
    }
    text
}

fn wsl(criterion: &mut Criterion) {
    let text = program(10_000);
    assert!((9_900..=10_100).contains(&text.lines().count()));
    assert!(parse(&text).1.is_empty());
    let mut group = criterion.benchmark_group("wsl");
    group.sample_size(30).throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("lex", |b| b.iter(|| lex(black_box(&text))));
    group.bench_function("lex and parse", |b| b.iter(|| parse(black_box(&text))));
    let tree = parse(&text).0;
    group.bench_function("desugar", |b| b.iter_batched(|| tree.clone(), desugar, criterion::BatchSize::LargeInput));
    let (core, _) = desugar(tree);
    let found = validate(&text);
    assert!(found.program.is_some(), "{:?}", found.errors.first());
    group.bench_function("environment and typing", |b| b.iter(|| check(black_box(&core))));
    group.bench_function("everything", |b| b.iter(|| validate(black_box(&text))));
    let small = program(25);
    group.throughput(Throughput::Bytes(small.len() as u64));
    group.bench_function("everything of 25 lines", |b| b.iter(|| validate(black_box(&small))));
    group.finish();
}

criterion_group!(benches, wsl);
criterion_main!(benches);
