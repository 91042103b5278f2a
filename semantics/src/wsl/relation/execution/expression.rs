//! Expressions: seed 004 "Operations affecting control-flow", "Variables", "Pointers and
//! references", "Arrays", "Dot operator", "Other".

use super::left::is_reduced;
use super::next::conclude;
use super::table::{
    Function::{Expr as E, Left as L},
    Row, Shape,
};
use super::term::{Expr, Form};
use super::{Cx, Effects, Next};
use crate::rule::Rule;
use crate::wsl::memory::{Address, Words};
use crate::wsl::open::Word;
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{Access, Coercion};

/// The rules of this section.
pub(super) const RULES: &[Row] = &[
    (Rule::WslEVariable, E(&[Shape::Variable], e_variable)),
    (Rule::WslELoad, E(&[Shape::Load], e_load)),
    (Rule::WslEParensExec, E(&[Shape::Parens], e_parens_exec)),
    (Rule::WslEParensExec, L(&[Shape::Parens], e_parens_exec)),
    (Rule::WslECommaReduce, E(&[Shape::Comma], e_comma_reduce)),
    (Rule::WslECommaNext, E(&[Shape::Comma], e_comma_next)),
    (Rule::WslEAndReduce, E(&[Shape::And], e_and_reduce)),
    (Rule::WslEAndTrue, E(&[Shape::And], e_and_true)),
    (Rule::WslEAndFalse, E(&[Shape::And], e_and_false)),
    (Rule::WslEOrReduce, E(&[Shape::Or], e_or_reduce)),
    (Rule::WslEOrTrue, E(&[Shape::Or], e_or_true)),
    (Rule::WslEOrFalse, E(&[Shape::Or], e_or_false)),
    (Rule::WslETernaryReduce, E(&[Shape::Ternary], e_ternary_reduce)),
    (Rule::WslETernaryTrue, E(&[Shape::Ternary], e_ternary_true)),
    (Rule::WslETernaryFalse, E(&[Shape::Ternary], e_ternary_false)),
    (Rule::WslETakePtrReduce, E(&[Shape::AddressOf], e_take_ptr_reduce)),
    (Rule::WslETakePtrLval, E(&[Shape::AddressOf], e_take_ptr_lval)),
    (Rule::WslEDerefReduce, E(&[Shape::Dereference], e_deref_reduce)),
    (Rule::WslEDerefPtr, E(&[Shape::Dereference], e_deref_ptr)),
    (Rule::WslEMakeRefReduce, E(&[Shape::MakeReference], e_make_ref_reduce)),
    (Rule::WslEMakeRefLval, E(&[Shape::MakeReference], e_make_ref_lval)),
    (Rule::WslEDotReduce, E(&[Shape::Dot], e_dot_reduce)),
    (Rule::WslEDotGetter, E(&[Shape::Dot, Shape::GetterAccess], e_dot_getter)),
    (Rule::WslEArrayDerefReduce, E(&[Shape::Index, Shape::Element], e_array_deref_reduce)),
    (Rule::WslEArrayDerefGetter, E(&[Shape::Index, Shape::GetterAccess], e_array_deref_getter)),
    (Rule::WslEArrayLength, E(&[Shape::ArrayLength], e_array_length)),
    (Rule::WslEReferenceLength, E(&[Shape::ReferenceLength], e_reference_length)),
];

/// x → LVal(ρ(x)) [wsl/e-variable, 004 Variables]
pub fn e_variable(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Variable(store) = e.form else { return None };
    let is_bound = cx.env.iter().flat_map(|env| env.iter()).any(|(_, bound)| *bound == store);
    is_bound.then(|| Next::form(e, Form::Left(cx.address(store))))
}

/// LVal(a) → v, loading v from a; no valid element of an enum becomes an unspecified one
/// [wsl/e-load, 004 Variables; WSL-D11]
pub fn e_load(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Coerce(Coercion::LeftToRight, inner) = &e.form else { return None };
    let address = inner.left()?;
    conclude(|| {
        let mut effects = Effects::new();
        let size = cx.shared.words(e.ty)?;
        let words = cx.load(address, size, &mut effects)?;
        Ok(Next::value(e, cx.make_valid(e.ty, words)).with(effects))
    })
}

impl Cx<'_, '_> {
    /// Makes words a valid value of a type. A value of an enum becomes one of its elements.
    pub(super) fn make_valid(&mut self, ty: TypeId, mut words: Words) -> Words {
        if let (Type::Enum(id), Some(&word)) = (self.program().env.types.get(ty), words.first()) {
            let elements: Vec<u32> = self.program().env.enumeration(id).elements.iter().map(|e| e.1).collect();
            if !self.opens.values(word).is_some_and(|values| values.iter().all(|v| elements.contains(v))) {
                words[0] = self.opens.leaf(Some(&elements), crate::wsl::types::Scalar::Int, elements[0]);
            }
        }
        words
    }
}

/// (e) → e [wsl/e-parens-exec, 004 Other]
pub fn e_parens_exec(_: &mut Cx, e: &Expr) -> Option<Next> {
    matches!(e.form, Form::Parens(_)).then(|| Next::part(0))
}

/// e1 → e1' gives e1, e2 → e1', e2 [wsl/e-comma-reduce, 004 Other]
pub fn e_comma_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Comma(parts) = &e.form else { return None };
    cx.expr(&parts[0])?.inside(Rule::WslECommaReduce, 0)
}

/// v, e2 → e2 [wsl/e-comma-next, 004 Other]
pub fn e_comma_next(_: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Comma(parts) = &e.form else { return None };
    parts[0].words().map(|_| Next::part(1))
}

/// A value of type `bool`.
fn bool_value(e: &Expr, value: bool) -> Next {
    Next::value(e, Words::from_slice(&[Word::Bits(u32::from(value))]))
}

/// e1 → e1' gives e1 && e2 → e1' && e2 [wsl/e-and-reduce, 004 Operations affecting control-flow]
pub fn e_and_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::And(parts) = &e.form else { return None };
    cx.expr(&parts[0])?.inside(Rule::WslEAndReduce, 0)
}

/// false && e2 → false [wsl/e-and-false, 004 Operations affecting control-flow]
pub fn e_and_false(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::And(parts) = &e.form else { return None };
    cx.if_false(&parts[0], || bool_value(e, false))
}

/// true && e2 → e2 [wsl/e-and-true, 004 Operations affecting control-flow]
pub fn e_and_true(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::And(parts) = &e.form else { return None };
    cx.if_true(&parts[0], || Next::part(1))
}

/// e1 → e1' gives e1 || e2 → e1' || e2 [wsl/e-or-reduce, 004 Operations affecting control-flow]
pub fn e_or_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Or(parts) = &e.form else { return None };
    cx.expr(&parts[0])?.inside(Rule::WslEOrReduce, 0)
}

/// true || e2 → true [wsl/e-or-true, 004 Operations affecting control-flow]
pub fn e_or_true(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Or(parts) = &e.form else { return None };
    cx.if_true(&parts[0], || bool_value(e, true))
}

/// false || e2 → e2 [wsl/e-or-false, 004 Operations affecting control-flow]
pub fn e_or_false(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Or(parts) = &e.form else { return None };
    cx.if_false(&parts[0], || Next::part(1))
}

/// e1 → e1' gives e1 ? e2 : e3 → e1' ? e2 : e3 [wsl/e-ternary-reduce, 004 Operations affecting
/// control-flow]
pub fn e_ternary_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Ternary(parts) = &e.form else { return None };
    cx.expr(&parts[0])?.inside(Rule::WslETernaryReduce, 0)
}

/// true ? e2 : e3 → e2 [wsl/e-ternary-true, 004 Operations affecting control-flow]
pub fn e_ternary_true(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Ternary(parts) = &e.form else { return None };
    cx.if_true(&parts[0], || Next::part(1))
}

/// false ? e2 : e3 → e3 [wsl/e-ternary-false, 004 Operations affecting control-flow]
pub fn e_ternary_false(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Ternary(parts) = &e.form else { return None };
    cx.if_false(&parts[0], || Next::part(2))
}

/// The words of a pointer.
pub(super) fn pointer(address: Address) -> Words {
    Words::from_slice(&[Word::Address(address), Word::Bits(0)])
}

/// e reduced to an abstract left-value, e', gives &e → &e' [wsl/e-take-ptr-reduce, 004 Pointers and
/// references]
pub fn e_take_ptr_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::AddressOf(inner) = &e.form else { return None };
    cx.left(inner)?.inside(Rule::WslETakePtrReduce, 0)
}

/// &LVal(a) → Ptr(a) [wsl/e-take-ptr-lval, 004 Pointers and references]
pub fn e_take_ptr_lval(_: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::AddressOf(inner) = &e.form else { return None };
    Some(Next::value(e, pointer(inner.left()?)))
}

/// *Ptr(a) → LVal(a) [wsl/e-deref-ptr, 004 Pointers and references]
pub fn e_deref_ptr(_: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Dereference(inner) = &e.form else { return None };
    match inner.words()?.first()? {
        Word::Address(address) => Some(Next::form(e, Form::Left(*address))),
        _ => None,
    }
}

/// e → e' gives *e → *e' [wsl/e-deref-reduce, 004 Pointers and references]
pub fn e_deref_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Dereference(inner) = &e.form else { return None };
    cx.expr(inner)?.inside(Rule::WslEDerefReduce, 0)
}

/// @LVal(a) → Ref(a, n), n the length of its array, and 1 if it is none [wsl/e-make-ref-lval, 004
/// Arrays, references 1, 2; WSL-C3]
pub fn e_make_ref_lval(_: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::MakeReference(inner, n) = &e.form else { return None };
    let words = [Word::Address(inner.left()?), Word::Bits(*n), Word::Bits(0), Word::Bits(0)];
    Some(Next::value(e, Words::from_slice(&words)))
}

/// e reduced to an abstract left-value, e', gives @e → @e' [wsl/e-make-ref-reduce, 004 Arrays,
/// references 3]
pub fn e_make_ref_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::MakeReference(inner, _) = &e.form else { return None };
    cx.left(inner)?.inside(Rule::WslEMakeRefReduce, 0)
}

/// The access for which a getter is called. It has only a getter, or it has a setter too and is
/// used as a right-value.
fn getter_access(e: &Expr) -> Option<&Expr> {
    match &e.form {
        Form::Coerce(Coercion::AbstractToRight, inner) => match inner.form {
            Form::Dot(_, Access::Setter(..)) | Form::Index(_, Access::Setter(..)) => Some(inner),
            _ => None,
        },
        Form::Dot(_, Access::Getter(_)) | Form::Index(_, Access::Getter(_)) => Some(e),
        _ => None,
    }
}

/// e.f → operator.f(e), e not reducible to an abstract left-value [wsl/e-dot-getter, 004 Dot
/// operator 2]
pub fn e_dot_getter(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let accessed = getter_access(e)?;
    let Form::Dot(whole, Access::Getter(getter) | Access::Setter(_, getter)) = &accessed.form else { return None };
    if !is_reduced(cx.program(), accessed) {
        return None;
    }
    Some(Next::form(accessed, Form::Call(*getter, vec![cx.right(Expr::clone(whole))])))
}

/// e1\[e2\] → operator\[\](e1, e2), e1\[e2\] not reducible to an abstract left-value
/// [wsl/e-array-deref-getter, 004 Arrays, \[\] 2]
pub fn e_array_deref_getter(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let accessed = getter_access(e)?;
    let Form::Index(parts, Access::Getter(getter) | Access::Setter(_, getter)) = &accessed.form else { return None };
    if !is_reduced(cx.program(), accessed) {
        return None;
    }
    let [whole, index] = *Box::clone(parts);
    Some(Next::form(accessed, Form::Call(*getter, vec![cx.right(whole), index])))
}

/// LVal(a).length → n and v.length → n, of an array of n elements: a left-value is not loaded
/// [wsl/e-array-length, 004 Typing expressions, call 3.1; WSL-C8]
pub fn e_array_length(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::ArrayLength(inner, n) = &e.form else { return None };
    if inner.words().is_some() || inner.left().is_some() {
        return Some(Next::value(e, Words::from_slice(&[Word::Bits(*n)])));
    }
    let next = match is_reduced(cx.program(), inner) {
        false => cx.left(inner)?,
        // An expression without a left-value is evaluated by its getter, which may have effects.
        true => {
            let value = cx.right(Expr::clone(inner));
            cx.expr(&value)?.plugged(value)
        }
    };
    next.inside(Rule::WslEArrayLength, 0)
}

/// Ref(a, n).length → n [wsl/e-reference-length, 004 Typing expressions, call 3.2; WSL-C8]
pub fn e_reference_length(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::ReferenceLength(inner) = &e.form else { return None };
    match inner.words() {
        Some(words) => Some(Next::value(e, Words::from_slice(&[*words.get(1)?]))),
        None => cx.expr(inner)?.inside(Rule::WslEReferenceLength, 0),
    }
}

/// e.f reduced to an abstract left-value, e', gives e.f → e' [wsl/e-dot-reduce, 004 Dot operator 1]
pub fn e_dot_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Dot(..) = e.form else { return None };
    cx.left(e)?.within(Rule::WslEDotReduce)
}

/// e1\[e2\] reduced to an abstract left-value, e', gives e1\[e2\] → e' [wsl/e-array-deref-reduce,
/// 004 Arrays, \[\] 1]
pub fn e_array_deref_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let (Form::Index(..) | Form::Element(_)) = e.form else { return None };
    cx.left(e)?.within(Rule::WslEArrayDerefReduce)
}
