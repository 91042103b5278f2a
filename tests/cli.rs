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
    assert_eq!(code(&expecting("invalid[lv/syntax-unclosed]"), "(+ 1 2"), 0);
    assert_eq!(code(&expecting("invalid[lv/unknown-identifier]"), "(+ 1 a)"), 0);
    for nothing in ["invalid[lv/anything]", "invalid[lv/syntax]", "invalid[wsl/anything]", "invalid[spirv/load]"] {
        assert_eq!(code(&expecting(nothing), "(if 1 2 3)"), 2, "{nothing} is no error's code");
    }
    assert_eq!(code(&expecting("vacuous"), LV5), 0);
    assert_eq!(code(&expecting("agree"), LV5), 1);
}

/// A command that would check nothing is a usage error and no success.
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
        (&["fuzz-spirv", "--of", "glsl"], "--of glsl needs --via"),
        (&["fuzz-spirv", "--of", "pointers", "--of", "glsl", "--through-wgsl"], "take no turns with other kinds"),
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

/// An option that the program does not use is an error. The last cases are near misses: each option
/// is used.
#[test]
fn options_of_no_use_are_errors() {
    let (average, values, disc) = ("examples/spirv/average.spvasm", "examples/wsl/values.wsl", "examples/amber/disc.amber");
    let given = ["--set", "0.0=u32:1*4", "--set", "0.1=u32:1*4", "--set", "0.2=u32:0*4"];
    let texture = "0.5=R8G8B8A8_UNORM 1x1 0";
    let cases: &[(&[&str], &str)] = &[
        (&["compare", average, average, "--texture", texture], "--texture is of no use for a comparison"),
        (&["compare", average, average, "--sampler", "0.5=linear"], "--sampler is of no use for a comparison"),
        (&["run", average, "--bind", "data=u32:1"], "--bind is of no use for a compute module"),
        (&["run", average, "--order", "all"], "--order is of no use for a compute module"),
        (&["run", average, "--vertices", "3"], "--vertices is of no use for a compute module"),
        (&["run", "-", "--ways", "3"], "--ways is of no use for a program that runs for pixels alone"),
        (&["run", "-", "--input", "0=screen"], "--input is of no use for a program that runs for pixels alone"),
        (&["run", values, "--glsl-compiler", "glslc", "--bind", "data=u32:1*4"], "--glsl-compiler is of no use for a compute entry point"),
        (&["run", disc, "--unspecified", "first"], "--unspecified is of no use for an Amber script"),
        (&["trace", "-", "--thread", "1"], "--thread is of no use for a λV program"),
        (&["trace", "-", "--order", "all"], "--order is of no use for a λV program"),
        (&["trace", average, "--width", "9"], "--width is of no use for a compute module"),
        (&["trace", values, "--call", "at(1)", "--pixel", "0,0"], "--pixel is of no use for an expression"),
        (&["trace", values, "--seed", "3"], "--seed is of no use for a compute entry point"),
    ];
    for (args, what) in cases {
        let shown = smallstep(args, "1");
        assert!(shown.code == 2 && shown.err.contains(what), "{args:?}: {} {}{}", shown.code, shown.out, shown.err);
    }
    assert_eq!(
        code(&[&["run", average][..], &given, &["--groups", "1", "--robustness", "none", "--schedule", "random:1"]].concat(), ""),
        0
    );
    assert_eq!(code(&["trace", values, "--call", "at(1)", "--unspecified", "first"], ""), 0);
    assert_eq!(code(&["trace", "-", "--strategy", "random", "--seed", "3", "--width", "9"], "(+ 1 2)"), 0);
}

/// An error names what the user has written.
#[test]
fn errors_name_what_was_written() {
    let average = "examples/spirv/average.spvasm";
    let says = |args: &[&str], what: &str| {
        let shown = smallstep(args, "1");
        assert!(shown.code == 2 && shown.err.contains(what), "{args:?}: {} {}{}", shown.code, shown.out, shown.err);
    };
    says(&["run", average, "--set", "0.0=1,2,3"], "\"1,2,3\" has no type; write it as u32:1,2,3");
    says(&["run", average, "--push", "7"], "\"7\" has no type; write it as u32:7");
    says(&["run", "-", "--image", "-"], "\"-\" is no name of a PNG");
    says(&["run", "-", "--image", "x.jpg"], "write it as picture.png");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("cases").display().to_string();
    let shown = smallstep(&["vectors", "--format", "wsl", "-o", &out, "examples/wsl/values.wsl", "nothing(3)"], "");
    assert!(shown.code == 2 && shown.err.starts_with("error: examples/wsl/values.wsl: ") && !shown.err.contains(&out), "{}", shown.err);
    let glsl = "#!amber\nSHADER compute main GLSL\nvoid main() {}\nEND\nPIPELINE compute p\n  ATTACH main\nEND\nRUN p 1 1 1\n";
    let shown = smallstep(&["run", "-"], glsl);
    assert!(shown.code == 6 && shown.err.contains("--glsl-compiler"), "{} {}", shown.code, shown.err);
    // Here `--device` names an engine. In other commands it names an adapter.
    let shown = smallstep(&["run", "-", "--device", "no such device"], "1");
    assert!(shown.code == 3 && shown.err.contains("no engine is called \"no such device\""), "{} {}", shown.code, shown.err);
    // Every reduction order goes on for ever. No value is printed, and the command says so.
    let shown = smallstep(&["trace", "-", "--strategy", "all"], "((rec-func (d) (if (eq d 1) d (rec d))) 0)");
    assert!(shown.code == 3 && shown.out.starts_with("diverges: "), "{} {}", shown.code, shown.out);
    // The command names the parts of a folder that it does not check.
    let shown = smallstep(&["check", "--device", "none", "--size", "1x1", "--json", "examples/spirv", "examples/gradient.lv"], "");
    assert!(shown.code == 2 && shown.err.contains("examples/spirv"), "{} {}", shown.code, shown.err);
    std::fs::copy("examples/gradient.lv", folder.path().join("a.lv")).expect("copied");
    std::fs::copy(average, folder.path().join("b.spvasm")).expect("copied");
    let shown = smallstep(&["check", "--device", "none", "--size", "1x1", "--json", &folder.path().display().to_string()], "");
    let left_out = &shown.lines().pop().expect("a summary")["left_out"];
    assert!(left_out.as_array().is_some_and(|all| all.len() == 1), "{left_out}");
    assert!(shown.code == 0 && shown.err.contains("left out: ") && shown.err.contains("b.spvasm"), "{} {}", shown.code, shown.err);
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
    // A disagreement between the semantics is never a known one.
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

/// A file in one language is never read by the rules of another, whatever its name.
#[test]
fn programs_are_read_in_their_own_language() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("it can be written");
        path.to_str().expect("UTF-8").to_string()
    };
    let wsl = file("wsl.lv", "int f(int x) { return x; }");
    for args in [&["check", &wsl, "--device", "none"][..], &["type", &wsl], &["run", &wsl], &["trace", &wsl], &["compare", &wsl, &wsl]] {
        let shown = smallstep(args, "");
        assert_eq!(shown.code, 2, "{args:?}: {}", shown.err);
        let said = shown.err.clone() + &shown.out;
        assert!(said.contains("says λV, and the text is WSL") && said.contains("--language wsl"), "{args:?}: {said}");
        assert!(!said.contains("lv/"), "{args:?}: {said}");
    }
    assert_eq!(smallstep(&["type", &wsl, "--language", "wsl"], "").out, "int f(int) : {Return}\n");
    let translated = smallstep(&["translate", &wsl], "");
    assert!(translated.code == 2 && translated.err.contains("says λV, and the text is WSL"), "{}", translated.err);
    let translated = smallstep(&["translate", &wsl, "--language", "wsl"], "");
    assert!(translated.code == 2 && translated.err.contains("the program has no compute entry point; --entry"), "{}", translated.err);
    let translated = smallstep(&["translate", &wsl, "--language", "wsl", "--entry", "f"], "");
    assert!(translated.code == 0 && translated.out.contains("OpEntryPoint GLCompute"), "{}", translated.err);
    let lambda_v = file("lambda.txt", "(vec2 1 2)");
    assert_eq!(smallstep(&["type", &lambda_v], "").out, "Vec(2,f)\n");
    assert!(smallstep(&["call", &lambda_v, "f(1)"], "").err.contains("this is λV, and WSL is needed here"));
    // Text that belongs to no language needs `--language`.
    let unknown = smallstep(&["type", "-"], "1 2");
    assert!(unknown.code == 2 && unknown.err.contains("say --language with lambda-v"), "{}", unknown.err);
    assert!(smallstep(&["type", "-", "--language", "lambda-v"], "1 2").err.contains("error[lv/program-form]"));
    assert!(smallstep(&["type", "-", "--language", "glsl"], "").err.contains("no language is called \"glsl\""));
    let script = "#!amber\nSHADER compute s SPIRV-ASM\n";
    let checked = smallstep(&["check", "-", "--device", "none"], script);
    assert!((checked.out + &checked.err).contains("SHADER"), "it is read as a script");
    assert!(smallstep(&["trace", "-"], script).err.contains("this is an Amber script"));
}

/// A module that stores the greatest index of each subgroup.
const GREATEST: &str = "; Version: 1.3
OpCapability Shader OpCapability GroupNonUniformArithmetic OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %index
OpExecutionMode %main LocalSize 8 1 1
OpDecorate %index BuiltIn LocalInvocationIndex
OpDecorate %words ArrayStride 4 OpDecorate %block Block OpMemberDecorate %block 0 Offset 0
OpDecorate %buffer DescriptorSet 0 OpDecorate %buffer Binding 0
%void = OpTypeVoid %uint = OpTypeInt 32 0 %fn = OpTypeFunction %void
%u0 = OpConstant %uint 0 %u3 = OpConstant %uint 3 %words = OpTypeRuntimeArray %uint %block = OpTypeStruct %words
%pin = OpTypePointer Input %uint %index = OpVariable %pin Input
%pblock = OpTypePointer StorageBuffer %block %pword = OpTypePointer StorageBuffer %uint
%buffer = OpVariable %pblock StorageBuffer
%main = OpFunction %void None %fn %entry = OpLabel
%i = OpLoad %uint %index %p = OpAccessChain %pword %buffer %u0 %i
%s = OpGroupNonUniformUMax %uint %u3 Reduce %i
OpStore %p %s OpReturn OpFunctionEnd
";

/// If it is open which invocations form a subgroup, or which of them go on together, the run says
/// in how many bytes devices may show other values.
#[test]
fn what_devices_may_show_otherwise_is_said() {
    let run = |text: &str, mapping: &str| {
        let given = ["--set", "0.0=u32:zero*8", "--subgroup-size", "4", "--subgroup-mapping", mapping];
        smallstep(&[&["run", "--language", "spirv-assembly", "-"][..], &given].concat(), text)
    };
    let shown = "member 0[0..8] = 3 3 3 3 7 7 7 7";
    let by_index = run(GREATEST, "index");
    assert!(by_index.out.contains(shown) && !by_index.err.contains("note:"), "{}{}", by_index.out, by_index.err);
    let any = run(GREATEST, "any");
    assert!(any.out.contains(shown), "{}", any.out);
    let note = "note: devices may show other values in 32 bytes: it depends on which invocations, vertices or quads are a subgroup";
    assert!(any.err.contains(note), "{}", any.err);
    // The maximum of invocations 4 and 5, which come by two ways. Invocations 6 and 7 do not
    // take part.
    let ways = "%bool = OpTypeBool %u4 = OpConstant %uint 4 %u6 = OpConstant %uint 6 %main = OpFunction";
    let parted = "%few = OpULessThan %bool %i %u6 OpSelectionMerge %out None OpBranchConditional %few %in %out
        %in = OpLabel %one = OpIEqual %bool %i %u4 OpSelectionMerge %m None OpBranchConditional %one %y %m
        %y = OpLabel OpBranch %m %m = OpLabel %s = OpGroupNonUniformUMax %uint %u3 Reduce %i OpStore %p %s OpBranch %out
        %out = OpLabel OpReturn";
    let (before, _) = GREATEST.split_once("%s = ").expect("the instruction");
    let text = format!("{}{parted} OpFunctionEnd", before.replacen("%main = OpFunction", ways, 1));
    let reconverged = run(&text, "index");
    let note = "note: devices may show other values in 8 bytes: it depends on which invocations of a subgroup go on together";
    assert!(reconverged.err.contains(note), "{}{}", reconverged.out, reconverged.err);
    assert_eq!(run(GREATEST, "all").code, 2);
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

/// Reading from a pipe might block for ever, and reading from a device might not end.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe.wsl");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo").success());
    let pipe = pipe.to_str().expect("it is UTF-8");
    for file in [pipe, "/dev/zero", "/dev/full"] {
        for args in [
            &["type", file][..],
            &["run", file],
            &["trace", file],
            &["translate", file],
            &["dis", file],
            &["asm", file, "-o", "-"],
            &["desugar", file],
            &["call", file, "1"],
            &["compare", file, file],
            &["replay", file],
            &["vectors", "--format", "wsl", file, "1", "-o", "-"],
        ] {
            let shown = smallstep(args, "");
            assert!(shown.code == 2 && shown.err.contains("no regular file"), "{args:?}: {} {}", shown.code, shown.err);
        }
        let checked = smallstep(&["check", file], "");
        assert!(checked.code == 2 && checked.err.contains("neither a file nor a folder"), "{}", checked.err);
    }
    // In a searched folder, it is a program that cannot be read.
    let searched = smallstep(&["check", "--device", "none", folder.path().to_str().expect("it is UTF-8")], "");
    assert!(searched.code == 2 && searched.out.contains("no regular file"), "{}{}", searched.out, searched.err);
    let journal = smallstep(&["fuzz", "--count", "1", "--journal", "/dev/full"], "");
    assert!(journal.code == 2 && journal.err.contains("no file that could be a journal"), "{}", journal.err);
}

#[test]
fn counts_that_take_room_are_bounded() {
    let many = "4294967295";
    for args in [
        &["fuzz", "--threads", many][..],
        &["fuzz", "--workers", many],
        &["fuzz-spirv", "--threads", many],
        &["fuzz-spirv", "--executed", many],
        &["fuzz-wsl", "--threads", many],
        &["planted", "--threads", many],
        &["vectors", "--count", "1", "-o", "-", "--threads", many],
        &["bench", "--threads", many],
        &["bench", "--workers", many],
        &["bench", "--window", many],
    ] {
        let shown = smallstep(args, "");
        assert!(shown.code == 2 && shown.err.contains(many) && shown.err.contains("is not in"), "{args:?}: {}", shown.err);
    }
}

#[test]
fn standard_input_may_be_wsl() {
    for text in
        ["int f(int x) { return x; }", "// a comment\nint f(int x) { return x; }", "\n  struct S { int x; }\nint f(int x) { return x; }"]
    {
        let checked = smallstep(CHECK, text);
        assert!(checked.code == 0 && checked.out.starts_with("valid"), "{text}: {}{}", checked.out, checked.err);
        let typed = smallstep(&["type", "-"], text);
        assert!(typed.code == 0 && typed.out.contains("f(int)"), "{text}: {}{}", typed.out, typed.err);
    }
    let wrong = smallstep(CHECK, "int f(int x) { return true; }");
    assert!(wrong.code == 2 && wrong.out.contains("error[wsl/"), "{}{}", wrong.out, wrong.err);
    for text in ["; a comment\n 1 ; another", "(if true 1 2)", "1"] {
        assert_eq!(smallstep(&["type", "-"], text).code, 0, "{text}");
    }
}

/// In call by name, an unused argument is not evaluated. The translation computes it. If the
/// argument terminates, the two agree. If it may not terminate, nothing is known.
#[test]
fn only_what_provably_diverges_refutes_the_printed_theorem() {
    let unused = |rounds: u32| {
        format!("((rec-func (n unused) (if (eq n 0) n (rec (- n 1) unused))) 3 ((rec-func (n) (if (eq n 0) n (rec (- n 1)))) {rounds}))")
    };
    let printed = &["check", "--device", "none", "--size", "1x1", "--theorem", "printed", "-"];
    for (rounds, code, word) in [(20, 0, "agree"), (20_000, 0, "agree"), (1_000_000, 7, "unchecked")] {
        let shown = smallstep(printed, &unused(rounds));
        assert!(shown.code == code && shown.out.starts_with(word), "{rounds}: {}{}", shown.out, shown.err);
    }
}

/// The output file of a killed command is gone.
#[cfg(target_os = "linux")]
#[test]
fn a_vectors_file_that_is_interrupted_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.jsonl");
    let mut child = Command::new(env!("CARGO_BIN_EXE_smallstep"))
        .args(["vectors", "--count", "1000000", "-o"])
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(child.try_wait().expect("it is ours").is_none(), "a million cases take longer than that");
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 0);
    let done = Command::new(env!("CARGO_BIN_EXE_smallstep")).args(["vectors", "--count", "3", "-o"]).arg(&out).output().expect("starts");
    assert!(done.status.success() && out.metadata().is_ok_and(|m| m.len() > 0));
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 1);
}

/// Counts in two numbers, so that no state repeats for minutes.
const FOR_EVER: &str =
    "((rec-func (n m) (if (less-than n 0) n (rec (if (less-than m 1000) n (+ n 1)) (if (less-than m 1000) (+ m 1) 0)))) 1 0)";

/// A module whose entry point never ends.
fn endless(model: &str, more: &str) -> String {
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint {model} %main \"main\" {more}\n\
         %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n\
         %out = OpTypePointer Output %v4\n%colour = OpVariable %out Output\n%main = OpFunction %void None %fn\n%entry = OpLabel\n\
         OpBranch %h\n%h = OpLabel\nOpLoopMerge %m %n None\nOpBranch %n\n%n = OpLabel\nOpBranch %h\n%m = OpLabel\nOpReturn\n\
         OpFunctionEnd"
    )
}

const GROUP: &str = "[numthreads(2, 1, 1)] compute void main(uint lane : SV_GroupIndex, device uint[] out : register(u0)) \
                     { while (true) out[lane] += 1; }";
const SHADE: &str = "fragment float4 main() : SV_Target 0 { float4 c; while (true) c.x += 1.0; return c; }";

/// With fuel for minutes and a time limit of one second, each engine of each language ends in time,
/// in `run`, `check` and `call`.
#[test]
fn everything_ends_by_its_time() {
    let variable = "%out = OpTypePointer Output %v4\n%colour = OpVariable %out Output\n";
    let dispatch = endless("GLCompute", "\nOpExecutionMode %main LocalSize 1 1 1").replace(variable, "");
    let fragment = endless("Fragment", "%colour\nOpExecutionMode %main OriginUpperLeft\nOpDecorate %colour Location 0");
    let mut cases: Vec<(Vec<&str>, &str)> = vec![(vec!["run", "-", "--engine", "spirv"], FOR_EVER)];
    for engine in ["machine", "reference"] {
        let run = |more: &[&'static str]| [&["run", "-", "--engine", engine][..], more].concat();
        cases.push((run(&[]), FOR_EVER));
        cases.push((run(&[]), &dispatch));
        // As a draw over the screen, and pixel by pixel.
        cases.push((run(&["--robustness", "none"]), &fragment));
        cases.push((run(&[]), &fragment));
        cases.push((run(&["--set", "0.0=u32:0,0"]), GROUP));
        cases.push((run(&[]), SHADE));
        cases.push((vec!["call", "-", "f()", "--engine", engine], "int f() { int i = 0; while (true) i += 1; return i; }"));
    }
    let check = |more: &[&'static str]| [&["check", "-", "--device", "none"][..], more].concat();
    cases.extend(["corrected", "printed"].map(|theorem| (check(&["--theorem", theorem]), FOR_EVER)));
    cases.extend([GROUP, SHADE].map(|program| (check(&[]), program)));
    for (args, program) in cases {
        let slow = args.iter().any(|arg| matches!(*arg, "reference" | "printed"));
        let fuel = if slow { "200000000" } else { "20000000000" };
        let begun = std::time::Instant::now();
        let shown = smallstep(&[&args[..], &["--time-limit", "1s", "--fuel", fuel]].concat(), program);
        let told = format!("{}{}", shown.out, shown.err);
        assert!(shown.code == 7 && told.contains("more than 1000 milliseconds"), "{args:?}: {}: {told}", shown.code);
        assert!(begun.elapsed().as_secs() < 20, "{args:?}: {:?}", begun.elapsed());
    }
}

/// A sufficient time limit does not change the output.
#[test]
fn what_ends_in_time_shows_what_it_shows_without() {
    let values = ["call", "examples/wsl/values.wsl", "median(3, 1, 2)", "at(7)"];
    let circle = ["run", "examples/circle.lv", "--engine"];
    let mut cases: Vec<Vec<&str>> = vec![values.to_vec(), [&values[..], &["--engine", "reference"]].concat()];
    cases.extend(["machine", "reference", "spirv"].map(|engine| [&circle[..], &[engine]].concat()));
    cases.push(vec!["check", "--device", "none", "examples/circle.lv", "examples/wsl/reduction.wsl", "examples/amber"]);
    cases.push(vec!["run", "examples/spirv/sum.spvasm", "--set", "0.0=u32:1*8", "--set", "0.1=u32:0"]);
    for args in cases {
        let (without, with) = (smallstep(&args, ""), smallstep(&[&args[..], &["--time-limit", "1h"]].concat(), ""));
        assert_eq!((with.code, with.out, with.err), (without.code, without.out, without.err), "{args:?}");
        assert_eq!(without.code, 0, "{args:?}");
    }
}
