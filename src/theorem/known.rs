//! Which disagreements with a device are known: those whose minimal program is, in all that can be compared, a quirk that this device still shows.
//!
//! What counts as known, of a program that a device disagrees on:
//!
//! 1. Every fault of the program ([`reduce::minimal`]: every way in which lanes differ, and every instruction blamed for that) is made minimal.
//! 2. For every minimal program there is a quirk of the same adapter, driver, route and placing of constants, whose own program disagrees on
//!    this device, now, as it was recorded. What the driver no longer does explains nothing.
//! 3. The two programs disagree in the same way ([`Difference::way`]), to the sign of a zero and the direction of a last place, and the search for
//!    the culprit ends in the same way: with the same instruction, or without one for the same reason.
//! 4. The two programs have the same [`Shape`]: the same constructs and builtins in the same places, zeros of the same signs, whatever the names and
//!    the other numbers.
//!
//! A disagreement between the semantics, or a device that crashes, hangs or is lost, is never known. Of the lanes of one component that differ in one
//! way, the first is followed.

use super::case::Settings;
use super::device::UnderTest;
use super::probe::Unblamed;
use super::quirk::Quirk;
use super::reduce::Minimal;
use super::shape::Shape;
use super::{Difference, Engine, Verdict};
use smallstep_semantics::lambda_v::resolve::Program;
use std::collections::BTreeMap;

/// The quirks that a device shows.
pub struct Known {
    shown: Vec<Shown>,
    /// Quirks that are recorded of this device and that it does not show so, each with a sentence. They explain nothing.
    pub gone: Vec<(String, String)>,
}

/// A quirk as the device shows it.
struct Shown {
    name: String,
    fault: Fault,
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
}

impl Known {
    /// Runs the quirks that are recorded of this device, on its route, with constants placed as the settings have it.
    pub fn on(device: &mut UnderTest<'_>, quirks: &[Quirk], settings: &Settings) -> Known {
        let mut known = Known { shown: Vec::new(), gone: Vec::new() };
        for quirk in quirks {
            if quirk.constants != settings.constants || !quirk.is_of(device) {
                continue;
            }
            let verdict = quirk.judge(Some(device));
            match quirk.is_recorded(&verdict) {
                Ok(difference) => known.shown.push(Shown { name: quirk.name.clone(), fault: Fault::of(&quirk.program, difference) }),
                Err(why) => known.gone.push((quirk.name.clone(), why)),
            }
        }
        known
    }

    /// The quirk that a minimal program is, if it is one.
    pub fn name_of(&self, minimal: &Minimal) -> Option<&str> {
        let Verdict::Disagree(difference) = &minimal.verdict else { return None };
        if !matches!(difference.between.1, Engine::Device(_)) {
            return None;
        }
        let fault = Fault::of(&Program::resolve(&minimal.tree).ok()?, difference);
        self.shown.iter().find(|shown| shown.fault == fault).map(|shown| shown.name.as_str())
    }

    /// The quirks that a program's disagreement comes from, each once, joined by " and "; none if some fault of it is not known.
    pub fn explain(&self, faults: &[Minimal]) -> Option<String> {
        let mut names = faults.iter().map(|minimal| self.name_of(minimal)).collect::<Option<Vec<&str>>>()?;
        names.sort_unstable();
        names.dedup();
        (!names.is_empty()).then(|| names.join(" and "))
    }
}

/// How many disagreements are known, and by which quirks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// Disagreements by what explains them, as [`Known::explain`] names it.
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
