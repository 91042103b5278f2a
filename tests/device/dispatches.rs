//! Campaigns of generated dispatches on a device. The device's results are judged. A fault is
//! found, shrunk, and known by a quirk. The worker crashes on words that the test names, so every
//! device has such a fault.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use smallstep::dispatch::words_hash;
use smallstep::generate::spirv::remedy::Remedy;
use smallstep::generate::spirv::{ComputeCase, Limits, shrink::size};
use smallstep::gpu::{Device, Options, Route, worker};
use smallstep::theorem::dispatches::campaign::{self, Finding, Of, Plan, module_of};
use smallstep::theorem::dispatches::quirk::{DispatchQuirk, Known, Shape, carried};
use smallstep::theorem::dispatches::{DeviceCheck, Engines, Judged, Runner, asked, judge};
use smallstep::verdict::Verdict;
use smallstep_semantics::spirv::environment::Observation;
use smallstep_semantics::spirv::{Options as Assembly, assemble, disassemble};

use super::{open, options};

const COUNT: u64 = 4;

fn plan(seed: u64) -> Plan {
    let limits = Limits { executed: 10, ..Limits::default() };
    Plan { of: Of::Limits, seed, count: COUNT, twins: 0, references: 0, threads: 1, limits, engines: Engines::default(), optimiser: None }
}

fn judged(case: &ComputeCase) -> Observation {
    match judge(case, &Engines::default()) {
        Judged::Observed(observation) => observation,
        other => panic!("{other:?}"),
    }
}

/// The hash of the words that a device gets for a module.
fn asked_hash(case: &ComputeCase) -> u64 {
    let DeviceCheck { dispatch, .. } = asked(case, &judged(case), Route::Passthrough).unwrap_or_else(|e| panic!("{e}"));
    words_hash(&dispatch.words)
}

/// The device, with a worker that crashes on these words.
fn crashing(hashes: &[u64]) -> Option<Device> {
    let fault = hashes.iter().map(|hash| format!("crash-run:{hash:x}")).collect::<Vec<_>>().join(",");
    open(Some(Route::Passthrough), Options { environment: vec![(worker::TEST_FAULT.into(), fault.into())], ..options() })
}

/// The smallest of the first modules that change when their constants are hidden. Also a plan whose
/// second module it is.
fn crashing_module() -> (Plan, ComputeCase) {
    let modules = (1..40).filter_map(|seed| Some((seed, module_of(seed, None, &plan(seed).limits)?)));
    let changed = modules.filter(|(_, module)| Remedy::HiddenConstants.applied(module).is_some());
    let (seed, module) = changed.min_by_key(|(_, module)| size(module)).expect("a module with a constant");
    (plan(seed - 1), module.case())
}

/// A quirk of this module, as a file of the folder: a crash on any device.
fn quirk(folder: &Path, name: &str, case: &ComputeCase, more: &str) -> DispatchQuirk {
    let keys = ";@ quirk adapter: any\n;@ quirk driver: any\n;@ quirk route: passthrough\n;@ quirk seen: 2026-11-22\n";
    let text = disassemble(&case.words).expect("disassembles");
    let path = folder.join(format!("{name}.spvasm"));
    std::fs::write(&path, format!("{keys}{more}{}{text}", carried(case))).expect("written");
    DispatchQuirk::read(&path).unwrap_or_else(|e| panic!("{e}"))
}

const CRASHES: &str = ";@ quirk ends: failed\n;@ quirk says: crashed: signal 6 (SIGABRT)\n";

/// The hash of the words that a device gets for a quirk: assembled from its text.
fn quirk_hash(case: &ComputeCase) -> u64 {
    let text = disassemble(&case.words).expect("disassembles");
    asked_hash(&ComputeCase { words: assemble(&text, Assembly::default()).expect("assembles"), ..case.clone() })
}

#[test]
fn a_campaign_counts_what_the_device_shows() {
    let Some(mut device) = crashing(&[]) else { return };
    let tally = campaign::run(&plan(40), Some(&mut device), |_, _| {});
    let unchecked: u64 = tally.device_unchecked.values().sum();
    let wrong = tally.findings.iter().filter(|finding| finding.runner == Runner::Device).count() as u64;
    assert_eq!((tally.agree, tally.device_agrees + unchecked + wrong), (COUNT, COUNT), "{tally:?}");
    assert!(tally.device_agrees > 0 && tally.outage.is_none(), "{tally:?}");
}

#[test]
fn a_crash_is_found_made_minimal_and_known_by_a_quirk() {
    let (plan, case) = crashing_module();
    let seed = plan.seed + 1;
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mut device) = crashing(&[asked_hash(&case), quirk_hash(&case)]) else { return };

    let tally = campaign::run(&plan, Some(&mut device), |_, _| {});
    let finding = tally.findings.iter().find(|finding| finding.seed == seed).expect("it crashes");
    assert!(finding.runner == Runner::Device && finding.failed && finding.what.contains("signal 6 (SIGABRT)"), "{finding:?}");

    // Only these words crash, so no smaller module does.
    let minimal = campaign::minimal(finding, &plan, Some(&mut device)).expect("it comes back");
    assert_eq!(minimal.words, case.words);
    assert_eq!(campaign::minimal(finding, &plan, None), None, "without the device nothing comes back");
    for other in [Finding { failed: false, ..finding.clone() }, Finding { what: "timed out".into(), ..finding.clone() }] {
        assert_eq!(campaign::minimal(&other, &plan, Some(&mut device)), None, "{other:?}");
    }
    let shown = campaign::on_device_alone(&case, &judged(&case), &mut device);
    assert_eq!(shown, Verdict::Failed(finding.what.clone()));

    // With its constants hidden, the module does not crash. This is the remedy of the first quirk.
    // The second quirk has no remedy and is the module itself.
    let remedy = ";@ quirk remedy: hidden-constants\n";
    let by_constants = [quirk(folder.path(), "by-constants", &case, &format!("{CRASHES}{remedy}"))];
    let itself = [quirk(folder.path(), "itself", &case, CRASHES)];
    let found = Verdict::Failed(finding.what.clone());
    let known = Known::on(&mut device, &by_constants);
    assert_eq!(known.gone, []);
    assert_eq!(campaign::remedied(finding, &plan, &known, &mut device).as_deref(), Some("by-constants by hidden-constants"));
    assert!(known.remedies(false).is_empty(), "no quirk shows something wrong");
    let shown = Finding { failed: false, ..finding.clone() };
    assert_eq!(campaign::remedied(&shown, &plan, &known, &mut device), None, "nor is a disagreement known by a crash");
    let known = Known::on(&mut device, &itself);
    assert_eq!(campaign::remedied(finding, &plan, &known, &mut device), None, "that quirk has no remedy");
    assert_eq!(known.name_of(&case.words, &found), Some("itself"));

    // A remedy after which the device still crashes explains nothing.
    let hidden =
        Remedy::HiddenConstants.applied(&module_of(seed, None, &plan.limits).expect("a module")).expect("it has a constant").case();
    assert_ne!(Shape::of(&hidden.words), Shape::of(&case.words));
    drop(device);
    let Some(mut device) = crashing(&[asked_hash(&case), quirk_hash(&case), asked_hash(&hidden)]) else { return };
    let known = Known::on(&mut device, &by_constants);
    assert_eq!(known.gone, []);
    assert_eq!(campaign::remedied(finding, &plan, &known, &mut device), None);
    assert_eq!(known.name_of(&hidden.words, &found), None, "other instructions");
}

/// A quirk that the device does not show, or shows differently, is reported as gone and
/// explains nothing.
#[test]
fn a_quirk_that_is_not_there_explains_nothing() {
    let (_, case) = crashing_module();
    let folder = tempfile::tempdir().expect("a folder");
    let Some(mut device) = crashing(&[]) else { return };
    let more = format!("{CRASHES};@ quirk remedy: hidden-constants\n");
    let mut quirks = vec![quirk(folder.path(), "gone", &case, &more)];
    let elsewhere = std::fs::read_to_string(&quirks[0].path).expect("it is there").replace("adapter: any", "adapter: no such adapter");
    std::fs::write(folder.path().join("elsewhere.spvasm"), elsewhere).expect("written");
    quirks.push(DispatchQuirk::read(&folder.path().join("elsewhere.spvasm")).unwrap_or_else(|e| panic!("{e}")));
    assert!(quirks[0].is_of(&device) && !quirks[1].is_of(&device));
    let known = Known::on(&mut device, &quirks);
    assert!(known.remedies(true).is_empty());
    let found = Verdict::Failed("crashed: signal 6 (SIGABRT)".into());
    assert_eq!(known.name_of(&case.words, &found), None);
    assert!(matches!(&known.gone[..], [(name, _)] if name == "gone"), "{:?}", known.gone);
}

/// The command counts a crash as a failure, or as known.
#[test]
fn the_command_counts_a_known_crash_apart() {
    let (plan, case) = crashing_module();
    let folder = tempfile::tempdir().expect("a folder");
    let Some(device) = crashing(&[]) else { return };
    let index = device.adapter().index.to_string();
    drop(device);
    quirk(folder.path(), "by-constants", &case, &format!("{CRASHES};@ quirk remedy: hidden-constants\n"));
    let fault = [asked_hash(&case), quirk_hash(&case)].map(|hash| format!("crash-run:{hash:x}")).join(",");
    let fuzz = |more: &[&str]| {
        let seed = (plan.seed + 1).to_string();
        let args = ["fuzz-spirv", "--seed", &seed, "--count", "1", "--twins", "0", "--executed", "10", "--json", "--device", &index];
        let mut command = Command::new(env!("CARGO_BIN_EXE_smallstep"));
        let output = command.args(args).args(more).env(worker::TEST_FAULT, &fault).output().expect("starts");
        let summary: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        (output.status.code(), summary, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, summary, said) = fuzz(&["--known", &folder.path().display().to_string()]);
    assert_eq!((code, &summary["known"]), (Some(0), &json!({"by-constants by hidden-constants": 1})), "{said}");
    assert!(said.contains("known: by-constants by hidden-constants"), "{said}");
    let saved = folder.path().join("saved");
    let (code, summary, said) = fuzz(&["--save", &saved.display().to_string()]);
    assert_eq!((code, &summary["known"]), (Some(4), &json!({})), "{said}");
    assert_eq!((&summary["findings"][0]["runner"], &summary["findings"][0]["failed"]), (&json!("the device"), &json!(true)), "{summary}");
    assert!(said.contains("minimal:") && said.contains("signal 6 (SIGABRT)"), "{said}");
    let file = saved.join(format!("spirv-{}.spvasm", plan.seed + 1));
    assert!(std::fs::read_to_string(file).is_ok_and(|text| text.contains(&disassemble(&case.words).expect("disassembles"))));
}
