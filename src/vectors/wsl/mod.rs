//! Vectors of WSL: calls of functions and dispatches of compute entry points, with all results that
//! the specification allows.
//!
//! `format` defines the lines, `bound` their images and samplers, and `compiled` the SPIR-V in
//! them. `engines` has the results of a case on the relation and on the machine. `record` makes a
//! file, and `replay` checks the engines against a file.
//!
//! Invariant: a case is recorded only if the relation allows the machine's results, for several
//! choices of the unspecified values.

pub mod bound;
pub mod compiled;
mod engines;
pub mod format;
pub mod record;
pub mod replay;

pub use format::{Call, Case, Checks, Header, Lane, SCHEMA, SCHEMA_OF_IMAGES};
