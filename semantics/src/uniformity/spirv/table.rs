//! The sources of uniformity in SPIR-V: memory by storage class, and inputs.

use crate::spirv::module::{Module, WHOLE};
use rspirv::spirv::{Decoration, StorageClass};

/// The uniformity of memory behind a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// A uniform value, if the address is uniform. Nothing writes there.
    Constant,
    /// A value that may differ. Other invocations write there.
    Buffer,
    /// A value that may differ. Other invocations of the workgroup write there.
    Workgroup,
    /// A value that may differ, since the memory is not modeled.
    Other,
}

/// The description of a varying value.
pub fn text(memory: Memory) -> &'static str {
    match memory {
        Memory::Constant => "what is loaded at an address that differs between invocations",
        Memory::Buffer => "what is loaded from a storage buffer, which other invocations may change",
        Memory::Workgroup => "what is loaded from workgroup memory, which other invocations may change",
        Memory::Other => "what is loaded from memory that other invocations may change",
    }
}

/// The memory of a variable. `None` for the invocation's own variables.
///
/// An Aliased variable may share its memory with a variable that is written.
pub fn memory(module: &Module, variable: u32, class: StorageClass, type_: u32) -> Option<Memory> {
    let has = |target, decoration| module.decoration(target, WHOLE, decoration).is_some();
    let constant = |is: bool| Some(if is { Memory::Constant } else { Memory::Buffer });
    match class {
        StorageClass::Function | StorageClass::Private | StorageClass::Input | StorageClass::Output => None,
        StorageClass::Workgroup => Some(Memory::Workgroup),
        // The instructions that read an image treat its contents.
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

/// Whether integer operations with this decoration may differ from the plain operation: an overflow
/// is undefined, or the result is not exact.
pub fn inexact(decoration: u32) -> bool {
    [Decoration::NoSignedWrap, Decoration::NoUnsignedWrap, Decoration::RelaxedPrecision].iter().any(|d| *d as u32 == decoration)
}
