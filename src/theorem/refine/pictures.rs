//! The images and samplers of inputs: small, with random formats and texels.

use smallstep_semantics::image::{AddressMode, Compare, Filter, Format, Image, Numeric, Sampler, Shape};
use smallstep_semantics::number::integer::mask;

use super::numbers::Numbers;
use crate::compute::given::Place;
use crate::dispatch::resources::{ResourceKind, Texels};
use crate::generate::Random;

/// The descriptor of an image or a sampler in inputs.
#[derive(Clone, Copy, Debug)]
pub struct Handle {
    /// The set and binding of the descriptor.
    pub place: Place,
    /// The kind of resource.
    pub resource: ResourceKind,
    /// Whether it is used with a depth reference.
    pub compares: bool,
}

impl Handle {
    fn image_kind(&self) -> Option<(Shape, Option<Format>, Texels, bool)> {
        match self.resource {
            ResourceKind::SampledImage(shape, texels) | ResourceKind::CombinedImageSampler(shape, texels) => {
                Some((shape, None, texels, true))
            }
            ResourceKind::StorageImage(shape, format, texels) => Some((shape, format, texels, false)),
            ResourceKind::TexelBuffer { written, format, texels } => Some((Shape::D1, format, texels, !written)),
            _ => None,
        }
    }

    /// A random image for it, with numbers of this level. `None` if it is no image.
    pub(super) fn image(&self, level: u32, numbers: &Numbers, random: &mut Random) -> Option<Image> {
        let (shape, format, texels, sampled) = self.image_kind()?;
        let format = format.unwrap_or_else(|| match (texels, self.compares) {
            (_, true) => Format::D32Sfloat,
            (Texels::Float, _) if sampled => random.pick(&[Format::Rgba32Sfloat, Format::Rgba8Unorm, Format::R32Sfloat]),
            (Texels::Float, _) => Format::Rgba32Sfloat,
            (Texels::Uint, _) => Format::Rgba32Uint,
            (Texels::Sint, _) => Format::Rgba32Sint,
        });
        let mut side = || random.between(1, if level == 0 { 4 } else { 6 });
        let (width, height, depth) = (side(), side(), side());
        let sides = match shape {
            Shape::D1 => [width, 1, 1],
            Shape::D1Array => [width, 1, depth.min(3)],
            Shape::D2 => [width, height, 1],
            Shape::D2Array => [width, height, depth.min(3)],
            Shape::D3 => [width, height, depth],
            Shape::Cube => [width, width, 6],
            Shape::CubeArray => [width, width, 6 * depth.min(3)],
        };
        let levels = if sampled && width.max(height) > 1 && shape != Shape::D1 { random.between(1, 2) } else { 1 };
        let mut image = Image::of_shape(format, shape, sides, levels).or_else(|_| Image::of_shape(format, shape, sides, 1)).ok()?;
        for level_of_detail in 0..image.levels() {
            let count: u32 = image.sides(level_of_detail)?.into_iter().product();
            let bytes: Vec<u8> = (0..count).flat_map(|_| texel(format, level, numbers, random)).collect();
            image.fill(level_of_detail, &bytes).ok()?;
        }
        Some(image)
    }

    /// Whether it is an image of integers that may be sampled. Only nearest filters are for these.
    pub(super) fn has_sampled_integers(&self) -> bool {
        matches!(self.image_kind(), Some((_, _, Texels::Uint | Texels::Sint, true)))
    }

    /// A sampler for it, with nearest filters alone unless `filters`; `None` for what is no
    /// sampler.
    pub(super) fn sampler(&self, level: u32, filters: bool, random: &mut Random) -> Option<Sampler> {
        if !matches!(self.resource, ResourceKind::Sampler | ResourceKind::CombinedImageSampler(..)) {
            return None;
        }
        let filter = |random: &mut Random| if level > 0 && random.percent(40) && filters { Filter::Linear } else { Filter::Nearest };
        let modes = [AddressMode::ClampToEdge, AddressMode::Repeat, AddressMode::MirroredRepeat];
        let address = |random: &mut Random| if level == 0 { AddressMode::ClampToEdge } else { random.pick(&modes) };
        Some(Sampler {
            mag: filter(random),
            min: filter(random),
            mip: Filter::Nearest,
            address: [address(random), address(random), address(random)],
            compare: self.compares.then(|| random.pick(&[Compare::LessOrEqual, Compare::Less, Compare::GreaterOrEqual])),
            ..Sampler::default()
        })
    }
}

/// The bytes of a random texel.
fn texel(format: Format, level: u32, numbers: &Numbers, random: &mut Random) -> Vec<u8> {
    let mut texel = 0u128;
    for channel in format.channels() {
        let code = match format.numeric() {
            _ if format.is_depth() && format.numeric() == Numeric::Float => u64::from((random.below(9) as f32 / 8.0).to_bits()),
            Numeric::Float => numbers.float(channel.width, level, random),
            Numeric::Uint | Numeric::Sint => numbers.integer(channel.width, level, random),
            Numeric::Unorm | Numeric::Snorm => random.bits(),
        };
        texel |= u128::from(code & mask(channel.width)) << channel.offset;
    }
    texel.to_le_bytes()[..format.bytes()].to_vec()
}
