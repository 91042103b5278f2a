//! The relation, rule by rule, and what runs by it: dispatches, draws, and the order of what
//! invocations do.

pub mod concurrency;
pub mod draw;
pub mod grid;
pub mod step;
