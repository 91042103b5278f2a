//! A campaign goes on when the device fails on a program.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use smallstep::generate;
use smallstep::gpu::{Options, worker};
use smallstep::theorem::campaign::Plan;
use smallstep::theorem::case::{Case, Settings};
use smallstep::theorem::device::profile_of;
use smallstep_semantics::lambda_v::resolve::Program;

use super::{open, options};

const COUNT: u64 = 24;

/// The fault of a worker on these programs of seed 1, and the arguments of `smallstep fuzz` for the
/// first programs of that seed.
fn fuzz(fault: &str, programs: &[u64]) -> Option<(String, Vec<String>)> {
    let device = open(None, options())?;
    let settings = Settings { profile: profile_of(device.route()), size: (2, 2), references: false, ..Settings::default() };
    let plan = Plan {
        seed: 1,
        count: Some(COUNT),
        time: None,
        shard: (0, 1),
        references: 0,
        near_misses: 0,
        settings: settings.clone(),
        threads: 1,
        limits: generate::Limits::default(),
    };
    let faults = programs.iter().map(|&i| {
        let program = Program::resolve(&plan.program(i)).expect("resolves");
        let Ok(case) = Case::new(program, &settings) else { panic!("program {i} is well typed") };
        format!("{fault}:{:x}", case.words_hash)
    });
    let faults = faults.collect::<Vec<_>>().join(",");
    let args = ["fuzz", "--seed", "1", "--count", &COUNT.to_string(), "--size", "2x2", "--near-misses", "0", "--json", "--device"];
    let args = args.map(String::from).into_iter().chain([device.adapter().index.to_string()]).collect();
    Some((faults, args))
}

/// Runs `smallstep fuzz` over the first programs of seed 1, with the fault on program 5. Returns
/// the exit code, the summary and the output.
fn campaign(fault: &str, more: &[&str]) -> Option<(i32, Value, String)> {
    let (fault, args) = fuzz(fault, &[5])?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_smallstep"));
    Some(ended(command.args(args).args(more).env(worker::TEST_FAULT, fault).output().expect("starts")))
}

/// The exit code, the summary, and all of the output.
fn ended(output: Output) -> (i32, Value, String) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = text.lines().last().unwrap_or_else(|| panic!("no output; {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code().expect("no signal"), serde_json::from_str(last).expect("JSON"), text.clone())
}

/// Requires that one program failed as `expected` says, and no other.
#[track_caller]
fn costs_one_program((code, summary, text): (i32, Value, String), expected: &str) {
    let device = &summary["device"];
    assert_eq!(device["failed"], 1, "{summary}");
    assert_eq!((&device["disagree"], &device["unchecked"]), (&Value::from(0), &Value::from(0)), "{summary}");
    let judged = ["agree", "undecided", "failed"].map(|v| device[v].as_u64().expect("a count")).iter().sum::<u64>();
    assert_eq!(judged + summary["semantics"]["vacuous"].as_u64().expect("a count"), COUNT, "{summary}");
    let findings = summary["findings"].as_array().expect("a list");
    assert_eq!(findings.len(), 1);
    assert_eq!((&findings[0]["index"], &findings[0]["verdict"]), (&Value::from(5), &Value::from("failed")));
    assert!(findings[0]["what"].as_str().is_some_and(|w| w.contains(expected)), "{expected}: {text}");
    assert_eq!(code, 4);
}

/// Shrinking takes long if a program hangs the device. The counts are printed before that.
#[test]
fn counts_are_told_before_findings_are_made_minimal() {
    let Some((fault, args)) = fuzz("crash-run", &[5]) else { return };
    let args = args.into_iter().filter(|arg| arg != "--json");
    let output = Command::new(env!("CARGO_BIN_EXE_smallstep")).args(args).env(worker::TEST_FAULT, fault).output().expect("starts");
    let text = String::from_utf8_lossy(&output.stderr);
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in {text}"));
    assert!(at("Next, 1 of 1 findings are made minimal") < at("failed under"), "{text}");
    assert!(at("; on the device: ") < at("1 failed"), "{text}");
}

#[test]
fn a_campaign_is_judged_under_the_profile_that_is_asked_for() {
    let Some(device) = open(None, options()) else { return };
    let index = device.adapter().index.to_string();
    drop(device);
    let fuzz = |more: &[&str]| {
        let all =
            ["fuzz", "--seed", "3", "--count", "40", "--size", "2x2", "--mode", "rough", "--json", "--shrink", "0", "--device", &index];
        Command::new(env!("CARGO_BIN_EXE_smallstep")).args(all).args(more).output().expect("starts")
    };
    for profile in ["strict", "declared", "vulkan-default", "wgsl"] {
        let output = fuzz(&["--profile", profile]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let summary: Value = serde_json::from_str(text.lines().last().expect("a summary")).expect("JSON");
        assert_eq!(summary["profile"], profile, "{summary}");
        // A driver with bugs of its own may disagree. All other programs are judged.
        let device = &summary["device"];
        assert_eq!((&device["failed"], &device["unchecked"]), (&Value::from(0), &Value::from(0)), "{profile}: {summary}");
        assert!(device["lanes"][0].as_u64().is_some_and(|n| n > 0), "{profile}: {summary}");
        assert!(summary["semantics"]["disagree"] == 0, "{profile}: {summary}");
    }
    let refused = fuzz(&["--route", "naga", "--profile", "declared"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("naga takes no float controls"));
}

/// By default, the number of workers suits the adapter, and chains of compute programs have a
/// length of their own.
#[test]
fn rates_are_measured_with_workers_by_the_adapter() {
    let Some(device) = open(None, Options { workers: 0, ..options() }) else { return };
    let (index, suitable) = (device.adapter().index.to_string(), device.workers());
    assert!(device.adapter().kind != "software" || suitable == 2, "{suitable} workers for a software adapter");
    drop(device);
    let bench = |more: &[&str]| {
        let all = ["bench", "--adapter", &index, "--count", "24", "--rounds", "2", "--json"];
        let output = Command::new(env!("CARGO_BIN_EXE_smallstep")).args(all).args(more).output().expect("starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let summary: Value = serde_json::from_str(said.lines().find(|line| line.contains("summary")).expect("a summary")).expect("JSON");
        (summary["workers"].as_u64(), summary["programs_are"].as_str().expect("words").to_string())
    };
    let chains = |length: u32| format!("chains of {length} operations by 64 invocations each");
    assert_eq!(bench(&["--compute"]), (Some(suitable as u64), chains(64)));
    assert_eq!(bench(&["--compute", "--operations", "8", "--workers", "1"]), (Some(1), chains(8)));
    assert_eq!(bench(&[]), (Some(suitable as u64), "generated programs of seed 1".into()));
}

#[test]
fn a_crash_costs_one_verdict_and_exit_code_4() {
    let Some(found) = campaign("crash-run", &[]) else { return };
    assert!(found.2.contains("\"kind\":\"finding\""), "the failure is looked at alone: {}", found.2);
    costs_one_program(found, "signal 6 (SIGABRT)");
}

#[test]
fn a_hang_costs_one_verdict_and_exit_code_4() {
    let Some(found) = campaign("hang-run", &["--program-limit", "2s", "--shrink", "0"]) else { return };
    costs_one_program(found, "not done in 2 s");
}

#[test]
fn a_lost_device_costs_one_verdict_and_exit_code_4() {
    let Some(found) = campaign("lost", &["--shrink", "0"]) else { return };
    costs_one_program(found, "a loss that the test asked for");
}

/// The device fails for good during a campaign. Programs without an answer are neither counted nor
/// in the journal. The next campaign runs them.
#[test]
fn what_a_device_that_is_gone_has_not_answered_is_done_by_the_next_campaign() {
    // Two programs hang. No worker has one of them alone, so neither is blamed.
    let Some((fault, args)) = fuzz("hang-compile", &[5, 7]) else { return };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (executable, journal) = (folder.path().join("smallstep"), folder.path().join("a.journal"));
    std::fs::copy(env!("CARGO_BIN_EXE_smallstep"), &executable).expect("a copy");
    let mut interrupted = Command::new(&executable);
    interrupted.args(&args).args(["--program-limit", "2s", "--start-attempts", "2", "--workers", "1", "--journal"]).arg(&journal);
    let interrupted = interrupted.env(worker::TEST_FAULT, fault).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    // The journal is begun once the device is open. No further worker can be started from then on.
    while !journal.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::fs::remove_file(&executable).expect("it is there");
    let (code, summary, text) = ended(interrupted.wait_with_output().expect("ends"));
    assert_eq!(code, 4, "{text}");
    assert!(summary["outage"].as_str().is_some_and(|why| why.contains("could not be started")), "{summary}");
    assert_eq!((&summary["device"]["failed"], &summary["findings"]), (&Value::from(0), &serde_json::json!([])), "{summary}");
    let judged = |summary: &Value| {
        let verdicts = summary["semantics"].as_object().expect("an object").values();
        verdicts.filter_map(Value::as_u64).sum::<u64>()
    };
    assert!(judged(&summary) < COUNT, "{summary}");

    let again = Command::new(env!("CARGO_BIN_EXE_smallstep")).args(&args).arg("--journal").arg(&journal).output().expect("starts");
    let (code, resumed, text) = ended(again);
    assert_eq!((code, judged(&resumed), &resumed["outage"]), (0, COUNT, &Value::Null), "{text}");
    let whole = Command::new(env!("CARGO_BIN_EXE_smallstep")).args(&args).output().expect("starts");
    let (_, whole, _) = ended(whole);
    for part in ["semantics", "device", "acceptance", "rules", "steps", "referenced"] {
        assert_eq!(resumed[part], whole[part], "{part}");
    }
}

#[test]
fn listing_survives_a_driver_that_crashes_or_hangs() {
    use smallstep::gpu::list;
    use std::time::Duration;
    let with = |fault: &str| Options {
        start_limit: Duration::from_millis(500),
        environment: vec![(worker::TEST_FAULT.into(), fault.into())],
        ..options()
    };
    let said = list(&with("crash-start")).expect_err("it crashes").0;
    assert!(said.contains("signal 6 (SIGABRT)"), "{said}");
    let said = list(&with("hang-start")).expect_err("it hangs").0;
    assert!(said.contains("did not answer within 0.5 s"), "{said}");
    let said = list(&Options { executable: Some("/no/such/program".into()), ..options() }).expect_err("it is not there").0;
    assert!(said.contains("could not be started"), "{said}");
    let Some(device) = open(None, options()) else { return };
    assert!(list(&options()).expect("they are listed").contains(device.adapter()));
}

#[test]
fn adapters_prints_nothing_that_is_not_its_own() {
    let output = Command::new(env!("CARGO_BIN_EXE_smallstep")).arg("adapters").env_remove("XDG_RUNTIME_DIR").output().expect("starts");
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => assert_eq!(said, ""),
        _ => assert!(said.starts_with(smallstep::gpu::NO_ADAPTER), "{said}"),
    }
}
