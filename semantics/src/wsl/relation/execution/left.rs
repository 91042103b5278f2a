//! Reduction to an abstract left-value: seed 004 "Reduction to an abstract left-value".

use super::next::conclude;
use super::table::{Function::Left as L, Row, Shape};
use super::term::{Expr, Form};
use super::{Cx, Next, pointee};
use crate::rule::Rule;
use crate::text::deep;
use crate::wsl::environment::access::Callee;
use crate::wsl::meaning::Evaluator;
use crate::wsl::memory::Words;
use crate::wsl::open::Word;
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{Access, Coercion, ExprId, Form as Typed, Program};

/// The rules of this section.
pub(super) const RULES: &[Row] = &[
    (Rule::WslEAlvalDotReduce, L(&[Shape::Dot], e_alval_dot_reduce)),
    (Rule::WslEAlvalDotAnder, L(&[Shape::Dot], e_alval_dot_ander)),
    (Rule::WslEAlvalArrayReduceLeft, L(&[Shape::Index], e_alval_array_reduce_left)),
    (Rule::WslEAlvalArrayRefReduce, L(&[Shape::Element], e_alval_array_ref_reduce)),
    (Rule::WslEAlvalArrayReduceRight, L(&[Shape::Index, Shape::Element], e_alval_array_reduce_right)),
    (Rule::WslEAlvalArrayAnder, L(&[Shape::Index], e_alval_array_ander)),
    (Rule::WslEArrayRefValid, L(&[Shape::Element], e_array_ref_valid)),
    (Rule::WslEArrayRefClamped, L(&[Shape::Element], e_array_ref_clamped)),
    (
        Rule::WslEAlvalGenericReduce,
        L(
            &[
                Shape::Variable,
                Shape::Load,
                Shape::GetterAccess,
                Shape::Comma,
                Shape::Or,
                Shape::And,
                Shape::Ternary,
                Shape::Assign,
                Shape::AddressOf,
                Shape::Dereference,
                Shape::MakeReference,
                Shape::ArrayLength,
                Shape::ReferenceLength,
                Shape::Step,
                Shape::CompoundAssign,
                Shape::CallDeclared,
                Shape::CallAddress,
                Shape::CallAccessor,
                Shape::CallBarrier,
                Shape::CallAtomic,
                Shape::CallDerivative,
                Shape::CallTexture,
                Shape::CallLibrary,
                Shape::Construct,
            ],
            e_alval_generic_reduce,
        ),
    ),
];

/// Whether an expression cannot be reduced any further to an abstract left-value. It is a
/// left-value, a value, or the result of a getter or setter access to one of these.
pub(super) fn is_reduced(program: &Program, e: &Expr) -> bool {
    match &e.form {
        Form::Left(_) | Form::Value(_) => true,
        Form::Source(id) => is_reduced_source(program, *id),
        Form::Dot(whole, Access::Setter(..) | Access::Getter(_)) => deep(|| is_reduced(program, whole)),
        Form::Index(parts, Access::Setter(..) | Access::Getter(_)) => parts[1].words().is_some() && deep(|| is_reduced(program, &parts[0])),
        _ => false,
    }
}

/// [`is_reduced`] for a source expression that is not reached yet. A literal counts as a value.
fn is_reduced_source(program: &Program, id: ExprId) -> bool {
    let literal = |id: ExprId| matches!(program.expr(id).form, Typed::Constant(_));
    match program.expr(id).form {
        Typed::Constant(_) => true,
        Typed::Dot(whole, _, Access::Getter(_)) => deep(|| is_reduced_source(program, whole)),
        Typed::Index(whole, index, Access::Getter(_)) => literal(index) && deep(|| is_reduced_source(program, whole)),
        _ => false,
    }
}

/// Whether an expression is an abstract left-value.
pub(super) fn is_abstract(program: &Program, e: &Expr) -> bool {
    match &e.form {
        Form::Left(_) => true,
        Form::Dot(_, Access::Setter(..)) | Form::Index(_, Access::Setter(..)) => is_reduced(program, e),
        _ => false,
    }
}

/// The words of the array reference and of the index in an element access, once both are values.
fn element(e: &Expr) -> Option<(&Words, &Words)> {
    match &e.form {
        Form::Element(parts) => Some((parts[0].words()?, parts[1].words()?)),
        _ => None,
    }
}

impl Cx<'_, '_> {
    /// Whether an index is certainly within bounds.
    fn is_below(&self, index: Word, length: Word) -> bool {
        let Word::Bits(length) = self.opens.read(length) else { return false };
        match self.opens.read(index) {
            Word::Bits(index) => index < length,
            index => self.opens.values(index).is_some_and(|values| values.iter().all(|&v| v < length)),
        }
    }

    /// `* f(&e, …)`: the result of an address-taker, dereferenced.
    fn through_address_taker(&self, e: &Expr, callee: Callee, whole: &Expr, index: Option<Expr>) -> Option<Next> {
        let space = self.memory.object(whole.left()?.object).space;
        let pointer_to = |e: &Expr| -> TypeId { self.program().env.types.find(Type::Pointer(space, e.ty)).unwrap_or(e.ty) };
        let (pointer, result) = (pointer_to(whole), pointer_to(e));
        let at = e.at;
        let whole = Expr { at, ty: pointer, form: Form::AddressOf(Box::new(whole.clone())) };
        let call = Form::Call(callee, std::iter::once(whole).chain(index).collect());
        Some(Next::form(e, Form::Dereference(Box::new(Expr { at, ty: result, form: call }))))
    }
}

/// LVal(a).f → *operator&.f(&LVal(a)) [wsl/e-alval-dot-ander, 004 Reduction to an abstract
/// left-value 1.2]
pub fn e_alval_dot_ander(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Dot(whole, Access::AddressTaker(callee)) = &e.form else { return None };
    cx.through_address_taker(e, *callee, whole, None)
}

/// LVal(a)\[v\] → *operator&\[\](&LVal(a), v) [wsl/e-alval-array-ander, 004 Reduction to an
/// abstract left-value 2.5]
pub fn e_alval_array_ander(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Index(parts, Access::AddressTaker(callee)) = &e.form else { return None };
    parts[1].words()?;
    cx.through_address_taker(e, *callee, &parts[0], Some(parts[1].clone()))
}

/// e1 → e1', e1 an array reference, gives e1\[e2\] → e1'\[e2\] [wsl/e-alval-array-ref-reduce, 004
/// Reduction to an abstract left-value 2.2]
pub fn e_alval_array_ref_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Element(parts) = &e.form else { return None };
    cx.expr(&parts[0])?.inside(Rule::WslEAlvalArrayRefReduce, 0)
}

/// e2 → e2' gives v\[e2\] → v\[e2'\] [wsl/e-alval-array-reduce-right, 004 Reduction to an abstract
/// left-value 2.3]
pub fn e_alval_array_reduce_right(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let parts = match &e.form {
        Form::Element(parts) if parts[0].words().is_some() => parts,
        Form::Index(parts, _) if is_reduced(cx.program(), &parts[0]) => parts,
        _ => return None,
    };
    cx.expr(&parts[1])?.inside(Rule::WslEAlvalArrayReduceRight, 1)
}

/// Ref(a, n)\[i\] → Ref(a, n)\[j\], i not below n, j unspecified but below n
/// [wsl/e-array-ref-clamped, 004 Reduction to an abstract left-value 2.4.2; WSL-D5]
pub fn e_array_ref_clamped(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let (reference, index) = element(e)?;
    let (Form::Element(parts), Word::Bits(length)) = (&e.form, cx.opens.read(*reference.get(1)?)) else { return None };
    let i = *index.first()?;
    // If the length is 0, no index is in bounds.
    if length == 0 || cx.is_below(i, Word::Bits(length)) {
        return None;
    }
    let mut j = index.clone();
    j[0] = cx.opens.below(i, length, length);
    let j = Expr { at: parts[1].at, ty: parts[1].ty, form: Form::Value(j) };
    Some(Next::form(e, Form::Element(Box::new([parts[0].clone(), j]))))
}

/// Ref(a, n)\[i\] → LVal(a + i · stride), i below n [wsl/e-array-ref-valid, 004 Reduction to an
/// abstract left-value 2.4.3]
pub fn e_array_ref_valid(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let (reference, index) = element(e)?;
    let (Form::Element(parts), Word::Address(address)) = (&e.form, *reference.first()?) else { return None };
    let i = *index.first()?;
    if !cx.is_below(i, *reference.get(1)?) {
        return None;
    }
    let element = pointee(cx.program(), parts[0].ty).unwrap_or(e.ty);
    conclude(|| {
        let stride = cx.shared.words(element)?.wrapping_mul(4);
        Ok(Next::form(e, Form::Left(address.element(cx.opens, i, stride))))
    })
}

/// e → e' where e is neither a left-value nor one of the forms above [wsl/e-alval-generic-reduce,
/// 004 Reduction to an abstract left-value 3; WSL-D3]
pub fn e_alval_generic_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    match e.form {
        Form::Left(_) | Form::Value(_) | Form::Source(_) | Form::Coerce(Coercion::LeftToAbstract, _) => None,
        Form::Parens(_) | Form::Dot(..) | Form::Index(..) | Form::Element(_) => None,
        _ => cx.expr(e)?.within(Rule::WslEAlvalGenericReduce),
    }
}

/// e1 reduced to an abstract left-value, e1', gives e1.f → e1'.f [wsl/e-alval-dot-reduce, 004
/// Reduction to an abstract left-value 1.1]
pub fn e_alval_dot_reduce(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Dot(whole, _) = &e.form else { return None };
    cx.left(whole)?.inside(Rule::WslEAlvalDotReduce, 0)
}

/// e1 reduced to an abstract left-value, e1', gives e1\[e2\] → e1'\[e2\]
/// [wsl/e-alval-array-reduce-left, 004 Reduction to an abstract left-value 2.1]
pub fn e_alval_array_reduce_left(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let Form::Index(parts, _) = &e.form else { return None };
    cx.left(&parts[0])?.inside(Rule::WslEAlvalArrayReduceLeft, 0)
}
