//! The library of smallstep.

pub mod compile;
pub mod diagnostic;
pub mod dispatch;
pub mod generate;
pub mod gpu;
pub mod run;
pub mod theorem;
pub mod vectors;
