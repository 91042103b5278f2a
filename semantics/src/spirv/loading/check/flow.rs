//! The control-flow graph of a function: branches, merge instructions, the order of blocks, OpPhi.

use super::{Checked, Pass};
use crate::spirv::cfg::{self, ControlFlow, Graph};
use crate::spirv::error::Check;
use crate::spirv::grammar::Op;
use crate::spirv::words::Instruction;

impl Pass<'_> {
    /// The index in this function of the block with a label.
    pub(super) fn target(&self, label: u32, check: Check) -> Checked<u32> {
        let Some(index) = self.module.definition(label) else {
            return self.fail(Check::UndefinedId, format!("%{label} is used but no instruction defines it"));
        };
        let block = self.module.block_of[index];
        let range = self.function.first_block..self.function.end_block;
        if !self.module.instructions[index].is(Op::Label) || !range.contains(&block) {
            return self.fail(check, format!("{} names %{label}, which is no block of this function", self.instruction().name()));
        }
        Ok(block - range.start)
    }

    /// Builds the graph. Checks branches, merge instructions and the order of blocks.
    pub(super) fn control_flow(&mut self) -> Checked {
        let blocks = self.blocks();
        let mut nodes: Vec<u32> = Vec::with_capacity(2 * blocks.len());
        let mut ends: Vec<u32> = Vec::with_capacity(blocks.len());
        for block in blocks {
            self.index = block.end as usize - 1;
            let i = self.instruction();
            let operands = self.operands(&i);
            match i.op {
                Op::Branch => nodes.push(self.branch(operands[0])?),
                Op::BranchConditional => {
                    nodes.extend([self.branch(operands[1])?, self.branch(operands[2])?]);
                    if operands[1] == operands[2] && self.module.header.minor >= 6 && !self.module.unmodeled {
                        let what = format!("OpBranchConditional goes to %{} either way; from SPIR-V 1.6 on its labels differ", operands[1]);
                        return self.fail(Check::Version, what);
                    }
                    if operands.len() != 3 && operands.len() != 5 {
                        return self.fail(Check::Type, "OpBranchConditional has one branch weight; it has two or none");
                    }
                }
                Op::Switch => self.switch(&i, &mut nodes)?,
                _ => {}
            }
            ends.push(nodes.len() as u32);
        }
        let targets = |node: usize| nodes[if node == 0 { 0 } else { ends[node - 1] as usize }..ends[node] as usize].iter().copied();
        self.flow = ControlFlow::new(Graph::new((0..blocks.len()).map(targets)), Vec::new());
        let merges = self.merges()?;
        for (node, block) in blocks.iter().enumerate() {
            let node = node as u32;
            self.index = block.start as usize - 1;
            let dominator = self.flow.graph().immediate_dominator(node);
            if dominator != cfg::NONE && dominator > node {
                let what = format!("block %{} stands before block %{}, which dominates it", block.label, blocks[dominator as usize].label);
                return self.fail(Check::BlockOrder, what);
            }
            self.index = block.end as usize - 1;
            if !self.flow.graph().reachable(node) {
                continue;
            }
            for &to in self.flow.graph().successors(node) {
                if self.flow.graph().dominates(to, node) {
                    self.back_edge(node, to)?;
                }
            }
        }
        match merges {
            true => self.structure(),
            false => self.no_structure(),
        }
    }

    fn branch(&self, label: u32) -> Checked<u32> {
        match self.target(label, Check::BranchTarget)? {
            0 => self.fail(Check::EntryBlock, format!("a branch goes to %{label}, the function's first block")),
            node => Ok(node),
        }
    }

    /// Adds the targets of an OpSwitch, default first, then by literal. Checks that literals
    /// are distinct.
    fn switch(&self, i: &Instruction, nodes: &mut Vec<u32>) -> Checked {
        let operands = self.operands(i);
        nodes.push(self.branch(operands[1])?);
        let mut literals = Vec::new();
        for (literal, label) in self.module.switch_cases(i) {
            literals.push(literal);
            nodes.push(self.branch(label)?);
        }
        literals.sort_unstable();
        match literals.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => self.fail(Check::Switch, format!("OpSwitch has two cases for {}; it has one for each literal", pair[0])),
            None => Ok(()),
        }
    }

    /// Checks a branch back to a block that dominates it: the block must be a loop's header, and
    /// the branch in the loop's continue construct.
    fn back_edge(&self, from: u32, header: u32) -> Checked {
        let code = self.module.code(&self.blocks()[header as usize]);
        let [from_label, header_label] = [from, header].map(|node| self.blocks()[node as usize].label);
        let Some(merge) = code.len().checked_sub(2).map(|at| &code[at]).filter(|i| i.is(Op::LoopMerge)) else {
            let what = format!("the branch back to %{header_label} goes to a block without an OpLoopMerge");
            return self.fail(Check::BackEdge, what);
        };
        let label = self.operands(merge)[1];
        let continues = self.target(label, Check::MergeTarget)?;
        if self.flow.graph().dominates(continues, from) {
            return Ok(());
        }
        let what =
            format!("the branch back from %{from_label} to %{header_label} does not come by way of %{label}, the loop's continue target");
        self.fail(Check::BackEdge, what)
    }

    /// Checks merge instructions, and marks merge blocks by their headers. Returns whether there
    /// are any merge instructions.
    fn merges(&mut self) -> Checked<bool> {
        let blocks = self.blocks();
        let mut has_merges = false;
        for (node, block) in blocks.iter().enumerate() {
            for index in block.start..block.end {
                let i = self.module.instructions[index as usize];
                if !matches!(i.op, Op::SelectionMerge | Op::LoopMerge) {
                    continue;
                }
                if !has_merges {
                    self.block_marks = vec![u32::MAX; blocks.len()];
                    has_merges = true;
                }
                self.index = index as usize;
                let branch = self.module.instructions[self.index + 1].op;
                let fits = match i.op {
                    Op::SelectionMerge => matches!(branch, Op::BranchConditional | Op::Switch),
                    _ => matches!(branch, Op::BranchConditional | Op::Branch),
                };
                if index + 2 != block.end || !fits {
                    return self.fail(Check::MergePlace, format!("{} does not stand right before the branch that it is for", i.name()));
                }
                let operands = self.operands(&i);
                let merge = self.target(operands[0], Check::MergeTarget)?;
                if merge == node as u32 || merge == 0 {
                    return self.fail(Check::MergeTarget, format!("{} names %{} as its merge block", i.name(), operands[0]));
                }
                if self.block_marks[merge as usize] != u32::MAX {
                    let other = blocks[self.block_marks[merge as usize] as usize].label;
                    return self.fail(Check::MergeTarget, format!("%{} is the merge block of %{other} too", operands[0]));
                }
                self.block_marks[merge as usize] = node as u32;
                if i.is(Op::LoopMerge) {
                    let continues = self.target(operands[1], Check::MergeTarget)?;
                    if continues == merge || continues == 0 {
                        return self.fail(Check::MergeTarget, format!("OpLoopMerge names %{} as its continue target", operands[1]));
                    }
                }
            }
        }
        Ok(has_merges)
    }

    pub(super) fn phi(&mut self, i: &Instruction) -> Checked {
        let types = &self.module.types;
        let contents = types.contents(i.result_type);
        let mut variable_pointer = self.module.unmodeled && self.module.pointer_type(i.result_type).is_some();
        if !variable_pointer && self.module.pointer_type(i.result_type).is_some() && self.module.has_variable_pointers() {
            self.variable_pointer(i, i.result_type)?;
            variable_pointer = true;
        }
        if !variable_pointer && (contents.pointer || contents.opaque || !types.has_size(i.result_type)) {
            let what = format!("%{} = OpPhi is {}; it may not be a pointer, an image or void", i.result, self.text(i.result_type));
            return self.fail(Check::Pointer, what);
        }
        let operands = self.operands(i);
        let expected = self.flow.graph().predecessors(self.block).len();
        if operands.len() != 2 * expected {
            let what = format!("%{} = OpPhi has {} parents; its block has {expected} predecessors", i.result, operands.len() / 2);
            return self.fail(Check::PhiParents, what);
        }
        for pair in operands.chunks_exact(2) {
            let (value, label) = (pair[0], pair[1]);
            let parent = self.target(label, Check::PhiParents)?;
            if !self.is_predecessor(parent) {
                let what = format!("parent %{label} of %{} = OpPhi does not branch to its block", i.result);
                return self.fail(Check::PhiParents, what);
            }
            if std::mem::replace(&mut self.block_marks[parent as usize], self.index as u32) == self.index as u32 {
                return self.fail(Check::PhiParents, format!("%{} = OpPhi names parent %{label} twice", i.result));
            }
            let (index, _) = self.value_at(value, parent)?;
            let found = self.module.instructions[index].result_type;
            if found != i.result_type {
                let [result, found] = [i.result_type, found].map(|t| self.text(t));
                let what = format!("%{} = OpPhi is {result}, but its operand %{value} is {found}", i.result);
                return self.fail(Check::Type, what);
            }
        }
        Ok(())
    }

    /// Whether a block branches to the current one. Predecessors are in ascending order.
    fn is_predecessor(&self, parent: u32) -> bool {
        self.flow.graph().predecessors(self.block).binary_search(&parent).is_ok()
    }
}
