//! Memory instructions (SPIR-V §3.3.8): pointers, loads, stores, access chains, copies, array
//! lengths. Also calls, which pass pointers.

use rspirv::spirv::{BuiltIn, Capability, Decoration as Decorate, MemoryAccess, StorageClass};

use super::{Checked, Pass};
use crate::spirv::error::Check;
use crate::spirv::grammar::Op;
use crate::spirv::module::WHOLE;
use crate::spirv::operation::{Scalar, Shape};
use crate::spirv::types::{MAX_SCALARS, Type};
use crate::spirv::words::Instruction;

/// The properties of the memory behind the pointers of a module, by instruction. Empty until an
/// instruction derives a pointer into a buffer.
#[derive(Debug, Default)]
pub(super) struct Origins {
    by_instruction: Vec<Origin>,
}

/// The properties of the memory behind a pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// Whether the variable, or a member that the chain passes, is NonWritable.
    non_writable: bool,
    /// Whether the variable holds a BufferBlock.
    buffer_block: bool,
    /// Whether the pointer points into a matrix.
    pub(super) in_matrix: bool,
}

impl Pass<'_> {
    /// The storage class and pointee type of an operand, which must be a pointer.
    pub(super) fn pointer(&self, id: u32) -> Checked<(StorageClass, u32)> {
        let type_ = self.value_type(id)?;
        match self.module.pointer_type(type_) {
            Some(pointer) => Ok(pointer),
            None => self.fail(Check::Type, format!("%{id} must be a pointer")),
        }
    }

    /// The properties of the memory behind the pointer with this id.
    pub(super) fn origin(&self, id: u32) -> Origin {
        if let Some(variable) = self.module.variable(id) {
            let decorated = |target, decoration| self.module.decoration(target, WHOLE, decoration).is_some();
            return Origin {
                non_writable: decorated(id, Decorate::NonWritable),
                buffer_block: decorated(self.module.types.leaf(variable.type_), Decorate::BufferBlock),
                in_matrix: false,
            };
        }
        self.module.definition(id).and_then(|index| self.origins.by_instruction.get(index)).copied().unwrap_or_default()
    }

    /// Records the properties of the memory behind the pointer that an instruction makes.
    pub(super) fn track_origin(&mut self, i: &Instruction) {
        if !matches!(i.op, Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject | Op::PtrAccessChain) {
            return;
        }
        let operands = self.operands(i);
        let Some((class, mut type_)) = self.module.type_of(operands[0]).and_then(|t| self.module.pointer_type(t)) else { return };
        use StorageClass::{Function, Private, StorageBuffer, Uniform, Workgroup};
        if !matches!(class, Uniform | StorageBuffer | Function | Private | Workgroup) {
            return;
        }
        let mut origin = self.origin(operands[0]);
        let first = if i.is(Op::PtrAccessChain) { 2 } else { 1 };
        for &id in operands.get(first..).unwrap_or(&[]) {
            let index = match self.module.types.get(type_) {
                Some(Type::Struct { .. }) => self.module.integer(id).unwrap_or(0) as u64,
                _ => 0,
            };
            origin.in_matrix |= matches!(self.module.types.get(type_), Some(Type::Matrix { .. }));
            origin.non_writable |= self.module.decoration(type_, index as u32, Decorate::NonWritable).is_some();
            type_ = self.module.types.part(type_, index).map_or(0, |(part, _)| part);
        }
        if origin != Origin::default() {
            self.origins.by_instruction.resize(self.module.instructions.len(), Origin::default());
            self.origins.by_instruction[self.index] = origin;
        }
    }

    /// Checks that memory behind a pointer is writable (SPIR-V §3.3.8, Storage Class
    /// and NonWritable).
    pub(super) fn writable(&self, i: &Instruction, pointer: u32, class: StorageClass) -> Checked {
        use StorageClass::{Input, PushConstant, Uniform, UniformConstant};
        let origin = self.origin(pointer);
        if matches!(class, Input | PushConstant | UniformConstant) || class == Uniform && !origin.buffer_block {
            let what = format!("{} stores through %{pointer}, which points to what is read-only", i.name());
            return self.fail(Check::Storage, what);
        }
        if origin.non_writable {
            let what = format!("{} stores through %{pointer}, which points to what is declared NonWritable", i.name());
            return self.fail(Check::Storage, what);
        }
        Ok(())
    }

    /// Checks memory operands, which start with a mask.
    fn memory_access(&self, i: &Instruction, operands: &[u32], forbidden: MemoryAccess) -> Checked {
        let Some(&mask) = operands.first() else { return Ok(()) };
        let mask = MemoryAccess::from_bits_truncate(mask);
        if mask.contains(MemoryAccess::ALIGNED) && !operands.get(1).copied().unwrap_or(0).is_power_of_two() {
            let what =
                format!("{} is Aligned to {} bytes; an alignment is a power of two", i.name(), operands.get(1).copied().unwrap_or(0));
            return self.fail(Check::MemoryOperands, what);
        }
        if mask.intersects(forbidden) {
            return self.fail(Check::MemoryOperands, format!("{} has a memory operand that is not for it", i.name()));
        }
        let vulkan = MemoryAccess::MAKE_POINTER_AVAILABLE | MemoryAccess::MAKE_POINTER_VISIBLE | MemoryAccess::NON_PRIVATE_POINTER;
        if mask.intersects(vulkan) && !self.module.has_capability(Capability::VulkanMemoryModel) {
            return self.fail(Check::Capability, format!("{} has a memory operand that needs the capability VulkanMemoryModel", i.name()));
        }
        let ordered = MemoryAccess::MAKE_POINTER_AVAILABLE | MemoryAccess::MAKE_POINTER_VISIBLE;
        if mask.intersects(ordered) && !mask.contains(MemoryAccess::NON_PRIVATE_POINTER) {
            return self.fail(Check::MemoryOperands, format!("{} makes memory available or visible without NonPrivatePointer", i.name()));
        }
        Ok(())
    }

    /// Checks that a type can be loaded, stored or copied as a whole.
    fn check_whole_value(&self, i: &Instruction, type_: u32) -> Checked {
        let types = &self.module.types;
        if !types.has_size(type_) {
            let what = format!("{} moves {}, which has no size", i.name(), self.text(type_));
            return self.fail(Check::Type, what);
        }
        if types.scalars(type_) > MAX_SCALARS {
            return self.limit("scalars in a value", MAX_SCALARS);
        }
        Ok(())
    }

    /// Checks that an access does not move a whole array of descriptors.
    fn moves_no_descriptors(&self, i: &Instruction, class: StorageClass, pointee: u32) -> Checked {
        let is_of_descriptors = matches!(class, StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant);
        if is_of_descriptors && self.module.is_descriptor_array(pointee) && !self.module.unmodeled {
            return self.unsupported(format!("{} of an array of descriptors", i.name()));
        }
        Ok(())
    }

    pub(super) fn load(&self, i: &Instruction, operands: &[u32]) -> Checked {
        if self.module.pointer_type(i.result_type).is_some() && !self.module.unmodeled {
            self.variable_pointer(i, i.result_type)?;
        }
        let (class, pointee) = self.pointer(operands[0])?;
        if pointee != i.result_type {
            let what = format!("OpLoad has result type %{}, but %{} points to %{pointee}", i.result_type, operands[0]);
            return self.fail(Check::Type, what);
        }
        self.moves_no_descriptors(i, class, pointee)?;
        self.check_whole_value(i, pointee)?;
        self.not_demoted(i, operands)?;
        self.memory_access(i, &operands[1..], MemoryAccess::MAKE_POINTER_AVAILABLE)
    }

    /// Checks that no load can see an invocation become a helper: no volatile load of
    /// HelperInvocation in a module that demotes (SPIR-V 1.6).
    fn not_demoted(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let id = operands[0];
        let helper = self.module.built_in(id, WHOLE) == Some(BuiltIn::HelperInvocation);
        let volatile = MemoryAccess::from_bits_truncate(operands.get(1).copied().unwrap_or(0)).contains(MemoryAccess::VOLATILE)
            || self.module.decoration(id, WHOLE, Decorate::Volatile).is_some();
        if helper && volatile && self.module.has_capability(Capability::DemoteToHelperInvocation) && !self.module.unmodeled {
            return self.unsupported(format!("{} of HelperInvocation, Volatile, where invocations are demoted (%{id})", i.name()));
        }
        Ok(())
    }

    pub(super) fn store(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let (class, pointee) = self.pointer(operands[0])?;
        let type_ = self.value_type(operands[1])?;
        if self.module.pointer_type(type_).is_some() && !self.module.unmodeled {
            self.variable_pointer(i, type_)?;
        }
        if pointee != type_ {
            let what = format!("OpStore stores %{}, of type %{type_}, where %{} points to %{pointee}", operands[1], operands[0]);
            return self.fail(Check::Type, what);
        }
        self.moves_no_descriptors(i, class, pointee)?;
        self.check_whole_value(i, pointee)?;
        self.writable(i, operands[0], class)?;
        self.memory_access(i, &operands[2..], MemoryAccess::MAKE_POINTER_VISIBLE)
    }

    pub(super) fn copy_memory(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let (class, to) = self.pointer(operands[0])?;
        let (source_class, from) = self.pointer(operands[1])?;
        if to != from {
            let what = format!("OpCopyMemory copies {} to {}; they must be of one type", self.text(from), self.text(to));
            return self.fail(Check::Type, what);
        }
        if self.module.pointer_type(to).is_some() && !self.module.unmodeled {
            return self.unsupported("OpCopyMemory of a pointer");
        }
        self.moves_no_descriptors(i, class, to)?;
        self.moves_no_descriptors(i, source_class, from)?;
        self.check_whole_value(i, to)?;
        self.writable(i, operands[0], class)?;
        let (target, source) = self.split_copy_access(&operands[2..]);
        match source {
            None => self.memory_access(i, target, MemoryAccess::empty()),
            Some(_) if self.module.header.minor < 4 => {
                let what = format!("{} has memory operands for its source, which need SPIR-V 1.4", i.name());
                self.fail(Check::Version, what)
            }
            // The first operands are for the write, the second for the read (SPIR-V §3.3.8).
            Some(source) => {
                self.memory_access(i, target, MemoryAccess::MAKE_POINTER_VISIBLE)?;
                self.memory_access(i, source, MemoryAccess::MAKE_POINTER_AVAILABLE)
            }
        }
    }

    /// The memory operands of an OpCopyMemory: for both sides or the target, and for the source.
    fn split_copy_access<'o>(&self, operands: &'o [u32]) -> (&'o [u32], Option<&'o [u32]>) {
        let Some(&mask) = operands.first() else { return (operands, None) };
        let with_operands = MemoryAccess::ALIGNED | MemoryAccess::MAKE_POINTER_AVAILABLE | MemoryAccess::MAKE_POINTER_VISIBLE;
        let length = 1 + MemoryAccess::from_bits_truncate(mask).intersection(with_operands).bits().count_ones() as usize;
        let (target, source) = operands.split_at(length.min(operands.len()));
        (target, (!source.is_empty()).then_some(source))
    }

    pub(super) fn array_length(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let run_time_pointers = [Op::Select, Op::Phi, Op::FunctionCall, Op::Load, Op::PtrAccessChain, Op::ConstantNull];
        if self.module.instruction(operands[0]).is_some_and(|base| run_time_pointers.contains(&base.op)) && !self.module.unmodeled {
            let what = format!("%{} = OpArrayLength is of the variable pointer %{}, which it may not be", i.result, operands[0]);
            return self.fail(Check::Pointer, what);
        }
        let (_, pointee) = self.pointer(operands[0])?;
        let members = self.module.types.members(pointee);
        let last = members.last().and_then(|m| self.module.types.get(m.type_));
        if !matches!(last, Some(Type::RuntimeArray { .. })) || operands[1] as usize + 1 != members.len() {
            let what = format!(
                "%{} = OpArrayLength names member {} of {}; it must be the last, a runtime array",
                i.result,
                operands[1],
                self.text(pointee)
            );
            return self.fail(Check::AccessIndex, what);
        }
        let result = self.module.shapes[self.index];
        if result != Shape::vector(Scalar::U32, 1) {
            return self.fail(Check::Type, format!("%{} = OpArrayLength has result {result}; it must be uint", i.result));
        }
        Ok(())
    }

    /// Checks an access chain whose indices start at operand `first`.
    pub(super) fn access_chain(&self, i: &Instruction, operands: &[u32], first: usize) -> Checked {
        let types = &self.module.types;
        let (class, mut type_) = self.pointer(operands[0])?;
        let mut array = None;
        for &id in &operands[first..] {
            array = match types.get(type_) {
                Some(Type::Array { stride, .. } | Type::RuntimeArray { stride, .. }) => Some(stride),
                _ => None,
            };
            let shape = self.value(id)?;
            if shape.lanes() != 1 || !shape.scalar.is_int() {
                return self.fail(Check::AccessIndex, format!("index %{id} of %{} is no integer", i.result));
            }
            type_ = match types.get(type_) {
                Some(Type::Struct { count, .. }) => {
                    let Some(index) = self.module.integer(id) else {
                        let what = format!("index %{id} of %{} is into a structure and no constant", i.result);
                        return self.fail(Check::AccessIndex, what);
                    };
                    match u64::try_from(index).ok().and_then(|index| types.part(type_, index)) {
                        Some((member, _)) => member,
                        None => {
                            let what = format!("%{} indexes member {index} of a structure with {count} members", i.result);
                            return self.fail(Check::AccessIndex, what);
                        }
                    }
                }
                Some(Type::Vector { component: part, .. } | Type::Matrix { column: part, .. }) => part,
                Some(Type::Array { element, .. } | Type::RuntimeArray { element, .. }) => element,
                _ => {
                    let what = format!("%{} indexes {}, which has no parts", i.result, types.text(type_));
                    return self.fail(Check::AccessIndex, what);
                }
            };
        }
        if self.module.pointer_type(i.result_type) != Some((class, type_)) {
            let what = format!("%{} has a result type that is no pointer to %{type_} in its base's storage class", i.result);
            return self.fail(Check::Type, what);
        }
        self.keeps_stride(i, operands, first, array)?;
        Ok(())
    }

    pub(super) fn call(&self, i: &Instruction, operands: &[u32]) -> Checked {
        let Some(function) = self.module.function(operands[0]) else {
            return self.fail(Check::KindOfId, format!("OpFunctionCall calls %{}, which is no function", operands[0]));
        };
        if function.result_type != i.result_type {
            let [found, needed] = [i.result_type, function.result_type].map(|t| self.text(t));
            let what = format!("%{} = OpFunctionCall has result {found}; %{} returns {needed}", i.result, operands[0]);
            return self.fail(Check::Type, what);
        }
        let may_return = self.module.has_variable_pointers() && !self.module.unmodeled;
        if self.module.pointer_type(i.result_type).is_some() && may_return {
            self.variable_pointer(i, i.result_type)?;
        } else if self.module.types.contents(i.result_type).pointer {
            return self.fail(Check::Pointer, format!("%{} = OpFunctionCall returns a pointer", i.result));
        }
        let parameters = self.module.parameters(function);
        let arguments = &operands[1..];
        if arguments.len() != parameters.len() {
            let what = format!("OpFunctionCall passes {} arguments; %{} has {} parameters", arguments.len(), operands[0], parameters.len());
            return self.fail(Check::Type, what);
        }
        for (&argument, parameter) in arguments.iter().zip(parameters) {
            self.value_of(i, argument, parameter.type_, "an argument")?;
            let origin = self.origin(argument);
            if self.module.unmodeled {
                continue;
            }
            if origin.non_writable || origin.buffer_block {
                return self.unsupported(format!("OpFunctionCall with a pointer into a NonWritable buffer or a BufferBlock (%{argument})"));
            }
            self.passed_image(argument)?;
        }
        Ok(())
    }
}
