//! Limits of fuel, sizes and nesting.

use crate::{compiled, function, int, run_with, typed};
use smallstep_semantics::outcome::TimeLimit;
use smallstep_semantics::wsl::machine::{Compiled, Ending, Grid, GridEnding, MAX_WORDS, Memory, Refusal, Settings};
use std::fmt::Write;
use std::time::Duration;

#[track_caller]
fn refused(text: &str) -> String {
    let program = typed(text);
    match Compiled::new(&program, function(&program, "f")) {
        Err(refusal) => refusal.to_string(),
        Ok(_) => panic!("it is taken: {}", &text[..text.len().min(200)]),
    }
}

#[test]
fn fuel_is_spent_by_iterations_and_calls() {
    let text = "void g() { } int f(int n) { int s = 0; for (int i = 0; i < n; i++) { s += i; g(); } do { s++; } while (s < 0); return s; }";
    let run = |fuel| run_with(text, "f", &[10], &Settings { fuel, ..Settings::default() });
    let (ending, stats) = run(21);
    assert_eq!((ending, stats.fuel), (Ending::Returned(vec![46]), 21));
    let at = text.rfind("do {").expect("it is there") as u32;
    match run(20) {
        (Ending::OutOfFuel { place }, stats) => assert_eq!((place.start, stats.fuel), (at, 20)),
        other => panic!("{other:?}"),
    }
    for fuel in 0..20 {
        assert!(matches!(run(fuel).0, Ending::OutOfFuel { .. }), "{fuel}");
    }
    for endless in [
        "for (;;) { }",
        "while (true) { }",
        "do { } while (true);",
        "do { continue; } while (true);",
        "for (;;) { for (;;) { break; } continue; }",
    ] {
        let text = format!("void f() {{ {endless} }}");
        assert!(
            matches!(run_with(&text, "f", &[], &Settings { fuel: 1000, ..Settings::default() }).0, Ending::OutOfFuel { .. }),
            "{endless}"
        );
    }
    // Large copies take more than one step.
    let text = "void f() { int[10000] a; int[10000] b; for (int i = 0; i < 10; i++) { a = b; } }";
    assert_eq!(run_with(text, "f", &[], &Settings::default()).1.fuel, 10 + 12 * 9);
}

/// With a time limit, a run goes in parts. It ends and counts as it does without a limit. If a part
/// has too little fuel for an instruction, even the most expensive one, the next part continues at
/// this instruction.
#[test]
fn a_run_in_parts_is_the_run() {
    let text = "int f(int n) { int[10000] a; int[10000] b; int s = 0; for (int i = 0; i < n; i++) { s = s * 3 + i; \
                if ((i & 1023) == 0) a = b; } return s; }";
    let far = TimeLimit::from_now(Duration::from_secs(3600));
    for (n, fuel) in [(300_000, u64::MAX), (300_000, 200_000), (65_000, 65_536), (10, 5)] {
        let run = |time| run_with(text, "f", &[n], &Settings { fuel, time, count: true, ..Settings::default() });
        let (whole, parts) = (run(None), run(far));
        assert_eq!(parts, whole, "{n} iterations with {fuel}");
    }
    let largest = format!("void f() {{ int[{0}] a; int[{0}] b; a = b; a = b; }}", MAX_WORDS / 2 - 64);
    let run = |time| run_with(&largest, "f", &[], &Settings { time, ..Settings::default() });
    assert_eq!(run(far).1.fuel, run(None).1.fuel);
    let now = TimeLimit::from_now(Duration::ZERO);
    let (ending, _) = run_with(text, "f", &[1], &Settings { time: now, ..Settings::default() });
    assert!(matches!(ending, Ending::Limit { limit, .. } if limit.what == "milliseconds"), "{ending:?}");
}

#[test]
fn functions_that_call_others_twice_take_fuel_not_memory() {
    let mut text = String::from("void f0() { } ");
    for i in 1..60 {
        let _ = write!(text, "void f{i}() {{ f{0}(); f{0}(); }} ", i - 1);
    }
    text.push_str("void f() { f59(); }");
    assert!(matches!(run_with(&text, "f", &[], &Settings { fuel: 100_000, ..Settings::default() }).0, Ending::OutOfFuel { .. }));
}

#[test]
fn a_long_loop_needs_no_more_memory_than_a_short_one() {
    let text = "int f(int n) { int s = 0; for (int i = 0; i < n; i++) { int[4] a; a[1] = i; s = s + a[1]; } return s; }";
    let compiled = compiled(text, "f");
    assert!(compiled.words() < 200, "{}", compiled.words());
    let (ending, stats) = compiled.call(&[10_000_000], &mut [], &Settings::default()).expect("the arguments fit");
    assert_eq!((ending, stats.fuel), (Ending::Returned(vec![(0..10_000_000).fold(0u32, u32::wrapping_add)]), 10_000_000));
}

#[test]
fn sizes_are_limited_before_anything_is_allocated() {
    let limit = format!("limit exceeded: more than {MAX_WORDS} words of memory of a thread");
    assert_eq!(refused("int f() { int[4000000000] a; return a[0]; }"), limit);
    assert_eq!(refused("int f() { int[65536][65536][65536][65536] a; return 0; }"), limit);
    assert_eq!(refused("struct S { int[60000000] a; int[60000000] b; } int f() { S s; return s.b[0]; }"), limit);
    assert_eq!(refused("int f() { int[30000000] a; int[30000000] b; int[30000000] c; return 0; }"), limit);
    assert_eq!(refused("int f(int[4000000000] a) { return a[1]; }"), limit);
    assert_eq!(refused("int[4000000000] g() { int[4000000000] a; return a; } int f() { return g()[1]; }"), limit);
    assert!(refused("void f() { threadgroup int[4000000000] a; }").starts_with("limit exceeded"));
    // Code that is not reached is not compiled.
    assert_eq!(int("int g() { int[4000000000] a; return a[0]; } int f() { return 3; }", &[]), 3);
    // The variables of all threads of a group count together.
    let compiled = compiled("void f() { int[1000000] a; a[1] = 1; }", "f");
    let grid = Grid { groups: 1, threads: 1000 };
    assert!(compiled.dispatch(grid, &mut |_, _, _| {}, &mut Memory::of(&mut []), &Settings::default()).is_err());
    let grid = Grid { groups: 1, threads: u32::MAX };
    assert!(compiled.dispatch(grid, &mut |_, _, _| {}, &mut Memory::of(&mut []), &Settings::default()).is_err());
    // Threads that do nothing take fuel.
    let compiled = crate::compiled("void f() { }", "f");
    let run = |fuel| {
        let settings = Settings { fuel, ..Settings::default() };
        compiled
            .dispatch(Grid { groups: u32::MAX, threads: 2 }, &mut |_, _, _| {}, &mut Memory::of(&mut []), &settings)
            .expect("it is small")
    };
    let (ended, stats) = run(1001);
    assert!(matches!(ended, GridEnding::Stopped { thread: 1001, ending: Ending::OutOfFuel { .. } }), "{ended:?}");
    assert_eq!(stats.fuel, 1001);
}

#[test]
fn setters_deep_within_setters_are_limited() {
    let mut text =
        String::from("struct S { int n; } S operator.s(S s) { return s; } S operator.s=(S s, S t) { return t; } int f() { S s; s");
    text.push_str(&".s".repeat(5000));
    text.push_str(".n = 1; return s.n; }");
    // Each setter reads the whole again, which takes some 12 million getters.
    assert_eq!(refused(&text), "limit exceeded: more than 4194304 instructions");
    let text = text.replace(&".s".repeat(5000), &".s".repeat(300));
    assert_eq!(int(&text, &[]), 1);
}

#[test]
fn nesting_is_limited_by_memory_alone() {
    // Validation allows 10,000 nodes within each other.
    const N: usize = 4900;
    let nested = |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(N), close.repeat(N));
    let parentheses = format!("{}x{}", "(".repeat(9900), ")".repeat(9900));
    assert_eq!(int(&format!("int f(int x) {{ return {parentheses}; }}"), &[7]), 7);
    assert_eq!(int(&format!("int f(int x) {{ return {}; }}", nested("(1 + ", "x", ")")), &[7]), 7 + N as i32);
    assert_eq!(int(&format!("int f(int x) {{ return {}; }}", nested("-(", "x", ")")), &[7]), 7);
    assert_eq!(int(&format!("int f(int x) {{ {} return x; }}", nested("{ x++; ", "", "}")), &[7]), 7 + N as i32);
    assert_eq!(int(&format!("int f(int x) {{ {} return x; }}", nested("if (x >= 0) { x++; ", "", "}")), &[7]), 7 + N as i32);
    assert_eq!(int(&format!("int f(int x) {{ {} return x; }}", nested("do { x++; ", "", "} while (x < 0);")), &[7]), 7 + N as i32);
    assert_eq!(int(&format!("int f(int x) {{ return {}; }}", nested("(x > 0 ? ", "x", ": 0)")), &[7]), 7);
    assert_eq!(int(&format!("int f(int x) {{ if ({}) {{ return 1; }} return 0; }}", nested("(true && ", "x == 7", ")")), &[7]), 1);
    assert_eq!(int(&format!("int f(int x) {{ bool b = {}; return b ? 1 : 0; }}", nested("!(", "x == 7", ")")), &[7]), 1);
    assert_eq!(int(&format!("int g(int x) {{ return x + 1; }} int f(int x) {{ return {}; }}", nested("g(", "x", ")")), &[7]), 7 + N as i32);
    assert_eq!(int(&format!("int f(int x) {{ int y; {}x; return y; }}", "y = ".repeat(N)), &[7]), 7);
    assert_eq!(int(&format!("int f(int x) {{ return {}x{}; }}", "*&".repeat(N), ""), &[7]), 7);
    assert_eq!(int(&format!("int f(int x) {{ return x{}; }}", " + 1".repeat(N)), &[7]), 7 + N as i32);
    assert_eq!(int(&format!("int f(int x) {{ (x++{}); return x; }}", ", x++".repeat(N)), &[7]), 8 + N as i32);
    let text = format!(
        "int f(int x) {{ switch (x) {{ {} default: return -1; }} }}",
        (0..N).fold(String::new(), |s, i| s + &format!("case {i}: return {};", i * 2))
    );
    assert_eq!(int(&text, &[777]), 1554);
}

#[test]
fn what_the_engine_does_not_do_is_said() {
    let text = "int f(int n, thread int* p) { return *p + n; }";
    assert_eq!(refused(text), "unsupported: a pointer as an argument from outside");
    let program = typed(text);
    let refusal = Compiled::new(&program, function(&program, "f")).expect_err("it is refused");
    assert_eq!(refusal.place().start as usize, text.find("p) {").expect("it is there"));
    assert!(matches!(refusal, Refusal::Unsupported { .. }));
    // A thread that is called alone is in no quad.
    let text = "fragment float4 f(float x : attribute(0)) : SV_Target 0 { return float4(ddx(x), 0.0, 0.0, 0.0); }";
    let ending = run_with(text, "f", &[0], &Settings::default()).0;
    let Ending::NoQuad { place } = ending else { panic!("{ending:?}") };
    assert_eq!(place.start as usize, text.find("ddx(x)").expect("it is there"));
    // A thread that is called alone is its whole group, so it passes barriers.
    let ending = run_with("void f() { AllMemoryBarrierWithGroupSync(); }", "f", &[], &Settings::default()).0;
    assert!(matches!(ending, Ending::Returned(_)));
}
