//! Making a disagreement minimal.

use super::campaign::{Finding, Plan, Tally, judge};
use super::case::Settings;
use super::{Difference, Verdict};
use crate::generate::shrink;
use crate::gpu::Device;
use smallstep_semantics::lambda_v::syntax::Tree;

/// A small program with the same fault.
pub struct Minimal {
    /// The program.
    pub tree: Tree,
    /// Its nodes.
    pub nodes: usize,
    /// Its verdict.
    pub verdict: Verdict,
}

/// The most programs that are tried for one disagreement.
const TRIES: u32 = 2_000;

/// The verdict on one program, with the relations beside the machines, and on the device if there is one; with blame.
pub fn verdict(tree: &Tree, plan: &Plan, device: Option<&mut Device>) -> Verdict {
    judged(tree, plan, device, true)
}

/// The verdict; the device is searched for a culprit only if `blames`, since that takes many dispatches.
fn judged(tree: &Tree, plan: &Plan, device: Option<&mut Device>, blames: bool) -> Verdict {
    let settings = Settings { references: true, ..plan.settings.clone() };
    let judged = judge(tree, &settings, &mut Tally::default());
    match (device, judged.awaited) {
        (Some(device), Some((case, awaited))) => {
            let outcome = device.run(case.dispatch(settings.size)).outcome;
            let name = format!("{} ({})", device.adapter().name, device.route());
            let (mut verdict, _) = awaited.compare(&outcome, &name, device.route());
            if let (Verdict::Disagree(difference), true) = (&mut verdict, blames) {
                difference.search(&case, &settings, device);
            }
            judged.verdict.worse(verdict)
        }
        _ => judged.verdict,
    }
}

/// The smallest program found that still disagrees between the same engines; `None` if the disagreement does not come back.
pub fn minimal(tree: &Tree, plan: &Plan, device: Option<&mut Device>, finding: &Finding) -> Option<Minimal> {
    let mut device = if finding.device { device } else { None };
    let first = judged(tree, plan, device.as_deref_mut(), false);
    if !matches!(first, Verdict::Disagree(_) | Verdict::Failed(_)) {
        return None;
    }
    let mut same = |tree: &Tree| is_same(&first, &judged(tree, plan, device.as_deref_mut(), false));
    let tree = shrink::minimal(tree, &mut same, TRIES);
    let nodes = tree.roots.iter().map(|&r| tree.size(r)).sum();
    let verdict = verdict(&tree, plan, device);
    Some(Minimal { tree, nodes, verdict })
}

/// Whether two verdicts are about the same fault: the same engines.
fn is_same(a: &Verdict, b: &Verdict) -> bool {
    match (a, b) {
        (Verdict::Disagree(x), Verdict::Disagree(y)) => engines(x) == engines(y),
        (Verdict::Failed(_), Verdict::Failed(_)) => true,
        _ => false,
    }
}

fn engines(d: &Difference) -> &(super::Engine, super::Engine) {
    &d.between
}
