//! Campaigns: reproducible for any number of threads, resumed from a journal, and never
//! counted twice.

use serde_json::{Value, json};
use smallstep::generate::{Limits, Mode};
use smallstep::gpu::{FloatControls, Route};
use smallstep::theorem::Verdict;
use smallstep::theorem::campaign::{self, CHUNK, Plan, Tally};
use smallstep::theorem::case::{Case, Settings};
use smallstep::theorem::device::{Choice, NoProfile};
use smallstep::theorem::journal::{FLUSH, Indices, Journal, Part};
use smallstep_semantics::lambda_v::parse::parse;
use smallstep_semantics::lambda_v::resolve::Program;
use smallstep_semantics::lambda_v::step::Theorem;
use smallstep_semantics::number::sets::{self, Operand, Rules, Set, Truth};
use smallstep_semantics::number::{Controls, Denormals, Instruction, Profile, Rounding};
use smallstep_semantics::rule::Rule;

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
    campaign::run(plan, None, journal, &()).expect("the journal is written").tally
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

/// The text of a journal of this campaign: the header, then these lines.
fn journal_text(plan: &Plan, lines: &[Value]) -> String {
    let header = json!({"schema": 2, "kind": "campaign", "plan": plan.identity(None)});
    std::iter::once(&header).chain(lines).map(|line| format!("{line}\n")).collect()
}

/// The tallies of three chunks.
fn chunks(plan: &Plan) -> Vec<Tally> {
    (0..3).map(|i| run(&Plan { shard: (i, 3), ..plan.clone() }, Journal::none())).collect()
}

#[test]
fn an_interrupted_campaign_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.journal");
    let whole = plan(3 * CHUNK, 2);
    let open = || Journal::open(&path, &whole, None);
    let tally = run(&whole, open().expect("begins"));
    assert_eq!(run(&whole, open().expect("opens")), tally, "nothing is counted twice");
    let of = chunks(&whole);

    // The first journal has a line for each chunk, as older versions wrote it. The second has
    // ranges that cross chunks. Each is also cut in the middle of its last line, as by
    // an interruption.
    let by_chunks = journal_text(&whole, &[0, 2, 1].map(|i| json!({"chunk": i, "tally": of[i].to_json()})));
    let (mut outer, inner) = (of[0].clone(), of[1].clone());
    outer.add(of[2].clone());
    let outer = json!({"ranges": [[0, CHUNK], [2 * CHUNK, 3 * CHUNK]], "tally": outer.to_json()});
    let by_ranges = journal_text(&whole, &[outer, json!({"ranges": [[CHUNK, 2 * CHUNK]], "tally": inner.to_json()})]);
    for text in [by_chunks, by_ranges] {
        for (kept, done) in [(&text[..], 3), (&text[..text.len() - 40], 2)] {
            std::fs::write(&path, kept).expect("written");
            let cut = open().expect("opens");
            assert_eq!(cut.tally().semantics.all(), done * CHUNK);
            assert_eq!(run(&whole, cut), tally, "nothing is lost");
            assert_eq!(run(&whole, open().expect("opens")), tally, "nothing is counted twice");
        }
    }
    // The header may be cut too.
    std::fs::write(&path, &journal_text(&whole, &[])[..30]).expect("written");
    assert_eq!(run(&whole, open().expect("opens")), tally);
}

#[test]
fn a_program_is_in_the_journal_within_seconds() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.journal");
    let plan = plan(3 * CHUNK, 1);
    let mut journal = Journal::open(&path, &plan, None).expect("begins");
    let mut judged = |index: u64| {
        let mut part = Part::default();
        let mut tally = Tally::default();
        campaign::judge(&plan.program(index), &plan.settings, &mut tally);
        part.add(index, tally);
        journal.add(part).expect("written");
        std::fs::read_to_string(&path).expect("read")
    };
    for index in [0, 1, 1700] {
        assert_eq!(judged(index).lines().count(), 1, "a line for each program would be too many");
    }
    std::thread::sleep(FLUSH);
    let text = judged(2);
    let line: Value = serde_json::from_str(text.lines().nth(1).expect("a line")).expect("JSON");
    assert_eq!((&line["ranges"], text.lines().count()), (&json!([[0, 3], [1700, 1701]]), 2));
    drop(journal);
    let opened = Journal::open(&path, &plan, None).expect("opens");
    assert_eq!(opened.tally().semantics.all(), 4);
    assert_eq!(opened.missing(0..2 * CHUNK), [3..1700, 1701..2 * CHUNK]);
}

#[test]
fn a_file_that_is_not_the_campaign_s_journal_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.journal");
    let plan = Plan { shard: (1, 3), ..plan(5 * CHUNK, 2) };
    let tally = run(&plan, Journal::none()).to_json();
    let one = |line: Value| journal_text(&plan, &[line]);
    let changed = |key: &str, value: Value| {
        let mut tally = tally.clone();
        tally[key] = value;
        one(json!({"ranges": [[CHUNK, 2 * CHUNK], [4 * CHUNK, 5 * CHUNK]], "tally": tally}))
    };
    let finding = json!([{"index": 0, "verdict": "disagree", "group": "", "what": "", "near_miss": false, "device": false}]);
    let mut other = plan.clone();
    other.seed = 6;
    let chunk = |i: u64| json!({"chunk": i, "tally": tally});
    let range = |first: u64, past: u64| json!({"ranges": [[first, past]], "tally": tally});
    let cases = [
        ("a diary".to_string(), "no journal"),
        ("a diary\n".into(), "no journal"),
        ("{\"kind\":\"summary\"}\n".into(), "no journal"),
        (journal_text(&other, &[]), "another campaign"),
        (journal_text(&other, &[])[..200].into(), "no journal"),
        (one(chunk(999)), "not of this campaign"),
        (one(chunk(u64::MAX)), "not of this campaign"),
        (one(chunk(0)), "not of this shard"),
        (one(range(CHUNK, CHUNK)), "not of this campaign"),
        (one(range(CHUNK + 5, CHUNK)), "not of this campaign"),
        (one(range(CHUNK, 2 * CHUNK + 1)), "not of this shard"),
        (one(range(4 * CHUNK, 5 * CHUNK + 1)), "not of this campaign"),
        (one(range(0, u64::MAX)), "not of this campaign"),
        (one(range(CHUNK, 2 * CHUNK)), "names 1000 programs, and its tally counts 2000"),
        (one(json!({"ranges": [[CHUNK, CHUNK + 9], [CHUNK + 8, CHUNK + 10]], "tally": tally})), "twice"),
        (one(json!({"ranges": [[CHUNK]], "tally": tally})), "names no programs"),
        (one(json!({"chunk": "one", "tally": tally})), "names no programs"),
        (one(json!({"ranges": [[CHUNK, 2 * CHUNK], [4 * CHUNK, 5 * CHUNK]]})), "holds no tally"),
        (changed("findings", finding), "finding about program 0"),
        (changed("steps", json!(-1)), "holds no tally"),
        (one(json!({})) + "{]\n", "line 2"),
    ];
    for (text, expected) in cases {
        std::fs::write(&path, &text).expect("written");
        let refused = Journal::open(&path, &plan, None).err().unwrap_or_else(|| panic!("{expected}: {text:.200}"));
        assert!(refused.what.contains(expected), "{refused} lacks {expected}");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), text, "{expected}");
    }
    for (text, good) in [(changed("steps", json!(u64::MAX)), true), (changed("referenced", json!(0)), true), (String::new(), true)] {
        std::fs::write(&path, &text).expect("written");
        let opened = Journal::open(&path, &plan, None);
        assert_eq!(opened.is_ok(), good, "{:?}", opened.err());
    }
    for no_file in ["/dev/full", "/dev/zero", "/"] {
        let refused = Journal::open(std::path::Path::new(no_file), &plan, None).err().expect(no_file);
        assert!(refused.what.contains("no file that could be a journal"), "{refused}");
    }
}

#[test]
fn one_process_at_a_time_has_a_journal() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.journal");
    let plan = plan(CHUNK, 1);
    let first = Journal::open(&path, &plan, None).expect("begins");
    let refused = Journal::open(&path, &plan, None).err().expect("it is open");
    assert!(refused.what.contains("another process has this journal open"), "{refused}");
    drop(first);
    assert!(Journal::open(&path, &plan, None).is_ok(), "it was closed");
}

#[test]
fn shards_have_no_end_that_is_too_large() {
    // The first chunk of this shard would begin beyond the greatest index.
    let plan = Plan { shard: (u64::MAX - 1, u64::MAX), count: None, ..plan(CHUNK, 1) };
    assert_eq!(run(&plan, Journal::none()), Tally::default());
}

/// The indices behave like a plain set, for all small ranges.
#[test]
fn indices_are_a_set_of_numbers() {
    let small = || (0..5u64).flat_map(|first| (0..6).map(move |past| first..past));
    for (one, two, three) in small().flat_map(|a| {
        small().flat_map(move |b| {
            small().map({
                let a = a.clone();
                move |c| (a.clone(), b.clone(), c)
            })
        })
    }) {
        let (mut indices, mut set) = (Indices::default(), std::collections::BTreeSet::new());
        for range in [one, two] {
            let fresh = !range.is_empty() && range.clone().all(|n| !set.contains(&n));
            assert_eq!(indices.add(range.clone()), fresh, "{indices:?} and {range:?}");
            if fresh {
                set.extend(range);
            }
        }
        let ranges: Vec<_> = indices.ranges().collect();
        assert!(ranges.windows(2).all(|two| two[0].end < two[1].start), "{ranges:?}");
        assert_eq!(ranges.into_iter().flatten().collect::<Vec<_>>(), set.iter().copied().collect::<Vec<_>>());
        assert_eq!(indices.count(), set.len() as u64);
        let missing: Vec<u64> = indices.missing(three.clone()).into_iter().flatten().collect();
        assert_eq!(missing, three.clone().filter(|n| !set.contains(n)).collect::<Vec<_>>(), "{indices:?} and {three:?}");
    }
}

#[test]
fn floors_can_be_missed() {
    let mut rough =
        Plan { limits: Limits { smallest: 40, mean: 80, rough_percent: 100, grid_percent: 0, ..Limits::default() }, ..plan(CHUNK, 2) };
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
        // A translation that declared other float controls would be a finding.
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
    assert!("strictt".parse::<Choice>().is_err_and(|why| why.what.contains("\"strictt\"")));
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

/// A campaign over programs with approximate conditions, and a bug planted in the target machine's
/// runs over sets.
fn planted_in_sets(plant: fn(&mut Rules)) -> Tally {
    let mut plan = Plan { limits: Limits { rough_percent: 100, ..Limits::default() }, near_misses: 0, ..plan(2 * CHUNK, 2) };
    plant(&mut plan.settings.planted.target_sets);
    run(&plan, Journal::none())
}

#[test]
fn wrong_runs_over_sets_are_caught() {
    // `further` adds a number to every set. `unread` decides every comparison one way.
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
    // Narrowed by the opposite outcome, and not narrowed. In both cases, the target may show values
    // that the source may not.
    for planted in [(|p, i, x, y, holds| sets::narrowed(p, i, x, y, !holds)) as Narrowed, |_, _, x, y, _| [x.set, y.set]] {
        let why = verdict(planted).why();
        assert!(why.contains("over sets, expected one of 0.25 or [0.499"), "{why}");
    }
}

type Narrowed = fn(Profile, Instruction, &Operand, &Operand, bool) -> [Set; 2];

#[test]
fn the_printed_theorem_is_refuted_by_a_campaign() {
    // LV-5: by name, an unused argument that diverges is harmless in λV, but not in
    // its translation.
    let printed = Settings { theorem: Theorem::Printed, references: false, size: (2, 2), ..Settings::default() };
    let mut plan = plan(CHUNK, 2);
    plan.settings = printed;
    plan.limits.divergent_permille = 300;
    let tally = run(&plan, Journal::none());
    let refuted = tally.findings.iter().filter(|f| f.what.contains("did not end within")).count();
    assert!(refuted > 0, "no counterexample among {} programs", tally.semantics.all());
}
