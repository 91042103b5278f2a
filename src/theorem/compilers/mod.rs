//! Compilers under test: what makes other words of a module's words, and whether what it writes may
//! stand for what it read ([`crate::theorem::refine`]).
//!
//! `compiler` runs them, `passes` draws passes of spirv-opt, `renamed` finds the entry points that
//! WGSL renames, `judgement` compares over generated inputs and for every entry point, `shown` puts
//! a compiler in the place of a device.

mod compiler;
mod judgement;
mod passes;
mod renamed;
mod shown;

pub use compiler::{Compiled, Compiler, NotCompiled, PANICKED, accepts};
pub use judgement::{Found, Judgement, Status, comparable, judge, of_tally};
pub use renamed::{Renamed, restored};
pub use shown::{NotShown, profile, shown};
