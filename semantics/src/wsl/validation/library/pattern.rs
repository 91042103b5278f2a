//! Types up to one variable: what the signatures of built-in functions are written in.
//!
//! A signature has at most one type variable `T`. Every other type in it is fixed or follows from
//! `T`, so a call is matched by finding the few types that `T` can be, never
//! by expanding the overloads.

use crate::wsl::syntax::AddressSpace;
use crate::wsl::types::{BUILT_IN, Scalar, TextureKind, Type, TypeId, Types};

use super::texture::Coordinates;

/// A set of types that have fixed numbers: bit i stands for `TypeId(i)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set(pub u64);

impl Set {
    /// No type.
    pub const EMPTY: Set = Set(0);

    /// The type of that number alone, which is no element if it has no fixed number.
    pub const fn one(id: TypeId) -> Set {
        if id.0 < BUILT_IN { Set(1 << id.0) } else { Set::EMPTY }
    }

    /// The types of both.
    pub const fn or(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }

    /// The types that are in both.
    pub const fn and(self, other: Set) -> Set {
        Set(self.0 & other.0)
    }

    /// Whether the type is in it.
    pub const fn has(self, id: TypeId) -> bool {
        id.0 < BUILT_IN && self.0 >> id.0 & 1 == 1
    }

    /// Its types in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = TypeId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let id = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (id < 64).then_some(TypeId(id))
        })
    }

    /// These scalars.
    pub const fn scalars(of: &[Scalar]) -> Set {
        let (mut set, mut i) = (Set::EMPTY, 0);
        while i < of.len() {
            set = set.or(Set::one(TypeId::scalar(of[i])));
            i += 1;
        }
        set
    }

    /// The vectors of these scalars with at least that many elements.
    pub const fn vectors_from(of: &[Scalar], least: u8) -> Set {
        let (mut set, mut i) = (Set::EMPTY, 0);
        while i < of.len() {
            let mut size = if least < 2 { 2 } else { least };
            while size <= 4 {
                set = set.or(Set::one(TypeId::vector(of[i], size)));
                size += 1;
            }
            i += 1;
        }
        set
    }

    /// The vectors of these scalars.
    pub const fn vectors(of: &[Scalar]) -> Set {
        Set::vectors_from(of, 2)
    }

    /// The matrices of these scalars, which are `bool` or `float`.
    pub const fn matrices(of: &[Scalar]) -> Set {
        let (mut set, mut size) = (Set::EMPTY, 4);
        while size <= 16 {
            set = set.or(Set::matrices_of(of, size));
            size += 1;
        }
        set
    }

    /// The matrices of these scalars with that many elements.
    pub const fn matrices_of(of: &[Scalar], elements: u8) -> Set {
        let (mut set, mut i) = (Set::EMPTY, 0);
        while i < of.len() {
            let mut columns = 2;
            while columns <= 4 {
                let rows = elements / columns;
                if columns * rows == elements && rows >= 2 && rows <= 4 {
                    set = set.or(Set::one(TypeId::matrix(of[i], columns, rows)));
                }
                columns += 1;
            }
            i += 1;
        }
        set
    }
}

/// Types without fixed numbers that a variable can stand for.
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
    /// Every array.
    Arrays,
    /// Every array reference.
    References,
    /// Every pointer to an array.
    ArrayPointers,
}

impl Family {
    /// Whether the type is of the family.
    pub fn has(self, types: &Types, id: TypeId) -> bool {
        match (self, types.get(id)) {
            (Family::Textures(kinds), Type::Texture(kind, _)) => kinds >> kind as u16 & 1 == 1,
            (Family::Enums, Type::Enum(_)) | (Family::Structs, Type::Struct(_)) => true,
            (Family::EnumsOf(base), Type::Enum(e)) => types.enum_bases.get(e.0 as usize) == Some(&base),
            (Family::Arrays, Type::Array(..)) | (Family::References, Type::ArrayReference(..)) => true,
            (Family::ArrayPointers, Type::Pointer(_, to)) => matches!(types.get(to), Type::Array(..)),
            _ => false,
        }
    }
}

/// What a type variable can stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The types with fixed numbers.
    pub fixed: Set,
    /// The others.
    pub family: Family,
}

impl Range {
    /// These types.
    pub const fn of(fixed: Set) -> Range {
        Range { fixed, family: Family::None }
    }

    /// The types of that family.
    pub const fn family(family: Family) -> Range {
        Range { fixed: Set::EMPTY, family }
    }

    /// Whether the type is in it.
    pub fn has(&self, types: &Types, id: TypeId) -> bool {
        if id.0 < BUILT_IN { self.fixed.has(id) } else { self.family.has(types, id) }
    }
}

/// A set of address spaces, a bit each in the order of [`AddressSpace::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spaces(pub u8);

impl Spaces {
    /// Those that can be written: all but `constant`.
    pub const WRITABLE: Spaces = Spaces(0b1110);
    /// Those that threads share and can write: `device` and `threadgroup`.
    pub const SHARED: Spaces = Spaces(0b0110);

    /// Whether the space is in it.
    pub const fn has(self, space: AddressSpace) -> bool {
        self.0 >> space as u8 & 1 == 1
    }
}

/// A type that follows from `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// A type by itself.
    Fixed(TypeId),
    /// `T`.
    T,
    /// The scalar of which `T` is made; of a scalar, itself.
    Element,
    /// `T` with that scalar in place of its own.
    Like(Scalar),
    /// The vector of that many elements of `T`'s scalar.
    Part(u8),
    /// What the letters of the accessor's name pick: `T`'s scalar for one, else the
    /// vector of as many.
    Letters,
    /// A column of the matrix `T`: the vector of as many elements as it has rows.
    Column,
    /// A row of the matrix `T`: the vector of as many elements as it has columns.
    Row,
    /// The matrix `T` with rows and columns exchanged.
    Transposed,
    /// The matrix of that many columns, each as long as `T` has columns: what the matrix `T` can be
    /// multiplied by.
    Multiplier(u8),
    /// The matrix of that many columns, each as long as `T`'s.
    Product(u8),
    /// The base type of the enum `T`.
    Base,
    /// The element of the array `T`.
    Inner,
    /// The pointer, in the address space of the pointer `T`, to an element of the array that `T`
    /// points to.
    InnerPointer,
    /// The atomic type of the scalar `T`.
    Atomic,
    /// The element of the texture `T`.
    Texel,
    /// Four of the scalars that the elements of the texture `T` are made of.
    Texels,
    /// A place in the texture `T`.
    Coordinates(Coordinates),
    /// A pointer to that, in one of these address spaces.
    Pointer(Spaces, &'static Pattern),
}

/// The scalar of which a scalar, vector or matrix is made.
fn scalar(ty: Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(s) | Type::Vector(s, _) | Type::Matrix(s, ..) => Some(s),
        _ => None,
    }
}

/// The vector of that many, or the scalar itself.
pub(super) fn vector_or_scalar(scalar: Scalar, size: u8) -> TypeId {
    if size == 1 { TypeId::scalar(scalar) } else { TypeId::vector(scalar, size) }
}

impl Pattern {
    /// The type, for that `T` and that many letters in the name of an accessor; none if `T` is not
    /// of the kind that the pattern speaks of, and none for a pointer, which does not follow from
    /// `T` alone.
    pub fn of(self, types: &Types, t: TypeId, letters: usize) -> Option<TypeId> {
        let found = match (self, types.get(t)) {
            (Pattern::Fixed(id), _) => id,
            (Pattern::T, _) => t,
            (Pattern::Element, ty) => TypeId::scalar(scalar(ty)?),
            (Pattern::Like(s), Type::Scalar(_)) => TypeId::scalar(s),
            (Pattern::Like(s), Type::Vector(_, n)) => TypeId::vector(s, n),
            (Pattern::Like(s @ (Scalar::Bool | Scalar::Float)), Type::Matrix(_, n, m)) => TypeId::matrix(s, n, m),
            (Pattern::Part(n), ty) => vector_or_scalar(scalar(ty)?, n),
            (Pattern::Letters, ty) => vector_or_scalar(scalar(ty)?, letters as u8),
            (Pattern::Column, Type::Matrix(s, _, m)) => TypeId::vector(s, m),
            (Pattern::Row, Type::Matrix(s, n, _)) => TypeId::vector(s, n),
            (Pattern::Transposed, Type::Matrix(s, n, m)) => TypeId::matrix(s, m, n),
            (Pattern::Multiplier(o), Type::Matrix(s, n, _)) => TypeId::matrix(s, o, n),
            (Pattern::Product(o), Type::Matrix(s, _, m)) => TypeId::matrix(s, o, m),
            (Pattern::Base, Type::Enum(e)) => *types.enum_bases.get(e.0 as usize)?,
            (Pattern::Inner, Type::Array(of, _)) => of,
            (Pattern::InnerPointer, Type::Pointer(space, to)) => match types.get(to) {
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

    /// The pointer type that [`Pattern::InnerPointer`] needs, made if it is not there yet.
    pub(super) fn ensure(self, types: &mut Types, t: TypeId) {
        if let (Pattern::InnerPointer, Type::Pointer(space, to)) = (self, types.get(t))
            && let Type::Array(of, _) = types.get(to)
        {
            types.intern(Type::Pointer(space, of));
        }
    }

    /// Whether the type is this one for that `T`.
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

/// The kinds of textures in the set, in order.
pub(super) fn kinds(set: u16) -> impl Iterator<Item = TextureKind> {
    TextureKind::ALL.into_iter().filter(move |&kind| set >> kind as u16 & 1 == 1)
}
