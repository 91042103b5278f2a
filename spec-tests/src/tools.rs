//! Devices and tools that tests need, and the report if one is missing.
//!
//! libtest hides what a passing test prints with `eprintln!`. [`not_run`] writes to standard error
//! directly, so that a test that returned early is seen and counted.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Whether a program of spirv-tools or glslang can be run. If not, reports it as [`missing`].
///
/// # Panics
/// If the program is not installed and SMALLSTEP_REQUIRE_SPIRV_TOOLS is set.
pub fn is_there(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok();
    if !there {
        missing(&format!("{tool} is not installed (Debian: apt-get install spirv-tools glslang-tools)"), "SMALLSTEP_REQUIRE_SPIRV_TOOLS");
    }
    there
}

/// Reports that the calling test did [not run](not_run), because something is missing. The
/// environment variable `requires` makes it an error.
///
/// # Panics
/// If the variable is set, and not to 0.
pub fn missing(what: &str, requires: &str) {
    let required = std::env::var_os(requires).is_some_and(|v| v != "0");
    assert!(!required, "{requires} is set: {what}");
    not_run(what);
}

/// Writes to standard error why the calling test did not run, or not completely. The second line is
/// the number of such tests of this program so far, so the last such line has the total.
///
/// libtest names the thread of a test after the test. So a test that calls this function twice
/// counts once. With `--test-threads=1` there is no such thread, and every call counts.
pub fn not_run(why: &str) {
    static TESTS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let current = thread::current();
    let test = current.name().filter(|name| *name != "main");
    let mut tests = TESTS.lock().unwrap_or_else(PoisonError::into_inner);
    let number = tests.len();
    tests.insert(test.map_or_else(|| format!("call {number}"), String::from));
    let (why, count) = (why.lines().next().unwrap_or_default(), tests.len());
    let line = format!("\nnot run: {}: {why}\ntests of this program that did not run, or not wholly: {count}\n", test.unwrap_or("a test"));
    // A single write, so that no other output comes between the lines.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
