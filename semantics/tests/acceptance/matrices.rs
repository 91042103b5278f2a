//! Determinant and MatrixInverse. The exact result and every evaluation of it, in any order and
//! with any rounding, are within the sets. The check catches bounds that claim too much.

use super::inputs::Random;
use rspirv::spirv::GlslStd450Op as Glsl;
use smallstep_semantics::number::reference::{self, Exact};
use smallstep_semantics::number::sets::{Operand, Set, Span, allowed_alone};
use smallstep_semantics::number::{Instruction, Profile};

/// A component of a random matrix: a small integer, a number of many digits, or one of
/// any magnitude.
fn component(random: &mut Random, style: usize) -> f32 {
    match style {
        0 => random.below(17) as f32 - 8.0,
        1 => (random.next() as i32) as f32 / 2f32.powi(31),
        2 => (1.0 + random.below(1 << 22) as f32 / 4_194_304.0) * if random.below(2) == 0 { 1.0 } else { -1.0 },
        _ => (random.next() as i32) as f32 / 2f32.powi(31) * 2f32.powi(random.below(40) as i32 - 20),
    }
}

fn matrix(random: &mut Random, n: usize) -> Vec<f32> {
    let style = random.below(4);
    let mut m: Vec<f32> = (0..n * n).map(|_| component(random, style)).collect();
    // Nearly singular: the second column is nearly the first.
    if random.below(6) == 0 {
        for r in 0..n {
            m[n + r] = m[r] * (1.0 + random.below(64) as f32 / 1024.0);
        }
    }
    m
}

/// Rounds a number to either neighbour, or to zero if it is subnormal.
fn round(random: &mut Random, x: f64) -> f32 {
    let nearest = x as f32;
    if x != 0.0 && x.abs() < f64::from(f32::MIN_POSITIVE) && random.below(2) == 0 {
        return 0.0;
    }
    if f64::from(nearest) == x || random.below(2) == 0 {
        return nearest;
    }
    if f64::from(nearest) < x { nearest.next_up() } else { nearest.next_down() }
}

/// x·y + z, fused or not.
fn multiply_add(random: &mut Random, x: f32, y: f32, z: f32) -> f32 {
    let product = f64::from(x) * f64::from(y);
    if random.below(2) == 0 {
        return round(random, product + f64::from(z));
    }
    let product = round(random, product);
    round(random, f64::from(product) + f64::from(z))
}

fn minor(m: &[f32], n: usize, c: usize, r: usize) -> Vec<f32> {
    (0..n * n).filter(|i| i / n != c && i % n != r).map(|i| m[i]).collect()
}

fn shuffled(random: &mut Random, n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, random.below(i + 1));
    }
    order
}

/// The determinant as some device computes it: along any row or column, in any order, each minor
/// in its own way. `term` may change the factor of each term of the outermost sum, for example to
/// a quotient.
fn determinant(random: &mut Random, m: &[f32], n: usize, term: &mut dyn FnMut(&mut Random, f32) -> f32) -> f32 {
    if n == 1 {
        return term(random, m[0]);
    }
    let along = random.below(n);
    let by_column = random.below(2) == 0;
    let mut sum = None;
    for k in shuffled(random, n) {
        let (c, r) = if by_column { (along, k) } else { (k, along) };
        let rest = determinant(random, &minor(m, n, c, r), n - 1, &mut |_, x| x);
        let factor = if (c + r) % 2 == 1 { -m[c * n + r] } else { m[c * n + r] };
        let factor = term(random, factor);
        sum = Some(match sum {
            None => round(random, f64::from(factor) * f64::from(rest)),
            Some(sum) => multiply_add(random, factor, rest, sum),
        });
    }
    sum.unwrap_or(1.0)
}

/// A quotient within 2.5 ULP.
fn quotient(random: &mut Random, x: f32, y: f32) -> f32 {
    let near = round(random, f64::from(x) / f64::from(y));
    match random.below(3) {
        0 if near.is_normal() => near.next_up(),
        1 if near.is_normal() => near.next_down(),
        _ => near,
    }
}

/// Component i of the inverse as some device computes it.
fn inverse(random: &mut Random, m: &[f32], n: usize, i: usize) -> f32 {
    let (c, r) = (i / n, i % n);
    let divisor = determinant(random, m, n, &mut |_, x| x);
    let reciprocal = quotient(random, 1.0, divisor);
    let cofactor = minor(m, n, r, c);
    let sign = if (c + r) % 2 == 1 { -1.0 } else { 1.0 };
    let divide = |random: &mut Random, x: f32| match random.below(2) {
        0 => quotient(random, x, divisor),
        _ => round(random, f64::from(x) * f64::from(reciprocal)),
    };
    sign * if random.below(2) == 0 {
        determinant(random, &cofactor, n - 1, &mut { divide })
    } else {
        let cofactor = determinant(random, &cofactor, n - 1, &mut |_, x| x);
        divide(random, cofactor)
    }
}

/// A replacement of a set, by the function, the matrix, the component and the right set.
type Replace = fn(Glsl, &[f32], usize, Set) -> Set;

fn sets(function: Glsl, operands: &[Operand], n: usize) -> Vec<Set> {
    let instruction = Instruction::Glsl(function as u32);
    allowed_alone(Profile::VulkanDefault, instruction, &[(operands, n)]).expect("a rule").to_vec()
}

/// The first matrix with a fault, in words. Also the number of sets that were bounded, and of
/// all sets.
fn outside(count: u64, seed: u64, replace: Replace) -> (Option<String>, u64, u64) {
    let mut random = Random(seed);
    let (mut bounded, mut all) = (0, 0);
    for k in 0..count {
        let n = 2 + k as usize % 3;
        let m = matrix(&mut random, n);
        let function = if random.below(2) == 0 { Glsl::Determinant } else { Glsl::MatrixInverse };
        let points: Vec<Operand> = m.iter().map(|&x| Operand { set: Set::point(x.into()), id: None }).collect();
        // The components as members of wider sets.
        let boxes: Vec<Operand> = m
            .iter()
            .map(|&x| {
                let wide = x.abs() * [0.0, 1e-6, 1e-3][random.below(3)];
                Operand { set: Set::of(Span::between((x - wide).into(), (x + wide).into())), id: None }
            })
            .collect();
        let wide: Vec<f64> = m.iter().map(|&x| x.into()).collect();
        let instruction = Instruction::Glsl(function as u32);
        let exact = reference::enclose_vector(instruction, &[reference::Operand::matrix(&wide, n)]).expect("a function of matrices");
        let in_box = sets(function, &boxes, n);
        for (i, set) in sets(function, &points, n).into_iter().enumerate() {
            let set = replace(function, &m, i, set);
            all += 1;
            if !set.is_bounded() {
                continue;
            }
            bounded += 1;
            let fault = |what: &str, x: f64| Some(format!("{function:?} of {m:?}, component {i}: {what} {x:?} is not in {set}"));
            if !in_box[i].holds(&set) && in_box[i].is_bounded() {
                return (fault("of a box the set is less", 0.0), bounded, all);
            }
            if let Exact::Within(exact) = exact[i]
                && !set.hull().is_some_and(|hull| hull.low <= exact.high && exact.low <= hull.high)
            {
                return (fault("the exact", exact.low), bounded, all);
            }
            for _ in 0..8 {
                let shown = match function {
                    Glsl::Determinant => determinant(&mut random, &m, n, &mut |_, x| x),
                    _ => inverse(&mut random, &m, n, i),
                };
                if !set.contains(shown.into()) {
                    return (fault("a device's", shown.into()), bounded, all);
                }
            }
        }
    }
    (None, bounded, all)
}

#[test]
fn determinants_and_inverses_in_any_order_are_within_the_sets() {
    let (fault, bounded, all) = outside(30_000, 31, |_, _, _, set| set);
    assert_eq!(fault, None);
    println!("{bounded} of {all} components are bounded");
    assert!(bounded * 100 > all * 80, "too little is bounded to mean much: {bounded} of {all}");
}

/// A bounded set, scaled around its middle.
fn scaled(set: Set, by: f64) -> Set {
    let Some(Span { low, high }) = set.hull().filter(|_| set.is_bounded()) else { return set };
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
    Set::of(Span { low: middle - by * half, high: middle + by * half })
}

#[test]
fn bounds_of_matrices_that_claim_too_much_are_caught() {
    let planted: [(&str, Replace); 5] = [
        ("a twentieth of the error", |_, _, _, set| scaled(set, 0.05)),
        ("the inverse is transposed", |function, m, i, set| {
            let n = m.len().isqrt();
            if function != Glsl::MatrixInverse {
                return set;
            }
            let points: Vec<Operand> = m.iter().map(|&x| Operand { set: Set::point(x.into()), id: None }).collect();
            sets(function, &points, n)[i % n * n + i / n]
        }),
        ("the determinant is rounded once", |function, _, _, set| if function == Glsl::Determinant { scaled(set, 1e-3) } else { set }),
        ("cofactors have no sign", |function, m, i, set| {
            let n = m.len().isqrt();
            let odd = (i / n + i % n) % 2 == 1;
            match set.hull() {
                Some(hull) if odd && function == Glsl::MatrixInverse => Set::of(Span { low: -hull.high, high: -hull.low }),
                _ => set,
            }
        }),
        ("the divisor is exact", |function, _, _, set| if function == Glsl::MatrixInverse { scaled(set, 0.02) } else { set }),
    ];
    let survivors: Vec<&str> =
        planted.into_iter().filter(|(_, replace)| outside(30_000, 32, *replace).0.is_none()).map(|(name, _)| name).collect();
    assert!(survivors.is_empty(), "not caught: {survivors:?}");
}

/// The sets of the identity and of a singular matrix, worked out by hand.
#[test]
fn the_identity_and_a_singular_matrix() {
    let points = |m: &[f32]| m.iter().map(|&x| Operand { set: Set::point(x.into()), id: None }).collect::<Vec<Operand>>();
    let identity = points(&[1.0, 0.0, 0.0, 1.0]);
    let near_one =
        |set: &Set| set.hull().is_some_and(|hull| (0.999_999..=1.0).contains(&hull.low) && (1.0..1.000_001).contains(&hull.high));
    assert!(near_one(&sets(Glsl::Determinant, &identity, 2)[0]));
    let inverse = sets(Glsl::MatrixInverse, &identity, 2);
    assert!(near_one(&inverse[0]) && near_one(&inverse[3]) && inverse[1].contains(0.0) && !inverse[1].contains(1e-6), "{inverse:?}");
    let singular = points(&[1.0, 2.0, 2.0, 4.0]);
    assert!(sets(Glsl::Determinant, &singular, 2)[0].contains(0.0));
    assert!(sets(Glsl::MatrixInverse, &singular, 2).iter().all(Set::is_any));
    // WGSL states no accuracy for a determinant.
    let wgsl = allowed_alone(Profile::Wgsl, Instruction::Glsl(Glsl::Determinant as u32), &[(&identity, 2)]).expect("a rule");
    assert!(wgsl[0].is_any());
}
