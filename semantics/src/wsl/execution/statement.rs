//! Blocks, declarations, branches, expressions as statements: seed 004 "Execution of statements".

use super::term::{Block, Form, Stmt};
use super::{Cx, Done, Stop};
use crate::rule::Rule;
use crate::text::deep;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::typing::program::{StmtForm, StmtId};
use std::rc::Rc;

impl Cx<'_, '_> {
    /// ρ ⊢ s → s'
    ///
    /// # Errors
    /// Why there is no such step.
    pub fn stmt(&mut self, s: &mut Stmt) -> Done {
        match s {
            Stmt::If(parts) => self.at = parts.0.at,
            Stmt::Return(Some(e)) | Stmt::Effect(e) | Stmt::Switch(e, _) => self.at = e.at,
            _ => {}
        }
        deep(|| match s {
            Stmt::Block(_) => self.block(s),
            Stmt::If(parts) => {
                if parts.0.words().is_none() {
                    return self.apply_stmt(Rule::WslEIfReduce, e_if_reduce, s);
                }
                let words = parts.0.words().cloned().unwrap_or_default();
                match self.truth(&words)? {
                    true => self.apply_stmt(Rule::WslEIfTrue, e_if_true, s),
                    false => self.apply_stmt(Rule::WslEIfFalse, e_if_false, s),
                }
            }
            Stmt::Iterate(id, _) => match self.program().stmt(*id).form {
                StmtForm::For(..) => self.apply_stmt(Rule::WslEForLoop, super::iteration::e_for_loop, s),
                _ => self.apply_stmt(Rule::WslEDoWhileLoop, super::iteration::e_do_while_loop, s),
            },
            Stmt::Switch(..) => self.switch(s),
            Stmt::Cases(..) => self.cases(s),
            Stmt::Loop(..) => self.iteration(s),
            Stmt::Return(Some(e)) if e.words().is_none() => self.apply_stmt(Rule::WslEReturnReduce, e_return_reduce, s),
            Stmt::Effect(e) => match e.words() {
                Some(_) => self.apply_stmt(Rule::WslEEffectfulExprElim, e_effectful_expr_elim, s),
                None => self.apply_stmt(Rule::WslEEffectfulExprReduce, e_effectful_expr_reduce, s),
            },
            Stmt::Declaration(..) => self.stuck("a declaration stands outside of a block"),
            Stmt::Break | Stmt::Continue | Stmt::Fallthrough | Stmt::Discard | Stmt::Return(_) => self.stuck("nothing takes a terminator"),
        })
    }

    /// A statement of the source, one level of it.
    pub(super) fn open_stmt(&self, id: StmtId) -> Stmt {
        let program = self.program();
        match &program.stmt(id).form {
            StmtForm::Block(range) => Stmt::Block(Box::new(Block { rest: range.clone(), ..Block::default() })),
            StmtForm::Declaration(name, store, e) => Stmt::Declaration(*name, *store, e.map(|e| self.source(e))),
            StmtForm::If(e, s, or) => Stmt::If(Box::new((self.source(*e), self.open_stmt(*s), self.open_stmt(*or)))),
            StmtForm::DoWhile(..) | StmtForm::For(..) => Stmt::Iterate(id, 0),
            StmtForm::Switch(e, _) => Stmt::Switch(self.source(*e), id),
            StmtForm::Break => Stmt::Break,
            StmtForm::Continue => Stmt::Continue,
            StmtForm::Discard => Stmt::Discard,
            StmtForm::Fallthrough => Stmt::Fallthrough,
            StmtForm::Return(e) => Stmt::Return(e.map(|e| self.source(e))),
            StmtForm::Expr(e) => Stmt::Effect(self.source(*e)),
        }
    }

    fn block(&mut self, s: &mut Stmt) -> Done {
        let Stmt::Block(block) = s else { return self.stuck("no block") };
        if block.env.is_none() {
            return self.apply_stmt(Rule::WslEBlockAnnotate, e_block_annotate, s);
        }
        if block.first.is_none() {
            block.first = match block.made.pop() {
                Some(made) => Some(made),
                None => block.rest.next().map(|at| self.open_stmt(self.program().blocks[at as usize])),
            };
        }
        match &block.first {
            None => self.stuck("the empty block is a value"),
            Some(first) if first.is_empty() => self.apply_stmt(Rule::WslEBlockNextStmt, e_block_next_stmt, s),
            Some(first) if first.is_terminator() => self.apply_stmt(Rule::WslEBlockTerminator, e_block_terminator, s),
            Some(Stmt::Declaration(_, _, None)) => self.apply_stmt(Rule::WslEBlockVdecl, e_block_vdecl, s),
            Some(Stmt::Declaration(_, _, Some(e))) if e.words().is_some() => {
                self.apply_stmt(Rule::WslEBlockVdeclComplete, e_block_vdecl_complete, s)
            }
            Some(Stmt::Declaration(..)) => self.apply_stmt(Rule::WslEBlockVdeclReduce, e_block_vdecl_reduce, s),
            Some(_) => self.apply_stmt(Rule::WslEBlockReduce, e_block_reduce, s),
        }
    }
}

fn block_of<'a>(cx: &Cx, s: &'a mut Stmt) -> Result<&'a mut Block, Stop> {
    match s {
        Stmt::Block(block) => Ok(block),
        _ => cx.stuck("no block"),
    }
}

/// ρ ⊢ {s…} → {ρ: s…} [wsl/e-block-annotate, 004 Blocks and variable declarations 1]
pub fn e_block_annotate(cx: &mut Cx, s: &mut Stmt) -> Done {
    let env = cx.env.clone();
    block_of(cx, s)?.env = Some(env);
    Ok(())
}

/// {ρ': {} s…} → {ρ': s…} [wsl/e-block-next-stmt, 004 Blocks and variable declarations 2]
pub fn e_block_next_stmt(cx: &mut Cx, s: &mut Stmt) -> Done {
    block_of(cx, s)?.first = None;
    Ok(())
}

/// {ρ': t s…} → t, t a terminator: a return of a value or of nothing, and discard too
/// [wsl/e-block-terminator, 004 Blocks and variable declarations 3; WSL-C5, WSL-D1]
pub fn e_block_terminator(cx: &mut Cx, s: &mut Stmt) -> Done {
    if let Some(first) = block_of(cx, s)?.first.take() {
        *s = first;
    }
    Ok(())
}

/// ρ' ⊢ e → e' gives {ρ': T x = e; s…} → {ρ': T x = e'; s…}: x is not bound yet
/// [wsl/e-block-vdecl-reduce, 004 Blocks and variable declarations 4.2; WSL-C4]
pub fn e_block_vdecl_reduce(cx: &mut Cx, s: &mut Stmt) -> Done {
    let block = block_of(cx, s)?;
    let env = block.env.clone().unwrap_or_default();
    let Some(Stmt::Declaration(_, _, Some(e))) = &mut block.first else { return cx.stuck("no declaration") };
    cx.within(Rule::WslEBlockVdeclReduce, |cx| cx.in_env(env, |cx| cx.expr(e)))
}

/// {ρ': T x = v; s…} → {ρ'[x ↦ id]: s…}, storing v to id [wsl/e-block-vdecl-complete, 004 Blocks
/// and variable declarations 4.3]
pub fn e_block_vdecl_complete(cx: &mut Cx, s: &mut Stmt) -> Done {
    let block = block_of(cx, s)?;
    let Some(Stmt::Declaration(name, store, Some(e))) = block.first.take() else { return cx.stuck("no declaration") };
    let Form::Value(words) = e.form else { return cx.stuck("no value") };
    Rc::make_mut(block.env.get_or_insert_default()).push((name, store));
    cx.place = Some(cx.program().store(store).span);
    cx.store(cx.address(store), &words)
}

/// {ρ': T x; s…} → {ρ'[x ↦ id]: s…}, storing the default value of T to id unless its threadgroup
/// has [wsl/e-block-vdecl, 004 Blocks and variable declarations 4.3, Annotations for execution;
/// WSL-C19, WSL-D19]
pub fn e_block_vdecl(cx: &mut Cx, s: &mut Stmt) -> Done {
    let block = block_of(cx, s)?;
    let Some(Stmt::Declaration(name, store, None)) = block.first.take() else { return cx.stuck("no declaration") };
    Rc::make_mut(block.env.get_or_insert_default()).push((name, store));
    cx.place = Some(cx.program().store(store).span);
    let declared = *cx.program().store(store);
    if declared.space == AddressSpace::Threadgroup {
        // The group began with it.
        return Ok(());
    }
    let words = cx.default_value(declared.ty)?;
    cx.store(cx.address(store), &words)
}

/// ρ' ⊢ s → s' gives {ρ': s s''…} → {ρ': s' s''…} [wsl/e-block-reduce, 004 Blocks and variable
/// declarations 5]
pub fn e_block_reduce(cx: &mut Cx, s: &mut Stmt) -> Done {
    let block = block_of(cx, s)?;
    let env = block.env.clone().unwrap_or_default();
    let Some(first) = &mut block.first else { return cx.stuck("no statement") };
    cx.within(Rule::WslEBlockReduce, |cx| cx.in_env(env, |cx| cx.stmt(first)))
}

fn branch(cx: &Cx, s: &mut Stmt, then: bool) -> Done {
    let Stmt::If(parts) = s else { return cx.stuck("no branch") };
    *s = if then { parts.1.take() } else { parts.2.take() };
    Ok(())
}

/// if (true) s else s' → s [wsl/e-if-true, 004 Branches and Switches 1]
pub fn e_if_true(cx: &mut Cx, s: &mut Stmt) -> Done {
    branch(cx, s, true)
}

/// if (false) s else s' → s' [wsl/e-if-false, 004 Branches and Switches 2]
pub fn e_if_false(cx: &mut Cx, s: &mut Stmt) -> Done {
    branch(cx, s, false)
}

/// e → e' gives if (e) s else s' → if (e') s else s' [wsl/e-if-reduce, 004 Branches and Switches 3]
pub fn e_if_reduce(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::If(parts) = s else { return cx.stuck("no branch") };
    cx.within(Rule::WslEIfReduce, |cx| cx.expr(&mut parts.0))
}

/// e → e' gives e; → e'; [wsl/e-effectful-expr-reduce, 004 Other]
pub fn e_effectful_expr_reduce(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::Effect(e) = s else { return cx.stuck("no expression") };
    cx.within(Rule::WslEEffectfulExprReduce, |cx| cx.expr(e))
}

/// v; → {} [wsl/e-effectful-expr-elim, 004 Other; WSL-D7]
pub fn e_effectful_expr_elim(_: &mut Cx, s: &mut Stmt) -> Done {
    *s = Stmt::empty();
    Ok(())
}

/// e → e' gives return e; → return e'; [wsl/e-return-reduce, 004 Other]
pub fn e_return_reduce(cx: &mut Cx, s: &mut Stmt) -> Done {
    let Stmt::Return(Some(e)) = s else { return cx.stuck("no return") };
    cx.within(Rule::WslEReturnReduce, |cx| cx.expr(e))
}
