//! Threadgroups: buffers, threadgroup memory, barriers and atomic operations.

use crate::{compiled, typed};
use smallstep_semantics::text::Span;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::machine::{Compiled, Ending, Grid, GridEnding, Memory, Settings, Stats, Waiting};

/// Runs `f`. Its parameters are `uint group`, `uint thread`, and references to the whole of buffer
/// 0, buffer 1 and so on.
#[track_caller]
fn dispatch(text: &str, grid: Grid, buffers: &mut [Vec<u32>], settings: &Settings) -> (GridEnding, Stats) {
    let sizes: Vec<u32> = buffers.iter().map(|b| b.len() as u32).collect();
    let mut arguments = |group, thread, words: &mut Vec<u32>| {
        words.extend([group, thread]);
        for (i, size) in sizes.iter().enumerate() {
            words.extend([i as u32, 0, *size, 0]);
        }
    };
    compiled(text, "f").dispatch(grid, &mut arguments, &mut Memory::of(buffers), settings).expect("the arguments fit")
}

#[track_caller]
fn done(text: &str, groups: u32, threads: u32, words: usize) -> Vec<u32> {
    let mut buffers = [vec![0; words]];
    let settings = Settings { fuel: 1 << 20, ..Settings::default() };
    assert_eq!(dispatch(text, Grid { groups, threads }, &mut buffers, &settings).0, GridEnding::Done);
    let [buffer] = buffers;
    buffer
}

fn place(text: &str, of: &str) -> Option<Span> {
    let start = text.find(of).expect("the place is there") as u32;
    Some(Span { start, end: start + of.len() as u32 })
}

#[test]
fn threads_share_buffers_and_their_group_s_memory() {
    let text = "void f(uint group, uint id, device uint[] out) {
            threadgroup uint[4] shared;
            shared[id] = group * 10u + id;
            GroupMemoryBarrierWithGroupSync();
            out[group * 4u + id] = shared[3u - id];
        }";
    // A declaration without initialiser stores nothing: the group begins with zeros.
    assert_eq!(done(text, 2, 4, 8), [3, 2, 1, 0, 13, 12, 11, 10]);
    let text = "void f(uint group, uint id, device uint[] out) {
            threadgroup uint[2] shared;
            shared[id] += 7u;
            GroupMemoryBarrierWithGroupSync();
            out[id] = shared[0] * 10u + shared[1];
        }";
    assert_eq!(done(text, 1, 2, 2), [77, 77]);
}

#[test]
fn structures_and_vectors_in_buffers() {
    let text = "struct S { int a; float3 v; }
        void set(device S* s, float x) { s->v.y = x; s->a += 1; }
        void f(uint group, uint id, device float4[] out) {
            threadgroup S s;
            s.v.x = 4.0;
            out[id].zw = float2(s.v.x, 2.0);
            out[id] = out[id] * 2.0;
            out[id].x += 1.0;
        }";
    let compiled = compiled(text, "f");
    let mut buffers = [vec![9; 8]];
    let mut arguments = |group, thread, words: &mut Vec<u32>| words.extend([group, thread, 0, 0, 2, 0]);
    let ended = compiled
        .dispatch(Grid { groups: 1, threads: 2 }, &mut arguments, &mut Memory::of(&mut buffers), &Settings::default())
        .expect("the arguments fit")
        .0;
    assert_eq!(ended, GridEnding::Done);
    let tiny = 18u32;
    let (one, eight, four) = (1f32.to_bits(), 8f32.to_bits(), 4f32.to_bits());
    assert_eq!(buffers[0], [one, tiny, eight, four, one, tiny, eight, four]);
    let text = "struct S { int a; float3 v; } void set(device S* s, int x) { s->a += x; s->v.y = 2.0; }
        S f(device S[] s, uint i) { set(&s[i], 5); S copy = s[i]; copy.a *= 2; return copy; }";
    let mut buffers = [vec![3; 20]];
    let ended = crate::compiled(text, "f").call(&[0, 4, 2, 0, 1], &mut buffers, &Settings::default()).expect("the arguments fit").0;
    assert_eq!(ended, Ending::Returned(vec![16, 3, 3, 3, 3, 2f32.to_bits(), 3, 0]));
    assert_eq!(buffers[0][12..], [8, 3, 3, 3, 3, 2f32.to_bits(), 3, 0]);
    assert_eq!(buffers[0][..12], [3; 12]);
}

#[test]
fn atomic_operations_give_the_old_value() {
    let of = |call: &str, start: u32| {
        let text =
            format!("void f(uint group, uint id, device atomic_int[] a, device int[] out) {{ int old = -1; {call}; out[id] = old; }}");
        let mut buffers = [vec![start], vec![0; 3]];
        assert_eq!(dispatch(&text, Grid { groups: 1, threads: 3 }, &mut buffers, &Settings::default()).0, GridEnding::Done);
        let [a, mut out] = buffers;
        out.push(a[0]);
        out.into_iter().map(|x| x as i32).collect::<Vec<_>>()
    };
    assert_eq!(of("InterlockedAdd(&a[0], 5, &old)", 1), [1, 6, 11, 16]);
    assert_eq!(of("InterlockedMin(&a[0], int(id) - 1, &old)", 7), [7, -1, -1, -1]);
    assert_eq!(of("InterlockedMax(&a[0], int(id) - 1, &old)", (-7i32) as u32), [-7, -1, 0, 1]);
    assert_eq!(of("InterlockedExchange(&a[0], int(id), &old)", 7), [7, 0, 1, 2]);
    assert_eq!(of("InterlockedAnd(&a[0], ~(1 << id), &old)", 7), [7, 6, 4, 0]);
    assert_eq!(of("InterlockedOr(&a[0], 1 << id, &old)", 8), [8, 9, 11, 15]);
    assert_eq!(of("InterlockedXor(&a[0], 3, &old)", 1), [1, 2, 1, 2]);
    assert_eq!(of("InterlockedCompareExchange(&a[0], int(id), int(id) + 1, &old)", 0), [0, 1, 2, 3]);
    assert_eq!(of("InterlockedCompareExchange(&a[0], 1, 9, &old)", 1), [1, 9, 9, 9]);
    // Unsigned comparisons in threadgroup memory. The old value goes to memory that the
    // threads share.
    let text = "void f(uint group, uint id, device uint[] out) {
            threadgroup atomic_uint a; threadgroup uint old; 
            uint own;
            InterlockedMax(&a, 4294967295u, &old);
            InterlockedMin(&a, 5u, &own);
            out[0] = own; out[1] = old;
        }";
    assert_eq!(done(text, 1, 1, 2), [u32::MAX, 0]);
}

#[test]
fn barriers_in_loops_and_functions_are_passed_together() {
    let text = "void swap(threadgroup uint[] shared, uint id) {
            uint other = shared[1u - id];
            GroupMemoryBarrierWithGroupSync();
            shared[id] = other + 1u;
            GroupMemoryBarrierWithGroupSync();
        }
        void f(uint group, uint id, device uint[] out) {
            threadgroup uint[2] shared;
            GroupMemoryBarrierWithGroupSync();
            shared[id] = id * 10u;
            GroupMemoryBarrierWithGroupSync();
            for (uint i = 0; i < 3u; i++) { swap(@shared, id); }
            out[id] = shared[id];
        }";
    // 0 10 becomes 11 1, then 2 12, then 13 3.
    assert_eq!(done(text, 1, 2, 2), [13, 3]);
}

#[test]
fn threads_at_different_barriers_diverge() {
    let settings = Settings::default();
    let grid = Grid { groups: 2, threads: 3 };
    let run = |text: &str| dispatch(text, grid, &mut [vec![0; 8]], &settings).0;
    let (group, device) = ("GroupMemoryBarrierWithGroupSync()", "DeviceMemoryBarrierWithGroupSync()");
    let text =
        format!("void f(uint group, uint id, device uint[] out) {{ if (group == 1u && id == 2u) {{ {group}; }} else {{ {device}; }} }}");
    let first = Waiting { thread: 3, place: place(&text, device) };
    assert_eq!(run(&text), GridEnding::Diverged(first, Waiting { thread: 5, place: place(&text, group) }));
    // One thread has ended.
    let text = format!("void f(uint group, uint id, device uint[] out) {{ if (id == 1u) {{ return; }} {group}; }}");
    let first = Waiting { thread: 0, place: place(&text, group) };
    assert_eq!(run(&text), GridEnding::Diverged(first, Waiting { thread: 1, place: None }));
    // The same call in different iterations.
    let text = format!(
        "void f(uint group, uint id, device uint[] out) {{ for (uint i = 0; i < 3u; i++) {{ if (i >= id && i < id + 1u) {{ {group}; }} }} }}"
    );
    let at = place(&text, group);
    assert_eq!(run(&text), GridEnding::Diverged(Waiting { thread: 0, place: at }, Waiting { thread: 1, place: at }));
    // Different calls of the function that has the barrier.
    let text =
        format!("void g() {{ {group}; }} void f(uint group, uint id, device uint[] out) {{ if (id == 0u) {{ g(); }} else {{ g(); }} }}");
    let at = place(&text, group);
    assert_eq!(run(&text), GridEnding::Diverged(Waiting { thread: 0, place: at }, Waiting { thread: 1, place: at }));
    // All threads make the same calls, so there is no divergence.
    let text =
        format!("void g() {{ {group}; }} void f(uint group, uint id, device uint[] out) {{ for (uint i = 0; i < 3u; i++) {{ g(); }} }}");
    assert_eq!(run(&text), GridEnding::Done);
}

#[test]
fn choices_are_each_thread_s_own() {
    let text = "void f(uint group, uint id, device uint[] out) { out[group * 2u + id] = 1u / (id - id); }";
    let settings = Settings { strategy: Strategy::Random(5), thread: 10, ..Settings::default() };
    let mut buffers = [vec![0; 4]];
    let (ended, stats) = dispatch(text, Grid { groups: 2, threads: 2 }, &mut buffers, &settings);
    assert_eq!((ended, stats.choices), (GridEnding::Done, 4));
    let expected: Vec<u32> = (10..14).map(|t| settings.strategy.choose(t, 0, 1 << 32).expect("one is chosen") as u32).collect();
    assert_eq!(buffers[0], expected);
    let open = dispatch(text, Grid { groups: 2, threads: 2 }, &mut buffers, &Settings::default()).0;
    assert_eq!(open, GridEnding::Stopped { thread: 0, ending: Ending::Open { place: place(text, "1u / (id - id)").expect("it is") } });
}

#[test]
fn references_from_outside_are_within_a_buffer() {
    let text = "struct S { float3 a; } float f(constant S[] s, uint i) { return s[i].a.y + float(s.length); }";
    let compiled = compiled(text, "f");
    let call = |arguments: &[u32]| compiled.call(arguments, &mut [vec![0; 4], vec![2f32.to_bits(); 11]], &Settings::default());
    assert_eq!(call(&[1, 3, 2, 0, 1]).expect("it fits").0, Ending::Returned(vec![4f32.to_bits()]));
    for wrong in [
        &[2, 0, 1, 0, 0][..],
        &[1, 4, 2, 0, 0],
        &[1, 0, 0, 0, 0],
        &[0, 0, 2, 0, 0],
        &[1, 0, u32::MAX, 0, 0],
        &[1, u32::MAX, 1, 0, 0],
        &[0, 0, 1],
        &[],
    ] {
        assert!(call(wrong).is_err(), "{wrong:?}");
    }
    let program = typed("int f(thread int* p) { return *p; } thread int* g() { int x; return &x; }");
    for id in [0, 1] {
        assert!(Compiled::new(&program, FunctionId(id)).is_err_and(|e| e.to_string().starts_with("unsupported: a pointer")));
    }
}
