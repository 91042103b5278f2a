//! The collective steps of a subgroup: group instructions (SPIR-V §3.3.24), and OpControlBarrier
//! of the scope Subgroup.
//!
//! If none of the subgroup can step, invocations wait at one or more dynamic instances. As in a
//! quad, no other invocation can reach the least of them. The invocations that wait there are its
//! *tangle*, if they are certainly together ([`path`](super::path)). If they may not be, devices
//! may separate them. Then values that depend on each other are in doubt, and a barrier is refused.

use super::path::are_together;
use super::work::Work;
use super::{Grid, State};
use crate::concurrency::{Agent, Scope};
use crate::interleavings::Footprint;
use crate::number::Why;
use crate::outcome::Outcome;
use crate::rule::Rule;
use crate::spirv::grammar::Op;
use crate::spirv::module::Module;
use crate::spirv::step::{Arrived, Mapping, Member, Next, Part, Reduct, Sink, Tangle};
use crate::spirv::value::Scalars;

/// The sizes of subgroups with which a dispatch runs if it does not set one.
pub const SIZES: [u32; 5] = [4, 8, 16, 32, 64];
/// The greatest number of invocations of a subgroup.
pub const MAX_SIZE: u32 = 128;

/// Whether a module depends on which invocations form a subgroup: by group instructions, barriers
/// or built-ins of subgroups.
pub fn uses_subgroups(module: &Module) -> bool {
    let of_subgroups = |of| built_in(of, Agent { workgroup: 0, local: 0 }, 1, 1).is_some();
    module.globals().iter().any(|variable| module.built_ins(variable).any(of_subgroups))
        || module.instructions().iter().any(|i| waits_for_subgroup(module, i))
}

/// Whether an instruction waits for other invocations of the subgroup.
pub(super) fn waits_for_subgroup(module: &Module, i: &crate::spirv::words::Instruction) -> bool {
    let of_subgroup = |i: &crate::spirv::words::Instruction| {
        let scope = i.operands(module.words()).first().and_then(|&id| module.constant_value(id));
        scope == Some(rspirv::spirv::Scope::Subgroup as u64)
    };
    crate::spirv::declare::is_group(i.op) || i.is(Op::ControlBarrier) && of_subgroup(i)
}

/// The size of the largest cluster in a module.
fn largest_cluster(module: &Module) -> u32 {
    let clusters = module.instructions().iter().filter(|i| crate::spirv::declare::is_group(i.op)).filter_map(|i| {
        let operands = i.operands(module.words());
        let clustered = operands.get(1) == Some(&(rspirv::spirv::GroupOperation::ClusteredReduce as u32));
        operands.get(3).filter(|_| clustered).and_then(|&id| module.constant_value(id))
    });
    clusters.max().unwrap_or(1).min(u64::from(u32::MAX)) as u32
}

/// The sizes of subgroups with which a module runs if the dispatch sets none: all of [`SIZES`] that
/// its clusters fit into.
pub(super) fn sizes_of(module: &Module) -> Vec<u32> {
    let cluster = largest_cluster(module);
    let fitting: Vec<u32> = SIZES.into_iter().filter(|&size| cluster <= size).collect();
    if fitting.is_empty() { vec![MAX_SIZE] } else { fitting }
}

impl<'m, W: Work<'m>> Grid<'m, '_, W> {
    /// The dynamic instance at which an invocation waits for its subgroup, if it does.
    fn joins_at(&self, number: u32) -> Option<smallvec::SmallVec<[Part; 4]>> {
        let (order, invocation) = (self.prepared.order.as_ref()?, self.invocations.get(&number)?);
        let mut instance = order.instance(&invocation.config);
        match invocation.state {
            State::Joins(..) => Some(instance),
            State::Waits(Arrived { execution: Scope::Subgroup, .. }) => {
                // Its next instruction is the one after the barrier.
                if let Some(last) = instance.last_mut() {
                    last.instruction = last.instruction.saturating_sub(1);
                }
                Some(instance)
            }
            _ => None,
        }
    }

    /// Lets invocations of a subgroup go on together, if none of the subgroup can step. Returns
    /// these invocations.
    pub(super) fn meet_in_subgroup(&mut self, number: u32, sink: &mut dyn Sink) -> Vec<u32> {
        if !self.prepared.subgroups || !self.relation.rules.applies(Rule::SpirvTangle) {
            return Vec::new();
        }
        let members: Vec<u32> = self.topology.instance(number, Scope::Subgroup).filter(|n| self.invocations.contains_key(n)).collect();
        let acts = |n: &u32| self.invocations.get(n).is_some_and(|i| matches!(i.state, State::Acts(_)));
        if members.iter().any(acts) {
            return Vec::new();
        }
        let Some(least) = members.iter().filter_map(|&n| self.joins_at(n)).min() else { return Vec::new() };
        // An invocation that awaits a derivative at a lesser instance may still reach this one.
        if self.waiting(&members).and_then(|waiting| self.awaits_at(*waiting.first()?)).is_some_and(|at| at < least) {
            return Vec::new();
        }
        let waiting: Vec<u32> = members.iter().copied().filter(|&n| self.joins_at(n).as_ref() == Some(&least)).collect();
        let paths = |numbers: &[u32]| numbers.iter().filter_map(|n| self.invocations.get(n)).map(|i| &i.path).collect::<Vec<_>>();
        let together = are_together(&paths(&waiting), &paths(&members));
        let ended = |n: &u32| self.invocations.get(n).is_none_or(|i| matches!(i.state, State::Ended));
        self.split |= members.iter().any(|n| !waiting.contains(n) && !ended(n));
        let barrier = |n: &u32| self.invocations.get(n).is_some_and(|i| matches!(i.state, State::Waits(_)));
        if waiting.iter().any(barrier) {
            if self.prepared.mapping == Mapping::Unknown {
                let what = "OpControlBarrier of the scope Subgroup where any invocations may be a subgroup";
                self.ending = Some(Outcome::Unsupported(what.into()));
                return Vec::new();
            }
            if !together {
                let what = "OpControlBarrier of the scope Subgroup where invocations that took several paths may be together or not";
                self.ending = Some(Outcome::Unsupported(what.into()));
                return Vec::new();
            }
            super::barrier::barrier_release(self, &waiting, sink);
        } else {
            let doubt = self.doubt_of(&members).or((!together).then_some(Why::Reconvergence));
            tangle(self, &waiting, doubt, sink);
        }
        if together && waiting.len() == members.len() {
            for n in &waiting {
                if let Some(invocation) = self.invocations.get_mut(n) {
                    invocation.path.forget();
                }
            }
        }
        waiting
    }

    /// Why a device may have other invocations of the subgroup there, by their earlier branches or
    /// loads. `None` if it may not.
    fn doubt_of(&self, members: &[u32]) -> Option<Why> {
        let profile = self.shared.profile();
        let control_in_doubt = |n: &u32| self.invocations.get(n).is_some_and(|i| i.config.control.is_doubtful(profile));
        let reads = |n: &u32| self.shared.is_doubtful_reader(*n);
        (self.doubtful && members.iter().any(|n| control_in_doubt(n) || reads(n))).then_some(Why::Control)
    }

    /// The lane of an invocation: SubgroupLocalInvocationId.
    fn lane(&self, number: u32) -> u32 {
        number - self.topology.instance(number, Scope::Subgroup).start
    }
}

/// the invocations of a subgroup that wait at one dynamic instance of a group instruction, to which
/// no other of its invocations can come: they go on, each by the values of all of them
///                                      [spirv/tangle, SPIR-V §3.3.24; Vulkan, Group operations]
pub(super) fn tangle<'m, W: Work<'m>>(grid: &mut Grid<'m, '_, W>, waiting: &[u32], doubt: Option<Why>, sink: &mut dyn Sink) {
    let Some(&first) = waiting.first() else { return };
    let mut members = Vec::with_capacity(waiting.len());
    for &number in waiting {
        let Some(invocation) = grid.invocations.get(&number) else { continue };
        let State::Joins(join, _) = invocation.state else { continue };
        let operands = join.operands.map(|id| if id == 0 { Some(Scalars::new()) } else { invocation.config.scalars(id) });
        let [Some(a), Some(b)] = operands else {
            grid.stuck(number, "an operand of a group instruction has no value".into());
            return;
        };
        members.push(Member { lane: grid.lane(number), operands: [a, b] });
    }
    if let Some(invocation) = grid.invocations.get(&first)
        && let State::Joins(join, _) = invocation.state
    {
        grid.emit_collective(Rule::SpirvTangle, join.instruction, first, invocation.step, sink);
        if let (Some(run), Some(waiting)) = (&mut grid.over, grid.module.instructions().get(join.instruction as usize)) {
            run.sets.get_mut().stand_at(waiting.result);
        }
    }
    let mut tangle = Tangle::new(grid.topology.subgroup_size(), members, doubt);
    tangle.mapping = grid.prepared.mapping;
    for (own, &number) in waiting.iter().enumerate() {
        tangle.own = own;
        let Some(invocation) = grid.invocations.get_mut(&number) else { continue };
        let State::Joins(join, rule) = invocation.state else { continue };
        invocation.state = State::Acts(Footprint::Local);
        let Some(invocation) = grid.invocations.get(&number) else { continue };
        let next: Option<Next<'m>> = (join.resume)(&grid.env(number), &invocation.config, &tangle);
        match next {
            Some(next) if grid.ending.is_none() => {
                let at = invocation.config.place();
                grid.apply_reduct(number, Reduct { rule, at, next }, sink);
            }
            Some(_) => {}
            None => grid.stuck(number, format!("{rule} cannot go on")),
        }
    }
}

/// Whether a built-in depends on which invocations form a subgroup, and not only on its size.
pub(super) fn depends_on_mapping(of: rspirv::spirv::BuiltIn) -> bool {
    use rspirv::spirv::BuiltIn as B;
    let of_subgroups = built_in(of, Agent { workgroup: 0, local: 0 }, 1, 1).is_some();
    of_subgroups && !matches!(of, B::SubgroupSize | B::NumSubgroups)
}

/// The words of a built-in of subgroups, for invocations that form no workgroup.
pub(in crate::spirv) fn subgroup_built_in(of: rspirv::spirv::BuiltIn, agent: Agent, size: u32) -> Option<Vec<u32>> {
    built_in(of, agent, size, size)
}

/// The words of a built-in of subgroups, one for each component.
pub(super) fn built_in(built_in: rspirv::spirv::BuiltIn, agent: Agent, size: u32, workgroup: u32) -> Option<Vec<u32>> {
    use rspirv::spirv::BuiltIn as B;
    let lane = agent.local % size;
    let mask = |holds: fn(u32, u32) -> bool| -> Vec<u32> {
        let word =
            |word: u32| (0..32).filter(|bit| word * 32 + bit < size && holds(word * 32 + bit, lane)).fold(0, |bits, bit| bits | 1 << bit);
        (0..4).map(word).collect()
    };
    Some(match built_in {
        B::SubgroupSize => vec![size],
        B::NumSubgroups => vec![workgroup.div_ceil(size)],
        B::SubgroupId => vec![agent.local / size],
        B::SubgroupLocalInvocationId => vec![lane],
        B::SubgroupEqMask => mask(|bit, lane| bit == lane),
        B::SubgroupGeMask => mask(|bit, lane| bit >= lane),
        B::SubgroupGtMask => mask(|bit, lane| bit > lane),
        B::SubgroupLeMask => mask(|bit, lane| bit <= lane),
        B::SubgroupLtMask => mask(|bit, lane| bit < lane),
        _ => return None,
    })
}
