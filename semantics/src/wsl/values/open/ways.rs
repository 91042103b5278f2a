//! The ways that a run may go: what its threads decide, and everything else that
//! they could have decided.

use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A decision: the thread that makes it, and which of its decisions it is, from 0. Other threads'
/// steps in between do not change that.
type Decision = (u32, u32);

/// Decisions: some are prescribed, the others are the first of their options, or the last.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    prescribed: Rc<FxHashMap<Decision, u32>>,
    is_last: bool,
    /// What was taken, of how many.
    taken: Vec<(Decision, u32, u32)>,
    counts: FxHashMap<u32, u32>,
}

impl Ways {
    /// The next decision of a thread, of that many options.
    pub fn next(&mut self, thread: u32, options: u32) -> u32 {
        let count = self.counts.entry(thread).or_default();
        let decision = (thread, *count);
        *count += 1;
        let last = options.saturating_sub(1);
        let taken = self.prescribed.get(&decision).map_or(if self.is_last { last } else { 0 }, |&taken| taken.min(last));
        self.taken.push((decision, taken, options));
        taken
    }

    /// The same prescriptions, with nothing decided yet.
    pub fn again(&self) -> Ways {
        Ways { prescribed: Rc::clone(&self.prescribed), is_last: self.is_last, ..Ways::default() }
    }
}

/// Ways that are left: a way that was gone, and how it could have gone on from
/// one of its decisions.
struct Left {
    gone: Rc<Ways>,
    at: usize,
    option: u32,
}

impl Left {
    /// The prescriptions of the way that was gone, what it decided before this, and this.
    fn prescribed(&self) -> FxHashMap<Decision, u32> {
        let mut prescribed = FxHashMap::clone(&self.gone.prescribed);
        prescribed.extend(self.gone.taken[..self.at].iter().map(|&(decision, taken, _)| (decision, taken)));
        prescribed.insert(self.gone.taken[self.at].0, self.option);
        prescribed
    }
}

/// Runs once for each way, at most `limit` times, each run from the beginning. A run gives the ways
/// that it has gone with their decisions: one, or under several schedules several. Whether every
/// way was followed. Where they are too many, the first ones differ in few decisions, so one more
/// is followed: the one that takes the last option each time.
pub fn explore(limit: usize, mut run: impl FnMut(Ways) -> Vec<Ways>) -> bool {
    let mut left: Vec<Left> = Vec::new();
    let mut seen: FxHashSet<Vec<(Decision, u32)>> = FxHashSet::default();
    let mut next = Some(Ways::default());
    for _ in 0..limit {
        let Some(ways) = next.take() else { return true };
        let gone = run(ways);
        let several = gone.len() > 1;
        for gone in gone.into_iter().map(Rc::new) {
            let open = (0..gone.taken.len()).filter(|&at| gone.taken[at].2 > 1 && !gone.prescribed.contains_key(&gone.taken[at].0));
            left.extend(open.map(|at| Left { gone: Rc::clone(&gone), at, option: 1 }));
        }
        while let Some(last) = left.last_mut() {
            let prescribed = last.prescribed();
            last.option += 1;
            if last.option == last.gone.taken[last.at].2 {
                left.pop();
            }
            // Under one schedule no two are the same.
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

    /// What `threads` threads decide, each of two options, along at most so many ways.
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
        // Where every way is followed, each is followed once.
        let (mut all, complete) = decided(3, 8);
        all.sort();
        all.dedup();
        assert!(complete && all.len() == 8, "{all:?}");
        assert_eq!(decided(3, 1), (vec![vec![0; 3]], false));
    }
}
