//! The fast engine beside the relation, on one call or one dispatch: whether they end alike. For tests, campaigns and fuzzing; neither engine knows of it.

use super::call::{self, Evaluation};
use super::choice::Strategy;
use super::environment::FunctionId;
use super::execution::call_of;
use super::execution::term::Value;
use super::group::{self, Dispatch};
use super::machine::{self, Compiled, Dispatched, Ending};
use super::memory::Words;
use super::open::{Possible, Word};
use super::typing::program::Program;
use super::value;
use crate::outcome::Outcome;

/// How both engines ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Alike, with this.
    Same(String),
    /// One did not end within its fuel, or does not run this, or what it shows depends on a race.
    Not,
    /// Otherwise than the other.
    Differ {
        /// How the machine ended.
        machine: String,
        /// How the relation ended.
        relation: String,
    },
}

/// How far the engines go.
#[derive(Clone, Copy, Debug)]
pub struct Fuel {
    /// Iterations and calls of the machine.
    pub machine: u64,
    /// Steps of the relation.
    pub relation: u64,
}

/// Calls a function with the words of its arguments on both engines. `compiled` is the function; what is carried is followed along one way.
///
/// # Errors
/// If the arguments are not what the function takes.
pub fn call(
    (program, text): (&Program, &str),
    (compiled, f): (&Compiled, FunctionId),
    arguments: &[Vec<u32>],
    strategy: Strategy,
    fuel: Fuel,
) -> Result<Compared, String> {
    let flat: Vec<u32> = arguments.iter().flatten().copied().collect();
    let settings = machine::Settings { strategy, fuel: fuel.machine, ..machine::Settings::default() };
    let (fast, _) = compiled.call(&flat, &mut [], &settings)?;
    if matches!(fast, Ending::OutOfFuel { .. }) {
        return Ok(Compared::Not);
    }
    let parameters = &program.env.function(f).parameters;
    let values = parameters.iter().zip(arguments);
    let values = values.map(|(p, words)| Value { ty: p.ty, words: words.iter().map(|&w| Word::Bits(w)).collect::<Words>() });
    let evaluation = Evaluation { program, text, start: call_of(program, f, values.collect()), root: f };
    let settings = call::Settings { strategy, fuel: fuel.relation, ways: 1, ..call::Settings::default() };
    let slow = evaluation.run(&settings, &mut |_, _| {});
    let result = program.env.function(f).result;
    let shown = |words: &[Possible]| value::show(program, result, words);
    let (machine, relation) = match (fast, slow) {
        (_, Outcome::OutOfFuel | Outcome::Limit(_) | Outcome::Unsupported(_)) => return Ok(Compared::Not),
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
    Ok(compared(machine, relation))
}

fn compared(machine: String, relation: String) -> Compared {
    if machine == relation { Compared::Same(machine) } else { Compared::Differ { machine, relation } }
}

/// Runs a dispatch on both engines by a definite strategy. `compiled` is its entry point.
///
/// # Errors
/// If there are too many threads, or what is bound is not what the entry point takes.
pub fn dispatch(dispatch: &Dispatch, compiled: &Compiled, strategy: Strategy, fuel: Fuel) -> Result<Compared, String> {
    let settings = machine::Settings { strategy, fuel: fuel.machine, ..machine::Settings::default() };
    let fast = dispatch.run_fast(compiled, &settings)?;
    if matches!(fast.ended, Dispatched::Stopped { ending: Ending::OutOfFuel { .. }, .. }) {
        return Ok(Compared::Not);
    }
    let settings = group::Settings { strategy, fuel: fuel.relation, ways: 1, ..group::Settings::default() };
    let (machine, relation) = match (&fast.ended, dispatch.run(&settings)) {
        (_, group::Ending::Other(Outcome::OutOfFuel | Outcome::Limit(_) | Outcome::Unsupported(_))) => return Ok(Compared::Not),
        (_, group::Ending::Shown(slow)) if !slow.races.is_empty() => return Ok(Compared::Not),
        (Dispatched::Diverged(..), group::Ending::Diverged(_)) => ("diverged".into(), "diverged".into()),
        (Dispatched::Done, group::Ending::Shown(slow)) => {
            let slow: Vec<Vec<Option<u32>>> = slow.buffers.iter().map(|words| words.iter().map(Possible::only).collect()).collect();
            let fast: Vec<Vec<Option<u32>>> = fast.buffers.iter().map(|words| words.iter().copied().map(Some).collect()).collect();
            (format!("{fast:?}"), format!("{slow:?}"))
        }
        (fast, slow) => (format!("{fast:?}"), format!("{slow:?}")),
    };
    Ok(compared(machine, relation))
}
