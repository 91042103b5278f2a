//! Operations on vectors and matrices, compared with their formulas step by step, and
//! with integers.

use super::*;

/// The result of one 32-bit operation, from a 64-bit result.
fn r(x: f64) -> f64 {
    f64::from(x as f32)
}

fn values(op: Op, args: &[(&[f32], usize)]) -> Vec<f32> {
    let lanes: Vec<Lanes> = args.iter().map(|(values, _)| floats(values)).collect();
    let tuples: Vec<Tuple<'_>> = lanes.iter().zip(args).map(|(lanes, &(_, columns))| Tuple { lanes, columns }).collect();
    apply(op, &tuples).iter().map(|lane| lane.float()).collect()
}

fn assert_all(op: Op, args: &[(&[f32], usize)], expected: &[f64]) {
    let found: Vec<u32> = values(op, args).iter().map(|x| x.to_bits()).collect();
    let expected: Vec<u32> = expected.iter().map(|&x| if x.is_nan() { NAN } else { (x as f32).to_bits() }).collect();
    assert_eq!(found, expected, "{op:?} {args:?}");
}

#[test]
fn composite_operations_follow_their_formulas() {
    let mut random = Random(19);
    for round in 0..20_000 {
        let n = 1 + round % 4;
        let vector = |random: &mut Random, n: usize| -> Vec<f32> {
            (0..n).map(|_| if random.below(4) == 0 { random.any() } else { random.finite() }).collect()
        };
        let (x, y, a) = (vector(&mut random, n), vector(&mut random, n), vector(&mut random, n));
        let w = |v: &[f32]| -> Vec<f64> { v.iter().map(|&x| f64::from(x)).collect() };
        let (xw, yw, aw) = (w(&x), w(&y), w(&a));
        let dot = |x: &[f64], y: &[f64]| {
            let mut sum = r(x[0] * y[0]);
            for i in 1..x.len() {
                sum = r(sum + r(x[i] * y[i]));
            }
            sum
        };
        assert_all(Op::Dot, &[(&x, 1), (&y, 1)], &[dot(&xw, &yw)]);
        let mix: Vec<f64> = (0..n).map(|i| r(r(xw[i] * r(1.0 - aw[i])) + r(yw[i] * aw[i]))).collect();
        assert_all(Op::Mix, &[(&x, 1), (&y, 1), (&a, 1)], &mix);
        let twice = r(2.0 * dot(&yw, &xw));
        let reflect: Vec<f64> = (0..n).map(|i| r(xw[i] - r(twice * yw[i]))).collect();
        assert_all(Op::Reflect, &[(&x, 1), (&y, 1)], &reflect);
        let length = r(dot(&xw, &xw).sqrt());
        assert_all(Op::Length, &[(&x, 1)], &[length]);
        let normal: Vec<f64> = xw.iter().map(|x| r(x / length)).collect();
        assert_all(Op::Normalize, &[(&x, 1)], &normal);
        let difference: Vec<f64> = xw.iter().zip(&yw).map(|(x, y)| r(x - y)).collect();
        assert_all(Op::Distance, &[(&x, 1), (&y, 1)], &[r(dot(&difference, &difference).sqrt())]);
        let smooth: Vec<f64> = (0..n)
            .map(|i| {
                let t = r(r(aw[i] - xw[i]) / r(yw[i] - xw[i]));
                let t = t.clamp(0.0, 1.0);
                r(r(t * t) * r(3.0 - r(2.0 * t)))
            })
            .collect();
        assert_all(Op::SmoothStep, &[(&x, 1), (&y, 1), (&a, 1)], &smooth);

        let (u, v) = (vector(&mut random, 3), vector(&mut random, 3));
        let (uw, vw) = (w(&u), w(&v));
        let minor = |i: usize, j: usize| r(r(uw[i] * vw[j]) - r(vw[i] * uw[j]));
        assert_all(Op::Cross, &[(&u, 1), (&v, 1)], &[minor(1, 2), minor(2, 0), minor(0, 1)]);

        let n = 2 + round % 3;
        let (m, k, v) = (vector(&mut random, n * n), vector(&mut random, n * n), vector(&mut random, n));
        let (mw, kw, vw) = (w(&m), w(&k), w(&v));
        let row = |m: &[f64], i: usize| -> Vec<f64> { (0..n).map(|c| m[c * n + i]).collect() };
        let right: Vec<f64> = (0..n).map(|i| dot(&row(&mw, i), &vw)).collect();
        assert_all(Op::MatrixTimesVector, &[(&m, n), (&v, 1)], &right);
        let left: Vec<f64> = (0..n).map(|c| dot(&vw, &mw[c * n..(c + 1) * n])).collect();
        assert_all(Op::VectorTimesMatrix, &[(&v, 1), (&m, n)], &left);
        let product: Vec<f64> = (0..n * n).map(|i| dot(&row(&mw, i % n), &kw[i / n * n..(i / n + 1) * n])).collect();
        assert_all(Op::MatrixTimesMatrix, &[(&m, n), (&k, n)], &product);
        let scaled: Vec<f64> = mw.iter().map(|x| r(x * vw[0])).collect();
        assert_all(Op::MatrixTimesScalar, &[(&m, n), (&v[..1], 1)], &scaled);
        let turned: Vec<u32> = (0..n * n).map(|i| m[i % n * n + i / n].to_bits()).collect();
        let found: Vec<u32> = values(Op::Transpose, &[(&m, n)]).iter().map(|x| x.to_bits()).collect();
        assert_eq!(found, turned);
    }
}

/// The sum over all permutations.
fn determinant(m: &[Vec<i64>]) -> i64 {
    fn sum(m: &[Vec<i64>], row: usize, used: &mut Vec<usize>) -> i64 {
        if row == m.len() {
            let inversions = (0..row).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| used[j] > used[i]);
            return if inversions.count() % 2 == 0 { 1 } else { -1 };
        }
        let mut total = 0;
        for c in 0..m.len() {
            if !used.contains(&c) {
                used.push(c);
                total += m[row][c] * sum(m, row + 1, used);
                used.pop();
            }
        }
        total
    }
    sum(m, 0, &mut Vec::new())
}

#[test]
fn determinants_and_inverses_of_integers_are_right() {
    let mut random = Random(23);
    for round in 0..5_000 {
        let n = 2 + round % 3;
        // m[c][r]
        let m: Vec<Vec<i64>> = (0..n).map(|_| (0..n).map(|_| random.integer(7)).collect()).collect();
        let lanes: Vec<f32> = m.iter().flatten().map(|&x| x as f32).collect();
        let whole = determinant(&m);
        assert_eq!(values(Op::Determinant, &[(&lanes, n)])[0], whole as f32, "{m:?}");
        if whole == 0 {
            continue;
        }
        let inverse = values(Op::MatrixInverse, &[(&lanes, n)]);
        for c in 0..n {
            for r in 0..n {
                let without = |k: usize, skip: usize| (0..n).filter(move |&i| i != skip).nth(k).expect("n - 1 are left");
                let minor: Vec<Vec<i64>> = (0..n - 1).map(|i| (0..n - 1).map(|j| m[without(i, r)][without(j, c)]).collect()).collect();
                let cofactor = determinant(&minor) * if (c + r) % 2 == 0 { 1 } else { -1 };
                assert_eq!(inverse[c * n + r], (cofactor as f64 / whole as f64) as f32, "{m:?} [{c}][{r}]");
            }
        }
    }
}
