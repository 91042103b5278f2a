//! Generated programs on both engines.

use crate::{Compared, compare};
use smallstep_generate::wsl::arguments::words;
use smallstep_generate::wsl::typed;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::machine::Compiled;
use smallstep_semantics::wsl::syntax::FunctionKind;
use smallstep_semantics::wsl::validate::validate;

fn programs() -> u64 {
    std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(100)
}

#[test]
fn generated_functions_end_alike() {
    let (mut same, mut not, mut open) = (0u64, 0u64, 0u64);
    for seed in 0..programs() {
        let text = typed::program(seed);
        let program = validate(&text).program.unwrap_or_else(|| panic!("program {seed} is not valid:\n{text}"));
        let mut layouts = Layouts::default();
        for (i, function) in program.env.functions.iter().enumerate() {
            if !matches!(function.kind, FunctionKind::Normal | FunctionKind::Cast) {
                continue;
            }
            let arguments = function.parameters.iter().zip(0..).map(|(p, k)| words(&program, &mut layouts, p.ty, seed, k));
            let Some(arguments) = arguments.collect::<Option<Vec<_>>>() else { continue };
            let Ok(compiled) = Compiled::new(&program, FunctionId(i as u32)) else { continue };
            for strategy in [Strategy::First, Strategy::Random(seed), Strategy::Carry] {
                match compare(&program, &text, &compiled, FunctionId(i as u32), &arguments, strategy) {
                    Compared::Same(shown) => {
                        same += 1;
                        open += u64::from(shown == "unspecified");
                    }
                    Compared::Not => not += 1,
                }
            }
        }
    }
    println!("{same} runs of {} programs alike, {open} of them unspecified; {not} ran out of fuel or are not run", programs());
    assert!(same > 2 * programs() && open > programs() / 100, "{same} runs alike, {open} unspecified");
}
