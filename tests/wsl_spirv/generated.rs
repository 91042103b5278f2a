//! Generated programs. `SMALLSTEP_WSL_PROGRAMS` is their number.

use smallstep::theorem::campaign::{Extent, run as campaign};
use smallstep::theorem::journal::Journal;
use smallstep::theorem::wsl::{Plan, Programs, Tally};
use smallstep_semantics::number::Profile;

fn programs(default: u64) -> u64 {
    std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn run(programs: Programs, count: u64) -> Tally {
    let extent = Extent { seed: 1, count: Some(count), time: None, shard: (0, 1), threads: 2 };
    let plan = Plan { extent, mix: &[programs], references: 10, profile: Profile::Strict, planted: None, via: None };
    let tally = campaign(&plan, None, Journal::none(), &()).expect("no journal is written").tally;
    println!("{programs:?}: {:?}, of which {} met something unspecified", tally.all(), tally.open);
    println!(
        "refused: {:#?}, unchecked: {:#?}, vacuous: {:#?}, passed: {:#?}",
        tally.refused, tally.unchecked, tally.vacuous, tally.passed
    );
    for finding in &tally.findings {
        println!("program {}: {}\n{}", finding.index, finding.what, plan.text(finding.index));
    }
    assert_eq!(tally.findings, []);
    assert_eq!(tally.all().all(), count);
    tally
}

#[test]
fn generated_dispatches_show_what_the_program_allows() {
    let count = programs(1000);
    let tally = run(Programs::Dispatches, count);
    assert_eq!(tally.all().of("refused"), 0, "the generator makes nothing that is refused");
    assert!(tally.all().of("agree") * 100 >= count * 95, "{:?}", tally.all());
    assert!(tally.open * 20 >= count, "few of them met something unspecified: {}", tally.open);
    assert!(tally.sets > 0, "no lane may be one of several values");
}

#[test]
fn entry_points_of_typed_programs_show_what_the_program_allows() {
    let count = programs(300);
    let tally = run(Programs::EntryPoints, count);
    assert_eq!(tally.all().of("refused"), 0, "nothing in compute entry points is refused");
    assert_eq!(tally.all().of("undefined"), 0, "threads store in nothing that they share");
    assert!(tally.all().of("agree") * 100 >= count * 90, "{:?}", tally.all());
}

#[test]
fn functions_give_what_the_program_allows() {
    let count = programs(300);
    let tally = run(Programs::Functions, count);
    assert_eq!(tally.all().of("refused"), 0, "no function is for a stage that does not run");
    assert!(tally.all().of("agree") * 100 >= count * 93, "{:?}", tally.all());
}

/// A race planted in the source is reported, whether the module shows it or not.
#[test]
fn races_are_reported_and_never_agree() {
    let count = programs(200);
    let tally = run(Programs::Racy, count);
    assert_eq!(tally.all().of("agree"), 0, "{:?}", tally.all());
    assert!(tally.all().of("undefined") * 100 >= count * 98, "{:?}", tally.all());
}

#[test]
fn generated_draws_show_what_the_program_allows() {
    let count = programs(300);
    let tally = run(Programs::Draws, count);
    assert_eq!(tally.all().of("refused"), 0, "the generator makes nothing that is refused");
    assert!(tally.all().of("agree") * 100 >= count * 90, "{:?}", tally.all());
    assert!(tally.open * 20 >= count, "few of them met something unspecified: {}", tally.open);
}

#[test]
fn stages_of_typed_programs_show_what_the_program_allows() {
    let count = programs(300);
    let tally = run(Programs::Stages, count);
    assert_eq!(tally.all().of("refused"), 0, "no stage stores in what the other uses");
    assert!(tally.all().of("agree") * 100 >= count * 90, "{:?}", tally.all());
}
