//! A dispatch on the fast engine, which shows definite values and looks for no races.

use super::Dispatch;
use crate::wsl::execution::{Planted, Shared};
use crate::wsl::machine::{Compiled, Dispatched, Grid, Settings, Stats};
use crate::wsl::open::Word;

/// What a dispatch shows on the fast engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fast {
    /// How it ended.
    pub ended: Dispatched,
    /// What each resource holds then, in words; nothing if it is no array reference.
    pub buffers: Vec<Vec<u32>>,
    /// What it took.
    pub stats: Stats,
}

impl Dispatch<'_> {
    /// Runs the dispatch on the fast engine. `compiled` is its entry point.
    ///
    /// # Errors
    /// If there are too many threads, or what is bound is not what the entry point takes.
    pub fn run_fast(&self, compiled: &Compiled, settings: &Settings) -> Result<Fast, String> {
        let size = self.size();
        let count = |n: [u32; 3]| n.iter().try_fold(1u32, |all, &n| all.checked_mul(n));
        let (Some(groups), Some(threads)) = (count(self.groups), count(size)) else {
            return Err("there are more than 2^32 threads or groups".into());
        };
        let shared = Shared::new(self.program, self.entry.function, Planted::default()).map_err(|limit| limit.to_string())?;
        let at = |n: u32, of: [u32; 3]| [n % of[0], n / of[0] % of[1], n / of[0] / of[1]];
        let mut arguments = |group: u32, thread: u32, words: &mut Vec<u32>| {
            for value in self.arguments(&shared, at(group, self.groups), at(thread, size), thread) {
                words.extend(value.words.iter().map(|word| match *word {
                    Word::Bits(bits) => bits,
                    // Beside an address the machine has the first element's word: a resource begins with its buffer.
                    Word::Address(address) => address.object.0,
                    Word::Open(_) => 0,
                }));
                if let [Word::Address(_), Word::Bits(length), _, _] = value.words[..] {
                    let end = words.len();
                    words[end - 3..].copy_from_slice(&[0, length, 0]);
                }
            }
        };
        let mut buffers: Vec<Vec<u32>> = self.resources.iter().map(|r| r.buffer().map_or(Vec::new(), |b| b.words.clone())).collect();
        let (ended, stats) = compiled.dispatch(Grid { groups, threads }, &mut arguments, &mut buffers, settings)?;
        Ok(Fast { ended, buffers, stats })
    }
}
