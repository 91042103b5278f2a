//! Every emitted module is valid by the judgement of `spirv-val`, which shares nothing with us.
//! `spirv-as` reads its text.
//!
//! If spirv-tools are not installed, the tests say so, and fail if SMALLSTEP_REQUIRE_SPIRV_TOOLS
//! is set.

use smallstep::compile::lambda_v::{Constants, Options, translate};
use smallstep::generate::{self, Limits};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::number::{Controls, Denormals, Profile, Rounding};
use smallstep_semantics::spirv;
use smallstep_spec_tests::tools;
use std::path::Path;
use std::process::Command;

/// Profiles that declare the float controls of 32-bit floats beyond the strict profile.
const DECLARED: [Profile; 2] = [
    Profile::Declared(Controls {
        rounding: Rounding::TowardZero,
        denormals: Denormals::Flush,
        keeps_special: false,
        no_contraction: true,
        wgsl: false,
    }),
    Profile::Declared(Controls {
        rounding: Rounding::NearestEven,
        denormals: Denormals::Preserve,
        keeps_special: true,
        no_contraction: true,
        wgsl: false,
    }),
];

const COMBINATIONS: [(Profile, Constants); 6] = [
    (Profile::Strict, Constants::InModule),
    (Profile::Strict, Constants::Opaque),
    (Profile::Wgsl, Constants::InModule),
    (Profile::Wgsl, Constants::Opaque),
    (DECLARED[0], Constants::InModule),
    (DECLARED[1], Constants::Opaque),
];

fn module(seed: u64, (profile, constants): (Profile, Constants)) -> (String, Vec<u32>) {
    let text = generate::well_typed(seed, &Limits::default()).print();
    let program = Program::read(&text).expect("reads");
    let options = Options { profile, constants, ..Options::default() };
    let module = translate(&program, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
    (text, module.words)
}

fn spirv_val(file: &Path) -> Result<(), String> {
    let output = Command::new("spirv-val").args(["--target-env", "vulkan1.1"]).arg(file).output().map_err(|e| e.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

#[test]
fn spirv_val_accepts_every_module() {
    if !tools::is_there("spirv-val") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::thread::scope(|scope| {
        for (thread, combination) in COMBINATIONS.into_iter().enumerate() {
            let folder = folder.path();
            scope.spawn(move || {
                let file = folder.join(format!("{thread}.spv"));
                for seed in 0..500 {
                    let (text, words) = module(seed * COMBINATIONS.len() as u64 + thread as u64, combination);
                    std::fs::write(&file, spirv::bytes_of_words(&words)).expect("written");
                    if let Err(e) = spirv_val(&file) {
                        panic!("{e}\n{combination:?}\n{text}\n{}", spirv::disassemble(&words).expect("disassembles"));
                    }
                }
            });
        }
    });
}

#[test]
fn spirv_val_refuses_a_spoilt_module() {
    if !tools::is_there("spirv-val") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("spoilt.spv");
    let (_, mut words) = module(1, COMBINATIONS[0]);
    words.truncate(words.len() - 1);
    std::fs::write(&file, spirv::bytes_of_words(&words)).expect("written");
    assert!(spirv_val(&file).is_err(), "a module without OpFunctionEnd must be refused");
}

#[test]
fn spirv_as_reads_our_text_to_our_words() {
    if !tools::is_there("spirv-as") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (text_file, words_file) = (folder.path().join("m.spvasm"), folder.path().join("m.spv"));
    for seed in 0..200 {
        let (_, words) = module(seed, COMBINATIONS[seed as usize % 4]);
        let text = spirv::disassemble(&words).expect("disassembles");
        assert_eq!(spirv::assemble(&text, spirv::Options::default()).expect("assembles"), words, "{text}");
        std::fs::write(&text_file, &text).expect("written");
        let mut spirv_as = Command::new("spirv-as");
        spirv_as.args(["--preserve-numeric-ids", "--target-env", "spv1.3"]).arg(&text_file).arg("-o").arg(&words_file);
        let output = spirv_as.output().expect("runs");
        assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
        let theirs = spirv::words_of_bytes(&std::fs::read(&words_file).expect("read")).expect("words");
        // Word 2 names the generator. Word 3 is a bound, and the translation does not use all ids
        // below its own.
        assert!(theirs[3] <= words[3]);
        assert_eq!((&theirs[..2], &theirs[4..]), (&words[..2], &words[4..]), "{text}");
    }
}
