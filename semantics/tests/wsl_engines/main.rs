//! The fast engine compared with the relation: the same results, the same choices, and the
//! same endings.

mod determinism;
mod differ;
mod dispatches;
mod draws;
mod generated;
mod grids;

use smallstep_generate::wsl::beside::{self, Fuel};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::machine::Compiled;
use smallstep_semantics::wsl::typing::program::Program;

/// The comparison of the endings of both engines.
enum Compared {
    /// Both ended alike, with this result as text.
    Same(String),
    /// One did not end within its fuel, or does not support the call.
    Not,
}

/// Calls a function on both engines.
///
/// # Panics
/// If they end differently.
fn compare(program: &Program, text: &str, compiled: &Compiled, f: FunctionId, arguments: &[Vec<u32>], strategy: Strategy) -> Compared {
    let fuel = Fuel { machine: 400, relation: 20_000, time: None };
    match beside::call((program, text), (compiled, f), arguments, strategy, fuel).expect("the arguments fit") {
        beside::Compared::Same(shown) => Compared::Same(shown),
        beside::Compared::Not(_) => Compared::Not,
        beside::Compared::Differ { machine, relation } => {
            let signature = program.env.signature(f);
            panic!("{signature} of {arguments:?} by {strategy:?}\nmachine:  {machine}\nrelation: {relation}\n{text}")
        }
    }
}
