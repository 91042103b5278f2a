//! Operations on vectors and matrices: seed 004 "Vector and matrix operations".

use super::meaning::Meaning;
use super::pattern::Pattern::{Column, Element, Fixed, Multiplier, Product, Row as MatrixRow, T, Transposed};
use super::pattern::{Pattern, Range, TypeSet};
use super::table::{Row, Signature, over, plain, row};
use crate::wsl::types::{Scalar, TypeId};

const NUMBERS: [Scalar; 3] = [Scalar::Uint, Scalar::Int, Scalar::Float];
const FLOAT: Pattern = Fixed(TypeId::FLOAT);
const FLOAT3: Pattern = Fixed(TypeId::vector(Scalar::Float, 3));
const FLOAT4: Pattern = Fixed(TypeId::vector(Scalar::Float, 4));
/// Vectors of numbers and float matrices.
const NUMERIC: Range = Range::of(TypeSet::vectors(&NUMBERS).or(TypeSet::matrices(&[Scalar::Float])));
const FLOAT_VECTORS: Range = Range::of(TypeSet::vectors(&[Scalar::Float]));
const FLOAT_MATRICES: Range = Range::of(TypeSet::matrices(&[Scalar::Float]));

/// operator+, -, * and / of vectors of numbers and float matrices, a scalar on one side standing
/// for each element              [wsl/lib-elementwise-arithmetic, 004 Vector and matrix operations]
///
/// Arithmetic element by element.
pub(super) const fn elementwise_arithmetic() -> &'static [Row] {
    const PAIR: &[Signature] = &[over(NUMERIC, &[T, T], T), over(NUMERIC, &[T, Element], T), over(NUMERIC, &[Element, T], T)];
    const ROWS: &[Row] = &[
        row("operator+", PAIR, Meaning::Add, "The sum element by element; a scalar stands for each element."),
        row("operator-", PAIR, Meaning::Subtract, "The difference element by element; a scalar stands for each element."),
        row("operator*", PAIR, Meaning::Multiply, "The product element by element, of matrices too; a scalar stands for each element."),
        row("operator/", PAIR, Meaning::Divide, "The quotient element by element; a scalar stands for each element."),
    ];
    ROWS
}

/// operator+ : (T) → T for vectors of numbers and float matrices, operator- for those of int and
/// float                       [wsl/lib-elementwise-sign, 004 Vector and matrix operations; WSL-A9]
///
/// Plus and minus, element by element.
pub(super) const fn elementwise_sign() -> &'static [Row] {
    const SIGNED: Range = Range::of(TypeSet::vectors(&[Scalar::Int, Scalar::Float]).or(TypeSet::matrices(&[Scalar::Float])));
    const ROWS: &[Row] = &[
        row("operator+", &[over(NUMERIC, &[T], T)], Meaning::Plus, "The argument."),
        row("operator-", &[over(SIGNED, &[T], T)], Meaning::Negate, "The negation element by element."),
    ];
    ROWS
}

/// dot : (T, T) → the scalar of T, for T uint, int, float or a vector of them
///                                          [wsl/lib-dot, 004 Vector and matrix operations; WSL-E7]
///
/// The sum of products.
pub(super) const fn dot() -> &'static [Row] {
    const SHAPES: Range = Range::of(TypeSet::scalars(&NUMBERS).or(TypeSet::vectors(&NUMBERS)));
    const ROWS: &[Row] = &[row(
        "dot",
        &[over(SHAPES, &[T, T], Element)],
        Meaning::Dot,
        "The product of two numbers, the sum from the left of the products of the elements of two vectors.",
    )];
    ROWS
}

/// mul : as dot; float with a matrix; floatM with floatNxM → floatN; floatNxM with floatN → floatM;
/// floatNxM with floatOxN → floatOxM       [wsl/lib-mul, 004 Vector and matrix operations; WSL-C21]
///
/// Products of linear algebra.
pub(super) const fn mul() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row(
            "mul",
            &[plain(&[FLOAT, FLOAT], FLOAT), over(Range::of(TypeSet::vectors(&NUMBERS)), &[T, T], Element)],
            Meaning::Dot,
            "The product of two numbers, the dot product of two vectors.",
        ),
        row(
            "mul",
            &[over(FLOAT_MATRICES, &[FLOAT, T], T), over(FLOAT_MATRICES, &[T, FLOAT], T)],
            Meaning::Multiply,
            "The matrix with each element multiplied by the number.",
        ),
        row(
            "mul",
            &[
                over(FLOAT_MATRICES, &[Column, T], MatrixRow),
                over(FLOAT_MATRICES, &[T, MatrixRow], Column),
                over(FLOAT_MATRICES, &[T, Multiplier(2)], Product(2)),
                over(FLOAT_MATRICES, &[T, Multiplier(3)], Product(3)),
                over(FLOAT_MATRICES, &[T, Multiplier(4)], Product(4)),
            ],
            Meaning::MatrixMultiply,
            "The product of linear algebra: a vector on the left is a row, on the right a column; `m[i]` is the i-th column of `m`.",
        ),
    ];
    ROWS
}

/// length, normalize, distance, reflect, refract and faceforward of float vectors, cross of float3
///                                     [wsl/lib-geometry, 004 Vector and matrix operations; WSL-E7]
///
/// Lengths and directions.
pub(super) const fn geometry() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row("length", &[over(FLOAT_VECTORS, &[T], Element)], Meaning::Length, "The square root of the sum of the squares of the elements."),
        row(
            "normalize",
            &[over(FLOAT_VECTORS, &[T], T)],
            Meaning::Normalize,
            "The vector divided by its length; an unspecified value if that is 0.",
        ),
        row("distance", &[over(FLOAT_VECTORS, &[T, T], Element)], Meaning::Distance, "The length of the difference."),
        row("cross", &[plain(&[FLOAT3, FLOAT3], FLOAT3)], Meaning::Cross, "The cross product."),
        row("reflect", &[over(FLOAT_VECTORS, &[T, T], T)], Meaning::Reflect, "`i - 2 * dot(n, i) * n` of the arguments `i`, `n`."),
        row(
            "refract",
            &[over(FLOAT_VECTORS, &[T, T, Element], T)],
            Meaning::Refract,
            "Of the arguments `i`, `n`, `e`, with `d = dot(n, i)` and `k = 1 - e * e * (1 - d * d)`: zeros if `k < 0`, else `e * i - (e * d + sqrt(k)) * n`.",
        ),
        row(
            "faceforward",
            &[over(FLOAT_VECTORS, &[T, T, T], T)],
            Meaning::Faceforward,
            "Of the arguments `n`, `i`, `g`: `n` if `dot(i, g) < 0`, else `-n`.",
        ),
    ];
    ROWS
}

/// dst : (float4, float4) → float4, lit : (float, float, float) → float4
///                                     [wsl/lib-lighting, 004 Vector and matrix operations; WSL-E7]
///
/// Products of lighting.
pub(super) const fn lighting() -> &'static [Row] {
    const ROWS: &[Row] = &[
        row("dst", &[plain(&[FLOAT4, FLOAT4], FLOAT4)], Meaning::Dst, "`(1, a.y * b.y, a.z, b.w)` of the arguments `a`, `b`."),
        row(
            "lit",
            &[plain(&[FLOAT, FLOAT, FLOAT], FLOAT4)],
            Meaning::Lit,
            "`(1, max(0, l), s, 1)` of the arguments `l`, `h`, `m`, where `s` is 0 if `l < 0` or `h < 0`, else `h * m`.",
        ),
    ];
    ROWS
}

/// transpose : (SNxM) → SMxN          [wsl/lib-transpose, 004 Vector and matrix operations; WSL-E7]
///
/// Exchanges rows and columns.
pub(super) const fn transpose() -> &'static [Row] {
    const ALL: Range = Range::of(TypeSet::matrices(&[Scalar::Bool, Scalar::Float]));
    const ROWS: &[Row] =
        &[row("transpose", &[over(ALL, &[T], Transposed)], Meaning::Transpose, "The matrix with rows and columns exchanged.")];
    ROWS
}

/// determinant : (floatNxN) → float
///                                  [wsl/lib-determinant, 004 Vector and matrix operations; WSL-E7]
///
/// The determinant.
pub(super) const fn determinant() -> &'static [Row] {
    const SQUARE: Range = Range::of(
        TypeSet::one(TypeId::matrix(Scalar::Float, 2, 2))
            .or(TypeSet::one(TypeId::matrix(Scalar::Float, 3, 3)))
            .or(TypeSet::one(TypeId::matrix(Scalar::Float, 4, 4))),
    );
    const ROWS: &[Row] = &[row("determinant", &[over(SQUARE, &[T], FLOAT)], Meaning::Determinant, "The determinant.")];
    ROWS
}
