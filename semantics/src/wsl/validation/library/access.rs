//! Elements of vectors, matrices and arrays: seed 004 "Vector and matrix operations" (swizzles,
//! `length`, `operator[]`, `operator[]=`), "Generated functions" (arrays).

use super::meaning::Meaning;
use super::pattern::Pattern::{ArrayElement, ArrayElementPointer, Base, Column, Element, Fixed, Letters, T};
use super::pattern::{Family, Pattern, Range, TypeSet};
use super::table::{Name, Row, Signature, over, row};
use crate::wsl::types::{Scalar, TypeId};

const UINT: Pattern = Fixed(TypeId::UINT);
const VECTORS: Range = Range::of(TypeSet::vectors(&Scalar::ALL));
const MATRICES: Range = Range::of(TypeSet::matrices(&[Scalar::Bool, Scalar::Float]));
const ARRAYS: Range = Range::family(Family::Arrays);

/// operator. and one to four letters that the vector has : (SN) → S for one letter, else the vector
/// of as many S                                 [wsl/lib-swizzle, 004 Vector and matrix operations]
///
/// `v.x`, `v.zyx`.
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

/// operator., distinct letters that the vector has, = : (SN, what the getter gives) → SN
///                                       [wsl/lib-swizzle-setter, 004 Vector and matrix operations]
///
/// `v.x = e`, `v.zyx = e`.
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

/// operator\[\] : (SN, uint) → S and operator\[\]= : (SN, uint, S) → SN
///                                         [wsl/lib-vector-index, 004 Vector and matrix operations]
///
/// `v[i]`.
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

/// operator\[\] : (SNxM, uint) → SM and operator\[\]= : (SNxM, uint, SM) → SNxM
///                                [wsl/lib-matrix-index, 004 Vector and matrix operations; WSL-C21]
///
/// `m[i]`.
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

/// operator.length : (SN) → uint          [wsl/lib-vector-length, 004 Vector and matrix operations]
///
/// `v.length`.
pub(super) const fn vector_length() -> &'static [Row] {
    const ROWS: &[Row] =
        &[row("operator.length", &[over(VECTORS, &[T], UINT)], Meaning::ElementCount, "How many elements the vector has.")];
    ROWS
}

/// operator.value : (E) → the base type of the enum E      [wsl/lib-enum-value, 004 Cast operators]
///
/// `e.value`.
pub(super) const fn enum_value() -> &'static [Row] {
    const ROWS: &[Row] =
        &[row("operator.value", &[over(Range::family(Family::Enums), &[T], Base)], Meaning::EnumValue, "The value of the element.")];
    ROWS
}

/// operator&\[\] : (T\[n\]* space, uint) → T* space, operator\[\] : (T\[n\], uint) → T and
/// operator\[\]= : (T\[n\], uint, T) → T\[n\]        [wsl/lib-array-index, 004 Generated functions]
///
/// `a[i]`.
pub(super) const fn array_index() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row(
            "operator&[]",
            &[over(Range::family(Family::ArrayPointers), &[T, UINT], ArrayElementPointer)],
            Meaning::ElementPointer,
            "The pointer to the element of that index; out of bounds to an unspecified one.",
        ),
        row(
            "operator[]",
            &[over(ARRAYS, &[T, UINT], ArrayElement)],
            Meaning::Index,
            "The element of that index; out of bounds an unspecified one.",
        ),
        row(
            "operator[]=",
            &[over(ARRAYS, &[T, UINT, ArrayElement], T)],
            Meaning::SetIndex,
            "The array with the last argument as its element of that index; out of bounds as an unspecified one.",
        ),
    ];
    ROWS
}

/// operator.length : (T) → uint for each array and array reference T
///                          [wsl/lib-array-length, 004 Typing expressions, function call 3; WSL-C8]
///
/// `a.length`.
pub(super) const fn array_length() -> &'static [Row] {
    const EITHER: &[Signature] = &[over(ARRAYS, &[T], UINT), over(Range::family(Family::References), &[T], UINT)];
    const ROWS: &[Row] =
        &[row("operator.length", EITHER, Meaning::ElementCount, "How many elements the array has, or the array that is referred to.")];
    ROWS
}
