//! Blocks, declarations, branches, expressions as statements: seed 004 "Execution of statements".

use super::next::conclude;
use super::table::{Function::Stmt as S, Row, StmtShape};
use super::term::{Block, Env, Stmt};
use super::{Cx, Effect, Effects, Next};
use crate::rule::Rule;
use crate::wsl::memory::Words;
use crate::wsl::open::Word;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::typing::program::StoreId;
use smallvec::smallvec;
use std::rc::Rc;

/// The rules of this section.
pub(super) const RULES: &[Row] = &[
    (Rule::WslEBlockReduce, S(&[StmtShape::Block], e_block_reduce)),
    (Rule::WslEBlockNextStmt, S(&[StmtShape::Block], e_block_next_stmt)),
    (Rule::WslEBlockTerminator, S(&[StmtShape::Block], e_block_terminator)),
    (Rule::WslEBlockVdeclReduce, S(&[StmtShape::Declaring], e_block_vdecl_reduce)),
    (Rule::WslEBlockVdeclComplete, S(&[StmtShape::Declaring], e_block_vdecl_complete)),
    (Rule::WslEBlockVdecl, S(&[StmtShape::Declaring], e_block_vdecl)),
    (Rule::WslEBlockAnnotate, S(&[StmtShape::Bare], e_block_annotate)),
    (Rule::WslEIfReduce, S(&[StmtShape::If], e_if_reduce)),
    (Rule::WslEIfTrue, S(&[StmtShape::If], e_if_true)),
    (Rule::WslEIfFalse, S(&[StmtShape::If], e_if_false)),
    (Rule::WslEEffectfulExprReduce, S(&[StmtShape::Effect], e_effectful_expr_reduce)),
    (Rule::WslEEffectfulExprElim, S(&[StmtShape::Effect], e_effectful_expr_elim)),
    (Rule::WslEReturnReduce, S(&[StmtShape::Return], e_return_reduce)),
];

/// A block with an environment, with its environment and its first statement.
fn block_parts(s: &Stmt) -> Option<(&Block, &Env, &Stmt)> {
    let Stmt::Block(block) = s else { return None };
    Some((block, block.env.as_ref()?, block.first.as_ref()?))
}

/// ρ ⊢ {s…} → {ρ: s…} [wsl/e-block-annotate, 004 Blocks and variable declarations 1]
pub fn e_block_annotate(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Block(block) = s else { return None };
    if block.env.is_some() || s.is_empty() {
        return None;
    }
    Some(Next::block(cx.block(cx.env.clone().unwrap_or_default(), block.inserted.clone(), block.rest.clone())))
}

/// {ρ': {} s…} → {ρ': s…} [wsl/e-block-next-stmt, 004 Blocks and variable declarations 2]
pub fn e_block_next_stmt(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let (block, env, first) = block_parts(s)?;
    first.is_empty().then(|| Next::block(cx.block(env.clone(), block.inserted.clone(), block.rest.clone())))
}

/// {ρ': t s…} → t, t a terminator: a return of a value or of nothing, and discard too
/// [wsl/e-block-terminator, 004 Blocks and variable declarations 3; WSL-C5, WSL-D1]
pub fn e_block_terminator(_: &mut Cx, s: &Stmt) -> Option<Next> {
    let (_, _, first) = block_parts(s)?;
    first.is_terminator().then(|| Next::part(0))
}

/// ρ' ⊢ e → e' gives {ρ': T x = e; s…} → {ρ': T x = e'; s…}: x is not bound yet
/// [wsl/e-block-vdecl-reduce, 004 Blocks and variable declarations 4.2; WSL-C4]
pub fn e_block_vdecl_reduce(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let (_, env, Stmt::Declaration(_, _, Some(e))) = block_parts(s)? else { return None };
    cx.in_env(env.clone(), |cx| cx.expr(e))?.at_part(0)?.inside(Rule::WslEBlockVdeclReduce, 0)
}

/// `{ρ'[x ↦ id]: s…}`, if x is declared first in `{ρ': …}`.
fn block_with_binding(cx: &Cx, block: &Block, env: &Env, x: crate::text::Symbol, id: StoreId) -> Block {
    let mut extended = Vec::with_capacity(env.len() + 1);
    extended.extend_from_slice(env);
    extended.push((x, id));
    cx.block(Rc::new(extended), block.inserted.clone(), block.rest.clone())
}

/// {ρ': T x = v; s…} → {ρ'[x ↦ id]: s…}, storing v to id [wsl/e-block-vdecl-complete, 004 Blocks
/// and variable declarations 4.3]
pub fn e_block_vdecl_complete(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let (block, env, Stmt::Declaration(x, id, Some(e))) = block_parts(s)? else { return None };
    let words = e.words()?;
    let effects = smallvec![Effect::Store(cx.address(*id), Words::from_slice(words))];
    Some(Next::block(block_with_binding(cx, block, env, *x, *id)).with(effects).placed(cx.program().store(*id).span))
}

/// {ρ': T x; s…} → {ρ'[x ↦ id]: s…}, storing the default value of T to id unless its threadgroup
/// has [wsl/e-block-vdecl, 004 Blocks and variable declarations 4.3, Annotations for execution;
/// WSL-C19, WSL-D19]
pub fn e_block_vdecl(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let (block, env, Stmt::Declaration(x, id, None)) = block_parts(s)? else { return None };
    conclude(|| {
        let declared = cx.program().store(*id);
        let mut effects = Effects::new();
        // Variables of a group are initialized when the group begins.
        if declared.space != AddressSpace::Threadgroup {
            effects.push(Effect::Store(cx.address(*id), cx.default_value(declared.ty)?));
        }
        Ok(Next::block(block_with_binding(cx, block, env, *x, *id)).with(effects).placed(declared.span))
    })
}

/// ρ' ⊢ s → s' gives {ρ': s s''…} → {ρ': s' s''…} [wsl/e-block-reduce, 004 Blocks and variable
/// declarations 5]
pub fn e_block_reduce(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let (_, env, first) = block_parts(s)?;
    cx.in_env(env.clone(), |cx| cx.stmt(first))?.inside(Rule::WslEBlockReduce, 0)
}

/// if (true) s else s' → s [wsl/e-if-true, 004 Branches and Switches 1]
pub fn e_if_true(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::If(parts) = s else { return None };
    cx.if_true(&parts.0, || Next::part(1))
}

/// if (false) s else s' → s' [wsl/e-if-false, 004 Branches and Switches 2]
pub fn e_if_false(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::If(parts) = s else { return None };
    cx.if_false(&parts.0, || Next::part(2))
}

/// e → e' gives if (e) s else s' → if (e') s else s' [wsl/e-if-reduce, 004 Branches and Switches 3]
pub fn e_if_reduce(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::If(parts) = s else { return None };
    cx.expr(&parts.0)?.inside(Rule::WslEIfReduce, 0)
}

/// e → e' gives e; → e'; [wsl/e-effectful-expr-reduce, 004 Other]
pub fn e_effectful_expr_reduce(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Effect(e) = s else { return None };
    cx.expr(e)?.inside(Rule::WslEEffectfulExprReduce, 0)
}

/// v; → {} [wsl/e-effectful-expr-elim, 004 Other; WSL-D7]
pub fn e_effectful_expr_elim(_: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Effect(e) = s else { return None };
    e.words().map(|_| Next::stmt(Stmt::empty()))
}

/// e → e' gives return e; → return e'; [wsl/e-return-reduce, 004 Other]
pub fn e_return_reduce(cx: &mut Cx, s: &Stmt) -> Option<Next> {
    let Stmt::Return(Some(e)) = s else { return None };
    cx.expr(e)?.inside(Rule::WslEReturnReduce, 0)
}

impl Cx<'_, '_> {
    /// The default value of a type.
    pub(super) fn default_value(&self, ty: crate::wsl::types::TypeId) -> Result<Words, super::Stop> {
        // Zero is the default of every scalar, and an element of every enum has the value 0.
        Ok(Words::from_elem(Word::Bits(0), self.shared.words(ty)? as usize))
    }
}
