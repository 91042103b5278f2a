//! What runs compute with: values, memory, the results of operations, what a dispatch is given, and
//! what reports say.

pub mod environment;
pub mod memory;
pub mod object;
pub mod operation;
pub(in crate::spirv) mod persistent;
pub(in crate::spirv) mod report;
pub mod semantics;
pub mod shared;
pub mod value;
