//! Pointers whose target is unknown: seed 004 "Pointers and references", "Assignment".
//!
//! Most pointers are known places. A pointer that was loaded from memory is not, and neither is one
//! in a variable that an operator may assign. The scalar of such a pointer says only how uniform
//! the pointer is. What is loaded through it may differ between invocations. A store through it may
//! change every variable whose address is taken and whose type has a part of the stored type.
//!
//! Such a store need not change variables whose declaration is lowered later. Even in a loop, the
//! declaration or the call sets such a variable again before its next use by name or by a known
//! place.

use super::place::Place;
use super::{Lower, MAX_UNKNOWN_STORES, Val};
use crate::text::deep;
use crate::uniformity::flow::{Cell, Planted, Pure, Scalars, Value};
use crate::wsl::environment::access::Callee;
use crate::wsl::types::{Type, TypeId};
use crate::wsl::typing::program::{Access, ExprId, Form, Program, StoreId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Where the pointers of a program lead, in all of its functions.
#[derive(Clone, Debug, Default)]
pub(super) struct Pointers {
    /// The variables and parameters that a pointer or array reference may lead to.
    pub address_taken: FxHashSet<StoreId>,
    /// The types of pointers and array references that an operator assigns somewhere. `p += e` and
    /// `p++` do, if the program declares the operator.
    pub assigned: FxHashSet<TypeId>,
}

impl Pointers {
    pub(super) fn of(program: &Program) -> Pointers {
        let mut pointers = Pointers::default();
        for expr in &program.exprs {
            match &expr.form {
                Form::AddressOf(e)
                | Form::MakeReference(e, _)
                | Form::Dot(e, _, Access::AddressTaker(Callee::Declared(_)))
                | Form::Index(e, _, Access::AddressTaker(Callee::Declared(_))) => {
                    pointers.address_taken.extend(variable_of(program, *e));
                }
                Form::Assign(e, _) | Form::CompoundAssign(_, e, _) | Form::Step(_, _, e, ..) => {
                    let ty = program.expr(*e).ty.right();
                    if program.env.types.is_reference(ty) {
                        pointers.assigned.insert(ty);
                    }
                }
                _ => {}
            }
        }
        pointers
    }
}

/// The variable that the left-value is or is a part of. `None` if a pointer leads to it.
fn variable_of(program: &Program, mut e: ExprId) -> Option<StoreId> {
    loop {
        match &program.expr(e).form {
            Form::Variable(store) => return Some(*store),
            Form::Parens(inner)
            | Form::Coerce(_, inner)
            | Form::Dot(inner, _, Access::AddressTaker(_))
            | Form::Index(inner, _, Access::AddressTaker(_)) => e = *inner,
            _ => return None,
        }
    }
}

/// What a pointer may lead to: the cells from the first one on, and their type.
pub(super) type Object = (Cell, u32, TypeId);

/// The stores through unknown pointers of the function that is lowered.
#[derive(Clone, Debug, Default)]
pub(super) struct UnknownStores {
    /// All variables that a pointer may lead to, as far as they are lowered.
    pub objects: Vec<Object>,
    /// For a summary: the cell that stands for all variables of callers.
    pub outside: Option<Cell>,
    /// For a summary: the types that are stored to variables of callers.
    pub types: Vec<TypeId>,
    /// The number of pointers that have a scalar.
    scalars: u32,
    /// The number of values that the stores change, times what each depends on.
    size: usize,
    /// By type of a variable and type of a store: whether the first has a part of the second.
    parts: FxHashMap<(TypeId, TypeId), bool>,
}

impl UnknownStores {
    /// Whether there were too many, so that some were left out.
    pub(super) fn too_many(&self) -> bool {
        self.size > MAX_UNKNOWN_STORES
    }
}

impl Lower<'_> {
    /// The scalar of a pointer or array reference. Two pointers of one place in the program have
    /// one scalar if they depend on the same values.
    pub(super) fn scalar_of_pointer(&mut self, depends: Scalars) -> Value {
        let number = self.flow.constant(self.unknown_stores.scalars);
        self.unknown_stores.scalars += 1;
        let mut operands = depends;
        operands.push(number);
        self.flow.pure(Pure::Other(0), &operands)
    }

    /// An argument that is a pointer or array reference of unknown target, as a pointer.
    pub(super) fn with_place(&self, argument: &Val, ty: TypeId) -> Val {
        match (argument, self.ty(ty)) {
            (Val::Cells(cells), Type::Pointer(space, _) | Type::ArrayReference(space, _)) => {
                Val::Pointer(Place::Memory(space, cells.iter().copied().collect()))
            }
            _ => argument.clone(),
        }
    }

    /// Whether an operator may assign variables of this type of pointers.
    pub(super) fn is_assigned(&self, ty: TypeId) -> bool {
        self.facts.pointers.assigned.contains(&ty) && self.planted != Some(Planted::PointersStay)
    }

    /// Whether the variable, which holds a pointer or array reference, is loaded as other variables
    /// are.
    pub(super) fn has_scalar(&self, store: StoreId) -> bool {
        self.facts.pointers.address_taken.contains(&store) || self.is_assigned(self.program.store(store).ty)
    }

    /// Stores the values of a type through a pointer of unknown target into the thread's memory.
    pub(super) fn store_anywhere(&mut self, to: TypeId, depends: &[Value], values: &[Value]) {
        if self.planted == Some(Planted::LoadedPointers) {
            return;
        }
        for at in 0..self.unknown_stores.objects.len() {
            let (first, n, ty) = self.unknown_stores.objects[at];
            if !self.has_part(ty, to) {
                continue;
            }
            for (k, cell) in (first.0..first.0 + n).enumerate() {
                // A pointer to the type of the variable leads to the whole variable.
                match ty == to && n as usize == values.len() {
                    true => self.change(Cell(cell), depends, &values[k..=k]),
                    false => self.change(Cell(cell), depends, values),
                }
            }
        }
        if let Some(cell) = self.unknown_stores.outside {
            self.change(cell, depends, values);
            if !self.unknown_stores.types.contains(&to) {
                self.unknown_stores.types.push(to);
            }
        }
    }

    /// The cell keeps its value, or gets one of these values.
    fn change(&mut self, cell: Cell, depends: &[Value], values: &[Value]) {
        self.unknown_stores.size += 2 + depends.len() + values.len();
        if self.unknown_stores.too_many() {
            return;
        }
        let mut operands: Scalars = depends.iter().copied().collect();
        operands.push(self.flow.read(cell));
        operands.extend_from_slice(values);
        let changed = self.flow.pure(Pure::Other(cell.0), &operands);
        self.flow.write(cell, changed);
    }

    /// Whether a variable of a type is of the type `part`, or a part of it is.
    fn has_part(&mut self, whole: TypeId, part: TypeId) -> bool {
        if whole == part {
            return true;
        }
        if let Some(&known) = self.unknown_stores.parts.get(&(whole, part)) {
            return known;
        }
        let has = match self.ty(whole) {
            Type::Vector(..) | Type::Matrix(..) => matches!(self.ty(part), Type::Scalar(_) | Type::Vector(..)),
            Type::Array(of, _) => deep(|| self.has_part(of, part)),
            Type::Struct(s) => {
                let program = self.program;
                program.env.structure(s).fields.iter().any(|field| deep(|| self.has_part(field.ty, part)))
            }
            _ => false,
        };
        self.unknown_stores.parts.insert((whole, part), has);
        has
    }
}
