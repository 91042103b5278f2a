//! The scalar types of buffers as bits, and the conversion of a script's numbers to such bits.

use std::fmt;

/// A scalar type of AmberScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scalar {
    Int8,
    Int16,
    Int32,
    Int64,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Float16,
    Float32,
    Float64,
}

/// The interpretation of a scalar's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Integers in two's complement.
    Signed,
    /// Integers without sign.
    Unsigned,
    /// IEEE 754 floats.
    Float,
}

impl Scalar {
    /// Every scalar type.
    pub const ALL: [Scalar; 11] = [
        Scalar::Int8,
        Scalar::Int16,
        Scalar::Int32,
        Scalar::Int64,
        Scalar::Uint8,
        Scalar::Uint16,
        Scalar::Uint32,
        Scalar::Uint64,
        Scalar::Float16,
        Scalar::Float32,
        Scalar::Float64,
    ];

    /// Its name in AmberScript.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Int8 => "int8",
            Scalar::Int16 => "int16",
            Scalar::Int32 => "int32",
            Scalar::Int64 => "int64",
            Scalar::Uint8 => "uint8",
            Scalar::Uint16 => "uint16",
            Scalar::Uint32 => "uint32",
            Scalar::Uint64 => "uint64",
            Scalar::Float16 => "float16",
            Scalar::Float32 => "float",
            Scalar::Float64 => "double",
        }
    }

    /// The type with that name.
    pub fn named(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|s| s.name() == name)
    }

    /// The size in bytes. It is also the alignment.
    pub fn size(self) -> u32 {
        match self {
            Scalar::Int8 | Scalar::Uint8 => 1,
            Scalar::Int16 | Scalar::Uint16 | Scalar::Float16 => 2,
            Scalar::Int32 | Scalar::Uint32 | Scalar::Float32 => 4,
            Scalar::Int64 | Scalar::Uint64 | Scalar::Float64 => 8,
        }
    }

    /// The interpretation of its bits.
    pub fn class(self) -> Class {
        match self {
            Scalar::Int8 | Scalar::Int16 | Scalar::Int32 | Scalar::Int64 => Class::Signed,
            Scalar::Uint8 | Scalar::Uint16 | Scalar::Uint32 | Scalar::Uint64 => Class::Unsigned,
            Scalar::Float16 | Scalar::Float32 | Scalar::Float64 => Class::Float,
        }
    }

    /// The value of these bits. Bits above the scalar's size are ignored.
    pub fn value(self, bits: u64) -> Value {
        let unused = 64 - 8 * self.size();
        match self.class() {
            Class::Unsigned => Value::Integer(i128::from(bits << unused >> unused)),
            Class::Signed => Value::Integer(i128::from((bits << unused) as i64 >> unused)),
            Class::Float => Value::Float(match self.size() {
                2 => f16_value(bits as u16),
                4 => f64::from(f32::from_bits(bits as u32)),
                _ => f64::from_bits(bits),
            }),
        }
    }

    /// Reads the bits from the start of `bytes`, little-endian. `bytes` must have at least the
    /// scalar's size.
    pub fn load(self, bytes: &[u8]) -> u64 {
        let mut all = [0; 8];
        let size = self.size() as usize;
        all[..size].copy_from_slice(&bytes[..size]);
        u64::from_le_bytes(all)
    }

    /// Writes bits to the start of `bytes`, little-endian. `bytes` must have at least the
    /// scalar's size.
    pub fn store(self, bits: u64, bytes: &mut [u8]) {
        let size = self.size() as usize;
        bytes[..size].copy_from_slice(&bits.to_le_bytes()[..size]);
    }

    /// The bits of a number. The error is a sentence that says why the type has no such value.
    pub(super) fn bits(self, number: &Number) -> Result<u64, String> {
        let no_value = |why: &str| Err(format!("{} is {why} {}", number, self.name()));
        match (self.class(), number) {
            (Class::Float, Number::Nan) => Ok(match self.size() {
                2 => f16_bits(f64::NAN).into(),
                4 => 0x7fc0_0000,
                _ => 0x7ff8_0000_0000_0000,
            }),
            (Class::Float, Number::Integer { .. }) | (Class::Float, Number::Decimal(_)) => {
                let text = number.decimal();
                let (bits, value) = match self.size() {
                    // Correctly rounded from the decimal text. A 16-bit float is rounded by way of
                    // an f64.
                    4 => text.parse::<f32>().map_or((0, f64::NAN), |v| (u64::from(v.to_bits()), f64::from(v))),
                    2 => text.parse::<f64>().map_or((0, f64::NAN), |v| (u64::from(f16_bits(v)), f16_value(f16_bits(v)))),
                    _ => text.parse::<f64>().map_or((0, f64::NAN), |v| (v.to_bits(), v)),
                };
                if value.is_finite() { Ok(bits) } else { no_value("outside the range of") }
            }
            _ => {
                let Some(value) = number.integer() else { return no_value("no value of the integer type") };
                self.bits_of_integer(value).map_or_else(|| no_value("outside the range of"), Ok)
            }
        }
    }

    /// The bits of an integer. `None` if the type does not have it. A signed type also accepts the
    /// values of the unsigned type of its width, bit for bit: 129 is -127 as an int8.
    pub fn bits_of_integer(self, value: i128) -> Option<u64> {
        let bits = 8 * self.size();
        let least = if self.class() == Class::Signed { -(1i128 << (bits - 1)) } else { 0 };
        (least..=(1i128 << bits) - 1).contains(&value).then_some(value as u64 & (u64::MAX >> (64 - bits)))
    }

    /// Bits as a number in a script. `None` for infinities, and for NaNs other than that of `nan`.
    pub fn text(self, bits: u64) -> Option<String> {
        match self.value(bits) {
            Value::Integer(v) => Some(v.to_string()),
            Value::Float(v) if !v.is_finite() => (self.bits(&Number::Nan) == Ok(bits)).then(|| "nan".into()),
            // The shortest decimal that rounds to the same bits. A 16-bit float is printed as the
            // equal f32.
            Value::Float(v) => Some(if self == Scalar::Float64 { format!("{v:?}") } else { format!("{:?}", v as f32) }),
        }
    }
}

/// The value of a scalar. It is exact for both classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The value of an integer type.
    Integer(i128),
    /// The value of a floating-point type.
    Float(f64),
}

impl Value {
    /// The nearest double.
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Integer(v) => v as f64,
            Value::Float(v) => v,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(v) => v.fmt(f),
            Value::Float(v) => write!(f, "{v:?}"),
        }
    }
}

/// A number as a script writes it. Its value depends on the type in its place, so a decimal keeps
/// its text until the type is known.
///
/// A hexadecimal number is the integer that it spells, for floating-point types too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// An integer such as `-12` or `0x1f`.
    Integer {
        /// Whether a minus sign stands before it.
        negative: bool,
        /// The absolute value.
        magnitude: u64,
    },
    /// The text of a number such as `1.5` or `-2e-3`, or of an integer that needs more than
    /// 64 bits.
    Decimal(Box<str>),
    /// `nan`, in any case: the quiet NaN without a payload.
    Nan,
}

impl Number {
    /// Reads a number. `None` if the word is not one.
    pub fn read(word: &str) -> Option<Number> {
        if word.eq_ignore_ascii_case("nan") {
            return Some(Number::Nan);
        }
        let (negative, digits) = match word.as_bytes().first()? {
            b'-' => (true, &word[1..]),
            b'+' => (false, &word[1..]),
            _ => (false, word),
        };
        if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            let is_hex = !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit());
            return is_hex.then(|| u64::from_str_radix(hex, 16).ok()).flatten().map(|magnitude| Number::Integer { negative, magnitude });
        }
        if digits.bytes().all(|b| b.is_ascii_digit())
            && let Ok(magnitude) = digits.parse()
        {
            return Some(Number::Integer { negative, magnitude });
        }
        let is_decimal = digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
            && digits.bytes().next().is_some_and(|b| b.is_ascii_digit() || b == b'.')
            && digits.parse::<f64>().is_ok();
        is_decimal.then(|| Number::Decimal(word.into()))
    }

    /// The number in decimal digits.
    fn decimal(&self) -> String {
        match self {
            Number::Integer { negative, magnitude } => format!("{}{magnitude}", if *negative { "-" } else { "" }),
            Number::Decimal(text) => text.to_string(),
            Number::Nan => "nan".into(),
        }
    }

    /// The number if it is whole, including `1.0` and `5e2`. `None` if it has more digits than any
    /// value of an integer type.
    pub fn integer(&self) -> Option<i128> {
        const DIGITS: i64 = 38;
        let text = match self {
            &Number::Integer { negative, magnitude } => return Some(if negative { -i128::from(magnitude) } else { magnitude.into() }),
            Number::Nan => return None,
            Number::Decimal(text) => text,
        };
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let (whole, fraction) = (whole.trim_start_matches('+'), fraction.trim_end_matches('0'));
        let all: String = [whole, fraction].concat();
        let value = all.trim_end_matches('0');
        let trimmed = (all.len() - value.len()) as i64 - fraction.len() as i64;
        let zeros = exponent.parse::<i64>().ok()?.checked_add(trimmed)?;
        if value.bytes().all(|b| matches!(b, b'0' | b'-')) {
            return Some(0);
        }
        if !(0..=DIGITS).contains(&zeros) || value.len() as i64 + zeros > DIGITS {
            return None;
        }
        Some(value.parse::<i128>().ok()? * 10i128.pow(zeros as u32))
    }

    /// The nearest double. Infinite for numbers past the range.
    pub fn as_f64(&self) -> f64 {
        self.decimal().parse().unwrap_or(f64::NAN)
    }

    /// The number if it is an integer from 0 to `greatest`.
    pub fn at_most(&self, greatest: u64) -> Option<u64> {
        match self {
            &Number::Integer { negative, magnitude } if (!negative || magnitude == 0) && magnitude <= greatest => Some(magnitude),
            _ => None,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.decimal())
    }
}

/// The value of a binary16.
pub fn f16_value(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        0 => fraction * 2f64.powi(-24),
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// The nearest binary16, with ties to even. Infinite from 65520 on. A NaN gives the quiet
/// NaN 0x7e00.
pub fn f16_bits(value: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return 0x7e00;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Below the normal range, the last place is 2^-24. It doubles with each binade above 2^-14.
    let binade = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-14);
    let places = (magnitude * 2f64.powi(10 - binade)).round_ties_even() as u16;
    // The hidden bit, and the carry of a rounding up, add one to the exponent.
    sign + ((binade + 14) as u16 * 1024) + places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::read(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn halves_by_hand() {
        for (value, bits) in [
            (0.0, 0x0000),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.999, 0x7bff),
            (65520.0, 0x7c00),
            (6.103515625e-05, 0x0400),
            (5.960464477539063e-08, 0x0001),
            (2.9802322387695312e-08, 0x0000),
            (2f64.powi(-25) * 3.0, 0x0002),
            (0.333251953125, 0x3555),
            (2047.0, 0x67ff),
            (2049.0, 0x6800),
            (2051.0, 0x6802),
            (2f64.powi(-24) * 1023.0, 0x03ff),
            (2f64.powi(-14) - 2f64.powi(-25), 0x0400),
        ] {
            assert_eq!(f16_bits(value), bits, "{value}");
        }
        for bits in (0..=u16::MAX).filter(|b| b & 0x7c00 != 0x7c00) {
            assert_eq!(f16_bits(f16_value(bits)), bits);
        }
        assert!(f16_value(0x7e00).is_nan() && f16_value(0xfc00) == f64::NEG_INFINITY);
    }

    #[test]
    fn numbers_fit_their_types_or_say_why_not() {
        assert_eq!(Scalar::Int8.bits(&number("-128")), Ok(0x80));
        assert_eq!(Scalar::Int8.bits(&number("129")), Ok(0x81), "bit for bit, as if it were unsigned");
        assert_eq!(Scalar::Int64.bits(&number("18446744073709551615")), Ok(u64::MAX));
        assert_eq!(Scalar::Int8.bits(&number("256")), Err("256 is outside the range of int8".into()));
        assert_eq!(Scalar::Int8.bits(&number("-129")), Err("-129 is outside the range of int8".into()));
        assert_eq!(Scalar::Uint8.bits(&number("0xff")), Ok(0xff));
        assert!(Scalar::Uint8.bits(&number("0x100")).is_err() && Scalar::Uint32.bits(&number("-1")).is_err());
        assert_eq!(Scalar::Int64.bits(&number("-9223372036854775808")), Ok(1 << 63));
        assert_eq!(Scalar::Uint64.bits(&number("18446744073709551615")), Ok(u64::MAX));
        assert!(Scalar::Uint64.bits(&number("18446744073709551616")).is_err());
        assert_eq!(Scalar::Int32.bits(&number("1.5")), Err("1.5 is no value of the integer type int32".into()));
        for (text, bits) in
            [("0.0", 0), ("-0.0", 0), ("7.00", 7), ("+5e2", 500), ("120e-1", 12), (".0", 0), ("18446744073709551615.0", u64::MAX)]
        {
            assert_eq!(Scalar::Uint64.bits(&number(text)), Ok(bits), "{text}");
        }
        for text in ["0.5", "5e-1", "1e400", "1e99999999999999999999", "1.0000000000000000000000000000000000000001", "nan"] {
            assert!(Scalar::Uint64.bits(&number(text)).is_err_and(|e| e.contains("no value of the integer type")), "{text}");
        }
        assert_eq!(
            Scalar::ALL[8..].iter().map(|s| s.bits(&number("NaN"))).collect::<Vec<_>>(),
            [Ok(0x7e00), Ok(0x7fc0_0000), Ok(0x7ff8 << 48)]
        );
        assert_eq!(Scalar::Float32.bits(&number("0.1")), Ok(0x3dcc_cccd));
        assert_eq!(Scalar::Float32.bits(&number("0x10")), Ok(u64::from(16f32.to_bits())));
        assert_eq!(Scalar::Float32.bits(&number("-0")), Ok(0x8000_0000));
        assert!(Scalar::Float32.bits(&number("1e39")).is_err() && Scalar::Float16.bits(&number("65520")).is_err());
        assert_eq!(Scalar::Float64.bits(&number("-1e-3")), Ok((-1e-3f64).to_bits()));
    }

    #[test]
    fn what_is_no_number() {
        for word in
            ["", "-", "+", "0x", "0xg", "1.2.3", "-nan", "nano", "inf", "1f", "--1", "-.", "1e", "0x11111111111111111", "e5", "infinity"]
        {
            assert_eq!(Number::read(word), None, "{word}");
        }
    }

    #[test]
    fn text_reads_back_to_the_same_bits() {
        for scalar in Scalar::ALL {
            for bits in [0, 1, 0x7f, 0x80, 0x3555, 0xfbff, 0x3dcc_cccd, 0x8000_0000, 0x3fb9_9999_9999_999a, u64::MAX >> 2] {
                let bits = bits & (u64::MAX >> (64 - 8 * scalar.size()));
                if let Some(text) = scalar.text(bits) {
                    assert_eq!(scalar.bits(&number(&text)), Ok(bits), "{text} as {}", scalar.name());
                }
            }
        }
        assert_eq!(Scalar::Float32.text(0x7fc0_0000).as_deref(), Some("nan"));
        assert_eq!(
            (Scalar::Float32.text(0x7fc0_0001), Scalar::Float32.text(0xffc0_0000), Scalar::Float32.text(0x7f80_0000)),
            (None, None, None)
        );
        assert_eq!(Scalar::Uint32.text(0x7fc0_0000).as_deref(), Some("2143289344"));
    }
}
