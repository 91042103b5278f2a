//! Exploration and races together: the explored schedules find a race exactly if some schedule
//! has one.

use std::cell::Cell;
use std::ops::ControlFlow;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use smallstep_semantics::concurrency::{AtomicOp, Class, Detector, Kind, Ordering, Scope, Semantics};
use smallstep_semantics::interleavings::{Budget, Explored, Footprint, Stepped, Turn, explore};

use super::oracle::Action;
use super::random::{step, topology};
use super::{Step, access, atomic};

/// Agents under the detector. Each does its actions in order, and the agents take turns in
/// any order.
#[derive(Clone)]
struct Run<'p> {
    programs: &'p [(u32, Vec<Action>)],
    at: Vec<usize>,
    detector: Detector,
    raced: bool,
}

impl<'p> Run<'p> {
    fn new(programs: &'p [(u32, Vec<Action>)]) -> Run<'p> {
        Run { programs, at: vec![0; programs.len()], detector: Detector::new(topology()), raced: false }
    }
}

impl Explored for Run<'_> {
    fn invocations(&self) -> usize {
        self.programs.len()
    }

    fn turn(&self, i: usize) -> Turn {
        match self.programs[i].1.get(self.at[i]) {
            None => Turn::Ended,
            Some(Action::Access(a)) => {
                Turn::Ready(Footprint::Memory { object: a.object, offset: a.offset, bytes: a.bytes, writes: a.kind.writes() })
            }
            Some(_) => Turn::Ready(Footprint::Local),
        }
    }

    fn step(&mut self, i: usize) -> Stepped {
        let (agent, actions) = &self.programs[i];
        match &actions[self.at[i]] {
            Action::Access(access) => self.raced |= self.detector.access(access).is_some(),
            Action::Fence(scope, semantics) => self.detector.fence(topology().agent(*agent), *scope, semantics),
            Action::Barrier(..) => {}
        }
        self.at[i] += 1;
        Stepped { released: Vec::new(), stop: self.raced }
    }
}

/// Whether some schedule races, and the number of schedules.
fn by_brute_force(run: &Run<'_>) -> (bool, u64) {
    if run.raced {
        return (true, 1);
    }
    let mut all = (false, 0);
    for i in (0..run.invocations()).filter(|i| run.turn(*i) != Turn::Ended) {
        let mut next = run.clone();
        next.step(i);
        let (raced, count) = by_brute_force(&next);
        all = (all.0 || raced, all.1 + count);
    }
    (all.0, all.1.max(1))
}

/// Whether an explored schedule races, and the number of explored schedules.
fn by_exploration(programs: &[(u32, Vec<Action>)]) -> (bool, u64) {
    let mut raced = false;
    let done = explore(
        || Run::new(programs),
        Budget::default(),
        |run, _| {
            raced |= run.raced;
            ControlFlow::Continue(())
        },
    );
    assert!(done.complete);
    (raced, done.executions)
}

fn programs(steps: Vec<Step>) -> Vec<(u32, Vec<Action>)> {
    let mut programs: Vec<(u32, Vec<Action>)> = Vec::new();
    for step in steps {
        let Step::Act(agent, action) = step else { continue };
        match programs.iter_mut().find(|(of, _)| *of == agent) {
            Some((_, actions)) => actions.push(action),
            None => programs.push((agent, vec![action])),
        }
    }
    programs
}

#[test]
fn a_race_of_one_schedule_is_found() {
    // The reader may come first, and then it has acquired nothing. The data is ordered only if the
    // reader reads the flag's store.
    let t = topology();
    let flag = |agent, op, ordering| {
        access(&t, agent, 1, 0, 4, Class::Uniform, atomic(op, Scope::Device, Semantics::of(ordering, &[Class::Uniform])))
    };
    let data = |agent, kind| access(&t, agent, 0, 0, 4, Class::Uniform, kind);
    let racy = vec![
        data(0, Kind::Store),
        flag(0, AtomicOp::Store, Ordering::Release),
        flag(5, AtomicOp::Load, Ordering::Acquire),
        data(5, Kind::Load),
    ];
    assert!(by_exploration(&programs(racy)).0);
    let apart = vec![data(0, Kind::Store), flag(0, AtomicOp::Store, Ordering::Release), flag(5, AtomicOp::Load, Ordering::Acquire)];
    assert_eq!(by_exploration(&programs(apart)), (false, 2));
}

#[test]
fn exploration_misses_no_race() {
    let cases = 600;
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[5; 32]));
    let (races, saved) = (Cell::new(0), Cell::new(0));
    let result = runner.run(&prop::collection::vec(step(3), 3..8), |steps| {
        let programs = programs(steps);
        let (expected, schedules) = by_brute_force(&Run::new(&programs));
        let (raced, explored) = by_exploration(&programs);
        prop_assert_eq!(raced, expected);
        prop_assert!(explored <= schedules);
        races.set(races.get() + u32::from(raced));
        saved.set(saved.get() + u32::from(explored < schedules));
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
    let (races, saved) = (races.get(), saved.get());
    println!("{cases} programs, {races} with a race, {saved} with fewer schedules explored than there are");
    assert!(races > cases / 6 && races < cases * 5 / 6 && saved > cases / 3, "{races} races, {saved} reduced of {cases}");
}
