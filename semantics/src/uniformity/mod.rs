//! Uniformity analysis: seed 001. It decides before a run whether every barrier and every
//! derivative is in uniform control flow.
//!
//! Uniform means: all invocations of a scope execute the same instances of an operation, in the
//! same order. Two instances are the same if place, call path and iterations agree. The scope is
//! the workgroup for barriers, and the draw for derivatives. The analysis assumes termination
//! (ERRATA U-3): an invocation that never ends executes a prefix of what the others execute.

pub mod flow;
pub mod graph;
pub mod picture;
pub mod report;
pub mod seed;
pub mod spirv;
pub mod table;
pub mod wsl;

pub use report::{Analysis, Exit, Metadata, Mode, Parameter, Rejection, Step};
pub use table::Need;
