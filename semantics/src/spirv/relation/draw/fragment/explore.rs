//! Quads over sets: what the fragments of a quad may write where definite values leave it open. An
//! input that devices interpolate differently is a cell, one for each component and fragment.
//!
//! A quad is run again by itself, once for each way that branches on open conditions may go. That
//! shows what it does among the others only where nothing that invocations share is written; stages
//! that write buffers or images are left as the definite run has them, and so are fragments that
//! some way discards, and those of stages that see helper invocations or
//! write SampleMask or FragDepth.

use super::super::outputs;
use super::super::targets::Written;
use super::interface::Source;
use super::operations::{Left, Role, Samples, of_samples};
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

/// Instructions that one way of a quad may execute.
const EACH: u64 = 1 << 20;
/// Instructions that all ways of all quads may execute.
const ALL: u64 = 1 << 32;

/// What runs quads over sets.
pub(in crate::spirv::relation::draw) struct Explorer<'m> {
    pub(super) relation: &'m Relation,
    pub(super) stage: (Prepared, Shared),
    subgroup_size: u32,
    exploration: Exploration,
    /// Instructions that are left.
    left: u64,
}

/// The one quad of a grid.
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

/// What the ways so far show of a lane.
pub(super) struct Seen {
    /// Whether some way discards it, and whether some way does not.
    pub(super) gone: bool,
    pub(super) stays: bool,
    /// By target and component: what is written, and `None` where that may be an undefined value.
    pub(super) written: Vec<[Option<Set>; 4]>,
}

impl<'m> Explorer<'m> {
    /// For a stage that writes nothing which invocations share.
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
    /// Instructions that ways of quads have executed.
    pub(super) fn spent(&self) -> u64 {
        ALL - self.left
    }

    /// One quad.
    pub(super) fn topology(&self) -> Result<Topology, Limit> {
        Topology::new(1, 4, self.subgroup_size)
    }
}

/// Whether what is written is open, so that sets may tell it.
pub(super) fn is_open(scalar: &Scalar, profile: Profile) -> bool {
    scalar.undefined.is_none() && !scalar.trust.is_decided(profile)
}

/// What is written where a scalar is open that may be any of a set.
pub(super) fn told(scalar: Scalar, set: Set) -> Written {
    match Expected::of(set, Why::Approximate) {
        Expected::Undecided(_) => Written::Scalar(scalar),
        _ => Written::Within(scalar, set),
    }
}

/// A scalar with a cell, if devices may have another that is within known bounds.
pub(super) fn in_cell(scalar: Scalar, allowed: Option<Interval>, sets: &mut Sets) -> Result<Scalar, Unsettled> {
    let (None, Some(why), Some(allowed)) = (scalar.undefined, scalar.trust.doubt, allowed) else { return Ok(scalar) };
    let set = Set::of_f32(allowed);
    match set.is_bounded() {
        true => Ok(sets.any_of(f32::from_bits(scalar.bits as u32), set, why)?.into()),
        false => Ok(scalar),
    }
}

impl<'m> Fragments<'m, '_> {
    /// The draw whose quads run over sets where definite values leave something open, if that can
    /// be told.
    pub(in crate::spirv::relation::draw) fn exploring(mut self, explorer: Explorer<'m>) -> Self {
        let tells = !self.interface.effects.writes && !self.interface.effects.sees_helpers;
        if tells && self.interface.mask.is_none() && self.interface.depth.is_none() && !self.interface.modes.depth_replacing {
            self.explorer = Some(explorer);
        }
        self
    }

    /// What an input of a lane is, with a cell where devices may differ.
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
        Quad { module: self.module, helper: begun.roles.map(Role::is_helper), inputs, finished: Vec::new() }
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
        Ok(Quad { module: self.module, helper: begun.roles.map(Role::is_helper), inputs, finished: Vec::new() })
    }

    /// Runs a quad that has ended over sets, if it leaves anything open, and puts what that shows
    /// in the place of what is open.
    pub(super) fn explore(&mut self, explorer: &mut Explorer<'m>, workgroup: u32) {
        let (Some(quad), Some(left)) = (self.running.get(&workgroup), self.left.get(&workgroup)) else { return };
        let Some(begun) = &quad.begun else { return };
        let profile = self.interface.profile;
        let is_left_open = |written: &Written| matches!(written, Written::Scalar(scalar) if is_open(scalar, profile));
        let any_open = left.iter().any(|left| left.role != Role::Helper && left.written.iter().flatten().any(is_left_open));
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

    /// Puts what the ways of lanes show in the place of what definite values leave open, of the
    /// lanes of which all ways are known.
    pub(super) fn put_seen(&mut self, workgroup: u32, seen: [Seen; 4], is_settled: impl Fn(usize) -> bool, samples: &[Samples; 4]) {
        let numeric = |target: usize| self.draw.targets[target].image.format().numeric();
        let floats: Vec<bool> = (0..self.draw.targets.len()).map(|target| !numeric(target).is_integer()).collect();
        let profile = self.interface.profile;
        let Some(left) = self.left.get_mut(&workgroup) else { return };
        let lanes = left.iter_mut().zip(seen).zip(samples).enumerate();
        for (_, ((left, seen), samples)) in lanes.filter(|(lane, ((left, _), _))| is_settled(*lane) && left.role != Role::Helper) {
            if !seen.stays {
                // Every way discards it.
                *left = Left::nothing();
            }
            if seen.gone {
                continue;
            }
            // No way discards it.
            (left.role, left.samples, left.stays) = (of_samples(samples), samples.clone(), true);
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

    /// What one way shows of a lane.
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
