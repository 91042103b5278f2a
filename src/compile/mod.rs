//! The compilers between the languages.

pub mod lambda_v;
pub mod probe;
