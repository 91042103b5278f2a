//! A precision conformance test: the results of a device, function by function, against the
//! allowed results.
//!
//! For each function, a compute module applies one instruction to operands from a buffer
//! ([`Modules`]). Each result is judged by the acceptance set of that instruction under the profile
//! that the module declares ([`smallstep_semantics::number::sets`]). Its error is measured against
//! the mathematical reference ([`smallstep_semantics::number::reference`]).
//!
//! | module | content |
//! |---|---|
//! | `function` | the functions |
//! | `module` | the compute module of a function, and its dispatches |
//! | `inputs` | corner cases and stratified random inputs |
//! | `judge` | an input against its set; for functions of one number mostly without the set |
//! | `tally` | the counts |
//! | `measure` | the measurement of a function on a computer |
//! | `device` | a device as a computer |
//! | `corner` | how a device treats subnormals, zeros, infinities and NaNs |
//! | `table`, `plot` | reports |
//!
//! Matrices, comparisons, Modf, Frexp, and functions of integers are not measured.

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
pub use judge::{Expected, Judge, reach, ulp};
pub use measure::{Measured, Plan, Verdict, measure};
pub use module::{Batch, Modules, Source, text};
pub use plot::plot;
pub use table::{Subject, corner_table, float_text, json, table};
pub use tally::{Binade, Error, Outside, Tally};
