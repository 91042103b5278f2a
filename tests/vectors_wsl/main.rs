//! Files of WSL cases: written, read back, replayed, tampered with, and hostile ones.

mod textures;

use pretty_assertions::assert_eq;
use smallstep::run::grid::{self, ResourceRef};
use smallstep::theorem::Verdict;
use smallstep::vectors::format::MAX_LINE;
use smallstep::vectors::replay::Replayed;
use smallstep::vectors::wsl::record::{Plan, ProgramChecks, record, record_given};
use smallstep::vectors::wsl::replay::{OwnEngine, replay};
use smallstep::vectors::wsl::{Case, Checks, Lane};
use smallstep::vectors::{LineError, Lines, Opened, Reader};
use smallstep_semantics::number::Profile;
use smallstep_semantics::number::sets::{Set, Span};
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::types::Scalar;

const PLAN: Plan = Plan { count: 16, seed: 1, profile: Profile::Strict, decided: false, threads: 2 };
const VALUES: &str = include_str!("../../examples/wsl/values.wsl");

fn recorded(plan: &Plan) -> String {
    let mut file = Vec::new();
    let recorded = record(plan, &mut file, &|_| {}).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(recorded.cases, plan.count);
    String::from_utf8(file).expect("JSON is text")
}

fn given(program: &str, expressions: &[&str]) -> Result<String, String> {
    given_as(program, &ProgramChecks::Expressions(expressions.iter().map(|e| e.to_string()).collect()))
}

fn given_as(program: &str, given: &ProgramChecks) -> Result<String, String> {
    let mut file = Vec::new();
    match record_given(program, given, &|_| Err(std::io::Error::other("nothing is read")), Profile::Strict, "a test".into(), &mut file) {
        Ok(_) => Ok(String::from_utf8(file).expect("JSON is text")),
        Err(e) => Err(e.to_string()),
    }
}

fn opened(file: &str) -> Reader<&[u8], Case> {
    match Opened::open(file.as_bytes()) {
        Ok(Opened::Wsl(reader)) => reader,
        Ok(Opened::LambdaV(_)) => panic!("it is WSL"),
        Err(e) => panic!("{e}"),
    }
}

fn replayed(file: &str, engine: OwnEngine) -> Vec<Result<Replayed, LineError>> {
    let mut all = Vec::new();
    replay(&mut opened(file), &[engine], 1_000_000, &mut |r| all.push(r));
    all
}

#[track_caller]
fn verdict(file: &str, engine: OwnEngine) -> Verdict {
    let mut all = replayed(file, engine);
    assert_eq!(all.len(), 1);
    all.remove(0).unwrap_or_else(|e| panic!("{e}")).verdict
}

fn cases(file: &str) -> Vec<Case> {
    file.lines().skip(1).map(|line| Case::case(line).unwrap_or_else(|e| panic!("{e}"))).collect()
}

fn lanes(case: &mut Case) -> Vec<&mut Lane> {
    match &mut case.checks {
        Checks::Calls(calls) => calls.iter_mut().flat_map(|c| &mut c.expected).collect(),
        Checks::Dispatch(dispatch) => {
            let buffers = dispatch.buffers.iter_mut().flat_map(|b| &mut b.expected);
            buffers.chain(dispatch.images.iter_mut().flat_map(|i| &mut i.expected)).collect()
        }
    }
}

#[test]
fn a_file_reads_back_to_the_same_bytes_and_does_not_depend_on_threads() {
    let file = recorded(&PLAN);
    let header = file.lines().next().expect("a header");
    let again = Case::header(header).expect("it was written so").to_line();
    assert_eq!(again + &cases(&file).iter().map(Case::to_line).collect::<String>(), file);
    assert_eq!(recorded(&Plan { threads: 1, ..PLAN }), file);
    assert_eq!(recorded(&Plan { threads: 5, ..PLAN }), file);
    let dispatches = cases(&file).iter().filter(|c| matches!(c.checks, Checks::Dispatch(_))).count();
    assert!((2..14).contains(&dispatches), "{dispatches} of 16 cases are dispatches");
}

#[test]
fn both_engines_conform_and_rules_are_named() {
    let file = recorded(&PLAN);
    for engine in OwnEngine::ALL {
        let mut agree = 0;
        for result in replayed(&file, engine) {
            let verdict = result.unwrap_or_else(|e| panic!("{e}")).verdict;
            assert!(matches!(verdict, Verdict::Agree | Verdict::Undecided(_)), "{engine:?}: {}", verdict.why());
            agree += usize::from(verdict == Verdict::Agree);
        }
        assert!(agree >= 14, "{engine:?}: {agree} of 16 cases agree");
    }
    for case in cases(&file) {
        let names: Vec<&str> = case.rules.iter().map(|r| r.name()).collect();
        for family in ["wsl/env-", "wsl/t-", "wsl/e-"] {
            assert!(names.iter().any(|n| n.starts_with(family)), "case {}: no {family} in {names:?}", case.index);
        }
        let dispatched = matches!(case.checks, Checks::Dispatch(_));
        assert_eq!(names.contains(&"wsl/g-barrier"), dispatched, "a dispatch has barriers, a call has none");
        assert_eq!(case.provenance.engines.len(), 2 + usize::from(case.checks.has_spirv()));
    }
}

#[test]
fn each_form_of_lane_is_recorded_of_what_shows_it() {
    let expressions =
        ["median(3, 1, 2)", "at(7)", "1 / 0", "min(0.0, -0.0)", "sin(0.5)", "sqrt(0.0) * (1.0e1)", "float2(0.5, 0.25)", "frozen(1, 0)"];
    let error = given(VALUES, &expressions).expect_err("there is no literal with an exponent");
    assert!(error.contains("`sqrt(0.0) * (1.0e1)`"), "{error}");
    let file = given(VALUES, &expressions.map(|e| if e.contains("e1") { "(1.0 / 3.0 - 0.25) > 0" } else { e })).expect("they are recorded");
    let Checks::Calls(calls) = cases(&file).remove(0).checks else { panic!("they are calls") };
    let texts: Vec<String> = calls.iter().map(|c| c.expected.iter().map(Lane::text).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(texts[..4], ["00000002", "one:0000000a|00000014|0000001e", "any:unspecified", "zero"]);
    assert!(texts[4].starts_with("in:3ef5"), "{}", texts[4]);
    assert_eq!(texts[5..], ["00000001", "3f000000 3e800000", "00000001"]);
    assert_eq!((calls[6].ty.as_str(), calls[6].value.as_str()), ("float2", "float2(0.5, 0.25)"));
    for engine in OwnEngine::ALL {
        assert!(matches!(verdict(&file, engine), Verdict::Undecided(_)), "a quotient by zero says nothing");
    }
}

#[test]
fn a_dispatch_that_is_given_is_recorded() {
    let bytes = |words: &[u32]| grid::ResourceInput::Bytes(words.iter().flat_map(|w| w.to_le_bytes()).collect());
    let of = |entry: Option<&str>, sums: &[u32]| {
        let bound =
            vec![(ResourceRef::Name("data".into()), bytes(&[1, 2, 3, 4, 10, 20, 30, 40])), (ResourceRef::Name("u1".into()), bytes(sums))];
        given_as(VALUES, &ProgramChecks::Dispatch { entry: entry.map(str::to_string), groups: [2, 1, 1], bound })
    };
    let file = of(None, &[0, 0]).expect("it is recorded");
    assert!(file.contains("\"expected\":[\"0000000a\",\"00000064\"]"), "{file}");
    for engine in OwnEngine::ALL {
        assert_eq!(verdict(&file, engine), Verdict::Agree);
        assert!(
            verdict(&file.replace("00000064", "00000065"), engine)
                .why()
                .contains("`sums`, element 1, scalar 0: expected 00000065, saw 00000064")
        );
    }
    // Both groups store to what may be the same element, since there is only one.
    assert_eq!(of(Some("sum"), &[0]).expect_err("it races"), "the dispatch: it races");
    assert!(of(Some("other"), &[0, 0]).expect_err("there is none").contains("no compute entry point is called other"));
}

#[test]
fn what_discards_is_recorded_so() {
    let program = "int f(bool b) { if (b) discard; return 4; } int g(int x) { return f(1 / x == 3) ; }";
    let file = given(program, &["f(true)", "f(false)", "g(0)"]).expect("they are recorded");
    assert!(file.contains("\"ends\":\"discards\",\"expected\":[]"), "{file}");
    assert!(file.contains("\"ends\":\"either\",\"expected\":[\"00000004\"]"), "{file}");
    for engine in OwnEngine::ALL {
        assert_eq!(verdict(&file, engine), Verdict::Agree);
        for (from, to) in
            [("\"returns\"", "\"either\""), ("\"ends\":\"discards\",\"expected\":[]", "\"ends\":\"returns\",\"expected\":[\"00000004\"]")]
        {
            let changed = file.replacen(from, to, 1);
            // The machine returns, and `either` allows that.
            let caught = engine == OwnEngine::Reference || to.contains("returns");
            assert_eq!(matches!(verdict(&changed, engine), Verdict::Disagree(_)), caught, "{engine:?}: {to}");
        }
    }
}

#[test]
fn a_tampered_lane_is_caught_by_both_engines() {
    let file = recorded(&PLAN);
    let header = file.lines().next().expect("a header").to_string();
    let mut tampered = 0;
    for index in 0..cases(&file).len() {
        let mut all = cases(&file);
        let lane = lanes(&mut all[index]).into_iter().find(|l| matches!(l, Lane::Exactly(_)));
        let Some(lane) = lane else { continue };
        if let Lane::Exactly(bits) = lane {
            // A Boolean has only one other value.
            *lane = Lane::Exactly(*bits ^ 1);
        }
        tampered += 1;
        let changed = header.clone() + "\n" + &all.iter().map(Case::to_line).collect::<String>();
        for engine in OwnEngine::ALL {
            for (i, result) in replayed(&changed, engine).into_iter().enumerate() {
                let verdict = result.unwrap_or_else(|e| panic!("{e}")).verdict;
                assert_eq!(matches!(verdict, Verdict::Disagree(_)), i == index, "{engine:?}, case {i}: {}", verdict.why());
            }
        }
    }
    assert!(tampered > 10, "{tampered}");
    // The relation finds a set that is too wide. Both engines find a set that is too narrow.
    let file = given(VALUES, &["at(7)"]).expect("it is recorded");
    let wide = file.replace("one:0000000a|", "one:00000009|0000000a|");
    let narrow = file.replace("one:0000000a|00000014|0000001e", "one:00000014|0000001e");
    assert!(matches!(verdict(&wide, OwnEngine::Reference), Verdict::Disagree(_)));
    assert_eq!(verdict(&wide, OwnEngine::Machine), Verdict::Agree);
    for engine in OwnEngine::ALL {
        assert!(matches!(verdict(&narrow, engine), Verdict::Disagree(_)), "{engine:?}");
    }
}

#[test]
fn lanes_read_back_and_nothing_else_is_a_lane() {
    let set = Set::of(Span::between(0.5, 0.75));
    let floats = |set| Lane::of(&Possible::Floats(set), Scalar::Float);
    let values = |of, all: &[u32]| Lane::of(&Possible::Values(all.to_vec()), of);
    for (lane, text) in [
        (values(Scalar::Int, &[7]), "00000007"),
        (values(Scalar::Int, &[9, 7, 9]), "one:00000007|00000009"),
        (values(Scalar::Int, &[0, 0x8000_0000]), "one:00000000|80000000"),
        (values(Scalar::Float, &[0, 0x8000_0000]), "zero"),
        (values(Scalar::Float, &[0x7fc0_0000, 0xffc0_0001]), "nan"),
        (values(Scalar::Float, &[0x3f80_0000, 0x7fc0_0000]), "one:3f800000|nan"),
        (values(Scalar::Bool, &[0, 5]), "one:00000000|00000001"),
        (floats(set), "in:3f000000..3f400000"),
        (floats(Set::ZERO), "zero"),
        (floats(Set::point(1.5)), "3fc00000"),
        (floats(Set::ANY), "any:unspecified"),
        (floats(Set::of(Span::between(1.0, f64::INFINITY))), "any:infinite"),
        (floats(set.union(Set::NAN)), "any:nan"),
        (floats(Set::NAN), "nan"),
        (Lane::of(&Possible::Any, Scalar::Uint), "any:unspecified"),
    ] {
        assert_eq!(lane.text(), text);
        assert_eq!(Lane::from_text(text), Some(lane));
    }
    for text in [
        "",
        "one:",
        "one:00000001",
        "one:nan",
        "one:00000002|00000001",
        "one:1|2",
        "any:tie",
        "any:",
        "NAN",
        "in:",
        "one:00000001|00000001",
    ] {
        assert_eq!(Lane::from_text(text), None, "{text:?}");
    }
    let one = Lane::OneOf(vec![1, 2], true);
    assert_eq!([1, 3, 0x7fc0_0001].map(|bits| one.admits(bits, Scalar::Float)), [Some(true), Some(false), Some(true)]);
    assert_eq!(Lane::Zero.admits(0x8000_0000, Scalar::Float), Some(true));
    assert_eq!(Lane::Exactly(1).admits(0xff, Scalar::Bool), Some(true));
}

#[test]
fn hostile_lines_are_named_and_the_rest_goes_on() {
    let file = recorded(&Plan { count: 4, ..PLAN });
    let lines: Vec<&str> = file.lines().collect();
    let of = |dispatch: bool| {
        lines.iter().position(|l| l.contains("\"dispatch\":{") == dispatch && l.contains("\"case\"")).expect("one of both")
    };
    let with = |dispatch: bool, from: &str, to: &str| {
        let line = of(dispatch);
        let changed = lines[line].replacen(from, to, 1);
        assert_ne!(changed, lines[line], "{from} is not in the line");
        let file: Vec<&str> = lines.iter().enumerate().map(|(i, l)| if i == line { changed.as_str() } else { l }).collect();
        let mut results = replayed(&file.join("\n"), OwnEngine::Machine);
        assert_eq!(results.len(), 4);
        let found = results.remove(line - 1).expect_err("a bad line");
        assert!(results.iter().all(|r| r.is_ok()), "the lines around it are taken");
        assert_eq!(found.line, line as u64 + 1);
        found.what
    };
    for (dispatch, from, to, said) in [
        (false, "\"schema\":3", "\"schema\":2", "of version 2"),
        (false, "\"kind\":\"case\"", "\"kind\":\"header\"", "a case of version 3 or 4 is needed"),
        (false, "\"calls\":[{", "\"calls\":[],\"more\":[{", "`calls` is empty"),
        (false, "\"calls\":[{", "\"others\":[{", "neither `calls` nor `dispatch`"),
        (
            true,
            "\"dispatch\":{",
            "\"calls\":[{\"expression\":\"1\",\"type\":\"int\",\"ends\":\"returns\",\"expected\":[\"00000001\"]}],\"dispatch\":{",
            "both `calls`",
        ),
        (false, "\"type\":\"", "\"type\":\"q", "the case says q"),
        (false, "\"expression\":\"", "\"expression\":\"nobody(1) + ", "cannot be evaluated"),
        (false, "\"expected\":[", "\"expected\":[\"00000000\",", "are needed"),
        (false, "\"expected\":[\"", "\"expected\":[\"x", "hexadecimal digits"),
        (false, "\"ends\":\"", "\"ends\":\"x", "unknown variant"),
        (false, "\"program\":\"", "\"program\":\"} ", "cannot be evaluated"),
        (true, "\"program\":\"", "\"program\":\"} ", "the program is not valid"),
        (true, "\"entry\":\"main\"", "\"entry\":\"other\"", "no compute entry point is called other"),
        (true, "\"name\":\"given\"", "\"name\":\"taken\"", "stands where `given`"),
        (true, "\"register\":\"b0\"", "\"register\":\"b1\"", "stands where `given`"),
        (true, "\"elements\":", "\"elements\":9", "scalars"),
        (true, "\"given\":[\"", "\"given\":[\"00000001\",\"", "scalars"),
        (true, "\"given\":[\"", "\"given\":[\"0000000\",\"", "hexadecimal digits"),
        (true, "\"groups\":[", "\"groups\":[-", "invalid value"),
    ] {
        let found = with(dispatch, from, to);
        assert!(found.contains(said), "{found:?} lacks {said:?}");
    }
}

#[test]
fn a_grid_that_is_too_large_is_unchecked() {
    let program =
        "[numthreads(1024, 64, 1)] compute void main(device uint[] out : register(u0), uint3 id : SV_DispatchThreadID) { out[id.x] = 1u; }";
    let text = serde_json::to_string(program).expect("it is text");
    let case = |groups: &str| {
        format!(
            "{{\"schema\":3,\"kind\":\"header\",\"format\":\"smallstep-vectors\",\"language\":\"wsl\",\"version\":\"0\",\"generator\":1,\
             \"seed\":\"0x0000000000000000\",\"profile\":\"strict\",\"cases\":1,\"command\":\"\"}}\n\
             {{\"schema\":3,\"kind\":\"case\",\"index\":0,\"program\":{text},\"dispatch\":{{\"entry\":\"main\",\"groups\":{groups},\"buffers\":[{{\"name\":\"out\",\
             \"register\":\"u0\",\"space\":\"device\",\"type\":\"uint\",\"elements\":1,\"given\":[\"00000000\"],\"expected\":[\"00000001\"]}}]}},\
             \"provenance\":{{\"program\":0,\"seed\":\"\",\"engines\":{{}}}}}}"
        )
    };
    for groups in ["[4294967295,4294967295,4294967295]", "[4294967295,1,1]"] {
        for engine in OwnEngine::ALL {
            assert!(matches!(verdict(&case(groups), engine), Verdict::Unchecked(_) | Verdict::Limit(_)), "{engine:?}");
        }
    }
    // Without workgroups nothing is stored.
    assert!(matches!(verdict(&case("[0,1,1]"), OwnEngine::Machine), Verdict::Disagree(_)));
}

#[test]
fn files_that_are_cut_or_of_other_versions_are_told() {
    let file = recorded(&Plan { count: 3, ..PLAN });
    let lines: Vec<&str> = file.lines().collect();
    let last = replayed(&lines[..3].join("\n"), OwnEngine::Machine).pop().expect("something").expect_err("it is cut");
    assert_eq!((last.line, last.what.as_str()), (3, "the file ends after 2 of 3 cases"));
    for (from, to, said) in [
        ("\"schema\":3", "\"schema\":5", "the file has version 5 of the format; this program reads version 2, and 3 and 4 for WSL"),
        ("\"schema\":3", "\"schema\":2", "the file has version 2"),
        ("\"language\":\"wsl\"", "\"language\":\"hlsl\"", "no vectors are of the language \"hlsl\""),
        ("\"profile\":\"strict\"", "\"profile\":\"loose\"", "no profile is called \"loose\""),
        ("\"seed\":\"0x", "\"seed\":\"x", "`seed` is not"),
    ] {
        let changed = file.replacen(from, to, 1);
        let Err(error) = Opened::open(changed.as_bytes()) else { panic!("{to} is read") };
        assert!(error.line == 1 && error.what.contains(said), "{error} lacks {said:?}");
    }
    let Err(error) = Reader::open(file.as_bytes()) else { panic!("that is no λV") };
    assert!(error.what.contains("are WSL"), "{error}");
}

#[test]
fn what_cannot_be_recorded_is_told() {
    for (program, expression, said) in [
        ("int f( { }", "f()", "cannot be evaluated"),
        ("void f() { while (true) { } }", "f()", "out of fuel"),
        ("int f() { int[4000000000] a; return a[0]; }", "f()", "limit exceeded"),
        ("int f() { return 1; }", "&f()", "cannot be evaluated"),
        ("int* thread f() { int x; return &x; }", "f()", "`f()`"),
        ("fragment float4 f() : SV_Target 0 { return float4(ddx(1.0)); } float g() { return ddx(1.0); }", "g()", "`g()`"),
    ] {
        let error = given(program, &[expression]).expect_err(expression);
        assert!(error.contains(said), "{error:?} lacks {said:?}");
    }
    // JSON needs two characters for a tab.
    let error = given(&format!("/*{}*/", "\t".repeat(MAX_LINE / 2 - 100)), &["1"]).expect_err("no line is that long");
    assert!(error.contains("a line has at most 33554432"), "{error}");
}

#[test]
fn the_format_page_names_every_field() {
    let page = include_str!("../../src/vectors/FORMAT.md");
    fn keys(value: &serde_json::Value, all: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(fields) => {
                for (key, value) in fields {
                    all.push(key.clone());
                    if key != "rules" && key != "provenance" {
                        keys(value, all);
                    }
                }
            }
            serde_json::Value::Array(parts) => parts.iter().for_each(|part| keys(part, all)),
            _ => {}
        }
    }
    let textured = textures::blurred();
    for line in recorded(&Plan { count: 4, ..PLAN }).lines().chain(textured.lines()) {
        let mut all = Vec::new();
        keys(&serde_json::from_str(line).expect("JSON"), &mut all);
        for key in all {
            assert!(page.contains(&format!("`{key}`")), "FORMAT.md does not say what `{key}` is");
        }
    }
}
