//! Vectors and matrices: one stated formula for each operation, in a stated order of 32-bit operations, each rounded to nearest even.
//!
//! Matrices are square, column after column: m[c][r] is lane c·n + r.
//!
//! The polynomial ones (dot, matrix products, cross, mix, reflect) run over [`Traced`], which computes the value, the certificate of this
//! formula by itself from its operands' values, and the certificate of the whole polynomial that the operands come from, all by the same
//! formula.

use super::rules;
use super::scalar::canonical;
use super::{Grid, Lane, Lanes, Why};
use smallvec::SmallVec;

/// A value on its way through a formula.
#[derive(Clone, Copy)]
struct Traced {
    value: f32,
    /// The certificate with this formula's operands as leaves.
    own: Option<Grid>,
    /// The certificate of the whole polynomial.
    whole: Option<Grid>,
    /// The first operand's fault.
    faulty: Option<Why>,
}

impl Traced {
    fn of(lane: Lane) -> Traced {
        let value = lane.float();
        Traced { value, own: Grid::of(value), whole: lane.trust.grid, faulty: rules::fault(lane) }
    }

    fn constant(value: f32) -> Traced {
        let grid = Grid::of(value);
        Traced { value, own: grid, whole: grid, faulty: None }
    }

    /// The lane; `by_itself` if no other operation can be drawn into this one's formula under `Strict`.
    fn lane(self, by_itself: bool) -> Lane {
        let value = canonical(self.value);
        let decided = self.own.is_some() && (by_itself || self.whole.is_some());
        Lane { bits: value.to_bits(), trust: rules::polynomial(self.faulty, decided, value, self.whole) }
    }
}

impl std::ops::Add for Traced {
    type Output = Traced;

    fn add(self, other: Traced) -> Traced {
        Traced {
            value: self.value + other.value,
            own: self.own.zip(other.own).and_then(|(a, b)| a.sum(b)),
            whole: self.whole.zip(other.whole).and_then(|(a, b)| a.sum(b)),
            faulty: self.faulty.or(other.faulty),
        }
    }
}

impl std::ops::Sub for Traced {
    type Output = Traced;

    fn sub(self, other: Traced) -> Traced {
        // Certificates know magnitudes only.
        Traced { value: self.value - other.value, ..self + other }
    }
}

impl std::ops::Mul for Traced {
    type Output = Traced;

    fn mul(self, other: Traced) -> Traced {
        Traced {
            value: self.value * other.value,
            own: self.own.zip(other.own).and_then(|(a, b)| a.product(b)),
            whole: self.whole.zip(other.whole).and_then(|(a, b)| a.product(b)),
            faulty: self.faulty.or(other.faulty),
        }
    }
}

/// x0·y0 + x1·y1 + …, the sum from the left; zero of no terms.
fn dot_of(pairs: impl Iterator<Item = (Lane, Lane)>) -> Traced {
    pairs.map(|(x, y)| Traced::of(x) * Traced::of(y)).reduce(|sum, term| sum + term).unwrap_or(Traced::constant(0.0))
}

/// OpDot: x0·y0 + x1·y1 + …, the sum from the left.
pub(super) fn dot(x: &[Lane], y: &[Lane]) -> Lanes {
    SmallVec::from_slice(&[dot_of(x.iter().copied().zip(y.iter().copied())).lane(true)])
}

/// OpVectorTimesMatrix: component c is the dot product of the vector and column c.
pub(super) fn vector_times_matrix(vector: &[Lane], matrix: &[Lane], columns: usize) -> Lanes {
    let rows = matrix.len() / columns.max(1);
    matrix.chunks(rows.max(1)).map(|column| dot_of(vector.iter().copied().zip(column.iter().copied())).lane(true)).collect()
}

/// OpMatrixTimesVector: component r is m[0][r]·v0 + m[1][r]·v1 + …, the sum from the left.
pub(super) fn matrix_times_vector(matrix: &[Lane], columns: usize, vector: &[Lane]) -> Lanes {
    let rows = matrix.len() / columns.max(1);
    let row = |r: usize| matrix.iter().copied().skip(r).step_by(rows);
    (0..rows).map(|r| dot_of(row(r).zip(vector.iter().copied())).lane(true)).collect()
}

/// OpMatrixTimesMatrix: column c is the left matrix times column c of the right one.
pub(super) fn matrix_times_matrix(left: &[Lane], left_columns: usize, right: &[Lane], right_columns: usize) -> Lanes {
    let rows = right.len() / right_columns.max(1);
    right.chunks(rows.max(1)).flat_map(|column| matrix_times_vector(left, left_columns, column)).collect()
}

/// OpTranspose.
pub(super) fn transpose(matrix: &[Lane], columns: usize) -> Lanes {
    let rows = matrix.len() / columns.max(1);
    let moved = |lane: Lane| Lane { trust: rules::moved(lane), ..lane };
    (0..rows).flat_map(|r| matrix.iter().skip(r).step_by(rows).map(|&lane| moved(lane))).collect()
}

/// FMix: x·(1 - a) + y·a, componentwise.
pub(super) fn mix(x: &[Lane], y: &[Lane], a: &[Lane]) -> Lanes {
    let component = |(&x, (&y, &a)): (&Lane, (&Lane, &Lane))| {
        let (x, y, a) = (Traced::of(x), Traced::of(y), Traced::of(a));
        (x * (Traced::constant(1.0) - a) + y * a).lane(false)
    };
    x.iter().zip(y.iter().zip(a)).map(component).collect()
}

/// Cross: x1·y2 - y1·x2, x2·y0 - y2·x0, x0·y1 - y0·x1.
pub(super) fn cross(x: &[Lane], y: &[Lane]) -> Lanes {
    let component = |i: usize, j: usize| {
        let (x_i, x_j, y_i, y_j) = (Traced::of(x[i]), Traced::of(x[j]), Traced::of(y[i]), Traced::of(y[j]));
        (x_i * y_j - y_i * x_j).lane(false)
    };
    SmallVec::from_slice(&[component(1, 2), component(2, 0), component(0, 1)])
}

/// Reflect (I, N): I - (2·dot(N, I))·N, the sum in dot from the left.
pub(super) fn reflect(i: &[Lane], n: &[Lane]) -> Lanes {
    let twice = Traced::constant(2.0) * dot_of(n.iter().copied().zip(i.iter().copied()));
    i.iter().zip(n).map(|(&i, &n)| (Traced::of(i) - twice * Traced::of(n)).lane(false)).collect()
}

/// The first fault of any of the lanes.
fn faulty(lanes: &[Lane]) -> Option<Why> {
    lanes.iter().find_map(|&lane| rules::fault(lane))
}

fn approximate(faulty: Option<Why>, in_domain: bool, r: f32) -> Lane {
    let r = canonical(r);
    let trust = rules::approximate(faulty, in_domain, r);
    Lane { bits: r.to_bits(), trust }
}

/// √(x0·x0 + x1·x1 + …), the sum from the left, each operation rounded.
fn length_of(x: impl Iterator<Item = f32>) -> f32 {
    x.map(|x| x * x).reduce(|sum, term| sum + term).unwrap_or(0.0).sqrt()
}

/// Length: √(x0·x0 + x1·x1 + …), the sum from the left. (Of one component too: infinite for 1e30.)
pub(super) fn length(x: &[Lane]) -> Lanes {
    let r = length_of(x.iter().map(|x| x.float()));
    SmallVec::from_slice(&[approximate(faulty(x), true, r)])
}

/// Distance: the length of x - y.
pub(super) fn distance(x: &[Lane], y: &[Lane]) -> Lanes {
    let r = length_of(x.iter().zip(y).map(|(x, y)| x.float() - y.float()));
    SmallVec::from_slice(&[approximate(faulty(x).or(faulty(y)), true, r)])
}

/// Normalize: each component divided by the length. NaN for a zero vector.
pub(super) fn normalize(x: &[Lane]) -> Lanes {
    let length = length_of(x.iter().map(|x| x.float()));
    let faulty = faulty(x);
    let in_domain = x.iter().any(|x| x.float() != 0.0);
    x.iter().map(|x| approximate(faulty, in_domain, x.float() / length)).collect()
}

/// The floats of a small square matrix, column after column.
type Square = SmallVec<[f32; 16]>;

fn square(matrix: &[Lane]) -> Square {
    matrix.iter().map(|lane| lane.float()).collect()
}

/// The matrix without column c and row r.
fn minor(m: &[f32], n: usize, c: usize, r: usize) -> Square {
    (0..n * n).filter(|i| i / n != c && i % n != r).map(|i| m[i]).collect()
}

/// n = 2: m[0][0]·m[1][1] - m[1][0]·m[0][1]. n ≥ 3: along the first column, m[0][0]·d0 - m[0][1]·d1 + m[0][2]·d2 - …, from the left, where
/// dr is the determinant without column 0 and row r.
fn determinant_of(m: &[f32], n: usize) -> f32 {
    match n {
        0 => 1.0,
        1 => m[0],
        2 => m[0] * m[3] - m[2] * m[1],
        _ => {
            let term = |r: usize| m[r] * determinant_of(&minor(m, n, 0, r), n - 1);
            (1..n).fold(term(0), |sum, r| if r % 2 == 1 { sum - term(r) } else { sum + term(r) })
        }
    }
}

/// Determinant: for n = 2, m[0][0]·m[1][1] - m[1][0]·m[0][1]; beyond, expanded along the first column, terms from the top, sums from the left.
pub(super) fn determinant(matrix: &[Lane], columns: usize) -> Lanes {
    let r = determinant_of(&square(matrix), columns);
    SmallVec::from_slice(&[approximate(faulty(matrix), true, r)])
}

/// MatrixInverse: component [c][r] is the determinant without column r and row c, negated if c + r is odd, divided by the determinant.
pub(super) fn inverse(matrix: &[Lane], columns: usize) -> Lanes {
    let m = square(matrix);
    let n = columns;
    let determinant = determinant_of(&m, n);
    let faulty = faulty(matrix);
    let component = |i: usize| {
        let (c, r) = (i / n, i % n);
        let cofactor = determinant_of(&minor(&m, n, r, c), n - 1);
        let signed = if (c + r) % 2 == 1 { -cofactor } else { cofactor };
        approximate(faulty, determinant != 0.0, signed / determinant)
    };
    (0..n * n).map(component).collect()
}
