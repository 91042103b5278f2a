//! Known disagreements with a device: their minimal programs equal, in all that can be compared, a
//! quirk that this device still shows.
//!
//! The conditions for a known disagreement of a program with a device:
//!
//! 1. Every fault of the program ([`reduce::minimal`]: every way in which lanes differ, and every
//!    instruction blamed for that) is made minimal.
//! 2. For every minimal program there is a quirk of the same adapter, driver, route, profile and
//!    placement of constants. The quirk's own program must still disagree on this device as it was
//!    recorded. A quirk that the driver no longer shows explains nothing.
//! 3. The two programs disagree in the same way ([`Difference::way`]). The way includes the sign of
//!    a zero and the direction of a difference of one unit in the last place. The search for the
//!    culprit also ends in the same way: with the same instruction, or without one for the same
//!    reason.
//! 4. The two programs have the same shape: the same constructs and builtins in the same places,
//!    and zeros of the same signs. Names and other numbers do not count. The quirk's program may
//!    also be made minimal first and compared then.
//!
//! A disagreement between the semantics, a device that crashes, hangs or is lost, and a
//! disagreement that does not return are never known.
//!
//! Some faults can still hide. Of the lanes of one component that differ in one way, only the first
//! is followed. If the part of the program that computes a component does not show its fault alone,
//! the whole program is made minimal. That may lead to another component's fault with the same way
//! and instruction.

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
    /// Quirks that are recorded for this device and that it no longer shows: the name and a
    /// sentence. They explain nothing.
    pub gone: Vec<(String, String)>,
}

/// A quirk that the device shows.
struct Shown {
    quirk: Quirk,
    fault: Fault,
    /// The faults of the minimal programs of its program. Computed on first use.
    minimal: Option<Vec<Fault>>,
}

/// The part of a quirk or a minimal program that is compared.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    way: String,
    culprit: Culprit,
    shape: Shape,
}

/// The result of the search for the first wrong subexpression.
#[derive(Debug, PartialEq, Eq)]
enum Culprit {
    Instruction(String),
    Vanishes,
    Unknown,
    /// No lane differs, so there was no search.
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

    /// The fault of a minimal program. `None` if no device disagrees on it.
    fn of_minimal(minimal: &Minimal) -> Option<Fault> {
        let Verdict::Disagree(difference) = &minimal.verdict else { return None };
        let program = Program::resolve(&minimal.tree).ok()?;
        matches!(difference.between.1, Engine::Device(_)).then(|| Fault::of(&program, difference))
    }
}

impl Known {
    /// Runs the quirks that are recorded for this device, on its route, with the settings'
    /// placement of constants and profile. Quirks are recorded under the route's own profile.
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

    /// Whether the device shows no quirk. Then no disagreement is known.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// The quirk that equals a minimal program, if there is one. `device` must be the device
    /// of [`Known::on`].
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
            // A quirk with several faults equals none of them alone.
            if matches!(minimal.as_slice(), [only] if *only == fault) {
                return Some(shown.quirk.name.clone());
            }
        }
        None
    }

    /// The quirk of each fault of a program, and if all faults are known, their names.
    pub fn explain(&mut self, faults: &[Minimal], device: &mut UnderTest<'_>) -> Explanation {
        let each: Vec<Option<String>> = faults.iter().map(|minimal| self.name_of(minimal, device)).collect();
        let names: Option<std::collections::BTreeSet<&str>> = each.iter().map(Option::as_deref).collect();
        let all = names.filter(|names| !names.is_empty()).map(|names| names.into_iter().collect::<Vec<_>>().join(" and "));
        Explanation { each, all }
    }
}

/// The explanation of a program's disagreement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// For each fault, the name of its quirk. `None` if it is not known.
    pub each: Vec<Option<String>>,
    /// The names of the quirks, each once, joined by " and ". `None` if a fault is not known, or
    /// there is no fault.
    pub all: Option<String>,
}

/// The numbers of known disagreements, by their quirks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// The number of disagreements by their explanation, as in [`Explanation::all`].
    pub by_name: BTreeMap<String, u64>,
}

impl Explained {
    /// Counts a disagreement, if it is explained.
    pub fn count(&mut self, name: Option<String>) {
        if let Some(name) = name {
            *self.by_name.entry(name).or_default() += 1;
        }
    }

    /// The number of known disagreements.
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
