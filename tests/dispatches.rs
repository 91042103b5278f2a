//! Generated dispatches through both interpreters, and the oracle that judges them, tested by
//! planted bugs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rspirv::spirv::GroupOperation;
use smallstep::dispatch::{BufferBinding, BufferKind, ComputeDispatch, ComputeResult};
use smallstep::generate::spirv::quads::{LISTS, drawn};
use smallstep::generate::spirv::{ComputeCase, Defect, Kind, Limits, Modeled, Twin};
use smallstep::gpu::{DeviceOutcome, Exit, Route};
use smallstep::theorem::compilers::Compiler;
use smallstep::theorem::dispatches::campaign::{self, Finding, Of, Plan, Tally, module_of};
use smallstep::theorem::dispatches::learn::{Learnt, learn};
use smallstep::theorem::dispatches::optimised::compared;
use smallstep::theorem::dispatches::planted::{Bug, Check, Hunt, Plant, line, table, vectors};
use smallstep::theorem::dispatches::quirk::{DispatchQuirk, Shape, on_device};
use smallstep::theorem::dispatches::required::RequiredResult;
use smallstep::theorem::dispatches::translated::{self, By, Source};
use smallstep::theorem::dispatches::{DeviceCheck, Engines, Judged, MachineBug, Runner, asked, judge, same};
use smallstep::theorem::planted::Fate;
use smallstep::theorem::wsl::Programs;
use smallstep::verdict::Verdict;
use smallstep_semantics::number::Profile;
use smallstep_semantics::number::sets::Rules;
use smallstep_semantics::spirv::environment::{Observation, ObservedBuffer};
use smallstep_semantics::spirv::lockstep;
use smallstep_semantics::spirv::{Buffer, Module, Options, assemble, disassemble};
use smallstep_semantics::undefined::{Refusal, Ub, Unspecified};

fn plan(count: u64, threads: usize) -> Plan {
    let limits = Limits { executed: 100, shared_percent: 50, ..Limits::default() };
    Plan { of: Of::Limits, seed: 1, count, twins: 3, references: 1, threads, limits, engines: Engines::default(), optimiser: None }
}

fn draws(by: By, count: u64) -> translated::Plan {
    let sources = vec![Source::Quads, Source::Wsl(Programs::Draws), Source::Fragments, Source::Wsl(Programs::Dispatches)];
    translated::Plan { sources, seed: 1, count, threads: 2, executed: 60, profile: Profile::Strict, by }
}

/// Compares both interpreters on draws and dispatches, by definite values and over sets. Then
/// plants bugs in the machine's computation and in its record of sets.
#[test]
fn draws_are_compared_between_the_interpreters() {
    let tally = translated::run(&draws(By::ENGINES, 200), |_, _| {});
    assert_eq!(tally.findings, []);
    for (kind, least) in [("quads", 25), ("draws", 10), ("fragment stages", 10), ("dispatches", 10)] {
        assert!(tally.counts.get(kind).is_some_and(|counts| counts.agree >= least), "{kind}: {tally:#?}");
    }
    let over_sets: u64 = tally.counts.values().map(|counts| counts.over_sets).sum();
    let sets: u64 = tally.counts.values().map(|counts| counts.components.sets).sum();
    assert!(over_sets >= 20 && sets >= 500, "{over_sets} over sets, {sets} components");
    let dispatches = &tally.counts["dispatches"];
    assert!(dispatches.over_sets >= 10 && dispatches.components.sets >= 4, "{dispatches:?}");
    // Quads are left out only because the machine leaves them to the relation.
    let quads = &tally.counts["quads"];
    assert!(quads.undecided.keys().all(|why| why.contains("lockstep machine")), "{:?}", quads.undecided);
    let swapped: MachineBug = Arc::new(|parts| {
        let both = parts.codes.iter_mut().filter(|code| code.op == lockstep::Op::Select);
        both.for_each(|code| std::mem::swap(&mut code.a, &mut code.b));
    });
    let wrong = draws(By::Engines { device: None, planted: Some(swapped) }, 400);
    let tally = translated::run(&wrong, |_, _| {});
    let whole = |seed| drawn(seed, LISTS).text;
    let of_quads = tally.findings.iter().filter(|finding| finding.source == Source::Quads);
    let finding = of_quads.min_by_key(|finding| whole(finding.seed).len()).expect("it is seen");
    assert!(finding.what.contains("the lockstep machine shows"), "{}", finding.what);
    let small = translated::minimal(&wrong, finding).expect("it comes back");
    assert!(small.contains("OpSelect"), "{small}");
    let instructions = |text: &str| text.matches("Op").count();
    assert!(2 * instructions(&small) < instructions(&whole(finding.seed)), "the stage itself is made small: {small}");
}

/// The interpreters with the planted bug of that name.
fn planted(name: &str) -> Engines {
    table().into_iter().find(|bug| bug.name == name).expect("it is in the table").engines()
}

#[test]
fn the_interpreters_agree_and_report_every_twin() {
    let tally = campaign::run(&plan(200, 2), None, |_, _| {});
    assert_eq!(tally.findings, []);
    assert!(tally.uncompiled.is_empty(), "{:?}", tally.uncompiled);
    assert_eq!((tally.modules, tally.referenced, tally.agree), (200, 200, 200));
    assert_eq!((tally.twins, tally.reported), (600, 600));
    assert!(tally.instructions > 200_000, "{}", tally.instructions);
}

/// The machine is right in the first run and wrong in the second. A finding is shrunk to
/// fewer steps.
#[test]
fn modules_with_chosen_pointers_are_judged() {
    let plan = Plan { of: Of::Modeled(Modeled::Pointers), twins: 0, ..plan(300, 2) };
    let tally = campaign::run(&plan, None, |_, _| {});
    assert_eq!((tally.findings.len(), tally.agree, tally.referenced, tally.twins), (0, 300, 300, 0), "{tally:?}");
    // A planted bug: OpPtrDiff counts in the other direction.
    let swapped: MachineBug = Arc::new(|parts| parts.pairs.iter_mut().for_each(|pair| pair.pointers.swap(0, 1)));
    let wrong = Plan { engines: Engines { planted: Some(swapped), ..Engines::default() }, ..plan };
    let tally = campaign::run(&wrong, None, |_, _| {});
    let finding = tally.findings.iter().find(|finding| finding.what.starts_with("word ")).expect("it is seen");
    assert_eq!(finding.runner, Runner::Machine);
    let small = campaign::minimal(finding, &wrong, None).expect("it comes back");
    assert!(small.words.len() < wrong.case(finding.seed, None).expect("a module").words.len());
    assert!(matches!(judge(&small, &wrong.engines), Judged::Wrong(Runner::Machine, _)));
    // Without the relation, the machine is compared with the words that the generator computed.
    let alone = Engines { without_relation: true, ..wrong.engines.clone() };
    assert!(matches!(judge(&small, &alone), Judged::Wrong(Runner::Machine, _)));
}

/// The same for modules whose invocations use subgroup operations.
#[test]
fn modules_with_subgroups_are_judged() {
    let plan = Plan { of: Of::Modeled(Modeled::Subgroups), twins: 0, ..plan(200, 2) };
    let tally = campaign::run(&plan, None, |_, _| {});
    assert_eq!((tally.findings.len(), tally.agree, tally.referenced, tally.twins), (0, 200, 200, 0), "{tally:?}");
    let inclusive: MachineBug = Arc::new(|parts| {
        let scans = parts.groups.iter_mut().filter(|group| group.operation == Some(GroupOperation::ExclusiveScan));
        scans.for_each(|group| group.operation = Some(GroupOperation::InclusiveScan));
    });
    let wrong = Plan { engines: Engines { planted: Some(inclusive), ..Engines::default() }, ..plan };
    let tally = campaign::run(&wrong, None, |_, _| {});
    let finding = tally.findings.iter().find(|finding| finding.what.starts_with("word ")).expect("it is seen");
    let small = campaign::minimal(finding, &wrong, None).expect("it comes back");
    assert!(matches!(judge(&small, &wrong.engines), Judged::Wrong(Runner::Machine, _)));
}

/// This holds with findings too: the machine of these runs has a planted bug.
#[test]
fn a_tally_does_not_depend_on_the_threads() {
    let tally = |threads| campaign::run(&Plan { engines: planted("OpBitwiseXor is inclusive"), ..plan(24, threads) }, None, |_, _| {});
    let one: Tally = tally(1);
    assert!(!one.findings.is_empty());
    assert_eq!(one.modules, 24);
    for threads in [2, 5] {
        assert_eq!(tally(threads), one, "{threads} threads");
    }
}

#[test]
fn the_table_of_defects_is_of_the_registry() {
    for &defect in Defect::ALL {
        let registered = match defect.kind() {
            Kind::Behaviour => Ub::ALL.iter().any(|ub| ub.id() == defect.id()),
            Kind::Value => Unspecified::ALL.iter().any(|kind| kind.id() == defect.id()),
            Kind::Refused => Refusal::ALL.iter().any(|refusal| refusal.id() == defect.id()),
        };
        assert!(registered, "{defect:?}: the registry has no {} of that kind", defect.id());
    }
}

#[test]
fn both_engines_show_every_vector() {
    let mut names = BTreeSet::new();
    for vector in vectors() {
        assert!(names.insert(vector.name), "two vectors are named {}", vector.name);
        assert_eq!(vector.shown(&Engines::default()), Ok([vector.expected(), vector.expected()]), "{}", vector.name);
    }
}

#[test]
fn the_table_has_bugs_of_all_kinds() {
    let bugs = table();
    let names: BTreeSet<&str> = bugs.iter().map(|bug| bug.name).collect();
    assert_eq!(names.len(), bugs.len(), "two planted bugs have one name");
    let known: BTreeSet<&str> = vectors().map(|vector| vector.name).collect();
    for bug in &bugs {
        if let Check::Vector(name) = bug.check {
            assert!(known.contains(name), "{}: no vector is named {name}", bug.name);
        }
    }
    let count =
        |is: &dyn Fn(&Plant) -> bool| bugs.iter().filter(|bug| !matches!(bug.check, Check::Equivalent(_)) && is(&bug.plant)).count();
    assert!(count(&|plant| matches!(plant, Plant::Machine(_))) >= 25);
    assert!(count(&|plant| matches!(plant, Plant::Rule(..))) >= 10);
    assert!(count(&|plant| matches!(plant, Plant::Shared(_))) >= 10);
}

/// A bug in code that both engines share makes both wrong alike. Only a result of independent
/// origin shows it.
#[test]
fn what_is_shared_is_wrong_in_both() {
    for bug in table().into_iter().filter(|bug| matches!(bug.plant, Plant::Shared(_))) {
        let Check::Vector(name) = bug.check else { continue };
        let vector = vectors().find(|vector| vector.name == name).expect("the table names it");
        let [relation, machine] = vector.shown(&bug.engines()).expect("it runs");
        assert_eq!(relation, machine, "{}", bug.name);
        assert_ne!(relation, vector.expected(), "{}", bug.name);
    }
}

#[test]
fn every_planted_bug_is_caught() {
    let bugs = table();
    let fates = Hunt::default().all(&bugs, &|bug, fate| println!("{}", line(bug, fate)));
    let mut failures = Vec::new();
    for (bug, fate) in bugs.iter().zip(&fates) {
        match fate {
            Fate::Caught(_) | Fate::Equivalent => {}
            Fate::Survived => failures.push(format!("{} survived {}", bug.name, bug.check)),
            Fate::NotEquivalent(caught) => failures.push(format!("{} is no equivalent: {}: {}", bug.name, caught.by, caught.what)),
            Fate::Unchecked(why) => failures.push(format!("{}: {why}", bug.name)),
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), bugs.len(), failures.join("\n"));
}

/// If a bug is declared equivalent and is not, some check says so.
#[test]
fn a_false_claim_of_equivalence_is_found_out() {
    for name in ["OpConvertFToU holds what is signed", "OpIMul adds", "OpFNegate is the magnitude"] {
        let bug = table().into_iter().find(|bug| bug.name == name).expect("it is in the table");
        let claimed = Bug { check: Check::Equivalent("because"), ..bug };
        let fates = Hunt::default().all(&[claimed], &|_, _| {});
        assert!(matches!(fates[..], [Fate::NotEquivalent(_)]), "{name}: {fates:?}");
    }
}

/// A wrong rule of the relation is seen only in the modules that the relation runs.
#[test]
fn the_relation_runs_one_module_in_so_many() {
    let found = |references| {
        let plan = Plan { engines: planted("OpCompositeExtract takes what is first"), references, twins: 0, ..plan(24, 2) };
        let tally = campaign::run(&plan, None, |_, _| {});
        (tally.referenced, tally.findings.iter().map(|finding| finding.seed - plan.seed).collect::<BTreeSet<u64>>())
    };
    let (all, wrong) = found(1);
    let thirds: BTreeSet<u64> = wrong.iter().copied().filter(|index| index % 3 == 0).collect();
    assert!(all == 24 && !thirds.is_empty() && thirds.len() < wrong.len(), "{all}, {wrong:?}");
    assert_eq!(found(3), (8, thirds));
    assert_eq!(found(0), (0, BTreeSet::new()));
}

#[test]
fn a_tally_in_json_has_every_count_and_finding() {
    let plan = Plan { engines: planted("OpBitwiseXor is inclusive"), ..plan(24, 2) };
    let tally = campaign::run(&plan, None, |_, _| {});
    let shown = tally.to_json();
    for (key, count) in [("modules", 24), ("referenced", 24), ("agree", tally.agree), ("twins", 72), ("reported", tally.reported)] {
        assert_eq!(shown[key], count, "{key}");
    }
    assert!(tally.agree < 24 && tally.reported < 72, "{tally:?}");
    let findings = shown["findings"].as_array().expect("a list");
    assert_eq!(findings.len(), tally.findings.len());
    for (shown, finding) in findings.iter().zip(&tally.findings) {
        assert_eq!((&shown["seed"], &shown["what"], &shown["failed"]), (&finding.seed.into(), &finding.what.clone().into(), &false.into()));
        assert_eq!(shown["runner"], "the lockstep machine");
        assert_eq!(shown["defect"].as_str().map(String::from), finding.defect.map(|defect| format!("{defect:?}")));
    }
}

#[test]
fn a_finding_is_made_minimal_where_it_comes_back() {
    let plan = Plan { engines: planted("OpBitwiseXor is inclusive"), ..plan(24, 2) };
    let tally = campaign::run(&plan, None, |_, _| {});
    let of = |twin: bool| tally.findings.iter().find(|f| f.defect.is_some() == twin).expect("a clean module and a twin have one");
    for finding in [of(false), of(true)] {
        let case = campaign::minimal(finding, &plan, None).expect("it comes back");
        assert_eq!(case.twin.as_ref().map(|twin| twin.defect), finding.defect);
        assert!(matches!(judge(&case, &plan.engines), Judged::Wrong(Runner::Machine, _)), "{finding:?}");
        let text = disassemble(&case.words).expect("disassembles");
        assert!(text.lines().count() <= 100 && text.contains("OpBitwiseXor"), "{text}");
    }
    // A finding must come back by the same engine, with the same words.
    let finding = of(false);
    for other in [
        Finding { runner: Runner::Relation, ..finding.clone() },
        Finding { runner: Runner::Optimiser, ..finding.clone() },
        Finding { runner: Runner::Device, ..finding.clone() },
        Finding { what: "a clean module ends with a limit".into(), ..finding.clone() },
    ] {
        assert_eq!(campaign::minimal(&other, &plan, None), None, "{other:?}");
    }
    let sound = Plan { engines: Engines::default(), ..plan };
    assert_eq!(campaign::minimal(finding, &sound, None), None);
}

#[cfg(unix)]
#[test]
fn a_campaign_counts_what_an_optimiser_makes_of_each_module_and_twin() {
    let folder = tempfile::tempdir().expect("a folder");
    let with = |name: &str, body: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("[ \"$1\" = --version ] && exit 0\n{body}\n")).expect("written");
        let optimiser = Compiler::new(&format!("sh {}", path.display()), Duration::from_secs(60)).expect("sh is there");
        let limits = Limits { executed: 20, ..Limits::default() };
        Plan { references: 0, limits, optimiser: Some(optimiser), ..plan(12, 2) }
    };
    let copies = campaign::run(&with("copies", "cp \"$1\" \"$3\""), None, |_, _| {});
    let undecided: u64 = copies.optimised_undecided.values().sum();
    assert_eq!(copies.findings, []);
    assert_eq!(copies.optimised + copies.optimised_vacuous + undecided, 12 + 36);
    assert!(copies.optimised >= 12 && copies.optimised_vacuous > 0, "{copies:?}");

    // The compiler does not get modules that no loader has to accept.
    for (body, failed, said) in [
        ("echo no such pass >&2; exit 1", false, "the compiler refuses a valid module: no such pass"),
        ("kill -SEGV $$", true, "the compiler crashes (signal: 11 (SIGSEGV)"),
    ] {
        let plan = with("fails", body);
        let tally = campaign::run(&plan, None, |_, _| {});
        assert_eq!((tally.optimised, tally.optimised_undecided.len()), (0, 0));
        assert_eq!(tally.findings.len() as u64 + tally.optimised_vacuous, 12 + 36);
        for finding in &tally.findings {
            assert_eq!((finding.runner, finding.failed), (Runner::Optimiser, failed), "{finding:?}");
            assert!(finding.what.starts_with(said), "{finding:?}");
        }
        let finding = &tally.findings[0];
        let minimal = campaign::minimal(finding, &plan, None).expect("it comes back");
        assert!(minimal.words.len() < plan.case(finding.seed, finding.defect).expect("a module").words.len());
        for other in [Finding { failed: !failed, ..finding.clone() }, Finding { what: "it refuses".into(), ..finding.clone() }] {
            assert_eq!(campaign::minimal(&other, &plan, None), None, "{other:?}");
        }
        assert_eq!(campaign::minimal(finding, &Plan { optimiser: None, ..plan }, None), None);
    }
}

fn words(text: &str) -> Vec<u32> {
    assemble(text, Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Divides 100 by each value of the buffer at 0.2.
const DIVIDE: &str = include_str!("common/modules/divide.spvasm");

/// A module with an instruction that has no rule.
fn unsupported() -> Vec<u32> {
    words(&DIVIDE.replace("OpUDiv", "OpExpectKHR"))
}

/// The search learns only what a compiler refuses: an instruction or a version. It learns nothing
/// from a compiler that accepts all, or refuses all.
#[cfg(unix)]
#[test]
fn what_a_compiler_refuses_is_learnt_and_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let compiler = |name: &str, refuses: &str| {
        let path = folder.path().join(name);
        // The script also gets `--version`, which it must not refuse.
        let script = format!("case $1 in --version) exit 0;; esac\nif {refuses}; then echo lacks $0 >&2; exit 1; fi\ncp \"$1\" \"$3\"\n");
        std::fs::write(&path, script).expect("written");
        Compiler::new(&format!("sh {}", path.display()), Duration::from_secs(60)).expect("sh is there").that_may_refuse()
    };
    let limits = Limits { executed: 100, ..Limits::default() };
    let learnt = |compiler: &Compiler| learn(compiler, 1, 60, &limits);
    let names = |learnt: &Learnt| learnt.left_out.keys().map(ToString::to_string).collect::<Vec<_>>();
    // The first word of OpISubBorrow, and the version.
    let borrow = compiler("borrow", r"LC_ALL=C grep -qaP '\x96\x00\x05\x00' $1");
    let newest = compiler("newest", r"LC_ALL=C grep -qaP '^\x03\x02\x23\x07\x00\x06' $1");
    let (no_borrow, no_newest) = (learnt(&borrow), learnt(&newest));
    assert_eq!(names(&no_borrow), ["ISubBorrow of unsigned", "ISubBorrow of unsigned vector"]);
    assert_eq!(names(&no_newest), ["SPIR-V 1.6"]);
    assert!(no_borrow.left_out.values().all(|why| why.contains("lacks")) && no_borrow.refusals.values().sum::<u64>() > 1, "{no_borrow:?}");
    assert_eq!(learnt(&compiler("copies", "false")), Learnt { modules: 60, ..Learnt::default() });
    let nothing = learnt(&compiler("refuses", "true"));
    assert_eq!((names(&nothing).len(), nothing.refusals.values().sum::<u64>()), (0, 60));
    assert_eq!((no_newest.modules, nothing.modules), (120, 60), "until nothing more is learnt");
    // A campaign without the refused features has no refusals. A campaign with them has some.
    for (compiler, learnt) in [(borrow, no_borrow), (newest, no_newest)] {
        let left_out = learnt.left_out.into_keys().collect();
        let tally = |limits: Limits| {
            let optimiser = Some(compiler.clone());
            campaign::run(&Plan { references: 0, twins: 0, limits, optimiser, ..plan(40, 2) }, None, |_, _| {})
        };
        let (before, after) = (tally(limits.clone()), tally(Limits { left_out, ..limits.clone() }));
        assert!(!before.optimised_refused.is_empty() && after.optimised_refused.is_empty(), "{:?}", after.optimised_refused);
        assert_eq!(after.findings, []);
    }
}

#[test]
fn an_optimised_module_that_is_not_modeled_is_unchecked() {
    let case = module_of(3, None, &Limits::default()).expect("a module").case();
    assert_eq!(compared(&case, &unsupported()), Verdict::Unchecked("unsupported: OpExpectKHR".into()));
    assert!(matches!(compared(&case, &[0]), Verdict::Disagree(_)), "what is no module is wrong");
}

/// The first generated twin that satisfies the predicate.
fn twin_with(holds: impl Fn(&Twin) -> bool) -> ComputeCase {
    let limits = Limits { executed: 20, ..Limits::default() };
    let limits = &limits;
    let twins = (0..100).flat_map(|seed| Defect::ALL.iter().filter_map(move |defect| module_of(seed, Some(*defect), limits)));
    twins.map(|twin| twin.case()).find(|case| case.twin.as_ref().is_some_and(&holds)).expect("a twin of that kind")
}

/// Requires that the case is wrong for this reason: by both interpreters, and by the machine alone.
#[track_caller]
fn is_wrong(case: &ComputeCase, said: &str) {
    for (without_relation, runner) in [(false, Runner::Relation), (true, Runner::Machine)] {
        let judged = judge(case, &Engines { without_relation, ..Engines::default() });
        assert!(matches!(&judged, Judged::Wrong(by, what) if *by == runner && what.contains(said)), "{said}: {judged:?}");
    }
}

/// Tests the oracle of generated modules with cases that claim something false about themselves.
#[test]
fn a_case_that_says_something_false_of_itself_is_wrong() {
    let clean = module_of(1, None, &Limits { executed: 20, ..Limits::default() }).expect("a module").case();
    assert!(matches!(judge(&clean, &Engines::default()), Judged::Observed(_)));

    // A twin that claims to be clean.
    let behaviour = twin_with(|twin| twin.id == "spirv/division-by-zero");
    let value = twin_with(|twin| twin.kind == Kind::Value && twin.reached.is_some_and(|reached| reached.word.is_some()));
    let said = behaviour.twin.clone().expect("a twin");
    for twin in [&behaviour, &value] {
        assert!(matches!(judge(twin, &Engines::default()), Judged::Reported));
    }
    is_wrong(&ComputeCase { twin: None, ..behaviour.clone() }, "a clean module ends with undefined[spirv/division-by-zero]");
    let id = value.twin.as_ref().expect("a twin").id;
    is_wrong(&ComputeCase { twin: None, ..value.clone() }, &format!("is undefined ({id}) in a clean module"));

    // A clean module that claims a defect.
    let required = format!("spirv/division-by-zero is expected at instruction {}, and it ends with an observation", said.instruction);
    is_wrong(&ComputeCase { twin: Some(said.clone()), ..clean.clone() }, &required);
    let undefined = value.twin.clone().expect("a twin");
    is_wrong(&ComputeCase { twin: Some(undefined.clone()), ..clean.clone() }, "is expected in word Some(");

    // Another defect, and another place.
    is_wrong(&ComputeCase { twin: Some(Twin { id: "spirv/wrap", ..said.clone() }), ..behaviour.clone() }, "spirv/wrap is expected");
    let elsewhere = Twin { instruction: said.instruction + 1, also: Vec::new(), ..said.clone() };
    is_wrong(&ComputeCase { twin: Some(elsewhere), ..behaviour.clone() }, "and it reports it at");
    let with = |twin| ComputeCase { twin: Some(twin), ..value.clone() };
    is_wrong(&with(Twin { id: "spirv/none", ..undefined.clone() }), "an undefined value of spirv/none");
    is_wrong(&with(Twin { instruction: undefined.instruction + 1, also: Vec::new(), ..undefined.clone() }), "an undefined value of");
    is_wrong(&with(Twin { reached: None, ..said.clone() }), "and it ends with an observation");

    // A dispatch that cannot be run.
    is_wrong(&ComputeCase { groups: [1 << 15; 3], ..clean.clone() }, "a clean module ends with limit exceeded: more than ");
    is_wrong(&ComputeCase { buffers: Vec::new(), ..clean }, "a clean module ends with unsupported: ");
}

/// The defect may be in the same word of another invocation. It may not be in another word of the
/// same invocation.
#[test]
fn an_undefined_value_is_due_in_its_word() {
    let value = twin_with(|twin| twin.kind == Kind::Value && twin.reached.is_some_and(|reached| reached.word.is_some()));
    let each = value.words_each;
    assert!(each > 1);
    let moved = |by: u32| {
        let mut case = value.clone();
        let reached = case.twin.as_mut().and_then(|twin| twin.reached.as_mut()).expect("it reaches the output");
        reached.word = reached.word.map(|word| word + by);
        case
    };
    assert!(matches!(judge(&moved(each), &Engines::default()), Judged::Reported));
    is_wrong(&moved(1), "an undefined value of");
}

#[test]
fn a_defect_that_must_be_refused_is_refused_for_a_check() {
    let refused = twin_with(|twin| twin.kind == Kind::Refused);
    assert!(matches!(judge(&refused, &Engines::default()), Judged::Reported));
    for (words, said) in [(unsupported(), "OpExpectKHR"), (words(DIVIDE), "is accepted")] {
        let judged = judge(&ComputeCase { words, ..refused.clone() }, &Engines::default());
        assert!(matches!(&judged, Judged::Wrong(Runner::Loader, what) if what.contains(said)), "{judged:?}");
    }
}

fn observed(set: u32, binding: u32, words: impl IntoIterator<Item = u32>) -> Observation {
    let bytes = words.into_iter().flat_map(u32::to_le_bytes).collect();
    Observation { buffers: vec![ObservedBuffer { set, binding, bytes, undefined: Vec::new() }], images: Vec::new(), instructions: 1 }
}

#[test]
fn the_first_word_that_differs_is_said() {
    let (required, mut found) = (observed(1, 3, 0x5eed_0000..0x5eed_0008), observed(1, 3, 0x5eed_0000..0x5eed_0008));
    assert_eq!(same(&required, &found), Ok(()));
    found.buffers[0].bytes[22] = 0xff;
    found.buffers[0].bytes[28] = 0xff;
    let said = "word 5 of the buffer at set 1, binding 3: expected 0x5eed0005, saw 0x5eff0005";
    assert_eq!(same(&required, &found), Err(said.into()));
}

/// A device gets dense bindings, and the required result has the same bindings.
#[test]
fn what_a_device_is_asked_shows_what_is_due_at_its_adapted_places() {
    let (mut adapted, mut alike) = (0, 0);
    for seed in 0..24 {
        let case = module_of(seed, None, &Limits { executed: 20, ..Limits::default() }).expect("a module").case();
        let Judged::Observed(observation) = judge(&case, &Engines::default()) else { panic!("seed {seed}") };
        let DeviceCheck { dispatch, required } =
            asked(&case, &observation, Route::Passthrough).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!((dispatch.entry.as_str(), dispatch.groups), (case.entry.as_str(), case.groups));
        let given: Vec<Vec<u8>> = case.buffers.iter().map(|b| b.words.iter().flat_map(|word| word.to_le_bytes()).collect()).collect();
        assert!(dispatch.buffers.iter().map(|b| &b.bytes).eq(&given), "seed {seed}");
        for (binding, buffer) in (0..).zip(&dispatch.buffers) {
            assert_eq!((buffer.set, buffer.binding), (0, binding), "seed {seed}: the places are dense");
        }
        for (kind, written) in dispatch.buffers.iter().map(|b| b.kind).zip(case.buffers.iter().map(|b| b.written)) {
            assert_eq!(kind == BufferKind::ReadWrite, written, "seed {seed}");
        }
        let bytes = |observation: &Observation| observation.buffers.iter().map(|b| b.bytes.clone()).collect::<Vec<_>>();
        assert_eq!(bytes(&required.observation), bytes(&observation), "seed {seed}");
        let is_adapted = dispatch.words[..] != case.words[..];
        *(if is_adapted { &mut adapted } else { &mut alike }) += 1;

        let mut wrong = observation.clone();
        wrong.buffers[0].bytes[0] ^= 1;
        let found = asked(&case, &wrong, Route::Passthrough).err();
        let said = "the pass `bindings` changes what the module shows: word 0 of the buffer";
        assert_eq!(is_adapted, found.is_some_and(|wrong| wrong.what.starts_with(said)), "seed {seed}");
    }
    assert!(adapted > 0 && alike > 0, "{adapted} modules are adapted, {alike} are not");
}

/// Doubles the float at 0.0.
const FLOAT: &str = "OpCapability Shader OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main \"main\" OpExecutionMode %main LocalSize 1 1 1
    OpDecorate %block Block OpMemberDecorate %block 0 Offset 0 OpDecorate %out DescriptorSet 0 OpDecorate %out Binding 0
    %void = OpTypeVoid %fn = OpTypeFunction %void %float = OpTypeFloat 32 %uint = OpTypeInt 32 0 %c0 = OpConstant %uint 0
    %block = OpTypeStruct %float %p_block = OpTypePointer StorageBuffer %block %p_float = OpTypePointer StorageBuffer %float
    %out = OpVariable %p_block StorageBuffer %main = OpFunction %void None %fn %entry = OpLabel
    %p = OpAccessChain %p_float %out %c0 %x = OpLoad %float %p %y = OpFAdd %float %x %x OpStore %p %y OpReturn OpFunctionEnd";

#[test]
fn what_is_due_of_floats_is_what_the_relation_shows() {
    let module = Module::load(&words(FLOAT)).unwrap_or_else(|e| panic!("{e}"));
    let buffer = BufferBinding { set: 0, binding: 0, kind: BufferKind::ReadWrite, bytes: 1.5f32.to_le_bytes().to_vec() };
    let dispatch = ComputeDispatch {
        words: words(FLOAT).into(),
        entry: "main".into(),
        groups: [1; 3],
        buffers: vec![buffer],
        ..ComputeDispatch::default()
    };
    let of = |shown: f32| RequiredResult::of(&module, &dispatch, observed(0, 0, [shown.to_bits()]), Route::Passthrough, Rules::default());
    assert!(of(3.0).is_ok());
    assert_eq!(of(3.5), Err("the relation ends with observed, and not with what was observed".into()));
}

#[test]
fn what_a_device_makes_of_a_dispatch_is_told_apart() {
    let required = RequiredResult::exactly(observed(0, 0, [1, 2]));
    let computed = |set, binding, words: [u32; 2]| {
        let buffers = vec![Buffer { set, binding, bytes: words.map(u32::to_le_bytes).concat() }];
        DeviceOutcome::Computed(ComputeResult { words_hash: 0, buffers, images: Vec::new() })
    };
    let wrong = |what: &str, failed| if failed { Verdict::Failed(what.into()) } else { Verdict::Disagree(what.to_string()) };
    for (outcome, expected) in [
        (computed(0, 0, [1, 2]), Verdict::Agree),
        (computed(0, 0, [1, 3]), wrong("word 1 of the buffer at set 0, binding 0: expected 0x00000002, saw 0x00000003", false)),
        (computed(0, 1, [1, 2]), wrong("a buffer at set 0, binding 1 that was not given", false)),
        (DeviceOutcome::Refused("no such type".into()), wrong("it refuses a valid module: no such type", false)),
        (DeviceOutcome::Unchecked("no such capability".into()), Verdict::Unchecked("no such capability".into())),
        (DeviceOutcome::Outage("it is gone".into()), Verdict::Unchecked(DeviceOutcome::Outage("it is gone".into()).to_string())),
        (DeviceOutcome::Crashed { exit: Exit::Signal(11), stderr: String::new() }, wrong("crashed: signal 11 (SIGSEGV)", true)),
        (DeviceOutcome::Lost("a page fault".into()), wrong(&DeviceOutcome::Lost("a page fault".into()).to_string(), true)),
    ] {
        assert_eq!(on_device(&required, &outcome), expected, "{outcome}");
    }
}

/// Names, numbers and types are no part of a shape.
#[test]
fn modules_of_one_shape_have_the_same_instructions() {
    let shape = |text: &str| Shape::of(&words(text));
    let divide = shape(DIVIDE);
    for (from, to) in [
        ("OpName %main \"main\"\n", ""),
        ("%c1 = OpConstant %u 1\n", "%c1 = OpConstant %u 1\n%c7 = OpConstant %u 7\n"),
        ("LocalSize 4 1 1", "LocalSize 8 1 1"),
        ("OpUDiv %u %k %d", "OpUDiv %u %d %k"),
    ] {
        assert!(DIVIDE.contains(from), "{from}");
        assert_eq!(shape(&DIVIDE.replace(from, to)), divide, "{to}");
    }
    assert_ne!(shape(&DIVIDE.replace("OpUDiv", "OpUMod")), divide);
    assert_ne!(shape(&DIVIDE.replace("OpNoLine\n", "")), divide);
}

const KEYS: &str = ";@ quirk adapter: any\n;@ quirk driver: any\n;@ quirk route: passthrough\n;@ quirk seen: 2026-11-22\n\
    ;@ quirk says: word 1\n;@ quirk ends: shown\n";

#[test]
fn what_is_due_of_a_quirk_is_what_both_interpreters_observe() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.spvasm");
    let expected = |set: &str, module: &str| {
        std::fs::write(&path, format!("{KEYS};@ dispatch set: 0.2=u32:{set}\n{module}")).expect("written");
        DispatchQuirk::read(&path).expect("reads").expected()
    };
    let observation = expected("9,1,2,4,5", DIVIDE).expect("it is defined");
    assert_eq!(observation.buffers, observed(0, 2, [9, 100, 50, 25, 20]).buffers);
    let undefined = expected("9,1,2,4,0", DIVIDE).expect_err("a division by zero");
    assert!(undefined.what.contains("undefined[spirv/division-by-zero]"), "{undefined}");
    let open = expected("9,1,2,4,5", &DIVIDE.replace("OpUDiv %u %k %d", "OpUndef %u")).expect_err("any value");
    assert!(open.what.starts_with("byte 4 of the buffer at binding 2 is undefined (spirv/undef"), "{open}");
}

#[test]
fn every_file_of_a_folder_is_a_quirk() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec-tests/quirks-spirv");
    let names: BTreeSet<String> = DispatchQuirk::read_folder(&folder).expect("reads").into_iter().map(|quirk| quirk.name).collect();
    let files = std::fs::read_dir(&folder).expect("it is there").map(|file| file.expect("an entry").path());
    let stems = files.filter(|path| path.extension().is_some_and(|ending| ending == "spvasm"));
    let stems: BTreeSet<String> = stems.filter_map(|path| Some(path.file_stem()?.to_str()?.to_string())).collect();
    assert!(names == stems && !names.is_empty(), "{names:?}");
}
