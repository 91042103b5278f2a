//! Enclosures from high precision: one float if the result is a float, otherwise two neighbours.
//!
//! Sums, products, quotients and roots are compared exactly with candidate floats, in numbers of as
//! many digits as it takes. The other functions are irrational at every operand that `known` and
//! `exact_power` leave over (Lindemann and Weierstrass for exp, log, the circular and hyperbolic
//! functions and their inverses; unique factorization for exp2, log2, roots and powers). So enough
//! digits separate their results from every float.

use super::function::Function;
use super::known::known;
use super::{Enclosure, Exact};
use dashu_float::math::FpResult;
use dashu_float::round::mode::HalfEven;
use dashu_float::{ConstCache, Context, FBig};
use std::cell::RefCell;
use std::cmp::Ordering;

pub(super) type Big = FBig<HalfEven, 2>;

/// Digits of the first attempt.
pub(super) const DIGITS: usize = 128;
/// Digits by which a result may be wrong. The library's own claim is less than one.
const GUARD: isize = 40;
/// The most digits. That is far more than the closest known approach of any function here to a
/// 64-bit float needs.
const MOST_DIGITS: usize = 1 << 14;

thread_local! {
    static CONSTANTS: RefCell<ConstCache> = const { RefCell::new(ConstCache::new()) };
}

pub(super) fn enclose(function: Function, args: &[f64]) -> Exact {
    known(function, args).unwrap_or_else(|| computed(function, args).into())
}

/// The tight enclosure as one float. It rounds to fewer digits, in every direction, as the exact
/// result does. NaN if there is no result.
pub(super) fn sticky(function: Function, args: &[f64]) -> f64 {
    match enclose(function, args) {
        Exact::Within(enclosure) => enclosure.sticky(),
        Exact::Undefined => f64::NAN,
    }
}

/// An exact number without a limit on its digits.
pub(super) fn big(x: f64) -> Big {
    Big::try_from(x).expect("a finite float").with_precision(0).value()
}

/// The float that equals a number, or the neighbours around the number. The search starts at a
/// candidate near the number; `order(c)` compares the number with c.
pub(super) fn bracket(candidate: f64, order: impl Fn(f64) -> Ordering) -> Enclosure {
    let mut candidate = candidate.clamp(f64::MIN, f64::MAX);
    match order(candidate) {
        Ordering::Equal => Enclosure::point(candidate),
        Ordering::Greater => loop {
            let next = candidate.next_up();
            if next.is_infinite() {
                return Enclosure { low: candidate, high: next };
            }
            match order(next) {
                Ordering::Equal => return Enclosure::point(next),
                Ordering::Less => return Enclosure { low: candidate, high: next },
                Ordering::Greater => candidate = next,
            }
        },
        Ordering::Less => loop {
            let next = candidate.next_down();
            if next.is_infinite() {
                return Enclosure { low: next, high: candidate };
            }
            match order(next) {
                Ordering::Equal => return Enclosure::point(next),
                Ordering::Greater => return Enclosure { low: next, high: candidate },
                Ordering::Less => candidate = next,
            }
        },
    }
}

/// The enclosure of a number with any number of digits.
pub(super) fn around(x: &Big) -> Enclosure {
    bracket(x.to_f64().value(), |candidate| x.cmp(&big(candidate)))
}

/// The enclosure of a quotient of such numbers. The divisor is positive.
pub(super) fn around_quotient(dividend: &Big, divisor: &Big) -> Enclosure {
    let precise = Context::<HalfEven>::new(DIGITS);
    let quotient = value(precise.div(dividend.repr(), divisor.repr()));
    bracket(quotient.to_f64().value(), |candidate| dividend.cmp(&(divisor * big(candidate))))
}

pub(super) fn value(result: FpResult<Big>) -> Big {
    result.expect("finite operands within the domain").value()
}

fn computed(function: Function, args: &[f64]) -> Enclosure {
    use Function::*;
    match (function, args) {
        (Fract, &[x]) => around(&(big(x) - big(x.floor()))),
        (FAdd, &[x, y]) => around(&(big(x) + big(y))),
        (FSub, &[x, y]) => around(&(big(x) - big(y))),
        (FMul, &[x, y]) => around(&(big(x) * big(y))),
        (FDiv, &[x, y]) => around_quotient(&(big(x) * big(1f64.copysign(y))), &big(y.abs())),
        (FMod, &[x, y]) => {
            // The remainder of the division is exact in 64 bits.
            let remainder = libm::fmod(x, y);
            if remainder == 0.0 {
                Enclosure::point(0f64.copysign(y))
            } else if (remainder < 0.0) == (y < 0.0) {
                Enclosure::point(remainder)
            } else {
                around(&(big(remainder) + big(y)))
            }
        }
        (Sqrt, &[x]) => bracket(x.sqrt(), |candidate| big(x).cmp(&(big(candidate) * big(candidate)))),
        (FMix, &[x, y, a]) => around(&(big(x) * (big(1.0) - big(a)) + big(y) * big(a))),
        (Fma, &[x, y, z]) => around(&(big(x) * big(y) + big(z))),
        (SmoothStep, &[edge0, edge1, x]) => {
            let (part, whole) = (big(x) - big(edge0), big(edge1) - big(edge0));
            let three_minus_two = big(3.0) * &whole - big(2.0) * &part;
            around_quotient(&(&part * &part * three_minus_two), &(&whole * &whole * &whole))
        }
        (Pow, &[x, y]) => exact_power(x, y).unwrap_or_else(|| irrational(function, args)),
        _ => irrational(function, args),
    }
}

fn irrational(function: Function, args: &[f64]) -> Enclosure {
    approached(|digits, constants| approximation(function, args, digits, constants))
}

/// The logarithm to base 10 of a positive, finite number. It is a whole number at 1, 10, …, 10^22,
/// and irrational at every other float. A rational logarithm p/q would make the float 10^(p/q),
/// whose powers of 2 and 5 are whole only if p/q is. And a float with more than 22 factors of 5 has
/// no room for them.
pub(super) fn log10(x: f64) -> Enclosure {
    let power = libm::log10(x).round();
    if (0.0..=22.0).contains(&power) && x == 10f64.powi(power as i32) {
        return Enclosure::point(power);
    }
    approached(|digits, constants| {
        let precise = Context::<HalfEven>::new(digits);
        let [logarithm, base] = [x, 10.0].map(|x| value(precise.ln(big(x).repr(), Some(constants))));
        value(precise.div(logarithm.repr(), base.repr()))
    })
}

/// Takes more and more digits until the bounds of an irrational result lie between two
/// neighbouring floats.
fn approached(approximation: impl Fn(usize, &mut ConstCache) -> Big) -> Enclosure {
    let mut digits = DIGITS;
    loop {
        let result = CONSTANTS.with_borrow_mut(|constants| approximation(digits, constants));
        let error = Big::from_parts(result.repr().significand().clone(), result.repr().exponent() - (digits as isize - GUARD));
        let result = result.with_precision(0).value();
        let error = if error < Big::ZERO { -error } else { error }.with_precision(0).value();
        let (low, high) = (around(&(&result - &error)), around(&(&result + &error)));
        let enclosure = Enclosure { low: low.low, high: high.high };
        if low == high && !low.is_point() || digits >= MOST_DIGITS {
            return enclosure;
        }
        digits *= 2;
    }
}

/// The function with a relative error of at most 2^(GUARD - digits).
fn approximation(function: Function, args: &[f64], digits: usize, constants: &mut ConstCache) -> Big {
    use Function::*;
    let precise = Context::<HalfEven>::new(digits);
    let first = big(args[0]);
    let x = first.repr();
    value(match function {
        Sin => precise.sin(x, Some(constants)),
        Cos => precise.cos(x, Some(constants)),
        Tan => precise.tan(x, Some(constants)),
        Asin => precise.asin(x, Some(constants)),
        Acos => precise.acos(x, Some(constants)),
        Atan => precise.atan(x, Some(constants)),
        Sinh => precise.sinh(x, Some(constants)),
        Cosh => precise.cosh(x, Some(constants)),
        Tanh => precise.tanh(x, Some(constants)),
        Asinh => precise.asinh(x, Some(constants)),
        Acosh => precise.acosh(x, Some(constants)),
        Atanh => precise.atanh(x, Some(constants)),
        Exp => precise.exp(x, Some(constants)),
        Log => precise.ln(x, Some(constants)),
        Log2 => precise.log2(x, Some(constants)),
        Atan2 => precise.atan2(x, big(args[1]).repr(), Some(constants)),
        InverseSqrt => {
            let root = value(precise.sqrt(x));
            precise.div(Big::ONE.repr(), root.repr())
        }
        Radians | Degrees => {
            let pi = precise.pi::<2>(Some(constants)).value();
            let half_turn = big(180.0);
            if function == Radians {
                precise.div(value(precise.mul(x, pi.repr())).repr(), half_turn.repr())
            } else {
                precise.div(value(precise.mul(x, half_turn.repr())).repr(), pi.repr())
            }
        }
        // The exponent is below 2^11, so its absolute error is up to 2^11 times the relative one.
        Exp2 | Pow => {
            let logarithm = if function == Exp2 { constants.ln2(digits) } else { value(precise.ln(x, Some(constants))) };
            let factor = if function == Exp2 { first } else { big(args[1]) };
            let exponent = value(precise.mul(logarithm.repr(), factor.repr()));
            precise.exp(exponent.repr(), Some(constants))
        }
        _ => unreachable!("{function:?} is rational"),
    })
}

/// x^y for a positive x that is not 1 and a y that is neither 0 nor 1. `None` unless the power is a
/// binary fraction of 53 digits or fewer, or a power of two.
pub(super) fn exact_power(x: f64, y: f64) -> Option<Enclosure> {
    let (mut significand, mut exponent) = odd_part(x);
    let (power, scale) = odd_part(y.abs());
    if significand == 1 {
        // 2^(exponent·y), which is a whole exponent or irrational.
        let exponent = f64::from(exponent) * y;
        return (exponent == exponent.trunc()).then(|| around(&power_of_two(exponent)));
    }
    if y < 0.0 {
        return None;
    }
    // First one square root for each factor 1/2 of y.
    for _ in scale..0 {
        let root = (significand as f64).sqrt() as u64;
        if root * root != significand || exponent % 2 != 0 {
            return None;
        }
        (significand, exponent) = (root, exponent / 2);
    }
    // A significand is at least 3, and 3^34 has more than 53 digits.
    let power = u32::try_from(power.checked_shl(scale.clamp(0, 40) as u32)?).ok().filter(|&power| power <= 33)?;
    let significand = significand.checked_pow(power).filter(|&significand| significand < 1 << 53)?;
    Some(around(&(big(significand as f64) * power_of_two(f64::from(exponent) * f64::from(power)))))
}

/// 2^exponent. An exponent far out of the range of floats is clamped to another one out of
/// the range.
fn power_of_two(exponent: f64) -> Big {
    Big::from_parts(1.into(), exponent.clamp(-4000.0, 4000.0) as isize).with_precision(0).value()
}

/// A positive float as an odd number, and the exponent of the power of two that multiplies it.
fn odd_part(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let (significand, exponent) = match (bits >> 52) as i32 {
        0 => (bits, -1074),
        biased => (bits & ((1 << 52) - 1) | 1 << 52, biased - 1075),
    };
    let zeros = significand.trailing_zeros();
    (significand >> zeros, exponent + zeros as i32)
}
