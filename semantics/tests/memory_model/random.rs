//! Random executions against the oracle. Many of them synchronize, because they have few agents and
//! few locations and contain common idioms.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use smallstep_semantics::concurrency::{Access, Agent, AtomicOp, Class, Kind, Ordering, Rules, Scope, Semantics, Topology};

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

/// A random step. Objects 0 and 1 are Uniform, and object 2 is Workgroup.
pub fn step(agents: u32) -> impl Strategy<Value = Step> {
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

/// One agent writes, another reads, and some idiom synchronizes them, with random steps in between.
fn idiom() -> impl Strategy<Value = Vec<Step>> {
    let t = topology();
    let release = || (scope(), semantics(), scope(), semantics(), any::<bool>());
    let parts = (0u32..8, 0u32..8, 0u32..8, 0u32..2, release(), release(), prop::collection::vec(step(8), 0..3));
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

/// A flag is released, then replaced by a plain store that a barrier orders, then acquired.
fn replaced() -> impl Strategy<Value = Vec<Step>> {
    let t = topology();
    (0u32..4, 0u32..4, semantics(), semantics(), semantics(), any::<bool>()).prop_map(move |(a, b, release, between, acquire, go_on)| {
        let flag = |agent, kind| access(&t, agent, 2, 0, 4, Class::Workgroup, kind);
        let mut steps = vec![
            access(&t, a, 0, 0, 4, Class::Uniform, Kind::Store),
            flag(a, atomic(AtomicOp::Store, Scope::Workgroup, release)),
            flag(a, Kind::Store),
            Step::Barrier(vec![0, 1, 2, 3], Scope::Workgroup, between),
        ];
        if go_on {
            steps.push(flag(a, atomic(AtomicOp::ReadModifyWrite, Scope::Workgroup, Semantics::RELAXED)));
        }
        steps.push(flag(b, atomic(AtomicOp::Load, Scope::Workgroup, acquire)));
        steps.push(access(&t, b, 0, 0, 4, Class::Uniform, Kind::Load));
        steps
    })
}

/// Executions of all these kinds.
pub fn execution() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![
        prop::collection::vec(step(2), 2..12),
        prop::collection::vec(step(8), 2..14),
        idiom(),
        replaced(),
        (idiom(), idiom()).prop_map(|(a, b)| [a, b].concat()),
    ]
}

/// 40 workgroups of 20 invocations in subgroups of 6, so that clocks have several levels and
/// workgroups straddle their nodes.
fn wide_topology() -> Topology {
    Topology::new(40, 20, 6).unwrap()
}

/// The execution with its agents spread over the wide topology. Agents of one workgroup stay in one
/// workgroup, and a whole workgroup stays whole.
fn widen(steps: Vec<Step>) -> Vec<Step> {
    let t = wide_topology();
    let place = |agent: u32| Agent { workgroup: 25 + 14 * (agent / 4), local: [2, 5, 13, 17][agent as usize % 4] };
    let number = |agent: u32| t.number(place(agent));
    let widened = steps.into_iter().map(|step| match step {
        Step::Act(agent, Action::Access(access)) => Step::Act(number(agent), Action::Access(Access { agent: place(agent), ..access })),
        Step::Act(agent, action) => Step::Act(number(agent), action),
        Step::Barrier(agents, scope, semantics) if agents.len() == 4 => {
            Step::Barrier(t.instance(number(agents[0]), Scope::Workgroup).collect(), scope, semantics)
        }
        Step::Barrier(agents, scope, semantics) => Step::Barrier(agents.into_iter().map(number).collect(), scope, semantics),
    });
    widened.collect()
}

/// Runs that many executions. Returns how many of them race.
pub fn compare(rules: Rules, cases: u32, seed: u8) -> Result<u32, String> {
    run(topology(), rules, cases, seed, |steps| steps)
}

fn run(topology: Topology, rules: Rules, cases: u32, seed: u8, map: impl Fn(Vec<Step>) -> Vec<Step>) -> Result<u32, String> {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    let raced = std::cell::Cell::new(0);
    let result = runner.run(&execution(), |steps| {
        let answer = judge(topology, rules, &map(steps)).map_err(TestCaseError::fail)?;
        raced.set(raced.get() + u32::from(answer));
        Ok(())
    });
    result.map(|()| raced.get()).map_err(|e| match e {
        TestError::Fail(reason, _) => reason.to_string(),
        abort => abort.to_string(),
    })
}

#[test]
fn many_agents_change_nothing() {
    let raced = run(wide_topology(), Rules::MODEL, 1000, 3, widen).unwrap_or_else(|e| panic!("{e}"));
    assert!(raced > 200 && raced < 800, "{raced} of 1000 executions race: one of the answers is hardly tested");
}

#[test]
fn the_detector_is_the_model() {
    let cases = 20_000;
    let raced = compare(Rules::MODEL, cases, 1).unwrap_or_else(|e| panic!("{e}"));
    println!("{cases} executions, {raced} with a race");
    assert!(raced > cases / 5 && raced < cases * 4 / 5, "{raced} of {cases} executions race: one of the answers is hardly tested");
}
