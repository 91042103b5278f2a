//! Modules are valid by the judgement of `spirv-val`, which shares nothing with us.

use crate::cases::{CALLS, DISPATCHES};
use crate::texture_cases::CASES;
use smallstep::compile::wsl::{Options, translate, translate_function};
use smallstep::generate::wsl::{dispatch, draws, typed};
use smallstep_semantics::number::Profile;
use smallstep_semantics::spirv;
use smallstep_semantics::wsl::entry::Stage;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::validate::validate;
use smallstep_spec_tests::tools;
use std::process::Command;

/// The modules of a program: of its compute entry points, or of its functions.
fn modules(text: &str, options: &Options) -> Vec<Vec<u32>> {
    let Some(program) = validate(text).program else { return Vec::new() };
    let mut found = Vec::new();
    for entry in program.entry_points.iter().filter(|e| matches!(e.stage, Stage::Compute(_))) {
        found.extend(translate(&program, entry, options).ok());
    }
    for (k, f) in program.env.functions.iter().enumerate().filter(|(_, f)| !f.kind.is_entry_point()) {
        let _ = f;
        found.extend(translate_function(&program, FunctionId(k as u32), options).ok());
    }
    found.extend(crate::stages::modules(text, options));
    found.into_iter().map(|module| module.words).collect()
}

#[test]
fn spirv_val_accepts_every_module() {
    if !tools::is_there("spirv-val") {
        return;
    }
    let mut texts: Vec<String> = CALLS.iter().map(|case| case.text.to_string()).collect();
    texts.extend(DISPATCHES.iter().map(|(text, _)| text.to_string()));
    texts.extend(crate::stages::CASES.iter().map(|case| case.text.to_string()));
    texts.extend((0..60).map(draws::program));
    texts.extend(CASES.iter().map(|case| case.text()));
    texts.extend((0..60).map(|seed| dispatch::dispatch(seed).text));
    texts.extend((0..60).map(typed::program));
    let folder = tempfile::tempdir().expect("a folder");
    let (mut count, mut wrong) = (0, Vec::new());
    for (k, text) in texts.iter().enumerate() {
        let profile = [Profile::Strict, Profile::VulkanDefault][k % 2];
        // Every third program has debug information, too.
        let source = Some(("program.wsl", text.as_str()));
        for words in modules(text, &Options { profile, source, debug: k % 3 == 0, ..Options::default() }) {
            let file = folder.path().join("module.spv");
            std::fs::write(&file, spirv::bytes_of_words(&words)).expect("it can be written");
            let output = Command::new("spirv-val").args(["--target-env", "vulkan1.1"]).arg(&file).output().expect("it runs");
            count += 1;
            if !output.status.success() {
                wrong.push(format!("{}\n{text}", String::from_utf8_lossy(&output.stderr)));
            }
            if let Err(error) = spirv::Module::load(&words) {
                wrong.push(format!("{error}\n{text}"));
            }
        }
    }
    println!("{count} modules");
    assert!(count > 300, "only {count} modules");
    assert!(wrong.is_empty(), "{} of {count} are not valid:\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n"));
}
