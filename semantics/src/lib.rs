//! The meaning of the languages: λV (report 000), the SPIR-V that its translation needs and more of
//! it, and WSL (seed 004).
//!
//! No GPU, no compiler and no unsafe code in here: the interpreters cannot see the compilers that
//! they judge.
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
