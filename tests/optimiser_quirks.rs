//! Known bugs of SPIR-V compilers: `spec-tests/quirks-spirv-opt`, and `spec-tests/quirks-naga`,
//! whose compiler is always available.
//!
//! If the tool has the version of a quirk, exactly the recorded result is required. Another result
//! fails. Agreement fails too, and then the quirk must be removed. In any other version the tool
//! must be right. Without the tool, the tests say so, and fail if SMALLSTEP_REQUIRE_SPIRV_TOOLS
//! is set.

use std::path::{Path, PathBuf};
use std::time::Duration;

use smallstep::theorem::compilers::Compiler;
use smallstep::theorem::dispatches::optimised::{Ends, Wrong};
use smallstep::theorem::dispatches::optimiser_quirk::OptimiserQuirk;
use smallstep::verdict::Verdict;
use smallstep_spec_tests::tools;

const LIMIT: Duration = Duration::from_secs(60);

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("spec-tests").join(name)
}

/// All quirks: one for each file.
fn quirks() -> Vec<OptimiserQuirk> {
    let mut all = Vec::new();
    for folder in ["quirks-spirv-opt", "quirks-naga"].map(folder) {
        let quirks = OptimiserQuirk::read_folder(&folder).unwrap_or_else(|e| panic!("{e}"));
        let files = std::fs::read_dir(folder).expect("it is there").map(|file| file.expect("an entry").path());
        assert_eq!(quirks.len(), files.filter(|path| path.extension().is_some_and(|ending| ending == "spvasm")).count());
        all.extend(quirks);
    }
    all
}

fn optimiser(command: &str) -> Option<Compiler> {
    let tool = command.split_whitespace().next()?;
    if tool == "naga" || tool == "naga-wgsl" {
        let naga = Compiler::named(command, Path::new(env!("CARGO_BIN_EXE_smallstep")), LIMIT);
        return Some(naga.unwrap_or_else(|e| panic!("{e}")));
    }
    tools::is_there(tool).then(|| Compiler::new(command, LIMIT).unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn every_quirk_is_there_as_recorded_and_in_no_other_version() {
    for quirk in quirks() {
        let Some(optimiser) = optimiser(&quirk.command) else { continue };
        let found = quirk.by(&optimiser);
        match quirk.is_of(&optimiser) {
            true => quirk.is_recorded(&found).unwrap_or_else(|why| panic!("{}: {why}", quirk.name)),
            false => assert_eq!(found, Verdict::Agree, "{}: seen with {}, and here too", quirk.name, quirk.version),
        }
    }
}

/// A command that copies its input is right on every quirk's module, and is no quirk's tool.
#[test]
fn what_leaves_modules_alone_shows_no_quirk() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("copies");
    std::fs::write(&script, "case $1 in --version) echo copies v1;; *) cp \"$1\" \"$3\";; esac\n").expect("written");
    let copies = Compiler::new(&format!("sh {}", script.display()), LIMIT).expect("sh is there");
    for quirk in quirks() {
        assert_eq!(quirk.by(&copies), Verdict::Agree, "{}", quirk.name);
        assert!(!quirk.is_of(&copies) && quirk.is_recorded(&Verdict::Agree).is_err(), "{}", quirk.name);
        let wrong = |what: &str, ends| Verdict::Disagree(Wrong { what: what.into(), ends });
        assert!(quirk.is_recorded(&wrong(&quirk.says, quirk.ends)).is_ok());
        assert!(quirk.is_recorded(&wrong("the compiler refuses a valid module", quirk.ends)).is_err());
        let others = [Ends::Shown, Ends::Undefined, Ends::Failed].into_iter().filter(|ends| *ends != quirk.ends);
        others.for_each(|ends| assert!(quirk.is_recorded(&wrong(&quirk.says, ends)).is_err(), "{}", quirk.name));
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let text = std::fs::read_to_string(folder("quirks-spirv-opt").join("licm-load.spvasm")).expect("read");
    let file = tempfile::tempdir().expect("a folder");
    let path = file.path().join("quirk.spvasm");
    let read = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        std::fs::write(&path, text.replace(from, to)).expect("written");
        OptimiserQuirk::read(Path::new(&path)).err().map_or_else(String::new, String::from)
    };
    for (from, to, said) in [
        (";@ quirk ends: shown", ";@ quirk ends: badly", "ends is \"badly\" and must be shown or undefined or failed"),
        (";@ quirk ends: shown", ";@ quirk more: 1", "a quirk needs \"ends\""),
        (";@ quirk seen", ";@ quirk route: naga\n;@ quirk seen", "a quirk has no \"route\""),
        (";@ quirk tool: spirv-opt", ";@ quirk tool: other", "does not begin with the tool \"other\""),
        (";@ dispatch set: 0.1=u32:0\n", "", "no buffer is given"),
    ] {
        let found = read(from, to);
        assert!(found.contains(said), "{found:?} lacks {said:?}");
    }
}
