//! Images in memory: levels of texels, with undefined components. Fetch, read, write and queries by
//! integer coordinates: Vulkan, Texel Input Validation, Texel Replacement, Texel Output Coordinate
//! Validation, Integer Texel Coordinate Operations.

use std::fmt;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::texel::{self, Codes, Texel, shader_bits};
use super::{Format, Rules, Shape};
use crate::number::Interval;
use crate::number::integer::mask;
use crate::undefined::Unspecified;

/// The most bytes of all levels of one image together.
pub const MAX_BYTES: u64 = 1 << 30;

/// The environment's guarantee for image accesses that are out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Robustness {
    /// The values read are undefined.
    #[default]
    None,
    /// robustImageAccess: zeros with an alpha of 0 or 1 for an invalid coordinate, undefined values
    /// for an invalid level.
    Access,
    /// robustImageAccess2: the format's zeros.
    Access2,
}

/// Why an image cannot be created or filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageError {
    /// A side is 0.
    Empty,
    /// The levels together have more than [`MAX_BYTES`].
    TooLarge,
    /// A number of levels that is 0 or more than the floor of the greatest side's binary logarithm,
    /// plus 1: the number found, and the most.
    Levels(u32, u32),
    /// A level that the image does not have.
    NoLevel(u32),
    /// Another number of bytes than a level has: found and required.
    Length(usize, usize),
    /// Sides that the shape cannot have.
    Shape(Shape),
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Empty => write!(f, "an image has a side of 0 texels; it has 1 at least"),
            ImageError::TooLarge => write!(f, "an image has more than {MAX_BYTES} bytes"),
            ImageError::Levels(found, most) => write!(f, "an image has {found} levels; of its size it has 1 to {most}"),
            ImageError::NoLevel(level) => write!(f, "the image has no level {level}"),
            ImageError::Length(found, required) => write!(f, "{found} bytes are given for a level of {required}"),
            ImageError::Shape(Shape::D1 | Shape::D1Array) => {
                write!(f, "an image of one dimension has a height of 1, and one layer unless it is an array")
            }
            ImageError::Shape(Shape::Cube) => write!(f, "a cube has six faces, as high as wide"),
            ImageError::Shape(Shape::CubeArray) => write!(f, "cubes have six faces each, as high as wide"),
            ImageError::Shape(_) => write!(f, "an image of two dimensions has one layer unless it is an array"),
        }
    }
}

impl std::error::Error for ImageError {}

/// A level of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Level {
    /// Width, height, and the number of slices: the depth, or the number of layers or faces, which
    /// is the same in every level.
    sides: [u32; 3],
    /// Row after row, slice after slice.
    bytes: Vec<u8>,
    /// For each texel, bit c: whether component c is undefined. Bit 4 + c: whether it was rounded
    /// when it was stored, so that another device may hold the neighbouring code.
    shadow: Vec<u8>,
    /// Other numbers that a device may hold in each component, by the texel's
    /// index: [`Image::allow`].
    open: FxHashMap<usize, [Option<Interval>; 4]>,
}

/// An image. A texel is at (x, y, z) of a level, where z is the place in the third dimension, the
/// layer or the face. Coordinates that the shape does not have are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    format: Format,
    shape: Shape,
    levels: Vec<Level>,
}

/// A texel as it is stored: Texel Output Format Conversion.
struct Encoded {
    texel: u128,
    shadow: u8,
    codes: SmallVec<[Codes; 4]>,
}

impl Encoded {
    fn of(format: Format, components: [u32; 4], undefined: u8) -> Encoded {
        let mut encoded = Encoded { texel: 0, shadow: 0, codes: SmallVec::new() };
        for (c, channel) in format.channels().iter().enumerate() {
            let codes = texel::pack(format.numeric(), channel.width, components[c]);
            encoded.texel |= u128::from(codes.best) << channel.offset;
            let is_undefined = undefined >> c & 1 == 1 || codes.any.is_some();
            encoded.shadow |= u8::from(is_undefined) << c | u8::from(!codes.others.is_empty()) << (4 + c);
            encoded.codes.push(codes);
        }
        encoded
    }

    fn copy_to(&self, texel: &mut [u8]) {
        texel.copy_from_slice(&self.texel.to_le_bytes()[..texel.len()]);
    }
}

impl Image {
    /// An image of two dimensions and one layer, with undefined texels.
    ///
    /// # Errors
    /// If there are no texels, too many, or levels that the size does not have.
    pub fn new(format: Format, width: u32, height: u32, levels: u32) -> Result<Image, ImageError> {
        Image::of_shape(format, Shape::D2, [width, height, 1], levels)
    }

    /// An image with undefined texels, of that width, height, and depth or number of layers or
    /// faces. Each level has half the sides of the one before, rounded down, but at least 1. It has
    /// the same number of layers: Image Mip Level Sizing.
    ///
    /// # Errors
    /// If there are no texels, too many, levels that the size does not have, or sides that the
    /// shape cannot have.
    pub fn of_shape(format: Format, shape: Shape, sides: [u32; 3], levels: u32) -> Result<Image, ImageError> {
        let [width, height, slices] = sides;
        let depth = if shape == Shape::D3 { slices } else { 1 };
        let side = width.max(height).max(depth);
        if sides.contains(&0) {
            return Err(ImageError::Empty);
        }
        let fits = match shape {
            Shape::D1 => [height, slices] == [1, 1],
            Shape::D1Array => height == 1,
            Shape::D2 => slices == 1,
            Shape::D2Array | Shape::D3 => true,
            Shape::Cube => width == height && slices == 6,
            Shape::CubeArray => width == height && slices % 6 == 0,
        };
        if !fits {
            return Err(ImageError::Shape(shape));
        }
        let most = side.ilog2() + 1;
        if levels == 0 || levels > most {
            return Err(ImageError::Levels(levels, most));
        }
        let half = |side: u32, level: u32| (side >> level).max(1);
        let of_level = |l: u32| [half(width, l), half(height, l), if shape == Shape::D3 { half(slices, l) } else { slices }];
        let texels = |l: u32| of_level(l).into_iter().map(u128::from).product::<u128>();
        let bytes = (0..levels).map(|l| texels(l).saturating_mul(format.bytes() as u128)).fold(0, u128::saturating_add);
        if bytes > u128::from(MAX_BYTES) {
            return Err(ImageError::TooLarge);
        }
        let all = mask(format.channels().len() as u8) as u8;
        let level = |l: u32| {
            let texels = texels(l) as usize;
            Level { sides: of_level(l), bytes: vec![0; texels * format.bytes()], shadow: vec![all; texels], open: FxHashMap::default() }
        };
        Ok(Image { format, shape, levels: (0..levels).map(level).collect() })
    }

    /// The shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The number of levels.
    pub fn levels(&self) -> u32 {
        self.levels.len() as u32
    }

    /// Width and height of a level in texels.
    pub fn size(&self, level: u32) -> Option<[u32; 2]> {
        self.sides(level).map(|[width, height, _]| [width, height])
    }

    /// Width, height, and depth or number of layers or faces of a level, in texels.
    pub fn sides(&self, level: u32) -> Option<[u32; 3]> {
        self.levels.get(level as usize).map(|l| l.sides)
    }

    /// OpImageQuerySizeLod: width, height, and depth or number of layers, as far as the shape has
    /// them. Undefined for a level that does not exist.
    ///
    /// # Errors
    /// Why the result is an undefined value.
    pub fn query_size(&self, lod: i64) -> Result<SmallVec<[u32; 3]>, Unspecified> {
        let sides = u32::try_from(lod).ok().and_then(|lod| self.sides(lod)).ok_or(Unspecified::ImageLevel)?;
        let [width, height, slices] = sides;
        let sides = [width, height, if self.shape.is_layered() { slices / self.shape.faces() } else { slices }];
        Ok(self.shape.queried().iter().map(|&axis| sides[axis]).collect())
    }

    /// The bytes of a level, row after row. Texels that were never defined are zeros.
    pub fn bytes(&self, level: u32) -> Option<&[u8]> {
        self.levels.get(level as usize).map(|l| l.bytes.as_slice())
    }

    /// Sets the bytes of a level, row after row. Afterwards all texels are defined.
    ///
    /// # Errors
    /// If the level does not exist, or has another number of bytes.
    pub fn fill(&mut self, level: u32, bytes: &[u8]) -> Result<(), ImageError> {
        let target = self.levels.get_mut(level as usize).ok_or(ImageError::NoLevel(level))?;
        if bytes.len() != target.bytes.len() {
            return Err(ImageError::Length(bytes.len(), target.bytes.len()));
        }
        target.bytes.copy_from_slice(bytes);
        target.shadow.fill(0);
        target.open.clear();
        Ok(())
    }

    /// Sets the bits of a texel, as one little-endian number, and its undefined components, as
    /// bits 0 to 3 of `undefined`. `index` counts the texels of the level. `None` if the texel
    /// does not exist.
    pub fn set_raw(&mut self, level: u32, index: usize, texel: u128, undefined: u8) -> Option<()> {
        let size = self.format.bytes();
        let target = self.levels.get_mut(level as usize)?;
        *target.shadow.get_mut(index)? = undefined & 15;
        target.open.remove(&index);
        target.bytes.get_mut(index * size..)?.get_mut(..size)?.copy_from_slice(&texel.to_le_bytes()[..size]);
        Some(())
    }

    /// Records other numbers that a device may hold in some components of a texel, as a shader sees
    /// them. They may include what the texel holds, or not. `index` counts the texels of the level.
    /// `None` if the texel does not exist.
    pub fn allow(&mut self, level: u32, index: usize, components: [Option<Interval>; 4]) -> Option<()> {
        let target = self.levels.get_mut(level as usize)?;
        target.shadow.get(index)?;
        target.open.insert(index, components);
        Some(())
    }

    /// Sets every texel of a level to this colour: the bits of 32-bit floats, or of integers.
    ///
    /// # Errors
    /// If the level does not exist.
    pub fn clear(&mut self, level: u32, colour: [u32; 4]) -> Result<(), ImageError> {
        let encoded = Encoded::of(self.format, colour, 0);
        let target = self.levels.get_mut(level as usize).ok_or(ImageError::NoLevel(level))?;
        for texel in target.bytes.chunks_exact_mut(self.format.bytes()) {
            encoded.copy_to(texel);
        }
        target.shadow.fill(encoded.shadow);
        target.open.clear();
        Ok(())
    }

    /// The index of a texel of slice 0 among those of its level. `None` if it does not exist.
    pub fn index(&self, level: u32, x: i64, y: i64) -> Option<usize> {
        self.index_at(level, [x, y, 0])
    }

    /// The index of a texel among those of its level. `None` if it does not exist.
    #[inline]
    pub fn index_at(&self, level: u32, [x, y, z]: [i64; 3]) -> Option<usize> {
        let [width, height, slices] = self.levels.get(level as usize)?.sides;
        let is_in_range = |at: i64, side: u32| (0..i64::from(side)).contains(&at);
        let is_inside = is_in_range(x, width) && is_in_range(y, height) && is_in_range(z, slices);
        is_inside.then(|| (z as usize * height as usize + y as usize) * width as usize + x as usize)
    }

    /// The bits of a texel of slice 0, as one little-endian number, and its undefined components,
    /// as bits 0 to 3 of the second number.
    pub fn raw(&self, level: u32, x: i64, y: i64) -> Option<(u128, u8)> {
        self.raw_of(level, self.index(level, x, y)?)
    }

    /// [`Image::raw`] for a texel by its index in its level.
    pub fn raw_of(&self, level: u32, index: usize) -> Option<(u128, u8)> {
        let (l, size) = (self.levels.get(level as usize)?, self.format.bytes());
        let shadow = l.shadow.get(index)?;
        let mut bytes = [0; 16];
        bytes[..size].copy_from_slice(&l.bytes[index * size..][..size]);
        Some((u128::from_le_bytes(bytes), shadow & 15))
    }

    /// The components of a texel that were rounded when they were stored, so that another device
    /// may hold the neighbouring code: bit c for component c.
    pub fn rounded(&self, level: u32, x: i64, y: i64) -> Option<u8> {
        self.rounded_of(level, self.index(level, x, y)?)
    }

    /// [`Image::rounded`] for a texel by its index in its level.
    pub fn rounded_of(&self, level: u32, index: usize) -> Option<u8> {
        self.levels.get(level as usize)?.shadow.get(index).map(|shadow| shadow >> 4)
    }

    /// The texels of a level with a component that is undefined or was rounded: their indices in
    /// the level, with the components that [`Image::raw`] and [`Image::rounded`] name.
    pub fn inexact(&self, level: u32) -> impl Iterator<Item = (usize, u8, u8)> {
        let shadows = self.levels.get(level as usize).map_or(&[][..], |level| &level.shadow);
        let any = shadows.iter().fold(0, |any, shadow| any | shadow) != 0;
        let shadows = if any { shadows } else { &[] };
        shadows.iter().enumerate().filter(|(_, shadow)| **shadow != 0).map(|(index, shadow)| (index, shadow & 15, shadow >> 4))
    }

    /// The texel, decoded by these rules. `None` if it does not exist.
    pub(super) fn texel(&self, rules: &Rules, level: u32, at: [i64; 3]) -> Option<Texel> {
        let index = self.index_at(level, at)?;
        let (bits, undefined) = self.raw_of(level, index)?;
        let level = &self.levels[level as usize];
        let mut texel = Texel::decode(rules, self.format, bits, undefined, level.shadow[index] >> 4);
        if let Some(open) = level.open.get(&index) {
            for (allowed, open) in texel.allowed.iter_mut().zip(open) {
                *allowed = open.map_or(*allowed, |open| allowed.hull(open));
            }
        }
        Some(texel)
    }

    /// OpImageFetch at a level, and OpImageRead at level 0: the texel, converted to four
    /// components. Missing components are 0, 0 and 1.
    pub fn fetch(&self, x: i64, y: i64, lod: i64, robustness: Robustness) -> Texel {
        self.fetch_by(&Rules::default(), [x, y, 0], lod, robustness)
    }

    /// [`Image::fetch`] with definite values by these rules, in any slice.
    pub fn fetch_by(&self, rules: &Rules, at: [i64; 3], lod: i64, robustness: Robustness) -> Texel {
        let level = u32::try_from(lod).ok().filter(|&l| l < self.levels());
        let invalid = if level.is_none() { Unspecified::ImageLevel } else { Unspecified::ImageCoordinate };
        if let Some(texel) = level.and_then(|level| self.texel(rules, level, at)) {
            return texel;
        }
        let numeric = self.format.numeric();
        let has_alpha = self.format.channels().len() == 4;
        match (robustness, level) {
            (Robustness::None, _) | (Robustness::Access, None) => Texel::undefined(invalid),
            (Robustness::Access2, _) => Texel::of_numbers(numeric, [0.0, 0.0, 0.0, if has_alpha { 0.0 } else { 1.0 }]),
            (Robustness::Access, Some(_)) => {
                let mut texel = Texel::of_numbers(numeric, [0.0, 0.0, 0.0, if has_alpha { 0.0 } else { 1.0 }]);
                texel.allowed[3] = Interval::between(0.0, 1.0);
                texel
            }
        }
    }

    /// OpImageWrite at level 0. Components are given by their bits. Bit c of `undefined` says that
    /// an undefined value is stored in component c. Returns the codes that a device may store for
    /// each component; the image stores the best ones. `None` for a texel that does not exist:
    /// there a write has no effect in any environment. A component without a definite code reads
    /// back as [`Unspecified::Uninitialised`]; its codes say why.
    pub fn write(&mut self, x: i64, y: i64, components: [u32; 4], undefined: u8) -> Option<SmallVec<[Codes; 4]>> {
        self.write_of(self.index(0, x, y)?, components, undefined)
    }

    /// [`Image::write`] for a texel by its index in level 0.
    pub fn write_of(&mut self, index: usize, components: [u32; 4], undefined: u8) -> Option<SmallVec<[Codes; 4]>> {
        let encoded = Encoded::of(self.format, components, undefined);
        let (l, size) = (self.levels.first_mut()?, self.format.bytes());
        *l.shadow.get_mut(index)? = encoded.shadow;
        l.open.remove(&index);
        encoded.copy_to(l.bytes.get_mut(index * size..)?.get_mut(..size)?);
        Some(encoded.codes)
    }

    /// A shader's bits for a number, as this image takes them: a 32-bit float or an integer.
    pub fn shader_bits(&self, number: f64) -> u32 {
        shader_bits(self.format.numeric(), number)
    }
}
