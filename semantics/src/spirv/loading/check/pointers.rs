//! Variable pointers (SPIR-V §2.16.1, §3.3.8): where pointers may be chosen at run time, and
//! their permitted uses.

use rspirv::spirv::{Capability, StorageClass};

use super::{Checked, Pass};
use crate::spirv::error::Check;
use crate::spirv::grammar::Op;
use crate::spirv::operation::{Scalar, Shape};
use crate::spirv::pointers::Root;
use crate::spirv::words::Instruction;

impl Pass<'_> {
    /// Checks that pointers of a type may be chosen at run time. They point into StorageBuffer or
    /// Workgroup, the capability is declared, and they do not point to a type with a matrix.
    pub(super) fn variable_pointer(&self, i: &Instruction, type_: u32) -> Checked {
        let Some((class, pointee)) = self.module.pointer_type(type_) else { return Ok(()) };
        let subject = if i.result == 0 { i.name() } else { format!("%{} = {}", i.result, i.name()) };
        let needed = match class {
            StorageClass::StorageBuffer => Capability::VariablePointersStorageBuffer,
            StorageClass::Workgroup => Capability::VariablePointers,
            _ => {
                let what = format!("{subject} has a pointer into {class:?}; variable pointers are into StorageBuffer or Workgroup");
                return self.fail(Check::Pointer, what);
            }
        };
        if !self.module.has_capability(needed) {
            let what = format!("{subject} has a pointer into {class:?}, which needs the capability {needed:?}");
            return self.fail(Check::Capability, what);
        }
        if class == StorageClass::Workgroup && self.module.has_capability(Capability::WorkgroupMemoryExplicitLayoutKHR) {
            return self.unsupported(format!("{subject} of a pointer into Workgroup with WorkgroupMemoryExplicitLayoutKHR"));
        }
        if self.module.types.contents(pointee).matrix {
            let what = format!("{subject} has a pointer to {}; a variable pointer is not to what has a matrix", self.text(pointee));
            return self.fail(Check::Pointer, what);
        }
        Ok(())
    }

    /// Checks that a pointer's type has the stride of the elements that it points among. Devices
    /// that compute addresses by the type then reach the elements.
    pub(super) fn keeps_stride(&self, i: &Instruction, operands: &[u32], first: usize, array: Option<u32>) -> Checked {
        let Some(stride) = self.module.pointer_stride(i.result_type).filter(|_| !self.module.unmodeled) else { return Ok(()) };
        if !self.module.has_variable_pointers() {
            return Ok(());
        }
        let found = match operands.len() > first {
            true => array,
            false => self.module.type_of(operands[0]).and_then(|type_| self.module.pointer_stride(type_)),
        };
        if found.is_some_and(|found| found != stride) || operands.len() == first && found.is_none() {
            let what = format!("%{} = {} of an ArrayStride, {stride}, that is not that of the array", i.result, i.name());
            return self.unsupported(what);
        }
        Ok(())
    }

    /// Checks OpPtrAccessChain: the base is an element of an array, the element operand an integer,
    /// and the indices fit.
    pub(super) fn ptr_access_chain(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let type_ = self.value_type(operands[0])?;
        self.pointer(operands[0])?;
        self.variable_pointer(i, type_)?;
        self.base_of_elements(i, type_)?;
        self.integer_scalar(i, operands[1], "the element")?;
        self.access_chain(i, operands, 2)
    }

    /// Checks that a pointer type has the stride of elements, if its memory has a layout.
    fn base_of_elements(&self, i: &Instruction, type_: u32) -> Checked {
        let Some((class, _)) = self.module.pointer_type(type_) else { return Ok(()) };
        let stride = self.module.pointer_stride(type_);
        let fault = match (class, stride) {
            (StorageClass::StorageBuffer, None | Some(0)) => "has a base whose type has no ArrayStride",
            (StorageClass::Workgroup, Some(_)) => "has a base in Workgroup whose type has an ArrayStride",
            _ => return Ok(()),
        };
        self.fail(Check::Layout, format!("%{} = {} {fault}", i.result, i.name()))
    }

    /// Checks OpPtrEqual, OpPtrNotEqual and OpPtrDiff.
    pub(super) fn compare_pointers(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let type_ = self.value_type(operands[0])?;
        self.pointer(operands[0])?;
        self.value_of(i, operands[1], type_, "an operand")?;
        self.variable_pointer(i, type_)?;
        let result = self.module.shapes[self.index];
        let fits = match i.op {
            Op::PtrDiff => result.lanes() == 1 && result.scalar.is_int(),
            _ => result == Shape::vector(Scalar::Bool, 1),
        };
        if !fits {
            let kind = if i.is(Op::PtrDiff) { "an integer" } else { "bool" };
            return self.fail(Check::Type, format!("%{} = {} has result {result}; it must be {kind}", i.result, i.name()));
        }
        if i.is(Op::PtrDiff) {
            self.base_of_elements(i, type_)?;
        }
        Ok(())
    }

    /// Checks the sources of chosen pointers, once all pointers of the function are known. None
    /// points into a matrix. All point into one buffer, unless the module declares
    /// VariablePointers.
    pub(super) fn chosen_pointers(&mut self) -> Checked {
        if !self.module.has_variable_pointers() || self.module.unmodeled {
            return Ok(());
        }
        let confined = !self.module.has_capability(Capability::VariablePointers);
        for block in self.module.function_blocks(self.function) {
            for index in block.start..block.end {
                self.index = index as usize;
                let i = self.module.instructions[self.index];
                let operands = self.operands(&i);
                let results = self.module.pointer_type(i.result_type).is_some();
                let chosen: Vec<u32> = match i.op {
                    Op::Select if results => operands[1..].to_vec(),
                    Op::Phi if results => operands.iter().step_by(2).copied().collect(),
                    Op::Store => operands[1..2].to_vec(),
                    Op::ReturnValue | Op::PtrAccessChain => operands[..1].to_vec(),
                    Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff => operands[..2].to_vec(),
                    _ => continue,
                };
                if let Some(id) = chosen.iter().find(|&&id| self.origin(id).in_matrix) {
                    let what = format!("{} chooses %{id}, which points into a matrix; a variable pointer does not", i.name());
                    return self.fail(Check::Pointer, what);
                }
                if confined && results && matches!(self.roots.get(self.module, i.result), Root::Several(_)) {
                    let what =
                        format!("%{} = {} may point into several buffers, which needs the capability VariablePointers", i.result, i.name());
                    return self.fail(Check::Capability, what);
                }
            }
        }
        Ok(())
    }
}
