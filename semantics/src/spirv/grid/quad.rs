//! What the invocations of a quad do together (SPIR-V §3.3.16; Vulkan, Quad scope), and which dynamic instance of an instruction each is at.
//!
//! A dynamic instance is named by the calls that it is in, the iterations of the loops that it is in, and its instruction; so invocations that
//! parted are at one again after the merge block. Names are ordered by the structure of functions: from a dynamic instance control comes only to
//! greater ones. Of several that invocations wait at, nobody else can come to the least.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::work::Work;
use super::{Grid, State};
use crate::rule::Rule;
use crate::spirv::concurrency::Footprint;
use crate::spirv::declare::waits_for_quad;
use crate::spirv::grammar::Op;
use crate::spirv::lockstep::order;
use crate::spirv::module::Module;
use crate::spirv::step::{Config, Derivatives, Next, Reduct, Sink};
use crate::spirv::value::Scalars;

/// One part of a dynamic instance's name: the block by its place in its function, the instruction in it, and the iteration of a loop, whose
/// header is that block and whose instruction is 0.
type Part = (u32, u32, u64);

/// The iteration of what is no loop but a call.
const CALL: u64 = u64::MAX;

/// Where control is: the loops and calls that it is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path {
    /// With each part, for a loop, one past the place of its last block.
    parts: SmallVec<[(Part, u32); 2]>,
}

/// The structure of functions: by label, the block's place, and of a loop's header one past the place of the loop's last block.
#[derive(Clone, Debug)]
pub(in crate::spirv) struct Paths {
    blocks: FxHashMap<u32, (u32, Option<u32>)>,
}

impl Paths {
    /// Those of a module, if anything in it waits for a quad.
    pub(super) fn of(module: &Module) -> Option<Paths> {
        if !module.instructions().iter().any(|i| waits_for_quad(i.op)) {
            return None;
        }
        let mut blocks = FxHashMap::default();
        for function in module.functions() {
            let labels = order::with_merges(module, function);
            let places: FxHashMap<u32, u32> = labels.iter().enumerate().map(|(at, &label)| (label, at as u32)).collect();
            for &label in &labels {
                let Some(block) = module.block(label) else { continue };
                let merge = module.code(block).iter().find(|i| i.is(Op::LoopMerge)).map(|i| i.operands(module.words())[0]);
                let end = |merge: u32| places.get(&merge).copied().unwrap_or(u32::MAX);
                blocks.insert(label, (places[&label], merge.map(end)));
            }
        }
        Some(Paths { blocks })
    }

    /// Follows one application of a rule.
    pub(super) fn follow(&self, path: &mut Path, before: &Config<'_>, after: &Config<'_>) {
        let Some(head) = before.head() else { return };
        match head.op {
            Op::Branch | Op::BranchConditional | Op::Switch => self.enter(path, after.c),
            Op::FunctionCall => {
                let (block, instruction, _) = self.here(before);
                path.parts.push(((block, instruction, CALL), u32::MAX));
                self.enter(path, after.c);
            }
            Op::Return | Op::ReturnValue => while path.parts.pop().is_some_and(|((.., iteration), _)| iteration != CALL) {},
            _ => {}
        }
    }

    /// Follows control into a block.
    pub(super) fn enter(&self, path: &mut Path, label: u32) {
        let Some((place, own)) = self.blocks.get(&label) else { return };
        let left = |&((header, _, iteration), end): &(Part, u32)| iteration != CALL && !(header..end).contains(place);
        while path.parts.last().is_some_and(left) {
            path.parts.pop();
        }
        let Some(end) = own else { return };
        match path.parts.last_mut() {
            Some(((header, _, iteration), _)) if header == place && *iteration != CALL => *iteration += 1,
            _ => path.parts.push(((*place, 0, 0), *end)),
        }
    }

    /// The instruction that is next.
    fn here(&self, config: &Config<'_>) -> Part {
        let place = self.blocks.get(&config.c).map_or(0, |(place, _)| *place);
        let start = config.module.block(config.c).map_or(0, |block| block.start);
        (place, 1 + config.index() - start, 0)
    }

    /// The dynamic instance that is next.
    fn instance(&self, path: &Path, config: &Config<'_>) -> SmallVec<[Part; 3]> {
        path.parts.iter().map(|(part, _)| *part).chain([self.here(config)]).collect()
    }
}

impl<'m, W: Work<'m>> Grid<'m, '_, W> {
    /// Those of a quad that wait for each other at the least dynamic instance, if any wait.
    pub(super) fn waiting(&self, members: &[u32]) -> Option<Vec<u32>> {
        let paths = self.prepared.paths.as_ref()?;
        let instance = |member: &u32| match self.invocations.get(member) {
            Some(invocation) if matches!(invocation.state, State::Awaits(..)) => Some(paths.instance(&invocation.path, &invocation.config)),
            _ => None,
        };
        let least = members.iter().filter_map(instance).min()?;
        Some(members.iter().copied().filter(|member| instance(member).as_ref() == Some(&least)).collect())
    }

    /// Shows the rule of those that go on together, by the first.
    fn show_together(&self, rule: Rule, waiting: &[u32], sink: &mut dyn Sink) {
        let first = waiting.first().and_then(|&member| Some((member, self.invocations.get(&member)?)));
        if let Some((member, invocation)) = first
            && let State::Awaits(awaited, _) = invocation.state
        {
            self.show(rule, awaited.instruction, member, invocation.step, sink);
        }
    }

    /// Goes on with an invocation that waits, by its derivatives.
    fn resume(&mut self, number: u32, derivatives: &Derivatives, sink: &mut dyn Sink) {
        let Some(invocation) = self.invocations.get_mut(&number) else { return };
        let State::Awaits(awaited, of) = invocation.state else { return };
        invocation.state = State::Acts(Footprint::Local);
        self.set_ready(number);
        let Some(invocation) = self.invocations.get(&number) else { return };
        let next: Option<Next<'m>> = (awaited.resume)(&self.env(number), &invocation.config, derivatives);
        match next {
            Some(next) => {
                let at = invocation.config.place();
                self.take(number, Reduct { rule: of, at, next }, sink);
            }
            None => self.stuck(number, format!("{of} cannot go on")),
        }
    }
}

/// All invocations of a quad wait at one dynamic instance: they go on with the differences of their values
///                                                              [spirv/quad-derivatives, SPIR-V §3.3.16; Vulkan, Derivative Operations]
pub(super) fn quad_derivatives<'m, W: Work<'m>>(grid: &mut Grid<'m, '_, W>, quad: &[u32; 4], sink: &mut dyn Sink) {
    let values = quad.map(|member| {
        let invocation = grid.invocations.get(&member)?;
        let State::Awaits(awaited, _) = invocation.state else { return None };
        Some((invocation.config.scalars(awaited.value)?, grid.module.shape(awaited.value), awaited.instruction))
    });
    let [Some((_, shape, instruction)), ..] = values else { return };
    grid.show_together(Rule::SpirvQuadDerivatives, quad, sink);
    let values: [Scalars; 4] = values.map(|value| value.map(|(scalars, ..)| scalars).unwrap_or_default());
    for (lane, &member) in quad.iter().enumerate() {
        let derivatives = Derivatives::of(&grid.env(member), &values, shape, lane, instruction);
        if grid.ending.is_none() {
            grid.resume(member, &derivatives, sink);
        }
    }
}

/// Some invocations of a quad wait at a dynamic instance that the others cannot come to: they go on with undefined values
///                                                              [spirv/divergent-derivatives, SPIR-V §3.3.16]
pub(super) fn divergent_derivatives<'m, W: Work<'m>>(grid: &mut Grid<'m, '_, W>, waiting: &[u32], sink: &mut dyn Sink) {
    grid.show_together(Rule::SpirvDivergentDerivatives, waiting, sink);
    for &member in waiting {
        let Some(State::Awaits(awaited, _)) = grid.invocations.get(&member).map(|i| i.state) else { continue };
        let derivatives = Derivatives::divergent(grid.module.shape(awaited.value).lanes(), awaited.instruction, member);
        if grid.ending.is_none() {
            grid.resume(member, &derivatives, sink);
        }
    }
}
