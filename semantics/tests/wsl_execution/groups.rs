//! Compute entry points: grids, barriers, schedules and races.

use pretty_assertions::assert_eq;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::wsl::call::prepare;
use smallstep_semantics::wsl::execution::{Shared, Thread};
use smallstep_semantics::wsl::group::{Dispatch, Ending, Resource, Schedule, Shown};
use smallstep_semantics::wsl::memory::Memory;
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::validate::validate;
use smallstep_semantics::wsl::{At, Settings};
use std::sync::atomic::{AtomicU64, Ordering};

#[track_caller]
fn run(text: &str, groups: [u32; 3], words: &[&[u32]], settings: &Settings) -> Ending {
    let found = validate(text);
    let program = found.program.unwrap_or_else(|| panic!("{:?}\n{text}", found.errors));
    let entry = &program.entry_points[0];
    let mut resources = Resource::of(&program, entry).expect("it has buffers only");
    assert_eq!(resources.len(), words.len());
    for (resource, words) in resources.iter_mut().zip(words) {
        resource.fill(words);
    }
    Dispatch { program: &program, text, entry, groups, resources }.run(settings)
}

#[track_caller]
fn shown(text: &str, groups: [u32; 3], words: &[&[u32]], schedule: impl Into<Option<Schedule>>) -> Shown {
    match run(text, groups, words, &Settings { schedule: schedule.into(), ways: 100_000, ..Settings::default() }) {
        Ending::Shown(shown) => *shown,
        other => panic!("{other:?}"),
    }
}

fn definite(buffer: &[Possible]) -> Vec<Option<u32>> {
    buffer.iter().map(Possible::only).collect()
}

const SCHEDULES: [Schedule; 4] =
    [Schedule::InOrder, Schedule::RoundRobin { quantum: 1 }, Schedule::Random { seed: 7 }, Schedule::Random { seed: 8 }];

const SUM: &str = "
    [numthreads(4, 1, 1)]
    compute void sum(uint3 id : SV_DispatchThreadID, uint3 group : SV_GroupID, uint lane : SV_GroupIndex,
                     device uint[] data : register(u0), device uint[] out : register(u1)) {
        threadgroup uint[4] part;
        part[lane] = data[id.x];
        for (uint step = 2; step > 0; step = step / 2) {
            GroupMemoryBarrierWithGroupSync();
            if (lane < step) part[lane] += part[lane + step];
        }
        if (lane == 0) out[group.x] = part[0];
    }";

/// The number of steps of threads that [`count`] has seen.
static WATCHED: AtomicU64 = AtomicU64::new(0);

fn count(_: &Shared, _: &Memory, _: &Thread) {
    WATCHED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn every_step_of_a_dispatch_and_of_a_call_is_watched() {
    let settings = Settings { watch: Some(count), ..Settings::default() };
    let text = "[numthreads(3, 1, 1)] compute void main(uint i : SV_GroupIndex, device uint[] a : register(u0)) { a[i] = i + 1; }";
    let Ending::Shown(shown) = run(text, [2, 1, 1], &[&[0; 3]], &settings) else { panic!("it ends") };
    assert!(shown.steps > 6 && !shown.races.is_empty(), "{shown:?}");
    // Both groups store to the same words, so the dispatch runs a second time with these
    // words known.
    assert_eq!(WATCHED.swap(0, Ordering::Relaxed), 2 * shown.steps);
    let call = prepare("int f(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += i; return sum; }", "f(4)").expect("valid");
    let outcome = call.evaluate(&settings, &mut |_, _| {});
    let steps = outcome.observed().expect("it ends").steps;
    assert_eq!((WATCHED.load(Ordering::Relaxed), steps > 20), (steps, true));
}

#[test]
fn a_reduction_sums_under_every_schedule() {
    for schedule in SCHEDULES {
        let shown = shown(SUM, [2, 1, 1], &[&[1, 2, 3, 4, 10, 20, 30, 40], &[0, 0]], schedule.clone());
        assert_eq!(definite(&shown.buffers[1]), [Some(10), Some(100)], "{schedule:?}");
        assert_eq!(shown.races, []);
    }
}

#[test]
fn without_the_barrier_it_races() {
    let text = SUM.replace("GroupMemoryBarrierWithGroupSync();", "DeviceMemoryBarrierWithGroupSync();");
    for schedule in SCHEDULES {
        // The threads meet, but the fence does not cover the memory that they share.
        let shown = shown(&text, [1, 1, 1], &[&[1, 2, 3, 4], &[0]], schedule.clone());
        assert!(!shown.races.is_empty(), "{schedule:?}");
        assert_eq!(definite(&shown.buffers[1]), [None], "{schedule:?}");
    }
}

/// A run that ends at the first race reports one race after fewer steps. A run without a race is
/// not changed.
#[test]
fn a_run_may_end_at_the_first_race() {
    let racy = SUM.replace("GroupMemoryBarrierWithGroupSync();", "DeviceMemoryBarrierWithGroupSync();");
    for (text, races) in [(racy.as_str(), true), (SUM, false)] {
        for schedule in SCHEDULES {
            let ended = |until_race| {
                let settings = Settings { schedule: Some(schedule.clone()), until_race, ..Settings::default() };
                match run(text, [1, 1, 1], &[&[1, 2, 3, 4], &[0]], &settings) {
                    Ending::Shown(shown) => *shown,
                    other => panic!("{other:?}"),
                }
            };
            let (all, first) = (ended(false), ended(true));
            if races {
                assert_eq!(first.races.len(), 1, "{schedule:?}");
                let pair = |shown: &Shown| (shown.races[0].first.instruction, shown.races[0].second.instruction);
                assert!(pair(&all) == pair(&first) && first.steps < all.steps && !all.races.is_empty(), "{schedule:?}");
            } else {
                assert_eq!(first, all, "{schedule:?}");
            }
        }
    }
}

#[test]
fn a_barrier_that_some_thread_never_reaches_is_reported() {
    let text = "[numthreads(2, 1, 1)] compute void main(uint lane : SV_GroupIndex) { if (lane == 1) AllMemoryBarrierWithGroupSync(); }";
    let Ending::Diverged(divergence) = run(text, [1, 1, 1], &[], &Settings::default()) else { panic!("it is not reported") };
    assert_eq!((divergence.waiting, divergence.other, divergence.at), (1, 0, None));
    // The barrier in another iteration is another instance of it.
    let text = "[numthreads(2, 1, 1)] compute void main(uint lane : SV_GroupIndex) {
        for (uint i = 0; i < 2; i++) { if (i == lane) AllMemoryBarrierWithGroupSync(); } }";
    let Ending::Diverged(divergence) = run(text, [1, 1, 1], &[], &Settings::default()) else { panic!("it is not reported") };
    assert!(divergence.at.is_some());
    // A barrier that is called from another place is another instance too.
    let text = "void meet() { AllMemoryBarrierWithGroupSync(); }
        [numthreads(2, 1, 1)] compute void main(uint lane : SV_GroupIndex) { if (lane == 0) meet(); else meet(); }";
    assert!(matches!(run(text, [1, 1, 1], &[], &Settings::default()), Ending::Diverged(_)));
    // All threads make the same calls, so there is no divergence.
    let text = text.replace("if (lane == 0) meet(); else meet();", "meet(); for (uint i = 0; i < 3; i++) meet();");
    assert!(matches!(run(&text, [1, 1, 1], &[], &Settings::default()), Ending::Shown(_)));
}

#[test]
fn an_empty_entry_point_ends() {
    let text = "[numthreads(2, 1, 1)] compute void main() { }";
    assert!(matches!(run(text, [2, 1, 1], &[], &Settings::default()), Ending::Shown(_)));
}

#[test]
fn atomics_count_and_do_not_race() {
    let text = "[numthreads(3, 1, 1)] compute void main(device uint[] out : register(u0), uint lane : SV_GroupIndex) {
        threadgroup atomic_uint count;
        uint old;
        InterlockedAdd(&count, 1, &old);
        AllMemoryBarrierWithGroupSync();
        uint all;
        InterlockedAdd(&count, 0, &all);
        out[lane] = all;
        out[3 + old] = 1;
    }";
    for schedule in SCHEDULES {
        let shown = shown(text, [1, 1, 1], &[&[0; 6]], schedule.clone());
        assert_eq!(shown.races, [], "{schedule:?}");
        assert_eq!(definite(&shown.buffers[0]), [3, 3, 3, 1, 1, 1].map(Some), "{schedule:?}");
    }
    let shown = shown(&text.replace("3", "2"), [1, 1, 1], &[&[0; 4]], None);
    assert!(shown.complete && shown.ways > 1);
    assert_eq!((definite(&shown.buffers[0]), shown.races), ([2, 2, 1, 1].map(Some).to_vec(), vec![]));
}

#[test]
fn every_schedule_shows_every_order_of_atomics() {
    let text = "[numthreads(2, 1, 1)] compute void main(device uint[] out : register(u0), uint lane : SV_GroupIndex) {
        threadgroup atomic_uint turn;
        uint old;
        InterlockedExchange(&turn, lane + 1, &old);
        out[lane] = old;
    }";
    let all = shown(text, [1, 1, 1], &[&[9, 9]], None);
    let of = |values: &[u32]| Possible::Values(values.to_vec());
    assert_eq!(all.buffers[0], [of(&[0, 2]), of(&[0, 1])]);
    assert_eq!(definite(&shown(text, [1, 1, 1], &[&[9, 9]], Schedule::InOrder).buffers[0]), [Some(0), Some(1)]);
}

#[test]
fn loads_that_race_are_unspecified_whichever_comes_first() {
    let text = "[numthreads(2, 1, 1)] compute void main(device uint[] out : register(u0), uint lane : SV_GroupIndex) {
        threadgroup uint x;
        if (lane == 0) out[0] = x; else x = 5;
    }";
    for schedule in SCHEDULES.into_iter().map(Some).chain([None]) {
        let shown = shown(text, [1, 1, 1], &[&[0]], schedule.clone());
        assert_eq!(definite(&shown.buffers[0]), [None], "{schedule:?}");
        assert_eq!(shown.races.len(), 1, "{schedule:?}");
    }
    // Two stores leave either value, and nothing else.
    let text =
        "[numthreads(2, 1, 1)] compute void main(device uint[] out : register(u0), uint lane : SV_GroupIndex) { out[0] = lane + 1; }";
    for schedule in SCHEDULES {
        assert_eq!(shown(text, [1, 1, 1], &[&[0]], schedule.clone()).buffers[0], [Possible::Values(vec![1, 2])], "{schedule:?}");
    }
}

#[test]
fn every_load_that_races_is_unspecified() {
    // The second load follows the first load of its thread. In some order, both come before
    // the store.
    let text = "[numthreads(2, 1, 1)] compute void main(device uint[] out : register(u0), uint lane : SV_GroupIndex) {
        threadgroup uint x;
        threadgroup uint y;
        if (lane == 0) { out[0] = x; out[1] = x; out[2] = y; } else { x = 5; }
    }";
    for schedule in SCHEDULES.into_iter().map(Some).chain([None]) {
        let shown = shown(text, [1, 1, 1], &[&[9; 3]], schedule.clone());
        assert_eq!(definite(&shown.buffers[0]), [None, None, Some(0)], "{schedule:?}");
        assert_eq!(shown.races.len(), 2, "{schedule:?}: a pair of places each");
    }
    // Of the two stores that race, one is by the thread that loads.
    let text = "[numthreads(2, 1, 1)] compute void main(device uint[] out : register(u0), uint lane : SV_GroupIndex) {
        threadgroup uint x;
        x = lane + 1;
        if (lane == 1) { out[0] = x; out[1] = x; }
    }";
    for schedule in SCHEDULES.into_iter().map(Some).chain([None]) {
        assert_eq!(definite(&shown(text, [1, 1, 1], &[&[9; 2]], schedule.clone()).buffers[0]), [None, None], "{schedule:?}");
    }
    // A race in one iteration of a loop with barriers, and in no other.
    let text = "[numthreads(2, 1, 1)] compute void main(device uint[] out : register(u0), uint lane : SV_GroupIndex) {
        threadgroup uint x;
        for (uint i = 0; i < 3; i++) {
            if (lane == 0) { out[i] = x; }
            if (lane == 1 && i == 1) { x = 7; }
            AllMemoryBarrierWithGroupSync();
        }
    }";
    for schedule in SCHEDULES.into_iter().map(Some).chain([None]) {
        assert_eq!(definite(&shown(text, [1, 1, 1], &[&[9; 3]], schedule.clone()).buffers[0]), [Some(0), None, Some(7)], "{schedule:?}");
    }
}

#[test]
fn an_atomic_operation_that_races_is_unspecified_whichever_comes_first() {
    let text = "[numthreads(2, 1, 1)] compute void main(device atomic_uint[] x : register(u0), device uint[] out : register(u1),
                                                        device uint[] plain : register(u0), uint lane : SV_GroupIndex) {
        uint old;
        if (lane == 0) { InterlockedAdd(&x[0], 1, &old); out[0] = old; InterlockedAdd(&x[1], 1, &old); out[1] = old; } else { plain[0] = 5; }
    }";
    for schedule in SCHEDULES.into_iter().map(Some).chain([None]) {
        let shown = shown(text, [1, 1, 1], &[&[1, 2], &[9, 9]], schedule.clone());
        assert_eq!(definite(&shown.buffers[1]), [None, Some(2)], "{schedule:?}");
    }
}

#[test]
fn a_register_holds_as_many_elements_of_each_type_as_there_is_room_for() {
    for (first, second) in [("uint", "uint4"), ("uint4", "uint")] {
        let text = format!(
            "[numthreads(1, 1, 1)] compute void main(device {first}[] a : register(u0), device {second}[] b : register(u0), device uint[] out : register(u1)) {{
                out[0] = a.length; out[1] = b.length; b[1]{} = 7; out[2] = {};
            }}",
            if first == "uint" { ".x" } else { "" },
            if first == "uint" { "a[4]" } else { "a[0].y" }
        );
        let shown = shown(&text, [1, 1, 1], &[&[1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9], &[0; 3]], Schedule::InOrder);
        let lengths = if first == "uint" { [Some(12), Some(3)] } else { [Some(3), Some(12)] };
        assert_eq!(definite(&shown.buffers[1])[..2], lengths, "{first} and {second}");
        assert_eq!(definite(&shown.buffers[1])[2], Some(7), "{first} and {second}");
    }
}

#[test]
fn orders_that_no_thread_can_tell_apart_are_one() {
    // Each of 3 threads makes 4 atomic operations, on a word of its own.
    let text = "[numthreads(3, 1, 1)] compute void main(device uint[] out : register(u0), uint lane : SV_GroupIndex) {
        threadgroup atomic_uint[3] own;
        threadgroup atomic_uint all;
        uint old;
        for (uint i = 0; i < 4; i++) { InterlockedAdd(&own[lane], i, &old); }
        out[lane] = old;
    }";
    let apart = shown(text, [1, 1, 1], &[&[9; 3]], None);
    assert_eq!((apart.ways, apart.complete), (1, true));
    assert_eq!(definite(&apart.buffers[0]), [Some(3); 3]);
    // Each thread makes one of its operations on a shared word: 3! orders.
    let text = text.replace("out[lane]", "InterlockedAdd(&all, 1, &old); out[lane]");
    let one = shown(&text, [1, 1, 1], &[&[9; 3]], None);
    assert_eq!((one.ways, one.complete), (6, true));
    assert_eq!(one.buffers[0], vec![Possible::Values(vec![0, 1, 2]); 3]);
}

#[test]
fn orders_and_unspecified_values_are_followed_together() {
    // The thread that comes first decides the value of 1 / 0. Both ways of both orders are seen,
    // each once.
    let text = "[numthreads(2, 1, 1)] compute void main(device uint[] out : register(u0), uint lane : SV_GroupIndex) {
        threadgroup atomic_uint turn;
        uint old;
        bool b = 1u / lane == 1u;
        InterlockedExchange(&turn, lane + 1, &old);
        if (lane == 0) { if (1u / lane > 7u) { old += 10; } }
        out[lane] = old;
    }";
    let all = shown(text, [1, 1, 1], &[&[9, 9]], None);
    assert!(all.complete);
    assert_eq!(all.ways, 4);
    assert_eq!(all.buffers[0], [Possible::Values(vec![0, 2, 10, 12]), Possible::Values(vec![0, 1])]);
}

#[test]
fn hostile_dispatches_end_with_a_limit() {
    let text = "[numthreads(1024, 1024, 64)] compute void main() { }";
    assert!(matches!(run(text, [u32::MAX; 3], &[], &Settings::default()), Ending::Other(Outcome::Limit(_))));
    let text = "[numthreads(2, 1, 1)] compute void main(uint lane : SV_GroupIndex) { if (lane == 1) while (true) { } }";
    for schedule in SCHEDULES.into_iter().map(Some).chain([None]) {
        let ending = run(text, [1; 3], &[], &Settings { fuel: 10_000, schedule: schedule.clone(), ..Settings::default() });
        let Ending::OutOfFuel(At { thread, at }) = ending else { panic!("{ending:?}") };
        assert_eq!(thread, 1, "{schedule:?}");
        assert!(text[at.start as usize..].starts_with("true) { }"), "{schedule:?}: {:?}", &text[at.start as usize..]);
    }
}
