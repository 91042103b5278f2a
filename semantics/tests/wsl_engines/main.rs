//! The fast engine beside the relation: the same results, the same choices, the same endings.

mod dispatches;
mod generated;
mod grids;

use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::wsl::call::{self, Evaluation};
use smallstep_semantics::wsl::choice::Strategy;
use smallstep_semantics::wsl::environment::FunctionId;
use smallstep_semantics::wsl::execution::call_of;
use smallstep_semantics::wsl::execution::term::Value;
use smallstep_semantics::wsl::machine::{self, Compiled, Ending};
use smallstep_semantics::wsl::memory::Words;
use smallstep_semantics::wsl::open::{Possible, Word};
use smallstep_semantics::wsl::typing::program::Program;
use smallstep_semantics::wsl::value;

/// How both engines ended, if both did within their fuel.
enum Compared {
    /// Alike, with this.
    Same(String),
    /// One did not end, or does not run this.
    Not,
}

/// Calls a function on both engines.
///
/// # Panics
/// If they end differently.
fn compare(program: &Program, text: &str, compiled: &Compiled, f: FunctionId, arguments: &[Vec<u32>], strategy: Strategy) -> Compared {
    let flat: Vec<u32> = arguments.iter().flatten().copied().collect();
    let settings = machine::Settings { strategy, fuel: 400, ..machine::Settings::default() };
    let (fast, _) = compiled.call(&flat, &mut [], &settings).expect("the arguments fit");
    if matches!(fast, Ending::OutOfFuel { .. }) {
        return Compared::Not;
    }
    let parameters = &program.env.function(f).parameters;
    let values = parameters.iter().zip(arguments);
    let values = values.map(|(p, words)| Value { ty: p.ty, words: words.iter().map(|&w| Word::Bits(w)).collect::<Words>() });
    let evaluation = Evaluation { program, text, start: call_of(program, f, values.collect()), root: f };
    let settings = call::Settings { strategy, fuel: 20_000, ways: 1, ..call::Settings::default() };
    let slow = evaluation.run(&settings, &mut |_, _| {});
    let result = program.env.function(f).result;
    let shown = |words: &[Possible]| value::show(program, result, words);
    let (fast, slow) = match (fast, slow) {
        (_, Outcome::OutOfFuel | Outcome::Limit(_) | Outcome::Unsupported(_)) => return Compared::Not,
        // What is met is carried by the one, and stops the other.
        (Ending::Open { .. }, Outcome::Observed(slow)) => {
            ("unspecified".into(), if slow.unspecified { "unspecified".into() } else { shown(&slow.words) })
        }
        (Ending::Discarded, Outcome::Observed(slow)) if slow.discarded == slow.ways => ("discarded".into(), "discarded".to_string()),
        (Ending::Returned(words), Outcome::Observed(slow)) if slow.discarded == 0 => {
            let words: Vec<Possible> = words.into_iter().map(|w| Possible::Values(vec![w])).collect();
            (shown(&words), shown(&slow.words))
        }
        (fast, slow) => (format!("{fast:?}"), format!("{slow:?}")),
    };
    let (signature, arguments) = (program.env.signature(f), arguments);
    assert!(fast == slow, "{signature} of {arguments:?} by {strategy:?}\nmachine:  {fast}\nrelation: {slow}\n{text}");
    Compared::Same(fast)
}
