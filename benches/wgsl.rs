//! SPIR-V → WGSL beside naga's conversion, in one process. Both convert the same modules of
//! generated SPIR-V, λV and WSL, namely those that both accept. The ratio is naga's time divided
//! by ours.

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use naga::back::wgsl::{WriterFlags, write_string};
use naga::front::spv::{Options as Reading, parse_u8_slice};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use smallstep::compile::wgsl::{Options, convert};
use smallstep::dispatch::Dispatch;
use smallstep::generate::spirv::{Limits, case};
use smallstep::theorem::campaign::Extent;
use smallstep::theorem::campaign::dispatches;
use smallstep::theorem::wsl::{Plan, Programs, translated};
use smallstep_semantics::number::Profile;
use smallstep_semantics::spirv::bytes_of_words;

/// The number of modules of each source.
const MODULES: usize = 200;

/// The number of rounds for the ratio. Each round converts all modules, and the shortest
/// time counts.
const ROUNDS: usize = 100;

/// A module for both converters: its words, and the bytes of its file.
struct Input {
    words: Vec<u32>,
    bytes: Vec<u8>,
}

/// Reads, validates and writes with naga. `None` if naga refuses the module.
fn by_naga(input: &Input) -> Option<String> {
    let module = parse_u8_slice(&input.bytes, &Reading { adjust_coordinate_space: false, ..Reading::default() }).ok()?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module).ok()?;
    write_string(&module, &info, WriterFlags::empty()).ok()
}

fn by_ours(input: &Input) -> Option<String> {
    convert(&input.words, &Options::default()).ok().map(|converted| converted.text)
}

/// The shortest times of several rounds in seconds: ours and naga's. The rounds alternate, so that
/// other load on the machine affects both.
fn shortest(modules: &[Input]) -> (f64, f64) {
    let round = |conversion: fn(&Input) -> Option<String>| {
        let begun = Instant::now();
        modules.iter().for_each(|input| _ = black_box(conversion(input)));
        begun.elapsed().as_secs_f64()
    };
    let (mut ours, mut naga) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        (ours, naga) = (ours.min(round(by_ours)), naga.min(round(by_naga)));
    }
    (ours, naga)
}

/// The modules by source: generated SPIR-V, λV programs, and WSL programs of every kind.
fn sources() -> [(&'static str, Vec<Vec<u32>>); 3] {
    let spirv = (1..=MODULES as u64).map(|seed| case(seed, &Limits::default()).words).collect();
    let lambda_v = dispatches(1, Profile::Wgsl, (1, 1)).take(MODULES).map(|dispatch| dispatch.words.to_vec()).collect();
    let extent = Extent { seed: 1, count: None, time: None, shard: (0, 1), threads: 1 };
    let plan = Plan { extent, mix: Programs::ALL, references: 0, profile: Profile::Wgsl, planted: None, via: None };
    let mut wsl: Vec<Vec<u32>> = Vec::new();
    let mut index = 0;
    while wsl.len() < MODULES {
        let (programs, seed) = plan.program(index);
        translated(programs, seed, None, &plan.options(), &mut |_, dispatch| match dispatch {
            Dispatch::Fragment(dispatch) => wsl.push(dispatch.words.to_vec()),
            Dispatch::Compute(dispatch) => wsl.push(dispatch.words.to_vec()),
            Dispatch::Draw(draw) => wsl.extend([draw.vertex.words.to_vec(), draw.fragment.words.to_vec()]),
        });
        index += 1;
    }
    wsl.truncate(MODULES);
    [("generated SPIR-V", spirv), ("λV", lambda_v), ("WSL", wsl)]
}

fn conversions(c: &mut Criterion) {
    for (name, all) in sources() {
        let all: Vec<Input> = all.into_iter().map(|words| Input { bytes: bytes_of_words(&words), words }).collect();
        let count = |conversion: fn(&Input) -> Option<String>| all.iter().filter(|input| conversion(input).is_some()).count();
        println!("of {} modules of {name} {} are converted here, {} by naga", all.len(), count(by_ours), count(by_naga));
        let both: Vec<Input> = all.into_iter().filter(|input| by_ours(input).is_some() && by_naga(input).is_some()).collect();
        let (ours, naga) = shortest(&both);
        let words: usize = both.iter().map(|input| input.words.len()).sum();
        println!("on the {} of both, of {words} words: {:.2} times as fast as naga", both.len(), naga / ours);
        let mut group = c.benchmark_group(format!("{name} to WGSL"));
        group.sample_size(10);
        group.bench_function("here", |b| b.iter(|| both.iter().for_each(|input| _ = black_box(by_ours(input)))));
        group.bench_function("naga", |b| b.iter(|| both.iter().for_each(|input| _ = black_box(by_naga(input)))));
        group.finish();
    }
}

criterion_group!(benches, conversions);
criterion_main!(benches);
