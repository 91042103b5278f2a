//! What tests need beyond this project, a device or a tool, and what is said where it is missing.
//!
//! libtest keeps what a passing test prints by `eprintln!` to itself. [`not_run`] writes past it,
//! so that a test that returned early is seen and counted.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Whether a program of spirv-tools or glslang can be run. Where it cannot, that is [`missing`].
///
/// # Panics
/// It is not installed, and SMALLSTEP_REQUIRE_SPIRV_TOOLS is set.
pub fn is_there(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok();
    if !there {
        missing(&format!("{tool} is not installed (Debian: apt-get install spirv-tools glslang-tools)"), "SMALLSTEP_REQUIRE_SPIRV_TOOLS");
    }
    there
}

/// Says that the test that calls this did [not run](not_run), for something is not there that the
/// environment variable `requires`.
///
/// # Panics
/// The variable is set, and not to 0.
pub fn missing(what: &str, requires: &str) {
    let required = std::env::var_os(requires).is_some_and(|v| v != "0");
    assert!(!required, "{requires} is set: {what}");
    not_run(what);
}

/// Says on standard error why the test that calls this did not run, or not all of it, and how many
/// of this program's tests that is by now. The last such line has the total.
///
/// A test that says so twice is counted once, by the thread that libtest gave its name. With
/// `--test-threads=1` there is no such thread, and every call counts.
pub fn not_run(why: &str) {
    static TESTS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let current = thread::current();
    let test = current.name().filter(|name| *name != "main");
    let mut tests = TESTS.lock().unwrap_or_else(PoisonError::into_inner);
    let number = tests.len();
    tests.insert(test.map_or_else(|| format!("call {number}"), String::from));
    let (why, count) = (why.lines().next().unwrap_or_default(), tests.len());
    let line = format!("\nnot run: {}: {why}\ntests of this program that did not run, or not wholly: {count}\n", test.unwrap_or("a test"));
    // One write, so that no other line comes between.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
