//! Statements: seed 001 "Validating a statement".

use super::behaviour::{Behaviour, Behaviours};
use super::{Cx, NodeMeaning, Planted};
use crate::rule::Rule;
use crate::text::{Span, Symbol, deep};
use crate::uniformity::graph::Node;
use crate::wsl::syntax::AddressSpace;
use crate::wsl::typing::program::{Case, ExprId, StmtForm, StmtId, StoreId};
use std::ops::Range;

/// The behaviours of a statement, and the node that must be uniform for the control flow after it
/// to be uniform.
type BehavioursAndFlow = (Behaviours, Node);

impl Cx<'_> {
    /// Analyses the function's body.
    pub(super) fn body(&mut self, block: StmtId) {
        let (behaviours, _) = self.stmt(block, self.start);
        self.returns = behaviours.returns();
    }

    /// G, CF ⊢ s : B, C
    fn stmt(&mut self, s: StmtId, cf: Node) -> BehavioursAndFlow {
        deep(|| self.stmt_of(s, cf))
    }

    fn stmt_of(&mut self, id: StmtId, cf: Node) -> BehavioursAndFlow {
        let program = self.program;
        let s = program.stmt(id);
        let span = s.span;
        let (behaviours, after) = match &s.form {
            StmtForm::Block(range) => self.block(range, cf),
            StmtForm::Declaration(name, store, e) => declaration(self, (*name, *store), *e, cf, span),
            StmtForm::If(e, then, or) => if_(self, *e, [*then, *or], cf, span),
            StmtForm::DoWhile(body, e) => do_while(self, *body, *e, cf, span),
            StmtForm::For(e, step, body) => for_(self, [*e, *step], *body, cf, span),
            StmtForm::Switch(e, cases) => switch(self, *e, cases, cf, span),
            StmtForm::Break => break_(self, cf),
            StmtForm::Continue => continue_(self, cf, span),
            StmtForm::Discard => discard(self, cf, span),
            StmtForm::Fallthrough => fallthrough(self, cf, span),
            StmtForm::Return(Some(e)) => return_(self, *e, cf, span),
            StmtForm::Return(None) => return_void(self, cf, span),
            StmtForm::Expr(e) => effectful_expr(self, *e, cf),
        };
        singleton(self, behaviours, cf, after)
    }

    /// The behaviours, with Discard if one of the expressions may discard.
    fn with_discards(&self, behaviours: Behaviours, exprs: &[ExprId]) -> Behaviours {
        match exprs.iter().any(|e| self.may_discard(*e)) {
            true => behaviours.with(Behaviour::Discard),
            false => behaviours,
        }
    }

    /// The behaviours of a loop, by those of its body.
    fn loop_behaviours(&self, body: Behaviours) -> Behaviours {
        let behaviours = body.without(Behaviour::Break).without(Behaviour::Continue).with(Behaviour::Nothing);
        if self.letter().u3 { behaviours.with(Behaviour::InfiniteLoop) } else { behaviours }
    }

    fn block(&mut self, range: &Range<u32>, cf: Node) -> BehavioursAndFlow {
        let program = self.program;
        match program.block(range) {
            [] => empty_block(self, cf),
            [s] if !matches!(program.stmt(*s).form, StmtForm::Declaration(..)) => trivial_block(self, *s, cf),
            stmts => {
                let dropped = self.dropped.len();
                let results = sequence(self, stmts, cf);
                self.dropped.truncate(dropped);
                results
            }
        }
    }
}

/// G, CF ⊢ e : C and CF' ⇒ {CF, C} and G, CF' ⊢ s1 : B1, C1 and G, CF' ⊢ s2 : B2, C2 and C' ⇒ {C1,
/// C2} give G, CF ⊢ if (e) s1 else s2 : B1 ∪ B2, C' [uniformity/if, 001 Validating a statement]
fn if_(cx: &mut Cx, e: ExprId, branches: [StmtId; 2], cf: Node, span: Span) -> BehavioursAndFlow {
    let rule = Rule::UniformityIf;
    cx.fire(rule);
    let mut cf = cf;
    let c = cx.rvalue(e, &mut cf);
    let inside = cx.node(NodeMeaning::Branch, cx.program.expr(e).span);
    cx.imply(rule, 0, inside, c);
    cx.imply(rule, 1, inside, cf);
    let [(b1, c1), (b2, c2)] = branches.map(|s| cx.stmt(s, inside));
    let after = cx.node(NodeMeaning::AfterStatement, span);
    cx.imply(rule, 2, after, c1);
    cx.imply(rule, 3, after, c2);
    (cx.with_discards(b1.union(b2), &[e]), after)
}

/// G, CF' ⊢ e1 : C1 and G, CF' ⊢ e2 : C2 and G, CF' ⊢ s : B, C3 and CF' ⇒ {CF, C1, C3} give G, CF ⊢
/// for (; e1; e2) s : B - {Break, Continue} ∪ {Nothing, InfiniteLoop}, CF' [uniformity/for, 001
/// Validating a statement]
fn for_(cx: &mut Cx, exprs: [ExprId; 2], body: StmtId, cf: Node, span: Span) -> BehavioursAndFlow {
    let rule = Rule::UniformityFor;
    cx.fire(rule);
    let inside = cx.node(NodeMeaning::Loop, span);
    let mut at = inside;
    let c1 = cx.rvalue(exprs[0], &mut at);
    let (b, c3) = cx.stmt(body, at);
    let mut end = at;
    cx.rvalue(exprs[1], &mut end);
    cx.imply(rule, 0, inside, c1);
    cx.imply(rule, 1, inside, c3);
    cx.imply(rule, 2, inside, end);
    cx.imply(rule, 3, inside, cf);
    (cx.with_discards(cx.loop_behaviours(b), &exprs), inside)
}

/// G, CF' ⊢ s : B, C3 and G, CF' ⊢ e : C1 and CF' ⇒ {CF, C1, C3} give G, CF ⊢ do s while (e); : B -
/// {Break, Continue} ∪ {Nothing, InfiniteLoop}, CF' [uniformity/do-while, 001 Validating a
/// statement; U-6]
fn do_while(cx: &mut Cx, body: StmtId, e: ExprId, cf: Node, span: Span) -> BehavioursAndFlow {
    let rule = Rule::UniformityDoWhile;
    cx.fire(rule);
    if cx.letter().u6 {
        cx.stuck(span, "there is no rule for do");
    }
    let inside = cx.node(NodeMeaning::Loop, span);
    let (b, c3) = cx.stmt(body, inside);
    let mut at = inside;
    let c1 = cx.rvalue(e, &mut at);
    cx.imply(rule, 0, inside, c1);
    cx.imply(rule, 1, inside, c3);
    cx.imply(rule, 2, inside, at);
    cx.imply(rule, 3, inside, cf);
    (cx.with_discards(cx.loop_behaviours(b), &[e]), inside)
}

/// G, CF ⊢ e : C and CF' ⇒ {CF, C} and each case si, begun from CF', : Bi, Ci and C' ⇒ {Ci} give G,
/// CF ⊢ switch (e) {…} : the union of Bi - {Fallthrough}, with Nothing for Break, C'
/// [uniformity/switch, 001 Validating a statement; U-6]
fn switch(cx: &mut Cx, e: ExprId, cases: &[Case], cf: Node, span: Span) -> BehavioursAndFlow {
    let rule = Rule::UniformitySwitch;
    cx.fire(rule);
    if cx.letter().u6 {
        cx.stuck(span, "there is no rule for switch");
    }
    let mut cf = cf;
    let c = cx.rvalue(e, &mut cf);
    let inside = cx.node(NodeMeaning::Branch, cx.program.expr(e).span);
    cx.imply(rule, 0, inside, c);
    cx.imply(rule, 1, inside, cf);
    let after = cx.node(NodeMeaning::AfterStatement, span);
    let (mut all, mut before) = (Behaviours::NONE, None);
    for arm in cases {
        let case_start = case(cx, inside, before, arm.span);
        let (b, c) = cx.stmt(arm.body, case_start);
        cx.imply(rule, 2, after, c);
        before = b.has(Behaviour::Fallthrough).then_some(c);
        all = all.union(b);
    }
    let breaks = all.has(Behaviour::Break);
    let all = all.without(Behaviour::Break).without(Behaviour::Fallthrough);
    let all = if breaks { all.with(Behaviour::Nothing) } else { all };
    (cx.with_discards(all, &[e]), after)
}

/// the case before it has Fallthrough and C and CFi ⇒ {CF', C} give that a case of a switch from
/// CF' begins in CFi, which is CF' otherwise [uniformity/case, 001 Validating a statement; U-6]
fn case(cx: &mut Cx, chosen: Node, before: Option<Node>, span: Span) -> Node {
    let rule = Rule::UniformityCase;
    let Some(before) = before else { return chosen };
    cx.fire(rule);
    let case_start = cx.node(NodeMeaning::Case, span);
    cx.imply(rule, 0, case_start, before);
    cx.imply(rule, 1, case_start, chosen);
    case_start
}

/// G, CF ⊢ s0 : B0, C0 and G, C0 ⊢ {s1 … sn} : B, C give G, CF ⊢ {s0 s1 … sn} : B ∪ (B0 -
/// {Nothing}), C [uniformity/sequence, 001 Validating a statement]
fn sequence(cx: &mut Cx, stmts: &[StmtId], cf: Node) -> BehavioursAndFlow {
    cx.fire(Rule::UniformitySequence);
    let mut results: Vec<(Node, BehavioursAndFlow)> = Vec::with_capacity(stmts.len());
    let mut at = cf;
    for s in stmts {
        let (b, c) = cx.stmt(*s, at);
        results.push((at, (b, c)));
        at = c;
    }
    // Each rest of the sequence is a block too, so the rule of a single behaviour applies to it.
    let (mut all, mut after) = (Behaviours::NONE, at);
    for (i, (before, (b, _))) in results.into_iter().enumerate().rev() {
        let b = if i + 1 == stmts.len() { b } else { b.without(Behaviour::Nothing) };
        all = all.union(b);
        (all, after) = singleton(cx, all, before, after);
    }
    (all, after)
}

/// x_id new and G' = G\[x ↦ LVal(τ, x_id)\] and G', CF ⊢ e : C1 and x_id ⇒ {CF, C1} and G', CF ⊢
/// {s1 … sn} : B, C2 give G, CF ⊢ {τ x = e; s1 … sn} : B, C2 [uniformity/declaration, 001
/// Validating a statement; U-7]
fn declaration(cx: &mut Cx, (name, store): (Symbol, StoreId), e: Option<ExprId>, cf: Node, span: Span) -> BehavioursAndFlow {
    let rule = Rule::UniformityDeclaration;
    cx.fire(rule);
    let mut after = cf;
    let value = match e {
        Some(e) => cx.rvalue(e, &mut after),
        None => cf,
    };
    if cx.letter().u7 {
        let (stores, first_store) = (&cx.stores, cx.program.body(cx.function).stores.start);
        let earlier = (0..).zip(stores).filter(|(_, node)| node.is_some()).map(|(i, _)| StoreId(first_store + i));
        let parameters = &cx.program.body(cx.function).parameters;
        let earlier: Vec<StoreId> = earlier.filter(|s| !parameters.contains(s) && *s != store).collect();
        cx.dropped.extend(earlier);
    }
    if cx.program.store(store).space == AddressSpace::Thread || cx.letter().u9 {
        let x = cx.variable(store, Some(name), span);
        cx.imply(rule, 0, x, value);
    }
    (cx.with_discards(Behaviours::of(Behaviour::Nothing), e.as_slice()), after)
}

/// G, CF ⊢ s : B, C gives G, CF ⊢ {s} : B, C [uniformity/trivial-block, 001 Validating a statement]
fn trivial_block(cx: &mut Cx, s: StmtId, cf: Node) -> BehavioursAndFlow {
    cx.fire(Rule::UniformityTrivialBlock);
    cx.stmt(s, cf)
}

/// G, CF ⊢ {} : {Nothing}, CF [uniformity/empty-block, 001 Validating a statement]
fn empty_block(cx: &mut Cx, cf: Node) -> BehavioursAndFlow {
    cx.fire(Rule::UniformityEmptyBlock);
    (Behaviours::of(Behaviour::Nothing), cf)
}

/// G, CF ⊢ e : C and result ⇒ {CF, C} give G, CF ⊢ return e; : {Return(result)}, CF
/// [uniformity/return, 001 Validating a statement; U-1]
fn return_(cx: &mut Cx, e: ExprId, cf: Node, span: Span) -> BehavioursAndFlow {
    let rule = Rule::UniformityReturn;
    cx.fire(rule);
    let mut after = cf;
    let c = cx.rvalue(e, &mut after);
    if cx.letter().u1 {
        return break_(cx, after);
    }
    let result = cx.node(NodeMeaning::Returned, span);
    cx.imply(rule, 0, result, c);
    cx.imply(rule, 1, result, cf);
    cx.returned.push(result);
    if cx.settings.planted == Planted::ForgetsReturns {
        cx.returns = true;
        return (Behaviours::of(Behaviour::Nothing), after);
    }
    (cx.with_discards(Behaviours::returning(Some(result)), &[e]), after)
}

/// G, CF ⊢ return; : {Return}, CF [uniformity/return-void, 001 Validating a statement; U-6]
fn return_void(cx: &mut Cx, cf: Node, span: Span) -> BehavioursAndFlow {
    cx.fire(Rule::UniformityReturnVoid);
    if cx.letter().u6 {
        cx.stuck(span, "there is no rule for a return without value");
    }
    if cx.letter().u1 {
        return break_(cx, cf);
    }
    if cx.settings.planted == Planted::ForgetsReturns {
        return (Behaviours::of(Behaviour::Nothing), cf);
    }
    (Behaviours::returning(None), cf)
}

/// G, CF ⊢ e : C gives G, CF ⊢ e; : {Nothing}, CF [uniformity/effectful-expr, 001 Validating a
/// statement; U-1]
fn effectful_expr(cx: &mut Cx, e: ExprId, cf: Node) -> BehavioursAndFlow {
    cx.fire(Rule::UniformityEffectfulExpr);
    let mut after = cf;
    cx.rvalue(e, &mut after);
    if cx.letter().u1 {
        return break_(cx, after);
    }
    (cx.with_discards(Behaviours::of(Behaviour::Nothing), &[e]), after)
}

/// G, CF ⊢ break; : {Break}, CF [uniformity/break, 001 Validating a statement]
fn break_(cx: &mut Cx, cf: Node) -> BehavioursAndFlow {
    cx.fire(Rule::UniformityBreak);
    (Behaviours::of(Behaviour::Break), cf)
}

/// G, CF ⊢ continue; : {Continue}, CF [uniformity/continue, 001 Validating a statement; U-4]
fn continue_(cx: &mut Cx, cf: Node, span: Span) -> BehavioursAndFlow {
    cx.fire(Rule::UniformityContinue);
    if cx.letter().u4 {
        cx.stuck(span, "there is no rule for continue");
    }
    (Behaviours::of(Behaviour::Continue), cf)
}

/// G, CF ⊢ fallthrough; : {Fallthrough}, CF [uniformity/fallthrough, 001 Validating a
/// statement; U-6]
fn fallthrough(cx: &mut Cx, cf: Node, span: Span) -> BehavioursAndFlow {
    cx.fire(Rule::UniformityFallthrough);
    if cx.letter().u6 {
        cx.stuck(span, "there is no rule for fallthrough");
    }
    (Behaviours::of(Behaviour::Fallthrough), cf)
}

/// G, CF ⊢ discard; : {Discard(CF)}, CF [uniformity/discard, 001 Validating a statement; U-6]
fn discard(cx: &mut Cx, cf: Node, span: Span) -> BehavioursAndFlow {
    cx.fire(Rule::UniformityDiscard);
    if cx.letter().u6 {
        cx.stuck(span, "there is no rule for discard");
    }
    cx.discarded.push(cf);
    (Behaviours::of(Behaviour::Discard), cf)
}

/// G, CF ⊢ s : {b}, C gives G, CF ⊢ s : {b}, CF, where C is not CF [uniformity/singleton, 001
/// Validating a statement; U-2, U-5]
fn singleton(cx: &mut Cx, behaviours: Behaviours, cf: Node, after: Node) -> BehavioursAndFlow {
    let letter = cx.letter();
    let behaviours = match cx.settings.planted {
        Planted::Forgets(b) if behaviours.has(b) => behaviours.without(b).with(Behaviour::Nothing),
        _ => behaviours,
    };
    let is_single = behaviours.is_one(letter.u5) || cx.settings.planted == Planted::AlwaysMeets;
    if !is_single || letter.u2 || after == cf {
        return (behaviours, after);
    }
    cx.fire(Rule::UniformitySingleton);
    (behaviours, cf)
}
