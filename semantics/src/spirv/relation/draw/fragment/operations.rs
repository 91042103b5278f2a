//! The outputs of fragment invocations: fragments are discarded, tested and written (Vulkan,
//! Fragment Operations).

use rspirv::spirv::ExecutionMode;
use smallvec::SmallVec;

use super::super::targets::{Presence, Written};
use super::explore::is_open;
use super::{Fragments, Interface, Running};
use crate::number::{Expected, Inexact, Interval, Profile, Why};
use crate::raster;
use crate::spirv::environment::Draw;
use crate::spirv::module::Variable;
use crate::spirv::value::{Scalar, Scalars};

/// The presence of a sample after the mask that the stage writes. A sample whose bit is 0 is not
/// covered, and no bit adds one (Vulkan, Built-In Variables, SampleMask).
fn masked(presence: Presence, mask: Scalar, in_mask: bool) -> Option<Presence> {
    match mask.undefined {
        Some(origin) if presence.is_definite() => Some(Presence::Open(origin)),
        Some(_) => Some(presence),
        None => presence.after(raster::TestResult { passed: in_mask, certain: mask.trust.doubt.is_none() }),
    }
}

/// The presence of each sample.
pub(super) type Samples = SmallVec<[Option<Presence>; 1]>;

/// The depth of each sample, or one for all.
pub(super) type Depths = SmallVec<[Inexact; 1]>;

/// The place of a sample in the depth and stencil buffers, which hold the samples below each other.
pub(super) fn place_of(draw: &Draw<'_>, [x, y]: [u32; 2], sample: u32) -> [u32; 2] {
    let height = draw.depth.map_or(0, |depth| depth.buffer.size()[1] / draw.state.samples);
    [x, y + sample * height]
}

/// The outputs of an invocation.
#[derive(Clone, Debug)]
pub(super) struct FragmentOutputs {
    /// Whether it has a fragment, and on which devices.
    pub(super) presence: Option<Presence>,
    pub(super) samples: Samples,
    /// The components, by target.
    pub(super) written: Vec<[Written; 4]>,
    depths: Depths,
    /// Whether every device that has the fragment keeps it.
    pub(super) stays: bool,
}

impl FragmentOutputs {
    /// Marks open components as open because a way was not followed.
    pub(super) fn stays_unfollowed(&mut self, profile: Profile) {
        for written in self.written.iter_mut().flatten() {
            if let Written::Scalar(scalar) = written
                && is_open(scalar, profile)
            {
                scalar.trust.doubt = Some(Why::Unfollowed);
            }
        }
    }
}

/// An invocation that has ended, on any engine.
pub(in crate::spirv::relation::draw) trait Ended {
    /// Whether it was discarded.
    fn is_discarded(&self) -> bool;
    /// Whether it is a helper invocation.
    fn is_helper(&self) -> bool;
    /// Whether a device of that profile may take another way.
    fn control_in_doubt(&self, profile: Profile) -> bool;
    /// The scalars of an output variable.
    fn output(&self, variable: &Variable) -> Scalars;
}

impl FragmentOutputs {
    /// The outputs of an invocation without a fragment: none.
    pub(super) fn nothing() -> FragmentOutputs {
        FragmentOutputs { presence: None, samples: Samples::new(), written: Vec::new(), depths: SmallVec::new(), stays: false }
    }
}

impl Fragments<'_, '_> {
    /// The outputs of an invocation that has ended.
    pub(super) fn leaves(&self, quad: &Running, lane: usize, ended: &impl Ended) -> FragmentOutputs {
        let Interface { effects, profile, .. } = self.interface;
        let mut presence = quad.presences[lane];
        let mut samples = quad.samples[lane].clone();
        let wandering = ended.control_in_doubt(profile);
        let demoted = ended.is_helper() && presence != Some(Presence::Elsewhere);
        let gone = ended.is_discarded() || demoted;
        let mut stays = !wandering || !effects.discards;
        if presence.is_none() || gone && !wandering {
            return FragmentOutputs::nothing();
        }
        for sample in samples.iter_mut().flatten() {
            if gone {
                *sample = Presence::Elsewhere;
            } else if wandering && effects.discards && *sample == Presence::Sure {
                *sample = Presence::Here;
            }
        }
        presence = Presence::of_samples(&samples);
        // A stage that sees helper invocations may write something else where it has a fragment.
        let unknown = match presence {
            _ if gone => Some(Why::Control),
            Some(Presence::Elsewhere) if effects.sees_helpers => Some(Why::Coverage),
            _ => None,
        };
        let mut held: SmallVec<[(u32, Scalars); 2]> = SmallVec::new();
        let mut scalar = |variable: &Variable, index: usize| {
            if !held.iter().any(|(id, _)| *id == variable.id) {
                held.push((variable.id, ended.output(variable)));
            }
            held.iter().find(|(id, _)| *id == variable.id).and_then(|(_, scalars)| scalars.get(index).copied())
        };
        // So may a sample that only another mask than the definite one covers.
        let mut left_out: SmallVec<[bool; 4]> = samples.iter().map(|_| false).collect();
        if let (Some((variable, index)), None) = (self.interface.mask, unknown) {
            let mask = scalar(variable, index);
            stays &= mask.is_none_or(|mask| mask.undefined.is_none() && mask.trust.doubt.is_none());
            for ((number, sample), left_out) in (0..).zip(&mut samples).zip(&mut left_out) {
                let before = *sample;
                *sample = match (before, mask) {
                    (Some(presence), Some(mask)) => masked(presence, mask, (self.rules.in_mask)(mask.bits, number)),
                    _ => before,
                };
                *left_out = *sample != before && *sample == Some(Presence::Elsewhere);
            }
            presence = Presence::of_samples(&samples);
            if presence.is_none() {
                return FragmentOutputs::nothing();
            }
        }
        let unknown_of = |sample: usize| unknown.or((left_out.get(sample) == Some(&true)).then_some(Why::Coverage));
        let mut component = |place: Option<(&Variable, usize)>, sample: usize| match (unknown_of(sample), place) {
            (Some(why), _) => Written::Unknown(why),
            (None, Some((variable, index))) => scalar(variable, index).map_or(Written::Nothing, Written::Scalar),
            (None, None) => Written::Nothing,
        };
        // The targets of one location are its samples, in order.
        let targets = self.interface.outputs.iter().zip((0..samples.len()).cycle());
        let written = targets.map(|(places, sample)| places.map(|place| component(place, sample))).collect();
        let depth = |sample: usize, interpolated: Inexact, written: Option<Scalar>| match (self.interface.depth, unknown_of(sample)) {
            (None, None) if self.interface.modes.depth_replacing => self.replaced(interpolated, None),
            (None, _) => interpolated,
            (Some(_), Some(_)) => Inexact { allowed: Interval::between(0.0, 1.0), ..interpolated },
            (Some(_), None) => self.replaced(interpolated, written),
        };
        let replacing = self.interface.depth.and_then(|variable| scalar(variable, 0));
        let depths = quad.depths[lane].iter().enumerate().map(|(sample, &interpolated)| depth(sample, interpolated, replacing)).collect();
        FragmentOutputs { presence, samples, written, depths, stays }
    }

    /// The depth that a stage writes. If the depth mode or the range forbids it, a device may have
    /// any depth.
    fn replaced(&self, interpolated: Inexact, written: Option<Scalar>) -> Inexact {
        let any = Inexact { allowed: Interval::between(0.0, 1.0), ..interpolated };
        let Some(scalar) = written.filter(|s| s.undefined.is_none()) else { return any };
        let value = f64::from(f32::from_bits(scalar.bits as u32));
        let undecided = matches!(scalar.lane().judge(self.interface.profile), Expected::Undecided(_));
        let promised = match self.interface.modes.depth {
            // No clause says whether the mode compares with the biased depth.
            Some(_) if self.draw.state.depth_bias.is_some() => false,
            Some(ExecutionMode::DepthGreater) => value >= interpolated.allowed.high,
            Some(ExecutionMode::DepthLess) => value <= interpolated.allowed.low,
            Some(ExecutionMode::DepthUnchanged) => Interval::point(value) == interpolated.allowed,
            _ => true,
        };
        if undecided || !promised || !(0.0..=1.0).contains(&value) {
            return Inexact { value: if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }, ..any };
        }
        Inexact::exact(value)
    }

    /// Writes all quads whose turn it is to the attachments.
    pub(in crate::spirv::relation::draw) fn commit(&mut self) {
        while let Some(next) = self.order.pop() {
            let raster::Next::Quad(quad, outputs) = next else {
                self.doubt_area();
                continue;
            };
            let blend = self.draw.state.blend.map(|blend| (blend, self.rules));
            for (lane, left) in outputs.into_iter().enumerate() {
                let pixel = quad.pixel(lane);
                let depth = |sample: usize| left.depths.get(sample).or(left.depths.first()).copied();
                let tested = left.samples.iter().enumerate().map(|(sample, &presence)| match depth(sample) {
                    Some(depth) if !self.interface.modes.early_fragment_tests => {
                        // A depth that the stage may write is of no plane.
                        let plane = if self.interface.depth.is_none() && !self.interface.modes.depth_replacing { quad.plane } else { None };
                        self.test((pixel, sample), presence, (depth, plane), quad.front)
                    }
                    _ => presence,
                });
                let tested: Samples = tested.collect();
                // If the fragment may be discarded, the old contents may remain.
                let edge = quad.edges[lane].filter(|_| left.stays);
                // The targets of one location are its samples, in order.
                let samples = tested.iter().cycle();
                for ((target, written), sample) in self.targets.iter_mut().zip(left.written).zip(samples) {
                    let Some(presence) = *sample else { continue };
                    target.write(pixel, &written, presence, edge, (self.interface.profile, blend));
                }
            }
        }
    }

    /// Tests a sample of a pixel, with its depth and the plane of that. `front` is whether the
    /// primitive is front-facing, and whether all devices agree.
    pub(super) fn test(
        &mut self,
        (pixel, sample): ([u32; 2], usize),
        presence: Option<Presence>,
        (depth, plane): (Inexact, Option<raster::Plane>),
        (front, front_certain): (bool, bool),
    ) -> Option<Presence> {
        let (Some(before), Some(depth_stencil)) = (presence, &mut self.depth_stencil) else { return presence };
        let tested = raster::TestedFragment { depth, plane, front, front_certain };
        depth_stencil.test(self.rules, place_of(self.draw, pixel, sample as u32), before, &tested)
    }

    /// Marks the whole area: a device may have any fragment of a triangle of unknown shape.
    pub(super) fn doubt_area(&mut self) {
        let area = self.draw.state.area;
        for pixel in (area.y..area.end_y).flat_map(|y| (area.x..area.end_x).map(move |x| [x, y])) {
            for target in &mut self.targets {
                let unknown = [Written::Unknown(Why::Coverage); 4];
                target.write(pixel, &unknown, Presence::Elsewhere, None, (self.interface.profile, None));
            }
            for place in (0..self.draw.state.samples).map(|sample| place_of(self.draw, pixel, sample)) {
                self.depth_stencil.iter_mut().for_each(|depth_stencil| depth_stencil.doubt(place));
            }
        }
    }
}
