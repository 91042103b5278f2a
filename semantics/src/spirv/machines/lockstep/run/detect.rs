//! Checks of an access to shared memory: races with other accesses, and aliasing variables.
//!
//! The shadow detects races. If atomics or fences synchronise, the full detector does. In the
//! second run that reports an error, the full detector runs beside the shadow to name both
//! accesses.

use super::super::column;
use super::super::program::{Code, Program};
use super::codes::Done;
use super::races::{AccessKind, SHARED_MEMORY};
use super::warp::Warp;
use super::{Failure, Group, Shared};
use crate::concurrency::{Access, Agent, Class, Kind, Race};
use crate::spirv::environment::InvocationId;
use crate::spirv::report;
use crate::undefined::Ub;

impl Program {
    /// Where a word of Workgroup memory is, as the relation counts: the number of the variable's
    /// object, and 8 bytes for each scalar.
    fn shared_place(&self, word: u32) -> (u32, u64) {
        if self.laid_out {
            return (SHARED_MEMORY, 4 * u64::from(word));
        }
        let variable = self.shared_variables.partition_point(|v| v.first <= word).saturating_sub(1);
        let Some(containing) = self.shared_variables.get(variable) else { return (SHARED_MEMORY, 8 * u64::from(word)) };
        let within = word - containing.first;
        let scalar = containing.scalars.as_ref().and_then(|scalars| scalars.get(within as usize)).copied().unwrap_or(within);
        (SHARED_MEMORY - variable as u32, 8 * u64::from(scalar))
    }

    /// The objects of the full detector that Workgroup memory is.
    pub(super) fn shared_objects(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.shared_variables.len() as u32).map(|variable| SHARED_MEMORY - variable)
    }
}

/// An access as the full detector sees it.
#[derive(Clone, Copy)]
pub(super) struct Footprint {
    pub(super) object: u32,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) class: Class,
}

impl Warp {
    /// Records an access of an atomic, if that is wanted.
    fn record_atomic(&self, code: &Code, group: &mut Group, lane: usize, footprint: Footprint, kind: Kind) {
        let (Some(atomics), true) = (&mut group.atomics, matches!(kind, Kind::Atomic { .. })) else { return };
        let agent = Agent { workgroup: group.number, local: self.first + lane as u32 };
        let Footprint { object, offset, bytes, class } = footprint;
        let barriers_passed = atomics.barriers.get(&group.number).map_or(0, Vec::len) as u32;
        atomics.accesses.push((Access { agent, object, offset, bytes, class, kind, instruction: code.at }, barriers_passed));
    }

    #[cold]
    pub(super) fn detect(
        &self,
        code: &Code,
        shared: &Shared<'_>,
        group: &mut Group,
        lane: usize,
        footprint: Footprint,
        kind: Kind,
    ) -> Option<Race> {
        // A warp of quads is of several workgroups.
        let InvocationId { workgroup, local } = shared.program.invocation(self.number + lane as u32);
        let agent = Agent { workgroup, local };
        let Footprint { object, offset, bytes, class } = footprint;
        group.detector.as_mut()?.access(&Access { agent, object, offset, bytes, class, kind, instruction: code.at })
    }

    pub(super) fn fence(&mut self, code: &Code, shared: &Shared<'_>, group: &mut Group) {
        let (scope, semantics) = shared.program.fences[code.c as usize];
        if let Some(atomics) = &mut group.atomics {
            atomics.fenced = true;
        }
        if let Some(detector) = &mut group.detector {
            for lane in column::lanes(self.active) {
                detector.fence(Agent { workgroup: group.number, local: self.first + lane as u32 }, scope, &semantics);
            }
        }
    }

    #[inline]
    pub(super) fn touch_shared(
        &mut self,
        code: &Code,
        shared: &Shared<'_>,
        group: &mut Group,
        lane: usize,
        touch: AccessKind,
        kind: Kind,
    ) -> Done {
        let at = self.address(code, lane);
        let mut race = None;
        if group.detector.is_some() || group.atomics.is_some() {
            let (object, offset) = shared.program.shared_place(at);
            let bytes = if shared.program.laid_out { 4 } else { 8 };
            let footprint = Footprint { object, offset, bytes, class: Class::Workgroup };
            self.record_atomic(code, group, lane, footprint, kind);
            race = self.detect(code, shared, group, lane, footprint, kind);
        }
        let is_race = match shared.program.synchronises {
            true => race.is_some(),
            false => {
                let accessor = self.accessor(shared, group, lane, group.phases.shared);
                group.shadow.touch(at as usize, accessor, touch)
            }
        };
        let object = if shared.program.laid_out { report::WORKGROUP_MEMORY } else { report::WORKGROUP_VARIABLE };
        if is_race { Err(self.race_failure(code, shared, lane, race, object)) } else { Ok(()) }
    }

    #[inline]
    #[expect(clippy::too_many_arguments, reason = "all of it says which access it is")]
    pub(super) fn touch_buffer(
        &mut self,
        code: &Code,
        shared: &Shared<'_>,
        group: &mut Group,
        lane: usize,
        (byte, width): (u32, u32),
        touch: AccessKind,
        kind: Kind,
    ) -> Done {
        let memory = shared.buffers.memory_of(code.buffer);
        let mut race = None;
        if group.detector.is_some() || group.atomics.is_some() {
            let footprint = Footprint { object: memory as u32, offset: byte.into(), bytes: width.into(), class: Class::Uniform };
            self.record_atomic(code, group, lane, footprint, kind);
            race = self.detect(code, shared, group, lane, footprint, kind);
        }
        let is_race = match shared.program.synchronises {
            true => race.is_some(),
            false => {
                let accessor = self.accessor(shared, group, lane, group.phases.buffers);
                shared.shadow.touch(memory, byte, width, accessor, touch, shared.in_order)
            }
        };
        if is_race {
            let buffer = report::buffer(&shared.program.module, shared.program.buffers[code.buffer as usize].id);
            return Err(self.race_failure(code, shared, lane, race, &buffer));
        }
        if shared.buffers.is_doubly_named(memory) {
            let variable = shared.program.buffers[code.buffer as usize].id;
            if let Some((byte, other)) = shared.buffers.alias(memory, variable, (byte, width), kind.writes()) {
                let what = report::undeclared_alias(&shared.program.module, code.at, variable, other, byte);
                return Err(self.failure(shared, Ub::UndeclaredAlias, what, code.at, 1 << lane));
            }
        }
        Ok(())
    }

    #[cold]
    pub(super) fn race_failure(&self, code: &Code, shared: &Shared<'_>, lane: usize, race: Option<Race>, object: &str) -> Failure {
        let module = &shared.program.module;
        let what = match &race {
            Some(race) => report::data_race(module, race, object),
            None => format!("{} races with another invocation's access that conflicts with it", report::name(module, code.at)),
        };
        let mut failure = self.failure(shared, Ub::DataRace, what, code.at, 1 << lane);
        if let (Failure::Undefined(found_ub), Some(Race { first, .. })) = (&mut failure, race) {
            found_ub.earlier = Some((first.instruction, shared.program.number(first.agent)));
        }
        failure
    }
}
