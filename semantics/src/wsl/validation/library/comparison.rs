//! Comparison operators: seed 004 "Comparison operators".

use super::meaning::Meaning;
use super::pattern::Pattern::{Element, Fixed, T, WithScalar};
use super::pattern::{Family, Pattern, Range, TypeSet};
use super::table::{Row, Signature, over, row};
use crate::wsl::types::{Scalar, TypeId};

const NUMBERS: [Scalar; 3] = [Scalar::Uint, Scalar::Int, Scalar::Float];
const BOOL: Pattern = Fixed(TypeId::BOOL);

/// operator== and operator!= : (T, T) → bool for each scalar T
///                                                     [wsl/lib-equality, 004 Comparison operators]
///
/// Whether two scalars are equal.
pub(super) const fn equality() -> &'static [Row] {
    const PAIR: &[Signature] = &[over(Range::of(TypeSet::scalars(&Scalar::ALL)), &[T, T], BOOL)];
    const ROWS: &[Row] = &[
        row("operator==", PAIR, Meaning::Equal, "Whether they are equal: +0 equals -0, NaN equals nothing."),
        row("operator!=", PAIR, Meaning::NotEqual, "Whether they are not equal: +0 equals -0, NaN equals nothing."),
    ];
    ROWS
}

/// operator<, <=, > and >= : (T, T) → bool for T uint, int or float
///                                                        [wsl/lib-order, 004 Comparison operators]
///
/// The order of two numbers.
pub(super) const fn order() -> &'static [Row] {
    const PAIR: &[Signature] = &[over(Range::of(TypeSet::scalars(&NUMBERS)), &[T, T], BOOL)];
    const ROWS: &[Row] = &[
        row("operator<", PAIR, Meaning::Less, "Whether the first is less; `false` if one is NaN."),
        row("operator<=", PAIR, Meaning::LessEqual, "Whether the first is less or equal; `false` if one is NaN."),
        row("operator>", PAIR, Meaning::Greater, "Whether the first is greater; `false` if one is NaN."),
        row("operator>=", PAIR, Meaning::GreaterEqual, "Whether the first is greater or equal; `false` if one is NaN."),
    ];
    ROWS
}

/// operator== and operator!= : (E, E) → bool for each enum E
///                                                [wsl/lib-enum-equality, 004 Comparison operators]
///
/// Whether two elements of an enum are equal.
pub(super) const fn enum_equality() -> &'static [Row] {
    const PAIR: &[Signature] = &[over(Range::family(Family::Enums), &[T, T], BOOL)];
    const ROWS: &[Row] = &[
        row("operator==", PAIR, Meaning::Equal, "Whether they are the same element of the enum."),
        row("operator!=", PAIR, Meaning::NotEqual, "Whether they are different elements of the enum."),
    ];
    ROWS
}

/// the comparisons of vectors and matrices, a scalar on one side standing for each element, → the
/// vector or matrix of bool      [wsl/lib-elementwise-comparison, 004 Comparison operators; WSL-E6]
///
/// Comparisons of the elements of vectors and matrices.
pub(super) const fn elementwise_comparison() -> &'static [Row] {
    const BOOLS: Pattern = WithScalar(Scalar::Bool);
    const ANY: Range = Range::of(TypeSet::vectors(&Scalar::ALL).or(TypeSet::matrices(&[Scalar::Bool, Scalar::Float])));
    const NUMERIC: Range = Range::of(TypeSet::vectors(&NUMBERS).or(TypeSet::matrices(&[Scalar::Float])));
    const EQUALITY: &[Signature] = &[over(ANY, &[T, T], BOOLS), over(ANY, &[T, Element], BOOLS), over(ANY, &[Element, T], BOOLS)];
    const ORDER: &[Signature] = &[over(NUMERIC, &[T, T], BOOLS), over(NUMERIC, &[T, Element], BOOLS), over(NUMERIC, &[Element, T], BOOLS)];
    const ROWS: &[Row] = &[
        row("operator==", EQUALITY, Meaning::Equal, "Element by element whether they are equal; a scalar stands for each element."),
        row("operator!=", EQUALITY, Meaning::NotEqual, "Element by element whether they are not equal; a scalar stands for each element."),
        row("operator<", ORDER, Meaning::Less, "Element by element whether the first is less; a scalar stands for each element."),
        row(
            "operator<=",
            ORDER,
            Meaning::LessEqual,
            "Element by element whether the first is less or equal; a scalar stands for each element.",
        ),
        row("operator>", ORDER, Meaning::Greater, "Element by element whether the first is greater; a scalar stands for each element."),
        row(
            "operator>=",
            ORDER,
            Meaning::GreaterEqual,
            "Element by element whether the first is greater or equal; a scalar stands for each element.",
        ),
    ];
    ROWS
}
