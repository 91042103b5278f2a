//! Targets of assignments, and the accessors that read and assign to parts: seed 004 "Assignment",
//! "Dot operator", "Generated functions".

use super::place::Place;
use super::{Done, Lower, Scalars, Val};
use crate::text::deep;
use crate::uniformity::flow::{Cell, Pure, Value};
use crate::wsl::environment::FunctionId;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{Access, Coercion, ExprId, Form};
use smallvec::{SmallVec, smallvec};

/// An evaluated target of an assignment: a place, and the parts of it that setters change, from the
/// outside in.
#[derive(Clone, Debug)]
pub(super) struct Target {
    place: Place,
    ty: TypeId,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    setter: Callee,
    getter: Callee,
    index: Option<Value>,
    /// The types of the whole and of the part.
    whole: TypeId,
    ty: TypeId,
}

impl Lower<'_> {
    /// Evaluates an abstract left-value: addresses and indices, from left to right.
    pub(super) fn target(&mut self, id: ExprId) -> Done<Target> {
        deep(|| self.target_of(id))
    }

    fn target_of(&mut self, id: ExprId) -> Done<Target> {
        let program = self.program;
        let expr = program.expr(id);
        let ty = expr.ty.right();
        match &expr.form {
            Form::Parens(e) => self.target(*e),
            Form::Coerce(Coercion::LeftToAbstract, e) => Ok(Target { place: self.place(*e)?, ty, parts: Vec::new() }),
            Form::Dot(e, _, Access::Setter(setter, getter)) => {
                let mut target = self.target(*e)?;
                target.parts.push(Part { setter: *setter, getter: *getter, index: None, whole: program.expr(*e).ty.right(), ty });
                Ok(target)
            }
            Form::Index(e1, e2, Access::Setter(setter, getter)) => {
                let mut target = self.target(*e1)?;
                let index = Some(self.scalar(*e2)?);
                target.parts.push(Part { setter: *setter, getter: *getter, index, whole: program.expr(*e1).ty.right(), ty });
                Ok(target)
            }
            _ => Ok(Target { place: self.place(id)?, ty, parts: Vec::new() }),
        }
    }

    /// Reads the target.
    pub(super) fn read_target(&mut self, target: &Target) -> Done<Scalars> {
        self.read_part(target, target.parts.len())
    }

    fn read_part(&mut self, target: &Target, n: usize) -> Done<Scalars> {
        let mut value = self.load(&target.place, target.ty);
        for part in &target.parts[..n] {
            value = self.get(part.getter, value, part.whole, part.index, part.ty)?;
        }
        Ok(value)
    }

    /// Assigns to the target: a store, or an assignment of the setter's result to the whole.
    pub(super) fn assign(&mut self, target: &Target, value: &[Value]) -> Done {
        let mut value: Scalars = value.iter().copied().collect();
        for n in (0..target.parts.len()).rev() {
            let whole = self.read_part(target, n)?;
            value = self.set(&target.parts[n], whole, value)?;
        }
        self.store_to(&target.place, target.ty, &value);
        Ok(())
    }

    /// The result of a getter.
    pub(super) fn get(&mut self, getter: Callee, whole: Scalars, whole_ty: TypeId, index: Option<Value>, ty: TypeId) -> Done<Scalars> {
        match (getter, index) {
            (Callee::Declared(f), _) => {
                let mut arguments: SmallVec<[Val; 4]> = smallvec![Val::Cells(whole)];
                arguments.extend(index.map(|i| Val::Cells(smallvec![i])));
                let val = self.call(f, arguments)?;
                Ok(self.cells_of(&val))
            }
            (Callee::Generated(Generated::Getter(f)), _) => {
                let (cell, place) = self.temporary(whole_ty);
                self.flow.write_all(cell, &whole);
                let place = self.generated_access(f, place, index)?;
                Ok(self.load(&place, ty))
            }
            (Callee::Generated(Generated::FieldGetter(s, field)), _) => {
                let n = self.size(ty);
                if self.lumped(whole_ty) {
                    return Ok(self.flow.values_from_all(&whole, n));
                }
                let at = self.field_offset(s, field) as usize;
                match whole.get(at..at + n as usize) {
                    Some(part) => Ok(part.iter().copied().collect()),
                    None => Ok(self.flow.values_from_all(&whole, n)),
                }
            }
            (_, Some(index)) => Ok(self.element_of_value(&whole, whole_ty, index, ty)),
            (Callee::Library(f), None) => {
                let val = self.call_of_library(f, &[(Val::Cells(whole), whole_ty)], ty)?;
                Ok(self.cells_of(&val))
            }
            _ => {
                let n = self.size(ty);
                Ok(self.flow.values_from_all(&whole, n))
            }
        }
    }

    /// A new variable of a type.
    pub(super) fn temporary(&mut self, ty: TypeId) -> (Cell, Place) {
        let n = self.size(ty);
        let cell = self.flow.new_cells(u32::MAX, n);
        self.unknown_stores.objects.push((cell, n, ty));
        (cell, Place::Own(self.region(cell, ty)))
    }

    /// The number of elements of a type, and the number of cells of each.
    fn elements(&mut self, ty: TypeId) -> Option<(u32, u32)> {
        match self.ty(ty) {
            Type::Vector(_, n) => Some((u32::from(n), 1)),
            Type::Matrix(_, columns, rows) => Some((u32::from(columns), u32::from(rows))),
            Type::Array(of, n) if !self.lumped(ty) => Some((n, self.size(of))),
            _ => None,
        }
    }

    /// An element of a vector, matrix or array.
    pub(super) fn element_of_value(&mut self, whole: &[Value], whole_ty: TypeId, index: Value, ty: TypeId) -> Scalars {
        let n = self.size(ty);
        match (self.elements(whole_ty), self.flow.known(index)) {
            (Some((count, size)), Some(bits)) if bits < count && whole.len() as u32 == count * size => {
                whole.iter().skip((bits * size) as usize).take(n as usize).copied().collect()
            }
            (Some((count, size)), _) => (0..n)
                .map(|k| {
                    let mut operands: Scalars = smallvec![index];
                    operands.extend((0..count).filter_map(|i| whole.get((i * size + k) as usize).copied()));
                    self.flow.pure(Pure::Other(k), &operands)
                })
                .collect(),
            (None, _) => {
                let operands: Scalars = whole.iter().copied().chain([index]).collect();
                self.flow.values_from_all(&operands, n)
            }
        }
    }

    /// The whole with one element replaced.
    fn with_element(&mut self, whole: &[Value], whole_ty: TypeId, index: Value, value: &[Value]) -> Scalars {
        match (self.elements(whole_ty), self.flow.known(index)) {
            (Some((count, size)), Some(bits)) if bits < count => {
                let mut whole: Scalars = whole.iter().copied().collect();
                for (slot, &value) in whole.iter_mut().skip((bits * size) as usize).zip(value) {
                    *slot = value;
                }
                whole
            }
            (Some((_, size)), _) if size > 0 => whole
                .iter()
                .enumerate()
                .map(|(k, &old)| {
                    let new = value.get(k % size as usize).copied().unwrap_or(old);
                    self.flow.pure(Pure::Other(k as u32), &[index, old, new])
                })
                .collect(),
            _ => {
                let operands: Scalars = whole.iter().chain(value).copied().chain([index]).collect();
                self.flow.values_from_all(&operands, whole.len() as u32)
            }
        }
    }

    /// The result of a setter: the whole with a changed part.
    fn set(&mut self, part: &Part, whole: Scalars, value: Scalars) -> Done<Scalars> {
        match (part.setter, part.index) {
            (Callee::Declared(f), index) => {
                let mut arguments: SmallVec<[Val; 4]> = smallvec![Val::Cells(whole)];
                arguments.extend(index.map(|i| Val::Cells(smallvec![i])));
                arguments.push(Val::Cells(value));
                let val = self.call(f, arguments)?;
                Ok(self.cells_of(&val))
            }
            (Callee::Generated(Generated::Setter(f)), index) => {
                let n = self.size(part.whole);
                let (cell, place) = self.temporary(part.whole);
                self.flow.write_all(cell, &whole);
                let place = self.generated_access(f, place, index)?;
                self.store_to(&place, part.ty, &value);
                Ok(self.flow.read_all(cell, n))
            }
            (Callee::Generated(Generated::FieldSetter(s, field)), _) => {
                if self.lumped(part.whole) {
                    let operands: Scalars = whole.iter().chain(&value).copied().collect();
                    return Ok(self.flow.values_from_all(&operands, 1));
                }
                let at = self.field_offset(s, field) as usize;
                let mut whole = whole;
                for (slot, &value) in whole.iter_mut().skip(at).zip(&value) {
                    *slot = value;
                }
                Ok(whole)
            }
            (_, Some(index)) => Ok(self.with_element(&whole, part.whole, index, &value)),
            (Callee::Library(f), None) => {
                let mut whole = whole;
                for (k, &letter) in f.word().iter().enumerate() {
                    if let (Some(slot), Some(&value)) = (whole.get_mut(letter as usize), value.get(k)) {
                        *slot = value;
                    }
                }
                Ok(whole)
            }
            _ => {
                let operands: Scalars = whole.iter().chain(&value).copied().collect();
                let n = whole.len() as u32;
                Ok(self.flow.values_from_all(&operands, n))
            }
        }
    }

    /// The place that a declared address-taker returns.
    fn generated_access(&mut self, f: FunctionId, whole: Place, index: Option<Value>) -> Done<Place> {
        self.apply_address_taker(Callee::Declared(f), whole, TypeId::VOID, index)
    }
}
