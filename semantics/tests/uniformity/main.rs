//! The uniformity analysis.

mod precise;
mod spirv;
mod table;
