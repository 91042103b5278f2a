//! The same seed and strategy give the same trace and observation. This does not depend on what
//! else runs, or on the number of host threads.

use smallstep_generate::wsl::{arguments, dispatch, typed};
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::call::prepare;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::group::{self, Ending, Schedule};
use smallstep_semantics::wsl::machine::{self, Compiled};
use smallstep_semantics::wsl::validate::validate;
use std::fmt::Write;

/// All observations of a program's calls by both engines, as text: every step with its rules, place
/// and events, and the results.
fn calls(seed: u64, strategy: Strategy) -> String {
    let text = typed::program(seed);
    let program = validate(&text).program.expect("it is valid");
    let mut seen = String::new();
    let mut count = 0;
    for f in 0..program.env.functions.len() as u32 {
        let Some(expression) = arguments::call(&program, FunctionId(f), seed).filter(|_| count < 3) else { continue };
        let Ok(prepared) = prepare(&text, &expression) else { continue };
        count += 1;
        let settings = Settings { strategy, fuel: 500, ways: 4, ..Settings::default() };
        let outcome = prepared.evaluation().run_ways(&settings, &mut |way, step, _| {
            let _ = writeln!(seen, "{way} {step:?}");
        });
        let _ = writeln!(seen, "{expression}: {outcome:?}");
        let _ = writeln!(seen, "{:?}", prepared.evaluate_fast(&settings));
    }
    seen
}

/// All observations of a dispatch by both engines, as text, with its races.
fn dispatched(seed: u64, strategy: Strategy) -> String {
    let made = if seed.is_multiple_of(2) { dispatch::dispatch(seed) } else { dispatch::racy(seed) };
    let program = validate(&made.text).program.expect("it is valid");
    let entry = &program.entry_points[0];
    let buffers = made.bind(&program, entry).expect("its buffers are given");
    let dispatch = group::Dispatch { program: &program, text: &made.text, entry, groups: made.groups, resources: buffers };
    let mut seen = String::new();
    for schedule in [Schedule::InOrder, Schedule::RoundRobin { quantum: 1 }, Schedule::Random { seed }] {
        let settings = Settings { strategy, schedule: Some(schedule), fuel: 50_000, ways: 1, ..Settings::default() };
        match dispatch.run(&settings) {
            Ending::Shown(shown) => {
                let _ = writeln!(seen, "{shown:?}");
            }
            other => {
                let _ = writeln!(seen, "{other:?}");
            }
        }
    }
    if strategy != Strategy::Carry {
        let compiled = Compiled::new(&program, entry.function).expect("it compiles");
        let settings = machine::Settings { strategy, fuel: 1_000_000, ..machine::Settings::default() };
        let _ = writeln!(seen, "{:?}", dispatch.run_fast(&compiled, &settings));
    }
    seen
}

fn seen(i: u64) -> String {
    let seed = i / 6;
    let strategy = [Strategy::Carry, Strategy::First, Strategy::Random(seed)][(i / 2 % 3) as usize];
    if i.is_multiple_of(2) { calls(seed, strategy) } else { dispatched(seed, strategy) }
}

#[test]
fn the_same_is_seen_on_any_number_of_threads() {
    const COUNT: u64 = 30;
    let alone: Vec<String> = (0..COUNT).map(seen).collect();
    assert!(alone.iter().map(String::len).sum::<usize>() > 50_000, "there are steps to be compared");
    for threads in [1, 2, 8] {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let alone = &alone;
                // Each thread compares all of them, and begins at a different one.
                scope.spawn(move || {
                    for i in (0..COUNT).map(|i| (i + thread * 7) % COUNT) {
                        let again = seen(i);
                        let first = again.lines().zip(alone[i as usize].lines()).find(|(a, b)| a != b);
                        assert!(again == alone[i as usize], "{i} on thread {thread} of {threads}: {first:?}");
                    }
                });
            }
        });
    }
}

#[test]
fn another_seed_shows_another_trace() {
    // The comparison depends on the seeds. A strategy that ignored its seed would pass all
    // other tests.
    let of = |seed| {
        let prepared = prepare("int f(int z) { return 1 / z; }", "f(0)").expect("it is typed");
        let settings = Settings { strategy: Strategy::Random(seed), ..Settings::default() };
        format!("{:?}", prepared.evaluate(&settings, &mut |_, _| {}))
    };
    assert_ne!(of(1), of(2));
    assert_eq!(of(1), of(1));
}
