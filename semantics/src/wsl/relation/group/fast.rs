//! A dispatch on the fast engine, which shows definite values and does not look for races.

use super::arguments::push;
use super::{Dispatch, Resource};
use crate::outcome::{InputFault, InvalidInput};
use crate::wsl::choice::Strategy;
use crate::wsl::execution::term::Value;
use crate::wsl::execution::{Planted, Shared};
use crate::wsl::machine::{Compiled, Grid, GridEnding, Memory, Settings, Stats};
use crate::wsl::memory::Memory as Objects;
use crate::wsl::open::{OpenTerms, Possible, Ways, Word};
use crate::wsl::texture::Opaque;

/// The results of a dispatch on the fast engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fast {
    /// How the threads ended.
    pub ended: GridEnding,
    /// The final words of each buffer and of each writable texture.
    pub buffers: Vec<Vec<u32>>,
    /// The words among these that have no value (see [`Memory::undefined`]).
    pub undefined: Vec<Vec<bool>>,
    /// Its cost.
    pub stats: Stats,
}

impl Dispatch<'_> {
    /// Runs the dispatch on the fast engine. `compiled` is its entry point.
    ///
    /// # Errors
    /// If there are too many threads, or the resources do not fit the entry point.
    pub fn run_fast(&self, compiled: &Compiled, settings: &Settings) -> Result<Fast, InvalidInput> {
        let size = self.size();
        let count = |n: [u32; 3]| n.iter().try_fold(1u32, |all, &n| all.checked_mul(n));
        let (Some(groups), Some(threads)) = (count(self.groups), count(size)) else {
            return Err(InvalidInput::new(InputFault::Limit, "there are more than 2^32 threads or groups"));
        };
        let shared = Shared::laid_out(self.program, self.entry.function, Planted::default())?;
        let at = |n: u32, sizes: [u32; 3]| [n % sizes[0], n / sizes[0] % sizes[1], n / sizes[0] / sizes[1]];
        let mut arguments = |group: u32, thread: u32, words: &mut Vec<u32>| {
            // The arguments of a thread of a compute entry point are definite.
            let _ = flat_words(&self.resources, &self.arguments(&shared, at(group, self.groups), at(thread, size), thread), words);
        };
        let Outside { mut buffers, opaques, undefined, chosen } = Outside::of(&self.resources, settings.strategy);
        let mut memory = Memory { buffers: &mut buffers, opaques: &opaques, undefined, in_doubt: false };
        let (ended, mut stats) = compiled.dispatch(Grid { groups, threads }, &mut arguments, &mut memory, settings)?;
        stats.choices += u64::from(chosen);
        let undefined = memory.undefined;
        Ok(Fast { ended, buffers, undefined, stats })
    }
}

/// The contents of resources, for the fast engine.
#[derive(Clone, Debug)]
pub(in crate::wsl) struct Outside {
    /// The words of each resource. Samplers and textures that are not writable have none.
    pub(in crate::wsl) buffers: Vec<Vec<u32>>,
    /// The textures and samplers.
    pub(in crate::wsl) opaques: Vec<Option<Opaque>>,
    /// The words that have no value (see [`Memory::undefined`]).
    pub(in crate::wsl) undefined: Vec<Vec<bool>>,
    /// Whether something without a value was given one.
    pub(in crate::wsl) chosen: bool,
}

impl Outside {
    /// The contents of these resources. Undefined contents get values, if the strategy
    /// chooses them.
    pub(in crate::wsl) fn of(resources: &[Resource], strategy: Strategy) -> Outside {
        let (mut memory, mut opens) = (Objects::default(), OpenTerms::new(strategy, Ways::default()));
        push(resources, &mut memory, &mut opens);
        let (mut buffers, mut undefined) = (Vec::new(), Vec::new());
        for object in &memory.objects {
            buffers.push(object.words.iter().map(|word| word.definite().unwrap_or(0)).collect());
            let open = object.words.iter().any(|word| word.definite().is_none());
            undefined.push(if open { object.words.iter().map(|word| word.definite().is_none()).collect() } else { Vec::new() });
        }
        Outside { buffers, opaques: resources.iter().map(Resource::opaque).collect(), undefined, chosen: opens.met_unspecified() }
    }
}

/// The possible values of words, some of which have no value.
pub(in crate::wsl) fn possible(buffers: &[Vec<u32>], undefined: &[Vec<bool>]) -> Vec<Vec<Possible>> {
    let nothing_undefined: &[bool] = &[];
    let words = |(k, words): (usize, &Vec<u32>)| -> Vec<Possible> {
        let undefined = undefined.get(k).map_or(nothing_undefined, |u| &u[..]);
        let word = |(at, &bits)| if undefined.get(at) == Some(&true) { Possible::Any } else { Possible::Values(vec![bits]) };
        words.iter().enumerate().map(word).collect()
    };
    buffers.iter().enumerate().map(words).collect()
}

impl Fast {
    /// The possible values of each word of each resource.
    pub fn possible(&self) -> Vec<Vec<Possible>> {
        possible(&self.buffers, &self.undefined)
    }
}

/// Appends the words of arguments in the form that the fast engine takes. `None` if a word is open.
/// Object k is resource k.
pub(in crate::wsl) fn flat_words(resources: &[Resource], values: &[Value], out: &mut Vec<u32>) -> Option<()> {
    for value in values {
        let mut words = value.words.iter();
        while let Some(word) = words.next() {
            match *word {
                Word::Bits(bits) => out.push(bits),
                Word::Open(_) => return None,
                Word::Address(address) => {
                    out.push(address.object.0);
                    // An array reference begins at its buffer's first word. In the engine's form
                    // there is a word between the object and the length.
                    if resources.get(address.object.0 as usize).is_some_and(|r| r.buffer().is_some()) {
                        let length = words.next().and_then(|length| length.definite())?;
                        out.extend([0, length, 0]);
                        words.nth(1);
                    }
                }
            }
        }
    }
    Some(())
}
