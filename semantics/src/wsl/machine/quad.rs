//! Threads of a draw: vertices alone, and fragments in quads. The threads of a quad meet at
//! operations over the quad (ERRATA WSL-D25, WSL-D26).

use super::code::Meeting;
use super::lanes::Chooser;
use super::run::{Shared, Stop, Thread};
use super::{Compiled, Ending, InDraw, Memory, Settings};
use crate::outcome::InvalidInput;
use crate::text::Span;
use crate::wsl::meaning::{Derivative, Unspecified};
use crate::wsl::types::Scalar;
use smallvec::SmallVec;
use std::cmp::Ordering;

/// A thread of a draw, to be started.
#[derive(Clone, Debug)]
pub struct Start {
    /// Its number.
    pub number: u32,
    /// The number of choices that were already made for it.
    pub choices: u64,
    /// Its part in the draw.
    pub stage: InDraw,
    /// The words of its arguments (see [`Compiled::call`]).
    pub arguments: Vec<u32>,
}

/// A thread of a quad that stood at an operation over the quad while another thread did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnmetThread {
    /// The thread that stood there.
    pub thread: u32,
    /// The operation.
    pub place: Span,
    /// The other thread.
    pub other: u32,
}

/// The endings of a group's threads.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// Each thread returned or was discarded.
    All {
        /// Their endings in order: [`Ending::Returned`] or [`Ending::Discarded`].
        endings: Vec<Ending>,
        /// Whether a thread met an unspecified value.
        unspecified: bool,
        /// The operations that not all threads reached.
        lonely: Vec<UnmetThread>,
    },
    /// A thread ended in another way.
    Stopped {
        /// Its number.
        thread: u32,
        /// Why the thread stopped.
        ending: Ending,
    },
}

impl Compiled {
    /// Runs a vertex, or the four threads of a quad in the order of lanes, until each has ended.
    /// The used fuel is subtracted from `fuel`. The fuel and the thread of `settings` are ignored.
    ///
    /// # Errors
    /// If the arguments do not fit the parameters.
    pub fn together(&self, starts: Vec<Start>, memory: &mut Memory, fuel: &mut u64, settings: &Settings) -> Result<Ended, InvalidInput> {
        let mut threads: SmallVec<[Thread; 4]> = SmallVec::new();
        for start in &starts {
            let mut thread = self.thread(&start.arguments, memory, settings.strategy, start.number)?;
            (thread.chooser.number, thread.stage) = (start.choices, start.stage);
            threads.push(thread);
        }
        let mut shared = Shared { group: Vec::new(), memory, fuel: *fuel, time: settings.time, nodes: 0 };
        let mut lonely = Vec::new();
        let ended = self.run_to_end(&mut threads, &mut shared, settings.count, &mut lonely);
        *fuel = shared.fuel;
        Ok(match ended {
            Err((k, stop)) => Ended::Stopped { thread: threads[k].chooser.thread, ending: self.ending(&threads[k], stop) },
            Ok(stops) => {
                let unspecified = threads.iter().zip(&starts).any(|(t, start)| t.chooser.unspecified_count() > start.choices);
                let endings = threads.iter().zip(stops).map(|(t, stop)| self.ending(t, stop)).collect();
                Ended::All { endings, unspecified, lonely }
            }
        })
    }

    /// The stops of all threads. The error is the first thread that neither returned nor
    /// was discarded.
    fn run_to_end(
        &self,
        threads: &mut [Thread],
        shared: &mut Shared,
        count: bool,
        lonely: &mut Vec<UnmetThread>,
    ) -> Result<SmallVec<[Stop; 4]>, (usize, Stop)> {
        let mut stops: SmallVec<[Option<Stop>; 4]> = threads.iter().map(|_| None).collect();
        loop {
            for (k, thread) in threads.iter_mut().enumerate() {
                if stops[k].is_none() {
                    stops[k] = Some(match self.resume(thread, shared, count) {
                        stop @ (Stop::Returned | Stop::Discarded) => stop,
                        Stop::Quad if thread.stage.lane.is_some() => Stop::Quad,
                        stop => return Err((k, stop)),
                    });
                }
            }
            let waiting: SmallVec<[usize; 4]> = (0..threads.len()).filter(|&k| stops[k] == Some(Stop::Quad)).collect();
            if waiting.is_empty() {
                return Ok(stops.into_iter().flatten().collect());
            }
            let resumed = match waiting.len() == 4 && waiting.iter().all(|&k| self.at_same_instance(&threads[0], &threads[k])) {
                true => self.pass_together(threads).map(|()| waiting)?,
                false => self.pass_apart(threads, &waiting, lonely)?,
            };
            for k in resumed {
                stops[k] = None;
                threads[k].at += 1;
            }
        }
    }

    /// The operation at which a thread waits.
    fn meeting(&self, thread: &Thread) -> Option<Meeting> {
        match self.code.instructions.get(thread.at as usize) {
            Some(super::code::Instruction::Quad { meeting }) => self.code.meetings.get(*meeting as usize).copied(),
            _ => None,
        }
    }

    /// Lets all four threads go on, with the operands of all. The first thread makes the choices.
    pub(super) fn pass_together(&self, threads: &mut [Thread]) -> Result<(), (usize, Stop)> {
        const NONE: (usize, Stop) = (0, Stop::Stuck("threads of a quad that wait nowhere"));
        let meeting = self.meeting(&threads[0]).ok_or(NONE)?;
        let operand = meeting.operand.at as usize..(meeting.operand.at + meeting.operand.n) as usize;
        let mut gathered: SmallVec<[u32; 16]> = SmallVec::new();
        for thread in threads.iter() {
            gathered.extend_from_slice(&thread.words[operand.clone()]);
        }
        write_operands(&meeting, &mut threads[0].words, &gathered);
        let chosen = chosen(&meeting, &mut threads[0]).ok_or((0, Stop::Open))?;
        for thread in threads.iter_mut() {
            write_operands(&meeting, &mut thread.words, &gathered);
            let at = meeting.chosen as usize;
            thread.words[at..at + chosen.len()].copy_from_slice(&chosen);
        }
        Ok(())
    }

    /// Lets the threads that wait at the first of the instances go on, each with unspecified
    /// operands for the others. Returns the threads that go on.
    fn pass_apart(
        &self,
        threads: &mut [Thread],
        waiting: &[usize],
        lonely: &mut Vec<UnmetThread>,
    ) -> Result<SmallVec<[usize; 4]>, (usize, Stop)> {
        let first = waiting.iter().copied().min_by(|&a, &b| self.compare_instances(&threads[a], &threads[b])).unwrap_or(0);
        let resumed: SmallVec<[usize; 4]> =
            waiting.iter().copied().filter(|&k| self.at_same_instance(&threads[first], &threads[k])).collect();
        let other = (0..threads.len()).find(|k| !resumed.contains(k)).map(|k| threads[k].chooser.thread);
        let place = self.place(&threads[first]);
        for &k in &resumed {
            let thread = &mut threads[k];
            let Some(meeting) = self.meeting(thread) else { return Err((k, Stop::Stuck("a thread of a quad that waits nowhere"))) };
            if let Some(other) = other {
                lonely.push(UnmetThread { thread: thread.chooser.thread, place, other });
            }
            let mut gathered: SmallVec<[u32; 16]> = SmallVec::new();
            for lane in 0..4 {
                for i in 0..meeting.operand.n {
                    gathered.push(match thread.stage.lane == Some(lane) {
                        true => thread.words[(meeting.operand.at + i) as usize],
                        false => thread.chooser.unspecified(None, Scalar::Float, 0),
                    });
                }
            }
            write_operands(&meeting, &mut thread.words, &gathered);
            let chosen = chosen(&meeting, thread).filter(|_| !thread.chooser.open).ok_or((k, Stop::Open))?;
            let at = meeting.chosen as usize;
            thread.words[at..at + chosen.len()].copy_from_slice(&chosen);
        }
        Ok(resumed)
    }

    /// Whether two threads wait at the same instance.
    pub(super) fn at_same_instance(&self, a: &Thread, b: &Thread) -> bool {
        if a.at != b.at || a.calls != b.calls {
            return false;
        }
        a.calls.iter().chain([&a.at]).all(|at| {
            let mut enclosing = self.code.innermost_loop.get(at).copied();
            while let Some(l) = enclosing.map(|i| self.code.loops[i as usize]) {
                if a.words[l.counter as usize] != b.words[l.counter as usize] {
                    return false;
                }
                enclosing = l.outer;
            }
            true
        })
    }

    /// The order of two instances in the program, as far as loops and places in the text decide it.
    fn compare_instances(&self, a: &Thread, b: &Thread) -> Ordering {
        let (a, b) = (self.calls_and_loops(a), self.calls_and_loops(b));
        let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
        match (a.get(same), b.get(same)) {
            (Some(&(_, Some((s, m)))), Some(&(_, Some((t, n))))) if s == t => m.cmp(&n),
            (a, b) => a.map(|a| a.0).cmp(&b.map(|b| b.0)),
        }
    }

    /// The calls and loops around a thread's instance, outermost first, each by the offset of its
    /// end in the text. A loop also has its index and the number of its iteration. The operation
    /// itself is last.
    fn calls_and_loops(&self, thread: &Thread) -> Vec<(u32, Option<(u32, u32)>)> {
        let mut out = Vec::new();
        for &at in thread.calls.iter().chain([&thread.at]) {
            let (mut loops, mut enclosing) = (Vec::new(), self.code.innermost_loop.get(&at).copied());
            while let Some(i) = enclosing {
                let l = self.code.loops[i as usize];
                loops.push((l.place.end, Some((i, thread.words[l.counter as usize]))));
                enclosing = l.outer;
            }
            out.extend(loops.into_iter().rev());
            out.push((self.code.spans[at as usize].end, None));
        }
        out
    }
}

/// Writes the operands of a quad to their slots.
fn write_operands(meeting: &Meeting, words: &mut [u32], gathered: &[u32]) {
    let at = meeting.gathered as usize;
    words[at..at + gathered.len()].copy_from_slice(gathered);
}

/// The choices that the operation leaves open. The thread's words hold the operands. `None` if the
/// strategy chooses nothing.
fn chosen(meeting: &Meeting, thread: &mut Thread) -> Option<SmallVec<[u32; 2]>> {
    let Some(derivative) = Derivative::of(meeting.meaning) else { return Some(SmallVec::new()) };
    let chosen = derivative.chosen(&mut thread.chooser, meeting.operands(&thread.words));
    (!thread.chooser.open).then_some(chosen)
}

/// Computes a derivative for a thread, whose words hold the operands and the choices.
pub(super) fn derivative(meeting: &Meeting, words: &mut [u32], to: u32, lane: usize, chooser: &mut Chooser) {
    let Some(derivative) = Derivative::of(meeting.meaning) else { return };
    let chosen = &words[meeting.chosen as usize..meeting.chosen as usize + 2];
    let result = derivative.result(chooser, meeting.operands(words), chosen, lane);
    words[to as usize..to as usize + result.len()].copy_from_slice(&result);
}
