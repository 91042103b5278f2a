//! Calls and barriers, which divide a block into parts.

use super::super::program::{Slot, Slots};
use super::{Compiled, Compiler, IdMeaning, PartEnd};
use crate::concurrency::{Class, Ordering, Scope, Semantics};
use crate::spirv::words::Instruction;

impl Compiler<'_> {
    pub(super) fn call(&mut self, i: &Instruction) -> Compiled<PartEnd> {
        let operands = self.operands(i);
        let function = *self.module.function(operands[0]).expect("load has checked the callee");
        let mut args = smallvec::SmallVec::new();
        for (parameter, &id) in self.module.parameters(&function).iter().zip(&operands[1..]) {
            match self.meanings.get(&parameter.id).cloned() {
                Some(IdMeaning::Pointer(to)) => args.push((Slot::Word(to.dynamic), Slot::Word(self.address_of(id)?))),
                Some(IdMeaning::Slots(to)) => {
                    let from = if self.is_pointer(id) { self.pointer_slots(id)? } else { self.value(id)? };
                    args.extend(to.into_iter().zip(from));
                }
                Some(IdMeaning::Opaque { image, sampler }) => {
                    let (from_image, from_sampler) = self.opaque(id)?;
                    args.extend(self.opaque_argument(&image, &from_image)?);
                    // A pointer to both has one column.
                    if sampler.number != image.number {
                        args.extend(self.opaque_argument(&sampler, &from_sampler)?);
                    }
                }
                None => return self.unsupported("a call of a function that is not compiled"),
            }
        }
        Ok(PartEnd::Call { function: function.id, args })
    }

    /// Copies the function's result into registers of this call.
    pub(super) fn result_of_call(&mut self, i: &Instruction) -> Compiled {
        let result = self.frames[&self.operands(i)[0]].result.clone();
        let mut slots = Slots::new();
        if !result.is_empty() {
            slots = self.slots(i.result_type)?;
            for (&to, &from) in slots.iter().zip(&result) {
                self.copy(to, from, true);
            }
        }
        self.meanings.insert(i.result, IdMeaning::Slots(slots));
        Ok(())
    }

    pub(super) fn barrier(&mut self, i: &Instruction) -> Compiled<PartEnd> {
        let operands = self.operands(i);
        let (execution, scope, semantics) = (self.scope(operands[0])?, self.scope(operands[1])?, self.semantics(operands[2])?);
        match execution {
            Scope::Workgroup => {}
            Scope::Subgroup => {
                self.synchronise(&semantics);
                self.program.subgroups = true;
                return Ok(PartEnd::SubgroupBarrier { scope, semantics });
            }
            other => return self.unsupported(format!("OpControlBarrier of the scope {other:?} in the lockstep machine")),
        }
        // It must be a release before and an acquire after, for all invocations of the workgroup.
        let orders = scope >= Scope::Workgroup && semantics.ordering == Ordering::AcquireRelease;
        let [orders_shared, orders_buffers, orders_images] =
            [Class::Workgroup, Class::Uniform, Class::Image].map(|class| orders && semantics.classes.contains(class));
        Ok(PartEnd::Barrier { orders_shared, orders_buffers, orders_images, scope, semantics })
    }

    /// Records that an operation other than a workgroup barrier orders memory.
    pub(super) fn synchronise(&mut self, semantics: &Semantics) {
        self.program.synchronises |= semantics.ordering != Ordering::Relaxed;
        self.program.in_order |= self.program.synchronises;
    }

    /// Decodes the scope of a constant.
    pub(super) fn scope(&self, id: u32) -> Compiled<Scope> {
        let word = self.module.constant_value(id).and_then(|word| u32::try_from(word).ok());
        match word.map(Scope::decode) {
            Some(Ok(scope)) => Ok(scope),
            Some(Err(error)) => self.unsupported(error.to_string()),
            None => self.unsupported("a scope that is no constant"),
        }
    }

    /// Decodes the memory semantics of a constant.
    pub(super) fn semantics(&self, id: u32) -> Compiled<Semantics> {
        let word = self.module.constant_value(id).and_then(|word| u32::try_from(word).ok());
        match word.map(Semantics::decode) {
            Some(Ok(semantics)) => Ok(semantics),
            Some(Err(error)) => self.unsupported(error.to_string()),
            None => self.unsupported("memory semantics that are no constant"),
        }
    }
}
