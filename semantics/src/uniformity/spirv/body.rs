//! Functions: blocks, calls, and the ends of blocks (SPIR-V §3.3.9, §3.3.17).

use super::explain::{NoVerdict, Why};
use super::{Done, Frame, Lower, Planted};
use crate::spirv::module::Function;
use crate::spirv::words::Instruction;
use crate::text::deep;
use crate::uniformity::flow::{Block, Cell, End};
use rspirv::spirv::Op;

impl Lower<'_, '_> {
    /// Lowers the function from the current block on. Goes on in the block where it returns.
    pub(super) fn body(&mut self, function: &Function) -> Done {
        let module = self.module;
        let returns = self.flow.block();
        let first = self.flow.blocks.len() as u32;
        for _ in function.first_block..function.end_block {
            self.flow.block();
        }
        let results = self.size_of(function.result_type);
        let result = match self.results.get(&function.id) {
            Some(&cell) => cell,
            None => {
                let variable = module.definition(function.id).unwrap_or(0) as u32;
                let cell = self.flow.new_cells(variable, results);
                self.results.insert(function.id, cell);
                cell
            }
        };
        let saved = std::mem::replace(&mut self.frame, Frame { first, first_block: function.first_block, returns, result });
        self.flow.end(End::Jump(Block(first)));
        for block in function.first_block..function.end_block {
            if self.shared.reachable[block as usize] {
                self.block(block)?;
            }
        }
        self.frame = saved;
        self.flow.begin(returns);
        Ok(())
    }

    /// The flow's block for a label.
    fn target(&self, label: u32) -> Block {
        let block = self.shared.blocks.get(&label).copied().unwrap_or(self.frame.first_block);
        Block(self.frame.first + block - self.frame.first_block)
    }

    fn is_only_unreachable(&self, label: u32) -> bool {
        self.shared.blocks.get(&label).is_some_and(|block| self.shared.only_unreachable[*block as usize])
    }

    fn block(&mut self, number: u32) -> Done {
        let module = self.module;
        let block = module.blocks()[number as usize];
        let header = Block(self.frame.first + number - self.frame.first_block);
        self.flow.begin(header);
        for (at, i) in (block.start..).zip(module.code(&block)) {
            self.at(at);
            if self.flow.values.len() + self.flow.operands.len() + self.arena.len() > self.limit {
                return Err(NoVerdict { entry: self.name.to_owned(), why: Why::Values });
            }
            match i.op {
                Op::FunctionCall => self.call(at, i)?,
                Op::LoopMerge => {
                    let merge = self.target(self.shared.operands(i)[0]);
                    self.flow.looped(header, merge, Some(self.frame.returns));
                }
                Op::Branch
                | Op::BranchConditional
                | Op::Switch
                | Op::Return
                | Op::ReturnValue
                | Op::Kill
                | Op::TerminateInvocation
                | Op::Unreachable => {
                    self.moves(number);
                    let end = self.end(i);
                    self.flow.end(end);
                }
                _ => self.instruction(at, i)?,
            }
        }
        Ok(())
    }

    /// Assigns the phis of a block's successors. All values are read before any phi is assigned.
    fn moves(&mut self, block: u32) {
        let shared = self.shared;
        for &(phi, id) in &shared.moves[block as usize] {
            let n = self.size_of(self.module.instructions()[phi as usize].result_type);
            let first = self.cells_of(phi, n);
            let source = self.module.definition(id).unwrap_or(0);
            let values = if self.is(Planted::PhisAreWrittenInOrder) && self.module.instructions()[source].is(Op::Phi) {
                let from = self.cells_of(source as u32, n);
                self.flow.read_all(from, n)
            } else {
                self.value(id)
            };
            self.flow.write_all(first, &values);
        }
    }

    fn end(&mut self, i: &Instruction) -> End {
        let operands = self.shared.operands(i);
        match i.op {
            Op::Branch => End::Jump(self.target(operands[0])),
            Op::BranchConditional => match (self.is_only_unreachable(operands[1]), self.is_only_unreachable(operands[2])) {
                (true, true) => End::Unreachable,
                (true, false) => End::Jump(self.target(operands[2])),
                (false, true) => End::Jump(self.target(operands[1])),
                (false, false) => {
                    let condition = self.scalar(operands[0]);
                    End::Branch(condition, self.target(operands[1]), self.target(operands[2]))
                }
            },
            Op::Switch => {
                let selector = self.scalar(operands[0]);
                // Selectors of other widths have no known bits.
                let cases = self.module.switch_cases(i).filter(|(_, label)| !self.is_only_unreachable(*label));
                let cases: Vec<_> = cases.map(|(bits, label)| (bits as u32, self.target(label))).collect();
                let other = !self.is_only_unreachable(operands[1]) && !self.is(Planted::SwitchesHaveNoDefault);
                match (cases.is_empty(), other) {
                    (true, true) => End::Jump(self.target(operands[1])),
                    (true, false) => End::Unreachable,
                    (false, _) => End::Switch(selector, cases, other.then(|| self.target(operands[1]))),
                }
            }
            Op::ReturnValue => {
                let values = self.value(operands[0]);
                self.flow.write_all(self.frame.result, &values);
                End::Jump(self.frame.returns)
            }
            Op::Return => End::Jump(self.frame.returns),
            Op::Kill | Op::TerminateInvocation => End::Exit,
            _ => End::Unreachable,
        }
    }

    /// OpFunctionCall: inlines the function's blocks.
    fn call(&mut self, at: u32, i: &Instruction) -> Done {
        let operands = self.shared.operands(i);
        let module = self.module;
        let Some(function) = module.function(operands[0]).copied() else {
            return Err(NoVerdict { entry: self.name.to_owned(), why: Why::Pointer(operands[0]) });
        };
        for (parameter, &argument) in module.parameters(&function).iter().zip(&operands[1..]) {
            let val = self.val(argument);
            self.bind(parameter.id, val);
        }
        deep(|| self.body(&function))?;
        self.at(at);
        let n = self.size_of(function.result_type);
        let result: Cell = self.results.get(&function.id).copied().unwrap_or(Cell(0));
        let cells = self.flow.read_all(result, n);
        self.set(at, &cells);
        Ok(())
    }
}
