//! Known bugs of drivers and of naga: `spec-tests/quirks/*.lv`, read as `smallstep fuzz --known`
//! reads them.
//!
//! If adapter, driver and route match a quirk, exactly the recorded disagreement is required.
//! Another disagreement fails. Agreement fails too: then the driver is fixed, and the quirk must be
//! removed. On every other driver the program must agree.

use std::path::{Path, PathBuf};
use std::process::Command;

use smallstep::gpu::Route;
use smallstep::theorem::device::UnderTest;
use smallstep::theorem::dispatches::quirk::{DispatchQuirk, Known};
use smallstep::theorem::quirk::Quirk;
use smallstep::verdict::Verdict;
use smallstep_spec_tests::tools;

use super::{open, options};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("spec-tests/quirks")
}

fn quirks() -> Vec<Quirk> {
    Quirk::read_folder(&folder()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_quirk_is_there_as_recorded_and_nowhere_else() {
    for quirk in quirks() {
        let name = &quirk.name;
        assert_eq!(quirk.judge(None), Verdict::Agree, "{name}: the semantics among themselves");
        let Some(mut device) = open(Some(quirk.seen.route), options()) else { return };
        let mut device = UnderTest::from(&mut device);
        let verdict = quirk.judge(Some(&mut device));
        match quirk.is_of(&device) {
            true => drop(quirk.is_recorded(&verdict).unwrap_or_else(|why| panic!("{name}: {why}"))),
            false => assert_eq!(verdict, Verdict::Agree, "{name}: seen elsewhere, and on this device too"),
        }
    }
}

/// Runs `smallstep check` on a quirk's program and the device under test. Returns the exit code and
/// the output.
fn check(quirk: &Quirk, index: u32, known: Option<&Path>) -> (Option<i32>, String) {
    let settings = quirk.settings();
    let constants = if settings.constants == smallstep::compile::lambda_v::Constants::Opaque { "opaque" } else { "module" };
    let mut command = Command::new(env!("CARGO_BIN_EXE_smallstep"));
    command.args(["check", "--size", "2x2", "--route", quirk.seen.route.name(), "--constants", constants]);
    command.args(["--fuel", &settings.fuel.to_string(), "--device", &index.to_string()]).arg(&quirk.path);
    if let Some(known) = known {
        command.arg("--known").arg(known);
    }
    let output = command.output().expect("starts");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_quirk_is_known_by_its_own_name_and_by_no_quirk_of_another_driver() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    for quirk in quirks() {
        let text = std::fs::read_to_string(&quirk.path).expect("read");
        let text = text.lines().map(|l| if l.starts_with(";@ quirk driver: ") { ";@ quirk driver: Mesa 0.0.1" } else { l });
        let file = elsewhere.path().join(quirk.path.file_name().expect("a file"));
        std::fs::write(file, text.collect::<Vec<_>>().join("\n")).expect("written");
    }
    for quirk in quirks() {
        let Some(mut device) = open(Some(quirk.seen.route), options()) else { return };
        let index = device.adapter().index;
        if !quirk.is_of(&UnderTest::from(&mut device)) {
            continue;
        }
        drop(device);
        let name = &quirk.name;
        let (code, said) = check(&quirk, index, Some(&folder()));
        assert_eq!(code, Some(0), "{name}: {said}");
        assert!(said.starts_with(&format!("disagree (known: {name})")) && said.contains(&format!("1 known ({name}: 1)")), "{name}: {said}");
        for known in [None, Some(elsewhere.path())] {
            let (code, said) = check(&quirk, index, known);
            assert_eq!(code, Some(1), "{name}: {said}");
            assert!(said.starts_with("disagree  ") && !said.contains("(known: ") && !said.contains(" known ("), "{name}: {said}");
        }
    }
}

fn dispatch_quirks() -> Vec<DispatchQuirk> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("spec-tests/quirks-spirv");
    DispatchQuirk::read_folder(&folder).unwrap_or_else(|e| panic!("{e}"))
}

/// The same for compute modules: both interpreters agree, the device with the quirk shows exactly
/// what was recorded, and every other device agrees.
#[test]
fn every_quirk_of_a_dispatch_is_there_as_recorded_and_nowhere_else() {
    let quirks = dispatch_quirks();
    for quirk in &quirks {
        quirk.expected().unwrap_or_else(|why| panic!("{}: {why}", quirk.name));
    }
    let Some(mut device) = open(Some(Route::Passthrough), options()) else { return };
    for quirk in &quirks {
        let name = &quirk.name;
        let found = quirk.on(&mut device).unwrap_or_else(|why| panic!("{name}: {why}"));
        match (quirk.is_of(&device), &found) {
            (true, _) => quirk.is_recorded(&found).unwrap_or_else(|why| panic!("{name}: {why}")),
            // For example integers of other widths, which not every device supports.
            (false, Verdict::Unchecked(why)) => tools::not_run(&format!("{name}: {why}")),
            (false, _) => assert_eq!(found, Verdict::Agree, "{name}: seen elsewhere, and on this device too"),
        }
    }
    let known = Known::on(&mut device, &quirks);
    assert!(known.gone.is_empty(), "{:?}", known.gone);
    for quirk in &quirks {
        if !quirk.is_of(&device) {
            continue;
        }
        let (words, found) = (quirk.prepared.module.module.words(), quirk.on(&mut device).expect("it was asked before"));
        assert_eq!(known.name_of(words, &found), Some(quirk.name.as_str()));
        assert_eq!(known.name_of(words, &Verdict::Agree), None);
        let another = Verdict::Disagree("it refuses a valid module".into());
        assert_eq!(known.name_of(words, &another), None, "another disagreement of the same module");
    }
}
