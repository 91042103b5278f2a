//! Wrong rules of WSL's execution. Each is the right one's function with something changed before
//! or after it, or something else in its place.

mod calls;
mod expressions;
mod statements;
mod textures;

use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::execution::term::{Expr, Form, Stmt};
use smallstep_semantics::wsl::execution::{Cx, Done, Replacement};
use smallstep_semantics::wsl::memory::Words;
use smallstep_semantics::wsl::open::Word;

/// A wrong rule.
pub struct Bug {
    /// The rule.
    pub rule: Rule,
    /// What is wrong.
    pub what: &'static str,
    /// What stands in its place.
    pub by: Replacement,
}

fn bug(rule: Rule, what: &'static str, by: Replacement) -> Bug {
    Bug { rule, what, by }
}

/// Every wrong rule.
pub fn bugs() -> Vec<Bug> {
    let statements = [statements::blocks(), statements::switches(), statements::loops()];
    let expressions = [expressions::control(), expressions::values(), expressions::accesses(), expressions::lefts()];
    let calls = [calls::assignments(), calls::calls(), calls::built_in()];
    let textures = [textures::samples(), textures::texels()];
    statements.into_iter().chain(expressions).chain(calls).chain(textures).flatten().collect()
}

/// A scalar of those bits.
fn scalar(bits: u32) -> Form {
    Form::Value(Words::from_slice(&[Word::Bits(bits)]))
}

/// The expression is a value of zeros.
fn zeros(cx: &Cx, e: &mut Expr) -> Done {
    let words = cx.shared.words(e.ty)?;
    e.form = Form::Value(Words::from_elem(Word::Bits(0), words as usize));
    Ok(())
}

/// The value keeps its length, and is zeros.
fn zeroed(e: &mut Expr) -> Done {
    if let Form::Value(words) = &mut e.form {
        words.iter_mut().for_each(|w| *w = Word::Bits(0));
    }
    Ok(())
}

fn null(e: &mut Expr) -> Done {
    e.form = Form::Value(Words::from_elem(Word::Bits(0), 2));
    Ok(())
}

/// 4 bytes further.
fn shifted(e: &mut Expr) -> Done {
    match &mut e.form {
        Form::Left(address) => *address = address.plus(4),
        Form::Value(words) => {
            if let Some(Word::Address(address)) = words.first_mut() {
                *address = address.plus(4);
            }
        }
        _ => {}
    }
    Ok(())
}

fn ended(s: &mut Stmt) -> Done {
    *s = Stmt::empty();
    Ok(())
}

/// What the rule stores is lost.
fn unstored(cx: &mut Cx, e: &mut Expr, rule: fn(&mut Cx, &mut Expr) -> Done) -> Done {
    let before = cx.memory.clone();
    rule(cx, e)?;
    // A generated function's parameters may have come to it.
    for (object, old) in cx.memory.objects.iter_mut().zip(before.objects) {
        object.words = old.words;
    }
    Ok(())
}

/// The operand of a form.
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

/// The expression is its operand.
fn becomes(e: &mut Expr, at: usize) -> Done {
    if let Some(part) = part(e, at) {
        *e = part.take();
    }
    Ok(())
}

/// The operand is that value, without being evaluated.
fn assumed(e: &mut Expr, at: usize, bits: u32) -> Done {
    if let Some(part) = part(e, at) {
        part.form = scalar(bits);
    }
    Ok(())
}
