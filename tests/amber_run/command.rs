//! Scripts on the command line: `run`, `check` and `vectors`, their exit codes and output.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::common::command::smallstep;
use crate::{FLOATS, RACE, SUM, WORDS, script_of};

const STORES_UNDEF: &str = "%undef = OpUndef %item\nOpStore %p1 %undef";
const DATA: &str = "DATA_TYPE int32 DATA 5 6 7 8 END";

#[test]
fn run_prints_expectations_and_buffers() {
    let shown = smallstep(&["run", "examples/amber/sum.amber"], "");
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(shown.out.contains("result uint32, 4 bytes\n  [0] 36\n2 expectations hold, 0 fail"), "{}", shown.out);
    let shown = smallstep(&["run", "-"], &SUM.replace("EQ 36", "EQ 37"));
    assert_eq!(shown.code, 1);
    assert!(shown.out.contains("buffer result, IDX 0: found 36, expected EQ 37"), "{}", shown.out);
    let undefined = script_of(WORDS, STORES_UNDEF, DATA, "RUN p 1 1 1\nEXPECT data IDX 4 EQ 6");
    let shown = smallstep(&["run", "-"], &undefined);
    assert_eq!(shown.code, 5);
    assert!(shown.out.contains("undefined  line ") && shown.out.contains("[1] any value: any value, made at %"), "{}", shown.out);
    // No expectation reads the undefined value.
    assert_eq!(smallstep(&["run", "-"], &undefined.replace("IDX 4 EQ 6", "IDX 0 EQ 5")).code, 0);
    let third = "%a = OpLoad %item %p0\n%q = OpFDiv %item %a %three\nOpStore %p1 %q";
    let shown = smallstep(
        &["run", "-"],
        &script_of(FLOATS, third, "DATA_TYPE float DATA 1 0 0 0 END", "RUN p 1 1 1\nEXPECT data IDX 4 EQ 0.33333334"),
    );
    assert_eq!(shown.code, 3);
    assert!(shown.out.contains("[1] 0.3333333432674408 in [0.3333332"), "{}", shown.out);
    let shown = smallstep(&["run", "-", "--json"], RACE);
    assert_eq!(shown.code, 5);
    let lines = shown.lines();
    let summary = lines.last().expect("a summary");
    assert_eq!((&summary["end"]["id"], &summary["exit"]), (&json!("spirv/data-race"), &json!(5)));
    assert_eq!(summary["end"]["undefined"]["id"], summary["end"]["id"]);
    let [place, other] = [&summary["end"]["undefined"], &summary["end"]["undefined"]["races_with"]];
    let at =
        |place: &serde_json::Value| RACE.lines().nth(place["assembly_line"].as_u64().expect("a line") as usize - 1).expect("in the script");
    assert!([place, other].iter().all(|p| at(p).contains("OpStore") || at(p).contains("OpLoad")), "{place}");
    assert_ne!(place["invocation"], other["invocation"]);
    assert_eq!(summary["expectations"], json!({"holds": 0, "fails": 0, "undecided": 0, "undefined": 0}));
    assert_eq!((&lines[1]["name"], &lines[1]["first"]), (&json!("result"), &json!(0)));
    assert_eq!(lines[1]["elements"][0], json!({"offset": 0, "value": "0", "known": "decided", "why": null}));
    assert!(shown.err.contains("undefined[spirv/data-race]") && shown.err.contains("in RUN, line"), "{}", shown.err);
}

#[test]
fn run_draws_the_attachment_of_a_script() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("triangle.png").display().to_string();
    let triangle = "examples/amber/triangle.amber";
    let shown = smallstep(&["run", triangle, "--image", &path], "");
    assert_eq!((shown.code, shown.err.as_str()), (0, ""));
    let mut reader = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&path).expect("a file"))).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut pixels).expect("a picture");
    let pixel = |x: usize, y: usize| &pixels[3 * (16 * y + x)..][..3];
    assert_eq!((pixel(2, 12), pixel(12, 2)), (&[255, 255, 0][..], &[128, 128, 128][..]));
    for (args, said) in [
        (&["run", triangle, "--image", &path, "--output", "3"][..], "no colour attachment at location 3"),
        (&["run", "examples/amber/sum.amber", "--image", &path], "runs no graphics pipeline"),
        (&["run", triangle, "--output", "0"], "give --image"),
    ] {
        let shown = smallstep(args, "");
        assert!(shown.code == 2 && shown.err.contains(said), "{}", shown.err);
    }
}

#[test]
fn run_refuses_what_scripts_do_not_take() {
    for args in [&["--groups", "2"][..], &["--size", "4x4"], &["--entry", "main"], &["--set", "0.0=u32:1"], &["--keep-going"]] {
        let shown = smallstep(&[&["run", "examples/amber/sum.amber"], args].concat(), "");
        assert!(shown.code == 2 && shown.err.contains(args[0]), "{}", shown.err);
    }
    let shown = smallstep(&["run", "examples/circle.lv", "--glsl-compiler", "glslc"], "");
    assert!(shown.code == 2 && shown.err.contains("--glsl-compiler is for Amber scripts"), "{}", shown.err);
    for engine in ["reference", "machine"] {
        assert_eq!(smallstep(&["run", "examples/amber/repeat.amber", "--engine", engine], "").code, 0);
    }
    assert_eq!(smallstep(&["run", "examples/amber/sum.amber", "--schedule", "random:7"], "").code, 0);
    let shown = smallstep(&["run", "-"], "#!amber\nBUFFER b DATA_TYPE quux\nEXPECT\n");
    assert!(shown.code == 2 && shown.err.contains("error[amber]: 2:20") && shown.err.contains("3:7"), "{}", shown.err);
    // A statement that is left out determines the exit code, whether other errors may follow from
    // it or not.
    for text in ["#!amber\nNONSENSE\nPIPELINE raytracing r\nEND\n", "#!amber\nSHADER geometry g GLSL\nEND\nNONSENSE\n"] {
        let shown = smallstep(&["run", "-"], text);
        assert!(shown.code == 6 && shown.err.contains("unsupported: "), "{}", shown.err);
        assert_eq!(shown.err.contains("NONSENSE"), text.starts_with("#!amber\nNONSENSE"), "{}", shown.err);
        let shown = smallstep(&["check", "--device", "none", "-"], text);
        assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    }
    let glsl = "#!amber\nSHADER compute s GLSL\nvoid main() {}\nEND\nPIPELINE compute p\n  ATTACH s\nEND\nRUN p 1 1 1\n";
    let shown = smallstep(&["run", "-"], glsl);
    assert!(shown.code == 6 && shown.err.contains("shader s is GLSL"), "{}", shown.err);
    let shown = smallstep(&["run", "-", "--glsl-compiler", "false"], glsl);
    assert!(shown.code == 2 && shown.err.contains("false ended with exit status: 1"), "{}", shown.err);
}

#[test]
fn check_takes_scripts_beside_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("a.lv", "(vec4 1 0 0 1)");
    write("b.amber", SUM);
    let path = folder.path().display().to_string();
    let check = |args: &[&str]| smallstep(&[&["check", "--device", "none", &path], args].concat(), "");
    let shown = check(&["--json"]);
    assert_eq!(shown.code, 0, "{}", shown.out);
    let lines = shown.lines();
    let kinds: Vec<_> = lines.iter().map(|l| l["kind"].as_str().unwrap_or_default()).collect();
    assert_eq!(kinds, ["program", "script", "summary"]);
    assert_eq!((&lines[1]["verdict"], &lines[1]["legs"][0]["expectations"]), (&json!("agree"), &json!({"judged": 2, "open": 0})));
    assert_eq!((&lines[2]["programs"], &lines[2]["legs"]["interpreter"]["agree"]), (&json!(2), &json!(1)));
    write("c.amber", RACE);
    let shown = check(&[]);
    assert!(shown.code == 5 && shown.out.contains("undefined  "), "{}", shown.out);
    write("c.amber", &SUM.replace("EQ 36", "EQ 37"));
    let shown = check(&[]);
    assert!(shown.code == 1 && shown.out.contains("the script vs the interpreter: line "), "{}", shown.out);
    write("c.amber", "#!amber\nNONSENSE\n");
    assert_eq!(check(&[]).code, 2);
    write("c.amber", &SUM.replace("OpCapability Shader", "OpCapability Shader\nOpCapability Geometry"));
    let shown = check(&[]);
    assert!(shown.code == 6 && shown.out.contains("unsupported "), "{}", shown.out);
    let shown = smallstep(&["check", "--device", "none", "--expect", "undefined", "tests/amber_run/scripts/race.amber"], "");
    assert_eq!(shown.code, 0, "{}", shown.out);
}

#[test]
fn vectors_are_written_as_scripts_and_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("scripts").display().to_string();
    let shown = smallstep(&["vectors", "--format", "amber", "--count", "2", "--seed", "9", "-o", &out], "");
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(shown.out.starts_with("2 scripts of "), "{}", shown.out);
    let shown = smallstep(&["check", "--device", "none", &out], "");
    assert!(shown.code == 0 && shown.out.contains("interpreter: 2 agree"), "{}", shown.out);
    let shown = smallstep(&["vectors", "--format", "amber", "--count", "2", "--size", "2x2", "-o", &out], "");
    assert!(shown.code == 2 && shown.err.contains("--size is for"), "{}", shown.err);
    assert_eq!(smallstep(&["vectors", "--format", "amber", "--count", "2", "-o", "-"], "").code, 2);
}

/// A loop that adds 3 for ever.
const ENDLESS: &str = "OpBranch %head\n%head = OpLabel\nOpLoopMerge %after %next None\nOpBranch %next\n%next = OpLabel\n\
                       %a = OpLoad %item %p0\n%n = OpFAdd %item %a %three\nOpStore %p0 %n\nOpBranch %head\n%after = OpLabel";

#[test]
fn a_script_ends_by_its_time_and_by_its_fuel() {
    let endless = script_of(FLOATS, ENDLESS, "DATA_TYPE float DATA 1 0 0 0 END", "RUN p 1 1 1");
    for command in [&["run"][..], &["check", "--device", "none"]] {
        let begun = std::time::Instant::now();
        let shown = smallstep(&[command, &["--time-limit", "1s", "-"]].concat(), &endless);
        let told = format!("{}{}", shown.out, shown.err);
        assert!(shown.code == 7 && told.contains("more than 1000 milliseconds"), "{}: {told}", shown.code);
        assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
        let shown = smallstep(&[command, &["--fuel", "1000", "-"]].concat(), &endless);
        let told = format!("{}{}", shown.out, shown.err);
        assert!(shown.code == 7 && told.contains("out of fuel after 1000 instructions"), "{}: {told}", shown.code);
    }
    // A sufficient time limit changes nothing.
    assert_eq!(smallstep(&["run", "--time-limit", "10m", "-"], SUM).code, 0);
}

#[test]
fn scripts_of_a_folder_are_played_side_by_side_and_told_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    for n in 0..7 {
        // The first script takes longest.
        let turns = if n == 0 { 200 } else { 1 };
        write(&format!("{n}.amber"), &format!("{SUM}\nREPEAT {turns}\nRUN sum 1 1 1\nEND\n"));
    }
    write("3.amber", &SUM.replace("EQ 36", "EQ 37"));
    write("5.lv", "(vec4 1 0 0 1)");
    let path = folder.path().display().to_string();
    let check = |args: &[&str]| smallstep(&[&["check", "--device", "none", &path], args].concat(), "");
    let one = check(&["--threads", "1"]);
    assert_eq!(one.code, 1, "{}", one.out);
    let names = |text: &str| -> Vec<String> {
        let first =
            |line: &str| line.split_once(path.as_str()).map(|(_, rest)| rest[1..].split(':').next().unwrap_or_default().to_string());
        text.lines().filter_map(first).collect()
    };
    assert_eq!(names(&one.out), ["0.amber", "1.amber", "2.amber", "3.amber", "4.amber", "5.amber", "5.lv", "6.amber"]);
    for threads in ["0", "2", "5"] {
        assert_eq!(check(&["--threads", threads]).out, one.out);
    }
    // Two shards together have all files.
    let shards = ["0/2", "1/2"].map(|shard| check(&["--shard", shard]));
    let shown: Vec<Vec<String>> = shards.iter().map(|shard| names(&shard.out)).collect();
    assert_eq!(shown, [["0.amber", "2.amber", "4.amber", "5.lv"], ["1.amber", "3.amber", "5.amber", "6.amber"]]);
    assert_eq!(shards.map(|shard| shard.code), [0, 1]);
    assert_eq!(check(&["--shard", "8/9"]).code, 0);
}
