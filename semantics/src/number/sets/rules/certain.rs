//! Functions of one float, judged without their sets: what is certain at little cost.
//!
//! [`Certain::of`] says that anything is allowed, or that a result is, or nothing; then the set
//! decides. It is never more generous than the set: each of its claims follows from the rule, by
//! the argument below, and the tests hold them against the sets.
//!
//! # How near a result is allowed at least
//! Let y be the exact result, enclosed by the [reference](crate::number::reference), and u(v) a
//! unit in the last place at v. A distance w is *safe* if every float within w of y is allowed.
//! Where n ULP or an absolute error e is stated, n·u(y) and e are safe. Where a formula F is
//! inherited, [y - E, y + E] is allowed with E at least |y - f| for **every** value f that F may
//! come out as; so |y - f| for any one f is safe. Of these the following are taken. An operation
//! that is accurate to some error has, among the floats that it may give, one that is at most the
//! distance g of floats short of that error, on either side.
//!
//! - *The last operation alone.* Whatever v the steps before it give, if the last one is accurate
//!   to e about v, f may be at most v - e + g and at least v + e - g, and the one further from y is
//!   e - g from it at least. For Sqrt (a quotient: 2.5 ULP), Asin and Acos (Atan2: 4096 ULP, less 6
//!   for g and a change of the unit), Asinh and Acosh (Log: 2^-21 within [0.5, 2], elsewhere 3
//!   ULP), and half of that for Atanh, whose product with 0.5 is exact.
//! - *Sqrt*: the inverse root r may also be a unit less, which moves the quotient by y·u(r)/r =
//!   y²·u(r), away from zero; and then the quotient's error.
//! - *Tan*: the sine may be 2^-11 - 2^-23 too large, for floats below 2 are 2^-23 apart, and the
//!   cosine no greater than it is; the quotient may be rounded up. So (2^-11 - 2^-22)/|cos x| is
//!   safe, and 1/|cos x| = √(1 + y²). The cosine is bounded away from zero where |cos x| > 2^-11,
//!   as |y| ≤ 512 has it.
//! - *Sinh and Cosh*: with a = exp|x|, b = 1/a and n = 3 + 2|x|, a may be n·u(a) - g off and so may
//!   b, each to the side that adds up. Half of the sum is safe, less what the one rounding of the
//!   sum may take back.
//! - *Tanh*: sinh x may be its own safe distance less g nearer to zero, and cosh x correctly
//!   rounded; and, where that is a small part of sinh x, the quotient 2.5 ULP
//!   less one nearer still.
//! - *Asinh* of x < -1: x + √(x² + 1) is exact (Sterbenz), so what the root may be off moves the
//!   logarithm by at least that, divided by the sum.
//! - *Radians and Degrees*: f is one product of floats.
//!
//! Units are taken at y·(1 ± 2^-14), whichever is safe: no value that is spoken of is further from
//! y, or from a or b, where the rule says so (the functions whose errors may be greater, Sinh, Tanh
//! and Asinh near zero, say how they do without). What 64-bit arithmetic adds is made up for by a
//! millionth.
//!
//! The correctly rounded result is nearest to y of all floats, f among them, so it is allowed
//! wherever n ULP or a formula is the rule. Fract is correctly rounded itself, as
//! the profile has it.
//!
//! A subnormal operand may be flushed, which adds to what is allowed. Where not everything is
//! allowed at zero either, the claims above hold.
//!
//! # Where anything is allowed
//! For infinities and NaN; outside of the domain; where the exact result is beyond the floats; for
//! sines and cosines beyond π; where exp|x| is beyond the floats; and in Asinh and Acosh where x²
//! is, and for x ≤ -2^12, where a float no greater than |x| is among the roots of x² + 1 and its
//! sum with x may be zero. Where not everything is allowed is said only well within the domain: a
//! claim that a result is allowed is also one that some are not.

use super::super::Format;
use super::glsl::{logarithmic_error, trigonometric_error};
use super::inherited::{DEGREE, RADIAN};
use crate::number::reference::{Direction, Enclosure, Exact, enclose};
use crate::number::{Instruction, Profile, Rounding};
use rspirv::spirv::{self, GlslStd450Op as Glsl};
use std::f64::consts::{LN_2, PI};

/// What is certain of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certainty {
    /// Every float is allowed, and NaN.
    Anything,
    /// Not every float is allowed, and this one is; the exact result lies here.
    Allowed(Enclosure),
    /// Nothing: the set has to be asked.
    Open,
}

/// What is certain of the results of one function under one profile.
#[derive(Clone, Copy, Debug)]
pub struct Certain {
    instruction: Instruction,
    /// `None`: OpFNegate.
    function: Option<Glsl>,
    rounding: Rounding,
}

/// The greatest finite float, and the errors that are stated absolutely.
const MAX: f64 = Format::Single.max();
const LOG_ERROR: f64 = logarithmic_error(Format::Single);
const TRIGONOMETRIC_ERROR: f64 = trigonometric_error(Format::Single);

fn ulp(x: f64) -> f64 {
    Format::Single.ulp(x)
}

/// Part of a number by which those may be away from it at which units are taken.
const NEAR: f64 = 1.0 / 16384.0;
/// What is left of a distance for the errors of 64-bit arithmetic.
const SAFE: f64 = 1.0 - 1e-6;

/// A unit at the number, or anywhere near; not more than any.
fn least_unit(x: f64) -> f64 {
    ulp(x * (1.0 - NEAR))
}

/// A unit at the number, or anywhere near; not less than any, and not less than the distance of
/// floats there.
fn greatest_unit(x: f64) -> f64 {
    ulp(x * (1.0 + NEAR))
}

/// Of Log, at an operand whose exact logarithm is within `margin` of `value`: its error less the
/// distance of floats.
fn logarithm(value: f64, margin: f64) -> f64 {
    let (least, most) = (value.abs() - margin, value.abs() + margin);
    if most < LN_2 { LOG_ERROR - greatest_unit(most + LOG_ERROR) } else { 3.0 * least_unit(least.max(0.0)) - greatest_unit(most) }
}

/// How far Sqrt may be off at least, where its exact result is y: the quotient's error and that of
/// the inverse root.
fn root(y: f64) -> f64 {
    least_unit(1.0 / y) * y * y + 2.5 * least_unit(y) - greatest_unit(y)
}

impl Certain {
    /// For a function of one float; none for other instructions.
    pub fn new(profile: Profile, instruction: Instruction) -> Option<Certain> {
        let function = match instruction {
            Instruction::Core(opcode) if opcode == spirv::Op::FNegate as u16 => None,
            Instruction::Core(_) => return None,
            Instruction::Glsl(number) => Some(Glsl::from_u32(number)?),
        };
        enclose(instruction, &[1.0])?;
        Some(Certain { instruction, function, rounding: profile.controls().rounding })
    }

    /// What is certain of a result at an operand.
    #[inline]
    pub fn of(&self, x: f32, result: f32) -> Certainty {
        let wide = f64::from(x);
        let Some(function) = self.function else {
            return match x.is_normal() && result == -x {
                true => Certainty::Allowed(Enclosure::point(-wide)),
                false => Certainty::Open,
            };
        };
        if is_anything(function, wide) {
            return Certainty::Anything;
        }
        if !(x.is_normal() || x.is_subnormal() && is_bounded_at_zero(function)) {
            return Certainty::Open;
        }
        let exact = match enclose(self.instruction, &[wide]) {
            Some(Exact::Within(exact)) if exact.low <= MAX && exact.high >= -MAX => exact,
            _ => return Certainty::Anything,
        };
        match self.allows(function, wide, exact, result) {
            true => Certainty::Allowed(exact),
            false => Certainty::Open,
        }
    }

    /// Whether the result is certainly allowed, and not everything is.
    fn allows(&self, function: Glsl, x: f64, exact: Enclosure, result: f32) -> bool {
        let shown = f64::from(result);
        let rounds_to = |direction: Direction| exact.rounded(direction).is_some_and(|rounded| rounded == result);
        match function {
            // Exact, of normal numbers zero or normal; a zero of either sign.
            Glsl::Round | Glsl::RoundEven | Glsl::Trunc | Glsl::Floor | Glsl::Ceil | Glsl::FSign | Glsl::FAbs => shown == exact.low,
            // Correctly rounded.
            Glsl::Fract => match self.rounding {
                Rounding::NearestEven => rounds_to(Direction::NearestEven),
                Rounding::TowardZero => rounds_to(Direction::TowardZero),
                Rounding::Either => rounds_to(Direction::Down) || rounds_to(Direction::Up),
            },
            _ => {
                let width = exact.high - exact.low;
                let middle = exact.low + width * 0.5;
                self.distance(function, x, exact, middle)
                    .is_some_and(|distance| (shown - middle).abs() + 2.0 * width <= distance * SAFE || rounds_to(Direction::NearestEven))
                    || self.product(function, x).is_some_and(|product| product == result && product.abs() < f32::MAX / 2.0)
            }
        }
    }

    /// A safe distance; none where not everything is known to be bounded.
    fn distance(&self, function: Glsl, x: f64, exact: Enclosure, y: f64) -> Option<f64> {
        let magnitude = x.abs();
        let is_within = |is: bool, distance: f64| is.then_some(distance);
        let nearer = exact.low.abs().min(exact.high.abs());
        // Of the sum of two, once rounded.
        let rounding = if self.rounding == Rounding::TowardZero { 1.0 / 8_388_608.0 } else { 1.0 / 16_777_216.0 };
        match function {
            Glsl::Exp | Glsl::Exp2 => is_within(y < MAX / 4.0, (3.0 + 2.0 * magnitude) * ulp(nearer)),
            Glsl::Log | Glsl::Log2 => Some(if (0.5..=2.0).contains(&x) { LOG_ERROR } else { 3.0 * ulp(nearer) }),
            Glsl::InverseSqrt => Some(2.0 * ulp(nearer)),
            Glsl::Sin | Glsl::Cos => Some(TRIGONOMETRIC_ERROR),
            Glsl::Atan => Some(4096.0 * ulp(nearer)),
            Glsl::Sqrt => Some(root(y)),
            Glsl::Radians | Glsl::Degrees => {
                let product = f64::from(self.product(function, x)?);
                is_within(y.abs() < MAX / 4.0, (product - y).abs() - (exact.high - exact.low))
            }
            Glsl::Tan => is_within(y.abs() <= 512.0, (TRIGONOMETRIC_ERROR - 1.0 / 4_194_304.0) * (1.0 + y * y).sqrt()),
            Glsl::Asin | Glsl::Acos => is_within(magnitude < 0.999, 4090.0 * least_unit(y)),
            Glsl::Sinh | Glsl::Cosh => is_within(magnitude < 80.0, hyperbolic(magnitude, libm::exp(magnitude), y, rounding)),
            Glsl::Tanh => {
                let a = libm::exp(magnitude);
                let (sine, cosine) = ((a - 1.0 / a) * 0.5, (a + 1.0 / a) * 0.5);
                // Near zero the difference has no digits left; sinh x is never below x.
                let sine = sine.max(magnitude);
                let off = hyperbolic(magnitude, a, sine, rounding);
                let off = off - ulp(sine + off);
                let own = if off < sine * NEAR / 2.0 { 1.5 * least_unit(y) } else { 0.0 };
                is_within(magnitude < 80.0, off * SAFE / cosine - y.abs() * rounding * 1.5 + own)
            }
            Glsl::Asinh if x > 0.0 => is_within(x < 9e18, logarithm(y, 1.0 / 2_097_152.0)),
            Glsl::Asinh => {
                let square = x * x;
                // What roundings before the root and of the sum do to it, relatively, and
                // so to the logarithm.
                let margin = (square + 1.0) / 1_048_576.0;
                let length = (square + 1.0).sqrt();
                // The sum is about 1/(|x| + √(x² + 1)).
                let off = if x < -1.0 { root(length) - greatest_unit(length) - length / 16_777_216.0 } else { 0.0 };
                let moved = off.max(0.0) * (magnitude + length);
                is_within(x > -256.0, logarithm(y, margin + moved) + moved)
            }
            Glsl::Acosh => is_within((1.001..9e18).contains(&x), logarithm(y, 1.0 / 1_048_576.0)),
            Glsl::Atanh => is_within(magnitude < 0.999, 0.5 * logarithm(2.0 * y, 1.0 / 1_048_576.0)),
            _ => None,
        }
    }

    /// Radians and Degrees, as the profile has roundings; to nearest where it has none.
    fn product(&self, function: Glsl, x: f64) -> Option<f32> {
        let constant = match function {
            Glsl::Radians => DEGREE,
            Glsl::Degrees => RADIAN,
            _ => return None,
        };
        let direction = if self.rounding == Rounding::TowardZero { Direction::TowardZero } else { Direction::NearestEven };
        Some(direction.round(x * f64::from(direction.round(constant))))
    }
}

/// Of (a ± 1/a)·0.5, where a = exp|x| and the result is about y.
fn hyperbolic(magnitude: f64, a: f64, y: f64, rounding: f64) -> f64 {
    let n = 3.0 + 2.0 * magnitude;
    let off = |v: f64| n * least_unit(v) - greatest_unit(v);
    let both = 0.5 * (off(a) + off(1.0 / a));
    both - (y.abs() + both) * rounding * 1.01
}

/// Functions whose claims near zero are those at zero as well, which a device may have in the place
/// of a subnormal operand.
#[inline]
fn is_bounded_at_zero(function: Glsl) -> bool {
    matches!(
        function,
        Glsl::Exp
            | Glsl::Exp2
            | Glsl::Sin
            | Glsl::Cos
            | Glsl::Tan
            | Glsl::Atan
            | Glsl::Sinh
            | Glsl::Cosh
            | Glsl::Tanh
            | Glsl::Asinh
            | Glsl::Atanh
    )
}

/// Whether everything is allowed, as far as the operand says so by itself.
#[inline]
fn is_anything(function: Glsl, x: f64) -> bool {
    if !x.is_finite() {
        return true;
    }
    match function {
        Glsl::Sin | Glsl::Cos | Glsl::Tan => x.abs() > PI,
        Glsl::Sinh | Glsl::Cosh | Glsl::Tanh => x.abs() > 89.0,
        Glsl::Exp => x > 89.0,
        Glsl::Exp2 => x > 129.0,
        Glsl::Log | Glsl::Log2 | Glsl::Sqrt | Glsl::InverseSqrt => x <= 0.0,
        Glsl::Asin | Glsl::Acos | Glsl::Atanh => x.abs() >= 1.0,
        Glsl::Acosh => !(1.0..=2e19).contains(&x),
        Glsl::Asinh => x <= -4096.0 || x > 2e19,
        _ => false,
    }
}
