//! Calls of the functions of textures and samplers: seed 004 "Sampler and texture operations", as
//! `LIBRARY.md` completes it.
//!
//! [`sampling`](crate::wsl::texture::sampling) and [`texel`] compute their results.
//!
//! The texels of a writable texture are words of device memory. Their loads and stores can race. A
//! texel load of another texture is a load of its constant memory. Sampling reads that memory
//! without an event, since it never changes.

use super::builtin::{Values, library_call};
use super::next::conclude;
use super::table::{Class, Function::Expr as E, Row, Shape};
use super::term::Expr;
use super::{Cx, Effect, Effects, Next, Stop};
use crate::image::Sampler;
use crate::outcome::Limit;
use crate::rule::Rule;
use crate::wsl::library::LibraryFunction;
use crate::wsl::library::texture::dimensions_of;
use crate::wsl::memory::{Address, ObjectId, Words};
use crate::wsl::open::{Possible, Word};
use crate::wsl::texture::sampling::{filtered, gathered, needs_quad, of_components};
use crate::wsl::texture::{Arguments, Texture, elements_of, is_writable, padded, texel};
use crate::wsl::types::{Scalar, Type, TypeId};
use smallvec::smallvec;

/// The rules of this section.
pub(super) const RULES: &[Row] = &[
    (Rule::WslETextureSample, E(&[Shape::CallTexture], e_texture_sample)),
    (Rule::WslETextureCompare, E(&[Shape::CallTexture], e_texture_compare)),
    (Rule::WslETextureGather, E(&[Shape::CallTexture], e_texture_gather)),
    (Rule::WslETextureLoad, E(&[Shape::CallTexture], e_texture_load)),
    (Rule::WslETextureStore, E(&[Shape::CallTexture], e_texture_store)),
    (Rule::WslETextureDimensions, E(&[Shape::CallTexture], e_texture_dimensions)),
];

/// A call of a texture function, with its arguments.
struct TextureCall<'e> {
    function: LibraryFunction,
    all: Values<'e>,
    object: ObjectId,
    texture: &'e Texture,
}

/// The object that a texture or sampler argument stands for.
fn object(all: &Values, at: usize) -> Option<ObjectId> {
    match all.get(at)?.1.first()? {
        Word::Address(at) => Some(at.object),
        _ => None,
    }
}

impl<'e> TextureCall<'e> {
    /// The call of a function of that class, whose first argument is a texture.
    fn of(cx: &Cx<'e, '_>, e: &'e Expr, class: Class) -> Option<TextureCall<'e>> {
        let (function, all) = library_call(e, |of| of == class)?;
        let object = object(&all, 0)?;
        let texture = cx.memory.opaques.texture(object)?;
        Some(TextureCall { function, object, texture, all })
    }

    /// The sampler, which is the second argument.
    fn sampler(&self, cx: &Cx) -> Option<Sampler> {
        cx.memory.opaques.sampler(object(&self.all, 1)?).copied()
    }

    /// The scalars and vectors after the first `n` arguments.
    fn after(&self, cx: &Cx, n: usize) -> Arguments<'_, Word> {
        Arguments::new(&cx.program().env.types, self.all.iter().skip(n).map(|(ty, words)| (*ty, &words[..])))
    }
}

/// The step of a call that filters a texture.
fn filter(cx: &mut Cx, e: &Expr, class: Class) -> Option<Next> {
    let call = TextureCall::of(cx, e, class)?;
    let (sampler, meaning, arguments) = (call.sampler(cx)?, call.function.meaning(), call.after(cx, 2));
    conclude(|| {
        let mut effects = Effects::new();
        let quad = match arguments.clone().elements() {
            Some(location) if needs_quad(meaning) => {
                effects.push(Effect::Exchanged);
                Some(cx.quad(location)?.operands)
            }
            _ => None,
        };
        let quad = quad.as_ref().map(|quad| quad.each_ref().map(|words| &words[..]));
        let Some(words) = filtered(cx.opens, (call.texture, sampler), arguments, meaning, quad) else { return missing(cx) };
        let of = elements_of(&cx.program().env.types, e.ty);
        Ok(Next::value(e, of_components(cx.opens, of, call.texture, words)).with(effects))
    })
}

fn missing<T>(cx: &Cx) -> Result<T, Stop> {
    cx.stuck("a texture's function without an argument")
}

/// Sample…(t, s, x, …) → v, the texels of t around x filtered as s says, of the level that
/// derivatives or arguments choose [wsl/e-texture-sample, 004 Sampler and texture operations;
/// WSL-D23, WSL-D24]
pub fn e_texture_sample(cx: &mut Cx, e: &Expr) -> Option<Next> {
    filter(cx, e, Class::Sample)
}

/// SampleCmp…(t, s, x, d, …) → v, as Sample, but of 1 or 0 for each texel as s compares d with it
/// or not [wsl/e-texture-compare, 004 Sampler and texture operations; WSL-D23, WSL-D24]
pub fn e_texture_compare(cx: &mut Cx, e: &Expr) -> Option<Next> {
    filter(cx, e, Class::Compare)
}

/// Gather…(t, s, x, …) → (v1, v2, v3, v4), a component of the four texels of level 0 around x, or
/// s's comparisons with them [wsl/e-texture-gather, 004 Sampler and texture operations; WSL-D22,
/// WSL-D23]
pub fn e_texture_gather(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let call = TextureCall::of(cx, e, Class::Gather)?;
    let types = &cx.program().env.types;
    let Type::Texture(_, of) = types.get(call.all.first()?.0) else { return None };
    let of = (call.texture, elements_of(types, of).1, call.sampler(cx)?);
    let arguments = call.after(cx, 2);
    conclude(|| match gathered(cx.opens, of, arguments, call.function.meaning()) {
        Some(words) => Ok(Next::value(e, words.into_iter().collect())),
        None => missing(cx),
    })
}

/// Load(t, x, …) → v, the texel of t at x [wsl/e-texture-load, 004 Sampler and texture operations;
/// WSL-D21, WSL-D22]
pub fn e_texture_load(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let call = TextureCall::of(cx, e, Class::Load)?;
    let mut arguments = call.after(cx, 1);
    let (scalar, coordinates) = arguments.typed()?;
    let offset = arguments.elements().unwrap_or(&[]);
    conclude(|| {
        let (of, count) = elements_of(&cx.program().env.types, e.ty);
        let component_count = count.min(call.texture.channels());
        let is_definite = |word: &Word| cx.opens.read(*word).definite().is_some();
        let mut loads = Loads { effects: Effects::new(), texels: 0 };
        let elements = if offset.iter().all(is_definite) && !coordinates.iter().all(is_definite) {
            let otherwise: Words = (0..count).map(|_| cx.opens.leaf(None, of, 0)).collect();
            cx.load_somewhere(&call, scalar, Words::from_slice(coordinates), offset, (component_count, &otherwise), &mut loads)?
        } else {
            let position = texel::named_texel(cx.opens, call.texture, (scalar, coordinates), offset);
            let mut elements = cx.load_texel(&call, position, component_count, &mut loads)?;
            while elements.len() < count {
                elements.push(cx.opens.leaf(None, of, 0));
            }
            elements
        };
        Ok(Next::value(e, padded(cx.opens, elements)).with(loads.effects))
    })
}

/// The effects of one call's loads, and the number of texels that it has named so far.
struct Loads {
    effects: Effects,
    texels: usize,
}

/// The most texels that unspecified coordinates may name.
const MAX_NAMED: usize = 4096;

impl Cx<'_, '_> {
    /// Loads `held` components of a texel. Empty if there is no such texel.
    fn load_texel(
        &mut self,
        call: &TextureCall,
        position: Option<(i64, [i64; 3])>,
        component_count: usize,
        loads: &mut Loads,
    ) -> Result<Words, Stop> {
        let (object, texture) = (call.object, call.texture);
        let place = position.and_then(|(level, at)| {
            let level = u32::try_from(level).ok()?;
            Some((Address::of(object, texture.offset(level, at)?), level, at))
        });
        let mut elements = Words::new();
        let Some((address, level, at)) = place else { return Ok(elements) };
        if is_writable(texture.kind) {
            let loaded = self.load(address, component_count as u32, &mut loads.effects)?;
            elements.extend(loaded.into_iter().enumerate().map(|(c, word)| texture.loaded(self.opens, c, word)));
        } else {
            for c in 0..component_count {
                let Some(word) = texture.texel(self.opens, &self.memory.opaques, object, level, at, c) else {
                    return self.stuck("a texel is out of its texture");
                };
                elements.push(word);
            }
            loads.effects.push(Effect::Read(address, elements.clone()));
        }
        Ok(elements)
    }

    /// Loads every texel that unspecified coordinates may name. Each component of the result
    /// selects, by the coordinates, the value of the named texel. It is that of `otherwise` where
    /// there is no texel or component.
    fn load_somewhere(
        &mut self,
        call: &TextureCall,
        scalar: Scalar,
        mut coordinates: Words,
        offset: &[Word],
        (component_count, otherwise): (usize, &Words),
        loads: &mut Loads,
    ) -> Result<Words, Stop> {
        let open = coordinates.iter().position(|&word| self.opens.read(word).definite().is_none());
        let Some(k) = open else {
            loads.texels += 1;
            if loads.texels > MAX_NAMED {
                return Err(Stop::Limit(Limit { what: "texels that open coordinates may name", bound: MAX_NAMED as u64 }));
            }
            let position = texel::named_texel(self.opens, call.texture, (scalar, &coordinates), offset);
            let mut elements = self.load_texel(call, position, component_count, loads)?;
            elements.extend_from_slice(&otherwise[elements.len()..]);
            return Ok(elements);
        };
        let coordinate = coordinates[k];
        let listed = self.opens.values(coordinate);
        if listed.is_none() && !is_writable(call.texture.kind) {
            return Ok(otherwise.clone());
        }
        // If there are too many values to list, all values that name texels are tried, because
        // their loads may race.
        let sides = call.texture.sides(0);
        let most = sides.into_iter().max().unwrap_or(0).max(call.texture.image.levels());
        let values = listed.clone().unwrap_or_else(|| (0..most).collect());
        let mut words_of_values: Vec<(u32, Words)> = Vec::with_capacity(values.len());
        for value in values {
            coordinates[k] = Word::Bits(value);
            words_of_values
                .push((value, self.load_somewhere(call, scalar, coordinates.clone(), offset, (component_count, otherwise), loads)?));
        }
        if listed.is_none() {
            return Ok(otherwise.clone());
        }
        let cases_of = |c: usize| words_of_values.iter().map(|(value, words)| (*value, words[c])).collect::<Vec<(u32, Word)>>();
        Ok((0..otherwise.len()).map(|c| self.opens.select(coordinate, &cases_of(c))).collect())
    }
}

/// Store(t, v, x) → Void, storing v, converted to t's format, as the texel of t at x if there is
/// one [wsl/e-texture-store, 004 Sampler and texture operations; WSL-D21, WSL-D22]
pub fn e_texture_store(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let call = TextureCall::of(cx, e, Class::Store)?;
    let (object, texture) = (call.object, call.texture);
    let mut arguments = call.after(cx, 1);
    let (value, words) = (arguments.elements()?, arguments.typed()?);
    conclude(|| {
        let nothing = Next::value(e, Words::new());
        let byte_offset = texel::named_texel(cx.opens, texture, words, &[]).map(|(_, at)| texture.offset(0, at));
        if let Some(None) = byte_offset {
            return Ok(nothing);
        }
        // No term is made from the value before the thread has its turn.
        let first = Address::of(object, byte_offset.flatten().unwrap_or(0));
        cx.turn(first, texture.channels(), false)?;
        let mut codes = Words::new();
        for c in 0..texture.channels() {
            codes.push(match value.get(c) {
                Some(&word) => texture.stored(cx.opens, c, word),
                // The stored value has no such component, so the code is unspecified.
                None => texture.any_code(cx.opens, c),
            });
        }
        Ok(nothing.with(match byte_offset {
            Some(_) => smallvec![Effect::Store(first, codes)],
            None => cx.store_somewhere(object, texture, words.1, &codes)?,
        }))
    })
}

impl Cx<'_, '_> {
    /// A store to a texel with unspecified coordinates. Each texel that they may name is stored to.
    /// It gets the new value if the coordinates name it, and keeps its old value otherwise.
    fn store_somewhere(&mut self, object: ObjectId, texture: &Texture, words: &[Word], codes: &[Word]) -> Result<Effects, Stop> {
        let mut effects = Effects::new();
        let sides = texture.sides(0);
        let dimensions = usize::from(dimensions_of(texture.kind));
        // The order of the coordinates is the dimensions, then the layer.
        let axis = |k: usize| if k < dimensions { k } else { 2 };
        let listed: Vec<Option<Vec<u32>>> = words.iter().map(|&word| self.opens.values(word)).collect();
        let mut candidates: [Vec<u32>; 3] = [vec![0], vec![0], vec![0]];
        for (k, listed) in listed.iter().enumerate() {
            let side = sides[axis(k)];
            candidates[axis(k)] = match listed {
                Some(values) => values.iter().copied().filter(|&v| v < side).collect(),
                None => (0..side).collect(),
            };
        }
        for &z in &candidates[2] {
            for &y in &candidates[1] {
                for &x in &candidates[0] {
                    let at = [x, y, z];
                    let Some(bytes) = texture.offset(0, at.map(i64::from)) else { continue };
                    let address = Address::of(object, bytes);
                    let Some(old) = self.memory.read(self.opens, address, codes.len() as u32) else {
                        return self.stuck("a texel is out of its texture");
                    };
                    let mut merged = Words::new();
                    for (&old, &new) in old.iter().zip(codes) {
                        let mut word = new;
                        for (k, &coordinate) in words.iter().enumerate() {
                            word = match &listed[k] {
                                Some(values) => {
                                    let own_coordinate = at[axis(k)];
                                    let cases: Vec<(u32, Word)> =
                                        values.iter().map(|&v| (v, if v == own_coordinate { word } else { old })).collect();
                                    self.opens.select(coordinate, &cases)
                                }
                                None => self.one_of_two(old, word, texture.scalar()),
                            };
                        }
                        merged.push(word);
                    }
                    effects.push(Effect::Store(address, merged));
                    if self.opens.full() {
                        return Ok(effects);
                    }
                }
            }
        }
        Ok(effects)
    }

    /// A word that is one of two. Nothing decides which.
    fn one_of_two(&mut self, old: Word, new: Word, scalar: Scalar) -> Word {
        let first = self.opens.read(old).definite().unwrap_or(0);
        match self.opens.possible(old).or(self.opens.possible(new)) {
            Possible::Values(values) => self.opens.leaf(Some(&values), scalar, first),
            Possible::Floats(_) | Possible::Any => self.opens.leaf(None, scalar, first),
        }
    }
}

/// GetDimensions(t, …) → Void, storing the sides of a level of t, and how many levels there are if
/// one was named, through the pointers [wsl/e-texture-dimensions, 004 Sampler and texture
/// operations; WSL-D22]
pub fn e_texture_dimensions(cx: &mut Cx, e: &Expr) -> Option<Next> {
    let call = TextureCall::of(cx, e, Class::Dimensions)?;
    let (texture, levels) = (call.texture, call.texture.image.levels());
    let has_level = call.all.get(1).is_some_and(|a| a.0 == TypeId::UINT);
    let level_argument = if has_level { call.after(cx, 1).element() } else { None };
    let level = level_argument.map_or(Word::Bits(0), |level| cx.opens.read(level));
    let mut numbers: Vec<Possible> = Vec::new();
    for &axis in texture.axes() {
        numbers.push(match level.definite() {
            Some(level) => Possible::Values(vec![texture.sides(level)[axis]]),
            None => {
                // The sizes of every level that it may be, or of no level.
                let levels = cx.opens.values(level).unwrap_or_else(|| (0..=levels).collect());
                levels
                    .into_iter()
                    .map(|level| Possible::Values(vec![texture.sides(level)[axis]]))
                    .reduce(Possible::or)
                    .unwrap_or(Possible::Any)
            }
        });
    }
    if level_argument.is_some() {
        numbers.push(Possible::Values(vec![levels]));
    }
    let mut effects = Effects::new();
    for (number, (ty, words)) in numbers.into_iter().zip(call.all.iter().skip(1 + usize::from(has_level))) {
        let to = super::pointee(cx.program(), *ty);
        let Word::Address(address) = *words.first()? else { return None };
        let scalar = if to == Some(TypeId::FLOAT) { Scalar::Float } else { Scalar::Uint };
        let bits = |number: u32| texel::number_bits(to, number);
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
        effects.push(Effect::Store(address, smallvec![word]));
    }
    Some(Next::value(e, Words::new()).with(effects))
}
