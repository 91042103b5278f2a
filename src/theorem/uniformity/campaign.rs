//! Campaigns of generated programs, each judged by an analysis and by executions.

use super::execution::{Executions, Observed};
use super::{Analysis, Language, Rejected};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most cases of a kind that are kept and shrunk.
pub const MAX_CASES: usize = 5;
/// The most trees that are tried while a case is shrunk.
const MAX_TREES: usize = 20_000;

/// The settings of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The seed of the first program. Program i has the seed `seed + i`.
    pub seed: u64,
    /// The number of programs.
    pub count: u64,
    /// The number of threads. 0 counts as 1.
    pub threads: usize,
    /// The executions of each program.
    pub executions: Executions,
    /// One program in so many also runs on the reference interpreter. 0: none.
    pub references: u64,
    /// The number of causes, the most frequent first, with a shrunk example.
    pub examples: usize,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan { seed: 1, count: 10_000, threads: 1, executions: Executions::default(), references: 200, examples: MAX_CASES }
    }
}

/// A program that shows a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its seed.
    pub seed: u64,
    /// Its text, shrunk.
    pub text: String,
    /// The result, in words.
    pub what: String,
}

/// Programs that are rejected for the same reason although no run shows their threads apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The reason of the rejection.
    pub cause: String,
    /// The number of programs.
    pub count: u64,
    /// The least seed of these programs.
    pub seed: u64,
    /// The program of that seed, shrunk, if the plan asks for an example.
    pub example: Option<Case>,
}

/// The results of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The number of judged programs.
    pub programs: u64,
    /// The number of programs whose threads are apart in some run.
    pub apart: u64,
    /// The number of programs that the analysis accepts.
    pub accepted: u64,
    /// The number of programs whose threads meet at least once, and are never apart.
    pub met: u64,
    /// The number of accepted programs that no run shows apart.
    pub accepted_together: u64,
    /// The number of programs that no run shows apart, with a thread that did not end.
    pub cut: u64,
    /// The number of accepted programs whose threads are apart. It must be 0.
    pub unsound: u64,
    /// The unsound cases with the least seeds, shrunk.
    pub unsound_cases: Vec<Case>,
    /// The programs that no run shows apart and that are rejected, by cause, the most
    /// frequent first.
    pub causes: Vec<Cause>,
    /// The number of programs that were not judged, for example as invalid or unsupported, or on
    /// which the interpreters disagree. It must be 0.
    pub failures: u64,
    /// The failures with the least seeds.
    pub failure_cases: Vec<Case>,
    /// The number of programs that ran on the reference interpreter.
    pub references: u64,
}

impl Found {
    /// The number of programs that no run shows apart.
    pub fn together(&self) -> u64 {
        self.programs - self.apart
    }

    /// The percentage of accepted programs among those that no run shows apart.
    pub fn precision(&self) -> f64 {
        100.0 * self.accepted_together as f64 / self.together().max(1) as f64
    }

    /// The percentage of programs whose threads are apart in some run.
    pub fn apart_percent(&self) -> f64 {
        100.0 * self.apart as f64 / self.programs.max(1) as f64
    }

    fn add(&mut self, other: &Found) {
        self.programs += other.programs;
        self.apart += other.apart;
        self.accepted += other.accepted;
        self.met += other.met;
        self.accepted_together += other.accepted_together;
        self.cut += other.cut;
        self.unsound += other.unsound;
        self.failures += other.failures;
        self.references += other.references;
        self.unsound_cases.extend_from_slice(&other.unsound_cases);
        self.failure_cases.extend_from_slice(&other.failure_cases);
    }

    fn fail(&mut self, seed: u64, text: String, what: String) {
        self.failures += 1;
        keep(&mut self.failure_cases, Case { seed, text, what });
    }
}

/// Keeps the cases with the least seeds.
fn keep(cases: &mut Vec<Case>, case: Case) {
    cases.push(case);
    cases.sort_by_key(|case| case.seed);
    cases.truncate(MAX_CASES);
}

/// The results of one worker.
#[derive(Default)]
struct Counted {
    found: Found,
    /// By reason: the number of rejected programs, and the least seed.
    causes: BTreeMap<String, (u64, u64)>,
}

impl Counted {
    fn judge<L: Language>(&mut self, plan: &Plan, seed: u64, is_sampled: bool, analysis: Analysis<L::Program>) {
        let tree = L::generated(seed);
        let found = &mut self.found;
        let typed = match L::program(&tree) {
            Ok(typed) => typed,
            Err(why) => return found.fail(seed, L::text(&tree), format!("it is not valid: {why}")),
        };
        let observed = L::observed(&tree, &typed, seed, &plan.executions);
        if is_sampled {
            found.references += 1;
            if let Some(what) = L::disagreement(&tree, &typed, seed, &plan.executions) {
                found.fail(seed, L::text(&tree), format!("the interpreters do not agree: {what}"));
            }
        }
        let is_apart = match observed {
            Observed::Unjudged(why) => return found.fail(seed, L::text(&tree), format!("it is not judged: {why}")),
            Observed::Apart { .. } => true,
            Observed::Together { met, cut } => {
                found.met += u64::from(met > 0);
                found.cut += u64::from(cut);
                false
            }
        };
        found.programs += 1;
        found.apart += u64::from(is_apart);
        match (analysis(&typed), is_apart) {
            (Ok(()), true) => {
                found.accepted += 1;
                found.unsound += 1;
                keep(&mut found.unsound_cases, Case { seed, text: String::new(), what: String::new() });
            }
            (Ok(()), false) => {
                found.accepted += 1;
                found.accepted_together += 1;
            }
            (Err(_), true) => {}
            (Err(cause), false) => {
                let (count, first) = self.causes.entry(cause.why).or_insert((0, seed));
                *count += 1;
                *first = seed.min(*first);
            }
        }
    }
}

/// Judges the programs of a plan. `progress` is called after each program.
pub fn campaign<L: Language>(plan: &Plan, analysis: Analysis<L::Program>, progress: &(dyn Fn() + Sync)) -> Found {
    let next = AtomicU64::new(0);
    let all = Mutex::new(Counted::default());
    std::thread::scope(|scope| {
        for _ in 0..plan.threads.max(1) {
            scope.spawn(|| {
                let mut counted = Counted::default();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= plan.count {
                        break;
                    }
                    let is_sampled = plan.references > 0 && i.is_multiple_of(plan.references);
                    counted.judge::<L>(plan, plan.seed.wrapping_add(i), is_sampled, analysis);
                    progress();
                }
                let mut all = all.lock().unwrap_or_else(|e| e.into_inner());
                all.found.add(&counted.found);
                for (cause, (count, seed)) in counted.causes {
                    let (total, first) = all.causes.entry(cause).or_insert((0, seed));
                    *total += count;
                    *first = seed.min(*first);
                }
            });
        }
    });
    let Counted { mut found, causes } = all.into_inner().unwrap_or_else(|e| e.into_inner());
    for cases in [&mut found.unsound_cases, &mut found.failure_cases] {
        cases.sort_by_key(|case| case.seed);
        cases.truncate(MAX_CASES);
    }
    found.unsound_cases = found.unsound_cases.iter().map(|case| unsound::<L>(plan, case.seed, analysis)).collect();
    found.causes = causes.into_iter().map(|(cause, (count, seed))| Cause { cause, count, seed, example: None }).collect();
    found.causes.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.cause.cmp(&b.cause)));
    for cause in found.causes.iter_mut().take(plan.examples) {
        cause.example = Some(imprecise::<L>(plan, cause, analysis));
    }
    found
}

/// An accepted program whose threads are apart, shrunk.
fn unsound<L: Language>(plan: &Plan, seed: u64, analysis: Analysis<L::Program>) -> Case {
    let apart_text = |tree: &L::Tree| {
        let typed = L::program(tree).ok()?;
        match (analysis(&typed), L::observed(tree, &typed, seed, &plan.executions)) {
            (Ok(()), Observed::Apart { run, what }) => Some(format!("run {run}: {what}")),
            _ => None,
        }
    };
    let small = L::shrunk(&L::generated(seed), MAX_TREES, &mut |tree| apart_text(tree).is_some());
    Case { seed, text: L::text(&small), what: apart_text(&small).unwrap_or_default() }
}

/// A program that is rejected for a reason and that no run shows apart, shrunk. If its threads
/// meet, or end, the shrunk program's threads do so too.
fn imprecise<L: Language>(plan: &Plan, cause: &Cause, analysis: Analysis<L::Program>) -> Case {
    // Whether the threads meet, and whether all of them end.
    let shown = |tree: &L::Tree| -> Option<(bool, bool)> {
        let typed = L::program(tree).ok()?;
        if analysis(&typed) != Err(Rejected::new(&cause.cause)) {
            return None;
        }
        match L::observed(tree, &typed, cause.seed, &plan.executions) {
            Observed::Together { met, cut } => Some((met > 0, !cut)),
            _ => None,
        }
    };
    let tree = L::generated(cause.seed);
    let (meet, end) = shown(&tree).unwrap_or_default();
    let small = L::shrunk(&tree, MAX_TREES, &mut |tree| shown(tree).is_some_and(|(met, ended)| (met || !meet) && (ended || !end)));
    Case { seed: cause.seed, text: L::text(&small), what: cause.cause.clone() }
}
