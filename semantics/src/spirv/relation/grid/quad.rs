//! The collective steps of a quad (SPIR-V §3.3.16; Vulkan, Quad scope), and the dynamic instance
//! of an instruction that each invocation is at.
//!
//! Names of dynamic instances ([`Config::instance`]) are ordered by the structure of functions.
//! From a dynamic instance, control goes only to greater ones. So if invocations wait at several
//! instances, no other invocation can reach the least.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::subgroup::waits_for_subgroup;
use super::work::Work;
use super::{Grid, State};
use crate::interleavings::Footprint;
use crate::rule::Rule;
use crate::spirv::declare::waits_for_quad;
use crate::spirv::module::Module;
use crate::spirv::order;
use crate::spirv::step::{Config, Derivatives, Next, Part, Reduct, Sink};
use crate::spirv::value::Scalars;

/// The structure of functions: blocks by label, in an order in which control goes only to later
/// blocks, except for the next iteration of a loop.
#[derive(Clone, Debug)]
pub(in crate::spirv) struct Order {
    places: FxHashMap<u32, u32>,
}

impl Order {
    /// The order of a module, if anything in it waits for a quad or a subgroup.
    pub(super) fn of(module: &Module) -> Option<Order> {
        if !module.instructions().iter().any(|i| waits_for_quad(i.op) || waits_for_subgroup(module, i)) {
            return None;
        }
        let mut places = FxHashMap::default();
        for function in module.functions() {
            places.extend(order::with_merges(module, function).into_iter().zip(0u32..));
        }
        Some(Order { places })
    }

    /// The dynamic instance of the next instruction, as a name with an order: by places of blocks,
    /// instructions and iterations.
    pub(super) fn instance(&self, config: &Config<'_>) -> SmallVec<[Part; 4]> {
        let mut parts = config.instance();
        parts.push(config.here());
        parts.iter_mut().for_each(|part| part.block = self.places.get(&part.block).copied().unwrap_or(0));
        parts
    }
}

impl<'m, W: Work<'m>> Grid<'m, '_, W> {
    /// The dynamic instance at which an invocation awaits a derivative, if it does.
    pub(super) fn awaits_at(&self, member: u32) -> Option<SmallVec<[Part; 4]>> {
        let invocation = self.invocations.get(&member)?;
        matches!(invocation.state, State::Awaits(..)).then(|| Some(self.prepared.order.as_ref()?.instance(&invocation.config)))?
    }

    /// The invocations of a quad that wait for each other at the least dynamic instance, if
    /// any wait.
    pub(super) fn waiting(&self, members: &[u32]) -> Option<Vec<u32>> {
        let instance = |member: &u32| self.awaits_at(*member);
        let least = members.iter().filter_map(instance).min()?;
        Some(members.iter().copied().filter(|member| instance(member).as_ref() == Some(&least)).collect())
    }

    /// Shows the sink the rule of invocations that go on together, once, for the first of them.
    fn emit_together(&self, rule: Rule, waiting: &[u32], sink: &mut dyn Sink) {
        let first = waiting.first().and_then(|&member| Some((member, self.invocations.get(&member)?)));
        if let Some((member, invocation)) = first
            && let State::Awaits(awaited, _) = invocation.state
        {
            self.emit_collective(rule, awaited.instruction, member, invocation.step, sink);
        }
    }

    /// Goes on with a waiting invocation, with its derivatives.
    fn resume(&mut self, number: u32, derivatives: &Derivatives, sink: &mut dyn Sink) {
        let Some(invocation) = self.invocations.get_mut(&number) else { return };
        let State::Awaits(awaited, rule) = invocation.state else { return };
        invocation.state = State::Acts(Footprint::Local);
        let Some(invocation) = self.invocations.get(&number) else { return };
        let next: Option<Next<'m>> = (awaited.resume)(&self.env(number), &invocation.config, derivatives);
        match next {
            Some(next) => {
                let at = invocation.config.place();
                self.apply_reduct(number, Reduct { rule, at, next }, sink);
            }
            None => self.stuck(number, format!("{rule} cannot go on")),
        }
    }
}

/// all invocations of a quad wait at one dynamic instance of a derivative: they go on with the
/// differences of their values
///                          [spirv/quad-derivatives, SPIR-V §3.3.16; Vulkan, Derivative Operations]
pub(super) fn quad_derivatives<'m, W: Work<'m>>(grid: &mut Grid<'m, '_, W>, quad: &[u32; 4], sink: &mut dyn Sink) {
    let values = quad.map(|member| {
        let invocation = grid.invocations.get(&member)?;
        let State::Awaits(awaited, _) = invocation.state else { return None };
        Some((invocation.config.scalars(awaited.value)?, grid.module.shape(awaited.value), awaited.instruction))
    });
    let [Some((_, shape, instruction)), ..] = values else { return };
    grid.emit_together(Rule::SpirvQuadDerivatives, quad, sink);
    let values: [Scalars; 4] = values.map(|value| value.map(|(scalars, ..)| scalars).unwrap_or_default());
    if let (Some(run), Some(waiting)) = (&mut grid.over, grid.module.instructions().get(instruction as usize)) {
        run.sets.get_mut().stand_at(waiting.result);
    }
    for (lane, &member) in quad.iter().enumerate() {
        let derivatives = Derivatives::of(&grid.env(member), &values, shape, lane, instruction);
        if grid.ending.is_none() {
            grid.resume(member, &derivatives, sink);
        }
    }
}

/// some invocations of a quad wait at a dynamic instance of a derivative that the others cannot
/// come to: they go on with undefined values          [spirv/divergent-derivatives, SPIR-V §3.3.16]
pub(super) fn divergent_derivatives<'m, W: Work<'m>>(grid: &mut Grid<'m, '_, W>, waiting: &[u32], sink: &mut dyn Sink) {
    grid.emit_together(Rule::SpirvDivergentDerivatives, waiting, sink);
    for &member in waiting {
        let Some(State::Awaits(awaited, _)) = grid.invocations.get(&member).map(|i| i.state) else { continue };
        let derivatives = Derivatives::divergent(grid.module.shape(awaited.value).lanes(), awaited.instruction, member);
        if grid.ending.is_none() {
            grid.resume(member, &derivatives, sink);
        }
    }
}
