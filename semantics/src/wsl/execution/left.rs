//! Reduction to an abstract left-value: seed 004 "Reduction to an abstract left-value".

use super::term::{Expr, Form};
use super::{Cx, Done, Replacement, Stop, pointee};
use crate::rule::Rule;
use crate::text::deep;
use crate::wsl::meaning::Lanes;
use crate::wsl::open::{Possible, Word};
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{Access, Coercion};

impl Cx<'_, '_> {
    /// One step of `e` to an abstract left-value; false if there is none: it is one already, or a
    /// value (ERRATA WSL-D3, WSL-D4).
    ///
    /// # Errors
    /// Why the thread stops.
    pub fn left(&mut self, e: &mut Expr) -> Result<bool, Stop> {
        deep(|| self.left_of(e))
    }

    /// Likewise, in the context of a rule, unless a bug stands in its place.
    pub(super) fn left_within(&mut self, rule: Rule, e: &mut Expr) -> Result<bool, Stop> {
        self.within.push(rule);
        let stepped = match self.shared.planted.rule {
            Some((planted, Replacement::Left(g))) if planted == rule => g(self, e)?,
            _ => self.left(e)?,
        };
        if !stepped {
            self.within.pop();
        }
        Ok(stepped)
    }

    fn left_of(&mut self, e: &mut Expr) -> Result<bool, Stop> {
        self.open(e);
        match &mut e.form {
            Form::Left(_) | Form::Value(_) => Ok(false),
            Form::Coerce(Coercion::LeftToAbstract, inner) => {
                if self.left(inner)? {
                    return Ok(true);
                }
                *e = inner.take();
                Ok(false)
            }
            Form::Parens(_) => self.apply(Rule::WslEParensExec, super::expression::e_parens_exec, e).map(|()| true),
            Form::Dot(whole, access) => {
                let access = *access;
                if e_alval_dot_reduce(self, whole)? {
                    return Ok(true);
                }
                match access {
                    Access::AddressTaker(_) => self.apply(Rule::WslEAlvalDotAnder, e_alval_dot_ander, e).map(|()| true),
                    _ => Ok(false),
                }
            }
            Form::Index(parts, access) => {
                let access = *access;
                if e_alval_array_reduce_left(self, &mut parts[0])? {
                    return Ok(true);
                }
                if parts[1].words().is_none() {
                    return self.apply(Rule::WslEAlvalArrayReduceRight, e_alval_array_reduce_right, e).map(|()| true);
                }
                match access {
                    Access::AddressTaker(_) => self.apply(Rule::WslEAlvalArrayAnder, e_alval_array_ander, e).map(|()| true),
                    _ => Ok(false),
                }
            }
            Form::Element(parts) => {
                let (rule, f): (Rule, fn(&mut Cx, &mut Expr) -> Done) = match (parts[0].words(), parts[1].words()) {
                    (None, _) => (Rule::WslEAlvalArrayRefReduce, e_alval_array_ref_reduce),
                    (_, None) => (Rule::WslEAlvalArrayReduceRight, e_alval_array_reduce_right),
                    (Some(reference), Some(index)) => {
                        let (Some(&length), Some(&index)) = (reference.get(1), index.first()) else {
                            return self.stuck("an array reference without length, or no index");
                        };
                        match self.is_below(index, length) {
                            true => (Rule::WslEArrayRefValid, e_array_ref_valid),
                            false => (Rule::WslEArrayRefClamped, e_array_ref_clamped),
                        }
                    }
                };
                self.apply(rule, f, e).map(|()| true)
            }
            _ => self.apply(Rule::WslEAlvalGenericReduce, e_alval_generic_reduce, e).map(|()| true),
        }
    }

    /// Whether an index is surely in bounds.
    fn is_below(&self, index: Word, length: Word) -> bool {
        match (self.opens.possible(index), self.opens.read(length)) {
            (Possible::Values(values), Word::Bits(n)) => values.iter().all(|&v| v < n),
            _ => false,
        }
    }
}

fn pointer_to(cx: &Cx, e: &Expr, space: crate::wsl::syntax::AddressSpace) -> TypeId {
    cx.program().env.types.find(Type::Pointer(space, e.ty)).unwrap_or(e.ty)
}

/// `* f(&e, …)`: what an address-taker gives, dereferenced.
fn through(cx: &Cx, e: &mut Expr, callee: crate::wsl::environment::access::Callee, whole: Expr, index: Option<Expr>) -> Done {
    let Some(address) = whole.left() else { return cx.stuck("an address-taker of no left-value") };
    let space = cx.memory.object(address.object).space;
    let (pointer, result) = (pointer_to(cx, &whole, space), pointer_to(cx, e, space));
    let at = e.at;
    let whole = Expr { at, ty: pointer, form: Form::AddressOf(Box::new(whole)) };
    let call = Form::Call(callee, std::iter::once(whole).chain(index).collect());
    e.form = Form::Dereference(Box::new(Expr { at, ty: result, form: call }));
    Ok(())
}

/// LVal(a).f → *operator&.f(&LVal(a)) [wsl/e-alval-dot-ander, 004 Reduction to an abstract
/// left-value 1.2]
pub fn e_alval_dot_ander(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Dot(whole, Access::AddressTaker(callee)) = &mut e.form else { return cx.stuck("no address-taker") };
    let (callee, whole) = (*callee, whole.take());
    through(cx, e, callee, whole, None)
}

/// LVal(a)\[v\] → *operator&\[\](&LVal(a), v) [wsl/e-alval-array-ander, 004 Reduction to an
/// abstract left-value 2.5]
pub fn e_alval_array_ander(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Index(parts, Access::AddressTaker(callee)) = &mut e.form else { return cx.stuck("no address-taker") };
    let [whole, index] = &mut **parts;
    let (callee, whole, index) = (*callee, whole.take(), index.take());
    through(cx, e, callee, whole, Some(index))
}

/// e1 → e1', e1 an array reference, gives e1\[e2\] → e1'\[e2\] [wsl/e-alval-array-ref-reduce, 004
/// Reduction to an abstract left-value 2.2]
pub fn e_alval_array_ref_reduce(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Element(parts) = &mut e.form else { return cx.stuck("no element") };
    cx.within(Rule::WslEAlvalArrayRefReduce, |cx| cx.expr(&mut parts[0]))
}

/// e2 → e2' gives v\[e2\] → v\[e2'\] [wsl/e-alval-array-reduce-right, 004 Reduction to an abstract
/// left-value 2.3]
pub fn e_alval_array_reduce_right(cx: &mut Cx, e: &mut Expr) -> Done {
    let (Form::Element(parts) | Form::Index(parts, _)) = &mut e.form else { return cx.stuck("no element") };
    cx.within(Rule::WslEAlvalArrayReduceRight, |cx| cx.expr(&mut parts[1]))
}

/// Ref(a, n)\[i\] → Ref(a, n)\[j\], i not below n, j unspecified but below n
/// [wsl/e-array-ref-clamped, 004 Reduction to an abstract left-value 2.4.2; WSL-D5]
pub fn e_array_ref_clamped(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Element(parts) = &mut e.form else { return cx.stuck("no element") };
    let [reference, index] = &mut **parts;
    let (Form::Value(reference), Form::Value(index)) = (&reference.form, &mut index.form) else { return cx.stuck("no element") };
    let Word::Bits(length) = cx.opens.read(reference[1]) else { return cx.stuck("the length of an array reference is not definite") };
    if length == 0 {
        return cx.stuck("an array reference has no elements");
    }
    index[0] = cx.opens.below(index[0], length, length);
    Ok(())
}

/// Ref(a, n)\[i\] → LVal(a + i · stride), i below n [wsl/e-array-ref-valid, 004 Reduction to an
/// abstract left-value 2.4.3]
pub fn e_array_ref_valid(cx: &mut Cx, e: &mut Expr) -> Done {
    let Form::Element(parts) = &mut e.form else { return cx.stuck("no element") };
    let (Form::Value(reference), Form::Value(index)) = (&parts[0].form, &parts[1].form) else { return cx.stuck("no element") };
    let Word::Address(address) = reference[0] else { return cx.stuck("an array reference without address") };
    let element = pointee(cx.program(), parts[0].ty).unwrap_or(e.ty);
    let stride = cx.shared.words(element)?.wrapping_mul(4);
    e.form = Form::Left(address.element(cx.opens, index[0], stride));
    Ok(())
}

/// e → e' where e is neither a left-value nor one of the forms above [wsl/e-alval-generic-reduce,
/// 004 Reduction to an abstract left-value 3; WSL-D3]
pub fn e_alval_generic_reduce(cx: &mut Cx, e: &mut Expr) -> Done {
    cx.within(Rule::WslEAlvalGenericReduce, |cx| cx.expr(e))
}

/// e1 reduced to an abstract left-value, e1', gives e1.f → e1'.f [wsl/e-alval-dot-reduce, 004
/// Reduction to an abstract left-value 1.1]
pub fn e_alval_dot_reduce(cx: &mut Cx, e: &mut Expr) -> Result<bool, Stop> {
    cx.left_within(Rule::WslEAlvalDotReduce, e)
}

/// e1 reduced to an abstract left-value, e1', gives e1\[e2\] → e1'\[e2\]
/// [wsl/e-alval-array-reduce-left, 004 Reduction to an abstract left-value 2.1]
pub fn e_alval_array_reduce_left(cx: &mut Cx, e: &mut Expr) -> Result<bool, Stop> {
    cx.left_within(Rule::WslEAlvalArrayReduceLeft, e)
}
