//! Images, stages and draws: translations of generated WSL programs, through WGSL and back.

use std::time::Duration;

use smallstep::compile::wgsl;
use smallstep::compile::wgsl::planted::{Change, DRAWN};
use smallstep::theorem::compilers::Compiler;
use smallstep::theorem::dispatches::translated::{By, Plan, Source, Tally, minimal, run};
use smallstep::theorem::wsl::Programs;
use smallstep_semantics::number::Profile;

use super::{assembled, compared, there_and_back};

fn plan(sources: &[Source], count: u64, planted: Option<Change>) -> Plan {
    let options = wgsl::Options { planted, point_size: wgsl::PointSize::Ignore, vertex_writes: true, ..wgsl::Options::default() };
    let by = By::Compiler(Compiler::wgsl(options, Duration::from_secs(60)));
    Plan { sources: sources.to_vec(), seed: 1, count, threads: 1, executed: 60, profile: Profile::Strict, by }
}

fn agree(tally: &Tally, kind: &str) -> u64 {
    tally.counts.get(kind).map_or(0, |counts| counts.agree)
}

#[test]
fn translated_programs_agree_through_wgsl() {
    let tally = run(
        &plan(
            &[Source::Wsl(Programs::Draws), Source::Wsl(Programs::Stages), Source::Wsl(Programs::EntryPoints), Source::Fragments],
            120,
            None,
        ),
        |_, _| {},
    );
    assert_eq!(tally.findings, []);
    for kind in ["dispatches", "draws", "fragment stages"] {
        assert!(agree(&tally, kind) > 0, "{kind}: {tally:#?}");
    }
    assert!(agree(&tally, "dispatches with images") + agree(&tally, "draws with images") > 0, "{tally:#?}");
    let why = tally.counts.values().flat_map(|counts| counts.undecided.keys());
    let other: Vec<&String> = why.collect();
    assert!(!other.iter().any(|why| why.contains("the size of points")), "{other:?}");
    let few: u64 = tally.counts.values().flat_map(|c| c.undecided.iter().filter(|(why, _)| other.contains(why)).map(|(_, n)| *n)).sum();
    let all: u64 = tally.counts.values().map(|counts| counts.all()).sum();
    assert!(few * 20 <= all, "{few} of {all} are not compared: {other:#?}");
}

/// By WGSL's rules, a vertex stage uses no writable memory. Draws with such a stage are counted
/// separately, and all others are converted.
#[test]
fn draws_whose_vertex_stage_writes_are_left_out_by_the_rules() {
    let mut plan = plan(&[Source::Wsl(Programs::Draws)], 60, None);
    let all: u64 = run(&plan, |_, _| {}).counts.values().map(|counts| counts.all()).sum();
    let options = wgsl::Options { point_size: wgsl::PointSize::Ignore, ..wgsl::Options::default() };
    plan.by = By::Compiler(Compiler::wgsl(options, Duration::from_secs(60)));
    let by_rules = run(&plan, |_, _| {});
    assert_eq!(by_rules.findings, []);
    let left_out: u64 = by_rules.counts.values().map(|counts| counts.left_out).sum();
    let judged: u64 = by_rules.counts.values().map(|counts| counts.all()).sum();
    assert!(left_out > 0 && judged > left_out && judged + left_out == all, "{left_out} left out, {judged} of {all} judged");
    let no_form = |why: &&String| why.contains("no WGSL");
    let refused: Vec<_> = by_rules.counts.values().flat_map(|counts| counts.undecided.keys()).filter(no_form).collect();
    assert!(refused.is_empty(), "{refused:?}");
}

/// Whether the module that writes a storage image shows a planted bug.
fn writes_show(planted: Change) -> bool {
    let words = assembled(include_str!("modules/written.spvasm"));
    let (_, back) = there_and_back(&words, &wgsl::Options { planted: Some(planted), ..wgsl::Options::default() });
    compared(&words, &back, 8).verdict().name() == "disagree"
}

#[test]
fn mistakes_in_stages_and_images_are_caught() {
    let mut missed = Vec::new();
    for bug in DRAWN {
        let caught = (0..3).any(|k| {
            let plan = Plan {
                seed: 1 + 12 * k,
                ..plan(
                    &[Source::Wsl(Programs::Draws), Source::Wsl(Programs::EntryPoints), Source::Wsl(Programs::Stages)],
                    36,
                    Some(bug.change),
                )
            };
            !run(&plan, |_, _| {}).findings.is_empty()
        });
        if !caught && !writes_show(bug.change) {
            missed.push(bug.name);
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_finding_is_made_minimal() {
    let plan = plan(&[Source::Wsl(Programs::Draws)], 24, Some(DRAWN[0].change));
    let tally = run(&plan, |_, _| {});
    let finding = tally.findings.first().expect("a discarded fragment is drawn");
    let text = minimal(&plan, finding).expect("it comes back");
    assert!(text.contains("discard") && text.len() < 600, "{text}");
}

/// A handwritten module that samples and compares textures, and one with a combined image sampler.
#[test]
fn hand_written_stages_agree() {
    let text = include_str!("modules/textures.spvasm");
    let combined = include_str!("modules/combined.spvasm");
    for (name, text) in [("textures", text), ("combined", combined)] {
        let words = assembled(text);
        let (wgsl, back) = there_and_back(&words, &wgsl::Options::default());
        let summary = compared(&words, &back, 12);
        assert!(summary.verdict().name() == "agree", "{name}: {summary:#?}\n{wgsl}");
        // With another constant the comparison does not agree. It may be undecided, since devices
        // may filter differently.
        let other = assembled(&text.replace("%half = OpConstant %float 0.5", "%half = OpConstant %float 0.75"));
        assert_ne!(compared(&other, &back, 12).verdict().name(), "agree", "{name}");
    }
}
