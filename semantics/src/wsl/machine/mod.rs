//! The fast engine: a typed program compiled to linear code over words, run on definite values.
//!
//! [`Strategy`] decides what happens to unspecified values. Under [`Strategy::First`] and
//! [`Strategy::Random`] a definite value is chosen. The choices of a thread are numbered in the
//! order of evaluation. Under [`Strategy::Carry`] a run stops at the first unspecified value
//! ([`Ending::Open`]). The engine shares with the relation the typed program, the layouts, and the
//! results of library functions on words ([`super::meaning`], [`super::texture`]). It shares no
//! rule of execution.
//!
//! | module | contents |
//! |---|---|
//! | `code` | instructions, and the words that they work on |
//! | `compile` | from typed programs to code |
//! | `run` | execution of code |
//! | `lanes` | choices, and the built-in functions without instructions |
//! | `texture` | functions of textures |
//! | `grid` | threadgroups, barriers |
//! | `quad` | vertices, and fragments in quads |
//! | `traces` | whether threads reach the same barriers |
//!
//! Fuel is spent by iterations of loops, by calls, and by copies of 1,024 words and more.

mod code;
mod compile;
mod grid;
mod lanes;
mod quad;
mod run;
mod texture;
mod traces;

pub use grid::{Grid, GridEnding, Waiting};
pub use quad::{Ended, Start, UnmetThread};
pub use run::InDraw;
pub use traces::Traced;

use super::choice::Strategy;
use super::environment::FunctionId;
use super::texture::Opaque;
use super::typing::program::Program;
use crate::outcome::{InputFault, InvalidInput, Limit, TimeLimit};
use crate::text::Span;
use code::{BUFFERS, Code, Reference};
use lanes::Chooser;
use run::{Shared, Stop, Thread};

/// The most words of a thread's memory, and of a threadgroup's: 256 MiB. The same limit applies to
/// all threads of a group together.
pub const MAX_WORDS: u32 = 64 << 20;

/// The fuel between two looks at the clock. No single instruction needs more.
const BETWEEN_LOOKS: u64 = MAX_WORDS as u64 >> 10;

/// The most instructions of a program.
pub const MAX_INSTRUCTIONS: usize = 4 << 20;

/// Why the engine refuses a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The program needs something that the engine does not support.
    Unsupported {
        /// The unsupported feature.
        what: String,
        /// Its place in the program.
        place: Span,
    },
    /// The program exceeds a limit of the engine.
    Limit {
        /// The limit.
        limit: Limit,
        /// The place where it is exceeded.
        place: Span,
    },
}

impl Refusal {
    fn unsupported(what: impl Into<String>, place: Span) -> Refusal {
        Refusal::Unsupported { what: what.into(), place }
    }

    fn limit(what: &'static str, bound: u64, place: Span) -> Refusal {
        Refusal::Limit { limit: Limit { what, bound }, place }
    }

    /// The place in the program.
    pub fn place(&self) -> Span {
        match self {
            Refusal::Unsupported { place, .. } | Refusal::Limit { place, .. } => *place,
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for InvalidInput {
    fn from(refusal: Refusal) -> InvalidInput {
        let fault = match refusal {
            Refusal::Unsupported { .. } => InputFault::Unsupported,
            Refusal::Limit { .. } => InputFault::Limit,
        };
        InvalidInput::new(fault, refusal.to_string())
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Unsupported { what, .. } => write!(f, "unsupported: {what}"),
            Refusal::Limit { limit, .. } => limit.fmt(f),
        }
    }
}

/// How to run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The treatment of unspecified values.
    pub strategy: Strategy,
    /// The most fuel: iterations, calls, and copies of many words.
    pub fuel: u64,
    /// The time limit, if any.
    pub time: Option<TimeLimit>,
    /// The thread's number, on which random choices depend. For a grid, the number of its
    /// first thread.
    pub thread: u32,
    /// Whether to count evaluated expressions, which takes time.
    pub count: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { strategy: Strategy::Carry, fuel: u64::MAX, time: None, thread: 0, count: false }
    }
}

/// The resources that threads access.
#[derive(Debug)]
pub struct Memory<'a> {
    /// The words of buffers, and of textures that can be written.
    pub buffers: &'a mut [Vec<u32>],
    /// The textures and samplers, indexed like the buffers.
    pub opaques: &'a [Option<Opaque>],
    /// By buffer, for writable textures: the words that were never stored to and have no value, if
    /// no value is to be chosen. Empty if all words have values.
    pub undefined: Vec<Vec<bool>>,
    /// Whether a doubtful thread of a draw has stored in it.
    pub in_doubt: bool,
}

impl<'a> Memory<'a> {
    /// Buffers, without textures and samplers.
    pub fn of(buffers: &'a mut [Vec<u32>]) -> Memory<'a> {
        Memory { buffers, opaques: &[], undefined: Vec::new(), in_doubt: false }
    }
}

/// The ending of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The function returned these words, in the order of memory, with padding. `void` has none.
    Returned(Vec<u32>),
    /// The thread was discarded.
    Discarded,
    /// The thread met an unspecified value, and the strategy chooses none.
    Open {
        /// The expression.
        place: Span,
    },
    /// The fuel was used up.
    OutOfFuel {
        /// The loop or call.
        place: Span,
    },
    /// A limit was exceeded. At present this is always the time limit.
    Limit {
        /// The limit, with its bound.
        limit: Limit,
        /// The loop or call.
        place: Span,
    },
    /// No rule applies. No valid program leads here.
    Stuck {
        /// The reason.
        why: &'static str,
        /// The place in the program.
        place: Span,
    },
    /// The thread reached a barrier, but belongs to no group.
    NoGroup {
        /// The barrier.
        place: Span,
    },
    /// The thread reached an operation over a quad, but belongs to no quad.
    NoQuad {
        /// The operation.
        place: Span,
    },
}

/// The cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The used fuel.
    pub fuel: u64,
    /// The number of unspecified values that were met and chosen.
    pub choices: u64,
    /// The number of evaluated expressions, except coercions and parentheses. 0 if they were
    /// not counted.
    pub nodes: u64,
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Compiled {
    code: Code,
}

impl Compiled {
    /// Compiles a function and all functions that it may call.
    ///
    /// # Errors
    /// If the program needs something that the engine does not support, or exceeds a limit.
    pub fn new(program: &Program, root: FunctionId) -> Result<Compiled, Refusal> {
        Ok(Compiled { code: compile::compile(program, root, false)? })
    }

    /// [`Compiled::new`] without shortcuts. Every value is copied where it is evaluated, every
    /// index is checked there, and every assignment to a part assigns the whole. The results are
    /// the same, more slowly.
    ///
    /// # Errors
    /// The errors of [`Compiled::new`].
    pub fn plain(program: &Program, root: FunctionId) -> Result<Compiled, Refusal> {
        Ok(Compiled { code: compile::compile(program, root, true)? })
    }

    /// The number of instructions.
    pub fn instructions(&self) -> usize {
        self.code.instructions.len()
    }

    /// The size of a thread's memory in words.
    pub fn words(&self) -> u32 {
        self.code.words
    }

    /// Arguments that the function accepts if the first buffer is large enough: zeros, and
    /// references to one element.
    pub fn example_arguments(&self) -> Vec<u32> {
        let mut out = Vec::new();
        for p in &self.code.parameters {
            let first = out.len();
            out.resize(first + p.at.n as usize, 0);
            for &(at, reference) in &p.references {
                if let Reference::Elements(_) = reference {
                    out[first + at as usize + 2] = 1;
                }
            }
        }
        out
    }

    /// Whether that word of the arguments belongs to an array reference, texture or sampler.
    pub fn is_reference(&self, word: usize) -> bool {
        let mut end = 0;
        self.code.parameters.iter().any(|p| {
            let start = end;
            end += p.at.n as usize;
            p.references.iter().any(|&(at, reference)| {
                let first = start + at as usize;
                (first..first + reference.words()).contains(&word)
            })
        })
    }

    /// Whether textures or samplers are among the arguments. [`Compiled::call`] cannot pass them.
    pub fn takes_opaque(&self) -> bool {
        self.code.parameters.iter().flat_map(|p| &p.references).any(|&(_, reference)| reference == Reference::Opaque)
    }

    /// Runs the function in one thread.
    ///
    /// `arguments` are the words of all arguments one after the other, each in the order of memory.
    /// An array reference is four words: the index of one of the `buffers`, the word index of the
    /// first element in it, the number of elements (at least 1), and an unused word. A texture or
    /// sampler is two words: its number, and an unused word.
    ///
    /// # Errors
    /// If the arguments do not fit the parameters.
    pub fn call(&self, arguments: &[u32], buffers: &mut [Vec<u32>], settings: &Settings) -> Result<(Ending, Stats), InvalidInput> {
        let mut memory = Memory::of(buffers);
        let mut thread = self.thread(arguments, &memory, settings.strategy, settings.thread)?;
        let group = vec![0; self.code.group as usize];
        let mut shared = Shared { group, memory: &mut memory, fuel: settings.fuel, time: settings.time, nodes: 0 };
        let mut stop = self.resume(&mut thread, &mut shared, settings.count);
        // The thread is its whole group, so it passes the barrier.
        while stop == Stop::Barrier {
            thread.at += 1;
            stop = self.resume(&mut thread, &mut shared, settings.count);
        }
        let stats = Stats { fuel: settings.fuel - shared.fuel, choices: thread.chooser.unspecified_count(), nodes: shared.nodes };
        Ok((self.ending(&thread, stop), stats))
    }

    /// Runs a thread until it stops. The inner loop checks only fuel. Under a time limit, it gets a
    /// part of the fuel after each look at the clock. It resumes at the instruction for which the
    /// part was not enough.
    fn resume(&self, thread: &mut Thread, shared: &mut Shared, count: bool) -> Stop {
        let run = if count { run::run::<true> } else { run::run::<false> };
        if shared.time.is_none() {
            return run(&self.code, thread, shared);
        }
        loop {
            if let Some(limit) = TimeLimit::passed(shared.time) {
                return Stop::Limit(limit);
            }
            let part = shared.fuel.min(BETWEEN_LOOKS);
            let rest = shared.fuel - part;
            shared.fuel = part;
            let stop = run(&self.code, thread, shared);
            shared.fuel += rest;
            if stop != Stop::OutOfFuel || rest == 0 {
                return stop;
            }
            if count {
                shared.nodes -= u64::from(self.code.nodes[thread.at as usize]);
            }
        }
    }

    fn place(&self, thread: &Thread) -> Span {
        self.code.spans.get(thread.at as usize).copied().unwrap_or(Span { start: 0, end: 0 })
    }

    fn ending(&self, thread: &Thread, stop: Stop) -> Ending {
        let place = self.place(thread);
        match stop {
            Stop::Returned => {
                let result = self.code.result;
                Ending::Returned(thread.words[result.at as usize..(result.at + result.n) as usize].to_vec())
            }
            Stop::Discarded => Ending::Discarded,
            Stop::Open => Ending::Open { place },
            Stop::OutOfFuel => Ending::OutOfFuel { place },
            Stop::Limit(limit) => Ending::Limit { limit, place },
            Stop::Barrier => Ending::NoGroup { place },
            Stop::Quad => Ending::NoQuad { place },
            Stop::Stuck(why) => Ending::Stuck { why, place },
        }
    }

    /// A thread at the start of the function.
    fn thread(&self, arguments: &[u32], memory: &Memory, strategy: Strategy, number: u32) -> Result<Thread, InvalidInput> {
        let needed: u64 = self.code.parameters.iter().map(|p| u64::from(p.at.n)).sum();
        if arguments.len() as u64 != needed {
            return Err(InvalidInput::new(
                InputFault::Type,
                format!("{} words of arguments are given; the function takes {needed}", arguments.len()),
            ));
        }
        let mut words = vec![0; self.code.words as usize];
        for &(at, bits) in &self.code.image {
            words[at as usize] = bits;
        }
        let mut rest = arguments;
        for (i, p) in self.code.parameters.iter().enumerate() {
            let (argument, others) = rest.split_at(p.at.n as usize);
            rest = others;
            let at = p.at.at as usize;
            words[at..at + argument.len()].copy_from_slice(argument);
            for &(offset, reference) in &p.references {
                let first = at + offset as usize;
                check_reference(i + 1, reference, &words[first..first + reference.words()], memory)?;
                words[first] += BUFFERS;
            }
        }
        let chooser = Chooser::new(strategy, number, 0);
        Ok(Thread { words, at: self.code.entry, calls: Vec::new(), chooser, stage: InDraw::default() })
    }
}

/// Checks a reference from outside. An array reference must be within a buffer, and a texture or
/// sampler must exist.
fn check_reference(i: usize, reference: Reference, words: &[u32], memory: &Memory) -> Result<(), InvalidInput> {
    let (buffer, stride) = (
        words[0],
        match reference {
            Reference::Elements(stride) => stride,
            Reference::Opaque => {
                return match memory.opaques.get(words[0] as usize) {
                    Some(Some(_)) => Ok(()),
                    _ => Err(InvalidInput::new(
                        InputFault::Type,
                        format!("argument {i} is texture or sampler {}, and there is none of that number", words[0]),
                    )),
                };
            }
        },
    );
    let (first, length) = (words[1], words[2]);
    let Some(size) = memory.buffers.get(buffer as usize).map(|b| b.len() as u64) else {
        return Err(InvalidInput::new(
            InputFault::Type,
            format!("argument {i} refers to buffer {buffer}, and there are {}", memory.buffers.len()),
        ));
    };
    let end = u64::from(first) + u64::from(length) * u64::from(stride);
    if length == 0 || end > size || end > u64::from(u32::MAX) || buffer > u32::MAX - BUFFERS {
        return Err(InvalidInput::new(
            InputFault::Type,
            format!(
                "argument {i} refers to {length} elements of {stride} words from word {first} of buffer {buffer}, which has {size} words; it needs one element or \
             more, all in the buffer"
            ),
        ));
    }
    Ok(())
}
