//! Dynamic instances of barriers: the iteration of each loop around the barrier, and the call that
//! it belongs to (SPIR-V §2.2.5, Dynamic Instance).
//!
//! A loop that contains a barrier has a column that counts its iterations. If a barrier is in a
//! called function, the links of the calls identify the call.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::program::{Instance, Move, NONE, Op, Slot};
use super::{Compiled, Compiler, Part, PartEnd};
use crate::spirv::grammar::Op as Core;
use crate::spirv::module::Module;
use crate::spirv::order;
use crate::spirv::types::Type;

/// The loops of the reached functions. For each block: its loops by header, from the outermost to
/// the innermost.
pub(in super::super) struct Loops {
    pub(super) by_label: FxHashMap<u32, Vec<u32>>,
    /// By function: the labels of its reachable blocks, in structural order.
    pub(super) order: FxHashMap<u32, Rc<[u32]>>,
}

impl Loops {
    pub(super) fn new(module: &Module, functions: &[u32]) -> Loops {
        let mut by_label: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut orders: FxHashMap<u32, Rc<[u32]>> = FxHashMap::default();
        for function in functions.iter().filter_map(|&id| module.function(id)) {
            // In structural order, the header of an outer loop precedes that of an inner loop.
            let order: Rc<[u32]> = order::structural(module, function).into();
            orders.insert(function.id, Rc::clone(&order));
            for &header in order.iter() {
                let code = module.block(header).map_or(&[][..], |b| module.code(b));
                let Some(merge) = code.iter().rev().nth(1).filter(|i| i.is(Core::LoopMerge)) else { continue };
                let merge = merge.operands(module.words())[0];
                // The loop's blocks are those that the header reaches without passing
                // the merge block.
                let mut seen = FxHashSet::from_iter([header]);
                let mut stack = vec![header];
                while let Some(label) = stack.pop() {
                    by_label.entry(label).or_default().push(header);
                    stack.extend(order::next(module, label, false).into_iter().filter(|&to| to != merge && seen.insert(to)));
                }
            }
        }
        Loops { by_label, order: orders }
    }

    /// The labels of a reached function's reachable blocks, in structural order.
    pub(super) fn labels(&self, function: u32) -> Rc<[u32]> {
        self.order.get(&function).cloned().unwrap_or_default()
    }

    pub(super) fn contains(&self, header: u32, label: u32) -> bool {
        self.by_label.get(&label).is_some_and(|loops| loops.contains(&header))
    }
}

impl Compiler<'_> {
    /// Allocates columns for the loops that contain a barrier, or a call of a function that
    /// may reach one.
    pub(super) fn count_iterations(&mut self, functions: &[u32]) -> Compiled {
        let module = self.module;
        let mut reaching_barrier: FxHashSet<u32> = FxHashSet::default();
        let mut headers: Vec<u32> = Vec::new();
        // Callees precede their callers.
        for function in functions.iter().filter_map(|&id| module.function(id)) {
            for block in module.function_blocks(function) {
                let reaches_barrier = module.code(block).iter().any(|i| match i.op {
                    Core::ControlBarrier => true,
                    Core::FunctionCall => reaching_barrier.contains(&i.operands(module.words())[0]),
                    _ => false,
                });
                if reaches_barrier {
                    reaching_barrier.insert(function.id);
                    headers.extend(self.loops.by_label.get(&block.label).into_iter().flatten());
                }
            }
        }
        for header in headers {
            if !self.counters.contains_key(&header) {
                let column = self.column()?;
                self.counters.insert(header, column);
            }
        }
        Ok(())
    }

    /// Counts an iteration at the start of a block that is a loop's header.
    pub(super) fn count_iteration(&mut self, label: u32) -> Compiled {
        let Some(&count) = self.counters.get(&label) else { return Ok(()) };
        if let Slot::Word(one) = self.constant(Type::Int { width: 32, signed: false }, 1)? {
            self.emit(Op::Index, count, count, one, 1);
            self.program.codes.last_mut().expect("just emitted").masked = true;
        }
        Ok(())
    }

    /// Coming from outside, a loop starts with the count 2^32 - 1. The header then makes it 0.
    pub(super) fn begin_loop(&mut self, from: u32, to: u32) -> Compiled<Option<Move>> {
        let Some(&count) = self.counters.get(&to) else { return Ok(None) };
        if self.loops.contains(to, from) {
            return Ok(None);
        }
        let initial = self.constant(Type::Int { width: 32, signed: false }, u64::from(u32::MAX))?;
        Ok(Some(Move { to: Slot::Word(count), from: initial }))
    }

    /// Records the columns that distinguish the instances of a barrier or of a call.
    pub(super) fn instance(&mut self, number: u32, part: &Part, entry: u32) -> Compiled {
        let at = match part.ends {
            PartEnd::Terminator | PartEnd::SubgroupBarrier { .. } => return Ok(()),
            PartEnd::Barrier { .. } => number,
            // An instance of a call is identified by the block that it returns to.
            PartEnd::Call { .. } => number + 1,
        };
        let loops = self.loops.by_label.get(&part.label).into_iter().flatten();
        let counts = loops.filter_map(|header| self.counters.get(header).copied()).collect();
        let link = if part.function == entry { NONE } else { self.frames[&part.function].link };
        if let PartEnd::Call { .. } = part.ends {
            // The part after a call may end with a barrier, which has the same instance.
            self.program.instances.entry(at).or_insert(Instance { counts, link });
        } else {
            self.program.instances.insert(at, Instance { counts, link });
        }
        Ok(())
    }
}
