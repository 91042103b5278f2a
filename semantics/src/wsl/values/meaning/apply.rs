//! Functions on scalars, vectors and matrices: seed 004 "Vector and matrix operations", as
//! `LIBRARY.md` completes it.
//!
//! A function whose meaning is an operation on scalars works element by element. A scalar argument
//! then stands for each element. All other functions are in `access` and `algebra`. The operations
//! are made in a fixed order: elements from the first on, column by column. The operations of one
//! element go from the inside out and from the left.

use super::{Evaluator, Op, Results, access, algebra};
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::types::{Scalar, Type, TypeId, Types};
use smallvec::SmallVec;

/// The words of a value.
pub(super) type Words<W> = SmallVec<[W; 4]>;

/// The layout of the elements of a scalar, vector, matrix, atomic or enum in its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The type of each element. For an enum, its base type.
    pub(super) scalar: Scalar,
    /// The number of columns. It is 1 except for a matrix.
    pub(super) columns: usize,
    /// The number of elements of a column. A vector is one column.
    pub(super) rows: usize,
}

impl Shape {
    /// The shape of a type. `None` for types without elements.
    pub(super) fn of(types: &Types, id: TypeId) -> Option<Shape> {
        let (scalar, columns, rows) = match types.get(id) {
            Type::Scalar(s) | Type::Atomic(s) => (s, 1, 1),
            Type::Vector(s, n) => (s, 1, n),
            Type::Matrix(s, n, m) => (s, n, m),
            Type::Enum(e) => match types.get(*types.enum_bases.get(e.0 as usize)?) {
                Type::Scalar(s) => (s, 1, 1),
                _ => return None,
            },
            _ => return None,
        };
        Some(Shape { scalar, columns: columns.into(), rows: rows.into() })
    }

    /// The distance from one column to the next, in words. A column of 3 elements takes as much
    /// room as one of 4 (`layout`).
    pub(super) fn stride(self) -> usize {
        self.rows.next_power_of_two()
    }

    /// The size of the value in words.
    pub(super) fn words(self) -> usize {
        self.columns * self.stride()
    }

    /// The word index of an element.
    pub(super) fn at(self, column: usize, row: usize) -> usize {
        column * self.stride() + row
    }

    /// The columns and rows of the elements, column by column.
    pub(super) fn elements(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.columns).flat_map(move |c| (0..self.rows).map(move |r| (c, r)))
    }

    /// Whether there is only one element.
    pub(super) fn is_one(self) -> bool {
        self.columns * self.rows == 1
    }

    /// The words of a value with these elements, column by column. Padding is zeros.
    pub(super) fn filled<L: Evaluator>(self, evaluator: &mut L, elements: impl IntoIterator<Item = L::Word>) -> Words<L::Word> {
        let zero = evaluator.bits(0);
        let mut words = SmallVec::from_elem(zero, self.words());
        for ((c, r), element) in self.elements().zip(elements) {
            words[self.at(c, r)] = element;
        }
        words
    }
}

/// A call of a built-in function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a, W> {
    pub(super) types: &'a Types,
    pub(super) function: LibraryFunction,
    pub(super) parameters: &'a [TypeId],
    pub(super) result: TypeId,
    pub(super) arguments: &'a [&'a [W]],
}

impl<W: Copy> Call<'_, W> {
    /// The shape of an argument.
    pub(super) fn shape(&self, parameter: usize) -> Option<Shape> {
        Shape::of(self.types, *self.parameters.get(parameter)?)
    }

    /// The elements of an argument, column by column, without padding.
    pub(super) fn elements(&self, parameter: usize) -> Option<Words<W>> {
        let shape = self.shape(parameter)?;
        let words = *self.arguments.get(parameter)?;
        Some(shape.elements().map(|(c, r)| words[shape.at(c, r)]).collect())
    }

    /// The words of an argument as they are, with padding.
    fn unchanged_words(&self, parameter: usize) -> Option<Words<W>> {
        Some(SmallVec::from_slice(self.arguments.get(parameter)?))
    }
}

/// The results of a call of a built-in function: the result's words, and the words that are stored
/// through each pointer parameter. Arguments for pointer parameters are not read.
///
/// Arguments and results are words in the order of memory. Padding of vectors and matrices is not
/// read, and is zeros in results. A function that returns its argument unchanged keeps its padding
/// (`T(x)` of a `T`). `None` for functions that are not functions of values alone: atomics,
/// barriers, derivatives, textures, pointers to elements. Also `None` for casts to enums, whose
/// elements must be known ([`super::enum_from`]), and for the default values of structures
/// ([`super::default_words`]).
///
/// # Panics
/// If the parameters are not those of the function, or an argument has fewer words than its type.
/// This is a bug of the caller.
pub fn apply<L: Evaluator>(
    evaluator: &mut L,
    types: &Types,
    function: LibraryFunction,
    parameters: &[TypeId],
    result: TypeId,
    arguments: &[&[L::Word]],
) -> Option<Results<L::Word>> {
    use Meaning::*;
    let call = Call { types, function, parameters, result, arguments };
    let result = match function.meaning() {
        Identity | EnumValue => call.unchanged_words(0)?,
        Default => {
            let shape = Shape::of(types, result)?;
            shape.filled(evaluator, [])
        }
        Modf => return modf(evaluator, &call),
        Sincos => return sincos(evaluator, &call),
        All => all_any(evaluator, &call, And)?,
        Any => all_any(evaluator, &call, Or)?,
        Plus | Vector | MatrixColumns | MatrixElements => access::constructed(evaluator, &call)?,
        Swizzle => access::swizzle(evaluator, &call)?,
        SetSwizzle => access::set_swizzle(evaluator, &call)?,
        Index => access::index(evaluator, &call)?,
        SetIndex => access::set_index(evaluator, &call)?,
        ElementCount => access::element_count(evaluator, &call)?,
        Transpose => algebra::transpose(evaluator, &call)?,
        Dot => algebra::dot(evaluator, &call)?,
        MatrixMultiply => algebra::matrix_multiply(evaluator, &call)?,
        Length => algebra::length(evaluator, &call)?,
        Normalize => algebra::normalize(evaluator, &call)?,
        Distance => algebra::distance(evaluator, &call)?,
        Cross => algebra::cross(evaluator, &call)?,
        Reflect => algebra::reflect(evaluator, &call)?,
        Refract => algebra::refract(evaluator, &call)?,
        Faceforward => algebra::faceforward(evaluator, &call)?,
        Dst => algebra::dst(evaluator, &call)?,
        Lit => algebra::lit(evaluator, &call)?,
        Determinant => algebra::determinant(evaluator, &call)?,
        meaning => element_by_element(evaluator, &call, meaning, Shape::of(types, result)?)?,
    };
    Some(Results { result, stored: SmallVec::new() })
}

/// Applies an operation to the elements in the same place of all arguments. A scalar argument
/// stands for each element.
///
/// The operands' type is the first argument's. `None` if the meaning is no operation on scalars.
fn element_by_element<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>, meaning: Meaning, result: Shape) -> Option<Words<L::Word>> {
    let op = Op::new(meaning, call.shape(0)?.scalar, result.scalar);
    let mut shapes: SmallVec<[Shape; 3]> = SmallVec::new();
    for i in 0..op.arity()? {
        shapes.push(call.shape(i)?);
    }
    let mut words = SmallVec::from_elem(evaluator.bits(0), result.words());
    for column in 0..result.columns {
        for row in 0..result.rows {
            let mut operands: SmallVec<[L::Word; 3]> = SmallVec::new();
            for (shape, words) in shapes.iter().zip(call.arguments) {
                operands.push(words[if shape.is_one() { 0 } else { shape.at(column, row) }]);
            }
            words[result.at(column, row)] = evaluator.scalar(op, &operands);
        }
    }
    Some(words)
}

/// `modf(x, p)`: the fraction is returned and the whole part is stored, element by element
/// (ERRATA WSL-E5).
fn modf<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Results<L::Word>> {
    let shape = call.shape(0)?;
    let fractions = element_by_element(evaluator, call, Meaning::Modf, shape)?;
    let whole = element_by_element(evaluator, call, Meaning::Trunc, shape)?;
    Some(Results { result: fractions, stored: SmallVec::from_iter([whole]) })
}

/// `sincos(x, s, c)`: the sine is stored through the first pointer, the cosine through the second.
fn sincos<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Results<L::Word>> {
    let shape = call.shape(0)?;
    let sine = element_by_element(evaluator, call, Meaning::Sin, shape)?;
    let cosine = element_by_element(evaluator, call, Meaning::Cos, shape)?;
    Some(Results { result: SmallVec::new(), stored: SmallVec::from_iter([sine, cosine]) })
}

/// `all(x)`, `any(x)`: whether each element is true or not zero, joined from the left
/// (ERRATA WSL-E7).
fn all_any<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>, join_op: Meaning) -> Option<Words<L::Word>> {
    let is_true = Op::new(call.function.meaning(), call.shape(0)?.scalar, Scalar::Bool);
    let join_op = Op::new(join_op, Scalar::Bool, Scalar::Bool);
    let mut joined = None;
    for element in call.elements(0)? {
        let truth = evaluator.scalar(is_true, &[element]);
        joined = Some(match joined {
            None => truth,
            Some(before) => evaluator.scalar(join_op, &[before, truth]),
        });
    }
    Some(SmallVec::from_elem(joined?, 1))
}
