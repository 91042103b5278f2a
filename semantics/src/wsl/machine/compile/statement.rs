//! Statements: seed 004 "Execution of statements".

use super::{Compiler, Done, Label};
use crate::text::{Span, deep};
use crate::wsl::machine::code::{Cases, Instruction, Loop};
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::Type;
use crate::wsl::typing::program::{Case, Constant, ExprId, StmtForm, StmtId, StoreId};

/// The targets of terminators.
#[derive(Clone, Debug, Default)]
pub(super) struct JumpTargets {
    breaks: Option<Label>,
    continues: Option<Label>,
    fallthrough: Option<Label>,
    /// The innermost loop around, if the function may wait at a barrier or for its quad.
    pub innermost: Option<u32>,
}

impl Compiler<'_> {
    pub(super) fn statement(&mut self, id: StmtId) -> Done {
        deep(|| self.statement_of(id))
    }

    fn statement_of(&mut self, id: StmtId) -> Done {
        let program = self.program;
        let statement = program.stmt(id);
        self.span = statement.span;
        self.temporaries.chunk = 0;
        self.temporaries.used = 0;
        match &statement.form {
            StmtForm::Block(range) => {
                for &s in program.block(range) {
                    self.statement(s)?;
                }
                Ok(())
            }
            StmtForm::Declaration(_, store, initializer) => self.declaration(*store, *initializer),
            StmtForm::If(e, then, otherwise) => self.branch(*e, *then, *otherwise),
            StmtForm::DoWhile(body, e) => self.do_while(*body, *e),
            StmtForm::For(e, update, body) => self.for_loop(*e, *update, *body),
            StmtForm::Switch(e, cases) => self.switch(*e, cases),
            StmtForm::Break => self.terminate(self.jump_targets.breaks),
            StmtForm::Continue => self.terminate(self.jump_targets.continues),
            StmtForm::Fallthrough => self.terminate(self.jump_targets.fallthrough),
            StmtForm::Discard => self.emit(Instruction::Discard).map(|_| ()),
            StmtForm::Return(None) => self.emit(Instruction::Return).map(|_| ()),
            StmtForm::Return(Some(e)) => {
                let result = self.result;
                if result.n == 0 {
                    self.effect(*e)?
                } else {
                    self.value_into(*e, result.at)?
                }
                self.span = statement.span;
                self.emit(Instruction::Return).map(|_| ())
            }
            StmtForm::Expr(e) => self.effect(*e),
        }
    }

    fn terminate(&mut self, to: Option<Label>) -> Done {
        match to {
            Some(label) => self.jump(label),
            None => self.emit(Instruction::Unreachable).map(|_| ()),
        }
    }

    /// A declaration stores its initial value, or the default value, whenever it is reached.
    fn declaration(&mut self, id: StoreId, initializer: Option<ExprId>) -> Done {
        let store = *self.program.store(id);
        let at = self.store(id)?;
        let n = self.words(store.ty)?;
        if store.space == AddressSpace::Threadgroup {
            // The group begins with the default values (ERRATA WSL-D19).
            let Some(e) = initializer else { return Ok(()) };
            let value = self.value(e, None, false)?;
            let place = self.group_place(at)?;
            return self.store_to(place, value, n);
        }
        match initializer {
            Some(e) => self.value_into(e, at),
            None => self.zero(at, n),
        }
    }

    fn branch(&mut self, e: ExprId, then: StmtId, otherwise: StmtId) -> Done {
        let (other, end) = (self.label(), self.label());
        self.jump_unless(e, other)?;
        self.statement(then)?;
        let empty = matches!(&self.program.stmt(otherwise).form, StmtForm::Block(range) if range.is_empty());
        if !empty {
            self.jump(end)?;
        }
        self.bind(other);
        self.statement(otherwise)?;
        self.bind(end);
        Ok(())
    }

    /// The body of a loop. `break` and `continue` in it refer to the loop.
    fn body(&mut self, body: StmtId, breaks: Label, continues: Label) -> Done {
        let saved = (
            self.jump_targets.breaks.replace(breaks),
            self.jump_targets.continues.replace(continues),
            self.jump_targets.fallthrough.take(),
        );
        self.emit(match self.jump_targets.innermost {
            Some(innermost) => Instruction::Number { counter: self.code.loops[innermost as usize].counter },
            None => Instruction::Iterate,
        })?;
        self.statement(body)?;
        (self.jump_targets.breaks, self.jump_targets.continues, self.jump_targets.fallthrough) = saved;
        Ok(())
    }

    fn enter_loop(&mut self, place: Span) -> Done {
        if self.waits {
            let counter = self.allocate(1)?;
            self.zero(counter, 1)?;
            self.code.loops.push(Loop { counter, outer: self.jump_targets.innermost, place });
            self.jump_targets.innermost = Some(self.code.loops.len() as u32 - 1);
        }
        Ok(())
    }

    fn leave_loop(&mut self) {
        self.jump_targets.innermost = self.jump_targets.innermost.and_then(|innermost| self.code.loops[innermost as usize].outer);
    }

    /// `do s while (e);` is Loop(s, {}, if (e) do s while (e); else {}).
    fn do_while(&mut self, body: StmtId, e: ExprId) -> Done {
        let (start, next, end, place) = (self.label(), self.label(), self.label(), self.span);
        self.enter_loop(place)?;
        self.bind(start);
        self.body(body, end, next)?;
        self.bind(next);
        self.free_temporaries();
        self.jump_if(e, start)?;
        self.bind(end);
        self.leave_loop();
        Ok(())
    }

    /// `for (; e; e') s` is if (e) Loop(s, e';, for (; e; e') s) else {}.
    fn for_loop(&mut self, e: ExprId, update: ExprId, body: StmtId) -> Done {
        let (start, next, end, place) = (self.label(), self.label(), self.label(), self.span);
        self.jump_unless(e, end)?;
        self.enter_loop(place)?;
        self.bind(start);
        self.body(body, end, next)?;
        self.bind(next);
        self.free_temporaries();
        self.effect(update)?;
        self.free_temporaries();
        self.jump_if(e, start)?;
        self.bind(end);
        self.leave_loop();
        Ok(())
    }

    /// Frees the words of all intermediate values.
    fn free_temporaries(&mut self) {
        self.temporaries.chunk = 0;
        self.temporaries.used = 0;
    }

    fn switch(&mut self, e: ExprId, cases: &[Case]) -> Done {
        let value = self.value(e, None, false)?;
        let ty = self.program.expr(e).ty.right();
        let (end, table) = (self.label(), self.code.cases.len());
        let span = self.span;
        self.emit(Instruction::Switch { value, table: table as u32 })?;
        let missing = self.label();
        self.code.cases.push(Cases { values: Vec::new(), otherwise: missing.0 });
        let labels: Vec<Label> = cases.iter().map(|_| self.label()).collect();
        for (case, label) in cases.iter().zip(&labels) {
            let bits = case.value.map(|value| self.bits(value, ty));
            let table = &mut self.code.cases[table];
            match bits {
                Some(bits) => table.values.push((bits, label.0)),
                None => table.otherwise = label.0,
            }
        }
        let saved = (self.jump_targets.breaks.replace(end), self.jump_targets.fallthrough);
        for (i, case) in cases.iter().enumerate() {
            self.bind(labels[i]);
            self.jump_targets.fallthrough = labels.get(i + 1).copied();
            self.statement(case.body)?;
            // A case whose end is reached ends the switch. Validation requires a terminator there.
            self.jump(end)?;
        }
        (self.jump_targets.breaks, self.jump_targets.fallthrough) = saved;
        self.span = span;
        self.bind(missing);
        if !cases.iter().any(|c| c.value.is_none()) {
            self.emit(Instruction::Unreachable)?;
        }
        self.bind(end);
        Ok(())
    }

    /// The bits of a constant of that type.
    pub(super) fn bits(&self, constant: Constant, ty: crate::wsl::types::TypeId) -> u32 {
        match constant {
            Constant::Bool(b) => u32::from(b),
            Constant::Int(i) => i as u32,
            Constant::Uint(bits) | Constant::Float(bits) => bits,
            Constant::Element(index) => match self.program.env.types.get(ty) {
                Type::Enum(id) => self.program.env.enumeration(id).elements.get(index as usize).map_or(0, |(_, bits)| *bits),
                _ => 0,
            },
        }
    }
}
