//! Progress: no generated program gets stuck.

use smallstep_generate::wsl::typed;
use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::call::Evaluation;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::execution::call_of;
use smallstep_semantics::wsl::execution::term::Value;
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::memory::Words;
use smallstep_semantics::wsl::open::Word;
use smallstep_semantics::wsl::syntax::FunctionKind;
use smallstep_semantics::wsl::types::{Type, TypeId};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;

fn programs() -> u64 {
    std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(100)
}

/// An argument of that type with small numbers, by the seed. `None` if the type needs memory.
pub fn argument(program: &Program, layouts: &mut Layouts, ty: TypeId, seed: u64) -> Option<Value> {
    if matches!(
        program.env.types.get(ty),
        Type::Pointer(..) | Type::ArrayReference(..) | Type::Sampler | Type::Texture(..) | Type::Atomic(_) | Type::Void
    ) {
        return None;
    }
    let size = layouts.of(&program.env, ty)?.size / 4;
    let word = |k: u64| match program.env.types.get(ty) {
        Type::Scalar(_) | Type::Vector(..) => (seed >> (k * 7) & 3) as u32,
        _ => 0,
    };
    (size <= 4096).then(|| Value { ty, words: (0..size).map(|k| Word::Bits(word(k))).collect::<Words>() })
}

#[test]
fn generated_programs_are_never_stuck() {
    let (mut ended, mut other) = (0u64, std::collections::BTreeMap::<String, u64>::new());
    for seed in 0..programs() {
        let text = typed::program(seed);
        let program = validate(&text).program.unwrap_or_else(|| panic!("program {seed} is not valid:\n{text}"));
        let mut layouts = Layouts::default();
        for (i, function) in program.env.functions.iter().enumerate() {
            if !matches!(function.kind, FunctionKind::Normal | FunctionKind::Cast) {
                continue;
            }
            let arguments: Option<Vec<Value>> =
                function.parameters.iter().map(|p| argument(&program, &mut layouts, p.ty, seed.wrapping_mul(0x9e37_79b9))).collect();
            let Some(arguments) = arguments else { continue };
            let root = FunctionId(i as u32);
            let start = call_of(&program, root, arguments);
            let settings = Settings { fuel: 5_000, ways: 8, ..Settings::default() };
            match (Evaluation { program: &program, text: &text, start, root }).run(&settings, &mut |_, _| {}) {
                Outcome::Observed(_) => ended += 1,
                Outcome::Stuck(stuck) => panic!("program {seed}: {} at {}\n{text}", stuck.why, stuck.at),
                outcome => *other.entry(outcome.name().to_string()).or_default() += 1,
            }
        }
    }
    println!("{ended} calls ended; {other:?}");
    assert!(ended > programs(), "only {ended} calls of {} programs ended; {other:?}", programs());
}
