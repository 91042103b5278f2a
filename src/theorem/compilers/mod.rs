//! Compilers under test: what makes other words of a module's words, and whether what it writes may
//! stand for what it read ([`crate::theorem::refine`]).
//!
//! `compiler` runs them, `renamed` finds the entry points that WGSL renames, `judgement` compares
//! over generated inputs and for every entry point.

mod compiler;
mod judgement;
mod renamed;

pub use compiler::{Compiled, Compiler, NotCompiled, accepts};
pub use judgement::{Found, Judgement, Verdict, comparable, judge};
pub use renamed::{Renamed, restored};
