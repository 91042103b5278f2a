//! The uniformity analysis.

mod executed;
mod generated;
mod precise;
mod programs;
mod seed;
mod spirv;
mod table;
