//! Casts and constructors: seed 004 "Cast operators". The name of such a function is its type, so
//! its signature is found by the result.

use super::meaning::Meaning;
use super::pattern::Pattern::{Base, Column, Element, Fixed, T, VectorOf, WithScalar};
use super::pattern::{Family, Pattern, Range, TypeSet};
use super::table::{Name, Row, Signature, over, row};
use crate::wsl::types::{Scalar, TypeId};

const BOOL: TypeSet = TypeSet::scalars(&[Scalar::Bool]);
const UINT: TypeSet = TypeSet::scalars(&[Scalar::Uint]);
const INT: TypeSet = TypeSet::scalars(&[Scalar::Int]);
const FLOAT: TypeSet = TypeSet::scalars(&[Scalar::Float]);
/// Every scalar, vector, matrix and atomic. Samplers and textures have no constructors. Pointers
/// and arrays have none either, since their types have no names.
const VALUES: Range = Range::of(
    TypeSet::scalars(&Scalar::ALL)
        .or(TypeSet::vectors(&Scalar::ALL))
        .or(TypeSet::matrices(&[Scalar::Bool, Scalar::Float]))
        .or(TypeSet::one(TypeId::ATOMIC_INT))
        .or(TypeSet::one(TypeId::ATOMIC_UINT)),
);
const ENUMS: Range = Range::family(Family::Enums);
const STRUCTS: Range = Range::family(Family::Structs);
/// No value of another struct can be made, since nothing makes a sampler or a texture.
const STRUCTS_OF_VALUES: Range = Range::family(Family::StructsOfValues);

const fn cast(signatures: &'static [Signature], meaning: Meaning, says: &'static str) -> Row {
    row("", signatures, meaning, says).named(Name::Cast)
}

/// T : () → T for each scalar, vector, matrix, atomic, enum, and struct T that contains no
/// sampler and no texture                            [wsl/lib-default, 004 Cast operators; WSL-C19]
///
/// `T()`.
pub(super) const fn default() -> &'static [Row] {
    const ROWS: &[Row] = &[cast(
        &[over(VALUES, &[], T), over(ENUMS, &[], T), over(STRUCTS_OF_VALUES, &[], T)],
        Meaning::Default,
        "The value that a variable of the type has without initialiser: zeros, `false`, an enum's element of value 0, in every element and field.",
    )];
    ROWS
}

/// T : (T) → T for each scalar, vector, matrix, atomic, enum and struct T
///                                                           [wsl/lib-identity, 004 Cast operators]
///
/// `T(x)` of a `T`.
pub(super) const fn identity() -> &'static [Row] {
    const ROWS: &[Row] =
        &[cast(&[over(VALUES, &[T], T), over(ENUMS, &[T], T), over(STRUCTS, &[T], T)], Meaning::Identity, "The argument.")];
    ROWS
}

/// S : (R) → S for each two scalars                        [wsl/lib-conversion, 004 Cast operators]
///
/// Converts one scalar type to another.
pub(super) const fn conversion() -> &'static [Row] {
    const ROWS: &[Row] = &[
        cast(
            &[over(Range::of(UINT.or(INT).or(FLOAT)), &[T], Fixed(TypeId::BOOL))],
            Meaning::Convert,
            "Whether the number is not zero; NaN is not zero.",
        ),
        cast(
            &[over(Range::of(BOOL.or(INT).or(FLOAT)), &[T], Fixed(TypeId::UINT))],
            Meaning::Convert,
            "1 of `true`, 0 of `false`; the bits of an `int`; a `float` truncated towards zero, an unspecified value if that is no `uint`.",
        ),
        cast(
            &[over(Range::of(BOOL.or(UINT).or(FLOAT)), &[T], Fixed(TypeId::INT))],
            Meaning::Convert,
            "1 of `true`, 0 of `false`; the bits of a `uint`; a `float` truncated towards zero, an unspecified value if that is no `int`.",
        ),
        cast(
            &[over(Range::of(BOOL.or(UINT).or(INT)), &[T], Fixed(TypeId::FLOAT))],
            Meaning::Convert,
            "1 of `true`, 0 of `false`; of an integer the nearest `float`.",
        ),
    ];
    ROWS
}

/// E : (B) → E and B : (E) → B for each enum E and its base type B
///                                                          [wsl/lib-enum-cast, 004 Cast operators]
///
/// Converts between an enum and its base type.
pub(super) const fn enum_cast() -> &'static [Row] {
    const INT_ENUMS: Range = Range::family(Family::EnumsOf(TypeId::INT));
    const UINT_ENUMS: Range = Range::family(Family::EnumsOf(TypeId::UINT));
    const ROWS: &[Row] = &[
        cast(&[over(ENUMS, &[Base], T)], Meaning::EnumFrom, "The element of that value; an unspecified element if there is none."),
        cast(
            &[over(INT_ENUMS, &[T], Fixed(TypeId::INT)), over(UINT_ENUMS, &[T], Fixed(TypeId::UINT))],
            Meaning::EnumValue,
            "The value of the element.",
        ),
    ];
    ROWS
}

const E: Pattern = Element;

/// SN : scalars S and shorter vectors of S with N elements together → SN
///                                                 [wsl/lib-vector-constructor, 004 Cast operators]
///
/// Builds vectors from scalars and shorter vectors.
pub(super) const fn vector_constructor() -> &'static [Row] {
    const fn of(size: u8) -> Range {
        Range::of(TypeSet::vectors_from(&Scalar::ALL, size).and(TypeSet(!TypeSet::vectors_from(&Scalar::ALL, size + 1).0)))
    }
    const ROWS: &[Row] = &[cast(
        &[
            over(of(2), &[E, E], T),
            over(of(3), &[E, E, E], T),
            over(of(3), &[VectorOf(2), E], T),
            over(of(3), &[E, VectorOf(2)], T),
            over(of(4), &[E, E, E, E], T),
            over(of(4), &[VectorOf(2), E, E], T),
            over(of(4), &[E, VectorOf(2), E], T),
            over(of(4), &[E, E, VectorOf(2)], T),
            over(of(4), &[VectorOf(2), VectorOf(2)], T),
            over(of(4), &[VectorOf(3), E], T),
            over(of(4), &[E, VectorOf(3)], T),
        ],
        Meaning::Vector,
        "The arguments' elements in order.",
    )];
    ROWS
}

/// SNxM : N times SM → SNxM                   [wsl/lib-matrix-columns, 004 Cast operators; WSL-C21]
///
/// Builds matrices from columns.
pub(super) const fn matrix_columns() -> &'static [Row] {
    const fn of(columns: u8) -> Range {
        let (mut set, mut rows) = (TypeSet::EMPTY, 2);
        while rows <= 4 {
            set = set.or(TypeSet::one(TypeId::matrix(Scalar::Bool, columns, rows))).or(TypeSet::one(TypeId::matrix(
                Scalar::Float,
                columns,
                rows,
            )));
            rows += 1;
        }
        Range::of(set)
    }
    const C: Pattern = Column;
    const ROWS: &[Row] = &[cast(
        &[over(of(2), &[C, C], T), over(of(3), &[C, C, C], T), over(of(4), &[C, C, C, C], T)],
        Meaning::MatrixColumns,
        "The matrix of these columns.",
    )];
    ROWS
}

/// SNxM : N · M times S → SNxM               [wsl/lib-matrix-elements, 004 Cast operators; WSL-C21]
///
/// Builds matrices from scalars.
pub(super) const fn matrix_elements() -> &'static [Row] {
    const fn of(elements: u8) -> Range {
        Range::of(TypeSet::matrices_of(&[Scalar::Bool, Scalar::Float], elements))
    }
    const ROWS: &[Row] = &[cast(
        &[
            over(of(4), &[E; 4], T),
            over(of(6), &[E; 6], T),
            over(of(8), &[E; 8], T),
            over(of(9), &[E; 9], T),
            over(of(12), &[E; 12], T),
            over(of(16), &[E; 16], T),
        ],
        Meaning::MatrixElements,
        "The matrix of these elements, column after column.",
    )];
    ROWS
}

/// asint, asuint and asfloat : (T) → int, uint or float for each of these T, and of vectors of them
/// vectors                                                [wsl/lib-reinterpret, 004 Cast operators]
///
/// Reinterprets the bits of a value.
pub(super) const fn reinterpret() -> &'static [Row] {
    const BITS: [Scalar; 3] = [Scalar::Uint, Scalar::Int, Scalar::Float];
    const SHAPES: Range = Range::of(TypeSet::scalars(&BITS).or(TypeSet::vectors(&BITS)));
    const ROWS: &[Row] = &[
        row(
            "asint",
            &[over(SHAPES, &[T], WithScalar(Scalar::Int))],
            Meaning::Reinterpret,
            "The `int` of the same bits. Element-wise on vectors.",
        ),
        row(
            "asuint",
            &[over(SHAPES, &[T], WithScalar(Scalar::Uint))],
            Meaning::Reinterpret,
            "The `uint` of the same bits. Element-wise on vectors.",
        ),
        row(
            "asfloat",
            &[over(SHAPES, &[T], WithScalar(Scalar::Float))],
            Meaning::Reinterpret,
            "The `float` of the same bits. Element-wise on vectors.",
        ),
    ];
    ROWS
}
