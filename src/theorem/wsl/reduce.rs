//! A program of a finding, made smaller while it shows the same.

use super::campaign::Plan;
use super::programs::generated;
use crate::generate::wsl as shrink;
use crate::gpu::Device;
use crate::theorem::Verdict;
use crate::theorem::campaign::Finding;

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
fn fault(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Disagree(difference) => Some(difference.group()),
        Verdict::Failed(_) => Some("failed".into()),
        _ => None,
    }
}

/// The smallest program found that is wrong as the finding's is, by the same engines and in the
/// same way; none if the finding's program is not wrong when it is judged alone.
pub fn minimal(plan: &Plan, finding: &Finding, mut device: Option<&mut Device>) -> Option<Minimal> {
    let (programs, seed) = plan.program(finding.index);
    let (text, made) = generated(programs, seed);
    if !finding.device {
        device = None;
    }
    let mut judged = |text: &str| plan.verdict(programs, seed, text, made.as_ref(), device.as_deref_mut());
    let first = judged(&text);
    let wanted = fault(&first)?;
    let mut best = Minimal { text: text.clone(), verdict: first };
    let mut fails = |text: &str| {
        let verdict = judged(text);
        let shows = fault(&verdict).as_deref() == Some(&wanted);
        if shows {
            best = Minimal { text: text.into(), verdict };
        }
        shows
    };
    shrink::minimal(&text, &mut fails, QUESTIONS);
    Some(best)
}
