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

/// What is said of a function; a disagreement has the number of results that are outside.
pub type Verdict = crate::verdict::Verdict<u64>;

impl Measured {
    /// The verdict: agreement if every result is among those allowed, and some of them are bounded.
    pub fn verdict(&self) -> Verdict {
        let wrong_answers = self.answers.iter().filter(|answer| !answer.is_allowed()).count() as u64;
        match (self.tally.outside + wrong_answers, &self.not_computed) {
            (1.., _) => Verdict::Disagree(self.tally.outside + wrong_answers),
            (0, Some(NotComputed { failed: true, why })) => Verdict::Failed(why.clone()),
            (0, Some(NotComputed { why, .. })) => Verdict::Unchecked(why.clone()),
            (0, None) if self.tally.decided == 0 => Verdict::Undecided("everything is allowed wherever it was tried".into()),
            (0, None) => Verdict::Agree,
        }
    }

    /// The word of tables, which says of a function what the verdict says of a comparison.
    pub fn word(&self) -> &'static str {
        match self.verdict() {
            Verdict::Agree => "conforms",
            Verdict::Disagree(_) => "outside",
            Verdict::Undecided(_) => "undecided",
            _ => "unchecked",
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
