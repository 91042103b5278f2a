//! Statements against their premises: seed 004 "Typing statements", with the errata's WSL-C1, C5
//! and C11.

use super::{Check, Recheck, refuse};
use crate::rule::Rule;
use crate::wsl::environment::Function;
use crate::wsl::types::{Type, TypeId, ValueType};
use crate::wsl::typing::behaviour::{Behaviour, Behaviours};
use crate::wsl::typing::program::{Case, Constant, ExprId, Stmt, StmtForm, StmtId};
use rustc_hash::FxHashSet;

fn only(b: Behaviour) -> Behaviours {
    Behaviours::of(b)
}

impl Recheck<'_> {
    fn right_type(&self, s: &Stmt, e: ExprId, what: &str) -> Check<TypeId> {
        match self.value_type(e) {
            ValueType::Right(ty) => Ok(ty),
            _ => refuse(Some(s.rule), s.span, format!("{what} is used as a right-value without a coercion")),
        }
    }

    fn is_bool(&self, s: &Stmt, e: ExprId) -> Check {
        match self.right_type(s, e, "the condition")? {
            TypeId::BOOL => Ok(()),
            ty => refuse(Some(s.rule), s.span, format!("the condition has the type {}; the rule needs bool", self.show(ty))),
        }
    }

    /// Checks that a statement inside another one returns no pointer and no array reference.
    fn no_reference(&self, s: &Stmt, f: &Function, b: Behaviours) -> Check {
        if b.has(Behaviour::Return) && self.is_reference(f.result) {
            return refuse(Some(s.rule), s.span, "a pointer or an array reference is returned from inside it");
        }
        Ok(())
    }

    pub(super) fn statement(&self, id: StmtId, f: &Function) -> Check {
        let s = self.program.stmt(id);
        let (rule, span) = (s.rule, s.span);
        let behaviours = |id: StmtId| self.program.stmt(id).behaviours;
        let discards = |e: ExprId| self.program.expr(e).discards;
        let found = match (rule, &s.form) {
            (Rule::WslTBreak, StmtForm::Break) => only(Behaviour::Break),
            (Rule::WslTContinue, StmtForm::Continue) => only(Behaviour::Continue),
            (Rule::WslTDiscard, StmtForm::Discard) => only(Behaviour::Discard),
            (Rule::WslTFallthrough, StmtForm::Fallthrough) => only(Behaviour::Fallthrough),
            (Rule::WslTReturnVoid, StmtForm::Return(None)) => {
                self.returns(s, f, TypeId::VOID)?;
                only(Behaviour::Return)
            }
            (Rule::WslTReturn, StmtForm::Return(Some(e))) => {
                self.returns(s, f, self.right_type(s, *e, "what is returned")?)?;
                only(Behaviour::Return).with_if(Behaviour::Discard, discards(*e))
            }
            (Rule::WslTExpr, StmtForm::Expr(e)) => {
                self.right_type(s, *e, "the expression")?;
                only(Behaviour::Nothing).with_if(Behaviour::Discard, discards(*e))
            }
            (Rule::WslTIf, StmtForm::If(e, a, b)) => {
                self.is_bool(s, *e)?;
                let both = behaviours(*a).union(behaviours(*b));
                self.no_reference(s, f, both)?;
                both.with_if(Behaviour::Discard, discards(*e))
            }
            (Rule::WslTDoWhileBreak | Rule::WslTDoWhileNoBreak, StmtForm::DoWhile(body, e)) => {
                self.is_bool(s, *e)?;
                self.loops(s, f, behaviours(*body), rule == Rule::WslTDoWhileBreak)?.with_if(Behaviour::Discard, discards(*e))
            }
            (Rule::WslTForBreak | Rule::WslTForNoBreak, StmtForm::For(e, e2, body)) => {
                self.is_bool(s, *e)?;
                self.right_type(s, *e2, "the last expression")?;
                let b = self.loops(s, f, behaviours(*body), rule == Rule::WslTForBreak)?;
                b.with_if(Behaviour::Discard, discards(*e) || discards(*e2))
            }
            (Rule::WslTSwitchBreak | Rule::WslTSwitchNoBreak, StmtForm::Switch(e, cases)) => {
                let b = self.switch(s, f, *e, cases)?;
                b.with_if(Behaviour::Discard, discards(*e))
            }
            // The behaviours of a declaration are those that it adds to its block.
            (Rule::WslTVariableDecl, StmtForm::Declaration(_, store, None)) => {
                let ty = self.program.store(*store).ty;
                if self.is_reference(ty) {
                    return refuse(Some(rule), span, "a pointer or an array reference has no default value");
                }
                Behaviours::default()
            }
            (Rule::WslTVariableDeclInit, StmtForm::Declaration(_, store, Some(e))) => {
                let ty = self.program.store(*store).ty;
                if self.right_type(s, *e, "the initialising expression")? != ty {
                    return refuse(Some(rule), span, "the initialising expression is not of the variable's type");
                }
                Behaviours::default().with_if(Behaviour::Discard, discards(*e))
            }
            (_, StmtForm::Block(range)) => {
                let (last, behaviours) = self.block(self.program.block(range))?;
                if last != rule {
                    return refuse(Some(rule), span, format!("the rule {last} is the one for this block"));
                }
                behaviours
            }
            _ => return refuse(Some(rule), span, "the rule does not conclude anything of this form"),
        };
        if found != s.behaviours {
            return refuse(Some(rule), span, format!("its behaviours are {}; from its premises follow {found}", s.behaviours));
        }
        Ok(())
    }

    fn returns(&self, s: &Stmt, f: &Function, ty: TypeId) -> Check {
        if ty == f.result {
            return Ok(());
        }
        let (found, needed) = (self.show(ty), self.show(f.result));
        refuse(Some(Rule::WslVFunctionReturn), s.span, format!("a value of type {found} is returned from a function of {needed}"))
    }

    /// The behaviours of a loop, from those of its body. `breaks` says whether the rule is the one
    /// for bodies with a break.
    fn loops(&self, s: &Stmt, f: &Function, body: Behaviours, breaks: bool) -> Check<Behaviours> {
        self.no_reference(s, f, body)?;
        if body.has(Behaviour::Break) != breaks {
            return refuse(Some(s.rule), s.span, "the other rule is for this body");
        }
        if body.has(Behaviour::Fallthrough) {
            return refuse(Some(s.rule), s.span, "the body of a loop falls through");
        }
        Ok(body.without(Behaviour::Continue).without(Behaviour::Break).with(Behaviour::Nothing))
    }

    /// The rule and the behaviours of a block. They are found from the last statement to the first:
    /// the behaviours of each rest are the premise of the statement before it.
    fn block(&self, parts: &[StmtId]) -> Check<(Rule, Behaviours)> {
        let (mut rule, mut rest) = (Rule::WslTEmptyBlock, only(Behaviour::Nothing));
        for (i, id) in parts.iter().enumerate().rev() {
            let part = self.program.stmt(*id);
            let b = part.behaviours;
            (rule, rest) = match &part.form {
                StmtForm::Declaration(_, _, None) => (Rule::WslTVariableDecl, rest),
                StmtForm::Declaration(_, _, Some(_)) => (Rule::WslTVariableDeclInit, rest.union(b)),
                _ if i + 1 == parts.len() => (Rule::WslTTrivialBlock, b),
                _ => {
                    if !b.has(Behaviour::Nothing) {
                        return refuse(Some(Rule::WslTBlock), part.span, "what follows this statement is never reached");
                    }
                    if b.has(Behaviour::Fallthrough) {
                        return refuse(Some(Rule::WslTBlock), part.span, "others follow a statement that may fall through");
                    }
                    (Rule::WslTBlock, b.without(Behaviour::Nothing).union(rest))
                }
            };
        }
        Ok((rule, rest))
    }

    fn switch(&self, s: &Stmt, f: &Function, e: ExprId, cases: &[Case]) -> Check<Behaviours> {
        let refuse = |rule: Rule, message: &str| refuse(Some(rule), s.span, message);
        let ty = self.right_type(s, e, "the value that is switched on")?;
        let values: u64 = match self.ty(ty) {
            Type::Enum(id) => self.program.env.enumeration(id).elements.len() as u64,
            _ if ty == TypeId::INT || ty == TypeId::UINT => 1 << 32,
            _ => return refuse(Rule::WslTSwitchBlock, "the value that is switched on is no integer and no element of an enum"),
        };
        let mut seen: FxHashSet<Constant> = FxHashSet::default();
        let mut defaults = 0;
        let mut all = Behaviours::default();
        for (i, case) in cases.iter().enumerate() {
            match case.value {
                None => defaults += 1,
                Some(value) => {
                    let right = match value {
                        Constant::Int(_) => ty == TypeId::INT,
                        Constant::Uint(_) => ty == TypeId::UINT,
                        Constant::Element(i) => matches!(self.ty(ty), Type::Enum(_)) && u64::from(i) < values,
                        Constant::Bool(_) | Constant::Float(_) => false,
                    };
                    if !right {
                        return refuse(Rule::WslTCase, "the value of a case is not of the switch's type");
                    }
                    if !seen.insert(value) {
                        return refuse(Rule::WslTCase, "two cases have the same value");
                    }
                }
            }
            let body = self.program.stmt(case.body);
            if !matches!(body.form, StmtForm::Block(_)) {
                return refuse(Rule::WslTCase, "the body of a case is no block");
            }
            if body.behaviours.has(Behaviour::Nothing) {
                return refuse(Rule::WslTSwitchBlock, "the end of a case is reached");
            }
            if i + 1 == cases.len() && body.behaviours.has(Behaviour::Fallthrough) {
                return refuse(Rule::WslTSwitchBlock, "the last case falls through");
            }
            all = all.union(body.behaviours);
        }
        let covered = seen.len() as u64;
        match defaults {
            0 if covered != values => return refuse(Rule::WslTDefault, "some value has no case and there is no default"),
            1 if covered >= values => return refuse(Rule::WslTDefault, "no value is left to the default"),
            0 | 1 => {}
            _ => return refuse(Rule::WslTDefault, "there are two defaults"),
        }
        self.no_reference(s, f, all)?;
        let breaks = all.has(Behaviour::Break);
        if breaks != (s.rule == Rule::WslTSwitchBreak) {
            return refuse(s.rule, "the other rule is for these cases");
        }
        let all = all.without(Behaviour::Fallthrough);
        Ok(if breaks { all.without(Behaviour::Break).with(Behaviour::Nothing) } else { all })
    }
}
