//! WSL, the former WebGPU Shading Language: seed 004.
//!
//! Text → tokens (`lex`) → [`syntax::Tree`] (`parse`) → [`core::Program`] (`desugar`) → the global
//! environment and every function's derivation (`environment`, `typing`) → a typed program.
//! Execution needs nothing else.

pub mod call;
pub mod draw;
mod front;
pub mod machine;
mod relation;
mod validation;
mod values;

use front::arena;
pub use front::{core, desugar, error, lex, parse, print, syntax, token};
pub use relation::run::{At, Ending, Settings, Watch};
pub use relation::{execution, group, race, traces};
pub use validation::{entry, environment, library, recheck, specialization, types, typing, validate};
pub use values::{choice, layout, meaning, memory, open, texture, value};

use crate::outcome::Outcome;

/// Validates a program. Returns its typed form, or every error with the rule that is broken.
///
/// ```
/// use smallstep_semantics::wsl;
///
/// let program = wsl::check("int twice(int x) { return x + x; }").expect("valid");
/// assert_eq!(program.bodies.len(), 1);
///
/// let errors = wsl::check("int f(bool b) { return b; }").unwrap_err();
/// assert_eq!(errors[0].rule.name(), "wsl/v-function-return");
/// ```
///
/// # Errors
/// The errors of the program, by place.
pub fn check(text: &str) -> Result<typing::program::Program, Vec<error::Error>> {
    let validate::Validated { program, errors, .. } = validate::validate(text);
    program.ok_or(errors)
}

/// Evaluates an expression that can use the functions of a program. Returns what each word of its
/// value may be. The machine evaluates it. If it meets something unspecified, the reference
/// interpreter does.
///
/// ```
/// use smallstep_semantics::wsl::{self, open::Possible};
///
/// let program = "int at(uint i) { int[3] a; a[0u] = 1; a[1u] = 2; a[2u] = 3; return a[i]; }";
/// let shown = wsl::call(program, "at(1)").expect("valid");
/// assert_eq!(shown.observed().expect("it ends").words, [Possible::Values(vec![2])]);
///
/// // An index out of bounds becomes some index in bounds.
/// let shown = wsl::call(program, "at(7)").expect("valid");
/// assert_eq!(shown.observed().expect("it ends").words, [Possible::Values(vec![1, 2, 3])]);
/// ```
///
/// # Errors
/// If the program or the expression is wrong.
pub fn call(program: &str, expression: &str) -> Result<Outcome<call::Shown>, call::Invalid> {
    let prepared = call::prepare(program, expression)?;
    let settings = Settings::default();
    match prepared.evaluate_fast(&settings) {
        Some((outcome, _)) => Ok(outcome),
        None => Ok(prepared.evaluate(&settings, &mut |_, _| {})),
    }
}
