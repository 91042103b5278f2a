//! An independent check of a derivation: each node is re-validated from its rule, its conclusion
//! and its premises' conclusions.
//!
//! It calls no function of the typer. It recognises substitutions and does not repeat them:
//! [`Checker::instance`] walks a body and its instance side by side. The table of builtins is
//! shared. Its typings are tested against a second table elsewhere.

use super::super::builtin::{Shape, index_below};
use super::super::terms::{Node, REC, TermId};
use super::super::types::{Elem, Ground, Type};
use super::{Derivation, FrameId, Goal, NodeId, StackId, Step, Typed};
use crate::lambda_v::terms::deep;
use crate::rule::Rule;

/// A node that its rule does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckError {
    /// The node.
    pub node: NodeId,
    /// Its rule.
    pub rule: Rule,
    /// The condition that does not hold.
    pub message: String,
}

impl std::fmt::Display for CheckError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "node {}: {}: {}", self.node, self.rule, self.message)
    }
}

impl std::error::Error for CheckError {}

/// Checks every node of a derivation, and that its roots are observations under R = ∅ and A = ∅.
pub fn check(derivation: &Derivation) -> Result<(), CheckError> {
    let checker = Checker { d: derivation };
    for (i, step) in derivation.nodes.iter().enumerate() {
        let fail = |message: String| CheckError { node: i as NodeId, rule: step.rule, message };
        if let Some(p) = step.premises.iter().find(|p| **p as usize >= i) {
            return Err(fail(format!("premise {p} does not stand before its conclusion")));
        }
        checker.step(step).map_err(fail)?;
    }
    for &root in &derivation.roots {
        let step = &derivation.nodes[root as usize];
        let observed = matches!(step.ty, Type::Ground(Ground::Vec(_, Elem::F)));
        if !(observed && step.goal.r == FrameId::NONE && step.goal.a == StackId::EMPTY) {
            return Err(CheckError { node: root, rule: step.rule, message: "a root is no observation under R = ∅, A = ∅".into() });
        }
    }
    Ok(())
}

type Checked = Result<(), String>;

fn require(holds: bool, what: &str) -> Checked {
    if holds { Ok(()) } else { Err(what.to_string()) }
}

struct Checker<'a> {
    d: &'a Derivation,
}

impl Checker<'_> {
    fn step(&self, step: &Step) -> Checked {
        let Goal { r, a, e } = step.goal;
        let node = self.d.terms.node(e);
        require(step.rec_match.is_some() == (step.rule == Rule::LvTIf), "only lv/t-if uses rec-match")?;
        match (step.rule, node) {
            (Rule::LvTNum, Node::Num(_)) => self.atom(step, Ground::NUM),
            (Rule::LvTTrue, Node::Bool(true)) | (Rule::LvTFalse, Node::Bool(false)) => self.atom(step, Ground::BOOL),
            (Rule::LvTParam, Node::Ext(Typed::Param(ty))) => self.atom(step, ty),
            (Rule::LvTIf, Node::List(items)) => {
                let items = self.d.terms.items(items);
                require(matches!(self.d.terms.node(items[0]), Node::If), "the list's head is not if")?;
                self.conditional(step, &items[1..], a)
            }
            (Rule::LvTIf, Node::If) => {
                let stack = self.d.stack(a).ok_or("if stands alone")?;
                self.conditional(step, self.d.arguments(stack), stack.below)
            }
            (Rule::LvTApp, Node::List(items)) => {
                let e0 = *self.d.terms.items(items).first().ok_or("the empty list is no application")?;
                let [premise] = self.premises(step)?;
                require(premise.goal.r == r && premise.goal.e == e0, "the premise is not about the head")?;
                let stack = self.d.stack(premise.goal.a).ok_or("the premise's A is empty")?;
                require(stack.below == a && stack.list == e, "the premise's A is not (A, (e1 … en))")?;
                require(premise.ty == step.ty, "the types differ")
            }
            (Rule::LvTFunc, Node::Func { names, body }) => {
                let stack = self.d.stack(a).ok_or("A is empty")?;
                let args = self.d.arguments(stack);
                require(names.len() == args.len(), "the numbers of parameters and arguments differ")?;
                let [premise] = self.premises(step)?;
                require(premise.goal.r == r && premise.goal.a == stack.below, "the premise's R or A is wrong")?;
                require(self.instance(body, premise.goal.e, 0, args, None), "the premise's term is not e[ei/idi]")?;
                require(premise.ty == step.ty, "the types differ")
            }
            (Rule::LvTLet, Node::Let { names, values, body }) => {
                let values = self.d.terms.items(values);
                require(names.len() == values.len(), "the numbers of identifiers and expressions differ")?;
                let [premise] = self.premises(step)?;
                require(premise.goal.r == r && premise.goal.a == a, "the premise's R or A is wrong")?;
                require(self.instance(body, premise.goal.e, 0, values, None), "the premise's term is not e[ei/idi]")?;
                require(premise.ty == step.ty, "the types differ")
            }
            (Rule::LvTRecFunc, Node::RecFunc { names, body }) => self.rec_func(step, names.len(), body),
            (Rule::LvTRec, Node::Ext(Typed::Rec(number))) => {
                let frame = self.d.frame(r).ok_or("R is empty")?;
                require(frame.number == number, "rec is not that of R's frame")?;
                let args = self.top(a)?;
                require(!args.is_empty() && args.len() == frame.types.len(), "n is 0 or not the frame's")?;
                require(step.premises.len() == args.len(), "a premise is missing")?;
                for ((&p, &arg), &ty) in step.premises.iter().zip(args).zip(&frame.types) {
                    self.operand(p, arg, FrameId::NONE)?;
                    require(self.d.nodes[p as usize].ty == Type::Ground(ty), "an argument's type is not the frame's")?;
                }
                require(step.ty == Type::PureRec, "the type is not PureRec")
            }
            (Rule::LvTBuiltin, Node::Builtin(builtin)) => {
                let args = self.top(a)?;
                require(step.premises.len() == args.len(), "a premise is missing")?;
                let mut types = Vec::new();
                for (&p, &arg) in step.premises.iter().zip(args) {
                    self.operand(p, arg, FrameId::NONE)?;
                    match self.d.nodes[p as usize].ty {
                        Type::Ground(ty) => types.push(ty),
                        _ => return Err("an operand is no value".into()),
                    }
                }
                let fitting: Vec<_> = builtin.row().overloads.iter().filter_map(|o| o.fits(&types).map(|ty| (o, ty))).collect();
                let [(overload, ty)] = fitting.as_slice() else {
                    return Err(format!("{} overloads fit the operands", fitting.len()));
                };
                for (i, _) in overload.params.iter().enumerate().filter(|(_, s)| **s == Shape::Index) {
                    let Node::Num(bits) = self.d.terms.node(args[i]) else { return Err("an index is no literal".into()) };
                    let n = types[i + 1].columns();
                    require(index_below(f32::from_bits(bits), n).is_some(), "an index is out of range")?;
                }
                require(step.ty == Type::Ground(*ty), "the type is not the overload's")
            }
            (rule, _) => Err(format!("{rule} does not fit the term's form")),
        }
    }

    fn atom(&self, step: &Step, ty: Ground) -> Checked {
        require(step.goal.a == StackId::EMPTY, "A is not empty")?;
        require(step.premises.is_empty(), "an axiom has no premises")?;
        require(step.ty == Type::Ground(ty), "the type is wrong")
    }

    fn conditional(&self, step: &Step, operands: &[TermId], a: StackId) -> Checked {
        let [condition, yes, no] = self.premises(step)?;
        require(operands == [condition.goal.e, yes.goal.e, no.goal.e], "the premises are not about e1, e2, e3")?;
        require(condition.goal.r == FrameId::NONE && condition.goal.a == StackId::EMPTY, "e1 is not typed under ∅, ∅")?;
        require(condition.ty == Type::Ground(Ground::BOOL), "e1 is no Bool")?;
        for branch in [yes, no] {
            require(branch.goal.r == step.goal.r && branch.goal.a == a, "a branch is not typed under R, A")?;
        }
        // The definition again, case by case, so that the table of cases does not judge itself.
        let (l, r) = (yes.ty, no.ty);
        let expected = match (l, r) {
            _ if l == r => Some((l, Rule::LvRecMatchSame)),
            (Type::Rec(x), Type::Ground(y)) if x == y => Some((l, Rule::LvRecMatchRecLeft)),
            (Type::Ground(x), Type::Rec(y)) if x == y => Some((r, Rule::LvRecMatchRecRight)),
            (Type::PureRec, Type::Rec(_)) => Some((r, Rule::LvRecMatchPureLeftRec)),
            (Type::Rec(_), Type::PureRec) => Some((l, Rule::LvRecMatchPureRightRec)),
            (Type::Ground(x), Type::PureRec) => Some((Type::Rec(x), Rule::LvRecMatchPureRight)),
            (Type::PureRec, Type::Ground(x)) => Some((Type::Rec(x), Rule::LvRecMatchPureLeft)),
            _ => None,
        };
        require(expected == step.rec_match.map(|case| (step.ty, case)), "the type is not rec-match of the branches'")
    }

    fn rec_func(&self, step: &Step, params: usize, body: TermId) -> Checked {
        let args = self.top(step.goal.a)?;
        require(params == args.len() && step.premises.len() == params + 1, "the numbers of parameters, arguments and premises differ")?;
        let mut types = Vec::new();
        for (&p, &arg) in step.premises.iter().zip(args) {
            self.operand(p, arg, step.goal.r)?;
            match self.d.nodes[p as usize].ty {
                Type::Ground(ty) => types.push(ty),
                other => return Err(format!("an argument has type {other}")),
            }
        }
        let premise = &self.d.nodes[*step.premises.last().ok_or("no premise")? as usize];
        require(premise.goal.a == StackId::EMPTY, "the body is not typed under A = ∅")?;
        let frame = self.d.frame(premise.goal.r).ok_or("the body is typed under R = ∅")?;
        require(frame.types.as_slice() == types, "the body's R is not the arguments' types")?;
        require(frame.number >= self.d.terms.frames(body), "the body's frame is not fresh")?;
        require(self.body(body, premise.goal.e, 0, &types, frame.number), "the premise's term is not e[(idi : τi)/idi]")?;
        require(matches!((premise.ty, step.ty), (Type::Rec(x), Type::Ground(y)) if x == y), "the body's type is not Rec τ")
    }

    fn premises<const N: usize>(&self, step: &Step) -> Result<[&Step; N], String> {
        let ids: [NodeId; N] = step.premises.as_slice().try_into().map_err(|_| format!("the rule has {N} premises"))?;
        Ok(ids.map(|id| &self.d.nodes[id as usize]))
    }

    /// The only argument list of A.
    fn top(&self, a: StackId) -> Result<&[TermId], String> {
        let stack = self.d.stack(a).ok_or("A is empty")?;
        require(stack.below == StackId::EMPTY, "A has more than one argument list")?;
        Ok(self.d.arguments(stack))
    }

    fn operand(&self, premise: NodeId, e: TermId, r: FrameId) -> Checked {
        let goal = Goal { r, a: StackId::EMPTY, e };
        require(self.d.nodes[premise as usize].goal == goal, "a premise is not about its argument")
    }

    /// Whether `found` is `body[args/ids]`.
    fn instance(&self, body: TermId, found: TermId, depth: u32, args: &[TermId], rec: Option<TermId>) -> bool {
        self.walk(body, found, depth, &|slot, found| {
            let expected = if slot == REC { rec } else { args.get(slot as usize).copied() };
            // Arguments stand under no binder, so they are closed and stay as they are wherever
            // they go.
            expected == Some(found) && self.d.terms.is_closed(found)
        })
    }

    /// Whether `found` is `body` with typed parameters and `rec` of frame `number`.
    fn body(&self, body: TermId, found: TermId, depth: u32, types: &[Ground], number: u32) -> bool {
        self.walk(body, found, depth, &|slot, found| match self.d.terms.node(found) {
            Node::Ext(Typed::Rec(n)) => slot == REC && n == number,
            Node::Ext(Typed::Param(ty)) => types.get(slot as usize) == Some(&ty),
            _ => false,
        })
    }

    /// Walks both terms. `replaced` judges the term in the place of a variable of the list `depth`
    /// levels outward.
    fn walk(&self, body: TermId, found: TermId, depth: u32, replaced: &dyn Fn(u32, TermId) -> bool) -> bool {
        if self.d.terms.is_closed(body) {
            return body == found;
        }
        let all = |xs: &[TermId], ys: &[TermId]| xs.len() == ys.len() && xs.iter().zip(ys).all(|(&x, &y)| self.walk(x, y, depth, replaced));
        deep(|| match (self.d.terms.node(body), self.d.terms.node(found)) {
            (Node::Var { group, slot }, _) if group == depth => replaced(slot, found),
            (Node::Var { group, slot }, Node::Var { group: g, slot: s }) => {
                slot == s && (if group > depth { group - 1 } else { group }) == g
            }
            (Node::List(x), Node::List(y)) => all(self.d.terms.items(x), self.d.terms.items(y)),
            (Node::Let { values: x, body: b, .. }, Node::Let { values: y, body: c, .. }) => {
                all(self.d.terms.items(x), self.d.terms.items(y)) && self.walk(b, c, depth + 1, replaced)
            }
            (Node::Func { names: m, body: b }, Node::Func { names: n, body: c })
            | (Node::RecFunc { names: m, body: b }, Node::RecFunc { names: n, body: c }) => {
                m.len() == n.len() && self.walk(b, c, depth + 1, replaced)
            }
            _ => false,
        })
    }
}
