//! The mathematical reference: for every float function of SPIR-V, where its infinitely precise
//! result lies.
//!
//! Operands are taken as the exact numbers that they are; the result is a real number x, of which
//! [`enclose`] gives two 64-bit floats around it. From there [`rounded`] has the correctly rounded
//! 32-bit float in any direction.
//!
//! - **What each function is.** The function of the reals that SPIR-V (§3.3.13) and GLSL.std.450
//!   name: FMod is x - y·floor(x/y), FRem x - y·trunc(x/y), Fract x - floor(x), FMix x·(1 - a) +
//!   y·a, SmoothStep t²·(3 - 2t), Radians and Degrees x·π/180 and x·180/π with π itself, Fma a·b +
//!   c, without a rounding anywhere. Round takes a half to the even integer; that it may go the
//!   other way is a matter of the rule.
//! - **Infinities.** An infinite operand stands for the limit if there is one (exp(-∞) is 0, x/∞ is
//!   0), and [`Exact::Undefined`] is the answer if there is none (sin ∞, ∞ - ∞, 0·∞). A pole gives
//!   the infinity on which IEEE 754 settles: log 0 is -∞, 1/-0 is -∞, 1/√0 is +∞. A NaN operand
//!   gives `Undefined`, but for NMin, NMax and NClamp, whose meaning says what to do with it.
//! - **Outside of the domain** the answer is `Undefined`: what GLSL.std.450 calls undefined, pow of
//!   a negative base, or of zero to a power not positive, atan2(0, 0), FClamp with its bounds
//!   exchanged and SmoothStep with edge0 ≥ edge1 included.
//! - **Zeros.** A result of zero has the sign that IEEE 754 gives it in rounding to nearest; of two
//!   zeros FMin and FMax give the first.
//!
//! | module | what it holds |
//! |---|---|
//! | `function` | the functions, by their instruction |
//! | `known` | what needs no computation: domains, limits, exact values, extreme arguments |
//! | `fast` | 64-bit arithmetic: error-free where the function is rational, else `libm` |
//! | `tight` | high precision |
//! | `vector` | functions of vectors and matrices, exactly |
//! | `direction` | from 64 bits to 32 in a direction |
//!
//! # The bound of the fast enclosure
//! `libm` is a translation of musl's and FreeBSD's `msun`, and the same on every platform. The
//! errors that their authors state, in units of the last place of the result: sin, cos, tan, asin,
//! acos, atan, atan2, exp, log, log2, log10 and pow below 1, exp2 below 0.51, asinh 1.6, atanh 1.7,
//! acosh and tanh 2, and cosh and sinh, from expm1 and exp, below 2.5. The enclosure reaches
//! [`STEPS`] = 8 floats to either side; below a power of two, where floats are twice as dense, that
//! is still 4 such units. It costs nothing to be generous: 16 floats of 64 bits out of the 2^29
//! between two of 32 leave one result in 2^25 in doubt. The tests compare with high precision for
//! every function.
//!
//! # The high-precision library
//! `dashu-float`: pure Rust without `unsafe` of ours, maintained, and the one library there whose
//! functions carry a rigorous error radius through every operation (ball arithmetic) and repeat
//! with more digits until rounding is certain; its authors test it against MPFR. `astro-float`
//! promises correct rounding too, but stops at heuristic error estimates, and rounds precision up
//! to words. It is the second opinion in the tests: the two share no code. Nothing here rests on
//! dashu's last digits: `tight` takes its results to be wrong by up to 2^40 units in the last
//! place, and asks again with twice the digits wherever that leaves a doubt.

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

/// Where the infinitely precise result lies: between the two ends, in the closed interval.
///
/// The ends are equal exactly where the result is known to be that one 64-bit float. Where they are
/// neighbours, the result is strictly between them. They are never NaN, `low ≤ high`, and an end is
/// infinite either because the result is (both ends are that infinity) or because a finite result
/// lies beyond `f64::MAX`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosure {
    /// Not above the result.
    pub low: f64,
    /// Not below the result.
    pub high: f64,
}

/// What the reference says of a function at some operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exact {
    /// The result is a number, or one infinity.
    Within(Enclosure),
    /// There is none: an operand is outside of the domain, or NaN, or infinite without a limit.
    Undefined,
}

/// A correctly rounded 32-bit result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rounded {
    /// The float; never NaN.
    Value(f32),
    /// There is none, as in [`Exact::Undefined`].
    Undefined,
}

impl Enclosure {
    /// Exactly this float.
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

    /// The 32-bit float to which every number of the enclosure rounds in that direction; none if
    /// they differ.
    #[inline]
    pub fn rounded(self, direction: Direction) -> Option<f32> {
        self.rounded_by(|x| direction.round(x))
    }

    /// The same by a rounding to any format of at most 51 bits of significand, in one direction.
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

    /// Of two neighbours the one whose last bit is set, which rounds to any shorter format in any
    /// direction as all numbers strictly between the two do: 53 bits are two more than the
    /// format's, or more, and so every number at which rounding changes is a float with an even
    /// last bit. The float itself for a point.
    #[inline]
    pub(super) fn sticky(self) -> f64 {
        if self.low.to_bits() & 1 == 1 || self.is_point() { self.low } else { self.high }
    }

    /// Strictly between the float and the next one away from zero.
    fn beyond(x: f64) -> Enclosure {
        if x.is_sign_negative() { Enclosure { low: x.next_down(), high: x } } else { Enclosure { low: x, high: x.next_up() } }
    }

    /// Strictly between the float, which is not zero, and the next one toward zero.
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

/// The infinitely precise result of a function of scalars, in 64-bit arithmetic:
/// some tens of nanoseconds.
///
/// Where the operands are 32-bit floats, the enclosure's relative width is at most 2^-45, unless
/// the result is below 2^-1000 in magnitude or beyond `f64::MAX`. For Ldexp the second operand is
/// an integer. `None` if the instruction is no function in [`FUNCTIONS`] of so many operands.
#[inline]
pub fn enclose(function: Instruction, args: &[f64]) -> Option<Exact> {
    Some(fast::enclose(function_of(function, args.len())?, args))
}

/// The same from high precision, as tight as 64-bit floats can say it: one float if the result is
/// that, otherwise the two neighbours around it. From some microseconds to some hundreds.
pub fn enclose_tightly(function: Instruction, args: &[f64]) -> Option<Exact> {
    Some(tight::enclose(function_of(function, args.len())?, args))
}

/// The correctly rounded 32-bit result, subnormal ones included: that of the fast enclosure where
/// all of it rounds alike, and of the tight one otherwise.
///
/// From the largest float on, `Down` and `TowardZero` give that float and `Up` infinity, as IEEE
/// 754 has it; exact infinities stay.
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

/// The correctly rounded logarithm to base 10, which no instruction of SPIR-V is: -∞ of zeros, none
/// of NaN and negative numbers.
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

/// The float of 16 or 32 bits nearest to a function's result, ties to even, from what the crate
/// `libm` computed of it. Outside of the domain, and in 64 bits, it is what that is.
#[inline]
pub(super) fn settled<R: Real>(op: Op, computed: f64, args: &[f64]) -> R {
    let nearest = R::of(computed);
    if R::PRECISION == f64::PRECISION || !computed.is_finite() {
        return nearest;
    }
    let Enclosure { low, high } = fast::around(computed);
    if R::of(low) == R::of(high) { nearest } else { settled_tightly(op, nearest, args) }
}

#[cold]
fn settled_tightly<R: Real>(op: Op, nearest: R, args: &[f64]) -> R {
    match function_of(op.instruction(), args.len()).map(|function| tight::enclose(function, args)) {
        Some(Exact::Within(enclosure)) => R::of(enclosure.sticky()),
        _ => nearest,
    }
}
