//! Control barriers: which invocation waits at which barrier, and that all leave together or never
//! do (SPIR-V §3.3.20).

use smallvec::SmallVec;

use super::work::Work;
use super::{Grid, State};
use crate::concurrency::{Agent, Scope, Wait};
use crate::interleavings::Footprint;
use crate::rule::Rule;
use crate::spirv::report;
use crate::spirv::step::{Arrived, Part, Sink};
use crate::undefined::{Site, Ub, Undefined};

/// A dynamic instance of a barrier: the index of its instruction, and the loops and calls of its
/// invocation. The instructions that follow the barrier in its block belong to the same instance.
pub(super) type Instance = (u32, SmallVec<[Part; 4]>);

impl<'m, W: Work<'m>> Grid<'m, '_, W> {
    /// The state of an invocation, for a meeting of its workgroup.
    pub(super) fn wait_of(&self, number: u32) -> Wait<Instance> {
        let Some(invocation) = self.invocations.get(&number) else { return Wait::Ended };
        match invocation.state {
            State::Acts(_) | State::Awaits(..) | State::Joins(..) => Wait::Ready,
            State::Waits(arrived) => Wait::Barrier((arrived.instruction, invocation.config.instance())),
            State::Ended => Wait::Ended,
        }
    }
}

/// all invocations of a scope wait at one OpControlBarrier: they go on, ordered by its semantics
///                                                          [spirv/barrier-release, SPIR-V §3.3.20]
pub(super) fn barrier_release<'m, W: Work<'m>>(grid: &mut Grid<'m, '_, W>, members: &[u32], sink: &mut dyn Sink) {
    let mut arrived = None;
    let profile = grid.shared.profile();
    let in_doubt = |member: &u32| {
        let control = grid.invocations.get(member).is_some_and(|i| i.config.control.is_doubtful(profile));
        control || grid.shared.is_doubtful_reader(*member)
    };
    if grid.doubtful && members.iter().any(in_doubt) {
        members.iter().for_each(|&member| grid.shared.put_in_doubt(member));
    }
    for &member in members {
        if let Some(invocation) = grid.invocations.get_mut(&member)
            && let State::Waits(barrier) = invocation.state
        {
            invocation.state = State::Acts(Footprint::Local);
            arrived = Some(barrier);
        }
    }
    if let (Some(Arrived { instruction, memory, semantics, execution }), Some(&first)) = (arrived, members.first()) {
        grid.emit_collective(Rule::SpirvBarrierRelease, instruction, first, grid.invocations.get(&first).map_or(0, |i| i.step), sink);
        grid.log_barrier(members, &Arrived { instruction, memory, semantics, execution });
        if execution == Scope::Subgroup {
            let agents: Vec<Agent> = members.iter().map(|&member| grid.topology.agent(member)).collect();
            grid.detector.barrier(&agents, memory, &semantics);
        } else {
            grid.detector.workgroup_barrier(grid.topology.agent(first).workgroup, memory, &semantics);
        }
    }
}

/// none of a scope's invocations can step and they wait at different barriers, or some have ended:
/// undefined behaviour                                    [spirv/divergent-barrier, SPIR-V §3.3.20]
pub(super) fn divergent_barrier<'m, W: Work<'m>>(
    grid: &mut Grid<'m, '_, W>,
    members: &[u32],
    (waiting, wait): (u32, &Wait<Instance>),
    (other, other_wait): (u32, &Wait<Instance>),
    sink: &mut dyn Sink,
) {
    let &Wait::Barrier((barrier, _)) = wait else { return };
    let global = |number: u32| grid.work.global(grid.topology.agent(number));
    // It has arrived, so its next instruction is the one after the barrier.
    let step = grid.invocations.get(&waiting).map(|i| i.step.saturating_sub(1));
    let calls = report::calls(grid.module, grid.invocations.get(&waiting).map_or(Vec::new(), |i| i.config.calls()));
    let site = Site { step, calls, ..report::site(grid.module, barrier, waiting, global(waiting)) };
    grid.emit_collective(Rule::SpirvDivergentBarrier, barrier, waiting, step.unwrap_or(0), sink);
    let what = report::divergent_barrier(grid.module, barrier, global(waiting), global(other), other_wait);
    grid.record_undefined(Undefined { ub: Ub::DivergentBarrier, what, at: grid.work.at(&site), site: Some(Box::new(site)) });
    for &member in members {
        let waits = grid.invocations.get(&member).is_some_and(|i| matches!(i.state, State::Waits(_)));
        if waits {
            grid.set(member, State::Ended);
        }
    }
}
