//! A precision conformance test: what a device computes, function by function, against what it may.
//!
//! For each function one compute module applies one instruction to operands from a buffer
//! ([`Modules`]); each result is judged by the acceptance set of that instruction under the profile
//! that the module declares ([`smallstep_semantics::number::sets`]), and its error is measured
//! against the mathematical reference ([`smallstep_semantics::number::reference`]).
//!
//! | module | what it holds |
//! |---|---|
//! | `function` | the functions |
//! | `module` | the compute module of one, and its dispatches |
//! | `inputs` | corner cases and stratified random inputs |
//! | `judge` | one input against its set; of functions of one number most inputs without it |
//! | `tally` | what is counted |
//! | `measure` | a function measured on what computes it |
//! | `device` | a device as what computes |
//! | `corner` | what a device does with subnormals, zeros, infinities and NaNs |
//! | `table`, `plot` | reports |
//!
//! What is not measured: matrices, comparisons, Modf, Frexp, and functions of integers.

mod corner;
mod device;
mod function;
mod inputs;
mod judge;
mod measure;
mod module;
mod plot;
mod table;
mod tally;

pub use corner::{Answer, QUESTIONS, Question};
pub use device::{Computer, NotComputed};
pub use function::Function;
pub use inputs::{Inputs, Random, corners};
pub use judge::{Judge, Wanted, reach, ulp};
pub use measure::{Measured, Plan, Verdict, measure};
pub use module::{Batch, Modules, Source, text};
pub use plot::plot;
pub use table::{Subject, corner_table, float_text, json, table};
pub use tally::{Binade, Error, Outside, Tally};
