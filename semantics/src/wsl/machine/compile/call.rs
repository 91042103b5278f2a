//! Calls: seed 004 "Calls", "Fences and atomic operations".

use super::effects::Effects;
use super::{Compiler, Done};
use crate::wsl::environment::FunctionId;
use crate::wsl::environment::access::Callee;
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::machine::code::{Instruction, Modify, Slot};
use crate::wsl::types::{Scalar, Type, TypeId};
use crate::wsl::typing::program::ExprId;
use smallvec::SmallVec;
use std::ops::Range;

impl Compiler<'_> {
    /// Stores the values to the parameters in order, and calls the function. Returns the slot of
    /// the result. The next call of the function changes it, unless `stable`.
    pub(super) fn call(&mut self, id: FunctionId, arguments: &[Slot], to: Option<Slot>, stable: bool) -> Done<Slot> {
        let callable = self.callable(id)?;
        for (parameter, from) in callable.parameters.iter().zip(arguments) {
            self.copy(parameter.at, *from, parameter.n)?;
        }
        let at = self.emit(Instruction::Call { target: callable.label.0 })?;
        self.note_loops(at);
        if !stable {
            return Ok(callable.result.at);
        }
        let to = self.or_temporary(to, callable.result.n)?;
        self.copy(to, callable.result.at, callable.result.n)?;
        Ok(to)
    }

    /// Records the loops around a call or barrier, if threads may wait there.
    pub(super) fn note_loops(&mut self, at: u32) {
        if let Some(innermost) = self.jump_targets.innermost {
            self.code.innermost_loop.insert(at, innermost);
        }
    }

    /// The call of a function by its name.
    pub(super) fn call_expression(
        &mut self,
        id: ExprId,
        callee: Callee,
        range: Range<u32>,
        ty: TypeId,
        to: Option<Slot>,
        stable: bool,
    ) -> Done<Slot> {
        let program = self.program;
        let arguments = program.arguments(&range);
        let mut later_effects: SmallVec<[Effects; 4]> = arguments.iter().map(|_| Effects::default()).collect();
        for i in (1..arguments.len()).rev() {
            later_effects[i - 1] = later_effects[i] | self.effects[arguments[i].0 as usize];
        }
        match callee {
            Callee::Declared(f) => {
                let callable = self.callable(f)?;
                let mut slots: SmallVec<[Slot; 4]> = SmallVec::new();
                for ((e, later_effects), parameter) in arguments.iter().zip(&later_effects).zip(&callable.parameters) {
                    if self.plain || later_effects.reads_or_writes() {
                        slots.push(self.value(*e, None, later_effects.writes())?);
                    } else {
                        self.value_into(*e, parameter.at)?;
                        slots.push(parameter.at);
                    }
                }
                self.visit(id);
                self.call(f, &slots, to, stable)
            }
            Callee::Library(f) => {
                let mut operands: SmallVec<[(Slot, TypeId); 4]> = SmallVec::new();
                for (e, later_effects) in arguments.iter().zip(&later_effects) {
                    operands.push((self.value(*e, None, stable || later_effects.writes())?, program.expr(*e).ty.right()));
                }
                self.visit(id);
                if self.effectful(f, &operands)? {
                    return Ok(0);
                }
                match self.texture_or_quad(f, &operands, ty)? {
                    Some(at) => Ok(at),
                    None => self.call_of_library(f, &operands, ty, to),
                }
            }
            Callee::Generated(_) => self.unsupported("a call of a generated function by its name"),
        }
    }

    /// Calls a barrier or an atomic operation, which have no result. False for other functions.
    fn effectful(&mut self, f: LibraryFunction, operands: &[(Slot, TypeId)]) -> Done<bool> {
        let meaning = f.meaning();
        if super::is_barrier(meaning) {
            let at = self.emit(Instruction::Barrier)?;
            self.note_loops(at);
            return Ok(true);
        }
        if let (Meaning::InterlockedCompareExchange, &[(pointer, _), (compare, _), (new, _), (previous, ty)]) = (meaning, operands) {
            let values = self.temporary(3)?;
            self.copy(values, compare, 1)?;
            self.copy(values + 1, new, 1)?;
            self.emit(Instruction::CompareExchange { to: values + 2, pointer, values })?;
            self.store_through(previous, ty, values + 2)?;
            return Ok(true);
        }
        let &[(pointer, _), (value, of), (previous, ty)] = operands else { return Ok(false) };
        let int = of == TypeId::scalar(Scalar::Int);
        let modify = match meaning {
            Meaning::InterlockedAdd => Modify::Add,
            Meaning::InterlockedAnd => Modify::And,
            Meaning::InterlockedOr => Modify::Or,
            Meaning::InterlockedXor => Modify::Xor,
            Meaning::InterlockedMin if int => Modify::MinInt,
            Meaning::InterlockedMin => Modify::MinUint,
            Meaning::InterlockedMax if int => Modify::MaxInt,
            Meaning::InterlockedMax => Modify::MaxUint,
            Meaning::InterlockedExchange => Modify::Exchange,
            _ => return Ok(false),
        };
        let to = self.temporary(1)?;
        self.emit(Instruction::Atomic { modify, to, pointer, value })?;
        self.store_through(previous, ty, to)?;
        Ok(true)
    }

    /// Stores words through a pointer of that type.
    pub(super) fn store_through(&mut self, pointer: Slot, ty: TypeId, from: Slot) -> Done {
        let Type::Pointer(space, to) = self.program.env.types.get(ty) else { return self.unsupported("a store through this") };
        let n = self.words(to)?;
        let place = self.pointee_place(pointer, space);
        self.store_to(place, from, n)
    }
}
