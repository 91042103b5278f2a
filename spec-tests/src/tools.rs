//! Programs of spirv-tools that tests ask.

use std::process::Command;

/// Whether the program can be run. Where it cannot, that is said, and is a failure if SMALLSTEP_REQUIRE_SPIRV_TOOLS is set.
///
/// # Panics
/// It is not installed, and asked for.
pub fn is_there(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok();
    let required = std::env::var_os("SMALLSTEP_REQUIRE_SPIRV_TOOLS").is_some_and(|v| v != "0");
    assert!(
        there || !required,
        "{tool} is not installed, and SMALLSTEP_REQUIRE_SPIRV_TOOLS asks for it (Debian: apt-get install spirv-tools)"
    );
    if !there {
        eprintln!("skipped: {tool} is not installed (Debian: apt-get install spirv-tools)");
    }
    there
}
