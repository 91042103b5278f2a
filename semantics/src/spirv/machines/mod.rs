//! The machines: one for λV's fragments, and the lockstep machine.

pub mod lockstep;
pub mod machine;
