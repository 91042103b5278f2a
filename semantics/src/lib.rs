//! The meaning of the languages: λV (report 000), SPIR-V (the part that λV's translation needs,
//! and more), and WSL (seed 004).
//!
//! There is no GPU code, no compiler and no unsafe code in this crate. So the interpreters cannot
//! depend on the compilers that they judge.
#![forbid(unsafe_code)]

pub mod concurrency;
pub mod image;
pub mod interleavings;
pub mod lambda_v;
pub mod number;
pub mod outcome;
pub mod random;
pub mod raster;
pub mod rule;
pub mod spirv;
pub mod text;
pub mod undefined;
pub mod uniformity;
pub mod wsl;
