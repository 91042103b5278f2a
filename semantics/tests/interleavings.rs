//! Exploration against brute force: there are as many executions as Mazurkiewicz traces, and the
//! endings are the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use proptest::prelude::*;
use smallstep_semantics::concurrency::{Picker, Schedule, schedule::Ready};
use smallstep_semantics::interleavings::{Budget, Exploration, Explored, Footprint, Stepped, Turn, explore};

/// An action of an invocation of a toy program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// Appends the variable's value to the list of what the invocation has seen.
    Read(u32),
    /// Stores a number of its own.
    Write(u32),
    /// Adds one.
    Add(u32),
    /// Does nothing that others see.
    Local,
    /// Waits for all invocations.
    Barrier,
    /// Ends the run if the variable is not 0.
    Check(u32),
}

#[derive(Clone, Debug)]
struct Toy {
    program: Vec<Vec<Act>>,
    at: Vec<usize>,
    memory: [u32; 3],
    seen: Vec<Vec<u32>>,
    stopped: bool,
    /// A planted bug: what the program claims as the footprint of its next action.
    lie: fn(Footprint) -> Footprint,
}

impl Toy {
    fn new(program: &[Vec<Act>]) -> Toy {
        let n = program.len();
        Toy { program: program.to_vec(), at: vec![0; n], memory: [0; 3], seen: vec![Vec::new(); n], stopped: false, lie: |truth| truth }
    }

    fn act(&self, i: usize) -> Option<Act> {
        self.program[i].get(self.at[i]).copied()
    }

    fn ending(&self) -> Ending {
        (self.stopped, self.memory, self.seen.clone())
    }
}

impl Explored for Toy {
    fn invocations(&self) -> usize {
        self.program.len()
    }

    fn turn(&self, i: usize) -> Turn {
        let memory = |variable: u32, writes| {
            Turn::Ready((self.lie)(Footprint::Memory { object: 0, offset: u64::from(variable) * 4, bytes: 4, writes }))
        };
        match self.act(i) {
            None => Turn::Ended,
            Some(Act::Barrier) => Turn::Waiting,
            Some(Act::Local) => Turn::Ready(Footprint::Local),
            Some(Act::Read(v) | Act::Check(v)) => memory(v, false),
            Some(Act::Write(v) | Act::Add(v)) => memory(v, true),
        }
    }

    fn step(&mut self, i: usize) -> Stepped {
        match self.act(i) {
            Some(Act::Read(v)) => self.seen[i].push(self.memory[v as usize]),
            Some(Act::Write(v)) => self.memory[v as usize] = (10 * (i + 1) + self.at[i]) as u32,
            Some(Act::Add(v)) => {
                self.seen[i].push(self.memory[v as usize]);
                self.memory[v as usize] += 1;
            }
            Some(Act::Check(v)) => self.stopped = self.memory[v as usize] != 0,
            Some(Act::Local | Act::Barrier) | None => {}
        }
        self.at[i] += 1;
        let all = 0..self.program.len();
        let mut released = Vec::new();
        if all.clone().all(|i| self.act(i) == Some(Act::Barrier)) {
            for i in all {
                self.at[i] += 1;
                released.push(i);
            }
        }
        Stepped { released, stop: self.stopped }
    }
}

/// How a run ends: whether it was stopped, the memory, and what each invocation saw.
type Ending = (bool, [u32; 3], Vec<Vec<u32>>);

/// All interleavings: the invocation and the footprint of each step, and how the run ends.
type Runs = Vec<(Vec<(usize, Footprint)>, Ending)>;

fn all(state: &Toy, steps: &mut Vec<(usize, Footprint)>, into: &mut Runs) {
    let mut ended = true;
    for i in 0..state.invocations() {
        if let Turn::Ready(footprint) = state.turn(i)
            && !state.stopped
        {
            ended = false;
            let mut next = state.clone();
            next.step(i);
            steps.push((i, footprint));
            all(&next, steps, into);
            steps.pop();
        }
    }
    if ended {
        into.push((steps.clone(), state.ending()));
    }
}

/// The number of classes of interleavings. Two are in one class if swaps of independent neighbours
/// lead from one to the other, and each swap gives an interleaving.
fn traces(runs: &Runs) -> usize {
    let index: BTreeMap<Vec<usize>, usize> =
        runs.iter().enumerate().map(|(n, (steps, _))| (steps.iter().map(|(i, _)| *i).collect(), n)).collect();
    let mut parent: Vec<usize> = (0..runs.len()).collect();
    fn root(parent: &mut [usize], mut n: usize) -> usize {
        while parent[n] != n {
            parent[n] = parent[parent[n]];
            n = parent[n];
        }
        n
    }
    for (n, (steps, _)) in runs.iter().enumerate() {
        for k in 1..steps.len() {
            if steps[k - 1].0 != steps[k].0 && !steps[k - 1].1.dependent(&steps[k].1) {
                let mut swapped: Vec<usize> = steps.iter().map(|(i, _)| *i).collect();
                swapped.swap(k - 1, k);
                if let Some(&other) = index.get(&swapped) {
                    let (a, b) = (root(&mut parent, n), root(&mut parent, other));
                    parent[a] = b;
                }
            }
        }
    }
    (0..runs.len()).filter(|&n| root(&mut parent, n) == n).count()
}

/// Explores a program. Returns the counts of the exploration and the distinct endings.
fn explored(program: &[Vec<Act>]) -> (Exploration, BTreeSet<Ending>) {
    let mut endings = BTreeSet::new();
    let done = explore(
        || Toy::new(program),
        Budget::default(),
        |state, steps| {
            let schedule = &Schedule::Replay(steps);
            endings.insert(state.ending());
            assert_eq!(replay(program, schedule), state.ending(), "{schedule} ends otherwise when it is replayed");
            ControlFlow::Continue(())
        },
    );
    (done, endings)
}

fn replay(program: &[Vec<Act>], schedule: &Schedule) -> Ending {
    let mut state = Toy::new(program);
    let mut picker = Picker::new(schedule.to_string().parse().unwrap());
    loop {
        let mut ready = Ready::default();
        (0..program.len()).filter(|i| matches!(state.turn(*i), Turn::Ready(_))).for_each(|i| ready.insert(i as u32));
        if ready.is_empty() || state.stopped {
            return state.ending();
        }
        state.step(picker.pick(&ready).unwrap() as usize);
    }
}

fn compare(program: &[Vec<Act>]) -> Exploration {
    let mut runs = Vec::new();
    all(&Toy::new(program), &mut Vec::new(), &mut runs);
    let (done, endings) = explored(program);
    assert!(done.complete);
    let expected: BTreeSet<_> = runs.iter().map(|(_, ending)| ending.clone()).collect();
    let stops = program.iter().flatten().any(|act| matches!(act, Act::Check(_)));
    if stops {
        // If a run stops early, independent invocations may have done different things by
        // then. Whether a run can stop must be the same, and so must the endings of runs that
        // do not stop.
        let may_stop = |endings: &BTreeSet<Ending>| endings.iter().any(|ending| ending.0);
        let goes_on = |endings: &BTreeSet<Ending>| endings.iter().filter(|ending| !ending.0).cloned().collect::<BTreeSet<_>>();
        assert_eq!(may_stop(&endings), may_stop(&expected), "{program:?}");
        assert_eq!(goes_on(&endings), goes_on(&expected), "{program:?}");
        assert!(endings.is_subset(&expected), "{program:?}");
    } else {
        assert_eq!(endings, expected, "{program:?}");
        assert_eq!(done.executions as usize, traces(&runs), "{program:?}");
    }
    done
}

#[test]
fn known_numbers_of_traces() {
    use Act::{Add, Barrier, Local, Read, Write};
    // Independent invocations: one trace. Two writers: two orders. n additions: n! orders.
    assert_eq!(compare(&[vec![Write(0), Local], vec![Write(1), Local], vec![Write(2)]]).executions, 1);
    assert_eq!(compare(&[vec![Write(0)], vec![Write(0)]]).executions, 2);
    assert_eq!(compare(&[vec![Add(0)], vec![Add(0)], vec![Add(0)], vec![Add(0)]]).executions, 24);
    // Store buffering: each load comes before or after the other's store. Both loads before both
    // stores contradicts program order, so there are three traces.
    assert_eq!(compare(&[vec![Write(0), Read(1)], vec![Write(1), Read(0)]]).executions, 3);
    // Readers do not depend on each other. Each comes before or after the write.
    assert_eq!(compare(&[vec![Write(0)], vec![Read(0)], vec![Read(0)]]).executions, 4);
    // A barrier orders the actions that it separates.
    assert_eq!(compare(&[vec![Write(0), Barrier, Read(1)], vec![Write(1), Barrier, Read(0)]]).executions, 1);
    assert_eq!(compare(&[vec![Write(0), Barrier, Write(0)], vec![Write(0), Barrier, Write(0)]]).executions, 4);
}

/// A stop hides the races of actions that other invocations would have done. Exploration must find
/// that the check of the last invocation can come first.
#[test]
fn what_stops_hides_no_races() {
    use Act::{Check, Local, Read, Write};
    compare(&[vec![], vec![Write(0), Read(1)], vec![Write(1), Check(0)], vec![Read(0), Check(1)]]);
    // Here the check comes only after an action that nobody depends on.
    compare(&[vec![Write(0), Read(1)], vec![Write(1), Check(0)], vec![Read(0), Local, Check(1)]]);
    // A check stops every execution. Even so, the exploration is complete.
    let (done, endings) = explored(&[vec![Write(0), Check(0)], vec![Write(1), Check(1)]]);
    assert_eq!((done.complete, endings.iter().all(|ending| ending.0)), (true, true));
}

#[test]
fn independent_invocations_cost_one_execution() {
    let program: Vec<Vec<Act>> = (0..64).map(|_| vec![Act::Read(0), Act::Local, Act::Barrier, Act::Read(1)]).collect();
    let (done, _) = explored(&program);
    assert_eq!((done.executions, done.blocked, done.complete), (1, 0, true));
}

/// A wrong footprint must show. If too little is dependent, endings are missed. If too much is,
/// executions are repeated.
#[test]
fn a_wrong_footprint_is_caught() {
    let program = [vec![Act::Write(0), Act::Read(1)], vec![Act::Write(1), Act::Read(0)], vec![Act::Read(0), Act::Write(1)]];
    let mut runs = Vec::new();
    all(&Toy::new(&program), &mut Vec::new(), &mut runs);
    let expected: BTreeSet<_> = runs.iter().map(|(_, ending)| ending.clone()).collect();
    let with = |lie: fn(Footprint) -> Footprint| {
        let mut endings = BTreeSet::new();
        let start = || Toy { lie, ..Toy::new(&program) };
        let done = explore(start, Budget::default(), |state, _| {
            endings.insert(state.ending());
            ControlFlow::Continue(())
        });
        (done.executions as usize, endings == expected)
    };
    assert_eq!(with(|truth| truth), (traces(&runs), true));
    assert!(!with(|_| Footprint::Local).1);
    let reads_only = |truth| match truth {
        Footprint::Memory { object, offset, bytes, .. } => Footprint::Memory { object, offset, bytes, writes: false },
        other => other,
    };
    assert!(!with(reads_only).1);
    let everything = with(|_| Footprint::Everything);
    assert!(everything.1 && everything.0 == runs.len() && runs.len() > traces(&runs));
}

#[test]
fn the_budget_is_kept() {
    let program = vec![vec![Act::Add(0); 6]; 3];
    let run = |budget| explore(|| Toy::new(&program), budget, |_, _| ControlFlow::Continue(()));
    let few = run(Budget { executions: 10, steps: u64::MAX });
    assert_eq!((few.executions + few.blocked, few.complete), (10, false));
    let short = run(Budget { executions: u64::MAX, steps: 100 });
    assert_eq!((short.steps, short.complete), (100, false));
    let broken = explore(|| Toy::new(&program), Budget::default(), |_, _| ControlFlow::Break(()));
    assert_eq!((broken.executions, broken.complete), (1, false));
}

fn act(stops: bool) -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0u32..2).prop_map(Act::Read),
        4 => (0u32..2).prop_map(Act::Write),
        2 => (0u32..2).prop_map(Act::Add),
        1 => Just(Act::Local),
        2 => Just(Act::Barrier),
        2 => (0u32..2).prop_map(move |v| if stops { Act::Check(v) } else { Act::Read(v) }),
    ]
}

fn program(stops: bool) -> impl Strategy<Value = Vec<Vec<Act>>> {
    prop_oneof![
        prop::collection::vec(prop::collection::vec(act(stops), 0..5), 2..3),
        prop::collection::vec(prop::collection::vec(act(stops), 0..4), 3..4),
        prop::collection::vec(prop::collection::vec(act(stops), 0..3), 4..5),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_execution_for_each_trace(program in program(false)) {
        compare(&program);
    }

    #[test]
    fn undefined_behaviour_is_found_where_there_is_any(program in program(true)) {
        compare(&program);
    }
}
