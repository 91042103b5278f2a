//! All races of an execution, as WSL asks for them, against a list of all accesses. Whether two
//! accesses are ordered is found by counting barriers.

use std::collections::BTreeSet;

use smallstep_semantics::concurrency::{Access, AtomicOp, Class, Classes, Detector, Kind, Ordering, Rules, Scope, Semantics, Topology};
use smallstep_semantics::random::Random;
use smallstep_semantics::wsl::race::{ATOMIC, RULES};

/// An access that was made: the agent, its group, the number of barriers that the group had passed
/// for that memory, the kind of access, the word, and its place in the program.
#[derive(Clone, Copy, Debug)]
struct Made {
    agent: u32,
    group: u32,
    passed: u32,
    kind: Kind,
    word: (Class, u64),
    place: u32,
}

impl Made {
    /// Seed 004, "Memory model".
    fn races(&self, other: &Made) -> bool {
        let ordered = self.agent == other.agent || (self.group == other.group && self.passed != other.passed);
        let stores = |made: &Made| made.kind != Kind::Load;
        let atomic = |made: &Made| matches!(made.kind, Kind::Atomic { .. });
        self.word == other.word && (stores(self) || stores(other)) && !(atomic(self) && atomic(other)) && !ordered
    }
}

/// 3 groups of 12 agents, so that a word has more readers than a list keeps.
fn topology() -> Topology {
    Topology::new(3, 12, 12).unwrap()
}

/// Makes random accesses and barriers. Returns how many accesses race, or the error of
/// the detector.
fn compare(rules: Rules, seed: u64) -> Result<usize, String> {
    let mut random = Random::new(seed);
    let mut below = |n: u64| ((u128::from(random.bits()) * u128::from(n)) >> 64) as u32;
    let (agents, words, racing) = (2 + below(35), 1 + u64::from(below(3)), below(2) == 0);
    let (mut made, mut passed, mut raced) = (Vec::<Made>::new(), [[0u32; 2]; 3], 0);
    let mut detector = Detector::<u32>::with_rules(topology(), rules);
    for _ in 0..60 {
        if below(8) == 0 {
            let group = below(3);
            let classes: &[Class] = [&[Class::Uniform][..], &[Class::Workgroup], &[Class::Uniform, Class::Workgroup]][below(3) as usize];
            detector.workgroup_barrier(group, Scope::Workgroup, &Semantics::of(Ordering::AcquireRelease, classes));
            for class in classes {
                passed[group as usize][usize::from(*class == Class::Workgroup)] += 1;
            }
            continue;
        }
        let class = if below(2) == 0 { Class::Uniform } else { Class::Workgroup };
        let kind = [Kind::Load, Kind::Load, Kind::Store, ATOMIC][below(if racing { 4 } else { 2 }) as usize];
        let agent = below(u64::from(agents));
        let group = topology().agent(agent).workgroup;
        let word = (class, u64::from(below(words)));
        let passed = passed[group as usize][usize::from(class == Class::Workgroup)];
        let now = Made { agent, group, passed, kind, word, place: below(3) };
        let first: Vec<&Made> = made.iter().filter(|earlier: &&Made| earlier.races(&now)).collect();
        let access = Access {
            agent: topology().agent(agent),
            object: class as u32,
            offset: 4 * now.word.1,
            bytes: 4,
            class,
            kind,
            instruction: now.place,
        };
        let would = detector.races_with_a_write(&access);
        let expected: BTreeSet<String> = first.iter().map(|made| format!("{} {:?}", made.place, made.kind)).collect();
        let (mut said, mut wrong) = (BTreeSet::new(), None);
        detector.races(&access, |race| {
            let by = topology().number(race.first.agent);
            if !first.iter().any(|made| (made.agent, made.place, made.kind) == (by, race.first.instruction, race.first.kind)) {
                wrong = Some(by);
            }
            said.insert(format!("{} {:?}", race.first.instruction, race.first.kind));
        });
        let writes = first.iter().any(|made| made.kind != Kind::Load);
        if said != expected || would != writes || wrong.is_some() {
            return Err(format!("seed {seed}: {now:?} races with {said:?}, not {expected:?}; {wrong:?}; {would} {writes}\n{made:?}"));
        }
        raced += usize::from(!first.is_empty());
        made.push(now);
    }
    Ok(raced)
}

#[test]
fn every_race_is_found() {
    let (mut raced, mut none) = (0, 0);
    for seed in 0..20_000 {
        let races = compare(RULES, seed).unwrap_or_else(|wrong| panic!("{wrong}"));
        raced += races;
        none += usize::from(races == 0);
    }
    println!("20000 executions, {none} without a race; {raced} accesses race");
    assert!(raced > 100_000 && none > 2_000, "{raced} accesses race, {none} executions have no race");
}

#[test]
fn every_planted_bug_is_caught() {
    let bugs: &[(&str, Rules)] = &[
        ("the first race is enough", Rules { race_is_undefined: true, ..RULES }),
        ("only stores conflict", Rules { conflict: |a, b| a && b, ..RULES }),
        ("loads conflict with loads", Rules { conflict: |_, _| true, ..RULES }),
        ("atomics never exclude each other", Rules { same_locations: |_, _| false, ..RULES }),
        ("atomics exclude each other in a group", Rules { common: |_, _| Scope::Workgroup, ..RULES }),
        ("every fence is of all memory", Rules { ordered: |_| Classes::ALL, ..RULES }),
        ("no fence is of any memory", Rules { ordered: |_| Classes::NONE, ..RULES }),
        ("fences acquire nothing", Rules { acquires: |_, _| false, ..RULES }),
        ("fences release nothing", Rules { releases: |_, _| false, ..RULES }),
        ("a fence covers what follows it", Rules { next_epoch: |epoch| epoch, ..RULES }),
    ];
    let missed: Vec<&str> =
        bugs.iter().filter(|(_, rules)| (0..2_000).all(|seed| compare(*rules, seed).is_ok())).map(|(name, _)| *name).collect();
    assert!(missed.is_empty(), "not caught: {missed:?}");
    println!("{} planted bugs, all caught", bugs.len());
}

/// If all races are asked for, atomics do not race with each other, whatever their operations.
#[test]
fn operations_of_atomics_do_not_race() {
    let mut detector = Detector::<u32>::with_rules(topology(), RULES);
    for (agent, op) in [AtomicOp::Load, AtomicOp::Store, AtomicOp::ReadModifyWrite].into_iter().enumerate() {
        let kind = Kind::Atomic { op, scope: Scope::Device, semantics: Semantics::RELAXED };
        let agent = topology().agent(13 * agent as u32);
        let access = Access { agent, object: 0, offset: 0, bytes: 4, class: Class::Uniform, kind, instruction: 0 };
        assert_eq!(detector.access(&access), None);
    }
}
