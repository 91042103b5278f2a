//! The size of the detector's records, for dispatches of real size. The tests count nodes and
//! bytes, which are exact, not times.

use smallstep_semantics::concurrency::{Access, Agent, AtomicOp, Class, Detector, Kind, Ordering, Scope, Semantics, Topology};

fn access(workgroup: u32, local: u32, object: u32, word: u64, kind: Kind, instruction: u32) -> Access {
    let class = if object == 0 { Class::Uniform } else { Class::Workgroup };
    Access { agent: Agent { workgroup, local }, object, offset: 4 * word, bytes: 4, class, kind, instruction }
}

/// 65,536 invocations, all live, run 20 phases: a reduction in workgroup memory between barriers,
/// from and to a buffer.
#[test]
fn barrier_programs_cost_what_they_touch() {
    let (groups, size, phases) = (256u32, 256u32, 20u64);
    let topology = Topology::new(groups, size, 32).unwrap();
    let mut detector = Detector::new(topology);
    let barrier = Semantics::of(Ordering::AcquireRelease, &[Class::Workgroup]);
    for phase in 0..phases {
        for group in 0..groups {
            for local in 0..size {
                let own = u64::from(group * size + local);
                let mut touch = |object, word, kind, instruction| {
                    assert_eq!(detector.access(&access(group, local, object, word, kind, instruction)), None);
                };
                touch(0, own, Kind::Load, 1);
                touch(0, 1 << 20, Kind::Load, 2);
                touch(1 + group, u64::from(local), Kind::Store, 3);
                touch(0, own, Kind::Store, 4);
            }
            detector.workgroup_barrier(group, Scope::Workgroup, &barrier);
            for local in 0..size {
                for step in 1..4 {
                    let word = u64::from((local + (step << (phase % 7))) % size);
                    assert_eq!(detector.access(&access(group, local, 1 + group, word, Kind::Load, 5)), None);
                }
            }
            detector.workgroup_barrier(group, Scope::Workgroup, &barrier);
        }
    }
    // There are at most two nodes above the workgroup's own leaf, for any number of invocations
    // and phases.
    let last = topology.number(Agent { workgroup: 100, local: 7 });
    assert!(detector.order().state(last).1[Class::Workgroup as usize].nodes() <= 2);
    let words = u64::from(groups * size) * 2 + 1;
    let bytes = detector.footprint() as u64;
    println!("{} invocations, {words} words: {bytes} bytes, {} a word", groups * size, bytes / words);
    // Three neighbours read each word of workgroup memory, which costs a list. A word of the buffer
    // costs only its cell.
    assert!(bytes / words < 200, "{bytes}");
    for group in 0..groups {
        detector.forget(1 + group);
        detector.retire(group);
    }
    let bytes = detector.footprint() as u64;
    println!("without workgroup memory: {} a word of the buffer", bytes / (words / 2));
    assert!(bytes / (words / 2) < 100, "{bytes}");
}

/// 65,536 invocations add to one counter. Then a plain load races with the additions.
#[test]
fn one_counter_for_all() {
    let (groups, size) = (256u32, 256u32);
    let mut detector = Detector::new(Topology::new(groups, size, 32).unwrap());
    let add = Kind::Atomic { op: AtomicOp::ReadModifyWrite, scope: Scope::Device, semantics: Semantics::RELAXED };
    for group in 0..groups {
        for local in 0..size {
            assert_eq!(detector.access(&access(group, local, 0, 0, add, 1)), None);
        }
    }
    println!("relaxed counter: {} bytes", detector.footprint());
    assert!(detector.footprint() < 10_000);
    let race = detector.access(&access(3, 4, 0, 0, Kind::Load, 2)).expect("a plain load races with the additions");
    assert_eq!((race.first.agent, race.second.agent.workgroup), (Agent { workgroup: 0, local: 0 }, 3));
}

/// The same counter, but each addition acquires and releases. Every invocation happens after all
/// before it.
#[test]
fn a_chain_through_one_counter() {
    let (groups, size) = (64u32, 64u32);
    let topology = Topology::new(groups, size, 32).unwrap();
    let mut detector = Detector::new(topology);
    let semantics = Semantics::of(Ordering::AcquireRelease, &[Class::Uniform]);
    let add = Kind::Atomic { op: AtomicOp::ReadModifyWrite, scope: Scope::Device, semantics };
    for group in 0..groups {
        for local in 0..size {
            assert_eq!(detector.access(&access(group, local, 0, 0, add, 1)), None);
            assert_eq!(detector.access(&access(group, local, 0, 1, Kind::Store, 2)).is_some(), group + local > 0);
        }
    }
    let last = detector.order().state(groups * size - 1).1[Class::Uniform as usize].clone();
    assert!((0..groups * size - 1).all(|agent| last.get(agent) >= 1));
    assert!(last.nodes() < 10, "{}", last.nodes());
}
