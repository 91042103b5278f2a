//! Traces: the instances of barriers, or of operations over a quad, that each thread reaches,
//! in order.
//!
//! An instance consists of the place, the calls that lead there, and the iteration number of each
//! loop around any of them. The threads of a group pass an instance together. Their traces are
//! therefore compared while they grow. The threads are apart at the first difference. The trace of
//! a thread that is out of fuel may go on. Its absence from an instance implies nothing, and no
//! thread passes a barrier without it. The traces are then equal as far as they go.

use super::run::{Shared, Stop, Thread};
use super::{Compiled, Ending, Grid, MAX_WORDS, Memory, Settings, Start, Waiting};
use crate::outcome::{InputFault, InvalidInput};

/// The result of comparing traces that should be equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traced {
    /// The traces are equal.
    Same {
        /// The number of instances that all threads of a group passed, over all groups.
        met: u64,
        /// Whether a thread's fuel was used up, so that traces may go on.
        cut: bool,
    },
    /// Two threads wait at different instances, or one waits and the other has ended.
    Apart(Waiting, Waiting),
    /// A thread stopped at an unspecified value, or in a way that no valid program leads to.
    Stopped {
        /// The thread.
        thread: u32,
        /// Why the thread stopped.
        ending: Ending,
    },
}

/// The state of a thread after it has run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ThreadState {
    Waits,
    Ended,
    /// Its fuel is used up.
    Cut,
}

impl Compiled {
    /// Compares the traces of the threads of each group of a grid, by barriers. The parameters are
    /// those of [`Compiled::dispatch`], except that `settings.fuel` is for each thread. If
    /// `reversed`, the last thread of a group runs first.
    ///
    /// # Errors
    /// If the arguments do not fit the parameters, or the threads of a group need too much memory.
    pub fn traces_of_grid(
        &self,
        grid: Grid,
        arguments: &mut dyn FnMut(u32, u32, &mut Vec<u32>),
        memory: &mut Memory,
        settings: &Settings,
        reversed: bool,
    ) -> Result<Traced, InvalidInput> {
        let needed = u64::from(grid.threads) * u64::from(self.code.words);
        if needed > u64::from(MAX_WORDS) {
            return Err(InvalidInput::new(
                InputFault::Limit,
                format!("the threads of a group need {needed} words of memory; the limit is {MAX_WORDS}"),
            ));
        }
        let mut shared = Shared { group: Vec::new(), memory, fuel: 0, time: settings.time, nodes: 0 };
        let mut words = Vec::new();
        let (mut total, mut any_cut) = (0, false);
        for group in 0..grid.groups {
            shared.group.clear();
            shared.group.resize(self.code.group as usize, 0);
            let first = settings.thread.wrapping_add(group.wrapping_mul(grid.threads));
            let mut threads = Vec::new();
            for thread in 0..grid.threads {
                words.clear();
                arguments(group, thread, &mut words);
                threads.push(self.thread(&words, shared.memory, settings.strategy, first.wrapping_add(thread))?);
            }
            match self.compare_traces(&mut threads, &mut shared, settings, reversed) {
                Traced::Same { met, cut } => {
                    total += met;
                    any_cut |= cut;
                }
                other => return Ok(other),
            }
        }
        Ok(Traced::Same { met: total, cut: any_cut })
    }

    /// Compares the traces of the four threads of a quad, by operations over it. The parameters are
    /// those of [`Compiled::together`], except that `settings.fuel` is for each thread. The run
    /// ends when the traces differ.
    ///
    /// # Errors
    /// If the arguments do not fit the parameters.
    pub fn traces_of_quad(
        &self,
        starts: [Start; 4],
        memory: &mut Memory,
        settings: &Settings,
        reversed: bool,
    ) -> Result<Traced, InvalidInput> {
        let mut threads = Vec::new();
        for start in &starts {
            let mut thread = self.thread(&start.arguments, memory, settings.strategy, start.number)?;
            (thread.chooser.number, thread.stage) = (start.choices, start.stage);
            threads.push(thread);
        }
        let mut shared = Shared { group: Vec::new(), memory, fuel: 0, time: settings.time, nodes: 0 };
        Ok(self.compare_traces(&mut threads, &mut shared, settings, reversed))
    }

    /// Runs threads from one instance to the next, while all of them reach the same instance.
    fn compare_traces(&self, threads: &mut [Thread], shared: &mut Shared, settings: &Settings, reversed: bool) -> Traced {
        let n = threads.len();
        let mut fuel = vec![settings.fuel; n];
        let mut states = vec![ThreadState::Ended; n];
        let mut met = 0;
        loop {
            for turn in 0..n {
                let k = if reversed { n - 1 - turn } else { turn };
                shared.fuel = fuel[k];
                let stop = self.resume(&mut threads[k], shared, settings.count);
                fuel[k] = shared.fuel;
                states[k] = match stop {
                    Stop::Barrier => ThreadState::Waits,
                    Stop::Quad if threads[k].stage.lane.is_some() => ThreadState::Waits,
                    Stop::Returned | Stop::Discarded => ThreadState::Ended,
                    Stop::OutOfFuel => ThreadState::Cut,
                    stop => return self.stopped(&threads[k], stop),
                };
            }
            let cut = states.contains(&ThreadState::Cut);
            let Some(first) = states.iter().position(|&state| state != ThreadState::Cut) else { return Traced::Same { met, cut } };
            let same = |k: usize| {
                states[k] == states[first] && (states[k] == ThreadState::Ended || self.at_same_instance(&threads[first], &threads[k]))
            };
            if let Some(other) = (first..n).find(|&k| states[k] != ThreadState::Cut && !same(k)) {
                let place = |k: usize| (states[k] == ThreadState::Waits).then(|| self.place(&threads[k]));
                let waiting = |k: usize| Waiting { thread: threads[k].chooser.thread, place: place(k) };
                return Traced::Apart(waiting(first), waiting(other));
            }
            if cut || states[first] == ThreadState::Ended {
                return Traced::Same { met, cut };
            }
            if threads[0].stage.lane.is_some()
                && let Err((k, stop)) = self.pass_together(threads)
            {
                return self.stopped(&threads[k], stop);
            }
            met += 1;
            for thread in threads.iter_mut() {
                thread.at += 1;
            }
        }
    }

    fn stopped(&self, thread: &Thread, stop: Stop) -> Traced {
        Traced::Stopped { thread: thread.chooser.thread, ending: self.ending(thread, stop) }
    }
}
