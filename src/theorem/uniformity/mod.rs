//! Analyses of uniformity compared with executions (seed 001).
//!
//! Here an analysis is a function from a valid program to an [`Answer`]. It is *sound* if no
//! program that it accepts has an execution in which threads are apart at a barrier, a derivative
//! or a sample. It is the more *precise* the more of the other programs it accepts. [`execution`]
//! runs a program and observes whether its threads stay together. [`campaign()`] does so for the
//! generated programs of a [`Language`] and counts the results. [`relation`] runs the reference
//! interpreter on the same question. [`Wsl`] and [`Spirv`] are the languages.

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

/// The answer of an analysis for a program. It accepts the program if threads stay together in
/// every execution. Otherwise the answer is the reason why they may not. Programs are counted by
/// reason, so a reason names its kind and no place.
pub type Answer = Result<(), Rejected>;

/// The reason why an analysis rejects a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected {
    /// The kind of reason, in words.
    pub why: String,
}

impl Rejected {
    /// A rejection for this kind of reason.
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

/// An analysis of valid programs.
pub type Analysis<'a, P> = &'a (dyn Fn(&P) -> Answer + Sync);
