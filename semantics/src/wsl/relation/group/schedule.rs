//! In which order threads take their steps.

use crate::wsl::choice::Strategy;

/// An order of the steps of all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Schedule {
    /// The first thread until it waits or ends, then the next one.
    #[default]
    InOrder,
    /// A step of each thread in turn.
    RoundRobin,
    /// Each step of a thread drawn by this seed.
    Random(u64),
    /// Every order, one of each class of orders that no thread
    /// can tell apart ([`crate::interleavings`]).
    All,
}

/// Groups of threads that take turns.
pub(in crate::wsl) trait Threads {
    /// How they end before all threads have.
    type Ending;
    /// How many groups there are.
    fn groups(&self) -> usize;
    /// How many threads a group has.
    fn threads(&self, group: usize) -> usize;
    /// Whether a thread can step.
    fn runs(&self, group: usize, thread: usize) -> bool;
    /// A step of a thread that can.
    ///
    /// # Errors
    /// How all of them end by it.
    fn step(&mut self, group: usize, thread: usize) -> Result<(), Self::Ending>;
    /// What the threads of a group do together, of which none can step: some may afterwards.
    ///
    /// # Errors
    /// How all of them end by it.
    fn meet(&mut self, group: usize) -> Result<(), Self::Ending>;
}

/// Steps until no thread can, in one order.
///
/// # Errors
/// How they end before that.
pub(in crate::wsl) fn take_turns<T: Threads>(schedule: Schedule, all: &mut T) -> Result<(), T::Ending> {
    let running = |all: &T, g: usize| (0..all.threads(g)).filter(|&t| all.runs(g, t)).map(|t| (g, t)).collect::<Vec<_>>();
    if matches!(schedule, Schedule::InOrder | Schedule::All) {
        for g in 0..all.groups() {
            loop {
                for t in 0..all.threads(g) {
                    while all.runs(g, t) {
                        all.step(g, t)?;
                    }
                }
                all.meet(g)?;
                if running(all, g).is_empty() {
                    break;
                }
            }
        }
        return Ok(());
    }
    // Those that can step, in order.
    let mut ready: Vec<(usize, usize)> = (0..all.groups()).flat_map(|g| running(all, g)).collect();
    let (mut turn, mut last) = (0, None);
    while !ready.is_empty() {
        turn += 1;
        let at = match schedule {
            Schedule::Random(seed) => Strategy::Random(seed).choose(u32::MAX, turn, ready.len() as u64).unwrap_or(0) as usize,
            _ => ready.partition_point(|&thread| last.is_some_and(|last| thread <= last)) % ready.len(),
        };
        let (g, t) = ready[at];
        last = Some((g, t));
        all.step(g, t)?;
        if all.runs(g, t) {
            continue;
        }
        ready.remove(at);
        let first = ready.partition_point(|&(group, _)| group < g);
        if ready.get(first).is_none_or(|&(group, _)| group != g) {
            all.meet(g)?;
            ready.splice(first..first, running(all, g));
        }
    }
    Ok(())
}
