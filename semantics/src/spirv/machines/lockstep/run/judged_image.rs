//! Image instructions over sets, lane by lane: texels and samples over the intervals of their
//! coordinates.
//!
//! Sets do not cover the level of detail of a sample. A quad is left to the relation if the level
//! decides which texels are read, or if not all lanes of the quad arrive by their definite ways.

use smallvec::SmallVec;

use super::super::column::{self, Lanes};
use super::super::program::{Choice, Code, ImageAccess, Slot, Slots};
use super::image::{FIRST, NamedImage, is_implicit, nothing_bound};
use super::judge::{Ledger, Parting};
use super::quads::{DIFFERENCES, whole};
use super::warp::{RegisterOrLocal, Warp};
use super::{Failure, Shared};
use crate::image::{Allowed, Format, Location, Lod, Numeric, Precision, Sampled, SamplerError, Sampling};
use crate::number::sets::Set;
use crate::number::{Arithmetic, Inexact, Interval, Op, Trust, Tuple, Why};
use crate::spirv::grammar::Op as Core;
use crate::spirv::image_operands::{is_unfit, projects};
use crate::spirv::operation::Scalar as Component;
use crate::spirv::shared::texel_scalar;
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::Unspecified;

/// With a cell if it is not decided.
fn celled(ledger: &mut Ledger, scalar: Scalar, allowed: impl Fn() -> Set) -> Scalar {
    if scalar.undefined.is_some() || scalar.trust.is_decided(ledger.sets.profile()) {
        return scalar;
    }
    let (set, why) = (allowed(), scalar.trust.doubt.unwrap_or(Why::Texel));
    match ledger.sets.any_of(scalar.lane().float(), set, why) {
        Ok(lane) if set.is_bounded() => Scalar { trust: Trust { cell: lane.trust.cell, ..scalar.trust }, ..scalar },
        _ => scalar,
    }
}

impl Warp {
    /// Runs an image instruction. Returns the lanes that are left to the relation.
    ///
    /// # Errors
    /// Undefined behaviour, as [`Warp::image`].
    pub(super) fn judged_image(&mut self, ledger: &mut Ledger, code: &Code, shared: &Shared<'_>) -> Result<Lanes, Failure> {
        let access = &shared.program.images[code.c as usize];
        self.check_selecting_operands(code, access, shared)?;
        let Some((_, named_image)) = shared.images.image(access) else { return Err(nothing_bound(code, shared)) };
        // The lanes of quads whose lanes are all here by their definite ways.
        let whole_quads = if ledger.parting == Parting::Quads { whole(self.active) & whole(self.active & !ledger.parted) } else { 0 };
        let mut unjudged = 0;
        for lane in column::lanes(self.active) {
            if is_implicit(access.op) && whole_quads >> lane & 1 == 0 {
                unjudged |= 1 << lane;
                continue;
            }
            let components = match access.op {
                Core::ImageFetch | Core::ImageRead => self.judged_texel(ledger, access, named_image, lane, code.at, shared),
                _ => self.judged_sample(ledger, access, named_image, lane, code.at, shared),
            };
            let Some(components) = components else {
                unjudged |= 1 << lane;
                continue;
            };
            let integers = named_image.declared.image.format().numeric().is_integer();
            let component = if integers { Component::U32 } else { Component::F32 };
            for (&slot, scalar) in access.results.iter().zip(components) {
                self.put_scalar(ledger, component, slot, lane, scalar);
            }
        }
        Ok(unjudged)
    }

    /// Whether an operand of integers is decided in a lane.
    fn is_certain(&self, ledger: &Ledger, slots: &Slots, lane: usize) -> bool {
        slots.iter().all(|&slot| match slot {
            Slot::Word(column) => ledger.note_of(RegisterOrLocal::Column(column), lane).is_none(),
            _ => false,
        })
    }

    fn judged_texel(
        &self,
        ledger: &mut Ledger,
        access: &ImageAccess,
        named_image: &NamedImage<'_>,
        lane: usize,
        instruction: u32,
        shared: &Shared<'_>,
    ) -> Option<Scalars> {
        let certain = access.choosing.iter().all(|(_, slots)| self.is_certain(ledger, slots, lane));
        if !certain || named_image.written.is_some() {
            return None;
        }
        let (at, level) = self.texel_place(access, named_image, lane);
        let texel = named_image.declared.image.fetch_by(&self.calculator.images, at, level, shared.images.robustness);
        let numeric = named_image.declared.image.format().numeric();
        let component = |c: usize| match texel.undefined[c] {
            Some(kind) => Scalar::undefined(Origin { kind, instruction, invocation: self.number + lane as u32 }),
            None => {
                let scalar = texel_scalar(numeric, texel.bits[c], texel.allowed[c], texel.bits[c] == 0);
                if numeric.is_integer() { scalar } else { celled(ledger, scalar, || Set::of_f32(texel.allowed[c])) }
            }
        };
        let components: Scalars = (0..4).map(component).collect();
        let is_decided = |scalar: &Scalar| scalar.undefined.is_some() || scalar.trust.is_decided(ledger.sets.profile());
        (!numeric.is_integer() || components.iter().all(is_decided)).then_some(components)
    }

    /// The range of a float, and whether all rewritings give the same.
    fn inexact(&self, ledger: &Ledger, slot: Slot, lane: usize) -> (Inexact, bool) {
        let float = self.float_in(ledger, slot, lane);
        let (value, certified) = (f64::from(float.float()), float.trust.grid.is_some());
        if float.trust.is_decided(ledger.sets.profile()) {
            return (Inexact::exact(value), certified);
        }
        let set = ledger.sets.operand(float).set;
        let inexact = match set.hull() {
            Some(hull) if set.is_bounded() => {
                let value = if hull.low <= value && value <= hull.high { value } else { hull.low };
                Inexact { value, allowed: Interval::between(hull.low, hull.high) }
            }
            _ => Inexact { value, allowed: Interval::ANY },
        };
        (inexact, certified)
    }

    fn judged_sample(
        &self,
        ledger: &mut Ledger,
        access: &ImageAccess,
        named_image: &NamedImage<'_>,
        lane: usize,
        instruction: u32,
        shared: &Shared<'_>,
    ) -> Option<Scalars> {
        let (image, sampler) = (named_image.declared.image, shared.images.sampler(access)?);
        let undefined_scalar = |kind| Scalar::undefined(Origin { kind, instruction, invocation: self.number + lane as u32 });
        let all = |scalar: Scalar| -> Scalars { access.results.iter().map(|_| scalar).collect() };
        let offsets = [Choice::ConstOffset, Choice::Offset, Choice::ConstOffsets].into_iter().filter_map(|of| access.choice(of));
        if named_image.written.is_some() || !offsets.clone().all(|slots| self.is_certain(ledger, slots, lane)) {
            return None;
        }
        let (shape, coordinate) = (image.shape(), &access.choosing[0].1);
        let mut certified = true;
        let mut operand = |slots: &Slots, k: usize| {
            let (inexact, is_certified) = slots.get(k).map_or((Inexact::exact(0.0), true), |&slot| self.inexact(ledger, slot, lane));
            certified &= is_certified;
            inexact
        };
        let directions = shape.directions();
        let mut at = [0, 1, 2].map(|k| if k < directions { operand(coordinate, k) } else { Inexact::exact(0.0) });
        let layer = if shape.is_layered() { operand(coordinate, directions) } else { Inexact::exact(0.0) };
        let compares = !access.value.is_empty();
        let mut reference = compares.then(|| operand(&access.value, 0));
        if projects(access.op) {
            let q = operand(coordinate, 2);
            (at, reference) = (at.map(|x| over(x, q)), reference.map(|x| over(x, q)));
        }
        if let Some(origin) = self.operand_origin(&access.value, 0, lane, instruction).filter(|_| compares) {
            return Some(all(Scalar::undefined(origin)));
        }
        let offset = self.offset(access, shape, lane);
        let four_offsets = access.choice(Choice::ConstOffsets);
        if is_unfit(access.op, image, sampler, offset != [0; 3] || four_offsets.is_some()) {
            return Some(all(undefined_scalar(Unspecified::ImageSampler)));
        }
        let lod = match (access.choice(Choice::Lod), access.gradients()) {
            (Some(slots), _) => Lod::Explicit(operand(slots, 0)),
            (None, Some([dx, dy])) => {
                let [dx, dy] = [dx, dy].map(|slots| [0, 1, 2].map(|axis| operand(slots, axis)));
                Lod::Derivatives { dx, dy, bias: 0.0 }
            }
            (None, None) => {
                // Then no level differs from another, nor a filter.
                if is_implicit(access.op) && (image.levels() > 1 || sampler.mag != sampler.min) {
                    return None;
                }
                let none = [Inexact::exact(0.0); 3];
                Lod::Derivatives { dx: none, dy: none, bias: 0.0 }
            }
        };
        if is_implicit(access.op) {
            certified &= self.differences_are_certified(ledger, coordinate, directions, lane);
            let bias = access.choice(Choice::Bias);
            certified &= bias.is_none_or(|slots| self.inexact(ledger, slots[0], lane).1);
            if bias.is_some_and(|slots| !self.is_certain(ledger, slots, lane)) {
                return None;
            }
        }
        let precision = shared.images.precision.unwrap_or_else(|| Precision::least(image.format()));
        let sampling = Sampling { image, sampler, precision, rules: &self.calculator.images, offset };
        let (at, format) = (Location { at, layer }, image.format());
        let mut components = |found: Result<Sampled, SamplerError>| -> Scalars {
            let undefined = Sampled { bits: [0; 4], undefined: [Some(Unspecified::ImageSampler); 4], allowed: Allowed::any() };
            let found = found.unwrap_or(undefined);
            let component = |c: usize| match found.undefined[c] {
                Some(kind) => undefined_scalar(kind),
                None => component(ledger, &found, format, c, compares, certified),
            };
            (0..access.results.len().min(4)).map(component).collect()
        };
        let gathers = matches!(access.op, Core::ImageGather | Core::ImageDrefGather);
        let gathered_component = usize::from(access.component);
        let found = match four_offsets {
            _ if !gathers => components(sampling.sample(at, lod, reference)),
            None => components(sampling.gather(at, gathered_component, reference)),
            Some(slots) => {
                let gather_one = |k: usize| {
                    let offset = self.offset_of(slots, k, shape, lane);
                    components(Sampling { offset, ..sampling }.gather(at, gathered_component, reference))[FIRST]
                };
                (0..4).map(gather_one).collect()
            }
        };
        let is_open = |scalar: &Scalar| scalar.undefined.is_none() && !scalar.trust.is_decided(ledger.sets.profile());
        (!format.numeric().is_integer() || !found.iter().any(is_open)).then_some(found)
    }

    /// Whether the derivatives of a coordinate in the quad are the same in all rewritings.
    fn differences_are_certified(&self, ledger: &Ledger, coordinate: &Slots, directions: usize, lane: usize) -> bool {
        let first = lane / 4 * 4;
        coordinate.iter().take(directions).all(|&slot| {
            let pairs: SmallVec<[[usize; 2]; 4]> = DIFFERENCES[2..].iter().flat_map(|kind| [kind[0], kind[3]]).collect();
            pairs.into_iter().all(|pair| {
                let [to, from] = pair.map(|index| [self.float_in(ledger, slot, first + index)]);
                let difference = Arithmetic::default().apply(Op::Sub, &[Tuple::vector(&to), Tuple::vector(&from)]);
                difference[0].trust.grid.is_some()
            })
        })
    }
}

/// A component of a sample.
fn component(ledger: &mut Ledger, found: &Sampled, format: Format, c: usize, compares: bool, certified: bool) -> Scalar {
    // Zeros of floats may have either sign, and filters sum; all other zeros are what they are.
    let zero_sign = format.numeric() != Numeric::Float || compares || c >= format.channels().len();
    let scalar = texel_scalar(format.numeric(), found.bits[c], found.allowed.hull(c), zero_sign);
    let scalar = if certified { scalar } else { Scalar { trust: Trust { grid: None, ..scalar.trust }, ..scalar } };
    let allowed = || found.allowed.0.iter().fold(Set::NONE, |set, interval| set.union(Set::of_f32(interval[c])));
    if format.numeric().is_integer() { scalar } else { celled(ledger, scalar, allowed) }
}

/// x over q. A quotient of floats is right to 2.5 units of the last place; by a power of
/// two it is exact.
fn over(x: Inexact, q: Inexact) -> Inexact {
    let value = x.value / q.value;
    let allowed = match x.allowed.is_any() || q.allowed.is_any() {
        true => Interval::ANY,
        false if q.value.to_bits() << 12 == 0 => Interval::point(value),
        false => Interval::point(value).widened(value.abs() / f64::from(1 << 21)),
    };
    Inexact { value, allowed }
}
