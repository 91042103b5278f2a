//! Wrong rules of WSL's execution. A wrong rule applies where the right rule does. It changes
//! something before or after the right rule, or it does something else.

mod calls;
mod expressions;
mod statements;
mod textures;

use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::execution::next::Becomes;
use smallstep_semantics::wsl::execution::term::{Expr, Form, Stmt};
use smallstep_semantics::wsl::execution::{Cx, Effect, ExprRule, Next, Replacement, StmtRule};
use smallstep_semantics::wsl::memory::Words;
use smallstep_semantics::wsl::open::Word;

/// A wrong rule.
pub struct Bug {
    /// The rule that it replaces.
    pub rule: Rule,
    /// A description of the mistake.
    pub what: &'static str,
    /// The wrong rule.
    pub by: Replacement,
}

fn bug(rule: Rule, what: &'static str, by: Replacement) -> Bug {
    Bug { rule, what, by }
}

/// All wrong rules.
pub fn bugs() -> Vec<Bug> {
    let statements = [statements::blocks(), statements::switches(), statements::loops()];
    let expressions = [expressions::control(), expressions::values(), expressions::accesses(), expressions::lefts()];
    let calls = [calls::assignments(), calls::calls(), calls::built_in()];
    let textures = [textures::samples(), textures::texels()];
    statements.into_iter().chain(expressions).chain(calls).chain(textures).flatten().collect()
}

/// A scalar value with these bits.
fn scalar(bits: u32) -> Form {
    Form::Value(Words::from_slice(&[Word::Bits(bits)]))
}

/// Where the rule applies, the expression becomes what `f` makes of it, without effects on memory.
fn instead(cx: &mut Cx, e: &Expr, rule: ExprRule, f: impl FnOnce(&mut Expr)) -> Option<Next> {
    let mut next = rule(cx, e)?;
    let mut changed = e.clone();
    f(&mut changed);
    if !next.is_here() {
        return Some(Next::expr(changed));
    }
    for change in next.changes() {
        change.becomes = Becomes::Expr(changed.clone());
        change.effects.clear();
    }
    Some(next)
}

/// Where the rule applies, `f` changes the expression first. The result is the rule's step of the
/// changed expression.
fn before(cx: &mut Cx, e: &Expr, rule: ExprRule, f: impl FnOnce(&mut Cx, &mut Expr)) -> Option<Next> {
    rule(cx, e)?;
    let mut changed = e.clone();
    f(cx, &mut changed);
    Some(rule(cx, &changed)?.plugged(changed))
}

/// Applies the rule, and then `f` to the expression that results.
fn after(cx: &mut Cx, e: &Expr, rule: ExprRule, f: impl Fn(&mut Cx, &mut Expr)) -> Option<Next> {
    let mut next = rule(cx, e)?.plugged(e.clone());
    for change in next.changes() {
        if let Becomes::Expr(whole) = &mut change.becomes {
            f(cx, whole);
        }
    }
    Some(next)
}

/// Applies `f` to the effects of the step.
fn effects(next: Option<Next>, f: impl Fn(&mut Effect)) -> Option<Next> {
    let mut next = next?;
    next.changes().for_each(|change| change.effects.iter_mut().for_each(&f));
    Some(next)
}

/// Removes the stores from the effects of the step.
fn unstored(next: Option<Next>) -> Option<Next> {
    let mut next = next?;
    next.changes().for_each(|change| change.effects.retain(|effect| !matches!(effect, Effect::Store(..))));
    Some(next)
}

/// [`instead`] for statements.
fn instead_of(cx: &mut Cx, s: &Stmt, rule: StmtRule, f: impl FnOnce(&mut Stmt)) -> Option<Next> {
    let mut next = rule(cx, s)?;
    let mut changed = s.clone();
    f(&mut changed);
    if !next.is_here() {
        return Some(Next::stmt(changed));
    }
    for change in next.changes() {
        change.becomes = Becomes::Stmt(changed.clone());
        change.effects.clear();
    }
    Some(next)
}

/// [`before`] for statements. Where the first rule applies, the second is applied to the
/// changed statement.
fn before_it(cx: &mut Cx, s: &Stmt, rules: [StmtRule; 2], f: impl FnOnce(&mut Stmt)) -> Option<Next> {
    rules[0](cx, s)?;
    let mut changed = s.clone();
    f(&mut changed);
    Some(rules[1](cx, &changed)?.plugged_stmt(&changed))
}

/// [`after`] for statements.
fn after_it(cx: &mut Cx, s: &Stmt, rule: StmtRule, f: impl Fn(&mut Stmt)) -> Option<Next> {
    let mut next = rule(cx, s)?.plugged_stmt(s);
    for change in next.changes() {
        if let Becomes::Stmt(whole) = &mut change.becomes {
            f(whole);
        }
    }
    Some(next)
}

/// A value of the expression's type, with zeros in all words.
fn zeros(cx: &Cx, e: &Expr) -> Form {
    let words = cx.shared.words(e.ty).unwrap_or(0);
    Form::Value(Words::from_elem(Word::Bits(0), words as usize))
}

/// Sets all words of the value to zero.
fn zeroed(e: &mut Expr) {
    if let Form::Value(words) = &mut e.form {
        words.iter_mut().for_each(|w| *w = Word::Bits(0));
    }
}

fn null(e: &mut Expr) {
    e.form = Form::Value(Words::from_elem(Word::Bits(0), 2));
}

/// Moves an address by 4 bytes.
fn shifted(e: &mut Expr) {
    match &mut e.form {
        Form::Left(address) => *address = address.plus(4),
        Form::Value(words) => {
            if let Some(Word::Address(address)) = words.first_mut() {
                *address = address.plus(4);
            }
        }
        _ => {}
    }
}

fn ended(s: &mut Stmt) {
    *s = Stmt::empty();
}

/// The operand with that number, from 0.
fn part(e: &mut Expr, at: usize) -> Option<&mut Expr> {
    match &mut e.form {
        Form::Comma(p)
        | Form::Or(p)
        | Form::And(p)
        | Form::Assign(p)
        | Form::Index(p, _)
        | Form::Element(p)
        | Form::CompoundAssign(_, p) => p.get_mut(at),
        Form::Ternary(p) => p.get_mut(at),
        Form::Call(_, p) => p.get_mut(at),
        Form::Parens(p) | Form::Dereference(p) | Form::AddressOf(p) | Form::MakeReference(p, _) | Form::Coerce(_, p) | Form::Dot(p, _) => {
            (at == 0).then_some(&mut **p)
        }
        _ => None,
    }
}

/// Replaces the expression with its operand.
fn becomes(e: &mut Expr, at: usize) {
    if let Some(part) = part(e, at) {
        *e = part.take();
    }
}

/// Replaces an operand with a value, although the operand is not evaluated.
fn assumed(e: &mut Expr, at: usize, bits: u32) {
    if let Some(part) = part(e, at) {
        part.form = scalar(bits);
    }
}
