//! Right-values: seed 004 "Execution of expressions".

use super::access::Target;
use super::place::Place;
use super::{Compiler, Done};
use crate::text::deep;
use crate::wsl::environment::access::Callee;
use crate::wsl::machine::code::{Instruction, Slot};
use crate::wsl::syntax::Fix;
use crate::wsl::types::{TypeId, ValueType};
use crate::wsl::typing::program::{Access, Coercion, ExprId, Form, StoreId};

impl Compiler<'_> {
    /// Evaluates an expression. Returns the slot of its value, which may be `to`. Only the last
    /// step writes to `to`. If `stable`, nothing that this statement evaluates later changes the
    /// value, and `to` is `None`.
    pub(super) fn value(&mut self, id: ExprId, to: Option<Slot>, stable: bool) -> Done<Slot> {
        debug_assert!(to.is_none() || !stable);
        if self.plain {
            return deep(|| self.value_of(id, None, true));
        }
        deep(|| self.value_of(id, to, stable))
    }

    /// Evaluates an expression into that slot.
    pub(super) fn value_into(&mut self, id: ExprId, to: Slot) -> Done {
        let at = self.value(id, Some(to), false)?;
        let n = self.words(self.program.expr(id).ty.right())?;
        self.copy(to, at, n)
    }

    /// Evaluates an expression for its effects.
    pub(super) fn effect(&mut self, id: ExprId) -> Done {
        deep(|| match &self.program.expr(id).form {
            Form::Parens(e) => self.effect(*e),
            Form::Comma(a, b) => {
                self.effect(*a)?;
                self.visit(id);
                self.effect(*b)
            }
            Form::Step(_, _, e, operator, _) => self.step(id, *e, *operator, None).map(|_| ()),
            _ => self.value(id, None, false).map(|_| ()),
        })
    }

    fn effects_of(&self, id: ExprId) -> super::effects::Effects {
        self.effects[id.0 as usize]
    }

    fn value_of(&mut self, id: ExprId, to: Option<Slot>, stable: bool) -> Done<Slot> {
        let expr = self.program.expr(id);
        let ty = expr.ty.right();
        match &expr.form {
            Form::Constant(constant) => {
                self.visit(id);
                let bits = self.bits(*constant, ty);
                self.constant(bits)
            }
            Form::Coerce(Coercion::LeftToRight, e) => self.load_left(*e, ty, to, stable),
            Form::Coerce(Coercion::AbstractToRight, e) => {
                let target = self.target(*e)?;
                self.read(&target, to, stable)
            }
            Form::Parens(e) => self.value(*e, to, stable),
            Form::Comma(a, b) => {
                self.effect(*a)?;
                self.visit(id);
                self.value(*b, to, stable)
            }
            Form::Or(..) | Form::And(..) => self.truth(id, to),
            Form::Ternary(e, then, otherwise) => {
                let n = self.words(ty)?;
                let to = self.or_temporary(to, n)?;
                let (other, end) = (self.label(), self.label());
                self.jump_unless(*e, other)?;
                self.visit(id);
                self.value_into(*then, to)?;
                self.jump(end)?;
                self.bind(other);
                self.value_into(*otherwise, to)?;
                self.bind(end);
                Ok(to)
            }
            Form::Assign(e1, e2) => self.assignment(id, *e1, *e2, stable),
            Form::AddressOf(e) => {
                let place = self.place(*e)?;
                self.visit(id);
                self.pointer_to(place, to)
            }
            Form::MakeReference(e, size) => {
                let place = self.place(*e)?;
                self.visit(id);
                let to = self.or_temporary(to, 4)?;
                let pointer = self.pointer_to(place, None)?;
                self.copy(to, pointer, 2)?;
                let size = self.constant(size.unwrap_or(1))?;
                self.copy(to + 2, size, 1)?;
                self.zero(to + 3, 1)?;
                Ok(to)
            }
            Form::Dot(e, _, Access::Getter(getter)) => {
                let whole = self.value(*e, None, stable)?;
                self.visit(id);
                self.get(*getter, whole, self.program.expr(*e).ty.right(), None, ty, to, stable)
            }
            Form::Index(e1, e2, Access::Getter(getter)) => {
                let whole = self.value(*e1, None, stable || self.effects_of(*e2).writes())?;
                let index = self.value(*e2, None, stable)?;
                self.visit(id);
                self.get(*getter, whole, self.program.expr(*e1).ty.right(), Some(index), ty, to, stable)
            }
            Form::ArrayLength(e, n) => {
                match self.program.expr(*e).ty {
                    // The array is not loaded, but the expressions that lead to it are evaluated.
                    ValueType::Left(..) => {
                        self.place(*e)?;
                    }
                    ValueType::Abstract(_) => {
                        let target = self.target(*e)?;
                        self.read(&target, None, false)?;
                    }
                    ValueType::Right(_) => self.effect(*e)?,
                }
                self.visit(id);
                self.constant(*n)
            }
            Form::ReferenceLength(e) => {
                let reference = self.value(*e, None, stable)?;
                self.visit(id);
                Ok(reference + 2)
            }
            Form::Step(_, fix, e, operator, store) => {
                let old = match fix {
                    Fix::Postfix => *store,
                    Fix::Prefix => None,
                };
                let n = self.words(ty)?;
                let new = self.step(id, *e, *operator, old)?;
                match old {
                    Some(store) => self.store(store),
                    None if stable => self.stable_copy(new, n),
                    None => Ok(new),
                }
            }
            Form::CompoundAssign(operator, e1, e2) => self.compound(id, *operator, *e1, *e2, stable),
            Form::Call(callee, range) => self.call_expression(id, *callee, range.clone(), ty, to, stable),
            Form::Variable(_) | Form::Dereference(_) | Form::Element(..) | Form::Coerce(Coercion::LeftToAbstract, _) => {
                self.unsupported("this expression as a right-value")
            }
            Form::Dot(..) | Form::Index(..) => self.unsupported("this access as a right-value"),
        }
    }

    /// Copies words to words that nothing else changes.
    fn stable_copy(&mut self, at: Slot, n: u32) -> Done<Slot> {
        let to = self.temporary(n)?;
        self.copy(to, at, n)?;
        Ok(to)
    }

    /// The value that a left-value holds.
    fn load_left(&mut self, e: ExprId, ty: TypeId, to: Option<Slot>, stable: bool) -> Done<Slot> {
        if let Form::Variable(store) = self.program.expr(e).form {
            // A variable of an enum type holds a value of the enum, unless it came from outside.
            let place = self.place(e)?;
            let n = self.words(ty)?;
            let value = self.load(place, n, to, stable)?;
            let local = matches!(place, Place::Direct(_)) && !self.root_parameters.contains(&store);
            return if local { Ok(value) } else { self.sanitized(value, ty, to) };
        }
        if let Some((base, count, whole, index)) = self.simple_element(e)? {
            let index = self.value(index, None, false)?;
            self.visit(whole);
            self.visit(e);
            let at = match self.known_bits(index).filter(|bits| *bits < count) {
                Some(bits) => self.load(Place::Direct(base + bits), 1, to, stable)?,
                None => {
                    let to = self.or_temporary(to, 1)?;
                    self.emit(Instruction::LoadElement { to, base, count, index })?;
                    to
                }
            };
            return self.sanitized(at, ty, to);
        }
        let place = self.place(e)?;
        let n = self.words(ty)?;
        let value = self.load(place, n, to, stable)?;
        self.sanitized(value, ty, to)
    }

    /// `e1 = e2`
    fn assignment(&mut self, id: ExprId, e1: ExprId, e2: ExprId, stable: bool) -> Done<Slot> {
        let ty = self.program.expr(id).ty.right();
        let n = self.words(ty)?;
        if let Some(stored) = self.assign_element(id, e1, e2)? {
            return if stable { self.stable_copy(stored, n) } else { Ok(stored) };
        }
        let target = self.target(e1)?;
        let value = match &target {
            Target::Place(Place::Direct(at), ..) => self.value(e2, Some(*at), false)?,
            Target::Place(..) => self.value(e2, None, false)?,
            Target::Part(_) => self.value(e2, None, true)?,
        };
        self.visit(id);
        self.assign(&target, value)?;
        if stable { self.stable_copy(value, n) } else { Ok(value) }
    }

    /// `a[i] = e2` for a local array of single words, if it does not matter when the index
    /// is checked.
    fn assign_element(&mut self, id: ExprId, e1: ExprId, e2: ExprId) -> Done<Option<Slot>> {
        let Form::Coerce(Coercion::LeftToAbstract, element) = self.program.expr(e1).form else { return Ok(None) };
        if self.effects_of(e2).writes_or_chooses() {
            return Ok(None);
        }
        let Some((base, count, whole, index)) = self.simple_element(element)? else { return Ok(None) };
        let index = self.value(index, None, false)?;
        if self.known_bits(index).is_some_and(|bits| bits < count) {
            return Ok(None);
        }
        self.visit(whole);
        self.visit(element);
        let from = self.value(e2, None, false)?;
        self.visit(id);
        self.span = self.program.expr(element).span;
        self.emit(Instruction::StoreElement { base, count, index, from })?;
        Ok(Some(from))
    }

    /// `e = operator++(e)`: the value that is assigned. If there is a store for the old value, the
    /// old value is stored there first. `e` is reduced to an abstract left-value once, and read as
    /// often as the seed's text reads it.
    fn step(&mut self, id: ExprId, e: ExprId, operator: Callee, old: Option<StoreId>) -> Done<Slot> {
        let ty = self.program.expr(id).ty.right();
        let n = self.words(ty)?;
        let target = self.target(e)?;
        let postfix = matches!(self.program.expr(id).form, Form::Step(_, Fix::Postfix, ..));
        if let Some(store) = old {
            let at = self.store(store)?;
            let value = self.read(&target, Some(at), false)?;
            self.copy(at, value, n)?;
        } else if postfix {
            // The getters are called, although the old value is unused.
            self.read(&target, None, false)?;
        }
        let value = self.read(&target, None, false)?;
        self.visit(id);
        self.operate(&target, operator, &[(value, ty)], ty)
    }

    /// `e1 += e2`: `e1` is read before `e2` is evaluated (ERRATA WSL-D9).
    fn compound(&mut self, id: ExprId, operator: Callee, e1: ExprId, e2: ExprId, stable: bool) -> Done<Slot> {
        let ty = self.program.expr(id).ty.right();
        let n = self.words(ty)?;
        let target = self.target(e1)?;
        let left = self.read(&target, None, self.effects_of(e2).writes())?;
        let right = self.value(e2, None, false)?;
        self.visit(id);
        let right_ty = self.program.expr(e2).ty.right();
        let value = self.operate(&target, operator, &[(left, ty), (right, right_ty)], ty)?;
        if stable { self.stable_copy(value, n) } else { Ok(value) }
    }

    /// Assigns the result of the operator.
    fn operate(&mut self, target: &Target, operator: Callee, operands: &[(Slot, TypeId)], ty: TypeId) -> Done<Slot> {
        let to = match target {
            Target::Place(Place::Direct(at), ..) if !self.plain => Some(*at),
            _ => None,
        };
        let value = match operator {
            Callee::Declared(f) => {
                let slots: smallvec::SmallVec<[Slot; 4]> = operands.iter().map(|(slot, _)| *slot).collect();
                self.call(f, &slots, None, matches!(target, Target::Part(_)))?
            }
            Callee::Library(f) => self.call_of_library(f, operands, ty, to)?,
            Callee::Generated(_) => return self.unsupported("this operator"),
        };
        self.assign(target, value)?;
        Ok(value)
    }
}
