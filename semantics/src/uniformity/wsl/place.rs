//! Left-values: seed 004 "Variables", "Pointers and references", "Arrays".

use super::{Done, Lower, Val};
use crate::text::deep;
use crate::uniformity::flow::{Cell, Region, Scalars, Value};
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{Type, TypeId, ValueType};
use crate::wsl::typing::program::{Access, ExprId, Form};
use smallvec::{SmallVec, smallvec};

/// The place of a left-value.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In the thread's own memory.
    Own(Region),
    /// In shared or constant memory, or at an unknown place in the thread's own memory. The place
    /// depends on these values.
    Memory(AddressSpace, SmallVec<[Value; 2]>),
}

impl Place {
    /// The values that the place depends on.
    pub(super) fn depends(&self) -> Scalars {
        match self {
            Place::Own(region) => region.depends(),
            Place::Memory(_, values) => values.iter().copied().collect(),
        }
    }

    /// The first cell of the place, if it is a known place in the thread's own memory.
    pub(super) fn root(&self) -> Option<Cell> {
        match self {
            Place::Own(region) => Some(region.first()),
            Place::Memory(..) => None,
        }
    }
}

impl Lower<'_> {
    /// Evaluates a left-value to a place.
    pub(super) fn place(&mut self, id: ExprId) -> Done<Place> {
        deep(|| self.place_of(id))
    }

    fn place_of(&mut self, id: ExprId) -> Done<Place> {
        let program = self.program;
        let expr = program.expr(id);
        let ValueType::Left(ty, space) = expr.ty else { return Ok(Place::Memory(AddressSpace::Device, SmallVec::new())) };
        match &expr.form {
            Form::Parens(e) => self.place(*e),
            Form::Variable(store) => {
                if program.store(*store).space == AddressSpace::Threadgroup {
                    return Ok(Place::Memory(AddressSpace::Threadgroup, SmallVec::new()));
                }
                let ty = program.store(*store).ty;
                let cell = self.store(*store);
                Ok(Place::Own(self.region(cell, ty)))
            }
            Form::Dereference(e) => match self.value(*e)? {
                Val::Pointer(place) | Val::Reference(place, _) => Ok(place),
                Val::Cells(cells) => Ok(Place::Memory(space, cells.into_iter().collect())),
            },
            Form::Element(e1, e2) => {
                let reference = self.value(*e1)?;
                let index = self.scalar(*e2)?;
                match reference {
                    Val::Reference(place, length) => Ok(self.element_of_reference(place, length, index, ty)),
                    Val::Pointer(place) => Ok(self.deeper(place, index)),
                    Val::Cells(cells) => Ok(Place::Memory(space, cells.into_iter().chain([index]).collect())),
                }
            }
            Form::Dot(e, _, Access::AddressTaker(callee)) => {
                let whole = self.place(*e)?;
                self.apply_address_taker(*callee, whole, program.expr(*e).ty.right(), None)
            }
            Form::Index(e1, e2, Access::AddressTaker(callee)) => {
                let whole = self.place(*e1)?;
                let index = self.scalar(*e2)?;
                self.apply_address_taker(*callee, whole, program.expr(*e1).ty.right(), Some(index))
            }
            _ => Ok(Place::Memory(space, SmallVec::new())),
        }
    }

    /// The region of a variable of a type, from a cell on.
    pub(super) fn region(&mut self, first: Cell, ty: TypeId) -> Region {
        if self.lumped(ty) { Region::lump(first) } else { Region::from(first) }
    }

    /// An unknown part of the place, which also depends on `index`.
    fn deeper(&mut self, place: Place, index: Value) -> Place {
        match self.whole_variable(place) {
            Place::Own(region) => Place::Own(region.lumped(Some(index))),
            Place::Memory(space, mut values) => {
                values.push(index);
                Place::Memory(space, values)
            }
        }
    }

    /// All that an array reference to the place may reach.
    pub(super) fn whole_variable(&mut self, place: Place) -> Place {
        match place {
            Place::Own(region @ Region::Cells(..)) => {
                let n = self.flow.cells_from(region.first());
                Place::Own(Region::Lump(region.first(), n, region.depends().into_iter().collect()))
            }
            place => place,
        }
    }

    /// `r[i]` of an array reference with elements of a type.
    fn element_of_reference(&mut self, place: Place, length: Value, index: Value, ty: TypeId) -> Place {
        match (place, self.flow.known(length)) {
            (Place::Own(region @ Region::Cells(..)), Some(count)) => {
                let stride = self.size(ty);
                Place::Own(region.element(index, self.flow.known(index), count, stride))
            }
            (place, _) => self.deeper(place, index),
        }
    }

    /// `*operator&.f(&e)` or `*operator&[](&e, index)`, of a whole of a type.
    pub(super) fn apply_address_taker(&mut self, callee: Callee, whole: Place, ty: TypeId, index: Option<Value>) -> Done<Place> {
        match (callee, index) {
            (Callee::Generated(Generated::FieldAddress(s, field, _)), _) => Ok(self.field_of(whole, ty, s, field)),
            (Callee::Generated(Generated::ElementAddress(..)), Some(index)) => Ok(self.element_of(whole, ty, index)),
            (Callee::Declared(f), index) => {
                let mut arguments: SmallVec<[Val; 4]> = smallvec![Val::Pointer(whole)];
                arguments.extend(index.map(|i| Val::Cells(smallvec![i])));
                match self.call(f, arguments)? {
                    Val::Pointer(place) | Val::Reference(place, _) => Ok(place),
                    Val::Cells(cells) => {
                        let space = match self.ty(self.program.env.function(f).result) {
                            Type::Pointer(space, _) | Type::ArrayReference(space, _) => space,
                            _ => AddressSpace::Device,
                        };
                        Ok(Place::Memory(space, cells.into_iter().collect()))
                    }
                }
            }
            _ => Ok(Place::Memory(AddressSpace::Device, SmallVec::new())),
        }
    }

    /// A field of a structure at a place. In a lump, it is the whole lump.
    pub(super) fn field_of(&mut self, whole: Place, ty: TypeId, s: crate::wsl::types::StructId, field: u32) -> Place {
        match whole {
            Place::Own(region) if self.lumped(ty) => Place::Own(region.lumped(None)),
            Place::Own(region) => {
                let offset = self.field_offset(s, field);
                Place::Own(region.offset_by(offset))
            }
            place => place,
        }
    }

    /// An element of an array at a place. An index out of bounds selects an unspecified element.
    pub(super) fn element_of(&mut self, whole: Place, array: TypeId, index: Value) -> Place {
        match (self.ty(array), whole) {
            (Type::Array(of, count), Place::Own(region)) => {
                if self.lumped(array) {
                    return Place::Own(region.lumped(Some(index)));
                }
                let stride = self.size(of);
                Place::Own(region.element(index, self.flow.known(index), count, stride))
            }
            (_, place) => self.deeper(place, index),
        }
    }

    /// Loads from the place.
    pub(super) fn load(&mut self, place: &Place, ty: TypeId) -> Scalars {
        let n = self.size(ty);
        match place {
            Place::Own(region) => self.flow.load(region, n),
            Place::Memory(space, values) => self.load_memory(*space, values, n),
        }
    }

    /// Stores a value of a type at the place.
    pub(super) fn store_to(&mut self, place: &Place, ty: TypeId, values: &[Value]) {
        match place {
            Place::Own(region) => self.flow.store(region, values),
            Place::Memory(AddressSpace::Thread, depends) => self.store_anywhere(ty, depends, values),
            Place::Memory(..) => {}
        }
    }
}
