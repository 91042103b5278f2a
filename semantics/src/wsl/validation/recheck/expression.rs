//! Expressions against their premises: seed 004 "Typing expressions". Accesses and calls have their
//! own files.

use super::overload::ArgumentTypes;
use super::{Check, Recheck, refuse};
use crate::rule::Rule;
use crate::wsl::syntax::{AddressSpace, Fix};
use crate::wsl::types::{Type, TypeId, ValueType};
use crate::wsl::typing::program::{Coercion, Constant, Expr, ExprId, Form};

impl Recheck<'_> {
    pub(super) fn value_type(&self, e: ExprId) -> ValueType {
        self.program.expr(e).ty
    }

    /// The type of a premise that must be a right-value.
    pub(super) fn right(&self, node: &Expr, e: ExprId, what: &str) -> Check<TypeId> {
        match self.value_type(e) {
            ValueType::Right(ty) => Ok(ty),
            _ => refuse(Some(node.rule), node.span, format!("{what} is used as a right-value without a coercion")),
        }
    }

    pub(super) fn right_of(&self, node: &Expr, e: ExprId, ty: TypeId, what: &str) -> Check {
        let found = self.right(node, e, what)?;
        if found == ty {
            return Ok(());
        }
        let (found, needed) = (self.show(found), self.show(ty));
        refuse(Some(node.rule), node.span, format!("{what} has the type {found}; the rule needs {needed}"))
    }

    pub(super) fn target(&self, node: &Expr, e: ExprId) -> Check<TypeId> {
        match self.value_type(e) {
            ValueType::Abstract(ty) => Ok(ty),
            _ => refuse(Some(node.rule), node.span, "what is assigned to is no abstract left-value"),
        }
    }

    pub(super) fn concludes(&self, node: &Expr, ty: ValueType) -> Check {
        if node.ty == ty {
            return Ok(());
        }
        let text = |ty: ValueType| match ty {
            ValueType::Left(t, space) => format!("LVal({}, {})", self.show(t), space.keyword()),
            ValueType::Abstract(t) => format!("ALVal({})", self.show(t)),
            ValueType::Right(t) => self.show(t),
        };
        refuse(Some(node.rule), node.span, format!("it has the type {}; from its premises follows {}", text(node.ty), text(ty)))
    }

    fn is_copyable(&self, node: &Expr, ty: TypeId) -> Check {
        if self.is_reference(ty) || self.is_opaque(ty) {
            return refuse(Some(node.rule), node.span, format!("a value of type {} is neither assigned nor chosen", self.show(ty)));
        }
        Ok(())
    }

    /// Refuses samplers and textures as what a compound assignment, or a setter of a part, assigns.
    pub(super) fn assigns_values(&self, node: &Expr, ty: TypeId) -> Check {
        if self.is_opaque(ty) {
            return refuse(Some(node.rule), node.span, format!("a value of type {} is not assigned", self.show(ty)));
        }
        Ok(())
    }

    /// The value of an expression that is an integer literal without suffix, perhaps in
    /// parentheses. If `commas`, the literal may be the last operand of a comma expression.
    pub(super) fn literal(&self, mut e: ExprId, commas: bool) -> Option<Constant> {
        loop {
            let node = self.program.expr(e);
            e = match node.form {
                Form::Parens(inner) => inner,
                Form::Comma(_, second) if commas => second,
                Form::Constant(c) if node.rule == Rule::WslTLiteralInt => return Some(c),
                _ => return None,
            };
        }
    }

    pub(super) fn expression(&self, id: ExprId) -> Check {
        use ValueType::{Abstract, Left, Right};
        let node = self.program.expr(id);
        let (rule, span) = (node.rule, node.span);
        match (rule, &node.form) {
            (Rule::WslTLiteralTrue, Form::Constant(Constant::Bool(true)))
            | (Rule::WslTLiteralFalse, Form::Constant(Constant::Bool(false))) => self.concludes(node, Right(TypeId::BOOL))?,
            (Rule::WslTLiteralFloat, Form::Constant(Constant::Float(_))) => self.concludes(node, Right(TypeId::FLOAT))?,
            (Rule::WslTLiteralUint, Form::Constant(Constant::Uint(_))) => self.concludes(node, Right(TypeId::UINT))?,
            (Rule::WslTLiteralInt, Form::Constant(Constant::Int(_))) => self.concludes(node, Right(TypeId::INT))?,
            (Rule::WslTLiteralInt, Form::Constant(Constant::Uint(_))) => self.concludes(node, Right(TypeId::UINT))?,
            (Rule::WslTLiteralInt, Form::Constant(Constant::Float(bits))) => {
                let value = f32::from_bits(*bits);
                if value.is_nan() || value.is_finite() && value.fract() != 0.0 {
                    return refuse(Some(rule), span, "an integer literal is no whole number");
                }
                self.concludes(node, Right(TypeId::FLOAT))?
            }
            (Rule::WslTDotEnum, Form::Constant(Constant::Element(_))) => match node.ty {
                // `shape` has checked that the enum has the element.
                Right(ty) if matches!(self.ty(ty), Type::Enum(_)) => {}
                _ => return refuse(Some(rule), span, "an enum's element is a right-value of the enum"),
            },
            (Rule::WslTVariableName, Form::Variable(store)) => {
                let store = self.program.store(*store);
                self.concludes(node, Left(store.ty, store.space))?
            }
            (Rule::WslTParens, Form::Parens(e)) => self.concludes(node, self.value_type(*e))?,
            (Rule::WslTComma, Form::Comma(a, b)) => {
                self.right(node, *a, "the first operand")?;
                let ty = self.right(node, *b, "the second operand")?;
                self.concludes(node, Right(ty))?
            }
            (Rule::WslTOr, Form::Or(a, b)) | (Rule::WslTAnd, Form::And(a, b)) => {
                self.right_of(node, *a, TypeId::BOOL, "the left operand")?;
                self.right_of(node, *b, TypeId::BOOL, "the right operand")?;
                self.concludes(node, Right(TypeId::BOOL))?
            }
            (Rule::WslTTernaryIntLiterals | Rule::WslTTernaryNoIntLiterals, Form::Ternary(c, a, b)) => self.ternary(node, *c, *a, *b)?,
            (Rule::WslTAssignment, Form::Assign(a, b)) => {
                let ty = self.target(node, *a)?;
                self.right_of(node, *b, ty, "the right side")?;
                self.is_copyable(node, ty)?;
                self.concludes(node, Right(ty))?
            }
            (Rule::WslTAlvalToRval, Form::Coerce(Coercion::AbstractToRight, e)) => {
                let ty = self.target(node, *e)?;
                self.concludes(node, Right(ty))?
            }
            (Rule::WslTLvalToAlval, Form::Coerce(Coercion::LeftToAbstract, e)) => match self.value_type(*e) {
                Left(ty, space) if space != AddressSpace::Constant => self.concludes(node, Abstract(ty))?,
                _ => return refuse(Some(rule), span, "only a left-value outside constant memory can be assigned to"),
            },
            (Rule::WslTLvalToRval, Form::Coerce(Coercion::LeftToRight, e)) => {
                let (ty, _) = self.left(node, *e)?;
                self.concludes(node, Right(ty))?
            }
            (Rule::WslTAddressTaking, Form::AddressOf(e)) => {
                let (ty, space) = self.left(node, *e)?;
                self.concludes_made(node, Type::Pointer(space, ty))?
            }
            (Rule::WslTPtrDeref, Form::Dereference(e)) => match self.ty(self.right(node, *e, "the operand")?) {
                Type::Pointer(space, ty) => self.concludes(node, Left(ty, space))?,
                _ => return refuse(Some(rule), span, "the operand is no pointer"),
            },
            (Rule::WslTTakeRefLval, Form::MakeReference(e, size)) => {
                let (ty, space) = self.left(node, *e)?;
                let (of, known) = match self.ty(ty) {
                    Type::Array(of, n) => (of, Some(n)),
                    _ => (ty, None),
                };
                if known != *size {
                    return refuse(Some(rule), span, "the number of elements is not that of the array");
                }
                self.concludes_made(node, Type::ArrayReference(space, of))?
            }
            (Rule::WslTDotAddressTaker | Rule::WslTDotSetter | Rule::WslTDotGetter, Form::Dot(e, field, access)) => {
                self.dot(node, *e, *field, *access)?
            }
            (Rule::WslTIndexAddressTaker | Rule::WslTIndexSetter | Rule::WslTIndexGetter, Form::Index(e, index, access)) => {
                self.index(node, *e, *index, *access)?
            }
            (Rule::WslTArrayRefIndex, Form::Element(e, index)) => {
                self.right_of(node, *index, TypeId::UINT, "the index")?;
                match self.ty(self.right(node, *e, "the array reference")?) {
                    Type::ArrayReference(space, of) => self.concludes(node, Left(of, space))?,
                    _ => return refuse(Some(rule), span, "the operand is no array reference"),
                }
            }
            (Rule::WslTLengthArray, Form::ArrayLength(e, n)) => {
                let (Left(ty, _) | Abstract(ty) | Right(ty)) = self.value_type(*e);
                if !matches!(self.ty(ty), Type::Array(_, size) if size == *n) {
                    return refuse(Some(rule), span, format!("a {} has no {n} elements", self.show(ty)));
                }
                self.concludes(node, Right(TypeId::UINT))?
            }
            (Rule::WslTLengthReference, Form::ReferenceLength(e)) => {
                if !matches!(self.ty(self.right(node, *e, "the operand")?), Type::ArrayReference(..)) {
                    return refuse(Some(rule), span, "the operand is no array reference");
                }
                self.concludes(node, Right(TypeId::UINT))?
            }
            (Rule::WslTPostfixIncr | Rule::WslTPrefixIncr, Form::Step(step, fix, e, callee, store)) => {
                let ty = self.target(node, *e)?;
                match (rule, fix, store) {
                    (Rule::WslTPostfixIncr, Fix::Postfix, Some(store)) => {
                        let store = self.program.store(*store);
                        if store.ty != ty || store.space != AddressSpace::Thread {
                            return refuse(Some(rule), span, "the old value is kept in a store of another type");
                        }
                    }
                    (Rule::WslTPrefixIncr, Fix::Prefix, None) => {}
                    _ => return refuse(Some(rule), span, "the rule, the place of the operator and its store do not agree"),
                }
                self.assigns_values(node, ty)?;
                let operands = [ArgumentTypes::Typed(ty)];
                self.resolves(node, *callee, Some(step.function()), &operands, &[ty], ty)?;
                self.concludes(node, Right(ty))?
            }
            (Rule::WslTOperatorPlusEqual, Form::CompoundAssign(callee, a, b)) => {
                let ty = self.target(node, *a)?;
                self.assigns_values(node, ty)?;
                let second = self.right(node, *b, "the right side")?;
                let operands = [ArgumentTypes::Typed(ty), self.argument_types(*b)];
                self.resolves(node, *callee, None, &operands, &[ty, second], ty)?;
                self.is_compound(node, *callee)?;
                self.concludes(node, Right(ty))?
            }
            (Rule::WslTCall | Rule::WslTCallLiterals, Form::Call(callee, range)) => {
                self.call(node, *callee, self.program.arguments(range))?
            }
            _ => return refuse(Some(rule), span, "the rule does not conclude anything of this form"),
        }
        let discards = self.program.children(id).iter().any(|e| self.program.expr(*e).discards)
            || self.calls(id).into_iter().any(|c| self.discards(c));
        if discards != node.discards {
            return refuse(Some(rule), span, "whether it may discard does not follow from its premises and what it calls");
        }
        Ok(())
    }

    fn ternary(&self, node: &Expr, c: ExprId, a: ExprId, b: ExprId) -> Check {
        self.right_of(node, c, TypeId::BOOL, "the condition")?;
        let ty = self.right(node, a, "the second operand")?;
        self.right_of(node, b, ty, "the third operand")?;
        let literals = self.literal(a, false).is_some() && self.literal(b, false).is_some();
        if literals != (node.rule == Rule::WslTTernaryIntLiterals) {
            return refuse(Some(node.rule), node.span, "the other rule is for these operands");
        }
        if literals && ty != TypeId::INT {
            return refuse(Some(node.rule), node.span, "two integer literals are of type int here");
        }
        self.is_copyable(node, ty)?;
        self.concludes(node, ValueType::Right(ty))
    }

    pub(super) fn left(&self, node: &Expr, e: ExprId) -> Check<(TypeId, AddressSpace)> {
        match self.value_type(e) {
            ValueType::Left(ty, space) => Ok((ty, space)),
            _ => refuse(Some(node.rule), node.span, "the operand is no left-value"),
        }
    }

    fn concludes_made(&self, node: &Expr, ty: Type) -> Check {
        match node.ty {
            ValueType::Right(found) if self.ty(found) == ty => Ok(()),
            _ => refuse(Some(node.rule), node.span, format!("from its premises follows {ty:?}")),
        }
    }
}
