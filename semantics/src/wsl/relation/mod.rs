//! The relation: the steps of a thread, threads together, races, and how a program is run.

pub mod execution;
pub mod group;
pub mod race;
pub(super) mod run;
pub mod traces;
