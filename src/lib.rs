//! The library of smallstep.

pub mod dispatch;
pub mod gpu;
