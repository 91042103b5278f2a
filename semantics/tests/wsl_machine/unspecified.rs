//! Unspecified values by strategy: left open, the first one, or drawn.

use crate::{chosen, run_with};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::machine::{Ending, Settings};

fn settings(strategy: Strategy) -> Settings {
    Settings { strategy, fuel: 1000, ..Settings::default() }
}

/// The option that the strategy with this seed draws for choice `number` of thread 0.
fn choice(seed: u64, number: u64, options: u64) -> u32 {
    Strategy::Random(seed).choose(0, number, options).expect("something is chosen") as u32
}

#[test]
fn what_is_left_open_ends_the_run_there() {
    for (text, argument, place) in [
        ("int f(int x) { int y = x; return 1 / x; }", 0, "1 / x"),
        ("int f(uint i) { int[3] a; a[1] = 2; return a[i]; }", 3, "a[i]"),
        ("int f(uint i) { int[3] a; a[i] = 2; return a[1]; }", 3, "a[i]"),
        ("int f(uint i) { int[3] a; thread int[] r = @a; return r[i]; }", 3, "r[i]"),
        ("int f(uint i) { int3 a; return a[i]; }", 3, "a[i]"),
        ("int f(float x) { return int(x); }", 0x7fc0_0000, "int(x)"),
        ("enum E { A, B } int f(int x) { E e = E(x); return 1; }", 5, "E(x)"),
    ] {
        let start = text.find(place).expect("the place is there") as u32;
        match run_with(text, "f", &[argument], &settings(Strategy::Carry)).0 {
            Ending::Open { place: found } => assert_eq!((found.start, found.end), (start, start + place.len() as u32), "{text}"),
            other => panic!("{other:?}: {text}"),
        }
        // With the argument 1 nothing is open.
        let (ending, stats) = run_with(text, "f", &[1], &settings(Strategy::Carry));
        assert!(matches!(ending, Ending::Returned(_)) && stats.choices == 0, "{text}: {ending:?}");
    }
}

#[test]
fn an_index_out_of_bounds_is_some_index() {
    let text = "int f(uint i) { int[5] a; for (uint j = 0; j < 5u; j++) { a[j] = int(j) + 10; } return a[i]; }";
    assert_eq!(chosen(text, &[5], Strategy::First), [10]);
    for seed in 0..20 {
        assert_eq!(chosen(text, &[u32::MAX], Strategy::Random(seed)), [10 + choice(seed, 0, 5)]);
    }
    // A store changes one element, also through an array reference. Choices are numbered in order,
    // and the choice of the left side comes first.
    let text = "int[5] f(uint i) { int[5] a; for (uint j = 0; j < 5u; j++) { a[j] = int(j); } thread int[] r = @a; a[i] = a[i] + 10; r[i] = 20; return a; }";
    assert_eq!(chosen(text, &[5], Strategy::First), [20, 1, 2, 3, 4]);
    for seed in 0..20 {
        let mut expected = [0, 1, 2, 3, 4];
        let (to, from, last) = (choice(seed, 0, 5), choice(seed, 1, 5), choice(seed, 2, 5));
        expected[to as usize] = from + 10;
        expected[last as usize] = 20;
        assert_eq!(chosen(text, &[9], Strategy::Random(seed)), expected);
    }
    // The left side is reduced once.
    let text = "int[3] f(uint i) { int[3] a; a[i] += 5; a[i]++; return a; }";
    for seed in 0..10 {
        let mut expected = [0; 3];
        expected[choice(seed, 0, 3) as usize] += 5;
        expected[choice(seed, 1, 3) as usize] += 1;
        assert_eq!(chosen(text, &[7], Strategy::Random(seed)), expected);
    }
}

#[test]
fn a_value_that_may_be_any_is_zero_or_drawn_and_stays() {
    let text = "int2 f(int x) { int y = 5 / x; int z = y; return int2(y, z - y); }";
    assert_eq!(chosen(text, &[0], Strategy::First), [0, 0]);
    assert_eq!(chosen(text, &[0], Strategy::Random(3)), [choice(3, 0, 1 << 32), 0]);
    let text = "uint2 f(uint x) { return uint2(x % x, x / x); }";
    assert_eq!(chosen(text, &[0], Strategy::Random(3)), [choice(3, 0, 1 << 32), choice(3, 1, 1 << 32)]);
    // Each element has a choice of its own.
    let text = "int4 f(int4 x) { return 1 / x; }";
    assert_eq!(chosen(text, &[0, 1, 0, 2], Strategy::Random(8)), [choice(8, 0, 1 << 32), 1, choice(8, 1, 1 << 32), 0]);
}

#[test]
fn an_enum_that_is_loaded_is_valid() {
    // A value from outside may be none of the elements. Each load of it then chooses one of them,
    // numbered in order.
    let text = "enum E { A = 0, B = 7, C = 3 } int f(E e) { return int(e) * 100 + int(e); }";
    assert_eq!(chosen(text, &[3], Strategy::Carry), [303]);
    assert_eq!(chosen(text, &[4], Strategy::First), [0]);
    let values = [0, 7, 3];
    for seed in 0..10 {
        let (a, b) = (values[choice(seed, 0, 3) as usize], values[choice(seed, 1, 3) as usize]);
        assert_eq!(chosen(text, &[4], Strategy::Random(seed)), [a * 100 + b]);
    }
    // A copy of a structure keeps its words.
    let text = "enum E { A, B } struct S { E e; int i; } int f(S s) { S t = s; return t.e == E.A ? t.i : -1; }";
    assert_eq!(chosen(text, &[9, 5], Strategy::First), [5]);
    let copied = "enum E { A, B } struct S { E e; int i; } S f(S s) { S t = s; return t; }";
    assert_eq!(chosen(copied, &[9, 5], Strategy::Carry), [9, 5]);
}

#[test]
fn an_element_of_a_vector_out_of_bounds_is_one_of_them_or_the_default() {
    let text = "int f(int4 v, uint i) { return v[i]; }";
    assert_eq!(chosen(text, &[5, 6, 7, 8, 3], Strategy::Carry), [8]);
    let given = [5, 6, 7, 8, 0];
    for seed in 0..20 {
        assert_eq!(chosen(text, &[5, 6, 7, 8, 4], Strategy::Random(seed)), [given[choice(seed, 0, 5) as usize]]);
    }
    let text = "int4 f(int4 v, uint i) { v[i] = 9; return v; }";
    for seed in 0..20 {
        let mut expected = [5, 6, 7, 8];
        if let Some(place) = expected.get_mut(choice(seed, 0, 5) as usize) {
            *place = 9;
        }
        assert_eq!(chosen(text, &[5, 6, 7, 8, 4], Strategy::Random(seed)), expected);
    }
}
