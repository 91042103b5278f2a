//! Blocks and variable declarations: seed 004 "Typing statements", "To check a block".
//!
//! The seed's rules split a block into its first statement and the rest. Here the statements are
//! typed in order, and the behaviours of the rests are folded from the end. So long blocks use no
//! stack. The behaviours of each rest are those that the rules give.

use super::Checker;
use super::behaviour::{Behaviour, Behaviours};
use super::program::{StmtForm, StmtId};
use crate::rule::Rule;
use crate::text::Span;
use crate::wsl::core::{self, Declaration, Stmt};
use crate::wsl::environment::resolve::Place;
use crate::wsl::error::Error;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::TypeId;

/// A statement of a block: its node, its behaviours and its place. `declaration` is `None` if it
/// declares nothing, else it says whether there is an initialising expression.
struct Part {
    id: Option<StmtId>,
    behaviours: Behaviours,
    span: Span,
    declaration: Option<bool>,
}

impl Checker<'_> {
    pub(super) fn block(&mut self, stmts: &[core::StmtId], span: Span) -> (Option<StmtId>, Behaviours) {
        self.scope.enter();
        let mut parts: Vec<Part> = Vec::with_capacity(stmts.len());
        for &id in stmts {
            let place = self.core().stmt_span(id);
            parts.push(match self.core().stmt(id) {
                Stmt::Declaration(d) => {
                    let id = match d.initializer {
                        None => t_variable_decl(self, d, place),
                        Some(e) => t_variable_decl_init(self, d, e, place),
                    };
                    Part { id, behaviours: Behaviours::default(), span: place, declaration: Some(d.initializer.is_some()) }
                }
                _ => {
                    let (id, behaviours) = self.stmt(id);
                    Part { id, behaviours, span: place, declaration: None }
                }
            });
        }
        self.scope.leave();
        let (rule, behaviours) = fold(self, &parts);
        let ids: Option<Vec<StmtId>> = parts.iter().map(|p| p.id).collect();
        let Some(ids) = ids else { return (None, behaviours) };
        let start = self.program.blocks.len() as u32;
        self.program.blocks.extend(ids);
        let range = start..self.program.blocks.len() as u32;
        (Some(self.push_stmt(rule, StmtForm::Block(range), behaviours, span)), behaviours)
    }
}

/// The rule of a block, and its behaviours.
fn fold(c: &mut Checker, parts: &[Part]) -> (Rule, Behaviours) {
    let (mut rule, mut behaviours) = t_empty_block(c);
    let mut unreachable: Option<Span> = None;
    for (i, part) in parts.iter().enumerate().rev() {
        (rule, behaviours) = match part.declaration {
            Some(false) => (Rule::WslTVariableDecl, behaviours),
            Some(true) => (Rule::WslTVariableDeclInit, behaviours),
            None if i + 1 == parts.len() => t_trivial_block(c, part.behaviours),
            None => {
                if !part.behaviours.has(Behaviour::Nothing) {
                    unreachable = Some(parts[i + 1].span);
                }
                t_block(c, part, behaviours)
            }
        };
    }
    // Only the first statement that is not reached is reported. That the others are not
    // reached follows.
    if let Some(span) = unreachable {
        c.error(Error::new(
            Rule::WslTBlock,
            span,
            "this statement is never reached; the rule needs that the one before it may reach its end",
        ));
    }
    (rule, behaviours)
}

/// Γ ⊢ {} : {Nothing} [wsl/t-empty-block, 004 Typing statements]
pub fn t_empty_block(c: &mut Checker) -> (Rule, Behaviours) {
    c.fire(Rule::WslTEmptyBlock);
    (Rule::WslTEmptyBlock, Behaviours::of(Behaviour::Nothing))
}

/// Γ ⊢ s : B gives Γ ⊢ {s} : B [wsl/t-trivial-block, 004 Typing statements]
pub fn t_trivial_block(c: &mut Checker, b: Behaviours) -> (Rule, Behaviours) {
    c.fire(Rule::WslTTrivialBlock);
    (Rule::WslTTrivialBlock, b)
}

/// Γ ⊢ s : B with Nothing and without Fallthrough in B, and Γ ⊢ {s'…} : B' give Γ ⊢ {s s'…} : B -
/// {Nothing} ∪ B'                                              [wsl/t-block, 004 Typing statements]
fn t_block(c: &mut Checker, first: &Part, rest: Behaviours) -> (Rule, Behaviours) {
    if first.behaviours.has(Behaviour::Fallthrough) && first.behaviours.has(Behaviour::Nothing) {
        c.error(Error::new(Rule::WslTBlock, first.span, "this statement may fall through, and others follow it; fallthrough ends a case"));
    }
    if !first.behaviours.has(Behaviour::Nothing) {
        // `fold` reports it. The rest is never reached and adds nothing.
        return (Rule::WslTBlock, first.behaviours);
    }
    c.fire(Rule::WslTBlock);
    (Rule::WslTBlock, (c.premises.block_behaviours)(first.behaviours, rest))
}

/// Γ[x ↦ LVal(τ, a)] ⊢ {s…} : B, τ with a default value, a thread or threadgroup and x declared
/// once in the block give Γ ⊢ {a τ x; s…} : B          [wsl/t-variable-decl, 004 Typing statements]
///
/// x is declared once in the block, a is thread or threadgroup, and τ has a default value.
pub fn t_variable_decl(c: &mut Checker, d: &Declaration, span: Span) -> Option<StmtId> {
    let rule = Rule::WslTVariableDecl;
    let ty = c.declared(d, rule);
    let ty = ty.filter(|&ty| c.has_initial(ty, rule, d));
    c.bind(d, ty, None, rule, span)
}

/// Γ ⊢ e : τ and the premises of t-variable-decl give Γ ⊢ {a τ x = e; s…} : B
///                                        [wsl/t-variable-decl-init, 004 Typing statements; WSL-C4]
///
/// The initialising expression does not see x.
pub fn t_variable_decl_init(c: &mut Checker, d: &Declaration, e: core::ExprId, span: Span) -> Option<StmtId> {
    let rule = Rule::WslTVariableDeclInit;
    // By the letter of the seed, it would see the variable itself (WSL-C4).
    let visible_type = c.premises.initializer_sees_itself.then(|| c.builder.resolve(d.ty, Place::Variable)).flatten();
    if let Some(ty) = visible_type {
        let store = c.store(ty, d.space.unwrap_or(AddressSpace::Thread), d.name.span);
        c.scope.bind(d.name.name, Some(store), d.name.span);
    }
    let judged = c.expr(e);
    if visible_type.is_some() {
        c.scope.unbind(d.name.name);
    }
    let ty = c.declared(d, rule);
    let value = ty.and_then(|ty| c.expect(judged, ty, rule, "the initialising expression"));
    let declaration = c.bind(d, ty, value, rule, span);
    value.and(declaration)
}

/// samplers and textures are arguments only: no variable holds one
///                                                          [wsl/ep-opaque, 004 Samplers, Textures]
pub fn ep_opaque(c: &mut Checker, ty: TypeId, span: Span) -> bool {
    let opaque = c.builder.contains_opaque(ty);
    let name = c.name(ty);
    c.builder.require(Rule::WslEpOpaque, !opaque, |_| {
        Error::new(Rule::WslEpOpaque, span, format!("this variable has the type {name}; samplers and textures are arguments only"))
    })
}

impl Checker<'_> {
    /// The type of a declared variable. Checks its name and address space too.
    fn declared(&mut self, d: &Declaration, rule: Rule) -> Option<TypeId> {
        let block = self.scope.block();
        if let Some(first) = self.scope.find(d.name.name).filter(|b| b.block == block) {
            let text = self.builder.env.names.name(d.name.name).to_string();
            self.error(
                Error::new(rule, d.name.span, format!("there is already a variable `{text}` in this block; the rule needs another name"))
                    .note(Some(first.span), "the first one is declared here"),
            );
        }
        if let Some(space @ (AddressSpace::Constant | AddressSpace::Device)) = d.space {
            let span = self.core().ty_span(d.ty);
            self.error(Error::new(
                rule,
                span,
                format!("this variable is in the {} address space; the rule needs thread or threadgroup", space.keyword()),
            ));
        }
        let ty = self.builder.resolve(d.ty, Place::Variable)?;
        ep_opaque(self, ty, self.core().ty_span(d.ty)).then_some(ty)
    }

    fn has_initial(&mut self, ty: TypeId, rule: Rule, d: &Declaration) -> bool {
        let has_default = self.has_default(ty);
        if !has_default {
            let (name, span) = (self.name(ty), d.name.span);
            self.error(Error::new(
                rule,
                span,
                format!(
                    "this variable has the type {name} and no initialising expression; the rule needs one for pointers and array references"
                ),
            ));
        }
        has_default
    }

    fn bind(
        &mut self,
        d: &Declaration,
        ty: Option<TypeId>,
        value: Option<super::program::ExprId>,
        rule: Rule,
        span: Span,
    ) -> Option<StmtId> {
        let store = ty.map(|ty| self.store(ty, d.space.unwrap_or(AddressSpace::Thread), d.name.span));
        self.scope.bind(d.name.name, store, d.name.span);
        let form = StmtForm::Declaration(d.name.name, store?, value);
        Some(self.push_stmt(rule, form, Behaviours::default(), span))
    }
}
