//! Targets of assignments, and the accessors that read and assign to parts: seed 004 "Assignment",
//! "Dot operator", "Arrays", "Generated functions".

use super::place::Place;
use super::{Compiler, Done};
use crate::text::deep;
use crate::wsl::environment::FunctionId;
use crate::wsl::environment::access::{Callee, Generated};
use crate::wsl::library::Meaning;
use crate::wsl::machine::code::{Instruction, Shape, Slot};
use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{Access, Coercion, ExprId, Form};
use smallvec::SmallVec;

/// The reduced form of an assignment's target. The target is reduced only once.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A left-value, or a part of one that the library names. With such a part comes the padding of
    /// the vectors and matrices around it, because these are assigned to as wholes.
    Place(Place, TypeId, SmallVec<[Place; 1]>),
    /// A part of another target. A setter changes the whole, and a getter reads the part.
    Part(Box<Part>),
}

#[derive(Clone, Debug)]
pub(super) struct Part {
    whole: Target,
    whole_ty: TypeId,
    setter: Callee,
    getter: Callee,
    index: Option<Slot>,
    ty: TypeId,
}

impl Drop for Part {
    fn drop(&mut self) {
        // Parts nest as deeply as in the program, so they are dropped in a loop.
        let empty = || Target::Place(Place::Direct(0), TypeId::VOID, SmallVec::new());
        let mut rest = std::mem::replace(&mut self.whole, empty());
        while let Target::Part(mut part) = rest {
            rest = std::mem::replace(&mut part.whole, empty());
        }
    }
}

impl Compiler<'_> {
    /// Reduces an expression to an abstract left-value: addresses and indices, from left to right.
    pub(super) fn target(&mut self, id: ExprId) -> Done<Target> {
        deep(|| self.target_of(id))
    }

    fn target_of(&mut self, id: ExprId) -> Done<Target> {
        let expr = self.program.expr(id);
        let ty = expr.ty.right();
        match &expr.form {
            Form::Parens(e) => self.target(*e),
            Form::Coerce(Coercion::LeftToAbstract, e) => Ok(Target::Place(self.place(*e)?, ty, SmallVec::new())),
            Form::Dot(e, _, Access::Setter(setter, getter)) => {
                let whole = self.target(*e)?;
                self.visit(id);
                self.part(whole, *e, *setter, *getter, None, ty)
            }
            Form::Index(e1, e2, Access::Setter(setter, getter)) => {
                let whole = self.target(*e1)?;
                let index = self.value(*e2, None, true)?;
                self.visit(id);
                self.part(whole, *e1, *setter, *getter, Some(index), ty)
            }
            _ => self.unsupported("this expression as something to assign to"),
        }
    }

    /// The target of a part. If the library names the part and the whole has a place, the part has
    /// a place.
    fn part(&mut self, whole: Target, e: ExprId, setter: Callee, getter: Callee, index: Option<Slot>, ty: TypeId) -> Done<Target> {
        let whole_ty = self.program.expr(e).ty.right();
        if let Target::Place(place, _, padding) = &whole
            && !self.plain
        {
            let place = *place;
            let padding = || padding.iter().copied().chain(self.padded(place, whole_ty)).collect();
            match (setter, index) {
                (Callee::Library(f), None) if f.meaning() == Meaning::SetSwizzle && f.word().len() == 1 => {
                    return Ok(Target::Place(place.after(u32::from(f.word()[0])), ty, padding()));
                }
                (Callee::Library(f), Some(index)) if f.meaning() == Meaning::SetIndex => {
                    let shape = self.shape_of_parts(whole_ty);
                    if let (Some(shape), Some(bits)) = (shape, self.known_bits(index))
                        && bits < u32::from(shape.count)
                    {
                        return Ok(Target::Place(place.after(bits * u32::from(shape.words)), ty, padding()));
                    }
                }
                _ => {}
            }
        }
        Ok(Target::Part(Box::new(Part { whole, whole_ty, setter, getter, index, ty })))
    }

    /// The number of elements of a vector or of columns of a matrix, and the words of each.
    pub(super) fn shape_of_parts(&self, ty: TypeId) -> Option<Shape> {
        match self.program.env.types.get(ty) {
            Type::Vector(_, n) => Some(Shape { count: n, words: 1 }),
            Type::Matrix(_, columns, rows) => Some(Shape { count: columns, words: rows.next_power_of_two() }),
            _ => None,
        }
    }

    /// The padding of a vector or matrix of that type.
    fn padded(&self, place: Place, ty: TypeId) -> SmallVec<[Place; 4]> {
        match self.program.env.types.get(ty) {
            Type::Vector(_, 3) => SmallVec::from_elem(place.after(3), 1),
            Type::Matrix(_, columns, 3) => (0..u32::from(columns)).map(|c| place.after(4 * c + 3)).collect(),
            _ => SmallVec::new(),
        }
    }

    /// The value of a target: a load, or the result of the getter for the value of the whole.
    pub(super) fn read(&mut self, target: &Target, to: Option<Slot>, stable: bool) -> Done<Slot> {
        let (to, stable) = if self.plain { (None, true) } else { (to, stable) };
        deep(|| match target {
            Target::Place(place, ty, padding) => {
                let n = self.words(*ty)?;
                let value = self.load(*place, n, to, stable)?;
                if !padding.is_empty() && self.is_padded(*ty) {
                    // A getter makes this column, so its padding is zeros.
                    return self.gather(&[(value, *ty)], *ty, n, to);
                }
                self.sanitized(value, *ty, to)
            }
            Target::Part(part) => {
                let whole = self.read(&part.whole, None, stable)?;
                self.get(part.getter, whole, part.whole_ty, part.index, part.ty, to, stable)
            }
        })
    }

    /// Assigns to a target: a store, or an assignment of the setter's result to the whole.
    pub(super) fn assign(&mut self, target: &Target, value: Slot) -> Done {
        deep(|| match target {
            Target::Place(place, ty, padding) => {
                let n = self.words(*ty)?;
                self.store_to(*place, value, n)?;
                for place in padding {
                    let zero = self.constant(0)?;
                    self.store_to(*place, zero, 1)?;
                }
                Ok(())
            }
            Target::Part(part) => {
                let whole = self.read(&part.whole, None, false)?;
                let whole = self.set(part, whole, value)?;
                self.assign(&part.whole, whole)
            }
        })
    }

    /// The result of the getter.
    #[allow(clippy::too_many_arguments, reason = "the parts of one call")]
    pub(super) fn get(
        &mut self,
        getter: Callee,
        whole: Slot,
        whole_ty: TypeId,
        index: Option<Slot>,
        ty: TypeId,
        to: Option<Slot>,
        stable: bool,
    ) -> Done<Slot> {
        let n = self.words(ty)?;
        match (getter, index) {
            (Callee::Declared(f), _) => {
                let arguments: SmallVec<[Slot; 4]> = [Some(whole), index].into_iter().flatten().collect();
                self.call(f, &arguments, to, stable)
            }
            (Callee::Generated(Generated::FieldGetter(s, field)), _) => {
                let value = whole + self.field_offset(s, field)?;
                self.sanitized(value, ty, to)
            }
            (Callee::Generated(Generated::ElementGetter(_)), Some(index)) => {
                let place = self.element_of(Place::Direct(whole), whole_ty, index)?;
                let value = self.load(place, n, to, false)?;
                self.sanitized(value, ty, to)
            }
            (Callee::Generated(generated @ Generated::Getter(f)), _) => {
                let b = self.generated_parameter(generated, whole_ty)?;
                let whole_words = self.words(whole_ty)?;
                self.copy(b, whole, whole_words)?;
                let (place, _) = self.generated_access(f, b, index)?;
                let value = self.load(place, n, to, false)?;
                self.sanitized(value, ty, to)
            }
            (Callee::Library(f), index) => {
                let arguments: SmallVec<[(Slot, TypeId); 4]> =
                    [Some((whole, whole_ty)), index.map(|i| (i, TypeId::UINT))].into_iter().flatten().collect();
                self.call_of_library(f, &arguments, ty, to)
            }
            _ => self.unsupported("this getter"),
        }
    }

    /// The whole that the setter returns. Afterwards it is only used as a whole.
    fn set(&mut self, part: &Part, whole: Slot, value: Slot) -> Done<Slot> {
        let (n, whole_words) = (self.words(part.ty)?, self.words(part.whole_ty)?);
        match (part.setter, part.index) {
            (Callee::Declared(f), index) => {
                let arguments: SmallVec<[Slot; 4]> = [Some(whole), index, Some(value)].into_iter().flatten().collect();
                self.call(f, &arguments, None, true)
            }
            (Callee::Generated(Generated::FieldSetter(s, field)), _) => {
                let to = self.temporary(whole_words)?;
                self.copy(to, whole, whole_words)?;
                let at = to + self.field_offset(s, field)?;
                self.copy(at, value, n)?;
                Ok(to)
            }
            (Callee::Generated(Generated::ElementSetter(_)), Some(index)) => {
                let to = self.temporary(whole_words)?;
                self.copy(to, whole, whole_words)?;
                let place = self.element_of(Place::Direct(to), part.whole_ty, index)?;
                self.store_to(place, value, n)?;
                Ok(to)
            }
            (Callee::Generated(generated @ Generated::Setter(f)), index) => {
                let b = self.generated_parameter(generated, part.whole_ty)?;
                self.copy(b, whole, whole_words)?;
                let value_copy = self.temporary(n)?;
                self.copy(value_copy, value, n)?;
                let (place, _) = self.generated_access(f, b, index)?;
                self.store_to(place, value_copy, n)?;
                let to = self.temporary(whole_words)?;
                self.copy(to, b, whole_words)?;
                Ok(to)
            }
            (Callee::Library(f), None) if f.meaning() == Meaning::SetSwizzle => {
                let to = self.temporary(whole_words)?;
                self.copy(to, whole, whole_words)?;
                for (k, &letter) in f.word().iter().enumerate() {
                    self.copy(to + u32::from(letter), value + k as u32, 1)?;
                }
                self.zero_padding(to, part.whole_ty)?;
                Ok(to)
            }
            (Callee::Library(f), Some(index)) if f.meaning() == Meaning::SetIndex => {
                let Some(shape) = self.shape_of_parts(part.whole_ty) else { return self.unsupported("this setter") };
                let to = self.temporary(whole_words)?;
                self.copy(to, whole, whole_words)?;
                if let Some(bits) = self.known_bits(index).filter(|b| *b < u32::from(shape.count)) {
                    self.copy(to + bits * u32::from(shape.words), value, n)?;
                    self.zero_padding(to, part.whole_ty)?;
                    return Ok(to);
                }
                let lane = self.temporary(1)?;
                self.emit(Instruction::Lane { to: lane, index, count: u32::from(shape.count) })?;
                self.emit(Instruction::SetLane { into: to, lane, from: value, shape })?;
                self.zero_padding(to, part.whole_ty)?;
                Ok(to)
            }
            _ => self.unsupported("this setter"),
        }
    }

    /// The parameter of an accessor that is generated from an address-taker.
    fn generated_parameter(&mut self, generated: Generated, ty: TypeId) -> Done<Slot> {
        if let Some(&at) = self.generated.get(&generated) {
            return Ok(at);
        }
        let n = self.words(ty)?;
        let at = self.allocate(n)?;
        self.generated.insert(generated, at);
        Ok(at)
    }

    /// `b.f` or `b[i]` in the body of a generated accessor, by the address-taker.
    fn generated_access(&mut self, f: FunctionId, b: Slot, index: Option<Slot>) -> Done<(Place, TypeId)> {
        let pointer = self.pointer_to(Place::Direct(b), None)?;
        let arguments: SmallVec<[Slot; 4]> = [Some(pointer), index].into_iter().flatten().collect();
        let pointer = self.call(f, &arguments, None, true)?;
        match self.program.env.types.get(self.program.env.function(f).result) {
            Type::Pointer(space, to) => Ok((self.pointee_place(pointer, space), to)),
            _ => Ok((self.pointee_place(pointer, AddressSpace::Thread), TypeId::VOID)),
        }
    }

    /// The value itself, or for an enum a copy that is made valid.
    pub(super) fn sanitized(&mut self, value: Slot, ty: TypeId, to: Option<Slot>) -> Done<Slot> {
        let Type::Enum(id) = self.program.env.types.get(ty) else { return Ok(value) };
        let to = self.or_temporary(to, 1)?;
        self.copy(to, value, 1)?;
        let enumeration = self.enumeration(id);
        self.emit(Instruction::Sanitize { at: to, enumeration })?;
        Ok(to)
    }
}
