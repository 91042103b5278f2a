//! The compilers between the languages, and the passes over words.

pub mod bindings;
pub mod lambda_v;
pub mod probe;
pub mod wgsl;
