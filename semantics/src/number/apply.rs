//! The function that computes an operation, from operands and their shapes to lanes.

use super::{Lane, Lanes, Op, Trust, Tuple, composite, rules, scalar};
use smallvec::SmallVec;

/// Computes `op` on operands of fitting shapes. The caller ensures that they fit.
///
/// - Componentwise operations need equally many lanes in all operands and give as many; `Select`
///   takes one condition for all lanes too.
/// - `VectorTimesScalar` and `MatrixTimesScalar` take any number of lanes, then one.
/// - `Any`, `All`, `Length` and `Determinant` give one lane, as do `Dot` and `Distance`, whose
///   operands are equally long. `Cross` needs three lanes, `Reflect` equally many.
/// - In products a vector has a lane for each row of a matrix on its right, or for each column of
///   one on its left. `Determinant` and `MatrixInverse` take square matrices.
///
/// Any float is allowed in any operand: no values make this panic. Shapes that do not fit are a
/// bug of the caller. Debug builds catch it. Otherwise the result is meaningless, or the
/// function panics.
pub fn apply(op: Op, args: &[Tuple<'_>]) -> Lanes {
    debug_assert_eq!(args.len(), op.arity(), "operands of {op:?}");
    debug_assert!(shapes_fit(op, args), "shapes of the operands of {op:?}");
    match op {
        Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Min | Op::Max => binary(args, |x, y| simple(op, x, y)),
        Op::LessThan | Op::LessThanEqual | Op::GreaterThan | Op::GreaterThanEqual | Op::Equal | Op::NotEqual => {
            binary(args, |x, y| simple(op, x, y))
        }
        Op::Negate | Op::Abs => unary(args, |x| simple(op, x, x)),
        Op::VectorTimesScalar | Op::MatrixTimesScalar => {
            let y = args[1].lanes[0];
            unary(args, |x| {
                let r = scalar::of_two(Op::Mul, x.float(), y.float());
                float(r, rules::scaled(x, y, r))
            })
        }
        Op::Step => binary(args, |x, y| {
            let r = scalar::of_two(op, x.float(), y.float());
            float(r, rules::exact_of_two(op, x, y, r))
        }),
        Op::Clamp => ternary(args, |x, low, high| {
            let (a, b, c) = (x.float(), low.float(), high.float());
            let r = scalar::of_three(op, a, b, c);
            float(r, rules::clamped(x, low, high, scalar::in_domain_of_three(op, a, b, c), r))
        }),
        Op::Sign | Op::Floor | Op::Ceil | Op::Trunc | Op::Round | Op::RoundEven | Op::Fract => unary(args, |x| {
            let r = scalar::of_one(op, x.float());
            float(r, rules::exact_of_one(op, x, r))
        }),
        Op::Mod | Op::Atan2 | Op::Pow => binary(args, |x, y| {
            let (a, b) = (x.float(), y.float());
            let r = scalar::of_two(op, a, b);
            let faulty = rules::fault(x).or(rules::fault(y));
            float(r, rules::approximate(faulty, scalar::in_domain_of_two(op, a, b), r))
        }),
        Op::SmoothStep => ternary(args, |x, y, z| {
            let (a, b, c) = (x.float(), y.float(), z.float());
            let r = scalar::of_three(op, a, b, c);
            let faulty = rules::fault(x).or(rules::fault(y)).or(rules::fault(z));
            float(r, rules::approximate(faulty, scalar::in_domain_of_three(op, a, b, c), r))
        }),
        Op::Radians
        | Op::Degrees
        | Op::Sin
        | Op::Cos
        | Op::Tan
        | Op::Asin
        | Op::Acos
        | Op::Atan
        | Op::Sinh
        | Op::Cosh
        | Op::Tanh
        | Op::Asinh
        | Op::Acosh
        | Op::Atanh
        | Op::Exp
        | Op::Log
        | Op::Exp2
        | Op::Log2
        | Op::Sqrt
        | Op::InverseSqrt => unary(args, |x| {
            let r = scalar::of_one(op, x.float());
            float(r, rules::approximate(rules::fault(x), scalar::in_domain_of_one(op, x.float()), r))
        }),
        Op::LogicalEqual => binary(args, |x, y| truth(x.is_true() == y.is_true(), rules::logical(&[x, y]))),
        Op::LogicalNotEqual => binary(args, |x, y| truth(x.is_true() != y.is_true(), rules::logical(&[x, y]))),
        Op::And => binary(args, |x, y| truth(x.is_true() && y.is_true(), rules::absorbed(&[x, y], false))),
        Op::Or => binary(args, |x, y| truth(x.is_true() || y.is_true(), rules::absorbed(&[x, y], true))),
        Op::Not => unary(args, |x| truth(!x.is_true(), rules::logical(&[x]))),
        Op::Any => one(truth(args[0].lanes.iter().any(|x| x.is_true()), rules::absorbed(args[0].lanes, true))),
        Op::All => one(truth(args[0].lanes.iter().all(|x| x.is_true()), rules::absorbed(args[0].lanes, false))),
        Op::Select => select(args[0].lanes, args[1].lanes, args[2].lanes),
        Op::Dot => one(composite::dot(args[0].lanes, args[1].lanes)),
        Op::VectorTimesMatrix => composite::vector_times_matrix(args[0].lanes, args[1].lanes, args[1].columns),
        Op::MatrixTimesVector => composite::matrix_times_vector(args[0].lanes, args[0].columns, args[1].lanes),
        Op::MatrixTimesMatrix => composite::matrix_times_matrix(args[0].lanes, args[0].columns, args[1].lanes, args[1].columns),
        Op::Transpose => composite::transpose(args[0].lanes, args[0].columns),
        Op::Mix => composite::mix(args[0].lanes, args[1].lanes, args[2].lanes),
        Op::Cross => composite::cross(args[0].lanes, args[1].lanes),
        Op::Reflect => composite::reflect(args[0].lanes, args[1].lanes),
        Op::Length => composite::length(args[0].lanes),
        Op::Distance => composite::distance(args[0].lanes, args[1].lanes),
        Op::Normalize => composite::normalize(args[0].lanes),
        Op::Determinant => composite::determinant(args[0].lanes, args[0].columns),
        Op::MatrixInverse => composite::inverse(args[0].lanes, args[0].columns),
    }
}

/// One component of a sum, a difference, a product, a quotient, a minimum, a maximum, a negation or
/// a magnitude (of x), or a comparison.
#[inline(always)]
pub(super) fn simple(op: Op, x: Lane, y: Lane) -> Lane {
    let (a, b) = (x.float(), y.float());
    match op {
        Op::Add | Op::Sub | Op::Mul => {
            let r = scalar::of_two(op, a, b);
            float(r, rules::rounded(op, x, y, r))
        }
        Op::Div => {
            let r = scalar::of_two(op, a, b);
            float(r, rules::approximate(rules::fault(x).or(rules::fault(y)), scalar::in_domain_of_two(op, a, b), r))
        }
        Op::Min | Op::Max => {
            let r = scalar::of_two(op, a, b);
            float(r, rules::exact_of_two(op, x, y, r))
        }
        Op::Negate => float(scalar::of_one(op, a), rules::copied(x)),
        Op::Abs => {
            let r = scalar::of_one(op, a);
            float(r, rules::exact_of_one(op, x, r))
        }
        _ => truth(scalar::comparison(op, a, b), rules::compared(x, y)),
    }
}

#[inline]
fn float(value: f32, trust: Trust) -> Lane {
    Lane { bits: value.to_bits(), trust }
}

#[inline]
fn truth(value: bool, trust: Trust) -> Lane {
    Lane { bits: value as u32, trust }
}

fn one(lane: Lane) -> Lanes {
    SmallVec::from_slice(&[lane])
}

#[inline]
fn unary(args: &[Tuple<'_>], f: impl Fn(Lane) -> Lane) -> Lanes {
    let mut result = Lanes::with_capacity(args[0].lanes.len());
    for &x in args[0].lanes {
        result.push(f(x));
    }
    result
}

#[inline]
fn binary(args: &[Tuple<'_>], f: impl Fn(Lane, Lane) -> Lane) -> Lanes {
    let mut result = Lanes::with_capacity(args[0].lanes.len());
    for (&x, &y) in args[0].lanes.iter().zip(args[1].lanes) {
        result.push(f(x, y));
    }
    result
}

#[inline]
fn ternary(args: &[Tuple<'_>], f: impl Fn(Lane, Lane, Lane) -> Lane) -> Lanes {
    let mut result = Lanes::with_capacity(args[0].lanes.len());
    for (&x, (&y, &z)) in args[0].lanes.iter().zip(args[1].lanes.iter().zip(args[2].lanes)) {
        result.push(f(x, y, z));
    }
    result
}

fn select(conditions: &[Lane], on_true: &[Lane], on_false: &[Lane]) -> Lanes {
    let mut result = Lanes::with_capacity(on_true.len());
    for (i, (&on_true, &on_false)) in on_true.iter().zip(on_false).enumerate() {
        let condition = conditions[if conditions.len() == 1 { 0 } else { i }];
        let bits = if condition.is_true() { on_true.bits } else { on_false.bits };
        result.push(Lane { bits, trust: rules::selected(condition, on_true, on_false) });
    }
    result
}

/// Whether the operands have the shapes that `op` needs.
fn shapes_fit(op: Op, args: &[Tuple<'_>]) -> bool {
    let lanes = |i: usize| args[i].lanes.len();
    let square = |i: usize| args[i].columns * args[i].columns == lanes(i);
    match op {
        Op::VectorTimesScalar | Op::MatrixTimesScalar => lanes(1) == 1,
        Op::VectorTimesMatrix => lanes(1) == lanes(0) * args[1].columns,
        Op::MatrixTimesVector => lanes(1) == args[0].columns && lanes(0).is_multiple_of(lanes(1).max(1)),
        Op::MatrixTimesMatrix => lanes(1) == args[0].columns * args[1].columns && lanes(0).is_multiple_of(args[0].columns.max(1)),
        Op::Transpose => lanes(0).is_multiple_of(args[0].columns.max(1)),
        Op::Determinant | Op::MatrixInverse => square(0),
        Op::Cross => lanes(0) == 3 && lanes(1) == 3,
        Op::Select => lanes(1) == lanes(2) && (lanes(0) == 1 || lanes(0) == lanes(1)),
        _ => args.iter().all(|arg| arg.lanes.len() == lanes(0)),
    }
}

/// What a test puts in the place of an operation's result.
pub type Planted = fn(Op, &[Tuple<'_>], Lanes) -> Lanes;

/// The arithmetic that an engine computes with: [`apply`], and a hook that tests use to plant a
/// wrong operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arithmetic {
    /// Replaces the result of an operation; `None` outside tests of the oracle.
    pub planted: Option<Planted>,
}

impl Arithmetic {
    /// [`apply`], then the planted replacement if there is one.
    pub fn apply(&self, op: Op, args: &[Tuple<'_>]) -> Lanes {
        let result = apply(op, args);
        match self.planted {
            None => result,
            Some(replace) => replace(op, args, result),
        }
    }
}
