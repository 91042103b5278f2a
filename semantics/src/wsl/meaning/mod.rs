//! What the built-in functions do with values: seed 004 "Built-in Functions", one operation on scalars after the other.
//!
//! A value is its words in the order of memory (see [`super::layout`]): 4 bytes each, padding included. Every function is a few operations on scalars ([`Op`]),
//! and [`scalar`] says what each may give. Who evaluates decides what a word is and what becomes of an unspecified one ([`Lanes`]): definite bits, or a symbol.
//! What touches memory other than through results (atomics, textures), what needs other threads (barriers, derivatives) is not here.

use super::library::{LibraryFunction, Meaning};
use super::types::{Scalar, TypeId};
use smallvec::SmallVec;

/// An operation on scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Op {
    /// What it does. The library's functions that are made of others (`Dot`, `Normalize`, …) are none.
    pub meaning: Meaning,
    /// The type of its operands; of a conversion, what is converted.
    pub of: Scalar,
    /// The type of its result.
    pub to: Scalar,
}

/// What an operation gives for definite operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// These bits.
    Exactly(u32),
    /// Any one of these bits, at least two; the first is what a definite run takes.
    OneOf(SmallVec<[u32; 2]>),
    /// Any value of the type; a definite run takes these bits.
    Any(u32),
}

/// What evaluates operations: the words, and what becomes of what is unspecified.
pub trait Lanes {
    /// 4 bytes of a value.
    type Word: Copy;

    /// Definite bits.
    fn bits(&mut self, bits: u32) -> Self::Word;

    /// The result of an operation on scalars.
    fn scalar(&mut self, op: Op, operands: &[Self::Word]) -> Self::Word;

    /// The index if it is below `bound`, otherwise a new unspecified `uint` below `otherwise`, which is at least 1. An unspecified word is frozen: every use of it is
    /// the same number.
    fn below(&mut self, index: Self::Word, bound: u32, otherwise: u32) -> Self::Word;

    /// The word at an index that is below the number of words.
    fn pick(&mut self, index: Self::Word, words: &[Self::Word]) -> Self::Word;
}

/// What a call of a built-in function gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Results<W> {
    /// The result's words; none of `void`.
    pub result: SmallVec<[W; 4]>,
    /// What is stored through each parameter that is a pointer, in order (`modf`, `sincos`).
    pub stored: SmallVec<[SmallVec<[W; 4]>; 2]>,
}
