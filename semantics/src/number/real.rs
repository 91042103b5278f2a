//! The three float formats: 16, 32 and 64 bits, each operation rounded once to nearest
//! with ties to even.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A float of one format. `+ - · /` and `sqrt` are correctly rounded. Results that need no
/// rounding are exact.
pub trait Real:
    Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// Bits of an encoding.
    const WIDTH: u8;
    /// Bits of a significand, the leading one counted.
    const PRECISION: u32;
    /// All finite numbers are below 2^this: 16, 128, 1024.
    const MAX_EXPONENT: i32;

    /// The nearest float, ties to even. For a NaN, the quiet NaN without a payload.
    fn of(x: f64) -> Self;
    /// The same number in 64 bits.
    fn wide(self) -> f64;
    /// The float of that encoding, in the low bits.
    fn of_bits(bits: u64) -> Self;
    /// The encoding, in the low bits.
    fn bits(self) -> u64;
    /// The greatest integer not above.
    fn floor(self) -> Self;
    /// The least integer not below.
    fn ceil(self) -> Self;
    /// The integer part.
    fn trunc(self) -> Self;
    /// The nearest integer, a half to the even one.
    fn round_ties_even(self) -> Self;
    /// The magnitude.
    fn abs(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The magnitude with the sign of another float.
    fn copysign(self, sign: Self) -> Self;
    /// x - y·trunc(x/y), exactly; NaN for an infinite x or a zero y.
    fn remainder(self, y: Self) -> Self;
    /// self·a + b, rounded once.
    fn fused(self, a: Self, b: Self) -> Self;

    /// Zero.
    fn zero() -> Self {
        Self::of(0.0)
    }
    /// One.
    fn one() -> Self {
        Self::of(1.0)
    }
    /// Whether this is a NaN.
    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
    }
    /// Whether this is neither infinite nor NaN.
    fn is_finite(self) -> bool {
        self.wide().is_finite()
    }
    /// Whether the sign bit is set.
    fn is_negative(self) -> bool {
        self.bits() >> (Self::WIDTH - 1) & 1 == 1
    }
    /// Any NaN replaced by the quiet NaN without a payload: 0x7e00, 0x7fc00000, 0x7ff8000000000000.
    ///
    /// It compares encodings. A compiler may drop a comparison of floats that only chooses between
    /// two NaNs: after a square root it did.
    #[inline]
    fn canonical(self) -> Self {
        let magnitude = u64::MAX >> (65 - Self::WIDTH);
        let fraction = u64::MAX >> (65 - Self::PRECISION);
        if self.bits() & magnitude > magnitude - fraction { Self::of(f64::NAN) } else { self }
    }
}

impl Real for f32 {
    const WIDTH: u8 = 32;
    const PRECISION: u32 = 24;
    const MAX_EXPONENT: i32 = 128;

    #[inline]
    fn of(x: f64) -> f32 {
        if x.is_nan() { f32::from_bits(0x7fc0_0000) } else { x as f32 }
    }
    #[inline]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline]
    fn of_bits(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
    #[inline]
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
    #[inline]
    fn floor(self) -> f32 {
        self.floor()
    }
    #[inline]
    fn ceil(self) -> f32 {
        self.ceil()
    }
    #[inline]
    fn trunc(self) -> f32 {
        self.trunc()
    }
    #[inline]
    fn round_ties_even(self) -> f32 {
        self.round_ties_even()
    }
    #[inline]
    fn abs(self) -> f32 {
        self.abs()
    }
    #[inline]
    fn sqrt(self) -> f32 {
        self.sqrt()
    }
    #[inline]
    fn copysign(self, sign: f32) -> f32 {
        self.copysign(sign)
    }
    fn remainder(self, y: f32) -> f32 {
        libm::fmodf(self, y)
    }
    fn fused(self, a: f32, b: f32) -> f32 {
        libm::fmaf(self, a, b)
    }
}

impl Real for f64 {
    const WIDTH: u8 = 64;
    const PRECISION: u32 = 53;
    const MAX_EXPONENT: i32 = 1024;

    fn of(x: f64) -> f64 {
        if x.is_nan() { f64::from_bits(0x7ff8_0000_0000_0000) } else { x }
    }
    fn wide(self) -> f64 {
        self
    }
    fn of_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn floor(self) -> f64 {
        self.floor()
    }
    fn ceil(self) -> f64 {
        self.ceil()
    }
    fn trunc(self) -> f64 {
        self.trunc()
    }
    fn round_ties_even(self) -> f64 {
        self.round_ties_even()
    }
    fn abs(self) -> f64 {
        self.abs()
    }
    fn sqrt(self) -> f64 {
        self.sqrt()
    }
    fn copysign(self, sign: f64) -> f64 {
        self.copysign(sign)
    }
    fn remainder(self, y: f64) -> f64 {
        libm::fmod(self, y)
    }
    fn fused(self, a: f64, b: f64) -> f64 {
        libm::fma(self, a, b)
    }
}

/// A 16-bit float, held in 64 bits.
///
/// Sums and products of 16-bit floats are exact in 64 bits. (They are multiples of 2^-48 below
/// 2^33, so 81 bits at most, of which a product has 22 and a sum 41.) For quotients and square
/// roots 53 bits are more than twice 11 and 2. So it is right to round the 64-bit result once more:
/// a result that is not itself halfway between two 16-bit floats is further from there than a
/// 64-bit rounding error.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Half(f64);

/// 2^10: from 2^10·2^e on, floats are spaced by 2^e.
const HALF_STEPS: f64 = 1024.0;

impl Half {
    /// The nearest multiple of the spacing at the number, ties to even. Infinity from 65520 on.
    fn rounded(x: f64) -> f64 {
        let magnitude = x.abs();
        if magnitude >= 65520.0 || x == 0.0 || x.is_nan() {
            return if magnitude >= 65520.0 { f64::INFINITY.copysign(x) } else { x };
        }
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-14);
        let spacing = f64::from_bits(((exponent - 10 + 1023) as u64) << 52);
        (x / spacing).round_ties_even() * spacing
    }
}

impl Real for Half {
    const WIDTH: u8 = 16;
    const PRECISION: u32 = 11;
    const MAX_EXPONENT: i32 = 16;

    fn of(x: f64) -> Half {
        Half(f64::of(Half::rounded(x)))
    }
    fn wide(self) -> f64 {
        self.0
    }
    fn of_bits(bits: u64) -> Half {
        let (exponent, fraction) = (bits >> 10 & 31, (bits & 0x3ff) as f64);
        let magnitude = match exponent {
            0 => fraction / 16_777_216.0,
            31 if fraction == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (fraction + HALF_STEPS) * f64::from_bits((exponent + 1023 - 25) << 52),
        };
        Half(if bits >> 15 & 1 == 1 { -magnitude } else { magnitude })
    }
    fn bits(self) -> u64 {
        if self.0.is_nan() {
            return 0x7e00;
        }
        let sign = u64::from(self.0.is_sign_negative()) << 15;
        let magnitude = self.0.abs();
        let encoded = if magnitude == f64::INFINITY {
            31 << 10
        } else if magnitude < 1.0 / 16384.0 {
            // A subnormal: a whole number of 2^-24.
            (magnitude * 16_777_216.0) as u64
        } else {
            let bits = magnitude.to_bits();
            ((bits >> 52) + 15 - 1023) << 10 | bits >> 42 & 0x3ff
        };
        sign | encoded
    }
    fn floor(self) -> Half {
        Half(self.0.floor())
    }
    fn ceil(self) -> Half {
        Half(self.0.ceil())
    }
    fn trunc(self) -> Half {
        Half(self.0.trunc())
    }
    fn round_ties_even(self) -> Half {
        Half(self.0.round_ties_even())
    }
    fn abs(self) -> Half {
        Half(self.0.abs())
    }
    fn sqrt(self) -> Half {
        Half::of(self.0.sqrt())
    }
    fn copysign(self, sign: Half) -> Half {
        Half(self.0.copysign(sign.0))
    }
    fn remainder(self, y: Half) -> Half {
        Half(libm::fmod(self.0, y.0))
    }
    fn fused(self, a: Half, b: Half) -> Half {
        let product = self.0 * a.0;
        let sum = product + b.0;
        if !sum.is_finite() {
            return Half::of(sum);
        }
        // The exact rounding error of the sum. Then the sum is rounded to odd. Rounding to 11 bits
        // cannot distinguish it from the exact sum.
        let part = sum - product;
        let lost = (product - (sum - part)) + (b.0 - part);
        let odd = if lost == 0.0 || sum.to_bits() & 1 == 1 {
            sum
        } else if (lost > 0.0) == (sum > 0.0) {
            f64::from_bits(sum.to_bits() + 1)
        } else {
            f64::from_bits(sum.to_bits() - 1)
        };
        Half::of(odd)
    }
}

macro_rules! rounded_operators {
    ($($trait:ident $method:ident $operator:tt;)*) => {$(
        impl $trait for Half {
            type Output = Half;

            fn $method(self, other: Half) -> Half {
                Half::of(self.0 $operator other.0)
            }
        }
    )*};
}

rounded_operators! {
    Add add +;
    Sub sub -;
    Mul mul *;
    Div div /;
}

impl Neg for Half {
    type Output = Half;

    fn neg(self) -> Half {
        Half(-self.0)
    }
}
