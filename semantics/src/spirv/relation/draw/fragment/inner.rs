//! Quads inside of their triangles, where only definite values count and nothing is tested: each of
//! their invocations is for a fragment on every device, so that what they are given and what they
//! leave is had for all four at once.

use super::super::targets::{Presence, Written};
use super::interface::Source;
use super::{Current, Ended, Fragments, Interface};
use crate::raster::{self, Interpolation};
use crate::spirv::environment::Draw;
use crate::spirv::module::Variable;
use crate::spirv::value::{Origin, Scalar};
use crate::undefined::Unspecified;

/// A quad that is run so.
#[derive(Clone, Copy, Debug)]
pub(super) struct InnerQuad {
    pub(super) number: u32,
    pub(super) at: [u32; 2],
    pub(super) triangle: u32,
}

/// What the lanes of a quad have of a scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::spirv::relation::draw) enum OfLanes {
    /// The bits of each lane, all of them defined.
    Bits([u32; 4]),
    /// An undefined value in each of them.
    Undefined([Scalar; 4]),
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
    /// `None` if an input comes from elsewhere, or fragments are tested, masked or blended.
    pub(super) fn told(interface: &Interface<'m>, draw: &Draw<'_>) -> Option<Inputs<'m>> {
        let is_plain = interface.mask.is_none() && draw.depth.is_none() && draw.state.blend.is_none() && draw.state.samples == 1;
        let told = |sources: &[Source]| sources.iter().map(|&source| Told::of(source)).collect::<Option<Vec<Told>>>();
        let inputs = interface.inputs.iter().map(|(variable, sources)| Some((*variable, told(sources)?)));
        is_plain.then(|| inputs.collect::<Option<_>>())?.map(Inputs)
    }
}

impl<'m> Fragments<'m, '_> {
    /// Begins the next quad, if it is inside of its triangle and no earlier quad waits to reach the
    /// attachments; takes what this costs from the fuel. Whether a quad has begun.
    #[inline]
    pub(super) fn advances_inside(&mut self, number: u32, fuel: &mut u64) -> bool {
        let is_next = self.inner_inputs.is_some() && self.queue.is_empty() && *fuel > 0 && (u64::from(number) + 1) * 4 <= self.bound;
        let Some(current) = self.current.as_mut().filter(|current| is_next && current.triangle.is_plain()) else { return false };
        let Some(at) = current.walk.next_inside() else { return false };
        *fuel -= 1;
        self.inner.push(InnerQuad { number, at, triangle: current.number });
        true
    }

    /// Begins this quad, if it is inside of its triangle. Whether it has begun.
    pub(super) fn begins_inside(&mut self, number: u32, quad: &raster::Quad) -> bool {
        let Some(current) = self.current.as_ref().filter(|_| self.inner_inputs.is_some()) else { return false };
        if !current.triangle.is_inner(quad) {
            return false;
        }
        self.inner.push(InnerQuad { number, at: [quad.x, quad.y], triangle: current.number });
        true
    }

    /// Those that have begun have ended, and what they left is written.
    pub(in crate::spirv::relation::draw) fn forget_inner(&mut self) {
        self.inner.clear();
    }

    pub(super) fn inner_quad(&self, number: u32) -> Option<&InnerQuad> {
        self.inner.binary_search_by_key(&number, |quad| quad.number).ok().map(|at| &self.inner[at])
    }

    /// Gives the quad that has just begun its inputs, scalar by scalar, with the variable and the
    /// place in it; false if it did not begin so.
    pub(in crate::spirv::relation::draw) fn give_inner(&self, number: u32, mut give: impl FnMut(&'m Variable, usize, OfLanes)) -> bool {
        let Some(quad) = self.inner.last().filter(|quad| quad.number == number) else { return false };
        let (Some(current), Some(Inputs(inputs))) = (&self.current, &self.inner_inputs) else { return false };
        let inner = current.triangle.inner(quad.at);
        for (variable, of) in inputs {
            for (index, &told) in of.iter().enumerate() {
                let scalar = match told {
                    Told::Coordinate(component) => Ok(inner.coordinate(component).map(f32::to_bits)),
                    Told::Front => Ok([current.triangle.front.into(); 4]),
                    Told::NoHelper => Ok([0; 4]),
                    Told::Vertices(place, how) => self.of_vertices(current, &inner, place, how),
                };
                let undefined = |kind| {
                    let origin = |lane| Origin { kind, instruction: variable.instruction, invocation: 4 * number + lane };
                    [0, 1, 2, 3].map(|lane| Scalar::undefined(origin(lane)))
                };
                give(variable, index, scalar.map_or_else(|kind| OfLanes::Undefined(undefined(kind)), OfLanes::Bits));
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
            if target.write_quad(at, stays, |component| bits(places[component]?.0, places[component]?.1)) {
                continue;
            }
            for (lane, ended) in lanes.iter().enumerate().filter(|(lane, _)| stays[*lane]) {
                let written = places.map(|place| {
                    let scalar = place.and_then(|(variable, index)| ended.output(variable).get(index).copied());
                    scalar.map_or(Written::Nothing, Written::Scalar)
                });
                let pixel = [at[0] + lane as u32 % 2, at[1] + lane as u32 / 2];
                target.write(pixel, written, Presence::Sure, None, (self.interface.profile, None));
            }
        }
        true
    }
}
