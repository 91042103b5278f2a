//! Compilers under test: the verdicts of `compare --via` on compilers that are right, wrong,
//! refuse, crash, hang, or write no module.

mod common;

use std::path::{Path, PathBuf};

use common::command;
use serde_json::Value;

fn smallstep(args: &[&str]) -> (i32, String, String) {
    let shown = command::smallstep(args, "");
    (shown.code, shown.out, shown.err)
}

/// A folder with two modules, and a script for each compiler.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        for (name, file) in [("average", "average"), ("hoisted", "average-hoisted")] {
            let (code, _, err) = smallstep(&["asm", &format!("examples/spirv/{file}.spvasm"), "-o", &folder.path(&format!("{name}.spv"))]);
            assert_eq!(code, 0, "{err}");
        }
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// A compiler that runs these shell commands. `$1` is its input file, and `$2` its output file.
    fn compiler(&self, name: &str, commands: &str) -> String {
        std::fs::write(self.0.path().join(name), commands).expect("written");
        format!("cmd:sh '{}' {{in}} {{out}}", self.path(name))
    }
}

/// Compares one module through one compiler. Returns the verdict, its cause and the exit code.
fn judged(module: &str, compiler: &str, more: &[&str]) -> (String, String, i32) {
    let arguments = [&["compare", module, "--via", compiler, "--json", "--inputs", "30"], more].concat();
    let (code, out, err) = smallstep(&arguments);
    let line = out.lines().find(|line| line.contains("\"kind\":\"module\"")).unwrap_or_else(|| panic!("{out}{err}"));
    let line: Value = serde_json::from_str(line).expect("JSON");
    (line["verdict"].as_str().expect("a verdict").into(), line["cause"].as_str().expect("a cause").into(), code)
}

#[cfg(unix)]
/// Our converter gives each element of an array of descriptors a binding of its own. That is no
/// miscompilation, and spirv-opt keeps the array.
#[test]
fn arrays_of_descriptors_are_compared_where_they_stay_arrays() {
    let of = |compiler: &str| {
        let output = common::command::output(&["compare", "spec-tests/compare/descriptors-unrolled.before.spvasm", "--via", compiler], &[]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let converted = of("wgsl");
    assert!(converted.contains("wgsl: unchecked 1") && converted.contains("a binding of its own"), "{converted}");
    assert!(of("spirv-opt:-O").contains("spirv-opt:-O: agrees 1"));
}

#[test]
fn every_way_to_be_wrong_has_its_verdict() {
    let folder = Folder::new();
    let module = folder.path("average.spv");
    let hoisted = folder.path("hoisted.spv");
    for (name, commands, verdict, cause, code) in [
        ("copies", "cp \"$1\" \"$2\"".to_string(), "agrees", "", 0),
        ("hoists", format!("cp '{hoisted}' \"$2\""), "miscompiles", "undefined behaviour that BEFORE has not: spirv/division-by-zero", 1),
        ("refuses", "echo no such capability >&2; exit 1".into(), "refuses", "no such capability", 3),
        ("crashes", "kill -SEGV $$".into(), "crashes", "SIGSEGV", 4),
        ("panics", "echo panicked at a line >&2; exit 101".into(), "crashes", "panicked at a line", 4),
        ("hangs", "exec sleep 600".into(), "times out", "not ended after 1 s", 4),
        ("writes nothing", "exit 0".into(), "invalid", "writes no file", 1),
        ("writes text", "echo hello world > \"$2\"".into(), "invalid", "", 1),
        ("cuts", "head -c 200 \"$1\" > \"$2\"".into(), "invalid", "", 1),
    ] {
        let compiler = folder.compiler(&name.replace(' ', "-"), &commands);
        let limit = if name == "hangs" { "1" } else { "60" };
        let (found, why, ended) = judged(&module, &compiler, &["--compiler-limit", limit]);
        assert_eq!((found.as_str(), ended), (verdict, code), "{name}: {why}");
        assert!(why.contains(cause), "{name}: {why:?} lacks {cause:?}");
    }
}

/// The declared interface of a module must stay the same: another workgroup size is a finding.
#[cfg(unix)]
#[test]
fn another_interface_is_a_miscompilation() {
    let folder = Folder::new();
    let text = std::fs::read_to_string("examples/spirv/average.spvasm").expect("read");
    let at = text.lines().find(|line| line.contains("LocalSize")).expect("a size");
    let wider = at.replace("LocalSize ", "LocalSize 2").to_string();
    std::fs::write(folder.path("wider.spvasm"), text.replace(at, &wider)).expect("written");
    let (code, _, err) = smallstep(&["asm", &folder.path("wider.spvasm"), "-o", &folder.path("wider.spv")]);
    assert_eq!(code, 0, "{err}");
    let compiler = folder.compiler("widens", &format!("cp '{}' \"$2\"", folder.path("wider.spv")));
    let (verdict, cause, code) = judged(&folder.path("average.spv"), &compiler, &[]);
    assert_eq!((verdict.as_str(), code), ("miscompiles", 1));
    assert!(cause.contains("another interface: a workgroup has"), "{cause}");
}

/// If WGSL cannot keep a name, the compiler is not at fault. If another compiler changes a name,
/// it is.
#[cfg(unix)]
#[test]
fn names_are_lost_in_wgsl_only() {
    let folder = Folder::new();
    let text = std::fs::read_to_string("examples/spirv/average.spvasm").expect("read");
    let named = |name: &str| {
        let file = folder.path(&format!("{name}.spvasm"));
        std::fs::write(&file, text.replace("\"main\"", &format!("\"{name}\""))).expect("written");
        let words = folder.path(&format!("{name}.spv"));
        let (code, _, err) = smallstep(&["asm", &file, "-o", &words]);
        assert_eq!(code, 0, "{err}");
        words
    };
    let (step, renamed) = (named("step1"), named("step1_"));
    let line = |compiler: &str| -> (Value, i32) {
        let (code, out, err) = smallstep(&["compare", &step, "--via", compiler, "--json", "--inputs", "10"]);
        let line = out.lines().find(|line| line.contains("\"kind\":\"module\"")).unwrap_or_else(|| panic!("{out}{err}"));
        (serde_json::from_str(line).expect("JSON"), code)
    };
    let (judged, code) = line("naga-wgsl");
    assert_eq!((judged["verdict"].as_str(), code), (Some("agrees"), 0), "{judged}");
    assert_eq!(judged["notes"][0].as_str(), Some("WGSL renames the entry point \"step1\" to \"step1_\""));
    let (_, out, _) = smallstep(&["compare", &step, "--via", "naga-wgsl", "--inputs", "10"]);
    assert!(out.contains("  note: 1: WGSL renames the entry point \"step1\" to \"step1_\"\n"), "{out}");
    for compiler in ["naga", "wgsl"] {
        let (judged, _) = line(compiler);
        assert_eq!((judged["verdict"].as_str(), &judged["notes"]), (Some("agrees"), &serde_json::json!([])), "{judged}");
    }
    // The same renaming by a SPIR-V compiler is a finding, alone and in front of WGSL.
    let renames = folder.compiler("renames", &format!("cp '{renamed}' \"$2\""));
    for compiler in [renames.clone(), format!("{renames} then naga-wgsl")] {
        let (judged, code) = line(&compiler);
        assert_eq!((judged["verdict"].as_str(), code), (Some("miscompiles"), 1), "{judged}");
        let cause = judged["cause"].as_str().expect("a cause");
        assert!(cause.contains("another interface: no compute entry point is called \"step1\"; there are step1_"), "{cause}");
    }
}

/// Folders are searched, and every module goes through every compiler. Wrong modules are written to
/// a folder.
#[cfg(unix)]
#[test]
fn folders_are_compared_and_wrong_modules_are_saved() {
    let folder = Folder::new();
    std::fs::create_dir(folder.0.path().join("in")).expect("made");
    for name in ["a.spv", "b.spv"] {
        std::fs::copy(folder.path("average.spv"), folder.0.path().join("in").join(name)).expect("copied");
    }
    let (copies, hoists) =
        (folder.compiler("copies", "cp \"$1\" \"$2\""), folder.compiler("hoists", &format!("cp '{}' \"$2\"", folder.path("hoisted.spv"))));
    let saved = folder.path("saved");
    let (code, out, err) =
        smallstep(&["compare", &folder.path("in"), "--via", &copies, "--via", &hoists, "--save", &saved, "--inputs", "30"]);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("2 modules, ") && out.contains(": agrees 2\n") && out.contains(": miscompiles 2\n"), "{out}");
    assert!(out.contains("  miscompiles: 2: AFTER has undefined behaviour that BEFORE has not"), "{out}");
    assert!(out.contains("minimal input: --set"), "{out}");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&saved).expect("there").map(|file| file.expect("an entry").path()).collect();
    files.sort();
    assert_eq!(files.len(), 2, "{files:?}");
    let words = std::fs::read(&files[0]).expect("read");
    assert_eq!(words, std::fs::read(folder.path("hoisted.spv")).expect("read"));
}

/// naga runs in a process of its own, and compilers can be chained.
#[test]
fn naga_is_a_compiler() {
    let module = "examples/spirv/average.spvasm";
    for compiler in ["naga", "naga-wgsl", "wgsl", "wgsl then naga"] {
        let (verdict, cause, code) = judged(module, compiler, &[]);
        assert_eq!((verdict.as_str(), code), ("agrees", 0), "{compiler}: {cause}");
    }
    // naga 30 takes the signed maximum where SPIR-V says unsigned.
    let module = "spec-tests/quirks-spirv-opt/umax-of-signed.spvasm";
    let (verdict, cause, _) = judged(module, "naga", &[]);
    assert_eq!(verdict, "miscompiles", "{cause}");
    // A panic is a crash, in any step.
    for compiler in ["naga", "naga-wgsl"] {
        let (verdict, cause, code) = judged("spec-tests/quirks-naga/s-sign-of-unsigned.spvasm", compiler, &[]);
        assert_eq!((verdict.as_str(), code), ("crashes", 4), "{compiler}: {cause}");
    }
}

#[test]
fn what_is_no_compiler_is_said() {
    let module = "examples/spirv/average.spvasm";
    for (name, code, said) in [
        ("gcc", 3, "no compiler is called \"gcc\"; there are naga, naga-wgsl, wgsl, tint, spirv-opt:PASSES and cmd:"),
        ("cmd:no-such-program {in} {out}", 3, "no-such-program"),
        ("cmd:cp {in}", 3, "has no {out}"),
        ("cmd:cp '{in} {out}", 3, "a quote in"),
    ] {
        let (found, _, err) = smallstep(&["compare", module, "--via", name]);
        assert!(found == code && err.contains(said), "{name}: {found}: {err}");
    }
    for option in [&["--spec", "0=1"][..], &["--lenient"]] {
        let (code, _, err) = smallstep(&[&["compare", module, "--via", "wgsl"], option].concat());
        assert!(code == 2 && err.contains("is of no use with --via"), "{err}");
    }
    let (code, _, err) = smallstep(&["compare", module, module, "--threads", "1"]);
    assert!(code == 2 && err.contains("--via"), "{err}");
    let (code, _, err) = smallstep(&["compare", module]);
    assert!(code == 2 && err.contains("1 files are given; name BEFORE and AFTER, or compilers by --via"), "{err}");
    let empty = tempfile::tempdir().expect("a folder");
    let (code, _, err) = smallstep(&["compare", &empty.path().display().to_string(), "--via", "naga"]);
    assert!(code == 2 && err.contains("hold no module"), "{err}");
    assert!(Path::new(module).exists());
}

/// λV and WSL programs go through compilers as modules do. A compiler that copies is right, and
/// one that writes another module is caught. Refusals, crashes and invalid modules have verdicts of
/// their own.
#[cfg(unix)]
#[test]
fn programs_go_through_compilers() {
    let folder = Folder::new();
    let (lambda_v, wsl) = ("examples/gradient.lv", "examples/wsl/reduction.wsl");
    let other = folder.path("other.lv");
    std::fs::write(&other, "(let ((p (* (frag-coord) 0.00390625))) (vec3 (x p) (y p) 0.5))").expect("written");
    let (code, _, err) = smallstep(&["translate", &other, "-o", &folder.path("other.spv")]);
    assert_eq!(code, 0, "{err}");
    let verdict = |program: &str, compiler: &str| {
        let (code, out, err) = smallstep(&["check", program, "--device", "none", "--via", compiler, "--json"]);
        let line = out.lines().last().unwrap_or_else(|| panic!("{err}"));
        let summary: Value = serde_json::from_str(line).expect("JSON");
        let verdicts = summary["compilers"][0]["verdicts"].as_object().unwrap_or_else(|| panic!("{summary}")).clone();
        (verdicts.keys().cloned().collect::<Vec<_>>().join(" "), code)
    };
    let copies = folder.compiler("copies", "cp \"$1\" \"$2\"");
    let writes = folder.compiler("writes", &format!("cp '{}' \"$2\"", folder.path("other.spv")));
    let cases = [
        (copies.clone(), "agrees", "agrees", 0),
        (writes, "miscompiles", "miscompiles", 1),
        (folder.compiler("refuses", "echo no >&2; exit 1"), "refuses", "refuses", 3),
        (folder.compiler("crashes", "kill -SEGV $$"), "crashes", "crashes", 4),
        (folder.compiler("cuts", "head -c 200 \"$1\" > \"$2\""), "invalid", "invalid", 1),
    ];
    for (compiler, of_lambda_v, of_wsl, code) in &cases {
        assert_eq!(verdict(lambda_v, compiler), (of_lambda_v.to_string(), *code), "{compiler}");
        assert_eq!(verdict(wsl, compiler), (of_wsl.to_string(), *code), "{compiler}");
    }
    for compiler in ["naga", "naga-wgsl", "wgsl"] {
        assert_eq!(verdict(lambda_v, compiler), ("agrees".into(), 0), "{compiler}");
        assert_eq!(verdict(wsl, compiler), ("agrees".into(), 0), "{compiler}");
    }
    // A campaign counts the verdicts and names the findings.
    let campaign = |compiler: &str| {
        let arguments =
            ["fuzz-wsl", "--through", "spirv", "--of", "functions", "--count", "12", "--shrink", "0", "--via", compiler, "--json"];
        let (code, out, err) = smallstep(&arguments);
        let summary: Value = serde_json::from_str(out.lines().last().unwrap_or_else(|| panic!("{err}"))).expect("JSON");
        (summary["via"]["verdicts"].clone(), summary["findings"].as_array().map_or(0, Vec::len), code)
    };
    let (verdicts, findings, _) = campaign(&copies);
    assert!(verdicts["agrees"].as_u64() > Some(5) && verdicts["miscompiles"].is_null() && findings == 0, "{verdicts}");
    let (verdicts, findings, code) = campaign(&cases[1].0);
    assert!(verdicts["agrees"].is_null() && verdicts["miscompiles"].as_u64() > Some(5) && findings > 5, "{verdicts}");
    assert_eq!(code, 1);
}
