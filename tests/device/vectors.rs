//! Vectors replayed on a device.

use smallstep::compile::lambda_v::Constants;
use smallstep::gpu::Route;
use smallstep::theorem::{Lack, Verdict};
use smallstep::vectors::record::{Plan, record};
use smallstep::vectors::replay::{Subject, replay};
use smallstep::vectors::{Case, Reader};
use smallstep_semantics::number::{Expected, Profile};

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

/// naga 30 takes OpLogicalOr and OpLogicalAnd of vectors of Booleans for the scalar operators, and its validator then refuses them.
fn is_quirk_of_naga(verdict: &Verdict) -> bool {
    let why = verdict.why();
    why.contains("Incompatible operands: Logical") && why.contains("<bool>")
}

#[test]
fn naga_conforms_under_its_own_profile() {
    for constants in [Constants::InModule, Constants::Opaque] {
        let Some(verdicts) = replayed(&recorded(Profile::Wgsl, constants), Route::Naga) else { return };
        for verdict in &verdicts {
            let conforms = matches!(verdict, Verdict::Agree | Verdict::Undecided(_));
            assert!(conforms || is_quirk_of_naga(verdict), "{}", verdict.why());
        }
        assert!(verdicts.contains(&Verdict::Agree));
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
