//! Planted mistakes in the interpreters of dispatches, with the checks that must catch them. This
//! tests the oracle.
//!
//! A mistake is planted in place of a rule of the relation, in the compiled program of the lockstep
//! machine, or in the arithmetic that both share. If the two engines then show different results,
//! clean modules must catch it. If a report is missing, a twin must catch it. If both engines are
//! wrong in the same way, or no generated module has the feature, a vector must catch it. The
//! result of a vector is computed by hand.
//!
//! | module | contents |
//! |---|---|
//! | `machine` | mistakes in the lockstep machine |
//! | `relation` | mistakes in the rules of the relation |
//! | `shared` | mistakes in the operations that both engines share |
//! | `vectors` | dispatches of one invocation with a result computed by hand |

mod machine;
mod relation;
mod shared;
mod vectors;

pub use vectors::{Vector, all as vectors};

use crate::theorem::Unexpected;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use smallstep_semantics::number::PlantedComponent;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::spirv::environment::Observation;
use smallstep_semantics::spirv::lockstep::Parts;
use smallstep_semantics::spirv::step::RuleFunction;
use smallstep_semantics::spirv::{Relation, Rules};

use super::campaign::module_of;
use super::{Engines, Judged, judge, same};
use crate::generate::spirv::{ComputeCase, Defect, Limits};
use crate::theorem::campaign::locked;
use crate::theorem::planted::{Caught, Fate};

/// The place of a planted mistake, with the mistake.
#[derive(Clone, Copy)]
pub enum Plant {
    /// In the compiled program of the lockstep machine.
    Machine(fn(Parts<'_>)),
    /// In place of a rule of the relation.
    Rule(Rule, RuleFunction),
    /// In the arithmetic that both engines share.
    Shared(PlantedComponent),
}

impl Plant {
    /// The name of the place in reports.
    pub fn place(&self) -> &'static str {
        match self {
            Plant::Machine(_) => "lockstep machine",
            Plant::Rule(..) => "SPIR-V relation",
            Plant::Shared(_) => "both engines",
        }
    }

    /// The rule that it replaces, if any.
    pub fn rule(&self) -> Option<Rule> {
        if let Plant::Rule(rule, _) = self { Some(*rule) } else { None }
    }
}

/// The check that must catch a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The other engine, on clean modules.
    Clean,
    /// Twins with this defect, which must be reported.
    Twin(Defect),
    /// The vector with this name: a result computed by hand.
    Vector(&'static str),
    /// None: it is no mistake, for this reason.
    Equivalent(&'static str),
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Check::Clean => f.write_str("the engines on clean modules"),
            Check::Twin(defect) => write!(f, "the report of {defect:?}"),
            Check::Vector(name) => write!(f, "the vector \"{name}\""),
            Check::Equivalent(_) => f.write_str("none: equivalent"),
        }
    }
}

/// A planted mistake.
#[derive(Clone, Copy)]
pub struct Bug {
    /// Its unique name.
    pub name: &'static str,
    /// The check that must catch it.
    pub check: Check,
    /// The place and the mistake.
    pub plant: Plant,
}

impl Bug {
    /// The interpreters with the mistake.
    pub fn engines(&self) -> Engines {
        let mut engines = Engines::default();
        match self.plant {
            Plant::Machine(bug) => engines.planted = Some(Arc::new(bug)),
            Plant::Rule(rule, function) => {
                engines.relation = Relation { rules: Rules::standard().replace(rule, function), ..Relation::default() };
            }
            Plant::Shared(component) => {
                engines.relation.calculator.planted = Some(component);
                engines.planted = Some(Arc::new(move |parts: Parts<'_>| parts.calculator.planted = Some(component)));
            }
        }
        engines
    }
}

/// All planted mistakes.
pub fn table() -> Vec<Bug> {
    let mut table = machine::bugs();
    table.extend(relation::bugs());
    table.extend(shared::bugs());
    table
}

/// The settings of a hunt for mistakes. All mistakes are tried on the same modules, so that results
/// depend on nothing else.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// The seed of the first module. The next modules have the next seeds.
    pub seed: u64,
    /// The most modules, or twins, for one mistake.
    pub modules: u32,
    /// The number of modules that an equivalent change must survive.
    pub equivalent_modules: u32,
    /// The number of modules whose twins with each defect an equivalent change must survive.
    pub equivalent_twins: u32,
    /// The number of threads.
    pub threads: usize,
    /// The limits of the modules.
    pub limits: Limits,
}

impl Default for Hunt {
    fn default() -> Hunt {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let limits = Limits { executed: 100, shared_percent: 50, ..Limits::default() };
        Hunt { seed: 1, modules: 400, equivalent_modules: 100, equivalent_twins: 4, threads, limits }
    }
}

/// A clean module with the observation of the sound engines. The error says why there is none.
type Reference = Result<(ComputeCase, Observation), String>;

impl Hunt {
    /// Hunts all mistakes. `seen` is called with each as it is finished.
    pub fn all(&self, bugs: &[Bug], seen: &(dyn Fn(&Bug, &Fate) + Sync)) -> Vec<Fate> {
        let references: Vec<OnceLock<Reference>> = (0..self.modules).map(|_| OnceLock::new()).collect();
        let next = AtomicUsize::new(0);
        let fates: Mutex<Vec<Option<Fate>>> = Mutex::new(vec![None; bugs.len()]);
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(|| {
                    while let Some((i, bug)) = Some(next.fetch_add(1, Ordering::SeqCst)).and_then(|i| bugs.get(i).map(|bug| (i, bug))) {
                        let fate = self.hunt(bug, &references);
                        seen(bug, &fate);
                        locked(&fates)[i] = Some(fate);
                    }
                });
            }
        });
        let fates = fates.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        fates.into_iter().map(|fate| fate.unwrap_or(Fate::Survived)).collect()
    }

    fn hunt(&self, bug: &Bug, references: &[OnceLock<Reference>]) -> Fate {
        let engines = bug.engines();
        let caught = match bug.check {
            Check::Clean => self.clean(bug, &engines, self.modules, references),
            Check::Twin(defect) => self.twins(bug, defect, &engines, self.modules),
            Check::Vector(name) => wrong_vector(bug, &engines, |vector| vector.name == name),
            Check::Equivalent(_) => {
                let caught = self
                    .clean(bug, &engines, self.equivalent_modules, references)
                    .or_else(|| Defect::ALL.iter().find_map(|&defect| self.twins(bug, defect, &engines, self.equivalent_twins)))
                    .or_else(|| wrong_vector(bug, &engines, |_| true));
                return caught.map_or(Fate::Equivalent, Fate::NotEquivalent);
            }
        };
        caught.map_or(Fate::Survived, Fate::Caught)
    }

    fn clean(&self, bug: &Bug, engines: &Engines, modules: u32, references: &[OnceLock<Reference>]) -> Option<Caught> {
        // A mistake in the machine needs no second run of the relation, whose result is
        // the reference.
        let engines = Engines { without_relation: matches!(bug.plant, Plant::Machine(_)), ..engines.clone() };
        for (index, reference) in references.iter().enumerate().take(modules as usize) {
            let caught = |what: String| Some(Caught { by: bug.check.to_string(), what, after: index as u64 + 1, minimal: None });
            let (case, expected) = match reference.get_or_init(|| self.reference(index as u64)) {
                Ok(reference) => reference,
                // The module is wrong without a planted mistake too, so it catches none.
                Err(_) => continue,
            };
            let wrong = match judge(case, &engines) {
                Judged::Observed(shown) => same(expected, &shown).err().map(String::from),
                Judged::Wrong(_, what) => Some(what),
                Judged::Reported | Judged::Uncompiled(..) => None,
            };
            if let Some(what) = wrong {
                return caught(what);
            }
        }
        None
    }

    fn reference(&self, index: u64) -> Reference {
        let module = module_of(self.seed.wrapping_add(index), None, &self.limits).ok_or("no module")?;
        let case = module.case();
        match judge(&case, &Engines::default()) {
            Judged::Observed(observation) => Ok((case, observation)),
            other => Err(format!("{other:?}")),
        }
    }

    fn twins(&self, bug: &Bug, defect: Defect, engines: &Engines, count: u32) -> Option<Caught> {
        let engines = Engines { without_relation: matches!(bug.plant, Plant::Machine(_)), ..engines.clone() };
        let sound = Engines { without_relation: engines.without_relation, ..Engines::default() };
        for index in 0..count {
            let Some(twin) = module_of(self.seed.wrapping_add(index.into()), Some(defect), &self.limits) else { continue };
            let case = twin.case();
            if let Judged::Wrong(_, what) = judge(&case, &engines)
                && matches!(judge(&case, &sound), Judged::Reported)
            {
                return Some(Caught { by: bug.check.to_string(), what, after: u64::from(index) + 1, minimal: None });
            }
        }
        None
    }
}

/// The first of the chosen vectors whose result the engines do not show.
fn wrong_vector(bug: &Bug, engines: &Engines, is_chosen: impl Fn(&Vector) -> bool) -> Option<Caught> {
    vectors().filter(|vector| is_chosen(vector)).enumerate().find_map(|(at, vector)| {
        let Unexpected { what } = vector.judge(engines).err()?;
        Some(Caught { by: bug.check.to_string(), what, after: at as u64 + 1, minimal: None })
    })
}

/// One line of a report: the result for a mistake.
pub fn line(bug: &Bug, fate: &Fate) -> String {
    let fate = match fate {
        Fate::Caught(c) => format!("caught by {} after {}", c.by, c.after),
        Fate::Equivalent => "equivalent, and nothing caught it".into(),
        Fate::NotEquivalent(c) => format!("said to be equivalent, and caught by {}: {}", c.by, c.what),
        Fate::Survived => format!("SURVIVED {}", bug.check),
        Fate::Unchecked(why) => format!("unchecked: {why}"),
    };
    format!("{:<58} {:<16} {fate}", bug.name, bug.plant.place())
}
