//! Wrong rules for expressions, but assignments and calls.

use super::{Bug, assumed, becomes, bug, null, part, scalar, shifted, zeroed, zeros};
use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::environment::access::{Callee, Generated};
use smallstep_semantics::wsl::execution::Replacement::{Expr as E, Left as L};
use smallstep_semantics::wsl::execution::term::{Expr, Form};
use smallstep_semantics::wsl::execution::{Done, expression, generated, left};
use smallstep_semantics::wsl::memory::Words;
use smallstep_semantics::wsl::open::Word;
use smallstep_semantics::wsl::types::Scalar;

pub fn control() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(R::WslEParensExec, "what is in parentheses is 0", E(|cx, e| zeros(cx, e))),
        bug(R::WslECommaReduce, "the first operand is not evaluated", E(|_, e| becomes(e, 1))),
        bug(R::WslECommaNext, "the value is the first operand's", E(|_, e| becomes(e, 0))),
        bug(R::WslEAndReduce, "the first operand holds", E(|_, e| assumed(e, 0, 1))),
        bug(R::WslEAndFalse, "the second operand is evaluated", E(|_, e| becomes(e, 1))),
        bug(R::WslEAndTrue, "the second operand is not evaluated", E(|_, e| becomes(e, 0))),
        bug(R::WslEOrReduce, "the first operand does not hold", E(|_, e| assumed(e, 0, 0))),
        bug(R::WslEOrTrue, "the second operand is evaluated", E(|_, e| becomes(e, 1))),
        bug(R::WslEOrFalse, "the second operand is not evaluated", E(|_, e| becomes(e, 0))),
        bug(R::WslETernaryReduce, "the condition holds", E(|_, e| assumed(e, 0, 1))),
        bug(R::WslETernaryTrue, "the third operand is evaluated", E(|_, e| becomes(e, 2))),
        bug(R::WslETernaryFalse, "the second operand is evaluated", E(|_, e| becomes(e, 1))),
    ]
}

pub fn values() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(
            R::WslEVariable,
            "a name is bound to what stands behind",
            E(|cx, e| {
                expression::e_variable(cx, e)?;
                shifted(e)
            }),
        ),
        bug(
            R::WslELoad,
            "what is loaded is 0",
            E(|cx, e| {
                expression::e_load(cx, e)?;
                zeroed(e)
            }),
        ),
        bug(
            R::WslELoad,
            "an unspecified value is another at each use",
            E(|cx, e| {
                expression::e_load(cx, e)?;
                if let Form::Value(words) = &mut e.form {
                    for word in words.iter_mut().filter(|w| matches!(w, Word::Open(_))) {
                        *word = cx.opens.leaf(None, Scalar::Int, 0);
                    }
                }
                Ok(())
            }),
        ),
        bug(R::WslETakePtrReduce, "a null pointer is made", E(|_, e| null(e))),
        bug(
            R::WslETakePtrLval,
            "the pointer points behind",
            E(|cx, e| {
                expression::e_take_ptr_lval(cx, e)?;
                shifted(e)
            }),
        ),
        bug(
            R::WslEDerefPtr,
            "the left-value is behind",
            E(|cx, e| {
                expression::e_deref_ptr(cx, e)?;
                shifted(e)
            }),
        ),
        bug(R::WslEDerefReduce, "the pointer is not evaluated", E(|_, e| part(e, 0).map_or(Ok(()), null))),
        bug(
            R::WslEMakeRefLval,
            "the bound is 1",
            E(|cx, e| {
                if let Form::MakeReference(_, n) = &mut e.form {
                    *n = 1;
                }
                expression::e_make_ref_lval(cx, e)
            }),
        ),
        bug(
            R::WslEMakeRefLval,
            "the bound is one more",
            E(|cx, e| {
                if let Form::MakeReference(_, n) = &mut e.form {
                    *n += 1;
                }
                expression::e_make_ref_lval(cx, e)
            }),
        ),
        bug(
            R::WslEMakeRefReduce,
            "the bound is lost",
            E(|cx, e| {
                if let Form::MakeReference(_, n) = &mut e.form {
                    *n = 1;
                }
                expression::e_make_ref_reduce(cx, e)
            }),
        ),
        bug(
            R::WslEArrayLength,
            "an array has one element",
            E(|cx, e| {
                if let Form::ArrayLength(_, n) = &mut e.form {
                    *n = 1;
                }
                expression::e_array_length(cx, e)
            }),
        ),
        bug(
            R::WslEReferenceLength,
            "a reference has one element",
            E(|_, e| {
                e.form = scalar(1);
                Ok(())
            }),
        ),
    ]
}

pub fn accesses() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(R::WslEDotGetter, "no getter is called", E(|cx, e| zeros(cx, e))),
        bug(
            R::WslEArrayDerefGetter,
            "the index is 0",
            E(|cx, e| {
                assumed(e, 1, 0)?;
                expression::e_array_deref_getter(cx, e)
            }),
        ),
        bug(R::WslEDotReduce, "a field does not reduce to a left-value", L(|_, _| Ok(false))),
        bug(R::WslEArrayDerefReduce, "an element does not reduce to a left-value", L(|_, _| Ok(false))),
        bug(R::WslEFieldAddress, "every field is the first", E(|_, e| becomes(e, 0))),
        bug(
            R::WslEFieldAddress,
            "fields stand side by side",
            E(|_, e| {
                let field = match e.form {
                    Form::Call(Callee::Generated(Generated::FieldAddress(_, field, _)), _) => field,
                    _ => 0,
                };
                becomes(e, 0)?;
                if let Form::Value(words) = &mut e.form
                    && let Some(Word::Address(address)) = words.first_mut()
                {
                    *address = address.plus(4 * field);
                }
                Ok(())
            }),
        ),
        bug(
            R::WslEElementAddress,
            "the array has one element",
            E(|cx, e| {
                generated::e_element_address(cx, e)?;
                if let Some(Form::MakeReference(_, n)) = part(e, 0).and_then(|e| part(e, 0)).map(|e| &mut e.form) {
                    *n = 1;
                }
                Ok(())
            }),
        ),
        bug(R::WslEGeneratedGetter, "the part is 0", E(|cx, e| zeros(cx, e))),
        bug(
            R::WslEGeneratedGetter,
            "the whole is not stored",
            E(|cx, e| {
                if let Some(whole) = part(e, 0) {
                    zeroed(whole)?;
                }
                generated::e_generated_getter(cx, e)
            }),
        ),
        bug(R::WslEGeneratedSetter, "the whole is as before", E(|_, e| becomes(e, 0))),
        bug(
            R::WslEGeneratedSetter,
            "only the part is assigned",
            E(|cx, e| {
                if let Some(whole) = part(e, 0) {
                    zeroed(whole)?;
                }
                generated::e_generated_setter(cx, e)
            }),
        ),
    ]
}

/// `LVal(a + 4 i)`, or `LVal(a)`.
fn element(e: &mut Expr, stride: u32) -> Done {
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
    Ok(())
}

/// Out of bounds, that index.
fn clamped(e: &mut Expr, index: fn(u32) -> u32) -> Done {
    let Form::Element(parts) = &mut e.form else { return Ok(()) };
    if let Some(Word::Bits(length)) = parts[0].words().and_then(|w| w.get(1)).copied() {
        parts[1].form = scalar(index(length));
    }
    Ok(())
}

pub fn lefts() -> Vec<Bug> {
    use Rule as R;
    vec![
        bug(R::WslEAlvalDotAnder, "a field is the whole", E(|_, e| becomes(e, 0))),
        bug(
            R::WslEAlvalArrayAnder,
            "the index is 0",
            E(|cx, e| {
                assumed(e, 1, 0)?;
                left::e_alval_array_ander(cx, e)
            }),
        ),
        bug(
            R::WslEAlvalArrayRefReduce,
            "the index is evaluated before the array reference",
            E(|cx, e| match &mut e.form {
                Form::Element(parts) if parts[1].words().is_none() => cx.within(R::WslEAlvalArrayRefReduce, |cx| cx.expr(&mut parts[1])),
                _ => left::e_alval_array_ref_reduce(cx, e),
            }),
        ),
        bug(R::WslEAlvalArrayReduceRight, "the index is not evaluated", E(|_, e| assumed(e, 1, 0))),
        bug(R::WslEArrayRefClamped, "out of bounds is the first element", E(|_, e| clamped(e, |_| 0))),
        bug(R::WslEArrayRefClamped, "out of bounds is the last element", E(|_, e| clamped(e, |n| n - 1))),
        bug(
            R::WslEArrayRefClamped,
            "the bound may be met",
            E(|cx, e| {
                let Form::Element(parts) = &mut e.form else { return Ok(()) };
                let Some(Word::Bits(length)) = parts[0].words().and_then(|w| w.get(1)).copied() else { return Ok(()) };
                let values: Vec<u32> = (0..length.max(2) - 1).collect();
                let index = cx.opens.leaf(Some(&values), Scalar::Uint, 0);
                parts[1].form = Form::Value(Words::from_slice(&[index]));
                Ok(())
            }),
        ),
        bug(R::WslEArrayRefValid, "every element is the first", E(|_, e| element(e, 0))),
        bug(R::WslEArrayRefValid, "elements are 4 bytes apart", E(|_, e| element(e, 4))),
        bug(R::WslEAlvalGenericReduce, "what is to be a left-value is not evaluated", E(|_, e| null(e))),
        bug(R::WslEAlvalDotReduce, "the whole does not reduce to a left-value", L(|_, _| Ok(false))),
        bug(R::WslEAlvalArrayReduceLeft, "the array does not reduce to a left-value", L(|_, _| Ok(false))),
    ]
}
