//! Expressions, except operators: seed 003 "Expressions", in WSL's order of evaluation.

use super::emit::Id;
use super::place::{Extent, Place, Value, VariableMeaning};
use super::{Compiler, Construct, Done};
use rspirv::spirv::Op;
use smallstep_semantics::rule::Rule;
use smallstep_semantics::text::deep;
use smallstep_semantics::wsl::environment::access::{Callee, Generated};
use smallstep_semantics::wsl::library::Meaning;
use smallstep_semantics::wsl::syntax::Fix;
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId, ValueType};
use smallstep_semantics::wsl::typing::program::{Access, Coercion, Constant, ExprId, Form};

/// An assignable expression after its reduction, which happens once.
#[derive(Debug)]
pub(super) enum Target {
    /// A place in memory.
    Place(Place),
    /// A part of another target. A getter reads it, and a setter makes a changed whole.
    Part(Box<Part>),
    /// The whole of a part that is being dropped.
    Dropped,
}

/// A part of a target that has no address.
#[derive(Debug)]
pub(super) struct Part {
    whole: Target,
    whole_ty: TypeId,
    setter: Callee,
    getter: Callee,
    index: Option<Id>,
    ty: TypeId,
}

impl Drop for Part {
    fn drop(&mut self) {
        // Parts nest as deeply as the program's expressions. So the drop is not recursive.
        let mut rest = std::mem::replace(&mut self.whole, Target::Dropped);
        while let Target::Part(mut part) = rest {
            rest = std::mem::replace(&mut part.whole, Target::Dropped);
        }
    }
}

impl Compiler<'_> {
    /// Evaluates an expression to its right-value.
    pub(super) fn value(&mut self, id: ExprId) -> Done<Value> {
        self.check_room()?;
        let value = deep(|| self.value_of(id))?;
        if let (Some(witness), Value::Id(result)) = (&mut self.witness, &value) {
            let expr = self.program.expr(id);
            witness.push(super::Witness { span: expr.span, ty: Some(expr.ty.right()), id: *result, rule: self.e.rule_of(*result) });
        }
        Ok(value)
    }

    /// Evaluates an expression to its right-value, which is a SPIR-V value.
    pub(super) fn id(&mut self, id: ExprId) -> Done<Id> {
        match self.value(id)? {
            Value::Id(id) => Ok(id),
            Value::Void => self.unforeseen("an expression without value here"),
            Value::Pointer(_) | Value::Reference(..) | Value::Address(_) => self.unforeseen("a pointer or array reference here"),
            Value::Texture(_) | Value::Sampler(_) | Value::Record(_) => self.unforeseen("a texture or sampler here"),
        }
    }

    /// The content of a left-value, if the compiler knows all values of its type.
    fn known_content(&mut self, e: ExprId) -> Done<Option<Value>> {
        if !self.is_known(self.program.expr(e).ty.right()) {
            return Ok(None);
        }
        match self.part(e)? {
            Some(meaning @ (VariableMeaning::Known(_) | VariableMeaning::Record(_))) => self.value_of_meaning(meaning).map(Some),
            Some(VariableMeaning::Variable(_)) | None => Ok(None),
        }
    }

    fn value_of(&mut self, id: ExprId) -> Done<Value> {
        let program = self.program;
        let expr = program.expr(id);
        self.span = expr.span;
        let ty = expr.ty.right();
        match &expr.form {
            Form::Constant(constant) => self.constant(*constant, ty).map(Value::Id),
            Form::Coerce(Coercion::LeftToRight, e) => self.left_to_right(*e, ty),
            Form::Coerce(Coercion::AbstractToRight, e) => {
                let target = self.target(*e)?;
                self.read(&target).map(Value::Id)
            }
            Form::Parens(e) => self.value(*e),
            Form::Comma(a, b) => {
                self.value(*a)?;
                self.value(*b)
            }
            Form::Or(a, b) => self.logic(*a, *b, true).map(Value::Id),
            Form::And(a, b) => self.logic(*a, *b, false).map(Value::Id),
            Form::Ternary(e, then, or) => self.conditional(*e, *then, *or, ty),
            Form::Assign(e1, e2) => {
                let target = self.target(*e1)?;
                let value = self.id(*e2)?;
                self.assign(&target, value)?;
                Ok(Value::Id(value))
            }
            Form::AddressOf(e) => match self.known_content(*e)? {
                Some(value) => Ok(Value::Address(Box::new(value))),
                None => self.place(*e).map(Value::Pointer),
            },
            Form::MakeReference(e, size) => {
                let place = self.place(*e)?;
                Ok(Value::Reference(place, size.map_or(Extent::Single, Extent::Array)))
            }
            Form::Dot(e, _, Access::Getter(Callee::Generated(Generated::FieldGetter(_, field))))
                if self.is_known(program.expr(*e).ty.right()) =>
            {
                match self.value(*e)? {
                    Value::Record(mut fields) if (*field as usize) < fields.len() => Ok(fields.swap_remove(*field as usize)),
                    _ => self.unforeseen("a field of this"),
                }
            }
            Form::Dot(e, _, Access::Getter(Callee::Declared(f))) => {
                let whole = self.value(*e)?;
                self.span = expr.span;
                self.call(*f, vec![whole])
            }
            Form::Index(e1, e2, Access::Getter(Callee::Declared(f))) => {
                let whole = self.value(*e1)?;
                let index = self.value(*e2)?;
                self.span = expr.span;
                self.call(*f, vec![whole, index])
            }
            Form::Dot(e, _, Access::Getter(getter)) => {
                let whole = self.id(*e)?;
                self.span = expr.span;
                self.get(*getter, whole, program.expr(*e).ty.right(), None, ty).map(Value::Id)
            }
            Form::Index(e1, e2, Access::Getter(getter)) => {
                let (whole, index) = (self.id(*e1)?, self.id(*e2)?);
                self.span = expr.span;
                self.get(*getter, whole, program.expr(*e1).ty.right(), Some(index), ty).map(Value::Id)
            }
            Form::ArrayLength(e, n) => {
                match program.expr(*e).ty {
                    // The array is not loaded, but the expression is evaluated for its effects.
                    ValueType::Left(..) => _ = self.place(*e)?,
                    ValueType::Abstract(_) => {
                        let target = self.target(*e)?;
                        self.read(&target)?;
                    }
                    ValueType::Right(_) => _ = self.value(*e)?,
                }
                Ok(Value::Id(self.uint_constant(*n)))
            }
            Form::ReferenceLength(e) => match self.value(*e)? {
                Value::Reference(place, extent) => self.length(&place, extent).map(Value::Id),
                _ => self.unforeseen("the length of this"),
            },
            Form::Step(_, fix, e, operator, _) => self.step(*fix, *e, *operator, ty).map(Value::Id),
            Form::CompoundAssign(operator, e1, e2) => {
                // `e1` is read before `e2` is evaluated.
                let target = self.target(*e1)?;
                let left = self.read(&target)?;
                let right = self.id(*e2)?;
                self.span = expr.span;
                let right_ty = program.expr(*e2).ty.right();
                let value = self.operate(*operator, &[(left, ty), (right, right_ty)], ty)?;
                self.assign(&target, value)?;
                Ok(Value::Id(value))
            }
            Form::Call(callee, range) => {
                let arguments = program.arguments(range);
                let mut values = Vec::with_capacity(arguments.len());
                for e in arguments {
                    values.push(self.value(*e)?);
                }
                self.span = expr.span;
                match *callee {
                    Callee::Declared(f) => self.call(f, values),
                    Callee::Library(f) => {
                        let types: Vec<TypeId> = arguments.iter().map(|e| program.expr(*e).ty.right()).collect();
                        self.call_of_library(f, &values, &types, ty)
                    }
                    Callee::Generated(_) => self.unforeseen("a call of a generated function by its name"),
                }
            }
            Form::Variable(_) | Form::Dereference(_) | Form::Element(..) | Form::Coerce(Coercion::LeftToAbstract, _) => {
                self.unforeseen("this expression as a right-value")
            }
            Form::Dot(..) | Form::Index(..) => self.unforeseen("this access as a right-value"),
        }
    }

    /// A literal, or an element of an enum.
    pub(super) fn constant(&mut self, constant: Constant, ty: TypeId) -> Done<Id> {
        Ok(match constant {
            Constant::Bool(truth) => self.truth_constant(truth),
            Constant::Int(i) => self.scalar_constant(Scalar::Int, i as u32),
            Constant::Uint(bits) => self.scalar_constant(Scalar::Uint, bits),
            Constant::Float(bits) => self.scalar_constant(Scalar::Float, bits),
            Constant::Element(_) => {
                let bits = self.constant_bits(constant, ty);
                let base = self.ty(ty)?;
                self.e.constant(base, bits)
            }
        })
    }

    /// The bits of a constant of that type.
    pub(super) fn constant_bits(&self, constant: Constant, ty: TypeId) -> u32 {
        match constant {
            Constant::Bool(truth) => truth.into(),
            Constant::Int(i) => i as u32,
            Constant::Uint(bits) | Constant::Float(bits) => bits,
            Constant::Element(index) => match self.program.env.types.get(ty) {
                Type::Enum(id) => self.program.env.enumeration(id).elements.get(index as usize).map_or(0, |(_, bits)| *bits),
                _ => 0,
            },
        }
    }

    /// Reads the content of a left-value.
    fn left_to_right(&mut self, e: ExprId, ty: TypeId) -> Done<Value> {
        if let Some(value) = self.known_content(e)? {
            return Ok(value);
        }
        if self.is_known(ty) {
            // An element of an array reference to a pointer, texture or sampler has no place.
            self.place(e)?;
            return self.unforeseen("a pointer or array reference that is loaded");
        }
        let place = self.place(e)?;
        let value = self.load(&place)?;
        self.valid(value, ty).map(Value::Id)
    }

    /// `&&` and `||`. The right operand is evaluated only if the left operand does not decide.
    fn logic(&mut self, a: ExprId, b: ExprId, or: bool) -> Done<Id> {
        let (rule, op) = if or { (Rule::CodegenLogicalOr, Op::LogicalOr) } else { (Rule::CodegenLogicalAnd, Op::LogicalAnd) };
        let left = self.id(a)?;
        if self.e.is_letter(rule) {
            let (right, ty) = (self.id(b)?, self.scalar(Scalar::Bool));
            return Ok(self.e.op(op, ty, &[left, right]));
        }
        let (right, merge, from) = (self.e.fresh(), self.e.fresh(), self.e.body.block);
        let saved = self.e.enter(rule);
        self.e.effect(Op::SelectionMerge, &[merge, 0]);
        self.e.end(Op::BranchConditional, &if or { [left, merge, right] } else { [left, right, merge] });
        self.e.begin(right);
        let value = self.id(b)?;
        self.e.enter(rule);
        let end = self.e.body.block;
        self.e.branch(merge);
        self.e.begin(merge);
        let ty = self.scalar(Scalar::Bool);
        let id = self.e.op(Op::Phi, ty, &[left, from, value, end]);
        self.e.rule = saved;
        Ok(id)
    }

    /// `e ? e1 : e2`. Only one of `e1` and `e2` is evaluated.
    fn conditional(&mut self, e: ExprId, then: ExprId, or: ExprId, ty: TypeId) -> Done<Value> {
        let condition = self.id(e)?;
        if self.e.is_letter(Rule::CodegenConditional) {
            let (then, or, ty) = (self.id(then)?, self.id(or)?, self.ty(ty)?);
            return Ok(Value::Id(self.e.op(Op::Select, ty, &[condition, then, or])));
        }
        let (yes, no, merge) = (self.e.fresh(), self.e.fresh(), self.e.fresh());
        let saved = self.e.enter(Rule::CodegenConditional);
        self.e.effect(Op::SelectionMerge, &[merge, 0]);
        self.e.end(Op::BranchConditional, &[condition, yes, no]);
        let mut sides = Vec::new();
        for (label, side) in [(yes, then), (no, or)] {
            self.e.begin(label);
            let value = self.value(side)?;
            self.e.enter(Rule::CodegenConditional);
            match value {
                Value::Void => {}
                Value::Id(id) => sides.extend([id, self.e.body.block]),
                _ => return self.unforeseen("a choice between pointers or array references"),
            }
            self.e.branch(merge);
        }
        self.e.begin(merge);
        let value = if sides.is_empty() {
            Value::Void
        } else {
            let ty = self.ty(ty)?;
            Value::Id(self.e.op(Op::Phi, ty, &sides))
        };
        self.e.rule = saved;
        Ok(value)
    }

    /// Reduces an expression to an abstract left-value. Addresses and indices are evaluated from
    /// left to right.
    pub(super) fn target(&mut self, id: ExprId) -> Done<Target> {
        deep(|| self.target_of(id))
    }

    fn target_of(&mut self, id: ExprId) -> Done<Target> {
        let program = self.program;
        let expr = program.expr(id);
        self.span = expr.span;
        let ty = expr.ty.right();
        match &expr.form {
            Form::Parens(e) => self.target(*e),
            Form::Coerce(Coercion::LeftToAbstract, _) if self.is_known(ty) => {
                self.refuse(Construct::Change, "an assignment of a pointer or array reference, or of a structure with one")
            }
            Form::Coerce(Coercion::LeftToAbstract, e) => self.place(*e).map(Target::Place),
            Form::Dot(e, _, Access::Setter(setter, getter)) => {
                let (whole, whole_ty) = (self.target(*e)?, program.expr(*e).ty.right());
                let part = Part { whole, whole_ty, setter: *setter, getter: *getter, index: None, ty };
                Ok(Target::Part(Box::new(part)))
            }
            Form::Index(e1, e2, Access::Setter(setter, getter)) => {
                let (whole, whole_ty) = (self.target(*e1)?, program.expr(*e1).ty.right());
                let index = Some(self.id(*e2)?);
                let part = Part { whole, whole_ty, setter: *setter, getter: *getter, index, ty };
                Ok(Target::Part(Box::new(part)))
            }
            _ => self.unforeseen("this expression as something to assign to"),
        }
    }

    /// Reads the value of a target.
    pub(super) fn read(&mut self, target: &Target) -> Done<Id> {
        self.check_room()?;
        deep(|| match target {
            Target::Place(place) => {
                let value = self.load(place)?;
                self.valid(value, place.ty)
            }
            Target::Part(part) => {
                let whole = self.read(&part.whole)?;
                self.get(part.getter, whole, part.whole_ty, part.index, part.ty)
            }
            Target::Dropped => self.unforeseen("this left-value"),
        })
    }

    /// Assigns to a target. A part is assigned by its setter, whose result is assigned to
    /// the whole.
    pub(super) fn assign(&mut self, target: &Target, value: Id) -> Done {
        deep(|| match target {
            Target::Place(place) => self.store(Rule::CodegenStore, place, value),
            Target::Part(part) => {
                let whole = self.read(&part.whole)?;
                let whole = self.set(part, whole, value)?;
                self.assign(&part.whole, whole)
            }
            Target::Dropped => self.unforeseen("this left-value"),
        })
    }

    /// The result of a getter.
    fn get(&mut self, getter: Callee, whole: Id, whole_ty: TypeId, index: Option<Id>, ty: TypeId) -> Done<Id> {
        match (getter, index) {
            (Callee::Declared(f), _) => {
                let arguments = [Some(whole), index].into_iter().flatten().map(Value::Id).collect();
                let value = self.call(f, arguments)?;
                self.only_id(value)
            }
            (Callee::Generated(Generated::FieldGetter(_, field)), _) => {
                let (of, saved) = (self.ty(ty)?, self.e.enter(Rule::CodegenField));
                let value = self.e.op(Op::CompositeExtract, of, &[whole, field]);
                self.e.rule = saved;
                self.valid(value, ty)
            }
            (Callee::Generated(Generated::ElementGetter(_)), Some(index)) => {
                let copy = self.copied(whole, whole_ty)?;
                let place = self.element(copy, index, ty)?;
                let value = self.load(&place)?;
                self.valid(value, ty)
            }
            (Callee::Generated(Generated::Getter(f)), index) => {
                let copy = self.copied(whole, whole_ty)?;
                let place = self.place_by_address_taker(Callee::Declared(f), copy, index, ty)?;
                let value = self.load(&place)?;
                self.valid(value, ty)
            }
            (Callee::Library(f), index) => {
                let (values, types): (Vec<Value>, Vec<TypeId>) =
                    [Some((Value::Id(whole), whole_ty)), index.map(|i| (Value::Id(i), TypeId::UINT))].into_iter().flatten().unzip();
                let value = self.call_of_library(f, &values, &types, ty)?;
                self.only_id(value)
            }
            _ => self.unforeseen("this getter"),
        }
    }

    /// The changed whole that a setter returns.
    fn set(&mut self, part: &Part, whole: Id, value: Id) -> Done<Id> {
        let of = self.ty(part.whole_ty)?;
        match (part.setter, part.index) {
            (Callee::Declared(f), index) => {
                let arguments = [Some(whole), index, Some(value)].into_iter().flatten().map(Value::Id).collect();
                let value = self.call(f, arguments)?;
                self.only_id(value)
            }
            (Callee::Generated(Generated::FieldSetter(_, field)), _) => {
                let saved = self.e.enter(Rule::CodegenField);
                let whole = self.e.op(Op::CompositeInsert, of, &[value, whole, field]);
                self.e.rule = saved;
                Ok(whole)
            }
            (Callee::Generated(Generated::ElementSetter(_)), Some(index)) => {
                let copy = self.copied(whole, part.whole_ty)?;
                let place = self.element(copy.clone(), index, part.ty)?;
                self.store(Rule::CodegenValueIndex, &place, value)?;
                self.load(&copy)
            }
            (Callee::Generated(Generated::Setter(f)), index) => {
                let copy = self.copied(whole, part.whole_ty)?;
                let place = self.place_by_address_taker(Callee::Declared(f), copy.clone(), index, part.ty)?;
                self.store(Rule::CodegenValueIndex, &place, value)?;
                self.load(&copy)
            }
            (Callee::Library(f), index) => {
                let entries = [Some((whole, part.whole_ty)), index.map(|i| (i, TypeId::UINT)), Some((value, part.ty))];
                let (values, types): (Vec<Value>, Vec<TypeId>) = entries.into_iter().flatten().map(|(id, ty)| (Value::Id(id), ty)).unzip();
                let value = self.call_of_library(f, &values, &types, part.whole_ty)?;
                self.only_id(value)
            }
            _ => self.unforeseen("this setter"),
        }
    }

    /// Copies a value into a variable, so that it has an address.
    fn copied(&mut self, value: Id, ty: TypeId) -> Done<Place> {
        let place = Place::whole(self.local(ty)?);
        self.store(Rule::CodegenValueIndex, &place, value)?;
        Ok(place)
    }

    fn only_id(&self, value: Value) -> Done<Id> {
        match value {
            Value::Id(id) => Ok(id),
            _ => self.unforeseen("this accessor"),
        }
    }

    /// `e = operator++(e)`. The postfix form first reads `e` once more. That value is its result.
    fn step(&mut self, fix: Fix, e: ExprId, operator: Callee, ty: TypeId) -> Done<Id> {
        let target = self.target(e)?;
        let old = match fix {
            Fix::Postfix => Some(self.read(&target)?),
            Fix::Prefix => None,
        };
        let value = self.read(&target)?;
        let new = self.operate(operator, &[(value, ty)], ty)?;
        self.assign(&target, new)?;
        Ok(old.unwrap_or(new))
    }

    /// The result of an operator.
    fn operate(&mut self, operator: Callee, operands: &[(Id, TypeId)], ty: TypeId) -> Done<Id> {
        let (values, types): (Vec<Value>, Vec<TypeId>) = operands.iter().map(|(id, ty)| (Value::Id(*id), *ty)).unzip();
        let value = match operator {
            Callee::Declared(f) => self.call(f, values)?,
            Callee::Library(f) => self.call_of_library(f, &values, &types, ty)?,
            Callee::Generated(_) => return self.unforeseen("this operator"),
        };
        self.only_id(value)
    }

    /// Makes the value of an enum valid: a value that is no element becomes the first element.
    /// Values of other types are returned unchanged.
    pub(super) fn valid(&mut self, value: Id, ty: TypeId) -> Done<Id> {
        let Type::Enum(id) = self.program.env.types.get(ty) else { return Ok(value) };
        let elements: Vec<u32> = self.program.env.enumeration(id).elements.iter().map(|(_, bits)| *bits).collect();
        let Some(&first) = elements.first() else { return Ok(value) };
        let (of, truth) = (self.ty(ty)?, self.scalar(Scalar::Bool));
        let saved = self.e.enter(Rule::CodegenEnumValid);
        let mut valid = self.e.constant(of, first);
        for bits in elements {
            let element = self.e.constant(of, bits);
            let is = self.e.op(Op::IEqual, truth, &[value, element]);
            valid = self.e.op(Op::Select, of, &[is, element, valid]);
        }
        self.e.rule = saved;
        Ok(valid)
    }

    /// Evaluates an expression for its effects.
    pub(super) fn evaluate(&mut self, id: ExprId) -> Done {
        self.value(id).map(|_| ())
    }

    /// Whether a function of the library is a barrier of the threadgroup.
    pub(super) fn is_barrier(meaning: Meaning) -> bool {
        matches!(
            meaning,
            Meaning::AllMemoryBarrierWithGroupSync | Meaning::DeviceMemoryBarrierWithGroupSync | Meaning::GroupMemoryBarrierWithGroupSync
        )
    }
}
