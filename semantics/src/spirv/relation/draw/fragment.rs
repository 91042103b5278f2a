//! The fragment stage: triangles in order, quad by quad, and the inputs of each invocation (Vulkan,
//! Rasterization). A quad always has four invocations. Those without a fragment are helpers and
//! write nothing. [`operations`] handles their outputs.
//!
//! Quads run side by side. Their fragments reach the attachments in rasterisation order: by
//! triangle, then by quad.

mod explore;
mod inner;
mod interface;
mod judged;
mod operations;

use super::targets::{self, Edge, Presence, Target};
use super::vertex::Vertices;
use crate::concurrency::{Agent, Begin};
use crate::number::{Expected, Inexact, Interval, Profile, Trust, Why};
use crate::outcome::{Limit, Outcome};
use crate::raster::{
    self, DepthBuffer, DepthStencil, Doubt, Fragment, Interpolation, RasterOrder, Setup, StencilBuffer, Topology, Triangle,
};
use crate::spirv::environment::{Draw, Observation};
use crate::spirv::grid::work::{Finished, Work};
use crate::spirv::memory::{Pointer, exact};
use crate::spirv::module::{Module, Variable};
use crate::spirv::shared::Shared;
use crate::spirv::step::Config;
use crate::spirv::types::Type;
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::{Site, Unspecified};
use inner::InnerQuad;
use interface::Source;
use operations::{Depths, FragmentOutputs, Samples};

pub(super) use explore::Explorer;
pub(super) use interface::Interface;
pub(super) use judged::Judged;
pub(super) use operations::Ended;

/// The most quads that wait for earlier ones to be written.
const WAITING: usize = 1 << 12;

/// A quad that has started and is not written yet.
#[derive(Clone, Debug)]
struct Running {
    at: [u32; 2],
    triangle: u32,
    presences: [Option<Presence>; 4],
    samples: [Samples; 4],
    /// By lane: the edge through the pixel's centre, if it alone decides which triangle has the
    /// fragment.
    edges: [Option<Edge>; 4],
    /// By lane: the depths of the samples, or one depth for all without a depth attachment.
    depths: [Depths; 4],
    /// The plane of these depths, if all devices have the triangle at the same place.
    plane: Option<raster::Plane>,
    /// Whether the triangle is front-facing, and whether all devices agree.
    front: (bool, bool),
    /// The inputs, if the quad may run again over sets.
    begun: Option<Box<Begun>>,
}

impl Running {
    fn pixel(&self, lane: usize) -> [u32; 2] {
        [self.at[0] + lane as u32 % 2, self.at[1] + lane as u32 / 2]
    }
}

/// The triangle that is rasterised.
struct Current {
    triangle: Box<Triangle>,
    /// The depth bias of its fragments.
    bias: Option<Inexact>,
    /// The plane of its depths, if all devices have it at the same place.
    plane: Option<raster::Plane>,
    number: u32,
    front_certain: bool,
    /// The rows of its vertices. The provoking vertex comes first.
    rows: [u32; 3],
    walk: raster::Walk,
    /// With sample shading: the current quad and its next sample.
    pending: Option<(raster::Quad, u32)>,
}

/// The inputs of a quad.
#[derive(Clone, Debug)]
struct Begun {
    fragments: [Fragment; 4],
    /// With sample shading: the sample, and the fragments at other points of the pixels where a
    /// device may interpolate.
    sample: Option<(u32, Box<[Fragment; 4]>)>,
    /// By lane: the samples that rasterisation covers, before any test.
    covered: [Samples; 4],
    rows: [u32; 3],
    front_certain: bool,
    presences: [Option<Presence>; 4],
    samples: [Samples; 4],
}

/// The fragment stage of a draw, with its attachments.
pub(super) struct Fragments<'m, 'd> {
    module: &'m Module,
    draw: &'d Draw<'d>,
    rules: &'d raster::Rules,
    interface: Interface<'m>,
    vertices: Vertices<'d, 'd>,
    vertex_profile: Profile,
    /// The most invocations.
    bound: u64,
    primitives: raster::Primitives,
    planes: raster::Planes,
    current: Option<Current>,
    begun: Option<Box<Begun>>,
    /// The quads that have started and are not written yet.
    order: RasterOrder<Running, [FragmentOutputs; 4]>,
    /// Whether a quad that some device may lack has started and may write shared memory. The reader
    /// resets it.
    written_in_doubt: bool,
    /// Whether differences between devices are recorded.
    keeps_doubt: bool,
    /// The inputs of [`InnerQuad`]s, if such quads are allowed, and the ones that run.
    inner_inputs: Option<inner::Inputs<'m>>,
    inner: Vec<InnerQuad>,
    /// The means to run quads over sets, in a run over sets.
    explorer: Option<Explorer<'m>>,
    targets: Vec<Target>,
    depth_stencil: Option<DepthStencil>,
}

impl Begun {
    /// A component of FragCoord. With sample shading, x and y are those of the sample. No clause
    /// says so of z and w (Vulkan, Built-In Variables, FragCoord).
    fn coordinate(&self, lane: usize, component: usize) -> Inexact {
        let own = self.fragments[lane].coordinate[component];
        match &self.sample {
            Some((_, around)) if component >= 2 => Inexact { allowed: own.allowed.hull(around[lane].coordinate[component].allowed), ..own },
            _ => own,
        }
    }

    /// An interpolated input, from its values at the vertices. Without the decoration Sample, a
    /// device may interpolate anywhere in the pixel.
    fn interpolated(&self, lane: usize, corners: [f32; 3], (how, at_sample): (Interpolation, bool)) -> Inexact {
        let own = self.fragments[lane].interpolate(corners, how);
        match &self.sample {
            Some((_, around)) if !at_sample => Inexact { allowed: own.allowed.hull(around[lane].interpolate(corners, how).allowed), ..own },
            _ => own,
        }
    }
}

/// The depth and stencil attachments of a draw, with their tests.
fn depth_stencil(draw: &Draw<'_>) -> Option<DepthStencil> {
    let target = draw.depth?;
    let mut depth_stencil = DepthStencil::new(target.buffer.clone(), target.compare, target.writes);
    if let Some(stencil) = &target.stencil {
        depth_stencil = depth_stencil.with_stencil(stencil.buffer.clone(), [stencil.front, stencil.back]);
    }
    Some(match draw.state.depth_bounds {
        Some(bounds) => depth_stencil.with_bounds(bounds),
        None => depth_stencil,
    })
}

/// A Boolean that is in doubt if devices may cover other samples.
fn boolean(value: bool, certain: bool) -> Scalar {
    let scalar = exact(Type::Bool, value.into());
    if certain { scalar } else { Scalar { trust: scalar.trust.in_doubt(Why::Coverage), ..scalar } }
}

/// A float that is in doubt unless all devices have the same.
fn scalar_of(inexact: Inexact) -> Scalar {
    let value = exact(Type::Float { width: 32 }, u64::from((inexact.value as f32).to_bits()));
    let certain = inexact.allowed.low == inexact.allowed.high && !inexact.allowed.nan;
    if certain { value } else { Scalar { trust: value.trust.in_doubt(Why::Interpolated), ..value } }
}

impl<'m, 'd> Fragments<'m, 'd> {
    pub(super) fn new(
        module: &'m Module,
        draw: &'d Draw<'d>,
        rules: &'d raster::Rules,
        interface: Interface<'m>,
        (vertices, vertex_profile): (Vertices<'d, 'd>, Profile),
    ) -> Fragments<'m, 'd> {
        let bound = draw.limits.invocations.saturating_sub(vertices.invocations().into());
        Fragments {
            module,
            draw,
            rules,
            interface,
            vertices,
            vertex_profile,
            bound,
            primitives: raster::Primitives::new(draw.vertices.topology, draw.vertices.count, draw.vertices.instances),
            planes: raster::Planes::default(),
            current: None,
            begun: None,
            order: RasterOrder::default(),
            written_in_doubt: false,
            keeps_doubt: true,
            inner_inputs: None,
            inner: Vec::new(),
            explorer: None,
            targets: draw.targets.iter().map(Target::new).collect(),
            depth_stencil: depth_stencil(draw),
        }
    }

    /// Drops what devices may do differently. Only undefined values are still recorded.
    pub(super) fn without_doubt(mut self) -> Self {
        self.keeps_doubt = false;
        self.targets.iter_mut().for_each(Target::forget_doubt);
        self
    }

    /// Whether quads may run over sets.
    pub(super) fn is_explored(&self) -> bool {
        self.explorer.is_some()
    }

    /// An upper bound on the number of quads.
    pub(super) fn quads(&self) -> u32 {
        let area = &self.draw.state.area;
        let side = |from: u32, to: u32| u64::from(to.div_ceil(2).saturating_sub(from / 2));
        let all = (side(area.x, area.end_x) * side(area.y, area.end_y)).saturating_mul(self.primitives.count());
        let all = if self.interface.each_sample { all.saturating_mul(self.draw.state.samples.into()) } else { all };
        all.min(self.bound / 4).clamp(1, 1 << 29) as u32
    }

    /// The rows of the next triangle's vertices. The provoking vertex comes first.
    fn assemble(&mut self) -> Option<[u32; 3]> {
        let corners = self.primitives.next(self.rules)?;
        Some(corners.map(|corner| self.vertices.rows.get(corner).copied().unwrap_or(0)))
    }

    /// Sets up a triangle. Its shape is unknown if differences are recorded and a device may have
    /// another position.
    fn set_up(&self, rows: [u32; 3]) -> Result<Setup, raster::StateError> {
        let position = |row: u32| self.position(row);
        if self.draw.vertices.topology == Topology::Points {
            let size = self.vertices.size(rows[0]);
            let elsewhere = self.keeps_doubt && matches!(size.lane().judge(self.vertex_profile), Expected::Undecided(_));
            let size = if size.undefined.is_some() || elsewhere { f32::NAN } else { f32::from_bits(size.bits as u32) };
            return Setup::point(self.rules, &self.draw.state, position(rows[0]), size);
        }
        if matches!(self.draw.vertices.topology, Topology::Lines | Topology::LineStrip) {
            return Setup::line(self.rules, &self.draw.state, [position(rows[0]), position(rows[1])]);
        }
        Setup::new(self.rules, &self.draw.state, rows.map(position))
    }

    /// The position of a vertex. NaN where it is undefined, or where differences are recorded and a
    /// device may have another one.
    fn position(&self, row: u32) -> [f32; 4] {
        let mut position = [0.0; 4];
        for (to, scalar) in position.iter_mut().zip(self.vertices.left(row)) {
            let elsewhere = self.keeps_doubt && matches!(scalar.lane().judge(self.vertex_profile), Expected::Undecided(_));
            let unknown = scalar.undefined.is_some() || elsewhere;
            *to = if unknown { f32::NAN } else { f32::from_bits(scalar.bits as u32) };
        }
        position
    }

    /// Starts a quad of the current triangle, after the early tests. It is for all samples, or for
    /// the sample `only`. Returns false if no invocation has a fragment.
    fn quad(&mut self, workgroup: u32, quad: raster::Quad, only: Option<u32>) -> bool {
        self.begins_inside(workgroup, &quad) || self.begins(workgroup, quad, only)
    }

    /// Starts an ordinary quad, as [`Fragments::quad`] does.
    fn begins(&mut self, workgroup: u32, quad: raster::Quad, only: Option<u32>) -> bool {
        let Some(current) = &self.current else { return false };
        let (at, count) = ([quad.x, quad.y], self.draw.state.samples);
        let place = |lane: usize| [i64::from(quad.x) + lane as i64 % 2, i64::from(quad.y) + lane as i64 / 2];
        let covered = [0, 1, 2, 3].map(|lane: usize| -> Samples {
            let [x, y] = place(lane);
            let presence = |sample| match only {
                Some(only) if only != sample => None,
                _ if count == 1 => Presence::of(quad.lanes[lane]),
                _ => Presence::of(current.triangle.sample(x, y, sample)),
            };
            (0..count).map(presence).collect()
        });
        let mut samples = covered.clone();
        let of_sample = |lane: usize, sample: u32| {
            let [x, y] = place(lane);
            current.triangle.fragment_of_sample(x, y, sample).unwrap_or_else(|| current.triangle.fragment(x, y))
        };
        let of_pixel = || [0, 1, 2, 3].map(|lane: usize| current.triangle.fragment_of_lane(place(lane), quad.lanes[lane]));
        let mut fragments = match only {
            Some(sample) => [0, 1, 2, 3].map(|lane| of_sample(lane, sample)),
            None => of_pixel(),
        };
        let biased = |fragment: &mut Fragment| match current.bias {
            Some(offset) => fragment.bias(&self.draw.state, offset),
            None => fragment.coordinate[2],
        };
        let depths = [0, 1, 2, 3].map(|lane: usize| -> Depths {
            let own = biased(&mut fragments[lane]);
            match count > 1 && self.draw.depth.is_some() {
                true => (0..count).map(|sample| biased(&mut of_sample(lane, sample))).collect(),
                false => [own].into_iter().collect(),
            }
        });
        let (front, plane) = ((fragments[0].front, current.front_certain), current.plane);
        let sample = only.map(|sample| {
            let mut around = of_pixel();
            around.iter_mut().for_each(|fragment| _ = biased(fragment));
            (sample, Box::new(around))
        });
        if self.interface.modes.early_fragment_tests {
            for (lane, samples) in samples.iter_mut().enumerate() {
                let pixel = [at[0] + lane as u32 % 2, at[1] + lane as u32 / 2];
                for (sample, presence) in samples.iter_mut().enumerate() {
                    let depth = depths[lane].get(sample).copied().unwrap_or(depths[lane][0]);
                    *presence = self.test((pixel, sample), *presence, (depth, plane), front);
                }
            }
        }
        let Some(current) = &self.current else { return false };
        let presences = [0, 1, 2, 3].map(|lane: usize| Presence::of_samples(&samples[lane]));
        if presences.iter().all(Option::is_none) {
            return false;
        }
        if self.interface.effects.writes && presences.iter().flatten().any(|p| matches!(p, Presence::Here | Presence::Elsewhere)) {
            self.written_in_doubt = true;
        }
        let (rows, front_certain) = (current.rows, current.front_certain);
        let begun = Box::new(Begun { fragments, sample, covered, rows, front_certain, presences, samples: samples.clone() });
        let edges = [0, 1, 2, 3].map(|lane: usize| {
            let decided = self.draw.depth.is_some() || quad.lanes[lane].doubt != Doubt::Tie;
            let edge = || current.triangle.edge(place(lane)[0], place(lane)[1]);
            if decided { None } else { edge().map(|first| self.edge(current, first)) }
        });
        let again = self.explorer.as_ref().map(|_| begun.clone());
        let running = Running { at, triangle: current.number, presences, samples, edges, depths, plane, front, begun: again };
        self.order.start(workgroup, running);
        self.begun = Some(begun);
        true
    }

    /// The edge of a triangle that starts at the given corner.
    fn edge(&self, current: &Current, first: usize) -> Edge {
        let mut ends = [first, (first + 1) % 3].map(|corner| {
            let mut position = [0; 4];
            position.iter_mut().zip(self.vertices.left(current.rows[corner])).for_each(|(to, scalar)| *to = scalar.bits as u32);
            position
        });
        // The side depends on the triangle's winding and on whether the ends were swapped.
        let turned = ends[0] > ends[1];
        if turned {
            ends.reverse();
        }
        Edge { ends, side: current.triangle.front != turned }
    }

    fn input(&self, begun: &Begun, lane: usize, source: Source, unwritten: Origin) -> Scalar {
        let fragment = &begun.fragments[lane];
        let presence = begun.presences[lane];
        let is_sure = |presence: &Option<Presence>| matches!(presence, None | Some(Presence::Sure));
        match source {
            Source::Coordinate(component) => scalar_of(begun.coordinate(lane, component)),
            Source::Front => boolean(fragment.front, begun.front_certain),
            Source::Sample(type_) => exact(type_, begun.sample.as_ref().map_or(0, |(sample, _)| (self.rules.sample_id)(*sample)).into()),
            // It is an assumption that a device has its samples there (Vulkan, Standard Sample
            // Locations).
            Source::SamplePosition(component) => {
                let (count, sample) = (self.draw.state.samples, begun.sample.as_ref().map_or(0, |(sample, _)| *sample));
                let at = if count == 1 { 0.5 } else { (self.rules.sample)(count, sample)[component] as f32 / 16.0 };
                exact(Type::Float { width: 32 }, at.to_bits().into())
            }
            Source::Helper => boolean(Presence::is_helper(presence), is_sure(&presence)),
            // The mask holds the sample if it is covered for this invocation. No clause says so of
            // a sample that is rasterised and then removed by an early test (Vulkan, Built-In
            // Variables, SampleMask).
            Source::Mask(type_) => {
                let samples = (0..).zip(&begun.samples[lane]);
                let bits = samples
                    .filter(|(_, presence)| !Presence::is_helper(**presence))
                    .fold(0u64, |bits, (sample, _): (u32, _)| bits | 1 << sample);
                let certain = begun.samples[lane].iter().all(is_sure) && begun.samples[lane] == begun.covered[lane];
                let scalar = exact(type_, bits);
                if certain { scalar } else { Scalar { trust: scalar.trust.in_doubt(Why::Coverage), ..scalar } }
            }
            Source::Subgroup(built_in, component) => {
                let unknown = Scalar::undefined(unwritten);
                super::interface::of_subgroups(self.draw, built_in, component, lane as u32).unwrap_or(unknown)
            }
            // It is undefined unless the primitive is a point (Vulkan, Built-In Variables).
            Source::PointCoordinate(component) => match fragment.point {
                Some(coordinate) => scalar_of(coordinate[component]),
                None => Scalar::undefined(Origin { kind: Unspecified::PointCoord, ..unwritten }),
            },
            Source::Vertices(place, how, at_sample) => {
                let corners = begun.rows.map(|row| self.vertices.left(row)[4 + place]);
                // All of a point has the outputs of its vertex.
                let how = if fragment.point.is_some() { Interpolation::Flat } else { how };
                let floats = corners.map(|s| f32::from_bits(s.bits as u32));
                let inexact = match how {
                    Interpolation::Flat => Inexact::exact(0.0),
                    _ if !self.keeps_doubt => Inexact::exact(fragment.definite(floats, how).into()),
                    _ => begun.interpolated(lane, floats, (how, at_sample)),
                };
                self.interpolated(&corners, how, inexact, unwritten)
            }
        }
    }

    /// An input from the outputs of three vertices, which is undefined or in doubt if they are. A
    /// flat one is that of the first vertex.
    fn interpolated(&self, corners: &[Scalar; 3], how: Interpolation, inexact: Inexact, unwritten: Origin) -> Scalar {
        let seen = if how == Interpolation::Flat { &corners[..1] } else { &corners[..] };
        if let Some(origin) = seen.iter().find_map(|scalar| scalar.undefined) {
            return Scalar::undefined(Origin { kind: origin.kind, ..unwritten });
        }
        if how == Interpolation::Flat {
            return corners[0];
        }
        if !self.keeps_doubt {
            return Scalar { bits: (inexact.value as f32).to_bits().into(), trust: Trust::CERTAIN, undefined: None };
        }
        let found = scalar_of(inexact);
        let doubt = corners.iter().find_map(|s| match s.lane().judge(self.vertex_profile) {
            Expected::Undecided(why) => Some(why),
            _ => None,
        });
        doubt.map_or(found, |why| Scalar { trust: found.trust.in_doubt(why), ..found })
    }

    /// The range of an interpolated input, if the vertices' outputs are decided.
    fn bound_of(&self, corners: &[Scalar; 3], inexact: Inexact) -> Option<Interval> {
        let is_open = |s: &Scalar| matches!(s.lane().judge(self.vertex_profile), Expected::Undecided(_));
        if corners.iter().any(is_open) { None } else { Some(inexact.allowed) }
    }

    /// The attachments after the draw.
    pub(super) fn finish(mut self) -> (Vec<targets::ObservedTarget>, Option<DepthBuffer>, Option<StencilBuffer>) {
        self.commit();
        let (depth, stencil) = self.depth_stencil.map(DepthStencil::attachments).unzip();
        (self.targets.into_iter().map(Target::observed).collect(), depth, stencil.flatten())
    }
}

/// An invocation that the relation has run, and its number.
struct Related<'f, 'm>(&'f Finished<'m>, u32);

impl Ended for Related<'_, '_> {
    fn is_discarded(&self) -> bool {
        self.0.discarded
    }

    fn is_helper(&self) -> bool {
        self.0.config.helper
    }

    fn control_in_doubt(&self, profile: Profile) -> bool {
        self.0.config.control.is_doubtful(profile)
    }

    fn output(&self, variable: &Variable) -> Scalars {
        let mut scalars = super::outputs(&self.0.config, variable, self.1);
        self.0.config.control.mark_scalars(&mut scalars);
        scalars
    }
}

impl<'m> Fragments<'m, '_> {
    /// Starts the quad of that number, if there is one. Takes the cost from `fuel`.
    pub(super) fn advance(&mut self, workgroup: u32, fuel: &mut u64) -> Result<Begin, Outcome<Observation>> {
        if self.advances_inside(workgroup, fuel) {
            return Ok(Begin::Begins);
        }
        self.commit();
        loop {
            if self.order.waiting() >= WAITING {
                return Ok(Begin::NotYet);
            }
            while let Some((quad, only)) = self.next_quad(fuel)? {
                if let Some(quad) = quad
                    && self.quad(workgroup, quad, only)
                {
                    if (u64::from(workgroup) + 1) * 4 > self.bound {
                        return Err(Outcome::Limit(Limit { what: "invocations", bound: self.draw.limits.invocations }));
                    }
                    return Ok(Begin::Begins);
                }
            }
            if self.keeps_doubt && !self.inner.is_empty() {
                // Inner quads may become ordinary ones, which need their triangle.
                return Ok(Begin::NotYet);
            }
            self.current = None;
            let number = self.primitives.number() as u32;
            let Some(rows) = self.assemble() else { return Ok(Begin::NoMore) };
            *fuel = fuel.checked_sub(1).ok_or(Outcome::OutOfFuel)?;
            match self.set_up(rows) {
                Err(error) => return Err(Outcome::Unsupported(error.to_string())),
                Ok(Setup::Nothing) => {}
                Ok(Setup::Unknown) => {
                    let area = &self.draw.state.area;
                    let pixels = u64::from(area.end_x - area.x) * u64::from(area.end_y - area.y);
                    *fuel = fuel.checked_sub(pixels).ok_or(Outcome::OutOfFuel)?;
                    self.written_in_doubt |= self.interface.effects.writes;
                    if self.interface.modes.early_fragment_tests {
                        self.doubt_area();
                    }
                    self.order.unknown();
                    self.commit();
                }
                Ok(Setup::Visible(triangle)) => {
                    let of_samples = self.interface.each_sample || self.draw.state.samples > 1 && self.draw.depth.is_some();
                    if of_samples && !triangle.is_polygon() {
                        let what = "points and lines with SampleId, SamplePosition, Sample or depths, of several samples";
                        return Err(Outcome::Unsupported(what.into()));
                    }
                    let (walk, front_certain) = (triangle.walk(), triangle.front_certain);
                    let bias = match (self.draw.state.depth_bias.filter(|_| triangle.is_polygon()), &self.depth_stencil) {
                        (Some(_), Some(depth_stencil)) => triangle.depth_bias(depth_stencil.depth().format()),
                        // The resolution of a depth attachment that is missing is unknown.
                        (Some(_), None) => Some(Inexact { value: 0.0, allowed: Interval::ANY }),
                        (None, _) => None,
                    };
                    let plane = match self.keeps_doubt && self.depth_stencil.is_some() && triangle.is_polygon() {
                        true => Some(self.planes.of(rows.map(|row| self.position(row).map(f64::from)))),
                        false => None,
                    };
                    self.current = Some(Current { triangle, bias, plane, number, front_certain, rows, walk, pending: None });
                }
            }
        }
    }

    /// The next quad of the current triangle, with its sample under sample shading. The quad is
    /// `None` if the walk has only moved.
    #[expect(clippy::type_complexity, reason = "a quad, and a sample")]
    fn next_quad(&mut self, fuel: &mut u64) -> Result<Option<(Option<raster::Quad>, Option<u32>)>, Outcome<Observation>> {
        let (each_sample, samples) = (self.interface.each_sample, self.draw.state.samples);
        let Some(current) = &mut self.current else { return Ok(None) };
        if let Some((quad, sample)) = current.pending {
            current.pending = Some((quad, sample + 1)).filter(|(_, sample)| *sample < samples);
            return Ok(Some((Some(quad), Some(sample))));
        }
        let Some(quad) = current.walk.next(&current.triangle) else { return Ok(None) };
        *fuel = fuel.checked_sub(1).ok_or(Outcome::OutOfFuel)?;
        if !each_sample {
            return Ok(Some((quad, None)));
        }
        current.pending = quad.map(|quad| (quad, 1));
        Ok(Some((quad, Some(0))))
    }

    /// Whether a lane of the starting quad is a helper invocation in the definite run.
    pub(super) fn begins_as_helper(&self, lane: usize) -> bool {
        self.begun.as_ref().is_none_or(|begun| Presence::is_helper(begun.presences[lane]))
    }

    /// The inputs of a lane of the starting quad, which is the invocation of that number.
    pub(super) fn inputs(&self, lane: usize, number: u32) -> impl Iterator<Item = (&'m Variable, Scalars)> {
        let begun = self.begun.iter().flat_map(|begun| self.interface.inputs.iter().map(move |input| (begun, input)));
        begun.map(move |(begun, (variable, sources))| {
            let unwritten = Origin { kind: Unspecified::UnwrittenOutput, instruction: variable.instruction, invocation: number };
            (*variable, sources.iter().map(|&source| self.input(begun, lane, source, unwritten)).collect())
        })
    }

    /// Keeps the outputs of a quad whose invocations have all ended.
    pub(super) fn ended(&mut self, workgroup: u32, members: &[impl Ended; 4]) {
        let Some(quad) = self.order.quad(workgroup) else { return };
        let left = [0, 1, 2, 3].map(|lane| self.leaves(quad, lane, &members[lane]));
        self.order.end(workgroup, left);
    }
}

impl<'m> Work<'m> for Fragments<'m, '_> {
    fn begin(&mut self, workgroup: u32, shared: &mut Shared, fuel: &mut u64) -> Result<Begin, Outcome<Observation>> {
        let begins = self.advance(workgroup, fuel);
        if std::mem::take(&mut self.written_in_doubt) {
            shared.doubt_written(Why::Coverage);
        }
        begins
    }

    fn start(&self, agent: Agent, number: u32, config: &mut Config<'m>) {
        let Some(begun) = &self.begun else { return };
        let lane = agent.local as usize;
        config.helper = self.begins_as_helper(lane);
        let unsure = matches!(begun.presences[lane], Some(Presence::Here | Presence::Elsewhere));
        if unsure && self.interface.effects.sees_helpers {
            config.control = config.control.after(Trust::CERTAIN.in_doubt(Why::Coverage));
        }
        for (variable, scalars) in self.inputs(lane, number) {
            config.memory.store_own(&Pointer::to(self.module, variable), &scalars);
        }
    }

    fn global(&self, agent: Agent) -> [u32; 3] {
        if let Some(InnerQuad { at: [x, y], triangle, .. }) = self.inner_quad(agent.workgroup) {
            return [x + agent.local % 2, y + agent.local / 2, *triangle];
        }
        let Some(quad) = self.order.quad(agent.workgroup) else { return [0; 3] };
        let [x, y] = quad.pixel(agent.local as usize);
        [x, y, quad.triangle]
    }

    fn at(&self, site: &Site) -> String {
        let [x, y, triangle] = site.global;
        let (quad, lane) = (site.invocation / 4, site.invocation % 4);
        format!("fragment stage, pixel ({x}, {y}) of triangle {triangle}, lane {lane} of quad {quad}, {site}")
    }

    fn control_in_doubt(&self, shared: &mut Shared) {
        shared.doubt_written(Why::Control);
    }

    fn end(&mut self, workgroup: u32, members: Vec<Finished<'m>>) {
        if let [a, b, c, d] = members.as_slice() {
            let number = 4 * workgroup;
            self.ended(workgroup, &[Related(a, number), Related(b, number + 1), Related(c, number + 2), Related(d, number + 3)]);
            if let Some(mut explorer) = self.explorer.take() {
                self.explore(&mut explorer, workgroup);
                self.explorer = Some(explorer);
            }
        }
    }
}
