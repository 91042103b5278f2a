//! Quads inside of their triangles where nothing is tested: each of their invocations is for a
//! fragment on every device. Where only definite values count, what they are given and what they
//! leave is had for all four at once. Where sets do, nothing is kept of a quad while it runs, and
//! what it leaves is written at once, but where a lane of it goes several ways, is discarded or is
//! left to the relation: then it is a quad as any other ([`Fragments::begins_again`]).

use std::cell::LazyCell;

use super::super::targets::{Presence, Written, assess, decided};
use super::explore::{in_cell, is_open, told};
use super::interface::Source;
use super::{Current, Ended, Fragments, Interface, Queued, boolean, judged, judged::unwritten, scalar_of};
use crate::image::{Channel, only_code, only_codes};
use crate::number::Inexact;
use crate::raster::{self, Interpolation};
use crate::spirv::environment::Draw;
use crate::spirv::lockstep::Quads;
use crate::spirv::module::Variable;
use crate::undefined::Unspecified;

/// A quad that is run so.
#[derive(Clone, Copy, Debug)]
pub(super) struct InnerQuad {
    pub(super) number: u32,
    pub(super) at: [u32; 2],
    pub(super) triangle: u32,
}

/// Where the lanes of such a quad have a scalar of an input from.
#[derive(Clone, Copy, Debug)]
enum Told {
    /// A component of FragCoord.
    Coordinate(usize),
    Front,
    /// HelperInvocation: none is one.
    NoHelper,
    /// A scalar that the vertices leave, by its place.
    Vertices(usize, Interpolation),
    /// Nowhere: nothing reads it, so that any bits will do ([`Fragments::give_unread`]).
    Unread,
}

impl Told {
    fn of(source: Source) -> Option<Told> {
        match source {
            Source::Coordinate(component) => Some(Told::Coordinate(component)),
            Source::Front => Some(Told::Front),
            Source::Helper => Some(Told::NoHelper),
            Source::Vertices(place, how, _) => Some(Told::Vertices(place, how)),
            _ => None,
        }
    }
}

/// The inputs of a stage whose quads inside of triangles are run so.
#[derive(Clone, Debug)]
pub(super) struct Inputs<'m>(Vec<(&'m Variable, Vec<Told>)>);

impl<'m> Inputs<'m> {
    /// By whether the stage reads a scalar of a variable. `None` if an input comes from elsewhere,
    /// or fragments are tested, masked or blended.
    pub(super) fn told(interface: &Interface<'m>, draw: &Draw<'_>, reads: impl Fn(&Variable, usize) -> bool) -> Option<Inputs<'m>> {
        let is_plain = interface.mask.is_none() && draw.depth.is_none() && draw.state.blend.is_none() && draw.state.samples == 1;
        let inputs = interface.inputs.iter().map(|(variable, sources)| {
            let told = |(index, &source)| if reads(variable, index) { Told::of(source) } else { Some(Told::Unread) };
            Some((*variable, sources.iter().enumerate().map(told).collect::<Option<Vec<Told>>>()?))
        });
        is_plain.then(|| inputs.collect::<Option<_>>())?.map(Inputs)
    }
}

impl<'m> Fragments<'m, '_> {
    /// Quads inside of triangles are run so from now on, if they can be, by whether the stage reads
    /// a scalar of a variable.
    pub(in crate::spirv::relation::draw) fn run_inside(&mut self, reads: impl Fn(&Variable, usize) -> bool) {
        self.inner_inputs = Inputs::told(&self.interface, self.draw, reads);
    }

    /// Begins the next quad, if it is inside of its triangle; takes what this costs from the fuel.
    /// Whether a quad has begun.
    #[inline]
    pub(super) fn advances_inside(&mut self, number: u32, fuel: &mut u64) -> bool {
        let is_next = *fuel > 0 && (u64::from(number) + 1) * 4 <= self.bound && self.may_begin_inside(number);
        let Some(current) = self.current.as_mut().filter(|current| is_next && current.triangle.is_plain()) else { return false };
        let Some(at) = current.walk.next_inside() else { return false };
        *fuel -= 1;
        self.inner.push(InnerQuad { number, at, triangle: current.number });
        true
    }

    /// Begins this quad, if it is inside of its triangle. Whether it has begun.
    pub(super) fn begins_inside(&mut self, number: u32, quad: &raster::Quad) -> bool {
        let may_begin = self.may_begin_inside(number);
        let Some(current) = self.current.as_ref().filter(|_| may_begin) else { return false };
        if !current.triangle.is_inner(quad) {
            return false;
        }
        self.inner.push(InnerQuad { number, at: [quad.x, quad.y], triangle: current.number });
        true
    }

    /// Whether a quad of the current triangle may reach the attachments before those that wait: no
    /// pixel is in two quads of one triangle. And none that the relation runs too is run so.
    #[inline]
    fn may_begin_inside(&self, number: u32) -> bool {
        let in_order = match (self.queue.front(), &self.current) {
            (None, _) => true,
            (Some(Queued::Quad(first)), Some(current)) => {
                self.keeps_doubt && self.running.get(first).is_some_and(|running| running.triangle == current.number)
            }
            _ => false,
        };
        self.inner_inputs.is_some() && in_order && !(self.keeps_doubt && judged::is_sample(number))
    }

    /// Gives the lanes of a quad that has begun so their inputs, with cells for what devices may be
    /// given instead: what [`Fragments::given`] says of them. The quad is that of a number among
    /// those that run side by side.
    pub(super) fn give_inside(&self, InnerQuad { number, at: [x, y], .. }: InnerQuad, quad: u32, quads: &mut Quads<'_>) -> Option<()> {
        let (current, Inputs(inputs)) = (self.current.as_ref()?, self.inner_inputs.as_ref()?);
        let places = [0, 1, 2, 3].map(|lane| [x + lane % 2, y + lane / 2]);
        let fragments = LazyCell::new(|| places.map(|[x, y]| current.triangle.fragment_of_lane([x.into(), y.into()], raster::Lane::SURE)));
        for (variable, of) in inputs {
            for (index, &told) in of.iter().enumerate() {
                let same = match told {
                    // The pixels' centres.
                    Told::Coordinate(axis @ 0..2) => Some(places.map(|place| (place[axis] as f32 + 0.5).to_bits())),
                    Told::NoHelper => Some([0; 4]),
                    Told::Unread => continue,
                    Told::Front if current.front_certain => Some([current.triangle.front.into(); 4]),
                    _ => None,
                };
                if let Some(bits) = same {
                    quads.give_four(quad, variable.id, index, bits);
                    continue;
                }
                for lane in 0..4 {
                    let (scalar, allowed) = match told {
                        Told::Vertices(place, how) => {
                            let corners = current.rows.map(|row| self.vertices.left(row)[4 + place]);
                            let origin = unwritten(variable, 4 * number + lane as u32);
                            let inexact = match how {
                                Interpolation::Flat => None,
                                _ => Some(fragments[lane].interpolate(corners.map(|corner| f32::from_bits(corner.bits as u32)), how)),
                            };
                            let scalar = self.interpolated(&corners, how, inexact.unwrap_or(Inexact::exact(0.0)), origin);
                            (scalar, inexact.and_then(|inexact| self.bound_of(&corners, inexact)))
                        }
                        Told::Coordinate(component) => {
                            let coordinate = fragments[lane].coordinate[component];
                            (scalar_of(coordinate), Some(coordinate.allowed))
                        }
                        _ => (boolean(current.triangle.front, current.front_certain), None),
                    };
                    let scalar = in_cell(scalar, allowed, quads.sets()?).ok()?;
                    quads.give_one(4 * quad as usize + lane, variable.id, index, &scalar);
                }
            }
        }
        Some(())
    }

    /// Makes a quad that has run so one as any other.
    pub(super) fn begins_again(&mut self, number: u32, [x, y]: [u32; 2]) -> bool {
        self.begins(number, raster::Quad { x, y, lanes: [raster::Lane::SURE; 4] }, None)
    }

    /// Gives all lanes that are to run side by side the inputs that nothing reads.
    pub(in crate::spirv::relation::draw) fn give_unread(&self, quads: &mut Quads<'_>) {
        for (variable, of) in self.inner_inputs.iter().flat_map(|Inputs(inputs)| inputs) {
            let unread = of.iter().enumerate().filter(|(_, told)| matches!(told, Told::Unread));
            unread.for_each(|(index, _)| quads.give_unread(variable.id, index));
        }
    }

    /// Those that have begun have ended, and what they left is written.
    pub(in crate::spirv::relation::draw) fn forget_inner(&mut self) {
        self.inner.clear();
    }

    pub(super) fn inner_quad(&self, number: u32) -> Option<&InnerQuad> {
        self.inner.binary_search_by_key(&number, |quad| quad.number).ok().map(|at| &self.inner[at])
    }

    /// Gives the quad that has just begun its inputs, scalar by scalar, with the variable and the
    /// place in it: the bits of each lane, or of what kind the undefined value is in all of them.
    /// False if it did not begin so.
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
                    // The pixels' centres.
                    Told::Coordinate(axis @ 0..2) => Ok(places.map(|place| (place[axis] as f32 + 0.5).to_bits())),
                    Told::Coordinate(component) => Ok(inner.coordinate(component).map(f32::to_bits)),
                    Told::Front => Ok([current.triangle.front.into(); 4]),
                    Told::NoHelper => Ok([0; 4]),
                    Told::Vertices(place, how) => self.of_vertices(current, &inner, place, how),
                    Told::Unread => continue,
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

    /// Writes what all quads that ran side by side leave, from that number on: by the lanes that
    /// stay, and by the scalars that have bits in all lanes of these. False if not all began so, or
    /// an output is not there: then they end one by one.
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

    /// Writes what a quad leaves: by its lanes, and by the scalars that have bits in all four.
    /// False if it is no quad that began so.
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

    /// Writes what such quads leave that ran side by side, from that number on, with what devices
    /// may show instead. They are of one triangle, and those of them that have not ended plainly
    /// are no such quads any more.
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
                quads.left_one(lane, variable.id, index, unwritten(variable, 4 * first + lane as u32))
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
