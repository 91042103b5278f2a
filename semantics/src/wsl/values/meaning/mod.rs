//! What the built-in functions do with values: seed 004 "Built-in Functions", one operation on
//! scalars after the other.
//!
//! A value is its words in the order of memory (see [`crate::wsl::layout`]): 4 bytes each, padding
//! included. Every function is a few operations on scalars ([`Op`]), and [`scalar()`] says what
//! each may give. Who evaluates decides what a word is and what becomes of an unspecified one
//! ([`Lanes`]): definite bits, or a symbol. What touches memory other than through results
//! (atomics, textures), what needs other threads (barriers) is not here; of derivatives there is
//! what they are once the operands of the quad are known.
//!
//! | module | what it holds |
//! |---|---|
//! | `operation` | which operations on scalars there are |
//! | `boolean`, `integer`, `float`, `convert` | what each may give for definite operands |
//! | `apply` | functions on vectors and matrices: element by element, or by the next two |
//! | `access` | elements by letters and indices, constructors, default values |
//! | `algebra` | products, lengths, directions, lighting, the determinant |
//! | `derivative` | differences in a quad |
//! | `sets` | what a float may come out as under a profile of precision |
//! | `planted` | wrong meanings, for tests of what judges them |
//!
//! # What the seed leaves open, decided here
//! - *Unspecified* and *undefined* values are one thing: any value of the type ([`Given::Any`]),
//!   frozen. A definite run takes 0.
//! - *Floats are IEEE 754's binary32*, subnormals kept. `+ - * /` and functions are correctly
//!   rounded (to nearest, ties to even), infinities and NaN as there. NaN is the quiet NaN
//!   0x7fc00000, also where an argument that is one is handed on by an operation on floats; what
//!   moves words keeps their bits.
//! - *"Equivalent to" an expression* is that expression, each of its operations rounded: `lerp`,
//!   `smoothstep`, `ldexp`, `refract` and the like. Three are taken over the real numbers instead:
//!   `fmod`, whose sign the seed states and the rounded quotient would break, so its result is the
//!   exact remainder; and `degrees` and `radians`, which are rounded once. `mad` may be rounded
//!   once or twice.
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
    /// What it does. The library's functions that are made of others (`Dot`,
    /// `Normalize`, …) are none.
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
    type Word: Copy + PartialEq;

    /// Definite bits.
    fn bits(&mut self, bits: u32) -> Self::Word;

    /// The result of an operation on scalars.
    fn scalar(&mut self, op: Op, operands: &[Self::Word]) -> Self::Word;

    /// The index if it is below `bound`, otherwise a new unspecified `uint` below `otherwise`,
    /// which is at least 1. An unspecified word is frozen: every use of it is the same number.
    fn below(&mut self, index: Self::Word, bound: u32, otherwise: u32) -> Self::Word;

    /// The word at an index that is below the number of words.
    fn pick(&mut self, index: Self::Word, words: &[Self::Word]) -> Self::Word;
}

/// What evaluates functions of textures and of quads, too: they leave more open than operations on
/// scalars do.
pub trait Unspecified: Lanes {
    /// The bits, if the word has definite ones.
    fn definite(&self, word: Self::Word) -> Option<u32>;

    /// The floats that a word may be, in finite bounds; none if it may be another, or
    /// is no finite number.
    fn bounds(&self, word: Self::Word) -> Option<Inexact>;

    /// A new unspecified value: one of these, or any of the type. A definite run takes the first,
    /// or `first`.
    fn unspecified(&mut self, values: Option<&[u32]>, of: Scalar, first: u32) -> Self::Word;

    /// Likewise, of something that has no value from the beginning: a definite run chooses by what
    /// it is alone, two numbers, so that every order of loads chooses alike.
    fn undefined(&mut self, what: [u32; 2], values: Option<&[u32]>, of: Scalar, first: u32) -> Self::Word;

    /// A new float within a set; a definite one if the set has no other.
    fn within(&mut self, set: Set) -> Self::Word;

    /// Whether the result of the formulas is taken where a device may compute another one;
    /// `definite` says that the formulas have one result.
    fn takes_formula(&self, definite: bool) -> bool;
}

/// What a call of a built-in function gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Results<W> {
    /// The result's words; none of `void`.
    pub result: SmallVec<[W; 4]>,
    /// What is stored through each parameter that is a pointer, in order (`modf`, `sincos`).
    pub stored: SmallVec<[SmallVec<[W; 4]>; 2]>,
}

impl Given {
    /// One of these, in order, each once.
    fn one_of(all: impl IntoIterator<Item = u32>) -> Given {
        let mut found: SmallVec<[u32; 2]> = SmallVec::new();
        for bits in all {
            if !found.contains(&bits) {
                found.push(bits);
            }
        }
        if let [bits] = found[..] { Given::Exactly(bits) } else { Given::OneOf(found) }
    }

    /// Any value of the type.
    const ANY: Given = Given::Any(0);

    /// What a definite run takes.
    pub fn first(&self) -> u32 {
        match self {
            Given::Exactly(bits) | Given::Any(bits) => *bits,
            Given::OneOf(all) => all[0],
        }
    }
}

impl From<bool> for Given {
    fn from(value: bool) -> Given {
        Given::Exactly(value.into())
    }
}

/// What an operation on scalars may give for definite operands: seed 004 "Integer arithmetic", "Bit
/// manipulation", "Floating point arithmetic", "Cast operators", "Comparison operators". Of `bool`
/// any bits but 0 are true, and results are 0 or 1.
///
/// # Panics
///
/// If there is no such operation of so many operands ([`Op::arity`]): a bug of the caller.
pub fn scalar(op: Op, operands: &[u32]) -> Given {
    debug_assert_eq!(op.arity(), Some(operands.len()), "operands of {op:?}");
    let given = match (op.meaning, op.of) {
        (Meaning::Convert | Meaning::Reinterpret | Meaning::All | Meaning::Any, _) => convert::of(op, operands),
        (_, Scalar::Bool) => boolean::of(op.meaning, operands),
        (_, Scalar::Uint) => integer::of_uint(op.meaning, operands),
        (_, Scalar::Int) => integer::of_int(op.meaning, operands),
        (_, Scalar::Float) => float::of(op.meaning, operands),
    };
    given.unwrap_or_else(|| panic!("{op:?} is no operation on {} scalars", operands.len()))
}
