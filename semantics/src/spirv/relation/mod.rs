//! The relation, rule by rule, and what runs by it: dispatches and draws.

pub mod draw;
pub mod grid;
pub mod step;
