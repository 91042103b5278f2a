//! What generated WSL programs are translated to, through an optimiser or through WGSL: modules with
//! images and samplers, stages and draws, which generated compute modules have not. Each dispatch and
//! each draw has the one input that its program has.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::{Value, json};

use super::optimised::{Ends, Optimised, Optimiser, optimised_any};
use crate::compile::wsl::Options;
use crate::dispatch::Dispatch;
use crate::generate::wsl as shrink;
use crate::theorem::without_numbers;
use crate::theorem::wsl::{Programs, translated};

/// How many programs are judged between two reports of progress.
const CHUNK: u64 = 64;
/// The most programs that are tried to make one finding smaller.
const QUESTIONS: u32 = 1_000;

/// What is run.
#[derive(Clone)]
pub struct Plan {
    /// The kinds of programs, which take turns: program i is of kind i modulo their number.
    pub programs: Vec<Programs>,
    /// The seed of the first; the others follow it.
    pub seed: u64,
    /// How many programs.
    pub count: u64,
    /// Threads.
    pub threads: usize,
    /// What must refine what programs are translated to.
    pub optimiser: Optimiser,
}

/// What has been compared, of one kind of dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What shows what the modules allow.
    pub agree: u64,
    /// What is of modules that are undefined, and allow everything.
    pub vacuous: u64,
    /// What is not wholly compared, by why.
    pub undecided: BTreeMap<String, u64>,
    /// What is wrong.
    pub wrong: u64,
}

impl Counts {
    /// How many there are.
    pub fn all(&self) -> u64 {
        self.agree + self.vacuous + self.wrong + self.undecided.values().sum::<u64>()
    }
}

/// What is wrong with one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of program.
    pub programs: Programs,
    /// The seed from which it is generated.
    pub seed: u64,
    /// What it is, one sentence.
    pub what: String,
    /// How the optimiser is wrong.
    pub ends: Ends,
}

/// What a campaign came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Programs.
    pub programs: u64,
    /// By kind of dispatch: "dispatches", "draws", and both "with images".
    pub counts: BTreeMap<&'static str, Counts>,
    /// What is wrong, of each program the first, by their order.
    pub findings: Vec<Finding>,
}

impl Tally {
    /// As one JSON object.
    pub fn to_json(&self) -> Value {
        let counts = self.counts.iter().map(|(kind, c)| {
            (kind.to_string(), json!({"agree": c.agree, "vacuous": c.vacuous, "undecided": c.undecided, "wrong": c.wrong}))
        });
        json!({
            "programs": self.programs, "counts": counts.collect::<serde_json::Map<_, _>>(),
            "findings": self.findings.iter().map(|f| json!({"of": f.programs.name(), "seed": f.seed, "what": f.what})).collect::<Vec<_>>(),
        })
    }

    fn count(&mut self, done: Done) {
        self.programs += 1;
        let mut first = None;
        for (kind, became) in done.became {
            let counts = self.counts.entry(kind).or_default();
            match became {
                Optimised::Allowed => counts.agree += 1,
                Optimised::Vacuous => counts.vacuous += 1,
                Optimised::Undecided(why) | Optimised::Unchecked(why) => *counts.undecided.entry(why).or_default() += 1,
                Optimised::Wrong { what, ends } => {
                    counts.wrong += 1;
                    first.get_or_insert((what, ends));
                }
            }
        }
        let finding = first.map(|(what, ends)| Finding { programs: done.programs, seed: done.seed, what, ends });
        self.findings.extend(finding);
    }
}

/// What became of one program.
struct Done {
    programs: Programs,
    seed: u64,
    became: Vec<(&'static str, Optimised)>,
}

fn kind(dispatch: &Dispatch) -> &'static str {
    match dispatch {
        Dispatch::Draw(draw) if draw.images.is_empty() => "draws",
        Dispatch::Draw(_) => "draws with images",
        Dispatch::Compute(dispatch) if !dispatch.images.is_empty() => "dispatches with images",
        _ => "dispatches",
    }
}

impl Plan {
    /// The kind of program `index`, and its seed.
    fn program(&self, index: u64) -> (Programs, u64) {
        let kinds = self.programs.len().max(1) as u64;
        let programs = self.programs.get((index % kinds) as usize).copied().unwrap_or(Programs::Draws);
        (programs, self.seed.wrapping_add(index / kinds))
    }

    fn one(&self, programs: Programs, seed: u64, text: Option<&str>) -> Done {
        let mut became = Vec::new();
        translated(programs, seed, text, &Options::default(), &mut |_, dispatch| {
            became.push((kind(&dispatch), optimised_any(&dispatch, &self.optimiser)));
        });
        Done { programs, seed, became }
    }

    fn chunk(&self, first: u64, end: u64) -> Vec<Done> {
        let next = AtomicU64::new(first);
        let work = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= end {
                    return done;
                }
                let (programs, seed) = self.program(index);
                done.push((index, self.one(programs, seed, None)));
            }
        };
        let mut all: Vec<(u64, Done)> = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads.max(1)).map(|_| scope.spawn(work)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        all.sort_by_key(|(index, _)| *index);
        all.into_iter().map(|(_, done)| done).collect()
    }
}

/// Runs the plan; `progress` hears of each chunk: programs done, findings so far. The tally does not
/// depend on the number of threads.
pub fn run(plan: &Plan, mut progress: impl FnMut(u64, usize)) -> Tally {
    let mut tally = Tally::default();
    for first in (0..plan.count).step_by(CHUNK as usize) {
        for done in plan.chunk(first, (first + CHUNK).min(plan.count)) {
            tally.count(done);
        }
        progress(tally.programs, tally.findings.len());
    }
    tally
}

/// What is wrong with the program of a kind and seed, or with another text in its place: of each
/// dispatch and draw one sentence, if something is.
pub fn wrong(plan: &Plan, programs: Programs, seed: u64, text: Option<&str>) -> Vec<(String, Ends)> {
    let became = plan.one(programs, seed, text).became.into_iter();
    became.filter_map(|(_, became)| if let Optimised::Wrong { what, ends } = became { Some((what, ends)) } else { None }).collect()
}

/// The smallest program found that shows a finding still, in the same words but for numbers; none if
/// its program does not show it any more.
pub fn minimal(plan: &Plan, finding: &Finding) -> Option<String> {
    let mut fails = |text: &str| {
        let wrong = wrong(plan, finding.programs, finding.seed, Some(text));
        wrong.iter().any(|(what, ends)| *ends == finding.ends && without_numbers(what) == without_numbers(&finding.what))
    };
    let mut whole = None;
    translated(finding.programs, finding.seed, None, &Options::default(), &mut |text, _| whole = Some(text.to_string()));
    let whole = whole?;
    fails(&whole).then(|| shrink::minimal(&whole, &mut fails, QUESTIONS))
}
