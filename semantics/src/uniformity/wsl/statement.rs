//! Statements: seed 004 "Execution of statements".

use super::{Done, Lower, Val};
use crate::text::deep;
use crate::uniformity::flow::{Block, End, Value};
use crate::wsl::environment::FunctionId;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::typing::program::{Case, ExprId, StmtForm, StmtId, StoreId};

impl Lower<'_> {
    /// Lowers the function's body. Goes on in the block where it returns.
    pub(super) fn body(&mut self, function: FunctionId) -> Done {
        let program = self.program;
        let returns = self.flow.block();
        self.frame.function = function;
        self.frame.returns = returns;
        self.frame.reference = None;
        self.frame.result = self.result(function);
        let jump_targets = std::mem::take(&mut self.jump_targets);
        self.statement(program.body(function).block)?;
        self.flow.jump(returns);
        self.jump_targets = jump_targets;
        Ok(())
    }

    pub(super) fn statement(&mut self, id: StmtId) -> Done {
        deep(|| self.statement_of(id))
    }

    /// Ends the block. The code after it is unreachable.
    fn terminate(&mut self, end: End) {
        self.flow.end(end);
        let after = self.flow.block();
        self.flow.begin(after);
    }

    fn leave(&mut self, to: Option<Block>) {
        self.terminate(to.map_or(End::Unreachable, End::Jump));
    }

    fn statement_of(&mut self, id: StmtId) -> Done {
        let program = self.program;
        let statement = program.stmt(id);
        self.flow.span = statement.span;
        match &statement.form {
            StmtForm::Block(range) => {
                for &s in program.block(range) {
                    self.statement(s)?;
                }
            }
            StmtForm::Declaration(_, store, initializer) => self.declaration(*store, *initializer)?,
            StmtForm::If(e, then_statement, else_statement) => {
                let condition = self.condition(*e)?;
                let (then_block, else_block, end) = (self.flow.block(), self.flow.block(), self.flow.block());
                self.flow.end(End::Branch(condition, then_block, else_block));
                for (block, s) in [(then_block, *then_statement), (else_block, *else_statement)] {
                    self.flow.begin(block);
                    self.statement(s)?;
                    self.flow.end(End::Jump(end));
                }
                self.flow.begin(end);
            }
            StmtForm::DoWhile(body, e) => {
                let (start, next, end) = (self.flow.block(), self.flow.block(), self.flow.block());
                self.flow.looped(start, end, Some(self.frame.returns));
                self.flow.jump(start);
                self.loop_body(*body, end, next)?;
                self.flow.jump(next);
                let condition = self.condition(*e)?;
                self.flow.end(End::Branch(condition, start, end));
                self.flow.begin(end);
            }
            StmtForm::For(e, update, body) => {
                let (start, body_block, next, end) = (self.flow.block(), self.flow.block(), self.flow.block(), self.flow.block());
                self.flow.looped(start, end, Some(self.frame.returns));
                self.flow.jump(start);
                let condition = self.condition(*e)?;
                self.flow.end(End::Branch(condition, body_block, end));
                self.flow.begin(body_block);
                self.loop_body(*body, end, next)?;
                self.flow.jump(next);
                self.value(*update)?;
                self.flow.end(End::Jump(start));
                self.flow.begin(end);
            }
            StmtForm::Switch(e, cases) => self.switch(*e, cases)?,
            StmtForm::Break => self.leave(self.jump_targets.breaks),
            StmtForm::Continue => self.leave(self.jump_targets.continues),
            StmtForm::Fallthrough => self.leave(self.jump_targets.fallthrough),
            StmtForm::Discard => self.terminate(End::Exit),
            StmtForm::Return(e) => {
                if let Some(e) = e {
                    match self.value(*e)? {
                        Val::Cells(cells) => self.flow.write_all(self.frame.result, &cells),
                        reference => {
                            self.frame.reference.get_or_insert(reference);
                        }
                    }
                }
                self.terminate(End::Jump(self.frame.returns));
            }
            StmtForm::Expr(e) => _ = self.value(*e)?,
        }
        Ok(())
    }

    /// The value of a condition. The branch gets the condition's place.
    fn condition(&mut self, e: ExprId) -> Done<Value> {
        let value = self.scalar(e)?;
        self.flow.span = self.program.expr(e).span;
        Ok(value)
    }

    fn loop_body(&mut self, body: StmtId, breaks: Block, continues: Block) -> Done {
        let saved = self.jump_targets;
        self.jump_targets = super::JumpTargets { breaks: Some(breaks), continues: Some(continues), fallthrough: None };
        self.statement(body)?;
        self.jump_targets = saved;
        Ok(())
    }

    /// Stores the initial or default value, whenever control flow reaches the declaration.
    fn declaration(&mut self, id: StoreId, initializer: Option<ExprId>) -> Done {
        let store = *self.program.store(id);
        let value = match initializer {
            Some(e) => self.value(e)?,
            None if store.space == AddressSpace::Threadgroup => return Ok(()),
            None => {
                let n = self.size(store.ty);
                Val::Cells(self.zeros(n))
            }
        };
        self.bind(id, value);
        Ok(())
    }

    /// Binds a variable to a value.
    pub(super) fn bind(&mut self, id: StoreId, value: Val) {
        let store = *self.program.store(id);
        let is_known = !matches!(value, Val::Cells(_));
        if (!is_known || self.has_scalar(id)) && store.space != AddressSpace::Threadgroup {
            let cells = self.cells_of(&value);
            let cell = self.store(id);
            self.flow.write_all(cell, &cells);
        }
        match is_known && !self.is_assigned(store.ty) {
            true => _ = self.references.insert(id, value),
            false => _ = self.references.remove(&id),
        }
    }

    fn switch(&mut self, e: ExprId, cases: &[Case]) -> Done {
        let value = self.condition(e)?;
        let ty = self.program.expr(e).ty.right();
        let end = self.flow.block();
        let blocks: Vec<Block> = cases.iter().map(|_| self.flow.block()).collect();
        let mut table = Vec::new();
        let mut default_block = None;
        for (case, &block) in cases.iter().zip(&blocks) {
            match case.value {
                Some(constant) => table.push((self.bits(constant, ty), block)),
                None => default_block = Some(block),
            }
        }
        self.flow.end(End::Switch(value, table, default_block));
        let saved = self.jump_targets;
        self.jump_targets.breaks = Some(end);
        for (i, (case, &block)) in cases.iter().zip(&blocks).enumerate() {
            self.jump_targets.fallthrough = blocks.get(i + 1).copied();
            self.flow.begin(block);
            self.statement(case.body)?;
            self.flow.end(End::Jump(end));
        }
        self.jump_targets = saved;
        self.flow.begin(end);
        Ok(())
    }
}
