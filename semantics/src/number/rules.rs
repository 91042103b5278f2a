//! What is known about each operation's result: Vulkan's "Precision and Operation of SPIR-V
//! Instructions", and WGSL's "Floating Point Evaluation" for [`Profile::Wgsl`](super::Profile).
//!
//! | operations | `Strict` | `Wgsl` |
//! |---|---|---|
//! | + - · negate, by a scalar | rounded to nearest even | decided while the polynomial is exact |
//! | dot, matrix products | decided if exact under every rewriting | the same, of the polynomial |
//! | mix, cross, reflect | as in `Wgsl`: these carry no NoContraction | the same |
//! | abs, min, max, clamp, floor, … | exact | exact, if no operand can be moved across |
//! | round | exact except for ties | the same |
//! | fract | decided if exact | decided if x - floor(x) is, as part of the whole |
//! | comparisons | exact | exact, if no term can be moved from one side to the other |
//! | transpose | exact but for subnormals | the same |
//! | select, and, or, … | as the operands | as the operands |
//! | everything else | never decided | never decided |
//!
//! `Strict` assumes that every core instruction carries NoContraction, and no extended instruction.
//!
//! A subnormal, infinite or NaN operand or result always puts the result in doubt, unless the
//! operation only moves bits. The sign of a zero is required if OpFAdd, OpFSub, OpFMul or OpFNegate
//! make the zero from zeros of known signs: SignedZeroInfNanPreserve names no other arithmetic.

use super::trust::special;
use super::{Grid, Lane, Op, Trust, Why};

/// The trust of a float result. With a doubt there is no certificate.
fn result(doubt: Option<Why>, zero_sign: bool, grid: Option<Grid>) -> Trust {
    Trust { doubt, zero_sign, grid: if doubt.is_none() { grid } else { None }, cell: None }
}

/// The trust of a Boolean.
fn boolean(doubt: Option<Why>, certified: bool) -> Trust {
    result(doubt, true, certified.then_some(Grid::BOOLEAN))
}

/// Why arithmetic on this operand is in doubt.
#[inline]
pub(super) fn fault(operand: Lane) -> Option<Why> {
    operand.trust.doubt.or(special(operand.float()))
}

/// OpFNegate, and OpTranspose with the sign kept: no rounding, but a subnormal may be flushed.
pub(super) fn copied(x: Lane) -> Trust {
    result(fault(x), x.trust.zero_sign, x.trust.grid)
}

/// OpFAdd, OpFSub and OpFMul, correctly rounded to r.
#[inline(always)]
pub(super) fn rounded(op: Op, x: Lane, y: Lane, r: f32) -> Trust {
    let (a, b) = (x.float(), y.float());
    let doubt = doubt_of_rounded(op, (a, x.trust.doubt), (b, y.trust.doubt), r);
    let grid = match (x.trust.grid, y.trust.grid) {
        (Some(x), Some(y)) if op == Op::Mul => x.product(y),
        (Some(x), Some(y)) => x.sum(y),
        _ => None,
    };
    let zero_sign = r != 0.0
        || match op {
            Op::Mul => (a != 0.0 || x.trust.zero_sign) && (b != 0.0 || y.trust.zero_sign),
            _ => {
                // -0 + y is y, but +0 + y is +0 for a zero y of either sign.
                let y_is_plus_zero = y.trust.zero_sign && (y.bits == if op == Op::Sub { 0x8000_0000 } else { 0 });
                let x_is_plus_zero = x.trust.zero_sign && x.bits == 0;
                a != 0.0 || x_is_plus_zero || y_is_plus_zero || x.trust.zero_sign && y.trust.zero_sign
            }
        };
    result(doubt, zero_sign, grid)
}

/// Why a correctly rounded result is in doubt. Each operand comes with the reason for its
/// own doubt.
#[inline(always)]
pub(super) fn doubt_of_rounded(op: Op, (a, x): (f32, Option<Why>), (b, y): (f32, Option<Why>), r: f32) -> Option<Why> {
    x.or_else(|| special(a)).or(y).or_else(|| special(b)).or_else(|| out_of_range(op, a, b, r))
}

/// Why a correctly rounded result of operands without fault is in doubt: its exact value may be
/// flushed, or is beyond the finite floats.
#[inline]
fn out_of_range(op: Op, a: f32, b: f32, r: f32) -> Option<Why> {
    let magnitude = r.abs();
    if magnitude > f32::MIN_POSITIVE && magnitude < f32::MAX {
        None
    } else if magnitude >= f32::MAX {
        // The largest float may be the rounding of a greater number, for which infinity is
        // accepted too.
        Some(Why::Infinite)
    } else if op == Op::Mul {
        // Exact in 64 bits. Tininess may be judged before rounding.
        let product = f64::from(a) * f64::from(b);
        (product != 0.0 && product.abs() < f64::from(f32::MIN_POSITIVE)).then_some(Why::Subnormal)
    } else {
        // A sum below 2^-126 is not rounded.
        special(r)
    }
}

/// OpVectorTimesScalar and OpMatrixTimesScalar: OpFMul, but the sign of a zero is not required.
pub(super) fn scaled(x: Lane, y: Lane, r: f32) -> Trust {
    let trust = rounded(Op::Mul, x, y, r);
    Trust { zero_sign: r != 0.0, ..trust }
}

/// Functions of GLSL.std.450 of one float that are exact.
pub(super) fn exact_of_one(op: Op, x: Lane, r: f32) -> Trust {
    let value = x.float();
    let mut doubt = fault(x);
    let mut grid = match x.trust.grid {
        None => None,
        // A compiler may know that the operation does nothing here, and drop it. Then the operand's
        // polynomial goes on.
        Some(grid) if op == Op::Abs || r == value => Some(grid),
        Some(_) => Grid::of(r),
    };
    if op == Op::Round && doubt.is_none() && (value - value.trunc()).abs() == 0.5 {
        doubt = Some(Why::Tie);
    }
    if op == Op::Fract && doubt.is_none() {
        let floor = value.floor();
        // Inexact only between -1 and 0, and there exact in 64 bits.
        let exact = f64::from(r) + f64::from(floor) == f64::from(value);
        grid = x.trust.grid.and_then(|grid| grid.sum(Grid::of(floor)?));
        // If the operand is a polynomial, it may come from extended instructions
        // that carry no NoContraction.
        let operand_is_leaf = x.trust.grid.is_none_or(|grid| grid.leaf);
        if !exact || !operand_is_leaf && grid.is_none() {
            doubt = Some(Why::Approximate);
        }
    }
    result(doubt, r != 0.0, grid)
}

/// FMin, FMax and Step.
pub(super) fn exact_of_two(op: Op, x: Lane, y: Lane, r: f32) -> Trust {
    let grid = match (x.trust.grid, y.trust.grid) {
        (Some(a), Some(b)) if a.comparable(b) => match op {
            Op::Step => Grid::of(r),
            _ => chosen(r, &[x, y]),
        },
        _ => None,
    };
    result(fault(x).or(fault(y)), r != 0.0, grid)
}

/// FClamp.
pub(super) fn clamped(x: Lane, low: Lane, high: Lane, in_domain: bool, r: f32) -> Trust {
    let doubt = fault(x).or(fault(low)).or(fault(high)).or((!in_domain).then_some(Why::Domain));
    let grid = match (x.trust.grid, low.trust.grid, high.trust.grid) {
        (Some(a), Some(b), Some(c)) if a.comparable(b) && a.comparable(c) && b.comparable(c) => chosen(r, &[x, low, high]),
        _ => None,
    };
    result(doubt, r != 0.0, grid)
}

/// The certificate that covers all operands with the result's value.
fn chosen(r: f32, operands: &[Lane]) -> Option<Grid> {
    let mut equal = operands.iter().filter(|operand| operand.float() == r);
    let first = equal.next()?.trust.grid?;
    equal.try_fold(first, |grid, operand| grid.either(operand.trust.grid?))
}

/// Operations that are not required to be correctly rounded. `faulty` is the first
/// fault of an operand.
pub(super) fn approximate(faulty: Option<Why>, in_domain: bool, r: f32) -> Trust {
    let why = faulty.or((!in_domain).then_some(Why::Domain)).or(special(r)).unwrap_or(Why::Approximate);
    result(Some(why), r != 0.0, None)
}

/// A polynomial formula. `faulty` is the first fault of an operand. `decided` says whether `Strict`
/// has a certificate.
pub(super) fn polynomial(faulty: Option<Why>, decided: bool, r: f32, whole: Option<Grid>) -> Trust {
    let doubt = faulty.or(if decided { None } else { Some(special(r).unwrap_or(Why::Approximate)) });
    result(doubt, r != 0.0, whole)
}

/// Comparisons.
#[inline]
pub(super) fn compared(x: Lane, y: Lane) -> Trust {
    let certified = match (x.trust.grid, y.trust.grid) {
        (Some(x), Some(y)) => x.comparable(y),
        _ => false,
    };
    boolean(fault(x).or(fault(y)), certified)
}

/// Logical operations that need all of their operands: equality, negation.
pub(super) fn logical(operands: &[Lane]) -> Trust {
    let doubt = operands.iter().find_map(|operand| operand.trust.doubt);
    boolean(doubt, operands.iter().all(|operand| operand.trust.grid.is_some()))
}

/// Conjunction (absorbing false) and disjunction (absorbing true). One operand that is certain to
/// absorb the others decides the result.
pub(super) fn absorbed(operands: &[Lane], absorbing: bool) -> Trust {
    let absorbs = |operand: &&Lane| operand.is_true() == absorbing;
    if operands.iter().filter(absorbs).any(|operand| operand.trust.grid.is_some()) {
        return Trust::CERTAIN;
    }
    if operands.iter().filter(absorbs).any(|operand| operand.trust.doubt.is_none()) {
        return boolean(None, false);
    }
    logical(operands)
}

/// OpSelect: the chosen lane as it is, if the condition is certain or both are the same.
pub(super) fn selected(condition: Lane, on_true: Lane, on_false: Lane) -> Trust {
    Trust::selected(condition.trust, condition.is_true(), on_true.trust, on_false.trust, on_true.bits == on_false.bits)
}
