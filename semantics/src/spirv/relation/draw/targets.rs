//! Colour attachments: the definite code of each component of a texel, and the codes that a
//! conforming device may hold instead (Vulkan, Fragment Output Interface; Blending; Texel Output
//! Format Conversion).

use rustc_hash::FxHashMap;

use crate::image::{Channel, Codes, Format, Image, Numeric, nearest, only_code, pack, pack_within, unpack};
use crate::number::integer::mask;
use crate::number::sets::{Set, Span};
use crate::number::{Expected, Interval, Profile, Why};
use crate::raster::{self, Blend};
use crate::spirv::environment::{ColourTarget, InvocationId};
use crate::spirv::operation::Scalar as ComponentType;
use crate::spirv::value::{Origin, Scalar};
use crate::undefined::Unspecified;

/// What a conforming device may show in a component of a texel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Component {
    /// Exactly this code.
    Exactly(u64),
    /// One of these codes. Conversion to the format may round either way. The image holds the best
    /// one.
    OneOf(Codes),
    /// One of these 32-bit floats. The image holds the definite one.
    Within(Set),
    /// Not decided, and why. The image holds the definite code.
    Undecided(Why),
    /// Any code, since the value is undefined.
    Undefined(MadeBy),
}

/// The origin of an undefined component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadeBy {
    /// The kind of undefined value.
    pub kind: Unspecified,
    /// The index of the instruction in the fragment stage, and the invocation (quad and lane).
    /// `None` if no instruction made it: the attachment was not written before the draw, or the
    /// stage has no such output.
    pub instruction: Option<(u32, InvocationId)>,
}

/// A colour attachment after a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedTarget {
    /// The location of the output variable.
    pub location: u32,
    /// The definite texels.
    pub image: Image,
    /// The components that are not exact. A key is 4 times the texel's index plus the component.
    inexact: FxHashMap<u64, Component>,
    /// The components whose definite value is undefined, with the same keys.
    undefined: FxHashMap<u64, MadeBy>,
}

impl ObservedTarget {
    /// What a device may show in a component at a pixel. `None` if there is no such component.
    pub fn component(&self, x: u32, y: u32, component: usize) -> Option<Component> {
        let channel = self.image.format().channels().get(component)?;
        let index = self.image.index(0, x.into(), y.into())?;
        let (texel, _) = self.image.raw(0, x.into(), y.into())?;
        let exactly = Component::Exactly((texel >> channel.offset) as u64 & mask(channel.width));
        Some(self.inexact.get(&(4 * index as u64 + component as u64)).cloned().unwrap_or(exactly))
    }

    /// The origin of a component whose definite value is undefined. A device may still have another
    /// fragment there, or none.
    pub fn undefined(&self, x: u32, y: u32, component: usize) -> Option<MadeBy> {
        let index = self.image.index(0, x.into(), y.into())?;
        self.undefined.get(&(4 * index as u64 + component as u64)).copied()
    }

    /// All components that are not exact, by rows: pixel, component, and what a device may show.
    pub fn inexact(&self) -> Vec<([u32; 2], usize, &Component)> {
        let width = self.image.size(0).map_or(1, |[width, _]| u64::from(width));
        let mut all: Vec<_> = self.inexact.iter().map(|(&at, c)| (at, c)).collect();
        all.sort_unstable_by_key(|(at, _)| *at);
        let pixel = |texel: u64| [(texel % width) as u32, (texel / width) as u32];
        all.into_iter().map(|(at, c)| (pixel(at / 4), (at % 4) as usize, c)).collect()
    }
}

/// A colour attachment after a draw by an engine without sets: definite texels, and the undefined
/// components.
#[derive(Clone, Debug, PartialEq)]
pub struct DefiniteTarget {
    /// The location of the output variable.
    pub location: u32,
    /// The definite texels.
    pub image: Image,
    /// The undefined components. A key is 4 times the texel's index plus the component.
    undefined: FxHashMap<u64, MadeBy>,
}

impl DefiniteTarget {
    /// An attachment without undefined components.
    pub fn defined(location: u32, image: Image) -> DefiniteTarget {
        DefiniteTarget { location, image, undefined: FxHashMap::default() }
    }

    /// The origin of an undefined component at a pixel. `None` if it is defined.
    pub fn undefined(&self, x: u32, y: u32, component: usize) -> Option<MadeBy> {
        let index = self.image.index(0, x.into(), y.into())?;
        self.undefined.get(&(4 * index as u64 + component as u64)).copied()
    }

    /// The number of undefined components.
    pub fn undefined_count(&self) -> usize {
        self.undefined.len()
    }
}

impl From<ObservedTarget> for DefiniteTarget {
    /// Drops what devices may show instead.
    fn from(target: ObservedTarget) -> DefiniteTarget {
        DefiniteTarget { location: target.location, image: target.image, undefined: target.undefined }
    }
}

/// The devices that have a fragment. Its coverage may depend on an undefined value of that origin.
pub(super) type Presence = raster::Presence<Origin>;

/// A fragment's value for a component: the scalar of the output, nothing if the stage has no output
/// there, or an unknown value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Written {
    Scalar(Scalar),
    /// One of a bounded set of floats, with the definite one.
    Within(Scalar, Set),
    Nothing,
    Unknown(Why),
}

impl Written {
    /// The definite bits and the set, if the set is one span.
    fn span(&self, profile: Profile) -> Option<(u32, Span)> {
        match self {
            Written::Scalar(scalar) => Some((scalar.bits as u32, decided(scalar, profile)?)),
            Written::Within(scalar, set) => Some((scalar.bits as u32, *set.only_span()?)),
            Written::Nothing | Written::Unknown(_) => None,
        }
    }
}

/// The value of a float that is the same on all devices.
#[inline]
pub(super) fn decided(scalar: &Scalar, profile: Profile) -> Option<Span> {
    match scalar.lane().judge(profile) {
        Expected::Bits(bits) if scalar.undefined.is_none() => Some(Span::point(f32::from_bits(bits).into())),
        _ => None,
    }
}

/// A triangle's edge through a pixel's centre: its end positions in a fixed order, and the side on
/// which the triangle lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) ends: [[u32; 4]; 2],
    pub(super) side: bool,
}

/// The first of two fragments from both sides of an edge. Every device has one of the two.
#[derive(Clone, Debug)]
struct Half {
    edge: Edge,
    /// The components that this fragment wrote.
    shown: [Option<Component>; 4],
}

/// The components of an attachment that are not exact.
#[derive(Clone, Debug)]
struct Inexact {
    /// A key is 4 times the texel's index plus the component.
    shown: FxHashMap<u64, Component>,
    /// By texel: the set of its components with an entry. It saves most lookups.
    of_texels: Vec<u8>,
}

impl Inexact {
    /// No entries, for so many texels.
    fn none_of(texels: usize) -> Inexact {
        Inexact { shown: FxHashMap::default(), of_texels: vec![0; texels] }
    }

    fn get(&self, key: u64) -> Option<&Component> {
        let of_texel = *self.of_texels.get(key as usize / 4)?;
        if of_texel >> (key % 4) & 1 == 1 { self.shown.get(&key) } else { None }
    }

    fn insert(&mut self, key: u64, component: Component) {
        if let Some(of_texel) = self.of_texels.get_mut(key as usize / 4) {
            *of_texel |= 1 << (key % 4);
            self.shown.insert(key, component);
        }
    }

    #[inline]
    fn remove(&mut self, key: u64) {
        if let Some(of_texel) = self.of_texels.get_mut(key as usize / 4)
            && *of_texel >> (key % 4) & 1 == 1
        {
            *of_texel &= !(1 << (key % 4));
            self.shown.remove(&key);
        }
    }

    /// Drops all entries but undefined values.
    fn keep_undefined(&mut self) {
        let of_texels = &mut self.of_texels;
        self.shown.retain(|key, component| {
            let stays = matches!(component, Component::Undefined(_));
            of_texels[*key as usize / 4] &= !(u8::from(!stays) << (key % 4));
            stays
        });
    }
}

/// An attachment during a draw.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// By texel: the last fragment, if it was on an edge.
    halves: FxHashMap<usize, Half>,
    location: u32,
    format: Format,
    width: u32,
    texels: Vec<u8>,
    inexact: Inexact,
    /// The origins of components whose definite value is undefined.
    undefined: FxHashMap<u64, MadeBy>,
    /// Whether inexact components are recorded that are not undefined.
    keeps_doubt: bool,
    image: Image,
}

impl Target {
    pub(super) fn new(target: &ColourTarget) -> Target {
        let image = target.image.clone();
        let [width, height] = image.size(0).unwrap_or([0; 2]);
        let texels = width as usize * height as usize;
        let (mut inexact, mut made_undefined) = (Inexact::none_of(texels), FxHashMap::default());
        for (texel, undefined, rounded) in image.inexact(0).take_while(|(texel, ..)| *texel < texels) {
            let texel = texel as u64;
            for c in 0..image.format().channels().len() as u64 {
                if undefined >> c & 1 == 1 {
                    let made = MadeBy { kind: Unspecified::Uninitialised, instruction: None };
                    inexact.insert(4 * texel + c, Component::Undefined(made));
                    made_undefined.insert(4 * texel + c, made);
                } else if rounded >> c & 1 == 1 {
                    inexact.insert(4 * texel + c, Component::Undecided(Why::Approximate));
                }
            }
        }
        let texels = image.bytes(0).unwrap_or_default().to_vec();
        let (halves, undefined) = (FxHashMap::default(), made_undefined);
        let (location, format) = (target.location, image.format());
        Target { halves, location, format, width, texels, inexact, undefined, keeps_doubt: true, image }
    }

    /// Records only undefined components from now on.
    pub(super) fn forget_doubt(&mut self) {
        self.keeps_doubt = false;
        self.inexact.keep_undefined();
    }

    /// Writes a fragment to a pixel of the attachment, or blends it. If this fragment and the last
    /// one lie on both sides of one edge, every device has one of the two, and nothing remains of
    /// what was there before.
    pub(super) fn write(
        &mut self,
        [x, y]: [u32; 2],
        written: &[Written; 4],
        presence: Presence,
        edge: Option<Edge>,
        (profile, blend): (Profile, Option<(Blend, &raster::Rules)>),
    ) {
        if presence == Presence::Sure && edge.is_none() && blend.is_none() {
            let numeric = self.format.numeric();
            let only = |c: usize, channel: Channel| {
                let (bits, span) = written[c].span(profile)?;
                only_code(numeric, channel.width, bits, &span)
            };
            return self.write_for_sure([x, y], only, |c, channel| assess(numeric, channel, &written[c], profile));
        }
        let Some((texel, mut code_of_all)) = self.texel([x, y]) else { return };
        let size = self.format.bytes();
        let opposite = |half: &Half| edge.is_some_and(|edge| half.edge.ends == edge.ends && half.edge.side != edge.side);
        let other = self.halves.remove(&texel).filter(opposite);
        let mut shown_of_all = [None, None, None, None];
        let blended = blend.map(|blend| self.blended(blend, (code_of_all, texel), written, profile));
        for (c, &channel) in self.format.channels().iter().enumerate() {
            let key = 4 * texel as u64 + c as u64;
            let old_code = (code_of_all >> channel.offset) as u64 & mask(channel.width);
            let (code, new, made) = match &blended {
                Some(blended) => blended[c].clone(),
                None => {
                    let (code, new) = assess(self.format.numeric(), channel, &written[c], profile);
                    let made = if let Component::Undefined(made) = new { Some(made) } else { None };
                    (code, new, made)
                }
            };
            let new_code = code.unwrap_or(old_code);
            let code = if matches!(presence, Presence::Elsewhere | Presence::Open(_)) { old_code } else { new_code };
            match definitely(presence, self.undefined.get(&key).copied(), made, new_code != old_code) {
                Some(made) => drop(self.undefined.insert(key, made)),
                None => drop(self.undefined.remove(&key)),
            }
            if edge.is_some() {
                shown_of_all[c] = Some(new.clone());
            }
            let old = || self.inexact.get(key).cloned().unwrap_or(Component::Exactly(old_code));
            let shown = match (presence, other.as_ref().and_then(|half| half.shown[c].clone())) {
                (Presence::Sure, _) => new,
                (Presence::Open(origin), _) => match either(old(), new) {
                    undefined @ Component::Undefined(_) => undefined,
                    _ if new_code != old_code => Component::Undefined(made_by(origin)),
                    same => same,
                },
                (_, Some(other)) => either(other, new),
                _ => either(old(), new),
            };
            code_of_all &= !(u128::from(mask(channel.width)) << channel.offset);
            code_of_all |= u128::from(code) << channel.offset;
            match shown {
                Component::Exactly(_) => self.inexact.remove(key),
                shown if !self.keeps_doubt && !matches!(shown, Component::Undefined(_)) => self.inexact.remove(key),
                shown => self.inexact.insert(key, shown),
            };
        }
        self.texels[texel * size..(texel + 1) * size].copy_from_slice(&code_of_all.to_le_bytes()[..size]);
        if let (Some(edge), None) = (edge, other) {
            self.halves.insert(texel, Half { edge, shown: shown_of_all });
        }
    }

    /// Writes a fragment that every device has, without blending and on no edge. `only` gives the
    /// code of a component that has only one. Otherwise `shown` gives the definite code and what a
    /// device may show.
    pub(super) fn write_for_sure(
        &mut self,
        pixel: [u32; 2],
        only: impl Fn(usize, Channel) -> Option<u64>,
        shown: impl Fn(usize, Channel) -> (Option<u64>, Component),
    ) {
        let Some((texel, mut code_of_all)) = self.texel(pixel) else { return };
        if !self.halves.is_empty() {
            self.halves.remove(&texel);
        }
        for (c, &channel) in self.format.channels().iter().enumerate() {
            let key = 4 * texel as u64 + c as u64;
            let code = only(c, channel).inspect(|_| self.show_exactly(key)).or_else(|| {
                let (code, shown) = shown(c, channel);
                self.show(key, shown);
                code
            });
            if let Some(code) = code {
                code_of_all &= !(u128::from(mask(channel.width)) << channel.offset);
                code_of_all |= u128::from(code) << channel.offset;
            }
        }
        let size = self.format.bytes();
        self.texels[texel * size..(texel + 1) * size].copy_from_slice(&code_of_all.to_le_bytes()[..size]);
    }

    /// The index of a pixel's texel, and its bits. `None` outside of the attachment.
    fn texel(&self, [x, y]: [u32; 2]) -> Option<(usize, u128)> {
        let size = self.format.bytes();
        let texel = y as usize * self.width as usize + x as usize;
        let mut bytes = [0; 16];
        bytes[..size].copy_from_slice(self.texels.get(texel * size..(texel + 1) * size)?);
        Some((texel, u128::from_le_bytes(bytes)))
    }

    /// Records what devices show of a component.
    fn show(&mut self, key: u64, shown: Component) {
        match &shown {
            Component::Undefined(made) => drop(self.undefined.insert(key, *made)),
            _ if self.undefined.is_empty() => {}
            _ => drop(self.undefined.remove(&key)),
        }
        match shown {
            Component::Undefined(_) => self.inexact.insert(key, shown),
            Component::Exactly(_) => self.show_exactly(key),
            _ if !self.keeps_doubt => self.inexact.remove(key),
            _ => self.inexact.insert(key, shown),
        }
    }

    /// Records that a component is exact.
    #[inline]
    fn show_exactly(&mut self, key: u64) {
        if !self.undefined.is_empty() {
            self.undefined.remove(&key);
        }
        self.inexact.remove(key);
    }

    /// Writes the fragments of quads with definite values only. `stays` is the set of lanes with
    /// fragments. `bits` gives a component in all lanes. Returns false, and writes nothing, if
    /// inexact components are recorded here or a component has no defined code.
    pub(super) fn write_quads<const LANES: usize>(
        &mut self,
        quads: impl Iterator<Item = [u32; 2]>,
        stays: u64,
        bits: impl Fn(usize) -> Option<[u32; LANES]>,
    ) -> bool {
        let numeric = self.format.numeric();
        let codes = |component: usize, channel: Channel| Some((nearest(numeric, channel.width, bits(component)?)?, u64::MAX));
        !self.keeps_doubt && self.write_codes(quads, stays, codes).is_some()
    }

    /// Writes the fragments of quads that every device has. `codes_of` gives the codes of a
    /// component in all lanes, and the set of lanes in which every device has that code. Returns
    /// the set of lanes written: those in which this holds for all components. `None`, and nothing
    /// is written, if a component has no codes.
    pub(super) fn write_codes<const LANES: usize>(
        &mut self,
        quads: impl Iterator<Item = [u32; 2]>,
        stays: u64,
        codes_of: impl Fn(usize, Channel) -> Option<([u64; LANES], u64)>,
    ) -> Option<u64> {
        let size = self.format.bytes();
        // Two halves of 64 bits. No channel is in both.
        let (mut codes, mut kept, mut written) = ([[0u64; LANES]; 2], [u64::MAX; 2], stays);
        for (component, &channel) in self.format.channels().iter().enumerate() {
            let (lanes, told) = codes_of(component, channel)?;
            written &= told;
            let (half, offset) = (channel.offset as usize / 64, channel.offset % 64);
            for (code, of_lane) in codes[half].iter_mut().zip(lanes) {
                *code |= of_lane << offset;
            }
            kept[half] &= !(mask(channel.width) << offset);
        }
        let is_exact = self.halves.is_empty() && self.undefined.is_empty() && self.inexact.shown.is_empty();
        let lanes = quads.flat_map(|[x, y]| [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]]);
        for (lane, [x, y]) in lanes.enumerate().filter(|(lane, _)| written >> lane & 1 == 1) {
            let texel = y as usize * self.width as usize + x as usize;
            if !is_exact {
                if !self.halves.is_empty() {
                    self.halves.remove(&texel);
                }
                (0..4).for_each(|component| self.show_exactly(4 * texel as u64 + component));
            }
            let Some(held) = self.texels.get_mut(texel * size..(texel + 1) * size) else { continue };
            match size {
                4 => put::<4>(held, kept[0], codes[0][lane]),
                _ => {
                    for ((held, kept), codes) in held.chunks_mut(8).zip(kept).zip(&codes) {
                        match held.len() {
                            8 => put::<8>(held, kept, codes[lane]),
                            4 => put::<4>(held, kept, codes[lane]),
                            2 => put::<2>(held, kept, codes[lane]),
                            _ => put::<1>(held, kept, codes[lane]),
                        }
                    }
                }
            }
        }
        Some(written)
    }

    /// What blending leaves in a texel with these bits: by component the definite code, what a
    /// device may show, and the origin of an undefined definite value.
    fn blended(
        &self,
        (blend, rules): (Blend, &raster::Rules),
        (texel, place): (u128, usize),
        written: &[Written; 4],
        profile: Profile,
    ) -> [(Option<u64>, Component, Option<MadeBy>); 4] {
        let numeric = self.format.numeric();
        let channel = |c: usize| self.format.channels().get(c).copied();
        let held = [0, 1, 2, 3].map(|c: u64| self.undefined.get(&(4 * place as u64 + c)).copied());
        let source = [0, 1, 2, 3].map(|c: usize| Blended::of_written(written[c], profile));
        let destination = [0, 1, 2, 3].map(|c: usize| match channel(c) {
            // A missing component reads as 0, alpha as 1 (Conversion to RGBA).
            None => Blended::exactly(if c == 3 { 1.0 } else { 0.0 }),
            Some(channel) => {
                let code = (texel >> channel.offset) as u64 & mask(channel.width);
                let held = self.inexact.get(4 * place as u64 + c as u64).cloned().unwrap_or(Component::Exactly(code));
                Blended::of_held((numeric, channel.width), code, held)
            }
        });
        let values = [&source, &destination].map(|side| [0, 1, 2, 3].map(|c: usize| side[c].value));
        let allowed = [&source, &destination].map(|side| [0, 1, 2, 3].map(|c: usize| side[c].allowed));
        [0, 1, 2, 3].map(|c: usize| {
            let Some(Channel { width, .. }) = channel(c) else { return (None, Component::Undecided(Why::Approximate), None) };
            let reads = blend.reads(c);
            let made = (0..4).filter(|&from| reads[0][from]).find_map(|from| source[from].undefined);
            let made = made.or((0..4).filter(|&from| reads[1][from]).find_map(|from| held[from]));
            let read = || [&source, &destination].into_iter().zip(reads).flat_map(|(side, reads)| side.iter().zip(reads));
            let read = || read().filter(|(_, is_read)| *is_read).map(|(component, _)| component);
            let best = pack(numeric, width, (blend.definite(rules, (numeric, width), values, c) as f32).to_bits()).best;
            if let Some(by) = read().find_map(|component| component.undefined) {
                return (Some(best), Component::Undefined(by), made);
            }
            if let Some(why) = read().find_map(|component| component.doubt) {
                return (Some(best), Component::Undecided(why), made);
            }
            let set = Set::of_f32(blend.allowed((numeric, width), allowed, c));
            let shown = if set.is_bounded() { within(numeric, width, set, best) } else { Component::Undecided(Why::Infinite) };
            (Some(best), shown, made)
        })
    }

    pub(super) fn observed(mut self) -> ObservedTarget {
        // The number of texels has not changed.
        let _ = self.image.fill(0, &self.texels);
        ObservedTarget { location: self.location, image: self.image, inexact: self.inexact.shown, undefined: self.undefined }
    }
}

/// A component of a fragment or of an attachment, as an operand of blending.
struct Blended {
    /// The definite value.
    value: f64,
    /// The values that a device may have.
    allowed: Interval,
    /// Why these are not known, if so.
    doubt: Option<Why>,
    /// The origin, if the value is undefined.
    undefined: Option<MadeBy>,
}

impl Blended {
    fn exactly(value: f64) -> Blended {
        Blended { value, allowed: Interval::point(value), doubt: None, undefined: None }
    }

    fn unknown(value: f64, why: Why) -> Blended {
        Blended { doubt: Some(why), allowed: Interval::ANY, ..Blended::exactly(value) }
    }

    /// A component of a fragment.
    fn of_written(written: Written, profile: Profile) -> Blended {
        let undefined = |made| Blended { undefined: Some(made), ..Blended::unknown(0.0, Why::Domain) };
        let (scalar, set) = match written {
            Written::Nothing => return undefined(MadeBy { kind: Unspecified::UnwrittenOutput, instruction: None }),
            Written::Unknown(why) => return Blended::unknown(0.0, why),
            Written::Scalar(scalar) => (scalar, None),
            Written::Within(scalar, set) => (scalar, Some(set)),
        };
        if let Some(origin) = scalar.undefined {
            return undefined(made_by(origin));
        }
        let value = f64::from(f32::from_bits(scalar.bits as u32));
        let expected = set.map_or_else(|| scalar.lane().judge(profile), |set| Expected::of(set, Why::Approximate));
        match expected {
            Expected::Bits(_) | Expected::Zero => Blended::exactly(value),
            Expected::Within(set) => match set.hull() {
                Some(hull) => Blended { allowed: Interval::between(hull.low, hull.high), ..Blended::exactly(value) },
                None => Blended::unknown(value, Why::Approximate),
            },
            Expected::Undecided(why) => Blended::unknown(value, why),
        }
    }

    /// A component of an attachment: its code, and what a device may hold instead.
    fn of_held((numeric, width): (Numeric, u8), code: u64, held: Component) -> Blended {
        let value = unpack(numeric, width, code);
        let number = |code: u64| Interval::point(unpack(numeric, width, code));
        match held {
            Component::Exactly(_) => Blended { allowed: number(code), ..Blended::exactly(value) },
            Component::OneOf(Codes { best, others, nan: 0, any: None }) => {
                Blended { allowed: others.iter().fold(number(best), |hull, &code| hull.hull(number(code))), ..Blended::exactly(value) }
            }
            Component::OneOf(_) => Blended::unknown(value, Why::NaN),
            Component::Within(set) => match set.hull().filter(|_| set.is_bounded()) {
                Some(hull) => Blended { allowed: Interval::between(hull.low, hull.high), ..Blended::exactly(value) },
                None => Blended::unknown(value, Why::Approximate),
            },
            Component::Undecided(why) => Blended::unknown(value, why),
            Component::Undefined(made) => Blended { undefined: Some(made), ..Blended::unknown(value, Why::Domain) },
        }
    }
}

/// Whether `set` holds all codes that `other` may be.
fn admits(set: &Component, other: &Component) -> bool {
    match (set, other) {
        (Component::Exactly(a), Component::Exactly(b)) => a == b,
        (Component::OneOf(codes), Component::Exactly(code)) => codes.admits(*code),
        (Component::Within(set), Component::Exactly(code)) => set.contains(f32::from_bits(*code as u32).into()),
        (Component::Within(set), Component::Within(other)) => set.holds(other),
        (Component::OneOf(codes), Component::OneOf(others)) => {
            codes.nan == others.nan && codes.admits(others.best) && others.others.iter().all(|&code| codes.admits(code))
        }
        _ => false,
    }
}

/// What a device may show if it has either of the two.
fn either(old: Component, new: Component) -> Component {
    match (old, new) {
        (old, new) if admits(&old, &new) => old,
        (old, new) if admits(&new, &old) => new,
        (undefined @ Component::Undefined(_), _) | (_, undefined @ Component::Undefined(_)) => undefined,
        (_, Component::Undecided(why)) => Component::Undecided(why),
        _ => Component::Undecided(Why::Coverage),
    }
}

/// Overwrites the bits outside of `kept` in a little-endian number of N bytes.
fn put<const N: usize>(held: &mut [u8], kept: u64, bits: u64) {
    let Some(held) = held.first_chunk_mut::<N>() else { return };
    let mut all = [0; 8];
    all[..N].copy_from_slice(held);
    let all = u64::from_le_bytes(all) & kept | bits;
    held.copy_from_slice(&all.to_le_bytes()[..N]);
}

/// The origin of the definite value after a fragment, if that value is undefined. `changes` says
/// whether the fragment writes another code.
fn definitely(presence: Presence, old: Option<MadeBy>, new: Option<MadeBy>, changes: bool) -> Option<MadeBy> {
    match presence {
        Presence::Sure | Presence::Here => new,
        Presence::Elsewhere => old,
        Presence::Open(origin) => old.or(new).or(changes.then(|| made_by(origin))),
    }
}

fn made_by(origin: Origin) -> MadeBy {
    let invocation = InvocationId { workgroup: origin.invocation / 4, local: origin.invocation % 4 };
    MadeBy { kind: origin.kind, instruction: Some((origin.instruction, invocation)) }
}

/// The definite code of a component, and what a device may show.
pub(super) fn assess(numeric: Numeric, channel: Channel, written: &Written, profile: Profile) -> (Option<u64>, Component) {
    let (scalar, set) = match written {
        Written::Scalar(scalar) => (scalar, None),
        Written::Within(scalar, set) => (scalar, Some(*set)),
        Written::Nothing => {
            return (None, Component::Undefined(MadeBy { kind: Unspecified::UnwrittenOutput, instruction: None }));
        }
        Written::Unknown(why) => return (None, Component::Undecided(*why)),
    };
    if let Some(origin) = scalar.undefined {
        return (None, Component::Undefined(made_by(origin)));
    }
    let (width, bits) = (channel.width, scalar.bits as u32);
    let codes = || pack(numeric, width, bits);
    let best = nearest(numeric, width, [bits]).map_or_else(|| codes().best, |[best]| best);
    let expected = if let Some(set) = set {
        Expected::of(set, Why::Approximate)
    } else if numeric.is_integer() {
        scalar.trust.doubt.map_or(Expected::Bits(bits), Expected::Undecided)
    } else {
        scalar.lane().judge(profile)
    };
    let shown = match expected {
        Expected::Undecided(why) => Component::Undecided(why),
        Expected::Within(set) => within(numeric, width, set, best),
        expected => match (codes(), expected) {
            (Codes { any: Some(kind), .. }, _) => Component::Undefined(MadeBy { kind, instruction: None }),
            (codes, Expected::Zero) if numeric == Numeric::Float => {
                let others = smallvec::smallvec![best ^ 1 << (width - 1)];
                Component::OneOf(Codes { others, ..codes })
            }
            (codes, _) if codes.is_exact() => Component::Exactly(best),
            (codes, _) => Component::OneOf(codes),
        },
    };
    (Some(best), shown)
}

/// What a device may hold if it writes any float of a set.
fn within(numeric: Numeric, width: u8, set: Set, best: u64) -> Component {
    if numeric == Numeric::Float && width == 32 {
        // A write may flush a subnormal.
        let least = f64::from(f32::MIN_POSITIVE);
        let small = |span: &Span| span.low < least && span.high > -least;
        return Component::Within(if set.spans().iter().any(small) { set.union(Set::ZERO) } else { set });
    }
    match pack_within(numeric, width, &set) {
        Some(codes) => {
            let others = codes.into_iter().filter(|code| *code != best).collect();
            let codes = Codes { best, others, nan: 0, any: None };
            if codes.is_exact() { Component::Exactly(best) } else { Component::OneOf(codes) }
        }
        None => Component::Undecided(Why::Approximate),
    }
}

/// Whether an output of that type may be written to an attachment of the format.
pub(super) fn fits(format: Format, component: ComponentType) -> bool {
    match format.numeric() {
        Numeric::Uint => component == ComponentType::U32,
        Numeric::Sint => component == ComponentType::I32,
        _ => component == ComponentType::F32 && !format.is_depth(),
    }
}
