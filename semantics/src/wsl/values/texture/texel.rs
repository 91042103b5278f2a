//! Single texels: seed 004 "Sampler and texture operations" (ERRATA WSL-D21, WSL-D22).

use super::{Texture, float_bits, is_writable, sampling};
use crate::image::pack;
use crate::wsl::library::texture::{dimensions_of, layered};
use crate::wsl::meaning::Unspecified;
use crate::wsl::types::{Scalar, TypeId};

/// The most bits of a component whose codes are listed one by one.
const FEW_BITS: u8 = 8;

/// The level and the texel that a load or store names. `scalar` is the type of the coordinates.
/// `None` if a coordinate is open.
pub fn named_texel<L: Unspecified>(
    evaluator: &L,
    texture: &Texture,
    (scalar, words): (Scalar, &[L::Word]),
    offset: &[L::Word],
) -> Option<(i64, [i64; 3])> {
    let of = |word: L::Word| {
        let bits = evaluator.definite(word)?;
        Some(if scalar == Scalar::Int { i64::from(bits as i32) } else { i64::from(bits) })
    };
    let offset = sampling::ints(evaluator, offset)?;
    let dimensions = usize::from(dimensions_of(texture.kind));
    let mut rest = words.iter().copied();
    let (mut at, mut level) = ([0; 3], 0);
    for axis in 0..dimensions {
        at[axis] = rest.next().map_or(Some(0), of)? + i64::from(offset[axis]);
    }
    if layered(texture.kind) {
        at[2] = rest.next().map_or(Some(0), of)?;
    }
    if !is_writable(texture.kind) {
        level = rest.next().map_or(Some(0), of)?;
    }
    Some((level, at))
}

/// The bits of a number of texels or levels, for a store through a pointer to that type.
pub fn number_bits(to: Option<TypeId>, number: u32) -> u32 {
    if to == Some(TypeId::FLOAT) { (number as f32).to_bits() } else { number }
}

impl Texture {
    /// The axes whose sides `GetDimensions` returns, each with a pointer. It does not return a
    /// cube's faces.
    pub fn axes(&self) -> &'static [usize] {
        self.image.shape().queried()
    }

    /// The sides of a level in texels. Zeros if there is no such level.
    pub fn sides(&self, level: u32) -> [u32; 3] {
        self.image.sides(level).unwrap_or([0; 3])
    }

    /// The bits of a component with that code.
    pub(super) fn bits(&self, component: usize, code: u64) -> u32 {
        use crate::image::{Numeric, unpack};
        let format = self.image.format();
        let width = format.channels()[component].width;
        match format.numeric() {
            Numeric::Float if width == 32 => code as u32,
            Numeric::Uint | Numeric::Sint => self.image.shader_bits(unpack(format.numeric(), width, code)),
            numeric => float_bits(unpack(numeric, width, code) as f32),
        }
    }

    /// The bits of a component of a texel. The inner value is `None` if the component is undefined,
    /// the outer one if there is no such texel.
    pub fn texel_bits(&self, level: u32, at: [i64; 3], component: usize) -> Option<Option<u32>> {
        let (texel, undefined) = self.image.raw_of(level, self.image.index_at(level, at)?)?;
        let channel = self.image.format().channels()[component];
        let code = (texel >> channel.offset) as u64 & (u64::MAX >> (64 - channel.width));
        Some((undefined >> component & 1 == 0).then(|| self.bits(component, code)))
    }

    /// The values that a component can hold. `None` if it has many codes.
    fn codes(&self, component: usize) -> Option<Vec<u32>> {
        let width = self.image.format().channels()[component].width;
        (width <= FEW_BITS).then(|| self.values((0..1u64 << width).map(|code| self.bits(component, code))))
    }

    /// An unspecified value among those that a component can hold.
    pub fn any_code<L: Unspecified>(&self, evaluator: &mut L, component: usize) -> L::Word {
        let codes = self.codes(component);
        let first = codes.as_ref().and_then(|codes| codes.first().copied()).unwrap_or(0);
        evaluator.unspecified(codes.as_deref(), self.scalar(), first)
    }

    /// The contents of an undefined component that is never written. It belongs to the texture
    /// `object`, `place` bytes after its start.
    pub fn undefined_code<L: Unspecified>(&self, evaluator: &mut L, object: u32, place: u32, component: usize) -> L::Word {
        let codes = self.codes(component);
        let first = codes.as_ref().and_then(|codes| codes.first().copied()).unwrap_or(0);
        evaluator.undefined([object, place], codes.as_deref(), self.scalar(), first)
    }

    pub(super) fn values(&self, bits: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut values: Vec<u32> = bits.collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The contents of a component after a store of these bits: the value converted to the format
    /// (Vulkan, Texel Output Format Conversion). Under a precision profile it is one of the
    /// possible results of the conversion.
    pub fn stored_bits<L: Unspecified>(&self, evaluator: &mut L, component: usize, bits: u32) -> L::Word {
        let format = self.image.format();
        let (numeric, width) = (format.numeric(), format.channels()[component].width);
        if width == 32 {
            return evaluator.bits(bits);
        }
        let codes = pack(numeric, width, bits);
        match codes.any {
            Some(_) => self.any_code(evaluator, component),
            None if !codes.others.is_empty() && !evaluator.takes_formula(true) => {
                let values = self.values(codes.others.iter().chain([&codes.best]).map(|&code| self.bits(component, code)));
                evaluator.unspecified(Some(&values), self.scalar(), self.bits(component, codes.best))
            }
            None => evaluator.bits(self.bits(component, codes.best)),
        }
    }
}
