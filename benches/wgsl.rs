//! SPIR-V → WGSL, beside naga's own, in process on the same modules: those generated modules that
//! both convert. The ratio is naga's time by ours.

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use naga::back::wgsl::{WriterFlags, write_string};
use naga::front::spv::{Options as Reading, parse_u8_slice};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use smallstep::compile::wgsl::{Options, convert};
use smallstep::generate::spirv::{Limits, case};
use smallstep_semantics::spirv::bytes_of_words;

/// How many modules.
const MODULES: u64 = 200;

/// How often all of them are converted for the ratio; the shortest time counts.
const ROUNDS: usize = 100;

/// naga's reading, validation and writing; `None` where it refuses the module.
fn by_naga(words: &[u32]) -> Option<String> {
    let module = parse_u8_slice(&bytes_of_words(words), &Reading { adjust_coordinate_space: false, ..Reading::default() }).ok()?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module).ok()?;
    write_string(&module, &info, WriterFlags::empty()).ok()
}

fn by_ours(words: &[u32]) -> Option<String> {
    convert(words, &Options::default()).ok().map(|converted| converted.text)
}

/// The shortest times of several rounds, here and by naga in turn, in seconds: what else the
/// machine does meets both.
fn shortest(modules: &[Vec<u32>]) -> (f64, f64) {
    let round = |conversion: fn(&[u32]) -> Option<String>| {
        let begun = Instant::now();
        modules.iter().for_each(|words| _ = black_box(conversion(words)));
        begun.elapsed().as_secs_f64()
    };
    let (mut ours, mut naga) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        (ours, naga) = (ours.min(round(by_ours)), naga.min(round(by_naga)));
    }
    (ours, naga)
}

fn conversions(c: &mut Criterion) {
    let all: Vec<Vec<u32>> = (1..=MODULES).map(|seed| case(seed, &Limits::default()).words).collect();
    let count = |conversion: fn(&[u32]) -> Option<String>| all.iter().filter(|words| conversion(words).is_some()).count();
    println!("of {MODULES} modules {} are converted here, {} by naga", count(by_ours), count(by_naga));
    let both: Vec<Vec<u32>> = all.into_iter().filter(|words| by_ours(words).is_some() && by_naga(words).is_some()).collect();
    let (ours, naga) = shortest(&both);
    let words: usize = both.iter().map(Vec::len).sum();
    println!("on the {} of both, of {words} words: {:.2} times as fast as naga", both.len(), naga / ours);
    let mut group = c.benchmark_group("SPIR-V to WGSL");
    group.sample_size(10);
    group.bench_function("here", |b| b.iter(|| both.iter().for_each(|words| _ = black_box(by_ours(words)))));
    group.bench_function("naga", |b| b.iter(|| both.iter().for_each(|words| _ = black_box(by_naga(words)))));
    group.finish();
}

criterion_group!(benches, conversions);
criterion_main!(benches);
