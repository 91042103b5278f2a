//! Sizes, alignments and strides in bytes: seed 004 "Annotations for execution".
//!
//! An array has the size of all its elements, and an enum that of its base type. Structures are
//! laid out as in C, with padding. This module decides what the seed leaves to the implementation.
//! Scalars and atomics are 4 bytes, pointers 8, array references 16, samplers and textures 8. A
//! vector of 3 elements has the size and alignment of one of 4 (`float3` is 16 bytes). A matrix is
//! its columns one after the other.

use crate::text::deep;
use crate::wsl::environment::Environment;
use crate::wsl::types::{StructId, Type, TypeId};
use rustc_hash::FxHashMap;

/// The size and alignment of a type, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The size, a multiple of the alignment.
    pub size: u64,
    /// The alignment, a power of two.
    pub align: u64,
}

/// The layouts of an environment's types. Those of arrays and structures are computed once.
#[derive(Clone, Debug, Default)]
pub struct Layouts {
    known: FxHashMap<TypeId, Option<Layout>>,
    offsets: FxHashMap<StructId, Vec<u64>>,
}

impl Layouts {
    /// The layout of a type. `None` if its size does not fit in 64 bits. The size is what the seed
    /// calls the size in bytes of a load or store of that type.
    pub fn of(&mut self, env: &Environment, ty: TypeId) -> Option<Layout> {
        if !matches!(env.types.get(ty), Type::Array(..) | Type::Struct(_)) {
            return self.compute(env, ty);
        }
        if let Some(&known) = self.known.get(&ty) {
            return known;
        }
        let layout = deep(|| self.compute(env, ty));
        self.known.insert(ty, layout);
        layout
    }

    /// The stride of an array or array reference with elements of that type: the size of
    /// an element.
    pub fn stride(&mut self, env: &Environment, element: TypeId) -> Option<u64> {
        self.of(env, element).map(|l| l.size)
    }

    /// The offsets of a structure's fields in bytes. `None` if the structure is too large.
    pub fn offsets(&mut self, env: &Environment, id: StructId) -> Option<&[u64]> {
        let ty = env.types.find(Type::Struct(id))?;
        self.of(env, ty)?;
        self.offsets.get(&id).map(Vec::as_slice)
    }

    fn compute(&mut self, env: &Environment, ty: TypeId) -> Option<Layout> {
        let vector = |n: u8| {
            let size = 4 * u64::from(n).next_power_of_two();
            Layout { size, align: size }
        };
        let plain = |size: u64, align: u64| Some(Layout { size, align });
        match env.types.get(ty) {
            Type::Void => plain(0, 1),
            Type::Scalar(_) | Type::Atomic(_) | Type::Enum(_) => plain(4, 4),
            Type::Sampler | Type::Texture(..) | Type::Pointer(..) => plain(8, 8),
            Type::ArrayReference(..) => plain(16, 8),
            Type::Vector(_, n) => Some(vector(n)),
            Type::Matrix(_, columns, rows) => {
                let column = vector(rows);
                plain(column.size * u64::from(columns), column.align)
            }
            Type::Array(of, n) => {
                let element = self.of(env, of)?;
                plain(element.size.checked_mul(u64::from(n))?, element.align)
            }
            Type::Struct(id) => {
                let (mut at, mut align, mut offsets) = (0u64, 1, Vec::new());
                for field in &env.structure(id).fields {
                    let layout = self.of(env, field.ty)?;
                    at = at.checked_next_multiple_of(layout.align)?;
                    offsets.push(at);
                    at = at.checked_add(layout.size)?;
                    align = align.max(layout.align);
                }
                self.offsets.insert(id, offsets);
                plain(at.checked_next_multiple_of(align)?, align)
            }
        }
    }
}
