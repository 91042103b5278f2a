//! The order of functions and blocks. Callees come before callers. Within a function, all blocks of
//! a construct come before its merge block.
//!
//! A lane that left a construct early waits at the merge block for the others. So the machine runs
//! the lanes at the least block first, and the relation orders dynamic instances the same way.
//! Both take the order from here. Tests check [`cfg::postorder`] against its definition on
//! arbitrary graphs.

use rustc_hash::FxHashSet;

use crate::spirv::cfg;
use crate::spirv::grammar::Op;
use crate::spirv::module::{Function, Module};

/// The functions that are reachable from one, callees first.
pub(in crate::spirv) fn reached(module: &Module, entry: u32) -> Vec<u32> {
    cfg::postorder(entry, |id| module.function(id).map_or_else(Vec::new, |f| module.callees(f).collect()))
}

/// The labels of a function's reachable blocks, in structural order.
pub(in crate::spirv) fn structural(module: &Module, function: &Function) -> Vec<u32> {
    let mut finished = with_merges(module, function);
    // Merge blocks without a branch to them were only visited for the order.
    let reachable: FxHashSet<u32> =
        finished.first().map_or_else(Vec::new, |&first| cfg::postorder(first, |label| next(module, label, false))).into_iter().collect();
    finished.retain(|label| reachable.contains(label));
    finished
}

/// The same, including merge blocks and continue targets without a branch to them.
pub(in crate::spirv) fn with_merges(module: &Module, function: &Function) -> Vec<u32> {
    let Some(first) = module.function_blocks(function).first() else { return Vec::new() };
    let mut finished = cfg::postorder(first.label, |label| next(module, label, true));
    finished.reverse();
    finished
}

/// The successors of a block. With `merges`, its merge block comes first and its continue target
/// second. So the postorder finishes them first, and they come last in the reversed order.
pub(in crate::spirv) fn next(module: &Module, label: u32, merges: bool) -> Vec<u32> {
    let Some(block) = module.block(label) else { return Vec::new() };
    let code = module.code(block);
    let mut successors = Vec::new();
    if let (true, Some(merge)) = (merges, code.iter().rev().nth(1)) {
        let operands = merge.operands(module.words());
        match merge.op {
            Op::SelectionMerge => successors.push(operands[0]),
            Op::LoopMerge => successors.extend([operands[0], operands[1]]),
            _ => {}
        }
    }
    if let Some(end) = code.last() {
        let operands = end.operands(module.words());
        match end.op {
            Op::Branch => successors.push(operands[0]),
            Op::BranchConditional => successors.extend([operands[2], operands[1]]),
            Op::Switch => {
                successors.push(operands[1]);
                successors.extend(module.switch_cases(end).map(|(_, label)| label));
            }
            _ => {}
        }
    }
    successors
}
