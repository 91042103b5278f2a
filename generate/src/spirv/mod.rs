//! Structured random SPIR-V: compute modules without undefined behaviour, twins of them with
//! exactly one defect, and the shrinking of either.
//!
//! A module is a function of its seed alone, on every platform. It is generated as a tree
//! ([`tree::Module`]). The tree has counted loops, selections, switches with fall-through, calls,
//! phis, variables of all kinds, exchange through Workgroup memory, and atomics. Lowering the tree
//! to words guards every divisor, count and index, so a tree has no undefined values. Some buffers
//! are only read. In others, each word belongs to one invocation. The counters are changed only by
//! atomics that commute. So every device must show the same words, whatever the order of
//! invocations. All loops are counted and no function calls itself, so every run ends.
//!
//! Resources, all in descriptor set 0:
//!
//! | binding | holds |
//! |---|---|
//! | 0 | input: a runtime array of words, only read |
//! | 1 | output: words, [`ComputeCase::words_each`] for each invocation in turn |
//! | 2 | a structure with explicit layout, only read |
//! | 3 | counters: a runtime array of words, changed by commuting atomics only |
//!
//! | module | what it holds |
//! |---|---|
//! | `tree` | the program: types, expressions, statements |
//! | `mix` | size and features of one module |
//! | `draw`, `compose` | statements; expressions |
//! | `lower`, `express`, `emit`, `layout` | tree to words: code; expressions; sections; offsets |
//! | `pointers` | dispatches with pointers that are chosen at run time, and what they show |
//! | `subgroups` | dispatches whose invocations work together in subgroups, and what they show |
//! | `quads` | draws whose fragments do what quads are for |
//! | `beside` | both interpreters beside each other on a draw |
//! | `barriers` | modules with barriers anywhere, which may be divergent |
//! | `twin`, `plant` | defects: where, and what must be said; their instructions |
//! | `shrink`, `repair` | smaller modules that still show something |
//! | `remedy` | modules without one construct |
//! | `feature` | what a compiler may lack: its names, probes, and modules without |

pub mod barriers;
pub mod beside;
mod compose;
mod draw;
mod emit;
mod express;
pub mod feature;
mod layout;
mod lower;
mod mix;
mod plant;
pub mod pointers;
pub mod quads;
pub mod remedy;
mod repair;
pub mod shrink;
pub mod subgroups;
pub mod tree;
pub mod twin;

pub use draw::{drawn, module};
pub use mix::{Limits, Mix};
pub use twin::{Defect, Kind, Reach, Reached, Twin, twin};

use smallstep_semantics::spirv::{Options, assemble};

use crate::random::Random;
use emit::{Buffer, table_buffer};
use lower::{Lower, neutral};
use tree::{Module, Stmt};

/// The version of the generator. It is raised whenever the module of some seed changes. Journals
/// and vectors of another version belong to other modules.
pub const VERSION: u32 = 1;

/// The name of the entry point.
pub const ENTRY_POINT: &str = "main";

/// The initial contents of each output word.
pub const OUTPUT_BEFORE: u32 = 0x5EED_0000;

/// A storage buffer of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferContents {
    /// The descriptor set.
    pub set: u32,
    /// The binding.
    pub binding: u32,
    /// The contents before the dispatch.
    pub words: Vec<u32>,
    /// Whether the module may write it. If so, its contents after the dispatch are an observation.
    pub written: bool,
}

/// A dispatch: a module and all inputs of its run.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputeCase {
    /// The SPIR-V module, in host order.
    pub words: Vec<u32>,
    /// The name of the entry point.
    pub entry: String,
    /// LocalSize, as the module declares it.
    pub local_size: [u32; 3],
    /// Workgroups in x, y and z.
    pub groups: [u32; 3],
    /// The storage buffers that the module uses, by binding.
    pub buffers: Vec<BufferContents>,
    /// The words that each invocation owns in the buffer at binding 1.
    pub words_each: u32,
    /// An estimate of the instructions that an invocation runs. It assumes that both branches of a
    /// selection are equally likely, and that no jump leaves a construct early.
    pub executed: f64,
    /// The defect, if this is a twin.
    pub twin: Option<Twin>,
    /// The contents of the buffer at binding 1 after the dispatch, if the generator knows them.
    pub shown: Option<Vec<u32>>,
    /// The subgroup size that the module needs, if it needs one.
    pub subgroup_size: Option<u32>,
}

/// Generators whose modules come with a model of the expected output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modeled {
    /// The modules of [`pointers`].
    Pointers,
    /// The modules of [`subgroups`].
    Subgroups,
}

/// A dispatch that a model generates.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The dispatch.
    pub case: ComputeCase,
    /// Its module as text.
    pub text: String,
}

impl Drawn {
    /// Assembles a text that a generator wrote.
    fn words(text: &str) -> Vec<u32> {
        assemble(text, Options::default()).unwrap_or_else(|e| panic!("the generator writes what the assembler reads: {e}\n{text}"))
    }
}

impl Modeled {
    /// The usual number of steps of a dispatch. Small dispatches have fewer.
    pub fn steps(self) -> u32 {
        match self {
            Modeled::Pointers => pointers::STEPS,
            Modeled::Subgroups => subgroups::STEPS,
        }
    }

    /// The dispatch of a seed. A dispatch with fewer steps has the same beginning.
    pub fn drawn(self, seed: u64, steps: u32) -> Drawn {
        match self {
            Modeled::Pointers => pointers::drawn(seed, steps),
            Modeled::Subgroups => subgroups::drawn(seed, steps),
        }
    }
}

impl ComputeCase {
    /// The number of invocations in the dispatch.
    pub fn invocations(&self) -> u32 {
        self.local_size.iter().chain(&self.groups).product()
    }
}

/// The dispatch of a seed.
pub fn case(seed: u64, limits: &Limits) -> ComputeCase {
    module(seed, limits).case()
}

/// Twins of a seed's module, up to `count`. Each has another defect, drawn from the defects that
/// the module has a place for.
pub fn twins(seed: u64, limits: &Limits, count: u32) -> Vec<Module> {
    let clean = module(seed, limits);
    let mut random = Random::new(seed ^ 0x7477_696e);
    let mut defects = Defect::ALL.to_vec();
    let mut modules = Vec::new();
    while modules.len() < count as usize && !defects.is_empty() {
        let defect = defects.swap_remove(random.below(defects.len() as u32) as usize);
        modules.extend(twin(&clean, defect, &mut random));
    }
    modules
}

const CONTROL_BARRIER: u32 = rspirv::spirv::Op::ControlBarrier as u32;

/// The opcodes of a module's instructions, in order.
fn instructions(words: &[u32]) -> impl Iterator<Item = u32> + '_ {
    let mut at = emit::HEADER;
    std::iter::from_fn(move || {
        let first = *words.get(at)?;
        at += (first >> 16).max(1) as usize;
        Some(first & 0xffff)
    })
}

impl Module {
    /// The module as words, with its resources and, for a twin, the expected report.
    pub fn case(&self) -> ComputeCase {
        let mut lower = Lower::new(self);
        let main = lower.functions();
        let uses = [Buffer::Input, Buffer::Output, Buffer::Table, Buffer::Counters].map(|buffer| (buffer, lower.emit.uses(buffer)));
        let (executed, words_each, planted) = (lower.emit.executed, lower.words_each, lower.planted.take());
        let (words, before) = lower.emit.finish(main, ENTRY_POINT, self.local_size);
        let contents = |buffer: Buffer| match buffer {
            Buffer::Input => self.input.clone(),
            Buffer::Output => (0..self.invocations() * words_each).map(|i| OUTPUT_BEFORE + i).collect(),
            Buffer::Table => table_buffer(self),
            Buffer::Counters => self
                .counters
                .iter()
                .filter(|counter| !counter.workgroup)
                .flat_map(|counter| std::iter::repeat_n(neutral(counter.atomic), counter.length.max(1) as usize))
                .collect(),
        };
        let buffers = uses
            .into_iter()
            .filter(|(_, used)| *used)
            .map(|(buffer, _)| BufferContents {
                set: 0,
                binding: buffer as u32,
                words: contents(buffer),
                written: matches!(buffer, Buffer::Output | Buffer::Counters),
            })
            .collect();
        let twin = self.plant().zip(planted).map(|(plant, mut planted)| {
            if plant.defect == Defect::DivergentBarrier {
                // If no invocation can go on, the others may wait at another barrier.
                let others =
                    instructions(&words).enumerate().filter(|(at, op)| *op == CONTROL_BARRIER && *at != before + planted.instruction);
                planted.also.extend(others.map(|(at, _)| at - before));
            }
            let value = plant.defect.kind() == Kind::Value;
            Twin {
                defect: plant.defect,
                id: plant.defect.id(),
                kind: plant.defect.kind(),
                instruction: before + planted.instruction,
                result: planted.result,
                also: planted.also.iter().map(|at| before + at).collect(),
                reached: planted.reached.filter(|_| value).map(|at| Reached {
                    reach: plant.reach,
                    instruction: before + at,
                    id: plant.reach.id(),
                    word: (plant.reach == Reach::Output).then(|| words_each - 1),
                }),
                valid: plant.defect.valid(),
            }
        });
        ComputeCase {
            words,
            entry: ENTRY_POINT.to_string(),
            local_size: self.local_size,
            groups: self.groups,
            buffers,
            words_each,
            executed,
            twin,
            shown: None,
            subgroup_size: None,
        }
    }

    /// Whether the module has barriers or atomics.
    pub fn shares(&self) -> bool {
        let mut found = false;
        self.clone().each_block(&mut |block| {
            let shared =
                |stmt: &Stmt| matches!(stmt, Stmt::Exchange { .. } | Stmt::Count { .. } | Stmt::ReadCounter { .. } | Stmt::Own { .. });
            found |= block.iter().any(shared);
        });
        found
    }
}
