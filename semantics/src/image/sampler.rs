//! Samplers: Vulkan, VkSamplerCreateInfo; Wrapping Operation; Depth Compare Operation.

use std::fmt;

use super::Format;

/// The greatest bias of the level of detail. The least `maxSamplerLodBias` that a device may have
/// is 2; devices have about 15.
pub const MAX_LOD_BIAS: f64 = 15.0;

/// A filter, within a level or between levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Filter {
    /// The nearest texel or level.
    #[default]
    Nearest,
    /// The weighted average of the neighbours.
    Linear,
}

/// The texel that a coordinate outside of the level selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum AddressMode {
    /// The level is repeated.
    #[default]
    Repeat,
    /// The level is repeated, and every second copy is mirrored.
    MirroredRepeat,
    /// The texel at the edge.
    ClampToEdge,
    /// The border colour.
    ClampToBorder,
}

impl AddressMode {
    /// Every mode.
    pub const ALL: [AddressMode; 4] =
        [AddressMode::Repeat, AddressMode::MirroredRepeat, AddressMode::ClampToEdge, AddressMode::ClampToBorder];

    /// The integer coordinate within a level of that size. -1 or the size for the border.
    /// [Wrapping Operation]
    pub fn wrap(self, i: i64, size: i64) -> i64 {
        match self {
            AddressMode::Repeat => i.rem_euclid(size),
            AddressMode::MirroredRepeat => {
                let n = i.rem_euclid(2 * size) - size;
                (size - 1) - if n >= 0 { n } else { -(1 + n) }
            }
            AddressMode::ClampToEdge => i.clamp(0, size - 1),
            AddressMode::ClampToBorder => i.clamp(-1, size),
        }
    }
}

/// The colour of border texels: floats or integers, as the image has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Border {
    /// (0, 0, 0, 0).
    #[default]
    TransparentBlack,
    /// (0, 0, 0, 1).
    OpaqueBlack,
    /// (1, 1, 1, 1).
    OpaqueWhite,
}

impl Border {
    /// The components: red, green, blue and alpha.
    pub fn colour(self) -> [f64; 4] {
        match self {
            Border::TransparentBlack => [0.0; 4],
            Border::OpaqueBlack => [0.0, 0.0, 0.0, 1.0],
            Border::OpaqueWhite => [1.0; 4],
        }
    }
}

/// A comparison: VkCompareOp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// Never.
    Never,
    /// reference < stored.
    Less,
    /// reference = stored.
    Equal,
    /// reference ≤ stored.
    LessOrEqual,
    /// reference > stored.
    Greater,
    /// reference ≠ stored.
    NotEqual,
    /// reference ≥ stored.
    GreaterOrEqual,
    /// Always.
    Always,
}

impl Compare {
    /// Every comparison.
    pub const ALL: [Compare; 8] = [
        Compare::Never,
        Compare::Less,
        Compare::Equal,
        Compare::LessOrEqual,
        Compare::Greater,
        Compare::NotEqual,
        Compare::GreaterOrEqual,
        Compare::Always,
    ];

    /// Whether the comparison of the reference with the stored number holds.
    pub fn holds(self, reference: f64, stored: f64) -> bool {
        match self {
            Compare::Never => false,
            Compare::Less => reference < stored,
            Compare::Equal => reference == stored,
            Compare::LessOrEqual => reference <= stored,
            Compare::Greater => reference > stored,
            Compare::NotEqual => reference != stored,
            Compare::GreaterOrEqual => reference >= stored,
            Compare::Always => true,
        }
    }

    /// `Some(true)` if it holds for all numbers of the two intervals, `Some(false)` if it holds for
    /// none, and `None` if it depends.
    pub fn decided(self, reference: crate::number::Interval, stored: crate::number::Interval) -> Option<bool> {
        if matches!(self, Compare::Never | Compare::Always) {
            return Some(self == Compare::Always);
        }
        if reference.nan || stored.nan {
            return None;
        }
        let less = if reference.high < stored.low { Some(true) } else { (reference.low >= stored.high).then_some(false) };
        let greater = if reference.low > stored.high { Some(true) } else { (reference.high <= stored.low).then_some(false) };
        let is_unequal = less == Some(true) || greater == Some(true);
        let are_points = reference.low == reference.high && stored.low == stored.high;
        let equal = if is_unequal { Some(false) } else { (are_points && reference.low == stored.low).then_some(true) };
        match self {
            Compare::Less => less,
            Compare::GreaterOrEqual => less.map(|b| !b),
            Compare::Greater => greater,
            Compare::LessOrEqual => greater.map(|b| !b),
            Compare::Equal => equal,
            _ => equal.map(|b| !b),
        }
    }
}

/// A sampler's state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampler {
    /// The filter within a level that is magnified.
    pub mag: Filter,
    /// The filter within a level that is minified.
    pub min: Filter,
    /// The filter between levels.
    pub mip: Filter,
    /// The address modes in x, y and z. Cubes ignore them.
    pub address: [AddressMode; 3],
    /// The colour of border texels.
    pub border: Border,
    /// Whether coordinates count texels and are not normalized.
    pub unnormalized: bool,
    /// The bias that is added to every level of detail.
    pub lod_bias: f32,
    /// The least level of detail.
    pub lod_min: f32,
    /// The greatest level of detail.
    pub lod_max: f32,
    /// The comparison of a depth reference with a texel. `None` if the sampler does not compare.
    pub compare: Option<Compare>,
}

impl Default for Sampler {
    /// Nearest texels of the level that is nearest to the level of detail, repeated.
    fn default() -> Sampler {
        Sampler {
            mag: Filter::Nearest,
            min: Filter::Nearest,
            mip: Filter::Nearest,
            address: [AddressMode::Repeat; 3],
            border: Border::TransparentBlack,
            unnormalized: false,
            lod_bias: 0.0,
            lod_min: 0.0,
            lod_max: 1000.0,
            compare: None,
        }
    }
}

/// Why a sampler is not valid for an image or an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SamplerError {
    /// A linear filter for an image of integers.
    IntegerLinear,
    /// Unnormalized coordinates together with filters that differ, levels, repetition, comparison,
    /// or a level of detail other than 0.
    Unnormalized,
    /// An instruction with a depth reference and a sampler without comparison, or the reverse.
    Comparison,
    /// A level of detail or a bias that is NaN.
    NaN,
}

impl fmt::Display for SamplerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SamplerError::IntegerLinear => "a linear filter is used with an image of integers; only nearest ones may be",
            SamplerError::Unnormalized => {
                "a sampler of unnormalized coordinates has equal nearest or linear filters, nearest level 0, clamping and no comparison; this one has not"
            }
            SamplerError::Comparison => "a depth reference is given to a sampler that compares, and only to such a one",
            SamplerError::NaN => "a level of detail of the sampler is no number",
        })
    }
}

impl std::error::Error for SamplerError {}

impl Sampler {
    /// Checks whether the sampler may be used with images of that format, with or without a
    /// depth reference.
    ///
    /// # Errors
    /// If it may not: VkSamplerCreateInfo's valid usage, and Texel Input Validation.
    pub fn check(&self, format: Format, with_reference: bool) -> Result<(), SamplerError> {
        let clamps = |mode: &AddressMode| matches!(mode, AddressMode::ClampToEdge | AddressMode::ClampToBorder);
        if format.numeric().is_integer() && [self.mag, self.min, self.mip].contains(&Filter::Linear) {
            return Err(SamplerError::IntegerLinear);
        }
        if self.unnormalized
            && (self.mag != self.min
                || self.mip != Filter::Nearest
                || self.lod_min != 0.0
                || self.lod_max != 0.0
                || self.compare.is_some()
                || !self.address[..2].iter().all(clamps))
        {
            return Err(SamplerError::Unnormalized);
        }
        if self.compare.is_some() != with_reference {
            return Err(SamplerError::Comparison);
        }
        if self.lod_min.is_nan() || self.lod_max.is_nan() || self.lod_bias.is_nan() {
            return Err(SamplerError::NaN);
        }
        Ok(())
    }
}

/// The precision of a device: limits of VkPhysicalDeviceLimits, and one that the specification does
/// not state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precision {
    /// `subTexelPrecisionBits`: texel coordinates are accurate to 2^-this texels. At least 4.
    pub sub_texel_bits: u8,
    /// `mipmapPrecisionBits`: levels of detail are accurate to 2^-this. At least 4.
    pub mipmap_bits: u8,
    /// A sum of two weighted texels is accurate to 2^-this of the greater one, or of 1 if they are
    /// normalized. The specification states no number for this.
    pub filter_bits: u8,
}

impl Precision {
    /// The least precision that a device may have. Sums are as precise as the format's components.
    pub fn least(format: Format) -> Precision {
        let width = format.channels().iter().map(|c| c.width).max().unwrap_or(8);
        let filter_bits = match width {
            8 => 8,
            16 => 10,
            10 => 9,
            _ => 18,
        };
        Precision { sub_texel_bits: 4, mipmap_bits: 4, filter_bits }
    }
}
