//! Vectors replayed on a device.

use rspirv::spirv::Op;
use smallstep::compile::lambda_v::{Constants, Options, translate};
use smallstep::gpu::{Device, DeviceOutcome, Route};
use smallstep::run::{self, Grid, Loaded, NotRun, Source};
use smallstep::theorem::{Lack, Verdict};
use smallstep::vectors::record::{Plan, record};
use smallstep::vectors::replay::{Subject, replay};
use smallstep::vectors::{Case, Reader};
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::number::{Expected, Profile};
use smallstep_semantics::spirv::decode;

use super::{open, options};

fn recorded(profile: Profile, constants: Constants) -> String {
    let plan = Plan { count: 60, seed: 11, size: (4, 4), profile, constants, decided: false, threads: 2 };
    let mut file = Vec::new();
    record(&plan, &mut file, &|_| {}).unwrap_or_else(|e| panic!("{e}"));
    String::from_utf8(file).expect("JSON is text")
}

/// The verdicts by index; None where the route gives no device.
fn replayed(file: &str, route: Route) -> Option<Vec<Verdict>> {
    let mut device = open(Some(route), options())?;
    let mut reader = Reader::open(file.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    let mut verdicts = Vec::new();
    replay(&mut reader, Subject::Device(&mut device), &mut |r| {
        let r = r.unwrap_or_else(|e| panic!("{e}"));
        verdicts.push((r.index, r.verdict));
    });
    verdicts.sort_by_key(|(index, _)| *index);
    assert!(verdicts.iter().map(|(index, _)| *index).eq(0..60), "every case comes back once");
    Some(verdicts.into_iter().map(|(_, verdict)| verdict).collect())
}

#[test]
fn passthrough_conforms_with_constants_in_the_module_and_opaque() {
    for constants in [Constants::InModule, Constants::Opaque] {
        let Some(verdicts) = replayed(&recorded(Profile::Strict, constants), Route::Passthrough) else { return };
        for verdict in &verdicts {
            assert!(matches!(verdict, Verdict::Agree | Verdict::Undecided(_)), "{}", verdict.why());
        }
        assert!(verdicts.contains(&Verdict::Agree));
    }
}

/// What naga 30.0.1 refuses though it is valid SPIR-V that all interpreters run, seen 2026-11-21: a program, and what is said. Each is pinned by
/// a test, which fails once naga takes it.
const NAGA_REFUSES: [(&str, &str); 4] = [
    // OpLogicalOr and OpLogicalAnd of vectors become its scalar operators, which its validator then refuses.
    (
        "(let ((p (frag-coord))) (select (or (bvec2 true (less-than (x p) 2)) (bvec2 (less-than (y p) 2) false)) (vec2 1 2) (vec2 3 4)))",
        "Incompatible operands: LogicalOr(vec",
    ),
    (
        "(let ((p (frag-coord))) (select (and (bvec2 true (less-than (x p) 2)) (bvec2 (less-than (y p) 2) true)) (vec2 1 2) (vec2 3 4)))",
        "Incompatible operands: LogicalAnd(vec",
    ),
    // Extended instructions that SPIR-V has for scalars too.
    ("(reflect (x (frag-coord)) 2)", "Call to builtin Reflect has incorrect or ambiguous arguments"),
    ("(normalize (x (frag-coord)))", "Call to builtin Normalize has incorrect or ambiguous arguments"),
];

fn is_quirk_of_naga(verdict: &Verdict) -> bool {
    let why = verdict.why();
    NAGA_REFUSES.iter().any(|(_, said)| why.contains(said))
}

#[test]
fn what_naga_refuses_it_still_refuses() {
    let Some(mut device) = open(Some(Route::Naga), options()) else { return };
    for (text, said) in NAGA_REFUSES {
        let source = Source::read_lambda_v("quirk", text).unwrap_or_else(|e| panic!("{}", e.text));
        match run::draw(&source, &mut device, &Grid::new((4, 4))) {
            Err(NotRun::Device(DeviceOutcome::Refused(why))) => assert!(why.contains(said), "{text}: {why}"),
            Err(other) => panic!("{text}: {other}"),
            Ok(_) => panic!("naga takes {text} now: the quirk can go"),
        }
    }
}

/// What Mesa 22.3.6's llvmpipe draws wrong, seen 2026-11-21: a value made in a loop inside the exit of another loop, where each loop has a second way
/// out. naga makes every loop so, to bound it; its words are right, and the same words without the bounds draw right. 0 is shown instead.
const LOST_IN_LLVMPIPE: &str =
    "((rec-func (k) (if (less-than k 3) (rec (+ k 1)) ((rec-func (j) (if (less-than 0 1) (- 1) (rec 0.5))) 2))) 0)";

fn is_that_llvmpipe(device: &Device) -> bool {
    device.adapter().driver.contains("llvmpipe Mesa 22.3.6")
}

fn is_quirk_of_llvmpipe(case: &Case, verdict: &Verdict) -> bool {
    let words = decode(&case.dispatch.words).unwrap_or_else(|e| panic!("{e}"));
    let loops = words.instructions.iter().filter(|i| i.is(Op::LoopMerge)).count();
    loops > 1 && verdict.why().contains(", saw 0 (0x00000000)")
}

#[test]
fn what_llvmpipe_loses_it_still_loses() {
    let Some(mut device) = open(Some(Route::Naga), options()) else { return };
    let program = Program::read(LOST_IN_LLVMPIPE).unwrap_or_else(|e| panic!("{}", e.message));
    let options = Options { profile: Profile::Wgsl, constants: Constants::Opaque, ..Options::default() };
    let module = translate(&program, &options).unwrap_or_else(|e| panic!("{e}"));
    let loaded = Loaded::new(&module.words, None, module.constants).unwrap_or_else(|e| panic!("{e}"));
    let shown = run::draw(&Source::Spirv(Box::new(loaded)), &mut device, &Grid::new((1, 1))).unwrap_or_else(|e| panic!("{e}"));
    let value = shown.images[0][0].map(|lanes| f32::from_bits(lanes[0]));
    let expected = if is_that_llvmpipe(&device) { 0.0 } else { -1.0 };
    assert_eq!(value, Some(expected), "on {}; -1 is right", device.adapter());
}

#[test]
fn naga_conforms_under_its_own_profile() {
    for constants in [Constants::InModule, Constants::Opaque] {
        let file = recorded(Profile::Wgsl, constants);
        let Some(device) = open(Some(Route::Naga), options()) else { return };
        let llvmpipe = is_that_llvmpipe(&device);
        drop(device);
        let Some(verdicts) = replayed(&file, Route::Naga) else { return };
        for (line, verdict) in file.lines().skip(1).zip(&verdicts) {
            let case = Case::from_line(line).unwrap_or_else(|e| panic!("{e}"));
            let conforms = matches!(verdict, Verdict::Agree | Verdict::Undecided(_));
            let known = is_quirk_of_naga(verdict) || llvmpipe && is_quirk_of_llvmpipe(&case, verdict);
            assert!(conforms || known, "case {}: {}\n{}", case.index, verdict.why(), case.source);
        }
        let agree = verdicts.iter().filter(|v| **v == Verdict::Agree).count();
        assert!(agree > 40, "{agree} of 60 cases agree");
    }
}

#[test]
fn what_naga_cannot_keep_is_unchecked() {
    let Some(verdicts) = replayed(&recorded(Profile::Strict, Constants::InModule), Route::Naga) else { return };
    assert!(verdicts.iter().all(|v| matches!(v, Verdict::Unchecked(Lack::Device, _))));
}

#[test]
fn a_tampered_expectation_is_caught() {
    let file = recorded(Profile::Strict, Constants::InModule);
    let mut lines: Vec<String> = file.lines().map(String::from).collect();
    let mut case = Case::from_line(&lines[5]).unwrap_or_else(|e| panic!("{e}"));
    let lane = case.expected.iter_mut().flatten().flatten().find(|l| !matches!(l, Expected::Undecided(_)));
    let lane = lane.expect("a recorded case has a decided lane");
    *lane = match *lane {
        Expected::Bits(bits) => Expected::Bits(bits ^ 1),
        _ => Expected::Bits(1),
    };
    lines[5] = case.to_line().trim_end().into();
    let Some(verdicts) = replayed(&lines.join("\n"), Route::Passthrough) else { return };
    for (i, verdict) in verdicts.iter().enumerate() {
        assert_eq!(matches!(verdict, Verdict::Disagree(_)), i == 4, "case {i}: {}", verdict.why());
    }
}
