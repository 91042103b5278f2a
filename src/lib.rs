//! The library of smallstep.

pub mod compile;
pub mod dispatch;
pub mod generate;
pub mod gpu;
