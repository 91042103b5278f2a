//! Wrong substitutions, for every engine that substitutes.

use crate::compile::lambda_v::Translated;
use smallstep_semantics::lambda_v::terms::{Extension, Node, REC, Replacement, TermId, Terms};
use smallstep_semantics::lambda_v::typing::Typed;
use smallstep_semantics::outcome::Limit;

/// e[e1/id1]…[en/idn], as report §4 prints it: one after the other, each in the result of the
/// earlier ones.
///
/// The substituted expressions are closed, so none of them contains a later identifier.
pub(super) fn one_after_the_other<X: Extension>(terms: &mut Terms<X>, body: TermId, with: Replacement<'_>) -> Result<TermId, Limit> {
    let mut e = body;
    for (slot, &arg) in with.args.iter().enumerate() {
        e = replace_one(terms, e, 0, slot as u32, arg)?;
    }
    // The identifiers of the list are replaced already. This replaces rec.
    terms.substitute(e, with)
}

/// e[arg/id] for the identifier at `slot` of the list `depth` levels outward. The list stays.
fn replace_one<X: Extension>(terms: &mut Terms<X>, e: TermId, depth: u32, slot: u32, arg: TermId) -> Result<TermId, Limit> {
    if terms.is_closed(e) {
        return Ok(e);
    }
    let span = terms.span(e);
    match terms.node(e) {
        Node::Var { group, slot: s } if group == depth && s == slot => Ok(arg),
        node => terms.rebuild(node, span, &mut |terms, child, under| replace_one(terms, child, depth + under, slot, arg)),
    }
}

/// A variable of an inner list is confused with the substituted one at the same slot: shadowing
/// does not hide the outer identifier.
pub(super) fn through_shadows<X: Extension>(terms: &mut Terms<X>, body: TermId, with: Replacement<'_>) -> Result<TermId, Limit> {
    let e = shadowed(terms, body, 0, with)?;
    terms.substitute(e, with)
}

fn shadowed<X: Extension>(terms: &mut Terms<X>, e: TermId, depth: u32, with: Replacement<'_>) -> Result<TermId, Limit> {
    if terms.is_closed(e) {
        return Ok(e);
    }
    let span = terms.span(e);
    match terms.node(e) {
        Node::Var { group, slot } if group < depth && (slot as usize) < with.args.len() && slot != REC => Ok(with.args[slot as usize]),
        node => terms.rebuild(node, span, &mut |terms, child, under| shadowed(terms, child, depth + under, with)),
    }
}

/// The first identifier of a list is replaced by the last one's expression.
pub(super) fn last_for_first<X: Extension>(terms: &mut Terms<X>, body: TermId, with: Replacement<'_>) -> Result<TermId, Limit> {
    let mut args = with.args.to_vec();
    if let (Some(&last), Some(first)) = (with.args.last(), args.first_mut()) {
        *first = last;
    }
    terms.substitute(body, Replacement { args: &args, ..with })
}

/// In typing, an outer `rec` that a let or func carried into a rec-func's body becomes the inner
/// one's (LV-4).
pub(super) fn rec_in_typing(terms: &mut Terms<Typed>, body: TermId, with: Replacement<'_>) -> Result<TermId, Limit> {
    let e = terms.substitute(body, with)?;
    captured(terms, e, with.rec, &|x| matches!(x, Typed::Rec(_)))
}

/// The same mistake in the translation.
pub(super) fn rec_in_translation(terms: &mut Terms<Translated>, body: TermId, with: Replacement<'_>) -> Result<TermId, Limit> {
    let e = terms.substitute(body, with)?;
    captured(terms, e, with.rec, &|x| matches!(x, Translated::Rec(_)))
}

fn captured<X: Extension>(terms: &mut Terms<X>, e: TermId, rec: Option<TermId>, is_rec: &dyn Fn(X) -> bool) -> Result<TermId, Limit> {
    let Some(rec) = rec.filter(|_| terms.frames(e) > 0) else { return Ok(e) };
    let span = terms.span(e);
    match terms.node(e) {
        Node::Ext(x) if is_rec(x) => Ok(rec),
        node => terms.rebuild(node, span, &mut |terms, child, _| captured(terms, child, Some(rec), is_rec)),
    }
}

/// Why [`one_after_the_other`] is no mistake.
pub(super) const CLOSED: &str = "every substituted expression is closed (an outer let, func or rec-func has been substituted before), so no identifier \
of the list occurs in it, and one after the other is the same as all at once";
