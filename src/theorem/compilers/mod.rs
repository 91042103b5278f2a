//! Compilers under test: each turns the words of a module into other words. The question is whether
//! the output may replace the input ([`crate::theorem::refine`]).
//!
//! `compiler` runs them. `passes` draws passes of spirv-opt. `renamed` finds the entry points that
//! WGSL renames. `judgement` compares over generated inputs and for every entry point. `shown` uses
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
