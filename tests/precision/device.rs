//! The command with a real device.

use std::process::{Command, Output};

use serde_json::Value;
use smallstep::gpu::Options;
use smallstep::precision::{Batch, Computer, Function, Judge, Modules};
use smallstep_semantics::number::Profile;

use crate::common::device::{missing, open, options};

fn adapter() -> String {
    std::env::var("SMALLSTEP_ADAPTER").unwrap_or_default()
}

fn precision(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_smallstep")).arg("precision").args(args).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the command on the device. `None` if there is no device and none is required.
fn on_device(args: &[&str]) -> Option<Output> {
    let adapter = adapter();
    let output = precision(&[&["--adapter", &adapter], args].concat());
    let stderr = text(&output.stderr);
    if output.status.code() == Some(3) && stderr.contains("unchecked: no Vulkan adapter") {
        missing(&stderr);
        return None;
    }
    Some(output)
}

#[test]
fn every_function_is_measured_on_a_device() {
    let folder = tempfile::tempdir().expect("a folder is made");
    let (json, plots) = (folder.path().join("precision.json"), folder.path().join("plots"));
    let args = ["--inputs", "600", "--json", json.to_str().expect("text"), "--plot", plots.to_str().expect("text")];
    let Some(output) = on_device(&args) else { return };
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{stdout}{stderr}");
    let lines: Vec<Value> =
        std::fs::read_to_string(&json).expect("it is written").lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    for function in Function::all() {
        let label = function.label();
        assert!(stdout.lines().any(|line| line.split_whitespace().next() == Some(&label)), "{label}\n{stdout}");
        let line = lines.iter().find(|v| v["function"] == label.as_str() && v["corner"].is_null()).unwrap_or_else(|| panic!("no {label}"));
        assert_eq!(line["inputs"], 600, "{line}");
        assert!(line["not_computed"].is_null(), "{line}");
        assert!(line["decided"].as_u64().is_some_and(|n| n > 0), "{line}");
        let plot = std::fs::read_to_string(plots.join(format!("{label}.svg"))).expect("it is drawn");
        assert!(plot.starts_with("<svg") && plot.contains("error in ULP") && plot.trim_end().ends_with("</svg>"));
    }
    let summary = lines.last().expect("a summary");
    assert_eq!((&summary["summary"], &summary["profile"]), (&"precision".into(), &"strict".into()), "{summary}");
    let outside = summary["outside"].as_u64().expect("a number");
    assert_eq!(output.status.code() == Some(1), outside > 0, "{stdout}");
    assert!(stdout.contains("subnormal operands"), "{stdout}");
}

#[test]
fn ranges_on_a_device_are_the_consecutive_inputs() {
    let Some(mut device) = open(None, Options { window: 2, ..options() }) else { return };
    let function = super::function("FNegate");
    let modules = Modules::new(&function, Profile::Strict);
    // As many inputs as `--exhaustive` requests at a time, then fewer.
    let count = 1 << 22;
    let ranges = [(0x3f80_0000u32, count), (0x0080_0000, count), (0x4000_0000, 100), (0xc000_0000, 70_000)];
    let mut batches = ranges.into_iter().map(|(first, count)| Batch::Range { first, count });
    let mut taken = Vec::new();
    let computed = device.compute(&modules, &mut batches, &mut |batch, results| {
        let Batch::Range { first, count } = batch else { panic!("ranges were asked for") };
        assert!((0..*count).all(|i| results[i] == first.wrapping_add(i as u32) ^ 0x8000_0000), "{batch:?}");
        let tally = Judge::new(modules.function(), Profile::Strict).judge_batch(batch, results);
        assert_eq!((tally.inputs, tally.decided, tally.outside), (*count as u64, *count as u64, 0));
        taken.push((*first, *count));
    });
    assert_eq!(computed, Ok(()));
    taken.sort_unstable();
    let mut expected = ranges;
    expected.sort_unstable();
    assert_eq!(taken, expected);
}

#[test]
fn other_profiles_are_measured() {
    for profile in ["declared", "vulkan-default", "wgsl"] {
        let Some(output) = on_device(&["--profile", profile, "--inputs", "600", "--function", "fadd,exp2,dot2"]) else { return };
        let stdout = text(&output.stdout);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{profile}: {stdout}{}", text(&output.stderr));
        assert!(stdout.contains(&format!("profile {profile}")), "{stdout}");
    }
}

#[test]
fn what_was_not_checked_is_said() {
    let none = precision(&["--adapter", "no such adapter", "--function", "sin,dot3"]);
    assert_eq!(none.status.code(), Some(3), "{}", text(&none.stderr));
    assert!(text(&none.stderr).contains("unchecked: the precision of Sin, Dot3"), "{}", text(&none.stderr));
    let unknown = precision(&["--function", "sine"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("no function is called \"sine\"") && text(&unknown.stderr).contains("InverseSqrt"));
}
