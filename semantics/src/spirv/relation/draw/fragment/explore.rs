//! Quads over sets by the relation: what a fragment may write where definite values leave it open.
//! An input that devices may interpolate differently is one cell for each component and fragment.
//!
//! A quad runs again alone, once for each way through its open conditions. This is valid only if
//! the stage writes nothing that invocations share. So stages that write buffers or images keep
//! their definite results. So do fragments that some way discards, and stages that see helper
//! invocations or write SampleMask or FragDepth.

use super::super::outputs;
use super::super::targets::{Presence, Written};
use super::interface::Source;
use super::operations::{FragmentOutputs, Samples};
use super::{Begun, Fragments};
use crate::concurrency::{Agent, Begin, Topology};
use crate::number::sets::{Exploration, Set, Sets, Unsettled, follow};
use crate::number::{Expected, Interval, Profile, Why};
use crate::outcome::{Limit, Outcome, TimeLimit};
use crate::raster::Interpolation;
use crate::spirv::environment::Observation;
use crate::spirv::grid::prepare::Prepared;
use crate::spirv::grid::work::{Finished, Work};
use crate::spirv::grid::{Grid, alone};
use crate::spirv::memory::Pointer;
use crate::spirv::module::{Module, Variable};
use crate::spirv::shared::Shared;
use crate::spirv::step::{Config, Relation};
use crate::spirv::value::{Origin, Scalar, Scalars};
use crate::undefined::Unspecified;
use std::ops::ControlFlow;

/// The most instructions of one way of a quad.
const EACH: u64 = 1 << 20;
/// The most instructions of all ways of all quads.
const ALL: u64 = 1 << 32;

/// The means to run quads over sets.
pub(in crate::spirv::relation::draw) struct Explorer<'m> {
    pub(super) relation: &'m Relation,
    pub(super) stage: (Prepared, Shared),
    subgroup_size: u32,
    exploration: Exploration,
    /// The instructions that may still run.
    left: u64,
}

/// A grid that is one quad.
pub(super) struct Quad<'m> {
    module: &'m Module,
    helper: [bool; 4],
    inputs: [Vec<(&'m Variable, Scalars)>; 4],
    pub(super) finished: Vec<Finished<'m>>,
}

impl<'m> Work<'m> for Quad<'m> {
    fn begin(&mut self, workgroup: u32, _: &mut Shared, _: &mut u64) -> Result<Begin, Outcome<Observation>> {
        Ok(if workgroup == 0 { Begin::Begins } else { Begin::NoMore })
    }

    fn start(&self, agent: Agent, _: u32, config: &mut Config<'m>) {
        let lane = agent.local as usize;
        config.helper = self.helper[lane];
        for (variable, scalars) in &self.inputs[lane] {
            config.memory.store_own(&Pointer::to(self.module, variable), scalars);
        }
    }

    fn global(&self, agent: Agent) -> [u32; 3] {
        [agent.local, 0, 0]
    }

    fn end(&mut self, _: u32, members: Vec<Finished<'m>>) {
        self.finished = members;
    }
}

/// The results of a lane's ways so far.
pub(super) struct Seen {
    /// Whether some way discards the lane, and whether some way does not.
    pub(super) gone: bool,
    pub(super) stays: bool,
    /// By target and component: the set of written values. `None` if it may be an undefined value.
    pub(super) written: Vec<[Option<Set>; 4]>,
}

impl<'m> Explorer<'m> {
    /// For a stage that writes nothing that invocations share.
    pub(in crate::spirv::relation::draw) fn new(
        relation: &'m Relation,
        stage: (Prepared, Shared),
        topology: Topology,
        exploration: Exploration,
    ) -> Explorer<'m> {
        Explorer { relation, stage, subgroup_size: topology.subgroup_size(), exploration, left: ALL }
    }
}

impl Explorer<'_> {
    /// The instructions that ways of quads have executed.
    pub(super) fn spent(&self) -> u64 {
        ALL - self.left
    }

    /// The topology of one quad.
    pub(super) fn topology(&self) -> Result<Topology, Limit> {
        Topology::new(1, 4, self.subgroup_size)
    }
}

/// Whether a scalar is defined and not decided, so that a set may say more.
pub(super) fn is_open(scalar: &Scalar, profile: Profile) -> bool {
    scalar.undefined.is_none() && !scalar.trust.is_decided(profile)
}

/// What an open scalar writes if it may be any float of a set.
pub(super) fn told(scalar: Scalar, set: Set) -> Written {
    match Expected::of(set, Why::Approximate) {
        Expected::Undecided(_) => Written::Scalar(scalar),
        _ => Written::Within(scalar, set),
    }
}

/// Gives a scalar a cell if devices may have others within known bounds.
pub(super) fn in_cell(scalar: Scalar, allowed: Option<Interval>, sets: &mut Sets) -> Result<Scalar, Unsettled> {
    let (None, Some(why), Some(allowed)) = (scalar.undefined, scalar.trust.doubt, allowed) else { return Ok(scalar) };
    let set = Set::of_f32(allowed);
    match set.is_bounded() {
        true => Ok(sets.any_of(f32::from_bits(scalar.bits as u32), set, why)?.into()),
        false => Ok(scalar),
    }
}

impl<'m> Fragments<'m, '_> {
    /// Lets quads run over sets in this draw, if the stage admits that.
    pub(in crate::spirv::relation::draw) fn exploring(mut self, explorer: Explorer<'m>) -> Self {
        let tells = !self.interface.effects.writes && !self.interface.effects.sees_helpers;
        if tells && self.interface.mask.is_none() && self.interface.depth.is_none() && !self.interface.modes.depth_replacing {
            self.explorer = Some(explorer);
        }
        self
    }

    /// An input of a lane, with a cell if devices may differ.
    pub(super) fn given(
        &self,
        begun: &Begun,
        lane: usize,
        source: Source,
        unwritten: Origin,
        sets: &mut Sets,
    ) -> Result<Scalar, Unsettled> {
        let allowed = match source {
            Source::Coordinate(component) => Some(begun.coordinate(lane, component).allowed),
            Source::Vertices(_, Interpolation::Flat, _) => None,
            Source::Vertices(place, how, at_sample) => {
                let corners = begun.rows.map(|row| self.vertices.left(row)[4 + place]);
                let floats = corners.map(|s| f32::from_bits(s.bits as u32));
                self.bound_of(&corners, begun.interpolated(lane, floats, (how, at_sample)))
            }
            _ => None,
        };
        in_cell(self.input(begun, lane, source, unwritten), allowed, sets)
    }

    /// The quad with its definite inputs.
    pub(super) fn quad_of(&self, begun: &Begun) -> Quad<'m> {
        let inputs = [0, 1, 2, 3].map(|lane: usize| {
            let of = |(variable, sources): &(&'m Variable, Vec<Source>)| {
                let (kind, instruction) = (Unspecified::UnwrittenOutput, variable.instruction);
                let unwritten = Origin { kind, instruction, invocation: lane as u32 };
                (*variable, sources.iter().map(|&source| self.input(begun, lane, source, unwritten)).collect())
            };
            self.interface.inputs.iter().map(of).collect()
        });
        Quad { module: self.module, helper: begun.presences.map(Presence::is_helper), inputs, finished: Vec::new() }
    }

    fn quad_over(&self, begun: &Begun, sets: &mut Sets) -> Result<Quad<'m>, Unsettled> {
        let mut inputs = [const { Vec::new() }; 4];
        for (lane, inputs) in inputs.iter_mut().enumerate() {
            for (variable, sources) in &self.interface.inputs {
                let (kind, instruction) = (Unspecified::UnwrittenOutput, variable.instruction);
                let unwritten = Origin { kind, instruction, invocation: lane as u32 };
                let given = sources.iter().map(|&source| self.given(begun, lane, source, unwritten, sets));
                inputs.push((*variable, given.collect::<Result<Scalars, _>>()?));
            }
        }
        Ok(Quad { module: self.module, helper: begun.presences.map(Presence::is_helper), inputs, finished: Vec::new() })
    }

    /// Runs a quad that has ended over sets if its outputs are open, and replaces these by the
    /// sets.
    pub(super) fn explore(&mut self, explorer: &mut Explorer<'m>, workgroup: u32) {
        let (Some(quad), Some(left)) = (self.order.quad(workgroup), self.order.outputs(workgroup)) else { return };
        let Some(begun) = &quad.begun else { return };
        let profile = self.interface.profile;
        let is_left_open = |written: &Written| matches!(written, Written::Scalar(scalar) if is_open(scalar, profile));
        let any_open = left.iter().any(|left| left.presence.is_some() && left.written.iter().flatten().any(is_left_open));
        let Ok(topology) = explorer.topology() else { return };
        if !any_open || explorer.left == 0 || TimeLimit::passed(self.draw.limits.time).is_some() {
            return;
        }
        let mut seen: Option<[Seen; 4]> = None;
        let (_, unsettled) = follow(explorer.exploration, |sets| {
            let work = self.quad_over(begun, sets)?;
            let fuel = EACH.min(explorer.left);
            let grid = Grid::of(self.module, explorer.relation, explorer.stage.clone(), work, topology, fuel);
            let grid = grid.until(self.draw.limits.time);
            let (quad, instructions) = alone(grid, sets)?;
            explorer.left -= instructions.min(explorer.left);
            let missing = |_| Unsettled::Reached("a quad that does not end".into());
            let members = <[Finished<'m>; 4]>::try_from(quad.finished).map_err(missing)?;
            let lanes = [0, 1, 2, 3].map(|lane| self.shown(&members[lane], quad.helper[lane], sets));
            match &mut seen {
                None => seen = Some(lanes),
                Some(seen) => seen.iter_mut().zip(lanes).for_each(|(seen, lane)| seen.also(lane)),
            }
            Ok(ControlFlow::Continue(()))
        });
        let (None, Some(seen)) = (unsettled, seen) else { return };
        let samples = quad.samples.clone();
        self.put_seen(workgroup, seen, |_| true, &samples);
    }

    /// Replaces open outputs by the sets of a lane's ways, for lanes whose ways are all known.
    pub(super) fn put_seen(&mut self, workgroup: u32, seen: [Seen; 4], is_settled: impl Fn(usize) -> bool, samples: &[Samples; 4]) {
        let numeric = |target: usize| self.draw.targets[target].image.format().numeric();
        let floats: Vec<bool> = (0..self.draw.targets.len()).map(|target| !numeric(target).is_integer()).collect();
        let profile = self.interface.profile;
        let Some(left) = self.order.outputs_mut(workgroup) else { return };
        let lanes = left.iter_mut().zip(seen).zip(samples).enumerate();
        for (_, ((left, seen), samples)) in lanes.filter(|(lane, ((left, _), _))| is_settled(*lane) && left.presence.is_some()) {
            if !seen.stays {
                // All ways discard it.
                *left = FragmentOutputs::nothing();
            }
            if seen.gone {
                continue;
            }
            // No way discards it.
            (left.presence, left.samples, left.stays) = (Presence::of_samples(samples), samples.clone(), true);
            for ((written, sets), _) in left.written.iter_mut().zip(&seen.written).zip(&floats).filter(|(_, is_float)| **is_float) {
                for (written, set) in written.iter_mut().zip(sets) {
                    let (Written::Scalar(scalar), Some(set)) = (*written, *set) else { continue };
                    if is_open(&scalar, profile) {
                        *written = told(scalar, set);
                    }
                }
            }
        }
    }

    /// The result of one way of a lane.
    fn shown(&self, ended: &Finished<'m>, began_as_helper: bool, sets: &Sets) -> Seen {
        let component = |place: &Option<(&Variable, usize)>| {
            let (variable, index) = (*place)?;
            let scalar = *outputs(&ended.config, variable, 0).get(index)?;
            scalar.undefined.is_none().then(|| sets.operand(scalar.lane()).set)
        };
        let written = self.interface.outputs.iter().map(|places| [0, 1, 2, 3].map(|c: usize| component(&places[c])));
        let gone = ended.discarded || ended.config.helper && !began_as_helper;
        Seen { gone, stays: !gone, written: written.collect() }
    }
}

impl Seen {
    pub(super) fn also(&mut self, other: Seen) {
        self.gone |= other.gone;
        self.stays |= other.stays;
        for (sets, others) in self.written.iter_mut().zip(other.written) {
            for (set, other) in sets.iter_mut().zip(others) {
                *set = set.zip(other).map(|(set, other)| set.union(other));
            }
        }
    }
}
