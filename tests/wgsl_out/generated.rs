//! Generated compute modules, original and optimised.

use std::collections::BTreeMap;
use std::time::Duration;

use rspirv::spirv::Op;
use smallstep::compile::wgsl;
use smallstep::compile::wgsl::planted::Change;
use smallstep::generate::spirv::{Limits, case};
use smallstep::theorem::compilers::Compiler;
use smallstep::theorem::dispatches::optimised::{Wrong, optimised};
use smallstep::theorem::dispatches::shaders;
use smallstep::verdict::Verdict;

const LIMIT: Duration = Duration::from_secs(60);

/// The number of modules that agree, and the other results with their counts.
fn tally(optimiser: &Compiler, count: u64, executed: u32) -> (u64, BTreeMap<String, u64>) {
    let (mut agree, mut others) = (0, BTreeMap::new());
    for seed in 1..=count {
        let case = case(seed, &Limits { executed, ..Limits::default() });
        match optimised(&case, optimiser) {
            Verdict::Agree => agree += 1,
            Verdict::Undecided(_) => *others.entry("undecided".to_string()).or_default() += 1,
            other => *others.entry(format!("seed {seed}: {other:?}")).or_default() += 1,
        }
    }
    (agree, others)
}

#[test]
fn generated_modules_agree_through_wgsl() {
    let (agree, others) = tally(&Compiler::wgsl(wgsl::Options::default(), LIMIT), 200, 100);
    assert!(others.keys().all(|what| what == "undecided"), "{others:#?}");
    assert!(agree >= 190, "{agree} agree; {others:?}");
}

/// glslang's modules of generated GLSL, of all stages. A planted bug in the conversion shows
/// in them.
#[test]
fn generated_shaders_agree_through_wgsl() {
    if !smallstep_spec_tests::tools::is_there("glslangValidator") {
        return;
    }
    let by = |planted: Option<Change>| {
        let compiler = Compiler::wgsl(wgsl::Options { planted, ..wgsl::Options::default() }, LIMIT);
        let (mut agree, mut wrong, mut others) = (BTreeMap::new(), Vec::new(), Vec::new());
        for seed in 1..=40 {
            let piece = shaders::shown(seed, &compiler);
            match piece.became {
                Some(Verdict::Agree) => *agree.entry(piece.kind).or_insert(0) += 1,
                Some(Verdict::Disagree(Wrong { what, .. })) => wrong.push(format!("seed {seed}: {what}")),
                other => others.push(format!("seed {seed}: {other:?}")),
            }
        }
        (agree, wrong, others)
    };
    let (agree, wrong, others) = by(None);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(agree.len() == 3 && agree.values().sum::<u32>() >= 34, "{agree:?}\n{others:#?}");
    let (_, wrong, _) = by(Some(Change::Opcode(Op::IAdd, Op::ISub)));
    assert!(wrong.len() >= 5, "{wrong:#?}");
}

#[test]
fn optimised_modules_agree_through_wgsl() {
    for (command, count) in [("spirv-opt -O", 100), ("spirv-opt -Os", 40), ("spirv-opt {random}", 100)] {
        let Ok(optimiser) = Compiler::new(command, LIMIT) else {
            assert!(std::env::var_os("SMALLSTEP_REQUIRE_SPIRV_TOOLS").is_none(), "there is no spirv-opt");
            return;
        };
        let (agree, others) = tally(&optimiser.through_wgsl(wgsl::Options::default()), count, 100);
        // An optimiser may crash, or may make a module undefined, which then allows everything.
        let known = |what: &String| what == "undecided" || what.contains(": Vacuous(") || what.contains("Unchecked(\"the compiler crashes");
        assert!(others.keys().all(known), "{command}: {others:#?}");
        assert!(agree * 100 >= count * 95, "{command}: {agree} agree; {others:?}");
    }
}

/// A signed maximum of an unsigned atomic becomes a loop of compare-exchanges, which 128
/// invocations retry. There are too many orders to try all of them, but the loop ends.
#[test]
fn a_loop_in_the_place_of_an_atomic_has_time_to_end() {
    let became = optimised(&case(27715, &Limits::default()), &Compiler::wgsl(wgsl::Options::default(), LIMIT));
    assert!(matches!(&became, Verdict::Undecided(why) if why.contains("in another order")), "{became:?}");
}

/// An optimiser that writes no module is wrong itself. This says nothing about the conversion.
#[test]
fn an_optimiser_that_writes_no_module_is_no_finding_of_the_conversion() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("cut");
    std::fs::write(&script, "head -c 20 \"$1\" > \"$3\"\n").expect("written");
    let optimiser = Compiler::new(&format!("sh {}", script.display()), LIMIT).expect("a shell");
    let case = case(1, &Limits::default());
    let alone = optimised(&case, &optimiser);
    assert!(matches!(alone, Verdict::Disagree(_)), "{alone:?}");
    match optimised(&case, &optimiser.through_wgsl(wgsl::Options::default())) {
        Verdict::Unchecked(why) => assert!(why.starts_with("the compiler before WGSL writes no valid module: "), "{why}"),
        other => panic!("{other:?}"),
    }
}
