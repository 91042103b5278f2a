//! Makes a disagreement minimal.
//!
//! A small program is useful only if it shows the same as the large one. So a program keeps one
//! fault while it shrinks, and not just any mistake. A fault consists of the engines, the way in
//! which their lanes differ, and the instruction to blame on the device. A program may have several
//! faults. Each component of each output, and each way in which it differs, is made minimal
//! separately. The start is the part of the program that computes the component. Blame takes many
//! dispatches. So shrinking first keeps only the way of differing. If the result blames another
//! instruction, shrinking is repeated and keeps both.
//!
//! A wrong value may be seen far from its origin. There it may differ in another way: one unit in
//! the last place too low at the origin, and four after a subtraction. Suppose that the blamed
//! subexpression is wrong by the same instruction when it stands alone. Suppose also that the
//! device is right once the subexpression is replaced by its right value. Then the subexpression is
//! the fault, and is made minimal itself.

use super::campaign::{Judged, Tally, judge};
use super::case::{Case, Settings};
use super::device::UnderTest;
use super::{Difference, Engine, Verdict};
use crate::generate::shrink;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::syntax::Tree;

/// A small program with the same fault.
pub struct Minimal {
    /// The program.
    pub tree: Tree,
    /// The number of nodes of the program.
    pub nodes: usize,
    /// The verdict on it. If a device disagrees in several ways, it is the way that was kept.
    pub verdict: Verdict,
}

/// The most programs that are tried for one fault.
const TRIES: u32 = 2_000;
/// The most programs that are tried if each is also blamed.
const BLAMED_TRIES: u32 = 500;
/// The most programs that are tried if a device fails. Each may take as long as the time limit.
const FAILED_TRIES: u32 = 32;
/// How often the search repeats with the culprit of a minimal program.
const MAX_CULPRITS: u32 = 4;
/// The most components and ways of differing that are followed for one program.
const MAX_LANES: usize = 64;

/// The mistake that a program keeps while it shrinks.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// Two engines other than devices disagree.
    Semantics(Engine, Engine),
    /// The device crashes, hangs or is lost.
    Failed,
    /// The device disagrees in this way, with this instruction to blame if one was found.
    Device { way: String, instruction: Option<String> },
}

/// The results for a program.
struct Results {
    /// The verdict between the semantics.
    semantics: Verdict,
    /// The case, the verdict on the device, and the ways in which it disagrees. `None` if it did
    /// not run on the device.
    device: Option<(Box<Case>, Verdict, Vec<Difference>)>,
}

impl Results {
    fn verdict(self) -> Verdict {
        match self.device {
            Some((_, verdict, _)) => self.semantics.worse(verdict),
            None => self.semantics,
        }
    }
}

/// The verdict on one program, and on the device if there is one, with blame.
pub fn verdict(tree: &Tree, settings: &Settings, mut device: Option<UnderTest<'_>>) -> Verdict {
    let mut results = judge_program(tree, settings, device.as_mut());
    if let (Some((case, Verdict::Disagree(difference), _)), Some(device)) = (&mut results.device, device) {
        difference.search(case, settings, device.drawer);
    }
    results.verdict()
}

fn judge_program(tree: &Tree, settings: &Settings, device: Option<&mut UnderTest<'_>>) -> Results {
    let Judged { verdict, awaited } = judge(tree, settings, &mut Tally::default());
    let device = match (device, awaited) {
        (Some(device), Some((case, awaited))) => {
            let outcome = device.drawer.draw(case.dispatch(settings.size));
            let name = device.name();
            let (verdict, _) = awaited.compare(&outcome, &name, device.route);
            Some((Box::new(case), verdict, awaited.differences(&outcome, &name, device.route)))
        }
        _ => None,
    };
    Results { semantics: verdict, device }
}

/// For each fault of a program, the smallest program found that has it. Empty if the program has no
/// fault (any more).
pub fn minimal(tree: &Tree, settings: &Settings, mut device: Option<UnderTest<'_>>) -> Vec<Minimal> {
    let faults = faults(tree, settings, device.as_mut());
    let mut all: Vec<Minimal> = Vec::new();
    for (tree, fault) in faults {
        let mut minimal = shrink(&tree, settings, device.as_mut(), &fault);
        for _ in 0..MAX_CULPRITS {
            let Some((tree, fault)) = culprit(&minimal, settings, device.as_mut()) else { break };
            minimal = shrink(&tree, settings, device.as_mut(), &fault);
        }
        let same = |m: &Minimal| m.tree.same(&minimal.tree) && m.verdict == minimal.verdict;
        if !all.iter().any(same) {
            all.push(minimal);
        }
    }
    all
}

/// The faults of a program, each with the part of the program that shows it.
fn faults(tree: &Tree, settings: &Settings, device: Option<&mut UnderTest<'_>>) -> Vec<(Tree, Fault)> {
    let mut device = device;
    let results = judge_program(tree, settings, device.as_deref_mut());
    if let Verdict::Disagree(difference) = &results.semantics {
        let (trusted, judged) = difference.between.clone();
        return vec![(tree.clone(), Fault::Semantics(trusted, judged))];
    }
    let (Some((_, verdict, differences)), Some(device)) = (results.device, device) else { return Vec::new() };
    if matches!(verdict, Verdict::Failed(_)) {
        return vec![(tree.clone(), Fault::Failed)];
    }
    let mut faults: Vec<(Tree, Fault)> = Vec::new();
    for (i, difference) in differences.iter().enumerate() {
        let way = difference.way();
        let way_only = Fault::Device { way: way.clone(), instruction: None };
        // The blame may belong to another lane of the program. So the part that computes this lane
        // is tried first.
        let sliced = difference.place.and_then(|place| shrink::slice(tree, place.location, place.component));
        let mut candidates = sliced.into_iter().chain([tree.clone()]).take(if i < MAX_LANES { 2 } else { 0 });
        let shown = candidates.find_map(|tree| shows(&tree, settings, Some(&mut *device), &way_only, true).map(|verdict| (tree, verdict)));
        let fault = match shown {
            Some((tree, Verdict::Disagree(shown))) => {
                (tree, Fault::Device { way, instruction: shown.blame.map(|blame| blame.instruction) })
            }
            // A fault that was not followed, or not seen again, still counts.
            _ => (tree.clone(), way_only),
        };
        if !faults.iter().any(|(tree, known)| *known == fault.1 && tree.same(&fault.0)) {
            faults.push(fault);
        }
    }
    faults
}

/// The blamed subexpression of a minimal program as a program of its own, with its fault. `None`
/// unless it explains the whole fault.
fn culprit(minimal: &Minimal, settings: &Settings, mut device: Option<&mut UnderTest<'_>>) -> Option<(Tree, Fault)> {
    let Verdict::Disagree(difference) = &minimal.verdict else { return None };
    let blame = difference.blame.as_ref().filter(|_| matches!(difference.between.1, Engine::Device(_)))?;
    let alone = shrink::alone(&minimal.tree, blame.span)?;
    let mended = shrink::mended(&minimal.tree, blame.span, &alone)?;
    // The replacement must have the computed value on every pixel.
    let shown = |tree: &Tree| Some(Case::new(Program::resolve(tree).ok()?, settings).ok()?.run(settings).shown);
    if shown(&mended)? != shown(&minimal.tree)? {
        return None;
    }
    let without = judge_program(&mended, settings, device.as_deref_mut());
    let device_agrees = matches!(&without.device, Some((_, Verdict::Agree, _)));
    if without.semantics != Verdict::Agree || !device_agrees {
        return None;
    }
    let (case, _, differences) = judge_program(&alone, settings, device.as_deref_mut()).device?;
    differences.into_iter().take(MAX_LANES).find_map(|mut difference| {
        difference.search(&case, settings, device.as_deref_mut()?.drawer);
        let instruction = difference.blame.as_ref().map(|blame| blame.instruction.clone());
        let fault = Fault::Device { way: difference.way(), instruction };
        difference.blame.as_ref().is_some_and(|found| found.instruction == blame.instruction).then(|| (alone.clone(), fault))
    })
}

/// The smallest program found with the fault that `tree` has.
fn shrink(tree: &Tree, settings: &Settings, mut device: Option<&mut UnderTest<'_>>, fault: &Fault) -> Minimal {
    let mut has_way = |tree: &Tree| shows(tree, settings, device.as_deref_mut(), fault, false).is_some();
    let tries = if *fault == Fault::Failed { FAILED_TRIES } else { TRIES };
    let small = shrink::minimal(tree, &mut has_way, tries);
    let found = shows(&small, settings, device.as_deref_mut(), fault, true);
    let (tree, verdict) = match found {
        Some(verdict) => (small, verdict),
        None => {
            let mut has_fault = |tree: &Tree| shows(tree, settings, device.as_deref_mut(), fault, true).is_some();
            let small = shrink::minimal(tree, &mut has_fault, tries.min(BLAMED_TRIES));
            let found = shows(&small, settings, device.as_deref_mut(), fault, true);
            // The device may not show the fault again. Then its present result is the verdict.
            let verdict = found.unwrap_or_else(|| judge_program(&small, settings, device).verdict());
            (small, verdict)
        }
    };
    let nodes = tree.roots.iter().map(|&r| tree.size(r)).sum();
    Minimal { tree, nodes, verdict }
}

/// The verdict on a program that has the fault, otherwise `None`. With `with_blame`, the
/// instruction to blame is searched for. If the fault names one, they must be equal.
fn shows(tree: &Tree, settings: &Settings, device: Option<&mut UnderTest<'_>>, fault: &Fault, with_blame: bool) -> Option<Verdict> {
    let mut device = device;
    let on_semantics = matches!(fault, Fault::Semantics(..));
    let results = judge_program(tree, settings, if on_semantics { None } else { device.as_deref_mut() });
    match (fault, results.device) {
        (Fault::Semantics(trusted, judged), _) => match &results.semantics {
            Verdict::Disagree(d) if (&d.between.0, &d.between.1) == (trusted, judged) => Some(results.semantics),
            _ => None,
        },
        (Fault::Failed, Some((_, verdict @ Verdict::Failed(_), _))) => Some(verdict),
        (Fault::Device { way, instruction }, Some((case, _, differences))) => {
            differences.into_iter().filter(|d| d.way() == *way).take(MAX_LANES).find_map(|mut difference| {
                if with_blame {
                    difference.search(&case, settings, device.as_deref_mut()?.drawer);
                }
                let blamed = difference.blame.as_ref().map(|blame| &blame.instruction);
                let fits = !with_blame || instruction.is_none() || blamed == instruction.as_ref();
                fits.then(|| Verdict::Disagree(Box::new(difference)))
            })
        }
        _ => None,
    }
}
