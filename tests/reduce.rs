//! `smallstep reduce`: modules become small, stay valid, and keep the property for which they
//! are reduced.

mod common;

use std::time::Duration;

use common::command;
use smallstep::generate::spirv::{Limits, case};
use smallstep::theorem::reducer::reduced;
use smallstep_semantics::outcome::TimeLimit;
use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::{Module, Options, assemble, words_of_bytes};

fn smallstep(args: &[&str]) -> (i32, String, String) {
    let shown = command::smallstep(args, "");
    (shown.code, shown.out, shown.err)
}

fn soon() -> Option<TimeLimit> {
    TimeLimit::from_now(Duration::from_secs(300))
}

fn has(words: &[u32], op: Op) -> bool {
    Module::load(words).is_ok_and(|module| module.instructions().iter().any(|i| i.op == op))
}

/// A generated module with a certain instruction is reduced to a few instructions. Every candidate
/// is valid.
#[test]
fn generated_modules_are_reduced_to_what_is_interesting() {
    let mut tried = 0;
    for (seed, op) in (0..40).flat_map(|seed| [Op::IMul, Op::Switch, Op::LoopMerge, Op::UDiv].map(|op| (seed, op))) {
        let case = case(seed, &Limits { executed: 60, ..Limits::default() });
        if !has(&case.words, op) || tried >= 12 {
            continue;
        }
        tried += 1;
        let small = reduced(&case.words, soon(), &mut |words| {
            Module::load(words).unwrap_or_else(|e| panic!("seed {seed}: a candidate is not valid: {e}"));
            has(words, op)
        });
        let small = small.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let module = Module::load(&small.program).expect("valid");
        let left = module.instructions().len();
        assert!(has(&small.program, op) && !small.cut_short, "seed {seed}, {op:?}");
        assert!(
            left <= 28,
            "seed {seed}, {op:?}: {left} instructions are left of {}",
            Module::load(&case.words).expect("valid").instructions().len()
        );
    }
    assert_eq!(tried, 12);
}

/// If the time is over, the module stays as it is, and the result says so.
#[test]
fn the_time_bounds_the_search() {
    let case = case(3, &Limits { executed: 60, ..Limits::default() });
    let none = reduced(&case.words, TimeLimit::from_now(Duration::ZERO), &mut |_| true).expect("it is interesting");
    assert!(none.cut_short && none.questions == 1);
    assert!(reduced(&case.words, soon(), &mut |_| false).expect_err("not interesting").what.contains("not interesting itself"));
    assert!(reduced(&[1, 2, 3], soon(), &mut |_| true).expect_err("no module").what.contains("cannot be taken apart"));
}

/// A miscompilation of naga is kept by its kind. A candidate with another fate does not count. The
/// reduced module is still miscompiled, and spirv-val accepts it where it is installed.
#[test]
fn a_miscompilation_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("small.spv").display().to_string();
    let file = "spec-tests/quirks-spirv-opt/umax-of-signed.spvasm";
    let (code, _, err) = smallstep(&["reduce", file, "--via", "naga", "-o", &out]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("kept: via naga: miscompiles: "), "{err}");
    let words = words_of_bytes(&std::fs::read(&out).expect("written")).expect("words");
    let text = std::fs::read_to_string(file).expect("read");
    let before = assemble(&text, Options::default()).expect("assembled");
    assert!(words.len() < before.len() && has(&words, Op::ExtInst), "{} of {} words", words.len(), before.len());
    let (code, out, _) = smallstep(&["compare", &out, "--via", "naga", "--inputs", "20"]);
    assert!(code == 1 && out.contains("naga: miscompiles 1"), "{out}");
    if smallstep_spec_tests::tools::is_there("spirv-val") {
        let path = folder.path().join("small.spv");
        let valid = std::process::Command::new("spirv-val").args(["--target-env", "vulkan1.2"]).arg(path).output().expect("run");
        assert!(valid.status.success(), "{}", String::from_utf8_lossy(&valid.stderr));
    }
}

#[cfg(unix)]
#[test]
fn any_command_says_what_is_interesting() {
    let file = "examples/spirv/average.spvasm";
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("divides");
    // OpUDiv is opcode 134, with 5 words.
    std::fs::write(&script, "od -An -v -tx4 -w4 \"$1\" | grep -q 00050086\n").expect("written");
    let (code, out, err) = smallstep(&["reduce", file, "--interesting", &format!("sh '{}' {{}}", script.display()), "--json"]);
    assert_eq!(code, 0, "{err}");
    let summary: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let text = summary["assembly"].as_str().expect("a text");
    assert!(text.contains("OpUDiv") && !text.contains("OpStore"), "{text}");
    for (arguments, code, said) in [
        (&["--interesting", "false"][..], 3, "is not interesting itself"),
        (&["--interesting", "no-such-command"], 3, "cannot be run"),
        (&["--via", "wgsl"], 3, "there is nothing to keep, since the verdict via wgsl is agrees"),
        (&[], 2, "--via"),
    ] {
        let (found, _, err) = smallstep(&[&["reduce", file], arguments].concat());
        assert!(found == code && err.contains(said), "{arguments:?}: {found}: {err}");
    }
}

/// λV and WSL programs are reduced in their own language: for a compiler that adds instead of
/// subtracting, and for one that refuses. The verdict on the reduced program is the same.
#[cfg(unix)]
#[test]
fn programs_of_other_languages_become_small() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let compiler = |name: &str, commands: &str| {
        std::fs::write(path(name), commands).expect("written");
        format!("cmd:sh '{}' {{in}} {{out}}", path(name))
    };
    // OpFSub is opcode 131, OpFAdd is 129, and each has 5 words.
    let adds = compiler("adds", "perl -pe 's/\\x83\\x00\\x05\\x00/\\x81\\x00\\x05\\x00/g' < \"$1\" > \"$2\"\n");
    // OpSelectionMerge is opcode 247, with 3 words.
    let refuses =
        compiler("refuses", "if od -An -v -tx4 -w4 \"$1\" | grep -q 000300f7; then echo a branch >&2; exit 1; fi; cp \"$1\" \"$2\"\n");
    let lambda_v = "(let ((twice (func (a) (* a 2))) (p (* (frag-coord) 0.5)) (k 3))\n  \
                    (if (less-than (x p) 1) (vec2 (- (x p) (y p)) (twice k)) (vec2 (twice (y p)) (- (twice k) (x p)))))\n";
    let wsl = "struct P { float a; int[3] n; }\nfloat other(float x) { float y = x; for (int i = 0; i < 3; i++) { y *= 2.0; } return y; }\n\
               float f(float x, float y, int n) { P p; p.a = other(y); p.n[1] = n; if (n > 1) { p.a -= x; } else { p.a = x + p.a; } \
               return p.a * float(p.n[1]); }\n";
    for (name, text, most, of_each) in [("some.lv", lambda_v, 40, ["(- ", "(if "]), ("some.wsl", wsl, 140, ["-", "if "])] {
        std::fs::write(path(name), text).expect("written");
        for (compiler, verdict, keeps) in [(&adds, "miscompiles", of_each[0]), (&refuses, "refuses", of_each[1])] {
            let small = path(&format!("small-{name}"));
            let (code, _, err) = smallstep(&["reduce", &path(name), "--via", compiler, "-o", &small]);
            assert!(code == 0 && err.contains(&format!(": {verdict}: ")), "{name}: {err}");
            let left = std::fs::read_to_string(&small).expect("written");
            assert!(left.contains(keeps) && left.chars().count() <= most, "{name}: {left}");
            let (_, out, err) = smallstep(&["check", &small, "--device", "none", "--via", compiler]);
            assert!(out.contains(verdict), "{name}: {out}{err}");
        }
        let interesting = format!("grep -q -e '{}' {{}}", of_each[0]);
        let (code, out, err) = smallstep(&["reduce", &path(name), "--interesting", &interesting, "--json"]);
        let summary: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
        let left = summary["text"].as_str().expect("a text");
        assert!(code == 0 && left.contains(of_each[0]) && left.chars().count() <= most, "{left}");
        let (code, _, err) = smallstep(&["reduce", &path(name), "--via", &adds, "--entry", "f"]);
        assert!(code == 2 && err.contains("--entry is of no use"), "{err}");
    }
}
