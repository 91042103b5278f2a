//! Generated programs. `SMALLSTEP_WSL_PROGRAMS` says how many.

use smallstep::compile::wsl::Options;
use smallstep::theorem::wsl::{Found, Programs, campaign};

fn programs(default: u64) -> u64 {
    std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn run(programs: Programs, count: u64) -> Found {
    let found = campaign(programs, 1, count, 2, &Options::default());
    println!("{programs:?}: {:?}, of which {} agree on sets", found.verdicts, found.open);
    println!("refused: {:#?}", found.refused);
    println!("unchecked: {:#?}", found.unchecked);
    for (seed, text, why) in &found.wrong {
        println!("seed {seed}: {why}\n{text}");
    }
    assert_eq!(found.count("disagree"), 0, "{:?}", found.wrong.first());
    found
}

#[test]
fn generated_dispatches_show_what_the_program_allows() {
    let count = programs(1000);
    let found = run(Programs::Dispatches, count);
    assert_eq!(found.count("refused"), 0, "the generator makes nothing that is refused");
    assert!(found.count("agree") * 100 >= count * 98, "{:?}", found.verdicts);
    assert!(found.open * 20 >= count, "few of them met something unspecified: {}", found.open);
}

#[test]
fn entry_points_of_typed_programs_show_what_the_program_allows() {
    let found = run(Programs::EntryPoints, programs(1000));
    assert!(found.count("agree") > 0);
}

#[test]
fn functions_give_what_the_program_allows() {
    let found = run(Programs::Functions, programs(300));
    let judged: u64 = found.verdicts.values().sum();
    assert!(found.count("agree") * 100 >= judged * 75, "{:?}", found.verdicts);
}

/// A race that is planted in the source is the module's too, or the module shows what the source
/// allows.
#[test]
fn races_are_reported_on_both_sides() {
    let found = run(Programs::Racy, programs(200));
    assert!(found.count("undefined") * 4 >= found.verdicts.values().sum::<u64>() * 3, "{:?}", found.verdicts);
}
