//! `smallstep call`, `trace` and `run` of WSL programs, as a user types them.

use pretty_assertions::assert_eq;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn smallstep(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_smallstep")).args(arguments).output().expect("the binary runs")
}

/// With the program on standard input.
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
fn the_readme_s_calls_print_what_it_says() {
    let out = smallstep(&["call", VALUES, "median(3, 1, 2)", "at(7)", "1 / 0", "min(0.0, -0.0)", "frozen(1, 0)"]);
    assert_eq!(text(&out.stdout), "int 2\nint one of 10, 20, 30\nint unspecified\nfloat one of -0.0, 0.0\nbool true\n");
    assert_eq!(out.status.code(), Some(0));
    let readme = std::fs::read_to_string("README.md").expect("there is one");
    assert!(readme.contains("int 2\nint one of 10, 20, 30\nint unspecified\nfloat one of -0.0, 0.0\n"));
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
    // What is unspecified and carried is not the machine's.
    assert_eq!(smallstep(&["call", VALUES, "at(7)", "--engine", "machine"]).status.code(), Some(6));
}

#[test]
fn wrong_calls_are_errors_with_places_in_the_expression() {
    let out = smallstep(&["call", VALUES, "median(3, 1)"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("error[wsl/t-call]") && text(&out.stderr).contains("the expression:1:1"), "{}", text(&out.stderr));
    for wrong in ["", "1;", "1; } void f() {", "median(3, 1, 2", "sum()", "median(2147483648, 1, 2)", "\u{1}", "/* open"] {
        let out = smallstep(&["call", VALUES, wrong]);
        assert_eq!(out.status.code(), Some(2), "{wrong:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).starts_with("error["), "{wrong:?}: {}", text(&out.stderr));
    }
    // A broken program is reported by its own places.
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
    // A sampler is the only one at its place; of textures there are two at theirs.
    let found = smallstep(&["run", BLUR, picture, "--sampler=0.0=linear edge", out, "--json"]);
    let first = text(&found.stdout).lines().next().unwrap_or_default().to_string();
    assert!(first.contains("\"size\":[2,2,1]") && first.contains("\"texels\":[\"0.5019608\",\"1.0\""), "{first}");
    for (given, says) in [
        (&[filters, out][..], "nothing is given for picture (t0): write --bind 'picture=R8G8B8A8_UNORM 4x4'"),
        (&[picture, out], "nothing is given for filters (s0): write --bind 'filters=linear edge'"),
        (&[picture, filters, "--texture=0.0=R8_UNORM 2x2"], "several resources are at 0.0; say which with --bind: picture (t0), out (u0)"),
        (&[picture, filters, "--bind=out=R8_UINT 2x2"], "the image for out is of R8_UINT, which has other numbers than the type float"),
        (&[picture, filters, "--bind=out=R8_UNORM cube 2x2"], "a cube (`cube NxN`); a RWTexture2D is of two dimensions"),
        (&[picture, filters, "--bind=out=R8_UNORM 2x2 levels=2"], "the image for out is of 2 levels; a RWTexture2D has one"),
        (&[picture, out, "--bind=filters=sharp"], "for the sampler filters: `sharp` says nothing of a sampler"),
        (&["--bind=picture=u32:1", filters, out], "for the texture picture: no format is called `u32:1`"),
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
fn races_and_barriers_that_are_not_reached_are_told() {
    let races = "[numthreads(2, 1, 1)] compute void f(device uint[] out : register(u0), uint lane : SV_GroupIndex) { out[0] = lane; }";
    let out = with(races, &["run", "race.wsl", "--bind", "out=u32:7"]);
    // The program's file decides its language, so it stands in one.
    assert_eq!(out.status.code(), Some(2));
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
    let out = smallstep(&["run", &file.display().to_string()]);
    assert_eq!(out.status.code(), Some(5));
    assert!(text(&out.stderr).contains("thread 0 waits at the barrier") && text(&out.stderr).contains("thread 1 has ended"));
    std::fs::remove_dir_all(&folder).expect("the folder is there");
}
