//! WSL to SPIR-V: what a translated module shows is among what the program allows.

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
    found
}

#[test]
fn generated_dispatches_show_what_the_program_allows() {
    let count = programs(2000);
    let found = run(Programs::Dispatches, count);
    assert_eq!(found.count("disagree"), 0);
}

#[test]
fn entry_points_of_typed_programs_show_what_the_program_allows() {
    let found = run(Programs::EntryPoints, programs(1000));
    assert_eq!(found.count("disagree"), 0);
}

#[test]
fn functions_give_what_the_program_allows() {
    let found = run(Programs::Functions, programs(300));
    assert_eq!(found.count("disagree"), 0);
}
