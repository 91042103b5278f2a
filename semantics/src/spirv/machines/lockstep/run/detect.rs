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
        let Some(found) = self.shared_variables.get(variable) else { return (SHARED_MEMORY, 8 * u64::from(word)) };
        let within = word - found.first;
        let scalar = found.scalars.as_ref().and_then(|scalars| scalars.get(within as usize)).copied().unwrap_or(within);
        (SHARED_MEMORY - variable as u32, 8 * u64::from(scalar))
    }

    /// The objects of the full detector that Workgroup memory is.
    pub(super) fn shared_objects(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.shared_variables.len() as u32).map(|variable| SHARED_MEMORY - variable)
    }
}

/// An access as the full detector sees it.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) object: u32,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) class: Class,
}

impl Warp {
    /// Records an access of an atomic, if that is wanted.
    fn note(&self, code: &Code, group: &mut Group, lane: usize, seen: Seen, kind: Kind) {
        let (Some(atomics), true) = (&mut group.atomics, matches!(kind, Kind::Atomic { .. })) else { return };
        let agent = Agent { workgroup: group.number, local: self.first + lane as u32 };
        let Seen { object, offset, bytes, class } = seen;
        let passed = atomics.barriers.get(&group.number).map_or(0, Vec::len) as u32;
        atomics.accesses.push((Access { agent, object, offset, bytes, class, kind, instruction: code.at }, passed));
    }

    #[cold]
    pub(super) fn observe(&self, code: &Code, shared: &Shared<'_>, group: &mut Group, lane: usize, seen: Seen, kind: Kind) -> Option<Race> {
        // A warp of quads is of several workgroups.
        let InvocationId { workgroup, local } = shared.program.invocation(self.number + lane as u32);
        let agent = Agent { workgroup, local };
        let Seen { object, offset, bytes, class } = seen;
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
        let mut found = None;
        if group.detector.is_some() || group.atomics.is_some() {
            let (object, offset) = shared.program.shared_place(at);
            let bytes = if shared.program.laid_out { 4 } else { 8 };
            let seen = Seen { object, offset, bytes, class: Class::Workgroup };
            self.note(code, group, lane, seen, kind);
            found = self.observe(code, shared, group, lane, seen, kind);
        }
        let races = match shared.program.synchronises {
            true => found.is_some(),
            false => {
                let who = self.who(shared, group, lane, group.phases.shared);
                group.shadow.touch(at as usize, who, touch)
            }
        };
        let object = if shared.program.laid_out { report::WORKGROUP_MEMORY } else { report::WORKGROUP_VARIABLE };
        if races { Err(self.races(code, shared, lane, found, object)) } else { Ok(()) }
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
        let mut found = None;
        if group.detector.is_some() || group.atomics.is_some() {
            let seen = Seen { object: memory as u32, offset: byte.into(), bytes: width.into(), class: Class::Uniform };
            self.note(code, group, lane, seen, kind);
            found = self.observe(code, shared, group, lane, seen, kind);
        }
        let races = match shared.program.synchronises {
            true => found.is_some(),
            false => {
                let who = self.who(shared, group, lane, group.phases.buffers);
                shared.shadow.touch(memory, byte, width, who, touch, shared.in_order)
            }
        };
        if races {
            let buffer = report::buffer(&shared.program.module, shared.program.buffers[code.buffer as usize].id);
            return Err(self.races(code, shared, lane, found, &buffer));
        }
        if shared.buffers.is_doubly_named(memory) {
            let variable = shared.program.buffers[code.buffer as usize].id;
            if let Some((byte, other)) = shared.buffers.alias(memory, variable, (byte, width), kind.writes()) {
                let what = report::undeclared_alias(&shared.program.module, code.at, variable, other, byte);
                return Err(self.broken(shared, Ub::UndeclaredAlias, what, code.at, 1 << lane));
            }
        }
        Ok(())
    }

    #[cold]
    pub(super) fn races(&self, code: &Code, shared: &Shared<'_>, lane: usize, found: Option<Race>, object: &str) -> Failure {
        let module = &shared.program.module;
        let what = match &found {
            Some(race) => report::data_race(module, race, object),
            None => format!("{} races with another invocation's access that conflicts with it", report::name(module, code.at)),
        };
        let mut broken = self.broken(shared, Ub::DataRace, what, code.at, 1 << lane);
        if let (Failure::Undefined(met), Some(Race { first, .. })) = (&mut broken, found) {
            met.earlier = Some((first.instruction, shared.program.number(first.agent)));
        }
        broken
    }
}
