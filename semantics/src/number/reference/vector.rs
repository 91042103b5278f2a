//! Enclosures of functions of vectors and matrices: exact, except for a last root or quotient.
//!
//! Each component is a polynomial P of the operands, or P/Q, √P, P/√Q or P + Q·√R with
//! polynomials. Polynomials are computed in numbers of as many digits as it takes. The result
//! is compared with floats by the signs of polynomials. So the enclosures are as tight as those
//! of `enclose_tightly`.

use super::super::Instruction;
use super::tight::{Big, DIGITS, around, around_quotient, big, bracket, value};
use super::{Enclosure, Exact, enclose};
use dashu_float::Context;
use dashu_float::round::mode::HalfEven;
use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};
use std::cmp::Ordering;

/// An operand: its components, column after column, and the number of columns that they form (1 for
/// scalars and vectors).
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// The components, column after column.
    pub components: &'a [f64],
    /// The number of columns; 1 for scalars and vectors.
    pub columns: usize,
}

impl<'a> Operand<'a> {
    /// A scalar or vector.
    pub fn vector(components: &'a [f64]) -> Operand<'a> {
        Operand { components, columns: 1 }
    }

    /// A matrix of this number of columns.
    pub fn matrix(components: &'a [f64], columns: usize) -> Operand<'a> {
        Operand { components, columns }
    }
}

/// An operand in exact numbers.
struct Matrix {
    components: Vec<Big>,
    columns: usize,
    rows: usize,
}

impl Matrix {
    fn of(operand: &Operand<'_>) -> Matrix {
        let Operand { components, columns } = *operand;
        Matrix { components: components.iter().map(|&x| big(x)).collect(), columns, rows: components.len() / columns }
    }

    fn column(&self, column: usize) -> &[Big] {
        &self.components[column * self.rows..][..self.rows]
    }

    fn row(&self, row: usize) -> impl Iterator<Item = &Big> {
        self.components.iter().skip(row).step_by(self.rows)
    }

    /// The matrix without a column and a row.
    fn minor(&self, column: usize, row: usize) -> Matrix {
        let remains = |n: &usize| n / self.rows != column && n % self.rows != row;
        let components = (0..self.components.len()).filter(remains).map(|n| self.components[n].clone()).collect();
        Matrix { components, columns: self.columns - 1, rows: self.rows - 1 }
    }

    /// The determinant of a square matrix. 1 for a matrix without components.
    fn determinant(&self) -> Big {
        (0..self.rows).fold(if self.rows == 0 { big(1.0) } else { big(0.0) }, |sum, row| {
            let term = &self.components[row] * self.minor(0, row).determinant();
            if row % 2 == 0 { sum + term } else { sum - term }
        })
    }
}

fn dot<'a>(x: impl IntoIterator<Item = &'a Big>, y: impl IntoIterator<Item = &'a Big>) -> Big {
    x.into_iter().zip(y).fold(big(0.0), |sum, (x, y)| sum + x * y)
}

fn squared_length(x: &[Big]) -> Big {
    dot(x, x)
}

fn differences(x: &[Big], y: &[Big]) -> Vec<Big> {
    x.iter().zip(y).map(|(x, y)| x - y).collect()
}

fn zero() -> Big {
    big(0.0)
}

/// An approximation of √x, for a candidate.
fn root(x: &Big) -> Big {
    value(Context::<HalfEven>::new(DIGITS).sqrt(x.repr()))
}

fn nearly_quotient(x: &Big, y: &Big) -> f64 {
    value(Context::<HalfEven>::new(DIGITS).div(x.repr(), y.repr())).to_f64().value()
}

/// The enclosure of √square.
fn around_root(square: &Big) -> Enclosure {
    if *square == zero() {
        return Enclosure::point(0.0);
    }
    bracket(root(square).to_f64().value(), |candidate| order_with_root(&big(candidate), square).reverse())
}

/// The order of x and √square.
fn order_with_root(x: &Big, square: &Big) -> Ordering {
    if *x < zero() { Ordering::Less } else { (x * x).cmp(square) }
}

/// The enclosure of x / √square. The square is positive.
fn around_unit(x: &Big, square: &Big) -> Enclosure {
    if *x == zero() {
        return Enclosure::point(0.0);
    }
    bracket(nearly_quotient(x, &root(square)), |candidate| order_of_surd(x, &-big(candidate), square))
}

/// The sign of a + b·√square.
fn order_of_surd(a: &Big, b: &Big, square: &Big) -> Ordering {
    let (sign_of_a, sign_of_root) = (a.cmp(&zero()), if *square == zero() { Ordering::Equal } else { b.cmp(&zero()) });
    match (sign_of_a, sign_of_root) {
        (Ordering::Equal, sign) | (sign, Ordering::Equal) => sign,
        (sign, other) if sign == other => sign,
        (Ordering::Greater, _) => (a * a).cmp(&(b * b * square)),
        _ => (b * b * square).cmp(&(a * a)),
    }
}

/// The enclosure of a + b·√square.
fn around_surd(a: &Big, b: &Big, square: &Big) -> Enclosure {
    let term = b * root(square).with_precision(0).value();
    let cancels = (*a < zero()) != (*b < zero()) && *a != zero();
    let candidate = if cancels {
        // (a² - b²·square) / (a - b·√square), whose divisor does not cancel.
        let dividend = a * a - b * b * square;
        nearly_quotient(&dividend, &(a - term))
    } else {
        (a + term).to_f64().value()
    };
    bracket(candidate, |candidate| order_of_surd(&(a - big(candidate)), b, square))
}

/// The infinitely precise components of a result, matrices column after column. Each enclosure is
/// as tight as that of [`super::enclose_tightly`], and takes microseconds. Functions of scalars are
/// applied to each component, by [`enclose`].
///
/// | functions | their meaning over the reals |
/// |---|---|
/// | VectorTimesScalar, MatrixTimesScalar, OuterProduct, Dot, matrix products | sums of products |
/// | Cross, Determinant, Reflect: I - 2·(N·I)·N | polynomials |
/// | MatrixInverse | cofactors over the determinant; undefined if that is zero |
/// | Length, Distance | √Σx² |
/// | Normalize | x/√Σx²; undefined for a zero vector |
/// | FaceForward (N, I, Nref) | N if Nref·I < 0, otherwise -N |
/// | Refract (I, N, eta) | 0 if k = 1 - eta²·(1 - (N·I)²) < 0, else eta·I - (eta·(N·I) + √k)·N |
///
/// All components are undefined if any operand of a function of vectors has a component that is
/// infinite or NaN. `None` if the instruction is no such function, or if the shapes of the operands
/// do not fit.
pub fn enclose_vector(function: Instruction, args: &[Operand<'_>]) -> Option<Vec<Exact>> {
    if args.iter().any(|arg| arg.columns == 0 || arg.components.is_empty() || arg.components.len() % arg.columns != 0) {
        return None;
    }
    if super::Function::of(function).is_some() {
        return componentwise(function, args);
    }
    if args.iter().any(|arg| arg.components.iter().any(|x| !x.is_finite())) {
        let zeros: Vec<Vec<f64>> = args.iter().map(|arg| vec![0.0; arg.components.len()]).collect();
        let zeros: Vec<Operand<'_>> = zeros.iter().zip(args).map(|(zeros, arg)| Operand::matrix(zeros, arg.columns)).collect();
        return Some(vec![Exact::Undefined; enclose_vector(function, &zeros)?.len()]);
    }
    let matrices: Vec<Matrix> = args.iter().map(Matrix::of).collect();
    match (function, &matrices[..]) {
        (Instruction::Core(opcode), operands) => core(Core::from_u32(opcode.into())?, operands),
        (Instruction::Glsl(number), operands) => glsl(Glsl::from_u32(number)?, operands),
    }
}

fn componentwise(function: Instruction, args: &[Operand<'_>]) -> Option<Vec<Exact>> {
    let (first, rest) = args.split_first()?;
    if rest.iter().any(|arg| arg.components.len() != first.components.len()) {
        return None;
    }
    (0..first.components.len()).map(|n| enclose(function, &args.iter().map(|arg| arg.components[n]).collect::<Vec<f64>>())).collect()
}

fn exactly(numbers: impl IntoIterator<Item = Big>) -> Option<Vec<Exact>> {
    Some(numbers.into_iter().map(|x| around(&x).into()).collect())
}

fn core(opcode: Core, operands: &[Matrix]) -> Option<Vec<Exact>> {
    let [x, y] = operands else { return None };
    let vectors = x.columns == 1 && y.columns == 1;
    match opcode {
        Core::Dot if vectors && x.rows == y.rows => exactly([dot(&x.components, &y.components)]),
        Core::VectorTimesScalar | Core::MatrixTimesScalar
            if y.components.len() == 1 && (x.columns == 1) == (opcode == Core::VectorTimesScalar) =>
        {
            exactly(x.components.iter().map(|x| x * &y.components[0]))
        }
        Core::OuterProduct if vectors => exactly(y.components.iter().flat_map(|y| x.components.iter().map(move |x| x * y))),
        Core::VectorTimesMatrix if x.columns == 1 && x.rows == y.rows => {
            exactly((0..y.columns).map(|column| dot(&x.components, y.column(column))))
        }
        Core::MatrixTimesVector | Core::MatrixTimesMatrix
            if x.columns == y.rows && (y.columns == 1) == (opcode == Core::MatrixTimesVector) =>
        {
            exactly((0..y.columns).flat_map(|column| (0..x.rows).map(move |row| dot(x.row(row), y.column(column)))))
        }
        _ => None,
    }
}

fn glsl(function: Glsl, operands: &[Matrix]) -> Option<Vec<Exact>> {
    let first = operands.first()?;
    let x = &first.components[..];
    if let (Glsl::Determinant | Glsl::MatrixInverse, [matrix]) = (function, operands) {
        if matrix.rows != matrix.columns {
            return None;
        }
        return if function == Glsl::Determinant { exactly([matrix.determinant()]) } else { Some(inverse(matrix)) };
    }
    let vectors = operands.iter().all(|operand| operand.columns == 1);
    let have_same_rows = |n: usize| operands.len() == n && operands.iter().all(|operand| operand.rows == first.rows);
    if !vectors {
        return None;
    }
    let other = |n: usize| &operands[n].components[..];
    match function {
        Glsl::Length if have_same_rows(1) => Some(vec![around_root(&squared_length(x)).into()]),
        Glsl::Distance if have_same_rows(2) => Some(vec![around_root(&squared_length(&differences(x, other(1)))).into()]),
        Glsl::Normalize if have_same_rows(1) => {
            let square = squared_length(x);
            let unit = |x: &Big| if square == zero() { Exact::Undefined } else { around_unit(x, &square).into() };
            Some(x.iter().map(unit).collect())
        }
        Glsl::Cross if have_same_rows(2) && first.rows == 3 => {
            let y = other(1);
            exactly([(1, 2), (2, 0), (0, 1)].map(|(a, b)| &x[a] * &y[b] - &y[a] * &x[b]))
        }
        Glsl::FaceForward if have_same_rows(3) => {
            let (incident, reference) = (other(1), other(2));
            let keeps_sign = dot(reference, incident) < zero();
            exactly(x.iter().map(|x| if keeps_sign { x.clone() } else { -x.clone() }))
        }
        Glsl::Reflect if have_same_rows(2) => {
            let (incident, normal) = (x, other(1));
            let twice = big(2.0) * dot(normal, incident);
            exactly(incident.iter().zip(normal).map(|(i, n)| i - &twice * n))
        }
        Glsl::Refract if operands.len() == 3 && operands[1].rows == first.rows && operands[2].rows == 1 => {
            let (incident, normal, eta) = (x, other(1), &operands[2].components[0]);
            Some(refracted(incident, normal, eta))
        }
        _ => None,
    }
}

/// Component [c][r] is the determinant without column r and row c, negated if c + r is odd, over
/// the determinant.
fn inverse(matrix: &Matrix) -> Vec<Exact> {
    let determinant = matrix.determinant();
    let (sign, magnitude) = if determinant < zero() { (big(-1.0), -determinant) } else { (big(1.0), determinant) };
    let size = matrix.rows;
    let component = |n: usize| {
        let (column, row) = (n / size, n % size);
        if magnitude == zero() {
            return Exact::Undefined;
        }
        let cofactor = matrix.minor(row, column).determinant() * &sign;
        around_quotient(&if (column + row) % 2 == 0 { cofactor } else { -cofactor }, &magnitude).into()
    };
    (0..size * size).map(component).collect()
}

fn refracted(incident: &[Big], normal: &[Big], eta: &Big) -> Vec<Exact> {
    let cosine = dot(normal, incident);
    let k = big(1.0) - eta * eta * (big(1.0) - &cosine * &cosine);
    let component = |(i, n): (&Big, &Big)| {
        if k < zero() {
            return Enclosure::point(0.0).into();
        }
        let rational = eta * i - eta * &cosine * n;
        around_surd(&rational, &-n.clone(), &k).into()
    };
    incident.iter().zip(normal).map(component).collect()
}
