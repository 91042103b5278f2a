//! What is uniform of itself in SPIR-V: memory by storage class, and inputs.

use crate::spirv::module::{Module, WHOLE};
use rspirv::spirv::{Decoration, StorageClass};

/// What memory behind a pointer gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// At a uniform address, a uniform value: nothing writes there.
    Constant,
    /// A value that may differ: other invocations write there.
    Buffer,
    /// Likewise, within a workgroup.
    Workgroup,
    /// A value that may differ: it is not modelled.
    Other,
}

/// What a varying value is called.
pub fn text(memory: Memory) -> &'static str {
    match memory {
        Memory::Constant => "what is loaded at an address that differs between invocations",
        Memory::Buffer => "what is loaded from a storage buffer, which other invocations may change",
        Memory::Workgroup => "what is loaded from workgroup memory, which other invocations may change",
        Memory::Other => "what is loaded from memory that other invocations may change",
    }
}

/// The memory of a variable that is not the invocation's own; `None` of one that is.
///
/// A variable that is declared Aliased may share its memory with one that is written.
pub fn memory(module: &Module, variable: u32, class: StorageClass, type_: u32) -> Option<Memory> {
    let has = |target, decoration| module.decoration(target, WHOLE, decoration).is_some();
    let constant = |is: bool| Some(if is { Memory::Constant } else { Memory::Buffer });
    match class {
        StorageClass::Function | StorageClass::Private | StorageClass::Input | StorageClass::Output => None,
        StorageClass::Workgroup => Some(Memory::Workgroup),
        // What an image holds is for the instructions that read it.
        StorageClass::UniformConstant | StorageClass::PushConstant => Some(Memory::Constant),
        _ if has(variable, Decoration::Aliased) => Some(Memory::Buffer),
        StorageClass::Uniform if !has(type_, Decoration::BufferBlock) => Some(Memory::Constant),
        StorageClass::Uniform | StorageClass::StorageBuffer => {
            let members = module.types().members(type_).len() as u32;
            let all = members > 0 && (0..members).all(|m| module.decoration(type_, m, Decoration::NonWritable).is_some());
            constant(has(variable, Decoration::NonWritable) || all)
        }
        _ => Some(Memory::Other),
    }
}

/// Whether operations on integers that are decorated so may give something else than the operation
/// says: what does not fit is undefined, or it is not exact.
pub fn inexact(decoration: u32) -> bool {
    [Decoration::NoSignedWrap, Decoration::NoUnsignedWrap, Decoration::RelaxedPrecision].iter().any(|d| *d as u32 == decoration)
}
