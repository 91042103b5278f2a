//! The relation: the steps of a thread, threads together, and races.

pub mod execution;
pub mod group;
pub mod race;
pub mod traces;
