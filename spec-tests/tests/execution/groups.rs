//! Wrong rules of groups.

use smallstep_semantics::rule::Rule;
use smallstep_semantics::wsl::group::Replacement::{Barrier, Thread};
use smallstep_semantics::wsl::group::{Group, Replacement, State, g_barrier, g_thread};

/// A barrier that releases its waiting threads. The flags say which memory its fence counts for.
fn passed(group: &mut Group, threadgroup: bool, device: bool) {
    group.epochs.0 += u32::from(threadgroup);
    group.epochs.1 += u32::from(device);
    for (thread, state) in group.threads.iter_mut().filter(|(_, state)| matches!(state, State::Waiting(_))) {
        thread.released = true;
        *state = State::Running;
    }
}

/// The rule, a description of the mistake, and the wrong rule.
pub const BUGS: &[(Rule, &str, Replacement)] = &[
    (
        Rule::WslGThread,
        "memory is as before the step",
        Thread(|world, group, t| {
            let objects = world.memory.objects.clone();
            let step = g_thread(world, group, t);
            world.memory.objects = objects;
            step
        }),
    ),
    (
        Rule::WslGThread,
        "a thread that is not discarded ends at its first step",
        Thread(|world, group, t| {
            let step = g_thread(world, group, t)?;
            group.threads[t].1 = State::Ended;
            Ok(step)
        }),
    ),
    (
        Rule::WslGBarrier,
        "the threads that came go on without the others",
        Barrier(|_, group| {
            passed(group, true, true);
            Ok(())
        }),
    ),
    (
        Rule::WslGBarrier,
        "no fence",
        Barrier(|program, group| {
            let epochs = group.epochs;
            g_barrier(program, group)?;
            group.epochs = epochs;
            Ok(())
        }),
    ),
    (
        Rule::WslGBarrier,
        "every fence is of threadgroup memory alone",
        Barrier(|program, group| {
            let device = group.epochs.1;
            g_barrier(program, group)?;
            group.epochs = (group.epochs.0 + 1, device);
            Ok(())
        }),
    ),
    (
        Rule::WslGBarrier,
        "every fence is of both",
        Barrier(|program, group| {
            let (threadgroup, device) = group.epochs;
            g_barrier(program, group)?;
            group.epochs = (threadgroup + 1, device + 1);
            Ok(())
        }),
    ),
    (
        Rule::WslGBarrier,
        "another iteration's barrier is the same",
        Barrier(|program, group| {
            if group.threads.iter().all(|(_, state)| matches!(state, State::Waiting(_))) {
                passed(group, true, true);
                return Ok(());
            }
            g_barrier(program, group)
        }),
    ),
];
