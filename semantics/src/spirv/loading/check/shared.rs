//! Atomic instructions and barriers (SPIR-V §3.3.18, §3.3.20): pointers,
//! scopes and memory semantics.

use rspirv::spirv::{Capability, MemorySemantics, Scope, StorageClass};

use super::{Checked, Pass};
use crate::spirv::error::Check;
use crate::spirv::grammar::Op;
use crate::spirv::operation::{Scalar, Shape};
use crate::spirv::words::Instruction;

/// Whether the instruction is a modeled atomic instruction.
pub fn is_atomic(op: Op) -> bool {
    matches!(
        op,
        Op::AtomicLoad
            | Op::AtomicStore
            | Op::AtomicExchange
            | Op::AtomicCompareExchange
            | Op::AtomicIIncrement
            | Op::AtomicIDecrement
            | Op::AtomicIAdd
            | Op::AtomicISub
            | Op::AtomicSMin
            | Op::AtomicUMin
            | Op::AtomicSMax
            | Op::AtomicUMax
            | Op::AtomicAnd
            | Op::AtomicOr
            | Op::AtomicXor
    )
}

const ACQUIRE_RELEASE: MemorySemantics = MemorySemantics::ACQUIRE_RELEASE;

impl Pass<'_> {
    pub(super) fn atomic(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let (class, pointee) = self.pointer(operands[0])?;
        let shape = self.module.shape(pointee);
        if self.module.unmodeled && (class == StorageClass::Image || !matches!(shape.scalar, Scalar::Int { width: 32, .. })) {
            return Ok(());
        }
        if !matches!(class, StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::Workgroup) {
            let what = format!("{} is through %{}, into {class:?}; it is for storage buffers and Workgroup", i.name(), operands[0]);
            return self.fail(Check::Atomic, what);
        }
        let is_wide = shape.lanes() == 1 && matches!(shape.scalar, Scalar::Int { width: 64, .. });
        if is_wide && !self.module.has_capability(Capability::Int64Atomics) {
            let what = format!("{} is through %{}, which points to {}; this needs Int64Atomics", i.name(), operands[0], self.text(pointee));
            return self.fail(Check::Capability, what);
        }
        if !is_wide && (shape.lanes() != 1 || !matches!(shape.scalar, Scalar::Int { width: 32, .. })) {
            if shape.lanes() == 1 && shape.scalar.is_float() {
                return self.unsupported(format!("{} of {shape}", i.name()));
            }
            let what = format!("{} is through %{}, which points to {}; it is for integers", i.name(), operands[0], self.text(pointee));
            return self.fail(Check::Atomic, what);
        }
        if i.result_type != 0 && i.result_type != pointee {
            let what = format!("%{} = {} has result {}, but it loads {}", i.result, i.name(), self.text(i.result_type), self.text(pointee));
            return self.fail(Check::Type, what);
        }
        if !i.is(Op::AtomicLoad) {
            self.writable(i, operands[0], class)?;
        }
        self.scope(i, operands[1])?;
        let semantics = self.semantics(i, operands[2])?;
        match i.op {
            Op::AtomicLoad if semantics.intersects(MemorySemantics::RELEASE | ACQUIRE_RELEASE) => {
                return self.fail(Check::MemorySemantics, "OpAtomicLoad has release semantics; it may acquire");
            }
            Op::AtomicStore if semantics.intersects(MemorySemantics::ACQUIRE | ACQUIRE_RELEASE) => {
                return self.fail(Check::MemorySemantics, "OpAtomicStore has acquire semantics; it may release");
            }
            Op::AtomicCompareExchange => {
                let unequal = self.semantics(i, operands[3])?;
                if unequal.intersects(MemorySemantics::RELEASE | ACQUIRE_RELEASE) {
                    return self.fail(Check::MemorySemantics, "OpAtomicCompareExchange has release semantics where it does not store");
                }
                self.value_of(i, operands[4], pointee, "the value")?;
                return self.value_of(i, operands[5], pointee, "the comparator");
            }
            _ => {}
        }
        match operands.get(3) {
            Some(&value) => self.value_of(i, value, pointee, "the value"),
            None => Ok(()),
        }
    }

    pub(super) fn barrier(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let memory = match i.op {
            Op::ControlBarrier => {
                let execution = self.scope(i, operands[0])?;
                if !matches!(execution, Scope::Workgroup | Scope::Subgroup) {
                    let what = format!("OpControlBarrier has execution scope {execution:?}; it must be Workgroup or Subgroup");
                    return self.fail(Check::Scope, what);
                }
                &operands[1..]
            }
            _ => operands,
        };
        self.scope(i, memory[0])?;
        let semantics = self.semantics(i, memory[1])?;
        if i.is(Op::MemoryBarrier) && !semantics.intersects(MemorySemantics::ACQUIRE | MemorySemantics::RELEASE | ACQUIRE_RELEASE) {
            return self.fail(Check::MemorySemantics, "OpMemoryBarrier orders nothing: it has no acquire or release semantics");
        }
        Ok(())
    }

    /// The scope of a constant (SPIR-V §3.27; Vulkan, SPIR-V environment).
    pub(super) fn scope(&self, i: &Instruction, id: u32) -> Checked<Scope> {
        let scope = Scope::from_u32(self.word(i, id, "a scope", Check::Scope)?);
        let allowed = match scope {
            Some(Scope::Device) => {
                !self.module.has_capability(Capability::VulkanMemoryModel)
                    || self.module.has_capability(Capability::VulkanMemoryModelDeviceScope)
            }
            Some(Scope::QueueFamily) => self.module.has_capability(Capability::VulkanMemoryModel),
            Some(Scope::Workgroup | Scope::Subgroup | Scope::Invocation) => true,
            _ => false,
        };
        match scope.filter(|_| allowed) {
            Some(scope) => Ok(scope),
            None => {
                let text = scope.map_or("no scope".to_string(), |s| format!("{s:?}"));
                let what = format!(
                    "the scope of {}, %{id}, is {text}; it is Device, QueueFamily, Workgroup, Subgroup or Invocation, as the memory model allows",
                    i.name()
                );
                self.fail(Check::Scope, what)
            }
        }
    }

    /// The memory semantics of a constant (SPIR-V §3.25).
    fn semantics(&self, i: &Instruction, id: u32) -> Checked<MemorySemantics> {
        use MemorySemantics as S;
        let bits = self.word(i, id, "memory semantics", Check::MemorySemantics)?;
        let fail = |what: &str| self.fail(Check::MemorySemantics, format!("the memory semantics of {}, %{id}, {what}", i.name()));
        let Some(semantics) = S::from_bits(bits) else { return fail("have bits without a meaning") };
        let order = semantics & (S::ACQUIRE | S::RELEASE | S::ACQUIRE_RELEASE | S::SEQUENTIALLY_CONSISTENT);
        if order.bits().count_ones() > 1 {
            return fail("name two orders; they name one of Acquire, Release and AcquireRelease, or none");
        }
        if order == S::SEQUENTIALLY_CONSISTENT {
            return fail("are SequentiallyConsistent, which the environment does not have");
        }
        let classes = semantics & (S::UNIFORM_MEMORY | S::WORKGROUP_MEMORY | S::IMAGE_MEMORY | S::OUTPUT_MEMORY);
        if !order.is_empty() && classes.is_empty() {
            return fail("order no storage class");
        }
        let vulkan = S::MAKE_AVAILABLE | S::MAKE_VISIBLE | S::OUTPUT_MEMORY | S::VOLATILE;
        if semantics.intersects(vulkan) && !self.module.has_capability(Capability::VulkanMemoryModel) {
            return fail("have bits that need the capability VulkanMemoryModel");
        }
        Ok(semantics)
    }

    /// The value of an operand, which must be a 32-bit integer constant.
    pub(super) fn word(&self, i: &Instruction, id: u32, what: &str, check: Check) -> Checked<u32> {
        let shape = self.value(id)?;
        let word = shape == Shape::vector(shape.scalar, 1) && matches!(shape.scalar, Scalar::Int { width: 32, .. });
        match self.module.constant_value(id).filter(|_| word) {
            Some(value) => Ok(value as u32),
            None => self.fail(check, format!("%{id}, {what} of {}, is no 32-bit integer constant", i.name())),
        }
    }
}
