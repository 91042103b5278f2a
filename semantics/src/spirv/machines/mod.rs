//! The machines: one for λV's fragment programs, and the lockstep machine.

pub mod lockstep;
pub mod machine;
