//! Vectors replayed on a device.

use rspirv::spirv::Op;
use smallstep::compile::lambda_v::Constants;
use smallstep::gpu::Route;
use smallstep::theorem::Verdict;
use smallstep::vectors::record::{Plan, record};
use smallstep::vectors::replay::{Subject, replay};
use smallstep::vectors::{Case, Reader};
use smallstep_semantics::number::{Expected, Profile};
use smallstep_semantics::spirv::decode;

use super::{open, options};

fn recorded(profile: Profile, constants: Constants) -> String {
    let plan = Plan { count: 60, seed: 11, size: (4, 4), profile, constants, decided: false, threads: 2 };
    let mut file = Vec::new();
    record(&plan, &mut file, &|_| {}).unwrap_or_else(|e| panic!("{e}"));
    String::from_utf8(file).expect("JSON is text")
}

/// The verdicts by index. `None` if the route gives no device.
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

/// Whether a disagreement looks like one that `spec-tests/quirks` records for this driver or for
/// naga. There a program pins each of them.
fn is_known(case: &Case, verdict: &Verdict, route: Route, driver: &str) -> bool {
    let why = verdict.why();
    let refused = ["Incompatible operands: Logical", "builtin Reflect has incorrect", "builtin Normalize has incorrect"];
    if route == Route::Naga && refused.iter().any(|said| why.contains(said)) {
        return true;
    }
    let words = decode(&case.dispatch.words).unwrap_or_else(|e| panic!("{e}"));
    let several_loops = words.instructions.iter().filter(|i| i.is(Op::LoopMerge)).count() > 1;
    let zero_times = why.contains("expected -0 (0x80000000), saw 0 (0x00000000)");
    driver.contains("llvmpipe Mesa 22.3.6") && why.contains(", saw ") && (several_loops || zero_times)
}

/// Every case must agree or be undecided, except for a few known disagreements.
fn conforms(profile: Profile, route: Route) {
    for constants in [Constants::InModule, Constants::Opaque] {
        let file = recorded(profile, constants);
        let Some(device) = open(Some(route), options()) else { return };
        let driver = device.adapter().driver.clone();
        drop(device);
        let Some(verdicts) = replayed(&file, route) else { return };
        let (mut known, mut agree) = (0, 0);
        for (line, verdict) in file.lines().skip(1).zip(&verdicts) {
            let case = Case::from_line(line).unwrap_or_else(|e| panic!("{e}"));
            if matches!(verdict, Verdict::Agree | Verdict::Undecided(_)) {
                agree += usize::from(*verdict == Verdict::Agree);
                continue;
            }
            assert!(is_known(&case, verdict, route, &driver), "case {}: {}\n{}", case.index, verdict.why(), case.source);
            known += 1;
        }
        assert!(known <= 6, "{known} of 60 cases have the look of what is known, too many for it");
        assert!(agree >= 50, "{agree} of 60 cases agree");
    }
}

#[test]
fn passthrough_conforms() {
    conforms(Profile::Strict, Route::Passthrough);
}

#[test]
fn naga_conforms_under_its_own_profile() {
    conforms(Profile::Wgsl, Route::Naga);
}

#[test]
fn what_naga_cannot_keep_is_unchecked() {
    let Some(verdicts) = replayed(&recorded(Profile::Strict, Constants::InModule), Route::Naga) else { return };
    assert!(verdicts.iter().all(|v| matches!(v, Verdict::Unchecked(_))));
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
