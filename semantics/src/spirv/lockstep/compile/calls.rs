//! Calls and barriers: where a block is cut in two.

use super::super::super::words::Instruction;
use super::super::program::{Slot, Slots};
use super::{Compiled, Compiler, Ends, Home};

/// Acquire and Release together, AcquireRelease, or SequentiallyConsistent: SPIR-V §3.2.26.
fn orders(semantics: u64) -> bool {
    semantics & 0x18 != 0 || semantics & 0x6 == 0x6
}

impl Compiler<'_> {
    pub(super) fn call(&mut self, i: &Instruction) -> Compiled<Ends> {
        let operands = self.operands(i);
        let function = *self.module.function(operands[0]).expect("load has checked the callee");
        let mut args = smallvec::SmallVec::new();
        for (parameter, &id) in self.module.parameters(&function).iter().zip(&operands[1..]) {
            match self.homes.get(&parameter.id).cloned() {
                Some(Home::Pointer(to)) => args.push((Slot::Word(to.dynamic), Slot::Word(self.address_of(id)?))),
                Some(Home::Slots(to)) => {
                    let from = self.value(id)?;
                    args.extend(to.into_iter().zip(from));
                }
                None => return self.unsupported("a call of a function that is not compiled"),
            }
        }
        Ok(Ends::Call { function: function.id, args })
    }

    /// What the function returned, into registers of this call's own.
    pub(super) fn result_of_call(&mut self, i: &Instruction) -> Compiled {
        let result = self.frames[&self.operands(i)[0]].result.clone();
        let mut slots = Slots::new();
        if !result.is_empty() {
            slots = self.slots(i.result_type)?;
            for (&to, &from) in slots.iter().zip(&result) {
                self.copy(to, from, true);
            }
        }
        self.homes.insert(i.result, Home::Slots(slots));
        Ok(())
    }

    pub(super) fn barrier(&mut self, i: &Instruction) -> Compiled<Ends> {
        let operands = self.operands(i);
        let [execution, memory, semantics] = [0, 1, 2].map(|k| self.module.constant_value(operands[k]));
        let (Some(2), Some(memory), Some(semantics)) = (execution, memory, semantics) else {
            return self.unsupported("OpControlBarrier of another scope than Workgroup in the lockstep machine");
        };
        // CrossDevice, Device, Workgroup and QueueFamily have all invocations of a workgroup in them.
        let wide_enough = matches!(memory, 0 | 1 | 2 | 5);
        let orders = wide_enough && orders(semantics);
        Ok(Ends::Barrier { orders_shared: orders && semantics & 0x100 != 0, orders_buffers: orders && semantics & 0x40 != 0 })
    }
}
