//! Making a disagreement minimal.
//!
//! A small program is of use only if it shows what the large one did. So what is kept while a
//! program shrinks is not that something is wrong, but one fault: the engines, the way in which
//! their lanes differ, and the instruction that the device is to be blamed for. A program may have
//! several faults: each component of each output, and each way in which it differs, is made minimal
//! for itself, beginning with the part of the program that makes the component. Blame takes many
//! dispatches; so shrinking keeps the way first, and only if that led to another instruction, it is
//! done again with both.
//!
//! A wrong value may be seen far from where it comes about, in another way: one place too low, and
//! four after a difference. Where the blamed subexpression is wrong by the same instruction when it
//! stands alone, and the device makes of the program what it should once the right value is written
//! in its place, then that subexpression is the fault, and is made minimal itself.

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
    /// Its nodes.
    pub nodes: usize,
    /// Its verdict. Of a device that disagrees in several ways, the way that was kept.
    pub verdict: Verdict,
}

/// The most programs that are tried for one fault.
const TRIES: u32 = 2_000;
/// The most that are tried where each is blamed too.
const BLAMED_TRIES: u32 = 500;
/// The most that are tried where a device fails: each may take as long as a program may.
const FAILED_TRIES: u32 = 32;
/// How many times a culprit is looked for in what is left of a culprit.
const MAX_CULPRITS: u32 = 4;
/// The most components and ways of one program that are followed.
const MAX_LANES: usize = 64;

/// What is wrong with a program, and stays wrong while it shrinks.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    /// Two engines other than devices disagree.
    Semantics(Engine, Engine),
    /// The device crashes, hangs or is lost.
    Failed,
    /// The device disagrees in this way, by this instruction if one can be named.
    Device { way: String, instruction: Option<String> },
}

/// A program as it was seen.
struct Seen {
    /// What the semantics make of it.
    semantics: Verdict,
    /// What the device makes of it, and the ways in which it disagrees; nothing if
    /// it was not asked.
    device: Option<(Box<Case>, Verdict, Vec<Difference>)>,
}

impl Seen {
    fn verdict(self) -> Verdict {
        match self.device {
            Some((_, verdict, _)) => self.semantics.worse(verdict),
            None => self.semantics,
        }
    }
}

/// The verdict on one program, and on the device if there is one; with blame.
pub fn verdict(tree: &Tree, settings: &Settings, mut device: Option<UnderTest<'_>>) -> Verdict {
    let mut seen = see(tree, settings, device.as_mut());
    if let (Some((case, Verdict::Disagree(difference), _)), Some(device)) = (&mut seen.device, device) {
        difference.search(case, settings, device.drawer);
    }
    seen.verdict()
}

fn see(tree: &Tree, settings: &Settings, device: Option<&mut UnderTest<'_>>) -> Seen {
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
    Seen { semantics: verdict, device }
}

/// For each fault of a program, the smallest program found that has it. Empty if nothing is wrong
/// with the program (any more).
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

/// The faults of a program, each with the part of it that shows it.
fn faults(tree: &Tree, settings: &Settings, device: Option<&mut UnderTest<'_>>) -> Vec<(Tree, Fault)> {
    let mut device = device;
    let seen = see(tree, settings, device.as_deref_mut());
    if let Verdict::Disagree(difference) = &seen.semantics {
        let (believed, judged) = difference.between.clone();
        return vec![(tree.clone(), Fault::Semantics(believed, judged))];
    }
    let (Some((_, verdict, differences)), Some(device)) = (seen.device, device) else { return Vec::new() };
    if matches!(verdict, Verdict::Failed(_)) {
        return vec![(tree.clone(), Fault::Failed)];
    }
    let mut faults: Vec<(Tree, Fault)> = Vec::new();
    for (i, difference) in differences.iter().enumerate() {
        let way = difference.way();
        let by_way = Fault::Device { way: way.clone(), instruction: None };
        // What is blamed need not be what made this lane wrong, as long as there is more to blame
        // than this lane.
        let sliced = difference.place.and_then(|place| shrink::slice(tree, place.location, place.component));
        let mut candidates = sliced.into_iter().chain([tree.clone()]).take(if i < MAX_LANES { 2 } else { 0 });
        let shown = candidates.find_map(|tree| shows(&tree, settings, Some(&mut *device), &by_way, true).map(|verdict| (tree, verdict)));
        let fault = match shown {
            Some((tree, Verdict::Disagree(shown))) => {
                (tree, Fault::Device { way, instruction: shown.blame.map(|blame| blame.instruction) })
            }
            // Not followed, or not seen again: a fault all the same.
            _ => (tree.clone(), by_way),
        };
        if !faults.iter().any(|(tree, known)| *known == fault.1 && tree.same(&fault.0)) {
            faults.push(fault);
        }
    }
    faults
}

/// The blamed subexpression of a minimal program as a program of its own, with what is wrong there,
/// if that is all that is wrong.
fn culprit(minimal: &Minimal, settings: &Settings, mut device: Option<&mut UnderTest<'_>>) -> Option<(Tree, Fault)> {
    let Verdict::Disagree(difference) = &minimal.verdict else { return None };
    let blame = difference.blame.as_ref().filter(|_| matches!(difference.between.1, Engine::Device(_)))?;
    let alone = shrink::alone(&minimal.tree, blame.span)?;
    let mended = shrink::mended(&minimal.tree, blame.span, &alone)?;
    // The value that was written must be the one that was computed, on every pixel.
    let shown = |tree: &Tree| Some(Case::new(Program::resolve(tree).ok()?, settings).ok()?.run(settings).shown);
    if shown(&mended)? != shown(&minimal.tree)? {
        return None;
    }
    let without = see(&mended, settings, device.as_deref_mut());
    let right = matches!(&without.device, Some((_, Verdict::Agree, _)));
    if without.semantics != Verdict::Agree || !right {
        return None;
    }
    let (case, _, differences) = see(&alone, settings, device.as_deref_mut()).device?;
    differences.into_iter().take(MAX_LANES).find_map(|mut difference| {
        difference.search(&case, settings, device.as_deref_mut()?.drawer);
        let instruction = difference.blame.as_ref().map(|blame| blame.instruction.clone());
        let fault = Fault::Device { way: difference.way(), instruction };
        difference.blame.as_ref().is_some_and(|found| found.instruction == blame.instruction).then(|| (alone.clone(), fault))
    })
}

/// The smallest program found that has the fault, as `tree` has.
fn shrink(tree: &Tree, settings: &Settings, mut device: Option<&mut UnderTest<'_>>, fault: &Fault) -> Minimal {
    let mut by_way = |tree: &Tree| shows(tree, settings, device.as_deref_mut(), fault, false).is_some();
    let tries = if *fault == Fault::Failed { FAILED_TRIES } else { TRIES };
    let small = shrink::minimal(tree, &mut by_way, tries);
    let found = shows(&small, settings, device.as_deref_mut(), fault, true);
    let (tree, verdict) = match found {
        Some(verdict) => (small, verdict),
        None => {
            let mut by_both = |tree: &Tree| shows(tree, settings, device.as_deref_mut(), fault, true).is_some();
            let small = shrink::minimal(tree, &mut by_both, tries.min(BLAMED_TRIES));
            let found = shows(&small, settings, device.as_deref_mut(), fault, true);
            // A device that changes its mind shows it no more: what it says now is the verdict.
            let verdict = found.unwrap_or_else(|| see(&small, settings, device).verdict());
            (small, verdict)
        }
    };
    let nodes = tree.roots.iter().map(|&r| tree.size(r)).sum();
    Minimal { tree, nodes, verdict }
}

/// The verdict on a program that has the fault. `blames`: the instruction is searched for, and must
/// be the fault's if that names one.
fn shows(tree: &Tree, settings: &Settings, device: Option<&mut UnderTest<'_>>, fault: &Fault, blames: bool) -> Option<Verdict> {
    let mut device = device;
    let on_semantics = matches!(fault, Fault::Semantics(..));
    let seen = see(tree, settings, if on_semantics { None } else { device.as_deref_mut() });
    match (fault, seen.device) {
        (Fault::Semantics(believed, judged), _) => match &seen.semantics {
            Verdict::Disagree(d) if (&d.between.0, &d.between.1) == (believed, judged) => Some(seen.semantics),
            _ => None,
        },
        (Fault::Failed, Some((_, verdict @ Verdict::Failed(_), _))) => Some(verdict),
        (Fault::Device { way, instruction }, Some((case, _, differences))) => {
            differences.into_iter().filter(|d| d.way() == *way).take(MAX_LANES).find_map(|mut difference| {
                if blames {
                    difference.search(&case, settings, device.as_deref_mut()?.drawer);
                }
                let blamed = difference.blame.as_ref().map(|blame| &blame.instruction);
                let fits = !blames || instruction.is_none() || blamed == instruction.as_ref();
                fits.then(|| Verdict::Disagree(Box::new(difference)))
            })
        }
        _ => None,
    }
}
