//! The analysis of uniformity against executions (seed 001).
//!
//! To this room an analysis is a function from a valid program to a [`Answer`]. It is *sound* if
//! no program that it accepts has an execution in which threads are apart at a barrier, a
//! derivative or a sample. It is *precise* as far as it accepts the others. [`execution`] runs a
//! program and says whether its threads stay together; [`campaign()`] does so for the generated
//! programs of a [`Language`] and counts; [`relation`] asks the reference interpreter the same.
//! [`Wsl`] and [`Spirv`] are the languages.

mod analyses;
mod campaign;
pub mod execution;
mod language;
pub mod relation;
pub mod spirv;

pub use analyses::{Named, SPIRV_ANALYSES, WSL_ANALYSES, accept_all, branches, precise, precise_spirv, reject_all, seed};
pub use campaign::{Case, Cause, Found, MAX_CASES, Plan, campaign};
pub use execution::{Executions, Observed};
pub use language::{Language, Wsl};
pub use spirv::Spirv;

/// What an analysis says of a program: it accepts it, since threads stay together in every
/// execution, or why they may not. Programs are counted by the reason, so it names a kind of reason
/// and no place.
pub type Answer = Result<(), Rejected>;

/// Why an analysis does not accept a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected {
    /// The kind of reason.
    pub why: String,
}

impl Rejected {
    /// For this kind of reason.
    pub fn new(why: impl Into<String>) -> Rejected {
        Rejected { why: why.into() }
    }
}

impl std::fmt::Display for Rejected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Rejected {}

/// An analysis of programs, once they are valid.
pub type Analysis<'a, P> = &'a (dyn Fn(&P) -> Answer + Sync);
