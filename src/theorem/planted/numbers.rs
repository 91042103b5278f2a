//! Mistakes in the arithmetic. The campaign must catch mistakes of one side. The second
//! implementation must catch those that both sides share.

use super::{Bug, Check, Family};
use crate::theorem::case::Planted;
use smallstep_semantics::number::{Arithmetic, Lanes, Op, Planted as Replace, Tuple, apply};

/// Both sides have the mistake, as if it were in the number library.
fn both(replace: Replace) -> Planted {
    let arithmetic = Arithmetic { planted: Some(replace) };
    Planted { source_arithmetic: arithmetic, target_arithmetic: arithmetic, ..Planted::default() }
}

/// Only the λV engines have the mistake.
fn source(replace: Replace) -> Planted {
    Planted { source_arithmetic: Arithmetic { planted: Some(replace) }, ..Planted::default() }
}

/// Only the SPIR-V engines have the mistake.
fn target(replace: Replace) -> Planted {
    Planted { target_arithmetic: Arithmetic { planted: Some(replace) }, ..Planted::default() }
}

/// The operation `at` with operands i and j swapped.
fn swapped(at: Op, op: Op, args: &[Tuple<'_>], result: Lanes, i: usize, j: usize) -> Lanes {
    if op != at {
        return result;
    }
    let mut args = args.to_vec();
    args.swap(i, j);
    apply(op, &args)
}

/// The operation `replacement` in place of `at`.
fn other(at: Op, replacement: Op, op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    if op == at { apply(replacement, args) } else { result }
}

/// The result of the operation `at` with each component changed.
fn each(at: Op, op: Op, mut result: Lanes, change: impl Fn(f32) -> f32) -> Lanes {
    if op == at {
        for lane in &mut result {
            lane.bits = change(lane.float()).to_bits();
        }
    }
    result
}

/// The result of the operation `at`, each component a function of the operands' components.
fn from_operands(at: Op, op: Op, args: &[Tuple<'_>], mut result: Lanes, f: impl Fn(&[f32]) -> f32) -> Lanes {
    if op == at {
        for (i, lane) in result.iter_mut().enumerate() {
            let xs: Vec<f32> = args.iter().map(|a| a.lanes[i].float()).collect();
            lane.bits = f(&xs).to_bits();
        }
    }
    result
}

/// The sum of two floats, rounded toward zero.
fn toward_zero(xs: &[f32]) -> f32 {
    let exact = f64::from(xs[0]) + f64::from(xs[1]);
    let nearest = exact as f32;
    if f64::from(nearest).abs() > exact.abs() { f32::from_bits(nearest.to_bits() - 1) } else { nearest }
}

fn columns_swapped(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    match op {
        Op::MatrixTimesMatrix => {
            let n = args[0].columns;
            result.chunks(n).rev().flatten().copied().collect()
        }
        _ => result,
    }
}

fn transposed_product(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    match op {
        Op::MatrixTimesVector => apply(Op::VectorTimesMatrix, &[args[1], args[0]]),
        _ => result,
    }
}

fn logic_on_vectors(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    match op {
        Op::And if result.len() > 1 => apply(Op::Or, args),
        _ => result,
    }
}

fn dot_without_last(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    match op {
        Op::Dot if args[0].lanes.len() == 4 => apply(Op::Dot, &[Tuple::vector(&args[0].lanes[..3]), Tuple::vector(&args[1].lanes[..3])]),
        _ => result,
    }
}

fn inverse_transposed(op: Op, args: &[Tuple<'_>], result: Lanes) -> Lanes {
    match op {
        Op::MatrixInverse => apply(Op::Transpose, &[Tuple::matrix(&result, args[0].columns)]),
        _ => result,
    }
}

/// Mistakes that both sides share: name, description, and replacement.
const SHARED: &[(&str, &str, Replace)] = &[
    ("number-difference", "a difference has its operands swapped", |op, args, r| swapped(Op::Sub, op, args, r, 0, 1)),
    ("number-quotient", "a quotient has its operands swapped", |op, args, r| swapped(Op::Div, op, args, r, 0, 1)),
    ("number-mod", "mod has its operands swapped", |op, args, r| swapped(Op::Mod, op, args, r, 0, 1)),
    ("number-mod-trunc", "mod has the sign of its first operand", |op, args, r| from_operands(Op::Mod, op, args, r, |x| x[0] % x[1])),
    ("number-step", "step has its operands swapped", |op, args, r| swapped(Op::Step, op, args, r, 0, 1)),
    ("number-step-edge", "step is 0 at its edge", |op, args, r| {
        from_operands(Op::Step, op, args, r, |x| if x[1] <= x[0] { 0.0 } else { 1.0 })
    }),
    ("number-atan2", "atan2 has its operands swapped", |op, args, r| swapped(Op::Atan2, op, args, r, 0, 1)),
    ("number-pow", "pow has its operands swapped", |op, args, r| swapped(Op::Pow, op, args, r, 0, 1)),
    ("number-less", "less-than holds of equals", |op, args, r| other(Op::LessThan, Op::LessThanEqual, op, args, r)),
    ("number-greater-equal", "greater-equal does not hold of equals", |op, args, r| {
        other(Op::GreaterThanEqual, Op::GreaterThan, op, args, r)
    }),
    ("number-min-equal", "min of equals is the second", |op, args, r| {
        from_operands(Op::Min, op, args, r, |x| if x[1] <= x[0] { x[1] } else { x[0] })
    }),
    ("number-max-equal", "max of equals is the second", |op, args, r| {
        from_operands(Op::Max, op, args, r, |x| if x[0] <= x[1] { x[1] } else { x[0] })
    }),
    ("number-clamp", "clamp has its bounds swapped", |op, args, r| swapped(Op::Clamp, op, args, r, 1, 2)),
    ("number-clamp-order", "clamp is max(min(x, high), low)", |op, args, r| {
        from_operands(Op::Clamp, op, args, r, |x| {
            let low = if x[2] < x[0] { x[2] } else { x[0] };
            if low < x[1] { x[1] } else { low }
        })
    }),
    ("number-mix", "mix takes a for 1 - a", |op, args, r| swapped(Op::Mix, op, args, r, 0, 1)),
    ("number-smoothstep", "smoothstep has its edges swapped", |op, args, r| swapped(Op::SmoothStep, op, args, r, 0, 1)),
    ("number-fract", "fract of a negative number is negative", |op, args, r| from_operands(Op::Fract, op, args, r, |x| x[0].fract())),
    ("number-round", "round takes halves away from zero", |op, args, r| from_operands(Op::RoundEven, op, args, r, |x| x[0].round())),
    ("number-sign-zero", "the sign of zero is 1", |op, args, r| {
        from_operands(Op::Sign, op, args, r, |x| if x[0] == 0.0 { 1.0 } else { x[0].signum() })
    }),
    ("number-negate-zero", "the negation of zero is zero", |op, args, r| from_operands(Op::Negate, op, args, r, |x| 0.0 - x[0])),
    ("number-sum-rounding", "sums are rounded toward zero", |op, args, r| from_operands(Op::Add, op, args, r, toward_zero)),
    ("number-product-ulp", "a product is the next float up where it is not a small integer", |op, _, r| {
        each(Op::Mul, op, r, |x| if x.fract() != 0.0 { f32::from_bits(x.to_bits() + 1) } else { x })
    }),
    ("number-sqrt-rounding", "a square root is one unit in the last place too great", |op, _, r| {
        each(Op::Sqrt, op, r, |x| if x > 0.0 { f32::from_bits(x.to_bits() + 1) } else { x })
    }),
    ("number-exp", "exp is exp2", |op, args, r| other(Op::Exp, Op::Exp2, op, args, r)),
    ("number-log", "log is log2", |op, args, r| other(Op::Log, Op::Log2, op, args, r)),
    ("number-radians", "radians is degrees", |op, args, r| other(Op::Radians, Op::Degrees, op, args, r)),
    ("number-select", "select has its arms swapped", |op, args, r| swapped(Op::Select, op, args, r, 1, 2)),
    ("number-and", "and is or, on vectors", logic_on_vectors),
    ("number-any", "any-of is all-of", |op, args, r| other(Op::Any, Op::All, op, args, r)),
    ("number-logical-equal", "equality of Booleans is conjunction", |op, args, r| other(Op::LogicalEqual, Op::And, op, args, r)),
    ("number-transposed", "matrix times vector is vector times matrix", transposed_product),
    ("number-columns", "the columns of a product of matrices are in reverse order", columns_swapped),
    ("number-inverse", "the inverse is transposed", inverse_transposed),
    ("number-dot", "dot leaves out the last of four components", dot_without_last),
    ("number-cross", "cross has its operands swapped", |op, args, r| swapped(Op::Cross, op, args, r, 0, 1)),
    ("number-reflect", "reflect has its operands swapped", |op, args, r| swapped(Op::Reflect, op, args, r, 0, 1)),
    ("number-determinant", "the determinant has the opposite sign", |op, _, r| each(Op::Determinant, op, r, |x| -x)),
];

pub(super) fn bugs() -> Vec<Bug> {
    let outside_rules = |name, what, check, planted: Planted| Bug::outside_rules(Family::Numbers, name, what, check, planted);
    let mut bugs: Vec<Bug> =
        SHARED.iter().map(|&(name, what, replace)| outside_rules(name, what, Check::SecondImplementation, both(replace))).collect();
    bugs.extend([
        outside_rules(
            "spirv-number-transposed",
            "in the SPIR-V engines, matrix times vector is vector times matrix",
            Check::Campaign,
            target(transposed_product),
        ),
        outside_rules(
            "spirv-number-sum-rounding",
            "in the SPIR-V engines, sums are rounded toward zero",
            Check::Campaign,
            target(|op, args, r| from_operands(Op::Add, op, args, r, toward_zero)),
        ),
        outside_rules(
            "spirv-number-difference-zero",
            "in the SPIR-V engines, a difference that is zero is negative",
            Check::Campaign,
            target(|op, _, r| each(Op::Sub, op, r, |x| if x == 0.0 { -0.0 } else { x })),
        ),
        outside_rules(
            "lambda-number-min-equal",
            "in the λV engines, min of equals is the second",
            Check::Campaign,
            source(|op, args, r| from_operands(Op::Min, op, args, r, |x| if x[1] <= x[0] { x[1] } else { x[0] })),
        ),
        outside_rules(
            "lambda-number-less",
            "in the λV engines, less-than holds of equals",
            Check::Campaign,
            source(|op, args, r| other(Op::LessThan, Op::LessThanEqual, op, args, r)),
        ),
    ]);
    bugs
}
