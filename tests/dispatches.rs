//! Generated dispatches through both interpreters, and the oracle that judges them, tested by planted bugs.

use std::collections::BTreeSet;

use smallstep::generate::spirv::{Defect, Kind, Limits};
use smallstep::theorem::dispatches::Engines;
use smallstep::theorem::dispatches::campaign::{self, Plan, Tally};
use smallstep::theorem::dispatches::planted::{Bug, Check, Hunt, Plant, line, table, vectors};
use smallstep::theorem::planted::Fate;
use smallstep_semantics::undefined::{Refusal, Ub, Unspecified};

fn plan(count: u64, threads: usize) -> Plan {
    let limits = Limits { executed: 100, shared_percent: 50, ..Limits::default() };
    Plan { seed: 1, count, twins: 3, references: 1, threads, limits, engines: Engines::default(), optimiser: None }
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

/// Findings too: the machine of these runs is wrong.
#[test]
fn a_tally_does_not_depend_on_the_threads() {
    let bug = table().into_iter().find(|bug| bug.name == "OpBitwiseXor is inclusive").expect("it is in the table");
    let tally = |threads| campaign::run(&Plan { engines: bug.engines(), ..plan(24, threads) }, None, |_, _| {});
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

/// What both engines compute by is wrong in both alike: only a result of other making can tell.
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

/// A bug that is said to be none is found out, whichever check sees it.
#[test]
fn a_false_claim_of_equivalence_is_found_out() {
    for name in ["OpConvertFToU holds what is signed", "OpIMul adds", "OpFNegate is the magnitude"] {
        let bug = table().into_iter().find(|bug| bug.name == name).expect("it is in the table");
        let claimed = Bug { check: Check::Equivalent("because"), ..bug };
        let fates = Hunt::default().all(&[claimed], &|_, _| {});
        assert!(matches!(fates[..], [Fate::NotEquivalent(_)]), "{name}: {fates:?}");
    }
}
