//! The ways of a run: the decisions of its threads, and all other decisions that they could
//! have made.

use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A decision: the thread that makes it, and its index among that thread's decisions, from 0. The
/// steps of other threads do not change it.
type Decision = (u32, u32);

/// The decisions of a run. Some are prescribed. The others take the first of their options, or the
/// last if `is_last`.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    prescribed: Rc<FxHashMap<Decision, u32>>,
    is_last: bool,
    /// The decisions so far, each with the taken option and the number of options.
    taken: Vec<(Decision, u32, u32)>,
    counts: FxHashMap<u32, u32>,
}

impl Ways {
    /// Makes the next decision of a thread, among `options` options.
    pub fn next(&mut self, thread: u32, options: u32) -> u32 {
        let count = self.counts.entry(thread).or_default();
        let decision = (thread, *count);
        *count += 1;
        let last = options.saturating_sub(1);
        let taken = self.prescribed.get(&decision).map_or(if self.is_last { last } else { 0 }, |&taken| taken.min(last));
        self.taken.push((decision, taken, options));
        taken
    }

    /// The same prescriptions, with no decision so far.
    pub fn again(&self) -> Ways {
        Ways { prescribed: Rc::clone(&self.prescribed), is_last: self.is_last, ..Ways::default() }
    }
}

/// Ways that are left to follow. They leave a finished way at one of its decisions, from an
/// option on.
struct RemainingWays {
    finished: Rc<Ways>,
    at: usize,
    option: u32,
}

impl RemainingWays {
    /// The prescriptions of the finished way, its decisions before this one, and this one.
    fn prescribed(&self) -> FxHashMap<Decision, u32> {
        let mut prescribed = FxHashMap::clone(&self.finished.prescribed);
        prescribed.extend(self.finished.taken[..self.at].iter().map(|&(decision, taken, _)| (decision, taken)));
        prescribed.insert(self.finished.taken[self.at].0, self.option);
        prescribed
    }
}

/// Runs once for each way, at most `limit` times. Each run starts at the beginning. A run returns
/// the ways that it has followed, with their decisions: one way, or several under several
/// schedules. Returns whether every way was followed. If there are too many ways, the first ones
/// differ in few decisions. So one more way is followed, which takes the last option each time.
pub fn explore(limit: usize, mut run: impl FnMut(Ways) -> Vec<Ways>) -> bool {
    let mut remaining: Vec<RemainingWays> = Vec::new();
    let mut seen: FxHashSet<Vec<(Decision, u32)>> = FxHashSet::default();
    let mut next = Some(Ways::default());
    for _ in 0..limit {
        let Some(ways) = next.take() else { return true };
        let finished = run(ways);
        let several = finished.len() > 1;
        for finished in finished.into_iter().map(Rc::new) {
            let open = (0..finished.taken.len())
                .filter(|&at| finished.taken[at].2 > 1 && !finished.prescribed.contains_key(&finished.taken[at].0));
            remaining.extend(open.map(|at| RemainingWays { finished: Rc::clone(&finished), at, option: 1 }));
        }
        while let Some(last) = remaining.last_mut() {
            let prescribed = last.prescribed();
            last.option += 1;
            if last.option == last.finished.taken[last.at].2 {
                remaining.pop();
            }
            // Under one schedule, no two ways are equal.
            if several || !seen.is_empty() {
                let mut listed: Vec<(Decision, u32)> = prescribed.iter().map(|(&decision, &taken)| (decision, taken)).collect();
                listed.sort_unstable();
                if !seen.insert(listed) {
                    continue;
                }
            }
            next = Some(Ways { prescribed: Rc::new(prescribed), ..Ways::default() });
            break;
        }
    }
    if next.is_some() && limit > 1 {
        run(Ways { is_last: true, ..Ways::default() });
    }
    next.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The decisions of `threads` threads, each with two options, along at most `limit` ways.
    fn decided(threads: u32, limit: usize) -> (Vec<Vec<u32>>, bool) {
        let mut all = Vec::new();
        let complete = explore(limit, |mut ways| {
            all.push((0..threads).map(|thread| ways.next(thread, 2)).collect());
            vec![ways]
        });
        (all, complete)
    }

    #[test]
    fn beside_the_first_ways_the_last_is_followed() {
        let (all, complete) = decided(10, 4);
        assert!(!complete && all.len() == 5, "{all:?}");
        assert!(all[..4].iter().all(|way| way[..8] == [0; 8]), "{all:?}");
        assert_eq!(all[4], [1; 10]);
        // If every way is followed, each is followed once.
        let (mut all, complete) = decided(3, 8);
        all.sort();
        all.dedup();
        assert!(complete && all.len() == 8, "{all:?}");
        assert_eq!(decided(3, 1), (vec![vec![0; 3]], false));
    }
}
