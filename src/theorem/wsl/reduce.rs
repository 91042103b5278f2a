//! A program of a finding, made smaller while it shows the same.

use super::campaign::Plan;
use super::programs::{Generated, Programs, generated};
use crate::generate::wsl::shrink;
use crate::gpu::Device;
use crate::theorem::{Engine, Verdict};

/// The most programs that are tried to make one finding smaller.
const QUESTIONS: u32 = 3_000;

/// A program that shows a finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimal {
    /// Its text.
    pub text: String,
    /// What is wrong with it.
    pub verdict: Verdict,
}

/// What a verdict says that must stay: its kind, the engines, and how what is shown differs.
pub(super) fn fault(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Disagree(difference) => Some(difference.group()),
        Verdict::Failed(_) => Some("failed".into()),
        _ => None,
    }
}

/// The smallest program found that is wrong as the program of a seed is, by the same engines and in
/// the same way: between the interpreters, or on the device if one is given. None if the program of
/// the seed is not wrong when it is judged alone.
pub fn minimal(plan: &Plan, (programs, seed): (Programs, u64), mut device: Option<&mut Device>) -> Option<Minimal> {
    let Generated { text, made, .. } = generated(programs, seed);
    let mut judged = |text: &str| plan.verdict(programs, seed, text, made.as_ref(), device.as_deref_mut());
    let first = judged(&text);
    let wanted = fault(&first)?;
    let shows = |verdict: &Verdict| fault(verdict).as_deref() == Some(&wanted);
    Some(smaller(Minimal { text, verdict: first }, &mut |text| Some(judged(text)).filter(shows)))
}

/// A program made smaller while a verdict says that it shows the same.
fn smaller(first: Minimal, shows: &mut dyn FnMut(&str) -> Option<Verdict>) -> Minimal {
    let (text, mut best) = (first.text.clone(), first);
    let mut fails = |text: &str| {
        let verdict = shows(text);
        let fails = verdict.is_some();
        best = verdict.map_or_else(|| best.clone(), |verdict| Minimal { text: text.into(), verdict });
        fails
    };
    shrink::minimal(&text, &mut fails, QUESTIONS);
    best
}

/// In how many ways a device is wrong about what is run of a text, as programs of a kind and seed
/// are run: for each a minimal program.
pub(super) fn faults_of(plan: &Plan, (programs, seed): (Programs, u64), text: &str, device: &mut Device) -> Vec<Minimal> {
    let mut found: Vec<(String, Minimal)> = Vec::new();
    for verdict in plan.wrong(programs, seed, text, device) {
        let Some(wanted) = fault(&verdict).filter(|wanted| found.iter().all(|(known, _)| known != wanted)) else { continue };
        let shows = |verdict: &Verdict| fault(verdict).as_deref() == Some(&wanted);
        let first = Minimal { text: text.into(), verdict };
        let minimal = smaller(first, &mut |text| plan.wrong(programs, seed, text, device).into_iter().find(shows));
        found.push((wanted, minimal));
    }
    found.into_iter().map(|(_, minimal)| minimal).collect()
}

/// Searches a device for the first expression that it computes differently, if that is what the
/// verdict of a minimal program says.
pub fn blame(plan: &Plan, (programs, seed): (Programs, u64), minimal: &mut Minimal, device: &mut Device) {
    let Generated { made, .. } = generated(programs, seed);
    let Verdict::Disagree(difference) = &mut minimal.verdict else { return };
    if !matches!(difference.between.1, Engine::Device(_)) {
        return;
    }
    match plan.search(programs, seed, &minimal.text, made.as_ref(), device) {
        Ok(blame) => difference.blame = Some(blame),
        Err(unblamed) => difference.unblamed = Some(unblamed),
    }
}
