//! Mistakes in typing and rec-match.

use super::{Bug, Check, Family, capture};
use crate::theorem::case::Planted;
use smallstep_semantics::lambda_v::terms::Substitute;
use smallstep_semantics::lambda_v::types::{Elem, Ground, Type};
use smallstep_semantics::lambda_v::typing::rec_match::rec_match;
use smallstep_semantics::lambda_v::typing::{self, Decide, TypeError, Typed};
use smallstep_semantics::rule::Rule;

type Decision = Result<Type, TypeError>;

const NUM: Type = Type::Ground(Ground::NUM);
const BOOL: Type = Type::Ground(Ground::BOOL);

fn deciding(decide: Decide) -> Planted {
    Planted { typing: typing::Planted { decide: Some(decide), substitute: None }, ..Planted::default() }
}

/// If the rule gives a type, it gives this one.
fn gives(rule: Rule, at: Rule, decision: Decision, ty: Type) -> Decision {
    if rule == at && decision.is_ok() { Ok(ty) } else { decision }
}

/// The rule's premise is not checked: if it fails, the rule gives this type.
fn accepts(rule: Rule, at: Rule, decision: Decision, ty: Type) -> Decision {
    if rule == at { decision.or(Ok(ty)) } else { decision }
}

/// The type at a place that forgets that rec may be called.
fn without_rec(ty: Type) -> Type {
    match ty {
        Type::Rec(ground) => Type::Ground(ground),
        other => other,
    }
}

/// The type Rec τ for a type τ of values. Other types stay.
fn with_rec(ty: Type) -> Type {
    match ty {
        Type::Ground(ground) => Type::Rec(ground),
        other => other,
    }
}

pub(super) fn bugs() -> Vec<Bug> {
    let mut bugs = atoms();
    bugs.extend(applications());
    bugs.extend(loops());
    bugs.extend(matches());
    bugs.extend(substitutions());
    bugs
}

fn atoms() -> Vec<Bug> {
    vec![
        Bug::of(Rule::LvTNum, "t-num-bool", "a number has type Bool", deciding(|rule, _, d| gives(rule, Rule::LvTNum, d, BOOL))),
        Bug::of(
            Rule::LvTNum,
            "t-num-applied",
            "a number applied to arguments is a number: (1 2) is accepted",
            deciding(|rule, _, d| accepts(rule, Rule::LvTNum, d, NUM)),
        )
        .caught_by(Check::NearMisses),
        Bug::of(Rule::LvTTrue, "t-true-num", "true has type Num", deciding(|rule, _, d| gives(rule, Rule::LvTTrue, d, NUM))),
        Bug::of(
            Rule::LvTTrue,
            "t-true-applied",
            "true applied to arguments is a Boolean",
            deciding(|rule, _, d| accepts(rule, Rule::LvTTrue, d, BOOL)),
        )
        .caught_by(Check::NearMisses),
        Bug::of(
            Rule::LvTFalse,
            "t-false-missing",
            "false has no type, as the rule printed twice for true leaves it (LV-6)",
            deciding(|rule, _, d| gives(rule, Rule::LvTFalse, d, Type::PureRec)),
        ),
        Bug::of(
            Rule::LvTFalse,
            "t-false-applied",
            "false applied to arguments is a Boolean",
            deciding(|rule, _, d| accepts(rule, Rule::LvTFalse, d, BOOL)),
        )
        .caught_by(Check::NearMisses),
        Bug::of(
            Rule::LvTParam,
            "t-param-scalar",
            "a rec-func parameter has the type of its first component",
            deciding(|rule, _, d| match d {
                Ok(Type::Ground(Ground::Vec(_, e))) if rule == Rule::LvTParam => Ok(Type::Ground(Ground::Vec(1, e))),
                d => d,
            }),
        ),
        Bug::of(
            Rule::LvTParam,
            "t-param-applied",
            "a rec-func parameter may be applied to arguments",
            deciding(|rule, _, d| accepts(rule, Rule::LvTParam, d, NUM)),
        )
        .caught_by(Check::NearMisses),
    ]
}

fn applications() -> Vec<Bug> {
    vec![
        Bug::of(
            Rule::LvTIf,
            "t-if-condition",
            "the condition of if may have any type",
            deciding(|rule, premises, d| match (rule, premises, &d) {
                (Rule::LvTIf, [condition, yes, no], Err(_)) if *condition != BOOL => rec_match(*yes, *no).map_or(d, |m| Ok(m.0)),
                _ => d,
            }),
        )
        .caught_by(Check::NearMisses),
        Bug::of(
            Rule::LvTIf,
            "t-if-vector-condition",
            "a vector of Booleans may be the condition of if",
            deciding(|rule, premises, d| match (rule, premises, &d) {
                (Rule::LvTIf, [Type::Ground(Ground::Vec(2.., Elem::B)), yes, no], Err(_)) => rec_match(*yes, *no).map_or(d, |m| Ok(m.0)),
                _ => d,
            }),
        )
        .caught_by(Check::NearMisses),
        Bug::of(
            Rule::LvTIf,
            "t-if-first-branch",
            "if has the type of its first branch",
            deciding(|rule, premises, d| match (rule, premises) {
                (Rule::LvTIf, [_, yes, _]) if d.is_ok() => Ok(*yes),
                _ => d,
            }),
        ),
        Bug::of(
            Rule::LvTIf,
            "t-if-unmatched",
            "branches of different types are accepted, and if has the first one's",
            deciding(|rule, premises, d| match (rule, premises) {
                (Rule::LvTIf, [BOOL, yes, _]) => d.or(Ok(*yes)),
                _ => d,
            }),
        )
        .caught_by(Check::NearMisses),
        Bug::of(
            Rule::LvTApp,
            "t-app-forgets-rec",
            "an application forgets that its head may call rec",
            deciding(|rule, _, d| if rule == Rule::LvTApp { d.map(without_rec) } else { d }),
        ),
        Bug::of(
            Rule::LvTFunc,
            "t-func-forgets-rec",
            "the body of a func is taken for one that never calls rec",
            deciding(|rule, _, d| match d {
                Ok(Type::PureRec) if rule == Rule::LvTFunc => Ok(NUM),
                d => d,
            }),
        ),
        Bug::of(
            Rule::LvTFunc,
            "t-func-arity",
            "a func ignores arguments that it has no parameters for",
            deciding(|rule, _, d| accepts(rule, Rule::LvTFunc, d, NUM)),
        )
        .caught_by(Check::NearMisses),
        Bug::of(
            Rule::LvTLet,
            "t-let-rec",
            "the body of a let may always call rec",
            deciding(|rule, _, d| if rule == Rule::LvTLet { d.map(with_rec) } else { d }),
        ),
        Bug::of(
            Rule::LvTBuiltin,
            "t-builtin-first-operand",
            "a builtin gives its first operand's type",
            deciding(|rule, premises, d| match (rule, premises.first()) {
                (Rule::LvTBuiltin, Some(&first)) if d.is_ok() => Ok(first),
                _ => d,
            }),
        ),
        Bug::of(
            Rule::LvTBuiltin,
            "t-builtin-one-element",
            "the result of every comparison of vectors is one Bool",
            deciding(|rule, premises, d| match (&d, premises) {
                (Ok(Type::Ground(Ground::Vec(2.., Elem::B))), [Type::Ground(Ground::Vec(_, Elem::F)), _]) if rule == Rule::LvTBuiltin => {
                    Ok(BOOL)
                }
                _ => d,
            }),
        ),
        Bug::of(
            Rule::LvTBuiltin,
            "t-builtin-spread",
            "a number stands for a vector as the second operand, as in GLSL: another overload is accepted",
            deciding(|rule, premises, d| match (rule, premises) {
                (Rule::LvTBuiltin, [Type::Ground(Ground::Vec(2.., Elem::F)), NUM]) => d.or(Ok(premises[0])),
                _ => d,
            }),
        )
        .caught_by(Check::NearMisses),
        Bug::of(
            Rule::LvTBuiltin,
            "t-builtin-unresolved",
            "operands that fit no overload give the first one's type",
            deciding(|rule, premises, d| match (rule, premises.first()) {
                (Rule::LvTBuiltin, Some(&first)) => d.or(Ok(first)),
                _ => d,
            }),
        )
        .caught_by(Check::NearMisses),
    ]
}

fn loops() -> Vec<Bug> {
    vec![
        Bug::of(
            Rule::LvTRecFunc,
            "t-rec-func-keeps-rec",
            "a rec-func has its body's type Rec τ, not τ",
            deciding(|rule, _, d| if rule == Rule::LvTRecFunc { d.map(with_rec) } else { d }),
        ),
        Bug::of(
            Rule::LvTRecFunc,
            "t-rec-func-never-calls",
            "the body of a rec-func need not call rec",
            deciding(|rule, premises, d| match (rule, premises.last()) {
                (Rule::LvTRecFunc, Some(&Type::Ground(ground))) => d.or(Ok(Type::Ground(ground))),
                _ => d,
            }),
        )
        .caught_by(Check::NearMisses),
        Bug::of(
            Rule::LvTRecFunc,
            "t-rec-func-never-ends",
            "the body of a rec-func need not ever return a value",
            deciding(|rule, premises, d| match (rule, premises) {
                (Rule::LvTRecFunc, [.., _, Type::PureRec]) => d.or(Ok(NUM)),
                _ => d,
            }),
        )
        .caught_by(Check::NearMisses),
        Bug::of(
            Rule::LvTRecFunc,
            "t-rec-func-argument",
            "an argument of a rec-func may call the outer rec (LV-8)",
            deciding(|rule, premises, d| match (rule, premises) {
                (Rule::LvTRecFunc, [Type::PureRec | Type::Rec(_)]) => d.or(Ok(NUM)),
                _ => d,
            }),
        )
        .caught_by(Check::NearMisses),
        Bug::of(Rule::LvTRec, "t-rec-num", "a call of rec is a number", deciding(|rule, _, d| gives(rule, Rule::LvTRec, d, NUM))),
        Bug::of(
            Rule::LvTRec,
            "t-rec-argument-types",
            "the types of rec's arguments are not looked at",
            deciding(|rule, premises, d| if rule == Rule::LvTRec && !premises.is_empty() { d.or(Ok(Type::PureRec)) } else { d }),
        )
        .caught_by(Check::NearMisses),
        Bug::of(
            Rule::LvTRec,
            "t-rec-arity",
            "rec may have fewer or more arguments than its rec-func, or be an outer one's",
            deciding(|rule, premises, d| if rule == Rule::LvTRec && premises.is_empty() { d.or(Ok(Type::PureRec)) } else { d }),
        )
        .caught_by(Check::NearMisses),
    ]
}

fn matches() -> Vec<Bug> {
    vec![
        Bug::of(
            Rule::LvRecMatchSame,
            "same-rec",
            "rec-match(τ, τ) = Rec τ",
            deciding(|rule, _, d| if rule == Rule::LvRecMatchSame { d.map(with_rec) } else { d }),
        ),
        Bug::of(
            Rule::LvRecMatchSame,
            "same-pure",
            "rec-match(PureRec, PureRec) = Rec Num",
            deciding(|rule, _, d| match d {
                Ok(Type::PureRec) if rule == Rule::LvRecMatchSame => Ok(Type::Rec(Ground::NUM)),
                d => d,
            }),
        ),
        Bug::of(
            Rule::LvRecMatchRecLeft,
            "rec-left",
            "rec-match(Rec τ, τ) = τ",
            deciding(|rule, _, d| if rule == Rule::LvRecMatchRecLeft { d.map(without_rec) } else { d }),
        ),
        Bug::of(
            Rule::LvRecMatchRecRight,
            "rec-right",
            "rec-match(τ, Rec τ) = τ",
            deciding(|rule, _, d| if rule == Rule::LvRecMatchRecRight { d.map(without_rec) } else { d }),
        ),
        Bug::of(
            Rule::LvRecMatchPureLeftRec,
            "pure-left-rec",
            "rec-match(PureRec, Rec τ) = PureRec",
            deciding(|rule, _, d| gives(rule, Rule::LvRecMatchPureLeftRec, d, Type::PureRec)),
        ),
        Bug::of(
            Rule::LvRecMatchPureRightRec,
            "pure-right-rec",
            "rec-match(Rec τ, PureRec) = τ",
            deciding(|rule, _, d| if rule == Rule::LvRecMatchPureRightRec { d.map(without_rec) } else { d }),
        ),
        Bug::of(
            Rule::LvRecMatchPureRight,
            "pure-right",
            "rec-match(τ, PureRec) = τ, the other branch's type (LV-23)",
            deciding(|rule, _, d| if rule == Rule::LvRecMatchPureRight { d.map(without_rec) } else { d }),
        ),
        Bug::of(
            Rule::LvRecMatchPureLeft,
            "pure-left",
            "rec-match(PureRec, τ) = PureRec",
            deciding(|rule, _, d| gives(rule, Rule::LvRecMatchPureLeft, d, Type::PureRec)),
        ),
        Bug::of(
            Rule::LvRecMatchPureLeft,
            "pure-left-num",
            "rec-match(PureRec, τ) = Rec Num",
            deciding(|rule, _, d| gives(rule, Rule::LvRecMatchPureLeft, d, Type::Rec(Ground::NUM))),
        ),
    ]
}

fn substituting(substitute: Substitute<Typed>) -> Planted {
    Planted { typing: typing::Planted { substitute: Some(substitute), decide: None }, ..Planted::default() }
}

fn substitutions() -> Vec<Bug> {
    vec![
        Bug::outside_rules(
            Family::Typing,
            "typing-rec-captured",
            "an outer rec carried into an inner rec-func becomes the inner one's (LV-4)",
            Check::NearMisses,
            substituting(capture::rec_in_typing),
        ),
        Bug::outside_rules(
            Family::Typing,
            "typing-shadows",
            "an inner binder does not hide the outer one at its place",
            Check::Campaign,
            substituting(capture::through_shadows),
        ),
        Bug::outside_rules(
            Family::Typing,
            "typing-last-for-first",
            "the first identifier of a list stands for the last expression",
            Check::Campaign,
            substituting(capture::last_for_first),
        ),
        Bug::outside_rules(
            Family::Typing,
            "typing-sequential",
            "identifiers are substituted one after the other, as printed (LV-4)",
            Check::Equivalent(capture::CLOSED),
            substituting(capture::one_after_the_other),
        ),
    ]
}
