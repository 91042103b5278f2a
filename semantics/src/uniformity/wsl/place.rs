//! Left-values: seed 004 "Variables", "Pointers and references", "Arrays".

use super::{Cells, Done, Lower, Val};
use crate::text::deep;
use crate::uniformity::flow::{Cell, Pure, Value};
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{Type, TypeId, ValueType};
use crate::wsl::typing::program::{Access, ExprId, Form};
use smallvec::{SmallVec, smallvec};

/// An index into an array whose elements have cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pick {
    index: Value,
    count: u32,
    stride: u32,
}

/// Where a left-value is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In cells from that one on, after these indices.
    Cells(Cell, SmallVec<[Pick; 1]>),
    /// In so many cells from that one on, which hold more than this, at a place that depends on
    /// these values.
    Lump(Cell, u32, SmallVec<[Value; 2]>),
    /// In memory that invocations share, or that none changes, at such a place.
    Memory(AddressSpace, SmallVec<[Value; 2]>),
}

impl Place {
    /// What the place depends on.
    pub(super) fn depends(&self) -> Cells {
        match self {
            Place::Cells(_, picks) => picks.iter().map(|p| p.index).collect(),
            Place::Lump(_, _, values) | Place::Memory(_, values) => values.iter().copied().collect(),
        }
    }

    fn after(self, cells: u32) -> Place {
        match self {
            Place::Cells(base, picks) => Place::Cells(Cell(base.0 + cells), picks),
            other => other,
        }
    }

    /// The cell that it is in, if that is known.
    pub(super) fn root(&self) -> Option<Cell> {
        match self {
            Place::Cells(cell, _) | Place::Lump(cell, ..) => Some(*cell),
            Place::Memory(..) => None,
        }
    }
}

impl Lower<'_> {
    /// The place that the left-value is reduced to.
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
                Ok(if self.lumped(ty) { Place::Lump(cell, 1, SmallVec::new()) } else { Place::Cells(cell, SmallVec::new()) })
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
                self.taken(*callee, whole, program.expr(*e).ty.right(), None)
            }
            Form::Index(e1, e2, Access::AddressTaker(callee)) => {
                let whole = self.place(*e1)?;
                let index = self.scalar(*e2)?;
                self.taken(*callee, whole, program.expr(*e1).ty.right(), Some(index))
            }
            _ => Ok(Place::Memory(space, SmallVec::new())),
        }
    }

    /// A part of the place that depends on a value more.
    fn deeper(&mut self, place: Place, index: Value) -> Place {
        match self.whole(place) {
            place @ Place::Cells(..) => place,
            Place::Lump(cell, n, mut values) => {
                values.push(index);
                Place::Lump(cell, n, values)
            }
            Place::Memory(space, mut values) => {
                values.push(index);
                Place::Memory(space, values)
            }
        }
    }

    /// Everything that an array reference to the place may lead to.
    pub(super) fn whole(&mut self, place: Place) -> Place {
        match place {
            Place::Cells(cell, picks) => Place::Lump(cell, self.flow.cells_from(cell), picks.iter().map(|p| p.index).collect()),
            place => place,
        }
    }

    /// `r[i]`, of an array reference with elements of that type.
    fn element_of_reference(&mut self, place: Place, length: Value, index: Value, ty: TypeId) -> Place {
        match (place, self.flow.known(length)) {
            (Place::Cells(base, mut picks), Some(count)) => {
                let stride = self.size(ty);
                match self.flow.known(index) {
                    Some(bits) if bits < count => Place::Cells(Cell(base.0 + bits * stride), picks),
                    _ => {
                        picks.push(Pick { index, count, stride });
                        Place::Cells(base, picks)
                    }
                }
            }
            (place, _) => self.deeper(place, index),
        }
    }

    /// `*operator&.f(&e)` or `*operator&[](&e, index)`, of a whole of that type.
    pub(super) fn taken(&mut self, callee: Callee, whole: Place, ty: TypeId, index: Option<Value>) -> Done<Place> {
        match (callee, index) {
            (Callee::Generated(Generated::FieldAddress(s, field, _)), _) => Ok(self.field_of(whole, ty, s, field)),
            (Callee::Generated(Generated::ElementAddress(..)), Some(index)) => Ok(self.element_of(whole, ty, index)),
            (Callee::Declared(f), index) => {
                let mut arguments: SmallVec<[Val; 4]> = smallvec![Val::Pointer(whole)];
                arguments.extend(index.map(|i| Val::Cells(smallvec![i])));
                match self.call(f, arguments)? {
                    Val::Pointer(place) | Val::Reference(place, _) => Ok(place),
                    Val::Cells(cells) => Ok(Place::Memory(AddressSpace::Device, cells.into_iter().collect())),
                }
            }
            _ => Ok(Place::Memory(AddressSpace::Device, SmallVec::new())),
        }
    }

    /// A field of a structure at a place; within a lump it is that lump.
    pub(super) fn field_of(&mut self, whole: Place, ty: TypeId, s: crate::wsl::types::StructId, field: u32) -> Place {
        match whole {
            Place::Cells(cell, picks) if self.lumped(ty) => {
                let n = 1 + picks.iter().map(|p| p.count.saturating_sub(1) * p.stride).sum::<u32>();
                Place::Lump(cell, n, picks.iter().map(|p| p.index).collect())
            }
            place @ Place::Cells(..) => {
                let offset = self.field_offset(s, field);
                let of = self.program.env.structure(s).fields[field as usize].ty;
                self.part(place.after(offset), of)
            }
            place => place,
        }
    }

    /// The place of a part of that type: what is lumped has one cell.
    fn part(&mut self, place: Place, ty: TypeId) -> Place {
        match place {
            Place::Cells(cell, picks) if picks.is_empty() && self.lumped(ty) => Place::Lump(cell, 1, SmallVec::new()),
            place => place,
        }
    }

    /// An element of an array of that type at a place; out of bounds an unspecified one.
    pub(super) fn element_of(&mut self, whole: Place, array: TypeId, index: Value) -> Place {
        let Type::Array(of, count) = self.ty(array) else { return self.deeper(whole, index) };
        match whole {
            Place::Cells(base, mut picks) if !self.lumped(array) => {
                let stride = self.size(of);
                match self.flow.known(index) {
                    Some(bits) if bits < count => {
                        let place = Place::Cells(Cell(base.0 + bits * stride), picks);
                        self.part(place, of)
                    }
                    _ => {
                        picks.push(Pick { index, count, stride });
                        Place::Cells(base, picks)
                    }
                }
            }
            place => self.deeper(place, index),
        }
    }

    /// The offsets that indices may lead to.
    fn offsets(picks: &[Pick]) -> Vec<u32> {
        let mut offsets = vec![0];
        for pick in picks {
            offsets = (0..pick.count).flat_map(|i| offsets.iter().map(move |o| o + i * pick.stride)).collect();
        }
        offsets
    }

    /// What is at the place.
    pub(super) fn load(&mut self, place: &Place, ty: TypeId) -> Cells {
        let n = self.size(ty);
        match place {
            Place::Cells(base, picks) if picks.is_empty() => self.read_all(*base, n),
            Place::Cells(base, picks) => {
                let offsets = Self::offsets(picks);
                (0..n)
                    .map(|k| {
                        let mut operands: Cells = picks.iter().map(|p| p.index).collect();
                        for offset in &offsets {
                            operands.push(self.flow.read(Cell(base.0 + offset + k)));
                        }
                        self.flow.pure(Pure::Other(k), &operands)
                    })
                    .collect()
            }
            Place::Lump(cell, cells, values) => {
                let mut operands: Cells = values.iter().copied().collect();
                operands.extend(self.read_all(*cell, *cells));
                self.mixed(&operands, n)
            }
            Place::Memory(space, values) => self.loaded(*space, values, n),
        }
    }

    /// Stores a value at the place.
    pub(super) fn store_to(&mut self, place: &Place, values: &[Value]) {
        match place {
            Place::Cells(base, picks) if picks.is_empty() => self.write_all(*base, values),
            Place::Cells(base, picks) => {
                for offset in Self::offsets(picks) {
                    for (k, &value) in values.iter().enumerate() {
                        let cell = Cell(base.0 + offset + k as u32);
                        let mut operands: Cells = picks.iter().map(|p| p.index).collect();
                        operands.push(self.flow.read(cell));
                        operands.push(value);
                        let blended = self.flow.pure(Pure::Other(offset), &operands);
                        self.flow.write(cell, blended);
                    }
                }
            }
            Place::Lump(cell, cells, depends) => {
                for at in cell.0..cell.0 + cells {
                    let mut operands: Cells = depends.iter().copied().collect();
                    operands.push(self.flow.read(Cell(at)));
                    operands.extend_from_slice(values);
                    let blended = self.flow.pure(Pure::Other(at), &operands);
                    self.flow.write(Cell(at), blended);
                }
            }
            Place::Memory(..) => {}
        }
    }
}
