//! Images and samplers behind descriptors (Vulkan, "Resource Descriptors"), and the state of
//! written texels.
//!
//! Sampled images never change. Level 0 of a storage image can be written, texel by texel. A texel
//! is one place for the race detector: its bytes, counted from the start of the level. The image
//! itself records which components are undefined or rounded. This module records the origin of an
//! undefined component, and why a device may hold another value.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::{Cell, Extent, NoMemory, ObjectId};
use crate::concurrency::Class;
use crate::image::{self, Format, Image, Numeric, Precision, Robustness};
use crate::number::{Interval, Trust, Why};
use crate::spirv::descriptors::{DeclaredImage, Descriptors};
use crate::spirv::environment::Resources;
use crate::spirv::memory::{Descriptor, Pointer};
use crate::spirv::module::{Module, Variable};
use crate::spirv::value::{Origin, Scalar};
use crate::undefined::Unspecified;

/// A fact about a component of a written texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    /// It is undefined, with that origin.
    Undefined(Origin),
    /// A device may hold another value, for that reason.
    Doubtful(Why),
}

/// An image that a variable names.
#[derive(Clone, Debug)]
struct NamedImage {
    set: u32,
    binding: u32,
    image: Rc<Image>,
    /// Whether it is a storage image.
    storage: bool,
    /// Whether a variable that it backs can be written.
    written: bool,
    /// Why a device may hold other values in any texel, if it may.
    anywhere: Option<Why>,
    /// The facts, by index of the texel in level 0 and by component.
    facts: FxHashMap<(u64, u8), Fact>,
}

/// The images and samplers of one dispatch.
#[derive(Clone, Debug)]
pub struct Images {
    images: Vec<NamedImage>,
    samplers: Rc<[image::Sampler]>,
    /// By variable and index of the descriptor: the image, the sampler, or both.
    descriptors: Rc<FxHashMap<(u32, u32), Descriptor>>,
    robustness: Robustness,
    precision: Option<Precision>,
}

/// The state of a component of a storage image's texel at the end of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// Every device holds the same value.
    Certain,
    /// A device may hold another value.
    Doubtful(Why),
    /// Any value. The origin is `None` if it was undefined before the dispatch.
    Undefined(Option<Origin>),
}

impl Images {
    /// The images and samplers that these variables name.
    pub(super) fn new(module: &Module, used: &[&Variable], resources: &Resources<'_>) -> Result<Images, NoMemory> {
        let Descriptors { images, samplers, by_variable } = Descriptors::new(module, used, resources).map_err(NoMemory::Resource)?;
        let named_image = |DeclaredImage { set, binding, image, storage, written }: DeclaredImage<'_>| NamedImage {
            set,
            binding,
            image: Rc::new(image.clone()),
            storage,
            written,
            anywhere: None,
            facts: FxHashMap::default(),
        };
        Ok(Images {
            images: images.into_iter().map(named_image).collect(),
            samplers: samplers.into(),
            descriptors: Rc::new(by_variable),
            robustness: resources.image_robustness,
            precision: resources.precision,
        })
    }

    /// The number of images.
    pub(super) fn count(&self) -> u32 {
        self.images.len() as u32
    }

    /// Records that a device may hold other values in any texel of the images that can be written.
    pub(super) fn doubt_written(&mut self, why: Why) {
        self.images
            .iter_mut()
            .filter(|named_image| named_image.written)
            .for_each(|named_image| named_image.anywhere = named_image.anywhere.or(Some(why)));
    }

    /// Whether an instruction may write the image.
    pub(super) fn is_written(&self, image: u32) -> bool {
        self.images[image as usize].written
    }

    /// The image, the sampler, or both, at the descriptor that a pointer points to.
    pub fn descriptor(&self, pointer: &Pointer) -> Option<Descriptor> {
        self.descriptors.get(&(pointer.variable, pointer.descriptor)).copied()
    }

    /// The number of descriptors of a variable.
    pub(super) fn descriptors(&self, variable: u32) -> usize {
        self.descriptors.keys().filter(|(id, _)| *id == variable).count()
    }

    /// The image with that index.
    pub fn image(&self, image: u32) -> &Image {
        &self.images[image as usize].image
    }

    /// The sampler with that index.
    pub fn sampler(&self, sampler: u32) -> &image::Sampler {
        &self.samplers[sampler as usize]
    }

    /// The set and the binding of an image.
    pub fn binding(&self, image: u32) -> (u32, u32) {
        let named_image = &self.images[image as usize];
        (named_image.set, named_image.binding)
    }

    /// The precision with which a device samples images of that format.
    pub fn precision(&self, format: Format) -> Precision {
        self.precision.unwrap_or_else(|| Precision::least(format))
    }

    /// The bytes of an access to a texel of level 0. Empty if there is no such texel.
    pub fn extent(&self, image: u32, at: [i64; 3]) -> Extent {
        let contents = self.image(image);
        let bytes = contents.format().bytes() as u8;
        let cell = |index: usize| Cell { offset: index as u64 * u64::from(bytes), bytes };
        let cells = contents.index_at(0, at).map_or_else(SmallVec::new, |index| smallvec![cell(index)]);
        // Two variables of one image are one object: Aliased is not checked for texels.
        Extent { object: ObjectId::Image(image), variable: 0, class: Class::Image, cells }
    }

    /// The four components of a texel (OpImageFetch; OpImageRead, of level 0), with the interval of
    /// numbers that a device may have, if it is known. An undefined component has the origin of its
    /// write, or `origin`.
    pub fn read(
        &self,
        rules: &image::Rules,
        image: u32,
        at: [i64; 3],
        level: i64,
        origin: impl Fn(Unspecified) -> Origin,
    ) -> SmallVec<[(Scalar, Option<Interval>); 4]> {
        let named_image = &self.images[image as usize];
        let texel = named_image.image.fetch_by(rules, at, level, self.robustness);
        let index = named_image.image.index_at(0, at).filter(|_| level == 0);
        let component = |c: usize| {
            let fact = index.and_then(|index| named_image.facts.get(&(index as u64, c as u8)));
            match (texel.undefined[c], fact) {
                (Some(_), Some(Fact::Undefined(origin))) => (Scalar::undefined(*origin), None),
                (Some(kind), _) => (Scalar::undefined(origin(kind)), None),
                (None, fact) => {
                    let scalar = scalar(named_image.image.format().numeric(), texel.bits[c], texel.allowed[c], texel.bits[c] == 0);
                    match (fact, named_image.anywhere) {
                        (Some(Fact::Doubtful(why)), _) => (Scalar { trust: scalar.trust.in_doubt(*why), ..scalar }, None),
                        (_, Some(why)) => (Scalar { trust: scalar.trust.in_doubt(why), ..scalar }, None),
                        (_, None) => (scalar, Some(texel.allowed[c])),
                    }
                }
            }
        };
        (0..4).map(component).collect()
    }

    /// Writes a texel (OpImageWrite), from the bits of four components.
    pub(super) fn write(&mut self, image: u32, extent: &Extent, scalars: &[Scalar]) {
        let named_image = &mut self.images[image as usize];
        let Some(cell) = extent.cells.first() else { return };
        let index = cell.offset / u64::from(cell.bytes.max(1));
        let bits = [0, 1, 2, 3].map(|c: usize| scalars.get(c).map_or(0, |s| s.bits as u32));
        let undefined =
            (0..4u8).filter(|&c| scalars.get(usize::from(c)).is_none_or(|s| s.undefined.is_some())).fold(0, |mask, c| mask | 1 << c);
        let Some(codes) = Rc::make_mut(&mut named_image.image).write_of(index as usize, bits, undefined) else { return };
        for (c, codes) in codes.iter().enumerate() {
            let scalar = scalars.get(c);
            let nan = if codes.nan != 0 { Some(Why::NaN) } else { None };
            let fact = match scalar.and_then(|s| s.undefined) {
                Some(origin) => Some(Fact::Undefined(origin)),
                None => scalar.and_then(|s| s.trust.doubt).or(nan).map(Fact::Doubtful),
            };
            match fact {
                Some(fact) => named_image.facts.insert((index, c as u8), fact),
                None => named_image.facts.remove(&(index, c as u8)),
            };
        }
    }

    /// The indices of the storage images.
    pub fn storage(&self) -> impl Iterator<Item = u32> {
        (0..self.count()).filter(|&image| self.images[image as usize].storage)
    }

    /// The state of a component of a texel of level 0 at the end.
    pub fn last(&self, image: u32, index: u64, component: u8) -> Last {
        let named_image = &self.images[image as usize];
        let fact = named_image.facts.get(&(index, component));
        let has_bit = |mask: Option<u8>| mask.is_some_and(|mask| mask >> component & 1 == 1);
        if has_bit(named_image.image.raw_of(0, index as usize).map(|(_, undefined)| undefined)) {
            return Last::Undefined(match fact {
                Some(Fact::Undefined(origin)) => Some(*origin),
                _ => None,
            });
        }
        match fact {
            Some(Fact::Doubtful(why)) => Last::Doubtful(*why),
            _ if named_image.anywhere.is_some() => named_image.anywhere.map_or(Last::Certain, Last::Doubtful),
            _ if has_bit(named_image.image.rounded_of(0, index as usize)) => Last::Doubtful(Why::Texel),
            _ => Last::Certain,
        }
    }
}

/// A component as a shader sees it. It is in doubt unless every device has the same value.
/// `zero_sign` says whether the sign of a float zero is required.
pub fn scalar(numeric: Numeric, bits: u32, allowed: Interval, zero_sign: bool) -> Scalar {
    let value = f32::from_bits(bits);
    let trust = match numeric.is_integer() {
        true => Trust::CERTAIN,
        false => Trust { zero_sign: zero_sign || value != 0.0, ..Trust::of_exact(value) },
    };
    let exact = allowed.low == allowed.high && !allowed.nan || allowed.low > allowed.high;
    Scalar { bits: bits.into(), trust: if exact { trust } else { trust.in_doubt(Why::Texel) }, undefined: None }
}
