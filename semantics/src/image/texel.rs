//! Components of texels: Vulkan, Fixed-Point Data Conversion, Floating-Point Format Conversions and
//! Texel Output Format Conversion.

use smallvec::{SmallVec, smallvec};

use super::{Format, Numeric, Rules};
use crate::number::integer::{mask, signed};
use crate::number::sets::{Set, Span};
use crate::number::{Half, Interval, Real};
use crate::undefined::Unspecified;

/// A texel as a shader sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texel {
    /// The components by their bits: 32-bit floats, or integers if the format's are. Meaningless
    /// where undefined.
    pub bits: [u32; 4],
    /// The numbers that a device may have instead.
    pub allowed: [Interval; 4],
    /// The undefined components, and why they are.
    pub undefined: [Option<Unspecified>; 4],
}

/// The codes that a device may store for a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Codes {
    /// The preferred code: rounded to nearest, ties to even.
    pub best: u64,
    /// Other allowed codes.
    pub others: SmallVec<[u64; 3]>,
    /// The bits of a float format of which all NaNs are allowed, or 0.
    pub nan: u8,
    /// Why all codes are allowed, if they are.
    pub any: Option<Unspecified>,
}

impl Codes {
    fn one(best: u64) -> Codes {
        Codes { best, others: SmallVec::new(), nan: 0, any: None }
    }

    /// Whether a device may store this code.
    pub fn admits(&self, code: u64) -> bool {
        let is_nan = match self.nan {
            16 => code & 0x7fff > 0x7c00,
            32 => code & 0x7fff_ffff > 0x7f80_0000,
            _ => false,
        };
        self.any.is_some() || is_nan || code == self.best || self.others.contains(&code)
    }

    /// Whether both may be the codes of the same floats: of sets that are [alike](Set::is_alike).
    pub fn is_alike(&self, other: &Codes) -> bool {
        let sorted = |codes: &Codes| {
            let mut all: SmallVec<[u64; 16]> = codes.others.iter().copied().chain([codes.best]).collect();
            all.sort_unstable();
            all
        };
        let [one, another] = [self, other].map(sorted);
        let is_full = |codes: &[u64]| 1 + codes.windows(2).filter(|pair| pair[1] - pair[0] > 1).count() >= Set::SPANS;
        let ends = |codes: &[u64]| codes.first().copied().zip(codes.last().copied());
        let full = is_full(&one) && is_full(&another) && ends(&one) == ends(&another);
        self == other || full && (self.best, self.nan, self.any) == (other.best, other.nan, other.any)
    }

    /// Whether all devices store the same code.
    pub fn is_exact(&self) -> bool {
        self.any.is_none() && self.nan == 0 && self.others.is_empty()
    }
}

/// The number of steps from 0 to 1: 2^b - 1, or 2^(b-1) - 1 if signed.
fn scale(numeric: Numeric, width: u8) -> f64 {
    mask(if numeric == Numeric::Snorm { width - 1 } else { width }) as f64
}

/// The number that a code stands for: c/(2^b - 1), max(c/(2^(b-1) - 1), -1), or the integer or
/// float itself. Quotients are rounded to 64 bits. No 32-bit rounding can distinguish these from
/// the exact ones.
pub fn unpack(numeric: Numeric, width: u8, code: u64) -> f64 {
    match numeric {
        Numeric::Unorm => code as f64 / scale(numeric, width),
        Numeric::Snorm => (signed(width, code) as f64 / scale(numeric, width)).max(-1.0),
        Numeric::Uint => code as f64,
        Numeric::Sint => signed(width, code) as f64,
        Numeric::Float if width == 16 => Half::of_bits(code).wide(),
        Numeric::Float => f64::from(f32::from_bits(code as u32)),
    }
}

/// The error of a normalized component: four units in the last place of 1 in 32 bits.
pub(super) const NORMALIZED_ERROR: f64 = 1.0 / (1 << 22) as f64;

/// The numbers that a shader may see for a code.
///
/// The specification's quotient is a real number without a bound on its rounding. 2^-22 is allowed,
/// since devices multiply and sum. -1, 0 and 1 are exact. A subnormal float may be flushed.
pub fn unpack_allowed(numeric: Numeric, width: u8, code: u64) -> Interval {
    let exact = unpack(numeric, width, code);
    match numeric {
        Numeric::Uint | Numeric::Sint => Interval::point(exact),
        Numeric::Unorm | Numeric::Snorm if exact == 0.0 || exact.abs() == 1.0 => Interval::point(exact),
        Numeric::Unorm | Numeric::Snorm => Interval::point(exact).widened(NORMALIZED_ERROR),
        Numeric::Float => {
            let least = if width == 16 { 1.0 / 16384.0 } else { f64::from(f32::MIN_POSITIVE) };
            let point = Interval::point(exact);
            if exact.abs() < least { point.hull(Interval::point(0.0)) } else { point }
        }
    }
}

/// The greatest distance of a normalized component from the stored number, in units of its code.
///
/// Vulkan says that a device should round to the nearest integer and may take the other neighbour.
/// Direct3D requires 0.6 units. We assume this of all devices, since none is known that rounds 15.3
/// up.
pub const CONVERSION: f64 = 0.6;

/// The codes that a component given by its bits may be stored as, in so many bits.
///
/// - Normalized: the integer closest to the product of the clamped number, or the other neighbour
///   if that is within [`CONVERSION`] of it. A NaN: any code.
/// - Integers that the format holds are kept; of others any code, the low bits by default.
/// - 16-bit floats: one of the two closest, beyond the greatest finite one that or an infinity;
///   subnormals may be flushed. A NaN: any NaN.
pub fn pack(numeric: Numeric, width: u8, bits: u32) -> Codes {
    let Some([best]) = nearest(numeric, width, [bits]) else {
        let best = if numeric.is_integer() { u64::from(bits) & mask(width) } else { 0 };
        return Codes { any: Some(Unspecified::ImageConversion), ..Codes::one(best) };
    };
    let number = f64::from(f32::from_bits(bits));
    match numeric {
        Numeric::Unorm | Numeric::Snorm => {
            // 24 bits times 16 are exact.
            let product = number.clamp(low(numeric), 1.0) * scale(numeric, width);
            // The two whole numbers around the product, without calls of floor and ceil.
            let whole = product as i64 as f64;
            let within = |x: &f64| code_of(width, *x) != best && (x - product).abs() <= CONVERSION;
            let others = [whole, whole + (product - whole).signum()].into_iter().filter(within).map(|x| code_of(width, x)).collect();
            Codes { others, ..Codes::one(best) }
        }
        Numeric::Uint | Numeric::Sint => Codes::one(best),
        Numeric::Float if number.is_nan() => Codes { nan: width, ..Codes::one(best) },
        Numeric::Float if width == 32 => {
            let flushed = number != 0.0 && number.abs() < f64::from(f32::MIN_POSITIVE);
            Codes { others: if flushed { smallvec![0, 1 << 31] } else { SmallVec::new() }, ..Codes::one(best) }
        }
        Numeric::Float => {
            let sign = u64::from(bits >> 31) << 15;
            let mut others = SmallVec::new();
            let nearest = Half::of_bits(best).wide();
            if nearest != number {
                // Magnitudes are in the order of codes; the greatest finite one
                // and infinity are neighbours.
                others.push(if nearest.abs() > number.abs() { best - 1 } else { best + 1 });
            }
            if number != 0.0 && number.abs() < 1.0 / 16384.0 {
                others.extend([sign, sign ^ 1 << 15]);
                others.retain(|code| *code != best);
                others.sort_unstable();
                others.dedup();
            }
            Codes { others, ..Codes::one(best) }
        }
    }
}

/// The preferred codes of several components, as [`pack`] has them. `None` if one of them may have
/// any code.
#[inline]
pub fn nearest<const N: usize>(numeric: Numeric, width: u8, bits: [u32; N]) -> Option<[u64; N]> {
    let floats = || bits.map(f32::from_bits);
    match numeric {
        Numeric::Unorm | Numeric::Snorm => {
            let any_nan = bits.iter().fold(false, |any, &bits| any | f32::from_bits(bits).is_nan());
            (!any_nan).then(|| nearest_normalized(numeric, width, bits))
        }
        Numeric::Uint => (width == 32 || bits.iter().all(|bits| bits >> width == 0)).then(|| bits.map(u64::from)),
        Numeric::Sint => {
            let fits = |&bits: &u32| signed(width, u64::from(bits)) == i64::from(bits as i32);
            bits.iter().all(fits).then(|| bits.map(|bits| u64::from(bits) & mask(width)))
        }
        Numeric::Float if width == 16 => Some(floats().map(|x| Half::of(x.into()).bits())),
        Numeric::Float => Some(bits.map(u64::from)),
    }
}

/// The preferred codes of normalized components that are no NaN.
#[inline(always)]
fn nearest_normalized<const N: usize>(numeric: Numeric, width: u8, bits: [u32; N]) -> [u64; N] {
    // Between 2^52 and 2^53 the 64-bit floats are the integers, their last bits in order,
    // and additions round to nearest, ties to even.
    const INTEGERS: f64 = (3u64 << 51) as f64;
    let (low, scale, mask) = (low(numeric), scale(numeric, width), mask(width));
    // The form lets the compiler vectorise it.
    let mut codes = [0; N];
    for (code, bits) in codes.iter_mut().zip(bits) {
        let x = f64::from(f32::from_bits(bits));
        let x = if low < x { x } else { low };
        *code = ((if x < 1.0 { x } else { 1.0 }) * scale + INTEGERS).to_bits() & mask;
    }
    codes
}

/// The least number that a normalized component represents.
fn low(numeric: Numeric) -> f64 {
    if numeric == Numeric::Snorm { -1.0 } else { 0.0 }
}

fn code_of(width: u8, integer: f64) -> u64 {
    integer as i64 as u64 & mask(width)
}

/// The most codes that are listed one by one.
const MOST_CODES: i64 = 1 << 12;

/// The codes of a normalized or 16-bit component for all floats of a set. `None` if they are too
/// many, or any.
pub fn pack_within(numeric: Numeric, width: u8, set: &Set) -> Option<SmallVec<[u64; 4]>> {
    // Codes in the order of their numbers, as signed integers.
    let place = |code: u64| match numeric {
        Numeric::Snorm => signed(width, code),
        Numeric::Float if code >> 15 == 1 => -1 - (code & 0x7fff) as i64,
        _ => code as i64,
    };
    let code = |place: i64| match numeric {
        Numeric::Float if place < 0 => 1 << 15 | (-1 - place) as u64,
        _ => place as u64 & mask(width),
    };
    if numeric.is_integer() || numeric == Numeric::Float && width != 16 || !set.is_bounded() {
        return None;
    }
    let mut all = SmallVec::new();
    for span in set.spans() {
        if numeric.is_normalized() {
            let [least, greatest] = stored_between(numeric, width, span);
            if greatest - least >= MOST_CODES {
                return None;
            }
            all.extend((least..=greatest).map(code));
            continue;
        }
        // Rounding is monotonic, and zero lies between the floats that are flushed to it.
        let ends = [span.low, span.high].map(|x| pack(numeric, width, (x as f32).to_bits()));
        let places = ends.iter().flat_map(|codes| codes.others.iter().chain([&codes.best])).map(|&code| place(code));
        let (low, high) = (places.clone().min()?, places.max()?);
        if high - low >= MOST_CODES {
            return None;
        }
        all.extend((low..=high).map(code));
    }
    if set.spans().len() > 1 || numeric != Numeric::Unorm {
        all.sort_unstable();
        all.dedup();
    }
    Some(all)
}

/// The code of a normalized component for the float of these bits and for all floats of a bounded
/// span. `None` if there are several, or if the component is not normalized.
#[inline]
pub fn only_code(numeric: Numeric, width: u8, bits: u32, span: &Span) -> Option<u64> {
    if !numeric.is_normalized() {
        return None;
    }
    let [least, greatest] = stored_between(numeric, width, span);
    let code = least as u64 & mask(width);
    (least == greatest && nearest(numeric, width, [bits]) == Some([code])).then_some(code)
}

/// [`only_code`] of up to 64 floats that all devices share. Also the set of the floats to which it
/// applies: normal numbers and zeros with only one code. `None` if the component is not normalized.
pub fn only_codes<const N: usize>(numeric: Numeric, width: u8, bits: &[u32; N]) -> Option<([u64; N], u64)> {
    if !numeric.is_normalized() {
        return None;
    }
    if let [first, others @ ..] = bits.as_slice()
        && !others.is_empty()
        && others.iter().fold(true, |all, bits| all & (bits == first))
    {
        // Constants and flat colours take this path.
        let ([code], is_only) = only_codes(numeric, width, &[*first])?;
        return Some(([code; N], if is_only == 1 { u64::MAX } else { 0 }));
    }
    let codes = nearest_normalized(numeric, width, *bits);
    let is_only = bits.iter().zip(codes).enumerate().fold(0, |set, (lane, (&bits, code))| {
        let x = f32::from_bits(bits);
        let [least, greatest] = stored_between(numeric, width, &Span::point(x.into()));
        let is_only = (least == greatest) & (least as u64 & mask(width) == code) & (x.is_normal() | (x == 0.0));
        set | u64::from(is_only) << lane
    });
    Some((codes, is_only))
}

/// The least and the greatest integer that a normalized component may be stored as, for all floats
/// of a bounded span.
#[inline]
fn stored_between(numeric: Numeric, width: u8, span: &Span) -> [i64; 2] {
    let ends = [span.low, span.high].map(|x| f64::from(x as f32).clamp(low(numeric), 1.0) * scale(numeric, width));
    let [below_low, below_high] = ends.map(whole_below);
    let least = below_low as i64 + i64::from(ends[0] - below_low > CONVERSION);
    let greatest = below_high as i64 + i64::from(below_high + 1.0 - ends[1] <= CONVERSION);
    [least, greatest]
}

/// Rounds down, without a call of floor. The number is in the range of 64-bit integers.
fn whole_below(x: f64) -> f64 {
    let whole = x as i64 as f64;
    if whole > x { whole - 1.0 } else { whole }
}

/// The numbers that a component may have once it is stored, if it may be any of these before.
pub fn stored(numeric: Numeric, width: u8, allowed: Interval) -> Interval {
    let range = match numeric {
        Numeric::Unorm => Interval::between(0.0, 1.0),
        Numeric::Snorm => Interval::between(-1.0, 1.0),
        _ => Interval::ANY,
    };
    if allowed.is_any() || allowed.nan && !range.is_any() {
        return range;
    }
    let stored_hull = |x: f64| {
        let codes = pack(numeric, width, shader_bits(numeric, x));
        let all = codes.others.iter().chain([&codes.best]).map(|&code| Interval::point(unpack(numeric, width, code)));
        if codes.any.is_some() { range } else { all.reduce(Interval::hull).unwrap_or(range) }
    };
    if allowed.low > allowed.high {
        return allowed;
    }
    // Rounding is monotonic, and zero lies between the floats that are flushed to it.
    let fits = |x: f64| !numeric.is_integer() || shader_number(numeric, shader_bits(numeric, x)) == x;
    let ends_fit = fits(allowed.low) && fits(allowed.high);
    let hull = stored_hull(allowed.low).hull(stored_hull(allowed.high));
    if ends_fit { Interval { nan: hull.nan || allowed.nan, ..hull } } else { range }
}

/// The numbers that a shader may see for a component that was rounded when it was stored: those of
/// the code and its neighbours, and zero for a subnormal.
fn neighbours(numeric: Numeric, width: u8, code: u64) -> Interval {
    // Codes in the order of their numbers, as signed integers.
    let (place, greatest) = match numeric {
        Numeric::Unorm => (code as i64, mask(width) as i64),
        Numeric::Snorm => (signed(width, code), mask(width - 1) as i64),
        Numeric::Float if width == 16 => ((code & 0x7fff) as i64, 0x7c00),
        _ => (0, 0),
    };
    let sign = if numeric == Numeric::Float { code & 1 << 15 } else { 0 };
    let least = if numeric == Numeric::Snorm { -greatest } else { 0 };
    let mut hull = unpack_allowed(numeric, width, code);
    for near in [place - 1, place + 1] {
        if (least..=greatest).contains(&near) && place <= greatest {
            hull = hull.hull(unpack_allowed(numeric, width, near as u64 & mask(width) | sign));
        }
    }
    hull
}

impl Texel {
    /// A texel with components that all devices share, given as numbers.
    pub(super) fn of_numbers(numeric: Numeric, numbers: [f64; 4]) -> Texel {
        Texel { bits: numbers.map(|x| shader_bits(numeric, x)), allowed: numbers.map(Interval::point), undefined: [None; 4] }
    }

    /// A texel with undefined components.
    pub fn undefined(why: Unspecified) -> Texel {
        Texel { bits: [0; 4], allowed: [Interval::ANY; 4], undefined: [Some(why); 4] }
    }

    /// The texel of these bits, one little-endian number. Bit c of a mask is for component c:
    /// `undefined` values, and `rounded` ones, for which another device may have stored the
    /// neighbouring code. (Format conversion and Conversion to RGBA.)
    pub(super) fn decode(rules: &Rules, format: Format, texel: u128, undefined: u8, rounded: u8) -> Texel {
        let numeric = format.numeric();
        let mut result = Texel::of_numbers(numeric, rules.missing);
        for (c, channel) in format.channels().iter().enumerate() {
            let code = (texel >> channel.offset) as u64 & mask(channel.width);
            result.bits[c] = match numeric {
                // The payload of a NaN is kept.
                Numeric::Float if channel.width == 32 => code as u32,
                _ => shader_bits(numeric, (rules.unpack)(numeric, channel.width, code)),
            };
            result.allowed[c] =
                if rounded >> c & 1 == 1 { neighbours(numeric, channel.width, code) } else { unpack_allowed(numeric, channel.width, code) };
            if undefined >> c & 1 == 1 {
                (result.allowed[c], result.undefined[c]) = (Interval::ANY, Some(Unspecified::Uninitialised));
            }
        }
        result
    }

    /// The component as a number.
    pub(super) fn number(&self, numeric: Numeric, component: usize) -> f64 {
        shader_number(numeric, self.bits[component])
    }
}

/// The number of a shader's bits.
pub(super) fn shader_number(numeric: Numeric, bits: u32) -> f64 {
    match numeric {
        Numeric::Uint => f64::from(bits),
        Numeric::Sint => f64::from(bits as i32),
        _ => f64::from(f32::from_bits(bits)),
    }
}

/// A shader's bits for a number.
pub(super) fn shader_bits(numeric: Numeric, number: f64) -> u32 {
    match numeric {
        Numeric::Uint => number as u32,
        Numeric::Sint => number as i32 as u32,
        _ => (number as f32).to_bits(),
    }
}
