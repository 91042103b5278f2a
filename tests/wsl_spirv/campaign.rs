//! Campaigns of WSL: reproducible for any number of threads, resumed from a journal, never counted
//! twice. Findings are shrunk.

use crate::cases::{DISPATCHES, dispatched};
use serde_json::json;
use smallstep::compile::wsl::Options;
use smallstep::compile::wsl::planted::{BUGS, Planted};
use smallstep::theorem::Verdict;
use smallstep::theorem::campaign::{self, CHUNK, Extent, SourceLanguage, Totals};
use smallstep::theorem::journal::Journal;
use smallstep::theorem::wsl::{Plan, Programs, Tally, minimal};
use smallstep_semantics::number::Profile;

const MIX: &[Programs] = &[Programs::Dispatches, Programs::Functions];

fn plan<'p>(count: u64, threads: usize, mix: &'p [Programs], planted: Option<&'p Planted>) -> Plan<'p> {
    let extent = Extent { seed: 5, count: Some(count), time: None, shard: (0, 1), threads };
    Plan { extent, mix, references: 0, profile: Profile::Strict, planted, via: None }
}

fn run(plan: &Plan, journal: Journal<Tally>) -> Tally {
    campaign::run(plan, None, journal, &()).expect("the journal is written").tally
}

fn bug(name: &str) -> &'static Planted {
    BUGS.iter().find(|bug| bug.name == name).expect(name)
}

#[test]
fn nothing_depends_on_threads_or_shards_and_journals_go_on() {
    let count = CHUNK + 40;
    let only = &[Programs::Dispatches];
    let whole = plan(count, 2, only, None);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.journal");
    let open = |plan: &Plan| Journal::open(&path, plan, None);
    let tally = run(&whole, open(&whole).expect("begins"));
    assert_eq!((tally.programs(), tally.findings()), (count, &[][..]));
    assert_eq!(run(&whole, open(&whole).expect("opens")), tally, "nothing is counted twice");
    assert_eq!(Tally::from_json(&tally.to_json()).as_ref(), Some(&tally));

    // Two shards of the same programs, and a journal that holds one of them.
    let shard = |i| Plan { extent: Extent { shard: (i, 2), threads: 1, ..whole.extent }, ..whole.clone() };
    let second = run(&shard(1), Journal::none());
    assert_eq!(second.programs(), 40);
    let header = json!({"schema": 2, "kind": "campaign", "plan": whole.identity(None)});
    let line = json!({"ranges": [[CHUNK, count]], "tally": second.to_json()});
    std::fs::write(&path, format!("{header}\n{line}\n")).expect("written");
    let opened = open(&whole).expect("opens");
    assert_eq!(opened.missing(0..2 * CHUNK), [0..CHUNK, count..2 * CHUNK]);
    assert_eq!(run(&whole, opened), tally, "the rest is done, and nothing twice");

    let other = Plan { extent: Extent { seed: 6, ..whole.extent }, ..whole.clone() };
    assert!(open(&other).err().is_some_and(|why| why.what.contains("another campaign")));
    std::fs::write(&path, format!("{header}\n{}\n", json!({"ranges": [[0, 1]], "tally": second.to_json()}))).expect("written");
    assert!(open(&whole).err().is_some_and(|why| why.what.contains("names 1 programs, and its tally counts 40")));
}

/// The finding of a planted bug is shrunk, and still shows the bug.
#[test]
fn planted_bugs_are_caught_and_shrunk() {
    for (name, mix, sign) in [
        ("^ is |", MIX, "^"),
        ("?: takes the other side", MIX, "?"),
        ("a divisor is not guarded", MIX, "/"),
        ("barriers are left out", &[Programs::Dispatches], "Barrier"),
    ] {
        let plan = plan(400, 2, mix, Some(bug(name)));
        let tally = run(&plan, Journal::none());
        let finding = tally.findings().first().unwrap_or_else(|| panic!("{name} is not caught: {:?}", tally.all()));
        assert_eq!(tally.all().of("disagree"), tally.findings().len() as u64);
        let small =
            minimal(&plan, plan.program(finding.index), None).unwrap_or_else(|| panic!("{name}: program {} agrees alone", finding.index));
        let whole = plan.text(finding.index);
        println!("{name}: {} of {} bytes, {}\n{}", small.text.len(), whole.len(), small.verdict.why(), small.text);
        assert!(small.text.contains(sign), "{name}:\n{}", small.text);
        assert!(small.text.len() < 500 && small.text.len() * 2 < whole.len(), "{name}:\n{}", small.text);
        // Without the bug there is no finding, and nothing to shrink.
        let clean = Plan { planted: None, ..plan.clone() };
        assert_eq!(minimal(&clean, plan.program(finding.index), None), None);
    }
}

/// The compiler drops the racing stores, so the module does not show the race. The relation
/// finds it.
#[test]
fn a_race_that_the_module_does_not_show_never_agrees() {
    let options = Options { planted: Some(bug("assignments are not stored")), ..Options::default() };
    let (text, buffers) = DISPATCHES.iter().find(|(text, _)| text.contains("out[0] = i;")).expect("a race");
    let verdict = dispatched(text, buffers, &options);
    assert!(matches!(&verdict, Verdict::Undefined(why) if why == "the source has a race"), "{verdict:?}");
}

/// A condition read from a buffer at an unspecified index is true if the word is not 0, whatever
/// its bits. Then every thread stores, and both sides report the race.
#[test]
fn a_race_behind_an_unspecified_condition_is_reported() {
    let text = "[numthreads(2, 1, 1)] compute void main(device bool[] b : register(u0), device uint[] o : register(u1)) {
        bool3 v = bool3(b[0], b[1], b[0]); if (v[9] && b[7]) { o[0] = 1; } }";
    let verdict = |b: &[u32]| dispatched(text, &[b, &[0]], &Options::default());
    let races = verdict(&[2, 3]);
    assert!(matches!(&races, Verdict::Undefined(why) if why.contains("data-race")), "{races:?}");
    assert_eq!(verdict(&[0, 0]), Verdict::Agree);
}

/// If the relation does not follow every way, the source may race on another way.
#[test]
fn a_race_on_a_way_that_was_not_followed_is_unchecked() {
    // Ten unspecified conditions give more ways than the relation follows. The module takes the
    // last element for each, so that every other condition holds. Only that way has a race.
    let not = |k: u32| if k % 2 == 1 { "!" } else { "" };
    let ask: String = (0..10).map(|k| format!("if ({}b[{}]) n += {};", not(k), k + 4, 1 << k)).collect();
    let text = format!(
        "[numthreads(2, 1, 1)] compute void main(device bool[] b : register(u0), device uint[] o : register(u1)) {{
            uint n = 0; {ask} if (n == 341) {{ o[0] = n; }} }}"
    );
    let verdict = dispatched(&text, &[&[0, 0, 0, 1], &[0]], &Options::default());
    assert!(matches!(&verdict, Verdict::Unchecked(why) | Verdict::Limit(why) if why.contains("not every way")), "{verdict:?}");
}

/// Nearly every program agrees with every lane compared, planted races included.
#[test]
fn a_campaign_of_every_kind_agrees() {
    let plan = Plan { references: 10, ..plan(600, 2, smallstep::theorem::wsl::MIX, None) };
    let tally = run(&plan, Journal::none());
    assert_eq!(tally.findings(), []);
    assert!(tally.missed_floors(false).is_empty() && tally.all().of("agree") * 100 >= 600 * 93, "{:?}", tally.all());
    assert!(tally.restricted.values().sum::<u64>() > 0, "restrictions are counted");
    assert_eq!(Tally::from_json(&tally.to_json()).as_ref(), Some(&tally));
}

#[test]
fn floors_can_be_missed() {
    let tally = run(&plan(40, 2, &[Programs::EntryPoints], None), Journal::none());
    let mut fine = run(&plan(40, 2, &[Programs::Racy], None), Journal::none());
    assert!(fine.missed_floors(false).is_empty(), "planted races are no loss: {:?}", fine.all());
    // Races that nobody planted are a loss.
    let racing = fine.semantics.remove(&Programs::Racy).expect("they ran");
    fine.semantics.insert(Programs::Functions, racing);
    assert_eq!(fine.missed_floors(false).len(), 1);
    let excluded = 40 - tally.all().of("agree") - tally.all().of("disagree");
    assert_eq!(!tally.missed_floors(false).is_empty(), excluded > 2, "{:?}", tally.all());
}

/// A writable texture that a stage only reads is not shown, and keeps its contents.
#[test]
fn a_texture_that_is_only_read_keeps_what_it_holds() {
    let plan = plan(1, 1, &[Programs::Stages], None);
    for seed in [3, 5] {
        let (text, verdict) = plan.verdict_on(Programs::Stages, seed, None);
        assert!(!matches!(verdict, Verdict::Disagree(_)), "{verdict:?}\n{text}");
        assert!(text.contains("RWTexture"), "{text}");
    }
}
