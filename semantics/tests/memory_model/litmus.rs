//! Litmus tests by hand: the steps, whether they race, and why. The oracle must say the same.

use smallstep_semantics::concurrency::{AtomicOp, Class, Kind, Ordering, Rules, Scope, Semantics, Topology};

use super::oracle::Action;
use super::{Step, access, atomic, detect, judge};

/// 2 workgroups of 4 invocations in subgroups of 2.
fn topology() -> Topology {
    Topology::new(2, 4, 2).unwrap()
}

const DATA: u32 = 0;
const FLAG: u32 = 1;
const SHARED: u32 = 2;

fn plain(agent: u32, object: u32, kind: Kind) -> Step {
    let class = if object == SHARED { Class::Workgroup } else { Class::Uniform };
    access(&topology(), agent, object, 0, 4, class, kind)
}

fn flag(agent: u32, op: AtomicOp, scope: Scope, semantics: Semantics) -> Step {
    access(&topology(), agent, FLAG, 0, 4, Class::Uniform, atomic(op, scope, semantics))
}

fn fence(agent: u32, scope: Scope, semantics: Semantics) -> Step {
    Step::Act(agent, Action::Fence(scope, semantics))
}

fn sem(ordering: Ordering, classes: &[Class]) -> Semantics {
    Semantics::of(ordering, classes)
}

const RELAXED: Semantics = Semantics::RELAXED;

fn uniform(ordering: Ordering) -> Semantics {
    sem(ordering, &[Class::Uniform])
}

fn holds(name: &str, steps: &[Step], race_at: Option<usize>) {
    judge(topology(), Rules::MODEL, steps).unwrap_or_else(|e| panic!("{name}: {e}"));
    let found = detect(topology(), Rules::MODEL, steps).map(|(step, _)| step);
    assert_eq!(found, race_at, "{name}");
}

/// Message passing: one agent stores the data and then the flag. Another one loads the flag and
/// then the data.
fn message_passing(to: u32, write: (Scope, Semantics), read: (Scope, Semantics)) -> Vec<Step> {
    vec![
        plain(0, DATA, Kind::Store),
        flag(0, AtomicOp::Store, write.0, write.1),
        flag(to, AtomicOp::Load, read.0, read.1),
        plain(to, DATA, Kind::Load),
    ]
}

#[test]
fn message_passing_by_semantics() {
    use Ordering::{Acquire, Release};
    let device = |semantics| (Scope::Device, semantics);
    let case = |name, write, read, race| holds(name, &message_passing(5, device(write), device(read)), race);
    case("release and acquire synchronize", uniform(Release), uniform(Acquire), None);
    case("a relaxed store releases nothing", RELAXED, uniform(Acquire), Some(3));
    case("a relaxed load acquires nothing", uniform(Release), RELAXED, Some(3));
    case("relaxed atomics do not synchronize", RELAXED, RELAXED, Some(3));
    case("a release of workgroup memory does not order buffers", sem(Release, &[Class::Workgroup]), uniform(Acquire), Some(3));
    case("an acquire of workgroup memory does not order buffers", uniform(Release), sem(Acquire, &[Class::Workgroup]), Some(3));
    let both = [Class::Uniform, Class::Workgroup];
    case("more classes than needed do no harm", sem(Release, &both), sem(Acquire, &both), None);
    case("the classes that both have count", sem(Release, &both), uniform(Acquire), None);
}

#[test]
fn message_passing_by_scope() {
    use Ordering::{Acquire, Release};
    let (release, acquire) = (uniform(Release), uniform(Acquire));
    let case = |name, to, write, read, race| holds(name, &message_passing(to, (write, release), (read, acquire)), race);
    case("workgroup scope within the workgroup", 3, Scope::Workgroup, Scope::Workgroup, None);
    // The atomics are not mutually ordered, so they race themselves.
    case("workgroup scope seen from another workgroup", 5, Scope::Workgroup, Scope::Workgroup, Some(2));
    case("a reader with device scope does not help", 5, Scope::Workgroup, Scope::Device, Some(2));
    case("a writer with device scope does not help", 5, Scope::Device, Scope::Workgroup, Some(2));
    case("different scopes that include both", 3, Scope::Device, Scope::Workgroup, None);
    case("subgroup scope within the subgroup", 1, Scope::Subgroup, Scope::Subgroup, None);
    case("subgroup scope seen from another subgroup", 2, Scope::Subgroup, Scope::Subgroup, Some(2));
    case("queue family scope includes the dispatch", 7, Scope::QueueFamily, Scope::QueueFamily, None);
    case("invocation scope orders nobody", 1, Scope::Invocation, Scope::Invocation, Some(2));
}

#[test]
fn reading_too_early_synchronizes_with_nothing() {
    let steps = [
        plain(0, DATA, Kind::Store),
        flag(5, AtomicOp::Load, Scope::Device, uniform(Ordering::Acquire)),
        flag(0, AtomicOp::Store, Scope::Device, uniform(Ordering::Release)),
        plain(5, DATA, Kind::Load),
    ];
    holds("the load reads the initial value", &steps, Some(3));
}

#[test]
fn store_buffering() {
    let data = |agent: u32, kind| access(&topology(), agent, DATA, 0, 4, Class::Uniform, kind);
    let other = |agent: u32, kind| access(&topology(), agent, DATA, 4, 4, Class::Uniform, kind);
    let atomically = |agent, op, offset| {
        let kind = atomic(op, Scope::Device, RELAXED);
        access(&topology(), agent, FLAG, offset, 4, Class::Uniform, kind)
    };
    let plain = [data(0, Kind::Store), other(5, Kind::Store), other(0, Kind::Load), data(5, Kind::Load)];
    holds("plain store buffering", &plain, Some(2));
    let relaxed = [
        atomically(0, AtomicOp::Store, 0),
        atomically(5, AtomicOp::Store, 4),
        atomically(0, AtomicOp::Load, 4),
        atomically(5, AtomicOp::Load, 0),
    ];
    holds("relaxed atomics order nothing and race with nothing", &relaxed, None);
}

#[test]
fn release_sequences() {
    use AtomicOp::{Load, ReadModifyWrite, Store};
    let device = Scope::Device;
    let (release, acquire) = (uniform(Ordering::Release), uniform(Ordering::Acquire));
    let with = |between: Vec<Step>| {
        let mut steps = vec![plain(0, DATA, Kind::Store), flag(0, Store, device, release)];
        steps.extend(between);
        steps.extend([flag(5, Load, device, acquire), plain(5, DATA, Kind::Load)]);
        steps
    };
    holds("relaxed read-modify-writes by anyone go on", &with(vec![flag(2, ReadModifyWrite, device, RELAXED)]), None);
    holds("also by several", &with(vec![flag(2, ReadModifyWrite, device, RELAXED), flag(6, ReadModifyWrite, device, RELAXED)]), None);
    holds("a store by another ends it", &with(vec![flag(2, Store, device, RELAXED)]), Some(4));
    holds("a store by the releasing agent ends it too", &with(vec![flag(0, Store, device, RELAXED)]), Some(4));
    let resumed = with(vec![flag(2, Store, device, RELAXED), flag(2, ReadModifyWrite, device, RELAXED)]);
    holds("nothing goes on behind its end", &resumed, Some(5));
    // A read-modify-write that releases heads its own sequence, and does not end the older one.
    let second = with(vec![plain(2, SHARED, Kind::Load), flag(2, ReadModifyWrite, device, sem(Ordering::Release, &[Class::Workgroup]))]);
    holds("two sequences at once", &second, None);
}

#[test]
fn a_plain_store_hides_a_release() {
    let both = |ordering| sem(ordering, &[Class::Uniform, Class::Workgroup]);
    let flag = |agent, kind| access(&topology(), agent, SHARED, 0, 4, Class::Workgroup, kind);
    let with = |between: Option<Step>| {
        let mut steps = vec![
            plain(0, DATA, Kind::Store),
            flag(0, atomic(AtomicOp::Store, Scope::Workgroup, both(Ordering::Release))),
            flag(0, Kind::Store),
            Step::Barrier(vec![0, 1, 2, 3], Scope::Workgroup, sem(Ordering::AcquireRelease, &[Class::Workgroup])),
        ];
        steps.extend(between);
        steps.push(flag(1, atomic(AtomicOp::Load, Scope::Workgroup, both(Ordering::Acquire))));
        steps.push(plain(1, DATA, Kind::Load));
        steps
    };
    holds("the load reads the plain store, which released nothing", &with(None), Some(5));
    // By the letter of the model, the plain store is in no modification order. So the
    // read-modify-write comes next in the release sequence.
    let again = flag(0, atomic(AtomicOp::ReadModifyWrite, Scope::Workgroup, RELAXED));
    holds("a read-modify-write behind it is in the sequence again", &with(Some(again)), None);
}

#[test]
fn fences() {
    use AtomicOp::{Load, Store};
    use Ordering::{Acquire, AcquireRelease, Release};
    let device = Scope::Device;
    let passing = |release: Option<(Scope, Semantics)>, store, load, acquire: Option<(Scope, Semantics)>| {
        let mut steps = vec![plain(0, DATA, Kind::Store)];
        steps.extend(release.map(|(scope, semantics)| fence(0, scope, semantics)));
        steps.extend([flag(0, Store, device, store), flag(5, Load, device, load)]);
        steps.extend(acquire.map(|(scope, semantics)| fence(5, scope, semantics)));
        steps.push(plain(5, DATA, Kind::Load));
        steps
    };
    let (release, acquire) = (Some((device, uniform(Release))), Some((device, uniform(Acquire))));
    holds("fence to fence", &passing(release, RELAXED, RELAXED, acquire), None);
    holds("fence to atomic", &passing(release, RELAXED, uniform(Acquire), None), None);
    holds("atomic to fence", &passing(None, uniform(Release), RELAXED, acquire), None);
    holds("one fence is not enough", &passing(release, RELAXED, RELAXED, None), Some(4));
    holds("nor the other", &passing(None, RELAXED, RELAXED, acquire), Some(4));
    let both = Some((device, uniform(AcquireRelease)));
    holds("acquire-release fences", &passing(both, RELAXED, RELAXED, both), None);
    holds("a fence of acquire does not release", &passing(acquire, RELAXED, RELAXED, acquire), Some(5));
    let narrow = Some((Scope::Workgroup, uniform(Release)));
    holds("a fence of workgroup scope does not reach another", &passing(narrow, RELAXED, RELAXED, acquire), Some(5));
    let narrow = Some((Scope::Workgroup, uniform(Acquire)));
    holds("nor does the one behind", &passing(release, RELAXED, RELAXED, narrow), Some(5));
    let shared = Some((device, sem(Release, &[Class::Workgroup])));
    holds("the fence must order the atomic's class", &passing(shared, RELAXED, RELAXED, acquire), Some(5));
    let steps = [
        flag(0, Store, device, RELAXED),
        plain(0, DATA, Kind::Store),
        fence(0, device, uniform(Release)),
        flag(5, Load, device, RELAXED),
        fence(5, device, uniform(Acquire)),
        plain(5, DATA, Kind::Load),
    ];
    holds("the fence must stand before the store", &steps, Some(5));
    let steps = [
        plain(0, DATA, Kind::Store),
        fence(0, device, uniform(Release)),
        plain(0, DATA, Kind::Store),
        flag(0, Store, device, RELAXED),
        flag(5, Load, device, uniform(Acquire)),
        plain(5, DATA, Kind::Load),
    ];
    holds("what is behind the fence is not released", &steps, Some(5));
}

#[test]
fn barriers() {
    use Ordering::{Acquire, AcquireRelease, Release};
    let workgroup = |scope, semantics| Step::Barrier(vec![0, 1, 2, 3], scope, semantics);
    let with = |object, between: Vec<Step>| {
        let mut steps = vec![plain(0, object, Kind::Store)];
        steps.extend(between);
        steps.push(plain(3, object, Kind::Load));
        steps
    };
    let shared = |ordering| sem(ordering, &[Class::Workgroup]);
    holds("a barrier with semantics orders", &with(SHARED, vec![workgroup(Scope::Workgroup, shared(AcquireRelease))]), None);
    holds("a barrier without semantics orders nothing", &with(SHARED, vec![workgroup(Scope::Workgroup, RELAXED)]), Some(2));
    holds("a barrier that only releases", &with(SHARED, vec![workgroup(Scope::Workgroup, shared(Release))]), Some(2));
    holds("a barrier that only acquires", &with(SHARED, vec![workgroup(Scope::Workgroup, shared(Acquire))]), Some(2));
    holds("of the wrong storage class", &with(DATA, vec![workgroup(Scope::Workgroup, shared(AcquireRelease))]), Some(2));
    holds("memory scope subgroup across subgroups", &with(SHARED, vec![workgroup(Scope::Subgroup, shared(AcquireRelease))]), Some(2));
    holds("memory scope device is enough", &with(SHARED, vec![workgroup(Scope::Device, shared(AcquireRelease))]), None);
    let fenced = |release: Ordering, acquire: Ordering| {
        let uniform_fence = |agent, ordering| fence(agent, Scope::Workgroup, uniform(ordering));
        with(DATA, vec![uniform_fence(0, release), workgroup(Scope::Workgroup, RELAXED), uniform_fence(3, acquire)])
    };
    holds("fences on both sides of a bare barrier", &fenced(Release, Acquire), None);
    holds("a release fence behind it does not count", &fenced(Release, Release), Some(4));
    let fence_then = |semantics| with(DATA, vec![fence(0, Scope::Workgroup, uniform(Release)), workgroup(Scope::Workgroup, semantics)]);
    holds("a fence and a barrier that acquires", &fence_then(uniform(Acquire)), None);
    holds("a fence and a barrier that acquires another class", &fence_then(shared(AcquireRelease)), Some(3));
    let then_fence = |semantics| with(DATA, vec![workgroup(Scope::Workgroup, semantics), fence(3, Scope::Workgroup, uniform(Acquire))]);
    holds("a barrier that releases and a fence", &then_fence(uniform(Release)), None);
    let pair = Step::Barrier(vec![0, 1], Scope::Subgroup, shared(AcquireRelease));
    holds("a subgroup barrier is not about others", &with(SHARED, vec![pair]), Some(2));
    let other = Step::Barrier(vec![4, 5, 6, 7], Scope::Device, uniform(AcquireRelease));
    holds("nor is another workgroup's", &with(DATA, vec![workgroup(Scope::Device, uniform(AcquireRelease)), other]), None);
    let across = [
        plain(0, DATA, Kind::Store),
        workgroup(Scope::Device, uniform(AcquireRelease)),
        Step::Barrier(vec![4, 5, 6, 7], Scope::Device, uniform(AcquireRelease)),
        plain(4, DATA, Kind::Load),
    ];
    holds("barriers of two workgroups do not meet", &across, Some(3));
    let chain = [
        plain(1, DATA, Kind::Store),
        workgroup(Scope::Workgroup, uniform(AcquireRelease)),
        flag(0, AtomicOp::Store, Scope::Device, uniform(Release)),
        flag(4, AtomicOp::Load, Scope::Device, uniform(Acquire)),
        Step::Barrier(vec![4, 5, 6, 7], Scope::Workgroup, uniform(AcquireRelease)),
        plain(7, DATA, Kind::Store),
    ];
    holds("barrier, release, acquire, barrier", &chain, None);
    let before = [
        plain(0, SHARED, Kind::Load),
        plain(1, SHARED, Kind::Load),
        workgroup(Scope::Workgroup, shared(AcquireRelease)),
        plain(2, SHARED, Kind::Store),
        plain(1, SHARED, Kind::Load),
    ];
    holds("writes after reads are ordered, reads after writes are not", &before, Some(4));
}

#[test]
fn atomics_and_plain_accesses() {
    use AtomicOp::{Load, ReadModifyWrite, Store};
    let rmw = |agent| flag(agent, ReadModifyWrite, Scope::Device, RELAXED);
    let plain_flag = |agent, kind| plain(agent, FLAG, kind);
    holds("atomics do not race", &[rmw(0), rmw(5), rmw(2), flag(3, Store, Scope::Device, RELAXED)], None);
    holds("a plain load against an atomic write", &[rmw(0), plain_flag(5, Kind::Load)], Some(1));
    holds("a plain load against an atomic load", &[flag(0, Load, Scope::Device, RELAXED), plain_flag(5, Kind::Load)], None);
    holds("a plain store against an atomic load", &[flag(0, Load, Scope::Device, RELAXED), plain_flag(5, Kind::Store)], Some(1));
    holds("an atomic write against a plain load", &[plain_flag(5, Kind::Load), rmw(0)], Some(1));
    holds("one's own plain accesses", &[plain_flag(0, Kind::Store), rmw(0), plain_flag(0, Kind::Load)], None);
    let wide =
        |agent, bytes, offset, op| access(&topology(), agent, FLAG, offset, bytes, Class::Uniform, atomic(op, Scope::Device, RELAXED));
    holds("atomics of different sizes", &[rmw(0), wide(5, 8, 0, ReadModifyWrite)], Some(1));
    holds("atomic loads of different sizes", &[wide(0, 4, 4, Load), wide(5, 8, 0, Load)], None);
    holds("atomics of one size beside each other", &[rmw(0), wide(5, 4, 4, Store)], None);
    holds("within the workgroup, at workgroup scope", &[flag(0, ReadModifyWrite, Scope::Workgroup, RELAXED), rmw(3)], None);
    holds("across workgroups, at workgroup scope", &[flag(0, ReadModifyWrite, Scope::Workgroup, RELAXED), rmw(4)], Some(1));
}

#[test]
fn partial_overlaps() {
    let at = |agent, offset, bytes, kind| access(&topology(), agent, DATA, offset, bytes, Class::Uniform, kind);
    holds("bytes beside each other", &[at(0, 0, 1, Kind::Store), at(1, 1, 1, Kind::Store), at(2, 2, 2, Kind::Store)], None);
    holds("a word over a byte", &[at(0, 3, 1, Kind::Store), at(1, 0, 4, Kind::Load)], Some(1));
    holds("a double word over its second half", &[at(0, 4, 4, Kind::Store), at(1, 0, 8, Kind::Load)], Some(1));
    holds("halves", &[at(0, 0, 2, Kind::Store), at(1, 2, 2, Kind::Store), at(2, 4, 4, Kind::Store)], None);
    holds("unaligned stretches", &[at(0, 62, 4, Kind::Store), at(1, 66, 4, Kind::Store), at(2, 58, 4, Kind::Load)], None);
    holds("over the end of a page", &[at(0, 62, 4, Kind::Store), at(2, 65, 1, Kind::Load)], Some(1));
}

#[test]
fn a_race_tells_both_sides() {
    let steps = [plain(1, DATA, Kind::Store), plain(6, DATA, Kind::Load)];
    let (_, race) = detect(topology(), Rules::MODEL, &steps).unwrap();
    assert_eq!((race.first.instruction, race.second.instruction, race.object, race.offset), (0, 1, DATA, 0));
    let expected = "the load by invocation 2 of workgroup 1 and the earlier store by invocation 1 of workgroup 0 both access byte 0, \
                    and neither happens before the other";
    assert_eq!(race.to_string(), expected);
}
