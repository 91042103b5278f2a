//! The order of functions and blocks: callees before callers, and within a function everything in a construct before its merge block.
//!
//! Lanes at the least block go first, so that whoever left a construct early waits at its merge for the others.

use rustc_hash::FxHashSet;

use super::super::super::grammar::Op;
use super::super::super::module::{Function, Module};

/// The functions that are reached from one, callees first.
pub(in crate::spirv) fn reached(module: &Module, entry: u32) -> Vec<u32> {
    let (mut done, mut seen) = (Vec::new(), FxHashSet::default());
    let callees = |id: u32| module.function(id).map_or_else(Vec::new, |f| module.callees(f).collect());
    let mut stack = vec![(entry, callees(entry), 0)];
    seen.insert(entry);
    while let Some((id, next, at)) = stack.last_mut() {
        match next.get(*at) {
            Some(&callee) => {
                *at += 1;
                if seen.insert(callee) {
                    stack.push((callee, callees(callee), 0));
                }
            }
            None => {
                done.push(*id);
                stack.pop();
            }
        }
    }
    done
}

/// The labels of a function's blocks that are reached, in structural order.
pub(super) fn structural(module: &Module, function: &Function) -> Vec<u32> {
    let mut finished = with_merges(module, function);
    // Merge blocks that nothing branches to were only visited for the order.
    let reachable = finished.first().map_or_else(FxHashSet::default, |&first| reachable(module, first));
    finished.retain(|label| reachable.contains(label));
    finished
}

/// The same with merge blocks and continue targets that nothing branches to.
pub(in crate::spirv) fn with_merges(module: &Module, function: &Function) -> Vec<u32> {
    let Some(first) = module.function_blocks(function).first() else { return Vec::new() };
    let (mut finished, mut seen) = (Vec::new(), FxHashSet::default());
    let mut stack = vec![(first.label, next(module, first.label, true), 0)];
    seen.insert(first.label);
    while let Some((label, to, at)) = stack.last_mut() {
        match to.get(*at) {
            Some(&target) => {
                *at += 1;
                if seen.insert(target) {
                    stack.push((target, next(module, target, true), 0));
                }
            }
            None => {
                finished.push(*label);
                stack.pop();
            }
        }
    }
    finished.reverse();
    finished
}

/// The labels that control can reach.
fn reachable(module: &Module, first: u32) -> FxHashSet<u32> {
    let mut seen = FxHashSet::from_iter([first]);
    let mut stack = vec![first];
    while let Some(label) = stack.pop() {
        stack.extend(next(module, label, false).into_iter().filter(|&to| seen.insert(to)));
    }
    seen
}

/// Where a block goes; with `merges`, its merge block first and its continue target second, so that they are finished first and stand last.
pub(super) fn next(module: &Module, label: u32, merges: bool) -> Vec<u32> {
    let Some(block) = module.block(label) else { return Vec::new() };
    let code = module.code(block);
    let mut to = Vec::new();
    if let (true, Some(merge)) = (merges, code.iter().rev().nth(1)) {
        let operands = merge.operands(module.words());
        match merge.op {
            Op::SelectionMerge => to.push(operands[0]),
            Op::LoopMerge => to.extend([operands[0], operands[1]]),
            _ => {}
        }
    }
    if let Some(end) = code.last() {
        let operands = end.operands(module.words());
        match end.op {
            Op::Branch => to.push(operands[0]),
            Op::BranchConditional => to.extend([operands[2], operands[1]]),
            Op::Switch => {
                to.push(operands[1]);
                to.extend(module.switch_cases(end).map(|(_, label)| label));
            }
            _ => {}
        }
    }
    to
}
