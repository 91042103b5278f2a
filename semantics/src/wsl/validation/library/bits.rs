//! Bits and truth values: seed 004 "Bit manipulation".

use super::meaning::Meaning;
use super::pattern::Pattern::{Fixed, T};
use super::pattern::{Range, TypeSet};
use super::table::{Row, Signature, over, plain, row};
use crate::wsl::types::{Scalar, TypeId};

const INTEGERS: TypeSet = TypeSet::scalars(&[Scalar::Int, Scalar::Uint]);
/// `bool`, `uint` and `int`.
const LOGICAL: Range = Range::of(INTEGERS.or(TypeSet::scalars(&[Scalar::Bool])));
/// `uint` and its vectors.
const UNSIGNED: Range = Range::of(TypeSet::scalars(&[Scalar::Uint]).or(TypeSet::vectors(&[Scalar::Uint])));
/// Every scalar, vector and matrix.
const SHAPES: Range =
    Range::of(TypeSet::scalars(&Scalar::ALL).or(TypeSet::vectors(&Scalar::ALL)).or(TypeSet::matrices(&[Scalar::Bool, Scalar::Float])));

/// operator&, operator| and operator^ : (T, T) → T for T bool, int or uint
///                                                          [wsl/lib-bitwise, 004 Bit manipulation]
///
/// And, or and exclusive or.
pub(super) const fn bitwise() -> &'static [Row] {
    const PAIR: &[Signature] = &[over(LOGICAL, &[T, T], T)];
    const ROWS: &[Row] = &[
        row("operator&", PAIR, Meaning::And, "Bitwise and; of truth values, whether both are true."),
        row("operator|", PAIR, Meaning::Or, "Bitwise or; of truth values, whether one is true."),
        row("operator^", PAIR, Meaning::Xor, "Bitwise exclusive or; of truth values, whether they differ."),
    ];
    ROWS
}

/// operator~ : (T) → T for T bool, int or uint           [wsl/lib-complement, 004 Bit manipulation]
///
/// Inverts every bit.
pub(super) const fn complement() -> &'static [Row] {
    const ROWS: &[Row] =
        &[row("operator~", &[over(LOGICAL, &[T], T)], Meaning::Complement, "Every bit turned round; of a truth value, the other one.")];
    ROWS
}

/// operator! : (bool) → bool                            [wsl/lib-not, 004 Bit manipulation; WSL-A9]
///
/// Negates a truth value.
pub(super) const fn not() -> &'static [Row] {
    const BOOL: &[Signature] = &[plain(&[Fixed(TypeId::BOOL)], Fixed(TypeId::BOOL))];
    const ROWS: &[Row] = &[row("operator!", BOOL, Meaning::Not, "The other truth value.")];
    ROWS
}

/// operator<< and operator>> : (T, uint) → T for T int or uint
///                                                            [wsl/lib-shift, 004 Bit manipulation]
///
/// Shifts by an unsigned number of bits.
pub(super) const fn shift() -> &'static [Row] {
    const BY: &[Signature] = &[over(Range::of(INTEGERS), &[T, Fixed(TypeId::UINT)], T)];
    const ROWS: &[Row] = &[
        row("operator<<", BY, Meaning::ShiftLeft, "The bits of the first argument moved up by the second modulo 32; zeros come in."),
        row(
            "operator>>",
            BY,
            Meaning::ShiftRight,
            "The bits of the first argument moved down by the second modulo 32; zeros come into a `uint`, copies of the sign into an `int`.",
        ),
    ];
    ROWS
}

/// all and any : (T) → bool for each scalar, vector and matrix T
///                                                  [wsl/lib-all-any, 004 Bit manipulation; WSL-E7]
///
/// Whether all elements, or at least one, are not zero.
pub(super) const fn all_any() -> &'static [Row] {
    const ANY: &[Signature] = &[over(SHAPES, &[T], Fixed(TypeId::BOOL))];
    const ROWS: &[Row] = &[
        row("all", ANY, Meaning::All, "Whether every element is true or a number that is not zero; NaN is not zero."),
        row("any", ANY, Meaning::Any, "Whether some element is true or a number that is not zero; NaN is not zero."),
    ];
    ROWS
}

/// countbits, reversebits, firstbithigh and firstbitlow : (T) → T for T uint or a vector of it
///                                                [wsl/lib-bit-count, 004 Bit manipulation; WSL-E1]
///
/// Counts, reverses and searches bits.
pub(super) const fn bit_count() -> &'static [Row] {
    const UNARY: &[Signature] = &[over(UNSIGNED, &[T], T)];
    const ROWS: &[Row] = &[
        row("countbits", UNARY, Meaning::CountBits, "How many bits are 1. Element-wise on vectors."),
        row("reversebits", UNARY, Meaning::ReverseBits, "The bits in reverse order. Element-wise on vectors."),
        row(
            "firstbithigh",
            UNARY,
            Meaning::FirstBitHigh,
            "The index, from 0 at the lowest bit, of the highest 1; of 0 it is 4294967295. Element-wise on vectors.",
        ),
        row(
            "firstbitlow",
            UNARY,
            Meaning::FirstBitLow,
            "The index, from 0 at the lowest bit, of the lowest 1; of 0 it is 4294967295. Element-wise on vectors.",
        ),
    ];
    ROWS
}
