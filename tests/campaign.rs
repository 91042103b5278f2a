//! Campaigns: reproducible whatever the threads, taken up again from a journal, and never counted twice.

use smallstep::generate::{Limits, Mode};
use smallstep::gpu::{FloatControls, Route};
use smallstep::theorem::Verdict;
use smallstep::theorem::campaign::{self, CHUNK, Plan, Tally};
use smallstep::theorem::case::{Case, Settings};
use smallstep::theorem::device::{Choice, NoProfile};
use smallstep::theorem::journal::Journal;
use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::Theorem;
use smallstep_semantics::number::sets::{self, Operand, Rules, Set, Truth};
use smallstep_semantics::number::{Controls, Denormals, Instruction, Profile, Rounding};
use smallstep_semantics::rule::Rule;
use std::io::Write;

fn plan(count: u64, threads: usize) -> Plan {
    Plan {
        seed: 5,
        count: Some(count),
        time: None,
        shard: (0, 1),
        references: 10,
        near_misses: 10,
        settings: Settings { size: (1, 1), ..Settings::default() },
        threads,
        limits: Limits::default(),
    }
}

fn run(plan: &Plan, journal: Journal) -> Tally {
    campaign::run(plan, None, journal, &()).expect("the journal is written")
}

#[test]
fn nothing_depends_on_threads_or_shards() {
    let count = 4 * CHUNK;
    let one = run(&plan(count, 1), Journal::none());
    assert_eq!(one.semantics.all(), count);
    assert_eq!(one.findings, [], "the default campaign finds nothing");
    assert!(one.missed_floors(false).is_empty(), "{:?}", one.missed_floors(false));
    assert!(one.referenced > count / 11, "one in ten runs on the relations too");
    assert_eq!(one, run(&plan(count, 4), Journal::none()));

    let mut shards = Tally::default();
    for i in 0..3 {
        shards.add(run(&Plan { shard: (i, 3), ..plan(count, 2) }, Journal::none()));
    }
    assert_eq!(one, shards);
}

#[test]
fn an_interrupted_campaign_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.journal");
    let whole = plan(3 * CHUNK, 2);
    let open = |plan: &Plan| Journal::open(&path, plan, None);
    let tally = run(&whole, open(&whole).expect("begins"));

    // Cut in the middle of the last line, as an interruption would.
    let text = std::fs::read_to_string(&path).expect("read");
    assert_eq!(text.lines().count(), 4);
    std::fs::write(&path, &text[..text.len() - 40]).expect("written");
    let cut = open(&whole).expect("opens");
    assert_eq!(cut.tally().semantics.all(), 2 * CHUNK);
    assert_eq!(run(&whole, cut), tally, "nothing is lost");
    assert_eq!(run(&whole, open(&whole).expect("opens")), tally, "nothing is counted twice");

    let other = Plan { seed: 6, ..whole.clone() };
    let refused = open(&other).err().expect("another campaign's journal is refused");
    assert!(refused.contains("another campaign"), "{refused}");
    std::fs::OpenOptions::new().append(true).open(&path).and_then(|mut f| f.write_all(b"{]\n")).expect("written");
    let broken = open(&whole).err().expect("a broken journal is refused");
    assert!(broken.contains("line 5"), "{broken}");
}

#[test]
fn floors_can_be_missed() {
    let mut rough = Plan { limits: Limits { rough_percent: 100, ..Limits::default() }, ..plan(CHUNK, 2) };
    rough.settings.profile = Profile::Wgsl;
    let tally = run(&rough, Journal::none());
    assert!(
        !tally.missed_floors(false).is_empty(),
        "nothing bounds what is made of sines and may be rewritten: {:?}",
        tally.semantics.lanes
    );
}

#[test]
fn programs_are_judged_under_every_profile() {
    let given = |rounding, denormals, keeps_special| {
        Profile::Declared(Controls { rounding, denormals, keeps_special, no_contraction: true, wgsl: false })
    };
    let profiles = [
        Profile::VulkanDefault,
        Profile::Wgsl,
        given(Rounding::NearestEven, Denormals::Preserve, true),
        given(Rounding::Either, Denormals::Flush, true),
        given(Rounding::Either, Denormals::MayFlush, false),
    ];
    // A subnormal number that is selected is moved, by the machine as by the relation.
    let moved = Program::read("(select false 0 1e-45)").expect("reads");
    for profile in profiles {
        let settings = Settings { profile, size: (1, 1), ..Settings::default() };
        let Ok(case) = Case::new(moved.clone(), &settings) else { panic!("it is well typed") };
        assert_eq!(case.run(&settings).verdict, Verdict::Agree, "{profile:?}");
        let mut plan = Plan { limits: Limits { rough_percent: 50, ..Limits::default() }, ..plan(CHUNK, 2) };
        plan.settings.profile = profile;
        let tally = run(&plan, Journal::none());
        // A translation that declared something else would be a finding.
        let first = tally.findings.first().map(|finding| &finding.what);
        assert_eq!(first, None, "{profile:?}");
        let declares_modes = profile.controls().modes().next().is_some();
        assert_eq!(tally.rules.contains_key(&Rule::LvMcControls), declares_modes, "{profile:?}");
        println!("{profile}: {}", tally.acceptance);
    }
}

#[test]
fn a_profile_is_chosen_by_what_a_device_lets_modules_declare() {
    let single = FloatControls { rounding_mode_rtz: true, denorm_flush_to_zero: true, ..FloatControls::default() };
    let queried = Some([FloatControls::default(), single, FloatControls::default()]);
    let controls =
        Controls { rounding: Rounding::TowardZero, denormals: Denormals::Flush, keeps_special: false, no_contraction: true, wgsl: false };
    let (words, naga) = (Route::Passthrough, Route::Naga);
    assert_eq!(Choice::Declared.on(queried, words), Ok(Profile::Declared(controls)));
    // Programs run on interpreters, which round to nearest.
    let either = Profile::Declared(Controls { rounding: Rounding::Either, ..controls });
    assert_eq!(Choice::Declared.of_programs(queried, words), Ok(either));
    assert_eq!(Choice::Strict.on(queried, words), Ok(Profile::Strict));
    assert_eq!((Choice::OfRoute.on(queried, words), Choice::OfRoute.on(None, naga)), (Ok(Profile::Strict), Ok(Profile::Wgsl)));
    assert_eq!(Choice::VulkanDefault.on(None, naga), Ok(Profile::VulkanDefault));
    for choice in [Choice::Strict, Choice::Declared] {
        assert!(matches!(choice.on(queried, naga), Err(NoProfile::Route(why)) if why.contains("naga takes no float controls")));
    }
    assert!(matches!(Choice::Declared.on(None, words), Err(NoProfile::NotQueried(_))));
    assert_eq!(Choice::Declared.alone(), None);
    for (name, choice) in Choice::NAMED {
        assert_eq!((name.parse(), choice.name()), (Ok(choice), Some(name)));
    }
    assert!("strictt".parse::<Choice>().is_err_and(|why| why.contains("\"strictt\"")));
}

#[test]
fn rough_programs_are_bounded_by_sets() {
    let rough = Plan { limits: Limits { rough_percent: 100, ..Limits::default() }, ..plan(CHUNK, 2) };
    let tally = run(&rough, Journal::none());
    assert_eq!(tally.findings, [], "what the target may show is within what the source may show");
    let (acceptance, lanes) = (&tally.acceptance, tally.semantics.lanes);
    assert_eq!((acceptance.points + acceptance.bounded, acceptance.all()), (lanes.checked, lanes.checked + lanes.undecided));
    assert!(acceptance.bounded > acceptance.all() / 20 && acceptance.median_width() > Some(0), "{acceptance}");
    println!("rough: {acceptance}");
}

/// The aim of rough mode: every builtin, any number, and still a bound for nine components in ten.
#[test]
fn nine_in_ten_components_of_rough_programs_are_decided() {
    let rough = Plan { seed: 31, limits: Mode::Rough.limits(), near_misses: 0, ..plan(1000, 2) };
    assert_eq!(rough.settings.profile, Profile::Strict);
    let tally = run(&rough, Journal::none());
    assert_eq!(tally.findings, []);
    let acceptance = &tally.acceptance;
    let decided = acceptance.points + acceptance.bounded;
    assert!(10 * decided >= 9 * acceptance.all(), "{acceptance}");
    assert!(acceptance.bounded > acceptance.points / 10, "sets matter: {acceptance}");
    println!("rough, strict: {acceptance}");
}

/// A campaign over programs with approximate conditions, with something planted in the target machine's runs over sets.
fn planted_in_sets(plant: fn(&mut Rules)) -> Tally {
    let mut plan = Plan { limits: Limits { rough_percent: 100, ..Limits::default() }, near_misses: 0, ..plan(2 * CHUNK, 2) };
    plant(&mut plan.settings.planted.target_sets);
    run(&plan, Journal::none())
}

#[test]
fn wrong_runs_over_sets_are_caught() {
    // A result may be a number more than it may; every comparison goes one way.
    let further: fn(&mut Rules) = |rules| {
        rules.allowed = |profile, instruction, args| {
            let one_more = |set: Set| set.union(Set::point(set.hull().map_or(f64::NAN, |h| 1.0 + 2.0 * h.high.abs())));
            sets::allowed(profile, instruction, args).map(|all| all.into_iter().map(one_more).collect())
        };
    };
    let unread: fn(&mut Rules) = |rules| rules.compared = |_, _, _, _| Truth { may_hold: true, may_fail: false };
    for (name, plant) in [("further", further), ("unread", unread)] {
        let tally = planted_in_sets(plant);
        let caught = tally.findings.iter().filter(|f| f.what.contains("over sets")).count();
        assert!(caught > 0, "{name}: {}", tally.acceptance);
    }
}

#[test]
fn runs_over_sets_that_narrow_wrongly_are_caught() {
    let text = "((rec-func (x n) (if (less-than n 1) (if (less-than x 0.5) x 0.25) (rec x (- n 1)))) (sin 0.5235) 0)";
    let tree = parse(text).unwrap_or_else(|e| panic!("{}", e.message));
    let mut settings = Settings { size: (1, 1), ..Settings::default() };
    let mut verdict = |narrowed| {
        settings.planted.target_sets = Rules { narrowed, ..Rules::default() };
        campaign::judge(&tree, &settings, &mut Tally::default()).verdict
    };
    assert_eq!(verdict(sets::narrowed).why(), "");
    // By the other outcome, and not at all: the target may then show what the source may not.
    for planted in [(|p, i, x, y, holds| sets::narrowed(p, i, x, y, !holds)) as Narrowed, |_, _, x, y, _| [x.set, y.set]] {
        let why = verdict(planted).why();
        assert!(why.contains("over sets, expected one of 0.25 or [0.499"), "{why}");
    }
}

type Narrowed = fn(Profile, Instruction, &Operand, &Operand, bool) -> [Set; 2];

#[test]
fn the_printed_theorem_is_refuted_by_a_campaign() {
    // LV-5: by name, an unused argument that diverges is harmless in λV and not in its translation.
    let printed = Settings { theorem: Theorem::Printed, references: false, size: (2, 2), ..Settings::default() };
    let mut plan = plan(CHUNK, 2);
    plan.settings = printed;
    plan.limits.divergent_permille = 300;
    let tally = run(&plan, Journal::none());
    let refuted = tally.findings.iter().filter(|f| f.what.contains("did not end within")).count();
    assert!(refuted > 0, "no counterexample among {} programs", tally.semantics.all());
}
