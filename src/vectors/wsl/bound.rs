//! The images and samplers of a dispatch in a case: FORMAT.md, "WSL".
//!
//! An image is allocated only if the line has a code for each of its components. So a file cannot
//! demand memory by claiming a size.

use super::format::{Bits, Lane};
use crate::vectors::format::{bits_from_text, short};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};
use smallstep_semantics::image::{self, AddressMode, Border, Compare, Filter, Format, Shape};

/// The most components of the texels of all images of a case together.
pub const MAX_COMPONENTS: u64 = 1 << 20;

/// An image that is bound to a texture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ImageLine", into = "ImageLine")]
pub struct Image {
    /// The parameter's name.
    pub name: String,
    /// Its register.
    pub register: String,
    /// The type of the texture.
    pub ty: String,
    /// The texels before the dispatch.
    pub image: image::Image,
    /// The allowed values of each component of each texel after the dispatch. Empty for a texture
    /// that cannot be written.
    pub expected: Vec<Lane>,
}

/// A sampler that is bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SamplerLine", into = "SamplerLine")]
pub struct Sampler {
    /// The parameter's name.
    pub name: String,
    /// Its register.
    pub register: String,
    /// The settings.
    pub sampler: image::Sampler,
}

/// The number of components of the texels of all levels together.
pub(super) fn components(image: &image::Image) -> u64 {
    let texels = |level| image.sides(level).map_or(0, |sides| sides.iter().map(|&side| u64::from(side)).product::<u64>());
    (0..image.levels()).map(texels).sum::<u64>() * image.format().channels().len() as u64
}

/// A value that a line contains by its name.
trait Named: Copy + PartialEq + 'static {
    /// The kind of value, for messages.
    const WHAT: &'static str;
    /// Every value.
    const ALL: &'static [Self];

    fn name(self) -> &'static str;
}

impl Named for Format {
    const WHAT: &'static str = "format";
    const ALL: &'static [Format] = Format::ALL;

    fn name(self) -> &'static str {
        Format::name(self)
    }
}

impl Named for Shape {
    const WHAT: &'static str = "shape of images";
    const ALL: &'static [Shape] = &Shape::ALL;

    fn name(self) -> &'static str {
        match self {
            Shape::D1 => "1d",
            Shape::D1Array => "1d-array",
            Shape::D2 => "2d",
            Shape::D2Array => "2d-array",
            Shape::D3 => "3d",
            Shape::Cube => "cube",
            Shape::CubeArray => "cube-array",
        }
    }
}

impl Named for Filter {
    const WHAT: &'static str = "filter";
    const ALL: &'static [Filter] = &[Filter::Nearest, Filter::Linear];

    fn name(self) -> &'static str {
        match self {
            Filter::Nearest => "nearest",
            Filter::Linear => "linear",
        }
    }
}

impl Named for AddressMode {
    const WHAT: &'static str = "address mode";
    const ALL: &'static [AddressMode] = &AddressMode::ALL;

    fn name(self) -> &'static str {
        match self {
            AddressMode::Repeat => "repeat",
            AddressMode::MirroredRepeat => "mirrored-repeat",
            AddressMode::ClampToEdge => "clamp-to-edge",
            AddressMode::ClampToBorder => "clamp-to-border",
        }
    }
}

impl Named for Border {
    const WHAT: &'static str = "border colour";
    const ALL: &'static [Border] = &[Border::TransparentBlack, Border::OpaqueBlack, Border::OpaqueWhite];

    fn name(self) -> &'static str {
        match self {
            Border::TransparentBlack => "transparent-black",
            Border::OpaqueBlack => "opaque-black",
            Border::OpaqueWhite => "opaque-white",
        }
    }
}

impl Named for Option<Compare> {
    const WHAT: &'static str = "comparison";
    const ALL: &'static [Option<Compare>] = &[
        None,
        Some(Compare::Never),
        Some(Compare::Less),
        Some(Compare::Equal),
        Some(Compare::LessOrEqual),
        Some(Compare::Greater),
        Some(Compare::NotEqual),
        Some(Compare::GreaterOrEqual),
        Some(Compare::Always),
    ];

    fn name(self) -> &'static str {
        match self {
            None => "none",
            Some(Compare::Never) => "never",
            Some(Compare::Less) => "less",
            Some(Compare::Equal) => "equal",
            Some(Compare::LessOrEqual) => "less-or-equal",
            Some(Compare::Greater) => "greater",
            Some(Compare::NotEqual) => "not-equal",
            Some(Compare::GreaterOrEqual) => "greater-or-equal",
            Some(Compare::Always) => "always",
        }
    }
}

/// The name of a value in a line.
#[derive(Clone, Copy)]
struct Name<T>(T);

impl<T: Named> Serialize for Name<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de, T: Named> Deserialize<'de> for Name<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name<T>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let found = T::ALL.iter().find(|named| named.name() == text);
        found.map(|&named| Name(named)).ok_or_else(|| de::Error::custom(format!("no {} is called \"{}\"", T::WHAT, short(&text))))
    }
}

/// The code of a component. `None` if it is undefined.
#[derive(Clone, Copy)]
struct Code(Option<u32>);

const UNDEFINED: &str = "undefined";

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(code) => Bits(code).serialize(serializer),
            None => serializer.serialize_str(UNDEFINED),
        }
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Code, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == UNDEFINED {
            return Ok(Code(None));
        }
        let invalid =
            || de::Error::invalid_value(de::Unexpected::Str(short(&text)), &"eight lower-case hexadecimal digits, or \"undefined\"");
        bits_from_text(&text).map(|code| Code(Some(code))).ok_or_else(invalid)
    }
}

/// The fields of an image in a line.
#[derive(Serialize, Deserialize)]
struct ImageLine {
    name: String,
    register: String,
    #[serde(rename = "type")]
    ty: String,
    format: Name<Format>,
    shape: Name<Shape>,
    sides: [u32; 3],
    levels: u32,
    given: Vec<Code>,
    #[serde(default)]
    expected: Vec<Lane>,
}

impl From<Image> for ImageLine {
    fn from(of: Image) -> ImageLine {
        let Image { name, register, ty, image, expected } = of;
        let mut given = Vec::with_capacity(components(&image) as usize);
        for level in 0..image.levels() {
            let texels = (0..).map_while(|index| image.raw_of(level, index));
            for (texel, undefined) in texels {
                let channels = image.format().channels().iter().enumerate();
                given.extend(channels.map(|(c, channel)| {
                    let code = (texel >> channel.offset) as u32 & (u32::MAX >> (32 - channel.width));
                    Code((undefined >> c & 1 == 0).then_some(code))
                }));
            }
        }
        let (format, shape) = (Name(image.format()), Name(image.shape()));
        let (sides, levels) = (image.sides(0).unwrap_or_default(), image.levels());
        ImageLine { name, register, ty, format, shape, sides, levels, given, expected }
    }
}

impl TryFrom<ImageLine> for Image {
    type Error = String;

    fn try_from(line: ImageLine) -> Result<Image, String> {
        let ImageLine { name, register, ty, format: Name(format), shape: Name(shape), sides, levels, given, expected } = line;
        let first = sides.iter().map(|&side| u128::from(side)).product::<u128>() * format.channels().len() as u128;
        // All levels together have less than twice the components of the first level.
        if first > given.len() as u128 {
            return Err(format!("`given` of `{}` has {} components; level 0 alone has {first}", short(&name), given.len()));
        }
        let mut image = image::Image::of_shape(format, shape, sides, levels).map_err(|e| format!("`{}`: {e}", short(&name)))?;
        let needed = components(&image);
        if given.len() as u64 != needed {
            return Err(format!("`given` of `{}` has {} components; {needed} are needed", short(&name), given.len()));
        }
        let mut rest = given.chunks_exact(format.channels().len());
        for level in 0..levels {
            let texels = image.sides(level).unwrap_or_default().iter().map(|&side| side as usize).product();
            for (index, codes) in rest.by_ref().take(texels).enumerate() {
                let (mut texel, mut undefined) = (0, 0);
                for (c, (channel, code)) in format.channels().iter().zip(codes).enumerate() {
                    let bits = code.0.unwrap_or(0);
                    if u64::from(bits) >> channel.width != 0 {
                        let (name, format, width) = (short(&name), format.name(), channel.width);
                        return Err(format!("`given` of `{name}` has the code {bits:08x} where {format} has a component of {width} bits"));
                    }
                    texel |= u128::from(bits) << channel.offset;
                    undefined |= u8::from(code.0.is_none()) << c;
                }
                image.set_raw(level, index, texel, undefined).ok_or("an image has fewer texels than its sides say")?;
            }
        }
        Ok(Image { name, register, ty, image, expected })
    }
}

/// The fields of a sampler in a line. Levels of detail are the bits of floats.
#[derive(Serialize, Deserialize)]
struct SamplerLine {
    name: String,
    register: String,
    mag: Name<Filter>,
    min: Name<Filter>,
    mip: Name<Filter>,
    address: [Name<AddressMode>; 3],
    border: Name<Border>,
    unnormalized: bool,
    lod_bias: Bits,
    lod_min: Bits,
    lod_max: Bits,
    compare: Name<Option<Compare>>,
}

impl From<Sampler> for SamplerLine {
    fn from(of: Sampler) -> SamplerLine {
        let Sampler { name, register, sampler } = of;
        let image::Sampler { mag, min, mip, address, border, unnormalized, lod_bias, lod_min, lod_max, compare } = sampler;
        let [lod_bias, lod_min, lod_max] = [lod_bias, lod_min, lod_max].map(|lod| Bits(lod.to_bits()));
        SamplerLine {
            name,
            register,
            mag: Name(mag),
            min: Name(min),
            mip: Name(mip),
            address: address.map(Name),
            border: Name(border),
            unnormalized,
            lod_bias,
            lod_min,
            lod_max,
            compare: Name(compare),
        }
    }
}

impl TryFrom<SamplerLine> for Sampler {
    type Error = String;

    fn try_from(line: SamplerLine) -> Result<Sampler, String> {
        let [lod_bias, lod_min, lod_max] = [line.lod_bias, line.lod_min, line.lod_max].map(|bits| f32::from_bits(bits.0));
        let name = short(&line.name);
        if let Some((field, _)) = [("lod_bias", lod_bias), ("lod_min", lod_min), ("lod_max", lod_max)].iter().find(|(_, lod)| lod.is_nan())
        {
            return Err(format!("`{field}` of `{name}` is no number"));
        }
        if lod_min > lod_max {
            return Err(format!("`lod_min` of `{name}` is {lod_min}, which is greater than its `lod_max`, {lod_max}"));
        }
        let sampler = image::Sampler {
            mag: line.mag.0,
            min: line.min.0,
            mip: line.mip.0,
            address: line.address.map(|mode| mode.0),
            border: line.border.0,
            unnormalized: line.unnormalized,
            lod_bias,
            lod_min,
            lod_max,
            compare: line.compare.0,
        };
        Ok(Sampler { name: line.name, register: line.register, sampler })
    }
}
