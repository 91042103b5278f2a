//! Patterns: types that depend on one variable. The signatures of built-in functions consist
//! of them.
//!
//! A signature has at most one type variable `T`. Every other type in it is fixed or follows
//! from `T`. So a call is matched by finding the few types that `T` can be. The overloads are
//! never expanded.

use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{BUILT_IN, Scalar, TextureKind, Type, TypeId, Types};

use super::texture::Coordinates;

/// A set of types with fixed ids: bit i stands for `TypeId(i)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSet(pub u64);

impl TypeSet {
    /// The empty set.
    pub const EMPTY: TypeSet = TypeSet(0);

    /// The set of that type alone, or the empty set if the type has no fixed id.
    pub const fn one(id: TypeId) -> TypeSet {
        if id.0 < BUILT_IN { TypeSet(1 << id.0) } else { TypeSet::EMPTY }
    }

    /// The union of both sets.
    pub const fn or(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    /// The intersection of both sets.
    pub const fn and(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & other.0)
    }

    /// Whether the set contains the type.
    pub const fn has(self, id: TypeId) -> bool {
        id.0 < BUILT_IN && self.0 >> id.0 & 1 == 1
    }

    /// The types of the set, in the order of their ids.
    pub fn iter(self) -> impl Iterator<Item = TypeId> {
        let mut remaining = self.0;
        std::iter::from_fn(move || {
            let id = remaining.trailing_zeros();
            remaining &= remaining.wrapping_sub(1);
            (id < 64).then_some(TypeId(id))
        })
    }

    /// The set of these scalars.
    pub const fn scalars(scalars: &[Scalar]) -> TypeSet {
        let (mut set, mut i) = (TypeSet::EMPTY, 0);
        while i < scalars.len() {
            set = set.or(TypeSet::one(TypeId::scalar(scalars[i])));
            i += 1;
        }
        set
    }

    /// The vectors of these scalars with at least `least` elements.
    pub const fn vectors_from(scalars: &[Scalar], least: u8) -> TypeSet {
        let (mut set, mut i) = (TypeSet::EMPTY, 0);
        while i < scalars.len() {
            let mut size = if least < 2 { 2 } else { least };
            while size <= 4 {
                set = set.or(TypeSet::one(TypeId::vector(scalars[i], size)));
                size += 1;
            }
            i += 1;
        }
        set
    }

    /// The vectors of these scalars.
    pub const fn vectors(scalars: &[Scalar]) -> TypeSet {
        TypeSet::vectors_from(scalars, 2)
    }

    /// The matrices of these scalars, which are `bool` or `float`.
    pub const fn matrices(scalars: &[Scalar]) -> TypeSet {
        let (mut set, mut size) = (TypeSet::EMPTY, 4);
        while size <= 16 {
            set = set.or(TypeSet::matrices_of(scalars, size));
            size += 1;
        }
        set
    }

    /// The matrices of these scalars with `elements` elements in all.
    pub const fn matrices_of(scalars: &[Scalar], elements: u8) -> TypeSet {
        let (mut set, mut i) = (TypeSet::EMPTY, 0);
        while i < scalars.len() {
            let mut columns = 2;
            while columns <= 4 {
                let rows = elements / columns;
                if columns * rows == elements && rows >= 2 && rows <= 4 {
                    set = set.or(TypeSet::one(TypeId::matrix(scalars[i], columns, rows)));
                }
                columns += 1;
            }
            i += 1;
        }
        set
    }
}

/// The types without fixed ids that a variable can stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// None.
    None,
    /// The textures of these kinds, a bit each in the order of [`TextureKind::ALL`].
    Textures(u16),
    /// Every enum.
    Enums,
    /// Every enum with that base type.
    EnumsOf(TypeId),
    /// Every struct.
    Structs,
    /// Every struct that contains no sampler and no texture.
    StructsOfValues,
    /// Every array.
    Arrays,
    /// Every array reference.
    References,
    /// Every pointer to an array.
    ArrayPointers,
}

impl Family {
    /// Whether the type belongs to the family.
    pub fn has(self, types: &Types, id: TypeId) -> bool {
        match (self, types.get(id)) {
            (Family::Textures(kinds), Type::Texture(kind, _)) => kinds >> kind as u16 & 1 == 1,
            (Family::Enums, Type::Enum(_)) | (Family::Structs, Type::Struct(_)) => true,
            (Family::StructsOfValues, Type::Struct(s)) => !types.opaque_structs.contains(&s),
            (Family::EnumsOf(base), Type::Enum(e)) => types.enum_bases.get(e.0 as usize) == Some(&base),
            (Family::Arrays, Type::Array(..)) | (Family::References, Type::ArrayReference(..)) => true,
            (Family::ArrayPointers, Type::Pointer(_, to)) => matches!(types.get(to), Type::Array(..)),
            _ => false,
        }
    }
}

/// The types that a type variable can stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The types with fixed ids.
    pub fixed: TypeSet,
    /// The types without fixed ids.
    pub family: Family,
}

impl Range {
    /// A range of types with fixed ids only.
    pub const fn of(fixed: TypeSet) -> Range {
        Range { fixed, family: Family::None }
    }

    /// A range of that family only.
    pub const fn family(family: Family) -> Range {
        Range { fixed: TypeSet::EMPTY, family }
    }

    /// Whether the range contains the type.
    pub fn has(&self, types: &Types, id: TypeId) -> bool {
        if id.0 < BUILT_IN { self.fixed.has(id) } else { self.family.has(types, id) }
    }
}

/// A set of address spaces, a bit each in the order of [`AddressSpace::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spaces(pub u8);

impl Spaces {
    /// The spaces that can be written: all but `constant`.
    pub const WRITABLE: Spaces = Spaces(0b1110);
    /// The spaces that threads share and can write: `device` and `threadgroup`.
    pub const SHARED: Spaces = Spaces(0b0110);

    /// Whether the set contains the space.
    pub const fn has(self, space: AddressSpace) -> bool {
        self.0 >> space as u8 & 1 == 1
    }
}

/// A type in a signature, which may follow from `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// That type, whatever `T` is.
    Fixed(TypeId),
    /// `T`.
    T,
    /// The scalar type of `T`'s elements. If `T` is a scalar, `T` itself.
    Element,
    /// `T` with its scalar type replaced by that one.
    WithScalar(Scalar),
    /// The vector of that many elements of `T`'s scalar type.
    VectorOf(u8),
    /// The elements that the letters of the accessor's name select: `T`'s scalar type for one
    /// letter, else the vector of as many elements as letters.
    Letters,
    /// A column of the matrix `T`: a vector with as many elements as `T` has rows.
    Column,
    /// A row of the matrix `T`: a vector with as many elements as `T` has columns.
    Row,
    /// The matrix `T` with rows and columns exchanged.
    Transposed,
    /// The right factor in a product with the matrix `T`: the matrix of that many columns, each
    /// with as many elements as `T` has columns.
    Multiplier(u8),
    /// The result of such a product: the matrix of that many columns, each as long as `T`'s.
    Product(u8),
    /// The base type of the enum `T`.
    Base,
    /// The element type of the array `T`.
    ArrayElement,
    /// The pointer, in the address space of the pointer `T`, to an element of the array that `T`
    /// points to.
    ArrayElementPointer,
    /// The atomic type of the scalar `T`.
    Atomic,
    /// The element type of the texture `T`.
    Texel,
    /// The vector of four scalars of the texture `T`'s element type.
    Texels,
    /// The coordinates of a place in the texture `T`.
    Coordinates(Coordinates),
    /// A pointer to that type, in one of these address spaces.
    Pointer(Spaces, &'static Pattern),
}

/// The scalar type of a scalar, vector or matrix.
fn scalar(ty: Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(s) | Type::Vector(s, _) | Type::Matrix(s, ..) => Some(s),
        _ => None,
    }
}

/// The vector of that size, or the scalar itself if the size is 1.
pub(super) fn vector_or_scalar(scalar: Scalar, size: u8) -> TypeId {
    if size == 1 { TypeId::scalar(scalar) } else { TypeId::vector(scalar, size) }
}

impl Pattern {
    /// The type that the pattern stands for, given `T` and the number of letters in an accessor's
    /// name. `None` if the pattern does not apply to `T`. Also `None` for a pointer, whose address
    /// space does not follow from `T`.
    pub fn of(self, types: &Types, t: TypeId, letters: usize) -> Option<TypeId> {
        let found = match (self, types.get(t)) {
            (Pattern::Fixed(id), _) => id,
            (Pattern::T, _) => t,
            (Pattern::Element, ty) => TypeId::scalar(scalar(ty)?),
            (Pattern::WithScalar(s), Type::Scalar(_)) => TypeId::scalar(s),
            (Pattern::WithScalar(s), Type::Vector(_, n)) => TypeId::vector(s, n),
            (Pattern::WithScalar(s @ (Scalar::Bool | Scalar::Float)), Type::Matrix(_, n, m)) => TypeId::matrix(s, n, m),
            (Pattern::VectorOf(n), ty) => vector_or_scalar(scalar(ty)?, n),
            (Pattern::Letters, ty) => vector_or_scalar(scalar(ty)?, letters as u8),
            (Pattern::Column, Type::Matrix(s, _, m)) => TypeId::vector(s, m),
            (Pattern::Row, Type::Matrix(s, n, _)) => TypeId::vector(s, n),
            (Pattern::Transposed, Type::Matrix(s, n, m)) => TypeId::matrix(s, m, n),
            (Pattern::Multiplier(o), Type::Matrix(s, n, _)) => TypeId::matrix(s, o, n),
            (Pattern::Product(o), Type::Matrix(s, _, m)) => TypeId::matrix(s, o, m),
            (Pattern::Base, Type::Enum(e)) => *types.enum_bases.get(e.0 as usize)?,
            (Pattern::ArrayElement, Type::Array(of, _)) => of,
            (Pattern::ArrayElementPointer, Type::Pointer(space, to)) => match types.get(to) {
                Type::Array(of, _) => types.find(Type::Pointer(space, of))?,
                _ => return None,
            },
            (Pattern::Atomic, Type::Scalar(Scalar::Uint)) => TypeId::ATOMIC_UINT,
            (Pattern::Atomic, Type::Scalar(Scalar::Int)) => TypeId::ATOMIC_INT,
            (Pattern::Texel, Type::Texture(_, of)) => of,
            (Pattern::Texels, Type::Texture(_, of)) => TypeId::vector(scalar(types.get(of))?, 4),
            (Pattern::Coordinates(c), Type::Texture(kind, _)) => vector_or_scalar(c.scalar, c.count(kind)?),
            _ => return None,
        };
        Some(found)
    }

    /// Makes the pointer type that [`Pattern::ArrayElementPointer`] stands for, if it does not
    /// exist yet.
    pub(super) fn ensure(self, types: &mut Types, t: TypeId) {
        if let (Pattern::ArrayElementPointer, Type::Pointer(space, to)) = (self, types.get(t))
            && let Type::Array(of, _) = types.get(to)
        {
            types.intern(Type::Pointer(space, of));
        }
    }

    /// Whether `id` is the type that the pattern stands for, given that `T`.
    pub fn matches(self, types: &Types, t: TypeId, letters: usize, id: TypeId) -> bool {
        match self {
            Pattern::Pointer(spaces, to) => match types.get(id) {
                Type::Pointer(space, target) => spaces.has(space) && to.matches(types, t, letters, target),
                _ => false,
            },
            _ => self.of(types, t, letters) == Some(id),
        }
    }
}

/// The kinds of textures in the set, in the order of [`TextureKind::ALL`].
pub(super) fn kinds(set: u16) -> impl Iterator<Item = TextureKind> {
    TextureKind::ALL.into_iter().filter(move |&kind| set >> kind as u16 & 1 == 1)
}
