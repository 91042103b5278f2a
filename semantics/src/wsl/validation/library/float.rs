//! Floating point arithmetic: seed 004 "Floating point arithmetic". All functions but the operators
//! are element-wise on float vectors and matrices too.

use super::meaning::Meaning;
use super::pattern::Pattern::{Fixed, Pointer, T, WithScalar};
use super::pattern::{Pattern, Range, Spaces, TypeSet};
use super::table::{Row, Signature, Stages, over, plain, row};
use crate::wsl::types::{Scalar, TypeId};

const FLOAT: Pattern = Fixed(TypeId::FLOAT);
/// `float`, its vectors and its matrices.
const FLOATS: Range =
    Range::of(TypeSet::scalars(&[Scalar::Float]).or(TypeSet::vectors(&[Scalar::Float])).or(TypeSet::matrices(&[Scalar::Float])));

const UNARY: &[Signature] = &[over(FLOATS, &[T], T)];
const BINARY: &[Signature] = &[over(FLOATS, &[T, T], T)];
const TERNARY: &[Signature] = &[over(FLOATS, &[T, T, T], T)];

/// operator+, operator-, operator* and operator/ : (float, float) → float
///                                        [wsl/lib-float-arithmetic, 004 Floating point arithmetic]
///
/// Sum, difference, product and quotient of two `float`.
pub(super) const fn float_arithmetic() -> &'static [Row] {
    const PAIR: &[Signature] = &[plain(&[FLOAT, FLOAT], FLOAT)];
    const ROWS: &[Row] = &[
        row("operator+", PAIR, Meaning::Add, "The sum."),
        row("operator-", PAIR, Meaning::Subtract, "The difference."),
        row("operator*", PAIR, Meaning::Multiply, "The product."),
        row("operator/", PAIR, Meaning::Divide, "The quotient; by +0 or -0 an unspecified value."),
    ];
    ROWS
}

/// operator- : (float) → float              [wsl/lib-float-negation, 004 Floating point arithmetic]
///
/// The negation of a `float`.
pub(super) const fn float_negation() -> &'static [Row] {
    const ROWS: &[Row] = &[row(
        "operator-",
        &[plain(&[FLOAT], FLOAT)],
        Meaning::Negate,
        "The negation: the sign turned round, of zeros and infinities too.",
    )];
    ROWS
}

/// cos and the other functions of one number : (T) → T for T float, a vector or a matrix of it
///                                     [wsl/lib-float-unary, 004 Floating point arithmetic; WSL-E7]
///
/// Functions of one number.
pub(super) const fn float_unary() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row("cos", UNARY, Meaning::Cos, "The cosine of an angle in radians."),
        row("sin", UNARY, Meaning::Sin, "The sine of an angle in radians."),
        row("tan", UNARY, Meaning::Tan, "The tangent of an angle in radians."),
        row("acos", UNARY, Meaning::Acos, "The angle from 0 to π whose cosine it is; outside -1 to 1 an unspecified value."),
        row("asin", UNARY, Meaning::Asin, "The angle from -π/2 to π/2 whose sine it is; outside -1 to 1 an unspecified value."),
        row("atan", UNARY, Meaning::Atan, "The angle from -π/2 to π/2 whose tangent it is."),
        row("cosh", UNARY, Meaning::Cosh, "The hyperbolic cosine."),
        row("sinh", UNARY, Meaning::Sinh, "The hyperbolic sine."),
        row("tanh", UNARY, Meaning::Tanh, "The hyperbolic tangent."),
        row("ceil", UNARY, Meaning::Ceil, "The least whole number not below the argument; zeros, infinities and NaN are their own."),
        row("floor", UNARY, Meaning::Floor, "The greatest whole number not above the argument; zeros, infinities and NaN are their own."),
        row(
            "round",
            UNARY,
            Meaning::Round,
            "The nearest whole number, either of two at the same distance; zeros, infinities and NaN are their own.",
        ),
        row("trunc", UNARY, Meaning::Trunc, "The argument without its fraction; zeros, infinities and NaN are their own."),
        row("frac", UNARY, Meaning::Frac, "`x - floor(x)`: +0 of both zeros, NaN of infinities and NaN."),
        row("exp", UNARY, Meaning::Exp, "e to the power of the argument."),
        row("exp2", UNARY, Meaning::Exp2, "2 to the power of the argument."),
        row("log", UNARY, Meaning::Log, "The natural logarithm; at 0 and below an unspecified value."),
        row("log2", UNARY, Meaning::Log2, "The logarithm to base 2; at 0 and below an unspecified value."),
        row("log10", UNARY, Meaning::Log10, "The logarithm to base 10; at 0 and below an unspecified value."),
        row("sqrt", UNARY, Meaning::Sqrt, "The square root; below 0 an unspecified value."),
        row("rsqrt", UNARY, Meaning::Rsqrt, "1 divided by the square root; at 0 and below an unspecified value."),
        row("rcp", UNARY, Meaning::Rcp, "1 divided by the argument; of +0 and -0 an unspecified value."),
        row("degrees", UNARY, Meaning::Degrees, "The angle in degrees of one in radians: the argument times 180 / π."),
        row("radians", UNARY, Meaning::Radians, "The angle in radians of one in degrees: the argument times π / 180."),
        row("saturate", UNARY, Meaning::Saturate, "`clamp` of the argument to 0 and 1: an unspecified value of NaN."),
        row("abs", UNARY, Meaning::Abs, "The argument without its sign, of zeros and infinities too."),
        row("sign", UNARY, Meaning::Sign, "1, 0 or -1 as the argument is above, equal to or below 0; an unspecified value of NaN."),
    ];
    ROWS
}

/// min, max, pow, step, ldexp, fmod and atan2 : (T, T) → T for T float, a vector or a matrix of it
///                            [wsl/lib-float-binary, 004 Floating point arithmetic; WSL-E2, WSL-E3]
///
/// Functions of two numbers.
pub(super) const fn float_binary() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row("min", BINARY, Meaning::Min, "The lesser argument; either one if one is NaN or if they are two zeros of different signs."),
        row("max", BINARY, Meaning::Max, "The greater argument; either one if one is NaN or if they are two zeros of different signs."),
        row(
            "pow",
            BINARY,
            Meaning::Pow,
            "The first argument to the power of the second; an unspecified value if the first is below 0, or a zero and the second not above 0.",
        ),
        row("step", BINARY, Meaning::Step, "1 if the first argument is not below the second, else 0: 0 if one is NaN."),
        row("ldexp", BINARY, Meaning::Ldexp, "`x * pow(2, y)` of the arguments `x`, `y`; `y` need not be a whole number."),
        row(
            "fmod",
            BINARY,
            Meaning::Fmod,
            "`x - y * trunc(x / y)` of the arguments `x`, `y`, with the sign of `x`; an unspecified value if `y` is +0 or -0.",
        ),
        row(
            "atan2",
            BINARY,
            Meaning::Atan2,
            "Of the arguments `y`, `x` the angle from -π to π of the point (x, y): its tangent is y / x, its quadrant theirs; π or -π if `y` is a zero and `x` below 0, \
             an unspecified value if both are zeros.",
        ),
    ];
    ROWS
}

/// clamp, smoothstep, lerp and mad : (T, T, T) → T for T float, a vector or a matrix of it
///                                           [wsl/lib-float-ternary, 004 Floating point arithmetic]
///
/// Functions of three numbers.
pub(super) const fn float_ternary() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row(
            "clamp",
            TERNARY,
            Meaning::Clamp,
            "`min(max(x, low), high)` of the arguments `x`, `low`, `high`; an unspecified value if `high < low` or one is NaN.",
        ),
        row(
            "smoothstep",
            TERNARY,
            Meaning::Smoothstep,
            "Of the arguments `low`, `high`, `x`: 0 if `x <= low`, else 1 if `x >= high`, else `t * t * (3 - 2 * t)` with `t = (x - low) / (high - low)`; an \
             unspecified value if `high < low` or one is NaN.",
        ),
        row("lerp", TERNARY, Meaning::Lerp, "`x * (1 - s) + y * s` of the arguments `x`, `y`, `s`."),
        row("mad", TERNARY, Meaning::Mad, "`a * b + c` of the arguments `a`, `b`, `c`, rounded once or twice."),
    ];
    ROWS
}

/// isfinite, isinf and isnan : (float) → bool, and of vectors and matrices of float those of bool
///                                             [wsl/lib-float-class, 004 Floating point arithmetic]
///
/// The class of a number: finite, infinite or NaN.
pub(super) const fn float_class() -> &'static [Row] {
    const CLASS: &[Signature] = &[over(FLOATS, &[T], WithScalar(Scalar::Bool))];
    const ROWS: &[Row] = &[
        row("isfinite", CLASS, Meaning::IsFinite, "Whether it is neither an infinity nor NaN."),
        row("isinf", CLASS, Meaning::IsInf, "Whether it is an infinity."),
        row("isnan", CLASS, Meaning::IsNan, "Whether it is NaN."),
    ];
    ROWS
}

const OUT: Pattern = Pointer(Spaces::WRITABLE, &T);

/// modf : (T, T* space) → T for T float, a vector or a matrix of it, and each space but constant
///                                            [wsl/lib-modf, 004 Floating point arithmetic; WSL-E5]
///
/// Splits a number into whole number and fraction.
pub(super) const fn modf() -> &'static [Row] {
    const ROWS: &[Row] = &[row(
        "modf",
        &[over(FLOATS, &[T, OUT], T)],
        Meaning::Modf,
        "Stores the argument without its fraction through the pointer and returns the fraction, both with the sign of the argument.",
    )];
    ROWS
}

/// sincos : (T, T* space, T* space) → void for T float, a vector or a matrix of it, and each space
/// but constant                             [wsl/lib-sincos, 004 Floating point arithmetic; WSL-E7]
///
/// Sine and cosine.
pub(super) const fn sincos() -> &'static [Row] {
    const ROWS: &[Row] = &[row(
        "sincos",
        &[over(FLOATS, &[T, OUT, OUT], Fixed(TypeId::VOID))],
        Meaning::Sincos,
        "Stores the sine of an angle in radians through the first pointer, then its cosine through the second.",
    )];
    ROWS
}

/// ddx, ddy and fwidth, each also _coarse and _fine : (T) → T for T float, a vector or a matrix of
/// it, in fragment shaders                      [wsl/lib-derivative, 004 Floating point arithmetic]
///
/// Differences between the invocations of a quad.
pub(super) const fn derivative() -> &'static [Row] {
    const fn derivative(name: &'static str, meaning: Meaning, says: &'static str) -> Row {
        row(name, UNARY, meaning, says).stages(Stages::FRAGMENT)
    }
    const ROWS: &[Row] = &[
        derivative("ddx", Meaning::Ddx, "The change of the argument from one pixel to the next on the right; coarse or fine."),
        derivative("ddy", Meaning::Ddy, "The change of the argument from one pixel to the next below; coarse or fine."),
        derivative("ddx_coarse", Meaning::DdxCoarse, "The same change to the right for the whole quad, in one of its rows."),
        derivative("ddy_coarse", Meaning::DdyCoarse, "The same change downwards for the whole quad, in one of its columns."),
        derivative("ddx_fine", Meaning::DdxFine, "The change to the right in the pixel's own row of the quad."),
        derivative("ddy_fine", Meaning::DdyFine, "The change downwards in the pixel's own column of the quad."),
        derivative("fwidth", Meaning::Fwidth, "`abs(ddx(x)) + abs(ddy(x))` of the argument `x`."),
        derivative("fwidth_coarse", Meaning::FwidthCoarse, "`abs(ddx_coarse(x)) + abs(ddy_coarse(x))` of the argument `x`."),
        derivative("fwidth_fine", Meaning::FwidthFine, "`abs(ddx_fine(x)) + abs(ddy_fine(x))` of the argument `x`."),
    ];
    ROWS
}
