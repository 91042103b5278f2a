//! Random executions against the oracle. They are made so that many synchronize: few agents, few locations, runs of the idioms.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use smallstep_semantics::spirv::concurrency::{AtomicOp, Class, Kind, Ordering, Rules, Scope, Semantics, Topology};

use super::oracle::Action;
use super::{Step, access, atomic, judge};

/// 2 workgroups of 4 invocations in subgroups of 2.
pub fn topology() -> Topology {
    Topology::new(2, 4, 2).unwrap()
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        1 => Just(Scope::Invocation), 2 => Just(Scope::Subgroup), 5 => Just(Scope::Workgroup), 2 => Just(Scope::QueueFamily),
        6 => Just(Scope::Device)
    ]
}

fn classes() -> impl Strategy<Value = Vec<Class>> {
    prop_oneof![
        3 => Just(vec![Class::Uniform]), 2 => Just(vec![Class::Workgroup]), 4 => Just(vec![Class::Uniform, Class::Workgroup]),
        1 => Just(vec![Class::Workgroup, Class::Image])
    ]
}

fn semantics() -> impl Strategy<Value = Semantics> {
    let ordering = prop_oneof![
        2 => Just(Ordering::Relaxed), 3 => Just(Ordering::Acquire), 3 => Just(Ordering::Release), 4 => Just(Ordering::AcquireRelease)
    ];
    (ordering, classes()).prop_map(|(ordering, classes)| Semantics::of(ordering, &classes))
}

fn op() -> impl Strategy<Value = AtomicOp> {
    prop_oneof![Just(AtomicOp::Load), Just(AtomicOp::Store), Just(AtomicOp::ReadModifyWrite)]
}

/// Objects 0 and 1 are Uniform, 2 is Workgroup: what an access may be.
fn step(agents: u32) -> impl Strategy<Value = Step> {
    let t = topology();
    let class = |object: u32| if object == 2 { Class::Workgroup } else { Class::Uniform };
    let plain = (
        0..agents,
        0u32..3,
        0u64..2,
        prop_oneof![4 => Just((0u64, 4u64)), 1 => Just((0, 1)), 1 => Just((1, 1)), 1 => Just((2, 2)), 1 => Just((0, 8)), 1 => Just((3, 2))],
        any::<bool>(),
    );
    let plain = plain.prop_map(move |(agent, object, word, (offset, bytes), store)| {
        access(&t, agent, object, 4 * word + offset, bytes, class(object), if store { Kind::Store } else { Kind::Load })
    });
    let sync = (
        0..agents,
        prop_oneof![Just(1u32), Just(2)],
        prop_oneof![6 => Just((0u64, 4u64)), 1 => Just((0, 8)), 1 => Just((4, 4)), 1 => Just((2, 2))],
        op(),
        scope(),
        semantics(),
    );
    let sync = sync.prop_map(move |(agent, object, (offset, bytes), op, scope, semantics)| {
        access(&t, agent, object, offset, bytes, class(object), atomic(op, scope, semantics))
    });
    let fence = (0..agents, scope(), semantics()).prop_map(|(agent, scope, semantics)| Step::Act(agent, Action::Fence(scope, semantics)));
    let barrier = (0u32..2, any::<bool>(), scope(), semantics()).prop_map(move |(group, whole, scope, semantics)| {
        let first = if agents > 4 { group * 4 } else { 0 };
        let agents = if whole { first..first + 4 } else { first..first + 2 };
        Step::Barrier(agents.collect(), scope, semantics)
    });
    prop_oneof![5 => plain, 6 => sync, 3 => fence, 2 => barrier]
}

/// A few agents that write and read, and synchronize in between by some idiom; then anything.
fn idiom() -> impl Strategy<Value = Vec<Step>> {
    let t = topology();
    let release = (scope(), semantics(), scope(), semantics(), any::<bool>());
    let parts = (0u32..8, 0u32..8, 0u32..8, 0u32..2, release.clone(), release, prop::collection::vec(step(8), 0..3));
    parts.prop_map(move |(a, b, c, flag, from, to, mut extra)| {
        let (flag, class) = if flag == 0 { (1, Class::Uniform) } else { (2, Class::Workgroup) };
        let mut steps = vec![access(&t, a, 0, 0, 4, Class::Uniform, Kind::Store)];
        if from.4 {
            steps.push(Step::Act(a, Action::Fence(from.2, from.3)));
        }
        steps.push(access(&t, a, flag, 0, 4, class, atomic(AtomicOp::Store, from.0, from.1)));
        steps.append(&mut extra);
        if c != a {
            steps.push(access(&t, c, flag, 0, 4, class, atomic(AtomicOp::ReadModifyWrite, from.0, to.1)));
        }
        steps.push(access(&t, b, flag, 0, 4, class, atomic(AtomicOp::Load, to.0, to.1)));
        if to.4 {
            steps.push(Step::Act(b, Action::Fence(to.2, to.3)));
        }
        steps.push(access(&t, b, 0, 0, 4, Class::Uniform, Kind::Load));
        steps
    })
}

/// Executions of every sort.
pub fn execution() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![
        prop::collection::vec(step(2), 2..12),
        prop::collection::vec(step(8), 2..14),
        idiom(),
        (idiom(), idiom()).prop_map(|(a, b)| [a, b].concat()),
    ]
}

/// Runs that many executions; how many raced.
pub fn compare(rules: Rules, cases: u32, seed: u8) -> Result<u32, String> {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    let raced = std::cell::Cell::new(0);
    let result = runner.run(&execution(), |steps| {
        let answer = judge(topology(), rules, &steps).map_err(TestCaseError::fail)?;
        raced.set(raced.get() + u32::from(answer));
        Ok(())
    });
    result.map(|()| raced.get()).map_err(|e| e.to_string())
}

#[test]
fn the_detector_is_the_model() {
    let cases = 20_000;
    let raced = compare(Rules::MODEL, cases, 1).unwrap_or_else(|e| panic!("{e}"));
    println!("{cases} executions, {raced} with a race");
    assert!(raced > cases / 5 && raced < cases * 4 / 5, "{raced} of {cases} executions race: one of the answers is hardly tested");
}
