//! Schedules: which thread steps next, as data that prints and replays. Also what it means if no
//! thread of a group can step.

use crate::outcome::{InputFault, InvalidInput};
use std::str::FromStr;

use crate::random::Random;

/// The way to choose the next invocation among those that can step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// The first invocation that can step.
    InOrder,
    /// Each invocation in turn, for a number of steps.
    RoundRobin {
        /// The number of steps in a row, at least 1.
        quantum: u64,
    },
    /// A random invocation for each step, from a generator with this seed.
    Random {
        /// The seed.
        seed: u64,
    },
    /// These invocations, each with its number of steps in a row.
    Replay(Vec<(u32, u64)>),
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule::RoundRobin { quantum: 1 }
    }
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Schedule::InOrder => f.write_str("in-order"),
            Schedule::RoundRobin { quantum } => write!(f, "round-robin {quantum}"),
            Schedule::Random { seed } => write!(f, "random {seed}"),
            Schedule::Replay(steps) => {
                f.write_str("replay")?;
                for (invocation, times) in steps {
                    write!(f, " {invocation}")?;
                    if *times != 1 {
                        write!(f, "*{times}")?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Schedule {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Schedule, InvalidInput> {
        fn number<T: FromStr>(word: Option<&str>, what: &str) -> Result<T, InvalidInput> {
            let word = word.ok_or_else(|| InvalidInput::new(InputFault::Text, format!("the schedule ends where {what} should stand")))?;
            word.parse().map_err(|_| InvalidInput::new(InputFault::Text, format!("\"{word}\" is no {what}")))
        }
        let mut words = text.split_whitespace();
        let schedule = match words.next() {
            Some("in-order") => Schedule::InOrder,
            Some("round-robin") => {
                let quantum = words.next().map_or(Ok(1), |word| number(Some(word), "number of steps"))?;
                if quantum == 0 {
                    return Err(InvalidInput::new(InputFault::Text, "the number of steps in a row is 0; it must be at least 1"));
                }
                Schedule::RoundRobin { quantum }
            }
            Some("random") => Schedule::Random { seed: number(words.next(), "seed")? },
            Some("replay") => {
                let steps = words.by_ref().map(|word| match word.split_once('*') {
                    None => Ok((number(Some(word), "invocation")?, 1)),
                    Some((invocation, times)) => Ok((number(Some(invocation), "invocation")?, number(Some(times), "count")?)),
                });
                Schedule::Replay(steps.collect::<Result<_, InvalidInput>>()?)
            }
            Some(word) => {
                return Err(InvalidInput::new(
                    InputFault::Text,
                    format!("\"{word}\" is no schedule: in-order, round-robin, random or replay"),
                ));
            }
            None => return Err(InvalidInput::new(InputFault::Text, "the schedule is empty: in-order, round-robin, random or replay")),
        };
        match words.next() {
            Some(word) => Err(InvalidInput::new(InputFault::Text, format!("\"{word}\" stands behind the end of the schedule"))),
            None => Ok(schedule),
        }
    }
}

/// A set of invocations.
#[derive(Clone, Debug, Default)]
pub struct Ready {
    words: Vec<u64>,
    count: u32,
    /// The index of the first word that may not be 0.
    first: usize,
}

impl Ready {
    /// All invocations below a bound.
    pub fn below(bound: u32) -> Ready {
        let mut ready = Ready::default();
        (0..bound).for_each(|invocation| ready.insert(invocation));
        ready
    }

    /// The number of invocations in the set.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether an invocation is in the set.
    pub fn contains(&self, invocation: u32) -> bool {
        self.words.get(invocation as usize / 64).is_some_and(|word| word >> (invocation % 64) & 1 != 0)
    }

    /// Inserts an invocation.
    pub fn insert(&mut self, invocation: u32) {
        let word = invocation as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.count += u32::from(!self.contains(invocation));
        self.words[word] |= 1 << (invocation % 64);
        self.first = self.first.min(word);
    }

    /// Removes an invocation.
    pub fn remove(&mut self, invocation: u32) {
        if self.contains(invocation) {
            self.words[invocation as usize / 64] &= !(1 << (invocation % 64));
            self.count -= 1;
            while self.words.get(self.first) == Some(&0) {
                self.first += 1;
            }
        }
    }

    /// The least invocation in the set.
    pub fn first(&self) -> Option<u32> {
        let words = self.words.get(self.first..)?;
        let index = words.iter().position(|word| *word != 0)?;
        Some((self.first + index) as u32 * 64 + words[index].trailing_zeros())
    }

    /// The least invocation that is not less than the given one.
    pub fn from(&self, invocation: u32) -> Option<u32> {
        let first = invocation as usize / 64;
        let begin = first.max(self.first);
        let masked = |index: usize, word: u64| if index == first { word & u64::MAX << (invocation % 64) } else { word };
        let (index, word) =
            self.words.iter().enumerate().skip(begin).map(|(i, word)| (i, masked(i, *word))).find(|(_, word)| *word != 0)?;
        Some(index as u32 * 64 + word.trailing_zeros())
    }

    /// The invocation with that many others before it in the set.
    pub fn nth(&self, mut before: u32) -> Option<u32> {
        for (index, word) in self.words.iter().enumerate().skip(self.first) {
            let ones = word.count_ones();
            if before < ones {
                let mut rest = *word;
                for _ in 0..before {
                    rest &= rest - 1;
                }
                return Some(index as u32 * 64 + rest.trailing_zeros());
            }
            before -= ones;
        }
        None
    }
}

/// The state of a schedule during a run.
#[derive(Clone, Debug)]
pub struct Picker {
    schedule: Schedule,
    /// The invocation that stepped last.
    last: Option<u32>,
    /// Round-robin: the number of steps that `last` has left. Replay: the number of steps taken of
    /// the current entry.
    counter: u64,
    /// Replay: the index of the current entry.
    entry: usize,
    /// Random: the generator.
    random: Random,
    /// The number of steps so far.
    steps: u64,
}

impl Picker {
    /// The state at the start of a schedule.
    pub fn new(schedule: Schedule) -> Picker {
        let seed = if let Schedule::Random { seed } = schedule { seed } else { 0 };
        Picker { schedule, last: None, counter: 0, entry: 0, random: Random::new(seed), steps: 0 }
    }

    /// Picks the next of the ready invocations.
    ///
    /// # Errors
    /// If none is ready, if a replay names an invocation that is not ready, or if a
    /// replay has ended.
    pub fn pick(&mut self, ready: &Ready) -> Result<u32, InvalidInput> {
        let step = self.steps;
        let next = match &self.schedule {
            Schedule::InOrder => ready.first(),
            Schedule::RoundRobin { quantum } => match self.last {
                Some(last) if self.counter > 0 && ready.contains(last) => {
                    self.counter -= 1;
                    Some(last)
                }
                last => {
                    self.counter = quantum.saturating_sub(1);
                    last.and_then(|last| ready.from(last.saturating_add(1))).or_else(|| ready.from(0))
                }
            },
            Schedule::Random { .. } => {
                let number = self.random.bits();
                ready.nth(((u128::from(number) * u128::from(ready.len())) >> 64) as u32)
            }
            Schedule::Replay(steps) => {
                while steps.get(self.entry).is_some_and(|(_, times)| self.counter >= *times) {
                    self.entry += 1;
                    self.counter = 0;
                }
                let Some((invocation, _)) = steps.get(self.entry) else {
                    return Err(InvalidInput::new(
                        InputFault::Schedule,
                        format!("the schedule ends after step {step}, where an invocation can still step"),
                    ));
                };
                if !ready.contains(*invocation) {
                    return Err(InvalidInput::new(
                        InputFault::Schedule,
                        format!("the schedule names invocation {invocation} at step {step}, which cannot step there"),
                    ));
                }
                self.counter += 1;
                Some(*invocation)
            }
        };
        let next = next.ok_or_else(|| InvalidInput::new(InputFault::Schedule, "no invocation can step"))?;
        self.last = Some(next);
        self.steps += 1;
        Ok(next)
    }
}

/// The state of a thread. `I` identifies a dynamic instance of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait<I> {
    /// The thread can step.
    Ready,
    /// The thread waits for the others of its group at that barrier instance.
    Barrier(I),
    /// The thread has ended.
    Ended,
}

/// Whether the threads of a group can leave their barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Some threads can still step, or none waits.
    Open,
    /// All threads wait at the same instance.
    Complete,
    /// They never can: one waits, and another has ended or waits at another instance.
    Divergent {
        /// The index of the first thread that waits.
        waiting: usize,
        /// The index of the first thread that does not wait at the same instance.
        other: usize,
    },
}

/// Whether the threads of a group can leave their barrier, from the states of all of them. All must
/// wait at the same dynamic instance of it (SPIR-V §3.3.20, OpControlBarrier; seed 004, Barriers
/// and discard).
pub fn arrival<I: PartialEq>(waits: &[Wait<I>]) -> Arrival {
    let Some(waiting) = waits.iter().position(|wait| matches!(wait, Wait::Barrier(_))) else { return Arrival::Open };
    if waits.contains(&Wait::Ready) {
        return Arrival::Open;
    }
    match waits.iter().position(|wait| *wait != waits[waiting]) {
        Some(other) => Arrival::Divergent { waiting, other },
        None => Arrival::Complete,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(schedule: Schedule, mut steps: Vec<u64>) -> Vec<u32> {
        let mut ready = Ready::below(steps.len() as u32);
        let mut picker = Picker::new(schedule);
        let mut picked = Vec::new();
        while !ready.is_empty() {
            let next = picker.pick(&ready).unwrap();
            picked.push(next);
            steps[next as usize] -= 1;
            if steps[next as usize] == 0 {
                ready.remove(next);
            }
        }
        picked
    }

    #[test]
    fn round_robin_gives_each_its_quantum() {
        assert_eq!(run(Schedule::RoundRobin { quantum: 1 }, vec![2, 1, 3]), [0, 1, 2, 0, 2, 2]);
        assert_eq!(run(Schedule::RoundRobin { quantum: 2 }, vec![3, 1, 3]), [0, 0, 1, 2, 2, 0, 2]);
        assert_eq!(run(Schedule::InOrder, vec![2, 1, 3]), [0, 0, 1, 2, 2, 2]);
    }

    #[test]
    fn the_first_is_found_wherever_it_is() {
        let (mut ready, mut random) = (Ready::default(), Random::new(9));
        for _ in 0..2000 {
            let invocation = (random.bits() >> 33) as u32 % 300;
            match ready.contains(invocation) {
                true => ready.remove(invocation),
                false if ready.len() < 4 => ready.insert(invocation),
                false => {}
            }
            assert_eq!(ready.first(), ready.from(0));
        }
    }

    #[test]
    fn random_schedules_differ_by_seed_and_replay() {
        let runs: Vec<_> = (0..20).map(|seed| run(Schedule::Random { seed }, vec![5; 70])).collect();
        for picked in &runs {
            let again: Schedule = Schedule::Replay(picked.iter().map(|&thread| (thread, 1)).collect()).to_string().parse().unwrap();
            assert_eq!(&run(again, vec![5; 70]), picked);
        }
        assert_ne!(runs[0], runs[1]);
        assert_eq!(run(Schedule::Random { seed: 3 }, vec![5; 70]), runs[3]);
        let firsts: std::collections::BTreeSet<u32> = (0..2000).map(|seed| run(Schedule::Random { seed }, vec![1; 70])[0]).collect();
        assert_eq!(firsts.len(), 70);
    }

    #[test]
    fn schedules_print_and_parse() {
        for text in ["in-order", "round-robin 3", "random 18446744073709551615", "replay 0*5 1 0*2", "replay"] {
            assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
        }
        assert_eq!("round-robin".parse::<Schedule>().unwrap(), Schedule::default());
        for text in ["", "fair", "round-robin 0", "random", "random -1", "replay x", "replay 1*", "random 1 2", "replay 4294967296"] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_replay_that_does_not_fit_is_an_error() {
        let ready = Ready::below(2);
        let mut picker = Picker::new("replay 0 5".parse().unwrap());
        assert_eq!(picker.pick(&ready), Ok(0));
        assert!(picker.pick(&ready).unwrap_err().what.contains("invocation 5 at step 1"));
        let mut picker = Picker::new("replay 1*0 0".parse().unwrap());
        assert_eq!(picker.pick(&ready), Ok(0));
        assert!(picker.pick(&ready).unwrap_err().what.contains("ends after step 1"));
        assert!(Picker::new(Schedule::default()).pick(&Ready::default()).is_err());
    }

    #[test]
    fn ready_is_a_set() {
        let mut ready = Ready::default();
        for i in [3, 64, 130, 3] {
            ready.insert(i);
        }
        assert_eq!((ready.len(), ready.from(4), ready.from(131), ready.nth(2), ready.nth(3)), (3, Some(64), None, Some(130), None));
        ready.remove(64);
        ready.remove(64);
        assert_eq!((ready.len(), ready.from(4), ready.contains(64)), (2, Some(130), false));
    }

    #[test]
    fn barriers_are_passed_by_all_or_diverge() {
        use Wait::{Barrier, Ended, Ready};
        assert_eq!(arrival(&[Barrier(7), Ready]), Arrival::Open);
        assert_eq!(arrival(&[Ended::<u32>, Ended]), Arrival::Open);
        assert_eq!(arrival(&[Barrier(7), Barrier(7)]), Arrival::Complete);
        assert_eq!(arrival(&[Ended, Barrier(7)]), Arrival::Divergent { waiting: 1, other: 0 });
        assert_eq!(arrival(&[Barrier(7), Barrier(7), Barrier(8), Ended]), Arrival::Divergent { waiting: 0, other: 2 });
        assert_eq!(arrival(&[Barrier(7), Barrier(7), Ready, Ended]), Arrival::Open);
    }
}
