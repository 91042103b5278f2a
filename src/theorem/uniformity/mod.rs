//! The analysis of uniformity against executions (seed 001).
//!
//! To this room an analysis is a function from a valid program to a [`Verdict`]. It is *sound* if
//! no program that it accepts has an execution in which threads are apart at a barrier, a
//! derivative or a sample. It is *precise* as far as it accepts the others. [`execution`] runs a
//! program and says whether its threads stay together; [`campaign()`] does so for generated
//! programs and counts; [`relation`] asks the reference interpreter the same.

mod analyses;
mod campaign;
pub mod execution;
pub mod relation;

pub use analyses::{ANALYSES, Named, accept_all, branches, precise, reject_all, seed};
pub use campaign::{Case, Cause, Found, MAX_CASES, Plan, campaign};
pub use execution::{Executions, Observed};

use smallstep_semantics::wsl::typing::program::Program;

/// What an analysis says of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Threads stay together in every execution.
    Accepts,
    /// They may not, for this reason. Programs are counted by it, so it names a kind of reason and
    /// no place.
    Rejects(String),
}

/// An analysis of programs.
pub type Analysis<'a> = &'a (dyn Fn(&Program) -> Verdict + Sync);
