//! The data that runs work on: values, memory, the results of operations, the resources of a
//! dispatch, and the texts of reports.

pub mod environment;
pub mod memory;
pub mod object;
pub mod operation;
pub(in crate::spirv) mod persistent;
pub(in crate::spirv) mod report;
pub mod semantics;
pub mod shared;
pub mod value;
