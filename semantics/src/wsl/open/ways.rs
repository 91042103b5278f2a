//! The ways that a run may go: decisions, one after the other, and every other way that they could have gone.

/// Decisions: those that are prescribed come first, later ones are the first of their options.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// What was taken, of how many.
    taken: Vec<(u32, u32)>,
    at: usize,
}

impl Ways {
    /// The next decision, of that many options.
    pub fn next(&mut self, options: u32) -> u32 {
        if self.at == self.taken.len() {
            self.taken.push((0, options));
        }
        let (taken, _) = self.taken[self.at];
        self.at += 1;
        taken
    }

    /// How many decisions were made.
    pub fn decisions(&self) -> usize {
        self.at
    }

    /// The next way in depth-first order, if there is one.
    fn following(mut self) -> Option<Ways> {
        self.taken.truncate(self.at);
        while let Some((taken, options)) = self.taken.pop() {
            if taken + 1 < options {
                self.taken.push((taken + 1, options));
                self.at = 0;
                return Some(self);
            }
        }
        None
    }
}

/// Runs once for each way, at most `limit` times, each run from the beginning; a run gives the ways that it was given back, with its decisions. Whether every way
/// was followed.
pub fn explore(limit: usize, mut run: impl FnMut(Ways) -> Ways) -> bool {
    let mut ways = Some(Ways::default());
    for _ in 0..limit {
        let Some(next) = ways.take() else { return true };
        ways = run(next).following();
    }
    ways.is_none()
}
