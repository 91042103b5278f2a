//! The measurement of a function on a computer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use smallstep_semantics::number::Profile;

use super::corner::{Answer, QUESTIONS};
use super::{Batch, Computer, Function, Inputs, Judge, Modules, NotComputed, Tally, reach};

/// The number of inputs of a dispatch that this program generates.
const GIVEN: u64 = 1 << 16;
/// The number of inputs of a dispatch that the device generates: 16 MiB of results.
const RANGE: usize = 1 << 22;

/// The inputs that a function is tried on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of stratified inputs.
    pub inputs: u64,
    /// Whether a function of one 32-bit word is tried on all 2^32 inputs instead.
    pub exhaustive: bool,
    /// The seed of the random inputs.
    pub seed: u64,
}

/// The result of measuring a function.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The function.
    pub function: Function,
    /// The profile.
    pub profile: Profile,
    /// Whether all possible inputs were tried.
    pub exhaustive: bool,
    /// The counts over all inputs.
    pub tally: Tally,
    /// The greatest allowed distance from the exact value at the worst error, in units in the
    /// last place.
    pub allowed: Option<f64>,
    /// The answers to the corner questions about the function.
    pub answers: Vec<Answer>,
    /// The time of the measurement.
    pub time: Duration,
    /// The reason why some inputs were not computed. `None` if all were.
    pub not_computed: Option<NotComputed>,
}

/// The verdict on a function. A disagreement has the number of results outside of their sets.
pub type Verdict = crate::verdict::Verdict<u64>;

impl Measured {
    /// The verdict. It is agreement if every result is allowed, and some result is bounded.
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

    /// The word for the verdict in tables about a function.
    pub fn word(&self) -> &'static str {
        match self.verdict() {
            Verdict::Agree => "conforms",
            Verdict::Disagree(_) => "outside",
            Verdict::Undecided(_) => "undecided",
            _ => "unchecked",
        }
    }
}

/// Measures a function: first the corner questions, then the inputs of the plan. `progress` gets
/// the number of inputs that were judged since its last call.
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
        let mut given_batches = (0..plan.inputs).step_by(GIVEN as usize).map(|from| {
            let mut words = Vec::new();
            (from..plan.inputs.min(from + GIVEN)).for_each(|i| inputs.push(i, &mut words));
            Batch::Given(Arc::from(words))
        });
        let batches: &mut dyn Iterator<Item = Batch> = if exhaustive { &mut ranges } else { &mut given_batches };
        computed = computer.compute(&modules, batches, &mut take);
    }
    let allowed = tally.worst.as_ref().and_then(|worst| {
        let expected = judge.expected(&worst.operands);
        reach(expected.allowed.get(worst.component)?, *expected.exact.get(worst.component)?)
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
