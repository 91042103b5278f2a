//! Vectors of WSL: calls of functions and dispatches of compute entry points, with every result
//! that the specification allows.
//!
//! `format` is what stands in a line, `bound` its images and samplers, `compiled` the SPIR-V that
//! it carries, `engines` what a case shows
//! on the relation and on the machine, `record` makes a file, `replay` checks
//! the engines against one.
//!
//! Invariant: a case is recorded only if what the machine shows, by several choices of what is
//! unspecified, is among what the relation shows.

pub mod bound;
pub mod compiled;
mod engines;
pub mod format;
pub mod record;
pub mod replay;

pub use format::{Call, Case, Checks, Header, Lane, SCHEMA, SCHEMA_OF_IMAGES};
