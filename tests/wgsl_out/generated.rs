//! Generated compute modules, as they are and optimised.

use std::collections::BTreeMap;
use std::time::Duration;

use smallstep::compile::wgsl;
use smallstep::generate::spirv::{Limits, case};
use smallstep::theorem::compilers::Compiler;
use smallstep::theorem::dispatches::optimised::{Optimised, optimised};

const LIMIT: Duration = Duration::from_secs(60);

/// How many modules agree, and what became of the others.
fn tally(optimiser: &Compiler, count: u64, executed: u32) -> (u64, BTreeMap<String, u64>) {
    let (mut agree, mut others) = (0, BTreeMap::new());
    for seed in 1..=count {
        let case = case(seed, &Limits { executed, ..Limits::default() });
        match optimised(&case, optimiser) {
            Optimised::Allowed => agree += 1,
            Optimised::Undecided(_) => *others.entry("undecided".to_string()).or_default() += 1,
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

#[test]
fn optimised_modules_agree_through_wgsl() {
    let Ok(optimiser) = Compiler::new("spirv-opt -O", LIMIT) else {
        assert!(std::env::var_os("SMALLSTEP_REQUIRE_SPIRV_TOOLS").is_none(), "there is no spirv-opt");
        return;
    };
    let (agree, others) = tally(&optimiser.through_wgsl(wgsl::Options::default()), 100, 100);
    assert!(others.keys().all(|what| what == "undecided"), "{others:#?}");
    assert!(agree >= 95, "{agree} agree; {others:?}");
}
