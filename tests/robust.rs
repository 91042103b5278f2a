//! The properties of the fuzz targets, on mutated samples from fixed seeds: the part of a fuzzer's
//! work that `cargo test` can do.

use smallstep::generate::wsl;
use smallstep::generate::{self, Limits, Random};
use smallstep::{compile, robust};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::spirv::environment::Resources;
use smallstep_semantics::spirv::{self, Buffer};
use smallstep_semantics::wsl::print::print;
use smallstep_spec_tests::file::CaseFile;

const ROUNDS: u64 = 3_000;

fn programs() -> impl Iterator<Item = String> {
    (0..ROUNDS).map(|seed| generate::well_typed(seed, &Limits::default()).print())
}

/// Applies a few random edits: flipped bits, cuts, doubled pieces, pieces of another sample.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len() as u32) as usize;
        match random.below(5) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes.truncate(at),
            2 => {
                let end = (at + random.below(40) as usize).min(bytes.len());
                bytes.drain(at..end);
            }
            3 => {
                let end = (at + random.below(40) as usize).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ if other.is_empty() => {}
            _ => {
                let from = random.below(other.len() as u32) as usize;
                let end = (from + random.below(40) as usize).min(other.len());
                bytes.splice(at..at, other[from..end].iter().copied());
            }
        }
    }
}

/// Replaces a few digits or signs by others, so that the text often stays a program.
fn retouched(bytes: &mut [u8], random: &mut Random) {
    const KINDS: [&[u8]; 3] = [b"0123456789", b"+-*&|^", b"<>"];
    let places: Vec<(usize, &[u8])> =
        bytes.iter().enumerate().filter_map(|(i, b)| Some((i, *KINDS.iter().find(|kind| kind.contains(b))?))).collect();
    for _ in 0..=random.below(4) {
        if let Some(&(at, kind)) = places.get(random.below(places.len().max(1) as u32) as usize) {
            bytes[at] = kind[random.below(kind.len() as u32) as usize];
        }
    }
}

fn mutated(samples: Vec<Vec<u8>>, property: fn(&[u8])) {
    let mut random = Random::new(20);
    for i in 0..samples.len() {
        property(&samples[i]);
        let mut bytes = samples[i].clone();
        mutate(&mut bytes, &samples[(i + 1) % samples.len()], &mut random);
        property(&bytes);
    }
}

fn modules() -> impl Iterator<Item = Vec<u32>> {
    programs().filter_map(|text| {
        let program = Program::read(&text).ok()?;
        Some(compile::lambda_v::translate(&program, &compile::lambda_v::Options::default()).ok()?.words)
    })
}

#[test]
fn any_text_parses_or_is_refused() {
    mutated(programs().map(String::into_bytes).collect(), robust::parse);
}

#[test]
fn any_text_is_checked_or_is_refused() {
    mutated(programs().map(String::into_bytes).collect(), robust::check);
}

#[test]
fn any_words_run_alike_or_are_refused() {
    mutated(modules().map(|words| spirv::bytes_of_words(&words)).collect(), robust::words);
}

#[test]
fn any_assembly_is_stable_or_is_refused() {
    let texts = modules().take(1_000).map(|words| spirv::disassemble(&words).expect("our own modules disassemble"));
    mutated(texts.map(String::into_bytes).collect(), robust::assemble);
}

/// The bytes of one to three edits of a module's words.
fn edits(random: &mut Random) -> Vec<u8> {
    (0..(1 + random.below(3)) as usize * robust::EDIT).map(|_| random.below(256) as u8).collect()
}

#[test]
fn any_dispatch_runs_alike_or_is_refused() {
    let (mut random, mut ran) = (Random::new(21), 0);
    for seed in 0..ROUNDS as u16 {
        let seed = seed.to_le_bytes();
        let bytes: Vec<u8> = seed.into_iter().chain(edits(&mut random)).collect();
        ran += u64::from(robust::dispatch(&bytes));
    }
    assert!(ran > ROUNDS / 5, "{ran} of {ROUNDS} ran");
}

#[test]
fn any_dispatch_with_images_ends_or_is_refused() {
    let (mut random, mut ran) = (Random::new(22), 0);
    let paths = smallstep_spec_tests::run::collect(&smallstep_spec_tests::root(), "spirv/image-").expect("the folders can be read");
    assert!(paths.len() > 10, "{} cases have images", paths.len());
    for path in &paths {
        let file = CaseFile::read(&smallstep_spec_tests::root(), path).unwrap_or_else(|e| panic!("{e}"));
        let words = spirv::assemble(&file.text, spirv::Options::default()).expect("the cases assemble");
        let buffers = [Buffer { set: 0, binding: 0, bytes: vec![7; 64] }];
        let resources = Resources { images: &file.images, samplers: &file.samplers, ..Resources::of_buffers(&buffers) };
        assert!(robust::engines(&words, [1; 3], resources), "{}", file.name);
        for _ in 0..ROUNDS / 10 {
            ran += u64::from(robust::engines(&robust::edited(&words, &edits(&mut random)), [1; 3], resources));
        }
    }
    let edited = paths.len() as u64 * (ROUNDS / 10);
    assert!(ran > edited / 5, "{ran} of {edited} ran");
}

#[test]
fn any_draw_ends_or_is_refused() {
    let (mut random, mut ran) = (Random::new(23), 0);
    for which in 0..ROUNDS as u32 {
        let first = (which % 128) as u8 | if random.percent(40) { 0x80 } else { 0 };
        let bytes: Vec<u8> = [first].into_iter().chain(edits(&mut random)).collect();
        ran += u64::from(robust::draw(&bytes));
    }
    assert!(ran > ROUNDS / 5, "{ran} of {ROUNDS} ran");
}

#[test]
fn any_text_is_wsl_or_is_refused() {
    let mut random = Random::new(21);
    let mut bits = || random.bits();
    let texts: Vec<Vec<u8>> = (0..300).map(|_| print(&wsl::tree(&mut bits, 80)).into_bytes()).collect();
    mutated(texts.clone(), robust::wsl_lex);
    mutated(texts, robust::wsl_parse);
    let typed = (0..100).map(|seed| wsl::typed::program(seed).into_bytes()).collect();
    mutated(typed, robust::wsl_validate);
}

#[test]
fn any_wsl_program_runs_alike_on_both_engines() {
    let dispatches = (0..60).map(|seed| wsl::dispatch::dispatch(seed).text);
    let texts: Vec<Vec<u8>> = (0..200).map(wsl::typed::program).chain(dispatches).map(String::into_bytes).collect();
    let (mut random, mut whole, mut edited) = (Random::new(24), 0, 0);
    for i in 0..texts.len() {
        whole += robust::wsl_execute(&texts[i]);
        for k in 0..8 {
            let mut bytes = texts[i].clone();
            match k % 2 {
                0 => mutate(&mut bytes, &texts[(i + 1) % texts.len()], &mut random),
                _ => retouched(&mut bytes, &mut random),
            }
            edited += robust::wsl_execute(&bytes);
        }
    }
    println!("{whole} runs of {} programs, {edited} of edited ones", texts.len());
    assert!(whole > 500 && edited > 200, "{whole} runs, {edited} of edited programs");
}

#[test]
fn deep_and_long_texts_end_soon() {
    for text in
        ["(".repeat(100_000), ")".repeat(100_000), "(+ 1 ".repeat(50_000), format!("{}1{}", "(+ 1 ".repeat(9_999), ")".repeat(9_999))]
    {
        robust::parse(text.as_bytes());
        robust::check(text.as_bytes());
        robust::assemble(text.as_bytes());
    }
    let wide = format!("(+ {})", "1 ".repeat(1_000_000));
    robust::check(wide.as_bytes());
    let defines: String = (0..20_000).map(|i| format!("(define d{i} {i})\n")).collect();
    robust::check(defines.as_bytes());
}

#[test]
fn any_words_become_wgsl_or_are_refused() {
    let (mut random, mut converted, mut tried) = (Random::new(23), 0, 0);
    for seed in 0..60 {
        let case = smallstep::generate::spirv::case(seed, &smallstep::generate::spirv::Limits { executed: 60, ..Default::default() });
        for _ in 0..ROUNDS / 60 {
            let words = robust::edited(&case.words, &edits(&mut random));
            converted += u64::from(robust::wgsl(&spirv::bytes_of_words(&words)));
            tried += 1;
        }
    }
    assert!(converted > tried / 10, "{converted} of {tried} became WGSL");
    // Stages, some of them with images.
    let (mut converted, mut tried) = (0, 0);
    let images = smallstep_spec_tests::run::collect(&smallstep_spec_tests::root(), "spirv/image-").expect("the folders can be read");
    let cases = images.iter().filter_map(|path| CaseFile::read(&smallstep_spec_tests::root(), path).ok());
    let cases: Vec<Vec<u32>> = cases.filter_map(|file| spirv::assemble(&file.text, spirv::Options::default()).ok()).collect();
    for words in (0..6).flat_map(robust::modules).chain(cases) {
        for _ in 0..ROUNDS / 60 {
            let edited = robust::edited(&words, &edits(&mut random));
            converted += u64::from(robust::wgsl(&spirv::bytes_of_words(&edited)));
            tried += 1;
        }
    }
    assert!(converted > tried / 10, "{converted} of {tried} stages became WGSL");
    mutated(modules().map(|words| spirv::bytes_of_words(&words)).collect(), |bytes| _ = robust::wgsl(bytes));
}
