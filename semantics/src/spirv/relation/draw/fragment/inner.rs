//! Fast paths for *inner* quads. An inner quad lies inside of its triangle and no test applies to
//! it, so each of its lanes has a fragment on every device.
//!
//! With definite values the inputs and outputs of its four lanes are handled together. Over sets
//! the outputs of 16 quads are written together, without any state of the quads. A quad with a lane
//! that takes several ways, is discarded or is left to the relation is no inner quad any more
//! ([`Fragments::begins_again`]).

use std::cell::LazyCell;

use super::super::targets::{Presence, Written, assess, decided};
use super::explore::{in_cell, is_open, told};
use super::interface::Source;
use super::{Current, Ended, Fragments, Interface, boolean, judged, judged::unwritten, scalar_of};
use crate::image::{Channel, only_code, only_codes};
use crate::number::Inexact;
use crate::raster::{self, Interpolation};
use crate::spirv::environment::Draw;
use crate::spirv::lockstep::Quads;
use crate::spirv::module::Variable;
use crate::undefined::Unspecified;

/// An inner quad: its number, its first pixel and its triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct InnerQuad {
    pub(super) number: u32,
    pub(super) at: [u32; 2],
    pub(super) triangle: u32,
}

/// The source of one scalar of an input.
#[derive(Clone, Copy, Debug)]
enum InputSource {
    /// A component of FragCoord.
    Coordinate(usize),
    Front,
    /// HelperInvocation, which is false.
    NoHelper,
    /// An output of the vertices, by its place among their scalars.
    Vertices(usize, Interpolation),
    /// None: the stage does not read the scalar ([`Fragments::give_unread`]).
    Unread,
}

impl InputSource {
    fn of(source: Source) -> Option<InputSource> {
        match source {
            Source::Coordinate(component) => Some(InputSource::Coordinate(component)),
            Source::Front => Some(InputSource::Front),
            Source::Helper => Some(InputSource::NoHelper),
            Source::Vertices(place, how, _) => Some(InputSource::Vertices(place, how)),
            _ => None,
        }
    }
}

/// The inputs of a stage, with the sources of their scalars.
#[derive(Clone, Debug)]
pub(super) struct Inputs<'m>(Vec<(&'m Variable, Vec<InputSource>)>);

impl<'m> Inputs<'m> {
    /// The inputs of a stage, where `reads` says which scalars it reads. `None` if quads cannot be
    /// inner ones: an input has another source, or fragments are tested, masked or blended.
    pub(super) fn told(interface: &Interface<'m>, draw: &Draw<'_>, reads: impl Fn(&Variable, usize) -> bool) -> Option<Inputs<'m>> {
        let is_plain = interface.mask.is_none() && draw.depth.is_none() && draw.state.blend.is_none() && draw.state.samples == 1;
        let inputs = interface.inputs.iter().map(|(variable, sources)| {
            let told = |(index, &source)| if reads(variable, index) { InputSource::of(source) } else { Some(InputSource::Unread) };
            Some((*variable, sources.iter().enumerate().map(told).collect::<Option<Vec<InputSource>>>()?))
        });
        is_plain.then(|| inputs.collect::<Option<_>>())?.map(Inputs)
    }
}

impl<'m> Fragments<'m, '_> {
    /// Allows inner quads from now on, if the stage admits them. `reads` says which scalars of
    /// inputs it reads.
    pub(in crate::spirv::relation::draw) fn run_inside(&mut self, reads: impl Fn(&Variable, usize) -> bool) {
        self.inner_inputs = Inputs::told(&self.interface, self.draw, reads);
    }

    /// Starts the next quad if it is an inner one, at the cost of one unit of fuel. Returns whether
    /// it did.
    #[inline]
    pub(super) fn advances_inside(&mut self, number: u32, fuel: &mut u64) -> bool {
        let is_next = *fuel > 0 && (u64::from(number) + 1) * 4 <= self.bound && self.may_begin_inside(number);
        let Some(current) = self.current.as_mut().filter(|current| is_next && current.triangle.is_plain()) else { return false };
        let Some(at) = current.walk.next_inside() else { return false };
        *fuel -= 1;
        self.inner.push(InnerQuad { number, at, triangle: current.number });
        true
    }

    /// Starts this quad if it is an inner one. Returns whether it did.
    pub(super) fn begins_inside(&mut self, number: u32, quad: &raster::Quad) -> bool {
        let may_begin = self.may_begin_inside(number);
        let Some(current) = self.current.as_ref().filter(|_| may_begin) else { return false };
        if !current.triangle.is_inner(quad) {
            return false;
        }
        self.inner.push(InnerQuad { number, at: [quad.x, quad.y], triangle: current.number });
        true
    }

    /// Whether a quad of the current triangle may write to the attachments before the quads that
    /// wait. It may if they are of the same triangle, since no pixel is in two quads of a triangle.
    /// Samples are never inner quads.
    #[inline]
    fn may_begin_inside(&self, number: u32) -> bool {
        let in_order = match (self.order.first(), &self.current) {
            (None, _) => true,
            (Some(Some(first)), Some(current)) => self.keeps_doubt && first.triangle == current.number,
            _ => false,
        };
        self.inner_inputs.is_some() && in_order && !(self.keeps_doubt && judged::is_sample(number))
    }

    /// Gives inputs to the lanes of an inner quad, as [`Fragments::given`] does, with cells where
    /// devices may differ. `quad` is its index among the quads side by side.
    pub(super) fn give_inside(&self, InnerQuad { number, at: [x, y], .. }: InnerQuad, quad: u32, quads: &mut Quads<'_>) -> Option<()> {
        let (current, Inputs(inputs)) = (self.current.as_ref()?, self.inner_inputs.as_ref()?);
        let places = [0, 1, 2, 3].map(|lane| [x + lane % 2, y + lane / 2]);
        let fragments = LazyCell::new(|| places.map(|[x, y]| current.triangle.fragment_of_lane([x.into(), y.into()], raster::Lane::SURE)));
        for (variable, of) in inputs {
            for (index, &told) in of.iter().enumerate() {
                let same = match told {
                    // The centres of the pixels.
                    InputSource::Coordinate(axis @ 0..2) => Some(places.map(|place| (place[axis] as f32 + 0.5).to_bits())),
                    InputSource::NoHelper => Some([0; 4]),
                    InputSource::Unread => continue,
                    InputSource::Front if current.front_certain => Some([current.triangle.front.into(); 4]),
                    _ => None,
                };
                if let Some(bits) = same {
                    quads.set_quad_input(quad, variable.id, index, bits);
                    continue;
                }
                for lane in 0..4 {
                    let (scalar, allowed) = match told {
                        InputSource::Vertices(place, how) => {
                            let corners = current.rows.map(|row| self.vertices.left(row)[4 + place]);
                            let origin = unwritten(variable, 4 * number + lane as u32);
                            let inexact = match how {
                                Interpolation::Flat => None,
                                _ => Some(fragments[lane].interpolate(corners.map(|corner| f32::from_bits(corner.bits as u32)), how)),
                            };
                            let scalar = self.interpolated(&corners, how, inexact.unwrap_or(Inexact::exact(0.0)), origin);
                            (scalar, inexact.and_then(|inexact| self.bound_of(&corners, inexact)))
                        }
                        InputSource::Coordinate(component) => {
                            let coordinate = fragments[lane].coordinate[component];
                            (scalar_of(coordinate), Some(coordinate.allowed))
                        }
                        _ => (boolean(current.triangle.front, current.front_certain), None),
                    };
                    let scalar = in_cell(scalar, allowed, quads.sets()?).ok()?;
                    quads.set_input_scalar(4 * quad as usize + lane, variable.id, index, &scalar);
                }
            }
        }
        Some(())
    }

    /// Turns an inner quad into an ordinary one.
    pub(super) fn begins_again(&mut self, number: u32, [x, y]: [u32; 2]) -> bool {
        self.begins(number, raster::Quad { x, y, lanes: [raster::Lane::SURE; 4] }, None)
    }

    /// Gives all lanes the inputs that the stage does not read.
    pub(in crate::spirv::relation::draw) fn give_unread(&self, quads: &mut Quads<'_>) {
        for (variable, of) in self.inner_inputs.iter().flat_map(|Inputs(inputs)| inputs) {
            let unread = of.iter().enumerate().filter(|(_, told)| matches!(told, InputSource::Unread));
            unread.for_each(|(index, _)| quads.set_unread_input(variable.id, index));
        }
    }

    /// Forgets the inner quads, whose outputs have been written.
    pub(in crate::spirv::relation::draw) fn forget_inner(&mut self) {
        self.inner.clear();
    }

    pub(super) fn inner_quad(&self, number: u32) -> Option<&InnerQuad> {
        self.inner.binary_search_by_key(&number, |quad| quad.number).ok().map(|at| &self.inner[at])
    }

    /// Passes the inputs of the inner quad that has just started to `give`, scalar by scalar: the
    /// variable, the index of the scalar, and the bits of each lane or the kind of an undefined
    /// value. Returns false if the quad is no inner one.
    pub(in crate::spirv::relation::draw) fn give_inner(
        &self,
        number: u32,
        mut give: impl FnMut(&'m Variable, usize, Result<[u32; 4], Unspecified>),
    ) -> bool {
        let Some(quad) = self.inner.last().filter(|quad| quad.number == number) else { return false };
        let (Some(current), Some(Inputs(inputs))) = (&self.current, &self.inner_inputs) else { return false };
        let inner = LazyCell::new(|| current.triangle.inner(quad.at));
        let [x, y] = quad.at;
        let places = [0, 1, 2, 3].map(|lane| [x + lane % 2, y + lane / 2]);
        for (variable, of) in inputs {
            for (index, &told) in of.iter().enumerate() {
                let bits = match told {
                    // The centres of the pixels.
                    InputSource::Coordinate(axis @ 0..2) => Ok(places.map(|place| (place[axis] as f32 + 0.5).to_bits())),
                    InputSource::Coordinate(component) => Ok(inner.coordinate(component).map(f32::to_bits)),
                    InputSource::Front => Ok([current.triangle.front.into(); 4]),
                    InputSource::NoHelper => Ok([0; 4]),
                    InputSource::Vertices(place, how) => self.of_vertices(current, &inner, place, how),
                    InputSource::Unread => continue,
                };
                give(variable, index, bits);
            }
        }
        true
    }

    fn of_vertices(&self, current: &Current, inner: &raster::Inner, place: usize, how: Interpolation) -> Result<[u32; 4], Unspecified> {
        let corners = current.rows.map(|row| self.vertices.left(row)[4 + place]);
        let seen = if how == Interpolation::Flat { &corners[..1] } else { &corners[..] };
        match seen.iter().find_map(|scalar| scalar.undefined) {
            Some(origin) => Err(origin.kind),
            None if how == Interpolation::Flat => Ok([corners[0].bits as u32; 4]),
            None => Ok(inner.interpolate(corners.map(|s| f32::from_bits(s.bits as u32)), how).map(f32::to_bits)),
        }
    }

    /// Writes the definite outputs of all quads side by side, the first of which has that number.
    /// `stays` is the set of lanes with fragments. `bits` gives an output scalar in all lanes if it
    /// is defined there. Returns false if some quad is no inner one or some scalar is missing; then
    /// the caller writes quad by quad.
    pub(in crate::spirv::relation::draw) fn end_all_inner(
        &mut self,
        (first, count): (u32, u32),
        stays: u64,
        bits: impl Fn(&Variable, usize) -> Option<[u32; 4 * Quads::SIDE_BY_SIDE as usize]>,
    ) -> bool {
        let all = self.inner.len() == count as usize && self.inner.first().is_some_and(|quad| quad.number == first);
        all && self.targets.iter_mut().zip(&self.interface.outputs).all(|(target, places)| {
            let quads = self.inner.iter().map(|quad| quad.at);
            target.write_quads(quads, stays, |component| bits(places[component]?.0, places[component]?.1))
        })
    }

    /// Writes the definite outputs of one inner quad. `bits` gives an output scalar in its four
    /// lanes if it is defined there. Returns false if the quad is no inner one.
    pub(in crate::spirv::relation::draw) fn end_inner<E: Ended>(
        &mut self,
        number: u32,
        lanes: &[E; 4],
        bits: impl Fn(&Variable, usize) -> Option<[u32; 4]>,
    ) -> bool {
        let Some(at) = self.inner_quad(number).map(|quad| quad.at) else { return false };
        let stays = lanes.each_ref().map(|lane| !lane.is_discarded() && !lane.is_helper());
        for (target, places) in self.targets.iter_mut().zip(&self.interface.outputs) {
            let staying = (0..).zip(stays).fold(0, |set, (lane, stays)| set | u64::from(stays) << lane);
            if target.write_quads([at].into_iter(), staying, |component| bits(places[component]?.0, places[component]?.1)) {
                continue;
            }
            for (lane, ended) in lanes.iter().enumerate().filter(|(lane, _)| stays[*lane]) {
                let written = places.map(|place| {
                    let scalar = place.and_then(|(variable, index)| ended.output(variable).get(index).copied());
                    scalar.map_or(Written::Nothing, Written::Scalar)
                });
                let pixel = [at[0] + lane as u32 % 2, at[1] + lane as u32 / 2];
                target.write(pixel, &written, Presence::Sure, None, (self.interface.profile, None));
            }
        }
        true
    }

    /// Writes the outputs of the inner quads side by side over sets, the first quad having that
    /// number. The inner quads are of one triangle. Those that did not end plainly are skipped;
    /// they become ordinary quads.
    pub(super) fn write_all_inside(&mut self, first: u32, quads: &Quads<'_>) {
        let mut at = [[0; 2]; Quads::SIDE_BY_SIDE as usize];
        let mut inside = 0;
        for quad in &self.inner {
            at[(quad.number - first) as usize] = quad.at;
            inside |= 0xf << (4 * (quad.number - first));
        }
        inside &= quads.ended_plainly();
        if inside == 0 {
            return;
        }
        let (profile, draw) = (self.interface.profile, self.draw);
        for ((target, places), of) in self.targets.iter_mut().zip(&self.interface.outputs).zip(draw.targets) {
            let numeric = of.image.format().numeric();
            let scalar = |c: usize, lane: usize| {
                let (variable, index) = places[c]?;
                quads.output_scalar(lane, variable.id, index, unwritten(variable, 4 * first + lane as u32))
            };
            let only = |c: usize, channel: Channel, lane: usize| {
                if !numeric.is_normalized() {
                    return None;
                }
                let scalar = scalar(c, lane)?;
                let span = if is_open(&scalar, profile) { quads.span_of(&scalar) } else { decided(&scalar, profile) };
                only_code(numeric, channel.width, scalar.bits as u32, &span?)
            };
            let codes = |c: usize, channel: Channel| {
                let (variable, index) = places[c]?;
                let (bits, exact) = quads.exact_of_all(variable.id, index)?;
                if !numeric.is_normalized() {
                    return None;
                }
                let by_bits = if exact & inside == 0 { None } else { only_codes(numeric, channel.width, bits) };
                let (mut codes, told) = by_bits.unwrap_or(([0; _], 0));
                let mut told = told & exact;
                for lane in (0..codes.len()).filter(|lane| inside & !exact >> lane & 1 == 1) {
                    if let Some(code) = only(c, channel, lane) {
                        codes[lane] = code;
                        told |= 1 << lane;
                    }
                }
                Some((codes, told))
            };
            let others = inside & !target.write_codes(at.into_iter(), inside, codes).unwrap_or(0);
            for lane in (0..4 * at.len()).filter(|lane| others >> lane & 1 == 1) {
                let [x, y] = at[lane / 4];
                let pixel = [x + lane as u32 % 2, y + lane as u32 / 2 % 2];
                target.write_for_sure(
                    pixel,
                    |c, channel| only(c, channel, lane),
                    |c, channel| {
                        let written = match scalar(c, lane) {
                            Some(scalar) if !numeric.is_integer() && is_open(&scalar, profile) => told(scalar, quads.set_of(&scalar)),
                            Some(scalar) => Written::Scalar(scalar),
                            None => Written::Nothing,
                        };
                        assess(numeric, channel, &written, profile)
                    },
                );
            }
        }
    }
}
