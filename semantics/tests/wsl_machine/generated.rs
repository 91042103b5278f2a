//! Generated programs. Each function compiles or is refused as unsupported. Compiled functions run
//! to an end.

use smallstep_generate::wsl::typed::program;
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::machine::{Compiled, Ending, Grid, Memory, Refusal, Settings};

/// 200, or the number in the environment variable `SEEDS`.
fn seeds() -> u64 {
    std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(200)
}

/// Word k of the arguments for a seed.
fn words(seed: u64, k: usize) -> u32 {
    let drawn = Strategy::Random(seed).choose(7, k as u64, 12).expect("something is chosen") as u32;
    if drawn < 6 { drawn } else { (drawn as f32 - 8.5).to_bits() }
}

#[test]
fn generated_programs_run_or_are_refused() {
    let (mut ran, mut unsupported, mut chose) = (0, 0, 0);
    for seed in 0..seeds() {
        let program = crate::typed(&program(seed));
        for i in 0..program.env.functions.len() as u32 {
            let compiled = match Compiled::new(&program, FunctionId(i)) {
                Ok(compiled) => compiled,
                Err(Refusal::Unsupported { .. }) => {
                    unsupported += 1;
                    continue;
                }
                Err(_) => continue,
            };
            // Only entry points are given textures.
            if compiled.takes_opaque() {
                continue;
            }
            let Ok(plain) = Compiled::plain(&program, FunctionId(i)) else { continue };
            // Values are zeros, or small numbers and floats. References to arrays refer to an
            // element of buffer 0.
            let zeros: Vec<u32> = compiled.example_arguments();
            let mixed = |k: usize, word: &u32| if seed % 2 == 0 || compiled.is_reference(k) { *word } else { words(seed, k) };
            let arguments: Vec<u32> = zeros.iter().enumerate().map(|(k, word)| mixed(k, word)).collect();
            for strategy in [Strategy::First, Strategy::Random(seed), Strategy::Carry] {
                let settings = Settings { strategy, fuel: 2000, ..Settings::default() };
                let mut buffers = [vec![seed as u32; 4096]];
                let (ending, stats) = compiled.call(&arguments, &mut buffers, &settings).expect("the arguments fit");
                assert!(!matches!(ending, Ending::Stuck { .. }), "{ending:?} of function {i} of seed {seed}");
                assert!(strategy == Strategy::Carry || !matches!(ending, Ending::Open { .. }));
                let again = compiled.call(&arguments, &mut [vec![seed as u32; 4096]], &settings).expect("the arguments fit");
                assert_eq!(again, (ending, stats));
                // The program that is compiled without shortcuts has the same observations.
                let mut others = [vec![seed as u32; 4096]];
                let plainly = plain.call(&arguments, &mut others, &settings).expect("the arguments fit");
                assert!((&plainly, &others) == (&again, &buffers), "function {i} of seed {seed}: {plainly:?} and {again:?}");
                chose += stats.choices;
                ran += 1;
            }
            let mut buffers = [vec![0; 4096]];
            let settings = Settings { strategy: Strategy::First, fuel: 4000, ..Settings::default() };
            let _ = compiled.dispatch(
                Grid { groups: 2, threads: 3 },
                &mut |_, _, words| words.extend(&arguments),
                &mut Memory::of(&mut buffers),
                &settings,
            );
        }
    }
    assert!(ran > 1000 && chose > 100 && unsupported < ran / 3, "{ran} runs, {unsupported} unsupported, {chose} choices");
}
