//! WSL's fast engine: programs of every form with results worked out by hand, the limits of the
//! engine, and generated programs.

mod accessors;
mod generated;
mod grids;
mod limits;
mod programs;
mod unspecified;

use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::machine::{Compiled, Ending, Settings, Stats};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::validate::validate;

/// The typed program.
#[track_caller]
fn typed(text: &str) -> Program {
    let found = validate(text);
    match found.program {
        Some(program) => program,
        None => panic!("invalid: {:?}\n{text}", found.errors.first()),
    }
}

/// The first function of that name.
#[track_caller]
fn function(program: &Program, name: &str) -> FunctionId {
    let env = &program.env;
    let found = env.functions.iter().position(|f| env.names.name(f.name.name) == name);
    FunctionId(found.expect("there is a function of that name") as u32)
}

#[track_caller]
fn compiled(text: &str, name: &str) -> Compiled {
    let program = typed(text);
    Compiled::new(&program, function(&program, name)).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[track_caller]
fn run_with(text: &str, name: &str, arguments: &[u32], settings: &Settings) -> (Ending, Stats) {
    compiled(text, name).call(arguments, &mut [], settings).expect("the arguments fit")
}

/// The words that `name` returns, if nothing is unspecified.
#[track_caller]
fn words(text: &str, name: &str, arguments: &[u32]) -> Vec<u32> {
    match run_with(text, name, arguments, &Settings { fuel: 1 << 24, ..Settings::default() }).0 {
        Ending::Returned(words) => words,
        other => panic!("{other:?}\n{text}"),
    }
}

/// The `int` that `f` returns, if nothing is unspecified.
#[track_caller]
fn int(text: &str, arguments: &[u32]) -> i32 {
    match words(text, "f", arguments)[..] {
        [word] => word as i32,
        ref other => panic!("{other:?} are not one word"),
    }
}

/// The words that `f` returns by that strategy.
#[track_caller]
fn chosen(text: &str, arguments: &[u32], strategy: Strategy) -> Vec<u32> {
    match run_with(text, "f", arguments, &Settings { fuel: 1 << 24, strategy, ..Settings::default() }).0 {
        Ending::Returned(words) => words,
        other => panic!("{other:?}\n{text}"),
    }
}
