//! Calls of the functions of textures and samplers: seed 004 "Sampler and texture operations", as `LIBRARY.md` completes it.
//!
//! Values come from [`crate::image`], by the formulas of Vulkan's "Image Operations" (ERRATA WSL-D22, WSL-D23). Without a profile of precision a filtered component is
//! the definite value of the formulas; with one, and where an operand is a set of floats, it is one within what a device may have. It is unspecified where no texel
//! or component is named, where the sampler does not fit the texture, and where an operand is open or no finite number.
//!
//! Texels of textures that can be written are words of device memory: their loads and stores race as others do. A texel of another texture is a load of its constant
//! memory; sampling reads it without an event, for it never changes.

use super::builtin::called;
use super::term::{Expr, Form};
use super::{Cx, Done, Event, Stop};
use crate::image::{Filter, Location, Lod, Precision, Rules, Sampled, Sampler, SamplerError, Sampling, Shape};
use crate::number::sets::Set;
use crate::number::{Inexact, Interval};
use crate::rule::Rule;
use crate::wsl::choice::Strategy;
use crate::wsl::library::texture::{dimensions_of, layered};
use crate::wsl::library::{LibraryFunction, Meaning};
use crate::wsl::memory::{Address, ObjectId, Words};
use crate::wsl::open::{Possible, Word};
use crate::wsl::texture::{Texture, float_bits, is_writable, padded};
use crate::wsl::types::{Scalar, Type, TypeId};

/// The greatest distance of a location from the first texel, in texels: the texels' coordinates are ints.
const FARTHEST: f64 = (1u64 << 31) as f64;

/// The arguments of a call, taken one after the other.
struct Arguments {
    all: std::vec::IntoIter<(TypeId, Words)>,
}

impl Arguments {
    fn next(&mut self, cx: &Cx) -> Result<(TypeId, Words), Stop> {
        match self.all.next() {
            Some(argument) => Ok(argument),
            None => cx.stuck("a texture's function without an argument"),
        }
    }

    /// The elements of the next argument, without padding.
    fn elements(&mut self, cx: &Cx) -> Result<Words, Stop> {
        let (ty, words) = self.next(cx)?;
        Ok(words.into_iter().take(elements_of(cx, ty).1).collect())
    }

    /// The texture of the next argument.
    fn texture(&mut self, cx: &Cx) -> Result<(ObjectId, Texture), Stop> {
        let (_, words) = self.next(cx)?;
        match words.first() {
            Some(Word::Address(at)) => match cx.memory.opaques.texture(at.object) {
                Some(texture) => Ok((at.object, texture.clone())),
                None => cx.stuck("an object is no texture"),
            },
            _ => cx.stuck("a texture that is none"),
        }
    }

    /// The sampler of the next argument.
    fn sampler(&mut self, cx: &Cx) -> Result<Sampler, Stop> {
        let (_, words) = self.next(cx)?;
        match words.first() {
            Some(Word::Address(at)) => match cx.memory.opaques.sampler(at.object) {
                Some(sampler) => Ok(*sampler),
                None => cx.stuck("an object is no sampler"),
            },
            _ => cx.stuck("a sampler that is none"),
        }
    }
}

/// The scalar that a scalar or vector is made of, and how many there are.
fn elements_of(cx: &Cx, ty: TypeId) -> (Scalar, usize) {
    match cx.program().env.types.get(ty) {
        Type::Scalar(scalar) => (scalar, 1),
        Type::Vector(scalar, n) => (scalar, n.into()),
        _ => (Scalar::Uint, 0),
    }
}

/// Where and how a texture is sampled.
struct Source {
    texture: Texture,
    sampler: Sampler,
    location: Location,
    offset: [i32; 3],
    /// Whether every operand is definite.
    definite: bool,
}

/// What is left open says why nothing is known of a result.
struct Unknown;

type Known<T> = Result<T, Unknown>;

impl Cx<'_, '_> {
    pub(super) fn call_texture(&mut self, function: LibraryFunction, e: &mut Expr) -> Option<Done> {
        use Meaning as M;
        Some(match function.meaning() {
            M::Sample | M::SampleBias | M::SampleGrad | M::SampleLevel => self.apply(Rule::WslETextureSample, e_texture_sample, e),
            M::SampleCmp | M::SampleCmpLevelZero => self.apply(Rule::WslETextureCompare, e_texture_compare, e),
            M::GatherRed | M::GatherGreen | M::GatherBlue | M::GatherAlpha | M::GatherCmp => {
                self.apply(Rule::WslETextureGather, e_texture_gather, e)
            }
            M::Load => self.apply(Rule::WslETextureLoad, e_texture_load, e),
            M::Store => self.apply(Rule::WslETextureStore, e_texture_store, e),
            M::GetDimensions => self.apply(Rule::WslETextureDimensions, e_texture_dimensions, e),
            _ => return None,
        })
    }

    /// The float that a word is, or the bounds of those that it may be; unknown if there are none or it is no finite number.
    fn inexact(&self, word: Word) -> Known<Inexact> {
        match self.opens.read(word) {
            Word::Bits(bits) => {
                let x = f64::from(f32::from_bits(bits));
                if x.is_finite() { Ok(Inexact::exact(x)) } else { Err(Unknown) }
            }
            word => {
                let set = self.opens.possible(word).floats();
                match set.hull() {
                    Some(hull) if set.is_bounded() && hull.low.is_finite() && hull.high.is_finite() => {
                        Ok(Inexact { value: hull.low, allowed: Interval::between(hull.low, hull.high) })
                    }
                    _ => Err(Unknown),
                }
            }
        }
    }

    /// As many of them as there are, the others 0.
    fn inexacts(&self, words: &[Word]) -> Known<[Inexact; 3]> {
        let mut all = [Inexact::exact(0.0); 3];
        for (x, &word) in all.iter_mut().zip(words) {
            *x = self.inexact(word)?;
        }
        Ok(all)
    }

    /// The ints that words are; unknown if one is open.
    fn ints(&self, words: &[Word]) -> Known<[i32; 3]> {
        let mut all = [0; 3];
        for (x, &word) in all.iter_mut().zip(words) {
            *x = self.opens.read(word).definite().ok_or(Unknown)? as i32;
        }
        Ok(all)
    }

    fn all_definite(&self, words: &[Word]) -> bool {
        words.iter().all(|&word| self.opens.read(word).definite().is_some())
    }

    /// The place that a location's words are.
    fn location(&self, texture: &Texture, words: &[Word]) -> Known<Location> {
        let dimensions = usize::from(dimensions_of(texture.kind));
        let (at, layer) = words.split_at(dimensions.min(words.len()));
        let layer = layer.first().map_or(Ok(Inexact::exact(0.0)), |&layer| self.inexact(layer))?;
        let location = Location { at: self.inexacts(at)?, layer };
        let sides = texture.image.sides(0).unwrap_or([1; 3]);
        let cube = texture.image.shape() == Shape::Cube;
        // A direction without a length, or one that a device may take for such a one, leads to no face.
        let length = location.at.iter().map(|x| x.allowed.abs().low).fold(0.0, f64::max);
        if cube && length < f64::from(f32::MIN_POSITIVE) {
            return Err(Unknown);
        }
        let far = |axis: usize| location.at[axis].allowed.magnitude() * f64::from(sides[axis]) >= FARTHEST;
        if !cube && (0..dimensions).any(far) { Err(Unknown) } else { Ok(location) }
    }

    /// Four unspecified values.
    fn unspecified(&mut self, scalar: Scalar) -> [Word; 4] {
        [0; 4].map(|_| self.opens.leaf(None, scalar, 0))
    }

    /// What is shown of four components: unspecified ones where the image or the sampler defines none.
    fn shown(&mut self, source: &Source, found: Result<Sampled, SamplerError>, scalar: Scalar) -> [Word; 4] {
        let Ok(found) = found else { return self.unspecified(scalar) };
        let exact = source.definite && self.opens.precision.is_none() || self.opens.strategy != Strategy::Carry;
        [0, 1, 2, 3].map(|c: usize| match found.undefined[c] {
            Some(_) => self.opens.leaf(None, scalar, 0),
            None if exact && scalar == Scalar::Float => Word::Bits(float_bits(f32::from_bits(found.bits[c]))),
            None if exact => Word::Bits(found.bits[c]),
            None if scalar == Scalar::Float => {
                let set = found.allowed.0.iter().fold(Set::NONE, |set, one| set.union(Set::of_f32(one[c])));
                self.opens.within(set)
            }
            None => {
                let point = |one: &[Interval; 4]| (one[c].low == one[c].high).then(|| source.texture.image.shader_bits(one[c].low));
                match found.allowed.0.iter().map(point).collect::<Option<Vec<u32>>>() {
                    Some(mut values) => {
                        values.sort_unstable();
                        values.dedup();
                        self.opens.leaf(Some(&values), scalar, found.bits[c])
                    }
                    None => self.opens.leaf(None, scalar, found.bits[c]),
                }
            }
        })
    }

    /// Replaces what a call's type has no use for, and what the format has not: the call is the value of its first components.
    fn of_components(&mut self, e: &mut Expr, texture: &Texture, words: [Word; 4]) {
        let (scalar, count) = elements_of(self, e.ty);
        let elements = (0..count).map(|c| if c < texture.channels() { words[c] } else { self.opens.leaf(None, scalar, 0) }).collect();
        e.form = Form::Value(padded(self.opens, elements));
    }

    /// Whether the sampler may be used so: of unnormalized coordinates there are one or two, of one level, and they are not moved.
    fn unnormalized_fits(source: &Source) -> bool {
        let image = &source.texture.image;
        !source.sampler.unnormalized || matches!(image.shape(), Shape::D1 | Shape::D2) && image.levels() == 1 && source.offset == [0; 3]
    }

    fn sampled(&mut self, source: &Source, lod: Lod, reference: Option<Inexact>) -> [Word; 4] {
        let scalar = source.texture.scalar();
        if !Self::unnormalized_fits(source) {
            return self.unspecified(scalar);
        }
        let image = &source.texture.image;
        let (rules, precision) = (Rules::default(), Precision::least(image.format()));
        let sampling = Sampling { image, sampler: &source.sampler, precision, rules: &rules, offset: source.offset };
        let found = sampling.sample(source.location, lod, reference);
        self.shown(source, found, scalar)
    }

    /// The derivatives of a location to the right and downwards, by the quad's own and the other row and column; and whether these are the same.
    fn derivatives(&self, lanes: &[Words; 4], dimensions: usize) -> Known<([Inexact; 3], [Inexact; 3], bool)> {
        let mut at = [[Inexact::exact(0.0); 3]; 4];
        for (at, words) in at.iter_mut().zip(lanes) {
            *at = self.inexacts(&words[..dimensions.min(words.len())])?;
        }
        let mut same = true;
        let mut along = |first: [usize; 2], second: [usize; 2]| {
            [0, 1, 2].map(|axis: usize| {
                let difference = |[from, to]: [usize; 2]| {
                    let (a, b) = (at[from][axis], at[to][axis]);
                    let value = f64::from((b.value - a.value) as f32);
                    let range = Interval::between(b.allowed.low - a.allowed.high, b.allowed.high - a.allowed.low).of_f32();
                    Inexact {
                        value,
                        allowed: if a.allowed.low == a.allowed.high && b.allowed.low == b.allowed.high {
                            Interval::point(value)
                        } else {
                            range
                        },
                    }
                };
                let (first, second) = (difference(first), difference(second));
                same &= first == second;
                Inexact { allowed: first.allowed.hull(second.allowed), ..first }
            })
        };
        let dx = along([0, 1], [2, 3]);
        let dy = along([0, 2], [1, 3]);
        Ok((dx, dy, same))
    }
}

/// The level of detail of level 0.
fn level_zero() -> Lod {
    Lod::Explicit(Inexact::exact(0.0))
}

/// How a call gives its level: the words that it takes for it.
enum Level {
    /// By derivatives in the quad, with a bias.
    Quad(Option<Word>),
    /// By derivatives.
    Derivatives(Words, Words),
    /// By itself.
    Explicit(Word),
    /// 0.
    Zero,
}

impl Cx<'_, '_> {
    /// The words of four components that a call samples, compared with a reference or not. The texture and the sampler are taken already.
    fn filtered(&mut self, texture: Texture, sampler: Sampler, arguments: &mut Arguments, meaning: Meaning) -> Result<[Word; 4], Stop> {
        let location = arguments.elements(self)?;
        let compares = matches!(meaning, Meaning::SampleCmp | Meaning::SampleCmpLevelZero);
        let reference = if compares { Some(arguments.elements(self)?[0]) } else { None };
        let level = match meaning {
            Meaning::Sample | Meaning::SampleCmp => Level::Quad(None),
            Meaning::SampleBias => Level::Quad(Some(arguments.elements(self)?[0])),
            Meaning::SampleGrad => Level::Derivatives(arguments.elements(self)?, arguments.elements(self)?),
            Meaning::SampleLevel => Level::Explicit(arguments.elements(self)?[0]),
            _ => Level::Zero,
        };
        let offset = if arguments.all.len() > 0 { arguments.elements(self)? } else { Words::new() };
        let dimensions = usize::from(dimensions_of(texture.kind));
        let lanes = match level {
            Level::Quad(_) => Some(self.quad(&location)?),
            _ => None,
        };
        let scalar = texture.scalar();
        let known = (|| {
            let mut definite = self.all_definite(&location) && reference.is_none_or(|word| self.all_definite(&[word]));
            let place = self.location(&texture, &location)?;
            let reference = reference.map(|word| self.inexact(word)).transpose()?;
            let offset = self.ints(&offset)?;
            let lod = match (&level, &lanes) {
                (Level::Quad(bias), Some(lanes)) => {
                    let bias = bias.map_or(Ok(Inexact::exact(0.0)), |word| self.inexact(word))?;
                    if bias.allowed.low != bias.allowed.high {
                        return Err(Unknown);
                    }
                    let (dx, dy, same) = self.derivatives(lanes, dimensions)?;
                    definite &= same && lanes.iter().all(|words| self.all_definite(words));
                    Lod::Derivatives { dx, dy, bias: bias.value as f32 }
                }
                (Level::Derivatives(dx, dy), _) => {
                    definite &= self.all_definite(dx) && self.all_definite(dy);
                    Lod::Derivatives { dx: self.inexacts(dx)?, dy: self.inexacts(dy)?, bias: 0.0 }
                }
                (Level::Explicit(lod), _) => {
                    definite &= self.all_definite(&[*lod]);
                    Lod::Explicit(self.inexact(*lod)?)
                }
                _ => level_zero(),
            };
            Ok((place, offset, lod, reference, definite))
        })();
        match known {
            Err(Unknown) => Ok(self.unspecified(scalar)),
            Ok((location, offset, lod, reference, definite)) => {
                let quad = lanes.is_some() && sampler.unnormalized;
                let source = Source { texture, sampler, location, offset, definite };
                Ok(if quad { self.unspecified(scalar) } else { self.sampled(&source, lod, reference) })
            }
        }
    }
}

/// The value of a call that filters a texture, by what it means.
fn filter(cx: &mut Cx, e: &mut Expr) -> Done {
    let (function, all) = called(cx, e)?;
    let mut arguments = Arguments { all: all.into_iter() };
    let ((_, texture), sampler) = (arguments.texture(cx)?, arguments.sampler(cx)?);
    let words = cx.filtered(texture.clone(), sampler, &mut arguments, function.meaning())?;
    cx.of_components(e, &texture, words);
    Ok(())
}

/// Sample…(t, s, x, …) → v, the texels of t around x filtered as s says, of the level that derivatives or arguments choose [wsl/e-texture-sample, 004 Sampler and texture operations; WSL-D23, WSL-D24]
pub fn e_texture_sample(cx: &mut Cx, e: &mut Expr) -> Done {
    filter(cx, e)
}

/// SampleCmp…(t, s, x, d, …) → v, as Sample, but of 1 or 0 for each texel as s compares d with it or not [wsl/e-texture-compare, 004 Sampler and texture operations; WSL-D23, WSL-D24]
pub fn e_texture_compare(cx: &mut Cx, e: &mut Expr) -> Done {
    filter(cx, e)
}

/// Gather…(t, s, x, …) → (v1, v2, v3, v4), a component of the four texels of level 0 around x, or s's comparisons with them [wsl/e-texture-gather, 004 Sampler and texture operations; WSL-D22, WSL-D23]
pub fn e_texture_gather(cx: &mut Cx, e: &mut Expr) -> Done {
    let (function, all) = called(cx, e)?;
    let (texel, mut arguments) = (all.first().map(|a| a.0), Arguments { all: all.into_iter() });
    let ((_, texture), sampler) = (arguments.texture(cx)?, arguments.sampler(cx)?);
    let location = arguments.elements(cx)?;
    let reference = if function.meaning() == Meaning::GatherCmp { Some(arguments.elements(cx)?[0]) } else { None };
    let offset = if arguments.all.len() > 0 { arguments.elements(cx)? } else { Words::new() };
    let component = match function.meaning() {
        Meaning::GatherGreen => 1,
        Meaning::GatherBlue => 2,
        Meaning::GatherAlpha => 3,
        _ => 0,
    };
    let of = match texel.map(|ty| cx.program().env.types.get(ty)) {
        Some(Type::Texture(_, of)) => elements_of(cx, of).1,
        _ => return cx.stuck("a gather of no texture"),
    };
    let scalar = texture.scalar();
    let definite = cx.all_definite(&location) && reference.is_none_or(|word| cx.all_definite(&[word]));
    let known = (|| {
        let reference = reference.map(|word| cx.inexact(word)).transpose()?;
        Ok((cx.location(&texture, &location)?, cx.ints(&offset)?, reference))
    })();
    let words = match known {
        Ok((location, offset, reference)) if component < of.min(texture.channels()) && !sampler.unnormalized => {
            // The footprint is that of a linear filter, whatever the sampler's filters are.
            let sampler = Sampler { mag: Filter::Nearest, min: Filter::Nearest, mip: Filter::Nearest, ..sampler };
            let source = Source { texture, sampler, location, offset, definite };
            let image = &source.texture.image;
            let (rules, precision) = (Rules::default(), Precision::least(image.format()));
            let sampling = Sampling { image, sampler: &source.sampler, precision, rules: &rules, offset };
            let found = sampling.gather(location, component, reference);
            cx.shown(&source, found, scalar)
        }
        Ok(_) | Err(Unknown) => cx.unspecified(scalar),
    };
    e.form = Form::Value(words.into_iter().collect());
    Ok(())
}

/// The level and the texel that a load or store names; unknown if a coordinate is open.
fn texel_named(cx: &Cx, texture: &Texture, ty: TypeId, words: &[Word], offset: &[Word]) -> Known<(i64, [i64; 3])> {
    let (scalar, _) = elements_of(cx, ty);
    let of = |word: Word| {
        let bits = cx.opens.read(word).definite().ok_or(Unknown)?;
        Ok(if scalar == Scalar::Int { i64::from(bits as i32) } else { i64::from(bits) })
    };
    let offset = cx.ints(offset)?;
    let dimensions = usize::from(dimensions_of(texture.kind));
    let mut rest = words.iter().copied();
    let (mut at, mut level) = ([0; 3], 0);
    for axis in 0..dimensions {
        at[axis] = rest.next().map_or(Ok(0), of)? + i64::from(offset[axis]);
    }
    if layered(texture.kind) {
        at[2] = rest.next().map_or(Ok(0), of)?;
    }
    if !is_writable(texture.kind) {
        level = rest.next().map_or(Ok(0), of)?;
    }
    Ok((level, at))
}

/// Load(t, x, …) → v, the texel of t at x                                      [wsl/e-texture-load, 004 Sampler and texture operations; WSL-D21, WSL-D22]
pub fn e_texture_load(cx: &mut Cx, e: &mut Expr) -> Done {
    let (_, all) = called(cx, e)?;
    let mut arguments = Arguments { all: all.into_iter() };
    let (object, texture) = arguments.texture(cx)?;
    let (ty, words) = arguments.next(cx)?;
    let offset = if arguments.all.len() > 0 { arguments.elements(cx)? } else { Words::new() };
    let (scalar, count) = elements_of(cx, e.ty);
    let held = count.min(texture.channels());
    let named = texel_named(cx, &texture, ty, &words, &offset).ok();
    let place = named.and_then(|(level, at)| Some((u32::try_from(level).ok()?, at))).and_then(|(level, at)| {
        let bytes = texture.offset(level, at)?;
        Some((Address::of(object, bytes), level, at))
    });
    let mut elements = Words::new();
    if let Some((address, level, at)) = place {
        if is_writable(texture.kind) {
            cx.gate(address, held, false)?;
            cx.note_place();
            let Some(loaded) = cx.memory.load(cx.opens, address, held as u32) else { return cx.stuck("a texel is out of its texture") };
            cx.events.push(Event::Load(address, loaded.clone()));
            elements.extend(loaded.into_iter().enumerate().map(|(c, word)| texture.loaded(cx.opens, c, word)));
        } else {
            for c in 0..held {
                let Some(word) = texture.texel(cx.opens, &mut cx.memory.opaques, object, level, at, c) else {
                    return cx.stuck("a texel is out of its texture");
                };
                elements.push(word);
            }
            cx.events.push(Event::Load(address, elements.clone()));
        }
    }
    while elements.len() < count {
        let word = cx.opens.leaf(None, scalar, 0);
        elements.push(word);
    }
    e.form = Form::Value(padded(cx.opens, elements));
    Ok(())
}

/// Store(t, v, x) → Void, storing v, converted to t's format, as the texel of t at x if there is one [wsl/e-texture-store, 004 Sampler and texture operations; WSL-D21, WSL-D22]
pub fn e_texture_store(cx: &mut Cx, e: &mut Expr) -> Done {
    let (_, all) = called(cx, e)?;
    let mut arguments = Arguments { all: all.into_iter() };
    let (object, texture) = arguments.texture(cx)?;
    let value = arguments.elements(cx)?;
    let (ty, words) = arguments.next(cx)?;
    let named = texel_named(cx, &texture, ty, &words, &[]).map(|(_, at)| texture.offset(0, at));
    if let Ok(None) = named {
        e.form = Form::Value(Words::new());
        return Ok(());
    }
    // Nothing is made of the value before the thread has its turn.
    let first = Address::of(object, named.as_ref().ok().copied().flatten().unwrap_or(0));
    cx.gate(first, texture.channels(), false)?;
    let mut held = Words::new();
    for c in 0..texture.channels() {
        held.push(match value.get(c) {
            Some(&word) => texture.stored(cx.opens, c, word),
            // What the type does not give.
            None => texture.any_code(cx.opens, c),
        });
    }
    match named {
        Ok(_) => cx.store(first, &held)?,
        Err(Unknown) => cx.store_somewhere(object, &texture, ty, &words, &held)?,
    }
    e.form = Form::Value(Words::new());
    Ok(())
}

impl Cx<'_, '_> {
    /// A store to a texel of open coordinates: each that they may name is what it was or what is stored.
    fn store_somewhere(&mut self, object: ObjectId, texture: &Texture, ty: TypeId, words: &[Word], held: &[Word]) -> Done {
        let sides = texture.image.sides(0).unwrap_or([1; 3]);
        let dimensions = usize::from(dimensions_of(texture.kind));
        let (_, count) = elements_of(self, ty);
        // In the order of the coordinates: dimensions, then the layer.
        let axis = |k: usize| if k < dimensions { k } else { 2 };
        let mut may: [Vec<u32>; 3] = [vec![0], vec![0], vec![0]];
        for (k, &word) in words.iter().enumerate().take(count) {
            let side = sides[axis(k)];
            may[axis(k)] = match self.opens.values(word) {
                Some(values) => values.into_iter().filter(|&v| v < side).collect(),
                None => (0..side).collect(),
            };
        }
        for &z in &may[2] {
            for &y in &may[1] {
                for &x in &may[0] {
                    let Some(bytes) = texture.offset(0, [x, y, z].map(i64::from)) else { continue };
                    let address = Address::of(object, bytes);
                    let Some(old) = self.memory.read(self.opens, address, held.len() as u32) else {
                        return self.stuck("a texel is out of its texture");
                    };
                    let mut either = Words::new();
                    for (&old, &new) in old.iter().zip(held) {
                        let first = old.definite().unwrap_or(0);
                        either.push(match self.opens.possible(old).or(self.opens.possible(new)) {
                            Possible::Values(values) => self.opens.leaf(Some(&values), texture.scalar(), first),
                            Possible::Floats(_) | Possible::Any => self.opens.leaf(None, texture.scalar(), first),
                        });
                    }
                    self.store(address, &either)?;
                    if self.opens.full() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

/// GetDimensions(t, …) → Void, storing the sides of a level of t, and how many levels there are if one was named, through the pointers [wsl/e-texture-dimensions, 004 Sampler and texture operations; WSL-D22]
pub fn e_texture_dimensions(cx: &mut Cx, e: &mut Expr) -> Done {
    let (_, all) = called(cx, e)?;
    let mut arguments = Arguments { all: all.into_iter() };
    let (_, texture) = arguments.texture(cx)?;
    let named = if arguments.all.as_slice().first().is_some_and(|a| a.0 == TypeId::UINT) { Some(arguments.elements(cx)?[0]) } else { None };
    let image = &texture.image;
    // Of which sides there is a pointer each: a cube's faces are not told.
    let axes: &[usize] = match image.shape() {
        Shape::D1 => &[0],
        Shape::D1Array => &[0, 2],
        Shape::D2 | Shape::Cube => &[0, 1],
        Shape::D2Array | Shape::D3 => &[0, 1, 2],
    };
    let sides = |level: u32| image.sides(level).unwrap_or([0; 3]);
    let level = named.map_or(Word::Bits(0), |level| cx.opens.read(level));
    let mut numbers: Vec<Possible> = Vec::new();
    for &axis in axes {
        numbers.push(match level.definite() {
            Some(level) => Possible::Values(vec![sides(level)[axis]]),
            None => {
                // Those of every level that it may be, or of none.
                let levels = cx.opens.values(level).unwrap_or_else(|| (0..=image.levels()).collect());
                levels.into_iter().map(|level| Possible::Values(vec![sides(level)[axis]])).reduce(Possible::or).unwrap_or(Possible::Any)
            }
        });
    }
    if named.is_some() {
        numbers.push(Possible::Values(vec![image.levels()]));
    }
    for number in numbers {
        let (ty, words) = arguments.next(cx)?;
        let to = super::pointee(cx.program(), ty);
        let Some(&Word::Address(address)) = words.first() else { return cx.stuck("a size is stored through no pointer") };
        let scalar = if to == Some(TypeId::FLOAT) { Scalar::Float } else { Scalar::Uint };
        let bits = |number: u32| if scalar == Scalar::Float { (number as f32).to_bits() } else { number };
        let word = match number {
            Possible::Values(values) => match values[..] {
                [only] => Word::Bits(bits(only)),
                _ => {
                    let mut values: Vec<u32> = values.into_iter().map(bits).collect();
                    values.sort_unstable();
                    cx.opens.leaf(Some(&values), scalar, values[0])
                }
            },
            Possible::Floats(_) | Possible::Any => cx.opens.leaf(None, scalar, 0),
        };
        cx.store(address, &[word])?;
    }
    e.form = Form::Value(Words::new());
    Ok(())
}
