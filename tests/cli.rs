//! The command line as scripts see it: exit codes, JSON, standard input, errors.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::command::smallstep;

fn code(args: &[&str], input: &str) -> i32 {
    smallstep(args, input).code
}

const CHECK: &[&str] = &["check", "--device", "none", "-"];
const LV5: &str = "((rec-func (n x) (if (eq n 0) n (rec (- n 1) x))) 3 ((rec-func (d) (if (eq d 1) d (rec d))) 0))";

#[test]
fn check_answers_by_exit_code() {
    assert_eq!(code(CHECK, "(vec4 1.0 1.0 0.0 1.0)"), 0);
    assert_eq!(code(CHECK, "(if 1 2 3)"), 2);
    assert_eq!(code(CHECK, LV5), 3, "everything is vacuous");
    assert_eq!(code(&["check", "--device", "none", "--theorem", "printed", "-"], LV5), 1, "the printed theorem is false");
    assert_eq!(code(&["check", "--device", "none", "--fuel", "5", "-"], "(+ 1 (+ 1 (+ 1 (+ 1 (+ 1 (+ 1 1))))))"), 7);
    assert_eq!(code(&["check", "no-such-folder"], ""), 2);
    assert_eq!(code(&["check", "--device", "none", "--profile", "strictt", "-"], "1"), 2);
    assert_eq!(code(&["fuzz", "--count", "1", "--profile", "declared"], ""), 3, "what is declared is an adapter's");
    assert_eq!(code(&["check", "--device", "no such adapter", "-"], "1"), 3);
    assert_eq!(code(&["check"], ""), 2);
}

#[test]
fn an_expected_verdict_is_the_success() {
    let expecting = |verdict| ["check", "--device", "none", "--expect", verdict, "-"];
    assert_eq!(code(&expecting("invalid[lv/t-if]"), "(if 1 2 3)"), 0);
    assert_eq!(code(&expecting("invalid[lv/t-let]"), "(if 1 2 3)"), 1);
    assert_eq!(code(&expecting("vacuous"), LV5), 0);
    assert_eq!(code(&expecting("agree"), LV5), 1);
}

/// What would check nothing cannot find anything wrong: it is no success.
#[test]
fn what_checks_nothing_is_a_usage_error() {
    let average = "examples/spirv/average.spvasm";
    let cases: &[(&[&str], &str)] = &[
        (&["compare", average, average, "--groups", "0"], "--groups says that there is no workgroup"),
        (&["compare", average, average, "--groups", "1,0"], "--groups says that there is no workgroup"),
        (&["compare", average, average, "--inputs", "0"], "--inputs"),
        (&["fuzz", "--count", "0"], "--count"),
        (&["fuzz", "--time", "0s"], "1s at least"),
        (&["fuzz", "--count", "1000", "--shard", "1/2"], "shard 1 has no programs"),
        (&["fuzz-spirv", "--count", "0"], "--count"),
        (&["fuzz-wsl", "--count", "0"], "--count"),
        (&["planted", "--count", "0"], "--count"),
        (&["vectors", "--count", "0", "-o", "-"], "--count"),
        (&["check", "--device", "none", "--expect", "nonsense", "-"], "no program ends as \"nonsense\""),
        (&["check", "--device", "none", "--expect", "invalid[nonsense]", "-"], "no program ends as"),
        (&["check", "--device", "none", "--expect", "invalid[wsl/nonsense]", "-"], "no program ends as"),
    ];
    for (args, what) in cases {
        let shown = smallstep(args, "1");
        assert!(shown.code == 2 && shown.err.contains(what), "{args:?}: {} {}{}", shown.code, shown.out, shown.err);
    }
    assert_eq!(code(&["fuzz", "--count", "1001", "--shard", "1/2", "--size", "1x1"], ""), 0, "the second shard has one program");
    assert_eq!(
        code(&["check", "--device", "none", "--expect", "invalid[wsl/t-call]", "-"], "1"),
        1,
        "a rule's name is one that may be expected"
    );
}

#[test]
fn json_is_one_object_a_line_and_a_summary() {
    let shown = smallstep(&["check", "--device", "none", "--json", "-"], "(if 1 2 3)");
    let lines = shown.lines();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|l| l["schema"] == 1));
    assert_eq!(lines[0]["verdict"], "invalid[lv/t-if]");
    assert_eq!(lines[0]["error"]["span"], serde_json::json!([4, 5]));
    assert_eq!((&lines[1]["kind"], &lines[1]["exit"]), (&"summary".into(), &2.into()));

    let shown = smallstep(&["trace", "--json", "-"], "(+ 1 (* 2 3))");
    let lines = shown.lines();
    assert_eq!(lines[0]["rule"], "lv/e-builtin");
    assert_eq!(lines[0]["within"], serde_json::json!(["lv/e-arg"]));
    assert_eq!(lines[2]["value"]["bits"], serde_json::json!(["0x40e00000"]));
}

#[test]
fn known_disagreements_must_be_readable_and_are_about_devices() {
    let quirks = concat!(env!("CARGO_MANIFEST_DIR"), "/spec-tests/quirks");
    assert_eq!(code(&["check", "--device", "none", "--known", quirks, "-"], "1"), 0);
    // What the semantics disagree on among themselves is never known.
    assert_eq!(code(&["check", "--device", "none", "--theorem", "printed", "--known", quirks, "-"], LV5), 1);
    for command in [&["check", "-"][..], &["fuzz", "--count", "1"]] {
        let shown = smallstep(&[command, &["--device", "none", "--known", "no-such-folder"]].concat(), "1");
        assert!(shown.code == 2 && shown.err.contains("no-such-folder: "), "{}", shown.err);
    }
    let shown = smallstep(&["fuzz", "--count", "20", "--size", "1x1", "--known", quirks, "--json"], "");
    let lines = shown.lines();
    let summary = lines.last().expect("a summary");
    assert_eq!((&summary["known"], shown.code), (&serde_json::json!({}), 0), "{summary}");
}

#[test]
fn errors_show_their_line() {
    let shown = smallstep(&["type", "-"], "(+ 1\n   true)");
    assert!(shown.err.contains("error[lv/t-builtin]") && shown.err.contains("-:1:1"), "{}", shown.err);
    assert_eq!(shown.code, 2);
    let shown = smallstep(&["type", "-"], "(+ 1 2");
    assert!(shown.err.contains("error[lv/syntax-unclosed]"));
    assert_eq!(smallstep(&["type", "-"], "(vec2 1 2)").out, "Vec(2,f)\n");
    let binary = smallstep(&["type", env!("CARGO_BIN_EXE_smallstep")], "");
    assert!(binary.err.contains("no UTF-8 text"));
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_smallstep"))
        .args(["trace", "--fuel", "100000", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    child.stdin.take().expect("piped").write_all(b"((rec-func (n) (if (eq n 0) n (rec (- n 1)))) 5000)").expect("written");
    let output = child.wait_with_output().expect("ends");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{}", String::from_utf8_lossy(&output.stderr));
}
