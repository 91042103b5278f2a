//! The rules of R, A ⊢ e : τ, one function each (report §5).

use super::super::builtin::{Builtin, Shape, index_below};
use super::super::terms::{Node, Range, Replacement, TermId};
use super::super::types::{Ground, Type};
use super::{Frame, FrameId, Goal, NodeId, Stack, StackId, TypeError, Typed, Typer, rec_match::rec_match};
use crate::rule::Rule;
use smallvec::SmallVec;

impl Typer {
    /// R, ∅ ⊢ num : Num [lv/t-num, 000 §5]
    pub(super) fn t_num(&mut self, goal: Goal) -> Result<NodeId, TypeError> {
        self.atom(Rule::LvTNum, goal, Ground::NUM, "a number")
    }

    /// R, ∅ ⊢ true : Bool [lv/t-true, 000 §5]
    pub(super) fn t_true(&mut self, goal: Goal) -> Result<NodeId, TypeError> {
        self.atom(Rule::LvTTrue, goal, Ground::BOOL, "a Boolean")
    }

    /// R, ∅ ⊢ false : Bool                                            [lv/t-false, 000 §5]
    pub(super) fn t_false(&mut self, goal: Goal) -> Result<NodeId, TypeError> {
        self.atom(Rule::LvTFalse, goal, Ground::BOOL, "a Boolean")
    }

    /// R, ∅ ⊢ id : τ, for a rec-func parameter bound to a τ [lv/t-param, 000 §5, §6.10; LV-22: no
    /// rule in print]
    pub(super) fn t_param(&mut self, goal: Goal, ty: Ground) -> Result<NodeId, TypeError> {
        self.atom(Rule::LvTParam, goal, ty, "a rec-func parameter, which is a value,")
    }

    fn atom(&mut self, rule: Rule, goal: Goal, ty: Ground, what: &str) -> Result<NodeId, TypeError> {
        let decision = match self.d.stack(goal.a) {
            None => Ok(Type::Ground(ty)),
            // Blame the list, not the value: a let or a parameter may have brought the value here.
            Some(stack) => {
                Err(self.ill_typed(rule, stack.list, format!("{what} is applied to arguments; only functions and builtins can be")))
            }
        };
        self.conclude(rule, goal, &[], decision)
    }

    /// ∅, ∅ ⊢ e1 : Bool    R, A ⊢ e2 : τ1    R, A ⊢ e3 : τ2
    /// ─────────────────────────────────────────────────────
    /// R, A ⊢ (if e1 e2 e3) : rec-match(τ1, τ2) [lv/t-if, 000 §5]
    ///
    /// `list` is `(if e1 e2 e3)`, `a` the A of the branches.
    pub(super) fn t_if(&mut self, goal: Goal, list: TermId, a: StackId) -> Result<NodeId, TypeError> {
        let rule = Rule::LvTIf;
        let operands = self.arguments(Stack { below: a, list });
        let [e1, e2, e3] = operands.as_slice() else {
            let message = format!("if takes a condition and two branches, not {} expressions", operands.len());
            return Err(self.ill_typed(rule, goal.e, message));
        };
        let condition = self.derive(Goal { r: FrameId::NONE, a: StackId::EMPTY, e: *e1 })?;
        let yes = self.derive(Goal { r: goal.r, a, e: *e2 })?;
        let no = self.derive(Goal { r: goal.r, a, e: *e3 })?;
        let decision = if self.ground(condition) != Some(Ground::BOOL) {
            let at = self.place(*e1, list);
            Err(self.ill_typed(rule, at, format!("the condition has type {}; the rule needs Bool", self.ty(condition))))
        } else {
            rec_match(self.ty(yes), self.ty(no)).map(|(ty, case)| (ty, Some(case))).ok_or_else(|| {
                let message = format!("the branches have types {} and {}, which rec-match does not combine", self.ty(yes), self.ty(no));
                self.ill_typed(rule, goal.e, message)
            })
        };
        self.conclude_matched(rule, goal, &[condition, yes, no], decision)
    }

    /// [`Typer::t_if`] where `if` was passed around and meets its operands on the stack.
    pub(super) fn t_if_applied(&mut self, goal: Goal) -> Result<NodeId, TypeError> {
        match self.d.stack(goal.a) {
            Some(Stack { below, list }) => self.t_if(goal, list, below),
            None => Err(self.ill_typed(Rule::LvTIf, goal.e, "`if` is not applied to a condition and two branches")),
        }
    }

    /// R, (A, (e1 … en)) ⊢ e0 : τ
    /// ─────────────────────────────
    /// R, A ⊢ (e0 e1 … en) : τ [lv/t-app, 000 §5]
    pub(super) fn t_app(&mut self, goal: Goal, items: Range) -> Result<NodeId, TypeError> {
        let e0 = self.d.terms.items(items)[0];
        let a = self.push(goal.a, goal.e);
        let head = self.derive(Goal { r: goal.r, a, e: e0 })?;
        self.conclude(Rule::LvTApp, goal, &[head], Ok(self.ty(head)))
    }

    /// R, A ⊢ e[ei/idi] : τ
    /// ──────────────────────────────────────────────
    /// R, (A, (e1 … en)) ⊢ (func (id1 … idn) e) : τ [lv/t-func, 000 §5]
    pub(super) fn t_func(&mut self, goal: Goal, names: Range, body: TermId) -> Result<NodeId, TypeError> {
        let rule = Rule::LvTFunc;
        let Some(stack) = self.d.stack(goal.a) else {
            return Err(self.ill_typed(rule, goal.e, "a function is not a value: it has a type only where it is applied"));
        };
        let args = self.arguments(stack);
        self.same_count(rule, names.len(), args.len(), stack)?;
        let e = self.substituted(goal, body, Replacement { args: &args, rec: None })?;
        let body = self.derive(Goal { r: goal.r, a: stack.below, e })?;
        self.conclude(rule, goal, &[body], Ok(self.ty(body)))
    }

    /// R, A ⊢ e[ei/idi] : τ
    /// ──────────────────────────────────────────
    /// R, A ⊢ (let ((id1 e1) … (idn en)) e) : τ [lv/t-let, 000 §5; LV-7: printed as e[idi/ei]]
    pub(super) fn t_let(&mut self, goal: Goal, values: Range, body: TermId) -> Result<NodeId, TypeError> {
        let args: SmallVec<[TermId; 6]> = SmallVec::from_slice(self.d.terms.items(values));
        let e = self.substituted(goal, body, Replacement { args: &args, rec: None })?;
        let body = self.derive(Goal { e, ..goal })?;
        self.conclude(Rule::LvTLet, goal, &[body], Ok(self.ty(body)))
    }

    /// R, ∅ ⊢ ei : τi    no τi of the Rec kind    (τ1 … τn), ∅ ⊢ e[(idi : τi)/idi] : Rec τ
    /// ──────────────────────────────────────────────────────────────────────────────────
    /// R, ((e1 … en)) ⊢ (rec-func (id1 … idn) e) : τ [lv/t-rec-func, 000 §5; LV-8, LV-22: no body
    /// premise in print]
    pub(super) fn t_rec_func(&mut self, goal: Goal, names: Range, body: TermId) -> Result<NodeId, TypeError> {
        let rule = Rule::LvTRecFunc;
        let Some(stack) = self.d.stack(goal.a) else {
            return Err(self.ill_typed(rule, goal.e, "a recursive function is not a value: it has a type only where it is applied"));
        };
        if stack.below != StackId::EMPTY {
            return Err(self.ill_typed(rule, goal.e, "the result of a recursive function is applied to arguments, but it is a value"));
        }
        let args = self.arguments(stack);
        self.same_count(rule, names.len(), args.len(), stack)?;
        let mut premises: SmallVec<[NodeId; 4]> = SmallVec::new();
        let mut types: SmallVec<[Ground; 4]> = SmallVec::new();
        for &arg in &args {
            let premise = self.derive(Goal { r: goal.r, a: StackId::EMPTY, e: arg })?;
            let ty = match self.ty(premise) {
                Type::Ground(ty) => Type::Ground(ty),
                other => {
                    let message = format!("an argument has type {other}; a recursive function takes values only");
                    self.failed(rule, &[other], self.ill_typed(rule, self.place(arg, stack.list), message))?
                }
            };
            premises.push(premise);
            types.extend(ty.ground());
        }
        // The body does not mention this number: any `rec` in the body belongs to a frame outside.
        let number = self.d.terms.frames(body);
        let span = self.d.terms.span(goal.e);
        let params: Result<SmallVec<[TermId; 6]>, _> =
            types.iter().map(|&ty| self.d.terms.add(Node::Ext(Typed::Param(ty)), span)).collect();
        let rec = self.d.terms.add(Node::Ext(Typed::Rec(number)), span);
        let (params, rec) = params.and_then(|p| rec.map(|r| (p, r))).map_err(|l| self.limit(l, goal.e))?;
        let e = self.substituted(goal, body, Replacement { args: &params, rec: Some(rec) })?;
        let r = self.frame(Frame { number, types });
        let premise = self.derive(Goal { r, a: StackId::EMPTY, e })?;
        premises.push(premise);
        let decision = match self.ty(premise) {
            Type::Rec(ty) => Ok(Type::Ground(ty)),
            Type::Ground(ty) => Err(format!("the body has type {ty} and never calls rec; the rule needs Rec τ (use func instead)")),
            Type::PureRec => Err("the body has type PureRec: it calls rec always and never returns a value; the rule needs Rec τ".into()),
        };
        let decision = decision.map_err(|message| self.ill_typed(rule, goal.e, message));
        self.conclude(rule, goal, &premises, decision)
    }

    /// n > 0    ∅, ∅ ⊢ ei : τi
    /// ─────────────────────────────────────
    /// (τ1 … τn), ((e1 … en)) ⊢ rec : PureRec [lv/t-rec, 000 §5]
    pub(super) fn t_rec(&mut self, goal: Goal, frame: u32) -> Result<NodeId, TypeError> {
        let rule = Rule::LvTRec;
        let Some(stack) = self.d.stack(goal.a) else {
            return Err(self.ill_typed(rule, goal.e, "rec is not applied to arguments; it is no value"));
        };
        if stack.below != StackId::EMPTY {
            return Err(self.ill_typed(rule, stack.list, "the result of rec is applied to arguments, but it is a value"));
        }
        let types = match self.d.frame(goal.r) {
            Some(r) if r.number == frame => r.types.clone(),
            Some(r) => {
                let message = "this rec belongs to an outer rec-func; only the innermost one can be called again from here";
                self.failed(rule, &[], self.ill_typed(rule, stack.list, message))?;
                r.types.clone()
            }
            None => {
                let message = "rec is called where its result would be used; it may stand only in tail position of its rec-func";
                return Err(self.ill_typed(rule, stack.list, message));
            }
        };
        let args = self.arguments(stack);
        if args.len() != types.len() {
            let message = format!("rec is applied to {} arguments; its rec-func takes {}", args.len(), types.len());
            self.failed(rule, &[], self.ill_typed(rule, stack.list, message))?;
        }
        if args.is_empty() {
            return Err(self.ill_typed(rule, stack.list, "rec without arguments could never end; the rule needs n > 0"));
        }
        let mut premises: SmallVec<[NodeId; 4]> = SmallVec::new();
        let mut decision = Ok(Type::PureRec);
        for (&arg, &ty) in args.iter().zip(&types) {
            let premise = self.derive(Goal { r: FrameId::NONE, a: StackId::EMPTY, e: arg })?;
            premises.push(premise);
            if decision.is_ok() && self.ty(premise) != Type::Ground(ty) {
                let message = format!("an argument of rec has type {}; the rec-func was called with {ty} there", self.ty(premise));
                decision = Err(self.ill_typed(rule, self.place(arg, stack.list), message));
            }
        }
        self.conclude(rule, goal, &premises, decision)
    }

    /// builtin of type (τ1 … τn) → τ    ∅, ∅ ⊢ ei : τi
    /// ───────────────────────────────────────────────
    /// R, ((e1 … en)) ⊢ builtin : τ [lv/t-builtin, 000 §5]
    pub(super) fn t_builtin(&mut self, goal: Goal, builtin: Builtin) -> Result<NodeId, TypeError> {
        let rule = Rule::LvTBuiltin;
        let name = builtin.name();
        let Some(stack) = self.d.stack(goal.a) else {
            return Err(self.ill_typed(rule, goal.e, format!("the builtin `{name}` is not applied; it is no value")));
        };
        if stack.below != StackId::EMPTY {
            return Err(self.ill_typed(rule, stack.list, format!("the result of `{name}` is applied to arguments, but it is a value")));
        }
        let args = self.arguments(stack);
        let mut premises: SmallVec<[NodeId; 4]> = SmallVec::new();
        let mut types: SmallVec<[Ground; 4]> = SmallVec::new();
        for &arg in &args {
            let premise = self.derive(Goal { r: FrameId::NONE, a: StackId::EMPTY, e: arg })?;
            premises.push(premise);
            // Under R = ∅ nothing has a type of the Rec kind: t-rec needs a frame.
            types.extend(self.ground(premise));
        }
        let resolved = builtin.resolve(&types).ok_or_else(|| {
            let found: Vec<String> = types.iter().map(Ground::to_string).collect();
            let found = if found.is_empty() { "no operands".to_string() } else { found.join(" × ") };
            let message = format!("`{name}` is applied to {found}; it has type {}", builtin.signatures().join(", or "));
            self.ill_typed(rule, stack.list, message)
        });
        let decision = resolved.and_then(|resolved| {
            let takes_index = builtin.row().overloads.iter().any(|o| o.params.first() == Some(&Shape::Index));
            if takes_index && self.literal_index(args[0], types[1].columns()).is_none() {
                let message = format!("`{name}` needs a literal from 0 to {} here", types[1].columns() - 1);
                return Err(self.ill_typed(rule, self.place(args[0], stack.list), message));
            }
            Ok(Type::Ground(resolved.result))
        });
        self.conclude(rule, goal, &premises, decision)
    }

    /// The place of an error about `part` of `list`: the part, or the list if a substitution
    /// brought the part from elsewhere.
    fn place(&self, part: TermId, list: TermId) -> TermId {
        let (inner, outer) = (self.d.terms.span(part), self.d.terms.span(list));
        if outer.start <= inner.start && inner.end <= outer.end { part } else { list }
    }

    fn literal_index(&self, e: TermId, n: usize) -> Option<usize> {
        match self.d.terms.node(e) {
            Node::Num(bits) => index_below(f32::from_bits(bits), n),
            _ => None,
        }
    }

    fn same_count(&self, rule: Rule, params: usize, args: usize, stack: Stack) -> Result<(), TypeError> {
        if params == args {
            return Ok(());
        }
        let what = if rule == Rule::LvTFunc { "func" } else { "rec-func" };
        let plural = if params == 1 { "" } else { "s" };
        let error = self.ill_typed(rule, stack.list, format!("a {what} of {params} parameter{plural} is applied to {args} arguments"));
        // With fewer arguments than parameters the rule cannot go on.
        if params < args { self.failed(rule, &[], error).map(|_| ()) } else { Err(error) }
    }

    fn substituted(&mut self, goal: Goal, body: TermId, with: Replacement<'_>) -> Result<TermId, TypeError> {
        (self.substitute)(&mut self.d.terms, body, with).map_err(|l| self.limit(l, goal.e))
    }
}
