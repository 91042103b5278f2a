//! Textures filtered by samplers: seed 004 "Sampler and texture operations", as `LIBRARY.md`
//! completes it.
//!
//! Values come from [`crate::image`], by the formulas of Vulkan's "Image Operations" (ERRATA
//! WSL-D22, WSL-D23). Without a precision profile, a filtered component is the definite value of
//! the formulas. With one, and if an operand is a set of floats, it is any value that a device may
//! have. It is unspecified if no texel or component is named, if the sampler does not fit the
//! texture, or if an operand is open or no finite number.

use super::{Arguments, Texture, float_bits, padded};
use crate::image::{Filter, Location, Lod, Precision, Rules, Sampled, Sampler, SamplerError, Sampling, Shape};
use crate::number::sets::Set;
use crate::number::{Inexact, Interval};
use crate::wsl::library::Meaning;
use crate::wsl::library::texture::dimensions_of;
use crate::wsl::meaning::Unspecified;
use crate::wsl::types::Scalar;
use smallvec::SmallVec;

/// The greatest distance of a location from the first texel, in texels. The coordinates of texels
/// are ints.
const FARTHEST: f64 = (1u64 << 31) as f64;

/// The allowed offsets of samples, in texels.
pub const OFFSETS: std::ops::RangeInclusive<i32> = -8..=7;

type Words<W> = SmallVec<[W; 4]>;

/// Whether a function is a `Sample…`.
pub fn is_filter(meaning: Meaning) -> bool {
    use Meaning as M;
    needs_quad(meaning) || matches!(meaning, M::SampleGrad | M::SampleLevel | M::SampleCmpLevelZero)
}

/// Whether a function is a `Gather…`.
pub fn is_gather(meaning: Meaning) -> bool {
    use Meaning as M;
    matches!(meaning, M::GatherRed | M::GatherGreen | M::GatherBlue | M::GatherAlpha | M::GatherCmp)
}

/// Whether a call takes its level of detail from the locations of its quad.
pub fn needs_quad(meaning: Meaning) -> bool {
    matches!(meaning, Meaning::Sample | Meaning::SampleBias | Meaning::SampleCmp)
}

/// The place and the method of a sample.
struct Source<'a> {
    texture: &'a Texture,
    sampler: Sampler,
    location: Location,
    offset: [i32; 3],
    /// Whether every operand is definite.
    definite: bool,
}

/// The floats of up to three words, filled up with zeros. `None` if a word may be no finite number.
fn inexacts<L: Unspecified>(evaluator: &L, words: &[L::Word]) -> Option<[Inexact; 3]> {
    let mut all = [Inexact::exact(0.0); 3];
    for (x, &word) in all.iter_mut().zip(words) {
        *x = evaluator.bounds(word)?;
    }
    Some(all)
}

/// The ints of the words. `None` if one is open.
pub(super) fn ints<L: Unspecified>(evaluator: &L, words: &[L::Word]) -> Option<[i32; 3]> {
    let mut all = [0; 3];
    for (x, &word) in all.iter_mut().zip(words) {
        *x = evaluator.definite(word)? as i32;
    }
    Some(all)
}

/// The offset in texels that the words give. `None` if it is open or out of range (ERRATA WSL-D23).
fn offset_of<L: Unspecified>(evaluator: &L, words: &[L::Word]) -> Option<[i32; 3]> {
    ints(evaluator, words).filter(|all| all.iter().all(|texels| OFFSETS.contains(texels)))
}

fn all_definite<L: Unspecified>(evaluator: &L, words: &[L::Word]) -> bool {
    words.iter().all(|&word| evaluator.definite(word).is_some())
}

/// The location that the words give. `None` if it leads to no texel.
fn location_of<L: Unspecified>(evaluator: &L, texture: &Texture, words: &[L::Word]) -> Option<Location> {
    let dimensions = usize::from(dimensions_of(texture.kind));
    let (at, layer) = words.split_at(dimensions.min(words.len()));
    let layer = layer.first().map_or(Some(Inexact::exact(0.0)), |&layer| evaluator.bounds(layer))?;
    let location = Location { at: inexacts(evaluator, at)?, layer };
    let sides = texture.image.sides(0).unwrap_or([1; 3]);
    if texture.image.shape() == Shape::Cube {
        // A direction without a length leads to no face. Neither does one that a device may take
        // for such a direction.
        let length = location.at.iter().map(|x| x.allowed.abs().low).fold(0.0, f64::max);
        return (length >= f64::from(f32::MIN_POSITIVE)).then_some(location);
    }
    let far = |axis: usize| location.at[axis].allowed.magnitude() * f64::from(sides[axis]) >= FARTHEST;
    (!(0..dimensions).any(far)).then_some(location)
}

/// Four unspecified values.
fn four_unspecified<L: Unspecified>(evaluator: &mut L, scalar: Scalar) -> [L::Word; 4] {
    [0; 4].map(|_| evaluator.unspecified(None, scalar, 0))
}

/// The words for four sampled components. They are unspecified if the image or the sampler
/// defines none.
fn shown<L: Unspecified>(evaluator: &mut L, source: &Source, found: Result<Sampled, SamplerError>) -> [L::Word; 4] {
    let scalar = source.texture.scalar();
    let Ok(found) = found else { return four_unspecified(evaluator, scalar) };
    let exact = evaluator.takes_formula(source.definite);
    [0, 1, 2, 3].map(|c: usize| match found.undefined[c] {
        Some(_) => evaluator.unspecified(None, scalar, 0),
        None if exact && scalar == Scalar::Float => evaluator.bits(float_bits(f32::from_bits(found.bits[c]))),
        None if exact => evaluator.bits(found.bits[c]),
        None if scalar == Scalar::Float => {
            let set = found.allowed.0.iter().fold(Set::NONE, |set, one| set.union(Set::of_f32(one[c])));
            evaluator.within(set)
        }
        None => {
            let point = |one: &[Interval; 4]| (one[c].low == one[c].high).then(|| source.texture.image.shader_bits(one[c].low));
            match found.allowed.0.iter().map(point).collect::<Option<Vec<u32>>>() {
                Some(mut values) => {
                    values.sort_unstable();
                    values.dedup();
                    evaluator.unspecified(Some(&values), scalar, found.bits[c])
                }
                None => evaluator.unspecified(None, scalar, found.bits[c]),
            }
        }
    })
}

/// Whether the sampler may be used in this way. Unnormalized coordinates need an image of one or
/// two dimensions with one level, and no offset.
fn unnormalized_fits(source: &Source) -> bool {
    let image = &source.texture.image;
    !source.sampler.unnormalized || matches!(image.shape(), Shape::D1 | Shape::D2) && image.levels() == 1 && source.offset == [0; 3]
}

fn sampled<L: Unspecified>(evaluator: &mut L, source: &Source, lod: Lod, reference: Option<Inexact>) -> [L::Word; 4] {
    if !unnormalized_fits(source) {
        return four_unspecified(evaluator, source.texture.scalar());
    }
    let image = &source.texture.image;
    let (rules, precision) = (Rules::default(), Precision::least(image.format()));
    let sampling = Sampling { image, sampler: &source.sampler, precision, rules: &rules, offset: source.offset };
    let found = sampling.sample(source.location, lod, reference);
    shown(evaluator, source, found)
}

/// The derivatives of a location to the right and downwards, and whether both rows and both columns
/// have the same. The value is that of the first row and column. The bounds cover both.
fn derivatives<L: Unspecified>(evaluator: &L, quad: [&[L::Word]; 4], dimensions: usize) -> Option<([Inexact; 3], [Inexact; 3], bool)> {
    let mut at = [[Inexact::exact(0.0); 3]; 4];
    for (at, words) in at.iter_mut().zip(quad) {
        *at = inexacts(evaluator, &words[..dimensions.min(words.len())])?;
    }
    let mut same = true;
    let mut axis_differences = |first: [usize; 2], second: [usize; 2]| {
        [0, 1, 2].map(|axis: usize| {
            let difference = |[from, to]: [usize; 2]| {
                let (a, b) = (at[from][axis], at[to][axis]);
                let value = f64::from((b.value - a.value) as f32);
                let are_points = a.allowed.low == a.allowed.high && b.allowed.low == b.allowed.high;
                let range = Interval::between(b.allowed.low - a.allowed.high, b.allowed.high - a.allowed.low).of_f32();
                Inexact { value, allowed: if are_points { Interval::point(value) } else { range } }
            };
            let (first, second) = (difference(first), difference(second));
            same &= first == second;
            Inexact { allowed: first.allowed.hull(second.allowed), ..first }
        })
    };
    let dx = axis_differences([0, 1], [2, 3]);
    let dy = axis_differences([0, 2], [1, 3]);
    Some((dx, dy, same))
}

/// The source of a call's level of detail: the words that it takes for it.
enum Level<'a, W> {
    /// The derivatives in the quad, from the locations of its threads, with a bias if there is one.
    Quad([&'a [W]; 4], Option<W>),
    /// The given derivatives.
    Derivatives(&'a [W], &'a [W]),
    /// The given level.
    Explicit(W),
    /// Level 0.
    Zero,
}

/// The words of the four components that a `Sample…` returns, with or without a comparison.
/// `None` if an argument is missing. The texture and the sampler are not among `arguments` any
/// more. `quad` holds the locations of the quad's threads, if they are needed ([`needs_quad`]).
pub fn filtered<L: Unspecified>(
    evaluator: &mut L,
    (texture, sampler): (&Texture, Sampler),
    mut arguments: Arguments<L::Word>,
    meaning: Meaning,
    quad: Option<[&[L::Word]; 4]>,
) -> Option<[L::Word; 4]> {
    let location = arguments.elements()?;
    let compares = matches!(meaning, Meaning::SampleCmp | Meaning::SampleCmpLevelZero);
    let reference = if compares { Some(arguments.element()?) } else { None };
    let level = match (meaning, quad) {
        (Meaning::Sample | Meaning::SampleCmp, Some(quad)) => Level::Quad(quad, None),
        (Meaning::SampleBias, Some(quad)) => Level::Quad(quad, Some(arguments.element()?)),
        (Meaning::SampleGrad, _) => Level::Derivatives(arguments.elements()?, arguments.elements()?),
        (Meaning::SampleLevel, _) => Level::Explicit(arguments.element()?),
        (Meaning::SampleCmpLevelZero, _) => Level::Zero,
        _ => return None,
    };
    let offset = arguments.elements().unwrap_or(&[]);
    let dimensions = usize::from(dimensions_of(texture.kind));
    let known = (|| {
        let mut definite = all_definite(evaluator, location) && reference.is_none_or(|word| all_definite(evaluator, &[word]));
        let place = location_of(evaluator, texture, location)?;
        let reference = match reference {
            Some(word) => Some(evaluator.bounds(word)?),
            None => None,
        };
        let offset = offset_of(evaluator, offset)?;
        let lod = match level {
            Level::Quad(quad, bias) => {
                let bias = bias.map_or(Some(Inexact::exact(0.0)), |word| evaluator.bounds(word))?;
                let (dx, dy, same) = derivatives(evaluator, quad, dimensions)?;
                if bias.allowed.low != bias.allowed.high || sampler.unnormalized {
                    return None;
                }
                definite &= same && quad.iter().all(|words| all_definite(evaluator, words));
                Lod::Derivatives { dx, dy, bias: bias.value as f32 }
            }
            Level::Derivatives(dx, dy) => {
                definite &= all_definite(evaluator, dx) && all_definite(evaluator, dy);
                Lod::Derivatives { dx: inexacts(evaluator, dx)?, dy: inexacts(evaluator, dy)?, bias: 0.0 }
            }
            Level::Explicit(lod) => {
                definite &= all_definite(evaluator, &[lod]);
                Lod::Explicit(evaluator.bounds(lod)?)
            }
            Level::Zero => Lod::Explicit(Inexact::exact(0.0)),
        };
        Some((Source { texture, sampler, location: place, offset, definite }, lod, reference))
    })();
    Some(match known {
        None => four_unspecified(evaluator, texture.scalar()),
        Some((source, lod, reference)) => sampled(evaluator, &source, lod, reference),
    })
}

/// The words that a `Gather…` returns. `None` if an argument is missing. The texture, whose type
/// has `components` components, and the sampler are not among `arguments` any more.
pub fn gathered<L: Unspecified>(
    evaluator: &mut L,
    (texture, components, sampler): (&Texture, usize, Sampler),
    mut arguments: Arguments<L::Word>,
    meaning: Meaning,
) -> Option<[L::Word; 4]> {
    let location = arguments.elements()?;
    let reference = if meaning == Meaning::GatherCmp { Some(arguments.element()?) } else { None };
    let offset = arguments.elements().unwrap_or(&[]);
    let component = match meaning {
        Meaning::GatherGreen => 1,
        Meaning::GatherBlue => 2,
        Meaning::GatherAlpha => 3,
        _ => 0,
    };
    let definite = all_definite(evaluator, location) && reference.is_none_or(|word| all_definite(evaluator, &[word]));
    let known = (|| {
        let reference = match reference {
            Some(word) => Some(evaluator.bounds(word)?),
            None => None,
        };
        Some((location_of(evaluator, texture, location)?, offset_of(evaluator, offset)?, reference))
    })();
    Some(match known {
        Some((location, offset, reference)) if component < components.min(texture.channels()) && !sampler.unnormalized => {
            // The footprint is that of a linear filter, for any filters of the sampler.
            let sampler = Sampler { mag: Filter::Nearest, min: Filter::Nearest, mip: Filter::Nearest, ..sampler };
            let source = Source { texture, sampler, location, offset, definite };
            let image = &texture.image;
            let (rules, precision) = (Rules::default(), Precision::least(image.format()));
            let sampling = Sampling { image, sampler: &source.sampler, precision, rules: &rules, offset };
            let found = sampling.gather(location, component, reference);
            shown(evaluator, &source, found)
        }
        _ => four_unspecified(evaluator, texture.scalar()),
    })
}

/// The words of a call's result from four components. Components that the type does not have are
/// left out. Components that the format does not have are unspecified.
pub fn of_components<L: Unspecified>(
    evaluator: &mut L,
    (scalar, count): (Scalar, usize),
    texture: &Texture,
    words: [L::Word; 4],
) -> Words<L::Word> {
    let elements = (0..count).map(|c| if c < texture.channels() { words[c] } else { evaluator.unspecified(None, scalar, 0) }).collect();
    padded(evaluator, elements)
}
