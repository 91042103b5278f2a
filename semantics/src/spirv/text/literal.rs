//! Number literals of SPIR-V assembly, from text to words and back, as in `spirv-as`
//! and `spirv-dis`.
//!
//! Integers are decimal, octal with a leading 0, or hexadecimal. They must fit their type, but a
//! hexadecimal integer may set the sign bit. Floats are decimal, or hexadecimal with an exponent. A
//! decimal float is rounded to nearest, but a 16-bit one towards zero. A hexadecimal float with
//! more digits than the type has is rounded towards zero. `spirv-as` does the same.

/// The type of a number literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// An integer of at most 64 bits.
    Integer {
        /// The width in bits.
        width: u32,
        /// Whether it is signed.
        signed: bool,
    },
    /// An IEEE 754 float of 16, 32 or 64 bits.
    Float {
        /// The width in bits.
        width: u32,
    },
    /// A number of another encoding, which has no text.
    Opaque {
        /// The width in bits.
        width: u32,
    },
}

impl NumberType {
    /// The type of a literal integer operand: 32 bits, unsigned.
    pub const WORD: NumberType = NumberType::Integer { width: 32, signed: false };

    /// The width in bits.
    pub fn width(self) -> u32 {
        match self {
            NumberType::Integer { width, .. } | NumberType::Float { width } | NumberType::Opaque { width } => width,
        }
    }

    /// The number of words that hold it.
    pub fn words(self) -> usize {
        self.width().div_ceil(32) as usize
    }
}

impl std::fmt::Display for NumberType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NumberType::Integer { width, signed: true } => write!(f, "{width}-bit signed integer"),
            NumberType::Integer { width, signed: false } => write!(f, "{width}-bit unsigned integer"),
            NumberType::Float { width } => write!(f, "{width}-bit float"),
            NumberType::Opaque { width } => write!(f, "{width}-bit number of another encoding"),
        }
    }
}

/// The bits of a literal of that type, extended to whole words as a module holds them. `None` if
/// the text is not such a literal.
pub fn parse(text: &str, type_: NumberType) -> Option<u64> {
    match type_ {
        NumberType::Integer { width, signed } => parse_integer(text, width, signed),
        NumberType::Float { width } => parse_float(text, width),
        NumberType::Opaque { .. } => None,
    }
}

/// The text of a literal of that type. `None` if no text gives these bits.
pub fn print(bits: u64, type_: NumberType) -> Option<String> {
    let text = match type_ {
        NumberType::Integer { width, signed: true } => ((bits << (64 - width)) as i64 >> (64 - width)).to_string(),
        NumberType::Integer { signed: false, .. } => bits.to_string(),
        NumberType::Float { width: 32 } if f32::from_bits(bits as u32).is_finite() => format!("{:?}", f32::from_bits(bits as u32)),
        NumberType::Float { width: 64 } if f64::from_bits(bits).is_finite() => format!("{:?}", f64::from_bits(bits)),
        NumberType::Float { width } => print_hex_float(bits, Format::of(width)?),
        NumberType::Opaque { .. } => return None,
    };
    // There is no text for words with bits beyond the width of the type.
    (parse(&text, type_) == Some(bits)).then_some(text)
}

fn parse_integer(text: &str, width: u32, signed: bool) -> Option<u64> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let (digits, radix) = match hex {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        None => (digits, 10),
    };
    if !digits.bytes().next()?.is_ascii_hexdigit() || negative && !signed {
        return None;
    }
    let magnitude = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let value = if negative { -magnitude } else { magnitude };
    let fits = match (signed, hex.is_some() && !negative) {
        (false, _) | (true, true) => 0..1i128 << width,
        (true, false) => -(1i128 << (width - 1))..1i128 << (width - 1),
    };
    if !fits.contains(&value) {
        return None;
    }
    let mask = if width > 32 { u64::MAX } else { u64::from(u32::MAX) };
    let bits = value as u64;
    Some(if signed { ((bits << (64 - width)) as i64 >> (64 - width)) as u64 & mask } else { bits })
}

/// An IEEE 754 binary interchange format.
#[derive(Clone, Copy)]
struct Format {
    exponent_bits: u32,
    fraction_bits: u32,
}

impl Format {
    fn of(width: u32) -> Option<Format> {
        Some(match width {
            16 => Format { exponent_bits: 5, fraction_bits: 10 },
            32 => Format { exponent_bits: 8, fraction_bits: 23 },
            64 => Format { exponent_bits: 11, fraction_bits: 52 },
            _ => return None,
        })
    }

    fn bias(self) -> i64 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The float ±significand · 2^(exponent - 63), rounded towards zero. The leading one of the
    /// significand is bit 63; 0 gives a zero.
    fn encode(self, negative: bool, significand: u64, exponent: i64) -> u64 {
        let sign = u64::from(negative) << (self.exponent_bits + self.fraction_bits);
        let fraction = significand << 1 >> (64 - self.fraction_bits);
        if significand == 0 {
            return sign;
        }
        let top = self.bias() + 1;
        if exponent > top {
            return sign | ((1 << self.exponent_bits) - 1) << self.fraction_bits;
        }
        let biased = exponent + self.bias();
        if biased > 0 {
            return sign | (biased as u64) << self.fraction_bits | fraction;
        }
        let shift = 1 - biased + i64::from(63 - self.fraction_bits);
        sign | if shift < 64 { significand >> shift } else { 0 }
    }
}

fn parse_float(text: &str, width: u32) -> Option<u64> {
    let format = Format::of(width)?;
    let (negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    if let Some(hex) = digits.strip_prefix("0x") {
        return if text.starts_with('+') { None } else { parse_hex_float(hex, negative, format) };
    }
    let mantissa = digits.split(['e', 'E']).next()?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b)) && mantissa.bytes().any(|b| b.is_ascii_digit());
    if !plain || digits.starts_with(['+', '-']) {
        return None;
    }
    match width {
        64 => text.parse::<f64>().ok().filter(|x| x.is_finite()).map(f64::to_bits),
        32 => text.parse::<f32>().ok().filter(|x| x.is_finite()).map(|x| u64::from(x.to_bits())),
        _ => {
            let bits = text.parse::<f32>().ok().filter(|x| x.is_finite())?.to_bits() & 0x7fff_ffff;
            let leading = bits.leading_zeros();
            let (significand, exponent) = match bits >> 23 {
                0 => (u64::from(bits) << leading << 32, i64::from(8 - leading as i32) - 126),
                biased => (u64::from(bits | 0x80_0000) << 40, i64::from(biased) - 127),
            };
            let half = format.encode(negative, significand, exponent);
            (half & 0x7c00 != 0x7c00).then_some(half)
        }
    }
}

fn parse_hex_float(text: &str, negative: bool, format: Format) -> Option<u64> {
    let (mantissa, exponent) = text.split_once('p')?;
    let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // The clamp is beyond all exponents of these formats.
    let size = unsigned.bytes().fold(0i64, |n, b| (n * 10 + i64::from(b - b'0')).min(1 << 40));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut exponent = if exponent.starts_with('-') { -size } else { size };
    let mut significand = 0u64;
    let mut any = false;
    for (position, digit) in whole.bytes().chain(fraction.bytes()).enumerate() {
        let digit = u64::from((digit as char).to_digit(16)?);
        let before_point = position < whole.len();
        if significand >> 60 == 0 {
            significand = significand << 4 | digit;
            any |= digit != 0;
            exponent -= if before_point { 0 } else { 4 };
        } else {
            exponent += if before_point { 4 } else { 0 };
        }
    }
    if !any {
        return Some(format.encode(negative, 0, 0));
    }
    let leading = significand.leading_zeros();
    Some(format.encode(negative, significand << leading, exponent + i64::from(63 - leading)))
}

fn print_hex_float(bits: u64, format: Format) -> String {
    let fraction_mask = (1u64 << format.fraction_bits) - 1;
    let mut fraction = bits & fraction_mask;
    let mut exponent = (bits >> format.fraction_bits & ((1 << format.exponent_bits) - 1)) as i64 - format.bias();
    let sign = if bits >> (format.exponent_bits + format.fraction_bits) & 1 == 1 { "-" } else { "" };
    if exponent == -format.bias() {
        if fraction == 0 {
            return format!("{sign}0x0p+0");
        }
        let shift = format.fraction_bits + 1 - (64 - fraction.leading_zeros());
        fraction = fraction << shift & fraction_mask;
        exponent -= i64::from(shift) - 1;
    }
    let digits = format!("{:016x}", fraction << (64 - format.fraction_bits));
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("{sign}0x1{point}{digits}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FLOAT: NumberType = NumberType::Float { width: 32 };
    const HALF: NumberType = NumberType::Float { width: 16 };
    const INT: NumberType = NumberType::Integer { width: 32, signed: true };
    const SHORT: NumberType = NumberType::Integer { width: 16, signed: true };

    /// The expected values are those of spirv-as 2023.1.
    #[test]
    fn literals_are_read_as_spirv_as_reads_them() {
        let cases: &[(&str, NumberType, Option<u64>)] = &[
            ("0x1", FLOAT, None),
            (".5", FLOAT, Some(0x3f00_0000)),
            ("5.", FLOAT, Some(0x40a0_0000)),
            ("+5.", FLOAT, Some(0x40a0_0000)),
            ("65519", HALF, Some(0x7bff)),
            ("65520", HALF, Some(0x7bff)),
            ("65536", HALF, None),
            ("+4", INT, Some(4)),
            ("0x.8p1", FLOAT, Some(0x3f80_0000)),
            ("1e40", FLOAT, None),
            ("0x1.8", FLOAT, None),
            ("0x1p128", FLOAT, Some(0x7f80_0000)),
            ("-0x1.8p+128", FLOAT, Some(0xffc0_0000)),
            ("0x1p129", FLOAT, Some(0x7f80_0000)),
            ("0x1p-200", FLOAT, Some(0)),
            ("0x1p-149", FLOAT, Some(1)),
            ("0x1.8p-149", FLOAT, Some(1)),
            ("0x3p-1", FLOAT, Some(0x3fc0_0000)),
            ("0x1.00000180p0", FLOAT, Some(0x3f80_0000)),
            ("1e-60", FLOAT, Some(0)),
            ("-0", FLOAT, Some(0x8000_0000)),
            ("1E2", FLOAT, Some(0x42c8_0000)),
            ("nan", FLOAT, None),
            ("inf", FLOAT, None),
            ("1f", FLOAT, None),
            ("0x1ffffffff", INT, None),
            ("4294967295", INT, None),
            ("0x80000000", INT, Some(0x8000_0000)),
            ("-1", NumberType::WORD, None),
            ("0x8000", SHORT, Some(0xffff_8000)),
            ("32768", SHORT, None),
            ("-0x1", INT, Some(0xffff_ffff)),
            ("010", INT, Some(8)),
            ("08", INT, None),
            ("0x", INT, None),
            ("1e2", INT, None),
            ("0.00001", HALF, Some(0xa7)),
            ("65504.5", HALF, Some(0x7bff)),
            ("0x1.ffep+0", HALF, Some(0x3fff)),
            ("1e-10", HALF, Some(0)),
            ("", INT, None),
            ("-", FLOAT, None),
            (".", FLOAT, None),
            ("--5", FLOAT, None),
            ("0xp1", FLOAT, None),
            ("0x1P0", FLOAT, None),
            ("0X1p0", FLOAT, None),
            ("+0x1p0", FLOAT, None),
            ("0X10", INT, Some(16)),
            ("-010", INT, Some(0xffff_fff8)),
            ("1e", FLOAT, None),
            ("1e+", FLOAT, None),
            ("00.5", FLOAT, Some(0x3f00_0000)),
            ("1.5.5", FLOAT, None),
        ];
        for &(text, type_, expected) in cases {
            assert_eq!(parse(text, type_), expected, "{text:?} as {type_}");
        }
    }

    #[test]
    fn every_half_prints_as_text_that_reads_back() {
        for bits in 0..=0xffffu64 {
            let text = print(bits, HALF).expect("every half has a text");
            assert_eq!(parse(&text, HALF), Some(bits), "{text}");
        }
        assert_eq!(print(0x1_0000, HALF), None, "bits beyond the type");
    }

    proptest! {
        #[test]
        fn floats_print_as_text_that_reads_back(bits: u32, wide: u64) {
            let text = print(bits.into(), FLOAT).unwrap();
            prop_assert_eq!(parse(&text, FLOAT), Some(bits.into()), "{}", text);
            let text = print(wide, NumberType::Float { width: 64 }).unwrap();
            prop_assert_eq!(parse(&text, NumberType::Float { width: 64 }), Some(wide), "{}", text);
        }

        #[test]
        fn hexadecimal_floats_agree_with_decimal_ones(bits: u32) {
            prop_assume!(f32::from_bits(bits).is_finite());
            let text = print_hex_float(bits.into(), Format::of(32).unwrap());
            prop_assert_eq!(parse(&text, FLOAT), Some(bits.into()), "{}", text);
        }

        #[test]
        fn integers_print_as_text_that_reads_back(value: i64, width in 1u32..=64) {
            let signed = NumberType::Integer { width, signed: true };
            let narrow = value << (64 - width) >> (64 - width);
            let text = narrow.to_string();
            let bits = parse(&text, signed).unwrap();
            prop_assert_eq!(print(bits, signed), Some(text));
        }

        #[test]
        fn any_text_is_a_literal_or_not(text in "[-+0-9a-fxp.eE]{0,12}") {
            for type_ in [FLOAT, HALF, INT, SHORT, NumberType::WORD, NumberType::Integer { width: 64, signed: false }] {
                let _ = parse(&text, type_);
            }
        }
    }
}
