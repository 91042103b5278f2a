//! Statements: seed 003 "Control flows", a todo there. Each statement becomes structured control
//! flow, with the merge blocks and continue targets that SPIR-V requires.

use super::emit::{Id, Operands};
use super::place::{Place, Value, VariableMeaning};
use super::{Compiler, Construct, Done, Returns};
use rspirv::spirv::Op;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::text::deep;
use smallstep_semantics::wsl::syntax::AddressSpace;
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};
use smallstep_semantics::wsl::typing::program::{Case, ExprId, StmtForm, StmtId, StoreId};

/// The rule of a statement. `None` for a block, an expression or `discard`.
fn rule_of(form: &StmtForm) -> Option<Rule> {
    Some(match form {
        StmtForm::Declaration(_, _, None) => Rule::CodegenLocalDefault,
        StmtForm::Declaration(..) => Rule::CodegenLocalInitial,
        StmtForm::If(..) => Rule::CodegenIf,
        StmtForm::DoWhile(..) | StmtForm::For(..) => Rule::CodegenLoop,
        StmtForm::Switch(..) => Rule::CodegenSwitch,
        StmtForm::Break | StmtForm::Continue => Rule::CodegenJump,
        StmtForm::Fallthrough => Rule::CodegenFallthrough,
        StmtForm::Return(_) => Rule::CodegenReturn,
        StmtForm::Block(_) | StmtForm::Expr(_) | StmtForm::Discard => return None,
    })
}

impl Compiler<'_> {
    /// Emits a statement. After a terminator nothing is emitted.
    pub(super) fn statement(&mut self, id: StmtId) -> Done {
        if !self.e.body.open || matches!(self.returns, Returns::Gives(Some(_))) {
            return Ok(());
        }
        deep(|| self.statement_of(id))
    }

    fn statement_of(&mut self, id: StmtId) -> Done {
        let program = self.program;
        let statement = program.stmt(id);
        self.span = statement.span;
        if !matches!(statement.form, StmtForm::Block(_)) {
            self.line();
        }
        if let (Some(rule), Some(witness)) = (rule_of(&statement.form), &mut self.witness) {
            witness.push(super::Witness { span: statement.span, ty: None, id: self.e.body.block, rule });
        }
        match &statement.form {
            StmtForm::Block(range) => {
                for &s in program.block(range) {
                    self.statement(s)?;
                }
                Ok(())
            }
            StmtForm::Declaration(_, store, initializer) => self.declaration(*store, *initializer),
            StmtForm::If(e, then, or) => self.branches(*e, *then, *or),
            StmtForm::DoWhile(body, e) => self.repeat(None, *body, None, *e),
            StmtForm::For(e, update, body) => self.repeat(Some(*e), *body, Some(*update), *e),
            StmtForm::Switch(e, cases) => self.switch(*e, cases),
            StmtForm::Break => self.jump(Rule::CodegenJump, self.branch_targets.breaks),
            StmtForm::Continue => self.jump(Rule::CodegenJump, self.branch_targets.continues),
            StmtForm::Fallthrough => self.fallthrough(),
            // The module that calls a function for each row of a table is a compute stage.
            StmtForm::Discard if !self.stage.is_fragment => {
                self.refuse(Construct::Discard, "discard in a function that is not called by a fragment stage")
            }
            StmtForm::Discard => {
                let saved = self.e.enter(Rule::CodegenDiscard);
                self.e.end(Op::Kill, &[]);
                self.e.rule = saved;
                Ok(())
            }
            StmtForm::Return(e) => self.returned(*e),
            StmtForm::Expr(e) => self.evaluate(*e),
        }
    }

    /// Stores the initial value, or the default value, whenever control reaches the declaration.
    fn declaration(&mut self, id: StoreId, initializer: Option<ExprId>) -> Done {
        let store = *self.program.store(id);
        if self.is_known(store.ty) {
            let Some(e) = initializer else { return self.unforeseen("a pointer that is not initialised") };
            let value = self.value(e)?;
            self.stores.insert(id, VariableMeaning::Known(value));
            return Ok(());
        }
        let value = match initializer {
            Some(e) => Some(self.id(e)?),
            None => None,
        };
        let VariableMeaning::Variable(root) = self.bound(id)? else { return self.unforeseen("this declaration") };
        let (rule, value) = match value {
            Some(value) => (Rule::CodegenLocalInitial, value),
            // The entry point stores the default values of the threadgroup variables.
            None if store.space == AddressSpace::Threadgroup => return Ok(()),
            None => (Rule::CodegenLocalDefault, self.default_value(store.ty)?),
        };
        self.store(rule, &Place::whole(root), value)
    }

    fn jump(&mut self, rule: Rule, to: Option<u32>) -> Done {
        let Some(label) = to else { return self.unforeseen("this terminator") };
        let saved = self.e.enter(rule);
        self.e.branch(label);
        self.e.rule = saved;
        Ok(())
    }

    /// Branches to the next case. In a switch by number, it stores the number of the next case and
    /// branches to the end of this case.
    fn fallthrough(&mut self) -> Done {
        let Some(falls) = self.branch_targets.fallthrough else { return self.unforeseen("this terminator") };
        if let Some((next, number)) = falls.next {
            self.store(Rule::CodegenFallthrough, &Place::whole(next), number)?;
        }
        self.jump(Rule::CodegenFallthrough, Some(falls.to))
    }

    fn returned(&mut self, e: Option<ExprId>) -> Done {
        let value = match e {
            Some(e) => self.value(e)?,
            None => Value::Void,
        };
        if let Returns::Gives(_) = self.returns {
            if self.branch_targets.depth > 0 {
                return self.unforeseen("a pointer, array reference or texture that is returned inside a branch or loop");
            }
            self.returns = Returns::Gives(Some(value));
            return Ok(());
        }
        let saved = self.e.enter(Rule::CodegenReturn);
        match value {
            Value::Void => self.e.end(Op::Return, &[]),
            Value::Id(id) => self.e.end(Op::ReturnValue, &[id]),
            Value::Pointer(_) | Value::Reference(..) | Value::Address(_) | Value::Texture(_) | Value::Sampler(_) | Value::Record(_) => {
                return self.unforeseen("a pointer or array reference that is returned here");
            }
        }
        self.e.rule = saved;
        Ok(())
    }

    /// Begins a merge block. If no branch targets it, it is unreachable. In a continue construct it
    /// does not end with OpUnreachable, since every block there must lead back to the loop.
    fn merge(&mut self, label: u32) {
        self.e.begin(label);
        if !self.e.body.reached.contains(&label) && self.e.body.continuing == 0 {
            self.e.end(Op::Unreachable, &[]);
        }
    }

    fn branches(&mut self, e: ExprId, then: StmtId, or: StmtId) -> Done {
        let condition = self.id(e)?;
        let (yes, no, merge) = (self.e.fresh(), self.e.fresh(), self.e.fresh());
        let saved = self.e.enter(Rule::CodegenIf);
        self.e.effect(Op::SelectionMerge, &[merge, 0]);
        self.e.end(Op::BranchConditional, &[condition, yes, no]);
        self.branch_targets.depth += 1;
        for (label, side) in [(yes, then), (no, or)] {
            self.e.begin(label);
            self.statement(side)?;
            self.e.enter(Rule::CodegenIf);
            self.e.branch(merge);
        }
        self.branch_targets.depth -= 1;
        self.merge(merge);
        self.e.rule = saved;
        Ok(())
    }

    /// A loop. Before every iteration `first` is evaluated, if it is given. After it comes
    /// `update`, if it is given, and otherwise the condition `last`.
    fn repeat(&mut self, first: Option<ExprId>, body: StmtId, update: Option<ExprId>, last: ExprId) -> Done {
        let [header, test, round, next, merge] = [(); 5].map(|()| self.e.fresh());
        let saved = self.e.enter(Rule::CodegenLoop);
        self.e.branch(header);
        self.e.begin(header);
        self.e.effect(Op::LoopMerge, &[merge, next, 0]);
        self.e.branch(if first.is_some() { test } else { round });
        if let Some(e) = first {
            self.e.begin(test);
            let condition = self.id(e)?;
            self.e.enter(Rule::CodegenLoop);
            self.e.body.reached.insert(merge);
            self.e.end(Op::BranchConditional, &[condition, round, merge]);
        }
        self.e.begin(round);
        let outer = self.branch_targets;
        self.branch_targets =
            super::BranchTargets { breaks: Some(merge), continues: Some(next), fallthrough: None, depth: outer.depth + 1 };
        self.statement(body)?;
        self.branch_targets = outer;
        self.e.enter(Rule::CodegenLoop);
        self.e.branch(next);
        self.e.begin(next);
        self.branch_targets.depth += 1;
        self.e.body.continuing += 1;
        if let Some(update) = update {
            self.evaluate(update)?;
            self.e.enter(Rule::CodegenLoop);
            self.e.branch(header);
        } else {
            let condition = self.id(last)?;
            self.e.enter(Rule::CodegenLoop);
            self.e.body.reached.insert(merge);
            self.e.end(Op::BranchConditional, &[condition, header, merge]);
        }
        self.branch_targets.depth -= 1;
        self.e.body.continuing -= 1;
        self.merge(merge);
        self.e.rule = saved;
        Ok(())
    }

    fn switch(&mut self, e: ExprId, cases: &[Case]) -> Done {
        let ty = self.program.expr(e).ty.right();
        let value = self.id(e)?;
        if cases.is_empty() {
            return Ok(());
        }
        if !matches!(self.program.env.types.get(ty), Type::Scalar(_) | Type::Enum(_)) {
            return self.unforeseen("a switch on this type");
        }
        // In SPIR-V, only the end of a case construct may branch to the next case.
        if cases.iter().any(|case| self.falls_inside(case.body, false)) {
            let saved = self.e.rule;
            self.switch_by_number(value, ty, cases)?;
            self.e.rule = saved;
            return Ok(());
        }
        let merge = self.e.fresh();
        let labels: Vec<u32> = cases.iter().map(|_| self.e.fresh()).collect();
        let default = cases.iter().position(|case| case.value.is_none()).map_or(merge, |k| labels[k]);
        let mut operands = Operands::from_slice(&[value, default]);
        for (case, &label) in cases.iter().zip(&labels) {
            if let Some(constant) = case.value {
                operands.extend([self.constant_bits(constant, ty), label]);
            }
        }
        let saved = self.e.enter(Rule::CodegenSwitch);
        if default == merge {
            self.e.body.reached.insert(merge);
        }
        self.e.effect(Op::SelectionMerge, &[merge, 0]);
        self.e.end(Op::Switch, &operands);
        let outer = self.branch_targets;
        for (k, case) in cases.iter().enumerate() {
            let next = labels.get(k + 1).copied();
            self.e.begin(labels[k]);
            let fallthrough = next.map(|to| super::Fallthrough { to, next: None });
            self.branch_targets = super::BranchTargets { breaks: Some(merge), fallthrough, depth: outer.depth + 1, ..outer };
            self.statement(case.body)?;
            self.e.enter(Rule::CodegenSwitch);
            self.e.branch(merge);
        }
        self.branch_targets = outer;
        self.merge(merge);
        self.e.rule = saved;
        Ok(())
    }

    /// Whether a case falls through inside an if.
    fn falls_inside(&self, id: StmtId, inside: bool) -> bool {
        deep(|| match &self.program.stmt(id).form {
            StmtForm::Fallthrough => inside,
            StmtForm::Block(range) => self.program.block(range).iter().any(|&s| self.falls_inside(s, inside)),
            StmtForm::If(_, then, or) => self.falls_inside(*then, true) || self.falls_inside(*or, true),
            _ => false,
        })
    }

    /// A switch with a case that falls through inside an if. A variable holds the number of the
    /// next case. Each case becomes an if on that number. Its body is a construct whose merge block
    /// is the end of the case.
    fn switch_by_number(&mut self, value: Id, ty: TypeId, cases: &[Case]) -> Done {
        let (uint, truth, of) = (self.uint(), self.scalar(Scalar::Bool), self.ty(ty)?);
        let (count, zero) = (self.uint_constant(cases.len() as u32), self.uint_constant(0));
        let numbers: Vec<Id> = (0..cases.len() as u32).map(|k| self.uint_constant(k)).collect();
        let next = Place::whole(self.local(TypeId::UINT)?);
        let default = cases.iter().position(|case| case.value.is_none());
        let mut first = default.map_or(count, |k| numbers[k]);
        self.e.enter(Rule::CodegenFallthrough);
        for (case, &number) in cases.iter().zip(&numbers) {
            let Some(constant) = case.value else { continue };
            let bits = self.constant_bits(constant, ty);
            let literal = self.e.constant(of, bits);
            let is_case = self.e.op(Op::IEqual, truth, &[value, literal]);
            first = self.e.op(Op::Select, uint, &[is_case, number, first]);
        }
        self.store(Rule::CodegenFallthrough, &next, first)?;
        let outer = self.branch_targets;
        for (k, case) in cases.iter().enumerate() {
            let [body, inner, end, merge] = [(); 4].map(|()| self.e.fresh());
            let number = self.load(&next)?;
            self.e.enter(Rule::CodegenFallthrough);
            let is_case = self.e.op(Op::IEqual, truth, &[number, numbers[k]]);
            self.e.effect(Op::SelectionMerge, &[merge, 0]);
            self.e.end(Op::BranchConditional, &[is_case, body, merge]);
            self.e.begin(body);
            self.store(Rule::CodegenFallthrough, &next, count)?;
            self.e.enter(Rule::CodegenFallthrough);
            self.e.effect(Op::SelectionMerge, &[end, 0]);
            self.e.end(Op::Switch, &[zero, inner]);
            self.e.begin(inner);
            let fallthrough = numbers.get(k + 1).map(|&after| super::Fallthrough { to: end, next: Some((next.root, after)) });
            self.branch_targets = super::BranchTargets { breaks: Some(end), fallthrough, depth: outer.depth + 1, ..outer };
            self.statement(case.body)?;
            self.branch_targets = outer;
            self.e.enter(Rule::CodegenFallthrough);
            self.e.branch(end);
            self.merge(end);
            self.e.branch(merge);
            self.e.begin(merge);
        }
        Ok(())
    }
}
