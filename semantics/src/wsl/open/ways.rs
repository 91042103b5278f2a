//! The ways that a run may go: what its threads decide, and everything else that
//! they could have decided.

use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A decision: the thread that makes it, and which of its decisions it is, from 0. Other threads'
/// steps in between do not change that.
type Decision = (u32, u32);

/// Decisions: some are prescribed, the others are the first of their options.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    prescribed: Rc<FxHashMap<Decision, u32>>,
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
        let taken = self.prescribed.get(&decision).map_or(0, |&taken| taken.min(options.saturating_sub(1)));
        self.taken.push((decision, taken, options));
        taken
    }

    /// The same prescriptions, with nothing decided yet.
    pub fn again(&self) -> Ways {
        Ways { prescribed: Rc::clone(&self.prescribed), ..Ways::default() }
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
/// way was followed.
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
    next.is_none()
}
