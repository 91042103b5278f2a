//! The meaning of the languages: λV (report 000) and the SPIR-V that its translation needs.
//!
//! No GPU, no compiler and no unsafe code in here: the interpreters cannot see the compilers that they judge.
#![forbid(unsafe_code)]

pub mod image;
pub mod lambda_v;
pub mod number;
pub mod outcome;
pub mod raster;
pub mod rule;
pub mod spirv;
pub mod undefined;
