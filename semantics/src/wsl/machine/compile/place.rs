//! Left-values: seed 004 "Variables", "Reduction to an abstract left-value", "Pointers and
//! references", "Arrays".

use super::{Compiler, Done};
use crate::text::deep;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::machine::code::{GROUP, Instruction, OWN, Slot};
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{Type, TypeId, ValueType};
use crate::wsl::typing::program::{Access, ExprId, Form};

/// The place of a left-value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At that slot of the thread's memory.
    Direct(Slot),
    /// In the thread's memory, at `base` plus the contents of `offset`.
    At { base: u32, offset: Slot },
    /// In the object whose number `object` holds, `plus` words after the contents of `offset`.
    Far { object: Slot, offset: Slot, plus: u32 },
}

impl Place {
    /// The place `words` words later.
    pub(super) fn after(self, words: u32) -> Place {
        match self {
            Place::Direct(at) => Place::Direct(at + words),
            Place::At { base, offset } => Place::At { base: base + words, offset },
            Place::Far { object, offset, plus } => Place::Far { object, offset, plus: plus + words },
        }
    }
}

impl Compiler<'_> {
    /// The place of a variable in the threadgroup's memory.
    pub(super) fn group_place(&mut self, at: u32) -> Done<Place> {
        let pair = self.constant_pair(GROUP, 0)?;
        Ok(Place::Far { object: pair, offset: pair + 1, plus: at })
    }

    /// The place that a pointer into that address space points to.
    pub(super) fn pointee_place(&self, pointer: Slot, space: AddressSpace) -> Place {
        match space {
            AddressSpace::Thread => Place::At { base: 0, offset: pointer + 1 },
            _ => Place::Far { object: pointer, offset: pointer + 1, plus: 0 },
        }
    }

    /// A pointer to the place, in two slots.
    pub(super) fn pointer_to(&mut self, place: Place, to: Option<Slot>) -> Done<Slot> {
        match place {
            Place::Direct(at) => self.constant_pair(OWN, at),
            // The place was made from a pointer, which still exists.
            Place::At { base: 0, offset } if to.is_none() => Ok(offset - 1),
            Place::At { base, offset } => {
                let to = self.or_temporary(to, 2)?;
                self.add_constant(to + 1, offset, base)?;
                self.zero(to, 1)?;
                Ok(to)
            }
            Place::Far { object, offset, plus: 0 } if to.is_none() && offset == object + 1 => Ok(object),
            Place::Far { object, offset, plus } => {
                let to = self.or_temporary(to, 2)?;
                self.add_constant(to + 1, offset, plus)?;
                self.copy(to, object, 1)?;
                Ok(to)
            }
        }
    }

    fn add_constant(&mut self, to: Slot, a: Slot, plus: u32) -> Done {
        if plus == 0 {
            return self.copy(to, a, 1);
        }
        let b = self.constant(plus)?;
        self.emit(Instruction::Add { to, a, b })?;
        Ok(())
    }

    /// The place that the left-value is reduced to. Nothing that is evaluated later changes the
    /// slots that the place uses.
    pub(super) fn place(&mut self, id: ExprId) -> Done<Place> {
        deep(|| self.place_of(id))
    }

    fn place_of(&mut self, id: ExprId) -> Done<Place> {
        let expr = self.program.expr(id);
        let ValueType::Left(ty, space) = expr.ty else { return self.unsupported("this expression as a left-value") };
        match &expr.form {
            Form::Parens(e) => self.place(*e),
            Form::Variable(store) => {
                self.visit(id);
                let at = self.store(*store)?;
                match self.program.store(*store).space {
                    AddressSpace::Threadgroup => self.group_place(at),
                    _ => Ok(Place::Direct(at)),
                }
            }
            Form::Dereference(e) => {
                let pointer = self.value(*e, None, true)?;
                self.visit(id);
                Ok(self.pointee_place(pointer, space))
            }
            Form::Element(e1, e2) => {
                let reference = self.value(*e1, None, true)?;
                let index = self.value(*e2, None, true)?;
                self.visit(id);
                let stride = self.words(ty)?;
                let to = self.temporary(1)?;
                self.emit(Instruction::Element { to, reference, index, stride })?;
                Ok(match space {
                    AddressSpace::Thread => Place::At { base: 0, offset: to },
                    _ => Place::Far { object: reference, offset: to, plus: 0 },
                })
            }
            Form::Dot(e, _, Access::AddressTaker(callee)) => {
                let whole = self.place(*e)?;
                self.visit(id);
                self.through_address_taker(*callee, whole, self.program.expr(*e).ty.right(), None, space)
            }
            Form::Index(e1, e2, Access::AddressTaker(callee)) => {
                let whole = self.place(*e1)?;
                let index = self.value(*e2, None, true)?;
                self.visit(id);
                self.through_address_taker(*callee, whole, self.program.expr(*e1).ty.right(), Some(index), space)
            }
            _ => self.unsupported("this expression as a left-value"),
        }
    }

    /// `*operator&.f(&e)` or `*operator&[](&e, index)`, for a whole of that type in that
    /// address space.
    fn through_address_taker(&mut self, callee: Callee, whole: Place, ty: TypeId, index: Option<Slot>, space: AddressSpace) -> Done<Place> {
        match (callee, index) {
            (Callee::Generated(Generated::FieldAddress(s, field, _)), _) => Ok(whole.after(self.field_offset(s, field)?)),
            (Callee::Generated(Generated::ElementAddress(..)), Some(index)) => self.element_of(whole, ty, index),
            (Callee::Declared(f), index) => {
                let pointer = self.pointer_to(whole, None)?;
                let arguments: smallvec::SmallVec<[Slot; 4]> = [Some(pointer), index].into_iter().flatten().collect();
                let pointer = self.call(f, &arguments, None, true)?;
                Ok(self.pointee_place(pointer, space))
            }
            _ => self.unsupported("this address-taker"),
        }
    }

    /// The place of an element of an array of that type. If the index is out of bounds, the element
    /// is unspecified.
    pub(super) fn element_of(&mut self, whole: Place, array: TypeId, index: Slot) -> Done<Place> {
        let Type::Array(of, count) = self.program.env.types.get(array) else { return self.unsupported("elements of this type") };
        let stride = self.words(of)?;
        if let Some(bits) = self.known_bits(index)
            && bits < count
        {
            return Ok(whole.after(bits * stride));
        }
        let to = self.temporary(1)?;
        self.emit(Instruction::Scale { to, index, count, stride })?;
        match whole {
            Place::Direct(base) => Ok(Place::At { base, offset: to }),
            Place::At { base, offset } => {
                self.emit(Instruction::Add { to, a: to, b: offset })?;
                Ok(Place::At { base, offset: to })
            }
            Place::Far { object, offset, plus } => {
                self.emit(Instruction::Add { to, a: to, b: offset })?;
                Ok(Place::Far { object, offset: to, plus })
            }
        }
    }

    /// The bits of a constant's slot. `None` for other slots.
    pub(super) fn known_bits(&self, at: Slot) -> Option<u32> {
        self.known_bits.get(&at).copied()
    }

    /// Loads the value at the place.
    pub(super) fn load(&mut self, place: Place, n: u32, to: Option<Slot>, stable: bool) -> Done<Slot> {
        match place {
            Place::Direct(at) if !stable => Ok(at),
            Place::Direct(at) => {
                let to = self.or_temporary(to, n)?;
                self.copy(to, at, n)?;
                Ok(to)
            }
            Place::At { base, offset } => {
                let to = self.or_temporary(to, n)?;
                match n {
                    0 => {}
                    1 => _ = self.emit(Instruction::LoadAt { to, base, offset })?,
                    _ => _ = self.emit(Instruction::CopyFrom { to, base, offset, n })?,
                }
                Ok(to)
            }
            Place::Far { object, offset, plus } => {
                let to = self.or_temporary(to, n)?;
                match n {
                    0 => {}
                    1 => _ = self.emit(Instruction::LoadFar { to, object, offset, plus })?,
                    _ => {
                        let offset = self.plus(offset, plus)?;
                        self.emit(Instruction::CopyFromFar { to, object, offset, n })?;
                    }
                }
                Ok(to)
            }
        }
    }

    fn plus(&mut self, offset: Slot, plus: u32) -> Done<Slot> {
        if plus == 0 {
            return Ok(offset);
        }
        let to = self.temporary(1)?;
        self.add_constant(to, offset, plus)?;
        Ok(to)
    }

    /// Stores words to the place.
    pub(super) fn store_to(&mut self, place: Place, from: Slot, n: u32) -> Done {
        match (place, n) {
            (_, 0) => {}
            (Place::Direct(at), n) => self.copy(at, from, n)?,
            (Place::At { base, offset }, 1) => _ = self.emit(Instruction::StoreAt { base, offset, from })?,
            (Place::At { base, offset }, n) => _ = self.emit(Instruction::CopyTo { base, offset, from, n })?,
            (Place::Far { object, offset, plus }, 1) => _ = self.emit(Instruction::StoreFar { object, offset, plus, from })?,
            (Place::Far { object, offset, plus }, n) => {
                let offset = self.plus(offset, plus)?;
                self.emit(Instruction::CopyToFar { object, offset, from, n })?;
            }
        }
        Ok(())
    }

    /// The parts of a left-value that is a one-word element of a local array, and whose index may
    /// be checked when it is used. The parts are the array's slot, its length, the array expression
    /// and the index expression.
    pub(super) fn simple_element(&mut self, id: ExprId) -> Done<Option<(Slot, u32, ExprId, ExprId)>> {
        let expr = self.program.expr(id);
        let Form::Index(e1, e2, Access::AddressTaker(Callee::Generated(Generated::ElementAddress(array, AddressSpace::Thread)))) =
            expr.form
        else {
            return Ok(None);
        };
        let Form::Variable(store) = self.program.expr(e1).form else { return Ok(None) };
        let Type::Array(of, count) = self.program.env.types.get(array) else { return Ok(None) };
        if self.plain || self.words(of)? != 1 || self.program.store(store).space == AddressSpace::Threadgroup {
            return Ok(None);
        }
        Ok(Some((self.store(store)?, count, e1, e2)))
    }
}
