//! Elements of vectors, matrices and arrays: seed 004 "Vector and matrix operations" (swizzles, `length`, `operator[]`, `operator[]=`), "Generated
//! functions" (arrays).

use super::meaning::Meaning;
use super::pattern::Pattern::{Base, Column, Element, Fixed, Inner, InnerPointer, Letters, T};
use super::pattern::{Family, Pattern, Range, Set};
use super::table::{Name, Row, Signature, over, row};
use crate::wsl::types::{Scalar, TypeId};

const UINT: Pattern = Fixed(TypeId::UINT);
const VECTORS: Range = Range::of(Set::vectors(&Scalar::ALL));
const MATRICES: Range = Range::of(Set::matrices(&[Scalar::Bool, Scalar::Float]));
const ARRAYS: Range = Range::family(Family::Arrays);

/// `v.x`, `v.zyx`                                                            [wsl/lib-swizzle]
pub(super) const fn swizzle() -> &'static [Row] {
    const ROWS: &[Row] = &[row(
        "",
        &[over(VECTORS, &[T], Letters)],
        Meaning::Swizzle,
        "The elements that the letters name, `x` the first, in the order of the letters, which may be repeated; a scalar for one letter.",
    )
    .named(Name::Getter)];
    ROWS
}

/// `v.x = e`, `v.zyx = e`                                                    [wsl/lib-swizzle-setter]
pub(super) const fn swizzle_setter() -> &'static [Row] {
    const ROWS: &[Row] = &[row(
        "",
        &[over(VECTORS, &[T, Letters], T)],
        Meaning::SetSwizzle,
        "The vector with the second argument's elements in the places that the letters name; no letter twice.",
    )
    .named(Name::Setter)];
    ROWS
}

/// `v[i]`                                                                    [wsl/lib-vector-index]
pub(super) const fn vector_index() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row(
            "operator[]",
            &[over(VECTORS, &[T, UINT], Element)],
            Meaning::Index,
            "The element of that index; out of bounds an unspecified one, or zero.",
        ),
        row(
            "operator[]=",
            &[over(VECTORS, &[T, UINT, Element], T)],
            Meaning::SetIndex,
            "The vector with the last argument as its element of that index; out of bounds the vector as it is, or so changed in an unspecified place.",
        ),
    ];
    ROWS
}

/// `m[i]`                                                                    [wsl/lib-matrix-index]
pub(super) const fn matrix_index() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row(
            "operator[]",
            &[over(MATRICES, &[T, UINT], Column)],
            Meaning::Index,
            "The column of that index; out of bounds an unspecified one, or zeros.",
        ),
        row(
            "operator[]=",
            &[over(MATRICES, &[T, UINT, Column], T)],
            Meaning::SetIndex,
            "The matrix with the last argument as its column of that index; out of bounds the matrix as it is, or so changed in an unspecified place.",
        ),
    ];
    ROWS
}

/// `v.length`                                                                [wsl/lib-vector-length]
pub(super) const fn vector_length() -> &'static [Row] {
    const ROWS: &[Row] =
        &[row("operator.length", &[over(VECTORS, &[T], UINT)], Meaning::ElementCount, "How many elements the vector has.")];
    ROWS
}

/// `e.value`                                                                 [wsl/lib-enum-value]
pub(super) const fn enum_value() -> &'static [Row] {
    const ROWS: &[Row] =
        &[row("operator.value", &[over(Range::family(Family::Enums), &[T], Base)], Meaning::EnumValue, "The value of the element.")];
    ROWS
}

/// `a[i]`                                                                    [wsl/lib-array-index]
pub(super) const fn array_index() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row(
            "operator&[]",
            &[over(Range::family(Family::ArrayPointers), &[T, UINT], InnerPointer)],
            Meaning::ElementPointer,
            "The pointer to the element of that index; out of bounds to an unspecified one.",
        ),
        row(
            "operator[]",
            &[over(ARRAYS, &[T, UINT], Inner)],
            Meaning::Index,
            "The element of that index; out of bounds an unspecified one.",
        ),
        row(
            "operator[]=",
            &[over(ARRAYS, &[T, UINT, Inner], T)],
            Meaning::SetIndex,
            "The array with the last argument as its element of that index; out of bounds as an unspecified one.",
        ),
    ];
    ROWS
}

/// `a.length`                                                                [wsl/lib-array-length]
pub(super) const fn array_length() -> &'static [Row] {
    const EITHER: &[Signature] = &[over(ARRAYS, &[T], UINT), over(Range::family(Family::References), &[T], UINT)];
    const ROWS: &[Row] =
        &[row("operator.length", EITHER, Meaning::ElementCount, "How many elements the array has, or the array that is referred to.")];
    ROWS
}
