//! `smallstep call`, `trace` and `run` with WSL programs, on the command line.

use pretty_assertions::assert_eq;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn smallstep(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_smallstep")).args(arguments).output().expect("the binary runs")
}

/// Runs the command with the program on standard input.
fn with(program: &str, arguments: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_smallstep"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    child.stdin.take().expect("it is piped").write_all(program.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const VALUES: &str = "examples/wsl/values.wsl";

#[test]
fn the_calls_of_the_page_print_what_it_says() {
    let out = smallstep(&["call", VALUES, "median(3, 1, 2)", "at(7)", "1 / 0", "min(0.0, -0.0)", "frozen(1, 0)"]);
    assert_eq!(text(&out.stdout), "int 2\nint one of 10, 20, 30\nint unspecified\nfloat one of -0.0, 0.0\nbool true\n");
    assert_eq!(out.status.code(), Some(0));
    let page = std::fs::read_to_string("docs/wsl.md").expect("there is one");
    assert!(page.contains("int 2\nint one of 10, 20, 30\nint unspecified\nfloat one of -0.0, 0.0\n"));
}

#[test]
fn each_engine_and_strategy_answers() {
    for (arguments, expected) in
        [(&["--engine", "reference"][..], "int 2\n"), (&["--engine", "machine"], "int 2\n"), (&["--unspecified", "first"], "int 2\n")]
    {
        let mut all = vec!["call", VALUES, "median(1, 2, 3)"];
        all.extend(arguments);
        assert_eq!(text(&smallstep(&all).stdout), expected, "{arguments:?}");
    }
    let first = smallstep(&["call", VALUES, "at(7)", "--unspecified", "first"]);
    assert_eq!(text(&first.stdout), "int 10\n");
    // The machine does not carry unspecified values.
    assert_eq!(smallstep(&["call", VALUES, "at(7)", "--engine", "machine"]).status.code(), Some(6));
}

#[test]
fn wrong_calls_are_errors_with_places_in_the_expression() {
    let out = smallstep(&["call", VALUES, "median(3, 1)"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("error[wsl/t-call]") && text(&out.stderr).contains("the expression:1:1"), "{}", text(&out.stderr));
    for wrong in ["", "1; 2 3", "1; } void f() {", "median(3, 1, 2", "sum()", "median(2147483648, 1, 2)", "\u{1}", "/* open"] {
        let out = smallstep(&["call", VALUES, wrong]);
        assert_eq!(out.status.code(), Some(2), "{wrong:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).starts_with("error["), "{wrong:?}: {}", text(&out.stderr));
    }
    // An error in the program itself has its place in the program.
    let out = with("int f() { return x; }", &["call", "-", "f()"]);
    assert!(text(&out.stderr).contains("-:1:18"), "{}", text(&out.stderr));
}

#[test]
fn endless_and_large_calls_end() {
    let out = with("void f() { while (true) { } }", &["call", "-", "f()", "--fuel", "1000"]);
    assert_eq!((out.status.code(), text(&out.stdout).starts_with("out of fuel at 1:")), (Some(7), true));
    let out = with("int f() { int[4000000000] a; return a[0]; }", &["call", "-", "f()"]);
    assert_eq!((out.status.code(), text(&out.stdout).starts_with("limit exceeded")), (Some(7), true), "{}", text(&out.stdout));
    let deep = format!("int f(int x) {{ return {}x{}; }}", "(".repeat(5_000), ")".repeat(5_000));
    assert_eq!(text(&with(&deep, &["call", "-", "f(4)"]).stdout), "int 4\n");
    assert_eq!(text(&with(&deep, &["call", "-", "f(4)", "--engine", "reference"]).stdout), "int 4\n");
}

#[test]
fn a_trace_names_rules_places_and_events() {
    let out = smallstep(&["trace", VALUES, "--call", "at(1)"]);
    let lines = text(&out.stdout);
    assert!(lines.contains("wsl/e-call-resolve"), "{lines}");
    assert!(lines.lines().any(|l| l.contains("wsl/e-assign-execute") && l.contains("store") && l.contains("0x14")), "{lines}");
    assert_eq!(lines.lines().last(), Some("int 20"));
    assert_eq!(smallstep(&["trace", VALUES]).status.code(), Some(2));
}

#[test]
fn a_dispatch_shows_its_buffers() {
    let out = smallstep(&["run", VALUES, "--groups", "2", "--set", "0.0=u32:1,2,3,4,10,20,30,40", "--bind", "sums=u32:0,0"]);
    assert_eq!(
        text(&out.stdout),
        "data (u0): uint[8] { 1, 2, 3, 4, 10, 20, 30, 40 }\nsums (u1): uint[2] { 10, 100 }\n",
        "{}",
        text(&out.stderr)
    );
    let out = smallstep(&["run", VALUES]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("nothing is given for data (u0)"), "{}", text(&out.stderr));
    for wrong in ["--bind=other=u32:1", "--set=3.1=u32:1", "--bind=data=u8:1,2,3", "--entry=nothing"] {
        assert_eq!(smallstep(&["run", VALUES, wrong]).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn textures_and_samplers_are_given_and_shown() {
    const BLUR: &str = "examples/wsl/blur.wsl";
    let picture = "--bind=picture=R32_SFLOAT 2x2 0 0x3f800000 0x3f800000 0x40000000";
    let (filters, out) = ("--bind=filters=linear edge", "--bind=u0=R8_UNORM 2x2");
    let shown = "out (u0): RWTexture2D<float>, R8_UNORM, 2x2\n  0.5019608 1.0\n  1.0 1.0\n";
    let found = smallstep(&["run", BLUR, picture, filters, out]);
    assert_eq!(text(&found.stdout), shown, "{}", text(&found.stderr));
    // There is only one sampler at its place, but two textures at theirs.
    let found = smallstep(&["run", BLUR, picture, "--sampler=0.0=linear edge", out, "--json"]);
    let first = text(&found.stdout).lines().next().unwrap_or_default().to_string();
    assert!(first.contains("\"size\":[2,2,1]") && first.contains("\"texels\":[\"0.5019608\",\"1.0\""), "{first}");
    for (given, says) in [
        (&[filters, out][..], "nothing is given for picture (t0): write --bind 'picture=R8G8B8A8_UNORM 4x4'"),
        (&[picture, out], "nothing is given for filters (s0): write --bind 'filters=linear edge'"),
        (&[picture, filters, "--texture=0.0=R8_UNORM 2x2"], "several resources are at 0.0; say which with --bind: picture (t0), out (u0)"),
        (
            &[picture, filters, "--bind=out=R8_UINT 2x2"],
            "for the texture out: the image is of R8_UINT, which has other numbers than the type float",
        ),
        (&[picture, filters, "--bind=out=R8_UNORM cube 2x2"], "a cube (`cube NxN`); a RWTexture2D is of two dimensions"),
        (&[picture, filters, "--bind=out=R8_UNORM 2x2 levels=2"], "for the texture out: the image is of 2 levels; a RWTexture2D has one"),
        (
            &[picture, out, "--bind=filters=sharp"],
            "for the sampler filters: `sharp` says nothing of a sampler; nearest, linear, repeat, mirrored, edge, border, unnormalized, mag=",
        ),
        (
            &[picture, out, "--bind=filters=colour=red"],
            "no border colour is called `red`; there are transparent-black, opaque-black, opaque-white",
        ),
        (&["--bind=picture=u32:1", filters, out], "for the texture picture: no format is called `u32:1`; there are R8_UNORM"),
        (&["--bind=picture=none.png", filters, out], "none.png"),
        (&[picture, picture, filters, out], "the resource picture is given twice"),
        (&["--set=0.0=u32:1", picture, filters, out], "the entry point takes no such resource at 0.0"),
    ] {
        let found = smallstep(&[&["run", BLUR], given].concat());
        assert_eq!(found.status.code(), Some(2), "{given:?}");
        assert!(text(&found.stderr).contains(says), "{given:?}: {}", text(&found.stderr));
    }
}

#[test]
fn standard_input_and_files_called_whlsl_are_wsl() {
    let program = "// a comment\nstruct S { int a; }\nint S(int a) { return a; }\n";
    let typed = with(program, &["type", "-"]);
    assert_eq!(text(&typed.stdout), "int S(int) : {Return}\n", "{}", text(&typed.stderr));
    let checked = with(program, &["check", "-"]);
    assert!(text(&checked.stdout).starts_with("valid      standard input: 1 functions"), "{}", text(&checked.stdout));
    let wrong = with("int f() { return true; }", &["check", "-"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stdout).contains("error[wsl/v-function-return]"), "{}", text(&wrong.stdout));
    // A λV program is still read as λV.
    assert_eq!(text(&with("; a comment\n(+ 1 2)", &["type", "-"]).stdout), "Num\n");
    let folder = std::env::temp_dir().join(format!("smallstep-whlsl-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder is made");
    std::fs::write(folder.join("a.whlsl"), program).expect("it is written");
    let checked = smallstep(&["check", &folder.display().to_string()]);
    assert!(text(&checked.stdout).contains("a.whlsl: 1 functions"), "{} {}", text(&checked.stdout), text(&checked.stderr));
    std::fs::remove_dir_all(&folder).expect("the folder is there");
}

#[test]
fn races_and_barriers_that_are_not_reached_are_told() {
    let races = "[numthreads(2, 1, 1)] compute void f(device uint[] out : register(u0), uint lane : SV_GroupIndex) { out[0] = lane; }";
    let out = with(races, &["run", "-", "--bind", "out=u32:7"]);
    assert_eq!(text(&out.stdout), "out (u0): uint[1] { one of 0, 1 }\n");
    let checked = with(races, &["check", "-"]);
    assert!(text(&checked.stdout).contains("nothing executed; left out: 2 racing"), "{}", text(&checked.stdout));
    assert_eq!(checked.status.code(), Some(0));
    let folder = std::env::temp_dir().join(format!("smallstep-wsl-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder is made");
    let file = folder.join("race.wsl");
    std::fs::write(&file, races).expect("it is written");
    let out = smallstep(&["run", &file.display().to_string(), "--bind", "out=u32:7"]);
    assert_eq!(text(&out.stdout), "out (u0): uint[1] { one of 0, 1 }\n");
    assert!(text(&out.stderr).starts_with("race: the store of thread 0"), "{}", text(&out.stderr));
    std::fs::write(
        &file,
        "[numthreads(2, 1, 1)] compute void f(uint lane : SV_GroupIndex) { if (lane == 0) AllMemoryBarrierWithGroupSync(); }",
    )
    .expect("it is written");
    let name = file.display().to_string();
    let out = smallstep(&["run", &name]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).starts_with("error[uniformity/flow-need]: this barrier needs control flow that is uniform in the workgroup"));
    let out = smallstep(&["run", &name, "--uniformity", "warn"]);
    assert_eq!(out.status.code(), Some(5));
    assert!(text(&out.stderr).starts_with("warning[uniformity/flow-need]: "), "{}", text(&out.stderr));
    let out = smallstep(&["run", &name, "--uniformity", "off"]);
    assert_eq!(out.status.code(), Some(5));
    assert!(text(&out.stderr).contains("thread 0 waits at the barrier") && text(&out.stderr).contains("thread 1 has ended"));
    std::fs::remove_dir_all(&folder).expect("the folder is there");
}

#[test]
fn uniformity_is_judged_and_explained() {
    let case = |name: &str| format!("spec-tests/uniformity/{name}.wsl");
    let out = smallstep(&["uniformity", &case("flow-merge")]);
    assert_eq!(out.status.code(), Some(2));
    let said = text(&out.stdout);
    for part in
        ["called in uniform control flow (barrier)", "4: this is `SV_GroupIndex`, which differs", "rejected by the precise analysis: "]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    let out = smallstep(&["uniformity", &case("u-13-flow"), "--mode", "precise"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stdout));
    let out = smallstep(&["uniformity", &case("u-13-flow"), "--mode", "seed", "--json"]);
    assert_eq!(out.status.code(), Some(2));
    let lines: Vec<serde_json::Value> =
        text(&out.stdout).lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    assert_eq!(kinds, ["function", "rejection", "summary"]);
    assert_eq!((&lines[1]["need"], &lines[2]["verdict"]), (&"barrier".into(), &"rejected".into()));
    assert!(lines[1]["steps"].as_array().is_some_and(|steps| steps.len() > 2 && steps.iter().all(|step| step["at"]["line"].is_u64())));

    let folder = std::env::temp_dir().join(format!("smallstep-uniformity-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder is made");
    let place = |name: &str| folder.join(name).display().to_string();
    for mode in ["seed", "precise"] {
        for (file, begins) in [("g.dot", "digraph uniformity {"), ("g.svg", "<svg ")] {
            smallstep(&["uniformity", &case("flow-merge"), "--mode", mode, "--graph", &place(file)]);
            let written = std::fs::read_to_string(place(file)).expect("it is written");
            assert!(written.starts_with(begins) && written.contains("cannot be uniform") | written.contains("differs"), "{written}");
        }
    }
    let out = smallstep(&["uniformity", &case("flow-merge"), "--graph", &place("g.png")]);
    assert!(text(&out.stderr).contains("takes a file that ends in .dot or .svg"), "{}", text(&out.stderr));
    let out = smallstep(&["uniformity", &case("flow-merge"), "--graph", &place("g.dot"), "--function", "none"]);
    assert!(text(&out.stderr).contains("no function is called \"none\""), "{}", text(&out.stderr));

    // The translated module is judged like the program.
    let module = place("m.spvasm");
    let out = smallstep(&["translate", &case("flow-merge"), "-o", &module]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).starts_with("error[uniformity/flow-need]: "), "{}", text(&out.stderr));
    assert_eq!(smallstep(&["translate", &case("flow-merge"), "--uniformity", "off", "-o", &module]).status.code(), Some(0));
    let out = smallstep(&["uniformity", &module]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stdout).contains("in entry point `main`, this barrier needs control flow"), "{}", text(&out.stdout));
    assert_eq!(smallstep(&["uniformity", &module, "--mode", "seed"]).status.code(), Some(2));
    assert_eq!(smallstep(&["uniformity", "examples/mandelbrot.lv"]).status.code(), Some(2));
    std::fs::remove_dir_all(&folder).expect("the folder is there");
}

const TRIANGLE: &str = "examples/wsl/triangle.wsl";

#[test]
fn fragments_are_drawn_alone_and_behind_vertices() {
    let out = smallstep(&["run", TRIANGLE, "--entry", "contour", "--input", "0=screen", "--size", "2x1", "--unspecified", "first"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    // The heights are 5/16 and 13/16, so 8 times the height is a half from an integer. It changes
    // by 4 to the right, and by 16 to the helper invocations below, at 1.5.
    assert_eq!(text(&out.stdout), "(0,0)  float4(0.025, 0.025, 0.025, 1.0)\n(1,0)  float4(0.025, 0.025, 0.025, 1.0)\n");
    let data = ["--attribute", "0=f32:-1,-1,3,-1,-1,3", "--attribute", "1=f32:1,0,0,1,0,0,1,0,0"];
    let drawn = |more: &[&str]| {
        smallstep(&[&["run", TRIANGLE, "--entry", "shade", "--vertex", "corner", "--size", "1x1"], &data[..], more].concat())
    };
    assert_eq!(text(&drawn(&[]).stdout), "(0,0)  float4(1.0, 0.0, 0.0, 1.0)\n");
    assert_eq!(text(&drawn(&["--depth"]).stdout), "(0,0)  float4(1.0, 0.0, 0.0, 1.0)\ndepth (0,0)  0.5\n");
    assert_eq!(
        text(&drawn(&["--vertices=0"]).stderr).lines().next().unwrap_or_default(),
        "error[wsl/d-attribute]: 6 floats are given for attribute(0); `position` of type float2 needs 0 floats for 0 vertices"
    );
    let json = text(&drawn(&["--json"]).stdout);
    assert!(
        json.lines().next().is_some_and(|l| l.contains("\"value\":\"float4(1.0, 0.0, 0.0, 1.0)\""))
            && json.contains("\"kind\":\"summary\""),
        "{json}"
    );
    let picture = std::env::temp_dir().join(format!("smallstep-wsl-{}.png", std::process::id()));
    let out =
        smallstep(&["run", TRIANGLE, "--entry=contour", "--input=0=screen", "--size=32x32", "--image", &picture.display().to_string()]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(text(&out.stdout).starts_with("output 0: ") && std::fs::read(&picture).is_ok_and(|bytes| bytes.starts_with(b"\x89PNG")));
    std::fs::remove_file(&picture).expect("it was written");
}

#[test]
fn what_is_wrong_with_a_draw_is_said() {
    let wrong = [
        (&["--entry=corner"][..], "corner is a vertex entry point; it is drawn by --entry FRAGMENT --vertex corner"),
        (&[], "there are several fragment entry points: shade, contour"),
        (&["--entry=none"], "no entry point is called none; there are: corner (vertex), shade (fragment), contour (fragment)"),
        (&["--entry=shade", "--vertex=none"], "no vertex entry point is called none; there are: corner"),
        (
            &["--entry=shade", "--vertex=corner", "--input=0=screen"],
            "an input is given for attribute 0, which the vertex entry point gives",
        ),
        (&["--entry=shade", "--vertices=3"], "a number of vertices are given, and no vertex entry point"),
        (&["--entry=shade", "--vertex=corner", "--topology=triangle-strip"], "strips and fans are not supported by WSL"),
        (&["--entry=shade", "--vertex=corner", "--topology=blob"], "\"blob\" is no topology"),
        (
            &["--entry=shade", "--vertex=corner"],
            "error[wsl/d-attribute]: nothing is given for attribute(0), which is `position` of type float2",
        ),
        (&["--entry=shade", "--vertex=corner", "--attribute=0=u32:0*6"], "6 uints are given for attribute(0)"),
        (&["--entry=shade", "--vertex=corner", "--attribute=0=f32:0", "--attribute=0=f32:0"], "attribute 0 is given twice"),
        (&["--entry=shade", "--vertex=corner", "--attribute=0=f64:0"], "attribute 0 is written as f64; attributes are f32, u32 or i32"),
        (&["--entry=shade", "--vertex=corner", "--attribute=0=screen"], "attribute 0 of vertices is no place on the screen"),
        (&["--entry=contour"], "error[wsl/d-attribute]: nothing is given for attribute(0), which is `place`"),
        (&["--entry=contour", "--input=0=screen", "--output=3"], "no result SV_Target 3"),
        (&["--entry=contour", "--input=0=screen", "--spec=x=1"], "no specialization constant of contour is called x; there is none"),
        (&["--entry=contour", "--input=0=screen", "--groups=2"], "--groups is for compute entry points"),
    ];
    for (arguments, said) in wrong {
        let out = smallstep(&[&["run", TRIANGLE], arguments].concat());
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains(said), "{arguments:?}: {}", text(&out.stderr));
    }
    let out = smallstep(&["run", VALUES, "--entry=sum", "--vertices=3"]);
    assert!(text(&out.stderr).contains("--vertices is for draws, and this is a compute entry point"), "{}", text(&out.stderr));
}

#[test]
fn the_draw_of_the_page_prints_what_it_says() {
    let page = std::fs::read_to_string("docs/wsl.md").expect("there is one");
    let (_, rest) = page.split_once("$ smallstep run examples/wsl/triangle.wsl").expect("the page draws");
    let (arguments, shown) = rest.split_once('\n').expect("it shows what is printed");
    let arguments: Vec<&str> = ["run", TRIANGLE].into_iter().chain(arguments.split_whitespace()).collect();
    let shown = shown.split("```").next().unwrap_or_default();
    let (shown, _) = shown.split_once("note: ").expect("it shows what standard error has");
    assert_eq!(text(&smallstep(&arguments).stdout), shown);
}

/// Requires this exit code and this part of the output, for bad input.
fn said(arguments: &[&str], code: i32, part: &str) {
    let out = smallstep(arguments);
    let printed = text(&out.stdout) + &text(&out.stderr);
    assert_eq!(out.status.code(), Some(code), "{arguments:?}: {printed}");
    assert!(printed.contains(part), "{arguments:?}: {printed:?} lacks {part:?}");
}

#[test]
fn an_expression_may_begin_with_a_minus_sign() {
    let out = smallstep(&["call", VALUES, "-5 + 3", "-2147483648", "-(1.5)", "--engine", "reference"]);
    assert_eq!(text(&out.stdout), "int -2\nint -2147483648\nfloat -1.5\n", "{}", text(&out.stderr));
    let out = smallstep(&["trace", VALUES, "--call", "-5 + 3"]);
    assert_eq!(text(&out.stdout).lines().last(), Some("int -2"), "{}", text(&out.stderr));
}

#[test]
fn what_a_program_lacks_at_its_end_is_not_missed_in_the_expression() {
    for (program, place) in
        [("int f() { return 1;", "-:1:20"), ("int f() { return 1; } struct S { int a;", "-:1:40"), ("int f() { return 1; } /* x", "-:1:23")]
    {
        let out = with(program, &["call", "-", "f()"]);
        assert_eq!(out.status.code(), Some(2));
        let printed = text(&out.stderr);
        assert!(printed.contains(place) && !printed.contains("the expression"), "{printed}");
    }
}

#[test]
fn bad_values_of_options_are_told() {
    said(&["call", VALUES, "at(7)", "--ways", "0"], 2, "one at least is followed");
    said(&["call", VALUES, "at(7)", "--fuel", "0"], 7, "out of fuel");
    said(&["call", VALUES, "at(7)", "--fuel", "99999999999999999999999"], 2, "too large");
    said(&["call", VALUES, "at(7)", "--unspecified", "random:x"], 2, "is no seed");
    said(&["call", VALUES, "at(7)", "--precision", "loose"], 2, "no profile is called");
    said(&["call", "/nowhere.wsl", "1"], 2, "No such file");
    said(&["call", VALUES, "median(99999999999999999999, 1, 2)"], 2, "no function `median` takes the arguments");
    said(&["trace", VALUES, "--call", ""], 2, "one expression is expected");
}

#[test]
fn a_grid_takes_what_is_its_own() {
    let given = ["run", VALUES, "--set", "0.0=u32:1,2,3,4", "--bind", "sums=u32:0"];
    let with = |more: &[&'static str]| given.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>();
    said(&with(&[]), 0, "sums (u1): uint[1] { 10 }");
    said(&with(&["--engine", "reference"]), 0, "{ 10 }");
    said(&with(&["--engine", "machine"]), 0, "{ 10 }");
    said(&with(&["--engine", "machine", "--order", "all"]), 6, "the machine runs threads in order");
    said(&with(&["--engine", "machine", "--fuel", "1"]), 7, "out of fuel");
    said(&with(&["--engine", "spirv"]), 6, "not on spirv");
    for (option, value) in
        [("--push", "u32:1"), ("--schedule", "round-robin"), ("--buffer", VALUES), ("--out", "0.0=/tmp/none"), ("--route", "naga")]
    {
        said(&with(&[option, value]), 2, &format!("{option} is for SPIR-V modules, and this is a WSL program"));
    }
    said(&with(&["--bind", "u0=u32:1"]), 2, "is given twice");
    said(&with(&["--groups", "4294967295,4294967295,4294967295"]), 7, "more than 65536 threads");
    said(&with(&["--fuel", "0"]), 7, "out of fuel");
    said(&with(&["--ways", "0"]), 2, "one at least is followed");
    said(&with(&["--spec", "scale=1"]), 2, "no specialization constant of sum is called scale; there is none");
    said(&with(&["--spec", "scale"]), 2, "gives no specialization constant a value");
    said(&["run", VALUES, "--bind", "data=u8:1,2,3", "--bind", "sums=u32:0"], 2, "3 bytes are given for data");
    said(&["run", VALUES, "--bind", "data=u32:zero*99999999999", "--bind", "sums=u32:0"], 2, "makes more than");
}

#[test]
fn a_dispatch_is_traced_thread_by_thread() {
    let given = ["trace", VALUES, "--set", "0.0=u32:1,2,3,4", "--bind", "sums=u32:0"];
    let with = |more: &[&'static str]| {
        let out = smallstep(&given.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>());
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        text(&out.stdout)
    };
    let all = with(&[]);
    assert!(all.ends_with("sums (u1): uint[1] { 10 }\n"), "{all}");
    assert!(all.lines().any(|l| l.contains(" t3 ") && l.contains("wsl/e-barrier") && l.contains("fence of threadgroup memory")), "{all}");
    let one = with(&["--thread", "2", "--order", "round-robin"]);
    assert!(one.lines().count() > 50 && one.lines().all(|l| l.contains(" t2 ") || l.contains("uint[")), "{one}");
    assert_eq!(with(&["--order", "random:3", "--json"]), with(&["--order", "random:3", "--json"]));
    said(&["trace", TRIANGLE], 2, "without compute entry point is traced by a call");
    said(&["trace", VALUES], 2, "nothing is given for data");
    said(
        &["trace", VALUES, "--set", "0.0=u32:1,2,3,4", "--bind", "sums=u32:0", "--fuel", "9"],
        7,
        "out of fuel: the threads took 9 steps; thread 0",
    );
}

#[test]
fn bytes_that_are_no_program_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("it is written");
        path.display().to_string()
    };
    let binary = file("binary.wsl", &[0x7f, b'E', b'L', b'F', 0xff, 0xfe]);
    said(&["call", &binary, "1"], 2, "no UTF-8 text (at byte 4)");
    said(&["run", &binary], 2, "no UTF-8 text (at byte 4)");
    said(&["call", &file("empty.wsl", b""), "1 + 1"], 0, "int 2");
    said(&["run", &file("empty.wsl", b"")], 2, "no compute entry point");
    let nested = format!("int f() {{ return {}1{}; }}", "(".repeat(1_000_000), ")".repeat(1_000_000));
    said(&["call", &file("nested.wsl", nested.as_bytes()), "f()"], 2, "nested more than 10000 deep");
    let sum = file("sum.wsl", format!("int f(int x) {{ return x{}; }}", " + x".repeat(199_999)).as_bytes());
    said(&["call", &sum, "f(1)"], 0, "int 200000");
    said(
        &["call", &sum, "f(1)", "--engine", "reference"],
        7,
        "more than 16384 expressions in one another, which only the machine executes",
    );
    said(&["check", "--device", "none", &sum], 0, "1 valid");
    let doubled: String = (1..60).map(|i| format!("struct S{i} {{ S{} a; S{} b; }} ", i - 1, i - 1)).collect();
    let doubled = format!("struct S0 {{ int a; int b; }} {doubled} int f() {{ S59 s; return 1; }}");
    said(&["call", &file("doubled.wsl", doubled.as_bytes()), "f()"], 7, "limit exceeded");
    let calls: String = (1..60).map(|i| format!("int f{i}(int x) {{ return f{}(x) + f{}(x); }} ", i - 1, i - 1)).collect();
    let calls = format!("int f0(int x) {{ return x; }} {calls}");
    said(&["call", &file("calls.wsl", calls.as_bytes()), "f59(1)", "--fuel", "10000"], 7, "out of fuel at 1:");
}

#[test]
fn wsl_vectors_go_out_and_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("v.jsonl").display().to_string();
    said(&["vectors", "--format", "wsl", "--count", "8", "-o", &file], 0, "8 cases of");
    said(&["replay", &file], 0, "reference, machine and spirv: 8 agree");
    said(&["replay", &file, "--engine", "machine"], 0, "machine: 8 agree");
    said(&["replay", &file, "--engine", "spirv-reference"], 2, "spirv on the words that cases carry");
    said(&["replay", &file, "--adapter", "0"], 2, "no device runs WSL");
    said(&["vectors", VALUES, "at(7)", "-o", &file], 2, "are recorded with --format wsl");
    said(&["vectors", "--format", "wsl", VALUES, "nobody(1)", "-o", &file], 2, "there is no function `nobody`");
    said(&["vectors", "--format", "wsl", "--count", "8", "--size", "2x2", "-o", &file], 2, "--size is for λV programs");
    said(&["vectors", "--format", "wsl", VALUES, "at(7)", "median(3, 1, 2)", "-o", &file], 0, "2 lanes decided");
    let dispatch = ["vectors", "--format", "wsl", VALUES, "--groups", "2", "--bind", "data=u32:1*8", "--bind", "sums=u32:0,0", "-o", &file];
    said(&dispatch, 0, "10 lanes decided");
    said(&["replay", &file], 0, "1 agree");
    // If a recording fails, the existing file is unchanged.
    let before = std::fs::read(&file).expect("it is there");
    said(&["vectors", "--format", "wsl", VALUES, "-o", &file], 2, "nothing is given for data");
    assert_eq!(std::fs::read(&file).expect("it is still there"), before);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing lies beside it");
    said(&["vectors", "--format", "wsl", VALUES, "at(7)", "-o", "/dev/null"], 0, "1 lanes decided");
    let picture = "--bind=picture=R32_SFLOAT 2x2 0 0x3f800000 0x3f800000 0x40000000";
    let blur =
        ["vectors", "--format", "wsl", "examples/wsl/blur.wsl", picture, "--bind=s0=linear edge", "--bind=u0=R8_UNORM 2x2", "-o", &file];
    said(&blur, 0, "4 lanes decided");
    said(&["replay", &file], 0, "1 agree");
    let written = std::fs::read_to_string(&file).expect("it is there");
    std::fs::write(&file, written.replace("\"linear\"", "\"nearest\"")).expect("it is written");
    said(&["replay", &file], 1, "`out`, texel (0, 0, 0), component 0: expected ");
    said(&[&blur[..4], &["--bind=picture=none.png", "-o", &file]].concat(), 2, "none.png");
    said(&["vectors", "--format", "wsl", VALUES, "at(7)", "median(3, 1, 2)", "-o", &file], 0, "2 lanes decided");
    let written = std::fs::read_to_string(&file).expect("it is there");
    std::fs::write(&file, written.replace("\"00000002\"", "\"00000003\"")).expect("it is written");
    said(&["replay", &file], 1, "`median(3, 1, 2)`, scalar 0: expected 00000003, saw 00000002");
}

#[test]
fn a_second_run_prints_the_same_trace() {
    let trace =
        || text(&smallstep(&["trace", VALUES, "--call", "at(7) + median(1 / 0, 2, 3)", "--unspecified", "random:5", "--json"]).stdout);
    let first = trace();
    assert!(first.lines().count() > 20, "{first}");
    assert_eq!(first, trace());
}

#[test]
fn the_machine_draws_and_samples_as_the_reference_does() {
    let triangle = [
        "run",
        "examples/wsl/triangle.wsl",
        "--entry",
        "shade",
        "--vertex",
        "corner",
        "--size",
        "4x3",
        "--attribute",
        "0=f32:-1,-1,1,-1,-1,1",
        "--attribute",
        "1=f32:1,0,0,0,1,0,0,0,1",
    ];
    let blur = [
        "run",
        "examples/wsl/blur.wsl",
        "--bind",
        "picture=R32_SFLOAT 2x2 0 0x3f800000 0x3f800000 0x40000000",
        "--bind",
        "filters=linear edge",
        "--bind",
        "out=R8_UNORM 2x2",
    ];
    for arguments in [&triangle[..], &blur] {
        let slow = smallstep(arguments);
        let fast = smallstep(&[arguments, &["--engine", "machine"]].concat());
        assert_eq!((slow.status.code(), fast.status.code()), (Some(0), Some(0)), "{}", text(&fast.stderr));
        assert_eq!(text(&fast.stdout), text(&slow.stdout));
        assert!(text(&fast.stderr).contains("no races were looked for"), "{}", text(&fast.stderr));
    }
    said(&[&triangle[..], &["--engine", "machine", "--precision", "strict"]].concat(), 6, "the machine has no sets");
    said(&[&triangle[..], &["--engine", "machine", "--fuel", "3"]].concat(), 7, "out of fuel");
}

#[test]
fn an_expression_and_the_program_are_blamed_by_their_places() {
    let out = smallstep(&["call", VALUES, "int x = 1; median(x, true, 2)"]);
    let said = text(&out.stderr);
    assert!(said.contains("the expression:1:12") && said.contains("int median(") && said.contains("values.wsl:"), "{said}");
    assert_eq!(text(&smallstep(&["call", VALUES, "int x = 1; median(x, 3, 2);"]).stdout), "int 2\n");
}
