//! Products, lengths, directions, lighting and the determinant: seed 004 "Vector and matrix
//! operations", by the formulas of `LIBRARY.md`. Each operation of a formula is an operation on
//! scalars, in the order that is written. Sums go from the left.

use super::apply::{Call, Shape, Words};
use super::{Evaluator, Op};
use crate::wsl::library::Meaning;
use crate::wsl::types::Scalar;
use smallvec::SmallVec;

/// Arithmetic on one type of scalars.
struct Arithmetic<'a, L: Evaluator> {
    evaluator: &'a mut L,
    scalar: Scalar,
}

impl<L: Evaluator> Arithmetic<'_, L> {
    fn floats(evaluator: &mut L) -> Arithmetic<'_, L> {
        Arithmetic { evaluator, scalar: Scalar::Float }
    }

    fn op(&mut self, meaning: Meaning, operands: &[L::Word]) -> L::Word {
        self.evaluator.scalar(Op::new(meaning, self.scalar, self.scalar), operands)
    }

    fn is_less(&mut self, x: L::Word, y: L::Word) -> L::Word {
        self.evaluator.scalar(Op::new(Meaning::Less, self.scalar, Scalar::Bool), &[x, y])
    }

    fn float(&mut self, value: f32) -> L::Word {
        self.evaluator.bits(value.to_bits())
    }

    fn add(&mut self, x: L::Word, y: L::Word) -> L::Word {
        self.op(Meaning::Add, &[x, y])
    }

    fn subtract(&mut self, x: L::Word, y: L::Word) -> L::Word {
        self.op(Meaning::Subtract, &[x, y])
    }

    fn multiply(&mut self, x: L::Word, y: L::Word) -> L::Word {
        self.op(Meaning::Multiply, &[x, y])
    }

    /// `x0 * y0 + x1 * y1 + …`, for at least one pair.
    fn dot(&mut self, pairs: impl IntoIterator<Item = (L::Word, L::Word)>) -> L::Word {
        let mut sum = None;
        for (x, y) in pairs {
            let product = self.multiply(x, y);
            sum = Some(match sum {
                None => product,
                Some(sum) => self.add(sum, product),
            });
        }
        sum.expect("a vector has elements")
    }

    /// `sqrt(dot(x, x))`
    fn length(&mut self, x: &[L::Word]) -> L::Word {
        let square = self.dot(x.iter().map(|&x| (x, x)));
        self.op(Meaning::Sqrt, &[square])
    }

    /// The determinant of a square matrix, which is given column by column. For two columns it is
    /// `m[0][0] * m[1][1] - m[1][0] * m[0][1]`. For more it is expanded along the first column:
    /// `m[0][0] * d0 - m[0][1] * d1 + …`. The last factors are the determinants without column 0
    /// and that row.
    fn determinant(&mut self, m: &[L::Word], n: usize) -> L::Word {
        if n == 2 {
            let (left, right) = (self.multiply(m[0], m[3]), self.multiply(m[2], m[1]));
            return self.subtract(left, right);
        }
        let mut sum = None;
        for row in 0..n {
            let minor: SmallVec<[L::Word; 9]> = (n..n * n).filter(|i| i % n != row).map(|i| m[i]).collect();
            let factor = self.determinant(&minor, n - 1);
            let term = self.multiply(m[row], factor);
            sum = Some(match sum {
                None => term,
                Some(sum) if row % 2 == 1 => self.subtract(sum, term),
                Some(sum) => self.add(sum, term),
            });
        }
        sum.expect("a matrix has rows")
    }
}

fn one<W: Copy>(word: W) -> Words<W> {
    SmallVec::from_elem(word, 1)
}

/// `dot(x, y)`, `mul(x, y)` of numbers and vectors.
pub(super) fn dot<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let (x, y) = (call.elements(0)?, call.elements(1)?);
    let mut arithmetic = Arithmetic { evaluator, scalar: call.shape(0)?.scalar };
    Some(one(arithmetic.dot(x.into_iter().zip(y))))
}

/// `mul(v, m)`, `mul(m, v)`, `mul(m, n)`: a vector on the left is a row, one on the right a column,
/// and `m[i]` is the i-th column of `m` (ERRATA WSL-C21).
pub(super) fn matrix_multiply<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let (left, right, result) = (call.shape(0)?, call.shape(1)?, Shape::of(call.types, call.result)?);
    let (x, y) = (*call.arguments.first()?, *call.arguments.get(1)?);
    let mut arithmetic = Arithmetic { evaluator, scalar: left.scalar };
    let mut elements: SmallVec<[L::Word; 16]> = SmallVec::new();
    if left.columns == 1 {
        for c in 0..right.columns {
            elements.push(arithmetic.dot((0..left.rows).map(|r| (x[r], y[right.at(c, r)]))));
        }
    } else {
        // The right operand is a column, or several columns.
        for c in 0..right.columns {
            for r in 0..left.rows {
                elements.push(arithmetic.dot((0..left.columns).map(|k| (x[left.at(k, r)], y[right.at(c, k)]))));
            }
        }
    }
    Some(result.filled(evaluator, elements))
}

/// `length(x)`
pub(super) fn length<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    Some(one(Arithmetic::floats(evaluator).length(&call.elements(0)?)))
}

/// `normalize(x)`: each element divided by the length. It is an unspecified value if the length
/// is 0.
pub(super) fn normalize<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let x = call.elements(0)?;
    let mut arithmetic = Arithmetic::floats(evaluator);
    let length = arithmetic.length(&x);
    let quotients: Words<L::Word> = x.into_iter().map(|x| arithmetic.op(Meaning::Divide, &[x, length])).collect();
    Some(call.shape(0)?.filled(evaluator, quotients))
}

/// `distance(x, y)`: the length of `x - y`.
pub(super) fn distance<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let (x, y) = (call.elements(0)?, call.elements(1)?);
    let mut arithmetic = Arithmetic::floats(evaluator);
    let difference: Words<L::Word> = x.into_iter().zip(y).map(|(x, y)| arithmetic.subtract(x, y)).collect();
    Some(one(arithmetic.length(&difference)))
}

/// `cross(x, y)`: `x1 * y2 - y1 * x2`, `x2 * y0 - y2 * x0`, `x0 * y1 - y0 * x1`.
pub(super) fn cross<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let (x, y) = (call.elements(0)?, call.elements(1)?);
    let mut arithmetic = Arithmetic::floats(evaluator);
    let elements = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| {
        let (left, right) = (arithmetic.multiply(x[i], y[j]), arithmetic.multiply(y[i], x[j]));
        arithmetic.subtract(left, right)
    });
    Some(call.shape(0)?.filled(evaluator, elements))
}

/// `reflect(i, n)`: `i - (2 * dot(n, i)) * n`.
pub(super) fn reflect<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let (i, n) = (call.elements(0)?, call.elements(1)?);
    let mut arithmetic = Arithmetic::floats(evaluator);
    let (two, dot) = (arithmetic.float(2.0), arithmetic.dot(n.iter().copied().zip(i.iter().copied())));
    let twice = arithmetic.multiply(two, dot);
    let mut elements: Words<L::Word> = SmallVec::new();
    for (i, n) in i.into_iter().zip(n) {
        let back = arithmetic.multiply(twice, n);
        elements.push(arithmetic.subtract(i, back));
    }
    Some(call.shape(0)?.filled(evaluator, elements))
}

/// `refract(i, n, e)`: zeros if `k = 1 - (e * e) * (1 - d * d)` is less than 0, where
/// `d = dot(n, i)`, else `e * i - (e * d + sqrt(k)) * n`.
pub(super) fn refract<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let (i, n, &e) = (call.elements(0)?, call.elements(1)?, call.arguments.get(2)?.first()?);
    let mut arithmetic = Arithmetic::floats(evaluator);
    let (zero, unit) = (arithmetic.float(0.0), arithmetic.float(1.0));
    let d = arithmetic.dot(n.iter().copied().zip(i.iter().copied()));
    let (square, d_squared) = (arithmetic.multiply(e, e), arithmetic.multiply(d, d));
    let rest = arithmetic.subtract(unit, d_squared);
    let product = arithmetic.multiply(square, rest);
    let k = arithmetic.subtract(unit, product);
    let is_none = arithmetic.is_less(k, zero);
    // The root is only taken where it is defined, so k is replaced with 0 otherwise.
    let k = arithmetic.evaluator.pick(is_none, &[k, zero]);
    let (e_times_d, root) = (arithmetic.multiply(e, d), arithmetic.op(Meaning::Sqrt, &[k]));
    let factor = arithmetic.add(e_times_d, root);
    let mut elements: Words<L::Word> = SmallVec::new();
    for (i, n) in i.into_iter().zip(n) {
        let (along, back) = (arithmetic.multiply(e, i), arithmetic.multiply(factor, n));
        let refracted = arithmetic.subtract(along, back);
        elements.push(arithmetic.evaluator.pick(is_none, &[refracted, zero]));
    }
    Some(call.shape(0)?.filled(evaluator, elements))
}

/// `faceforward(n, i, g)`: `n` if `dot(i, g) < 0`, else `-n`.
pub(super) fn faceforward<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let (n, i, g) = (call.elements(0)?, call.elements(1)?, call.elements(2)?);
    let mut arithmetic = Arithmetic::floats(evaluator);
    let (zero, dot) = (arithmetic.float(0.0), arithmetic.dot(i.into_iter().zip(g)));
    let is_facing = arithmetic.is_less(dot, zero);
    let mut elements: Words<L::Word> = SmallVec::new();
    for n in n {
        let opposite = arithmetic.op(Meaning::Negate, &[n]);
        elements.push(arithmetic.evaluator.pick(is_facing, &[opposite, n]));
    }
    Some(call.shape(0)?.filled(evaluator, elements))
}

/// `dst(a, b)`: `(1, a.y * b.y, a.z, b.w)`.
pub(super) fn dst<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let (a, b) = (call.elements(0)?, call.elements(1)?);
    let mut arithmetic = Arithmetic::floats(evaluator);
    Some(SmallVec::from_buf([arithmetic.float(1.0), arithmetic.multiply(a[1], b[1]), a[2], b[3]]))
}

/// `lit(l, h, m)`: `(1, max(0, l), s, 1)`, where `s` is 0 if `l < 0` or `h < 0`, else `h * m`.
pub(super) fn lit<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let [&l, &h, &m] = [call.arguments.first()?.first()?, call.arguments.get(1)?.first()?, call.arguments.get(2)?.first()?];
    let mut arithmetic = Arithmetic::floats(evaluator);
    let (zero, unit) = (arithmetic.float(0.0), arithmetic.float(1.0));
    let diffuse = arithmetic.op(Meaning::Max, &[zero, l]);
    let (behind, away) = (arithmetic.is_less(l, zero), arithmetic.is_less(h, zero));
    let is_dark = arithmetic.evaluator.scalar(Op::new(Meaning::Or, Scalar::Bool, Scalar::Bool), &[behind, away]);
    let product = arithmetic.multiply(h, m);
    let specular = arithmetic.evaluator.pick(is_dark, &[product, zero]);
    Some(SmallVec::from_buf([unit, diffuse, specular, unit]))
}

/// `transpose(m)`: rows as columns.
pub(super) fn transpose<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let (shape, m) = (call.shape(0)?, *call.arguments.first()?);
    let transposed = Shape { columns: shape.rows, rows: shape.columns, ..shape };
    Some(transposed.filled(evaluator, transposed.elements().map(|(c, r)| m[shape.at(r, c)]).collect::<SmallVec<[L::Word; 16]>>()))
}

/// `determinant(m)`
pub(super) fn determinant<L: Evaluator>(evaluator: &mut L, call: &Call<L::Word>) -> Option<Words<L::Word>> {
    let columns = call.shape(0)?.columns;
    Some(one(Arithmetic::floats(evaluator).determinant(&call.elements(0)?, columns)))
}
