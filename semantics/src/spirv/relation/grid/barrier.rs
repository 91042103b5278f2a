//! Control barriers: who waits at which, and that all leave together or never do (SPIR-V §3.3.20).

use smallvec::SmallVec;

use super::work::Work;
use super::{Grid, State};
use crate::interleavings::Footprint;
use crate::rule::Rule;
use crate::spirv::concurrency::Wait;
use crate::spirv::concurrency::schedule::Divergence;
use crate::spirv::report::{self, Elsewhere};
use crate::spirv::step::{Arrived, Part, Sink};
use crate::undefined::{Site, Ub, Undefined};

impl<'m, W: Work<'m>> Grid<'m, '_, W> {
    /// What an invocation waits for; dynamic instances of barriers are numbered by their places
    /// among `instances`.
    pub(super) fn wait_of(&self, number: u32, instances: &mut Vec<SmallVec<[Part; 4]>>) -> Wait {
        let Some(invocation) = self.invocations.get(&number) else { return Wait::Ended };
        match invocation.state {
            State::Acts(_) | State::Awaits(..) => Wait::Ready,
            State::Waits(arrived) => {
                // What follows the barrier in its block is in the same instance as it.
                let instance = invocation.config.instance();
                let at = instances.iter().position(|other| *other == instance).unwrap_or_else(|| {
                    instances.push(instance);
                    instances.len() - 1
                });
                Wait::Barrier { instruction: arrived.instruction, instance: at as u32, scope: arrived.execution }
            }
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
            && let State::Waits(at) = invocation.state
        {
            invocation.state = State::Acts(Footprint::Local);
            arrived = Some(at);
            grid.set_ready(member);
        }
    }
    if let (Some(Arrived { instruction, memory, semantics, .. }), Some(&first)) = (arrived, members.first()) {
        grid.show(Rule::SpirvBarrierRelease, instruction, first, grid.invocations.get(&first).map_or(0, |i| i.step), sink);
        grid.detector.workgroup_barrier(grid.topology.agent(first).workgroup, memory, &semantics);
    }
}

/// none of a scope's invocations can step and they wait at different barriers, or some have ended:
/// undefined behaviour                                    [spirv/divergent-barrier, SPIR-V §3.3.20]
pub(super) fn divergent_barrier<'m, W: Work<'m>>(grid: &mut Grid<'m, '_, W>, members: &[u32], divergence: Divergence, sink: &mut dyn Sink) {
    let global = |index: usize| grid.work.global(grid.topology.agent(members[index]));
    let (waiting, barrier, other, elsewhere) = match divergence {
        Divergence::Ended { waiting, barrier, ended } => (waiting, barrier, ended, Elsewhere::Ended),
        Divergence::Different { first, second } => (first.0, first.1, second.0, Elsewhere::Barrier(second.1)),
        Divergence::Instances { barrier, first, second } => (first, barrier, second, Elsewhere::Instance),
    };
    // It has arrived: what is next is after the barrier.
    let step = grid.invocations.get(&members[waiting]).map(|i| i.step.saturating_sub(1));
    let site = Site { step, ..report::site(grid.module, barrier, members[waiting], global(waiting)) };
    grid.show(Rule::SpirvDivergentBarrier, barrier, members[waiting], step.unwrap_or(0), sink);
    let what = report::divergent_barrier(grid.module, global(waiting), global(other), elsewhere);
    grid.note(Undefined { ub: Ub::DivergentBarrier, what, at: grid.work.at(&site), site: Some(Box::new(site)) });
    for &member in members {
        let waits = grid.invocations.get(&member).is_some_and(|i| matches!(i.state, State::Waits(_)));
        if waits {
            grid.set_ready(member);
            grid.set_unready(member, State::Ended);
        }
    }
}
