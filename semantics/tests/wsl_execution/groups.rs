//! Compute entry points: grids, barriers, schedules, races.

use pretty_assertions::assert_eq;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::wsl::group::{Buffer, Dispatch, Ending, Schedule, Settings, Shown};
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::validate::validate;

#[track_caller]
fn run(text: &str, groups: [u32; 3], words: &[&[u32]], settings: &Settings) -> Ending {
    let found = validate(text);
    let program = found.program.unwrap_or_else(|| panic!("{:?}\n{text}", found.errors));
    let entry = &program.entry_points[0];
    let mut buffers = Buffer::of(&program, entry).expect("it has buffers only");
    assert_eq!(buffers.len(), words.len());
    for (buffer, words) in buffers.iter_mut().zip(words) {
        buffer.words = words.to_vec();
    }
    Dispatch { program: &program, text, entry, groups, buffers }.run(settings)
}

#[track_caller]
fn shown(text: &str, groups: [u32; 3], words: &[&[u32]], schedule: Schedule) -> Shown {
    match run(text, groups, words, &Settings { schedule, ways: 100_000, ..Settings::default() }) {
        Ending::Shown(shown) => *shown,
        other => panic!("{other:?}"),
    }
}

fn definite(buffer: &[Possible]) -> Vec<Option<u32>> {
    buffer.iter().map(Possible::only).collect()
}

const SCHEDULES: [Schedule; 4] = [Schedule::InOrder, Schedule::RoundRobin, Schedule::Random(7), Schedule::Random(8)];

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

#[test]
fn a_reduction_sums_under_every_schedule() {
    for schedule in SCHEDULES {
        let shown = shown(SUM, [2, 1, 1], &[&[1, 2, 3, 4, 10, 20, 30, 40], &[0, 0]], schedule);
        assert_eq!(definite(&shown.buffers[1]), [Some(10), Some(100)], "{schedule:?}");
        assert_eq!(shown.races, []);
    }
}

#[test]
fn without_the_barrier_it_races() {
    let text = SUM.replace("GroupMemoryBarrierWithGroupSync();", "DeviceMemoryBarrierWithGroupSync();");
    for schedule in SCHEDULES {
        // The threads meet, but the fence is not of the memory that they share.
        let shown = shown(&text, [1, 1, 1], &[&[1, 2, 3, 4], &[0]], schedule);
        assert!(!shown.races.is_empty(), "{schedule:?}");
        assert_eq!(definite(&shown.buffers[1]), [None], "{schedule:?}");
    }
}

#[test]
fn a_barrier_that_some_thread_never_reaches_is_reported() {
    let text = "[numthreads(2, 1, 1)] compute void main(uint lane : SV_GroupIndex) { if (lane == 1) AllMemoryBarrierWithGroupSync(); }";
    let Ending::Diverged(divergence) = run(text, [1, 1, 1], &[], &Settings::default()) else { panic!("it is not reported") };
    assert_eq!((divergence.waiting, divergence.other, divergence.at), (1, 0, None));
    // The same barrier in another iteration is another instance.
    let text = "[numthreads(2, 1, 1)] compute void main(uint lane : SV_GroupIndex) {
        for (uint i = 0; i < 2; i++) { if (i == lane) AllMemoryBarrierWithGroupSync(); } }";
    let Ending::Diverged(divergence) = run(text, [1, 1, 1], &[], &Settings::default()) else { panic!("it is not reported") };
    assert!(divergence.at.is_some());
    // Called from another place it is another instance too.
    let text = "void meet() { AllMemoryBarrierWithGroupSync(); }
        [numthreads(2, 1, 1)] compute void main(uint lane : SV_GroupIndex) { if (lane == 0) meet(); else meet(); }";
    assert!(matches!(run(text, [1, 1, 1], &[], &Settings::default()), Ending::Diverged(_)));
    // All of them: no divergence.
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
        let shown = shown(text, [1, 1, 1], &[&[0; 6]], schedule);
        assert_eq!(shown.races, [], "{schedule:?}");
        assert_eq!(definite(&shown.buffers[0]), [3, 3, 3, 1, 1, 1].map(Some), "{schedule:?}");
    }
    let shown = shown(&text.replace("3", "2"), [1, 1, 1], &[&[0; 4]], Schedule::All);
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
    let all = shown(text, [1, 1, 1], &[&[9, 9]], Schedule::All);
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
    for schedule in SCHEDULES.into_iter().chain([Schedule::All]) {
        let shown = shown(text, [1, 1, 1], &[&[0]], schedule);
        assert_eq!(definite(&shown.buffers[0]), [None], "{schedule:?}");
        assert_eq!(shown.races.len(), 1, "{schedule:?}");
    }
    // Two stores: either value, and nothing else.
    let text =
        "[numthreads(2, 1, 1)] compute void main(device uint[] out : register(u0), uint lane : SV_GroupIndex) { out[0] = lane + 1; }";
    for schedule in SCHEDULES {
        assert_eq!(shown(text, [1, 1, 1], &[&[0]], schedule).buffers[0], [Possible::Values(vec![1, 2])], "{schedule:?}");
    }
}

#[test]
fn hostile_dispatches_end_with_a_limit() {
    let text = "[numthreads(1024, 1024, 64)] compute void main() { }";
    assert!(matches!(run(text, [u32::MAX; 3], &[], &Settings::default()), Ending::Other(Outcome::Limit(_))));
    let text = "[numthreads(1, 1, 1)] compute void main() { while (true) { } }";
    assert!(matches!(run(text, [1; 3], &[], &Settings { fuel: 10_000, ..Settings::default() }), Ending::Other(Outcome::OutOfFuel)));
}
