//! Expressions that decide where execution continues: seed 004 "Operations affecting control-flow".

use super::library::test_of;
use super::{Compiler, Done, Label};
use crate::text::deep;
use crate::wsl::environment::access::Callee;
use crate::wsl::library::Meaning;
use crate::wsl::machine::code::{Binary, Instruction, Slot, Test, Unary};
use crate::wsl::typing::program::{Constant, ExprId, Form};

impl Compiler<'_> {
    /// Jumps to the label if the expression is true.
    pub(super) fn jump_if(&mut self, id: ExprId, label: Label) -> Done {
        self.decide(id, true, label)
    }

    /// Jumps to the label if the expression is false.
    pub(super) fn jump_unless(&mut self, id: ExprId, label: Label) -> Done {
        self.decide(id, false, label)
    }

    fn decide(&mut self, id: ExprId, expected: bool, label: Label) -> Done {
        deep(|| self.decide_of(id, expected, label))
    }

    fn decide_of(&mut self, id: ExprId, expected: bool, label: Label) -> Done {
        let expr = self.program.expr(id);
        match &expr.form {
            Form::Constant(Constant::Bool(b)) => {
                self.visit(id);
                if *b == expected { self.jump(label) } else { Ok(()) }
            }
            Form::Parens(e) => self.decide(*e, expected, label),
            Form::And(a, b) | Form::Or(a, b) => {
                self.visit(id);
                // The value of the first operand that decides the whole expression.
                let decisive = matches!(expr.form, Form::Or(..));
                if decisive == expected {
                    self.decide(*a, expected, label)?;
                    self.decide(*b, expected, label)
                } else {
                    let end = self.label();
                    self.decide(*a, decisive, end)?;
                    self.decide(*b, expected, label)?;
                    self.bind(end);
                    Ok(())
                }
            }
            Form::Call(Callee::Library(f), range) => {
                let arguments = self.program.arguments(range);
                match (f.meaning(), arguments) {
                    (Meaning::Not, [e]) => {
                        self.visit(id);
                        self.decide(*e, !expected, label)
                    }
                    (meaning, [a, b]) => match test_of(meaning, self.scalar_of(self.program.expr(*a).ty.right())) {
                        Some((test, swapped)) if self.is_scalar(self.program.expr(*b).ty.right()) => {
                            let (a, b) = (*a, *b);
                            let stable = self.effects[b.0 as usize].writes();
                            let a = self.value(a, None, stable)?;
                            let b = self.value(b, None, false)?;
                            self.visit(id);
                            let (a, b) = if swapped { (b, a) } else { (a, b) };
                            self.jump_test(test, a, b, expected, label)
                        }
                        _ => self.decide_value(id, expected, label),
                    },
                    _ => self.decide_value(id, expected, label),
                }
            }
            _ => self.decide_value(id, expected, label),
        }
    }

    fn jump_test(&mut self, test: Test, a: Slot, b: Slot, expected: bool, label: Label) -> Done {
        let (test, swapped) = if expected { (test, false) } else { test.negated() };
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        let target = label.0;
        self.emit(match test {
            Test::LessInt => Instruction::JumpLessInt { a, b, target },
            Test::LessEqualInt => Instruction::JumpLessEqualInt { a, b, target },
            Test::LessFloat => Instruction::JumpLessFloat { a, b, target },
            Test::NotLessFloat => Instruction::JumpNotLessFloat { a, b, target },
            test => Instruction::JumpTest { test, a, b, target },
        })?;
        Ok(())
    }

    fn decide_value(&mut self, id: ExprId, expected: bool, label: Label) -> Done {
        let a = self.value(id, None, false)?;
        let target = label.0;
        self.emit(if expected { Instruction::JumpIf { a, target } } else { Instruction::JumpUnless { a, target } })?;
        Ok(())
    }

    /// `e1 && e2` or `e1 || e2` as a value.
    pub(super) fn truth(&mut self, id: ExprId, to: Option<Slot>) -> Done<Slot> {
        let own = self.temporary(1)?;
        let (one, zero) = (self.constant(1)?, self.constant(0)?);
        let (other, end) = (self.label(), self.label());
        self.jump_unless(id, other)?;
        let to = to.unwrap_or(own);
        self.copy(to, one, 1)?;
        self.jump(end)?;
        self.bind(other);
        self.copy(to, zero, 1)?;
        self.bind(end);
        Ok(to)
    }

    /// Emits an operation on one word.
    pub(super) fn unary(&mut self, op: Unary, to: Slot, a: Slot) -> Done {
        self.emit(Instruction::Unary { op, to, a })?;
        Ok(())
    }

    /// Emits an operation on two words.
    pub(super) fn binary(&mut self, op: Binary, to: Slot, a: Slot, b: Slot) -> Done {
        self.emit(match op {
            Binary::Add => Instruction::Add { to, a, b },
            Binary::Sub => Instruction::Sub { to, a, b },
            Binary::Mul => Instruction::Mul { to, a, b },
            Binary::And => Instruction::And { to, a, b },
            Binary::AddFloat => Instruction::AddFloat { to, a, b },
            Binary::SubFloat => Instruction::SubFloat { to, a, b },
            Binary::MulFloat => Instruction::MulFloat { to, a, b },
            op => Instruction::Binary { op, to, a, b },
        })?;
        Ok(())
    }
}
