//! Generated dispatches on both engines, by several schedules. Also dispatches with a planted race.

use smallstep_generate::wsl::dispatch::{self, Dispatch, Shape};
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::group::{self, Ending, Schedule, Shown};
use smallstep_semantics::wsl::machine::{self, Compiled, GridEnding};
use smallstep_semantics::wsl::open::Possible;
use smallstep_semantics::wsl::recheck::recheck;
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;

fn dispatches() -> u64 {
    std::env::var("SMALLSTEP_WSL_DISPATCHES").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

fn program(seed: u64, generated: &Dispatch) -> Program {
    let found = validate(&generated.text);
    let errors: Vec<String> = found
        .errors
        .iter()
        .map(|e| format!("[{}] {} `{}`", e.rule, e.message, &generated.text[e.span.start as usize..e.span.end as usize]))
        .collect();
    let program = found.program.unwrap_or_else(|| panic!("dispatch {seed} is not valid: {errors:?}\n{}", generated.text));
    recheck(&program).unwrap_or_else(|r| panic!("dispatch {seed} is refuted: {r}\n{}", generated.text));
    program
}

fn by_relation(generated: &Dispatch, program: &Program, settings: &Settings) -> Ending {
    let entry = &program.entry_points[0];
    let buffers = generated.bind(program, entry).expect("its buffers are given");
    group::Dispatch { program, text: &generated.text, entry, groups: generated.groups, resources: buffers }.run(settings)
}

fn by_machine(generated: &Dispatch, program: &Program, strategy: Strategy) -> Vec<Vec<u32>> {
    let entry = &program.entry_points[0];
    let buffers = generated.bind(program, entry).expect("its buffers are given");
    let compiled = Compiled::new(program, entry.function).unwrap_or_else(|e| panic!("{e}\n{}", generated.text));
    let dispatch = group::Dispatch { program, text: &generated.text, entry, groups: generated.groups, resources: buffers };
    let settings = machine::Settings { strategy, fuel: 10_000_000, ..machine::Settings::default() };
    let fast = dispatch.run_fast(&compiled, &settings).expect("what is bound fits");
    assert_eq!(fast.ended, GridEnding::Done, "{}", generated.text);
    fast.buffers
}

fn definite(shown: &Shown) -> Vec<Vec<Option<u32>>> {
    shown.buffers.iter().map(|words| words.iter().map(Possible::only).collect()).collect()
}

fn same(seed: u64, generated: &Dispatch, shown: &Shown, fast: &[Vec<u32>], how: &str) {
    assert!(shown.races.is_empty(), "dispatch {seed} races {how}: {:?}\n{}", shown.races, generated.text);
    let fast: Vec<Vec<Option<u32>>> = fast.iter().map(|words| words.iter().map(|&w| Some(w)).collect()).collect();
    assert!(definite(shown) == fast, "dispatch {seed} {how}\n{:?}\n{fast:?}\n{}", definite(shown), generated.text);
}

#[test]
fn generated_dispatches_show_the_same_by_every_schedule() {
    let (mut changed, mut open) = (0, 0);
    for seed in 0..dispatches() {
        let generated = dispatch::dispatch(seed);
        let program = program(seed, &generated);
        for strategy in [Strategy::First, Strategy::Random(seed)] {
            let fast = by_machine(&generated, &program, strategy);
            for schedule in [Schedule::InOrder, Schedule::RoundRobin { quantum: 1 }, Schedule::Random { seed }] {
                let settings = Settings { strategy, schedule: Some(schedule.clone()), ..Settings::default() };
                let how = format!("by {schedule:?} and {strategy:?}");
                let Ending::Shown(shown) = by_relation(&generated, &program, &settings) else {
                    panic!("dispatch {seed} does not end {how}\n{}", generated.text)
                };
                same(seed, &generated, &shown, &fast, &how);
                open += u64::from(shown.unspecified);
            }
            let before = generated.bind(&program, &program.entry_points[0]).expect("its buffers are given");
            changed += u64::from(before.iter().zip(&fast).filter(|(b, after)| b.buffer().is_none_or(|b| b.words != **after)).count() > 1);
        }
    }
    println!(
        "{} dispatches; more than what is always stored was changed in {changed} runs, {open} met something unspecified",
        dispatches()
    );
    assert!(changed > dispatches() && open > dispatches() / 8, "{changed} changed more, {open} were open");
}

#[test]
fn small_dispatches_show_one_result_by_every_order() {
    let (mut complete, mut orders) = (0u64, 0usize);
    for seed in 0..dispatches() {
        let generated = dispatch::small(seed);
        let program = program(seed, &generated);
        let fast = by_machine(&generated, &program, Strategy::First);
        let settings = Settings { schedule: None, ways: 3000, ..Settings::default() };
        let Ending::Shown(shown) = by_relation(&generated, &program, &settings) else {
            panic!("dispatch {seed} does not end\n{}", generated.text)
        };
        same(seed, &generated, &shown, &fast, "by every order");
        complete += u64::from(shown.complete);
        orders += shown.ways;
    }
    println!("{orders} orders of {} dispatches, all of {complete}", dispatches());
    assert!(complete * 2 > dispatches(), "all orders of {complete} only");
}

#[test]
fn a_planted_race_is_reported() {
    for seed in 0..dispatches() {
        let generated = dispatch::racy(seed);
        let program = program(seed, &generated);
        let place = generated.race.clone().expect("there is an array to race on");
        for schedule in [Schedule::InOrder, Schedule::RoundRobin { quantum: 1 }, Schedule::Random { seed }] {
            let settings = Settings { strategy: Strategy::First, schedule: Some(schedule.clone()), ..Settings::default() };
            let Ending::Shown(shown) = by_relation(&generated, &program, &settings) else {
                panic!("dispatch {seed} does not end by {schedule:?}\n{}", generated.text)
            };
            // The planted access may be either side of a race: the later access, or the last store
            // before it.
            let planted = shown.races.iter().any(|r| [r.first, r.second].iter().any(|a| place.contains(&(a.instruction.start as usize))));
            assert!(
                planted,
                "dispatch {seed}: no race at `{}` by {schedule:?}\n{:?}\n{}",
                &generated.text[place.clone()],
                shown.races,
                generated.text
            );
        }
    }
}

#[test]
fn a_race_of_a_small_dispatch_is_reported_by_every_order() {
    let (mut raced, mut open) = (0, 0);
    for seed in 0..dispatches() {
        let generated = dispatch::of(seed, Shape { small: true, race: true, ..Shape::default() });
        // There is no array to race on if each of two threads is a group of its own, and the only
        // shared arrays are shared by all groups.
        if generated.race.is_none() {
            continue;
        }
        let program = program(seed, &generated);
        let settings = Settings { schedule: None, ways: 300, ..Settings::default() };
        let Ending::Shown(shown) = by_relation(&generated, &program, &settings) else {
            panic!("dispatch {seed} does not end\n{}", generated.text)
        };
        assert!(!shown.races.is_empty(), "dispatch {seed} has no race\n{}", generated.text);
        raced += 1;
        open += u64::from(definite(&shown).iter().flatten().any(Option::is_none));
    }
    println!("{raced} of {} dispatches race, {open} show more than one result", dispatches());
    // Most races are on threadgroup memory and on values that nothing uses. Only the report of
    // races shows them.
    assert!(raced * 2 > dispatches() && open > 0, "{raced} race, {open} show more than one result");
}
