//! The program, run as a command.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The result of a command: exit code, standard output and standard error.
pub struct Shown {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Shown {
    /// Each line of the output as JSON.
    pub fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// Runs the program at the root of the repository. Returns its output as bytes.
pub fn output(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_smallstep"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    // A command that fails early may not read its input.
    let _ = child.stdin.take().expect("piped").write_all(input);
    child.wait_with_output().expect("ends")
}

/// Runs the program at the root of the repository.
pub fn smallstep(args: &[&str], input: &str) -> Shown {
    let output = output(args, input.as_bytes());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Shown { code: output.status.code().expect("no signal"), out: text(&output.stdout), err: text(&output.stderr) }
}
