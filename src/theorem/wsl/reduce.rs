//! Makes the program of a finding smaller while it shows the same fault.

use super::campaign::Plan;
use super::programs::{Generated, Programs, generated};
use crate::generate::wsl::shrink;
use crate::gpu::Device;
use crate::theorem::{Engine, Verdict};

/// The most programs that are tried while a finding is made smaller.
const MAX_TRIES: u32 = 3_000;

/// A program that shows a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimal {
    /// Its text.
    pub text: String,
    /// The verdict on it.
    pub verdict: Verdict,
}

/// The part of a verdict that must stay while a program shrinks: its kind, the engines, and the way
/// in which results differ. `None` if it is neither a disagreement nor a failure.
pub(super) fn fault(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Disagree(difference) => Some(difference.group()),
        Verdict::Failed(_) => Some("failed".into()),
        _ => None,
    }
}

/// The smallest program found with the fault of a seed's program, by the same engines and in the
/// same way. It is judged on the device if one is given, otherwise between the interpreters. `None`
/// if the program of the seed has no fault when it is judged alone.
pub fn minimal(plan: &Plan, (programs, seed): (Programs, u64), mut device: Option<&mut Device>) -> Option<Minimal> {
    let Generated { text, generated_dispatch, .. } = generated(programs, seed);
    let mut judged = |text: &str| plan.verdict(programs, seed, text, generated_dispatch.as_ref(), device.as_deref_mut());
    let first = judged(&text);
    let expected_fault = fault(&first)?;
    let shows = |verdict: &Verdict| fault(verdict).as_deref() == Some(&expected_fault);
    Some(smaller(Minimal { text, verdict: first }, &mut |text| Some(judged(text)).filter(shows)))
}

/// Makes a program smaller while `shows` returns a verdict with the same fault.
fn smaller(first: Minimal, shows: &mut dyn FnMut(&str) -> Option<Verdict>) -> Minimal {
    let (text, mut best) = (first.text.clone(), first);
    let mut fails = |text: &str| {
        let verdict = shows(text);
        let fails = verdict.is_some();
        best = verdict.map_or_else(|| best.clone(), |verdict| Minimal { text: text.into(), verdict });
        fails
    };
    shrink::minimal(&text, &mut fails, MAX_TRIES);
    best
}

/// The ways in which a device is wrong about a text, which runs as the program of a kind and seed.
/// Each has a minimal program.
pub(super) fn faults_of(plan: &Plan, (programs, seed): (Programs, u64), text: &str, device: &mut Device) -> Vec<Minimal> {
    let mut found: Vec<(String, Minimal)> = Vec::new();
    for verdict in plan.wrong(programs, seed, text, device) {
        let Some(expected_fault) = fault(&verdict).filter(|expected_fault| found.iter().all(|(known, _)| known != expected_fault)) else {
            continue;
        };
        let shows = |verdict: &Verdict| fault(verdict).as_deref() == Some(&expected_fault);
        let first = Minimal { text: text.into(), verdict };
        let minimal = smaller(first, &mut |text| plan.wrong(programs, seed, text, device).into_iter().find(shows));
        found.push((expected_fault, minimal));
    }
    found.into_iter().map(|(_, minimal)| minimal).collect()
}

/// Searches a device for the first expression that it computes differently, if the verdict of the
/// minimal program is a disagreement with a device.
pub fn blame(plan: &Plan, (programs, seed): (Programs, u64), minimal: &mut Minimal, device: &mut Device) {
    let Generated { generated_dispatch, .. } = generated(programs, seed);
    let Verdict::Disagree(difference) = &mut minimal.verdict else { return };
    if !matches!(difference.between.1, Engine::Device(_)) {
        return;
    }
    match plan.search(programs, seed, &minimal.text, generated_dispatch.as_ref(), device) {
        Ok(blame) => difference.blame = Some(blame),
        Err(unblamed) => difference.unblamed = Some(unblamed),
    }
}
