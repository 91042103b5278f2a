//! Accesses to memory that invocations share: which of them others can see, and which are undefined
//! behaviour (Vulkan, Memory Model; SPIR-V §2.18.2).

use super::Grid;
use super::work::Work;
use crate::concurrency::{Access, Agent, AtomicOp, Kind, Race};
use crate::interleavings::Footprint;
use crate::rule::Rule;
use crate::spirv::report;
use crate::spirv::shared::{Extent, ObjectId};
use crate::spirv::step::{Action, Sink};
use crate::undefined::{Site, Ub, Undefined};

impl<'m, W: Work<'m>> Grid<'m, '_, W> {
    /// The number of an object for the race detector.
    pub(super) fn object(&self, object: ObjectId) -> u32 {
        match object {
            ObjectId::Buffer(index) => index,
            ObjectId::Image(index) => self.shared.buffers() + index,
            // Preparation has checked that this fits.
            ObjectId::Workgroup { workgroup, index } => self.shared.objects() + workgroup * self.shared.workgroup_variables() + index,
        }
    }

    /// The memory that actions touch and others can see. `None` if no other invocation can tell
    /// when they happen.
    pub(super) fn footprint(&self, actions: &[Action]) -> Option<Footprint> {
        let mut footprint = None;
        for action in actions {
            let (extent, writes) = match action {
                Action::Load(extent) => (extent, false),
                Action::Store(extent, _) => (extent, true),
                Action::Atomic { extent, op, .. } => (extent, *op != AtomicOp::Load),
                Action::Fence { .. } => continue,
            };
            if !self.shared.is_written(extent.object) {
                continue;
            }
            let first = extent.cells.iter().map(|c| c.offset).min().unwrap_or(0);
            let end = extent.cells.iter().map(|c| c.offset + u64::from(c.bytes)).max().unwrap_or(u64::MAX);
            let memory = Footprint::Memory { object: self.object(extent.object), offset: first, bytes: end - first, writes };
            footprint = Some(if footprint.is_some() { Footprint::Everything } else { memory });
        }
        footprint
    }

    pub(super) fn detect(&mut self, agent: Agent, extent: &Extent, kind: Kind, site: &Site, sink: &mut dyn Sink) {
        if !self.shared.is_written(extent.object) {
            return;
        }
        let object = self.object(extent.object);
        // If executions are enumerated, races depend on the execution and not on the order
        // of turns.
        let by_turns = self.log.is_none();
        for (offset, bytes) in extent.stretches().into_iter().filter(|_| by_turns) {
            let access = Access { agent, object, offset, bytes, class: extent.class, kind, instruction: site.instruction };
            if let Some(race) = self.detector.access(&access) {
                data_race(self, &race, extent, site, sink);
            }
        }
        if self.ending.is_none()
            && let Some((byte, other)) = self.shared.alias(extent, kind.writes())
        {
            undeclared_alias(self, extent, other, byte, site, sink);
        }
    }
}

/// two conflicting accesses, not both atomic, that nothing orders: undefined behaviour
///                                                          [spirv/data-race, Vulkan, Memory Model]
pub(super) fn data_race<'m, W: Work<'m>>(grid: &mut Grid<'m, '_, W>, race: &Race, extent: &Extent, site: &Site, sink: &mut dyn Sink) {
    grid.emit_collective(Rule::SpirvDataRace, site.instruction, site.invocation, site.step.unwrap_or(0), sink);
    let object = match extent.object {
        ObjectId::Buffer(_) => report::buffer(grid.module, extent.variable),
        ObjectId::Image(image) => {
            let (images, contents) = (grid.shared.images(), grid.shared.images().image(image));
            report::texel(contents, images.binding(image), race.offset / contents.format().bytes() as u64)
        }
        ObjectId::Workgroup { .. } if grid.shared.workgroup_is_laid_out() => report::WORKGROUP_MEMORY.to_string(),
        ObjectId::Workgroup { .. } => report::WORKGROUP_VARIABLE.to_string(),
    };
    let what = report::data_race(grid.module, race, &object);
    let first = race.first;
    let earlier = report::site(grid.module, first.instruction, grid.topology.number(first.agent), grid.work.global(first.agent));
    let at = grid.work.at(site);
    let site = Site { earlier: Some(Box::new(earlier)), ..site.clone() };
    grid.record_undefined(Undefined { ub: Ub::DataRace, what, at, site: Some(Box::new(site)) });
}

/// bytes are written through one variable and accessed through another, not both Aliased: undefined
/// behaviour                                               [spirv/undeclared-alias, SPIR-V §2.18.2]
fn undeclared_alias<'m, W: Work<'m>>(grid: &mut Grid<'m, '_, W>, extent: &Extent, other: u32, byte: u64, site: &Site, sink: &mut dyn Sink) {
    grid.emit_collective(Rule::SpirvUndeclaredAlias, site.instruction, site.invocation, site.step.unwrap_or(0), sink);
    let what = report::undeclared_alias(grid.module, site.instruction, extent.variable, other, byte);
    grid.record_undefined(Undefined { ub: Ub::UndeclaredAlias, what, at: grid.work.at(site), site: Some(Box::new(site.clone())) });
}
