//! The layout of the table in its buffer: the rules of Vulkan §15.8.4 for storage buffers ("base
//! alignment"), for 32-bit scalars only.

use super::tree::Type;

/// The base alignment, in bytes.
pub(super) fn align(ty: &Type) -> u32 {
    match ty {
        Type::Scalar(_) => 4,
        Type::Vector(_, 2) => 8,
        Type::Vector(..) => 16,
        Type::Array(element, _) => align(element),
        Type::Struct(members) => members.iter().map(align).max().unwrap_or(4),
    }
}

/// The size in bytes, without padding after the last part.
pub(super) fn size(ty: &Type) -> u32 {
    match ty {
        Type::Scalar(_) => 4,
        Type::Vector(_, n) => 4 * u32::from(*n),
        Type::Array(element, n) => stride(element) * n,
        Type::Struct(members) => {
            let last = offsets(members).last().copied().unwrap_or(0) + members.last().map_or(0, size);
            last.next_multiple_of(align(ty))
        }
    }
}

/// The stride of an array in bytes.
pub(super) fn stride(element: &Type) -> u32 {
    size(element).next_multiple_of(align(element))
}

/// The offset of each member of a structure, in bytes.
pub(super) fn offsets(members: &[Type]) -> Vec<u32> {
    let mut at: u32 = 0;
    members
        .iter()
        .map(|member| {
            let offset = at.next_multiple_of(align(member));
            at = offset + size(member);
            // The member after an array or structure starts at a multiple of the alignment of that
            // array or structure.
            if member.scalar().is_none() {
                at = at.next_multiple_of(align(member));
            }
            offset
        })
        .collect()
}
