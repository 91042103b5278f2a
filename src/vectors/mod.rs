//! Conformance vectors: programs with the results that every conforming engine must show. They are
//! JSON lines, to be checked on other machines.
//!
//! `format` defines the lines (FORMAT.md beside this file describes them for other readers).
//! `reader` reads them one by one. `record` makes a file from generated programs. `replay` checks
//! an engine or a device against a file. `wsl` has the same for WSL programs, calls and dispatches.
//! `amber` writes generated compute modules as Amber scripts, which [`crate::run::amber`] plays.
//!
//! Invariant: a case is recorded only if typing, both machines and both relations agree on each of
//! its pixels. So no result in a file comes from a single engine of ours.

pub mod amber;
pub mod format;
mod reader;
pub mod record;
pub mod replay;
pub mod wsl;

pub use format::{Case, Header, LineError};
pub use reader::{Lines, Opened, Reader};
