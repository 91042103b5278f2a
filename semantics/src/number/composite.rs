//! Vectors and matrices: one stated formula for each operation, in a stated order of 32-bit
//! operations, each rounded to nearest even.
//!
//! Matrices are column after column: m[c][r] is lane c·n + r, with n rows.
//!
//! The polynomial operations (dot, matrix products, cross, mix, reflect) run over [`Traced`].
//! It computes three things by the same formula: the value, the certificate of this formula
//! alone, from its operands' values, and the certificate of the whole polynomial that the
//! operands come from.

use super::rules;
use super::{Grid, Lane, Lanes, Op, Real, Why};
use smallvec::SmallVec;
use std::ops::{Add, Mul, Sub};

/// A value in a formula.
#[derive(Clone, Copy)]
struct Traced {
    value: f32,
    /// The certificate with this formula's operands as leaves.
    formula_grid: Option<Grid>,
    /// The certificate of the whole polynomial.
    polynomial_grid: Option<Grid>,
    /// The first fault of an operand.
    fault: Option<Why>,
}

impl Traced {
    fn of(lane: Lane) -> Traced {
        let value = lane.float();
        Traced { value, formula_grid: Grid::of(value), polynomial_grid: lane.trust.grid, fault: rules::fault(lane) }
    }

    fn constant(value: f32) -> Traced {
        let grid = Grid::of(value);
        Traced { value, formula_grid: grid, polynomial_grid: grid, fault: None }
    }

    /// The lane of the result. `by_itself`: under `Strict` no other operation can be combined with
    /// this formula.
    fn lane(self, by_itself: bool) -> Lane {
        let value = self.value.canonical();
        let decided = self.formula_grid.is_some() && (by_itself || self.polynomial_grid.is_some());
        Lane { bits: value.to_bits(), trust: rules::polynomial(self.fault, decided, value, self.polynomial_grid) }
    }
}

impl Add for Traced {
    type Output = Traced;

    fn add(self, other: Traced) -> Traced {
        Traced {
            value: self.value + other.value,
            formula_grid: self.formula_grid.zip(other.formula_grid).and_then(|(a, b)| a.sum(b)),
            polynomial_grid: self.polynomial_grid.zip(other.polynomial_grid).and_then(|(a, b)| a.sum(b)),
            fault: self.fault.or(other.fault),
        }
    }
}

impl Sub for Traced {
    type Output = Traced;

    fn sub(self, other: Traced) -> Traced {
        // Certificates only use magnitudes.
        Traced { value: self.value - other.value, ..self + other }
    }
}

impl Mul for Traced {
    type Output = Traced;

    fn mul(self, other: Traced) -> Traced {
        Traced {
            value: self.value * other.value,
            formula_grid: self.formula_grid.zip(other.formula_grid).and_then(|(a, b)| a.product(b)),
            polynomial_grid: self.polynomial_grid.zip(other.polynomial_grid).and_then(|(a, b)| a.product(b)),
            fault: self.fault.or(other.fault),
        }
    }
}

/// The numbers that a formula is computed in: floats, floats with their certificates, or
/// polynomials with bounds of their rounding errors.
pub(super) trait Ring: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// A small integer.
    fn integer(value: u8) -> Self;
}

impl Ring for Traced {
    fn integer(value: u8) -> Traced {
        Traced::constant(f32::from(value))
    }
}

impl<R: Real> Ring for R {
    fn integer(value: u8) -> R {
        R::of(f64::from(value))
    }
}

/// x0·y0 + x1·y1 + …, the sum from the left. Zero if there are no terms.
pub(super) fn sum_of_products<T: Ring>(pairs: impl Iterator<Item = (T, T)>) -> T {
    pairs.map(|(x, y)| x * y).reduce(|sum, term| sum + term).unwrap_or(T::integer(0))
}

/// [`sum_of_products`] of lanes.
fn dot_of(pairs: impl Iterator<Item = (Lane, Lane)>) -> Traced {
    sum_of_products(pairs.map(|(x, y)| (Traced::of(x), Traced::of(y))))
}

/// x·(1 - a) + y·a.
pub(super) fn mix_of<T: Ring>(x: T, y: T, a: T) -> T {
    x * (T::integer(1) - a) + y * a
}

/// x1·y2 - y1·x2, x2·y0 - y2·x0, x0·y1 - y0·x1.
fn cross_of<T: Ring>(x: [T; 3], y: [T; 3]) -> [T; 3] {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| x[i] * y[j] - y[i] * x[j])
}

/// Component r is m[0][r]·v0 + m[1][r]·v1 + …, the sum from the left.
fn matrix_times_vector_of<T: Ring>(matrix: &[T], columns: usize, vector: &[T]) -> SmallVec<[T; 4]> {
    let rows = matrix.len() / columns.max(1);
    let row = |r: usize| matrix.iter().copied().skip(r).step_by(rows);
    (0..rows).map(|r| sum_of_products(row(r).zip(vector.iter().copied()))).collect()
}

/// The rows as columns.
fn transposed<T: Copy>(matrix: &[T], columns: usize) -> SmallVec<[T; 16]> {
    let rows = matrix.len() / columns.max(1);
    (0..rows).flat_map(|r| matrix.iter().skip(r).step_by(rows).copied()).collect()
}

/// √(x0·x0 + x1·x1 + …), the sum from the left, each operation rounded.
pub(super) fn length_of<R: Real>(x: impl Iterator<Item = R>) -> R {
    sum_of_products(x.map(|x| (x, x))).sqrt()
}

/// The floats of a small square matrix, column after column.
type Square<R> = SmallVec<[R; 16]>;

fn square(matrix: &[Lane]) -> Square<f32> {
    matrix.iter().map(|lane| lane.float()).collect()
}

/// The matrix without column c and row r.
fn minor<R: Real>(m: &[R], n: usize, c: usize, r: usize) -> Square<R> {
    (0..n * n).filter(|i| i / n != c && i % n != r).map(|i| m[i]).collect()
}

/// n = 2: m[0][0]·m[1][1] - m[1][0]·m[0][1]. n ≥ 3: along the first column, m[0][0]·d0 -
/// m[0][1]·d1 + m[0][2]·d2 - …, from the left, where dr is the determinant without column 0 and
/// row r.
pub(super) fn determinant_of<R: Real>(m: &[R], n: usize) -> R {
    match n {
        0 => R::one(),
        1 => m[0],
        2 => m[0] * m[3] - m[2] * m[1],
        _ => {
            let term = |r: usize| m[r] * determinant_of(&minor(m, n, 0, r), n - 1);
            (1..n).fold(term(0), |sum, r| if r % 2 == 1 { sum - term(r) } else { sum + term(r) })
        }
    }
}

/// Component [c][r] is the determinant without column r and row c, negated if c + r is odd, divided
/// by the determinant.
fn inverse_of<R: Real>(m: &[R], n: usize, determinant: R) -> Square<R> {
    let component = |i: usize| {
        let (c, r) = (i / n, i % n);
        let cofactor = determinant_of(&minor(m, n, r, c), n - 1);
        (if (c + r) % 2 == 1 { -cofactor } else { cofactor }) / determinant
    };
    (0..n * n).map(component).collect()
}

/// A polynomial operation of this module, over any ring. Each operand has its components and its
/// number of columns. `None` for other operations.
pub(super) fn polynomial<T: Ring>(op: Op, args: &[(&[T], usize)]) -> Option<SmallVec<[T; 16]>> {
    let (x, columns) = args[0];
    let (y, y_columns) = args.get(1).copied().unwrap_or_default();
    let one = |value: T| SmallVec::from_slice(&[value]);
    let pairs = || x.iter().copied().zip(y.iter().copied());
    Some(match op {
        Op::VectorTimesScalar | Op::MatrixTimesScalar => x.iter().map(|&x| x * y[0]).collect(),
        Op::Dot => one(sum_of_products(pairs())),
        Op::VectorTimesMatrix => {
            let rows = y.len() / y_columns.max(1);
            y.chunks(rows.max(1)).map(|column| sum_of_products(x.iter().copied().zip(column.iter().copied()))).collect()
        }
        Op::MatrixTimesVector => matrix_times_vector_of(x, columns, y).into_iter().collect(),
        Op::MatrixTimesMatrix => {
            let rows = y.len() / y_columns.max(1);
            y.chunks(rows.max(1)).flat_map(|column| matrix_times_vector_of(x, columns, column)).collect()
        }
        Op::Transpose => transposed(x, columns),
        Op::Mix => x.iter().zip(y.iter().zip(args[2].0)).map(|(&x, (&y, &a))| mix_of(x, y, a)).collect(),
        Op::Cross => cross_of([x[0], x[1], x[2]], [y[0], y[1], y[2]]).into_iter().collect(),
        Op::Reflect => {
            let twice = T::integer(2) * sum_of_products(y.iter().copied().zip(x.iter().copied()));
            pairs().map(|(i, n)| i - twice * n).collect()
        }
        _ => return None,
    })
}

/// The value, in any format, of an operation that does not work by components: the formulas of this
/// module, without what is known about their lanes. Each operand has its components and its number
/// of columns. `None` for an operation that works on each component by itself.
pub(super) fn value<R: Real>(op: Op, args: &[(&[R], usize)]) -> Option<SmallVec<[R; 16]>> {
    let (x, columns) = args[0];
    let y = args.get(1).map_or(&[][..], |y| y.0);
    let one = |value: R| SmallVec::from_slice(&[value]);
    let values: SmallVec<[R; 16]> = match op {
        Op::Length => one(length_of(x.iter().copied())),
        Op::Distance => one(length_of(x.iter().zip(y).map(|(&x, &y)| x - y))),
        Op::Normalize => {
            let length = length_of(x.iter().copied());
            x.iter().map(|&x| x / length).collect()
        }
        Op::Determinant => one(determinant_of(x, columns)),
        Op::MatrixInverse => inverse_of(x, columns, determinant_of(x, columns)),
        _ => polynomial(op, args)?,
    };
    Some(values.into_iter().map(R::canonical).collect())
}

/// One 32-bit float for each of [`Wide::LANES`] executions of an instruction.
#[derive(Clone, Copy)]
pub(crate) struct Wide(pub(crate) [f32; Wide::LANES]);

impl Wide {
    /// The number of executions that the lockstep machine runs side by side.
    pub(crate) const LANES: usize = 64;

    #[inline]
    fn by(self, other: Wide, of: impl Fn(f32, f32) -> f32) -> Wide {
        Wide(std::array::from_fn(|lane| of(self.0[lane], other.0[lane])))
    }

    #[inline]
    fn map(self, of: impl Fn(f32) -> f32) -> Wide {
        Wide(self.0.map(of))
    }

    /// The results of [`value`] in each execution, by the same formulas. `None` for operations
    /// that are not listed here. For a vector of zeros, Normalize gives NaN, although
    /// GLSL.std.450 leaves that result undefined.
    pub(crate) fn value(op: Op, args: &[(&[Wide], usize)]) -> Option<SmallVec<[Wide; 4]>> {
        let (x, y) = (args.first()?.0, args.get(1).map_or(&[][..], |y| y.0));
        let length = |x: &mut dyn Iterator<Item = Wide>| sum_of_products(x.map(|x| (x, x))).map(f32::sqrt);
        let values: SmallVec<[Wide; 4]> = match op {
            Op::Dot | Op::Cross | Op::Reflect | Op::VectorTimesMatrix | Op::MatrixTimesVector | Op::MatrixTimesMatrix => {
                polynomial(op, args)?.into_iter().collect()
            }
            Op::Length => SmallVec::from_slice(&[length(&mut x.iter().copied())]),
            Op::Distance => SmallVec::from_slice(&[length(&mut x.iter().zip(y).map(|(&x, &y)| x - y))]),
            Op::Normalize => {
                let length = length(&mut x.iter().copied());
                x.iter().map(|x| x.by(length, |x, length| x / length)).collect()
            }
            _ => return None,
        };
        Some(values.into_iter().map(|value| value.map(f32::canonical)).collect())
    }
}

impl Add for Wide {
    type Output = Wide;

    #[inline]
    fn add(self, other: Wide) -> Wide {
        self.by(other, |x, y| x + y)
    }
}

impl Sub for Wide {
    type Output = Wide;

    #[inline]
    fn sub(self, other: Wide) -> Wide {
        self.by(other, |x, y| x - y)
    }
}

impl Mul for Wide {
    type Output = Wide;

    #[inline]
    fn mul(self, other: Wide) -> Wide {
        self.by(other, |x, y| x * y)
    }
}

impl Ring for Wide {
    fn integer(value: u8) -> Wide {
        Wide([f32::from(value); Wide::LANES])
    }
}

fn traced(lanes: &[Lane]) -> SmallVec<[Traced; 16]> {
    lanes.iter().map(|&lane| Traced::of(lane)).collect()
}

/// OpDot: x0·y0 + x1·y1 + …, the sum from the left.
pub(super) fn dot(x: &[Lane], y: &[Lane]) -> Lane {
    dot_of(x.iter().copied().zip(y.iter().copied())).lane(true)
}

/// OpVectorTimesMatrix: component c is the dot product of the vector and column c.
pub(super) fn vector_times_matrix(vector: &[Lane], matrix: &[Lane], columns: usize) -> Lanes {
    let rows = matrix.len() / columns.max(1);
    matrix.chunks(rows.max(1)).map(|column| dot_of(vector.iter().copied().zip(column.iter().copied())).lane(true)).collect()
}

/// OpMatrixTimesVector: component r is m[0][r]·v0 + m[1][r]·v1 + …, the sum from the left.
pub(super) fn matrix_times_vector(matrix: &[Lane], columns: usize, vector: &[Lane]) -> Lanes {
    matrix_times_vector_of(&traced(matrix), columns, &traced(vector)).into_iter().map(|component| component.lane(true)).collect()
}

/// OpMatrixTimesMatrix: column c is the left matrix times column c of the right one.
pub(super) fn matrix_times_matrix(left: &[Lane], left_columns: usize, right: &[Lane], right_columns: usize) -> Lanes {
    let rows = right.len() / right_columns.max(1);
    right.chunks(rows.max(1)).flat_map(|column| matrix_times_vector(left, left_columns, column)).collect()
}

/// OpTranspose.
pub(super) fn transpose(matrix: &[Lane], columns: usize) -> Lanes {
    transposed(matrix, columns).into_iter().map(|lane| Lane { trust: rules::copied(lane), ..lane }).collect()
}

/// FMix: x·(1 - a) + y·a, componentwise.
pub(super) fn mix(x: &[Lane], y: &[Lane], a: &[Lane]) -> Lanes {
    let component = |(&x, (&y, &a)): (&Lane, (&Lane, &Lane))| mix_of(Traced::of(x), Traced::of(y), Traced::of(a)).lane(false);
    x.iter().zip(y.iter().zip(a)).map(component).collect()
}

/// Cross: x1·y2 - y1·x2, x2·y0 - y2·x0, x0·y1 - y0·x1.
pub(super) fn cross(x: &[Lane], y: &[Lane]) -> Lanes {
    let three = |lanes: &[Lane]| [0, 1, 2].map(|i| Traced::of(lanes[i]));
    cross_of(three(x), three(y)).into_iter().map(|component| component.lane(false)).collect()
}

/// Reflect (I, N): I - (2·dot(N, I))·N, the sum in dot from the left.
pub(super) fn reflect(i: &[Lane], n: &[Lane]) -> Lanes {
    let twice = Traced::constant(2.0) * dot_of(n.iter().copied().zip(i.iter().copied()));
    i.iter().zip(n).map(|(&i, &n)| (Traced::of(i) - twice * Traced::of(n)).lane(false)).collect()
}

/// The first fault of any of the lanes.
fn first_fault(lanes: &[Lane]) -> Option<Why> {
    lanes.iter().find_map(|&lane| rules::fault(lane))
}

fn approximate(fault: Option<Why>, in_domain: bool, r: f32) -> Lane {
    let r = r.canonical();
    let trust = rules::approximate(fault, in_domain, r);
    Lane { bits: r.to_bits(), trust }
}

/// Length: √(x0·x0 + x1·x1 + …), the sum from the left. (Of one component too: infinite for 1e30.)
pub(super) fn length(x: &[Lane]) -> Lanes {
    let r = length_of(x.iter().map(|x| x.float()));
    SmallVec::from_slice(&[approximate(first_fault(x), true, r)])
}

/// Distance: the length of x - y.
pub(super) fn distance(x: &[Lane], y: &[Lane]) -> Lanes {
    let r = length_of(x.iter().zip(y).map(|(x, y)| x.float() - y.float()));
    SmallVec::from_slice(&[approximate(first_fault(x).or(first_fault(y)), true, r)])
}

/// Normalize: each component divided by the length. NaN for a zero vector.
pub(super) fn normalize(x: &[Lane]) -> Lanes {
    let length = length_of(x.iter().map(|x| x.float()));
    let fault = first_fault(x);
    let in_domain = x.iter().any(|x| x.float() != 0.0);
    x.iter().map(|x| approximate(fault, in_domain, x.float() / length)).collect()
}

/// Determinant: for n = 2, m[0][0]·m[1][1] - m[1][0]·m[0][1]; beyond, expanded along the first
/// column, terms from the top, sums from the left.
pub(super) fn determinant(matrix: &[Lane], columns: usize) -> Lanes {
    let r = determinant_of(&square(matrix), columns);
    SmallVec::from_slice(&[approximate(first_fault(matrix), true, r)])
}

/// MatrixInverse: component [c][r] is the determinant without column r and row c, negated if c + r
/// is odd, divided by the determinant.
pub(super) fn inverse(matrix: &[Lane], columns: usize) -> Lanes {
    let m = square(matrix);
    let determinant = determinant_of(&m, columns);
    let fault = first_fault(matrix);
    inverse_of(&m, columns, determinant).into_iter().map(|x| approximate(fault, determinant != 0.0, x)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Each of 64 executions gives the bits that it gives alone, also for infinities, NaN and
    /// subnormal numbers.
    #[test]
    fn side_by_side_is_as_alone() {
        let mut source = Random::new(1);
        let mut random = || {
            let bits = source.bits() as u32;
            match bits % 16 {
                0 => f32::from_bits(bits),
                1 => [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, f32::MAX, 1.0][(bits >> 4) as usize % 8],
                _ => (bits >> 8) as f32 / 65_536.0 - 128.0,
            }
        };
        let shapes: [(Op, &[(usize, usize)]); 9] = [
            (Op::Dot, &[(3, 1), (3, 1)]),
            (Op::Cross, &[(3, 1), (3, 1)]),
            (Op::Reflect, &[(4, 1), (4, 1)]),
            (Op::VectorTimesMatrix, &[(3, 1), (6, 2)]),
            (Op::MatrixTimesVector, &[(6, 2), (2, 1)]),
            (Op::MatrixTimesMatrix, &[(16, 4), (16, 4)]),
            (Op::Length, &[(2, 1)]),
            (Op::Distance, &[(4, 1), (4, 1)]),
            (Op::Normalize, &[(3, 1)]),
        ];
        for (op, shape) in shapes {
            for _ in 0..50 {
                let operands: Vec<Vec<Wide>> =
                    shape.iter().map(|&(n, _)| (0..n).map(|_| Wide(std::array::from_fn(|_| random()))).collect()).collect();
                let args: Vec<(&[Wide], usize)> = operands.iter().zip(shape).map(|(x, &(_, columns))| (x.as_slice(), columns)).collect();
                let wide = Wide::value(op, &args).expect("told side by side");
                for lane in 0..Wide::LANES {
                    let single: Vec<Vec<f32>> = operands.iter().map(|x| x.iter().map(|x| x.0[lane]).collect()).collect();
                    let args: Vec<(&[f32], usize)> = single.iter().zip(shape).map(|(x, &(_, columns))| (x.as_slice(), columns)).collect();
                    let expected: Vec<u32> = value(op, &args).expect("told alone").iter().map(|x| x.to_bits()).collect();
                    let found: Vec<u32> = wide.iter().map(|x| x.0[lane].to_bits()).collect();
                    assert_eq!(found, expected, "{op:?} of {single:?}");
                }
            }
        }
    }
}
