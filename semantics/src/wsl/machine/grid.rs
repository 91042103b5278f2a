//! Threadgroups. Their threads run one after the other until each waits at a barrier or has ended.
//! They pass a barrier together.

use super::run::{Shared, Stop, Thread};
use super::{Compiled, Ending, MAX_WORDS, Memory, Settings, Stats};
use crate::outcome::{InputFault, InvalidInput};
use crate::text::Span;

/// The size of a thread besides its memory, in words.
const OVERHEAD: u32 = 64;

/// The number of threadgroups, and the number of threads in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The number of threadgroups.
    pub groups: u32,
    /// The number of threads in each threadgroup.
    pub threads: u32,
}

/// The place of a thread when its group cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The thread, counted through all groups.
    pub thread: u32,
    /// The barrier at which it waits. `None` if it has ended.
    pub place: Option<Span>,
}

/// The ending of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GridEnding {
    /// Every thread ended.
    Done,
    /// Two threads of a group wait at different instances of barriers, or one waits and the other
    /// has ended.
    Diverged(Waiting, Waiting),
    /// A thread neither returned nor waited.
    Stopped {
        /// The thread, counted through all groups.
        thread: u32,
        /// Why the thread stopped.
        ending: Ending,
    },
}

impl Compiled {
    /// Runs a grid on the buffers. The start of a thread takes fuel as a call does, and more if the
    /// thread has much memory. `arguments` gets a group and a thread of the group, both counted
    /// from 0. It appends the arguments of that thread to the words (see [`Compiled::call`]).
    ///
    /// # Errors
    /// If the arguments do not fit the parameters, or the threads of a group need too much memory.
    pub fn dispatch(
        &self,
        grid: Grid,
        arguments: &mut dyn FnMut(u32, u32, &mut Vec<u32>),
        memory: &mut Memory,
        settings: &Settings,
    ) -> Result<(GridEnding, Stats), InvalidInput> {
        let needed = u64::from(grid.threads) * u64::from(self.code.words + OVERHEAD);
        if needed > u64::from(MAX_WORDS) {
            return Err(InvalidInput::new(
                InputFault::Limit,
                format!("the threads of a group need {needed} words of memory; the limit is {MAX_WORDS}"),
            ));
        }
        let mut shared = Shared { group: Vec::new(), memory, fuel: settings.fuel, time: settings.time, nodes: 0 };
        let mut choices = 0;
        let mut words = Vec::new();
        for group in 0..grid.groups {
            shared.group.clear();
            shared.group.resize(self.code.group as usize, 0);
            let first = settings.thread.wrapping_add(group.wrapping_mul(grid.threads));
            let mut threads = Vec::new();
            for thread in 0..grid.threads {
                let cost = 1 + u64::from(self.code.words >> 10);
                let number = first.wrapping_add(thread);
                if shared.fuel < cost {
                    let place = self.code.spans.get(self.code.entry as usize).copied().unwrap_or(Span { start: 0, end: 0 });
                    let ended = GridEnding::Stopped { thread: number, ending: Ending::OutOfFuel { place } };
                    return Ok((ended, self.stats(settings, &shared, choices)));
                }
                shared.fuel -= cost;
                words.clear();
                arguments(group, thread, &mut words);
                threads.push(self.thread(&words, shared.memory, settings.strategy, number)?);
            }
            let ended = self.group(&mut threads, &mut shared, settings.count);
            choices += threads.iter().map(|t| t.chooser.unspecified_count()).sum::<u64>();
            if let Some(ended) = ended {
                return Ok((ended, self.stats(settings, &shared, choices)));
            }
        }
        Ok((GridEnding::Done, self.stats(settings, &shared, choices)))
    }

    fn stats(&self, settings: &Settings, shared: &Shared, choices: u64) -> Stats {
        Stats { fuel: settings.fuel - shared.fuel, choices, nodes: shared.nodes }
    }

    /// Runs a group to its end. Returns what stopped it early, if anything did.
    fn group(&self, threads: &mut [Thread], shared: &mut Shared, count: bool) -> Option<GridEnding> {
        let (mut first, mut other) = (Vec::new(), Vec::new());
        loop {
            // The first thread decides at which barrier all threads have to be.
            let mut waits = None;
            for i in 0..threads.len() {
                let thread = &mut threads[i];
                let waiting = match self.resume(thread, shared, count) {
                    Stop::Barrier => true,
                    Stop::Returned | Stop::Discarded => false,
                    stop => {
                        return Some(GridEnding::Stopped { thread: thread.chooser.thread, ending: self.ending(thread, stop) });
                    }
                };
                let instance = if i == 0 { &mut first } else { &mut other };
                instance.clear();
                if waiting {
                    self.instance(thread, instance);
                }
                if *waits.get_or_insert(waiting) != waiting || i > 0 && first != other {
                    let waiting_at = |t: &Thread, waits: bool| Waiting { thread: t.chooser.thread, place: waits.then(|| self.place(t)) };
                    return Some(GridEnding::Diverged(waiting_at(&threads[0], waits == Some(true)), waiting_at(&threads[i], waiting)));
                }
            }
            if waits != Some(true) {
                return None;
            }
            for thread in threads.iter_mut() {
                thread.at += 1;
            }
        }
    }

    /// Appends the instance of a barrier that the thread is at: the calls that lead there and the
    /// barrier, each followed by the numbers of the iterations around it.
    fn instance(&self, thread: &Thread, out: &mut Vec<u32>) {
        for &at in thread.calls.iter().chain([&thread.at]) {
            out.push(at);
            let mut enclosing = self.code.innermost_loop.get(&at).copied();
            while let Some(l) = enclosing.map(|i| self.code.loops[i as usize]) {
                out.push(thread.words[l.counter as usize]);
                enclosing = l.outer;
            }
        }
    }
}
