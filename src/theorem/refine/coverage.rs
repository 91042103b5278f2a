//! The coverage of a module: the blocks that inputs reach.

use std::collections::BTreeSet;

use smallstep_semantics::spirv::grammar::Op;
use smallstep_semantics::spirv::module::Module;

use super::{Input, Settings, Side};

/// The most instructions of a run that only looks for new blocks.
const FUEL: u64 = 1 << 16;

/// The blocks that an entry point may reach, and the blocks that it has reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The labels of all blocks that may be reached, in order.
    pub all: Vec<u32>,
    /// The labels of the blocks that ran, for inputs with an observation.
    pub ran: BTreeSet<u32>,
}

impl Coverage {
    /// The coverage of a module before it runs: the blocks of all functions that its entry point
    /// calls. Blocks that begin with OpUnreachable are left out.
    pub fn new(side: &Side) -> Coverage {
        let module: &Module = &side.module.module;
        let (instructions, functions) = (module.instructions(), module.functions());
        let mut called: Vec<u32> = module.entry_point(&side.module.entry).map(|entry| entry.function).into_iter().collect();
        let mut all = Vec::new();
        let mut next = 0;
        while let Some(&id) = called.get(next) {
            next += 1;
            let Some(function) = functions.iter().find(|function| function.id == id) else { continue };
            for block in &module.blocks()[function.first_block as usize..function.end_block as usize] {
                let body = &instructions[block.start as usize..block.end as usize];
                if !body.first().is_some_and(|i| i.is(Op::Unreachable)) {
                    all.push(block.label);
                }
                let calls = body.iter().filter(|i| i.is(Op::FunctionCall)).map(|i| i.operands(module.words())[0]);
                for callee in calls {
                    if !called.contains(&callee) {
                        called.push(callee);
                    }
                }
            }
        }
        Coverage { all, ran: BTreeSet::new() }
    }

    /// Whether every block ran.
    pub fn is_full(&self) -> bool {
        self.all.iter().all(|label| self.ran.contains(label))
    }

    /// The labels of blocks that never ran.
    pub fn never(&self) -> impl Iterator<Item = u32> {
        self.all.iter().copied().filter(|label| !self.ran.contains(label))
    }

    /// Whether an input reaches a new block and ends with an observation. The number of
    /// instructions is 0 without an observation.
    pub(super) fn reaches_new_block(&self, side: &Side, input: &Input, settings: &Settings) -> (bool, u64) {
        let (blocks, instructions) = side.blocks(input, settings, settings.fuel.min(FUEL));
        (!blocks.is_subset(&self.ran), instructions)
    }
}
