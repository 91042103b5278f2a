//! The results of the built-in functions on values: seed 004 "Built-in Functions", as sequences of
//! operations on scalars.
//!
//! A value is its words in the order of memory (see [`crate::wsl::layout`]): 4 bytes each, with
//! padding. Every function is a few operations on scalars ([`Op`]). [`scalar()`] defines the
//! possible results of each operation. The evaluator decides what a word is, and how to treat an
//! unspecified word ([`Evaluator`]): as definite bits, or as a symbol. This module does not contain
//! functions that touch memory other than through results (atomics, textures), or that need other
//! threads (barriers). Derivatives are here for known operands of the quad.
//!
//! | module | contents |
//! |---|---|
//! | `operation` | the operations on scalars |
//! | `boolean`, `integer`, `float`, `convert` | their possible results for definite operands |
//! | `apply` | functions on vectors and matrices: element by element, or by the next two |
//! | `access` | elements by letters and indices, constructors, default values |
//! | `algebra` | products, lengths, directions, lighting, the determinant |
//! | `derivative` | differences in a quad |
//! | `sets` | the possible floats under a precision profile |
//! | `planted` | wrong meanings, which tests plant |
//!
//! # What the seed leaves open, decided here
//! - *Unspecified* and *undefined* values are the same: any value of the type ([`OpResult::Any`]),
//!   frozen. A definite run takes 0.
//! - *Floats are IEEE 754's binary32*, with subnormals. `+ - * /` and functions are correctly
//!   rounded (to nearest, ties to even). Infinities and NaN are as in IEEE 754. Every NaN is the
//!   quiet NaN 0x7fc00000, also if an operation on floats returns an argument that is NaN.
//!   Operations that only move words keep their bits.
//! - *"Equivalent to" an expression* is that expression, with each of its operations rounded:
//!   `lerp`, `smoothstep`, `ldexp`, `refract` and the like. Three functions are taken over the real
//!   numbers instead. For `fmod` the seed states the sign, which the rounded quotient would break,
//!   so its result is the exact remainder. `degrees` and `radians` are rounded once. `mad` may be
//!   rounded once or twice.
//! - *Sums* go from the left: `dot` is `((x0 * y0 + x1 * y1) + x2 * y2) + x3 * y3`.

mod access;
mod algebra;
mod apply;
mod boolean;
mod convert;
mod derivative;
mod float;
mod integer;
mod operation;
mod planted;
mod sets;

pub use access::{default_words, enum_from};
pub use apply::apply;
pub use derivative::Derivative;
pub use planted::{Planted, Replacement};
pub use sets::{allowed, truth};

use crate::number::Inexact;
use crate::number::sets::Set;
use crate::wsl::library::Meaning;
use crate::wsl::types::Scalar;
use smallvec::SmallVec;

/// An operation on scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Op {
    /// Its meaning. Library functions that consist of other operations (`Dot`, `Normalize`, …)
    /// are no operations.
    pub meaning: Meaning,
    /// The type of its operands. For a conversion, the type that it converts from.
    pub of: Scalar,
    /// The type of its result.
    pub to: Scalar,
}

/// The result of an operation for definite operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpResult {
    /// These bits.
    Exactly(u32),
    /// Any one of these bits, at least two. A definite run takes the first.
    OneOf(SmallVec<[u32; 2]>),
    /// Any value of the type. A definite run takes these bits.
    Any(u32),
}

/// An evaluator of operations: its words, and its treatment of unspecified values.
pub trait Evaluator {
    /// 4 bytes of a value.
    type Word: Copy + PartialEq;

    /// Definite bits.
    fn bits(&mut self, bits: u32) -> Self::Word;

    /// The result of an operation on scalars.
    fn scalar(&mut self, op: Op, operands: &[Self::Word]) -> Self::Word;

    /// The index if it is below `bound`. Otherwise a new unspecified `uint` below `otherwise`,
    /// which is at least 1. An unspecified word is frozen: every use of it is the same number.
    fn below(&mut self, index: Self::Word, bound: u32, otherwise: u32) -> Self::Word;

    /// The word at an index, which is below the number of words.
    fn pick(&mut self, index: Self::Word, words: &[Self::Word]) -> Self::Word;
}

/// An evaluator that also evaluates functions of textures and of quads. They leave more unspecified
/// than operations on scalars do.
pub trait Unspecified: Evaluator {
    /// The bits, if the word has definite ones.
    fn definite(&self, word: Self::Word) -> Option<u32>;

    /// The possible floats of a word, within finite bounds. `None` if the word may be unbounded or
    /// may be no finite number.
    fn bounds(&self, word: Self::Word) -> Option<Inexact>;

    /// A new unspecified value: one of these, or any of the type. A definite run takes the first,
    /// or `first`.
    fn unspecified(&mut self, values: Option<&[u32]>, of: Scalar, first: u32) -> Self::Word;

    /// [`Unspecified::unspecified`] for something that has no value from the start. A definite run
    /// chooses by its identity `what` alone, so that every order of loads makes the same choice.
    fn undefined(&mut self, what: [u32; 2], values: Option<&[u32]>, of: Scalar, first: u32) -> Self::Word;

    /// A new float within a set. It is definite if the set has only one float.
    fn within(&mut self, set: Set) -> Self::Word;

    /// Whether to take the result of the formulas where a device may compute another one.
    /// `definite` is whether the formulas have one result.
    fn takes_formula(&self, definite: bool) -> bool;
}

/// The results of a call of a built-in function.
#[derive(Clone, Debug, PartialEq)]
pub struct Results<W> {
    /// The result's words. `void` has none.
    pub result: SmallVec<[W; 4]>,
    /// The words that are stored through each pointer parameter, in order (`modf`, `sincos`).
    pub stored: SmallVec<[SmallVec<[W; 4]>; 2]>,
}

impl OpResult {
    /// One of these, in order and without repetition.
    fn one_of(all: impl IntoIterator<Item = u32>) -> OpResult {
        let mut found: SmallVec<[u32; 2]> = SmallVec::new();
        for bits in all {
            if !found.contains(&bits) {
                found.push(bits);
            }
        }
        if let [bits] = found[..] { OpResult::Exactly(bits) } else { OpResult::OneOf(found) }
    }

    /// Any value of the type.
    const ANY: OpResult = OpResult::Any(0);

    /// The bits that a definite run takes.
    pub fn first(&self) -> u32 {
        match self {
            OpResult::Exactly(bits) | OpResult::Any(bits) => *bits,
            OpResult::OneOf(all) => all[0],
        }
    }
}

impl From<bool> for OpResult {
    fn from(value: bool) -> OpResult {
        OpResult::Exactly(value.into())
    }
}

/// The possible results of an operation on scalars for definite operands: seed 004 "Integer
/// arithmetic", "Bit manipulation", "Floating point arithmetic", "Cast operators", "Comparison
/// operators". For `bool`, any bits but 0 are true, and results are 0 or 1.
///
/// # Panics
///
/// If there is no such operation with this number of operands ([`Op::arity`]): a bug of the caller.
pub fn scalar(op: Op, operands: &[u32]) -> OpResult {
    debug_assert_eq!(op.arity(), Some(operands.len()), "operands of {op:?}");
    let result = match (op.meaning, op.of) {
        (Meaning::Convert | Meaning::Reinterpret | Meaning::All | Meaning::Any, _) => convert::of(op, operands),
        (_, Scalar::Bool) => boolean::of(op.meaning, operands),
        (_, Scalar::Uint) => integer::of_uint(op.meaning, operands),
        (_, Scalar::Int) => integer::of_int(op.meaning, operands),
        (_, Scalar::Float) => float::of(op.meaning, operands),
    };
    result.unwrap_or_else(|| panic!("{op:?} is no operation on {} scalars", operands.len()))
}
