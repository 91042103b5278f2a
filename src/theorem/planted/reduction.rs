//! Mistakes in the λV relation.

use super::{Bug, Check, Family, capture};
use crate::theorem::case::Planted;
use smallstep_semantics::lambda_v::step::{self, Reduct, Reduction};
use smallstep_semantics::lambda_v::terms::{Node, Replacement, TermId};
use smallstep_semantics::outcome::Limit;
use smallstep_semantics::rule::Rule;

type Reducts = Result<Vec<Reduct>, Limit>;
type Hook = fn(&mut Reduction, Rule, TermId, Vec<Reduct>) -> Reducts;

fn reducing(reducts: Hook) -> Planted {
    Planted { reduction: step::Planted { reducts: Some(reducts), substitute: None }, ..Planted::default() }
}

/// The items of a list.
fn items(r: &Reduction, e: TermId) -> Vec<TermId> {
    match r.terms.node(e) {
        Node::List(range) => r.terms.items(range).to_vec(),
        _ => Vec::new(),
    }
}

/// The reducts with another term as their result.
fn to(reducts: Vec<Reduct>, next: TermId) -> Reducts {
    Ok(reducts.into_iter().map(|reduct| Reduct { next, ..reduct }).collect())
}

/// The reducts with `body[args/ids]` as their result, with other arguments.
fn rewritten(r: &mut Reduction, reducts: Vec<Reduct>, body: TermId, args: &[TermId], rec: Option<TermId>) -> Reducts {
    if reducts.is_empty() {
        return Ok(reducts);
    }
    let next = r.terms.substitute(body, Replacement { args, rec })?;
    to(reducts, next)
}

fn e_let_reversed(r: &mut Reduction, rule: Rule, e: TermId, reducts: Vec<Reduct>) -> Reducts {
    let (Rule::LvELet, Node::Let { values, body, .. }) = (rule, r.terms.node(e)) else { return Ok(reducts) };
    let args: Vec<TermId> = r.terms.items(values).iter().rev().copied().collect();
    rewritten(r, reducts, body, &args, None)
}

fn e_func_reversed(r: &mut Reduction, rule: Rule, e: TermId, reducts: Vec<Reduct>) -> Reducts {
    let list = items(r, e);
    let (Rule::LvEFunc, Some((&head, args))) = (rule, list.split_first()) else { return Ok(reducts) };
    let Node::Func { body, .. } = r.terms.node(head) else { return Ok(reducts) };
    let args: Vec<TermId> = args.iter().rev().copied().collect();
    rewritten(r, reducts, body, &args, None)
}

fn e_rec_func_rotated(r: &mut Reduction, rule: Rule, e: TermId, reducts: Vec<Reduct>) -> Reducts {
    let list = items(r, e);
    let (Rule::LvERecFunc, Some((&head, args))) = (rule, list.split_first()) else { return Ok(reducts) };
    let Node::RecFunc { body, .. } = r.terms.node(head) else { return Ok(reducts) };
    let mut args = args.to_vec();
    let rotation = usize::from(!args.is_empty());
    args.rotate_left(rotation);
    rewritten(r, reducts, body, &args, Some(head))
}

/// `((rec-func …) e1 … en)` unfolds before its arguments are values.
fn e_rec_func_by_name(r: &mut Reduction, rule: Rule, e: TermId, reducts: Vec<Reduct>) -> Reducts {
    let list = items(r, e);
    match (rule, list.split_first()) {
        (Rule::LvERecArg, _) => Ok(Vec::new()),
        (Rule::LvERecFunc, Some((&head, args))) => {
            let Node::RecFunc { body, names } = r.terms.node(head) else { return Ok(reducts) };
            if names.len() != args.len() {
                return Ok(reducts);
            }
            let next = r.terms.substitute(body, Replacement { args, rec: Some(head) })?;
            Ok(vec![Reduct { rule, at: Default::default(), within: Default::default(), redex: e, next }])
        }
        _ => Ok(reducts),
    }
}

/// Rule `at` takes the item at `position` as its branch.
fn branch(r: &Reduction, at: Rule, rule: Rule, e: TermId, reducts: Vec<Reduct>, position: usize) -> Reducts {
    match items(r, e).get(position) {
        Some(&next) if rule == at => to(reducts, next),
        _ => Ok(reducts),
    }
}

/// If the taken branch calls a rec-func, the other branch is taken.
fn branches_swapped_under_rec(r: &mut Reduction, rule: Rule, e: TermId, reducts: Vec<Reduct>) -> Reducts {
    let (chosen, other) = match rule {
        Rule::LvEIfTrue => (2, 3),
        Rule::LvEIfFalse => (3, 2),
        _ => return Ok(reducts),
    };
    let list = items(r, e);
    let calls = list.get(chosen).is_some_and(|&t| items(r, t).first().is_some_and(|&h| matches!(r.terms.node(h), Node::RecFunc { .. })));
    match list.get(other) {
        Some(&next) if calls => to(reducts, next),
        _ => Ok(reducts),
    }
}

/// Only reducts of the items for which `keep` holds.
fn keep_only(at: Rule, rule: Rule, reducts: Vec<Reduct>, keep: impl Fn(u32) -> bool) -> Reducts {
    Ok(reducts.into_iter().filter(|reduct| rule != at || reduct.at.first().is_some_and(|&i| keep(i))).collect())
}

/// δ with a changed value for the builtin `name`.
fn changed_value(
    r: &mut Reduction,
    rule: Rule,
    e: TermId,
    reducts: Vec<Reduct>,
    name: &str,
    change: fn(&mut smallstep_semantics::number::Lanes),
) -> Reducts {
    let list = items(r, e);
    let is_named = list.first().is_some_and(|&h| matches!(r.terms.node(h), Node::Builtin(b) if b.name() == name));
    let (Rule::LvEBuiltin, true, Some(reduct)) = (rule, is_named, reducts.first()) else { return Ok(reducts) };
    let Some(mut value) = r.value(reduct.next) else { return Ok(reducts) };
    change(&mut value.lanes);
    let span = r.terms.span(e);
    let next = r.add_value(value, span)?;
    to(reducts, next)
}

pub(super) fn bugs() -> Vec<Bug> {
    vec![
        Bug::of(Rule::LvELet, "e-let-reversed", "let binds its expressions in reverse order", reducing(e_let_reversed)),
        Bug::of(
            Rule::LvEIfTrue,
            "e-if-true-else",
            "(if true e2 e3) → e3",
            reducing(|r, rule, e, reducts| branch(r, Rule::LvEIfTrue, rule, e, reducts, 3)),
        ),
        Bug::of(
            Rule::LvEIfFalse,
            "e-if-false-then",
            "(if false e2 e3) → e2",
            reducing(|r, rule, e, reducts| branch(r, Rule::LvEIfFalse, rule, e, reducts, 2)),
        ),
        Bug::of(
            Rule::LvEIfFalse,
            "e-if-false-missing",
            "(if false e2 e3) does not reduce, as printed (LV-3)",
            reducing(|_, rule, _, reducts| Ok(if rule == Rule::LvEIfFalse { Vec::new() } else { reducts })),
        ),
        Bug::of(
            Rule::LvEIfTrue,
            "e-if-swapped-under-rec",
            "the branches of if are swapped where the taken one calls rec",
            reducing(branches_swapped_under_rec),
        ),
        Bug::of(
            Rule::LvEIfCond,
            "e-if-cond-missing",
            "a condition does not reduce, as printed (LV-3)",
            reducing(|_, rule, _, reducts| Ok(if rule == Rule::LvEIfCond { Vec::new() } else { reducts })),
        ),
        Bug::of(Rule::LvEFunc, "e-func-reversed", "a func takes its arguments in reverse order", reducing(e_func_reversed)),
        Bug::of(
            Rule::LvERecArg,
            "e-rec-arg-first",
            "only the first argument of a rec-func reduces",
            reducing(|_, rule, _, reducts| keep_only(Rule::LvERecArg, rule, reducts, |i| i == 1)),
        ),
        Bug::of(
            Rule::LvERecFunc,
            "e-rec-func-rotated",
            "the arguments of a rec-func are shifted by one parameter",
            reducing(e_rec_func_rotated),
        ),
        Bug::of(
            Rule::LvERecFunc,
            "e-rec-func-by-name",
            "a rec-func unfolds before its arguments are values, as printed (LV-5)",
            reducing(e_rec_func_by_name),
        ),
        Bug::of(
            Rule::LvEArg,
            "e-arg-first",
            "only the first operand of a builtin reduces",
            reducing(|_, rule, _, reducts| keep_only(Rule::LvEArg, rule, reducts, |i| i == 1)),
        ),
        Bug::of(
            Rule::LvEBuiltin,
            "e-builtin-fragment-swapped",
            "the fragment's coordinate is (y, x, z, w)",
            reducing(|r, rule, e, reducts| changed_value(r, rule, e, reducts, "frag-coord", |lanes| lanes.swap(0, 1))),
        ),
        Bug::of(
            Rule::LvEBuiltin,
            "e-builtin-construct-reversed",
            "vec3 takes its components in reverse order",
            reducing(|r, rule, e, reducts| changed_value(r, rule, e, reducts, "vec3", |lanes| lanes.reverse())),
        ),
        Bug::of(
            Rule::LvEBuiltin,
            "e-builtin-columns-swapped",
            "mat2 takes its columns in reverse order",
            reducing(|r, rule, e, reducts| changed_value(r, rule, e, reducts, "mat2", |lanes| lanes.rotate_left(2))),
        ),
        Bug::of(
            Rule::LvEApp,
            "e-app-let",
            "a let in a function's place does not reduce",
            reducing(|r, rule, e, reducts| {
                let head = items(r, e).first().map(|&h| r.terms.node(h));
                Ok(if rule == Rule::LvEApp && matches!(head, Some(Node::Let { .. })) { Vec::new() } else { reducts })
            }),
        ),
        Bug::outside_rules(
            Family::Reduction,
            "reduction-shadows",
            "an inner binder does not hide the outer one at its place",
            Check::Campaign,
            Planted { reduction: step::Planted { substitute: Some(capture::through_shadows), reducts: None }, ..Planted::default() },
        ),
        Bug::outside_rules(
            Family::Reduction,
            "reduction-last-for-first",
            "the first identifier of a list stands for the last expression",
            Check::Campaign,
            Planted { reduction: step::Planted { substitute: Some(capture::last_for_first), reducts: None }, ..Planted::default() },
        ),
        Bug::outside_rules(
            Family::Reduction,
            "reduction-sequential",
            "identifiers are substituted one after the other, as printed (LV-4)",
            Check::Equivalent(capture::CLOSED),
            Planted { reduction: step::Planted { substitute: Some(capture::one_after_the_other), reducts: None }, ..Planted::default() },
        ),
    ]
}
