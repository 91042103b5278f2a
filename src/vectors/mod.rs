//! Conformance vectors: programs with what every conforming engine must show, as JSON lines, to be
//! checked on another machine.
//!
//! `format` is what stands in a line (FORMAT.md beside this file is its description for other
//! readers), `reader` takes them one by one, `record` makes a file from generated programs,
//! `replay` checks an engine or a device against one; `wsl` has these three for WSL programs, calls
//! and dispatches. `amber` writes generated compute modules as Amber scripts, which
//! [`crate::run::amber`] plays.
//!
//! Invariant: a case is recorded only if typing, both machines and both relations agree on every
//! pixel of it, so a file holds nothing that one engine of ours alone has said.

pub mod amber;
pub mod format;
mod reader;
pub mod record;
pub mod replay;
pub mod wsl;

pub use format::{Case, Header, LineError};
pub use reader::{Lines, Opened, Reader};
