//! Textures and samplers behind an entry point's arguments: seed 004
//! "Textures", "Samplers" (ERRATA WSL-D21).
//!
//! A value of such a type is the address of an object, which names the texture or sampler. A
//! writable texture is device memory. Its object holds a word for each component of each texel. The
//! word is what a load returns, after the conversion to the texture's format. So stores, loads,
//! races and unspecified values are those of any memory. Other textures never change. Their objects
//! and those of samplers hold nothing, and their texels come from the image.
//!
//! | module | contents |
//! |---|---|
//! | `sampling` | filters, for any words |
//! | `texel` | the texel that coordinates name; components to and from codes |

pub mod sampling;
pub mod texel;

use crate::image::{Image, Numeric, Sampler, Shape, pack, pack_within, unpack_allowed};
use crate::number::sets::Set;
use crate::outcome::{InputFault, InvalidInput};
use crate::wsl::library::Meaning;
use crate::wsl::library::texture::{dimensions_of, layered};
use crate::wsl::meaning::Evaluator;
use crate::wsl::memory::ObjectId;
use crate::wsl::open::{OpenTerms, Possible, Word};
use crate::wsl::types::{Scalar, TextureKind, Type, TypeId, Types};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;

/// The most components of all texels of a texture together.
pub const MAX_COMPONENTS: u64 = 1 << 26;

/// The most components of a writable texture. Each is a word of memory.
pub const MAX_WRITABLE: u64 = 1 << 24;

/// A texture.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Its kind.
    pub kind: TextureKind,
    /// Its initial texels. They never change, unless the texture is writable.
    pub image: Rc<Image>,
}

/// The meaning of an object that stands for a texture or sampler.
#[derive(Clone, Debug, PartialEq)]
pub enum Opaque {
    /// A texture. The object has words only if the texture is writable.
    Texture(Texture),
    /// A sampler.
    Sampler(Sampler),
}

/// The textures and samplers of a dispatch, by their objects.
#[derive(Clone, Debug, Default)]
pub struct Opaques {
    /// The textures and samplers, by object.
    pub by_object: Rc<FxHashMap<ObjectId, Opaque>>,
    /// The values of undefined components of textures that are not writable, by object and by the
    /// component's place. A component gets its value when it is first read, and keeps it.
    pub undefined: RefCell<FxHashMap<(ObjectId, u32), Word>>,
}

impl Opaques {
    /// The texture that an object stands for.
    pub fn texture(&self, object: ObjectId) -> Option<&Texture> {
        match self.by_object.get(&object) {
            Some(Opaque::Texture(texture)) => Some(texture),
            _ => None,
        }
    }

    /// The sampler that an object stands for.
    pub fn sampler(&self, object: ObjectId) -> Option<&Sampler> {
        match self.by_object.get(&object) {
            Some(Opaque::Sampler(sampler)) => Some(sampler),
            _ => None,
        }
    }
}

/// Whether a function of the library is one of textures.
pub fn is_function(meaning: Meaning) -> bool {
    use Meaning as M;
    sampling::is_filter(meaning) || sampling::is_gather(meaning) || matches!(meaning, M::Load | M::Store | M::GetDimensions)
}

/// Whether textures of the kind are writable. These have no levels.
pub fn is_writable(kind: TextureKind) -> bool {
    kind.name().starts_with("RW")
}

/// Whether the texels of the kind are depths.
pub fn is_depth(kind: TextureKind) -> bool {
    kind.name().contains("Depth")
}

/// The shape of textures of the kind.
pub fn shape(kind: TextureKind) -> Shape {
    match (kind, dimensions_of(kind), layered(kind)) {
        (TextureKind::TextureCube | TextureKind::TextureDepthCube, ..) => Shape::Cube,
        (_, 1, false) => Shape::D1,
        (_, 1, true) => Shape::D1Array,
        (_, 2, false) => Shape::D2,
        (_, 2, true) => Shape::D2Array,
        _ => Shape::D3,
    }
}

/// The name of a shape in messages.
fn shape_text(shape: Shape) -> &'static str {
    match shape {
        Shape::D1 => "of one dimension (`1d W`)",
        Shape::D1Array => "of one dimension with layers (`1d W layers=N`)",
        Shape::D2 => "of two dimensions (`WxH`)",
        Shape::D2Array => "of two dimensions with layers (`WxH layers=N`)",
        Shape::D3 => "of three dimensions (`3d WxHxD`)",
        Shape::Cube => "a cube (`cube NxN`)",
        Shape::CubeArray => "a cube with layers (`cube NxN layers=N`)",
    }
}

/// The bits of a float. Every NaN has the same bits.
pub(in crate::wsl) fn float_bits(x: f32) -> u32 {
    if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }
}

impl Texture {
    /// A texture of that kind, with these texels. Its scalar type is `scalar`.
    ///
    /// # Errors
    /// If the image does not fit such a texture: it has another shape, numbers of another type,
    /// or no depths, or the texture is writable and it has more than one level, or it has too
    /// many texels.
    pub fn new(kind: TextureKind, scalar: Scalar, image: Image) -> Result<Texture, InvalidInput> {
        let (found, needed, format) = (image.shape(), shape(kind), image.format());
        let name = kind.name();
        if found != needed {
            return Err(InvalidInput::new(
                InputFault::Type,
                format!("the image is {}; a {name} is {}", shape_text(found), shape_text(needed)),
            ));
        }
        let fits = match format.numeric() {
            Numeric::Sint => scalar == Scalar::Int,
            Numeric::Uint => scalar == Scalar::Uint,
            _ => scalar == Scalar::Float,
        };
        if !fits {
            return Err(InvalidInput::new(
                InputFault::Type,
                format!("the image is of {}, which has other numbers than the type {}", format.name(), scalar.name()),
            ));
        }
        if is_depth(kind) && !format.is_depth() {
            return Err(InvalidInput::new(
                InputFault::Type,
                format!("the image is of {}; a {name} has the format D16_UNORM or D32_SFLOAT", format.name()),
            ));
        }
        if is_writable(kind) && image.levels() > 1 {
            return Err(InvalidInput::new(InputFault::Type, format!("the image is of {} levels; a {name} has one", image.levels())));
        }
        let texture = Texture { kind, image: Rc::new(image) };
        let texels = (0..texture.image.levels()).map(|level| texture.texels(level)).sum::<u64>();
        let most = if is_writable(kind) { MAX_WRITABLE } else { MAX_COMPONENTS };
        match texels.checked_mul(texture.channels() as u64) {
            Some(components) if components <= most => Ok(texture),
            _ => Err(InvalidInput::new(
                InputFault::Limit,
                format!("the image is too large: {texels} texels; all components of a {name} together are at most {most}"),
            )),
        }
    }

    /// The number of components of its format.
    pub fn channels(&self) -> usize {
        self.image.format().channels().len()
    }

    fn texels(&self, level: u32) -> u64 {
        self.image.sides(level).map_or(0, |sides| sides.iter().map(|&side| u64::from(side)).product())
    }

    /// The offset of a texel of a level in bytes, with 4 bytes for each component. `None` if there
    /// is no such texel.
    pub fn offset(&self, level: u32, at: [i64; 3]) -> Option<u32> {
        let index = self.image.index_at(level, at)? as u64;
        let before: u64 = (0..level).map(|level| self.texels(level)).sum();
        u32::try_from((before + index) * self.channels() as u64 * 4).ok()
    }

    /// The words of a writable texture's object.
    pub fn words(&self, opens: &mut OpenTerms) -> Vec<Word> {
        let (format, mut words) = (self.image.format(), Vec::new());
        for index in 0..self.texels(0) as usize {
            let (texel, undefined) = self.image.raw_of(0, index).unwrap_or_default();
            for (c, channel) in format.channels().iter().enumerate() {
                let code = (texel >> channel.offset) as u64 & (u64::MAX >> (64 - channel.width));
                words.push(match undefined >> c & 1 {
                    0 => Word::Bits(self.bits(c, code)),
                    // To list the codes for each component would take long.
                    _ => opens.leaf(None, self.scalar(), 0),
                });
            }
        }
        words
    }

    /// The scalar type of the texels.
    pub fn scalar(&self) -> Scalar {
        match self.image.format().numeric() {
            Numeric::Sint => Scalar::Int,
            Numeric::Uint => Scalar::Uint,
            _ => Scalar::Float,
        }
    }

    /// The contents of a component after a store of a word, as in [`Texture::stored_bits`]. For an
    /// unspecified word, the contents for each of its possible values.
    pub fn stored(&self, opens: &mut OpenTerms, component: usize, word: Word) -> Word {
        let format = self.image.format();
        let (numeric, width) = (format.numeric(), format.channels()[component].width);
        let word = opens.read(word);
        if width == 32 {
            return word;
        }
        match word.definite() {
            Some(bits) => self.stored_bits(opens, component, bits),
            None => match opens.possible(word) {
                Possible::Values(values) => {
                    let cases: Vec<(u32, Word)> =
                        values.iter().map(|&bits| (bits, self.stored(opens, component, Word::Bits(bits)))).collect();
                    opens.select(word, &cases)
                }
                Possible::Floats(set) => match pack_within(numeric, width, &set) {
                    Some(codes) => {
                        let values = self.values(codes.into_iter().map(|code| self.bits(component, code)));
                        opens.leaf(Some(&values), self.scalar(), values.first().copied().unwrap_or(0))
                    }
                    None => self.any_code(opens, component),
                },
                Possible::Any => self.any_code(opens, component),
            },
        }
    }

    /// The result of a load of a component that holds a word. For a format of fractions under a
    /// precision profile, it is one of the possible results of the conversion.
    pub fn loaded(&self, opens: &mut OpenTerms, component: usize, word: Word) -> Word {
        let format = self.image.format();
        let (numeric, width) = (format.numeric(), format.channels()[component].width);
        let fraction = numeric.is_normalized();
        match (opens.read(word), opens.precision) {
            (Word::Bits(bits), Some(_)) if fraction => {
                let code = pack(numeric, width, bits).best;
                opens.by_itself(Set::of_f32(unpack_allowed(numeric, width, code).of_f32()))
            }
            (word, _) => word,
        }
    }

    /// A component of a texel of a texture that is not writable. `None` if there is no such texel.
    /// An undefined component gets its value when it is first read.
    pub fn texel(&self, opens: &mut OpenTerms, opaques: &Opaques, object: ObjectId, level: u32, at: [i64; 3], c: usize) -> Option<Word> {
        let place = self.offset(level, at)? + c as u32 * 4;
        let Some(bits) = self.texel_bits(level, at, c)? else {
            let mut undefined = opaques.undefined.borrow_mut();
            return Some(match undefined.get(&(object, place)) {
                Some(&word) => opens.read(word),
                None => *undefined.entry((object, place)).or_insert(self.undefined_code(opens, object.0, place, c)),
            });
        };
        Some(self.loaded(opens, c, Word::Bits(bits)))
    }
}

/// The words of a value with these elements. A vector of three takes as much room as a vector
/// of four.
pub(in crate::wsl) fn padded<L: Evaluator>(evaluator: &mut L, mut elements: SmallVec<[L::Word; 4]>) -> SmallVec<[L::Word; 4]> {
    if elements.len() == 3 {
        elements.push(evaluator.bits(0));
    }
    elements
}

/// The scalar type of a scalar or vector, and the number of its elements.
pub(in crate::wsl) fn elements_of(types: &Types, ty: TypeId) -> (Scalar, usize) {
    match types.get(ty) {
        Type::Scalar(scalar) => (scalar, 1),
        Type::Vector(scalar, n) => (scalar, n.into()),
        _ => (Scalar::Uint, 0),
    }
}

/// The arguments of a call after the texture and the sampler, in order: scalars and vectors.
#[derive(Clone, Debug)]
pub struct Arguments<'a, W> {
    rest: std::collections::VecDeque<(Scalar, &'a [W])>,
}

impl<'a, W: Copy> Arguments<'a, W> {
    /// Arguments of these types and words.
    pub fn new(types: &Types, all: impl IntoIterator<Item = (TypeId, &'a [W])>) -> Arguments<'a, W> {
        let elements = |(ty, words): (TypeId, &'a [W])| {
            let (scalar, count) = elements_of(types, ty);
            (scalar, &words[..count.min(words.len())])
        };
        Arguments { rest: all.into_iter().map(elements).collect() }
    }

    /// The next argument's scalar and elements, without padding.
    pub fn typed(&mut self) -> Option<(Scalar, &'a [W])> {
        self.rest.pop_front()
    }

    /// The next argument's elements, without padding.
    pub fn elements(&mut self) -> Option<&'a [W]> {
        self.typed().map(|(_, elements)| elements)
    }

    /// The only element of the next argument.
    pub fn element(&mut self) -> Option<W> {
        self.elements()?.first().copied()
    }
}
