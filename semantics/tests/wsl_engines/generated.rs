//! Generated programs on both engines.

use crate::{Compared, compare};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::generate::typed;
use smallstep_semantics::wsl::layout::Layouts;
use smallstep_semantics::wsl::machine::Compiled;
use smallstep_semantics::wsl::syntax::FunctionKind;
use smallstep_semantics::wsl::types::{Scalar, Type, TypeId};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;

fn programs() -> u64 {
    std::env::var("SMALLSTEP_WSL_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(100)
}

/// The words of an argument, drawn by the seed: small numbers and floats in scalars and vectors, zeros elsewhere; none of what is made of memory.
fn argument(program: &Program, layouts: &mut Layouts, ty: TypeId, seed: u64, place: u64) -> Option<Vec<u32>> {
    if matches!(
        program.env.types.get(ty),
        Type::Pointer(..) | Type::ArrayReference(..) | Type::Sampler | Type::Texture(..) | Type::Atomic(_) | Type::Void
    ) {
        return None;
    }
    let size = layouts.of(&program.env, ty)?.size / 4;
    let drawn = |k: u64| Strategy::Random(seed).choose(place as u32, k, 8).unwrap_or(0) as u32;
    let number = |scalar: Scalar, k: u64| match scalar {
        Scalar::Bool => drawn(k) & 1,
        Scalar::Uint => drawn(k),
        Scalar::Int => drawn(k).wrapping_sub(3),
        Scalar::Float => (drawn(k) as f32 * 0.75 - 2.0).to_bits(),
    };
    let word = |k: u64| match program.env.types.get(ty) {
        Type::Scalar(scalar) => number(scalar, k),
        Type::Vector(scalar, n) if k < u64::from(n) => number(scalar, k),
        _ => 0,
    };
    (size <= 4096).then(|| (0..size).map(word).collect())
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
            let arguments = function.parameters.iter().zip(0..).map(|(p, k)| argument(&program, &mut layouts, p.ty, seed, k));
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
