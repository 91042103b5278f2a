//! Functions of one float, judged without their sets where the judgement is certain at little cost.
//!
//! [`Certain::of`] has three answers: any value is allowed, the result is allowed, or nothing is
//! certain. In the last case the set decides. The answers are never more generous than the set:
//! each claim follows from the rule, by the argument below. The tests compare the claims with
//! the sets.
//!
//! # Safe distances
//! Let y be the exact result, enclosed by the [reference](crate::number::reference), and u(v) a
//! unit in the last place at v. A distance w is *safe* if every float within w of y is allowed. If
//! n ULP or an absolute error e is stated, n·u(y) or e is safe. If a formula F is inherited, [y -
//! E, y + E] is allowed, where E is at least |y - f| for **every** value f that F may have. So |y -
//! f| for any one f is safe. The values f that are used follow. An operation that is accurate to
//! some error has, among its possible results, a float that falls short of that error by at most
//! the distance g of floats, on either side.
//!
//! - *The last operation alone.* Let v be what the steps before it give. If the last operation is
//!   accurate to e about v, then f may be at most v - e + g, or at least v + e - g. The one further
//!   from y is at least e - g from it. This is used for Sqrt (a quotient: 2.5 ULP), Asin and Acos
//!   (Atan2: 4096 ULP, less 6 for g and a change of the unit), Asinh and Acosh (Log: 2^-21 within
//!   [0.5, 2], elsewhere 3 ULP). Half of it is used for Atanh, whose product with 0.5 is exact.
//! - *Sqrt*: the inverse root r may also be a unit less. This moves the quotient by y·u(r)/r =
//!   y²·u(r), away from zero. The quotient's error follows.
//! - *Tan*: the sine may be 2^-11 - 2^-23 too large, since floats below 2 are 2^-23 apart, and
//!   the cosine no greater than its exact value. The quotient may be rounded up. So (2^-11 -
//!   2^-22)/|cos x| is safe, and 1/|cos x| = √(1 + y²). The cosine is bounded away from
//!   zero where
//!   |cos x| > 2^-11, which |y| ≤ 512 implies.
//! - *Sinh and Cosh*: let a = exp|x|, b = 1/a and n = 3 + 2|x|. Then a may be n·u(a) - g off, and
//!   b may be n·u(b) - g off, each to the side where the errors add up. Half of the sum is safe,
//!   less what the one rounding of the sum may take back.
//! - *Tanh*: sinh x may be nearer to zero by its own safe distance less g, and cosh x correctly
//!   rounded. Where that distance is a small part of sinh x, the quotient may be nearer still by
//!   2.5 ULP less one.
//! - *Asinh* of x < -1: x + √(x² + 1) is exact (Sterbenz). So an error of the root moves the
//!   logarithm by at least that error, divided by the sum.
//! - *Radians and Degrees*: f is one product of floats.
//!
//! Units are taken at y·(1 ± 2^-14), on the side that is safe. No value in the argument is
//! further from y, or from a or b, where the rule says so. (For Sinh, Tanh and Asinh near zero
//! errors may be greater. They say how they do without.) A factor of a millionth makes up for the
//! errors of 64-bit arithmetic.
//!
//! The correctly rounded result is nearest to y of all floats, and f is one of them. So it is
//! allowed wherever n ULP or a formula is the rule. Fract is itself correctly rounded, as the
//! profile says.
//!
//! A subnormal operand may be flushed, which allows more values. The claims above hold if not every
//! value is allowed at zero either.
//!
//! # Where any value is allowed
//! Any value is allowed for infinities and NaN; outside of the domain; where the exact result is
//! beyond the floats; for sines and cosines beyond π; and where exp|x| is beyond the floats. The
//! same holds for Asinh and Acosh where x² is beyond the floats, and for x ≤ -2^12. There a
//! float no greater than |x| is among the roots of x² + 1, and its sum with x may be zero. A
//! claim that a result is allowed also says that some results are not. So it is made only well
//! within the domain.

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
    /// This float is allowed, and not every float is. The exact result lies in the enclosure.
    Allowed(Enclosure),
    /// Nothing is certain: the set decides.
    Open,
}

/// What is certain of the results of one function under one profile.
#[derive(Clone, Copy, Debug)]
pub struct Certain {
    instruction: Instruction,
    /// The function. `None` for OpFNegate.
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

/// The relative distance from a number within which units are taken.
const NEAR: f64 = 1.0 / 16384.0;
/// The part of a distance that remains after the errors of 64-bit arithmetic.
const SAFE: f64 = 1.0 - 1e-6;

/// A unit at the number or near it: the least of these.
fn least_unit(x: f64) -> f64 {
    ulp(x * (1.0 - NEAR))
}

/// A unit at the number or near it: the greatest of these, and no less than the distance of
/// floats there.
fn greatest_unit(x: f64) -> f64 {
    ulp(x * (1.0 + NEAR))
}

/// A safe distance for Log, at an operand whose exact logarithm is within `margin` of `value`: the
/// error less the distance of floats.
fn logarithm(value: f64, margin: f64) -> f64 {
    let (least, most) = (value.abs() - margin, value.abs() + margin);
    if most < LN_2 { LOG_ERROR - greatest_unit(most + LOG_ERROR) } else { 3.0 * least_unit(least.max(0.0)) - greatest_unit(most) }
}

/// A safe distance for Sqrt, where its exact result is y: the errors of the quotient and of the
/// inverse root.
fn root(y: f64) -> f64 {
    least_unit(1.0 / y) * y * y + 2.5 * least_unit(y) - greatest_unit(y)
}

impl Certain {
    /// For a function of one float. `None` for other instructions.
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

    /// Whether the result is certainly allowed, and some others are not.
    fn allows(&self, function: Glsl, x: f64, exact: Enclosure, result: f32) -> bool {
        let shown = f64::from(result);
        let rounds_to = |direction: Direction| exact.rounded(direction).is_some_and(|rounded| rounded == result);
        match function {
            // Exact: zero or normal for normal operands. A zero may have either sign.
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

    /// A safe distance. `None` unless everything in the rule is known to be bounded.
    fn distance(&self, function: Glsl, x: f64, exact: Enclosure, y: f64) -> Option<f64> {
        let magnitude = x.abs();
        let is_within = |is_certain: bool, distance: f64| is_certain.then_some(distance);
        let nearer = exact.low.abs().min(exact.high.abs());
        // The relative error of a sum of two, rounded once.
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
                // Near zero the difference has no correct digits left. But sinh x is never below x.
                let sine = sine.max(magnitude);
                let off = hyperbolic(magnitude, a, sine, rounding);
                let off = off - ulp(sine + off);
                let own = if off < sine * NEAR / 2.0 { 1.5 * least_unit(y) } else { 0.0 };
                is_within(magnitude < 80.0, off * SAFE / cosine - y.abs() * rounding * 1.5 + own)
            }
            Glsl::Asinh if x > 0.0 => is_within(x < 9e18, logarithm(y, 1.0 / 2_097_152.0)),
            Glsl::Asinh => {
                let square = x * x;
                // The relative effect on the sum of the roundings before the root, and of its own.
                // The logarithm changes by as much.
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

    /// The product for Radians and Degrees, rounded as the profile declares, or to nearest.
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

/// A safe distance for (a ± 1/a)·0.5, where a = exp|x| and the result is about y.
fn hyperbolic(magnitude: f64, a: f64, y: f64, rounding: f64) -> f64 {
    let n = 3.0 + 2.0 * magnitude;
    let off = |v: f64| n * least_unit(v) - greatest_unit(v);
    let both = 0.5 * (off(a) + off(1.0 / a));
    both - (y.abs() + both) * rounding * 1.01
}

/// Functions whose claims near zero hold at zero too. A device may take zero in place of a
/// subnormal operand.
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

/// Whether any value is allowed, as far as the operand alone decides it.
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
