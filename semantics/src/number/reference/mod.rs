//! The mathematical reference: the bounds of the infinitely precise result, for every float
//! function of SPIR-V.
//!
//! Operands are the exact numbers that they encode. The result is a real number x, and [`enclose`]
//! returns two 64-bit floats around it. From there [`rounded`] returns the correctly rounded 32-bit
//! float in any direction.
//!
//! - **The functions** are those of the reals that SPIR-V (§3.3.13) and GLSL.std.450 name, without
//!   a rounding anywhere: FMod is x - y·floor(x/y), FRem x - y·trunc(x/y), Fract x - floor(x),
//!   FMix x·(1 - a) + y·a, SmoothStep t²·(3 - 2t), Radians and Degrees x·π/180 and x·180/π
//!   with π itself, Fma a·b + c. Round takes a half to the even integer. The rule says that it
//!   may go the other way.
//! - **Infinities.** An infinite operand stands for the limit if there is one (exp(-∞) is 0,
//!   x/∞ is 0). If there is none, the answer is [`Exact::Undefined`] (sin ∞, ∞ - ∞,
//!   0·∞). A pole gives the infinity that IEEE 754 gives: log 0 is -∞, 1/-0 is -∞, 1/√0
//!   is +∞. A NaN operand gives `Undefined`, except for NMin, NMax and NClamp, whose meaning
//!   covers NaN.
//! - **Outside of the domain** the answer is `Undefined`: whatever GLSL.std.450 calls undefined.
//!   This includes pow of a negative base, or of zero to a power that is not positive, atan2(0, 0),
//!   FClamp with exchanged bounds, and SmoothStep with edge0 ≥ edge1.
//! - **Zeros.** A result of zero has the sign that IEEE 754 gives it in rounding to nearest. Of two
//!   zeros FMin and FMax give the first.
//!
//! | module | contents |
//! |---|---|
//! | `function` | the functions, by their instruction |
//! | `known` | results that need no computation: domains, limits, exact values, extreme arguments |
//! | `fast` | 64-bit arithmetic: error-free where the function is rational, otherwise `libm` |
//! | `tight` | high precision |
//! | `vector` | functions of vectors and matrices, exactly |
//! | `direction` | rounding from 64 bits to 32 in a direction |
//!
//! # The bound of the fast enclosure
//! `libm` is a translation of musl's and FreeBSD's `msun`, and the same on every platform. The
//! authors state these errors, in units of the last place of the result: sin, cos, tan, asin,
//! acos, atan, atan2, exp, log, log2, log10 and pow below 1, exp2 below 0.51, asinh 1.6, atanh
//! 1.7, acosh and tanh 2, and cosh and sinh, from expm1 and exp, below 2.5. The enclosure reaches
//! [`STEPS`] = 8 floats to either side. Below a power of two, where floats are twice as dense,
//! that is still 4 such units. A generous enclosure costs nothing: 16 floats of 64 bits, out of
//! the 2^29 between two of 32 bits, leave one result in 2^25 in doubt. The tests compare every
//! function with high precision.
//!
//! # The high-precision library
//! `dashu-float` is pure Rust without `unsafe` of ours, and maintained. It is the one such library
//! whose functions carry a rigorous error radius through every operation (ball arithmetic), and
//! repeat with more digits until rounding is certain. Its authors test it against MPFR.
//! `astro-float` promises correct rounding too, but stops at heuristic error estimates, and rounds
//! precision up to words. It is the second opinion in the tests: the two share no code. Nothing
//! here depends on dashu's last digits. `tight` assumes that its results are wrong by up to 2^40
//! units in the last place, and asks again with twice the digits wherever that leaves a doubt.

mod direction;
mod fast;
mod function;
mod known;
mod tight;
mod vector;

pub use direction::Direction;
pub use fast::STEPS;
pub use function::FUNCTIONS;
pub use vector::{Operand, enclose_vector};

use super::{Instruction, Op, Real};
use function::Function;

/// Bounds of the infinitely precise result, which lies in the closed interval between the two ends.
///
/// The ends are equal exactly if the result is known to be that one 64-bit float. If they are
/// neighbours, the result is strictly between them. They are never NaN, and `low ≤ high`. An end
/// is infinite either because the result is (both ends are that infinity), or because a finite
/// result lies beyond `f64::MAX`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosure {
    /// Not above the result.
    pub low: f64,
    /// Not below the result.
    pub high: f64,
}

/// The reference's answer for a function at some operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exact {
    /// The result is a number, or one infinity.
    Within(Enclosure),
    /// There is no result: an operand is outside of the domain, or NaN, or infinite without
    /// a limit.
    Undefined,
}

/// A correctly rounded 32-bit result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rounded {
    /// The float; never NaN.
    Value(f32),
    /// There is no result, as in [`Exact::Undefined`].
    Undefined,
}

impl Enclosure {
    /// The enclosure of exactly this float.
    #[inline]
    pub fn point(x: f64) -> Enclosure {
        Enclosure { low: x, high: x }
    }

    /// Whether the result is known exactly.
    #[inline]
    pub fn is_point(self) -> bool {
        self.low == self.high
    }

    /// Whether the number lies in the closed interval.
    #[inline]
    pub fn contains(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// (high - low) / |the end nearer to zero|; 0 for a point, infinite if zero or
    /// infinity is an end.
    pub fn relative_width(self) -> f64 {
        if self.is_point() {
            return 0.0;
        }
        let width = (self.high - self.low) / self.low.abs().min(self.high.abs());
        if width.is_nan() { f64::INFINITY } else { width }
    }

    /// The 32-bit float to which every number of the enclosure rounds in that direction. `None` if
    /// they differ.
    #[inline]
    pub fn rounded(self, direction: Direction) -> Option<f32> {
        self.rounded_by(|x| direction.round(x))
    }

    /// [`Enclosure::rounded`] to any format of at most 51 bits of significand, in one direction.
    #[inline]
    pub(super) fn rounded_by<T: PartialEq>(self, round: impl Fn(f64) -> T) -> Option<T> {
        if self.low == self.high {
            return Some(round(self.low));
        }
        if self.low.next_up() == self.high {
            return Some(round(self.sticky()));
        }
        let (low, high) = (round(self.low), round(self.high));
        (low == high).then_some(low)
    }

    /// For two neighbours, the one whose last bit is set. It rounds to any shorter format in any
    /// direction as all numbers strictly between the two do: 53 bits are at least two more than the
    /// format has, so every number at which rounding changes is a float with an even last bit. For
    /// a point, the float itself.
    #[inline]
    pub(super) fn sticky(self) -> f64 {
        if self.low.to_bits() & 1 == 1 || self.is_point() { self.low } else { self.high }
    }

    /// The numbers strictly between the float and the next one away from zero.
    fn beyond(x: f64) -> Enclosure {
        if x.is_sign_negative() { Enclosure { low: x.next_down(), high: x } } else { Enclosure { low: x, high: x.next_up() } }
    }

    /// The numbers strictly between the float, which is not zero, and the next one toward zero.
    fn before(x: f64) -> Enclosure {
        if x.is_sign_negative() { Enclosure { low: x, high: x.next_up() } } else { Enclosure { low: x.next_down(), high: x } }
    }
}

impl From<Enclosure> for Exact {
    fn from(enclosure: Enclosure) -> Exact {
        Exact::Within(enclosure)
    }
}

fn function_of(instruction: Instruction, operands: usize) -> Option<Function> {
    Function::of(instruction).filter(|function| function.arity() == operands)
}

/// The infinitely precise result of a function of scalars, in 64-bit arithmetic: some tens
/// of nanoseconds.
///
/// If the operands are 32-bit floats, the enclosure's relative width is at most 2^-45, unless the
/// result is below 2^-1000 in magnitude or beyond `f64::MAX`. The second operand of Ldexp is an
/// integer. `None` if the instruction is no function in [`FUNCTIONS`] with this number of operands.
#[inline]
pub fn enclose(function: Instruction, args: &[f64]) -> Option<Exact> {
    Some(fast::enclose(function_of(function, args.len())?, args))
}

/// [`enclose`] from high precision, as tight as 64-bit floats allow: one float if the result is
/// that float, otherwise the two neighbours around it. From some microseconds to some hundreds.
pub fn enclose_tightly(function: Instruction, args: &[f64]) -> Option<Exact> {
    Some(tight::enclose(function_of(function, args.len())?, args))
}

/// The correctly rounded 32-bit result, including subnormal results. It comes from the fast
/// enclosure if all of that rounds to one float, and otherwise from the tight one.
///
/// From the largest float on, `Down` and `TowardZero` give that float and `Up` infinity, according
/// to IEEE 754. Exact infinities stay.
#[inline]
pub fn rounded(function: Instruction, args: &[f32], direction: Direction) -> Option<Rounded> {
    let function = function_of(function, args.len())?;
    let mut wide = [0.0; 3];
    for (wide, &narrow) in wide.iter_mut().zip(args) {
        *wide = f64::from(narrow);
    }
    let wide = &wide[..args.len()];
    Some(match fast::enclose(function, wide) {
        Exact::Undefined => Rounded::Undefined,
        Exact::Within(enclosure) => match enclosure.rounded(direction) {
            Some(value) => Rounded::Value(value),
            None => Rounded::Value(direction.round(tight::sticky(function, wide))),
        },
    })
}

/// The correctly rounded logarithm to base 10, for which SPIR-V has no instruction: -∞ for zeros,
/// `Undefined` for NaN and negative numbers.
pub fn log10(x: f32, direction: Direction) -> Rounded {
    let wide = f64::from(x);
    if x.is_nan() || x < 0.0 {
        Rounded::Undefined
    } else if x == 0.0 || x.is_infinite() {
        Rounded::Value(if x == 0.0 { f32::NEG_INFINITY } else { x })
    } else {
        let fast = fast::around(libm::log10(wide));
        Rounded::Value(fast.rounded(direction).unwrap_or_else(|| direction.round(tight::log10(wide).sticky())))
    }
}

/// The float of 16 or 32 bits nearest to a function's result, ties to even, from `computed`, which
/// is `libm`'s result. Outside of the domain, and in 64 bits, it is that result in the format.
#[inline]
pub(super) fn correctly_rounded<R: Real>(op: Op, computed: f64, args: &[f64]) -> R {
    let nearest = R::of(computed);
    if R::PRECISION == f64::PRECISION || !computed.is_finite() {
        return nearest;
    }
    let Enclosure { low, high } = fast::around(computed);
    if R::of(low) == R::of(high) { nearest } else { tightly_rounded(op, nearest, args) }
}

#[cold]
fn tightly_rounded<R: Real>(op: Op, nearest: R, args: &[f64]) -> R {
    match function_of(op.instruction(), args.len()).map(|function| tight::enclose(function, args)) {
        Some(Exact::Within(enclosure)) => R::of(enclosure.sticky()),
        _ => nearest,
    }
}
