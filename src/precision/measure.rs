//! A function measured on what computes it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use smallstep_semantics::number::Profile;

use super::corner::{Answer, QUESTIONS};
use super::{Batch, Computer, Function, Inputs, Judge, Modules, NotComputed, Tally, reach};

/// Inputs of one dispatch that are made here.
const GIVEN: u64 = 1 << 16;
/// Inputs of one dispatch that the device makes: 16 MiB of results.
const RANGE: usize = 1 << 22;

/// What a function is tried on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Stratified inputs.
    pub inputs: u64,
    /// Whether a function of one 32-bit word is tried on all 2^32 instead.
    pub exhaustive: bool,
    /// Where random inputs begin.
    pub seed: u64,
}

/// What was found out about a function.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The function.
    pub function: Function,
    /// The profile.
    pub profile: Profile,
    /// Whether every input there is was tried.
    pub exhaustive: bool,
    /// What was counted.
    pub tally: Tally,
    /// How far from the precise result the device may be at the worst error, in units
    /// of the last place.
    pub allowed: Option<f64>,
    /// The answers to the questions of the corners that the function is asked.
    pub answers: Vec<Answer>,
    /// How long it took.
    pub time: Duration,
    /// Why not all was computed, if so.
    pub not_computed: Option<NotComputed>,
}

/// What is said of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every result is among those allowed, and some of them are bounded.
    Conforms,
    /// Some are not.
    Outside,
    /// Everything is allowed wherever it was tried.
    Undecided,
    /// Not all was computed, and nothing that was is outside.
    NotComputed,
}

impl Verdict {
    /// One or two words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Conforms => "conforms",
            Verdict::Outside => "outside",
            Verdict::Undecided => "undecided",
            Verdict::NotComputed => "unchecked",
        }
    }
}

impl Measured {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        if self.tally.outside > 0 || self.answers.iter().any(|answer| !answer.is_allowed()) {
            Verdict::Outside
        } else if self.not_computed.is_some() {
            Verdict::NotComputed
        } else if self.tally.decided == 0 {
            Verdict::Undecided
        } else {
            Verdict::Conforms
        }
    }
}

/// Measures a function: corner questions, then the inputs of the plan. `progress` is told how many
/// inputs were judged since it was told before.
pub fn measure(computer: &mut dyn Computer, function: &Function, profile: Profile, plan: Plan, progress: &mut dyn FnMut(u64)) -> Measured {
    let begun = Instant::now();
    let (modules, judge) = (Modules::new(function, profile), Judge::new(function, profile));
    let mut answers = Vec::new();
    let questions: Vec<usize> = (0..QUESTIONS.len()).filter(|&at| QUESTIONS[at].is_for(function)).collect();
    let mut computed = Ok(());
    if !questions.is_empty() {
        let words: Vec<u32> = questions.iter().flat_map(|&at| QUESTIONS[at].words()).collect();
        computed = computer.compute(&modules, &mut std::iter::once(Batch::Given(Arc::from(words))), &mut |_, results| {
            for (&at, &shown) in questions.iter().zip(results) {
                answers.push(Answer::new(at, shown, &judge));
            }
        });
    }
    let exhaustive = plan.exhaustive && function.is_unary();
    let mut tally = Tally::default();
    if computed.is_ok() {
        let inputs = Inputs::new(function, plan.seed, plan.inputs);
        let mut take = |batch: &Batch, results: &[u32]| {
            let judged = judge.judge_batch(batch, results);
            progress(judged.inputs);
            tally.merge(judged);
        };
        let mut ranges = (0..1u64 << 32).step_by(RANGE).map(|first| Batch::Range { first: first as u32, count: RANGE });
        let mut given = (0..plan.inputs).step_by(GIVEN as usize).map(|from| {
            let mut words = Vec::new();
            (from..plan.inputs.min(from + GIVEN)).for_each(|i| inputs.push(i, &mut words));
            Batch::Given(Arc::from(words))
        });
        let batches: &mut dyn Iterator<Item = Batch> = if exhaustive { &mut ranges } else { &mut given };
        computed = computer.compute(&modules, batches, &mut take);
    }
    let allowed = tally.worst.as_ref().and_then(|worst| {
        let wanted = judge.wanted(&worst.operands);
        reach(wanted.allowed.get(worst.component)?, *wanted.exact.get(worst.component)?)
    });
    Measured {
        function: function.clone(),
        profile,
        exhaustive,
        tally,
        allowed,
        answers,
        time: begun.elapsed(),
        not_computed: computed.err(),
    }
}
