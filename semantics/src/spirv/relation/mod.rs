//! The relation, rule by rule, and the runs that use it: dispatches and draws.

pub mod draw;
pub mod grid;
pub mod step;
