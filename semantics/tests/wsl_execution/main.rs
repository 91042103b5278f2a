//! WSL's execution by the relation: values by hand, unspecified values, groups, and the progress of
//! generated programs.

mod bounds;
mod calls;
mod draws;
mod generated;
mod groups;
mod preservation;
#[path = "../common/random.rs"]
mod random;
mod relation;
mod rewritten;
mod textures;
mod unspecified;

use smallstep_semantics::outcome::Outcome;
use smallstep_semantics::wsl::Settings;
use smallstep_semantics::wsl::call::{Shown, prepare};
use smallstep_semantics::wsl::value;

/// The result of a call beside a program, as text.
#[track_caller]
fn call_with(program: &str, expression: &str, settings: &Settings) -> String {
    let prepared = prepare(program, expression).unwrap_or_else(|wrong| panic!("{expression}: {:?}\n{program}", wrong.errors));
    if let Err(broken) = preservation::of_expression(program, expression, settings.planted) {
        panic!("{expression}: {broken:?}");
    }
    let outcome = prepared.evaluate(settings, &mut |_, _| {});
    match outcome {
        Outcome::Observed(Shown { discarded, ways, .. }) if discarded == ways => "discarded".into(),
        Outcome::Observed(shown) => {
            assert!(shown.complete, "{expression}: there are more than {} ways", shown.ways);
            value::show(&prepared.program, shown.ty, &shown.words)
        }
        other => format!("{other:?}"),
    }
}

/// The same, with unspecified values carried.
#[track_caller]
fn call(program: &str, expression: &str) -> String {
    call_with(program, expression, &Settings::default())
}
