//! Compute modules on the command line: values, undefined behaviour with its place, exit codes,
//! malformed input, traces.

mod common;

use common::command::{Shown, smallstep};
use serde_json::{Value, json};

/// Divides the specialization constant with SpecId 7 (100) by each value in turn. The division has
/// a source line.
const DIVIDE: &str = include_str!("common/modules/divide.spvasm");

/// Calls a function that stores `VALUE` at offset 0 and a push constant at offset 4.
const STORE: &str = include_str!("common/modules/store.spvasm");

/// A fragment stage that counts its invocations and stores `VALUE` for each pixel. `%at` is ten
/// times the pixel's number in rows of four.
const MARK: &str = include_str!("common/modules/mark.spvasm");

fn run(module: &str, args: &[&str]) -> Shown {
    smallstep(&[&["run", "-"], args].concat(), module.trim_start())
}

fn store(value: &str) -> String {
    STORE.replace("VALUE", value)
}

const EIGHT: &[&str] = &["--set", "0.0=u32:1,2,3,4,5,6,7,8", "--set", "0.1=u32:zero"];

#[test]
fn buffers_are_printed_by_their_types() {
    for engine in [&[][..], &["--engine", "machine"], &["--engine", "reference"], &["--schedule", "random:5"]] {
        let shown = smallstep(&[&["run", "examples/spirv/sum.spvasm"], EIGHT, engine].concat(), "");
        assert_eq!(shown.code, 0, "{}", shown.err);
        assert!(shown.out.contains("values[0..8] = 1 2 3 4 5 6 7 8\n"), "{}", shown.out);
        assert!(shown.out.ends_with("0.1 %4 \"result\", 4 bytes\n  sum = 36\n"), "{}", shown.out);
    }
    let shown = run(&store("OpCopyObject %6 %18"), &["--set", "1.0=i32:-7,zero,0xff", "--push", "f32:-2.5"]);
    assert!(shown.out.contains("  member 0 = 1\n  member 1 = -2.5\n"), "{}{}", shown.out, shown.err);
    let shown = run(DIVIDE, &["--set", "0.2=u32:9,1,2,4,5", "--spec", "7=0x14"]);
    assert!(shown.out.contains("  count = 9\n  values[0..4] = 20 10 5 4\n"), "{}{}", shown.out, shown.err);
}

#[test]
fn the_barrier_without_semantics_is_a_race() {
    for engine in ["machine", "reference"] {
        let shown = smallstep(&[&["run", "examples/spirv/race.spvasm", "--engine", engine], EIGHT].concat(), "");
        assert_eq!((shown.code, shown.out.as_str()), (5, ""), "{engine}: {}", shown.err);
        assert!(shown.err.starts_with("undefined[spirv/data-race]: ") && shown.err.contains("OpLoad"), "{engine}: {}", shown.err);
        assert!(shown.err.contains("\n  in %main, block %"), "{engine}: {}", shown.err);
        assert!(shown.err.contains("\n  at examples/spirv/race.spvasm:"), "{engine}: {}", shown.err);
    }
}

#[test]
fn undefined_behaviour_has_its_clause_and_every_place() {
    let args = ["--set", "0.2=u32:9,1,2,4,0", "--engine", "reference"];
    let shown = run(DIVIDE, &args);
    assert_eq!(shown.code, 5);
    let line = 1 + DIVIDE.trim_start().lines().position(|line| line.contains("OpUDiv")).expect("it divides");
    let lines: Vec<&str> = shown.err.lines().collect();
    assert!(lines[0].starts_with("undefined[spirv/division-by-zero]: %21 = OpUDiv "), "{}", shown.err);
    assert_eq!(lines[1], "  in %main, block %16, invocation (3,0,0), step 5");
    assert_eq!(lines[2..4], ["  source div.comp:12:3", &format!("  at -:{line}")]);
    assert!(lines[4].ends_with("│ %q = OpUDiv %u %k %d") && lines[5].ends_with("│ ^^^^^^^^^^^^^^^^^^^^"), "{}", shown.err);
    assert!(lines[6].starts_with("  SPIR-V §3.3.13, OpUDiv"), "{}", shown.err);

    let lines = run(DIVIDE, &[&args[..], &["--json"]].concat()).lines();
    let summary = lines.last().expect("a summary");
    let undefined = &summary["undefined"][0];
    assert_eq!((&summary["kind"], &summary["ending"], &summary["exit"]), (&json!("summary"), &json!("undefined"), &json!(5)));
    assert_eq!((&undefined["id"], &undefined["invocation"]), (&json!("spirv/division-by-zero"), &json!([3, 0, 0])));
    assert_eq!((&undefined["source"], &undefined["step"]), (&json!(["div.comp", 12, 3]), &json!(5)));
}

#[test]
fn several_are_collected_where_the_run_keeps_going() {
    // Invocation 1 divides by zero, and invocation 3 accesses an element beyond the array.
    let args = ["--set", "0.2=u32:9,1,0,4"];
    let count = |shown: &Shown| shown.err.matches("undefined[").count();
    assert_eq!(count(&run(DIVIDE, &args)), 1);
    let all = run(DIVIDE, &[&args[..], &["--keep-going"]].concat());
    assert_eq!((all.code, count(&all)), (5, 2), "{}", all.err);
    assert!(all.err.contains("[spirv/division-by-zero]") && all.err.contains("[spirv/access-out-of-bounds]"), "{}", all.err);
}

#[test]
fn an_undefined_value_is_any_value_and_says_who_made_it() {
    let module = store("OpUndef %6");
    let args = ["--set", "1.0=u32:1,2", "--push", "f32:1"];
    for engine in ["machine", "reference"] {
        let shown = run(&module, &[&args[..], &["--engine", engine]].concat());
        assert_eq!(shown.code, 0, "{engine}: {}", shown.err);
        let expected = "  member 0 = any value, made at %22 = OpUndef by invocation (0,0,0)\n  member 1 = 1\n";
        assert!(shown.out.contains(expected), "{engine}: {}", shown.out);
    }
    let lines = run(&module, &[&args[..], &["--json"]].concat()).lines();
    assert_eq!(lines[0]["elements"][0]["value"], "any");
    assert_eq!(
        lines[0]["undefined"][0],
        json!({"id": "spirv/undef", "start": 0, "end": 4, "made_at": "%22 = OpUndef", "made_by": [0, 0, 0]})
    );
}

#[test]
fn buffers_come_from_files_and_go_to_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("in"), [1u32, 1, 1, 1, 1, 1, 1, 3].map(u32::to_le_bytes).concat()).expect("written");
    let (set, out) = (format!("0.0={}", path("in")), format!("0.1={}", path("out")));
    let args = ["run", "examples/spirv/sum.spvasm", "--set", &set, "--set", "0.1=u8:zero*4", "--out", &out];
    assert_eq!(smallstep(&args, "").code, 0);
    assert_eq!(std::fs::read(path("out")).expect("it is there"), [10, 0, 0, 0]);

    let words = path("sum.bin");
    assert_eq!(smallstep(&["asm", "examples/spirv/sum.spvasm", "-o", &words], "").code, 0);
    let shown = smallstep(&[&["run", words.as_str()], EIGHT].concat(), "");
    assert!(shown.out.ends_with("sum = 36\n"), "words are known by their magic number: {}", shown.err);
}

#[test]
fn exit_codes_say_why_there_is_no_value() {
    let five = ["--set", "0.2=u32:9,1,2,4,5"];
    let code = |module: &str, args: &[&str]| run(module, &[&five[..], args].concat()).code;
    assert_eq!(code(DIVIDE, &[]), 0);
    assert_eq!(code(DIVIDE, &["--fuel", "5"]), 7);
    assert_eq!(code(DIVIDE, &["--engine", "reference", "--fuel", "5"]), 7);
    assert_eq!(code(DIVIDE, &["--groups", "100000,100000"]), 7, "more invocations than the limit");
    assert_eq!(code(DIVIDE, &["--engine", "machine", "--robustness", "rba2"]), 0);
    assert_eq!(code(DIVIDE, &["--engine", "no such adapter"]), 3);
    assert_eq!(code(&DIVIDE.replace("OpUDiv %u", "OpUDiv %v3"), &[]), 2, "ill typed");
    assert_eq!(code(&DIVIDE.replace("OpUDiv", "OpNoSuch"), &[]), 2, "not assembled");
    let robust = run(DIVIDE, &["--set", "0.2=u32:9,1,2,4", "--spec", "7=0", "--robustness", "rba2"]);
    assert!(robust.code == 5 && !robust.err.contains("note:"), "{}", robust.err);
}

/// Without `--fuel`. The limit of a minute holds on one core of a slow machine.
#[test]
fn an_endless_loop_in_one_invocation_ends_within_a_minute() {
    let text =
        "OpCapability Shader OpMemoryModel Logical GLSL450 OpEntryPoint GLCompute %main \"main\" OpExecutionMode %main LocalSize 1 1 1
        %void = OpTypeVoid %fn = OpTypeFunction %void %main = OpFunction %void None %fn %entry = OpLabel
        OpBranch %h %h = OpLabel OpLoopMerge %m %n None OpBranch %n %n = OpLabel OpBranch %h %m = OpLabel OpReturn OpFunctionEnd";
    let begun = std::time::Instant::now();
    let shown = smallstep(&["run", "-"], text);
    assert!(shown.code == 7 && shown.err.contains("out of fuel"), "{}: {}", shown.code, shown.err);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

#[test]
fn what_is_missing_or_malformed_is_named() {
    let set = ["--set", "0.2=u32:9,1,2,4,5"];
    for (args, said) in [
        (&[][..], "no buffer is given for %4 \"data\"; give --set 0.2=FILE"),
        (&["--set", "0.2=u8:1,2"], "the buffer for %4 \"data\" at 0.2 has 2 bytes; it needs 4"),
        (&["--set", "0.2"], "has no ="),
        (&["--set", "2=u32:1"], "\"2\" is no place"),
        (&["--set", "0.2=u33:1"], "no type of values is called \"u33\""),
        (&["--set", "0.2=u32:1,x"], "\"x\" is no 32-bit unsigned integer"),
        (&["--set", "0.2=no-such-file"], "no-such-file: "),
        (&["--set", "0.2=u32:1", "--set", "0.2=u32:1"], "two buffers are given for 0.2"),
        (&["--set", "5.2=u32:1"], "no variable has that descriptor set and binding"),
        (&[set[0], set[1], "--spec", "8=1"], "no constant has the SpecId 8; the module has 7"),
        (&[set[0], set[1], "--spec", "7=-1"], "\"-1\" for SpecId 7 is no 32-bit unsigned integer"),
        (&[set[0], set[1], "--groups", "1,2,3,4"], "no number of workgroups"),
        (&[set[0], set[1], "--schedule", "sorted"], "\"sorted\" is no schedule"),
        (&[set[0], set[1], "--schedule", "random:1", "--engine", "machine"], "--schedule is for the reference"),
        (&[set[0], set[1], "--out", "0.3=x"], "--out 0.3 is no storage buffer"),
        (&[set[0], set[1], "--entry", "other"], "no compute entry point is called \"other\"; there are main"),
        (&[set[0], set[1], "--size", "4x4"], "--size is for programs that run for pixels"),
    ] {
        let shown = run(DIVIDE, args);
        assert!(shown.code == 2 && shown.err.contains(said), "{args:?}: {} {}", shown.code, shown.err);
    }
    let shown = run(&store("OpUndef %6"), &["--set", "1.0=u64:0"]);
    assert!(shown.code == 2 && shown.err.contains("the push constants have 0 bytes; \"main\" needs 4"), "{}", shown.err);
    let shown = smallstep(&["run", "-", "--groups", "2"], "1");
    assert!(shown.code == 2 && shown.err.contains("--groups is for SPIR-V modules"), "{}", shown.err);
}

#[test]
fn fragment_modules_draw_a_screen() {
    let grid = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/spirv/grid.spvasm");
    let given = ["run", grid, "--input", "0=screen", "--push", "f32:2", "--size", "8x8"];
    let (machine, reference) = (smallstep(&given, ""), smallstep(&[&given[..], &["--engine", "reference"]].concat(), ""));
    assert!(machine.code == 0 && machine.err.is_empty(), "{}", machine.err);
    assert_eq!(machine.out, reference.out);
    // Two lines in each direction. At x = 1.5 / 8 · 2 = 0.375 the distance to a line is 0.125,
    // half of the 0.25 between pixels.
    let pixel = smallstep(&[&given[..], &["--pixel", "1,0"]].concat(), "");
    assert_eq!(pixel.out, "(1,0)  0.5 (0x3f000000)  0.5 (0x3f000000)  0.5 (0x3f000000)  1 (0x3f800000)\n");
    let traced = smallstep(&["trace", grid, "--input", "0=screen", "--push", "f32:2", "--size", "8x8", "--pixel", "1,0"], "");
    assert!(traced.code == 0 && traced.err.is_empty(), "{}", traced.err);
    assert!(traced.out.contains("spirv/derivative") && traced.out.ends_with("observed after 16 steps shown\n"), "{}", traced.out);
    for (args, code, said) in [
        (&["trace", grid, "--push", "f32:2", "--input", "0=screen", "--pixel", "4,0"][..], 2, "pixel (4,0) is outside of 4x4"),
        (&["run", grid, "--push", "f32:2"][..], 2, "give --input 0=f32:… or 0=screen"),
        (&["run", grid, "--input", "0=screen"], 2, "the push constants have 0 bytes; \"main\" needs 4"),
        (&["run", grid, "--input", "0=screen", "--push", "f32:2", "--groups", "2"], 2, "--groups is for compute modules"),
        (&["run", grid, "--input", "0=screen", "--push", "f32:2", "--fuel", "10"], 7, "fuel"),
    ] {
        let shown = smallstep(args, "");
        assert!(shown.code == code && shown.err.contains(said), "{args:?}: {} {}", shown.code, shown.err);
    }
}

#[test]
fn what_fragments_write_is_shown_by_type() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("data");
    let out = format!("0.2={}", file.display());
    let module = MARK.replace("VALUE", "OpCopyObject %u %at");
    let given = ["--set", "0.2=u32:zero*17", "--out", &out];
    let marks = "count = 16\n  marks[0..16] = 0 10 20 30 40 50 60 70 80 90 100 110 120 130 140 150\n";
    for engine in ["machine", "reference"] {
        let shown = run(&module, &[&given[..], &["--engine", engine]].concat());
        assert!(shown.code == 0 && shown.err.is_empty(), "{engine}: {}", shown.err);
        assert!(shown.out.starts_with("(0,0)  1 (0x3f800000)\n"), "{engine}: {}", shown.out);
        assert!(shown.out.ends_with(&format!(" \"data\", 68 bytes\n  {marks}")), "{engine}: {}", shown.out);
        let words: Vec<u32> = [16].into_iter().chain((0..16).map(|n| 10 * n)).collect();
        assert_eq!(std::fs::read(&file).expect("it is there"), words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<_>>());
        std::fs::remove_file(&file).expect("it was there");
        // One pixel of the picture is shown, and the buffers after the whole screen.
        let pixel = run(&module, &[&given[..], &["--engine", engine, "--size", "4x4", "--pixel", "3,0"]].concat());
        assert!(pixel.out.starts_with("(3,0)  1 (0x3f800000)\n0.2 ") && pixel.out.ends_with(marks), "{engine}: {}", pixel.out);
    }
    let lines = run(&module, &[&given[..], &["--json"]].concat()).lines();
    let kinds: Vec<&Value> = lines.iter().map(|line| &line["kind"]).collect();
    assert_eq!(kinds[15..], ["pixel", "output", "buffer", "summary"]);
    assert_eq!(lines[17]["elements"][4], json!({"path": "marks[3]", "value": "30", "made": null}));

    let undefined = MARK.replace("VALUE", "OpUndef %u");
    for engine in ["machine", "reference"] {
        let shown = run(&undefined, &[&given[..], &["--engine", engine]].concat());
        let made = shown.out.lines().find_map(|line| line.strip_prefix("  marks[1] = any value, made at %"));
        assert!(made.is_some_and(|made| made.ends_with(" = OpUndef by lane 1 of quad 0")), "{engine}: {}", shown.out);
        assert!(shown.err.contains("note: 64 bytes of 0.2 are any value"), "{engine}: {}", shown.err);
    }
    let lines = run(&undefined, &[&given[..], &["--json"]].concat()).lines();
    assert_eq!(lines[17]["undefined"][1]["made_by"], json!({"quad": 0, "lane": 1}));

    for (args, said) in [
        (&["--out", "0.3=x"][..], "--out 0.3 is no storage buffer of \"main\""),
        (&["--keep-going"], "--keep-going is for compute modules, and this draws"),
    ] {
        let shown = run(&module, &[&given[..2], args].concat());
        assert!(shown.code == 2 && shown.err.contains(said) && shown.out.is_empty(), "{args:?}: {} {}", shown.code, shown.err);
    }
}

#[test]
fn texels_that_fragments_write_are_shown() {
    let write = "OpCompositeConstruct %u2 %x %y\n%texel = OpCompositeConstruct %u4 %at %at %at %at\n%into = OpLoad %image %texels\n\
        OpImageWrite %into %value %texel";
    let module = MARK.replace("VALUE", write).replace("%mark = OpAccessChain %pu %buf %c1 %n\nOpStore %mark %value\n", "");
    let shown = run(&module, &["--set", "0.2=u32:zero", "--texture", "0.3=R32_UINT 4x4"]);
    assert!(shown.code == 0 && shown.err.is_empty(), "{}", shown.err);
    let rows = "0.3 R32_UINT, 4x4\n  (0) (10) (20) (30)\n  (40) (50) (60) (70)\n  (80) (90) (100) (110)\n  (120) (130) (140) (150)\n";
    assert!(shown.out.contains("  count = 16\n") && shown.out.ends_with(rows), "{}", shown.out);
}

#[test]
fn sections_out_of_order_are_for_lenient_loads() {
    let line = "OpName %buf \"data\"\n";
    let moved = DIVIDE.replace(line, "").replace("%void = OpTypeVoid\n", &format!("%void = OpTypeVoid\n{line}"));
    let args = ["--set", "0.2=u32:9,1,2,4,5", "--spec", "7=60"];
    assert_eq!(run(&moved, &args).code, 2);
    let shown = run(&moved, &[&args[..], &["--lenient"]].concat());
    assert!(shown.out.contains("values[0..4] = 60 30 15 12"), "{}{}", shown.out, shown.err);
}

#[test]
fn a_trace_shows_the_steps_that_are_asked_for() {
    let trace = |args: &[&str]| {
        smallstep(&[&["trace", "-", "--set", "1.0=u32:1,2", "--push", "f32:1"], args].concat(), store("OpUndef %6").trim_start())
    };
    let all = trace(&[]);
    let functions = |shown: &Shown| (shown.out.matches(" in %10, ").count(), shown.out.matches(" in %20, ").count());
    assert_eq!((all.code, functions(&all)), (0, (2, 8)), "{}", all.out);
    assert!(all.out.lines().any(|line| line.starts_with("0.0 1 [spirv/undef] %22 = OpUndef in %20, block %21")), "{}", all.out);
    for name in ["%20", "20", "store", "%store"] {
        assert_eq!(functions(&trace(&["--function", name])), (0, 8), "{name}");
    }
    assert_eq!(functions(&trace(&["--invocation", "0,0,0"])), (2, 8));
    assert_eq!(functions(&trace(&["--invocation", "1,0,0"])), (0, 0));
    let lines = trace(&["--json", "--function", "store"]).lines();
    assert_eq!(lines.len(), 9);
    assert_eq!((&lines[0]["opcode"], &lines[0]["result"], &lines[0]["function"]), (&json!("OpUndef"), &json!(22), &json!(20)));
    assert_eq!((&lines[8]["ending"], &lines[8]["steps"]), (&json!("observed"), &json!(8)));
    let shown = trace(&["--function", "other"]);
    assert!(shown.code == 2 && shown.err.contains("no function is called \"other\"; there are %10, %store"), "{}", shown.err);
    assert_eq!(trace(&["--pixel", "0,0"]).code, 2);
    assert_eq!(trace(&["--fuel", "3"]).code, 7);

    let shown = smallstep(&["trace", "-", "--set", "0.2=u32:9,1,2,4,0", "--invocation", "3,0,0"], DIVIDE.trim_start());
    assert_eq!((shown.code, shown.out.lines().count()), (5, 7), "six steps and how it ended: {}", shown.out);
    let with_place = |line: &str| line.contains("OpUDiv in %") && line.contains(", div.comp:12:3");
    assert!(shown.out.lines().any(with_place), "{}", shown.out);
    assert!(shown.out.lines().next().is_some_and(|line| !line.contains("div.comp")), "no line is said of it: {}", shown.out);
    assert!(shown.err.starts_with("undefined[spirv/division-by-zero]"), "{}", shown.err);
}

#[test]
fn check_says_that_a_module_is_for_run() {
    let shown = smallstep(&["check", "--device", "none", "examples/spirv/sum.spvasm"], "");
    assert_eq!(shown.code, 2);
    assert!(
        shown.out.contains("this is a SPIR-V module") && shown.out.contains("`smallstep run examples/spirv/sum.spvasm`"),
        "{}",
        shown.out
    );
    let shown = smallstep(&["check", "--device", "none", "examples"], "");
    assert!(shown.code == 0 && !shown.out.contains("spvasm"), "folders are searched for λV programs: {}", shown.out);
}

/// Each invocation fetches a texel, doubles it and writes it to another image.
const DOUBLE: &str = include_str!("common/modules/double.spvasm");

#[test]
fn images_are_given_and_shown() {
    let (from, to) = ("0.1=R8_UINT 2x2 1 2 3 4", "0.2=R32_UINT 2x2");
    let given = ["--texture", from, "--texture", to, "--groups", "1,1"];
    let shown = run(DOUBLE, &given);
    assert!(shown.code == 0 && shown.err.is_empty(), "{}{}", shown.out, shown.err);
    assert_eq!(shown.out, "0.2 R32_UINT, 2x2\n  (2) (4)\n  (any) (any)\n", "the second row was never written");
    for engine in ["machine", "reference"] {
        assert_eq!(run(DOUBLE, &[&given[..], &["--engine", engine]].concat()).out, shown.out, "{engine}");
    }
    for (args, said) in [
        (&["--texture", to][..], "no image is given for %"),
        (&["--texture", from, "--texture", to, "--texture", to], "two images are given for 0.2"),
        (&["--texture", from, "--texture", to, "--sampler", "0.3=linear"], "sampler is given for 0.3, and no variable"),
        (&["--texture", "0.1=R8_UINT 2x2 red"], "no texel"),
        (&["--texture", "0.1=no such file.png"], "no such file.png: "),
    ] {
        let shown = run(DOUBLE, args);
        assert!(shown.code == 2 && shown.err.contains(said), "{args:?}: {}", shown.err);
    }
    assert_eq!(run(DOUBLE, &["--texture", "0.1=R8_UNORM 2x2 1 2 3 4", "--texture", to]).code, 6, "another type of numbers");
}

const CHOSEN: &str = include_str!("common/modules/chosen.spvasm");

#[test]
fn the_elements_of_arrays_of_descriptors_are_given_in_order() {
    let module = include_str!("../spec-tests/spirv/descriptor-not-uniform-near-miss.spvasm");
    let given = ["--set", "0.0=u32:1,2", "--texture", "0.1=R32_UINT 1x1 50", "--texture", "0.1=R32_UINT 1x1 60"];
    let shown = run(module, &given);
    assert_eq!(shown.code, 0, "{}", shown.err);
    let images = "0.1[0] R32_UINT, 1x1\n  (50)\n0.1[1] R32_UINT, 1x1\n  (60)\n";
    assert!(shown.out.contains("[0..2] = 50 60\n") && shown.out.ends_with(images), "{}", shown.out);
    let json = run(module, &[&given[..], &["--json"]].concat());
    let lines = json.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let elements: Vec<Value> = lines.filter(|line| line["kind"] == "image").map(|line| line["array_element"].clone()).collect();
    assert_eq!(elements, [json!(0), json!(1)]);
    let third = ["--texture", "0.1=R32_UINT 1x1 70"];
    for (args, said) in [
        (&given[..4], "is an array of 2 descriptors, and 1 of the 2 images are given; give for each --texture 0.1="),
        (&[&given[..], &third].concat(), "more than 2 images are given for 0.1, an array of 2 descriptors"),
    ] {
        let shown = run(module, args);
        assert!(shown.code == 2 && shown.err.contains(said), "{args:?}: {}", shown.err);
    }
    let of_two =
        ["--size", "2x1", "--texture", "0.0=R8_UNORM 1x1 0", "--texture", "0.0=R8_UNORM 1x1 255", "--sampler", "0.0=", "--sampler", "0.0="];
    let drawn = run(CHOSEN, &of_two);
    assert!(drawn.out.starts_with("(0,0)  0 (0x00000000)") && drawn.out.contains("(1,0)  1 (0x3f800000)"), "{}{}", drawn.out, drawn.err);
    let undecorated = run(&CHOSEN.replace("OpDecorate %s NonUniform", ""), &of_two);
    assert!(undecorated.err.contains("undefined[spirv/descriptor-not-uniform]: "), "{}", undecorated.err);
    // The index is the same in each quad, and not in all of the draw.
    let by_quad = CHOSEN.replace("OpDecorate %s NonUniform", "").replace("OpBitwiseAnd %uint %n %u1", "OpShiftRightLogical %uint %n %u1");
    let by_quad = run(&by_quad, &[&["--size", "4x1"], &of_two[2..]].concat());
    assert!(by_quad.err.contains("undefined[spirv/descriptor-not-uniform]: "), "{}{}", by_quad.out, by_quad.err);
}

const DIMENSIONS: &str = include_str!("common/modules/dimensions.spvasm");

#[test]
fn images_with_layers_of_three_dimensions_and_cubes_are_given_and_shown() {
    let shown = |layers: &str, engine: &str| {
        let layers = format!("0.1=R32_UINT {layers} 1 2 3 4 5 6 7 8");
        let args = [
            ["--set", "0.0=u32:0,0,0,0,0", "--sampler", "0.2=nearest"],
            ["--texture", &layers, "--texture", "0.3=R32_UINT 3d 2x2x2 11 12 13 14 15 16 17 18"],
            ["--texture", "0.4=R32_UINT cube 1x1 21 22 23 24 25 26", "--texture", "0.5=R32_UINT 2x1 layers=2 31 32 33 34"],
        ];
        run(DIMENSIONS, &[&args.concat()[..], &["--engine", engine]].concat())
    };
    for engine in ["machine", "reference"] {
        let shown = shown("2x2 layers=2", engine);
        assert_eq!((shown.code, shown.err.as_str()), (0, ""));
        // Texel (1, 0) of layer 1, twice. Texel (1, 1, 1). The face at -z, which is the last.
        assert!(shown.out.contains("[0..5] = 6 6 18 26 2\n"), "{}", shown.out);
        assert!(shown.out.contains("0.3 R32_UINT, 2x2x2\n  (11) (12)\n  (13) (14)\n  (15) (16)\n  (90) (18)\n"), "{}", shown.out);
        assert!(shown.out.contains("0.5 R32_UINT, 2x1x2\n  (31) (32)\n  (33) (70)\n"), "{}", shown.out);
    }
    let shown = shown("2x2 levels=1", "machine");
    assert!(shown.code != 0 && shown.err.contains("0.1"), "{}{}", shown.out, shown.err);
}

const CUBES: &str = include_str!("common/modules/cubes.spvasm");

#[test]
fn cubes_with_layers_are_given_and_shown() {
    let cubes = |size: &str, count: u32| format!("0.1=R32_UINT {size} {}", (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(" "));
    let shown = |text: &str, engine: &str, cubes: &str| {
        let args = ["--set", "0.0=u32:0,0,0", "--sampler", "0.2=nearest", "--engine", engine, "--texture", cubes];
        run(text, &args)
    };
    for engine in ["machine", "reference"] {
        // The face at -y of the second cube, in the row on the side of +z, the column at +x. Then
        // i0j0 beside it.
        let two = shown(CUBES, engine, &cubes("cube 2x2 layers=2", 48));
        assert_eq!((two.code, two.err.as_str()), (0, ""));
        assert!(two.out.contains("[0..3] = 37 36 2\n"), "{}", two.out);
        // With one cube, the second cube is the first.
        let one = shown(CUBES, engine, &cubes("cube 2x2 layers=1", 24));
        assert!(one.out.contains("[0..3] = 13 12 1\n"), "{}", one.out);
    }
    let flat = shown(CUBES, "machine", &cubes("cube 2x2", 24));
    assert!(flat.code != 0 && flat.err.contains("0.1"), "{}{}", flat.out, flat.err);
    let wgsl = "@group(0) @binding(0) var<storage, read_write> shown: array<u32>;\n\
                @group(0) @binding(1) var cubes: texture_cube_array<u32>;\n\
                @group(0) @binding(2) var nearest: sampler;\n\
                @compute @workgroup_size(1)\nfn main() {\n\
                let four = textureGather(0, cubes, nearest, vec3(0.25, -1.0, 0.25), 1u);\n\
                shown[0] = four.z;\nshown[1] = four.w;\nshown[2] = textureNumLayers(cubes);\n}\n";
    let args = ["run", "-", "--language", "wgsl", "--set", "0.0=u32:0,0,0", "--sampler", "0.2=nearest", "--texture"];
    let shown = smallstep(&[&args[..], &[&cubes("cube 2x2 layers=2", 48)]].concat(), wgsl);
    assert!(shown.out.contains("[0..3] = 37 36 2\n"), "{}{}", shown.out, shown.err);
}

/// A report names the calls that the invocation is in, innermost first, with their lines. It does
/// not name calls that have returned.
#[test]
fn reports_list_the_calls() {
    let wgsl = "@group(0) @binding(0) var<storage, read_write> count: array<u32, 4>;\n\
                fn inner(i: u32) {\n    count[0] = i;\n}\n\
                fn outer(i: u32) {\n    if i > 1u {\n        inner(i);\n    }\n}\n\
                @compute @workgroup_size(4)\n\
                fn main(@builtin(local_invocation_index) i: u32) {\n    outer(i / 8u);\n    outer(i);\n}\n";
    for engine in ["machine", "reference"] {
        let args = ["run", "-", "--language", "wgsl", "--engine", engine, "--set", "0.0=u32:0*4"];
        let shown = smallstep(&args, wgsl);
        assert_eq!(shown.code, 5, "{engine}: {}{}", shown.out, shown.err);
        let at = |part: &str| shown.err.find(part).unwrap_or_else(|| panic!("{engine}: no {part:?} in {}", shown.err));
        let order = [
            "  in %inner, block %",
            "3 │ count[0] = i;",
            "\n  called in %outer, block %",
            "7 │ inner(i);",
            "\n  called in %main, block %",
            "13 │ outer(i);",
        ];
        assert!(order.map(at).is_sorted(), "{engine}: {}", shown.err);
        assert_eq!(shown.err.matches("called in").count(), 2, "{engine}: {}", shown.err);
        assert!(!shown.err.contains("i / 8u"), "{engine}: that call has returned: {}", shown.err);
        let summary = smallstep(&[&args[..], &["--json"]].concat(), wgsl).lines().pop().expect("a summary");
        let lines = summary["undefined"][0]["calls"].as_array().map(|calls| calls.iter().map(|call| call["source"][1].clone()).collect());
        assert_eq!(lines, Some(vec![json!(7), json!(13)]), "{engine}: {summary}");
    }
    let shown = smallstep(&[&["run", "examples/spirv/race.spvasm"], EIGHT].concat(), "");
    assert!(!shown.err.contains("called in"), "it is in no call: {}", shown.err);
}

/// A report of a race marks the source lines of both accesses, names the buffer and suggests a fix.
/// The source is assembly, WGSL in OpSource (naga writes it there), or debug information.
#[test]
fn reports_show_the_source() {
    let wgsl = "@group(0) @binding(0) var<storage, read_write> count: array<u32, 4>;\n\
                @compute @workgroup_size(4)\n\
                fn main(@builtin(local_invocation_index) i: u32) {\n    count[0] = i;\n}\n";
    for engine in ["machine", "reference"] {
        let shown = smallstep(&["run", "-", "--language", "wgsl", "--engine", engine, "--set", "0.0=u32:0*4"], wgsl);
        assert_eq!(shown.code, 5, "{engine}: {}{}", shown.out, shown.err);
        let line = "4 │ count[0] = i;";
        let marked = format!("{line}\n");
        assert_eq!(shown.err.matches(&marked).count(), 2, "{engine}, both places: {}", shown.err);
        assert!(shown.err.contains("│ ^"), "{engine}: {}", shown.err);
        assert!(shown.err.contains("in the buffer %count"), "{engine}: {}", shown.err);
        assert!(shown.err.contains("\n  help: make both accesses atomic"), "{engine}: {}", shown.err);
    }
    let shown = smallstep(&[&["run", "examples/spirv/race.spvasm"], EIGHT].concat(), "");
    assert!(shown.err.contains("75 │ ") && shown.err.contains("58 │ ") && shown.err.contains("│ ^^^"), "{}", shown.err);
    // DebugLine and DebugSource have the same effect as OpLine and OpSource.
    let constants: String = [2, 3, 9].map(|n| format!("%c{n} = OpConstant %u {n}\n")).concat();
    let source = "%source = OpExtInst %void %debug DebugSource %file %text\n";
    let debug = DIVIDE
        .replace(
            "OpMemoryModel",
            "OpExtension \"SPV_KHR_non_semantic_info\"\n%debug = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"\nOpMemoryModel",
        )
        .replace("\"div.comp\"\n", "\"div.comp\"\n%text = OpString \"first\n  x = a / b; // both\"\n")
        .replace("%c1 = OpConstant %u 1\n", &format!("%c1 = OpConstant %u 1\n{constants}{source}"))
        .replace("OpLine %file 12 3", "%line = OpExtInst %void %debug DebugLine %source %c2 %c2 %c3 %c9")
        .replace("OpNoLine", "%no_line = OpExtInst %void %debug DebugNoLine");
    let shown = run(&debug, &["--set", "0.2=u32:9,1,2,4,0"]);
    let excerpt = "\n  source div.comp:2:3\n    2 │ x = a / b; // both\n      │ ^^^^^^^^^\n";
    assert!(shown.code == 5 && shown.err.contains(excerpt), "{}", shown.err);
    let without = debug.lines().filter(|line| !line.contains("DebugLine")).collect::<Vec<_>>().join("\n");
    assert!(!run(&without, &["--set", "0.2=u32:9,1,2,4,0"]).err.contains("source "), "without lines there is no source");
}

/// `run` and `compare` take values of overrides by name and by id.
#[test]
fn overrides_of_wgsl_are_given_by_name() {
    let text = "override size: u32 = 2u;\n@id(7) override add: u32 = 1u;\n\
                @group(0) @binding(0) var<storage, read_write> out: u32;\n\
                @compute @workgroup_size(1) fn main() { out = size + add; }\n";
    let run = |args: &[&str]| smallstep(&[&["run", "-", "--language", "wgsl", "--set", "0.0=u32:0"], args].concat(), text);
    assert!(run(&[]).out.contains("= 3\n"), "{}", run(&[]).out);
    let shown = run(&["--spec", "size=40", "--spec", "7=2"]);
    assert!(shown.out.contains("= 42\n"), "{}{}", shown.out, shown.err);
    let shown = run(&["--spec", "other=1"]);
    assert!(shown.code == 2 && shown.err.contains("no override is called \"other\"; there are size, add"), "{}", shown.err);
}

/// `translate` shows naga's translation of WGSL as assembly, or writes it as words.
#[test]
fn translate_shows_what_naga_makes_of_wgsl() {
    let text = "@group(0) @binding(0) var<storage, read_write> out: u32;\n@compute @workgroup_size(1) fn main() { out = 7u; }\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a name").to_string();
    std::fs::write(path("a.wgsl"), text).expect("written");
    let shown = smallstep(&["translate", &path("a.wgsl")], "");
    assert!(shown.code == 0 && shown.out.contains("OpEntryPoint GLCompute"), "{}{}", shown.out, shown.err);
    assert_eq!(smallstep(&["translate", &path("a.wgsl"), "-o", &path("a.spvasm")], "").code, 0);
    assert_eq!(std::fs::read_to_string(path("a.spvasm")).expect("written"), shown.out);
    assert_eq!(smallstep(&["translate", &path("a.wgsl"), "-o", &path("a.spv")], "").code, 0);
    assert_eq!(smallstep(&["dis", &path("a.spv")], "").out, shown.out, "the words are those of the text");
    let ran = smallstep(&["run", &path("a.spvasm"), "--set", "0.0=u32:0"], "");
    assert!(ran.out.contains("= 7\n"), "{}{}", ran.out, ran.err);
}
