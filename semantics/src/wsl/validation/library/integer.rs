//! Integer arithmetic: seed 004 "Integer arithmetic". `abs`, `sign`, `min`, `max` and `clamp` are
//! element-wise on vectors too.

use super::meaning::Meaning;
use super::pattern::Pattern::{Fixed, T, WithScalar};
use super::pattern::{Range, TypeSet};
use super::table::{Row, Signature, over, plain, row};
use crate::wsl::types::{Scalar, TypeId};

const SCALARS: TypeSet = TypeSet::scalars(&[Scalar::Int, Scalar::Uint]);
/// `int` and `uint`.
const INTEGERS: Range = Range::of(SCALARS);
/// `int`, `uint` and their vectors.
const INTEGER_SHAPES: Range = Range::of(SCALARS.or(TypeSet::vectors(&[Scalar::Int, Scalar::Uint])));

const BINARY: &[Signature] = &[over(INTEGERS, &[T, T], T)];
const STEP: &[Signature] = &[over(INTEGERS, &[T], T)];

/// operator+, operator-, operator* and mul : (T, T) → T for T int or uint
///                                             [wsl/lib-integer-arithmetic, 004 Integer arithmetic]
///
/// Sum, difference and product of two `int` or two `uint`.
pub(super) const fn integer_arithmetic() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row("operator+", BINARY, Meaning::Add, "The sum modulo 2³²."),
        row("operator-", BINARY, Meaning::Subtract, "The difference modulo 2³²."),
        row("operator*", BINARY, Meaning::Multiply, "The product modulo 2³²."),
        row("mul", BINARY, Meaning::Multiply, "The product modulo 2³², as `operator*`."),
    ];
    ROWS
}

/// operator- : (int) → int                       [wsl/lib-integer-negation, 004 Integer arithmetic]
///
/// The negation of an `int`.
pub(super) const fn integer_negation() -> &'static [Row] {
    const ROWS: &[Row] = &[row(
        "operator-",
        &[plain(&[Fixed(TypeId::INT)], Fixed(TypeId::INT))],
        Meaning::Negate,
        "The negation modulo 2³²: the least integer is its own.",
    )];
    ROWS
}

/// operator++ and operator-- : (T) → T for T int or uint
///                                                   [wsl/lib-integer-step, 004 Integer arithmetic]
///
/// Adds or subtracts one.
pub(super) const fn integer_step() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row("operator++", STEP, Meaning::Increment, "The argument plus 1, modulo 2³²."),
        row("operator--", STEP, Meaning::Decrement, "The argument minus 1, modulo 2³²."),
    ];
    ROWS
}

/// operator/ and operator% : (T, T) → T for T int or uint
///                                               [wsl/lib-integer-division, 004 Integer arithmetic]
///
/// Quotient and remainder.
pub(super) const fn integer_division() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row(
            "operator/",
            BINARY,
            Meaning::Divide,
            "The quotient truncated towards zero, modulo 2³²: the least integer by -1 is itself. By 0 an unspecified value.",
        ),
        row(
            "operator%",
            BINARY,
            Meaning::Remainder,
            "The remainder `a - (a / b) * b`, with the sign of `a`: of the least integer by -1 it is 0. By 0 an unspecified value.",
        ),
    ];
    ROWS
}

/// abs : (T) → T for T int, uint or a vector of them
///                                                    [wsl/lib-integer-abs, 004 Integer arithmetic]
///
/// The absolute value.
pub(super) const fn integer_abs() -> &'static [Row] {
    const ROWS: &[Row] = &[row(
        "abs",
        &[over(INTEGER_SHAPES, &[T], T)],
        Meaning::Abs,
        "The absolute value modulo 2³²: the least integer is its own. A `uint` is its own. Element-wise on vectors.",
    )];
    ROWS
}

/// sign : (T) → int for T int or uint, and of vectors of them a vector of int
///                                                   [wsl/lib-integer-sign, 004 Integer arithmetic]
///
/// The sign, an `int`.
pub(super) const fn integer_sign() -> &'static [Row] {
    const ROWS: &[Row] = &[row(
        "sign",
        &[over(INTEGER_SHAPES, &[T], WithScalar(Scalar::Int))],
        Meaning::Sign,
        "1, 0 or -1 as the argument is positive, zero or negative; always an `int`. Element-wise on vectors.",
    )];
    ROWS
}

/// min and max : (T, T) → T for T int, uint or a vector of them
///                                                [wsl/lib-integer-min-max, 004 Integer arithmetic]
///
/// The lesser and the greater of two.
pub(super) const fn integer_min_max() -> &'static [Row] {
    const PAIR: &[Signature] = &[over(INTEGER_SHAPES, &[T, T], T)];
    const ROWS: &[Row] = &[
        row("min", PAIR, Meaning::Min, "The lesser argument. Element-wise on vectors."),
        row("max", PAIR, Meaning::Max, "The greater argument. Element-wise on vectors."),
    ];
    ROWS
}

/// clamp : (T, T, T) → T for T int, uint or a vector of them
///                                                  [wsl/lib-integer-clamp, 004 Integer arithmetic]
///
/// Limits a value to a range.
pub(super) const fn integer_clamp() -> &'static [Row] {
    const ROWS: &[Row] = &[row(
        "clamp",
        &[over(INTEGER_SHAPES, &[T, T, T], T)],
        Meaning::Clamp,
        "`min(max(x, low), high)` of the arguments `x`, `low`, `high`; an unspecified value if `high < low`. Element-wise on vectors.",
    )];
    ROWS
}
