//! Tests that need a device say so if there is none, and are counted. These tests run their own
//! test program without a driver.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use smallstep_spec_tests::tools;

/// The tests that do not need a device.
const WITHOUT: [&str; 3] = [
    "campaign::adapters_prints_nothing_that_is_not_its_own",
    "failing::a_worker_that_does_not_start_is_said_to",
    "failing::without_a_driver_the_way_to_one_is_said",
];

/// Runs the tests of this program with `filter` in their names, without a driver. The tests of this
/// file are skipped.
fn without_a_driver(filter: &str, threads: u32, required: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args([filter, "--skip", "not_run::", "--test-threads", &threads.to_string()]).env("SMALLSTEP_REQUIRE_DEVICE", required);
    command.env("VK_DRIVER_FILES", "/nonexistent").env("VK_ICD_FILENAMES", "/nonexistent").output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The number at the end of the last line that starts with this text.
fn last(said: &str, begin: &str) -> Option<usize> {
    said.lines().filter_map(|line| line.strip_prefix(begin)).next_back()?.trim().parse().ok()
}

const COUNT: &str = "tests of this program that did not run, or not wholly: ";

/// Every test must say that it did not run, except those in `WITHOUT`. This finds a test that
/// returns early and does not say so.
#[test]
fn every_test_without_its_device_says_so_and_is_counted() {
    let output = without_a_driver("", 4, "0");
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    let ok = |line: &str| Some(line.strip_prefix("test ")?.strip_suffix(" ... ok")?.to_string());
    let passed: BTreeSet<String> = stdout.lines().filter_map(ok).collect();
    let said = |line: &str| Some(line.strip_prefix("not run: ")?.split_once(": there is no device: ")?.0.to_string());
    let not_run: BTreeSet<String> = stderr.lines().filter_map(said).collect();
    assert!(passed.difference(&not_run).eq(&WITHOUT), "{:?}", passed.difference(&not_run).collect::<Vec<_>>());
    assert_eq!((last(&stderr, COUNT), passed.len()), (Some(not_run.len()), not_run.len() + WITHOUT.len()), "{stderr}");
    assert!(not_run.len() > 60, "{}", not_run.len());
}

/// On one thread, libtest gives the tests no threads, and so no names.
#[test]
fn on_one_thread_as_many_are_counted() {
    let counts = [1, 4].map(|threads| {
        let output = without_a_driver("rendering::", threads, "0");
        assert!(output.status.success(), "{}", text(&output.stdout));
        last(&text(&output.stderr), COUNT)
    });
    assert!(counts[0] == counts[1] && counts[0] > Some(10), "{counts:?}");
}

#[test]
fn where_a_device_is_required_its_absence_is_a_failure() {
    let output = without_a_driver("rendering::rows_go_downwards", 1, "1");
    let stdout = text(&output.stdout);
    assert!(!output.status.success() && stdout.contains("0 passed; 1 failed"), "{stdout}");
    assert!(stdout.contains("SMALLSTEP_REQUIRE_DEVICE is set: there is no device: no Vulkan adapter"), "{stdout}");
    assert_eq!(last(&text(&output.stderr), COUNT), None);
}

#[test]
#[should_panic(expected = "PATH is set: it is not there")]
fn what_a_set_variable_requires_must_be_there() {
    tools::missing("it is not there", "PATH");
}
