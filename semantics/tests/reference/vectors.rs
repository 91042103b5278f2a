//! Functions of vectors and matrices: by hand, and compared with a second library that has more
//! digits than sums and products of these operands need.

use super::inputs::Random;
use super::oracle::{big, fault};
use astro_float::{BigFloat, RoundingMode};
use rspirv::spirv::{GlslStd450Op as Glsl, Op as Core};
use smallstep_semantics::number::Instruction;
use smallstep_semantics::number::reference::{Enclosure, Exact, Operand, enclose, enclose_vector};

/// The precision in bits: eight factors of 32-bit floats have 192 bits over a range of 8·277.
const P: usize = 4608;
const RM: RoundingMode = RoundingMode::ToEven;

fn add(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.add(y, P, RM)
}

fn sub(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.sub(y, P, RM)
}

fn mul(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.mul(y, P, RM)
}

fn div(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.div(y, P, RM)
}

fn dot(x: &[BigFloat], y: &[BigFloat]) -> BigFloat {
    x.iter().zip(y).fold(big(0.0), |sum, (x, y)| add(&sum, &mul(x, y)))
}

fn length(x: &[BigFloat]) -> BigFloat {
    dot(x, x).sqrt(P, RM)
}

/// The determinant by the sum over all permutations.
fn determinant(m: &[BigFloat], size: usize) -> BigFloat {
    fn sum(m: &[BigFloat], size: usize, chosen: &mut Vec<usize>) -> BigFloat {
        if chosen.len() == size {
            let odd = (0..size).flat_map(|a| (0..a).map(move |b| (a, b))).filter(|&(a, b)| chosen[b] > chosen[a]).count() % 2 == 1;
            let product = chosen.iter().enumerate().fold(big(1.0), |product, (column, row)| mul(&product, &m[column * size + row]));
            return if odd { product.neg() } else { product };
        }
        let mut total = big(0.0);
        for row in 0..size {
            if !chosen.contains(&row) {
                chosen.push(row);
                total = add(&total, &sum(m, size, chosen));
                chosen.pop();
            }
        }
        total
    }
    sum(m, size, &mut Vec::new())
}

/// The inverse times the matrix is the identity. Column c of the inverse solves m·x = e_c, by
/// Cramer's rule.
fn inverse(m: &[BigFloat], size: usize) -> Vec<BigFloat> {
    let whole = determinant(m, size);
    let solve = |column: usize, row: usize| {
        let mut replaced = m.to_vec();
        for r in 0..size {
            replaced[row * size + r] = big(if r == column { 1.0 } else { 0.0 });
        }
        if whole.is_zero() { BigFloat::nan(None) } else { div(&determinant(&replaced, size), &whole) }
    };
    (0..size * size).map(|n| solve(n / size, n % size)).collect()
}

struct Case {
    function: Instruction,
    name: &'static str,
    /// The number of components and the number of columns of each operand.
    shapes: &'static [(usize, usize)],
    value: fn(&[Vec<BigFloat>]) -> Vec<BigFloat>,
}

fn cases() -> Vec<Case> {
    let core = |op: Core| Instruction::Core(op as u16);
    let glsl = |op: Glsl| Instruction::Glsl(op as u32);
    let mut cases = Vec::new();
    let mut case = |function, name, shapes, value| cases.push(Case { function, name, shapes, value });
    case(core(Core::Dot), "Dot", &[(4, 1), (4, 1)], |a| vec![dot(&a[0], &a[1])]);
    case(core(Core::VectorTimesScalar), "VectorTimesScalar", &[(3, 1), (1, 1)], |a| a[0].iter().map(|x| mul(x, &a[1][0])).collect());
    case(core(Core::MatrixTimesScalar), "MatrixTimesScalar", &[(6, 2), (1, 1)], |a| a[0].iter().map(|x| mul(x, &a[1][0])).collect());
    case(core(Core::OuterProduct), "OuterProduct", &[(2, 1), (3, 1)], |a| (0..6).map(|n| mul(&a[0][n % 2], &a[1][n / 2])).collect());
    // Two columns of three rows.
    case(core(Core::VectorTimesMatrix), "VectorTimesMatrix", &[(3, 1), (6, 2)], |a| vec![dot(&a[0], &a[1][..3]), dot(&a[0], &a[1][3..])]);
    case(core(Core::MatrixTimesVector), "MatrixTimesVector", &[(6, 2), (2, 1)], |a| {
        (0..3).map(|r| add(&mul(&a[0][r], &a[1][0]), &mul(&a[0][3 + r], &a[1][1]))).collect()
    });
    case(core(Core::MatrixTimesMatrix), "MatrixTimesMatrix", &[(6, 2), (4, 2)], |a| {
        (0..6).map(|n| add(&mul(&a[0][n % 3], &a[1][n / 3 * 2]), &mul(&a[0][3 + n % 3], &a[1][n / 3 * 2 + 1]))).collect()
    });
    case(glsl(Glsl::Length), "Length", &[(3, 1)], |a| vec![length(&a[0])]);
    case(glsl(Glsl::Distance), "Distance", &[(3, 1), (3, 1)], |a| {
        vec![length(&a[0].iter().zip(&a[1]).map(|(x, y)| sub(x, y)).collect::<Vec<_>>())]
    });
    case(glsl(Glsl::Normalize), "Normalize", &[(3, 1)], |a| a[0].iter().map(|x| div(x, &length(&a[0]))).collect());
    case(glsl(Glsl::Cross), "Cross", &[(3, 1), (3, 1)], |a| {
        (0..3).map(|n| (n, (n + 1) % 3, (n + 2) % 3)).map(|(_, i, j)| sub(&mul(&a[0][i], &a[1][j]), &mul(&a[1][i], &a[0][j]))).collect()
    });
    case(glsl(Glsl::Reflect), "Reflect", &[(2, 1), (2, 1)], |a| {
        let twice = mul(&big(2.0), &dot(&a[1], &a[0]));
        (0..2).map(|n| sub(&a[0][n], &mul(&twice, &a[1][n]))).collect()
    });
    case(glsl(Glsl::Refract), "Refract", &[(2, 1), (2, 1), (1, 1)], |a| {
        let (d, eta) = (dot(&a[1], &a[0]), &a[2][0]);
        let k = sub(&big(1.0), &mul(&mul(eta, eta), &sub(&big(1.0), &mul(&d, &d))));
        let factor = add(&mul(eta, &d), &k.sqrt(P, RM));
        (0..2).map(|n| if k.is_negative() { big(0.0) } else { sub(&mul(eta, &a[0][n]), &mul(&factor, &a[1][n])) }).collect()
    });
    case(glsl(Glsl::FaceForward), "FaceForward", &[(2, 1), (2, 1), (2, 1)], |a| {
        let dot = dot(&a[2], &a[1]);
        let kept = dot.is_negative() && !dot.is_zero();
        a[0].iter().map(|x| if kept { x.clone() } else { x.neg() }).collect()
    });
    case(glsl(Glsl::Determinant), "Determinant", &[(9, 3)], |a| vec![determinant(&a[0], 3)]);
    case(glsl(Glsl::Determinant), "Determinant", &[(16, 4)], |a| vec![determinant(&a[0], 4)]);
    case(glsl(Glsl::MatrixInverse), "MatrixInverse", &[(4, 2)], |a| inverse(&a[0], 2));
    case(glsl(Glsl::MatrixInverse), "MatrixInverse", &[(9, 3)], |a| inverse(&a[0], 3));
    cases
}

fn operands<'a>(values: &'a [Vec<f64>], shapes: &[(usize, usize)]) -> Vec<Operand<'a>> {
    values.iter().zip(shapes).map(|(values, &(_, columns))| Operand::matrix(values, columns)).collect()
}

/// The components are random: of any exponent, near 1, and small integers, which cancel.
#[test]
fn a_second_library_agrees_about_vectors() {
    let mut random = Random(4);
    for case in cases() {
        for n in 0..40 {
            let mut component = || match n % 4 {
                0 => f64::from(random.operands("", 1)[0]),
                1 => random.below(9) as f64 - 4.0,
                _ => f64::from((random.below(1 << 24) as f32 / (1 << 23) as f32) - 1.0),
            };
            let values: Vec<Vec<f64>> = case.shapes.iter().map(|&(size, _)| (0..size).map(|_| component()).collect()).collect();
            let found = enclose_vector(case.function, &operands(&values, case.shapes)).expect("a function of these shapes");
            let bigs: Vec<Vec<BigFloat>> = values.iter().map(|values| values.iter().map(|&x| big(x)).collect()).collect();
            let exact = (case.value)(&bigs);
            assert_eq!(found.len(), exact.len(), "{}", case.name);
            for (found, exact) in found.into_iter().zip(&exact) {
                if let Some(fault) = fault(found, exact) {
                    panic!("{} {values:?}: {fault}", case.name);
                }
                if let Exact::Within(Enclosure { low, high }) = found {
                    assert!(low == high || low.next_up() == high, "{} {values:?}: not tight", case.name);
                }
            }
        }
    }
}

fn points(name: &str, args: &[Operand<'_>]) -> Vec<f64> {
    let function = cases().into_iter().find(|case| case.name == name).expect("a case").function;
    let point = |exact: Exact| match exact {
        Exact::Within(Enclosure { low, high }) if low == high => low,
        other => panic!("{name}: {other:?}"),
    };
    enclose_vector(function, args).expect("a function of these shapes").into_iter().map(point).collect()
}

#[test]
fn vectors_by_hand() {
    let v = Operand::vector;
    assert_eq!(points("Length", &[v(&[3.0, 4.0])]), [5.0]);
    assert_eq!(points("Length", &[v(&[0.0, 0.0])]), [0.0]);
    assert_eq!(points("Distance", &[v(&[1.0, 2.0, 3.0]), v(&[3.0, 5.0, 9.0])]), [7.0]);
    assert_eq!(points("Normalize", &[v(&[0.0, -5.0])]), [0.0, -1.0]);
    // The sum of products is exact, although 64 bits lose the 1.
    assert_eq!(points("Dot", &[v(&[1e30, 1.0, -1e30]), v(&[1e30, 1.0, 1e30])]), [1.0]);
    assert_eq!(points("Cross", &[v(&[1.0, 0.0, 0.0]), v(&[0.0, 1.0, 0.0])]), [0.0, 0.0, 1.0]);
    assert_eq!(points("Reflect", &[v(&[1.0, -1.0]), v(&[0.0, 1.0])]), [1.0, 1.0]);
    assert_eq!(points("Refract", &[v(&[0.0, -1.0]), v(&[0.0, 1.0]), v(&[0.5])]), [0.0, -1.0]);
    assert_eq!(points("Refract", &[v(&[1.0, 0.0]), v(&[0.0, 1.0]), v(&[2.0])]), [0.0, 0.0]);
    assert_eq!(points("FaceForward", &[v(&[1.0, 2.0]), v(&[1.0, 1.0]), v(&[-1.0, 0.0])]), [1.0, 2.0]);
    // Columns (1, 2) and (3, 4).
    let m = Operand::matrix(&[1.0, 2.0, 3.0, 4.0], 2);
    assert_eq!(points("Determinant", &[m]), [-2.0]);
    assert_eq!(points("MatrixInverse", &[m]), [-2.0, 1.0, 1.5, -0.5]);
    assert_eq!(points("MatrixTimesVector", &[m, v(&[10.0, 1.0])]), [13.0, 24.0]);
    assert_eq!(points("VectorTimesMatrix", &[v(&[10.0, 1.0]), m]), [12.0, 34.0]);
    assert_eq!(points("MatrixTimesMatrix", &[m, m]), [7.0, 10.0, 15.0, 22.0]);
    assert_eq!(points("OuterProduct", &[v(&[1.0, 2.0]), v(&[3.0, 5.0])]), [3.0, 6.0, 5.0, 10.0]);
}

#[test]
fn undefined_vectors_and_shapes_that_do_not_fit() {
    let glsl = |op: Glsl| Instruction::Glsl(op as u32);
    let v = Operand::vector;
    let all_undefined =
        |function, args: &[Operand<'_>], size| assert_eq!(enclose_vector(function, args), Some(vec![Exact::Undefined; size]));
    all_undefined(glsl(Glsl::Normalize), &[v(&[0.0, -0.0])], 2);
    all_undefined(glsl(Glsl::MatrixInverse), &[Operand::matrix(&[1.0, 2.0, 2.0, 4.0], 2)], 4);
    all_undefined(glsl(Glsl::Length), &[v(&[f64::INFINITY, 1.0])], 1);
    all_undefined(Instruction::Core(Core::MatrixTimesVector as u16), &[Operand::matrix(&[f64::NAN; 6], 2), v(&[1.0, 1.0])], 3);
    for (function, args) in [
        (glsl(Glsl::Cross), vec![v(&[1.0, 2.0]), v(&[1.0, 2.0])]),
        (glsl(Glsl::Length), vec![]),
        (glsl(Glsl::Determinant), vec![Operand::matrix(&[1.0; 6], 2)]),
        (glsl(Glsl::Length), vec![Operand::matrix(&[1.0; 5], 2)]),
        (glsl(Glsl::Length), vec![Operand::matrix(&[1.0; 5], 0)]),
        (glsl(Glsl::Length), vec![v(&[])]),
        (glsl(Glsl::Refract), vec![v(&[1.0]), v(&[1.0]), v(&[1.0, 1.0])]),
        (glsl(Glsl::FMin), vec![v(&[1.0]), v(&[1.0, 1.0])]),
        (Instruction::Core(Core::Dot as u16), vec![v(&[1.0]), v(&[1.0, 1.0])]),
        (Instruction::Core(Core::IAdd as u16), vec![v(&[1.0]), v(&[1.0])]),
        (Instruction::Glsl(9999), vec![v(&[1.0])]),
    ] {
        assert_eq!(enclose_vector(function, &args), None, "{function:?} {args:?}");
    }
}

#[test]
fn functions_of_scalars_apply_to_each_component() {
    let sin = Instruction::Glsl(Glsl::Sin as u32);
    let expected: Vec<Exact> = [0.5, 2.0].iter().map(|&x| enclose(sin, &[x]).expect("a function")).collect();
    assert_eq!(enclose_vector(sin, &[Operand::vector(&[0.5, 2.0])]), Some(expected));
}
