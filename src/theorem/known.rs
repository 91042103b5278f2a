//! Which disagreements with a device are known: those whose minimal program is, in all that can be
//! compared, a quirk that this device still shows.
//!
//! What counts as known, of a program that a device disagrees on:
//!
//! 1. Every fault of the program ([`reduce::minimal`]: every way in which lanes differ, and every
//!    instruction blamed for that) is made minimal.
//! 2. For every minimal program there is a quirk of the same adapter, driver, route, profile and
//!    placing of constants, whose own program disagrees on this device, now, as it was recorded.
//!    What the driver no longer does explains nothing.
//! 3. The two programs disagree in the same way ([`Difference::way`]), to the sign of a zero and
//!    the direction of a last place, and the search for the culprit ends in the same way: with the
//!    same instruction, or without one for the same reason.
//! 4. The two programs have the same shape: the same constructs and builtins in the same places,
//!    zeros of the same signs, whatever the names and the other numbers. What the quirk's program
//!    comes to when it is made minimal too will do as well.
//!
//! A disagreement between the semantics, a device that crashes, hangs or is lost, and a
//! disagreement that does not come back are never known.
//!
//! What can still hide: of the lanes of one component that differ in one way, the first is
//! followed; and where a component's part of the program does not show its fault alone, the whole
//! program is made minimal, which may lead to another component's fault of the
//! same way and instruction.

use super::case::Settings;
use super::device::UnderTest;
use super::probe::Unblamed;
use super::quirk::Quirk;
use super::reduce::{self, Minimal};
use super::shape::Shape;
use super::{Difference, Engine, Verdict};
use smallstep_semantics::lambda_v::resolve::Program;
use std::collections::BTreeMap;

/// The quirks that a device shows.
pub struct Known {
    shown: Vec<Shown>,
    /// Quirks that are recorded of this device and that it does not show so, each with a sentence.
    /// They explain nothing.
    pub gone: Vec<(String, String)>,
}

/// A quirk as the device shows it.
struct Shown {
    quirk: Quirk,
    fault: Fault,
    /// The same of what its program comes to when it is made minimal; none before it was asked for.
    minimal: Option<Vec<Fault>>,
}

/// What is compared of a quirk and a minimal program.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    way: String,
    culprit: Culprit,
    shape: Shape,
}

/// How the search for the first wrong subexpression ended.
#[derive(Debug, PartialEq, Eq)]
enum Culprit {
    Instruction(String),
    Vanishes,
    Unknown,
    /// There was no lane to search for.
    NotSearched,
}

impl Fault {
    fn of(program: &Program, difference: &Difference) -> Fault {
        let culprit = match (&difference.blame, &difference.unblamed) {
            (Some(blame), _) => Culprit::Instruction(blame.instruction.clone()),
            (None, Some(Unblamed::Vanishes { .. })) => Culprit::Vanishes,
            (None, Some(Unblamed::Unknown { .. })) => Culprit::Unknown,
            (None, None) => Culprit::NotSearched,
        };
        Fault { way: difference.way(), culprit, shape: Shape::of(program) }
    }

    /// Nothing if it is not about a device that disagrees.
    fn of_minimal(minimal: &Minimal) -> Option<Fault> {
        let Verdict::Disagree(difference) = &minimal.verdict else { return None };
        let program = Program::resolve(&minimal.tree).ok()?;
        matches!(difference.between.1, Engine::Device(_)).then(|| Fault::of(&program, difference))
    }
}

impl Known {
    /// Runs the quirks that are recorded of this device, on its route, with constants placed as the
    /// settings have it and under their profile: quirks are recorded under the route's own.
    pub fn on(device: &mut UnderTest<'_>, quirks: &[Quirk], settings: &Settings) -> Known {
        let mut known = Known { shown: Vec::new(), gone: Vec::new() };
        for quirk in quirks {
            if quirk.constants != settings.constants
                || quirk.settings().profile.controls() != settings.profile.controls()
                || !quirk.is_of(device)
            {
                continue;
            }
            let verdict = quirk.judge(Some(device));
            match quirk.is_recorded(&verdict) {
                Ok(difference) => {
                    let fault = Fault::of(&quirk.program, difference);
                    known.shown.push(Shown { quirk: quirk.clone(), fault, minimal: None });
                }
                Err(why) => known.gone.push((quirk.name.clone(), why.what)),
            }
        }
        known
    }

    /// Whether the device shows no quirk, so that nothing is known.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// The quirk that a minimal program is, if it is one. `device` is the one that the quirks were
    /// found on.
    pub fn name_of(&mut self, minimal: &Minimal, device: &mut UnderTest<'_>) -> Option<String> {
        let fault = Fault::of_minimal(minimal)?;
        if let Some(shown) = self.shown.iter().find(|shown| shown.fault == fault) {
            return Some(shown.quirk.name.clone());
        }
        for shown in self.shown.iter_mut().filter(|shown| shown.fault.way == fault.way) {
            let minimal = shown.minimal.get_or_insert_with(|| {
                let faults = reduce::minimal(&shown.quirk.tree, &shown.quirk.settings(), Some(device.again()));
                faults.iter().filter_map(Fault::of_minimal).collect()
            });
            // A quirk of several faults is none of them alone.
            if matches!(minimal.as_slice(), [only] if *only == fault) {
                return Some(shown.quirk.name.clone());
            }
        }
        None
    }

    /// The quirk of each fault of a program, and, if all are known, all of them in words.
    pub fn explain(&mut self, faults: &[Minimal], device: &mut UnderTest<'_>) -> Explanation {
        let each: Vec<Option<String>> = faults.iter().map(|minimal| self.name_of(minimal, device)).collect();
        let names: Option<std::collections::BTreeSet<&str>> = each.iter().map(Option::as_deref).collect();
        let all = names.filter(|names| !names.is_empty()).map(|names| names.into_iter().collect::<Vec<_>>().join(" and "));
        Explanation { each, all }
    }
}

/// What explains a program's disagreement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Of each fault, the quirk that it is.
    pub each: Vec<Option<String>>,
    /// The quirks, each once, joined by " and "; none if some fault is not known, or there is none.
    pub all: Option<String>,
}

/// How many disagreements are known, and by which quirks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// Disagreements by what explains them, as [`Explanation::all`] names it.
    pub by_name: BTreeMap<String, u64>,
}

impl Explained {
    /// Counts a disagreement, if something explains it.
    pub fn count(&mut self, name: Option<String>) {
        if let Some(name) = name {
            *self.by_name.entry(name).or_default() += 1;
        }
    }

    /// All that are known.
    pub fn all(&self) -> u64 {
        self.by_name.values().sum()
    }
}

impl std::fmt::Display for Explained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} known", self.all())?;
        let names: Vec<String> = self.by_name.iter().map(|(name, n)| format!("{name}: {n}")).collect();
        if names.is_empty() { Ok(()) } else { write!(f, " ({})", names.join(", ")) }
    }
}
