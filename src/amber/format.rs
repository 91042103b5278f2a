//! The supported image formats (Vulkan §Formats): plain formats, whose components have 8, 16, 32
//! or 64 bits each and are adjacent in memory, packed formats, and depths with stencils.
//!
//! A texel of a packed format is one number, with the first component in the highest bits. A depth
//! with a stencil has the depth first, then the stencil, then unused bits. It has 4 bytes, or 8 for
//! a depth of 32 bits.
//!
//! The names of scaled formats and packed floats are known, but these formats are unsupported.

use smallstep_semantics::image::CONVERSION;
use smallvec::SmallVec;

use super::scalar::{Class, Scalar, Value, f16_bits};

/// The meaning of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Channel {
    Red,
    Green,
    Blue,
    Alpha,
    Depth,
    Stencil,
}

impl Channel {
    /// Its index among red, green, blue and alpha. `None` for depth and stencil.
    pub fn colour(self) -> Option<usize> {
        match self {
            Channel::Red => Some(0),
            Channel::Green => Some(1),
            Channel::Blue => Some(2),
            Channel::Alpha => Some(3),
            Channel::Depth | Channel::Stencil => None,
        }
    }
}

/// The encoding of a number in a component (Vulkan §Identification of Formats).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numeric {
    /// c / (2^b - 1), for a code c of b bits.
    Unorm,
    /// max(c / (2^(b-1) - 1), -1), c in two's complement.
    Snorm,
    /// An unsigned integer.
    Uint,
    /// An integer in two's complement.
    Sint,
    /// An IEEE 754 float.
    Sfloat,
    /// Like Unorm, with the sRGB transfer function for red, green and blue.
    Srgb,
}

const NUMERICS: [(&str, Numeric); 6] = [
    ("UNORM", Numeric::Unorm),
    ("SNORM", Numeric::Snorm),
    ("UINT", Numeric::Uint),
    ("SINT", Numeric::Sint),
    ("SFLOAT", Numeric::Sfloat),
    ("SRGB", Numeric::Srgb),
];

const ORDERS: [(&str, &[Channel]); 8] = [
    ("R", &[Channel::Red]),
    ("RG", &[Channel::Red, Channel::Green]),
    ("RGB", &[Channel::Red, Channel::Green, Channel::Blue]),
    ("BGR", &[Channel::Blue, Channel::Green, Channel::Red]),
    ("RGBA", &[Channel::Red, Channel::Green, Channel::Blue, Channel::Alpha]),
    ("BGRA", &[Channel::Blue, Channel::Green, Channel::Red, Channel::Alpha]),
    ("D", &[Channel::Depth]),
    ("S", &[Channel::Stencil]),
];

/// An image format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Plain {
        /// The index of an entry of `ORDERS`.
        order: u8,
        bits: u8,
        numeric: Numeric,
    },
    /// The index of an entry of `PACKED`.
    Packed(u8),
}

/// The place of a component in a texel. A texel is one little-endian number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The meaning of the component.
    pub channel: Channel,
    /// The index of its lowest bit.
    pub offset: u32,
    /// The number of its bits.
    pub bits: u32,
    /// The encoding of its number.
    pub numeric: Numeric,
}

/// A format whose components have different sizes, or do not consist of whole bytes. The items are
/// its name, the bytes of a texel, the components in the order of the name, their sizes in bits,
/// and the encoding. Colours are stored from the highest bits down, depths and stencils from the
/// lowest bits up.
type Packed = (&'static str, u32, &'static [Channel], &'static [u32], Numeric);

macro_rules! colours {
    ($name:literal, $bytes:literal, [$($channel:ident $bits:literal),*], $numeric:ident) => {
        ($name, $bytes, &[$(Channel::$channel),*], &[$($bits),*], Numeric::$numeric)
    };
}

const PACKED: [Packed; 23] = [
    colours!("R4G4_UNORM_PACK8", 1, [Red 4, Green 4], Unorm),
    colours!("R4G4B4A4_UNORM_PACK16", 2, [Red 4, Green 4, Blue 4, Alpha 4], Unorm),
    colours!("B4G4R4A4_UNORM_PACK16", 2, [Blue 4, Green 4, Red 4, Alpha 4], Unorm),
    colours!("R5G6B5_UNORM_PACK16", 2, [Red 5, Green 6, Blue 5], Unorm),
    colours!("B5G6R5_UNORM_PACK16", 2, [Blue 5, Green 6, Red 5], Unorm),
    colours!("R5G5B5A1_UNORM_PACK16", 2, [Red 5, Green 5, Blue 5, Alpha 1], Unorm),
    colours!("B5G5R5A1_UNORM_PACK16", 2, [Blue 5, Green 5, Red 5, Alpha 1], Unorm),
    colours!("A1R5G5B5_UNORM_PACK16", 2, [Alpha 1, Red 5, Green 5, Blue 5], Unorm),
    colours!("A8B8G8R8_UNORM_PACK32", 4, [Alpha 8, Blue 8, Green 8, Red 8], Unorm),
    colours!("A8B8G8R8_SNORM_PACK32", 4, [Alpha 8, Blue 8, Green 8, Red 8], Snorm),
    colours!("A8B8G8R8_UINT_PACK32", 4, [Alpha 8, Blue 8, Green 8, Red 8], Uint),
    colours!("A8B8G8R8_SINT_PACK32", 4, [Alpha 8, Blue 8, Green 8, Red 8], Sint),
    colours!("A2R10G10B10_UNORM_PACK32", 4, [Alpha 2, Red 10, Green 10, Blue 10], Unorm),
    colours!("A2R10G10B10_SNORM_PACK32", 4, [Alpha 2, Red 10, Green 10, Blue 10], Snorm),
    colours!("A2R10G10B10_UINT_PACK32", 4, [Alpha 2, Red 10, Green 10, Blue 10], Uint),
    colours!("A2B10G10R10_UNORM_PACK32", 4, [Alpha 2, Blue 10, Green 10, Red 10], Unorm),
    colours!("A2B10G10R10_SNORM_PACK32", 4, [Alpha 2, Blue 10, Green 10, Red 10], Snorm),
    colours!("A2B10G10R10_UINT_PACK32", 4, [Alpha 2, Blue 10, Green 10, Red 10], Uint),
    colours!("A2B10G10R10_SINT_PACK32", 4, [Alpha 2, Blue 10, Green 10, Red 10], Sint),
    colours!("X8_D24_UNORM_PACK32", 4, [Depth 24], Unorm),
    colours!("D16_UNORM_S8_UINT", 4, [Depth 16, Stencil 8], Unorm),
    colours!("D24_UNORM_S8_UINT", 4, [Depth 24, Stencil 8], Unorm),
    colours!("D32_SFLOAT_S8_UINT", 8, [Depth 32, Stencil 8], Sfloat),
];

/// The reason why a word is no usable format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// No format has that name.
    Unknown,
    /// The format exists, but it is unsupported.
    Unsupported,
}

impl std::fmt::Display for FormatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FormatError::Unknown => "no format has that name",
            FormatError::Unsupported => "the format is not supported",
        })
    }
}

impl std::error::Error for FormatError {}

impl Format {
    /// R8G8B8A8_UNORM.
    pub const R8G8B8A8_UNORM: Format = Format(Kind::Plain { order: 4, bits: 8, numeric: Numeric::Unorm });
    /// B8G8R8A8_UNORM, the format of a colour attachment that a script does not declare.
    pub const B8G8R8A8_UNORM: Format = Format(Kind::Plain { order: 5, bits: 8, numeric: Numeric::Unorm });
    /// R32G32B32A32_SFLOAT.
    pub const R32G32B32A32_SFLOAT: Format = Format(Kind::Plain { order: 4, bits: 32, numeric: Numeric::Sfloat });

    /// Reads a name such as `R8G8B8A8_UNORM`. A leading `VK_FORMAT_` is allowed.
    pub fn named(name: &str) -> Result<Format, FormatError> {
        let name = name.strip_prefix("VK_FORMAT_").unwrap_or(name);
        if let Some(packed) = PACKED.iter().position(|packed| packed.0 == name) {
            return Ok(Format(Kind::Packed(packed as u8)));
        }
        let Some((components, numeric)) = name.split_once('_') else { return Err(FormatError::Unknown) };
        if !components.bytes().all(|b| b.is_ascii_alphanumeric()) || !components.starts_with(['R', 'G', 'B', 'A', 'D', 'S', 'X', 'E']) {
            return Err(FormatError::Unknown);
        }
        let (mut letters, mut widths) = (String::new(), Vec::new());
        for c in components.chars() {
            match c.to_digit(10) {
                None => {
                    letters.push(c);
                    widths.push(0);
                }
                Some(digit) => match widths.last_mut() {
                    Some(width) => *width = (*width * 10 + digit).min(1000),
                    None => return Err(FormatError::Unknown),
                },
            }
        }
        let width = widths.first().copied().unwrap_or(0);
        let plain = widths.iter().all(|&w| w == width);
        let found = NUMERICS.iter().find(|n| n.0 == numeric).map(|n| n.1);
        let order = ORDERS.iter().position(|o| o.0 == letters);
        if let (Some(numeric), Some(order), true) = (found, order, plain) {
            let allowed: &[u32] = match (ORDERS[order].0, numeric) {
                ("D", Numeric::Unorm) => &[16],
                ("D", Numeric::Sfloat) => &[32],
                ("S", Numeric::Uint) => &[8],
                ("D" | "S", _) => &[],
                (_, Numeric::Unorm | Numeric::Snorm) => &[8, 16],
                (_, Numeric::Uint | Numeric::Sint) => &[8, 16, 32, 64],
                (_, Numeric::Sfloat) => &[16, 32, 64],
                (_, Numeric::Srgb) => &[8],
            };
            // The BGR orders exist only with 8 bits.
            let exists = allowed.contains(&width) && (!letters.starts_with('B') || width == 8);
            let format = Format(Kind::Plain { order: order as u8, bits: width as u8, numeric });
            return if exists { Ok(format) } else { Err(FormatError::Unknown) };
        }
        let known = numeric.ends_with("_PACK8")
            || numeric.ends_with("_PACK16")
            || numeric.ends_with("_PACK32")
            || matches!(numeric, "USCALED" | "SSCALED");
        Err(if known { FormatError::Unsupported } else { FormatError::Unknown })
    }

    /// The format of an image with this number of scalars in a texel, 1 to 4. `None` if images have
    /// no such type.
    pub fn of(scalar: Scalar, components: u32) -> Option<Format> {
        let order = ["", "R", "RG", "RGB", "RGBA"].get(components as usize)?;
        let order = ORDERS.iter().position(|o| o.0 == *order)? as u8;
        let numeric = match scalar.class() {
            Class::Signed => Numeric::Sint,
            Class::Unsigned => Numeric::Uint,
            Class::Float => Numeric::Sfloat,
        };
        Some(Format(Kind::Plain { order, bits: 8 * scalar.size() as u8, numeric }))
    }

    /// Its name.
    pub fn name(self) -> String {
        match self.0 {
            Kind::Plain { order, bits, numeric } => {
                let letters = ORDERS[order as usize].0;
                let numeric = NUMERICS.iter().find(|n| n.1 == numeric).map_or("", |n| n.0);
                letters.chars().map(|c| format!("{c}{bits}")).collect::<String>() + "_" + numeric
            }
            Kind::Packed(packed) => PACKED[packed as usize].0.into(),
        }
    }

    /// Its components in memory order. For a packed format, in the order of its name.
    pub fn channels(self) -> &'static [Channel] {
        match self.0 {
            Kind::Plain { order, .. } => ORDERS[order as usize].1,
            Kind::Packed(packed) => PACKED[packed as usize].2,
        }
    }

    /// The encoding of its numbers, except for a stencil beside a depth.
    pub fn numeric(self) -> Numeric {
        match self.0 {
            Kind::Plain { numeric, .. } => numeric,
            Kind::Packed(packed) => PACKED[packed as usize].4,
        }
    }

    /// Whether components share scalars. If so, a texel is one scalar.
    pub fn is_packed(self) -> bool {
        matches!(self.0, Kind::Packed(_))
    }

    /// The places of its components, in the order of [`Format::channels`].
    pub fn fields(self) -> SmallVec<[Field; 4]> {
        match self.0 {
            Kind::Plain { bits, numeric, .. } => {
                let bits = u32::from(bits);
                let field = |(i, &channel): (usize, &Channel)| Field { channel, offset: i as u32 * bits, bits, numeric };
                self.channels().iter().enumerate().map(field).collect()
            }
            Kind::Packed(packed) => {
                let (_, bytes, channels, widths, numeric) = PACKED[packed as usize];
                let (mut from_low, mut from_high) = (0, 8 * bytes);
                let field = |(&channel, &bits): (&Channel, &u32)| {
                    from_high = from_high.saturating_sub(bits);
                    let offset = if channel.colour().is_some() { from_high } else { from_low };
                    from_low += bits;
                    let numeric = if channel == Channel::Stencil { Numeric::Uint } else { numeric };
                    Field { channel, offset, bits, numeric }
                };
                channels.iter().zip(widths).map(field).collect()
            }
        }
    }

    /// The place of a component, if the format has it.
    pub fn field(self, channel: Channel) -> Option<Field> {
        self.fields().into_iter().find(|field| field.channel == channel)
    }

    /// Whether it is for a depth or stencil attachment.
    pub fn is_depth_stencil(self) -> bool {
        matches!(self.channels()[0], Channel::Depth | Channel::Stencil)
    }

    /// The size of a texel in bytes.
    pub fn texel_size(self) -> u32 {
        match self.0 {
            Kind::Plain { bits, .. } => u32::from(bits) / 8 * self.channels().len() as u32,
            Kind::Packed(packed) => PACKED[packed as usize].1,
        }
    }

    /// The number of scalars of a texel in a script: one for each component, or one if they
    /// are packed.
    pub fn scalars(self) -> u32 {
        if self.is_packed() { 1 } else { self.channels().len() as u32 }
    }

    /// The scalar type of a component in a script. For normalized encodings it is the code, not the
    /// fraction. For a packed format it is the type of the whole texel.
    pub fn scalar(self) -> Scalar {
        let (numeric, bits) = match self.0 {
            Kind::Plain { numeric, bits, .. } => (numeric, bits),
            Kind::Packed(packed) => (Numeric::Uint, 8 * PACKED[packed as usize].1 as u8),
        };
        match (numeric, bits) {
            (Numeric::Unorm | Numeric::Uint | Numeric::Srgb, 8) => Scalar::Uint8,
            (Numeric::Unorm | Numeric::Uint | Numeric::Srgb, 16) => Scalar::Uint16,
            (Numeric::Unorm | Numeric::Uint | Numeric::Srgb, 32) => Scalar::Uint32,
            (Numeric::Unorm | Numeric::Uint | Numeric::Srgb, _) => Scalar::Uint64,
            (Numeric::Snorm | Numeric::Sint, 8) => Scalar::Int8,
            (Numeric::Snorm | Numeric::Sint, 16) => Scalar::Int16,
            (Numeric::Snorm | Numeric::Sint, 32) => Scalar::Int32,
            (Numeric::Snorm | Numeric::Sint, _) => Scalar::Int64,
            (Numeric::Sfloat, 16) => Scalar::Float16,
            (Numeric::Sfloat, 32) => Scalar::Float32,
            (Numeric::Sfloat, _) => Scalar::Float64,
        }
    }

    /// The value of a component with these bits.
    pub fn component(self, channel: Channel, bits: u64) -> Value {
        let Some(Field { bits: width, numeric, .. }) = self.field(channel) else { return Value::Float(0.0) };
        let value = match (numeric, self.is_packed()) {
            (_, false) => self.scalar().value(bits),
            (Numeric::Sfloat, _) => Value::Float(f32::from_bits(bits as u32).into()),
            (Numeric::Snorm | Numeric::Sint, _) => Value::Integer(((bits << (64 - width)) as i64 >> (64 - width)).into()),
            _ => Value::Integer(bits.into()),
        };
        let greatest = |bits: u32| ((1u64 << bits) - 1) as f64;
        match numeric {
            Numeric::Uint | Numeric::Sint | Numeric::Sfloat => value,
            Numeric::Unorm => Value::Float(value.as_f64() / greatest(width)),
            Numeric::Snorm => Value::Float((value.as_f64() / greatest(width - 1)).max(-1.0)),
            Numeric::Srgb => {
                let encoded = value.as_f64() / greatest(width);
                Value::Float(if channel == Channel::Alpha { encoded } else { linear_of_srgb(encoded) })
            }
        }
    }

    /// The bits of a component of a texel.
    pub fn bits_of(self, field: Field, texel: &[u8]) -> u64 {
        let bytes = texel.iter().take(self.texel_size() as usize).rev();
        let append_byte = |bits: u128, byte: &u8| bits << 8 | u128::from(*byte);
        match self.texel_size() {
            ..=16 => (bytes.fold(0, append_byte) >> field.offset) as u64 & (u64::MAX >> (64 - field.bits)),
            // The components have 64 bits.
            _ => self.scalar().load(&texel[field.offset as usize / 8..]),
        }
    }

    /// A texel as red, green, blue and alpha. Missing components are 0, alpha 1 (Vulkan
    /// §Conversion to RGBA). A depth or stencil is red. `texel` must have at least
    /// [`Format::texel_size`] bytes.
    pub fn unpack(self, texel: &[u8]) -> [Value; 4] {
        let number = |v: u8| {
            if self.numeric() == Numeric::Sfloat || self.is_normalized() { Value::Float(f64::from(v)) } else { Value::Integer(v.into()) }
        };
        let mut rgba = [number(0), number(0), number(0), number(1)];
        // The depth is written last, so it remains, and not the stencil beside it.
        for field in self.fields().into_iter().rev() {
            rgba[field.channel.colour().unwrap_or(0)] = self.component(field.channel, self.bits_of(field, texel));
        }
        rgba
    }

    /// Whether its components are fractions.
    pub fn is_normalized(self) -> bool {
        matches!(self.numeric(), Numeric::Unorm | Numeric::Snorm | Numeric::Srgb)
    }

    /// The bits that a component may have after `value` was written to it: the lowest, the highest
    /// and the nearest. They are the component's codes or float bits.
    ///
    /// For a normalized format (Vulkan §Conversion From Floating-Point to Normalized Fixed-Point),
    /// the value is clamped and scaled. If the result is no integer, a device stores the nearest
    /// (here with ties to even), or the other neighbour within [`CONVERSION`]. A NaN may become
    /// anything. Vulkan bounds sRGB only loosely, so its result is the whole range. A 16-bit float
    /// may be rounded either way (Vulkan §16-Bit Floating-Point Numbers). 32- and 64-bit floats
    /// are stored as they are.
    pub fn written(self, channel: Channel, value: f64) -> Written {
        let exactly = |bits: u64| Written { low: bits, high: bits, nearest: bits };
        let Some(Field { bits: width, numeric, .. }) = self.field(channel) else { return exactly(0) };
        let greatest = ((1u64 << width.min(32)) - 1) as f64;
        match numeric {
            Numeric::Sfloat if width == 16 => written_half(value),
            Numeric::Sfloat if width == 32 => exactly(u64::from((value as f32).to_bits())),
            Numeric::Sfloat => exactly(value.to_bits()),
            Numeric::Unorm | Numeric::Uint | Numeric::Sint if value.is_nan() => Written { low: 0, high: greatest as u64, nearest: 0 },
            Numeric::Unorm => {
                let scaled = value.clamp(0.0, 1.0) * greatest;
                let [low, high] = [(scaled - CONVERSION).ceil(), (scaled + CONVERSION).floor()];
                Written { low: low as u64, high: high as u64, nearest: scaled.round_ties_even() as u64 }
            }
            Numeric::Snorm => {
                let mask = greatest as u64;
                let greatest_code = ((1u64 << (width - 1)) - 1) as f64;
                if value.is_nan() {
                    return Written { low: (-greatest_code) as i64 as u64 & mask, high: greatest_code as u64, nearest: 0 };
                }
                let scaled = value.clamp(-1.0, 1.0) * greatest_code;
                let bits = |v: f64| v as i64 as u64 & mask;
                let [low, high] = [(scaled - CONVERSION).ceil(), (scaled + CONVERSION).floor()];
                Written { low: bits(low), high: bits(high), nearest: bits(scaled.round_ties_even()) }
            }
            Numeric::Srgb => {
                let encoded = if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) };
                let encoded = if channel == Channel::Alpha { encoded } else { srgb_of_linear(encoded) };
                Written { low: 0, high: greatest as u64, nearest: (encoded * greatest).round_ties_even() as u64 }
            }
            // An integer format takes integers. The caller stores their low bits, and never passes
            // a fraction.
            Numeric::Uint => exactly(value as u64 & (u64::MAX >> (64 - width))),
            Numeric::Sint => exactly(value as i64 as u64 & (u64::MAX >> (64 - width))),
        }
    }
}

/// The bits that a component may have. `low` and `high` are equal or neighbours, in the order of
/// their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The bits of the least value.
    pub low: u64,
    /// The bits of the greatest value.
    pub high: u64,
    /// The bits of the nearest value.
    pub nearest: u64,
}

fn written_half(value: f64) -> Written {
    let nearest = f16_bits(value);
    let back = super::scalar::f16_value(nearest);
    let exactly = u64::from(nearest);
    if value.is_nan() || back == value {
        return Written { low: exactly, high: exactly, nearest: exactly };
    }
    // The neighbour on the other side of the value. The bits are sign and magnitude, so adding one
    // moves one step away from zero.
    let neighbour = if back.abs() < value.abs() { nearest + 1 } else { nearest - 1 };
    let (a, b) = (super::scalar::f16_value(nearest), super::scalar::f16_value(neighbour));
    let (low, high) = if a <= b { (nearest, neighbour) } else { (neighbour, nearest) };
    Written { low: u64::from(low), high: u64::from(high), nearest: exactly }
}

/// The inverse of the sRGB transfer function (Khronos Data Format §13.3).
fn linear_of_srgb(encoded: f64) -> f64 {
    if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

fn srgb_of_linear(linear: f64) -> f64 {
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str) -> Format {
        Format::named(name).unwrap_or_else(|e| panic!("{name}: {e:?}"))
    }

    #[test]
    fn names() {
        for (name, size) in [
            ("R8G8B8A8_UNORM", 4),
            ("B8G8R8A8_SRGB", 4),
            ("R32_SFLOAT", 4),
            ("R16G16_SINT", 4),
            ("R64G64B64_UINT", 24),
            ("D32_SFLOAT", 4),
            ("S8_UINT", 1),
            ("R8G8B8_SNORM", 3),
            ("A2B10G10R10_UNORM_PACK32", 4),
            ("R5G6B5_UNORM_PACK16", 2),
            ("R4G4_UNORM_PACK8", 1),
            ("D24_UNORM_S8_UINT", 4),
            ("D32_SFLOAT_S8_UINT", 8),
            ("X8_D24_UNORM_PACK32", 4),
        ] {
            assert_eq!((format(name).name().as_str(), format(name).texel_size()), (name, size));
        }
        assert_eq!(format("R8G8B8A8_UNORM"), Format::R8G8B8A8_UNORM);
        assert_eq!(format("VK_FORMAT_B8G8R8A8_UNORM"), Format::B8G8R8A8_UNORM);
        assert_eq!(format("R32G32B32A32_SFLOAT"), Format::R32G32B32A32_SFLOAT);
        for name in ["B10G11R11_UFLOAT_PACK32", "A2B10G10R10_USCALED_PACK32", "R8_USCALED"] {
            assert_eq!(Format::named(name), Err(FormatError::Unsupported), "{name}");
        }
        for name in [
            "",
            "R8",
            "_UNORM",
            "R8_",
            "R7_UNORM",
            "G8_UINT",
            "R8G16_UNORM",
            "R32_UNORM",
            "B16G16R16A16_UNORM",
            "8R_UINT",
            "float",
            "R8G8B8A8_unorm",
            "R99999999999999_UINT",
        ] {
            assert_eq!(Format::named(name), Err(FormatError::Unknown), "{name}");
        }
    }

    #[test]
    fn texels_unpack() {
        assert_eq!(format("B8G8R8A8_UNORM").unpack(&[255, 51, 0, 102]), [0.0, 0.2, 1.0, 0.4].map(Value::Float));
        assert_eq!(format("R8G8_SNORM").unpack(&[0x80, 0x7f]), [-1.0, 1.0, 0.0, 1.0].map(Value::Float));
        assert_eq!(format("R16_SINT").unpack(&[0xfe, 0xff]), [-2, 0, 0, 1].map(Value::Integer));
        // Red has the highest bits.
        let packed = (31u16 << 11 | 16).to_le_bytes();
        assert_eq!(format("R5G6B5_UNORM_PACK16").unpack(&packed), [1.0, 0.0, 16.0 / 31.0, 1.0].map(Value::Float));
        assert_eq!(format("B5G6R5_UNORM_PACK16").unpack(&packed), [16.0 / 31.0, 0.0, 1.0, 1.0].map(Value::Float));
        let packed = (2u32 << 30 | 1 << 20 | 2 << 10 | 1023).to_le_bytes();
        assert_eq!(format("A2B10G10R10_UINT_PACK32").unpack(&packed), [1023, 2, 1, 2].map(Value::Integer));
        assert_eq!(format("A2B10G10R10_SINT_PACK32").unpack(&packed), [-1, 2, 1, -2].map(Value::Integer));
        assert_eq!(format("D24_UNORM_S8_UINT").unpack(&[0, 0, 0x80, 7])[0], Value::Float(f64::from(0x80_0000) / f64::from(0xff_ffff)));
        assert_eq!(format("D32_SFLOAT_S8_UINT").unpack(&[0, 0, 0x80, 0x3f, 7, 0, 0, 0])[0], Value::Float(1.0));
        assert_eq!(format("R16_SFLOAT").unpack(&[0x00, 0x3c])[0], Value::Float(1.0));
        let Value::Float(half) = format("R8G8B8A8_SRGB").unpack(&[188, 0, 0, 188])[0] else { panic!("a fraction") };
        assert!((half - 0.502_886_5).abs() < 1e-6, "{half}");
    }

    #[test]
    fn fractions_are_stored_as_a_neighbour_within_six_tenths() {
        let unorm = format("R8_UNORM");
        assert_eq!(unorm.written(Channel::Red, 0.5), Written { low: 127, high: 128, nearest: 128 });
        assert_eq!(unorm.written(Channel::Red, 0.06), Written { low: 15, high: 15, nearest: 15 });
        assert_eq!(unorm.written(Channel::Red, 15.41 / 255.0), Written { low: 15, high: 16, nearest: 15 });
        assert_eq!(unorm.written(Channel::Red, 0.2), Written { low: 51, high: 51, nearest: 51 });
        assert_eq!(unorm.written(Channel::Red, -3.0), Written { low: 0, high: 0, nearest: 0 });
        assert_eq!(unorm.written(Channel::Red, f64::INFINITY), Written { low: 255, high: 255, nearest: 255 });
        assert_eq!(unorm.written(Channel::Red, f64::NAN), Written { low: 0, high: 255, nearest: 0 });
        assert_eq!(format("R8_SNORM").written(Channel::Red, -0.5), Written { low: 0xc0, high: 0xc1, nearest: 0xc0 });
        assert_eq!(format("R16_SFLOAT").written(Channel::Red, 2049.0), Written { low: 0x6800, high: 0x6801, nearest: 0x6800 });
        assert_eq!(format("R16_SFLOAT").written(Channel::Red, 0.1), Written { low: 0x2e66, high: 0x2e67, nearest: 0x2e66 });
        assert_eq!(format("R16_SFLOAT").written(Channel::Red, -0.1), Written { low: 0xae67, high: 0xae66, nearest: 0xae66 });
        assert_eq!(format("R16_SFLOAT").written(Channel::Red, 70000.0), Written { low: 0x7bff, high: 0x7c00, nearest: 0x7c00 });
        assert_eq!(format("R32_SFLOAT").written(Channel::Red, 0.1).nearest, u64::from(0.1f32.to_bits()));
    }
}
