//! Generated programs: each function compiles, or says what is unsupported; what compiles runs to an end.

use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::generate::typed::program;
use smallstep_semantics::wsl::machine::{Compiled, Ending, Grid, Refusal, Settings};

#[test]
fn generated_programs_run_or_are_refused() {
    let (mut ran, mut unsupported, mut chose) = (0, 0, 0);
    for seed in 0..200 {
        let program = crate::typed(&program(seed));
        for i in 0..program.env.functions.len() as u32 {
            let compiled = match Compiled::new(&program, FunctionId(i)) {
                Ok(compiled) => compiled,
                Err(Refusal::Unsupported { .. }) => {
                    unsupported += 1;
                    continue;
                }
                Err(Refusal::Limit { .. }) => continue,
            };
            // Zeros for values; references to arrays are the whole of buffer 0.
            let arguments: Vec<u32> = compiled.example_arguments();
            for strategy in [Strategy::First, Strategy::Random(seed), Strategy::Carry] {
                let settings = Settings { strategy, fuel: 2000, ..Settings::default() };
                let mut buffers = [vec![seed as u32; 4096]];
                let (ending, stats) = compiled.call(&arguments, &mut buffers, &settings).expect("the arguments fit");
                assert!(!matches!(ending, Ending::Stuck { .. }), "{ending:?} of function {i} of seed {seed}");
                assert!(strategy == Strategy::Carry || !matches!(ending, Ending::Open { .. }));
                let again = compiled.call(&arguments, &mut [vec![seed as u32; 4096]], &settings).expect("the arguments fit");
                assert_eq!(again, (ending, stats));
                chose += stats.choices;
                ran += 1;
            }
            let mut buffers = [vec![0; 4096]];
            let settings = Settings { strategy: Strategy::First, fuel: 4000, ..Settings::default() };
            let _ = compiled.dispatch(Grid { groups: 2, threads: 3 }, &mut |_, _, words| words.extend(&arguments), &mut buffers, &settings);
        }
    }
    assert!(ran > 1000 && chose > 100 && unsupported < ran / 3, "{ran} runs, {unsupported} unsupported, {chose} choices");
}
