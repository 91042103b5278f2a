//! The JSON of every command has one form. Each line is an object with `schema` and `kind`. The
//! last line is the only summary, with the exit code.

mod common;

use std::collections::BTreeSet;

use common::command::{Shown, smallstep};
use common::device;
use serde_json::Value;

const AVERAGE: &str = "examples/spirv/average.spvasm";
const VALUES: &str = "examples/wsl/values.wsl";
const SUM: &str = "examples/amber/sum.amber";
const GRID: &str = "examples/spirv/grid.spvasm";
const RACING: &str = "[numthreads(2, 1, 1)] compute void f(device uint[] data : register(u0)) { data[0] = data[0] + 1; }";
const ENDLESS: &str = "((rec-func (d) (if (eq d 1) d (rec d))) 0)";
const BUFFERS: [&str; 4] = ["--set", "0.0=u32:1,2,3,4", "--set", "0.1=u32:1,0,1,1"];

/// Requires that each line is such an object and that the summary is last. Returns the lines.
fn shaped(args: &[&str], shown: &Shown, text: &str) -> Vec<Value> {
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{args:?}: {e}: {line}\n{}", shown.err))).collect();
    for line in &lines {
        assert!(line["schema"] == 1 && line["kind"].is_string(), "{args:?}: {line}");
    }
    let summaries = lines.iter().filter(|line| line["kind"] == "summary").count();
    let last = lines.last().unwrap_or_else(|| panic!("{args:?} prints no JSON: {}", shown.err));
    assert!(summaries == 1 && last["kind"] == "summary", "{args:?}: {summaries} summaries, the last line is {last}");
    assert_eq!(last["exit"], shown.code, "{args:?}: {last}");
    lines
}

/// Command lines of all commands, with their standard input and exit code. The code is `None` if it
/// depends on a device.
fn cases(file: &dyn Fn(&str, &str) -> String) -> Vec<(Vec<String>, &'static str, Option<i32>)> {
    let words = file("average.spv", "");
    let vectors = file("cases", "");
    let (wrong_wsl, wrong_spirv, racing) =
        (file("wrong.wsl", "int f() { return g(); }"), file("wrong.spvasm", "OpNop x"), file("racing.wsl", RACING));
    let mut cases = Vec::new();
    let mut case = |line: &[&str], input: &'static str, code: Option<i32>| {
        cases.push((line.iter().map(ToString::to_string).collect::<Vec<_>>(), input, code));
    };
    case(&["asm", AVERAGE, "-o", &words], "", Some(0));
    case(&["asm", "-", "-o", &words], "OpNop x", Some(2));
    case(&["asm", "no-such-file", "-o", &words], "", Some(2));
    case(&["asm", AVERAGE, "-o", &words], "", Some(0));
    case(&["dis", &words], "", Some(0));
    case(&["dis", &words, "-o", &file("text", "")], "", Some(0));
    case(&["dis", "-"], "no words", Some(2));
    case(&["check", "--device", "none", "-"], "1", Some(0));
    case(&["check", "--device", "none", "-"], "(if 1 2 3)", Some(2));
    case(&["check", "--device", "none", VALUES, SUM], "", Some(0));
    case(&["check", "no-such-file"], "", Some(2));
    case(&["check", "--expect", "nonsense", "-"], "1", Some(2));
    case(&["compare", AVERAGE, AVERAGE, "--inputs", "2"], "", Some(0));
    case(&["compare", AVERAGE, "examples/spirv/average-hoisted.spvasm"], "", Some(1));
    case(&["compare", AVERAGE, AVERAGE, "--groups", "0"], "", Some(2));
    case(&["compare", AVERAGE, "--via", "wgsl", "--inputs", "2"], "", Some(0));
    case(&["compare", AVERAGE, "no-such-file", "--via", "wgsl", "--inputs", "2"], "", Some(2));
    case(&["compare", AVERAGE, "--via", "no-such-compiler"], "", Some(3));
    case(&["reduce", AVERAGE, "--via", "wgsl"], "", Some(3));
    case(&["reduce", "spec-tests/quirks-spirv-opt/umax-of-signed.spvasm", "--via", "naga"], "", Some(0));
    case(&["type", "-"], "1", Some(0));
    case(&["type", "-", "--derivation"], "(+ 1 2)", Some(0));
    case(&["type", "-"], "(if 1 2 3)", Some(2));
    case(&["type", VALUES], "", Some(0));
    case(&["type", &wrong_wsl], "", Some(2));
    case(&["type", "no-such-file"], "", Some(2));
    case(&["uniformity", VALUES], "", Some(0));
    case(&["uniformity", "spec-tests/uniformity/flow-merge.wsl"], "", Some(2));
    case(&["uniformity", "spec-tests/uniformity/flow-merge.wsl", "--mode", "seed"], "", Some(2));
    case(&["uniformity", "spec-tests/theorem/lv-01-phi-goes-on.spvasm"], "", Some(0));
    case(&["uniformity", "-"], "int f( {", Some(2));
    case(&["fuzz-wsl", "--count", "20", "--uniformity", "precise"], "", Some(0));
    case(&["fuzz-spirv", "--count", "20", "--uniformity", "precise"], "", Some(0));
    case(&["desugar", VALUES], "", Some(0));
    case(&["desugar", VALUES, "--steps"], "", Some(0));
    case(&["desugar", "-"], "int f( {", Some(2));
    case(&["call", VALUES, "median(3, 1, 2)", "1 / 0"], "", Some(0));
    case(&["call", VALUES, "nothing(3)"], "", Some(2));
    case(&["call", "no-such-file", "1"], "", Some(2));
    case(&["trace", "-"], "(+ 1 2)", Some(0));
    case(&["trace", "-", "--strategy", "all"], "(+ 1 2)", Some(0));
    case(&["trace", "-", "--strategy", "all"], ENDLESS, Some(3));
    case(&["trace", "-"], "(+ 1", Some(2));
    case(&["trace", VALUES, "--call", "median(3, 1, 2)"], "", Some(0));
    case(&["trace", VALUES, "--call", "nothing(3)"], "", Some(2));
    case(&["trace", VALUES, "--bind", "data=u32:1,2,3,4", "--bind", "sums=u32:0"], "", Some(0));
    case(&["trace", &wrong_wsl], "", Some(2));
    case(&["trace", GRID, "--push", "f32:2", "--input", "0=screen", "--set", "0.0=u32:0*64"], "", None);
    case(&[&["trace", AVERAGE], &BUFFERS[..], &["--set", "0.2=u32:0*4"]].concat(), "", Some(0));
    case(&["run", "-", "--size", "2x2"], "(vec2 1 2)", Some(0));
    case(&["run", "-", "--size", "2x2"], "(if 1 2 3)", Some(2));
    case(&["run", "no-such-file"], "", Some(2));
    case(&["run", &wrong_wsl], "", Some(2));
    case(&["run", &wrong_spirv], "", Some(2));
    case(&["run", VALUES, "--bind", "data=u32:1,2,3,4", "--bind", "sums=u32:0"], "", Some(0));
    case(&["run", VALUES], "", Some(2));
    case(&["run", &racing, "--bind", "data=u32:1"], "", Some(0));
    case(&["run", "examples/wsl/triangle.wsl", "--entry", "contour", "--input", "0=screen", "--size", "2x2"], "", Some(0));
    case(&[&["run", AVERAGE], &BUFFERS[..], &["--set", "0.2=u32:0*4"]].concat(), "", Some(0));
    case(&["run", AVERAGE], "", Some(2));
    case(&["run", "examples/spirv/race.spvasm", "--set", "0.0=u32:1*8", "--set", "0.1=u32:0"], "", Some(5));
    case(&["run", SUM], "", Some(0));
    case(&["run", "-", "--engine", "no such device"], "1", Some(3));
    case(&["translate", "-"], "1", Some(0));
    case(&["translate", "-", "--witness"], "(+ 1 2)", Some(0));
    case(&["translate", "-"], "(if 1 2 3)", Some(2));
    case(&["fuzz", "--count", "5", "--size", "1x1", "--near-misses", "0"], "", None);
    case(&["fuzz", "--only", "3", "--size", "1x1"], "", None);
    case(&["fuzz", "--only", "3", "--near-miss"], "", Some(0));
    case(&["fuzz", "--count", "0"], "", Some(2));
    case(&["fuzz-spirv", "--count", "2", "--executed", "20"], "", Some(0));
    case(&["fuzz-spirv", "--only", "--seed", "3", "--executed", "20"], "", Some(0));
    case(&["fuzz-spirv", "--count", "1", "--optimiser", "no-such-optimiser -O"], "", Some(3));
    case(&["fuzz-wsl", "--count", "2"], "", Some(0));
    case(&["fuzz-wsl", "--count", "2", "--show"], "", Some(0));
    case(&["planted", "--list"], "", Some(0));
    case(&["planted", "--list", "--spirv"], "", Some(0));
    case(&["planted", "no such bug"], "", Some(2));
    case(&["vectors", "--count", "2", "-o", &vectors], "", Some(0));
    case(&["vectors", "--format", "wsl", "-o", &vectors, VALUES, "nothing(3)"], "", Some(2));
    case(&["vectors", "--format", "amber", "--count", "1", "--decided", "-o", &vectors], "", Some(2));
    case(&["replay", &vectors, "--engine", "machine"], "", Some(0));
    case(&["replay", "no-such-file"], "", Some(2));
    case(&["adapters"], "", None);
    case(&["bench", "--adapter", "no such device"], "", Some(3));
    cases
}

#[test]
fn every_line_of_every_command_has_the_shape() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name).display().to_string();
        std::fs::write(&path, text).expect("written");
        path
    };
    let cases = cases(&file);
    let mut held: BTreeSet<&str> = BTreeSet::new();
    for (line, input, code) in &cases {
        let mut args: Vec<&str> = line.iter().map(String::as_str).collect();
        held.insert(args[0]);
        args.push("--json");
        let shown = smallstep(&args, input);
        assert!(code.is_none_or(|code| code == shown.code), "{args:?}: {}\n{}{}", shown.code, shown.out, shown.err);
        shaped(&args, &shown, &shown.out);
    }
    // If a command writes its result to standard output, its JSON goes to standard error.
    for args in [&["asm", AVERAGE, "-o", "-", "--json"][..], &["vectors", "--count", "1", "-o", "-", "--json"]] {
        let shown = smallstep(args, "");
        assert_eq!(shown.code, 0, "{args:?}: {}", shown.err);
        shaped(args, &shown, &shown.err);
    }
    // This command writes its JSON to a file. Standard output is such a file.
    let args = ["precision", "--adapter", "no such device", "--function", "fadd", "--json", "-"];
    let shown = smallstep(&args, "");
    assert_eq!(shown.code, 3, "{}", shown.err);
    shaped(&args, &shown, &shown.out);
    held.insert("precision");
    // These are all commands.
    let help = smallstep(&["--help"], "").out;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let listed: BTreeSet<&str> =
        listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).filter(|name| !name.is_empty() && *name != "help").collect();
    assert!(listed.len() > 15, "{help}");
    assert_eq!(held, listed);
}

#[test]
fn a_device_is_measured_in_the_shape() {
    if device::open(None, device::options()).is_none() {
        return;
    }
    for args in [
        &["precision", "--function", "fadd", "--inputs", "1000", "--json", "-"][..],
        &["bench", "--count", "4", "--rounds", "1", "--size", "1", "--json"],
        &["fuzz", "--count", "3", "--size", "1x1", "--device", "auto", "--json"],
        &["run", "-", "--size", "1x1", "--device", "0", "--json"],
    ] {
        let shown = smallstep(args, "1");
        shaped(args, &shown, &shown.out);
    }
}

/// A device shows a result even for undefined behaviour. The command says that the result means
/// nothing, in JSON too: for a dispatch, a script, a draw and pixels.
#[test]
fn undefined_behaviour_is_told_beside_what_a_device_shows() {
    if device::open(None, device::options()).is_none() {
        return;
    }
    let adapter = std::env::var("SMALLSTEP_ADAPTER").unwrap_or("0".into());
    let read = |file: &str| std::fs::read_to_string(file).expect("an example");
    let (grid, race, sum) = (read(GRID), read("tests/amber_run/scripts/race.amber"), read(SUM));
    let yellow = smallstep(&["translate", "examples/yellow.lv"], "").out;
    let int = "%void = OpTypeVoid\n%word = OpTypeInt 32 0\n%zero = OpConstant %word 0\n";
    let yellow = yellow.replace("%4 = OpTypeVoid\n", &int.replace("%void", "%4"));
    let of_a_dispatch: [&str; 4] = ["--set", "0.0=u32:1*8", "--set", "0.1=u32:0"];
    let of_a_draw: [&str; 4] = ["--input", "0=screen", "--push", "f32:8"];
    let divides = |text: &str, before: &str, division: &str| text.replacen(before, &format!("%q = {division}\n{before}"), 1);
    let cases: [(&str, String, String, &[&str], &str); 4] = [
        ("sum.spvasm", read("examples/spirv/sum.spvasm"), read("examples/spirv/race.spvasm"), &of_a_dispatch, "spirv/data-race"),
        ("sum.amber", sum, race, &[], "spirv/data-race"),
        ("grid.spvasm", grid.clone(), divides(&grid, "%at = OpLoad", "OpSDiv %int %i0 %i0"), &of_a_draw, "spirv/division-by-zero"),
        ("yellow.spvasm", yellow.clone(), divides(&yellow, "OpReturn", "OpUDiv %word %zero %zero"), &[], "spirv/division-by-zero"),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (name, defined, undefined, options, id) in cases {
        let path = folder.path().join(name).display().to_string();
        let run = |text: &str| {
            std::fs::write(&path, text).expect("written");
            smallstep(&[&["run", &path, "--engine", &adapter, "--json"], options].concat(), "")
        };
        assert_ne!(defined, undefined, "{name}");
        let shown = run(&defined);
        let summary = shown.lines().pop().expect("a summary");
        assert!(
            shown.code == 0 && shown.err.is_empty() && summary["undefined"] == serde_json::json!([]),
            "{name}: {} {}",
            shown.code,
            shown.err
        );
        let shown = run(&undefined);
        let summary = shaped(&[], &shown, &shown.out).pop().expect("a summary");
        assert!(shown.code == 5 && shown.err.contains("shows may be anything"), "{name}: {} {}", shown.code, shown.err);
        assert!(shown.err.contains(&format!("undefined[{id}]")) && summary["undefined"][0]["id"] == id, "{name}: {summary}");
        assert!(shown.lines().len() > 1, "{name}: what the device shows is printed");
    }
}

/// Two invocations race. JSON has both places: functions, blocks, invocations and lines of
/// the assembly.
#[test]
fn a_race_of_invocations_has_its_places() {
    let race = "examples/spirv/race.spvasm";
    let text = std::fs::read_to_string(race).expect("the example");
    let shown = smallstep(&["run", race, "--set", "0.0=u32:1*8", "--set", "0.1=u32:0", "--json"], "");
    let summary = shown.lines().pop().expect("a summary");
    let [later, earlier] = [&summary["undefined"][0], &summary["undefined"][0]["races_with"]];
    let line = |place: &Value| text.lines().nth(place["assembly_line"].as_u64().expect("a line") as usize - 1).expect("in the file");
    assert!(line(later).contains("OpLoad") && line(earlier).contains("OpStore"), "{summary}");
    assert_eq!((&later["invocation"], &earlier["invocation"]), (&[0, 0, 0].into(), &[4, 0, 0].into()), "{summary}");
    assert!(earlier["function"] == later["function"] && earlier["block"].is_u64() && earlier["block"] != later["block"], "{summary}");
    assert!(shown.err.contains("with the access in %main, block %") && shown.err.contains(", invocation (4,0,0)"), "{}", shown.err);
}

/// Two threads race. JSON has both places.
#[test]
fn a_race_has_its_places() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("racing.wsl").display().to_string();
    std::fs::write(&path, RACING).expect("written");
    let lines = smallstep(&["run", &path, "--bind", "data=u32:1", "--json"], "").lines();
    let races: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "race").collect();
    assert!(!races.is_empty() && lines.last().is_some_and(|summary| summary["races"] == races.len()), "{lines:?}");
    for race in races {
        assert!(race["object"] == "data" && race["word"] == 0, "{race}");
        for access in [&race["first"], &race["second"]] {
            assert!(access["line"] == 1 && access["column"].as_u64() > Some(70) && access["thread"].is_u64(), "{race}");
        }
        assert_ne!(race["first"]["thread"], race["second"]["thread"]);
    }
}
