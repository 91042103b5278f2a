//! Wrong rules for expressions, except assignments and calls.

use super::{Bug, after, assumed, becomes, before, bug, instead, null, part, scalar, shifted, zeroed, zeros};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::environment::access::{Callee, Generated};
use smallstep_semantics::wsl::execution::Replacement::Expr as E;
use smallstep_semantics::wsl::execution::term::{Expr, Form};
use smallstep_semantics::wsl::execution::{Cx, Next, expression, generated, left};
use smallstep_semantics::wsl::memory::Words;
use smallstep_semantics::wsl::open::Word;
use smallstep_semantics::wsl::types::Scalar;

pub fn control() -> Vec<Bug> {
    use Rule as R;
    use expression as x;
    vec![
        bug(
            R::WslEParensExec,
            "what is in parentheses is 0",
            E(|cx, e| {
                let zeros = zeros(cx, e);
                instead(cx, e, x::e_parens_exec, |e| e.form = zeros)
            }),
        ),
        bug(R::WslECommaReduce, "the first operand is not evaluated", E(|cx, e| instead(cx, e, x::e_comma_reduce, |e| becomes(e, 1)))),
        bug(R::WslECommaNext, "the value is the first operand's", E(|cx, e| instead(cx, e, x::e_comma_next, |e| becomes(e, 0)))),
        bug(R::WslEAndReduce, "the first operand holds", E(|cx, e| instead(cx, e, x::e_and_reduce, |e| assumed(e, 0, 1)))),
        bug(R::WslEAndFalse, "the second operand is evaluated", E(|cx, e| instead(cx, e, x::e_and_false, |e| becomes(e, 1)))),
        bug(R::WslEAndTrue, "the second operand is not evaluated", E(|cx, e| instead(cx, e, x::e_and_true, |e| becomes(e, 0)))),
        bug(R::WslEOrReduce, "the first operand does not hold", E(|cx, e| instead(cx, e, x::e_or_reduce, |e| assumed(e, 0, 0)))),
        bug(R::WslEOrTrue, "the second operand is evaluated", E(|cx, e| instead(cx, e, x::e_or_true, |e| becomes(e, 1)))),
        bug(R::WslEOrFalse, "the second operand is not evaluated", E(|cx, e| instead(cx, e, x::e_or_false, |e| becomes(e, 0)))),
        bug(R::WslETernaryReduce, "the condition holds", E(|cx, e| instead(cx, e, x::e_ternary_reduce, |e| assumed(e, 0, 1)))),
        bug(R::WslETernaryTrue, "the third operand is evaluated", E(|cx, e| instead(cx, e, x::e_ternary_true, |e| becomes(e, 2)))),
        bug(R::WslETernaryFalse, "the second operand is evaluated", E(|cx, e| instead(cx, e, x::e_ternary_false, |e| becomes(e, 1)))),
    ]
}

/// Changes the number of elements of an array reference that is made, or of a `length`.
fn bounded(e: &mut Expr, bound: impl Fn(u32) -> u32) {
    if let Form::MakeReference(_, n) | Form::ArrayLength(_, n) = &mut e.form {
        *n = bound(*n);
    }
}

pub fn values() -> Vec<Bug> {
    use Rule as R;
    use expression as x;
    vec![
        bug(R::WslEVariable, "a name is bound to what stands behind", E(|cx, e| after(cx, e, x::e_variable, |_, e| shifted(e)))),
        bug(R::WslELoad, "what is loaded is 0", E(|cx, e| after(cx, e, x::e_load, |_, e| zeroed(e)))),
        bug(
            R::WslELoad,
            "an unspecified value is another at each use",
            E(|cx, e| {
                after(cx, e, x::e_load, |cx, e| {
                    if let Form::Value(words) = &mut e.form {
                        for word in words.iter_mut().filter(|w| matches!(w, Word::Open(_))) {
                            *word = cx.opens.leaf(None, Scalar::Int, 0);
                        }
                    }
                })
            }),
        ),
        bug(R::WslETakePtrReduce, "a null pointer is made", E(|cx, e| instead(cx, e, x::e_take_ptr_reduce, null))),
        bug(R::WslETakePtrLval, "the pointer points behind", E(|cx, e| after(cx, e, x::e_take_ptr_lval, |_, e| shifted(e)))),
        bug(R::WslEDerefPtr, "the left-value is behind", E(|cx, e| after(cx, e, x::e_deref_ptr, |_, e| shifted(e)))),
        bug(
            R::WslEDerefReduce,
            "the pointer is not evaluated",
            E(|cx, e| {
                instead(cx, e, x::e_deref_reduce, |e| {
                    if let Some(pointer) = part(e, 0) {
                        null(pointer);
                    }
                })
            }),
        ),
        bug(R::WslEMakeRefLval, "the bound is 1", E(|cx, e| before(cx, e, x::e_make_ref_lval, |_, e| bounded(e, |_| 1)))),
        bug(R::WslEMakeRefLval, "the bound is one more", E(|cx, e| before(cx, e, x::e_make_ref_lval, |_, e| bounded(e, |n| n + 1)))),
        bug(R::WslEMakeRefReduce, "the bound is lost", E(|cx, e| before(cx, e, x::e_make_ref_reduce, |_, e| bounded(e, |_| 1)))),
        bug(R::WslEArrayLength, "an array has one element", E(|cx, e| before(cx, e, x::e_array_length, |_, e| bounded(e, |_| 1)))),
        bug(
            R::WslEReferenceLength,
            "a reference has one element",
            E(|cx, e| instead(cx, e, x::e_reference_length, |e| e.form = scalar(1))),
        ),
    ]
}

/// Where the rule applies, it is applied to the expression with zeros as its first operand.
fn of_zeros(cx: &mut Cx, e: &Expr, rule: smallstep_semantics::wsl::execution::ExprRule) -> Option<Next> {
    before(cx, e, rule, |_, e| {
        if let Some(whole) = part(e, 0) {
            zeroed(whole);
        }
    })
}

pub fn accesses() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslEDotGetter,
            "no getter is called",
            E(|cx, e| {
                let zeros = zeros(cx, e);
                instead(cx, e, expression::e_dot_getter, |e| e.form = zeros)
            }),
        ),
        bug(
            R::WslEArrayDerefGetter,
            "the index is 0",
            E(|cx, e| {
                before(cx, e, expression::e_array_deref_getter, |_, e| {
                    let accessed = if let Form::Coerce(_, inner) = &mut e.form { inner } else { e };
                    assumed(accessed, 1, 0);
                })
            }),
        ),
        bug(R::WslEDotReduce, "a field does not reduce to a left-value", E(|_, _| None)),
        bug(R::WslEArrayDerefReduce, "an element does not reduce to a left-value", E(|_, _| None)),
        bug(R::WslEFieldAddress, "every field is the first", E(|cx, e| instead(cx, e, generated::e_field_address, |e| becomes(e, 0)))),
        bug(
            R::WslEFieldAddress,
            "fields stand side by side",
            E(|cx, e| {
                instead(cx, e, generated::e_field_address, |e| {
                    let field = match e.form {
                        Form::Call(Callee::Generated(Generated::FieldAddress(_, field, _)), _) => field,
                        _ => 0,
                    };
                    becomes(e, 0);
                    if let Form::Value(words) = &mut e.form
                        && let Some(Word::Address(address)) = words.first_mut()
                    {
                        *address = address.plus(4 * field);
                    }
                })
            }),
        ),
        bug(
            R::WslEElementAddress,
            "the array has one element",
            E(|cx, e| {
                after(cx, e, generated::e_element_address, |_, e| {
                    if let Some(reference) = part(e, 0).and_then(|e| part(e, 0)) {
                        bounded(reference, |_| 1);
                    }
                })
            }),
        ),
        bug(
            R::WslEGeneratedGetter,
            "the part is 0",
            E(|cx, e| {
                let zeros = zeros(cx, e);
                instead(cx, e, generated::e_generated_getter, |e| e.form = zeros)
            }),
        ),
        bug(R::WslEGeneratedGetter, "the whole is not stored", E(|cx, e| of_zeros(cx, e, generated::e_generated_getter))),
        bug(R::WslEGeneratedSetter, "the whole is as before", E(|cx, e| instead(cx, e, generated::e_generated_setter, |e| becomes(e, 0)))),
        bug(R::WslEGeneratedSetter, "only the part is assigned", E(|cx, e| of_zeros(cx, e, generated::e_generated_setter))),
    ]
}

/// Replaces the element i at address a with `LVal(a + stride·i)`, or with `LVal(a)` if i is
/// not definite.
fn element(e: &mut Expr, stride: u32) {
    let address = match &e.form {
        Form::Element(parts) => match (parts[0].words().and_then(|w| w.first()), parts[1].words().and_then(|w| w.first())) {
            (Some(Word::Address(address)), Some(Word::Bits(index))) => Some(address.plus(index * stride)),
            (Some(Word::Address(address)), _) => Some(*address),
            _ => None,
        },
        _ => None,
    };
    if let Some(address) = address {
        e.form = Form::Left(address);
    }
}

/// Replaces an index out of bounds. `index` makes it from the number of elements.
fn clamped(cx: &mut Cx, e: &Expr, index: fn(&mut Cx, u32) -> Form) -> Option<Next> {
    let Form::Element(parts) = &e.form else { return None };
    let Word::Bits(length) = *parts[0].words()?.get(1)? else { return None };
    let index = index(cx, length);
    instead(cx, e, left::e_array_ref_clamped, |e| {
        if let Some(part) = part(e, 1) {
            part.form = index;
        }
    })
}

pub fn lefts() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(R::WslEAlvalDotAnder, "a field is the whole", E(|cx, e| instead(cx, e, left::e_alval_dot_ander, |e| becomes(e, 0)))),
        bug(R::WslEAlvalArrayAnder, "the index is 0", E(|cx, e| before(cx, e, left::e_alval_array_ander, |_, e| assumed(e, 1, 0)))),
        bug(
            R::WslEAlvalArrayRefReduce,
            "the index is evaluated before the array reference",
            E(|cx, e| match &e.form {
                Form::Element(parts) if parts[1].words().is_none() => cx.expr(&parts[1])?.inside(R::WslEAlvalArrayRefReduce, 1),
                _ => left::e_alval_array_ref_reduce(cx, e),
            }),
        ),
        bug(
            R::WslEAlvalArrayReduceRight,
            "the index is not evaluated",
            E(|cx, e| instead(cx, e, left::e_alval_array_reduce_right, |e| assumed(e, 1, 0))),
        ),
        bug(R::WslEArrayRefClamped, "out of bounds is the first element", E(|cx, e| clamped(cx, e, |_, _| scalar(0)))),
        bug(R::WslEArrayRefClamped, "out of bounds is the last element", E(|cx, e| clamped(cx, e, |_, n| scalar(n - 1)))),
        bug(
            R::WslEArrayRefClamped,
            "the bound may be met",
            E(|cx, e| {
                clamped(cx, e, |cx, length| {
                    let values: Vec<u32> = (0..length.max(2) - 1).collect();
                    Form::Value(Words::from_slice(&[cx.opens.leaf(Some(&values), Scalar::Uint, 0)]))
                })
            }),
        ),
        bug(R::WslEArrayRefValid, "every element is the first", E(|cx, e| instead(cx, e, left::e_array_ref_valid, |e| element(e, 0)))),
        bug(R::WslEArrayRefValid, "elements are 4 bytes apart", E(|cx, e| instead(cx, e, left::e_array_ref_valid, |e| element(e, 4)))),
        bug(
            R::WslEAlvalGenericReduce,
            "what is to be a left-value is not evaluated",
            E(|cx, e| instead(cx, e, left::e_alval_generic_reduce, null)),
        ),
        bug(R::WslEAlvalDotReduce, "the whole does not reduce to a left-value", E(|_, _| None)),
        bug(R::WslEAlvalArrayReduceLeft, "the array does not reduce to a left-value", E(|_, _| None)),
    ]
}
